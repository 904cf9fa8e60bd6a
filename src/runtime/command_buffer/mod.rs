//! Command buffers (cl_khr_command_buffer): commands recorded once and executed many times.
//!
//! A command is checked and made complete when it is recorded, kernel arguments included. Finalizing decides where
//! each goes from the whole dependency graph ([`schedule`]): commands of several devices fall into [`parts`], and
//! [`graph`] places the barriers. Each part is recorded into a `VkCommandBuffer` that can be submitted any number
//! of times ([`instance`]). Enqueueing makes that one part of a queue's batch ([`execution`]): nothing is done for
//! each command, and nothing is recorded.
//!
//! Launches ([`mutable`]) may be updated between executions ([`update`]); [`versions`] keeps an update from what is enqueued.
//! A command buffer may be copied for other queues ([`remap`]).

mod execution;
pub mod graph;
pub mod instance;
mod migrations;
pub mod mutable;
mod parts;
mod remap;
mod schedule;
pub mod shared;
pub mod update;
pub mod versions;

#[cfg(test)]
mod launch_tests;
#[cfg(test)]
mod tests;

use super::allocation::Uses;
use super::command::device_command::DeviceCommand;
use super::command::hazard::{Accesses, TrackedAccess};
use super::command::prepared_launch::PreparedLaunch;
use super::context::Context;
use super::event::DeferredWork;
use super::launch::kernel::Kernel;
use super::launch::nd_range::NdRange;
use super::memory::Memory;
use super::object::registry::{self, Handle, Kind, Object};
use super::queue::{Queue, trace_recording};
use super::residency::backing::MemoryAccess;
use super::{Error, Result};
use execution::PartAccesses;
use graph::SyncPoint;
use instance::{Instance, Recordable};
use migrations::Migrations;
use mutable::MutableCommand;
use opencl_sys::{
    CL_COMMAND_BUFFER_MUTABLE_KHR, CL_COMMAND_BUFFER_STATE_EXECUTABLE_KHR,
    CL_COMMAND_BUFFER_STATE_FINALIZED_KHR, CL_COMMAND_BUFFER_STATE_RECORDING_KHR,
    CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, cl_command_buffer_flags_khr,
    cl_command_buffer_properties_khr, cl_command_buffer_state_khr,
};
use schedule::{Line, Schedule, Step};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use versions::Versions;

