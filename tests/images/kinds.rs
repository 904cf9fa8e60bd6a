//! Kinds of images that need something of their own: depth, the sRGB curve, images over buffers and over other
//! images, layers; and how many a kernel takes.

use crate::session::{Session, describe, format, over, session};
use opencl_sys::{CL_DEPTH, CL_sRGBA};
use opencl3::error_codes::{CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    CL_FLOAT, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_READ_WRITE, CL_R, CL_RGBA, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNSIGNED_INT8,
    CL_UNSIGNED_INT32, ClMem, Image,
};
use opencl3::program::Program;
use opencl3::types::cl_mem;
use std::ptr;

impl Session {
    /// Runs `items` work-items of a kernel on memory objects.
    pub fn launch(&self, kernel: &Kernel, arguments: &[cl_mem], items: usize) {
        let mut launch = ExecuteKernel::new(kernel);
        // SAFETY: the arguments are the kernel's, which stays inside of them.
        unsafe {
            for argument in arguments {
                launch.set_arg(argument);
            }
            launch
                .set_global_work_size(items)
                .enqueue_nd_range(&self.queue)
                .expect("a launch");
        }
    }
}

#[test]
fn depth_is_one_number() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_only image2d_depth_t from, write_only image2d_depth_t to, global float *out) {\n\
         const sampler_t smooth = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n\
         int x = get_global_id(0);\n\
         float depth = read_imagef(from, (int2)(x, 0));\n\
         write_imagef(to, (int2)(x, 0), 1.0f - depth);\n\
         out[x] = depth;\n\
         out[x + 4] = read_imagef(from, smooth, (float2)(x + 1.0f, 0.5f));\n}",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [4, 1, 1]);
    let wanted = [0.0, 0.25, 1.0, 0.5, 0.125, 0.625, 0.75, 0.5];
    let check = |from: Image, to: &Image, precision: f32| {
        let out = s.output(8);
        s.launch(&kernel, &[from.get(), to.get(), out.get()], 4);
        for (got, wanted) in s.values(&out, 8).into_iter().zip(wanted) {
            assert!((got - wanted).abs() <= precision, "{got} not {wanted}");
        }
    };
    let floats = s.image_of(CL_DEPTH, CL_FLOAT, &desc, &wanted[..4]);
    let to = s.empty_image(CL_DEPTH, CL_FLOAT, &desc);
    // Linear filtering may have eight bits.
    check(floats, &to, 1.0 / 256.0);
    let found = s.read::<f32>(&to, &[0; 3], [4, 1, 1], 4);
    assert_eq!(found, [1.0, 0.75, 0.0, 0.5]);

    let numbers = [0_u16, 0x4000, 0xffff, 0x8000];
    let numbers = s.image_of(CL_DEPTH, CL_UNORM_INT16, &desc, &numbers);
    let to = s.empty_image(CL_DEPTH, CL_UNORM_INT16, &desc);
    check(numbers, &to, 1.0 / 256.0);
    let found = s.read::<u16>(&to, &[0; 3], [4, 1, 1], 4);
    assert_eq!(found, [0xffff, 0xbfff, 0, 0x7fff]);
}

/// OpenCL specification, section 8.3.1.1.
pub fn srgb_of_linear(c: f64) -> f64 {
    if c < 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}

