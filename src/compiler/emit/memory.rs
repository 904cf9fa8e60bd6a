//! Loads, stores, atomics and barriers.

use super::array_vectors;
use super::assembler::Id;
use super::function::FunctionEmitter;
use super::semantics::Direction;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, ArrayId, ArrayStorage, AtomicOp, Inst, Op, Place, Scope, Semantics, Type, Value,
};
use rspirv::spirv::{self, Capability, MemoryAccess, MemorySemantics, StorageClass};

impl FunctionEmitter<'_, '_> {
    pub fn load(
        &mut self,
        inst: Inst,
        place: Place,
        access: Access,
        results: &[Value],
    ) -> Result<(), CompileError> {
        match place {
            _ if place.is_device_address() && self.uses_buffers() => {
                let (ty, _) = self.memory_type(inst, results)?;
                let pointers = self.buffer_elements(inst, place, ty, results.len() as u32)?;
                let access = self.buffer_access(inst, ty, access)?;
                for (pointer, &result) in pointers.into_iter().zip(results) {
                    let operands = [&[pointer], access.as_slice()].concat();
                    self.define(result, spirv::Op::Load, &operands)?;
                }
                Ok(())
            }
            _ if place.is_device_address() => {
                let (ty, vector) = self.memory_type(inst, results)?;
                let words = self.wide_words(ty, results.len(), access)?;
                let (word, accessed) = words.unwrap_or((ty, vector));
                let pointer = self.physical_pointer(inst, place, word, accessed)?;
                let operands = self.physical_access(inst, word, access)?;
                let operands = [&[pointer], operands.as_slice()].concat();
                if let &[result] = results {
                    return self.define(result, spirv::Op::Load, &operands);
                }
                let asm = &mut self.emitter.asm;
                let mut loaded = asm.result(spirv::Op::Load, accessed, &operands);
                if accessed != vector {
                    loaded = asm.result(spirv::Op::Bitcast, vector, &[loaded]);
                }
                self.take_apart(results, loaded)
            }
            Place::Element { array, index } => {
                if let Some(vector) = self.array_vector(array, results.len(), access)? {
                    self.check_element(inst, array, results[0])?;
                    let pointer = self.element_vector(array, index, vector)?;
                    let access = self.array_access(array, access);
                    let operands = [&[pointer], access.as_slice()].concat();
                    let asm = &mut self.emitter.asm;
                    let loaded = asm.result(spirv::Op::Load, vector, &operands);
                    return self.take_apart(results, loaded);
                }
                for (offset, &result) in results.iter().enumerate() {
                    self.check_element(inst, array, result)?;
                    let pointer = self.element(array, index, offset as u32)?;
                    let access = self.array_access(array, access);
                    let operands = [&[pointer], access.as_slice()].concat();
                    self.define(result, spirv::Op::Load, &operands)?;
                }
                Ok(())
            }
            Place::Argument { offset_bytes } => {
                let mut offset_bytes = offset_bytes;
                for &result in results {
                    self.load_argument(inst, offset_bytes, result)?;
                    offset_bytes += self.function.ty(result).size_bytes();
                }
                Ok(())
            }
            Place::Uniform { index } => {
                let &[result] = results else {
                    return Err(self.unexpected(inst));
                };
                let index = self.value(index)?;
                let ty = self.function.ty(result);
                let pointer = self.emitter.uniform_number(ty, index)?;
                self.define(result, spirv::Op::Load, &[pointer])
            }
            _ => Err(self.unexpected(inst)),
        }
    }

