//! Semaphores between queues, and handed over as file descriptors.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;

use std::ffi::c_void;
use std::ptr;

use opencl_sys::{
    CL_COMPLETE, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_INVALID_PROPERTY, CL_INVALID_SEMAPHORE_KHR,
    CL_INVALID_VALUE, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
    CL_SEMAPHORE_PAYLOAD_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR, CL_SUCCESS,
    cl_command_queue, cl_external_semaphore_handle_type_khr, cl_int, cl_semaphore_khr, cl_uint,
    cl_ulong, clCreateSemaphoreWithPropertiesKHR_t, clEnqueueSignalSemaphoresKHR_t,
    clEnqueueWaitSemaphoresKHR_t, clGetSemaphoreHandleForTypeKHR_t, clGetSemaphoreInfoKHR_t,
    clReleaseSemaphoreKHR_t,
};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::{Event, create_user_event, set_user_event_status};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::types::{CL_NON_BLOCKING, cl_event};

const TYPE: [cl_ulong; 2] = [
    CL_SEMAPHORE_TYPE_KHR as cl_ulong,
    CL_SEMAPHORE_TYPE_BINARY_KHR as cl_ulong,
];

fn create(context: &Context, more: &[cl_ulong]) -> Result<cl_semaphore_khr, cl_int> {
    let create = entry!(
        clCreateSemaphoreWithPropertiesKHR_t,
        "clCreateSemaphoreWithPropertiesKHR"
    );
    let mut properties = TYPE.to_vec();
    properties.extend(more);
    properties.push(0);
    let mut code = 0;
    // SAFETY: a live context, a terminated list.
    let semaphore = unsafe { create(context.get(), properties.as_ptr(), &mut code) };
    if code == CL_SUCCESS {
        Ok(semaphore)
    } else {
        assert!(semaphore.is_null());
        Err(code)
    }
}

fn signal(queue: &CommandQueue, semaphore: cl_semaphore_khr, after: &[cl_event]) -> cl_int {
    let signal = entry!(
        clEnqueueSignalSemaphoresKHR_t,
        "clEnqueueSignalSemaphoresKHR"
    );
    let (queue, (count, list)) = (queue.get(), wait_list(after));
    // SAFETY: live handles.
    unsafe {
        signal(
            queue,
            1,
            &semaphore,
            ptr::null(),
            count,
            list,
            ptr::null_mut(),
        )
    }
}

fn wait(queue: &CommandQueue, semaphore: cl_semaphore_khr, event: *mut cl_event) -> cl_int {
    wait_after(queue, semaphore, &[], event)
}

fn wait_after(
    queue: &CommandQueue,
    semaphore: cl_semaphore_khr,
    after: &[cl_event],
    event: *mut cl_event,
) -> cl_int {
    let wait = entry!(clEnqueueWaitSemaphoresKHR_t, "clEnqueueWaitSemaphoresKHR");
    let (queue, (count, list)): (cl_command_queue, _) = (queue.get(), wait_list(after));
    // SAFETY: live handles.
    unsafe { wait(queue, 1, &semaphore, ptr::null(), count, list, event) }
}

fn wait_list(events: &[cl_event]) -> (cl_uint, *const cl_event) {
    match events {
        [] => (0, ptr::null()),
        events => (events.len() as cl_uint, events.as_ptr()),
    }
}

fn payload(semaphore: cl_semaphore_khr) -> cl_ulong {
    let info = entry!(clGetSemaphoreInfoKHR_t, "clGetSemaphoreInfoKHR");
    let mut value: cl_ulong = 7;
    let place = (&raw mut value).cast();
    // SAFETY: a live semaphore, room for the answer.
    let code = unsafe {
        info(
            semaphore,
            CL_SEMAPHORE_PAYLOAD_KHR,
            8,
            place,
            ptr::null_mut(),
        )
    };
    assert_eq!(code, CL_SUCCESS);
    value
}

fn release(semaphore: cl_semaphore_khr) -> cl_int {
    let release = entry!(clReleaseSemaphoreKHR_t, "clReleaseSemaphoreKHR");
    // SAFETY: any pointer may be released.
    unsafe { release(semaphore) }
}

fn queue(context: &Context, device: &Device, flags: cl_ulong) -> CommandQueue {
    // SAFETY: a device of the context.
    unsafe { CommandQueue::create_with_properties(context, device.id(), flags, 0) }
        .expect("a queue")
}

