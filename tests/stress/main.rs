//! Everything at once from many threads, handles released from callbacks, programs released while they are built;
//! and everything over and over without growing.

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
#[path = "../common/entry.rs"]
mod entry;
mod objects;
mod replays;
#[allow(dead_code, reason = "more than the replays need")]
#[path = "../command_buffer/setup.rs"]
mod setup;

use std::ffi::{CString, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use opencl_sys::cl_function_types::{
    clBuildProgram_t, clCreateProgramWithSource_t, clEnqueueSVMMemcpy_t, clReleaseEvent_t,
    clReleaseMemObject_t, clReleaseProgram_t, clSVMAlloc_t, clSVMFree_t, clSetEventCallback_t,
    clSetKernelArgSVMPointer_t,
};
use opencl_sys::{
    CL_COMPLETE, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_event, cl_int, cl_mem, cl_program,
    cl_queue_properties,
};
use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::{create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING};

const THREADS: usize = 6;
const WORDS: usize = 1024;

const SOURCE: &str = "kernel void test(global uint *words, uint add) {
    words[get_global_id(0)] += add;
}";

static RELEASED: AtomicUsize = AtomicUsize::new(0);

/// Releases the event that it is called for, and the buffer that its command wrote.
extern "C" fn release_both(event: cl_event, status: cl_int, buffer: *mut c_void) {
    assert_eq!(status, CL_COMPLETE);
    let release_event = entry!(clReleaseEvent_t, "clReleaseEvent");
    let release_memory = entry!(clReleaseMemObject_t, "clReleaseMemObject");
    // SAFETY: the references that the test gave away.
    unsafe {
        assert_eq!(release_event(event), CL_SUCCESS);
        assert_eq!(release_memory(buffer as cl_mem), CL_SUCCESS);
    }
    RELEASED.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn count_build(_program: cl_program, builds: *mut c_void) {
    // SAFETY: a static of the test below.
    unsafe { &*builds.cast::<AtomicUsize>() }.fetch_add(1, Ordering::SeqCst);
}

fn queue(context: &Context, device: &Device, flags: cl_queue_properties) -> CommandQueue {
    // SAFETY: a device of the context.
    unsafe { CommandQueue::create_with_properties(context, device.id(), flags, 0) }
        .expect("a queue")
}

fn buffer(context: &Context) -> Buffer<u32> {
    // SAFETY: no host pointer is given.
    unsafe { Buffer::create(context, CL_MEM_READ_WRITE, WORDS, ptr::null_mut::<c_void>()) }
        .expect("a buffer")
}

/// One of everything, checked.
fn round(context: &Context, queue: &CommandQueue, kernel: &Kernel, seed: u32) {
    let mut words = buffer(context);
    let source: Vec<u32> = (0..WORDS as u32).map(|i| i ^ seed).collect();
    let mut back = vec![0; WORDS];
    let gate = create_user_event(context.get()).expect("a user event");
    let notify = entry!(clSetEventCallback_t, "clSetEventCallback");
    // SAFETY: the arrays outlive the blocking read that everything leads to; handles are live.
    unsafe {
        let written = queue
            .enqueue_write_buffer(&mut words, CL_NON_BLOCKING, 0, &source, &[gate])
            .expect("write");
        kernel.set_arg(0, &words.get()).expect("argument");
        kernel.set_arg(1, &seed).expect("argument");
        let ran = queue
            .enqueue_nd_range_kernel(
                kernel.get(),
                1,
                ptr::null(),
                &WORDS,
                ptr::null(),
                &[written.get()],
            )
            .expect("launch");
        // A buffer and an event that only a callback releases.
        let mut copy = buffer(context);
        let copied = queue
            .enqueue_copy_buffer(&words, &mut copy, 0, 0, WORDS * 4, &[ran.get()])
            .expect("copy");
        let code = notify(copied.get(), CL_COMPLETE, Some(release_both), copy.get());
        assert_eq!(code, CL_SUCCESS);
        std::mem::forget((copied, copy));
        set_user_event_status(gate, CL_COMPLETE).expect("status");
        queue
            .enqueue_read_buffer(&words, CL_BLOCKING, 0, &mut back, &[ran.get()])
            .expect("read");
        opencl3::event::release_event(gate).expect("release");
    }
    for (index, word) in back.iter().enumerate() {
        assert_eq!(*word, (index as u32 ^ seed).wrapping_add(seed), "{seed}");
    }
    shared(context, queue, kernel, seed);
}

/// The same through memory that is shared by address.
fn shared(context: &Context, queue: &CommandQueue, kernel: &Kernel, seed: u32) {
    let allocate = entry!(clSVMAlloc_t, "clSVMAlloc");
    let free = entry!(clSVMFree_t, "clSVMFree");
    let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
    let set = entry!(clSetKernelArgSVMPointer_t, "clSetKernelArgSVMPointer");
    let kernel = kernel.clone();
    let source = vec![seed; WORDS];
    let mut back = vec![0_u32; WORDS];
    // SAFETY: the arrays outlive the last, blocking copy; handles are live.
    unsafe {
        let memory = allocate(context.get(), CL_MEM_READ_WRITE, WORDS * 4, 0);
        assert!(!memory.is_null());
        let transfer = |to, from| {
            let none = ptr::null_mut();
            let queue = queue.get();
            copy(queue, CL_TRUE, to, from, WORDS * 4, 0, ptr::null(), none)
        };
        assert_eq!(transfer(memory, source.as_ptr().cast()), CL_SUCCESS);
        assert_eq!(set(kernel.get(), 0, memory), CL_SUCCESS);
        let ran = queue
            .enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &WORDS, ptr::null(), &[])
            .expect("launch");
        ran.wait().expect("wait");
        assert_eq!(transfer(back.as_mut_ptr().cast(), memory), CL_SUCCESS);
        free(context.get(), memory);
    }
    assert!(back.iter().all(|word| *word == seed.wrapping_mul(2)));
}

