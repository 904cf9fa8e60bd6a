//! Commands whose turn has not come.
//!
//! A command is *held* while something that it waits for is not under way on the same Vulkan device: a user
//! event, a command that is itself held, a command of another device. In order, everything after it is
//! held too; out of order, only what depends on it. Whatever moves such an event on tells the queue of the
//! commands that wait for it ([`Told::tell_all`]), so a submission never waits for a value that is not
//! submitted before it: a Vulkan device with a single `VkQueue` would wait for ever.
//!
//! A command is looked at when it is held, when all events that it asked have told of it, when one of them has failed,
//! and when what stood in its way has gone. So the work grows with the commands and their wait lists, however many
//! others are held.

use super::{Queue, State};
use crate::runtime::allocation::Allocation;
use crate::runtime::command::host_job::HostJob;
use crate::runtime::command::keep_alive::KeepAlive;
use crate::runtime::command::{Command, Ordering as Order};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Aftermath, Event, Stage, Told};
use crate::runtime::residency::fetch::Fetches;
use opencl_sys::{CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
use smallvec::SmallVec;
use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

/// The held commands of a queue.
#[derive(Default)]
pub(in crate::runtime) struct HeldCommands {
    /// By their numbers, in the order in which they were enqueued.
    commands: BTreeMap<u64, Held>,
    /// The number of the next command.
    next: u64,
    /// The numbers of those that all later ones come after.
    barriers: VecDeque<u64>,
    /// The numbers of commands to be looked at.
    due: Vec<u64>,
    /// A thread is going over them; another one only adds to them.
    advancing: bool,
}

/// A command of which nothing is recorded yet.
struct Held {
    command: Command,
    event: Arc<Event>,
    waits: Waits,
    order: Order,
    /// What was asked of each event of `waits`.
    asked: Asked,
    /// So many events have been asked and not told yet. Below zero while a thread is asking and some have told already.
    pending: i64,
    /// One of the events has failed.
    has_failed: bool,
    /// What the device has to have when the command counts as issued.
    fetches: Option<Fetches>,
    /// Dropped when the command is done.
    kept: KeepAlive,
}

/// What an event has been asked to tell of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    None,
    /// When the event, held, moves on.
    Moved,
    /// When the event, issued, is done.
    Done,
}

type Asked = SmallVec<[Question; 4]>;

/// A command that asks events to tell of it.
pub(in crate::runtime) struct Asker<'a> {
    queue: &'a Arc<Queue>,
    number: u64,
    asked: &'a mut [Question],
    count: i64,
}

/// Whether a command can be recorded.
pub(in crate::runtime) enum Resolution {
    Ready(Ready),
    NotYet,
    Failed,
}

/// What a command that can be recorded comes after.
#[derive(Default)]
pub(in crate::runtime) struct Ready {
    pub device: DeviceWaits,
    /// The latest command of its own queue among the events.
    pub sequence: Option<u64>,
    /// The batches of its own queue in which the events' commands are.
    pub own: SmallVec<[u64; 2]>,
}

/// Submissions of other queues that the device waits for.
pub(in crate::runtime) type DeviceWaits = SmallVec<[(Arc<Queue>, u64); 2]>;

impl HeldCommands {
    pub(in crate::runtime) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Whether no command is held that all later ones come after.
    pub(in crate::runtime) fn holds_no_barrier(&self) -> bool {
        self.barriers.is_empty()
    }

    /// Keeps `object` until the held commands that use `allocation` are done.
    pub(in crate::runtime) fn keep_while_used(
        &mut self,
        allocation: &Allocation,
        object: &Arc<dyn Any + Send + Sync>,
    ) {
        let held = self.commands.values_mut();
        for held in held.filter(|held| held.command.is_user_of(allocation)) {
            held.kept.push(Arc::clone(object));
        }
    }

