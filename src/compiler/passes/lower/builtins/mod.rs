//! `OpenCL.std` → core operations, `GLSL.std.450`, or calls of the built-in library.
//!
//! Needs: the linked module as parsed (the parser expands vector loads, stores and shuffles). How: every instruction is either spelled out (what is cheap and exact)
//! or becomes a call of a libclc function (precise mathematics). Called functions are imported together
//! with what they call, and are lowered in turn, until nothing is missing. Guarantees: no
//! [`Op::OpenClStd`] is left, nor a float remainder ([`Binary::FRem`], [`Binary::FMod`]).

mod common;
mod corrections;
#[cfg(test)]
mod doubles_tests;
#[cfg(test)]
mod edges_tests;
mod error_free;
mod exact;
mod exponential;
mod fused_multiply_add;
mod gamma;
mod geometric;
mod imports;
mod integer;
mod integer_wide;
mod lower;
mod math;
mod own_functions;
#[cfg(test)]
mod precision_tests;
mod remainder;
mod target;
#[cfg(test)]
mod tests;
mod unfused;

use crate::compiler::ir::{
    Binary, Convert, FuncId, Function, Module, Op, Rewrite, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use imports::Imports;
use lower::Lower;
use smallvec::smallvec;

/// Lowers every extended instruction of the module, and of what is imported from the library for it.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let mut imports = Imports::new(module, own_functions::OWN);
    let mut lowered = 0;
    loop {
        while lowered < module.functions.len() {
            let id = FuncId(lowered as u32);
            let mut function = std::mem::replace(module.function_mut(id), Function::new(""));
            let result = lower_function(&mut function, cx, &mut imports);
            let result = result.map_err(|error| error.in_function(&function.name));
            *module.function_mut(id) = function;
            result?;
            lowered += 1;
        }
        if !imports.resolve(module, cx)? {
            return Ok(());
        }
    }
}

fn lower_function(
    function: &mut Function,
    cx: &Context<'_>,
    imports: &mut Imports,
) -> Result<(), CompileError> {
    let library = function.control.library;
    rewrite_instructions(function, |b, inst| {
        let data = b.function.inst(inst);
        let types: Vec<_> = data.results.iter().map(|v| b.function.ty(*v)).collect();
        let relaxed = !library && (cx.options.fast_relaxed_math || data.flags.fast_math);
        match data.op.clone() {
            Op::OpenClStd(op, args) => {
                let mut lower = Lower::new(b, cx, imports, relaxed);
                Ok(Rewrite::Replace(lower.instruction(op, &args, &types)?))
            }
            Op::Binary(op @ (Binary::FRem | Binary::FMod), x, y) => {
                let mut lower = Lower::new(b, cx, imports, relaxed);
                let result = lower.remainder(op, x, y)?;
                Ok(Rewrite::Replace(smallvec![result]))
            }
            Op::Convert(
                Convert::FloatToSigned { saturate, .. } | Convert::FloatToUnsigned { saturate, .. },
                x,
            ) if library && !saturate => {
                let to_integer = data.op.clone();
                let mut lower = Lower::new(b, cx, imports, relaxed);
                let result = lower.defined_conversion(to_integer, x, types[0]);
                Ok(Rewrite::Replace(smallvec![result]))
            }
            _ => Ok(Rewrite::Keep),
        }
    })?;
    Ok(())
}
