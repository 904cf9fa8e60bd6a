//! Which loops a driver is not to unroll.
//!
//! Mesa unrolls loops of up to 32 iterations whose instructions are no more than 832 together (`nir_opt_loop_unroll`, seen in
//! 22.3), those within first, and its back end then takes long over each access to memory (see [`super::cost`]). Where that
//! would take much longer than without, the loops that access memory are marked (`DontUnroll`): as few iterations of them as
//! there are cost less than the copies.
//!
//! Only loops that make few iterations in all are marked on a device that makes few: what it unrolls it does not count.

use super::candidate::candidate;
use super::cost::Cost;
use super::{Shape, registers, trip_count};
use crate::compiler::Capabilities;
use crate::compiler::ir::{Block, Function};

/// Iterations, and instructions of all of them, up to which a driver unrolls a loop.
const UNROLLED: (usize, usize) = (32, 832);

/// What copies that a driver makes of loops may cost.
const MOST_NS: u64 = 200_000_000;

/// Marks the loops of a function. `few` is whether the device makes few iterations.
pub fn mark(
    function: &mut Function,
    local_sizes: [u32; 3],
    capabilities: &Capabilities,
    few: bool,
) {
    let registers = registers::variables(function, local_sizes);
    let shape = Shape::new(function, local_sizes, &registers);
    let copies = copies(function, &shape);
    if copies.iter().all(|&copies| copies <= 1) {
        return;
    }
    let iterations = shape.iterations(function);
    let before = shape.cost(function, function.layout());
    let mut after = Cost::default();
    for &block in function.layout() {
        let loops = shape.loops.around(block);
        let times = loops.fold(1, |times: u64, at| times.saturating_mul(copies[at] as u64));
        after = after.with(&shape.cost(function, &[block]), times);
    }
    let longer = |cost: &Cost| cost.nanoseconds(capabilities);
    if longer(&after).saturating_sub(longer(&before)) <= MOST_NS {
        return;
    }
    let is_kept = |at: &usize| {
        let blocks = &shape.loops.all()[*at].blocks;
        copies[*at] > 1
            && shape.cost(function, blocks).accesses_memory()
            && !(few && iterations.are_many(*at))
    };
    let kept = (0..copies.len()).filter(is_kept);
    let heads: Vec<Block> = kept.map(|at| shape.loops.all()[at].header).collect();
    for head in heads {
        function.block_mut(head).keeps_loop = true;
    }
}

/// By loop: how many copies of it a driver makes, 1 of those that it leaves.
fn copies(function: &Function, shape: &Shape<'_>) -> Vec<usize> {
    let all = shape.loops.all();
    let own = |block: &Block| function.block(*block).insts.len();
    let mut copies = vec![1; all.len()];
    // What loops within have more than once.
    let mut more = vec![0; all.len()];
    // Those around come after those within.
    for (at, found) in all.iter().enumerate() {
        let size = found.blocks.iter().map(own).sum::<usize>() + more[at];
        let candidate = candidate(function, &shape.dominators, found);
        let count = candidate
            .and_then(|it| trip_count::count(function, &it, shape.local_sizes, UNROLLED.0));
        if let Some(count) = count.filter(|count| count * size <= UNROLLED.1) {
            copies[at] = count;
            more[at] += (count - 1) * size;
        }
        if let Some(parent) = found.parent {
            more[parent] += more[at];
        }
    }
    copies
}
