//! Which types the operands and results of each operation have.

use crate::compiler::ir::{
    AddressSpace, AtomicOp, Binary, Compare, Convert, DotFormat, Function, GroupOp,
    ImageAccessKind, Module, Op, PipeOp, Place, Type, Unary, Value,
};

/// Types of operations of a function.
pub(super) struct Types<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
}

impl Types<'_> {
    /// Whether the types of operands and results are those of the operation.
    #[expect(
        clippy::too_many_lines,
        reason = "a table: what the types of each operation are"
    )]
    pub fn fit(&self, op: &Op, operands: &[Type], results: &[Type]) -> bool {
        let int = Type::is_int;
        let float = Type::is_float;
        match op {
            Op::Const(bits) => matches!(results, [ty] if *bits <= ty.mask()),
            Op::Undef => results.len() == 1,
            Op::Unary(op, _) => unary_fits(*op, operands, results),
            Op::Binary(op, ..) => binary_fits(*op, operands, results),
            Op::Compare(op, ..) => comparison_fits(*op, operands, results),
            Op::Select(..) => {
                matches!((operands, results), ([Type::Bool, a, b], [r]) if a == b && a == r)
            }
            Op::Fma(..) => {
                matches!((operands, results), ([a, b, c], [r])
                    if float(*a) && a == b && b == c && a == r)
            }
            Op::Convert(op, _) => match (operands, results) {
                ([a], [r]) => conversion_fits(*op, *a, *r),
                _ => false,
            },
            Op::MulExtended { .. } => {
                matches!((operands, results), ([a, b], [x, y])
                    if int(*a) && a == b && a == x && x == y)
            }
            Op::DotProduct { format, .. } => {
                let (ty, count) = match format {
                    DotFormat::Packed4x8 => (Type::I32, 2),
                    DotFormat::Components => (Type::I8, 8),
                };
                operands.len() == count
                    && operands.iter().all(|&operand| operand == ty)
                    && matches!(results, [Type::I32])
            }
            Op::OpenClStd(..) | Op::Glsl(..) => !results.is_empty() || !operands.is_empty(),
            Op::PtrAdd(..) => {
                matches!((operands, results), ([p, o], [r])
                    if p.is_pointer() && int(*o) && p == r)
            }
            Op::VariableAddress(id) => {
                id.index() < self.function.variables.len()
                    && matches!(results, [Type::Ptr(AddressSpace::Private)])
            }
            Op::GlobalAddress(id) => {
                let global = self.module.globals.get(id.index());
                matches!((global, results), (Some(global), [Type::Ptr(space)])
                    if global.space == *space)
            }
            Op::Load(place, access) => {
                access.align_bytes.is_power_of_two()
                    && !results.is_empty()
                    && self.place_fits(place, results)
            }
            Op::Store(place, values, access) => {
                let types: Vec<Type> = values.iter().map(|&v| self.function.ty(v)).collect();
                access.align_bytes.is_power_of_two()
                    && !types.is_empty()
                    && results.is_empty()
                    && self.place_fits(place, &types)
            }
            Op::Copy { .. } => {
                matches!(operands, [to, from, size]
                    if to.is_pointer() && from.is_pointer() && int(*size))
                    && results.is_empty()
            }
            Op::Atomic {
                op, place, values, ..
            } => self.atomic_fits(*op, place, values, results),
            Op::ControlBarrier { .. } | Op::MemoryBarrier { .. } => results.is_empty(),
            Op::Group(group, _) => collective_fits(group.op, operands, results),
            Op::WorkItem(_) => matches!(results, [Type::I32 | Type::I64]),
            Op::Implicit(implicit) => match results {
                [ty] => int(*ty) && ty.size_bytes() == implicit.size_bytes(),
                _ => false,
            },
            Op::BuiltIn(_) => matches!(results, [Type::I32]),
            Op::SpecConst { .. } => matches!(results, [Type::I32]),
            Op::Call(callee, _) => match self.module.functions.get(callee.index()) {
                Some(callee) => {
                    let params: Vec<Type> = callee.params().iter().map(|&v| callee.ty(v)).collect();
                    params == operands && callee.return_types == results
                }
                None => false,
            },
            Op::Image(access, _) => match access.kind {
                ImageAccessKind::Write => results.is_empty(),
                _ => results == [access.texel; 4],
            },
            Op::Pipe(pipe, _) => pipe_access_fits(pipe.op, operands, results),
            Op::SampleTexture(_) => {
                operands == [Type::I32, Type::I32, Type::F32, Type::F32]
                    && results == [Type::F32; 4]
            }
            Op::Printf {
                format,
                arguments,
                lanes,
            } => {
                let total: usize = lanes.iter().map(|&count| usize::from(count)).sum();
                let _ = format;
                total == arguments.len() && matches!(results, [Type::I32])
            }
        }
    }

    fn atomic_fits(&self, op: AtomicOp, place: &Place, values: &[Value], results: &[Type]) -> bool {
        let types: Vec<Type> = values.iter().map(|&v| self.function.ty(v)).collect();
        let count = match op {
            AtomicOp::Load | AtomicOp::FlagTestAndSet | AtomicOp::FlagClear => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        };
        let result_count = match op {
            AtomicOp::Store | AtomicOp::FlagClear => 0,
            _ => 1,
        };
        let memory: Vec<Type> = match op {
            AtomicOp::FlagTestAndSet => Vec::new(),
            _ => results.iter().chain(&types).copied().collect(),
        };
        types.len() == count
            && results.len() == result_count
            && memory.windows(2).all(|pair| pair[0] == pair[1])
            && self.place_fits(place, &memory)
    }

    fn place_fits(&self, place: &Place, memory: &[Type]) -> bool {
        let ty = |value: &Value| self.function.ty(*value);
        match place {
            Place::Pointer(pointer) => ty(pointer).is_pointer(),
            Place::Address(address) => ty(address) == Type::I64,
            Place::AddressPair { lo, hi } => ty(lo) == Type::I32 && ty(hi) == Type::I32,
            Place::Indexed {
                base,
                index,
                stride_bytes,
            } => ty(base) == Type::I64 && ty(index) == Type::I32 && *stride_bytes > 0,
            Place::Element { array, index } => {
                let array = self.module.arrays.get(array.index());
                ty(index) == Type::I32
                    && array.is_some_and(|array| memory.iter().all(|&ty| ty == array.element))
            }
            Place::Argument { offset_bytes } => {
                offset_bytes % 4 == 0 && memory.iter().all(|&ty| ty == Type::I32)
                    || offset_bytes % 8 == 0 && memory == [Type::I64]
            }
            Place::Uniform { index } => {
                ty(index) == Type::I32 && matches!(memory, [Type::I32 | Type::I64])
            }
        }
    }
}

