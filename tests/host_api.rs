//! Functions of the host that no other test calls: what they do, and their errors.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;

use opencl_sys::cl_function_types::{
    clCloneKernel_t, clCreateCommandQueueWithProperties_t, clCreateContextFromType_t,
    clCreateSubDevices_t, clEnqueueTask_t, clGetCommandQueueInfo_t, clGetDeviceAndHostTimer_t,
    clGetHostTimer_t, clReleaseContext_t, clSetContextDestructorCallback_t,
    clSetDefaultDeviceCommandQueue_t, clSetProgramReleaseCallback_t, clUnloadPlatformCompiler_t,
};
use opencl_sys::{
    CL_CONTEXT_PLATFORM, CL_DEVICE_NOT_FOUND, CL_DEVICE_PARTITION_EQUALLY, CL_DEVICE_TYPE_ALL,
    CL_DEVICE_TYPE_CUSTOM, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE,
    CL_INVALID_DEVICE_TYPE, CL_INVALID_OPERATION, CL_INVALID_PLATFORM, CL_INVALID_PROGRAM,
    CL_INVALID_VALUE, CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_SIZE, CL_SUCCESS,
    cl_context, cl_context_properties, cl_event, cl_program, cl_queue_properties,
};
use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::{CL_COMMAND_TASK, Event};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;

fn setup() -> Option<(Device, Context, CommandQueue)> {
    let device = common::device()?;
    let context = Context::from_device(&device).unwrap();
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    Some((device, context, queue))
}

fn kernel(context: &Context, source: &str) -> Kernel {
    let program = Program::create_and_build_from_source(context, source, "");
    Kernel::create(&program.unwrap_or_else(|log| panic!("{log}")), "test").unwrap()
}

/// The first number of a buffer that is full of `value`, once `work` is done with it.
fn after(context: &Context, queue: &CommandQueue, work: impl FnOnce(&Buffer<i32>)) -> i32 {
    // SAFETY: no host memory; within the buffer; the read is done when it returns.
    unsafe {
        let mut buffer = Buffer::create(context, CL_MEM_READ_WRITE, 4, ptr::null_mut()).unwrap();
        queue
            .enqueue_fill_buffer(&mut buffer, &[-1], 0, 16, &[])
            .unwrap();
        work(&buffer);
        let mut first = [0];
        queue
            .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut first, &[])
            .unwrap();
        first[0]
    }
}

/// "The registered user callback functions are called in the reverse order in which they were registered", after the
/// objects of the context have gone.
#[test]
fn a_contexts_end_is_told_in_reverse_order() {
    static CALLS: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    extern "C" fn note(_context: cl_context, data: *mut c_void) {
        CALLS.lock().unwrap().push(data.addr());
    }
    let Some((device, ..)) = setup() else { return };
    let on_end = entry!(
        clSetContextDestructorCallback_t,
        "clSetContextDestructorCallback"
    );
    let context = Context::from_device(&device).unwrap();
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
    for number in 1..4 {
        let data = ptr::without_provenance_mut(number);
        // SAFETY: a function of that kind, which reads no data.
        unsafe {
            assert_eq!(on_end(context.get(), Some(note), data), CL_SUCCESS);
            assert_eq!(on_end(context.get(), None, data), CL_INVALID_VALUE);
            assert_eq!(
                on_end(ptr::null_mut(), Some(note), data),
                CL_INVALID_CONTEXT
            );
        }
    }
    drop(context);
    assert!(CALLS.lock().unwrap().is_empty(), "the queue holds it");
    drop(queue);
    assert_eq!(*CALLS.lock().unwrap(), [3, 2, 1]);
}