    /// Reads a word or a 64-bit number of the argument block.
    fn load_argument(
        &mut self,
        inst: Inst,
        offset_bytes: u32,
        result: Value,
    ) -> Result<(), CompileError> {
        let ty = self.function.ty(result);
        let place = self.emitter.argument_place(offset_bytes)?;
        if place.ty == ty && place.within_bytes == 0 {
            return self.define(result, spirv::Op::Load, &[place.pointer]);
        }
        // A word of what is read whole elsewhere.
        if (place.ty, ty) != (Type::I64, Type::I32) || place.within_bytes % 4 != 0 {
            return Err(self.unexpected(inst));
        }
        let long = self.emitter.ty(Type::I64)?;
        let by = self.emitter.const_u32(8 * place.within_bytes);
        let asm = &mut self.emitter.asm;
        let whole = asm.result(spirv::Op::Load, long, &[place.pointer]);
        let shifted = asm.result(spirv::Op::ShiftRightLogical, long, &[whole, by]);
        self.define(result, spirv::Op::UConvert, &[shifted])
    }

    pub fn store(
        &mut self,
        inst: Inst,
        place: Place,
        access: Access,
        values: &[Value],
    ) -> Result<(), CompileError> {
        match place {
            _ if place.is_device_address() && self.uses_buffers() => {
                let (ty, _) = self.memory_type(inst, values)?;
                let pointers = self.buffer_elements(inst, place, ty, values.len() as u32)?;
                let access = self.buffer_access(inst, ty, access)?;
                for (pointer, &value) in pointers.into_iter().zip(values) {
                    let stored = self.value(value)?;
                    let operands = [&[pointer, stored], access.as_slice()].concat();
                    self.emitter.asm.inst(spirv::Op::Store, &operands);
                }
                Ok(())
            }
            _ if place.is_device_address() => {
                let (ty, vector) = self.memory_type(inst, values)?;
                let words = self.wide_words(ty, values.len(), access)?;
                let (word, accessed) = words.unwrap_or((ty, vector));
                let pointer = self.physical_pointer(inst, place, word, accessed)?;
                let ids = self.values(values)?;
                let asm = &mut self.emitter.asm;
                let mut stored = match ids.as_slice() {
                    &[one] => one,
                    all => asm.result(spirv::Op::CompositeConstruct, vector, all),
                };
                if accessed != vector {
                    stored = asm.result(spirv::Op::Bitcast, accessed, &[stored]);
                }
                let operands = self.physical_access(inst, word, access)?;
                let operands = [&[pointer, stored], operands.as_slice()].concat();
                self.emitter.asm.inst(spirv::Op::Store, &operands);
                Ok(())
            }
            Place::Element { array, index } => {
                if let Some(vector) = self.array_vector(array, values.len(), access)? {
                    self.check_element(inst, array, values[0])?;
                    let pointer = self.element_vector(array, index, vector)?;
                    let ids = self.values(values)?;
                    let asm = &mut self.emitter.asm;
                    let stored = asm.result(spirv::Op::CompositeConstruct, vector, &ids);
                    let access = self.array_access(array, access);
                    let operands = [&[pointer, stored], access.as_slice()].concat();
                    self.emitter.asm.inst(spirv::Op::Store, &operands);
                    return Ok(());
                }
                for (offset, &value) in values.iter().enumerate() {
                    self.check_element(inst, array, value)?;
                    let pointer = self.element(array, index, offset as u32)?;
                    let stored = self.value(value)?;
                    let access = self.array_access(array, access);
                    let operands = [&[pointer, stored], access.as_slice()].concat();
                    self.emitter.asm.inst(spirv::Op::Store, &operands);
                }
                Ok(())
            }
            _ => Err(self.unexpected(inst)),
        }
    }

    /// The scalar type behind an access to device memory, and the type loaded or stored at once.
    fn memory_type(&mut self, inst: Inst, values: &[Value]) -> Result<(Type, Id), CompileError> {
        let types = values.iter().map(|&value| self.function.ty(value));
        let mut types = types.collect::<Vec<_>>();
        let count = types.len() as u32;
        types.dedup();
        let &[ty] = types.as_slice() else {
            return Err(self.unexpected(inst));
        };
        if ty == Type::Bool || count > 4 {
            return Err(self.unexpected(inst));
        }
        let vector = self.emitter.vector_type(ty, count)?;
        Ok((ty, vector))
    }

