//! Kernels that reach buffers by device addresses: each device has what its kernels use, and nobody's writes are lost to
//! a kernel that uses other buffers.

use super::{Gate, Pair, addressed, pair, read};
use opencl_sys::cl_function_types::clSetKernelExecInfo_t;
use opencl_sys::{
    CL_FALSE, CL_INVALID_OPERATION, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT,
    CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_SVM_PTRS,
    CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, CL_SUCCESS, CL_TRUE, cl_bool, cl_kernel_exec_info,
    clDeviceMemAllocINTEL_t, clMemBlockingFreeINTEL_t, clSetKernelArgDevicePointerEXT_t,
};
use opencl3::event::{CL_COMPLETE, Event};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::types::{CL_BLOCKING, cl_event};
use std::ptr;

const COUNT: usize = 64;

/// Adds to the numbers that `places` leads to.
const FOLLOW: &str = "kernel void test(global const ulong* places, uint value) {
    global uint* numbers = (global uint*)places[0];
    numbers[get_global_id(0)] += value;
}";
const ADD: &str = "kernel void test(global uint* numbers, uint value) {
    numbers[get_global_id(0)] += value;
}";

/// A buffer that is known by its addresses, and for each device a buffer that holds the one there.
struct Target {
    numbers: Buffer<u32>,
    addresses: [u64; 2],
    places: [Buffer<u64>; 2],
}

impl Target {
    fn new(pair: &Pair, value: u32) -> Self {
        let (numbers, addresses) = addressed::buffer(&pair.context, &mut [value; COUNT]);
        let places = addresses.map(|address| {
            let (places, _) = addressed::buffer(&pair.context, &mut [address; COUNT]);
            places
        });
        Self {
            numbers,
            addresses,
            places,
        }
    }
}

fn say_list(kernel: &Kernel, pointers: &[u64]) {
    say(kernel, CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, pointers);
}

fn say(kernel: &Kernel, name: cl_kernel_exec_info, pointers: &[u64]) {
    let set = entry!(clSetKernelExecInfo_t, "clSetKernelExecInfo");
    let list = match pointers {
        [] => ptr::null(),
        pointers => pointers.as_ptr().cast(),
    };
    // SAFETY: a live kernel, and as many bytes as are said.
    let code = unsafe { set(kernel.get(), name, size_of_val(pointers), list) };
    assert_eq!(code, CL_SUCCESS);
}

fn say_flag(kernel: &Kernel, value: cl_bool) {
    let set = entry!(clSetKernelExecInfo_t, "clSetKernelExecInfo");
    let name = CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL;
    // SAFETY: as above.
    let code = unsafe { set(kernel.get(), name, 4, (&raw const value).cast()) };
    assert_eq!(code, CL_SUCCESS);
}

/// Launches a kernel with those arguments on device `device`, or whatever `argument` was set to before.
fn launch(
    pair: &Pair,
    device: usize,
    kernel: &Kernel,
    places: Option<&Buffer<u64>>,
    value: u32,
    waits: &[cl_event],
) -> Event {
    // SAFETY: the arguments are the kernel's.
    unsafe {
        if let Some(places) = places {
            kernel.set_arg(0, &places.get()).unwrap();
        }
        kernel.set_arg(1, &value).unwrap();
        pair.queues[device]
            .enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &COUNT, ptr::null(), waits)
            .unwrap()
    }
}

/// `kernel` is launched on the first device, by `first` or the argument set before, in the midst of what a kernel on the
/// second one adds to a buffer that it says it uses. What is in that buffer afterwards.
fn beside_another(pair: &Pair, kernel: &Kernel, first: Option<&Buffer<u64>>) -> Vec<u32> {
    let other = pair.kernel(FOLLOW);
    let target = Target::new(pair, 1000);
    say_list(&other, &target.addresses);
    let add = |value| launch(pair, 1, &other, Some(&target.places[1]), value, &[]);
    // It has all there from then on.
    add(1).wait().unwrap();
    let gate = Gate::new(pair);
    let held = launch(pair, 0, kernel, first, 5, &[gate.0]);
    // Recorded, not submitted yet.
    let added = add(2);
    gate.set(CL_COMPLETE);
    held.wait().unwrap();
    added.wait().unwrap();
    read(&pair.queues[0], &target.numbers, COUNT, &[])
}

#[test]
fn what_other_devices_write_is_not_lost_to_kernels_that_name_their_own() {
    let Some(pair) = pair(0) else { return };
    let target = Target::new(&pair, 100);
    let kernel = pair.kernel(FOLLOW);
    // A pointer into the middle will do.
    say_list(&kernel, &[target.addresses[0] + 40]);
    let first = Some(&target.places[0]);
    assert_eq!(beside_another(&pair, &kernel, first), [1003; COUNT]);
    assert_eq!(
        read(&pair.queues[1], &target.numbers, COUNT, &[]),
        [105; COUNT]
    );
    assert_eq!(beside_another(&pair, &kernel.clone(), first), [1003; COUNT]);
    assert_eq!(
        read(&pair.queues[1], &target.numbers, COUNT, &[]),
        [110; COUNT]
    );
}

