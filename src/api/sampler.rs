//! Samplers (section 5.7).

use super::error::{Error, Result};
use super::out::{Info, Written};
use super::{context, handle};
use crate::compiler::image::Addressing;
use crate::runtime::context::Context;
use crate::runtime::context::sampler::{Sampler, Settings};
use crate::runtime::object::registry::Object;
use opencl_sys::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FALSE, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_INVALID_VALUE,
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_CONTEXT, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_LOD_MAX,
    CL_SAMPLER_LOD_MIN, CL_SAMPLER_MIP_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS,
    CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT, CL_TRUE, cl_addressing_mode, cl_bool,
    cl_context, cl_filter_mode, cl_float, cl_sampler, cl_sampler_info, cl_sampler_properties,
    cl_uint,
};
use std::sync::Arc;

/// `clCreateSampler` (section 5.7.1)
pub fn create_sampler(
    context: cl_context,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
) -> Result<cl_sampler> {
    create(
        &context::get(context)?,
        normalized_coords,
        addressing_mode,
        filter_mode,
        Levels::default(),
        Vec::new(),
    )
}

/// How mip levels are read, as the properties of cl_khr_mipmap_image say.
struct Levels {
    filter_mode: cl_filter_mode,
    lod_min: cl_float,
    lod_max: cl_float,
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            filter_mode: CL_FILTER_NEAREST,
            lod_min: 0.0,
            lod_max: cl_float::MAX,
        }
    }
}

/// `clCreateSamplerWithProperties` (section 5.7.1)
///
/// # Safety
/// `sampler_properties` is NULL or ends with 0.
pub unsafe fn create_sampler_with_properties(
    context: cl_context,
    sampler_properties: *const cl_sampler_properties,
) -> Result<cl_sampler> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    let context = context::get(context)?;
    // "If a supported property and its value is not specified in sampler_properties, its default value will be
    // used": CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST; of mip levels CL_FILTER_NEAREST, 0, MAXFLOAT.
    let mut normalized = None;
    let mut addressing = None;
    let mut filter = None;
    let (mut mip_filter, mut lod_min, mut lod_max) = (None, None, None);
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
            Ok(CL_SAMPLER_MIP_FILTER_MODE) => &mut mip_filter,
            Ok(CL_SAMPLER_LOD_MIN) => &mut lod_min,
            Ok(CL_SAMPLER_LOD_MAX) => &mut lod_max,
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
        &context,
        normalized.unwrap_or(CL_TRUE as cl_bool),
        addressing.unwrap_or(CL_ADDRESS_CLAMP),
        filter.unwrap_or(CL_FILTER_NEAREST),
        Levels {
            filter_mode: mip_filter.unwrap_or(CL_FILTER_NEAREST),
            // Floats are given by their bits.
            lod_min: lod_min.map_or(0.0, cl_float::from_bits),
            lod_max: lod_max.map_or(cl_float::MAX, cl_float::from_bits),
        },
        list,
    )
}

fn create(
    context: &Arc<Context>,
    normalized_coords: cl_bool,
    addressing_mode: cl_addressing_mode,
    filter_mode: cl_filter_mode,
    levels: Levels,
    properties: Vec<cl_sampler_properties>,
) -> Result<cl_sampler> {
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
    // "CL_ADDRESS_REPEAT … This addressing mode can only be used with normalized coordinates", and so
    // CL_ADDRESS_MIRRORED_REPEAT: the combination is not valid.
    let repeats = matches!(addressing, Addressing::Repeat | Addressing::RepeatMirrored);
    if repeats && !normalized {
        return Err(Error::invalid_value(
            "an addressing_mode that repeats needs normalized_coords",
        ));
    }
    let is_linear = |what: &str, mode: cl_filter_mode| match mode {
        CL_FILTER_NEAREST => Ok(false),
        CL_FILTER_LINEAR => Ok(true),
        value => Err(invalid(what, value)),
    };
    let linear = is_linear("filter_mode", filter_mode)?;
    let mip_linear = is_linear("the mip filter mode", levels.filter_mode)?;
    // NaN is neither.
    if !(levels.lod_min >= 0.0 && levels.lod_min <= levels.lod_max) {
        return Err(Error::invalid_value(format!(
            "levels of detail from {} to {}",
            levels.lod_min, levels.lod_max
        )));
    }
    let settings = Settings {
        normalized,
        addressing,
        addressing_mode,
        linear,
        filter_mode,
        mip_filter_mode: levels.filter_mode,
        mip_linear,
        lod_min: levels.lod_min,
        lod_max: levels.lod_max,
    };
    Ok(handle::create(Sampler::new(context, settings, properties)))
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
        CL_SAMPLER_MIP_FILTER_MODE => info.value(settings.mip_filter_mode),
        // Floats are as large as their bits.
        CL_SAMPLER_LOD_MIN => info.value::<cl_uint>(settings.lod_min.to_bits()),
        CL_SAMPLER_LOD_MAX => info.value::<cl_uint>(settings.lod_max.to_bits()),
        CL_SAMPLER_PROPERTIES => info.slice(sampler.properties()),
        _ => Err(Error::unknown_query(param_name)),
    }
}
