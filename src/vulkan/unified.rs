//! Buffers whose device address means something to the host too: shared virtual memory.
//!
//! On software drivers a device address *is* a host pointer; that is found out by comparing the two. On other
//! devices the host addresses equal to a buffer's device addresses are set aside, and then either the
//! buffer's memory itself is mapped there ([`DirectWay`], of which the first is taken that a trial shows to work), or
//! memory of the host's own, to be copied to and from the buffer, or nothing at all. Where another use of the address is
//! in the way, the next buffer has another address. Where no process can have the address (drivers of AMD's and Intel's GPUs
//! use the upper half of the address space), the host chooses one, if the device replays addresses.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::buffer::{Buffer, MemoryKind};
use super::device::Device;
use super::error::Error;
use super::host_range::{HostRange, HostUse, page_bytes};
use super::info::DeviceType;
use super::page_memory::{PageMemory, Sight};
use super::unification::{DirectWay, Found, HostView, Unification};
use super::unified_pool;

/// Buffers whose addresses are taken are kept while this many others are tried.
const ATTEMPTS: usize = 16;

/// What became of a buffer that was to be placed.
enum Placed {
    There(Buffer),
    /// Something else of the host is at the address.
    Taken(Buffer),
    /// No process has the address.
    Beyond,
}

impl Device {
    /// What works, found out by trying, once.
    pub fn unification(self: &Arc<Self>) -> Unification {
        self.found().unification
    }

    /// The ways to memory at the device's addresses that don't work, and why; those behind the one that works are not tried.
    pub fn refused_ways(self: &Arc<Self>) -> &[(DirectWay, Error)] {
        &self.found().refused
    }

    fn found(self: &Arc<Self>) -> &Found {
        self.unification.get_or_init(|| {
            let mut found = Found::default();
            for way in DirectWay::ALL {
                match self.try_way(way) {
                    Ok(()) => {
                        found.unification.direct = Some(way);
                        break;
                    }
                    Err(error) => found.refused.push((way, error)),
                }
            }
            let works = |sight| self.create_unified(64, sight).is_ok();
            (found.has_shadows, found.has_unseen) = (works(Sight::Shadow), works(Sight::None));
            found.unification.shadow = found.has_shadows || found.unification.direct.is_some();
            found.unification.any_host_memory = self.sees_host_memory();
            log::debug!("{}: {found:?}", self.info().name);
            found
        })
    }

    /// Whether device addresses are host addresses by nature, as on software drivers.
    fn addresses_are_pointers(self: &Arc<Self>) -> bool {
        *self.addresses_are_pointers.get_or_init(|| {
            self.create_buffer(64, MemoryKind::Readback)
                .is_ok_and(|buffer| is_at_own_address(&buffer))
        })
    }

    /// A device that runs in this process and gives memory that it did not allocate (imported memory) the
    /// address that the host knows it by has the process's address space for its own.
    fn sees_host_memory(self: &Arc<Self>) -> bool {
        if self.info().device_type != DeviceType::Cpu || !self.addresses_are_pointers() {
            return false;
        }
        let Ok(range) = HostRange::anywhere(page_bytes(), HostUse::Memory) else {
            return false;
        };
        // SAFETY: the range outlives the buffer, which ends within the expression.
        let imported = unsafe { self.import_host_memory(range.start(), range.size_bytes() as u64) };
        imported.is_ok_and(|buffer| is_at_own_address(&buffer))
    }

