//! What the application has mapped of a context's memory, found by its address.

use super::Allocation;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

/// The allocations of a context that the application has mapped.
#[derive(Default)]
pub struct Pinned {
    /// By the address where the host sees their first byte, and how often each is mapped.
    list: RwLock<BTreeMap<usize, (Weak<Allocation>, usize)>>,
    /// Spares the lock in the usual case, that there is none.
    count: AtomicUsize,
}

impl Pinned {
    /// The application has mapped what the host sees of `allocation`.
    pub(in crate::runtime) fn add(&self, allocation: &Arc<Allocation>) {
        let Some(base) = first_address(allocation) else {
            return;
        };
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        let (_, times) = (list.entry(base)).or_insert((Arc::downgrade(allocation), 0));
        *times += 1;
        self.count.store(list.len(), Ordering::Release);
    }

    /// One of the mappings of `allocation` is at its end.
    pub(in crate::runtime) fn remove(&self, allocation: &Arc<Allocation>) {
        let Some(base) = first_address(allocation) else {
            return;
        };
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, times)) = list.get_mut(&base) {
            *times -= 1;
            if *times == 0 {
                list.remove(&base);
            }
        }
        self.count.store(list.len(), Ordering::Release);
    }

    /// Allocations that are mapped.
    #[cfg(test)]
    pub(in crate::runtime) fn len(&self) -> usize {
        self.list.read().unwrap().len()
    }

    /// The allocation whose memory the host sees at `address`, and how far into it that is.
    pub(in crate::runtime) fn find(&self, address: usize) -> Option<(Arc<Allocation>, usize)> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        let (base, (allocation, _)) = list.range(..=address).next_back()?;
        let allocation = allocation.upgrade()?;
        let offset_bytes = address - base;
        (offset_bytes as u64 <= allocation.size_bytes()).then_some((allocation, offset_bytes))
    }
}

/// Where the host sees the first byte, if it does.
fn first_address(allocation: &Allocation) -> Option<usize> {
    Some(allocation.mapped()?.as_ptr() as usize)
}
