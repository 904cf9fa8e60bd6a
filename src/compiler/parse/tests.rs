use super::parse;
use crate::compiler::image::ImageDimension;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    AddressSpace, AtomicOp, Convert, KernelParameterKind, Module, Op, Rounding, Scope, Semantics,
    Type, WorkItem,
};
use crate::compiler::program::AccessQualifier;
use crate::compiler::testing::{assemble, opencl_c};
use crate::compiler::verify::{self, Stage};
use crate::compiler::{CompileError, Options};

fn parse_valid(words: &[u32]) -> Module {
    let module = parse(words, &Options::default()).expect("the module is valid");
    verify::module(&module, Stage::Parsed).expect("the parser makes valid IR");
    module
}

fn parse_c(source: &str) -> Module {
    parse_valid(&opencl_c(source))
}

/// The operations of the function behind the first kernel.
fn operations(module: &Module) -> Vec<Op> {
    let function = module.function(module.kernels[0].function);
    let insts = function
        .layout
        .iter()
        .flat_map(|&block| function.block(block).insts.clone());
    insts.map(|inst| function.inst(inst).op.clone()).collect()
}

const HEADER: &str = r#"
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpCapability Int64
    OpCapability Int8
    OpCapability Int16
    %ext = OpExtInstImport "OpenCL.std"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %kernel "kernel"
"#;

const TYPES: &str = r#"
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    %uchar = OpTypeInt 8 0
    %ushort = OpTypeInt 16 0
    %float = OpTypeFloat 32
    %uint_0 = OpConstant %uint 0
    %uint_1 = OpConstant %uint 1
    %uint_2 = OpConstant %uint 2
    %uint_7 = OpConstant %uint 7
    %global_uint = OpTypePointer CrossWorkgroup %uint
    %signature = OpTypeFunction %void %global_uint %uint
"#;

/// A kernel of a pointer `%out` and a number `%n` with this body.
fn kernel(declarations: &str, body: &str) -> Vec<u32> {
    assemble(&format!(
        "{HEADER}\n{TYPES}\n{declarations}
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        {body}
        OpFunctionEnd"
    ))
}

#[test]
fn a_vector_of_one_component() {
    let words = kernel(
        "%lonely = OpTypeVector %uint 1",
        "%vector = OpCompositeConstruct %lonely %n
         %sum = OpIAdd %lonely %vector %vector
         %value = OpCompositeExtract %uint %sum 0
         OpStore %out %value Aligned 4
         OpReturn",
    );
    let operations = operations(&parse_valid(&words));
    assert!(matches!(operations[..], [Op::Binary(..), Op::Store(..)]));
}

/// As the translator from LLVM wrote it in OpenCL 2.0's days.
#[test]
fn a_built_in_that_is_imported_constant_memory() {
    let words = assemble(&format!(
        r#"{HEADER}
        OpDecorate %id BuiltIn GlobalInvocationId
        OpDecorate %id Constant
        OpDecorate %id LinkageAttributes "__spirv_BuiltInGlobalInvocationId" Import
        {TYPES}
        %v3ulong = OpTypeVector %ulong 3
        %constant_v3ulong = OpTypePointer UniformConstant %v3ulong
        %id = OpVariable %constant_v3ulong UniformConstant
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        %whole = OpLoad %v3ulong %id Aligned 32
        %x = OpCompositeExtract %ulong %whole 0
        %value = OpUConvert %uint %x
        OpStore %out %value Aligned 4
        OpReturn
        OpFunctionEnd"#
    ));
    let module = parse_valid(&words);
    assert!(module.globals.is_empty());
    let queries = operations(&module);
    assert!(
        queries.iter().any(|op| matches!(op, Op::WorkItem(..))),
        "{queries:?}"
    );
}

/// As clang-22 writes it where the high bits do not matter.
#[test]
fn operands_that_are_too_wide_are_narrowed() {
    let words = kernel(
        "%uchar_3 = OpConstant %uchar 3",
        "%low = OpBitwiseAnd %uchar %n %uchar_3
         %moved = OpShiftLeftLogical %uchar %n %uchar_3
         %both = OpIAdd %uchar %low %moved
         %value = OpUConvert %uint %both
         OpStore %out %value Aligned 4
         OpReturn",
    );
    let operations = operations(&parse_valid(&words));
    let narrow = |op: &&Op| matches!(op, Op::Convert(Convert::Truncate, _));
    assert_eq!(
        operations.iter().filter(narrow).count(),
        2,
        "{operations:?}"
    );
}