/// A command buffer.
pub struct CommandBuffer {
    handle: Handle,
    queues: Vec<Arc<Queue>>,
    /// What orders the commands. The last ones are those of `queues`.
    lines: Vec<Line>,
    properties: Option<Vec<cl_command_buffer_properties_khr>>,
    flags: cl_command_buffer_flags_khr,
    /// Executions of all its recordings: what the allocations are told that it uses.
    uses: Arc<Uses>,
    /// Held from what an update begins with to its end; locked before `state`.
    updating: Mutex<()>,
    state: Mutex<State>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for CommandBuffer {
    const KIND: Kind = Kind::CommandBuffer;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[derive(Default)]
struct State {
    nodes: Vec<Node>,
    /// Commands and barriers in the order of recording.
    recorded: Vec<Recorded>,
    finalized: bool,
    /// Made when it is finalized.
    schedule: Schedule,
    /// What the parts of the schedule use.
    accesses: Vec<PartAccesses>,
    /// Empty until it is finalized and complete.
    versions: Versions,
}

enum Recorded {
    Command {
        node: usize,
    },
    Barrier {
        /// Number of its line.
        line: usize,
        wait_list: Box<[SyncPoint]>,
    },
}

/// Regions of memory that a command was seen to touch, beyond which those before its last update are forgotten.
const MOST_ACCESSES: usize = 64;

/// A recorded command.
struct Node {
    /// Number of its line.
    line: usize,
    wait_list: SmallVec<[SyncPoint; 2]>,
    command: DeviceCommand,
    origin: Origin,
    /// What it accesses, before and after updates, and whether it may touch memory that it does not name.
    accesses: Vec<TrackedAccess>,
    anything: bool,
    migrations: Migrations,
    /// "A command-buffer object should increment the reference count of attached OpenCL objects such as
    /// queues, buffers, images, and kernels".
    attached: Vec<Arc<dyn Any + Send + Sync>>,
}

/// What a command is made of.
pub enum Origin {
    /// A transfer between memory objects: those behind its allocations, in that order. They live as long as the
    /// command buffer.
    Memories(Vec<(Arc<Memory>, MemoryAccess)>),
    /// A transfer in memory that is named by address.
    Addresses,
    /// A launch that stays as it is: a kernel of its own, with its arguments.
    Launch { kernel: Arc<Kernel>, range: NdRange },
    /// A launch that the application may ask about and update. The command is [`DeviceCommand::Nothing`] while arguments
    /// are missing.
    Mutable(Arc<MutableCommand>),
}

/// A command on its way into a command buffer.
pub struct NewCommand<'a> {
    /// Place of its queue in [`CommandBuffer::queues`].
    pub queue: usize,
    pub command: DeviceCommand,
    pub origin: Origin,
    /// Checked with [`CommandBuffer::check_sync_points`].
    pub wait_list: &'a [SyncPoint],
    /// It may touch memory that it does not name.
    pub accesses_anything: bool,
    /// Other objects that live as long as the command buffer.
    pub attached: Vec<Arc<dyn Any + Send + Sync>>,
}

impl NewCommand<'_> {
    /// A command of the first queue that waits for nothing.
    pub fn new(command: DeviceCommand, origin: Origin) -> Self {
        Self {
            queue: 0,
            command,
            origin,
            wait_list: &[],
            accesses_anything: false,
            attached: Vec::new(),
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
        Self::with_lines(Vec::new(), queues, properties, flags)
    }

    /// A command buffer with `lines` besides those of the queues. Otherwise as [`CommandBuffer::new`].
    fn with_lines(
        mut lines: Vec<Line>,
        queues: Vec<Arc<Queue>>,
        properties: Option<Vec<cl_command_buffer_properties_khr>>,
        flags: cl_command_buffer_flags_khr,
    ) -> Arc<Self> {
        lines.extend(queues.iter().enumerate().map(|(number, queue)| Line {
            queue: number,
            in_order: queue.is_in_order(),
        }));
        Arc::new(Self {
            handle: Handle::default(),
            updating: Mutex::default(),
            state: Mutex::default(),
            lines,
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
        if self.lock().finalized {
            Ok(())
        } else {
            Err(Error::invalid_operation(
                "the command buffer has not been finalized",
            ))
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
        let last = self.lock().recorded.len();
        let is_known = |&&point: &&SyncPoint| (1..=last).contains(&(point as usize));
        match wait_list.iter().find(|point| !is_known(point)) {
            None => Ok(()),
            Some(point) => Err(Error::new(
                CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
                format!("{point} is not a sync point of the command buffer"),
            )),
        }
    }

    /// The line of what is recorded to queue number `queue`.
    fn line_of(&self, queue: usize) -> usize {
        self.lines.len() - self.queues.len() + queue
    }

    /// Records a command.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when it has been finalized meanwhile, `CL_OUT_OF_RESOURCES` when there are too
    /// many.
    pub fn add(&self, new: NewCommand<'_>) -> Result<SyncPoint> {
        self.add_in(self.line_of(new.queue), new)
    }

    fn add_in(&self, line: usize, mut new: NewCommand<'_>) -> Result<SyncPoint> {
        // The command buffer does not keep them; they may go when it is locked no longer.
        let brought = match &mut new.command {
            DeviceCommand::Launch(launch) => std::mem::take(&mut launch.memory_accesses),
            _ => Vec::new(),
        };
        let mut state = self.lock();
        state.check_recording()?;
        let point = state.next_point()?;
        let mut accesses = Accesses::new();
        let anything = new.command.add_accesses(&mut accesses);
        let mut migrations = Migrations::default();
        match &new.origin {
            Origin::Memories(memories) => {
                memories.iter().for_each(|(_, used)| migrations.add(used));
            }
            _ => brought.iter().for_each(|used| migrations.add(used)),
        }
        let node = state.nodes.len();
        if let Origin::Mutable(mutable) = &new.origin {
            mutable.set_node(node);
        }
        state.nodes.push(Node {
            line,
            wait_list: SmallVec::from_slice(new.wait_list),
            command: new.command,
            origin: new.origin,
            accesses: accesses.into_vec(),
            anything: anything || new.accesses_anything,
            migrations,
            attached: new.attached,
        });
        state.recorded.push(Recorded::Command { node });
        Ok(point)
    }

    /// Records a barrier to queue number `queue`.
    ///
    /// # Errors
    /// As [`CommandBuffer::add`].
    pub fn add_barrier(&self, queue: usize, wait_list: &[SyncPoint]) -> Result<SyncPoint> {
        self.add_barrier_in(self.line_of(queue), wait_list)
    }

    fn add_barrier_in(&self, line: usize, wait_list: &[SyncPoint]) -> Result<SyncPoint> {
        let mut state = self.lock();
        state.check_recording()?;
        let point = state.next_point()?;
        let wait_list = wait_list.into();
        state.recorded.push(Recorded::Barrier { line, wait_list });
        Ok(point)
    }

    /// `clFinalizeCommandBufferKHR`
    ///
    /// # Errors
    /// "CL_INVALID_OPERATION if command_buffer is not in the Recording state", `CL_OUT_OF_RESOURCES`.
    pub fn finalize(&self) -> Result<()> {
        let mut deferred = DeferredWork::default();
        let mut state = self.lock();
        state.check_recording()?;
        for node in &state.nodes {
            node.command
                .for_each_allocation(|allocation| allocation.count_with(&self.uses));
        }
        state.schedule = self.schedule(&state)?;
        state.note_uses();
        if !state.is_incomplete() {
            let instance = self.record(&state.nodes, &state.schedule)?;
            state.versions.start(instance, &mut deferred);
        }
        log::debug!(
            "command buffer: {} commands in {} parts, {} barriers between them",
            state.nodes.len(),
            state.schedule.parts.len(),
            state.schedule.barriers
        );
        state.finalized = true;
        drop(state);
        deferred.run();
        Ok(())
    }

    fn schedule(&self, state: &State) -> Result<Schedule> {
        let same = |one: &Arc<Queue>, other: &Arc<Queue>| Arc::ptr_eq(one.device(), other.device());
        // A device has the number of its first queue.
        let number = |queue| self.queues.iter().position(|first| same(first, queue));
        let devices: Vec<usize> = self.queues.iter().filter_map(number).collect();
        let steps = state.recorded.iter().map(|step| match step {
            Recorded::Command { node } => state.nodes[*node].step(),
            Recorded::Barrier { line, wait_list } => Step::Barrier {
                line: *line,
                wait_list,
            },
        });
        Schedule::new(&devices, &self.lines, steps)
    }

    fn record(&self, nodes: &[Node], schedule: &Schedule) -> Result<Instance> {
        trace_recording(&self.queues[0], || self.record_parts(nodes, schedule))
    }

    fn record_parts(&self, nodes: &[Node], schedule: &Schedule) -> Result<Instance> {
        // Every recording has buffers of its own for what kernels print.
        let printing = nodes
            .iter()
            .map(Node::with_output)
            .collect::<Result<Vec<_>>>()?;
        let commands = nodes
            .iter()
            .zip(&printing)
            .zip(&schedule.places)
            .enumerate()
            .map(|(number, ((node, printing), place))| Recordable {
                number,
                place: *place,
                command: printing.as_ref().unwrap_or(&node.command),
                updatable: node.mutable().is_some(),
            });
        let devices = schedule
            .parts
            .iter()
            .map(|part| {
                Ok(Arc::clone(
                    self.queues[part.queue].device().internal_kernels()?,
                ))
            })
            .collect::<Result<Vec<_>>>()?;
        Instance::record(&devices, commands, &self.uses)
    }

    /// The commands in `changed` have changed: so do the recordings. `rescheduled`: so has the schedule. `deferred` takes
    /// what is used no longer.
    fn bring_up_to_date(
        &self,
        state: &mut State,
        changed: &[usize],
        rescheduled: bool,
        deferred: &mut DeferredWork,
    ) -> Result<()> {
        let State {
            nodes,
            schedule,
            versions,
            ..
        } = state;
        let launch = |number: usize| nodes.get(number).and_then(Node::launch);
        for launch in changed.iter().filter_map(|&number| launch(number)) {
            for access in &launch.accesses {
                access.allocation.count_with(&self.uses);
            }
        }
        let record = || self.record(nodes, schedule);
        if versions.current().is_some() && !rescheduled {
            return versions.update(changed, launch, record, deferred);
        }
        if !nodes.iter().any(Node::is_incomplete) {
            versions.start(record()?, deferred);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CommandBuffer {
    /// "The lifetime of this handle is tied to the parent command-buffer, such that freeing the command-buffer will
    /// also free this handle."
    fn drop(&mut self) {
        for queue in &self.queues {
            if queue.handle().references() == 0 {
                // Nobody else could enqueue on it since the application has let go of it.
                queue.abandon();
            }
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        for mutable in state.nodes.iter().filter_map(Node::mutable) {
            let handle = mutable.handle().as_ptr();
            if !handle.is_null() {
                // The application has no function to release it with, so it is there to be released.
                let _ = registry::release::<MutableCommand>(handle);
            }
        }
    }
}

fn not_executable() -> Error {
    Error::invalid_operation("the command buffer is not in the executable state")
}

impl Node {
    fn step(&self) -> Step<'_> {
        Step::Command {
            line: self.line,
            wait_list: &self.wait_list,
            accesses: &self.accesses,
            anything: self.anything,
        }
    }

    fn mutable(&self) -> Option<&Arc<MutableCommand>> {
        match &self.origin {
            Origin::Mutable(command) => Some(command),
            _ => None,
        }
    }

    /// Whether arguments are missing.
    fn is_incomplete(&self) -> bool {
        self.mutable().is_some() && matches!(self.command, DeviceCommand::Nothing)
    }

    /// The launch of a kernel that prints, with a buffer for that.
    fn with_output(&self) -> Result<Option<DeviceCommand>> {
        match (&self.command, self.mutable()) {
            (DeviceCommand::Launch(launch), Some(mutable)) => {
                Ok(mutable.with_output(launch)?.map(DeviceCommand::Launch))
            }
            _ => Ok(None),
        }
    }

    fn launch(&self) -> Option<&PreparedLaunch> {
        match &self.command {
            DeviceCommand::Launch(launch) => Some(launch),
            _ => None,
        }
    }

    /// Notes what the command accesses now; whether that is more than before. What it touched once it may soon touch
    /// again: a loop that goes from buffer to buffer is not ordered anew each time. One that goes on and on is, now
    /// and then.
    fn note_accesses(&mut self) -> bool {
        let mut accesses = Accesses::new();
        let anything = self.command.add_accesses(&mut accesses);
        let mut more = anything && !self.anything;
        self.anything |= anything;
        for new in &accesses {
            if !self.accesses.iter().any(|known| known.covers(new)) {
                self.accesses.push(new.clone());
                more = true;
            }
        }
        if more && self.accesses.len() > MOST_ACCESSES {
            self.accesses = accesses.into_vec();
        }
        more
    }
}

impl State {
    fn check_recording(&self) -> Result<()> {
        if !self.finalized {
            Ok(())
        } else {
            Err(Error::invalid_operation(
                "the command buffer has been finalized",
            ))
        }
    }

    fn next_point(&self) -> Result<SyncPoint> {
        SyncPoint::try_from(self.recorded.len() + 1)
            .map_err(|_| Error::out_of_resources("no sync points are left"))
    }

    fn is_incomplete(&self) -> bool {
        self.nodes.iter().any(Node::is_incomplete)
    }

    /// Notes what the parts use.
    fn note_uses(&mut self) {
        self.accesses.clear();
        self.accesses
            .resize_with(self.schedule.parts.len(), PartAccesses::default);
        for (node, place) in self.nodes.iter().zip(&self.schedule.places) {
            if let Some(accesses) = self.accesses.get_mut(place.part) {
                accesses.migrations.extend(&node.migrations);
                let launch = node.launch();
                accesses.any_address |= launch.is_some_and(|it| it.uses_any_address);
            }
        }
    }
}
