//! Puts a barrier behind a kernel's code, for a driver that takes long over kernels without one.
//!
//! **Why.** llvmpipe makes a coroutine of every kernel, which is suspended at barriers (seen in Mesa 22.3 with LLVM 15). Two
//! kinds of variables take LLVM long that live in no more than one part between suspensions:
//! - one that counts down with the iterations of all loops (`LP_MAX_TGSI_LOOP_ITERATIONS`). It becomes a register, which is
//!   followed from loop to loop by what reduces the strength of loops (`ScalarEvolution`): a kernel of 57 loops took 11
//!   seconds so, and takes 0.3 with the barrier;
//! - private arrays. LLVM looks for two uses of each between which the coroutine may be suspended (`buildCoroutineFrame`), and
//!   where there are none, at all pairs of uses: sixteen for each load and twenty-four for each store.
//!
//! **How.** Behind the kernel's code stands a loop that no work-item enters, which the driver does not know. In it are the
//! barrier, and a store to each array that is accessed often. The count and these arrays have uses on both sides of a
//! suspension then: they lie in memory, and LLVM finds two such uses at once. The driver suspends the kernel there once, as it
//! goes through all code with a mask of work-items: it costs as much as a call. No work-item comes to the barrier, so that
//! none waits for those that have returned before.
//!
//! **Needs** structured control flow, and keeps it. Comes before `mask_idle_lanes`, behind whose selection a driver that
//! knows that all lanes are work-items comes to nothing. Does nothing unless the device asks for it
//! ([`Defects::SLOW_WITHOUT_BARRIERS`]), or where a kernel has few loops and accesses to arrays.

use crate::compiler::analysis::{Elements, copies_by_function};
use crate::compiler::ir::{
    Access, Array, ArrayId, ArrayStorage, Block, Builder, Function, Merge, Module, Op, Place,
    Scope, Semantics, Terminator,
};
use crate::compiler::passes::helpers::hidden_zero::holds_always;
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;
use std::collections::BTreeMap;

/// How many loops a kernel may have without a barrier.
const FEW_LOOPS: u64 = 15;

/// The cost of the accesses to an array that needs none, as [`Elements::cost`] counts it: all pairs take 0.2 s.
const CHEAP: u64 = 2000;

/// Bytes of an array that is to lie with those of all other work-items of a work-group at the same time, at most.
const MOST_BYTES: u64 = 16 << 10;

/// What the barrier orders. Mesa drops one that orders nothing.
const ORDERS: Semantics = Semantics(Semantics::ACQUIRE_RELEASE | Semantics::WORKGROUP_MEMORY);

/// Runs the pass on the kernel.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let Some(kernel) = module.kernels.first().map(|it| it.function) else {
        return Ok(());
    };
    if !cx.capabilities.has(Defects::SLOW_WITHOUT_BARRIERS) {
        return Ok(());
    }
    // The driver inlines all calls.
    let copies = copies_by_function(module)?;
    let arrays = arrays_accessed_often(module, &copies);
    if !arrays.is_empty() || loops(module, &copies) > FEW_LOOPS {
        let elements: Vec<(ArrayId, Array)> = arrays
            .into_iter()
            .map(|id| (id, module.array(id).clone()))
            .collect();
        wait(module.function_mut(kernel), &elements);
    }
    Ok(())
}

/// How many loops there are in all copies of all functions.
fn loops(module: &Module, copies: &[u64]) -> u64 {
    let is_head = |function: &Function, block: Block| {
        matches!(function.block(block).merge, Some(Merge::Loop { .. }))
    };
    let of = |function: &Function| {
        let blocks = function.layout().iter();
        blocks.filter(|&&block| is_head(function, block)).count() as u64
    };
    let functions = module.functions.iter().zip(copies);
    functions
        .map(|(function, &copies)| of(function) * copies)
        .sum()
}

/// The private arrays of which two uses are to be found soon.
fn arrays_accessed_often(module: &Module, copies: &[u64]) -> Vec<ArrayId> {
    let mut all: BTreeMap<ArrayId, Elements> = BTreeMap::new();
    for (function, &copies) in module.functions.iter().zip(copies) {
        let blocks = function.layout().iter();
        let insts = blocks.flat_map(|&block| &function.block(block).insts);
        for &inst in insts {
            let data = function.inst(inst);
            match &data.op {
                Op::Load(Place::Element { array, .. }, _) => {
                    all.entry(*array).or_default().loads += data.results.len() as u64 * copies;
                }
                Op::Store(Place::Element { array, .. }, values, _) => {
                    all.entry(*array).or_default().stores += values.len() as u64 * copies;
                }
                _ => {}
            }
        }
    }
    let matter = |(id, elements): (ArrayId, Elements)| {
        let array = module.array(id);
        let bytes = u64::from(array.length.elements) * u64::from(array.element.size_bytes());
        let is_meant = array.storage == ArrayStorage::Private && bytes <= MOST_BYTES;
        (is_meant && elements.cost() > CHEAP).then_some(id)
    };
    all.into_iter().filter_map(matter).collect()
}

