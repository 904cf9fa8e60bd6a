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
pub(in crate::compiler) mod spec_ids;
mod usage;

use crate::compiler::image::ImageField;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Convert, FuncId, Function, Global, Inst,
    KernelParameterKind, Module, Op, Place, PrivateVariable, Rewrite, Type, Value,
    rewrite_instructions,
};
use crate::compiler::passes::helpers::data_segment;
use crate::compiler::passes::optimize::end_rows;
use crate::compiler::program::{
    Argument, ArgumentBlock, ArgumentKind, BufferSpace, Implicit, LARGEST_TYPE_BYTES, Placement,
    UnusedMemory,
};
use crate::compiler::{Capabilities, CompileError, Context};
pub(in crate::compiler) use block::BlockReader;
use smallvec::smallvec;
use spec_ids::FIRST_FREE_SPEC_ID;
use std::collections::HashMap;
use usage::Uses;

/// Arguments that take more are refused: far above what devices report as `CL_DEVICE_MAX_PARAMETER_SIZE`.
const LIMIT_BYTES: u32 = 64 << 10;

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
    let plan = plan_arguments(module, id).map_err(|error| error.in_function(&name))?;
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

/// What becomes of the function's parameters from `first_param` on.
enum Lowered {
    Unused,
    /// Type and offset in the block of each parameter.
    Values(Vec<(u32, Type)>),
    /// One parameter: loads from it, each with its offset in the block.
    Loads(Vec<(Inst, u32)>),
    /// One parameter: `size_bytes` of the block are copied to a private variable.
    Variable {
        offset_bytes: u32,
        size_bytes: u32,
        align_bytes: u32,
    },
    Pointer {
        offset_bytes: u32,
        ty: Type,
    },
    Local(crate::compiler::ir::GlobalId),
    /// The fields of an image that are read, as places among its parameters and offsets in the block, and its
    /// format's.
    Image {
        fields: Vec<(ImageField, u32)>,
        format_spec_id: Option<u32>,
    },
    /// One parameter, a specialization constant.
    Sampler {
        spec_id: u32,
    },
}

struct Plan {
    parameters: Vec<(usize, Lowered)>,
    arguments: Vec<Argument>,
    end_bytes: u32,
}

