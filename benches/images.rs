//! How fast images and rectangles of buffers are copied and filled, and images sampled and written, by texel.
//!
//! ```text
//! cargo bench --bench images -- [--only moves|samples]… [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks only OpenCL through the system's loader, so every ICD that the loader finds can be measured, in one
//! run and in turn. With names, only devices whose platform or device name contains one of them take part, in the
//! order of the names; the first is the one that the others are compared with. Samples are read sixteen to a
//! work-item, from a square of texels around it, and summed, so that little is written.

mod support;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    Buffer, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_R, CL_RGBA, CL_UNORM_INT8, Image,
};
use opencl3::program::Program;
use opencl3::types::{cl_image_desc, cl_image_format};
use std::ptr;
use std::time::Instant;
use support::opencl::{Subject, buffer, queue, subjects};
use support::report::Report;
use support::table::{Table, Unit};
use support::{Arguments, Result};

const SOURCE: &str = r#"
constant sampler_t TEXELS = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t PLACES = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
constant sampler_t SMOOTH = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

#define SUM(READ) \
    int x = get_global_id(0), y = get_global_id(1); \
    float2 unit = 1.0f / (float2)(get_global_size(0), get_global_size(1)); \
    float4 sum = 0.0f; \
    for (int j = 0; j < 4; j++) for (int i = 0; i < 4; i++) sum += READ; \
    if (sum.x + sum.y + sum.z + sum.w == -1.0f) out[x] = sum.x;

kernel void nearest(read_only image2d_t from, global float *out) {
    SUM(read_imagef(from, TEXELS, (int2)(x + i, y + j)))
}
kernel void places(read_only image2d_t from, global float *out) {
    SUM(read_imagef(from, PLACES, ((float2)(x + i, y + j) + 0.5f) * unit))
}
kernel void plain(read_only image2d_t from, global float *out) {
    int w = get_image_width(from) - 1, h = get_image_height(from) - 1;
    SUM(read_imagef(from, (int2)(min(x + i, w), min(y + j, h))))
}
kernel void linear(read_only image2d_t from, global float *out) {
    SUM(read_imagef(from, SMOOTH, ((float2)(x + i, y + j) + 0.25f) * unit))
}
kernel void write(write_only image2d_t to, global float *out) {
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(to, (int2)(x, y), (float4)(x & 1, y & 1, 0.5f, 1.0f));
}
kernel void through(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, read_imagef(from, TEXELS, at));
}
"#;

/// What a kernel does to each texel of its range: reads, then writes.
const KERNELS: [(&str, &str, f64); 5] = [
    ("nearest", "nearest, integer coordinates", 16.0),
    ("places", "nearest, normalized, clamp", 16.0),
    ("plain", "without a sampler", 16.0),
    ("linear", "linear, normalized, to edge", 16.0),
    ("write", "write", 1.0),
];

const FORMATS: [(&str, u32, u32, usize); 3] = [
    ("RGBA8", CL_RGBA, CL_UNORM_INT8, 4),
    ("RGBA32F", CL_RGBA, CL_FLOAT, 16),
    ("R32F", CL_R, CL_FLOAT, 4),
];

const GIGATEXELS_PER_SECOND: Unit = Unit::more("Gtexel/s");

/// Seconds that one of `work` takes, many in a stream; the best of some streams.
fn time(queue: &CommandQueue, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut stream = |count: u32| -> Result<f64> {
        let start = Instant::now();
        for _ in 0..count {
            work()?;
        }
        queue.finish()?;
        Ok(start.elapsed().as_secs_f64() / f64::from(count))
    };
    stream(1)?;
    // About a twentieth of a second a stream.
    let count = (0.05 / stream(1)?).clamp(1.0, 100.0) as u32;
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        best = best.min(stream(count)?);
    }
    Ok(best)
}

