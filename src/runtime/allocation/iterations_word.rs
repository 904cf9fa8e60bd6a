//! The word in memory by which the launches of a kernel say that they have lost iterations: see [`crate::runtime::program::lost_iterations`].

use super::Allocation;
use crate::compiler::CompiledKernel;
use crate::compiler::program::Implicit;
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::{self, MemoryKind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How much memory the word gets: a cache line, so that nothing else is beside it.
const BYTES: u64 = 256;

/// A kernel's word, and how many of its launches are under way.
#[derive(Default)]
pub struct Word {
    /// Made for the first launch.
    allocation: OnceLock<Result<Arc<Allocation>>>,
    under_way: Mutex<usize>,
}

impl Word {
    /// Its address on `device`, which is that of all its launches.
    ///
    /// # Errors
    /// Those of an allocation; they are kept, and later calls fail alike.
    pub fn address(&self, device: &Arc<vulkan::Device>) -> Result<u64> {
        let allocation = self.allocation.get_or_init(|| {
            let allocation = Allocation::new(device, BYTES, MemoryKind::Readback)?;
            let start = allocation
                .mapped()
                .ok_or_else(|| Error::impossible("the host does not see the memory"))?;
            // SAFETY: the allocation's own memory, so long, that nothing else uses yet.
            unsafe { start.as_ptr().write_bytes(0, BYTES as usize) };
            Ok(allocation)
        });
        match allocation {
            Ok(allocation) => Ok(allocation.device_address()),
            Err(error) => Err(error.clone()),
        }
    }

    /// Whether a launch has lost iterations that was the only one; the word is ready for the next.
    pub fn take(&self) -> bool {
        self.begin();
        self.end()
    }

    pub(in crate::runtime) fn begin(&self) {
        *self.lock() += 1;
    }

    /// Whether the launch that ends here, or one under way with it, has lost iterations.
    pub(in crate::runtime) fn end(&self) -> bool {
        let mut under_way = self.lock();
        *under_way = under_way.saturating_sub(1);
        self.get().is_some_and(|word| match *under_way {
            0 => word.swap(0, Ordering::Relaxed) != 0,
            _ => word.load(Ordering::Relaxed) != 0,
        })
    }

    fn get(&self) -> Option<&AtomicU32> {
        let allocation = self.allocation.get()?.as_ref().ok()?;
        let start = allocation.mapped()?.cast::<u32>();
        // SAFETY: the allocation's own memory, aligned to more than a word, which lives as long as `self`. The host
        // accesses it in no other way, and the device only stores to it.
        Some(unsafe { AtomicU32::from_ptr(start.as_ptr()) })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, usize> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a kernel says when it has lost iterations.
pub fn is_watched(kernel: &CompiledKernel) -> bool {
    let mut implicit = kernel.argument_block.implicit.iter();
    implicit.any(|(implicit, _)| matches!(implicit, Implicit::IterationsLost))
}

/// What is to be told of a kernel that has lost iterations.
pub fn message(kernel: &str) -> String {
    format!(
        "the device makes 65,533 iterations of all loops of a kernel together and no more: a work-item of '{kernel}' needs \
         more, and the results are wrong"
    )
}
