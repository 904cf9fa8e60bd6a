//! In the steady state a launch allocates nothing, nor does the execution of a command buffer: an allocator that counts, in a program that Pumice is linked
//! into.

#[path = "common/skip.rs"]
mod skip;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use opencl_sys::{
    CL_DEVICE_TYPE_ALL, CL_MEM_READ_WRITE, CL_SUCCESS, cl_command_buffer_khr, cl_command_queue,
    cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_mem, cl_platform_id, cl_program,
    cl_uint, cl_ulong,
};
// Its exported functions are the ones that are called.
use pumice as _;

type Callback = Option<unsafe extern "C" fn()>;

#[rustfmt::skip]
unsafe extern "C" {
    fn clGetPlatformIDs(count: cl_uint, list: *mut cl_platform_id, found: *mut cl_uint) -> cl_int;
    fn clGetDeviceIDs(platform: cl_platform_id, kind: cl_ulong, count: cl_uint, list: *mut cl_device_id, found: *mut cl_uint) -> cl_int;
    fn clCreateContext(properties: *const isize, count: cl_uint, devices: *const cl_device_id, notify: Callback, data: *mut c_void, code: *mut cl_int) -> cl_context;
    fn clCreateCommandQueueWithProperties(context: cl_context, device: cl_device_id, properties: *const cl_ulong, code: *mut cl_int) -> cl_command_queue;
    fn clCreateProgramWithSource(context: cl_context, count: cl_uint, texts: *const *const u8, lengths: *const usize, code: *mut cl_int) -> cl_program;
    fn clBuildProgram(program: cl_program, count: cl_uint, devices: *const cl_device_id, options: *const u8, notify: Callback, data: *mut c_void) -> cl_int;
    fn clCreateKernel(program: cl_program, name: *const i8, code: *mut cl_int) -> cl_kernel;
    fn clCreateBuffer(context: cl_context, flags: cl_ulong, size: usize, pointer: *mut c_void, code: *mut cl_int) -> cl_mem;
    fn clSetKernelArg(kernel: cl_kernel, index: cl_uint, size: usize, value: *const c_void) -> cl_int;
    fn clEnqueueNDRangeKernel(queue: cl_command_queue, kernel: cl_kernel, dimensions: cl_uint, offset: *const usize, global: *const usize, local: *const usize, waits: cl_uint, list: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clFinish(queue: cl_command_queue) -> cl_int;
    fn clReleaseEvent(event: cl_event) -> cl_int;
    fn clCreateCommandBufferKHR(count: cl_uint, queues: *const cl_command_queue, properties: *const cl_ulong, code: *mut cl_int) -> cl_command_buffer_khr;
    fn clCommandNDRangeKernelKHR(buffer: cl_command_buffer_khr, queue: cl_command_queue, properties: *const cl_ulong, kernel: cl_kernel, dimensions: cl_uint, offset: *const usize, global: *const usize, local: *const usize, waits: cl_uint, list: *const cl_uint, point: *mut cl_uint, command: *mut c_void) -> cl_int;
    fn clFinalizeCommandBufferKHR(buffer: cl_command_buffer_khr) -> cl_int;
    fn clEnqueueCommandBufferKHR(count: cl_uint, queues: *mut cl_command_queue, buffer: cl_command_buffer_khr, waits: cl_uint, list: *const cl_event, event: *mut cl_event) -> cl_int;
}

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) };
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SOURCE: &str = "kernel void add(global int *p, int v) { p[get_global_id(0)] += v; }";

struct Setup {
    queue: cl_command_queue,
    kernel: cl_kernel,
    buffers: [cl_mem; 2],
}

fn setup() -> Option<Setup> {
    let (mut platform, mut device, mut count) = (ptr::null_mut(), ptr::null_mut(), 0);
    // SAFETY: room for one platform and one device; handles that live.
    unsafe {
        clGetPlatformIDs(1, &mut platform, &mut count);
        if count == 0
            || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &mut device, &mut count) != 0
        {
            skip::no_device();
            return None;
        }
        let mut code = 0;
        let context: cl_context =
            clCreateContext(ptr::null(), 1, &device, None, ptr::null_mut(), &mut code);
        assert_eq!(code, CL_SUCCESS);
        let queue = clCreateCommandQueueWithProperties(context, device, ptr::null(), &mut code);
        assert_eq!(code, CL_SUCCESS);
        let (text, length) = (SOURCE.as_ptr(), SOURCE.len());
        let program = clCreateProgramWithSource(context, 1, &text, &length, &mut code);
        assert_eq!(code, CL_SUCCESS);
        let built = clBuildProgram(program, 1, &device, ptr::null(), None, ptr::null_mut());
        assert_eq!(built, CL_SUCCESS);
        let kernel = clCreateKernel(program, c"add".as_ptr(), &mut code);
        assert_eq!(code, CL_SUCCESS);
        let buffers = [(); 2]
            .map(|()| clCreateBuffer(context, CL_MEM_READ_WRITE, 256, ptr::null_mut(), &mut code));
        assert_eq!(code, CL_SUCCESS);
        Some(Setup {
            queue,
            kernel,
            buffers,
        })
    }
}

