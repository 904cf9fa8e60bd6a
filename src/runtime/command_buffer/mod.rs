//! Command buffers (cl_khr_command_buffer): commands recorded once and executed many times.
//!
//! A command is checked and made complete when it is recorded, kernel arguments included. Finalizing places the
//! barriers from the whole dependency graph ([`graph`]) and records a `VkCommandBuffer` that can be submitted
//! any number of times ([`instance`]). Enqueueing makes that one part of a queue's batch: nothing is done for
//! each command, and nothing is recorded.
//!
//! Launches may be updated between executions ([`mutable`]); [`versions`] keeps an update from what is enqueued.

pub mod graph;
pub mod instance;
pub mod mutable;
pub mod shared;
pub mod versions;

#[cfg(test)]
mod tests;

pub use instance::Replay;

use super::allocation::Uses;
use super::command::{Command, Dispatch, Ordering};
use super::context::Context;
use super::event::Event;
use super::memory::Memory;
use super::object::{self, Handle, Kind, Object};
use super::queue::{Queue, Waits};
use super::residence::{Mode, Use, WaitList};
use super::{Error, Result};
use graph::{Graph, Level, SyncPoint};
use instance::{Instance, Recordable};
use mutable::MutableCommand;
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
    CL_COMMAND_BUFFER_STATE_FINALIZED_KHR, CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
    CL_COMMAND_COMMAND_BUFFER_KHR, CL_COMMAND_MARKER, cl_command_buffer_flags_khr,
    cl_command_buffer_properties_khr, cl_command_buffer_state_khr,
};
use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use versions::{Leftovers, Versions};

/// A command buffer.
pub struct CommandBuffer {
    handle: Handle,
    queues: Vec<Arc<Queue>>,
    properties: Option<Vec<cl_command_buffer_properties_khr>>,
    flags: cl_command_buffer_flags_khr,
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
    travellers: Vec<Traveller>,
    /// A command may touch memory that it does not name.
    touches_anything: bool,
    /// "A command-buffer object should increment the reference count of attached OpenCL objects such as
    /// queues, buffers, images, and kernels".
    attached: Vec<Arc<dyn Any + Send + Sync>>,
    finalized: bool,
    /// Empty until it is finalized and complete.
    versions: Versions,
}

/// A recorded command.
struct Node {
    level: Level,
    command: Command,
    /// What the application may update it by.
    mutable: Option<Arc<MutableCommand>>,
}

struct Traveller {
    memory: Weak<Memory>,
    written: bool,
}

/// A command on its way into a command buffer.
pub struct NewCommand<'a> {
    /// Place of its queue in [`CommandBuffer::queues`].
    pub queue: usize,
    pub command: Command,
    /// Checked with [`CommandBuffer::check_sync_points`].
    pub wait_list: &'a [SyncPoint],
    /// The memory objects that it uses; they live as long as the command buffer.
    pub memories: Vec<Use>,
    /// The same of those whose place depends on the device, and which the command buffer does not keep:
    /// "A command-buffer object does not update the reference count of objects set as arguments on kernels".
    pub travellers: Vec<Use>,
    /// It may touch memory that it does not name.
    pub touches_anything: bool,
    /// Other objects that live as long as the command buffer.
    pub attached: Vec<Arc<dyn Any + Send + Sync>>,
    /// What the application may ask about it and update it by. The command is [`Command::Nothing`] while
    /// arguments are missing.
    pub mutable: Option<Arc<MutableCommand>>,
}

impl NewCommand<'_> {
    /// A command of the first queue that waits for nothing.
    pub fn new(command: Command, memories: Vec<Use>) -> Self {
        Self {
            queue: 0,
            command,
            wait_list: &[],
            memories,
            travellers: Vec::new(),
            touches_anything: false,
            attached: Vec::new(),
            mutable: None,
        }
    }
}

