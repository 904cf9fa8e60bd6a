//! Contexts with several devices: contents follow the commands, and commands wait for those of other
//! devices. In which order, and what failed, is in `order`; what kernels reach by addresses, in `indirect`. `ci/test`
//! loads two Vulkan drivers at once for them.

#[macro_use]
#[path = "../common/entry.rs"]
mod entry;

#[path = "../common/addressed.rs"]
mod addressed;
#[path = "../common/mod.rs"]
mod common;

mod indirect;
mod order;

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::error_codes::CL_INVALID_OPERATION;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::{ExecuteKernel, Kernel, create_program_kernels};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MEM_ALLOC_HOST_PTR,
    CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR,
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, CL_RGBA, CL_UNORM_INT8,
    ClMem, Image, set_mem_object_destructor_callback,
};
use opencl3::platform::get_platforms;
use opencl3::program::{
    CL_BUILD_NONE, CL_BUILD_SUCCESS, CL_PROGRAM_BUILD_STATUS, CL_PROGRAM_NUM_DEVICES, Program,
    get_program_build_info, get_program_info, link_program, release_program,
};
use opencl3::types::{
    CL_BLOCKING, CL_NON_BLOCKING, cl_device_id, cl_event, cl_image_desc, cl_image_format, cl_int,
    cl_mem, cl_mem_flags, cl_uint,
};

/// A context of two devices, with a queue on each.
struct Pair {
    context: Context,
    queues: [CommandQueue; 2],
}

fn pair(flags: u64) -> Option<Pair> {
    let first = common::device()?;
    let platform = get_platforms().unwrap().remove(0);
    let ids = platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap();
    let Some(second) = ids.iter().copied().find(|id| *id != first.id()) else {
        eprintln!("skipped: only one device");
        return None;
    };
    let devices = [first.id(), second];
    println!("{}", Device::new(second).name().unwrap());
    let context = Context::from_devices(&devices, &[], None, ptr::null_mut()).unwrap();
    // SAFETY: nothing to promise.
    let queues = devices.map(|device| unsafe {
        CommandQueue::create_with_properties(&context, device, flags, 0).unwrap()
    });
    Some(Pair { context, queues })
}

/// A user event, and as an event to wait for.
struct Gate(cl_event);

impl Gate {
    fn new(pair: &Pair) -> Self {
        Self(create_user_event(pair.context.get()).unwrap())
    }

    fn set(self, status: c_int) {
        set_user_event_status(self.0, status).unwrap();
        // SAFETY: ours; given back once.
        drop(unsafe { event(self.0) });
    }
}

/// # Safety
/// The caller has a hold on it to give.
unsafe fn event(handle: cl_event) -> Event {
    Event::new(handle)
}

impl Pair {
    fn buffer(&self, flags: cl_mem_flags, numbers: &mut [u32]) -> Buffer<u32> {
        let host = match flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR) {
            0 => ptr::null_mut(),
            _ => numbers.as_mut_ptr().cast(),
        };
        // SAFETY: the callers keep the numbers as long as the buffer.
        unsafe { Buffer::create(&self.context, flags, numbers.len(), host) }.unwrap()
    }

    fn kernel(&self, source: &str) -> Kernel {
        let program = Program::create_and_build_from_source(&self.context, source, "")
            .unwrap_or_else(|log| panic!("{log}"));
        Kernel::create(&program, "test").unwrap()
    }
}

/// Everything in a buffer, once `after` are done.
fn read(queue: &CommandQueue, buffer: &Buffer<u32>, count: usize, after: &[cl_event]) -> Vec<u32> {
    let mut numbers = vec![0; count];
    // SAFETY: the call blocks.
    unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut numbers, after) }.unwrap();
    numbers
}