    /// The widest words that an access to a vector of `count` scalars can be made in, and the type of as many of them,
    /// where that is worth it (`Capabilities::serial_memory`) and wider than the scalars.
    fn wide_words(
        &mut self,
        ty: Type,
        count: usize,
        access: Access,
    ) -> Result<Option<(Type, Id)>, CompileError> {
        let bytes = ty.size_bytes() * count as u32;
        let word = [Type::I64, Type::I32].into_iter().find(|word| {
            let width = word.size_bytes();
            access.align_bytes >= width && bytes.is_multiple_of(width)
        });
        let caps = self.emitter.capabilities;
        let word = word.filter(|word| {
            caps.serial_memory
                && !access.volatile
                && word.size_bytes() > ty.size_bytes()
                && (caps.int64 || *word != Type::I64)
        });
        let Some(word) = word else {
            return Ok(None);
        };
        let words = self.emitter.vector_type(word, bytes / word.size_bytes())?;
        Ok(Some((word, words)))
    }

    /// A pointer to `pointee`, made from the address.
    fn physical_pointer(
        &mut self,
        inst: Inst,
        place: Place,
        ty: Type,
        pointee: Id,
    ) -> Result<Id, CompileError> {
        self.narrow_storage(inst, ty)?;
        let pointer = match place {
            Place::Indexed { stride_bytes, .. } => {
                self.emitter.strided_pointer_type(pointee, stride_bytes)
            }
            _ => {
                let storage = StorageClass::PhysicalStorageBuffer;
                self.emitter.pointer_type(storage, pointee)
            }
        };
        let types = |values: [Value; 2]| values.map(|value| self.function.ty(value));
        match place {
            Place::Address(address) if self.function.ty(address) == Type::I64 => {
                self.converted(address, pointer)
            }
            Place::AddressPair { lo, hi } if types([lo, hi]) == [Type::I32; 2] => {
                self.made_once((lo, Some(hi), pointer), |this| {
                    let parts = this.values(&[lo, hi])?;
                    let vector = this.emitter.vector_type(Type::I32, 2)?;
                    let asm = &mut this.emitter.asm;
                    let pair = asm.result(spirv::Op::CompositeConstruct, vector, &parts);
                    Ok(asm.result(spirv::Op::Bitcast, pointer, &[pair]))
                })
            }
            Place::Indexed { base, index, .. }
                if types([base, index]) == [Type::I64, Type::I32] =>
            {
                let first = self.converted(base, pointer)?;
                self.made_once((base, Some(index), pointer), |this| {
                    let index = this.value(index)?;
                    let asm = &mut this.emitter.asm;
                    Ok(asm.result(spirv::Op::PtrAccessChain, pointer, &[first, index]))
                })
            }
            _ => Err(self.unexpected(inst)),
        }
    }

    /// The address as a pointer of a type.
    fn converted(&mut self, address: Value, pointer: Id) -> Result<Id, CompileError> {
        self.made_once((address, None, pointer), |this| {
            let address = this.value(address)?;
            let asm = &mut this.emitter.asm;
            Ok(asm.result(spirv::Op::ConvertUToPtr, pointer, &[address]))
        })
    }

    /// The pointer that the block has already, or a new one.
    fn made_once(
        &mut self,
        key: (Value, Option<Value>, Id),
        make: impl FnOnce(&mut Self) -> Result<Id, CompileError>,
    ) -> Result<Id, CompileError> {
        if let Some(&made) = self.pointers.get(&key) {
            return Ok(made);
        }
        let made = make(self)?;
        self.pointers.insert(key, made);
        Ok(made)
    }

