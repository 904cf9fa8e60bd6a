//! Hides what numbers are selected of, where a driver computes a selection again after its condition is gone.
//!
//! **Why.** NVIDIA's compiler (seen in 580.159.04) makes `SEL` of `c ? 1 : 0`. Where the number lives long, and its arms can be
//! had again at any place (constants, arguments, ids, and what is computed of such alone), it computes the number where that is
//! used instead of keeping it in a register. Of the operands it keeps the two arms, and not the predicate, which holds another
//! condition by then, or the carry of a sum: `int v = x == y;` is wrong behind an insertion sort.
//!
//! **How.** One arm is combined with a zero that can't be had again: what the work-items of a sub-group say where the kernel
//! begins, all of them no. A ballot is no operation that a compiler makes again elsewhere. It stands where no work-item has gone
//! a way of its own: in a loop that they leave one after the other, the same driver follows who is still there, at some twenty
//! instructions an iteration, and some kernels that leave such a loop are no longer together in a barrier behind it.
//!
//! **Needs** what the driver is given, but for structured control flow. Does nothing unless the device asks for it
//! ([`Defects::LOSES_CONDITIONS`]).

use crate::compiler::ir::{
    Access, Array, ArrayId, ArrayLength, ArrayStorage, Binary, Block, Builder, BuiltIn, Compare,
    Function, Group, GroupOp, InstFlags, Module, Op, Place, Rewrite, Scope, Terminator, Type,
    Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;
use std::collections::{HashMap, HashSet};
use std::mem;

/// How many instructions behind its condition a number is used at once: it stays a selection, which is what loops count and
/// compare with.
const NEAR: usize = 24;

/// How far what a value is computed of is followed.
const DEPTH: u32 = 8;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let capabilities = cx.capabilities;
    if !capabilities.has(Defects::LOSES_CONDITIONS) || !capabilities.subgroup.ballot {
        return Ok(());
    }
    let lasting: Vec<_> = module
        .functions
        .iter()
        .map(|function| Selections::of(function).lasting(function))
        .collect();
    let Some(kernel) = module.kernels.first().map(|kernel| kernel.function) else {
        return Ok(());
    };
    let is_kernel = |at: usize| at == kernel.index();
    let is_needed = |at: usize| !lasting[at].is_empty();
    let shared = (0..lasting.len())
        .any(|at| is_needed(at) && !is_kernel(at))
        .then(|| module.add_array(word_of_each()));
    for (at, lasting) in lasting.iter().enumerate() {
        let function = &mut module.functions[at];
        let zero = match shared {
            _ if is_kernel(at) && (shared.is_some() || !lasting.is_empty()) => {
                at_entry(function, |b| voted_zero(b, shared))
            }
            Some(shared) if !lasting.is_empty() => at_entry(function, |b| kept_zero(b, shared)),
            _ => continue,
        };
        hide(function, lasting, zero)?;
    }
    Ok(())
}

/// A word in which functions find the zero that their kernel has computed.
fn word_of_each() -> Array {
    Array {
        name: "zero".into(),
        storage: ArrayStorage::Private,
        element: Type::I32,
        length: ArrayLength {
            elements: 1,
            spec_ids: Vec::new(),
        },
    }
}

/// What is built in front of all else in a function.
fn at_entry(function: &mut Function, build: impl FnOnce(&mut Builder<'_>) -> Value) -> Value {
    let entry = function.entry();
    let behind = mem::take(&mut function.block_mut(entry).insts);
    let value = build(&mut Builder::new(function, entry));
    function.block_mut(entry).insts.extend(behind);
    value
}

/// The work-items that say that there is no work-group: none. Functions find the same number in the array.
fn voted_zero(b: &mut Builder<'_>, shared: Option<ArrayId>) -> Value {
    let groups = b.op1(Op::BuiltIn(BuiltIn::NumWorkgroups(0)), Type::I32);
    let none = b.i32(0);
    let never = b.compare(Compare::Equal, groups, none);
    let ballot = Group {
        op: GroupOp::Ballot,
        scope: Scope::Subgroup,
    };
    let zero = b.op(Op::Group(ballot, smallvec![never]), [Type::I32; 4])[0];
    if let Some(array) = shared {
        let place = Place::Element { array, index: none };
        b.store1(place, zero, Access::aligned(4));
    }
    zero
}

/// The number that the kernel has left in the array.
fn kept_zero(b: &mut Builder<'_>, array: ArrayId) -> Value {
    let index = b.i32(0);
    b.load1(
        Place::Element { array, index },
        Type::I32,
        Access::aligned(4),
    )
}

/// Hides the first arm of the selections.
fn hide(
    function: &mut Function,
    lasting: &HashSet<Value>,
    zero: Value,
) -> Result<(), CompileError> {
    rewrite_instructions(function, |b, inst| {
        let &[result] = b.function.inst(inst).results.as_slice() else {
            return Ok::<_, CompileError>(Rewrite::Keep);
        };
        let (true, Some(&Op::Select(condition, one, other))) =
            (lasting.contains(&result), b.function.op_of(result))
        else {
            return Ok(Rewrite::Keep);
        };
        b.flags = InstFlags::default();
        let ty = b.ty(one);
        let int = ty.as_int().unwrap_or(ty);
        let (one, zero) = (b.bitcast(one, int), b.resize_int(zero, int, false));
        let one = b.binary(Binary::Xor, one, zero);
        let one = b.bitcast(one, ty);
        Ok(Rewrite::Replace(smallvec![b.select(condition, one, other)]))
    })?;
    Ok(())
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
        for &block in function.layout() {
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
    fn numbers_of_conditions_that_live_over_a_loop_are_hidden() {
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
    fn several_numbers_share_a_zero() {
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
