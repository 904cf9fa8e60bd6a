//! The platform: the one root of everything, made at the first call.

use super::device::Device;
use super::object::{self, Handle, Kind, Object};
use crate::config::Config;
use std::sync::{Arc, OnceLock};

/// The only platform. Holds the configuration and the devices for the life of the process.
pub struct Platform {
    handle: Handle,
    config: Config,
    devices: Vec<Arc<Device>>,
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
            let platform = Arc::new(Self::new(Config::from_environment()));
            object::expose(&platform);
            for device in &platform.devices {
                object::expose(device);
            }
            platform
        })
    }

    fn new(config: Config) -> Self {
        config.start_logging();
        Self {
            handle: Handle::default(),
            config,
            devices: Vec::new(),
        }
    }

    /// The environment variables as they were at the first call.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The usable devices, in the order of `PUMICE_DEVICES`.
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }
}
