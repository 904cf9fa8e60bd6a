//! Breaks long code without branches into pieces, for a driver that takes long over it.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3 with LLVM 15) executes selections by masks, so that all code between two loops, or two
//! accesses to memory, which are loops over the work-items, is one basic block. Each block parameter, and each private array that
//! needs no memory, is a variable there, and what makes values of variables (`PromoteMemToReg`) goes through the block from its
//! start to the first access for each load of each variable. A kernel with a block of 250,000 instructions and 1,600 such
//! variables took 52 seconds so.
//!
//! **How.** What the header of a loop does moves to a block behind it where it is long, as headers can't be broken. Where the
//! code between two ends of blocks costs more than [`LONGEST`], a store is put that no work-item makes, which the driver does
//! not know. Its loop over the work-items ends the block. A loop would do, too, but iterations are counted.
//!
//! **Needs** structured control flow, and keeps it. Does nothing unless the device asks for it
//! ([`Defects::SLOW_IN_LONG_BLOCKS`]), or in functions that cost less than [`SHORT`].

use crate::compiler::ir::{
    Access, Array, ArrayStorage, Block, Builder, Function, Merge, Module, Op, Place, Terminator,
};
use crate::compiler::passes::helpers::hidden_zero::holds_always;
use crate::compiler::{CompileError, Context, Defects};
use std::collections::{HashMap, HashSet};

/// What a function costs of which all blocks together take no time.
const SHORT: u64 = 24_000;

/// What the code of one block costs at most.
const LONGEST: u64 = 6_000;

/// What an instruction costs, in instructions of the driver.
const INSTRUCTION: u64 = 2;

/// What a load from a uniform buffer costs, one for each work-item of a vector.
const GATHER: u64 = 40;

/// What it costs to give a block parameter its value, as far as work-items take part.
const ARGUMENT: u64 = 8;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::SLOW_IN_LONG_BLOCKS) {
        for function in &mut module.functions {
            if cost(function) > SHORT {
                break_blocks(function, &module.arrays, cx.capabilities.int64);
            }
        }
    }
    Ok(())
}

fn cost(function: &Function) -> u64 {
    let blocks = function.layout().iter();
    blocks.map(|&block| cost_of_block(function, block)).sum()
}

fn cost_of_block(function: &Function, block: Block) -> u64 {
    let insts = function.block(block).insts.iter();
    let cost: u64 = insts.map(|&inst| cost_of(&function.inst(inst).op)).sum();
    cost + cost_of_end(function, block)
}

fn cost_of(op: &Op) -> u64 {
    match op.place() {
        Some(Place::Uniform { .. }) => GATHER,
        _ => INSTRUCTION,
    }
}

/// What it costs to give the parameters behind a block their values.
fn cost_of_end(function: &Function, block: Block) -> u64 {
    let edges = function.block(block).terminator.edges();
    let arguments: usize = edges.iter().map(|edge| edge.args.len()).sum();
    arguments as u64 * ARGUMENT
}

fn break_blocks(function: &mut Function, arrays: &[Array], has_longs: bool) {
    let (mut ends, mut whole) = (HashSet::new(), HashSet::new());
    // By what was the end of a loop of one block, its header.
    let mut opened = HashMap::new();
    for block in function.layout().to_vec() {
        let Some(Merge::Loop { merge, continues }) = function.block(block).merge else {
            continue;
        };
        ends.extend([block, merge]);
        let opens = cost_of_block(function, block) > LONGEST
            && ends_anywhere(function, block, [merge, continues]);
        let behind = opens.then(|| open_loop(function, block));
        if let Some(behind) = behind
            && continues == block
        {
            opened.insert(behind, block);
        } else {
            whole.insert(continues);
        }
        whole.insert(block);
    }
    // Since the driver's last block ended.
    let mut since = 0;
    for block in function.layout().to_vec() {
        if ends.contains(&block) {
            since = 0;
        }
        let is_whole = whole.contains(&block);
        let mut at = block;
        let mut first = 0;
        // The last step is the block's end.
        let insts = function.block(block).insts.clone();
        for inst in insts.into_iter().map(Some).chain([None]) {
            if since > LONGEST && !is_whole {
                at = break_at(function, at, first, has_longs);
                (since, first) = (0, 0);
            }
            match inst {
                Some(inst) if ends_block(&function.inst(inst).op, arrays) => since = 0,
                Some(inst) => since += cost_of(&function.inst(inst).op),
                None => {}
            }
            first += 1;
        }
        since += cost_of_end(function, at);
        if let Some(&header) = opened.get(&block)
            && let Some(Merge::Loop { continues, .. }) = &mut function.block_mut(header).merge
        {
            *continues = at;
        }
    }
}

