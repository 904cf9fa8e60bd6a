//! The process's one clang, one built-in library and one disk cache.

use std::sync::OnceLock;

use super::device::Device;
use super::extensions::{UNLISTED, Versioned};
use super::platform::Platform;
use crate::compiler::{CompileError, Library};
use crate::config::{CacheDir, Config};
use crate::toolchain::cache::DEFAULT_LIMIT_BYTES;
use crate::toolchain::clang::NoClang;
use crate::toolchain::{Clang, DiskCache, LanguageTarget};

/// What turns sources into modules.
pub struct FrontEnd {
    cache: DiskCache,
    clang: OnceLock<Result<Clang, NoClang>>,
    library: OnceLock<Result<Library, CompileError>>,
    override_path: Option<std::path::PathBuf>,
}

impl FrontEnd {
    /// As the configuration says. Nothing is looked for yet.
    pub fn new(config: &Config) -> Self {
        let cache = match &config.cache_dir {
            CacheDir::Off => DiskCache::disabled(),
            CacheDir::Path(path) => DiskCache::new(path.clone(), DEFAULT_LIMIT_BYTES),
        };
        Self {
            cache,
            clang: OnceLock::new(),
            library: OnceLock::new(),
            override_path: config.clang.clone(),
        }
    }

    /// That of the platform.
    pub fn instance() -> &'static Self {
        static FRONT_END: OnceLock<FrontEnd> = OnceLock::new();
        FRONT_END.get_or_init(|| Self::new(Platform::instance().config()))
    }

    pub fn cache(&self) -> &DiskCache {
        &self.cache
    }

    /// The built-in library, indexed at the first call.
    pub fn library(&self) -> Result<&Library, &CompileError> {
        self.library.get_or_init(Library::embedded).as_ref()
    }

    /// The compiler, found at the first call.
    pub fn clang(&self) -> Result<&Clang, &NoClang> {
        self.clang
            .get_or_init(|| {
                let found = Clang::find(
                    self.override_path
                        .as_deref()
                        .map(std::path::Path::as_os_str),
                    // Not configuration of ours: where programs are.
                    std::env::var_os("PATH").as_deref(),
                    &self.cache,
                );
                match &found {
                    Ok(clang) => log::info!("{}: {}", clang.path.display(), clang.version),
                    // The build log and `pumice info` say it to the user.
                    Err(missing) => log::debug!("{missing}"),
                }
                found
            })
            .as_ref()
    }
}

/// What OpenCL C offers on a device: the very names that it reports, and those that it has and does not.
pub fn language_target(device: &Device) -> LanguageTarget {
    let names = |list: &[Versioned]| list.iter().map(|it| it.name.to_owned()).collect();
    LanguageTarget {
        extensions: names(&[device.extensions(), &UNLISTED].concat()),
        features: names(device.c_features()),
        images: device
            .c_features()
            .iter()
            .any(|feature| feature.name == "__opencl_c_images"),
        fused_multiply_add: device.capabilities().fused_fma32,
        device_version: 300,
    }
}
