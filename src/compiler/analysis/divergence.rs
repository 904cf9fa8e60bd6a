//! Where work-items part, and which loops they leave together.
//!
//! A driver that runs several work-items as one vector makes a loop's iterations until the last of them has left it, and does
//! more for those that have left before than it should ([`crate::compiler::Defects`]). Of loops that all leave in the
//! same iteration nothing of the kind can come.
//!
//! A value *differs* where two work-items that are in the same block, in the same iteration of every loop around it, may have
//! other values in it. What is loaded from memory always does: a vector longer than the work-group makes iterations for those,
//! too, that the group does not have, and loads nothing for them. Where a branch depends on such a value work-items part,
//! until all its ways meet. Then parameters of blocks differ where ways of it join, and where only some work-items leave a
//! loop, all that the loop defines does.
//!
//! What is compared is the work-items of a work-group, or those of a sub-group ([`Scope`]).

use super::{Dominators, Loops, PostDominators, defined_values};
use crate::compiler::ir::{Binary, Block, BuiltIn, Function, Inst, Op, Place, Terminator, Value};
use std::collections::HashSet;
use std::sync::Arc;

/// Steps on the ways on which work-items have parted, for each block of the function.
const MOST_STEPS: usize = 32;

/// By loop of [`Loops::all`]: whether all work-items of a work-group that enter it together leave it in the same iteration. Of
/// functions with cycles that are no loops nothing is known, nor of those with too many ways to follow.
pub fn loops_left_together(function: &Function) -> Vec<bool> {
    let count = function.analysis::<Loops>().all().len();
    let divergence = (count > 0)
        .then(|| Divergence::new(function, Scope::WorkGroup))
        .flatten();
    match divergence {
        Some(mut it) => (0..count).map(|at| it.leaves_together(at)).collect(),
        None => vec![false; count],
    }
}

/// Which work-items are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Those of a work-group, in a function that may be called.
    WorkGroup,
    /// Those of a sub-group that is full and lies along the first dimension, in a function that all enter together, with the
    /// same parameters. A value that only some of them compute differs: the others have none.
    SubGroup { size: u32 },
}

/// The facts about a function.
pub(super) struct Divergence<'a> {
    scope: Scope,
    function: &'a Function,
    dominators: Arc<Dominators>,
    loops: Arc<Loops>,
    post_dominators: Arc<PostDominators>,
    frontiers: Vec<Vec<Block>>,
    /// By value.
    differs: Vec<bool>,
    /// By block: work-items part at its end.
    parts: Vec<bool>,
    /// By block: it is on a way on which work-items have parted.
    is_apart: Vec<bool>,
    /// By loop: some work-items may leave it before others.
    is_left_apart: Vec<bool>,
    /// By block: the last of the walks that came to it.
    seen: Vec<usize>,
    walks: usize,
    /// Left of [`MOST_STEPS`].
    steps: usize,
}

impl<'a> Divergence<'a> {
    /// The facts about a function; `None` where it has cycles that are no loops, or too many ways to follow.
    pub(super) fn new(function: &'a Function, scope: Scope) -> Option<Self> {
        let dominators = function.analysis::<Dominators>();
        let loops = function.analysis::<Loops>();
        if loops.is_irreducible() {
            return None;
        }
        let frontiers = dominators.frontiers(function, MOST_STEPS * function.block_count())?;
        let mut this = Self {
            scope,
            function,
            post_dominators: function.analysis(),
            frontiers,
            differs: vec![false; function.value_count()],
            parts: vec![false; function.block_count()],
            is_apart: vec![false; function.block_count()],
            is_left_apart: vec![false; loops.all().len()],
            dominators,
            loops,
            seen: vec![0; function.block_count()],
            walks: 0,
            steps: MOST_STEPS * function.block_count(),
        };
        if scope == Scope::WorkGroup {
            // Who calls may give each another value.
            this.set(&function.block(function.entry()).params);
        }
        // Nothing that differs ever does not: this ends.
        while this.look()? {}
        Some(this)
    }

    /// By value whether it differs, and by block whether only some work-items may come there together.
    pub(super) fn into_facts(self) -> (Vec<bool>, Vec<bool>) {
        (self.differs, self.is_apart)
    }

