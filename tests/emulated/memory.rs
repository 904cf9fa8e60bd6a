//! The heaps and types of memory that the layer shows, and those of the device below that stand for them.

use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::transmute;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use ash::vk;

use crate::layer_chain::{Allocator, next_of_device, next_of_instance};
use crate::{next, shown, structures};

/// Where the types shown lie on the device below, and which type each allocation has.
#[derive(Default)]
struct Memory {
    /// The type below of each that is shown.
    below: Vec<u32>,
    /// The types shown of allocations.
    types: HashMap<vk::DeviceMemory, u32>,
}

fn memory() -> MutexGuard<'static, Memory> {
    static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device of `physical` is about to be made.
///
/// # Safety
/// A physical device.
pub unsafe fn begin(physical: vk::PhysicalDevice) {
    let mut here = vk::PhysicalDeviceMemoryProperties::default();
    // SAFETY: the caller's word.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceMemoryProperties =
            next!(c"vkGetPhysicalDeviceMemoryProperties");
        next(physical, &mut here);
    }
    let there = shown().memory;
    let closest = |kind: &vk::MemoryType| {
        let shared = |it: &vk::MemoryType| (it.property_flags & kind.property_flags).as_raw();
        let types = here.memory_types_as_slice().iter().enumerate();
        let best = types.max_by_key(|(_, it)| shared(it).count_ones());
        best.map_or(0, |(place, _)| place as u32)
    };
    memory().below = there.memory_types_as_slice().iter().map(closest).collect();
}

/// The types shown of which a set of types below tells that they may be taken.
fn types_shown(below: u32) -> u32 {
    let special = vk::MemoryPropertyFlags::LAZILY_ALLOCATED | vk::MemoryPropertyFlags::PROTECTED;
    let there = shown().memory;
    let memory = memory();
    let may = |place: &usize| {
        !there.memory_types[*place]
            .property_flags
            .intersects(special)
            && below & (1 << memory.below[*place]) != 0
    };
    (0..memory.below.len())
        .filter(may)
        .fold(0, |all, place| all | 1 << place)
}

pub fn of_instance(name: &[u8]) -> Option<*const c_void> {
    match name {
        b"vkGetPhysicalDeviceMemoryProperties" => Some(properties as *const c_void),
        b"vkGetPhysicalDeviceMemoryProperties2" | b"vkGetPhysicalDeviceMemoryProperties2KHR" => {
            Some(properties2 as *const c_void)
        }
        _ => None,
    }
}

pub fn of_device(name: &[u8]) -> Option<*const c_void> {
    let function = match name {
        b"vkAllocateMemory" => allocate as *const c_void,
        b"vkMapMemory" => map as *const c_void,
        b"vkMapMemory2KHR" | b"vkMapMemory2" => map2 as *const c_void,
        b"vkGetBufferMemoryRequirements" => of_buffer as *const c_void,
        b"vkGetBufferMemoryRequirements2" | b"vkGetBufferMemoryRequirements2KHR" => {
            of_buffer2 as *const c_void
        }
        b"vkGetImageMemoryRequirements" => of_image as *const c_void,
        b"vkGetImageMemoryRequirements2" | b"vkGetImageMemoryRequirements2KHR" => {
            of_image2 as *const c_void
        }
        b"vkGetMemoryHostPointerPropertiesEXT" => of_host_pointer as *const c_void,
        b"vkGetMemoryFdPropertiesKHR" => of_fd as *const c_void,
        _ => return None,
    };
    Some(function)
}

/// Heaps are no larger than those below.
fn show(found: &mut vk::PhysicalDeviceMemoryProperties) {
    let most = found
        .memory_heaps_as_slice()
        .iter()
        .map(|heap| heap.size)
        .max();
    *found = shown().memory;
    for heap in &mut found.memory_heaps {
        heap.size = heap.size.min(most.unwrap_or(0));
    }
}

unsafe extern "system" fn properties(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceMemoryProperties,
) {
    // SAFETY: the caller's word, and that of the next layer for its command. The same below.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceMemoryProperties =
            next!(c"vkGetPhysicalDeviceMemoryProperties");
        next(physical, found);
        show(&mut *found);
    }
}

unsafe extern "system" fn properties2(
    physical: vk::PhysicalDevice,
    found: *mut vk::PhysicalDeviceMemoryProperties2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetPhysicalDeviceMemoryProperties2 =
            next!(c"vkGetPhysicalDeviceMemoryProperties2");
        next(physical, found);
        show(&mut (*found).memory_properties);
        let heaps = (*found).memory_properties;
        structures::each((*found).p_next.cast(), |it| {
            if (*it).s_type == vk::StructureType::PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT {
                let budget = &mut *it.cast::<vk::PhysicalDeviceMemoryBudgetPropertiesEXT<'_>>();
                for (place, heap) in heaps.memory_heaps_as_slice().iter().enumerate() {
                    budget.heap_budget[place] = heap.size.min(budget.heap_budget[0]);
                    budget.heap_usage[place] = budget.heap_usage[0];
                }
            }
        });
    }
}

