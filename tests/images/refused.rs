//! Descriptions of images and copies that the specification refuses, by the code that it names.

use crate::session::{Session, describe, format, over, session};
use opencl_sys::cl_function_types::{clCreateImage2D_t, clCreateImage3D_t, clCreatePipe_t};
use opencl_sys::{CL_DEPTH, CL_sRGBA};
use opencl3::error_codes::{
    CL_INVALID_HOST_PTR, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
    CL_INVALID_IMAGE_SIZE, CL_INVALID_MEM_OBJECT, CL_SUCCESS,
};
use opencl3::kernel::ExecuteKernel;
use opencl3::memory::{
    Buffer, CL_FLOAT, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_OBJECT_IMAGE3D, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_R, CL_RGBA, CL_UNORM_INT8,
    CL_UNSIGNED_INT8, Image,
};
use opencl3::svm::SvmVec;
use opencl3::types::{cl_image_desc, cl_image_format, cl_int};
use std::ffi::c_void;
use std::ptr;

impl Session {
    /// The code of an image without host memory.
    fn code(&self, format: cl_image_format, desc: &cl_image_desc) -> Option<cl_int> {
        self.create(CL_MEM_READ_WRITE, format, desc, ptr::null_mut())
            .err()
            .map(|error| error.0)
    }

    /// A buffer over host memory.
    fn buffer_over(&self, host: *mut u8, bytes: usize) -> Buffer<u8> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        // SAFETY: the tests give as many bytes, which outlive the buffer.
        unsafe { Buffer::create(&self.context, flags, bytes, host.cast()) }.expect("a buffer")
    }
}

#[test]
fn host_memory_under_an_image_is_aligned() {
    let Some(s) = session() else { return };
    let device = opencl3::device::Device::new(s.context.default_device());
    let pixels = device.image_base_address_alignment().expect("an alignment");
    assert!(pixels.is_power_of_two() && pixels > 1, "{pixels}");
    let texels = format(CL_R, CL_UNSIGNED_INT8);
    let code = |host: *mut u8| {
        let buffer = s.buffer_over(host, 64);
        [CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE1D_BUFFER].map(|image_type| {
            let desc = over(&buffer, image_type, [16, 1, 1]);
            s.code(texels, &desc)
        })
    };
    // Words of 16 bytes, so that the first is aligned as pixels of one byte must be.
    let mut words = [0_u128; 8];
    let host: *mut u8 = words.as_mut_ptr().cast();
    let refused = Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(code(host), [None; 2]);
    for offset in [1, 2, 4, 8, 15] {
        assert_eq!(code(host.wrapping_add(offset)), [refused; 2], "{offset}");
    }
    assert_eq!(code(host.wrapping_add(16)), [None; 2]);

    let mut shared = SvmVec::<u8>::allocate(&s.context, 128).expect("shared memory");
    let host = shared.as_mut_ptr();
    assert_eq!(code(host.wrapping_add(3)), [refused; 2]);
    assert_eq!(code(host.wrapping_add(32)), [None; 2]);
}

#[test]
fn an_image_reads_aligned_host_memory_from_its_start() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_write image2d_t image, global uint *out) {\n\
         int x = get_global_id(0);\n\
         out[x] = read_imageui(image, (int2)(x, 0)).x;\n\
         write_imageui(image, (int2)(x, 0), out[x] + 1);\n}",
    );
    let mut words = [0_u128; 8];
    let bytes = words.as_mut_ptr().cast::<u8>();
    for index in 0..128 {
        // SAFETY: within the words.
        unsafe { bytes.add(index).write(index as u8) };
    }
    let buffer = s.buffer_over(bytes.wrapping_add(16), 64);
    let desc = over(&buffer, CL_MEM_OBJECT_IMAGE2D, [64, 1, 1]);
    let image = s.empty_image(CL_R, CL_UNSIGNED_INT8, &desc);
    let out = s.buffer_of(&[0_u32; 64]);
    // SAFETY: the arguments are the kernel's.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&image)
            .set_arg(&out)
            .set_global_work_size(64)
            .enqueue_nd_range(&s.queue)
            .expect("a launch");
    }
    let wanted: Vec<u32> = (16..80).collect();
    assert_eq!(s.values(&out, 64), wanted);
    let more: Vec<u8> = (17..81).collect();
    assert_eq!(s.values(&buffer, 64), more);
}

