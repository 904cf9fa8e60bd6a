//! Queries on kernels.

use super::error::{Error, Result};
use super::kernel::get;
use super::out::{Info, Written};
use super::{device, enqueue_kernel, handle};
use crate::compiler::program::{AccessQualifier, AddressQualifier, KernelAttributes};
use crate::runtime::device::Device;
use crate::runtime::device::work_limits::WorkLimits;
use crate::runtime::launch::argument::ArgumentValue;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::launch::plan::local_size;
use crate::runtime::launch::prepare;
use crate::runtime::object::registry::Object;
use crate::runtime::program::Origin;
use crate::runtime::program::kernel_code::{DeviceCode, KernelCode};
use opencl_sys::{
    CL_INVALID_DEVICE, CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ACCESS_QUALIFIER,
    CL_KERNEL_ARG_ACCESS_READ_ONLY, CL_KERNEL_ARG_ACCESS_READ_WRITE,
    CL_KERNEL_ARG_ACCESS_WRITE_ONLY, CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL,
    CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_ADDRESS_QUALIFIER,
    CL_KERNEL_ARG_INFO_NOT_AVAILABLE, CL_KERNEL_ARG_NAME, CL_KERNEL_ARG_TYPE_CONST,
    CL_KERNEL_ARG_TYPE_NAME, CL_KERNEL_ARG_TYPE_PIPE, CL_KERNEL_ARG_TYPE_QUALIFIER,
    CL_KERNEL_ARG_TYPE_RESTRICT, CL_KERNEL_ARG_TYPE_VOLATILE, CL_KERNEL_ATTRIBUTES,
    CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_CONTEXT, CL_KERNEL_FUNCTION_NAME,
    CL_KERNEL_GLOBAL_WORK_SIZE, CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_NUM_ARGS,
    CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE, CL_KERNEL_PROGRAM,
    CL_KERNEL_REFERENCE_COUNT, CL_KERNEL_SPILL_MEM_SIZE_INTEL, CL_KERNEL_WORK_GROUP_SIZE,
    cl_command_queue, cl_device_id, cl_kernel, cl_kernel_arg_info, cl_kernel_info,
    cl_kernel_work_group_info, cl_uint, cl_ulong,
};
use std::sync::Arc;

