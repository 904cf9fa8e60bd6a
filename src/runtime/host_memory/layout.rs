//! Rectangles in linear memory, and the runs of bytes that a copy between two of them is made of.

use crate::vulkan::CopyRegion;

/// Extent of a copy. A plain range of bytes is one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub width_bytes: usize,
    pub rows: usize,
    pub slices: usize,
}

/// Where the rectangle lies in one of the two memories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Where the rectangle's first byte lies.
    pub offset_bytes: usize,
    pub row_pitch_bytes: usize,
    pub slice_pitch_bytes: usize,
}

/// A copy's extent and its place on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub extent: Extent,
    pub source: Layout,
    pub target: Layout,
}

/// Bytes to copy in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub source_bytes: usize,
    pub target_bytes: usize,
    pub size_bytes: usize,
}

impl From<Run> for CopyRegion {
    fn from(run: Run) -> Self {
        Self {
            source_offset_bytes: run.source_bytes as u64,
            target_offset_bytes: run.target_bytes as u64,
            size_bytes: run.size_bytes as u64,
        }
    }
}

impl Extent {
    /// One row.
    pub fn linear(size_bytes: usize) -> Self {
        Self {
            width_bytes: size_bytes,
            rows: 1,
            slices: 1,
        }
    }

    pub fn size_bytes(self) -> usize {
        self.width_bytes * self.rows * self.slices
    }

    fn sides(self) -> [usize; 3] {
        [self.width_bytes, self.rows, self.slices]
    }

    /// Rows and slices without gaps, from `offset_bytes` on.
    pub fn packed(self, offset_bytes: usize) -> Layout {
        Layout {
            offset_bytes,
            row_pitch_bytes: self.width_bytes,
            slice_pitch_bytes: self.width_bytes * self.rows,
        }
    }
}

impl Layout {
    /// First byte past the last one that a rectangle of `extent` covers.
    pub fn end_bytes(&self, extent: Extent) -> usize {
        self.offset_bytes
            + (extent.slices.saturating_sub(1)) * self.slice_pitch_bytes
            + (extent.rows.saturating_sub(1)) * self.row_pitch_bytes
            + extent.width_bytes
    }
}

impl Layout {
    /// Whether a rectangle of `extent` and another one share a byte. Of two that both have several rows, at other pitches,
    /// that is not known: then it says no.
    pub fn overlaps(&self, extent: Extent, other: &Self, other_extent: Extent) -> bool {
        let spans = [
            (self.offset_bytes, self.end_bytes(extent)),
            (other.offset_bytes, other.end_bytes(other_extent)),
        ];
        if spans[0].0 >= spans[1].1 || spans[1].0 >= spans[0].1 {
            return false;
        }
        match (
            extent.rows * extent.slices,
            other_extent.rows * other_extent.slices,
        ) {
            (1, _) => other.has_rows_in(other_extent, spans[0]),
            (_, 1) => self.has_rows_in(extent, spans[1]),
            _ => {
                let pitches = |it: &Self| (it.row_pitch_bytes, it.slice_pitch_bytes);
                let (own, others) = (self.origin(), other.origin());
                pitches(self) == pitches(other)
                    && own
                        .iter()
                        .zip(others)
                        .zip(extent.sides().iter().zip(other_extent.sides()))
                        .all(|((&start, other_start), (&side, other_side))| {
                            start < other_start + other_side && other_start < start + side
                        })
            }
        }
    }

    /// Whether a row of the rectangle has a byte in the range.
    fn has_rows_in(&self, extent: Extent, (start, end): (usize, usize)) -> bool {
        (0..extent.slices).any(|slice| {
            (0..extent.rows).any(|row| {
                let first =
                    self.offset_bytes + slice * self.slice_pitch_bytes + row * self.row_pitch_bytes;
                first < end && start < first + extent.width_bytes
            })
        })
    }

    /// Where the rectangle begins: the byte in its row, the row, the slice.
    fn origin(&self) -> [usize; 3] {
        let slice_pitch = self.slice_pitch_bytes.max(1);
        let row_pitch = self.row_pitch_bytes.max(1);
        let in_slice = self.offset_bytes % slice_pitch;
        [
            in_slice % row_pitch,
            in_slice / row_pitch,
            self.offset_bytes / slice_pitch,
        ]
    }
}

impl Shape {
    /// A plain range.
    pub fn linear(source_bytes: usize, target_bytes: usize, size_bytes: usize) -> Self {
        let extent = Extent::linear(size_bytes);
        Self {
            extent,
            source: extent.packed(source_bytes),
            target: extent.packed(target_bytes),
        }
    }