    /// Goes over the function once; whether anything has changed, if it could be found out.
    fn look(&mut self) -> Option<bool> {
        let function = self.function;
        let mut changed = false;
        let dominators = self.dominators.clone();
        for &block in dominators.reverse_postorder() {
            let data = function.block(block);
            let is_for_some = self.scope != Scope::WorkGroup && self.is_apart[block.index()];
            if is_for_some {
                changed |= self.set(&data.params);
            }
            for &inst in &data.insts {
                if is_for_some || !self.gives_the_same(inst) {
                    changed |= self.set(&function.inst(inst).results);
                }
            }
            for edge in data.terminator.edges() {
                let params = &function.block(edge.block).params;
                for (&param, &arg) in params.iter().zip(&edge.args) {
                    if self.differs[arg.index()] {
                        changed |= self.set(&[param]);
                    }
                }
            }
            let decides = match data.terminator {
                Terminator::Branch { condition, .. } => Some(condition),
                Terminator::Switch { value, .. } => Some(value),
                _ => None,
            };
            let differs = decides.is_some_and(|value| self.differs[value.index()]);
            if differs && !std::mem::replace(&mut self.parts[block.index()], true) {
                self.part(block)?;
                changed = true;
            }
        }
        Some(changed)
    }

    fn set(&mut self, values: &[Value]) -> bool {
        let mut changed = false;
        for &value in values {
            changed |= !std::mem::replace(&mut self.differs[value.index()], true);
        }
        changed
    }

    /// Whether an instruction gives the same to all that execute it, as far as its operands are.
    fn gives_the_same(&self, inst: Inst) -> bool {
        let op = &self.function.inst(inst).op;
        let operands = || op.operands().iter().all(|it| !self.differs[it.index()]);
        match (op, self.scope) {
            (Op::Undef | Op::VariableAddress(_) | Op::WorkItem(_), _) => false,
            (Op::BuiltIn(built_in), Scope::WorkGroup) => matches!(
                built_in,
                BuiltIn::WorkgroupId(_) | BuiltIn::NumWorkgroups(_)
            ),
            (Op::BuiltIn(built_in), Scope::SubGroup { .. }) => !matches!(
                built_in,
                BuiltIn::LocalInvocationId(0) | BuiltIn::SubgroupLocalInvocationId
            ),
            (&Op::Binary(Binary::LShr, x, amount), Scope::SubGroup { size }) => {
                self.is_number_of_row(x, amount, size) || operands()
            }
            (Op::Load(place, access), Scope::SubGroup { .. }) => {
                let is_constant = access.read_only || matches!(place, Place::Argument { .. });
                is_constant && !access.volatile && operands()
            }
            // Loads are not pure, but for those of arguments.
            (op, _) => op.is_pure() && operands(),
        }
    }

    /// Whether a shift makes of a work-item's place in its row the number of its sub-group there.
    fn is_number_of_row(&self, x: Value, amount: Value, size: u32) -> bool {
        let is_x = matches!(
            self.function.op_of(x),
            Some(Op::BuiltIn(BuiltIn::LocalInvocationId(0)))
        );
        let least = u64::from(size.trailing_zeros());
        is_x && self.function.constant(amount).is_some_and(|by| by >= least)
    }

    /// Work-items part at the end of a block.
    fn part(&mut self, from: Block) -> Option<()> {
        let function = self.function;
        let meet = self.post_dominators.immediate(from);
        self.follow_ways(from, |_| true)?;
        for (is_apart, &seen) in self.is_apart.iter_mut().zip(&self.seen) {
            *is_apart |= seen == self.walks;
        }
        // Where ways join: where several begin, and the iterated dominance frontier of their beginnings, as far as all have met.
        let mut ways = function.successors(from).to_vec();
        let mut begun = HashSet::new();
        let mut joins: HashSet<Block> = ways
            .iter()
            .copied()
            .filter(|&way| !begun.insert(way))
            .collect();
        while let Some(way) = ways.pop() {
            if Some(way) != meet {
                let frontier = self.frontiers[way.index()].iter();
                let frontier =
                    frontier.filter(|it| Some(**it) == meet || self.seen[it.index()] == self.walks);
                ways.extend(frontier.filter(|&&join| joins.insert(join)));
            }
        }
        for join in joins {
            self.set(&function.block(join).params);
        }
        let left: Vec<usize> = self.left_on_the_way(from, meet).collect();
        for left in left {
            if !std::mem::replace(&mut self.is_left_apart[left], true) {
                for value in defined_values(function, &self.loops.all()[left].blocks) {
                    self.set(&[value]);
                }
            }
        }
        Some(())
    }

    /// Visits the block, and those that can be reached from its end before all ways from there meet, until one is not to be
    /// passed; whether all were. `None` after too many steps.
    fn follow_ways(&mut self, from: Block, passes: impl Fn(Block) -> bool) -> Option<bool> {
        let meet = self.post_dominators.immediate(from);
        self.walks += 1;
        let mut ways = vec![from];
        while let Some(way) = ways.pop() {
            self.steps = self.steps.checked_sub(1)?;
            if !passes(way) {
                return Some(false);
            }
            for next in self.function.successors(way) {
                let seen = &mut self.seen[next.index()];
                if Some(next) != meet && std::mem::replace(seen, self.walks) != self.walks {
                    ways.push(next);
                }
            }
        }
        Some(true)
    }

