//! Common functions (OpenCL C section 6.15.4): interpolation and angles.

use super::lower::{Lower, Std};
use crate::compiler::CompileError;
use crate::compiler::ir::{Binary, Type, Value};
use std::f64::consts::PI;

impl Lower<'_, '_> {
    /// Lowers a common function; `None` if it is none.
    pub fn common(
        &mut self,
        op: Std,
        args: &[Value],
        ty: Type,
    ) -> Result<Option<Value>, CompileError> {
        let value = match (op, args) {
            (Std::degrees, &[x]) => self.scale(x, 180.0 / PI),
            (Std::radians, &[x]) => self.scale(x, PI / 180.0),
            // x + (y - x) * a
            (Std::mix, &[x, y, a]) => {
                let span = self.binary(Binary::FSub, y, x);
                let part = self.binary(Binary::FMul, span, a);
                self.binary(Binary::FAdd, x, part)
            }
            (Std::smoothstep, &[from, to, x]) => {
                let (distance, span) = (
                    self.binary(Binary::FSub, x, from),
                    self.binary(Binary::FSub, to, from),
                );
                let t = self.binary(Binary::FDiv, distance, span);
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                let t = self.binary(Binary::FMax, t, zero);
                let t = self.binary(Binary::FMin, t, one);
                // t * t * (3 - 2 * t)
                let (two, three) = (self.float(ty, 2.0), self.float(ty, 3.0));
                let twice = self.binary(Binary::FMul, two, t);
                let factor = self.binary(Binary::FSub, three, twice);
                let square = self.binary(Binary::FMul, t, t);
                self.binary(Binary::FMul, square, factor)
            }
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    /// `x` times a constant.
    pub fn scale(&mut self, x: Value, factor: f64) -> Value {
        let ty = self.b.ty(x);
        let factor = self.float(ty, factor);
        self.binary(Binary::FMul, x, factor)
    }
}
