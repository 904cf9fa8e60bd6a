//! Pointer arithmetic, casts and comparisons.

use super::decode::{Id, Instruction};
use super::function_parser::{FunctionParser, Local};
use super::narrow_integers::sign_extend;
use super::spec_ops::{Step, step_into};
use super::types::Storage;
use crate::compiler::CompileError;
use crate::compiler::ir::{AddressSpace, Binary, Compare, Convert, InstFlags, Type, Value};
use rspirv::spirv::Op;

/// Where an access chain goes: a constant number of bytes and a value to add to a pointer.
struct Offset {
    bytes: i64,
    dynamic: Option<Value>,
    /// The type of `dynamic`: I32 where addresses have no more.
    ty: Type,
    in_bounds: bool,
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates pointer instructions; false if the instruction is another.
    pub(super) fn pointer_instruction(
        &mut self,
        inst: &Instruction<'a>,
    ) -> Result<bool, CompileError> {
        match inst.op {
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(inst, false)?,
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => self.access_chain(inst, true)?,
            Op::Bitcast => {
                let (_, local) = self.local(inst.id(0)?)?;
                match local {
                    Local::Input(pointer) => {
                        let ty = inst.result_type()?;
                        if self.source.types.pointee(ty)?.0 != Storage::Input {
                            return Err(
                                inst.invalid("the pointers are to different storage classes")
                            );
                        }
                        self.define_local(inst, ty, Local::Input(pointer))?;
                    }
                    Local::Values(_) => return Ok(false),
                }
            }
            Op::PtrCastToGeneric | Op::GenericCastToPtr => {
                self.cast_space(inst, Convert::AddressSpaceCast)?;
            }
            Op::GenericCastToPtrExplicit => {
                self.cast_space(inst, Convert::AddressSpaceCastExplicit)?;
            }
            Op::ConvertPtrToU => {
                let (pointer, _) = self.pointer(inst, 0)?;
                let to = self.integer_result(inst)?;
                let mut b = self.build();
                let value = b.convert(Convert::PtrToInt, pointer, Type::I64);
                let value = b.resize_int(value, to, false);
                self.define(inst, &[value])?;
            }
            Op::ConvertUToPtr => {
                let value = self.integer(inst, 0)?;
                let to = self.source.types.scalar(inst.result_type()?)?;
                if !to.is_pointer() {
                    return Err(inst.invalid("the result is not a pointer"));
                }
                let mut b = self.build();
                let value = b.resize_int(value, Type::I64, false);
                let value = b.convert(Convert::IntToPtr, value, to);
                self.define(inst, &[value])?;
            }
            Op::PtrEqual | Op::PtrNotEqual => {
                let (x, y) = self.two_pointers(inst)?;
                let op = match inst.op {
                    Op::PtrEqual => Compare::Equal,
                    _ => Compare::NotEqual,
                };
                let value = self.build().compare(op, x, y);
                self.define(inst, &[value])?;
            }
            Op::PtrDiff => {
                let (x, y) = self.two_pointers(inst)?;
                let (_, pointee) = self.pointer(inst, 0)?;
                let size = self.source.types.layout(pointee)?.size_bytes;
                let to = self.integer_result(inst)?;
                if size == 0 {
                    return Err(inst.invalid("the pointers are to a type of no size"));
                }
                let mut b = self.build();
                let x = b.convert(Convert::PtrToInt, x, Type::I64);
                let y = b.convert(Convert::PtrToInt, y, Type::I64);
                let bytes = b.binary(Binary::Sub, x, y);
                let elements = match size {
                    1 => bytes,
                    _ => b.binary_const(Binary::SDiv, bytes, size),
                };
                let value = b.resize_int(elements, to, true);
                self.define(inst, &[value])?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn integer_result(&self, inst: &Instruction<'a>) -> Result<Type, CompileError> {
        let ty = self.source.types.scalar(inst.result_type()?)?;
        if ty.is_int() {
            Ok(ty)
        } else {
            Err(inst.invalid("the result is not an integer"))
        }
    }

    fn two_pointers(&mut self, inst: &Instruction<'a>) -> Result<(Value, Value), CompileError> {
        let (x, _) = self.pointer(inst, 0)?;
        let (y, _) = self.pointer(inst, 1)?;
        if self.ty(x) == self.ty(y) {
            Ok((x, y))
        } else {
            Err(inst.invalid("the pointers are to different address spaces"))
        }
    }

    fn cast_space(&mut self, inst: &Instruction<'a>, op: Convert) -> Result<(), CompileError> {
        let (pointer, _) = self.pointer(inst, 0)?;
        let to = self.source.types.scalar(inst.result_type()?)?;
        let from = self.ty(pointer);
        if !to.is_pointer() {
            return Err(inst.invalid("the result is not a pointer"));
        }
        if from == to {
            return self.define(inst, &[pointer]);
        }
        let generic = Type::Ptr(AddressSpace::Generic);
        if from != generic && to != generic {
            return Err(inst.invalid("neither pointer is generic"));
        }
        self.convert1(inst, op, pointer, to)
    }

    fn access_chain(&mut self, inst: &Instruction<'a>, element: bool) -> Result<(), CompileError> {
        let (base_type, base) = self.local(inst.id(0)?)?;
        let (storage, mut at) = self.source.types.pointee(base_type)?;
        let small = matches!(
            storage,
            Storage::Space(AddressSpace::Local | AddressSpace::Private)
        );
        let mut offset = Offset {
            bytes: 0,
            dynamic: None,
            ty: if small { Type::I32 } else { Type::I64 },
            in_bounds: matches!(
                inst.op,
                Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain
            ),
        };
        let mut first = 1;
        if element {
            let stride = self.source.types.layout(at)?.size_bytes;
            self.add_index(inst, 1, stride, &mut offset)?;
            first = 2;
        }
        for index in first..inst.operands.len() {
            let constant = self.constant_index(inst, index);
            let (part, step) = step_into(&self.source.types, at, constant)?;
            match step {
                Step::Bytes(bytes) => offset.bytes = offset.bytes.wrapping_add(bytes as i64),
                Step::Stride(stride) => self.add_index(inst, index, stride, &mut offset)?,
            }
            at = part;
        }
        let ty = inst.result_type()?;
        if self.source.types.pointee(ty)? != (storage, at) {
            return Err(inst.invalid("the result does not point to what the indices reach"));
        }
        match base {
            Local::Input(pointer) => {
                let local = self.move_input(pointer, offset.bytes, offset.dynamic);
                self.define_local(inst, ty, local)
            }
            Local::Values(values) => {
                let &[mut pointer] = &*values else {
                    return Err(inst.invalid("the base is not a pointer"));
                };
                let mut b = self.build();
                if let Some(dynamic) = offset.dynamic {
                    pointer = b.ptr_add(pointer, dynamic);
                }
                if offset.bytes != 0 {
                    let bytes = b.constant(offset.ty, offset.bytes as u64);
                    pointer = b.ptr_add(pointer, bytes);
                }
                self.define(inst, &[pointer])
            }
        }
    }

    /// The value of an index that is a module-scope constant.
    fn constant_index(&self, inst: &Instruction<'a>, index: usize) -> Option<i64> {
        let id: Id = inst.id(index).ok()?;
        let bits = self.source.constants.integer(id)?;
        let constant = self.source.constants.get(id)?;
        let slots = self.slots(constant.ty).ok()?;
        Some(sign_extend(bits, slots.first()?.bits))
    }

    /// Adds index times stride to an offset. Indices are signed.
    fn add_index(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        stride: u64,
        offset: &mut Offset,
    ) -> Result<(), CompileError> {
        if let Some(constant) = self.constant_index(inst, index) {
            let bytes = constant.wrapping_mul(stride as i64);
            offset.bytes = offset.bytes.wrapping_add(bytes);
            return Ok(());
        }
        let value = self.integer(inst, index)?;
        let mut b = self.build();
        b.flags = InstFlags {
            no_signed_wrap: offset.in_bounds,
            ..InstFlags::default()
        };
        let mut bytes = b.resize_int(value, offset.ty, true);
        if stride != 1 {
            bytes = b.binary_const(Binary::Mul, bytes, stride);
        }
        offset.dynamic = Some(match offset.dynamic {
            Some(dynamic) => b.binary(Binary::Add, dynamic, bytes),
            None => bytes,
        });
        Ok(())
    }
}
