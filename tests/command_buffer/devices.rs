//! Command buffers with commands of several devices, and copies for other queues. `ci/test` loads two Vulkan
//! drivers at once for them; with one device, its queues take the devices' places.

use super::setup::{
    COUNT, CommandBuffer, Functions, IN_ORDER, OUT_OF_ORDER, Setup, argument, config, list, slowly,
};
use super::{addressed, common};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use opencl_sys as cl;
use opencl_sys::{cl_int, cl_mutable_command_khr, cl_mutable_dispatch_config_khr, cl_uint};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::CL_DEVICE_TYPE_ALL;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, ClMem, set_mem_object_destructor_callback};
use opencl3::platform::get_platforms;
use opencl3::program::Program;

/// A context of two devices, or twice the same, with a queue on each; that of the setup is the first.
struct Pair {
    setup: Setup,
    other: CommandQueue,
    /// Whether the devices differ.
    differ: bool,
}

impl Pair {
    fn new(flags: u64) -> Option<Self> {
        let device = common::device()?;
        let platform = get_platforms().unwrap().remove(0);
        let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap();
        let second = ids.iter().copied().find(|id| *id != device.id());
        let devices: Vec<_> = [device.id()].into_iter().chain(second).collect();
        let context = Context::from_devices(&devices, &[], None, ptr::null_mut()).unwrap();
        let queue = |index: usize| {
            let id = devices[index % devices.len()];
            // SAFETY: a device of the context.
            unsafe { CommandQueue::create_with_properties(&context, id, flags, 0) }.unwrap()
        };
        let (first, other) = (queue(0), queue(1));
        Some(Self {
            setup: Setup {
                functions: Functions::load(&device),
                device,
                context: Arc::new(context),
                queue: first,
            },
            other,
            differ: second.is_some(),
        })
    }

    /// With the program of the setup, where it can be built.
    fn with_program(flags: u64) -> Option<(Self, Program)> {
        let pair = Self::new(flags)?;
        let program = pair.setup.program()?;
        Some((pair, program))
    }

    fn queues(&self) -> [&CommandQueue; 2] {
        [&self.setup.queue, &self.other]
    }

    fn buffer_of(&self, value: u32) -> Buffer<u32> {
        let mut buffer = self.setup.buffer();
        self.setup.write(&mut buffer, value);
        buffer
    }
}

fn kernel(program: &Program, name: &str, target: &Buffer<u32>, value: u32) -> Kernel {
    let kernel = Kernel::create(program, name).expect("a kernel");
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &target.get()).unwrap();
        kernel.set_arg(1, &value).unwrap();
    }
    kernel
}

#[test]
fn commands_of_several_devices_follow_their_sync_points() {
    for flags in [IN_ORDER, OUT_OF_ORDER, CL_QUEUE_PROFILING_ENABLE] {
        let Some((pair, program)) = Pair::with_program(flags) else {
            return;
        };
        let [here, there] = pair.queues();
        let (sum, result) = (pair.buffer_of(7), pair.buffer_of(7));
        let buffer = pair.setup.command_buffer_of(&[here, there], 0);
        // There and back: each sees what the device before has left.
        let filled = buffer.on(here).fill(&sum, 1, &[]);
        let ten = kernel(&program, "add", &sum, 10);
        let added = buffer.on(there).launch(&ten, &[filled]);
        let hundred = kernel(&program, "add", &sum, 100);
        let again = buffer.on(here).launch(&hundred, &[added]);
        let copied = buffer
            .on(there)
            .copy_code(sum.get(), result.get(), 0, &[again]);
        assert_eq!(copied, 0);
        assert_eq!(buffer.finalize(), 0);
        for round in 0..4 {
            let event = buffer.enqueue();
            assert!(event.command_queue().unwrap().is_null());
            if flags == OUT_OF_ORDER {
                // In order, what comes later follows by itself.
                event.wait().unwrap();
            }
            assert_eq!(pair.setup.read(&sum), vec![111; COUNT], "round {round}");
            assert_eq!(pair.setup.read(&result), vec![111; COUNT], "round {round}");
            event.wait().unwrap();
            if flags == CL_QUEUE_PROFILING_ENABLE {
                let (start, end) = (
                    event.profiling_command_start().unwrap(),
                    event.profiling_command_end().unwrap(),
                );
                assert!(0 < start && start <= end);
            }
        }
    }
}