/// Decides where each argument goes; makes the variables behind `local` ones.
fn plan_arguments(module: &mut Module, id: FuncId) -> Result<Plan, CompileError> {
    let uses: Vec<Uses> = module.functions.iter().map(Uses::of).collect();
    let parameters = module.kernels[0].parameters.clone();
    let mut plan = Plan {
        parameters: Vec::new(),
        arguments: Vec::new(),
        end_bytes: 0,
    };
    let mut spec_ids = FIRST_FREE_SPEC_ID..;
    let mut next_spec_id = || spec_ids.next().unwrap_or(u32::MAX);
    for (position, parameter) in parameters.into_iter().enumerate() {
        let first = parameter.first_param;
        let function = module.function(id);
        let values = function
            .params()
            .get(first..first + parameter.param_count)
            .ok_or_else(|| {
                CompileError::internal("a kernel parameter has no function parameter")
            })?;
        let is_used = values.iter().any(|&v| uses[id.index()].is_used(v));
        let mut place = |size_bytes: u32, align_bytes: u32| {
            let offset = plan.end_bytes.next_multiple_of(align_bytes.clamp(1, 16));
            plan.end_bytes = offset
                .checked_add(size_bytes)
                .filter(|&end| end <= LIMIT_BYTES)
                .ok_or_else(|| {
                    CompileError::unsupported("the kernel's arguments take over 64 KiB")
                })?;
            Ok::<_, CompileError>(offset)
        };
        let (lowered, kind) = match parameter.kind {
            KernelParameterKind::Image(image) => {
                let mut fields = Vec::new();
                let mut format_spec_id = None;
                let mut effects = usage::Effects::default();
                for (field, &value) in ImageField::ALL.into_iter().zip(values) {
                    if !uses[id.index()].is_used(value) {
                        continue;
                    }
                    match field {
                        ImageField::Format => format_spec_id = Some(next_spec_id()),
                        _ => fields.push((field, place(field.size_bytes(), field.size_bytes())?)),
                    }
                    if field == ImageField::Address {
                        effects = usage::effects(module, &uses, id, value);
                    }
                }
                let lowered = Lowered::Image {
                    fields: fields.clone(),
                    format_spec_id,
                };
                let kind = ArgumentKind::Image {
                    image,
                    fields,
                    format_spec_id,
                    read: effects.read,
                    written: effects.written,
                };
                (lowered, kind)
            }
            KernelParameterKind::Sampler => {
                let spec_id = is_used.then(&mut next_spec_id);
                let lowered = match spec_id {
                    Some(spec_id) => Lowered::Sampler { spec_id },
                    None => Lowered::Unused,
                };
                (lowered, ArgumentKind::Sampler { spec_id })
            }
            _ if !is_used => (Lowered::Unused, unused(&parameter.kind)),
            KernelParameterKind::Value {
                size_bytes,
                align_bytes,
                offsets_bytes,
            } => {
                let offset_bytes = place(size_bytes, align_bytes)?;
                let places = offsets_bytes
                    .iter()
                    .zip(values)
                    .map(|(within, &v)| (offset_bytes + within, function.ty(v)))
                    .collect();
                let kind = ArgumentKind::Value {
                    offset_bytes,
                    size_bytes,
                };
                (Lowered::Values(places), kind)
            }
            KernelParameterKind::ByValue {
                size_bytes,
                align_bytes,
            } => {
                let offset_bytes = place(size_bytes, align_bytes)?;
                let lowered = match constant_loads(function, &uses[id.index()], values[0]) {
                    Some(mut loads) => {
                        for (_, within) in &mut loads {
                            *within += offset_bytes;
                        }
                        Lowered::Loads(loads)
                    }
                    None => Lowered::Variable {
                        offset_bytes,
                        size_bytes,
                        align_bytes,
                    },
                };
                let kind = ArgumentKind::Value {
                    offset_bytes,
                    size_bytes,
                };
                (lowered, kind)
            }
            KernelParameterKind::Pointer(
                space @ (AddressSpace::Global | AddressSpace::Constant),
            ) => {
                let offset_bytes = place(8, 8)?;
                let effects = usage::effects(module, &uses, id, values[0]);
                let kind = ArgumentKind::Buffer {
                    offset_bytes,
                    address_space: match space {
                        AddressSpace::Constant => BufferSpace::Constant,
                        _ => BufferSpace::Global,
                    },
                    written: effects.written,
                    read: effects.read,
                };
                let ty = Type::Ptr(space);
                (Lowered::Pointer { offset_bytes, ty }, kind)
            }
            KernelParameterKind::Pointer(AddressSpace::Local) => {
                let spec_id = next_spec_id();
                let global = module.add_global(Global {
                    name: format!("argument {position}"),
                    space: AddressSpace::Local,
                    size_bytes: 0,
                    align_bytes: LARGEST_TYPE_BYTES,
                    initializer: None,
                    relocations: Default::default(),
                    spec_id: Some(spec_id),
                    export: None,
                    import: None,
                });
                let kind = ArgumentKind::Local {
                    spec_id,
                    element_bytes: 1,
                    granule_bytes: 1,
                };
                (Lowered::Local(global), kind)
            }
            KernelParameterKind::Pointer(space) => {
                return Err(CompileError::invalid(format!(
                    "argument {position} of the kernel is a pointer to {space} memory"
                )));
            }
        };
        plan.parameters.push((first, lowered));
        plan.arguments.push(Argument {
            kind,
            info: parameter.info,
        });
    }
    Ok(plan)
}

fn unused(kind: &KernelParameterKind) -> ArgumentKind {
    let (size_bytes, memory) = match *kind {
        KernelParameterKind::Value { size_bytes, .. }
        | KernelParameterKind::ByValue { size_bytes, .. } => (size_bytes, UnusedMemory::Value),
        KernelParameterKind::Pointer(AddressSpace::Local) => (0, UnusedMemory::Local),
        // Images and samplers say themselves what is used of them.
        KernelParameterKind::Pointer(_)
        | KernelParameterKind::Image(_)
        | KernelParameterKind::Sampler => (8, UnusedMemory::Buffer),
    };
    ArgumentKind::Unused { size_bytes, memory }
}

/// The loads from a pointer and their byte offsets, if it is used for loads at constant offsets only.
fn constant_loads(function: &Function, uses: &Uses, pointer: Value) -> Option<Vec<(Inst, u32)>> {
    let mut loads = Vec::new();
    let mut work = vec![(pointer, 0u32)];
    while let Some((pointer, offset)) = work.pop() {
        if uses.is_used_by_control_flow(pointer) {
            return None;
        }
        for &inst in uses.insts(pointer) {
            let data = function.inst(inst);
            match data.op {
                Op::Load(_, access) if !access.volatile => loads.push((inst, offset)),
                Op::PtrAdd(base, by) if base == pointer => {
                    let by = function.signed_constant(by)?;
                    let offset = u32::try_from(i64::from(offset).checked_add(by)?).ok()?;
                    work.push((data.results[0], offset));
                }
                _ => return None,
            }
        }
    }
    Some(loads)
}

/// The implicit values that the functions read, or will, in the block from `end_bytes` on, larger ones first.
fn place_implicit(
    module: &Module,
    end_bytes: u32,
    capabilities: &Capabilities,
) -> Vec<(Implicit, u32)> {
    let mut found: Vec<Implicit> = Vec::new();
    for function in &module.functions {
        for &block in &function.layout {
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
    for block in function.layout.clone() {
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
