//! Which values are made of arguments and constants alone, by operations on numbers.

use super::Dominators;
use crate::compiler::ir::{Block, Edge, Function, Op, Place, Terminator, Value};
use smallvec::SmallVec;
use std::collections::HashSet;

/// How many iterations of a loop a driver may unroll.
const MOST_ITERATIONS: usize = 32;

/// How many blocks are looked at for the conditions that choose a parameter.
const MOST_DECIDING: usize = 64;

/// The values of a function that are.
#[derive(Default)]
pub struct MadeOfArguments {
    /// By value, if it is one: the steps back to all of its arguments and constants.
    steps: Vec<Option<u64>>,
}

impl MadeOfArguments {
    /// Parameters of blocks are none of these values: what comes in may depend on the work-item.
    pub fn new(function: &Function) -> Self {
        let order = function.reverse_postorder();
        let unknown = |_: &Self, _: Block, _: usize| None;
        Self::follow(function, &order, unknown)
    }

    /// A block's parameter is such a value, too, where all that comes in is: a driver may make a selection of it, by what the
    /// branches before it depend on, and copies of a loop's iterations. Once a value takes more than `most` steps it is not
    /// looked for how many more further iterations make.
    pub fn through_parameters(function: &Function, most: u64) -> Self {
        let joins = Joins::new(function);
        let mut refused = HashSet::new();
        let mut this = loop {
            let this = joins.follow(&Self::default(), &refused);
            let others = joins.not_made_again(&this, &refused);
            if others.is_empty() {
                break this;
            }
            refused.extend(others);
        };
        for _ in 1..MOST_ITERATIONS {
            if this.most_steps() > most {
                break;
            }
            let next = joins.follow(&this, &refused);
            if next.steps == this.steps {
                break;
            }
            this = next;
        }
        this
    }

    /// `parameter` says the steps of a block's parameter, of which there may be several.
    fn follow(
        function: &Function,
        order: &[Block],
        parameter: impl Fn(&Self, Block, usize) -> Option<u64>,
    ) -> Self {
        let mut this = Self {
            steps: vec![None; function.value_count()],
        };
        for &block in order {
            let data = function.block(block);
            for (at, &param) in data.params.iter().enumerate() {
                this.steps[param.index()] = parameter(&this, block, at);
            }
            for &inst in &data.insts {
                let inst = function.inst(inst);
                let steps = match &inst.op {
                    Op::Const(_) | Op::SpecConst { .. } | Op::Load(Place::Argument { .. }, _) => {
                        Some(1)
                    }
                    op if op.is_pure() => this.through(&op.operands()),
                    _ => None,
                };
                for result in &inst.results {
                    this.steps[result.index()] = steps;
                }
            }
        }
        this
    }

    /// The steps of what is made of these values, if all are made of arguments, and there is one at least.
    fn through(&self, values: &[Value]) -> Option<u64> {
        let first = (!values.is_empty()).then_some(1_u64)?;
        values.iter().try_fold(first, |steps, value| {
            Some(steps.saturating_add(self.steps[value.index()]?))
        })
    }

    /// Whether the value is one. Not known of values that are newer.
    pub fn contains(&self, value: Value) -> bool {
        self.steps.get(value.index()).is_some_and(Option::is_some)
    }

    /// The most steps that one of them takes back to all of its arguments and constants. From a number used twice they are
    /// taken twice.
    pub fn most_steps(&self) -> u64 {
        self.steps.iter().flatten().copied().max().unwrap_or(0)
    }
}

/// Where the ways of a function meet, and what goes into parameters there.
struct Joins<'a> {
    function: &'a Function,
    order: Vec<Block>,
    /// By block, the edges to it from blocks before it in the order.
    forward: Vec<Vec<&'a Edge>>,
    /// By block, those that lead back to it.
    back: Vec<Vec<&'a Edge>>,
    /// By block, what decides which of the forward edges is taken.
    decisions: Vec<Vec<Value>>,
}

