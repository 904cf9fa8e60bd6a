//! Memory with one address for the host and the devices: shared virtual memory (`clSVMAlloc`) and unified
//! shared memory (cl_intel_unified_shared_memory).
//!
//! In a context of several devices an allocation is one for all of them where each reads and writes the host's own
//! memory. Elsewhere it belongs to one device, the first that can, and commands of the others fail: a second device
//! gives its memory addresses of its own.
//!
//! An allocation is found by any address within it. How the host gets at it depends on the device, see
//! [`HostView`]: the same memory, or host memory at the same addresses that maps and unmaps copy.

use crate::runtime::allocation::Allocation;
use crate::runtime::device::Device;
use crate::runtime::device::context_device::ContextDevice;
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::object::error::{Error, Result};
use crate::vulkan::{HostRange, HostUse, HostView};
use opencl_sys::{CL_INVALID_OPERATION, cl_map_flags, cl_ulong};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// An allocation.
pub struct SharedMemory {
    address: u64,
    size_bytes: usize,
    origin: Origin,
    /// For each device of the context; `None` where the device can't reach it.
    places: Vec<Option<Arc<Allocation>>>,
    maps: Mutex<Vec<SharedMap>>,
    /// Host memory that the devices have imported. Declared after `places`: freed after them.
    _host: Option<Arc<HostRange>>,
}

/// What an allocation was asked for as.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// `clSVMAlloc`, with its flags.
    Svm { flags: cl_ulong },
    /// `clHostMemAllocINTEL`, `clDeviceMemAllocINTEL`, `clSharedMemAllocINTEL`.
    Unified {
        kind: UnifiedKind,
        /// `CL_MEM_ALLOC_FLAGS_INTEL`
        flags: cl_ulong,
        /// The device it is associated with, by its place in the context.
        device: Option<usize>,
    },
}

/// The kinds of unified shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnifiedKind {
    Host,
    Device,
    Shared,
}

/// A region that `clEnqueueSVMMap` has mapped.
pub struct SharedMap {
    pub address: u64,
    pub size_bytes: usize,
    pub flags: cl_map_flags,
}

/// What the host wants of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// At any time, also while a kernel runs.
    Any,
    /// Between map and unmap.
    Mapped,
    /// Never.
    None,
}

/// The allocations of a context.
#[derive(Default)]
pub struct SharedMemories {
    /// By their first address.
    list: RwLock<BTreeMap<u64, Arc<SharedMemory>>>,
}

impl SharedMemory {
    /// Every address is a multiple of this.
    pub const ALIGNMENT_BYTES: u64 = crate::vulkan::buffer::BASE_ALIGNMENT_BYTES;

