//! What is in the `VkCommandBuffer` of a finalized command buffer.

use super::{CommandBuffer, MOST_ACCESSES, NewCommand, Origin};
use crate::runtime::allocation::{Access, Allocation};
use crate::runtime::command::Ordering;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::hazard::ALL_BYTES;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::event::DeferredWork;
use crate::runtime::event::waits::Waits;
use crate::runtime::host_memory::layout::Shape;
use crate::runtime::memory::Memory;
use crate::runtime::queue::{Queue, complete_all};
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::residency::contents::AccessMode;
use crate::runtime::test_queue;
use crate::vulkan::MemoryKind;
use opencl_sys::{CL_COMMAND_MARKER, CL_MEM_READ_WRITE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

const BYTES: u64 = 1024;

fn allocations<const N: usize>(queue: &Queue) -> [Arc<Allocation>; N] {
    std::array::from_fn(|_| Allocation::new(queue.vulkan(), BYTES, MemoryKind::Readback).unwrap())
}

fn fill(target: &Arc<Allocation>, value: u8) -> DeviceCommand {
    DeviceCommand::Fill {
        target: Arc::clone(target),
        offset_bytes: 0,
        size_bytes: BYTES,
        pattern: SmallVec::from_slice(&[value]),
    }
}

fn copy(source: &Arc<Allocation>, target: &Arc<Allocation>) -> DeviceCommand {
    DeviceCommand::Copy {
        source: Arc::clone(source),
        target: Arc::clone(target),
        shape: Shape::linear(0, 0, BYTES as usize),
    }
}

fn add(buffer: &CommandBuffer, command: DeviceCommand, wait_list: &[u32]) -> u32 {
    let new = NewCommand {
        wait_list,
        ..NewCommand::new(command, Origin::Addresses)
    };
    buffer.add(new).unwrap()
}

/// The barriers between the commands of a finalized command buffer.
fn barriers(buffer: &CommandBuffer) -> u32 {
    let state = buffer.lock();
    // Every recording here has one towards the host, and on some devices one before all.
    let first = u32::from(!buffer.queues()[0].vulkan().shows_finished_work());
    state.versions.current().unwrap().barriers() - 1 - first
}

fn first_byte(allocation: &Allocation) -> u8 {
    // SAFETY: mapped memory of an idle allocation.
    unsafe { allocation.mapped().unwrap().as_ptr().read() }
}

/// The barriers of the batch that was submitted last.
fn barriers_of_batch(queue: &Queue) -> u32 {
    queue.lock().last_submitted().unwrap().barriers_of_parts()
}

#[test]
fn an_execution_comes_after_what_is_under_way_and_needs_no_barrier_after_nothing() {
    let Some(queue) = test_queue::new(0) else {
        return;
    };
    let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
    let [target] = allocations(&queue);
    add(&buffer, fill(&target, 1), &[]);
    buffer.finalize().unwrap();
    let own = buffer.lock().versions.current().unwrap().barriers();
    // The recording has the one before all, or the batch, if it needs one.
    let shows = queue.vulkan().shows_finished_work();
    let before_all = u32::from(shows);
    let enqueue = || {
        buffer
            .enqueue(&[], &mut Waits::default(), false)
            .map(drop)
            .unwrap();
        queue.flush();
        barriers_of_batch(&queue)
    };
    assert_eq!(enqueue(), own);
    assert_eq!(enqueue(), own + before_all);
    queue.finish().unwrap();
    complete_all(&queue);
    assert_eq!(enqueue(), own, "all is done");
    queue.finish().unwrap();
    complete_all(&queue);
    let (kernel, order) = (DeviceCommand::Launch(Box::default()), Ordering::default());
    queue
        .enqueue_if(
            false,
            CL_COMMAND_MARKER,
            &mut kernel.into(),
            Waits::default(),
            order,
        )
        .unwrap();
    // That of the first part: at its beginning, or at its end.
    assert_eq!(enqueue(), own + 1);
    queue.finish().unwrap();
}

#[test]
fn a_wide_graph_gets_one_barrier_a_level() {
    let Some(queue) = test_queue::new(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) else {
        return;
    };
    let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
    let sources = allocations::<8>(&queue);
    let targets = allocations::<8>(&queue);
    for (source, target) in sources.iter().zip(&targets) {
        let filled = add(&buffer, fill(source, 7), &[]);
        add(&buffer, copy(source, target), &[filled]);
    }
    buffer.finalize().unwrap();
    assert_eq!(barriers(&buffer), 1);
    let event = buffer
        .enqueue(&[], &mut Waits::default(), true)
        .unwrap()
        .unwrap();
    assert!(!targets[0].is_idle(), "it is pending");
    assert_eq!(event.wait(), 0);
    assert!(targets.iter().all(|target| target.is_idle()));
    assert!(targets.iter().all(|target| first_byte(target) == 7));
}

#[test]
fn an_in_order_queue_gets_barriers_only_where_memory_meets() {
    let Some(queue) = test_queue::new(0) else {
        return;
    };
    let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
    let all = allocations::<6>(&queue);
    for allocation in &all[1..] {
        add(&buffer, fill(allocation, 1), &[]);
    }
    add(&buffer, fill(&all[0], 5), &[]);
    for pair in all.windows(2) {
        add(&buffer, copy(&pair[0], &pair[1]), &[]);
    }
    buffer.finalize().unwrap();
    // The fills run together; each copy reads what the one before wrote.
    assert_eq!(barriers(&buffer), 5);
    let event = buffer
        .enqueue(&[], &mut Waits::default(), true)
        .unwrap()
        .unwrap();
    assert_eq!(event.wait(), 0);
    assert!(all.iter().all(|allocation| first_byte(allocation) == 5));
}

#[test]
fn independent_commands_get_no_barrier() {
    for flags in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let Some(queue) = test_queue::new(flags) else {
            return;
        };
        let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
        for target in &allocations::<16>(&queue) {
            add(&buffer, fill(target, 1), &[]);
        }
        buffer.finalize().unwrap();
        assert_eq!(barriers(&buffer), 0);
    }
}

