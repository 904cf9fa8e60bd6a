//! SPIR-V's arithmetic and comparisons as operations of the IR.

use super::ir::{Binary, Compare};
use rspirv::spirv::Op;

/// The operation of two operands that an instruction is.
pub fn binary_of(op: Op) -> Option<Binary> {
    Some(match op {
        Op::IAdd => Binary::Add,
        Op::ISub => Binary::Sub,
        Op::IMul => Binary::Mul,
        Op::UDiv => Binary::UDiv,
        Op::SDiv => Binary::SDiv,
        Op::UMod => Binary::URem,
        Op::SRem => Binary::SRem,
        Op::SMod => Binary::SMod,
        Op::ShiftLeftLogical => Binary::Shl,
        Op::ShiftRightLogical => Binary::LShr,
        Op::ShiftRightArithmetic => Binary::AShr,
        Op::BitwiseAnd | Op::LogicalAnd => Binary::And,
        Op::BitwiseOr | Op::LogicalOr => Binary::Or,
        Op::BitwiseXor => Binary::Xor,
        Op::FAdd => Binary::FAdd,
        Op::FSub => Binary::FSub,
        Op::FMul => Binary::FMul,
        Op::FDiv => Binary::FDiv,
        Op::FRem => Binary::FRem,
        Op::FMod => Binary::FMod,
        _ => return None,
    })
}

/// The comparison that an instruction is, and whether the operands change places.
pub fn comparison_of(op: Op) -> Option<(Compare, bool)> {
    use Compare::*;
    Some(match op {
        Op::LogicalEqual | Op::IEqual => (Equal, false),
        Op::LogicalNotEqual | Op::INotEqual => (NotEqual, false),
        Op::ULessThan => (ULess, false),
        Op::ULessThanEqual => (ULessEqual, false),
        Op::UGreaterThan => (ULess, true),
        Op::UGreaterThanEqual => (ULessEqual, true),
        Op::SLessThan => (SLess, false),
        Op::SLessThanEqual => (SLessEqual, false),
        Op::SGreaterThan => (SLess, true),
        Op::SGreaterThanEqual => (SLessEqual, true),
        Op::FOrdEqual => (FOrdEqual, false),
        Op::FUnordEqual => (FUnordEqual, false),
        Op::FOrdNotEqual | Op::LessOrGreater => (FOrdNotEqual, false),
        Op::FUnordNotEqual => (FUnordNotEqual, false),
        Op::FOrdLessThan => (FOrdLess, false),
        Op::FUnordLessThan => (FUnordLess, false),
        Op::FOrdGreaterThan => (FOrdLess, true),
        Op::FUnordGreaterThan => (FUnordLess, true),
        Op::FOrdLessThanEqual => (FOrdLessEqual, false),
        Op::FUnordLessThanEqual => (FUnordLessEqual, false),
        Op::FOrdGreaterThanEqual => (FOrdLessEqual, true),
        Op::FUnordGreaterThanEqual => (FUnordLessEqual, true),
        Op::Ordered => (FOrdered, false),
        Op::Unordered => (FUnordered, false),
        _ => return None,
    })
}