impl<'a> Joins<'a> {
    fn new(function: &'a Function) -> Self {
        let dominators = function.analysis::<Dominators>();
        let order = dominators.reverse_postorder().to_vec();
        let mut forward: Vec<Vec<&Edge>> = vec![Vec::new(); function.block_count()];
        let mut back = forward.clone();
        for &block in &order {
            for edge in function.block(block).terminator.edges() {
                let is_forward = dominators.position(block) < dominators.position(edge.block);
                let edges = if is_forward { &mut forward } else { &mut back };
                edges[edge.block.index()].push(edge);
            }
        }
        let mut decisions = vec![Vec::new(); function.block_count()];
        let predecessors = function.predecessors();
        for &block in &order {
            let params = &function.block(block).params;
            if !params.is_empty() && forward[block.index()].len() > 1 {
                decisions[block.index()] =
                    decisions_before(function, &dominators, block, &predecessors);
            }
        }
        Self {
            function,
            order,
            forward,
            back,
            decisions,
        }
    }

    /// One more iteration of each loop than there are in `before`, empty at first.
    fn follow(&self, before: &MadeOfArguments, refused: &HashSet<Value>) -> MadeOfArguments {
        let parameter = |this: &MadeOfArguments, block: Block, at: usize| {
            let param = *self.function.block(block).params.get(at)?;
            if refused.contains(&param) {
                return None;
            }
            let steps = this.through(&arguments(&self.forward[block.index()], at))?;
            let decisions = self.decisions[block.index()].iter();
            let made = decisions.filter_map(|value| this.steps[value.index()]);
            let steps = made.fold(steps, u64::saturating_add);
            let back = arguments(&self.back[block.index()], at);
            let again = back
                .iter()
                .filter_map(|it| *before.steps.get(it.index())?)
                .max();
            Some(steps.max(again.unwrap_or(0)))
        };
        MadeOfArguments::follow(self.function, &self.order, parameter)
    }

    /// The parameters of loops that count as made of arguments, and are not in later iterations.
    fn not_made_again(&self, this: &MadeOfArguments, refused: &HashSet<Value>) -> Vec<Value> {
        let mut found = Vec::new();
        for &block in &self.order {
            for (at, param) in self.function.block(block).params.iter().enumerate() {
                let back = arguments(&self.back[block.index()], at);
                if !refused.contains(param) && back.iter().any(|&value| !this.contains(value)) {
                    found.push(*param);
                }
            }
        }
        found
    }
}

/// What edges give for the parameter number `at`.
fn arguments(edges: &[&Edge], at: usize) -> Vec<Value> {
    let args = edges.iter().filter_map(|edge| edge.args.get(at).copied());
    args.collect()
}

