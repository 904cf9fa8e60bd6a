//! Kernels that make more iterations of their loops than some devices do: there an error says so, and nothing is taken for
//! a result that is none.

mod common;

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::error_codes::{
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES, CL_SUCCESS, ClError,
};
use opencl3::event::{CL_COMPLETE, Event};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MAP_READ, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_int};
use std::process::Command;
use std::ptr;
use std::time::Duration;

/// A walk that no counter bounds, so that its iterations can be joined a few at a time only.
const SOURCE: &str = "
kernel void walk(global uint *state, uint steps) {
    uint at = state[0], made = 0;
    while (made < steps) {
        at = (at ^ state[4 + (at >> 28)]) * 1664525 + 1013904223;
        if (at == state[3]) made += state[2];
        made++;
    }
    state[0] = at;
    state[1] = made;
}";

/// Many times what the devices make.
const MANY: u32 = 4_000_000;

const WORDS: usize = 20;

fn start() -> [u32; WORDS] {
    let mut state = std::array::from_fn(|at| (at as u32).wrapping_mul(2_654_435_761));
    state[..4].fill(0);
    state
}

/// What `walk` makes of its start.
fn walked(steps: u32) -> [u32; 2] {
    let state = start();
    let (mut at, mut made) = (state[0], 0);
    while made < steps {
        let word = state[4 + (at >> 28) as usize];
        at = (at ^ word)
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        if at == state[3] {
            made += state[2];
        }
        made += 1;
    }
    [at, made]
}

struct Setup {
    context: Context,
    queue: CommandQueue,
    kernel: Kernel,
    state: Buffer<u32>,
}

impl Setup {
    fn new(device: &Device) -> Self {
        let context = Context::from_device(device).unwrap();
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).unwrap();
        let program = Program::create_and_build_from_source(&context, SOURCE, "").unwrap();
        let kernel = Kernel::create(&program, "walk").unwrap();
        // SAFETY: no host memory.
        let state =
            unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, WORDS, ptr::null_mut()) }.unwrap();
        Self {
            context,
            queue,
            kernel,
            state,
        }
    }

    /// Launches it from the start.
    fn launch(&mut self, steps: u32) -> Event {
        let start = start();
        // SAFETY: within the buffer, and blocking; the arguments are those of the kernel.
        unsafe {
            self.queue
                .enqueue_write_buffer(&mut self.state, CL_BLOCKING, 0, &start, &[])
                .unwrap();
            self.kernel.set_arg(0, &self.state).unwrap();
            self.kernel.set_arg(1, &steps).unwrap();
            let (kernel, one) = (self.kernel.get(), [1_usize]);
            self.queue
                .enqueue_nd_range_kernel(kernel, 1, ptr::null(), one.as_ptr(), ptr::null(), &[])
                .unwrap()
        }
    }

    fn found(&self) -> [u32; 2] {
        let mut found = [0; 2];
        // SAFETY: within the buffer, and blocking.
        unsafe {
            self.queue
                .enqueue_read_buffer(&self.state, CL_BLOCKING, 0, &mut found, &[])
        }
        .unwrap();
        found
    }
}

/// The status of a launch that is done, which is complete only with the right result.
fn status(setup: &mut Setup, steps: u32) -> cl_int {
    let event = setup.launch(steps);
    let finished = setup.queue.finish().err().map_or(CL_SUCCESS, |it| it.0);
    let status = event.command_execution_status().unwrap().0;
    match status {
        CL_COMPLETE => {
            assert_eq!(finished, CL_SUCCESS);
            assert_eq!(setup.found(), walked(steps));
        }
        _ => assert_eq!(
            (status, finished),
            (CL_OUT_OF_RESOURCES, CL_OUT_OF_RESOURCES)
        ),
    }
    status
}

