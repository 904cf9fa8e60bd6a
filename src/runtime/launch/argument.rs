//! The arguments of a kernel: what each may be set to, and what it was set to.

use crate::compiler::program::{Argument, ArgumentKind, ImageType, UnusedMemory};
use crate::runtime::memory::Memory;
use smallvec::SmallVec;
use std::sync::Weak;

/// What an argument is, as far as setting it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentClass {
    /// Bytes.
    Value {
        size_bytes: u32,
    },
    /// A pointer to `global` or `constant` memory.
    Buffer,
    /// A pointer to `local` memory.
    Local,
    Image(ImageType),
    Pipe,
    Sampler,
}

impl ArgumentClass {
    /// The class of an argument as the compiler describes it.
    pub fn of(argument: &Argument) -> Self {
        if argument.info.is_pipe {
            return Self::Pipe;
        }
        match argument.kind {
            ArgumentKind::Value { size_bytes, .. } => Self::Value { size_bytes },
            ArgumentKind::Buffer { .. } => Self::Buffer,
            ArgumentKind::Local { .. } => Self::Local,
            ArgumentKind::Image { image, .. } => Self::Image(image),
            ArgumentKind::Sampler { .. } => Self::Sampler,
            ArgumentKind::Unused { size_bytes, memory } => match memory {
                UnusedMemory::Value => Self::Value { size_bytes },
                UnusedMemory::Buffer => Self::Buffer,
                UnusedMemory::Local => Self::Local,
            },
        }
    }
}

/// What an argument was set to.
#[derive(Clone, Default)]
pub enum ArgumentValue {
    #[default]
    Unset,
    Bytes(SmallVec<[u8; 16]>),
    /// "Users may not rely on a kernel object to retain objects specified as argument values to the kernel":
    /// a released memory object goes at once, as its destructor callbacks tell. `None` is NULL.
    Memory(Option<Weak<Memory>>),
    /// A device address (`clSetKernelArgMemPointerINTEL`, `clSetKernelArgDevicePointerEXT`).
    Address(u64),
    /// The address of shared memory (`clSetKernelArgSVMPointer`); of any host memory only where the device reaches that.
    SharedAddress(u64),
    /// Size of a local argument.
    LocalBytes(u64),
    /// A sampler's bits.
    Sampler(u32),
}

impl ArgumentValue {
    /// Whether both are the same bytes, the same object.
    pub(in crate::runtime) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            (Self::Memory(None), Self::Memory(None)) => true,
            (Self::Memory(Some(one)), Self::Memory(Some(other))) => one.ptr_eq(other),
            (Self::Address(one), Self::Address(other))
            | (Self::SharedAddress(one), Self::SharedAddress(other))
            | (Self::LocalBytes(one), Self::LocalBytes(other)) => one == other,
            (Self::Sampler(one), Self::Sampler(other)) => one == other,
            _ => false,
        }
    }
}

/// What all arguments of a kernel were set to.
pub type Arguments = SmallVec<[ArgumentValue; 8]>;
