//! How a Vulkan layer stands between the loader and the next layer (`vk_layer.h`): what the layers of the tests have in common.
//! A layer that has this module implements [`Layer`] and calls [`layer!`].

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use ash::vk;

/// `const VkAllocationCallbacks *`
pub type Allocator = *const c_void;

/// The type of `vkGetInstanceProcAddr` and of `vkGetDeviceProcAddr`.
pub type Address = unsafe extern "system" fn(*const c_void, *const c_char) -> *const c_void;

/// `VkNegotiateLayerInterface`
#[repr(C)]
pub struct Negotiation {
    structure: u32,
    next: *const c_void,
    version: u32,
    instance_address: *const c_void,
    device_address: *const c_void,
    physical_device_address: *const c_void,
}

/// `VkLayerInstanceCreateInfo` and `VkLayerDeviceCreateInfo`.
#[repr(C)]
pub struct LayerInfo {
    structure: u32,
    next: *mut LayerInfo,
    function: u32,
    link: *const Link,
}

/// `VkLayerInstanceLink` and `VkLayerDeviceLink`.
#[repr(C)]
pub struct Link {
    next: *const Link,
    instance_address: Address,
    /// The next layer's function for devices, or for physical devices where the link is an instance's.
    device_address: *const c_void,
}

/// `VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO`, `VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO`
const LOADER_INSTANCE: u32 = 47;
const LOADER_DEVICE: u32 = 48;

/// The last instance made, and the next layer's function for it: all instances of a process have the same layers.
static INSTANCE: AtomicUsize = AtomicUsize::new(0);
static INSTANCE_ADDRESS: AtomicUsize = AtomicUsize::new(0);
/// The next layer's commands of instances, by name.
static COMMANDS: Mutex<BTreeMap<&CStr, usize>> = Mutex::new(BTreeMap::new());
/// The last device made, and the next layer's function for it.
static DEVICE: AtomicUsize = AtomicUsize::new(0);
static DEVICE_ADDRESS: AtomicUsize = AtomicUsize::new(0);

/// What a layer does.
pub trait Layer {
    /// The commands of instances that it stands before.
    const COMMANDS: &'static [&'static CStr];

    /// The function that stands before one of [`Layer::COMMANDS`].
    fn of_instance(name: &[u8]) -> Option<*const c_void>;

    /// What a command of a device is instead of `next`, the next layer's; null is none, of either.
    fn of_device(name: &[u8], next: *const c_void) -> *const c_void;

    /// The extensions that a device is made with below, if it may be made.
    ///
    /// # Errors
    /// What `vkCreateDevice` returns else.
    ///
    /// # Safety
    /// `create` is what the application gave.
    unsafe fn extensions_below(
        _physical: vk::PhysicalDevice,
        create: &vk::DeviceCreateInfo<'_>,
    ) -> Result<Vec<*const c_char>, vk::Result> {
        // SAFETY: the caller's word.
        Ok(unsafe { asked_for(create) })
    }

    /// A device was made.
    fn has_device() {}
}

/// The names of the extensions that an application asks for.
///
/// # Safety
/// `create` is what it gave.
pub unsafe fn asked_for(create: &vk::DeviceCreateInfo<'_>) -> Vec<*const c_char> {
    let count = create.enabled_extension_count as usize;
    // SAFETY: the caller's word.
    let name = |place| unsafe { *create.pp_enabled_extension_names.add(place) };
    (0..count).map(name).collect()
}

/// The function by which the loader gets to know the layer.
macro_rules! layer {
    ($layer:ty) => {
        /// # Safety
        /// The loader's.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "system" fn vkNegotiateLoaderLayerInterfaceVersion(
            negotiation: *mut layer_chain::Negotiation,
        ) -> ash::vk::Result {
            // SAFETY: the loader's structure.
            unsafe { layer_chain::negotiate::<$layer>(negotiation) }
        }
    };
}
pub(crate) use layer;

/// # Safety
/// The loader's structure.
pub unsafe fn negotiate<L: Layer>(negotiation: *mut Negotiation) -> vk::Result {
    // SAFETY: the caller's word.
    let negotiation = unsafe { &mut *negotiation };
    negotiation.version = 2;
    negotiation.instance_address = instance_address::<L> as *const c_void;
    negotiation.device_address = device_address::<L> as *const c_void;
    negotiation.physical_device_address = null();
    vk::Result::SUCCESS
}

/// The last device made.
pub fn device() -> *const c_void {
    DEVICE.load(Ordering::SeqCst) as *const c_void
}

#[allow(
    dead_code,
    reason = "not every layer stands before commands of the instance"
)]
/// The next layer's command of instances, one of [`Layer::COMMANDS`]; null before there was any.
pub fn next_of_instance(name: &CStr) -> *const c_void {
    let commands = COMMANDS.lock().unwrap_or_else(PoisonError::into_inner);
    commands
        .get(name)
        .map_or(null(), |command| *command as *const c_void)
}

