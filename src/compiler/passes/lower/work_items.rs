//! Turns OpenCL's work-item queries into Vulkan inputs, specialization constants and implicit values.
//!
//! Needs: one kernel per module. After it no `Op::WorkItem` is left.
//!
//! The local size is the specialization constants 0, 1, 2, or plain constants where the kernel fixes it
//! (`reqd_work_group_size`) and work-groups are uniform. A range may be launched as several dispatches: because the device limits the
//! number of groups, and because the remainder of a non-uniform range runs with its own pipeline, whose
//! local size is the remainder. `Implicit::GlobalBase` is the global id at which a dispatch starts, so that
//!
//! ```text
//! get_global_id(d) = GlobalBase(d) + zero_extend(WorkgroupId(d) * LocalSize(d) + LocalInvocationId(d))
//! ```
//!
//! holds for all of them with one 64-bit addition and no other implicit value: the runtime keeps the part in
//! brackets below 2³², and in a remainder `WorkgroupId(d)` is 0.
//!
//! Where work-groups are one row to Vulkan (`Kernel::linear_groups`), `LocalInvocationId(0)` is the linear
//! local id, and the local ids are taken out of it.

use crate::compiler::ir::{
    AddressSpace, Binary, Builder, BuiltIn, Convert, Module, Op, Rewrite, Scope, Type, Value,
    WorkItem, rewrite_instructions,
};
use crate::compiler::program::Implicit;
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let kernel = module.kernels.first();
    let queries = Queries {
        required: kernel.and_then(|kernel| kernel.attributes.required_work_group_size),
        linear: kernel.is_some_and(|kernel| kernel.linear_groups),
        uniform: cx.options.uniform_work_groups,
        subgroup_size: kernel.map_or(1, |kernel| {
            cx.capabilities.subgroup_size_of(&kernel.attributes)
        }),
    };
    let sees = sees_work_groups(module);
    for kernel in &mut module.kernels {
        kernel.sees_work_groups = sees;
    }
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let data = b.function.inst(inst);
            let Op::WorkItem(query) = data.op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let ty = b.ty(data.results[0]);
            let value = queries.lower(b, query);
            let value = b.resize_int(value, ty, false);
            Ok(Rewrite::Replace(smallvec![value]))
        })?;
    }
    Ok(())
}

struct Queries {
    required: Option<[u32; 3]>,
    /// `Kernel::linear_groups`
    linear: bool,
    uniform: bool,
    subgroup_size: u32,
}

impl Queries {
    /// The query's value, I32 or I64.
    fn lower(&self, b: &mut Builder<'_>, query: WorkItem) -> Value {
        match query {
            WorkItem::GlobalId(d) => self.global_id(b, d),
            WorkItem::GlobalSize(d) => implicit(b, Implicit::GlobalSize(d)),
            WorkItem::GlobalOffset(d) => implicit(b, Implicit::GlobalOffset(d)),
            WorkItem::LocalId(d) => self.local_id(b, d),
            WorkItem::LocalSize(d) => self.local_size(b, d),
            WorkItem::EnqueuedLocalSize(d) => self.enqueued_local_size(b, d),
            WorkItem::GroupId(d) => {
                let group = built_in(b, BuiltIn::WorkgroupId(d));
                let base = implicit(b, Implicit::GroupBase(d));
                b.binary(Binary::Add, group, base)
            }
            WorkItem::NumGroups(d) => implicit(b, Implicit::NumGroups(d)),
            WorkItem::WorkDim => implicit(b, Implicit::WorkDim),
            WorkItem::GlobalLinearId => {
                let [x, y, z] = [0, 1, 2].map(|d| {
                    let id = self.global_id(b, d);
                    let offset = implicit(b, Implicit::GlobalOffset(d));
                    b.binary(Binary::Sub, id, offset)
                });
                let [width, height] = [0, 1].map(|d| implicit(b, Implicit::GlobalSize(d)));
                linear(b, [x, y, z], [width, height])
            }
            WorkItem::LocalLinearId => {
                if self.linear {
                    return built_in(b, BuiltIn::LocalInvocationId(0));
                }
                let ids = [0, 1, 2].map(|d| self.local_id(b, d));
                let sizes = [0, 1].map(|d| self.local_size(b, d));
                linear(b, ids, sizes)
            }
            WorkItem::SubgroupSize => self.subgroup_size(b),
            WorkItem::SubgroupMaxSize => b.i32(self.subgroup_size),
            WorkItem::NumSubgroups => {
                let sizes = [0, 1, 2].map(|d| self.local_size(b, d));
                self.subgroup_count(b, sizes)
            }
            WorkItem::NumEnqueuedSubgroups => {
                let sizes = [0, 1, 2].map(|d| self.enqueued_local_size(b, d));
                self.subgroup_count(b, sizes)
            }
            WorkItem::SubgroupId if self.subgroup_size == 1 => {
                self.lower(b, WorkItem::LocalLinearId)
            }
            WorkItem::SubgroupLocalId if self.subgroup_size == 1 => b.i32(0),
            WorkItem::SubgroupId => built_in(b, BuiltIn::SubgroupId),
            WorkItem::SubgroupLocalId => built_in(b, BuiltIn::SubgroupLocalInvocationId),
        }
    }

