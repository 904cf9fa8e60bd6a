//! OpenCL C for the functions of groups that clang-22 has no declarations of, put before every source that
//! uses them: Intel's sub-group functions (cl_intel_subgroups with its _char, _short,
//! _long and local_block_io) and those of
//! cl_khr_work_group_uniform_arithmetic.
//!
//! Its own full header has the first, and costs a third of a second for each program.
//!
//! The back end knows all of them by name, but for the reductions, scans and broadcasts on small integers:
//! those are the same as the Khronos ones (cl_khr_subgroup_extended_types) under another name.

/// Opening words: every macro here goes when the declarations are made.
const BEGIN: &str = "\
#define __PUMICE_F __attribute__((overloadable, convergent))\n\
#define __PUMICE_V(F, T) F(T) F(T##2) F(T##3) F(T##4) F(T##8) F(T##16)\n";
const END: &str = "#undef __PUMICE_F\n#undef __PUMICE_V\n";

const SHUFFLES: &str = "\
#define __PUMICE_S(T) \
T __PUMICE_F intel_sub_group_shuffle(T, uint); T __PUMICE_F intel_sub_group_shuffle_xor(T, uint); \
T __PUMICE_F intel_sub_group_shuffle_down(T, T, uint); T __PUMICE_F intel_sub_group_shuffle_up(T, T, uint);\n\
__PUMICE_V(__PUMICE_S, char) __PUMICE_V(__PUMICE_S, uchar) __PUMICE_V(__PUMICE_S, short)\n\
__PUMICE_V(__PUMICE_S, ushort) __PUMICE_V(__PUMICE_S, int) __PUMICE_V(__PUMICE_S, uint)\n\
__PUMICE_V(__PUMICE_S, long) __PUMICE_V(__PUMICE_S, ulong) __PUMICE_V(__PUMICE_S, float)\n\
#ifdef cl_khr_fp64\n__PUMICE_V(__PUMICE_S, double)\n#endif\n\
#ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
__PUMICE_V(__PUMICE_S, half)\n\
#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n#endif\n\
#undef __PUMICE_S\n";

const BLOCKS: &str = "\
#define __PUMICE_B(S, T, N) T##N __PUMICE_F intel_sub_group_block_read##S##N(const global T *); \
void __PUMICE_F intel_sub_group_block_write##S##N(global T *, T##N);\n\
#define __PUMICE_A(S, T) __PUMICE_B(S, T, ) __PUMICE_B(S, T, 2) __PUMICE_B(S, T, 4) __PUMICE_B(S, T, 8)\n\
__PUMICE_A(, uint) __PUMICE_A(_ui, uint) __PUMICE_A(_ul, ulong) __PUMICE_A(_us, ushort)\n\
__PUMICE_B(_us, ushort, 16) __PUMICE_A(_uc, uchar) __PUMICE_B(_uc, uchar, 16)\n\
#undef __PUMICE_A\n#undef __PUMICE_B\n";

/// cl_intel_subgroup_local_block_io: names with a suffix only.
const LOCAL_BLOCKS: &str = "\
#define __PUMICE_B(S, T, N) T##N __PUMICE_F intel_sub_group_block_read##S##N(const local T *); \
void __PUMICE_F intel_sub_group_block_write##S##N(local T *, T##N);\n\
#define __PUMICE_A(S, T) __PUMICE_B(S, T, ) __PUMICE_B(S, T, 2) __PUMICE_B(S, T, 4) __PUMICE_B(S, T, 8)\n\
__PUMICE_A(_ui, uint) __PUMICE_A(_ul, ulong) __PUMICE_A(_us, ushort)\n\
__PUMICE_B(_us, ushort, 16) __PUMICE_A(_uc, uchar) __PUMICE_B(_uc, uchar, 16)\n\
#undef __PUMICE_A\n#undef __PUMICE_B\n";

const IMAGE_BLOCKS: &str = "\
#ifdef __opencl_c_images\n\
#define __PUMICE_R(Q, S, T, N) T##N __PUMICE_F intel_sub_group_block_read##S##N(Q image2d_t, int2);\n\
#define __PUMICE_W(Q, S, T, N) void __PUMICE_F intel_sub_group_block_write##S##N(Q image2d_t, int2, T##N);\n\
#define __PUMICE_A(F, Q, S, T) F(Q, S, T, ) F(Q, S, T, 2) F(Q, S, T, 4) F(Q, S, T, 8)\n\
#define __PUMICE_E(F, Q) __PUMICE_A(F, Q, , uint) __PUMICE_A(F, Q, _ui, uint) __PUMICE_A(F, Q, _ul, ulong) \
__PUMICE_A(F, Q, _us, ushort) F(Q, _us, ushort, 16) __PUMICE_A(F, Q, _uc, uchar) F(Q, _uc, uchar, 16)\n\
__PUMICE_E(__PUMICE_R, read_only) __PUMICE_E(__PUMICE_W, write_only)\n\
#ifdef __opencl_c_read_write_images\n\
__PUMICE_E(__PUMICE_R, read_write) __PUMICE_E(__PUMICE_W, read_write)\n\
#endif\n\
#undef __PUMICE_E\n#undef __PUMICE_A\n#undef __PUMICE_W\n#undef __PUMICE_R\n\
#endif\n";

