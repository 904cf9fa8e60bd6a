//! Events, markers, barriers and callbacks through the API.

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_EVENT, CL_INVALID_OPERATION,
    CL_INVALID_VALUE, CL_PROFILING_INFO_NOT_AVAILABLE, cl_int,
};
use opencl3::event::{
    CL_COMPLETE, CL_QUEUED, CL_RUNNING, CL_SUBMITTED, Event, create_user_event,
    set_user_event_status, wait_for_events,
};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem, set_mem_object_destructor_callback};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event, cl_mem};

fn setup(flags: u64) -> Option<(Context, CommandQueue)> {
    let device = common::device()?;
    let context = Context::from_device(&device).unwrap();
    let queue = CommandQueue::create_default_with_properties(&context, flags, 0).unwrap();
    Some((context, queue))
}

fn user_event(context: &Context) -> Event {
    Event::new(create_user_event(context.get()).unwrap())
}

fn marker(queue: &CommandQueue, waits: &[cl_event]) -> Event {
    // SAFETY: nothing to promise.
    unsafe { queue.enqueue_marker_with_wait_list(waits) }.unwrap()
}

fn status(event: &Event) -> cl_int {
    event.command_execution_status().unwrap().0
}

fn until(condition: impl Fn() -> bool) -> bool {
    let start = Instant::now();
    while !condition() {
        if start.elapsed() > Duration::from_secs(20) {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn a_user_event_holds_back_only_what_depends_on_it() {
    let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let Some((context, queue)) = setup(flags) else {
        return;
    };
    let gate = user_event(&context);
    assert_eq!(status(&gate), CL_SUBMITTED);
    let held = marker(&queue, &[gate.get()]);
    let after = marker(&queue, &[held.get()]);
    // SAFETY: no host memory is involved.
    let mut other =
        unsafe { Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 64, ptr::null_mut()) }.unwrap();
    // SAFETY: within the buffer.
    let free = unsafe { queue.enqueue_fill_buffer(&mut other, &[1_u8], 0, 64, &[]) }.unwrap();
    free.wait().unwrap();
    assert_eq!(status(&held), CL_QUEUED);
    assert_eq!(status(&after), CL_QUEUED);
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    after.wait().unwrap();
    assert_eq!(status(&held), CL_COMPLETE);
}

#[test]
fn completion_is_seen_without_waiting() {
    let Some((context, queue)) = setup(0) else {
        return;
    };
    // SAFETY: within the buffer, and no host memory is involved.
    let event = unsafe {
        let mut buffer =
            Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 4096, ptr::null_mut()).unwrap();
        queue.enqueue_fill_buffer(&mut buffer, &[3_u8], 0, 4096, &[])
    }
    .unwrap();
    assert!(until(|| status(&event) == CL_COMPLETE));
}

#[test]
fn a_failure_goes_down_the_wait_lists() {
    let Some((context, queue)) = setup(0) else {
        return;
    };
    let second = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    let gate = user_event(&context);
    let first = marker(&queue, &[gate.get()]);
    let next = marker(&second, &[first.get()]);
    let free = marker(&queue, &[]);
    set_user_event_status(gate.get(), -42).unwrap();
    let waited = wait_for_events(&[next.get()]);
    assert_eq!(waited, Err(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST));
    assert_eq!(status(&gate), -42);
    assert!(status(&first) < 0);
    assert!(status(&next) < 0);
    // What does not wait for it goes on.
    free.wait().unwrap();
    queue.finish().unwrap();

    // A blocking call says so at once.
    // SAFETY: the call fails or blocks.
    unsafe {
        let buffer = Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 4, ptr::null_mut()).unwrap();
        let mut data = [0_u8; 4];
        let read = queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut data, &[gate.get()]);
        assert_eq!(
            read.err().map(|error| error.0),
            Some(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
        );
    }
}

#[test]
fn user_events_are_set_once_and_by_the_application() {
    let Some((context, queue)) = setup(0) else {
        return;
    };
    let gate = user_event(&context);
    assert_eq!(
        set_user_event_status(gate.get(), CL_SUBMITTED),
        Err(CL_INVALID_VALUE)
    );
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    assert_eq!(
        set_user_event_status(gate.get(), CL_COMPLETE),
        Err(CL_INVALID_OPERATION)
    );
    let event = marker(&queue, &[]);
    assert_eq!(
        set_user_event_status(event.get(), CL_COMPLETE),
        Err(CL_INVALID_EVENT)
    );
    assert!(gate.profiling_command_start().is_err());
}

