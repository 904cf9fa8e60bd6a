//! What all functions that record a command share.

use super::super::error::{Error, Result};
use super::super::handle;
use super::super::out::Out;
use super::super::transfer::Transfer;
use super::get;
use crate::runtime::command_buffer::graph::SyncPoint;
use crate::runtime::command_buffer::{CommandBuffer, NewCommand, Origin};
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_INVALID_COMMAND_QUEUE, CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, cl_command_buffer_khr,
    cl_command_properties_khr, cl_command_queue, cl_mutable_command_khr, cl_sync_point_khr,
    cl_uint,
};
use std::sync::Arc;

/// `num_sync_points_in_wait_list`, `sync_point_wait_list`, `sync_point` and `mutable_handle`.
#[derive(Debug)]
pub struct SyncPointArguments {
    count: cl_uint,
    list: *const cl_sync_point_khr,
    sync_point: Out<cl_sync_point_khr>,
    mutable_handle: Out<cl_mutable_command_khr>,
}

impl SyncPointArguments {
    /// # Safety
    /// `list` is NULL or holds `count` sync points; `sync_point` and `mutable_handle` are NULL or writable.
    pub unsafe fn new(
        count: cl_uint,
        list: *const cl_sync_point_khr,
        sync_point: *mut cl_sync_point_khr,
        mutable_handle: *mut cl_mutable_command_khr,
    ) -> Self {
        Self {
            count,
            list,
            // SAFETY: the caller's promise.
            sync_point: unsafe { Out::new(sync_point) },
            // SAFETY: the caller's promise.
            mutable_handle: unsafe { Out::new(mutable_handle) },
        }
    }
}

/// A command buffer that a command is being recorded to.
pub(super) struct Recording {
    pub buffer: Arc<CommandBuffer>,
    /// The command's queue: its device is what the command is checked against.
    pub queue: Arc<Queue>,
    queue_index: usize,
    arguments: SyncPointArguments,
}

impl Recording {
    /// Checks what every recording function is given.
    ///
    /// # Safety
    /// `properties` is NULL or ends with 0.
    pub unsafe fn begin(
        command_buffer: cl_command_buffer_khr,
        command_queue: cl_command_queue,
        properties: *const cl_command_properties_khr,
        arguments: SyncPointArguments,
    ) -> Result<Self> {
        let recording = Self::begin_mutable(command_buffer, command_queue, arguments)?;
        // "CL_INVALID_VALUE if values specified in properties are not valid": none are defined.
        // SAFETY: the caller's promise.
        if let Some((name, _)) = unsafe { handle::properties(properties) }.first() {
            return Err(Error::invalid_value(format!(
                "property {name:#x} is unknown"
            )));
        }
        // "CL_INVALID_VALUE if mutable_handle is not NULL."
        if !recording.arguments.mutable_handle.is_null() {
            return Err(Error::invalid_value("mutable_handle is not NULL"));
        }
        Ok(recording)
    }

    /// Checks what every recording function is given, for a command that may have properties and a handle.
    pub fn begin_mutable(
        command_buffer: cl_command_buffer_khr,
        command_queue: cl_command_queue,
        arguments: SyncPointArguments,
    ) -> Result<Self> {
        // "CL_INVALID_COMMAND_BUFFER_KHR if command_buffer is not a valid command-buffer." First, because the
        // others ask it.
        let buffer = get(command_buffer)?;
        // "CL_INVALID_COMMAND_QUEUE if the cl_khr_command_buffer_multi_device extension is supported; and either
        // command_queue is NULL and command_buffer was created with more than one queue, or command_queue is not
        // NULL and not a command-queue listed on command_buffer creation."
        let queues = buffer.queues();
        let found = if command_queue.is_null() {
            (queues.len() == 1).then_some(0)
        } else {
            queues
                .iter()
                .position(|queue| handle::existing(&**queue) == command_queue)
        };
        let (queue_index, queue) = found
            .and_then(|index| Some((index, Arc::clone(queues.get(index)?))))
            .ok_or_else(|| {
                Error::new(
                    CL_INVALID_COMMAND_QUEUE,
                    "command_queue is not the command buffer's, or NULL where there are several",
                )
            })?;
        // "CL_INVALID_OPERATION if command_buffer has been finalized."
        buffer.check_recording()?;
        Ok(Self {
            buffer,
            queue,
            queue_index,
            arguments,
        })
    }

    /// The sync points to wait for.
    pub fn wait_list(&self) -> Result<Vec<SyncPoint>> {
        // "CL_INVALID_SYNC_POINT_WAIT_LIST_KHR if sync_point_wait_list is NULL and num_sync_points_in_wait_list is
        // > 0, or sync_point_wait_list is not NULL and num_sync_points_in_wait_list is 0, or if
        // synchronization-point objects in sync_point_wait_list are not valid synchronization-points."
        let arguments = &self.arguments;
        let count = arguments.count as usize;
        // SAFETY: the promise of `SyncPointArguments::new`.
        let list = unsafe { handle::slice(arguments.list, count, "sync_point_wait_list") };
        let list = list.map_err(|error| {
            Error::new(
                CL_INVALID_SYNC_POINT_WAIT_LIST_KHR,
                error.reason().to_owned(),
            )
        })?;
        self.buffer.check_sync_points(list)?;
        Ok(list.to_vec())
    }

    /// Records the command, and answers with its sync point and, where the application asked for one, a handle. `new`
    /// fills in what it is.
    pub fn finish<'a>(mut self, wait_list: &'a [SyncPoint], new: NewCommand<'a>) -> Result<()> {
        let mutable = match &new.origin {
            Origin::Mutable(command) => Some(Arc::clone(command)),
            _ => None,
        };
        let new = NewCommand {
            queue: self.queue_index,
            wait_list,
            ..new
        };
        let point = self.buffer.add(new)?;
        self.arguments.sync_point.write(point);
        let handle = &mut self.arguments.mutable_handle;
        if let Some(command) = mutable
            && !handle.is_null()
        {
            handle.write(handle::create(command));
        }
        Ok(())
    }

    /// Whether the application asked for a handle to the command.
    pub fn wants_handle(&self) -> bool {
        !self.arguments.mutable_handle.is_null()
    }

    /// Records a barrier.
    pub fn finish_barrier(mut self, wait_list: &[SyncPoint]) -> Result<()> {
        let point = self.buffer.add_barrier(self.queue_index, wait_list)?;
        self.arguments.sync_point.write(point);
        Ok(())
    }
}

/// Records the transfer that `check` makes for the command's queue, once it has checked everything else about it; it
/// calls its second argument where the sync points' turn is.
///
/// # Safety
/// As [`Recording::begin`].
pub(super) unsafe fn record_transfer(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    arguments: SyncPointArguments,
    check: impl FnOnce(
        &Arc<Queue>,
        &dyn Fn() -> Result<Vec<SyncPoint>>,
    ) -> Result<(Transfer, Vec<SyncPoint>)>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    let (transfer, wait_list) = check(&recording.queue, &|| recording.wait_list())?;
    let new = NewCommand::new(transfer.command, Origin::Memories(transfer.memories));
    recording.finish(&wait_list, new)
}
