//! Forwards the validation layer's messages to `log`.

use std::ffi::{CStr, c_void};

use ash::{ext, vk};

use super::error::Error;

/// A `VkDebugUtilsMessengerEXT`, destroyed on drop. Must not outlive its instance.
pub(super) struct Messenger {
    functions: ext::debug_utils::Instance,
    handle: vk::DebugUtilsMessengerEXT,
}

impl Messenger {
    pub(super) fn new(entry: &ash::Entry, instance: &ash::Instance) -> Result<Self, Error> {
        let functions = ext::debug_utils::Instance::new(entry, instance);
        let create = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::ERROR
                    | vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                    | vk::DebugUtilsMessageSeverityFlagsEXT::INFO,
            )
            .message_type(
                vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION
                    | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
            )
            .pfn_user_callback(Some(forward));
        // SAFETY: the instance lives and has VK_EXT_debug_utils enabled; the callback is a plain
        // function that keeps no state.
        let handle = unsafe { functions.create_debug_utils_messenger(&create, None) }
            .map_err(Error::of("vkCreateDebugUtilsMessengerEXT"))?;
        Ok(Self { functions, handle })
    }
}

impl Drop for Messenger {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once; the owner drops it before the instance.
        unsafe {
            self.functions
                .destroy_debug_utils_messenger(self.handle, None)
        };
    }
}

unsafe extern "system" fn forward(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    _user: *mut c_void,
) -> vk::Bool32 {
    let level = if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        log::Level::Error
    } else if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::WARNING) {
        log::Level::Warn
    } else {
        log::Level::Debug
    };
    // SAFETY: Vulkan passes either null or data valid for the call.
    if let Some(data) = unsafe { data.as_ref() }
        && !data.p_message.is_null()
    {
        // SAFETY: not null, and a terminated string by the extension's words.
        let message = unsafe { CStr::from_ptr(data.p_message) };
        log::log!(target: "vulkan", level, "{}", message.to_string_lossy());
    }
    vk::FALSE
}
