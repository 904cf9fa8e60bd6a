//! Sharing with OpenGL, EGL, Direct3D and DX9 media surfaces: not supported, and no extension string says so.
//! The dispatch table has slots for these functions, which must not be empty.

use super::error::{Error, Result};
use opencl_sys::CL_INVALID_OPERATION;
use std::ffi::c_void;

/// What all of them answer.
pub fn unsupported() -> Result<*mut c_void> {
    Err(Error::unsupported(
        CL_INVALID_OPERATION,
        "sharing with another API",
    ))
}