impl Setup {
    fn set(&self, index: usize) {
        let (buffer, value) = (self.buffers[index % 2], index as i32);
        // SAFETY: the arguments that the kernel has.
        let codes = unsafe {
            [
                clSetKernelArg(
                    self.kernel,
                    0,
                    size_of::<cl_mem>(),
                    (&raw const buffer).cast::<c_void>(),
                ),
                clSetKernelArg(self.kernel, 1, 4, (&raw const value).cast::<c_void>()),
            ]
        };
        assert_eq!(codes, [CL_SUCCESS; 2]);
    }

    fn launch(&self, event: Option<&mut cl_event>) {
        let size = 64;
        // SAFETY: one dimension.
        let code = unsafe {
            clEnqueueNDRangeKernel(
                self.queue,
                self.kernel,
                1,
                ptr::null(),
                &size,
                &size,
                0,
                ptr::null(),
                event.map_or(ptr::null_mut(), ptr::from_mut),
            )
        };
        assert_eq!(code, CL_SUCCESS);
    }

    /// A command buffer of `launches` launches.
    fn command_buffer(&self, launches: usize) -> cl_command_buffer_khr {
        let (none, mut code) = (ptr::null_mut(), 1);
        let size = 64;
        // SAFETY: a live queue and kernel, one dimension, no lists.
        unsafe {
            let buffer = clCreateCommandBufferKHR(1, &self.queue, ptr::null(), &mut code);
            assert_eq!(code, CL_SUCCESS);
            for index in 0..launches {
                self.set(index);
                let code = clCommandNDRangeKernelKHR(
                    buffer,
                    none,
                    ptr::null(),
                    self.kernel,
                    1,
                    ptr::null(),
                    &size,
                    &size,
                    0,
                    ptr::null(),
                    ptr::null_mut(),
                    none,
                );
                assert_eq!(code, CL_SUCCESS);
            }
            assert_eq!(clFinalizeCommandBufferKHR(buffer), CL_SUCCESS);
            buffer
        }
    }

    fn finish(&self) {
        // SAFETY: a live queue.
        assert_eq!(unsafe { clFinish(self.queue) }, CL_SUCCESS);
    }
}

/// Allocations of this thread by `work`.
fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn launches_allocate_nothing_in_the_steady_state() {
    const LAUNCHES: u64 = 200;
    const ROUNDS: usize = 20;
    let Some(setup) = setup() else { return };
    assert!(allocations(|| drop(Box::new(1))) == 1, "the counter counts");
    let stream = || {
        for index in 0..LAUNCHES as usize {
            setup.set(index);
            setup.launch(None);
        }
        setup.finish();
    };
    // Batches are made while the device falls behind further than ever before; then there are enough.
    for _ in 0..5 {
        stream();
    }
    let rounds: Vec<u64> = (0..ROUNDS).map(|_| allocations(stream)).collect();
    let free = rounds.iter().filter(|count| **count == 0).count();
    assert!(free >= ROUNDS / 2, "{rounds:?}");

    // One launch over and over.
    let again = || {
        for _ in 0..LAUNCHES {
            setup.launch(None);
        }
        setup.finish();
    };
    for _ in 0..5 {
        again();
    }
    let rounds: Vec<u64> = (0..ROUNDS).map(|_| allocations(again)).collect();
    let free = rounds.iter().filter(|count| **count == 0).count();
    assert!(free >= ROUNDS / 2, "{rounds:?}");

    // With an event: the event.
    let with_events = allocations(|| {
        for _ in 0..LAUNCHES {
            let mut event = ptr::null_mut();
            setup.launch(Some(&mut event));
            // SAFETY: the event that the launch gave.
            assert_eq!(unsafe { clReleaseEvent(event) }, CL_SUCCESS);
        }
        setup.finish();
    });
    assert!(with_events <= LAUNCHES + LAUNCHES / 4, "{with_events}");
}

#[test]
fn executions_of_a_command_buffer_allocate_nothing_in_the_steady_state() {
    const EXECUTIONS: usize = 50;
    const ROUNDS: usize = 20;
    let Some(setup) = setup() else { return };
    for launches in [1, 20] {
        let buffer = setup.command_buffer(launches);
        let stream = || {
            for _ in 0..EXECUTIONS {
                // SAFETY: a live command buffer, no lists.
                let code = unsafe {
                    clEnqueueCommandBufferKHR(
                        0,
                        ptr::null_mut(),
                        buffer,
                        0,
                        ptr::null(),
                        ptr::null_mut(),
                    )
                };
                assert_eq!(code, CL_SUCCESS);
            }
            setup.finish();
        };
        for _ in 0..5 {
            stream();
        }
        let rounds: Vec<u64> = (0..ROUNDS).map(|_| allocations(stream)).collect();
        let free = rounds.iter().filter(|count| **count == 0).count();
        assert!(free >= ROUNDS / 2, "{launches} launches: {rounds:?}");
    }
}