#[test]
fn a_buffer_goes_from_device_to_device() {
    let Some(pair) = pair(0) else { return };
    let queues = &pair.queues;
    let mut numbers: Vec<u32> = (0..10_000).collect();
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
    let mut copy = pair.buffer(CL_MEM_READ_WRITE, &mut numbers);
    for round in 0..6_u32 {
        let (here, there) = (&queues[round as usize % 2], &queues[1 - round as usize % 2]);
        let place = round as usize * 100;
        numbers[place] = round + 70_000;
        let gate = Gate::new(&pair);
        // SAFETY: the host memory lives until the last, blocking, call.
        unsafe {
            // Waits for the host, and the other device's copy for it.
            let filled = here
                .enqueue_fill_buffer(&mut buffer, &[round + 70_000], place * 4, 4, &[gate.0])
                .unwrap();
            let copied = there
                .enqueue_copy_buffer(&buffer, &mut copy, 0, 0, numbers.len() * 4, &[filled.get()])
                .unwrap();
            let mut result = vec![0_u32; numbers.len()];
            let came = here
                .enqueue_read_buffer(&copy, CL_NON_BLOCKING, 0, &mut result, &[copied.get()])
                .unwrap();
            gate.set(CL_COMPLETE);
            came.wait().unwrap();
            assert!(result == numbers, "round {round}");
        }
    }
}

/// Each stage waits for both commands of the stage before, on the other device. A queue that was told of an event twice
/// used to ask for each of the next two twice, and so on: this did not come to an end.
#[test]
fn many_stages_go_from_device_to_device() {
    let Some(pair) = pair(0) else { return };
    // Large enough that a queue is told of the one while the other is under way.
    const COUNT: usize = 1 << 18;
    const STAGES: u32 = 256;
    let mut buffers = [(); 4].map(|()| pair.buffer(CL_MEM_READ_WRITE, &mut vec![0; COUNT]));
    let gate = Gate::new(&pair);
    let mut waits = vec![gate.0];
    let mut stages: Vec<[Event; 2]> = Vec::new();
    for stage in 0..STAGES {
        let device = stage as usize % 2;
        let filled = [2 * device, 2 * device + 1].map(|buffer| {
            // SAFETY: within the buffer, and no host memory is involved.
            unsafe {
                pair.queues[device]
                    .enqueue_fill_buffer(&mut buffers[buffer], &[stage], 0, 4 * COUNT, &waits)
                    .unwrap()
            }
        });
        waits = filled.iter().map(Event::get).collect();
        stages.push(filled);
    }
    gate.set(CL_COMPLETE);
    stages
        .iter()
        .flatten()
        .for_each(|event| event.wait().unwrap());
    for (index, buffer) in buffers.iter().enumerate() {
        let last = STAGES - 2 + index as u32 / 2;
        assert!(read(&pair.queues[index / 2], buffer, COUNT, &[]) == vec![last; COUNT]);
    }
}

#[test]
fn what_another_device_failed_to_write_is_not_read() {
    let Some(pair) = pair(0) else { return };
    let mut numbers = vec![1_u32; 64];
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
    let gate = Gate::new(&pair);
    let mut result = vec![7_u32; 64];
    // SAFETY: the host memory lives until the events are done.
    unsafe {
        let filled = pair.queues[0]
            .enqueue_fill_buffer(&mut buffer, &[2_u32], 0, 256, &[gate.0])
            .unwrap();
        let came = pair.queues[1]
            .enqueue_read_buffer(&buffer, CL_NON_BLOCKING, 0, &mut result, &[filled.get()])
            .unwrap();
        gate.set(-77);
        assert!(came.wait().is_err());
    }
    assert_eq!(result, [7; 64]);
}

#[test]
fn a_write_that_failed_leaves_what_another_device_has() {
    let Some(pair) = pair(0) else { return };
    let mut numbers = vec![1_u32; 64];
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
    // SAFETY: within the buffer; the reads are done when they return.
    unsafe {
        pair.queues[1]
            .enqueue_fill_buffer(&mut buffer, &[2_u32], 0, 256, &[])
            .unwrap();
        pair.queues[1].finish().unwrap();
        for size_bytes in [256, 128] {
            let gate = Gate::new(&pair);
            let waits = [gate.0];
            pair.queues[0]
                .enqueue_fill_buffer(&mut buffer, &[3_u32], 0, size_bytes, &waits)
                .unwrap();
            gate.set(-77);
            for queue in pair.queues.iter().rev() {
                let mut result = vec![7_u32; 64];
                queue
                    .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut result, &[])
                    .unwrap();
                assert_eq!(result, [2; 64]);
            }
        }
    }
}

