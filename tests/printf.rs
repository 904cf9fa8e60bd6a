//! When what kernels print comes out: at the end of each command, in order, whatever the queue holds.
//!
//! One test only, since it takes the process's standard output.

mod common;

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::ptr;

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::program::Program;
use opencl3::types::cl_event;

/// Standard output, taken to a file until dropped.
struct Capture {
    file: File,
    saved: i32,
}

impl Capture {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("pumice-order-{}", std::process::id()));
        let mut options = File::options();
        let file = options.read(true).write(true).create(true).truncate(true);
        let file = file.open(&path).expect("a temporary file");
        let _ = std::fs::remove_file(&path);
        std::io::stdout().flush().expect("standard output works");
        // SAFETY: plain file descriptors; standard output is put back when dropped.
        let saved = unsafe { libc::dup(1) };
        assert!(saved >= 0);
        // SAFETY: as above.
        assert!(unsafe { libc::dup2(file.as_raw_fd(), 1) } >= 0);
        Self { file, saved }
    }

    /// What was printed since the last time.
    fn take(&mut self) -> String {
        let mut text = String::new();
        self.file.rewind().expect("a file");
        self.file.read_to_string(&mut text).expect("text");
        self.file.set_len(0).expect("a file");
        self.file.rewind().expect("a file");
        text
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe {
            libc::dup2(self.saved, 1);
            libc::close(self.saved);
        }
    }
}

struct Setup {
    context: Context,
    kernel: Kernel,
}

impl Setup {
    fn queue(&self, flags: u64) -> CommandQueue {
        CommandQueue::create_default_with_properties(&self.context, flags, 0).expect("a queue")
    }

    fn print(&self, queue: &CommandQueue, number: i32, after: &[cl_event]) -> Event {
        let mut launch = ExecuteKernel::new(&self.kernel);
        // SAFETY: the kernel's argument is an `int`.
        unsafe { launch.set_arg(&number) };
        launch.set_global_work_size(1).set_event_wait_list(after);
        // SAFETY: the kernel touches no memory of the host.
        unsafe { launch.enqueue_nd_range(queue) }.expect("the launch is accepted")
    }
}

fn lines(numbers: impl Iterator<Item = i32>) -> String {
    numbers.map(|number| format!("launch {number}\n")).collect()
}

#[test]
fn each_command_prints_at_its_end_and_in_order() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).expect("a context");
    let source = r#"kernel void say(int n) { printf("launch %d\n", n); }"#;
    let program = Program::create_and_build_from_source(&context, source, "").expect("a program");
    let kernel = Kernel::create(&program, "say").expect("a kernel");
    let setup = Setup { context, kernel };
    let mut capture = Capture::new();

    // An event that is complete has printed.
    let queue = setup.queue(0);
    setup.print(&queue, 1, &[]).wait().expect("it ends well");
    assert_eq!(capture.take(), lines(1..2));

    // More launches than there are buffers, none waited for; all out when `clFinish` returns.
    let count = 150;
    for number in 0..count {
        setup.print(&queue, number, &[]);
    }
    queue.finish().expect("it ends well");
    assert_eq!(capture.take(), lines(0..count));

    // As many that can't start yet: the next one must not wait for them.
    let gate = create_user_event(setup.context.get()).expect("an event");
    let mut last = gate;
    let mut held = Vec::new();
    let unordered = setup.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    for number in 0..50 {
        let event = setup.print(&unordered, number, &[last]);
        last = event.get();
        held.push(event);
    }
    setup.print(&queue, 1000, &[]).wait().expect("it ends well");
    assert_eq!(capture.take(), lines(1000..1001));
    set_user_event_status(gate, CL_COMPLETE).expect("a user event");
    held.last().expect("some").wait().expect("it ends well");
    assert_eq!(capture.take(), lines(0..50));

    // What the application prints itself stays where it was, even in the C library's buffer.
    // SAFETY: strings that end with a NUL and hold no conversion.
    let say = |text: &std::ffi::CStr| unsafe { libc::printf(text.as_ptr()) };
    say(c"before\n");
    setup.print(&queue, 2, &[]).wait().expect("it ends well");
    say(c"after\n");
    // SAFETY: NULL means every stream.
    unsafe { libc::fflush(ptr::null_mut()) };
    assert_eq!(capture.take(), "before\nlaunch 2\nafter\n");
    drop(capture);
}
