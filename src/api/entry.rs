//! The one way in: every entry point of C runs its Rust function through here. A panic is caught, an error
//! is logged with its reason and becomes the code that the application sees.

use super::error::{Error, Result};
use super::out::Written;
use crate::runtime::host::process::{self, AtWork};
use opencl_sys::{CL_SUCCESS, cl_int};
use std::any::Any;
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// An entry point's name, and whether its lack of support has been reported.
#[derive(Debug)]
pub struct Entry {
    name: &'static str,
    warned: Once,
}

/// What a function that answers with a code may return: nothing, or the proof of an answered query.
pub trait Success {}
impl Success for () {}
impl Success for Written {}

impl Entry {
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            warned: Once::new(),
        }
    }

    /// For functions that return a `cl_int`.
    #[inline]
    pub fn code<S: Success>(&self, function: impl FnOnce() -> Result<S>) -> cl_int {
        match self.run(function) {
            Ok(_) => CL_SUCCESS,
            // The parent of a child holds the objects, and the system takes back those of a process that ends.
            Err(_) if process::is_over() && self.name.starts_with("clRelease") => CL_SUCCESS,
            Err(error) => error.code(),
        }
    }

    /// For functions that return a handle or a mapped pointer, and a code through `errcode_ret`.
    ///
    /// # Safety
    /// `errcode_ret` is NULL or writable.
    pub unsafe fn object(
        &self,
        errcode_ret: *mut cl_int,
        function: impl FnOnce() -> Result<*mut c_void>,
    ) -> *mut c_void {
        let (object, code) = match self.run(function) {
            Ok(object) => (object, CL_SUCCESS),
            Err(error) => (std::ptr::null_mut(), error.code()),
        };
        if !errcode_ret.is_null() {
            // SAFETY: the caller's promise.
            unsafe { errcode_ret.write(code) };
        }
        object
    }

    /// For `clLinkProgram`, which may return a handle and an error's code at once.
    ///
    /// # Safety
    /// `errcode_ret` is NULL or writable.
    pub unsafe fn object_despite_error(
        &self,
        errcode_ret: *mut cl_int,
        function: impl FnOnce() -> Result<(*mut c_void, Option<Error>)>,
    ) -> *mut c_void {
        let (object, code) = match self.run(function) {
            Ok((object, None)) => (object, CL_SUCCESS),
            Ok((object, Some(error))) => {
                log::debug!("{}: {error}", self.name);
                (object, error.code())
            }
            Err(error) => (std::ptr::null_mut(), error.code()),
        };
        if !errcode_ret.is_null() {
            // SAFETY: the caller's promise.
            unsafe { errcode_ret.write(code) };
        }
        object
    }

    /// For functions that return a pointer and no code: NULL is the error.
    pub fn pointer(&self, function: impl FnOnce() -> Result<*mut c_void>) -> *mut c_void {
        self.run(function).unwrap_or(std::ptr::null_mut())
    }

    /// For functions that return nothing at all.
    pub fn nothing(&self, function: impl FnOnce() -> Result<()>) {
        let _ = self.run(function);
    }

    #[inline]
    fn run<T>(&self, function: impl FnOnce() -> Result<T>) -> Result<T> {
        let entered = if !process::is_over() {
            AtWork::begin_call()
        } else {
            Err(Error::out_of_resources(
                "a child of the process that used OpenCL can't use it, nor can a callback or a destructor at the end",
            ))
        };
        let _at_work = entered?;
        // A panic leaves whatever it was changing half changed; locks of the runtime are poisoned by it
        // and give errors from then on.
        match catch_unwind(AssertUnwindSafe(function)) {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(self.logged(error)),
            Err(panic) => Err(self.logged(self.panicked(&*panic))),
        }
    }

    /// The error that a panic becomes.
    #[cold]
    fn panicked(&self, panic: &(dyn Any + Send)) -> Error {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        log::error!("{}: panic: {message}", self.name);
        Error::out_of_host_memory("an internal error, a defect of Pumice")
    }

    #[cold]
    fn logged(&self, error: Error) -> Error {
        if error.is_unsupported() {
            self.warned
                .call_once(|| log::warn!("{}: {error}", self.name));
        }
        log::debug!("{}: {error}", self.name);
        error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl_sys::{CL_INVALID_KERNEL, CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY};

    static ENTRY: Entry = Entry::new("clTest");

    #[test]
    fn results_become_codes() {
        assert_eq!(ENTRY.code(|| Ok(())), CL_SUCCESS);
        let failing = || Err::<(), _>(Error::new(CL_INVALID_KERNEL, "kernel"));
        assert_eq!(ENTRY.code(failing), CL_INVALID_KERNEL);
        let mut code = 1;
        // SAFETY: `code` is writable.
        let object = unsafe { ENTRY.object(&mut code, || Err(Error::invalid_value("nothing"))) };
        assert!(object.is_null());
        assert_eq!(code, CL_INVALID_VALUE);
    }

    #[test]
    fn a_panic_does_not_cross_into_c() {
        let code = ENTRY.code(|| -> Result<()> { panic!("on purpose") });
        assert_eq!(code, CL_OUT_OF_HOST_MEMORY);
    }
}