    /// Declares what 8- and 16-bit accesses to device memory need.
    pub fn narrow_storage(&mut self, inst: Inst, ty: Type) -> Result<(), CompileError> {
        let caps = self.emitter.capabilities;
        let supported = match ty.bits() {
            8 => caps.storage8,
            16 => caps.storage16,
            _ => true,
        };
        if !supported {
            return Err(self.unexpected(inst));
        }
        let asm = &mut self.emitter.asm;
        match ty.bits() {
            8 => {
                asm.capability(Capability::StorageBuffer8BitAccess);
                asm.extension("SPV_KHR_8bit_storage", Some((1, 5)));
            }
            16 => {
                asm.capability(Capability::StorageBuffer16BitAccess);
                asm.extension("SPV_KHR_16bit_storage", Some((1, 3)));
            }
            _ => {}
        }
        Ok(())
    }

    /// Memory operands for device memory. Its pointers must say their alignment, which is at least that of
    /// the scalar.
    fn physical_access(
        &mut self,
        inst: Inst,
        ty: Type,
        access: Access,
    ) -> Result<Vec<u32>, CompileError> {
        let bits = self.device_access(inst, ty, access)? | MemoryAccess::ALIGNED;
        Ok(vec![bits.bits(), access.align_bytes])
    }

    /// Memory operands for device memory that is reached through descriptors, a scalar at a time.
    fn buffer_access(
        &mut self,
        inst: Inst,
        ty: Type,
        access: Access,
    ) -> Result<Vec<u32>, CompileError> {
        let bits = self.device_access(inst, ty, access)?;
        if bits.is_empty() {
            return Ok(Vec::new());
        }
        Ok(vec![bits.bits()])
    }

    fn device_access(
        &self,
        inst: Inst,
        ty: Type,
        access: Access,
    ) -> Result<MemoryAccess, CompileError> {
        if access.align_bytes < ty.size_bytes() {
            return Err(self.unexpected(inst));
        }
        let mut bits = MemoryAccess::NONE;
        if access.volatile {
            bits |= MemoryAccess::VOLATILE;
        }
        // Only these are ordered by barriers and atomics. Others may stay in a cache of the core's own.
        let shared = self.emitter.orders_device_memory || access.volatile;
        if self.emitter.capabilities.vulkan_memory_model && shared && !access.read_only {
            bits |= MemoryAccess::NON_PRIVATE_POINTER;
        }
        Ok(bits)
    }

    /// Memory operands for an array: work-group memory is shared, so accesses take part in barriers.
    fn array_access(&self, array: ArrayId, access: Access) -> Vec<u32> {
        let mut bits = MemoryAccess::NONE;
        if access.volatile {
            bits |= MemoryAccess::VOLATILE;
        }
        let storage = self.emitter.module.array(array).storage;
        if self.emitter.capabilities.vulkan_memory_model && storage == ArrayStorage::Workgroup {
            bits |= MemoryAccess::NON_PRIVATE_POINTER;
        }
        if bits.is_empty() {
            Vec::new()
        } else {
            vec![bits.bits()]
        }
    }

    fn check_element(&self, inst: Inst, array: ArrayId, value: Value) -> Result<(), CompileError> {
        let array = self.emitter.module.arrays.get(array.index());
        if array.is_some_and(|array| array.element == self.function.ty(value)) {
            Ok(())
        } else {
            Err(self.unexpected(inst))
        }
    }

    /// The vector type of an array that is one of vectors, if the access is to a whole one.
    fn array_vector(
        &mut self,
        array: ArrayId,
        count: usize,
        access: Access,
    ) -> Result<Option<Id>, CompileError> {
        let lanes = self.emitter.array_vectors.lanes(array);
        let ty = self.emitter.module.array(array).element;
        if lanes > 1 && array_vectors::is_vector(ty, count, access) == Some(lanes) {
            self.emitter.vector_type(ty, lanes).map(Some)
        } else {
            Ok(None)
        }
    }

