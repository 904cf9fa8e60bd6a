//! What comes after what where the host does a command's work itself: barriers of queues out of order, and blocking
//! calls, which are complete when they return.

#[macro_use]
#[path = "common/entry.rs"]
mod entry;
mod common;

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING};
use std::ptr;
use std::thread;
use std::time::Duration;

/// Bytes of a buffer that the host may see, and of one that is too large for that where the device has memory of its own.
const SIZES: [usize; 2] = [4 << 10, 1 << 20];

/// A context, a queue out of order and one in order.
fn setup() -> Option<(Context, [CommandQueue; 2])> {
    let device = common::device()?;
    let context = Context::from_device(&device).unwrap();
    let queues = [CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0]
        .map(|flags| CommandQueue::create_default_with_properties(&context, flags, 0).unwrap());
    Some((context, queues))
}

/// A buffer full of `byte`.
fn buffer(context: &Context, queue: &CommandQueue, size_bytes: usize, byte: u8) -> Buffer<u8> {
    // SAFETY: no host memory.
    let mut made =
        unsafe { Buffer::create(context, CL_MEM_READ_WRITE, size_bytes, ptr::null_mut()) }.unwrap();
    fill(queue, &mut made, size_bytes, byte, None);
    queue.finish().unwrap();
    made
}

fn fill(
    queue: &CommandQueue,
    target: &mut Buffer<u8>,
    size_bytes: usize,
    byte: u8,
    after: Option<&Event>,
) {
    let waits: Vec<_> = after.iter().map(|event| event.get()).collect();
    // SAFETY: within the buffer.
    unsafe { queue.enqueue_fill_buffer(target, &[byte], 0, size_bytes, &waits) }.unwrap();
}

fn barrier(queue: &CommandQueue, after: Option<&Event>) {
    let waits: Vec<_> = after.iter().map(|event| event.get()).collect();
    // SAFETY: nothing to promise.
    unsafe { queue.enqueue_barrier_with_wait_list(&waits) }.unwrap();
}

/// The buffer's bytes, all the same, by a blocking read.
fn read(queue: &CommandQueue, source: &Buffer<u8>, size_bytes: usize) -> u8 {
    let mut bytes = vec![0; size_bytes];
    // SAFETY: the buffer is that long.
    unsafe { queue.enqueue_read_buffer(source, CL_BLOCKING, 0, &mut bytes, &[]) }.unwrap();
    assert!(bytes.iter().all(|byte| *byte == bytes[0]));
    bytes[0]
}

/// The buffer's first byte, by a blocking map.
fn map(queue: &CommandQueue, source: &mut Buffer<u8>, size_bytes: usize) -> u8 {
    let mut pointer = ptr::null_mut();
    // SAFETY: the region is mapped until it is unmapped, and the read is within it.
    unsafe {
        queue
            .enqueue_map_buffer(
                source,
                CL_BLOCKING,
                CL_MAP_READ,
                0,
                size_bytes,
                &mut pointer,
                &[],
            )
            .unwrap();
        let byte = pointer.cast::<u8>().read();
        queue
            .enqueue_unmap_mem_object(source.get_mut(), pointer, &[])
            .unwrap();
        byte
    }
}

#[test]
fn a_read_and_a_map_come_after_a_barrier() {
    let Some((context, [queue, _])) = setup() else {
        return;
    };
    for size_bytes in SIZES {
        let mut memory = buffer(&context, &queue, size_bytes, 1);
        fill(&queue, &mut memory, size_bytes, 2, None);
        barrier(&queue, None);
        assert_eq!(map(&queue, &mut memory, size_bytes), 2);
        fill(&queue, &mut memory, size_bytes, 3, None);
        barrier(&queue, None);
        assert_eq!(read(&queue, &memory, size_bytes), 3);
    }
}

