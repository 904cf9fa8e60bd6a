//! Recording launches of kernels.

use super::super::enqueue_kernel::{check_arguments, check_context, code, range};
use super::super::error::{Error, Result};
use super::super::kernel;
use super::arguments::{Recording, SyncPointArguments};
use crate::compiler::program::{ArgumentKind, Implicit};
use crate::runtime::command::Command;
use crate::runtime::command_buffer::NewCommand;
use crate::runtime::dispatch;
use crate::runtime::kernel::{ArgumentValue, Kernel, KernelCode};
use crate::runtime::memory::Memory;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_properties_khr, cl_command_queue, cl_kernel, cl_uint,
};
use std::sync::Arc;

/// `clCommandNDRangeKernelKHR`
///
/// # Safety
/// `properties` is NULL or ends with 0; the arrays are NULL or have `work_dim` entries.
pub unsafe fn command_nd_range_kernel(
    command_buffer: cl_command_buffer_khr,
    command_queue: cl_command_queue,
    properties: *const cl_command_properties_khr,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    arguments: SyncPointArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let recording =
        unsafe { Recording::begin(command_buffer, command_queue, properties, arguments) }?;
    let kernel = kernel::get(kernel)?;
    let (_, code) = code(&recording.queue, &kernel)?;
    check_context(&recording.queue, &kernel)?;
    let wait_list = recording.wait_list()?;
    check_arguments(&kernel)?;
    check_printf(code)?;
    // SAFETY: the caller's promise.
    let range = unsafe {
        range(
            work_dim,
            global_work_offset,
            global_work_size,
            local_work_size,
        )
    }?;
    let dispatch = dispatch::prepare(&kernel, &recording.queue, &range)?;
    let new = NewCommand {
        travellers: travellers(&kernel, code),
        attached: vec![kernel],
        ..NewCommand::new(Command::Dispatch(dispatch), Vec::new())
    };
    recording.finish(&wait_list, new)
}

/// "CL_INVALID_OPERATION if the device associated with command_queue does not support
/// CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR and kernel contains a printf call."
fn check_printf(code: &KernelCode) -> Result<()> {
    let implicit = &code.compiled().argument_block.implicit;
    if implicit
        .iter()
        .any(|(implicit, _)| matches!(implicit, Implicit::PrintfBuffer))
    {
        return Err(Error::invalid_operation(
            "kernels in command buffers can't print",
        ));
    }
    Ok(())
}

/// The buffers among the arguments whose place depends on the device, and whether the kernel writes them.
fn travellers(kernel: &Kernel, code: &KernelCode) -> Vec<(Arc<Memory>, bool)> {
    let state = kernel.lock();
    let arguments = code.compiled().arguments.iter().zip(&state.arguments);
    arguments
        .filter_map(|(argument, value)| match (&argument.kind, value) {
            (ArgumentKind::Buffer { written, .. }, ArgumentValue::Memory(Some(memory))) => {
                Some((memory.upgrade()?, *written))
            }
            _ => None,
        })
        .filter(|(memory, _)| memory.travels())
        .collect()
}
