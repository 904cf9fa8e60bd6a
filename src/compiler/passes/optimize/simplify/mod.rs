//! Makes code smaller without changing what it does.
//!
//! Needs nothing; keeps everything that stages promise. Repeats a few times, each a linear walk:
//! 1. A sweep over the instructions: every pure one is folded (`fold.rs`), rewritten by identities (`identities.rs`,
//!    `comparisons.rs`, `bits.rs`, `high_half.rs`), and replaced by an equal one that dominates it.
//! 2. `flow.rs`: decided branches, empty blocks, chains of blocks, parameters with one value.
//! 3. `dead.rs`: what has no effect goes, parameters of loops included.
//! 4. `narrow.rs`: parameters of which only the lower half is used.
//!
//! Floats are folded only where IEEE 754 gives one answer, and reassociated never. Control flow is never
//! changed around barriers or collective operations: blocks with instructions are neither duplicated nor
//! moved, and a branch goes only when it is decided or its sides are empty.

mod bits;
mod comparisons;
mod dead;
mod flow;
pub(in crate::compiler) mod fold;
mod high_half;
mod identities;
mod memory;
mod narrow;

use crate::compiler::analysis::{Dominators, KnownBits};
use crate::compiler::ir::{
    Block, Function, Global, Inst, InstFlags, Module, Op, Place, Type, Value, Values,
};
use crate::compiler::{CompileError, Context};
use foldhash::fast::RandomState;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// How often the walks are repeated at most: more iterations find less each.
const ITERATIONS: usize = 6;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let local_sizes = module.most_local_sizes();
    for function in &mut module.functions {
        simplify(function, &module.globals, local_sizes);
    }
    Ok(())
}

/// Removes what nothing depends on.
pub(in crate::compiler) fn remove_dead(function: &mut Function) {
    dead::run(function);
}

fn simplify(function: &mut Function, globals: &[Global], local_sizes: [u32; 3]) {
    for _ in 0..ITERATIONS {
        function.sort_layout();
        let before = function.edits();
        sweep(function, globals, local_sizes);
        flow::run(function);
        dead::run(function);
        narrow::run(function);
        if function.edits() == before {
            break;
        }
    }
    function.sort_layout();
}

/// How deep one rewriting may lead to others.
const DEPTH: u32 = 12;

/// One walk over the instructions: folds, rewrites and shares them. The layout is in reverse postorder without unreachable blocks.
fn sweep(function: &mut Function, globals: &[Global], local_sizes: [u32; 3]) {
    let dominators = function.analysis::<Dominators>();
    let blocks = function.layout().iter();
    let insts = blocks.map(|&block| function.block(block).insts.len()).sum();
    let mut sweep = Sweep {
        block: function.entry(),
        replacements: vec![None; function.value_count()],
        function,
        globals,
        local_sizes,
        dominators,
        table: HashMap::with_capacity_and_hasher(insts, RandomState::default()),
        insts: Vec::new(),
        depth: 0,
    };
    for block in sweep.function.layout().to_vec() {
        sweep.visit_block(block);
    }
}

/// The state of a sweep.
struct Sweep<'a> {
    function: &'a mut Function,
    globals: &'a [Global],
    /// `Module::most_local_sizes`
    local_sizes: [u32; 3],
    dominators: Arc<Dominators>,
    /// By value.
    replacements: Vec<Option<Value>>,
    /// Results of the operations seen, and where.
    table: HashMap<Key, (Block, Values), RandomState>,
    block: Block,
    /// Instructions of the current block so far.
    insts: Vec<Inst>,
    depth: u32,
}

/// An operation on values, to be compared.
struct Key {
    op: Op,
    types: Types,
    flags: InstFlags,
}

type Types = smallvec::SmallVec<[Type; 4]>;

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.op == other.op && self.types == other.types && self.flags == other.flags
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(&self.op).hash(state);
        self.types.hash(state);
        match &self.op {
            Op::Const(bits) => bits.hash(state),
            Op::Unary(op, _) => op.hash(state),
            Op::Binary(op, ..) => op.hash(state),
            Op::Compare(op, ..) => op.hash(state),
            Op::Convert(op, _) => op.hash(state),
            Op::Glsl(number, _) => number.hash(state),
            Op::VariableAddress(variable) => variable.hash(state),
            Op::GlobalAddress(global) => global.hash(state),
            Op::WorkItem(query) => query.hash(state),
            Op::Implicit(implicit) => implicit.hash(state),
            Op::BuiltIn(input) => input.hash(state),
            Op::SpecConst { id, .. } => id.hash(state),
            Op::Load(Place::Argument { offset_bytes }, _) => offset_bytes.hash(state),
            _ => {}
        }
        self.op.operands().hash(state);
    }
}

