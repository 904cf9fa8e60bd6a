//! Transfers between the host and memory objects.
//!
//! Where the host sees an allocation and nothing under way uses it, the host copies at once. Otherwise the device copies
//! in its place among the queue's commands: from or to the host's memory itself where that is mapped from another memory
//! object ([`pinned_transfer`]), else by way of staging memory.

pub mod host_access;
pub mod map;
mod pending_host_writes;
pub mod pieces;
pub mod pinned_transfer;
pub mod shared_commands;
pub mod using;

use super::allocation::Allocation;
use super::command::device_command::DeviceCommand;
use super::command::{Command, Ordering};
use super::event::waits::Waits;
use super::event::{Event, Stage, WaitList};
use super::host_memory::layout::{Layout, Shape};
use super::host_memory::pointer::HostPointer;
use super::memory::Memory;
use super::object::error::Result;
use super::queue::Queue;
use super::queue::blocking::{finish_blocking, wait_for_all};
use super::queue::complete_all;
use super::queue::enqueue_lock::EnqueueLock;
use super::residency::backing::MemoryAccess;
use super::residency::storage::Place;
use crate::runtime::queue::bring::bring;
use crate::runtime::transfer::host_access::{read_on_host, write_on_host};
use crate::runtime::transfer::pieces::{in_pieces, place_for_pieces};
use crate::runtime::transfer::pinned_transfer::{read_to_pinned, write_from_pinned};
use opencl_sys::{CL_COMPLETE, cl_command_type};
use pending_host_writes::By;
use std::sync::Arc;

/// What the device copies itself is under way at once from so many bytes on.
const LARGE_BYTES: usize = 256 << 10;

impl Place {
    /// Where a rectangle of the memory object lies in the allocation.
    pub fn layout(&self, layout: Layout) -> Layout {
        Layout {
            offset_bytes: layout.offset_bytes + self.offset_bytes,
            ..layout
        }
    }
}

