//! A Vulkan layer that shows a software driver as a GPU with an address space of its own: device addresses are not where the
//! host sees memory, and there is no `VK_EXT_map_memory_placed`. The library beside `tests/unified_memory/ways.rs`.
//!
//! All memory is that of files, which the driver below gets to know by a mapping, the *lower* one, and the application by
//! another. Memory that the application is about to map at the device's address loses its lower mapping, as the host has
//! nothing at the address of a GPU; the driver then runs on what the application has put there.
//!
//! `PUMICE_TEST_WAY` says in which way the device's memory can be had there: `dma-buf` and `opaque`, descriptors of those
//! kinds; `again`, the files of mappings; `host`, memory of the host that is imported; `none`. With `wrong` there are
//! descriptors, of other memory. With `chosen` memory that is exported has addresses that no process has, unless an address is
//! asked for; with `beyond` that is refused. With `incoherent` the device's writes to memory that is exported are its own.

#[path = "../common/layer_chain.rs"]
mod layer_chain;

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use ash::vk;
use layer_chain::{Allocator, Layer, layer, next_of_device, next_of_instance};

const PAGE_BYTES: u64 = 4096;

fn way() -> String {
    std::env::var("PUMICE_TEST_WAY").expect("PUMICE_TEST_WAY names a way")
}

/// The kind of descriptor that memory is exported as.
fn exported() -> vk::ExternalMemoryHandleTypeFlags {
    match &*way() {
        "dma-buf" | "wrong" | "chosen" | "beyond" | "incoherent" => {
            vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT
        }
        "opaque" => vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD,
        _ => vk::ExternalMemoryHandleTypeFlags::empty(),
    }
}

/// Whether the device has addresses that no process has, and replays others.
fn has_addresses_beyond() -> bool {
    matches!(&*way(), "chosen" | "beyond")
}

/// A mapping of a file.
struct Mapped(usize, usize);

impl Mapped {
    /// At an address, which the application has set aside, or anywhere. `sharing` is `MAP_SHARED` or `MAP_PRIVATE`.
    fn new(file: &OwnedFd, size_bytes: usize, address: Option<u64>, sharing: i32) -> Option<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let fixed = address.map_or(0, |_| libc::MAP_FIXED);
        let address = address.unwrap_or(0) as usize as *mut c_void;
        // SAFETY: a new mapping, which replaces nothing that is used.
        let start = unsafe {
            let file = file.as_raw_fd();
            let flags = sharing | fixed;
            libc::mmap(address, size_bytes, protection, flags, file, 0)
        };
        (start != libc::MAP_FAILED).then_some(Self(start as usize, size_bytes))
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; the driver below knows of it no more, or knows another mapping there.
        unsafe { libc::munmap(self.0 as *mut c_void, self.1) };
    }
}

/// The memory of an allocation.
struct Memory {
    /// Kept where the way needs it: a driver's files are found by who looks for them.
    file: Option<OwnedFd>,
    lower: Option<Mapped>,
    upper: Mapped,
    is_bound: bool,
    /// The reported address, where it is not the lower mapping's.
    address: Option<u64>,
}

/// The addresses that buffers are reported to have.
fn addresses() -> MutexGuard<'static, HashMap<vk::Buffer, u64>> {
    static ADDRESSES: LazyLock<Mutex<HashMap<vk::Buffer, u64>>> = LazyLock::new(Mutex::default);
    ADDRESSES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn memories() -> MutexGuard<'static, HashMap<vk::DeviceMemory, Memory>> {
    static MEMORIES: LazyLock<Mutex<HashMap<vk::DeviceMemory, Memory>>> =
        LazyLock::new(Mutex::default);
    MEMORIES.lock().unwrap_or_else(PoisonError::into_inner)
}

fn new_file(size_bytes: usize) -> Option<OwnedFd> {
    // SAFETY: a name; the descriptor is new.
    unsafe {
        let file = libc::memfd_create(c"memory".as_ptr(), libc::MFD_CLOEXEC);
        let file = (file >= 0).then(|| OwnedFd::from_raw_fd(file))?;
        (libc::ftruncate(file.as_raw_fd(), size_bytes as i64) == 0).then_some(file)
    }
}

