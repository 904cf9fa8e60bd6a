//! A kernel with its data: prepared for a device, run, timed and checked.

pub use crate::support::Result;
use crate::support::opencl::buffer;
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::any::Any;
use std::ptr;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Clocks of an H200 take about so long to rise.
const WARM_UP: Duration = Duration::from_millis(500);

/// One of the kernels.
pub struct Case {
    pub name: &'static str,
    /// OpenCL C 1.2, the same for all devices.
    pub source: &'static str,
    pub prepare: fn(&Bench) -> Result<Prepared>,
}

/// Which of two amounts of data is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Processor,
    Gpu,
}

/// What one run accomplishes: `amount / seconds` is a figure in `unit`.
#[derive(Clone)]
pub struct Work {
    pub amount: f64,
    pub unit: &'static str,
}

impl Work {
    pub fn bytes(count: usize) -> Self {
        Self {
            amount: count as f64 / 1e9,
            unit: "GB/s",
        }
    }

    pub fn operations(count: f64) -> Self {
        Self {
            amount: count / 1e9,
            unit: "GFLOPS",
        }
    }

    pub fn items(count: usize) -> Self {
        Self {
            amount: count as f64 / 1e6,
            unit: "M/s",
        }
    }
}

/// The least times of one run, seconds.
pub struct Times {
    pub device: f64,
    pub host: f64,
    pub work: Work,
}

/// Device memory for values of one type, kept while a kernel has it as an argument.
pub type Memory<T> = Rc<Buffer<T>>;

/// One launch.
pub struct Step {
    kernel: Kernel,
    arguments: u32,
    kept: Vec<Rc<dyn Any>>,
    global: Vec<usize>,
    local: Vec<usize>,
}

impl Step {
    pub fn memory<T: 'static>(mut self, memory: &Memory<T>) -> Result<Self> {
        // SAFETY: the memory is kept as long as the kernel; its size is the caller's matter.
        unsafe { self.kernel.set_arg(self.arguments, &memory.get())? };
        self.arguments += 1;
        self.kept.push(memory.clone());
        Ok(self)
    }

    pub fn value<T: Copy>(mut self, value: T) -> Result<Self> {
        // SAFETY: OpenCL compares the size with the argument's.
        unsafe { self.kernel.set_arg(self.arguments, &value)? };
        self.arguments += 1;
        Ok(self)
    }
}

/// Compares what a case left in memory with what the host computes.
pub type Check = Box<dyn Fn(&Bench) -> Result<()>>;

/// Everything that one run of a case needs.
pub struct Prepared {
    pub steps: Vec<Step>,
    /// Brings the input back to what it was; its time doesn't count.
    pub restore: Option<Step>,
    pub work: Work,
    pub check: Check,
}

/// A device that a case is built for.
pub struct Bench {
    context: Context,
    queue: CommandQueue,
    program: Program,
    size: Size,
}

impl Bench {
    pub fn new(device: &Device, case: &Case, options: &str, size: Size) -> Result<Self> {
        let context = Context::from_device(device)?;
        let queue =
            CommandQueue::create_default_with_properties(&context, CL_QUEUE_PROFILING_ENABLE, 0)?;
        let mut program = Program::create_from_source(&context, case.source)?;
        if let Err(error) = program.build(&[device.id()], options) {
            let log = program.get_build_log(device.id()).unwrap_or_default();
            return Err(format!("{error}\n{log}").into());
        }
        Ok(Self {
            context,
            queue,
            program,
            size,
        })
    }

    /// The first for a processor, the second for a GPU.
    pub fn pick(&self, processor: usize, gpu: usize) -> usize {
        match self.size {
            Size::Processor => processor,
            Size::Gpu => gpu,
        }
    }

    pub fn memory<T>(&self, count: usize) -> Result<Memory<T>> {
        Ok(Rc::new(buffer(&self.context, count)?))
    }

