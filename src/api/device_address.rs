//! Device addresses of buffers (cl_ext_buffer_device_address).

use super::error::{Error, Result};
use super::kernel;
use crate::runtime::launch::argument::ArgumentClass;
use crate::runtime::memory::Memory;
use opencl_sys::{
    CL_FALSE, CL_INVALID_ARG_INDEX, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, cl_kernel,
    cl_mem_device_address_ext, cl_uint,
};

/// Whether the buffer, or the one it is part of, was made with `CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT`.
pub fn is_asked_for(memory: &Memory) -> bool {
    let whole = memory.parent().map_or(memory, |parent| &**parent);
    whole
        .properties()
        .chunks_exact(2)
        .any(|pair| pair[0] == CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT && pair[1] != CL_FALSE.into())
}

/// `clSetKernelArgDevicePointerEXT`: "it's legal to pass invalid pointers as the value".
pub fn set_kernel_arg_device_pointer(
    kernel: cl_kernel,
    arg_index: cl_uint,
    arg_value: cl_mem_device_address_ext,
) -> Result<()> {
    let kernel = kernel::get(kernel)?;
    // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index, or if … the expected kernel argument is
    // not a pointer to global memory."
    if kernel.argument_class(arg_index)? != ArgumentClass::Buffer {
        return Err(Error::new(
            CL_INVALID_ARG_INDEX,
            format!("argument {arg_index} is not a pointer to global memory"),
        ));
    }
    kernel::set_address(&kernel, arg_index, arg_value)
}
