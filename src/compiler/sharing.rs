//! Chooses which functions of a kernel have shared bodies, and which a copy for each call.
//!
//! **Why.** `inline` shares bodies where a kernel would be too large for a driver. What lives across a call of a shared body
//! is handed on through it, and what the calls point to is copied there and back. How much that is shows only once values
//! are out of memory and control flow is structured: a kernel of 20,000 instructions had 8,700 parameters of blocks then, and
//! took llvmpipe 60 s. With a copy for each call it had 30,000 instructions, 700 parameters, and took 4 s. Another, of Bessel
//! functions, took 2.9 s with all bodies shared (4,000 parameters), 1.7 s with none, and 0.9 s with the five largest (600
//! parameters), and then ran as fast as with none.
//!
//! **How.** Where the driver is one that this was seen of ([`super::Capabilities::serial_memory`]), such a kernel is
//! compiled in these ways, and the one that the driver has least work with is taken; with all bodies shared it must be less by
//! a third, as that runs slowest.

use super::analysis::{callees, callees_first};
use super::ir::{Array, FuncId, Function, Module, Op, Place};
use super::passes::workarounds::break_long_blocks::ends_block;
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
/// Those of `lower` with all bodies shared.
pub fn lowered(
    mut module: Module,
    cx: &Context<'_>,
    mut lower: impl FnMut(&mut Module, &Context<'_>) -> Result<(), CompileError>,
) -> Result<Module, CompileError> {
    let copy = cx.capabilities.serial_memory.then(|| module.clone());
    lower(&mut module, cx)?;
    let Some(copy) = copy.filter(|_| !module.other_sharing.is_empty()) else {
        return Ok(module);
    };
    let all = cost(&module)?;
    if all <= CHEAP {
        return Ok(module);
    }
    log::debug!("costs {all} with all bodies shared");
    let mut least = all + all / 2;
    for sharing in std::mem::take(&mut module.other_sharing) {
        let mut other = copy.clone();
        if let Err(error) = lower(&mut other, &Context { sharing, ..*cx }) {
            log::debug!("cannot share {sharing:?}: {error}");
            continue;
        }
        let cost = cost(&other)?;
        log::debug!("costs {cost}, sharing {sharing:?}");
        if cost < least {
            (module, least) = (other, cost);
        }
    }
    Ok(module)
}

/// What a module costs llvmpipe to compile, in instructions of it. Mesa copies the functions that are left for each call.
fn cost(module: &Module) -> Result<u64, CompileError> {
    let mut costs = vec![0u64; module.functions.len()];
    let cost_of = |costs: &[u64], id: FuncId| {
        let function = module.function(id);
        let own = cost_of_function(function, &module.arrays);
        callees(function).fold(own, |sum, callee| sum.saturating_add(costs[callee.index()]))
    };
    for id in callees_first(module)? {
        costs[id.index()] = cost_of(&costs, id);
    }
    let kernels = module.kernels.iter();
    Ok(kernels.map(|kernel| costs[kernel.function.index()]).sum())
}

fn cost_of_function(function: &Function, arrays: &[Array]) -> u64 {
    let (mut insts, mut arguments, mut params, mut accesses) = (0, 0, 0, 0);
    for &block in function.layout() {
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
    let blocks = function.layout().len() as u64 + accesses * BLOCKS_OF_ACCESS;
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
    use crate::compiler::ir::{Binary, Builder, Sharing, Terminator};
    use crate::compiler::passes::helpers::testing;
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

    /// What is taken of a kernel that has `shared` instructions with all bodies shared and so many in other ways, and how often
    /// it was lowered.
    fn taken(
        device: &Capabilities,
        shared: u32,
        others: &[(Sharing, Result<u32, CompileError>)],
    ) -> (usize, u32) {
        let (options, library) = (Options::default(), Library::empty());
        let cx = Context {
            capabilities: device,
            options: &options,
            library: &library,
            sharing: Sharing::All,
        };
        let mut times = 0;
        let module = lowered(module_of(1), &cx, |module, cx| {
            times += 1;
            let other = others.iter().find(|(sharing, _)| *sharing == cx.sharing);
            *module = module_of(match other {
                Some((_, size)) => size.clone()?,
                None => shared,
            });
            if cx.sharing == Sharing::All {
                module.other_sharing = others.iter().map(|(sharing, _)| *sharing).collect();
            }
            Ok(())
        });
        (size(&module.expect("it is lowered")), times)
    }

    #[test]
    fn the_cheapest_way_is_taken() {
        use Sharing::{Large, Nothing};
        let device = Capabilities::lavapipe();
        let [few, more, many] = [20_000, 25_000, 30_000].map(|count| size(&module_of(count)));
        let taken = |shared, others: &[_]| taken(&device, shared, others);
        assert_eq!(taken(30_000, &[(Nothing, Ok(20_000))]), (few, 2));
        assert_eq!(taken(20_000, &[(Nothing, Ok(25_000))]), (more, 2));
        assert_eq!(taken(20_000, &[(Nothing, Ok(40_000))]), (few, 2));
        let large_first = [(Large, Ok(20_000)), (Nothing, Ok(25_000))];
        assert_eq!(taken(30_000, &large_first), (few, 3));
        let nothing_first = [(Large, Ok(30_000)), (Nothing, Ok(25_000))];
        assert_eq!(taken(30_000, &nothing_first), (more, 3));
        let error = || Err(CompileError::unsupported("too large"));
        assert_eq!(taken(30_000, &[(Nothing, error())]), (many, 2));
        let one_fails = [(Large, error()), (Nothing, Ok(20_000))];
        assert_eq!(taken(30_000, &one_fails), (few, 3));
    }

    #[test]
    fn a_kernel_is_compiled_once_where_that_is_enough() {
        let [few, many] = [100, 30_000].map(|count| size(&module_of(count)));
        let (lavapipe, full) = (Capabilities::lavapipe(), Capabilities::full());
        let other = [(Sharing::Nothing, Ok(5))];
        assert_eq!(taken(&lavapipe, 30_000, &[]), (many, 1));
        assert_eq!(taken(&full, 30_000, &other), (many, 1));
        assert_eq!(taken(&lavapipe, 100, &other), (few, 1));
    }

    #[test]
    fn functions_cost_as_often_as_they_are_called() {
        let cost_of = |calls| {
            let mut module = module_of(1);
            let mut called = module_of(1000).functions.remove(0);
            called.name = "called".into();
            let id = module.add_function(called);
            let mut caller = Function::new("k");
            let entry = caller.entry();
            let mut b = Builder::new(&mut caller, entry);
            for _ in 0..calls {
                b.op0(Op::Call(id, smallvec![]));
            }
            b.terminate(Terminator::Return(smallvec![]));
            module.functions[0] = caller;
            cost(&module).expect("nothing is recursive")
        };
        let [one, two, three] = [1, 2, 3].map(cost_of);
        assert!(one > 1000);
        assert_eq!(three - two, two - one);
        assert!(two - one > 1000);
    }
}
