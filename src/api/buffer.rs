//! Buffers (section 5.2).

use super::error::{Error, Result};
use super::{context, device, external_memory, handle};
use crate::runtime::context::Context;
use crate::runtime::device::Device;
use crate::runtime::memory::Memory;
use crate::vulkan::MemoryFd;
use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_FALSE, CL_INVALID_BUFFER_SIZE, CL_INVALID_DEVICE,
    CL_INVALID_HOST_PTR, CL_INVALID_MEM_OBJECT, CL_INVALID_PROPERTY, CL_MEM_ALLOC_HOST_PTR,
    CL_MEM_COPY_HOST_PTR, CL_MEM_DEVICE_HANDLE_LIST_KHR, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT,
    CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_READ_ONLY,
    CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY, CL_MISALIGNED_SUB_BUFFER_OFFSET,
    CL_TRUE, cl_buffer_create_type, cl_buffer_region, cl_context, cl_device_id, cl_int, cl_mem,
    cl_mem_flags, cl_mem_properties,
};
use std::ffi::c_void;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

const ACCESS_FLAGS: cl_mem_flags = CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY | CL_MEM_READ_ONLY;
const HOST_ACCESS_FLAGS: cl_mem_flags =
    CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
const HOST_PTR_FLAGS: cl_mem_flags =
    CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

/// `clCreateBuffer`
///
/// # Safety
/// `host_ptr` is NULL or memory of `size` bytes, as the flags ask.
pub unsafe fn create_buffer(
    context: cl_context,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    unsafe { create(&context, Vec::new(), flags, size, host_ptr) }
}

/// `clCreateBufferWithProperties`
///
/// # Safety
/// As [`create_buffer`]; `properties` is NULL or ends with 0.
pub unsafe fn create_buffer_with_properties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    let wanted = unsafe { read_properties(&context, properties) }?;
    match wanted.external {
        None => {
            // SAFETY: the caller's promise.
            unsafe { create(&context, wanted.all, flags, size, host_ptr) }
        }
        Some(external) => {
            check_flags(flags)?;
            check_external_flags(flags)?;
            check_size(&context, size)?;
            // "CL_INVALID_HOST_PTR if … host_ptr is not NULL" with an external memory handle.
            if !host_ptr.is_null() {
                return Err(Error::new(
                    CL_INVALID_HOST_PTR,
                    "external memory has no host_ptr",
                ));
            }
            let flags = with_default_access(flags);
            // SAFETY: "… transfers ownership of the file descriptor from the application".
            let fd = unsafe { OwnedFd::from_raw_fd(external.fd) };
            let (device, kind) = (&external.device, external.kind);
            let memory = Memory::external(&context, device, flags, size, kind, fd, wanted.all)?;
            Ok(handle::create(memory))
        }
    }
}

/// A file descriptor, the memory behind which is to be the object's.
pub(super) struct External {
    pub kind: MemoryFd,
    pub fd: cl_int,
    /// Which imports it.
    pub device: Arc<Device>,
}

/// What a list of properties asks for.
#[derive(Default)]
pub(super) struct Wanted {
    pub external: Option<External>,
    /// `CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT`, whatever its value.
    pub names_private_address: bool,
    /// The list, with its final 0; empty when it was NULL.
    pub all: Vec<cl_mem_properties>,
}

