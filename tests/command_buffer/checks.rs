//! Calls with more than one fault: the error is the one that the specification lists first.

use super::setup::{COUNT, IN_ORDER, Setup, add, config};
use std::ptr;

use opencl_sys as cl;
use opencl_sys::cl_mutable_dispatch_config_khr;
use opencl3::device::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;

/// Not a sync point of any command buffer here.
const BAD_POINT: u32 = 1000;

#[test]
fn of_a_launch() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let target = setup.buffer();
    let kernel = Kernel::create(&program, "add").expect("a kernel");
    let buffer = setup.command_buffer();
    let code = |dimensions, global: usize, local: usize| {
        // SAFETY: valid handles, and lists as long as said, where they are read.
        unsafe {
            (setup.functions.launch.unwrap())(
                buffer.handle,
                ptr::null_mut(),
                ptr::null(),
                kernel.get(),
                dimensions,
                ptr::null(),
                [global, 1, 1].as_ptr(),
                [local, 1, 1].as_ptr(),
                1,
                &BAD_POINT,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    };
    assert_eq!(code(0, COUNT, 1), cl::CL_INVALID_KERNEL_ARGS);
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &target.get()).unwrap();
        kernel.set_arg(1, &1_u32).unwrap();
    }
    assert_eq!(code(0, COUNT, 1), cl::CL_INVALID_WORK_DIMENSION);
    assert_eq!(code(1, COUNT, 1 << 20), cl::CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(code(1, COUNT, 1), cl::CL_INVALID_SYNC_POINT_WAIT_LIST_KHR);
}

#[test]
fn of_commands_on_shared_memory() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    if setup.device.svm_mem_capability() & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER == 0 {
        return;
    }
    let buffer = setup.command_buffer();
    let mut bytes = [0_u8; 64];
    let there = bytes.as_mut_ptr().cast();
    let none = ptr::null_mut();
    let copy = |to, from| buffer.svm_copy_code(to, from, 16, &[BAD_POINT]);
    assert_eq!(copy(none, none), cl::CL_INVALID_VALUE);
    assert_eq!(copy(there, none), cl::CL_INVALID_VALUE);
    let bad_point = cl::CL_INVALID_SYNC_POINT_WAIT_LIST_KHR;
    assert_eq!(copy(there, there), bad_point);
    assert_eq!(
        buffer.svm_copy_code(there, there, 16, &[]),
        cl::CL_MEM_COPY_OVERLAP
    );
    let fill = |to, pattern: &[u8]| buffer.svm_fill_code(to, pattern, 16, &[BAD_POINT]);
    assert_eq!(fill(none, &[1]), cl::CL_INVALID_VALUE);
    assert_eq!(fill(there, &[1; 3]), cl::CL_INVALID_VALUE);
    assert_eq!(fill(there, &[1]), bad_point);
}

#[test]
fn of_an_update() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let target = setup.buffer();
    let kernel = add(&program, &target, 1);
    let (buffer, command) = setup.recorded(&kernel);
    let (whole, part) = (32_usize, 100_usize);
    let uniform = cl_mutable_dispatch_config_khr {
        local_work_size: &whole,
        ..config(command)
    };
    assert_eq!(buffer.update(&[uniform]), 0);
    // With a list that contradicts its length.
    let uneven = cl_mutable_dispatch_config_khr {
        global_work_size: &part,
        num_args: 1,
        ..config(command)
    };
    assert_eq!(buffer.update(&[uneven]), cl::CL_INVALID_OPERATION);
    let contradiction = cl_mutable_dispatch_config_khr {
        num_args: 1,
        ..config(command)
    };
    assert_eq!(buffer.update(&[contradiction]), cl::CL_INVALID_VALUE);
}
