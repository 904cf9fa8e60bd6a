//! Updates of commands (`clUpdateMutableCommandsKHR`).
//!
//! A change exchanges what it gives a command with what the command has: again, and it is undone. So changes are made at
//! once, one after the other; then the commands they are of are prepared anew, the launches of the command buffer exchanged,
//! and the recordings brought up to date. Where that fails everything is exchanged back.

use super::migrations::Migrations;
use super::mutable::{Memories, MutableCommand};
use super::{CommandBuffer, Node, State};
use crate::compiler::program::ArgumentKind;
use crate::runtime::Result;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::event::DeferredWork;
use crate::runtime::launch::argument::ArgumentValue;
use crate::runtime::launch::indirect::Indirect;
use crate::runtime::launch::nd_range::NdRange;
use smallvec::SmallVec;
use std::sync::{Arc, MutexGuard, PoisonError};

/// What becomes of a launch.
pub struct Change {
    /// Those that are set, with their indices, in their order.
    pub arguments: SmallVec<[(u32, ArgumentValue); 2]>,
    /// All that is said of the kernel by `clSetKernelExecInfo`, if that changes.
    pub indirect: Option<Indirect>,
    pub range: NdRange,
}

/// The changes of an update. What they take the place of is in them.
#[derive(Default)]
pub struct Changes(Vec<(Arc<MutableCommand>, Change)>);

/// What a launch of a command buffer becomes; what it was, once that is done.
pub(super) struct Replacement {
    /// The command's place in the command buffer.
    pub node: usize,
    new: New,
}

enum New {
    Launch {
        command: DeviceCommand,
        migrations: Migrations,
        memories: Memories,
    },
    /// Arguments that are plain bytes, each once with its place in the argument block. All else is as it was: this is what
    /// a frame loop updates most often, and to prepare the launch anew would double what that takes.
    Values(SmallVec<[(usize, Bytes); 2]>),
}

/// The bytes of an argument.
type Bytes = SmallVec<[u8; 16]>;

impl Changes {
    /// Makes a change: what the command launches is that from now on.
    pub fn make(&mut self, command: Arc<MutableCommand>, mut change: Change) {
        for (index, value) in &mut change.arguments {
            command.launched().exchange_argument(*index, value);
        }
        change.exchange_others(&command);
        self.0.push((command, change));
    }

    fn undo(&mut self) {
        for (command, change) in self.0.iter_mut().rev() {
            // One may have been set twice.
            for (index, value) in change.arguments.iter_mut().rev() {
                command.launched().exchange_argument(*index, value);
            }
            change.exchange_others(command);
        }
    }

    /// What the commands have become. One that was changed twice comes twice, the same.
    pub(super) fn prepare(&self, replacements: &mut Vec<Replacement>) -> Result<()> {
        replacements.reserve(self.0.len());
        for (mutable, change) in &self.0 {
            let Some(node) = mutable.node() else {
                continue;
            };
            let new = match change.new_values(mutable) {
                Some(values) => New::Values(values),
                None => {
                    let (command, migrations) = mutable.prepare()?;
                    New::Launch {
                        command,
                        migrations,
                        memories: mutable.launched().memories(),
                    }
                }
            };
            replacements.push(Replacement { node, new });
        }
        Ok(())
    }
}

impl Change {
    fn exchange_others(&mut self, command: &MutableCommand) {
        if let Some(indirect) = &mut self.indirect {
            let own = command.launched();
            own.set_indirect(|own| std::mem::swap(own, indirect));
        }
        command.exchange_range(&mut self.range);
    }

    /// What it has changed if that is nothing but values, which were known before.
    fn new_values(&self, command: &MutableCommand) -> Option<SmallVec<[(usize, Bytes); 2]>> {
        if self.indirect.is_some() || self.range != command.range() {
            return None;
        }
        let code = command.launched().code(command.queue().device())?;
        let mut values: SmallVec<[(usize, Bytes); 2]> = SmallVec::new();
        for (index, old) in &self.arguments {
            let index = *index as usize;
            let (ArgumentValue::Bytes(_), ArgumentValue::Bytes(new)) =
                (old, command.launched().argument(index))
            else {
                return None;
            };
            match code.compiled.arguments.get(index)?.kind {
                ArgumentKind::Value { offset_bytes, .. } => {
                    let offset = offset_bytes as usize;
                    if values.iter().all(|(known, _)| *known != offset) {
                        values.push((offset, new));
                    }
                }
                ArgumentKind::Unused { .. } => {}
                _ => return None,
            }
        }
        Some(values)
    }
}

