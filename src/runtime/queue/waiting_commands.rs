//! Commands whose turn has not come.
//!
//! A command *waits* while something of its wait list is not under way on the same Vulkan device: a user
//! event, a command that itself waits, a command of another device. In order, everything after it
//! waits too; out of order, only what depends on it. Whatever moves such an event on tells the queue of the
//! commands that wait for it ([`Subscriber::tell_all`]), so a submission never waits for a value that is not
//! submitted before it: a Vulkan device with a single `VkQueue` would wait for ever.
//!
//! A command is looked at when it comes, when all events that it asked have told it, when one of them has failed,
//! and when what stood in its way has gone ([`super::advance`]): it goes from one [`Phase`] to the next. So the work grows
//! with the commands and their wait lists, however many others wait.

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
    /// The numbers of the commands that are due, each once.
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
    asked: SmallVec<[Question; 4]>,
    phase: Phase,
    /// So many events have been asked and have not told yet. Below zero while a thread is asking and some have told already.
    pending: i64,
    /// One of the events has failed.
    has_failed: bool,
    /// What the device has to have when the command counts as issued.
    pub fetches: Option<Fetches>,
    /// Dropped when the command is done.
    pub keep_alive: KeepAlive,
}

/// How far a waiting command is. It begins as due; in the end it is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is to be looked at.
    Due,
    /// A thread looks at it, and asks events with the queue unlocked. It has been told something since, or not.
    LookedAt { told: bool },
    /// It waits to be told by events, or for what stands in its way to go.
    Waiting,
}

/// What a thread takes of a waiting command to look at it.
pub(super) struct Look {
    pub waits: Waits,
    /// What was asked of each event of `waits`.
    pub asked: SmallVec<[Question; 4]>,
    pub order: Order,
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
            phase: Phase::Due,
            pending: 0,
            has_failed: false,
            fetches: None,
            keep_alive: KeepAlive::new(),
        }
    }
}

impl WaitingCommand {
    /// Whether all that was asked has been told, or enough: one of the events has failed.
    fn has_been_told(&self) -> bool {
        self.pending == 0 || self.has_failed
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

    /// The numbers of the commands that are due, in their order, to be looked at one after the other; `None` if none is.
    pub fn take_due(&mut self) -> Option<Vec<u64>> {
        if self.due.is_empty() {
            return None;
        }
        let mut due = std::mem::take(&mut self.due);
        due.sort_unstable();
        Some(due)
    }

    /// Begins to look at a command that is due; `None` if it has been taken out.
    pub fn begin_look(&mut self, number: u64) -> Option<Look> {
        let waiting = self.commands.get_mut(&number)?;
        debug_assert_eq!(waiting.phase, Phase::Due, "it is looked at twice");
        waiting.phase = Phase::LookedAt { told: false };
        Some(Look {
            waits: std::mem::take(&mut waiting.waits),
            asked: std::mem::take(&mut waiting.asked),
            order: waiting.order,
        })
    }

    /// Ends a look at a command that goes on waiting, with `count` more events asked.
    pub fn end_look(&mut self, number: u64, look: Look, count: i64) {
        let Some(waiting) = self.commands.get_mut(&number) else {
            return;
        };
        (waiting.waits, waiting.asked) = (look.waits, look.asked);
        waiting.pending += count;
        let was_told = waiting.phase == Phase::LookedAt { told: true };
        waiting.phase = Phase::Waiting;
        if was_told && waiting.has_been_told() {
            self.make_due(number);
        }
    }

    /// Has a command looked at, unless that is to come anyway.
    fn make_due(&mut self, number: u64) {
        let Some(waiting) = self.commands.get_mut(&number) else {
            return;
        };
        match &mut waiting.phase {
            Phase::Due => {}
            Phase::LookedAt { told } => *told = true,
            phase @ Phase::Waiting => {
                *phase = Phase::Due;
                self.due.push(number);
            }
        }
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
            let is_looked_at = matches!(waiting.phase, Phase::LookedAt { .. });
            if is_looked_at || waiting.has_been_told() {
                self.make_due(told.number);
            }
        }
    }

    /// Has a command that is looked at wait for `event` instead: it is due.
    pub fn put_off(&mut self, number: u64, event: Arc<Event>) {
        if let Some(waiting) = self.commands.get_mut(&number) {
            waiting.waits = Waits::on(&[event]);
            waiting.asked = SmallVec::from_elem(Question::None, 1);
            // What others have still to tell stays counted.
            waiting.phase = Phase::Waiting;
            self.make_due(number);
        }
    }

    /// Takes a command out; those in whose way it stood are due.
    pub fn remove(&mut self, number: u64, in_order: bool) -> Option<WaitingCommand> {
        let removed = self.commands.remove(&number)?;
        let first = self.commands.first_key_value();
        let first = first.filter(|(_, waiting)| in_order || waiting.order.after_all);
        let mut freed: SmallVec<[u64; 8]> = first.map(|(&number, _)| number).into_iter().collect();
        if removed.order.before_all {
            self.barriers.retain(|&barrier| barrier != number);
            if !in_order {
                let end = self.barriers.front().map_or(u64::MAX, |&barrier| barrier);
                let behind = self.commands.range(number..=end.max(number));
                freed.extend(behind.map(|(&number, _)| number));
            }
        }
        freed.into_iter().for_each(|number| self.make_due(number));
        Some(removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::event::WaitingQueue;
    use crate::runtime::test_queue;
    use std::sync::Weak;

    #[test]
    fn what_a_command_is_told_while_it_is_looked_at_is_not_lost() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let weak: Weak<Queue> = Arc::downgrade(&queue);
        let told = |has_failed| Subscriber {
            queue: Weak::<Queue>::clone(&weak) as Weak<dyn WaitingQueue>,
            number: 0,
            has_failed,
        };
        let event = Event::of_user(queue.context());
        let mut waiting = WaitingCommands::default();
        let command =
            WaitingCommand::new(Command::NOTHING, event, Waits::default(), Order::default());
        waiting.add(command);
        // How many events are asked, how many of them tell meanwhile, and whether it is due once more.
        for (asked, tell, is_due) in [(2, 2, true), (2, 1, false)] {
            assert_eq!(waiting.take_due(), Some(vec![0]));
            let look = waiting.begin_look(0).unwrap();
            (0..tell).for_each(|_| waiting.note(&told(false)));
            assert_eq!(waiting.take_due(), None, "a thread looks at it");
            waiting.end_look(0, look, asked);
            assert_eq!(!waiting.due.is_empty(), is_due);
        }
        waiting.note(&told(false));
        assert_eq!(waiting.take_due(), Some(vec![0]));
        // Nothing is asked, as something stands in its way; then that goes, twice.
        let look = waiting.begin_look(0).unwrap();
        waiting.end_look(0, look, 0);
        assert_eq!(waiting.take_due(), None);
        waiting.make_due(0);
        waiting.make_due(0);
        assert_eq!(waiting.take_due(), Some(vec![0]));
        // One of two fails.
        let look = waiting.begin_look(0).unwrap();
        waiting.end_look(0, look, 2);
        waiting.note(&told(true));
        assert_eq!(waiting.take_due(), Some(vec![0]));
    }
}
