//! Samplers (section 5.7).

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{context, handle};
use crate::compiler::image::Addressing;
use crate::runtime::object::Object;
use crate::runtime::sampler::{Sampler, Settings};
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FALSE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_INVALID_VALUE,
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_CONTEXT, CL_SAMPLER_FILTER_MODE,
    CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT, CL_TRUE,
    cl_addressing_mode, cl_bool, cl_context, cl_filter_mode, cl_sampler, cl_sampler_info,
    cl_sampler_properties, cl_uint,
};

/// `clCreateSampler` (section 5.7.1)
pub fn create_sampler(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> Result<cl_sampler> {
    create(
        context,
        normalized_coords,
        addressing_mode,
        filter_mode,
        Vec::new(),
    )
}

/// `clCreateSamplerWithProperties` (section 5.7.1)
///
/// # Safety
/// `sampler_properties` is NULL or ends with 0.
pub unsafe fn create_sampler_with_properties(
    context: cl_context,
    sampler_properties: *const cl_sampler_properties,
) -> Result<cl_sampler> {
    // "If a supported property and its value is not specified in sampler_properties, its default value will be
    // used": CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST.
    let mut normalized = None;
    let mut addressing = None;
    let mut filter = None;
    // SAFETY: the caller's promise.
    let pairs = unsafe { handle::properties(sampler_properties) };
    let mut list = Vec::new();
    for &(name, value) in &pairs {
        list.extend([name, value]);
        let invalid = |reason: &str| {
            Error::new(
                CL_INVALID_VALUE,
                format!("property {name:#x} of a sampler {reason}"),
            )
        };
        // "CL_INVALID_VALUE if the property name in sampler_properties is not a supported property name, if the
        // value specified for a supported property name is not valid, or if the same property name is
        // specified more than once."
        let slot = match u32::try_from(name) {
            Ok(CL_SAMPLER_NORMALIZED_COORDS) => &mut normalized,
            Ok(CL_SAMPLER_ADDRESSING_MODE) => &mut addressing,
            Ok(CL_SAMPLER_FILTER_MODE) => &mut filter,
            _ => return Err(invalid("is not supported")),
        };
        let value = cl_uint::try_from(value).map_err(|_| invalid("has no such value"))?;
        if slot.replace(value).is_some() {
            return Err(invalid("is given twice"));
        }
    }
    if !sampler_properties.is_null() {
        list.push(0);
    }
    create(
        context,
        normalized.unwrap_or(CL_TRUE as cl_bool),
        addressing.unwrap_or(CL_ADDRESS_CLAMP),
        filter.unwrap_or(CL_FILTER_NEAREST),
        list,
    )
}

fn create(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
    properties: Vec<cl_sampler_properties>,
) -> Result<cl_sampler> {
    let context = context::get(context)?;
    // "CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords or a combination of these arguments
    // are not valid."
    let invalid = |what: &str, value: u32| Error::invalid_value(format!("{what} is {value:#x}"));
    let normalized = match normalized_coords {
        value if value == CL_FALSE as cl_bool => false,
        value if value == CL_TRUE as cl_bool => true,
        value => return Err(invalid("normalized_coords", value)),
    };
    let addressing = match addressing_mode {
        CL_ADDRESS_NONE => Addressing::None,
        CL_ADDRESS_CLAMP_TO_EDGE => Addressing::ClampToEdge,
        CL_ADDRESS_CLAMP => Addressing::Clamp,
        CL_ADDRESS_REPEAT => Addressing::Repeat,
        CL_ADDRESS_MIRRORED_REPEAT => Addressing::RepeatMirrored,
        value => return Err(invalid("addressing_mode", value)),
    };
    let linear = match filter_mode {
        CL_FILTER_NEAREST => false,
        CL_FILTER_LINEAR => true,
        value => return Err(invalid("filter_mode", value)),
    };
    let settings = Settings {
        normalized,
        addressing,
        addressing_mode,
        linear,
        filter_mode,
    };
    Ok(handle::create(Sampler::new(&context, settings, properties)))
}

/// `clRetainSampler` (section 5.7.1)
pub fn retain_sampler(sampler: cl_sampler) -> Result<()> {
    handle::retain::<Sampler>(sampler)
}

/// `clReleaseSampler` (section 5.7.1)
pub fn release_sampler(sampler: cl_sampler) -> Result<()> {
    handle::release::<Sampler>(sampler)
}

/// `clGetSamplerInfo` (section 5.7.2)
pub fn get_sampler_info(
    sampler: cl_sampler,
    param_name: cl_sampler_info,
    info: Info,
) -> Result<Written> {
    // "CL_INVALID_SAMPLER if sampler is a not a valid sampler object."
    let sampler = handle::get::<Sampler>(sampler)?;
    let settings = sampler.settings();
    match param_name {
        CL_SAMPLER_REFERENCE_COUNT => info.value::<cl_uint>(sampler.handle().references()),
        CL_SAMPLER_CONTEXT => info.handle(&**sampler.context()),
        CL_SAMPLER_NORMALIZED_COORDS => info.boolean(settings.normalized),
        CL_SAMPLER_ADDRESSING_MODE => info.value(settings.addressing_mode),
        CL_SAMPLER_FILTER_MODE => info.value(settings.filter_mode),
        CL_SAMPLER_PROPERTIES => info.slice(sampler.properties()),
        _ => Err(Error::unknown_query(param_name)),
    }
}
