//! Command buffers through the API: the functions found by name, as applications find them.

#[macro_use]
#[path = "../common/entry.rs"]
mod entry;

#[path = "../common/addressed.rs"]
mod addressed;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/runner.rs"]
mod runner;

mod arguments;
mod checks;
mod devices;
mod lost_iterations;
mod printing;
mod queries;
mod setup;
mod tables;
mod updates;

use setup::{BYTES, COUNT, IN_ORDER, OUT_OF_ORDER, Setup, add, slowly};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use opencl_sys as cl;
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem, set_mem_object_destructor_callback};
use opencl3::types::{CL_BLOCKING, cl_mem};

#[test]
fn commands_of_several_queues_share_a_command_buffer() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let other = CommandQueue::create_default_with_properties(&setup.context, IN_ORDER, 0).unwrap();
    let buffer = setup.command_buffer_of(&[&setup.queue, &other], 0);
    let [first, mut second] = [(); 2].map(|()| setup.buffer());
    // Which of the two is meant?
    assert_eq!(
        buffer.copy_code(first.get(), second.get(), 0, &[]),
        cl::CL_INVALID_COMMAND_QUEUE
    );
    let point = buffer.on(&setup.queue).fill(&first, 1, &[]);
    buffer.on(&other).fill(&first, 2, &[point]);
    buffer.fill(&second, 3, &[]);
    assert_eq!(buffer.finalize(), 0);
    // What either queue was told before comes before, and after, after.
    setup.write(&mut second, 9);
    let pattern = [8_u32];
    // SAFETY: the pattern is copied.
    unsafe { other.enqueue_fill_buffer(&mut second, &pattern, 0, BYTES, &[]) }.unwrap();
    let event = buffer.enqueue();
    assert!(event.command_queue().unwrap().is_null());
    let mut copy = vec![0_u32; COUNT];
    // SAFETY: blocking.
    unsafe { other.enqueue_read_buffer(&second, CL_BLOCKING, 0, &mut copy, &[]) }.unwrap();
    assert_eq!(copy, vec![3; COUNT]);
    assert_eq!(setup.read(&first), vec![2; COUNT]);
    assert_eq!(
        buffer.enqueue_on(&mut [other.get()], &[]).err(),
        Some(cl::CL_INVALID_VALUE)
    );
    event.wait().unwrap();
}

/// Compiles and runs a program of `examples/`, as its own first lines say; what it prints.
fn run_example(compiler: &[&str], name: &str) -> Option<String> {
    let device = common::device()?;
    let library = std::env::var("OPENCL_DYLIB_PATH").expect("set by `common`");
    let source = format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let program = format!("{}/example-{name}.bin", env!("CARGO_TARGET_TMPDIR"));
    let headers = std::path::Path::new("/usr/include/CL/cl.h").exists();
    if !headers || !device.compiler_available().expect("a query") {
        eprintln!("skipped: no OpenCL headers, or no clang");
        return None;
    }
    let folder = library.rsplit_once('/').map_or(".", |it| it.0);
    let compiled = std::process::Command::new(compiler[0])
        .args(&compiler[1..])
        .args([
            "-Wall", "-Wextra", "-Werror", &source, &library, "-o", &program,
        ])
        .arg(format!("-Wl,-rpath,{folder}"))
        .status()
        .expect("a compiler is installed");
    assert!(compiled.success(), "{name} does not compile");
    let run = runner::command(program.as_ref())
        .output()
        .expect("the example starts");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    Some(String::from_utf8_lossy(&run.stdout).into_owned())
}

/// The sample of the extension's document.
#[test]
fn the_sample_program_runs() {
    run_example(&["c++", "-std=c++17"], "command_buffer.cpp");
}

#[test]
fn the_loop_of_frames_runs() {
    if let Some(text) = run_example(&["cc", "-std=gnu11"], "frames.c") {
        assert!(text.contains("the results are the same"), "{text}");
    }
}

#[test]
fn a_frame_is_replayed_with_other_contents() {
    for flags in [IN_ORDER, OUT_OF_ORDER] {
        let Some((setup, program)) = Setup::with_program(flags) else {
            return;
        };
        let [mut source, middle, result] = [(); 3].map(|()| setup.buffer());
        let kernel = Kernel::create(&program, "twice").expect("a kernel");
        let buffer = setup.command_buffer();
        // SAFETY: handles of the right types.
        unsafe {
            kernel.set_arg(0, &source.get()).unwrap();
            kernel.set_arg(1, &middle.get()).unwrap();
        }
        let doubled = buffer.launch(&kernel, &[]);
        // The recorded launch keeps the arguments that it has.
        // SAFETY: as above.
        unsafe {
            kernel.set_arg(0, &middle.get()).unwrap();
            kernel.set_arg(1, &result.get()).unwrap();
        }
        buffer.launch(&kernel, &[doubled]);
        drop((kernel, program));
        assert_eq!(buffer.finalize(), 0);
        for frame in [1, 10, 100] {
            setup.write(&mut source, frame);
            buffer.enqueue().wait().unwrap();
            assert_eq!(setup.read(&result), vec![4 * frame; COUNT]);
        }
    }
}