/// Linked for the devices that are asked for, where the inputs have an object.
#[test]
fn a_program_is_linked_for_one_of_the_devices() {
    let Some(pair) = pair(0) else { return };
    let devices = pair.context.devices();
    let source = "kernel void test(global uint *words) { *words = 7; }";
    let mut object = Program::create_from_source(&pair.context, source).unwrap();
    object.compile(&devices[..1], "", &[], &[]).unwrap();
    let link = |list: &[cl_device_id]| {
        let inputs = [object.get()];
        // SAFETY: valid handles.
        unsafe {
            link_program(
                pair.context.get(),
                list,
                c"",
                &inputs,
                None,
                ptr::null_mut(),
            )
        }
    };
    let count = |program| cl_uint::from(get_program_info(program, CL_PROGRAM_NUM_DEVICES).unwrap());
    let all = link(&[]).unwrap();
    assert_eq!(count(all), 2);
    let status = |device| {
        cl_int::from(get_program_build_info(all, device, CL_PROGRAM_BUILD_STATUS).unwrap())
    };
    assert_eq!(status(devices[0]), CL_BUILD_SUCCESS);
    assert_eq!(status(devices[1]), CL_BUILD_NONE);
    let one = link(&devices[..1]).unwrap();
    assert_eq!(count(one), 1);
    assert_eq!(link(&devices[1..]), Err(CL_INVALID_OPERATION));
    for program in [all, one] {
        // SAFETY: linked above, released once.
        unsafe { release_program(program) }.unwrap();
    }
}

/// "Kernel objects are not created for any __kernel functions in program that do not have the same function definition
/// across all devices for which a program executable has been successfully built."
#[test]
fn kernels_that_differ_between_devices_are_left_out() {
    let Some(pair) = pair(0) else { return };
    let devices = pair.context.devices();
    let has_doubles = |id| Device::new(id).double_fp_config().unwrap() != 0;
    if has_doubles(devices[0]) == has_doubles(devices[1]) {
        eprintln!("skipped: the devices are alike");
        return;
    }
    let source = "
        #ifdef cl_khr_fp64
        kernel void differs(global uint *words, uint more) { *words = more; }
        #else
        kernel void differs(global uint *words) { *words = 7; }
        #endif
        kernel void same(global uint *words) { *words = 7; }";
    let program = Program::create_and_build_from_source(&pair.context, source, "").unwrap();
    assert!(Kernel::create(&program, "differs").is_err());
    let made = create_program_kernels(&program).unwrap();
    let names: Vec<_> = made
        .iter()
        .map(|kernel| kernel.function_name().unwrap())
        .collect();
    assert_eq!(names, ["same"]);
}

#[test]
fn sub_buffers_are_written_on_two_devices_at_once() {
    for flags in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let Some(pair) = pair(flags) else { return };
        let mut numbers: Vec<u32> = (0..16_384).collect();
        let buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
        let half = |index: usize| {
            // SAFETY: a region of the buffer.
            unsafe { buffer.create_sub_buffer(CL_MEM_READ_WRITE, index * 8192, 8192) }.unwrap()
        };
        let halves = [half(0), half(1)];
        let kernel = pair.kernel(
            "kernel void test(global uint* numbers, uint add) {
                numbers[get_global_id(0)] += add;
            }",
        );
        for round in 0..4 {
            // Each half goes to the other device every time.
            let done = [0, 1].map(|index| {
                let queue = &pair.queues[(index + round) % 2];
                // SAFETY: the arguments are the kernel's.
                unsafe {
                    ExecuteKernel::new(&kernel)
                        .set_arg(&halves[index])
                        .set_arg(&(100_u32 + index as u32))
                        .set_global_work_size(8192)
                        .enqueue_nd_range(queue)
                }
                .unwrap()
            });
            let expected: Vec<u32> = (0..16_384)
                .map(|number| number + (100 + number / 8192) * (round as u32 + 1))
                .collect();
            let after = [done[0].get(), done[1].get()];
            assert!(read(&pair.queues[0], &buffer, 16_384, &after) == expected);
            assert!(read(&pair.queues[1], &buffer, 16_384, &after) == expected);
        }
    }
}

