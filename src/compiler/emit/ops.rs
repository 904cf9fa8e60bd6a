//! Arithmetic, comparisons, conversions, inputs.

use super::fields::Field;
use super::function::FunctionEmitter;
use crate::compiler::ir::{
    Binary, Compare, Convert, DotFormat, Inst, InstData, Op, Rounding, Type, Unary, Value,
};
use crate::compiler::{CompileError, Defects};
use rspirv::spirv::{self, Decoration, GlslStd450Op as GLOp};

/// How an operation is spelled.
enum Spelling {
    Core(spirv::Op),
    Glsl(GLOp),
}
use Spelling::{Core, Glsl};

impl FunctionEmitter<'_, '_> {
    pub fn inst(&mut self, inst: Inst) -> Result<(), CompileError> {
        let function = self.function;
        let InstData { op, results, flags } = function.inst(inst);
        match (op, results.as_slice()) {
            // Declared where they are used, outside the function.
            (Op::Const(_) | Op::Undef | Op::SpecConst { .. }, _) => Ok(()),
            (&Op::Unary(unary, a), &[result]) => {
                let spelling = map_unary(unary, function.ty(a)).ok_or(self.unexpected(inst))?;
                self.spell(result, spelling, &[a])
            }
            (&Op::Binary(binary, a, b), &[result])
                if self.emitter.capabilities.has(Defects::MISFOLDS_EXTREMA)
                    && let Some(compare) = extremum(binary) =>
            {
                let [a, b] = [a, b].map(|value| self.value(value));
                let (a, b) = (a?, b?);
                let asm = &mut self.emitter.asm;
                let bool = asm.declare_type(spirv::Op::TypeBool, &[]);
                let takes_first = asm.result(compare, bool, &[a, b]);
                self.define(result, spirv::Op::Select, &[takes_first, a, b])
            }
            (Op::Binary(..), &[result])
                if let Some(&Field { word, offset, bits }) = self.fields.get(&result) =>
            {
                let word = self.value(word)?;
                let [offset, bits] = [offset, bits].map(|it| self.emitter.const_u32(it));
                let operands = [word, offset, bits];
                self.define(result, spirv::Op::BitFieldUExtract, &operands)
            }
            (&Op::Binary(binary, a, b), &[result]) => {
                self.spell(result, map_binary(binary, function.ty(a)), &[a, b])?;
                let contractible = matches!(binary, Binary::FAdd | Binary::FSub | Binary::FMul);
                if contractible && (flags.no_contraction || self.emitter.contraction_off) {
                    self.forbid_contraction(result)?;
                }
                Ok(())
            }
            (&Op::Compare(compare, a, b), &[result]) => {
                let spelling = map_compare(compare, function.ty(a)).ok_or(self.unexpected(inst))?;
                self.spell(result, Core(spelling), &[a, b])
            }
            (&Op::Select(condition, a, b), &[result]) => {
                self.spell(result, Core(spirv::Op::Select), &[condition, a, b])
            }
            (&Op::Fma(a, b, c), &[result]) => self.spell(result, Glsl(GLOp::Fma), &[a, b, c]),
            (&Op::Convert(convert, a), &[result]) => {
                let spelling = map_convert(convert).ok_or(self.unexpected(inst))?;
                self.spell(result, Core(spelling), &[a])?;
                if is_of_floats(convert)
                    && self.emitter.capabilities.has(Defects::JOINS_CONVERSIONS)
                {
                    self.forbid_contraction(result)?;
                }
                Ok(())
            }
            (&Op::MulExtended { signed, a, b }, &[low, high]) => {
                self.mul_extended(signed, [a, b], [low, high])
            }
            (
                &Op::DotProduct {
                    signed,
                    format: DotFormat::Packed4x8,
                    ref operands,
                },
                &[result],
            ) if self.emitter.capabilities.integer_dot_product => {
                self.dot_product(result, signed, operands)
            }
            (Op::Glsl(number, args), &[result]) => self.extended(result, *number, args),
            (&Op::BuiltIn(input), &[result]) => {
                let (variable, component) = self.emitter.input(input);
                let Some(component) = component else {
                    return self.define(result, spirv::Op::Load, &[variable]);
                };
                let uint = self.emitter.uint();
                let asm = &mut self.emitter.asm;
                let vector = asm.declare_type(spirv::Op::TypeVector, &[uint, 3]);
                let loaded = asm.result(spirv::Op::Load, vector, &[variable]);
                self.define(result, spirv::Op::CompositeExtract, &[loaded, component])
            }
            (Op::Load(place, access), results) => self.load(inst, *place, *access, results),
            (Op::Store(place, values, access), []) => self.store(inst, *place, *access, values),
            (Op::Atomic { .. }, _) => self.atomic(inst),
            (Op::ControlBarrier { .. } | Op::MemoryBarrier { .. }, _) => self.barrier(inst),
            (Op::Group(group, args), results) => self.group(inst, *group, args, results),
            (Op::SampleTexture(args), results) => self.sample_texture(args, results),
            (Op::Call(callee, args), results) => self.call(*callee, args, results),
            _ => Err(self.unexpected(inst)),
        }
    }

