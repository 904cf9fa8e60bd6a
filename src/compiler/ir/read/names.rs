//! What operations, types and what they hold are called in the text.

use super::Result;
use super::cursor::Cursor;
use crate::compiler::ir::print::Snake;
use crate::compiler::ir::{
    AddressSpace, AtomicOp, Binary, BuiltIn, Compare, Convert, GroupOp, Rounding, Scope, Type,
    Unary, WorkItem,
};
use crate::compiler::program::Implicit;
use std::fmt::Debug;

/// A conversion, with its rounding and saturation behind points: `float_to_signed.rtz.saturate`.
pub fn convert(name: &str, rest: &str) -> Result<Convert> {
    let words = || rest.split('.').filter(|word| !word.is_empty());
    let saturate = words().any(|word| word == "saturate");
    let rounding = words().find(|&word| word != "saturate");
    let rounding = rounding.map(|word| snake(word, &ROUNDINGS)).transpose()?;
    Ok(match name {
        "float_to_unsigned" => Convert::FloatToUnsigned { rounding, saturate },
        "float_to_signed" => Convert::FloatToSigned { rounding, saturate },
        "unsigned_to_float" => Convert::UnsignedToFloat(rounding),
        "signed_to_float" => Convert::SignedToFloat(rounding),
        "float_to_float" => Convert::FloatToFloat(rounding),
        _ => snake(name, &CONVERT)?,
    })
}

/// A collective: `all`, `reduce(Add)`, `rotate(4)`, `clustered_reduce(Add, 4)`.
pub fn group_op(name: &str, c: &mut Cursor<'_>) -> Result<GroupOp> {
    if !c.eats("(") {
        return snake(name, &GROUPS);
    }
    let op = match name {
        "rotate" => GroupOp::Rotate(c.number()? as u32),
        _ => {
            let operation = named(c.word()?, &BINARY)?;
            match name {
                "reduce" => GroupOp::Reduce(operation),
                "inclusive_scan" => GroupOp::InclusiveScan(operation),
                "exclusive_scan" => GroupOp::ExclusiveScan(operation),
                "clustered_reduce" => GroupOp::ClusteredReduce(operation, c.named(", ")? as u32),
                _ => return Err(format!("no collective is called {name}")),
            }
        }
    };
    c.needs(") ")?;
    Ok(op)
}

pub fn ty(word: &str) -> Result<Type> {
    if let Some(name) = word.strip_prefix("ptr.") {
        return Ok(Type::Ptr(space(name)?));
    }
    let all = [
        Type::Bool,
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::F16,
        Type::F32,
        Type::F64,
    ];
    let found = all.into_iter().find(|ty| ty.to_string() == word);
    found.ok_or_else(|| format!("no type is called {word}"))
}

pub fn space(word: &str) -> Result<AddressSpace> {
    let found = SPACES.into_iter().find(|space| space.to_string() == word);
    found.ok_or_else(|| format!("no address space is called {word}"))
}

pub fn decimal(text: &str) -> Result<u32> {
    text.parse().map_err(|_| format!("{text} is no number"))
}

/// The one whose name in the text is `word`.
pub fn snake<T: Copy + Debug>(word: &str, all: &[T]) -> Result<T> {
    let found = all.iter().find(|&&one| Snake(one).to_string() == word);
    found.copied().ok_or_else(|| format!("what is {word}?"))
}

/// The one whose name in the source is `word`.
pub fn named<T: Copy + Debug>(word: &str, all: &[T]) -> Result<T> {
    let found = all.iter().find(|&&one| format!("{one:?}") == word);
    found.copied().ok_or_else(|| format!("what is {word}?"))
}

/// One of those with a dimension, `global_id(0)`, or of those without.
pub fn dimensioned<T: Copy + Debug>(
    c: &mut Cursor<'_>,
    with: &[fn(u8) -> T],
    without: &[T],
) -> Result<T> {
    let word = c.word()?;
    if !c.eats("(") {
        return snake(word, without);
    }
    let dimension = c.number()?;
    c.needs(")")?;
    let all: Vec<T> = with.iter().map(|make| make(dimension as u8)).collect();
    snake(&format!("{word}({dimension})"), &all)
}

