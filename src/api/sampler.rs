//! Samplers.

use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_OPERATION, cl_addressing_mode, cl_bool, cl_context, cl_filter_mode, cl_sampler,
    cl_sampler_info, cl_sampler_properties,
};

/// `clCreateSampler`
pub fn create_sampler(
    _context: cl_context,
    _normalized_coords: cl_bool,
    _addressing_mode: cl_addressing_mode,
    _filter_mode: cl_filter_mode,
) -> Result<cl_sampler> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clRetainSampler`
pub fn retain_sampler(_sampler: cl_sampler) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clReleaseSampler`
pub fn release_sampler(_sampler: cl_sampler) -> Result<()> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clGetSamplerInfo`
pub fn get_sampler_info(
    _sampler: cl_sampler,
    _param_name: cl_sampler_info,
    _info: Info,
) -> Result<Written> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}

/// `clCreateSamplerWithProperties`
pub fn create_sampler_with_properties(
    _context: cl_context,
    _sampler_properties: *const cl_sampler_properties,
) -> Result<cl_sampler> {
    Err(Error::unsupported(CL_INVALID_OPERATION, "this function"))
}