    /// A pointer to the vector that begins with element `index` of an array of vectors.
    fn element_vector(
        &mut self,
        array: ArrayId,
        index: Value,
        vector: Id,
    ) -> Result<Id, CompileError> {
        let (variable, _) = self.emitter.array(array)?;
        let shift = self.emitter.array_vectors.lanes(array).trailing_zeros();
        let index_id = match self.function.constant(index) {
            Some(constant) => self.emitter.const_u32(constant as u32 >> shift),
            None => {
                let (uint, shift) = (self.emitter.uint(), self.emitter.const_u32(shift));
                let index = self.value(index)?;
                let asm = &mut self.emitter.asm;
                asm.result(spirv::Op::ShiftRightLogical, uint, &[index, shift])
            }
        };
        let ty = self.emitter.pointer_type(StorageClass::Workgroup, vector);
        let asm = &mut self.emitter.asm;
        Ok(asm.result(spirv::Op::AccessChain, ty, &[variable, index_id]))
    }

    /// A pointer to element `index + offset`.
    fn element(&mut self, array: ArrayId, index: Value, offset: u32) -> Result<Id, CompileError> {
        let (variable, ty) = self.emitter.array(array)?;
        let lanes = self.emitter.array_vectors.lanes(array);
        if let (Some(constant), true) = (self.function.constant(index), lanes > 1) {
            let index = (constant as u32).wrapping_add(offset);
            let parts = [index / lanes, index % lanes].map(|part| self.emitter.const_u32(part));
            let asm = &mut self.emitter.asm;
            return Ok(asm.result(spirv::Op::AccessChain, ty, &[variable, parts[0], parts[1]]));
        }
        let mut index_id = self.value(index)?;
        if offset > 0 {
            if let Some(constant) = self.function.constant(index) {
                index_id = self
                    .emitter
                    .const_u32((constant as u32).wrapping_add(offset));
            } else {
                let uint = self.emitter.uint();
                let offset = self.emitter.const_u32(offset);
                let asm = &mut self.emitter.asm;
                index_id = asm.result(spirv::Op::IAdd, uint, &[index_id, offset]);
            }
        }
        let mut indices = vec![variable, index_id];
        if lanes > 1 {
            let uint = self.emitter.uint();
            let shift = self.emitter.const_u32(lanes.trailing_zeros());
            let mask = self.emitter.const_u32(lanes - 1);
            let asm = &mut self.emitter.asm;
            let vector = asm.result(spirv::Op::ShiftRightLogical, uint, &[index_id, shift]);
            let component = asm.result(spirv::Op::BitwiseAnd, uint, &[index_id, mask]);
            indices = vec![variable, vector, component];
        }
        let asm = &mut self.emitter.asm;
        Ok(asm.result(spirv::Op::AccessChain, ty, &indices))
    }

