//! Commands whose turn has not come.
//!
//! A command *waits* while something of its wait list is not under way on the same Vulkan device: a user
//! event, a command that itself waits, a command of another device. In order, everything after it
//! waits too; out of order, only what depends on it. Whatever moves such an event on tells the queue of the
//! commands that wait for it ([`Subscriber::tell_all`]), so a submission never waits for a value that is not
//! submitted before it: a Vulkan device with a single `VkQueue` would wait for ever.
//!
//! A command is looked at when it comes, when all events that it asked have told it, when one of them has failed,
//! and when what stood in its way has gone ([`super::advance`]). So the work grows with the commands and their wait lists,
//! however many others wait.

use super::Queue;
use crate::runtime::allocation::Allocation;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::{Command, Ordering as Order};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, Subscriber};
use crate::runtime::residency::fetch::Fetches;
use smallvec::SmallVec;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The waiting commands of a queue.
#[derive(Default)]
pub(super) struct WaitingCommands {
    /// By their numbers, in the order in which they were enqueued.
    commands: BTreeMap<u64, WaitingCommand>,
    /// The number of the next command.
    next: u64,
    /// The numbers of those that all later ones come after.
    barriers: VecDeque<u64>,
    /// The numbers of commands to be looked at.
    due: Vec<u64>,
    /// A thread is going over them; another one only adds to them.
    is_advancing: bool,
}

/// A command of which nothing is recorded yet.
pub(super) struct WaitingCommand {
    pub command: Command,
    pub event: Arc<Event>,
    pub waits: Waits,
    pub order: Order,
    /// What was asked of each event of `waits`.
    pub asked: SmallVec<[Question; 4]>,
    /// So many events have been asked and have not told yet. Below zero while a thread is asking and some have told already.
    pending: i64,
    /// One of the events has failed.
    has_failed: bool,
    /// What the device has to have when the command counts as issued.
    pub fetches: Option<Fetches>,
    /// Dropped when the command is done.
    pub keep_alive: KeepAlive,
}

/// What an event has been asked to tell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    None,
    /// When the event, whose command waits, moves on.
    Moved,
    /// When the event, issued, is done.
    Done,
}

/// What a command that can be recorded comes after.
#[derive(Default)]
pub(in crate::runtime) struct Ready {
    /// Submissions of other queues that the device waits for.
    pub(super) device: SmallVec<[(Arc<Queue>, u64); 2]>,
    /// The latest command of its own queue among the events.
    pub(super) sequence: Option<u64>,
    /// The batches of its own queue in which the events' commands are.
    pub(super) own: SmallVec<[u64; 2]>,
}

impl WaitingCommand {
    /// A command with an event that nobody has been asked for.
    pub fn new(command: Command, event: Arc<Event>, waits: Waits, order: Order) -> Self {
        let count = waits.events.len() + waits.done.len();
        Self {
            command,
            event,
            waits,
            order,
            asked: SmallVec::from_elem(Question::None, count),
            pending: 0,
            has_failed: false,
            fetches: None,
            keep_alive: KeepAlive::new(),
        }
    }
}

impl WaitingCommands {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Whether no command waits that all later ones come after.
    pub fn holds_no_barrier(&self) -> bool {
        self.barriers.is_empty()
    }

    /// Keeps `object` until the waiting commands that use `allocation` are done.
    pub fn keep_while_used(
        &mut self,
        allocation: &Allocation,
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        let waiting = self.commands.values_mut();
        for waiting in waiting.filter(|it| it.command.is_user_of(allocation)) {
            waiting.keep_alive.push(Arc::clone(object));
        }
    }

    /// Adds a command, which is due.
    pub fn add(&mut self, command: WaitingCommand) {
        let number = self.next;
        self.next += 1;
        if command.order.before_all {
            self.barriers.push_back(number);
        }
        self.commands.insert(number, command);
        self.due.push(number);
    }

    /// Begins to go over the commands that are due; false if there are none, or another thread does so.
    pub fn begin_to_advance(&mut self) -> bool {
        if self.is_advancing || self.due.is_empty() {
            return false;
        }
        self.is_advancing = true;
        true
    }

    /// Notes that nobody goes over the commands any more.
    pub fn end_to_advance(&mut self) {
        self.is_advancing = false;
    }

    /// The numbers of the commands that are due, in their order, each once; `None` if none is. They are due no more.
    pub fn take_due(&mut self) -> Option<Vec<u64>> {
        if self.due.is_empty() {
            return None;
        }
        let mut due = std::mem::take(&mut self.due);
        due.sort_unstable();
        due.dedup();
        Some(due)
    }

    /// A command; only the thread that goes over them may change more than what it was told.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut WaitingCommand> {
        self.commands.get_mut(&number)
    }

    /// Whether nothing that waits keeps the command from being issued.
    pub fn is_unobstructed(&self, number: u64, order: Order, in_order: bool) -> bool {
        let is_first = self.commands.keys().next() == Some(&number);
        is_first
            || !in_order
                && !order.after_all
                && self
                    .barriers
                    .front()
                    .is_none_or(|&barrier| barrier >= number)
    }

    /// Counts what a command was told; one that was told by all is due.
    pub fn note(&mut self, told: &Subscriber) {
        if let Some(waiting) = self.commands.get_mut(&told.number) {
            waiting.pending -= 1;
            waiting.has_failed |= told.has_failed;
            if waiting.pending == 0 || waiting.has_failed {
                self.due.push(told.number);
            }
        }
    }

    /// Notes that a command goes on waiting, with `count` more events asked.
    pub fn note_asked(&mut self, number: u64, count: i64) {
        if let Some(waiting) = self.commands.get_mut(&number) {
            waiting.pending += count;
            // All have told before the last was asked.
            if count > 0 && (waiting.pending == 0 || waiting.has_failed) {
                self.due.push(number);
            }
        }
    }

    /// The command is to wait for `event` instead.
    pub fn put_off(&mut self, number: u64, event: Arc<Event>) {
        if let Some(waiting) = self.commands.get_mut(&number) {
            waiting.waits = Waits::on(&[event]);
            waiting.asked = SmallVec::from_elem(Question::None, 1);
            // What others have still to tell stays counted.
            self.due.push(number);
        }
    }

    /// Takes a command out; those in whose way it stood are due.
    pub fn remove(&mut self, number: u64, in_order: bool) -> Option<WaitingCommand> {
        let removed = self.commands.remove(&number)?;
        let first = self.commands.first_key_value();
        let first = first.filter(|(_, waiting)| in_order || waiting.order.after_all);
        self.due.extend(first.map(|(&number, _)| number));
        if removed.order.before_all {
            self.barriers.retain(|&barrier| barrier != number);
            if !in_order {
                let end = self.barriers.front().map_or(u64::MAX, |&barrier| barrier);
                let freed = self.commands.range(number..=end.max(number));
                self.due.extend(freed.map(|(&number, _)| number));
            }
        }
        Some(removed)
    }
}
