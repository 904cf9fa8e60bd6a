//! Semaphores (cl_khr_semaphore, cl_khr_external_semaphore and its kinds).

use super::error::{Error, Result};
use super::external_handles::{semaphore_exports, semaphore_imports};
use super::out::{EventArguments, Info, Out, Written};
use super::{context, device, enqueue, handle};
use crate::runtime::device::Device;
use crate::runtime::object::registry::Object;
use crate::runtime::queue::Queue;
use crate::runtime::semaphore::{self, Semaphore, Sharing};
use crate::vulkan::SemaphoreFd;
use opencl_sys::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT,
    CL_INVALID_DEVICE, CL_INVALID_PROPERTY, CL_INVALID_SEMAPHORE_KHR, CL_SEMAPHORE_CONTEXT_KHR,
    CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_SEMAPHORE_EXPORTABLE_KHR, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
    CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, CL_SEMAPHORE_PAYLOAD_KHR, CL_SEMAPHORE_PROPERTIES_KHR,
    CL_SEMAPHORE_REFERENCE_COUNT_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR,
    cl_command_queue, cl_context, cl_device_id, cl_external_semaphore_handle_type_khr, cl_int,
    cl_semaphore_info_khr, cl_semaphore_khr, cl_semaphore_payload_khr, cl_semaphore_properties_khr,
    cl_semaphore_reimport_properties_khr, cl_uint, cl_ulong,
};
use std::ffi::c_void;
use std::os::fd::IntoRawFd;
use std::sync::Arc;

/// What a list of properties asks for.
#[derive(Default)]
struct Wanted {
    has_type: bool,
    devices: Option<Vec<Arc<Device>>>,
    exports: Option<Vec<SemaphoreFd>>,
    import: Option<(SemaphoreFd, cl_int)>,
    all: Vec<cl_ulong>,
}

/// `clCreateSemaphoreWithPropertiesKHR`
///
/// # Safety
/// `sema_props` is NULL or ends with 0, and so do the lists within.
pub unsafe fn create_semaphore_with_properties(
    context: cl_context,
    sema_props: *const cl_semaphore_properties_khr,
) -> Result<cl_semaphore_khr> {
    let context = context::get(context)?;
    // "CL_INVALID_VALUE if sema_props is NULL, or if sema_props do not specify … the property
    // CL_SEMAPHORE_TYPE_KHR".
    if sema_props.is_null() {
        return Err(Error::invalid_value("sema_props is NULL"));
    }
    // SAFETY: the caller's promise.
    let wanted = unsafe { read_properties(sema_props) }?;
    if !wanted.has_type {
        return Err(Error::invalid_value("CL_SEMAPHORE_TYPE_KHR is missing"));
    }
    // "CL_INVALID_DEVICE if CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is specified as part of sema_props, but it does
    // not identify exactly one valid device; or if a device identified by CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR
    // is not one of the devices within context."
    let listed = wanted.devices.is_some();
    let devices = match wanted.devices {
        Some(devices) => {
            if devices.len() != 1 || devices.iter().any(|it| context.device_index(it).is_none()) {
                return Err(Error::new(
                    CL_INVALID_DEVICE,
                    "CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is not one device of the context",
                ));
            }
            devices
        }
        None => {
            // "CL_INVALID_PROPERTY … if CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is not specified … and context is a
            // multi-device context."
            if context.devices().len() != 1 {
                return Err(Error::new(
                    CL_INVALID_PROPERTY,
                    "the context has several devices: CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR is needed",
                ));
            }
            context.devices().to_vec()
        }
    };
    let sharing = sharing(&devices, listed, wanted.exports, wanted.import)?;
    let semaphore = Semaphore::new(&context, devices, wanted.all, sharing)?;
    Ok(handle::create(semaphore))
}