/// One test at a time: the second measures the process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn many_threads_do_everything_at_once() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(device) = common::device() else {
        return;
    };
    static BUILDS: AtomicUsize = AtomicUsize::new(0);
    let before = RELEASED.load(Ordering::SeqCst);
    let together = Context::from_device(&device).expect("a context");
    let program = Program::create_and_build_from_source(&together, SOURCE, "").expect("a program");
    let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let of_all = queue(&together, &device, flags);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (device, together, of_all, program) = (&device, &together, &of_all, &program);
            scope.spawn(move || {
                for number in 0..20_u32 {
                    let seed = number * 977 + thread as u32;
                    let kernel = Kernel::create(program, "test").expect("a kernel");
                    round(together, of_all, &kernel, seed);
                    if number % 5 == 0 {
                        let own = Context::from_device(device).expect("a context");
                        release_while_building(&own, device, &BUILDS);
                        let program = Program::create_and_build_from_source(&own, SOURCE, "")
                            .expect("a program");
                        let kernel = Kernel::create(&program, "test").expect("a kernel");
                        let flags = if number % 2 == 0 { 0 } else { flags };
                        round(&own, &queue(&own, device, flags), &kernel, seed);
                    }
                }
            });
        }
    });
    let end = Instant::now() + Duration::from_secs(60);
    let expected = before + THREADS * 24;
    while RELEASED.load(Ordering::SeqCst) < expected || BUILDS.load(Ordering::SeqCst) < THREADS * 4
    {
        assert!(Instant::now() < end, "callbacks are missing");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn release_while_building(context: &Context, device: &Device, builds: &'static AtomicUsize) {
    let create = entry!(clCreateProgramWithSource_t, "clCreateProgramWithSource");
    let build = entry!(clBuildProgram_t, "clBuildProgram");
    let release = entry!(clReleaseProgram_t, "clReleaseProgram");
    let text = CString::new(SOURCE).expect("no zero within");
    let mut code = 0;
    let mut pointer = text.as_ptr();
    // SAFETY: live handles; the callback's data is static.
    unsafe {
        let program = create(context.get(), 1, &mut pointer, ptr::null(), &mut code);
        assert_eq!(code, CL_SUCCESS);
        let data = ptr::from_ref(builds).cast_mut().cast();
        let devices = [device.id()];
        let code = build(
            program,
            1,
            devices.as_ptr(),
            ptr::null(),
            Some(count_build),
            data,
        );
        assert_eq!(code, CL_SUCCESS);
        assert_eq!(release(program), CL_SUCCESS);
    }
}

/// Bytes of memory that the process holds.
#[derive(Clone, Copy)]
struct Held {
    /// What it took from the allocator and did not free.
    allocated: usize,
    /// What it touched of all memory, of the allocator or not.
    resident: usize,
}

impl Held {
    /// The least within a tenth of a second: the drivers' threads free what the last round released a little later
    /// (SwiftShader's keep 1.3 MB until then).
    fn least() -> Self {
        let all = [0, 20, 30, 50].map(|pause| {
            std::thread::sleep(Duration::from_millis(pause));
            Self::now()
        });
        Self {
            allocated: all
                .map(|held| held.allocated)
                .into_iter()
                .min()
                .unwrap_or(0),
            resident: all.map(|held| held.resident).into_iter().min().unwrap_or(0),
        }
    }

    fn now() -> Self {
        // Each thread's share of the allocator keeps the most that it ever needed.
        // SAFETY: nothing to promise.
        let info = unsafe {
            libc::malloc_trim(0);
            libc::mallinfo2()
        };
        let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
        let pages: usize = statm
            .split_whitespace()
            .nth(1)
            .and_then(|pages| pages.parse().ok())
            .expect("a number of pages");
        Self {
            allocated: info.uordblks + info.hblkhd,
            resident: pages * 4096,
        }
    }
}

/// Calls `stretch` with ever new numbers of rounds; in one of the stretches the process must not grow.
fn soak_stretches(mut stretch: impl FnMut(Range<u32>)) {
    // README.md has the numbers that the soaks are meant for.
    let rounds = std::env::var("PUMICE_SOAK").map_or(Ok(300), |rounds| rounds.parse());
    let rounds: u32 = rounds.expect("PUMICE_SOAK is a number of rounds");
    stretch(0..300);
    // Allocators take more now and then; what leaks grows in every stretch, 1 KiB a round by 300 KiB.
    let grown: Vec<Held> = (0..4)
        .map(|part| {
            let before = Held::least();
            stretch(300 + part * rounds..300 + (part + 1) * rounds);
            let after = Held::least();
            Held {
                allocated: after.allocated.saturating_sub(before.allocated),
                resident: after.resident.saturating_sub(before.resident),
            }
        })
        .collect();
    assert_once_small("allocated", rounds, grown.iter().map(|held| held.allocated));
    assert_once_small("touched", rounds, grown.iter().map(|held| held.resident));
}

fn assert_once_small(of: &str, rounds: u32, grown: impl Iterator<Item = usize>) {
    let grown: Vec<usize> = grown.collect();
    println!("in four times {rounds} rounds {of} {grown:?} bytes more");
    assert!(
        grown.iter().any(|bytes| *bytes < 200 << 10),
        "{of} {grown:?} bytes more in {rounds} rounds each"
    );
}

/// Calls `once` with ever new numbers; in one of four stretches of them the process must not grow.
fn soak(mut once: impl FnMut(u32)) {
    soak_stretches(|numbers| numbers.for_each(&mut once));
}

#[test]
fn nothing_grows_of_objects_of_every_kind() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(setup) = setup::Setup::new(setup::IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let bench = objects::Bench::new(setup, program);
    let mut rounds = 0;
    soak(|number| {
        bench.round(number);
        rounds += 1;
    });
    bench.finish(rounds);
}

#[test]
fn nothing_grows_of_replays_and_updates() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(setup) = setup::Setup::new(setup::IN_ORDER) else {
        return;
    };
    let Some(program) = setup.program() else {
        return;
    };
    let replays = replays::Replays::new(&setup, &program);
    soak_stretches(|numbers| replays.rounds(numbers));
}

#[test]
fn nothing_grows() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    let program = Program::create_and_build_from_source(&context, SOURCE, "").expect("a program");
    let out_of_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let flags = [0, out_of_order, out_of_order | CL_QUEUE_PROFILING_ENABLE];
    soak(|number: u32| {
        let kernel = Kernel::create(&program, "test").expect("a kernel");
        let queue = queue(&context, &device, flags[number as usize % 3]);
        round(&context, &queue, &kernel, number);
        drop(Context::from_device(&device).expect("a context"));
    });
}
