//! Has a kernel say that the device did not make all iterations of its loops.
//!
//! **Why.** llvmpipe counts down from 65,535 with every iteration of every loop of a kernel, each sub-group for itself, and
//! ends a loop that comes to its end when nothing is left (`lp_exec_endloop` of Mesa 22.3, `LP_MAX_TGSI_LOOP_ITERATIONS`):
//! its work-items go on behind it as if it were done. From then on every loop is made once. Nothing raises the count again,
//! neither barriers nor calls, and every other kind of loop of SPIR-V is one of these.
//!
//! **How.** The kernel's last act is a loop of two iterations, of which the driver does not know that they are two. Where it
//! made one, the count is used up: the kernel then stores 1 in a word of its own ([`Implicit::IterationsLost`]), which the
//! host looks at. So a kernel has 65,533 iterations for itself. No other loop costs anything.
//!
//! Kernels whose loops are known to make fewer stay as they are, and so do all of devices without the limit
//! ([`Defects::LIMITS_ITERATIONS`]). Runs after `unroll` and before `lower::arguments`.

use crate::compiler::ir::{
    Access, Binary, Block, Builder, Compare, Edge, Function, Module, Op, Place, Terminator, Type,
};
use crate::compiler::passes::helpers::hidden_zero::holds_always_in;
use crate::compiler::passes::optimize::unroll::most_iterations;
use crate::compiler::program::Implicit;
use crate::compiler::{CompileError, Context, Defects};

/// How many iterations a kernel may make so that two more are made, too.
const MOST: usize = 65_533;

/// Runs the pass on the kernel.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if !cx.capabilities.has(Defects::LIMITS_ITERATIONS) || makes_few(module) {
        return Ok(());
    }
    let Some(kernel) = module.kernels.first().map(|it| it.function.index()) else {
        return Ok(());
    };
    if let Some(function) = module.functions.get_mut(kernel) {
        report(function);
    }
    Ok(())
}

/// Whether a device makes all iterations, whatever the arguments.
fn makes_few(module: &mut Module) -> bool {
    let local_sizes = module.most_local_sizes();
    let kernel = module.kernels.first().map(|it| it.function.index());
    let functions = module.functions.iter_mut().enumerate();
    // How often others are called is not known.
    let mut most = functions.map(
        |(at, function)| match most_iterations(function, local_sizes) {
            Some(0) => true,
            Some(most) => kernel == Some(at) && most <= MOST,
            None => false,
        },
    );
    most.all(|is_few| is_few)
}

/// Puts the loop before every end of a function.
fn report(function: &mut Function) {
    let returns =
        |block: &Block| matches!(function.block(*block).terminator, Terminator::Return(_));
    let ends: Vec<Block> = function.layout().iter().copied().filter(returns).collect();
    if ends.is_empty() {
        return;
    }
    let probe = function.add_block();
    for end in ends {
        function.block_mut(end).terminator = Terminator::Jump(Edge::new(probe, []));
    }
    let [iteration, after, lost, done] = [(); 4].map(|()| function.add_block());
    let count = function.add_param(iteration, Type::I32);
    let mut b = Builder::new(function, probe);
    let [none, one, four] = [0, 1, 4].map(|number| b.i32(number));
    // Two that are equal, which nobody knows of: behind the loop it is known of the first that the count is not below it.
    let [limit, same] = [0, 1].map(|dimension| {
        let always = holds_always_in(&mut b, dimension);
        b.select(always, four, one)
    });
    b.jump(Edge::new(iteration, [none]));

    b.switch_to(iteration);
    // 1, then 4. Where the driver ends the loop, a variable of it has its next value already, but what is computed in it
    // is that of the last iteration: no such value may be found from the variable.
    let scaled = b.binary_const(Binary::Mul, count, 3);
    let next = b.binary(Binary::Add, scaled, one);
    let is_lost = b.compare(Compare::ULess, next, same);
    let goes_on = b.compare(Compare::ULess, next, limit);
    b.branch(goes_on, Edge::new(iteration, [next]), after);

    b.switch_to(after);
    b.branch(is_lost, lost, done);

    b.switch_to(lost);
    let word = b.op1(Op::Implicit(Implicit::IterationsLost), Type::I64);
    b.store1(Place::Address(word), one, Access::aligned(4));
    b.jump(done);

    b.switch_to(done);
    b.terminate(Terminator::Return(Default::default()));
    function.sort_layout();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::FuncId;
    use crate::compiler::passes::helpers::testing;

    /// A kernel of a loop up to its argument, or to a constant.
    fn counting(limit: Option<u32>) -> Module {
        let mut function = Function::new("k");
        let entry = function.entry();
        let param = function.add_param(entry, Type::I32);
        let [iteration, done] = [(); 2].map(|()| function.add_block());
        let count = function.add_param(iteration, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let zero = b.i32(0);
        let last = limit.map_or(param, |limit| b.i32(limit));
        b.jump(Edge::new(iteration, [zero]));
        b.switch_to(iteration);
        let next = b.binary_const(Binary::Add, count, 1);
        let goes_on = b.compare(Compare::ULess, next, last);
        b.branch(goes_on, Edge::new(iteration, [next]), done);
        b.switch_to(done);
        b.terminate(Terminator::Return(Default::default()));
        testing::module_of(function)
    }

    #[test]
    fn a_kernel_that_may_make_many_iterations_asks_whether_all_were_made() {
        let limited = Capabilities {
            defects: Defects::LIMITS_ITERATIONS,
            ..Capabilities::full()
        };
        let run_on = |limit, capabilities: &Capabilities| {
            let mut module = counting(limit);
            testing::run_on(&mut module, capabilities, run).unwrap();
            module
        };
        let asks = |module: &Module| module.functions[0].to_string().contains("iterations_lost");
        assert!(asks(&run_on(None, &limited)));
        assert!(!asks(&run_on(Some(4000), &limited)));
        assert!(!asks(&run_on(None, &Capabilities::full())));

        // Where all are made, the word is not touched: there is none.
        let module = run_on(None, &limited);
        let mut interpreter = Interpreter::new(&module);
        interpreter.run(FuncId(0), &[70_000]).unwrap();
    }
}
