//! Mathematical functions (OpenCL C section 6.15.2): of libclc where precision is asked for, of
//! `GLSL.std.450` for `native_`, `half_` and relaxed ones as far as Vulkan's limits of error allow.

use super::lower::{Lower, Std, glsl};
use super::{gamma, remainder};
use crate::compiler::CompileError;
use crate::compiler::ir::{Access, Binary, Compare, Op, Place, Type, Unary, Value};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;
use std::f64::consts::{LOG2_10, LOG10_2};

impl Lower<'_, '_> {
    /// Lowers a mathematical function; `None` if it is none.
    pub fn math(
        &mut self,
        op: Std,
        args: &[Value],
        ty: Type,
    ) -> Result<Option<Value>, CompileError> {
        if let Some(value) = self.two_results(op, args, ty)? {
            return Ok(Some(value));
        }
        let single = ty == Type::F32;
        let value = match (op, args) {
            (Std::sqrt | Std::half_sqrt | Std::native_sqrt, &[x]) => self.glsl(glsl::SQRT, &[x]),
            // Vulkan promises no more than single precision of InverseSqrt.
            (Std::rsqrt, &[x]) if !single => {
                let (one, root) = (self.float(ty, 1.0), self.glsl(glsl::SQRT, &[x]));
                self.binary(Binary::FDiv, one, root)
            }
            (Std::rsqrt | Std::half_rsqrt | Std::native_rsqrt, &[x]) => {
                self.glsl(glsl::INVERSE_SQRT, &[x])
            }
            (Std::half_divide | Std::native_divide, &[x, y]) => self.divide(op, x, y),
            (Std::half_recip | Std::native_recip, &[x]) => {
                let one = self.float(ty, 1.0);
                self.divide(op, one, x)
            }
            (Std::tgamma, &[x]) => {
                let name = match ty {
                    Type::F64 => gamma::TGAMMA64,
                    _ => gamma::TGAMMA32,
                };
                let function = self.imports.function(name);
                self.b.op1(Op::Call(function, smallvec![x]), ty)
            }
            (Std::remainder, &[x, y]) if single => self.remainder32(remainder::REMQUO32, x, y).0,
            (Std::fmod, &[x, y]) => self.remainder(Binary::FRem, x, y)?,
            _ => {
                if let Some(native) = self.native_form(op)
                    && single
                    && let Some(value) = self.native(native, args)
                {
                    // Vulkan says nothing of NaN, which SwiftShader takes for infinity.
                    let value = match *args {
                        [x] if native != op && !self.relaxed => {
                            let nan = self.b.unary(Unary::IsNan, x);
                            self.select(nan, x, value)
                        }
                        _ => value,
                    };
                    return Ok(Some(value));
                }
                return Ok(self.precise(op, args, ty));
            }
        };
        Ok(Some(value))
    }

    /// C's `fmod`, exact; or with the divisor's sign (`OpFMod`).
    pub fn remainder(&mut self, op: Binary, x: Value, y: Value) -> Result<Value, CompileError> {
        let ty = self.b.ty(x);
        if ty == Type::F16 {
            let (x, y) = (self.float_to(x, Type::F32), self.float_to(y, Type::F32));
            let result = self.remainder(op, x, y)?;
            return Ok(self.float_to(result, ty));
        }
        let rest = match ty {
            Type::F32 if !self.cx.capabilities.fused_fma32 => {
                self.remainder32(remainder::FMOD32, x, y).0
            }
            _ => self
                .library("fmod", &[x, y], ty)
                .ok_or_else(|| CompileError::internal("the built-in library has no fmod"))?,
        };
        if op == Binary::FRem {
            return Ok(rest);
        }
        let zero = self.float(ty, 0.0);
        let inexact = self.compare(Compare::FOrdNotEqual, rest, zero);
        let (a, b) = (
            self.b.unary(Unary::SignBitSet, rest),
            self.b.unary(Unary::SignBitSet, y),
        );
        let other_sign = self.binary(Binary::Xor, a, b);
        let adjust = self.binary(Binary::And, inexact, other_sign);
        let adjusted = self.binary(Binary::FAdd, rest, y);
        Ok(self.select(adjust, adjusted, rest))
    }

