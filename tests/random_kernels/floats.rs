//! Random floating-point expressions whose value is the same everywhere: every operation is correctly rounded,
//! nothing overflows, and no subnormal number or NaN comes up.
//!
//! The sign of a zero does not show: llvmpipe (Mesa 22.3) loses it in `0.0f - x`, `x + 0.0f` and in
//! `-convert_float(x)` of an `x` that it knows to be 0 or -1. What is looked at is never zero.
//!
//! Variables hold multiples of 1/4 up to 32000. Three levels of operations on them stay within what a
//! `float` can hold, and no result but zero is tiny.

use crate::generator::Generator;
use crate::scope::Scope;
use crate::tree::Expr;
use crate::types::{Base, Type};

impl Generator {
    pub fn float(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let name = ty.name();
        if depth == 0 || self.dice.percent(20) {
            return self.float_leaf(scope, ty);
        }
        let a = self.float(scope, ty, depth - 1);
        match self.dice.below(14) {
            0..3 => {
                let b = self.float(scope, ty, depth - 1);
                Expr::new(ty, "(@ + @)", [a, b])
            }
            3 | 4 => {
                let b = self.float(scope, ty, depth - 1);
                Expr::new(ty, "(@ - @)", [a, b])
            }
            5 | 6 => {
                let b = self.float(scope, ty, depth - 1);
                Expr::new(ty, "(@ * @)", [a, b])
            }
            7 => {
                let b = self.float(scope, ty, depth - 1);
                let c = self.float(scope, ty, depth - 1);
                Expr::new(ty, "fma(@, @, @)", [a, b, c])
            }
            8 => {
                let function =
                    ["floor", "ceil", "trunc", "rint", "round", "fabs"][self.dice.below(6)];
                Expr::new(ty, &format!("{function}(@)"), [a])
            }
            9 => {
                // Of two zeros either may be the least: one side is never zero.
                let bound = self.dice.quarter().abs() + 0.25;
                let function = ["fmin", "fmax", "min", "max"][self.dice.below(4)];
                Expr::new(ty, &format!("{function}(@, ({name}){bound:?}f)"), [a])
            }
            10 => {
                let b = self.float(scope, ty, depth - 1);
                Expr::new(ty, "copysign(@, (rint(@) + 0.5f))", [a, b])
            }
            11 => {
                let b = self.float(scope, ty, depth - 1);
                let kind = ty.with_base(ty.base.signed());
                let c = self.expr(scope, kind, 1);
                Expr::new(ty, "select(@, @, @)", [a, b, c])
            }
            12 => Expr::new(ty, "(-@)", [a]),
            _ => a,
        }
    }

    fn float_leaf(&mut self, scope: &Scope, ty: Type) -> Expr {
        let same: Vec<_> = scope.variables.iter().filter(|v| v.ty == ty).collect();
        if self.dice.percent(60)
            && let Some(variable) = self.dice.pick(&same)
        {
            return Expr::new(ty, &variable.name, []);
        }
        if self.dice.percent(25) {
            return self.literal(ty);
        }
        let base = [Base::Char, Base::UChar, Base::Short][self.dice.below(3)];
        let a = self.expr(scope, ty.with_base(base), 1);
        Expr::new(ty, &format!("convert_{}(@)", ty.name()), [a])
    }

    /// What a variable may hold: without it values would grow in loops.
    pub fn bounded_float(&mut self, scope: &Scope, ty: Type, depth: u32) -> Expr {
        let a = self.float(scope, ty, depth.min(3));
        let name = ty.name();
        let text =
            format!("(rint(clamp(@, ({name})-32000.25f, ({name})32000.25f)) * ({name})0.25f)");
        Expr::new(ty, &text, [a])
    }

    /// An integer out of a float.
    pub fn integer_of_float(&mut self, scope: &Scope, ty: Type, depth: u32) -> Option<Expr> {
        let base = if self.features.double && self.dice.percent(30) {
            Base::Double
        } else {
            Base::Float
        };
        let from = ty.with_base(base);
        let a = self.float(scope, from, depth.min(3));
        let name = ty.name();
        if from.base.size_bytes() == ty.base.size_bytes() && self.dice.percent(30) {
            let (b, function) = (
                self.float(scope, from, 1),
                ["isless", "isequal", "isgreaterequal"][self.dice.below(3)],
            );
            return Some(if ty.is_scalar() {
                Expr::new(ty, &format!("(({name}){function}(@, @))"), [a, b])
            } else {
                Expr::new(ty, &format!("as_{name}({function}(@, @))"), [a, b])
            });
        }
        if from.base.size_bytes() == ty.base.size_bytes() && self.dice.percent(30) {
            return Some(Expr::new(
                ty,
                &format!("as_{name}(rint(@) + 12345.5f)"),
                [a],
            ));
        }
        let rounding = ["", "_rte", "_rtz", "_rtp", "_rtn"][self.dice.below(5)];
        Some(Expr::new(
            ty,
            &format!("convert_{name}_sat{rounding}(@)"),
            [a],
        ))
    }
}
