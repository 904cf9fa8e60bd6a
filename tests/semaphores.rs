//! Semaphores between queues, and handed over as file descriptors.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;

use std::ffi::c_void;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr;

use opencl_sys::{
    CL_COMPLETE, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_INVALID_DEVICE, CL_INVALID_OPERATION,
    CL_INVALID_PROPERTY, CL_INVALID_SEMAPHORE_KHR, CL_INVALID_VALUE, CL_SEMAPHORE_CONTEXT_KHR,
    CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    CL_SEMAPHORE_EXPORTABLE_KHR, CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR,
    CL_SEMAPHORE_HANDLE_SYNC_FD_KHR, CL_SEMAPHORE_PAYLOAD_KHR, CL_SEMAPHORE_PROPERTIES_KHR,
    CL_SEMAPHORE_REFERENCE_COUNT_KHR, CL_SEMAPHORE_TYPE_BINARY_KHR, CL_SEMAPHORE_TYPE_KHR,
    CL_SUCCESS, cl_command_queue, cl_device_id, cl_external_semaphore_handle_type_khr, cl_int,
    cl_semaphore_khr, cl_uint, cl_ulong, clCreateSemaphoreWithPropertiesKHR_t,
    clEnqueueSignalSemaphoresKHR_t, clEnqueueWaitSemaphoresKHR_t, clGetSemaphoreHandleForTypeKHR_t,
    clGetSemaphoreInfoKHR_t, clReImportSemaphoreSyncFdKHR_t, clReleaseSemaphoreKHR_t,
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

fn import_again(semaphore: cl_semaphore_khr, fd: cl_int) -> cl_int {
    let again = entry!(
        clReImportSemaphoreSyncFdKHR_t,
        "clReImportSemaphoreSyncFdKHR"
    );
    // SAFETY: a semaphore, or refused.
    unsafe { again(semaphore, ptr::null_mut(), fd) }
}

fn export(
    semaphore: cl_semaphore_khr,
    device: cl_device_id,
    kind: cl_external_semaphore_handle_type_khr,
) -> Result<cl_int, cl_int> {
    let export = entry!(
        clGetSemaphoreHandleForTypeKHR_t,
        "clGetSemaphoreHandleForTypeKHR"
    );
    let (mut fd, mut size_bytes) = (-2, 0);
    let place = (&raw mut fd).cast();
    // SAFETY: live handles, room for the answer.
    let code = unsafe { export(semaphore, device, kind, 4, place, &mut size_bytes) };
    match code {
        CL_SUCCESS => {
            assert_eq!(size_bytes, 4);
            Ok(fd)
        }
        code => {
            assert_eq!(fd, -2);
            Err(code)
        }
    }
}

const EXPORTS: cl_ulong = CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR as cl_ulong;
const DEVICES: cl_ulong = CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR as cl_ulong;
const OPAQUE: cl_ulong = CL_SEMAPHORE_HANDLE_OPAQUE_FD_KHR as cl_ulong;
const SYNC: cl_ulong = CL_SEMAPHORE_HANDLE_SYNC_FD_KHR as cl_ulong;

/// A file's descriptor, which is no semaphore's.
fn file() -> OwnedFd {
    std::fs::File::open("/dev/null").expect("a file").into()
}

#[test]
fn what_the_device_does_not_share_is_refused() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let [imports, exports] = [
        CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
        CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
    ]
    .map(|name| handle_types(&device, name));
    let here = device.id() as cl_ulong;
    for kind in [OPAQUE, SYNC] {
        let can_export = exports.contains(&(kind as cl_uint));
        let can_import = imports.contains(&(kind as cl_uint));
        // A list of one, and of two, which is one too many.
        match (create(&context, &[EXPORTS, kind, 0]), can_export) {
            (Ok(semaphore), true) => assert_eq!(release(semaphore), CL_SUCCESS),
            (made, _) => assert_eq!(made, Err(CL_INVALID_PROPERTY), "{kind:#x}"),
        }
        let refused = if can_export {
            CL_INVALID_VALUE
        } else {
            CL_INVALID_PROPERTY
        };
        assert_eq!(create(&context, &[EXPORTS, kind, kind, 0]), Err(refused));
        // A fault later in the list that the specification names first.
        let unknown = create(&context, &[EXPORTS, kind, kind, 0, 0x1234, 5]);
        assert_eq!(unknown, Err(CL_INVALID_PROPERTY));

        let file = file();
        let fd = file.as_raw_fd() as cl_ulong;
        if !can_import {
            let everywhere = create(&context, &[kind, fd]);
            assert_eq!(everywhere, Err(CL_INVALID_PROPERTY), "{kind:#x}");
            // "one or more devices identified by properties CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR cannot import"
            let listed = create(&context, &[kind, fd, DEVICES, here, 0]);
            assert_eq!(listed, Err(CL_INVALID_DEVICE), "{kind:#x}");
        }
        let twice = create(&context, &[kind, fd, kind, fd]);
        assert_eq!(twice, Err(CL_INVALID_PROPERTY), "{kind:#x}");
        if can_import {
            let minus = |number: i64| number as cl_ulong;
            // -1 is a sync file whose signal is done, and no other descriptor.
            assert_eq!(
                create(&context, &[kind, minus(-2)]),
                Err(CL_INVALID_PROPERTY)
            );
            if can_export {
                let both = create(&context, &[kind, fd, EXPORTS, kind, 0]);
                assert_eq!(both, Err(CL_INVALID_OPERATION), "{kind:#x}");
            }
        }
        // It is the application's still: "after a successful import" it would not be.
        // SAFETY: a question.
        assert_ne!(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETFD) }, -1);
    }
    if [OPAQUE, SYNC]
        .iter()
        .all(|kind| exports.contains(&(*kind as cl_uint)))
    {
        let both = create(&context, &[EXPORTS, OPAQUE, SYNC, 0]);
        assert_eq!(both, Err(CL_INVALID_VALUE));
    }
}

