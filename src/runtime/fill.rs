//! Fills, recorded as what Vulkan has: words, or copies of a staged pattern.

use super::allocation::Allocation;
use super::batch::copy_region;
use super::error::Result;
use super::layout::{Extent, Layout, Shape};
use super::staging::Arena;
use crate::vulkan::{CopyRegion, Device, Recorder};
use std::ptr::NonNull;
use std::sync::Arc;

/// Most bytes of a repeated pattern in staging memory.
const PATTERN_BYTES: usize = 64 << 10;

/// Where fills are recorded, and the memory that patterns are staged in.
pub struct Filler<'a> {
    pub recorder: &'a mut Recorder,
    pub staging: &'a mut Arena,
    pub device: &'a Arc<Device>,
}

impl Filler<'_> {
    /// `size_bytes`, a multiple of the pattern's length.
    pub fn fill(
        &mut self,
        target: &Allocation,
        offset_bytes: u64,
        size_bytes: u64,
        pattern: &[u8],
    ) -> Result<()> {
        if let Some(word) = word_of(pattern)
            && Recorder::can_fill(target.buffer(), offset_bytes, size_bytes)
        {
            self.recorder
                .fill(target.buffer(), offset_bytes, size_bytes, word);
            return Ok(());
        }
        // Copies of a staged run of patterns: Vulkan's copy has no alignment to keep.
        let whole = (PATTERN_BYTES / pattern.len()) * pattern.len();
        let run_bytes = (size_bytes as usize).min(whole);
        let piece = self.staging.take(self.device, run_bytes as u64)?;
        repeat(pattern, piece.pointer, run_bytes);
        let staged_bytes = piece.offset_bytes;
        let regions = (0..size_bytes)
            .step_by(run_bytes)
            .map(|done_bytes| CopyRegion {
                source_offset_bytes: staged_bytes,
                target_offset_bytes: offset_bytes + done_bytes,
                size_bytes: (size_bytes - done_bytes).min(run_bytes as u64),
            });
        self.recorder.copy(piece.buffer, target.buffer(), regions);
        Ok(())
    }

    /// Rows and slices, each row a multiple of the pattern's length: one row of patterns, copied to every row.
    pub fn fill_rectangle(
        &mut self,
        target: &Allocation,
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
        let piece = self.staging.take(self.device, extent.width_bytes as u64)?;
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
        let regions = shape.runs().map(copy_region);
        self.recorder.copy(piece.buffer, target.buffer(), regions);
        Ok(())
    }
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