#[test]
fn an_image_is_not_copied_to_its_own_buffer() {
    let Some(s) = session() else { return };
    let mut buffer = s.buffer_of(&[0_u8; 64]);
    let mut other = s.buffer_of(&[0_u8; 64]);
    let desc = over(&buffer, CL_MEM_OBJECT_IMAGE1D_BUFFER, [16, 1, 1]);
    let mut image = s.empty_image(CL_R, CL_UNSIGNED_INT8, &desc);
    let (origin, region) = ([0_usize; 3], [8_usize, 1, 1]);
    // SAFETY: three numbers each.
    let copy_out = |image: &Image, to: &mut Buffer<u8>| unsafe {
        s.queue
            .enqueue_copy_image_to_buffer(image, to, origin.as_ptr(), region.as_ptr(), 32, &[])
            .map(drop)
            .map_err(|error| error.0)
    };
    assert_eq!(copy_out(&image, &mut buffer), Err(CL_INVALID_MEM_OBJECT));
    assert_eq!(copy_out(&image, &mut other), Ok(()));
    // SAFETY: three numbers each.
    let copy_in = |from: &Buffer<u8>, image: &mut Image| unsafe {
        s.queue
            .enqueue_copy_buffer_to_image(from, image, 32, origin.as_ptr(), region.as_ptr(), &[])
            .map(drop)
            .map_err(|error| error.0)
    };
    assert_eq!(copy_in(&buffer, &mut image), Err(CL_INVALID_MEM_OBJECT));
    assert_eq!(copy_in(&other, &mut image), Ok(()));
}

#[test]
fn no_image_is_made_of_a_pipe() {
    let Some(s) = session() else { return };
    let create = entry!(clCreatePipe_t, "clCreatePipe");
    let mut status = 0;
    // SAFETY: a live context; no properties.
    let pipe = unsafe { create(s.context.get(), 0, 16, 16, ptr::null(), &mut status) };
    assert_eq!(status, CL_SUCCESS);
    // An image in name only: it is released at the end.
    let pipe = Image::new(pipe);
    for image_type in [CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE1D_BUFFER] {
        let desc = over(&pipe, image_type, [4, 1, 1]);
        assert_eq!(
            s.code(format(CL_R, CL_UNSIGNED_INT8), &desc),
            Some(CL_INVALID_IMAGE_DESCRIPTOR)
        );
    }
}

#[test]
fn functions_of_version_1_0_refuse_sizes_and_pitches_by_one_code() {
    let Some(s) = session() else { return };
    let create_2d = entry!(clCreateImage2D_t, "clCreateImage2D");
    let create_3d = entry!(clCreateImage3D_t, "clCreateImage3D");
    let rgba = format(CL_RGBA, CL_UNORM_INT8);
    let mut texels = [0_u32; 256];
    let host: *mut c_void = texels.as_mut_ptr().cast();
    let code = |image, status: cl_int| {
        if status == CL_SUCCESS {
            drop(Image::new(image));
        }
        status
    };
    let flat = |[width, height]: [usize; 2], pitch, host: *mut c_void| {
        let flags = if host.is_null() {
            CL_MEM_READ_WRITE
        } else {
            CL_MEM_COPY_HOST_PTR
        };
        let mut status = 0;
        // SAFETY: host memory for the largest of these images.
        let image = unsafe {
            let context = s.context.get();
            create_2d(
                context,
                flags,
                &rgba,
                width,
                height,
                pitch,
                host,
                &mut status,
            )
        };
        code(image, status)
    };
    let none = ptr::null_mut();
    assert_eq!(flat([4, 4], 0, none), CL_SUCCESS);
    assert_eq!(flat([4, 4], 32, host), CL_SUCCESS);
    assert_eq!(flat([0, 4], 0, none), CL_INVALID_IMAGE_SIZE);
    assert_eq!(flat([4, 0], 0, none), CL_INVALID_IMAGE_SIZE);
    assert_eq!(flat([1 << 20, 4], 0, none), CL_INVALID_IMAGE_SIZE);
    // Pitches without memory, of less than a row, of half a texel.
    assert_eq!(flat([4, 4], 16, none), CL_INVALID_IMAGE_SIZE);
    assert_eq!(flat([4, 4], 12, host), CL_INVALID_IMAGE_SIZE);
    assert_eq!(flat([4, 4], 18, host), CL_INVALID_IMAGE_SIZE);

    let deep = |depth, pitches: [usize; 2], host: *mut c_void| {
        let flags = if host.is_null() {
            CL_MEM_READ_WRITE
        } else {
            CL_MEM_COPY_HOST_PTR
        };
        let [row, slice] = pitches;
        let mut status = 0;
        // SAFETY: host memory for the largest of these images.
        let image = unsafe {
            let context = s.context.get();
            create_3d(
                context,
                flags,
                &rgba,
                4,
                4,
                depth,
                row,
                slice,
                host,
                &mut status,
            )
        };
        code(image, status)
    };
    assert_eq!(deep(2, [0, 0], none), CL_SUCCESS);
    assert_eq!(deep(2, [16, 128], host), CL_SUCCESS);
    for depth in [0, 1, 1 << 20] {
        assert_eq!(deep(depth, [0, 0], none), CL_INVALID_IMAGE_SIZE, "{depth}");
    }
    assert_eq!(deep(2, [0, 64], none), CL_INVALID_IMAGE_SIZE);
    assert_eq!(deep(2, [16, 48], host), CL_INVALID_IMAGE_SIZE);
    assert_eq!(deep(2, [16, 72], host), CL_INVALID_IMAGE_SIZE);

    let mut status = 0;
    // SAFETY: no memory is read.
    let image = unsafe {
        let context = s.context.get();
        create_2d(
            context,
            CL_MEM_COPY_HOST_PTR,
            &rgba,
            4,
            4,
            0,
            none,
            &mut status,
        )
    };
    assert!(image.is_null());
    assert_eq!(status, CL_INVALID_HOST_PTR);
}

