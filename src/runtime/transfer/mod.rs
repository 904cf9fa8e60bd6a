//! Transfers between the host and memory objects.
//!
//! Where the host sees an allocation and nothing under way uses it, the host copies at once. Otherwise the device copies
//! in its place among the queue's commands: from or to the host's memory itself where that is mapped from another memory
//! object ([`pinned_transfer`]), else by way of staging memory.

pub mod host_access;
pub mod pieces;
pub mod pinned_transfer;
pub mod shared_commands;
pub mod using;

use super::allocation::Allocation;
use super::allocation::upload;
use super::command::host_job::HostJob;
use super::command::{Command, Ordering};
use super::event::waits::Waits;
use super::event::{Event, Stage, WaitList};
use super::host_memory::layout::{Extent, Layout, Shape};
use super::host_memory::pointer::HostPointer;
use super::memory::Memory;
use super::object::error::{Error, Result};
use super::queue::Queue;
use super::queue::blocking::{finish_blocking, wait_for_all};
use super::queue::complete_all;
use super::queue::enqueue_lock::EnqueueLock;
use super::residency::backing::Use;
use super::residency::mapping::{Mapping, MappingWay};
use super::residency::residence::Mode;
use super::residency::storage::Place;
use crate::runtime::queue::bring::bring;
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::runtime::transfer::host_access::{read_on_host, write_on_host};
use crate::runtime::transfer::pieces::{in_pieces, place_for_pieces};
use crate::runtime::transfer::pinned_transfer::{read_to_pinned, write_from_pinned};
use opencl_sys::{
    CL_COMMAND_MAP_BUFFER, CL_COMMAND_UNMAP_MEM_OBJECT, CL_COMPLETE, CL_MAP_WRITE,
    CL_MAP_WRITE_INVALIDATE_REGION, cl_command_type, cl_map_flags,
};
use pending_host_writes::By;
use std::sync::atomic::{AtomicUsize, Ordering as Atomic};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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
    if source.travels() {
        let used = Use::read(source.backing(), shape.source, shape.extent);
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
    if !target.travels() {
        let target = target.place(queue.context_device())?;
        return enqueue_write(queue, kind, &target, shape, source, blocking, &wait_list);
    }
    if blocking {
        wait_for_all(&wait_list)?;
    }
    let turn = EnqueueLock::take([queue]);
    let used = Use::write(target.backing(), shape.target, shape.extent);
    bring(queue, [&used], &mut wait_list)?;
    let target = target.place(queue.context_device())?;
    let event = enqueue_write(queue, kind, &target, shape, source, false, &wait_list)?;
    // Others may have to enqueue what this comes after.
    drop(turn);
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
/// As [`enqueue_read`].
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
    command: Command,
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
    let event = queue.enqueue(kind, Command::Nothing, waits, Ordering::default())?;
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

/// `clEnqueueMapBuffer`: where the host sees the region, once the event is done.
#[allow(clippy::too_many_arguments)]
pub fn enqueue_map(
    queue: &Arc<Queue>,
    memory: &Arc<Memory>,
    flags: cl_map_flags,
    offset_bytes: usize,
    size_bytes: usize,
    blocking: bool,
    wait_list: WaitList,
) -> Result<(HostPointer, Arc<Event>)> {
    let Shape { extent, source, .. } = Shape::linear(offset_bytes, 0, size_bytes);
    let kind = CL_COMMAND_MAP_BUFFER;
    enqueue_map_region(
        queue, kind, memory, flags, extent, source, blocking, wait_list,
    )
}

/// Where the host sees a region of rows, with the pitches of `layout`, once the event is done.
#[allow(clippy::too_many_arguments)]
pub fn enqueue_map_region(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    memory: &Arc<Memory>,
    flags: cl_map_flags,
    extent: Extent,
    layout: Layout,
    blocking: bool,
    mut wait_list: WaitList,
) -> Result<(HostPointer, Arc<Event>)> {
    let offset_bytes = layout.offset_bytes;
    let size_bytes = layout.end_bytes(extent) - offset_bytes;
    let overwrites = flags & CL_MAP_WRITE_INVALIDATE_REGION != 0;
    let takes_turn = overwrites && memory.travels();
    if takes_turn && blocking {
        wait_for_all(&wait_list)?;
    }
    let turn = takes_turn.then(|| EnqueueLock::take([queue]));
    if memory.travels() {
        let used = if overwrites {
            Use::write(memory.backing(), layout, extent)
        } else {
            Use {
                mode: Mode::of(flags & CL_MAP_WRITE != 0),
                ..Use::read(memory.backing(), layout, extent)
            }
        };
        bring(queue, [&used], &mut wait_list)?;
    }
    let wait_list = &*wait_list;
    let place = memory.place(queue.context_device())?;
    let (pointer, way) =
        memory.mapping_way(queue.context_device(), &place, offset_bytes, size_bytes)?;
    let shape = Shape {
        extent,
        source: place.layout(layout),
        target: Layout {
            offset_bytes: 0,
            ..layout
        },
    };
    let source = Arc::clone(&place.allocation);
    let needs_contents = !overwrites;
    let command = match &way {
        MappingWay::Staged(staging) if needs_contents => Command::Copy {
            source,
            target: Arc::clone(staging),
            shape: Shape {
                target: Layout {
                    offset_bytes: offset_in(staging, pointer),
                    ..layout
                },
                ..shape
            },
        },
        MappingWay::HostPointer if needs_contents => Command::Read {
            source,
            target: pointer,
            shape,
        },
        _ => Command::Nothing,
    };
    if blocking && !takes_turn {
        wait_for_all(wait_list)?;
    }
    memory.add_mapping(Mapping {
        pointer,
        extent,
        layout,
        flags,
        way: way.clone(),
        device: queue.context_device().index(),
        place: place.clone(),
    })?;
    // From here on a failure takes it out again.
    let unmapped = |error| {
        if let Some(mapping) = memory.take_mapping(pointer) {
            memory.end_mapping(&mapping);
        }
        error
    };
    let read = match &way {
        // Where the application sees the region a transfer of before may be under way.
        MappingWay::Staged(staging) if needs_contents && blocking && queue.is_in_order() => {
            complete_all(queue);
            if staging.is_idle() {
                read_on_host(
                    queue,
                    kind,
                    &place.allocation,
                    &shape,
                    pointer,
                    blocking,
                    wait_list,
                )
            } else {
                Ok(None)
            }
        }
        _ => Ok(None),
    };
    let event = match read.map_err(unmapped)? {
        Some(event) => event,
        None => queue
            .enqueue(kind, command, Waits::on(wait_list), Ordering::default())
            .map_err(unmapped)?,
    };
    drop(turn);
    if blocking {
        finish_blocking(&event).map_err(unmapped)?;
    } else if matches!(way, MappingWay::HostPointer) {
        pending_host_writes::add(pointer, &shape, &event, By::Host);
    }
    Ok((pointer, event))
}

/// `clEnqueueUnmapMemObject`
///
/// # Errors
/// `CL_INVALID_VALUE` when `pointer` is not mapped; what is wrong with the wait list comes after that.
pub fn enqueue_unmap(
    queue: &Arc<Queue>,
    memory: &Arc<Memory>,
    pointer: HostPointer,
    wait_list: Result<WaitList>,
) -> Result<Arc<Event>> {
    // "CL_INVALID_VALUE if mapped_ptr is not a valid pointer returned by clEnqueueMapBuffer or
    // clEnqueueMapImage for memobj."
    let mapping = memory.take_mapping(pointer).ok_or_else(|| {
        Error::invalid_value("mapped_ptr was not returned by a map of this memory object")
    })?;
    let unmapped = wait_list.and_then(|wait_list| unmap(queue, memory, &mapping, wait_list));
    match unmapped {
        Ok(_) => memory.end_mapping(&mapping),
        // The host keeps what it has written there, and may try again.
        Err(_) => memory.put_back(mapping),
    }
    unmapped
}

fn unmap(
    queue: &Arc<Queue>,
    memory: &Arc<Memory>,
    mapping: &Mapping,
    mut wait_list: WaitList,
) -> Result<Arc<Event>> {
    let (pointer, kind) = (mapping.pointer, CL_COMMAND_UNMAP_MEM_OBJECT);
    if !mapping.writes() {
        // The queue's device may have no memory for it.
        return queue.enqueue(
            kind,
            Command::Nothing,
            Waits::on(&wait_list),
            Ordering::default(),
        );
    }
    if memory.travels() {
        if queue.context_device().index() != mapping.device
            && !matches!(mapping.way, MappingWay::HostPointer)
        {
            return unmap_of_another_device(queue, memory, mapping, &wait_list);
        }
        let used = Use {
            mode: Mode::Modify,
            ..Use::read(memory.backing(), mapping.layout, mapping.extent)
        };
        bring(queue, [&used], &mut wait_list)?;
    }
    let place = memory.place(queue.context_device())?;
    let shape = mapping.shape(&place);
    let target = Arc::clone(&place.allocation);
    let mut waits = Waits::on(&wait_list);
    // A read may be under way to where the host sees the region.
    waits.done = pending_host_writes::overlapping(pointer, &shape);
    if matches!(mapping.way, MappingWay::Staged(_)) {
        let written = write_on_host(queue, kind, &target, &shape, pointer, false, &waits)?;
        if let Some(event) = written {
            return Ok(event);
        }
    }
    if !matches!(mapping.way, MappingWay::HostPointer) {
        waits.done = pending_host_writes::overlapping_by(By::Host, pointer, &shape);
    }
    let command = match &mapping.way {
        MappingWay::Staged(source) => Command::Copy {
            shape: Shape {
                source: Layout {
                    offset_bytes: offset_in(source, pointer),
                    ..mapping.layout
                },
                ..shape
            },
            source: Arc::clone(source),
            target,
        },
        MappingWay::HostPointer => Command::Write {
            source: pointer,
            target,
            shape,
        },
        MappingWay::Direct => Command::Nothing,
    };
    queue.enqueue(kind, command, waits, Ordering::default())
}

/// Unmaps what the host has written to the copy of a device that is not this queue's.
fn unmap_of_another_device(
    queue: &Arc<Queue>,
    memory: &Arc<Memory>,
    mapping: &Mapping,
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let end_bytes = mapping.layout.end_bytes(mapping.extent);
    let devices = queue.context().devices();
    let device = devices.get(mapping.device);
    let vulkan = Arc::clone(device.unwrap_or(queue.device()).vulkan()?);
    let written = mapping.layout.offset_bytes..end_bytes;
    let backing = memory.backing();
    let write = backing.fetch(mapping.device, &written, Mode::Overwrite);
    let mapping = mapping.clone();
    let job = move || {
        if let MappingWay::Staged(source) = &mapping.way {
            let mut shape = mapping.shape(&mapping.place);
            shape.source.offset_bytes += offset_in(source, mapping.pointer);
            upload::copy(&vulkan, source, &mapping.place.allocation, &shape)?;
        }
        if let Some(write) = write {
            write.claim();
        }
        Ok(())
    };
    let kind = CL_COMMAND_UNMAP_MEM_OBJECT;
    enqueue_host_job(queue, kind, HostJob::Own(Box::new(job)), false, wait_list)
}

impl Mapping {
    /// From where the host sees the region to where it lies in `place`.
    fn shape(&self, place: &Place) -> Shape {
        Shape {
            extent: self.extent,
            source: Layout {
                offset_bytes: 0,
                ..self.layout
            },
            target: place.layout(self.layout),
        }
    }
}

/// Where `pointer`, into the mapping of `staging`, points.
fn offset_in(staging: &Allocation, pointer: HostPointer) -> usize {
    let base = staging.mapped().map_or(0, |base| base.as_ptr() as usize);
    (pointer.0 as usize).saturating_sub(base)
}

/// Ranges of host memory that reads under way will write. A write that takes its data from there must come
/// after them, and the data is taken when the command is recorded: so it is held until they are done. Where the device
/// both writes there and reads, their order on the device is enough.
mod pending_host_writes {
    use super::{
        Arc, Atomic, AtomicUsize, Event, HostPointer, Mutex, PoisonError, Shape, Stage, Weak,
    };
    use smallvec::SmallVec;

    /// Who writes.
    #[derive(Clone, Copy, PartialEq, Eq)]
    pub(super) enum By {
        /// The host, once the device is done.
        Host,
        Device,
    }

    struct Pending {
        start: usize,
        end: usize,
        event: Weak<Event>,
        by: By,
    }

    static PENDING: Mutex<Vec<Pending>> = Mutex::new(Vec::new());
    /// Spares the lock in the usual case, that there is none.
    static COUNT: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn add(target: HostPointer, shape: &Shape, event: &Arc<Event>, by: By) {
        let base = target.0 as usize;
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|other| other.event.upgrade().is_some_and(|event| !is_done(&event)));
        pending.push(Pending {
            start: base + shape.target.offset_bytes,
            end: base + shape.target.end_bytes(shape.extent),
            event: Arc::downgrade(event),
            by,
        });
        COUNT.store(pending.len(), Atomic::Release);
    }

    pub(super) fn overlapping(source: HostPointer, shape: &Shape) -> SmallVec<[Arc<Event>; 1]> {
        find(source, shape, |_| true)
    }

    pub(super) fn overlapping_by(
        by: By,
        source: HostPointer,
        shape: &Shape,
    ) -> SmallVec<[Arc<Event>; 1]> {
        find(source, shape, |other| other == by)
    }

    fn find(
        source: HostPointer,
        shape: &Shape,
        matters: impl Fn(By) -> bool,
    ) -> SmallVec<[Arc<Event>; 1]> {
        if COUNT.load(Atomic::Acquire) == 0 {
            return SmallVec::new();
        }
        let base = source.0 as usize;
        let start = base + shape.source.offset_bytes;
        let end = base + shape.source.end_bytes(shape.extent);
        let mut pending = PENDING.lock().unwrap_or_else(PoisonError::into_inner);
        pending.retain(|other| other.event.upgrade().is_some_and(|event| !is_done(&event)));
        COUNT.store(pending.len(), Atomic::Release);
        pending
            .iter()
            .filter(|other| other.start < end && start < other.end && matters(other.by))
            .filter_map(|other| other.event.upgrade())
            .collect()
    }

    fn is_done(event: &Event) -> bool {
        matches!(event.stage(), Stage::Done(_))
    }
}
