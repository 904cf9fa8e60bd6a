//! Command queues (section 5.1).

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{context, device, enqueue, handle};
use crate::runtime::context::Context;
use crate::runtime::device::Device;
use crate::runtime::object::registry::Object;
use crate::runtime::queue::Queue;
use crate::vulkan::Priority;
use opencl_sys::{
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_DEVICE, CL_INVALID_OPERATION, CL_INVALID_QUEUE_PROPERTIES,
    CL_QUEUE_CONTEXT, CL_QUEUE_DEVICE, CL_QUEUE_DEVICE_DEFAULT, CL_QUEUE_ON_DEVICE,
    CL_QUEUE_ON_DEVICE_DEFAULT, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PRIORITY_HIGH_KHR,
    CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR, CL_QUEUE_PRIORITY_MED_KHR,
    CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES_ARRAY,
    CL_QUEUE_REFERENCE_COUNT, CL_QUEUE_SIZE, cl_bool, cl_command_queue, cl_command_queue_info,
    cl_command_queue_properties, cl_context, cl_device_id, cl_queue_properties,
};
use std::sync::Arc;

const HOST_FLAGS: cl_command_queue_properties =
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
const DEVICE_FLAGS: cl_command_queue_properties = CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT;

/// `clCreateCommandQueue`
pub fn create_command_queue(
    context: cl_context,
    device: cl_device_id,
    properties: cl_command_queue_properties,
) -> Result<cl_command_queue> {
    let (context, device) = context_and_device(context, device)?;
    // "CL_INVALID_VALUE if values specified in properties are not valid."
    if properties & !HOST_FLAGS != 0 {
        return Err(Error::invalid_value(format!(
            "properties {properties:#x} holds unknown bits"
        )));
    }
    let vulkan = device.vulkan()?;
    let priority = Priority::Medium;
    let queue = Queue::new(&context, &device, vulkan, properties, priority, None)?;
    Ok(handle::create(queue))
}

/// `clCreateCommandQueueWithProperties`
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn create_command_queue_with_properties(
    context: cl_context,
    device: cl_device_id,
    properties: *const cl_queue_properties,
) -> Result<cl_command_queue> {
    let (context, device) = context_and_device(context, device)?;
    // SAFETY: the caller's promise.
    let pairs = unsafe { handle::properties(properties) };
    let mut flags = 0;
    let mut has_size = false;
    let mut priority = Priority::Medium;
    for (name, value) in &pairs {
        if *name == CL_QUEUE_PRIORITY_KHR {
            // cl_khr_priority_hints
            priority = priority_of(*value)?;
            continue;
        }
        match u32::try_from(*name) {
            Ok(CL_QUEUE_PROPERTIES) => flags = *value,
            Ok(CL_QUEUE_SIZE) => has_size = true,
            // "CL_INVALID_VALUE if values specified in properties are not valid."
            _ => {
                return Err(Error::invalid_value(format!(
                    "property {name:#x} is unknown"
                )));
            }
        }
    }
    if flags & !(HOST_FLAGS | DEVICE_FLAGS) != 0 {
        return Err(Error::invalid_value(format!(
            "CL_QUEUE_PROPERTIES {flags:#x} holds unknown bits"
        )));
    }
    // "CL_QUEUE_ON_DEVICE: … if set, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE must also be set",
    // "CL_QUEUE_SIZE … can only be specified if CL_QUEUE_ON_DEVICE is set"
    if flags & CL_QUEUE_ON_DEVICE == 0 && (has_size || flags & CL_QUEUE_ON_DEVICE_DEFAULT != 0) {
        return Err(Error::invalid_value(
            "CL_QUEUE_SIZE and CL_QUEUE_ON_DEVICE_DEFAULT need CL_QUEUE_ON_DEVICE",
        ));
    }
    // "CL_INVALID_QUEUE_PROPERTIES if values specified in properties are valid but are not supported by the
    // device."
    if flags & DEVICE_FLAGS != 0 {
        return Err(Error::new(
            CL_INVALID_QUEUE_PROPERTIES,
            "on-device queues are not supported",
        ));
    }
    let list = (!properties.is_null()).then(|| {
        let mut list: Vec<_> = pairs
            .iter()
            .flat_map(|&(name, value)| [name, value])
            .collect();
        list.push(0);
        list
    });
    let queue = Queue::new(&context, &device, device.vulkan()?, flags, priority, list)?;
    Ok(handle::create(queue))
}