/// Set in the process that tries it.
const CHILD: &str = "PUMICE_TEST_FOREIGN_DESCRIPTOR";

/// In a process of its own: drivers are not careful with what is no semaphore's. SwiftShader closes it, which is the
/// application's to do, and on an H200 other threads were refused memory meanwhile.
#[test]
fn a_descriptor_of_something_else_is_refused() {
    if std::env::var_os(CHILD).is_none() {
        let this = std::env::current_exe().expect("a running test has a path");
        let test = "a_descriptor_of_something_else_is_refused";
        let status = std::process::Command::new(this)
            .args([test, "--exact"])
            .env(CHILD, "1")
            .status();
        assert!(status.expect("it can be started").success());
        return;
    }
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for kind in handle_types(&device, CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR) {
        let odd = create(&context, &[kind.into(), file().into_raw_fd() as cl_ulong]);
        assert_eq!(odd, Err(CL_INVALID_PROPERTY), "{kind:#x}");
    }
}

#[test]
fn descriptors_are_given_only_as_agreed() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let here = device.id();
    for semaphore in kept_to_ourselves(&context, &device) {
        let (types, exportable): (Vec<cl_uint>, Vec<cl_uint>) = (
            info(semaphore, CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR as cl_uint),
            info(semaphore, CL_SEMAPHORE_EXPORTABLE_KHR),
        );
        assert_eq!(exportable, [cl_uint::from(!types.is_empty())]);
        for kind in [OPAQUE, SYNC] {
            let kind = kind as cl_uint;
            let none = ptr::null_mut();
            assert_eq!(export(none, here, kind), Err(CL_INVALID_SEMAPHORE_KHR));
            assert_eq!(export(semaphore, none, 0), Err(CL_INVALID_DEVICE));
            let not_agreed = !types.contains(&kind);
            if not_agreed {
                assert_eq!(export(semaphore, here, kind), Err(CL_INVALID_VALUE));
                continue;
            }
            let export = entry!(
                clGetSemaphoreHandleForTypeKHR_t,
                "clGetSemaphoreHandleForTypeKHR"
            );
            let (mut fd, mut size_bytes) = (-2_i32, 0);
            let place: *mut c_void = (&raw mut fd).cast();
            // SAFETY: live handles, room for as much as is said.
            let codes = unsafe {
                [
                    export(semaphore, here, kind, 3, place, ptr::null_mut()),
                    export(semaphore, here, kind, 0, none, &mut size_bytes),
                ]
            };
            assert_eq!(codes, [CL_INVALID_VALUE, CL_SUCCESS]);
            assert_eq!((fd, size_bytes), (-2, 4));
        }
        // "CL_INVALID_SEMAPHORE_KHR if a CL_SEMAPHORE_HANDLE_SYNC_FD_KHR handle was not imported", also where it could be
        // exported; and first.
        for fd in [-1, -2] {
            assert_eq!(import_again(semaphore, fd), CL_INVALID_SEMAPHORE_KHR);
        }
        release(semaphore);
    }
    assert_eq!(import_again(ptr::null_mut(), -2), CL_INVALID_SEMAPHORE_KHR);
}