    fn divide(&mut self, op: Std, x: Value, y: Value) -> Value {
        let flags = self.b.flags;
        self.b.flags.fast_math |= matches!(op, Std::native_divide | Std::native_recip);
        let value = self.binary(Binary::FDiv, x, y);
        self.b.flags = flags;
        value
    }

    /// The function of libclc of the same name, or of the one that a `half_` or `native_` one stands for.
    fn precise(&mut self, op: Std, args: &[Value], ty: Type) -> Option<Value> {
        let name = format!("{op:?}");
        let name = name
            .strip_prefix("half_")
            .or_else(|| name.strip_prefix("native_"))
            .unwrap_or(&name);
        match op {
            // lgamma of libclc hands a pointer to lgamma_r, whose parameters it does not name.
            Std::lgamma => {
                let sign = self.variable("lgamma_sign", Type::I32);
                self.library("lgamma_r", &[args[0], sign], ty)
            }
            _ => self.corrected(op, name, args, ty),
        }
    }

    /// What is left of `x`, and the quotient, by one of [`remainder`]'s functions.
    fn remainder32(&mut self, function: &str, x: Value, y: Value) -> (Value, Value) {
        let function = self.imports.function(function);
        let call = Op::Call(function, smallvec![x, y]);
        let results = self.b.op(call, [Type::F32, Type::I32]);
        (results[0], results[1])
    }

    /// The `native_` function that may be used for `op`. `half_` functions allow 8192 ulp, which
    /// Vulkan's absolute limits of error of sine, cosine and logarithms do not promise.
    fn native_form(&self, op: Std) -> Option<Std> {
        use Std::*;
        Some(match op {
            native_cos | native_exp | native_exp2 | native_exp10 | native_log | native_log2
            | native_log10 | native_powr | native_sin | native_tan => op,
            half_exp => native_exp,
            half_exp2 => native_exp2,
            half_exp10 => native_exp10,
            _ if !self.relaxed => return None,
            sin | half_sin => native_sin,
            cos | half_cos => native_cos,
            tan | half_tan => native_tan,
            // Relaxed exponentials may be wrong by 3 ulp, and logarithms of denormals by as little. Devices
            // with units for them keep that; software drivers do not quite. What they lack too is fma.
            _ if !self.cx.capabilities.fused_fma32 => return None,
            exp => native_exp,
            exp2 => native_exp2,
            exp10 => native_exp10,
            log | half_log => native_log,
            log2 | half_log2 => native_log2,
            log10 | half_log10 => native_log10,
            powr | half_powr => native_powr,
            _ => return None,
        })
    }

    fn native(&mut self, op: Std, args: &[Value]) -> Option<Value> {
        let number = match (op, args) {
            (Std::native_exp10, &[x]) => {
                let x = self.scale(x, LOG2_10);
                return Some(self.glsl(glsl::EXP2, &[x]));
            }
            (Std::native_log10, &[x]) => {
                let log = self.glsl(glsl::LOG2, &[x]);
                return Some(self.scale(log, LOG10_2));
            }
            (Std::native_sin, [_]) => glsl::SIN,
            (Std::native_cos, [_]) => glsl::COS,
            (Std::native_tan, [_]) => glsl::TAN,
            (Std::native_exp, [_]) => glsl::EXP,
            (Std::native_exp2, [_]) => glsl::EXP2,
            (Std::native_log, [_]) => glsl::LOG,
            (Std::native_log2, [_]) => glsl::LOG2,
            (Std::native_powr, [_, _]) => glsl::POW,
            _ => return None,
        };
        Some(self.glsl(number, args))
    }