const SPACES: [AddressSpace; 5] = [
    AddressSpace::Private,
    AddressSpace::Local,
    AddressSpace::Global,
    AddressSpace::Constant,
    AddressSpace::Generic,
];

pub const SCOPES: [Scope; 5] = [
    Scope::CrossDevice,
    Scope::Device,
    Scope::Workgroup,
    Scope::Subgroup,
    Scope::Invocation,
];

const ROUNDINGS: [Rounding; 4] = [Rounding::Rte, Rounding::Rtz, Rounding::Rtp, Rounding::Rtn];

pub const UNARY: [Unary; 10] = {
    use Unary::*;
    [
        Negate, Not, FNegate, BitCount, BitReverse, IsNan, IsInf, IsFinite, IsNormal, SignBitSet,
    ]
};

pub const BINARY: [Binary; 26] = {
    use Binary::*;
    [
        Add, Sub, Mul, UDiv, SDiv, URem, SRem, SMod, Shl, LShr, AShr, And, Or, Xor, UMin, UMax,
        SMin, SMax, FAdd, FSub, FMul, FDiv, FRem, FMod, FMin, FMax,
    ]
};

pub const COMPARE: [Compare; 16] = {
    use Compare::*;
    [
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
        FOrdered,
        FUnordered,
    ]
};

/// Conversions that round nothing.
const CONVERT: [Convert; 8] = {
    use Convert::*;
    [
        Truncate,
        ZeroExtend,
        SignExtend,
        Bitcast,
        PtrToInt,
        IntToPtr,
        AddressSpaceCast,
        AddressSpaceCastExplicit,
    ]
};

pub const ATOMICS: [AtomicOp; 18] = {
    use AtomicOp::*;
    [
        Load,
        Store,
        Exchange,
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
        FlagTestAndSet,
        FlagClear,
    ]
};

/// Collectives that say no more of themselves.
const GROUPS: [GroupOp; 11] = {
    use GroupOp::*;
    [
        All,
        Any,
        Broadcast,
        AllEqual,
        Elect,
        BroadcastFirst,
        Ballot,
        Shuffle,
        ShuffleXor,
        ShuffleUp,
        ShuffleDown,
    ]
};

pub const WORK_ITEM: [fn(u8) -> WorkItem; 8] = {
    use WorkItem::*;
    [
        GlobalId,
        GlobalSize,
        GlobalOffset,
        LocalId,
        LocalSize,
        EnqueuedLocalSize,
        GroupId,
        NumGroups,
    ]
};

pub const WORK_ITEMS: [WorkItem; 9] = {
    use WorkItem::*;
    [
        WorkDim,
        GlobalLinearId,
        LocalLinearId,
        SubgroupSize,
        SubgroupMaxSize,
        NumSubgroups,
        NumEnqueuedSubgroups,
        SubgroupId,
        SubgroupLocalId,
    ]
};

pub const BUILT_IN: [fn(u8) -> BuiltIn; 3] = [
    BuiltIn::LocalInvocationId,
    BuiltIn::WorkgroupId,
    BuiltIn::NumWorkgroups,
];

pub const BUILT_INS: [BuiltIn; 4] = [
    BuiltIn::SubgroupSize,
    BuiltIn::NumSubgroups,
    BuiltIn::SubgroupId,
    BuiltIn::SubgroupLocalInvocationId,
];

pub const IMPLICIT: [fn(u8) -> Implicit; 6] = {
    use Implicit::*;
    [
        GlobalOffset,
        GlobalBase,
        GlobalSize,
        NumGroups,
        GroupBase,
        EnqueuedLocalSize,
    ]
};

pub const IMPLICITS: [Implicit; 6] = {
    use Implicit::*;
    [
        WorkDim,
        DataSegment,
        PrintfBuffer,
        OrderWord,
        IterationsLost,
        DispatchWidth,
    ]
};
