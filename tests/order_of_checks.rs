//! Calls with more than one fault: the error is the one that the specification lists first.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;

use std::ffi::{CStr, c_void};
use std::ptr;

use opencl_sys::cl_function_types::{
    clCreateKernel_t, clCreateKernelsInProgram_t, clCreateSubBuffer_t, clEnqueueCopyBuffer_t,
    clEnqueueMapBuffer_t, clEnqueueNDRangeKernel_t, clEnqueueNativeKernel_t, clEnqueueReadBuffer_t,
    clEnqueueSVMMemcpy_t, clEnqueueUnmapMemObject_t,
};
use opencl_sys::{
    CL_BUFFER_CREATE_TYPE_REGION, CL_FALSE, CL_INVALID_BUFFER_SIZE, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_CONTEXT, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_KERNEL, CL_INVALID_KERNEL_ARGS,
    CL_INVALID_KERNEL_NAME, CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_PROGRAM,
    CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION,
    CL_INVALID_WORK_GROUP_SIZE, CL_MAP_READ, CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_WRITE,
    CL_MEM_USE_HOST_PTR, CL_MISALIGNED_SUB_BUFFER_OFFSET, cl_buffer_region, cl_event, cl_int,
    cl_mem, cl_uint,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::event::create_user_event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::program::Program;

const BYTES: usize = 64;

/// A context with what a call may name, and an event of another context.
struct Bench {
    context: Context,
    queue: CommandQueue,
    buffer: Buffer<u8>,
    /// The host must not touch it.
    private: Buffer<u8>,
    foreign: cl_event,
    _other: Context,
}

/// A wait list as a call gets it.
type List = (cl_uint, *const cl_event);

const NO_LIST: List = (0, ptr::null());
/// `CL_INVALID_EVENT_WAIT_LIST`
const BAD_LIST: List = (1, ptr::null());

impl Bench {
    fn new() -> Option<Self> {
        let device = common::device()?;
        let context = Context::from_device(&device).expect("a context");
        let other = Context::from_device(&device).expect("a context");
        // SAFETY: a device of the context; no host pointer is given.
        unsafe {
            let buffer = |flags| Buffer::create(&context, flags, BYTES, ptr::null_mut());
            Some(Self {
                queue: CommandQueue::create_with_properties(&context, device.id(), 0, 0)
                    .expect("a queue"),
                buffer: buffer(CL_MEM_READ_WRITE).expect("a buffer"),
                private: buffer(CL_MEM_HOST_NO_ACCESS).expect("a buffer"),
                foreign: create_user_event(other.get()).expect("a user event"),
                context,
                _other: other,
            })
        }
    }

    /// `CL_INVALID_CONTEXT`
    fn foreign_list(&self) -> List {
        (1, &self.foreign)
    }
}

#[test]
fn of_a_read() {
    let Some(bench) = Bench::new() else { return };
    let read = entry!(clEnqueueReadBuffer_t, "clEnqueueReadBuffer");
    let mut target = [0_u8; BYTES];
    let there = target.as_mut_ptr().cast::<c_void>();
    let queue = bench.queue.get();
    let code = |queue, memory: cl_mem, size, pointer, (count, list): List| -> cl_int {
        // SAFETY: every call is refused, or stays within `target`.
        unsafe {
            let none = ptr::null_mut();
            read(queue, memory, CL_FALSE, 0, size, pointer, count, list, none)
        }
    };
    let (buffer, private) = (bench.buffer.get(), bench.private.get());
    let none = ptr::null_mut();
    let foreign = bench.foreign_list();
    assert_eq!(
        code(none, none, BYTES, none, BAD_LIST),
        CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(code(queue, none, BYTES, none, foreign), CL_INVALID_CONTEXT);
    assert_eq!(
        code(queue, none, BYTES, none, BAD_LIST),
        CL_INVALID_MEM_OBJECT
    );
    assert_eq!(
        code(queue, private, BYTES, none, BAD_LIST),
        CL_INVALID_VALUE
    );
    assert_eq!(
        code(queue, private, BYTES + 1, there, BAD_LIST),
        CL_INVALID_VALUE
    );
    assert_eq!(
        code(queue, private, BYTES, there, BAD_LIST),
        CL_INVALID_EVENT_WAIT_LIST
    );
    assert_eq!(
        code(queue, private, BYTES, there, NO_LIST),
        CL_INVALID_OPERATION
    );
    assert_eq!(
        code(queue, buffer, BYTES + 1, there, foreign),
        CL_INVALID_CONTEXT
    );
}

#[test]
fn of_a_copy_and_a_map() {
    let Some(bench) = Bench::new() else { return };
    let copy = entry!(clEnqueueCopyBuffer_t, "clEnqueueCopyBuffer");
    let map = entry!(clEnqueueMapBuffer_t, "clEnqueueMapBuffer");
    let (queue, buffer) = (bench.queue.get(), bench.buffer.get());
    let copied = |size, (count, list): List| {
        let none = ptr::null_mut();
        // SAFETY: every call is refused.
        unsafe { copy(queue, buffer, buffer, 0, 1, size, count, list, none) }
    };
    assert_eq!(copied(BYTES, bench.foreign_list()), CL_INVALID_CONTEXT);
    assert_eq!(copied(BYTES, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(copied(8, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
    let mapped = |size, (count, list): List| {
        let mut code = 0;
        // SAFETY: every call is refused.
        let pointer = unsafe {
            let (flags, none) = (CL_MAP_READ, ptr::null_mut());
            let private = bench.private.get();
            map(
                queue, private, CL_FALSE, flags, 0, size, count, list, none, &mut code,
            )
        };
        assert!(pointer.is_null());
        code
    };
    assert_eq!(mapped(0, bench.foreign_list()), CL_INVALID_CONTEXT);
    assert_eq!(mapped(0, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(mapped(8, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(mapped(8, NO_LIST), CL_INVALID_OPERATION);
}

#[test]
fn of_a_sub_buffer() {
    let Some(bench) = Bench::new() else { return };
    let create = entry!(clCreateSubBuffer_t, "clCreateSubBuffer");
    let code = |buffer: cl_mem, flags, kind, region: Option<(usize, usize)>| {
        let region = region.map(|(origin, size)| cl_buffer_region { origin, size });
        let region = region.as_ref().map_or(ptr::null(), ptr::from_ref);
        let mut code = 0;
        // SAFETY: every call is refused.
        let memory = unsafe { create(buffer, flags, kind, region.cast(), &mut code) };
        assert!(memory.is_null());
        code
    };
    let (buffer, none) = (bench.buffer.get(), ptr::null_mut());
    let region = CL_BUFFER_CREATE_TYPE_REGION;
    assert_eq!(code(none, !0, 0, None), CL_INVALID_MEM_OBJECT);
    assert_eq!(
        code(buffer, CL_MEM_USE_HOST_PTR, region, Some((1, 0))),
        CL_INVALID_VALUE
    );
    assert_eq!(code(buffer, 0, 0, Some((1, 0))), CL_INVALID_VALUE);
    assert_eq!(
        code(buffer, 0, region, Some((BYTES + 1, 0))),
        CL_INVALID_VALUE
    );
    assert_eq!(
        code(buffer, 0, region, Some((1, 0))),
        CL_INVALID_BUFFER_SIZE
    );
    assert_eq!(
        code(buffer, 0, region, Some((1, 1))),
        CL_MISALIGNED_SUB_BUFFER_OFFSET
    );
}

#[test]
fn of_a_copy_of_shared_memory() {
    let Some(bench) = Bench::new() else { return };
    let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
    let mut bytes = [0_u8; BYTES];
    let there = bytes.as_mut_ptr().cast::<c_void>();
    let code = |to: *mut c_void, (count, list): List| {
        let (queue, none) = (bench.queue.get(), ptr::null_mut());
        // SAFETY: every call is refused.
        unsafe { copy(queue, CL_FALSE, to, there, 8, count, list, none) }
    };
    assert_eq!(
        code(ptr::null_mut(), bench.foreign_list()),
        CL_INVALID_CONTEXT
    );
    assert_eq!(code(ptr::null_mut(), BAD_LIST), CL_INVALID_VALUE);
    // The regions overlap.
    assert_eq!(code(there, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
}

#[test]
fn of_a_launch() {
    let Some(bench) = Bench::new() else { return };
    let source = "kernel void test(global int *words) { *words = 1; }";
    let program =
        Program::create_and_build_from_source(&bench.context, source, "").expect("a program");
    let kernel = Kernel::create(&program, "test").expect("a kernel");
    let launch = entry!(clEnqueueNDRangeKernel_t, "clEnqueueNDRangeKernel");
    let code = |kernel, dimensions, (count, list): List| {
        let (queue, none) = (bench.queue.get(), ptr::null());
        // SAFETY: every call is refused.
        unsafe {
            let event = ptr::null_mut();
            launch(
                queue, kernel, dimensions, none, none, none, count, list, event,
            )
        }
    };
    let foreign = bench.foreign_list();
    assert_eq!(code(ptr::null_mut(), 0, foreign), CL_INVALID_KERNEL);
    assert_eq!(code(kernel.get(), 0, foreign), CL_INVALID_CONTEXT);
    assert_eq!(code(kernel.get(), 0, BAD_LIST), CL_INVALID_KERNEL_ARGS);
    // SAFETY: the kernel's argument.
    unsafe { kernel.set_arg(0, &bench.buffer.get()) }.expect("an argument");
    assert_eq!(code(kernel.get(), 0, BAD_LIST), CL_INVALID_WORK_DIMENSION);
    assert_eq!(code(kernel.get(), 1, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
    let sized = |global: usize, local: usize, (count, list): List| {
        let (queue, none, event) = (bench.queue.get(), ptr::null(), ptr::null_mut());
        // SAFETY: every call is refused.
        unsafe {
            launch(
                queue,
                kernel.get(),
                1,
                none,
                &global,
                &local,
                count,
                list,
                event,
            )
        }
    };
    assert_eq!(sized(64, 7, BAD_LIST), CL_INVALID_WORK_GROUP_SIZE);
    assert_eq!(sized(64, 7, foreign), CL_INVALID_CONTEXT);
    assert_eq!(sized(64, 8, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
}

#[test]
fn of_an_unmap() {
    let Some(bench) = Bench::new() else { return };
    let unmap = entry!(clEnqueueUnmapMemObject_t, "clEnqueueUnmapMemObject");
    let map = entry!(clEnqueueMapBuffer_t, "clEnqueueMapBuffer");
    let code_on = |queue: &CommandQueue, memory: cl_mem, pointer, (count, list): List| {
        // SAFETY: a pointer of no map is refused, one of a map is good once.
        unsafe { unmap(queue.get(), memory, pointer, count, list, ptr::null_mut()) }
    };
    let code = |memory, pointer, list| code_on(&bench.queue, memory, pointer, list);
    let wrong = ptr::dangling_mut();
    assert_eq!(
        code(ptr::null_mut(), wrong, BAD_LIST),
        CL_INVALID_MEM_OBJECT
    );
    assert_eq!(code(bench.buffer.get(), wrong, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(
        code(bench.buffer.get(), wrong, bench.foreign_list()),
        CL_INVALID_VALUE
    );
    // SAFETY: within the buffer.
    let pointer = unsafe {
        map(
            bench.queue.get(),
            bench.buffer.get(),
            1,
            CL_MAP_READ,
            0,
            BYTES,
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(
        code(bench.buffer.get(), pointer, BAD_LIST),
        CL_INVALID_EVENT_WAIT_LIST
    );
    assert_eq!(
        code(bench.buffer.get(), pointer, bench.foreign_list()),
        CL_INVALID_CONTEXT
    );
    let other = CommandQueue::create_default_with_properties(&bench._other, 0, 0);
    let other = other.expect("a queue");
    let elsewhere = |pointer, list| code_on(&other, bench.buffer.get(), pointer, list);
    assert_eq!(elsewhere(wrong, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(elsewhere(pointer, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(elsewhere(pointer, NO_LIST), CL_INVALID_CONTEXT);
    // A call that is refused unmaps nothing.
    assert_eq!(code(bench.buffer.get(), pointer, NO_LIST), 0);
    assert_eq!(code(bench.buffer.get(), pointer, NO_LIST), CL_INVALID_VALUE);
}

#[test]
fn of_a_kernel() {
    let Some(bench) = Bench::new() else { return };
    let create = entry!(clCreateKernel_t, "clCreateKernel");
    let create_all = entry!(clCreateKernelsInProgram_t, "clCreateKernelsInProgram");
    let code = |program, name: Option<&CStr>| {
        let mut code = 0;
        // SAFETY: every call is refused.
        let kernel = unsafe { create(program, name.map_or(ptr::null(), CStr::as_ptr), &mut code) };
        assert!(kernel.is_null());
        code
    };
    let source = "kernel void one() {} kernel void two() {}";
    let mut program = Program::create_from_source(&bench.context, source).expect("a program");
    let handle = program.get();
    let mut kernels = [ptr::null_mut(); 2];
    let mut all = |count| {
        // SAFETY: room for that many.
        unsafe { create_all(handle, count, kernels.as_mut_ptr(), ptr::null_mut()) }
    };
    assert_eq!(code(ptr::null_mut(), None), CL_INVALID_PROGRAM);
    assert_eq!(code(handle, None), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_eq!(code(handle, Some(c"one")), CL_INVALID_PROGRAM_EXECUTABLE);
    assert_eq!(all(1), CL_INVALID_PROGRAM_EXECUTABLE);
    let build = |program: &mut Program| program.build(bench.context.devices(), "");
    build(&mut program).expect("a build");
    assert_eq!(code(handle, None), CL_INVALID_VALUE);
    assert_eq!(code(handle, Some(c"three")), CL_INVALID_KERNEL_NAME);
    assert_eq!(all(1), CL_INVALID_VALUE);
    // What is refused leaves no kernel, which would be in the way of a build.
    build(&mut program).expect("a build");
    assert_eq!(all(2), 0);
    assert_eq!(
        build(&mut program).err().map(|error| error.0),
        Some(CL_INVALID_OPERATION)
    );
    for kernel in kernels {
        drop(Kernel::new(kernel));
    }
}

extern "C" fn never_called(_arguments: *mut c_void) {}

#[test]
fn of_a_native_kernel() {
    let Some(bench) = Bench::new() else { return };
    let enqueue = entry!(clEnqueueNativeKernel_t, "clEnqueueNativeKernel");
    let mut word = 0_u32;
    let there = ptr::from_mut(&mut word).cast::<c_void>();
    let code = |function, arguments: *mut c_void, bytes, memories: cl_uint, (count, list): List| {
        let (queue, none) = (bench.queue.get(), ptr::null_mut());
        let event = ptr::null_mut();
        // SAFETY: every call is refused.
        unsafe {
            enqueue(
                queue,
                function,
                arguments,
                bytes,
                memories,
                none,
                none.cast(),
                count,
                list,
                event,
            )
        }
    };
    let function: Option<unsafe extern "C" fn(*mut c_void)> = Some(never_called);
    let none = ptr::null_mut();
    assert_eq!(
        code(None, none, 0, 0, bench.foreign_list()),
        CL_INVALID_CONTEXT
    );
    assert_eq!(code(None, none, 0, 0, NO_LIST), CL_INVALID_VALUE);
    assert_eq!(code(function, none, 4, 0, NO_LIST), CL_INVALID_VALUE);
    assert_eq!(code(function, there, 0, 0, NO_LIST), CL_INVALID_VALUE);
    assert_eq!(code(function, there, 4, 1, NO_LIST), CL_INVALID_VALUE);
    assert_eq!(code(function, there, 4, 0, NO_LIST), CL_INVALID_OPERATION);
}