    /// Whether nothing that is held keeps the command from being issued.
    fn is_unobstructed(&self, number: u64, order: Order, in_order: bool) -> bool {
        let is_first = self.commands.keys().next() == Some(&number);
        is_first
            || !in_order
                && !order.after_all
                && self
                    .barriers
                    .front()
                    .is_none_or(|&barrier| barrier >= number)
    }

    /// Counts what was told; a command of which all was told is due.
    fn note(&mut self, told: &Told) {
        if let Some(held) = self.commands.get_mut(&told.number) {
            held.pending -= 1;
            held.has_failed |= told.has_failed;
            if held.pending == 0 || held.has_failed {
                self.due.push(told.number);
            }
        }
    }

    /// The command is to wait for `event` instead.
    fn put_off(&mut self, number: u64, event: Arc<Event>) {
        if let Some(held) = self.commands.get_mut(&number) {
            held.waits = Waits::on(&[event]);
            held.asked = SmallVec::from_elem(Question::None, 1);
            // What others have still to tell stays counted.
            self.due.push(number);
        }
    }

    /// Takes a command out; those in whose way it stood are due.
    fn remove(&mut self, number: u64, in_order: bool) -> Option<Held> {
        let removed = self.commands.remove(&number)?;
        let first = self.commands.first_key_value();
        let first = first.filter(|(_, held)| in_order || held.order.after_all);
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

impl Asker<'_> {
    /// Asks the event, number `at` among those waited for; whether there is something still to come.
    fn ask(&mut self, event: &Event, at: usize, question: Question) -> bool {
        let Some(asked) = self.asked.get_mut(at) else {
            return true;
        };
        if *asked == question {
            return true;
        }
        let weak: Weak<Queue> = Arc::downgrade(self.queue);
        let told = Told {
            queue: weak,
            number: self.number,
            has_failed: false,
        };
        let is_to_come = event.tell(told, question == Question::Done);
        if is_to_come {
            *asked = question;
            self.count += 1;
        }
        is_to_come
    }
}

impl Queue {
    /// Whether a command that waits for `waits` would be recorded at once.
    pub(in crate::runtime) fn would_issue(self: &Arc<Self>, waits: &Waits) -> bool {
        matches!(self.resolve(waits), Resolution::Ready(_))
            && !self.must_hold(&self.lock(), Order::default())
    }

    pub(in crate::runtime) fn must_hold(&self, state: &State, order: Order) -> bool {
        if state.holds_nothing() || order.before_held {
            return false;
        }
        self.is_in_order() || order.after_all || !state.held.barriers.is_empty()
    }

    pub(in crate::runtime) fn hold(
        self: &Arc<Self>,
        command: Command,
        event: Arc<Event>,
        waits: Waits,
        order: Order,
    ) {
        self.hold_with(command, event, waits, order, None);
    }

    /// Holds a place in the order: when its turn has come, its event is issued once the device has what is to be
    /// fetched.
    pub(in crate::runtime) fn hold_fetches(
        self: &Arc<Self>,
        fetches: Fetches,
        waits: Waits,
    ) -> Arc<Event> {
        let event = self.new_event(CL_COMMAND_MIGRATE_MEM_OBJECTS);
        let (its, order) = (Arc::clone(&event), Order::default());
        self.hold_with(Command::Nothing, its, waits, order, Some(fetches));
        event
    }

    fn hold_with(
        self: &Arc<Self>,
        command: Command,
        event: Arc<Event>,
        waits: Waits,
        order: Order,
        fetches: Option<Fetches>,
    ) {
        let mut state = self.lock_in_turn();
        let number = state.held.next;
        state.held.next += 1;
        let asked = SmallVec::from_elem(Question::None, waits.events.len() + waits.done.len());
        let held = Held {
            command,
            event,
            waits,
            order,
            asked,
            pending: 0,
            has_failed: false,
            fetches,
            kept: KeepAlive::new(),
        };
        state.held.commands.insert(number, held);
        if order.before_all {
            state.held.barriers.push_back(number);
        }
        state.held.due.push(number);
        drop(state);
        let aftermath = self.advance();
        Told::tell_all(aftermath.run_callbacks());
    }

