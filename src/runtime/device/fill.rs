//! Fills: by words where Vulkan can, by kernels of our own ([`super::rectangle`]), or by copies of a staged pattern.

use super::encoder::Encoder;
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::runtime::object::error::Result;
use crate::vulkan::{Buffer, CopyRegion, Recorder};
use std::ops::Range;
use std::ptr::NonNull;

/// Most bytes of a repeated pattern in staging memory.
const PATTERN_BYTES: usize = 64 << 10;
/// Fills from this size on are copied from their own beginning, once that has at least as many bytes as the second
/// number: few copies, each of them long.
const LARGE_BYTES: u64 = 4 << 20;
const SEED_BYTES: u64 = 1 << 20;

impl Encoder<'_> {
    /// Fills `size_bytes`, a multiple of the pattern's length.
    pub fn fill(
        &mut self,
        target: &Buffer,
        offset_bytes: u64,
        size_bytes: u64,
        pattern: &[u8],
    ) -> Result<()> {
        if let Some(word) = word_of(pattern) {
            let words = Recorder::words_within(target, offset_bytes, size_bytes);
            if !words.is_empty() {
                return self.fill_words(
                    target,
                    offset_bytes..offset_bytes + size_bytes,
                    words,
                    word,
                );
            }
        }
        let extent = Extent::linear(size_bytes as usize);
        let layout = extent.packed(offset_bytes as usize);
        if self.by_kernel(target, extent, layout, pattern) {
            return Ok(());
        }
        // Copies of a staged run of patterns: Vulkan's copy has no alignment to keep.
        let run_bytes = (size_bytes as usize).min(whole_patterns(PATTERN_BYTES, pattern)) as u64;
        let piece = self.staging.take(self.kernels.device(), run_bytes)?;
        repeat(pattern, piece.pointer, run_bytes as usize);
        if size_bytes < LARGE_BYTES {
            let regions = copies(piece.offset_bytes, offset_bytes, run_bytes, size_bytes);
            self.recorder.copy(piece.buffer, target, regions);
            return Ok(());
        }
        // The device reads staging memory more slowly than its own: the beginning of the target, twice as long each
        // time, is the run that the rest is copied from.
        let regions = copies(piece.offset_bytes, offset_bytes, run_bytes, run_bytes);
        self.recorder.copy(piece.buffer, target, regions);
        let mut done_bytes = run_bytes;
        while done_bytes < SEED_BYTES {
            self.recorder.full_barrier();
            let after_bytes = offset_bytes + done_bytes;
            let regions = copies(offset_bytes, after_bytes, done_bytes, done_bytes);
            self.recorder.copy(target, target, regions);
            done_bytes *= 2;
        }
        self.recorder.full_barrier();
        let after_bytes = offset_bytes + done_bytes;
        let rest_bytes = size_bytes - done_bytes;
        let regions = copies(offset_bytes, after_bytes, done_bytes, rest_bytes);
        self.recorder.copy(target, target, regions);
        Ok(())
    }

    fn by_kernel(
        &mut self,
        target: &Buffer,
        extent: Extent,
        layout: Layout,
        pattern: &[u8],
    ) -> bool {
        self.kernels
            .fill(self.recorder, target, extent, layout, pattern)
    }

    /// A fill of `range` with a word, by Vulkan's command for the `words` in it, and copies of what is outside.
    fn fill_words(
        &mut self,
        target: &Buffer,
        range: Range<u64>,
        words: Range<u64>,
        word: u32,
    ) -> Result<()> {
        let before_bytes = words.start - range.start;
        // The pattern's first byte is the range's first.
        let turned = word.rotate_right(before_bytes as u32 * 8);
        let size_bytes = words.end - words.start;
        self.recorder.fill(target, words.start, size_bytes, turned);
        let outside = [range.start..words.start, words.end..range.end];
        if outside.iter().all(Range::is_empty) {
            return Ok(());
        }
        let piece = self.staging.take(self.kernels.device(), 8)?;
        repeat(&word.to_ne_bytes(), piece.pointer, 8);
        let regions = outside.into_iter().filter(|it| !it.is_empty());
        let regions = regions.map(|it| CopyRegion {
            source_offset_bytes: piece.offset_bytes + (it.start - range.start) % 4,
            target_offset_bytes: it.start,
            size_bytes: it.end - it.start,
        });
        self.recorder.copy(piece.buffer, target, regions);
        Ok(())
    }

    /// Fills rows and slices, each row a multiple of the pattern's length: one row of patterns, copied to every row.
    pub fn fill_rectangle(
        &mut self,
        target: &Buffer,
        extent: Extent,
        layout: Layout,
        pattern: &[u8],
    ) -> Result<()> {
        let size_bytes = extent.size_bytes();
        if layout.end_bytes(extent) - layout.offset_bytes == size_bytes {
            return self.fill(
                target,
                layout.offset_bytes as u64,
                size_bytes as u64,
                pattern,
            );
        }
        if self.by_kernel(target, extent, layout, pattern) {
            return Ok(());
        }
        let piece = self
            .staging
            .take(self.kernels.device(), extent.width_bytes as u64)?;
        repeat(pattern, piece.pointer, extent.width_bytes);
        let shape = Shape {
            extent,
            source: Layout {
                offset_bytes: piece.offset_bytes as usize,
                row_pitch_bytes: 0,
                slice_pitch_bytes: 0,
            },
            target: layout,
        };
        let regions = shape.runs().map(CopyRegion::from);
        self.recorder.copy(piece.buffer, target, regions);
        Ok(())
    }
}