/// Whether the types of operands and results are those of an operation of one operand.
fn unary_fits(op: Unary, operands: &[Type], results: &[Type]) -> bool {
    let (int, float) = (Type::is_int, Type::is_float);
    match (op, operands, results) {
        (Unary::Negate | Unary::BitCount | Unary::BitReverse, [a], [r]) => int(*a) && a == r,
        (Unary::Not, [a], [r]) => (int(*a) || *a == Type::Bool) && a == r,
        (Unary::FNegate, [a], [r]) => float(*a) && a == r,
        (_, [a], [Type::Bool]) => float(*a),
        _ => false,
    }
}

/// Whether the types of operands and results are those of an operation of two operands.
fn binary_fits(op: Binary, operands: &[Type], results: &[Type]) -> bool {
    let (int, float) = (Type::is_int, Type::is_float);
    match (operands, results) {
        ([a, b], [r]) if op.is_shift() => int(*a) && int(*b) && a == r,
        ([a, b], [r]) if op.is_float() => float(*a) && a == b && a == r,
        ([a, b], [r]) => {
            let logic = matches!(op, Binary::And | Binary::Or | Binary::Xor);
            (int(*a) || (logic && *a == Type::Bool)) && a == b && a == r
        }
        _ => false,
    }
}

/// Whether the types of operands and results are those of a comparison.
fn comparison_fits(op: Compare, operands: &[Type], results: &[Type]) -> bool {
    let (int, float) = (Type::is_int, Type::is_float);
    match (op, operands, results) {
        (Compare::Equal | Compare::NotEqual, [a, b], [Type::Bool]) => a == b && !float(*a),
        (
            Compare::ULess | Compare::ULessEqual | Compare::SLess | Compare::SLessEqual,
            [a, b],
            [Type::Bool],
        ) => a == b && (int(*a) || a.is_pointer()),
        (_, [a, b], [Type::Bool]) => a == b && float(*a),
        _ => false,
    }
}

