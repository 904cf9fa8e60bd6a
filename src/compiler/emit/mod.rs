//! IR to Vulkan SPIR-V.
//!
//! **Needs** structured control flow ([`crate::compiler::ir::Merge`] set by `structurize`), no pointers,
//! and only types and operations that the device has. **Gives** one compute module with the entry point
//! `main` and exactly the capabilities that its code uses.

mod arguments;
mod array_vectors;
mod assembler;
mod blocks;
mod buffers;
mod fields;
mod function;
mod globals;
mod group;
mod memory;
mod modes;
mod ops;
mod semantics;
#[cfg(test)]
mod tests;
mod texture;
mod uniforms;
#[cfg(test)]
pub mod validate;

use crate::compiler::ir::{ArrayId, ArrayStorage, FuncId, Function, Module, Op, Scope, Type};
use crate::compiler::{Capabilities, CompileError, CompiledKernel, Context, PackedModule};
use arguments::{ArgumentBlock, ArgumentReads};
use array_vectors::ArrayVectors;
use assembler::{Assembler, Id};
use rspirv::spirv::{AddressingModel, MemoryModel};
use std::collections::{BTreeSet, HashMap};

/// Emits the only kernel of a module.
///
/// Errors name what should not have reached this stage.
pub fn emit(module: &Module, cx: &Context) -> Result<CompiledKernel, CompileError> {
    let [kernel] = module.kernels.as_slice() else {
        let count = module.kernels.len();
        return Err(CompileError::internal(format!(
            "code is generated for one kernel at a time, the module holds {count}"
        )));
    };
    let reached = reached_functions(module, kernel.function)?;
    let mut arguments = ArgumentReads::default();
    for &id in &reached {
        arguments.add(module.function(id));
    }
    let mut emitter = Emitter {
        module,
        capabilities: cx.capabilities,
        asm: Assembler::new(cx.capabilities.spirv_version),
        required_local_size: kernel.attributes.required_work_group_size,
        uniform_work_groups: cx.options.uniform_work_groups,
        contraction_off: kernel.contraction_off,
        arguments,
        functions: HashMap::new(),
        spec_constants: HashMap::new(),
        inputs: HashMap::new(),
        arrays: HashMap::new(),
        array_vectors: ArrayVectors::of(module, &reached, cx.capabilities),
        push_constants: None,
        uniforms: HashMap::new(),
        buffers: HashMap::new(),
        strided_pointers: HashMap::new(),
        textures: None,
        used_floats: BTreeSet::new(),
        uses_collectives: false,
        orders_device_memory: reached
            .iter()
            .any(|&id| orders_device_memory(module.function(id))),
    };
    for &id in &reached {
        let spirv_id = emitter.asm.new_id();
        emitter.functions.insert(id, spirv_id);
    }
    for &id in &reached {
        let function = module.function(id);
        function::emit_function(&mut emitter, id, id == kernel.function)
            .map_err(|error| error.in_function(function.name.clone()))?;
    }
    let entry = emitter.function_id(kernel.function)?;
    emitter.declare_local_size(entry);
    modes::declare(&mut emitter, entry, cx.options);

    let used = emitter.arrays.keys().copied().collect::<BTreeSet<_>>();
    Ok(CompiledKernel {
        name: kernel.name.clone(),
        arguments: kernel.arguments.clone(),
        argument_block: kernel.argument_block.clone(),
        attributes: kernel.attributes.clone(),
        local_memory_bytes: array_bytes(module, &used, ArrayStorage::Workgroup),
        private_memory_bytes: array_bytes(module, &used, ArrayStorage::Private),
        uses_barrier: reached.iter().any(|&id| has_barrier(module.function(id))),
        uniform_work_groups: cx.options.uniform_work_groups,
        sees_work_groups: kernel.sees_work_groups,
        follows_pointers: kernel.follows_pointers,
        printf_calls: kernel.printf_calls.clone(),
        uses_subgroups: kernel.linear_groups,
        small_range_spec_id: kernel.small_range_spec_id,
        whole_rows_spec_id: kernel.whole_rows_spec_id,
        uniform_bytes: kernel.uniform_bytes,
        excess: kernel.excess.clone(),
        spirv: PackedModule::new(&emitter.finish(entry)),
    })
}