    pub fn atomic(&mut self, inst: Inst) -> Result<(), CompileError> {
        let function = self.function;
        let data = function.inst(inst);
        let Op::Atomic {
            op,
            place,
            values,
            scope,
            semantics,
        } = &data.op
        else {
            return Err(self.unexpected(inst));
        };
        let (op, place, scope, semantics) = (*op, *place, *scope, *semantics);
        let ty = self.atomic_type(inst, op, values, &data.results)?;
        let (pointer, storage) = self.atomic_pointer(inst, place, ty)?;
        let scope_id = self.emitter.scope(scope);
        let scope_id = self.emitter.const_u32(scope_id);
        let bits = |this: &mut Self, semantics, direction| {
            let bits = this.emitter.semantics(semantics, scope, direction, storage);
            this.emitter.const_u32(bits)
        };

        // Atomics work on integers: floats go through their bits, flags are 0 and 1.
        let ty_id = self.emitter.ty(ty)?;
        let mut operands = Vec::with_capacity(values.len());
        for &value in values {
            let mut id = self.value(value)?;
            if self.function.ty(value) != ty {
                let asm = &mut self.emitter.asm;
                id = asm.result(spirv::Op::Bitcast, ty_id, &[id]);
            }
            operands.push(id);
        }
        let (opcode, direction) = match op {
            AtomicOp::Load => (spirv::Op::AtomicLoad, Direction::Read),
            AtomicOp::Store | AtomicOp::FlagClear => (spirv::Op::AtomicStore, Direction::Write),
            AtomicOp::Exchange | AtomicOp::FlagTestAndSet => {
                (spirv::Op::AtomicExchange, Direction::Both)
            }
            AtomicOp::CompareExchange => (spirv::Op::AtomicCompareExchange, Direction::Both),
            AtomicOp::Add => (spirv::Op::AtomicIAdd, Direction::Both),
            AtomicOp::Sub => (spirv::Op::AtomicISub, Direction::Both),
            AtomicOp::UMin => (spirv::Op::AtomicUMin, Direction::Both),
            AtomicOp::UMax => (spirv::Op::AtomicUMax, Direction::Both),
            AtomicOp::SMin => (spirv::Op::AtomicSMin, Direction::Both),
            AtomicOp::SMax => (spirv::Op::AtomicSMax, Direction::Both),
            AtomicOp::And => (spirv::Op::AtomicAnd, Direction::Both),
            AtomicOp::Or => (spirv::Op::AtomicOr, Direction::Both),
            AtomicOp::Xor => (spirv::Op::AtomicXor, Direction::Both),
            AtomicOp::FAdd => (spirv::Op::AtomicFAddEXT, Direction::Both),
            AtomicOp::FMin | AtomicOp::FMax => return Err(self.unexpected(inst)),
        };
        match op {
            AtomicOp::FlagClear => operands.push(self.emitter.const_u32(0)),
            AtomicOp::FlagTestAndSet => operands.push(self.emitter.const_u32(1)),
            _ => {}
        }
        let mut all = vec![pointer, scope_id, bits(self, semantics, direction)];
        if op == AtomicOp::CompareExchange {
            // When the comparison fails nothing is written, hence nothing released.
            all.push(bits(self, semantics, Direction::Read));
        }
        all.extend(operands);

        let &[result] = data.results.as_slice() else {
            if opcode == spirv::Op::AtomicStore {
                self.emitter.asm.inst(opcode, &all);
            } else {
                self.emitter.asm.result(opcode, ty_id, &all);
            }
            return Ok(());
        };
        if self.function.ty(result) == ty {
            return self.define(result, opcode, &all);
        }
        let old = self.emitter.asm.result(opcode, ty_id, &all);
        if op == AtomicOp::FlagTestAndSet {
            let zero = self.emitter.const_u32(0);
            return self.define(result, spirv::Op::INotEqual, &[old, zero]);
        }
        self.define(result, spirv::Op::Bitcast, &[old])
    }

    /// The type an atomic works on: an integer of 32 bits, or 64 where the device has it; additions work on
    /// floats too.
    fn atomic_type(
        &self,
        inst: Inst,
        op: AtomicOp,
        values: &[Value],
        results: &[Value],
    ) -> Result<Type, CompileError> {
        if matches!(op, AtomicOp::FlagClear | AtomicOp::FlagTestAndSet) {
            return Ok(Type::I32);
        }
        if let (AtomicOp::FAdd, &[value], &[result]) = (op, values, results) {
            let ty = self.function.ty(value);
            return if ty.is_float() && self.function.ty(result) == ty {
                Ok(ty)
            } else {
                Err(self.unexpected(inst))
            };
        }
        let ty = values
            .first()
            .or(results.first())
            .and_then(|&value| self.function.ty(value).as_int());
        let bits_only = matches!(op, AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange);
        let same = values.iter().chain(results).all(|&value| {
            let value = self.function.ty(value);
            Some(value) == ty || (bits_only && value.as_int() == ty)
        });
        match ty {
            Some(ty @ (Type::I32 | Type::I64)) if same => Ok(ty),
            _ => Err(self.unexpected(inst)),
        }
    }

