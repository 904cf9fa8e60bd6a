//! Images.

use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_context, cl_image_desc, cl_image_format, cl_image_info, cl_mem,
    cl_mem_flags, cl_mem_object_type, cl_mem_properties, cl_uint,
};
use std::ffi::c_void;

/// `clCreateImage2D`
pub fn create_image_2d(
    _context: cl_context,
    _flags: cl_mem_flags,
    _image_format: *const cl_image_format,
    _image_width: usize,
    _image_height: usize,
    _image_row_pitch: usize,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateImage3D`
pub fn create_image_3d(
    _context: cl_context,
    _flags: cl_mem_flags,
    _image_format: *const cl_image_format,
    _image_width: usize,
    _image_height: usize,
    _image_depth: usize,
    _image_row_pitch: usize,
    _image_slice_pitch: usize,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetSupportedImageFormats`
pub fn get_supported_image_formats(
    _context: cl_context,
    _flags: cl_mem_flags,
    _image_type: cl_mem_object_type,
    _num_entries: cl_uint,
    _image_formats: *mut cl_image_format,
    _num_image_formats: *mut cl_uint,
) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetImageInfo`
pub fn get_image_info(_image: cl_mem, _param_name: cl_image_info, _info: Info) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateImage`
pub fn create_image(
    _context: cl_context,
    _flags: cl_mem_flags,
    _image_format: *const cl_image_format,
    _image_desc: *const cl_image_desc,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateImageWithProperties`
pub fn create_image_with_properties(
    _context: cl_context,
    _properties: *const cl_mem_properties,
    _flags: cl_mem_flags,
    _image_format: *const cl_image_format,
    _image_desc: *const cl_image_desc,
    _host_ptr: *mut c_void,
) -> Result<cl_mem> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
