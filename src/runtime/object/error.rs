//! The error that an OpenCL call ends with: a code for the application, a reason for the log.

use crate::compiler::CompileError;
use crate::vulkan;
use opencl_sys::{
    CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_COMPILER_NOT_AVAILABLE,
    CL_DEVICE_NOT_AVAILABLE, CL_DEVICE_NOT_FOUND, CL_DEVICE_PARTITION_FAILED,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_IMAGE_FORMAT_MISMATCH,
    CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE,
    CL_INVALID_BINARY, CL_INVALID_BUFFER_SIZE, CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMMAND_QUEUE,
    CL_INVALID_COMPILER_OPTIONS, CL_INVALID_CONTEXT, CL_INVALID_DEVICE,
    CL_INVALID_DEVICE_PARTITION_COUNT, CL_INVALID_DEVICE_QUEUE, CL_INVALID_DEVICE_TYPE,
    CL_INVALID_EVENT, CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_GL_OBJECT, CL_INVALID_GLOBAL_OFFSET,
    CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_HOST_PTR, CL_INVALID_IMAGE_DESCRIPTOR,
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, CL_INVALID_KERNEL,
    CL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_DEFINITION, CL_INVALID_KERNEL_NAME,
    CL_INVALID_LINKER_OPTIONS, CL_INVALID_MEM_OBJECT, CL_INVALID_MIP_LEVEL, CL_INVALID_OPERATION,
    CL_INVALID_PIPE_SIZE, CL_INVALID_PLATFORM, CL_INVALID_PROGRAM, CL_INVALID_PROGRAM_EXECUTABLE,
    CL_INVALID_PROPERTY, CL_INVALID_QUEUE_PROPERTIES, CL_INVALID_SAMPLER, CL_INVALID_SPEC_ID,
    CL_INVALID_VALUE, CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE,
    CL_INVALID_WORK_ITEM_SIZE, CL_KERNEL_ARG_INFO_NOT_AVAILABLE, CL_LINK_PROGRAM_FAILURE,
    CL_LINKER_NOT_AVAILABLE, CL_MAP_FAILURE, CL_MAX_SIZE_RESTRICTION_EXCEEDED, CL_MEM_COPY_OVERLAP,
    CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_OUT_OF_HOST_MEMORY,
    CL_OUT_OF_RESOURCES, CL_PLATFORM_NOT_FOUND_KHR, CL_PROFILING_INFO_NOT_AVAILABLE, CL_SUCCESS,
    cl_int, cl_uint,
};
use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

/// An OpenCL error code and why it is returned.
// In a box: results are then as large as what they give, and are returned in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Fault {
    code: cl_int,
    reason: Cow<'static, str>,
    unwritten: bool,
}

/// What a call ends with that has met a state which can't be ([`Error::impossible`]): none of the specification's codes.
const IMPOSSIBLE: cl_int = -9999;

