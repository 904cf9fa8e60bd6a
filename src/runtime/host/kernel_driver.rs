//! Drivers of GPUs in Linux' kernel, which tell of the clock what Vulkan does not. What is not known is `None`.

use std::fs;
use std::path::Path;

use crate::vulkan::info::DrmNode;

/// The highest clock of the GPU behind a node, MHz.
pub fn clock_mhz(node: DrmNode) -> Option<u32> {
    let DrmNode { major, minor } = node;
    clock_in(Path::new(&format!("/sys/dev/char/{major}:{minor}")))
}

/// The clock by the files of the first driver that has some.
fn clock_in(node: &Path) -> Option<u32> {
    let device = node.join("device");
    let mhz = |path: &str| number(&fs::read_to_string(node.join(path)).ok()?);
    let clock = mhz("gt_RP0_freq_mhz") // i915
        .or_else(|| mhz("device/tile0/gt0/freq0/rp0_freq")) // xe
        .or_else(|| highest_level(&fs::read_to_string(device.join("pp_dpm_sclk")).ok()?)) // amdgpu
        .or_else(|| devfreq(&device.join("devfreq"))); // panfrost, panthor, lima
    clock.filter(|&mhz| mhz > 0)
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// The highest of amdgpu's levels of power, a line each: `1: 2124Mhz *`.
fn highest_level(text: &str) -> Option<u32> {
    let levels = text.lines().filter_map(|line| {
        let clock = line.split_once(':')?.1.split_whitespace().next()?;
        number(clock.strip_suffix("Mhz")?)
    });
    levels.max()
}

/// The highest of the frequencies, Hz, of devices whose clock the kernel's common code governs.
fn devfreq(folder: &Path) -> Option<u32> {
    let governed = fs::read_dir(folder).ok()?.flatten();
    let frequencies = governed.flat_map(|it| {
        let text = fs::read_to_string(it.path().join("available_frequencies"));
        let text = text.unwrap_or_default();
        let numbers = text.split_whitespace().map(str::parse::<u64>);
        numbers.flatten().collect::<Vec<_>>()
    });
    u32::try_from(frequencies.max()? / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::host::test_files::Files;

    #[test]
    fn each_kernel_driver_is_read_as_it_writes() {
        let drivers: [(&str, &str, &str, u32); 4] = [
            ("i915", "gt_RP0_freq_mhz", "1150\n", 1150),
            ("xe", "device/tile0/gt0/freq0/rp0_freq", "2450\n", 2450),
            (
                "amdgpu",
                "device/pp_dpm_sclk",
                "0: 500Mhz *\n1: 2124Mhz\n2: 1000Mhz\n",
                2124,
            ),
            (
                "panthor",
                "device/devfreq/fb000000.gpu/available_frequencies",
                "300000000 400000000 1000000000 900000000\n",
                1000,
            ),
        ];
        for (driver, name, text, expected) in drivers {
            let files = Files::new(driver);
            assert_eq!(clock_in(files.folder()), None, "{driver}");
            files.write(name, text);
            assert_eq!(clock_in(files.folder()), Some(expected), "{driver}");
        }
    }

    #[test]
    fn what_can_not_be_read_is_unknown() {
        let files = Files::new("unreadable");
        files.write("gt_RP0_freq_mhz", "0\n");
        assert_eq!(clock_in(files.folder()), None);
        files.write("device/pp_dpm_sclk", "S: \n0: fast *\n");
        files.write("device/devfreq/a/available_frequencies", "\n");
        files.write("gt_RP0_freq_mhz", "unsupported\n");
        assert_eq!(clock_in(files.folder()), None);
    }
}