    pub fn upload<T>(&self, values: &[T]) -> Result<Memory<T>> {
        let mut buffer = buffer(&self.context, values.len())?;
        // SAFETY: the write blocks and has the buffer's size.
        unsafe {
            self.queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, values, &[])?;
        }
        Ok(Rc::new(buffer))
    }

    pub fn read<T: Copy + Default>(&self, memory: &Memory<T>, count: usize) -> Result<Vec<T>> {
        let mut values = vec![T::default(); count];
        // SAFETY: the read blocks; OpenCL refuses more than the buffer holds.
        unsafe {
            self.queue
                .enqueue_read_buffer(memory, CL_BLOCKING, 0, &mut values, &[])?;
        }
        Ok(values)
    }

    pub fn step(&self, kernel: &str, global: &[usize], local: &[usize]) -> Result<Step> {
        Ok(Step {
            kernel: Kernel::create(&self.program, kernel)?,
            arguments: 0,
            kept: Vec::new(),
            global: global.to_vec(),
            local: local.to_vec(),
        })
    }

    fn enqueue(&self, step: &Step) -> Result<opencl3::event::Event> {
        // SAFETY: both sizes have as many dimensions as is said.
        let event = unsafe {
            self.queue.enqueue_nd_range_kernel(
                step.kernel.get(),
                step.global.len() as u32,
                ptr::null(),
                step.global.as_ptr(),
                step.local.as_ptr(),
                &[],
            )?
        };
        Ok(event)
    }

    /// One run: seconds by the device's clock and by the host's.
    fn run(&self, prepared: &Prepared) -> Result<(f64, f64)> {
        if let Some(restore) = &prepared.restore {
            self.enqueue(restore)?;
            self.queue.finish()?;
        }
        let start = Instant::now();
        let events = prepared
            .steps
            .iter()
            .map(|step| self.enqueue(step))
            .collect::<Result<Vec<_>>>()?;
        self.queue.finish()?;
        let host = start.elapsed().as_secs_f64();
        let mut nanoseconds = 0;
        for event in events {
            nanoseconds += event.profiling_command_end()? - event.profiling_command_start()?;
        }
        Ok((nanoseconds as f64 * 1e-9, host))
    }

    /// Runs until the device's clocks are up: a GPU that waited for the host to check results is found at a sixth
    /// of its speed, and a driver of graphics leaves it there for longer than one of computing alone.
    fn warm_up(&self, prepared: &Prepared) -> Result<()> {
        let start = Instant::now();
        while start.elapsed() < WARM_UP {
            self.run(prepared)?;
        }
        Ok(())
    }

    pub fn measure(&self, case: &Case, runs: usize) -> Result<Times> {
        let prepared = (case.prepare)(self)?;
        self.run(&prepared)?;
        (prepared.check)(self)?;
        self.warm_up(&prepared)?;
        let (mut device, mut host) = (f64::MAX, f64::MAX);
        for _ in 0..runs.max(1) {
            let times = self.run(&prepared)?;
            device = device.min(times.0);
            host = host.min(times.1);
        }
        (prepared.check)(self)?;
        Ok(Times {
            device,
            host,
            work: prepared.work,
        })
    }
}

/// An error where `got` isn't within `tolerance` of `wanted`, relative to its size or to one.
pub fn expect_close(place: usize, got: f32, wanted: f64, tolerance: f64) -> Result<()> {
    let difference = (f64::from(got) - wanted).abs();
    if difference <= tolerance * wanted.abs().max(1.0) {
        Ok(())
    } else {
        Err(format!("wrong at {place}: {got}, not {wanted}").into())
    }
}

/// An error at the first place where `got` isn't `wanted`.
pub fn expect_equal(got: &[u32], wanted: &[u32]) -> Result<()> {
    match got
        .iter()
        .zip(wanted)
        .position(|(got, wanted)| got != wanted)
    {
        None if got.len() == wanted.len() => Ok(()),
        None => Err(format!("{} values, not {}", got.len(), wanted.len()).into()),
        Some(place) => {
            let (got, wanted) = (got[place], wanted[place]);
            Err(format!("wrong at {place}: {got}, not {wanted}").into())
        }
    }
}