/// Whether what `first` writes after a long while is there when `second`, which only waits for the semaphore,
/// reads.
fn orders(
    context: &Context,
    first: &CommandQueue,
    second: &CommandQueue,
    pair: [cl_semaphore_khr; 2],
) {
    const BYTES: usize = 4 << 20;
    // SAFETY: no host pointer is given; the arrays outlive the last finish.
    unsafe {
        let mut buffer =
            Buffer::<u8>::create(context, CL_MEM_READ_WRITE, BYTES, ptr::null_mut::<c_void>())
                .unwrap();
        for round in 1..20_u8 {
            let mut back = vec![0_u8; BYTES];
            first
                .enqueue_fill_buffer(&mut buffer, &[round], 0, BYTES, &[])
                .unwrap();
            assert_eq!(signal(first, pair[0], &[]), CL_SUCCESS);
            assert_eq!(wait(second, pair[1], ptr::null_mut()), CL_SUCCESS);
            second
                .enqueue_read_buffer(&buffer, CL_NON_BLOCKING, 0, &mut back, &[])
                .unwrap();
            second.finish().unwrap();
            assert!(back.iter().all(|&byte| byte == round), "round {round}");
        }
    }
}

#[test]
fn a_wait_comes_after_its_signal() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let semaphore = create(&context, &[]).unwrap();
    let (first, second) = (queue(&context, &device, 0), queue(&context, &device, 0));
    assert_eq!(payload(semaphore), 0);
    orders(&context, &first, &second, [semaphore; 2]);
    assert_eq!(payload(semaphore), 0);
    assert_eq!(signal(&first, semaphore, &[]), CL_SUCCESS);
    first.finish().unwrap();
    assert_eq!(payload(semaphore), 1);
    assert_eq!(wait(&second, semaphore, ptr::null_mut()), CL_SUCCESS);
    second.finish().unwrap();
    assert_eq!(payload(semaphore), 0);
    assert_eq!(release(semaphore), CL_SUCCESS);
    assert_eq!(release(semaphore), CL_INVALID_SEMAPHORE_KHR);
}

/// One that nobody else knows, and those that others could be given, one way or the other, but are not.
fn kept_to_ourselves(context: &Context, device: &Device) -> Vec<cl_semaphore_khr> {
    let exports = CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR as cl_ulong;
    let kinds = handle_types(device, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR);
    let kinds = kinds.into_iter().map(|kind| vec![exports, kind.into(), 0]);
    let lists = [vec![]].into_iter().chain(kinds);
    lists.map(|list| create(context, &list).unwrap()).collect()
}

fn handle_types(device: &Device, name: cl_uint) -> Vec<cl_external_semaphore_handle_type_khr> {
    let bytes = device.get_data(name).expect("a list");
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().copied().map(u32::from_ne_bytes).collect()
}

#[test]
fn a_wait_may_be_enqueued_before_its_signal() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for semaphore in kept_to_ourselves(&context, &device) {
        let first = queue(&context, &device, 0);
        let second = queue(&context, &device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
        let mut event: cl_event = ptr::null_mut();
        assert_eq!(wait(&second, semaphore, &mut event), CL_SUCCESS);
        second.flush().unwrap();
        let waited = Event::new(event);
        let gate = create_user_event(context.get()).unwrap();
        assert_eq!(signal(&first, semaphore, &[gate]), CL_SUCCESS);
        assert!(waited.command_execution_status().unwrap().0 > CL_COMPLETE);
        assert_eq!(payload(semaphore), 0);
        set_user_event_status(gate, CL_COMPLETE).unwrap();
        waited.wait().unwrap();
        assert_eq!(payload(semaphore), 0);
        release(semaphore);
    }
}

