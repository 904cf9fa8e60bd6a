//! Failure: each Vulkan call that can fail does so once, and the device is lost at each point. The application gets
//! an error code or a failed event; nothing crashes, nothing hangs, and what comes later works.
//!
//! A Vulkan layer (`layer.rs`, built as an example) has the calls fail, so each test runs in a process of its own.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/layer.rs"]
mod layer;
mod mapping;

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::transmute;
use std::process::{Command, Stdio};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_KERNEL_NAME,
    CL_INVALID_PROGRAM_EXECUTABLE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY,
    CL_OUT_OF_RESOURCES, ClError,
};
use opencl3::event::{CL_COMPLETE, create_user_event, release_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_RGBA, CL_UNORM_INT8, ClMem, Image, svm_alloc,
    svm_free,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_image_desc, cl_image_format};

const OUT_OF_HOST_MEMORY: i32 = -1;
const OUT_OF_DEVICE_MEMORY: i32 = -2;
const DEVICE_LOST: i32 = -4;

const WORDS: usize = 3000;
/// The work-items of a work-group: a divisor of `WORDS`, and no more than `SOURCE` has local memory for.
const GROUP: usize = 60;

const FORMAT: cl_image_format = cl_image_format {
    image_channel_order: CL_RGBA,
    image_channel_data_type: CL_UNORM_INT8,
};

const DESC: cl_image_desc = cl_image_desc {
    image_type: CL_MEM_OBJECT_IMAGE2D,
    image_width: 16,
    image_height: 16,
    image_depth: 1,
    image_array_size: 1,
    image_row_pitch: 0,
    image_slice_pitch: 0,
    num_mip_levels: 0,
    num_samples: 0,
    buffer: ptr::null_mut(),
};

const SOURCE: &str = "kernel void test(global uint* words, uint add) {
    local uint shared[64];
    shared[get_local_id(0)] = add;
    barrier(CLK_LOCAL_MEM_FENCE);
    words[get_global_id(0)] += shared[0];
}";

/// Says that the test runs in a process with the layer.
const CHILD: &str = "PUMICE_TEST_CHILD";

/// More than the calls of an attempt that can lose a device.
const MOST_CALLS: i64 = 24;

/// Longer than any of this takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// Runs the test called `name` once more, with the layer; `value` tells it which case it is.
fn run_with_layer(name: &str, value: &str) {
    run_with_layer_and(name, value, &[]);
}

/// The same with more in its environment.
fn run_with_layer_and(name: &str, value: &str, environment: &[(&str, &str)]) {
    let mut child = Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, value)
        .envs(environment.iter().copied())
        // A list of folders is separated by colons.
        .envs(layer::variables("fault_layer", &name.replace("::", "-")))
        .env_remove("PUMICE_VALIDATE")
        .stdin(Stdio::null())
        .spawn()
        .expect("the test itself");
    let end = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if Instant::now() > end {
            let _ = child.kill();
            panic!("{name} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{status}");
}

/// The layer's functions.
struct Faults {
    begin: extern "C" fn(i64, i32),
    count: extern "C" fn() -> u32,
    end: extern "C" fn(),
}

impl Faults {
    fn load() -> Self {
        let path =
            CString::new(layer::path("fault_layer").to_str().expect("a path")).expect("a path");
        // SAFETY: the library that the Vulkan loader has loaded, whose functions have these types.
        unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD);
            assert!(!library.is_null(), "the layer is not loaded");
            let find = |name: &std::ffi::CStr| {
                let address = libc::dlsym(library, name.as_ptr());
                assert!(!address.is_null());
                address
            };
            Self {
                begin: transmute::<*mut c_void, extern "C" fn(i64, i32)>(find(
                    c"pumice_faults_begin",
                )),
                count: transmute::<*mut c_void, extern "C" fn() -> u32>(find(
                    c"pumice_faults_count",
                )),
                end: transmute::<*mut c_void, extern "C" fn()>(find(c"pumice_faults_end")),
            }
        }
    }
}

