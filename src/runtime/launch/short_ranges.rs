//! Local sizes of ranges that are not worth a pipeline of their own, where pipelines take long to make.

use crate::runtime::device::work_limits::WorkLimits;

/// Work-items of a range that takes no time beside that of making a pipeline.
const SHORT_RANGE: u64 = 1024;

/// Work-items of a range of a large kernel that is short, as it takes as long for some as a driver takes for a work-group.
const SHORT_RANGE_OF_LARGE: u64 = 16 << 10;

/// Work-items of long ranges of a large kernel that are launched with the pipeline of short ones before they get their own.
/// So many work-groups of a sub-group took 80 ms longer than large ones, later ones 10 ms, and a pipeline took 150 ms at least,
/// 10 s for some kernels, with a driver that compiles slowly.
pub const MOST_COVERED: u64 = 4 << 20;

/// The local size that a short range of a kernel that takes any runs with where pipelines take long to make: one of those
/// that serve many ranges. Programs that look for the best local size try one after the other. `has_pipeline` says for
/// which sizes there is a pipeline.
pub fn shared_size(
    global: [u64; 3],
    local: [u32; 3],
    limits: &WorkLimits,
    has_pipeline: impl Fn([u32; 3]) -> bool,
) -> [u32; 3] {
    let work_items = work_items(global);
    if work_items > SHORT_RANGE || has_pipeline(local) {
        return local;
    }
    let sub_group = u64::from(limits.subgroup_size);
    if global[0].is_multiple_of(sub_group) {
        return [limits.subgroup_size, 1, 1];
    }
    // Each group has a processor of its own, as far as there are some.
    if work_items < sub_group && has_pipeline([1; 3]) {
        [1; 3]
    } else {
        local
    }
}

/// The local size that a short range of a large kernel runs with, whose dispatches may end within a work-group: one that
/// serves every width. As [`shared_size`] otherwise. A long range makes do with the same pipeline if there is one, and if it
/// has no more work-items than `left_to_cover`.
pub fn covering_size(
    global: [u64; 3],
    local: [u32; 3],
    limits: &WorkLimits,
    left_to_cover: u64,
    has_pipeline: impl Fn([u32; 3]) -> bool,
) -> [u32; 3] {
    let [width, rows @ ..] = global;
    let rows = rows.into_iter().fold(1, u64::saturating_mul);
    let is_narrow = width < limits.subgroup_size.into() && rows > 1;
    if is_narrow || has_pipeline(local) {
        return local;
    }
    let covering = [limits.subgroup_size, 1, 1];
    let makes_do = || work_items(global) <= left_to_cover && has_pipeline(covering);
    if is_long(global) && !makes_do() {
        return local;
    }
    covering
}

/// Whether a range of a large kernel is worth a pipeline of its own.
pub fn is_long(global: [u64; 3]) -> bool {
    work_items(global) > SHORT_RANGE_OF_LARGE
}

pub fn work_items(global: [u64; 3]) -> u64 {
    global.into_iter().fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::launch::plan::tests::LIMITS;

    #[test]
    fn short_ranges_share_pipelines() {
        let size = |x: u64, local: u32, made: &[u32]| {
            shared_size([x, 1, 1], [local, 1, 1], &LIMITS, |size| {
                size[1..] == [1, 1] && made.contains(&size[0])
            })
        };
        let sub_group = LIMITS.subgroup_size;
        let items = u64::from(sub_group);
        // The first of its kind has what it is for.
        assert_eq!(size(1, 1, &[]), [1, 1, 1]);
        assert_eq!(size(2, 2, &[]), [2, 1, 1]);
        assert_eq!(size(2, 2, &[1]), [1, 1, 1]);
        assert_eq!(size(2, 2, &[1, 2]), [2, 1, 1]);
        assert_eq!(size(4 * items, 4 * sub_group, &[1]), [sub_group, 1, 1]);
        let made = [4 * sub_group];
        assert_eq!(size(4 * items, 4 * sub_group, &made), [4 * sub_group, 1, 1]);
        assert_eq!(size(items + 1, sub_group + 1, &[1]), [sub_group + 1, 1, 1]);
        assert_eq!(size(1 << 20, 256, &[1, sub_group]), [256, 1, 1]);
    }

    #[test]
    fn one_pipeline_serves_short_ranges_of_large_kernels() {
        let size = |global: [u64; 3], local: u32, made: &[u32]| {
            covering_size(global, [local, 1, 1], &LIMITS, 1 << 19, |size| {
                size[1..] == [1, 1] && made.contains(&size[0])
            })
        };
        let sub_group = LIMITS.subgroup_size;
        for width in [1, 2, 9, 1000, 2048] {
            assert_eq!(size([width, 1, 1], 4, &[]), [sub_group, 1, 1]);
            assert_eq!(size([width, 1, 1], 4, &[4]), [4, 1, 1]);
        }
        assert_eq!(size([9, 9, 1], 4, &[]), [sub_group, 1, 1]);
        // Most lanes of each row would be idle, or the work-groups are too many.
        assert_eq!(size([2, 9, 1], 4, &[]), [4, 1, 1]);
        assert_eq!(size([1 << 20, 1, 1], 256, &[]), [256, 1, 1]);
        // What is there already does for the first of them.
        assert_eq!(size([1 << 19, 1, 1], 256, &[]), [256, 1, 1]);
        assert_eq!(size([1 << 19, 1, 1], 256, &[sub_group]), [sub_group, 1, 1]);
        assert_eq!(size([1 << 20, 1, 1], 256, &[sub_group]), [256, 1, 1]);
    }
}
