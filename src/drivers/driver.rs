//! What a driver is, as far as Vulkan does not say: chosen once, when the device is found.

use super::{Defects, FrameLimit};

/// What a device reports of its driver.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// `VkDriverId`; 0 where there is none.
    pub id: u32,
    /// `driverInfo`
    pub info: &'a str,
    /// `shaderDenormPreserveFloat64`, which tells generations of GPUs apart.
    pub preserves_denormals64: bool,
}

/// A driver, as far as Vulkan does not say what it does.
#[derive(Clone, Debug, PartialEq)]
pub struct Driver {
    /// What it gets wrong, or is slow at.
    pub defects: Defects,
    pub arithmetic: Arithmetic,
    pub preferences: Preferences,
    pub execution: Execution,
    pub host: HostBehaviour,
    pub clock: ClockSource,
}

/// Who tells the clock of a driver's GPUs, of which Vulkan says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// The driver's part in the operating system's kernel, if it does.
    Kernel,
    /// NVIDIA's management library, which is a part of its driver.
    NvidiaManagement,
}

/// Results that Vulkan leaves open without a query for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arithmetic {
    /// Whether halves keep denormals without `DenormPreserve`.
    pub keeps_denormals16: bool,
    /// Whether singles keep denormals without `DenormPreserve`.
    pub keeps_denormals32: bool,
    /// Whether doubles keep denormals without `DenormPreserve`.
    pub keeps_denormals64: bool,
    /// Whether the conversion of a denormal single to a double is exact.
    pub widens_denormals: bool,
    /// Whether singles are rounded to the nearest without `RoundingModeRTE`, which costs more than it gives.
    pub rounds_to_nearest32: bool,
    /// Whether `Fma` rounds once, if that is known better than it can be tried out. Vulkan lets it round twice.
    pub fuses: Option<bool>,
    /// Whether `Exp2` of a single between -24 and 2 is within 2 ulp, where Vulkan allows some more, if that is known better
    /// than it can be tried out.
    pub has_precise_exp2: Option<bool>,
}

/// The code that its compiler makes most of, of several that mean the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preferences {
    /// Loops have marks, `DontUnroll` for most.
    pub marks_loops: bool,
    /// Loops count addresses on, and several iterations of loops that access memory are joined.
    pub counts_addresses: bool,
    /// Addresses are said as a base and an index of 32 bits.
    pub indexes_addresses: bool,
    /// Less code rather than code that runs faster: kernels are compiled by the processor that runs them, for all that it does.
    pub compiles_slowly: bool,
    /// Large kernels hold bodies that calls share, and are else what they are: the driver takes much longer for them than in
    /// proportion to their size.
    pub shares_bodies: bool,
    /// Bytes and halves of words are extracted, rather than shifted and masked.
    pub extracts_fields: bool,
    /// Few wide accesses to memory rather than many narrow ones: a loop over the work-items of a sub-group makes each.
    pub has_serial_memory: bool,
    /// Constant variables lie in a uniform buffer.
    pub reads_uniforms: bool,
    /// Modules that index arrays of descriptors name the capability for it.
    pub names_dynamic_indexing: bool,
}

/// How kernels are run, and how large they may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// How deep conditions, and how deep loops, may be nested, where there is a limit.
    pub max_nesting: Option<u32>,
    /// How much stack a kernel may take, where there is a limit.
    pub frame: Option<FrameLimit>,
    /// Whether sub-groups make progress independently of each other, so that one may wait for another, if that is known better
    /// than it can be tried out.
    pub sub_groups_progress: Option<bool>,
    /// Whether nothing but locked operations of the processor orders accesses to memory.
    pub is_ordered_by_locked_operations_only: bool,
}

/// How the driver behaves towards the process that it is loaded into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBehaviour {
    /// Whether a child made by `fork` that calls `exit` crashes there or has no end, or takes the driver's device from its parent.
    pub breaks_in_children: bool,
    /// Whether it folds what specialization constants decide, rather than keep every branch and choice.
    pub folds_specialization: bool,
    /// Whether a submission sees what earlier ones wrote that the host has seen the end of, without a barrier at its beginning.
    pub shows_finished_work: bool,
    /// Whether memory of the host can be that of a buffer though the driver does not say so.
    pub imports_host_memory_unreported: bool,
    /// Whether work that is submitted while a pipeline is made or destroyed may run the code of another one.
    pub confuses_code: bool,
    /// Bytes that the largest allocation lacks of `maxMemoryAllocationSize`.
    pub allocation_shortfall_bytes: u64,
}

impl Driver {
    /// A driver of which nothing is known.
    pub const UNKNOWN: Self = Self {
        defects: Defects::UNKNOWN,
        arithmetic: Arithmetic {
            keeps_denormals16: false,
            keeps_denormals32: false,
            keeps_denormals64: false,
            widens_denormals: false,
            rounds_to_nearest32: false,
            fuses: None,
            has_precise_exp2: None,
        },
        preferences: Preferences {
            marks_loops: false,
            counts_addresses: false,
            indexes_addresses: false,
            compiles_slowly: false,
            shares_bodies: false,
            extracts_fields: false,
            has_serial_memory: false,
            reads_uniforms: false,
            names_dynamic_indexing: true,
        },
        execution: Execution {
            max_nesting: None,
            frame: None,
            sub_groups_progress: None,
            is_ordered_by_locked_operations_only: false,
        },
        host: HostBehaviour {
            breaks_in_children: false,
            folds_specialization: true,
            shows_finished_work: false,
            imports_host_memory_unreported: false,
            confuses_code: false,
            allocation_shortfall_bytes: 0,
        },
        clock: ClockSource::Kernel,
    };
}
