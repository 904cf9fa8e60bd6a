//! Lets a dispatch end within a work-group, for kernels whose pipelines take long to make.
//!
//! **Why.** A pipeline is made for one local size. A range that this does not divide needs two pipelines, and each short
//! range one of its own. Drivers for processors take seconds to make one of a large kernel, and programs that look for the
//! best size of a range launch the same kernel over one work-item, then some, then many.
//!
//! **How.** The kernel becomes the inside of a selection that only work-items of the range enter: their place in the
//! dispatch is below its width, [`Implicit::DispatchWidth`]. Ranges of any width can then be launched with work-groups of
//! one size. llvmpipe takes up to 2.3 times as long within a selection (SHA-256 of five blocks), so that a specialization constant
//! (`CompiledKernel::whole_rows_spec_id`) makes the condition hold in the pipelines that long ranges of whole work-groups get. [`is_worth_it`] says which kernels get this; `lower::arguments` asks it, and gives the width its place in the
//! argument block.
//!
//! **Needs** structured control flow, and keeps it. Comes late: no analysis is to take the condition for one that
//! work-items differ in. The first work-item of each work-group always enters.

use crate::compiler::ir::{Binary, Builder, BuiltIn, Compare, Module, Op, Type, Value};
use crate::compiler::passes::lower::arguments::BlockReader;
use crate::compiler::passes::lower::arguments::spec_ids::free_spec_id;
use crate::compiler::passes::workarounds::mask_idle_lanes::enclose;
use crate::compiler::program::{Implicit, Placement};
use crate::compiler::{Capabilities, CompileError, Context};

/// Instructions of a kernel whose pipelines take seconds to make where it has loops and conditions (llvmpipe). Beside so many,
/// work-groups of one sub-group take a twentieth more than larger ones, at most.
const LARGE: usize = 3000;

/// Whether the module's kernel is large, and can't tell the sizes of its work-groups.
pub fn is_worth_it(module: &Module, capabilities: &Capabilities) -> bool {
    let Some(kernel) = module.kernels.first() else {
        return false;
    };
    let takes_any_size = !kernel.sees_work_groups
        && !kernel.linear_groups
        && kernel.attributes.required_work_group_size.is_none();
    let instructions = || {
        let functions = module.functions.iter();
        let blocks = functions.flat_map(|it| it.layout().iter().map(|&block| it.block(block)));
        blocks.map(|block| block.insts.len()).sum::<usize>()
    };
    capabilities.compiles_slowly && capabilities.int64 && takes_any_size && instructions() >= LARGE
}

/// Runs the pass on the module's kernel.
pub fn run(module: &mut Module, _: &Context<'_>) -> Result<(), CompileError> {
    let Some(kernel) = module.kernels.first() else {
        return Ok(());
    };
    let block = &kernel.argument_block;
    let mut implicit = block.implicit.iter();
    let place = implicit.find(|(implicit, _)| *implicit == Implicit::DispatchWidth);
    if let Some(&(_, offset_bytes)) = place {
        let (placement, function) = (block.placement, kernel.function);
        let spec_id = free_spec_id(kernel);
        enclose(module.function_mut(function), |b| {
            is_in_range(b, placement, offset_bytes, spec_id)
        });
        module.kernels[0].whole_rows_spec_id = Some(spec_id);
    }
    Ok(())
}

/// Whether the work-item is one of the range, as all are where the constant says so.
fn is_in_range(
    b: &mut Builder<'_>,
    placement: Placement,
    offset_bytes: u32,
    spec_id: u32,
) -> Value {
    let group = b.op1(Op::BuiltIn(BuiltIn::WorkgroupId(0)), Type::I32);
    let (id, default) = (0, 1);
    let size = b.op1(Op::SpecConst { id, default }, Type::I32);
    let local = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
    let start = b.binary(Binary::Mul, group, size);
    let place = b.binary(Binary::Add, start, local);
    let width = BlockReader::new(b, placement).scalar(b, offset_bytes, Type::I32);
    let is_within = b.compare(Compare::ULess, place, width);
    let (id, default) = (spec_id, 0);
    let constant = b.op1(Op::SpecConst { id, default }, Type::I32);
    let no = b.i32(0);
    let is_whole = b.compare(Compare::NotEqual, constant, no);
    b.binary(Binary::Or, is_within, is_whole)
}

#[cfg(test)]
mod tests {
    use crate::compiler::testing::opencl_c;
    use crate::compiler::{Capabilities, CompiledProgram, Library, Options, compile};

    /// A kernel of so many steps, each of some instructions.
    fn program(steps: usize, arguments: usize, last: &str) -> CompiledProgram {
        let step = "x = x * 0x9e3779b1u + rotate(x, 7u) ^ *p; x ^= x >> 15; ";
        let more: String = (0..arguments).map(|it| format!(", ulong a{it}")).collect();
        let sum: String = (0..arguments).map(|it| format!("x += a{it}; ")).collect();
        let source = format!(
            "kernel void k(global volatile uint *p{more}) {{
                size_t i = get_global_id(0); uint x = i; {sum} {} p[i] = x + {last}; }}",
            step.repeat(steps)
        );
        let device = Capabilities {
            compiles_slowly: true,
            ..Capabilities::full()
        };
        let words = opencl_c(&source);
        let library = Library::embedded().expect("the library is embedded");
        compile(&[&words], &library, &device, &Options::default()).expect("it compiles")
    }

    #[test]
    fn dispatches_of_large_kernels_may_end_anywhere() {
        let ends = |steps, arguments, last| {
            let kernel = &program(steps, arguments, last).kernels[0];
            assert_eq!(kernel.whole_rows_spec_id.is_some(), kernel.ends_rows());
            assert!(
                kernel.whole_rows_spec_id.is_none()
                    || kernel.whole_rows_spec_id != kernel.small_range_spec_id
            );
            kernel.ends_rows()
        };
        assert!(ends(800, 0, "0"));
        // The argument block is in memory.
        assert!(ends(800, 40, "0"));
        assert!(!ends(20, 0, "0"));
        assert!(!ends(800, 0, "get_local_id(0)"));
    }
}
