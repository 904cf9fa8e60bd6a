//! Small unified buffers, many in one. A device has few `VkDeviceMemory` to give (`maxMemoryAllocationCount`, often
//! 4096), each is whole pages, and the host's addresses are taken by the page too.
//!
//! A *chunk* is a unified buffer that is handed out in parts. Its free space is kept as blocks of a power of two of
//! granules, each at a multiple of its size: two that are the halves of a larger block become that block again. What a
//! part does not need of the block that it comes from stays free. A chunk goes with its last part.

use std::any::Any;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::buffer::{BASE_ALIGNMENT_BYTES, Buffer};
use super::device::Device;
use super::error::Error;
use super::unification::HostView;

/// Parts begin and end at multiples of this.
const GRANULE_BYTES: u64 = BASE_ALIGNMENT_BYTES;

/// Larger buffers get memory of their own.
const LARGEST_PART_BYTES: u64 = 4 << 20;

/// A chunk is as large as all before it together, within these limits.
const SMALLEST_CHUNK_BYTES: u64 = 2 << 20;
const LARGEST_CHUNK_BYTES: u64 = 64 << 20;

struct Chunk {
    buffer: Buffer,
    free: Mutex<FreeSpace>,
}

/// A part of a chunk, given back when dropped.
struct Part {
    chunk: Arc<Chunk>,
    granules: Range<u64>,
}

/// The chunks of a device that the host sees in a way.
fn chunks(device: &Device, view: HostView) -> MutexGuard<'_, Vec<Weak<dyn Any + Send + Sync>>> {
    let [direct, shadow, none] = &device.unified;
    let chunks = match view {
        HostView::Direct => direct,
        HostView::Shadow => shadow,
        HostView::None => none,
    };
    chunks.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A buffer of `size_bytes` (not 0).
///
/// # Errors
/// Those of [`Device::create_whole_unified_buffer`].
pub(super) fn create_buffer(
    device: &Arc<Device>,
    size_bytes: u64,
    view: HostView,
) -> Result<Buffer, Error> {
    if size_bytes > LARGEST_PART_BYTES {
        return device.create_whole_unified_buffer(size_bytes, view);
    }
    let mut chunks = chunks(device, view);
    chunks.retain(|chunk| chunk.strong_count() > 0);
    // The newest first: it is the largest, and the least used.
    let live = chunks.iter().rev().filter_map(Weak::upgrade);
    let mut chunks_bytes = 0;
    for chunk in live.filter_map(|chunk| chunk.downcast::<Chunk>().ok()) {
        if let Some(part) = chunk.part(size_bytes) {
            return Ok(part);
        }
        chunks_bytes += chunk.buffer.size_bytes();
    }
    let chunk_bytes = chunks_bytes
        .clamp(SMALLEST_CHUNK_BYTES, LARGEST_CHUNK_BYTES)
        .max(size_bytes.next_power_of_two());
    let Ok(buffer) = device.create_whole_unified_buffer(chunk_bytes, view) else {
        // There may still be room for one.
        return device.create_whole_unified_buffer(size_bytes, view);
    };
    let chunk = Arc::new(Chunk {
        free: Mutex::new(FreeSpace::new(chunk_bytes / GRANULE_BYTES)),
        buffer,
    });
    let weak = Arc::downgrade(&chunk);
    chunks.push(weak);
    chunk.part(size_bytes).ok_or(Error::OutOfDeviceMemory)
}

impl Chunk {
    /// A buffer of `size_bytes` in it, if there is room.
    fn part(self: &Arc<Self>, size_bytes: u64) -> Option<Buffer> {
        let granules = self.free().take(size_bytes.div_ceil(GRANULE_BYTES))?;
        let part = Part {
            chunk: Arc::clone(self),
            granules,
        };
        let offset_bytes = part.granules.start * GRANULE_BYTES;
        Some(self.buffer.part(offset_bytes, size_bytes, Box::new(part)))
    }

    fn free(&self) -> MutexGuard<'_, FreeSpace> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.chunk.free().give(self.granules.clone());
    }
}

/// What is free of a chunk, in granules.
struct FreeSpace {
    /// Where the free blocks of 1, 2, 4, … granules begin.
    blocks: Vec<BTreeSet<u64>>,
}

impl FreeSpace {
    fn new(granules: u64) -> Self {
        let sizes = granules.max(1).ilog2() as usize + 1;
        let mut space = Self {
            blocks: vec![BTreeSet::new(); sizes],
        };
        space.give(0..granules);
        space
    }

    /// Takes `count` (not 0) that lie together.
    fn take(&mut self, count: u64) -> Option<Range<u64>> {
        let least = count.next_power_of_two().ilog2() as usize;
        let (size, blocks) = self
            .blocks
            .iter_mut()
            .enumerate()
            .skip(least)
            .find(|(_, blocks)| !blocks.is_empty())?;
        let start = blocks.pop_first()?;
        self.give(start + count..start + (1 << size));
        Some(start..start + count)
    }

    /// They are free again.
    fn give(&mut self, granules: Range<u64>) {
        let mut start = granules.start;
        while start < granules.end {
            let fits = (granules.end - start).ilog2();
            // 64 of 0, which is a multiple of everything.
            let size = start.trailing_zeros().min(fits);
            self.give_block(start, size as usize);
            start += 1 << size;
        }
    }

    /// A block of 2 to the power of `size` is free: joined with its other half where that is free too.
    fn give_block(&mut self, start: u64, size: usize) {
        let (mut start, mut size) = (start, size);
        while size + 1 < self.blocks.len()
            && let Some(blocks) = self.blocks.get_mut(size)
            && blocks.remove(&(start ^ (1 << size)))
        {
            start &= !(1 << size);
            size += 1;
        }
        if let Some(blocks) = self.blocks.get_mut(size) {
            blocks.insert(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_overlap_and_all_of_it_comes_back() {
        let granules = 1000;
        let mut space = FreeSpace::new(granules);
        let untouched = space.blocks.clone();
        let mut random = 7_u64;
        let mut taken: Vec<Range<u64>> = Vec::new();
        let mut refused = 0;
        for _ in 0..20_000 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let number = random >> 33;
            if number.is_multiple_of(2) || taken.is_empty() {
                let count = 1 + number % 60;
                match space.take(count) {
                    Some(range) => {
                        assert_eq!(range.end - range.start, count);
                        assert!(range.end <= granules);
                        let apart = |other: &Range<u64>| {
                            range.end <= other.start || other.end <= range.start
                        };
                        assert!(taken.iter().all(apart), "{range:?} is taken");
                        taken.push(range);
                    }
                    None => refused += 1,
                }
            } else {
                let range = taken.swap_remove(number as usize % taken.len());
                space.give(range);
            }
        }
        assert!(refused > 0, "it was never full");
        for range in taken {
            space.give(range);
        }
        assert_eq!(space.blocks, untouched);
    }

    #[test]
    fn all_of_a_chunk_can_be_had() {
        let mut space = FreeSpace::new(64);
        let parts: Vec<_> = (0..64).map(|_| space.take(1).unwrap()).collect();
        assert!(space.take(1).is_none());
        parts
            .into_iter()
            .step_by(2)
            .for_each(|part| space.give(part));
        assert!(space.take(2).is_none(), "no two neighbours are free");
        assert_eq!(space.take(1), Some(0..1));
    }
}
