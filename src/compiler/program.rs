//! What the compiler hands to the runtime: Vulkan SPIR-V, and how to launch it.
//!
//! **The argument block.** A kernel sees one block of bytes per launch. It holds, at the offsets given
//! here, plain values, 64-bit device addresses of buffers, and the implicit values that the kernel
//! reads. It is the push-constant range `0..size_bytes` when it fits the device, otherwise it lies in
//! device memory (16-byte aligned) and the push constants hold its 64-bit device address at offset 0.
//! Images are memory, too ([`crate::compiler::image`]); descriptor sets hold those that texture units read (set 0), and the
//! constants of [`CompiledKernel::uniform_bytes`] (set 1).
//!
//! **Specialization constants.** `SpecId` 0, 1, 2 are the local size in x, y, z (absent where
//! `reqd_work_group_size` fixes it and work-groups are uniform, in which case giving them is harmless).
//! [`ArgumentKind::Local`] carries the `SpecId` of the length of its workgroup array; images that of their format, samplers
//! that of their bits.
//!
//! Everything here is serializable: it is the body of `CL_PROGRAM_BINARIES` and of the disk cache.

use super::image::{ImageDimension, ImageField};
use super::printf::PrintfCall;
use super::spirv::PackedModule;
use serde::{Deserialize, Serialize};

/// Size and alignment of the largest built-in types (`long16`, `double16`), bytes.
pub const LARGEST_TYPE_BYTES: u32 = 128;

/// Work-items of a dimension up to which a range is small: below 2³² bytes of an array of up to 63 bytes a work-item.
pub const SMALL_RANGE: u32 = 1 << 26;

/// One compiled OpenCL program for one device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompiledProgram {
    /// Kernels in the order of the module's entry points.
    pub kernels: Vec<CompiledKernel>,
    /// Program-scope variables and constant tables; empty when the program has none.
    pub data: DataSegment,
    /// Kernels that ask for what the device has not, and the reason of each.
    pub left_out: Vec<(String, String)>,
}

/// The initial contents of the program's device-side data (one buffer per program and device).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataSegment {
    /// What it begins with. The rest of its `size_bytes` is zero.
    pub bytes: Vec<u8>,
    pub size_bytes: u64,
    /// Its start that holds `constant` variables alone, a multiple of 16: nobody writes there.
    pub constant_bytes: u32,
    /// Alignment of the whole segment, bytes.
    pub alignment_bytes: u32,
    /// Whether kernels may write to it (program-scope `global` variables), so it can't be shared read-only.
    pub writable: bool,
    /// Places (byte offsets) holding a 64-bit offset into this same segment, to which the segment's
    /// device address is added before upload.
    pub relocations: Vec<u64>,
    /// Total bytes of program-scope `global` variables: `CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE`.
    pub global_variable_bytes: u64,
}

/// One kernel, ready for `vkCreateShaderModule`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompiledKernel {
    pub name: String,
    /// A Vulkan compute module whose only entry point is `main`.
    pub spirv: PackedModule,
    /// Explicit arguments, in order.
    pub arguments: Vec<Argument>,
    pub argument_block: ArgumentBlock,
    pub attributes: KernelAttributes,
    /// Bytes of `local` variables declared in the kernel, without `local` arguments.
    pub local_memory_bytes: u64,
    /// Bytes of private arrays left after promotion, per work-item.
    pub private_memory_bytes: u64,
    /// Whether the kernel holds a work-group or sub-group barrier or collective.
    pub uses_barrier: bool,
    /// Whether every work-group must have the whole local size: the program was compiled with
    /// `-cl-uniform-work-group-size`, or as OpenCL C before 2.0.
    pub uniform_work_groups: bool,
    /// Whether the kernel can tell how its range is cut into work-groups: by their sizes, numbers or local
    /// ids, by barriers, collectives or local memory.
    pub sees_work_groups: bool,
    /// Whether the kernel reads [`Implicit::DataSegment`] with intent to write, or follows pointers found
    /// in memory: the runtime must then assume that it touches any allocation given to it indirectly.
    pub follows_pointers: bool,
    /// Its `printf` calls, indexed by the number that it writes into the printf buffer, less 1.
    pub printf_calls: Vec<PrintfCall>,
    /// Whether the kernel depends on sub-groups: their size must then be the one it was compiled for. Its
    /// work-groups are one row of work-items to Vulkan, `x * y * z` of the specialization constants.
    pub uses_subgroups: bool,
    /// The 32-bit specialization constant by which the kernel is made for small ranges, if there is one: not 0 says
    /// that [`Implicit::GlobalBase`] is 0 in each dimension, and that a dispatch has at most [`SMALL_RANGE`]
    /// work-items there. 0, which it is by itself, says nothing.
    pub small_range_spec_id: Option<u32>,
    /// The 32-bit specialization constant by which a kernel whose dispatches may end within a work-group
    /// ([`Implicit::DispatchWidth`]) is made for those that end with one: not 0 says that they do, 0, which it is by itself,
    /// says nothing.
    pub whole_rows_spec_id: Option<u32>,
    /// Bytes from the start of [`DataSegment`] that the kernel reads through a uniform buffer, descriptor set 1, binding 0, a
    /// multiple of 16; 0 where it reads none so.
    pub uniform_bytes: u32,
    /// What its code takes more of than the device's driver has, in one sentence: the driver must not see it, and launches
    /// fail with `CL_OUT_OF_RESOURCES`.
    pub excess: Option<String>,
}