/// Whether the types of operands and results are those of a collective.
fn collective_fits(op: GroupOp, operands: &[Type], results: &[Type]) -> bool {
    match op {
        GroupOp::All | GroupOp::Any => {
            matches!((operands, results), ([Type::Bool], [Type::Bool]))
        }
        GroupOp::AllEqual => matches!((operands, results), ([_], [Type::Bool])),
        GroupOp::Elect => matches!((operands, results), ([], [Type::Bool])),
        GroupOp::Ballot => matches!(operands, [Type::Bool]) && results == [Type::I32; 4],
        GroupOp::Broadcast => {
            !results.is_empty()
                && operands.starts_with(results)
                && operands.len() > results.len()
                && operands.iter().skip(results.len()).all(|&ty| ty.is_int())
        }
        GroupOp::Shuffle
        | GroupOp::ShuffleXor
        | GroupOp::ShuffleUp
        | GroupOp::ShuffleDown
        | GroupOp::Rotate(_) => {
            matches!((operands, results), ([a, Type::I32], [b]) if a == b)
        }
        GroupOp::BroadcastFirst
        | GroupOp::Reduce(_)
        | GroupOp::InclusiveScan(_)
        | GroupOp::ExclusiveScan(_)
        | GroupOp::ClusteredReduce(..) => {
            matches!((operands, results), ([a], [b]) if a == b)
        }
    }
}

/// Whether the types of operands and results are those of an access to a pipe.
fn pipe_access_fits(op: PipeOp, operands: &[Type], results: &[Type]) -> bool {
    let Some((Type::Ptr(AddressSpace::Global), rest)) = operands.split_first() else {
        return false;
    };
    match op {
        PipeOp::Transfer => matches!(rest, [Type::Ptr(_)]) && results == [Type::I32],
        PipeOp::TransferReserved => {
            matches!(rest, [Type::I64, Type::I32, Type::Ptr(_)]) && results == [Type::I32]
        }
        PipeOp::Reserve => rest == [Type::I32] && results == [Type::I64],
        PipeOp::Commit => rest == [Type::I64] && results.is_empty(),
        PipeOp::NumPackets | PipeOp::MaxPackets => rest.is_empty() && results == [Type::I32],
    }
}

fn conversion_fits(op: Convert, from: Type, to: Type) -> bool {
    use Convert::*;
    match op {
        Truncate => from.is_int() && to.is_int() && to.bits() < from.bits(),
        ZeroExtend | SignExtend => from.is_int() && to.is_int() && to.bits() > from.bits(),
        FloatToUnsigned { .. } | FloatToSigned { .. } => from.is_float() && to.is_int(),
        UnsignedToFloat(_) | SignedToFloat(_) => from.is_int() && to.is_float(),
        FloatToFloat(_) => from.is_float() && to.is_float() && from != to,
        Bitcast => {
            let number = |ty: Type| ty.is_int() || ty.is_float();
            number(from) && number(to) && from.bits() == to.bits()
        }
        PtrToInt => from.is_pointer() && to == Type::I64,
        IntToPtr => from == Type::I64 && to.is_pointer(),
        AddressSpaceCast | AddressSpaceCastExplicit => from.is_pointer() && to.is_pointer(),
    }
}
