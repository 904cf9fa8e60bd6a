//! What the host does when the device is done with a batch.

use crate::runtime::host_memory::host_copy;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::printf;
use std::sync::Arc;

/// What the host does when the device is done.
pub(in crate::runtime) enum CompletionAction {
    /// From staging to the application's memory.
    CopyOut {
        source: HostPointer,
        target: HostPointer,
        shape: Shape,
    },
    Call(Box<dyn FnOnce() + Send>),
    /// What a kernel printed goes to standard output.
    Print(Arc<printf::Output>),
}

impl CompletionAction {
    /// Does it.
    pub fn run(self) {
        match self {
            Self::CopyOut {
                source,
                target,
                shape,
            } => {
                // SAFETY: staging memory of a batch that is not recycled yet, and the application's
                // memory, valid until the command is complete by its contract.
                unsafe { host_copy::copy(&shape, source.0, target.0) };
            }
            Self::Call(action) => action(),
            Self::Print(output) => output.print(),
        }
    }
}
