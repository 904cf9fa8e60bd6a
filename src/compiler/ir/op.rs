//! Operations.

use super::{ArrayId, FuncId, GlobalId, Scope, Semantics, Type, Value, Values, VariableId};
use crate::compiler::image::ImageDimension;
use crate::compiler::program::Implicit;
use smallvec::smallvec;

/// One operation. Types of results are those of the instruction's result values.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A constant: the low bits of the number are the value's bits (IEEE encoding for floats, 0 or 1 for
    /// booleans, an address for pointers, 0 being null).
    Const(u64),
    /// Any value.
    Undef,
    Unary(Unary, Value),
    /// Both operands and the result have the same type, but for shifts, whose amount may have any width.
    Binary(Binary, Value, Value),
    /// Result: bool.
    Compare(Compare, Value, Value),
    /// `if condition { a } else { b }`, both evaluated.
    Select(Value, Value, Value),
    /// `a * b + c`, rounded once.
    Fma(Value, Value, Value),
    /// To the result's type.
    Convert(Convert, Value),
    /// Two results of the operands' type: low, high.
    MulExtended {
        signed: bool,
        a: Value,
        b: Value,
    },
    /// The dot product of two vectors of four bytes, each read as signed or not: I32, exact.
    DotProduct {
        signed: [bool; 2],
        format: DotFormat,
        /// Both vectors, the first before the second: one I32 each, or four I8 each.
        operands: Values,
    },
    /// A function of `OpenCL.std` on scalars; gone after `lower::builtins`. Component-wise functions
    /// were split into lanes by the parser; geometric ones take all components of each operand in order.
    OpenClStd(OpenClStd, Values),
    /// A function of `GLSL.std.450` by its number.
    Glsl(u32, Values),

    /// Pointer plus a byte offset of an integer type (sign-extended where narrower than 64 bits).
    PtrAdd(Value, Value),
    /// The address of a private variable of this function.
    VariableAddress(VariableId),
    /// The address of a module-scope variable.
    GlobalAddress(GlobalId),
    /// Consecutive scalars of the results' types, each at the next multiple of its size.
    Load(Place, Access),
    Store(Place, Values, Access),
    /// Copies bytes between two pointers that do not overlap (`OpCopyMemorySized`); both `Place::Pointer`.
    Copy {
        to: Value,
        from: Value,
        size_bytes: Value,
        to_access: Access,
        from_access: Access,
    },
    /// Operands after the place are the operation's value(s), compare-exchange's being (value, comparator).
    Atomic {
        op: AtomicOp,
        place: Place,
        values: Values,
        scope: Scope,
        semantics: Semantics,
    },

    /// `OpControlBarrier`
    ControlBarrier {
        execution: Scope,
        memory: Scope,
        semantics: Semantics,
    },
    /// `OpMemoryBarrier`
    MemoryBarrier {
        memory: Scope,
        semantics: Semantics,
    },
    /// A work-group or sub-group collective.
    Group(Group, Values),

    /// A work-item query of OpenCL C; gone after `lower::work_items`.
    WorkItem(WorkItem),
    /// A value that the runtime supplies in the argument block, I32 or I64 by its size; gone after
    /// `lower::arguments`.
    Implicit(Implicit),
    /// A Vulkan built-in input, I32.
    BuiltIn(BuiltIn),
    /// A 32-bit specialization constant by `SpecId`, and its default.
    SpecConst {
        id: u32,
        default: u32,
    },

    Call(FuncId, Values),
    /// An access to an image; gone after `lower::images`. Operands: the image's scalars
    /// (`ImageField::ALL`), the sampler where there is one, the coordinates, the level ([`ImageLevel`]), then
    /// what is written.
    Image(ImageAccess, Values),
    /// An access to a pipe; gone after `lower::pipes`. Operands: see [`PipeOp`].
    Pipe(Pipe, Values),
    /// A 2D image read through its descriptor; operands: indices of the image's and the sampler's descriptor,
    /// I32 and the same for all work-items, then x and y, F32. Four F32.
    SampleTexture(Values),
    /// `printf`: the format (a pointer to constant memory) and its arguments, vectors flattened; `lanes`
    /// holds the number of components of each. Result: I32.
    Printf {
        format: Value,
        arguments: Values,
        lanes: Vec<u8>,
    },
}