    fn atomic_pointer(
        &mut self,
        inst: Inst,
        place: Place,
        ty: Type,
    ) -> Result<(Id, MemorySemantics), CompileError> {
        let caps = self.emitter.capabilities;
        let (pointer, storage, wide) = match place {
            _ if place.is_device_address() => {
                let pointer = if self.uses_buffers() {
                    let pointers = self.buffer_elements(inst, place, ty, 1)?;
                    pointers[0]
                } else {
                    let pointee = self.emitter.ty(ty)?;
                    self.physical_pointer(inst, place, ty, pointee)?
                };
                let storage = MemorySemantics::UNIFORM_MEMORY;
                (pointer, storage, caps.buffer_int64_atomics)
            }
            Place::Element { array, index } => {
                let data = self.emitter.module.arrays.get(array.index());
                let fits = data.is_some_and(|array| {
                    array.element == ty && array.storage == ArrayStorage::Workgroup
                });
                if !fits {
                    return Err(self.unexpected(inst));
                }
                let pointer = self.element(array, index, 0)?;
                let storage = MemorySemantics::WORKGROUP_MEMORY;
                (pointer, storage, caps.shared_int64_atomics)
            }
            _ => return Err(self.unexpected(inst)),
        };
        let is_element = matches!(place, Place::Element { .. });
        let adds = caps.float_atomics;
        let asm = &mut self.emitter.asm;
        match ty {
            Type::I32 => {}
            Type::I64 if wide => asm.capability(Capability::Int64Atomics),
            Type::F32 if adds.buffer_add32 && !is_element => {
                asm.capability(Capability::AtomicFloat32AddEXT);
                asm.extension("SPV_EXT_shader_atomic_float_add", None);
            }
            Type::F64 if adds.buffer_add64 && !is_element => {
                asm.capability(Capability::AtomicFloat64AddEXT);
                asm.extension("SPV_EXT_shader_atomic_float_add", None);
            }
            _ => return Err(self.unexpected(inst)),
        }
        Ok((pointer, storage))
    }

    pub fn barrier(&mut self, inst: Inst) -> Result<(), CompileError> {
        let none = MemorySemantics::empty();
        match self.function.inst(inst).op {
            Op::ControlBarrier {
                execution,
                memory,
                semantics,
            } => {
                // Vulkan's control barriers reach no further than the work-group.
                let execution = match execution {
                    Scope::Subgroup => spirv::Scope::Subgroup,
                    Scope::Invocation => return Ok(()),
                    Scope::CrossDevice | Scope::Device | Scope::Workgroup => {
                        spirv::Scope::Workgroup
                    }
                };
                let bits = self
                    .emitter
                    .semantics(semantics, memory, Direction::Both, none);
                let memory = match bits {
                    0 => execution as u32,
                    _ => self.emitter.scope(memory),
                };
                let operands = [execution as u32, memory, bits];
                let operands = operands.map(|word| self.emitter.const_u32(word));
                self.emitter.uses_collectives = true;
                self.emitter.asm.inst(spirv::Op::ControlBarrier, &operands);
            }
            Op::MemoryBarrier { memory, semantics } => {
                self.memory_barrier(memory, semantics);
            }
            _ => return Err(self.unexpected(inst)),
        }
        Ok(())
    }

    fn memory_barrier(&mut self, memory: Scope, semantics: Semantics) {
        let none = MemorySemantics::empty();
        let bits = self
            .emitter
            .semantics(semantics, memory, Direction::Both, none);
        // A fence that orders nothing is nothing.
        if bits != 0 {
            let operands = [self.emitter.scope(memory), bits];
            let operands = operands.map(|word| self.emitter.const_u32(word));
            self.emitter.asm.inst(spirv::Op::MemoryBarrier, &operands);
        }
    }
}
