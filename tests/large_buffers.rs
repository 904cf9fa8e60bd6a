//! Buffers as large as a device has them: more than 4 GiB where it does, more than one of Vulkan's allocations where it has
//! sparse buffers.

mod common;

use cl3::command_queue::{enqueue_copy_buffer, enqueue_fill_buffer};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_CPU, Device};
use opencl3::error_codes::{CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_mem_flags, cl_ulong};
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

const GIB: usize = 1 << 30;

/// No test takes more of a device than this, in bytes.
const MOST_BYTES: usize = 40 * GIB;

/// Bytes around a place that are looked at.
const WINDOW_BYTES: usize = 4096;

const SOURCE: &str = "
    ulong value(ulong i, ulong seed) { return (i + seed) * 0x9e3779b97f4a7c15UL ^ i >> 29; }

    kernel void write(global ulong *out, ulong seed) {
        ulong i = get_global_id(0);
        out[i] = value(i, seed);
    }

    // Counts what is not as `write` left it. Work-items stride, so that it is no kernel of that one's shape.
    kernel void check(global const ulong *in, ulong count, ulong seed, global uint *wrong) {
        uint found = 0;
        for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
            found += in[i] != value(i, seed);
        if (found)
            atomic_add(wrong, found);
    }
";

/// What the kernels call `value`.
fn value(i: u64, seed: u64) -> u64 {
    i.wrapping_add(seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (i >> 29)
}

/// The device's memory, for one test at a time.
static MEMORY: Mutex<()> = Mutex::new(());

struct Setup {
    context: Context,
    queue: CommandQueue,
    device: Device,
    program: Program,
    _memory: MutexGuard<'static, ()>,
}

impl Setup {
    fn new() -> Option<Self> {
        let device = common::device()?;
        let context = Context::from_device(&device).unwrap();
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
        let program = Program::create_and_build_from_source(&context, SOURCE, "").unwrap();
        Some(Self {
            context,
            queue,
            device,
            program,
            _memory: MEMORY.lock().unwrap_or_else(PoisonError::into_inner),
        })
    }

    /// Bytes of the buffer that is tried: a multiple of what the tests divide it by.
    fn size_bytes(&self) -> usize {
        let largest = self.device.max_mem_alloc_size().unwrap() as usize;
        let size = largest.min(MOST_BYTES);
        size - size % (4 * WINDOW_BYTES)
    }

    fn buffer(&self, flags: cl_mem_flags, size_bytes: usize) -> Buffer<u8> {
        // SAFETY: no host memory.
        unsafe { Buffer::create(&self.context, flags, size_bytes, ptr::null_mut()) }.unwrap()
    }

    fn write(&self, buffer: &Buffer<u8>, count: usize, seed: u64) {
        let kernel = Kernel::create(&self.program, "write").unwrap();
        // SAFETY: the arguments are those of the kernel, and the buffer has so many elements.
        unsafe {
            ExecuteKernel::new(&kernel)
                .set_arg(buffer)
                .set_arg(&(seed as cl_ulong))
                .set_global_work_size(count)
                .enqueue_nd_range(&self.queue)
        }
        .unwrap();
    }

    /// How many elements are not as `write` leaves them.
    fn wrong(&self, buffer: &Buffer<u8>, count: usize, seed: u64) -> u32 {
        let mut wrong = self.buffer(CL_MEM_READ_WRITE, 4);
        let mut found = [0_u8; 4];
        let kernel = Kernel::create(&self.program, "check").unwrap();
        // SAFETY: the arguments are those of the kernel; the buffers are as large as it goes.
        unsafe {
            (self.queue)
                .enqueue_write_buffer(&mut wrong, CL_BLOCKING, 0, &found, &[])
                .unwrap();
            ExecuteKernel::new(&kernel)
                .set_arg(buffer)
                .set_arg(&(count as cl_ulong))
                .set_arg(&(seed as cl_ulong))
                .set_arg(&wrong)
                .set_global_work_size(1 << 20)
                .enqueue_nd_range(&self.queue)
                .unwrap();
            (self.queue)
                .enqueue_read_buffer(&wrong, CL_BLOCKING, 0, &mut found, &[])
                .unwrap();
        }
        u32::from_ne_bytes(found)
    }

    fn read(&self, buffer: &Buffer<u8>, offset: usize) -> Vec<u8> {
        let mut bytes = vec![0; WINDOW_BYTES];
        // SAFETY: within the buffer.
        unsafe { (self.queue).enqueue_read_buffer(buffer, CL_BLOCKING, offset, &mut bytes, &[]) }
            .unwrap();
        bytes
    }
}

/// Offsets of windows in a buffer of `size`: its ends, its middle, and across the borders of what 32 bits count and what
/// one allocation has on known drivers.
fn places(size: usize) -> Vec<usize> {
    let borders = [
        GIB,
        2 * GIB,
        4 * GIB - (2 << 20),
        4 * GIB,
        8 * GIB,
        size / 2,
    ];
    let across = borders.map(|border| border - WINDOW_BYTES / 2);
    let mut places: Vec<usize> = [0, size - WINDOW_BYTES].into_iter().chain(across).collect();
    places.retain(|place| place + WINDOW_BYTES <= size);
    places
}

/// What `write` leaves in a window.
fn expected(offset: usize, seed: u64) -> Vec<u8> {
    let first = offset as u64 / 8;
    let values = first..first + WINDOW_BYTES as u64 / 8;
    values.flat_map(|i| value(i, seed).to_ne_bytes()).collect()
}

#[test]
fn kernels_and_transfers_reach_all_of_the_largest_buffer() {
    let Some(setup) = Setup::new() else {
        return;
    };
    let size = setup.size_bytes();
    let mut buffer = setup.buffer(CL_MEM_READ_WRITE, size);
    let elements = size / 8;

    setup.write(&buffer, elements, 1);
    for place in places(size) {
        assert_eq!(setup.read(&buffer, place), expected(place, 1), "{place:#x}");
    }
    assert_eq!(setup.wrong(&buffer, elements, 1), 0);
    assert_ne!(setup.wrong(&buffer, elements, 2), 0, "the check can fail");

    // Writes by the host, and mappings of parts.
    for place in places(size) {
        let bytes: Vec<u8> = expected(place, 1).iter().map(|byte| !byte).collect();
        // SAFETY: within the buffer; the mapping ends before it is used again.
        unsafe {
            (setup.queue)
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, place, &bytes, &[])
                .unwrap();
            assert_eq!(setup.read(&buffer, place), bytes, "{place:#x}");
            let (flags, mut pointer) = (CL_MAP_READ | CL_MAP_WRITE, ptr::null_mut());
            (setup.queue)
                .enqueue_map_buffer(
                    &buffer,
                    CL_BLOCKING,
                    flags,
                    place,
                    WINDOW_BYTES,
                    &mut pointer,
                    &[],
                )
                .unwrap();
            let mapped = std::slice::from_raw_parts_mut(pointer.cast::<u8>(), WINDOW_BYTES);
            assert_eq!(mapped, bytes, "{place:#x}");
            mapped.iter_mut().for_each(|byte| *byte = !*byte);
            (setup.queue)
                .enqueue_unmap_mem_object(buffer.get(), pointer, &[])
                .unwrap();
        }
    }
    assert_eq!(setup.wrong(&buffer, elements, 1), 0);

    // The second half becomes the first.
    let half = size / 2;
    let (queue, memory) = (setup.queue.get(), buffer.get());
    // SAFETY: within the buffer, and apart.
    unsafe { enqueue_copy_buffer(queue, memory, memory, 0, half, half, 0, ptr::null()) }.unwrap();
    for place in places(half) {
        assert_eq!(
            setup.read(&buffer, half + place),
            expected(place, 1),
            "{place:#x}"
        );
    }

    // Fills of whole words, and of less, up to the end.
    for (pattern, from) in [(vec![1, 2, 3, 4], 0), (vec![7], half), (vec![9; 16], 16)] {
        let from = from - from % pattern.len();
        // SAFETY: within the buffer.
        unsafe {
            let (bytes, length) = (pattern.as_ptr().cast(), pattern.len());
            enqueue_fill_buffer(
                queue,
                memory,
                bytes,
                length,
                from,
                size - from,
                0,
                ptr::null(),
            )
            .unwrap();
        }
        for place in places(size).into_iter().filter(|&place| place > from) {
            let read = setup.read(&buffer, place);
            let repeated = pattern.iter().cycle().take(WINDOW_BYTES);
            assert!(read.iter().eq(repeated), "{pattern:?} at {place:#x}");
        }
    }
}

