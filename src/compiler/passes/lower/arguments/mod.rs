//! Turns the kernel's parameters and implicit values into reads of the argument block.
//!
//! Needs: one kernel per module, calls that get private pointers inlined. After it the kernel's function has
//! no parameters, no `Op::Implicit` is left, only `local` variables have a `GlobalAddress`, and
//! `Kernel::arguments`, `argument_block` and `follows_pointers` are set (the element size of local arguments
//! by `lower::pointers`).
//!
//! The block holds the arguments in order, each at its natural alignment, up to 16 bytes; then the implicit
//! values. Arguments without a use take no room. It is the push constants if it fits them, else it lies in
//! device memory. It is read by words, since 8-, 16- and 64-bit types are optional in push constants;
//! [`crate::compiler::passes::optimize::join_argument_words`] makes 64-bit reads of two where that is worth it.
//!
//! - A pointer to global or constant memory is a 64-bit device address.
//! - A `local` pointer takes nothing: it becomes the address of a new `local` variable whose length is a
//!   specialization constant (`SpecId` 3 and up).
//! - A structure passed by value is read where the kernel loads from it, if it does only that, at constant
//!   offsets; else it is copied to a private variable first.
//! - The address of a program-scope variable is that of the data segment plus its offset there.

mod block;
mod plan;
pub(in crate::compiler) mod spec_ids;
mod usage;

use crate::compiler::image::ImageField;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Convert, FuncId, Function, Inst, Module, Op, Place,
    PrivateVariable, Rewrite, Type, Value, rewrite_instructions,
};
use crate::compiler::passes::helpers::data_segment;
use crate::compiler::passes::optimize::end_rows;
use crate::compiler::program::{ArgumentBlock, Implicit, Placement};
use crate::compiler::{Capabilities, CompileError, Context};
pub(in crate::compiler) use block::BlockReader;
use plan::Lowered;
use smallvec::smallvec;
use std::collections::HashMap;

/// Runs the pass on the module's kernel.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let [kernel] = module.kernels.as_slice() else {
        return Err(CompileError::internal(
            "arguments are lowered for one kernel at a time",
        ));
    };
    let (name, id) = (kernel.name.clone(), kernel.function);
    let follows_pointers = usage::follows_pointers(module);
    address_program_variables(module)?;
    let plan = plan::plan(module, id).map_err(|error| error.in_function(&name))?;
    let implicit = place_implicit(module, plan.end_bytes, cx.capabilities);
    let size_bytes = implicit
        .last()
        .map_or(plan.end_bytes, |&(last, offset)| offset + last.size_bytes())
        .next_multiple_of(4);
    let in_memory = cx.options.arguments_in_memory && size_bytes > 0;
    let placement = if !in_memory && size_bytes <= cx.capabilities.push_constant_bytes {
        Placement::PushConstants
    } else {
        Placement::DeviceAddress
    };

    let offsets: HashMap<Implicit, u32> = implicit.iter().copied().collect();
    for function in &mut module.functions {
        read_implicit(function, &offsets, placement);
    }
    read_parameters(module, id, &plan.parameters, placement);

    let kernel = &mut module.kernels[0];
    kernel.arguments = plan.arguments;
    kernel.argument_block = ArgumentBlock {
        size_bytes,
        placement,
        implicit,
    };
    kernel.follows_pointers = follows_pointers;
    Ok(())
}

/// The implicit values that the functions read, or will, in the block from `end_bytes` on, larger ones first.
fn place_implicit(
    module: &Module,
    end_bytes: u32,
    capabilities: &Capabilities,
) -> Vec<(Implicit, u32)> {
    let mut found: Vec<Implicit> = Vec::new();
    for function in &module.functions {
        for &block in function.layout() {
            for &inst in &function.block(block).insts {
                if let Op::Implicit(implicit) = function.inst(inst).op
                    && !found.contains(&implicit)
                {
                    found.push(implicit);
                }
            }
        }
    }
    if end_rows::is_worth_it(module, capabilities) {
        found.push(Implicit::DispatchWidth);
    }
    found.sort_by_key(|implicit| std::cmp::Reverse(implicit.size_bytes()));
    let mut end = end_bytes;
    found
        .into_iter()
        .map(|implicit| {
            let size = implicit.size_bytes();
            let offset = end.next_multiple_of(size);
            end = offset + size;
            (implicit, offset)
        })
        .collect()
}

