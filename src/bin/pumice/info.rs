//! `pumice info`: what there is to work with, and what is missing.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use pumice::compiler::Capabilities;
use pumice::config::{CacheDir, Config};
use pumice::runtime::code::front_end::FrontEnd;
use pumice::runtime::device::Device;
use pumice::runtime::device::findings::Finding;
use pumice::runtime::platform::Platform;
use pumice::vulkan::{Instance, InstanceOptions};

use crate::Failure;

pub fn command(mut arguments: lexopt::Parser) -> Result<ExitCode, Failure> {
    if let Some(other) = arguments.next()? {
        return Err(other.unexpected().into());
    }
    let mut text = format!("pumice {}\n", env!("CARGO_PKG_VERSION"));
    let platform = Platform::instance();
    let usable = !platform.devices().is_empty();
    text.push_str("\nDevices\n");
    for device in platform.devices() {
        describe(&mut text, device)?;
    }
    left_out(&mut text, platform.devices())?;
    compiler(&mut text, Config::of_process())?;
    icd_files(&mut text)?;
    crate::print(&text);
    Ok(if usable {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn describe(text: &mut String, device: &Device) -> std::fmt::Result {
    let (info, limits) = (device.info(), device.limits());
    let (major, minor, patch) = info.api_version;
    writeln!(text, "  {} ({:?})", info.name, device.kind())?;
    writeln!(
        text,
        "    Vulkan {major}.{minor}.{patch}, {} {}",
        info.driver_name, info.driver_info
    )?;
    writeln!(
        text,
        "    memory {} MiB, largest allocation {} MiB, local {} KiB; work-groups to {}, sub-groups of {}",
        limits.global_memory_bytes >> 20,
        limits.max_allocation_bytes >> 20,
        limits.local_memory_bytes >> 10,
        limits.max_work_group_size,
        device.capabilities().subgroup_size
    )?;
    if info.largest_buffer_bytes() > info.largest_allocation_bytes() {
        let mib = info.largest_allocation_bytes() >> 20;
        writeln!(
            text,
            "    buffers of more than {mib} MiB: several allocations"
        )?;
    }
    let clock = device.clock_mhz();
    let clock = clock.map_or_else(|| "unknown".to_owned(), |mhz| format!("{mhz} MHz"));
    writeln!(
        text,
        "    compute units {}, clock {clock}",
        limits.compute_units
    )?;
    if info.features.timeline_semaphore {
        writeln!(text, "    timelines: yes")?;
    } else {
        let lacks = "the Vulkan device lacks timelineSemaphore";
        writeln!(text, "    timelines: emulated by fences, {lacks}")?;
    }
    let extensions: Vec<&str> = device.extensions().iter().map(|it| it.name).collect();
    writeln!(text, "    extensions: {}", extensions.join(" "))?;
    for (name, state) in abilities(device.capabilities()) {
        writeln!(text, "    {name}: {state}")?;
    }
    writeln!(text, "    host and shared USM: {}", host_memory(device))?;
    for finding in &device.findings().0 {
        let Finding {
            subject,
            holds,
            origin,
        } = finding;
        let name = subject.name();
        if *holds {
            writeln!(text, "    {name}: yes, {origin}")?;
        } else {
            writeln!(text, "    {name}: no, {origin}: {}", subject.without())?;
        }
    }
    for (name, reason) in NOT_YET {
        writeln!(text, "    {name}: no, {reason}")?;
    }
    Ok(())
}

/// By what host and device have memory at the same addresses, or why they have none.
fn host_memory(device: &Device) -> String {
    let vulkan = match device.vulkan() {
        Ok(vulkan) => vulkan,
        Err(error) => return format!("no, {error:?}"),
    };
    if let Some(way) = vulkan.unification().direct {
        return format!("yes, by {}", way.name());
    }
    let ways = vulkan.refused_ways().iter();
    let reasons: Vec<_> = ways
        .map(|(way, reason)| match reason {
            pumice::vulkan::Error::Unsupported(what) => {
                format!("by {}: it lacks {what}", way.name())
            }
            other => format!("by {}: {other}", way.name()),
        })
        .collect();
    format!("no, {}", reasons.join("; "))
}

/// What no device can do, because Pumice can't.
const NOT_YET: &[(&str, &str)] = &[("device-side enqueue", "Vulkan has nothing to build it from")];

/// What depends on the device, and on which feature.
fn abilities(capabilities: &Capabilities) -> Vec<(&'static str, &'static str)> {
    let choose = |has: bool, yes: &'static str, no: &'static str| if has { yes } else { no };
    vec![
        (
            "texture units for flat images",
            choose(
                capabilities.textures > 0,
                "yes",
                "no, there is no descriptor indexing: kernels read images by loads",
            ),
        ),
        (
            "addresses",
            choose(
                capabilities.buffer_descriptors == 0,
                "yes",
                "emulated by descriptors, the Vulkan device lacks bufferDeviceAddress",
            ),
        ),
        (
            "double (cl_khr_fp64)",
            choose(
                capabilities.float64,
                "yes",
                "no, the Vulkan device lacks shaderFloat64",
            ),
        ),
        (
            "half (cl_khr_fp16)",
            choose(
                capabilities.float16,
                "yes",
                "emulated, the Vulkan device lacks shaderFloat16, its rounding to the nearest or shaderInt16",
            ),
        ),
        (
            "64-bit integers",
            choose(
                capabilities.int64,
                "yes",
                "emulated, the Vulkan device lacks shaderInt64",
            ),
        ),
        (
            "8- and 16-bit integers",
            choose(
                capabilities.int8 && capabilities.int16,
                "yes",
                "emulated, the Vulkan device lacks shaderInt8 or shaderInt16",
            ),
        ),
        (
            "8- and 16-bit memory accesses",
            choose(
                capabilities.storage8 && capabilities.storage16,
                "yes",
                "emulated by accesses to whole words, the Vulkan device lacks storageBuffer8BitAccess or \
                 storageBuffer16BitAccess",
            ),
        ),
    ]
}

/// Vulkan devices that are no OpenCL devices, and why.
fn left_out(text: &mut String, used: &[std::sync::Arc<Device>]) -> std::fmt::Result {
    let instance = match Instance::new(InstanceOptions::default()) {
        Ok(instance) => instance,
        Err(error) => {
            writeln!(text, "  none: {error}")?;
            return writeln!(
                text,
                "  Install a Vulkan loader and driver (on Debian: apt install libvulkan1 mesa-vulkan-drivers)."
            );
        }
    };
    let physical = instance.physical_devices();
    for device in physical {
        let name = &device.info.name;
        if let Some(reason) = &device.unusable_reason {
            writeln!(text, "  {name}: not usable, {reason}")?;
        } else if !used
            .iter()
            .any(|it| it.info().device_uuid == device.info.device_uuid)
        {
            writeln!(text, "  {name}: left out by PUMICE_DEVICES")?;
        }
    }
    if physical.is_empty() {
        writeln!(
            text,
            "  none: Vulkan lists no device; install the GPU's driver, or mesa-vulkan-drivers for a software device"
        )?;
    }
    Ok(())
}

fn compiler(text: &mut String, config: &Config) -> std::fmt::Result {
    text.push_str("\nOpenCL C compiler\n");
    match FrontEnd::instance().clang() {
        Ok(clang) => writeln!(text, "  {}: {}", clang.path.display(), clang.version)?,
        Err(missing) => {
            for line in missing.to_string().lines() {
                writeln!(text, "  {line}")?;
            }
        }
    }
    match &config.cache_dir {
        CacheDir::Off => writeln!(text, "  cache: off"),
        CacheDir::Path(path) => writeln!(text, "  cache: {}", path.display()),
    }
}

/// The `.icd` files that loaders would find.
fn icd_files(text: &mut String) -> Result<(), Failure> {
    text.push_str("\nICD files\n");
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let directory = match variable("OCL_ICD_VENDORS") {
        Some(path) => {
            writeln!(text, "  OCL_ICD_VENDORS={}", path.to_string_lossy())?;
            PathBuf::from(path)
        }
        None => PathBuf::from("/etc/OpenCL/vendors"),
    };
    let mut ours = list(text, &directory)?;
    if let Some(names) = variable("OCL_ICD_FILENAMES") {
        writeln!(text, "  OCL_ICD_FILENAMES={}", names.to_string_lossy())?;
        ours |= names.to_string_lossy().contains("libpumice");
    }
    if let Ok(user) = crate::install::user_directory()
        && user.is_dir()
        && user != directory
    {
        writeln!(
            text,
            "  (not looked at by loaders unless OCL_ICD_VENDORS names it:)"
        )?;
        list(text, &user)?;
    }
    if !ours {
        writeln!(
            text,
            "  Pumice is not installed; `pumice run PROGRAM` needs no installation."
        )?;
    }
    Ok(())
}

/// Lists a directory's `.icd` files (or one file) with the libraries they name. Whether one is Pumice.
fn list(text: &mut String, place: &Path) -> Result<bool, Failure> {
    let mut files: Vec<PathBuf> = match std::fs::read_dir(place) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) if place.is_file() => vec![place.to_owned()],
        Err(error) => {
            writeln!(text, "  {}: {error}", place.display())?;
            return Ok(false);
        }
    };
    files.retain(|path| path.extension().is_some_and(|extension| extension == "icd"));
    files.sort();
    let mut ours = false;
    for file in files {
        let contents = std::fs::read_to_string(&file).unwrap_or_default();
        let library = contents.lines().next().unwrap_or_default().trim();
        let is_ours = library.ends_with("libpumice.so");
        ours |= is_ours;
        let missing = library.starts_with('/') && !Path::new(library).exists();
        writeln!(
            text,
            "  {}: {library}{}{}",
            file.display(),
            if is_ours { " (Pumice)" } else { "" },
            if missing {
                " (the library is missing)"
            } else {
                ""
            }
        )?;
    }
    Ok(ours)
}
