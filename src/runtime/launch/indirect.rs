//! Memory that kernels reach by device addresses, beyond the memory objects among their arguments.
//!
//! In a context of several devices a buffer that a kernel may write goes to its device, and that device has the latest
//! contents from there on ([`crate::runtime::residency::contents`]): two kernels on two devices that are both taken to write a buffer lose what
//! one of them wrote. So what a kernel reaches has to be known. Of an argument that is an address, the buffer around it;
//! of a kernel that follows pointers, what the application says: "Non-argument device pointers accessed by the kernel must
//! be specified by passing pointers to those buffers via this clSetKernelExecInfo option." Applications forget to, though,
//! since on one device nothing comes of it: a kernel of which nothing at all is said may use every buffer that
//! they know an address of.

use crate::runtime::allocation::Access;
use crate::runtime::command::hazard::ALL_BYTES;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::context::device_queue::DeviceQueue;
use crate::runtime::object::error::Result;
use crate::runtime::residency::backing::{Backing, MemoryAccess};
use crate::runtime::residency::contents::AccessMode;
use opencl_sys::{CL_KERNEL_EXEC_INFO_SVM_PTRS, cl_kernel_exec_info};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the application says of a kernel by `clSetKernelExecInfo`.
#[derive(Clone, Default)]
pub struct Indirect {
    /// The pointers of a list; of a flag that is set, none.
    said: BTreeMap<cl_kernel_exec_info, Vec<u64>>,
}

impl Indirect {
    /// "The complete set of pointers is specified by each call to clSetKernelExecInfo and replaces any previously specified
    /// set of pointers." It may be empty.
    pub fn set_pointers(&mut self, name: cl_kernel_exec_info, pointers: Vec<u64>) {
        self.said.insert(name, pointers);
    }

    /// Whether the kernel may use any allocation of a kind, none of which goes from device to device.
    pub fn set_flag(&mut self, name: cl_kernel_exec_info, value: bool) {
        if value {
            drop(self.said.insert(name, Vec::new()))
        } else {
            drop(self.said.remove(&name))
        }
    }

    fn says_nothing(&self) -> bool {
        self.said.is_empty()
    }
}

/// The buffers whose addresses the application knows, for a launch on a queue: looked for when the launch may use
/// them, in a context of several devices. Let go of it when the kernel is locked no longer.
pub(in crate::runtime) struct Addressed<'a> {
    queue: &'a DeviceQueue,
    found: OnceCell<Vec<Arc<Backing>>>,
}

impl<'a> Addressed<'a> {
    /// Those for a launch on `queue`, which nobody has looked for yet.
    pub fn new(queue: &'a DeviceQueue) -> Self {
        Self {
            queue,
            found: OnceCell::new(),
        }
    }

    /// Where the launch runs.
    pub fn queue(&self) -> &'a DeviceQueue {
        self.queue
    }

    /// Whether it matters what a kernel uses: what is on the only device needn't be brought there.
    pub fn matter(&self) -> bool {
        self.queue.context().devices().len() > 1
    }

    fn get(&self) -> &[Arc<Backing>] {
        if !self.matter() {
            return &[];
        }
        self.found.get_or_init(|| {
            let mut addressed = self.queue.context().addressed();
            addressed.retain(|memory| memory.is_within_reach(self.queue.context_device()));
            addressed
        })
    }
}

/// Notes that a kernel follows pointers, to what `indirect` says, or else to any of `addressed`.
///
/// # Errors
/// `CL_INVALID_OPERATION` when it says that the kernel uses shared virtual memory which the device does not reach.
pub(in crate::runtime) fn add_followed(
    launch: &mut PreparedLaunch,
    addressed: &Addressed<'_>,
    indirect: &Indirect,
) -> Result<()> {
    let queue = addressed.queue;
    if indirect.says_nothing() {
        launch.uses_any_address = true;
        for memory in addressed.get() {
            add_access(launch, queue, memory, true)?;
        }
    }
    for (name, pointers) in &indirect.said {
        for pointer in pointers {
            if let Some(shared) = queue.context().shared().find(*pointer) {
                // Lists of unified shared memory may name what other devices use.
                if *name == CL_KERNEL_EXEC_INFO_SVM_PTRS {
                    shared.on(queue.context_device())?;
                }
                continue;
            }
            add_address(launch, addressed, *pointer, true)?;
        }
    }
    Ok(())
}

/// Notes that a kernel uses what `address` points into of `addressed`: a buffer, and perhaps a part of it. It may write
/// there if `written`.
pub(in crate::runtime) fn add_address(
    launch: &mut PreparedLaunch,
    addressed: &Addressed<'_>,
    address: u64,
    written: bool,
) -> Result<()> {
    let queue = addressed.queue;
    for memory in addressed.get() {
        let first = memory.place(queue.context_device())?.device_address();
        if !(first..first + memory.size_bytes() as u64).contains(&address) {
            continue;
        }
        add_access(launch, queue, memory, written)?;
        if memory.migrates() {
            launch
                .memory_accesses
                .push(MemoryAccess::whole(memory, AccessMode::of(written)));
        }
    }
    Ok(())
}

fn add_access(
    launch: &mut PreparedLaunch,
    queue: &DeviceQueue,
    backing: &Backing,
    write: bool,
) -> Result<()> {
    launch.accesses.push(Access {
        allocation: backing.place(queue.context_device())?.allocation,
        bytes: ALL_BYTES,
        write,
    });
    Ok(())
}
