//! Images through the API: host commands on regions, and what kernels read and write, against formulas
//! computed here.

mod common;

use opencl_sys::{
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_IMAGE_FORMAT_MISMATCH, CL_INVALID_ARG_VALUE, CL_INVALID_IMAGE_DESCRIPTOR,
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, CL_INVALID_MEM_OBJECT,
    CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP, ClError,
};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    Buffer, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT,
    CL_ADDRESS_REPEAT, CL_BGRA, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_FLOAT, CL_HALF_FLOAT,
    CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_ARRAY,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_ONLY,
    CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY, CL_R, CL_RG, CL_RGB, CL_RGBA,
    CL_SIGNED_INT8, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_SHORT_565, CL_UNSIGNED_INT32, ClMem,
    Image, Sampler,
};
use opencl3::program::Program;
use opencl3::types::{
    CL_BLOCKING, CL_FALSE, CL_TRUE, cl_image_desc, cl_image_format, cl_mem_flags,
};
use std::ffi::c_void;
use std::ptr;

struct Session {
    context: Context,
    queue: CommandQueue,
}

fn session() -> Option<Session> {
    let device = common::device()?;
    let context = Context::from_device(&device).expect("a context");
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
    Some(Session { context, queue })
}

fn format(order: u32, channel_type: u32) -> cl_image_format {
    cl_image_format {
        image_channel_order: order,
        image_channel_data_type: channel_type,
    }
}

fn describe(image_type: u32, [width, height, depth]: [usize; 3]) -> cl_image_desc {
    cl_image_desc {
        image_type,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: depth,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

impl Session {
    fn create(
        &self,
        flags: cl_mem_flags,
        format: cl_image_format,
        desc: &cl_image_desc,
        host: *mut c_void,
    ) -> Result<Image, ClError> {
        // SAFETY: the tests give memory of the image's size, or none.
        unsafe { Image::create(&self.context, flags, &format, desc, host) }
    }

    fn image_of<T>(&self, order: u32, ty: u32, desc: &cl_image_desc, texels: &[T]) -> Image {
        let host = texels.as_ptr().cast_mut().cast();
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        self.create(flags, format(order, ty), desc, host)
            .expect("an image")
    }

    fn read<T: Copy + Default>(
        &self,
        image: &Image,
        origin: [usize; 3],
        region: [usize; 3],
        values: usize,
    ) -> Vec<T> {
        let mut out = vec![T::default(); values];
        // SAFETY: room for the region.
        unsafe {
            self.queue
                .enqueue_read_image(
                    image,
                    CL_BLOCKING,
                    origin.as_ptr(),
                    region.as_ptr(),
                    0,
                    0,
                    out.as_mut_ptr().cast(),
                    &[],
                )
                .expect("the region is read");
        }
        out
    }

    fn kernel(&self, source: &str) -> Kernel {
        let program = Program::create_and_build_from_source(&self.context, source, "-cl-std=CL3.0")
            .unwrap_or_else(|log| panic!("{log}"));
        Kernel::create(&program, "test").expect("a kernel named test")
    }

    fn output(&self, floats: usize) -> Buffer<f32> {
        // SAFETY: no host memory is given.
        unsafe {
            Buffer::create(&self.context, CL_MEM_READ_WRITE, floats, ptr::null_mut())
                .expect("a buffer")
        }
    }

    fn floats(&self, buffer: &Buffer<f32>, count: usize) -> Vec<f32> {
        let mut out = vec![0.0; count];
        // SAFETY: room for as many.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut out, &[])
                .expect("the buffer is read");
        }
        out
    }
}

#[test]
fn regions_are_read_written_copied_and_filled() {
    let Some(s) = session() else { return };
    let desc = describe(CL_MEM_OBJECT_IMAGE3D, [5, 4, 3]);
    let texels: Vec<u32> = (0..60).map(|index| index * 0x0101_0001).collect();
    let mut image = s.image_of(CL_RGBA, CL_UNORM_INT8, &desc, &texels);
    assert_eq!(s.read::<u32>(&image, [0; 3], [5, 4, 3], 60), texels);

    // A region with pitches of its own on the host.
    let patch: Vec<u32> = (1000..1000 + 7 * 3 * 2).collect();
    let (origin, region) = ([1, 2, 1], [3, 2, 2]);
    // SAFETY: the host memory covers the region at these pitches.
    unsafe {
        s.queue
            .enqueue_write_image(
                &mut image,
                CL_BLOCKING,
                origin.as_ptr(),
                region.as_ptr(),
                7 * 4,
                21 * 4,
                patch.as_ptr().cast_mut().cast(),
                &[],
            )
            .expect("the region is written");
    }
    let mut expected = texels;
    for (z, y, x) in (0..2).flat_map(|z| (0..2).flat_map(move |y| (0..3).map(move |x| (z, y, x)))) {
        expected[(z + 1) * 20 + (y + 2) * 5 + x + 1] = patch[z * 21 + y * 7 + x];
    }
    assert_eq!(s.read::<u32>(&image, [0; 3], [5, 4, 3], 60), expected);

    // Fill one row of each slice.
    let color = [1.0_f32, 0.0, 0.5, 0.25];
    let (origin, region) = ([0, 3, 0], [4, 1, 3]);
    // SAFETY: four floats and three numbers each.
    unsafe {
        s.queue
            .enqueue_fill_image(
                &mut image,
                color.as_ptr().cast(),
                origin.as_ptr(),
                region.as_ptr(),
                &[],
            )
            .expect("the region is filled");
    }
    for (z, x) in (0..3).flat_map(|z| (0..4).map(move |x| (z, x))) {
        expected[z * 20 + 15 + x] = u32::from_le_bytes([255, 0, 128, 64]);
    }
    assert_eq!(s.read::<u32>(&image, [0; 3], [5, 4, 3], 60), expected);

    // Slices to a 2D image.
    let flat = describe(CL_MEM_OBJECT_IMAGE2D, [5, 4, 1]);
    let mut target = s.image_of(CL_RGBA, CL_UNORM_INT8, &flat, &[0_u32; 20]);
    let (from, to, region) = ([1, 1, 2], [2, 0, 0], [3, 3, 1]);
    // SAFETY: three numbers each.
    unsafe {
        s.queue
            .enqueue_copy_image(
                &image,
                &mut target,
                from.as_ptr(),
                to.as_ptr(),
                region.as_ptr(),
                &[],
            )
            .expect("the region is copied");
    }
    let copied = s.read::<u32>(&target, [2, 0, 0], [3, 3, 1], 9);
    let wanted: Vec<u32> = (0..9)
        .map(|i| expected[40 + (i / 3 + 1) * 5 + i % 3 + 1])
        .collect();
    assert_eq!(copied, wanted);
}

#[test]
fn layers_of_1d_arrays_are_rows_of_regions() {
    let Some(s) = session() else { return };
    let desc = describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, [6, 1, 4]);
    let texels: Vec<u8> = (0..24).collect();
    let image = s.image_of(CL_R, CL_SIGNED_INT8, &desc, &texels);
    let part = s.read::<u8>(&image, [2, 1, 0], [3, 2, 1], 6);
    assert_eq!(part, [8, 9, 10, 14, 15, 16]);
}

