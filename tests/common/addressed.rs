//! Buffers with a device address of their own on each device of a context. Needs [`super::entry`].

use opencl_sys::cl_function_types::{clCreateBufferWithProperties_t, clGetMemObjectInfo_t};
use opencl_sys::{
    CL_MEM_COPY_HOST_PTR, CL_MEM_DEVICE_ADDRESS_EXT, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT,
    CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE,
};
use opencl3::context::Context;
use opencl3::memory::{Buffer, ClMem};

/// A buffer of `numbers`, and its addresses on two devices, or twice that on the only one.
pub fn buffer<T>(context: &Context, numbers: &mut [T]) -> (Buffer<T>, [u64; 2]) {
    let create = entry!(
        clCreateBufferWithProperties_t,
        "clCreateBufferWithProperties"
    );
    let info = entry!(clGetMemObjectInfo_t, "clGetMemObjectInfo");
    let properties = [CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE.into(), 0];
    let (size, data) = (size_of_val(numbers), numbers.as_mut_ptr().cast());
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let mut code = 0;
    let mut addresses = vec![0_u64; context.devices().len()];
    // SAFETY: a live context, and as many bytes as are said.
    let buffer = unsafe {
        let made = create(
            context.get(),
            properties.as_ptr(),
            flags,
            size,
            data,
            &mut code,
        );
        assert_eq!(code, CL_SUCCESS);
        Buffer::new(made)
    };
    let (size, list) = (8 * addresses.len(), addresses.as_mut_ptr().cast());
    let name = CL_MEM_DEVICE_ADDRESS_EXT;
    // SAFETY: room for as many bytes.
    let code = unsafe { info(buffer.get(), name, size, list, std::ptr::null_mut()) };
    assert_eq!(code, CL_SUCCESS);
    let addresses = [0, 1].map(|device| addresses[device % addresses.len()]);
    (buffer, addresses)
}
