//! Checked transfers: what the functions for buffers, rectangles and images have in common, and what those that
//! enqueue a command share with those that record it to a command buffer.

use super::enqueue::{self, WaitList};
use super::error::{Error, Result};
use super::out::EventArguments;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::runtime::host_memory::pointer::HostPointer;
use crate::runtime::memory::Memory;
use crate::runtime::queue::Queue;
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::residency::storage::Place;
use crate::runtime::transfer::using::enqueue_using;
use crate::runtime::transfer::{read_memory, write_memory};
use opencl_sys::{
    CL_FALSE, CL_MEM_COPY_OVERLAP, CL_MEM_HOST_NO_ACCESS, CL_MEM_HOST_READ_ONLY,
    CL_MEM_HOST_WRITE_ONLY, cl_bool, cl_command_type,
};
use smallvec::SmallVec;
use std::sync::Arc;

/// A checked command, and the memory objects behind its allocations, in that order, with what it uses of each.
pub(super) struct Transfer {
    pub command: DeviceCommand,
    pub memories: Vec<(Arc<Memory>, MemoryAccess)>,
}

/// A rectangle of a memory object: the layout counts from its first byte.
pub(super) type Part = (Arc<Memory>, Layout);

impl Transfer {
    /// A copy between memory objects, on the queue's device.
    pub fn copy(queue: &Queue, source: Part, target: Part, extent: Extent) -> Result<Self> {
        let (source, from) = source;
        let (target, to) = target;
        let shape = Shape {
            extent,
            source: in_storage(&source, from),
            target: in_storage(&target, to),
        };
        let is_empty = extent.size_bytes() == 0;
        // "CL_MEM_COPY_OVERLAP if src_buffer and dst_buffer are the same buffer or sub-buffer object and the
        // source and destination regions overlap or if src_buffer and dst_buffer are different sub-buffers of
        // the same associated buffer object and they overlap."
        if !is_empty && source.shares_storage(&target) && shape.overlaps() {
            return Err(Error::new(
                CL_MEM_COPY_OVERLAP,
                "the source and destination regions overlap",
            ));
        }
        let (from_place, to_place) = (
            source.place(queue.context_device())?,
            target.place(queue.context_device())?,
        );
        let command = if is_empty {
            DeviceCommand::Nothing
        } else {
            DeviceCommand::Copy {
                shape: Shape {
                    extent,
                    source: from_place.layout(from),
                    target: to_place.layout(to),
                },
                source: from_place.allocation,
                target: to_place.allocation,
            }
        };
        let read = MemoryAccess::read(source.backing(), from, extent);
        let written = MemoryAccess::write(target.backing(), to, extent);
        let memories = vec![(source, read), (target, written)];
        Ok(Self { command, memories })
    }

    /// A command that overwrites a rectangle.
    pub fn fill(
        queue: &Queue,
        target: Part,
        extent: Extent,
        command: impl FnOnce(&Place) -> DeviceCommand,
    ) -> Result<Self> {
        let (target, layout) = target;
        let command = command(&target.place(queue.context_device())?);
        let written = MemoryAccess::write(target.backing(), layout, extent);
        let memories = vec![(target, written)];
        Ok(Self { command, memories })
    }

    /// Enqueues the command; `kind` is what its event says it is.
    pub fn enqueue(
        self,
        queue: &Arc<Queue>,
        kind: cl_command_type,
        mut wait_list: WaitList,
        events: EventArguments,
    ) -> Result<()> {
        let (mut command, wanted) = (self.command.into(), events.wants_event());
        let uses: SmallVec<[MemoryAccess; 2]> =
            self.memories.into_iter().map(|(_, it)| it).collect();
        let event = enqueue_using(queue, &uses, wanted, kind, &mut command, &mut wait_list)?;
        events.give_if(event);
        Ok(())
    }
}

/// A transfer between the host and a memory object, checked so far as the region goes.
pub(super) struct HostTransfer {
    pub kind: cl_command_type,
    pub memory: Arc<Memory>,
    /// From the memory object's first byte to the host pointer, or the other way round.
    pub shape: Shape,
    pub pointer: HostPointer,
    pub blocking: cl_bool,
}

impl HostTransfer {
    /// Device to host.
    pub fn read(self, queue: &Arc<Queue>, events: EventArguments) -> Result<()> {
        // "CL_INVALID_OPERATION if clEnqueueRead… is called on buffer which has been created with
        // CL_MEM_HOST_WRITE_ONLY or CL_MEM_HOST_NO_ACCESS."
        let wait_list = self.check(queue, &events, CL_MEM_HOST_WRITE_ONLY)?;
        let event = read_memory(
            queue,
            self.kind,
            &self.memory,
            self.shape,
            self.pointer,
            self.blocking != CL_FALSE,
            wait_list,
        )?;
        events.give(event);
        Ok(())
    }

    /// Host to device.
    pub fn write(self, queue: &Arc<Queue>, events: EventArguments) -> Result<()> {
        // "CL_INVALID_OPERATION if clEnqueueWrite… is called on buffer which has been created with
        // CL_MEM_HOST_READ_ONLY or CL_MEM_HOST_NO_ACCESS."
        let wait_list = self.check(queue, &events, CL_MEM_HOST_READ_ONLY)?;
        let event = write_memory(
            queue,
            self.kind,
            &self.memory,
            self.shape,
            self.pointer,
            self.blocking != CL_FALSE,
            wait_list,
        )?;
        events.give(event);
        Ok(())
    }

    /// The rest of the checks, in the specification's order.
    fn check(
        &self,
        queue: &Queue,
        events: &EventArguments,
        forbidden: opencl_sys::cl_mem_flags,
    ) -> Result<WaitList> {
        // "CL_INVALID_VALUE … if ptr is a NULL value."
        if self.pointer.0.is_null() {
            return Err(Error::invalid_value("ptr is NULL"));
        }
        let wait_list = enqueue::wait_list(queue, events)?;
        if self.memory.image().is_none() {
            enqueue::check_alignment(queue, &self.memory)?;
        }
        enqueue::check_host_access(&self.memory, forbidden | CL_MEM_HOST_NO_ACCESS)?;
        Ok(wait_list)
    }
}

fn in_storage(memory: &Memory, layout: Layout) -> Layout {
    Layout {
        offset_bytes: layout.offset_bytes + memory.origin_bytes(),
        ..layout
    }
}