/// Puts the loop before the last return of a function.
fn wait(function: &mut Function, arrays: &[(ArrayId, Array)]) {
    let returns =
        |block: &Block| matches!(function.block(*block).terminator, Terminator::Return(_));
    let Some(at) = function.layout().iter().rposition(returns) else {
        return;
    };
    let end = function.layout()[at];
    let mut last = end;
    let [head, test, body, next, done] = [(); 5].map(|()| {
        last = function.add_block_behind(last);
        last
    });
    let back = std::mem::replace(
        &mut function.block_mut(end).terminator,
        Terminator::Unreachable,
    );
    let mut b = Builder::new(function, end);
    b.jump(head);

    b.switch_to(head);
    b.jump(test);
    b.switch_to(test);
    let always = holds_always(&mut b);
    b.branch(always, done, body);

    b.switch_to(body);
    b.op0(Op::ControlBarrier {
        execution: Scope::Workgroup,
        memory: Scope::Workgroup,
        semantics: ORDERS,
    });
    for (id, array) in arrays {
        let (index, zero) = (b.i32(0), b.constant(array.element, 0));
        let place = Place::Element { array: *id, index };
        let access = Access::aligned(array.element.size_bytes());
        b.store(place, smallvec![zero], access);
    }
    b.jump(next);
    b.switch_to(next);
    b.jump(head);

    function.block_mut(done).terminator = back;
    function.block_mut(head).merge = Some(Merge::Loop {
        merge: done,
        continues: next,
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{ArrayLength, BuiltIn, FuncId, Type};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::verify::{self, Stage};

    /// A kernel that stores so many words in an array of so many.
    fn storing(words: u32, length: u32) -> Module {
        let mut module = testing::module_of(Function::new("k"));
        let array = module.add_array(Array {
            name: "a".into(),
            storage: ArrayStorage::Private,
            element: Type::I32,
            length: ArrayLength {
                elements: length,
                spec_ids: Vec::new(),
            },
        });
        let function = &mut module.functions[0];
        let entry = function.entry();
        let mut b = Builder::new(function, entry);
        for word in 0..words {
            let (index, value) = (b.i32(word), b.i32(7));
            let place = Place::Element { array, index };
            b.store(place, smallvec![value], Access::aligned(4));
        }
        b.terminate(Terminator::Return(smallvec![]));
        module
    }

    fn waits(mut module: Module, defects: Defects) -> Option<Module> {
        let device = Capabilities {
            defects,
            ..Capabilities::full()
        };
        testing::run_on(&mut module, &device, run).expect("it runs");
        verify::module(&module, Stage::Emit).expect("the module is valid");
        let text = module.functions[0].to_string();
        text.contains("barrier").then_some(module)
    }

    #[test]
    fn a_barrier_that_nobody_comes_to_is_behind_many_accesses() {
        let slow = Defects::SLOW_WITHOUT_BARRIERS;
        let module = waits(storing(100, 128), slow).expect("the kernel has a barrier");
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("store").count(), 101, "{text}");
        let mut interpreter = Interpreter::new(&module);
        interpreter.inputs.insert(BuiltIn::NumWorkgroups(0), 1);
        interpreter.run(FuncId(0), &[]).expect("it ends");
        assert!(waits(storing(100, 128), Defects::empty()).is_none());
        assert!(waits(storing(20, 128), slow).is_none());
        assert!(waits(storing(100, 1 << 20), slow).is_none());
    }

    /// A kernel that calls another function so often.
    fn calling(mut module: Module, calls: usize) -> Module {
        let mut kernel = Function::new("k");
        let entry = kernel.entry();
        let mut b = Builder::new(&mut kernel, entry);
        for _ in 0..calls {
            b.op0(Op::Call(FuncId(1), smallvec![]));
        }
        b.terminate(Terminator::Return(smallvec![]));
        module.functions.insert(0, kernel);
        module
    }

    #[test]
    fn what_functions_do_counts_as_often_as_they_are_called() {
        let slow = Defects::SLOW_WITHOUT_BARRIERS;
        assert!(waits(calling(storing(20, 128), 4), slow).is_none());
        assert!(waits(calling(storing(20, 128), 5), slow).is_some());
        assert!(waits(calling(with_loops(3), 5), slow).is_none());
        assert!(waits(calling(with_loops(3), 6), slow).is_some());
    }

    /// A kernel of so many loops, one after the other.
    fn with_loops(loops: usize) -> Module {
        let mut function = Function::new("k");
        let mut before = function.entry();
        for _ in 0..loops {
            let [head, test, next, done] = [(); 4].map(|()| function.add_block());
            let mut b = Builder::new(&mut function, before);
            b.jump(head);
            b.switch_to(head);
            b.jump(test);
            b.switch_to(test);
            let always = holds_always(&mut b);
            b.branch(always, done, next);
            b.switch_to(next);
            b.jump(head);
            function.block_mut(head).merge = Some(Merge::Loop {
                merge: done,
                continues: next,
            });
            before = done;
        }
        let mut b = Builder::new(&mut function, before);
        b.terminate(Terminator::Return(smallvec![]));
        testing::module_of(function)
    }

    #[test]
    fn a_barrier_is_behind_many_loops() {
        let slow = Defects::SLOW_WITHOUT_BARRIERS;
        assert!(waits(with_loops(15), slow).is_none());
        assert!(waits(with_loops(16), slow).is_some());
    }
}
