//! Images in command buffers: fills, copies and kernels, replayed.

use crate::session::{Session, describe, session};
use opencl_sys as cl;
use opencl3::memory::{CL_MEM_OBJECT_IMAGE2D, CL_R, CL_UNSIGNED_INT8, ClMem, Image};
use std::ptr;

const WIDTH: usize = 6;
const HEIGHT: usize = 4;

fn image(session: &Session, texels: &[u8]) -> Image {
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [WIDTH, HEIGHT, 1]);
    session.image_of(CL_R, CL_UNSIGNED_INT8, &desc, texels)
}

#[test]
fn recorded_commands_work_on_images_each_time() {
    let Some(session) = session() else { return };
    let kernel = session.kernel(
        "kernel void test(read_write image2d_t image) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            write_imageui(image, at, read_imageui(image, at) + 1u);
        }",
    );
    let texels: Vec<u8> = (0..24).collect();
    let (grown, collage) = (image(&session, &texels), image(&session, &[0; 24]));
    let bytes = session.buffer_of(&[0_u8; 24]);
    // SAFETY: a handle of the right size.
    unsafe { kernel.set_arg(0, &grown.get()) }.expect("the argument is set");

    let create = entry!(cl::clCreateCommandBufferKHR_fn, "clCreateCommandBufferKHR");
    let release = entry!(
        cl::clReleaseCommandBufferKHR_fn,
        "clReleaseCommandBufferKHR"
    );
    let finalize = entry!(
        cl::clFinalizeCommandBufferKHR_fn,
        "clFinalizeCommandBufferKHR"
    );
    let enqueue = entry!(
        cl::clEnqueueCommandBufferKHR_fn,
        "clEnqueueCommandBufferKHR"
    );
    let launch = entry!(
        cl::clCommandNDRangeKernelKHR_fn,
        "clCommandNDRangeKernelKHR"
    );
    let fill = entry!(cl::clCommandFillImageKHR_fn, "clCommandFillImageKHR");
    let copy = entry!(cl::clCommandCopyImageKHR_fn, "clCommandCopyImageKHR");
    let store = entry!(
        cl::clCommandCopyImageToBufferKHR_fn,
        "clCommandCopyImageToBufferKHR"
    );
    let load = entry!(
        cl::clCommandCopyBufferToImageKHR_fn,
        "clCommandCopyBufferToImageKHR"
    );
    let queue_handle = session.queue.get();
    let mut error = 1;
    // SAFETY: valid handles and arrays throughout.
    unsafe {
        let commands = create(1, &queue_handle, ptr::null(), &mut error);
        assert_eq!(error, 0);

        // The command buffer, and what all commands end with.
        macro_rules! record {
            ($function:ident($($argument:expr),*)) => {
                let code = $function(
                    commands,
                    ptr::null_mut(),
                    ptr::null(),
                    $($argument,)*
                    0,
                    ptr::null(),
                    ptr::null_mut(),
                    ptr::null_mut(),
                );
                assert_eq!(code, 0, stringify!($function));
            };
        }
        let (grown, collage, bytes_handle) = (grown.get(), collage.get(), bytes.get());
        let size = [WIDTH, HEIGHT];
        let (start, local) = (ptr::null(), ptr::null());
        record!(launch(kernel.get(), 2, start, size.as_ptr(), local));
        let (color, at, region) = ([200_u32, 0, 0, 0], [1_usize, 1, 0], [3_usize, 2, 1]);
        let color = color.as_ptr().cast();
        record!(fill(collage, color, at.as_ptr(), region.as_ptr()));
        let (from, to, region) = ([0_usize, 1, 0], [2_usize, 0, 0], [4_usize, 3, 1]);
        let (from, to) = (from.as_ptr(), to.as_ptr());
        record!(copy(grown, collage, from, to, region.as_ptr()));
        let (whole, region) = ([0_usize; 3], [WIDTH, HEIGHT, 1]);
        let whole = whole.as_ptr();
        record!(store(collage, bytes_handle, whole, region.as_ptr(), 0));
        // The last row comes again from the first.
        let (to, region) = ([0_usize, 3, 0], [WIDTH, 1, 1]);
        record!(load(bytes_handle, collage, 0, to.as_ptr(), region.as_ptr()));
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
            for (y, x) in (0..3).flat_map(|y| (0..4).map(move |x| (y, x))) {
                expected[y * WIDTH + x + 2] = ((y + 1) * WIDTH + x) as u8 + round;
            }
            let found = session.values(&bytes, 24);
            assert_eq!(found, expected, "round {round}");
            let first: Vec<u8> = expected[..WIDTH].to_vec();
            expected[3 * WIDTH..].copy_from_slice(&first);
        }
        assert_eq!(release(commands), 0);
    }
}
