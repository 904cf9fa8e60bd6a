//! Checks a module against the rules of the IR and of a stage.
//!
//! Always: the types of operands and results, edges that match the parameters of their block, definitions
//! that dominate their uses, blocks and instructions that stand in one place. By stage: which operations,
//! places and types may still occur.

use super::analysis::Dominators;
use super::ir::{
    AtomicOp, Binary, Block, Compare, Convert, DotFormat, Function, GroupOp, ImageAccessKind, Inst,
    Module, Op, PipeOp, Place, Terminator, Type, Unary, Value, ValueDef,
};
use super::program::Implicit;
use std::collections::HashSet;

/// How far a module has come; a later stage forbids what earlier ones still hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// From `parse`, also after linking.
    Parsed,
    /// After `lower::builtins`: no `OpenClStd`.
    BuiltinsLowered,
    /// After `lower::images`: no `Image`.
    ImagesLowered,
    /// After `lower::work_items`: no `WorkItem`.
    WorkItemsLowered,
    /// After `lower::arguments`: no `Implicit` but the data segment's and printf's.
    ArgumentsLowered,
    /// After `lower::pointers`: no pointer types and places, `Copy`, variables.
    PointersLowered,
    /// What `emit` accepts.
    Emit,
}

/// Violations listed for one module.
const MAX_ERRORS: usize = 20;

/// Every violation found, with function and instruction; a violation is our own bug, not the application's.
pub fn module(module: &Module, stage: Stage) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    for id in module.function_ids() {
        let function = module.function(id);
        let mut verifier = Verifier {
            module,
            function,
            stage,
            errors: Vec::new(),
        };
        verifier.function();
        let name = &function.name;
        errors.extend(
            verifier
                .errors
                .into_iter()
                .map(|e| format!("{id} '{name}': {e}")),
        );
        if errors.len() >= MAX_ERRORS {
            break;
        }
    }
    for kernel in &module.kernels {
        if kernel.function.index() >= module.functions.len() {
            errors.push(format!("kernel '{}' has no function", kernel.name));
        }
    }
    errors.truncate(MAX_ERRORS);
    if errors.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}

/// The first value, in layout order, that is used where its definition does not dominate.
pub fn first_dominance_error(function: &Function, dominators: &Dominators) -> Option<Value> {
    // Block and position (0 for parameters) of every definition.
    let mut defined: Vec<Option<(Block, usize)>> = vec![None; function.value_count()];
    for &block in &function.layout {
        let data = function.block(block);
        for &param in &data.params {
            defined[param.index()] = Some((block, 0));
        }
        for (position, &inst) in data.insts.iter().enumerate() {
            for &result in &function.inst(inst).results {
                defined[result.index()] = Some((block, position + 1));
            }
        }
    }
    let is_bad = |value: Value, block: Block, position: usize| match defined
        .get(value.index())
        .copied()
        .flatten()
    {
        Some((home, at)) if home == block => at > position,
        Some((home, _)) => !dominators.dominates(home, block),
        None => true,
    };
    for &block in dominators.reverse_postorder() {
        let data = function.block(block);
        for (position, &inst) in data.insts.iter().enumerate() {
            let operands = function.inst(inst).op.operands();
            if let Some(bad) = operands.into_iter().find(|&v| is_bad(v, block, position)) {
                return Some(bad);
            }
        }
        let operands = data.terminator.operands();
        let end = data.insts.len();
        if let Some(bad) = operands.into_iter().find(|&v| is_bad(v, block, end)) {
            return Some(bad);
        }
    }
    None
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    stage: Stage,
    errors: Vec<String>,
}

