//! What a function does with its pointers.

use crate::compiler::ir::{AtomicOp, Convert, FuncId, Function, Inst, Module, Op, Place, Value};
use std::collections::{HashMap, HashSet};

/// Where the values of one function are used.
pub struct Uses {
    insts: HashMap<Value, Vec<Inst>>,
    /// Block parameters that get the value from an edge.
    params: HashMap<Value, Vec<Value>>,
    /// Conditions and returned values.
    ends: HashSet<Value>,
}

impl Uses {
    pub fn of(function: &Function) -> Self {
        let mut uses = Self {
            insts: HashMap::new(),
            params: HashMap::new(),
            ends: HashSet::new(),
        };
        for &block in function.layout() {
            let data = function.block(block);
            for &inst in &data.insts {
                for value in function.inst(inst).op.operands() {
                    uses.insts.entry(value).or_default().push(inst);
                }
            }
            let mut left = data.terminator.operands().len();
            for edge in data.terminator.edges() {
                left -= edge.args.len();
                let params = &function.block(edge.block).params;
                for (&arg, &param) in edge.args.iter().zip(params) {
                    uses.params.entry(arg).or_default().push(param);
                }
            }
            uses.ends
                .extend(data.terminator.operands().into_iter().take(left));
        }
        uses
    }

    pub fn is_used(&self, value: Value) -> bool {
        self.insts.contains_key(&value)
            || self.params.contains_key(&value)
            || self.ends.contains(&value)
    }

    /// Instructions that read a value.
    pub fn insts(&self, value: Value) -> &[Inst] {
        self.insts.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Whether a value is an edge's argument, a condition or returned.
    pub fn is_used_by_control_flow(&self, value: Value) -> bool {
        self.params.contains_key(&value) || self.ends.contains(&value)
    }
}

/// Whether memory is read and written through a pointer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    pub read: bool,
    pub written: bool,
}

impl Effects {
    const ANY: Self = Self {
        read: true,
        written: true,
    };

    fn add(&mut self, other: Self) {
        self.read |= other.read;
        self.written |= other.written;
    }
}

/// Follows `pointer`, a value of `function`, to every access. Whatever hides it (stored, converted to an
/// integer, returned) counts as read and written.
pub fn effects(module: &Module, uses: &[Uses], function: FuncId, pointer: Value) -> Effects {
    let mut effects = Effects::default();
    let mut seen = HashSet::from([(function, pointer)]);
    let mut work = vec![(function, pointer)];
    while let Some((id, value)) = work.pop() {
        let (function, uses) = (module.function(id), &uses[id.index()]);
        let mut follow = |id: FuncId, value: Value| {
            if seen.insert((id, value)) {
                work.push((id, value));
            }
        };
        if uses.ends.contains(&value) {
            effects.add(Effects::ANY);
        }
        for &param in uses.params.get(&value).into_iter().flatten() {
            follow(id, param);
        }
        for &inst in uses.insts(value) {
            let data = function.inst(inst);
            let (mut read, mut written) = (false, false);
            match &data.op {
                Op::PtrAdd(..)
                | Op::Select(..)
                | Op::Convert(Convert::AddressSpaceCast | Convert::AddressSpaceCastExplicit, _) => {
                    follow(id, data.results[0])
                }
                Op::Compare(..) | Op::Printf { .. } => {}
                Op::Load(..) => read = true,
                Op::Store(place, values, _) => {
                    written = true;
                    read = values.contains(&value) || !is_at(place, value);
                }
                Op::Atomic {
                    op, place, values, ..
                } => {
                    let escapes = values.contains(&value) || !is_at(place, value);
                    read = escapes || !matches!(op, AtomicOp::Store | AtomicOp::FlagClear);
                    written = escapes || *op != AtomicOp::Load;
                }
                Op::Copy { to, from, .. } => {
                    read = *from == value;
                    written = *to == value;
                }
                Op::Call(callee, args) => {
                    let params = module.function(*callee).params();
                    for (&arg, &param) in args.iter().zip(params) {
                        if arg == value {
                            follow(*callee, param);
                        }
                    }
                }
                _ => (read, written) = (true, true),
            }
            effects.add(Effects { read, written });
        }
    }
    effects
}

fn is_at(place: &Place, value: Value) -> bool {
    matches!(place, Place::Pointer(pointer) if *pointer == value)
}

/// Whether the module's functions reach device memory by other ways than their arguments: pointers loaded
/// from memory or made from integers, and program-scope variables that can be written.
pub fn follows_pointers(module: &Module) -> bool {
    let may_be_device = |function: &Function, value: Value| {
        function.space(value).is_some_and(|space| {
            use crate::compiler::ir::AddressSpace::*;
            matches!(space, Global | Constant | Generic)
        })
    };
    module.functions.iter().any(|function| {
        let insts = function
            .layout()
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        insts
            .map(|&inst| function.inst(inst))
            .any(|data| match &data.op {
                Op::Load(..) | Op::Convert(Convert::IntToPtr, _) => {
                    data.results.iter().any(|&v| may_be_device(function, v))
                }
                Op::GlobalAddress(global) => {
                    module.global(*global).space == crate::compiler::ir::AddressSpace::Global
                }
                _ => false,
            })
    })
}
