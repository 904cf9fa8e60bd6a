//! Sizes of work-groups, and the dispatches that a range becomes. Pure arithmetic.

use crate::runtime::device::work_limits::WorkLimits;
use smallvec::SmallVec;

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

/// A local size for a range without one whose work-groups need not all have it: one that divides where that
/// serves as well, else as many work-items as a group is to hold, along x first.
pub fn choose_any_local_size(global: [u64; 3], limits: &WorkLimits) -> [u32; 3] {
    let divisor = choose_local_size(global, limits);
    let preferred = PREFERRED_GROUP_SIZE.min(u64::from(limits.max_group_size));
    let wanted = global
        .iter()
        .fold(1u64, |total, size| total.saturating_mul(*size))
        .min(preferred);
    let items: u64 = divisor.iter().map(|size| u64::from(*size)).product();
    // Half the size costs less than another pipeline and another dispatch for what is left over.
    if items * 2 >= wanted {
        return divisor;
    }
    let mut left = preferred;
    let mut local = [1; 3];
    for ((local, global), limit) in local.iter_mut().zip(global).zip(limits.max_item_sizes) {
        let size = global.min(left).clamp(1, u64::from(limit.max(1)));
        left /= size;
        // At most `preferred`, which came from a u32.
        *local = size as u32;
    }
    local
}

/// A part of a range that one dispatch covers, in work-groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupRegion {
    pub base: [u32; 3],
    pub count: [u32; 3],
    /// Size of each of its work-groups: smaller than that of the range in the remainder.
    pub local: [u32; 3],
    /// Its work-items in the first dimension: fewer than its work-groups have where it ends within them.
    pub width: u32,
}

impl GroupRegion {
    /// Whether it has no work-group that is only in part of the range.
    pub fn ends_with_a_group(&self) -> bool {
        u64::from(self.width) == u64::from(self.count[0]) * u64::from(self.local[0])
    }
}

/// Cuts a range of work-items into pieces that the device dispatches at once, each of fewer than 2³² work-items
/// in every dimension: code counts within a dispatch in 32 bits. What is left where `local` does not divide
/// `global` is a piece of its own, one work-group wide. `None` if the range has more groups in a dimension
/// than the 32 bits of a work-group's number hold.
pub fn split_range(
    global: [u64; 3],
    local: [u32; 3],
    limits: &WorkLimits,
) -> Option<SmallVec<[GroupRegion; 1]>> {
    let [xs, ys, zs] = {
        let mut axes: [SmallVec<[Piece; 2]>; 3] = Default::default();
        for (dimension, axis) in axes.iter_mut().enumerate() {
            let most = limits.max_group_counts[dimension];
            *axis = split_axis(global[dimension], local[dimension], most)?;
        }
        axes
    };
    let mut regions = SmallVec::new();
    for z in &zs {
        for y in &ys {
            for x in &xs {
                regions.push(GroupRegion {
                    base: [x.base, y.base, z.base],
                    count: [x.count, y.count, z.count],
                    local: [x.local, y.local, z.local],
                    // Fewer than 2³².
                    width: x.count * x.local,
                });
            }
        }
    }
    Some(regions)
}

/// [`split_range`] with all work-groups of one size, where the kernel lets the last ones in the first dimension have
/// work-items beyond the range. The other two dimensions of `local` divide those of `global`.
pub fn cover_range(
    global: [u64; 3],
    local: [u32; 3],
    limits: &WorkLimits,
) -> Option<SmallVec<[GroupRegion; 1]>> {
    let whole = global[0].checked_next_multiple_of(local[0].max(1).into())?;
    let mut regions = split_range([whole, global[1], global[2]], local, limits)?;
    for region in &mut regions {
        let start = u64::from(region.base[0]) * u64::from(region.local[0]);
        let left = u32::try_from(global[0] - start).unwrap_or(u32::MAX);
        region.width = region.width.min(left);
    }
    Some(regions)
}

/// A part of one dimension of a range.
struct Piece {
    base: u32,
    count: u32,
    local: u32,
}