    /// The runs, as long as both sides allow.
    pub fn runs(&self) -> impl Iterator<Item = Run> + use<> {
        let shape = self.merged();
        (0..shape.extent.slices).flat_map(move |slice| {
            (0..shape.extent.rows).map(move |row| Run {
                source_bytes: shape.source.offset_bytes
                    + slice * shape.source.slice_pitch_bytes
                    + row * shape.source.row_pitch_bytes,
                target_bytes: shape.target.offset_bytes
                    + slice * shape.target.slice_pitch_bytes
                    + row * shape.target.row_pitch_bytes,
                size_bytes: shape.extent.width_bytes,
            })
        })
    }

    /// Whether it is one range or the rows of one slice: then [`Self::pieces`] are not small.
    pub fn is_flat(&self) -> bool {
        self.merged().extent.slices == 1
    }

    /// The copy in parts of about `size_bytes`: a plain range is cut, a rectangle between its rows.
    pub fn pieces(&self, size_bytes: usize) -> impl Iterator<Item = Self> + use<> {
        let shape = self.merged();
        let Extent {
            width_bytes,
            rows,
            slices,
        } = shape.extent;
        let rows_at_once = (size_bytes / width_bytes.max(1)).clamp(1, rows.max(1));
        let width_at_once = if rows == 1 && slices == 1 {
            size_bytes
        } else {
            width_bytes
        };
        (0..slices).flat_map(move |slice| {
            (0..rows).step_by(rows_at_once).flat_map(move |row| {
                (0..width_bytes).step_by(width_at_once).map(move |column| {
                    let at = |layout: Layout| Layout {
                        offset_bytes: layout.offset_bytes
                            + slice * layout.slice_pitch_bytes
                            + row * layout.row_pitch_bytes
                            + column,
                        ..layout
                    };
                    Self {
                        extent: Extent {
                            width_bytes: width_at_once.min(width_bytes - column),
                            rows: rows_at_once.min(rows - row),
                            slices: 1,
                        },
                        source: at(shape.source),
                        target: at(shape.target),
                    }
                })
            })
        })
    }

    /// The copy with rows and slices joined where there is no gap on either side.
    pub fn merged(&self) -> Self {
        let mut shape = *self;
        let Extent {
            width_bytes, rows, ..
        } = shape.extent;
        let joins = |layout: &Layout| rows == 1 || layout.row_pitch_bytes == width_bytes;
        if joins(&shape.source) && joins(&shape.target) {
            shape.extent.width_bytes = width_bytes * rows;
            shape.extent.rows = 1;
            let width_bytes = shape.extent.width_bytes;
            let slices = shape.extent.slices;
            let joins = |layout: &Layout| slices == 1 || layout.slice_pitch_bytes == width_bytes;
            if joins(&shape.source) && joins(&shape.target) {
                shape.extent.width_bytes = width_bytes * slices;
                shape.extent.slices = 1;
            }
        }
        shape
    }

    /// Whether source and target, in the same memory, have bytes in common.
    pub fn overlaps(&self) -> bool {
        let span = |layout: Layout| layout.offset_bytes..layout.end_bytes(self.extent);
        let (source, target) = (span(self.source), span(self.target));
        if source.end <= target.start || target.end <= source.start {
            return false;
        }
        let sorted = |take: fn(&Run) -> usize| {
            let mut places: Vec<usize> = self.runs().map(|run| take(&run)).collect();
            places.sort_unstable();
            places
        };
        let source = sorted(|run| run.source_bytes);
        let target = sorted(|run| run.target_bytes);
        let size_bytes = self.merged().extent.width_bytes;
        let mut targets = target.iter().peekable();
        for start in source {
            while targets
                .next_if(|&&place| place + size_bytes <= start)
                .is_some()
            {}
            if targets
                .peek()
                .is_some_and(|&&place| place < start + size_bytes)
            {
                return true;
            }
        }
        false
    }