impl CompiledKernel {
    /// Whether a dispatch may end within a work-group in dimension 0 ([`Implicit::DispatchWidth`]).
    pub fn ends_rows(&self) -> bool {
        let mut implicit = self.argument_block.implicit.iter();
        implicit.any(|(implicit, _)| *implicit == Implicit::DispatchWidth)
    }
}

/// Where arguments go. See the module documentation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ArgumentBlock {
    pub size_bytes: u32,
    pub placement: Placement,
    /// Implicit values that the kernel reads, with their byte offsets. Nothing else need be written.
    pub implicit: Vec<(Implicit, u32)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// The block is the push constants.
    #[default]
    PushConstants,
    /// The push constants hold the 64-bit device address of the block.
    DeviceAddress,
}

/// A value that the runtime supplies on its own account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Implicit {
    /// Global offset of dimension 0–2, 64-bit: `get_global_offset`.
    GlobalOffset(u8),
    /// `get_global_id` of the first work-item of this dispatch in dimension 0–2, 64-bit: the global offset
    /// plus what earlier dispatches of a split range cover. The shader adds it to `WorkgroupId` times the
    /// local size of its pipeline plus `LocalInvocationId`, computed in 32 bits: one dispatch has fewer than
    /// 2³² work-items in each dimension, and a remainder of a non-uniform range is one group wide there.
    GlobalBase(u8),
    /// Global size of dimension 0–2, 64-bit: `get_global_size`.
    GlobalSize(u8),
    /// Number of work-groups of dimension 0–2, 32-bit: `get_num_groups`.
    NumGroups(u8),
    /// First work-group of this dispatch in dimension 0–2, 32-bit: ranges beyond the device's dispatch
    /// limits, and non-uniform ranges, are several dispatches. `get_group_id` adds it to `WorkgroupId`.
    GroupBase(u8),
    /// Enqueued local size of dimension 0–2, 32-bit: differs from the local size only in the remainder of
    /// a non-uniform range.
    EnqueuedLocalSize(u8),
    /// `get_work_dim`, 32-bit.
    WorkDim,
    /// Device address of the program's [`DataSegment`], 64-bit.
    DataSegment,
    /// Device address of the printf buffer, 64-bit. Its layout: see [`crate::compiler::printf`].
    PrintfBuffer,
    /// Device address of a word that all kernels of the device exchange to put sequentially consistent
    /// operations in one order, 64-bit: see [`crate::compiler::passes::lower::sequence_memory`].
    OrderWord,
    /// Device address of a word in which the kernel stores 1 where the device did not make all iterations of its loops,
    /// 64-bit: see [`crate::compiler::passes::workarounds::report_lost_iterations`].
    IterationsLost,
    /// Work-items of this dispatch in dimension 0, 32-bit: those beyond them in its last work-groups do nothing. Only in
    /// kernels that may be launched so: see [`crate::compiler::passes::optimize::end_rows`].
    DispatchWidth,
}

