//! Puts the bodies of functions in the place of calls.
//!
//! Needs: every called function is defined. After it
//! - no call passes or returns a pointer to local, private or generic memory;
//! - functions marked inline, small ones and those called once are gone;
//! - the module holds only what its kernels reach (functions are renumbered), and no unreachable block.
//!
//! Functions are visited callees first, so that a body is complete when it is copied. OpenCL C has no
//! recursion: a cycle of calls is an error. Large functions that only compute (of the built-in library, for
//! the most part) and are called at several places stay functions: copying them would cost the driver's
//! compiler more than the call. So do those marked not to be inlined, but for a driver that inlines them anyway and then
//! makes mistakes that `simplify` spares it ([`crate::compiler::Defects::MISTAKES_SIGNS`]).
//!
//! Where that makes a kernel too large (`budget.rs`), functions are put into it once and not for each call (`share.rs`,
//! `gather.rs`), behind its last barrier, if it has some (`outline.rs`).

mod budget;
mod call_graph;
mod copy;
mod dominance;
mod gather;
mod outline;
mod own_copies;
mod pointees;
mod share;
#[cfg(test)]
mod tests;

use crate::compiler::analysis::{callees, callees_first};
use crate::compiler::ir::{
    AddressSpace, FuncId, Function, Module, Op, Rewrite, Type, rewrite_instructions,
};
use crate::compiler::{CompileError, Context, Defects, Sharing};
use budget::{Budget, is_convergent};
use call_graph::keep_reachable;
use std::collections::HashMap;

/// Functions of at most so many instructions are always inlined.
const SMALL: usize = 80;

/// Larger ones are, as long as all their copies together have at most so many instructions.
const COPIES: usize = 1500;

/// Parameters that the blocks of a module with shared bodies have at most. What lives across a call is handed on through the
/// shared body: where very much does, that costs more than copies.
const PARAMETERS: usize = 4000;

/// Those that they have where copies would make the kernel very large.
const MOST_PARAMETERS: usize = 1 << 16;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let mut order = callees_first(module)?;
    if let Some(convergent) = Budget::convergent_if_large(module, &order, cx.capabilities) {
        outline::run(module, &|op| match op {
            Op::Call(callee, _) => convergent[callee.index()],
            op => is_convergent(op),
        });
        order = callees_first(module)?;
    }
    let budget = |module: &Module, sharing| Budget::new(module, &order, cx.capabilities, sharing);
    let chosen = budget(module, cx.sharing)?;
    if !chosen.shares() || cx.sharing != Sharing::All {
        return inline(module, &order, chosen, PARAMETERS, cx);
    }
    let [large, nothing] = [Sharing::Large, Sharing::Nothing].map(|it| budget(module, it));
    let is_tried = |it: &Budget| it.is_small(module, &order);
    let tries_large = large.is_ok_and(|it| it.shares() && !it.shares_as(&chosen) && is_tried(&it));
    // Better many parameters than very many copies, or no kernel; which costs less, only the outcome shows.
    let copies = nothing.as_ref();
    let tries_nothing = copies.is_ok_and(|it| is_tried(it) || it.is_large(module, &order));
    let most_params = match copies {
        Ok(copies) if !copies.is_large(module, &order) => PARAMETERS,
        _ => MOST_PARAMETERS,
    };
    let mut shared = module.clone();
    match inline(&mut shared, &order, chosen, most_params, cx).map(|()| parameters(&shared)) {
        Ok(count) if count <= most_params => {
            *module = shared;
            let large = tries_large.then_some(Sharing::Large);
            let nothing = tries_nothing.then_some(Sharing::Nothing);
            module.other_sharing = large.into_iter().chain(nothing).collect();
            return Ok(());
        }
        Ok(count) => log::debug!("shared bodies take {count} parameters"),
        // What else is wrong is found again.
        Err(error) => log::debug!("shared bodies: {error}"),
    }
    drop(shared);
    inline(module, &order, nothing?, PARAMETERS, cx)
}

/// How many parameters all blocks have.
fn parameters(module: &Module) -> usize {
    let of = |function: &Function| -> usize {
        let blocks = function.layout().iter();
        blocks
            .map(|&block| function.block(block).params.len())
            .sum()
    };
    module.functions.iter().map(of).sum()
}