    /// Copies on the host. A run may overlap its copy: an application may write a buffer from the very
    /// memory that it gave for it (`CL_MEM_USE_HOST_PTR`).
    ///
    /// # Safety
    /// Every run is readable at `source` and writable at `target`.
    pub unsafe fn copy(&self, source: *const u8, target: *mut u8) {
        for run in self.runs() {
            // SAFETY: the caller's promise.
            unsafe {
                std::ptr::copy(
                    source.add(run.source_bytes),
                    target.add(run.target_bytes),
                    run.size_bytes,
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_one_run() {
        let runs: Vec<Run> = Shape::linear(3, 5, 7).runs().collect();
        assert_eq!(
            runs,
            [Run {
                source_bytes: 3,
                target_bytes: 5,
                size_bytes: 7
            }]
        );
    }

    #[test]
    fn rows_join_only_without_gaps_on_both_sides() {
        let extent = Extent {
            width_bytes: 4,
            rows: 2,
            slices: 2,
        };
        let gaps = Layout {
            offset_bytes: 1,
            row_pitch_bytes: 10,
            slice_pitch_bytes: 40,
        };
        let packed = Shape {
            extent,
            source: extent.packed(0),
            target: extent.packed(8),
        };
        assert_eq!(packed.runs().count(), 1);
        let shape = Shape {
            extent,
            source: gaps,
            target: extent.packed(0),
        };
        let places: Vec<_> = shape
            .runs()
            .map(|run| (run.source_bytes, run.target_bytes, run.size_bytes))
            .collect();
        assert_eq!(places, [(1, 0, 4), (11, 4, 4), (41, 8, 4), (51, 12, 4)]);
        assert_eq!(gaps.end_bytes(extent), 55);
    }

    #[test]
    fn pieces_cover_the_same_bytes() {
        let extent = Extent {
            width_bytes: 4,
            rows: 5,
            slices: 2,
        };
        let source = Layout {
            offset_bytes: 3,
            row_pitch_bytes: 6,
            slice_pitch_bytes: 60,
        };
        let rectangle = Shape {
            extent,
            source,
            target: extent.packed(1),
        };
        let bytes = |shapes: &mut dyn Iterator<Item = Shape>| {
            let mut pairs = Vec::new();
            for run in shapes.flat_map(|shape| shape.runs()) {
                for byte in 0..run.size_bytes {
                    pairs.push((run.source_bytes + byte, run.target_bytes + byte));
                }
            }
            pairs
        };
        for shape in [rectangle, Shape::linear(7, 9, 45)] {
            let whole = bytes(&mut std::iter::once(shape));
            assert_eq!(bytes(&mut shape.pieces(10)), whole);
            assert!(shape.pieces(10).count() > 2);
            assert!(
                shape
                    .pieces(10)
                    .all(|piece| piece.extent.size_bytes() <= 10)
            );
        }
    }

    #[test]
    fn interleaved_rectangles_do_not_overlap() {
        let extent = Extent {
            width_bytes: 4,
            rows: 3,
            slices: 1,
        };
        let column = |offset_bytes| Layout {
            offset_bytes,
            row_pitch_bytes: 16,
            slice_pitch_bytes: 48,
        };
        let shape = |from, to| Shape {
            extent,
            source: column(from),
            target: column(to),
        };
        assert!(!shape(0, 4).overlaps());
        assert!(!shape(8, 4).overlaps());
        assert!(shape(0, 3).overlaps());
        assert!(shape(0, 16).overlaps());
        assert!(!shape(0, 48).overlaps());
        assert!(Shape::linear(0, 5, 6).overlaps());
        assert!(!Shape::linear(0, 6, 6).overlaps());
    }

    #[test]
    fn slices_with_gaps_keep_their_joined_rows() {
        let extent = Extent {
            width_bytes: 4,
            rows: 2,
            slices: 3,
        };
        let source = Layout {
            offset_bytes: 0,
            row_pitch_bytes: 4,
            slice_pitch_bytes: 16,
        };
        let shape = Shape {
            extent,
            source,
            target: extent.packed(0),
        };
        let sizes: Vec<_> = shape.runs().map(|run| run.size_bytes).collect();
        assert_eq!(sizes, [8, 8, 8]);
    }

    #[test]
    fn rectangles_overlap_where_they_share_a_byte() {
        let at = |offset_bytes| Layout {
            offset_bytes,
            row_pitch_bytes: 16,
            slice_pitch_bytes: 64,
        };
        let tile = Extent {
            width_bytes: 8,
            rows: 2,
            slices: 2,
        };
        // By what both cover, byte by byte.
        let covers = |layout: Layout, extent: Extent| -> Vec<usize> {
            let rows =
                (0..extent.slices).flat_map(|slice| (0..extent.rows).map(move |row| (slice, row)));
            rows.flat_map(|(slice, row)| {
                let first = layout.offset_bytes + slice * 64 + row * 16;
                first..first + extent.width_bytes
            })
            .collect()
        };
        for first in [0, 4, 8, 16, 24, 64] {
            for second in [0, 1, 7, 8, 15, 16, 23, 24, 32, 40, 64, 72, 96, 128] {
                for extent in [tile, Extent::linear(4), Extent::linear(9)] {
                    if extent == tile && second % 16 + tile.width_bytes > 16 {
                        // A rectangle lies within its rows.
                        continue;
                    }
                    let own = covers(at(first), tile);
                    let shared = covers(at(second), extent).iter().any(|it| own.contains(it));
                    let found = at(first).overlaps(tile, &at(second), extent);
                    assert_eq!(found, shared, "{first} {second} {extent:?}");
                    assert_eq!(at(second).overlaps(extent, &at(first), tile), shared);
                }
            }
        }
    }
}
