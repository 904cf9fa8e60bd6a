//! Recording one part of a launch.

use super::command::{Arguments, DispatchRegion};
use super::error::Result;
use super::staging::Arena;
use crate::vulkan::{Device, Recorder};
use std::sync::Arc;

impl DispatchRegion {
    /// Records the `vkCmdDispatch`, its arguments in the push constants or in a piece of `staging`, which must
    /// stay as long as the recording.
    pub(super) fn record(
        &self,
        recorder: &mut Recorder,
        staging: &mut Arena,
        device: &Arc<Device>,
    ) -> Result<()> {
        match &self.arguments {
            Arguments::PushConstants(bytes) => {
                recorder.dispatch(&self.pipeline, bytes, self.groups);
            }
            Arguments::Block(bytes) => {
                let piece = staging.take(device, bytes.len().max(16) as u64)?;
                // SAFETY: the piece is ours alone and as long as the block.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        bytes.as_ptr(),
                        piece.pointer.as_ptr(),
                        bytes.len(),
                    );
                }
                let address = piece.device_address().to_le_bytes();
                recorder.dispatch(&self.pipeline, &address, self.groups);
            }
        }
        Ok(())
    }
}