#[test]
fn a_context_is_made_of_devices_of_a_type() {
    let Some((device, ..)) = setup() else { return };
    let create = entry!(clCreateContextFromType_t, "clCreateContextFromType");
    let release = entry!(clReleaseContext_t, "clReleaseContext");
    let platform = device.platform().unwrap();
    let properties: [cl_context_properties; 3] = [CL_CONTEXT_PLATFORM, platform as isize, 0];
    let make = |kind, properties: *const cl_context_properties| {
        let mut code = -1;
        // SAFETY: a list that ends with 0; what is made is released once.
        unsafe {
            let context = create(properties, kind, None, ptr::null_mut(), &mut code);
            assert_eq!(context.is_null(), code != CL_SUCCESS);
            if code == CL_SUCCESS {
                assert_eq!(release(context), CL_SUCCESS);
            }
        }
        code
    };
    let known = properties.as_ptr();
    assert_eq!(make(device.dev_type().unwrap(), known), CL_SUCCESS);
    assert_eq!(make(CL_DEVICE_TYPE_ALL, known), CL_SUCCESS);
    assert_eq!(make(CL_DEVICE_TYPE_CUSTOM, known), CL_DEVICE_NOT_FOUND);
    assert_eq!(make(1 << 20, known), CL_INVALID_DEVICE_TYPE);
    let wrong: [cl_context_properties; 3] = [CL_CONTEXT_PLATFORM, 0, 0];
    assert_eq!(
        make(CL_DEVICE_TYPE_ALL, wrong.as_ptr()),
        CL_INVALID_PLATFORM
    );
}

/// "If command_queue was created using clCreateCommandQueueWithProperties … the implementation must return the values
/// specified in the properties argument".
#[test]
fn a_queue_tells_its_properties_as_they_were_given() {
    let Some((device, context, _)) = setup() else {
        return;
    };
    let create = entry!(
        clCreateCommandQueueWithProperties_t,
        "clCreateCommandQueueWithProperties"
    );
    let info = entry!(clGetCommandQueueInfo_t, "clGetCommandQueueInfo");
    let flags = CL_QUEUE_PROFILING_ENABLE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let lists: [Option<&[cl_queue_properties]>; 3] = [
        None,
        Some(&[0]),
        Some(&[CL_QUEUE_PROPERTIES as cl_queue_properties, flags, 0]),
    ];
    for list in lists {
        let mut code = -1;
        let pointer = list.map_or(ptr::null(), <[_]>::as_ptr);
        let mut told = [7; 8];
        let (mut size, mut entries) = (99, 0_u32);
        // SAFETY: lists that end with 0; room for what is asked for.
        unsafe {
            let queue = create(context.get(), device.id(), pointer, &mut code);
            assert_eq!(code, CL_SUCCESS);
            let queue = CommandQueue::new(queue, u32::MAX);
            let room = size_of_val(&told);
            let out = told.as_mut_ptr().cast();
            let name = CL_QUEUE_PROPERTIES_ARRAY;
            assert_eq!(info(queue.get(), name, room, out, &mut size), CL_SUCCESS);
            assert_eq!(told[..size / 8], *list.unwrap_or_default());
            // A queue on the host has no size.
            let out = (&raw mut entries).cast();
            let code = info(queue.get(), CL_QUEUE_SIZE, 4, out, ptr::null_mut());
            assert_eq!(code, CL_INVALID_COMMAND_QUEUE);
        }
    }
}

#[test]
fn what_the_device_lacks_is_refused_by_its_code() {
    extern "C" fn never(_program: cl_program, _data: *mut c_void) {}
    let Some((device, context, queue)) = setup() else {
        return;
    };
    let default = entry!(
        clSetDefaultDeviceCommandQueue_t,
        "clSetDefaultDeviceCommandQueue"
    );
    let on_release = entry!(clSetProgramReleaseCallback_t, "clSetProgramReleaseCallback");
    let divide = entry!(clCreateSubDevices_t, "clCreateSubDevices");
    let program = Program::create_from_source(&context, "kernel void test() {}").unwrap();
    let none = ptr::null_mut();
    let equally = [CL_DEVICE_PARTITION_EQUALLY, 1, 0];
    // SAFETY: live handles or NULL; lists that end with 0.
    unsafe {
        let (context, device, queue) = (context.get(), device.id(), queue.get());
        assert_eq!(default(context, device, queue), CL_INVALID_OPERATION);
        assert_eq!(default(none, device, queue), CL_INVALID_CONTEXT);
        assert_eq!(default(context, none, queue), CL_INVALID_DEVICE);
        assert_eq!(
            on_release(program.get(), Some(never), none),
            CL_INVALID_OPERATION
        );
        assert_eq!(on_release(program.get(), None, none), CL_INVALID_VALUE);
        assert_eq!(on_release(none, Some(never), none), CL_INVALID_PROGRAM);
        let parts = |device, list: *const _| divide(device, list, 0, none.cast(), none.cast());
        assert_eq!(parts(device, equally.as_ptr()), CL_INVALID_VALUE);
        assert_eq!(parts(device, ptr::null()), CL_INVALID_VALUE);
        assert_eq!(parts(none, equally.as_ptr()), CL_INVALID_DEVICE);
    }
}