const SMALL: &str = "\
#define intel_sub_group_broadcast sub_group_broadcast\n\
#define intel_sub_group_reduce_add sub_group_reduce_add\n\
#define intel_sub_group_reduce_min sub_group_reduce_min\n\
#define intel_sub_group_reduce_max sub_group_reduce_max\n\
#define intel_sub_group_scan_exclusive_add sub_group_scan_exclusive_add\n\
#define intel_sub_group_scan_exclusive_min sub_group_scan_exclusive_min\n\
#define intel_sub_group_scan_exclusive_max sub_group_scan_exclusive_max\n\
#define intel_sub_group_scan_inclusive_add sub_group_scan_inclusive_add\n\
#define intel_sub_group_scan_inclusive_min sub_group_scan_inclusive_min\n\
#define intel_sub_group_scan_inclusive_max sub_group_scan_inclusive_max\n";

const UNIFORM: &str = "\
#define __PUMICE_O(T, O) T __PUMICE_F work_group_reduce_##O(T); \
T __PUMICE_F work_group_scan_exclusive_##O(T); T __PUMICE_F work_group_scan_inclusive_##O(T);\n\
#define __PUMICE_I(T) __PUMICE_O(T, mul) __PUMICE_O(T, and) __PUMICE_O(T, or) __PUMICE_O(T, xor)\n\
__PUMICE_I(int) __PUMICE_I(uint) __PUMICE_I(long) __PUMICE_I(ulong) __PUMICE_O(float, mul)\n\
__PUMICE_O(int, logical_and) __PUMICE_O(int, logical_or) __PUMICE_O(int, logical_xor)\n\
#ifdef cl_khr_fp64\n__PUMICE_O(double, mul)\n#endif\n\
#ifdef cl_khr_fp16\n#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
__PUMICE_O(half, mul)\n\
#pragma OPENCL EXTENSION cl_khr_fp16 : disable\n#endif\n\
#undef __PUMICE_I\n#undef __PUMICE_O\n";

/// What a source needs; empty for one that uses none of them. `elsewhere` says that more of the program comes
/// from other files.
pub fn prelude(source: &str, elsewhere: bool, has_extension: impl Fn(&str) -> bool) -> String {
    let mentions = |word: &str| elsewhere || source.contains(word);
    let intel = has_extension("cl_intel_subgroups") && mentions("intel_sub_group");
    // The last by itself, for names that macros put together.
    let suffixes = ["_mul", "_and", "_or", "_xor", "##"];
    let uniform = has_extension("cl_khr_work_group_uniform_arithmetic")
        && mentions("work_group_")
        && suffixes.iter().any(|suffix| mentions(suffix));
    let mut text = String::new();
    if !intel && !uniform {
        return text;
    }
    text.push_str(BEGIN);
    if intel {
        text.extend([SHUFFLES, BLOCKS, LOCAL_BLOCKS, IMAGE_BLOCKS, SMALL]);
    }
    if uniform {
        text.push_str("#ifdef __opencl_c_work_group_collective_functions\n");
        text.push_str(UNIFORM);
        text.push_str("#endif\n");
    }
    text.push_str(END);
    text
}

#[cfg(test)]
mod tests {
    use super::prelude;

    #[test]
    fn only_what_is_used_and_reported_is_declared() {
        let all = |_: &str| true;
        assert_eq!(prelude("work_group_reduce_add(x)", false, all), "");
        assert_eq!(
            prelude("intel_sub_group_shuffle(x, 1)", false, |_| false),
            ""
        );
        let text = prelude("intel_sub_group_shuffle(x, 1)", false, all);
        assert!(text.contains("intel_sub_group_block_read"));
        assert!(!text.contains("work_group"));
        let text = prelude("work_group_reduce_mul(x)", false, all);
        assert!(text.contains("__PUMICE_O(float, mul)"));
        assert!(!text.contains("intel"));
        assert!(prelude("", true, all).contains("intel"));
    }
}
