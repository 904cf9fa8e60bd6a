//! The same work in Vulkan, called directly: what a driver on top of it can at best cost.

use super::{Result, median};
use ash::{ext, vk};
use std::time::{Duration, Instant};

mod copies;
pub mod window;

use window::Window;

/// An empty compute shader of 64 work-items, as words of SPIR-V.
#[rustfmt::skip]
const EMPTY: [u32; 35] = [
    0x0723_0203, 0x0001_0000, 0, 5, 0, // header, ids below 5
    2 << 16 | 17, 1, // OpCapability Shader
    3 << 16 | 14, 0, 1, // OpMemoryModel Logical GLSL450
    5 << 16 | 15, 5, 1, 0x6e69_616d, 0, // OpEntryPoint GLCompute %1 "main"
    6 << 16 | 16, 1, 17, 64, 1, 1, // OpExecutionMode %1 LocalSize 64 1 1
    2 << 16 | 19, 2, // %2 = OpTypeVoid
    3 << 16 | 33, 3, 2, // %3 = OpTypeFunction %2
    5 << 16 | 54, 2, 1, 0, 3, // %1 = OpFunction %2 None %3
    2 << 16 | 248, 4, // %4 = OpLabel
    1 << 16 | 253, // OpReturn
    1 << 16 | 56, // OpFunctionEnd
];

/// Push constants of a launch: one pointer.
const PUSH_BYTES: u32 = 8;

/// A Vulkan device with an empty kernel and what it takes to run it. Lives until the process ends.
pub struct Raw {
    pub name: String,
    pub family: String,
    /// Whether the family runs kernels, or else copies only.
    pub computes: bool,
    memory: vk::PhysicalDeviceMemoryProperties,
    device: ash::Device,
    queue_family: u32,
    queue_count: u32,
    queue: vk::Queue,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
    timeline: vk::Semaphore,
    fence: vk::Fence,
    value: u64,
    queries: vk::QueryPool,
    ns_per_tick: f64,
    calibration: Option<ext::calibrated_timestamps::Device>,
    /// Device memory as the host sees it.
    pub window: Option<Window>,
}

/// What is recorded around the launch.
#[derive(Clone, Copy, Default)]
pub struct Around {
    /// A barrier first.
    pub barrier: Option<After>,
    /// A barrier to the host last.
    pub to_host: bool,
    /// The submission waits for the value of the one before, which is done.
    pub waits: bool,
    /// Timestamps before and after; the first at the top of the pipe or after all commands.
    pub stamps: Option<First>,
    /// Queries reset within the command buffer; without, the host resets them.
    pub reset: u32,
    /// The command buffer is recorded once and not for each submission.
    pub reused: bool,
    /// How the end is waited for.
    pub wait: Wait,
}

/// What the barrier before the launch comes after; before it comes everything.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Everything submitted earlier.
    All,
    /// Kernels.
    Kernels,
    /// Nothing: what is available becomes visible, and nothing is waited for.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum First {
    Top,
    All,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Wait {
    /// `vkWaitSemaphores`
    #[default]
    Block,
    /// `vkGetSemaphoreCounterValue` until it is there.
    Poll,
    /// A fence in the semaphore's place, `vkGetFenceStatus` until it is there.
    Fence,
}

/// Medians, microseconds.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    pub record_us: f64,
    pub submit_us: f64,
    /// From the beginning of the recording until the end is seen.
    pub total_us: f64,
    /// From the beginning of the recording to the first timestamp; where the clocks can be compared.
    pub to_start_us: Option<f64>,
}

/// A stream of 1000 launches as it is best handed over while the device is idle: it begins early, and is called seldom.
pub const BATCHES: [usize; 10] = [16, 32, 64, 128, 128, 128, 128, 128, 128, 120];

/// Queues of a family that are made, if it has so many.
const MOST_QUEUES: u32 = 8;

/// Timestamps that the pool holds.
const QUERIES: u32 = 512;