#[test]
fn programs_build_after_the_compiler_was_unloaded() {
    let Some((device, context, queue)) = setup() else {
        return;
    };
    let unload = entry!(clUnloadPlatformCompiler_t, "clUnloadPlatformCompiler");
    // SAFETY: a platform, or none.
    unsafe {
        assert_eq!(unload(device.platform().unwrap()), CL_SUCCESS);
        assert_eq!(unload(ptr::null_mut()), CL_INVALID_PLATFORM);
    }
    let kernel = kernel(&context, "kernel void test(global int *p) { *p = 5; }");
    let run = entry!(clEnqueueTask_t, "clEnqueueTask");
    let found = after(&context, &queue, |buffer| {
        let mut event: cl_event = ptr::null_mut();
        // SAFETY: the kernel's argument; one work-item.
        unsafe {
            kernel.set_arg(0, &buffer.get()).unwrap();
            let code = run(queue.get(), kernel.get(), 0, ptr::null(), &mut event);
            assert_eq!(code, CL_SUCCESS);
        }
        let event = Event::new(event);
        assert_eq!(event.command_type().unwrap().0, CL_COMMAND_TASK);
    });
    assert_eq!(found, 5);
}

/// "A shallow copy of the kernel object, its arguments and any information passed to the kernel object".
#[test]
fn a_clone_has_arguments_of_its_own() {
    let Some((_, context, queue)) = setup() else {
        return;
    };
    let clone = entry!(clCloneKernel_t, "clCloneKernel");
    let original = kernel(
        &context,
        "kernel void test(global int *p, int value, local int *room) { *room = value; *p = *room; }",
    );
    let mut code = -1;
    let run = |kernel: &Kernel, buffer: &Buffer<i32>, value: Option<i32>| {
        let (size, none) = ([1_usize], ptr::null());
        // SAFETY: the kernel's arguments.
        unsafe {
            kernel.set_arg(0, &buffer.get()).unwrap();
            if let Some(value) = value {
                kernel.set_arg(1, &value).unwrap();
            }
            queue
                .enqueue_nd_range_kernel(kernel.get(), 1, none, size.as_ptr(), none, &[])
                .unwrap();
        }
    };
    // SAFETY: the kernel's arguments; the clone is released by its owner.
    let copy = unsafe {
        original.set_arg(1, &5_i32).unwrap();
        original.set_arg_local_buffer(2, 4).unwrap();
        Kernel::new(clone(original.get(), &mut code))
    };
    assert_eq!(code, CL_SUCCESS);
    assert_eq!(copy.function_name().unwrap(), "test");
    assert_eq!(
        after(&context, &queue, |buffer| run(&original, buffer, Some(7))),
        7
    );
    assert_eq!(
        after(&context, &queue, |buffer| run(&copy, buffer, None)),
        5
    );
    assert_eq!(
        after(&context, &queue, |buffer| run(&copy, buffer, Some(9))),
        9
    );
    assert_eq!(
        after(&context, &queue, |buffer| run(&original, buffer, None)),
        7
    );
}

