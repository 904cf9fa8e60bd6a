//! Sizes of work-groups, and the dispatches that a range becomes. Pure arithmetic.

use smallvec::SmallVec;

/// What a device allows of one dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkLimits {
    /// `CL_DEVICE_MAX_WORK_GROUP_SIZE`
    pub max_group_size: u32,
    /// `CL_DEVICE_MAX_WORK_ITEM_SIZES`
    pub max_item_sizes: [u32; 3],
    /// `maxComputeWorkGroupCount`
    pub max_group_counts: [u32; 3],
    /// Work-items that run together; a work-group smaller than this wastes the rest.
    pub subgroup_size: u32,
}

/// Work-items that a chosen work-group holds, if the range allows: enough to hide latency on a GPU and to
/// amortise the cost of a group on a software device; few enough to leave groups for every core.
const PREFERRED_GROUP_SIZE: u64 = 256;

/// A local size for a range without one (`local_work_size` NULL, or clGetKernelSuggestedLocalWorkSize).
///
/// Every dimension divides the global size. Among the divisors the choice goes to whole sub-groups first,
/// then to the size nearest to the preferred one, then to the one longest in x, where neighbours in memory
/// are.
pub fn choose_local_size(global: [u64; 3], limits: &WorkLimits) -> [u32; 3] {
    let preferred = PREFERRED_GROUP_SIZE.min(u64::from(limits.max_group_size));
    let candidates = |dimension: usize| {
        divisors(
            global[dimension],
            limits.max_item_sizes[dimension].into(),
            preferred,
        )
    };
    let mut best = ([1u64; 3], score([1; 3], limits, preferred));
    let ys = candidates(1);
    let zs = candidates(2);
    for x in candidates(0) {
        for &y in ys.iter().take_while(|&&y| x * y <= preferred) {
            for &z in zs.iter().take_while(|&&z| x * y * z <= preferred) {
                let value = score([x, y, z], limits, preferred);
                if value > best.1 {
                    best = ([x, y, z], value);
                }
            }
        }
    }
    // At most `preferred`, which came from a u32.
    best.0.map(|size| size as u32)
}

/// Larger is better.
fn score(local: [u64; 3], limits: &WorkLimits, preferred: u64) -> (u64, u64, u64) {
    let items = local[0] * local[1] * local[2];
    let subgroup = u64::from(limits.subgroup_size.max(1));
    // Lanes at work among the lanes occupied, in 1/1024; whole sub-groups give all.
    let busy = items * 1024 / (items.next_multiple_of(subgroup));
    (busy * items.min(subgroup), items.min(preferred), local[0])
}

/// Divisors of `size` up to both bounds, ascending.
fn divisors(size: u64, limit: u64, preferred: u64) -> SmallVec<[u64; 32]> {
    (1..=limit.min(preferred).min(size.max(1)))
        .filter(|candidate| size.is_multiple_of(*candidate))
        .collect()
}

/// A part of a range that one dispatch covers, in work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRegion {
    pub base: [u32; 3],
    pub count: [u32; 3],
}

/// Cuts `groups` work-groups into pieces that the device dispatches at once, each of fewer than 2³² work-items
/// in every dimension: code counts within a dispatch in 32 bits. `None` if the range has more groups in a
/// dimension than the 32 bits of a work-group's number hold.
pub fn split_groups(
    groups: [u64; 3],
    local: [u32; 3],
    limits: &WorkLimits,
) -> Option<SmallVec<[GroupRegion; 1]>> {
    let mut total = [0u32; 3];
    for (count, groups) in total.iter_mut().zip(groups) {
        *count = u32::try_from(groups).ok()?;
    }
    let mut steps = limits.max_group_counts;
    for (step, local) in steps.iter_mut().zip(local) {
        *step = (*step).min(u32::MAX / local.max(1)).max(1);
    }
    let starts = |dimension: usize| (0..total[dimension]).step_by(steps[dimension] as usize);
    let mut regions = SmallVec::new();
    for z in starts(2) {
        for y in starts(1) {
            for x in starts(0) {
                let base = [x, y, z];
                let count = [0, 1, 2].map(|d: usize| (total[d] - base[d]).min(steps[d]));
                regions.push(GroupRegion { base, count });
            }
        }
    }
    Some(regions)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: WorkLimits = WorkLimits {
        max_group_size: 1024,
        max_item_sizes: [1024, 1024, 64],
        max_group_counts: [65535; 3],
        subgroup_size: 32,
    };

    #[test]
    fn chosen_sizes_divide_and_fit() {
        for global in [
            [1, 1, 1],
            [1_000_003, 1, 1],
            [1920, 1080, 1],
            [7, 11, 13],
            [64, 64, 64],
            [1 << 40, 1, 1],
            [17, 1 << 20, 3],
        ] {
            let local = choose_local_size(global, &GPU);
            for dimension in 0..3 {
                assert_eq!(
                    global[dimension] % u64::from(local[dimension]),
                    0,
                    "{global:?} {local:?}"
                );
                assert!(local[dimension] <= GPU.max_item_sizes[dimension]);
            }
            assert!(local.iter().product::<u32>() <= 1024);
        }
    }

    #[test]
    fn ordinary_ranges_get_whole_and_long_groups() {
        assert_eq!(choose_local_size([1 << 20, 1, 1], &GPU), [256, 1, 1]);
        assert_eq!(choose_local_size([1024, 1024, 1], &GPU), [256, 1, 1]);
        let picture = choose_local_size([1920, 1080, 1], &GPU);
        assert_eq!(picture.iter().product::<u32>() % 32, 0, "{picture:?}");
        let small = WorkLimits {
            max_group_size: 128,
            max_item_sizes: [128, 128, 64],
            subgroup_size: 4,
            ..GPU
        };
        assert_eq!(choose_local_size([1 << 20, 1, 1], &small), [128, 1, 1]);
        assert_eq!(choose_local_size([100, 1, 1], &small), [100, 1, 1]);
    }

    #[test]
    fn ranges_beyond_the_dispatch_limit_are_split_without_gap_or_overlap() {
        let limits = WorkLimits {
            max_group_counts: [10, 3, 2],
            ..GPU
        };
        let regions = split_groups([25, 3, 5], [1; 3], &limits).unwrap();
        assert_eq!(regions.len(), 3 * 3);
        let mut seen = std::collections::HashSet::new();
        for region in regions {
            for x in 0..region.count[0] {
                for y in 0..region.count[1] {
                    for z in 0..region.count[2] {
                        assert!(seen.insert([
                            region.base[0] + x,
                            region.base[1] + y,
                            region.base[2] + z
                        ]));
                    }
                }
            }
        }
        assert_eq!(seen.len(), 25 * 3 * 5);
        assert_eq!(split_groups([9, 3, 2], [1; 3], &limits).unwrap().len(), 1);
        assert_eq!(split_groups([1 << 33, 1, 1], [1; 3], &limits), None);
        assert!(split_groups([0, 1, 1], [1; 3], &limits).unwrap().is_empty());
        let wide = WorkLimits {
            max_group_counts: [u32::MAX; 3],
            ..GPU
        };
        let regions = split_groups([1 << 25, 1, 1], [256, 1, 1], &wide).unwrap();
        assert_eq!(regions.len(), 3);
        assert!(
            regions
                .iter()
                .all(|region| u64::from(region.count[0]) * 256 < 1 << 32)
        );
    }
}
