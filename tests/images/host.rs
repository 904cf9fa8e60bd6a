//! Commands of the host, and what is refused.

use crate::session::{describe, format, session};
use opencl3::error_codes::{
    CL_IMAGE_FORMAT_MISMATCH, CL_INVALID_ARG_VALUE, CL_INVALID_IMAGE_DESCRIPTOR,
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, CL_INVALID_MEM_OBJECT,
    CL_INVALID_VALUE, CL_MEM_COPY_OVERLAP,
};
use opencl3::memory::{
    CL_BGRA, CL_FLOAT, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR,
    CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_R, CL_RGB, CL_RGBA,
    CL_SIGNED_INT8, CL_UNORM_INT8, CL_UNSIGNED_INT32, ClMem, Image,
};
use opencl3::types::{CL_BLOCKING, cl_image_desc};
use std::ptr;

#[test]
fn regions_are_read_written_copied_and_filled() {
    let Some(s) = session() else { return };
    let desc = describe(CL_MEM_OBJECT_IMAGE3D, [5, 4, 3]);
    let texels: Vec<u32> = (0..60).map(|index| index * 0x0101_0001).collect();
    let mut image = s.image_of(CL_RGBA, CL_UNORM_INT8, &desc, &texels);
    assert_eq!(s.read::<u32>(&image, &[0; 3], [5, 4, 3], 60), texels);

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
    assert_eq!(s.read::<u32>(&image, &[0; 3], [5, 4, 3], 60), expected);

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
    assert_eq!(s.read::<u32>(&image, &[0; 3], [5, 4, 3], 60), expected);

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
    let copied = s.read::<u32>(&target, &[2, 0, 0], [3, 3, 1], 9);
    let wanted: Vec<u32> = (0..9)
        .map(|i| expected[40 + (i / 3 + 1) * 5 + i % 3 + 1])
        .collect();
    assert_eq!(copied, wanted);
}

#[test]
fn a_large_fill_reaches_every_texel() {
    let Some(s) = session() else { return };
    // A colour that is no word repeated, and a size that no power of two divides.
    let (width, height) = (1021, 301);
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [width, height, 1]);
    let mut image = s.empty_image(CL_RGBA, CL_FLOAT, &desc);
    let color = [0.25_f32, -1.0, 3.5, 7.0];
    let region = [width, height, 1];
    // SAFETY: four floats and three numbers each.
    unsafe {
        s.queue
            .enqueue_fill_image(
                &mut image,
                color.as_ptr().cast(),
                [0; 3].as_ptr(),
                region.as_ptr(),
                &[],
            )
            .expect("the image is filled");
    }
    let found = s.read::<f32>(&image, &[0; 3], region, 4 * width * height);
    assert!(found.chunks_exact(4).all(|texel| texel == color));
}

#[test]
fn layers_of_1d_arrays_are_rows_of_regions() {
    let Some(s) = session() else { return };
    let desc = describe(CL_MEM_OBJECT_IMAGE1D_ARRAY, [6, 1, 4]);
    let texels: Vec<u8> = (0..24).collect();
    let image = s.image_of(CL_R, CL_SIGNED_INT8, &desc, &texels);
    let part = s.read::<u8>(&image, &[2, 1, 0], [3, 2, 1], 6);
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
        let row = s.read::<u32>(&image, &[3, 3, 0], [3, 1, 1], 3);
        assert_eq!(row, [39, 7777, 41]);
        drop(image);
        texels[40] = 40;
    }
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
    assert_eq!(code(rgba, &flat), Some(CL_INVALID_IMAGE_SIZE));
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
