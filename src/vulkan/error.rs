//! Why a Vulkan operation failed.

use std::fmt;

use ash::vk;

/// A Vulkan failure, sorted by what a caller can do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The Vulkan loader can't be used on this machine; the reason is for a person to read.
    NoLoader(String),
    /// `VK_ERROR_OUT_OF_HOST_MEMORY`
    OutOfHostMemory,
    /// `VK_ERROR_OUT_OF_DEVICE_MEMORY`, or the heap is smaller than the request.
    OutOfDeviceMemory,
    /// `VK_ERROR_DEVICE_LOST`: nothing submitted to the device will ever complete.
    DeviceLost,
    /// The device lacks something that is needed.
    Unsupported(String),
    /// What the application gives can't be imported by this device. Of its memory a copy can serve instead.
    NotImportable,
    /// Any other code, with the call that returned it.
    Unexpected { call: &'static str, result: String },
}

impl Error {
    /// What `result`, returned by `call`, means. For calls that return only the general error codes;
    /// anything else is [`Error::Unexpected`].
    pub(super) fn from_vk(call: &'static str, result: vk::Result) -> Self {
        match result {
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => Self::OutOfHostMemory,
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_POOL_MEMORY => {
                Self::OutOfDeviceMemory
            }
            vk::Result::ERROR_DEVICE_LOST => Self::DeviceLost,
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => Self::NotImportable,
            other => Self::Unexpected {
                call,
                result: format!("{other:?}"),
            },
        }
    }

    /// A `map_err` argument for `call`.
    pub(super) fn of(call: &'static str) -> impl Fn(vk::Result) -> Self {
        move |result| Self::from_vk(call, result)
    }
}

impl From<gpu_allocator::AllocationError> for Error {
    fn from(error: gpu_allocator::AllocationError) -> Self {
        match error {
            gpu_allocator::AllocationError::OutOfMemory => Self::OutOfDeviceMemory,
            other => Self::Unexpected {
                call: "allocate",
                result: other.to_string(),
            },
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLoader(reason) => write!(f, "no Vulkan on this machine: {reason}"),
            Self::OutOfHostMemory => f.write_str("out of host memory"),
            Self::OutOfDeviceMemory => f.write_str("out of device memory"),
            Self::DeviceLost => f.write_str("the Vulkan device was lost"),
            Self::Unsupported(what) => write!(f, "the Vulkan device lacks {what}"),
            Self::NotImportable => f.write_str("what is given can't be imported"),
            Self::Unexpected { call, result } => write!(f, "{call} failed: {result}"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_keep_their_meaning() {
        let lost = Error::from_vk("vkQueueSubmit", vk::Result::ERROR_DEVICE_LOST);
        assert_eq!(lost, Error::DeviceLost);
        let odd = Error::from_vk("vkQueueSubmit", vk::Result::ERROR_FORMAT_NOT_SUPPORTED);
        assert_eq!(
            odd.to_string(),
            "vkQueueSubmit failed: ERROR_FORMAT_NOT_SUPPORTED"
        );
    }
}
