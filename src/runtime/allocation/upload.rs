//! Data between the host and an allocation outside of any queue: initial contents, program data.

use super::Allocation;
use crate::runtime::host_memory;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::{CopyRegion, Device, MemoryKind, Pipeline, Recorder, Timeline};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of staging memory.
const STAGING_BYTES: usize = 8 << 20;

/// Bytes of host memory on the way from one device to another.
const CARRIED_BYTES: usize = 64 << 20;

/// Writes `bytes` at `offset_bytes` of `target`, which no command uses. Blocks until they are there.
pub fn upload(
    device: &Arc<Device>,
    target: &Allocation,
    offset_bytes: u64,
    bytes: &[u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    if let Some(mapped) = target.mapped().or(target.window()) {
        // SAFETY: within the allocation by the caller's word, which nothing else uses now.
        unsafe {
            let place = mapped.as_ptr().add(offset_bytes as usize);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len());
        }
        return Ok(());
    }
    let mut link = Link::new(device, bytes.len(), MemoryKind::Upload)?;
    let mut done_bytes = 0;
    for chunk in bytes.chunks(STAGING_BYTES) {
        // SAFETY: staging memory is at least as long as a chunk, and the device is done with it.
        unsafe { std::ptr::copy_nonoverlapping(chunk.as_ptr(), link.pointer()?, chunk.len()) };
        link.copy(|recorder, staging| {
            let region = CopyRegion {
                source_offset_bytes: 0,
                target_offset_bytes: offset_bytes + done_bytes,
                size_bytes: chunk.len() as u64,
            };
            recorder.copy(staging.buffer(), target.buffer(), [region]);
        })?;
        done_bytes += chunk.len() as u64;
    }
    Ok(())
}

/// Makes a range of `target`, which no command uses, zero: it begins and ends at multiples of four bytes. Blocks until it is.
pub fn clear(device: &Arc<Device>, target: &Allocation, range: Range<u64>) -> Result<()> {
    if range.is_empty() {
        return Ok(());
    }
    let size_bytes = range.end - range.start;
    if let Some(mapped) = target.mapped().or(target.window()) {
        // SAFETY: within the allocation by the caller's word, which nothing else uses now.
        unsafe {
            let place = mapped.as_ptr().add(range.start as usize);
            place.write_bytes(0, size_bytes as usize);
        }
        return Ok(());
    }
    let mut link = Link::new(device, 16, MemoryKind::Upload)?;
    link.copy(|recorder, _| recorder.fill(target.buffer(), range.start, size_bytes, 0))
}

/// Reads `bytes.len()` bytes at `offset_bytes` of `source`, which no command uses.
pub fn download(
    device: &Arc<Device>,
    source: &Allocation,
    offset_bytes: u64,
    bytes: &mut [u8],
) -> Result<()> {
    if bytes.is_empty() {
        return Ok(());
    }
    if let Some(mapped) = source.mapped() {
        // SAFETY: within the allocation by the caller's word, which nothing else uses now.
        unsafe {
            let place = mapped.as_ptr().add(offset_bytes as usize);
            std::ptr::copy_nonoverlapping(place, bytes.as_mut_ptr(), bytes.len());
        }
        return Ok(());
    }
    let mut link = Link::new(device, bytes.len(), MemoryKind::Readback)?;
    let mut done_bytes = 0;
    for chunk in bytes.chunks_mut(STAGING_BYTES) {
        link.copy(|recorder, staging| {
            let region = CopyRegion {
                source_offset_bytes: offset_bytes + done_bytes,
                target_offset_bytes: 0,
                size_bytes: chunk.len() as u64,
            };
            recorder.copy(source.buffer(), staging.buffer(), [region]);
        })?;
        // SAFETY: staging memory is at least as long as a chunk, and the device is done with it.
        unsafe { std::ptr::copy_nonoverlapping(link.pointer()?, chunk.as_mut_ptr(), chunk.len()) };
        done_bytes += chunk.len() as u64;
    }
    Ok(())
}

