//! Recording launches of kernels.

use super::super::enqueue_kernel::{check_context, range};
use super::super::error::{Error, Result};
use super::super::{handle, kernel};
use super::arguments::{Recording, SyncPointArguments};
use super::{ASSERTS, flatten, mutable};
use crate::compiler::program::Implicit;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command_buffer::mutable::NewLaunch;
use crate::runtime::command_buffer::{NewCommand, Origin};
use crate::runtime::launch::prepare;
use crate::runtime::program::kernel_code::{DeviceCode, KernelCode};
use opencl_sys::{
    CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR,
    CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, cl_command_buffer_khr, cl_command_properties_khr,
    cl_command_queue, cl_kernel, cl_mutable_dispatch_fields_khr, cl_uint,
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
    let recording = Recording::begin_mutable(command_buffer, command_queue, arguments)?;
    // SAFETY: the caller's promise.
    let pairs = unsafe { handle::properties(properties) };
    let asked = Properties::parse(&pairs)?;
    let kernel = kernel::get(kernel)?;
    let DeviceCode { code, .. } = prepare::code(&kernel, recording.queue.device())?;
    check_context(&recording.queue, &kernel)?;
    // "CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified and the
    // CL_MUTABLE_DISPATCH_ARGUMENTS_KHR flag was not set in the properties parameter."
    let is_mutable = recording.buffer.is_mutable();
    let may_wait = is_mutable
        && asked
            .fields
            .is_some_and(|fields| fields & CL_MUTABLE_DISPATCH_ARGUMENTS_KHR != 0);
    if !may_wait {
        kernel.check_arguments()?;
    }
    // SAFETY: the caller's promise.
    let range = unsafe {
        range(
            work_dim,
            global_work_offset,
            global_work_size,
            local_work_size,
        )
    }?;
    let fields = asked.fields.unwrap_or(mutable::CAPABILITIES);
    let may_change = recording.wants_handle() || !kernel.has_all_arguments() || prints(code);
    let new = if !may_change {
        // It is always launched as it is now.
        let launch = prepare::prepare(&kernel, recording.queue.device_queue(), &range)?;
        let kernel = kernel.duplicate();
        let memories = kernel.memories().into_iter().map(|it| it as _);
        NewCommand {
            attached: memories.collect(),
            ..NewCommand::new(
                DeviceCommand::Launch(launch),
                Origin::Launch { kernel, range },
            )
        }
    } else {
        let launch = NewLaunch {
            queue: Arc::clone(&recording.queue),
            kernel,
            properties: (!properties.is_null()).then(|| flatten(&pairs)),
            fields,
            range,
        };
        let (command, first) = launch.prepare(&recording.buffer)?;
        NewCommand::new(first, Origin::Mutable(command))
    };
    let wait_list = recording.wait_list()?;
    // "CL_INVALID_OPERATION if the requested CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR properties are not reported by
    // CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR for the device associated with command_queue."
    if fields & !mutable::CAPABILITIES != 0 {
        return Err(Error::invalid_operation(format!(
            "fields {fields:#x} can't be updated"
        )));
    }
    // "CL_INVALID_VALUE if command_buffer was created with the CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR
    // property with CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR and local_work_size is NULL, or if
    // properties includes the CL_MUTABLE_DISPATCH_ASSERTS_KHR property with … and local_work_size is NULL."
    if local_work_size.is_null() && (asked.asserts || super::asserts(&recording.buffer)) {
        return Err(Error::invalid_value(
            "an assertion about work-groups needs a local_work_size",
        ));
    }
    recording.finish(&wait_list, new)
}

/// The properties of a launch.
struct Properties {
    /// `CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR`
    fields: Option<cl_mutable_dispatch_fields_khr>,
    /// `CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR`
    asserts: bool,
}

impl Properties {
    /// "CL_INVALID_VALUE if values specified in properties are not valid."
    fn parse(pairs: &[(cl_command_properties_khr, cl_command_properties_khr)]) -> Result<Self> {
        let mut parsed = Self {
            fields: None,
            asserts: false,
        };
        for (index, &(name, value)) in pairs.iter().enumerate() {
            if pairs[..index].iter().any(|(other, _)| *other == name) {
                return Err(Error::invalid_value(format!(
                    "property {name:#x} is given twice"
                )));
            }
            match name {
                CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR => parsed.fields = Some(value),
                CL_MUTABLE_DISPATCH_ASSERTS_KHR if value & !ASSERTS == 0 => {
                    parsed.asserts = value != 0;
                }
                _ => {
                    return Err(Error::invalid_value(format!(
                        "property {name:#x} is unknown, or its value {value:#x}"
                    )));
                }
            }
        }
        Ok(parsed)
    }
}

/// Whether the kernel prints.
fn prints(code: &KernelCode) -> bool {
    let implicit = &code.compiled().argument_block.implicit;
    implicit
        .iter()
        .any(|(implicit, _)| matches!(implicit, Implicit::PrintfBuffer))
}