impl Raw {
    /// The device whose name `wanted` contains, else a discrete GPU before others: once for each family of queues with
    /// compute, those without graphics first, then for each that has copies only. And what memory it has.
    pub fn all(wanted: &str) -> Result<(Vec<Self>, String)> {
        // SAFETY: the loader stays loaded: nothing made here is ever destroyed.
        let entry = unsafe { ash::Entry::load()? };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: no layers, no extensions.
        let instance = unsafe { entry.create_instance(&create, None)? };
        // SAFETY: a live instance.
        let mut all = unsafe { instance.enumerate_physical_devices()? };
        let properties = |physical: vk::PhysicalDevice| {
            // SAFETY: a physical device of the instance.
            unsafe { instance.get_physical_device_properties(physical) }
        };
        all.sort_by_key(|it| {
            let info = properties(*it);
            let name = info.device_name_as_c_str().unwrap_or_default();
            let is_wanted = wanted.contains(&*name.to_string_lossy());
            let is_discrete = info.device_type == vk::PhysicalDeviceType::DISCRETE_GPU;
            (!is_wanted, !is_discrete)
        });
        let physical = *all.first().ok_or("no Vulkan device")?;
        let info = properties(physical);
        // SAFETY: as above.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        // SAFETY: as above.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        let has = |index: u32, flag: vk::QueueFlags| {
            let family = families.get(index as usize);
            family.is_some_and(|family| family.queue_flags.contains(flag))
        };
        let computes = |family| has(family, vk::QueueFlags::COMPUTE);
        let video = vk::QueueFlags::VIDEO_DECODE_KHR | vk::QueueFlags::VIDEO_ENCODE_KHR;
        let only_copies = |family: u32| {
            let flags = families[family as usize].queue_flags;
            flags.contains(vk::QueueFlags::TRANSFER) && !flags.intersects(video)
        };
        let mut chosen: Vec<u32> = (0..families.len() as u32)
            .filter(|family| computes(*family) || only_copies(*family))
            .collect();
        chosen.sort_by_key(|family| (!computes(*family), has(*family, vk::QueueFlags::GRAPHICS)));
        // SAFETY: as above.
        let extensions = unsafe { instance.enumerate_device_extension_properties(physical)? };
        let calibrates = extensions.iter().any(|extension| {
            extension.extension_name_as_c_str() == Ok(ext::calibrated_timestamps::NAME)
        });
        let names: Vec<_> = calibrates
            .then_some(ext::calibrated_timestamps::NAME.as_ptr())
            .into_iter()
            .collect();
        let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
            .timeline_semaphore(true)
            .host_query_reset(true);
        let mut v13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        let queue_count = |family: u32| families[family as usize].queue_count.min(MOST_QUEUES);
        let queues: Vec<_> = chosen
            .iter()
            .map(|family| {
                vk::DeviceQueueCreateInfo::default()
                    .queue_family_index(*family)
                    .queue_priorities(&[0.5; MOST_QUEUES as usize][..queue_count(*family) as usize])
            })
            .collect();
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut v12)
            .push_next(&mut v13);
        // SAFETY: features that every Vulkan 1.3 device has.
        let device = unsafe { instance.create_device(physical, &create, None)? };
        let raws = chosen
            .into_iter()
            .map(|family| {
                let calibration =
                    calibrates.then(|| ext::calibrated_timestamps::Device::new(&instance, &device));
                let mut raw = Self::on(device.clone(), family, &info, &memory, calibration)?;
                raw.window = Window::new(&raw.device, &memory)?;
                raw.computes = computes(family);
                raw.queue_count = queue_count(family);
                raw.family = match (computes(family), has(family, vk::QueueFlags::GRAPHICS)) {
                    (false, _) => format!("family {family}, copies only"),
                    (_, true) => format!("family {family}, with graphics"),
                    _ => format!("family {family}, compute only"),
                };
                Ok(raw)
            })
            .collect::<Result<_>>()?;
        // They must outlive the device, which is never destroyed.
        std::mem::forget((instance, entry));
        Ok((raws, describe(&memory)))
    }

    fn on(
        device: ash::Device,
        family: u32,
        info: &vk::PhysicalDeviceProperties,
        memory: &vk::PhysicalDeviceMemoryProperties,
        calibration: Option<ext::calibrated_timestamps::Device>,
    ) -> Result<Self> {
        let push = [vk::PushConstantRange::default()
            .stage_flags(vk::ShaderStageFlags::COMPUTE)
            .size(PUSH_BYTES)];
        let layout = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&push);
        let module = vk::ShaderModuleCreateInfo::default().code(&EMPTY);
        let pool = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(family);
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let semaphore = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        let queries = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(QUERIES);
        // SAFETY: a live device; each structure outlives its call.
        unsafe {
            let layout = device.create_pipeline_layout(&layout, None)?;
            let module = device.create_shader_module(&module, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"main");
            let create = vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout);
            let pipelines = device
                .create_compute_pipelines(vk::PipelineCache::null(), &[create], None)
                .map_err(|(_, error)| error)?;
            let pool = device.create_command_pool(&pool, None)?;
            let allocate = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            let name = info.device_name_as_c_str()?.to_string_lossy().into_owned();
            Ok(Self {
                name,
                family: String::new(),
                computes: true,
                memory: *memory,
                queue_family: family,
                queue_count: 1,
                queue: device.get_device_queue(family, 0),
                layout,
                pipeline: pipelines[0],
                pool,
                buffer: device.allocate_command_buffers(&allocate)?[0],
                timeline: device.create_semaphore(&semaphore, None)?,
                fence: device.create_fence(&vk::FenceCreateInfo::default(), None)?,
                value: 0,
                queries: device.create_query_pool(&queries, None)?,
                ns_per_tick: info.limits.timestamp_period.into(),
                calibration,
                window: None,
                device,
            })
        }
    }

    fn begin(&self, usage: vk::CommandBufferUsageFlags) -> Result<()> {
        let begin = vk::CommandBufferBeginInfo::default().flags(usage);
        // SAFETY: the device is done with the pool.
        unsafe {
            self.device
                .reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty())?;
            Ok(self.device.begin_command_buffer(self.buffer, &begin)?)
        }
    }

    fn barrier(&self, after: After, to: (vk::PipelineStageFlags2, vk::AccessFlags2)) {
        let write = vk::AccessFlags2::MEMORY_WRITE;
        let from = match after {
            After::All => (vk::PipelineStageFlags2::ALL_COMMANDS, write),
            After::Kernels => (vk::PipelineStageFlags2::COMPUTE_SHADER, write),
            After::Nothing => Default::default(),
        };
        let barriers = [vk::MemoryBarrier2::default()
            .src_stage_mask(from.0)
            .src_access_mask(from.1)
            .dst_stage_mask(to.0)
            .dst_access_mask(to.1)];
        let dependency = vk::DependencyInfo::default().memory_barriers(&barriers);
        // SAFETY: recording.
        unsafe { self.device.cmd_pipeline_barrier2(self.buffer, &dependency) };
    }

    fn barrier_before(&self, after: After) {
        let to = (
            vk::PipelineStageFlags2::ALL_COMMANDS,
            vk::AccessFlags2::MEMORY_READ | vk::AccessFlags2::MEMORY_WRITE,
        );
        self.barrier(after, to);
    }

    fn dispatch(&self) {
        // SAFETY: recording; a pipeline of this layout is bound.
        unsafe {
            self.device.cmd_push_constants(
                self.buffer,
                self.layout,
                vk::ShaderStageFlags::COMPUTE,
                0,
                &[0; PUSH_BYTES as usize],
            );
            self.device.cmd_dispatch(self.buffer, 1, 1, 1);
        }
    }

    fn bind(&self) {
        // SAFETY: recording.
        unsafe {
            self.device.cmd_bind_pipeline(
                self.buffer,
                vk::PipelineBindPoint::COMPUTE,
                self.pipeline,
            );
        }
    }

    fn submit(&mut self, how: Wait, waits: bool) -> Result<()> {
        let before = self.value;
        self.value += u64::from(how != Wait::Fence);
        let semaphore = |value| {
            [vk::SemaphoreSubmitInfo::default()
                .semaphore(self.timeline)
                .value(value)
                .stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)]
        };
        let (reached, signals) = (semaphore(before), semaphore(self.value));
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(self.buffer)];
        let mut submit = vk::SubmitInfo2::default().command_buffer_infos(&buffers);
        if waits {
            submit = submit.wait_semaphore_infos(&reached);
        }
        let mut fence = self.fence;
        if how != Wait::Fence {
            submit = submit.signal_semaphore_infos(&signals);
            fence = vk::Fence::null();
        }
        // SAFETY: one thread; the command buffer is complete, the fence not under way.
        unsafe { self.device.queue_submit2(self.queue, &[submit], fence)? };
        Ok(())
    }

    fn wait(&self, how: Wait) -> Result<()> {
        let (semaphores, values) = ([self.timeline], [self.value]);
        let wait = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: a live semaphore, a live fence that nothing under way uses once it is seen.
        unsafe {
            match how {
                Wait::Block => self.device.wait_semaphores(&wait, u64::MAX)?,
                Wait::Poll => {
                    while self.device.get_semaphore_counter_value(self.timeline)? < self.value {
                        std::hint::spin_loop();
                    }
                }
                Wait::Fence => {
                    while !self.device.get_fence_status(self.fence)? {
                        std::hint::spin_loop();
                    }
                    self.device.reset_fences(&[self.fence])?;
                }
            }
        }
        Ok(())
    }

    /// Records a stream of `launches`, submits it and waits for the end; when it was recorded. `ordered`: each after the one
    /// before.
    pub fn stream(&mut self, launches: usize, ordered: bool) -> Result<Instant> {
        self.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
        self.bind();
        for _ in 0..launches {
            if ordered {
                self.barrier_before(After::All);
            }
            self.dispatch();
        }
        // SAFETY: recording.
        unsafe { self.device.end_command_buffer(self.buffer)? };
        let recorded = Instant::now();
        self.submit(Wait::Poll, false)?;
        self.wait(Wait::Poll)?;
        Ok(recorded)
    }

    /// Microseconds for each launch of a stream until all are recorded.
    pub fn recording(&mut self, launches: usize, ordered: bool, rounds: usize) -> Result<f64> {
        let mut samples = Vec::new();
        for round in 0..rounds + 2 {
            let start = Instant::now();
            let recorded = self.stream(launches, ordered)?;
            if round >= 2 {
                samples.push((recorded - start).as_secs_f64() * 1e6 / launches as f64);
            }
        }
        Ok(median(samples))
    }

    /// As [`Raw::stream`] until all but the last of `batches` launches are recorded and submitted: a batch of so many
    /// launches after the other, in command buffers of their own.
    pub fn batches(&mut self, batches: &[usize], ordered: bool, rounds: usize) -> Result<f64> {
        let own = (self.pool, self.buffer);
        let room = batches
            .iter()
            .map(|_| self.room())
            .collect::<Result<Vec<_>>>()?;
        let mut samples = Vec::new();
        for round in 0..rounds + 2 {
            let start = Instant::now();
            let mut recorded = start.elapsed();
            for (&launches, &room) in batches.iter().zip(&room) {
                (self.pool, self.buffer) = room;
                self.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
                // After the batch before.
                self.barrier_before(After::All);
                self.bind();
                for _ in 0..launches {
                    if ordered {
                        self.barrier_before(After::All);
                    }
                    self.dispatch();
                }
                recorded = start.elapsed();
                // SAFETY: recording.
                unsafe { self.device.end_command_buffer(self.buffer)? };
                self.submit(Wait::Poll, false)?;
            }
            self.wait(Wait::Poll)?;
            if round >= 2 {
                let launches: usize = batches.iter().sum();
                samples.push(recorded.as_secs_f64() * 1e6 / launches as f64);
            }
        }
        (self.pool, self.buffer) = own;
        for (pool, _) in room {
            // SAFETY: the device is done with it.
            unsafe { self.device.destroy_command_pool(pool, None) };
        }
        Ok(median(samples))
    }

    /// One for each of `count` threads, on queues of their own as far as there are so many.
    pub fn threads(&self, count: usize) -> Result<Vec<Self>> {
        let thread = |index: usize| {
            let (pool, buffer) = self.room()?;
            let mut kind =
                vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
            let semaphore = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
            let index = index as u32 % self.queue_count;
            // SAFETY: a live device, and a queue that it was made with.
            unsafe {
                Ok(Self {
                    name: self.name.clone(),
                    family: self.family.clone(),
                    device: self.device.clone(),
                    queue: self.device.get_device_queue(self.queue_family, index),
                    pool,
                    buffer,
                    timeline: self.device.create_semaphore(&semaphore, None)?,
                    fence: vk::Fence::null(),
                    value: 0,
                    calibration: None,
                    window: None,
                    ..*self
                })
            }
        };
        if count > self.queue_count as usize {
            return Err("fewer queues than threads".into());
        }
        (0..count).map(thread).collect()
    }

    /// A command buffer in a pool of its own.
    fn room(&self) -> Result<(vk::CommandPool, vk::CommandBuffer)> {
        let create = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(self.queue_family);
        // SAFETY: a live device; the structures outlive their calls.
        unsafe {
            let pool = self.device.create_command_pool(&create, None)?;
            let allocate = vk::CommandBufferAllocateInfo::default()
                .command_pool(pool)
                .command_buffer_count(1);
            Ok((pool, self.device.allocate_command_buffers(&allocate)?[0]))
        }
    }

    fn record_one(&self, around: Around) -> Result<()> {
        self.begin(if around.reused {
            vk::CommandBufferUsageFlags::SIMULTANEOUS_USE
        } else {
            vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT
        })?;
        let (device, buffer, queries) = (&self.device, self.buffer, self.queries);
        // SAFETY: recording, within the pool.
        unsafe {
            if around.reset > 0 {
                device.cmd_reset_query_pool(buffer, queries, 0, around.reset.min(QUERIES));
            }
            if let Some(after) = around.barrier {
                self.barrier_before(after);
            }
            if let Some(first) = around.stamps {
                let stage = match first {
                    First::Top => vk::PipelineStageFlags2::TOP_OF_PIPE,
                    First::All => vk::PipelineStageFlags2::ALL_COMMANDS,
                };
                device.cmd_write_timestamp2(buffer, stage, queries, 0);
            }
            self.bind();
            self.dispatch();
            if around.stamps.is_some() {
                let stage = vk::PipelineStageFlags2::ALL_COMMANDS;
                device.cmd_write_timestamp2(buffer, stage, queries, 1);
            }
            if around.to_host {
                let host = (vk::PipelineStageFlags2::HOST, vk::AccessFlags2::HOST_READ);
                self.barrier(After::All, host);
            }
            Ok(device.end_command_buffer(buffer)?)
        }
    }

    /// One empty kernel, recorded, submitted and waited for; when it was submitted.
    pub fn once(&mut self, around: Around) -> Result<Instant> {
        self.record_one(around)?;
        self.submit(around.wait, around.waits)?;
        let submitted = Instant::now();
        self.wait(around.wait)?;
        Ok(submitted)
    }

    /// The same step by step.
    pub fn round_trip(&mut self, around: Around, rounds: usize) -> Result<RoundTrip> {
        let offset_ns = self.calibrate();
        let (mut record, mut submit) = (Vec::new(), Vec::new());
        let (mut total, mut to_start) = (Vec::new(), Vec::new());
        for round in 0..rounds + 10 {
            let start_ns = now_ns();
            let start = Instant::now();
            if round == 0 || !around.reused {
                self.record_one(around)?;
            }
            let recorded = start.elapsed();
            self.submit(around.wait, around.waits)?;
            let submitted = start.elapsed();
            self.wait(around.wait)?;
            let done = start.elapsed();
            if around.stamps.is_some() {
                let mut ticks = [0_u64; 2];
                let flags = vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT;
                // SAFETY: both were written by work that is done.
                unsafe {
                    self.device
                        .get_query_pool_results(self.queries, 0, &mut ticks, flags)?;
                    if around.reset == 0 {
                        self.device.reset_query_pool(self.queries, 0, 2);
                    }
                }
                if let Some(offset_ns) = offset_ns.filter(|_| round >= 10) {
                    let begun_ns = ticks[0] as f64 * self.ns_per_tick + offset_ns;
                    to_start.push((begun_ns - start_ns as f64) / 1e3);
                }
            }
            if round >= 10 {
                let us = |time: Duration| time.as_secs_f64() * 1e6;
                record.push(us(recorded));
                submit.push(us(submitted - recorded));
                total.push(us(done));
            }
        }
        Ok(RoundTrip {
            record_us: median(record),
            submit_us: median(submit),
            total_us: median(total),
            to_start_us: (!to_start.is_empty()).then(|| median(to_start)),
        })
    }

    /// Host time less device time, nanoseconds: the least uncertain of several answers.
    fn calibrate(&self) -> Option<f64> {
        let calibration = self.calibration.as_ref()?;
        let domains = [
            vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE),
            vk::CalibratedTimestampInfoEXT::default()
                .time_domain(vk::TimeDomainEXT::CLOCK_MONOTONIC),
        ];
        (0..16)
            // SAFETY: the extension is enabled; both domains are the usual ones.
            .filter_map(|_| unsafe { calibration.get_calibrated_timestamps(&domains) }.ok())
            .min_by_key(|(_, deviation_ns)| *deviation_ns)
            .map(|(times, _)| times[1] as f64 - times[0] as f64 * self.ns_per_tick)
    }

    /// How uncertain a calibration is and how long it takes: nanoseconds, microseconds.
    pub fn calibration(&self) -> Option<(u64, f64)> {
        let calibration = self.calibration.as_ref()?;
        let domains = [
            vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE),
            vk::CalibratedTimestampInfoEXT::default()
                .time_domain(vk::TimeDomainEXT::CLOCK_MONOTONIC),
        ];
        let start = Instant::now();
        // SAFETY: as above.
        let (_, deviation_ns) = unsafe { calibration.get_calibrated_timestamps(&domains) }.ok()?;
        Some((deviation_ns, start.elapsed().as_secs_f64() * 1e6))
    }
}

/// Heaps and types of memory.
fn describe(memory: &vk::PhysicalDeviceMemoryProperties) -> String {
    let mut text = String::new();
    for (index, heap) in memory.memory_heaps_as_slice().iter().enumerate() {
        text.push_str(&format!(
            "heap {index}: {} MiB {:?}\n",
            heap.size >> 20,
            heap.flags
        ));
    }
    for (index, kind) in memory.memory_types_as_slice().iter().enumerate() {
        text.push_str(&format!(
            "memory type {index}: heap {} {:?}\n",
            kind.heap_index, kind.property_flags
        ));
    }
    text
}

/// CLOCK_MONOTONIC.
fn now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