/// What is read behind a launch of [`MANY`] steps is right, or the call that waits for it fails; and only the first one. The
/// code is none that PyOpenCL takes for a lack of memory, as it calls again then.
fn is_told_to_reader(flushes: bool, read: impl Fn(&Setup, &mut [u32; 2]) -> Result<(), ClError>) {
    let Some(device) = common::device() else {
        return;
    };
    let mut setup = Setup::new(&device);
    setup.launch(MANY);
    if flushes {
        setup.queue.flush().unwrap();
        std::thread::sleep(Duration::from_millis(300));
    }
    let mut found = [0; 2];
    match read(&setup, &mut found) {
        Ok(()) => assert_eq!(found, walked(MANY)),
        Err(ClError(code)) => {
            assert_eq!(code, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
            read(&setup, &mut found).unwrap();
            assert_eq!(status(&mut setup, 1000), CL_COMPLETE);
        }
    }
}

fn blocking_read(setup: &Setup, found: &mut [u32; 2]) -> Result<(), ClError> {
    // SAFETY: within the buffer, and blocking.
    unsafe {
        setup
            .queue
            .enqueue_read_buffer(&setup.state, CL_BLOCKING, 0, found, &[])
    }?;
    Ok(())
}

fn read_and_wait(setup: &Setup, found: &mut [u32; 2]) -> Result<(), ClError> {
    // SAFETY: within the buffer, and waited for.
    unsafe {
        setup
            .queue
            .enqueue_read_buffer(&setup.state, CL_NON_BLOCKING, 0, found, &[])
    }?
    .wait()
}

fn read_of_mapping(setup: &Setup, found: &mut [u32; 2]) -> Result<(), ClError> {
    let mut pointer = ptr::null_mut();
    let size_bytes = size_of_val(found);
    // SAFETY: within the buffer, blocking, and unmapped once it is read.
    unsafe {
        setup.queue.enqueue_map_buffer(
            &setup.state,
            CL_BLOCKING,
            CL_MAP_READ,
            0,
            size_bytes,
            &mut pointer,
            &[],
        )?;
        found.copy_from_slice(std::slice::from_raw_parts(pointer.cast(), 2));
        setup
            .queue
            .enqueue_unmap_mem_object(setup.state.get(), pointer, &[])?;
    }
    Ok(())
}

/// A read that waits for the launch alone, in a queue of such properties: that of the launch, or another one.
fn read_that_waits_for_it(properties: u64, in_another: bool) {
    let Some(device) = common::device() else {
        return;
    };
    let mut setup = Setup::new(&device);
    let new_queue =
        || CommandQueue::create_default_with_properties(&setup.context, properties, 0).unwrap();
    let other = new_queue();
    setup.queue = new_queue();
    let launch = setup.launch(MANY);
    // Its batch is closed.
    setup.queue.flush().unwrap();
    let mut found = [0; 2];
    let reader = if in_another { &other } else { &setup.queue };
    // SAFETY: within the buffer, and waited for.
    let read = unsafe {
        reader.enqueue_read_buffer(
            &setup.state,
            CL_NON_BLOCKING,
            0,
            &mut found,
            &[launch.get()],
        )
    }
    .unwrap();
    // SAFETY: of the read.
    let behind = unsafe { reader.enqueue_marker_with_wait_list(&[read.get()]) }.unwrap();
    let waited = behind.wait();
    let status = |event: &Event| event.command_execution_status().unwrap().0;
    if status(&launch) == CL_COMPLETE {
        assert_eq!((waited, found), (Ok(()), walked(MANY)));
    } else {
        assert!(
            status(&read) < 0 && status(&behind) < 0,
            "{in_another}: {waited:?}"
        );
        assert!(waited.is_err());
    }
}

#[test]
fn what_waits_for_it_in_any_queue_fails() {
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        for in_another in [false, true] {
            read_that_waits_for_it(properties, in_another);
        }
    }
}

#[test]
fn a_blocking_read_behind_it_fails() {
    is_told_to_reader(false, blocking_read);
    is_told_to_reader(true, blocking_read);
}

#[test]
fn a_read_behind_it_that_does_not_block_fails() {
    is_told_to_reader(false, read_and_wait);
    is_told_to_reader(true, read_and_wait);
}

#[test]
fn a_mapping_behind_it_fails() {
    is_told_to_reader(false, read_of_mapping);
    is_told_to_reader(true, read_of_mapping);
}

#[test]
fn a_launch_is_complete_only_if_all_iterations_were_made() {
    let Some(device) = common::device() else {
        return;
    };
    let mut setup = Setup::new(&device);
    status(&mut setup, MANY);
    // It says nothing of later ones.
    for steps in [0, 1, 60_000, 1_000_000] {
        assert_eq!(status(&mut setup, steps), CL_COMPLETE, "{steps} steps");
    }
    status(&mut setup, MANY);
}

#[test]
fn what_comes_behind_such_a_launch_fails_with_it() {
    let Some(device) = common::device() else {
        return;
    };
    let mut setup = Setup::new(&device);
    let launch = setup.launch(MANY);
    // SAFETY: no list.
    let behind = unsafe { setup.queue.enqueue_marker_with_wait_list(&[]) }.unwrap();
    let waited = behind.wait();
    let status = launch.command_execution_status().unwrap().0;
    assert_eq!(status == CL_COMPLETE, waited.is_ok(), "{status} {waited:?}");
}

/// Set in the process that ends as soon as its launch is done.
const ENDING: &str = "PUMICE_TEST_ENDING";

/// Exit code of a process whose launch has failed.
const FAILED: i32 = 3;

#[test]
fn a_process_that_ends_at_once_has_logged_it() {
    if std::env::var_os(ENDING).is_some() {
        let code = common::device().map_or(0, |device| {
            let mut setup = Setup::new(&device);
            setup.launch(MANY);
            setup.queue.finish().map_or(FAILED, |()| 0)
        });
        std::process::exit(code);
    }
    // What is logged by another thread may just be in time.
    for _ in 0..4 {
        let output = Command::new(std::env::current_exe().expect("a running test has a path"))
            .args([
                "--exact",
                "--nocapture",
                "a_process_that_ends_at_once_has_logged_it",
            ])
            .env(ENDING, "1")
            .output()
            .expect("the test starts once more");
        let errors = String::from_utf8_lossy(&output.stderr);
        match output.status.code() {
            Some(0) => {}
            Some(FAILED) => assert!(
                errors.contains("a work-item of 'walk' needs more"),
                "{errors}"
            ),
            _ => panic!("{}\n{errors}", output.status),
        }
    }
}