/// The most whole patterns in `size_bytes`, in bytes.
fn whole_patterns(size_bytes: usize, pattern: &[u8]) -> usize {
    size_bytes / pattern.len() * pattern.len()
}

/// Copies of the `run_bytes` at `source_bytes`, one after another, to the `size_bytes` at `target_bytes`.
fn copies(
    source_bytes: u64,
    target_bytes: u64,
    run_bytes: u64,
    size_bytes: u64,
) -> impl Iterator<Item = CopyRegion> {
    (0..size_bytes)
        .step_by(run_bytes as usize)
        .map(move |done_bytes| CopyRegion {
            source_offset_bytes: source_bytes,
            target_offset_bytes: target_bytes + done_bytes,
            size_bytes: (size_bytes - done_bytes).min(run_bytes),
        })
}

/// The word that a pattern repeats, if it repeats one.
fn word_of(pattern: &[u8]) -> Option<u32> {
    let mut word = [0_u8; 4];
    for (index, byte) in word.iter_mut().enumerate() {
        *byte = *pattern.get(index % pattern.len().max(1))?;
    }
    let repeats = pattern
        .iter()
        .enumerate()
        .all(|(index, byte)| *byte == word[index % 4]);
    repeats.then(|| u32::from_ne_bytes(word))
}

/// Fills `size_bytes` at `target` with `pattern` over and over.
fn repeat(pattern: &[u8], target: NonNull<u8>, size_bytes: usize) {
    // SAFETY: staging memory of that size, taken for this and not shared yet.
    let bytes = unsafe { std::slice::from_raw_parts_mut(target.as_ptr(), size_bytes) };
    for chunk in bytes.chunks_mut(pattern.len()) {
        chunk.copy_from_slice(&pattern[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::allocation::staging::Arena;
    use crate::runtime::test_bench::Bench;
    use crate::vulkan::MemoryKind;

    #[test]
    fn copies_cover_what_is_filled() {
        let all: Vec<_> = copies(5, 100, 48, 100)
            .map(|copy| {
                (
                    copy.source_offset_bytes,
                    copy.target_offset_bytes,
                    copy.size_bytes,
                )
            })
            .collect();
        assert_eq!(all, [(5, 100, 48), (5, 148, 48), (5, 196, 4)]);
        assert_eq!(copies(5, 100, 48, 0).count(), 0);
        assert_eq!(whole_patterns(64, &[0; 12]), 60);
    }

    #[test]
    fn ranges_that_are_not_words_are_filled_to_the_byte() {
        let Some(mut bench) = Bench::new() else {
            return;
        };
        let pattern = [1, 2, 3, 4, 5, 6, 7, 8];
        for (length, offset, count) in [1, 2, 4, 8]
            .into_iter()
            .flat_map(|length| (0..9).map(move |offset| (length, offset)))
            .flat_map(|(length, offset)| (1..20).map(move |count| (length, offset, count)))
        {
            let pattern = &pattern[..length];
            let mut staging = Arena::new(MemoryKind::Upload);
            let [mut wanted, found] = bench.run(|kernels, target, recorder| {
                let mut encoder = Encoder {
                    recorder,
                    staging: &mut staging,
                    kernels,
                };
                let size_bytes = (count * length) as u64;
                encoder
                    .fill(target, offset as u64, size_bytes, pattern)
                    .is_ok()
            });
            let range = wanted[offset..][..count * length].iter_mut();
            for (byte, from) in range.zip(pattern.iter().cycle()) {
                *byte = *from;
            }
            assert!(found == wanted, "{count} times {length} bytes at {offset}");
        }
    }

    #[test]
    fn short_and_repeating_patterns_are_words() {
        assert_eq!(word_of(&[7]), Some(0x0707_0707));
        assert_eq!(word_of(&[1, 2]).map(u32::to_ne_bytes), Some([1, 2, 1, 2]));
        assert_eq!(
            word_of(&[1, 2, 3, 4, 1, 2, 3, 4]).map(u32::to_ne_bytes),
            Some([1, 2, 3, 4])
        );
        assert_eq!(word_of(&[1, 2, 3, 4, 5, 6, 7, 8]), None);
        assert_eq!(word_of(&[]), None);
    }
}