struct OwnAddresses;

impl Layer for OwnAddresses {
    const COMMANDS: &[&CStr] = &[
        c"vkEnumerateDeviceExtensionProperties",
        c"vkGetPhysicalDeviceExternalBufferProperties",
        c"vkGetPhysicalDeviceFeatures2",
        c"vkGetPhysicalDeviceProperties",
        c"vkGetPhysicalDeviceProperties2",
    ];

    fn of_instance(name: &[u8]) -> Option<*const c_void> {
        let function = match name {
            b"vkEnumerateDeviceExtensionProperties" => extensions as *const c_void,
            b"vkGetPhysicalDeviceExternalBufferProperties" => external_buffers as *const c_void,
            b"vkGetPhysicalDeviceFeatures2" => features2 as *const c_void,
            b"vkGetPhysicalDeviceProperties" => properties as *const c_void,
            b"vkGetPhysicalDeviceProperties2" => properties2 as *const c_void,
            _ => return None,
        };
        Some(function)
    }

    fn of_device(name: &[u8], next: *const c_void) -> *const c_void {
        match name {
            b"vkAllocateMemory" => allocate as *const c_void,
            b"vkCreateBuffer" => create_buffer as *const c_void,
            b"vkBindBufferMemory" => bind as *const c_void,
            b"vkFreeMemory" => free as *const c_void,
            b"vkGetBufferDeviceAddress" | b"vkGetBufferDeviceAddressKHR" => {
                address as *const c_void
            }
            b"vkGetMemoryFdKHR" => get_fd as *const c_void,
            b"vkMapMemory" => map as *const c_void,
            b"vkUnmapMemory" => unmap as *const c_void,
            _ => next,
        }
    }

    unsafe fn extensions_below(
        _physical: vk::PhysicalDevice,
        create: &vk::DeviceCreateInfo<'_>,
    ) -> Result<Vec<*const c_char>, vk::Result> {
        // SAFETY: the caller's word, and its structure.
        let mut names = unsafe {
            if let Some(features) = behind::<vk::PhysicalDeviceVulkan12Features<'_>>(create.p_next)
            {
                (*features).buffer_device_address_capture_replay = vk::FALSE;
            }
            layer_chain::asked_for(create)
        };
        // SAFETY: names of the caller.
        names.retain(|name| !EXPORTING.contains(&unsafe { CStr::from_ptr(*name) }));
        // SAFETY: as above.
        let has = |of: &CStr| (names.iter()).any(|name| unsafe { CStr::from_ptr(*name) } == of);
        if !has(IMPORTING) {
            names.push(IMPORTING.as_ptr());
        }
        Ok(names)
    }
}

layer!(OwnAddresses);

const IMPORTING: &CStr = ash::ext::external_memory_host::NAME;
const EXPORTING: [&CStr; 2] = [
    ash::khr::external_memory_fd::NAME,
    ash::ext::external_memory_dma_buf::NAME,
];
const PLACING: [&CStr; 2] = [
    ash::ext::map_memory_placed::NAME,
    ash::khr::map_memory2::NAME,
];