/// # Safety
/// `list` is not NULL and ends with 0, and so do the lists within.
unsafe fn read_properties(list: *const cl_semaphore_properties_khr) -> Result<Wanted> {
    let invalid = |reason: String| Err(Error::new(CL_INVALID_PROPERTY, reason));
    let mut wanted = Wanted::default();
    let mut at = list;
    let mut next = || {
        // SAFETY: the list has not ended: the callers below stop at the 0 that ends it.
        let value = unsafe { at.read() };
        // SAFETY: as above; at most one past the end.
        at = unsafe { at.add(1) };
        value
    };
    loop {
        let name = next();
        wanted.all.push(name);
        match u32::try_from(name) {
            Ok(0) => return Ok(wanted),
            Ok(CL_SEMAPHORE_TYPE_KHR) if !wanted.has_type => {
                let value = next();
                wanted.all.push(value);
                if value != CL_SEMAPHORE_TYPE_BINARY_KHR.into() {
                    return invalid(format!("a semaphore of type {value:#x}"));
                }
                wanted.has_type = true;
            }
            Ok(CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR) if wanted.devices.is_none() => {
                let mut devices = Vec::new();
                loop {
                    let value = next();
                    wanted.all.push(value);
                    if value == 0 {
                        break;
                    }
                    devices.push(device::get(value as usize as cl_device_id)?);
                }
                wanted.devices = Some(devices);
            }
            Ok(EXPORT_HANDLE_TYPES) if wanted.exports.is_none() => {
                let mut exports = Vec::new();
                loop {
                    let value = next();
                    wanted.all.push(value);
                    if value == 0 {
                        break;
                    }
                    match u32::try_from(value).ok().and_then(kind_of) {
                        Some(kind) => exports.push(kind),
                        None => return invalid(format!("a handle of type {value:#x}")),
                    }
                }
                wanted.exports = Some(exports);
            }
            Ok(other) if wanted.import.is_none() && kind_of(other).is_some() => {
                let value = next();
                wanted.all.push(value);
                wanted.import = kind_of(other).map(|kind| (kind, value as cl_int));
            }
            _ => return invalid(format!("property {name:#x} is unknown or given twice")),
        }
    }
}

const EXPORT_HANDLE_TYPES: u32 = CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR as u32;

fn kind_of(handle_type: cl_external_semaphore_handle_type_khr) -> Option<SemaphoreFd> {
    match handle_type {
        CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR => Some(SemaphoreFd::Opaque),
        CL_SEMAPHORE_HANDLE_SYNC_FD_KHR => Some(SemaphoreFd::Sync),
        _ => None,
    }
}

fn type_of(kind: SemaphoreFd) -> cl_external_semaphore_handle_type_khr {
    match kind {
        SemaphoreFd::Opaque => CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
        SemaphoreFd::Sync => CL_SEMAPHORE_HANDLE_SYNC_FD_KHR,
    }
}

/// What is to be shared, if the devices, which are `listed` or all of the context, can.
fn sharing(
    devices: &[Arc<Device>],
    listed: bool,
    exports_wanted: Option<Vec<SemaphoreFd>>,
    import: Option<(SemaphoreFd, cl_int)>,
) -> Result<Sharing> {
    let is_exported = exports_wanted.is_some();
    let exports_wanted = exports_wanted.unwrap_or_default();
    let can = |of: fn(&Device) -> Vec<cl_uint>, kind| {
        devices.iter().all(|it| of(it).contains(&type_of(kind)))
    };
    let can_import = import.is_none_or(|(kind, _)| can(semaphore_imports, kind));
    let is_fd =
        |(kind, fd): (SemaphoreFd, cl_int)| fd >= 0 || kind == SemaphoreFd::Sync && fd == -1;
    // "CL_INVALID_PROPERTY if a property name in sema_props is not a supported property name, if the value specified for a
    // supported property name is not valid".
    if !exports_wanted
        .iter()
        .all(|kind| can(semaphore_exports, *kind))
        || !can_import && !listed
        || can_import && !import.is_none_or(is_fd)
    {
        return Err(Error::new(
            CL_INVALID_PROPERTY,
            "the device does not share semaphores in this way",
        ));
    }
    // "CL_INVALID_DEVICE if one or more devices identified by properties CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR cannot import
    // the requested external semaphore handle type."
    if !can_import {
        return Err(Error::new(
            CL_INVALID_DEVICE,
            "the device does not import such a handle",
        ));
    }
    // "CL_INVALID_VALUE if more than one semaphore handle type is specified in the CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
    // list."
    if exports_wanted.len() > 1 {
        return Err(Error::invalid_value("more than one handle type"));
    }
    // "CL_INVALID_OPERATION if sema_props specifies a cl_external_semaphore_handle_type_khr followed by a handle
    // as well as CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR. Exporting a semaphore handle from a semaphore that was
    // created by importing an external semaphore handle is not permitted."
    if is_exported && import.is_some() {
        return Err(Error::invalid_operation(
            "an imported semaphore can't be exported",
        ));
    }
    Ok(Sharing {
        exports: exports_wanted,
        import,
    })
}