fn image(context: &Context, order: u32, ty: u32, size: usize) -> Result<Image> {
    let format = cl_image_format {
        image_channel_order: order,
        image_channel_data_type: ty,
    };
    let desc = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: size,
        image_height: size,
        image_depth: 0,
        image_array_size: 0,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    // SAFETY: no host memory is given.
    Ok(unsafe { Image::create(context, CL_MEM_READ_WRITE, &format, &desc, ptr::null_mut())? })
}

/// Parts of an image: where, and how many texels each way, in 64ths of its side.
const PARTS: [(&str, [usize; 2], [usize; 2]); 4] = [
    ("whole", [0, 0], [64, 64]),
    ("quarter", [16, 16], [32, 32]),
    ("64th, wide", [0, 8], [64, 1]),
    ("64th, narrow", [8, 0], [1, 64]),
];

/// Copies and fills of parts of `to`, an image of `size` texels each way.
fn move_parts(
    queue: &CommandQueue,
    to: &mut Image,
    from: &Image,
    (size, texel_bytes): (usize, usize),
    mut put: impl FnMut(&str, f64),
) -> Result<()> {
    let color = [0.25_f32, 0.5, 0.75, 1.0];
    for (part, at, parts) in PARTS {
        let origin = [at[0] * size / 64, at[1] * size / 64, 0];
        let region = [parts[0] * size / 64, parts[1] * size / 64, 1];
        let bytes = (region[0] * region[1] * texel_bytes) as f64;
        let copied = time(queue, || {
            // SAFETY: a part of both images, which are alike.
            unsafe {
                let at = origin.as_ptr();
                queue.enqueue_copy_image(from, to, at, at, region.as_ptr(), &[])?;
            }
            Ok(())
        })?;
        put(
            &format!("copy, {part}, read and written"),
            2.0 * bytes / copied / 1e9,
        );
        let filled = time(queue, || {
            // SAFETY: four floats, and a part of the image.
            unsafe {
                let (color, at) = (color.as_ptr().cast(), origin.as_ptr());
                queue.enqueue_fill_image(to, color, at, region.as_ptr(), &[])?;
            }
            Ok(())
        })?;
        put(&format!("fill, {part}"), bytes / filled / 1e9);
    }
    Ok(())
}

/// Fills of a whole buffer, by the bytes of the pattern.
fn fill_buffers(
    queue: &CommandQueue,
    to: &mut Buffer<u8>,
    size_bytes: usize,
    mut put: impl FnMut(&str, f64),
) -> Result<()> {
    for (name, length) in [
        ("1 byte", 1),
        ("4 bytes", 4),
        ("16 bytes", 16),
        ("128 bytes", 128),
    ] {
        let pattern: Vec<u8> = (1..=length).collect();
        let seconds = time(queue, || {
            // SAFETY: the whole of the buffer, a multiple of the pattern.
            unsafe { queue.enqueue_fill_buffer(to, &pattern, 0, size_bytes, &[])? };
            Ok(())
        })?;
        put(name, size_bytes as f64 / seconds / 1e9);
    }
    Ok(())
}

/// Rectangles of half the bytes of a row of `pitch_bytes`, as many rows as bytes in a row, from `shift_bytes` on.
fn copy_rectangles(
    queue: &CommandQueue,
    to: &mut Buffer<u8>,
    from: &Buffer<u8>,
    pitch_bytes: usize,
    shift_bytes: [usize; 2],
) -> Result<f64> {
    let [source, target] = shift_bytes.map(|shift| [shift, 0, 0]);
    let region = [pitch_bytes / 2 - 5, pitch_bytes / 2, 1];
    let seconds = time(queue, || {
        // SAFETY: inside of both buffers, of `pitch_bytes` squared.
        unsafe {
            queue.enqueue_copy_buffer_rect(
                from,
                to,
                source.as_ptr(),
                target.as_ptr(),
                region.as_ptr(),
                pitch_bytes,
                0,
                pitch_bytes,
                0,
                &[],
            )?;
        }
        Ok(())
    })?;
    Ok(2.0 * (region[0] * region[1]) as f64 / seconds / 1e9)
}

