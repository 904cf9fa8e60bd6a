//! Work-group and sub-group collectives in terms of what the device has.
//!
//! Needs: one kernel per module, work-item queries as they are in OpenCL C (`Op::WorkItem`), pointers.
//!
//! **Sub-groups.** OpenCL asks that all sub-groups of a work-group are equally large but the last. Vulkan
//! promises that of no more than a work-group's first dimension, and llvmpipe starts a new sub-group with
//! each row. A kernel that depends on sub-groups therefore runs with work-groups of one row
//! ([`Kernel::linear_groups`]); `lower::work_items` takes its local ids out of the row.
//!
//! An operation that the device has on a type that it has stays. Values that only move go as 32-bit words;
//! small integers and halves are widened where that gives the same result. What is left is built from
//! shuffles and the ballot of who is active, so that it holds in divergent control flow too: see
//! [`sub_group`]. A device without shuffles or ballots has sub-groups of one work-item.
//!
//! A fence of the sub-group's scope says that its work-items exchange something through memory. SPIR-V has no barrier
//! for some of them, and compilers of SYCL write one of a non-uniform group as such a fence, as devices went in step
//! when they began. Here it is a barrier where sub-groups do not: Vulkan's waits for those work-items of the
//! sub-group that come to it together, in divergent control flow too. On a processor a sub-group is one vector.
//!
//! **Work-groups.** Each sub-group reduces its values, its last work-item leaves the result in local memory,
//! and every sub-group combines those of the ones it needs: see [`work_group`].
//!
//! Afterwards: only operations of sub-group scope, of types and kinds that the device has.
//!
//! [`Kernel::linear_groups`]: crate::compiler::ir::Kernel::linear_groups

mod scalars;
mod sub_group;
#[cfg(test)]
mod tests;
mod work_group;

use crate::compiler::capabilities::MemoryOrder;
use crate::compiler::ir::{
    Function, Inst, Kernel, Module, Op, Rewrite, Scope, Semantics, Type, Values, WorkItem,
    rewrite_instructions,
};
use crate::compiler::{Capabilities, CompileError, Context, Defects};
use work_group::Scratch;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let mut uses = Uses::default();
    module.functions.iter().for_each(|f| uses.add(f));
    if !uses.sub_groups {
        return Ok(());
    }
    let device = Device::new(cx.capabilities, module.kernels.first());
    let scratch = Scratch::declare(module, &device, uses.work_group_words);
    if device.has_sub_groups() {
        for kernel in &mut module.kernels {
            kernel.linear_groups = true;
        }
    }
    for function in &mut module.functions {
        lower(function, &device, scratch.as_ref())
            .map_err(|error| error.in_function(function.name.clone()))?;
    }
    Ok(())
}

/// What the module holds of collectives.
#[derive(Default)]
struct Uses {
    /// Anything that depends on sub-groups; work-group collectives are built from them.
    sub_groups: bool,
    /// 32-bit words of the largest value that is combined or broadcast over a work-group.
    work_group_words: u32,
}

impl Uses {
    fn add(&mut self, function: &Function) {
        let insts = function
            .layout()
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        for &inst in insts {
            let data = function.inst(inst);
            match &data.op {
                Op::Group(group, _) => {
                    self.sub_groups = true;
                    if group.scope == Scope::Workgroup {
                        let words = |ty: Type| ty.bits().div_ceil(32);
                        let words = data.results.iter().map(|&v| words(function.ty(v))).sum();
                        self.work_group_words = self.work_group_words.max(words);
                    }
                }
                Op::ControlBarrier {
                    execution: Scope::Subgroup,
                    ..
                }
                | Op::WorkItem(
                    WorkItem::SubgroupSize
                    | WorkItem::SubgroupMaxSize
                    | WorkItem::NumSubgroups
                    | WorkItem::NumEnqueuedSubgroups
                    | WorkItem::SubgroupId
                    | WorkItem::SubgroupLocalId,
                ) => self.sub_groups = true,
                _ => {}
            }
        }
    }
}

