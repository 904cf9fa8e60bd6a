//! The launch of a kernel, prepared for a device.

use super::hazard::{Accesses, TrackedAccess};
use crate::compiler::program::Placement;
use crate::runtime::allocation::Access;
use crate::runtime::device::encoder::Encoder;
use crate::runtime::object::error::Result;
use crate::runtime::printf;
use crate::runtime::program::executable::Executable;
use crate::runtime::program::lost_iterations::Watched;
use crate::runtime::residency::backing::MemoryAccess;
use crate::vulkan::Pipeline;
use smallvec::SmallVec;
use std::sync::Arc;

/// The launch of a kernel, with all that a device needs to run it.
///
/// A kernel prepares each of its launches in one that it has for that: most are recorded from there, and nothing is allocated. A
/// launch that waits takes it, and so does one that may come again, and a command buffer.
#[derive(Default)]
pub struct PreparedLaunch {
    /// One for each part of the range that needs its own pipeline or base; none when there is nothing to run, the event
    /// still completes.
    pub regions: SmallVec<[LaunchRegion; 1]>,
    pub accesses: SmallVec<[Access; 4]>,
    /// May touch memory that `accesses` doesn't name (the kernel follows pointers).
    pub accesses_anything: bool,
    /// What it uses whose place depends on the device: whoever enqueues or records it takes that out, and has it
    /// brought there before ([`crate::runtime::queue::bring::bring`]).
    pub memory_accesses: Vec<MemoryAccess>,
    /// It may also use every buffer whose device address the application knows.
    pub uses_any_address: bool,
    /// Its code, held until the device is done; none when there is nothing to run.
    pub executable: Option<Arc<Executable>>,
    /// What the kernel prints; written out before the event is complete.
    pub printf: Option<Arc<printf::Output>>,
    /// The kernel, if it says when it has lost iterations.
    pub watched: Option<Watched>,
}

/// One `vkCmdDispatch` of a launch.
#[derive(Clone)]
pub struct LaunchRegion {
    pub pipeline: Arc<Pipeline>,
    /// Within the device's `maxComputeWorkGroupCount`; none 0.
    pub groups: [u32; 3],
    /// Where the kernel looks for its arguments.
    pub placement: Placement,
    /// The argument block.
    pub arguments: SmallVec<[u8; 256]>,
}

/// What a launch uses, taken out of it: to be dropped when its kernel is locked no longer, since it may call the application.
#[derive(Default)]
pub struct LaunchUses {
    accesses: SmallVec<[Access; 4]>,
    memory_accesses: Vec<MemoryAccess>,
    printf: Option<Arc<printf::Output>>,
    watched: Option<Watched>,
}

impl PreparedLaunch {
    /// Adds what the launch reads and writes to a list; whether it may touch more than that.
    #[inline]
    pub fn add_accesses(&self, accesses: &mut Accesses) -> bool {
        for access in &self.accesses {
            let bytes = access.bytes.clone();
            accesses.push(TrackedAccess::new(&access.allocation, bytes, access.write));
        }
        self.accesses_anything
    }

    /// Encodes its regions.
    ///
    /// # Errors
    /// Memory ran out.
    #[inline]
    pub fn encode(&self, encoder: &mut Encoder<'_>) -> Result<()> {
        for region in &self.regions {
            let (pipeline, groups) = (&region.pipeline, region.groups);
            match region.placement {
                Placement::PushConstants => {
                    encoder
                        .recorder
                        .dispatch(pipeline, &region.arguments, groups);
                }
                Placement::DeviceAddress => {
                    encoder.dispatch_block(pipeline, &region.arguments, groups)?;
                }
            }
        }
        Ok(())
    }

    /// Moves what it uses to `uses`, which is empty. Its regions stay, for the next launch to be prepared in their place.
    #[inline]
    pub fn take_uses(&mut self, uses: &mut LaunchUses) {
        // One by one: there is room for more of them than most launches have.
        uses.accesses.extend(self.accesses.drain(..));
        uses.memory_accesses = std::mem::take(&mut self.memory_accesses);
        uses.printf = self.printf.take();
        uses.watched = self.watched.take();
    }
}