#[test]
fn image_buffers_are_as_wide_as_the_device_says() {
    let Some(s) = session() else { return };
    let device = opencl3::device::Device::new(s.context.default_device());
    let most = device.image_max_buffer_size().expect("a limit");
    // SAFETY: without host memory.
    let buffer =
        unsafe { Buffer::<u8>::create(&s.context, CL_MEM_READ_WRITE, most + 1, ptr::null_mut()) };
    let buffer = buffer.expect("a buffer");
    let texels = format(CL_R, CL_UNSIGNED_INT8);
    let code = |width| {
        let desc = over(&buffer, CL_MEM_OBJECT_IMAGE1D_BUFFER, [width, 1, 1]);
        s.code(texels, &desc)
    };
    assert_eq!(code(most), None);
    assert_eq!(code(most + 1), Some(CL_INVALID_IMAGE_SIZE));
}

#[test]
fn dimensions_that_no_image_has_are_an_invalid_size() {
    let Some(s) = session() else { return };
    let rgba = format(CL_RGBA, CL_UNORM_INT8);
    for size in [[0, 4, 4], [4, 0, 4], [4, 4, 0]] {
        let desc = describe(CL_MEM_OBJECT_IMAGE3D, size);
        assert_eq!(s.code(rgba, &desc), Some(CL_INVALID_IMAGE_SIZE), "{size:?}");
    }
    // One slice is a volume to this function.
    let desc = describe(CL_MEM_OBJECT_IMAGE3D, [4, 4, 1]);
    assert_eq!(s.code(rgba, &desc), None);
}

#[test]
fn an_image_of_an_image_differs_in_its_channel_order_alone() {
    let Some(s) = session() else { return };
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]);
    let bytes = [0_u32; 32];
    let code = |parent: (u32, u32), child: (u32, u32), change: fn(&mut cl_image_desc)| {
        let parent = s.image_of(parent.0, parent.1, &desc, &bytes);
        let mut desc = over(&parent, CL_MEM_OBJECT_IMAGE2D, [8, 4, 1]);
        change(&mut desc);
        s.code(format(child.0, child.1), &desc)
    };
    let same: fn(&mut cl_image_desc) = |_| ();
    let refused = Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    let rgba = (CL_RGBA, CL_UNORM_INT8);
    let curved = (CL_sRGBA, CL_UNORM_INT8);
    assert_eq!(code(rgba, curved, same), None);
    assert_eq!(code(curved, rgba, same), None);
    // As the parent has it, though the parent's description left it open.
    assert_eq!(code(rgba, curved, |desc| desc.image_row_pitch = 32), None);
    assert_eq!(
        code(rgba, curved, |desc| desc.image_row_pitch = 64),
        refused
    );
    assert_eq!(code(rgba, curved, |desc| desc.image_height = 3), refused);
    let (red, depth) = ((CL_R, CL_FLOAT), (CL_DEPTH, CL_FLOAT));
    assert_eq!(code(red, depth, same), None);
    // The table "Compatible Image Channel Orders" has neither of these.
    assert_eq!(code(depth, red, same), refused);
    assert_eq!(code(rgba, rgba, same), refused);
}

#[test]
fn a_single_level_is_a_level_that_was_asked_for() {
    let Some(s) = session() else { return };
    for levels in [0, 1] {
        let mut desc = describe(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
        desc.num_mip_levels = levels;
        let image = s.empty_image(CL_RGBA, CL_UNORM_INT8, &desc);
        assert_eq!(image.num_mip_levels().map_err(|error| error.0), Ok(levels));
    }
}