#[test]
fn it_may_be_pending_many_times_in_order() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut sum = setup.buffer();
    setup.write(&mut sum, 0);
    let kernel = add(&program, &sum, 3);
    let buffer = setup.command_buffer();
    buffer.launch(&kernel, &[]);
    buffer.launch(&kernel, &[]);
    assert_eq!(buffer.finalize(), 0);
    for _ in 0..100 {
        buffer.enqueue();
    }
    // What is pending outlives the command buffer.
    drop(buffer);
    assert_eq!(setup.read(&sum), vec![600; COUNT]);
}

#[test]
fn a_host_that_reads_finds_the_result_of_what_is_pending() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 7);
    let buffer = setup.command_buffer();
    buffer.fill(&target, 9, &[]);
    assert_eq!(buffer.finalize(), 0);
    let gate = Event::new(create_user_event(setup.context.get()).unwrap());
    let event = buffer.enqueue_on(&mut [], &[gate.get()]).unwrap();
    let mut early = vec![0_u32; COUNT];
    // SAFETY: `early` is read after the event.
    let read = unsafe {
        setup
            .queue
            .enqueue_read_buffer(&target, 0, 0, &mut early, &[])
    }
    .unwrap();
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    read.wait().unwrap();
    event.wait().unwrap();
    assert_eq!(early, vec![9; COUNT]);
    assert_eq!(
        event.command_type().unwrap().0,
        cl::CL_COMMAND_COMMAND_BUFFER_KHR
    );
}

#[test]
fn sync_points_and_barriers_order_an_out_of_order_queue() {
    let Some(setup) = Setup::new(OUT_OF_ORDER) else {
        return;
    };
    let [first, second] = [(); 2].map(|()| setup.buffer());
    let buffer = setup.command_buffer();
    let filled = buffer.fill(&first, 1, &[]);
    assert_eq!(buffer.copy_code(first.get(), second.get(), 0, &[filled]), 0);
    buffer.barrier();
    buffer.fill(&first, 2, &[]);
    assert_eq!(
        buffer.copy_code(first.get(), second.get(), 0, &[filled + 100]),
        cl::CL_INVALID_SYNC_POINT_WAIT_LIST_KHR
    );
    assert_eq!(buffer.finalize(), 0);
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&first), vec![2; COUNT]);
    assert_eq!(setup.read(&second), vec![1; COUNT]);
}

#[test]
fn rectangles_and_long_patterns_are_recorded() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let [source, mut target] = [(); 2].map(|()| setup.buffer());
    setup.write(&mut target, 0);
    let buffer = setup.command_buffer();
    let pattern: [u32; 4] = [1, 2, 3, 4];
    // SAFETY: valid handles and arrays.
    let code = unsafe {
        (setup.functions.fill.unwrap())(
            buffer.handle,
            ptr::null_mut(),
            ptr::null(),
            source.get(),
            pattern.as_ptr().cast(),
            16,
            0,
            BYTES,
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(code, 0);
    // SAFETY: as above.
    let code = unsafe {
        (setup.functions.copy_rect.unwrap())(
            buffer.handle,
            ptr::null_mut(),
            ptr::null(),
            source.get(),
            target.get(),
            [4, 1, 0].as_ptr(),
            [0, 0, 0].as_ptr(),
            [8, 2, 1].as_ptr(),
            16,
            0,
            8,
            0,
            0,
            ptr::null(),
            ptr::null_mut(),
            ptr::null_mut(),
        )
    };
    assert_eq!(code, 0);
    assert_eq!(buffer.finalize(), 0);
    buffer.enqueue().wait().unwrap();
    let result = setup.read(&target);
    assert_eq!(result[..5], [2, 3, 2, 3, 0]);
}

#[test]
fn it_runs_on_a_queue_that_replaces_its_own_and_is_timed_there() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let target = setup.buffer();
    let flags = CL_QUEUE_PROFILING_ENABLE | OUT_OF_ORDER;
    let other = CommandQueue::create_default_with_properties(&setup.context, flags, 0).unwrap();
    let buffer = setup.command_buffer();
    buffer.fill(&target, 5, &[]);
    assert_eq!(
        buffer.enqueue_on(&mut [], &[]).err(),
        Some(cl::CL_INVALID_OPERATION)
    );
    assert_eq!(buffer.finalize(), 0);
    let event = buffer.enqueue_on(&mut [other.get()], &[]).unwrap();
    event.wait().unwrap();
    assert_eq!(setup.read(&target), vec![5; COUNT]);
    let times = [
        event.profiling_command_queued().unwrap(),
        event.profiling_command_submit().unwrap(),
        event.profiling_command_start().unwrap(),
        event.profiling_command_end().unwrap(),
    ];
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
    assert_eq!(
        buffer
            .enqueue_on(&mut [other.get(), setup.queue.get()], &[])
            .err(),
        Some(cl::CL_INVALID_VALUE)
    );
    assert_eq!(
        buffer.enqueue_on(&mut [ptr::null_mut()], &[]).err(),
        Some(cl::CL_INVALID_COMMAND_QUEUE)
    );
    let foreign = Context::from_device(&setup.device).unwrap();
    let foreign = CommandQueue::create_default_with_properties(&foreign, 0, 0).unwrap();
    assert_eq!(
        buffer.enqueue_on(&mut [foreign.get()], &[]).err(),
        Some(cl::CL_INVALID_CONTEXT)
    );
}