/// How a dot product takes its vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotFormat {
    /// Four bytes in a word, the first component lowest.
    Packed4x8,
    /// Each component for itself; gone after `lower::dot_products`.
    Components,
}

/// Where a memory operation reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Behind a pointer: what the parser makes; gone after `lower::pointers`.
    Pointer(Value),
    /// At a 64-bit device address (I64).
    Address(Value),
    /// At a 64-bit device address as two I32, once 64-bit integers are legalized.
    AddressPair { lo: Value, hi: Value },
    /// At a 64-bit device address (I64) and so many strides (I32, signed) after it.
    Indexed {
        base: Value,
        index: Value,
        stride_bytes: u32,
    },
    /// Elements of an array starting at an I32 index; all results have the element's type.
    Element { array: ArrayId, index: Value },
    /// Words (I32) of the argument block in push constants, or one I64 at a multiple of 8.
    Argument { offset_bytes: u32 },
    /// One number of the program's constant variables in the uniform buffer: the word (I32), or the 64-bit number (I64), that
    /// has the index (I32) there.
    Uniform { index: Value },
}

impl Place {
    /// Whether it is a device address, of any form.
    pub fn is_device_address(&self) -> bool {
        matches!(
            self,
            Self::Address(_) | Self::AddressPair { .. } | Self::Indexed { .. }
        )
    }

    fn operands(&self) -> Values {
        match *self {
            Self::Pointer(v)
            | Self::Address(v)
            | Self::Element { index: v, .. }
            | Self::Uniform { index: v } => smallvec![v],
            Self::AddressPair { lo: a, hi: b }
            | Self::Indexed {
                base: a, index: b, ..
            } => smallvec![a, b],
            Self::Argument { .. } => Values::new(),
        }
    }

    fn for_each_operand_mut(&mut self, f: &mut impl FnMut(&mut Value)) {
        match self {
            Self::Pointer(v)
            | Self::Address(v)
            | Self::Element { index: v, .. }
            | Self::Uniform { index: v } => f(v),
            Self::AddressPair { lo: a, hi: b }
            | Self::Indexed {
                base: a, index: b, ..
            } => {
                f(a);
                f(b);
            }
            Self::Argument { .. } => {}
        }
    }
}

/// What is known of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Alignment of the first byte; a power of two.
    pub align_bytes: u32,
    pub volatile: bool,
    /// The memory is not written while the kernel runs (`constant` memory, arguments): `NonWritable`.
    pub read_only: bool,
}

