//! Events: a command's place in a queue's time, or an application's own signal.

pub mod deferred_work;
pub mod subscriber;
pub mod waits;

pub use deferred_work::DeferredWork;
pub use subscriber::{Subscriber, WaitingQueue};

use super::context::Context;
use super::host::notifier;
use super::host::process;
use super::object::callback::{EventNotify, UserData};
use super::object::error::{Error, Result};
use super::object::registry::{Handle, Kind, Object};
use opencl_sys::{CL_COMMAND_USER, CL_COMPLETE, CL_QUEUED, CL_SUBMITTED, cl_command_type, cl_int};
use smallvec::SmallVec;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Events that a command waits for.
pub type WaitList = SmallVec<[Arc<Event>; 4]>;

/// What completes the events of commands: a queue, as they know it.
pub trait CompletionSource: Send + Sync {
    /// Completes the events of the batch of time `value` and of those before it, so far as they are done. Does not block.
    fn poll(self: Arc<Self>, value: u64);

    /// Blocks until the batch of time `value` is done and its events are completed.
    fn wait_for(self: Arc<Self>, value: u64);

    /// Whether the batch of time `value` has been handed to the device.
    fn is_submitted(&self, value: u64) -> bool;

    /// Has a thread see to it that events are completed as soon as their commands are done, even if nobody waits.
    fn watch(self: Arc<Self>);

    /// The queue itself.
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// An event.
pub struct Event {
    handle: Handle,
    context: Arc<Context>,
    /// `None` for user events.
    source: Option<Arc<dyn CompletionSource>>,
    kind: cl_command_type,
    /// The command belongs to more queues than the one that executes it.
    spans_queues: AtomicBool,
    /// Its times are taken even on a queue that takes none.
    is_timed: bool,
    state: Mutex<State>,
    /// Signalled when a waiting command is issued or done.
    changed: Condvar,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Event {
    const KIND: Kind = Kind::Event;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// How far the command has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not recorded: what it waits for is not known to be under way. User events start here.
    Waiting,
    /// Recorded; done when the queue's timeline reaches `value`. `sequence` is its place among the
    /// queue's commands.
    Issued { value: u64, sequence: u64 },
    /// Done: 0, or a negative error code.
    Done(cl_int),
}

/// Host nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    pub queued_ns: u64,
    pub submit_ns: u64,
    pub start_ns: u64,
    pub end_ns: u64,
}

struct State {
    stage: Stage,
    profile: Profile,
    /// Waiting commands to tell when this event moves on.
    subscribers: Vec<Subscriber>,
    callbacks: Vec<Callback>,
    /// The command is the last piece of work that began with these.
    begun_by: Vec<Arc<Event>>,
}

struct Callback {
    /// `CL_SUBMITTED`, `CL_RUNNING` or `CL_COMPLETE`
    at: cl_int,
    notify: EventNotify,
    user_data: UserData,
}

impl Callback {
    fn call(&self, event: &Event, status: cl_int) {
        if let Some(notify) = self.notify {
            // SAFETY: the application's function, with the handle that it knows the event by.
            process::call_application(|| unsafe {
                notify(event.handle.as_ptr(), status, self.user_data.0);
            });
        }
    }
}

impl Event {
    /// The event of a command that is not recorded yet.
    pub(super) fn of_command(
        context: &Arc<Context>,
        source: Arc<dyn CompletionSource>,
        kind: cl_command_type,
        queued_ns: u64,
    ) -> Self {
        Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            source: Some(source),
            kind,
            spans_queues: AtomicBool::new(false),
            is_timed: false,
            state: Mutex::new(State::new(Profile {
                queued_ns,
                ..Profile::default()
            })),
            changed: Condvar::new(),
        }
    }

    /// Takes its times even on a queue that takes none.
    pub(super) fn timed(self) -> Self {
        Self {
            is_timed: true,
            ..self
        }
    }

