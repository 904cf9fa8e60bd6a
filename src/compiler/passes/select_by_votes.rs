//! Selects numbers by votes, where a driver computes a selection again after its condition is gone.
//!
//! **Why.** NVIDIA's compiler (seen in 580.159.04) makes `SEL` of `c ? 1 : 0`. Where the number lives long, and its arms can be
//! had again at any place (constants, arguments, ids, and what is computed of such alone), it computes the number where that is
//! used instead of keeping it in a register. Of the operands it keeps the two arms, and not the predicate, which holds another
//! condition by then, or the carry of a sum: `int v = x == y;` is wrong behind an insertion sort.
//!
//! **How.** A ballot has the condition of each work-item of a sub-group in a bit, and is no operation that a compiler makes
//! again elsewhere. The number is computed of the work-item's own bit, without a predicate.
//!
//! **Needs** what the driver is given, but for structured control flow. Does nothing unless the device asks for it
//! ([`Defects::LOSES_CONDITIONS`]).

use crate::compiler::ir::{
    Binary, Block, Builder, BuiltIn, Function, Group, GroupOp, InstFlags, Module, Op, Place,
    Rewrite, Scope, Terminator, Type, Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;
use std::collections::{HashMap, HashSet};

/// How many instructions behind its condition a number is used at once: it stays a selection, which is what loops count and
/// compare with.
const NEAR: usize = 24;

/// How far what a value is computed of is followed.
const DEPTH: u32 = 8;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let capabilities = cx.capabilities;
    if capabilities.has(Defects::LOSES_CONDITIONS) && capabilities.subgroup.ballot {
        for function in &mut module.functions {
            vote(function)?;
        }
    }
    Ok(())
}

fn vote(function: &mut Function) -> Result<(), CompileError> {
    let lasting = Selections::of(function).lasting(function);
    if lasting.is_empty() {
        return Ok(());
    }
    let conditions: HashSet<Value> = lasting
        .iter()
        .filter_map(|&it| Some(selection(function, it)?.0))
        .collect();
    let mut bits = HashMap::new();
    // Where a condition is known, and not where it is used: it must not live long either.
    rewrite_instructions(function, |b, inst| {
        let data = b.function.inst(inst);
        let &[condition] = data.results.as_slice() else {
            return Ok::<_, CompileError>(Rewrite::Keep);
        };
        if !conditions.contains(&condition) {
            return Ok(Rewrite::Keep);
        }
        let op = data.op.clone();
        let condition = b.op1(op, Type::Bool);
        b.flags = InstFlags::default();
        bits.insert(condition, own_bit(b, condition));
        Ok(Rewrite::Replace(smallvec![condition]))
    })?;
    rewrite_instructions(function, |b, inst| {
        let &[result] = b.function.inst(inst).results.as_slice() else {
            return Ok::<_, CompileError>(Rewrite::Keep);
        };
        let (true, Some((condition, one, other))) =
            (lasting.contains(&result), selection(b.function, result))
        else {
            return Ok(Rewrite::Keep);
        };
        b.flags = InstFlags::default();
        let bit = match bits.get(&condition) {
            Some(&bit) => bit,
            // It is a parameter of its block.
            None => own_bit(b, condition),
        };
        Ok(Rewrite::Replace(smallvec![chosen(b, bit, one, other)]))
    })?;
    Ok(())
}

/// The condition of a selection, and what is selected of.
fn selection(function: &Function, value: Value) -> Option<(Value, Value, Value)> {
    match function.op_of(value) {
        Some(&Op::Select(condition, one, other)) => Some((condition, one, other)),
        _ => None,
    }
}

/// 1 where the condition holds for this work-item, 0 where not. Sub-groups have 32 work-items at most.
fn own_bit(b: &mut Builder<'_>, condition: Value) -> Value {
    let ballot = Group {
        op: GroupOp::Ballot,
        scope: Scope::Subgroup,
    };
    let votes = b.op(Op::Group(ballot, smallvec![condition]), [Type::I32; 4]);
    let own = b.op1(Op::BuiltIn(BuiltIn::SubgroupLocalInvocationId), Type::I32);
    let bit = b.binary(Binary::LShr, votes[0], own);
    b.binary_const(Binary::And, bit, 1)
}