#[test]
fn a_vector_add() {
    let module = parse_c(
        "kernel void add(global const float *a, global const float *b, global float *c, uint n) {
             size_t i = get_global_id(0); if (i < n) c[i] = a[i] + b[i]; }",
    );
    let kernel = &module.kernels[0];
    assert_eq!(kernel.name, "add");
    assert_eq!(kernel.parameters.len(), 4);
    assert_eq!(
        kernel.parameters[0].kind,
        KernelParameterKind::Pointer(AddressSpace::Global)
    );
    let operations = operations(&module);
    assert!(operations.contains(&Op::WorkItem(WorkItem::GlobalId(0))));
    let loads = operations.iter().filter(|op| matches!(op, Op::Load(..)));
    assert_eq!(loads.count(), 2);
}

#[test]
fn what_clang_makes_of_ordinary_programs() {
    for source in [
        include_str!("../../../tests/compiler/structures.cl"),
        include_str!("../../../tests/compiler/vectors.cl"),
        include_str!("../../../tests/compiler/doubles.cl"),
        include_str!("../../../tests/compiler/work_groups.cl"),
        include_str!("../../../tests/compiler/collectives.cl"),
    ] {
        parse_c(source);
    }
}

#[test]
fn the_whole_of_libclc() {
    let bytes = std::fs::read("/usr/lib/clc/spirv64-mesa3d-.spv").expect("libclc is installed");
    let words: Vec<u32> = bytes
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    let module = parse_valid(&words);
    assert!(module.exports.len() > 2000);
    let swapped: Vec<u32> = words.iter().map(|word| word.swap_bytes()).collect();
    let other = parse(&swapped, &Options::default()).expect("byte order does not matter");
    assert_eq!(other.exports, module.exports);
}

#[test]
fn three_components_take_the_place_of_four() {
    let module = parse_c(
        "typedef struct { char c; float3 v; short s; } S;
         kernel void k(global S *s) { s[1].v = s[0].v + 1; s[1].s = 3; }",
    );
    let offsets: Vec<u64> = {
        let function = module.function(module.kernels[0].function);
        operations(&module)
            .iter()
            .filter_map(|op| match op {
                Op::PtrAdd(_, offset) => function.constant(*offset),
                _ => None,
            })
            .collect()
    };
    assert!(
        offsets.contains(&16),
        "the vector comes after 16 bytes: {offsets:?}"
    );
    assert!(
        offsets.contains(&(48 + 32)) || offsets.contains(&32),
        "{offsets:?}"
    );
}

#[test]
fn rounding_and_saturation_are_kept() {
    let module = parse_c(
        "kernel void k(global char *c, global float *f, global half *h) {
             c[0] = convert_char_sat_rtp(f[0]); vstore_half_rtz(f[1], 3, h); }",
    );
    let operations = operations(&module);
    let saturating = Convert::FloatToSigned {
        rounding: Some(Rounding::Rtp),
        saturate: true,
    };
    let narrowing = Convert::FloatToFloat(Some(Rounding::Rtz));
    for wanted in [saturating, narrowing] {
        let found = operations
            .iter()
            .any(|op| matches!(op, Op::Convert(convert, _) if *convert == wanted));
        assert!(found, "{wanted:?} among {operations:?}");
    }
}

#[test]
fn pointers_to_arrays_and_structures_stand_for_their_first_element() {
    let module = parse_c(
        "struct pair { float2 a; int e[2]; };
         kernel void k(global float *f, local struct pair *pairs, int i) {
             short h[4]; int e[3];
             vstore_half_rtz(f[4], i & 3, (half *)h);
             f[0] = frexp(f[1], &e[0]) + e[i & 1] + modf((float2)(f[2], f[3]), &pairs->a).y;
             f[1] = frexp(f[5], pairs->e) + vload_half(i & 3, (half *)h) + vload2(0, (float *)e).x; }",
    );
    let extended = |op: &&Op| matches!(op, Op::OpenClStd(..));
    assert_eq!(operations(&module).iter().filter(extended).count(), 4);
}