#[test]
fn one_queue_that_takes_times_is_enough() {
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let here = &pair.setup.queue;
    let device = pair.other.device().unwrap();
    // SAFETY: a device of the context.
    let there = unsafe {
        let flags = CL_QUEUE_PROFILING_ENABLE;
        CommandQueue::create_with_properties(&pair.setup.context, device, flags, 0)
    }
    .unwrap();
    let target = pair.buffer_of(1);
    let slow = kernel(&program, "slow", &target, 50_000);
    // How long it takes at least.
    let alone = pair.setup.command_buffer();
    alone.launch(&slow, &[]);
    assert_eq!(alone.finalize(), 0);
    let mut shortest = Duration::MAX;
    for _ in 0..3 {
        let before = Instant::now();
        alone.enqueue().wait().unwrap();
        shortest = shortest.min(before.elapsed());
    }
    let expected = slowly(1, 4 * 50_000) + 1;
    let buffer = pair.setup.command_buffer_of(&[here, &there], 0);
    let first = buffer.on(here).launch(&slow, &[]);
    let one = kernel(&program, "add", &target, 1);
    buffer.on(&there).launch(&one, &[first]);
    assert_eq!(buffer.finalize(), 0);
    let whole = Instant::now();
    let event = buffer.enqueue();
    event.wait().unwrap();
    let whole = whole.elapsed();
    let times = [
        event.profiling_command_queued().unwrap(),
        event.profiling_command_submit().unwrap(),
        event.profiling_command_start().unwrap(),
        event.profiling_command_end().unwrap(),
    ];
    assert!(times.is_sorted() && times[0] > 0, "{times:?}");
    // It began with the first command, which takes all the time, on the queue that takes none.
    let ran = Duration::from_nanos(times[3] - times[2]);
    assert!(shortest / 2 < ran && ran <= whole, "{ran:?} of {whole:?}");
    assert_eq!(pair.setup.read(&target), vec![expected; COUNT]);
}

#[test]
fn devices_write_parts_of_one_buffer_at_the_same_time() {
    let Some(pair) = Pair::new(OUT_OF_ORDER) else {
        return;
    };
    let queues = pair.queues();
    let (one, two) = (pair.buffer_of(1), pair.buffer_of(2));
    // SAFETY: no host pointer.
    let both: Buffer<u32> = unsafe {
        Buffer::create(
            &pair.setup.context,
            opencl3::memory::CL_MEM_READ_WRITE,
            2 * COUNT,
            ptr::null_mut(),
        )
    }
    .unwrap();
    let buffer = pair.setup.command_buffer_of(&queues, 0);
    assert_eq!(
        buffer
            .on(queues[0])
            .copy_code(one.get(), both.get(), 0, &[]),
        0
    );
    let half = COUNT * 4;
    assert_eq!(
        buffer
            .on(queues[1])
            .copy_code(two.get(), both.get(), half, &[]),
        0
    );
    assert_eq!(buffer.finalize(), 0);
    for _ in 0..3 {
        buffer.enqueue().wait().unwrap();
        let mut data = vec![0_u32; 2 * COUNT];
        // SAFETY: blocking.
        unsafe { queues[0].enqueue_read_buffer(&both, 1, 0, &mut data, &[]) }.unwrap();
        assert_eq!((data[0], data[COUNT - 1]), (1, 1));
        assert_eq!((data[COUNT], data[2 * COUNT - 1]), (2, 2));
    }
}