impl Access {
    pub fn aligned(align_bytes: u32) -> Self {
        Self {
            align_bytes,
            volatile: false,
            read_only: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Two's complement negation.
    Negate,
    /// Bitwise not; logical not on booleans.
    Not,
    FNegate,
    BitCount,
    BitReverse,
    IsNan,
    IsInf,
    /// `OpIsFinite`, `OpIsNormal`, `OpSignBitSet`
    IsFinite,
    IsNormal,
    SignBitSet,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    UDiv,
    SDiv,
    URem,
    /// Sign of the result from the dividend, as C's `%`.
    SRem,
    /// Sign of the result from the divisor.
    SMod,
    /// Shift amounts are below the width: front ends mask them where OpenCL C demands it.
    Shl,
    LShr,
    AShr,
    And,
    Or,
    Xor,
    UMin,
    UMax,
    SMin,
    SMax,
    FAdd,
    FSub,
    FMul,
    FDiv,
    /// C's `fmod`: sign from the dividend (`OpFRem`).
    FRem,
    FMod,
    /// IEEE 754 minNum/maxNum: a number wins over a NaN.
    FMin,
    FMax,
}

impl Binary {
    pub fn is_float(self) -> bool {
        matches!(
            self,
            Self::FAdd
                | Self::FSub
                | Self::FMul
                | Self::FDiv
                | Self::FRem
                | Self::FMod
                | Self::FMin
                | Self::FMax
        )
    }

    pub fn is_shift(self) -> bool {
        matches!(self, Self::Shl | Self::LShr | Self::AShr)
    }

    pub fn is_commutative(self) -> bool {
        use Binary::*;
        matches!(
            self,
            Add | Mul | And | Or | Xor | UMin | UMax | SMin | SMax | FAdd | FMul | FMin | FMax
        )
    }
}

/// Integer and pointer comparisons; float ones are ordered (false on NaN) or unordered (true on NaN).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compare {
    /// Equality of integers, booleans or pointers.
    Equal,
    NotEqual,
    ULess,
    ULessEqual,
    SLess,
    SLessEqual,
    FOrdEqual,
    FUnordEqual,
    FOrdNotEqual,
    FUnordNotEqual,
    FOrdLess,
    FUnordLess,
    FOrdLessEqual,
    FUnordLessEqual,
    /// Neither is NaN.
    FOrdered,
    FUnordered,
}

impl Compare {
    pub fn is_float(self) -> bool {
        use Compare::*;
        match self {
            Equal | NotEqual | ULess | ULessEqual | SLess | SLessEqual => false,
            FOrdEqual | FUnordEqual | FOrdNotEqual | FUnordNotEqual | FOrdLess | FUnordLess
            | FOrdLessEqual | FUnordLessEqual | FOrdered | FUnordered => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// To nearest even.
    Rte,
    /// Toward zero.
    Rtz,
    /// Toward positive infinity.
    Rtp,
    /// Toward negative infinity.
    Rtn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Convert {
    /// Integer to a narrower integer.
    Truncate,
    ZeroExtend,
    SignExtend,
    /// `None`: toward zero, as a C cast. Out of range is undefined unless `saturate`, which also makes
    /// NaN zero.
    FloatToUnsigned {
        rounding: Option<Rounding>,
        saturate: bool,
    },
    FloatToSigned {
        rounding: Option<Rounding>,
        saturate: bool,
    },
    /// `None`: to nearest even.
    UnsignedToFloat(Option<Rounding>),
    SignedToFloat(Option<Rounding>),
    FloatToFloat(Option<Rounding>),
    /// Same width, same bits; not on pointers or booleans.
    Bitcast,
    PtrToInt,
    IntToPtr,
    /// Between a named address space and generic (`OpPtrCastToGeneric`, `OpGenericCastToPtr`), and
    /// between constant and global.
    AddressSpaceCast,
    /// `OpGenericCastToPtrExplicit`: null when the pointer is not in the result's space.
    AddressSpaceCastExplicit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    Load,
    Store,
    Exchange,
    /// Values: (value, comparator).
    CompareExchange,
    Add,
    Sub,
    UMin,
    UMax,
    SMin,
    SMax,
    And,
    Or,
    Xor,
    FAdd,
    FMin,
    FMax,
    /// `OpAtomicFlagTestAndSet`: result bool.
    FlagTestAndSet,
    FlagClear,
}

/// Work-item functions (OpenCL C section 6.15.1). The number is the dimension, 0 to 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkItem {
    GlobalId(u8),
    GlobalSize(u8),
    GlobalOffset(u8),
    LocalId(u8),
    /// The size of this work-group.
    LocalSize(u8),
    EnqueuedLocalSize(u8),
    GroupId(u8),
    NumGroups(u8),
    WorkDim,
    GlobalLinearId,
    LocalLinearId,
    SubgroupSize,
    SubgroupMaxSize,
    NumSubgroups,
    NumEnqueuedSubgroups,
    SubgroupId,
    SubgroupLocalId,
}

/// Vulkan compute inputs. The number is the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BuiltIn {
    LocalInvocationId(u8),
    WorkgroupId(u8),
    NumWorkgroups(u8),
    SubgroupSize,
    NumSubgroups,
    SubgroupId,
    SubgroupLocalInvocationId,
}

/// A collective operation over the work-items of `scope`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    pub op: GroupOp,
    pub scope: Scope,
}

/// What a collective does. Those from `AllEqual` on are the sub-group's alone, and work over its active
/// work-items; an index, a mask or a distance is an I32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupOp {
    All,
    Any,
    /// Values: (value components…, local id components…).
    Broadcast,
    /// The operation is one of add, min, max (and mul, and, or, xor) of [`Binary`]; and, or, xor also on
    /// booleans.
    Reduce(Binary),
    InclusiveScan(Binary),
    ExclusiveScan(Binary),
    /// Whether a value is the same in all.
    AllEqual,
    /// Whether this work-item is the first. No values.
    Elect,
    /// The value of the first.
    BroadcastFirst,
    /// Four I32 with a bit for each work-item whose boolean is set.
    Ballot,
    /// Values: (value, index of the source).
    Shuffle,
    /// Values: (value, mask that leads to the source).
    ShuffleXor,
    /// Values: (value, distance), from the lower index.
    ShuffleUp,
    /// Values: (value, distance), from the higher index.
    ShuffleDown,
    /// Values: (value, distance), from the higher index, around in clusters of that size; 0 for the whole
    /// sub-group.
    Rotate(u32),
    /// A reduction in each cluster of that many work-items, a power of two.
    ClusteredReduce(Binary, u32),
}

