//! Every environment variable, read once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::OnceLock;

/// What the environment says. Nothing else reads the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// `PUMICE_LOG`: what is logged to standard error, in the syntax of `env_logger`. Default `warn`.
    pub log: Option<String>,
    /// `PUMICE_DEVICES`: which Vulkan devices appear, and in which order. Comma-separated; each item is an
    /// index in Vulkan's order or a part of a device's name, in any case. Default: all usable ones.
    pub devices: Option<Vec<DeviceFilter>>,
    /// `PUMICE_CLANG`: the `clang` to use. Default: the newest on the path that can make SPIR-V.
    pub clang: Option<PathBuf>,
    /// `PUMICE_CACHE_DIR`: where compiled programs are kept.
    pub cache_dir: CacheDir,
    /// `PUMICE_VALIDATE=1`: check generated code with `spirv-val`, and turn the Vulkan validation layer on.
    pub validate: bool,
    /// `PUMICE_DISCRETE=1`: treat device memory as invisible to the host, as it is on most discrete GPUs, so
    /// that transfers and maps go through staging memory, and rectangles through kernels. For tests on a software
    /// driver.
    pub discrete: bool,
    /// `PUMICE_DEFECTS_OF`: a device as [`crate::compiler::Capabilities::named`] names it, `nvidia` or `lavapipe`;
    /// kernels are compiled so as to get by with the defects of that driver, too. For tests on a software driver.
    pub defects_of: Option<String>,
    /// `PUMICE_ASSUME`: what devices are taken to do, in place of what was found by trying it out: items like
    /// `sub-group-progress=1`, comma-separated, by the names that `pumice info` has for them.
    pub assumed: Vec<(String, bool)>,
    /// `PUMICE_TRACE`: a file that gets the times of all commands, for the Perfetto viewer.
    pub trace: Option<PathBuf>,
}

/// Where compiled programs are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheDir {
    /// No variable says anything, and there is no home directory; or `PUMICE_CACHE_DIR` is empty.
    #[default]
    Off,
    Path(PathBuf),
}

/// One item of `PUMICE_DEVICES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceFilter {
    /// Place in Vulkan's list of physical devices.
    Index(usize),
    /// Part of a device's name, in lower case.
    Name(String),
}

impl Config {
    /// The environment as it was at the first call: the configuration of the process.
    pub fn of_process() -> &'static Self {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG.get_or_init(Self::from_environment)
    }

    /// Reads the environment of this process.
    pub fn from_environment() -> Self {
        Self::from(|name| std::env::var_os(name))
    }

    fn from(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let text = |name| variable(name).and_then(|value| value.into_string().ok());
        let switch = |name| text(name).is_some_and(|value| !["", "0"].contains(&&*value));
        let path = |name| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let cache_dir = match variable("PUMICE_CACHE_DIR") {
            Some(value) if value.is_empty() => None,
            Some(value) => Some(PathBuf::from(value)),
            // The XDG specification: a relative path is to be ignored.
            None => path("XDG_CACHE_HOME")
                .filter(|path| path.is_absolute())
                .or_else(|| path("HOME").map(|home| home.join(".cache")))
                .map(|cache| cache.join("pumice")),
        };
        Self {
            log: text("PUMICE_LOG").filter(|value| !value.is_empty()),
            devices: text("PUMICE_DEVICES")
                .map(|value| device_filters(&value))
                .filter(|filters| !filters.is_empty()),
            clang: path("PUMICE_CLANG"),
            cache_dir: cache_dir.map_or(CacheDir::Off, CacheDir::Path),
            validate: switch("PUMICE_VALIDATE"),
            discrete: switch("PUMICE_DISCRETE"),
            defects_of: text("PUMICE_DEFECTS_OF").filter(|value| !value.is_empty()),
            assumed: assumed(&text("PUMICE_ASSUME").unwrap_or_default()),
            trace: path("PUMICE_TRACE"),
        }
    }

    /// Sends the log of this library to standard error. Once; further calls do nothing.
    pub fn start_logging(&self) {
        let filter = self.log.as_deref().unwrap_or("warn");
        let logger = env_logger::Builder::new().parse_filters(filter).try_init();
        if logger.is_err() {
            log::debug!("a logger is there already, PUMICE_LOG is not used");
        }
    }
}

