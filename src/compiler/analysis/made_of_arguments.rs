//! Which values are made of arguments and constants alone, by operations on numbers.

use crate::compiler::ir::{Block, Edge, Function, Op, Place, Value};

/// The values of a function that are.
pub struct MadeOfArguments {
    /// By value, if it is one: the steps back to all of its arguments and constants.
    steps: Vec<Option<u64>>,
}

impl MadeOfArguments {
    /// Parameters of blocks are none of these values: what comes in may depend on the work-item.
    pub fn new(function: &Function) -> Self {
        let incoming = vec![Vec::new(); function.block_count()];
        Self::follow(function, &function.reverse_postorder(), &incoming)
    }

    /// A block's parameter is such a value, too, where all that comes in is, but for a loop's.
    pub fn through_parameters(function: &Function) -> Self {
        let order = function.reverse_postorder();
        let mut incoming: Vec<Vec<&Edge>> = vec![Vec::new(); function.block_count()];
        for &block in &order {
            for edge in function.block(block).terminator.edges() {
                incoming[edge.block.index()].push(edge);
            }
        }
        Self::follow(function, &order, &incoming)
    }

    /// `incoming`: by block, the edges that give its parameters. A block without any has parameters of which nothing is known.
    fn follow(function: &Function, order: &[Block], incoming: &[Vec<&Edge>]) -> Self {
        let mut this = Self {
            steps: vec![None; function.value_count()],
        };
        for &block in order {
            let data = function.block(block);
            for (at, &param) in data.params.iter().enumerate() {
                let edges = incoming[block.index()].iter();
                let args: Vec<Value> = edges.filter_map(|it| it.args.get(at).copied()).collect();
                this.steps[param.index()] = this.through(&args);
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
            MadeOfArguments::through_parameters(&function),
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
        let [some, meet, round, done] = [0; 4].map(|_| function.add_block());
        let [both, one] = [0; 2].map(|_| function.add_param(meet, Type::I32));
        let counter = function.add_param(round, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let (number, five) = (argument(&mut b), b.i32(5));
        let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let less = b.compare(Compare::ULess, id, five);
        b.branch(less, some, Edge::new(meet, [number, number]));
        b.switch_to(some);
        b.jump(Edge::new(meet, [five, id]));
        b.switch_to(meet);
        let scaled = b.binary_const(Binary::Mul, both, 3);
        b.jump(Edge::new(round, [five]));
        b.switch_to(round);
        let next = b.binary_const(Binary::Add, counter, 1);
        let more = b.compare(Compare::ULess, next, number);
        b.branch(more, Edge::new(round, [next]), done);
        b.switch_to(done);
        b.terminate(Terminator::Return(Default::default()));
        let strict = MadeOfArguments::new(&function);
        let followed = MadeOfArguments::through_parameters(&function);
        for value in [both, scaled] {
            assert!(!strict.contains(value) && followed.contains(value));
        }
        for value in [one, counter, next] {
            assert!(!strict.contains(value) && !followed.contains(value));
        }
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
