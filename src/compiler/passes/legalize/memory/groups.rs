//! How consecutive elements are grouped into accesses.

/// Consecutive elements that are one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    pub first: usize,
    /// 1 to 4.
    pub count: usize,
    pub offset_bytes: u32,
    /// What is known of the group's own address.
    pub align_bytes: u32,
}

/// Widest access, bytes.
const WIDEST: u32 = 16;

/// Groups `count` elements of `size_bytes`, a power of two, at an address of a known alignment that is at
/// least that: each group is naturally aligned, three elements like four.
pub fn groups(count: usize, size_bytes: u32, align_bytes: u32) -> Vec<Group> {
    let mut groups = Vec::new();
    let mut first = 0;
    while first < count {
        let offset_bytes = first as u32 * size_bytes;
        let align_bytes = alignment_at(align_bytes, offset_bytes);
        let left = count - first;
        let widest = (align_bytes.min(WIDEST) / size_bytes).clamp(1, 4) as usize;
        let group = match left {
            3 if widest == 4 => 3,
            _ if left >= widest => widest,
            // A power of two that is left.
            _ => 1 << left.ilog2(),
        };
        groups.push(Group {
            first,
            count: group,
            offset_bytes,
            align_bytes,
        });
        first += group;
    }
    groups
}

/// The alignment known of an address that many bytes after one of a known alignment.
pub fn alignment_at(align_bytes: u32, offset_bytes: u32) -> u32 {
    match offset_bytes {
        0 => align_bytes,
        offset => align_bytes.min(1 << offset.trailing_zeros()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(count: usize, size: u32, align: u32) -> Vec<(usize, u32)> {
        groups(count, size, align)
            .iter()
            .map(|group| (group.count, group.align_bytes))
            .collect()
    }

    #[test]
    fn aligned_vectors_are_whole() {
        assert_eq!(counts(4, 4, 16), [(4, 16)]);
        assert_eq!(counts(16, 4, 64), [(4, 64), (4, 16), (4, 32), (4, 16)]);
        assert_eq!(counts(3, 4, 16), [(3, 16)]);
        assert_eq!(counts(2, 8, 16), [(2, 16)]);
        assert_eq!(counts(4, 8, 32), [(2, 32), (2, 16)]);
        assert_eq!(counts(4, 1, 4), [(4, 4)]);
    }

    #[test]
    fn alignment_limits_the_width() {
        assert_eq!(counts(4, 4, 4), [(1, 4); 4]);
        assert_eq!(counts(4, 4, 8), [(2, 8), (2, 8)]);
        assert_eq!(counts(3, 4, 8), [(2, 8), (1, 8)]);
        assert_eq!(counts(5, 2, 4), [(2, 4), (2, 4), (1, 4)]);
        assert_eq!(counts(7, 4, 16), [(4, 16), (3, 16)]);
    }

    #[test]
    fn every_element_is_in_one_group() {
        for count in 0..40 {
            for size in [1, 2, 4, 8] {
                for align in [1, 2, 4, 8, 16, 32, 128] {
                    if align < size {
                        continue;
                    }
                    let mut next = 0;
                    for group in groups(count, size, align) {
                        assert_eq!(group.first, next);
                        assert_eq!(group.offset_bytes, next as u32 * size);
                        assert!((1..=4).contains(&group.count));
                        let natural = (group.count as u32 * size).next_power_of_two();
                        assert!(natural <= group.align_bytes && natural <= 16);
                        next += group.count;
                    }
                    assert_eq!(next, count);
                }
            }
        }
    }
}