#[test]
fn argument_information_comes_from_strings() {
    let words = assemble(&format!(
        r#"{HEADER}
        %types = OpString "kernel_arg_type.kernel.int*,uint,"
        %qualifiers = OpString "kernel_arg_type_qual.kernel.restrict const,,"
        OpName %out "out"
        OpName %n "n"
        OpExecutionMode %kernel LocalSize 4 2 1
        OpExecutionMode %kernel VecTypeHint 262149
        {TYPES}
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        OpReturn
        OpFunctionEnd"#
    ));
    let module = parse_valid(&words);
    let kernel = &module.kernels[0];
    let info = &kernel.parameters[0].info;
    assert_eq!(info.name.as_deref(), Some("out"));
    assert_eq!(info.type_name.as_deref(), Some("int*"));
    assert!(info.is_const && info.is_restrict && !info.is_volatile);
    assert_eq!(kernel.parameters[1].info.type_name.as_deref(), Some("uint"));
    assert_eq!(kernel.attributes.required_work_group_size, Some([4, 2, 1]));
    assert_eq!(kernel.attributes.vec_type_hint.as_deref(), Some("float4"));
}

#[test]
fn specialization_constants_take_given_values() {
    let text = format!(
        "{HEADER}
        OpDecorate %a SpecId 5
        OpDecorate %b SpecId 6
        {TYPES}
        %a = OpSpecConstant %uint 3
        %b = OpSpecConstantTrue %bool
        %sum = OpSpecConstantOp %uint IAdd %a %uint_7
        %chosen = OpSpecConstantOp %uint Select %b %sum %uint_0
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        OpStore %out %chosen Aligned 4
        OpReturn
        OpFunctionEnd"
    );
    let words = assemble(&text);
    assert!(operations(&parse_valid(&words)).contains(&Op::Const(10)));
    let mut options = Options::default();
    options.specialization.insert(5, vec![100, 0, 0, 0]);
    let module = parse(&words, &options).unwrap();
    assert!(operations(&module).contains(&Op::Const(107)));
    options.specialization.insert(6, vec![0]);
    let module = parse(&words, &options).unwrap();
    assert!(operations(&module).contains(&Op::Const(0)));
}

#[test]
fn addresses_in_initializers() {
    let words = kernel(
        "%uint_4 = OpConstant %uint 4
        %array = OpTypeArray %uint %uint_4
        %constant_array = OpTypePointer UniformConstant %array
        %constant_uint = OpTypePointer UniformConstant %uint
        %table = OpConstantComposite %array %uint_0 %uint_1 %uint_2 %uint_7
        %first = OpVariable %constant_array UniformConstant %table
        %address = OpSpecConstantOp %constant_uint InBoundsAccessChain %first %uint_2
        %pair = OpTypeStruct %uint %constant_uint
        %constant_pair = OpTypePointer UniformConstant %pair
        %value = OpConstantComposite %pair %uint_7 %address
        %second = OpVariable %constant_pair UniformConstant %value",
        "OpReturn",
    );
    let module = parse_valid(&words);
    let [table, pair] = module.globals.as_slice() else {
        panic!("two variables");
    };
    assert_eq!(table.initializer.as_deref().map(|bytes| bytes[12]), Some(7));
    assert_eq!((pair.size_bytes, pair.align_bytes), (16, 8));
    let [relocation] = pair.relocations.as_slice() else {
        panic!("one relocation");
    };
    assert_eq!(
        (
            relocation.offset_bytes,
            relocation.target.0,
            relocation.addend
        ),
        (8, 0, 8)
    );
}

#[test]
fn a_loop_with_phis_in_any_block_order() {
    let words = kernel(
        "",
        "OpBranch %header
        %header = OpLabel
        %i = OpPhi %uint %uint_0 %entry %next %body
        %more = OpULessThan %bool %i %n
        OpBranchConditional %more %body %exit
        %exit = OpLabel
        OpStore %out %i Aligned 4
        OpReturn
        %body = OpLabel
        %next = OpIAdd %uint %i %uint_1
        OpBranch %header",
    );
    let module = parse_valid(&words);
    let function = module.function(module.kernels[0].function);
    let header = function.successors(function.entry())[0];
    assert_eq!(function.block(header).params.len(), 1);
}