#[test]
fn a_large_buffer_may_ask_for_the_hosts_memory() {
    let Some(setup) = Setup::new() else {
        return;
    };
    let size = setup.size_bytes() / 2;
    let buffer = setup.buffer(CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size);
    setup.write(&buffer, size / 8, 3);
    for place in places(size) {
        assert_eq!(setup.read(&buffer, place), expected(place, 3), "{place:#x}");
    }
}

/// Memory runs out with a code, at creation or where a command first uses the buffer, and comes back.
#[test]
fn more_than_there_is_fails_and_the_process_goes_on() {
    let Some(setup) = Setup::new() else {
        return;
    };
    if setup.device.dev_type().unwrap() & CL_DEVICE_TYPE_CPU != 0 {
        // Its memory is the machine's: tests/out_of_host_memory.rs.
        common::skip::skipped::skipped("the device has no memory of its own");
        return;
    }
    let size = setup.device.max_mem_alloc_size().unwrap() as usize;
    let mut held = Vec::new();
    let code = loop {
        // SAFETY: no host memory.
        let made = unsafe {
            Buffer::<u8>::create(&setup.context, CL_MEM_READ_WRITE, size, ptr::null_mut())
        };
        match made {
            Ok(buffer) => held.push(buffer),
            Err(error) => break error.0,
        }
        let buffer = held.last().unwrap();
        let mut used = [0_u8; 1];
        // SAFETY: within the buffer.
        let read = unsafe {
            (setup.queue).enqueue_read_buffer(buffer, CL_BLOCKING, size - 1, &mut used, &[])
        };
        if let Err(error) = read {
            break error.0;
        }
        assert!(held.len() < 64, "memory without an end");
    };
    assert!(
        [CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES].contains(&code),
        "{code}"
    );
    drop(held);
    let buffer = setup.buffer(CL_MEM_READ_WRITE, size / 2);
    setup.write(&buffer, 1 << 20, 5);
    assert_eq!(setup.wrong(&buffer, 1 << 20, 5), 0);
}
