//! Switches with many cases as decisions between switches with few, for drivers that have a limit on nesting.

use crate::compiler::ir::{Block, Builder, Compare, Edge, Function, Terminator, Value};

/// Cases that a switch keeps.
const MOST_CASES: usize = 16;

/// Halves the cases of each switch, by their numbers, until none has more than `MOST_CASES`. Returns whether there was one.
///
/// Cases that go on to the next iteration nest in each other, one level for each; comparisons nest as deep as the logarithm
/// of their number.
pub fn split(function: &mut Function) -> bool {
    let mut is_changed = false;
    for block in function.layout().to_vec() {
        let Terminator::Switch {
            value,
            cases,
            default,
        } = &function.block(block).terminator
        else {
            continue;
        };
        if cases.len() > MOST_CASES {
            let (value, mut cases, default) = (*value, cases.clone(), default.clone());
            cases.sort_by_key(|&(number, _)| number);
            halve(function, block, value, cases, &default);
            is_changed = true;
        }
    }
    if is_changed {
        function.sort_layout();
    }
    is_changed
}

/// Ends a block with a switch on sorted cases, or with a decision between two blocks that are ended so.
fn halve(
    function: &mut Function,
    block: Block,
    value: Value,
    cases: Vec<(u64, Edge)>,
    default: &Edge,
) {
    let mut open = vec![(block, cases)];
    while let Some((block, mut cases)) = open.pop() {
        if cases.len() <= MOST_CASES {
            function.block_mut(block).terminator = Terminator::Switch {
                value,
                cases,
                default: default.clone(),
            };
            continue;
        }
        let upper = cases.split_off(cases.len() / 2);
        let halves = [(); 2].map(|()| function.add_block());
        let mut b = Builder::new(function, block);
        let ty = b.ty(value);
        let limit = b.constant(ty, upper[0].0);
        let is_lower = b.compare(Compare::ULess, value, limit);
        b.branch(is_lower, halves[0], halves[1]);
        open.extend([(halves[0], cases), (halves[1], upper)]);
    }
}
