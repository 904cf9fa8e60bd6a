//! Makes addresses differ between work-items in the driver's eyes, for one that loads for nobody.
//!
//! **Why.** llvmpipe (since Mesa 25.1) loads from an address that is the same for all work-items of a sub-group once, as a
//! scalar, and looks at no execution mask then. Short branches are flattened and what follows a loop's exit in its body is
//! gone through once more after the last work-item has left: the load is made where its condition is false, too, from an
//! address that nobody vouched for. `if (p) x = *p` ends the process where `p` is null.
//!
//! **How.** A zero is added that is the work-item's place in its sub-group, times a bit that no launch has: the driver gathers
//! then, with the mask. Blocks that every work-item comes to once, outside of loops, keep their loads. Stores and atomics
//! look at the mask in any case, and so do loads from private arrays.
//!
//! A selection by a condition that always holds would do, too, but with AVX-512 it takes one more mask, which lives all the
//! way: the LLVM 22 of Mesa 26.2 ends the process where it has no register for one (its MachineCopyPropagation makes a copy
//! of 32 bits from a register of 64).
//!
//! **Needs** no pointers; 64-bit integers. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::LOADS_FOR_NOBODY`]).

use crate::compiler::analysis::{Loops, PostDominators};
use crate::compiler::ir::{
    Array, ArrayStorage, Binary, Block, Builder, BuiltIn, Function, Inst, InstFlags, Module, Op,
    Place, Rewrite, Type, Value, rewrite_instructions,
};
use crate::compiler::passes::helpers::hidden_zero::no_group_count_bit;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::HashSet;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::LOADS_FOR_NOBODY) {
        hide(module, cx.capabilities.int64)?;
    }
    Ok(())
}

fn hide(module: &mut Module, has_longs: bool) -> Result<(), CompileError> {
    let kernel = module.kernels.first().map(|kernel| kernel.function.index());
    let Module {
        functions, arrays, ..
    } = module;
    for (index, function) in functions.iter_mut().enumerate() {
        // Functions may be called where no work-item is.
        let reached = if kernel == Some(index) {
            blocks_always_reached(function)
        } else {
            HashSet::new()
        };
        let hides = |function: &Function, block: Block, inst: Inst| {
            !reached.contains(&block) && loads_shared(function, arrays, inst)
        };
        let mut blocks = function.layout().iter();
        let hides_any = blocks.any(|&block| {
            let mut insts = function.block(block).insts.iter();
            insts.any(|&inst| hides(function, block, inst))
        });
        if !hides_any {
            continue;
        }
        let zeros = Zeros::new(function, has_longs);
        rewrite_instructions(function, |b, inst| {
            if hides(b.function, b.block(), inst) {
                zeros.add_to_address(b, inst);
            }
            Ok::<_, CompileError>(Rewrite::Keep)
        })?;
    }
    Ok(())
}

/// The blocks that every work-item comes to, and comes to once.
fn blocks_always_reached(function: &Function) -> HashSet<Block> {
    let loops = function.analysis::<Loops>();
    let post_dominators = function.analysis::<PostDominators>();
    let entry = Some(function.entry());
    std::iter::successors(entry, |&block| post_dominators.immediate(block))
        .filter(|&block| !loops.is_irreducible() && loops.innermost(block).is_none())
        .collect()
}

/// Whether an instruction loads from memory that work-items share.
fn loads_shared(function: &Function, arrays: &[Array], inst: Inst) -> bool {
    match function.inst(inst).op {
        Op::Load(Place::Address(_) | Place::AddressPair { .. } | Place::Indexed { .. }, _) => true,
        Op::Load(Place::Element { array, .. }, _) => {
            let storage = arrays.get(array.index()).map(|array| array.storage);
            storage == Some(ArrayStorage::Workgroup)
        }
        _ => false,
    }
}

/// Zeros of which the driver does not know that they are the same for all work-items.
struct Zeros {
    word: Value,
    /// A zero of 64 bits, where the device has such.
    long: Option<Value>,
}

impl Zeros {
    /// At the function's beginning.
    fn new(function: &mut Function, has_longs: bool) -> Self {
        let entry = function.entry();
        let own = function.block(entry).insts.len();
        let mut b = Builder::new(function, entry);
        let lane = b.op1(Op::BuiltIn(BuiltIn::SubgroupLocalInvocationId), Type::I32);
        let bit = no_group_count_bit(&mut b);
        let word = b.binary(Binary::Mul, lane, bit);
        let long = has_longs.then(|| b.resize_int(word, Type::I64, false));
        function.block_mut(entry).insts.rotate_left(own);
        Self { word, long }
    }

    fn add_to_address(&self, b: &mut Builder<'_>, inst: Inst) {
        b.flags = InstFlags::default();
        let mut op = b.function.inst(inst).op.clone();
        if let Op::Load(place, _) = &mut op {
            match place {
                Place::Address(address) => {
                    if let Some(long) = self.long {
                        *address = b.binary(Binary::Add, *address, long);
                    }
                }
                Place::AddressPair { lo, .. } => *lo = b.binary(Binary::Add, *lo, self.word),
                Place::Indexed { index, .. } | Place::Element { index, .. } => {
                    *index = b.binary(Binary::Add, *index, self.word);
                }
                _ => {}
            }
        }
        b.function.inst_mut(inst).op = op;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::{Access, Compare, Edge, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::drivers::{Version, llvmpipe};
    use smallvec::smallvec;

    /// Loads from an address before a branch, in one of its ways, and where they meet.
    fn module(has_longs: bool) -> Module {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let [then, end] = [0; 2].map(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let argument = Place::Argument { offset_bytes: 0 };
        let place = if has_longs {
            Place::Address(b.load1(argument, Type::I64, Access::aligned(8)))
        } else {
            let words = b.load(argument, Type::I32, 2, Access::aligned(8));
            let (lo, hi) = (words[0], words[1]);
            Place::AddressPair { lo, hi }
        };
        let load = |b: &mut Builder<'_>| b.load1(place, Type::I32, Access::aligned(4));
        let first = load(&mut b);
        let none = b.i32(0);
        let condition = b.compare(Compare::NotEqual, first, none);
        b.branch(condition, Edge::new(then, []), Edge::new(end, []));
        let mut b = Builder::new(&mut function, then);
        load(&mut b);
        b.jump(end);
        let mut b = Builder::new(&mut function, end);
        let last = load(&mut b);
        b.terminate(Terminator::Return(smallvec![last]));
        testing::module_of(function)
    }

    fn hidden(version: Version, has_longs: bool) -> Vec<bool> {
        let mut module = module(has_longs);
        let capabilities = Capabilities {
            int64: has_longs,
            defects: llvmpipe::defects(Some(version)),
            ..Capabilities::lavapipe()
        };
        testing::run_on(&mut module, &capabilities, run).unwrap();
        let function = &module.functions[0];
        let blocks = function.layout().iter();
        let addresses = blocks
            .flat_map(|&block| &function.block(block).insts)
            .filter_map(|&inst| match function.inst(inst).op {
                Op::Load(Place::Address(address), _) => Some(address),
                Op::Load(Place::AddressPair { lo, .. }, _) => Some(lo),
                _ => None,
            });
        addresses
            .map(|address| matches!(function.op_of(address), Some(Op::Binary(Binary::Add, ..))))
            .collect()
    }

    #[test]
    fn only_loads_that_not_all_come_to_are_hidden() {
        for has_longs in [true, false] {
            assert_eq!(hidden(Version(26, 2, 6), has_longs), [false, true, false]);
            assert_eq!(hidden(Version(25, 0, 7), has_longs), [false; 3]);
        }
    }
}
