//! Updating recorded launches, and asking about them (cl_khr_command_buffer_mutable_dispatch).

use super::super::enqueue_kernel::range;
use super::super::error::{Error, Result};
use super::super::out::{Info, Written};
use super::super::{handle, kernel, kernel_argument};
use super::get;
use crate::runtime::command_buffer::CommandBuffer;
use crate::runtime::command_buffer::mutable::MutableCommand;
use crate::runtime::command_buffer::update::Change;
use crate::runtime::launch::nd_range::NdRange;
use opencl_sys::{
    CL_COMMAND_NDRANGE_KERNEL, CL_INVALID_MUTABLE_COMMAND_KHR,
    CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR,
    CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR,
    CL_MUTABLE_DISPATCH_ARGUMENTS_KHR, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR,
    CL_MUTABLE_DISPATCH_EXEC_INFO_KHR, CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_KERNEL_KHR,
    CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR,
    CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, cl_command_buffer_khr,
    cl_command_buffer_update_type_khr, cl_mutable_command_info_khr, cl_mutable_command_khr,
    cl_mutable_dispatch_config_khr, cl_mutable_dispatch_fields_khr, cl_uint,
};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// `CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR`
pub const CAPABILITIES: cl_mutable_dispatch_fields_khr = CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
    | CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
    | CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
    | CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;

/// `clUpdateMutableCommandsKHR`
///
/// # Safety
/// `config_types` and `configs` are NULL or have `num_configs` entries, and each of `configs` is NULL or a
/// structure of its type, with valid pointers.
pub unsafe fn update_mutable_commands(
    command_buffer: cl_command_buffer_khr,
    num_configs: cl_uint,
    config_types: *const cl_command_buffer_update_type_khr,
    configs: *mut *const c_void,
) -> Result<()> {
    let buffer = get(command_buffer)?;
    // "CL_INVALID_OPERATION if command_buffer has not been finalized."
    buffer.check_finalized()?;
    // "CL_INVALID_OPERATION if command_buffer was not created with the CL_COMMAND_BUFFER_MUTABLE_KHR flag."
    if !buffer.is_mutable() {
        return Err(Error::invalid_operation(
            "the command buffer was not created with CL_COMMAND_BUFFER_MUTABLE_KHR",
        ));
    }
    let count = num_configs as usize;
    // "CL_INVALID_VALUE if config_types is NULL and num_configs > 0, or config_types is not NULL and num_configs
    // is 0.", "CL_INVALID_VALUE if configs is NULL and num_configs > 0, or configs is not NULL and num_configs is
    // 0."
    // SAFETY: the caller's promise.
    let types = unsafe { handle::slice(config_types, count, "config_types") }?;
    // SAFETY: the caller's promise.
    let configs = unsafe { handle::slice(configs.cast_const(), count, "configs") }?;
    // "CL_INVALID_VALUE if any element of config_types is not a valid cl_command_buffer_update_type_khr enum."
    if types
        .iter()
        .any(|kind| *kind != CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR)
    {
        return Err(Error::invalid_value(
            "an element of config_types is unknown",
        ));
    }
    // "CL_INVALID_VALUE if any element of configs is NULL."
    if configs.iter().any(|config| config.is_null()) {
        return Err(Error::invalid_value("an element of configs is NULL"));
    }
    buffer.update(|changes| {
        for config in configs {
            // SAFETY: of this type, by the caller's promise, and so are the pointers in it.
            let config = unsafe { &*config.cast::<cl_mutable_dispatch_config_khr>() };
            let command = command_of(&buffer, config.command)?;
            // SAFETY: as above.
            let change = unsafe { change(&command, config) }?;
            changes.make(command, change);
        }
        Ok(())
    })
}

/// "CL_INVALID_MUTABLE_COMMAND_KHR if command is not a valid mutable command object returned from
/// clCommandNDRangeKernelKHR, or created from command_buffer."
fn command_of(
    buffer: &Arc<CommandBuffer>,
    command: cl_mutable_command_khr,
) -> Result<Arc<MutableCommand>> {
    let command: Arc<MutableCommand> = handle::get(command)?;
    match command.buffer() {
        Some(own) if Arc::ptr_eq(&own, buffer) => Ok(command),
        _ => Err(Error::new(
            CL_INVALID_MUTABLE_COMMAND_KHR,
            "the command belongs to another command buffer",
        )),
    }
}

