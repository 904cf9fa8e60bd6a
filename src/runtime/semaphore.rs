//! Semaphores (cl_khr_semaphore) and those shared with others (cl_khr_external_semaphore).
//!
//! Within the process a wait depends on the event of the signal that it takes. A semaphore that is exported or
//! imported has a Vulkan semaphore besides, which commands signal and wait for on the device.

use super::command::{Command, Ordering};
use super::context::Context;
use super::device::Device;
use super::error::{Error, Result};
use super::event::Event;
use super::host_job::{Gate, HostJob};
use super::object::{Handle, Kind, Object};
use super::queue::{Queue, Waits};
use crate::vulkan::{self, BinarySemaphore, SemaphoreFd};
use opencl_sys::{
    CL_COMMAND_SEMAPHORE_SIGNAL_KHR, CL_COMMAND_SEMAPHORE_WAIT_KHR, CL_COMPLETE, cl_ulong,
};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
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
    binary: Arc<BinarySemaphore>,
    exports: Vec<SemaphoreFd>,
}

#[derive(Default)]
struct State {
    /// Signals that no wait has taken.
    signals: VecDeque<Arc<Event>>,
    /// Waits that no signal has answered.
    gates: VecDeque<Gate>,
    /// The latest of each, for the payload.
    signal: Option<Arc<Event>>,
    wait: Option<Arc<Event>>,
    /// A sync file was imported and not waited for: it counts as signalled.
    imported: bool,
}

/// How a semaphore is shared.
#[derive(Default)]
pub struct Sharing {
    pub exports: Vec<SemaphoreFd>,
    pub import: Option<(SemaphoreFd, Option<OwnedFd>)>,
}

impl Semaphore {
    /// `devices`: those that may use it, of `context`. `properties` as the application gave them, with the
    /// final 0.
    ///
    /// # Errors
    /// Memory ran out, or the driver refuses a file descriptor.
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
                    binary.import(kind, fd).map_err(refused)?;
                    state.imported = kind == SemaphoreFd::Sync;
                }
                Some(External {
                    binary: Arc::new(binary),
                    exports: sharing.exports,
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

    /// A file descriptor for others, `None` for a sync file whose signal is done already.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when it was not made for that, or nothing has signalled it.
    pub fn export(&self, kind: SemaphoreFd) -> Result<Option<OwnedFd>> {
        let external = self
            .external
            .as_ref()
            .filter(|external| external.exports.contains(&kind))
            .ok_or_else(|| Error::invalid_value("the semaphore was not made for this export"))?;
        if kind == SemaphoreFd::Sync {
            // A sync file is of a signal that is under way, and takes it.
            let signal = {
                let mut state = self.lock();
                state.signal = None;
                state.signals.pop_back()
            };
            let queue = signal.as_ref().and_then(|event| event.queue());
            let queue = queue
                .ok_or_else(|| Error::invalid_operation("nothing has signalled the semaphore"))?;
            queue.flush();
        }
        external.binary.export(kind).map_err(refused)
    }

    /// `clReImportSemaphoreSyncFdKHR`
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION` when it was not imported before; the driver refuses the descriptor.
    pub fn import_again(&self, fd: Option<OwnedFd>) -> Result<()> {
        let external = self.external.as_ref().ok_or_else(|| {
            Error::invalid_operation("the semaphore was not made from a sync file")
        })?;
        external
            .binary
            .import(SemaphoreFd::Sync, fd)
            .map_err(refused)?;
        let mut state = self.lock();
        state.imported = true;
        state.wait = None;
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
        if self.external.is_some() {
            return None;
        }
        // The signal is still to be enqueued.
        let (gate, event) = Gate::new(&self.context);
        state.gates.push_back(gate);
        Some(event)
    }
}

impl Queue {
    /// `clEnqueueSignalSemaphoresKHR`
    pub fn enqueue_signal_semaphores(
        self: &Arc<Self>,
        semaphores: &[Arc<Semaphore>],
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let signals = binaries(semaphores);
        let event = self.enqueue(
            CL_COMMAND_SEMAPHORE_SIGNAL_KHR,
            Command::Semaphores {
                waits: SmallVec::new(),
                signals,
            },
            Waits::on(wait_list),
            Ordering::default(),
        )?;
        let mut gates = Vec::new();
        for semaphore in semaphores {
            let mut state = semaphore.lock();
            match state.gates.pop_front() {
                // The wait that takes this signal is there already.
                Some(gate) => gates.push(gate),
                None => {
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
            self.enqueue_host_job(kind, HostJob::Own(Box::new(open)), false, &after)?;
        }
        Ok(event)
    }

    /// `clEnqueueWaitSemaphoresKHR`
    pub fn enqueue_wait_semaphores(
        self: &Arc<Self>,
        semaphores: &[Arc<Semaphore>],
        wait_list: &[Arc<Event>],
    ) -> Result<Arc<Event>> {
        let mut waits = Waits::on(wait_list);
        let mut takes_shared = false;
        for semaphore in semaphores {
            if let Some(signal) = semaphore.take_signal() {
                takes_shared |= semaphore.external.is_some();
                waits.events.push(signal);
            }
        }
        let event = self.enqueue(
            CL_COMMAND_SEMAPHORE_WAIT_KHR,
            Command::Semaphores {
                waits: binaries(semaphores),
                signals: SmallVec::new(),
            },
            waits,
            Ordering::default(),
        )?;
        for semaphore in semaphores {
            semaphore.lock().wait = Some(Arc::clone(&event));
        }
        if takes_shared {
            // Another semaphore may stand for the same payload: its next signal must find this one taken.
            self.flush();
        }
        Ok(event)
    }
}

fn binaries(semaphores: &[Arc<Semaphore>]) -> SmallVec<[Arc<BinarySemaphore>; 1]> {
    semaphores
        .iter()
        .filter_map(|semaphore| semaphore.external.as_ref())
        .map(|external| Arc::clone(&external.binary))
        .collect()
}

fn refused(error: vulkan::Error) -> Error {
    Error::invalid_operation(format!("a semaphore's file descriptor: {error}"))
}