#[test]
fn colours_are_read_and_written_on_the_srgb_curve() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_only image2d_t from, write_only image2d_t to, read_only image2d_t plain,\n\
         global float4 *out) {\n\
         const sampler_t texels = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n\
         int x = get_global_id(0);\n\
         float4 texel = read_imagef(from, (int2)(x, 0));\n\
         write_imagef(to, (int2)(x, 0), texel);\n\
         out[x] = texel;\n\
         out[x + 64] = read_imagef(from, texels, (int2)(x, 0));\n\
         out[x + 128] = read_imagef(plain, texels, (int2)(x, 0));\n}",
    );
    let bytes: Vec<u8> = (0..=255).collect();
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [64, 1, 1]);
    let from = s.image_of(CL_sRGBA, CL_UNORM_INT8, &desc, &bytes);
    let to = s.empty_image(CL_sRGBA, CL_UNORM_INT8, &desc);
    // The same texels, off the curve.
    let plain = over(&from, CL_MEM_OBJECT_IMAGE2D, [64, 1, 1]);
    let plain = s.empty_image(CL_RGBA, CL_UNORM_INT8, &plain);
    let out = s.output(3 * 256);
    s.launch(&kernel, &[from.get(), to.get(), plain.get(), out.get()], 64);
    let found = s.values(&out, 3 * 256);
    for (index, &byte) in bytes.iter().enumerate() {
        for (part, is_curved) in [(0, true), (1, true), (2, false)] {
            let got = f64::from(found[256 * part + index]);
            // Alpha is linear. "The resulting floating-point value, if converted back to an sRGB value without
            // rounding to a 8-bit unsigned integer value, must be within 0.5 ulp of the original sRGB value" (OpenCL C
            // specification, Conversion Rules for sRGBA and sBGRA Images).
            let (unorm, limit) = if is_curved && index % 4 != 3 {
                (srgb_of_linear(got), 0.5)
            } else {
                (got, 0.25)
            };
            let error = (unorm * 255.0 - f64::from(byte)).abs();
            let what = format!("{byte} of component {}, read {part}", index % 4);
            assert!(error <= limit, "{what}: {got}");
        }
    }
    assert_eq!(s.read::<u8>(&to, &[0; 3], [64, 1, 1], 256), bytes);

    let wrong = over(&from, CL_MEM_OBJECT_IMAGE2D, [64, 1, 1]);
    let refused = s.create(
        CL_MEM_READ_WRITE,
        format(CL_R, CL_UNSIGNED_INT32),
        &wrong,
        ptr::null_mut(),
    );
    assert_eq!(
        refused.map(drop).unwrap_err().0,
        CL_INVALID_IMAGE_FORMAT_DESCRIPTOR
    );
}

#[test]
fn an_image_over_a_buffer_is_the_buffer() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_write image2d_t image, global uchar *bytes) {\n\
         int x = get_global_id(0) % 5, y = get_global_id(0) / 5;\n\
         uint old = read_imageui(image, (int2)(x, y)).x;\n\
         write_imageui(image, (int2)(x, y), old + 100u);\n}",
    );
    let mut wanted: Vec<u8> = (0..24).collect();
    let buffer = s.buffer_of(&wanted);
    let mut desc = over(&buffer, CL_MEM_OBJECT_IMAGE2D, [5, 3, 1]);
    desc.image_row_pitch = 8;
    let image = s.empty_image(CL_R, CL_UNSIGNED_INT8, &desc);
    s.launch(&kernel, &[image.get(), buffer.get()], 15);
    for (y, x) in (0..3).flat_map(|y| (0..5).map(move |x| (y, x))) {
        wanted[8 * y + x] += 100;
    }
    assert_eq!(s.values(&buffer, 24), wanted);

    desc.image_height = 4;
    let refused = s.create(
        CL_MEM_READ_WRITE,
        format(CL_R, CL_UNSIGNED_INT8),
        &desc,
        ptr::null_mut(),
    );
    assert_eq!(refused.map(drop).unwrap_err().0, CL_INVALID_IMAGE_SIZE);
}