#[test]
fn many_executions_wait_for_what_the_application_says() {
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let [here, there] = pair.queues();
    let sum = pair.buffer_of(0);
    let one = kernel(&program, "add", &sum, 1);
    let buffer = pair.setup.command_buffer_of(&[here, there], 0);
    let first = buffer.on(here).launch(&one, &[]);
    let second = buffer.on(there).launch(&one, &[first]);
    buffer.on(here).launch(&one, &[second]);
    assert_eq!(buffer.finalize(), 0);
    let gate = Event::new(create_user_event(pair.setup.context.get()).unwrap());
    let events: Vec<Event> = (0..5)
        .map(|_| buffer.enqueue_on(&mut [], &[gate.get()]).unwrap())
        .collect();
    drop(buffer);
    set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
    events.iter().for_each(|event| event.wait().unwrap());
    assert_eq!(pair.setup.read(&sum), vec![15; COUNT]);
}

#[test]
fn executions_by_several_threads_come_one_after_the_other() {
    const THREADS: u32 = 3;
    const ROUNDS: u32 = 40;
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let sum = pair.buffer_of(0);
    let (pair, program, sum) = (&pair, &program, &sum);
    let start = &Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let [here, there] = pair.queues();
                let one = kernel(program, "add", sum, 1);
                // The queues' order is all that keeps the executions apart, wherever each begins.
                let queues = match thread % 2 {
                    0 => [here, there],
                    _ => [there, here],
                };
                let buffer = pair.setup.command_buffer_of(&queues, 0);
                let first = buffer.on(queues[0]).launch(&one, &[]);
                let second = buffer.on(queues[1]).launch(&one, &[first]);
                buffer.on(queues[0]).launch(&one, &[second]);
                assert_eq!(buffer.finalize(), 0);
                start.wait();
                for _ in 0..ROUNDS {
                    buffer.enqueue_unseen();
                }
                here.finish().unwrap();
                there.finish().unwrap();
            });
        }
    });
    assert_eq!(pair.setup.read(sum), vec![3 * THREADS * ROUNDS; COUNT]);
}

/// What another thread enqueues on one of the queues comes before an execution or after it, not between its parts.
#[test]
fn nothing_comes_between_the_parts_of_an_execution() {
    const ROUNDS: u32 = 60;
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let [here, there] = pair.queues();
    let (sum, other) = (pair.buffer_of(0), pair.buffer_of(0));
    let one = kernel(&program, "add", &sum, 1);
    let elsewhere = kernel(&program, "add", &other, 1);
    let buffer = pair.setup.command_buffer_of(&[here, there], 0);
    // Twice on one device, with a part of the other between.
    let mut last = buffer.on(there).launch(&one, &[]);
    for _ in 0..4 {
        let between = buffer.on(here).launch(&elsewhere, &[last]);
        last = buffer.on(there).launch(&one, &[between]);
    }
    assert_eq!(buffer.finalize(), 0);
    buffer.enqueue().wait().unwrap();
    let (is_over, start) = (AtomicBool::new(false), Barrier::new(2));
    let seen = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            start.wait();
            while !is_over.load(Ordering::SeqCst) {
                let mut data = vec![0_u32; COUNT];
                // SAFETY: blocking.
                unsafe { there.enqueue_read_buffer(&sum, 1, 0, &mut data, &[]) }.unwrap();
                seen.push(data[0]);
            }
            seen
        });
        start.wait();
        for _ in 0..ROUNDS {
            buffer.enqueue().wait().unwrap();
        }
        is_over.store(true, Ordering::SeqCst);
        reader.join().unwrap()
    });
    let torn: Vec<u32> = seen.into_iter().filter(|it| it % 5 != 0).collect();
    assert!(torn.is_empty(), "{torn:?}");
    assert_eq!(pair.setup.read(&sum), vec![5 * (ROUNDS + 1); COUNT]);
}

/// What a destructor callback enqueues: a command buffer, and whether it has.
type Enqueued<'a> = (&'a CommandBuffer<'a>, AtomicBool);