impl Implicit {
    /// Size in the argument block, bytes.
    pub fn size_bytes(self) -> u32 {
        match self {
            Self::NumGroups(_)
            | Self::GroupBase(_)
            | Self::EnqueuedLocalSize(_)
            | Self::WorkDim
            | Self::DispatchWidth => 4,
            Self::GlobalOffset(_)
            | Self::GlobalBase(_)
            | Self::GlobalSize(_)
            | Self::DataSegment
            | Self::PrintfBuffer
            | Self::OrderWord
            | Self::IterationsLost => 8,
        }
    }
}

/// One explicit kernel argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Argument {
    pub kind: ArgumentKind,
    /// What `clGetKernelArgInfo` answers; `None` where the module doesn't say (no `-cl-kernel-arg-info`).
    pub info: ArgumentInfo,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArgumentKind {
    /// A plain value (scalar, vector, structure): `size_bytes` at `offset_bytes` of the block, laid out as
    /// in OpenCL C (a 3-component vector takes the size of 4).
    Value { offset_bytes: u32, size_bytes: u32 },
    /// A pointer to `global` or `constant` memory: a 64-bit device address at `offset_bytes`; 0 for NULL.
    Buffer {
        offset_bytes: u32,
        address_space: BufferSpace,
        /// Whether the kernel may write, and may read, through it (or anything derived from it).
        written: bool,
        read: bool,
    },
    /// A pointer to `local` memory whose size `clSetKernelArg` gives. The workgroup array behind it has
    /// `ceil(size / element_bytes)` elements (at least 1), given as specialization constant `spec_id`. The
    /// size is rounded up to a multiple of `granule_bytes` first, so that what follows in the same array
    /// is aligned.
    Local {
        spec_id: u32,
        element_bytes: u32,
        granule_bytes: u32,
    },
    /// An image. Its fields go to the given byte offsets of the block, those that the kernel reads; its
    /// format is specialization constant `format_spec_id`.
    Image {
        image: ImageType,
        fields: Vec<(ImageField, u32)>,
        format_spec_id: Option<u32>,
        read: bool,
        written: bool,
    },
    /// A sampler, a `crate::compiler::image::Sampler`, as specialization constant `spec_id`.
    Sampler { spec_id: Option<u32> },
    /// The kernel never uses the argument, nothing is written for it; `size_bytes` is what
    /// `clSetKernelArg` must be given, 0 where any pointer size will do (`local`).
    Unused {
        size_bytes: u32,
        memory: UnusedMemory,
    },
}

/// What a kernel says of an image argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageType {
    pub dimension: ImageDimension,
    /// `image2d_depth_t`, `image2d_array_depth_t`
    pub depth: bool,
    pub access: AccessQualifier,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UnusedMemory {
    Value,
    Buffer,
    Local,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferSpace {
    Global,
    Constant,
}

/// `clGetKernelArgInfo` (OpenCL 3.0, section 5.9.4, table "Argument information").
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgumentInfo {
    pub name: Option<String>,
    pub type_name: Option<String>,
    pub address: AddressQualifier,
    pub access: AccessQualifier,
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    /// A pipe's address, which is passed as that of a buffer.
    pub is_pipe: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AddressQualifier {
    Global,
    Local,
    Constant,
    #[default]
    Private,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AccessQualifier {
    ReadOnly,
    WriteOnly,
    ReadWrite,
    #[default]
    None,
}

/// Attributes a kernel was declared with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelAttributes {
    /// `reqd_work_group_size(x, y, z)`
    pub required_work_group_size: Option<[u32; 3]>,
    /// `work_group_size_hint(x, y, z)`
    pub work_group_size_hint: Option<[u32; 3]>,
    /// Runs once, before any other kernel of the program, and is not for the application: `Initializer`.
    pub is_initializer: bool,
    /// `vec_type_hint(T)`, as OpenCL C spells the type.
    pub vec_type_hint: Option<String>,
    /// `intel_reqd_sub_group_size(n)`
    pub required_sub_group_size: Option<u32>,
    /// Sub-groups in each work-group (SPIR-V `SubgroupsPerWorkgroup`).
    pub required_sub_groups: Option<u32>,
}