    /// A buffer of `size_bytes` (not 0) at an address that nothing else of the host uses. Small ones share memory. The host may
    /// see more than asked for, where that is all that there is.
    ///
    /// # Errors
    /// Memory ran out, or the device can't ([`Error::Unsupported`]).
    pub fn create_unified_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        view: HostView,
    ) -> Result<Buffer, Error> {
        let found = self.found();
        let is_there = match view {
            HostView::Direct => true,
            HostView::Shadow => found.has_shadows,
            HostView::None => found.has_unseen,
        };
        if is_there || found.unification.direct.is_none() {
            unified_pool::create_buffer(self, size_bytes, view)
        } else {
            unified_pool::create_buffer(self, size_bytes, HostView::Direct)
        }
    }

    /// A buffer of `size_bytes` (not 0), with memory of its own, at an address that nothing else of the host uses.
    ///
    /// # Errors
    /// Those of [`Device::create_unified_buffer`].
    pub(super) fn create_whole_unified_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        view: HostView,
    ) -> Result<Buffer, Error> {
        let direct = || self.unification().direct;
        let sight = match view {
            HostView::Direct => direct().map(Sight::Direct),
            HostView::Shadow => Some(Sight::Shadow),
            HostView::None => Some(Sight::None),
        };
        let sight = sight.ok_or_else(|| {
            Error::Unsupported("a way to have memory mapped at its device address".to_owned())
        })?;
        self.create_unified(size_bytes, sight)
    }

    /// A buffer of `size_bytes` (not 0), with memory of its own, which the host sees as said.
    ///
    /// # Errors
    /// Those of [`Device::create_unified_buffer`].
    pub(super) fn create_unified(
        self: &Arc<Self>,
        size_bytes: u64,
        sight: Sight,
    ) -> Result<Buffer, Error> {
        if self.addresses_are_pointers() {
            return self.create_at_pointer(size_bytes, sight);
        }
        if sight == Sight::Direct(DirectWay::Pointers) {
            return Err(Error::Unsupported("addresses of the host".to_owned()));
        }
        let mut in_the_way = Vec::new();
        for _ in 0..ATTEMPTS {
            let chooses = sight != Sight::None && self.has_addresses_beyond.load(Ordering::Relaxed);
            let memory = self.create_page_memory(size_bytes, sight, chooses)?;
            match self.place(memory, sight)? {
                Placed::There(buffer) => return Ok(buffer),
                Placed::Taken(buffer) => in_the_way.push(buffer),
                Placed::Beyond if self.info().features.address_capture_replay => {
                    self.has_addresses_beyond.store(true, Ordering::Relaxed);
                }
                Placed::Beyond => {
                    let what = "addresses that a process has, too".to_owned();
                    return Err(Error::Unsupported(what));
                }
            }
        }
        Err(Error::Unsupported(
            "device addresses that are free on the host".to_owned(),
        ))
    }

    /// A buffer of [`Device::create_unified`] on a device whose addresses are pointers.
    fn create_at_pointer(self: &Arc<Self>, size_bytes: u64, sight: Sight) -> Result<Buffer, Error> {
        let kind = match sight {
            Sight::None => MemoryKind::Device,
            Sight::Direct(DirectWay::Pointers) | Sight::Shadow => MemoryKind::Readback,
            Sight::Direct(_) => return Err(Error::Unsupported("a use for it".to_owned())),
        };
        let buffer = self.create_buffer(size_bytes, kind)?;
        if kind == MemoryKind::Device || is_at_own_address(&buffer) {
            return Ok(buffer);
        }
        Err(Error::Unsupported(
            "a host pointer as an address".to_owned(),
        ))
    }

    /// Takes the host's addresses for a buffer, and has the host see there what it is to see.
    fn place(&self, memory: PageMemory, sight: Sight) -> Result<Placed, Error> {
        let PageMemory {
            mut buffer,
            memory_bytes,
            file,
        } = memory;
        let range = match buffer.range.take() {
            Some(range) => range,
            None => match HostRange::at(buffer.address, memory_bytes, sight.purpose()) {
                Ok(range) => range,
                Err(error) => {
                    log::debug!("{:#x} is not free on the host: {error}", buffer.address);
                    return Ok(match HostRange::is_beyond(memory_bytes, &error) {
                        // Nothing needs to be kept away.
                        true if sight == Sight::None => Placed::There(buffer),
                        true => Placed::Beyond,
                        false => Placed::Taken(buffer),
                    });
                }
            },
        };
        let start = range.start();
        let range = match (sight, file) {
            (Sight::Direct(DirectWay::Placed), _) => {
                self.map_at(&buffer, start)?;
                buffer.is_placed = true;
                range
            }
            (Sight::Direct(_), Some(found)) => {
                let shown = range.show(found.file.as_fd(), found.offset_bytes);
                shown.map_err(|error| Error::Unexpected {
                    call: "mmap",
                    result: error.to_string(),
                })?
            }
            _ => range,
        };
        match sight {
            Sight::Direct(_) => buffer.mapped = Some(start),
            Sight::Shadow => buffer.shadow = Some(start),
            Sight::None => {}
        }
        buffer.range = Some(range);
        Ok(Placed::There(buffer))
    }
}

fn is_at_own_address(buffer: &Buffer) -> bool {
    buffer
        .mapped()
        .is_some_and(|pointer| pointer.as_ptr() as u64 == buffer.device_address())
}

#[cfg(test)]
mod tests {
    use super::super::test_device;
    use super::*;

    #[test]
    fn what_works_gives_buffers_at_the_hosts_addresses() {
        let Some(device) = test_device::get() else {
            return;
        };
        let works = device.unification();
        let direct = device.create_unified_buffer(1000, HostView::Direct);
        assert_eq!(direct.is_ok(), works.direct.is_some());
        if let Ok(buffer) = &direct {
            assert!(is_at_own_address(buffer));
        }
        let shadow = device.create_unified_buffer(1000, HostView::Shadow);
        assert_eq!(shadow.is_ok(), works.shadow);
        if let Ok(buffer) = &shadow {
            let pointer = buffer.shadow().or(buffer.mapped()).unwrap();
            assert_eq!(pointer.as_ptr() as u64, buffer.device_address());
        }
        // Software drivers all have it.
        if device.info().device_type == DeviceType::Cpu {
            assert_eq!(works.direct, Some(DirectWay::Pointers));
            assert!(works.shadow);
        }
    }
}