#[test]
fn a_failed_event_of_the_wait_list_fails_the_execution() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 1);
    let buffer = setup.command_buffer();
    buffer.fill(&target, 2, &[]);
    assert_eq!(buffer.finalize(), 0);
    let gate = Event::new(create_user_event(setup.context.get()).unwrap());
    let event = buffer.enqueue_on(&mut [], &[gate.get()]).unwrap();
    set_user_event_status(gate.get(), -5).unwrap();
    assert!(event.wait().is_err());
    assert_eq!(setup.read(&target), vec![1; COUNT]);
    // It can be executed again.
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![2; COUNT]);
}

#[test]
fn what_is_enqueued_on_a_released_queue_is_done() {
    const ROUNDS: u32 = 20_000;
    const EXECUTIONS: u32 = 3;
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 1);
    let kernel = Kernel::create(&program, "slow").expect("a kernel");
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &target.get()).unwrap();
        kernel.set_arg(1, &ROUNDS).unwrap();
    }
    let queue = CommandQueue::create_default_with_properties(&setup.context, IN_ORDER, 0).unwrap();
    let buffer = setup.command_buffer_of(&[&queue], 0);
    buffer.launch(&kernel, &[]);
    assert_eq!(buffer.finalize(), 0);
    drop(queue);
    // The device is busy with the first while the others are enqueued; nobody asks for them.
    for _ in 0..EXECUTIONS {
        buffer.enqueue_unseen();
    }
    drop(buffer);
    let expected = vec![slowly(1, EXECUTIONS * ROUNDS); COUNT];
    let end = Instant::now() + Duration::from_secs(20);
    while setup.read(&target) != expected {
        assert!(Instant::now() < end, "an execution is missing");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn queries_are_answered() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let buffer = setup.command_buffer();
    let queue = setup.queue.get() as usize;
    assert_eq!(buffer.info::<u32>(cl::CL_COMMAND_BUFFER_NUM_QUEUES_KHR), 1);
    assert_eq!(
        buffer.info::<usize>(cl::CL_COMMAND_BUFFER_QUEUES_KHR),
        queue
    );
    let context = setup.context.get() as usize;
    assert_eq!(
        buffer.info::<usize>(cl::CL_COMMAND_BUFFER_CONTEXT_KHR),
        context
    );
    let references = cl::CL_COMMAND_BUFFER_REFERENCE_COUNT_KHR;
    assert_eq!(buffer.info::<u32>(references), 1);
    // SAFETY: a valid handle.
    assert_eq!(
        unsafe { (setup.functions.retain.unwrap())(buffer.handle) },
        0
    );
    assert_eq!(buffer.info::<u32>(references), 2);
    // SAFETY: as above.
    assert_eq!(
        unsafe { (setup.functions.release.unwrap())(buffer.handle) },
        0
    );
    let state = cl::CL_COMMAND_BUFFER_STATE_KHR;
    assert_eq!(
        buffer.info::<u32>(state),
        cl::CL_COMMAND_BUFFER_STATE_RECORDING_KHR
    );
    assert_eq!(buffer.finalize(), 0);
    assert_eq!(
        buffer.info::<u32>(state),
        cl::CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR
    );
    assert_eq!(buffer.finalize(), cl::CL_INVALID_OPERATION);
}

