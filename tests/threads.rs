//! Many threads on one context: handles, queues, buffers and events are shared as the specification allows
//! (appendix "Shared OpenCL objects"), and the data comes out right.

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
    release_command_queue, retain_command_queue,
};
use opencl3::context::Context;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem, set_mem_object_destructor_callback};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_command_queue, cl_event, cl_mem};

const THREADS: u32 = 4;
const ROUNDS: u32 = 40;
const WORDS: usize = 4096;

fn pattern(thread: u32, round: u32) -> Vec<u32> {
    (0..WORDS as u32)
        .map(|i| i.wrapping_mul(2_654_435_761) ^ (thread << 24) ^ round)
        .collect()
}

fn buffer(context: &Context) -> Buffer<u32> {
    // SAFETY: no host pointer is given.
    unsafe { Buffer::create(context, CL_MEM_READ_WRITE, WORDS, ptr::null_mut::<c_void>()) }
        .expect("a buffer")
}

/// Writes, copies and reads with explicit dependencies on an out-of-order queue.
fn work(context: &Context, queue: &CommandQueue, thread: u32) {
    for round in 0..ROUNDS {
        let (mut first, mut second) = (buffer(context), buffer(context));
        let data = pattern(thread, round);
        let mut back = vec![0; WORDS];
        // SAFETY: `data` and `back` outlive the blocking read that everything leads to.
        unsafe {
            let written = queue
                .enqueue_write_buffer(&mut first, CL_NON_BLOCKING, 0, &data, &[])
                .expect("write");
            let copied = queue
                .enqueue_copy_buffer(&first, &mut second, 0, 0, WORDS * 4, &[written.get()])
                .expect("copy");
            queue
                .enqueue_read_buffer(&second, CL_BLOCKING, 0, &mut back, &[copied.get()])
                .expect("read");
        }
        assert!(back == data, "thread {thread}, round {round}");
    }
}

#[test]
fn threads_share_a_context_and_a_queue() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    let properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    let queue =
        CommandQueue::create_default_with_properties(&context, properties, 0).expect("a queue");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (context, queue) = (&context, &queue);
            scope.spawn(move || work(context, queue, thread));
        }
    });
}

#[test]
fn threads_have_a_context_and_a_queue_each() {
    let Some(device) = common::device() else {
        return;
    };
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let device = &device;
            scope.spawn(move || {
                for _ in 0..4 {
                    let context = Context::from_device(device).expect("a context");
                    let queue = CommandQueue::create_default_with_properties(&context, 0, 0)
                        .expect("a queue");
                    work(&context, &queue, thread);
                }
            });
        }
    });
}

/// "CL_INVALID_OPERATION if the execution_status for event has already been changed by a previous call".
#[test]
fn one_of_many_threads_sets_a_user_event() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    for _ in 0..1000 {
        let gate = Event::new(create_user_event(context.get()).expect("a user event"));
        let event = gate.get() as usize;
        let start = std::sync::Barrier::new(THREADS as usize);
        let set: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        set_user_event_status(event as cl_event, CL_COMPLETE).is_ok()
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| usize::from(thread.join().expect("no panic")))
                .sum()
        });
        assert_eq!(set, 1);
    }
}

/// Several threads have a reference to a queue each, and let go of it at once: what is enqueued there comes to its end, and
/// the memory goes.
#[test]
fn the_last_of_many_threads_lets_go_of_a_queue() {
    static FREED: AtomicU32 = AtomicU32::new(0);
    extern "C" fn count(_memory: cl_mem, _data: *mut c_void) {
        FREED.fetch_add(1, Ordering::Relaxed);
    }
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    const QUEUES: u32 = 500;
    for round in 0..QUEUES {
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
        let mut target = buffer(&context);
        // SAFETY: a function of that kind, which uses no data.
        unsafe { set_mem_object_destructor_callback(target.get(), count, ptr::null_mut()) }
            .expect("a callback");
        // SAFETY: within the buffer; the queue's own reference becomes the first thread's.
        unsafe {
            queue
                .enqueue_fill_buffer(&mut target, &[round], 0, WORDS * 4, &[])
                .expect("a fill");
            for _ in 1..THREADS {
                retain_command_queue(queue.get()).expect("a reference");
            }
        }
        let handle = queue.get() as usize;
        std::mem::forget(queue);
        drop(target);
        let start = std::sync::Barrier::new(THREADS as usize);
        std::thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    start.wait();
                    // SAFETY: each thread gives back its own.
                    unsafe { release_command_queue(handle as cl_command_queue) }.expect("released");
                });
            }
        });
    }
    let start = std::time::Instant::now();
    while FREED.load(Ordering::Relaxed) < QUEUES {
        let late = start.elapsed() > std::time::Duration::from_secs(20);
        assert!(!late, "{} of {QUEUES}", FREED.load(Ordering::Relaxed));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// An event goes from thread to thread: each waits for the one before, on its own queue, and the first waits for
/// a user event that is set when all is enqueued.
#[test]
fn a_chain_of_queues_starts_with_a_user_event() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    for round in 0..ROUNDS {
        let gate = Event::new(create_user_event(context.get()).expect("a user event"));
        let mut buffers: Vec<Buffer<u32>> = (0..=THREADS).map(|_| buffer(&context)).collect();
        let queues: Vec<CommandQueue> = (0..=THREADS)
            .map(|_| CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue"))
            .collect();
        let data = pattern(0, round);
        // SAFETY: `data` lives until the end of the round, which waits for everything.
        let written = unsafe {
            queues[0]
                .enqueue_write_buffer(&mut buffers[0], CL_NON_BLOCKING, 0, &data, &[gate.get()])
                .expect("write")
        };
        let (send, receive) = mpsc::channel();
        let mut previous: cl_event = written.get();
        let mut events = vec![written];
        for index in 1..=THREADS as usize {
            let wait = previous as usize;
            let (before, after) = buffers.split_at_mut(index);
            let (source, target) = (&before[index - 1], &mut after[0]);
            let (queue, send) = (&queues[index], send.clone());
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    // SAFETY: the event is held by `events`.
                    let copied = unsafe {
                        queue.enqueue_copy_buffer(
                            source,
                            target,
                            0,
                            0,
                            WORDS * 4,
                            &[wait as cl_event],
                        )
                    };
                    queue.flush().expect("flush");
                    send.send(copied.expect("copy"))
                        .expect("the receiver lives");
                });
            });
            let copied = receive.recv().expect("a thread has sent its event");
            previous = copied.get();
            events.push(copied);
        }
        set_user_event_status(gate.get(), CL_COMPLETE).expect("status");
        let mut back = vec![0; WORDS];
        let last = &buffers[THREADS as usize];
        // SAFETY: `back` outlives the blocking read.
        unsafe {
            queues[0]
                .enqueue_read_buffer(last, CL_BLOCKING, 0, &mut back, &[previous])
                .expect("read");
        }
        assert!(back == data, "round {round}");
    }
}
