//! What is brought to a device before a command that uses it: see [`super::contents`].

use super::contents::{AccessMode, Missing, Owner, Residency};
use super::storage::Storage;
use crate::runtime::allocation::upload;
use crate::runtime::object::error::{Error, Result};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// What a command of a device uses, all of it.
#[derive(Default)]
pub(in crate::runtime) struct Fetches(SmallVec<[Fetch; 2]>);

/// What a command of a device uses, and has to have there.
pub(in crate::runtime) struct Fetch {
    storage: Arc<Storage>,
    device: usize,
    range: Range<usize>,
    mode: AccessMode,
}

impl Fetches {
    /// Claims what the command writes, unless the device lacks something.
    pub fn claim_if_there(&self) -> bool {
        let are_there = self.0.iter().all(Fetch::is_there);
        if are_there {
            self.0.iter().for_each(Fetch::claim);
        }
        are_there
    }

    /// Fetches what the device lacks, and claims what the command writes.
    ///
    /// # Errors
    /// Those of the copies.
    pub fn carry(&self) -> Result<()> {
        self.0.iter().try_for_each(Fetch::carry)?;
        self.0.iter().for_each(Fetch::claim);
        Ok(())
    }

    /// Adds one.
    pub fn push(&mut self, fetch: Fetch) {
        self.0.push(fetch);
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Fetch {
    /// `None` where the copies are all in one place.
    pub fn new(
        storage: &Arc<Storage>,
        device: usize,
        range: Range<usize>,
        mode: AccessMode,
    ) -> Option<Self> {
        storage.residency()?;
        Some(Self {
            storage: Arc::clone(storage),
            device,
            range,
            mode,
        })
    }

    /// What the device lacks.
    fn missing(&self, residency: &Residency) -> Vec<Missing> {
        match self.mode {
            AccessMode::Overwrite => Vec::new(),
            _ => residency.lock().pieces.missing(self.device, &self.range),
        }
    }

    /// Whether the device lacks nothing.
    fn is_there(&self) -> bool {
        let residency = self.storage.residency();
        residency.is_none_or(|residency| self.missing(residency).is_empty())
    }

    /// From here on the device is the owner of what is written.
    pub fn claim(&self) {
        if let Some(residency) = self.storage.residency()
            && self.mode.writes()
        {
            residency.lock().pieces.claim(self.device, &self.range);
        }
    }

    /// Copies what the device lacks. What wrote it is done, and nothing uses those bytes on the device.
    fn carry(&self) -> Result<()> {
        let Some(residency) = self.storage.residency() else {
            return Ok(());
        };
        let _one_at_a_time = residency
            .fetching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let gone = || Error::impossible("a copy of a memory object is missing");
        for missing in self.missing(residency) {
            let (source, target) = {
                let state = residency.lock();
                let copy = |device: usize| state.copies.get(device).cloned().flatten();
                let source = match missing.owner {
                    Owner::Device(owner) => Some(copy(owner).ok_or_else(gone)?),
                    _ => None,
                };
                (source, copy(self.device).ok_or_else(gone)?)
            };
            let offset_bytes = missing.range.start as u64;
            match (source, &missing.owner) {
                (Some(source), _) => upload::carry(
                    (&source.vulkan, &source.allocation),
                    (&target.vulkan, &target.allocation),
                    offset_bytes,
                    missing.range.len(),
                )?,
                (None, Owner::Host(bytes)) => {
                    let bytes = bytes.get(missing.range.clone()).ok_or_else(gone)?;
                    upload::upload(&target.vulkan, &target.allocation, offset_bytes, bytes)?;
                }
                (None, _) => {}
            }
            residency.lock().pieces.note_fetched(self.device, &missing);
        }
        Ok(())
    }
}
