//! The work in Vulkan, called directly: what a driver on top of it can at best cost.

use crate::support::Result;
use crate::support::vulkan_code::VulkanCode;
use crate::work::{self, BUFFER_BYTES, BUFFERS, Graph, ITEMS};
use ash::vk;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// How the kernels are laid out in command buffers. All are recorded once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One, which may be pending several times.
    One,
    /// The same with barriers between all commands of any kind, in place of those between kernels.
    FullBarriers,
    /// One that is pending once at a time.
    Exclusive,
    /// So many kernels in each, all in one submission.
    Split(usize),
    /// One that executes secondary ones of so many kernels each.
    Secondary(usize),
}

impl Form {
    pub fn name(self) -> String {
        match self {
            Self::One => "one command buffer".to_owned(),
            Self::FullBarriers => "one, barriers for any command".to_owned(),
            Self::Exclusive => "one, not for simultaneous use".to_owned(),
            Self::Split(most) => format!("several of {most} kernels"),
            Self::Secondary(most) => format!("secondary ones of {most} kernels"),
        }
    }
}

/// How the end is waited for. A submission after a thread was asleep takes longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// In the driver. A pause of the thread, if it is long.
    Block,
    /// By asking again and again.
    Poll,
}

impl Wait {
    pub fn name(self) -> &'static str {
        match self {
            Self::Block => "blocking",
            Self::Poll => "polling",
        }
    }
}

/// A Vulkan device with the kernel and its buffers. Lives until the process ends.
pub struct Vulkan {
    device: ash::Device,
    queue: vk::Queue,
    family: u32,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    code: VulkanCode,
    /// Where the arguments, a pointer and a value, are in the push constants.
    offsets: [usize; 2],
    timeline: vk::Semaphore,
    value: Cell<u64>,
    /// Executions since the buffers were cleared.
    runs: Cell<usize>,
    /// All the buffers, one after the other, and a copy that the host sees.
    buffer: vk::Buffer,
    address: vk::DeviceAddress,
    copy: vk::Buffer,
    mapped: *const u32,
}

/// Command buffers to be submitted together. The device is done with them when they are dropped.
pub struct Recorded {
    device: ash::Device,
    pool: vk::CommandPool,
    primary: Vec<vk::CommandBuffer>,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        // SAFETY: the device is done with all of it: each replay waits for its end.
        unsafe { self.device.destroy_command_pool(self.pool, None) };
    }
}

const ANY: vk::PipelineStageFlags2 = vk::PipelineStageFlags2::ALL_COMMANDS;

const BYTES: u64 = (BUFFERS * BUFFER_BYTES) as u64;

impl Vulkan {
    /// The device called `name`, with its first family of queues with compute (without graphics if there is one).
    pub fn new(name: &str, code: VulkanCode) -> Result<Self> {
        // SAFETY: the loader stays loaded: nothing made here is ever destroyed.
        let entry = unsafe { ash::Entry::load()? };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: no layers, no extensions.
        let instance = unsafe { entry.create_instance(&create, None)? };
        // SAFETY: a live instance.
        let all = unsafe { instance.enumerate_physical_devices()? };
        let is_wanted = |physical: &vk::PhysicalDevice| {
            // SAFETY: a physical device of the instance.
            let properties = unsafe { instance.get_physical_device_properties(*physical) };
            properties
                .device_name_as_c_str()
                .is_ok_and(|it| it.to_string_lossy() == name)
        };
        let physical = all
            .into_iter()
            .find(is_wanted)
            .ok_or("no such Vulkan device")?;
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let family = families
            .iter()
            .enumerate()
            .filter(|(_, family)| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
            .min_by_key(|(_, family)| family.queue_flags.contains(vk::QueueFlags::GRAPHICS))
            .map(|(index, _)| index as u32)
            .ok_or("no compute queue")?;
        let device = make_device(&instance, physical, family)?;
        // SAFETY: as above.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let (buffer, _) = make_buffer(
            &device,
            &memory,
            usage,
            vk::MemoryPropertyFlags::DEVICE_LOCAL,
        )?;
        let visible =
            vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
        let (copy, bound) = make_buffer(
            &device,
            &memory,
            vk::BufferUsageFlags::TRANSFER_DST,
            visible,
        )?;
        let (layout, pipeline) = make_pipeline(&device, &code)?;
        let offsets = <[usize; 2]>::try_from(code.offsets()?)
            .map_err(|_| "the kernel has other arguments")?;
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let semaphore = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let whole = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: a live device and its objects; visible memory.
        let vulkan = unsafe {
            Self {
                queue: device.get_device_queue(family, 0),
                family,
                layout,
                pipeline,
                code,
                offsets,
                timeline: device.create_semaphore(&semaphore, None)?,
                value: Cell::new(0),
                runs: Cell::new(0),
                buffer,
                address: device.get_buffer_device_address(&whole),
                copy,
                mapped: device
                    .map_memory(bound, 0, BYTES, vk::MemoryMapFlags::empty())?
                    .cast(),
                device,
            }
        };
        // They must outlive the device, which is never destroyed.
        std::mem::forget((instance, entry));
        vulkan.clear()?;
        Ok(vulkan)
    }