    /// Whether the events allow a command to be recorded now. Hold no queue's lock.
    pub(in crate::runtime) fn resolve(self: &Arc<Self>, waits: &Waits) -> Resolution {
        if waits.events.is_empty() && waits.done.is_empty() {
            return Resolution::Ready(Ready::default());
        }
        self.resolve_for(waits, &mut None)
    }

    /// Whether the events allow a command to be recorded now; if not yet, they tell `asker` when that may have changed.
    fn resolve_for(self: &Arc<Self>, waits: &Waits, asker: &mut Option<Asker<'_>>) -> Resolution {
        let mut device = DeviceWaits::new();
        let mut sequence = None;
        let mut own = SmallVec::new();
        let mut not_yet = false;
        for (at, event) in waits.events.iter().enumerate() {
            loop {
                match event.stage() {
                    Stage::Done(status) if status < 0 => return Resolution::Failed,
                    Stage::Done(_) => {}
                    Stage::Held if await_move(asker, event, at) => not_yet = true,
                    // It has moved on since: look again.
                    Stage::Held => continue,
                    Stage::Issued {
                        value,
                        sequence: number,
                    } => {
                        if self.completes(event) {
                            sequence = sequence.max(Some(number));
                            own.push(value);
                            break;
                        }
                        let Some(queue) = Self::of(event) else { break };
                        if queue.retired.load(Ordering::Acquire) >= value {
                            // Done since the event was looked at, or failed.
                            continue;
                        } else if Arc::ptr_eq(&queue.vulkan, &self.vulkan) {
                            device.push((queue, value));
                        } else if await_done(asker, event, at, &queue, value) {
                            not_yet = true;
                        } else {
                            // It is done since, or has failed.
                            continue;
                        }
                    }
                }
                break;
            }
        }
        for (at, event) in waits.done.iter().enumerate() {
            let at = waits.events.len() + at;
            loop {
                match event.stage() {
                    Stage::Done(_) => {}
                    Stage::Issued { value, .. } => {
                        let Some(queue) = Self::of(event) else { break };
                        not_yet |= await_done(asker, event, at, &queue, value);
                    }
                    Stage::Held if await_move(asker, event, at) => not_yet = true,
                    Stage::Held => continue,
                }
                break;
            }
        }
        if not_yet {
            return Resolution::NotYet;
        }
        for (queue, value) in &device {
            queue.flush_to(*value);
        }
        Resolution::Ready(Ready {
            device,
            sequence,
            own,
        })
    }

    /// Counts what events tell of held commands.
    pub(in crate::runtime) fn note_told(&self, told: &[Told]) {
        let mut state = self.lock();
        told.iter().for_each(|told| state.held.note(told));
    }

