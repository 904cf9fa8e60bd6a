//! A built program on one device: code, program-scope data, and the pipelines made so far.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use smallvec::SmallVec;

use super::initializers;
use super::pipeline_key::{Constants, PipelineKey};
use crate::compiler::image::ImageField;
use crate::compiler::program::{Argument, ArgumentKind, Placement};
use crate::compiler::spirv::specialize::specialize;
use crate::compiler::{CompiledKernel, CompiledProgram};
use crate::runtime::allocation::Allocation;
use crate::runtime::allocation::iterations_word::Word;
use crate::runtime::allocation::upload::{clear, upload};
use crate::runtime::code::binary::StoredExecutable;
use crate::runtime::code::compile::compile_on_own_stack;
use crate::runtime::code::front_end::FrontEnd;
use crate::runtime::code::kept_pipelines::{self, Recipe};
use crate::runtime::code::modules::Modules;
use crate::runtime::device::Device;
use crate::runtime::device::sub_group_sizes::SubGroupSizes;
use crate::runtime::device::work_limits::WorkLimits;
use crate::runtime::host_memory;
use crate::runtime::{Error, Result};
use crate::vulkan::{self, MemoryKind};

/// What a program needs of the push constants when its arguments are in memory.
const ADDRESS_BYTES: u32 = 8;

/// One built program on one device.
pub struct Executable {
    device: Arc<Device>,
    /// What it was made of.
    modules: Arc<Modules>,
    program: CompiledProgram,
    code: Vec<KernelCode>,
    /// Program-scope variables and constant tables: made when a kernel is first created.
    data: OnceLock<Option<Arc<Allocation>>>,
    making_data: Mutex<()>,
    /// The data's start as kernels read it by descriptors; made with the first pipeline of one that does.
    uniforms: OnceLock<Arc<vulkan::UniformBuffer>>,
    /// The program with its arguments in memory; `None` when it can't be had.
    in_memory: OnceLock<Option<Arc<Executable>>>,
    /// The program whose data this one shares, where its arguments are in memory.
    original: Option<Weak<Executable>>,
}

/// The Vulkan objects of one kernel.
#[derive(Default)]
struct KernelCode {
    state: Mutex<CodeState>,
    iterations_lost: Word,
}

#[derive(Default)]
struct CodeState {
    /// By what is fixed in the module itself: nothing, where the driver folds specialization constants.
    modules: HashMap<Constants, vulkan::ShaderModule>,
    pipelines: HashMap<PipelineKey, Arc<vulkan::Pipeline>>,
}

impl Executable {
    pub fn new(device: &Arc<Device>, modules: Arc<Modules>, program: CompiledProgram) -> Arc<Self> {
        Self::with_data_of(device, modules, program, None)
    }

    fn with_data_of(
        device: &Arc<Device>,
        modules: Arc<Modules>,
        program: CompiledProgram,
        original: Option<Weak<Self>>,
    ) -> Arc<Self> {
        let code = program
            .kernels
            .iter()
            .map(|_| KernelCode::default())
            .collect();
        Arc::new(Self {
            device: Arc::clone(device),
            modules,
            program,
            code,
            data: OnceLock::new(),
            making_data: Mutex::new(()),
            uniforms: OnceLock::new(),
            in_memory: OnceLock::new(),
            original,
        })
    }