    fn global_id(&self, b: &mut Builder<'_>, d: u8) -> Value {
        let group = built_in(b, BuiltIn::WorkgroupId(d));
        let size = self.local_size(b, d);
        let local = self.local_id(b, d);
        let start = b.binary(Binary::Mul, group, size);
        let within = b.binary(Binary::Add, start, local);
        let within = b.convert(Convert::ZeroExtend, within, Type::I64);
        let base = implicit(b, Implicit::GlobalBase(d));
        b.binary(Binary::Add, within, base)
    }

    fn local_size(&self, b: &mut Builder<'_>, d: u8) -> Value {
        let required = self.required_size(d);
        match required {
            Some(size) if self.uniform => b.i32(size),
            _ => {
                let (id, default) = (u32::from(d), required.unwrap_or(1));
                b.op1(Op::SpecConst { id, default }, Type::I32)
            }
        }
    }

    fn required_size(&self, d: u8) -> Option<u32> {
        self.required?.get(usize::from(d)).copied()
    }

    fn enqueued_local_size(&self, b: &mut Builder<'_>, d: u8) -> Value {
        match self.required_size(d) {
            Some(size) => b.i32(size),
            None if self.uniform => self.local_size(b, d),
            None => implicit(b, Implicit::EnqueuedLocalSize(d)),
        }
    }

    /// The number of sub-groups in a work-group of these sizes.
    fn subgroup_count(&self, b: &mut Builder<'_>, sizes: [Value; 3]) -> Value {
        let total = product(b, sizes);
        let padded = b.binary_const(Binary::Add, total, (self.subgroup_size - 1).into());
        b.binary_const(Binary::UDiv, padded, self.subgroup_size.into())
    }

    /// Vulkan's `SubgroupSize` counts inactive invocations too; OpenCL's last sub-group of a work-group is
    /// as small as what is left of it.
    fn subgroup_size(&self, b: &mut Builder<'_>) -> Value {
        let size = b.i32(self.subgroup_size);
        if self.subgroup_size == 1 {
            return size;
        }
        let id = built_in(b, BuiltIn::SubgroupId);
        let sizes = [0, 1, 2].map(|d| self.local_size(b, d));
        let total = product(b, sizes);
        let before = b.binary(Binary::Mul, id, size);
        let left = b.binary(Binary::Sub, total, before);
        b.binary(Binary::UMin, size, left)
    }

    /// Vulkan's own, or in a work-group of one row the place in it taken apart.
    fn local_id(&self, b: &mut Builder<'_>, d: u8) -> Value {
        if !self.linear {
            return built_in(b, BuiltIn::LocalInvocationId(d));
        }
        let mut left = built_in(b, BuiltIn::LocalInvocationId(0));
        for before in 0..d {
            let size = self.local_size(b, before);
            left = b.binary(Binary::UDiv, left, size);
        }
        let is_last = (d + 1..3).all(|after| self.required_size(after) == Some(1));
        if is_last {
            return left;
        }
        let size = self.local_size(b, d);
        b.binary(Binary::URem, left, size)
    }
}

/// Whether anything tells how the range is cut into work-groups.
fn sees_work_groups(module: &Module) -> bool {
    let local = Type::Ptr(AddressSpace::Local);
    let sees = |op: &Op| match op {
        Op::WorkItem(query) => !matches!(
            query,
            WorkItem::GlobalId(_)
                | WorkItem::GlobalSize(_)
                | WorkItem::GlobalOffset(_)
                | WorkItem::GlobalLinearId
                | WorkItem::WorkDim
        ),
        Op::Group(..) => true,
        Op::ControlBarrier { execution, .. } => *execution != Scope::Invocation,
        Op::GlobalAddress(id) => module.global(*id).space == AddressSpace::Local,
        _ => false,
    };
    module.functions.iter().any(|function| {
        let params = function.params().iter();
        let mut insts = function
            .layout()
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        insts.any(|&inst| sees(&function.inst(inst).op))
            || params
                .map(|&param| function.ty(param))
                .any(|ty| ty == local)
    })
}

fn implicit(b: &mut Builder<'_>, implicit: Implicit) -> Value {
    let ty = if implicit.size_bytes() == 8 {
        Type::I64
    } else {
        Type::I32
    };
    b.op1(Op::Implicit(implicit), ty)
}

