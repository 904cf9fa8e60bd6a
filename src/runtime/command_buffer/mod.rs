//! Command buffers (cl_khr_command_buffer): commands recorded once and executed many times.
//!
//! A command is checked and made complete when it is recorded, kernel arguments included. Finalizing places the
//! barriers from the whole dependency graph ([`graph`]) and records a `VkCommandBuffer` that can be submitted
//! any number of times ([`instance`]). Enqueueing makes that one part of a queue's batch: nothing is done for
//! each command, and nothing is recorded.

pub mod graph;
pub mod instance;

#[cfg(test)]
mod tests;

pub use instance::Replay;

use super::allocation::Uses;
use super::command::{Command, Ordering};
use super::context::Context;
use super::event::Event;
use super::memory::Memory;
use super::object::{Handle, Kind, Object};
use super::queue::{Queue, Waits};
use super::{Error, Result};
use graph::{Graph, Level, SyncPoint};
use instance::Instance;
use opencl_sys::{
    CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR, CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
    CL_COMMAND_COMMAND_BUFFER_KHR, cl_command_buffer_properties_khr, cl_command_buffer_state_khr,
};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// A command buffer.
pub struct CommandBuffer {
    handle: Handle,
    queues: Vec<Arc<Queue>>,
    properties: Option<Vec<cl_command_buffer_properties_khr>>,
    /// Executions of all its recordings: what the allocations are told that it uses.
    uses: Arc<Uses>,
    state: Mutex<State>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for CommandBuffer {
    const KIND: Kind = Kind::CommandBuffer;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

struct State {
    graph: Graph,
    nodes: Vec<Node>,
    /// Buffers without a fixed place, which must be brought to the device before each execution.
    travellers: Vec<(Weak<Memory>, usize, bool)>,
    /// "A command-buffer object should increment the reference count of attached OpenCL objects such as
    /// queues, buffers, images, and kernels".
    attached: Vec<Arc<dyn Any + Send + Sync>>,
    /// Once finalized.
    instance: Option<Arc<Instance>>,
}

/// A recorded command.
struct Node {
    level: Level,
    command: Command,
}

/// A command on its way into a command buffer.
pub struct NewCommand<'a> {
    /// Place of its queue in [`CommandBuffer::queues`].
    pub queue: usize,
    pub command: Command,
    /// Checked with [`CommandBuffer::check_sync_points`].
    pub wait_list: &'a [SyncPoint],
    /// The memory objects that it uses, and whether it writes them; they live as long as the command buffer.
    pub memories: Vec<(Arc<Memory>, bool)>,
    /// The same of those whose place depends on the device, and which the command buffer does not keep:
    /// "A command-buffer object does not update the reference count of objects set as arguments on kernels".
    pub travellers: Vec<(Arc<Memory>, bool)>,
    /// Other objects that live as long as the command buffer.
    pub attached: Vec<Arc<dyn Any + Send + Sync>>,
}

impl NewCommand<'_> {
    /// A command of the first queue that waits for nothing.
    pub fn new(command: Command, memories: Vec<(Arc<Memory>, bool)>) -> Self {
        Self {
            queue: 0,
            command,
            wait_list: &[],
            memories,
            travellers: Vec::new(),
            attached: Vec::new(),
        }
    }
}

