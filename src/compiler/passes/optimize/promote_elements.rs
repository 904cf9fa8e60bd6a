//! Turns private arrays that are accessed at constant indices alone into values.
//!
//! **Why.** `promote` leaves a variable in memory where an address in it is not known, and what becomes of that later may be
//! known again: a byte at a computed place in an integer is that integer, shifted. A driver makes values of such an array in
//! any case, and then of a loop's last store a value that leaves the loop, which those who know what the driver does to such
//! values ([`crate::compiler::passes::workarounds::keep_loop_results`], [`crate::compiler::passes::workarounds::keep_selections`]) must see.
//!
//! **Needs** lowered pointers, and control flow that is not structured yet. Only kernels' own functions are looked at: what
//! another function leaves in an array may be there when it is called again.

use crate::compiler::ir::{
    Array, ArrayId, ArrayStorage, Builder, FuncId, Function, Inst, Module, Op, Place, Type, Value,
};
use crate::compiler::passes::optimize::promote::SlotValues;
use crate::compiler::passes::optimize::simplify;
use crate::compiler::{CompileError, Context};
use std::collections::{HashMap, HashSet};

/// Runs the pass on the kernels of the module.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    // An index may be known once what it is computed from is, or the values that another array held.
    if has_private_elements(module) {
        for _ in 0..=module.arrays.len() {
            simplify::run(module, cx)?;
            if !promote_known(module) {
                break;
            }
        }
    }
    Ok(())
}

/// Whether a kernel accesses private arrays.
fn has_private_elements(module: &Module) -> bool {
    let mut functions = module.kernels.iter().map(|it| module.function(it.function));
    functions.any(|function| {
        let blocks = function.layout().iter();
        let mut insts = blocks.flat_map(|&block| &function.block(block).insts);
        insts.any(|&inst| match function.inst(inst).op.place() {
            Some(Place::Element { array, .. }) => {
                let array = module.arrays.get(array.index());
                array.is_some_and(|it| it.storage == ArrayStorage::Private)
            }
            _ => false,
        })
    })
}

/// Makes values of the arrays that are accessed at constant indices alone; whether there was one.
fn promote_known(module: &mut Module) -> bool {
    let kernels: HashSet<FuncId> = module.kernels.iter().map(|it| it.function).collect();
    let mut used: HashMap<ArrayId, FuncId> = HashMap::new();
    let mut stay: HashSet<ArrayId> = HashSet::new();
    for id in module.function_ids() {
        let function = module.function(id);
        let blocks = function.layout().iter();
        for &inst in blocks.flat_map(|&block| &function.block(block).insts) {
            let Some(Place::Element { array, .. }) = function.inst(inst).op.place() else {
                continue;
            };
            if *used.entry(array).or_insert(id) != id
                || !kernels.contains(&id)
                || first_element(function, &module.arrays, inst).is_none()
            {
                stay.insert(array);
            }
        }
    }
    used.retain(|array, _| !stay.contains(array));
    let found = !used.is_empty();
    for id in kernels {
        let own = used.iter().filter(|(_, function)| **function == id);
        let own: Vec<ArrayId> = own.map(|(array, _)| *array).collect();
        if !own.is_empty() {
            promote(&mut module.functions[id.index()], &module.arrays, own);
        }
    }
    found
}

/// Where in a private array an instruction loads or stores, if that is known and a value could take the array's place.
fn first_element(function: &Function, arrays: &[Array], inst: Inst) -> Option<u32> {
    let data = function.inst(inst);
    let (place, access, values) = match &data.op {
        Op::Load(place, access) => (place, access, &data.results),
        Op::Store(place, values, access) => (place, access, values),
        _ => return None,
    };
    let Place::Element { array, index } = *place else {
        return None;
    };
    let array = arrays.get(array.index())?;
    let first = u32::try_from(function.constant(index)?).ok()?;
    let end = first.checked_add(u32::try_from(values.len()).ok()?)?;
    let is_known = array.storage == ArrayStorage::Private
        && array.length.spec_ids.is_empty()
        && end <= array.length.elements
        && !access.volatile
        && values.iter().all(|&it| function.ty(it) == array.element);
    is_known.then_some(first)
}

