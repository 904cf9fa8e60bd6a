//! Samplers. No device supports images, so none can be made.

use super::context;
use super::error::{Error, Result};
use super::out::{Info, Written};
use opencl_sys::{
    CL_INVALID_OPERATION, CL_INVALID_SAMPLER, cl_addressing_mode, cl_bool, cl_context,
    cl_filter_mode, cl_sampler, cl_sampler_info, cl_sampler_properties,
};

/// `clCreateSampler` (section 5.7.1)
pub fn create_sampler(
    context: cl_context,
    _normalized_coords: cl_bool,
    _addressing_mode: cl_addressing_mode,
    _filter_mode: cl_filter_mode,
) -> Result<cl_sampler> {
    create(context)
}

/// `clCreateSamplerWithProperties` (section 5.7.1)
pub fn create_sampler_with_properties(
    context: cl_context,
    _sampler_properties: *const cl_sampler_properties,
) -> Result<cl_sampler> {
    create(context)
}

fn create(context: cl_context) -> Result<cl_sampler> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    context::get(context)?;
    // "CL_INVALID_OPERATION if images are not supported by any device associated with context."
    Err(Error::unsupported(CL_INVALID_OPERATION, "images"))
}

/// `clRetainSampler` (section 5.7.1)
pub fn retain_sampler(sampler: cl_sampler) -> Result<()> {
    Err(invalid(sampler))
}

/// `clReleaseSampler` (section 5.7.1)
pub fn release_sampler(sampler: cl_sampler) -> Result<()> {
    Err(invalid(sampler))
}

/// `clGetSamplerInfo` (section 5.7.2)
pub fn get_sampler_info(
    sampler: cl_sampler,
    _param_name: cl_sampler_info,
    _info: Info,
) -> Result<Written> {
    Err(invalid(sampler))
}

/// "CL_INVALID_SAMPLER if sampler is not a valid sampler object", and nothing is one.
fn invalid(sampler: cl_sampler) -> Error {
    Error::new(
        CL_INVALID_SAMPLER,
        format!("{sampler:p} is not a sampler: there are none"),
    )
}