/// The next layer's command of a device.
macro_rules! next_for_device {
    ($name:literal) => {
        transmute(next_of_device($name))
    };
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
        let kind = (*allocate).memory_type_index;
        let below = memory().below.get(kind as usize).copied().unwrap_or(0);
        let allocate = vk::MemoryAllocateInfo {
            memory_type_index: below,
            ..*allocate
        };
        let result = next(device, &allocate, allocator.cast(), made);
        if result == vk::Result::SUCCESS {
            memory().types.insert(*made, kind);
        }
        result
    }
}

/// Whether the host may see an allocation.
fn is_visible(of: vk::DeviceMemory) -> bool {
    let kind = memory().types.get(&of).copied().unwrap_or(0) as usize;
    let flags = shown().memory.memory_types[kind].property_flags;
    let is_visible = flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE);
    if !is_visible {
        eprintln!(
            "{}: VUID-emulated: memory of type {kind} is mapped",
            shown().name
        );
    }
    is_visible
}

unsafe extern "system" fn map(
    device: vk::Device,
    of: vk::DeviceMemory,
    offset: u64,
    size: u64,
    flags: vk::MemoryMapFlags,
    data: *mut *mut c_void,
) -> vk::Result {
    if !is_visible(of) {
        return vk::Result::ERROR_MEMORY_MAP_FAILED;
    }
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkMapMemory = next_for_device!(c"vkMapMemory");
        next(device, of, offset, size, flags, data)
    }
}

unsafe extern "system" fn map2(
    device: vk::Device,
    map: *const vk::MemoryMapInfoKHR<'_>,
    data: *mut *mut c_void,
) -> vk::Result {
    // SAFETY: as above.
    unsafe {
        if !is_visible((*map).memory) {
            return vk::Result::ERROR_MEMORY_MAP_FAILED;
        }
        let next: vk::PFN_vkMapMemory2KHR = next_for_device!(c"vkMapMemory2KHR");
        next(device, map, data)
    }
}

unsafe extern "system" fn of_buffer(
    device: vk::Device,
    buffer: vk::Buffer,
    found: *mut vk::MemoryRequirements,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetBufferMemoryRequirements =
            next_for_device!(c"vkGetBufferMemoryRequirements");
        next(device, buffer, found);
        (*found).memory_type_bits = types_shown((*found).memory_type_bits);
    }
}

unsafe extern "system" fn of_buffer2(
    device: vk::Device,
    of: *const vk::BufferMemoryRequirementsInfo2<'_>,
    found: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetBufferMemoryRequirements2 =
            next_for_device!(c"vkGetBufferMemoryRequirements2");
        next(device, of, found);
        let found = &mut (*found).memory_requirements;
        found.memory_type_bits = types_shown(found.memory_type_bits);
    }
}

unsafe extern "system" fn of_image(
    device: vk::Device,
    image: vk::Image,
    found: *mut vk::MemoryRequirements,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetImageMemoryRequirements =
            next_for_device!(c"vkGetImageMemoryRequirements");
        next(device, image, found);
        (*found).memory_type_bits = types_shown((*found).memory_type_bits);
    }
}

unsafe extern "system" fn of_image2(
    device: vk::Device,
    of: *const vk::ImageMemoryRequirementsInfo2<'_>,
    found: *mut vk::MemoryRequirements2<'_>,
) {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetImageMemoryRequirements2 =
            next_for_device!(c"vkGetImageMemoryRequirements2");
        next(device, of, found);
        let found = &mut (*found).memory_requirements;
        found.memory_type_bits = types_shown(found.memory_type_bits);
    }
}

unsafe extern "system" fn of_host_pointer(
    device: vk::Device,
    kind: vk::ExternalMemoryHandleTypeFlags,
    pointer: *const c_void,
    found: *mut vk::MemoryHostPointerPropertiesEXT<'_>,
) -> vk::Result {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetMemoryHostPointerPropertiesEXT =
            next_for_device!(c"vkGetMemoryHostPointerPropertiesEXT");
        let result = next(device, kind, pointer, found);
        // The host sees what is its own.
        let visible = (0..32).filter(|place| {
            let flags = shown().memory.memory_types[*place].property_flags;
            flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)
        });
        let visible = visible.fold(0, |all, place| all | 1 << place);
        (*found).memory_type_bits = types_shown((*found).memory_type_bits) & visible;
        result
    }
}

unsafe extern "system" fn of_fd(
    device: vk::Device,
    kind: vk::ExternalMemoryHandleTypeFlags,
    fd: i32,
    found: *mut vk::MemoryFdPropertiesKHR<'_>,
) -> vk::Result {
    // SAFETY: as above.
    unsafe {
        let next: vk::PFN_vkGetMemoryFdPropertiesKHR =
            next_for_device!(c"vkGetMemoryFdPropertiesKHR");
        let result = next(device, kind, fd, found);
        (*found).memory_type_bits = types_shown((*found).memory_type_bits);
        result
    }
}
