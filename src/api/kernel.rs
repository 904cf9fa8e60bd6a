//! Kernels and their arguments.

use super::error::{Error, Result};
use super::out::List;
use super::{handle, program, svm, usm};
use crate::compiler::program::AccessQualifier;
use crate::runtime::context::Context;
use crate::runtime::context::sampler::Sampler;
use crate::runtime::device::Device;
use crate::runtime::launch::argument::{ArgumentClass, ArgumentValue};
use crate::runtime::launch::indirect::Indirect;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::memory::Memory;
use crate::runtime::program::Program;
use opencl_sys::{
    CL_FALSE, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_KERNEL_DEFINITION,
    CL_INVALID_MEM_OBJECT, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_SAMPLER,
    CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT, CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
    CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, CL_KERNEL_EXEC_INFO_SVM_FINE_GRAIN_SYSTEM,
    CL_KERNEL_EXEC_INFO_SVM_PTRS, CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL, CL_MEM_READ_ONLY,
    CL_MEM_WRITE_ONLY, cl_bool, cl_kernel, cl_kernel_exec_info, cl_mem, cl_program, cl_uint,
};
use smallvec::SmallVec;
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
    let value = unsafe { argument_value(&kernel, arg_index, arg_size, arg_value) }?;
    kernel.set_argument(arg_index, value);
    Ok(())
}

/// What [`set_kernel_arg`] sets an argument to.
///
/// # Safety
/// As [`set_kernel_arg`].
pub(super) unsafe fn argument_value(
    kernel: &Kernel,
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> Result<ArgumentValue> {
    let class = kernel.argument_class(arg_index)?;
    let bad_size = |expected: usize| {
        Error::new(
            CL_INVALID_ARG_SIZE,
            format!("argument {arg_index}: arg_size is {arg_size}, not {expected}"),
        )
    };
    Ok(match class {
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
            ArgumentValue::Bytes(SmallVec::from_slice(bytes))
        }
        ArgumentClass::Buffer => {
            // "… or if the argument is a memory object and arg_size != sizeof(cl_mem)".
            let check_size = || {
                if arg_size == size_of::<cl_mem>() {
                    Ok(())
                } else {
                    Err(bad_size(size_of::<cl_mem>()))
                }
            };
            // "If the argument is declared to be a pointer of a built-in scalar or vector type … the memory
            // object specified as argument value must be a buffer object (or NULL) … the arg_value pointer can
            // be NULL or point to a NULL value in which case a NULL value will be used".
            let memory = if arg_value.is_null() {
                std::ptr::null_mut()
            } else {
                check_size()?;
                // SAFETY: the caller's promise, and the size of a handle.
                unsafe { arg_value.cast::<cl_mem>().read_unaligned() }
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
            if memory.as_ref().is_some_and(|memory| !memory.is_buffer()) {
                return Err(Error::new(
                    CL_INVALID_MEM_OBJECT,
                    format!("argument {arg_index} is no buffer, the kernel takes one"),
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
        ArgumentClass::Image(wanted) => {
            // SAFETY: the caller's promise.
            let memory = unsafe { handle_argument(arg_index, arg_size, arg_value) }?;
            // "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value
            // is not a valid memory object."
            let memory: Arc<Memory> = handle::get(memory)?;
            let foreign = !Arc::ptr_eq(memory.context(), kernel.program().context());
            let Some(image) = memory.image().filter(|_| !foreign) else {
                return Err(Error::new(
                    CL_INVALID_MEM_OBJECT,
                    format!("argument {arg_index} is no image of the kernel's context"),
                ));
            };
            // "CL_INVALID_ARG_VALUE if the argument is an image declared with the read_only qualifier and
            // arg_value refers to an image object created with cl_mem_flags of CL_MEM_WRITE_ONLY or if the image
            // argument is declared with the write_only qualifier and arg_value refers to an image object created
            // with cl_mem_flags of CL_MEM_READ_ONLY." What is declared read_write is both.
            let forbidden = match wanted.access {
                AccessQualifier::WriteOnly => CL_MEM_READ_ONLY,
                AccessQualifier::ReadWrite => CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY,
                _ => CL_MEM_WRITE_ONLY,
            };
            let refuse = |reason: &str| {
                let reason = format!("argument {arg_index}: {reason}");
                Err(Error::new(CL_INVALID_ARG_VALUE, reason))
            };
            if memory.flags() & forbidden != 0 {
                return refuse("the image's flags forbid what the kernel does with it");
            }
            if image.dimension != wanted.dimension {
                return refuse("the image has another dimension than the kernel's argument");
            }
            if image.format.is_depth() != wanted.depth {
                return refuse("a depth image and one that is none");
            }
            ArgumentValue::Memory(Some(Arc::downgrade(&memory)))
        }
        ArgumentClass::Pipe => {
            // SAFETY: the caller's promise.
            let memory = unsafe { handle_argument(arg_index, arg_size, arg_value) }?;
            // "CL_INVALID_MEM_OBJECT for an argument declared to be a memory object when the specified arg_value
            // is not a valid memory object."
            let memory: Arc<Memory> = handle::get(memory)?;
            let foreign = !Arc::ptr_eq(memory.context(), kernel.program().context());
            if foreign || memory.pipe().is_none() {
                return Err(Error::new(
                    CL_INVALID_MEM_OBJECT,
                    format!("argument {arg_index} is no pipe of the kernel's context"),
                ));
            }
            ArgumentValue::Memory(Some(Arc::downgrade(&memory)))
        }
        ArgumentClass::Sampler => {
            // "CL_INVALID_SAMPLER for an argument declared to be of type sampler_t when the specified arg_value
            // is not a valid sampler object."
            let sampler = if arg_value.is_null() {
                std::ptr::null_mut()
            } else {
                // SAFETY: the caller's promise.
                unsafe { handle_argument(arg_index, arg_size, arg_value) }?
            };
            let sampler: Arc<Sampler> = handle::get(sampler)?;
            if !Arc::ptr_eq(sampler.context(), kernel.program().context()) {
                return Err(Error::new(
                    CL_INVALID_SAMPLER,
                    format!("argument {arg_index}: the sampler belongs to another context"),
                ));
            }
            ArgumentValue::Sampler(sampler.word())
        }
    })
}

/// The handle that an argument is set to.
///
/// # Safety
/// `arg_value` is NULL or has `arg_size` bytes.
unsafe fn handle_argument(
    arg_index: cl_uint,
    arg_size: usize,
    arg_value: *const c_void,
) -> Result<*mut c_void> {
    // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
    if arg_value.is_null() {
        return Err(Error::new(
            CL_INVALID_ARG_VALUE,
            format!("argument {arg_index}: arg_value is NULL"),
        ));
    }
    // "CL_INVALID_ARG_SIZE … if the argument is a memory object and arg_size != sizeof(cl_mem) … or if the
    // argument is a sampler and arg_size != sizeof(cl_sampler)."
    if arg_size != size_of::<*mut c_void>() {
        return Err(Error::new(
            CL_INVALID_ARG_SIZE,
            format!("argument {arg_index}: arg_size is {arg_size}, not that of a handle"),
        ));
    }
    // SAFETY: the caller's promise, and the size of a handle.
    Ok(unsafe { arg_value.cast::<*mut c_void>().read_unaligned() })
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