/// A kernel takes as many constant arguments as the device says, one of them as large as it says, as far as this machine has the memory.
#[test]
fn constant_memory_is_as_large_as_it_says() {
    /// More than 64 KiB, and than a descriptor of 128 MiB shows.
    const MOST_WORDS: u64 = 48 << 20;
    let Some((device, context, queue)) = setup() else {
        return;
    };
    // "Max number of arguments declared with the __constant qualifier in a kernel", and the bytes of all arguments.
    let most = device.max_constant_args().unwrap() as usize;
    let bytes = device.max_parameter_size().unwrap();
    assert_eq!(most, bytes / 8);
    // The others are where the result goes, and which element of the first is read.
    let count = most - 2;
    let parameters: String = (0..count)
        .map(|it| format!(", constant int *in{it}"))
        .collect();
    // Some of them: SwiftShader takes a minute for the code of all.
    let read = (1..count).filter(|it| it % 37 == 0 || it + 1 == count);
    let sum: String = read.clone().map(|it| format!(" + in{it}[0]")).collect();
    let source = format!(
        "kernel void test(global int *out, ulong last{parameters}) {{ out[0] = in0[last]{sum}; }}"
    );
    let kernel = kernel(&context, &source);
    let size = device.max_constant_buffer_size().unwrap();
    let words = (size / 4).min(MOST_WORDS) as usize;
    let found = after(&context, &queue, |out| {
        // SAFETY: no host memory; within the buffers.
        unsafe {
            let buffer = |words| {
                Buffer::<i32>::create(&context, CL_MEM_READ_WRITE, words, ptr::null_mut()).unwrap()
            };
            let (mut large, mut small) = (buffer(words), buffer(1));
            let last = (words - 1) * 4;
            queue
                .enqueue_fill_buffer(&mut large, &[1], 0, last, &[])
                .unwrap();
            queue
                .enqueue_fill_buffer(&mut large, &[1 << 20], last, 4, &[])
                .unwrap();
            queue
                .enqueue_fill_buffer(&mut small, &[1], 0, 4, &[])
                .unwrap();
            let mut launch = ExecuteKernel::new(&kernel);
            launch
                .set_arg(out)
                .set_arg(&(words as u64 - 1))
                .set_arg(&large);
            for _ in 1..count {
                launch.set_arg(&small);
            }
            launch.set_global_work_size(1);
            launch.enqueue_nd_range(&queue).unwrap();
        }
    });
    assert_eq!(found, (1 << 20) + read.count() as i32);
}

/// Both clocks go on, and events' times lie between what the device's tells before and after.
#[test]
fn the_devices_clock_is_that_of_events() {
    let Some((device, context, _)) = setup() else {
        return;
    };
    let flags = CL_QUEUE_PROFILING_ENABLE;
    let queue = CommandQueue::create_default_with_properties(&context, flags, 0).unwrap();
    let both = entry!(clGetDeviceAndHostTimer_t, "clGetDeviceAndHostTimer");
    let host = entry!(clGetHostTimer_t, "clGetHostTimer");
    let now = || {
        let (mut device_ns, mut host_ns, mut later_ns) = (0, 0, 0);
        // SAFETY: a device, and where to put numbers.
        unsafe {
            assert_eq!(both(device.id(), &mut device_ns, &mut host_ns), CL_SUCCESS);
            assert_eq!(host(device.id(), &mut later_ns), CL_SUCCESS);
        }
        assert!(later_ns >= host_ns);
        (device_ns, host_ns)
    };
    let before = now();
    // SAFETY: no host memory; within the buffer.
    let event = unsafe {
        let mut buffer =
            Buffer::<i32>::create(&context, CL_MEM_READ_WRITE, 4096, ptr::null_mut()).unwrap();
        queue
            .enqueue_fill_buffer(&mut buffer, &[1], 0, 4096 * 4, &[])
            .unwrap()
    };
    event.wait().unwrap();
    let end = now();
    assert!(end.0 >= before.0 && end.1 > before.1);
    let started = event.profiling_command_start().unwrap();
    let ended = event.profiling_command_end().unwrap();
    // Timestamps of a device are told to the host's clock within its resolution and the drift of some microseconds.
    let slack = 1_000_000;
    assert!(before.0 <= started + slack, "{before:?} {started}");
    assert!(
        started <= ended && ended <= end.0 + slack,
        "{ended} {end:?}"
    );
    // SAFETY: NULL is refused.
    unsafe {
        let mut time = 0;
        assert_eq!(
            both(device.id(), &mut time, ptr::null_mut()),
            CL_INVALID_VALUE
        );
        assert_eq!(
            both(ptr::null_mut(), &mut time, ptr::null_mut()),
            CL_INVALID_DEVICE
        );
        assert_eq!(host(device.id(), ptr::null_mut()), CL_INVALID_VALUE);
    }
}
