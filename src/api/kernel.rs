//! Kernels and their arguments.

use super::error::{Error, Result};
use super::out::List;
use super::{handle, kernel_argument, program, svm, usm};
use crate::runtime::context::Context;
use crate::runtime::device::Device;
use crate::runtime::launch::argument::{ArgumentClass, ArgumentValue};
use crate::runtime::launch::indirect::Indirect;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::program::Program;
use opencl_sys::{
    CL_FALSE, CL_INVALID_ARG_VALUE, CL_INVALID_KERNEL_DEFINITION, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
    CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, cl_bool, cl_kernel,
    cl_kernel_exec_info, cl_program, cl_uint,
};
use std::ffi::{CStr, c_char, c_void};
use std::sync::Arc;

/// The kernel behind a handle: "CL_INVALID_KERNEL if kernel is not a valid kernel object."
pub fn get(kernel: cl_kernel) -> Result<Arc<Kernel>> {
    handle::get(kernel)
}

/// `clCreateKernel`
///
/// # Safety
/// `kernel_name` is NULL or a terminated string.
pub unsafe fn create_kernel(program: cl_program, kernel_name: *const c_char) -> Result<cl_kernel> {
    let program = program::get(program)?;
    if kernel_name.is_null() {
        // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program." Of a kernel
        // with a name that is found out as it is made.
        program.kernel_names().ok_or_else(no_executable)?;
        // "CL_INVALID_VALUE if kernel_name is NULL."
        return Err(Error::invalid_value("kernel_name is NULL"));
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(kernel_name) }.to_string_lossy();
    Ok(handle::create(Kernel::new(&program, &name)?))
}

/// `clCreateKernelsInProgram`
///
/// # Safety
/// `kernels` is NULL or has room for `num_kernels`; `num_kernels_ret` is NULL or writable.
pub unsafe fn create_kernels_in_program(
    program: cl_program,
    num_kernels: cl_uint,
    kernels: *mut cl_kernel,
    num_kernels_ret: *mut cl_uint,
) -> Result<()> {
    let program = program::get(program)?;
    // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for any device in program."
    let names = program.kernel_names().ok_or_else(no_executable)?;
    // SAFETY: the caller's promise.
    let list = unsafe { List::new(num_kernels, kernels, num_kernels_ret) };
    // "Kernel objects are not created for any __kernel functions in program that do not have the same function
    // definition across all devices": only where there are several, they must be made to be counted.
    let made = match program.devices().len() {
        1 => None,
        _ => Some(make_all(&program, &names)?),
    };
    let count = made.as_ref().map_or(names.len(), Vec::len);
    if !list.wants_list() {
        list.write(&vec![std::ptr::null_mut(); count]);
        return Ok(());
    }
    // "CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels in program."
    if list.entries() < count {
        return Err(Error::invalid_value(format!(
            "num_kernels is {num_kernels}, the program has {count}"
        )));
    }
    let made = made.map_or_else(|| make_all(&program, &names), Ok)?;
    let handles: Vec<cl_kernel> = made.into_iter().map(handle::create).collect();
    list.write(&handles);
    Ok(())
}

fn no_executable() -> Error {
    Error::new(
        CL_INVALID_PROGRAM_EXECUTABLE,
        "program has no executable for any device",
    )
}

/// The kernels of those names that are the same on all devices.
fn make_all(program: &Arc<Program>, names: &[String]) -> Result<Vec<Arc<Kernel>>> {
    let made = names.iter().map(|name| Kernel::new(program, name));
    made.filter(|made| {
        let code = made.as_ref().err().map(Error::code);
        code != Some(CL_INVALID_KERNEL_DEFINITION)
    })
    .collect()
}

/// `clRetainKernel`
pub fn retain_kernel(kernel: cl_kernel) -> Result<()> {
    handle::retain::<Kernel>(kernel)
}

/// `clReleaseKernel`
pub fn release_kernel(kernel: cl_kernel) -> Result<()> {
    handle::release::<Kernel>(kernel)
}

/// `clCloneKernel`
pub fn clone_kernel(source_kernel: cl_kernel) -> Result<cl_kernel> {
    Ok(handle::create(get(source_kernel)?.duplicate()))
}

