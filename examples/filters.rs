//! Edges, another size and other colours of a picture, by OpenCL kernels on images; every pixel is checked
//! against the host, the results are written as PNGs, and how fast each filter ran is said.
//!
//! ```text
//! pumice run target/release/examples/filters [PLATFORM [INPUT.png]]
//! ```
//!
//! It knows nothing of Pumice: it takes the first platform whose name contains `PLATFORM` (any, without one).
//! Without an input the picture is drawn here. Outputs: `edges.png`, `resized.png`, `converted.png`.

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    CL_BGRA, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY,
    CL_RGBA, CL_UNORM_INT8, Image,
};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format, cl_mem_flags};
use std::error::Error;
use std::ffi::c_void;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::process::ExitCode;
use std::ptr;
use std::time::Instant;

/// Launches that are timed, after one that is not.
const REPEATS: u32 = 20;

const SOURCE: &str = r#"
constant sampler_t TEXELS = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t SMOOTH = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

float brightness(read_only image2d_t image, int2 at) {
    return dot(read_imagef(image, TEXELS, at).xyz, (float3)(0.299f, 0.587f, 0.114f));
}

kernel void edges(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float horizontal = 0.0f, vertical = 0.0f;
    for (int i = -1; i <= 1; i++) {
        float weight = i == 0 ? 2.0f : 1.0f;
        horizontal += weight * (brightness(from, at + (int2)(1, i)) - brightness(from, at + (int2)(-1, i)));
        vertical += weight * (brightness(from, at + (int2)(i, 1)) - brightness(from, at + (int2)(i, -1)));
    }
    float strength = min(sqrt(horizontal * horizontal + vertical * vertical), 1.0f);
    write_imagef(to, at, (float4)(strength, strength, strength, 1.0f));
}

kernel void resize(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 size = (float2)(get_global_size(0), get_global_size(1));
    write_imagef(to, at, read_imagef(from, SMOOTH, (convert_float2(at) + 0.5f) / size));
}

kernel void convert(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 c = read_imagef(from, at);
    float y = brightness(from, at);
    write_imagef(to, at, (float4)(y, 0.5f + (c.z - y) * 0.564f, 0.5f + (c.x - y) * 0.713f, 1.0f));
}
"#;

/// Four bytes a pixel: red, green, blue, alpha.
struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Picture {
    fn new(width: usize, height: usize, colour: impl Fn(usize, usize) -> [u8; 4]) -> Self {
        let rows = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
        Self {
            width,
            height,
            pixels: rows.flat_map(|(x, y)| colour(x, y)).collect(),
        }
    }

    /// Discs and stripes over a sky.
    fn drawn() -> Self {
        Self::new(1280, 960, |x, y| {
            let (u, v) = (x as f64 / 1280.0, y as f64 / 960.0);
            let disc = ((u - 0.3).powi(2) + (v - 0.4).powi(2)).sqrt() < 0.2;
            let ring = (((u - 0.7).powi(2) + (v - 0.6).powi(2)).sqrt() * 60.0).sin() > 0.4;
            let byte = |value: f64| (value * 255.0) as u8;
            match (disc, ring && u > 0.45) {
                (true, _) => [240, byte(v), 40, 255],
                (_, true) => [30, byte(u), byte(1.0 - v), 255],
                _ => [byte(u * 0.5), byte(v * 0.6 + 0.2), 200, 255],
            }
        })
    }

    fn read(path: &str) -> Result<Self, Box<dyn Error>> {
        let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
        decoder.set_transformations(png::Transformations::normalize_to_color8());
        let mut reader = decoder.read_info()?;
        let size = reader
            .output_buffer_size()
            .ok_or("the picture is too large")?;
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes)?;
        let samples = info.color_type.samples();
        let (width, height) = (info.width as usize, info.height as usize);
        Ok(Self::new(width, height, |x, y| {
            let pixel = &bytes[(y * width + x) * samples..][..samples];
            match *pixel {
                [l] | [l, _] => [l, l, l, 255],
                [r, g, b, ..] => [r, g, b, 255],
                [] => [0; 4],
            }
        }))
    }

    fn write(&self, path: &str) -> Result<(), Box<dyn Error>> {
        let file = BufWriter::new(File::create(path)?);
        let mut encoder = png::Encoder::new(file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.write_header()?.write_image_data(&self.pixels)?;
        Ok(())
    }

    /// A channel, coordinates clamped to the edge.
    fn at(&self, x: i64, y: i64, channel: usize) -> f64 {
        let x = x.clamp(0, self.width as i64 - 1) as usize;
        let y = y.clamp(0, self.height as i64 - 1) as usize;
        f64::from(self.pixels[(y * self.width + x) * 4 + channel]) / 255.0
    }

    fn brightness(&self, x: i64, y: i64) -> f64 {
        0.299 * self.at(x, y, 0) + 0.587 * self.at(x, y, 1) + 0.114 * self.at(x, y, 2)
    }
}