fn built_in(b: &mut Builder<'_>, input: BuiltIn) -> Value {
    b.op1(Op::BuiltIn(input), Type::I32)
}

/// `(z * height + y) * width + x`
fn linear(b: &mut Builder<'_>, [x, y, z]: [Value; 3], [width, height]: [Value; 2]) -> Value {
    let plane = b.binary(Binary::Mul, z, height);
    let row = b.binary(Binary::Add, plane, y);
    let start = b.binary(Binary::Mul, row, width);
    b.binary(Binary::Add, start, x)
}

fn product(b: &mut Builder<'_>, [x, y, z]: [Value; 3]) -> Value {
    let plane = b.binary(Binary::Mul, x, y);
    b.binary(Binary::Mul, plane, z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Function, Kernel, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::{Capabilities, Options};

    fn lowered(query: WorkItem, ty: Type, required: Option<[u32; 3]>) -> String {
        lowered_for(query, ty, required, true)
    }

    fn lowered_for(
        query: WorkItem,
        ty: Type,
        required: Option<[u32; 3]>,
        uniform_work_groups: bool,
    ) -> String {
        let options = Options {
            uniform_work_groups,
            ..Options::default()
        };
        let kernel = |kernel: &mut Kernel| kernel.attributes.required_work_group_size = required;
        lowered_in(query, ty, kernel, &options)
    }

    fn lowered_in(
        query: WorkItem,
        ty: Type,
        change: impl FnOnce(&mut Kernel),
        options: &Options,
    ) -> String {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let id = b.op1(Op::WorkItem(query), ty);
        b.terminate(Terminator::Return(smallvec![id]));
        function.return_types.push(ty);
        let mut module = testing::module_of(function);
        change(&mut module.kernels[0]);
        testing::run_with(&mut module, &Capabilities::full(), options, run).unwrap();
        let tells = !matches!(query, WorkItem::GlobalId(_) | WorkItem::GlobalSize(_));
        assert_eq!(module.kernels[0].sees_work_groups, tells);
        module.functions[0].to_string()
    }

    #[test]
    fn the_global_id_takes_one_implicit_value() {
        let text = lowered(WorkItem::GlobalId(1), Type::I64, None);
        assert!(text.contains("spec_const 1 default 1"), "{text}");
        assert!(text.contains("implicit global_base(1)"), "{text}");
        assert_eq!(text.matches("implicit").count(), 1, "{text}");
        assert!(!text.contains("work_item"), "{text}");
    }

    #[test]
    fn a_required_work_group_size_is_a_constant() {
        let text = lowered(WorkItem::LocalSize(0), Type::I64, Some([64, 1, 1]));
        assert!(text.contains("const 0x40"), "{text}");
        assert!(!text.contains("spec_const"), "{text}");
        assert!(text.contains("zero_extend"), "{text}");
        let text = lowered_for(WorkItem::LocalSize(0), Type::I64, Some([64, 1, 1]), false);
        assert!(text.contains("spec_const 0 default 64"), "{text}");
        let enqueued = WorkItem::EnqueuedLocalSize(0);
        let text = lowered_for(enqueued, Type::I64, Some([64, 1, 1]), false);
        assert!(text.contains("const 0x40"), "{text}");
        let text = lowered_for(enqueued, Type::I64, None, false);
        assert!(text.contains("implicit enqueued_local_size(0)"), "{text}");
    }

    /// What is left to compute of a local id where the work-group is one row to Vulkan.
    #[test]
    fn the_last_dimension_of_a_row_has_no_remainder() {
        let of_a_row = |d, required| {
            let change = |kernel: &mut Kernel| {
                kernel.linear_groups = true;
                kernel.attributes.required_work_group_size = required;
            };
            let text = lowered_in(WorkItem::LocalId(d), Type::I32, change, &Options::default());
            ["u_div", "u_rem"].map(|op| text.matches(op).count())
        };
        assert_eq!(of_a_row(0, None), [0, 1]);
        assert_eq!(of_a_row(1, None), [1, 1]);
        assert_eq!(of_a_row(2, None), [2, 0]);
        assert_eq!(of_a_row(0, Some([64, 1, 1])), [0, 0]);
        assert_eq!(of_a_row(0, Some([8, 8, 1])), [0, 1]);
        assert_eq!(of_a_row(1, Some([8, 8, 1])), [1, 0]);
    }

    #[test]
    fn a_32_bit_query_of_a_64_bit_value_is_truncated() {
        let text = lowered(WorkItem::GlobalSize(2), Type::I32, None);
        assert!(text.contains("truncate"), "{text}");
    }
}