impl CommandBuffer {
    /// `queues` is not empty and of one context; `properties` as the application gave them, with the final 0.
    pub fn new(
        queues: Vec<Arc<Queue>>,
        properties: Option<Vec<cl_command_buffer_properties_khr>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            state: Mutex::new(State {
                graph: Graph::new(queues.iter().map(|queue| queue.is_in_order())),
                nodes: Vec::new(),
                travellers: Vec::new(),
                attached: Vec::new(),
                instance: None,
            }),
            queues,
            properties,
            uses: Arc::default(),
        })
    }

    pub fn context(&self) -> &Arc<Context> {
        self.queues[0].context()
    }

    /// `CL_COMMAND_BUFFER_QUEUES_KHR`
    pub fn queues(&self) -> &[Arc<Queue>] {
        &self.queues
    }

    /// `CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR`
    pub fn properties(&self) -> Option<&[cl_command_buffer_properties_khr]> {
        self.properties.as_deref()
    }

    /// `CL_COMMAND_BUFFER_STATE_KHR`
    pub fn state(&self) -> cl_command_buffer_state_khr {
        match self.lock().instance {
            None => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
            Some(_) => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        }
    }

    /// "CL_INVALID_OPERATION if command_buffer has been finalized."
    pub fn check_recording(&self) -> Result<()> {
        self.lock().check_recording()
    }

    /// "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
    pub fn check_executable(&self) -> Result<()> {
        match self.lock().instance {
            Some(_) => Ok(()),
            None => Err(not_finalized()),
        }
    }

    /// "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR … if synchronization-point objects in sync_point_wait_list are not
    /// valid synchronization-points."
    pub fn check_sync_points(&self, wait_list: &[SyncPoint]) -> Result<()> {
        self.lock().graph.check(wait_list)
    }

    /// Records a command.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when it has been finalized meanwhile, `CL_OUT_OF_RESOURCES` when there are too
    /// many.
    pub fn add(&self, new: NewCommand<'_>) -> Result<SyncPoint> {
        let mut state = self.lock();
        state.check_recording()?;
        let (accesses, anything) = new.command.accesses();
        let (point, level) = state
            .graph
            .add(new.queue, new.wait_list, &accesses, anything)?;
        for (memory, written) in new.memories {
            if memory.travels() {
                state.add_traveller(&memory, new.queue, written);
            }
            state.attached.push(memory);
        }
        for (memory, written) in new.travellers {
            state.add_traveller(&memory, new.queue, written);
        }
        state.attached.extend(new.attached);
        state.nodes.push(Node {
            level,
            command: new.command,
        });
        Ok(point)
    }

    /// Records a barrier.
    ///
    /// # Errors
    /// As [`CommandBuffer::add`].
    pub fn add_barrier(&self, wait_list: &[SyncPoint]) -> Result<SyncPoint> {
        let mut state = self.lock();
        state.check_recording()?;
        state.graph.add_barrier(wait_list)
    }

    /// `clFinalizeCommandBufferKHR`
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Recording state", `CL_OUT_OF_RESOURCES`.
    pub fn finalize(&self) -> Result<()> {
        let mut state = self.lock();
        state.check_recording()?;
        let device = self.queues[0].device().vulkan()?;
        let commands = state.nodes.iter().map(|node| (node.level, &node.command));
        let instance = Instance::record(device, commands)?;
        for node in &state.nodes {
            node.command.for_each_allocation(|allocation| {
                allocation.count_with(&self.uses);
            });
        }
        log::debug!(
            "command buffer: {} commands, {} barriers between them",
            state.nodes.len(),
            state.graph.barriers()
        );
        state.instance = Some(Arc::new(instance));
        Ok(())
    }

    /// `clEnqueueCommandBufferKHR`, on `queues` or the ones that it was created with.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
    pub fn enqueue(&self, queues: &[Arc<Queue>], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        let queue = queues.first().unwrap_or(&self.queues[0]);
        let replay = {
            let mut state = self.lock();
            state.settle(queues, &self.queues)?;
            let instance = state.instance.as_ref().ok_or_else(not_finalized)?;
            Replay::new(instance, &self.uses)
        };
        queue.enqueue(
            CL_COMMAND_COMMAND_BUFFER_KHR,
            Command::Replay(replay),
            Waits::on(wait_list),
            Ordering::default(),
        )
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn not_finalized() -> Error {
    Error::invalid_operation("the command buffer is not in the executable state")
}

impl State {
    fn check_recording(&self) -> Result<()> {
        match self.instance {
            None => Ok(()),
            Some(_) => Err(Error::invalid_operation(
                "the command buffer has been finalized",
            )),
        }
    }

    fn add_traveller(&mut self, memory: &Arc<Memory>, queue: usize, written: bool) {
        let known = self.travellers.iter_mut().find(|(known, place, _)| {
            *place == queue && std::ptr::eq(known.as_ptr(), Arc::as_ptr(memory))
        });
        match known {
            Some((_, _, writes)) => *writes |= written,
            None => self
                .travellers
                .push((Arc::downgrade(memory), queue, written)),
        }
    }

    /// Brings buffers that several devices use to the one that is going to.
    fn settle(&mut self, queues: &[Arc<Queue>], own: &[Arc<Queue>]) -> Result<()> {
        for (memory, queue, written) in &self.travellers {
            let queue = queues.get(*queue).or_else(|| own.get(*queue));
            if let (Some(memory), Some(queue)) = (memory.upgrade(), queue) {
                memory.access(queue, *written)?;
            }
        }
        Ok(())
    }
}
