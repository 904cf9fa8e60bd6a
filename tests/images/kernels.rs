//! What kernels read and write.

use crate::session::{describe, over, session};
use opencl3::kernel::ExecuteKernel;
use opencl3::memory::{
    CL_BGRA, CL_FLOAT, CL_HALF_FLOAT, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE3D, CL_R, CL_RG, CL_RGB, CL_RGBA, CL_SIGNED_INT8, CL_SNORM_INT16,
    CL_UNORM_INT8, CL_UNORM_SHORT_565, CL_UNSIGNED_INT32,
};

/// Order and type of a format, the bytes of four texels, and what they are read as.
type Format<'a> = (u32, u32, &'a [u8], [[f64; 4]; 4]);

const FORMATS: [Format<'_>; 6] = [
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
    for (order, ty, bytes, wanted) in FORMATS {
        let image = s.image_of(order, ty, &desc, bytes);
        let copy = s.empty_image(order, ty, &desc);
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
        let found = s.values(&out, 16);
        for (got, wanted) in found.iter().zip(wanted.as_flattened()) {
            let error = (f64::from(*got) - wanted).abs();
            assert!(
                error <= wanted.abs() * 2e-7,
                "{order:#x} {ty:#x}: {found:?} not {wanted:?}"
            );
        }
        let mut again = s.read::<u8>(&copy, &[0; 3], [4, 1, 1], bytes.len());
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
    let found = s.read::<i8>(&image, &[0; 3], [6, 1, 1], 6);
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
    let buffer = s.buffer_of(&line);
    let desc = over(&buffer, CL_MEM_OBJECT_IMAGE1D_BUFFER, [12, 1, 1]);
    let view = s.empty_image(CL_R, CL_UNSIGNED_INT32, &desc);
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
    let found = s.read::<u32>(&volume, &[0; 3], [3, 2, 2], 12);
    let wanted: Vec<u32> = (0..12).map(|i| 100 + i + 1000 * i).collect();
    assert_eq!(found, wanted);
    let doubled: Vec<u32> = (0..12).map(|i| 2000 * i).collect();
    assert_eq!(s.values(&buffer, 12), doubled);
    let sizes: Vec<u32> = s.values(&sizes, 6).iter().map(|x| x.to_bits()).collect();
    assert_eq!(sizes, [3, 2, 2, 12, CL_R, CL_UNSIGNED_INT32]);
}