impl Sweep<'_> {
    fn visit_block(&mut self, block: Block) {
        self.block = block;
        let insts = self.function.block(block).insts.clone();
        self.insts = Vec::with_capacity(insts.len());
        for inst in insts {
            self.visit(inst);
        }
        let mut terminator = self.function.block(block).terminator.clone();
        terminator.for_each_operand_mut(|value| *value = self.resolve(*value));
        self.function.set_terminator(block, terminator);
        self.function
            .set_insts(block, std::mem::take(&mut self.insts));
    }

    fn visit(&mut self, inst: Inst) {
        let mut op = self.function.inst(inst).op.clone();
        op.for_each_operand_mut(|value| *value = self.resolve(*value));
        self.canonicalize(&mut op);
        let data = self.function.inst(inst);
        // Equal operations should look equal.
        let (flags, results) = (meaningful(&op, data.flags), data.results.clone());
        let types: Types = results.iter().map(|&v| self.function.ty(v)).collect();

        let known = match results.as_slice() {
            [_] if op.is_pure() => self
                .simplified(&op, types[0])
                .map(|value| Values::from_iter([value])),
            _ => memory::constant_load(self, &op, &types),
        };
        if let Some(values) = known {
            self.replace(&results, &values);
            return;
        }
        if is_shareable(&op) {
            let key = Key {
                op: op.clone(),
                types,
                flags,
            };
            if let Some(values) = self.lookup(&key) {
                self.replace(&results, &values);
                return;
            }
            self.table.insert(key, (self.block, results));
        }
        self.function.set_op(inst, op, flags);
        self.insts.push(inst);
    }

    fn replace(&mut self, results: &[Value], values: &[Value]) {
        for (&result, &value) in results.iter().zip(values) {
            let index = result.index();
            if self.replacements.len() <= index {
                self.replacements.resize(index + 1, None);
            }
            self.replacements[index] = Some(value);
        }
    }

    fn resolve(&self, mut value: Value) -> Value {
        while let Some(&Some(new)) = self.replacements.get(value.index()) {
            value = new;
        }
        value
    }

    fn lookup(&self, key: &Key) -> Option<Values> {
        let (block, values) = self.table.get(key)?;
        self.dominators
            .dominates(*block, self.block)
            .then(|| values.clone())
    }

    /// Constants go second, other operands of commutative operations in order.
    fn canonicalize(&self, op: &mut Op) {
        let is_constant = |value: Value| self.function.constant(value).is_some();
        if let Op::Binary(operation, a, b) = op
            && operation.is_commutative()
        {
            let swap = match (is_constant(*a), is_constant(*b)) {
                (false, false) => a > b,
                (first, second) => first && !second,
            };
            if swap {
                std::mem::swap(a, b);
            }
        }
    }

    fn simplified(&mut self, op: &Op, ty: Type) -> Option<Value> {
        if let Some(bits) = self.folded(op, ty) {
            return match op {
                Op::Const(_) => None,
                _ => Some(self.constant(ty, bits)),
            };
        }
        if self.depth >= DEPTH {
            return None;
        }
        self.depth += 1;
        let value = match *op {
            Op::Compare(op, a, b) => comparisons::simplify(self, op, a, b),
            _ => identities::simplify(self, op, ty),
        };
        self.depth -= 1;
        value
    }

    /// The operation's value if its operands are constants.
    fn folded(&self, op: &Op, ty: Type) -> Option<u64> {
        let constant = |value: Value| self.function.constant(value);
        let type_of = |value: Value| self.function.ty(value);
        match *op {
            Op::Unary(op, a) => fold::unary(op, type_of(a), constant(a)?),
            Op::Binary(op, a, b) => fold::binary(op, type_of(a), constant(a)?, constant(b)?),
            Op::Compare(op, a, b) => {
                fold::compare(op, type_of(a), constant(a)?, constant(b)?).map(u64::from)
            }
            Op::Convert(op, a) => fold::convert(op, type_of(a), ty, constant(a)?),
            Op::Glsl(number, ref operands) => match operands.as_slice() {
                &[a] => fold::rounded(number, type_of(a), constant(a)?),
                _ => None,
            },
            _ => None,
        }
    }

    // What `identities` and `comparisons` build with.

    /// An operation with one result: simplified, shared, or new.
    fn make(&mut self, mut op: Op, ty: Type, flags: InstFlags) -> Value {
        self.canonicalize(&mut op);
        if let Some(value) = self.simplified(&op, ty) {
            return value;
        }
        let key = Key {
            op: op.clone(),
            types: Types::from_iter([ty]),
            flags,
        };
        if let Some(values) = self.lookup(&key) {
            return values[0];
        }
        let inst = self.function.make_inst(op, [ty], flags);
        self.insts.push(inst);
        let results = self.function.inst(inst).results.clone();
        let value = results[0];
        self.table.insert(key, (self.block, results));
        value
    }

    fn constant(&mut self, ty: Type, bits: u64) -> Value {
        self.make(Op::Const(bits & ty.mask()), ty, InstFlags::default())
    }

    fn known(&self, value: Value) -> KnownBits {
        KnownBits::of(self.function, self.local_sizes, value)
    }

    fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }
}

/// The flags that say something about an operation.
fn meaningful(op: &Op, flags: InstFlags) -> InstFlags {
    let is_float = match op {
        Op::Binary(op, ..) => op.is_float(),
        Op::Fma(..) | Op::Glsl(..) => true,
        _ => false,
    };
    InstFlags {
        no_contraction: flags.no_contraction && is_float,
        fast_math: flags.fast_math && is_float,
        ..InstFlags::default()
    }
}

/// Whether two equal operations have equal results.
fn is_shareable(op: &Op) -> bool {
    match op {
        // Two undefined values are shared too: what they are is up to us.
        Op::Load(_, access) => access.read_only && !access.volatile,
        op => op.is_pure(),
    }
}

#[cfg(test)]
mod tests;