#[test]
fn a_mapped_region_is_seen_and_changed() {
    let Some(s) = session() else { return };
    let mut texels: Vec<u32> = (0..12 * 8).collect();
    let mut desc = describe(CL_MEM_OBJECT_IMAGE2D, [10, 8, 1]);
    desc.image_row_pitch = 12 * 4;
    for flags in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        let flags = CL_MEM_READ_WRITE | flags;
        let host = texels.as_mut_ptr().cast();
        let image = s
            .create(flags, format(CL_R, CL_UNSIGNED_INT32), &desc, host)
            .expect("an image");
        let (origin, region) = ([3, 2, 0], [4, 3, 1]);
        let (mut row_pitch, mut slice_pitch) = (0, 7);
        let mut mapped = ptr::null_mut();
        // SAFETY: out-pointers of this test.
        unsafe {
            s.queue
                .enqueue_map_image(
                    &image,
                    CL_BLOCKING,
                    CL_MAP_READ | CL_MAP_WRITE,
                    origin.as_ptr(),
                    region.as_ptr(),
                    &mut row_pitch,
                    &mut slice_pitch,
                    &mut mapped,
                    &[],
                )
                .expect("a map");
        }
        assert_eq!(slice_pitch, 0);
        assert!(row_pitch >= 40 && row_pitch.is_multiple_of(4));
        let at = |x: usize, y: usize| {
            // SAFETY: inside the mapped region.
            unsafe { mapped.cast::<u8>().add(y * row_pitch + 4 * x).cast::<u32>() }
        };
        // SAFETY: as above.
        unsafe {
            assert_eq!(*at(0, 0), 2 * 12 + 3);
            assert_eq!(*at(3, 2), 4 * 12 + 6);
            *at(1, 1) = 7777;
            s.queue
                .enqueue_unmap_mem_object(image.get(), mapped, &[])
                .expect("an unmap");
        }
        let row = s.read::<u32>(&image, [3, 3, 0], [3, 1, 1], 3);
        assert_eq!(row, [39, 7777, 41]);
        drop(image);
        texels[40] = 40;
    }
}

