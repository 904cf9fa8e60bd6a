//! SPIR-V words → [`ir::Module`]. Nothing after this knows SPIR-V.
//!
//! **Scalars.** Each SPIR-V id stands for a list of scalar IR values: the components of a vector, the members
//! of a structure and the elements of an array in order ([`slot::Slot`]).
//!
//! **Memory** keeps its layout: a pointer is moved by bytes, an `OpLoad` of a composite becomes loads of its
//! scalars at their offsets in OpenCL's layout.
//!
//! **Trust.** A module comes from an application: ids, types, counts and operands are checked where they are
//! used, nesting is walked without recursion, and what a few words could blow up (arrays, constants, values)
//! is bounded. A violation is an error that names the instruction and its word offset.

mod arithmetic;
mod async_copy;
mod atomics;
mod bits;
mod composites;
mod constants;
mod control;
mod conversions;
mod copy_alignment;
mod decode;
mod decorations;
mod dot_products;
mod double_shifts;
mod ext_inst;
mod ext_inst_types;
mod function;
mod function_parser;
mod globals;
mod group_masks;
mod groups;
mod groups_intel;
mod groups_intel_images;
mod image_queries;
mod image_types;
mod images;
mod input_pointer;
mod inputs;
mod kernels;
mod memory;
mod named_builtins;
mod narrow_integers;
mod pipes;
mod pointers;
mod slot;
mod spec_ops;
#[cfg(test)]
mod tests;
mod types;
mod vector_memory;
mod widths;

pub(crate) use image_types::field_type as image_field_type;

use super::ir::{self, FuncId, FunctionControl};
use super::{CompileError, Options};
use constants::Constants;
use decode::{Id, Instruction};
use decorations::{Decorations, Linkage};
use globals::Variable;
use rspirv::spirv::{AddressingModel, FunctionParameterAttribute, Op};
use slot::Layout;
use std::cell::Cell;
use std::collections::HashMap;
use types::{Kind, Storage, Types};

/// Reads a SPIR-V module (1.0 to 1.6, either byte order, capability `Kernel`, Physical32/64).
///
/// Everything not understood is an error that names the instruction and its word offset. Time and memory
/// are bounded by the module's size.
pub fn parse(words: &[u32], options: &Options) -> Result<ir::Module, CompileError> {
    let words = decode::host_order(words)?;
    let instructions = decode::instructions(&words)?;
    let mut source = Source {
        is_by_llvm: decode::is_llvm(&words),
        ..Source::default()
    };
    let bodies = instructions
        .iter()
        .position(|inst| inst.op == Op::Function)
        .unwrap_or(instructions.len());
    let (declarations, functions) = instructions.split_at(bodies);
    source.generator = words.get(2).copied().unwrap_or(0) >> 16;
    source.annotations(declarations)?;
    source.declarations(declarations, options)?;
    source.function_headers(functions)?;
    source.function_bodies(functions)?;
    double_shifts::correct(&mut source.module);
    kernels::add(&mut source)?;
    Ok(source.module)
}

/// What is known of the module at large.
#[derive(Default)]
struct Source<'a> {
    /// The tool that made the module: the high half of the header's generator word.
    generator: u32,
    decorations: Decorations<'a>,
    types: Types,
    constants: Constants,
    variables: HashMap<Id, Variable>,
    functions: HashMap<Id, Declared>,
    /// Functions in the order of the module.
    function_order: Vec<Id>,
    extended_sets: HashMap<Id, ExtendedSet>,
    entry_points: Vec<EntryPoint<'a>>,
    /// Names of entry points by function.
    entry_names: HashMap<Id, String>,
    execution_modes: Vec<Instruction<'a>>,
    module: ir::Module,
    /// Scalar values made so far: see [`function_parser::FunctionParser::spend`].
    scalars: Cell<usize>,
    /// Whether LLVM's SPIR-V back end made the module, which has habits of its own: see
    /// [`function_parser::FunctionParser::source_alignment`] and `load_order`.
    is_by_llvm: bool,
    /// Size of all module-scope variables so far.
    variable_bytes: u64,
    /// Size of their initializers, where not all zeros.
    initializer_bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ExtendedSet {
    OpenClStd,
    /// Debug information: ignored.
    NonSemantic,
}

struct EntryPoint<'a> {
    inst: Instruction<'a>,
    function: Id,
    name: String,
}

/// A function's interface.
struct Declared {
    id: FuncId,
    result: Id,
    parameters: Vec<Parameter>,
    /// Instructions between the parameters and `OpFunctionEnd`: positions among those of functions.
    body: std::ops::Range<usize>,
    /// The name under which another module should define it, if it has no body.
    import: Option<String>,
}

#[derive(Clone)]
struct Parameter {
    id: Id,
    ty: Id,
    /// The structure that a `ByVal` pointer points to.
    by_value: Option<Layout>,
}