/// Memory of the kinds that the flags are of stays where it is, and an empty list names no buffer.
#[test]
fn nor_to_kernels_that_name_no_buffer() {
    let Some(pair) = pair(0) else { return };
    let (mut own, addresses) = addressed::buffer(&pair.context, &mut [0_u64; COUNT + 1]);
    // SAFETY: within the buffer; the call blocks.
    unsafe { pair.queues[0].enqueue_write_buffer(&mut own, CL_BLOCKING, 0, &addresses[..1], &[]) }
        .unwrap();
    // It follows a pointer to its own argument.
    let source = "kernel void test(global const ulong* places, uint value) {
        global ulong* own = (global ulong*)places[0];
        own[get_global_id(0) + 1] = value;
    }";
    let [listed, flagged] = [(); 2].map(|()| pair.kernel(source));
    say_list(&listed, &[]);
    say_flag(&flagged, CL_TRUE);
    for kernel in [listed, flagged] {
        assert_eq!(beside_another(&pair, &kernel, Some(&own)), [1003; COUNT]);
        let mut result = [0_u64; COUNT];
        // SAFETY: the call blocks.
        unsafe { pair.queues[0].enqueue_read_buffer(&own, CL_BLOCKING, 8, &mut result, &[]) }
            .unwrap();
        assert_eq!(result, [5; COUNT]);
    }
}

#[test]
fn nor_to_kernels_whose_argument_is_an_address() {
    let Some(pair) = pair(0) else { return };
    let set = entry!(
        clSetKernelArgDevicePointerEXT_t,
        "clSetKernelArgDevicePointerEXT"
    );
    let target = Target::new(&pair, 100);
    let kernel = pair.kernel(ADD);
    for round in 1..3 {
        // SAFETY: a live kernel.
        let code = unsafe { set(kernel.get(), 0, target.addresses[0]) };
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(beside_another(&pair, &kernel, None), [1003; COUNT]);
        // SAFETY: as above.
        let code = unsafe { set(kernel.get(), 0, target.addresses[1]) };
        assert_eq!(code, CL_SUCCESS);
        launch(&pair, 1, &kernel, None, 10, &[]).wait().unwrap();
        let result = read(&pair.queues[0], &target.numbers, COUNT, &[]);
        assert_eq!(result, [100 + 15 * round; COUNT]);
    }
}

/// Applications forget to say what kernels follow pointers to.
#[test]
fn a_kernel_of_which_nothing_is_said_finds_everything() {
    let Some(pair) = pair(0) else { return };
    let target = Target::new(&pair, 100);
    let kernel = pair.kernel(FOLLOW);
    // To say no to a kind of memory says nothing of buffers.
    say_flag(&kernel, CL_FALSE);
    let mut last: Option<Event> = None;
    for round in 0..6 {
        let device = round % 2;
        let waits: Vec<cl_event> = last.iter().map(Event::get).collect();
        let places = Some(&target.places[device]);
        last = Some(launch(&pair, device, &kernel, places, 1, &waits));
    }
    let waits = [last.as_ref().unwrap().get()];
    let result = read(&pair.queues[0], &target.numbers, COUNT, &waits);
    assert_eq!(result, [106; COUNT]);
}

/// Memory of one device is at no address of the others: they refuse it rather than fault.
#[test]
fn memory_of_the_other_device_is_refused() {
    let Some(pair) = pair(0) else { return };
    let allocate = entry!(clDeviceMemAllocINTEL_t, "clDeviceMemAllocINTEL");
    let free = entry!(clMemBlockingFreeINTEL_t, "clMemBlockingFreeINTEL");
    let set = entry!(
        clSetKernelArgDevicePointerEXT_t,
        "clSetKernelArgDevicePointerEXT"
    );
    let (context, first) = (pair.context.get(), pair.context.devices()[0]);
    let mut code = 0;
    // SAFETY: live handles, no properties.
    let memory = unsafe { allocate(context, first, ptr::null(), 4 * COUNT, 0, &mut code) };
    assert_eq!(code, CL_SUCCESS);
    let address = memory as u64;
    let kernel = pair.kernel(ADD);
    // SAFETY: a live kernel, and arguments of its own.
    unsafe {
        assert_eq!(set(kernel.get(), 0, address), CL_SUCCESS);
        kernel.set_arg(1, &1_u32).unwrap();
    }
    let run = |kernel: &Kernel, device: usize| {
        // SAFETY: as above.
        let event = unsafe {
            pair.queues[device].enqueue_nd_range_kernel(
                kernel.get(),
                1,
                ptr::null(),
                &COUNT,
                ptr::null(),
                &[],
            )
        };
        event
            .map(|event| event.wait().unwrap())
            .map_err(|error| error.0)
    };
    assert_eq!(run(&kernel, 0), Ok(()));
    assert_eq!(run(&kernel, 1), Err(CL_INVALID_OPERATION));
    let target = Target::new(&pair, 1);
    let kernel = pair.kernel(FOLLOW);
    // SAFETY: arguments of its own.
    unsafe {
        kernel.set_arg(0, &target.places[1].get()).unwrap();
        kernel.set_arg(1, &1_u32).unwrap();
    }
    // Lists of unified shared memory may name more than is used.
    say(&kernel, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, &[address]);
    say_list(&kernel, &target.addresses);
    assert_eq!(run(&kernel, 1), Ok(()));
    say(&kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, &[address]);
    assert_eq!(run(&kernel, 1), Err(CL_INVALID_OPERATION));
    // SAFETY: no kernel uses it any longer.
    assert_eq!(unsafe { free(context, memory) }, CL_SUCCESS);
}
