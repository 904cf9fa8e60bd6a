//! What clang makes of OpenCL C, and libclc.

use super::{operations, parse_c, parse_valid};
use crate::compiler::Options;
use crate::compiler::image::ImageDimension;
use crate::compiler::ir::{
    AddressSpace, AtomicOp, Binary, Convert, KernelParameterKind, Op, Rounding, Scope, Semantics,
    WorkItem,
};
use crate::compiler::parse::parse;
use crate::compiler::program::AccessQualifier;

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
        include_str!("../../../../tests/compiler/structures.cl"),
        include_str!("../../../../tests/compiler/vectors.cl"),
        include_str!("../../../../tests/compiler/doubles.cl"),
        include_str!("../../../../tests/compiler/work_groups.cl"),
        include_str!("../../../../tests/compiler/collectives.cl"),
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

/// Images are in global memory.
#[test]
fn a_fence_of_images_is_one_of_global_memory() {
    let module = parse_c(
        "kernel void k(global int *p) {
             p[0] = 1; sub_group_barrier(CLK_IMAGE_MEM_FENCE);
             p[1] = 2; mem_fence(CLK_IMAGE_MEM_FENCE);
             p[2] = 3; barrier(CLK_IMAGE_MEM_FENCE);
             p[3] = 4; atomic_work_item_fence(CLK_IMAGE_MEM_FENCE, memory_order_acq_rel, memory_scope_device); }",
    );
    let fences: Vec<bool> = operations(&module)
        .iter()
        .filter_map(|op| match op {
            Op::ControlBarrier { semantics, .. } | Op::MemoryBarrier { semantics, .. } => {
                let device = Semantics::CROSS_WORKGROUP_MEMORY | Semantics::IMAGE_MEMORY;
                Some(semantics.has(device) && !semantics.has(Semantics::WORKGROUP_MEMORY))
            }
            _ => None,
        })
        .collect();
    assert_eq!(fences, [true; 4]);
}

/// "p must be aligned to a 32-bit (4-byte) boundary."
#[test]
fn block_reads_are_of_four_byte_alignment() {
    let module = parse_c(
        "ulong2 __attribute__((overloadable, convergent)) intel_sub_group_block_read_ul2(const global ulong *);
         uchar2 __attribute__((overloadable, convergent)) intel_sub_group_block_read_uc2(const global uchar *);
         kernel void k(global ulong2 *p, global uchar2 *q) {
             p[0] = intel_sub_group_block_read_ul2((global ulong *)p);
             q[0] = intel_sub_group_block_read_uc2((global uchar *)q); }",
    );
    let loads: Vec<u32> = operations(&module)
        .iter()
        .filter_map(|op| match op {
            Op::Load(_, access) => Some(access.align_bytes),
            _ => None,
        })
        .collect();
    assert_eq!(loads, [4, 4, 1, 1]);
}

/// clang's back end tests signed products for too large ones as if they were unsigned.
#[test]
fn signed_products_that_overflow() {
    let module = parse_c(
        "kernel void k(global int *p) {
            int r;
            p[2] = __builtin_mul_overflow(p[0], p[1], &r);
            p[3] = r;
        }",
    );
    let all = operations(&module);
    let is_sign = |op: &Op| matches!(op, Op::Binary(Binary::AShr, ..));
    assert!(all.iter().any(is_sign), "{all:?}");
}
