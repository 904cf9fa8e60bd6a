//! One instruction under lowering: what it is, and short names for building.

use super::imports::{Imports, for_device};
use crate::compiler::ir::{
    Binary, Builder, Compare, Convert, Op, OpenClStd, PrivateVariable, Type, Value, Values,
};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use crate::compiler::{CompileError, Context};
use rspirv::spirv::OpenclStd100Op;
use smallvec::smallvec;

/// The names of `OpenCL.std`, as in the OpenCL Extended Instruction Set Specification.
pub use rspirv::spirv::OpenclStd100Op as Std;

/// Numbers of `GLSL.std.450` instructions.
pub mod glsl {
    pub const ROUND_EVEN: u32 = 2;
    pub const TRUNC: u32 = 3;
    pub const FABS: u32 = 4;
    pub const FLOOR: u32 = 8;
    pub const CEIL: u32 = 9;
    pub const SIN: u32 = 13;
    pub const COS: u32 = 14;
    pub const TAN: u32 = 15;
    pub const POW: u32 = 26;
    pub const EXP: u32 = 27;
    pub const LOG: u32 = 28;
    pub const EXP2: u32 = 29;
    pub const LOG2: u32 = 30;
    pub const SQRT: u32 = 31;
    pub const INVERSE_SQRT: u32 = 32;
    pub const FIND_I_LSB: u32 = 73;
    pub const FIND_U_MSB: u32 = 75;
}

/// Results of an instruction, or why there are none; `None` from a part that does not know it.
pub type Lowered = Result<Option<Values>, CompileError>;

/// Builds what stands for one instruction.
pub struct Lower<'a, 'f> {
    pub b: &'a mut Builder<'f>,
    pub cx: &'a Context<'a>,
    pub imports: &'a mut Imports,
    /// Whether `-cl-fast-relaxed-math`'s limits of error hold.
    pub relaxed: bool,
    /// Whether an instruction on halves is being computed in single precision: what it stores behind a
    /// pointer is to be a half.
    pub on_halves: bool,
}

impl<'a, 'f> Lower<'a, 'f> {
    pub fn new(
        b: &'a mut Builder<'f>,
        cx: &'a Context<'a>,
        imports: &'a mut Imports,
        relaxed: bool,
    ) -> Self {
        Self {
            b,
            cx,
            imports,
            relaxed,
            on_halves: false,
        }
    }

    /// Lowers one instruction of `OpenCL.std` to values of the given types.
    pub fn instruction(
        &mut self,
        op: OpenClStd,
        args: &[Value],
        types: &[Type],
    ) -> Result<Values, CompileError> {
        let Some(std) = OpenclStd100Op::from_u32(op.0) else {
            let reason = format!("OpenCL.std has no instruction {}", op.0);
            return Err(CompileError::invalid(reason));
        };
        match self.dispatch(std, args, types)? {
            Some(values) if values.len() == types.len() => Ok(values),
            _ => {
                let types: Vec<_> = args.iter().map(|v| self.b.ty(*v).to_string()).collect();
                Err(CompileError::unsupported(format!(
                    "the built-in '{std:?}' is not supported for ({})",
                    types.join(", ")
                )))
            }
        }
    }

    fn dispatch(&mut self, op: Std, args: &[Value], types: &[Type]) -> Lowered {
        if let Some(values) = self.geometric(op, args, types)? {
            return Ok(Some(values));
        }
        let &[ty] = types else { return Ok(None) };
        if let Some(values) = self.integer(op, args, ty)? {
            return Ok(Some(values));
        }
        let half = ty == Type::F16 || args.iter().any(|v| self.b.ty(*v) == Type::F16);
        if half && !Self::is_exact_on_halves(op) {
            return self.through_f32(op, args, ty);
        }
        let value = match self.exact(op, args, ty)? {
            Some(value) => Some(value),
            None => match self.common(op, args, ty)? {
                Some(value) => Some(value),
                None => self.math(op, args, ty)?,
            },
        };
        Ok(value.map(|value| smallvec![value]))
    }