    /// Submits what is recorded and waits for the end; when it was handed over.
    pub fn replay(&self, recorded: &Recorded, wait: Wait) -> Result<Instant> {
        self.submit(&recorded.primary)?;
        let handed_over = Instant::now();
        self.wait(wait)?;
        self.runs.set(self.runs.get() + 1);
        Ok(handed_over)
    }

    /// Records `commands` kernels.
    pub fn record(&self, commands: usize, graph: Graph, form: Form) -> Result<Recorded> {
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
        // SAFETY: a live device.
        let pool = unsafe { self.device.create_command_pool(&pool, None)? };
        let mut primary = Vec::new();
        match form {
            Form::One | Form::FullBarriers | Form::Exclusive => {
                let usage = match form {
                    Form::Exclusive => vk::CommandBufferUsageFlags::empty(),
                    _ => vk::CommandBufferUsageFlags::SIMULTANEOUS_USE,
                };
                let buffer = self.begin(pool, vk::CommandBufferLevel::PRIMARY, usage)?;
                self.barrier(buffer, ANY);
                let stages = match form {
                    Form::FullBarriers => ANY,
                    _ => vk::PipelineStageFlags2::COMPUTE_SHADER,
                };
                self.kernels(buffer, 0..commands, graph, stages);
                // SAFETY: recording.
                unsafe { self.device.end_command_buffer(buffer)? };
                primary.push(buffer);
            }
            Form::Split(most) | Form::Secondary(most) => {
                let level = match form {
                    Form::Split(_) => vk::CommandBufferLevel::PRIMARY,
                    _ => vk::CommandBufferLevel::SECONDARY,
                };
                let usage = vk::CommandBufferUsageFlags::SIMULTANEOUS_USE;
                for first in (0..commands).step_by(most) {
                    let buffer = self.begin(pool, level, usage)?;
                    if first == 0 || graph.needs_barrier(first) {
                        self.barrier(buffer, ANY);
                    }
                    let stages = vk::PipelineStageFlags2::COMPUTE_SHADER;
                    self.kernels(buffer, first..commands.min(first + most), graph, stages);
                    // SAFETY: recording.
                    unsafe { self.device.end_command_buffer(buffer)? };
                    primary.push(buffer);
                }
                if level == vk::CommandBufferLevel::SECONDARY {
                    let all = self.begin(pool, vk::CommandBufferLevel::PRIMARY, usage)?;
                    // SAFETY: recording; the secondary ones are complete.
                    unsafe {
                        self.device.cmd_execute_commands(all, &primary);
                        self.device.end_command_buffer(all)?;
                    }
                    primary = vec![all];
                }
            }
        }
        let device = self.device.clone();
        Ok(Recorded {
            device,
            pool,
            primary,
        })
    }

