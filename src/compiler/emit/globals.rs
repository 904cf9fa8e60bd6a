//! What stands outside functions: types, constants, specialization constants, inputs, arrays, the
//! argument block.

use super::Emitter;
use super::assembler::Id;
use crate::compiler::CompileError;
use crate::compiler::ir::{ArrayId, ArrayLength, ArrayStorage, BuiltIn, Type};
use rspirv::spirv::{self, Capability, Decoration, ExecutionMode, Op, StorageClass};

impl Emitter<'_> {
    /// The id of a type, with the capability that it needs.
    pub fn ty(&mut self, ty: Type) -> Result<Id, CompileError> {
        let caps = self.capabilities;
        let (supported, capability) = match ty {
            Type::Bool => return Ok(self.asm.declare_type(Op::TypeBool, &[])),
            Type::I32 | Type::F32 => (true, None),
            Type::I8 => (caps.int8, Some(Capability::Int8)),
            Type::I16 => (caps.int16, Some(Capability::Int16)),
            Type::I64 => (caps.int64, Some(Capability::Int64)),
            Type::F16 => (caps.float16, Some(Capability::Float16)),
            Type::F64 => (caps.float64, Some(Capability::Float64)),
            Type::Ptr(_) => (false, None),
        };
        if !supported {
            return Err(CompileError::internal(format!(
                "a value of type {ty} reached code generation, which the device does not have"
            )));
        }
        if let Some(capability) = capability {
            self.asm.capability(capability);
        }
        if ty.is_float() {
            self.used_floats.insert(ty.bits());
            return Ok(self.asm.declare_type(Op::TypeFloat, &[ty.bits()]));
        }
        Ok(self.asm.declare_type(Op::TypeInt, &[ty.bits(), 0]))
    }

    pub fn void(&mut self) -> Id {
        self.asm.declare_type(Op::TypeVoid, &[])
    }

    pub fn uint(&mut self) -> Id {
        self.asm.declare_type(Op::TypeInt, &[32, 0])
    }

    /// A scalar type for one component, a vector type for two to four.
    pub fn vector_type(&mut self, ty: Type, components: u32) -> Result<Id, CompileError> {
        let scalar = self.ty(ty)?;
        Ok(match components {
            1 => scalar,
            n => self.asm.declare_type(Op::TypeVector, &[scalar, n]),
        })
    }

    pub fn pointer_type(&mut self, storage: StorageClass, pointee: Id) -> Id {
        self.asm
            .declare_type(Op::TypePointer, &[storage as u32, pointee])
    }

    /// A pointer to an element of an array in device memory, of which `OpPtrAccessChain` makes pointers to others.
    pub fn strided_pointer_type(&mut self, pointee: Id, stride_bytes: u32) -> Id {
        *self
            .strided_pointers
            .entry((pointee, stride_bytes))
            .or_insert_with(|| {
                let storage = StorageClass::PhysicalStorageBuffer as u32;
                let ty = self.asm.new_type(Op::TypePointer, &[storage, pointee]);
                let stride = &[stride_bytes];
                self.asm.decorate(ty, Decoration::ArrayStride, stride);
                ty
            })
    }

    pub fn constant(&mut self, ty: Type, bits: u64) -> Result<Id, CompileError> {
        let id = self.ty(ty)?;
        let bits = bits & ty.mask();
        Ok(match ty.bits() {
            1 if bits == 0 => self.asm.declare_constant(Op::ConstantFalse, id, &[]),
            1 => self.asm.declare_constant(Op::ConstantTrue, id, &[]),
            64 => {
                let words = [bits as u32, (bits >> 32) as u32];
                self.asm.declare_constant(Op::Constant, id, &words)
            }
            _ => self.asm.declare_constant(Op::Constant, id, &[bits as u32]),
        })
    }

    pub fn const_u32(&mut self, value: u32) -> Id {
        let uint = self.uint();
        self.asm.declare_constant(Op::Constant, uint, &[value])
    }

    pub fn undef(&mut self, ty: Type) -> Result<Id, CompileError> {
        let id = self.ty(ty)?;
        Ok(self.asm.declare_constant(Op::Undef, id, &[]))
    }

    /// A 32-bit specialization constant. Those of the local size are plain constants where the kernel
    /// fixes that of all work-groups.
    pub fn spec_constant(&mut self, spec_id: u32, default: u32) -> Id {
        if let (Some(size), 0..=2) = (self.required_local_size, spec_id)
            && self.uniform_work_groups
        {
            return self.const_u32(size[spec_id as usize]);
        }
        if let Some(&id) = self.spec_constants.get(&spec_id) {
            return id;
        }
        let uint = self.uint();
        let id = self.asm.new_constant(Op::SpecConstant, uint, &[default]);
        self.asm.decorate(id, Decoration::SpecId, &[spec_id]);
        self.spec_constants.insert(spec_id, id);
        id
    }

    /// Declares the work-group's size: a literal where all work-groups have the size that the kernel requires,
    /// else the object decorated `WorkgroupSize`, which overrides the mode. A linear work-group is one row of
    /// as many work-items.
    pub fn declare_local_size(&mut self, entry: Id) {
        let linear = self.module.kernels.iter().any(|k| k.linear_groups);
        let required = self.required_local_size.unwrap_or([1; 3]);
        let size = if linear {
            [
                required.iter().fold(1u32, |a, b| a.saturating_mul(*b)),
                1,
                1,
            ]
        } else {
            required
        };
        self.asm
            .execution_mode(entry, ExecutionMode::LocalSize, &size);
        if self.required_local_size.is_some() && self.uniform_work_groups {
            return;
        }
        let [x, y, z] = required;
        let mut parts = [(0, x), (1, y), (2, z)].map(|(id, size)| self.spec_constant(id, size));
        let uint = self.uint();
        if linear {
            let [x, y, z] = parts;
            let product = [x, y, z].into_iter().reduce(|a, b| {
                let operands = [Op::IMul as u32, a, b];
                self.asm
                    .declare_constant(Op::SpecConstantOp, uint, &operands)
            });
            let one = self.const_u32(1);
            parts = [product.unwrap_or(one), one, one];
        }
        let vector = self.asm.declare_type(Op::TypeVector, &[uint, 3]);
        let id = self
            .asm
            .new_constant(Op::SpecConstantComposite, vector, &parts);
        self.asm.decorate_builtin(id, spirv::BuiltIn::WorkgroupSize);
    }

    /// The variable behind an input and, for vectors, the component asked for.
    pub fn input(&mut self, input: BuiltIn) -> (Id, Option<u32>) {
        let (builtin, component) = match input {
            BuiltIn::LocalInvocationId(d) => (spirv::BuiltIn::LocalInvocationId, Some(d)),
            BuiltIn::WorkgroupId(d) => (spirv::BuiltIn::WorkgroupId, Some(d)),
            BuiltIn::NumWorkgroups(d) => (spirv::BuiltIn::NumWorkgroups, Some(d)),
            BuiltIn::SubgroupSize => (spirv::BuiltIn::SubgroupSize, None),
            BuiltIn::NumSubgroups => (spirv::BuiltIn::NumSubgroups, None),
            BuiltIn::SubgroupId => (spirv::BuiltIn::SubgroupId, None),
            BuiltIn::SubgroupLocalInvocationId => (spirv::BuiltIn::SubgroupLocalInvocationId, None),
        };
        let component = component.map(u32::from);
        if let Some(&variable) = self.inputs.get(&(builtin as u32)) {
            return (variable, component);
        }
        let uint = self.uint();
        let pointee = match component {
            Some(_) => self.asm.declare_type(Op::TypeVector, &[uint, 3]),
            None => {
                self.asm.capability(Capability::GroupNonUniform);
                uint
            }
        };
        let variable = self.asm.variable(StorageClass::Input, pointee);
        self.asm.decorate_builtin(variable, builtin);
        self.inputs.insert(builtin as u32, variable);
        (variable, component)
    }

    /// An array's variable, declared at its first use, and the type of a pointer to its elements.
    pub fn array(&mut self, id: ArrayId) -> Result<(Id, Id), CompileError> {
        if let Some(&found) = self.arrays.get(&id) {
            return Ok(found);
        }
        let module = self.module;
        let array = module
            .arrays
            .get(id.index())
            .ok_or_else(|| CompileError::internal(format!("array {id} does not exist")))?;
        let lanes = self.array_vectors.lanes(id);
        let element = self.ty(array.element)?;
        let vector = self.vector_type(array.element, lanes)?;
        let storage = match array.storage {
            ArrayStorage::Workgroup => StorageClass::Workgroup,
            ArrayStorage::Private => StorageClass::Private,
        };
        let length = self.array_length(&array.length, lanes);
        let ty = self.asm.declare_type(Op::TypeArray, &[vector, length]);
        let variable = self.asm.variable(storage, ty);
        if !array.name.is_empty() {
            self.asm.name(variable, &array.name);
        }
        let pointer = self.pointer_type(storage, element);
        self.arrays.insert(id, (variable, pointer));
        Ok((variable, pointer))
    }

    /// The sum of the constant part and of the specialization constants, at least one element, as a number of vectors
    /// of `lanes`, a power of two.
    fn array_length(&mut self, length: &ArrayLength, lanes: u32) -> Id {
        let uint = self.uint();
        if length.spec_ids.is_empty() {
            return self.const_u32(length.elements.div_ceil(lanes).max(1));
        }
        let rounded_up = length.elements.saturating_add(lanes - 1);
        let mut sum = match rounded_up {
            0 => None,
            elements => Some(self.const_u32(elements)),
        };
        for &spec_id in &length.spec_ids {
            let part = self.spec_constant(spec_id, 1);
            sum = Some(match sum {
                None => part,
                Some(sum) => {
                    let operands = [Op::IAdd as u32, sum, part];
                    self.asm
                        .declare_constant(Op::SpecConstantOp, uint, &operands)
                }
            });
        }
        let sum = sum.unwrap_or_else(|| self.const_u32(1));
        match lanes {
            1 => sum,
            lanes => {
                let lanes = self.const_u32(lanes);
                let operands = [Op::UDiv as u32, sum, lanes];
                self.asm
                    .declare_constant(Op::SpecConstantOp, uint, &operands)
            }
        }
    }
}
