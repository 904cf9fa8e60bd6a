//! Takes accesses to a private array at one of two places apart, for a driver that takes the wrong one.
//!
//! **Why.** NVIDIA's driver (seen in 580.159.04) inverts the condition of `a[c ? 3 : 0] = x`, with both places known,
//! where it keeps the array in registers: `*(c ? &x : &y) = z` wrote to the other variable.
//!
//! **How.** Both elements are loaded, and each is stored again with what it has afterwards.
//!
//! **Needs** arrays in place of variables (`lower::pointers`). Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::INVERTS_SELECTED_INDICES`]).

use crate::compiler::ir::{
    Access, Array, ArrayId, ArrayStorage, Binary, Builder, Function, Module, Op, Place, Rewrite,
    Type, Value, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::INVERTS_SELECTED_INDICES) {
        split(module)?;
    }
    Ok(())
}

fn split(module: &mut Module) -> Result<(), CompileError> {
    let arrays = &module.arrays;
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            Ok::<_, CompileError>(match b.function.inst(inst).op.clone() {
                Op::Load(Place::Element { array, index }, access) => {
                    let count = b.function.inst(inst).results.len();
                    match choice(b.function, arrays, array, index, count) {
                        Some(choice) => Rewrite::Replace(load(b, array, &choice, count, access)),
                        None => Rewrite::Keep,
                    }
                }
                Op::Store(Place::Element { array, index }, values, access) => {
                    match choice(b.function, arrays, array, index, values.len()) {
                        Some(choice) => {
                            store(b, array, &choice, &values, access);
                            Rewrite::Replace(Values::new())
                        }
                        None => Rewrite::Keep,
                    }
                }
                _ => Rewrite::Keep,
            })
        })?;
    }
    Ok(())
}

/// One of two places, by a condition.
struct Choice {
    condition: Value,
    yes: u32,
    no: u32,
    element: Type,
}

/// What chooses the place of `count` elements of a private array, if it is a condition.
fn choice(
    function: &Function,
    arrays: &[Array],
    array: ArrayId,
    index: Value,
    count: usize,
) -> Option<Choice> {
    let declared = arrays.get(array.index())?;
    if declared.storage != ArrayStorage::Private {
        return None;
    }
    let (selected, plus) = match function.op_of(index)? {
        &Op::Binary(Binary::Add, a, b) => match (function.constant(a), function.constant(b)) {
            (None, Some(plus)) => (a, plus),
            (Some(plus), None) => (b, plus),
            _ => return None,
        },
        _ => (index, 0),
    };
    let &Op::Select(condition, yes, no) = function.op_of(selected)? else {
        return None;
    };
    let place = |value| {
        let first = (function.constant(value)? as u32).wrapping_add(plus as u32);
        let end = first.checked_add(count as u32)?;
        (end <= declared.length.elements).then_some(first)
    };
    Some(Choice {
        condition,
        yes: place(yes)?,
        no: place(no)?,
        element: declared.element,
    })
}

fn load_at(
    b: &mut Builder<'_>,
    array: ArrayId,
    choice: &Choice,
    first: u32,
    count: usize,
    access: Access,
) -> Values {
    let index = b.i32(first);
    b.load(
        Place::Element { array, index },
        choice.element,
        count,
        access,
    )
}

fn load(
    b: &mut Builder<'_>,
    array: ArrayId,
    choice: &Choice,
    count: usize,
    access: Access,
) -> Values {
    let yes = load_at(b, array, choice, choice.yes, count, access);
    let no = load_at(b, array, choice, choice.no, count, access);
    yes.into_iter()
        .zip(no)
        .map(|(yes, no)| b.select(choice.condition, yes, no))
        .collect()
}

fn store(b: &mut Builder<'_>, array: ArrayId, choice: &Choice, values: &[Value], access: Access) {
    for (first, is_yes) in [(choice.yes, true), (choice.no, false)] {
        let before = load_at(b, array, choice, first, values.len(), access);
        let after = values
            .iter()
            .zip(before)
            .map(|(&value, before)| {
                if is_yes {
                    b.select(choice.condition, value, before)
                } else {
                    b.select(choice.condition, before, value)
                }
            })
            .collect();
        let index = b.i32(first);
        b.store(Place::Element { array, index }, after, access);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{ArrayLength, FuncId};
    use crate::compiler::passes::helpers::testing;
    use smallvec::smallvec;

    const ELEMENTS: u32 = 8;

    /// `a[(p ? yes : no) + 1] = 100, …[… + 2] = 101`, two elements at once, and what is there then.
    fn module(yes: u32, no: u32) -> Module {
        let array = ArrayId(0);
        let access = Access::aligned(4);
        let mut module = testing::module_with(&[Type::Bool], |b, p| {
            let (yes, no) = (b.i32(yes), b.i32(no));
            let index = b.select(p[0], yes, no);
            let index = b.binary_const(Binary::Add, index, 1);
            let place = Place::Element { array, index };
            let values = smallvec![b.i32(100), b.i32(101)];
            b.store(place, values, access);
            b.load(place, Type::I32, 2, access)
        });
        module.add_array(Array {
            name: "a".to_owned(),
            storage: ArrayStorage::Private,
            element: Type::I32,
            length: ArrayLength {
                elements: ELEMENTS,
                spec_ids: Vec::new(),
            },
        });
        module
    }

    /// Runs it on an array of 0, 1, 2…: the array, and the results.
    fn array_and_results(module: &Module, condition: bool) -> (Vec<u64>, Vec<u64>) {
        let mut run = Interpreter::new(module);
        run.arrays
            .insert(ArrayId(0), (0..ELEMENTS.into()).collect());
        let results = run.run(FuncId(0), &[condition.into()]).unwrap();
        (run.arrays.remove(&ArrayId(0)).unwrap(), results)
    }

    fn places(module: &Module) -> Vec<Value> {
        let function = module.function(FuncId(0));
        let insts = &function.block(function.entry()).insts;
        let places = insts
            .iter()
            .filter_map(|&inst| match function.inst(inst).op {
                Op::Load(Place::Element { index, .. }, _)
                | Op::Store(Place::Element { index, .. }, ..) => Some(index),
                _ => None,
            });
        places.collect()
    }

    #[test]
    fn either_place_is_known_afterwards_and_holds_the_same() {
        // Apart, overlapping, the same.
        for (yes, no) in [(3, 0), (0, 5), (2, 3), (3, 2), (4, 4)] {
            let before = module(yes, no);
            let mut after = module(yes, no);
            split(&mut after).unwrap();
            let function = after.function(FuncId(0));
            assert!(places(&after).len() > places(&before).len());
            assert!(
                places(&after)
                    .iter()
                    .all(|&place| function.constant(place).is_some())
            );
            for condition in [false, true] {
                assert_eq!(
                    array_and_results(&after, condition),
                    array_and_results(&before, condition)
                );
            }
        }
    }

    #[test]
    fn places_beyond_the_array_are_left_alone() {
        let mut module = module(6, 0);
        let before = places(&module);
        split(&mut module).unwrap();
        assert_eq!(places(&module), before);
    }
}
