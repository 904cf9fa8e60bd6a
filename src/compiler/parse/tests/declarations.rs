//! What stands before the functions of a module: strings, constants, variables and their types.

use super::{HEADER, TYPES, kernel, operations, parse_valid};
use crate::compiler::Options;
use crate::compiler::ir::{Op, Type};
use crate::compiler::parse::parse;
use crate::compiler::testing::assemble;

/// The translator from LLVM wrote built-ins as imported constant memory in OpenCL 2.0's days.
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

/// SPV_INTEL_long_composites, in small.
#[test]
fn composites_go_on_in_other_instructions() {
    let words = kernel(
        "%uint_4 = OpConstant %uint 4
        %array = OpTypeArray %uint %uint_4
        %struct = OpTypeStruct %uchar
        OpTypeStructContinuedINTEL %array %uint
        OpTypeStructContinuedINTEL %ulong
        %constant_struct = OpTypePointer UniformConstant %struct
        %uchar_5 = OpConstant %uchar 5
        %ulong_9 = OpConstant %ulong 9
        %table = OpConstantComposite %array %uint_1
        OpConstantCompositeContinuedINTEL %uint_2 %uint_7
        OpConstantCompositeContinuedINTEL %uint_4
        %value = OpConstantComposite %struct %uchar_5 %table %uint_7
        OpConstantCompositeContinuedINTEL %ulong_9
        %variable = OpVariable %constant_struct UniformConstant %value",
        "OpReturn",
    );
    let module = parse_valid(&words);
    let bytes = module.globals[0].initializer.as_deref().expect("bytes");
    let word =
        |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    assert_eq!(bytes.len(), 32);
    assert_eq!(
        [0, 4, 8, 12, 16, 20, 24, 28].map(word),
        [5, 1, 2, 7, 4, 7, 9, 0]
    );

    let stray = kernel("OpConstantCompositeContinuedINTEL %uint_1", "OpReturn");
    let error = parse(&stray, &Options::default()).expect_err("refused");
    assert_eq!(
        error.instruction.as_deref(),
        Some("OpConstantCompositeContinuedINTEL")
    );
}

/// The bytes of large tables, as Pumice's front end writes them.
#[test]
fn bytes_of_variables_come_from_strings() {
    let module = |offset: u32| {
        let words = assemble(&format!(
            r#"{HEADER}
            %part = OpString "initializer.{offset}.0102ff.table"
            %other = OpString "initializer.0.0102ff.of.a.table"
            OpName %table "table"
            {TYPES}
            %uint_4 = OpConstant %uint 4
            %array = OpTypeArray %uint %uint_4
            %constant_array = OpTypePointer UniformConstant %array
            %zeros = OpConstantNull %array
            %table = OpVariable %constant_array UniformConstant %zeros
            %kernel = OpFunction %void None %signature
            %out = OpFunctionParameter %global_uint
            %n = OpFunctionParameter %uint
            %entry = OpLabel
            OpReturn
            OpFunctionEnd"#
        ));
        parse(&words, &Options::default())
    };
    let found = module(9).expect("valid");
    let mut expected = [0; 16];
    expected[9..12].copy_from_slice(&[1, 2, 255]);
    let bytes = found.globals[0].initializer.as_ref();
    assert_eq!(bytes.map(|bytes| &bytes[..]), Some(&expected[..]));
    let error = module(14).expect_err("refused");
    assert!(error.reason.contains("do not fit"), "{error}");
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

#[test]
fn variables_are_as_large_as_their_lifetime_says() {
    for (bytes, expected) in [("0", 4), ("4", 4), ("32", 32)] {
        let lifetime = format!(
            "%variable = OpVariable %private_uint Function
            %bytes = OpBitcast %private_uchar %variable
            OpLifetimeStart %bytes {bytes}
            OpLifetimeStop %bytes {bytes}
            OpReturn"
        );
        let words = kernel(
            "%private_uint = OpTypePointer Function %uint
            %private_uchar = OpTypePointer Function %uchar",
            &lifetime,
        );
        let module = parse_valid(&words);
        let function = module.function(module.kernels[0].function);
        assert_eq!(function.variables[0].size_bytes, expected);
    }
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

/// A structure's members lie where their group of decorations says.
#[test]
fn offsets_come_in_groups_of_decorations() {
    let words = assemble(&format!(
        "{HEADER}
        OpDecorate %group Offset 24
        %group = OpDecorationGroup
        OpGroupMemberDecorate %group %pair 1
        {TYPES}
        %pair = OpTypeStruct %uint %uint
        %global_pair = OpTypePointer CrossWorkgroup %pair
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        %whole = OpBitcast %global_pair %out
        %second = OpInBoundsPtrAccessChain %global_uint %whole %uint_0 %uint_1
        OpStore %second %n Aligned 4
        OpReturn
        OpFunctionEnd"
    ));
    let operations = operations(&parse_valid(&words));
    assert!(operations.contains(&Op::Const(24)), "{operations:?}");
}

/// A chain in an initializer reaches a member by an index of 64 bits as well as of 32, where the result's type is the member's;
/// what it counts in the type of the variable itself is bytes.
#[test]
fn chains_in_initializers_name_members_or_count_bytes() {
    for (ty, index, expected) in [
        ("global_ulong", "ulong_1", 8),
        ("global_ulong", "uint_1", 8),
        ("global_pair", "ulong_1", 1),
        ("global_uchar", "ulong_1", 1),
    ] {
        let module = parse_valid(&kernel(
            &format!(
                "%pair = OpTypeStruct %uint %ulong
                 %global_pair = OpTypePointer CrossWorkgroup %pair
                 %global_ulong = OpTypePointer CrossWorkgroup %ulong
                 %global_uchar = OpTypePointer CrossWorkgroup %uchar
                 %global_pointer = OpTypePointer CrossWorkgroup %{ty}
                 %ulong_1 = OpConstant %ulong 1
                 %zeros = OpConstantNull %pair
                 %whole = OpVariable %global_pair CrossWorkgroup %zeros
                 %part = OpSpecConstantOp %{ty} InBoundsPtrAccessChain %whole %uint_0 %{index}
                 %pointer = OpVariable %global_pointer CrossWorkgroup %part"
            ),
            "OpReturn",
        ));
        let relocations = module
            .globals
            .iter()
            .flat_map(|global| global.relocations.iter());
        let addends: Vec<i64> = relocations.map(|one| one.addend).collect();
        assert_eq!(addends, [expected], "{ty} {index}");
    }
}