#[test]
fn wrong_arguments_get_the_code_of_the_text() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let queue = setup.queue.get();
    let create = |count, queues: *const *mut c_void, properties: &[u64]| {
        let mut error = 1;
        let properties = match properties {
            [] => ptr::null(),
            properties => properties.as_ptr(),
        };
        // SAFETY: valid arrays.
        let handle =
            unsafe { (setup.functions.create.unwrap())(count, queues, properties, &mut error) };
        assert_eq!(handle.is_null(), error != 0);
        if !handle.is_null() {
            // SAFETY: a valid handle.
            unsafe { (setup.functions.release.unwrap())(handle) };
        }
        error
    };
    assert_eq!(create(0, &queue, &[]), cl::CL_INVALID_VALUE);
    assert_eq!(create(1, ptr::null(), &[]), cl::CL_INVALID_VALUE);
    assert_eq!(
        create(1, &ptr::null_mut(), &[]),
        cl::CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(create(1, &queue, &[1, 2, 0]), cl::CL_INVALID_VALUE);
    let flags = cl::CL_COMMAND_BUFFER_FLAGS_KHR;
    assert_eq!(
        create(1, &queue, &[flags, 0, flags, 0, 0]),
        cl::CL_INVALID_VALUE
    );
    assert_eq!(
        create(1, &queue, &[flags, 1 << 40, 0]),
        cl::CL_INVALID_VALUE
    );
    assert_eq!(create(1, &queue, &[flags, 0, 0]), 0);

    let target = setup.buffer();
    let buffer = setup.command_buffer();
    let foreign = Context::from_device(&setup.device).unwrap();
    // SAFETY: no host pointer.
    let foreign =
        unsafe { Buffer::<u32>::create(&foreign, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .unwrap();
    let copy = |source, target, at| buffer.copy_code(source, target, at, &[]);
    assert_eq!(
        copy(ptr::null_mut(), target.get(), 0),
        cl::CL_INVALID_MEM_OBJECT
    );
    assert_eq!(copy(foreign.get(), target.get(), 0), cl::CL_INVALID_CONTEXT);
    assert_eq!(copy(target.get(), target.get(), 0), cl::CL_MEM_COPY_OVERLAP);
    let source = setup.buffer();
    assert_eq!(copy(source.get(), target.get(), 4), cl::CL_INVALID_VALUE);
    assert_eq!(copy(source.get(), target.get(), 0), 0);
    if let Some(program) = setup.program() {
        let kernel = Kernel::create(&program, "add").unwrap();
        assert_eq!(
            buffer.launch_code(&kernel, &[]).0,
            cl::CL_INVALID_KERNEL_ARGS
        );
    }
    assert_eq!(buffer.finalize(), 0);
    assert_eq!(
        copy(source.get(), target.get(), 0),
        cl::CL_INVALID_OPERATION
    );
    // SAFETY: not a handle.
    let code = unsafe { (setup.functions.finalize.unwrap())(ptr::null_mut()) };
    assert_eq!(code, cl::CL_INVALID_COMMAND_BUFFER_KHR);
}

/// "[T]he memory object is deleted" after "commands queued for execution on a command-queue(s) that use memobj have
/// finished": what is pending of a command buffer uses it, though the command buffer is gone that kept it.
#[test]
fn a_sub_buffer_is_destroyed_after_the_execution_that_uses_it() {
    static DESTROYED: AtomicBool = AtomicBool::new(false);
    extern "C" fn destroyed(_: cl_mem, _: *mut c_void) {
        DESTROYED.store(true, Ordering::SeqCst);
    }
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let whole = setup.buffer();
    // SAFETY: as large as the buffer.
    let part = unsafe { whole.create_sub_buffer(CL_MEM_READ_WRITE, 0, COUNT) }.unwrap();
    let buffer = setup.command_buffer();
    buffer.fill(&part, 7, &[]);
    assert_eq!(buffer.finalize(), 0);
    let gate = Event::new(create_user_event(setup.context.get()).unwrap());
    let event = buffer.enqueue_on(&mut [], &[gate.get()]).unwrap();
    // SAFETY: a function of that kind, which uses no data.
    unsafe { set_mem_object_destructor_callback(part.get(), destroyed, ptr::null_mut()) }.unwrap();
    drop(part);
    drop(buffer);
    assert!(!DESTROYED.load(Ordering::SeqCst));
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    event.wait().unwrap();
    let end = Instant::now() + Duration::from_secs(20);
    while !DESTROYED.load(Ordering::SeqCst) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(DESTROYED.load(Ordering::SeqCst));
}
