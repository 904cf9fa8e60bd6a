//! The range of a launch: how many work-items there are, from which ids on, in work-groups of which size.

/// The range of `clEnqueueNDRangeKernel`. Dimensions beyond `dimensions` have offset 0 and size 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NdRange {
    pub dimensions: u32,
    pub offset: [u64; 3],
    pub global: [u64; 3],
    /// `None`: the implementation chooses.
    pub local: Option<[u64; 3]>,
}

impl Default for NdRange {
    /// One work-item.
    fn default() -> Self {
        Self {
            dimensions: 1,
            offset: [0; 3],
            global: [1; 3],
            local: None,
        }
    }
}

impl NdRange {
    /// Whether there is nothing to run.
    pub fn is_empty(&self) -> bool {
        self.global.contains(&0)
    }

    /// Whether they are equal, word by word: words that have just been written are slow to read in larger pieces.
    pub(in crate::runtime) fn is_same(&self, other: &Self) -> bool {
        let same_in = |dimension: usize| {
            let local = match (&self.local, &other.local) {
                (Some(one), Some(other)) => one[dimension] == other[dimension],
                (None, None) => true,
                _ => false,
            };
            local
                && self.global[dimension] == other.global[dimension]
                && self.offset[dimension] == other.offset[dimension]
        };
        // Beyond its dimensions one is as another.
        self.dimensions == other.dimensions
            && same_in(0)
            && (self.dimensions < 2 || same_in(1))
            && (self.dimensions < 3 || same_in(2))
    }
}

/// Whether two sizes are equal, as [`NdRange::is_same`] compares them.
pub(in crate::runtime) fn is_same(one: &[u64; 3], other: &[u64; 3]) -> bool {
    one.iter().zip(other).all(|(one, other)| one == other)
}

/// Whether two sizes are equal that need not be given.
pub(in crate::runtime) fn is_same_size(one: &Option<[u64; 3]>, other: &Option<[u64; 3]>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => is_same(one, other),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_differ_in_whatever_dimension_they_have() {
        for dimensions in 1..=3 {
            let mut sizes = [1; 3];
            sizes[..dimensions].fill(8);
            let range = NdRange {
                dimensions: dimensions as u32,
                offset: [0; 3],
                global: sizes,
                local: Some(sizes),
            };
            assert!(range.is_same(&{ range }));
            let mut others = vec![
                NdRange {
                    dimensions: dimensions as u32 + 1,
                    ..range
                },
                NdRange {
                    local: None,
                    ..range
                },
            ];
            for dimension in 0..dimensions {
                let mut changed = [range; 3];
                changed[0].offset[dimension] += 1;
                changed[1].global[dimension] += 1;
                changed[2].local.as_mut().unwrap()[dimension] += 1;
                others.extend(changed);
            }
            for other in others {
                assert!(!range.is_same(&other), "{other:?}");
                assert!(!other.is_same(&range), "{other:?}");
            }
        }
    }
}
