//! Finds `local` arrays that hold nothing but copies of constants.
//!
//! Hashes for GPUs have each work-group copy their tables to `local` memory first, an element by each work-item, and look up
//! there. Where all stores to an array put the byte of a constant variable that has the same number to its place (or one always
//! so much higher), every load finds that byte, or one that nobody has written, which may be any. So the variable can be read
//! instead, wherever the stores are and whoever waits for them, and the stores can go.

use super::low_words::LowWords;
use super::{Offset, Pointer, Starts};
use crate::compiler::ir::{
    AddressSpace, Function, GlobalId, Module, Op, Place, Value, ValueDef, Values,
};
use std::collections::{HashMap, HashSet};

/// The arrays, and where in the segment, of which the uniform buffer has `size_bytes`, what they are copies of starts.
pub fn find(module: &Module, variables: &Starts, size_bytes: u64) -> Starts {
    let mut search = Search {
        variables,
        found: Starts::new(),
        others: HashSet::new(),
    };
    for function in &module.functions {
        search.visit(module, function);
    }
    let mut found = search.found;
    found.retain(|array, &mut start| {
        let end = start.checked_add(module.global(*array).size_bytes);
        !search.others.contains(array) && end.is_some_and(|end| end <= size_bytes)
    });
    // Loads that must stay keep the array; where it is a copy of is known now.
    let mut kept = HashSet::new();
    for function in &module.functions {
        keep_loads(function, &found, &mut kept);
    }
    found.retain(|array, _| !kept.contains(array));
    found
}

struct Search<'a> {
    variables: &'a Starts,
    /// Arrays with stores, and what all of these copy.
    found: Starts,
    /// Arrays that are not to be touched.
    others: HashSet<GlobalId>,
}

impl Search<'_> {
    fn visit(&mut self, module: &Module, function: &Function) {
        let mut words = LowWords::new(function);
        // By pointer into an array: which.
        let mut arrays: HashMap<Value, GlobalId> = HashMap::new();
        for block in function.reverse_postorder() {
            let data = function.block(block);
            for &inst in &data.insts {
                let data = function.inst(inst);
                match &data.op {
                    &Op::GlobalAddress(array) => {
                        let global = module.global(array);
                        if global.space == AddressSpace::Local && global.spec_id.is_none() {
                            arrays.insert(data.results[0], array);
                        }
                    }
                    Op::PtrAdd(base, offset) if !arrays.contains_key(offset) => {
                        if let Some(&array) = arrays.get(base) {
                            arrays.insert(data.results[0], array);
                        }
                    }
                    Op::Load(Place::Pointer(_), _) => {}
                    Op::Store(Place::Pointer(pointer), values, access) => {
                        if let Some(&array) = arrays.get(pointer) {
                            let copied = self
                                .copied(&mut words, *pointer, values)
                                .filter(|_| !access.volatile);
                            self.note(array, copied);
                        }
                        self.give_up(&arrays, values.iter().copied());
                    }
                    op => self.give_up(&arrays, op.operands()),
                }
            }
            self.give_up(&arrays, data.terminator.operands());
        }
    }

    fn give_up(
        &mut self,
        arrays: &HashMap<Value, GlobalId>,
        values: impl IntoIterator<Item = Value>,
    ) {
        let used = values.into_iter().filter_map(|value| arrays.get(&value));
        self.others.extend(used);
    }

    /// Notes a store to an array.
    fn note(&mut self, array: GlobalId, copied: Option<u64>) {
        let known = copied.map(|start| *self.found.entry(array).or_insert(start));
        if known.is_none() || known != copied {
            self.others.insert(array);
        }
    }

    /// What the first byte of the array is a copy of, if that is what the store says.
    fn copied(&self, words: &mut LowWords<'_>, pointer: Value, values: &Values) -> Option<u64> {
        let function = words.function;
        let ValueDef::Result { inst, .. } = function.value(*values.first()?).def else {
            return None;
        };
        let load = function.inst(inst);
        let Op::Load(Place::Pointer(from), access) = load.op else {
            return None;
        };
        if load.results != *values || access.volatile {
            return None;
        }
        let from = Pointer::of(function, from)?;
        let start = self.variables.get(&from.variable)?;
        let to = words.distance(&Pointer::of(function, pointer)?);
        let from = words.distance(&from);
        // Neither is so large that more bits would matter.
        let distance = from.constant.wrapping_sub(to.constant) as i32;
        let start = start.checked_add_signed(distance.into())?;
        (to.terms == from.terms).then_some(start)
    }
}

/// Notes the arrays that loads need which must stay.
fn keep_loads(function: &Function, found: &Starts, kept: &mut HashSet<GlobalId>) {
    for block in function.reverse_postorder() {
        for &inst in &function.block(block).insts {
            let data = function.inst(inst);
            let Op::Load(Place::Pointer(pointer), access) = data.op else {
                continue;
            };
            let array = array_of(function, pointer);
            let Some((array, &start)) = array.and_then(|it| Some((it, found.get(&it)?))) else {
                continue;
            };
            let types: Vec<_> = data.results.iter().map(|&it| function.ty(it)).collect();
            let offset = Pointer::of(function, pointer)
                .and_then(|it| Offset::of(start, it, access, types.iter()));
            if offset.is_none() {
                kept.insert(array);
            }
        }
    }
}

/// The variable that a pointer points into, however far.
fn array_of(function: &Function, mut pointer: Value) -> Option<GlobalId> {
    loop {
        match *function.op_of(pointer)? {
            Op::GlobalAddress(array) => return Some(array),
            Op::PtrAdd(base, _) => pointer = base,
            _ => return None,
        }
    }
}