/// `clSetKernelArg`
///
/// # Safety
/// `arg_value` is NULL or has `arg_size` bytes.
pub unsafe fn set_kernel_arg(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> Result<()> {
    let kernel = handle::borrow(kernel)?;
    // SAFETY: the caller's promise.
    let value = unsafe { kernel_argument::value(&kernel, arg_index, arg_size, arg_value) }?;
    kernel.set_argument(arg_index, value);
    Ok(())
}

/// `clSetKernelArgSVMPointer`
pub fn set_kernel_arg_svm_pointer(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_value: *const c_void,
) -> Result<()> {
    let kernel = get(kernel)?;
    let value = svm_pointer_value(&kernel, arg_index, arg_value)?;
    kernel.set_argument(arg_index, value);
    Ok(())
}

/// What [`set_kernel_arg_svm_pointer`] sets an argument to.
pub(super) fn svm_pointer_value(
    kernel: &Kernel,
    arg_index: cl_uint,
    arg_value: *const c_void,
) -> Result<ArgumentValue> {
    // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
    svm::check_support(kernel.program().context())?;
    check_pointer(kernel, arg_index)?;
    Ok(ArgumentValue::SharedAddress(arg_value as u64))
}

/// `clSetKernelArgMemPointerINTEL`
pub fn set_kernel_arg_mem_pointer(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_value: *const c_void,
) -> Result<()> {
    set_address(&*get(kernel)?, arg_index, arg_value as u64)
}

/// Sets a pointer argument to an address, whatever is there.
pub fn set_address(kernel: &Kernel, arg_index: cl_uint, address: u64) -> Result<()> {
    check_pointer(kernel, arg_index)?;
    kernel.set_argument(arg_index, ArgumentValue::Address(address));
    Ok(())
}

fn check_pointer(kernel: &Kernel, arg_index: cl_uint) -> Result<()> {
    // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index."
    match kernel.argument_class(arg_index)? {
        ArgumentClass::Buffer => Ok(()),
        // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
        _ => Err(Error::new(
            CL_INVALID_ARG_VALUE,
            format!("argument {arg_index} is not a pointer to global or constant memory"),
        )),
    }
}

/// `clSetKernelExecInfo`. On one device kernels may follow any pointer without being told of it; of several, see
/// [`crate::runtime::launch::indirect`].
///
/// # Safety
/// `param_value` is NULL or readable for `param_value_size` bytes.
pub unsafe fn set_kernel_exec_info(
    kernel: cl_kernel,
    param_name: cl_kernel_exec_info,
    param_value_size: usize,
    param_value: *const c_void,
) -> Result<()> {
    let kernel = get(kernel)?;
    let context = kernel.program().context();
    // SAFETY: the caller's promise.
    kernel.set_indirect(|said| unsafe {
        set_exec_info(said, context, param_name, param_value_size, param_value)
    })
}

/// Adds to what was `said` of a kernel, as [`set_kernel_exec_info`] does.
///
/// # Safety
/// As [`set_kernel_exec_info`].
pub(super) unsafe fn set_exec_info(
    said: &mut Indirect,
    context: &Context,
    param_name: cl_kernel_exec_info,
    param_value_size: usize,
    param_value: *const c_void,
) -> Result<()> {
    let of_svm = [
        CL_KERNEL_EXEC_INFO_SVM_PTRS,
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
    ];
    if of_svm.contains(&param_name) {
        // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
        svm::check_support(context)?;
    }
    usm::check_exec_info(context, param_name)?;
    // "CL_INVALID_VALUE if param_name is not valid, if param_value is NULL or if the size specified by
    // param_value_size is not valid."
    let is_list = match param_name {
        CL_KERNEL_EXEC_INFO_SVM_PTRS
        | CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL
        | CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT => true,
        CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM
        | CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL
        | CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL => false,
        _ => {
            return Err(Error::invalid_value(format!(
                "param_name {param_name:#x} is not known"
            )));
        }
    };
    let size_is_valid = if is_list {
        param_value_size.is_multiple_of(size_of::<u64>())
    } else {
        param_value_size == size_of::<cl_bool>()
    };
    // "To specify that no SVM allocations will be accessed by a kernel other than those set as kernel arguments, specify
    // an empty set by passing param_value_size equal to zero and param_value equal to NULL."
    let is_empty = param_value_size == 0;
    if !size_is_valid || param_value.is_null() != is_empty {
        return Err(Error::invalid_value(format!(
            "param_value is NULL or its size {param_value_size} is not valid"
        )));
    }
    if is_list {
        let count = param_value_size / size_of::<u64>();
        let pointers = (0..count).map(|index| {
            // SAFETY: the caller's promise.
            unsafe { param_value.cast::<u64>().add(index).read_unaligned() }
        });
        said.set_pointers(param_name, pointers.collect());
        return Ok(());
    }
    // SAFETY: the caller's promise; the size was compared.
    let wanted = unsafe { param_value.cast::<cl_bool>().read_unaligned() } != CL_FALSE;
    if param_name != CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM {
        said.set_flag(param_name, wanted);
        return Ok(());
    }
    // "CL_INVALID_OPERATION if param_name is CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM and param_value is
    // CL_TRUE but no devices in context associated with kernel support fine-grain system SVM allocations."
    let supports = |device: &Arc<Device>| device.unification().any_host_memory;
    if wanted && !context.devices().iter().any(supports) {
        return Err(Error::invalid_operation(
            "no device supports fine-grain system SVM",
        ));
    }
    Ok(())
}
