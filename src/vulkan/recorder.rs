//! Command buffers, and typed recording into them.
//!
//! A recorder owns one command pool with one command buffer, so it can be recorded, submitted and
//! reset on any thread without regard to other recorders.

use std::ops::Range;
use std::sync::Arc;

use ash::vk;
use smallvec::SmallVec;

use super::buffer::Buffer;
use super::conv;
use super::copy_region::CopyRegion;
use super::device::Device;
use super::error::Error;
use super::pipeline::Pipeline;
use super::textures::{self, Texture};
use super::timestamps::TimestampPool;
use super::uniform_buffer::UniformBuffer;

/// One command buffer and where it is in its life: [`Recorder::begin`], commands, [`Recorder::end`],
/// submission ([`super::Device::submit`]), and `begin` again once the device is done with it.
///
/// One of [`Recorder::reusable`] may be submitted any number of times, also while it is pending.
pub struct Recorder {
    pub(super) handle: vk::CommandBuffer,
    pool: vk::CommandPool,
    device: Arc<Device>,
    usage: vk::CommandBufferUsageFlags,
    bound: vk::Pipeline,
    /// The layout that the textures are bound with: they stay bound for pipelines of the same.
    textures_bound: vk::PipelineLayout,
    /// The uniform buffer's set that is bound, and the layout that it is bound with.
    uniforms_bound: (vk::PipelineLayout, vk::DescriptorSet),
    /// The layout that the buffers' descriptors are bound with.
    buffers_bound: vk::PipelineLayout,
    /// The last push constants, and the layout they are for: they stay as well. On the heap: recorders are moved about.
    pushed: (vk::PipelineLayout, Vec<u8>),
    /// Nothing but dispatches is recorded since the last barrier.
    only_dispatches: bool,
    /// The last barrier orders nothing but dispatches.
    orders_dispatches: bool,
    /// Recorded since `begin`.
    barriers: u32,
}

/// Regions given to Vulkan in one call.
const REGIONS_PER_COPY: usize = 64;

