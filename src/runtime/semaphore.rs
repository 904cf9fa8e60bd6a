//! Semaphores (cl_khr_semaphore) and those shared with others (cl_khr_external_semaphore).
//!
//! Within the process a wait depends on the event of the signal that it takes. A semaphore that is exported or
//! imported has a Vulkan semaphore besides, which commands signal and wait for on the device. Vulkan wants each signal
//! submitted before the wait that takes it, and each wait before the next signal: a wait without a signal waits until
//! there is one, unless others may have signalled it, and a signal comes after the wait that took the last.

use super::command::host_job::{Gate, HostJob};
use super::command::{Command, Ordering};
use super::context::Context;
use super::device::Device;
use super::event::waits::Waits;
use super::event::{Event, Stage};
use super::object::error::{Error, Result};
use super::object::registry::{Handle, Kind, Object};
use super::queue::Queue;
use crate::runtime::queue::host_commands::enqueue_host_job;
use crate::vulkan::{self, BinarySemaphore, SemaphoreFd};
use opencl_sys::{
    CL_COMMAND_SEMAPHORE_SIGNAL_KHR, CL_COMMAND_SEMAPHORE_WAIT_KHR, CL_COMPLETE,
    CL_INVALID_OPERATION, CL_INVALID_PROPERTY, CL_INVALID_VALUE, cl_int, cl_ulong,
};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::os::fd::{OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A binary semaphore.
pub struct Semaphore {
    handle: Handle,
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    properties: Vec<cl_ulong>,
    external: Option<External>,
    state: Mutex<State>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Semaphore {
    const KIND: Kind = Kind::Semaphore;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// What a semaphore shares with others.
struct External {
    /// Another one after each import: commands that name the last may be under way.
    binary: Mutex<Arc<BinarySemaphore>>,
    exports: Vec<SemaphoreFd>,
    /// What it was made from.
    import: Option<SemaphoreFd>,
}

impl External {
    fn binary(&self) -> Arc<BinarySemaphore> {
        Arc::clone(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Arc<BinarySemaphore>> {
        self.binary.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
struct State {
    /// Signals that no wait has taken.
    signals: VecDeque<Arc<Event>>,
    /// Waits that no signal has answered.
    gated: VecDeque<Gated>,
    /// The wait that took the last signal, of a semaphore that Vulkan knows.
    taker: Option<Arc<Event>>,
    /// Others know the payload, by an opaque descriptor, and may signal it.
    is_shared: bool,
    /// The latest of each, for the payload.
    signal: Option<Arc<Event>>,
    wait: Option<Arc<Event>>,
    /// A sync file was imported: it counts as signalled, until a wait is done.
    imported: bool,
    /// A wait takes what was imported.
    takes_import: bool,
}

/// A wait whose signal is still to be enqueued.
struct Gated {
    gate: Gate,
    /// The gate's event.
    opened: Arc<Event>,
    /// The wait's, once it is enqueued.
    wait: Option<Arc<Event>>,
}

/// How a semaphore is shared.
#[derive(Default)]
pub struct Sharing {
    pub exports: Vec<SemaphoreFd>,
    /// A descriptor, which is the application's still if the semaphore can't be made. -1 is a sync file whose signal is
    /// done.
    pub import: Option<(SemaphoreFd, RawFd)>,
}

impl Semaphore {
    /// `devices`: those that may use it, of `context`. `properties` as the application gave them, with the
    /// final 0.
    ///
    /// # Errors
    /// Memory ran out; `CL_INVALID_PROPERTY` when the driver refuses a file descriptor.
    pub fn new(
        context: &Arc<Context>,
        devices: Vec<Arc<Device>>,
        properties: Vec<cl_ulong>,
        sharing: Sharing,
    ) -> Result<Arc<Self>> {
        let mut state = State::default();
        let is_external = !sharing.exports.is_empty() || sharing.import.is_some();
        let external = match devices.first().filter(|_| is_external) {
            None => None,
            Some(device) => {
                let binary = BinarySemaphore::new(device.vulkan()?, &sharing.exports)?;
                if let Some((kind, fd)) = sharing.import {
                    let refused = |error| refused(CL_INVALID_PROPERTY, error);
                    binary.import(kind, fd).map_err(refused)?;
                    state.imported = kind == SemaphoreFd::Sync;
                    state.is_shared = kind == SemaphoreFd::Opaque;
                }
                Some(External {
                    binary: Mutex::new(Arc::new(binary)),
                    exports: sharing.exports,
                    import: sharing.import.map(|(kind, _)| kind),
                })
            }
        };
        Ok(Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            devices,
            properties,
            external,
            state: Mutex::new(state),
        }))
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// `CL_SEMAPHORE_DEVICE_HANDLE_LIST_KHR`
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// `CL_SEMAPHORE_PROPERTIES_KHR`
    pub fn properties(&self) -> &[cl_ulong] {
        &self.properties
    }

    /// `CL_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR`
    pub fn exports(&self) -> &[SemaphoreFd] {
        self.external.as_ref().map_or(&[], |it| &it.exports)
    }

    /// `CL_SEMAPHORE_PAYLOAD_KHR`: whether it is signalled.
    pub fn is_signalled(&self) -> bool {
        let (signal, wait, imported) = {
            let state = self.lock();
            (state.signal.clone(), state.wait.clone(), state.imported)
        };
        let is_done =
            |event: Option<Arc<Event>>| event.is_some_and(|it| it.status() == CL_COMPLETE);
        (imported || is_done(signal)) && !is_done(wait)
    }

    /// Whether it was made from a sync file.
    pub fn is_of_sync_file(&self) -> bool {
        let import = self.external.as_ref().and_then(|it| it.import);
        import == Some(SemaphoreFd::Sync)
    }

    /// A file descriptor for others, `None` for a sync file whose signal is done already. Waits while the signal that the
    /// sync file is of is held.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when it was not made for that, or nothing has signalled it.
    pub fn export(&self, kind: SemaphoreFd) -> Result<Option<OwnedFd>> {
        let external = self
            .external
            .as_ref()
            .filter(|external| external.exports.contains(&kind))
            .ok_or_else(|| Error::invalid_value("the semaphore was not made for this export"))?;
        match kind {
            SemaphoreFd::Sync => self.give_signal()?,
            SemaphoreFd::Opaque => self.share(),
        }
        let refused = |error| refused(CL_INVALID_OPERATION, error);
        external.binary().export(kind).map_err(refused)
    }

    /// Has the signal that no wait has taken submitted. "Exporting a semaphore payload to a handle with copy transference
    /// has the same side effects on the source semaphore's payload as executing a semaphore wait operation."
    fn give_signal(&self) -> Result<()> {
        let signal = {
            let mut state = self.lock();
            state.signal = None;
            state.taker = None;
            state.signals.pop_front()
        };
        let unsignalled = || Error::invalid_operation("nothing has signalled the semaphore");
        let signal = signal.ok_or_else(unsignalled)?;
        let queue = Queue::of(&signal).ok_or_else(unsignalled)?;
        // Vulkan wants "an associated semaphore signal operation that has been submitted for execution", with all that
        // it depends on.
        if let Stage::Done(..0) = signal.wait_until_issued() {
            return Err(Error::invalid_operation("the semaphore's signal failed"));
        }
        queue.flush();
        Ok(())
    }

    /// Others may signal it from now on: waits no longer need a signal of ours.
    fn share(&self) {
        let gated = {
            let mut state = self.lock();
            state.is_shared = true;
            std::mem::take(&mut state.gated)
        };
        for gated in gated {
            gated.gate.open();
        }
    }

    /// `clReImportSemaphoreSyncFdKHR`, of one made from a sync file: "equivalent to destroying sema_object and
    /// re-creating it". `fd` stays the application's if it fails.
    ///
    /// # Errors
    /// Memory ran out; `CL_INVALID_VALUE` when the driver refuses the descriptor.
    pub fn import_again(&self, fd: RawFd) -> Result<()> {
        let (Some(external), Some(device)) = (&self.external, self.devices.first()) else {
            return Err(Error::invalid_operation("the semaphore is not shared"));
        };
        let binary = BinarySemaphore::new(device.vulkan()?, &[])?;
        binary
            .import(SemaphoreFd::Sync, fd)
            .map_err(|error| refused(CL_INVALID_VALUE, error))?;
        let mut state = self.lock();
        let earlier = std::mem::take(&mut *state);
        state.imported = true;
        *external.lock() = Arc::new(binary);
        drop(state);
        // Nothing will answer a wait that is still without a signal.
        drop(earlier);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The event that a wait depends on besides the Vulkan semaphore.
    fn take_signal(&self) -> Option<Arc<Event>> {
        let mut state = self.lock();
        if let Some(signal) = state.signals.pop_front() {
            return Some(signal);
        }
        if state.is_shared {
            return None;
        }
        if state.imported && !state.takes_import {
            state.takes_import = true;
            return None;
        }
        // The signal is still to be enqueued.
        let (gate, opened) = Gate::new(&self.context);
        state.gated.push_back(Gated {
            gate,
            opened: Arc::clone(&opened),
            wait: None,
        });
        Some(opened)
    }

    /// `wait` was enqueued, to come after `signal`.
    fn note_wait(&self, wait: &Arc<Event>, signal: Option<&Arc<Event>>) {
        let mut state = self.lock();
        state.wait = Some(Arc::clone(wait));
        if self.external.is_none() {
            return;
        }
        let is_its = |gated: &&mut Gated| signal.is_some_and(|it| Arc::ptr_eq(it, &gated.opened));
        match state.gated.iter_mut().find(is_its) {
            // The signal before it may still be to be taken.
            Some(gated) => gated.wait = Some(Arc::clone(wait)),
            None => state.taker = Some(Arc::clone(wait)),
        }
    }
}

/// `clEnqueueSignalSemaphoresKHR`
pub fn signal(
    queue: &Arc<Queue>,
    semaphores: &[Arc<Semaphore>],
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let signals = binaries(semaphores);
    let mut waits = Waits::on(wait_list);
    for semaphore in semaphores {
        // If that wait fails, so does the signal: the last one is still there.
        waits.events.extend(semaphore.lock().taker.take());
    }
    let event = queue.enqueue(
        CL_COMMAND_SEMAPHORE_SIGNAL_KHR,
        Command::Semaphores {
            waits: SmallVec::new(),
            signals,
        },
        waits,
        Ordering::default(),
    )?;
    let mut gates = Vec::new();
    for semaphore in semaphores {
        let mut state = semaphore.lock();
        match state.gated.pop_front() {
            // The wait that takes this signal is there already.
            Some(gated) => {
                gates.push(gated.gate);
                state.taker = gated.wait;
            }
            None => {
                if state.is_shared {
                    // Others have taken the last.
                    state.signals.clear();
                }
                state.signals.push_back(Arc::clone(&event));
                state.wait = None;
            }
        }
        state.signal = Some(Arc::clone(&event));
        state.imported = false;
    }
    if !gates.is_empty() {
        let open = move || {
            gates.into_iter().for_each(Gate::open);
            Ok(())
        };
        let kind = CL_COMMAND_SEMAPHORE_SIGNAL_KHR;
        let after = [Arc::clone(&event)];
        enqueue_host_job(queue, kind, HostJob::Own(Box::new(open)), false, &after)?;
    }
    Ok(event)
}

/// `clEnqueueWaitSemaphoresKHR`
pub fn wait(
    queue: &Arc<Queue>,
    semaphores: &[Arc<Semaphore>],
    wait_list: &[Arc<Event>],
) -> Result<Arc<Event>> {
    let mut waits = Waits::on(wait_list);
    let mut takes_shared = false;
    let mut taken: SmallVec<[Option<Arc<Event>>; 1]> = SmallVec::new();
    for semaphore in semaphores {
        let signal = semaphore.take_signal();
        takes_shared |= signal.is_some() && semaphore.external.is_some();
        waits.events.extend(signal.clone());
        taken.push(signal);
    }
    let event = queue.enqueue(
        CL_COMMAND_SEMAPHORE_WAIT_KHR,
        Command::Semaphores {
            waits: binaries(semaphores),
            signals: SmallVec::new(),
        },
        waits,
        Ordering::default(),
    )?;
    for (semaphore, signal) in semaphores.iter().zip(&taken) {
        semaphore.note_wait(&event, signal.as_ref());
    }
    if takes_shared {
        // Another semaphore may stand for the same payload: its next signal must find this one taken.
        queue.flush();
    }
    Ok(event)
}

fn binaries(semaphores: &[Arc<Semaphore>]) -> SmallVec<[Arc<BinarySemaphore>; 1]> {
    semaphores
        .iter()
        .filter_map(|semaphore| semaphore.external.as_ref())
        .map(External::binary)
        .collect()
}

/// `code` for a descriptor that is not what it should be.
fn refused(code: cl_int, error: vulkan::Error) -> Error {
    match error {
        vulkan::Error::OutOfHostMemory
        | vulkan::Error::OutOfDeviceMemory
        | vulkan::Error::DeviceLost => error.into(),
        error => Error::new(code, format!("a semaphore's file descriptor: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_queue;
    use super::*;
    use std::os::fd::IntoRawFd;

    /// A semaphore that can be exported, unless the device has none of the kind.
    fn exportable(queue: &Queue, kind: SemaphoreFd) -> Option<Arc<Semaphore>> {
        let fds = &queue.device().info().semaphore_fds;
        let can = match kind {
            SemaphoreFd::Opaque => fds.opaque,
            SemaphoreFd::Sync => fds.sync,
        };
        if !can.export || !can.import {
            eprintln!("skipped: semaphores are not shared by descriptors of the kind {kind:?}");
            return None;
        }
        let sharing = Sharing {
            exports: vec![kind],
            import: None,
        };
        Some(semaphore(queue, sharing))
    }

    fn semaphore(queue: &Queue, sharing: Sharing) -> Arc<Semaphore> {
        let devices = vec![Arc::clone(queue.device())];
        Semaphore::new(queue.context(), devices, Vec::new(), sharing).unwrap()
    }

    #[test]
    fn signals_that_others_take_are_not_kept() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let Some(ours) = exportable(&queue, SemaphoreFd::Opaque) else {
            return;
        };
        let fd = ours.export(SemaphoreFd::Opaque).unwrap().unwrap();
        let theirs = semaphore(
            &queue,
            Sharing {
                exports: Vec::new(),
                import: Some((SemaphoreFd::Opaque, fd.into_raw_fd())),
            },
        );
        for _ in 0..20 {
            let ours = std::slice::from_ref(&ours);
            signal(&queue, ours, &[]).unwrap();
            let theirs = std::slice::from_ref(&theirs);
            wait(&queue, theirs, &[]).unwrap();
        }
        queue.finish().unwrap();
        assert!(ours.lock().signals.len() <= 1);
    }

    /// The signal of a sync file waits for what holds it.
    #[test]
    fn a_sync_file_is_of_a_signal_that_is_under_way() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let Some(semaphore) = exportable(&queue, SemaphoreFd::Sync) else {
            return;
        };
        assert!(semaphore.export(SemaphoreFd::Sync).is_err(), "no signal");
        let one = std::slice::from_ref(&semaphore);
        for _ in 0..3 {
            let gate = Event::of_user(queue.context());
            let list = [Arc::clone(&gate)];
            let signal = signal(&queue, one, &list).unwrap();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(20));
                    assert_eq!(signal.stage(), Stage::Waiting);
                    gate.set_user_status(CL_COMPLETE).unwrap();
                });
                semaphore.export(SemaphoreFd::Sync).unwrap();
            });
            assert!(!semaphore.is_signalled());
            assert!(semaphore.export(SemaphoreFd::Sync).is_err(), "it was taken");
        }
        // One that fails leaves nothing.
        let gate = Event::of_user(queue.context());
        let list = [Arc::clone(&gate)];
        signal(&queue, one, &list).unwrap();
        gate.set_user_status(-7).unwrap();
        assert!(semaphore.export(SemaphoreFd::Sync).is_err(), "it failed");
        queue.finish().unwrap();
    }
}
