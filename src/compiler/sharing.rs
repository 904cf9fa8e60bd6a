//! Chooses whether the functions of a kernel have shared bodies or a copy for each call.
//!
//! **Why.** `inline` shares bodies where a kernel would be too large for a driver. What lives across a call of a shared body
//! is handed on through it, and what the calls point to is copied there and back. How much that is shows only once values
//! are out of memory and control flow is structured: a kernel of 20,000 instructions had 8,700 parameters of blocks then, and
//! took llvmpipe 60 s. With a copy for each call it had 30,000 instructions, 700 parameters, and took 4 s.
//!
//! **How.** Where the driver is one that this was seen of ([`super::Capabilities::serial_memory`]), such a kernel is
//! compiled in both ways, and the one that the driver has less work with is taken.

use super::ir::{Array, Function, Module, Op, Place};
use super::passes::break_long_blocks::ends_block;
use super::{CompileError, Context};

/// A kernel that costs no more is not compiled a second time.
const CHEAP: u64 = 20_000;

/// What an instruction costs, in instructions of the driver.
const INSTRUCTION: u64 = 2;

/// What an access to a private array at a computed index costs, in instructions of Pumice's: the driver makes it once for
/// each work-item.
const ELEMENT: u64 = 16;

/// What it costs to give a parameter of a block its value.
const ARGUMENT: u64 = 8;

/// Blocks and variables that the driver makes of an access to memory.
const BLOCKS_OF_ACCESS: u64 = 5;
const VARIABLES_OF_ACCESS: u64 = 2;

/// How many pairs of a block and a variable cost as much as an instruction of the driver: its coroutine passes look at all
/// blocks for each variable.
const PAIRS: u64 = 140;

/// A kernel's module after all passes, which `lower` runs.
///
/// # Errors
/// Those of `lower` with shared bodies.
pub fn lowered(
    mut module: Module,
    cx: &Context<'_>,
    mut lower: impl FnMut(&mut Module, &Context<'_>) -> Result<(), CompileError>,
) -> Result<Module, CompileError> {
    let copy = cx.capabilities.serial_memory.then(|| module.clone());
    lower(&mut module, cx)?;
    let shared_cost = cost(&module);
    let is_worth_it = module.could_copy && shared_cost > CHEAP;
    let Some(mut copied) = copy.filter(|_| is_worth_it) else {
        return Ok(module);
    };
    let without = Context {
        shares_bodies: false,
        ..*cx
    };
    match lower(&mut copied, &without) {
        Ok(()) => {
            let copied_cost = cost(&copied);
            log::debug!("costs {shared_cost} with shared bodies, {copied_cost} without");
            Ok(if copied_cost < shared_cost {
                copied
            } else {
                module
            })
        }
        Err(error) => {
            log::debug!("shared bodies are needed: {error}");
            Ok(module)
        }
    }
}

/// What a module costs llvmpipe to compile, in instructions of it.
fn cost(module: &Module) -> u64 {
    let functions = module.functions.iter();
    functions
        .map(|function| cost_of_function(function, &module.arrays))
        .sum()
}

fn cost_of_function(function: &Function, arrays: &[Array]) -> u64 {
    let (mut insts, mut arguments, mut params, mut accesses) = (0, 0, 0, 0);
    for &block in &function.layout {
        let data = function.block(block);
        insts += data.insts.len() as u64;
        params += data.params.len() as u64;
        let edges = data.terminator.edges();
        arguments += edges.iter().map(|edge| edge.args.len() as u64).sum::<u64>();
        for &inst in &data.insts {
            let op = &function.inst(inst).op;
            accesses += u64::from(ends_block(op, arrays));
            insts += ELEMENT * u64::from(is_computed_element(function, op));
        }
    }
    let blocks = function.layout.len() as u64 + accesses * BLOCKS_OF_ACCESS;
    let variables = params + accesses * VARIABLES_OF_ACCESS;
    insts * INSTRUCTION + arguments * ARGUMENT + blocks * variables / PAIRS
}

/// Whether an operation accesses an array at an index that is no constant.
fn is_computed_element(function: &Function, op: &Op) -> bool {
    matches!(op.place(), Some(Place::Element { index, .. }) if function.constant(index).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Builder, FuncId, Terminator};
    use crate::compiler::passes::testing;
    use crate::compiler::{Capabilities, Library, Options};
    use smallvec::smallvec;

    /// A module of so many instructions.
    fn module_of(instructions: u32) -> Module {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let mut value = b.i32(1);
        for _ in 0..instructions {
            value = b.binary(Binary::Mul, value, value);
        }
        b.terminate(Terminator::Return(smallvec![]));
        testing::module_of(function)
    }

    fn size(module: &Module) -> usize {
        module.function(FuncId(0)).inst_count()
    }

    /// What is taken of a kernel that has `shared` instructions with shared bodies and so many without, and how often it was lowered.
    fn taken(
        device: &Capabilities,
        could_copy: bool,
        shared: u32,
        copied: Result<u32, CompileError>,
    ) -> (usize, u32) {
        let (options, library) = (Options::default(), Library::empty());
        let cx = Context {
            capabilities: device,
            options: &options,
            library: &library,
            shares_bodies: true,
        };
        let mut times = 0;
        let module = lowered(module_of(1), &cx, |module, cx| {
            times += 1;
            *module = module_of(if cx.shares_bodies {
                shared
            } else {
                copied.clone()?
            });
            module.could_copy = could_copy && cx.shares_bodies;
            Ok(())
        });
        (size(&module.expect("it is lowered")), times)
    }

    #[test]
    fn the_cheaper_way_is_taken() {
        let device = Capabilities::lavapipe();
        let [few, many] = [20_000, 30_000].map(|count| size(&module_of(count)));
        assert_eq!(taken(&device, true, 30_000, Ok(20_000)), (few, 2));
        assert_eq!(taken(&device, true, 20_000, Ok(30_000)), (few, 2));
        let error = Err(CompileError::new("too large"));
        assert_eq!(taken(&device, true, 30_000, error), (many, 2));
    }

    #[test]
    fn a_kernel_is_compiled_once_where_that_is_enough() {
        let [few, many] = [100, 30_000].map(|count| size(&module_of(count)));
        let (lavapipe, full) = (Capabilities::lavapipe(), Capabilities::full());
        assert_eq!(taken(&lavapipe, false, 30_000, Ok(5)), (many, 1));
        assert_eq!(taken(&full, true, 30_000, Ok(5)), (many, 1));
        assert_eq!(taken(&lavapipe, true, 100, Ok(5)), (few, 1));
    }
}
