//! The host's processors, as Linux describes them: for devices that are these processors, and of which Vulkan says nothing of
//! the kind. What is not known is `None`.

use std::fs;
use std::io::Read;
use std::path::Path;

/// What Linux has files on processors in.
const FOLDER: &str = "/sys/devices/system/cpu";

/// A cache of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    pub bytes: u64,
    pub line_bytes: u32,
}

/// The last cache before memory, as the first processor has it.
pub fn last_cache() -> Option<Cache> {
    last_cache_in(Path::new(FOLDER))
}

/// The highest clock of any processor, MHz; where only the present one is known, that of the first.
pub fn clock_mhz() -> Option<u32> {
    highest_clock_in(Path::new(FOLDER)).or_else(|| {
        // A machine may have hundreds, each of which is asked for its clock: the first is on the first page.
        const PAGE_BYTES: u64 = 4096;
        let mut text = Vec::new();
        let file = fs::File::open("/proc/cpuinfo").ok()?;
        file.take(PAGE_BYTES).read_to_end(&mut text).ok()?;
        present_clock(&String::from_utf8_lossy(&text))
    })
}

fn last_cache_in(folder: &Path) -> Option<Cache> {
    let caches = fs::read_dir(folder.join("cpu0/cache")).ok()?;
    let described = caches.flatten().filter_map(|cache| {
        let read = |name| fs::read_to_string(cache.path().join(name)).ok();
        let holds_data = matches!(read("type")?.trim(), "Data" | "Unified");
        let found = Cache {
            bytes: bytes(read("size")?.trim())?,
            line_bytes: read("coherency_line_size")?.trim().parse().ok()?,
        };
        let level: u32 = read("level")?.trim().parse().ok()?;
        holds_data.then_some((level, found))
    });
    let last = described.max_by_key(|(level, _)| *level)?;
    Some(last.1)
}

/// A size as the kernel writes it: `32768K`.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|it: char| it.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

/// Processors of one frequency policy have one highest clock, in kHz.
fn highest_clock_in(folder: &Path) -> Option<u32> {
    let policies = fs::read_dir(folder.join("cpufreq")).ok()?;
    let clocks = policies.flatten().filter_map(|policy| {
        let text = fs::read_to_string(policy.path().join("cpuinfo_max_freq")).ok()?;
        text.trim().parse::<u32>().ok()
    });
    clocks.max().map(|khz| khz / 1000).filter(|&mhz| mhz > 0)
}

/// From `/proc/cpuinfo`, which not all architectures write a clock into.
fn present_clock(text: &str) -> Option<u32> {
    let line = text.lines().find(|line| line.starts_with("cpu MHz"))?;
    let mhz: f64 = line.split_once(':')?.1.trim().parse().ok()?;
    (mhz >= 1.0).then_some(mhz as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::host::test_files::Files;

    #[test]
    fn the_last_cache_of_data_counts() {
        let cache = |index: u32, level: &str, kind: &str, size: &str| {
            let at = |name: &str| format!("cpu0/cache/index{index}/{name}");
            [
                (at("level"), format!("{level}\n")),
                (at("type"), format!("{kind}\n")),
                (at("size"), format!("{size}\n")),
                (at("coherency_line_size"), "128\n".to_owned()),
            ]
        };
        let files = Files::new("caches");
        for caches in [
            cache(0, "1", "Data", "48K"),
            cache(1, "2", "Unified", "2M"),
            cache(2, "3", "Instruction", "9000K"),
        ] {
            caches
                .iter()
                .for_each(|(name, text)| files.write(name, text));
        }
        files.write("cpu0/cache/uevent", "");
        let expected = Cache {
            bytes: 2 << 20,
            line_bytes: 128,
        };
        assert_eq!(last_cache_in(files.folder()), Some(expected));
    }

    #[test]
    fn what_is_not_told_is_unknown() {
        let files = Files::new("no_caches");
        assert_eq!(last_cache_in(files.folder()), None);
        assert_eq!(highest_clock_in(files.folder()), None);
        files.write("cpu0/cache/index0/level", "1\n");
        files.write("cpufreq/boost", "1\n");
        assert_eq!(last_cache_in(files.folder()), None);
        assert_eq!(highest_clock_in(files.folder()), None);
        assert_eq!(present_clock("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
    }

    #[test]
    fn the_fastest_processor_counts() {
        let files = Files::new("clocks");
        files.write("cpufreq/policy0/cpuinfo_max_freq", "1800000\n");
        files.write("cpufreq/policy4/cpuinfo_max_freq", "2840000\n");
        assert_eq!(highest_clock_in(files.folder()), Some(2840));
        let text = "processor\t: 0\ncpu MHz\t\t: 2596.120\n\nprocessor\t: 1\ncpu MHz\t\t: 800.1\n";
        assert_eq!(present_clock(text), Some(2596));
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes("32768K"), Some(32 << 20));
        assert_eq!(bytes("8M"), Some(8 << 20));
        assert_eq!(bytes("512"), Some(512));
        assert_eq!(bytes("1Q"), None);
        assert_eq!(bytes(""), None);
    }
}