/// The result of everything that an entry point does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// `code` is one of the specification's `CL_…` error codes, `reason` what the log says: name the
    /// argument and what is wrong with it.
    pub fn new(code: cl_int, reason: impl Into<Cow<'static, str>>) -> Self {
        debug_assert!(code < 0, "an error needs an error code");
        Self(Box::new(Fault {
            code,
            reason: reason.into(),
            unwritten: false,
        }))
    }

    /// `CL_INVALID_VALUE`
    pub fn invalid_value(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CL_INVALID_VALUE, reason)
    }

    /// `CL_INVALID_OPERATION`
    pub fn invalid_operation(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CL_INVALID_OPERATION, reason)
    }

    /// `CL_OUT_OF_HOST_MEMORY`
    pub fn out_of_host_memory(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CL_OUT_OF_HOST_MEMORY, reason)
    }

    /// `CL_OUT_OF_RESOURCES`: also what a lost device gives.
    pub fn out_of_resources(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CL_OUT_OF_RESOURCES, reason)
    }

    /// A state that can't be, unless Pumice has a mistake of its own. The log says where, a debug build ends there, and the
    /// application gets a code that means nothing else.
    #[cold]
    #[track_caller]
    pub fn impossible(what: &'static str) -> Self {
        let place = Location::caller();
        log::error!("a mistake of Pumice, at {place}: {what}");
        debug_assert!(false, "{place}: {what}");
        Self::new(IMPOSSIBLE, what)
    }

    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`
    pub fn allocation_failure(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(CL_MEM_OBJECT_ALLOCATION_FAILURE, reason)
    }

    /// A query (`param_name`) that the function does not know: `CL_INVALID_VALUE`.
    pub fn unknown_query(param_name: cl_uint) -> Self {
        Self::new(
            CL_INVALID_VALUE,
            format!("param_name {param_name:#06x} is not a query of this function"),
        )
    }

    /// A feature that Pumice does not have: the specification's `code` for that case, and one warning in
    /// the log for each entry point that meets it.
    pub fn unsupported(code: cl_int, feature: &'static str) -> Self {
        Self(Box::new(Fault {
            code,
            reason: Cow::Borrowed(feature),
            unwritten: true,
        }))
    }

    /// The OpenCL error code.
    pub fn code(&self) -> cl_int {
        self.0.code
    }

    /// What the log says.
    pub fn reason(&self) -> &str {
        &self.0.reason
    }

    /// Whether this is Pumice's lack rather than the application's mistake.
    pub fn is_unsupported(&self) -> bool {
        self.0.unwritten
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault {
            code,
            reason,
            unwritten,
        } = &*self.0;
        let what = if *unwritten { "not supported: " } else { "" };
        write!(f, "{}: {what}{reason}", CodeName(*code))
    }
}

impl std::error::Error for Error {}

impl From<vulkan::Error> for Error {
    /// The code for a failure of Vulkan in the middle of work. Allocations of memory objects use
    /// [`Error::allocation_failure`] instead.
    fn from(error: vulkan::Error) -> Self {
        let code = match error {
            vulkan::Error::OutOfHostMemory => CL_OUT_OF_HOST_MEMORY,
            _ => CL_OUT_OF_RESOURCES,
        };
        Self::new(code, error.to_string())
    }
}

impl From<CompileError> for Error {
    /// The error for code that a program was built to: the application has made no mistake any more.
    fn from(error: CompileError) -> Self {
        Self::out_of_resources(error.reason)
    }
}

/// Writes an error code by its name in the headers.
pub struct CodeName(pub cl_int);

impl fmt::Display for CodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match code_name(self.0) {
            Some(name) => f.write_str(name),
            None => write!(f, "error {}", self.0),
        }
    }
}

macro_rules! code_names {
    ($($name:ident)*) => {
        fn code_name(code: cl_int) -> Option<&'static str> {
            Some(match code {
                $($name => stringify!($name),)*
                _ => return None,
            })
        }
    };
}

code_names! {
    CL_SUCCESS CL_DEVICE_NOT_FOUND CL_DEVICE_NOT_AVAILABLE CL_COMPILER_NOT_AVAILABLE
    CL_MEM_OBJECT_ALLOCATION_FAILURE CL_OUT_OF_RESOURCES CL_OUT_OF_HOST_MEMORY
    CL_PROFILING_INFO_NOT_AVAILABLE CL_MEM_COPY_OVERLAP CL_IMAGE_FORMAT_MISMATCH
    CL_IMAGE_FORMAT_NOT_SUPPORTED CL_BUILD_PROGRAM_FAILURE CL_MAP_FAILURE
    CL_MISALIGNED_SUB_BUFFER_OFFSET CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
    CL_COMPILE_PROGRAM_FAILURE CL_LINKER_NOT_AVAILABLE CL_LINK_PROGRAM_FAILURE
    CL_DEVICE_PARTITION_FAILED CL_KERNEL_ARG_INFO_NOT_AVAILABLE CL_INVALID_VALUE
    CL_INVALID_DEVICE_TYPE CL_INVALID_PLATFORM CL_INVALID_DEVICE CL_INVALID_CONTEXT
    CL_INVALID_QUEUE_PROPERTIES CL_INVALID_COMMAND_QUEUE CL_INVALID_HOST_PTR CL_INVALID_MEM_OBJECT
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR CL_INVALID_IMAGE_SIZE CL_INVALID_SAMPLER CL_INVALID_BINARY
    CL_INVALID_BUILD_OPTIONS CL_INVALID_PROGRAM CL_INVALID_PROGRAM_EXECUTABLE
    CL_INVALID_KERNEL_NAME CL_INVALID_KERNEL_DEFINITION CL_INVALID_KERNEL CL_INVALID_ARG_INDEX
    CL_INVALID_ARG_VALUE CL_INVALID_ARG_SIZE CL_INVALID_KERNEL_ARGS CL_INVALID_WORK_DIMENSION
    CL_INVALID_WORK_GROUP_SIZE CL_INVALID_WORK_ITEM_SIZE CL_INVALID_GLOBAL_OFFSET
    CL_INVALID_EVENT_WAIT_LIST CL_INVALID_EVENT CL_INVALID_OPERATION CL_INVALID_GL_OBJECT
    CL_INVALID_BUFFER_SIZE CL_INVALID_MIP_LEVEL CL_INVALID_GLOBAL_WORK_SIZE CL_INVALID_PROPERTY
    CL_INVALID_IMAGE_DESCRIPTOR CL_INVALID_COMPILER_OPTIONS CL_INVALID_LINKER_OPTIONS
    CL_INVALID_DEVICE_PARTITION_COUNT CL_INVALID_PIPE_SIZE CL_INVALID_DEVICE_QUEUE
    CL_INVALID_SPEC_ID CL_MAX_SIZE_RESTRICTION_EXCEEDED CL_PLATFORM_NOT_FOUND_KHR
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_sentences() {
        let error = Error::invalid_value("size is 0");
        assert_eq!(error.to_string(), "CL_INVALID_VALUE: size is 0");
        let error = Error::unsupported(CL_INVALID_OPERATION, "pipes");
        assert_eq!(
            error.to_string(),
            "CL_INVALID_OPERATION: not supported: pipes"
        );
        assert_eq!(CodeName(-4242).to_string(), "error -4242");
    }
}