/// Addresses of program-scope variables from that of the data segment.
fn address_program_variables(module: &mut Module) -> Result<(), CompileError> {
    let offsets = data_segment::offsets(module)?;
    let globals = &module.globals;
    for function in &mut module.functions {
        let Ok(_) = rewrite_instructions(function, |b, inst| {
            let data = b.function.inst(inst);
            let Op::GlobalAddress(global) = data.op else {
                return Ok::<_, std::convert::Infallible>(Rewrite::Keep);
            };
            if !globals[global.index()].space.is_physical() {
                return Ok(Rewrite::Keep);
            }
            let ty = b.ty(data.results[0]);
            let base = b.op1(Op::Implicit(Implicit::DataSegment), Type::I64);
            let address = match offsets[global.index()] {
                0 => base,
                offset => b.binary_const(Binary::Add, base, offset),
            };
            let pointer = b.convert(Convert::IntToPtr, address, ty);
            Ok(Rewrite::Replace(smallvec![pointer]))
        });
    }
    Ok(())
}

/// Takes the instructions of the entry block out, lets `build` fill it, and puts them back.
pub(in crate::compiler) fn at_entry<T>(
    function: &mut Function,
    build: impl FnOnce(&mut Builder<'_>) -> T,
) -> T {
    let entry = function.entry();
    let insts = std::mem::take(&mut function.block_mut(entry).insts);
    let result = build(&mut Builder::new(function, entry));
    function.block_mut(entry).insts.extend(insts);
    result
}

/// Replaces every `Op::Implicit` of a function. They are read at its entry: few, cheap, and then common to
/// all their uses.
fn read_implicit(function: &mut Function, offsets: &HashMap<Implicit, u32>, placement: Placement) {
    let mut reads: Vec<(Value, Implicit)> = Vec::new();
    for block in function.layout().to_vec() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let kept = insts
            .into_iter()
            .filter(|&inst| {
                let data = function.inst(inst);
                let Op::Implicit(implicit) = data.op else {
                    return true;
                };
                reads.push((data.results[0], implicit));
                false
            })
            .collect();
        function.block_mut(block).insts = kept;
    }
    if reads.is_empty() {
        return;
    }
    let types: Vec<Type> = reads.iter().map(|&(old, _)| function.ty(old)).collect();
    let replacements = at_entry(function, |b| {
        let reader = BlockReader::new(b, placement);
        let mut read: HashMap<Implicit, Value> = HashMap::new();
        let mut replacements = HashMap::new();
        for (&(old, implicit), &ty) in reads.iter().zip(&types) {
            let new = *read.entry(implicit).or_insert_with(|| {
                let ty = if implicit.size_bytes() == 8 {
                    Type::I64
                } else {
                    Type::I32
                };
                reader.scalar(b, offsets[&implicit], ty)
            });
            replacements.insert(old, b.resize_int(new, ty, false));
        }
        replacements
    });
    function.replace_values(&replacements);
}