/// Exchanges a value in the argument blocks of a launch, which all have the same.
fn exchange_value(launch: &mut PreparedLaunch, offset: usize, value: &mut Bytes) {
    let new = Bytes::from_slice(value);
    for region in &mut launch.regions {
        if let Some(place) = region.arguments.get_mut(offset..offset + new.len()) {
            value.copy_from_slice(place);
            place.copy_from_slice(&new);
        }
    }
}

impl Replacement {
    /// Exchanges it with the command's; whether that touches more memory than before.
    pub(super) fn exchange(&mut self, node: &mut Node) -> bool {
        match &mut self.new {
            New::Launch {
                command,
                migrations,
                memories,
            } => {
                std::mem::swap(&mut node.command, command);
                std::mem::swap(&mut node.migrations, migrations);
                if let Some(mutable) = node.mutable() {
                    mutable.exchange_memories(memories);
                }
                node.note_accesses()
            }
            New::Values(values) => {
                // A command that lacks arguments lacks them still.
                if let DeviceCommand::Launch(launch) = &mut node.command {
                    for (offset, value) in values {
                        exchange_value(launch, *offset, value);
                    }
                }
                false
            }
        }
    }
}

impl CommandBuffer {
    /// `clUpdateMutableCommandsKHR`: all of the changes that `make` makes, or none. No other thread changes anything
    /// meanwhile.
    ///
    /// # Errors
    /// Those of `make`, those of `clEnqueueNDRangeKernel`: nothing has changed.
    pub fn update(&self, make: impl FnOnce(&mut Changes) -> Result<()>) -> Result<()> {
        // Executions that are done but were not seen to be would cost another recording.
        self.complete_all(&[]);
        let updating = self.lock_updating();
        let (mut changes, mut replacements) = (Changes::default(), Vec::new());
        let mut deferred = DeferredWork::default();
        let done = make(&mut changes)
            .and_then(|()| changes.prepare(&mut replacements))
            .and_then(|()| self.replace(&mut replacements, &mut deferred));
        if done.is_err() {
            // "Otherwise, none of the updates to mutable-command objects are preserved".
            changes.undo();
        }
        drop(updating);
        // No lock is held: memory may go now, with what was replaced, and its destructor callbacks run.
        deferred.run();
        done
    }

    /// Locks what updates change.
    pub(super) fn lock_updating(&self) -> MutexGuard<'_, ()> {
        self.updating.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Exchanges the commands, if the recordings can follow.
    fn replace(&self, replacements: &mut [Replacement], deferred: &mut DeferredWork) -> Result<()> {
        let mut guard = self.lock();
        let state = &mut *guard;
        let mut accesses_more = false;
        for replacement in &mut *replacements {
            let node = &mut state.nodes[replacement.node];
            accesses_more |= replacement.exchange(node) && self.lines[node.line].in_order;
        }
        let changed: SmallVec<[usize; 16]> = replacements.iter().map(|it| it.node).collect();
        let followed = self.follow(state, &changed, accesses_more, deferred);
        if followed.is_err() {
            for replacement in replacements.iter_mut().rev() {
                replacement.exchange(&mut state.nodes[replacement.node]);
            }
        }
        followed
    }

    /// Has the recordings follow: the commands in `changed` have changed. `accesses_more`: commands in order may meet others
    /// in memory now. `deferred` takes what is used no longer.
    pub(super) fn follow(
        &self,
        state: &mut State,
        changed: &[usize],
        accesses_more: bool,
        deferred: &mut DeferredWork,
    ) -> Result<()> {
        let mut old_schedule = None;
        if accesses_more {
            let schedule = self.schedule(state)?;
            if schedule != state.schedule {
                old_schedule = Some(std::mem::replace(&mut state.schedule, schedule));
            }
        }
        let rescheduled = old_schedule.is_some();
        let followed = self.bring_up_to_date(state, changed, rescheduled, deferred);
        followed.inspect_err(|_| {
            if let Some(schedule) = old_schedule {
                state.schedule = schedule;
            }
        })?;
        if self.context().devices().len() > 1 {
            state.note_uses();
        }
        Ok(())
    }
}
