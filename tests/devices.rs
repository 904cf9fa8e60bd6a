//! Contexts with several devices: contents follow the commands, and commands wait for those of other
//! devices.

mod common;

use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::event::{CL_COMPLETE, create_user_event, set_user_event_status};
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING};

#[test]
fn a_buffer_goes_from_device_to_device() {
    let Some(first) = common::device() else {
        return;
    };
    let platform = get_platforms().unwrap().remove(0);
    let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap();
    let Some(second) = ids.iter().find(|id| **id != first.id()) else {
        eprintln!("skipped: only one device");
        return;
    };
    let devices = [first.id(), *second];
    println!("{}", Device::new(*second).name().unwrap());
    let context = Context::from_devices(&devices, &[], None, ptr::null_mut()).unwrap();
    let queues: Vec<CommandQueue> = devices
        .iter()
        // SAFETY: nothing to promise.
        .map(|device| unsafe { CommandQueue::create_with_properties(&context, *device, 0, 0) })
        .map(Result::unwrap)
        .collect();
    let mut numbers: Vec<u32> = (0..10_000).collect();
    // SAFETY: the host memory lives until the last, blocking, call.
    unsafe {
        let mut buffer: Buffer<u32> = Buffer::create(
            &context,
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            numbers.len(),
            numbers.as_mut_ptr().cast(),
        )
        .unwrap();
        let mut copy: Buffer<u32> =
            Buffer::create(&context, CL_MEM_READ_WRITE, numbers.len(), ptr::null_mut()).unwrap();
        for round in 0..6_u32 {
            let (here, there) = (&queues[round as usize % 2], &queues[1 - round as usize % 2]);
            let place = round as usize * 100;
            numbers[place] = round + 70_000;
            let gate = create_user_event(context.get()).unwrap();
            let filled = here
                .enqueue_fill_buffer(&mut buffer, &[round + 70_000], place * 4, 4, &[])
                .unwrap();
            let marked = here
                .enqueue_marker_with_wait_list(&[filled.get(), gate])
                .unwrap();
            // Waits for a command of the other device, which itself waits for the host.
            let mut unused = vec![0_u32; 16];
            let waited = there
                .enqueue_read_buffer(&copy, CL_NON_BLOCKING, 0, &mut unused, &[marked.get()])
                .unwrap();
            set_user_event_status(gate, CL_COMPLETE).unwrap();
            waited.wait().unwrap();
            let copied = there
                .enqueue_copy_buffer(&buffer, &mut copy, 0, 0, numbers.len() * 4, &[waited.get()])
                .unwrap();
            let mut read = vec![0_u32; numbers.len()];
            here.enqueue_read_buffer(&copy, CL_BLOCKING, 0, &mut read, &[copied.get()])
                .unwrap();
            assert!(read == numbers, "round {round}");
        }
    }
}