    fn spell(
        &mut self,
        result: Value,
        spelling: Spelling,
        args: &[Value],
    ) -> Result<(), CompileError> {
        match spelling {
            Core(op) => {
                let operands = self.values(args)?;
                self.define(result, op, &operands)
            }
            Glsl(op) => self.extended(result, op as u32, args),
        }
    }

    /// Keeps an operation apart from those around it.
    fn forbid_contraction(&mut self, result: Value) -> Result<(), CompileError> {
        let id = self.value(result)?;
        let asm = &mut self.emitter.asm;
        asm.decorate(id, Decoration::NoContraction, &[]);
        Ok(())
    }

    fn extended(&mut self, result: Value, number: u32, args: &[Value]) -> Result<(), CompileError> {
        let mut operands = vec![self.emitter.asm.glsl(), number];
        operands.extend(self.values(args)?);
        self.define(result, spirv::Op::ExtInst, &operands)
    }

    fn dot_product(
        &mut self,
        result: Value,
        signed: [bool; 2],
        operands: &[Value],
    ) -> Result<(), CompileError> {
        let mut operands = self.values(operands)?;
        let op = match signed {
            [true, true] => spirv::Op::SDot,
            [false, false] => spirv::Op::UDot,
            [true, false] => spirv::Op::SUDot,
            [false, true] => {
                operands.reverse();
                spirv::Op::SUDot
            }
        };
        operands.push(spirv::PackedVectorFormat::PackedVectorFormat4x8Bit as u32);
        let asm = &mut self.emitter.asm;
        asm.extension("SPV_KHR_integer_dot_product", Some((1, 6)));
        asm.capability(spirv::Capability::DotProduct);
        asm.capability(spirv::Capability::DotProductInput4x8BitPacked);
        self.define(result, op, &operands)
    }

    fn mul_extended(
        &mut self,
        signed: bool,
        operands: [Value; 2],
        results: [Value; 2],
    ) -> Result<(), CompileError> {
        let op = if signed {
            spirv::Op::SMulExtended
        } else {
            spirv::Op::UMulExtended
        };
        let scalar = self.ty(operands[0])?;
        let operands = self.values(&operands)?;
        let asm = &mut self.emitter.asm;
        let pair = asm.declare_type(spirv::Op::TypeStruct, &[scalar, scalar]);
        let product = asm.result(op, pair, &operands);
        self.take_apart(&results, product)
    }
}

fn map_unary(op: Unary, ty: Type) -> Option<Spelling> {
    Some(Core(match op {
        Unary::Negate => spirv::Op::SNegate,
        Unary::Not if ty == Type::Bool => spirv::Op::LogicalNot,
        Unary::Not => spirv::Op::Not,
        Unary::FNegate => spirv::Op::FNegate,
        // Vulkan allows these on 32 bits only.
        Unary::BitCount if ty == Type::I32 => spirv::Op::BitCount,
        Unary::BitReverse if ty == Type::I32 => spirv::Op::BitReverse,
        Unary::IsNan => spirv::Op::IsNan,
        Unary::IsInf => spirv::Op::IsInf,
        Unary::BitCount
        | Unary::BitReverse
        | Unary::IsFinite
        | Unary::IsNormal
        | Unary::SignBitSet => return None,
    }))
}

/// The comparison that chooses the first of two integers as their minimum or maximum.
fn extremum(op: Binary) -> Option<spirv::Op> {
    match op {
        Binary::UMin => Some(spirv::Op::ULessThan),
        Binary::UMax => Some(spirv::Op::UGreaterThan),
        Binary::SMin => Some(spirv::Op::SLessThan),
        Binary::SMax => Some(spirv::Op::SGreaterThan),
        _ => None,
    }
}

