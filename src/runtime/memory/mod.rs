//! Memory objects: buffers and their sub-buffers, images, pipes.
//!
//! A buffer has one allocation on each device that has used it. In a context with one device, which is
//! the rule, it is made with the buffer and stays. With several, the contents follow the commands
//! ([`super::residency::contents`]).

pub mod destruction;
pub mod mappings;

use super::allocation::Allocation;
use super::allocation::allocate::{TEXEL_ALIGNMENT, allocate};
use super::context::Context;
use super::device::Device;
use super::device::context_device::ContextDevice;
use super::host_memory;
use super::host_memory::pointer::HostPointer;
use super::image::Image;
use super::image::prepared::PreparedTexture;
use super::object::callback::{MemoryDestructor, UserData};
use super::object::error::{Error, Result};
use super::object::registry::{Handle, Kind, Object};
use super::residency::backing::Backing;
use super::residency::contents::Residency;
use super::residency::mapping::Mapping;
use super::residency::storage::{Place, Places, Storage};
use crate::compiler::pipe as layout_of_pipes;
use crate::vulkan::{MemoryFd, MemoryKind};
use destruction::Destruction;
use opencl_sys::{
    CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR, cl_mem_flags,
    cl_mem_properties,
};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A memory object.
pub struct Memory {
    handle: Handle,
    context: Arc<Context>,
    flags: cl_mem_flags,
    /// `host_ptr` as the application gave it; for a sub-buffer within that of its buffer.
    host_ptr: Option<HostPointer>,
    properties: Vec<cl_mem_properties>,
    backing: Arc<Backing>,
    object: ObjectType,
    mappings: Mutex<Vec<Mapping>>,
    destructors: Mutex<Vec<(MemoryDestructor, UserData)>>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Memory {
    const KIND: Kind = Kind::Memory;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// What a memory object is, and what it is made over.
enum ObjectType {
    Buffer,
    /// A part of that buffer.
    SubBuffer(Arc<Memory>),
    /// An image with memory of its own, or over that buffer or other image.
    Image(Image, Option<Arc<Memory>>),
    Pipe(Pipe),
}

/// What `clCreatePipe` was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pipe {
    pub packet_bytes: u32,
    pub max_packets: u32,
}

impl Memory {
    /// A buffer of `size_bytes` (not 0). `host_ptr` is given exactly when the flags ask for one.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`
    ///
    /// # Safety
    /// `host_ptr` is readable for `size_bytes`; with `CL_MEM_USE_HOST_PTR` readable and writable for as long
    /// as the buffer lives.
    pub unsafe fn buffer(
        context: &Arc<Context>,
        flags: cl_mem_flags,
        size_bytes: usize,
        host_ptr: Option<NonNull<u8>>,
        properties: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let kind = MemoryKind::Device;
        // SAFETY: the caller's promise.
        let storage = unsafe { storage(kind, context, flags, size_bytes, host_ptr) }?;
        Ok(Self::over(
            context,
            flags,
            storage,
            ObjectType::Buffer,
            properties,
        ))
    }

