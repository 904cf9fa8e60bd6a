//! Images in command buffers: fills, copies and kernels, replayed.

use crate::recorded::CommandBuffer;
use crate::session::{Session, describe, session};
use opencl_sys as cl;
use opencl3::memory::{
    CL_MEM_OBJECT_IMAGE2D, CL_R, CL_UNSIGNED_INT8, CL_UNSIGNED_INT16, ClMem, Image,
};
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
    let commands = CommandBuffer::new(&session, 0);
    let size = [WIDTH, HEIGHT];
    commands.launch(&kernel, &size);
    // SAFETY: valid handles and arrays throughout.
    unsafe {
        // The command buffer, and what all commands end with.
        macro_rules! record {
            ($function:ident($($argument:expr),*)) => {
                let code = $function(
                    commands.handle,
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
    }
    commands.finalize();

    let mut expected = vec![0_u8; 24];
    for round in 1..=3_u8 {
        commands.enqueue();
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
}

/// Images take the place of an argument; the application lets go of each before it is used.
#[test]
fn a_recorded_launch_gets_other_images() {
    let Some(session) = session() else { return };
    let kernel = session.kernel(
        "kernel void test(read_only image2d_t image, global uint *out) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            out[at.y * get_image_width(image) + at.x] = read_imageui(image, at).x;
        }",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [WIDTH, HEIGHT, 1]);
    let texels = |first: u16| -> Vec<u16> { (first..first + 24).collect() };
    let narrow = |first: u8| image(&session, &(first..first + 24).collect::<Vec<u8>>());
    let wide = session.image_of(CL_R, CL_UNSIGNED_INT16, &desc, &texels(1000));
    let out = session.buffer_of(&[0_u32; 24]);
    let first = narrow(0);
    // SAFETY: handles of the right size.
    unsafe {
        kernel
            .set_arg(0, &first.get())
            .expect("the argument is set");
        kernel.set_arg(1, &out.get()).expect("the argument is set");
    }
    let update = entry!(
        cl::clUpdateMutableCommandsKHR_fn,
        "clUpdateMutableCommandsKHR"
    );
    let commands = CommandBuffer::new(&session, cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let command = commands.launch(&kernel, &[WIDTH, HEIGHT]);
    drop(first);
    commands.finalize();
    let run = |expected: u32| {
        commands.enqueue();
        let expected: Vec<u32> = (expected..expected + 24).collect();
        assert_eq!(session.values(&out, 24), expected);
    };
    run(0);
    // Of the same format, of another one, and back.
    for (image, expected) in [(narrow(100), 100), (wide, 1000), (narrow(50), 50)] {
        let handle = image.get();
        let argument = cl::cl_mutable_dispatch_arg_khr {
            arg_index: 0,
            arg_size: size_of_val(&handle),
            arg_value: ptr::from_ref(&handle).cast(),
        };
        let config = cl::cl_mutable_dispatch_config_khr {
            command,
            num_args: 1,
            num_svm_args: 0,
            num_exec_infos: 0,
            work_dim: 0,
            arg_list: &argument,
            arg_svm_list: ptr::null(),
            exec_info_list: ptr::null(),
            global_work_offset: ptr::null(),
            global_work_size: ptr::null(),
            local_work_size: ptr::null(),
        };
        let kind = cl::CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
        let mut list = ptr::from_ref(&config).cast();
        // SAFETY: one structure of that type.
        let code = unsafe { update(commands.handle, 1, &kind, &mut list) };
        assert_eq!(code, 0);
        drop(image);
        run(expected);
        run(expected);
    }
}
