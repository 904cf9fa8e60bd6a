//! Images in command buffers: fills, copies and kernels, replayed.

mod common;

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use opencl_sys as cl;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_R, CL_UNSIGNED_INT8,
    ClMem, Image,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format};

/// An exported function of the library under test.
fn function(name: &CStr) -> *mut c_void {
    let path = CString::new(std::env::var("OPENCL_DYLIB_PATH").expect("set by `common`"))
        .expect("a path holds no null");
    // SAFETY: the library is loaded already; this is another reference to it.
    let found = unsafe { libc::dlsym(libc::dlopen(path.as_ptr(), libc::RTLD_NOW), name.as_ptr()) };
    assert!(!found.is_null(), "{name:?} is not found");
    found
}

macro_rules! find {
    ($name:literal, $ty:ty) => {{
        // SAFETY: the function of that name has the signature of the headers.
        let found: $ty = unsafe { std::mem::transmute(function($name)) };
        found.expect("it is not NULL")
    }};
}

const WIDTH: usize = 6;
const HEIGHT: usize = 4;

fn image(context: &Context, texels: &[u8]) -> Image {
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_UNSIGNED_INT8,
    };
    let description = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: WIDTH,
        image_height: HEIGHT,
        image_depth: 0,
        image_array_size: 0,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    let host = texels.as_ptr().cast_mut().cast();
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: `texels` is the whole image.
    unsafe { Image::create(context, flags, &format, &description, host) }.expect("an image")
}

#[test]
fn recorded_commands_work_on_images_each_time() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
    if !device.compiler_available().expect("a query") {
        eprintln!("skipped: no clang");
        return;
    }
    let source = "kernel void grow(read_write image2d_t image) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        write_imageui(image, at, read_imageui(image, at) + 1u);
    }";
    let program = Program::create_and_build_from_source(&context, source, "-cl-std=CL3.0")
        .unwrap_or_else(|log| panic!("{log}"));
    let kernel = Kernel::create(&program, "grow").expect("a kernel");

    let texels: Vec<u8> = (0..24).collect();
    let (grown, collage) = (image(&context, &texels), image(&context, &[0; 24]));
    // SAFETY: no host memory is given.
    let bytes = unsafe {
        Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 24, ptr::null_mut()).expect("a buffer")
    };
    // SAFETY: a handle of the right size.
    unsafe { kernel.set_arg(0, &grown.get()) }.expect("the argument is set");

    let create = find!(c"clCreateCommandBufferKHR", cl::clCreateCommandBufferKHR_fn);
    let release = find!(
        c"clReleaseCommandBufferKHR",
        cl::clReleaseCommandBufferKHR_fn
    );
    let finalize = find!(
        c"clFinalizeCommandBufferKHR",
        cl::clFinalizeCommandBufferKHR_fn
    );
    let enqueue = find!(
        c"clEnqueueCommandBufferKHR",
        cl::clEnqueueCommandBufferKHR_fn
    );
    let launch = find!(
        c"clCommandNDRangeKernelKHR",
        cl::clCommandNDRangeKernelKHR_fn
    );
    let fill = find!(c"clCommandFillImageKHR", cl::clCommandFillImageKHR_fn);
    let copy = find!(c"clCommandCopyImageKHR", cl::clCommandCopyImageKHR_fn);
    let store = find!(
        c"clCommandCopyImageToBufferKHR",
        cl::clCommandCopyImageToBufferKHR_fn
    );
    let load = find!(
        c"clCommandCopyBufferToImageKHR",
        cl::clCommandCopyBufferToImageKHR_fn
    );
    let (queue_handle, no_queue) = (queue.get(), ptr::null_mut());
    let none = || (0, ptr::null(), ptr::null_mut(), ptr::null_mut());
    let mut error = 1;
    // SAFETY: valid handles and arrays throughout.
    unsafe {
        let commands = create(1, &queue_handle, ptr::null(), &mut error);
        assert_eq!(error, 0);

        let size = [WIDTH, HEIGHT];
        let (count, points, point, handle) = none();
        let code = launch(
            commands,
            no_queue,
            ptr::null(),
            kernel.get(),
            2,
            ptr::null(),
            size.as_ptr(),
            ptr::null(),
            count,
            points,
            point,
            handle,
        );
        assert_eq!(code, 0, "launch");

        let (color, at, region) = ([200_u32, 0, 0, 0], [1_usize, 1, 0], [3_usize, 2, 1]);
        let (count, points, point, handle) = none();
        let code = fill(
            commands,
            no_queue,
            ptr::null(),
            collage.get(),
            color.as_ptr().cast(),
            at.as_ptr(),
            region.as_ptr(),
            count,
            points,
            point,
            handle,
        );
        assert_eq!(code, 0, "fill");

        let (from, to, region) = ([0_usize, 2, 0], [2_usize, 0, 0], [4_usize, 2, 1]);
        let (count, points, point, handle) = none();
        let code = copy(
            commands,
            no_queue,
            ptr::null(),
            grown.get(),
            collage.get(),
            from.as_ptr(),
            to.as_ptr(),
            region.as_ptr(),
            count,
            points,
            point,
            handle,
        );
        assert_eq!(code, 0, "copy");

        let (whole, region) = ([0_usize; 3], [WIDTH, HEIGHT, 1]);
        let (count, points, point, handle) = none();
        let code = store(
            commands,
            no_queue,
            ptr::null(),
            collage.get(),
            bytes.get(),
            whole.as_ptr(),
            region.as_ptr(),
            0,
            count,
            points,
            point,
            handle,
        );
        assert_eq!(code, 0, "copy to the buffer");

        // The last row comes again from the first.
        let (to, region) = ([0_usize, 3, 0], [WIDTH, 1, 1]);
        let (count, points, point, handle) = none();
        let code = load(
            commands,
            no_queue,
            ptr::null(),
            bytes.get(),
            collage.get(),
            0,
            to.as_ptr(),
            region.as_ptr(),
            count,
            points,
            point,
            handle,
        );
        assert_eq!(code, 0, "copy from the buffer");
        assert_eq!(finalize(commands), 0);

        let mut expected = vec![0_u8; 24];
        for round in 1..=3_u8 {
            let code = enqueue(
                0,
                ptr::null_mut(),
                commands,
                0,
                ptr::null(),
                ptr::null_mut(),
            );
            assert_eq!(code, 0, "enqueue");
            for y in 1..3 {
                expected[y * WIDTH + 1..][..3].fill(200);
            }
            for (y, x) in (0..2).flat_map(|y| (0..4).map(move |x| (y, x))) {
                expected[y * WIDTH + x + 2] = ((y + 2) * WIDTH + x) as u8 + round;
            }
            let mut found = vec![0_u8; 24];
            queue
                .enqueue_read_buffer(&bytes, CL_BLOCKING, 0, &mut found, &[])
                .expect("the buffer is read");
            assert_eq!(found, expected, "round {round}");
            let first: Vec<u8> = expected[..WIDTH].to_vec();
            expected[3 * WIDTH..].copy_from_slice(&first);
        }
        assert_eq!(release(commands), 0);
    }
}