/// How an image is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageAccess {
    pub kind: ImageAccessKind,
    pub dimension: ImageDimension,
    /// F32 for float texels, I32 for integer ones.
    pub texel: Type,
    pub level: ImageLevel,
}

/// Which mip level of an image is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageLevel {
    /// The first.
    Base,
    /// Named by one more operand, after the coordinates: F32 for reads, I32 for writes.
    Named,
    /// That for the change of the coordinates from one pixel to the next: as many F32 operands after the
    /// coordinates as the image has axes for a step in x, and as many for one in y.
    Gradient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageAccessKind {
    /// Through a sampler, F32 or I32 coordinates: four results of the texel's type.
    Sample { float_coordinates: bool },
    /// Without one, I32 coordinates: four results.
    Read,
    /// I32 coordinates; four values.
    Write,
}

/// How a pipe is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pipe {
    pub op: PipeOp,
    /// Whether as a writer; else as a reader.
    pub writes: bool,
    /// Who reserves or commits together.
    pub scope: Scope,
    /// Size of a packet.
    pub packet_bytes: u32,
    /// Alignment of a packet, in the pipe and outside.
    pub align_bytes: u32,
}

/// What is done with a pipe. The first operand is the pipe's address; reservations are I64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PipeOp {
    /// Operands: (pipe, pointer to the packet). Result: I32, 0 or negative.
    Transfer,
    /// Operands: (pipe, reservation, index in it (I32), pointer to the packet). Result: I32, 0 or negative.
    TransferReserved,
    /// Operands: (pipe, number of packets (I32)). Result: the reservation.
    Reserve,
    /// Operands: (pipe, reservation).
    Commit,
    /// Operand: the pipe. Result: I32.
    NumPackets,
    /// Operand: the pipe. Result: I32.
    MaxPackets,
}

/// The number of an instruction of the `OpenCL.std` extended instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpenClStd(pub u32);

impl Op {
    /// An integer or boolean operation of a fixed set of operands whose result depends on nothing else
    /// and that may be removed, moved or repeated.
    pub fn is_pure(&self) -> bool {
        match self {
            Self::Const(_)
            | Self::Undef
            | Self::Unary(..)
            | Self::Binary(..)
            | Self::Compare(..)
            | Self::Select(..)
            | Self::Fma(..)
            | Self::Convert(..)
            | Self::MulExtended { .. }
            | Self::DotProduct { .. }
            | Self::Glsl(..)
            | Self::PtrAdd(..)
            | Self::VariableAddress(_)
            | Self::GlobalAddress(_)
            | Self::WorkItem(_)
            | Self::Implicit(_)
            | Self::BuiltIn(_)
            | Self::SpecConst { .. } => true,
            Self::Load(place, access) => {
                !access.volatile && matches!(place, Place::Argument { .. })
            }
            _ => false,
        }
    }