/// What `CLK_ADDRESS_*` makes of a texel's index; `None` is the border.
fn wrapped(index: i64, size: i64, mode: u32) -> Option<usize> {
    let inside = match mode {
        CL_ADDRESS_CLAMP if !(0..size).contains(&index) => return None,
        CL_ADDRESS_REPEAT => index.rem_euclid(size),
        CL_ADDRESS_MIRRORED_REPEAT => {
            let period = index.rem_euclid(2 * size);
            period.min(2 * size - 1 - period)
        }
        _ => index.clamp(0, size - 1),
    };
    Some(inside as usize)
}

/// `read_imagef` on a 2D image of single floats.
fn reference(
    texels: &[f32],
    [width, height]: [usize; 2],
    at: [f32; 2],
    (normalized, mode, filter): (u32, u32, u32),
) -> f64 {
    let scale = |c: f32, size: usize| match normalized {
        CL_TRUE => f64::from(c) * size as f64,
        _ => f64::from(c),
    };
    let (u, v) = (scale(at[0], width), scale(at[1], height));
    let texel = |i: i64, j: i64| {
        let x = wrapped(i, width as i64, mode)?;
        let y = wrapped(j, height as i64, mode)?;
        Some(f64::from(texels[y * width + x]))
    };
    if filter == CL_FILTER_NEAREST {
        return texel(u.floor() as i64, v.floor() as i64).unwrap_or(0.0);
    }
    let (i, j) = ((u - 0.5).floor(), (v - 0.5).floor());
    let (a, b) = (u - 0.5 - i, v - 0.5 - j);
    let mut sum = 0.0;
    for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let weight = |d: i64, f: f64| if d == 1 { f } else { 1.0 - f };
        let value = texel(i as i64 + dx, j as i64 + dy).unwrap_or(0.0);
        sum += weight(dx, a) * weight(dy, b) * value;
    }
    sum
}

#[test]
fn every_sampler_reads_as_the_formulas_say() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_only image2d_t image, sampler_t sampler, global const float2 *at, \
         global float4 *out) {\n\
         size_t i = get_global_id(0);\n\
         out[i] = read_imagef(image, sampler, at[i]);\n}",
    );
    const SIZE: [usize; 2] = [7, 5];
    let texels: Vec<f32> = (0..35)
        .map(|i| ((i * 37) % 64) as f32 / 4.0 - 3.0)
        .collect();
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [7, 5, 1]);
    let image = s.image_of(CL_R, CL_FLOAT, &desc, &texels);
    // Off the places where a texel ends, which rounding may put on either side.
    let places: Vec<[f32; 2]> = (0..64)
        .map(|i| {
            let (x, y) = (i % 8, i / 8);
            [x as f32 * 0.437 - 1.31, y as f32 * 0.391 - 1.17]
        })
        .collect();
    for normalized in [CL_TRUE, CL_FALSE] {
        let places: Vec<[f32; 2]> = match normalized {
            CL_TRUE => places.clone(),
            _ => places.iter().map(|[x, y]| [x * 5.0, y * 4.0]).collect(),
        };
        // SAFETY: a copy is made of as many floats.
        let at = unsafe {
            Buffer::<f32>::create(
                &s.context,
                CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                128,
                places.as_ptr().cast_mut().cast(),
            )
            .expect("a buffer")
        };
        for mode in [
            CL_ADDRESS_CLAMP,
            CL_ADDRESS_CLAMP_TO_EDGE,
            CL_ADDRESS_REPEAT,
            CL_ADDRESS_MIRRORED_REPEAT,
        ] {
            if normalized == CL_FALSE
                && [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT].contains(&mode)
            {
                continue;
            }
            for filter in [CL_FILTER_NEAREST, CL_FILTER_LINEAR] {
                let properties = [
                    (CL_SAMPLER_NORMALIZED_COORDS, normalized),
                    (CL_SAMPLER_ADDRESSING_MODE, mode),
                    (CL_SAMPLER_FILTER_MODE, filter),
                    (0, 0),
                ];
                let properties = properties.map(|(name, value)| [name, value].map(u64::from));
                let sampler =
                    Sampler::create_with_properties(&s.context, properties.as_flattened().as_ptr())
                        .expect("a sampler");
                let out = s.output(256);
                // SAFETY: the arguments are the kernel's.
                unsafe {
                    ExecuteKernel::new(&kernel)
                        .set_arg(&image)
                        .set_arg(&sampler)
                        .set_arg(&at)
                        .set_arg(&out)
                        .set_global_work_size(64)
                        .enqueue_nd_range(&s.queue)
                        .expect("a launch");
                }
                let found = s.floats(&out, 256);
                for (index, &place) in places.iter().enumerate() {
                    let wanted = reference(&texels, SIZE, place, (normalized, mode, filter));
                    let got = &found[4 * index..4 * index + 4];
                    let what = format!("{normalized} {mode:#x} {filter:#x} at {place:?}: {got:?}");
                    assert!(
                        (f64::from(got[0]) - wanted).abs() < 2e-4,
                        "{what} not {wanted}"
                    );
                    assert_eq!(got[1..3], [0.0, 0.0], "{what}");
                    // CL_R: the border is opaque as well.
                    assert!((got[3] - 1.0).abs() < 1e-6, "{what}");
                }
            }
        }
    }
}