fn byte(value: f64) -> u8 {
    (value.clamp(0.0, 1.0) * 255.0).round() as u8
}

fn edges(from: &Picture) -> Picture {
    Picture::new(from.width, from.height, |x, y| {
        let (x, y) = (x as i64, y as i64);
        let (mut horizontal, mut vertical) = (0.0, 0.0);
        for (i, weight) in [(-1, 1.0), (0, 2.0), (1, 1.0)] {
            horizontal += weight * (from.brightness(x + 1, y + i) - from.brightness(x - 1, y + i));
            vertical += weight * (from.brightness(x + i, y + 1) - from.brightness(x + i, y - 1));
        }
        let strength = byte(f64::hypot(horizontal, vertical));
        [strength, strength, strength, 255]
    })
}

fn resized(from: &Picture, width: usize, height: usize) -> Picture {
    Picture::new(width, height, |x, y| {
        let u = (x as f64 + 0.5) / width as f64 * from.width as f64 - 0.5;
        let v = (y as f64 + 0.5) / height as f64 * from.height as f64 - 0.5;
        let (i, j) = (u.floor(), v.floor());
        let (a, b) = (u - i, v - j);
        let (i, j) = (i as i64, j as i64);
        std::array::from_fn(|c| {
            let top = (1.0 - a) * from.at(i, j, c) + a * from.at(i + 1, j, c);
            let bottom = (1.0 - a) * from.at(i, j + 1, c) + a * from.at(i + 1, j + 1, c);
            byte((1.0 - b) * top + b * bottom)
        })
    })
}

fn converted(from: &Picture) -> Picture {
    Picture::new(from.width, from.height, |x, y| {
        let (x, y) = (x as i64, y as i64);
        let light = from.brightness(x, y);
        let blue = 0.5 + (from.at(x, y, 2) - light) * 0.564;
        let red = 0.5 + (from.at(x, y, 0) - light) * 0.713;
        [byte(light), byte(blue), byte(red), 255]
    })
}

/// A device with its program and the picture on it.
struct Filters {
    context: Context,
    queue: CommandQueue,
    program: Program,
    from: Image,
}

