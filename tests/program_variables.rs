//! Variables of program scope: one of each for a program and device, which lasts as long as the program.

mod common;

use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

const SOURCE: &str = "
    global int counter = 5;
    global int table[4] = {1, 2, 3};
    global int *global chosen = &table[1];
    constant int fixed = 40;
    kernel void step(global int *out) {
        counter += fixed;
        chosen++;
        *chosen *= 10;
        out[0] = counter;
    }
    kernel void look(global int *out) {
        out[0] = counter;
        for (int i = 0; i < 4; i++) out[1 + i] = table[i];
        out[5] = chosen - table;
    }";

struct Setup {
    device: Device,
    context: Context,
    queue: CommandQueue,
}

fn setup() -> Option<Setup> {
    let device = common::device()?;
    let context = Context::from_device(&device).expect("a context");
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
    Some(Setup {
        device,
        context,
        queue,
    })
}

impl Setup {
    fn program(&self) -> Program {
        Program::create_and_build_from_source(&self.context, SOURCE, "-cl-std=CL3.0")
            .expect("the program builds")
    }

    /// What a kernel of the program writes.
    fn run_on(&self, queue: &CommandQueue, program: &Program, name: &str) -> [i32; 6] {
        let kernel = Kernel::create(program, name).expect("a kernel");
        let mut found = [-1i32; 6];
        // SAFETY: the buffer holds all that the kernels write, and outlives the blocking read.
        unsafe {
            let mut buffer =
                Buffer::<i32>::create(&self.context, CL_MEM_READ_WRITE, 6, ptr::null_mut())
                    .expect("a buffer");
            queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &found, &[])
                .expect("a write");
            ExecuteKernel::new(&kernel)
                .set_arg(&buffer)
                .set_global_work_size(1)
                .enqueue_nd_range(queue)
                .expect("a launch");
            queue
                .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut found, &[])
                .expect("a read");
        }
        found
    }

    fn run(&self, program: &Program, name: &str) -> [i32; 6] {
        self.run_on(&self.queue, program, name)
    }
}

#[test]
fn they_last_from_launch_to_launch_and_belong_to_all_kernels() {
    let Some(setup) = setup() else { return };
    let program = setup.program();
    assert_eq!(setup.run(&program, "look"), [5, 1, 2, 3, 0, 1]);
    assert_eq!(setup.run(&program, "step")[0], 45);
    assert_eq!(setup.run(&program, "step")[0], 85);
    let other =
        CommandQueue::create_default_with_properties(&setup.context, 0, 0).expect("another queue");
    let found = setup.run_on(&other, &program, "look");
    assert_eq!(found, [85, 1, 2, 30, 0, 3]);
}

#[test]
fn every_program_has_its_own_and_a_build_starts_anew() {
    let Some(setup) = setup() else { return };
    let (one, two) = (setup.program(), setup.program());
    assert_eq!(setup.run(&one, "step")[0], 45);
    assert_eq!(setup.run(&two, "look"), [5, 1, 2, 3, 0, 1]);
    let binary = one.get_binaries().expect("binaries").remove(0);
    // SAFETY: the binary is the one that the program just gave.
    let mut third = unsafe {
        Program::create_from_binary(&setup.context, &[setup.device.id()], &[binary.as_slice()])
    }
    .expect("a program");
    third
        .build(&[setup.device.id()], "")
        .expect("a binary builds");
    assert_eq!(setup.run(&third, "look"), [5, 1, 2, 3, 0, 1]);
}

#[test]
fn commands_of_an_out_of_order_queue_see_each_other_in_the_order_of_their_events() {
    use opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let Some(setup) = setup() else { return };
    let program = setup.program();
    let queue = CommandQueue::create_default_with_properties(
        &setup.context,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        0,
    )
    .expect("an out-of-order queue");
    let kernel = Kernel::create(&program, "step").expect("a kernel");
    // SAFETY: the buffer holds what the kernel writes, and outlives the commands.
    unsafe {
        let buffer = Buffer::<i32>::create(&setup.context, CL_MEM_READ_WRITE, 1, ptr::null_mut())
            .expect("a buffer");
        let mut last = None;
        for _ in 0..2 {
            let mut launch = ExecuteKernel::new(&kernel);
            launch.set_arg(&buffer).set_global_work_size(1);
            if let Some(event) = &last {
                launch.set_wait_event(event);
            }
            last = Some(launch.enqueue_nd_range(&queue).expect("a launch"));
        }
        queue.finish().expect("the queue ends");
    }
    assert_eq!(setup.run(&program, "look"), [85, 1, 2, 30, 0, 3]);
}

#[test]
fn the_device_says_how_large_they_may_be_and_the_program_how_large_they_are() {
    use opencl3::program::get_program_build_info;
    const CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE: u32 = 0x1185;
    let Some(setup) = setup() else { return };
    let largest = setup
        .device
        .max_global_variable_size()
        .expect("the device says");
    // "The minimum value is 64 KB if the device supports program scope global variables".
    assert!(largest >= 64 << 10);
    let program = setup.program();
    let size: usize = get_program_build_info(
        program.get(),
        setup.device.id(),
        CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE,
    )
    .expect("the program says")
    .into();
    assert!((4 + 16 + 8..=64).contains(&size), "{size}");
}
