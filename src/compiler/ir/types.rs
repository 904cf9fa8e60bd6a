//! Types of values, address spaces, scopes and memory semantics.

use super::Value;
use smallvec::SmallVec;
use std::fmt;

/// A short list of values: operands, results, arguments.
pub type Values = SmallVec<[Value; 4]>;

/// The type of a value. Integers have no sign: operations do, as in SPIR-V.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
    /// A 64-bit byte address in an address space; its representation is chosen by the pointer passes.
    Ptr(AddressSpace),
}

impl Type {
    /// The integer type of `bits` bits (8, 16, 32 or 64).
    pub fn int(bits: u32) -> Option<Self> {
        Some(match bits {
            8 => Self::I8,
            16 => Self::I16,
            32 => Self::I32,
            64 => Self::I64,
            _ => return None,
        })
    }

    /// The float type of `bits` bits (16, 32 or 64).
    pub fn float(bits: u32) -> Option<Self> {
        Some(match bits {
            16 => Self::F16,
            32 => Self::F32,
            64 => Self::F64,
            _ => return None,
        })
    }

    /// Width in bits: 1 for booleans, 64 for pointers.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I8 => 8,
            Self::I16 | Self::F16 => 16,
            Self::I32 | Self::F32 => 32,
            Self::I64 | Self::F64 | Self::Ptr(_) => 64,
        }
    }

    /// Size in memory, bytes. A boolean takes one byte in the layouts that hold one.
    pub fn size_bytes(self) -> u32 {
        self.bits().div_ceil(8)
    }

    pub fn is_int(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    pub fn is_pointer(self) -> bool {
        matches!(self, Self::Ptr(_))
    }

    /// The integer type of the same width; booleans have none.
    pub fn as_int(self) -> Option<Self> {
        Self::int(self.bits())
    }

    /// All bits of this width set: the mask a constant of this type fits in.
    pub fn mask(self) -> u64 {
        match self.bits() {
            64 => u64::MAX,
            bits => (1 << bits) - 1,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("bool"),
            Self::I8 | Self::I16 | Self::I32 | Self::I64 => write!(f, "i{}", self.bits()),
            Self::F16 | Self::F32 | Self::F64 => write!(f, "f{}", self.bits()),
            Self::Ptr(space) => write!(f, "ptr.{space}"),
        }
    }
}

/// OpenCL's address spaces; in brackets SPIR-V's storage class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressSpace {
    /// `private` (Function)
    Private,
    /// `local` (Workgroup)
    Local,
    /// `global` (CrossWorkgroup)
    Global,
    /// `constant` (UniformConstant)
    Constant,
    /// Any of private, local and global (Generic).
    Generic,
}

impl AddressSpace {
    /// Whether a pointer to it is a device address.
    pub fn is_physical(self) -> bool {
        matches!(self, Self::Global | Self::Constant)
    }
}

impl fmt::Display for AddressSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Private => "private",
            Self::Local => "local",
            Self::Global => "global",
            Self::Constant => "constant",
            Self::Generic => "generic",
        })
    }
}

/// SPIR-V `Scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// All devices: narrowed to the device where Vulkan has no wider scope.
    CrossDevice,
    Device,
    Workgroup,
    Subgroup,
    Invocation,
}

/// SPIR-V `Memory Semantics` bits (SPIR-V section 3.25), as in the source module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Semantics(pub u32);

impl Semantics {
    pub const ACQUIRE: u32 = 0x2;
    pub const RELEASE: u32 = 0x4;
    pub const ACQUIRE_RELEASE: u32 = 0x8;
    pub const SEQUENTIALLY_CONSISTENT: u32 = 0x10;
    pub const UNIFORM_MEMORY: u32 = 0x40;
    pub const SUBGROUP_MEMORY: u32 = 0x80;
    pub const WORKGROUP_MEMORY: u32 = 0x100;
    pub const CROSS_WORKGROUP_MEMORY: u32 = 0x200;
    pub const ATOMIC_COUNTER_MEMORY: u32 = 0x400;
    pub const IMAGE_MEMORY: u32 = 0x800;

    /// Whether any of `bits` is set.
    pub fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}