    fn begin(
        &self,
        pool: vk::CommandPool,
        level: vk::CommandBufferLevel,
        usage: vk::CommandBufferUsageFlags,
    ) -> Result<vk::CommandBuffer> {
        let allocate = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool)
            .level(level)
            .command_buffer_count(1);
        let inheritance = vk::CommandBufferInheritanceInfo::default();
        let begin = vk::CommandBufferBeginInfo::default()
            .flags(usage)
            .inheritance_info(&inheritance);
        // SAFETY: a live pool.
        unsafe {
            let buffer = self.device.allocate_command_buffers(&allocate)?[0];
            self.device.begin_command_buffer(buffer, &begin)?;
            Ok(buffer)
        }
    }

    /// Kernels with the barriers between them; one before the first is not recorded.
    fn kernels(
        &self,
        buffer: vk::CommandBuffer,
        range: std::ops::Range<usize>,
        graph: Graph,
        stages: vk::PipelineStageFlags2,
    ) {
        let point = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording.
        unsafe { self.device.cmd_bind_pipeline(buffer, point, self.pipeline) };
        let first = range.start;
        for index in range {
            if index > first && graph.needs_barrier(index) {
                self.barrier(buffer, stages);
            }
            let (target, value) = work::command(index);
            let address = self.address + (target * BUFFER_BYTES) as u64;
            let mut block = vec![0_u8; self.code.block_bytes()];
            let [pointer_at, value_at] = self.offsets;
            block[pointer_at..pointer_at + 8].copy_from_slice(&address.to_le_bytes());
            block[value_at..value_at + 4].copy_from_slice(&value.to_le_bytes());
            let stage = vk::ShaderStageFlags::COMPUTE;
            // SAFETY: recording; a pipeline of this layout is bound.
            unsafe {
                self.device
                    .cmd_push_constants(buffer, self.layout, stage, 0, &block);
                self.device.cmd_dispatch(buffer, 1, 1, 1);
            }
        }
    }

    fn barrier(&self, buffer: vk::CommandBuffer, stages: vk::PipelineStageFlags2) {
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(stages)
            .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
            .dst_stage_mask(stages)
            .dst_access_mask(vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: recording.
        unsafe { self.device.cmd_pipeline_barrier2(buffer, &dependency) };
    }

    fn submit(&self, buffers: &[vk::CommandBuffer]) -> Result<()> {
        self.value.set(self.value.get() + 1);
        let infos: Vec<_> = buffers
            .iter()
            .map(|buffer| vk::CommandBufferSubmitInfo::default().command_buffer(*buffer))
            .collect();
        let signals = [vk::SemaphoreSubmitInfo::default()
            .semaphore(self.timeline)
            .value(self.value.get())
            .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)];
        let submit = vk::SubmitInfo2::default()
            .command_buffer_infos(&infos)
            .signal_semaphore_infos(&signals);
        // SAFETY: one thread; the command buffers are complete.
        unsafe {
            self.device
                .queue_submit2(self.queue, &[submit], vk::Fence::null())?
        };
        Ok(())
    }

    fn wait(&self, wait: Wait) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [self.value.get()]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        let start = Instant::now();
        // SAFETY: a live semaphore.
        unsafe {
            // A software driver needs the processor: long waits are not polled for.
            while wait == Wait::Poll && start.elapsed() < Duration::from_millis(50) {
                if self.device.get_semaphore_counter_value(self.timeline)? >= self.value.get() {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            Ok(self.device.wait_semaphores(&info, u64::MAX)?)
        }
    }

    /// Records and runs something once.
    fn once(&self, record: impl FnOnce(&Self, vk::CommandBuffer)) -> Result<()> {
        let pool = vk::CommandPoolCreateInfo::default().queue_family_index(self.family);
        // SAFETY: a live device.
        let pool = unsafe { self.device.create_command_pool(&pool, None)? };
        let usage = vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT;
        let buffer = self.begin(pool, vk::CommandBufferLevel::PRIMARY, usage)?;
        self.barrier(buffer, ANY);
        record(self, buffer);
        // SAFETY: recording.
        unsafe { self.device.end_command_buffer(buffer)? };
        self.submit(&[buffer])?;
        self.wait(Wait::Block)?;
        // SAFETY: the device is done with all of it.
        unsafe { self.device.destroy_command_pool(pool, None) };
        Ok(())
    }

    fn clear(&self) -> Result<()> {
        self.once(|own, buffer| {
            // SAFETY: recording; the whole buffer.
            unsafe {
                own.device
                    .cmd_fill_buffer(buffer, own.buffer, 0, vk::WHOLE_SIZE, 0)
            };
        })
    }

    /// Looks at what all that ran has left behind, each time with as many commands, and clears it.
    ///
    /// # Errors
    /// It is not what it must be, unless the kernels may race.
    pub fn verify(&self, commands: usize, graph: Graph) -> Result<()> {
        let runs = self.runs.take();
        self.once(|own, buffer| {
            let region = [vk::BufferCopy::default().size(BYTES)];
            let barriers = [vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::HOST)
                .dst_access_mask(vk::AccessFlags2::HOST_READ)];
            let to_host = vk::DependencyInfo::default().memory_barriers(&barriers);
            // SAFETY: recording; both buffers are that long.
            unsafe {
                own.device
                    .cmd_copy_buffer(buffer, own.buffer, own.copy, &region);
                own.device.cmd_pipeline_barrier2(buffer, &to_host);
            }
        })?;
        // SAFETY: mapped, that long, and the device is done.
        let words = unsafe { std::slice::from_raw_parts(self.mapped, BUFFERS * ITEMS) };
        for (index, buffer) in words.chunks_exact(ITEMS).enumerate() {
            graph.check(commands, runs, index, buffer)?;
        }
        self.clear()
    }
}