unsafe extern "system" fn extensions(
    physical: vk::PhysicalDevice,
    layer: *const c_char,
    count: *mut u32,
    found: *mut vk::ExtensionProperties,
) -> vk::Result {
    // SAFETY: the caller's word, and that of the next layer for its command. The same below.
    unsafe {
        let next: vk::PFN_vkEnumerateDeviceExtensionProperties =
            transmute(next_of_instance(c"vkEnumerateDeviceExtensionProperties"));
        if !layer.is_null() {
            return next(physical, layer, count, found);
        }
        let mut below = 0;
        let _ = next(physical, layer, &mut below, std::ptr::null_mut());
        let mut all = vec![vk::ExtensionProperties::default(); below as usize];
        let result = next(physical, layer, &mut below, all.as_mut_ptr());
        let hidden = [PLACING, EXPORTING].concat();
        all.retain(|it| {
            let name = it.extension_name_as_c_str().unwrap_or_default();
            !hidden.contains(&name) && (way() == "host" || name != IMPORTING)
        });
        if !exported().is_empty() {
            for name in EXPORTING {
                let mut extension = vk::ExtensionProperties::default().spec_version(1);
                for (to, byte) in extension.extension_name.iter_mut().zip(name.to_bytes()) {
                    *to = *byte as c_char;
                }
                all.push(extension);
            }
        }
        if !found.is_null() {
            let given = all.len().min(*count as usize);
            std::ptr::copy_nonoverlapping(all.as_ptr(), found, given);
        }
        *count = all.len() as u32;
        result
    }
}

unsafe extern "system" fn external_buffers(
    physical: vk::PhysicalDevice,
    info: *const vk::PhysicalDeviceExternalBufferInfo<'_>,
    found: *mut vk::ExternalBufferProperties<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let kind = (*info).handle_type;
        if kind == vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT && way() == "host" {
            let next: vk::PFN_vkGetPhysicalDeviceExternalBufferProperties = transmute(
                next_of_instance(c"vkGetPhysicalDeviceExternalBufferProperties"),
            );
            return next(physical, info, found);
        }
        let properties = &mut (*found).external_memory_properties;
        *properties = vk::ExternalMemoryProperties::default();
        if exported().contains(kind) {
            properties.external_memory_features = vk::ExternalMemoryFeatureFlags::EXPORTABLE;
        }
    }
}

unsafe extern "system" fn features2(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceFeatures2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceFeatures2 =
            transmute(next_of_instance(c"vkGetPhysicalDeviceFeatures2"));
        next(physical, found);
        if let Some(features) = behind::<vk::PhysicalDeviceVulkan12Features<'_>>((*found).p_next) {
            (*features).buffer_device_address_capture_replay = has_addresses_beyond().into();
        }
    }
}

unsafe extern "system" fn properties(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceProperties,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceProperties =
            transmute(next_of_instance(c"vkGetPhysicalDeviceProperties"));
        next(physical, found);
        (*found).device_type = vk::PhysicalDeviceType::INTEGRATED_GPU;
    }
}

unsafe extern "system" fn properties2(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceProperties2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceProperties2 =
            transmute(next_of_instance(c"vkGetPhysicalDeviceProperties2"));
        next(physical, found);
        (*found).properties.device_type = vk::PhysicalDeviceType::INTEGRATED_GPU;
    }
}

/// The next layer's command of a device.
macro_rules! next_for_device {
    ($name:literal) => {
        transmute(next_of_device($name))
    };
}

/// The structure of a type behind another one.
///
/// # Safety
/// A chain as Vulkan has them.
unsafe fn behind<T: vk::TaggedStructure>(first: *const c_void) -> Option<*mut T> {
    let mut next = first.cast::<vk::BaseInStructure<'_>>();
    // SAFETY: the caller's word.
    unsafe {
        while !next.is_null() {
            if (*next).s_type == T::STRUCTURE_TYPE {
                return Some(next.cast_mut().cast());
            }
            next = (*next).p_next;
        }
    }
    None
}