/// Whether a loop's header ends as other blocks of the loop may: without a selection, but for the way out or to the next iteration.
fn ends_anywhere(function: &Function, header: Block, ways_out: [Block; 2]) -> bool {
    match &function.block(header).terminator {
        Terminator::Jump(_) => true,
        Terminator::Branch {
            then, otherwise, ..
        } => [then, otherwise]
            .into_iter()
            .any(|edge| ways_out.contains(&edge.block)),
        _ => false,
    }
}

/// Puts what a loop's header does in a block behind it, which is where a loop of one block continues. That block.
fn open_loop(function: &mut Function, header: Block) -> Block {
    let body = function.add_block_behind(header);
    let data = function.block_mut(header);
    let insts = std::mem::take(&mut data.insts);
    let terminator = std::mem::replace(&mut data.terminator, Terminator::Jump(body.into()));
    if let Some(Merge::Loop { continues, .. }) = &mut data.merge
        && *continues == header
    {
        *continues = body;
    }
    let after = function.block_mut(body);
    (after.insts, after.terminator) = (insts, terminator);
    body
}

/// Whether the driver makes a loop of an operation, or ends a part of its coroutine there.
pub fn ends_block(op: &Op, arrays: &[Array]) -> bool {
    match op.place() {
        Some(Place::Argument { .. } | Place::Uniform { .. }) | None => {
            matches!(op, Op::ControlBarrier { .. })
        }
        Some(Place::Element { array, .. }) => {
            let array = arrays.get(array.index());
            array.is_some_and(|array| array.storage != ArrayStorage::Private)
        }
        Some(_) => true,
    }
}

