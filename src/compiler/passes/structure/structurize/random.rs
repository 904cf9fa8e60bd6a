//! Functions with random control flow, the same for the same seed.
//!
//! Each block changes a state in memory, which leaves a trace, and decides by it where to go on. It may use
//! any value that dominates it.

use super::prepare::remove_unreachable;
use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{
    Access, ArrayId, Binary, Block, Builder, Compare, Edge, Function, Op, Place, Terminator, Type,
    Value,
};
use crate::compiler::testing::Random;

/// The random numbers of a seed.
pub fn of_seed(seed: u64) -> Random {
    Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
}

/// A function of two I32, which returns an I32 or nothing; its state is element 0 of array 0.
pub fn function(seed: u64, max_blocks: usize) -> Function {
    let random = &mut of_seed(seed);
    let mut f = Function::new(format!("random{seed}"));
    let with_result = random.below(2) == 0;
    if with_result {
        f.return_types = vec![Type::I32];
    }
    let count = 2 + random.below(max_blocks - 1);
    let blocks: Vec<Block> = [f.entry()]
        .into_iter()
        .chain((1..count).map(|_| f.add_block()))
        .collect();
    for &block in &blocks {
        let params = if block == f.entry() {
            2
        } else {
            random.below(3)
        };
        for _ in 0..params {
            f.add_param(block, Type::I32);
        }
    }

    // Where edges go comes first, with arguments filled in once dominance is known.
    let locality = random.below(4);
    for (index, &block) in blocks.iter().enumerate() {
        let target = |random: &mut Random| -> Edge {
            let near = index + 1 + random.below(3);
            let any = 1 + random.below(count - 1);
            let forward = near < count && random.below(4) < locality + 1;
            blocks[if forward { near } else { any }].into()
        };
        let terminator = match random.below(16) {
            0 if index > 0 => Terminator::Return(Default::default()),
            1..=4 => Terminator::Jump(target(random)),
            5 | 6 => Terminator::Switch {
                value: Value(0),
                cases: (0..1 + random.below(4) as u64)
                    .map(|case| (case, target(random)))
                    .collect(),
                default: target(random),
            },
            _ => Terminator::Branch {
                condition: Value(0),
                then: target(random),
                otherwise: target(random),
            },
        };
        f.block_mut(block).terminator = terminator;
    }
    remove_unreachable(&mut f);

    let dominators = f.analysis::<Dominators>();
    let mut available: Vec<Vec<Value>> = vec![Vec::new(); f.block_count()];
    for block in f.reverse_postorder() {
        let mut values = match dominators.immediate_dominator(block) {
            Some(above) if above != block => available[above.index()].clone(),
            _ => Vec::new(),
        };
        values.extend(f.block(block).params.iter().copied());
        let is_return = matches!(f.block(block).terminator, Terminator::Return(_));
        let terminator = f.block(block).terminator.clone();
        let mut b = Builder::new(&mut f, block);
        if !(is_return && random.below(2) == 0) {
            fill(&mut b, random, &mut values);
        }
        let state = values[values.len() - 1];
        let mut pick =
            |values: &[Value]| values[values.len() - 1 - random.below(values.len().min(6))];
        let mut terminator = terminator;
        match &mut terminator {
            Terminator::Branch { condition, .. } => {
                let bit = b.binary_const(Binary::And, state, 4);
                let zero = b.i32(0);
                *condition = b.compare(Compare::NotEqual, bit, zero);
            }
            Terminator::Switch { value, .. } => *value = b.binary_const(Binary::And, state, 3),
            Terminator::Return(results) if with_result => results.push(pick(&values)),
            _ => {}
        }
        for edge in terminator.edges_mut() {
            let arity = b.function.block(edge.block).params.len();
            edge.args = (0..arity).map(|_| pick(&values)).collect();
        }
        b.terminate(terminator);
        available[block.index()] = values;
    }
    f
}

/// Changes the state by the block's number and a value from above.
fn fill(b: &mut Builder, random: &mut Random, values: &mut Vec<Value>) {
    let index = b.i32(0);
    let place = Place::Element {
        array: ArrayId(0),
        index,
    };
    let access = Access::aligned(4);
    let old = b.load1(place, Type::I32, access);
    let scaled = b.binary_const(Binary::Mul, old, 0x0019_660D);
    let mut mixed = b.binary_const(Binary::Add, scaled, 0x3C6E_F35F + u64::from(b.block().0));
    if !values.is_empty() {
        let other = values[random.below(values.len())];
        mixed = b.binary(Binary::Xor, mixed, other);
    }
    let high = b.binary_const(Binary::LShr, mixed, 13);
    let state = b.binary(Binary::Xor, mixed, high);
    b.store1(place, state, access);
    if random.below(12) == 0 {
        b.op0(Op::ControlBarrier {
            execution: crate::compiler::ir::Scope::Workgroup,
            memory: crate::compiler::ir::Scope::Workgroup,
            semantics: Default::default(),
        });
    }
    values.push(state);
}
