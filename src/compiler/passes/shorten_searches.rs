//! Ends llvmpipe's searches for what all work-items have in common.
//!
//! **Why.** Whether a value is the same for all, Mesa (`nir_src_is_dynamically_uniform`, seen in 22.3) finds by going through
//! what it is computed from, as long as that is constants and arguments alone, and does so again for each use: each step that
//! uses a number twice doubles the search. The pipeline of `exp(log(x))`, where `x` is a `double` argument, was not done
//! after 20 seconds; where it is loaded from memory it takes 0.2.
//!
//! **How.** The search ends at the first operand that is neither. In kernels with long ones each argument is chosen by a
//! condition that always holds.
//!
//! **Needs** nothing in particular. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::SEARCHES_ALL_PATHS`]).

use super::hidden_zero::holds_always;
use crate::compiler::ir::{
    Edge, Function, Module, Op, Place, Rewrite, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects};

/// Steps that a search may take.
const MOST: u64 = 4096;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::SEARCHES_ALL_PATHS) {
        for function in &mut module.functions {
            if Searches::new(function).are_long() {
                hide_arguments(function)?;
            }
        }
    }
    Ok(())
}

fn hide_arguments(function: &mut Function) -> Result<(), CompileError> {
    rewrite_instructions(function, |b, inst| {
        let data = b.function.inst(inst).clone();
        let Op::Load(Place::Argument { .. }, _) = data.op else {
            return Ok(Rewrite::Keep);
        };
        let types: Vec<Type> = data.results.iter().map(|&it| b.ty(it)).collect();
        b.flags = data.flags;
        let loaded = b.op(data.op, types);
        let holds = holds_always(b);
        let hidden: Values = loaded
            .into_iter()
            .map(|value| {
                let zero = b.constant(b.ty(value), 0);
                b.select(holds, value, zero)
            })
            .collect();
        Ok(Rewrite::Replace(hidden))
    })
    .map(drop)
}

/// The search from a value.
#[derive(Clone, Copy)]
struct Search {
    steps: u64,
    /// Whether it finds constants and arguments alone.
    goes_on: bool,
}

impl Search {
    const ENDS: Self = Self {
        steps: 1,
        goes_on: false,
    };

    /// Through operands, in the worst order, as the driver may turn comparisons round: one that ends the search comes last.
    fn through(operands: impl Iterator<Item = Self>) -> Self {
        let (mut all, mut last) = (1_u64, 0);
        for operand in operands {
            match operand.goes_on {
                true => all = all.saturating_add(operand.steps),
                false => last = last.max(operand.steps),
            }
        }
        Self {
            steps: all.saturating_add(last),
            goes_on: last == 0,
        }
    }
}

/// By value.
struct Searches(Vec<Option<Search>>);

impl Searches {
    fn new(function: &Function) -> Self {
        let order = function.reverse_postorder();
        let mut this = Self(vec![None; function.value_count()]);
        let mut incoming: Vec<Vec<&Edge>> = vec![Vec::new(); function.block_count()];
        for &block in &order {
            for edge in function.block(block).terminator.edges() {
                incoming[edge.block.index()].push(edge);
            }
        }
        for &block in &order {
            let data = function.block(block);
            let edges = &incoming[block.index()];
            for (at, &param) in data.params.iter().enumerate() {
                // They may become selections of what comes in, but for those of loops; callers hide what they give.
                let args = edges.iter().filter_map(|edge| edge.args.get(at));
                let search = match edges.is_empty() {
                    true => Search::ENDS,
                    false => args
                        .map(|arg| this.0[arg.index()])
                        .collect::<Option<Vec<_>>>()
                        .map_or(Search::ENDS, |all| Search::through(all.into_iter())),
                };
                this.0[param.index()] = Some(search);
            }
            for &inst in &data.insts {
                let inst = function.inst(inst);
                let is_of_arguments =
                    |&value: &Value| function.constant(value).is_none() && this.of(value).goes_on;
                let operands = || inst.op.operands().into_iter().map(|value| this.of(value));
                let search = match &inst.op {
                    Op::Const(_) | Op::SpecConst { .. } | Op::Load(Place::Argument { .. }, _) => {
                        Search::through(std::iter::empty())
                    }
                    // What it computes becomes part of this function.
                    Op::Call(..) if inst.op.operands().iter().any(is_of_arguments) => Search {
                        steps: MOST + 1,
                        goes_on: true,
                    },
                    op if op.is_pure() && !inst.op.operands().is_empty() => {
                        Search::through(operands())
                    }
                    _ => Search::ENDS,
                };
                for result in &inst.results {
                    this.0[result.index()] = Some(search);
                }
            }
        }
        this
    }

    fn are_long(&self) -> bool {
        let mut all = self.0.iter().flatten();
        all.any(|search| search.goes_on && search.steps > MOST)
    }

    fn of(&self, value: Value) -> Search {
        let found = self.0.get(value.index()).copied().flatten();
        found.unwrap_or(Search::ENDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::{Access, Binary, Builder, Compare, Terminator};
    use crate::compiler::passes::testing;
    use smallvec::smallvec;

    /// A branch by a number that is an argument, or where it is loaded from, after `steps` that double the search.
    fn decided(steps: usize, from_memory: bool) -> String {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let [yes, no] = [0; 2].map(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let place = Place::Argument { offset_bytes: 8 };
        let mut value = match from_memory {
            false => b.load1(place, Type::I32, Access::aligned(4)),
            true => {
                let address = b.load1(place, Type::I64, Access::aligned(8));
                b.load1(Place::Address(address), Type::I32, Access::aligned(4))
            }
        };
        for _ in 0..steps {
            let scaled = b.binary_const(Binary::Mul, value, 5);
            value = b.binary(Binary::Xor, value, scaled);
        }
        let zero = b.i32(0);
        let condition = b.compare(Compare::NotEqual, value, zero);
        b.branch(condition, Edge::new(yes, []), Edge::new(no, []));
        for block in [yes, no] {
            let mut b = Builder::new(&mut function, block);
            b.terminate(Terminator::Return(smallvec![zero]));
        }
        let mut module = testing::module_of(function);
        testing::run_on(&mut module, &Capabilities::lavapipe(), run).unwrap();
        module.functions[0].to_string()
    }

    #[test]
    fn only_long_searches_from_arguments_end_early() {
        let ends = |text: String| text.contains("num_workgroups");
        assert!(ends(decided(40, false)), "{}", decided(40, false));
        assert!(!ends(decided(4, false)));
        assert!(!ends(decided(40, true)));
    }
}
