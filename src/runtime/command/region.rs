//! One part of a launch: what becomes one `vkCmdDispatch`.

use super::{Arguments, DispatchRegion};
use crate::compiler::program::Placement;
use crate::runtime::allocation::staging::Arena;
use crate::runtime::object::error::Result;
use crate::vulkan::{self, Device, Recorder};
use smallvec::SmallVec;
use std::sync::Arc;

/// A [`DispatchRegion`] that lies elsewhere.
#[derive(Clone, Copy)]
pub(in crate::runtime) struct Region<'a> {
    pub pipeline: &'a Arc<vulkan::Pipeline>,
    /// Within the device's `maxComputeWorkGroupCount`; none 0.
    pub groups: [u32; 3],
    /// Where the kernel looks for its arguments.
    pub placement: Placement,
    /// The argument block.
    pub arguments: &'a [u8],
}

impl Region<'_> {
    /// Records the `vkCmdDispatch`, its arguments in the push constants or in a piece of `staging`, which must
    /// stay as long as the recording.
    #[inline(always)]
    pub fn record(
        &self,
        recorder: &mut Recorder,
        staging: &mut Arena,
        device: &Arc<Device>,
    ) -> Result<()> {
        match self.placement {
            Placement::PushConstants => {
                recorder.dispatch(self.pipeline, self.arguments, self.groups);
                Ok(())
            }
            Placement::DeviceAddress => self.record_block(recorder, staging, device),
        }
    }

    #[inline(never)]
    fn record_block(
        &self,
        recorder: &mut Recorder,
        staging: &mut Arena,
        device: &Arc<Device>,
    ) -> Result<()> {
        let bytes = self.arguments;
        let piece = staging.take(device, bytes.len().max(16) as u64)?;
        // SAFETY: the piece is ours alone and as long as the block.
        unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), piece.pointer.as_ptr(), bytes.len());
        }
        let address = piece.device_address().to_le_bytes();
        recorder.dispatch(self.pipeline, &address, self.groups);
        Ok(())
    }

    /// The region, complete in itself.
    pub fn to_owned(self) -> DispatchRegion {
        let bytes = SmallVec::from_slice(self.arguments);
        DispatchRegion {
            pipeline: Arc::clone(self.pipeline),
            groups: self.groups,
            arguments: match self.placement {
                Placement::PushConstants => Arguments::PushConstants(bytes),
                Placement::DeviceAddress => Arguments::Block(bytes),
            },
        }
    }
}

impl DispatchRegion {
    #[inline]
    pub(in crate::runtime) fn as_region(&self) -> Region<'_> {
        let (placement, arguments) = match &self.arguments {
            Arguments::PushConstants(bytes) => (Placement::PushConstants, bytes),
            Arguments::Block(bytes) => (Placement::DeviceAddress, bytes),
        };
        Region {
            pipeline: &self.pipeline,
            groups: self.groups,
            placement,
            arguments,
        }
    }
}
