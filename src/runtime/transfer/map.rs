//! Mappings of memory objects.

use super::host_access::{read_on_host, write_on_host};
use super::pending_host_writes::{self, By};
use crate::runtime::allocation::{Allocation, upload};
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::host_job::HostJob;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, WaitList};
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::memory::Memory;
use crate::runtime::object::error::{Error, Result};
use crate::runtime::queue::blocking::{finish_blocking, wait_for_all};
use crate::runtime::queue::bring::bring;
use crate::runtime::queue::enqueue_lock::EnqueueLock;
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::runtime::queue::{Queue, complete_all};
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::residency::contents::AccessMode;
use crate::runtime::residency::mapping::{Mapping, MappingWay};
use crate::runtime::residency::storage::Place;
use opencl_sys::{
    CL_COMMAND_MAP_BUFFER, CL_COMMAND_UNMAP_MEM_OBJECT, CL_MAP_WRITE,
    CL_MAP_WRITE_INVALIDATE_REGION, cl_command_type, cl_map_flags,
};
use std::sync::Arc;

/// A region of a memory object that is to be mapped.
pub struct MapRequest<'a> {
    /// What its event says it is.
    pub kind: cl_command_type,
    pub memory: &'a Arc<Memory>,
    pub flags: cl_map_flags,
    pub extent: Extent,
    /// Where the rows lie in the memory object.
    pub layout: Layout,
    pub blocking: bool,
}

/// `clEnqueueMapBuffer`, `clEnqueueMapImage`: where the host sees a region of rows, with the pitches that they have in the memory
/// object, once the event is done.
///
/// # Errors
/// Memory ran out, or the device was lost; of a blocking call also the command's own, and
/// `CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST`.
pub fn enqueue_map(
    queue: &Arc<Queue>,
    request: &MapRequest<'_>,
    mut wait_list: WaitList,
) -> Result<(HostPointer, Arc<Event>)> {
    let (memory, blocking) = (request.memory, request.blocking);
    // Whoever overwrites has the lock until that is enqueued: see `bring`.
    let claims = request.overwrites() && memory.migrates();
    if claims && blocking {
        wait_for_all(&wait_list)?;
    }
    let lock = claims.then(|| EnqueueLock::take([queue]));
    if memory.migrates() {
        bring(queue, [&request.used()], &mut wait_list)?;
    }
    let place = memory.place(queue.context_device())?;
    let mapped = Mapped::new(queue, request, place)?;
    if blocking && !claims {
        wait_for_all(&wait_list)?;
    }
    memory.add_mapping(mapped.mapping.clone())?;
    // From here on a failure takes it out again.
    let enqueued = mapped.enqueue(queue, request, &wait_list);
    drop(lock);
    let finished = enqueued.and_then(|event| {
        if blocking {
            finish_blocking(&event)?;
        } else if matches!(mapped.mapping.way, MappingWay::HostPointer) {
            pending_host_writes::add(mapped.mapping.pointer, &mapped.shape, &event, By::Host);
        }
        Ok(event)
    });
    if finished.is_err()
        && let Some(mapping) = memory.take_mapping(mapped.mapping.pointer)
    {
        memory.end_mapping(&mapping);
    }
    Ok((mapped.mapping.pointer, finished?))
}

impl<'a> MapRequest<'a> {
    /// `size_bytes` bytes from `offset_bytes` on, for `clEnqueueMapBuffer`.
    pub fn of_bytes(
        memory: &'a Arc<Memory>,
        flags: cl_map_flags,
        offset_bytes: usize,
        size_bytes: usize,
        blocking: bool,
    ) -> Self {
        let Shape { extent, source, .. } = Shape::linear(offset_bytes, 0, size_bytes);
        Self {
            kind: CL_COMMAND_MAP_BUFFER,
            memory,
            flags,
            extent,
            layout: source,
            blocking,
        }
    }

    /// Whether what the region held is not asked for.
    fn overwrites(&self) -> bool {
        self.flags & CL_MAP_WRITE_INVALIDATE_REGION != 0
    }

