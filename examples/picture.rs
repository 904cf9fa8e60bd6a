//! Renders a Mandelbrot picture with an OpenCL kernel, checks every pixel against the host, writes a PNG.
//!
//! ```text
//! pumice run target/release/examples/picture picture.png [PLATFORM]
//! ```
//!
//! It knows nothing of Pumice: it loads the system's OpenCL loader and takes the first platform whose name
//! contains `PLATFORM` (any, without one).

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_WRITE_ONLY};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_uint};
use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::process::ExitCode;
use std::ptr;

const WIDTH: usize = 1024;
const HEIGHT: usize = 768;
const LIMIT: u32 = 512;

/// Contraction is off so that host and device round alike and the comparison can be exact.
const SOURCE: &str = r#"
#pragma OPENCL FP_CONTRACT OFF
kernel void mandelbrot(global uint *counts, float2 origin, float step, uint limit) {
    size_t x = get_global_id(0), y = get_global_id(1);
    float cr = origin.x + (float)x * step, ci = origin.y + (float)y * step;
    float zr = 0.0f, zi = 0.0f;
    uint count = 0;
    while (count < limit) {
        float rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0f)
            break;
        float cross = zr * zi;
        zr = (rr - ii) + cr;
        zi = (cross + cross) + ci;
        count++;
    }
    counts[y * get_global_size(0) + x] = count;
}
"#;

const ORIGIN: [f32; 2] = [-2.25, -1.125];
const STEP: f32 = 3.0 / WIDTH as f32;

/// The kernel's arithmetic, operation by operation.
fn expected(x: usize, y: usize) -> u32 {
    let (cr, ci) = (ORIGIN[0] + x as f32 * STEP, ORIGIN[1] + y as f32 * STEP);
    let (mut zr, mut zi) = (0.0f32, 0.0f32);
    let mut count = 0;
    while count < LIMIT {
        let (rr, ii) = (zr * zr, zi * zi);
        if rr + ii > 4.0 {
            break;
        }
        let cross = zr * zi;
        zr = (rr - ii) + cr;
        zi = (cross + cross) + ci;
        count += 1;
    }
    count
}

/// A colour for an iteration count.
fn colour(count: u32) -> [u8; 3] {
    if count == LIMIT {
        return [12, 10, 24];
    }
    let t = (count as f32 / 64.0).sqrt();
    let wave =
        |phase: f32| ((0.5 + 0.5 * (std::f32::consts::TAU * (t + phase)).cos()) * 255.0) as u8;
    [wave(0.0), wave(0.33), wave(0.67)]
}

fn device(wanted: &str) -> Result<Device, Box<dyn Error>> {
    for platform in get_platforms()? {
        if !platform.name()?.contains(wanted) {
            continue;
        }
        if let Some(&id) = platform.get_devices(CL_DEVICE_TYPE_ALL)?.first() {
            println!("platform {}, {}", platform.name()?, platform.version()?);
            return Ok(Device::new(id));
        }
    }
    Err(format!("no OpenCL device on a platform named like '{wanted}'").into())
}

fn render(device: &Device) -> Result<Vec<cl_uint>, Box<dyn Error>> {
    let context = Context::from_device(device)?;
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0)?;
    let program = Program::create_and_build_from_source(&context, SOURCE, "")?;
    let kernel = Kernel::create(&program, "mandelbrot")?;
    let mut counts = vec![0; WIDTH * HEIGHT];
    // SAFETY: no host pointer is given, the runtime owns the memory.
    let buffer = unsafe {
        Buffer::<cl_uint>::create(&context, CL_MEM_WRITE_ONLY, counts.len(), ptr::null_mut())?
    };
    // SAFETY: the arguments have the kernel's types, and the buffer an element for each work-item.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&buffer)
            .set_arg(&ORIGIN)
            .set_arg(&STEP)
            .set_arg(&LIMIT)
            .set_global_work_sizes(&[WIDTH, HEIGHT])
            .enqueue_nd_range(&queue)?;
        queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut counts, &[])?;
    }
    Ok(counts)
}

fn write_png(path: &str, counts: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut encoder = png::Encoder::new(
        BufWriter::new(File::create(path)?),
        WIDTH as u32,
        HEIGHT as u32,
    );
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let pixels: Vec<u8> = counts.iter().flat_map(|&count| colour(count)).collect();
    encoder.write_header()?.write_image_data(&pixels)?;
    Ok(())
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().unwrap_or_else(|| "picture.png".into());
    let device = device(&args.next().unwrap_or_default())?;
    println!("device {}", device.name()?);
    let counts = render(&device)?;
    let wrong = (0..HEIGHT)
        .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
        .filter(|&(x, y)| counts[y * WIDTH + x] != expected(x, y))
        .count();
    if wrong > 0 {
        return Err(format!("{wrong} of {} pixels differ from the host", WIDTH * HEIGHT).into());
    }
    write_png(&path, &counts)?;
    println!(
        "all {} pixels equal the host's; written to {path}",
        WIDTH * HEIGHT
    );
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("picture: {error}");
            ExitCode::FAILURE
        }
    }
}