impl CommandBuffer {
    /// `queues` is not empty and of one context; `properties` as the application gave them, with the final 0,
    /// and the flags among them.
    pub fn new(
        queues: Vec<Arc<Queue>>,
        properties: Option<Vec<cl_command_buffer_properties_khr>>,
        flags: cl_command_buffer_flags_khr,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            state: Mutex::new(State {
                graph: Graph::new(queues.iter().map(|queue| queue.is_in_order())),
                nodes: Vec::new(),
                travellers: Vec::new(),
                touches_anything: false,
                attached: Vec::new(),
                finalized: false,
                versions: Versions::default(),
            }),
            queues,
            properties,
            flags,
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

    /// `CL_COMMAND_BUFFER_MUTABLE_KHR`
    pub fn is_mutable(&self) -> bool {
        self.flags & CL_COMMAND_BUFFER_MUTABLE_KHR != 0
    }

    /// `CL_COMMAND_BUFFER_STATE_KHR`
    pub fn state(&self) -> cl_command_buffer_state_khr {
        let state = self.lock();
        match (state.finalized, state.versions.current()) {
            (false, _) => CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
            (true, None) => CL_COMMAND_BUFFER_STATE_FINALIZED_KHR,
            (true, Some(_)) => CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
        }
    }

    /// "CL_INVALID_OPERATION if command_buffer has been finalized."
    pub fn check_recording(&self) -> Result<()> {
        self.lock().check_recording()
    }

    /// "CL_INVALID_OPERATION if command_buffer has not been finalized."
    pub fn check_finalized(&self) -> Result<()> {
        match self.lock().finalized {
            true => Ok(()),
            false => Err(Error::invalid_operation(
                "the command buffer has not been finalized",
            )),
        }
    }

    /// "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
    pub fn check_executable(&self) -> Result<()> {
        match self.lock().versions.current() {
            Some(_) => Ok(()),
            None => Err(not_executable()),
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
        let (accesses, mut anything) = new.command.accesses();
        anything |= new.touches_anything;
        // The memory that it touches after an update is not known.
        let updatable = new.mutable.as_ref().filter(|_| self.is_mutable());
        anything |= updatable.is_some_and(|it| it.updates_arguments());
        let (point, level) = state
            .graph
            .add(new.queue, new.wait_list, &accesses, anything)?;
        for used in new.memories {
            state.add_traveller(&used);
            state.attached.push(used.memory);
        }
        for used in &new.travellers {
            state.add_traveller(used);
        }
        state.touches_anything |= anything;
        state.attached.extend(new.attached);
        if let Some(mutable) = &new.mutable {
            mutable.set_node(state.nodes.len());
        }
        state.nodes.push(Node {
            level,
            command: new.command,
            mutable: new.mutable,
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
        for node in &state.nodes {
            node.command
                .for_each_allocation(|allocation| allocation.count_with(&self.uses));
        }
        if !state.nodes.iter().any(Node::is_incomplete) {
            let instance = self.record(&state.nodes)?;
            state.versions.start(instance);
        }
        log::debug!(
            "command buffer: {} commands, {} barriers between them",
            state.nodes.len(),
            state.graph.barriers()
        );
        state.finalized = true;
        Ok(())
    }

    fn record(&self, nodes: &[Node]) -> Result<Instance> {
        // Every recording has buffers of its own for what kernels print.
        let printing = nodes
            .iter()
            .map(|node| node.with_new_output())
            .collect::<Result<Vec<_>>>()?;
        let commands = nodes
            .iter()
            .zip(&printing)
            .enumerate()
            .map(|(number, (node, printing))| Recordable {
                level: node.level,
                command: printing.as_ref().unwrap_or(&node.command),
                updatable: node.mutable.as_ref().map(|_| number),
            });
        Instance::record(self.queues[0].device().vulkan()?, commands)
    }

    /// The recording to execute now: kernels that print need one that nothing executes.
    fn instance(&self, state: &mut State) -> Result<(Arc<Instance>, Leftovers)> {
        let current = state.versions.current().ok_or_else(not_executable)?;
        let mut leftovers = Leftovers::default();
        if current.is_exclusive() && !current.is_idle() {
            leftovers = self.bring_up_to_date(state, &BTreeSet::new())?;
        }
        let current = state.versions.current().ok_or_else(not_executable)?;
        Ok((Arc::clone(current), leftovers))
    }

    /// The commands in `changed` have changed: so do the recordings.
    fn bring_up_to_date(&self, state: &mut State, changed: &BTreeSet<usize>) -> Result<Leftovers> {
        let nodes = &state.nodes;
        let dispatch = |number: usize| nodes.get(number).and_then(Node::dispatch);
        for dispatch in changed.iter().filter_map(|&number| dispatch(number)) {
            for access in &dispatch.accesses {
                access.allocation.count_with(&self.uses);
            }
        }
        if state.versions.current().is_some() {
            return state
                .versions
                .update(changed, dispatch, || self.record(nodes));
        }
        if !nodes.iter().any(Node::is_incomplete) {
            state.versions.start(self.record(nodes)?);
        }
        Ok(Leftovers::default())
    }

    /// `clEnqueueCommandBufferKHR`, on `queues` or the ones that it was created with.
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Executable state."
    pub fn enqueue(&self, queues: &[Arc<Queue>], wait_list: &[Arc<Event>]) -> Result<Arc<Event>> {
        let queues = match queues {
            [] => &self.queues,
            queues => queues,
        };
        let queue = &queues[0];
        let mut wait_list = WaitList::from_iter(wait_list.iter().map(Arc::clone));
        if queue.context().devices().len() > 1 {
            let uses = self.lock().uses(queue.context());
            queue.bring(&uses, &mut wait_list)?;
        }
        let (replay, leftovers) = {
            let mut state = self.lock();
            let (instance, leftovers) = self.instance(&mut state)?;
            (Replay::new(&instance, &self.uses), leftovers)
        };
        // No lock is held: memory may go.
        drop(leftovers);
        let replay = Command::Replay(replay);
        let kind = CL_COMMAND_COMMAND_BUFFER_KHR;
        let mut waits = Waits::on(&wait_list);
        let others: Vec<&Arc<Queue>> = queues
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(index, other)| !queues[..*index].iter().any(|it| Arc::ptr_eq(it, other)))
            .map(|(_, other)| other)
            .collect();
        if others.is_empty() {
            return queue.enqueue(kind, replay, waits, Ordering::default());
        }
        // It runs on the first queue; for the others it stands in their order all the same.
        for other in others.iter().filter(|other| other.is_in_order()) {
            waits.events.push(other.enqueue(
                CL_COMMAND_MARKER,
                Command::Nothing,
                Waits::default(),
                Ordering::default(),
            )?);
        }
        let event = queue.enqueue(kind, replay, waits, Ordering::default())?;
        for other in others {
            let after = Waits::on(std::slice::from_ref(&event));
            other.enqueue(
                CL_COMMAND_MARKER,
                Command::Nothing,
                after,
                Ordering::default(),
            )?;
        }
        event.set_spans_queues();
        Ok(event)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CommandBuffer {
    /// "The lifetime of this handle is tied to the parent command-buffer, such that freeing the command-buffer will
    /// also free this handle."
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for mutable in state.nodes.iter().filter_map(|node| node.mutable.as_ref()) {
            let handle = mutable.handle().as_ptr();
            if !handle.is_null() {
                // The application has no function to release it with, so it is there to be released.
                let _ = object::release::<MutableCommand>(handle);
            }
        }
    }
}

fn not_executable() -> Error {
    Error::invalid_operation("the command buffer is not in the executable state")
}

impl Node {
    /// Whether arguments are missing.
    fn is_incomplete(&self) -> bool {
        self.mutable.is_some() && matches!(self.command, Command::Nothing)
    }

    /// The launch of a kernel that prints, with another buffer for that.
    fn with_new_output(&self) -> Result<Option<Command>> {
        match (&self.command, &self.mutable) {
            (Command::Dispatch(dispatch), Some(mutable)) if dispatch.printf.is_some() => {
                Ok(Some(Command::Dispatch(mutable.prepare_again()?)))
            }
            _ => Ok(None),
        }
    }

    fn dispatch(&self) -> Option<&Dispatch> {
        match &self.command {
            Command::Dispatch(dispatch) => Some(dispatch),
            _ => None,
        }
    }
}

impl State {
    fn check_recording(&self) -> Result<()> {
        match self.finalized {
            false => Ok(()),
            true => Err(Error::invalid_operation(
                "the command buffer has been finalized",
            )),
        }
    }

    fn add_traveller(&mut self, used: &Use) {
        if !used.memory.travels() {
            return;
        }
        let known = self
            .travellers
            .iter_mut()
            .find(|known| std::ptr::eq(known.memory.as_ptr(), Arc::as_ptr(&used.memory)));
        match known {
            Some(known) => known.written |= used.mode.writes(),
            None => self.travellers.push(Traveller {
                memory: Arc::downgrade(&used.memory),
                written: used.mode.writes(),
            }),
        }
    }

    /// What an execution uses of memory that goes from device to device.
    fn uses(&self, context: &Context) -> Vec<Use> {
        let travellers = self.travellers.iter().filter_map(|traveller| {
            let mode = Mode::of(traveller.written);
            Some(Use::whole(traveller.memory.upgrade()?, mode))
        });
        let anything = context.addressed_uses().filter(|_| self.touches_anything);
        travellers.chain(anything).collect()
    }
}
