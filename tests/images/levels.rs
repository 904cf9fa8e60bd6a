//! Mip levels (cl_khr_mipmap_image and _writes): host commands on each, kernels that read by level and by gradient
//! and that write.

use crate::session::{Session, describe, format, session};
use opencl_sys::{CL_SAMPLER_LOD_MAX_KHR, CL_SAMPLER_MIP_FILTER_MODE_KHR};
use opencl3::error_codes::{CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_MIP_LEVEL, CL_INVALID_VALUE};
use opencl3::kernel::ExecuteKernel;
use opencl3::memory::{
    CL_FILTER_LINEAR, CL_FLOAT, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_R, ClMem, Image, Sampler,
};
use opencl3::types::{CL_BLOCKING, cl_image_desc};
use std::ptr;

fn leveled(image_type: u32, size: [usize; 3], levels: u32) -> cl_image_desc {
    cl_image_desc {
        num_mip_levels: levels,
        ..describe(image_type, size)
    }
}

fn new_image(session: &Session, image_type: u32, size: [usize; 3], levels: u32) -> Image {
    session.empty_image(CL_R, CL_FLOAT, &leveled(image_type, size, levels))
}

/// `origin` has a fourth number for images of three coordinates.
fn write(
    session: &Session,
    image: &mut Image,
    origin: [usize; 4],
    region: [usize; 3],
    texels: &[f32],
) {
    assert_eq!(texels.len(), region.iter().product::<usize>());
    // SAFETY: as many texels as the region has.
    unsafe {
        session
            .queue
            .enqueue_write_image(
                image,
                CL_BLOCKING,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                texels.as_ptr().cast_mut().cast(),
                &[],
            )
            .expect("the level is written");
    }
}

fn read(session: &Session, image: &Image, origin: [usize; 4], region: [usize; 3]) -> Vec<f32> {
    session.read(image, &origin, region, region.iter().product())
}

/// What the tests put into a texel.
fn texel(level: usize, index: usize) -> f32 {
    (1000 * level + index) as f32
}

fn texels(level: usize, count: usize) -> Vec<f32> {
    (0..count).map(|index| texel(level, index)).collect()
}

/// The levels of a 16x6 image.
const SIZES: [[usize; 2]; 5] = [[16, 6], [8, 3], [4, 1], [2, 1], [1, 1]];

fn pyramid(session: &Session) -> Image {
    let mut image = new_image(session, CL_MEM_OBJECT_IMAGE2D, [16, 6, 1], 5);
    for (level, [width, height]) in SIZES.into_iter().enumerate() {
        let texels = texels(level, width * height);
        write(
            session,
            &mut image,
            [0, 0, level, 0],
            [width, height, 1],
            &texels,
        );
    }
    image
}

#[test]
fn the_host_reaches_each_level() {
    let Some(session) = session() else { return };
    let image = pyramid(&session);
    for (level, [width, height]) in SIZES.into_iter().enumerate() {
        let found = read(&session, &image, [0, 0, level, 0], [width, height, 1]);
        assert_eq!(found, texels(level, width * height), "level {level}");
    }
    assert_eq!(
        read(&session, &image, [2, 1, 1, 0], [2, 2, 1]),
        [10, 11, 18, 19].map(|index| texel(1, index))
    );
    let error = session.try_read::<f32>(&image, &[0, 0, 5, 0], [1, 1, 1], 64);
    assert_eq!(error.unwrap_err().0, CL_INVALID_MIP_LEVEL);
    let error = session.try_read::<f32>(&image, &[0, 0, 1, 0], [9, 1, 1], 64);
    assert_eq!(error.unwrap_err().0, CL_INVALID_VALUE);
    assert_eq!(image.num_mip_levels().map_err(|error| error.0), Ok(5));
}

#[test]
fn levels_are_copied_and_filled() {
    let Some(session) = session() else { return };
    let image = pyramid(&session);
    let mut plain = new_image(&session, CL_MEM_OBJECT_IMAGE2D, [8, 8, 1], 0);
    let mut volume = new_image(&session, CL_MEM_OBJECT_IMAGE3D, [4, 8, 6], 3);
    let color = [7.5_f32, 0.0, 0.0, 0.0];
    // SAFETY: origins have a fourth number where the image has three coordinates and levels.
    unsafe {
        session
            .queue
            .enqueue_copy_image(
                &image,
                &mut plain,
                [0_usize, 0, 1].as_ptr(),
                [0_usize, 2, 0].as_ptr(),
                [8_usize, 3, 1].as_ptr(),
                &[],
            )
            .expect("a level is copied");
        session
            .queue
            .enqueue_fill_image(
                &mut volume,
                color.as_ptr().cast(),
                [0_usize, 0, 0, 1].as_ptr(),
                [2_usize, 4, 3].as_ptr(),
                &[],
            )
            .expect("a level is filled");
        session
            .queue
            .enqueue_copy_image(
                &image,
                &mut volume,
                [0_usize, 0, 3].as_ptr(),
                [0_usize, 1, 2, 1].as_ptr(),
                [2_usize, 1, 1].as_ptr(),
                &[],
            )
            .expect("a level is copied to a level");
    }
    assert_eq!(
        read(&session, &plain, [0, 2, 0, 0], [8, 3, 1]),
        texels(1, 24)
    );
    let mut wanted = vec![7.5; 24];
    wanted[2 * 8 + 2..2 * 8 + 4].copy_from_slice(&texels(3, 2));
    assert_eq!(read(&session, &volume, [0, 0, 0, 1], [2, 4, 3]), wanted);
}

