//! Runs kernels on one OpenCL platform, in a process of its own: a platform that crashes or hangs takes
//! nothing else along, and no two of them share a loader.
//!
//! On standard input a line for each program: `FILE NAME:LOCAL_SIZE:FREE…`, with its kernels (`FREE` is 1 where
//! work-items know nothing of their groups). On standard output a line for each kernel: `@ok HEX`, with what its
//! buffers hold in the end, or `@error REASON`. The first line is `@features …`.

use crate::form::Form;
use crate::generator::{COUNTERS, INPUTS, ITEM_SLOTS, ITEMS, RESULTS};
use crate::host;
use crate::platform::HOST;
use crate::random::Random;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::io::{BufRead, Write};
use std::path::Path;
use std::ptr;

/// Options that the programs are built with.
pub const OPTIONS: &str = "PUMICE_RANDOM_OPTIONS";

/// Arguments of all kernels after their buffers.
pub const NUMBER: u32 = 0x9876_5432;
pub const VECTOR: [i16; 4] = [-3, 77, 32000, -32768];

/// A kernel that is asked for.
pub struct Wanted<'a> {
    pub name: &'a str,
    pub local_size: usize,
    /// Whether any other local size will do, and several launches.
    pub free: bool,
}

impl<'a> Wanted<'a> {
    fn parse(word: &'a str) -> Option<Self> {
        let mut parts = word.split(':');
        Some(Self {
            name: parts.next()?,
            local_size: parts.next()?.parse().ok()?,
            free: parts.next()? == "1",
        })
    }
}

/// What the buffers of a kernel hold before it runs.
pub fn contents() -> [Vec<u8>; 4] {
    let words = |count: u32, seed: u64| {
        let mut random = Random::new(seed);
        let numbers = (0..count).map(|_| random.number() as u32);
        numbers.flat_map(u32::to_le_bytes).collect::<Vec<u8>>()
    };
    [
        vec![0; (ITEMS * RESULTS * 8) as usize],
        words(INPUTS, 1),
        words(ITEMS * ITEM_SLOTS, 2),
        words(COUNTERS, 3),
    ]
}

/// Answers for each program with what `run` makes of its kernels, one after the other.
pub fn serve<P>(
    build: impl Fn(&Path) -> Result<P, String>,
    run: impl Fn(&P, &Wanted) -> Result<Vec<u8>, String>,
) -> Result<(), String> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let mut words = line.split_whitespace();
        let path = words.next().ok_or("a line without a file")?;
        let program = build(Path::new(path));
        for kernel in words.filter_map(Wanted::parse) {
            let result = match &program {
                Ok(program) => run(program, &kernel),
                Err(log) => Err(format!("the program does not build: {log}")),
            };
            match result {
                Ok(bytes) => {
                    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    say(&format!("@ok {hex}"));
                }
                Err(error) => say(&format!("@error {}", error.replace('\n', " | "))),
            }
        }
    }
    Ok(())
}

pub fn run() -> Result<(), String> {
    if std::env::var_os(HOST).is_some() {
        say("@features 1 0 gcc");
        return serve(host::build, host::run);
    }
    let platforms = get_platforms().map_err(|error| format!("clGetPlatformIDs: {error}"))?;
    let platform = platforms.first().ok_or("no platform")?;
    let ids = platform
        .get_devices(CL_DEVICE_TYPE_ALL)
        .map_err(|error| error.to_string())?;
    let device = Device::new(*ids.first().ok_or("no device")?);
    let context = Context::from_device(&device).map_err(|error| error.to_string())?;
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0)
        .map_err(|error| error.to_string())?;
    let generic = device.generic_address_space_support().unwrap_or(false);
    let double = device.double_fp_config().is_ok_and(|config| config != 0);
    let name = device.name().unwrap_or_default();
    say(&format!(
        "@features {} {} {name}",
        u8::from(generic),
        u8::from(double)
    ));
    let options = std::env::var(OPTIONS).unwrap_or_default();
    let form = Form::of_environment();
    serve(
        |path| form.build(&context, path, &options),
        |program, kernel| {
            launch(&context, &queue, program, kernel, form).map_err(|error| {
                let log = program.get_build_log(device.id()).unwrap_or_default();
                let named = format!("kernel '{}'", kernel.name);
                let said = log.lines().find(|line| line.contains(&named));
                format!("{error} {}", said.unwrap_or_default())
            })
        },
    )
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone needs no answer.
    let _ = writeln!(out, "\n{line}");
    let _ = out.flush();
}

fn launch(
    context: &Context,
    queue: &CommandQueue,
    program: &Program,
    wanted: &Wanted,
    form: Form,
) -> Result<Vec<u8>, String> {
    let name = wanted.name;
    let kernel =
        Kernel::create(program, name).map_err(|error| format!("clCreateKernel: {error}"))?;
    let contents = contents();
    let mut buffers = Vec::new();
    for bytes in &contents {
        buffers.push(upload(context, queue, bytes)?);
    }
    for part in form.parts(wanted) {
        let mut launch = ExecuteKernel::new(&kernel);
        // SAFETY: these are the arguments of all kernels that the generator makes, and they outlive the launch.
        let event = unsafe {
            buffers.iter().for_each(|buffer| {
                launch.set_arg(buffer);
            });
            launch.set_arg_local_buffer(part.local_size * ITEM_SLOTS as usize * 2);
            launch.set_arg(&NUMBER).set_arg(&VECTOR);
            launch
                .set_global_work_offset(part.first)
                .set_global_work_size(part.count)
                .set_local_work_size(part.local_size);
            launch.enqueue_nd_range(queue)
        };
        let event = event.map_err(|error| format!("clEnqueueNDRangeKernel: {error}"))?;
        event
            .wait()
            .map_err(|error| format!("the kernel: {error}"))?;
    }
    let mut all = Vec::new();
    for (buffer, contents) in buffers.iter().zip(&contents) {
        let mut bytes = vec![0; contents.len()];
        // SAFETY: the slice outlives the blocking read.
        unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut bytes, &[]) }
            .map_err(|error| format!("clEnqueueReadBuffer: {error}"))?;
        all.extend(bytes);
    }
    Ok(all)
}

fn upload(context: &Context, queue: &CommandQueue, bytes: &[u8]) -> Result<Buffer<u8>, String> {
    // SAFETY: no host pointer is given; the write has ended when it returns.
    unsafe {
        let mut buffer =
            Buffer::<u8>::create(context, CL_MEM_READ_WRITE, bytes.len(), ptr::null_mut())
                .map_err(|error| format!("clCreateBuffer: {error}"))?;
        queue
            .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, bytes, &[])
            .map_err(|error| format!("clEnqueueWriteBuffer: {error}"))?;
        Ok(buffer)
    }
}