/// # Safety
/// `list` is NULL or ends with 0, as does a list of devices within it.
pub(super) unsafe fn read_properties(
    context: &Context,
    list: *const cl_mem_properties,
) -> Result<Wanted> {
    let mut wanted = Wanted::default();
    if list.is_null() {
        return Ok(wanted);
    }
    // "CL_INVALID_PROPERTY if a property name in properties is not a supported property name, if the value
    // specified for a supported property name is not valid, or if the same property name is specified more
    // than once."
    let invalid = |reason: String| Err(Error::new(CL_INVALID_PROPERTY, reason));
    let mut at = list;
    let mut next = || {
        // SAFETY: the list has not ended: the loops below stop at the 0 that ends it.
        let value = unsafe { at.read() };
        // SAFETY: as above; at most one past the end.
        at = unsafe { at.add(1) };
        value
    };
    let mut seen = Vec::new();
    let mut handle = None;
    let mut devices: Option<Vec<Arc<Device>>> = None;
    loop {
        let name = next();
        wanted.all.push(name);
        if name == 0 {
            break;
        }
        if seen.contains(&name) {
            return invalid(format!("property {name:#x} is given twice"));
        }
        seen.push(name);
        let value = next();
        wanted.all.push(value);
        if name == CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT {
            if ![CL_TRUE, CL_FALSE].map(u64::from).contains(&value) {
                return invalid(format!("property {name:#x} = {value:#x} is no boolean"));
            }
            wanted.names_private_address = true;
        } else if let Some(kind) = external_memory::kind_of(name) {
            let fd = value as cl_int;
            // "… if properties includes more than one external memory handle"
            if fd < 0 || handle.is_some() {
                return invalid(format!(
                    "property {name:#x} = {value} is no handle, or a second one"
                ));
            }
            handle = Some((kind, fd));
        } else if name == CL_MEM_DEVICE_HANDLE_LIST_KHR {
            // "CL_INVALID_DEVICE if a device identified by the property CL_MEM_DEVICE_HANDLE_LIST_KHR is not a
            // valid device or is not associated with context".
            let mut value = value;
            let mut list = Vec::new();
            while value != 0 {
                let device = device::get(value as usize as cl_device_id)?;
                if context.device_index(&device).is_none() {
                    return Err(Error::new(
                        CL_INVALID_DEVICE,
                        "a device of CL_MEM_DEVICE_HANDLE_LIST_KHR is not of the context",
                    ));
                }
                list.push(device);
                value = next();
                wanted.all.push(value);
            }
            devices = Some(list);
        } else {
            return invalid(format!("property {name:#x} is not supported"));
        }
    }
    match (handle, &devices) {
        (Some((kind, fd)), _) => {
            let device = importer(kind, devices.as_deref().unwrap_or(context.devices()))?;
            wanted.external = Some(External { kind, fd, device });
        }
        // "… if properties does not include a supported external memory handle and CL_MEM_DEVICE_HANDLE_LIST_KHR is
        // specified as part of properties"
        (None, Some(_)) => return invalid("a list of devices without an external handle".into()),
        (None, None) => {}
    }
    Ok(wanted)
}

/// The device that imports a handle for all of `devices`: memory of more than one is none that they share.
///
/// "CL_INVALID_DEVICE … if a device identified by property CL_MEM_DEVICE_HANDLE_LIST_KHR cannot import the requested
/// external memory object type, if CL_MEM_DEVICE_HANDLE_LIST_KHR is not specified as part of properties and one or
/// more devices in context cannot import the requested external memory object type".
fn importer(kind: MemoryFd, devices: &[Arc<Device>]) -> Result<Arc<Device>> {
    match devices {
        [device] if external_memory::imports_kind(device, kind) => Ok(Arc::clone(device)),
        _ => Err(Error::new(
            CL_INVALID_DEVICE,
            format!(
                "external memory of the kind {kind:?} is imported for one device that can, not for these {}",
                devices.len()
            ),
        )),
    }
}

/// "CL_INVALID_VALUE … if properties includes a supported external memory handle and flags includes
/// CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR, or CL_MEM_COPY_HOST_PTR"
pub(super) fn check_external_flags(flags: cl_mem_flags) -> Result<()> {
    match flags & HOST_PTR_FLAGS {
        0 => Ok(()),
        _ => Err(Error::invalid_value(
            "external memory has none of the flags CL_MEM_*_HOST_PTR",
        )),
    }
}

/// "CL_INVALID_BUFFER_SIZE if size is 0, or if size is greater than CL_DEVICE_MAX_MEM_ALLOC_SIZE for all devices
/// in context."
fn check_size(context: &Context, size: usize) -> Result<()> {
    let fits = context
        .devices()
        .iter()
        .any(|device| size as u64 <= device.limits().max_allocation_bytes);
    if size == 0 || !fits {
        return Err(Error::new(
            CL_INVALID_BUFFER_SIZE,
            format!("size {size} is 0 or more than CL_DEVICE_MAX_MEM_ALLOC_SIZE"),
        ));
    }
    Ok(())
}

