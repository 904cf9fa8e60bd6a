//! Between buffers and images, and images as the host maps them: layers and slices.

use crate::session::{describe, format, session};
use opencl_sys::CL_MAP_WRITE_INVALIDATE_REGION;
use opencl3::memory::{
    CL_MAP_READ, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY,
    CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_RG, CL_UNSIGNED_INT8, ClMem,
};
use opencl3::types::{CL_BLOCKING, cl_map_flags};
use std::ptr;

/// Image type, size, and where a region lies in it as commands count: of 1D arrays layers are rows.
type Case = (u32, [usize; 3], [usize; 3], [usize; 3], [usize; 3]);

const CASES: [Case; 3] = [
    (
        CL_MEM_OBJECT_IMAGE3D,
        [5, 4, 3],
        [5, 4, 3],
        [1, 2, 1],
        [3, 2, 2],
    ),
    (
        CL_MEM_OBJECT_IMAGE2D_ARRAY,
        [5, 4, 3],
        [5, 4, 3],
        [2, 0, 1],
        [2, 3, 2],
    ),
    (
        CL_MEM_OBJECT_IMAGE1D_ARRAY,
        [5, 1, 4],
        [5, 4, 1],
        [1, 1, 0],
        [4, 2, 1],
    ),
];

/// The places of a region's texels in an image of `size`, one after the other.
fn places(size: [usize; 3], origin: [usize; 3], region: [usize; 3]) -> Vec<usize> {
    let mut places = Vec::new();
    for z in 0..region[2] {
        for y in 0..region[1] {
            for x in 0..region[0] {
                let row = (origin[2] + z) * size[1] + origin[1] + y;
                places.push(row * size[0] + origin[0] + x);
            }
        }
    }
    places
}

/// Texels of two bytes.
fn texels(count: usize, first: u16) -> Vec<u16> {
    (0..count as u16).map(|index| first + 257 * index).collect()
}

#[test]
fn regions_go_between_buffers_and_images() {
    let Some(s) = session() else { return };
    for (image_type, described, size, origin, region) in CASES {
        let count: usize = size.iter().product();
        let mut wanted = texels(count, 3);
        let desc = describe(image_type, described);
        let mut image = s.image_of(CL_RG, CL_UNSIGNED_INT8, &desc, &wanted);
        let mut buffer = s.buffer_of(&texels(60, 20000));
        let places = places(size, origin, region);
        // Bytes before the region, so that it starts at no whole word.
        let offset = 6;
        // SAFETY: three numbers each.
        unsafe {
            s.queue
                .enqueue_copy_image_to_buffer(
                    &image,
                    &mut buffer,
                    origin.as_ptr(),
                    region.as_ptr(),
                    offset,
                    &[],
                )
                .expect("a copy");
        }
        let mut copied = texels(60, 20000);
        for (index, &place) in places.iter().enumerate() {
            copied[offset / 2 + index] = wanted[place];
        }
        assert_eq!(s.values(&buffer, 60), copied, "{image_type:#x}");

        let source = s.buffer_of(&texels(60, 40000));
        // SAFETY: three numbers each.
        unsafe {
            s.queue
                .enqueue_copy_buffer_to_image(
                    &source,
                    &mut image,
                    offset,
                    origin.as_ptr(),
                    region.as_ptr(),
                    &[],
                )
                .expect("a copy");
        }
        for (index, &place) in places.iter().enumerate() {
            wanted[place] = texels(60, 40000)[offset / 2 + index];
        }
        assert_eq!(
            s.read::<u16>(&image, &[0; 3], size, count),
            wanted,
            "{image_type:#x}"
        );
    }
}

#[test]
fn maps_have_the_pitches_that_they_say() {
    let Some(s) = session() else { return };
    for (image_type, described, size, origin, region) in CASES {
        for flag in [0, CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
            let count: usize = size.iter().product();
            let mut wanted = texels(count, 3);
            let mut host = wanted.clone();
            let desc = describe(image_type, described);
            let pointer = match flag {
                0 => ptr::null_mut(),
                _ => host.as_mut_ptr().cast(),
            };
            let flags = CL_MEM_READ_WRITE | flag;
            let mut image = s
                .create(flags, format(CL_RG, CL_UNSIGNED_INT8), &desc, pointer)
                .expect("an image");
            if flag == 0 {
                // SAFETY: as many texels as the image has.
                unsafe {
                    s.queue
                        .enqueue_write_image(
                            &mut image,
                            CL_BLOCKING,
                            [0; 3].as_ptr(),
                            size.as_ptr(),
                            0,
                            0,
                            wanted.as_mut_ptr().cast(),
                            &[],
                        )
                        .expect("a write");
                }
            }
            let what = format!("{image_type:#x}, flags {flag:#x}");
            let places = places(size, origin, region);
            let map = |flags: cl_map_flags| {
                let (mut row, mut slice, mut mapped) = (0, 0, ptr::null_mut());
                // SAFETY: out-pointers of this test.
                unsafe {
                    s.queue
                        .enqueue_map_image(
                            &image,
                            CL_BLOCKING,
                            flags,
                            origin.as_ptr(),
                            region.as_ptr(),
                            &mut row,
                            &mut slice,
                            &mut mapped,
                            &[],
                        )
                        .expect("a map");
                }
                assert!(row >= 2 * region[0], "{what}: {row}");
                // Of a 1D array the slice pitch is from layer to layer.
                let (row, slice) = match image_type {
                    CL_MEM_OBJECT_IMAGE1D_ARRAY => (slice, 0),
                    _ => (row, slice),
                };
                assert!(slice == 0 || slice >= row * region[1], "{what}: {slice}");
                let texel = move |index: usize| {
                    let (x, rest) = (index % region[0], index / region[0]);
                    let offset = rest / region[1] * slice + rest % region[1] * row + 2 * x;
                    // Inside the mapped region.
                    mapped.cast::<u8>().wrapping_add(offset).cast::<u16>()
                };
                (mapped, texel)
            };
            let (mapped, texel) = map(CL_MAP_READ);
            for (index, &place) in places.iter().enumerate() {
                // SAFETY: mapped for reading.
                assert_eq!(unsafe { texel(index).read() }, wanted[place], "{what}");
            }
            // SAFETY: mapped above, not used again.
            unsafe { s.queue.enqueue_unmap_mem_object(image.get(), mapped, &[]) }
                .expect("an unmap");

            let (mapped, texel) = map(CL_MAP_WRITE_INVALIDATE_REGION);
            for (index, &place) in places.iter().enumerate() {
                wanted[place] = 50000 + index as u16;
                // SAFETY: mapped for writing.
                unsafe { texel(index).write(wanted[place]) };
            }
            // SAFETY: mapped above, not used again.
            unsafe { s.queue.enqueue_unmap_mem_object(image.get(), mapped, &[]) }
                .expect("an unmap");
            assert_eq!(
                s.read::<u16>(&image, &[0; 3], size, count),
                wanted,
                "{what}"
            );
        }
    }
}