#[test]
fn times_are_in_order_and_only_where_asked_for() {
    let Some((context, queue)) = setup(CL_QUEUE_PROFILING_ENABLE) else {
        return;
    };
    let mut last_end = 0;
    for _ in 0..5 {
        // SAFETY: within the buffer, and no host memory is involved.
        let event = unsafe {
            let mut buffer =
                Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 1 << 20, ptr::null_mut())
                    .unwrap();
            queue.enqueue_fill_buffer(&mut buffer, &[3_u8], 0, 1 << 20, &[])
        }
        .unwrap();
        event.wait().unwrap();
        let times = [
            event.profiling_command_queued().unwrap(),
            event.profiling_command_submit().unwrap(),
            event.profiling_command_start().unwrap(),
            event.profiling_command_end().unwrap(),
            event.profiling_command_complete().unwrap(),
        ];
        assert!(times.is_sorted(), "{times:?}");
        assert!(times[0] >= last_end, "{times:?} after {last_end}");
        last_end = times[4];
    }
    let plain = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    let event = marker(&plain, &[]);
    event.wait().unwrap();
    let time = event.profiling_command_start();
    assert_eq!(
        time.err().map(|error| error.0),
        Some(CL_PROFILING_INFO_NOT_AVAILABLE)
    );
}

static CALLS: Mutex<Vec<(usize, cl_int)>> = Mutex::new(Vec::new());

extern "C" fn note(_event: cl_event, status: cl_int, user_data: *mut c_void) {
    CALLS.lock().unwrap().push((user_data as usize, status));
}

#[test]
fn callbacks_come_once_for_each_state_in_order() {
    let Some((context, queue)) = setup(0) else {
        return;
    };
    let gate = user_event(&context);
    let event = marker(&queue, &[gate.get()]);
    let failing = user_event(&context);
    for (number, state) in [(1, CL_COMPLETE), (2, CL_SUBMITTED), (3, CL_RUNNING)] {
        event
            .set_callback(state, note, number as *mut c_void)
            .unwrap();
    }
    failing
        .set_callback(CL_COMPLETE, note, 4 as *mut c_void)
        .unwrap();
    queue.flush().unwrap();
    assert!(CALLS.lock().unwrap().is_empty());
    // Nobody waits for the command: its completion is seen all the same.
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    assert!(until(|| CALLS.lock().unwrap().len() == 3));
    let calls = std::mem::take(&mut *CALLS.lock().unwrap());
    assert_eq!(
        calls,
        [(2, CL_SUBMITTED), (3, CL_RUNNING), (1, CL_COMPLETE)]
    );
    set_user_event_status(failing.get(), -7).unwrap();
    assert!(until(|| CALLS.lock().unwrap().len() == 1));
    assert_eq!(CALLS.lock().unwrap().pop(), Some((4, -7)));
    // A state that has been reached is told at once.
    event
        .set_callback(CL_COMPLETE, note, 5 as *mut c_void)
        .unwrap();
    assert!(until(|| CALLS.lock().unwrap().len() == 1));
    assert_eq!(
        event
            .set_callback(17, note, ptr::null_mut())
            .err()
            .map(|error| error.0),
        Some(CL_INVALID_VALUE)
    );
}

/// "CL_RUNNING (device has started executing this command)": not before the event says so itself.
#[test]
fn running_is_not_told_before_the_command_runs() {
    static SEEN: AtomicI32 = AtomicI32::new(i32::MAX);
    extern "C" fn look(event: cl_event, told: cl_int, _: *mut c_void) {
        assert_eq!(told, CL_RUNNING);
        let event = Event::new(event);
        SEEN.store(status(&event), Ordering::SeqCst);
        // It is the test's.
        std::mem::forget(event);
    }
    const BYTES: usize = 64 << 20;
    let Some((context, queue)) = setup(0) else {
        return;
    };
    // SAFETY: within the buffer, and no host memory is involved.
    let last = unsafe {
        let mut buffer =
            Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, BYTES, ptr::null_mut()).unwrap();
        let mut fill = |byte: u8| queue.enqueue_fill_buffer(&mut buffer, &[byte], 0, BYTES, &[]);
        for byte in 0..9 {
            fill(byte).unwrap();
        }
        fill(9).unwrap()
    };
    // Told when it is reached, and told at once if it had been before.
    last.set_callback(CL_RUNNING, look, ptr::null_mut())
        .unwrap();
    queue.flush().unwrap();
    assert!(until(|| SEEN.load(Ordering::SeqCst) != i32::MAX));
    assert!((CL_COMPLETE..=CL_RUNNING).contains(&SEEN.load(Ordering::SeqCst)));
    queue.finish().unwrap();
}

static BLOCKED: AtomicU32 = AtomicU32::new(0);
static LOCK: Mutex<()> = Mutex::new(());