/// The first of two numbers if the bit is set, and else the other.
fn chosen(b: &mut Builder<'_>, bit: Value, one: Value, other: Value) -> Value {
    let ty = b.ty(one);
    let int = ty.as_int().unwrap_or(ty);
    let constants = (b.function.constant(one), b.function.constant(other));
    if ty.is_int() && constants == (Some(1), Some(0)) {
        return b.resize_int(bit, int, false);
    }
    let zero = b.i32(0);
    let mask = b.binary(Binary::Sub, zero, bit);
    let mask = b.resize_int(mask, int, true);
    let (one, other) = (b.bitcast(one, int), b.bitcast(other, int));
    let difference = b.binary(Binary::Xor, one, other);
    let difference = b.binary(Binary::And, difference, mask);
    let number = b.binary(Binary::Xor, other, difference);
    b.bitcast(number, ty)
}

/// Whether an operation is computed of constants and specialization constants alone.
fn is_settled(op: &Op, settled: &HashSet<Value>) -> bool {
    match op {
        Op::Const(_) | Op::SpecConst { .. } => true,
        Op::Unary(..) | Op::Binary(..) | Op::Convert(..) | Op::Compare(..) => {
            op.operands().iter().all(|it| settled.contains(it))
        }
        _ => false,
    }
}

/// The selections of which a function's driver may compute the result again.
struct Selections {
    /// The block of each one's condition, and the place in it.
    places: HashMap<Value, (Block, usize)>,
    /// What can be had again at any place, these among it.
    repeatable: HashSet<Value>,
}

impl Selections {
    fn of(function: &Function) -> Self {
        let mut this = Self {
            places: HashMap::new(),
            repeatable: HashSet::new(),
        };
        let mut conditions = HashMap::new();
        // What is known when the pipeline is made: nothing is selected by it then.
        let mut settled = HashSet::new();
        for block in function.reverse_postorder() {
            for (at, &inst) in function.block(block).insts.iter().enumerate() {
                let data = function.inst(inst);
                let &[result] = data.results.as_slice() else {
                    continue;
                };
                if is_settled(&data.op, &settled) {
                    settled.insert(result);
                }
                let ty = function.ty(result);
                if ty == Type::Bool {
                    conditions.insert(result, (block, at));
                }
                if !this.is_repeatable(&data.op) {
                    continue;
                }
                this.repeatable.insert(result);
                if let Op::Select(condition, ..) = data.op
                    && (ty.is_int() || ty.is_float())
                    && !settled.contains(&condition)
                {
                    let place = conditions.get(&condition).copied();
                    this.places.insert(result, place.unwrap_or((block, at)));
                }
            }
        }
        this
    }

    /// Whether an operation reads nothing but what can be had again. A selection is one whatever its condition: that is what the
    /// driver overlooks.
    fn is_repeatable(&self, op: &Op) -> bool {
        match op {
            Op::Const(_)
            | Op::SpecConst { .. }
            | Op::BuiltIn(_)
            | Op::Load(Place::Argument { .. }, _) => true,
            Op::Select(_, one, other) => [one, other].iter().all(|it| self.repeatable.contains(it)),
            Op::Unary(..) | Op::Binary(..) | Op::Convert(..) | Op::Compare(..) => {
                op.operands().iter().all(|it| self.repeatable.contains(it))
            }
            _ => false,
        }
    }