#[test]
fn a_mapped_region_may_be_unmapped_on_the_other_device() {
    let Some(pair) = pair(0) else { return };
    let kinds = [
        CL_MEM_READ_WRITE,
        CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
        CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
    ];
    for flags in kinds {
        let mut numbers = vec![5_u32; 4096];
        let mut buffer = pair.buffer(flags, &mut numbers);
        // SAFETY: the host memory lives until the last, blocking, call.
        unsafe {
            pair.queues[1]
                .enqueue_fill_buffer(&mut buffer, &[9_u32], 0, 4096 * 4, &[])
                .unwrap()
                .wait()
                .unwrap();
            for (round, how) in [CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION, CL_MAP_WRITE]
                .into_iter()
                .enumerate()
            {
                let [here, there] = [0, 1].map(|other| &pair.queues[(round + other) % 2]);
                let mut mapped: *mut c_void = ptr::null_mut();
                here.enqueue_map_buffer(
                    &buffer,
                    CL_BLOCKING,
                    how | if how == CL_MAP_WRITE { CL_MAP_READ } else { 0 },
                    400,
                    800,
                    &mut mapped,
                    &[],
                )
                .unwrap();
                let view = std::slice::from_raw_parts_mut(mapped.cast::<u32>(), 200);
                if how == CL_MAP_WRITE {
                    let before = if round == 0 {
                        9
                    } else {
                        100 + round as u32 - 1
                    };
                    assert!(view.iter().all(|it| *it == before), "round {round}");
                }
                view.fill(100 + round as u32);
                let unmapped = there
                    .enqueue_unmap_mem_object(buffer.get(), mapped, &[])
                    .unwrap();
                for queue in &pair.queues {
                    let result = read(queue, &buffer, 4096, &[unmapped.get()]);
                    let expected = |index: usize| match index {
                        100..300 => 100 + round as u32,
                        _ => 9,
                    };
                    let right = result
                        .iter()
                        .enumerate()
                        .all(|(index, number)| *number == expected(index));
                    assert!(right, "flags {flags}, round {round}");
                }
            }
        }
    }
}

/// The same for a part of a buffer, where the unmap has to wait.
#[test]
fn a_mapped_sub_buffer_may_be_unmapped_on_the_other_device() {
    let kinds = [0, CL_MEM_ALLOC_HOST_PTR, CL_MEM_USE_HOST_PTR];
    let hows = [
        CL_MAP_WRITE | CL_MAP_READ,
        CL_MAP_WRITE_INVALIDATE_REGION,
        CL_MAP_WRITE,
        CL_MAP_READ,
    ];
    let Some(pair) = pair(0) else { return };
    for kind in kinds {
        let mut numbers = vec![5_u32; 4096];
        let mut whole = pair.buffer(CL_MEM_READ_WRITE | kind, &mut numbers);
        let mut expected = vec![9_u32; 4096];
        // SAFETY: within the buffers; the host memory lives until the last, blocking, call.
        unsafe {
            pair.queues[1]
                .enqueue_fill_buffer(&mut whole, &[9_u32], 0, 4096 * 4, &[])
                .unwrap()
                .wait()
                .unwrap();
            let part = whole.create_sub_buffer(0, 1024, 2048).unwrap();
            for (round, how) in hows.into_iter().chain(hows).enumerate() {
                let [here, there] = [0, 1].map(|other| &pair.queues[(round / 2 + other) % 2]);
                let mut mapped: *mut c_void = ptr::null_mut();
                let queue = here;
                queue
                    .enqueue_map_buffer(&part, CL_BLOCKING, how, 400, 800, &mut mapped, &[])
                    .unwrap();
                if how & CL_MAP_READ != 0 {
                    let view = std::slice::from_raw_parts(mapped.cast::<u32>(), 200);
                    assert_eq!(view, &expected[1124..1324], "{kind}, round {round}");
                }
                if how != CL_MAP_READ {
                    let new = 100 + round as u32;
                    std::slice::from_raw_parts_mut(mapped.cast::<u32>(), 200).fill(new);
                    expected[1124..1324].fill(new);
                }
                let gate = Gate::new(&pair);
                let unmapped = there
                    .enqueue_unmap_mem_object(part.get(), mapped, &[gate.0])
                    .unwrap();
                gate.set(CL_COMPLETE);
                for queue in [here, there] {
                    let result = read(queue, &whole, 4096, &[unmapped.get()]);
                    assert!(result == expected, "{kind}, round {round}");
                }
            }
        }
    }
}

