//! The encoding of commands: what a device is told to do, recorded into a command buffer of its own.

use super::internal_kernels::InternalKernels;
use crate::runtime::allocation::staging::Arena;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::object::error::Result;
use crate::vulkan::{Buffer, Pipeline, Recorder};

/// Where commands are encoded, and with what. Fills are in [`super::fill`].
pub struct Encoder<'a> {
    pub recorder: &'a mut Recorder,
    /// Memory for what commands read: argument blocks, patterns. It stays as long as the recording.
    pub staging: &'a mut Arena,
    pub kernels: &'a InternalKernels,
}

impl Encoder<'_> {
    /// Copies between buffers of the device.
    pub fn copy(&mut self, source: &Buffer, target: &Buffer, shape: &Shape) {
        self.kernels.copy(self.recorder, source, target, shape);
    }

    /// Dispatches a pipeline whose argument block the device reads from memory, 16-byte aligned; the push constants get its
    /// device address.
    ///
    /// # Errors
    /// Memory ran out.
    #[inline(never)]
    pub fn dispatch_block(
        &mut self,
        pipeline: &Pipeline,
        block: &[u8],
        groups: [u32; 3],
    ) -> Result<()> {
        let size_bytes = block.len().max(16) as u64;
        let piece = self.staging.take(self.kernels.device(), size_bytes)?;
        // SAFETY: the piece is ours alone and as long as the block.
        unsafe {
            std::ptr::copy_nonoverlapping(block.as_ptr(), piece.pointer.as_ptr(), block.len());
        }
        let address = piece.device_address().to_le_bytes();
        self.recorder.dispatch(pipeline, &address, groups);
        Ok(())
    }
}