/// One of everything that reaches Vulkan; the error of the first call that fails.
fn attempt(context: &Context, binary: &[u8]) -> Result<(), ClError> {
    let device = context.devices()[0];
    let words: Vec<u32> = (0..WORDS as u32).collect();
    let mut shared = words.clone();
    // SAFETY: the host memory outlives the queue's commands: `finish` is called before anything is returned.
    unsafe {
        let flags = CL_QUEUE_PROFILING_ENABLE;
        let queue = CommandQueue::create_with_properties(context, device, flags, 0)?;
        let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        let other = CommandQueue::create_with_properties(context, device, flags, 0)?;
        let mut run = || -> Result<Vec<u32>, ClError> {
            let mut program = Program::create_from_binary(context, &[device], &[binary])?;
            program.build(&[device], "")?;
            let kernel = Kernel::create(&program, "test")?;
            let host = words.as_ptr().cast_mut().cast();
            let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
            let first = Buffer::<u32>::create(context, flags, WORDS, host)?;
            let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
            let mut second =
                Buffer::<u32>::create(context, flags, WORDS, shared.as_mut_ptr().cast())?;
            queue.enqueue_fill_buffer(&mut second, &[0_u32], 0, WORDS * 4, &[])?;
            kernel.set_arg(0, &first.get())?;
            kernel.set_arg(1, &7_u32)?;
            let ran =
                queue.enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &WORDS, &GROUP, &[])?;
            let copied =
                other.enqueue_copy_buffer(&first, &mut second, 0, 0, WORDS * 4, &[ran.get()])?;
            queue.enqueue_barrier_with_wait_list(&[copied.get()])?;
            let image = Image::create(context, CL_MEM_READ_WRITE, &FORMAT, &DESC, ptr::null_mut())?;
            let (origin, region) = ([0_usize; 3], [16_usize, 16, 1]);
            queue.enqueue_fill_image(
                &mut { image },
                [0.5_f32; 4].as_ptr().cast(),
                origin.as_ptr(),
                region.as_ptr(),
                &[],
            )?;
            // A null pointer is all that the function itself says.
            let svm = svm_alloc(context.get(), CL_MEM_READ_WRITE, 4 << 20, 64)
                .map_err(|_| ClError(CL_OUT_OF_RESOURCES))?;
            let filled = queue.enqueue_svm_mem_fill(svm, &[9_u8; 64], 4 << 20, &[]);
            let done = queue.finish();
            svm_free(context.get(), svm).map_err(ClError)?;
            filled.map(drop).and(done)?;
            let mut mapped = ptr::null_mut();
            let flags = CL_MAP_READ | CL_MAP_WRITE;
            let size = WORDS * 4;
            queue.enqueue_map_buffer(&first, CL_BLOCKING, flags, 0, size, &mut mapped, &[])?;
            queue.enqueue_unmap_mem_object(first.get(), mapped, &[])?;
            let mut result = vec![0; WORDS];
            queue.enqueue_read_buffer(&second, CL_BLOCKING, 0, &mut result, &[])?;
            Ok(result)
        };
        let result = run();
        let finished = queue.finish().and(other.finish());
        let expected: Vec<u32> = words.iter().map(|word| word + 7).collect();
        if let Ok(result) = &result {
            assert!(*result == expected, "wrong numbers, and no error");
        }
        result?;
        finished
    }
}

fn is_honest(error: &ClError) -> bool {
    [
        CL_OUT_OF_RESOURCES,
        CL_OUT_OF_HOST_MEMORY,
        CL_MEM_OBJECT_ALLOCATION_FAILURE,
        CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST,
        CL_INVALID_PROGRAM_EXECUTABLE,
        CL_INVALID_KERNEL_NAME,
    ]
    .contains(&error.0)
}

/// A context and a program's binary; `None` without a device.
fn setting() -> Option<(Context, Vec<u8>)> {
    let device = common::device()?;
    let context = Context::from_device(&device).expect("a context");
    let program = Program::create_and_build_from_source(&context, SOURCE, "").expect("a program");
    let binary = program.get_binaries().expect("a binary").remove(0);
    // Whatever is made once is there.
    attempt(&context, &binary).expect("nothing fails yet");
    Some((context, binary))
}