/// [`enqueue_read`] from a memory object, wherever its contents are.
///
/// # Errors
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE`, and as [`enqueue_read`].
pub fn read_memory(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    source: &Arc<Memory>,
    shape: Shape,
    target: HostPointer,
    blocking: bool,
    mut wait_list: WaitList,
) -> Result<Arc<Event>> {
    if source.migrates() {
        let used = MemoryAccess::read(source.backing(), shape.source, shape.extent);
        bring(queue, [&used], &mut wait_list)?;
    }
    let source = source.place(queue.context_device())?;
    enqueue_read(queue, kind, &source, shape, target, blocking, &wait_list)
}

/// [`enqueue_write`] to a memory object, wherever its contents are.
///
/// # Errors
/// `CL_MEM_OBJECT_ALLOCATION_FAILURE`, and as [`enqueue_write`].
#[allow(clippy::too_many_arguments)]
pub fn write_memory(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    target: &Arc<Memory>,
    shape: Shape,
    source: HostPointer,
    blocking: bool,
    mut wait_list: WaitList,
) -> Result<Arc<Event>> {
    if !target.migrates() {
        let target = target.place(queue.context_device())?;
        return enqueue_write(queue, kind, &target, shape, source, blocking, &wait_list);
    }
    if blocking {
        wait_for_all(&wait_list)?;
    }
    let lock = EnqueueLock::take([queue]);
    let used = MemoryAccess::write(target.backing(), shape.target, shape.extent);
    bring(queue, [&used], &mut wait_list)?;
    let target = target.place(queue.context_device())?;
    let event = enqueue_write(queue, kind, &target, shape, source, false, &wait_list)?;
    // Others may have to enqueue what this comes after.
    drop(lock);
    if blocking {
        finish_blocking(&event)?;
    }
    Ok(event)
}

/// Device to host. `shape.source` counts from the memory object's first byte, `shape.target` from
/// `target`. A blocking call returns when the data is there.
///
/// # Errors
/// Those of [`Queue::enqueue`]; of a blocking call also `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`.
pub fn enqueue_read(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    source: &Place,
    shape: Shape,
    target: HostPointer,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let shape = Shape {
        source: source.layout(shape.source),
        ..shape
    };
    if blocking {
        wait_for_all(wait_list)?;
    }
    if shape.extent.size_bytes() == 0 {
        return enqueue_nothing(queue, kind, blocking, wait_list);
    }
    let allocation = &source.allocation;
    let read = read_on_host(queue, kind, allocation, &shape, target, blocking, wait_list)?;
    if let Some(event) = read {
        return Ok(event);
    }
    if let Some(command) = read_to_pinned(queue, allocation, &shape, target) {
        let event = enqueue_pinned(queue, kind, command, &shape, Waits::on(wait_list))?;
        if blocking {
            finish_blocking(&event)?
        } else {
            pending_host_writes::add(target, &shape, &event, By::Device)
        }
        return Ok(event);
    }
    let command = |shape| Command::Read {
        source: Arc::clone(&source.allocation),
        target,
        shape,
    };
    let waits = Waits::on(wait_list);
    let event = match place_for_pieces(queue, &shape, &waits, blocking)? {
        Some(place) => in_pieces(queue, kind, shape, command, waits, blocking, place)?,
        None => queue.enqueue(kind, command(shape), waits, Ordering::default())?,
    };
    if blocking {
        finish_blocking(&event)?;
    } else {
        pending_host_writes::add(target, &shape, &event, By::Host);
    }
    Ok(event)
}

/// Host to device, the other way round. "If blocking_write is CL_TRUE, the write command is blocking and does not return
/// until the command is complete, including transfer of the data."
///
/// # Errors
/// Those of [`enqueue_read`].
#[allow(clippy::too_many_arguments)]
pub fn enqueue_write(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    target: &Place,
    shape: Shape,
    source: HostPointer,
    blocking: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let shape = Shape {
        target: target.layout(shape.target),
        ..shape
    };
    if blocking {
        wait_for_all(wait_list)?;
    }
    if shape.extent.size_bytes() == 0 {
        return enqueue_nothing(queue, kind, blocking, wait_list);
    }
    let mut waits = Waits::on(wait_list);
    waits.done = pending_host_writes::overlapping(source, &shape);
    let allocation = &target.allocation;
    let written = write_on_host(queue, kind, allocation, &shape, source, blocking, &waits)?;
    if let Some(event) = written {
        return Ok(event);
    }
    if let Some(command) = write_from_pinned(queue, allocation, &shape, source) {
        waits.done = pending_host_writes::overlapping_by(By::Host, source, &shape);
        let event = enqueue_pinned(queue, kind, command, &shape, waits)?;
        if blocking {
            finish_blocking(&event)?;
        }
        return Ok(event);
    }
    let command = |shape| Command::Write {
        source,
        target: Arc::clone(&target.allocation),
        shape,
    };
    if let Some(place) = place_for_pieces(queue, &shape, &waits, blocking)? {
        return in_pieces(queue, kind, shape, command, waits, blocking, place);
    }
    let event = queue.enqueue(kind, command(shape), waits, Ordering::default())?;
    if blocking {
        finish_blocking(&event)?;
    }
    Ok(event)
}

/// A transfer that the device makes without the host; a large one is under way at once.
fn enqueue_pinned(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    command: DeviceCommand,
    shape: &Shape,
    waits: Waits,
) -> Result<Arc<Event>> {
    let event = queue.enqueue(kind, command, waits, Ordering::default())?;
    if shape.extent.size_bytes() >= LARGE_BYTES {
        queue.flush();
    }
    Ok(event)
}

/// A transfer of no bytes keeps its place in the order.
fn enqueue_nothing(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    until_done: bool,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let waits = Waits::on(wait_list);
    let event = queue.enqueue(kind, Command::NOTHING, waits, Ordering::default())?;
    if until_done {
        finish_blocking(&event)?;
    }
    Ok(event)
}

/// Whether the wait list is done and, as far as a look without the queue's lock can tell, nothing under
/// way uses the allocation.
pub(super) fn host_may_touch(
    queue: &Arc<Queue>,
    allocation: &Allocation,
    wait_list: &[Arc<Event>],
) -> bool {
    if !allocation.is_idle() || queue.is_in_order() {
        complete_all(queue);
    }
    allocation.is_idle()
        && wait_list
            .iter()
            .all(|event| event.stage() == Stage::Done(CL_COMPLETE))
}