/// The device's sub-groups, for one kernel.
struct Device<'a> {
    caps: &'a Capabilities,
    /// Work-items in a full sub-group.
    size: u32,
    /// The most sub-groups that a work-group of the kernel has.
    max_sub_groups: u32,
}

impl<'a> Device<'a> {
    fn new(caps: &'a Capabilities, kernel: Option<&Kernel>) -> Self {
        let size = match kernel {
            Some(kernel) => caps.subgroup_size_of(&kernel.attributes),
            None => caps.subgroup_size.max(1),
        };
        let required = kernel.and_then(|kernel| kernel.attributes.required_work_group_size);
        let work_items = match required {
            Some(sizes) => sizes.iter().fold(1u32, |a, b| a.saturating_mul(*b)),
            None => caps.max_work_group_size,
        };
        Self {
            caps,
            size,
            max_sub_groups: work_items.div_ceil(size).max(1),
        }
    }

    /// Whether sub-groups have more than one work-item.
    fn has_sub_groups(&self) -> bool {
        self.size > 1
    }

    /// Whether work-items need to wait for their sub-group, and can.
    fn waits_for_sub_groups(&self) -> bool {
        self.has_sub_groups() && !self.caps.has(Defects::SUSPENDS_SUB_GROUPS)
    }

    /// Whether work-items that come to a fence of their sub-group wait for each other there: it goes both ways, and
    /// they do not run in step.
    fn waits_at(&self, semantics: Semantics) -> bool {
        let both = Semantics::ACQUIRE_RELEASE | Semantics::SEQUENTIALLY_CONSISTENT;
        semantics.has(both)
            && self.has_sub_groups()
            && self.caps.memory_order == MemoryOrder::Semantics
    }

    /// Whether the device's sub-group instructions take values of a type.
    fn takes(&self, ty: Type) -> bool {
        let extended = self.caps.subgroup.extended_types;
        match ty {
            Type::I32 | Type::F32 => true,
            Type::F64 => self.caps.float64,
            Type::I8 => extended && self.caps.computes8(),
            Type::I16 => extended && self.caps.computes16(),
            Type::I64 => extended && self.caps.int64,
            Type::F16 => extended && self.caps.float16,
            Type::Bool | Type::Ptr(_) => false,
        }
    }
}

fn lower(
    function: &mut Function,
    device: &Device<'_>,
    scratch: Option<&Scratch>,
) -> Result<(), CompileError> {
    rewrite_instructions(function, |b, inst: Inst| {
        let data = b.function.inst(inst);
        let Op::Group(group, values) = &data.op else {
            return Ok(match data.op {
                // Nobody to wait for.
                Op::MemoryBarrier {
                    memory: Scope::Subgroup,
                    semantics,
                } if device.waits_at(semantics) => {
                    b.op0(Op::ControlBarrier {
                        execution: Scope::Subgroup,
                        memory: Scope::Subgroup,
                        semantics,
                    });
                    Rewrite::Replace(Values::new())
                }
                Op::ControlBarrier {
                    execution: Scope::Subgroup,
                    memory,
                    semantics,
                } if !device.waits_for_sub_groups() => {
                    b.op0(Op::MemoryBarrier { memory, semantics });
                    Rewrite::Replace(Values::new())
                }
                _ => Rewrite::Keep,
            });
        };
        let (group, values) = (*group, values.clone());
        let types: Vec<Type> = data.results.iter().map(|&v| b.ty(v)).collect();
        let results = match (group.scope, scratch) {
            (Scope::Subgroup, _) => sub_group::lower(b, device, group.op, &values, &types)?,
            (Scope::Workgroup, Some(scratch)) => {
                work_group::lower(b, device, scratch, group.op, &values, &types)?
            }
            _ => return Err(CompileError::internal("a collective of no group")),
        };
        Ok(Rewrite::Replace(results))
    })?;
    Ok(())
}
