//! Runs programs on the OpenCL device under test, in a process of its own: a program that crashes, hangs or never
//! comes up takes nothing else along.
//!
//! On standard input a line for each program: `SOURCE INPUT OUTPUT_WORDS MEMORY_BYTES GLOBAL LOCAL`, the first two being files.
//! On standard output a line for each: `@ok SECONDS HEX`, with the CPU time from the program that is built to the end of its
//! first launch, as it were on a machine at rest, and the output; `@slow SECONDS`, after which the process ends; or `@error REASON`. The first line is
//! `@device DOUBLES NAME`.

use crate::host::UNTOUCHED;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Set in the processes that run programs: the CPU seconds that a first launch may take until it is given up.
pub const WORKER: &str = "PUMICE_PROGRAMS_WORKER";

/// The CPU time in nanoseconds at which the launch that runs is given up; 0 while none runs.
static DEADLINE: AtomicU64 = AtomicU64::new(0);

/// How often the time is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// CPU seconds of [`compilers_work`], as the profile of tests builds it, on the machine that the bounds were set on, with
/// nothing else there.
const AT_REST: f64 = 0.18;

/// First launches of fewer CPU seconds are within every bound, however slow the machine is just now.
const WITHIN: f64 = 2.0;

/// A kernel that brings up whatever comes with the first launch of a process.
const WARM_UP: &str = "kernel void test(global const uint *in, global uint *out, global uint *memory) { out[0] = in[0]; }";

/// The device under test.
struct Session {
    context: Context,
    queue: CommandQueue,
}

/// A line of standard input.
struct Request {
    source: String,
    input: Vec<u8>,
    output_words: usize,
    memory_bytes: usize,
    global_size: usize,
    local_size: usize,
}

pub fn run(patience: &str) -> Result<(), String> {
    let patience: f64 = patience.parse().map_err(|_| "no number of seconds")?;
    let platforms = get_platforms().map_err(|error| format!("clGetPlatformIDs: {error}"))?;
    let ids = platforms
        .first()
        .ok_or("no platform")?
        .get_devices(CL_DEVICE_TYPE_ALL)
        .map_err(|error| error.to_string())?;
    let device = Device::new(*ids.first().ok_or("no device")?);
    let context = Context::from_device(&device).map_err(|error| error.to_string())?;
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0)
        .map_err(|error| error.to_string())?;
    let session = Session { context, queue };
    std::thread::spawn(watch);
    session.launch(
        &Request {
            source: WARM_UP.into(),
            input: vec![0; 4],
            output_words: 1,
            memory_bytes: 4,
            global_size: 1,
            local_size: 1,
        },
        0.0,
    )?;
    let double = device.double_fp_config().is_ok_and(|config| config != 0);
    let name = device.name().unwrap_or_default();
    say(&format!("@device {} {name}", u8::from(double)));
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let answer = request(&line).and_then(|request| session.launch(&request, patience));
        match answer {
            Ok((seconds, bytes)) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                say(&format!("@ok {seconds:.3} {hex}"));
            }
            Err(error) => say(&format!("@error {}", error.replace('\n', "\\n"))),
        }
    }
    Ok(())
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    // A parent that is gone needs no answer.
    let _ = writeln!(out, "\n{line}");
    let _ = out.flush();
}

/// The CPU time of this process and all of its threads, in nanoseconds.
fn cpu_time() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: room for the time.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// How many times slower the processor is now than on a machine at rest, 1 at least: others have its caches and its memory,
/// and the CPU time of a process says nothing of that.
///
/// The least of three, so that a launch is not taken for shorter than it was.
fn slowness() -> f64 {
    let once = || {
        let start = cpu_time();
        std::hint::black_box(compilers_work());
        (cpu_time() - start) as f64 / 1e9
    };
    let least = [once(), once(), once()]
        .into_iter()
        .fold(f64::MAX, f64::min);
    (least / AT_REST).max(1.0)
}

/// Work as compilers do it, on many small pieces of memory that are found by keys.
fn compilers_work() -> u64 {
    let mut lists: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let mut state = 1u64;
    for _ in 0..200_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        lists.entry(state >> 47).or_default().push(state);
    }
    lists
        .values()
        .flatten()
        .fold(0, |sum, value| sum.rotate_left(5) ^ value)
}

