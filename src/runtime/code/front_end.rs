//! The process's one clang, one built-in library and one disk cache.

use std::sync::OnceLock;

use crate::compiler::{CompileError, Library};
use crate::config::{CacheDir, Config};
use crate::toolchain::cache::DEFAULT_LIMIT_BYTES;
use crate::toolchain::clang::NoClang;
use crate::toolchain::{Clang, DiskCache};

/// What turns sources into modules.
pub struct FrontEnd {
    cache: DiskCache,
    clang: OnceLock<Result<Clang, NoClang>>,
    library: OnceLock<Result<Library, CompileError>>,
    override_path: Option<std::path::PathBuf>,
}

impl FrontEnd {
    /// A front end as the configuration says. Nothing is looked for yet.
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

    /// That of the process.
    pub fn instance() -> &'static Self {
        static FRONT_END: OnceLock<FrontEnd> = OnceLock::new();
        FRONT_END.get_or_init(|| Self::new(Config::of_process()))
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
