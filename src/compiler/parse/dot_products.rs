//! Integer dot products (SPV_KHR_integer_dot_product).

use super::arithmetic::Class;
use super::decode::Instruction;
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Builder, Compare, DotFormat, Op as IrOp, Type, Value, Values};
use rspirv::spirv::{Op, PackedVectorFormat};

/// The operands of a dot product, as many components in both.
struct Vectors {
    a: Values,
    b: Values,
    format: DotFormat,
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates integer dot products; false if the instruction is another.
    pub(super) fn dot_product(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        let (signed, saturates) = match inst.op {
            Op::SDot => ([true, true], false),
            Op::UDot => ([false, false], false),
            Op::SUDot => ([true, false], false),
            Op::SDotAccSat => ([true, true], true),
            Op::UDotAccSat => ([false, false], true),
            Op::SUDotAccSat => ([true, false], true),
            _ => return Ok(false),
        };
        let ty = self.source.types.scalar(inst.result_type()?)?;
        if !ty.is_int() {
            return Err(inst.invalid("the result is not an integer"));
        }
        let vectors = self.dot_operands(inst, if saturates { 3 } else { 2 })?;
        let accumulator = if saturates {
            let value = self.integer(inst, 2)?;
            if self.ty(value) != ty {
                return Err(inst.invalid("the accumulator is not of the result's type"));
            }
            Some(value)
        } else {
            None
        };
        let mut b = self.build();
        let mut result = dot(&mut b, &vectors, signed, ty);
        if let Some(accumulator) = accumulator {
            // The accumulator has the sign of the product: only two unsigned vectors have none.
            result = if signed[0] {
                saturating_signed(&mut b, result, accumulator)
            } else {
                let sum = b.binary(Binary::Add, result, accumulator);
                let overflows = b.compare(Compare::ULess, sum, accumulator);
                let most = b.constant(ty, u64::MAX);
                b.select(overflows, most, sum)
            };
        }
        self.define(inst, &[result])?;
        Ok(true)
    }

    /// The two vectors; operand `format_index` says how scalars hold them.
    fn dot_operands(
        &mut self,
        inst: &Instruction<'a>,
        format_index: usize,
    ) -> Result<Vectors, CompileError> {
        let a = self.class_operand(inst, 0, Class::Int)?;
        let b = self.class_operand(inst, 1, Class::Int)?;
        let same_types =
            a.len() == b.len() && (a.iter().zip(&*b)).all(|(&a, &b)| self.ty(a) == self.ty(b));
        if !same_types {
            return Err(inst.invalid("the operands' types do not match"));
        }
        let format = match (&*a, inst.operands.get(format_index)) {
            (&[only], Some(&format)) => {
                const PACKED: u32 = PackedVectorFormat::PackedVectorFormat4x8Bit as u32;
                if format != PACKED || self.ty(only) != Type::I32 {
                    return Err(inst.invalid("the vectors' packed format is unknown"));
                }
                DotFormat::Packed4x8
            }
            (&[_], None) => return Err(inst.invalid("the operands are not vectors")),
            _ => DotFormat::Components,
        };
        Ok(Vectors {
            a: Values::from_slice(&a),
            b: Values::from_slice(&b),
            format,
        })
    }
}

/// The product in a type of any width; it wraps.
fn dot(b: &mut Builder<'_>, vectors: &Vectors, signed: [bool; 2], ty: Type) -> Value {
    let is_4x8 = match vectors.format {
        DotFormat::Packed4x8 => true,
        DotFormat::Components => {
            vectors.a.len() == 4 && vectors.a.iter().all(|&value| b.ty(value) == Type::I8)
        }
    };
    if is_4x8 && ty.bits() >= 32 {
        // What devices have an instruction for. The exact product fits 32 bits, with the sign of its type.
        let operands = vectors.a.iter().chain(&vectors.b).copied().collect();
        let op = IrOp::DotProduct {
            signed,
            format: vectors.format,
            operands,
        };
        let product = b.op1(op, Type::I32);
        return b.resize_int(product, ty, signed[0] || signed[1]);
    }
    let (x, y) = match vectors.format {
        DotFormat::Components => (vectors.a.clone(), vectors.b.clone()),
        DotFormat::Packed4x8 => {
            let bytes = |b: &mut Builder<'_>, word: Value| -> Values {
                (0..4)
                    .map(|byte| {
                        let low = b.binary_const(Binary::LShr, word, byte * 8);
                        b.resize_int(low, Type::I8, false)
                    })
                    .collect()
            };
            (bytes(b, vectors.a[0]), bytes(b, vectors.b[0]))
        }
    };
    let mut sum = b.constant(ty, 0);
    for (&x, &y) in x.iter().zip(&y) {
        let x = b.resize_int(x, ty, signed[0]);
        let y = b.resize_int(y, ty, signed[1]);
        let product = b.binary(Binary::Mul, x, y);
        sum = b.binary(Binary::Add, sum, product);
    }
    sum
}

/// The sum of two signed integers, or the bound that it is beyond.
fn saturating_signed(b: &mut Builder<'_>, x: Value, y: Value) -> Value {
    let ty = b.ty(x);
    let bits = u64::from(ty.bits());
    let sum = b.binary(Binary::Add, x, y);
    // Beyond the bounds if the sum's sign is neither's.
    let changed_x = b.binary(Binary::Xor, sum, x);
    let changed_y = b.binary(Binary::Xor, sum, y);
    let changed = b.binary(Binary::And, changed_x, changed_y);
    let zero = b.constant(ty, 0);
    let overflows = b.compare(Compare::SLess, changed, zero);
    let sign = b.binary_const(Binary::AShr, x, bits - 1);
    let most = b.constant(ty, ty.mask() >> 1);
    let bound = b.binary(Binary::Xor, sign, most);
    b.select(overflows, bound, sum)
}
