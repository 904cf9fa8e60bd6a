//! Maps and unmaps that fail, of memory that the host can't see: it sees a copy.

use std::ffi::c_void;
use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{CL_INVALID_OPERATION, ClError};
use opencl3::memory::{Buffer, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::types::CL_BLOCKING;

use super::{
    CHILD, Faults, OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY, common, is_honest, run_with_layer_and,
};

/// More than what the host sees of any device's memory.
const BYTES: usize = 4 << 20;

struct Bench {
    context: Context,
    /// What is enqueued here succeeds.
    good: CommandQueue,
    faults: Faults,
}

impl Bench {
    fn new() -> Option<Self> {
        let device = common::device()?;
        let context = Context::from_device(&device).expect("a context");
        Some(Self {
            good: queue(&context),
            context,
            faults: Faults::load(),
        })
    }

    /// A buffer of ones.
    fn buffer(&self) -> Buffer<u8> {
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        let mut ones = vec![1_u8; BYTES];
        // SAFETY: the bytes are copied.
        unsafe { Buffer::create(&self.context, flags, BYTES, ones.as_mut_ptr().cast()) }
            .expect("a buffer")
    }

    /// Does `work` while the call after `call` more fails; also whether one did.
    fn with_fault<T>(&self, call: i64, work: impl FnOnce() -> T) -> (T, bool) {
        let code = [OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY][call as usize % 2];
        (self.faults.begin)(call, code);
        let result = work();
        (self.faults.end)();
        (result, (self.faults.count)() > 0)
    }

    /// Whether the buffer holds `byte` and nothing else.
    fn holds(&self, buffer: &Buffer<u8>, byte: u8) -> bool {
        let mut bytes = vec![0; BYTES];
        // SAFETY: the call blocks.
        unsafe { (self.good).enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut bytes, &[]) }
            .expect("a read");
        bytes.iter().all(|it| *it == byte)
    }
}

fn queue(context: &Context) -> CommandQueue {
    CommandQueue::create_default_with_properties(context, 0, 0).expect("a queue")
}

/// Maps all of it for writing.
fn map(queue: &CommandQueue, buffer: &Buffer<u8>) -> Result<*mut c_void, ClError> {
    let mut pointer = ptr::null_mut();
    // SAFETY: within the buffer.
    unsafe {
        let flags = CL_MAP_WRITE;
        queue.enqueue_map_buffer(buffer, CL_BLOCKING, flags, 0, BYTES, &mut pointer, &[])
    }?;
    Ok(pointer)
}

fn unmap(queue: &CommandQueue, buffer: &Buffer<u8>, pointer: *mut c_void) -> Result<(), ClError> {
    // SAFETY: mapped; only a call that failed is followed by another.
    unsafe { queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[]) }.map(drop)
}

#[test]
fn a_map_that_fails_maps_nothing() {
    if std::env::var_os(CHILD).is_none() {
        let environment = [("PUMICE_DISCRETE", "1")];
        return run_with_layer_and("mapping::a_map_that_fails_maps_nothing", "", &environment);
    }
    let Some(bench) = Bench::new() else { return };
    let mut failures = 0;
    for call in 0.. {
        let (queue, buffer) = (queue(&bench.context), bench.buffer());
        let (mapped, has_failed) = bench.with_fault(call, || map(&queue, &buffer));
        if let Err(error) = &mapped {
            failures += 1;
            assert!(is_honest(error), "call {call}: {error}");
            assert_eq!(buffer.map_count(), Ok(0));
        }
        // Nothing is in the way of another.
        let again = || map(&bench.good, &buffer).expect("nothing fails any more");
        let pointer = mapped.unwrap_or_else(|_| again());
        assert_eq!(buffer.map_count(), Ok(1));
        unmap(&bench.good, &buffer, pointer).expect("nothing fails any more");
        if !has_failed {
            break;
        }
    }
    assert!(failures > 1, "{failures}");
}

#[test]
fn an_unmap_that_fails_leaves_the_map() {
    if std::env::var_os(CHILD).is_none() {
        let environment = [("PUMICE_DISCRETE", "1")];
        return run_with_layer_and(
            "mapping::an_unmap_that_fails_leaves_the_map",
            "",
            &environment,
        );
    }
    let Some(bench) = Bench::new() else { return };
    let mut failures = 0;
    for call in 0.. {
        let (queue, buffer) = (queue(&bench.context), bench.buffer());
        let pointer = map(&bench.good, &buffer).expect("nothing fails yet");
        // SAFETY: mapped for writing.
        unsafe { pointer.cast::<u8>().write_bytes(2, BYTES) };
        let (unmapped, has_failed) = bench.with_fault(call, || unmap(&queue, &buffer, pointer));
        if let Err(error) = &unmapped {
            failures += 1;
            assert!(is_honest(error), "call {call}: {error}");
            assert_eq!(buffer.map_count(), Ok(1));
            // It is the host's still, with what it wrote there.
            let other = map(&bench.good, &buffer).map_err(|error| error.0);
            assert_eq!(other, Err(CL_INVALID_OPERATION));
            unmap(&bench.good, &buffer, pointer).expect("nothing fails any more");
        }
        assert_eq!(buffer.map_count(), Ok(0));
        queue.finish().expect("nothing fails any more");
        assert!(bench.holds(&buffer, 2), "call {call}");
        if !has_failed {
            break;
        }
    }
    assert!(failures > 1, "{failures}");
}