#[test]
fn kernels_read_the_level_that_they_name() {
    let Some(session) = session() else { return };
    let image = pyramid(&session);
    let kernel = session.kernel(
        "#pragma OPENCL EXTENSION cl_khr_mipmap_image : enable
        kernel void test(read_only image2d_t image, sampler_t mixing, global float *out) {
            const sampler_t nearest = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
            float2 at = (float2)(0.99f, 0.99f);
            for (int level = 0; level < 7; level++)
                out[level] = read_imagef(image, nearest, at, (float)level).x;
            out[7] = read_imagef(image, nearest, (float2){0.99f, 0.99f}).x;
            out[8] = read_imagef(image, mixing, at, 1.25f).x;
            out[9] = read_imagef(image, mixing, at, 3.75f).x;
            out[10] = read_imagef(image, nearest, at, (float2)(0.25f, 0.0f), (float2)(0.0f, 0.0f)).x;
            out[11] = read_imagef(image, nearest, at, (float2)(0.0f, 0.0f), (float2)(0.0f, 0.34f)).x;
            out[12] = get_image_num_mip_levels(image);
        }",
    );
    let properties = [
        CL_SAMPLER_MIP_FILTER_MODE_KHR,
        CL_FILTER_LINEAR.into(),
        CL_SAMPLER_LOD_MAX_KHR,
        2.5_f32.to_bits().into(),
        opencl_sys::CL_SAMPLER_ADDRESSING_MODE.into(),
        opencl_sys::CL_ADDRESS_CLAMP_TO_EDGE.into(),
        0,
    ];
    let mixing = Sampler::create_with_properties(&session.context, properties.as_ptr().cast())
        .expect("a sampler");
    let out = session.output(13);
    // SAFETY: the arguments are what the kernel takes.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&image.get())
            .set_arg(&mixing.get())
            .set_arg(&out)
            .set_global_work_size(1)
            .enqueue_nd_range(&session.queue)
            .expect("a launch");
    }
    let last = |level: usize| texel(level, SIZES[level][0] * SIZES[level][1] - 1);
    let mixed = |level: usize, part: f32| (1.0 - part) * last(level) + part * last(level + 1);
    let wanted = [
        last(0),
        last(1),
        last(2),
        last(3),
        last(4),
        last(4),
        last(4),
        last(0),
        mixed(1, 0.25),
        mixed(2, 0.5),
        last(2),
        last(1),
        5.0,
    ];
    assert_eq!(session.values(&out, 13), wanted);
}

#[test]
fn kernels_write_the_level_that_they_name() {
    let Some(session) = session() else { return };
    let image = pyramid(&session);
    let kernel = session.kernel(
        "#pragma OPENCL EXTENSION cl_khr_mipmap_image_writes : enable
        kernel void test(write_only image2d_t image) {
            int x = get_global_id(0);
            write_imagef(image, (int2)(x, 0), 2, (float4)(x + 0.5f, 0, 0, 0));
            write_imagef(image, (int2)(x, 5), (float4){x + 0.25f, 0, 0, 0});
        }",
    );
    // SAFETY: the argument is what the kernel takes.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&image.get())
            .set_global_work_size(4)
            .enqueue_nd_range(&session.queue)
            .expect("a launch");
    }
    assert_eq!(
        read(&session, &image, [0, 0, 2, 0], [4, 1, 1]),
        [0.5, 1.5, 2.5, 3.5]
    );
    assert_eq!(
        read(&session, &image, [0, 0, 1, 0], [8, 3, 1]),
        texels(1, 24)
    );
    assert_eq!(
        read(&session, &image, [0, 0, 3, 0], [2, 1, 1]),
        texels(3, 2)
    );
    assert_eq!(
        read(&session, &image, [0, 5, 0, 0], [5, 1, 1]),
        [0.25, 1.25, 2.25, 3.25, texel(0, 84)]
    );
}

#[test]
fn what_has_no_levels_is_refused() {
    let Some(session) = session() else { return };
    let create = |size, levels, flags, host| {
        let desc = leveled(CL_MEM_OBJECT_IMAGE2D, size, levels);
        session
            .create(flags, format(CL_R, CL_FLOAT), &desc, host)
            .map(drop)
            .map_err(|error| error.0)
    };
    let none = ptr::null_mut();
    let flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    assert_eq!(create([16, 6, 1], 5, flags, none), Ok(()));
    assert_eq!(create([16, 6, 1], 1, flags, none), Ok(()));
    assert_eq!(
        create([16, 6, 1], 6, CL_MEM_READ_WRITE, none),
        Err(CL_INVALID_IMAGE_DESCRIPTOR)
    );
    let mut texels = [0_f32; 96];
    assert_eq!(
        create(
            [16, 6, 1],
            5,
            CL_MEM_COPY_HOST_PTR,
            texels.as_mut_ptr().cast()
        ),
        Err(CL_INVALID_VALUE)
    );
}