/// Makes values of the elements of some arrays.
fn promote(function: &mut Function, arrays: &[Array], mut own: Vec<ArrayId>) {
    own.sort();
    let mut slots: HashMap<ArrayId, u32> = HashMap::new();
    let mut next = 0;
    for array in own {
        slots.insert(array, next);
        next += arrays[array.index()].length.elements;
    }
    function.sort_layout();
    let mut values = SlotValues::new(function);
    for block in function.layout().to_vec() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let mut b = Builder::new(function, block);
        for inst in insts {
            match slot(b.function, arrays, &slots, inst) {
                Some((first, ty)) => access(&mut b, &mut values, inst, first, ty),
                None => b.push(inst),
            }
        }
    }
    values.connect(function);
}

/// The first slot that an instruction accesses, and what slots of that array hold.
fn slot(
    function: &Function,
    arrays: &[Array],
    slots: &HashMap<ArrayId, u32>,
    inst: Inst,
) -> Option<(u32, Type)> {
    let Some(Place::Element { array, .. }) = function.inst(inst).op.place() else {
        return None;
    };
    let first = slots.get(&array)? + first_element(function, arrays, inst)?;
    Some((first, arrays[array.index()].element))
}

fn access(b: &mut Builder<'_>, values: &mut SlotValues, inst: Inst, first: u32, ty: Type) {
    let data = b.function.inst(inst).clone();
    let block = b.block();
    match data.op {
        Op::Store(_, stored, _) => {
            for (slot, value) in (first..).zip(stored) {
                values.set(block, slot, value);
            }
        }
        _ => {
            for (slot, &result) in (first..).zip(&data.results) {
                let value: Value = values.at_end(b.function, block, slot, ty);
                values.replace(result, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, ArrayLength, Kernel};
    use crate::compiler::passes::helpers::testing;
    use smallvec::smallvec;

    /// A kernel that stores at an index, in a branch at another, and loads there; and the accesses that are left.
    fn accesses_left(at: impl Fn(&mut Builder<'_>, Value) -> Value) -> (Module, usize) {
        let array = ArrayId(0);
        let mut module = testing::module_with(&[Type::I32], |b, p| {
            let (arm, next) = (b.function.add_block(), b.function.add_block());
            let (one, five) = (b.i32(1), b.i32(5));
            let first = b.i32(0);
            let second = at(b, p[0]);
            let access = Access::aligned(4);
            let element = |index| Place::Element { array, index };
            b.store(element(first), smallvec![five, one], access);
            let condition = b.compare(crate::compiler::ir::Compare::Equal, p[0], one);
            b.branch(condition, arm, next);
            b.switch_to(arm);
            b.store1(element(second), p[0], access);
            b.jump(next);
            b.switch_to(next);
            b.load(element(first), Type::I32, 2, access)
        });
        for name in ["a", "b"] {
            module.arrays.push(Array {
                name: name.into(),
                storage: ArrayStorage::Private,
                element: Type::I32,
                length: ArrayLength {
                    elements: 2,
                    spec_ids: Vec::new(),
                },
            });
        }
        module.kernels.push(Kernel::new("k", FuncId(0)));
        testing::run(&mut module, run).unwrap();
        let function = &module.functions[0];
        let insts = function
            .layout()
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        let left = insts.filter(|&&inst| function.inst(inst).op.place().is_some());
        let left = left.count();
        (module, left)
    }

    #[test]
    fn arrays_stay_where_an_index_is_not_known_or_beyond_the_end() {
        assert_eq!(accesses_left(|_, param| param).1, 3);
        assert_eq!(accesses_left(|b, _| b.i32(2)).1, 3);
    }
}