/// A launch of no work-group, which touches these bytes all the same.
fn launch(target: &Arc<Allocation>, bytes: Range<u64>) -> DeviceCommand {
    let access = Access {
        allocation: Arc::clone(target),
        bytes,
        write: true,
    };
    DeviceCommand::Launch(Box::new(PreparedLaunch {
        accesses: smallvec::smallvec![access],
        ..PreparedLaunch::default()
    }))
}

#[test]
fn parts_of_a_buffer_are_written_without_a_barrier_between_them() {
    let Some(queue) = test_queue::new(0) else {
        return;
    };
    let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
    let [target] = allocations::<1>(&queue);
    for part in 0..8 {
        add(&buffer, launch(&target, part * 128..part * 128 + 128), &[]);
    }
    // Meets two of them.
    add(&buffer, launch(&target, 64..192), &[]);
    buffer.finalize().unwrap();
    assert_eq!(barriers(&buffer), 1);
}

#[test]
fn an_update_that_meets_others_in_memory_is_put_in_order() {
    let Some(queue) = test_queue::new(0) else {
        return;
    };
    let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
    let [one, other] = allocations::<2>(&queue);
    add(&buffer, fill(&one, 1), &[]);
    add(&buffer, launch(&other, ALL_BYTES), &[]);
    buffer.finalize().unwrap();
    // As long as they are apart they run together, updatable or not.
    assert_eq!(barriers(&buffer), 0);
    assert!(update(&buffer, 1, &one));
    assert_eq!(barriers(&buffer), 1);
    // Back and forth: it is in order for both already.
    assert!(!update(&buffer, 1, &other));
    assert!(!update(&buffer, 1, &one));
    assert_eq!(barriers(&buffer), 1);
}

/// The command of that number becomes a launch that touches `target`; whether that is more than before.
fn update(buffer: &CommandBuffer, number: usize, target: &Arc<Allocation>) -> bool {
    let mut deferred = DeferredWork::default();
    let mut state = buffer.lock();
    state.nodes[number].command = launch(target, ALL_BYTES);
    let more = state.nodes[number].note_accesses();
    let followed = buffer.follow(&mut state, &[number], more, &mut deferred);
    followed.unwrap();
    drop(state);
    deferred.run();
    more
}

#[test]
fn what_was_touched_long_ago_orders_nothing() {
    let Some(queue) = test_queue::new(0) else {
        return;
    };
    let buffer = CommandBuffer::new(vec![Arc::clone(&queue)], None, 0);
    let [one, other] = allocations::<2>(&queue);
    add(&buffer, fill(&one, 1), &[]);
    add(&buffer, launch(&other, ALL_BYTES), &[]);
    buffer.finalize().unwrap();
    update(&buffer, 1, &one);
    assert_eq!(barriers(&buffer), 1);
    let many = allocations::<100>(&queue);
    for target in &many {
        update(&buffer, 1, target);
        assert!(buffer.lock().nodes[1].accesses.len() <= MOST_ACCESSES);
    }
    assert_eq!(barriers(&buffer), 0);
    assert!(update(&buffer, 1, &one));
    assert_eq!(barriers(&buffer), 1);
}

#[test]
fn a_copy_has_the_order_of_the_original_on_any_queue() {
    let Some(in_order) = test_queue::new(0) else {
        return;
    };
    let context = in_order.context();
    let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let unordered = test_queue::another(&in_order, flags);
    let memories = [(); 2].map(|()| {
        // SAFETY: no host pointer.
        unsafe { Memory::buffer(context, CL_MEM_READ_WRITE, BYTES as usize, None, Vec::new()) }
            .unwrap()
    });
    for (queue, other, expected) in [(&in_order, &unordered, 1), (&unordered, &in_order, 0)] {
        let buffer = CommandBuffer::new(vec![Arc::clone(queue)], None, 0);
        let [source, target] = memories
            .each_ref()
            .map(|memory| memory.place(queue.context_device()).unwrap().allocation);
        let [from, to] = memories.each_ref().map(|memory| {
            (
                Arc::clone(memory),
                MemoryAccess::whole(memory.backing(), AccessMode::Modify),
            )
        });
        let add = |command, uses| {
            let new = NewCommand::new(command, Origin::Memories(uses));
            buffer.add(new).unwrap()
        };
        add(fill(&source, 1), vec![from.clone()]);
        add(copy(&source, &target), vec![from, to]);
        buffer.finalize().unwrap();
        assert_eq!(barriers(&buffer), expected);
        let remapped = |buffer: &CommandBuffer, queue| {
            buffer.remapped(vec![Arc::clone(queue)], |_| 0, |_, _| Ok(()))
        };
        let (copied, _) = remapped(&buffer, other).unwrap();
        assert_eq!(barriers(&copied), expected);
        let (again, _) = remapped(&copied, queue).unwrap();
        assert_eq!(barriers(&again), expected);
    }
}
