//! A process whose memory is at its end: a call fails, the process goes on. Each test runs in a process of its own, whose
//! address space is limited to little more than what it has.

mod common;

use std::ffi::c_void;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use cl3::program::{create_program_with_il, create_program_with_source};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::CL_DEVICE_TYPE_ALL;
use opencl3::error_codes::CL_OUT_OF_HOST_MEMORY;
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::{CL_BUILD_SUCCESS, Program, build_program};
use opencl3::types::{CL_BLOCKING, cl_program};

/// Says that the test runs in a process of its own.
const CHILD: &str = "PUMICE_TEST_CHILD";

/// What there is no room for.
const LARGE_BYTES: usize = 512 << 20;

/// What there still is room for.
const LEFT_BYTES: usize = 96 << 20;

/// Whether this is the process for the test called `name`; if not, runs it.
fn is_child(name: &str) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "")
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{errors}", output.status);
    false
}

/// From here on there is little memory to be had.
fn limit_memory() {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = status.split(' ').next().unwrap().parse().unwrap();
    // SAFETY: plain calls of the system.
    unsafe {
        let page_bytes = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let limit = libc::rlimit {
            rlim_cur: (pages * page_bytes + LEFT_BYTES) as u64,
            rlim_max: libc::RLIM_INFINITY,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &limit), 0);
    }
    assert!(Vec::<u8>::new().try_reserve_exact(LARGE_BYTES).is_err());
}

#[test]
fn a_program_is_refused() {
    if !is_child("a_program_is_refused") {
        return;
    }
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    // A SPIR-V module: header, OpMemoryModel, then OpNop, and a function that does nothing.
    let start = [0x0723_0203, 0x0001_0000, 0, 5, 0, 0x0003_000e, 2, 2];
    let end = [
        [0x0002_0013, 1, 0x0003_0021, 2],
        [1, 0x0005_0036, 1, 3],
        [0, 2, 0x0002_00f8, 4],
        [0x0001_00fd, 0x0001_0038, 0x0001_0000, 0x0001_0000],
    ];
    let bytes = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let mut large = bytes(&start);
    large.resize(LARGE_BYTES, 0);
    for word in large[4 * start.len()..].chunks_exact_mut(4) {
        word.copy_from_slice(&0x0001_0000_u32.to_le_bytes());
    }
    let end = bytes(end.as_flattened());
    large[LARGE_BYTES - end.len()..].copy_from_slice(&end);
    limit_memory();
    // SAFETY: not read as text before it has been copied.
    let text = unsafe { std::str::from_utf8_unchecked(&large) };
    let made = create_program_with_source(context.get(), &[text]);
    assert_eq!(made, Err(CL_OUT_OF_HOST_MEMORY));
    let made = create_program_with_il(context.get(), &large);
    assert_eq!(made, Err(CL_OUT_OF_HOST_MEMORY));
    drop(large);
    // Nothing is broken.
    let made = Program::create_from_source(&context, "kernel void test() {}").unwrap();
    assert_eq!(made.get_source().unwrap(), "kernel void test() {}");
}

/// In a context of several devices the host keeps the first contents until a device wants them.
#[test]
fn the_contents_of_a_buffer_are_refused() {
    if !is_child("the_contents_of_a_buffer_are_refused") {
        return;
    }
    let Some(first) = common::device() else {
        return;
    };
    let ids = get_platforms().unwrap()[0].get_devices(CL_DEVICE_TYPE_ALL);
    let ids = ids.unwrap();
    if ids.len() < 2 {
        eprintln!("skipped: only one device");
        return;
    }
    let context = Context::from_devices(&ids, &[], None, ptr::null_mut()).unwrap();
    // SAFETY: a device of the context.
    let queue = unsafe { CommandQueue::create_with_properties(&context, first.id(), 0, 0) };
    let queue = queue.unwrap();
    let mut large = vec![5_u8; LARGE_BYTES];
    limit_memory();
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    // SAFETY: that many bytes, which are copied.
    unsafe {
        let all = large.as_mut_ptr().cast::<c_void>();
        let made = Buffer::<u8>::create(&context, flags, LARGE_BYTES, all);
        assert_eq!(made.err().map(|error| error.0), Some(CL_OUT_OF_HOST_MEMORY));
        // Nothing is broken.
        let made = Buffer::<u8>::create(&context, flags, 1000, all).unwrap();
        let mut found = [0_u8; 1000];
        queue
            .enqueue_read_buffer(&made, CL_BLOCKING, 0, &mut found, &[])
            .unwrap();
        assert_eq!(found, [5; 1000]);
    }
}

/// The thread of a build wants a large stack.
#[test]
fn a_build_goes_without_a_thread_of_its_own() {
    if !is_child("a_build_goes_without_a_thread_of_its_own") {
        return;
    }
    static CALLED: AtomicUsize = AtomicUsize::new(0);
    extern "C" fn notify(program: cl_program, thread: *mut c_void) {
        // SAFETY: the identifier is a local variable of the test, which waits for the call.
        let caller = unsafe { &*thread.cast::<thread::ThreadId>() };
        assert_eq!(thread::current().id(), *caller);
        CALLED.store(program as usize, Ordering::SeqCst);
    }
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let source = "kernel void test(global int *word) { *word = 3; }";
    let program = Program::create_and_build_from_source(&context, source, "").unwrap();
    let binary = program.get_binaries().unwrap().remove(0);
    let devices = [device.id()];
    // SAFETY: a binary of this device.
    let again = unsafe { Program::create_from_binary(&context, &devices, &[&binary]) }.unwrap();
    limit_memory();
    let spawned = thread::Builder::new().stack_size(256 << 20).spawn(|| ());
    assert!(spawned.is_err(), "there is room for such a stack");
    let mut caller = thread::current().id();
    let data = ptr::from_mut(&mut caller).cast();
    build_program(again.get(), &devices, c"", Some(notify), data).unwrap();
    assert_eq!(CALLED.load(Ordering::SeqCst), again.get() as usize);
    assert_eq!(again.get_build_status(devices[0]), Ok(CL_BUILD_SUCCESS));
}