fn assumed(value: &str) -> Vec<(String, bool)> {
    let items = value.split(',').map(str::trim);
    items
        .filter_map(|item| item.split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), value.trim() != "0"))
        .collect()
}

fn device_filters(value: &str) -> Vec<DeviceFilter> {
    value
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(|item| match item.parse() {
            Ok(index) => DeviceFilter::Index(index),
            Err(_) => DeviceFilter::Name(item.to_lowercase()),
        })
        .collect()
}

/// Places of the chosen devices in `names` (Vulkan's list), in the order of the filters; each once.
pub fn select_devices(filters: Option<&[DeviceFilter]>, names: &[String]) -> Vec<usize> {
    let Some(filters) = filters else {
        return (0..names.len()).collect();
    };
    let mut chosen = Vec::new();
    for filter in filters {
        let matches = names
            .iter()
            .enumerate()
            .filter(|(index, name)| match filter {
                DeviceFilter::Index(wanted) => index == wanted,
                DeviceFilter::Name(part) => name.to_lowercase().contains(part),
            });
        let before = chosen.len();
        for (index, _) in matches {
            if !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        if chosen.len() == before {
            log::warn!("PUMICE_DEVICES: {filter:?} names no further device");
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(variables: &[(&str, &str)]) -> Config {
        Config::from(|name| {
            variables
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_cache_follows_xdg_and_an_empty_value_turns_it_off() {
        let path = |text| CacheDir::Path(PathBuf::from(text));
        let home = ("HOME", "/home/a");
        assert_eq!(config(&[]).cache_dir, CacheDir::Off);
        assert_eq!(config(&[home]).cache_dir, path("/home/a/.cache/pumice"));
        let relative = ("XDG_CACHE_HOME", "x");
        assert_eq!(
            config(&[home, relative]).cache_dir,
            path("/home/a/.cache/pumice")
        );
        let xdg = ("XDG_CACHE_HOME", "/x");
        assert_eq!(config(&[home, xdg]).cache_dir, path("/x/pumice"));
        assert_eq!(
            config(&[home, xdg, ("PUMICE_CACHE_DIR", "/c")]).cache_dir,
            path("/c")
        );
        assert_eq!(
            config(&[home, ("PUMICE_CACHE_DIR", "")]).cache_dir,
            CacheDir::Off
        );
    }

    #[test]
    fn flags_are_off_when_empty_or_zero() {
        for (value, on) in [("", false), ("0", false), ("1", true)] {
            assert_eq!(config(&[("PUMICE_VALIDATE", value)]).validate, on);
        }
    }

    #[test]
    fn defects_are_the_drivers_own_unless_told() {
        for (value, expected) in [("", None), ("nvidia", Some("nvidia"))] {
            let config = config(&[("PUMICE_DEFECTS_OF", value)]);
            assert_eq!(config.defects_of.as_deref(), expected);
        }
    }

    #[test]
    fn what_is_assumed_is_listed() {
        assert_eq!(config(&[("PUMICE_ASSUME", "")]).assumed, []);
        let both = config(&[("PUMICE_ASSUME", "longs=0, sub-group-progress=1,")]);
        let expected = [("longs", false), ("sub-group-progress", true)];
        assert_eq!(
            both.assumed,
            expected.map(|(name, holds)| (name.to_owned(), holds))
        );
    }

    #[test]
    fn devices_are_chosen_and_ordered_by_index_or_name() {
        let names = ["NVIDIA H200", "llvmpipe (LLVM 15)", "NVIDIA A2"].map(String::from);
        let select = |value: &str| {
            let config = config(&[("PUMICE_DEVICES", value)]);
            select_devices(config.devices.as_deref(), &names)
        };
        assert_eq!(select(""), [0, 1, 2]);
        assert_eq!(select("LLVM, 0"), [1, 0]);
        assert_eq!(select("nvidia"), [0, 2]);
        assert_eq!(select("2,nvidia"), [2, 0]);
        assert_eq!(select("9, radeon"), [0usize; 0]);
    }
}