/// Ends the process where a launch takes too long.
fn watch() {
    loop {
        std::thread::sleep(GLANCE);
        let deadline = DEADLINE.load(Ordering::Relaxed);
        if deadline != 0 && cpu_time() > deadline {
            say("@slow");
            // SAFETY: ends the process without a destructor, which would wait for the launch.
            unsafe { libc::_exit(0) };
        }
    }
}

fn request(line: &str) -> Result<Request, String> {
    let mut words = line.split_whitespace();
    let mut word = || words.next().ok_or("a word is missing");
    let source = std::fs::read_to_string(word()?).map_err(|error| error.to_string())?;
    let input = std::fs::read(word()?).map_err(|error| error.to_string())?;
    let mut number = || word()?.parse().map_err(|_| "not a number");
    Ok(Request {
        source,
        input,
        output_words: number()?,
        memory_bytes: number()?,
        global_size: number()?,
        local_size: number()?,
    })
}

impl Session {
    /// The CPU seconds of the first launch of a program, and its output.
    fn launch(&self, request: &Request, patience: f64) -> Result<(f64, Vec<u8>), String> {
        let program = Program::create_and_build_from_source(
            &self.context,
            &request.source,
            "-cl-std=CL1.2 -w",
        )
        .map_err(|log| format!("the program does not build: {log}"))?;
        let untouched: Vec<u8> = UNTOUCHED.to_le_bytes().repeat(request.output_words);
        let input = self.upload(&request.input)?;
        let output = self.upload(&untouched)?;
        let memory = self.upload(&vec![0xcc; request.memory_bytes])?;
        let start = cpu_time();
        let limit = if patience > 0.0 {
            start + (patience * 1e9) as u64
        } else {
            0
        };
        DEADLINE.store(limit, Ordering::Relaxed);
        let result = self.launch_once(&program, request, [&input, &output, &memory]);
        DEADLINE.store(0, Ordering::Relaxed);
        result?;
        let mut seconds = (cpu_time() - start) as f64 / 1e9;
        if seconds > WITHIN {
            seconds /= slowness();
        }
        let mut bytes = untouched;
        // SAFETY: the slice outlives the blocking read.
        unsafe {
            self.queue
                .enqueue_read_buffer(&output, CL_BLOCKING, 0, &mut bytes, &[])
        }
        .map_err(|error| format!("clEnqueueReadBuffer: {error}"))?;
        Ok((seconds, bytes))
    }

    fn launch_once(
        &self,
        program: &Program,
        request: &Request,
        buffers: [&Buffer<u8>; 3],
    ) -> Result<(), String> {
        let kernel =
            Kernel::create(program, "test").map_err(|error| format!("clCreateKernel: {error}"))?;
        let mut launch = ExecuteKernel::new(&kernel);
        for buffer in buffers {
            // SAFETY: these are the arguments that `entry.h` declares; they outlive the launch.
            unsafe { launch.set_arg(buffer) };
        }
        launch
            .set_global_work_size(request.global_size)
            .set_local_work_size(request.local_size);
        // SAFETY: programs stay within the memory that they are given.
        let event = unsafe { launch.enqueue_nd_range(&self.queue) }
            .map_err(|error| format!("clEnqueueNDRangeKernel: {error}"))?;
        event.wait().map_err(|error| format!("the kernel: {error}"))
    }

    fn upload(&self, bytes: &[u8]) -> Result<Buffer<u8>, String> {
        let size = bytes.len().max(1);
        // SAFETY: no host pointer is given; the write has ended when it returns.
        unsafe {
            let mut buffer =
                Buffer::<u8>::create(&self.context, CL_MEM_READ_WRITE, size, ptr::null_mut())
                    .map_err(|error| format!("clCreateBuffer: {error}"))?;
            if !bytes.is_empty() {
                self.queue
                    .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, bytes, &[])
                    .map_err(|error| format!("clEnqueueWriteBuffer: {error}"))?;
            }
            Ok(buffer)
        }
    }
}