/// `clGetKernelInfo`
pub fn get_kernel_info(
    kernel: cl_kernel,
    param_name: cl_kernel_info,
    info: Info,
) -> Result<Written> {
    let kernel = get(kernel)?;
    match param_name {
        CL_KERNEL_FUNCTION_NAME => info.string(kernel.name()),
        CL_KERNEL_NUM_ARGS => info.value(kernel.argument_count() as cl_uint),
        CL_KERNEL_REFERENCE_COUNT => info.value::<cl_uint>(kernel.handle().references()),
        CL_KERNEL_CONTEXT => info.handle(&**kernel.program().context()),
        CL_KERNEL_PROGRAM => info.handle(&**kernel.program()),
        CL_KERNEL_ATTRIBUTES => {
            // "For kernels not created from OpenCL C source and the clCreateProgramWithSource API call the
            // string returned from this query will be empty."
            let from_source = matches!(
                kernel.program().origin(),
                Origin::Source(_) | Origin::Linked
            );
            match kernel.any_code().filter(|_| from_source) {
                Some(code) => info.string(&attributes_text(&code.compiled().attributes)),
                None => info.string(""),
            }
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// A kernel's attributes as OpenCL C writes them, parted by spaces.
fn attributes_text(attributes: &KernelAttributes) -> String {
    let mut parts = Vec::new();
    if let Some(kind) = &attributes.vec_type_hint {
        parts.push(format!("vec_type_hint({kind})"));
    }
    if let Some([x, y, z]) = attributes.work_group_size_hint {
        parts.push(format!("work_group_size_hint({x},{y},{z})"));
    }
    if let Some([x, y, z]) = attributes.required_work_group_size {
        parts.push(format!("reqd_work_group_size({x},{y},{z})"));
    }
    if let Some(size) = attributes.required_sub_group_size {
        parts.push(format!("intel_reqd_sub_group_size({size})"));
    }
    parts.join(" ")
}

/// `clGetKernelArgInfo`
pub fn get_kernel_arg_info(
    kernel: cl_kernel,
    arg_index: cl_uint,
    param_name: cl_kernel_arg_info,
    info: Info,
) -> Result<Written> {
    let kernel = get(kernel)?;
    // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index."
    kernel.argument_class(arg_index)?;
    let unavailable = || {
        // "CL_KERNEL_ARG_INFO_NOT_AVAILABLE if the argument information is not available for kernel."
        Error::new(
            CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
            "the program was not built with -cl-kernel-arg-info",
        )
    };
    let known = matches!(
        param_name,
        CL_KERNEL_ARG_ADDRESS_QUALIFIER
            | CL_KERNEL_ARG_ACCESS_QUALIFIER
            | CL_KERNEL_ARG_TYPE_NAME
            | CL_KERNEL_ARG_TYPE_QUALIFIER
            | CL_KERNEL_ARG_NAME
    );
    if !known {
        return Err(Error::unknown_query(param_name));
    }
    let code = kernel.any_code().ok_or_else(unavailable)?;
    let argument = code
        .compiled()
        .arguments
        .get(arg_index as usize)
        .ok_or_else(unavailable)?;
    let facts = &argument.info;
    let type_name = facts.type_name.as_deref().ok_or_else(unavailable)?;
    match param_name {
        CL_KERNEL_ARG_ADDRESS_QUALIFIER => info.value::<cl_uint>(match facts.address {
            AddressQualifier::Global => CL_KERNEL_ARG_ADDRESS_GLOBAL,
            AddressQualifier::Local => CL_KERNEL_ARG_ADDRESS_LOCAL,
            AddressQualifier::Constant => CL_KERNEL_ARG_ADDRESS_CONSTANT,
            AddressQualifier::Private => CL_KERNEL_ARG_ADDRESS_PRIVATE,
        }),
        CL_KERNEL_ARG_ACCESS_QUALIFIER => info.value::<cl_uint>(match facts.access {
            AccessQualifier::ReadOnly => CL_KERNEL_ARG_ACCESS_READ_ONLY,
            AccessQualifier::WriteOnly => CL_KERNEL_ARG_ACCESS_WRITE_ONLY,
            AccessQualifier::ReadWrite => CL_KERNEL_ARG_ACCESS_READ_WRITE,
            AccessQualifier::None => CL_KERNEL_ARG_ACCESS_NONE,
        }),
        CL_KERNEL_ARG_TYPE_NAME => info.string(type_name),
        CL_KERNEL_ARG_TYPE_QUALIFIER => {
            let mut bits = 0;
            for (given, bit) in [
                (facts.is_const, CL_KERNEL_ARG_TYPE_CONST),
                (facts.is_restrict, CL_KERNEL_ARG_TYPE_RESTRICT),
                (facts.is_volatile, CL_KERNEL_ARG_TYPE_VOLATILE),
                (facts.is_pipe, CL_KERNEL_ARG_TYPE_PIPE),
            ] {
                if given {
                    bits |= bit;
                }
            }
            info.value::<cl_ulong>(bits as cl_ulong)
        }
        _ => info.string(facts.name.as_deref().ok_or_else(unavailable)?),
    }
}

/// The code that a query about a device means.
pub(super) fn code_for(kernel: &Kernel, device: cl_device_id) -> Result<(Arc<Device>, KernelCode)> {
    let wrong = |reason: &'static str| Error::new(CL_INVALID_DEVICE, reason);
    // "CL_INVALID_DEVICE if device is not in the list of devices associated with kernel or if device is NULL but
    // there is more than one device associated with kernel."
    if device.is_null() {
        let mut codes = kernel.codes();
        return match (codes.next(), codes.next()) {
            (Some((_, code)), None) => Ok((Arc::clone(code.executable.device()), code.clone())),
            _ => Err(wrong("device is NULL and the kernel has several devices")),
        };
    }
    let device = device::get(device)?;
    let code = kernel
        .code(&device)
        .ok_or_else(|| wrong("device is not the kernel's"))?;
    Ok((Arc::clone(&device), code.code.clone()))
}

/// `clGetKernelWorkGroupInfo`
pub fn get_kernel_work_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_work_group_info,
    info: Info,
) -> Result<Written> {
    let kernel = get(kernel)?;
    let (device, code) = code_for(&kernel, device)?;
    let compiled = code.compiled();
    let attributes = &compiled.attributes;
    match param_name {
        CL_KERNEL_GLOBAL_WORK_SIZE => {
            // "CL_INVALID_VALUE if param_name is CL_KERNEL_GLOBAL_WORK_SIZE and device is not a custom device and
            // kernel is not a built-in kernel."
            Err(Error::invalid_value(
                "CL_KERNEL_GLOBAL_WORK_SIZE is for custom devices and built-in kernels",
            ))
        }
        CL_KERNEL_WORK_GROUP_SIZE => {
            let limit = WorkLimits::of(&device, compiled).max_group_size as usize;
            info.value::<usize>(match attributes.required_work_group_size {
                Some(required) => required
                    .iter()
                    .map(|size| *size as usize)
                    .product::<usize>()
                    .min(limit),
                None => limit,
            })
        }
        CL_KERNEL_COMPILE_WORK_GROUP_SIZE => {
            let required = attributes.required_work_group_size.unwrap_or_default();
            info.slice::<usize>(&required.map(|size| size as usize))
        }
        CL_KERNEL_LOCAL_MEM_SIZE => {
            let arguments: u64 = kernel
                .lock()
                .arguments
                .iter()
                .map(|argument| match argument {
                    ArgumentValue::LocalBytes(bytes) => *bytes,
                    _ => 0,
                })
                .sum();
            info.value::<cl_ulong>(compiled.local_memory_bytes + arguments)
        }
        CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE => {
            info.value::<usize>(WorkLimits::of(&device, compiled).subgroup_size as usize)
        }
        // Vulkan drivers spill as they like and don't tell.
        CL_KERNEL_SPILL_MEM_SIZE_INTEL => info.value::<cl_ulong>(0),
        CL_KERNEL_PRIVATE_MEM_SIZE => info.value::<cl_ulong>(compiled.private_memory_bytes),
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// `clGetKernelSuggestedLocalWorkSize`
///
/// # Safety
/// `global_work_offset`, `global_work_size` and `suggested_local_work_size` are NULL or have `work_dim` entries.
pub unsafe fn get_kernel_suggested_local_work_size(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    suggested_local_work_size: *mut usize,
) -> Result<()> {
    let queue = handle::get::<crate::runtime::queue::Queue>(command_queue)?;
    let kernel = get(kernel)?;
    // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built program executable available for kernel
    // for the device associated with command_queue."
    let DeviceCode { code, .. } = prepare::code(&kernel, queue.device())?;
    enqueue_kernel::check_context(&queue, &kernel)?;
    // "CL_INVALID_KERNEL_ARGS if all argument values for kernel have not been set."
    kernel.check_arguments()?;
    // SAFETY: the caller's promise.
    let range = unsafe {
        enqueue_kernel::range(
            work_dim,
            global_work_offset,
            global_work_size,
            std::ptr::null(),
        )
    }?;
    // "CL_INVALID_GLOBAL_WORK_SIZE if global_work_size is NULL or if any of the values specified in
    // global_work_size are 0."
    if range.is_empty() {
        return Err(Error::new(
            opencl_sys::CL_INVALID_GLOBAL_WORK_SIZE,
            "global_work_size is NULL or has a 0",
        ));
    }
    // "CL_INVALID_VALUE if suggested_local_work_size is NULL."
    if suggested_local_work_size.is_null() {
        return Err(Error::invalid_value("suggested_local_work_size is NULL"));
    }
    let compiled = code.compiled();
    let local = local_size(compiled, &range, &WorkLimits::of(queue.device(), compiled))?;
    for (index, size) in local.iter().take(work_dim as usize).enumerate() {
        // SAFETY: the array has `work_dim` entries.
        unsafe { suggested_local_work_size.add(index).write(*size as usize) };
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_read_as_in_the_source() {
        let attributes = KernelAttributes {
            required_work_group_size: Some([8, 4, 1]),
            vec_type_hint: Some("float4".into()),
            ..KernelAttributes::default()
        };
        assert_eq!(
            attributes_text(&attributes),
            "vec_type_hint(float4) reqd_work_group_size(8,4,1)"
        );
        assert_eq!(attributes_text(&KernelAttributes::default()), "");
    }
}
