//! Contexts.

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{device, handle, platform};
use crate::runtime::context::Context;
use crate::runtime::device::Device;
use crate::runtime::object::callback::{ContextDestructor, ContextNotify, UserData};
use crate::runtime::object::registry::Object;
use opencl_sys::{
    CL_CONTEXT_DEVICES, CL_CONTEXT_INTEROP_USER_SYNC, CL_CONTEXT_NUM_DEVICES, CL_CONTEXT_PLATFORM,
    CL_CONTEXT_PROPERTIES, CL_CONTEXT_REFERENCE_COUNT, CL_FALSE, CL_INVALID_PROPERTY, CL_TRUE,
    cl_context, cl_context_info, cl_context_properties, cl_device_id, cl_device_type,
    cl_platform_id, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// The context behind a handle: "CL_INVALID_CONTEXT if context is not a valid context."
pub fn get(context: cl_context) -> Result<Arc<Context>> {
    handle::get(context)
}

/// `clCreateContext` (section 4.4)
///
/// # Safety
/// `properties` is NULL or ends with 0; `devices` points to `num_devices` handles.
pub unsafe fn create_context(
    properties: *const cl_context_properties,
    num_devices: cl_uint,
    devices: *const cl_device_id,
    pfn_notify: ContextNotify,
    user_data: *mut c_void,
) -> Result<cl_context> {
    // SAFETY: the caller's promise.
    let properties = unsafe { Properties::parse(properties) }?;
    // "CL_INVALID_VALUE if devices is NULL", "if num_devices is equal to zero"
    if devices.is_null() || num_devices == 0 {
        return Err(Error::invalid_value("devices is NULL or num_devices is 0"));
    }
    check_notify(pfn_notify, user_data)?;
    // "CL_INVALID_DEVICE if any device in devices is not a valid device."
    // SAFETY: the caller's promise.
    let devices = unsafe { handle::get_list::<Device>(num_devices, devices, "devices") }?;
    create(devices, properties, pfn_notify, user_data)
}

/// `clCreateContextFromType` (section 4.4)
///
/// # Safety
/// `properties` is NULL or ends with 0.
pub unsafe fn create_context_from_type(
    properties: *const cl_context_properties,
    device_type: cl_device_type,
    pfn_notify: ContextNotify,
    user_data: *mut c_void,
) -> Result<cl_context> {
    // SAFETY: the caller's promise.
    let properties = unsafe { Properties::parse(properties) }?;
    check_notify(pfn_notify, user_data)?;
    // "CL_INVALID_DEVICE_TYPE if device_type is not a valid value."
    device::check_device_type(device_type)?;
    // "CL_DEVICE_NOT_FOUND if no devices that match device_type and property values specified in
    // properties were found."
    let platform = platform::get_or_default(properties.platform)?;
    let devices = device::devices_of_type(&platform, device_type)?;
    create(devices, properties, pfn_notify, user_data)
}

fn create(
    devices: Vec<Arc<Device>>,
    properties: Properties,
    notify: ContextNotify,
    user_data: *mut c_void,
) -> Result<cl_context> {
    // "Duplicate devices specified in devices are ignored."
    let mut once: Vec<Arc<Device>> = Vec::with_capacity(devices.len());
    for device in devices {
        if !once.iter().any(|other| Arc::ptr_eq(other, &device)) {
            once.push(device);
        }
    }
    // "CL_DEVICE_NOT_AVAILABLE if a device in devices is currently not available."
    for device in &once {
        device.vulkan()?;
    }
    let context = Context::new(once, properties.list, notify, UserData(user_data));
    Ok(handle::create(context))
}

fn check_notify(notify: ContextNotify, user_data: *mut c_void) -> Result<()> {
    // "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL."
    if notify.is_none() && !user_data.is_null() {
        return Err(Error::invalid_value(
            "pfn_notify is NULL, user_data is not NULL",
        ));
    }
    Ok(())
}

/// Checked properties.
struct Properties {
    /// The properties as given, with the final 0; empty for NULL.
    list: Vec<cl_context_properties>,
    /// NULL where none is given.
    platform: cl_platform_id,
}

impl Properties {
    /// # Safety
    /// `properties` is NULL or ends with 0.
    unsafe fn parse(properties: *const cl_context_properties) -> Result<Self> {
        // SAFETY: the caller's promise.
        let pairs = unsafe { handle::properties(properties) };
        let mut parsed = Self {
            list: pairs
                .iter()
                .flat_map(|&(name, value)| [name, value])
                .collect(),
            platform: std::ptr::null_mut(),
        };
        if !properties.is_null() {
            parsed.list.push(0);
        }
        let invalid = |reason: String| Err(Error::new(CL_INVALID_PROPERTY, reason));
        for (index, &(name, value)) in pairs.iter().enumerate() {
            // "CL_INVALID_PROPERTY if context property name in properties is not a supported property
            // name, or if the value specified for a supported property name is not valid, or if the same
            // property name is specified more than once."
            if pairs[..index].iter().any(|&(other, _)| other == name) {
                return invalid(format!("property {name:#x} is given twice"));
            }
            match name {
                CL_CONTEXT_PLATFORM => {
                    parsed.platform = std::ptr::with_exposed_provenance_mut(value.cast_unsigned());
                    // "CL_INVALID_PLATFORM if properties is NULL and no platform could be selected or if
                    // platform value specified in properties is not a valid platform."
                    platform::get(parsed.platform)?;
                }
                CL_CONTEXT_INTEROP_USER_SYNC => {
                    if value != CL_TRUE as isize && value != CL_FALSE as isize {
                        return invalid(format!("CL_CONTEXT_INTEROP_USER_SYNC is {value}"));
                    }
                }
                _ => return invalid(format!("property {name:#x} is not known")),
            }
        }
        Ok(parsed)
    }
}

/// `clRetainContext` (section 4.4)
pub fn retain_context(context: cl_context) -> Result<()> {
    handle::retain::<Context>(context)
}

/// `clReleaseContext` (section 4.4)
pub fn release_context(context: cl_context) -> Result<()> {
    handle::release::<Context>(context)
}

/// `clGetContextInfo` (section 4.4)
pub fn get_context_info(
    context: cl_context,
    param_name: cl_context_info,
    info: Info,
) -> Result<Written> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = get(context)?;
    match param_name {
        CL_CONTEXT_REFERENCE_COUNT => info.value::<cl_uint>(context.handle().references()),
        CL_CONTEXT_NUM_DEVICES => info.value(context.devices().len() as cl_uint),
        CL_CONTEXT_DEVICES => {
            let devices = context.devices().iter();
            let handles: Vec<cl_device_id> =
                devices.map(|device| handle::existing(&**device)).collect();
            info.slice(&handles)
        }
        CL_CONTEXT_PROPERTIES => info.slice(context.properties()),
        // "CL_INVALID_VALUE if param_name is not one of the supported values"
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// `clSetContextDestructorCallback` (section 4.4)
pub fn set_context_destructor_callback(
    context: cl_context,
    pfn_notify: ContextDestructor,
    user_data: *mut c_void,
) -> Result<()> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = get(context)?;
    // "CL_INVALID_VALUE if pfn_notify is NULL."
    if pfn_notify.is_none() {
        return Err(Error::invalid_value("pfn_notify is NULL"));
    }
    context.on_destruction(pfn_notify, UserData(user_data));
    Ok(())
}