fn inline(
    module: &mut Module,
    order: &[FuncId],
    budget: Budget,
    most_params: usize,
    cx: &Context<'_>,
) -> Result<(), CompileError> {
    let mut calls: HashMap<FuncId, usize> = HashMap::new();
    for &id in order {
        for callee in callees(module.function(id)) {
            *calls.entry(callee).or_default() += 1;
        }
    }
    let mut inliner = Inliner {
        order,
        budget,
        most_params,
        calls,
        whole: HashMap::new(),
        even_if_asked_not_to: cx.capabilities.has(Defects::MISTAKES_SIGNS),
    };
    for &id in order {
        let mut function = std::mem::replace(module.function_mut(id), Function::new(""));
        let name = function.name.clone();
        let result = inliner.inline_calls(module, id, &mut function);
        *module.function_mut(id) = function;
        result.map_err(|error| error.in_function(name))?;
    }
    for kernel in &module.kernels {
        if inliner.budget.is_open(kernel.function) {
            let whole = inliner.with_shared(module, kernel.function)?;
            module.functions[kernel.function.index()] = whole.clone();
        }
    }
    keep_reachable(module)
}

struct Inliner<'a> {
    /// All functions, callees first.
    order: &'a [FuncId],
    budget: Budget,
    /// Parameters that the blocks of a function with shared bodies may have.
    most_params: usize,
    /// How many calls of each function there were at first.
    calls: HashMap<FuncId, usize>,
    /// Functions with the shared ones that they call.
    whole: HashMap<FuncId, Function>,
    even_if_asked_not_to: bool,
}

impl Inliner<'_> {
    fn inline_calls(
        &mut self,
        module: &Module,
        caller: FuncId,
        function: &mut Function,
    ) -> Result<(), CompileError> {
        function.sort_layout();
        rewrite_instructions(function, |b, inst| {
            let data = b.function.inst(inst);
            let Op::Call(id, args) = &data.op else {
                return Ok(Rewrite::Keep);
            };
            let (id, args) = (*id, args.clone());
            let (is_open, is_shared) = (self.budget.is_open(id), self.budget.is_shared(id));
            let ends_sharing = self.budget.ends_sharing(caller, id) && (is_open || is_shared);
            if !ends_sharing && (is_shared || !is_open && !self.should_inline(module, id)) {
                return Ok::<_, CompileError>(Rewrite::Keep);
            }
            let callee = if ends_sharing {
                self.with_shared(module, id)?
            } else {
                module.function(id)
            };
            check_call(callee, args.len(), data.results.len())?;
            Ok(Rewrite::Replace(copy::copy_in_place(b, callee, &args)))
        })?;
        function.sort_layout();
        Ok(())
    }

    /// A function that is done, with the shared ones that it calls.
    fn with_shared(&mut self, module: &Module, id: FuncId) -> Result<&Function, CompileError> {
        use std::collections::hash_map::Entry;
        let (budget, most_params) = (&self.budget, self.most_params);
        Ok(match self.whole.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(share::with_shared(
                module,
                module.function(id),
                self.order,
                &|id| budget.is_shared(id),
                most_params,
            )?),
        })
    }

    fn should_inline(&self, module: &Module, id: FuncId) -> bool {
        let callee = module.function(id);
        let calls = self.calls.get(&id).copied().unwrap_or(0);
        should_inline(callee, calls, self.even_if_asked_not_to)
    }
}

/// Whether a call gives a function what it takes, and takes what it returns.
fn check_call(callee: &Function, args: usize, results: usize) -> Result<(), CompileError> {
    if callee.params().len() == args && callee.return_types.len() == results {
        return Ok(());
    }
    Err(CompileError::invalid(format!(
        "a call of '{}' does not fit its parameters",
        callee.name
    )))
}

fn should_inline(callee: &Function, calls: usize, even_if_asked_not_to: bool) -> bool {
    let is_offset = |ty: &Type| {
        matches!(
            ty,
            Type::Ptr(AddressSpace::Private | AddressSpace::Local | AddressSpace::Generic)
        )
    };
    let passes_offset = callee
        .params()
        .iter()
        .map(|&param| callee.ty(param))
        .chain(callee.return_types.iter().copied())
        .any(|ty| is_offset(&ty));
    if passes_offset || callee.control.inline || calls <= 1 {
        return true;
    }
    if callee.control.dont_inline && !even_if_asked_not_to {
        return false;
    }
    let size: usize = callee
        .layout()
        .iter()
        .map(|&block| callee.block(block).insts.len())
        .sum();
    size <= SMALL || size * calls <= COPIES
}