extern "C" fn enqueue_another(_memory: cl::cl_mem, user_data: *mut c_void) {
    // SAFETY: what the test below gave, which lives until this is over.
    let (buffer, is_enqueued) = unsafe { &*user_data.cast::<Enqueued<'_>>() };
    buffer.enqueue_unseen();
    is_enqueued.store(true, Ordering::SeqCst);
}

#[test]
fn memory_that_goes_during_an_execution_may_enqueue_another() {
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let [here, there] = pair.queues();
    let sum = pair.buffer_of(0);
    let one = kernel(&program, "add", &sum, 1);
    let buffer = pair.setup.command_buffer_of(&[here, there], 0);
    buffer.on(here).launch(&one, &[]);
    assert_eq!(buffer.finalize(), 0);
    let enqueued: Enqueued<'_> = (&buffer, AtomicBool::new(false));
    let short_lived = pair.buffer_of(0);
    let user_data = ptr::from_ref(&enqueued).cast_mut().cast();
    // SAFETY: a live buffer; one dimension.
    unsafe {
        set_mem_object_destructor_callback(short_lived.get(), enqueue_another, user_data).unwrap();
        let last = kernel(&program, "add", &short_lived, 1);
        here.enqueue_nd_range_kernel(last.get(), 1, ptr::null(), &COUNT, ptr::null(), &[])
            .unwrap();
    }
    drop(short_lived);
    let mut executions = 1;
    let end = Instant::now() + Duration::from_secs(20);
    // An execution sees sooner or later that the launch is done.
    while !enqueued.1.load(Ordering::SeqCst) {
        assert!(Instant::now() < end, "the memory has not gone");
        buffer.enqueue_unseen();
        executions += 1;
    }
    here.finish().unwrap();
    assert_eq!(pair.setup.read(&sum), vec![executions; COUNT]);
}

#[test]
fn an_update_brings_other_memory_to_the_device() {
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let [here, there] = pair.queues();
    let targets = [5, 50].map(|value| pair.buffer_of(value));
    let flags = cl::CL_COMMAND_BUFFER_MUTABLE_KHR;
    let buffer = pair.setup.command_buffer_of(&[here, there], flags);
    let add = kernel(&program, "add", &targets[0], 1);
    let command = buffer.on(there).launch_mutable(&add, &[]);
    assert_eq!(buffer.finalize(), 0);
    buffer.enqueue().wait().unwrap();
    let handle = targets[1].get();
    let arguments = [argument(0, &handle)];
    let update = cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: arguments.as_ptr(),
        ..config(command)
    };
    assert_eq!(buffer.update(&[update]), 0);
    buffer.enqueue().wait().unwrap();
    assert_eq!(pair.setup.read(&targets[0]), vec![6; COUNT]);
    assert_eq!(pair.setup.read(&targets[1]), vec![51; COUNT]);
}

#[test]
fn what_devices_cannot_do_by_themselves_is_refused_on_demand() {
    let Some(pair) = Pair::new(IN_ORDER) else {
        return;
    };
    let flags = cl::CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR;
    let (error, _) = pair.setup.create_of(&pair.queues(), flags);
    let expected = if pair.differ {
        cl::CL_INCOMPATIBLE_COMMAND_QUEUE_KHR
    } else {
        0
    };
    assert_eq!(error, expected);
    // Each queue is replaced by one of its own device.
    let buffer = pair.setup.command_buffer();
    assert_eq!(buffer.finalize(), 0);
    let replaced = buffer.enqueue_on(&mut [pair.other.get()], &[]);
    let expected = pair.differ.then_some(cl::CL_INVALID_DEVICE);
    assert_eq!(replaced.err(), expected);
    let capabilities = cl::CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR;
    let platform = get_platforms().unwrap().remove(0);
    let told = platform.get_data(capabilities).unwrap();
    assert_eq!(told, 7_u64.to_ne_bytes());
}