impl<'a> Source<'a> {
    /// Everything that may stand before what it speaks of: names, decorations, entry points.
    fn annotations(&mut self, instructions: &[Instruction<'a>]) -> Result<(), CompileError> {
        for inst in instructions {
            if self.decorations.collect(inst)? {
                continue;
            }
            match inst.op {
                Op::ExtInstImport => {
                    let (name, _) = inst.string(0)?;
                    let set = match name.as_str() {
                        "OpenCL.std" => ExtendedSet::OpenClStd,
                        name if name.starts_with("NonSemantic.") || name.contains("DebugInfo") => {
                            ExtendedSet::NonSemantic
                        }
                        _ => {
                            return Err(inst.invalid(format!("instruction set {name} is unknown")));
                        }
                    };
                    self.extended_sets.insert(inst.result()?, set);
                }
                Op::MemoryModel => match AddressingModel::from_u32(inst.word(0)?) {
                    Some(AddressingModel::Physical32) => self.types.physical32 = true,
                    Some(AddressingModel::Physical64) => {}
                    _ => return Err(inst.invalid("the addressing model is not a physical one")),
                },
                Op::EntryPoint => {
                    const KERNEL: u32 = rspirv::spirv::ExecutionModel::Kernel as u32;
                    if inst.word(0)? != KERNEL {
                        return Err(inst.invalid("an entry point is not a kernel"));
                    }
                    let (function, name) = (inst.id(1)?, inst.string(2)?.0);
                    self.entry_names.insert(function, name.clone());
                    self.entry_points.push(EntryPoint {
                        inst: *inst,
                        function,
                        name,
                    });
                }
                Op::ExecutionMode | Op::ExecutionModeId => self.execution_modes.push(*inst),
                _ => {}
            }
        }
        Ok(())
    }

    /// Types, constants and variables.
    fn declarations(
        &mut self,
        instructions: &[Instruction<'a>],
        options: &Options,
    ) -> Result<(), CompileError> {
        use rspirv::spirv::Decoration;
        for (index, inst) in instructions.iter().enumerate() {
            if constants::continues(inst.op) && index > 0 {
                continue;
            }
            let more = constants::continued(&instructions[index..])?;
            let length = |id| self.constants.integer(id);
            if self.types.declare(inst, &more, &self.decorations, length)? {
                continue;
            }
            let spec_id = inst
                .result_if_any()
                .and_then(|id| self.decorations.literal(id, Decoration::SpecId));
            let declared = self
                .constants
                .declare(inst, &more, &self.types, spec_id, options);
            if declared.map_err(|error| inst.locate(error))? {
                continue;
            }
            match inst.op {
                Op::SpecConstantOp => {
                    spec_ops::declare(inst, &self.types, &mut self.constants)?;
                }
                Op::Variable => globals::declare(self, inst).map_err(|e| inst.locate(e))?,
                Op::Capability
                | Op::Extension
                | Op::ExtInstImport
                | Op::MemoryModel
                | Op::EntryPoint
                | Op::ExecutionMode
                | Op::ExecutionModeId
                | Op::Source
                | Op::SourceContinued
                | Op::SourceExtension
                | Op::ModuleProcessed
                | Op::String
                | Op::Name
                | Op::MemberName
                | Op::Decorate
                | Op::DecorateId
                | Op::DecorateString
                | Op::MemberDecorate
                | Op::MemberDecorateString
                | Op::DecorationGroup
                | Op::GroupDecorate
                | Op::GroupMemberDecorate
                | Op::Line
                | Op::NoLine
                | Op::AliasDomainDeclINTEL
                | Op::AliasScopeDeclINTEL
                | Op::AliasScopeListDeclINTEL
                | Op::Nop => {}
                Op::ExtInst if self.is_debug_information(inst)? => {}
                _ => return Err(inst.not_supported()),
            }
        }
        Ok(())
    }

    fn is_debug_information(&self, inst: &Instruction<'_>) -> Result<bool, CompileError> {
        let set = self.extended_sets.get(&inst.id(0)?);
        Ok(set == Some(&ExtendedSet::NonSemantic))
    }

    /// Every function's signature: calls may come before what they call.
    fn function_headers(&mut self, instructions: &[Instruction<'a>]) -> Result<(), CompileError> {
        let mut at = 0;
        while let Some(inst) = instructions.get(at) {
            match inst.op {
                Op::Line | Op::NoLine | Op::Nop => at += 1,
                Op::ExtInst if self.is_debug_information(inst)? => at += 1,
                Op::Function => {
                    let rest = &instructions[at..];
                    let end = rest
                        .iter()
                        .position(|inst| inst.op == Op::FunctionEnd)
                        .ok_or_else(|| inst.invalid("the function has no end"))?;
                    self.function_header(inst, &rest[1..end], at + 1)
                        .map_err(|error| inst.locate(error))?;
                    at += end + 1;
                }
                _ => return Err(inst.invalid("the instruction stands outside a function")),
            }
        }
        Ok(())
    }

    fn function_header(
        &mut self,
        inst: &Instruction<'a>,
        inside: &[Instruction<'a>],
        first: usize,
    ) -> Result<(), CompileError> {
        let id = inst.result()?;
        let Kind::Function { result, parameters } = self.types.get(inst.id(1)?)?.kind.clone()
        else {
            return Err(inst.invalid("the type is not a function type"));
        };
        if result != inst.result_type()? {
            return Err(inst.invalid("the result is not that of the function type"));
        }
        let linkage = self.decorations.linkage(id);
        let name = match (&linkage, self.decorations.name(id)) {
            (Some(Linkage::Import(name) | Linkage::Export(name) | Linkage::LinkOnce(name)), _) => {
                name.clone()
            }
            (None, Some(name)) => name.to_owned(),
            (None, None) => match self.entry_names.get(&id) {
                Some(name) => name.clone(),
                None => format!("function_{}", id.0),
            },
        };
        let mut function = ir::Function::new(name);
        let control = rspirv::spirv::FunctionControl::from_bits_truncate(inst.word(0)?);
        function.control = FunctionControl {
            inline: control.contains(rspirv::spirv::FunctionControl::INLINE),
            dont_inline: control.contains(rspirv::spirv::FunctionControl::DONT_INLINE),
            library: false,
        };
        if !self.types.is_void(result) {
            let slots = self.types.slots(result)?;
            function.return_types = slots.iter().map(|slot| slot.ty).collect();
        }

        let entry = function.entry();
        let mut declared = Vec::with_capacity(parameters.len());
        let mut body = 0;
        for (index, param) in inside.iter().enumerate() {
            match param.op {
                Op::FunctionParameter => {
                    let ty = param.result_type()?;
                    if parameters.get(declared.len()) != Some(&ty) {
                        return Err(param.invalid("the parameter is not that of the function type"));
                    }
                    for slot in self.types.slots(ty)?.iter() {
                        function.add_param(entry, slot.ty);
                    }
                    declared.push(self.parameter(param.result()?, ty)?);
                    body = index + 1;
                }
                Op::Line | Op::NoLine | Op::Nop => {}
                Op::ExtInst if self.is_debug_information(param)? => {}
                _ => break,
            }
        }
        if declared.len() != parameters.len() {
            return Err(inst.invalid("the function type has more parameters"));
        }

        let func = self.module.add_function(function);
        let name = self.module.function(func).name.clone();
        let mut import = None;
        match linkage {
            Some(Linkage::Import(_)) => {
                import = Some(name.clone());
                self.module.imports.push((name, func));
            }
            Some(Linkage::Export(_)) => self.module.exports.push((name, func)),
            Some(Linkage::LinkOnce(_)) => {
                self.module.link_once.push(name.clone());
                self.module.exports.push((name, func));
            }
            None => {}
        }
        let declared = Declared {
            id: func,
            result,
            parameters: declared,
            body: first + body..first + inside.len(),
            import,
        };
        if self.functions.insert(id, declared).is_some() {
            return Err(inst.invalid("the id is defined twice"));
        }
        self.function_order.push(id);
        Ok(())
    }

    fn parameter(&self, id: Id, ty: Id) -> Result<Parameter, CompileError> {
        let by_value = self
            .decorations
            .has_attribute(id, FunctionParameterAttribute::ByVal);
        let by_value = match self.types.get(ty)?.kind {
            Kind::Pointer {
                storage: Storage::Space(ir::AddressSpace::Private),
                pointee,
            } if by_value => Some(self.by_value_layout(id, pointee)?),
            _ => None,
        };
        Ok(Parameter { id, ty, by_value })
    }

    /// Size and alignment of what a `ByVal` pointer points to.
    fn by_value_layout(&self, id: Id, pointee: Id) -> Result<Layout, CompileError> {
        let mut layout = self.types.layout(pointee)?;
        if let Some(align_bytes) = self.alignment(id) {
            layout.align_bytes = layout.align_bytes.max(align_bytes);
        }
        Ok(layout)
    }

    /// The `Alignment` decoration of a pointer or variable.
    fn alignment(&self, id: Id) -> Option<u32> {
        self.decorations
            .literal(id, rspirv::spirv::Decoration::Alignment)
            .filter(|align| align.is_power_of_two())
    }

    fn function_bodies(&mut self, instructions: &[Instruction<'a>]) -> Result<(), CompileError> {
        for id in std::mem::take(&mut self.function_order) {
            let Some(declared) = self.functions.get(&id) else {
                continue;
            };
            let func = declared.id;
            let imported = self
                .module
                .imports
                .iter()
                .any(|(_, import)| *import == func);
            let body = &instructions[declared.body.clone()];
            let has_body = body.iter().any(|inst| inst.op == Op::Label);
            if !has_body && imported {
                continue;
            }
            let name = self.module.function(func).name.clone();
            let function = self.module.function(func).clone();
            let function = function::parse(self, id, function, body)
                .map_err(|error| error.in_function(name))?;
            *self.module.function_mut(func) = function;
        }
        Ok(())
    }
}