    /// Records the held commands that are due and whose time has come.
    pub(in crate::runtime) fn advance(self: &Arc<Self>) -> Aftermath {
        let mut aftermath = Aftermath::default();
        // What they hold may call the application as it goes: after the lock.
        let (mut dropped, mut done_fetches) = (Vec::new(), Vec::new());
        let mut state = self.lock();
        if state.held.advancing || state.held.due.is_empty() {
            return aftermath;
        }
        state.held.advancing = true;
        let in_order = self.is_in_order();
        let mut others = Vec::new();
        let (mut issued, mut is_watched) = (false, false);
        while !state.held.due.is_empty() {
            let mut due = take(&mut state.held.due);
            due.sort_unstable();
            due.dedup();
            for number in due {
                let Some(held) = state.held.commands.get_mut(&number) else {
                    continue;
                };
                let order = held.order;
                // Only this thread looks at commands and takes them out; others count what they are told.
                let (waits, mut asked) = (take(&mut held.waits), take(&mut held.asked));
                let mut asker = Some(Asker {
                    queue: self,
                    number,
                    asked: &mut asked,
                    count: 0,
                });
                let mut resolution = Resolution::NotYet;
                let is_unobstructed = state.held.is_unobstructed(number, order, in_order);
                if is_unobstructed {
                    drop(state);
                    resolution = self.resolve_for(&waits, &mut asker);
                    state = self.lock();
                }
                let count = asker.map_or(0, |asker| asker.count);
                if let Resolution::NotYet = resolution {
                    if let Some(held) = state.held.commands.get_mut(&number) {
                        (held.waits, held.asked) = (waits, asked);
                        held.pending += count;
                        // All have told before the last was asked.
                        if is_unobstructed && count > 0 && (held.pending == 0 || held.has_failed) {
                            state.held.due.push(number);
                        }
                    }
                    continue;
                }
                let held = state.held.commands.get_mut(&number);
                let fetches = held.and_then(|held| held.fetches.take());
                match (&mut resolution, fetches) {
                    (Resolution::Ready(ready), Some(fetches)) if !fetches.claim_if_there() => {
                        // The host fetches when what the command waits for is done.
                        let job = HostJob::Own(Box::new(move || fetches.carry()));
                        let (mut first, fetched) = job.begin(self.context());
                        let (ready, held) = (Some(ready), Some(&mut aftermath));
                        let issued_it =
                            self.issue(&mut state, &mut first, None, ready, order, held);
                        if let Err(error) = issued_it {
                            log::debug!("a fetch failed: {error}");
                            dropped.push((first, KeepAlive::new()));
                        }
                        state.held.put_off(number, fetched);
                        (issued, is_watched) = (true, true);
                        continue;
                    }
                    (_, fetches) => done_fetches.extend(fetches),
                }
                let Some(held) = state.held.remove(number, in_order) else {
                    continue;
                };
                let Held {
                    mut command,
                    event,
                    kept,
                    ..
                } = held;
                let Resolution::Ready(ready) = &mut resolution else {
                    let code = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
                    aftermath.merge(event.finish(code, None));
                    dropped.push((command, kept));
                    continue;
                };
                let (its, ready, held) = (Some(&event), Some(ready), Some(&mut aftermath));
                match self.issue(&mut state, &mut command, its, ready, order, held) {
                    Ok(()) => state.keep_with_last(kept),
                    Err(error) => {
                        log::debug!("a held command failed: {error}");
                        aftermath.merge(event.finish(error.code(), None));
                        dropped.push((command, kept));
                    }
                }
                issued = true;
            }
            // A chain within the queue goes on here, into the same batch.
            for told in take(&mut aftermath.told) {
                if std::ptr::addr_eq(told.queue.as_ptr(), Arc::as_ptr(self)) {
                    state.held.note(&told)
                } else {
                    others.push(told)
                }
            }
        }
        aftermath.told = others;
        state.held.advancing = false;
        if issued {
            // A flush that came while they were held was for them as well.
            self.submit_open(&mut state);
        }
        drop(state);
        if is_watched {
            // Nobody waits for the first command.
            self.watch();
        }
        aftermath
    }
}

/// Asks for when a held event moves on; false if it has.
fn await_move(asker: &mut Option<Asker<'_>>, event: &Event, at: usize) -> bool {
    let ask = |asker: &mut Asker<'_>| asker.ask(event, at, Question::Moved);
    asker.as_mut().is_none_or(ask)
}

/// Asks for the end of a command of `queue`; whether it is still to come.
fn await_done(
    asker: &mut Option<Asker<'_>>,
    event: &Event,
    at: usize,
    queue: &Arc<Queue>,
    value: u64,
) -> bool {
    let ask = |asker: &mut Asker<'_>| asker.ask(event, at, Question::Done);
    if !asker.as_mut().is_none_or(ask) {
        return false;
    }
    queue.flush_to(value);
    queue.watch();
    true
}