    /// How the memory object is used on the queue's device.
    fn used(&self) -> MemoryAccess {
        let backing = self.memory.backing();
        if self.overwrites() {
            return MemoryAccess::write(backing, self.layout, self.extent);
        }
        MemoryAccess {
            mode: AccessMode::of(self.flags & CL_MAP_WRITE != 0),
            ..MemoryAccess::read(backing, self.layout, self.extent)
        }
    }
}

/// A mapping, and how its region comes to where the host sees it.
struct Mapped {
    mapping: Mapping,
    /// From where it lies to the mapping.
    shape: Shape,
}

impl Mapped {
    fn new(queue: &Queue, request: &MapRequest<'_>, place: Place) -> Result<Self> {
        let (memory, layout) = (request.memory, request.layout);
        let device = queue.context_device();
        let offset_bytes = layout.offset_bytes;
        let size_bytes = layout.end_bytes(request.extent) - offset_bytes;
        let (pointer, way) = memory.mapping_way(device, &place, offset_bytes, size_bytes)?;
        let shape = Shape {
            extent: request.extent,
            source: place.layout(layout),
            target: Layout {
                offset_bytes: 0,
                ..layout
            },
        };
        let mapping = Mapping {
            pointer,
            extent: request.extent,
            layout,
            flags: request.flags,
            way,
            device: device.index(),
            place,
        };
        Ok(Self { mapping, shape })
    }

    /// Enqueues what brings the region to the mapping, or has the host do it.
    fn enqueue(
        &self,
        queue: &Arc<Queue>,
        request: &MapRequest<'_>,
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let kind = request.kind;
        if let Some(event) = self.read_on_host(queue, request, wait_list)? {
            return Ok(event);
        }
        let command = self.command(!request.overwrites());
        queue.enqueue(kind, command, Waits::on(wait_list), Ordering::default())
    }

    /// The event of the read of a blocking call, if the host can make it at once.
    fn read_on_host(
        &self,
        queue: &Arc<Queue>,
        request: &MapRequest<'_>,
        wait_list: &[Arc<Event>],
    ) -> Result<Option<Arc<Event>>> {
        let MappingWay::Staged(staging) = &self.mapping.way else {
            return Ok(None);
        };
        if request.overwrites() || !request.blocking || !queue.is_in_order() {
            return Ok(None);
        }
        // Where the application sees the region a transfer of before may be under way.
        complete_all(queue);
        if !staging.is_idle() {
            return Ok(None);
        }
        let (source, pointer) = (&self.mapping.place.allocation, self.mapping.pointer);
        let kind = request.kind;
        read_on_host(queue, kind, source, &self.shape, pointer, true, wait_list)
    }

    /// What the device does for it.
    fn command(&self, needs_contents: bool) -> Command {
        let source = Arc::clone(&self.mapping.place.allocation);
        let (pointer, shape) = (self.mapping.pointer, self.shape);
        match &self.mapping.way {
            MappingWay::Staged(staging) if needs_contents => Command::Device(DeviceCommand::Copy {
                source,
                target: Arc::clone(staging),
                shape: Shape {
                    target: Layout {
                        offset_bytes: offset_in(staging, pointer),
                        ..self.mapping.layout
                    },
                    ..shape
                },
            }),
            MappingWay::HostPointer if needs_contents => Command::Read {
                source,
                target: pointer,
                shape,
            },
            _ => Command::NOTHING,
        }
    }
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
            Command::NOTHING,
            Waits::on(&wait_list),
            Ordering::default(),
        );
    }
    if memory.migrates() {
        if queue.context_device().index() != mapping.device
            && !matches!(mapping.way, MappingWay::HostPointer)
        {
            return unmap_of_another_device(queue, memory, mapping, &wait_list);
        }
        let used = MemoryAccess {
            mode: AccessMode::Modify,
            ..MemoryAccess::read(memory.backing(), mapping.layout, mapping.extent)
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
        MappingWay::Staged(source) => Command::Device(DeviceCommand::Copy {
            shape: Shape {
                source: Layout {
                    offset_bytes: offset_in(source, pointer),
                    ..mapping.layout
                },
                ..shape
            },
            source: Arc::clone(source),
            target,
        }),
        MappingWay::HostPointer => Command::Write {
            source: pointer,
            target,
            shape,
        },
        MappingWay::Direct => Command::NOTHING,
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
    let write = backing.fetch(mapping.device, &written, AccessMode::Overwrite);
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