#[test]
fn a_value_that_is_an_inner_vector() {
    let words = kernel(
        "%v2 = OpTypeVector %ushort 2
        %uint_3 = OpConstant %uint 3
        %v4 = OpTypeVector %uchar 4
        %array = OpTypeArray %v2 %uint_2
        %undef = OpUndef %array",
        "%x = OpBitcast %v2 %n
        %y = OpCompositeInsert %array %x %undef 1
        %z = OpCompositeExtract %ushort %y 1 1
        %w = OpUConvert %uint %z
        %bytes = OpBitcast %v4 %x
        %b = OpVectorExtractDynamic %uchar %bytes %n
        %c = OpUConvert %uint %b
        %field = OpBitFieldSExtract %uint %w %uint_1 %uint_7
        %sum = OpIAdd %uint %field %c
        OpStore %out %sum Aligned 4
        OpReturn",
    );
    parse_valid(&words);
}

/// The calls that clang leaves to be resolved by name.
#[test]
fn builtins_that_are_called_by_name() {
    let module = parse_c(
        "kernel void k(global int *p, global uint *u, local int *l, global atomic_float *f, global float *e,
                       global double2 *d, global long2 *n, int i) {
             atomic_inc(p); atomic_min(u, 3u); atomic_max(l, 4);
             atomic_fetch_max_explicit((global atomic_uint *)u, 5u, memory_order_acquire, memory_scope_work_group);
             p[1] = atomic_compare_exchange_strong(f, e, 2.0f);
             d[0] = convert_double2_rtz(n[0]);
             int *q = i > 3 ? (int *)p : (int *)l;
             p[2] = to_global(q) != 0; p[3] = get_fence(q);
             mem_fence(CLK_LOCAL_MEM_FENCE); }",
    );
    let function = module.function(module.kernels[0].function);
    let operations = operations(&module);
    assert!(
        !operations.iter().any(|op| matches!(op, Op::Call(..))),
        "{function}"
    );
    let atomics: Vec<(AtomicOp, Scope, u32)> = operations
        .iter()
        .filter_map(|op| match op {
            Op::Atomic {
                op,
                scope,
                semantics,
                ..
            } => Some((*op, *scope, semantics.0 & 0x1f)),
            _ => None,
        })
        .collect();
    assert_eq!(
        atomics[..4],
        [
            (AtomicOp::Add, Scope::Device, 0),
            (AtomicOp::UMin, Scope::Device, 0),
            (AtomicOp::SMax, Scope::Device, 0),
            (AtomicOp::UMax, Scope::Workgroup, Semantics::ACQUIRE),
        ]
    );
    assert_eq!(atomics[4].0, AtomicOp::CompareExchange);
    let conversion = Convert::SignedToFloat(Some(Rounding::Rtz));
    let found = |op: &Op| matches!(op, Op::Convert(convert, _) if *convert == conversion);
    assert!(operations.iter().any(found));
}

fn error_of(words: &[u32]) -> CompileError {
    parse(words, &Options::default()).expect_err("the module is refused")
}

#[test]
fn errors_name_instruction_and_offset() {
    let words = kernel(
        "%image = OpTypeMatrix %v2 2\n%v2 = OpTypeVector %float 2",
        "OpReturn",
    );
    assert_eq!(
        error_of(&words).instruction.as_deref(),
        Some("OpTypeMatrix")
    );

    let words = kernel("", "OpKill");
    let error = error_of(&words);
    assert_eq!(error.instruction.as_deref(), Some("OpKill"));
    assert_eq!(error.function.as_deref(), Some("kernel"));
    // The instruction before OpFunctionEnd, which ends the module.
    assert_eq!(error.offset_words, Some(words.len() - 2));

    let words = kernel("", "%x = OpIAdd %uint %n %missing\nOpReturn");
    let error = error_of(&words);
    assert!(error.reason.contains("is not a value"), "{error}");

    let words = kernel(
        "",
        "OpBranchConditional %c %a %b
        %a = OpLabel
        %x = OpIAdd %uint %n %n
        OpBranch %b
        %b = OpLabel
        OpStore %out %x Aligned 4
        OpReturn",
    );
    assert!(error_of(&words).reason.contains("is not a value"));
    let words = kernel(
        "%c = OpConstantTrue %bool",
        "OpBranchConditional %c %a %b
        %a = OpLabel
        %x = OpIAdd %uint %n %n
        OpBranch %b
        %b = OpLabel
        OpStore %out %x Aligned 4
        OpReturn",
    );
    assert!(error_of(&words).reason.contains("dominate"));
}