#[test]
fn texels_of_many_formats_are_decoded_and_encoded() {
    let Some(s) = session() else { return };
    // Reads without a sampler, writes, and a literal sampler.
    let kernel = s.kernel(
        "kernel void test(read_only image2d_t image, write_only image2d_t copy, global float4 *out) {\n\
         const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n\
         int2 at = (int2)(get_global_id(0), 0);\n\
         float4 texel = read_imagef(image, at);\n\
         out[get_global_id(0)] = texel;\n\
         if (all(isequal(texel, read_imagef(image, s, at)))) write_imagef(copy, at, texel);\n}",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [4, 1, 1]);
    type Case<'a> = (u32, u32, &'a [u8], [[f64; 4]; 4]);
    let cases: [Case<'_>; 6] = [
        (
            CL_BGRA,
            CL_UNORM_INT8,
            &[
                0, 51, 255, 255, 1, 2, 3, 4, 255, 255, 255, 0, 128, 127, 0, 9,
            ],
            [
                [1.0, 0.2, 0.0, 1.0],
                [3.0 / 255.0, 2.0 / 255.0, 1.0 / 255.0, 4.0 / 255.0],
                [1.0, 1.0, 1.0, 0.0],
                [0.0, 127.0 / 255.0, 128.0 / 255.0, 9.0 / 255.0],
            ],
        ),
        (
            CL_RG,
            CL_SNORM_INT16,
            &[
                0xff, 0x7f, 1, 0x80, 0, 0x80, 0, 0, 1, 0, 0xff, 0xff, 0, 0x40, 0, 0xc0,
            ],
            [
                [1.0, -1.0, 0.0, 1.0],
                [-1.0, 0.0, 0.0, 1.0],
                [1.0 / 32767.0, -1.0 / 32767.0, 0.0, 1.0],
                [16384.0 / 32767.0, -16384.0 / 32767.0, 0.0, 1.0],
            ],
        ),
        (
            CL_R,
            CL_HALF_FLOAT,
            &[0, 0x3c, 0, 0xc0, 1, 0, 0xff, 0x7b],
            [
                [1.0, 0.0, 0.0, 1.0],
                [-2.0, 0.0, 0.0, 1.0],
                [5.960_464_477_539_063e-8, 0.0, 0.0, 1.0],
                [65504.0, 0.0, 0.0, 1.0],
            ],
        ),
        (
            CL_RGB,
            CL_UNORM_SHORT_565,
            &[0, 0xf8, 0xe0, 7, 0x1f, 0, 0x21, 8],
            [
                [1.0, 0.0, 0.0, 1.0],
                [0.0, 1.0, 0.0, 1.0],
                [0.0, 0.0, 1.0, 1.0],
                [1.0 / 31.0, 1.0 / 63.0, 1.0 / 31.0, 1.0],
            ],
        ),
        (
            CL_R,
            CL_UNORM_INT8,
            &[0, 1, 254, 255],
            [
                [0.0, 0.0, 0.0, 1.0],
                [1.0 / 255.0, 0.0, 0.0, 1.0],
                [254.0 / 255.0, 0.0, 0.0, 1.0],
                [1.0, 0.0, 0.0, 1.0],
            ],
        ),
        (
            CL_RGBA,
            CL_FLOAT,
            &[
                0, 0, 128, 63, 0, 0, 0, 192, 0, 0, 0, 0, 0, 0, 64, 64, //
                0, 0, 0, 63, 0, 0, 0, 63, 0, 0, 0, 63, 0, 0, 0, 63, //
                0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, //
                0, 0, 128, 191, 0, 0, 128, 63, 0, 0, 128, 191, 0, 0, 128, 63,
            ],
            [
                [1.0, -2.0, 0.0, 3.0],
                [0.5; 4],
                [0.0, 1.0, 2.0, 3.0],
                [-1.0, 1.0, -1.0, 1.0],
            ],
        ),
    ];
    for (order, ty, bytes, wanted) in cases {
        let image = s.image_of(order, ty, &desc, bytes);
        let copy = s
            .create(CL_MEM_WRITE_ONLY, format(order, ty), &desc, ptr::null_mut())
            .expect("an image");
        let out = s.output(16);
        // SAFETY: the arguments are the kernel's.
        unsafe {
            ExecuteKernel::new(&kernel)
                .set_arg(&image)
                .set_arg(&copy)
                .set_arg(&out)
                .set_global_work_size(4)
                .enqueue_nd_range(&s.queue)
                .expect("a launch");
        }
        let found = s.floats(&out, 16);
        for (got, wanted) in found.iter().zip(wanted.as_flattened()) {
            let error = (f64::from(*got) - wanted).abs();
            assert!(
                error <= wanted.abs() * 2e-7,
                "{order:#x} {ty:#x}: {found:?} not {wanted:?}"
            );
        }
        let mut again = s.read::<u8>(&copy, [0; 3], [4, 1, 1], bytes.len());
        if ty == CL_SNORM_INT16 {
            // The other -1 reads the same.
            again[4..6].copy_from_slice(&[0, 0x80]);
        }
        assert_eq!(again, bytes, "{order:#x} {ty:#x}");
    }
}