    /// Those whose results are used in another block, or far behind, or handed to another function, as they are or in what is
    /// computed of them alone.
    fn lasting(&self, function: &Function) -> HashSet<Value> {
        let mut lasting = HashSet::new();
        if self.places.is_empty() {
            return lasting;
        }
        for &block in &function.layout {
            let data = function.block(block);
            for (at, &inst) in data.insts.iter().enumerate() {
                let inst = function.inst(inst);
                // What it is computed for is followed from there.
                if inst.results.iter().any(|it| self.repeatable.contains(it)) {
                    continue;
                }
                let is_handed_over = matches!(inst.op, Op::Call(..));
                let used_at = (!is_handed_over).then_some((block, at));
                for value in inst.op.operands() {
                    self.follow(function, value, used_at, DEPTH, &mut lasting);
                }
            }
            let end = (block, data.insts.len());
            let used_at = (!matches!(data.terminator, Terminator::Return(_))).then_some(end);
            for value in data.terminator.read() {
                self.follow(function, value, used_at, DEPTH, &mut lasting);
            }
            for edge in data.terminator.edges() {
                for &value in &edge.args {
                    self.follow(function, value, None, DEPTH, &mut lasting);
                }
            }
        }
        lasting
    }

    /// Adds the selections of which a value is computed, if they are not near its use; none is near where that is `None`.
    fn follow(
        &self,
        function: &Function,
        value: Value,
        used_at: Option<(Block, usize)>,
        depth: u32,
        lasting: &mut HashSet<Value>,
    ) {
        if !self.repeatable.contains(&value) {
            return;
        }
        if let Some(&(block, at)) = self.places.get(&value) {
            let is_near = used_at
                .is_some_and(|(used_in, used)| used_in == block && used.saturating_sub(at) <= NEAR);
            if !is_near {
                lasting.insert(value);
            }
        }
        let Some(op) = function.op_of(value) else {
            return;
        };
        if depth > 0 {
            for operand in op.operands() {
                self.follow(function, operand, used_at, depth - 1, lasting);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::compiler::Capabilities;
    use crate::compiler::testing::count_of;
    use rspirv::spirv::Op;

    /// `OpGroupNonUniformBallot` in what a kernel becomes on a device.
    fn votes(source: &str, device: &Capabilities) -> usize {
        let source =
            format!("kernel void k(global int *p, global float *f, int n, float x) {{ {source} }}");
        count_of(Op::GroupNonUniformBallot, &source, device)
    }

    const SORT: &str = "for (int i = 1; i < 8; ++i) {
        int one = p[i], j = i;
        for (; j > 0 && p[j - 1] > one; --j) p[j] = p[j - 1];
        p[j] = one;
    }";

    #[test]
    fn numbers_of_conditions_that_live_over_a_loop_are_of_votes() {
        for (before, behind) in [
            ("int v = p[9] == p[10]; p[8] = v;", "p[11] = v;"),
            ("int v = p[9] ? n : 7; p[8] = v;", "p[11] = v;"),
            ("long v = p[9] < p[10]; p[8] = v;", "p[11] = v + 3;"),
            ("float v = p[9] < p[10] ? 2.0f : x; f[8] = v;", "f[0] = v;"),
            // Computed of one.
            ("int v = (p[9] == p[10]) * 4 + n; p[8] = v;", "p[11] = v;"),
        ] {
            let source = format!("{before} {SORT} {behind}");
            assert_eq!(votes(&source, &Capabilities::nvidia()), 1, "{source}");
            assert_eq!(votes(&source, &Capabilities::full()), 0, "{source}");
        }
    }

    #[test]
    fn a_condition_of_several_numbers_is_voted_on_once() {
        let source = format!(
            "int c = p[9] == p[10], v = c ? 5 : n; float w = c ? x : 1.0f; p[8] = v; f[8] = w; {SORT} p[11] = v; f[0] = w;"
        );
        assert_eq!(votes(&source, &Capabilities::nvidia()), 1);
    }

    #[test]
    fn what_is_used_at_once_stays_a_selection() {
        for source in [
            "p[2] = p[0] == p[1];",
            "int many = 0; for (int i = 0; i < n; ++i) many += p[i] == p[0]; p[1] = many;",
            // No arm can be had again.
            "int v = p[0] ? p[1] : p[2]; for (int i = 0; i < n; ++i) p[i] += i; p[n] = v;",
            // Nothing is selected.
            "p[get_global_id(0)] = n;",
        ] {
            assert_eq!(votes(source, &Capabilities::nvidia()), 0, "{source}");
        }
    }
}