#[test]
fn memory_objects_migrate() {
    let Some(pair) = pair(0) else { return };
    let mut numbers: Vec<u32> = (0..1000).collect();
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
    let mut last: Vec<Event> = Vec::new();
    let flags = [
        0,
        CL_MIGRATE_MEM_OBJECT_HOST,
        0,
        CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
    ];
    for (round, flags) in flags.into_iter().enumerate() {
        let queue = &pair.queues[round % 2];
        let after: Vec<cl_event> = last.iter().map(Event::get).collect();
        let objects: [cl_mem; 1] = [buffer.get()];
        // SAFETY: one memory object.
        let moved = unsafe { queue.enqueue_migrate_mem_object(1, objects.as_ptr(), flags, &after) }
            .unwrap();
        if flags & CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED != 0 {
            // SAFETY: the event is waited for.
            unsafe { queue.enqueue_fill_buffer(&mut buffer, &[3_u32], 0, 4000, &[moved.get()]) }
                .unwrap()
                .wait()
                .unwrap();
            numbers.fill(3);
        }
        assert!(read(queue, &buffer, 1000, &[moved.get()]) == numbers);
        last = vec![moved];
    }
    assert!(read(&pair.queues[0], &buffer, 1000, &[]) == numbers);
}

#[test]
fn an_image_goes_from_device_to_device() {
    let Some(pair) = pair(0) else { return };
    let format = cl_image_format {
        image_channel_order: CL_RGBA,
        image_channel_data_type: CL_UNORM_INT8,
    };
    let desc = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: 40,
        image_height: 30,
        image_depth: 1,
        image_array_size: 1,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    let mut texels: Vec<u8> = (0..40 * 30 * 4).map(|index| (index % 251) as u8).collect();
    // SAFETY: as many bytes as the image has.
    let mut image = unsafe {
        Image::create(
            &pair.context,
            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
            &format,
            &desc,
            texels.as_mut_ptr().cast(),
        )
    }
    .unwrap();
    let mut out = pair.buffer(CL_MEM_READ_WRITE, &mut vec![0; 40 * 30]);
    let kernel = pair.kernel(
        "kernel void test(read_only image2d_t image, global uchar4* out) {
            int2 at = (int2)(get_global_id(0), get_global_id(1));
            out[at.y * 40 + at.x] = convert_uchar4_sat_rte(read_imagef(image, at) * 255.0f);
        }",
    );
    for round in 0..3_usize {
        let [here, there] = [0, 1].map(|other| &pair.queues[(round + other) % 2]);
        let row = vec![round as u8 + 200; 40 * 4];
        texels[round * 160..][..160].copy_from_slice(&row);
        let mut result = vec![0_u8; texels.len()];
        // SAFETY: the host memory lives until the last, blocking, call; the arguments are the kernel's.
        unsafe {
            let written = here
                .enqueue_write_image(
                    &mut image,
                    CL_NON_BLOCKING,
                    [0, round, 0].as_ptr(),
                    [40, 1, 1].as_ptr(),
                    0,
                    0,
                    row.as_ptr().cast_mut().cast(),
                    &[],
                )
                .unwrap();
            let ran = ExecuteKernel::new(&kernel)
                .set_arg(&image)
                .set_arg(&out)
                .set_global_work_sizes(&[40, 30])
                .set_wait_event(&written)
                .enqueue_nd_range(there)
                .unwrap();
            let numbers = read(here, &out, 40 * 30, &[ran.get()]);
            let bytes: Vec<u8> = numbers.iter().flat_map(|it| it.to_le_bytes()).collect();
            assert!(bytes == texels, "round {round}");
            here.enqueue_fill_buffer(&mut out, &[0_u32], 0, 4800, &[])
                .unwrap();
            there
                .enqueue_read_image(
                    &image,
                    CL_BLOCKING,
                    [0; 3].as_ptr(),
                    [40, 30, 1].as_ptr(),
                    0,
                    0,
                    result.as_mut_ptr().cast(),
                    &[written.get()],
                )
                .unwrap();
            here.finish().unwrap();
        }
        assert!(result == texels, "round {round}");
    }
}