/// `clRemapCommandBufferKHR` with one handle, or none.
fn remap<'a>(
    buffer: &CommandBuffer<'a>,
    automatic: bool,
    queues: &[&CommandQueue],
    commands: &[cl_mutable_command_khr],
) -> Result<(CommandBuffer<'a>, Vec<cl_mutable_command_khr>), cl_int> {
    let handles: Vec<_> = queues.iter().map(|queue| queue.get()).collect();
    let (count, commands_list) = list(commands);
    let mut copies = vec![ptr::null_mut(); commands.len()];
    let copies_list = match count {
        0 => ptr::null_mut(),
        _ => copies.as_mut_ptr(),
    };
    let mut error = 1;
    // SAFETY: valid handles, lists as long as said.
    let copy = unsafe {
        (buffer.setup.functions.remap.unwrap())(
            buffer.handle,
            cl_uint::from(automatic),
            handles.len() as cl_uint,
            handles.as_ptr(),
            count,
            commands_list,
            copies_list,
            &mut error,
        )
    };
    assert_eq!(copy.is_null(), error != 0);
    match error {
        0 => Ok((buffer.setup.wrap(copy), copies)),
        error => Err(error),
    }
}

#[test]
fn a_copy_runs_on_other_queues() {
    let Some((pair, program)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let [here, there] = pair.queues();
    let (sum, result) = (pair.buffer_of(0), pair.buffer_of(0));
    let flags = cl::CL_COMMAND_BUFFER_MUTABLE_KHR;
    let buffer = pair.setup.command_buffer_of(&[here, there], flags);
    let filled = buffer.on(here).fill(&sum, 1, &[]);
    let twenty = kernel(&program, "add", &sum, 20);
    let added = buffer.on(there).launch(&twenty, &[filled]);
    buffer.barrier();
    let three = kernel(&program, "add", &sum, 300);
    let command = buffer.on(there).launch_mutable(&three, &[]);
    buffer.barrier();
    let copied = buffer
        .on(here)
        .copy_code(sum.get(), result.get(), 0, &[added]);
    assert_eq!(copied, 0);
    // Not finalized, nor is its copy.
    let (early, _) = remap(&buffer, false, &[there, here], &[]).unwrap();
    let state = |buffer: &CommandBuffer<'_>| buffer.info::<u32>(cl::CL_COMMAND_BUFFER_STATE_KHR);
    assert_eq!(state(&early), cl::CL_COMMAND_BUFFER_STATE_RECORDING_KHR);
    assert_eq!(buffer.finalize(), 0);
    for (automatic, queues) in [
        (false, vec![there, here]),
        (false, vec![there, there]),
        (true, vec![there]),
        (true, vec![here, there]),
    ] {
        let (copy, commands) = remap(&buffer, automatic, &queues, &[command]).unwrap();
        assert_eq!(state(&copy), cl::CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR);
        copy.enqueue().wait().unwrap();
        assert_eq!(pair.setup.read(&result), vec![321; COUNT]);
        // The copy's command is its own.
        let value = 4000_u32;
        let arguments = [argument(1, &value)];
        let update = cl_mutable_dispatch_config_khr {
            num_args: 1,
            arg_list: arguments.as_ptr(),
            ..config(commands[0])
        };
        assert_eq!(buffer.update(&[update]), cl::CL_INVALID_MUTABLE_COMMAND_KHR);
        assert_eq!(copy.update(&[update]), 0);
        copy.enqueue().wait().unwrap();
        assert_eq!(pair.setup.read(&result), vec![4021; COUNT]);
        buffer.enqueue().wait().unwrap();
        assert_eq!(pair.setup.read(&result), vec![321; COUNT]);
    }
    let refused = |automatic, queues: &[&CommandQueue], commands: &[_]| {
        remap(&buffer, automatic, queues, commands).err()
    };
    assert_eq!(refused(false, &[here], &[]), Some(cl::CL_INVALID_VALUE));
    assert_eq!(refused(true, &[], &[]), Some(cl::CL_INVALID_VALUE));
    let wrong = [ptr::null_mut()];
    assert_eq!(refused(true, &[here], &wrong), Some(cl::CL_INVALID_VALUE));
    let foreign = Context::from_device(&pair.setup.device).unwrap();
    let foreign = CommandQueue::create_default_with_properties(&foreign, 0, 0).unwrap();
    assert_eq!(
        refused(true, &[&foreign], &[]),
        Some(cl::CL_INVALID_CONTEXT)
    );
}

/// What a launch reaches by addresses is what its kernel said as it was recorded, or what an update says: the other
/// device's writes to other buffers are not lost to it.
#[test]
fn what_other_devices_write_is_not_lost_to_an_execution() {
    let Some((pair, _)) = Pair::with_program(IN_ORDER) else {
        return;
    };
    let context = &pair.setup.context;
    let source = "kernel void follow(global const ulong *places, uint value) {
        global uint *numbers = (global uint *)places[0];
        numbers[get_global_id(0)] += value;
    }";
    let program = Program::create_and_build_from_source(context, source, "").unwrap();
    let [(mine, here), (theirs, there)] =
        [100, 1000].map(|value| addressed::buffer(context, &mut [value; COUNT]));
    let follow = |address: u64, value: u32, list: &u64| {
        let kernel = Kernel::create(&program, "follow").unwrap();
        let (places, _) = addressed::buffer(context, &mut [address]);
        // SAFETY: values of the right types, and a list of one.
        unsafe {
            kernel.set_arg(0, &places.get()).unwrap();
            kernel.set_arg(1, &value).unwrap();
            kernel
                .set_exec_info(cl::CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, list)
                .unwrap();
        }
        (kernel, places)
    };
    let [said, meant] = [there[0], here[0]];
    let (kernel, _places) = follow(here[0], 1, &meant);
    let flags = cl::CL_COMMAND_BUFFER_MUTABLE_KHR;
    let buffer = |flags| pair.setup.command_buffer_of(&[&pair.setup.queue], flags);
    let recorded = buffer(0);
    recorded.launch(&kernel, &[]);
    let name = cl::CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT;
    // SAFETY: a list of one.
    unsafe { kernel.set_exec_info(name, &said) }.unwrap();
    let updated = buffer(flags);
    let command = updated.launch_mutable(&kernel, &[]);
    let info = cl::cl_mutable_dispatch_exec_info_khr {
        param_name: name,
        param_value_size: 8,
        param_value: (&raw const meant).cast(),
    };
    let says = cl_mutable_dispatch_config_khr {
        num_exec_infos: 1,
        exec_info_list: &info,
        ..config(command)
    };
    assert_eq!((recorded.finalize(), updated.finalize()), (0, 0));
    assert_eq!(updated.update(&[says]), 0);
    let (other, _their_places) = follow(there[1], 10, &there[1]);
    let add = || {
        let (size, none) = (&COUNT, ptr::null());
        // SAFETY: the arguments are set.
        unsafe {
            pair.other
                .enqueue_nd_range_kernel(other.get(), 1, none, size, none, &[])
        }
        .unwrap()
    };
    for (round, buffer) in [recorded, updated].iter().enumerate() {
        // It has all there from then on.
        add().wait().unwrap();
        let gate = create_user_event(context.get()).unwrap();
        let held = buffer.enqueue_on(&mut [], &[gate]).unwrap();
        // Recorded, not submitted yet.
        let added = add();
        set_user_event_status(gate, CL_COMPLETE).unwrap();
        held.wait().unwrap();
        added.wait().unwrap();
        drop(Event::new(gate));
        let round = round as u32 + 1;
        assert_eq!(pair.setup.read(&theirs), [1000 + 20 * round; COUNT]);
        let mut result = [0_u32; COUNT];
        // SAFETY: the call blocks.
        unsafe {
            pair.other
                .enqueue_read_buffer(&mine, 1, 0, &mut result, &[])
        }
        .unwrap();
        assert_eq!(result, [100 + round; COUNT]);
    }
}
