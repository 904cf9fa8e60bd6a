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
mod given;
mod levels;
#[cfg(test)]
mod tests;

use crate::compiler::image::{ImageDimension, ImageField};
use crate::compiler::ir::{
    FuncId, Function, ImageAccess, ImageAccessKind, ImageLevel, InstFlags, Module, Op, Rewrite,
    Type, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use given::Given;
use std::collections::HashMap;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let has_accesses = |function: &Function| {
        let blocks = function.layout().iter();
        let mut insts = blocks.flat_map(|&block| &function.block(block).insts);
        insts.any(|&inst| matches!(function.inst(inst).op, Op::Image(..)))
    };
    if !module.functions.iter().any(has_accesses) {
        return Ok(());
    }
    let given = (cx.capabilities.textures > 0).then(|| Given::new(module));
    let how = |index: usize, function: &Function, access: ImageAccess, operands: &Values| How {
        access,
        textures: given.as_ref().is_some_and(|given| {
            access::has_descriptors(&access)
                && [ImageField::Texture.index(), ImageField::ALL.len()]
                    .iter()
                    .filter_map(|&place| operands.get(place))
                    .all(|&value| given.is_given(index, function, value))
        }),
    };
    let mut accesses: Vec<How> = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        for &block in function.layout() {
            for &inst in &function.block(block).insts {
                if let Op::Image(access, operands) = &function.inst(inst).op {
                    let how = how(index, function, *access, operands);
                    if !accesses.contains(&how) {
                        accesses.push(how);
                    }
                }
            }
        }
    }
    let mut made = Functions::default();
    for &how in &accesses {
        made.leveled(module, how);
    }
    let functions = made.accesses;
    for (index, function) in module.functions.iter_mut().enumerate() {
        rewrite_instructions(function, |b, inst| {
            let data = b.function.inst(inst);
            let Op::Image(access, operands) = &data.op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let how = how(index, b.function, *access, operands);
            let call = Op::Call(functions[&how], operands.clone());
            let results: Vec<Type> = data.results.iter().map(|&v| b.ty(v)).collect();
            Ok(Rewrite::Replace(b.op(call, results)))
        })?;
    }
    Ok(())
}

/// How an access is carried out.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct How {
    access: ImageAccess,
    /// Through descriptors, where image and sampler have them.
    textures: bool,
}

/// What was made for the module.
#[derive(Default)]
struct Functions {
    loads: HashMap<Type, FuncId>,
    finds: HashMap<ImageDimension, FuncId>,
    accesses: HashMap<How, FuncId>,
}

impl Functions {
    /// The function for an access.
    fn leveled(&mut self, module: &mut Module, how: How) -> FuncId {
        let access = how.access;
        let base = self.base(
            module,
            How {
                access: ImageAccess {
                    level: ImageLevel::Base,
                    ..access
                },
                ..how
            },
        );
        if access.level == ImageLevel::Base {
            return base;
        }
        let find = *self
            .finds
            .entry(access.dimension)
            .or_insert_with(|| module.add_function(levels::find(access.dimension)));
        *self.accesses.entry(how).or_insert_with(|| {
            module.add_function(match access.kind {
                ImageAccessKind::Write => levels::write(access, base, find),
                _ => levels::read(access, base, find),
            })
        })
    }

    fn base(&mut self, module: &mut Module, how: How) -> FuncId {
        if let Some(&known) = self.accesses.get(&how) {
            return known;
        }
        let access = how.access;
        let function = match access.kind {
            ImageAccessKind::Write => encode::write(access),
            _ => {
                let load = *self
                    .loads
                    .entry(access.texel)
                    .or_insert_with(|| module.add_function(decode::load_texel(access.texel)));
                access::read(access, load, how.textures)
            }
        };
        let id = module.add_function(function);
        self.accesses.insert(how, id);
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