/// A module being emitted.
struct Emitter<'a> {
    module: &'a Module,
    capabilities: &'a Capabilities,
    asm: Assembler,
    required_local_size: Option<[u32; 3]>,
    uniform_work_groups: bool,
    contraction_off: bool,
    /// What the kernel reads of the argument block.
    arguments: ArgumentReads,
    functions: HashMap<FuncId, Id>,
    spec_constants: HashMap<u32, Id>,
    /// Input variables by the number of their built-in.
    inputs: HashMap<u32, Id>,
    /// Variable, and type of a pointer to an element.
    arrays: HashMap<ArrayId, (Id, Id)>,
    array_vectors: ArrayVectors,
    push_constants: Option<ArgumentBlock>,
    /// The variables of the uniform buffer, by the bytes of a number in it.
    uniforms: HashMap<u32, Id>,
    /// The variables of the array of buffers, by the type of what is in them.
    buffers: HashMap<Type, Id>,
    /// Pointer types by what they point to and their stride, bytes.
    strided_pointers: HashMap<(Id, u32), Id>,
    textures: Option<texture::Variables>,
    /// Widths of the float types in the module.
    used_floats: BTreeSet<u32>,
    /// Whether any instruction depends on which work-items execute it together.
    uses_collectives: bool,
    /// Whether work-items of one launch may speak to each other through device memory.
    orders_device_memory: bool,
}

impl Emitter<'_> {
    fn function_id(&self, id: FuncId) -> Result<Id, CompileError> {
        let found = self.functions.get(&id).copied();
        found.ok_or_else(|| CompileError::internal(format!("function {id} does not exist")))
    }

    fn finish(self, entry: Id) -> Vec<u32> {
        let model = if self.capabilities.vulkan_memory_model {
            MemoryModel::Vulkan
        } else {
            MemoryModel::GLSL450
        };
        let addressing = match self.capabilities.buffer_descriptors {
            0 => AddressingModel::PhysicalStorageBuffer64,
            _ => AddressingModel::Logical,
        };
        self.asm.finish(entry, addressing, model)
    }
}

/// The functions that a call can get to, callers before callees where that is possible.
fn reached_functions(module: &Module, entry: FuncId) -> Result<Vec<FuncId>, CompileError> {
    let mut reached = vec![entry];
    let mut next = 0;
    while let Some(&id) = reached.get(next) {
        next += 1;
        let function = module
            .functions
            .get(id.index())
            .ok_or_else(|| CompileError::internal(format!("function {id} does not exist")))?;
        for op in ops_of(function) {
            if let Op::Call(callee, _) = op
                && !reached.contains(callee)
            {
                reached.push(*callee);
            }
        }
    }
    Ok(reached)
}

/// Every operation of a function, in layout order.
fn ops_of(function: &Function) -> impl Iterator<Item = &Op> {
    let insts = function
        .layout()
        .iter()
        .flat_map(|&b| &function.block(b).insts);
    insts.map(|&inst| &function.inst(inst).op)
}

fn has_barrier(function: &Function) -> bool {
    ops_of(function).any(|op| match op {
        Op::Group(..) => true,
        Op::ControlBarrier { execution, .. } => *execution != Scope::Invocation,
        _ => false,
    })
}

/// Whether a function has an atomic on device memory, or a fence that orders it.
fn orders_device_memory(function: &Function) -> bool {
    ops_of(function).any(|op| match op {
        Op::Atomic { place, .. } => place.is_device_address(),
        Op::ControlBarrier { semantics, .. } | Op::MemoryBarrier { semantics, .. } => {
            semantics.has(semantics::DEVICE_MEMORY)
        }
        _ => false,
    })
}

/// Bytes of the arrays in use of one storage class, without specialized parts.
fn array_bytes(module: &Module, used: &BTreeSet<ArrayId>, storage: ArrayStorage) -> u64 {
    used.iter()
        .map(|&id| module.array(id))
        .filter(|array| array.storage == storage)
        .map(|array| u64::from(array.length.elements) * u64::from(array.element.size_bytes()))
        .sum()
}