    /// A memory object with a storage of its own.
    fn over(
        context: &Arc<Context>,
        flags: cl_mem_flags,
        storage: Storage,
        object: ObjectType,
        properties: Vec<cl_mem_properties>,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            flags,
            host_ptr: storage.shared,
            properties,
            backing: Backing::whole(storage),
            object,
            mappings: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// A memory object over a part of the bytes of `parent`.
    fn within(
        parent: &Arc<Self>,
        flags: cl_mem_flags,
        bytes: Range<usize>,
        object: ObjectType,
        properties: Vec<cl_mem_properties>,
    ) -> Arc<Self> {
        let at_origin = |pointer: HostPointer| HostPointer(pointer.0.wrapping_add(bytes.start));
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(&parent.context),
            flags,
            host_ptr: parent.host_ptr.map(at_origin),
            properties,
            backing: parent.backing.part(bytes.start, bytes.len()),
            object,
            mappings: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// A pipe: see [`crate::compiler::pipe`].
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`
    pub fn pipe_of(context: &Arc<Context>, flags: cl_mem_flags, pipe: Pipe) -> Result<Arc<Self>> {
        let Pipe {
            packet_bytes,
            max_packets,
        } = pipe;
        let size_bytes = layout_of_pipes::size_bytes(packet_bytes, max_packets);
        let mut devices = context.devices().iter();
        if !devices.any(|device| size_bytes <= device.limits().max_allocation_bytes) {
            return Err(Error::allocation_failure(format!(
                "a pipe of {size_bytes} bytes"
            )));
        }
        let mut contents = layout_of_pipes::header(packet_bytes, max_packets).to_vec();
        if context.devices().len() > 1 {
            // What follows the commands from device to device starts whole, on the host.
            host_memory::reserve(&mut contents, size_bytes as usize)?;
            contents.resize(size_bytes as usize, 0);
        }
        let (kind, size_bytes) = (MemoryKind::Device, size_bytes as usize);
        let storage = allocated(context, size_bytes, kind, None, Some(&contents))?;
        let object = ObjectType::Pipe(pipe);
        Ok(Self::over(context, flags, storage, object, Vec::new()))
    }

    /// An image with memory of its own, of the image's size. Otherwise as [`Memory::buffer`].
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`
    ///
    /// # Safety
    /// As [`Memory::buffer`].
    pub unsafe fn image_with_memory(
        context: &Arc<Context>,
        flags: cl_mem_flags,
        image: Image,
        host_ptr: Option<NonNull<u8>>,
        properties: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let size_bytes = image.size_bytes();
        let kind = MemoryKind::Texels;
        // SAFETY: the caller's promise.
        let storage = unsafe { storage(kind, context, flags, size_bytes, host_ptr) }?;
        let object = ObjectType::Image(image, None);
        Ok(Self::over(context, flags, storage, object, properties))
    }

    /// An image over the first bytes of a buffer, or over another image.
    pub fn image_of(
        parent: &Arc<Self>,
        flags: cl_mem_flags,
        image: Image,
        properties: Vec<cl_mem_properties>,
    ) -> Arc<Self> {
        let bytes = 0..image.size_bytes();
        let object = ObjectType::Image(image, Some(Arc::clone(parent)));
        Self::within(parent, flags, bytes, object, properties)
    }

    /// What makes it an image, if it is one.
    pub fn image(&self) -> Option<&Image> {
        match &self.object {
            ObjectType::Image(image, _) => Some(image),
            _ => None,
        }
    }

    /// What makes it a pipe, if it is one.
    pub fn pipe(&self) -> Option<Pipe> {
        match self.object {
            ObjectType::Pipe(pipe) => Some(pipe),
            _ => None,
        }
    }

    /// Whether it is neither an image nor a pipe.
    pub fn is_buffer(&self) -> bool {
        matches!(self.object, ObjectType::Buffer | ObjectType::SubBuffer(_))
    }

    /// A buffer of memory that others allocated, for one device of the context.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when the driver refuses the descriptor.
    pub fn external(
        context: &Arc<Context>,
        device: &Device,
        flags: cl_mem_flags,
        size_bytes: usize,
        kind: MemoryFd,
        fd: OwnedFd,
        properties: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let storage = imported(device, size_bytes, kind, fd)?;
        Ok(Self::over(
            context,
            flags,
            storage,
            ObjectType::Buffer,
            properties,
        ))
    }

    /// An image in memory that others allocated; otherwise as [`Memory::external`].
    ///
    /// # Errors
    /// Those of [`Memory::external`].
    pub fn external_image(
        context: &Arc<Context>,
        device: &Device,
        flags: cl_mem_flags,
        image: Image,
        kind: MemoryFd,
        fd: OwnedFd,
        properties: Vec<cl_mem_properties>,
    ) -> Result<Arc<Self>> {
        let size_bytes = image.size_bytes();
        let storage = imported(device, size_bytes, kind, fd)?;
        let object = ObjectType::Image(image, None);
        Ok(Self::over(context, flags, storage, object, properties))
    }

    /// A sub-buffer: `size_bytes` (not 0) at `origin_bytes` of `parent`, a buffer, within it.
    pub fn sub_buffer(
        parent: &Arc<Self>,
        flags: cl_mem_flags,
        origin_bytes: usize,
        size_bytes: usize,
    ) -> Arc<Self> {
        let bytes = origin_bytes..origin_bytes + size_bytes;
        let object = ObjectType::SubBuffer(Arc::clone(parent));
        Self::within(parent, flags, bytes, object, Vec::new())
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_MEM_FLAGS`
    pub fn flags(&self) -> cl_mem_flags {
        self.flags
    }

    pub fn size_bytes(&self) -> usize {
        self.backing.size_bytes()
    }

    /// `CL_MEM_HOST_PTR`
    pub fn host_ptr(&self) -> Option<HostPointer> {
        self.host_ptr
    }

    /// `CL_MEM_PROPERTIES`, with the final 0; empty when none were given.
    pub fn properties(&self) -> &[cl_mem_properties] {
        &self.properties
    }

    /// The buffer that a sub-buffer is part of, and what an image without memory of its own is made over.
    pub fn parent(&self) -> Option<&Arc<Self>> {
        match &self.object {
            ObjectType::SubBuffer(parent) => Some(parent),
            ObjectType::Image(_, parent) => parent.as_ref(),
            ObjectType::Buffer | ObjectType::Pipe(_) => None,
        }
    }

    /// `CL_MEM_OFFSET`
    pub fn origin_bytes(&self) -> usize {
        self.backing.origin_bytes()
    }

    /// Whether both are the same buffer or parts of one.
    pub fn shares_storage(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.backing.storage(), other.backing.storage())
    }

    /// Whether it was made from an external handle.
    pub fn is_external(&self) -> bool {
        self.parent().is_none() && self.storage().is_external
    }

    /// Whether commands of `device` can use it: not what another device of the context has imported.
    pub fn is_within_reach(&self, device: &ContextDevice) -> bool {
        self.backing.is_within_reach(device)
    }

    /// [`Backing::place`]
    ///
    /// # Errors
    /// Those of [`Backing::place`].
    pub fn place(&self, device: &ContextDevice) -> Result<Place> {
        self.backing.place(device)
    }

    /// The texture through which a command of `device` in `VkQueue` number `vk_queue` reads the image; `None` where it reads
    /// the memory itself.
    pub fn texture(&self, device: &ContextDevice, vk_queue: usize) -> Option<Arc<PreparedTexture>> {
        let place = self.place(device).ok()?;
        let description = self.image()?.texture(place.offset_bytes as u64)?;
        place.allocation.texture(&description, vk_queue)
    }

    /// `CL_MEM_USES_SVM_POINTER`
    pub fn uses_svm_pointer(&self) -> bool {
        self.storage().uses_svm
    }

    /// `CL_MEM_DEVICE_ADDRESS_EXT`: the address on each device of the context. From here on kernels may use the
    /// buffer without naming it.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE` when a device has no room for it.
    pub fn device_addresses(self: &Arc<Self>) -> Result<Vec<u64>> {
        let offset_bytes = (self.storage().base_bytes + self.origin_bytes()) as u64;
        let devices = self.context.devices();
        let allocations = match &self.storage().places {
            Places::One(allocation) if devices.len() == 1 => vec![Arc::clone(allocation)],
            Places::One(allocation) => {
                // Imported for one of them: no address on the others.
                self.context.add_addressed(&self.backing);
                allocation.give_address();
                let owner = allocation.buffer().device();
                let is_owner =
                    |device: &Device| device.vulkan().is_ok_and(|it| Arc::ptr_eq(it, owner));
                let address = allocation.device_address() + offset_bytes;
                let addresses = devices
                    .iter()
                    .map(|device| if is_owner(device) { address } else { 0 });
                return Ok(addresses.collect());
            }
            Places::Shared(memory) => {
                return Ok(vec![memory.address() + offset_bytes; devices.len()]);
            }
            Places::Several(residency) => {
                let storage = self.storage();
                (0..devices.len())
                    .map(|device| residency.place(device, storage.kind, storage.size_bytes))
                    .collect::<Result<_>>()?
            }
        };
        self.context.add_addressed(&self.backing);
        Ok(allocations
            .iter()
            .map(|allocation| {
                allocation.give_address();
                allocation.device_address() + offset_bytes
            })
            .collect())
    }

    /// [`Backing::migrates`]
    pub fn migrates(&self) -> bool {
        self.backing.migrates()
    }

    /// Its bytes.
    pub fn backing(&self) -> &Arc<Backing> {
        &self.backing
    }

    pub(super) fn storage(&self) -> &Storage {
        self.backing.storage()
    }

    /// The regions that the host has mapped.
    pub fn mappings(&self) -> MutexGuard<'_, Vec<Mapping>> {
        self.mappings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `clSetMemObjectDestructorCallback`: called in the reverse order of registration.
    pub fn on_destruction(&self, notify: MemoryDestructor, user_data: UserData) {
        self.destructors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((notify, user_data));
    }
}

/// The storage of a memory object of `kind`, where the flags ask for nothing else.
///
/// # Safety
/// `host_ptr` is as [`Memory::buffer`] asks.
unsafe fn storage(
    kind: MemoryKind,
    context: &Arc<Context>,
    flags: cl_mem_flags,
    size_bytes: usize,
    host_ptr: Option<NonNull<u8>>,
) -> Result<Storage> {
    let has = |flag: cl_mem_flags| flags & flag != 0;
    let shares = has(CL_MEM_USE_HOST_PTR);
    let kind = if has(CL_MEM_ALLOC_HOST_PTR) {
        MemoryKind::Readback
    } else {
        kind
    };
    let copies = has(CL_MEM_COPY_HOST_PTR) || shares;
    let initial = host_ptr.filter(|_| copies).map(|pointer| {
        // SAFETY: the caller's promise.
        unsafe { std::slice::from_raw_parts(pointer.as_ptr().cast_const(), size_bytes) }
    });
    let shared = host_ptr.filter(|_| shares);
    allocated(context, size_bytes, kind, shared, initial)
}

/// A storage with memory of its own, or over `shared`, which outlives it. `initial` are its first bytes, all of them where
/// there are several devices.
fn allocated(
    context: &Arc<Context>,
    size_bytes: usize,
    kind: MemoryKind,
    shared: Option<NonNull<u8>>,
    initial: Option<&[u8]>,
) -> Result<Storage> {
    let svm = shared.and_then(|pointer| {
        let memory = context.shared().find(pointer.as_ptr() as u64)?;
        let offset_bytes = (pointer.as_ptr() as u64 - memory.address()) as usize;
        let serves = kind != MemoryKind::Texels || offset_bytes.is_multiple_of(TEXEL_ALIGNMENT);
        serves.then_some((memory, offset_bytes))
    });
    let base_bytes = svm.as_ref().map_or(0, |(_, offset_bytes)| *offset_bytes);
    let uses_svm = svm.is_some();
    let places = match (svm, context.devices()) {
        (Some((memory, _)), _) => Places::Shared(memory),
        (None, [device]) => Places::One(allocate(
            device.vulkan()?,
            kind,
            size_bytes,
            shared,
            initial,
        )?),
        (None, devices) => {
            let initial = initial.map(host_memory::copy).transpose()?;
            Places::Several(Residency::new(devices, size_bytes, initial))
        }
    };
    Ok(Storage {
        size_bytes,
        kind,
        shared: shared.map(|pointer| HostPointer(pointer.as_ptr())),
        base_bytes,
        uses_svm,
        is_external: false,
        places,
        mirrors: Mutex::default(),
        written: Mutex::default(),
    })
}

/// A storage over memory that others allocated, for one device of a context.
///
/// # Errors
/// `CL_INVALID_OPERATION` when the driver refuses the descriptor.
fn imported(device: &Device, size_bytes: usize, kind: MemoryFd, fd: OwnedFd) -> Result<Storage> {
    let buffer = device
        .vulkan()?
        .import_memory_fd(kind, fd, size_bytes as u64)
        .map_err(|error| Error::invalid_operation(format!("external memory: {error}")))?;
    Ok(Storage {
        size_bytes,
        kind: MemoryKind::Device,
        shared: None,
        base_bytes: 0,
        uses_svm: false,
        is_external: true,
        places: Places::One(Allocation::from_shared_buffer(buffer)),
        mirrors: Mutex::default(),
        written: Mutex::default(),
    })
}

impl Drop for Memory {
    fn drop(&mut self) {
        let mappings = self.mappings.get_mut();
        for mapping in mappings.unwrap_or_else(PoisonError::into_inner) {
            if let Some(seen) = mapping.seen() {
                self.context.pinned().remove(seen);
            }
        }
        let destructors = std::mem::take(
            self.destructors
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        if destructors.is_empty() {
            return;
        }
        let calls = Destruction {
            handle: UserData(self.handle.as_ptr()),
            callbacks: destructors,
        };
        // "called when the reference count becomes zero and the object's resources are about to be freed":
        // an application frees its host_ptr there, so commands that use it must be done.
        match (self.parent(), &self.backing.storage().places) {
            (None, Places::One(allocation)) => {
                allocation.on_release(Box::new(move || drop(calls)));
            }
            (None, Places::Several(residency)) => {
                // The last one to go makes the calls.
                let calls = Arc::new(calls);
                for allocation in residency.allocations() {
                    let calls = Arc::clone(&calls);
                    allocation.on_release(Box::new(move || drop(calls)));
                }
            }
            // The allocation lives on.
            _ => calls.after_uses(&self.context, &self.storage().allocations()),
        }
    }
}