unsafe extern "system" fn allocate(
    device: vk::Device,
    allocate: *const vk::MemoryAllocateInfo<'_>,
    allocator: Allocator,
    made: *mut vk::DeviceMemory,
) -> vk::Result {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkAllocateMemory = next_for_device!(c"vkAllocateMemory");
        let chain = (*allocate).p_next;
        if let Some(import) = behind::<vk::ImportMemoryHostPointerInfoEXT<'_>>(chain) {
            return import_again(next, device, allocate, allocator, import, made);
        }
        let size_bytes = (*allocate).allocation_size.next_multiple_of(PAGE_BYTES) as usize;
        let chosen = behind::<vk::MemoryOpaqueCaptureAddressAllocateInfo<'_>>(chain);
        let chosen = chosen.map(|chosen| (*chosen).opaque_capture_address);
        if chosen.is_some() && way() == "beyond" {
            return vk::Result::ERROR_INVALID_OPAQUE_CAPTURE_ADDRESS;
        }
        let made_of = new_file(size_bytes).and_then(|file| {
            let sharing = match behind::<vk::ExportMemoryAllocateInfo<'_>>(chain) {
                Some(_) if way() == "incoherent" => libc::MAP_PRIVATE,
                _ => libc::MAP_SHARED,
            };
            let lower = Mapped::new(&file, size_bytes, chosen, sharing);
            let upper = Mapped::new(&file, size_bytes, None, libc::MAP_SHARED);
            Some((file, lower?, upper?))
        });
        let Some((file, lower, upper)) = made_of else {
            return vk::Result::ERROR_OUT_OF_HOST_MEMORY;
        };
        let mut import = vk::ImportMemoryHostPointerInfoEXT::default()
            .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT)
            .host_pointer(lower.0 as *mut c_void);
        let flags = behind::<vk::MemoryAllocateFlagsInfo<'_>>(chain);
        let mut flags = vk::MemoryAllocateFlagsInfo {
            p_next: std::ptr::null(),
            ..flags.map_or_else(Default::default, |flags| *flags)
        };
        flags.flags &= !vk::MemoryAllocateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
        let below = vk::MemoryAllocateInfo::default()
            .allocation_size(size_bytes as u64)
            .memory_type_index((*allocate).memory_type_index)
            .push_next(&mut flags)
            .push_next(&mut import);
        let result = next(device, &below, allocator.cast(), made);
        if result == vk::Result::SUCCESS {
            let is_exported = behind::<vk::ExportMemoryAllocateInfo<'_>>(chain).is_some();
            let start = lower.0 as u64;
            let (lower, address) = match chosen {
                None if !is_exported => (Some(lower), None),
                None if way() == "incoherent" => {
                    // Nothing is there once it is dropped.
                    let free = Mapped::new(&file, size_bytes, None, libc::MAP_SHARED);
                    (Some(lower), free.map(|free| free.0 as u64))
                }
                None => {
                    let beyond = start | 0xffff_8000_0000_0000;
                    (None, has_addresses_beyond().then_some(beyond))
                }
                // The application's addresses.
                Some(_) => {
                    std::mem::forget(lower);
                    (None, None)
                }
            };
            let memory = Memory {
                file: (is_exported || way() == "again").then_some(file),
                lower,
                upper,
                is_bound: false,
                address,
            };
            memories().insert(*made, memory);
        }
        result
    }
}

/// Imports memory of the application by another mapping of it, which then goes; memory that no two mappings can be of, as it
/// is.
///
/// # Safety
/// The arguments of the command `next`, with the structure of an import behind the first.
unsafe fn import_again(
    next: vk::PFN_vkAllocateMemory,
    device: vk::Device,
    allocate: *const vk::MemoryAllocateInfo<'_>,
    allocator: Allocator,
    import: *mut vk::ImportMemoryHostPointerInfoEXT<'_>,
    made: *mut vk::DeviceMemory,
) -> vk::Result {
    // SAFETY: the caller's word; the structure is as it was when the call returns.
    unsafe {
        let size_bytes = (*allocate).allocation_size as usize;
        let pointer = (*import).p_host_pointer;
        let again = libc::mremap(pointer, 0, size_bytes, libc::MREMAP_MAYMOVE);
        if again == libc::MAP_FAILED {
            return next(device, allocate, allocator.cast(), made);
        }
        (*import).p_host_pointer = again;
        let result = next(device, allocate, allocator.cast(), made);
        (*import).p_host_pointer = pointer;
        libc::munmap(again, size_bytes);
        result
    }
}

