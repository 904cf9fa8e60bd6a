//! Updating recorded launches.

use super::setup::{COUNT, Functions, IN_ORDER, OUT_OF_ORDER, Setup, add, argument, config};
use std::ptr;
use std::sync::Arc;

use opencl_sys as cl;
use opencl_sys::{cl_event, cl_mutable_dispatch_config_khr};
use opencl3::command_queue::CommandQueue;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;

#[test]
fn each_execution_sees_the_updates_before_it_and_no_later_ones() {
    for flags in [IN_ORDER, OUT_OF_ORDER] {
        let Some((setup, program)) = Setup::with_program(flags) else {
            return;
        };
        let mut targets: Vec<_> = (0..8).map(|_| setup.buffer()).collect();
        for target in &mut targets {
            setup.write(target, 0);
        }
        let kernel = add(&program, &targets[0], 1);
        let flags = cl::CL_COMMAND_BUFFER_MUTABLE_KHR | cl::CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR;
        let buffer = setup.command_buffer_with(flags);
        let command = buffer.launch_mutable(&kernel, &[]);
        assert_eq!(buffer.update(&[config(command)]), cl::CL_INVALID_OPERATION);
        assert_eq!(buffer.finalize(), 0);
        // All are enqueued before the first may begin.
        let gate = Event::new(create_user_event(setup.context.get()).unwrap());
        let mut events = Vec::new();
        for (index, target) in targets.iter().enumerate() {
            let (value, target) = (index as u32 + 1, target.get());
            let arguments = [argument(0, &target), argument(1, &value)];
            let update = cl_mutable_dispatch_config_khr {
                num_args: 2,
                arg_list: arguments.as_ptr(),
                ..config(command)
            };
            assert_eq!(buffer.update(&[update]), 0);
            events.push(buffer.enqueue_on(&mut [], &[gate.get()]).unwrap());
        }
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        for event in &events {
            event.wait().unwrap();
        }
        for (index, target) in targets.iter().enumerate() {
            assert_eq!(setup.read(target), vec![index as u32 + 1; COUNT]);
        }
    }
}

#[test]
fn sizes_and_offsets_are_updated() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    let kernel = add(&program, &target, 1);
    let (buffer, command) = setup.recorded(&kernel);
    let ones = |from: usize, count: usize| {
        (0..COUNT)
            .map(|index| u32::from((from..from + count).contains(&index)))
            .collect::<Vec<_>>()
    };
    let mut offset = 0;
    for (global, new_offset, local) in [
        (COUNT, None, None),
        (64, None, None),
        (32, Some(100), None),
        (0, None, None),
        (96, None, Some(8_usize)),
        (48, Some(3), Some(16)),
    ] {
        setup.write(&mut target, 0);
        let update = cl_mutable_dispatch_config_khr {
            work_dim: 1,
            global_work_size: &global,
            global_work_offset: new_offset.as_ref().map_or(ptr::null(), ptr::from_ref),
            local_work_size: local.as_ref().map_or(ptr::null(), ptr::from_ref),
            ..config(command)
        };
        assert_eq!(
            buffer.update(&[update]),
            0,
            "{global} {new_offset:?} {local:?}"
        );
        offset = new_offset.unwrap_or(offset);
        buffer.enqueue().wait().unwrap();
        assert_eq!(
            setup.read(&target),
            ones(offset, global),
            "{global} at {offset}"
        );
        let mut told = 0_usize;
        // SAFETY: room for one number.
        let code = unsafe {
            (setup.functions.command_info.unwrap())(
                command,
                cl::CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR,
                size_of::<usize>(),
                (&raw mut told).cast(),
                ptr::null_mut(),
            )
        };
        assert_eq!((code, told), (0, global));
    }
    let wrong = cl_mutable_dispatch_config_khr {
        work_dim: 2,
        ..config(command)
    };
    assert_eq!(buffer.update(&[wrong]), cl::CL_INVALID_OPERATION);
    assert_eq!(
        buffer.update(&[config(ptr::null_mut())]),
        cl::CL_INVALID_MUTABLE_COMMAND_KHR
    );
}

#[test]
fn an_update_is_done_whole_or_not_at_all() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 0);
    let kernel = add(&program, &target, 1);
    let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let fields = cl::CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    let first = buffer.launch_mutable(&kernel, &[fields, cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0]);
    let second = buffer.launch_mutable(&kernel, &[fields, 0, 0]);
    assert_eq!(buffer.finalize(), 0);
    let ten = 10_u32;
    let arguments = [argument(1, &ten)];
    let update = |command| cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: arguments.as_ptr(),
        ..config(command)
    };
    assert_eq!(
        buffer.update(&[update(first), update(second)]),
        cl::CL_INVALID_OPERATION
    );
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![2; COUNT]);
    assert_eq!(buffer.update(&[update(first)]), 0);
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![13; COUNT]);
    let immutable = setup.command_buffer();
    assert_eq!(immutable.finalize(), 0);
    assert_eq!(immutable.update(&[update(first)]), cl::CL_INVALID_OPERATION);
}