fn map_binary(op: Binary, ty: Type) -> Spelling {
    let logical = ty == Type::Bool;
    Core(match op {
        Binary::Add => spirv::Op::IAdd,
        Binary::Sub => spirv::Op::ISub,
        Binary::Mul => spirv::Op::IMul,
        Binary::UDiv => spirv::Op::UDiv,
        Binary::SDiv => spirv::Op::SDiv,
        Binary::URem => spirv::Op::UMod,
        Binary::SRem => spirv::Op::SRem,
        Binary::SMod => spirv::Op::SMod,
        Binary::Shl => spirv::Op::ShiftLeftLogical,
        Binary::LShr => spirv::Op::ShiftRightLogical,
        Binary::AShr => spirv::Op::ShiftRightArithmetic,
        Binary::And if logical => spirv::Op::LogicalAnd,
        Binary::Or if logical => spirv::Op::LogicalOr,
        Binary::Xor if logical => spirv::Op::LogicalNotEqual,
        Binary::And => spirv::Op::BitwiseAnd,
        Binary::Or => spirv::Op::BitwiseOr,
        Binary::Xor => spirv::Op::BitwiseXor,
        Binary::UMin => return Glsl(GLOp::UMin),
        Binary::UMax => return Glsl(GLOp::UMax),
        Binary::SMin => return Glsl(GLOp::SMin),
        Binary::SMax => return Glsl(GLOp::SMax),
        Binary::FAdd => spirv::Op::FAdd,
        Binary::FSub => spirv::Op::FSub,
        Binary::FMul => spirv::Op::FMul,
        Binary::FDiv => spirv::Op::FDiv,
        Binary::FRem => spirv::Op::FRem,
        Binary::FMod => spirv::Op::FMod,
        // These two prefer the number where one operand is NaN, as OpenCL's `fmin` and `fmax` do.
        Binary::FMin => return Glsl(GLOp::NMin),
        Binary::FMax => return Glsl(GLOp::NMax),
    })
}

fn map_compare(op: Compare, ty: Type) -> Option<spirv::Op> {
    let logical = ty == Type::Bool;
    Some(match op {
        Compare::Equal if logical => spirv::Op::LogicalEqual,
        Compare::NotEqual if logical => spirv::Op::LogicalNotEqual,
        Compare::Equal => spirv::Op::IEqual,
        Compare::NotEqual => spirv::Op::INotEqual,
        Compare::ULess => spirv::Op::ULessThan,
        Compare::ULessEqual => spirv::Op::ULessThanEqual,
        Compare::SLess => spirv::Op::SLessThan,
        Compare::SLessEqual => spirv::Op::SLessThanEqual,
        Compare::FOrdEqual => spirv::Op::FOrdEqual,
        Compare::FUnordEqual => spirv::Op::FUnordEqual,
        Compare::FOrdNotEqual => spirv::Op::FOrdNotEqual,
        Compare::FUnordNotEqual => spirv::Op::FUnordNotEqual,
        Compare::FOrdLess => spirv::Op::FOrdLessThan,
        Compare::FUnordLess => spirv::Op::FUnordLessThan,
        Compare::FOrdLessEqual => spirv::Op::FOrdLessThanEqual,
        Compare::FUnordLessEqual => spirv::Op::FUnordLessThanEqual,
        Compare::FOrdered | Compare::FUnordered => return None,
    })
}

/// Vulkan rounds to nearest even (with `RoundingModeRTE`) or as it likes; other modes were lowered.
/// Whether a conversion is to or from a float.
fn is_of_floats(op: Convert) -> bool {
    matches!(
        op,
        Convert::FloatToUnsigned { .. }
            | Convert::FloatToSigned { .. }
            | Convert::UnsignedToFloat(_)
            | Convert::SignedToFloat(_)
            | Convert::FloatToFloat(_)
    )
}

fn map_convert(op: Convert) -> Option<spirv::Op> {
    Some(match op {
        Convert::Truncate | Convert::ZeroExtend => spirv::Op::UConvert,
        Convert::SignExtend => spirv::Op::SConvert,
        Convert::FloatToUnsigned {
            rounding: None | Some(Rounding::Rtz),
            saturate: false,
        } => spirv::Op::ConvertFToU,
        Convert::FloatToSigned {
            rounding: None | Some(Rounding::Rtz),
            saturate: false,
        } => spirv::Op::ConvertFToS,
        Convert::UnsignedToFloat(None | Some(Rounding::Rte)) => spirv::Op::ConvertUToF,
        Convert::SignedToFloat(None | Some(Rounding::Rte)) => spirv::Op::ConvertSToF,
        Convert::FloatToFloat(None | Some(Rounding::Rte)) => spirv::Op::FConvert,
        Convert::Bitcast => spirv::Op::Bitcast,
        _ => return None,
    })
}
