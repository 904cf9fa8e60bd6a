//! Commands that may be updated after they were recorded (cl_khr_command_buffer_mutable_dispatch).

use super::CommandBuffer;
use super::migrations::Migrations;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::launch::argument::{ArgumentClass, ArgumentValue};
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::launch::nd_range::NdRange;
use crate::runtime::launch::prepare::{prepare, with_output};
use crate::runtime::memory::Memory;
use crate::runtime::object::registry::{Handle, Kind, Object};
use crate::runtime::queue::Queue;
use crate::runtime::{Error, Result};
use opencl_sys::{CL_INVALID_OPERATION, cl_command_properties_khr, cl_mutable_dispatch_fields_khr};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

/// The launch of a kernel in a command buffer, as `cl_mutable_command_khr` names it.
pub struct MutableCommand {
    handle: Handle,
    buffer: Weak<CommandBuffer>,
    queue: Arc<Queue>,
    /// The kernel as the application gave it.
    kernel: Arc<Kernel>,
    properties: Option<Vec<cl_command_properties_khr>>,
    fields: cl_mutable_dispatch_fields_khr,
    /// Place among the commands of the command buffer, from when it is one of them.
    node: OnceLock<usize>,
    /// What is launched: a kernel of the command's own, with its arguments. They and the range are changed by updates, one
    /// after the other ([`super::update`]).
    launched: Arc<Kernel>,
    range: Mutex<NdRange>,
    memories: Mutex<Memories>,
}

/// The memory objects among the arguments of a command, which an update of others needs again. They live until they are
/// replaced: "it is safe to delete objects used as kernel command arguments, if all the kernel commands using that
/// object as an argument have had their arguments replaced with a different object".
pub(super) type Memories = SmallVec<[Arc<Memory>; 4]>;

// SAFETY: the only object of this kind.
unsafe impl Object for MutableCommand {
    const KIND: Kind = Kind::MutableCommand;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// How a launch is recorded that may be updated.
pub struct NewLaunch {
    pub queue: Arc<Queue>,
    pub kernel: Arc<Kernel>,
    pub properties: Option<Vec<cl_command_properties_khr>>,
    /// What may be updated.
    pub fields: cl_mutable_dispatch_fields_khr,
    pub range: NdRange,
}

impl NewLaunch {
    /// The command, and what it is at first: [`DeviceCommand::Nothing`] while arguments are missing that may be set later.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`.
    pub fn prepare(
        self,
        buffer: &Arc<CommandBuffer>,
    ) -> Result<(Arc<MutableCommand>, DeviceCommand)> {
        let own = if buffer.is_mutable() {
            self.kernel.duplicate_for_updates()
        } else {
            self.kernel.duplicate()
        };
        self.prepare_with(own, buffer)
    }

    /// The command that launches `own`, a duplicate of the kernel, and what it is at first, as [`Self::prepare`].
    fn prepare_with(
        self,
        own: Arc<Kernel>,
        buffer: &Arc<CommandBuffer>,
    ) -> Result<(Arc<MutableCommand>, DeviceCommand)> {
        let first = if own.has_all_arguments() {
            let queue = self.queue.device_queue();
            DeviceCommand::Launch(prepare(&own, queue, &self.range)?)
        } else {
            check_range(&own, &self.queue, &self.range)?;
            DeviceCommand::Nothing
        };
        let command = Arc::new(MutableCommand {
            handle: Handle::default(),
            buffer: Arc::downgrade(buffer),
            queue: self.queue,
            kernel: self.kernel,
            properties: self.properties,
            fields: self.fields,
            node: OnceLock::new(),
            memories: Mutex::new(own.memories()),
            launched: own,
            range: Mutex::new(self.range),
        });
        Ok((command, first))
    }
}

/// Checks a range for a kernel whose arguments are not all known, with NULL and 0 for the missing ones.
fn check_range(kernel: &Arc<Kernel>, queue: &Arc<Queue>, range: &NdRange) -> Result<()> {
    let trial = kernel.duplicate();
    for index in 0..trial.argument_count() {
        if !matches!(trial.argument(index), ArgumentValue::Unset) {
            continue;
        }
        let index = index as u32;
        let value = match trial.argument_class(index)? {
            ArgumentClass::Value { size_bytes } => {
                ArgumentValue::Bytes(smallvec::smallvec![0; size_bytes as usize])
            }
            ArgumentClass::Buffer => ArgumentValue::Memory(None),
            ArgumentClass::Local => ArgumentValue::LocalBytes(1),
            // There is no NULL of these; the range is checked when they are known.
            ArgumentClass::Image(_) | ArgumentClass::Pipe | ArgumentClass::Sampler => return Ok(()),
        };
        trial.set_argument(index, value);
    }
    prepare(&trial, queue.device_queue(), range).map(drop)
}

/// The range with the local size of the kernel's last launch, where the application leaves that to us and it still
/// divides the range: so that the pipeline stays.
fn with_last_local_size(mut range: NdRange, kernel: &Kernel) -> NdRange {
    if range.local.is_none()
        && let Some(local) = kernel.lock().plans.last_local_size()
    {
        let local = local.map(u64::from);
        let divides = |(global, local): (u64, u64)| local != 0 && global.is_multiple_of(local);
        if range.global.into_iter().zip(local).all(divides) {
            range.local = Some(local);
        }
    }
    range
}

impl MutableCommand {
    /// `CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR`; `None` when it is being destroyed.
    pub fn buffer(&self) -> Option<Arc<CommandBuffer>> {
        self.buffer.upgrade()
    }