unsafe fn create(
    context: &Arc<Context>,
    properties: Vec<cl_mem_properties>,
    flags: cl_mem_flags,
    size: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    check_flags(flags)?;
    check_size(context, size)?;
    // "CL_INVALID_BUFFER_SIZE … if … CL_MEM_USE_HOST_PTR is set in flags and host_ptr is a pointer returned by
    // clSVMAlloc and size is greater than the size passed to clSVMAlloc."
    let address = host_ptr as u64;
    if flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0
        && let Some(memory) = context.shared().find(address)
        && !memory.contains(address, size)
    {
        return Err(Error::new(
            CL_INVALID_BUFFER_SIZE,
            format!("{size} bytes at host_ptr reach beyond its SVM allocation"),
        ));
    }
    // "CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in
    // flags or if host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR are not set in flags."
    let host_ptr = NonNull::new(host_ptr.cast::<u8>());
    let wants_host_ptr = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    if host_ptr.is_some() != wants_host_ptr {
        return Err(Error::new(
            CL_INVALID_HOST_PTR,
            "host_ptr and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR contradict each other",
        ));
    }
    let flags = with_default_access(flags);
    // SAFETY: the caller's promise, and the flags agree with `host_ptr`.
    let memory = unsafe { Memory::buffer(context, flags, size, host_ptr, properties) }?;
    Ok(handle::create(memory))
}

/// "CL_MEM_READ_WRITE … This is the default."
pub(super) fn with_default_access(flags: cl_mem_flags) -> cl_mem_flags {
    if flags & ACCESS_FLAGS == 0 {
        flags | CL_MEM_READ_WRITE
    } else {
        flags
    }
}