/// Copies and fills, in GB/s.
fn measure_moves(subject: &Subject, mut put: impl FnMut(&str, f64)) -> Result<()> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let size = image_size(subject);
    // As large as the largest image.
    let pitch_bytes = 4 * size;
    let bytes = pitch_bytes * pitch_bytes;
    let (from, mut to) = (buffer(&context, bytes)?, buffer(&context, bytes)?);
    fill_buffers(&queue, &mut to, bytes, |name, rate| {
        put(&format!("buffer filled by {name}"), rate);
    })?;
    for (name, shifts) in [("odd bytes", [1, 1]), ("shifted by a byte", [1, 2])] {
        let rate = copy_rectangles(&queue, &mut to, &from, pitch_bytes, shifts)?;
        put(&format!("rectangle of buffers, {name}"), rate);
    }
    for (format, order, ty, texel_bytes) in FORMATS {
        let from = image(&context, order, ty, size)?;
        let mut to = image(&context, order, ty, size)?;
        move_parts(&queue, &mut to, &from, (size, texel_bytes), |name, rate| {
            put(&format!("{format} {name}"), rate);
        })?;
    }
    Ok(())
}

/// Kernels, in billions of texels a second.
fn measure_samples(subject: &Subject, mut put: impl FnMut(&str, f64)) -> Result<()> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let program = Program::create_and_build_from_source(&context, SOURCE, "-cl-std=CL1.2")?;
    let size = image_size(subject);
    let texels = (size * size) as f64;
    let out = buffer::<f32>(&context, size)?;
    for (format, order, ty, _) in FORMATS {
        let from = image(&context, order, ty, size)?;
        let to = image(&context, order, ty, size)?;
        for (kernel, what, samples) in KERNELS {
            let kernel = Kernel::create(&program, kernel)?;
            let seconds = time(&queue, || {
                // SAFETY: the arguments have the kernel's types, the image a texel for each work-item.
                unsafe {
                    ExecuteKernel::new(&kernel)
                        .set_arg(&from)
                        .set_arg(&out)
                        .set_global_work_sizes(&[size, size])
                        .enqueue_nd_range(&queue)?;
                }
                Ok(())
            })?;
            put(
                &format!("{format} {what}"),
                samples * texels / seconds / 1e9,
            );
        }
        let kernel = Kernel::create(&program, "through")?;
        let seconds = time(&queue, || {
            // SAFETY: as above.
            unsafe {
                ExecuteKernel::new(&kernel)
                    .set_arg(&to)
                    .set_arg(&from)
                    .set_global_work_sizes(&[size, size])
                    .enqueue_nd_range(&queue)?;
            }
            Ok(())
        })?;
        put(
            &format!("{format} read one, write one"),
            texels / seconds / 1e9,
        );
    }
    Ok(())
}

/// Texels each way: beyond every cache of a GPU, and done in a moment on a processor.
fn image_size(subject: &Subject) -> usize {
    if subject.is_gpu() { 4096 } else { 1024 }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(&["moves", "samples"])?;
    let subjects = subjects(&arguments.names)?;
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let mut moves = Table::new("Copies and fills", &columns);
    let mut samples = Table::new("Kernels", &columns);
    for (column, subject) in subjects.iter().enumerate() {
        let left_out = |error| println!("{}: left out from here on: {error}", subject.name);
        if arguments.wants("moves") {
            let unit = Unit::GIGABYTES_PER_SECOND;
            let put = |name: &str, value| moves.put(column, name, unit, value);
            measure_moves(subject, put).unwrap_or_else(left_out);
        }
        if arguments.wants("samples") {
            let put = |name: &str, value| samples.put(column, name, GIGATEXELS_PER_SECOND, value);
            measure_samples(subject, put).unwrap_or_else(left_out);
        }
    }
    let report = Report {
        tables: vec![moves, samples],
        ..Report::default()
    };
    report.show("images", arguments.out.as_deref())
}