fn split_axis(global: u64, local: u32, max_groups: u32) -> Option<SmallVec<[Piece; 2]>> {
    let size = u64::from(local.max(1));
    let whole = u32::try_from(global / size).ok()?;
    let step = max_groups.min(u32::MAX / local.max(1)).max(1);
    let mut pieces: SmallVec<[Piece; 2]> = (0..whole)
        .step_by(step as usize)
        .map(|base| Piece {
            base,
            count: (whole - base).min(step),
            local,
        })
        .collect();
    let rest = global % size;
    if rest != 0 {
        pieces.push(Piece {
            base: whole,
            count: 1,
            // Less than `local`.
            local: rest as u32,
        });
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GPU: WorkLimits = WorkLimits {
        max_group_size: 1024,
        max_item_sizes: [1024, 1024, 64],
        max_group_counts: [65535; 3],
        subgroup_size: 32,
        kernel_subgroup_size: 32,
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

    /// Checks that the regions cover every work-item of the range once, as the shader numbers them.
    fn assert_covered(global: [u64; 3], local: [u32; 3], limits: &WorkLimits) -> usize {
        let covering = cover_range(global, local, limits).unwrap();
        assert!(covering.iter().all(|region| region.local[0] == local[0]));
        assert_each_once(&covering, global, local, limits);
        let regions = split_range(global, local, limits).unwrap();
        assert_each_once(&regions, global, local, limits);
        regions.len()
    }

    fn assert_each_once(
        regions: &[GroupRegion],
        global: [u64; 3],
        local: [u32; 3],
        limits: &WorkLimits,
    ) {
        let mut seen = std::collections::HashSet::new();
        for region in regions {
            let axis = |d: usize| {
                let start = u64::from(region.base[d]) * u64::from(local[d]);
                start..start + u64::from(region.count[d]) * u64::from(region.local[d])
            };
            assert!((0..3).all(|d| region.count[d] <= limits.max_group_counts[d]));
            let width = u64::from(region.width);
            assert!(width + u64::from(local[0]) > axis(0).count() as u64);
            for x in axis(0).take(width as usize) {
                for y in axis(1) {
                    for z in axis(2) {
                        assert!(seen.insert([x, y, z]), "twice");
                        assert!(x < global[0] && y < global[1] && z < global[2]);
                    }
                }
            }
        }
        assert_eq!(seen.len() as u64, global.iter().product::<u64>());
    }

    #[test]
    fn ranges_are_split_without_gap_or_overlap() {
        let limits = WorkLimits {
            max_group_counts: [10, 3, 2],
            ..GPU
        };
        assert_eq!(assert_covered([25, 3, 5], [1; 3], &limits), 3 * 3);
        assert_eq!(assert_covered([9, 3, 2], [1; 3], &limits), 1);
        assert_eq!(assert_covered([9, 7, 5], [4, 7, 2], &limits), 2 * 2);
        assert_eq!(assert_covered([45, 7, 5], [4, 3, 2], &limits), 3 * 2 * 2);
        assert_eq!(assert_covered([3, 1, 1], [4, 1, 1], &limits), 1);
        assert_eq!(split_range([1 << 33, 1, 1], [1; 3], &limits), None);
        assert!(split_range([0, 1, 1], [1; 3], &limits).unwrap().is_empty());
        let wide = WorkLimits {
            max_group_counts: [u32::MAX; 3],
            ..GPU
        };
        let regions = split_range([1 << 33, 1, 1], [256, 1, 1], &wide).unwrap();
        assert_eq!(regions.len(), 3);
        assert!(
            regions
                .iter()
                .all(|region| u64::from(region.count[0]) * 256 < 1 << 32)
        );
    }

    #[test]
    fn odd_ranges_get_groups_of_a_good_size_where_a_remainder_is_allowed() {
        assert_eq!(choose_any_local_size([1 << 20, 1, 1], &GPU), [256, 1, 1]);
        assert_eq!(choose_any_local_size([1_000_003, 1, 1], &GPU), [256, 1, 1]);
        assert_eq!(choose_any_local_size([1021, 769, 1], &GPU), [256, 1, 1]);
        assert_eq!(choose_any_local_size([17, 1009, 3], &GPU), [17, 15, 1]);
        assert_eq!(choose_any_local_size([7, 1, 1], &GPU), [7, 1, 1]);
        assert_eq!(
            choose_any_local_size([1920, 1080, 1], &GPU),
            choose_local_size([1920, 1080, 1], &GPU)
        );
    }
}