/// Replaces the parameters of the kernel's function.
fn read_parameters(
    module: &mut Module,
    id: FuncId,
    parameters: &[(usize, Lowered)],
    placement: Placement,
) {
    let function = module.function_mut(id);
    let params = function.params().to_vec();
    let mut replacements: HashMap<Value, Value> = HashMap::new();
    let mut loads: HashMap<Inst, u32> = HashMap::new();
    let reader = at_entry(function, |b| {
        let reader = BlockReader::new(b, placement);
        for (first, lowered) in parameters {
            let first = *first;
            match lowered {
                Lowered::Unused => {}
                Lowered::Values(places) => {
                    let values = reader.scalars(b, places);
                    replacements.extend(params[first..].iter().copied().zip(values));
                }
                Lowered::Loads(of_param) => loads.extend(of_param.iter().copied()),
                Lowered::Variable {
                    offset_bytes,
                    size_bytes,
                    align_bytes,
                } => {
                    let variable = b.function.add_variable(PrivateVariable {
                        name: format!("argument at {offset_bytes}"),
                        size_bytes: u64::from(*size_bytes),
                        align_bytes: *align_bytes,
                    });
                    let ty = Type::Ptr(AddressSpace::Private);
                    let pointer = b.op1(Op::VariableAddress(variable), ty);
                    copy_to_private(b, &reader, *offset_bytes, *size_bytes, pointer);
                    replacements.insert(params[first], pointer);
                }
                Lowered::Pointer { offset_bytes, ty } => {
                    let pointer = reader.pointer(b, *offset_bytes, *ty);
                    replacements.insert(params[first], pointer);
                }
                Lowered::Image {
                    fields,
                    format_spec_id,
                } => {
                    for (field, offset_bytes) in fields {
                        let param = params[first + field.index()];
                        let value = match b.ty(param) {
                            ty @ Type::Ptr(_) => reader.pointer(b, *offset_bytes, ty),
                            ty => reader.scalar(b, *offset_bytes, ty),
                        };
                        replacements.insert(param, value);
                    }
                    if let Some(spec_id) = format_spec_id {
                        let format = specialized(b, *spec_id);
                        replacements.insert(params[first + ImageField::Format.index()], format);
                    }
                }
                Lowered::Sampler { spec_id } => {
                    let sampler = specialized(b, *spec_id);
                    replacements.insert(params[first], sampler);
                }
                Lowered::Local(global) => {
                    let ty = Type::Ptr(AddressSpace::Local);
                    let pointer = b.op1(Op::GlobalAddress(*global), ty);
                    replacements.insert(params[first], pointer);
                }
            }
        }
        reader
    });
    let entry = function.entry();
    function.block_mut(entry).params.clear();
    function.replace_values(&replacements);
    if loads.is_empty() {
        return;
    }
    let Ok(_) = rewrite_instructions(function, |b, inst| {
        let Some(&offset_bytes) = loads.get(&inst) else {
            return Ok::<_, std::convert::Infallible>(Rewrite::Keep);
        };
        let results = b.function.inst(inst).results.clone();
        let types: Vec<Type> = results.iter().map(|&v| b.ty(v)).collect();
        let (offsets, _) =
            crate::compiler::passes::helpers::scalar_bits::offsets_of(types.iter().copied());
        let places: Vec<(u32, Type)> = offsets
            .iter()
            .map(|within| offset_bytes + within)
            .zip(types)
            .collect();
        Ok(Rewrite::Replace(reader.scalars(b, &places)))
    });
    // The pointer arithmetic that led to the loads still names the parameters.
    remove_dead_pointers(function, &params);
}

fn specialized(b: &mut Builder<'_>, id: u32) -> Value {
    b.op1(Op::SpecConst { id, default: 0 }, Type::I32)
}

fn copy_to_private(
    b: &mut Builder<'_>,
    reader: &BlockReader,
    offset_bytes: u32,
    size_bytes: u32,
    pointer: Value,
) {
    let mut done = 0;
    while done < size_bytes {
        let ty = match size_bytes - done {
            4.. => Type::I32,
            2 | 3 => Type::I16,
            _ => Type::I8,
        };
        let value = reader.scalar(b, offset_bytes + done, ty);
        let to = b.ptr_add_const(pointer, i64::from(done));
        b.store1(Place::Pointer(to), value, Access::aligned(ty.size_bytes()));
        done += ty.size_bytes();
    }
}

/// Removes `PtrAdd`s of parameters that no longer exist.
fn remove_dead_pointers(function: &mut Function, params: &[Value]) {
    let mut dead: std::collections::HashSet<Value> = params.iter().copied().collect();
    for block in function.reverse_postorder() {
        let insts = std::mem::take(&mut function.block_mut(block).insts);
        let kept = insts
            .into_iter()
            .filter(|&inst| {
                let data = function.inst(inst);
                let Op::PtrAdd(base, _) = data.op else {
                    return true;
                };
                let is_dead = dead.contains(&base);
                if is_dead {
                    dead.insert(data.results[0]);
                }
                !is_dead
            })
            .collect();
        function.block_mut(block).insts = kept;
    }
}

#[cfg(test)]
mod tests;