impl Filters {
    fn new(device: &Device, picture: &Picture) -> Result<Self, Box<dyn Error>> {
        let context = Context::from_device(device)?;
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0)?;
        let program = Program::create_and_build_from_source(&context, SOURCE, "-cl-std=CL1.2")?;
        let host = picture.pixels.as_ptr().cast_mut().cast();
        let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
        let from = image(
            &context,
            flags,
            CL_RGBA,
            picture.width,
            picture.height,
            host,
        )?;
        Ok(Self {
            context,
            queue,
            program,
            from,
        })
    }

    /// Runs a kernel into an image of this size; what it made, and millions of pixels a second.
    fn run(
        &self,
        name: &str,
        order: u32,
        width: usize,
        height: usize,
    ) -> Result<(Picture, f64), Box<dyn Error>> {
        let kernel = Kernel::create(&self.program, name)?;
        let flags = CL_MEM_WRITE_ONLY;
        let to = image(&self.context, flags, order, width, height, ptr::null_mut())?;
        let launch = || -> Result<(), Box<dyn Error>> {
            // SAFETY: the arguments have the kernel's types, and the image a texel for each work-item.
            unsafe {
                ExecuteKernel::new(&kernel)
                    .set_arg(&self.from)
                    .set_arg(&to)
                    .set_global_work_sizes(&[width, height])
                    .enqueue_nd_range(&self.queue)?;
            }
            Ok(())
        };
        launch()?;
        self.queue.finish()?;
        let start = Instant::now();
        for _ in 0..REPEATS {
            launch()?;
        }
        self.queue.finish()?;
        let pixels = f64::from(REPEATS) * (width * height) as f64;
        let rate = pixels / start.elapsed().as_secs_f64() / 1e6;

        let mut pixels = vec![0_u8; width * height * 4];
        let (origin, region) = ([0_usize; 3], [width, height, 1]);
        // SAFETY: room for the whole image.
        unsafe {
            self.queue.enqueue_read_image(
                &to,
                CL_BLOCKING,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                pixels.as_mut_ptr().cast(),
                &[],
            )?;
        }
        if order == CL_BGRA {
            pixels
                .chunks_exact_mut(4)
                .for_each(|pixel| pixel.swap(0, 2));
        }
        let picture = Picture {
            width,
            height,
            pixels,
        };
        Ok((picture, rate))
    }
}

fn image(
    context: &Context,
    flags: cl_mem_flags,
    order: u32,
    width: usize,
    height: usize,
    host: *mut c_void,
) -> Result<Image, Box<dyn Error>> {
    let format = cl_image_format {
        image_channel_order: order,
        image_channel_data_type: CL_UNORM_INT8,
    };
    let description = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: width,
        image_height: height,
        image_depth: 0,
        image_array_size: 0,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    // SAFETY: `host` is NULL or the pixels of the whole image.
    Ok(unsafe { Image::create(context, flags, &format, &description, host)? })
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

/// Whether two pictures are the same but for the rounding of a pixel's last bit.
fn check(name: &str, found: &Picture, expected: &Picture) -> Result<(), Box<dyn Error>> {
    let differences = found.pixels.iter().zip(&expected.pixels);
    let worst = differences.map(|(a, b)| a.abs_diff(*b)).max();
    match worst {
        Some(0 | 1) if found.pixels.len() == expected.pixels.len() => Ok(()),
        worst => Err(format!("{name} differs from the host by {worst:?}").into()),
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let device = device(&args.next().unwrap_or_default())?;
    println!("device {}", device.name()?);
    let picture = match args.next() {
        Some(path) => Picture::read(&path)?,
        None => Picture::drawn(),
    };
    let (width, height) = (picture.width, picture.height);
    let (smaller, lower) = ((width * 3 / 5).max(1), (height * 3 / 5).max(1));
    let filters = Filters::new(&device, &picture)?;
    for (name, order, size, expected, path) in [
        (
            "edges",
            CL_RGBA,
            (width, height),
            edges(&picture),
            "edges.png",
        ),
        (
            "resize",
            CL_RGBA,
            (smaller, lower),
            resized(&picture, smaller, lower),
            "resized.png",
        ),
        (
            "convert",
            CL_BGRA,
            (width, height),
            converted(&picture),
            "converted.png",
        ),
    ] {
        let (found, rate) = filters.run(name, order, size.0, size.1)?;
        check(name, &found, &expected)?;
        found.write(path)?;
        println!("{name}: as on the host, {rate:.1} million pixels a second, written to {path}");
    }
    Ok(())
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("filters: {error}");
            ExitCode::FAILURE
        }
    }
}
