//! Gives every access to a private array an index of its own, for a driver that reads indices too late.
//!
//! **Why.** llvmpipe (seen in Mesa 22.3) lets an access chain and the load or store through it be apart: chains of one index
//! become one, at the first of them. Then `nir_convert_from_ssa` puts a block parameter and the values that go into it into
//! one register, if none is needed while that holds another, and sees the index used by the chain alone. Last,
//! `nir_lower_locals_to_regs` has the load or store itself read the index: out of a register that may hold the next value
//! by then. So `m = i; if (a[i - 1] > a[i]) { swap the two; m = i; }` in a loop over `i` stores to the wrong element.
//!
//! **How.** Each index is combined with a zero that the driver does not know, and of that with another mask for each
//! access. No two accesses have the same index for the driver then, so that every chain stays where it is: just before its
//! load or store. Copies of an access that the driver makes itself may share a chain. Their index is an operation's result
//! and goes into no block parameter, except at the end of a loop, behind all its accesses.
//!
//! **Needs** arrays in place of variables (`lower::pointers`), and that nothing behind it moves accesses or joins indices. Does
//! nothing unless the device asks for it ([`crate::compiler::Defects::READS_INDICES_LATE`]).

use crate::compiler::ir::{
    Array, ArrayStorage, Binary, Function, Inst, Module, Op, Place, Rewrite, Value,
    rewrite_instructions,
};
use crate::compiler::passes::helpers::hidden_zero::no_group_count_bit;
use crate::compiler::{CompileError, Context, Defects};

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::READS_INDICES_LATE) {
        separate(module)?;
    }
    Ok(())
}

fn separate(module: &mut Module) -> Result<(), CompileError> {
    let arrays = &module.arrays;
    let mut mask = 0u32;
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            if let Some(index) = variable_index(b.function, arrays, inst) {
                mask = mask.checked_add(1).ok_or_else(|| {
                    CompileError::unsupported(
                        "more accesses to private arrays than there are numbers",
                    )
                })?;
                let zero = no_group_count_bit(b);
                let zero = b.binary_const(Binary::And, zero, mask.into());
                let own = b.binary(Binary::Xor, index, zero);
                if let Op::Load(Place::Element { index, .. }, _)
                | Op::Store(Place::Element { index, .. }, ..) = &mut b.function.inst_mut(inst).op
                {
                    *index = own;
                }
            }
            Ok::<_, CompileError>(Rewrite::Keep)
        })?;
    }
    Ok(())
}

/// The index of an access to a private array, unless it is constant.
fn variable_index(function: &Function, arrays: &[Array], inst: Inst) -> Option<Value> {
    let (Op::Load(Place::Element { array, index }, _)
    | Op::Store(Place::Element { array, index }, ..)) = function.inst(inst).op
    else {
        return None;
    };
    let is_private = arrays.get(array.index())?.storage == ArrayStorage::Private;
    (is_private && function.constant(index).is_none()).then_some(index)
}

#[cfg(test)]
mod tests {
    use crate::compiler::testing::opencl_c;
    use crate::compiler::{Capabilities, Defects, Library, Options, compile_observed};

    /// A bubble sort whose bound is where it swapped last, which llvmpipe sorted wrongly.
    const SOURCE: &str = "kernel void k(global int *p, uint n) {
        int a[64];
        for (uint i = 0; i < 64; i++) a[i] = p[i];
        while (n > 1) {
            uint last = 0;
            for (uint i = 1; i < n; i++)
                if (a[i - 1] > a[i]) { int t = a[i]; a[i] = a[i - 1]; a[i - 1] = t; last = i; }
            n = last;
        }
        for (uint i = 0; i < 64; i++) p[i] = a[i];
    }";

    /// The variable indices of private arrays, as the code before `structurize` has them.
    fn indices(defects: Defects) -> Vec<crate::compiler::ir::Value> {
        let library = Library::embedded().unwrap();
        let capabilities = Capabilities {
            defects,
            ..Capabilities::full()
        };
        let mut indices = Vec::new();
        let options = Options::default();
        let words = opencl_c(SOURCE);
        let mut look =
            |pass: &str, module: &crate::compiler::ir::Module| {
                if pass != "structure::structurize" {
                    return;
                }
                for function in &module.functions {
                    for &block in function.layout() {
                        let insts = &function.block(block).insts;
                        indices.extend(insts.iter().filter_map(|&inst| {
                            super::variable_index(function, &module.arrays, inst)
                        }));
                    }
                }
            };
        compile_observed(&[&words], &library, &capabilities, &options, &mut look).unwrap();
        indices
    }

    #[test]
    fn each_access_gets_an_index_of_its_own_on_request() {
        let shared = indices(Defects::empty());
        let own = indices(Defects::READS_INDICES_LATE);
        assert_eq!(shared.len(), own.len());
        let distinct = |mut all: Vec<_>| {
            all.sort();
            all.dedup();
            all.len()
        };
        let count = own.len();
        assert_eq!(distinct(own), count);
        assert!(distinct(shared) < count);
    }
}