/// The next layer's command of the last device made.
///
/// # Safety
/// There is one.
pub unsafe fn next_of_device(name: &CStr) -> *const c_void {
    // SAFETY: the caller's word; set from a function of that type.
    unsafe {
        let next: Address = transmute(DEVICE_ADDRESS.load(Ordering::SeqCst));
        next(device(), name.as_ptr())
    }
}

unsafe extern "system" fn instance_address<L: Layer>(
    instance: *const c_void,
    name: *const c_char,
) -> *const c_void {
    // SAFETY: a name by the caller's word.
    let name = unsafe { CStr::from_ptr(name) };
    match name.to_bytes() {
        b"vkGetInstanceProcAddr" => instance_address::<L> as *const c_void,
        b"vkGetDeviceProcAddr" => device_address::<L> as *const c_void,
        b"vkCreateInstance" => create_instance::<L> as *const c_void,
        b"vkCreateDevice" => create_device::<L> as *const c_void,
        _ if instance.is_null() => null(),
        other => {
            // SAFETY: an instance exists, so the function was set.
            let next = unsafe {
                let next: Address = transmute(INSTANCE_ADDRESS.load(Ordering::SeqCst));
                next(instance, name.as_ptr())
            };
            let ours = L::of_instance(other).filter(|_| !next.is_null());
            ours.unwrap_or(next)
        }
    }
}

unsafe extern "system" fn device_address<L: Layer>(
    device: *const c_void,
    name: *const c_char,
) -> *const c_void {
    // SAFETY: a name by the caller's word.
    let name = unsafe { CStr::from_ptr(name) };
    if name.to_bytes() == b"vkGetDeviceProcAddr" {
        return device_address::<L> as *const c_void;
    }
    // SAFETY: a device exists, so the function was set.
    let next = unsafe {
        let next: Address = transmute(DEVICE_ADDRESS.load(Ordering::SeqCst));
        next(device, name.as_ptr())
    };
    L::of_device(name.to_bytes(), next)
}

/// Takes the link to the next layer out of the chain.
///
/// # Safety
/// `create` begins as every structure of Vulkan does.
unsafe fn take_link(create: *const LayerInfo, structure: u32) -> Option<&'static Link> {
    // SAFETY: the loader put one there.
    unsafe {
        let mut info = (*create).next;
        while !info.is_null() {
            if (*info).structure == structure && (*info).function == 0 {
                let link = (*info).link;
                (*info).link = (*link).next;
                return Some(&*link);
            }
            info = (*info).next;
        }
    }
    None
}

unsafe extern "system" fn create_instance<L: Layer>(
    create: *const LayerInfo,
    allocator: Allocator,
    instance: *mut *const c_void,
) -> vk::Result {
    // SAFETY: the loader calls this with its own structures.
    unsafe {
        let Some(link) = take_link(create, LOADER_INSTANCE) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        INSTANCE_ADDRESS.store(link.instance_address as usize, Ordering::SeqCst);
        let next = (link.instance_address)(null(), c"vkCreateInstance".as_ptr());
        let next: unsafe extern "system" fn(
            *const LayerInfo,
            Allocator,
            *mut *const c_void,
        ) -> vk::Result = transmute(next);
        let result = next(create, allocator, instance);
        if result == vk::Result::SUCCESS {
            INSTANCE.store(*instance as usize, Ordering::SeqCst);
            // Loaders may answer with the first layer's commands once the instance is theirs.
            let mut commands = COMMANDS.lock().unwrap_or_else(PoisonError::into_inner);
            for name in L::COMMANDS {
                commands.insert(
                    name,
                    (link.instance_address)(*instance, name.as_ptr()) as usize,
                );
            }
        }
        result
    }
}

unsafe extern "system" fn create_device<L: Layer>(
    physical: vk::PhysicalDevice,
    create: *const LayerInfo,
    allocator: Allocator,
    device: *mut *const c_void,
) -> vk::Result {
    // SAFETY: the loader calls this with its own structures.
    unsafe {
        let Some(link) = take_link(create, LOADER_DEVICE) else {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        };
        let mut below = *create.cast::<vk::DeviceCreateInfo<'_>>();
        let names = match L::extensions_below(physical, &below) {
            Ok(names) => names,
            Err(refusal) => return refusal,
        };
        below.enabled_extension_count = names.len() as u32;
        below.pp_enabled_extension_names = names.as_ptr();
        DEVICE_ADDRESS.store(link.device_address as usize, Ordering::SeqCst);
        let instance = INSTANCE.load(Ordering::SeqCst) as *const c_void;
        let next = (link.instance_address)(instance, c"vkCreateDevice".as_ptr());
        if next.is_null() {
            return vk::Result::ERROR_INITIALIZATION_FAILED;
        }
        let next: unsafe extern "system" fn(
            vk::PhysicalDevice,
            *const vk::DeviceCreateInfo<'_>,
            Allocator,
            *mut *const c_void,
        ) -> vk::Result = transmute(next);
        let result = next(physical, &below, allocator, device);
        if result == vk::Result::SUCCESS {
            DEVICE.store(*device as usize, Ordering::SeqCst);
            L::has_device();
        }
        result
    }
}
