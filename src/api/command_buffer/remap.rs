//! Copies of a command buffer for other queues (cl_khr_command_buffer_multi_device).

use super::super::error::{Error, Result};
use super::super::{enqueue, handle};
use super::{check_synchronization, get};
use crate::runtime::command_buffer::CommandBuffer;
use crate::runtime::command_buffer::mutable::MutableCommand;
use crate::runtime::queue::Queue;
use opencl_sys::{
    CL_COMMAND_BUFFER_FLAGS_KHR, CL_FALSE, CL_INVALID_CONTEXT, CL_INVALID_VALUE, cl_bool,
    cl_command_buffer_khr, cl_command_queue, cl_mutable_command_khr, cl_uint,
};
use std::collections::HashMap;
use std::sync::Arc;

/// `clRemapCommandBufferKHR`
///
/// # Safety
/// `queues` is NULL or holds `num_queues` handles, `handles` and `handles_ret` `num_handles`.
pub unsafe fn remap_command_buffer(
    command_buffer: cl_command_buffer_khr,
    automatic: cl_bool,
    num_queues: cl_uint,
    queues: *const cl_command_queue,
    num_handles: cl_uint,
    handles: *const cl_mutable_command_khr,
    handles_ret: *mut cl_mutable_command_khr,
) -> Result<cl_command_buffer_khr> {
    let buffer = get(command_buffer)?;
    let automatic = automatic != CL_FALSE;
    // "CL_INVALID_VALUE if num_queues is 0, or if queues is NULL."
    if num_queues == 0 || queues.is_null() {
        return Err(Error::invalid_value("num_queues is 0, or queues is NULL"));
    }
    // "CL_INVALID_VALUE if automatic is CL_FALSE and num_queues is not equal to the number of queues used on
    // creation of command_buffer."
    if !automatic && num_queues as usize != buffer.queues().len() {
        return Err(Error::invalid_value(
            "num_queues differs from that of the command buffer",
        ));
    }
    // "CL_INVALID_VALUE if handles or handles_ret is NULL and num_handles is > 0, or either handles or handles_ret
    // is not NULL and num_handles is 0."
    let wants_handles = num_handles > 0;
    if handles.is_null() == wants_handles || handles_ret.is_null() == wants_handles {
        return Err(Error::invalid_value(
            "handles or handles_ret contradicts num_handles",
        ));
    }
    // SAFETY: the caller's promise.
    let handles = unsafe { handle::slice(handles, num_handles as usize, "handles") }?;
    let asked = handles
        .iter()
        .map(|&handle| command_of(&buffer, handle))
        .collect::<Result<Vec<_>>>()?;
    // "CL_INVALID_COMMAND_QUEUE if any command-queue in queues is not a valid command-queue."
    // SAFETY: the caller's promise.
    let queues = unsafe { handle::get_list::<Queue>(num_queues, queues, "queues") }?;
    // "CL_INVALID_CONTEXT if command_buffer and all the command-queues in queues do not have the same OpenCL
    // context."
    if queues
        .iter()
        .any(|queue| !Arc::ptr_eq(queue.context(), buffer.context()))
    {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "the queues belong to another context",
        ));
    }
    // "CL_INCOMPATIBLE_COMMAND_QUEUE_KHR if such an error would be returned by passing queues to
    // clCreateCommandBufferKHR."
    let properties = buffer.properties().unwrap_or_default();
    let flags = properties
        .chunks_exact(2)
        .find(|pair| pair[0] == CL_COMMAND_BUFFER_FLAGS_KHR)
        .map_or(0, |pair| pair[1]);
    check_synchronization(&queues, flags)?;
    let targets: Vec<usize> = if !automatic {
        (0..queues.len()).collect()
    } else {
        assign(buffer.queues(), &queues)
    };
    let target = |number: usize| targets.get(number).copied().unwrap_or(0);
    // "Any error relating to device support that can be returned by a command recording entry-point may also be
    // returned."
    let check = enqueue::check_alignment;
    let (copy, copies) = buffer.remapped(queues, target, check)?;
    let copies: HashMap<_, _> = copies
        .iter()
        .map(|(old, new)| (Arc::as_ptr(old), new))
        .collect();
    for (index, asked) in asked.iter().enumerate() {
        if let Some(new) = copies.get(&Arc::as_ptr(asked)) {
            // SAFETY: `num_handles` entries, by the caller's promise.
            unsafe { handles_ret.add(index).write(handle_of(new)) };
        }
    }
    Ok(handle::create(copy))
}

/// "CL_INVALID_VALUE if any handle in handles is not a valid command handle belonging to command_buffer."
fn command_of(
    buffer: &Arc<CommandBuffer>,
    handle: cl_mutable_command_khr,
) -> Result<Arc<MutableCommand>> {
    let command = handle::get::<MutableCommand>(handle).ok();
    let own = command.filter(|it| it.buffer().is_some_and(|own| Arc::ptr_eq(&own, buffer)));
    own.ok_or_else(|| {
        Error::new(
            CL_INVALID_VALUE,
            "a handle does not name a command of the command buffer",
        )
    })
}

/// The handle of a copied command, which may be asked for twice.
fn handle_of(command: &Arc<MutableCommand>) -> cl_mutable_command_khr {
    let known = handle::existing(&**command);
    if known.is_null() {
        handle::create(Arc::clone(command))
    } else {
        known
    }
}

/// "the OpenCL runtime will decide in a way it determines optimal which of the elements in queues each command … will
/// be associated with": contents stay where they are if a queue of the same device is there, and otherwise the
/// queues take turns.
fn assign(old: &[Arc<Queue>], new: &[Arc<Queue>]) -> Vec<usize> {
    old.iter()
        .enumerate()
        .map(|(number, queue)| {
            let same = |it: &Arc<Queue>| Arc::ptr_eq(it.device(), queue.device());
            let like = |it: &Arc<Queue>| same(it) && it.is_in_order() == queue.is_in_order();
            let found = new.iter().position(like).or(new.iter().position(same));
            found.unwrap_or(number % new.len().max(1))
        })
        .collect()
}