#[test]
fn integers_are_saturated_and_writes_outside_dropped() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(write_only image2d_t image) {\n\
         int i = get_global_id(0);\n\
         write_imagei(image, (int2)(i - 2, i / 6), (int4)(i * 60 - 200, 0, 0, 0));\n}",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [6, 1, 1]);
    let image = s.image_of(CL_R, CL_SIGNED_INT8, &desc, &[9_u8; 6]);
    // SAFETY: the arguments are the kernel's.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&image)
            .set_global_work_size(12)
            .enqueue_nd_range(&s.queue)
            .expect("a launch");
    }
    let found = s.read::<i8>(&image, [0; 3], [6, 1, 1], 6);
    assert_eq!(found, [-80, -20, 40, 100, 9, 9]);
}

#[test]
fn read_write_3d_and_buffer_images() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_write image3d_t volume, read_write image1d_buffer_t line, \
         global uint *sizes) {\n\
         int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);\n\
         uint4 old = read_imageui(volume, at);\n\
         int i = (at.z * 2 + at.y) * 3 + at.x;\n\
         uint4 other = read_imageui(line, i);\n\
         write_imageui(volume, at, old + other);\n\
         write_imageui(line, i, other * 2u);\n\
         sizes[0] = get_image_width(volume); sizes[1] = get_image_height(volume);\n\
         sizes[2] = get_image_depth(volume); sizes[3] = get_image_width(line);\n\
         sizes[4] = get_image_channel_order(line); sizes[5] = get_image_channel_data_type(volume);\n}",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE3D, [3, 2, 2]);
    let texels: Vec<u32> = (0..12).map(|i| 100 + i).collect();
    let volume = s.image_of(CL_R, CL_UNSIGNED_INT32, &desc, &texels);
    let line: Vec<u32> = (0..12).map(|i| 1000 * i).collect();
    // SAFETY: a copy is made of as many numbers.
    let buffer = unsafe {
        Buffer::<u32>::create(
            &s.context,
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            12,
            line.as_ptr().cast_mut().cast(),
        )
        .expect("a buffer")
    };
    let mut desc = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER, [12, 1, 1]);
    desc.buffer = buffer.get();
    let view = s
        .create(
            CL_MEM_READ_WRITE,
            format(CL_R, CL_UNSIGNED_INT32),
            &desc,
            ptr::null_mut(),
        )
        .expect("an image over the buffer");
    let sizes = s.output(6);
    // SAFETY: the arguments are the kernel's.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&volume)
            .set_arg(&view)
            .set_arg(&sizes)
            .set_global_work_sizes(&[3, 2, 2])
            .enqueue_nd_range(&s.queue)
            .expect("a launch");
    }
    let found = s.read::<u32>(&volume, [0; 3], [3, 2, 2], 12);
    let wanted: Vec<u32> = (0..12).map(|i| 100 + i + 1000 * i).collect();
    assert_eq!(found, wanted);
    let mut doubled = vec![0_u32; 12];
    // SAFETY: room for as many.
    unsafe {
        s.queue
            .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut doubled, &[])
            .expect("the buffer is read");
    }
    let wanted: Vec<u32> = (0..12).map(|i| 2000 * i).collect();
    assert_eq!(doubled, wanted);
    let sizes: Vec<u32> = s.floats(&sizes, 6).iter().map(|x| x.to_bits()).collect();
    assert_eq!(sizes, [3, 2, 2, 12, CL_R, CL_UNSIGNED_INT32]);
}