#[test]
fn headers_are_checked() {
    let words = kernel("", "OpReturn");
    for length in 0..words.len() {
        // Cut short anywhere: an error, or nothing that needs what was cut.
        let _ = parse(&words[..length], &Options::default());
    }
    let mut version = words.clone();
    version[1] = 0x0002_0000;
    assert!(error_of(&version).reason.contains("version"));
    assert!(error_of(&[]).reason.contains("magic"));
    let mut endless = words.clone();
    endless[5] &= 0xffff;
    assert!(error_of(&endless).reason.contains("no words"));
}

/// Small modules that ask for huge values.
#[test]
fn what_is_asked_for_is_bounded() {
    let mut types = String::from("%array0 = OpTypeArray %uint %uint_7\n");
    for level in 1..40 {
        let inner = level - 1;
        types += &format!("%array{level} = OpTypeArray %array{inner} %uint_7\n");
    }
    assert!(
        error_of(&kernel(&types, "OpReturn"))
            .reason
            .contains("too large")
    );

    // 8 bytes doubled up to 256 MiB, of constants that name each other.
    let mut types = String::from("%a0 = OpTypeArray %uint %uint_2\n");
    types += "%k0 = OpConstantComposite %a0 %uint_1 %uint_7\n";
    for level in 1..26 {
        let inner = level - 1;
        types += &format!("%a{level} = OpTypeArray %a{inner} %uint_2\n");
        types += &format!("%k{level} = OpConstantComposite %a{level} %k{inner} %k{inner}\n");
    }
    types += "%q = OpTypePointer UniformConstant %a25\n%w = OpVariable %q UniformConstant %k25\n";
    assert!(
        error_of(&kernel(&types, "OpReturn"))
            .reason
            .contains("too large")
    );

    let mut types = String::from("%s0 = OpTypeStruct\n%c0 = OpConstantComposite %s0\n");
    for level in 1..60 {
        let inner = level - 1;
        types += &format!("%s{level} = OpTypeStruct %s{inner} %s{inner}\n");
        types += &format!("%c{level} = OpConstantComposite %s{level} %c{inner} %c{inner}\n");
    }
    types += "%p = OpTypePointer UniformConstant %s59\n%v = OpVariable %p UniformConstant %c59\n";
    parse_valid(&kernel(&types, "%x = OpCopyObject %s59 %c59\nOpReturn"));
}

/// Every word of a module of all kinds of instructions, changed in several ways: no panic, no hang.
#[test]
fn images_and_samplers_are_scalars() {
    const IMAGE_SCALARS: usize = crate::compiler::image::ImageField::ALL.len();
    let module = parse_c(
        "kernel void k(read_only image2d_array_t image, sampler_t sampler, global float4 *out) {
             out[0] = read_imagef(image, sampler, (float4)(0.5f));
             out[1].x = get_image_array_size(image);
         }",
    );
    let kinds: Vec<_> = module.kernels[0]
        .parameters
        .iter()
        .map(|parameter| (&parameter.kind, parameter.param_count))
        .collect();
    let [
        (KernelParameterKind::Image(image), IMAGE_SCALARS),
        (KernelParameterKind::Sampler, 1),
        (KernelParameterKind::Pointer(_), 1),
    ] = kinds[..]
    else {
        panic!("{kinds:?}");
    };
    assert_eq!(image.dimension, ImageDimension::TwoArray);
    assert_eq!(image.access, AccessQualifier::ReadOnly);
    let accesses: Vec<_> = operations(&module)
        .into_iter()
        .filter_map(|op| match op {
            Op::Image(access, operands) => Some((access.dimension, operands.len())),
            _ => None,
        })
        .collect();
    // The image, the sampler, x, y and the layer.
    assert_eq!(
        accesses,
        [(ImageDimension::TwoArray, IMAGE_SCALARS + 1 + 3)]
    );
}

/// A fuzzed module asked for the level 1.0.
#[test]
fn the_level_of_a_size_is_an_integer() {
    let query = |level: &str| {
        kernel(
            "%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
             %v2uint = OpTypeVector %uint 2
             %float_1 = OpConstant %float 1
             %image_function = OpTypeFunction %void %image",
            &format!(
                "OpReturn
                 OpFunctionEnd
                 %other = OpFunction %void None %image_function
                 %i = OpFunctionParameter %image
                 %begin = OpLabel
                 %size = OpImageQuerySizeLod %v2uint %i {level}
                 OpReturn"
            ),
        )
    };
    parse_valid(&query("%uint_1"));
    let error = error_of(&query("%float_1")).to_string();
    assert!(error.contains("not an integer"), "{error}");
}