/// `clRetainSemaphoreKHR`
pub fn retain_semaphore(sema_object: cl_semaphore_khr) -> Result<()> {
    handle::retain::<Semaphore>(sema_object)
}

/// `clReleaseSemaphoreKHR`
pub fn release_semaphore(sema_object: cl_semaphore_khr) -> Result<()> {
    handle::release::<Semaphore>(sema_object)
}

/// `clGetSemaphoreInfoKHR`
pub fn get_semaphore_info(
    sema_object: cl_semaphore_khr,
    param_name: cl_semaphore_info_khr,
    info: Info,
) -> Result<Written> {
    let semaphore: Arc<Semaphore> = handle::get(sema_object)?;
    match param_name {
        CL_SEMAPHORE_CONTEXT_KHR => info.handle(&**semaphore.context()),
        CL_SEMAPHORE_REFERENCE_COUNT_KHR => info.value(semaphore.handle().references()),
        CL_SEMAPHORE_PROPERTIES_KHR => info.slice(semaphore.properties()),
        CL_SEMAPHORE_TYPE_KHR => info.value(CL_SEMAPHORE_TYPE_BINARY_KHR),
        CL_SEMAPHORE_PAYLOAD_KHR => info.value::<cl_ulong>(semaphore.is_signalled().into()),
        CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR => {
            let devices = semaphore.devices().iter();
            let handles: Vec<cl_device_id> = devices.map(|it| handle::existing(&**it)).collect();
            info.slice(&handles)
        }
        CL_SEMAPHORE_EXPORTABLE_KHR => info.boolean(!semaphore.exports().is_empty()),
        EXPORT_HANDLE_TYPES => {
            let types: Vec<_> = semaphore.exports().iter().copied().map(type_of).collect();
            info.slice(&types)
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// `clEnqueueSignalSemaphoresKHR`
///
/// # Safety
/// `sema_objects` is NULL or holds `num_sema_objects` handles.
pub unsafe fn enqueue_signal_semaphores(
    command_queue: cl_command_queue,
    num_sema_objects: cl_uint,
    sema_objects: *const cl_semaphore_khr,
    _sema_payload_list: *const cl_semaphore_payload_khr,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    // SAFETY: the caller's promise.
    let semaphores = unsafe { semaphores(&queue, num_sema_objects, sema_objects) }?;
    let wait_list = wait_list(&queue, &events)?;
    let event = semaphore::signal(&queue, &semaphores, &wait_list)?;
    events.give(event);
    Ok(())
}

/// `clEnqueueWaitSemaphoresKHR`
///
/// # Safety
/// As [`enqueue_signal_semaphores`].
pub unsafe fn enqueue_wait_semaphores(
    command_queue: cl_command_queue,
    num_sema_objects: cl_uint,
    sema_objects: *const cl_semaphore_khr,
    _sema_payload_list: *const cl_semaphore_payload_khr,
    events: EventArguments,
) -> Result<()> {
    let queue = enqueue::queue(command_queue)?;
    // SAFETY: the caller's promise.
    let semaphores = unsafe { semaphores(&queue, num_sema_objects, sema_objects) }?;
    let wait_list = wait_list(&queue, &events)?;
    let event = semaphore::wait(&queue, &semaphores, &wait_list)?;
    events.give(event);
    Ok(())
}

/// # Safety
/// `list` is NULL or holds `count` handles.
unsafe fn semaphores(
    queue: &Queue,
    count: cl_uint,
    list: *const cl_semaphore_khr,
) -> Result<Vec<Arc<Semaphore>>> {
    // "CL_INVALID_VALUE if num_sema_objects is 0."
    if count == 0 {
        return Err(Error::invalid_value("num_sema_objects is 0"));
    }
    // "CL_INVALID_SEMAPHORE_KHR if any of the semaphore objects specified by sema_objects is not valid."
    // SAFETY: the caller's promise.
    let found = unsafe { handle::get_list::<Semaphore>(count, list, "sema_objects") }?;
    for semaphore in &found {
        // "CL_INVALID_CONTEXT if the context associated with command_queue and any of the semaphore objects in
        // sema_objects are not the same".
        if !Arc::ptr_eq(semaphore.context(), queue.context()) {
            return Err(Error::new(
                CL_INVALID_CONTEXT,
                "sema_objects and command_queue belong to different contexts",
            ));
        }
        // "CL_INVALID_COMMAND_QUEUE if … the device associated with command_queue is not same as one of the
        // devices specified by CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR at the time of creating one or more of
        // sema_objects".
        let of_device = |device: &Arc<Device>| Arc::ptr_eq(device, queue.device());
        if !semaphore.devices().iter().any(of_device) {
            return Err(Error::new(
                CL_INVALID_COMMAND_QUEUE,
                "a semaphore was made for another device",
            ));
        }
    }
    Ok(found)
}

fn wait_list(queue: &Queue, events: &EventArguments) -> Result<enqueue::WaitList> {
    let list = enqueue::wait_list(queue, events)?;
    // "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the execution status of any of the events in
    // event_wait_list is a negative integer value."
    if list.iter().any(|event| event.status() < 0) {
        return Err(Error::new(
            CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
            "an event of event_wait_list failed",
        ));
    }
    Ok(list)
}

/// `clGetSemaphoreHandleForTypeKHR`
///
/// # Safety
/// `handle_ptr` is NULL or has room for `handle_size` bytes; `handle_size_ret` is NULL or writable.
pub unsafe fn get_semaphore_handle_for_type(
    sema_object: cl_semaphore_khr,
    device: cl_device_id,
    handle_type: cl_external_semaphore_handle_type_khr,
    handle_size: usize,
    handle_ptr: *mut c_void,
    handle_size_ret: *mut usize,
) -> Result<()> {
    let semaphore: Arc<Semaphore> = handle::get(sema_object)?;
    // "CL_INVALID_DEVICE if device is not a valid device, or if sema_object belongs to a context that is not
    // associated with device, or if sema_object can not be shared with device."
    let device = device::get(device)?;
    if !semaphore
        .devices()
        .iter()
        .any(|it| Arc::ptr_eq(it, &device))
    {
        return Err(Error::new(
            CL_INVALID_DEVICE,
            "the semaphore is of another device",
        ));
    }
    // "CL_INVALID_VALUE if the requested external semaphore handle type was not specified when sema_object was
    // created."
    let kind = kind_of(handle_type)
        .filter(|kind| semaphore.exports().contains(kind))
        .ok_or_else(|| {
            Error::invalid_value("handle_type was not asked for when the semaphore was made")
        })?;
    // "CL_INVALID_VALUE if handle_size is less than the size needed to store the returned handle."
    if !handle_ptr.is_null() {
        if handle_size < size_of::<cl_int>() {
            return Err(Error::invalid_value(format!(
                "handle_size is {handle_size}"
            )));
        }
        let fd = semaphore.export(kind)?.map_or(-1, IntoRawFd::into_raw_fd);
        // SAFETY: the caller's promise; the size was compared.
        unsafe { handle_ptr.cast::<cl_int>().write_unaligned(fd) };
    }
    // SAFETY: the caller's promise.
    unsafe { Out::new(handle_size_ret) }.write(size_of::<cl_int>());
    Ok(())
}

/// `clReImportSemaphoreSyncFdKHR`
///
/// # Safety
/// `reimport_props` is NULL or ends with 0.
pub unsafe fn re_import_semaphore_sync_fd(
    sema_object: cl_semaphore_khr,
    reimport_props: *mut cl_semaphore_reimport_properties_khr,
    fd: cl_int,
) -> Result<()> {
    let semaphore: Arc<Semaphore> = handle::get(sema_object)?;
    // "CL_INVALID_SEMAPHORE_KHR if a CL_SEMAPHORE_HANDLE_SYNC_FD_KHR handle was not imported when sema_object was
    // created."
    if !semaphore.is_of_sync_file() {
        return Err(Error::new(
            CL_INVALID_SEMAPHORE_KHR,
            "the semaphore was not made from a sync file",
        ));
    }
    // "This extension does not define any optional properties."
    // SAFETY: the caller's promise.
    if !unsafe { handle::properties(reimport_props.cast_const()) }.is_empty() {
        return Err(Error::invalid_value(
            "reimport_props holds an unknown property",
        ));
    }
    // "CL_INVALID_VALUE if fd is invalid.", "The special value -1 for fd is treated like a valid sync file descriptor".
    if fd < -1 {
        return Err(Error::invalid_value(format!("fd is {fd}")));
    }
    semaphore.import_again(fd)
}
