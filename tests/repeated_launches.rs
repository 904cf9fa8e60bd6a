//! Streams of launches of which many come again: whatever is changed between them, each runs with what was set when it
//! was enqueued, after those before it.

#[macro_use]
#[path = "common/entry.rs"]
mod entry;
mod common;

use opencl_sys::cl_function_types::clEnqueueNDRangeKernel_t;
use opencl_sys::cl_kernel;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::ptr;
use std::thread;

const SOURCE: &str = "
kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }
kernel void count(global uint *out) { atomic_inc(out + get_global_id(0)); }
kernel void scale(global uint *out, uint value) { out[get_global_id(0)] = out[get_global_id(0)] * 3 + value; }";
const COUNT: usize = 64;

/// Numbers without a pattern that matters here.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

/// What a kernel is set to: a buffer, and a value.
#[derive(Clone, Copy)]
struct Arguments {
    buffer: usize,
    value: u32,
}

fn set(kernel: &Kernel, arguments: Arguments, buffers: &[Buffer<u32>; 2]) {
    // SAFETY: the arguments that the kernels have.
    unsafe {
        kernel.set_arg(0, &buffers[arguments.buffer]).unwrap();
        kernel.set_arg(1, &arguments.value).unwrap();
    }
}

#[test]
fn each_launch_runs_with_what_was_set_and_in_its_turn() {
    let Some(device) = common::device() else {
        return;
    };
    let enqueue = entry!(clEnqueueNDRangeKernel_t, "clEnqueueNDRangeKernel");
    let context = Context::from_device(&device).unwrap();
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    let program = Program::create_and_build_from_source(&context, SOURCE, "").unwrap();
    let kernels = ["add", "scale"].map(|name| Kernel::create(&program, name).unwrap());
    let mut buffers = [(); 2].map(|()| {
        // SAFETY: no host memory.
        unsafe { Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .unwrap()
    });
    let mut expected = [[1_u32; COUNT]; 2];
    for buffer in &mut buffers {
        // SAFETY: within the buffer.
        unsafe { queue.enqueue_fill_buffer(buffer, &[1_u32], 0, COUNT * 4, &[]) }.unwrap();
    }
    let mut arguments = [Arguments {
        buffer: 0,
        value: 1,
    }; 2];
    for (kernel, arguments) in kernels.iter().zip(arguments) {
        set(kernel, arguments, &buffers);
    }
    let ranges = [(0, COUNT), (0, 32), (16, 32), (48, 16)];
    let (mut range, mut random) = (ranges[0], Random(1));
    for step in 0..20_000 {
        let which = random.below(2);
        match random.below(40) {
            0 => arguments[which].value = random.below(3) as u32,
            1 => arguments[which].buffer = random.below(2),
            2 => range = ranges[random.below(ranges.len())],
            3 => queue.flush().unwrap(),
            4 => {
                let buffer = random.below(2);
                // SAFETY: within the buffer.
                unsafe {
                    queue.enqueue_fill_buffer(&mut buffers[buffer], &[step], 0, COUNT * 4, &[])
                }
                .unwrap();
                expected[buffer] = [step; COUNT];
            }
            5 => {
                let buffer = random.below(2);
                let mut found = [0; COUNT];
                // SAFETY: within the buffer, and blocking.
                unsafe {
                    queue.enqueue_read_buffer(&buffers[buffer], CL_BLOCKING, 0, &mut found, &[])
                }
                .unwrap();
                assert_eq!(found, expected[buffer], "before step {step}");
            }
            _ => {}
        }
        let kernel = &kernels[which];
        let Arguments { buffer, value } = arguments[which];
        let (offset, size) = range;
        // Often to what it is set to already.
        set(kernel, arguments[which], &buffers);
        for _ in 0..random.below(5) {
            // SAFETY: one dimension, and no list.
            let code = unsafe {
                enqueue(
                    queue.get(),
                    kernel.get(),
                    1,
                    &offset,
                    &size,
                    ptr::null(),
                    0,
                    ptr::null(),
                    ptr::null_mut(),
                )
            };
            assert_eq!(code, 0);
            for item in &mut expected[buffer][offset..offset + size] {
                *item = match which {
                    0 => item.wrapping_add(value),
                    _ => item.wrapping_mul(3).wrapping_add(value),
                };
            }
        }
    }
    for (buffer, expected) in buffers.iter().zip(&expected) {
        let mut found = [0; COUNT];
        // SAFETY: within the buffer, and blocking.
        unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut found, &[]) }.unwrap();
        assert_eq!(found, *expected);
    }
}

/// Threads may launch one kernel at a time, on one queue and on their own.
#[test]
fn one_kernel_is_launched_by_many_threads() {
    const THREADS: usize = 4;
    const LAUNCHES: usize = 2_000;
    let Some(device) = common::device() else {
        return;
    };
    let enqueue = entry!(clEnqueueNDRangeKernel_t, "clEnqueueNDRangeKernel");
    let context = Context::from_device(&device).unwrap();
    let queue = || CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    let program = Program::create_and_build_from_source(&context, SOURCE, "").unwrap();
    let kernel = Kernel::create(&program, "count").unwrap();
    // SAFETY: no host memory.
    let mut counts =
        unsafe { Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .unwrap();
    let shared = queue();
    // SAFETY: the kernel's argument; within the buffer.
    unsafe {
        kernel.set_arg(0, &counts).unwrap();
        shared
            .enqueue_fill_buffer(&mut counts, &[0_u32], 0, COUNT * 4, &[])
            .unwrap();
    }
    shared.finish().unwrap();
    let handle = kernel.get() as usize;
    let launch = |queue: &CommandQueue| {
        // SAFETY: one dimension, and no list.
        let code = unsafe {
            enqueue(
                queue.get(),
                handle as cl_kernel,
                1,
                ptr::null(),
                &COUNT,
                ptr::null(),
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0);
    };
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let own = queue();
                for index in 0..LAUNCHES {
                    launch(&shared);
                    launch(&own);
                    if index % 500 == 0 {
                        own.flush().unwrap();
                    }
                }
                own.finish().unwrap();
            });
        }
    });
    let mut found = [0; COUNT];
    // SAFETY: within the buffer, and blocking.
    unsafe { shared.enqueue_read_buffer(&counts, CL_BLOCKING, 0, &mut found, &[]) }.unwrap();
    assert_eq!(found, [(2 * THREADS * LAUNCHES) as u32; COUNT]);
}