#[test]
fn layers_are_named_by_the_last_coordinate() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_only image2d_array_t planes, read_only image1d_array_t lines,\n\
         write_only image2d_array_t to, global float *out) {\n\
         const sampler_t smooth = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n\
         int i = get_global_id(0);\n\
         out[i] = read_imagef(planes, smooth, (float4)(1.0f, 1.0f, i - 0.6f, 0.0f)).x;\n\
         out[i + 4] = read_imagef(lines, smooth, (float2)(1.0f, i - 0.4f)).x;\n\
         out[i + 8] = read_imagef(planes, (int4)(1, 0, i, 0)).x;\n\
         write_imagef(to, (int4)(i, 0, i - 1, 0), (float4)(i + 10.0f));\n\
         if (i == 0) { out[12] = get_image_array_size(planes); out[13] = get_image_width(lines); }\n}",
    );
    // Whole numbers, so that no filter rounds.
    let texels: Vec<f32> = (0..12).map(|i| (4 * i) as f32).collect();
    let planes = describe(CL_MEM_OBJECT_IMAGE2D_ARRAY, [2, 2, 3]);
    let lines = describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, [4, 1, 3]);
    let lines = s.image_of(CL_R, CL_FLOAT, &lines, &texels);
    let to = s.image_of(CL_R, CL_FLOAT, &planes, &[0_f32; 12]);
    let planes = s.image_of(CL_R, CL_FLOAT, &planes, &texels);
    let out = s.output(14);
    s.launch(
        &kernel,
        &[planes.get(), lines.get(), to.get(), out.get()],
        4,
    );
    let found = s.values(&out, 14);
    // The nearest layer, never one that there is not: of -0.6, 0.4, 1.4, 2.4 and of -0.4, 0.6, 1.6, 2.6.
    let middle = |layer: f32| 16.0 * layer + 6.0;
    assert_eq!(found[..4], [0.0, 0.0, 1.0, 2.0].map(middle));
    assert_eq!(
        found[4..8],
        [0.0, 1.0, 2.0, 2.0].map(|layer| 16.0 * layer + 2.0)
    );
    assert_eq!(found[8..12], [4.0, 20.0, 36.0, 36.0]);
    assert_eq!(found[12..], [3.0, 4.0]);
    // Work-item 0 names no layer, 2 and 3 no column.
    let mut wanted = [0.0; 12];
    wanted[1] = 11.0;
    assert_eq!(s.read::<f32>(&to, &[0; 3], [2, 2, 3], 12), wanted);
}

#[test]
fn a_kernel_takes_more_images_than_devices_have_descriptors_for() {
    let Some(s) = session() else { return };
    const COUNT: usize = 150;
    let list = |item: &dyn Fn(usize) -> String| (0..COUNT).map(item).collect::<String>();
    let parameters = list(&|i| format!("read_only image2d_t i{i}, "));
    let queries = list(&|i| format!("out[{i}] = get_image_width(i{i});\n"));
    let last = COUNT - 1;
    let kernel = s.kernel(&format!(
        "kernel void test({parameters}global uint *out) {{\n\
         {queries}out[{COUNT}] = read_imageui(i{last}, (int2)({last}, 0)).x;\n}}"
    ));
    let images: Vec<Image> = (1..=COUNT)
        .map(|width| {
            let desc = describe(CL_MEM_OBJECT_IMAGE2D, [width, 1, 1]);
            let texels: Vec<u32> = (0..width as u32).map(|x| 7 * x).collect();
            s.image_of(CL_R, CL_UNSIGNED_INT32, &desc, &texels)
        })
        .collect();
    let out = s.buffer_of(&[0_u32; COUNT + 1]);
    let arguments: Vec<cl_mem> = images.iter().map(Image::get).chain([out.get()]).collect();
    s.launch(&kernel, &arguments, 1);
    let wanted: Vec<u32> = (1..=COUNT as u32).chain([7 * last as u32]).collect();
    assert_eq!(s.values(&out, COUNT + 1), wanted);
}

#[test]
fn an_image_in_a_structure_is_a_build_error() {
    let Some(s) = session() else { return };
    let source = "struct pair { read_only image2d_t image; int number; };\n\
                  kernel void test(struct pair pair, global int *out) { out[0] = pair.number; }";
    let log = Program::create_and_build_from_source(&s.context, source, "-cl-std=CL3.0")
        .map(drop)
        .unwrap_err();
    assert!(log.contains("image2d_t"), "{log}");
}