    /// Halves: computed in single precision, and rounded.
    fn through_f32(&mut self, op: Std, args: &[Value], ty: Type) -> Lowered {
        let args: Values = args.iter().map(|v| self.widen(*v)).collect();
        let wide = if ty == Type::F16 { Type::F32 } else { ty };
        self.on_halves = true;
        let values = self.dispatch(op, &args, &[wide]);
        self.on_halves = false;
        let Some(values) = values? else {
            return Ok(None);
        };
        let narrowed = values.iter().map(|v| self.float_to(*v, ty)).collect();
        Ok(Some(narrowed))
    }

    fn widen(&mut self, value: Value) -> Value {
        match self.b.ty(value) {
            Type::F16 => self.float_to(value, Type::F32),
            _ => value,
        }
    }

    /// A float as another float type; anything else stays.
    pub fn float_to(&mut self, value: Value, ty: Type) -> Value {
        let from = self.b.ty(value);
        if from == ty || !from.is_float() {
            return value;
        }
        self.b.convert(Convert::FloatToFloat(None), value, ty)
    }

    pub fn binary(&mut self, op: Binary, x: Value, y: Value) -> Value {
        self.b.binary(op, x, y)
    }

    pub fn binary_const(&mut self, op: Binary, x: Value, bits: u64) -> Value {
        self.b.binary_const(op, x, bits)
    }

    pub fn compare(&mut self, op: Compare, x: Value, y: Value) -> Value {
        self.b.compare(op, x, y)
    }

    /// Compares with a constant of the same type.
    pub fn compare_const(&mut self, op: Compare, x: Value, bits: u64) -> Value {
        let ty = self.b.ty(x);
        let y = self.b.constant(ty, bits);
        self.b.compare(op, x, y)
    }

    pub fn select(&mut self, condition: Value, x: Value, y: Value) -> Value {
        self.b.select(condition, x, y)
    }

    /// A `GLSL.std.450` function whose result has the type of its first argument.
    pub fn glsl(&mut self, number: u32, args: &[Value]) -> Value {
        let ty = self.b.ty(args[0]);
        self.b.op1(Op::Glsl(number, Values::from_slice(args)), ty)
    }

    /// A float constant.
    pub fn float(&mut self, ty: Type, value: f64) -> Value {
        self.b.constant(ty, FloatFormat::of(ty).encode(value))
    }

    /// A float's bits as an integer.
    pub fn bits(&mut self, value: Value) -> Value {
        let ty = self.b.ty(value);
        self.b.bitcast(value, ty.as_int().unwrap_or(ty))
    }

    /// A call of the library's function for these argument types.
    pub fn library(&mut self, name: &str, args: &[Value], ty: Type) -> Option<Value> {
        let mut mangled = format!("_Z{}{name}", name.len());
        for arg in args {
            mangled.push_str(match self.b.ty(*arg) {
                Type::F32 => "f",
                Type::F64 => "d",
                Type::I32 => "i",
                Type::Ptr(_) => "Pi",
                _ => return None,
            });
        }
        let name = for_device(&mangled, self.cx);
        if !self.cx.library.has(name) {
            return None;
        }
        let function = self.imports.function(name);
        Some(self.b.op1(Op::Call(function, Values::from_slice(args)), ty))
    }

    /// The address of a new private variable that holds one `ty`.
    pub fn variable(&mut self, name: &str, ty: Type) -> Value {
        let variable = self.b.function.add_variable(PrivateVariable {
            name: name.to_owned(),
            size_bytes: ty.size_bytes().into(),
            align_bytes: ty.size_bytes(),
        });
        let space = crate::compiler::ir::AddressSpace::Private;
        self.b.op1(Op::VariableAddress(variable), Type::Ptr(space))
    }
}
