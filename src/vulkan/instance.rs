//! The Vulkan loader, one instance, and the machine's physical devices.

use std::sync::Arc;

use ash::{ext, khr, vk};

use super::error::Error;
use super::messenger::Messenger;
use super::physical_device::PhysicalDevice;
use super::query_info;

/// What the caller wants of the instance.
#[derive(Clone, Copy, Debug, Default)]
pub struct InstanceOptions {
    /// Turn the validation layer on where it is installed, and forward its messages to `log`.
    pub validate: bool,
    /// Treat device memory as invisible to the host, as on a discrete GPU (for tests on software drivers).
    pub discrete: bool,
}

/// A `VkInstance`.
pub struct Instance {
    messenger: Option<Messenger>,
    pub(super) raw: ash::Instance,
    pub(super) options: InstanceOptions,
    physical_devices: Vec<PhysicalDevice>,
    /// Keeps `libvulkan.so.1` loaded: declared last, so dropped last.
    pub(super) entry: ash::Entry,
}

const VALIDATION_LAYER: &std::ffi::CStr = c"VK_LAYER_KHRONOS_validation";

impl Instance {
    /// Loads `libvulkan.so.1`, creates an instance of Vulkan 1.1 to 1.3 and looks at every physical device.
    ///
    /// # Errors
    /// [`Error::NoLoader`] when the library is missing or too old, or no driver can make an instance.
    pub fn new(options: InstanceOptions) -> Result<Arc<Self>, Error> {
        // SAFETY: the Vulkan loader's initialisers are sound to run at any time.
        let entry = unsafe { ash::Entry::load() }
            .map_err(|error| Error::NoLoader(format!("libvulkan.so.1 can't be loaded: {error}")))?;
        // SAFETY: a global command of a loaded entry.
        let version = unsafe { entry.try_enumerate_instance_version() }
            .map_err(Error::of("vkEnumerateInstanceVersion"))?
            .unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_1 {
            return Err(Error::NoLoader(
                "the Vulkan loader implements only 1.0; 1.1 is needed".to_owned(),
            ));
        }

        // SAFETY: a global command of a loaded entry.
        let extensions = unsafe { entry.enumerate_instance_extension_properties(None) }
            .map_err(Error::of("vkEnumerateInstanceExtensionProperties"))?;
        let has_extension = |name: &std::ffi::CStr| {
            extensions
                .iter()
                .any(|have| have.extension_name_as_c_str() == Ok(name))
        };
        let mut enabled = Vec::new();
        let mut flags = vk::InstanceCreateFlags::empty();
        if has_extension(khr::portability_enumeration::NAME) {
            enabled.push(khr::portability_enumeration::NAME.as_ptr());
            flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
        }
        let mut layers = Vec::new();
        if options.validate && validation_layer_exists(&entry) {
            layers.push(VALIDATION_LAYER.as_ptr());
        }
        let forwards = options.validate && has_extension(ext::debug_utils::NAME);
        if forwards {
            enabled.push(ext::debug_utils::NAME.as_ptr());
        }

        let application = vk::ApplicationInfo::default()
            .application_name(c"OpenCL application")
            .engine_name(c"Pumice")
            .api_version(version.min(vk::API_VERSION_1_3));
        let create = vk::InstanceCreateInfo::default()
            .flags(flags)
            .application_info(&application)
            .enabled_layer_names(&layers)
            .enabled_extension_names(&enabled);
        // SAFETY: everything that `create` points to outlives the call.
        let raw = unsafe { entry.create_instance(&create, None) }.map_err(|result| {
            if result == vk::Result::ERROR_INCOMPATIBLE_DRIVER {
                Error::NoLoader("the Vulkan loader found no driver".to_owned())
            } else {
                Error::from_vk("vkCreateInstance", result)
            }
        })?;

        let mut instance = Self {
            messenger: None,
            raw,
            options,
            physical_devices: Vec::new(),
            entry,
        };
        if forwards {
            instance.messenger = Some(Messenger::new(&instance.entry, &instance.raw)?);
        }
        instance.physical_devices = instance.enumerate()?;
        Ok(Arc::new(instance))
    }

    /// Every physical device, in the loader's order, usable or not.
    pub fn physical_devices(&self) -> &[PhysicalDevice] {
        &self.physical_devices
    }

    fn enumerate(&self) -> Result<Vec<PhysicalDevice>, Error> {
        // SAFETY: the instance lives.
        let handles = unsafe { self.raw.enumerate_physical_devices() }
            .map_err(Error::of("vkEnumeratePhysicalDevices"))?;
        handles
            .into_iter()
            .map(|handle| query_info::physical_device(&self.raw, handle))
            .collect()
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.messenger = None;
        // SAFETY: devices hold an `Arc` of the instance, so none is left, nor is the messenger.
        unsafe { self.raw.destroy_instance(None) };
    }
}

fn validation_layer_exists(entry: &ash::Entry) -> bool {
    // SAFETY: a global command of a loaded entry.
    let layers = unsafe { entry.enumerate_instance_layer_properties() }.unwrap_or_default();
    let exists = layers
        .iter()
        .any(|layer| layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER));
    if !exists {
        log::warn!("validation was asked for, but VK_LAYER_KHRONOS_validation is not installed");
    }
    exists
}