#[test]
fn structures_hold_no_images() {
    let declarations = "%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
         %pair = OpTypeStruct %uint %image";
    let error = error_of(&kernel(declarations, "OpReturn"));
    assert_eq!(error.instruction.as_deref(), Some("OpTypeStruct"));
    assert!(error.reason.contains("holds an image"), "{error}");
}

#[test]
fn damaged_modules_are_refused_calmly() {
    let words = opencl_c(include_str!("../../../tests/compiler/structures.cl"));
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..4000 {
        let mut damaged = words.clone();
        for _ in 0..1 + round % 3 {
            let index = random() as usize % damaged.len();
            let other = damaged[random() as usize % words.len()];
            damaged[index] = match random() % 5 {
                0 => damaged[index] ^ 1 << (random() % 32),
                1 => damaged[index].wrapping_add(1),
                2 => other,
                3 => random() as u32 % 700,
                _ => u32::MAX,
            };
        }
        if let Ok(module) = parse(&damaged, &Options::default()) {
            verify::module(&module, Stage::Parsed).expect("what is accepted is valid");
        }
    }
}

#[test]
fn booleans_in_memory_are_bytes() {
    let words = kernel(
        "%pair = OpTypeStruct %bool %uint
        %private_pair = OpTypePointer Function %pair",
        "%variable = OpVariable %private_pair Function
        %value = OpLoad %pair %variable
        %flag = OpCompositeExtract %bool %value 0
        %other = OpLogicalNot %bool %flag
        %changed = OpCompositeInsert %pair %other %value 0
        OpStore %variable %changed
        OpReturn",
    );
    let module = parse_valid(&words);
    let function = module.function(module.kernels[0].function);
    assert_eq!(function.variables[0].size_bytes, 8);
    let stored = operations(&module).into_iter().find_map(|op| match op {
        Op::Store(_, values, _) => Some(function.ty(values[0])),
        _ => None,
    });
    assert_eq!(stored, Some(Type::I8));
}

/// LLVM states the alignment of the destination alone, which has more than the source here.
#[test]
fn a_copy_reads_with_the_alignment_of_its_source() {
    let module = parse_c(
        "struct inner { short s; char c[3]; };
        struct item { long wide; struct inner in[2]; };
        kernel void test(global const struct item *a, global struct item *out) {
            size_t i = get_global_id(0);
            struct item it = a[i];
            struct inner first = it.in[0];
            it.in[0] = it.in[1];
            it.in[1] = first;
            out[i] = it;
        }",
    );
    let function = module.function(module.kernels[0].function);
    let mut seen = 0;
    for op in operations(&module) {
        let Op::Copy {
            from, from_access, ..
        } = op
        else {
            continue;
        };
        let Some(&Op::PtrAdd(_, offset)) = function.op_of(from) else {
            continue;
        };
        if let Some(offset) = function.constant(offset) {
            seen += 1;
            assert!(from_access.align_bytes <= 1 << offset.trailing_zeros());
        }
    }
    assert!(seen > 0, "the structure is copied in parts");
}

#[test]
fn packed_structures_have_no_holes_and_no_alignment() {
    let module = parse_valid(&kernel(
        "OpDecorate %packed CPacked
         %packed = OpTypeStruct %uint %uchar
         %global_packed = OpTypePointer CrossWorkgroup %packed
         %uchar_7 = OpConstant %uchar 7
         %value = OpConstantComposite %packed %uint_7 %uchar_7",
        "%start = OpBitcast %global_packed %out
         %place = OpInBoundsPtrAccessChain %global_packed %start %n
         OpStore %place %value
         OpReturn",
    ));
    let operations = operations(&module);
    assert!(
        operations.contains(&Op::Const(5)),
        "the size: {operations:?}"
    );
    let stores: Vec<u32> = operations
        .iter()
        .filter_map(|op| match op {
            Op::Store(_, _, access) => Some(access.align_bytes),
            _ => None,
        })
        .collect();
    assert!(!stores.is_empty() && stores.iter().all(|&align| align == 1));
}

