//! Commands that may be updated after they were recorded (cl_khr_command_buffer_mutable_dispatch).

use super::travellers::Travellers;
use super::versions::Leftovers;
use super::{CommandBuffer, State};
use crate::runtime::command::{Command, Dispatch};
use crate::runtime::dispatch::{self, NdRange};
use crate::runtime::kernel::{ArgumentClass, ArgumentValue, Kernel};
use crate::runtime::memory::Memory;
use crate::runtime::object::{Handle, Kind, Object};
use crate::runtime::queue::Queue;
use crate::runtime::{Error, Result};
use opencl_sys::{CL_INVALID_OPERATION, cl_command_properties_khr, cl_mutable_dispatch_fields_khr};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// The launch of a kernel in a command buffer, as `cl_mutable_command_khr` names it.
pub struct MutableCommand {
    handle: Handle,
    buffer: Weak<CommandBuffer>,
    queue: Arc<Queue>,
    /// As the application gave it.
    kernel: Arc<Kernel>,
    properties: Option<Vec<cl_command_properties_khr>>,
    fields: cl_mutable_dispatch_fields_khr,
    state: Mutex<Launch>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for MutableCommand {
    const KIND: Kind = Kind::MutableCommand;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// What is launched.
#[derive(Clone)]
pub struct Launch {
    /// A kernel of the command's own, with its arguments.
    pub kernel: Arc<Kernel>,
    pub range: NdRange,
    /// The memory objects among the arguments, which an update of others needs again. They live until they are
    /// replaced: "it is safe to delete objects used as kernel command arguments, if all the kernel commands using that
    /// object as an argument have had their arguments replaced with a different object".
    memories: Vec<Arc<Memory>>,
    /// The local size last used.
    chosen: Option<[u32; 3]>,
    /// Place among the commands of the command buffer.
    pub(super) node: usize,
}

/// How a launch is recorded that may be updated.
pub struct NewLaunch {
    pub queue: Arc<Queue>,
    pub kernel: Arc<Kernel>,
    pub properties: Option<Vec<cl_command_properties_khr>>,
    /// What may be updated.
    pub fields: cl_mutable_dispatch_fields_khr,
    pub range: NdRange,
}

impl NewLaunch {
    /// The command, and what it launches at first: `None` while arguments are missing that may be set later.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`.
    pub fn prepare(
        self,
        buffer: &Arc<CommandBuffer>,
    ) -> Result<(Arc<MutableCommand>, Option<Dispatch>)> {
        let own = match buffer.is_mutable() {
            true => self.kernel.duplicate_for_updates(),
            false => self.kernel.duplicate(),
        };
        self.prepare_with(own, buffer)
    }

    /// The same with the kernel that is launched, a duplicate.
    fn prepare_with(
        self,
        own: Arc<Kernel>,
        buffer: &Arc<CommandBuffer>,
    ) -> Result<(Arc<MutableCommand>, Option<Dispatch>)> {
        let first = match own.has_all_arguments() {
            true => Some(dispatch::prepare(&own, &self.queue, &self.range)?),
            false => {
                check_range(&own, &self.queue, &self.range)?;
                None
            }
        };
        let command = Arc::new(MutableCommand {
            handle: Handle::default(),
            buffer: Arc::downgrade(buffer),
            queue: self.queue,
            kernel: self.kernel,
            properties: self.properties,
            fields: self.fields,
            state: Mutex::new(Launch {
                chosen: local_size_of(&own),
                memories: own.memories(),
                kernel: own,
                range: self.range,
                node: usize::MAX,
            }),
        });
        Ok((command, first))
    }
}

/// The local size of a kernel's last launch.
fn local_size_of(kernel: &Kernel) -> Option<[u32; 3]> {
    kernel.lock().plans.last().map(|plan| plan.local)
}

/// Checks a range for a kernel whose arguments are not all known, with NULL and 0 for the missing ones.
fn check_range(kernel: &Arc<Kernel>, queue: &Arc<Queue>, range: &NdRange) -> Result<()> {
    let trial = kernel.duplicate();
    for index in 0..trial.argument_count() {
        if !matches!(trial.argument(index), ArgumentValue::Unset) {
            continue;
        }
        let index = index as u32;
        let value = match trial.argument_class(index)? {
            ArgumentClass::Value { size_bytes } => {
                ArgumentValue::Bytes(smallvec::smallvec![0; size_bytes as usize])
            }
            ArgumentClass::Buffer => ArgumentValue::Memory(None),
            ArgumentClass::Local => ArgumentValue::LocalBytes(1),
            // There is no NULL of these; the range is checked when they are known.
            ArgumentClass::Image(_) | ArgumentClass::Pipe | ArgumentClass::Sampler => return Ok(()),
        };
        trial.set_argument(index, value);
    }
    dispatch::prepare(&trial, queue, range).map(drop)
}

impl MutableCommand {
    /// `CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR`; `None` when it is being destroyed.
    pub fn buffer(&self) -> Option<Arc<CommandBuffer>> {
        self.buffer.upgrade()
    }

    /// `CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR`
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// `CL_MUTABLE_DISPATCH_KERNEL_KHR`
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// `CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR`
    pub fn properties(&self) -> Option<&[cl_command_properties_khr]> {
        self.properties.as_deref()
    }

    /// "CL_INVALID_OPERATION if the … property was not set on command recording and … is not NULL."
    pub fn check_field(
        &self,
        field: cl_mutable_dispatch_fields_khr,
        what: &'static str,
    ) -> Result<()> {
        match self.fields & field {
            0 => Err(Error::new(
                CL_INVALID_OPERATION,
                format!("the command was recorded without leave to update its {what}"),
            )),
            _ => Ok(()),
        }
    }

    /// What it launches now.
    pub fn launch(&self) -> Launch {
        self.lock().clone()
    }

    /// Looks at what it launches now.
    pub(super) fn launch_with<R>(&self, look: impl FnOnce(&Launch) -> R) -> R {
        look(&self.lock())
    }

    /// `CL_MUTABLE_DISPATCH_DIMENSIONS_KHR`, which never changes.
    pub fn dimensions(&self) -> u32 {
        self.lock().range.dimensions
    }

    /// What it launches now with a buffer for what it prints, if it does.
    pub(super) fn with_output(&self, dispatch: &Dispatch) -> Result<Option<Dispatch>> {
        let kernel = Arc::clone(&self.lock().kernel);
        match kernel.code(self.queue.device()) {
            Some(code) => dispatch::with_output(dispatch, code),
            None => Ok(None),
        }
    }

    /// The same launch as a command of another command buffer, on `queue`.
    pub(super) fn copy_for(
        &self,
        buffer: &Arc<CommandBuffer>,
        queue: &Arc<Queue>,
    ) -> Result<(Arc<Self>, Option<Dispatch>)> {
        let launch = self.launch();
        let new = NewLaunch {
            queue: Arc::clone(queue),
            kernel: Arc::clone(&self.kernel),
            properties: self.properties.clone(),
            fields: self.fields,
            range: launch.range,
        };
        new.prepare_with(launch.kernel.duplicate(), buffer)
    }

    pub(super) fn set_node(&self, node: usize) {
        self.lock().node = node;
    }

    fn lock(&self) -> MutexGuard<'_, Launch> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A command of an update, checked and complete but for missing arguments.
pub struct Update {
    command: Arc<MutableCommand>,
    launch: Launch,
    /// `None` while arguments are missing.
    dispatch: Option<Dispatch>,
    travellers: Travellers,
}

impl Update {
    /// # Errors
    /// As `clEnqueueNDRangeKernel`.
    pub fn new(command: Arc<MutableCommand>, mut launch: Launch) -> Result<Self> {
        let queue = &command.queue;
        let mut dispatch = match launch.kernel.has_all_arguments() {
            true => Some(dispatch::prepare(
                &launch.kernel,
                queue,
                &launch.range_for_device(),
            )?),
            false => {
                check_range(&launch.kernel, queue, &launch.range)?;
                None
            }
        };
        let mut travellers = Travellers::default();
        if let Some(dispatch) = &mut dispatch {
            let uses = std::mem::take(&mut dispatch.uses);
            uses.iter().for_each(|used| travellers.add(used));
        }
        launch.chosen = local_size_of(&launch.kernel).or(launch.chosen);
        launch.memories = launch.kernel.memories();
        Ok(Self {
            command,
            launch,
            dispatch,
            travellers,
        })
    }
}

impl Launch {
    /// The range with the local size chosen before, where the application leaves that to us and it still divides
    /// the range: so that the pipeline stays.
    fn range_for_device(&self) -> NdRange {
        let mut range = self.range;
        if let (None, Some(local)) = (range.local, self.chosen) {
            let local = local.map(u64::from);
            let divides = |(global, local): (u64, u64)| local != 0 && global.is_multiple_of(local);
            if range.global.into_iter().zip(local).all(divides) {
                range.local = Some(local);
            }
        }
        range
    }
}

impl CommandBuffer {
    /// `clUpdateMutableCommandsKHR`: all of the updates that `make` makes of what the commands launch, or none. There is
    /// one for a command at most. No other thread updates meanwhile: an update begins with what it leaves as it is.
    ///
    /// # Errors
    /// Those of `make`, `CL_OUT_OF_RESOURCES`: nothing has changed.
    pub fn update(&self, make: impl FnOnce() -> Result<Vec<Update>>) -> Result<()> {
        // Executions that are done but were not seen to be would cost another recording.
        self.retire(&[]);
        let updating = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
        let leftovers = make().and_then(|updates| self.apply(updates));
        drop(updating);
        // No lock is held: memory may go now, and its destructor callbacks run.
        leftovers.map(drop)
    }

    fn apply(&self, updates: Vec<Update>) -> Result<(Leftovers, Vec<Command>, Vec<Launch>)> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut replaced: Vec<Replaced> = Vec::with_capacity(updates.len());
        let mut launches = Vec::with_capacity(updates.len());
        let mut touches_more = false;
        for update in updates {
            let number = update.launch.node;
            let Some(node) = state.nodes.get_mut(number) else {
                continue;
            };
            let command = match update.dispatch {
                Some(dispatch) => Command::Dispatch(dispatch),
                None => Command::Nothing,
            };
            replaced.push(Replaced {
                number,
                command: std::mem::replace(&mut node.command, command),
                travellers: std::mem::replace(&mut node.travellers, update.travellers),
            });
            touches_more |= node.note_touches() && self.lines[node.line].in_order;
            launches.push((update.command, update.launch));
        }
        match self.follow(state, &replaced, touches_more) {
            Ok(leftovers) => {
                let old = launches
                    .into_iter()
                    .map(|(command, launch)| std::mem::replace(&mut *command.lock(), launch));
                Ok((
                    leftovers,
                    replaced.into_iter().map(|it| it.command).collect(),
                    old.collect(),
                ))
            }
            Err(error) => {
                // "Otherwise, none of the updates to mutable-command objects are preserved".
                for old in replaced.into_iter().rev() {
                    if let Some(node) = state.nodes.get_mut(old.number) {
                        node.command = old.command;
                        node.travellers = old.travellers;
                        node.note_touches();
                    }
                }
                Err(error)
            }
        }
    }

    /// Has the recordings follow what was replaced. `touches_more`: commands in order may meet others in memory now.
    pub(super) fn follow(
        &self,
        state: &mut State,
        replaced: &[Replaced],
        touches_more: bool,
    ) -> Result<Leftovers> {
        let changed: BTreeSet<usize> = replaced.iter().map(|it| it.number).collect();
        let mut old_schedule = None;
        if touches_more {
            let schedule = self.schedule(state)?;
            if schedule != state.schedule {
                old_schedule = Some(std::mem::replace(&mut state.schedule, schedule));
            }
        }
        let followed = self.bring_up_to_date(state, &changed, old_schedule.is_some());
        let leftovers = followed.inspect_err(|_| {
            if let Some(schedule) = old_schedule {
                state.schedule = schedule;
            }
        })?;
        if self.context().devices().len() > 1 {
            state.note_uses();
        }
        Ok(leftovers)
    }
}

/// What an update took the place of.
pub(super) struct Replaced {
    pub number: usize,
    pub command: Command,
    pub travellers: Travellers,
}