    /// The loops around a block that are not around where its ways meet, the innermost first: some work-items may make a
    /// further iteration when others have left.
    fn left_on_the_way(&self, from: Block, meet: Option<Block>) -> impl Iterator<Item = usize> {
        let is_left = move |&it: &usize| {
            let inside = |meet| self.loops.around(meet).any(|around| around == it);
            // To meet at the header is to meet in the next iteration.
            !meet.is_some_and(|meet| inside(meet) && meet != self.loops.all()[it].header)
        };
        self.loops.around(from).take_while(is_left)
    }

    /// Whether all work-items leave a loop in the same iteration: none leaves where or while they have parted.
    fn leaves_together(&mut self, at: usize) -> bool {
        if self.is_left_apart[at] {
            return false;
        }
        let (function, loops) = (self.function, self.loops.clone());
        let is_inside = |block| loops.around(block).any(|it| it == at);
        let leaves = |block| !function.successors(block).iter().copied().all(is_inside);
        loops.all()[at].blocks.iter().all(|&from| {
            !self.parts[from.index()] || self.follow_ways(from, |way| !leaves(way)) == Some(true)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, Binary, Builder, Compare, Edge, Place, Type};

    /// What a test branches on.
    #[derive(Clone, Copy)]
    enum Decision {
        /// An argument, or anything made of arguments.
        Same,
        /// The number of the work-item.
        Differs,
    }
    use Decision::{Differs, Same};

    fn number(b: &mut Builder<'_>, decision: Decision) -> Value {
        match decision {
            Same => b.load1(
                Place::Argument { offset_bytes: 0 },
                Type::I32,
                Access::aligned(4),
            ),
            Differs => b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32),
        }
    }

    fn is_seven(b: &mut Builder<'_>, decision: Decision) -> Value {
        let (number, seven) = (number(b, decision), b.i32(7));
        b.compare(Compare::Equal, number, seven)
    }

    /// Begins `for (i = 0; i < end; i++)` where the builder is, and goes on within it; the loop's header, its counter and where
    /// it ends.
    fn begin(b: &mut Builder<'_>, end: Value) -> (Block, Value, Block) {
        let [header, body, done] = [0; 3].map(|_| b.function.add_block());
        let counter = b.function.add_param(header, Type::I32);
        let zero = b.i32(0);
        b.jump(Edge::new(header, [zero]));
        b.switch_to(header);
        let more = b.compare(Compare::ULess, counter, end);
        b.branch(more, body, done);
        b.switch_to(body);
        (header, counter, done)
    }

    /// Ends it, and goes on behind it.
    fn end(b: &mut Builder<'_>, (header, counter, done): (Block, Value, Block)) {
        let next = b.binary_const(Binary::Add, counter, 1);
        b.jump(Edge::new(header, [next]));
        b.switch_to(done);
    }

    /// The facts about a function that `write` writes and that returns.
    fn facts(write: impl FnOnce(&mut Builder<'_>)) -> Vec<bool> {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        write(&mut b);
        b.terminate(Terminator::Return(Default::default()));
        loops_left_together(&function)
    }

    #[test]
    fn a_loop_is_left_together_where_its_end_is_the_same_for_all() {
        for (decision, together) in [(Same, true), (Differs, false)] {
            let facts = facts(|b| {
                let last = number(b, decision);
                let iterations = begin(b, last);
                end(b, iterations);
            });
            assert_eq!(facts, [together]);
        }
    }

    #[test]
    fn what_functions_are_given_may_differ() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let last = function.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let iterations = begin(&mut b, last);
        end(&mut b, iterations);
        b.terminate(Terminator::Return(Default::default()));
        assert_eq!(loops_left_together(&function), [false]);
    }

    /// `if (…) return;` before the loop, or the loop within an `if`: some do not take part.
    #[test]
    fn those_that_do_not_take_part_do_not_matter() {
        let facts = facts(|b| {
            let [some, done] = [0; 2].map(|_| b.function.add_block());
            let seven = is_seven(b, Differs);
            b.branch(seven, some, done);
            b.switch_to(some);
            let last = number(b, Same);
            let iterations = begin(b, last);
            end(b, iterations);
            b.jump(done);
            b.switch_to(done);
        });
        assert_eq!(facts, [true]);
    }

    /// `for (…) { if (a) { if (b) break; } }`
    #[test]
    fn a_way_out_that_only_some_pass_parts_them() {
        for (first, second, together) in [
            (Same, Same, true),
            (Differs, Same, false),
            (Same, Differs, false),
        ] {
            let facts = facts(|b| {
                let last = number(b, Same);
                let iterations = begin(b, last);
                let [inner, meet] = [0; 2].map(|_| b.function.add_block());
                let seven = is_seven(b, first);
                b.branch(seven, inner, meet);
                b.switch_to(inner);
                let seven = is_seven(b, second);
                b.branch(seven, iterations.2, meet);
                b.switch_to(meet);
                end(b, iterations);
            });
            assert_eq!(facts, [together]);
        }
    }

    /// `for (…) { if (…) counter++; }`: some count faster.
    #[test]
    fn a_number_differs_where_ways_join() {
        for (decision, together) in [(Same, true), (Differs, false)] {
            let facts = facts(|b| {
                let last = number(b, Same);
                let iterations = begin(b, last);
                let [some, meet] = [0; 2].map(|_| b.function.add_block());
                let count = b.function.add_param(meet, Type::I32);
                let seven = is_seven(b, decision);
                b.branch(seven, some, Edge::new(meet, [iterations.1]));
                b.switch_to(some);
                let more = b.binary_const(Binary::Add, iterations.1, 1);
                b.jump(Edge::new(meet, [more]));
                b.switch_to(meet);
                end(b, (iterations.0, count, iterations.2));
            });
            assert_eq!(facts, [together]);
        }
    }

    /// A branch whose edges go to one block, and a switch of which two do: what they pass there differs.
    #[test]
    fn a_number_differs_where_edges_of_one_branch_join() {
        for (decision, together) in [(Same, true), (Differs, false)] {
            let by_branch = facts(|b| {
                let meet = b.function.add_block();
                let last = b.function.add_param(meet, Type::I32);
                let (seven, four, five) = (is_seven(b, decision), b.i32(4), b.i32(5));
                b.branch(seven, Edge::new(meet, [four]), Edge::new(meet, [five]));
                b.switch_to(meet);
                let iterations = begin(b, last);
                end(b, iterations);
            });
            assert_eq!(by_branch, [together]);
            let by_switch = facts(|b| {
                let [some, done] = [0; 2].map(|_| b.function.add_block());
                let last = b.function.add_param(some, Type::I32);
                let (value, four, five) = (number(b, decision), b.i32(4), b.i32(5));
                b.terminate(Terminator::Switch {
                    value,
                    cases: vec![(0, Edge::new(some, [four])), (1, Edge::new(some, [five]))],
                    default: done.into(),
                });
                b.switch_to(some);
                let iterations = begin(b, last);
                end(b, iterations);
                b.jump(done);
                b.switch_to(done);
            });
            assert_eq!(by_switch, [together]);
        }
    }

    #[test]
    fn inner_loops_that_some_leave_first_do_not_part_them_for_long() {
        let facts = facts(|b| {
            let last = number(b, Same);
            let outer = begin(b, last);
            let last = number(b, Differs);
            let inner = begin(b, last);
            end(b, inner);
            end(b, outer);
        });
        assert_eq!(facts, [false, true], "the inner one first");
    }

    /// `for (i…) for (j…) if (…) goto done;`
    #[test]
    fn a_way_out_of_two_loops() {
        for (decision, together) in [(Same, true), (Differs, false)] {
            let facts = facts(|b| {
                let last = number(b, Same);
                let outer = begin(b, last);
                let inner = begin(b, last);
                let on = b.function.add_block();
                let seven = is_seven(b, decision);
                b.branch(seven, outer.2, on);
                b.switch_to(on);
                end(b, inner);
                end(b, outer);
            });
            assert_eq!(facts, [together, together]);
        }
    }

    /// How many iterations a loop made that some left before others, as the number of another's.
    #[test]
    fn what_comes_out_of_a_loop_differs_if_some_have_left_before() {
        for (decision, together) in [(Same, true), (Differs, false)] {
            let facts = facts(|b| {
                let last = number(b, decision);
                let first = begin(b, last);
                end(b, first);
                let second = begin(b, first.1);
                end(b, second);
            });
            assert_eq!(facts, [together, together]);
        }
    }

    #[test]
    fn what_is_loaded_from_memory_differs() {
        let facts = facts(|b| {
            let argument = Place::Argument { offset_bytes: 0 };
            let address = b.load1(argument, Type::I64, Access::aligned(8));
            let access = Access {
                read_only: true,
                ..Access::aligned(4)
            };
            let last = b.load1(Place::Address(address), Type::I32, access);
            let iterations = begin(b, last);
            end(b, iterations);
        });
        assert_eq!(facts, [false]);
    }

    #[test]
    fn of_a_cycle_with_two_ways_in_nothing_is_known() {
        let facts = facts(|b| {
            let last = number(b, Same);
            let iterations = begin(b, last);
            end(b, iterations);
            let [one, other, done] = [0; 3].map(|_| b.function.add_block());
            let seven = is_seven(b, Same);
            b.branch(seven, one, other);
            b.switch_to(one);
            b.jump(other);
            b.switch_to(other);
            b.branch(seven, one, done);
            b.switch_to(done);
        });
        assert_eq!(facts, [false]);
    }
}
