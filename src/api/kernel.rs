//! Kernels and their arguments.

use super::error::{Error, Result};
use super::out::List;
use super::{handle, program};
use crate::runtime::kernel::{ArgumentClass, ArgumentValue, Kernel};
use crate::runtime::memory::Memory;
use opencl_sys::{
    CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_MEM_OBJECT,
    CL_INVALID_PROGRAM_EXECUTABLE, cl_kernel, cl_kernel_exec_info, cl_mem, cl_program, cl_uint,
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
    // "CL_INVALID_VALUE if kernel_name is NULL."
    if kernel_name.is_null() {
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
    let names = program.kernel_names().ok_or_else(|| {
        Error::new(
            CL_INVALID_PROGRAM_EXECUTABLE,
            "program has no executable for any device",
        )
    })?;
    // SAFETY: the caller's promise.
    let list = unsafe { List::new(num_kernels, kernels, num_kernels_ret) };
    // "CL_INVALID_VALUE if kernels is not NULL and num_kernels is less than the number of kernels in program."
    if list.wants_list() && list.entries() < names.len() {
        return Err(Error::invalid_value(format!(
            "num_kernels is {num_kernels}, the program has {}",
            names.len()
        )));
    }
    if !list.wants_list() {
        list.write(&vec![std::ptr::null_mut(); names.len()]);
        return Ok(());
    }
    let made = names
        .iter()
        .map(|name| Kernel::new(&program, name))
        .collect::<Result<Vec<_>>>()?;
    let handles: Vec<cl_kernel> = made.into_iter().map(handle::create).collect();
    list.write(&handles);
    Ok(())
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
    let kernel = get(kernel)?;
    let class = kernel.argument_class(arg_index)?;
    let bad_size = |expected: usize| {
        Error::new(
            CL_INVALID_ARG_SIZE,
            format!("argument {arg_index}: arg_size is {arg_size}, not {expected}"),
        )
    };
    let value = match class {
        ArgumentClass::Value { size_bytes } => {
            // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
            if arg_value.is_null() {
                return Err(Error::new(
                    CL_INVALID_ARG_VALUE,
                    format!("argument {arg_index}: arg_value is NULL"),
                ));
            }
            // "CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument that is
            // not a memory object".
            if arg_size != size_bytes as usize {
                return Err(bad_size(size_bytes as usize));
            }
            // SAFETY: the caller's promise.
            let bytes = unsafe { std::slice::from_raw_parts(arg_value.cast::<u8>(), arg_size) };
            ArgumentValue::Bytes(bytes.into())
        }
        ArgumentClass::Buffer => {
            // "… or if the argument is a memory object and arg_size != sizeof(cl_mem)".
            let check_size = || match arg_size == size_of::<cl_mem>() {
                true => Ok(()),
                false => Err(bad_size(size_of::<cl_mem>())),
            };
            // "If the argument is declared to be a pointer of a built-in scalar or vector type … the memory
            // object specified as argument value must be a buffer object (or NULL) … the arg_value pointer can
            // be NULL or point to a NULL value in which case a NULL value will be used".
            let memory = match arg_value.is_null() {
                true => std::ptr::null_mut(),
                false => {
                    check_size()?;
                    // SAFETY: the caller's promise, and the size of a handle.
                    unsafe { arg_value.cast::<cl_mem>().read_unaligned() }
                }
            };
            // "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value
            // is not a valid memory object."
            let memory = handle::get_optional::<Memory>(memory)?;
            if let Some(memory) = &memory
                && !Arc::ptr_eq(memory.context(), kernel.program().context())
            {
                return Err(Error::new(
                    CL_INVALID_MEM_OBJECT,
                    format!("argument {arg_index}: the buffer belongs to another context"),
                ));
            }
            check_size()?;
            ArgumentValue::Memory(memory.as_ref().map(Arc::downgrade))
        }
        ArgumentClass::Local => {
            // "If the argument is declared with the local qualifier, the arg_value entry must be NULL."
            if !arg_value.is_null() {
                return Err(Error::new(
                    CL_INVALID_ARG_VALUE,
                    format!("argument {arg_index} is local, arg_value is not NULL"),
                ));
            }
            // "… or if arg_size is zero and the argument is declared with the local qualifier".
            if arg_size == 0 {
                return Err(Error::new(
                    CL_INVALID_ARG_SIZE,
                    format!("argument {arg_index} is local, arg_size is 0"),
                ));
            }
            ArgumentValue::LocalBytes(arg_size as u64)
        }
    };
    kernel.set_argument(arg_index, value);
    Ok(())
}

/// `clSetKernelArgSVMPointer`
pub fn set_kernel_arg_svm_pointer(
    kernel: cl_kernel,
    _arg_index: cl_uint,
    _arg_value: *const c_void,
) -> Result<()> {
    get(kernel)?;
    // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
    Err(Error::invalid_operation("no device supports SVM"))
}

/// `clSetKernelExecInfo`
pub fn set_kernel_exec_info(
    kernel: cl_kernel,
    _param_name: cl_kernel_exec_info,
    _param_value_size: usize,
    _param_value: *const c_void,
) -> Result<()> {
    get(kernel)?;
    // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
    Err(Error::invalid_operation("no device supports SVM"))
}
