//! What OpenCL itself costs the host: launch latency, enqueue cost, transfer bandwidth, build time.
//!
//! ```text
//! cargo bench --bench host -- [NAME…]
//! ```
//!
//! It speaks only OpenCL through the system's loader, so every ICD that the loader finds can be measured,
//! in one run and in turn. With names, only devices whose platform or device name contains one of them
//! take part, in the order of the names; the first is the one that the others are compared with.
//! Figures are medians; a ratio is another device's figure over the first one's, so above 1 the
//! first is faster for times and slower for bandwidths.

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_uchar};
use std::error::Error;
use std::ptr;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
const LAUNCHES: usize = 1000;
const TRANSFER_BYTES: [usize; 3] = [4 << 10, 1 << 20, 64 << 20];

/// A name, the unit, and how to print a figure of it.
struct Measure {
    name: String,
    unit: &'static str,
    value: f64,
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Seconds that `work` takes, each of `count` times after one that isn't counted.
fn time(count: usize, mut work: impl FnMut() -> Result<()>) -> Result<Vec<f64>> {
    work()?;
    (0..count)
        .map(|_| {
            let start = Instant::now();
            work()?;
            Ok(start.elapsed().as_secs_f64())
        })
        .collect()
}

struct Subject {
    name: String,
    device: Device,
}

/// Every device that the loader knows, those named first and in that order.
fn subjects(names: &[String]) -> Result<Vec<Subject>> {
    let mut all = Vec::new();
    for platform in get_platforms()? {
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let device = Device::new(id);
            let name = format!("{} / {}", platform.name()?.trim(), device.name()?.trim());
            all.push(Subject { name, device });
        }
    }
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for wanted in names {
        let (take, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|s| s.name.contains(wanted));
        chosen.extend(take);
        all = rest;
    }
    Ok(chosen)
}

fn launches(context: &Context, queue: &CommandQueue, figures: &mut Vec<Measure>) -> Result<()> {
    let program = Program::create_and_build_from_source(context, EMPTY, "")?;
    let kernel = Kernel::create(&program, "empty")?;
    // SAFETY: no host pointer is given.
    let buffer =
        unsafe { Buffer::<cl_uchar>::create(context, CL_MEM_READ_WRITE, 64, ptr::null_mut())? };
    let launch = || -> Result<()> {
        // SAFETY: the kernel takes one buffer and touches no memory.
        unsafe {
            ExecuteKernel::new(&kernel)
                .set_arg(&buffer)
                .set_global_work_size(64)
                .set_local_work_size(64)
                .enqueue_nd_range(queue)?;
        }
        Ok(())
    };
    let round_trip = time(500, || {
        launch()?;
        Ok(queue.finish()?)
    })?;
    figures.push(Measure {
        name: "launch and finish one empty kernel".into(),
        unit: "us",
        value: median(round_trip) * 1e6,
    });
    let mut enqueue = Vec::new();
    let stream = time(20, || {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            launch()?;
        }
        enqueue.push(start.elapsed().as_secs_f64() / LAUNCHES as f64);
        Ok(queue.finish()?)
    })?;
    figures.push(Measure {
        name: format!("enqueue, in a stream of {LAUNCHES}"),
        unit: "us",
        value: median(enqueue) * 1e6,
    });
    figures.push(Measure {
        name: format!("launch to completion, in a stream of {LAUNCHES}"),
        unit: "us",
        value: median(stream) / LAUNCHES as f64 * 1e6,
    });
    Ok(())
}

fn transfers(context: &Context, queue: &CommandQueue, figures: &mut Vec<Measure>) -> Result<()> {
    for bytes in TRANSFER_BYTES {
        let mut host = vec![0u8; bytes];
        // SAFETY: no host pointer is given.
        let mut buffer = unsafe {
            Buffer::<cl_uchar>::create(context, CL_MEM_READ_WRITE, bytes, ptr::null_mut())?
        };
        let count = if bytes > 16 << 20 { 10 } else { 100 };
        // SAFETY: the call blocks, `host` outlives it and has the buffer's size.
        let write = time(count, || unsafe {
            queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &host, &[])?;
            Ok(())
        })?;
        // SAFETY: as above.
        let read = time(count, || unsafe {
            queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut host, &[])?;
            Ok(())
        })?;
        for (what, seconds) in [("write", write), ("read", read)] {
            figures.push(Measure {
                name: format!("blocking {what} of {} KiB", bytes >> 10),
                unit: "GB/s",
                value: bytes as f64 / median(seconds) / 1e9,
            });
        }
    }
    Ok(())
}

/// A program of `kernels` kernels that no cache has seen, so that the compiler really runs.
fn fresh_source(kernels: usize) -> String {
    let salt = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    (0..kernels)
        .map(|k| {
            format!(
                "kernel void k{k}(global float *a, uint n) {{ // {salt}\n\
                 size_t i = get_global_id(0); float x = a[i];\n\
                 for (uint j = 0; j < n; j++) {{ x = sin(x) * {k}.5f + (float)(j % {m}); if (x > 100.0f) break; }}\n\
                 a[i] = x; }}\n",
                m = k + 2
            )
        })
        .collect()
}

fn builds(context: &Context, device: &Device, figures: &mut Vec<Measure>) -> Result<()> {
    for kernels in [1, 16] {
        let build = |source: &str| -> Result<f64> {
            let start = Instant::now();
            let mut program = Program::create_from_source(context, source)?;
            program.build(&[device.id()], "")?;
            Kernel::create(&program, "k0")?;
            Ok(start.elapsed().as_secs_f64())
        };
        let cold = (0..5)
            .map(|_| build(&fresh_source(kernels)))
            .collect::<Result<_>>()?;
        let source = fresh_source(kernels);
        build(&source)?;
        let warm = (0..10).map(|_| build(&source)).collect::<Result<_>>()?;
        for (what, seconds) in [("unseen", cold), ("seen", warm)] {
            figures.push(Measure {
                name: format!("build {what} source of {kernels} kernels"),
                unit: "ms",
                value: median(seconds) * 1e3,
            });
        }
    }
    Ok(())
}

fn measure(subject: &Subject) -> Result<Vec<Measure>> {
    let context = Context::from_device(&subject.device)?;
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0)?;
    let mut figures = Vec::new();
    launches(&context, &queue, &mut figures)?;
    transfers(&context, &queue, &mut figures)?;
    builds(&context, &subject.device, &mut figures)?;
    Ok(figures)
}

fn main() -> Result<()> {
    // cargo bench passes `--bench`.
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    let subjects = subjects(&names)?;
    if subjects.is_empty() {
        return Err("the loader has no OpenCL device of such a name".into());
    }
    let mut columns = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        println!("[{index}] {}", subject.name);
        match measure(subject) {
            Ok(figures) => columns.push((index, figures)),
            Err(error) => println!("    left out: {error}"),
        }
    }
    let Some((_, first)) = columns.first() else {
        return Err("no device could be measured".into());
    };
    print!("\n{:46}", "");
    for (index, _) in &columns {
        print!("{:>20}", format!("[{index}]"));
    }
    println!();
    for (row, base) in first.iter().enumerate() {
        print!("{:46}", format!("{} ({})", base.name, base.unit));
        for (column, (_, figures)) in columns.iter().enumerate() {
            let value = figures[row].value;
            let ratio = if column == 0 {
                String::new()
            } else {
                format!(" x{:.2}", value / base.value)
            };
            print!("{:>20}", format!("{value:.2}{ratio}"));
        }
        println!();
    }
    Ok(())
}
