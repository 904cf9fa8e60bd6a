//! Commands on their way: they wait, and go into a batch once what they wait for is under way.

use super::completion_thread::watch;
use super::enqueue_lock::Locked;
use super::issue::{Placement, issue};
use super::submit::submit_open;
use super::subscription::{Resolution, Subscription, resolve, resolve_for};
use super::waiting_commands::{Ready, WaitingCommand};
use super::{Queue, new_event};
use crate::runtime::command::host_job::HostJob;
use crate::runtime::command::{Command, Ordering as Order};
use crate::runtime::event::Event;
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{DeferredWork, Subscriber};
use crate::runtime::residency::fetch::Fetches;
use opencl_sys::{CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST};
use std::sync::Arc;

/// Whether a command that waits for `waits` would be recorded at once.
pub(in crate::runtime) fn would_issue(queue: &Arc<Queue>, waits: &Waits) -> bool {
    matches!(resolve(queue, waits), Resolution::Ready(_))
        && !queue.lock().has_wait(Order::default(), queue.is_in_order())
}

/// Has a command wait for its turn. Hold no lock.
pub(in crate::runtime) fn enqueue_waiting(
    queue: &Arc<Queue>,
    command: Command,
    event: Arc<Event>,
    waits: Waits,
    order: Order,
) {
    add_command(queue, WaitingCommand::new(command, event, waits, order));
}

/// Holds a place in the order: when its turn has come, its event is issued once the device has what is to be
/// fetched.
pub(super) fn enqueue_fetches(queue: &Arc<Queue>, fetches: Fetches, waits: Waits) -> Arc<Event> {
    let event = new_event(queue, CL_COMMAND_MIGRATE_MEM_OBJECTS);
    let (its, order) = (Arc::clone(&event), Order::default());
    let mut command = WaitingCommand::new(Command::NOTHING, its, waits, order);
    command.fetches = Some(fetches);
    add_command(queue, command);
    event
}

fn add_command(queue: &Arc<Queue>, command: WaitingCommand) {
    queue.lock_to_enqueue().waiting.add(command);
    let deferred = advance(queue);
    Subscriber::tell_all(deferred.run_but_subscribers());
}

/// Records the waiting commands that are due and whose time has come. Hold no lock. The commands of other queues that are to
/// be told then are part of what is left to do.
pub(super) fn advance(queue: &Arc<Queue>) -> DeferredWork {
    let mut state = queue.lock();
    if !state.waiting.begin_to_advance() {
        return DeferredWork::default();
    }
    let mut advance = Advance::new(queue);
    while let Some(due) = state.waiting.take_due() {
        for number in due {
            state = advance.look_at(state, number);
        }
        // A chain within the queue goes on here, into the same batch.
        for told in advance.take_own_subscribers() {
            state.waiting.note(&told);
        }
    }
    state.waiting.end_to_advance();
    if advance.has_issued {
        // A flush that came while they waited was for them as well.
        submit_open(queue, &mut state);
    }
    drop(state);
    if advance.begins_on_host {
        // Nobody waits for the first command.
        watch(queue);
    }
    advance.deferred
}

/// One thread's way over the commands that are due.
struct Advance<'a> {
    queue: &'a Arc<Queue>,
    deferred: DeferredWork,
    has_issued: bool,
    /// A command has been issued that the host goes on after.
    begins_on_host: bool,
}

impl<'a> Advance<'a> {
    fn new(queue: &'a Arc<Queue>) -> Self {
        Self {
            queue,
            deferred: DeferredWork::default(),
            has_issued: false,
            begins_on_host: false,
        }
    }

    /// What commands of this queue have been told meanwhile.
    fn take_own_subscribers(&mut self) -> Vec<Subscriber> {
        let queue = Arc::as_ptr(self.queue);
        let is_own = |it: &Subscriber| std::ptr::addr_eq(it.queue.as_ptr(), queue);
        self.deferred.take_subscribers(is_own)
    }

    /// Looks at a command that is due: issues it if it may be, or notes what it has asked for. The queue is unlocked meanwhile.
    fn look_at(&mut self, mut state: Locked<'a>, number: u64) -> Locked<'a> {
        let in_order = self.queue.is_in_order();
        // Only this thread looks at commands and takes them out; others count what they are told.
        let Some(mut look) = state.waiting.begin_look(number) else {
            return state;
        };
        let mut resolution = Resolution::NotYet;
        let mut count = 0;
        if state.waiting.is_unobstructed(number, look.order, in_order) {
            drop(state);
            let mut subscription = Some(Subscription::new(self.queue, number, &mut look.asked));
            resolution = resolve_for(self.queue, &look.waits, &mut subscription);
            count = subscription.map_or(0, |it| it.count());
            state = self.queue.lock();
        }
        match resolution {
            Resolution::NotYet => state.waiting.end_look(number, look, count),
            Resolution::Failed => {
                if let Some(command) = state.waiting.remove(number, in_order) {
                    self.fail(command, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
                }
            }
            Resolution::Ready(mut ready) => {
                let command = state.waiting.get_mut(number);
                let fetches = command.and_then(|it| it.fetches.take());
                match fetches {
                    Some(fetches) if !fetches.claim_if_there() => {
                        self.fetch(&mut state, number, fetches, &mut ready);
                    }
                    fetches => {
                        // What they hold may call the application as it goes.
                        if let Some(fetches) = fetches {
                            self.deferred.drop_later(fetches);
                        }
                        if let Some(command) = state.waiting.remove(number, in_order) {
                            self.issue(&mut state, command, &mut ready);
                        }
                    }
                }
            }
        }
        state
    }

    /// Has the host fetch what the command needs when what it waits for is done; it goes on waiting for that.
    fn fetch(&mut self, state: &mut Locked<'_>, number: u64, fetches: Fetches, ready: &mut Ready) {
        let job = HostJob::Own(Box::new(move || fetches.carry()));
        let (mut first, fetched) = job.begin(self.queue.context());
        let placement = Placement {
            event: None,
            ready: Some(ready),
            order: Default::default(),
            waited: Some(&mut self.deferred),
        };
        if let Err(error) = issue(self.queue, state, &mut first, placement) {
            log::debug!("a fetch failed: {error}");
            self.deferred.drop_later(first);
        }
        state.waiting.put_off(number, fetched);
        (self.has_issued, self.begins_on_host) = (true, true);
    }

    /// Issues a command that has been taken out.
    fn issue(&mut self, state: &mut Locked<'_>, command: WaitingCommand, ready: &mut Ready) {
        let mut command = command;
        let placement = Placement {
            event: Some(&command.event),
            ready: Some(ready),
            order: command.order,
            waited: Some(&mut self.deferred),
        };
        match issue(self.queue, state, &mut command.command, placement) {
            Ok(()) => state.keep_with_last(command.keep_alive),
            Err(error) => {
                log::debug!("a waiting command failed: {error}");
                self.fail(command, error.code());
            }
        }
        self.has_issued = true;
    }

    /// Ends a command that has been taken out.
    fn fail(&mut self, command: WaitingCommand, code: i32) {
        self.deferred.merge(command.event.finish(code, None));
        // What it holds may call the application as it goes.
        let WaitingCommand {
            command,
            keep_alive,
            fetches,
            ..
        } = command;
        self.deferred.drop_later((command, keep_alive, fetches));
    }
}