#[test]
fn wrong_descriptions_and_regions_are_refused() {
    let Some(s) = session() else { return };
    let rgba = format(CL_RGBA, CL_UNORM_INT8);
    let code = |format, desc: &cl_image_desc| {
        s.create(CL_MEM_READ_WRITE, format, desc, ptr::null_mut())
            .err()
            .map(|error| error.0)
    };
    let good = describe(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
    assert_eq!(code(rgba, &good), None);
    assert_eq!(
        code(format(CL_RGB, CL_UNORM_INT8), &good),
        Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR)
    );
    let flat = describe(CL_MEM_OBJECT_IMAGE2D, [4, 0, 1]);
    assert_eq!(code(rgba, &flat), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    let wide = describe(CL_MEM_OBJECT_IMAGE2D, [1 << 20, 4, 1]);
    assert_eq!(code(rgba, &wide), Some(CL_INVALID_IMAGE_SIZE));
    let pitched = cl_image_desc {
        image_row_pitch: 64,
        ..good
    };
    assert_eq!(code(rgba, &pitched), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    let lonely = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER, [4, 1, 1]);
    assert_eq!(code(rgba, &lonely), Some(CL_INVALID_IMAGE_DESCRIPTOR));

    let mut image = s.image_of(CL_RGBA, CL_UNORM_INT8, &good, &[0_u32; 16]);
    let other = s.image_of(CL_BGRA, CL_UNORM_INT8, &good, &[0_u32; 16]);
    let copy = |from: &Image, to: &mut Image, at: [usize; 3]| {
        let region = [2_usize, 2, 1];
        // SAFETY: three numbers each.
        unsafe {
            s.queue
                .enqueue_copy_image(from, to, [0; 3].as_ptr(), at.as_ptr(), region.as_ptr(), &[])
                .err()
                .map(|error| error.0)
        }
    };
    assert_eq!(
        copy(&other, &mut image, [0; 3]),
        Some(CL_IMAGE_FORMAT_MISMATCH)
    );
    let mut same = Image::new(image.get());
    // SAFETY: one more reference for the second handle.
    unsafe { opencl3::memory::retain_mem_object(image.get()).expect("a reference") };
    assert_eq!(
        copy(&image, &mut same, [1, 1, 0]),
        Some(CL_MEM_COPY_OVERLAP)
    );
    assert_eq!(copy(&image, &mut same, [3, 0, 0]), Some(CL_INVALID_VALUE));
    assert_eq!(copy(&image, &mut same, [2, 2, 0]), None);

    let kernel = s.kernel(
        "kernel void test(read_only image3d_t image, global float4 *out) {\n\
         out[0] = read_imagef(image, (int4)(0));\n}",
    );
    // SAFETY: handles of the right size.
    unsafe {
        let error = kernel.set_arg(0, &image.get()).unwrap_err();
        assert_eq!(error.0, CL_INVALID_ARG_VALUE, "a 2D image for a 3D one");
        let out = s.output(4);
        assert_eq!(
            kernel.set_arg(0, &out.get()).unwrap_err().0,
            CL_INVALID_MEM_OBJECT
        );
        assert_eq!(
            kernel.set_arg(1, &image.get()).unwrap_err().0,
            CL_INVALID_MEM_OBJECT
        );
    }
}