/// A device with one queue and every feature of Vulkan 1.3 that it has, but for the checks of addresses.
fn make_device(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    family: u32,
) -> Result<ash::Device> {
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut v13 = vk::PhysicalDeviceVulkan13Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v11)
        .push_next(&mut v12)
        .push_next(&mut v13);
    // SAFETY: a physical device of the instance, Vulkan 1.3.
    unsafe { instance.get_physical_device_features2(physical, &mut features) };
    features.features.robust_buffer_access = vk::FALSE;
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(family)
        .queue_priorities(&[0.5])];
    let create = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .push_next(&mut features);
    // SAFETY: features that the device has.
    Ok(unsafe { instance.create_device(physical, &create, None)? })
}

/// A buffer of [`BYTES`] with memory of its own.
fn make_buffer(
    device: &ash::Device,
    memory: &vk::PhysicalDeviceMemoryProperties,
    usage: vk::BufferUsageFlags,
    properties: vk::MemoryPropertyFlags,
) -> Result<(vk::Buffer, vk::DeviceMemory)> {
    let create = vk::BufferCreateInfo::default().size(BYTES).usage(usage);
    // SAFETY: a live device; each structure outlives its call.
    unsafe {
        let buffer = device.create_buffer(&create, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let index = memory
            .memory_types_as_slice()
            .iter()
            .enumerate()
            .position(|(index, kind)| {
                needs.memory_type_bits & 1 << index != 0 && kind.property_flags.contains(properties)
            })
            .ok_or("no such memory")?;
        let mut flags =
            vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(needs.size)
            .memory_type_index(index as u32);
        if usage.contains(vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS) {
            allocate = allocate.push_next(&mut flags);
        }
        let bound = device.allocate_memory(&allocate, None)?;
        device.bind_buffer_memory(buffer, bound, 0)?;
        Ok((buffer, bound))
    }
}

fn make_pipeline(
    device: &ash::Device,
    code: &VulkanCode,
) -> Result<(vk::PipelineLayout, vk::Pipeline)> {
    let push = [vk::PushConstantRange::default()
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
        .size(code.block_bytes().next_multiple_of(4) as u32)];
    let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
    let module = vk::ShaderModuleCreateInfo::default().code(code.words());
    let constants = code.constants([ITEMS as u32, 1, 1]);
    let entries: Vec<vk::SpecializationMapEntry> = constants
        .iter()
        .zip(0..)
        .map(|((id, _), index)| vk::SpecializationMapEntry {
            constant_id: *id,
            offset: index * 4,
            size: 4,
        })
        .collect();
    let values: Vec<u8> = constants
        .iter()
        .flat_map(|(_, value)| value.to_ne_bytes())
        .collect();
    let specialization = vk::SpecializationInfo::default()
        .map_entries(&entries)
        .data(&values);
    // SAFETY: a live device; each structure outlives its call.
    unsafe {
        let layout = device.create_pipeline_layout(&layout, None)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(device.create_shader_module(&module, None)?)
            .name(c"main")
            .specialization_info(&specialization);
        let create = [vk::ComputePipelineCreateInfo::default()
            .stage(stage)
            .layout(layout)];
        let pipelines = device
            .create_compute_pipelines(vk::PipelineCache::null(), &create, None)
            .map_err(|(_, error)| error)?;
        Ok((layout, pipelines[0]))
    }
}
