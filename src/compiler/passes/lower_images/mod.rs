//! Turns accesses to images into loads, stores and arithmetic.
//!
//! Needs: nothing. After it no `Op::Image` is left: each is a call of a function made for its kind of access,
//! dimension and texel type, which `inline` copies where that pays.
//!
//! What depends on the format and the sampler is decided in the code, by their bits
//! ([`crate::compiler::image`]). Both are constants where a kernel is run (specialization constants, literals),
//! and all but the code for the one format is then folded away by `simplify` or the driver.
//!
//! Coordinates outside of an image never leave its memory, whatever the sampler: reads are clamped, writes
//! are dropped.

mod access;
mod addressing;
mod decode;
mod encode;
mod levels;
#[cfg(test)]
mod tests;

use crate::compiler::image::ImageDimension;
use crate::compiler::ir::{
    FuncId, Function, ImageAccess, ImageAccessKind, ImageLevel, InstFlags, Module, Op, Rewrite,
    Type, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use std::collections::HashMap;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let mut accesses: Vec<ImageAccess> = Vec::new();
    for function in &module.functions {
        for &block in &function.layout {
            for &inst in &function.block(block).insts {
                if let Op::Image(access, _) = function.inst(inst).op
                    && !accesses.contains(&access)
                {
                    accesses.push(access);
                }
            }
        }
    }
    if accesses.is_empty() {
        return Ok(());
    }
    let mut made = Functions {
        textures: cx.capabilities.textures > 0,
        ..Functions::default()
    };
    for &access in &accesses {
        made.leveled(module, access);
    }
    let functions = made.accesses;
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let data = b.function.inst(inst);
            let Op::Image(access, operands) = &data.op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let call = Op::Call(functions[access], operands.clone());
            let results: Vec<Type> = data.results.iter().map(|&v| b.ty(v)).collect();
            Ok(Rewrite::Replace(b.op(call, results)))
        })?;
    }
    Ok(())
}

/// What was made for the module.
#[derive(Default)]
struct Functions {
    /// Whether images may have descriptors.
    textures: bool,
    loads: HashMap<Type, FuncId>,
    finds: HashMap<ImageDimension, FuncId>,
    accesses: HashMap<ImageAccess, FuncId>,
}

impl Functions {
    /// The function for an access.
    fn leveled(&mut self, module: &mut Module, access: ImageAccess) -> FuncId {
        let base = self.base(
            module,
            ImageAccess {
                level: ImageLevel::Base,
                ..access
            },
        );
        if access.level == ImageLevel::Base {
            return base;
        }
        let find = *self
            .finds
            .entry(access.dimension)
            .or_insert_with(|| module.add_function(levels::find(access.dimension)));
        *self.accesses.entry(access).or_insert_with(|| {
            module.add_function(match access.kind {
                ImageAccessKind::Write => levels::write(access, base, find),
                _ => levels::read(access, base, find),
            })
        })
    }

    fn base(&mut self, module: &mut Module, access: ImageAccess) -> FuncId {
        if let Some(&known) = self.accesses.get(&access) {
            return known;
        }
        let function = match access.kind {
            ImageAccessKind::Write => encode::write(access),
            _ => {
                let load = *self
                    .loads
                    .entry(access.texel)
                    .or_insert_with(|| module.add_function(decode::load_texel(access.texel)));
                access::read(access, load, self.textures)
            }
        };
        let id = module.add_function(function);
        self.accesses.insert(access, id);
        id
    }
}

/// An empty function of the pass.
fn function(name: String, returns: Vec<Type>) -> Function {
    let mut function = Function::new(name);
    function.return_types = returns;
    function
}

/// Formulas of the specification are computed as they stand.
const EXACT: InstFlags = InstFlags {
    no_contraction: true,
    fast_math: false,
    no_signed_wrap: false,
    no_unsigned_wrap: false,
};
