//! Host memory that a batch's commands go through: arguments, data on its way to the device and back.
//!
//! Each batch has its own chunks, handed out front to back and all free again when the batch is done.

use crate::runtime::object::error::{Error, Result};
use crate::vulkan::{Buffer, Device, MemoryKind};
use std::ptr::NonNull;
use std::sync::Arc;

const CHUNK_BYTES: u64 = 256 << 10;

/// Larger chunks are freed when the batch is done, smaller ones kept for the next.
const KEPT_BYTES: u64 = 8 << 20;

/// Chunks of one kind of memory.
pub struct Arena {
    kind: MemoryKind,
    chunks: Vec<Buffer>,
    /// Bytes of the last chunk in use.
    used_bytes: u64,
    /// Chunks in use; the ones after are free.
    open_chunks: usize,
}

/// A piece of staging memory, valid until the batch is recycled.
pub struct Piece<'a> {
    pub buffer: &'a Buffer,
    pub offset_bytes: u64,
    /// Where the host sees it.
    pub pointer: NonNull<u8>,
}

impl Piece<'_> {
    pub fn device_address(&self) -> u64 {
        self.buffer.device_address() + self.offset_bytes
    }
}

impl Arena {
    pub fn new(kind: MemoryKind) -> Self {
        Self {
            kind,
            chunks: Vec::new(),
            used_bytes: 0,
            open_chunks: 0,
        }
    }

    /// `size_bytes` of memory, 256-byte aligned.
    pub fn take(&mut self, device: &Arc<Device>, size_bytes: u64) -> Result<Piece<'_>> {
        let fits = |arena: &Self| {
            arena.open_chunks > 0
                && arena
                    .chunks
                    .get(arena.open_chunks - 1)
                    .is_some_and(|chunk| chunk.size_bytes() - arena.used_bytes >= size_bytes)
        };
        if !fits(self) {
            self.open_chunk(device, size_bytes)?;
        }
        let chunk = &self.chunks[self.open_chunks - 1];
        let offset_bytes = self.used_bytes;
        self.used_bytes = (offset_bytes + size_bytes)
            .next_multiple_of(256)
            .min(chunk.size_bytes());
        let base = chunk
            .mapped()
            .ok_or_else(|| Error::impossible("staging memory is not visible to the host"))?;
        // SAFETY: the chunk is at least `offset_bytes + size_bytes` long.
        let pointer = unsafe { base.add(offset_bytes as usize) };
        Ok(Piece {
            buffer: chunk,
            offset_bytes,
            pointer,
        })
    }

    fn open_chunk(&mut self, device: &Arc<Device>, size_bytes: u64) -> Result<()> {
        let next = self.open_chunks;
        let reusable = self.chunks[next..]
            .iter()
            .position(|chunk| chunk.size_bytes() >= size_bytes);
        match reusable {
            Some(found) => self.chunks.swap(next, next + found),
            None => {
                let size_bytes = size_bytes.max(CHUNK_BYTES);
                self.chunks
                    .insert(next, device.create_buffer(size_bytes, self.kind)?);
            }
        }
        self.open_chunks += 1;
        self.used_bytes = 0;
        Ok(())
    }

    /// Everything handed out is free again.
    pub fn recycle(&mut self) {
        self.chunks.retain(|chunk| chunk.size_bytes() <= KEPT_BYTES);
        self.open_chunks = 0;
        self.used_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::test_device;

    #[test]
    fn pieces_do_not_overlap_and_chunks_are_reused() {
        let Some(device) = test_device::get() else {
            return;
        };
        let mut arena = Arena::new(MemoryKind::Upload);
        let first = arena.take(&device, 100).unwrap().device_address();
        let second = arena.take(&device, 100).unwrap().device_address();
        assert!(second >= first + 100);
        assert_eq!(second % 256, 0);
        arena.take(&device, CHUNK_BYTES).unwrap();
        assert_eq!(arena.chunks.len(), 2);
        arena.recycle();
        assert_eq!(arena.take(&device, 100).unwrap().device_address(), first);
        arena.take(&device, CHUNK_BYTES).unwrap();
        assert_eq!(arena.chunks.len(), 2);
    }
}