#[test]
fn pointers_are_words_too() {
    let module = parse_valid(&kernel(
        "%v2 = OpTypeVector %uint 2",
        "%words = OpBitcast %v2 %out
         %again = OpBitcast %global_uint %words
         OpStore %again %n Aligned 4
         OpReturn",
    ));
    let operations = operations(&module);
    let count = |wanted| {
        let same = |op: &&Op| matches!(op, Op::Convert(convert, _) if *convert == wanted);
        operations.iter().filter(same).count()
    };
    assert_eq!(count(Convert::PtrToInt), 1);
    assert_eq!(count(Convert::IntToPtr), 1);
}

/// Every width, sign and format of the operands, results wider and narrower.
#[test]
fn dot_products_of_all_forms() {
    let declarations = "
        %v2s = OpTypeVector %ushort 2
        %v3c = OpTypeVector %uchar 3
        %v4c = OpTypeVector %uchar 4
        %v2i = OpTypeVector %uint 2
        %s_min = OpConstant %ushort 0x8000
        %s_3 = OpConstant %ushort 3
        %c_ff = OpConstant %uchar 0xff
        %c_80 = OpConstant %uchar 0x80
        %c_2 = OpConstant %uchar 2
        %i_min = OpConstant %uint 0x80000000
        %i_packed = OpConstant %uint 0x80ff0201
        %s_near = OpConstant %ushort 0x7ff0
        %l_max = OpConstant %ulong 0x7fffffffffffffff
        %i_max = OpConstant %uint 0xffffffff
        %shorts = OpConstantComposite %v2s %s_min %s_3
        %threes = OpConstantComposite %v3c %c_ff %c_80 %c_2
        %fours = OpConstantComposite %v4c %c_ff %c_80 %c_2 %c_ff
        %ints = OpConstantComposite %v2i %i_min %uint_7
        %global_ulong = OpTypePointer CrossWorkgroup %ulong";
    // The instruction, the type of its result, and the result as 64 bits extended with zeros.
    let cases: [(&str, &str, u64); 12] = [
        ("OpSDot %uint %shorts %shorts", "uint", 0x4000_0009),
        ("OpUDot %ulong %shorts %shorts", "ulong", 0x4000_0009),
        (
            "OpSUDot %ulong %shorts %shorts",
            "ulong",
            (-0x4000_0000i64 + 9) as u64,
        ),
        (
            "OpUDot %uint %threes %threes",
            "uint",
            255 * 255 + 128 * 128 + 4,
        ),
        (
            "OpSDot %ushort %threes %threes",
            "ushort",
            1 + 128 * 128 + 4,
        ),
        (
            "OpSUDot %uint %fours %fours",
            "uint",
            (-255i32 - 128 * 128 + 4 - 255) as u32 as u64,
        ),
        (
            "OpSDot %ulong %fours %fours",
            "ulong",
            1 + 128 * 128 + 4 + 1,
        ),
        ("OpSDot %ulong %ints %ints", "ulong", (1 << 62) + 49),
        (
            "OpSUDot %ulong %i_packed %i_packed PackedVectorFormat4x8Bit",
            "ulong",
            (-128i64 * 128 - 255 + 4 + 1) as u64,
        ),
        (
            "OpSDotAccSat %ushort %threes %threes %s_near",
            "ushort",
            0x7fff,
        ),
        (
            "OpSDotAccSat %ulong %ints %ints %l_max",
            "ulong",
            i64::MAX as u64,
        ),
        (
            "OpUDotAccSat %uint %i_packed %i_packed %i_max PackedVectorFormat4x8Bit",
            "uint",
            0xffff_ffff,
        ),
    ];
    for (instruction, ty, expected) in cases {
        let widen = match ty {
            "ulong" => "%wide = OpCopyObject %ulong %dot",
            _ => "%wide = OpUConvert %ulong %dot",
        };
        let module = parse_valid(&kernel(
            declarations,
            &format!(
                "%place = OpBitcast %global_ulong %out
                 %dot = {instruction}
                 {widen}
                 OpStore %place %wide Aligned 8
                 OpReturn"
            ),
        ));
        let mut interpreter = Interpreter::new(&module);
        let out = interpreter.allocate(&[0; 8]);
        let function = module.kernels[0].function;
        interpreter.run(function, &[out, 0]).expect("it runs");
        let found: [u8; 8] = interpreter.bytes(out, 8).try_into().expect("eight bytes");
        assert_eq!(u64::from_le_bytes(found), expected, "{instruction}");
    }
}
