//! Samplers.

use super::Context;
use crate::compiler::image::{self, Addressing};
use crate::runtime::object::registry::{Handle, Kind, Object};
use opencl_sys::{cl_addressing_mode, cl_filter_mode, cl_float, cl_sampler_properties};
use std::sync::Arc;

/// A sampler.
pub struct Sampler {
    handle: Handle,
    context: Arc<Context>,
    settings: Settings,
    properties: Vec<cl_sampler_properties>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Sampler {
    const KIND: Kind = Kind::Sampler;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// How a sampler reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    pub normalized: bool,
    pub addressing: Addressing,
    /// `CL_ADDRESS_*`, `CL_FILTER_*`: as queries answer.
    pub addressing_mode: cl_addressing_mode,
    pub linear: bool,
    pub filter_mode: cl_filter_mode,
    /// `CL_SAMPLER_MIP_FILTER_MODE`
    pub mip_filter_mode: cl_filter_mode,
    pub mip_linear: bool,
    /// `CL_SAMPLER_LOD_MIN`, `CL_SAMPLER_LOD_MAX`
    pub lod_min: cl_float,
    pub lod_max: cl_float,
}

impl Sampler {
    /// `properties` with the final 0; empty when none were given.
    pub fn new(
        context: &Arc<Context>,
        settings: Settings,
        properties: Vec<cl_sampler_properties>,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            settings,
            properties,
        })
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// `CL_SAMPLER_PROPERTIES`
    pub fn properties(&self) -> &[cl_sampler_properties] {
        &self.properties
    }

    /// The sampler as generated code knows it.
    pub fn word(&self) -> u32 {
        let Settings {
            normalized,
            addressing,
            linear,
            mip_linear,
            lod_min,
            lod_max,
            ..
        } = self.settings;
        image::Sampler::new(normalized, addressing, linear)
            .with_levels(mip_linear, lod_min, lod_max)
            .0
    }
}