    /// Functions that store a second result behind their last argument.
    fn two_results(
        &mut self,
        op: Std,
        args: &[Value],
        ty: Type,
    ) -> Result<Option<Value>, CompileError> {
        let (Some((&pointer, args)), true) = (
            args.split_last(),
            matches!(
                op,
                Std::fract | Std::frexp | Std::modf | Std::sincos | Std::remquo | Std::lgamma_r
            ),
        ) else {
            return Ok(None);
        };
        if !self.b.ty(pointer).is_pointer() {
            return Ok(None);
        }
        let results = match (op, args) {
            (Std::fract, &[x]) => {
                let x = self.without_denormal(x);
                Some(self.fract(x))
            }
            (Std::modf, &[x]) => Some(self.modf(x)),
            (Std::frexp, &[x]) => Some(self.frexp(x)),
            (Std::sincos, &[x]) => match (
                self.math(Std::sin, &[x], ty)?,
                self.math(Std::cos, &[x], ty)?,
            ) {
                (Some(sin), Some(cos)) => Some((sin, cos)),
                _ => None,
            },
            (Std::remquo, &[x, y]) if ty == Type::F32 => {
                Some(self.remainder32(remainder::REMQUO32, x, y))
            }
            (Std::remquo, &[x, y]) => self.with_int_result("__clc_remquo", &[x, y], ty),
            (Std::lgamma_r, &[x]) => self.with_int_result("lgamma_r", &[x], ty),
            _ => None,
        };
        let Some((value, second)) = results else {
            return Ok(None);
        };
        let second = match self.b.ty(second) {
            Type::F32 if self.on_halves => self.float_to(second, Type::F16),
            _ => second,
        };
        let access = Access::aligned(self.b.ty(second).size_bytes());
        self.b.store1(Place::Pointer(pointer), second, access);
        Ok(Some(value))
    }

    /// A library function that returns an int behind a pointer to private memory.
    fn with_int_result(&mut self, name: &str, args: &[Value], ty: Type) -> Option<(Value, Value)> {
        let pointer = self.variable(name, Type::I32);
        let mut all = args.to_vec();
        all.push(pointer);
        let value = self.library(name, &all, ty)?;
        let place = Place::Pointer(pointer);
        let second = self.b.load1(place, Type::I32, Access::aligned(4));
        Some((value, second))
    }

    /// (fraction, floor)
    fn fract(&mut self, x: Value) -> (Value, Value) {
        let ty = self.b.ty(x);
        let floor = self.glsl(glsl::FLOOR, &[x]);
        let rest = self.binary(Binary::FSub, x, floor);
        // Below one, even where the difference rounds up to it.
        let most = if self.on_halves {
            self.float(ty, 1.0 - 2f64.powi(-11))
        } else {
            self.b.constant(ty, FloatFormat::of(ty).power_of_two(0) - 1)
        };
        let rest = self.binary(Binary::FMin, rest, most);
        let zero = self.float(ty, 0.0);
        let infinite = self.b.unary(Unary::IsInf, x);
        let rest = self.select(infinite, zero, rest);
        let rest = self.copy_sign_if_zero(rest, x, floor);
        let nan = self.b.unary(Unary::IsNan, x);
        (self.select(nan, x, rest), floor)
    }

    /// `rest`, with the sign of `x` where that is zero or infinite: where `x` equals its floor and is so too.
    fn copy_sign_if_zero(&mut self, rest: Value, x: Value, floor: Value) -> Value {
        let ty = self.b.ty(x);
        let signed = self.copy_sign(rest, x);
        let zero = self.float(ty, 0.0);
        let infinite = self.b.unary(Unary::IsInf, floor);
        let is_zero = self.compare(Compare::FOrdEqual, x, zero);
        let special = self.binary(Binary::Or, infinite, is_zero);
        self.select(special, signed, rest)
    }

    /// (fraction, whole part), both with the sign of `x`.
    fn modf(&mut self, x: Value) -> (Value, Value) {
        let ty = self.b.ty(x);
        let whole = self.glsl(glsl::TRUNC, &[x]);
        let rest = self.binary(Binary::FSub, x, whole);
        let zero = self.float(ty, 0.0);
        let infinite = self.b.unary(Unary::IsInf, x);
        let rest = self.select(infinite, zero, rest);
        (self.copy_sign(rest, x), whole)
    }

    /// (significand from 0.5 to below 1, exponent)
    fn frexp(&mut self, x: Value) -> (Value, Value) {
        let ty = self.b.ty(x);
        let format = FloatFormat::of(ty);
        let (exponent, fraction) = self.exponent_and_fraction(x);
        let exponent = self.binary_const(Binary::Add, exponent, 1);
        let bits = self.binary_const(Binary::Or, fraction, format.power_of_two(-1));
        let significand = self.b.bitcast(bits, ty);
        let significand = self.copy_sign(significand, x);
        let (zero, not_finite) = self.is_special(x);
        let special = self.binary(Binary::Or, zero, not_finite);
        let none = self.b.i32(0);
        (
            self.select(special, x, significand),
            self.select(special, none, exponent),
        )
    }
}