extern "C" fn take_the_lock(_event: cl_event, _status: cl_int, _user_data: *mut c_void) {
    let _guard = LOCK.lock().unwrap();
    BLOCKED.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn a_callback_may_want_a_lock_that_a_waiting_thread_holds() {
    let Some((_context, queue)) = setup(0) else {
        return;
    };
    let guard = LOCK.lock().unwrap();
    let event = marker(&queue, &[]);
    event
        .set_callback(CL_COMPLETE, take_the_lock, ptr::null_mut())
        .unwrap();
    queue.finish().unwrap();
    assert_eq!(BLOCKED.load(Ordering::SeqCst), 0);
    drop(guard);
    assert!(until(|| BLOCKED.load(Ordering::SeqCst) == 1));
}

#[test]
fn a_barrier_comes_after_all_before_and_before_all_after() {
    let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let Some((context, queue)) = setup(flags) else {
        return;
    };
    let gate = user_event(&context);
    let held = marker(&queue, &[gate.get()]);
    // SAFETY: nothing to promise.
    let barrier = unsafe { queue.enqueue_barrier_with_wait_list(&[]) }.unwrap();
    // SAFETY: within the buffer; the data lives until `finish`.
    unsafe {
        let mut buffer =
            Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, 1, ptr::null_mut()).unwrap();
        let after = queue
            .enqueue_fill_buffer(&mut buffer, &[5_u32], 0, 4, &[])
            .unwrap();
        queue.flush().unwrap();
        thread::sleep(Duration::from_millis(20));
        for event in [&held, &barrier, &after] {
            assert_eq!(status(event), CL_QUEUED);
        }
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        let mut data = [0_u32];
        queue
            .enqueue_read_buffer(&buffer, CL_NON_BLOCKING, 0, &mut data, &[after.get()])
            .unwrap();
        queue.finish().unwrap();
        assert_eq!(data, [5]);
    }
    for event in [&held, &barrier] {
        assert_eq!(status(event), CL_COMPLETE);
    }
}

/// What a command held may go with it when it fails, and the application is called: with no lock of the queue.
#[test]
fn a_destructor_callback_may_use_the_queue_whose_command_failed() {
    static DONE: AtomicU32 = AtomicU32::new(0);
    extern "C" fn flush(_memory: cl_mem, queue: *mut c_void) {
        opencl3::command_queue::flush(queue.cast()).unwrap();
        DONE.store(1, Ordering::Release);
    }
    let Some((context, queue)) = setup(0) else {
        return;
    };
    let gate = user_event(&context);
    // SAFETY: no host memory, within the buffer; the queue outlives the callback.
    unsafe {
        let mut buffer =
            Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, 16, ptr::null_mut()).unwrap();
        set_mem_object_destructor_callback(buffer.get(), flush, queue.get().cast()).unwrap();
        queue
            .enqueue_fill_buffer(&mut buffer, &[5_u32], 0, 64, &[gate.get()])
            .unwrap();
    }
    let gate = gate.get() as usize;
    // In a thread of its own, so that one that hangs does not take the test along.
    let setter = thread::spawn(move || set_user_event_status(gate as cl_event, -1).unwrap());
    assert!(until(|| DONE.load(Ordering::Acquire) == 1));
    setter.join().unwrap();
    queue.finish().unwrap();
}

#[test]
fn many_threads_share_queues_and_events() {
    let Some((context, queue)) = setup(0) else {
        return;
    };
    let second = CommandQueue::create_default_with_properties(
        &context,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        0,
    )
    .unwrap();
    let failures = AtomicI32::new(0);
    thread::scope(|scope| {
        for number in 0..4_u32 {
            let (context, queues, failures) = (&context, [&queue, &second], &failures);
            scope.spawn(move || {
                // SAFETY: every read blocks, every range is within its buffer.
                unsafe {
                    let mut buffer =
                        Buffer::<u32>::create(context, CL_MEM_READ_WRITE, 1000, ptr::null_mut())
                            .unwrap();
                    for round in 0..50_u32 {
                        let value = number * 1000 + round;
                        let (one, other) =
                            (queues[round as usize % 2], queues[1 - round as usize % 2]);
                        let filled = one
                            .enqueue_fill_buffer(&mut buffer, &[value], 0, 4000, &[])
                            .unwrap();
                        let between = marker(other, &[filled.get()]);
                        let mut data = [0_u32; 1000];
                        one.enqueue_read_buffer(
                            &buffer,
                            CL_BLOCKING,
                            0,
                            &mut data,
                            &[between.get()],
                        )
                        .unwrap();
                        if data != [value; 1000] {
                            failures.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    assert_eq!(failures.load(Ordering::Relaxed), 0);
}