impl Recorder {
    /// For commands that are submitted once and then recorded anew.
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        let lifetime = vk::CommandPoolCreateFlags::TRANSIENT;
        Self::with(
            device,
            lifetime,
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT,
        )
    }

    /// For commands that are recorded once and submitted again and again.
    pub fn reusable(device: &Arc<Device>) -> Result<Self, Error> {
        let lifetime = vk::CommandPoolCreateFlags::empty();
        Self::with(
            device,
            lifetime,
            vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
        )
    }

    fn with(
        device: &Arc<Device>,
        lifetime: vk::CommandPoolCreateFlags,
        usage: vk::CommandBufferUsageFlags,
    ) -> Result<Self, Error> {
        let create = vk::CommandPoolCreateInfo::default()
            .flags(lifetime)
            .queue_family_index(device.queue_family);
        // SAFETY: a live device and its own queue family.
        let pool = unsafe { device.raw.create_command_pool(&create, None) }
            .map_err(Error::of("vkCreateCommandPool"))?;
        let most_bytes = device.info().limits.max_push_constant_bytes as usize;
        let mut recorder = Self {
            handle: vk::CommandBuffer::null(),
            pool,
            device: Arc::clone(device),
            usage,
            bound: vk::Pipeline::null(),
            textures_bound: vk::PipelineLayout::null(),
            uniforms_bound: Default::default(),
            buffers_bound: vk::PipelineLayout::null(),
            pushed: (vk::PipelineLayout::null(), Vec::with_capacity(most_bytes)),
            only_dispatches: true,
            orders_dispatches: false,
            barriers: 0,
        };
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is new and ours.
        let buffers = unsafe { device.raw.allocate_command_buffers(&allocate) }
            .map_err(Error::of("vkAllocateCommandBuffers"))?;
        recorder.handle = buffers.first().copied().unwrap_or_default();
        Ok(recorder)
    }

    /// Forgets what was recorded and begins anew. The device must be done with it.
    pub fn begin(&mut self) -> Result<(), Error> {
        // SAFETY: the caller's word that nothing recorded is still pending.
        unsafe {
            self.device
                .raw
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())
        }
        .map_err(Error::of("vkResetCommandPool"))?;
        self.bound = vk::Pipeline::null();
        self.textures_bound = vk::PipelineLayout::null();
        self.uniforms_bound = Default::default();
        self.buffers_bound = vk::PipelineLayout::null();
        self.pushed.0 = vk::PipelineLayout::null();
        self.only_dispatches = true;
        self.orders_dispatches = false;
        self.barriers = 0;
        let begin = vk::CommandBufferBeginInfo::default().flags(self.usage);
        // SAFETY: the pool was reset above.
        unsafe { self.device.raw.begin_command_buffer(self.handle, &begin) }
            .map_err(Error::of("vkBeginCommandBuffer"))
    }

    /// Makes all writes visible to the host and closes the command buffer.
    pub fn end(&mut self) -> Result<(), Error> {
        self.barrier_between(
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::AccessFlags::MEMORY_WRITE,
            vk::PipelineStageFlags::HOST,
            vk::AccessFlags::HOST_READ,
        );
        self.end_unseen()
    }

    /// Closes the command buffer, which wrote nothing that the host will look at.
    pub fn end_unseen(&mut self) -> Result<(), Error> {
        // SAFETY: begun, by the order of calls that the type asks for.
        unsafe { self.device.raw.end_command_buffer(self.handle) }
            .map_err(Error::of("vkEndCommandBuffer"))
    }

    /// Everything before is done and visible before anything after begins.
    pub fn full_barrier(&mut self) {
        self.barrier_between(
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::AccessFlags::MEMORY_WRITE,
            vk::PipelineStageFlags::ALL_COMMANDS,
            vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE,
        );
    }

    /// Everything before is done and visible before what comes after begins: nothing but dispatches as far as the next
    /// barrier, if `dispatches_follow` ([`Recorder::is_open_to`]). Between dispatches less is waited for.
    pub fn barrier(&mut self, dispatches_follow: bool) {
        if !(self.only_dispatches && dispatches_follow) {
            return self.full_barrier();
        }
        self.barrier_between(
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::AccessFlags::MEMORY_WRITE,
            vk::PipelineStageFlags::COMPUTE_SHADER,
            vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE,
        );
        self.orders_dispatches = true;
    }

    /// Whether what comes next, a dispatch or not, comes after what the last barrier comes after.
    pub fn is_open_to(&self, dispatch: bool) -> bool {
        dispatch || !self.orders_dispatches
    }

    fn barrier_between(
        &mut self,
        from_stage: vk::PipelineStageFlags,
        from_access: vk::AccessFlags,
        to_stage: vk::PipelineStageFlags,
        to_access: vk::AccessFlags,
    ) {
        let barriers = [vk::MemoryBarrier::default()
            .src_access_mask(from_access)
            .dst_access_mask(to_access)];
        self.barriers += 1;
        self.only_dispatches = true;
        self.orders_dispatches = false;
        // SAFETY: the command buffer is recording.
        unsafe {
            self.device.raw.cmd_pipeline_barrier(
                self.handle,
                from_stage,
                to_stage,
                vk::DependencyFlags::empty(),
                &barriers,
                &[],
                &[],
            );
        }
    }

    /// Barriers recorded since it was begun, the one of [`Recorder::end`] among them.
    pub fn barriers(&self) -> u32 {
        self.barriers
    }

    /// Runs `pipeline` over `groups` work-groups; `push_constants` fit what the pipeline was made for.
    #[inline]
    pub fn dispatch(&mut self, pipeline: &Pipeline, push_constants: &[u8], groups: [u32; 3]) {
        self.bind(pipeline, push_constants);
        let raw = &self.device.raw;
        // SAFETY: recording, a pipeline is bound, the counts are within limits by the caller's word.
        unsafe { raw.cmd_dispatch(self.handle, groups[0], groups[1], groups[2]) };
    }

    /// Runs `pipeline` as [`Recorder::dispatch`] does, over the numbers of work-groups that lie at `offset_bytes` of
    /// `groups` when the device gets there: three words, within the device's limits.
    pub fn dispatch_indirect(
        &mut self,
        pipeline: &Pipeline,
        push_constants: &[u8],
        groups: &Buffer,
        offset_bytes: u64,
    ) {
        self.bind(pipeline, push_constants);
        let offset_bytes = groups.offset_bytes() + offset_bytes;
        let raw = &self.device.raw;
        // SAFETY: recording, a pipeline is bound; three words lie at the offset, a multiple of 4, by the caller's
        // word, and buffers have the usage.
        unsafe { raw.cmd_dispatch_indirect(self.handle, groups.handle, offset_bytes) };
    }

    /// Binds and pushes what is not there from the last dispatch.
    #[inline]
    fn bind(&mut self, pipeline: &Pipeline, push_constants: &[u8]) {
        if self.bound != pipeline.handle {
            self.bind_pipeline(pipeline);
        }
        let layout = pipeline.layout;
        if pipeline.reads_textures && self.textures_bound != layout {
            self.bind_textures(layout);
        }
        if let Some(uniforms) = &pipeline.uniforms
            && self.uniforms_bound != (layout, uniforms.set)
        {
            self.bind_uniforms(layout, uniforms);
        }
        if self.device.buffer_descriptors.is_some() && self.buffers_bound != layout {
            self.bind_buffers(layout);
        }
        let (pushed_layout, pushed) = &self.pushed;
        if *pushed_layout != layout || pushed[..] != *push_constants {
            self.push(layout, push_constants);
        }
    }

    fn bind_pipeline(&mut self, pipeline: &Pipeline) {
        let raw = &self.device.raw;
        // SAFETY: recording; the caller keeps the pipeline until the device is done.
        unsafe {
            raw.cmd_bind_pipeline(self.handle, vk::PipelineBindPoint::COMPUTE, pipeline.handle);
        }
        self.bound = pipeline.handle;
    }

    fn bind_textures(&mut self, layout: vk::PipelineLayout) {
        let Some(textures) = &self.device.textures else {
            return;
        };
        let raw = &self.device.raw;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording; the set is the layout's set 0, and lives as long as the device.
        unsafe {
            raw.cmd_bind_descriptor_sets(self.handle, point, layout, 0, &[textures.set], &[]);
        }
        self.textures_bound = layout;
        self.forget_sets_of_others(layout);
    }

    fn bind_uniforms(&mut self, layout: vk::PipelineLayout, uniforms: &UniformBuffer) {
        let raw = &self.device.raw;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording; the set is the layout's set 1, and lives as long as the pipeline, which the caller keeps until the
        // device is done.
        unsafe {
            raw.cmd_bind_descriptor_sets(self.handle, point, layout, 1, &[uniforms.set], &[]);
        }
        self.uniforms_bound = (layout, uniforms.set);
        self.forget_sets_of_others(layout);
    }

    fn bind_buffers(&mut self, layout: vk::PipelineLayout) {
        let Some(descriptors) = &self.device.buffer_descriptors else {
            return;
        };
        let raw = &self.device.raw;
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording; the set is the layout's set 2, and lives as long as the device.
        unsafe {
            raw.cmd_bind_descriptor_sets(self.handle, point, layout, 2, &[descriptors.set], &[]);
        }
        self.buffers_bound = layout;
        self.forget_sets_of_others(layout);
    }

    /// Sets of layouts that are not compatible disturb each other.
    fn forget_sets_of_others(&mut self, layout: vk::PipelineLayout) {
        if self.textures_bound != layout {
            self.textures_bound = vk::PipelineLayout::null();
        }
        if self.uniforms_bound.0 != layout {
            self.uniforms_bound = Default::default();
        }
        if self.buffers_bound != layout {
            self.buffers_bound = vk::PipelineLayout::null();
        }
    }

    fn push(&mut self, layout: vk::PipelineLayout, bytes: &[u8]) {
        let (pushed_layout, pushed) = &mut self.pushed;
        *pushed_layout = layout;
        pushed.clear();
        pushed.extend_from_slice(bytes);
        let raw = &self.device.raw;
        let whole = bytes.len() & !3;
        let stage = vk::ShaderStageFlags::COMPUTE;
        if whole > 0 {
            // SAFETY: recording; a multiple of 4 bytes within the layout's range, by the caller's word.
            unsafe { raw.cmd_push_constants(self.handle, layout, stage, 0, &bytes[..whole]) };
        }
        let rest = &bytes[whole..];
        if !rest.is_empty() {
            // Vulkan takes whole words only.
            let mut word = [0_u8; 4];
            word[..rest.len()].copy_from_slice(rest);
            // SAFETY: as above; `whole` is below the limit, itself a multiple of 4.
            unsafe {
                raw.cmd_push_constants(self.handle, layout, stage, whole as u32, &word);
            }
        }
    }

    /// Gives a new texture the layout that it is read in.
    ///
    /// The memory of images of linear tiling is the same in every layout, so commands on it that are under way
    /// are not disturbed.
    pub fn prepare_texture(&mut self, texture: &Texture) {
        self.only_dispatches = false;
        let barriers = [vk::ImageMemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ)
            .old_layout(vk::ImageLayout::PREINITIALIZED)
            .new_layout(vk::ImageLayout::GENERAL)
            .src_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .dst_queue_family_index(vk::QUEUE_FAMILY_IGNORED)
            .image(texture.image())
            .subresource_range(textures::WHOLE)];
        // SAFETY: the command buffer is recording; the image is bound to memory.
        unsafe {
            self.device.raw.cmd_pipeline_barrier(
                self.handle,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::PipelineStageFlags::ALL_COMMANDS,
                vk::DependencyFlags::empty(),
                &[],
                &[],
                &barriers,
            );
        }
    }

    /// Copies `regions` (none empty, none overlapping) from `source` to `target`.
    pub fn copy(
        &mut self,
        source: &Buffer,
        target: &Buffer,
        regions: impl IntoIterator<Item = CopyRegion>,
    ) {
        let mut chunk: SmallVec<[vk::BufferCopy; REGIONS_PER_COPY]> = SmallVec::new();
        for region in regions {
            let mut region = conv::map_copy_region(&region);
            region.src_offset += source.offset_bytes();
            region.dst_offset += target.offset_bytes();
            chunk.push(region);
            if chunk.len() == REGIONS_PER_COPY {
                self.copy_chunk(source, target, &chunk);
                chunk.clear();
            }
        }
        if !chunk.is_empty() {
            self.copy_chunk(source, target, &chunk);
        }
    }

    fn copy_chunk(&mut self, source: &Buffer, target: &Buffer, regions: &[vk::BufferCopy]) {
        self.only_dispatches = false;
        // SAFETY: recording; the caller keeps the buffers until the device is done, and the regions lie
        // within them.
        unsafe {
            self.device
                .raw
                .cmd_copy_buffer(self.handle, source.handle, target.handle, regions);
        }
    }

    /// What [`Recorder::fill`] takes of a range: `vkCmdFillBuffer` writes aligned words. May be empty.
    pub fn words_within(target: &Buffer, offset_bytes: u64, size_bytes: u64) -> Range<u64> {
        let base_bytes = target.offset_bytes();
        let start = (base_bytes + offset_bytes).next_multiple_of(4) - base_bytes;
        let end = ((base_bytes + offset_bytes + size_bytes) & !3).saturating_sub(base_bytes);
        start..end.max(start)
    }

    /// Fills a range of whole words, as [`Recorder::words_within`] gives it, with the word `value`.
    pub fn fill(&mut self, target: &Buffer, offset_bytes: u64, size_bytes: u64, value: u32) {
        debug_assert_eq!(
            Self::words_within(target, offset_bytes, size_bytes),
            offset_bytes..offset_bytes + size_bytes
        );
        self.only_dispatches = false;
        // SAFETY: recording; the range is aligned and lies within the buffer.
        unsafe {
            self.device.raw.cmd_fill_buffer(
                self.handle,
                target.handle,
                target.offset_bytes() + offset_bytes,
                size_bytes,
                value,
            );
        }
    }

    /// Makes timestamps `0..count` of `pool` writable again.
    pub fn reset_timestamps(&mut self, pool: &TimestampPool, count: u32) {
        // SAFETY: recording; `count` is within the pool.
        unsafe {
            self.device
                .raw
                .cmd_reset_query_pool(self.handle, pool.handle, 0, count);
        }
    }

    /// Writes timestamp `index` when the commands before are done (`after`), or as they begin to run.
    pub fn timestamp(&mut self, pool: &TimestampPool, index: u32, after: bool) {
        let stage = if after {
            vk::PipelineStageFlags::BOTTOM_OF_PIPE
        } else {
            vk::PipelineStageFlags::TOP_OF_PIPE
        };
        // SAFETY: recording; `index` is within the pool and was reset earlier.
        unsafe {
            let raw = &self.device.raw;
            raw.cmd_write_timestamp(self.handle, stage, pool.handle, index);
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        // SAFETY: the owner waited for the device; the pool takes its command buffer along.
        unsafe { self.device.raw.destroy_command_pool(self.pool, None) };
    }
}
