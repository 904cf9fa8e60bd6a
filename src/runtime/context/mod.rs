//! Contexts: the devices that share memory objects, programs and events.

pub mod device_queue;
pub mod sampler;

use super::allocation::Allocation;
use super::allocation::pinned::Pinned;
use super::device::Device;
use super::host::notifier;
use super::host::process;
use super::object::callback::{ContextDestructor, ContextNotify, UserData};
use super::object::error::Result;
use super::object::registry::{Handle, Kind, Object};
use super::residency::backing::{Backing, MemoryAccess};
use super::residency::contents::AccessMode;
use super::residency::shared::SharedMemories;
use opencl_sys::cl_context_properties;
use std::any::Any;
use std::ffi::CString;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A queue, as its context knows it.
pub trait ContextQueue: Send + Sync {
    /// Keeps `object` until what is held or under way by now and uses one of `allocations` is done. Hold no lock.
    fn keep_while_used(&self, allocations: &[Arc<Allocation>], object: &Arc<dyn Any + Send + Sync>);

    /// Waits until all that is enqueued by now is done: `clFinish`.
    ///
    /// # Errors
    /// Those of `clFinish`.
    fn finish(self: Arc<Self>) -> Result<()>;
}

/// A context.
pub struct Context {
    handle: Handle,
    devices: Vec<Arc<Device>>,
    properties: Vec<cl_context_properties>,
    notify: (ContextNotify, UserData),
    shared: SharedMemories,
    pinned: Pinned,
    queues: Mutex<Vec<Weak<dyn ContextQueue>>>,
    /// Buffers whose device addresses the application may use.
    addressed: Mutex<Vec<Weak<Backing>>>,
    destructors: Mutex<Vec<(ContextDestructor, UserData)>>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Context {
    const KIND: Kind = Kind::Context;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Context {
    /// `properties` as the application gave them, with the final 0; empty when it gave NULL.
    pub fn new(
        devices: Vec<Arc<Device>>,
        properties: Vec<cl_context_properties>,
        notify: ContextNotify,
        user_data: UserData,
    ) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            devices,
            properties,
            notify: (notify, user_data),
            shared: SharedMemories::default(),
            pinned: Pinned::default(),
            queues: Mutex::default(),
            addressed: Mutex::default(),
            destructors: Mutex::default(),
        })
    }

    /// The devices, each once, in the order the application gave.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// The place of `device` in [`Self::devices`]: how objects keep what they have per device.
    pub fn device_index(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices
            .iter()
            .position(|other| Arc::ptr_eq(other, device))
    }

    /// Allocations that host and devices know by the same address.
    pub fn shared(&self) -> &SharedMemories {
        &self.shared
    }

    /// Memory that the application has mapped.
    pub(super) fn pinned(&self) -> &Pinned {
        &self.pinned
    }

    /// The queues that there are.
    pub fn queues(&self) -> Vec<Arc<dyn ContextQueue>> {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.iter().filter_map(Weak::upgrade).collect()
    }

    /// There is a new queue.
    pub(super) fn add_queue(&self, queue: Weak<dyn ContextQueue>) {
        let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|queue| queue.strong_count() > 0);
        queues.push(queue);
    }

    /// The buffers that kernels may use by addresses which the application knows.
    pub(super) fn addressed(&self) -> Vec<Arc<Backing>> {
        let addressed = self
            .addressed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        addressed.iter().filter_map(Weak::upgrade).collect()
    }

    /// What a command that may touch any of them does with them.
    pub(super) fn addressed_accesses(&self) -> impl Iterator<Item = MemoryAccess> {
        let migrates = |backing: &Arc<Backing>| backing.migrates();
        let addressed = self.addressed().into_iter().filter(migrates);
        addressed.map(|backing| MemoryAccess::whole(&backing, AccessMode::Modify))
    }

    /// There is a new one of them.
    pub(super) fn add_addressed(&self, backing: &Arc<Backing>) {
        let mut addressed = self
            .addressed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        addressed.retain(|backing| backing.strong_count() > 0);
        addressed.push(Arc::downgrade(backing));
    }

    /// `CL_CONTEXT_PROPERTIES`
    pub fn properties(&self) -> &[cl_context_properties] {
        &self.properties
    }

    /// Logs an error that no call can report, and has the application's `pfn_notify` told of it soon, by a thread that
    /// holds no lock of ours.
    pub fn report(self: &Arc<Self>, message: String) {
        // The process may end before that thread comes to it.
        log::error!("{message}");
        if self.notify.0.is_some() {
            let context = Arc::clone(self);
            notifier::send(Box::new(move || context.notify(&message)));
        }
    }

    /// Calls the application's `pfn_notify`. Hold no lock.
    fn notify(&self, message: &str) {
        if let (Some(notify), UserData(user_data)) = self.notify {
            let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
            // SAFETY: the application's function, called as the specification says: a message, no
            // private information.
            process::call_application(|| unsafe {
                notify(text.as_ptr(), std::ptr::null(), 0, user_data);
            });
        }
    }

    /// `clSetContextDestructorCallback`: called in the reverse order of registration.
    pub fn on_destruction(&self, notify: ContextDestructor, user_data: UserData) {
        self.destructors
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push((notify, user_data));
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let destructors = std::mem::take(
            self.destructors
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for (notify, UserData(user_data)) in destructors.into_iter().rev() {
            if let Some(notify) = notify {
                // SAFETY: the application's function, with the handle that it knows the context by.
                process::call_application(|| unsafe { notify(self.handle.as_ptr(), user_data) });
            }
        }
    }
}