/// What branches depend on between a block and the one that dominates it, as far as it is looked for.
fn decisions_before(
    function: &Function,
    dominators: &Dominators,
    block: Block,
    predecessors: &[SmallVec<[Block; 4]>],
) -> Vec<Value> {
    let first = dominators.immediate_dominator(block);
    let mut seen = HashSet::from([block]);
    let mut work = predecessors[block.index()].to_vec();
    let mut found = Vec::new();
    while let Some(block) = work.pop() {
        if !dominators.is_reachable(block) || !seen.insert(block) || seen.len() > MOST_DECIDING {
            continue;
        }
        let terminator = &function.block(block).terminator;
        if let Terminator::Branch { .. } | Terminator::Switch { .. } = terminator {
            found.extend(terminator.read());
        }
        if Some(block) != first {
            work.extend_from_slice(&predecessors[block.index()]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{
        Access, Binary, Builder, BuiltIn, Compare, Convert, Terminator, Type, Unary,
    };

    fn argument(b: &mut Builder<'_>) -> Value {
        let place = Place::Argument { offset_bytes: 8 };
        b.load1(place, Type::I32, Access::aligned(4))
    }

    #[test]
    fn numbers_made_of_arguments_and_constants_are_and_others_are_not() {
        let mut function = Function::new("k");
        let entry = function.entry();
        let param = function.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let told = b.op1(Op::SpecConst { id: 3, default: 0 }, Type::I32);
        let (number, constant) = (argument(&mut b), b.i32(5));
        let sum = b.binary(Binary::Add, number, told);
        let negated = b.unary(Unary::Negate, sum);
        let less = b.compare(Compare::ULess, negated, constant);
        let chosen = b.select(less, sum, number);
        let long = b.convert(Convert::ZeroExtend, chosen, Type::I64);
        let product = Op::MulExtended {
            signed: false,
            a: chosen,
            b: sum,
        };
        let halves = b.op(product, [Type::I32; 2]);

        let loaded = b.load1(Place::Address(long), Type::I32, Access::aligned(4));
        let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let undefined = b.undef(Type::I32);
        let mixed = b.binary(Binary::Add, number, id);
        let is_id = b.compare(Compare::Equal, id, constant);
        let chosen_by_id = b.select(is_id, number, constant);
        b.terminate(Terminator::Return(Default::default()));
        for made in [
            MadeOfArguments::new(&function),
            MadeOfArguments::through_parameters(&function, u64::MAX),
        ] {
            for value in [told, number, constant, sum, negated, less, chosen, long] {
                assert!(made.contains(value), "{value}\n{function}");
            }
            assert!(halves.iter().all(|&half| made.contains(half)));
            for value in [param, loaded, id, undefined, mixed, is_id, chosen_by_id] {
                assert!(!made.contains(value), "{value}\n{function}");
            }
        }
    }

    #[test]
    fn parameters_are_where_they_are_followed_and_all_that_comes_in_is() {
        let mut function = Function::new("k");
        let entry = function.entry();
        let [some, meet, iteration, done] = [0; 4].map(|_| function.add_block());
        let [both, one] = [0; 2].map(|_| function.add_param(meet, Type::I32));
        let counter = function.add_param(iteration, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let (number, five) = (argument(&mut b), b.i32(5));
        let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let less = b.compare(Compare::ULess, id, five);
        b.branch(less, some, Edge::new(meet, [number, number]));
        b.switch_to(some);
        b.jump(Edge::new(meet, [five, id]));
        b.switch_to(meet);
        let scaled = b.binary_const(Binary::Mul, both, 3);
        b.jump(Edge::new(iteration, [five]));
        b.switch_to(iteration);
        let next = b.binary_const(Binary::Add, counter, 1);
        let more = b.compare(Compare::ULess, next, number);
        b.branch(more, Edge::new(iteration, [next]), done);
        b.switch_to(done);
        b.terminate(Terminator::Return(Default::default()));
        let strict = MadeOfArguments::new(&function);
        let followed = MadeOfArguments::through_parameters(&function, u64::MAX);
        for value in [both, scaled] {
            assert!(!strict.contains(value) && followed.contains(value));
        }
        for value in [counter, next] {
            assert!(!strict.contains(value) && followed.contains(value));
        }
        assert!(!strict.contains(one) && !followed.contains(one));
    }

    #[test]
    fn each_use_is_a_way_of_its_own() {
        let steps = |doubled: usize| {
            let mut function = Function::new("k");
            let entry = function.entry();
            let mut b = Builder::new(&mut function, entry);
            let mut number = argument(&mut b);
            for _ in 0..doubled {
                number = b.binary(Binary::Add, number, number);
            }
            MadeOfArguments::new(&function).most_steps()
        };
        assert_eq!(steps(0), 1);
        assert_eq!(steps(2), 1 + 2 * (1 + 2));
        assert_eq!(steps(11), (1 << 12) - 1);
        assert_eq!(steps(100), u64::MAX);
    }
}