#[test]
fn a_read_waits_for_what_a_barrier_waits_for() {
    let Some((context, [queue, _])) = setup() else {
        return;
    };
    for size_bytes in SIZES {
        let mut memory = buffer(&context, &queue, size_bytes, 1);
        let gate = Event::new(create_user_event(context.get()).unwrap());
        fill(&queue, &mut memory, size_bytes, 2, Some(&gate));
        barrier(&queue, None);
        thread::scope(|scope| {
            let late = scope.spawn(|| {
                thread::sleep(Duration::from_millis(30));
                set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
            });
            assert_eq!(read(&queue, &memory, size_bytes), 2);
            late.join().unwrap();
        });
    }
}

#[test]
fn a_write_waits_for_what_a_barrier_waits_for() {
    let Some((context, [queue, other])) = setup() else {
        return;
    };
    for size_bytes in SIZES {
        let mut memory = buffer(&context, &queue, size_bytes, 1);
        let gate = Event::new(create_user_event(context.get()).unwrap());
        barrier(&queue, Some(&gate));
        let bytes = vec![2; size_bytes];
        // SAFETY: the data lives until `finish`.
        unsafe { queue.enqueue_write_buffer(&mut memory, CL_NON_BLOCKING, 0, &bytes, &[]) }
            .unwrap();
        queue.flush().unwrap();
        assert_eq!(read(&other, &memory, size_bytes), 1);
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        queue.finish().unwrap();
        assert_eq!(read(&other, &memory, size_bytes), 2);
    }
}

/// "The write command is blocking and does not return until the command is complete, including transfer of the data."
#[test]
fn a_blocking_write_is_complete_when_it_returns() {
    let Some((context, queues)) = setup() else {
        return;
    };
    let write = entry!(
        opencl_sys::cl_function_types::clEnqueueWriteBuffer_t,
        "clEnqueueWriteBuffer"
    );
    let [unordered, ordered] = &queues;
    for (queue, other) in [(ordered, unordered), (unordered, ordered)] {
        for size_bytes in SIZES {
            let mut memory = buffer(&context, queue, size_bytes, 1);
            for byte in 2..20 {
                if byte % 2 == 0 {
                    // The write stands behind this.
                    fill(queue, &mut memory, size_bytes, 255, None);
                    barrier(queue, None);
                }
                let bytes = vec![byte; size_bytes];
                // SAFETY: within the buffer. Without an event: opencl3 asks for one.
                let code = unsafe {
                    write(
                        queue.get(),
                        memory.get_mut(),
                        CL_BLOCKING,
                        0,
                        size_bytes,
                        bytes.as_ptr().cast(),
                        0,
                        ptr::null(),
                        ptr::null_mut(),
                    )
                };
                assert_eq!(code, 0);
                assert_eq!(read(other, &memory, size_bytes), byte);
            }
        }
    }
}

/// Whoever enqueues faster than the device works waits for it in the end: what is under way does not pile up.
#[test]
fn what_is_enqueued_ahead_of_the_device_has_a_limit() {
    const BYTES: usize = 8 << 20;
    const ROUNDS: usize = 300;
    const MOST: usize = 150;
    let Some((context, [_, queue])) = setup() else {
        return;
    };
    let other = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    let queues = [&queue, &other];
    // Each command handed to the device at once: by a flush, or as one of another queue waits for it.
    for (used, flushes) in [(&queues[..1], true), (&queues[..], false)] {
        let mut targets = [1, 2].map(|byte| buffer(&context, &queue, BYTES, byte));
        let mut events: Vec<Event> = Vec::with_capacity(ROUNDS);
        for round in 0..ROUNDS {
            let waits: Vec<_> = events.last().map(Event::get).into_iter().collect();
            let queue = used[round % used.len()];
            let target = &mut targets[round % 2];
            // SAFETY: within the buffer.
            let event = unsafe { queue.enqueue_fill_buffer(target, &[3_u8], 0, BYTES, &waits) };
            events.push(event.unwrap());
            if flushes {
                queue.flush().unwrap();
            }
            if let Some(earlier) = round.checked_sub(MOST) {
                let status = events[earlier].command_execution_status().unwrap();
                assert_eq!(status.0, CL_COMPLETE, "{earlier} in round {round}");
            }
        }
        events.last().unwrap().wait().unwrap();
    }
}