    /// `clCreateUserEvent`
    pub fn of_user(context: &Arc<Context>) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            source: None,
            kind: CL_COMMAND_USER,
            spans_queues: AtomicBool::new(false),
            is_timed: false,
            state: Mutex::new(State::new(Profile::default())),
            changed: Condvar::new(),
        })
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// What completes it; `None` for user events.
    pub(super) fn source(&self) -> Option<&Arc<dyn CompletionSource>> {
        self.source.as_ref()
    }

    /// Whether the command belongs to several queues: then `CL_EVENT_COMMAND_QUEUE` is NULL.
    pub fn spans_queues(&self) -> bool {
        self.spans_queues.load(Ordering::Relaxed)
    }

    pub(super) fn set_spans_queues(&self) {
        self.spans_queues.store(true, Ordering::Relaxed);
    }

    /// Whether its times are taken even on a queue that takes none.
    pub(super) fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// `CL_EVENT_COMMAND_TYPE`
    pub fn kind(&self) -> cl_command_type {
        self.kind
    }

    pub fn is_user(&self) -> bool {
        self.source.is_none()
    }

    pub(super) fn stage(&self) -> Stage {
        self.lock().stage
    }

    /// `CL_EVENT_COMMAND_EXECUTION_STATUS`, as it is now: sees completion without blocking.
    pub fn status(&self) -> cl_int {
        if let (Some(source), Stage::Issued { value, .. }) = (&self.source, self.stage()) {
            Arc::clone(source).poll(value);
        }
        match self.stage() {
            Stage::Waiting if self.is_user() => CL_SUBMITTED,
            Stage::Waiting => CL_QUEUED,
            Stage::Issued { .. } => CL_SUBMITTED,
            Stage::Done(status) => status,
        }
    }

    /// Blocks until the command is done; its final status, 0 or negative.
    pub fn wait(&self) -> cl_int {
        let mut state = self.lock();
        loop {
            match state.stage {
                Stage::Done(status) => return status,
                Stage::Waiting => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                Stage::Issued { value, .. } => {
                    drop(state);
                    if let Some(source) = &self.source {
                        Arc::clone(source).wait_for(value);
                    }
                    state = self.lock();
                }
            }
        }
    }

    /// Blocks while the command waits in its queue.
    pub(super) fn wait_until_issued(&self) -> Stage {
        let mut state = self.lock();
        while state.stage == Stage::Waiting {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.stage
    }

    /// The times, once the command is done without error.
    pub fn profile(&self) -> Option<Profile> {
        let state = self.lock();
        if state.stage != Stage::Done(CL_COMPLETE) {
            return None;
        }
        let mut profile = state.profile;
        for first in &state.begun_by {
            let first = first.profile()?;
            profile.queued_ns = profile.queued_ns.min(first.queued_ns);
            profile.submit_ns = profile.submit_ns.min(first.submit_ns);
            profile.start_ns = profile.start_ns.min(first.start_ns);
        }
        Some(profile)
    }

    /// The command is the last piece of work that `first`, an earlier command, is part of.
    pub(super) fn continues(self: &Arc<Self>, first: &Arc<Self>) {
        if !Arc::ptr_eq(self, first) {
            self.lock().begun_by.push(Arc::clone(first));
        }
    }

    /// `clSetUserEventStatus`: `status` is 0 or negative. Fails when it was set before.
    pub fn set_user_status(self: &Arc<Self>, status: cl_int) -> Result<()> {
        let set_before = || Error::invalid_operation("the status of the user event was set before");
        self.finish_once(status, None).ok_or_else(set_before)?.run();
        Ok(())
    }

    /// `clSetEventCallback`; `at` is `CL_SUBMITTED`, `CL_RUNNING` or `CL_COMPLETE`.
    pub fn on_status(self: &Arc<Self>, at: cl_int, notify: EventNotify, user_data: UserData) {
        let callback = Callback {
            at,
            notify,
            user_data,
        };
        let mut state = self.lock();
        let reached = match state.stage {
            Stage::Done(status) => Some(if status < 0 { status } else { at }),
            Stage::Waiting if self.is_user() && at == CL_SUBMITTED => Some(at),
            Stage::Issued { value, .. } if at == CL_SUBMITTED => self
                .source
                .as_ref()
                .filter(|source| source.is_submitted(value))
                .map(|_| at),
            _ => None,
        };
        if let Some(status) = reached {
            drop(state);
            let event = Arc::clone(self);
            notifier::send(Box::new(move || callback.call(&event, status)));
            return;
        }
        state.callbacks.push(callback);
        drop(state);
        // Somebody must see the completion, even if the application never waits.
        if let Some(source) = &self.source {
            Arc::clone(source).watch();
        }
    }

    /// Has a waiting command told when this event moves on. False when there is nothing to wait for: the event has been issued
    /// (and `until_done` is not asked for) or is done.
    pub(super) fn subscribe(&self, subscriber: Subscriber, until_done: bool) -> bool {
        let mut state = self.lock();
        let moves_on = match state.stage {
            Stage::Waiting => true,
            Stage::Issued { .. } => until_done,
            Stage::Done(_) => false,
        };
        if moves_on {
            state.subscribers.push(subscriber);
        }
        moves_on
    }

    /// The command has been recorded. Where it has waited, `waited` takes what is left to do.
    pub(super) fn issue(&self, value: u64, sequence: u64, waited: Option<&mut DeferredWork>) {
        let mut state = self.lock();
        state.stage = Stage::Issued { value, sequence };
        if let Some(deferred) = waited {
            self.changed.notify_all();
            // Those that wait for the end are told now as well; they ask again.
            deferred.tell(&mut state.subscribers);
        }
    }

    /// The command's batch has been handed to the device at `submit_ns`. When it begins to run nobody sees: that is
    /// told with its end, late and never early, as [`Event::status`] never says "running" either.
    pub(super) fn submitted(self: &Arc<Self>, submit_ns: u64) -> DeferredWork {
        let mut state = self.lock();
        state.profile.submit_ns = submit_ns;
        if state.callbacks.is_empty() {
            return DeferredWork::default();
        }
        let (early, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut state.callbacks)
            .into_iter()
            .partition(|callback| callback.at == CL_SUBMITTED);
        state.callbacks = rest;
        DeferredWork::of_event(Vec::new(), in_order(early, self, None))
    }

    /// The command is done with `status`, 0 or negative.
    pub(super) fn finish(
        self: &Arc<Self>,
        status: cl_int,
        times: Option<(u64, u64)>,
    ) -> DeferredWork {
        self.finish_once(status, times).unwrap_or_default()
    }

    /// Notes that the command is done with `status`, 0 or negative; `None` if it was done before.
    fn finish_once(
        self: &Arc<Self>,
        status: cl_int,
        times: Option<(u64, u64)>,
    ) -> Option<DeferredWork> {
        let mut state = self.lock();
        if matches!(state.stage, Stage::Done(_)) {
            return None;
        }
        let has_waited = state.stage == Stage::Waiting;
        state.stage = Stage::Done(status);
        if let Some((start_ns, end_ns)) = times {
            let profile = &mut state.profile;
            profile.submit_ns = profile.submit_ns.max(profile.queued_ns);
            profile.start_ns = start_ns.max(profile.submit_ns);
            profile.end_ns = end_ns.max(profile.start_ns);
        }
        if has_waited {
            self.changed.notify_all();
        }
        let callbacks = std::mem::take(&mut state.callbacks);
        let mut subscribers = std::mem::take(&mut state.subscribers);
        if status < 0 {
            subscribers = subscribers.into_iter().map(Subscriber::fails).collect();
        }
        let callbacks = in_order(callbacks, self, (status < 0).then_some(status));
        Some(DeferredWork::of_event(subscribers, callbacks))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Callbacks in the order of the states they are for, each with the status it is told.
fn in_order(
    mut callbacks: Vec<Callback>,
    event: &Arc<Event>,
    error: Option<cl_int>,
) -> Vec<(Arc<Event>, Callback, cl_int)> {
    // CL_SUBMITTED > CL_RUNNING > CL_COMPLETE
    callbacks.sort_by_key(|callback| std::cmp::Reverse(callback.at));
    callbacks
        .into_iter()
        .map(|callback| {
            let status = error.unwrap_or(callback.at);
            (Arc::clone(event), callback, status)
        })
        .collect()
}

impl State {
    fn new(profile: Profile) -> Self {
        Self {
            stage: Stage::Waiting,
            profile,
            subscribers: Vec::new(),
            callbacks: Vec::new(),
            begun_by: Vec::new(),
        }
    }
}
