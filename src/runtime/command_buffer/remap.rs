//! Copies of a command buffer for other queues (`clRemapCommandBufferKHR`).

use super::mutable::MutableCommand;
use super::schedule::Line;
use super::{CommandBuffer, NewCommand, Node, Origin, Recorded};
use crate::runtime::allocation::Allocation;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::launch::prepare::prepare;
use crate::runtime::memory::Memory;
use crate::runtime::queue::Queue;
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::{Error, Result};
use std::ptr::NonNull;
use std::sync::Arc;

/// A copy, and its commands that may be updated: each with the one that it is a copy of.
pub type Remapped = (
    Arc<CommandBuffer>,
    Vec<(Arc<MutableCommand>, Arc<MutableCommand>)>,
);

impl CommandBuffer {
    /// A copy in the same state whose commands go to `queues`: those of queue number `i` to the one at `target(i)`. It
    /// has "the same commands as the original, with the same command dependencies", in whatever order the queues are.
    /// `check` says whether a queue's device takes a memory object.
    ///
    /// # Errors
    /// Those of recording the commands for the other devices.
    pub fn remapped(
        &self,
        queues: Vec<Arc<Queue>>,
        target: impl Fn(usize) -> usize,
        check: impl Fn(&Queue, &Memory) -> Result<()>,
    ) -> Result<Remapped> {
        let properties = self.properties.clone();
        let lines = self.lines.iter().map(|line| Line {
            queue: target(line.queue),
            in_order: line.in_order,
        });
        let copy = Self::with_lines(lines.collect(), queues, properties, self.flags);
        let mut handles = Vec::new();
        let finalized = {
            // Commands that are being updated may be wrong yet.
            let _updating = self.lock_updating();
            let state = self.lock();
            for step in &state.recorded {
                match step {
                    Recorded::Barrier { line, wait_list } => {
                        copy.add_barrier_in(*line, wait_list)?;
                    }
                    Recorded::Command { node } => {
                        let node = &state.nodes[*node];
                        let number = copy.lines[node.line].queue;
                        let queue = copy
                            .queues
                            .get(number)
                            .ok_or_else(|| Error::impossible("a command was given no queue"))?;
                        let new = node.copy_for(&copy, queue, &check)?;
                        if let (Some(old), Origin::Mutable(new)) = (node.mutable(), &new.origin) {
                            handles.push((Arc::clone(old), Arc::clone(new)));
                        }
                        let wait_list = &node.wait_list;
                        copy.add_in(node.line, NewCommand { wait_list, ..new })?;
                    }
                }
            }
            state.finalized
        };
        if finalized {
            copy.finalize()?;
        } else {
            // What is recorded to the copy is in lines of its own: it comes after all that was copied.
            copy.add_barrier(0, &[])?;
        }
        Ok((copy, handles))
    }
}

impl Node {
    fn copy_for(
        &self,
        buffer: &Arc<CommandBuffer>,
        queue: &Arc<Queue>,
        check: impl Fn(&Queue, &Memory) -> Result<()>,
    ) -> Result<NewCommand<'static>> {
        let new = match &self.origin {
            Origin::Memories(memories) => {
                for (memory, _) in memories {
                    check(queue, memory)?;
                }
                let command = transfer_of(&self.command, queue, memories)?;
                NewCommand::new(command, Origin::Memories(memories.clone()))
            }
            Origin::Addresses => {
                let reached = |_, old: &_| reached_from(queue, old);
                let command = self.command.with_allocations(reached)?;
                NewCommand::new(command.ok_or_else(no_transfer)?, Origin::Addresses)
            }
            Origin::Launch { kernel, range } => {
                let kernel = kernel.duplicate();
                let launch = prepare(&kernel, queue.device_queue(), range)?;
                NewCommand::new(
                    DeviceCommand::Launch(launch),
                    Origin::Launch {
                        kernel,
                        range: *range,
                    },
                )
            }
            Origin::Mutable(mutable) => {
                let (mutable, first) = mutable.copy_for(buffer, queue)?;
                NewCommand::new(first, Origin::Mutable(mutable))
            }
        };
        Ok(NewCommand {
            accesses_anything: self.anything,
            attached: self.attached.clone(),
            ..new
        })
    }
}

/// The transfer that `command` is, between the copies that the queue's device has of the memory objects.
fn transfer_of(
    command: &DeviceCommand,
    queue: &Queue,
    memories: &[(Arc<Memory>, MemoryAccess)],
) -> Result<DeviceCommand> {
    let transfer = command.with_allocations(|index, _| {
        let missing = || Error::impossible("a memory object is missing");
        let (memory, _) = memories.get(index).ok_or_else(missing)?;
        // Where in it the memory object begins is the same everywhere.
        Ok(memory.place(queue.context_device())?.allocation)
    })?;
    transfer.ok_or_else(no_transfer)
}

fn no_transfer() -> Error {
    Error::impossible("a launch was recorded as a transfer")
}

/// Memory that was named by address, as the queue's device reaches it.
fn reached_from(queue: &Queue, old: &Arc<Allocation>) -> Result<Arc<Allocation>> {
    let address = old.device_address();
    if let Some(shared) = queue.context().shared().find(address) {
        return Ok(Arc::clone(shared.on(queue.context_device())?));
    }
    let pointer = NonNull::new(address as *mut u8);
    match pointer.filter(|_| queue.device().unification().any_host_memory) {
        Some(pointer) => {
            // SAFETY: memory of the host, valid for as long as a command buffer may be executed by the promise of
            // whoever recorded the command; its device has the host's addresses.
            let buffer = unsafe { queue.vulkan().import_host_memory(pointer, old.size_bytes()) }?;
            Ok(Allocation::from_buffer(buffer))
        }
        None => Err(Error::invalid_value(
            "a pointer is not shared memory of the context",
        )),
    }
}