/// "clEnqueueWaitSemaphoresKHR will not return until the binary semaphores in sema_objects are in a state that makes them
/// safe to re-signal": also when the wait itself has to wait.
#[test]
fn a_signal_may_be_enqueued_before_the_wait_for_the_last_begins() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for semaphore in kept_to_ourselves(&context, &device) {
        let (first, second) = (queue(&context, &device, 0), queue(&context, &device, 0));
        let third = queue(&context, &device, 0);
        // The wait comes after its signal, or before it.
        for signalled in [true, false] {
            let gate = create_user_event(context.get()).unwrap();
            let mut event: cl_event = ptr::null_mut();
            if signalled {
                assert_eq!(signal(&first, semaphore, &[]), CL_SUCCESS);
            }
            let code = wait_after(&second, semaphore, &[gate], &mut event);
            assert_eq!(code, CL_SUCCESS);
            if !signalled {
                assert_eq!(signal(&first, semaphore, &[]), CL_SUCCESS);
            }
            let earlier = Event::new(event);
            assert_eq!(signal(&first, semaphore, &[]), CL_SUCCESS);
            first.flush().unwrap();
            assert_eq!(wait(&third, semaphore, &mut event), CL_SUCCESS);
            third.flush().unwrap();
            let later = Event::new(event);
            assert!(earlier.command_execution_status().unwrap().0 > CL_COMPLETE);
            set_user_event_status(gate, CL_COMPLETE).unwrap();
            earlier.wait().unwrap();
            later.wait().unwrap();
            for queue in [&first, &second, &third] {
                queue.finish().unwrap();
            }
            assert_eq!(payload(semaphore), 0);
            // SAFETY: the only hold on it.
            unsafe { opencl3::event::release_event(gate) }.unwrap();
        }
        release(semaphore);
    }
}

#[test]
fn wrong_arguments_are_refused() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let semaphore = create(&context, &[]).unwrap();
    assert_eq!(create(&context, &TYPE), Err(CL_INVALID_PROPERTY));
    assert_eq!(create(&context, &[0x1234, 5]), Err(CL_INVALID_PROPERTY));
    let queue = queue(&context, &device, 0);
    assert_eq!(
        signal(&queue, ptr::null_mut(), &[]),
        CL_INVALID_SEMAPHORE_KHR
    );
    let export = entry!(
        clGetSemaphoreHandleForTypeKHR_t,
        "clGetSemaphoreHandleForTypeKHR"
    );
    let mut fd: cl_int = 0;
    let kind = CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR;
    let place = (&raw mut fd).cast();
    // SAFETY: live handles, room for the answer.
    let code = unsafe { export(semaphore, device.id(), kind, 4, place, ptr::null_mut()) };
    assert_eq!(code, CL_INVALID_VALUE);
    release(semaphore);
}

/// A semaphore and another of its descriptor, where the device shares them so.
fn pair(context: &Context, device: &Device) -> Option<[cl_semaphore_khr; 2]> {
    let shared = [
        CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
        CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
    ];
    let kind = CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR;
    if !shared
        .into_iter()
        .all(|name| handle_types(device, name).contains(&kind))
    {
        eprintln!("skipped: semaphores are not shared by opaque descriptors");
        return None;
    }
    let exports = CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR as cl_ulong;
    let exported = create(context, &[exports, kind.into(), 0]).unwrap();
    let export = entry!(
        clGetSemaphoreHandleForTypeKHR_t,
        "clGetSemaphoreHandleForTypeKHR"
    );
    let mut fd: cl_int = -1;
    let place = (&raw mut fd).cast();
    // SAFETY: live handles, room for the answer.
    let code = unsafe { export(exported, device.id(), kind, 4, place, ptr::null_mut()) };
    assert_eq!(code, CL_SUCCESS);
    assert!(fd >= 0);
    let imported = create(context, &[kind.into(), fd as cl_ulong]).unwrap();
    Some([exported, imported])
}

#[test]
fn a_descriptor_is_the_same_semaphore() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let Some(pair) = pair(&context, &device) else {
        return;
    };
    let (first, second) = (queue(&context, &device, 0), queue(&context, &device, 0));
    orders(&context, &first, &second, pair);
    assert_eq!(pair.map(release), [CL_SUCCESS; 2]);
}

/// Each is signalled and waited for before the other is, without a flush between: the payload that they share is
/// free again each time.
#[test]
fn two_of_one_descriptor_take_turns() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let Some(pair) = pair(&context, &device) else {
        return;
    };
    let queues = [(); 2].map(|()| queue(&context, &device, 0));
    for (queue, &semaphore) in queues.iter().zip(&pair) {
        assert_eq!(signal(queue, semaphore, &[]), CL_SUCCESS);
        assert_eq!(wait(queue, semaphore, ptr::null_mut()), CL_SUCCESS);
    }
    for queue in &queues {
        queue.finish().unwrap();
    }
    assert_eq!(pair.map(release), [CL_SUCCESS; 2]);
}