/// Puts a store that nobody makes before an instruction of a block. The block that the instruction is the first of then.
fn break_at(function: &mut Function, block: Block, position: usize, has_longs: bool) -> Block {
    let store = function.add_block_behind(block);
    let rest = function.add_block_behind(store);
    let data = function.block_mut(block);
    let insts = data.insts.split_off(position);
    let merge = data.merge.replace(Merge::Selection { merge: rest });
    let keeps_selection = std::mem::replace(&mut data.keeps_selection, false);
    let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
    let after = function.block_mut(rest);
    (after.insts, after.merge) = (insts, merge);
    (after.keeps_selection, after.terminator) = (keeps_selection, terminator);

    let mut b = Builder::new(function, block);
    let always = holds_always(&mut b);
    b.branch(always, rest, store);
    b.switch_to(store);
    let zero = b.i32(0);
    let nowhere = if has_longs {
        Place::Address(b.i64(0))
    } else {
        Place::AddressPair { lo: zero, hi: zero }
    };
    b.store1(nowhere, zero, Access::aligned(4));
    b.jump(rest);
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Binary, BuiltIn, Compare, Edge, FuncId, Type};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::verify::{self, Stage};
    use smallvec::smallvec;

    /// A function of so many steps, of which it puts out the last.
    fn stepping(steps: u32) -> Module {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let mut value = b.i32(1);
        let three = b.i32(3);
        for _ in 0..steps {
            value = b.binary(Binary::Mul, value, three);
        }
        b.terminate(Terminator::Return(smallvec![value]));
        testing::module_of(function)
    }

    fn broken(module: Module, defects: Defects) -> (Module, usize) {
        broken_for(
            module,
            &Capabilities {
                defects,
                ..Capabilities::full()
            },
        )
    }

    fn broken_for(mut module: Module, device: &Capabilities) -> (Module, usize) {
        testing::run_on(&mut module, device, run).expect("it runs");
        verify::module(&module, Stage::Emit).expect("the module is valid");
        let blocks = module.functions[0].layout().len();
        (module, blocks)
    }

    #[test]
    fn long_code_is_broken_into_pieces_that_compute_the_same() {
        let slow = Defects::SLOW_IN_LONG_BLOCKS;
        let (module, blocks) = broken(stepping(20_000), slow);
        assert_eq!(blocks, 1 + 2 * 6, "six breaks");
        let mut interpreter = Interpreter::new(&module);
        interpreter.inputs.insert(BuiltIn::NumWorkgroups(0), 1);
        let found = interpreter.run(FuncId(0), &[]).expect("it ends");
        assert_eq!(found, [u64::from(3u32.wrapping_pow(20_000))]);
        assert_eq!(broken(stepping(20_000), Defects::empty()).1, 1);
        assert_eq!(broken(stepping(10_000), slow).1, 1);
    }

    #[test]
    fn nobody_stores_where_there_are_no_long_integers() {
        let device = Capabilities {
            int64: false,
            defects: Defects::SLOW_IN_LONG_BLOCKS,
            ..Capabilities::full()
        };
        let (module, blocks) = broken_for(stepping(20_000), &device);
        assert_eq!(blocks, 1 + 2 * 6, "six breaks");
        assert!(!module.to_string().contains("i64"));
    }

    /// Each looks up where the one before has found.
    #[test]
    fn loads_from_a_uniform_buffer_are_long_code() {
        let looking_up = |steps| {
            let mut function = Function::new("k");
            function.return_types = vec![Type::I32];
            let entry = function.entry();
            let mut b = Builder::new(&mut function, entry);
            let mut index = b.i32(1);
            for _ in 0..steps {
                index = b.load1(Place::Uniform { index }, Type::I32, Access::aligned(4));
            }
            b.terminate(Terminator::Return(smallvec![index]));
            testing::module_of(function)
        };
        let slow = Defects::SLOW_IN_LONG_BLOCKS;
        assert_eq!(broken(looking_up(700), slow).1, 1 + 2 * 4);
        assert_eq!(broken(looking_up(500), slow).1, 1);
    }

    /// A loop of `iterations`, of one block or with another one behind its header, which makes so many steps.
    fn looping(steps: u32, iterations: u32, of_one_block: bool) -> Module {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let header = b.function.add_block();
        let latch = if of_one_block {
            header
        } else {
            b.function.add_block()
        };
        let merge = b.function.add_block();
        let (zero, one, three) = (b.i32(0), b.i32(1), b.i32(3));
        b.terminate(Terminator::Jump(Edge::new(header, [zero, one])));
        let params = [(); 2].map(|()| b.function.add_param(header, Type::I32));
        b.switch_to(header);
        let mut value = params[1];
        for _ in 0..steps {
            value = b.binary(Binary::Mul, value, three);
        }
        let count = b.binary(Binary::Add, params[0], one);
        if !of_one_block {
            b.jump(latch);
            b.switch_to(latch);
        }
        let most = b.i32(iterations);
        let condition = b.compare(Compare::ULess, count, most);
        b.terminate(Terminator::Branch {
            condition,
            then: Edge::new(header, [count, value]),
            otherwise: merge.into(),
        });
        b.switch_to(merge);
        b.terminate(Terminator::Return(smallvec![value]));
        let continues = latch;
        function.block_mut(header).merge = Some(Merge::Loop { merge, continues });
        testing::module_of(function)
    }

    #[test]
    fn long_iterations_are_broken_behind_the_header() {
        for of_one_block in [true, false] {
            let (steps, iterations) = (16_000, 5);
            let module = looping(steps, iterations, of_one_block);
            let before = module.functions[0].layout().len();
            let (module, blocks) = broken(module, Defects::SLOW_IN_LONG_BLOCKS);
            assert_eq!(blocks, before + 1 + 2 * 5, "{of_one_block}");
            let mut interpreter = Interpreter::new(&module);
            interpreter.inputs.insert(BuiltIn::NumWorkgroups(0), 1);
            let found = interpreter.run(FuncId(0), &[]).expect("it ends");
            assert_eq!(found, [u64::from(3u32.wrapping_pow(steps * iterations))]);
        }
    }
}
