//! Functions of the application that the runtime calls back.

use opencl_sys::{cl_command_queue, cl_context, cl_event, cl_int, cl_mem, cl_program, cl_uint};
use std::ffi::{c_char, c_void};

/// `pfn_notify` of `clCreateContext`.
pub type ContextNotify = Option<
    unsafe extern "C" fn(
        errinfo: *const c_char,
        private_info: *const c_void,
        cb: usize,
        user_data: *mut c_void,
    ),
>;
/// `pfn_notify` of `clSetContextDestructorCallback`.
pub type ContextDestructor = Option<unsafe extern "C" fn(cl_context, *mut c_void)>;
/// `pfn_notify` of `clSetMemObjectDestructorCallback`.
pub type MemoryDestructor = Option<unsafe extern "C" fn(cl_mem, *mut c_void)>;
/// `pfn_notify` of `clBuildProgram`, `clCompileProgram`, `clLinkProgram`.
pub type ProgramNotify = Option<unsafe extern "C" fn(cl_program, *mut c_void)>;
/// `pfn_notify` of `clSetEventCallback`.
pub type EventNotify = Option<unsafe extern "C" fn(cl_event, cl_int, *mut c_void)>;
/// `pfn_free_func` of `clEnqueueSVMFree`.
pub type SvmFree =
    Option<unsafe extern "C" fn(cl_command_queue, cl_uint, *mut *mut c_void, *mut c_void)>;
/// `user_func` of `clEnqueueNativeKernel`.
pub type NativeKernel = Option<unsafe extern "C" fn(*mut c_void)>;

/// The `user_data` that comes with a callback: never looked at, only handed back.
#[derive(Clone, Copy, Debug)]
pub struct UserData(pub *mut c_void);

// SAFETY: the pointer is not followed; what the application's function does with it on the thread that
// calls back is the application's agreement with the specification (section 2.1, "callbacks").
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}