/// What `config` changes of `command`.
///
/// # Safety
/// The pointers in `config` are valid.
unsafe fn change(
    command: &MutableCommand,
    config: &cl_mutable_dispatch_config_khr,
) -> Result<Change> {
    let (kernel, old) = (command.launched(), command.range());
    // "CL_INVALID_OPERATION if work_dim is not zero and different from the work_dim set on command recording."
    if config.work_dim != 0 && config.work_dim != old.dimensions {
        return Err(Error::invalid_operation(format!(
            "work_dim is {}, the command was recorded with {}",
            config.work_dim, old.dimensions
        )));
    }
    // SAFETY: the caller's promise.
    let range = unsafe { changed_range(old, config) }?;
    // "CL_INVALID_OPERATION if the … property was not set on command recording and … is not NULL", "… is
    // non-zero".
    let asked = [
        (
            !config.global_work_offset.is_null(),
            CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR,
            "global offset",
        ),
        (
            !config.global_work_size.is_null(),
            CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR,
            "global size",
        ),
        (
            !config.local_work_size.is_null(),
            CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
            "local size",
        ),
        (
            config.num_args != 0 || config.num_svm_args != 0,
            CL_MUTABLE_DISPATCH_ARGUMENTS_KHR,
            "arguments",
        ),
        (
            config.num_exec_infos != 0,
            CL_MUTABLE_DISPATCH_EXEC_INFO_KHR,
            "execution information",
        ),
    ];
    for (is_asked, field, what) in asked {
        if is_asked {
            command.check_field(field, what)?;
        }
    }
    // "CL_INVALID_VALUE if arg_list is NULL and num_args > 0, or arg_list is not NULL and num_args is 0.", and so
    // for the other lists.
    // SAFETY: the caller's promise.
    let (arguments, pointers, infos) = unsafe {
        (
            handle::slice(config.arg_list, config.num_args as usize, "arg_list")?,
            handle::slice(
                config.arg_svm_list,
                config.num_svm_args as usize,
                "arg_svm_list",
            )?,
            handle::slice(
                config.exec_info_list,
                config.num_exec_infos as usize,
                "exec_info_list",
            )?,
        )
    };
    let mut new = SmallVec::new();
    for argument in arguments {
        let (index, size, value) = (argument.arg_index, argument.arg_size, argument.arg_value);
        // SAFETY: the caller's promise.
        let value = unsafe { kernel_argument::value(kernel, index, size, value) }?;
        new.push((index, value));
    }
    for argument in pointers {
        let (index, pointer) = (argument.arg_index, argument.arg_value);
        new.push((index, kernel::svm_pointer_value(kernel, index, pointer)?));
    }
    let mut indirect = (!infos.is_empty()).then(|| kernel.lock().indirect.clone());
    for info in infos {
        let (size, value) = (info.param_value_size, info.param_value);
        if let Some(said) = &mut indirect {
            let context = kernel.program().context();
            // SAFETY: the caller's promise.
            unsafe { kernel::set_exec_info(said, context, info.param_name, size, value) }?;
        }
    }
    Ok(Change {
        arguments: new,
        indirect,
        range,
    })
}

/// What `config` makes of a range.
///
/// # Safety
/// The pointers in `config` are valid.
unsafe fn changed_range(old: NdRange, config: &cl_mutable_dispatch_config_khr) -> Result<NdRange> {
    let lists = [
        config.global_work_offset,
        config.global_work_size,
        config.local_work_size,
    ];
    if lists.iter().all(|list| list.is_null()) {
        return Ok(old);
    }
    let dimensions = old.dimensions;
    // SAFETY: the caller's promise.
    let read = |list: *const usize, old: [u64; 3]| unsafe { merged(list, dimensions, old) };
    let offset = read(config.global_work_offset, old.offset);
    let global = read(config.global_work_size, old.global);
    let local = match (config.local_work_size.is_null(), old.local) {
        (true, local) => local.map(|local| local.map(|size| size as usize)),
        (false, _) => Some(read(config.local_work_size, [1; 3])),
    };
    // "CL_INVALID_OPERATION if the values of local_work_size and/or global_work_size result in a change to
    // work-group uniformity."
    let before = old.local.map(|local| is_uniform(old.global, local));
    let after =
        local.map(|local| is_uniform(global.map(|it| it as u64), local.map(|it| it as u64)));
    if let (Some(before), Some(after)) = (before, after)
        && before != after
    {
        return Err(Error::invalid_operation(
            "the update changes whether all work-groups have the same size",
        ));
    }
    // The errors that clEnqueueNDRangeKernel has of a range.
    // SAFETY: three entries each.
    unsafe {
        range(
            dimensions,
            offset.as_ptr(),
            global.as_ptr(),
            local.as_ref().map_or(std::ptr::null(), |it| it.as_ptr()),
        )
    }
}

/// The first `dimensions` numbers of `list`, or `old`.
///
/// # Safety
/// `list` is NULL or has `dimensions` numbers.
unsafe fn merged(list: *const usize, dimensions: u32, old: [u64; 3]) -> [usize; 3] {
    let mut values = old.map(|value| value as usize);
    if !list.is_null() {
        for (index, value) in values.iter_mut().take(dimensions as usize).enumerate() {
            // SAFETY: the caller's promise.
            *value = unsafe { list.add(index).read() };
        }
    }
    values
}

/// Whether a local size that the application gave divides the range.
fn is_uniform(global: [u64; 3], local: [u64; 3]) -> bool {
    let divides = |(global, local): (u64, u64)| local != 0 && global.is_multiple_of(local);
    global.into_iter().zip(local).all(divides)
}

/// `clGetMutableCommandInfoKHR`
pub fn get_mutable_command_info(
    command: cl_mutable_command_khr,
    param_name: cl_mutable_command_info_khr,
    info: Info,
) -> Result<Written> {
    // "CL_INVALID_MUTABLE_COMMAND_KHR if command is not a valid mutable command object."
    let command: Arc<MutableCommand> = handle::get(command)?;
    let range = command.range();
    let sizes = |values: [u64; 3]| -> Vec<usize> {
        let dimensions = range.dimensions as usize;
        values
            .iter()
            .take(dimensions)
            .map(|it| *it as usize)
            .collect()
    };
    match param_name {
        CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => info.handle(&**command.queue()),
        CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => info.handle_or_null(command.buffer().as_deref()),
        CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => info.value(CL_COMMAND_NDRANGE_KERNEL),
        CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR => {
            info.slice(command.properties().unwrap_or_default())
        }
        CL_MUTABLE_DISPATCH_KERNEL_KHR => info.handle(&**command.kernel()),
        CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => info.value::<cl_uint>(range.dimensions),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => info.slice(&sizes(range.offset)),
        CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => info.slice(&sizes(range.global)),
        // "If a local work-item size was not set, zero is returned for each element in the array."
        CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => {
            info.slice(&sizes(range.local.unwrap_or_default()))
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}