impl Verifier<'_> {
    fn function(&mut self) {
        let function = self.function;
        let blocks: HashSet<Block> = function.layout.iter().copied().collect();
        if blocks.len() != function.layout.len() {
            self.errors
                .push("a block stands twice in the layout".to_owned());
        }
        let mut seen: HashSet<Inst> = HashSet::new();
        for &block in &function.layout {
            let data = function.block(block);
            for &param in &data.params {
                if function.value(param).def != ValueDef::Parameter(block) {
                    self.errors
                        .push(format!("{param} is not a parameter of {block}"));
                }
                self.stage_type(param, &format!("{block}"));
            }
            for &inst in &data.insts {
                if !seen.insert(inst) {
                    self.errors.push(format!("{inst} stands in two places"));
                }
                self.instruction(block, inst);
            }
            self.terminator(block, &data.terminator, &blocks);
        }
        if !self.errors.is_empty() {
            return;
        }
        let dominators = Dominators::new(function);
        if dominators
            .reverse_postorder()
            .iter()
            .any(|&block| function.successors(block).contains(&function.entry()))
        {
            self.errors.push("the entry has a predecessor".to_owned());
        }
        if let Some(value) = first_dominance_error(function, &dominators) {
            let error = format!("the definition of {value} does not dominate a use");
            self.errors.push(error);
        }
    }

    fn terminator(&mut self, block: Block, terminator: &Terminator, blocks: &HashSet<Block>) {
        let mut error = |text: String| self.errors.push(format!("{block}: {text}"));
        let function = self.function;
        if let Some(bad) = terminator
            .operands()
            .iter()
            .find(|v| v.index() >= function.value_count())
        {
            return error(format!("{bad} does not exist"));
        }
        for edge in terminator.edges() {
            if !blocks.contains(&edge.block) {
                error(format!(
                    "an edge to {}, which is not in the layout",
                    edge.block
                ));
                continue;
            }
            let params = &function.block(edge.block).params;
            let same = params.len() == edge.args.len()
                && params
                    .iter()
                    .zip(&edge.args)
                    .all(|(&p, &a)| function.ty(p) == function.ty(a));
            if !same {
                error(format!(
                    "the edge to {} does not match its parameters",
                    edge.block
                ));
            }
        }
        match terminator {
            Terminator::Branch { condition, .. } => {
                if function.ty(*condition) != Type::Bool {
                    error("the condition is not a boolean".to_owned());
                }
            }
            Terminator::Switch { value, cases, .. } => {
                let ty = function.ty(*value);
                if !ty.is_int() || cases.iter().any(|(case, _)| *case > ty.mask()) {
                    error(format!("a switch on {ty} with a case that it can't hold"));
                }
                let distinct: HashSet<u64> = cases.iter().map(|(case, _)| *case).collect();
                if distinct.len() != cases.len() {
                    error("a case stands twice".to_owned());
                }
            }
            Terminator::Return(values) => {
                let types: Vec<Type> = values.iter().map(|&v| function.ty(v)).collect();
                if types != function.return_types {
                    error(format!(
                        "returns {types:?}, not {:?}",
                        function.return_types
                    ));
                }
            }
            Terminator::Jump(_) | Terminator::Unreachable => {}
        }
    }

    /// Types that the stage has no more.
    fn stage_type(&mut self, value: Value, place: &str) {
        let ty = self.function.ty(value);
        if self.stage >= Stage::PointersLowered && ty.is_pointer() {
            self.errors
                .push(format!("{place}: {value} is still a pointer"));
        }
    }

    fn instruction(&mut self, block: Block, inst: Inst) {
        let function = self.function;
        let data = function.inst(inst);
        let place = format!("{block}: {}", data.op);
        let operands = data.op.operands();
        if let Some(bad) = operands
            .iter()
            .find(|v| v.index() >= function.value_count())
        {
            self.errors.push(format!("{place}: {bad} does not exist"));
            return;
        }
        for (index, &result) in data.results.iter().enumerate() {
            let index = index as u32;
            if function.value(result).def != (ValueDef::Result { inst, index }) {
                self.errors
                    .push(format!("{place}: {result} is not its result"));
            }
            self.stage_type(result, &place);
        }
        let results: Vec<Type> = data.results.iter().map(|&v| function.ty(v)).collect();
        let operands: Vec<Type> = operands.iter().map(|&v| function.ty(v)).collect();
        if !self.types_fit(&data.op, &operands, &results) {
            let error = format!("{place}: operands {operands:?}, results {results:?}");
            self.errors.push(error);
        }
        if let Some(reason) = self.forbidden(&data.op) {
            self.errors.push(format!("{place}: {reason}"));
        }
    }

    /// Whether the types of operands and results are those of the operation.
    fn types_fit(&self, op: &Op, operands: &[Type], results: &[Type]) -> bool {
        let int = Type::is_int;
        let float = Type::is_float;
        match op {
            Op::Const(bits) => matches!(results, [ty] if *bits <= ty.mask()),
            Op::Undef => results.len() == 1,
            Op::Unary(op, _) => match (op, operands, results) {
                (Unary::Negate | Unary::BitCount | Unary::BitReverse, [a], [r]) => {
                    int(*a) && a == r
                }
                (Unary::Not, [a], [r]) => (int(*a) || *a == Type::Bool) && a == r,
                (Unary::FNegate, [a], [r]) => float(*a) && a == r,
                (_, [a], [Type::Bool]) => float(*a),
                _ => false,
            },
            Op::Binary(op, ..) => match (operands, results) {
                ([a, b], [r]) if op.is_shift() => int(*a) && int(*b) && a == r,
                ([a, b], [r]) if op.is_float() => float(*a) && a == b && a == r,
                ([a, b], [r]) => {
                    let logic = matches!(op, Binary::And | Binary::Or | Binary::Xor);
                    (int(*a) || (logic && *a == Type::Bool)) && a == b && a == r
                }
                _ => false,
            },
            Op::Compare(op, ..) => match (op, operands, results) {
                (Compare::Equal | Compare::NotEqual, [a, b], [Type::Bool]) => a == b && !float(*a),
                (
                    Compare::ULess | Compare::ULessEqual | Compare::SLess | Compare::SLessEqual,
                    [a, b],
                    [Type::Bool],
                ) => a == b && (int(*a) || a.is_pointer()),
                (_, [a, b], [Type::Bool]) => a == b && float(*a),
                _ => false,
            },
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
                    && matches!(results, [Type::Ptr(super::ir::AddressSpace::Private)])
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
            } => {
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
            Op::ControlBarrier { .. } | Op::MemoryBarrier { .. } => results.is_empty(),
            Op::Group(group, _) => match group.op {
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
                        && operands.iter().skip(results.len()).all(|&ty| int(ty))
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
            },
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
            Op::Pipe(pipe, _) => {
                let Some((Type::Ptr(super::ir::AddressSpace::Global), rest)) =
                    operands.split_first()
                else {
                    return false;
                };
                match pipe.op {
                    PipeOp::Transfer => matches!(rest, [Type::Ptr(_)]) && results == [Type::I32],
                    PipeOp::TransferReserved => {
                        matches!(rest, [Type::I64, Type::I32, Type::Ptr(_)])
                            && results == [Type::I32]
                    }
                    PipeOp::Reserve => rest == [Type::I32] && results == [Type::I64],
                    PipeOp::Commit => rest == [Type::I64] && results.is_empty(),
                    PipeOp::NumPackets | PipeOp::MaxPackets => {
                        rest.is_empty() && results == [Type::I32]
                    }
                }
            }
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

    /// Why the stage has no such operation, if so.
    fn forbidden(&self, op: &Op) -> Option<&'static str> {
        let after = |stage| self.stage >= stage;
        match op {
            Op::OpenClStd(..) if after(Stage::BuiltinsLowered) => Some("built-ins are lowered"),
            Op::Image(..) if after(Stage::ImagesLowered) => Some("images are lowered"),
            Op::Pipe(..) if after(Stage::WorkItemsLowered) => Some("pipes are lowered"),
            Op::WorkItem(_) if after(Stage::WorkItemsLowered) => Some("queries are lowered"),
            Op::Printf { .. } if after(Stage::ArgumentsLowered) => Some("printf is lowered"),
            Op::Implicit(Implicit::DataSegment | Implicit::PrintfBuffer)
                if !after(Stage::PointersLowered) =>
            {
                None
            }
            Op::Implicit(_) if after(Stage::ArgumentsLowered) => Some("arguments are lowered"),
            Op::PtrAdd(..) | Op::VariableAddress(_) | Op::GlobalAddress(_) | Op::Copy { .. }
                if after(Stage::PointersLowered) =>
            {
                Some("pointers are lowered")
            }
            Op::Load(place, _) | Op::Store(place, ..) | Op::Atomic { place, .. } => match place {
                Place::Pointer(_) if after(Stage::PointersLowered) => Some("pointers are lowered"),
                _ => None,
            },
            Op::Convert(
                Convert::PtrToInt
                | Convert::IntToPtr
                | Convert::AddressSpaceCast
                | Convert::AddressSpaceCastExplicit,
                _,
            ) if after(Stage::PointersLowered) => Some("pointers are lowered"),
            _ => None,
        }
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