/// "CL_INVALID_VALUE if values specified in properties are not valid."
fn priority_of(value: cl_queue_properties) -> Result<Priority> {
    match u32::try_from(value) {
        Ok(CL_QUEUE_PRIORITY_HIGH_KHR) => Ok(Priority::High),
        Ok(CL_QUEUE_PRIORITY_MED_KHR) => Ok(Priority::Medium),
        Ok(CL_QUEUE_PRIORITY_LOW_KHR) => Ok(Priority::Low),
        _ => Err(Error::invalid_value(format!(
            "CL_QUEUE_PRIORITY_KHR is {value:#x}"
        ))),
    }
}

/// "CL_INVALID_CONTEXT if context is not a valid context", "CL_INVALID_DEVICE if device is not a valid
/// device or is not associated with context."
fn context_and_device(
    context: cl_context,
    device: cl_device_id,
) -> Result<(Arc<Context>, Arc<Device>)> {
    let context = context::get(context)?;
    let device = device::get(device)?;
    if context.device_index(&device).is_none() {
        return Err(Error::new(
            CL_INVALID_DEVICE,
            "device is not associated with context",
        ));
    }
    Ok((context, device))
}

/// `clRetainCommandQueue`
pub fn retain_command_queue(command_queue: cl_command_queue) -> Result<()> {
    handle::retain::<Queue>(command_queue)
}

/// `clReleaseCommandQueue`: "performs an implicit flush to issue any previously queued OpenCL commands in
/// command_queue."
pub fn release_command_queue(command_queue: cl_command_queue) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    queue.flush();
    // Whoever of several threads lets go of it last.
    if handle::release_to_the_last::<Queue>(command_queue)? {
        queue.abandon();
    }
    Ok(())
}

/// `clGetCommandQueueInfo`
pub fn get_command_queue_info(
    command_queue: cl_command_queue,
    param_name: cl_command_queue_info,
    info: Info,
) -> Result<Written> {
    let queue = enqueue::queue(command_queue)?;
    match param_name {
        CL_QUEUE_CONTEXT => info.handle(&**queue.context()),
        CL_QUEUE_DEVICE => info.handle(&**queue.device()),
        CL_QUEUE_REFERENCE_COUNT => info.value(queue.handle().references()),
        CL_QUEUE_PROPERTIES => info.value(queue.flags()),
        CL_QUEUE_PROPERTIES_ARRAY => info.slice(queue.properties().unwrap_or_default()),
        // "CL_INVALID_COMMAND_QUEUE if command_queue … is not a valid command-queue for param_name."
        CL_QUEUE_SIZE => Err(Error::new(
            CL_INVALID_COMMAND_QUEUE,
            "CL_QUEUE_SIZE is a query of on-device queues",
        )),
        CL_QUEUE_DEVICE_DEFAULT => info.handle_or_null::<Queue>(None),
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// `clSetCommandQueueProperty`: part of OpenCL 1.0 only, which no device here is.
pub fn set_command_queue_property(
    command_queue: cl_command_queue,
    _properties: cl_command_queue_properties,
    _enable: cl_bool,
    _old_properties: *mut cl_command_queue_properties,
) -> Result<()> {
    enqueue::queue(command_queue)?;
    Err(Error::new(
        CL_INVALID_OPERATION,
        "the device is not an OpenCL 1.0 device",
    ))
}

/// `clFlush`
pub fn flush(command_queue: cl_command_queue) -> Result<()> {
    enqueue::queue(command_queue)?.flush();
    Ok(())
}

/// `clFinish`
pub fn finish(command_queue: cl_command_queue) -> Result<()> {
    enqueue::queue(command_queue)?.finish()
}

/// `clSetDefaultDeviceCommandQueue`
pub fn set_default_device_command_queue(
    context: cl_context,
    device: cl_device_id,
    _command_queue: cl_command_queue,
) -> Result<()> {
    context_and_device(context, device)?;
    // "CL_INVALID_OPERATION if device does not support a replaceable default on-device queue."
    Err(Error::invalid_operation(
        "the device has no on-device queues",
    ))
}
