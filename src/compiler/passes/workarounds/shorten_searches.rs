//! Ends llvmpipe's searches for what all work-items have in common.
//!
//! **Why.** Whether a value is the same for all, Mesa finds by going through what it is computed from, as long as that is
//! constants and arguments alone, and does so again for each use (`nir_src_is_dynamically_uniform` in 22.3; 25.0.7 takes as
//! long): each step that uses a number twice doubles the search. The pipeline of `exp(log(x))`, where `x` is a `double`
//! argument, was not done after 20 seconds; where it is loaded from memory it takes 0.2. Nor was that of a state of which
//! each of thirty iterations makes the next one: Mesa unrolls the loop and makes selections of its branches.
//!
//! **How.** The search ends at the first operand that is neither. In kernels with long ones each argument is chosen by a
//! condition that always holds.
//!
//! **Needs** nothing in particular. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::SEARCHES_ALL_PATHS`]).

use crate::compiler::analysis::MadeOfArguments;
use crate::compiler::ir::{
    Function, Module, Op, Place, Rewrite, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::passes::helpers::hidden_zero::holds_always;
use crate::compiler::{CompileError, Context, Defects};

/// Steps that a search may take.
const MOST: u64 = 4096;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::SEARCHES_ALL_PATHS) {
        for function in &mut module.functions {
            if searches_are_long(function) {
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

/// Whether the driver searches for long from some value.
fn searches_are_long(function: &Function) -> bool {
    // Parameters of blocks may become selections of what comes in, and those of a loop what its iterations make of each other;
    // what comes into the function its callers hide.
    let made = MadeOfArguments::through_parameters(function, MOST);
    let is_of_arguments =
        |&value: &Value| function.constant(value).is_none() && made.contains(value);
    let mut insts = function
        .reverse_postorder()
        .into_iter()
        .flat_map(|block| &function.block(block).insts);
    made.most_steps() > MOST
        || insts.any(|&inst| match &function.inst(inst).op {
            // What it computes becomes part of this function.
            Op::Call(_, operands) => operands.iter().any(is_of_arguments),
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::{Access, Binary, Builder, BuiltIn, Compare, Edge, Terminator};
    use crate::compiler::passes::helpers::testing;
    use smallvec::smallvec;

    /// A branch by a number that is an argument, or where it is loaded from, after `steps` that double the search.
    fn decided(steps: usize, from_memory: bool) -> String {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let [yes, no] = [0; 2].map(|_| function.add_block());
        let mut b = Builder::new(&mut function, entry);
        let place = Place::Argument { offset_bytes: 8 };
        let mut value = if !from_memory {
            b.load1(place, Type::I32, Access::aligned(4))
        } else {
            let address = b.load1(place, Type::I64, Access::aligned(8));
            b.load1(Place::Address(address), Type::I32, Access::aligned(4))
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

    /// A loop whose number begins as an argument, `step` of which comes next.
    fn repeated(step: impl Fn(&mut Builder<'_>, Value) -> Value) -> String {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let [header, end] = [0; 2].map(|_| function.add_block());
        let params = [0; 2].map(|_| function.add_param(header, Type::I32));
        let [number, count] = params;
        let mut b = Builder::new(&mut function, entry);
        let place = Place::Argument { offset_bytes: 8 };
        let argument = b.load1(place, Type::I32, Access::aligned(4));
        let zero = b.i32(0);
        b.jump(Edge::new(header, [argument, zero]));
        b.switch_to(header);
        let next = step(&mut b, number);
        let counted = b.binary_const(Binary::Add, count, 1);
        let more = b.compare(Compare::ULess, counted, argument);
        b.branch(more, Edge::new(header, [next, counted]), end);
        b.switch_to(end);
        b.terminate(Terminator::Return(smallvec![number]));
        let mut module = testing::module_of(function);
        testing::run_on(&mut module, &Capabilities::lavapipe(), run).unwrap();
        module.functions[0].to_string()
    }

    fn ends_early(text: &str) -> bool {
        text.contains("num_workgroups")
    }

    #[test]
    fn only_long_searches_from_arguments_end_early() {
        assert!(ends_early(&decided(40, false)), "{}", decided(40, false));
        assert!(!ends_early(&decided(4, false)));
        assert!(!ends_early(&decided(40, true)));
    }

    #[test]
    fn each_iteration_makes_a_search_longer() {
        let doubled = repeated(|b, number| b.binary(Binary::Mul, number, number));
        assert!(ends_early(&doubled), "{doubled}");
        let halved = repeated(|b, number| b.binary_const(Binary::LShr, number, 1));
        assert!(!ends_early(&halved), "{halved}");
        // What depends on the work-item in the second iteration ends the search itself.
        let loaded = repeated(|b, number| {
            let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
            let product = b.binary(Binary::Mul, number, number);
            b.binary(Binary::Add, product, id)
        });
        assert!(!ends_early(&loaded), "{loaded}");
    }

    /// Twelve numbers in turn, each chosen by the one before it.
    #[test]
    fn what_decides_between_numbers_is_searched_too() {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32];
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let place = Place::Argument { offset_bytes: 8 };
        let mut number = b.load1(place, Type::I32, Access::aligned(4));
        for step in 0..12 {
            let [other, meet] = [0; 2].map(|_| b.function.add_block());
            let chosen = b.function.add_param(meet, Type::I32);
            let constant = b.i32(step);
            let condition = b.compare(Compare::ULess, number, constant);
            b.branch(condition, Edge::new(meet, [number]), other);
            b.switch_to(other);
            b.jump(Edge::new(meet, [constant]));
            b.switch_to(meet);
            number = chosen;
        }
        b.terminate(Terminator::Return(smallvec![number]));
        let mut module = testing::module_of(function);
        testing::run_on(&mut module, &Capabilities::lavapipe(), run).unwrap();
        assert!(ends_early(&module.functions[0].to_string()));
    }
}
