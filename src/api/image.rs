//! Images. No device supports them (`CL_DEVICE_IMAGE_SUPPORT` is false), so none can be made.

use super::context;
use super::error::{Error, Result};
use super::out::{Info, List, Written};
use crate::runtime::context::Context;
use opencl_sys::{
    CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_MEM_OBJECT,
    CL_INVALID_OPERATION, CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D, cl_context, cl_image_desc, cl_image_format, cl_image_info, cl_mem,
    cl_mem_flags, cl_mem_object_type, cl_mem_properties, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `clCreateImage2D` (section 5.3.1, deprecated in 1.2)
pub fn create_image_2d(
    context: cl_context,
    _flags: cl_mem_flags,
    image_format: *const cl_image_format,
    _image_width: usize,
    _image_height: usize,
    _image_row_pitch: usize,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    create(context, image_format)
}

/// `clCreateImage3D` (section 5.3.1, deprecated in 1.2)
pub fn create_image_3d(
    context: cl_context,
    _flags: cl_mem_flags,
    image_format: *const cl_image_format,
    _image_width: usize,
    _image_height: usize,
    _image_depth: usize,
    _image_row_pitch: usize,
    _image_slice_pitch: usize,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    create(context, image_format)
}

/// `clCreateImage` (section 5.3.1)
pub fn create_image(
    context: cl_context,
    _flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    create_described(context, image_format, image_desc)
}

/// `clCreateImageWithProperties` (section 5.3.1)
pub fn create_image_with_properties(
    context: cl_context,
    _properties: *const cl_mem_properties,
    _flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    create_described(context, image_format, image_desc)
}

fn create_described(
    context: cl_context,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
) -> Result<cl_mem> {
    let context = checked(context, image_format)?;
    // "CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid or if image_desc is
    // NULL."
    if image_desc.is_null() {
        return Err(Error::new(
            CL_INVALID_IMAGE_DESCRIPTOR,
            "image_desc is NULL",
        ));
    }
    Err(unsupported(&context))
}

fn create(context: cl_context, image_format: *const cl_image_format) -> Result<cl_mem> {
    let context = checked(context, image_format)?;
    Err(unsupported(&context))
}

fn checked(context: cl_context, image_format: *const cl_image_format) -> Result<Arc<Context>> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = context::get(context)?;
    // "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if
    // image_format is NULL."
    if image_format.is_null() {
        return Err(Error::new(
            CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
            "image_format is NULL",
        ));
    }
    Ok(context)
}

/// "CL_INVALID_OPERATION if there are no devices in context that support images."
fn unsupported(_: &Context) -> Error {
    Error::unsupported(CL_INVALID_OPERATION, "images")
}

/// `clGetSupportedImageFormats` (section 5.3.2): the list is empty.
///
/// # Safety
/// `image_formats` has room for `num_entries`; both pointers are NULL or writable.
pub unsafe fn get_supported_image_formats(
    context: cl_context,
    _flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: *mut cl_image_format,
    num_image_formats: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    context::get(context)?;
    // "CL_INVALID_VALUE if flags or image_type are not valid, or if num_entries is 0 and image_formats is
    // not NULL."
    let types = [
        CL_MEM_OBJECT_IMAGE1D,
        CL_MEM_OBJECT_IMAGE1D_BUFFER,
        CL_MEM_OBJECT_IMAGE1D_ARRAY,
        CL_MEM_OBJECT_IMAGE2D,
        CL_MEM_OBJECT_IMAGE2D_ARRAY,
        CL_MEM_OBJECT_IMAGE3D,
    ];
    if !types.contains(&image_type) {
        return Err(Error::invalid_value(format!(
            "image_type is {image_type:#x}"
        )));
    }
    if num_entries == 0 && !image_formats.is_null() {
        return Err(Error::invalid_value(
            "num_entries is 0, image_formats is not NULL",
        ));
    }
    // SAFETY: the caller's promise.
    unsafe { List::new(num_entries, image_formats, num_image_formats) }.write(&[]);
    Ok(())
}

/// `clGetImageInfo` (section 5.3.7)
pub fn get_image_info(image: cl_mem, _param_name: cl_image_info, _info: Info) -> Result<Written> {
    // "CL_INVALID_MEM_OBJECT if image is not a valid image object", and nothing is one.
    Err(Error::new(
        CL_INVALID_MEM_OBJECT,
        format!("{image:p} is not an image: there are none"),
    ))
}
