//! The platform: the one root of everything, made at the first call.

use super::device::Device;
use super::device::extensions::{self, Versioned};
use super::host::process;
use super::object::registry::{self, Handle, Kind, Object};
use crate::compiler::Capabilities;
use crate::config::{Config, select_devices};
use crate::vulkan::{Instance, InstanceOptions};
use std::sync::{Arc, OnceLock};

/// The only platform. Holds the devices for the life of the process.
pub struct Platform {
    handle: Handle,
    devices: Vec<Arc<Device>>,
    extensions: Vec<Versioned>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Platform {
    const KIND: Kind = Kind::Platform;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Platform {
    /// The platform of this process; it is set up on the first call.
    pub fn instance() -> &'static Arc<Self> {
        static PLATFORM: OnceLock<Arc<Platform>> = OnceLock::new();
        PLATFORM.get_or_init(|| {
            process::watch_for_children();
            let platform = Arc::new(Self::new(Config::of_process()));
            registry::expose(&platform);
            for device in &platform.devices {
                registry::expose(device);
            }
            platform
        })
    }

    fn new(config: &Config) -> Self {
        config.start_logging();
        let devices = find_devices(config);
        let extensions = platform_extensions(&devices);
        Self {
            handle: Handle::default(),
            devices,
            extensions,
        }
    }

    /// The usable devices, in the order of `PUMICE_DEVICES`.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// `CL_PLATFORM_EXTENSIONS_WITH_VERSION`
    pub fn extensions(&self) -> &[Versioned] {
        &self.extensions
    }
}

/// The usable devices that `PUMICE_DEVICES` chooses. None where there is no Vulkan at all.
fn find_devices(config: &Config) -> Vec<Arc<Device>> {
    let options = InstanceOptions {
        validate: config.validate,
        discrete: config.discrete,
    };
    let instance = match Instance::new(options) {
        Ok(instance) => instance,
        Err(error) => {
            log::info!("{error}");
            return Vec::new();
        }
    };
    let others_defects = config.defects_of.as_deref().and_then(|name| {
        let known = Capabilities::named(name);
        if known.is_none() {
            log::warn!("PUMICE_DEFECTS_OF: no device {name} is known");
        }
        known.map(|known| known.defects)
    });
    let others_defects = others_defects.unwrap_or_default();
    let physical = instance.physical_devices();
    let names: Vec<String> = physical.iter().map(|it| it.info.name.clone()).collect();
    select_devices(config.devices.as_deref(), &names)
        .into_iter()
        .filter(|&index| {
            let Some(reason) = physical
                .get(index)
                .and_then(|it| it.unusable_reason.as_ref())
            else {
                return true;
            };
            log::info!("{} is not usable: {reason}", names[index]);
            false
        })
        .filter_map(|index| Device::new(&instance, index, &config.assumed, others_defects))
        .collect()
}

/// "Each extension that is supported by all devices associated with this platform must be reported here."
fn platform_extensions(devices: &[Arc<Device>]) -> Vec<Versioned> {
    let common = devices.first().into_iter().flat_map(|first| {
        first
            .extensions()
            .iter()
            .copied()
            .filter(|extension| devices.iter().all(|it| it.has_extension(extension.name)))
    });
    extensions::PLATFORM_ONLY
        .into_iter()
        .chain(common)
        .collect()
}
