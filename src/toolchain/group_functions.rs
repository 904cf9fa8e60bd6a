//! OpenCL C for the functions of groups that clang-22 has no declarations of, put before every source that uses
//! them: Intel's sub-group functions (cl_intel_subgroups with its _char, _short and _long,
//! cl_intel_subgroup_local_block_io) and those of cl_khr_work_group_uniform_arithmetic.
//!
//! clang's own full header has the first, and costs a third of a second for each program.
//!
//! The back end knows all of them by name, but for the reductions, scans and broadcasts on small integers:
//! those are the same as the Khronos ones (cl_khr_subgroup_extended_types) under another name.

const INTEL_SUB_GROUPS: &str = include_str!("declarations/intel_sub_groups.clh");
const UNIFORM_ARITHMETIC: &str = include_str!("declarations/uniform_arithmetic.clh");

/// What a source needs; empty for one that uses none of them. `elsewhere` says that more of the program comes
/// from other files.
pub fn prelude(source: &str, elsewhere: bool, has_extension: impl Fn(&str) -> bool) -> String {
    let mentions = |word: &str| elsewhere || source.contains(word);
    // Macros may put names together.
    let intel = has_extension("cl_intel_subgroups")
        && (mentions("intel_sub_group") || (mentions("intel") && mentions("##")));
    let suffixes = ["_mul", "_and", "_or", "_xor", "##"];
    let uniform = has_extension("cl_khr_work_group_uniform_arithmetic")
        && mentions("work_group_")
        && suffixes.iter().any(|suffix| mentions(suffix));
    let mut text = String::new();
    if intel {
        text.push_str(INTEL_SUB_GROUPS);
    }
    if uniform {
        text.push_str(UNIFORM_ARITHMETIC);
    }
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
        let pasted = "#define INTEL(f) intel_##f\nINTEL(sub_group_shuffle)(x, 1)";
        assert!(prelude(pasted, false, all).contains("intel_sub_group_block_read"));
    }
}
