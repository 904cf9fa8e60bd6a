//! How fast images are copied, sampled and written, by texel.
//!
//! ```text
//! cargo bench --bench images -- [--out FOLDER] [NAME…]
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
    CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_R, CL_RGBA, CL_UNORM_INT8, Image,
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

fn measure(subject: &Subject, mut put: impl FnMut(&str, Unit, f64)) -> Result<()> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let program = Program::create_and_build_from_source(&context, SOURCE, "-cl-std=CL1.2")?;
    // Beyond every cache of a GPU, and done in a moment on a processor.
    let size: usize = if subject.is_gpu() { 4096 } else { 1024 };
    let texels = (size * size) as f64;
    let out = buffer::<f32>(&context, size)?;
    let (origin, region) = ([0_usize; 3], [size, size, 1]);
    for (format, order, ty, texel_bytes) in FORMATS {
        let from = image(&context, order, ty, size)?;
        let mut to = image(&context, order, ty, size)?;
        let color = [0.25_f32, 0.5, 0.75, 1.0];
        // SAFETY: four floats, and the whole of the image.
        unsafe {
            queue.enqueue_fill_image(
                &mut to,
                color.as_ptr().cast(),
                origin.as_ptr(),
                region.as_ptr(),
                &[],
            )?;
        }
        let mut target = image(&context, order, ty, size)?;
        let seconds = time(&queue, || {
            // SAFETY: the whole of both images, which are alike.
            unsafe {
                queue.enqueue_copy_image(
                    &to,
                    &mut target,
                    origin.as_ptr(),
                    origin.as_ptr(),
                    region.as_ptr(),
                    &[],
                )?;
            }
            Ok(())
        })?;
        let rate = 2.0 * texels * texel_bytes as f64 / seconds / 1e9;
        let name = format!("{format} copy, read and written");
        put(&name, Unit::GIGABYTES_PER_SECOND, rate);
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
            let rate = samples * texels / seconds / 1e9;
            put(&format!("{format} {what}"), GIGATEXELS_PER_SECOND, rate);
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
        let name = format!("{format} read one, write one");
        put(&name, GIGATEXELS_PER_SECOND, texels / seconds / 1e9);
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(&[])?;
    let subjects = subjects(&arguments.names)?;
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let mut table = Table::new("Images", &columns);
    for (column, subject) in subjects.iter().enumerate() {
        let put = |name: &str, unit, value| table.put(column, name, unit, value);
        if let Err(error) = measure(subject, put) {
            println!("{}: left out from here on: {error}", subject.name);
        }
    }
    let report = Report {
        tables: vec![table],
        ..Report::default()
    };
    report.show("images", arguments.out.as_deref())
}