/// An answer of `clGetSemaphoreInfoKHR`, its size asked first.
fn info<T: Clone + Default>(semaphore: cl_semaphore_khr, name: cl_uint) -> Vec<T> {
    let info = entry!(clGetSemaphoreInfoKHR_t, "clGetSemaphoreInfoKHR");
    let mut size_bytes = usize::MAX;
    // SAFETY: room for as much as is said.
    unsafe {
        let code = info(semaphore, name, 0, ptr::null_mut(), &mut size_bytes);
        assert_eq!((code, size_bytes % size_of::<T>()), (CL_SUCCESS, 0));
        let mut values = vec![T::default(); size_bytes / size_of::<T>()];
        let place: *mut c_void = values.as_mut_ptr().cast();
        if size_bytes > 0 {
            let less = info(semaphore, name, size_bytes - 1, place, ptr::null_mut());
            assert_eq!(less, CL_INVALID_VALUE);
            let code = info(semaphore, name, size_bytes, place, ptr::null_mut());
            assert_eq!(code, CL_SUCCESS);
        }
        values
    }
}

#[test]
fn a_semaphore_tells_what_it_was_made_with() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let here = device.id() as usize;
    let kinds = handle_types(&device, CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR);
    let mut lists = vec![vec![], vec![DEVICES, here as cl_ulong, 0]];
    lists.extend(kinds.iter().map(|&kind| vec![EXPORTS, kind.into(), 0]));
    for list in lists {
        let semaphore = create(&context, &list).unwrap();
        let told: Vec<usize> = info(semaphore, CL_SEMAPHORE_CONTEXT_KHR);
        assert_eq!(told, [context.get() as usize]);
        let told: Vec<usize> = info(semaphore, CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR);
        assert_eq!(told, [here]);
        let told: Vec<cl_uint> = info(semaphore, CL_SEMAPHORE_TYPE_KHR);
        assert_eq!(told, [CL_SEMAPHORE_TYPE_BINARY_KHR]);
        let told: Vec<cl_uint> = info(semaphore, CL_SEMAPHORE_REFERENCE_COUNT_KHR);
        assert_eq!(told, [1]);
        // "… in the same order and without including additional properties."
        let told: Vec<cl_ulong> = info(semaphore, CL_SEMAPHORE_PROPERTIES_KHR);
        assert_eq!(told, [&TYPE[..], &list, &[0]].concat());
        let ask = entry!(clGetSemaphoreInfoKHR_t, "clGetSemaphoreInfoKHR");
        // SAFETY: nothing is written.
        let unknown = unsafe { ask(semaphore, 0, 0, ptr::null_mut(), ptr::null_mut()) };
        assert_eq!(unknown, CL_INVALID_VALUE);
        assert_eq!(release(semaphore), CL_SUCCESS);
    }
}

