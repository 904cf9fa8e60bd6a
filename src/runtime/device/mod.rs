//! Devices: one for each usable Vulkan physical device.

pub mod atomics;
mod clock;
pub mod context_device;
pub mod encoder;
pub mod extensions;
pub mod fill;
pub mod findings;
pub mod internal_kernels;
pub mod limits;
pub mod probes;
pub mod rectangle;
pub mod spirv;
pub mod sub_group_sizes;
pub mod target;
pub mod work_limits;

use super::allocation::Allocation;
use super::allocation::printf_buffers::PrintfBuffers;
use super::host::process;
use super::object::error::{Error, Result};
use super::object::registry::{Handle, Kind, Object};
use crate::compiler::{Capabilities, Defects};
use crate::toolchain::LanguageTarget;
use crate::vulkan::{self, MemoryKind, PhysicalDeviceInfo, Unification};
use extensions::{UNLISTED, Versioned};
use findings::{Findings, Subject};
use internal_kernels::InternalKernels;
use limits::Limits;
use opencl_sys::CL_DEVICE_NOT_AVAILABLE;
use spirv::SpirvSupport;
use std::fmt;
use std::sync::{Arc, OnceLock};

pub use crate::vulkan::info::DeviceType;

/// The host's clock, nanoseconds: the one that the times of events are given in.
pub fn host_time_ns() -> u64 {
    vulkan::timestamps::host_now_ns()
}

/// A device. It lives as long as the platform.
pub struct Device {
    handle: Handle,
    instance: Arc<vulkan::Instance>,
    /// Place in [`vulkan::Instance::physical_devices`].
    vulkan_index: usize,
    info: PhysicalDeviceInfo,
    findings: Findings,
    limits: Limits,
    capabilities: Capabilities,
    extensions: Vec<Versioned>,
    c_features: Vec<Versioned>,
    vulkan: OnceLock<Result<Arc<vulkan::Device>, vulkan::Error>>,
    spirv: SpirvSupport,
    printf_buffers: PrintfBuffers,
    order_word: OnceLock<Result<Arc<Allocation>>>,
    clock: OnceLock<Option<u32>>,
    internal_kernels: OnceLock<Arc<InternalKernels>>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Device {
    const KIND: Kind = Kind::Device;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.info.name)
    }
}

/// Opens a physical device.
fn open(
    instance: &Arc<vulkan::Instance>,
    vulkan_index: usize,
    info: &PhysicalDeviceInfo,
) -> Result<Arc<vulkan::Device>, vulkan::Error> {
    let device = vulkan::Device::new(instance, vulkan_index);
    process::watch_for_end(info.driver.host.breaks_in_children);
    device
}

impl Device {
    /// The physical device at `vulkan_index` of `instance`, if there is one. `assumed` says of what is tried out on devices
    /// ([`probes`]) what is not tried on this one; `others_defects` are those by which kernels are compiled beside the
    /// driver's own.
    pub fn new(
        instance: &Arc<vulkan::Instance>,
        vulkan_index: usize,
        assumed: &[(String, bool)],
        others_defects: Defects,
    ) -> Option<Arc<Self>> {
        let mut info = instance.physical_devices().get(vulkan_index)?.info.clone();
        let mut opened = None;
        let open = || {
            let device = open(instance, vulkan_index, &info);
            opened.insert(device).clone()
        };
        let findings = probes::find(&info, open, assumed);
        // One that was lost is opened anew when it is needed.
        let is_lost = |device: &Arc<vulkan::Device>| device.is_lost();
        let opened = opened.filter(|device| !device.as_ref().is_ok_and(is_lost));
        let vulkan = opened.map_or_else(OnceLock::new, OnceLock::from);
        findings.warn(&info);
        findings.correct(&mut info);
        let progress = findings.has(Subject::SubGroupProgress);
        let limits = Limits::of(&info);
        let extensions = extensions::device_extensions(&info, &limits, progress);
        let c_features = extensions::c_features(&info);
        let mut capabilities = target::capabilities(&info, &findings);
        capabilities.defects |= others_defects;
        Some(Arc::new(Self {
            handle: Handle::default(),
            instance: Arc::clone(instance),
            vulkan_index,
            limits,
            capabilities,
            spirv: SpirvSupport::of(&extensions, &c_features),
            extensions,
            c_features,
            info,
            findings,
            vulkan,
            printf_buffers: PrintfBuffers::default(),
            order_word: OnceLock::new(),
            clock: OnceLock::new(),
            internal_kernels: OnceLock::new(),
        }))
    }

