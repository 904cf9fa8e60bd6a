//! Command buffers on a session's queue.

use crate::session::Session;
use opencl_sys as cl;
use opencl_sys::{cl_command_buffer_khr, cl_command_queue, cl_mutable_command_khr, cl_uint};
use opencl3::kernel::Kernel;
use std::ptr;

/// Released when dropped.
pub struct CommandBuffer {
    pub handle: cl_command_buffer_khr,
}

impl CommandBuffer {
    /// `flags` as `CL_COMMAND_BUFFER_FLAGS_KHR`.
    pub fn new(session: &Session, flags: cl::cl_command_buffer_flags_khr) -> Self {
        let create = entry!(cl::clCreateCommandBufferKHR_fn, "clCreateCommandBufferKHR");
        let queue = session.queue.get();
        let properties = [cl::CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0];
        let mut error = 1;
        // SAFETY: one queue, a list that ends with 0.
        let handle = unsafe { create(1, &queue, properties.as_ptr(), &mut error) };
        assert_eq!(error, 0, "clCreateCommandBufferKHR");
        Self { handle }
    }

    /// Records a launch.
    pub fn launch(&self, kernel: &Kernel, size: &[usize]) -> cl_mutable_command_khr {
        let launch = entry!(
            cl::clCommandNDRangeKernelKHR_fn,
            "clCommandNDRangeKernelKHR"
        );
        let (dimensions, size) = (size.len() as cl_uint, size.as_ptr());
        let (null, none) = (ptr::null_mut(), ptr::null());
        let mut command = ptr::null_mut();
        // SAFETY: live handles, as many sizes as dimensions.
        let code = unsafe {
            launch(
                self.handle,
                null,
                ptr::null(),
                kernel.get(),
                dimensions,
                none,
                size,
                none,
                0,
                ptr::null(),
                ptr::null_mut(),
                &mut command,
            )
        };
        assert_eq!(code, 0, "clCommandNDRangeKernelKHR");
        command
    }

    pub fn finalize(&self) {
        let finalize = entry!(
            cl::clFinalizeCommandBufferKHR_fn,
            "clFinalizeCommandBufferKHR"
        );
        // SAFETY: a live handle.
        let code = unsafe { finalize(self.handle) };
        assert_eq!(code, 0, "clFinalizeCommandBufferKHR");
    }

    /// Enqueues it on the session's queue.
    pub fn enqueue(&self) {
        self.enqueue_on(&mut []);
    }

    /// Enqueues it on other queues than it was recorded for.
    pub fn enqueue_on(&self, queues: &mut [cl_command_queue]) {
        let enqueue = entry!(
            cl::clEnqueueCommandBufferKHR_fn,
            "clEnqueueCommandBufferKHR"
        );
        let count = queues.len() as cl_uint;
        let queues = match queues {
            [] => ptr::null_mut(),
            queues => queues.as_mut_ptr(),
        };
        let (none, event) = (ptr::null(), ptr::null_mut());
        // SAFETY: live handles, as many queues as said.
        let code = unsafe { enqueue(count, queues, self.handle, 0, none, event) };
        assert_eq!(code, 0, "clEnqueueCommandBufferKHR");
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        let release = entry!(
            cl::clReleaseCommandBufferKHR_fn,
            "clReleaseCommandBufferKHR"
        );
        // SAFETY: a live handle.
        assert_eq!(unsafe { release(self.handle) }, 0);
    }
}