    /// Host memory, imported by every device.
    fn of_host(devices: &[Arc<Device>], size_bytes: usize, origin: Origin) -> Result<Arc<Self>> {
        let range = HostRange::anywhere(size_bytes, HostUse::Memory)
            .map_err(|error| Error::out_of_host_memory(error.to_string()))?;
        let address = range.start().as_ptr() as u64;
        let places = devices
            .iter()
            .map(|device| {
                // SAFETY: the range is held beside the allocations that share it.
                let buffer = unsafe {
                    device
                        .vulkan()?
                        .import_host_memory(range.start(), size_bytes as u64)
                }?;
                if buffer.device_address() == address {
                    Ok(Some(Allocation::from_shared_buffer(buffer)))
                } else {
                    Err(unsupported("an imported buffer has another address"))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(Self {
            address,
            size_bytes,
            origin,
            places,
            maps: Mutex::default(),
            _host: Some(Arc::new(range)),
        }))
    }

    /// Memory of one device: the one at `only`, or the first that can.
    fn of_device(
        devices: &[Arc<Device>],
        size_bytes: usize,
        origin: Origin,
        view: HostView,
        only: Option<usize>,
    ) -> Result<Arc<Self>> {
        let able = |device: &Arc<Device>| match view {
            HostView::Direct => device.unification().direct.is_some(),
            HostView::Shadow => device.unification().shadow,
            HostView::None => true,
        };
        let found = devices
            .iter()
            .enumerate()
            .find(|(index, device)| only.is_none_or(|only| only == *index) && able(device));
        let (index, device) = found
            .ok_or_else(|| unsupported("no device shares memory with the host in that way"))?;
        let buffer = device
            .vulkan()?
            .create_unified_buffer(size_bytes as u64, view)?;
        let address = buffer.device_address();
        let mut places: Vec<_> = devices.iter().map(|_| None).collect();
        if let Some(place) = places.get_mut(index) {
            *place = Some(Allocation::from_shared_buffer(buffer));
        }
        Ok(Arc::new(Self {
            address,
            size_bytes,
            origin,
            places,
            maps: Mutex::default(),
            _host: None,
        }))
    }

    /// The first byte, for host and device.
    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The allocation on the device at place `device` of the context, if that device reaches it.
    pub fn place(&self, device: usize) -> Option<&Arc<Allocation>> {
        self.places.get(device)?.as_ref()
    }

    /// The allocations on all devices that reach it.
    pub fn allocations(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        self.places.iter().flatten()
    }

    /// The allocation as commands of `device` see it.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when the device does not reach it.
    pub fn on(&self, device: &ContextDevice) -> Result<&Arc<Allocation>> {
        self.place(device.index()).ok_or_else(of_another_device)
    }

    /// Whether the host reads and writes it at its addresses at any time: its devices' memory is the host's.
    pub fn is_of_host(&self) -> bool {
        self.allocations()
            .all(|place| place.buffer().device().unification().any_host_memory)
    }

    /// The regions that are mapped.
    pub fn maps(&self) -> MutexGuard<'_, Vec<SharedMap>> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether all of `size_bytes` at `address` lie within.
    pub fn contains(&self, address: u64, size_bytes: usize) -> bool {
        let offset = address.wrapping_sub(self.address);
        let end = offset.checked_add(size_bytes as u64);
        end.is_some_and(|end| end <= self.size_bytes as u64)
    }
}

impl SharedMemories {
    /// Allocates `size_bytes` (not 0) for the devices of the context, or only for the one at place `only` among them.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` where the devices can't; memory ran out.
    pub fn allocate(
        &self,
        devices: &[Arc<Device>],
        size_bytes: usize,
        origin: Origin,
        access: Access,
        only: Option<usize>,
    ) -> Result<Arc<SharedMemory>> {
        let view = match access {
            Access::Any => HostView::Direct,
            Access::Mapped => HostView::Shadow,
            Access::None => HostView::None,
        };
        let everywhere = devices.len() > 1
            && access != Access::None
            && devices
                .iter()
                .all(|device| device.unification().any_host_memory);
        let memory = if everywhere {
            SharedMemory::of_host(devices, size_bytes, origin)?
        } else {
            SharedMemory::of_device(devices, size_bytes, origin, view, only)?
        };
        self.add(&memory);
        Ok(memory)
    }

    fn add(&self, memory: &Arc<SharedMemory>) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.insert(memory.address, Arc::clone(memory));
    }

    /// The allocation that `address` lies in.
    pub fn find(&self, address: u64) -> Option<Arc<SharedMemory>> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        let (_, memory) = list.range(..=address).next_back()?;
        memory.contains(address, 1).then(|| Arc::clone(memory))
    }

    /// What is at `pointer`.
    pub fn pointed(&self, pointer: *const std::ffi::c_void) -> Pointed {
        let address = pointer as u64;
        match self.find(address) {
            Some(memory) => {
                let offset_bytes = (address - memory.address) as usize;
                Pointed::Shared(memory, offset_bytes)
            }
            None => Pointed::Host(HostPointer(pointer.cast_mut().cast())),
        }
    }

    /// Takes out the allocation that begins at `address`.
    pub fn remove(&self, address: u64) -> Option<Arc<SharedMemory>> {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.remove(&address)
    }

    /// Every allocation.
    pub fn all(&self) -> Vec<Arc<SharedMemory>> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        list.values().map(Arc::clone).collect()
    }
}

/// Memory that a command names by its address.
pub enum Pointed {
    /// An allocation, and how far into it.
    Shared(Arc<SharedMemory>, usize),
    /// Other memory of the host.
    Host(HostPointer),
}

/// The specification has shared virtual memory on every device of the context: a lack of ours, which is worth a warning.
pub(in crate::runtime) fn of_another_device() -> Error {
    Error::unsupported(
        CL_INVALID_OPERATION,
        "shared memory that belongs to another device of the context",
    )
}

fn unsupported(reason: &'static str) -> Error {
    Error::new(CL_INVALID_OPERATION, reason)
}