/// "CL_INVALID_VALUE if values specified in flags are not valid"
pub(super) fn check_flags(flags: cl_mem_flags) -> Result<()> {
    let invalid = |reason: &'static str| Err(Error::invalid_value(reason));
    if flags & !(ACCESS_FLAGS | HOST_ACCESS_FLAGS | HOST_PTR_FLAGS) != 0 {
        return invalid("flags holds unknown bits");
    }
    if (flags & ACCESS_FLAGS).count_ones() > 1 {
        return invalid(
            "CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, CL_MEM_READ_ONLY exclude each other",
        );
    }
    if (flags & HOST_ACCESS_FLAGS).count_ones() > 1 {
        return invalid("the CL_MEM_HOST_* access flags exclude each other");
    }
    // "CL_MEM_USE_HOST_PTR … CL_MEM_ALLOC_HOST_PTR and CL_MEM_USE_HOST_PTR are mutually exclusive",
    // "CL_MEM_COPY_HOST_PTR and CL_MEM_USE_HOST_PTR are mutually exclusive."
    if flags & CL_MEM_USE_HOST_PTR != 0
        && flags & (CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0
    {
        return invalid("CL_MEM_USE_HOST_PTR excludes the other CL_MEM_*_HOST_PTR flags");
    }
    Ok(())
}

/// `clCreateSubBuffer`
///
/// # Safety
/// `buffer_create_info` is NULL or what `buffer_create_type` says.
pub unsafe fn create_sub_buffer(
    buffer: cl_mem,
    flags: cl_mem_flags,
    buffer_create_type: cl_buffer_create_type,
    buffer_create_info: *const c_void,
) -> Result<cl_mem> {
    // "CL_INVALID_MEM_OBJECT if buffer is not a valid buffer object or is a sub-buffer object."
    let parent: Arc<Memory> = handle::get(buffer)?;
    if !parent.is_buffer() {
        return Err(Error::new(
            CL_INVALID_MEM_OBJECT,
            "buffer is an image or a pipe",
        ));
    }
    if parent.parent().is_some() {
        return Err(Error::new(
            CL_INVALID_MEM_OBJECT,
            "buffer is itself a sub-buffer",
        ));
    }
    let flags = sub_buffer_flags(parent.flags(), flags)?;
    // "CL_INVALID_VALUE if the value specified in buffer_create_type is not valid", "if value(s) specified
    // in buffer_create_info … is not valid or if buffer_create_info is NULL."
    if buffer_create_type != CL_BUFFER_CREATE_TYPE_REGION {
        return Err(Error::invalid_value(
            "buffer_create_type is not CL_BUFFER_CREATE_TYPE_REGION",
        ));
    }
    // SAFETY: the caller's promise.
    let region = unsafe { buffer_create_info.cast::<cl_buffer_region>().as_ref() }
        .ok_or_else(|| Error::invalid_value("buffer_create_info is NULL"))?;
    // "CL_INVALID_VALUE if the region specified by the cl_buffer_region structure … is out of bounds"
    super::enqueue::check_bounds(&parent, region.origin, region.size)?;
    // "CL_INVALID_BUFFER_SIZE if the size field of the cl_buffer_region structure is 0."
    if region.size == 0 {
        return Err(Error::new(CL_INVALID_BUFFER_SIZE, "the region's size is 0"));
    }
    // "CL_MISALIGNED_SUB_BUFFER_OFFSET if there are no devices in context associated with buffer for which
    // the origin field … is aligned to the CL_DEVICE_MEM_BASE_ADDR_ALIGN value."
    let aligned = parent.context().devices().iter().any(|device| {
        let alignment_bytes = device.limits().base_address_alignment_bits as usize / 8;
        region.origin.is_multiple_of(alignment_bytes.max(1))
    });
    if !aligned {
        return Err(Error::new(
            CL_MISALIGNED_SUB_BUFFER_OFFSET,
            format!("origin {} suits no device of the context", region.origin),
        ));
    }
    let memory = Memory::sub_buffer(&parent, flags, region.origin, region.size);
    Ok(handle::create(memory))
}

/// The flags that a sub-buffer has, from those of its buffer and those it asks for.
pub(super) fn sub_buffer_flags(parent: cl_mem_flags, flags: cl_mem_flags) -> Result<cl_mem_flags> {
    check_flags(flags)?;
    // "CL_INVALID_VALUE if buffer was created with CL_MEM_WRITE_ONLY and flags specifies CL_MEM_READ_WRITE
    // or CL_MEM_READ_ONLY, or if buffer was created with CL_MEM_READ_ONLY and flags specifies
    // CL_MEM_READ_WRITE or CL_MEM_WRITE_ONLY, or if flags specifies CL_MEM_USE_HOST_PTR or
    // CL_MEM_ALLOC_HOST_PTR or CL_MEM_COPY_HOST_PTR."
    let contradictions = [
        (CL_MEM_WRITE_ONLY, CL_MEM_READ_WRITE | CL_MEM_READ_ONLY),
        (CL_MEM_READ_ONLY, CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY),
        // "CL_INVALID_VALUE if buffer was created with CL_MEM_HOST_WRITE_ONLY and flags specify
        // CL_MEM_HOST_READ_ONLY, or if buffer was created with CL_MEM_HOST_READ_ONLY and flags specify
        // CL_MEM_HOST_WRITE_ONLY, or if buffer was created with CL_MEM_HOST_NO_ACCESS and flags specify
        // CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_WRITE_ONLY."
        (CL_MEM_HOST_WRITE_ONLY, CL_MEM_HOST_READ_ONLY),
        (CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY),
        (
            CL_MEM_HOST_NO_ACCESS,
            CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY,
        ),
    ];
    for (of_parent, asked) in contradictions {
        if parent & of_parent != 0 && flags & asked != 0 {
            return Err(Error::invalid_value("flags contradict those of the buffer"));
        }
    }
    if flags & HOST_PTR_FLAGS != 0 {
        return Err(Error::invalid_value(
            "flags of a sub-buffer hold no CL_MEM_*_HOST_PTR",
        ));
    }
    // "If … not specified in flags, they are inherited from the corresponding memory access qualifiers
    // associated with buffer. The CL_MEM_USE_HOST_PTR, CL_MEM_ALLOC_HOST_PTR and CL_MEM_COPY_HOST_PTR
    // values cannot be specified in flags but are inherited".
    let mut all = flags | parent & HOST_PTR_FLAGS;
    if flags & ACCESS_FLAGS == 0 {
        all |= parent & ACCESS_FLAGS;
    }
    if flags & HOST_ACCESS_FLAGS == 0 {
        all |= parent & HOST_ACCESS_FLAGS;
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_exclude_each_other() {
        assert!(check_flags(0).is_ok());
        assert!(check_flags(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR).is_ok());
        assert!(check_flags(CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR).is_ok());
        for bad in [
            CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
            CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR,
            CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY,
            1 << 40,
        ] {
            assert!(check_flags(bad).is_err(), "{bad:#x}");
        }
    }

    #[test]
    fn sub_buffers_inherit_what_they_do_not_ask_for() {
        let parent = CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_HOST_READ_ONLY;
        assert_eq!(sub_buffer_flags(parent, 0).unwrap(), parent);
        assert!(sub_buffer_flags(parent, CL_MEM_WRITE_ONLY).is_err());
        assert!(sub_buffer_flags(parent, CL_MEM_HOST_WRITE_ONLY).is_err());
        assert!(sub_buffer_flags(CL_MEM_READ_WRITE, CL_MEM_COPY_HOST_PTR).is_err());
        assert_eq!(
            sub_buffer_flags(CL_MEM_READ_WRITE, CL_MEM_READ_ONLY).unwrap(),
            CL_MEM_READ_ONLY
        );
    }
}