    /// The program compiled so that all arguments are read from memory: the device then sees what the host
    /// changes after the launch was recorded. `None` where the code can't be compiled again: a program binary
    /// without the modules it was made of.
    pub fn with_arguments_in_memory(self: &Arc<Self>) -> Option<&Arc<Self>> {
        self.in_memory
            .get_or_init(|| {
                if self.modules.modules.is_empty() {
                    return None;
                }
                let capabilities = self.device.capabilities();
                let compiled = compile_on_own_stack(capabilities, &self.modules, true)
                    .inspect_err(|message| log::warn!("arguments in memory: {message}"))
                    .ok()?;
                let modules = Arc::clone(&self.modules);
                let original = Some(Arc::downgrade(self));
                Some(Self::with_data_of(
                    &self.device,
                    modules,
                    compiled,
                    original,
                ))
            })
            .as_ref()
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub fn program(&self) -> &CompiledProgram {
        &self.program
    }

    /// The program as it is stored in a program binary.
    pub fn stored(&self) -> StoredExecutable {
        StoredExecutable {
            modules: (*self.modules).clone(),
            program: Some(self.program.clone()),
        }
    }

    /// Place of a kernel among [`CompiledProgram::kernels`].
    pub fn kernel_index(&self, name: &str) -> Option<usize> {
        self.program
            .kernels
            .iter()
            .position(|kernel| kernel.name == name && !kernel.attributes.is_initializer)
    }

    /// Where kernel `index` says that it has lost iterations.
    pub fn iterations_lost(&self, index: usize) -> Option<&Word> {
        Some(&self.code.get(index)?.iterations_lost)
    }

    /// The program-scope data on the device; `None` when the program has none.
    ///
    /// # Errors
    /// No memory for it.
    pub fn data(&self) -> Result<Option<&Arc<Allocation>>> {
        if let Some(data) = self.data.get() {
            return Ok(data.as_ref());
        }
        if let Some(original) = self.original.as_ref().and_then(Weak::upgrade) {
            let data = original.data()?.map(Arc::clone);
            return Ok(self.data.get_or_init(|| data).as_ref());
        }
        let _making = self
            .making_data
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if self.data.get().is_none() {
            let made = self.make_data()?;
            // Under the lock: nobody else sets it.
            let _ = self.data.set(made);
        }
        Ok(self.data.get().and_then(Option::as_ref))
    }

    fn make_data(&self) -> Result<Option<Arc<Allocation>>> {
        let segment = &self.program.data;
        if segment.size_bytes == 0 {
            return Ok(None);
        }
        let device = self.device.vulkan()?;
        let allocation = Allocation::new(device, segment.size_bytes, MemoryKind::Device)?;
        let mut bytes = host_memory::copy(&segment.bytes)?;
        let address = allocation.device_address();
        for place in &segment.relocations {
            let place = *place as usize;
            let field = place
                .checked_add(8)
                .and_then(|end| bytes.get_mut(place..end))
                .and_then(|field| <&mut [u8; 8]>::try_from(field).ok())
                .ok_or_else(|| Error::out_of_resources("a relocation lies outside program data"))?;
            *field = u64::from_le_bytes(*field)
                .wrapping_add(address)
                .to_le_bytes();
        }
        upload(device, &allocation, 0, &bytes)?;
        clear(device, &allocation, bytes.len() as u64..segment.size_bytes)?;
        initializers::run(
            &self.device,
            &self.program.kernels,
            &allocation,
            |index, key| Ok((self.pipeline(index, key)?, self.iterations_lost(index))),
        )?;
        Ok(Some(allocation))
    }

    /// The pipeline of kernel `index` for `key`; made at its first use and never twice.
    ///
    /// # Errors
    /// The Vulkan driver can't make it, or lacks what the kernel needs ([`CompiledKernel::excess`]).
    pub fn pipeline(&self, index: usize, key: &PipelineKey) -> Result<Arc<vulkan::Pipeline>> {
        let (Some(kernel), Some(code)) = (self.program.kernels.get(index), self.code.get(index))
        else {
            return Err(Error::impossible("the kernel is not in its program"));
        };
        if let Some(excess) = &kernel.excess {
            return Err(Error::out_of_resources(format!(
                "kernel '{}': {excess}",
                kernel.name
            )));
        }
        // Held while the pipeline is made: another thread that wants the same one waits for it.
        let mut state = code.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = state.pipelines.get(key) {
            return Ok(Arc::clone(pipeline));
        }
        let pipeline = Arc::new(self.make_pipeline(kernel, &mut state, key)?);
        state.pipelines.insert(key.clone(), Arc::clone(&pipeline));
        Ok(pipeline)
    }

    /// Whether [`Self::pipeline`] has been asked for this one.
    pub fn has_pipeline(&self, index: usize, key: &PipelineKey) -> bool {
        self.code.get(index).is_some_and(|code| {
            let state = code.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.pipelines.contains_key(key)
        })
    }

    fn make_pipeline(
        &self,
        kernel: &CompiledKernel,
        state: &mut CodeState,
        key: &PipelineKey,
    ) -> Result<vulkan::Pipeline> {
        let device = self.device.vulkan()?;
        let decides_formats = |argument: &Argument| {
            matches!(
                argument.kind,
                ArgumentKind::Image { .. } | ArgumentKind::Sampler { .. }
            )
        };
        let fixed = if kernel.arguments.iter().any(decides_formats)
            && !self.device.info().driver.host.folds_specialization
        {
            key.constants.clone()
        } else {
            Constants::new()
        };
        let module = match state.modules.entry(fixed) {
            Entry::Occupied(module) => module.into_mut(),
            Entry::Vacant(place) => {
                let words = specialize(&kernel.spirv.words()?, place.key());
                place.insert(vulkan::ShaderModule::new(device, &words)?)
            }
        };
        let constants: SmallVec<[(u32, u32); 8]> = (0u32..)
            .zip(key.local_size)
            .chain(key.constants.iter().copied())
            .collect();
        let options = self.pipeline_options(kernel, key);
        log::debug!("pipeline for kernel '{}' {key:?}", kernel.name);
        let recipe = Recipe {
            spirv: &kernel.spirv,
            module,
            constants: &constants,
            options,
        };
        let pipeline = kept_pipelines::make(device, &recipe, FrontEnd::instance().cache())?;
        Ok(match kernel.uniform_bytes {
            0 => pipeline,
            size_bytes => pipeline.reading(self.uniforms(device, size_bytes)?),
        })
    }

    /// The data's first `size_bytes`, the same for all kernels that read them so.
    fn uniforms(
        &self,
        device: &Arc<vulkan::Device>,
        size_bytes: u32,
    ) -> Result<Arc<vulkan::UniformBuffer>> {
        if let Some(made) = self.uniforms.get() {
            return Ok(Arc::clone(made));
        }
        // A program binary may say anything.
        let is_there = size_bytes as usize <= self.program.data.bytes.len()
            && size_bytes <= device.info().limits.max_uniform_buffer_range_bytes;
        let data = self.data()?.filter(|_| is_there).ok_or_else(|| {
            Error::out_of_resources("the kernel reads constants that its program has not")
        })?;
        let made = vulkan::UniformBuffer::new(device, data.buffer(), size_bytes.into())?;
        Ok(Arc::clone(self.uniforms.get_or_init(|| Arc::new(made))))
    }

    /// How the pipeline of a kernel is made for `key`, besides its constants.
    pub fn pipeline_options(
        &self,
        kernel: &CompiledKernel,
        key: &PipelineKey,
    ) -> vulkan::PipelineOptions {
        let sub_groups = SubGroupSizes::of(kernel, self.device.capabilities(), self.device.info());
        vulkan::PipelineOptions {
            required_subgroup_size: sub_groups.is_required.then_some(sub_groups.size),
            full_subgroups: sub_groups.are_full(key.local_size),
            reads_textures: kernel.arguments.iter().any(|argument| {
                matches!(&argument.kind, ArgumentKind::Image { fields, .. }
                    if fields.iter().any(|(field, _)| *field == ImageField::Texture))
            }),
            reads_uniforms: kernel.uniform_bytes > 0,
            push_constant_bytes: Some(match kernel.argument_block.placement {
                Placement::PushConstants => kernel.argument_block.size_bytes,
                Placement::DeviceAddress => ADDRESS_BYTES,
            }),
        }
    }

    /// Makes ahead of the first launch what the kernel itself fixes: its only pipeline if it has a required work-group
    /// size and no arguments that specialize it, and its data.
    ///
    /// # Errors
    /// As [`Self::data`] and [`Self::pipeline`].
    pub fn prepare(&self, index: usize) -> Result<()> {
        if let Some(kernel) = self.program.kernels.get(index)
            && kernel.excess.is_none()
        {
            self.prepare_pipeline(index, kernel)?;
        }
        self.data()?;
        Ok(())
    }

    fn prepare_pipeline(&self, index: usize, kernel: &CompiledKernel) -> Result<()> {
        let fixed = !kernel.arguments.iter().any(|argument| {
            matches!(
                argument.kind,
                ArgumentKind::Local { .. }
                    | ArgumentKind::Image { .. }
                    | ArgumentKind::Sampler { .. }
            )
        });
        let limit = u64::from(WorkLimits::of(&self.device, kernel).max_group_size);
        // Launches of a larger one are refused.
        let fits = |sizes: &[u32; 3]| {
            let work_items = sizes.iter().map(|size| u64::from(*size));
            work_items.fold(1, u64::saturating_mul) <= limit
        };
        if let (Some(local_size), true) = (
            kernel.attributes.required_work_group_size.filter(fits),
            fixed,
        ) {
            // Most ranges start at 0 and are small.
            let small_range = kernel.small_range_spec_id.map(|spec_id| (spec_id, 1));
            let key = PipelineKey {
                local_size,
                constants: small_range.into_iter().collect(),
            };
            self.pipeline(index, &key)?;
        }
        Ok(())
    }
}