/// Copies `size_bytes` at `offset_bytes` from an allocation to the same place of another device's. No command
/// uses those bytes of either.
pub fn carry(
    source: (&Arc<Device>, &Allocation),
    target: (&Arc<Device>, &Allocation),
    offset_bytes: u64,
    size_bytes: usize,
) -> Result<()> {
    if let Some(mapped) = source.1.mapped() {
        // SAFETY: within the allocation by the caller's word, and nothing writes it now.
        let bytes = unsafe {
            let first = mapped.as_ptr().add(offset_bytes as usize);
            std::slice::from_raw_parts(first.cast_const(), size_bytes)
        };
        return upload(target.0, target.1, offset_bytes, bytes);
    }
    let mut bytes = Vec::new();
    host_memory::reserve(&mut bytes, size_bytes.min(CARRIED_BYTES))?;
    bytes.resize(size_bytes.min(CARRIED_BYTES), 0);
    let mut done_bytes = 0;
    while done_bytes < size_bytes {
        let part = (size_bytes - done_bytes).min(CARRIED_BYTES);
        let bytes = bytes.get_mut(..part).unwrap_or_default();
        let offset_bytes = offset_bytes + done_bytes as u64;
        download(source.0, source.1, offset_bytes, bytes)?;
        upload(target.0, target.1, offset_bytes, bytes)?;
        done_bytes += part;
    }
    Ok(())
}

/// Copies between two allocations of one device, which no command uses. Blocks until it is done.
pub fn copy(
    device: &Arc<Device>,
    source: &Allocation,
    target: &Allocation,
    shape: &Shape,
) -> Result<()> {
    let regions = shape.runs().map(|run| CopyRegion {
        source_offset_bytes: run.source_bytes as u64,
        target_offset_bytes: run.target_bytes as u64,
        size_bytes: run.size_bytes as u64,
    });
    let mut link = Link::new(device, 16, MemoryKind::Upload)?;
    link.copy(|recorder, _| recorder.copy(source.buffer(), target.buffer(), regions))
}

/// Runs one work-group of a pipeline and waits for it. `block` is its argument block, which lies in the push
/// constants or `in_memory`.
pub fn dispatch_once(
    device: &Arc<Device>,
    pipeline: &Pipeline,
    block: &[u8],
    in_memory: bool,
) -> Result<()> {
    let mut link = Link::new(device, block.len().max(16), MemoryKind::Upload)?;
    if block.len() > STAGING_BYTES {
        // A program binary may say anything.
        return Err(Error::out_of_resources("the argument block is too large"));
    }
    if in_memory {
        // SAFETY: staging memory is at least as long as the block, and nothing else uses it.
        unsafe { std::ptr::copy_nonoverlapping(block.as_ptr(), link.pointer()?, block.len()) };
    }
    link.copy(|recorder, staging| {
        if in_memory {
            let address = staging.device_address().to_le_bytes();
            recorder.dispatch(pipeline, &address, [1; 3]);
        } else {
            recorder.dispatch(pipeline, block, [1; 3]);
        }
        recorder.full_barrier();
    })
}

/// Staging memory, and what it takes to submit copies one after the other.
struct Link {
    device: Arc<Device>,
    recorder: Recorder,
    timeline: Timeline,
    value: u64,
    staging: Arc<Allocation>,
    vk_queue: usize,
}

impl Link {
    fn new(device: &Arc<Device>, size_bytes: usize, kind: MemoryKind) -> Result<Self> {
        let size_bytes = size_bytes.min(STAGING_BYTES) as u64;
        Ok(Self {
            device: Arc::clone(device),
            recorder: Recorder::new(device)?,
            timeline: Timeline::new(device)?,
            value: 0,
            staging: Allocation::new(device, size_bytes, kind)?,
            vk_queue: device.spare_queue(),
        })
    }

    fn pointer(&self) -> Result<*mut u8> {
        let mapped = self
            .staging
            .mapped()
            .ok_or_else(|| Error::impossible("staging memory is not visible to the host"))?;
        Ok(mapped.as_ptr())
    }

    fn copy(&mut self, record: impl FnOnce(&mut Recorder, &Allocation)) -> Result<()> {
        self.recorder.begin()?;
        self.recorder.full_barrier();
        record(&mut self.recorder, &self.staging);
        self.recorder.end()?;
        self.value += 1;
        self.device
            .submit(self.vk_queue, &[&self.recorder], &self.timeline, self.value)?;
        while !self.timeline.wait(self.value, Duration::from_secs(2))? {}
        Ok(())
    }
}
