//! What all memory objects share (section 5.5).

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{device_address, handle};
use crate::runtime::memory::Memory;
use crate::runtime::object::callback::{MemoryDestructor, UserData};
use crate::runtime::object::registry::Object;
use opencl_sys::{
    CL_MEM_ASSOCIATED_MEMOBJECT, CL_MEM_CONTEXT, CL_MEM_DEVICE_ADDRESS_EXT, CL_MEM_FLAGS,
    CL_MEM_HOST_PTR, CL_MEM_MAP_COUNT, CL_MEM_OBJECT_BUFFER, CL_MEM_OBJECT_PIPE, CL_MEM_OFFSET,
    CL_MEM_PROPERTIES, CL_MEM_REFERENCE_COUNT, CL_MEM_SIZE, CL_MEM_TYPE, CL_MEM_USES_SVM_POINTER,
    cl_mem, cl_mem_info, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `clRetainMemObject`
pub fn retain_mem_object(memobj: cl_mem) -> Result<()> {
    handle::retain::<Memory>(memobj)
}

/// `clReleaseMemObject`
pub fn release_mem_object(memobj: cl_mem) -> Result<()> {
    handle::release::<Memory>(memobj)
}

/// `clGetMemObjectInfo`
pub fn get_mem_object_info(memobj: cl_mem, param_name: cl_mem_info, info: Info) -> Result<Written> {
    let memory: Arc<Memory> = handle::get(memobj)?;
    match param_name {
        CL_MEM_TYPE => info.value(match memory.image() {
            Some(image) => image.object_type(),
            None if memory.pipe().is_some() => CL_MEM_OBJECT_PIPE,
            None => CL_MEM_OBJECT_BUFFER,
        }),
        CL_MEM_FLAGS => info.value(memory.flags()),
        CL_MEM_SIZE => info.value(memory.size_bytes()),
        CL_MEM_HOST_PTR => {
            let pointer = memory.host_ptr().map(|pointer| pointer.0);
            info.value(pointer.unwrap_or(std::ptr::null_mut()).cast::<c_void>())
        }
        CL_MEM_MAP_COUNT => {
            let count = memory.mappings().len();
            info.value(count as cl_uint)
        }
        CL_MEM_REFERENCE_COUNT => info.value(memory.handle().references()),
        CL_MEM_CONTEXT => info.handle(&**memory.context()),
        CL_MEM_ASSOCIATED_MEMOBJECT => info.handle_or_null(memory.parent().map(|parent| &**parent)),
        CL_MEM_OFFSET => info.value(match memory.image() {
            // Of a sub-buffer; an image has none.
            Some(_) => 0,
            None => memory.origin_bytes(),
        }),
        CL_MEM_USES_SVM_POINTER => info.boolean(memory.uses_svm_pointer()),
        CL_MEM_PROPERTIES => info.slice(memory.properties()),
        CL_MEM_DEVICE_ADDRESS_EXT => {
            // "CL_INVALID_OPERATION if … memobj was not created with the CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT
            // property set to CL_TRUE."
            if !device_address::is_asked_for(&memory) {
                return Err(Error::invalid_operation(
                    "the buffer was made without CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT",
                ));
            }
            info.slice(&memory.device_addresses()?)
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// `clSetMemObjectDestructorCallback`
pub fn set_mem_object_destructor_callback(
    memobj: cl_mem,
    pfn_notify: MemoryDestructor,
    user_data: *mut c_void,
) -> Result<()> {
    let memory: Arc<Memory> = handle::get(memobj)?;
    // "CL_INVALID_VALUE if pfn_notify is NULL."
    if pfn_notify.is_none() {
        return Err(Error::invalid_value("pfn_notify is NULL"));
    }
    memory.on_destruction(pfn_notify, UserData(user_data));
    Ok(())
}
