//! Shader modules and compute pipelines.
//!
//! Pipelines of kernels that read as many arguments, and the same descriptor sets, share a layout.

use std::sync::Arc;

use ash::vk;

use super::device::Device;
use super::error::Error;
use super::pipeline_cache::PipelineCache;
use super::pipeline_layouts::Sets;
use super::uniform_buffer::UniformBuffer;

/// A `VkShaderModule`.
pub struct ShaderModule {
    handle: vk::ShaderModule,
    device: Arc<Device>,
}

impl ShaderModule {
    /// Makes a module of Vulkan SPIR-V, which must be valid for the device: nothing below checks it.
    pub fn new(device: &Arc<Device>, words: &[u32]) -> Result<Self, Error> {
        let create = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: a live device; the words are a valid module by the caller's word.
        let handle = unsafe { device.raw.create_shader_module(&create, None) }
            .map_err(Error::of("vkCreateShaderModule"))?;
        Ok(Self {
            handle,
            device: Arc::clone(device),
        })
    }
}

impl Drop for ShaderModule {
    fn drop(&mut self) {
        // SAFETY: pipelines don't need their module once they exist.
        unsafe { self.device.raw.destroy_shader_module(self.handle, None) };
    }
}

/// How a pipeline is made, besides its specialization constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PipelineOptions {
    /// Sub-group size to insist on; needs `subgroup.size_control` and a size within its bounds.
    pub required_subgroup_size: Option<u32>,
    /// Every sub-group is full; needs `subgroup.full_subgroups` and a local size in x that is a
    /// multiple of the sub-group size.
    pub full_subgroups: bool,
    /// The kernel may read images through their descriptors.
    pub reads_textures: bool,
    /// The kernel reads a uniform buffer, which [`Pipeline::reading`] gives it.
    pub reads_uniforms: bool,
    /// Bytes of push constants that a dispatch is given; as many as the device takes without.
    pub push_constant_bytes: Option<u32>,
}

/// A compute `VkPipeline`, entry point `main`.
pub struct Pipeline {
    pub(super) handle: vk::Pipeline,
    pub(super) layout: vk::PipelineLayout,
    pub(super) reads_textures: bool,
    pub(super) uniforms: Option<Arc<UniformBuffer>>,
    device: Arc<Device>,
}

impl Pipeline {
    /// Compiles `module` with the 32-bit specialization constants `(SpecId, value)`. The driver looks into `cache`,
    /// or into the device's own, for what it made before, and leaves there what it makes.
    pub fn new(
        device: &Arc<Device>,
        module: &ShaderModule,
        constants: &[(u32, u32)],
        options: PipelineOptions,
        cache: Option<&PipelineCache>,
    ) -> Result<Self, Error> {
        let entries: Vec<vk::SpecializationMapEntry> = constants
            .iter()
            .zip(0_u32..)
            .map(|((id, _), index)| vk::SpecializationMapEntry {
                constant_id: *id,
                offset: index * 4,
                size: 4,
            })
            .collect();
        let data: Vec<u8> = constants
            .iter()
            .flat_map(|(_, value)| value.to_ne_bytes())
            .collect();
        let specialization = vk::SpecializationInfo::default()
            .map_entries(&entries)
            .data(&data);
        let mut subgroup_size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
            .required_subgroup_size(options.required_subgroup_size.unwrap_or(0));
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module.handle)
            .name(c"main")
            .specialization_info(&specialization);
        if options.required_subgroup_size.is_some() {
            stage = stage.push_next(&mut subgroup_size);
        }
        if options.full_subgroups {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        let layouts = &device.pipeline_layouts;
        let sets = Sets {
            textures: options.reads_textures,
            uniforms: options.reads_uniforms,
        };
        let layout = layouts.of(&device.raw, options.push_constant_bytes, sets)?;
        let create = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout)];
        let cache = cache.map_or(device.pipeline_cache, |cache| cache.handle);
        let _code = device.change_code();
        // SAFETY: everything that `create` reaches outlives the call; the module is the device's.
        let made = unsafe { device.raw.create_compute_pipelines(cache, &create, None) };
        let handle = match made {
            Ok(pipelines) => pipelines.first().copied().unwrap_or_default(),
            Err((pipelines, result)) => {
                for pipeline in pipelines {
                    // SAFETY: made by the failed call, used by nobody; null is ignored.
                    unsafe { device.raw.destroy_pipeline(pipeline, None) };
                }
                return Err(device.note(Error::from_vk("vkCreateComputePipelines", result)));
            }
        };
        Ok(Self {
            handle,
            layout,
            reads_textures: options.reads_textures,
            uniforms: None,
            device: Arc::clone(device),
        })
    }

    /// The pipeline with the buffer that its dispatches read.
    pub fn reading(mut self, uniforms: Arc<UniformBuffer>) -> Self {
        self.uniforms = Some(uniforms);
        self
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        let _code = self.device.change_code();
        // SAFETY: whoever submits work holds its pipelines until the work is done.
        unsafe { self.device.raw.destroy_pipeline(self.handle, None) };
    }
}