#[test]
fn sync_files_carry_a_signal() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let kind = CL_SEMAPHORE_HANDLE_SYNC_FD_KHR;
    let shared = [
        CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR,
        CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR,
    ];
    if !shared
        .into_iter()
        .all(|name| handle_types(&device, name).contains(&kind))
    {
        eprintln!("skipped: semaphores are not shared by sync files");
        return;
    }
    let exported = create(&context, &[EXPORTS, SYNC, 0]).unwrap();
    // It is signalled from the beginning.
    let imported = create(&context, &[SYNC, cl_ulong::MAX]).unwrap();
    assert_eq!(payload(imported), 1);
    let (first, second) = (queue(&context, &device, 0), queue(&context, &device, 0));
    assert_eq!(wait(&second, imported, ptr::null_mut()), CL_SUCCESS);
    second.finish().unwrap();
    assert_eq!(payload(imported), 0);
    let unsignalled = export(exported, device.id(), kind);
    assert_eq!(unsignalled, Err(CL_INVALID_OPERATION));
    assert_eq!(import_again(imported, -2), CL_INVALID_VALUE);

    const BYTES: usize = 4 << 20;
    // SAFETY: no host pointer is given; the arrays outlive the last finish.
    unsafe {
        let none = ptr::null_mut::<c_void>();
        let mut buffers = [(); 2]
            .map(|()| Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, BYTES, none).unwrap());
        for round in 1..20_u8 {
            // Two are under way before the first is looked at; the second wait does not take the first's file.
            let mut back = [vec![0_u8; BYTES], vec![0_u8; BYTES]];
            for (step, (buffer, back)) in buffers.iter_mut().zip(&mut back).enumerate() {
                let value = round * 2 + step as u8;
                first
                    .enqueue_fill_buffer(buffer, &[value], 0, BYTES, &[])
                    .unwrap();
                assert_eq!(signal(&first, exported, &[]), CL_SUCCESS);
                let fd = export(exported, device.id(), kind).unwrap();
                assert!(fd >= -1);
                assert_eq!(payload(exported), 0);
                assert_eq!(import_again(imported, fd), CL_SUCCESS);
                assert_eq!(wait(&second, imported, ptr::null_mut()), CL_SUCCESS);
                second
                    .enqueue_read_buffer(buffer, CL_NON_BLOCKING, 0, back, &[])
                    .unwrap();
            }
            second.finish().unwrap();
            for (step, back) in back.iter().enumerate() {
                let value = round * 2 + step as u8;
                assert!(back.iter().all(|&byte| byte == value), "round {round}");
            }
        }
        first.finish().unwrap();
    }
    // What was imported is taken: the next wait needs a signal of its own.
    let mut event = ptr::null_mut();
    assert_eq!(wait(&second, imported, &mut event), CL_SUCCESS);
    let waited = Event::new(event);
    second.flush().unwrap();
    assert!(waited.command_execution_status().unwrap().0 > CL_COMPLETE);
    assert_eq!(signal(&first, imported, &[]), CL_SUCCESS);
    first.flush().unwrap();
    waited.wait().unwrap();
    // A signal that waits for another thread is exported when it is on its way.
    let gate = create_user_event(context.get()).unwrap();
    assert_eq!(signal(&first, exported, &[gate]), CL_SUCCESS);
    let opened = gate as usize;
    let fd = std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(std::time::Duration::from_millis(20));
            set_user_event_status(opened as cl_event, CL_COMPLETE).unwrap();
        });
        export(exported, device.id(), kind).unwrap()
    });
    assert_eq!(import_again(imported, fd), CL_SUCCESS);
    assert_eq!(wait(&second, imported, ptr::null_mut()), CL_SUCCESS);
    second.finish().unwrap();
    // SAFETY: the only hold on it.
    unsafe { opencl3::event::release_event(gate) }.unwrap();
    assert_eq!([exported, imported].map(release), [CL_SUCCESS; 2]);
}
