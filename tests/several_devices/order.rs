//! Whose contents are the latest, whatever the order of the calls, whichever threads make them and whatever fails.

use super::{Gate, event, pair, read};
use opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
use opencl3::event::{CL_COMPLETE, create_user_event, set_user_event_status};
use opencl3::kernel::ExecuteKernel;
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem, retain_mem_object};
use opencl3::types::{CL_NON_BLOCKING, cl_event};
use std::sync::Barrier;

/// An application may have the command that it enqueued first run last, by an event of its own: then that one comes
/// after, wherever they run.
#[test]
fn contents_follow_the_order_of_execution() {
    for flags in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let Some(pair) = pair(flags) else { return };
        let mut numbers = vec![1_u32; 64];
        let mut buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
        for round in 1..5_u32 {
            let [here, there] = [0, 1].map(|it| &pair.queues[(round as usize + it) % 2]);
            let gate = Gate::new(&pair);
            let mut result = vec![0_u32; 64];
            // SAFETY: within the buffer; the host memory lives until the events are done.
            unsafe {
                let came = here
                    .enqueue_read_buffer(&buffer, CL_NON_BLOCKING, 0, &mut result, &[gate.0])
                    .unwrap();
                let half = here
                    .enqueue_fill_buffer(&mut buffer, &[round * 10 + 1], 0, 128, &[came.get()])
                    .unwrap();
                here.flush().unwrap();
                there
                    .enqueue_fill_buffer(&mut buffer, &[round * 10], 0, 256, &[])
                    .unwrap()
                    .wait()
                    .unwrap();
                gate.set(CL_COMPLETE);
                half.wait().unwrap();
            }
            assert_eq!(result, [round * 10; 64], "round {round}");
            for queue in &pair.queues {
                let result = read(queue, &buffer, 64, &[]);
                assert_eq!(result[..32], [round * 10 + 1; 32], "round {round}");
                assert_eq!(result[32..], [round * 10; 32], "round {round}");
            }
        }
    }
}

/// Kernels that may write but don't need no order, on whatever devices: both see what there was before.
#[test]
fn what_only_might_have_been_written_is_shared() {
    let Some(pair) = pair(0) else { return };
    let kernel = pair.kernel(
        "kernel void test(global uint* numbers, global uint* result, uint write) {
            size_t i = get_global_id(0);
            if (write) numbers[i] = 7; else result[i] = numbers[i];
        }",
    );
    let mut numbers: Vec<u32> = (100..164).collect();
    let buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
    let results = [(); 2].map(|()| pair.buffer(CL_MEM_READ_WRITE, &mut [0; 64]));
    let gate = Gate::new(&pair);
    let run = |index: usize, waits: &[cl_event]| {
        let mut launch = ExecuteKernel::new(&kernel);
        // SAFETY: the arguments are the kernel's.
        unsafe {
            launch
                .set_arg(&buffer)
                .set_arg(&results[index])
                .set_arg(&0_u32)
                .set_global_work_size(64);
            for wait in waits {
                launch.set_event_wait_list(&[*wait]);
            }
            launch.enqueue_nd_range(&pair.queues[index])
        }
        .unwrap()
    };
    let first = run(0, &[gate.0]);
    run(1, &[]).wait().unwrap();
    gate.set(CL_COMPLETE);
    first.wait().unwrap();
    for (queue, result) in pair.queues.iter().zip(&results) {
        assert_eq!(read(queue, result, 64, &[]), numbers);
        assert_eq!(read(queue, &buffer, 64, &[]), numbers);
    }
}

/// A command whose wait list has failed already writes nothing.
#[test]
fn a_write_that_can_only_fail_leaves_what_another_device_has() {
    let Some(pair) = pair(0) else { return };
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE, &mut [0; 64]);
    let failed = create_user_event(pair.context.get()).unwrap();
    set_user_event_status(failed, -77).unwrap();
    // SAFETY: within the buffer; the event is ours, given back once.
    unsafe {
        pair.queues[1]
            .enqueue_fill_buffer(&mut buffer, &[2_u32], 0, 256, &[])
            .unwrap()
            .wait()
            .unwrap();
        let filled = pair.queues[0].enqueue_fill_buffer(&mut buffer, &[3_u32], 0, 256, &[failed]);
        assert!(filled.is_err() || filled.unwrap().wait().is_err());
        drop(event(failed));
    }
    for queue in &pair.queues {
        assert_eq!(read(queue, &buffer, 64, &[]), [2; 64]);
    }
}

/// Two commands that both wait for one that fails, the second for the first as well: what there was stays.
#[test]
fn writes_that_fail_one_after_the_other_leave_what_there_was() {
    let Some(pair) = pair(0) else { return };
    let mut numbers = vec![5_u32; 64];
    let mut buffer = pair.buffer(CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, &mut numbers);
    let gate = Gate::new(&pair);
    // SAFETY: within the buffer.
    unsafe {
        let first = pair.queues[0]
            .enqueue_fill_buffer(&mut buffer, &[6_u32], 0, 256, &[gate.0])
            .unwrap();
        let second = pair.queues[1]
            .enqueue_fill_buffer(&mut buffer, &[7_u32], 0, 128, &[first.get()])
            .unwrap();
        gate.set(-77);
        assert!(first.wait().is_err() && second.wait().is_err());
    }
    for queue in &pair.queues {
        assert_eq!(read(queue, &buffer, 64, &[]), [5; 64]);
    }
}

/// Threads that enqueue on one queue, in order: each of their commands comes before or after the other's, with all
/// that it needs, which another device has.
#[test]
fn threads_of_one_queue_lose_nothing_of_another_device() {
    let Some(pair) = pair(0) else { return };
    const COUNT: usize = 256;
    let buffer = pair.buffer(CL_MEM_READ_WRITE, &mut [0; COUNT]);
    let copy = pair.buffer(CL_MEM_READ_WRITE, &mut [0; COUNT]);
    let again = |buffer: &Buffer<u32>| {
        // SAFETY: the buffer lives as long.
        unsafe { retain_mem_object(buffer.get()) }.unwrap();
        Buffer::<u32>::new(buffer.get())
    };
    let [here, there] = &pair.queues;
    let start = Barrier::new(2);
    let rounds = 400;
    let mut wrong = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = again(&buffer);
            for round in 0..rounds {
                start.wait();
                // SAFETY: within the buffer.
                unsafe {
                    here.enqueue_fill_buffer(&mut buffer, &[round * 2 + 1], 0, COUNT * 4, &[])
                }
                .unwrap();
                start.wait();
            }
        });
        let (mut buffer, mut copy) = (again(&buffer), again(&copy));
        for round in 0..rounds {
            let size_bytes = COUNT * 4;
            // SAFETY: within the buffers.
            unsafe {
                there
                    .enqueue_fill_buffer(&mut buffer, &[round * 2], 0, size_bytes, &[])
                    .unwrap()
                    .wait()
                    .unwrap();
                start.wait();
                here.enqueue_copy_buffer(&buffer, &mut copy, 0, 0, size_bytes, &[])
                    .unwrap();
            }
            start.wait();
            let copied = read(here, &copy, COUNT, &[]);
            let is_one = copied == [round * 2; COUNT] || copied == [round * 2 + 1; COUNT];
            wrong += u32::from(!is_one);
            let left = read(there, &buffer, COUNT, &[]);
            wrong += u32::from(left != [round * 2 + 1; COUNT]);
        }
    });
    assert_eq!(wrong, 0);
}