    /// What Vulkan says of the device, without what it was found to get wrong.
    pub fn info(&self) -> &PhysicalDeviceInfo {
        &self.info
    }

    /// What was found by trying the device out.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The device's limits in OpenCL's terms.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the compiler is told of it.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// `CL_DEVICE_EXTENSIONS_WITH_VERSION`
    pub fn extensions(&self) -> &[Versioned] {
        &self.extensions
    }

    /// Whether the extension is reported.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.iter().any(|have| have.name == name)
    }

    /// `CL_DEVICE_OPENCL_C_FEATURES`
    pub fn c_features(&self) -> &[Versioned] {
        &self.c_features
    }

    /// What OpenCL C offers on it: the very names that it reports, and those that it has and does not.
    pub fn language_target(&self) -> LanguageTarget {
        let names = |list: &[Versioned]| list.iter().map(|it| it.name.to_owned()).collect();
        LanguageTarget {
            extensions: names(&[self.extensions(), &UNLISTED].concat()),
            features: names(self.c_features()),
            images: self
                .c_features()
                .iter()
                .any(|feature| feature.name == "__opencl_c_images"),
            fused_multiply_add: self.capabilities.fused_fma32,
            embedded_profile: self.limits.has_embedded_profile(),
            device_version: 300,
        }
    }

    /// What it accepts of SPIR-V.
    pub fn spirv(&self) -> &SpirvSupport {
        &self.spirv
    }

    /// What Vulkan says it is.
    pub fn kind(&self) -> DeviceType {
        self.info.device_type
    }

    /// Whether the device is the host's own processors.
    pub fn is_cpu(&self) -> bool {
        self.kind() == DeviceType::Cpu
    }

    /// Its highest clock, MHz, where anybody tells; found out when first asked for.
    pub fn clock_mhz(&self) -> Option<u32> {
        *self.clock.get_or_init(|| clock::of(&self.info))
    }

    /// The buffers that its kernels print into.
    pub fn printf_buffers(&self) -> &PrintfBuffers {
        &self.printf_buffers
    }

    /// The address of the word that `Implicit::OrderWord` names, made when first asked for. What it holds means
    /// nothing, and no command has to wait for another because of it.
    ///
    /// # Errors
    /// Those of opening the device and allocating the word, kept: later calls fail alike.
    pub fn order_word(&self) -> Result<u64> {
        /// A cache line, so that nothing else is beside it.
        const BYTES: u64 = 256;
        let word = self.order_word.get_or_init(|| {
            self.vulkan()
                .and_then(|vulkan| Allocation::new(vulkan, BYTES, MemoryKind::Device))
        });
        match word {
            Ok(allocation) => Ok(allocation.device_address()),
            Err(error) => Err(error.clone()),
        }
    }

    /// The driver's own kernels on it.
    ///
    /// # Errors
    /// As [`Device::vulkan`].
    pub fn internal_kernels(&self) -> Result<&Arc<InternalKernels>> {
        let vulkan = self.vulkan()?;
        let new = || InternalKernels::new(vulkan, &self.capabilities);
        Ok(self.internal_kernels.get_or_init(new))
    }

    /// What it shares with the host, found out by trying; nothing where it can't be opened.
    pub fn unification(&self) -> Unification {
        self.vulkan()
            .map(|vulkan| vulkan.unification())
            .unwrap_or_default()
    }

    /// The `VkDevice`, opened when first needed: a query of devices does not wake a GPU that was tried out before.
    ///
    /// # Errors
    /// `CL_DEVICE_NOT_AVAILABLE` when it can't be opened.
    pub fn vulkan(&self) -> Result<&Arc<vulkan::Device>> {
        self.vulkan
            .get_or_init(|| open(&self.instance, self.vulkan_index, &self.info))
            .as_ref()
            .map_err(|error| {
                Error::new(
                    CL_DEVICE_NOT_AVAILABLE,
                    format!("{}: {error}", self.info.name),
                )
            })
    }
}