    /// `CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR`
    pub fn queue(&self) -> &Arc<Queue> {
        &self.queue
    }

    /// `CL_MUTABLE_DISPATCH_KERNEL_KHR`
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// `CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR`
    pub fn properties(&self) -> Option<&[cl_command_properties_khr]> {
        self.properties.as_deref()
    }

    /// "CL_INVALID_OPERATION if the … property was not set on command recording and … is not NULL."
    pub fn check_field(
        &self,
        field: cl_mutable_dispatch_fields_khr,
        what: &'static str,
    ) -> Result<()> {
        match self.fields & field {
            0 => Err(Error::new(
                CL_INVALID_OPERATION,
                format!("the command was recorded without leave to update its {what}"),
            )),
            _ => Ok(()),
        }
    }

    /// The kernel that it launches, with its arguments as they are now.
    pub fn launched(&self) -> &Arc<Kernel> {
        &self.launched
    }

    /// The range that it launches now.
    pub fn range(&self) -> NdRange {
        *lock(&self.range)
    }

    /// What the command is that launches that, complete but for missing arguments: [`DeviceCommand::Nothing`] as long as there
    /// are any. With what it uses that goes from device to device.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`.
    pub(super) fn prepare(&self) -> Result<(DeviceCommand, Migrations)> {
        let (kernel, range) = (&self.launched, self.range());
        let mut migrations = Migrations::default();
        if !kernel.has_all_arguments() {
            check_range(kernel, &self.queue, &range)?;
            return Ok((DeviceCommand::Nothing, migrations));
        }
        let range = with_last_local_size(range, kernel);
        let mut launch = prepare(kernel, self.queue.device_queue(), &range)?;
        let accesses = std::mem::take(&mut launch.memory_accesses);
        accesses.iter().for_each(|access| migrations.add(access));
        Ok((DeviceCommand::Launch(launch), migrations))
    }

    /// Exchanges the range.
    pub(super) fn exchange_range(&self, range: &mut NdRange) {
        std::mem::swap(&mut *lock(&self.range), range);
    }

    /// Exchanges the memory objects that it keeps for later updates.
    pub(super) fn exchange_memories(&self, memories: &mut Memories) {
        std::mem::swap(&mut *lock(&self.memories), memories);
    }

    /// What it launches now with a buffer for what it prints, if it does.
    pub(super) fn with_output(
        &self,
        launch: &PreparedLaunch,
    ) -> Result<Option<Box<PreparedLaunch>>> {
        match self.launched.code(self.queue.device()) {
            Some(code) => with_output(launch, code),
            None => Ok(None),
        }
    }

    /// What it launches now, as a command of another command buffer, on `queue`.
    pub(super) fn copy_for(
        &self,
        buffer: &Arc<CommandBuffer>,
        queue: &Arc<Queue>,
    ) -> Result<(Arc<Self>, DeviceCommand)> {
        let new = NewLaunch {
            queue: Arc::clone(queue),
            kernel: Arc::clone(&self.kernel),
            properties: self.properties.clone(),
            fields: self.fields,
            range: self.range(),
        };
        new.prepare_with(self.launched.duplicate(), buffer)
    }

    /// It has become the command of that number. Once.
    pub(super) fn set_node(&self, node: usize) {
        let _ = self.node.set(node);
    }

    /// Its place among the commands of the command buffer.
    pub(super) fn node(&self) -> Option<usize> {
        self.node.get().copied()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
