//! Command buffers (section 5.17, cl_khr_command_buffer).
//!
//! - this file: their life, execution and queries.
//! - [`arguments`]: what all recording functions share.
//! - [`buffer`], [`image`], [`kernel`], [`svm`]: recording, by what the command works on.
//! - [`mutable`]: updating recorded launches.
//! - [`remap`]: copies for other queues.

pub mod arguments;
pub mod buffer;
pub mod image;
pub mod kernel;
pub mod mutable;
pub mod remap;
pub mod svm;

pub use arguments::SyncPointArguments;

use super::error::{Error, Result};
use super::out::{EventArguments, Info, Written};
use super::{enqueue, handle};
use crate::runtime::command_buffer::CommandBuffer;
use crate::runtime::device::Device;
use crate::runtime::event::waits::Waits;
use crate::runtime::object::registry::Object;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR,
    CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR,
    CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR, CL_COMMAND_BUFFER_CONTEXT_KHR,
    CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR, CL_COMMAND_BUFFER_FLAGS_KHR,
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_NUM_QUEUES_KHR,
    CL_COMMAND_BUFFER_PLATFORM_AUTOMATIC_REMAP_KHR, CL_COMMAND_BUFFER_PLATFORM_REMAP_QUEUES_KHR,
    CL_COMMAND_BUFFER_PLATFORM_UNIVERSAL_SYNC_KHR, CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR,
    CL_COMMAND_BUFFER_QUEUES_KHR, CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR,
    CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, CL_COMMAND_BUFFER_STATE_KHR,
    CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, CL_INVALID_CONTEXT, CL_INVALID_DEVICE, CL_INVALID_PROPERTY,
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR,
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, cl_command_buffer_flags_khr,
    cl_command_buffer_info_khr, cl_command_buffer_khr, cl_command_buffer_properties_khr,
    cl_command_queue, cl_command_queue_properties, cl_device_command_buffer_capabilities_khr,
    cl_mutable_dispatch_asserts_khr, cl_platform_command_buffer_capabilities_khr, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR`
pub const SUPPORTED_QUEUE_PROPERTIES: cl_command_queue_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;

/// `CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR`
pub const REQUIRED_QUEUE_PROPERTIES: cl_command_queue_properties = 0;

/// Flags that have a meaning, and those that every device supports.
const KNOWN_FLAGS: cl_command_buffer_flags_khr = CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR
    | CL_COMMAND_BUFFER_MUTABLE_KHR
    | CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR;
const SUPPORTED_FLAGS: cl_command_buffer_flags_khr = KNOWN_FLAGS;

/// `CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR` as the headers have it; `opencl_sys` 0.6.5 has a slip, 0x1287.
const MUTABLE_DISPATCH_ASSERTS: cl_command_buffer_properties_khr = 0x12B7;

/// `CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR`
pub const PLATFORM_CAPABILITIES: cl_platform_command_buffer_capabilities_khr =
    CL_COMMAND_BUFFER_PLATFORM_UNIVERSAL_SYNC_KHR
        | CL_COMMAND_BUFFER_PLATFORM_REMAP_QUEUES_KHR
        | CL_COMMAND_BUFFER_PLATFORM_AUTOMATIC_REMAP_KHR;

/// What may be asserted of launches.
const ASSERTS: cl_mutable_dispatch_asserts_khr =
    CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR;

/// `CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR`
pub fn capabilities(_device: &Device) -> cl_device_command_buffer_capabilities_khr {
    CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR
        | CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
        | CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR
}

/// Whether the command buffer was created with `CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR`.
fn asserts(buffer: &CommandBuffer) -> bool {
    let properties = buffer.properties().unwrap_or_default();
    properties
        .chunks_exact(2)
        .any(|pair| pair[0] == MUTABLE_DISPATCH_ASSERTS && pair[1] & ASSERTS != 0)
}

/// `clCreateCommandBufferKHR`
///
/// # Safety
/// `queues` is NULL or holds `num_queues` handles; `properties` is NULL or ends with 0.
pub unsafe fn create_command_buffer(
    num_queues: cl_uint,
    queues: *const cl_command_queue,
    properties: *const cl_command_buffer_properties_khr,
) -> Result<cl_command_buffer_khr> {
    // "CL_INVALID_VALUE if the cl_khr_command_buffer_multi_device extension is supported and num_queues is zero"
    // "CL_INVALID_VALUE if queues is NULL." Both come first because the others read the list.
    if num_queues == 0 || queues.is_null() {
        return Err(Error::invalid_value(format!(
            "num_queues is {num_queues}, or queues is NULL"
        )));
    }
    // "CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue."
    // SAFETY: the caller's promise.
    let queues = unsafe { handle::get_list::<Queue>(num_queues, queues, "queues") }?;
    // "CL_INVALID_CONTEXT if all the command-queues in queues do not have the same OpenCL context."
    if queues
        .iter()
        .any(|queue| !Arc::ptr_eq(queue.context(), queues[0].context()))
    {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "the queues belong to different contexts",
        ));
    }
    // SAFETY: the caller's promise.
    let pairs = unsafe { handle::properties(properties) };
    check_properties(&pairs)?;
    let flags = pairs
        .iter()
        .find(|(name, _)| *name == CL_COMMAND_BUFFER_FLAGS_KHR)
        .map_or(0, |(_, flags)| *flags);
    check_synchronization(&queues, flags)?;
    let properties = (!properties.is_null()).then(|| flatten(&pairs));
    Ok(handle::create(CommandBuffer::new(
        queues, properties, flags,
    )))
}

/// "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if the CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR flag is set, and any device
/// associated with a command-queue in queues does not have the other devices associated with queues enumerated in
/// CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR": a device has itself there. Without the flag the host synchronizes them.
fn check_synchronization(queues: &[Arc<Queue>], flags: cl_command_buffer_flags_khr) -> Result<()> {
    let only_devices = flags & CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR != 0;
    if !queues
        .iter()
        .all(|queue| Arc::ptr_eq(queue.device(), queues[0].device()))
        && only_devices
    {
        Err(Error::new(
            CL_INCOMPATIBLE_COMMAND_QUEUE_KHR,
            "the queues belong to different devices, which don't synchronize by themselves",
        ))
    } else {
        Ok(())
    }
}

fn check_properties(
    pairs: &[(
        cl_command_buffer_properties_khr,
        cl_command_buffer_properties_khr,
    )],
) -> Result<()> {
    for (index, &(name, value)) in pairs.iter().enumerate() {
        // "CL_INVALID_VALUE if values specified in properties are not valid, or if the same property name is
        // specified more than once."
        let known = match name {
            CL_COMMAND_BUFFER_FLAGS_KHR => KNOWN_FLAGS,
            MUTABLE_DISPATCH_ASSERTS => ASSERTS,
            _ => {
                return Err(Error::invalid_value(format!(
                    "property {name:#x} is unknown"
                )));
            }
        };
        if pairs[..index].iter().any(|(other, _)| *other == name) {
            return Err(Error::invalid_value(format!(
                "property {name:#x} is given twice"
            )));
        }
        if value & !known != 0 {
            return Err(Error::invalid_value(format!(
                "property {name:#x}: {value:#x} holds unknown bits"
            )));
        }
    }
    for &(name, value) in pairs {
        // "CL_INVALID_PROPERTY if values specified in properties are valid but are not supported by all the
        // devices associated with command-queues in queues."
        if name == CL_COMMAND_BUFFER_FLAGS_KHR && value & !SUPPORTED_FLAGS != 0 {
            return Err(Error::new(
                CL_INVALID_PROPERTY,
                format!("CL_COMMAND_BUFFER_FLAGS_KHR {value:#x} is not supported by a device"),
            ));
        }
    }
    Ok(())
}

/// The list as the application gave it, with its final 0.
fn flatten<T: Copy + Default>(pairs: &[(T, T)]) -> Vec<T> {
    let mut list: Vec<T> = pairs
        .iter()
        .flat_map(|&(name, value)| [name, value])
        .collect();
    list.push(T::default());
    list
}

/// "CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer."
fn get(command_buffer: cl_command_buffer_khr) -> Result<Arc<CommandBuffer>> {
    handle::get(command_buffer)
}

/// `clRetainCommandBufferKHR`
pub fn retain_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::retain::<CommandBuffer>(command_buffer)
}

/// `clReleaseCommandBufferKHR`
pub fn release_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    handle::release::<CommandBuffer>(command_buffer)
}

/// `clFinalizeCommandBufferKHR`
pub fn finalize_command_buffer(command_buffer: cl_command_buffer_khr) -> Result<()> {
    get(command_buffer)?.finalize()
}

/// `clEnqueueCommandBufferKHR`
///
/// # Safety
/// `queues` is NULL or holds `num_queues` handles.
pub unsafe fn enqueue_command_buffer(
    num_queues: cl_uint,
    queues: *mut cl_command_queue,
    command_buffer: cl_command_buffer_khr,
    events: EventArguments,
) -> Result<()> {
    let buffer = handle::borrow::<CommandBuffer>(command_buffer)?;
    let takes_arguments = num_queues > 0 || !queues.is_null() || events.has_list();
    if takes_arguments {
        // "CL_INVALID_OPERATION if command_buffer is not in the Executable state." Without arguments that could be wrong,
        // `enqueue` looks first.
        buffer.check_executable()?;
    }
    // "CL_INVALID_VALUE if queues is NULL and num_queues is > 0, or queues is not NULL and num_queues is 0."
    // SAFETY: the caller's promise.
    let handles = unsafe { handle::slice(queues.cast_const(), num_queues as usize, "queues") }?;
    // "CL_INVALID_VALUE if num_queues is > 0 and not the same value as num_queues set on command_buffer
    // creation."
    if num_queues > 0 && handles.len() != buffer.queues().len() {
        return Err(Error::invalid_value(format!(
            "num_queues is {num_queues}, the command buffer was created with {}",
            buffer.queues().len()
        )));
    }
    // "CL_INVALID_COMMAND_QUEUE if any element of queues is not a valid command-queue."
    let queues = match handles {
        [] => Vec::new(),
        handles => handles
            .iter()
            .map(|&queue| handle::get::<Queue>(queue))
            .collect::<Result<Vec<_>>>()?,
    };
    check_substitutes(&queues, &buffer)?;
    // "CL_INVALID_CONTEXT if context associated with command_buffer and events in event_wait_list are not the
    // same.", "CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, …"
    let mut waits = Waits::default();
    enqueue::add_wait_list(&buffer.queues()[0], &events, &mut waits.events)?;
    let wants_event = events.wants_event();
    events.give_if(buffer.enqueue(&queues, &mut waits, wants_event)?);
    Ok(())
}

fn check_substitutes(queues: &[Arc<Queue>], buffer: &CommandBuffer) -> Result<()> {
    for queue in queues {
        // "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if the properties of any command-queue in queues contains a property
        // not specified by CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR.", "… does not contain the
        // minimum properties specified by CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR": there are none.
        let flags = queue.flags();
        if flags & !SUPPORTED_QUEUE_PROPERTIES != 0 {
            return Err(Error::new(
                CL_INCOMPATIBLE_COMMAND_QUEUE_KHR,
                format!("a queue has properties {flags:#x}"),
            ));
        }
    }
    let pairs = || queues.iter().zip(buffer.queues());
    // "CL_INVALID_DEVICE if any element of queues does not have the same device as the command-queue set on
    // command_buffer creation at the same list index."
    if pairs().any(|(queue, own)| !Arc::ptr_eq(queue.device(), own.device())) {
        return Err(Error::new(
            CL_INVALID_DEVICE,
            "a queue belongs to another device than the one it replaces",
        ));
    }
    // "CL_INVALID_CONTEXT if any element of queues does not have the same context as the command-queue set on
    // command_buffer creation at the same list index."
    if pairs().any(|(queue, own)| !Arc::ptr_eq(queue.context(), own.context())) {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "a queue belongs to another context than the one it replaces",
        ));
    }
    Ok(())
}

/// `clGetCommandBufferInfoKHR`
pub fn get_command_buffer_info(
    command_buffer: cl_command_buffer_khr,
    param_name: cl_command_buffer_info_khr,
    info: Info,
) -> Result<Written> {
    let buffer = get(command_buffer)?;
    match param_name {
        CL_COMMAND_BUFFER_NUM_QUEUES_KHR => info.value(buffer.queues().len() as cl_uint),
        CL_COMMAND_BUFFER_QUEUES_KHR => {
            let queues: Vec<*mut c_void> = buffer
                .queues()
                .iter()
                .map(|queue| handle::existing(&**queue))
                .collect();
            info.slice(&queues)
        }
        CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR => info.value(buffer.handle().references()),
        CL_COMMAND_BUFFER_STATE_KHR => info.value(buffer.state()),
        CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR => {
            info.slice(buffer.properties().unwrap_or_default())
        }
        CL_COMMAND_BUFFER_CONTEXT_KHR => info.handle(&**buffer.context()),
        _ => Err(Error::unknown_query(param_name)),
    }
}
