//! What kernels in a command buffer print.

use super::setup::{IN_ORDER, Setup};
use std::process::Command;

use opencl_sys as cl;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::program::Program;

/// Set where the program runs itself again, to be the only one that prints.
const INNER: &str = "PUMICE_TEST_PRINTING";

const SOURCE: &str = r#"
kernel void say(global uint *p, uint value) {
    if (get_global_id(0) == 0) printf("said %u: %u\n", value, p[0]);
}"#;

fn say() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    if setup.program().is_none() {
        return;
    }
    let program = Program::create_and_build_from_source(&setup.context, SOURCE, "").unwrap();
    let [filled, mut other] = [setup.buffer(), setup.buffer()];
    setup.write(&mut other, 5);
    let kernel = |target: cl::cl_mem, value: u32| {
        let kernel = Kernel::create(&program, "say").expect("a kernel");
        // SAFETY: values of the right types.
        unsafe {
            kernel.set_arg(0, &target).unwrap();
            kernel.set_arg(1, &value).unwrap();
        }
        kernel
    };
    // The second could run with the fill; the first can't.
    let buffer = setup.command_buffer();
    buffer.fill(&filled, 7, &[]);
    buffer.launch(&kernel(filled.get(), 1), &[]);
    buffer.launch(&kernel(other.get(), 2), &[]);
    // More than launches can have at a time.
    for value in 3..40 {
        buffer.launch(&kernel(other.get(), value), &[]);
    }
    assert_eq!(buffer.finalize(), 0);
    // Several executions are pending before the first begins.
    let gate = Event::new(create_user_event(setup.context.get()).unwrap());
    let mut waits = vec![gate.get()];
    let mut events = Vec::new();
    for _ in 0..3 {
        let event = buffer.enqueue_on(&mut [], &waits).unwrap();
        waits = vec![event.get()];
        events.push(event);
    }
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    events.iter().for_each(|event| event.wait().unwrap());
    drop(buffer);
    setup.queue.finish().unwrap();
}

#[test]
fn executions_print_in_the_order_of_recording() {
    if std::env::var_os(INNER).is_some() {
        say();
        return;
    }
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    if setup.program().is_none() {
        return;
    }
    let name = "printing::executions_print_in_the_order_of_recording";
    let run = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INNER, "1")
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{error}");
    let text = String::from_utf8_lossy(&run.stdout);
    let said: Vec<&str> = text.lines().filter(|it| it.starts_with("said")).collect();
    let once = (1..40).map(|value| format!("said {value}: {}", if value == 1 { 7 } else { 5 }));
    let expected: Vec<String> = once.clone().chain(once.clone()).chain(once).collect();
    assert_eq!(said, expected);
}