#[test]
fn every_call_may_run_out_of_memory() {
    if std::env::var_os(CHILD).is_none() {
        return run_with_layer("every_call_may_run_out_of_memory", "");
    }
    let Some((context, binary)) = setting() else {
        return;
    };
    let faults = Faults::load();
    let mut survived = 0;
    let mut call = 0;
    loop {
        let code = [OUT_OF_DEVICE_MEMORY, OUT_OF_HOST_MEMORY][call as usize % 2];
        (faults.begin)(call, code);
        let result = attempt(&context, &binary);
        (faults.end)();
        if (faults.count)() == 0 {
            result.expect("nothing failed");
            break;
        }
        match result {
            Ok(()) => survived += 1,
            Err(error) => assert!(is_honest(&error), "call {call}: {error}"),
        }
        call += 1;
    }
    // That nothing is left broken.
    for _ in 0..3 {
        attempt(&context, &binary).expect("nothing fails any more");
    }
    println!("{call} calls, {survived} failures without consequence");
    assert!(call > 10, "the layer sees too little");
}

#[test]
fn a_lost_device_ends_everything_with_errors() {
    if std::env::var_os(CHILD).is_none() {
        return run_with_layer("a_lost_device_ends_everything_with_errors", "");
    }
    static TOLD: AtomicU32 = AtomicU32::new(0);
    extern "C" fn tell(message: *const c_char, _: *const c_void, _: usize, data: *mut c_void) {
        // SAFETY: a terminated string, by the specification.
        println!("{}", unsafe { CStr::from_ptr(message) }.to_string_lossy());
        assert_eq!(data.addr(), 77);
        TOLD.fetch_add(1, Ordering::Relaxed);
    }
    let Some((context, binary)) = setting() else {
        return;
    };
    let device = context.devices()[0];
    let data = ptr::without_provenance_mut(77);
    let context = Context::from_devices(&[device], &[], Some(tell), data).expect("a context");
    let faults = Faults::load();
    // SAFETY: the host memory outlives the test; the events are ours.
    unsafe {
        let queue = CommandQueue::create_with_properties(&context, device, 0, 0).expect("a queue");
        let gate = create_user_event(context.get()).expect("an event");
        let words = vec![5_u32; WORDS];
        let mut buffer = Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, WORDS, ptr::null_mut())
            .expect("a buffer");
        let held = queue
            .enqueue_write_buffer(&mut buffer, CL_NON_BLOCKING, 0, &words, &[gate])
            .expect("a write");
        (faults.begin)(0, DEVICE_LOST);
        set_user_event_status(gate, CL_COMPLETE).expect("a status");
        let error = held.wait().expect_err("the device is lost");
        assert_eq!(error.0, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
        let status = held.command_execution_status().expect("a status");
        assert_eq!(status.0, CL_OUT_OF_RESOURCES);
        assert!(queue.finish().is_err());
        let mut result = vec![0_u32; WORDS];
        // The buffer may be the host's to read, but the command is not to succeed after the failed one.
        let read = queue.enqueue_fill_buffer(&mut buffer, &[1_u32], 0, 16, &[]);
        assert!(read.is_err());
        let read = queue.enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut result, &[held.get()]);
        assert!(read.is_err());
        // For good: other queues of the device are no better.
        let error = attempt(&context, &binary).expect_err("the device is lost");
        assert!(is_honest(&error), "{error}");
        assert!((faults.count)() > 0);
        // The context's own callback has been told, from whatever thread.
        let end = Instant::now() + PATIENCE;
        while TOLD.load(Ordering::Relaxed) == 0 && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(TOLD.load(Ordering::Relaxed) > 0);
        release_event(gate).expect("an event");
    }
}

#[test]
fn a_device_may_be_lost_at_any_call() {
    let Ok(call) = std::env::var(CHILD) else {
        // A process loses its device once.
        for call in 0..MOST_CALLS {
            run_with_layer("a_device_may_be_lost_at_any_call", &call.to_string());
        }
        return;
    };
    let Some((context, binary)) = setting() else {
        return;
    };
    let faults = Faults::load();
    let call: i64 = call.parse().expect("a number");
    (faults.begin)(call, DEVICE_LOST);
    let first = attempt(&context, &binary);
    if (faults.count)() == 0 {
        // All of an attempt's calls were tried.
        return first.expect("nothing failed");
    }
    assert!(call < MOST_CALLS - 1, "there are more calls to try");
    // What was done by then may be complete, and right. What comes after is not.
    let second = attempt(&context, &binary).expect_err("the device is lost");
    for error in first.err().iter().chain([&second]) {
        assert!(is_honest(error), "call {call}: {error}");
    }
}