#[test]
fn missing_arguments_may_be_given_later() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 5);
    let kernel = Kernel::create(&program, "add").expect("a kernel");
    let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let fields = cl::CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR;
    let command =
        buffer.launch_mutable(&kernel, &[fields, cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, 0]);
    assert_eq!(buffer.finalize(), 0);
    let state = || buffer.info::<u32>(cl::CL_COMMAND_BUFFER_STATE_KHR);
    assert_eq!(state(), cl::CL_COMMAND_BUFFER_STATE_FINALIZED_KHR);
    let (handle, value) = (target.get(), 4_u32);
    for argument in [argument(0, &handle), argument(1, &value)] {
        assert_eq!(
            buffer.enqueue_on(&mut [], &[]).err(),
            Some(cl::CL_INVALID_OPERATION)
        );
        let update = cl_mutable_dispatch_config_khr {
            num_args: 1,
            arg_list: &argument,
            ..config(command)
        };
        assert_eq!(buffer.update(&[update]), 0);
    }
    assert_eq!(state(), cl::CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
    buffer.enqueue().wait().unwrap();
    assert_eq!(setup.read(&target), vec![9; COUNT]);
}

#[test]
fn updates_of_one_command_from_two_threads_both_count() {
    const ROUNDS: usize = 200;
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    let kernel = add(&program, &target, 0);
    let (buffer, command) = setup.recorded(&kernel);
    let command = command as usize;
    let (handle, update) = (buffer.handle as usize, setup.functions.update.unwrap());
    // Each thread updates what the other one leaves as it is.
    let update = move |config: &cl_mutable_dispatch_config_khr| {
        let kind = cl::CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR;
        let mut list = ptr::from_ref(config).cast();
        // SAFETY: one structure of that type.
        let code = unsafe { update(handle as _, 1, &kind, &mut list) };
        assert_eq!(code, 0);
    };
    for round in 1..ROUNDS {
        setup.write(&mut target, 0);
        let start = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let value = round as u32;
                let arguments = [argument(1, &value)];
                start.wait();
                update(&cl_mutable_dispatch_config_khr {
                    num_args: 1,
                    arg_list: arguments.as_ptr(),
                    ..config(command as _)
                });
            });
            scope.spawn(|| {
                start.wait();
                update(&cl_mutable_dispatch_config_khr {
                    global_work_size: &round,
                    ..config(command as _)
                });
            });
        });
        buffer.enqueue().wait().unwrap();
        let mut expected = vec![0; COUNT];
        expected[..round].fill(round as u32);
        assert_eq!(setup.read(&target), expected);
    }
}

#[test]
fn replays_and_updates_from_several_threads_are_right() {
    const THREADS: u32 = 4;
    const ROUNDS: u32 = 300;
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let setup = &setup;
    let program = &program;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let setup = &Setup {
                    device: setup.device,
                    context: Arc::clone(&setup.context),
                    queue: CommandQueue::create_default_with_properties(
                        &setup.context,
                        u64::from(thread % 2) * OUT_OF_ORDER,
                        0,
                    )
                    .unwrap(),
                    functions: Functions::load(&setup.device),
                };
                let mut sum = setup.buffer();
                setup.write(&mut sum, 0);
                let kernel = Kernel::create(program, "add").expect("a kernel");
                // SAFETY: values of the right types.
                unsafe {
                    kernel.set_arg(0, &sum.get()).unwrap();
                    kernel.set_arg(1, &0_u32).unwrap();
                }
                let (buffer, command) = setup.recorded(&kernel);
                let mut last: Option<Event> = None;
                let mut expected = 0_u32;
                for round in 0..ROUNDS {
                    let value = round ^ thread;
                    let arguments = [argument(1, &value)];
                    let update = cl_mutable_dispatch_config_khr {
                        num_args: 1,
                        arg_list: arguments.as_ptr(),
                        ..config(command)
                    };
                    assert_eq!(buffer.update(&[update]), 0);
                    let waits: Vec<cl_event> = last.iter().map(Event::get).collect();
                    let event = buffer.enqueue_on(&mut [], &waits).unwrap();
                    last = Some(event);
                    expected = expected.wrapping_add(value);
                    if round % 100 == 99 {
                        setup.queue.finish().unwrap();
                        assert_eq!(setup.read(&sum), vec![expected; COUNT]);
                    }
                }
                setup.queue.finish().unwrap();
                assert_eq!(setup.read(&sum), vec![expected; COUNT]);
            });
        }
    });
}