    /// Whether removing the operation when no result is used changes nothing.
    pub fn is_removable(&self) -> bool {
        match self {
            Self::Load(_, access) => !access.volatile,
            Self::SampleTexture(_) => true,
            // Functions of the library write only through pointer operands, which keep them alive.
            Self::OpenClStd(..) | Self::Call(..) => false,
            other => other.is_pure(),
        }
    }

    /// Where a load, a store or an atomic operation accesses memory.
    pub fn place(&self) -> Option<Place> {
        match *self {
            Self::Load(place, _) | Self::Store(place, ..) | Self::Atomic { place, .. } => {
                Some(place)
            }
            _ => None,
        }
    }

    /// Where a load, a store or an atomic operation accesses memory, to be changed.
    pub fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            Self::Load(place, _) | Self::Store(place, ..) | Self::Atomic { place, .. } => {
                Some(place)
            }
            _ => None,
        }
    }

    /// Every value the operation reads, in order.
    pub fn operands(&self) -> Values {
        match self {
            Self::Const(_)
            | Self::Undef
            | Self::VariableAddress(_)
            | Self::GlobalAddress(_)
            | Self::ControlBarrier { .. }
            | Self::MemoryBarrier { .. }
            | Self::WorkItem(_)
            | Self::Implicit(_)
            | Self::BuiltIn(_)
            | Self::SpecConst { .. } => Values::new(),
            Self::Unary(_, a) | Self::Convert(_, a) => smallvec![*a],
            Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::PtrAdd(a, b)
            | Self::MulExtended { a, b, .. } => smallvec![*a, *b],
            Self::Select(a, b, c) | Self::Fma(a, b, c) => smallvec![*a, *b, *c],
            Self::OpenClStd(_, v)
            | Self::Glsl(_, v)
            | Self::Group(_, v)
            | Self::Call(_, v)
            | Self::Image(_, v)
            | Self::Pipe(_, v)
            | Self::SampleTexture(v)
            | Self::DotProduct { operands: v, .. } => v.clone(),
            Self::Load(place, _) => place.operands(),
            Self::Store(place, values, _) | Self::Atomic { place, values, .. } => {
                let mut all = place.operands();
                all.extend_from_slice(values);
                all
            }
            Self::Copy {
                to,
                from,
                size_bytes,
                ..
            } => smallvec![*to, *from, *size_bytes],
            Self::Printf {
                format, arguments, ..
            } => {
                let mut all: Values = smallvec![*format];
                all.extend_from_slice(arguments);
                all
            }
        }
    }

    /// Calls `f` on every value the operation reads, in the order of [`Op::operands`].
    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Self::Const(_)
            | Self::Undef
            | Self::VariableAddress(_)
            | Self::GlobalAddress(_)
            | Self::ControlBarrier { .. }
            | Self::MemoryBarrier { .. }
            | Self::WorkItem(_)
            | Self::Implicit(_)
            | Self::BuiltIn(_)
            | Self::SpecConst { .. } => {}
            Self::Unary(_, a) | Self::Convert(_, a) => f(a),
            Self::Binary(_, a, b)
            | Self::Compare(_, a, b)
            | Self::PtrAdd(a, b)
            | Self::MulExtended { a, b, .. } => {
                f(a);
                f(b);
            }
            Self::Select(a, b, c) | Self::Fma(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
            Self::OpenClStd(_, v)
            | Self::Glsl(_, v)
            | Self::Group(_, v)
            | Self::Call(_, v)
            | Self::Image(_, v)
            | Self::Pipe(_, v)
            | Self::SampleTexture(v)
            | Self::DotProduct { operands: v, .. } => v.iter_mut().for_each(f),
            Self::Load(place, _) => place.for_each_operand_mut(&mut f),
            Self::Store(place, values, _) | Self::Atomic { place, values, .. } => {
                place.for_each_operand_mut(&mut f);
                values.iter_mut().for_each(f);
            }
            Self::Copy {
                to,
                from,
                size_bytes,
                ..
            } => {
                f(to);
                f(from);
                f(size_bytes);
            }
            Self::Printf {
                format, arguments, ..
            } => {
                f(format);
                arguments.iter_mut().for_each(f);
            }
        }
    }
}
