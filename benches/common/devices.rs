//! Which devices of which platforms take part in a benchmark.

use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::platform::get_platforms;

/// A device, and the names of its platform and itself.
pub struct Subject {
    pub name: String,
    pub device: Device,
}

/// Every device that the loader knows. With `names`: those whose platform or device name contains one of
/// them, in the order of the names.
pub fn subjects(names: &[String]) -> Result<Vec<Subject>, Box<dyn std::error::Error>> {
    let mut all = Vec::new();
    for platform in get_platforms()? {
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let device = Device::new(id);
            let name = format!("{} / {}", platform.name()?.trim(), device.name()?.trim());
            all.push(Subject { name, device });
        }
    }
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for wanted in names {
        let (take, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|s| s.name.contains(wanted));
        chosen.extend(take);
        all = rest;
    }
    Ok(chosen)
}