/// Commands on both devices, each after the one before, thousands of them, from several threads.
#[test]
fn a_chain_of_commands_crosses_devices() {
    const LINKS: u32 = 200;
    let Some(pair) = pair(0) else { return };
    let kernel = pair.kernel(
        "kernel void test(global uint* numbers) {
            size_t i = get_global_id(0);
            numbers[i] = numbers[i] * 3 + i;
        }",
    );
    let buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut [1; 300]);
    let mut last: Option<Event> = None;
    for link in 0..LINKS {
        let queue = &pair.queues[link as usize % 2];
        let mut launch = ExecuteKernel::new(&kernel);
        // SAFETY: the argument is the kernel's.
        unsafe { launch.set_arg(&buffer) };
        launch.set_global_work_size(300);
        if let Some(last) = &last {
            launch.set_wait_event(last);
        }
        // SAFETY: as above.
        last = Some(unsafe { launch.enqueue_nd_range(queue) }.unwrap());
    }
    let mut expected = vec![1_u32; 300];
    for _ in 0..LINKS {
        for (index, number) in expected.iter_mut().enumerate() {
            *number = number.wrapping_mul(3).wrapping_add(index as u32);
        }
    }
    let last = last.unwrap();
    assert!(read(&pair.queues[0], &buffer, 300, &[last.get()]) == expected);
}

#[test]
fn destructor_callbacks_come_once_after_the_last_command() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    extern "C" fn destroyed(_: cl_mem, _: *mut c_void) {
        CALLS.fetch_add(1, Ordering::SeqCst);
    }
    let Some(pair) = pair(0) else { return };
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE, &mut [0; 64]);
    // SAFETY: a function for that.
    unsafe { set_mem_object_destructor_callback(buffer.get(), destroyed, ptr::null_mut()) }
        .unwrap();
    // SAFETY: nothing of the host's.
    let filled = pair.queues.each_ref().map(|queue| unsafe {
        queue
            .enqueue_fill_buffer(&mut buffer, &[1_u32], 0, 256, &[])
            .unwrap()
    });
    filled[0].wait().unwrap();
    let gate = Gate::new(&pair);
    // SAFETY: as above.
    let held = unsafe {
        pair.queues[0].enqueue_fill_buffer(
            &mut buffer,
            &[1_u32],
            0,
            256,
            &[gate.0, filled[1].get()],
        )
    }
    .unwrap();
    drop(buffer);
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    gate.set(CL_COMPLETE);
    held.wait().unwrap();
    drop((held, filled));
    drop(pair);
    for _ in 0..500 {
        if CALLS.load(Ordering::SeqCst) == 1 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} calls", CALLS.load(Ordering::SeqCst));
}