/// The driver below exports nothing.
unsafe extern "system" fn create_buffer(
    device: vk::Device,
    create: *const vk::BufferCreateInfo<'_>,
    allocator: Allocator,
    made: *mut vk::Buffer,
) -> vk::Result {
    // SAFETY: as above; the structure is as it was when the call returns.
    unsafe {
        let next: vk::PFN_vkCreateBuffer = next_for_device!(c"vkCreateBuffer");
        let mut create = *create;
        create.flags &= !vk::BufferCreateFlags::DEVICE_ADDRESS_CAPTURE_REPLAY;
        let create = &raw const create;
        let external = behind::<vk::ExternalMemoryBufferCreateInfo<'_>>((*create).p_next);
        let Some(external) = external.filter(|it| exported().contains((**it).handle_types)) else {
            return next(device, create, allocator.cast(), made);
        };
        let kinds = std::mem::take(&mut (*external).handle_types);
        let result = next(device, create, allocator.cast(), made);
        (*external).handle_types = kinds;
        result
    }
}

unsafe extern "system" fn bind(
    device: vk::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    offset: u64,
) -> vk::Result {
    if let Some(memory) = memories().get_mut(&memory) {
        memory.is_bound = true;
        match memory.address {
            Some(address) => addresses().insert(buffer, address),
            None => addresses().remove(&buffer),
        };
    }
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkBindBufferMemory = next_for_device!(c"vkBindBufferMemory");
        next(device, buffer, memory, offset)
    }
}

unsafe extern "system" fn address(
    device: vk::Device,
    info: *const vk::BufferDeviceAddressInfo<'_>,
) -> vk::DeviceAddress {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetBufferDeviceAddress = next_for_device!(c"vkGetBufferDeviceAddress");
        let found = next(device, info);
        addresses().get(&(*info).buffer).copied().unwrap_or(found)
    }
}

unsafe extern "system" fn free(device: vk::Device, of: vk::DeviceMemory, allocator: Allocator) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkFreeMemory = next_for_device!(c"vkFreeMemory");
        next(device, of, allocator.cast());
    }
    memories().remove(&of);
}

unsafe extern "system" fn map(
    device: vk::Device,
    of: vk::DeviceMemory,
    offset: u64,
    size: u64,
    flags: vk::MemoryMapFlags,
    data: *mut *mut c_void,
) -> vk::Result {
    let mut memories = memories();
    // SAFETY: as above.
    unsafe {
        let Some(memory) = memories.get_mut(&of) else {
            let next: vk::PFN_vkMapMemory = next_for_device!(c"vkMapMemory");
            return next(device, of, offset, size, flags, data);
        };
        // An allocator maps its memory before anything lies in it.
        if memory.is_bound && way() == "again" {
            memory.lower = None;
        }
        *data = (memory.upper.0 + offset as usize) as *mut c_void;
    }
    vk::Result::SUCCESS
}

unsafe extern "system" fn unmap(device: vk::Device, of: vk::DeviceMemory) {
    if !memories().contains_key(&of) {
        // SAFETY: as above.
        unsafe {
            let next: vk::PFN_vkUnmapMemory = next_for_device!(c"vkUnmapMemory");
            next(device, of);
        }
    }
}

unsafe extern "system" fn get_fd(
    _device: vk::Device,
    info: *const vk::MemoryGetFdInfoKHR<'_>,
    fd: *mut i32,
) -> vk::Result {
    // SAFETY: as above.
    unsafe {
        let memories = memories();
        let Some(memory) = memories.get(&(*info).memory) else {
            return vk::Result::ERROR_INVALID_EXTERNAL_HANDLE;
        };
        let found = match (&*way(), &memory.file) {
            ("wrong", _) => new_file(memory.upper.1),
            (_, Some(file)) => file.try_clone().ok(),
            (_, None) => None,
        };
        let Some(found) = found else {
            return vk::Result::ERROR_TOO_MANY_OBJECTS;
        };
        *fd = found.into_raw_fd();
        vk::Result::SUCCESS
    }
}
