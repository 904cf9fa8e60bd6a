//! Geometric functions (OpenCL C section 6.15.5), on all components of their operands.

use super::lower::{Lower, Lowered, Std, glsl};
use crate::compiler::ir::{Binary, Compare, Type, Unary, Value, Values};
use crate::compiler::passes::helpers::float_format::FloatFormat;
use smallvec::smallvec;

/// How far components are scaled so that their squares do not vanish, nor overflow; and the least square
/// that is precise.
struct Range {
    up: i32,
    down: i32,
    least_square: i32,
}

impl Range {
    fn of(ty: Type) -> Self {
        let (up, down) = match ty {
            Type::F64 => (563, -513),
            _ => (86, -65),
        };
        let least_square = 1 - FloatFormat::of(ty).bias as i32;
        Self {
            up,
            down,
            least_square,
        }
    }
}

impl Lower<'_, '_> {
    /// Lowers a geometric function; `None` if it is none.
    pub fn geometric(&mut self, op: Std, args: &[Value], types: &[Type]) -> Lowered {
        use Std::*;
        if !matches!(
            op,
            cross | distance | length | normalize | fast_distance | fast_length | fast_normalize
        ) {
            return Ok(None);
        }
        let Some(&first) = args.first() else {
            return Ok(None);
        };
        if self.b.ty(first) == Type::F16 {
            let wide: Values = args.iter().map(|v| self.float_to(*v, Type::F32)).collect();
            let types = vec![Type::F32; types.len()];
            let results = self.geometric(op, &wide, &types)?;
            return Ok(results.map(|values| {
                let narrowed = values.iter().map(|v| self.float_to(*v, Type::F16));
                narrowed.collect()
            }));
        }
        let fast = self.relaxed && self.b.ty(first) == Type::F32;
        Ok(Some(match op {
            cross => match self.cross(args, types.len()) {
                Some(values) => values,
                None => return Ok(None),
            },
            distance | fast_distance => {
                let (from, to) = args.split_at(args.len() / 2);
                let pairs = from.iter().zip(to);
                let difference: Values = pairs
                    .map(|(a, b)| self.binary(Binary::FSub, *a, *b))
                    .collect();
                smallvec![self.length(&difference, fast || op == fast_distance)]
            }
            length | fast_length => smallvec![self.length(args, fast || op == fast_length)],
            fast_normalize => self.fast_normalize(args),
            _ if fast => self.fast_normalize(args),
            _ => self.normalize(args),
        }))
    }

    /// The cross product of the first three components; the fourth of four is zero.
    fn cross(&mut self, args: &[Value], lanes: usize) -> Option<Values> {
        let (a, b) = (args.get(..lanes)?, args.get(lanes..)?);
        let (&[ax, ay, az, ..], &[bx, by, bz, ..]) = (a, b) else {
            return None;
        };
        let mut minor = |a, b, c, d| {
            let (ab, cd) = (
                self.binary(Binary::FMul, a, b),
                self.binary(Binary::FMul, c, d),
            );
            self.binary(Binary::FSub, ab, cd)
        };
        let mut values: Values = smallvec![
            minor(ay, bz, az, by),
            minor(az, bx, ax, bz),
            minor(ax, by, ay, bx)
        ];
        if lanes == 4 {
            let ty = self.b.ty(ax);
            values.push(self.float(ty, 0.0));
        }
        Some(values)
    }

    fn square_sum(&mut self, components: &[Value]) -> Value {
        let mut sum = self.binary(Binary::FMul, components[0], components[0]);
        for &component in &components[1..] {
            sum = self.mad(component, component, sum);
        }
        sum
    }

    fn length(&mut self, components: &[Value], fast: bool) -> Value {
        if let &[x] = components {
            return self.magnitude(x);
        }
        if fast {
            let sum = self.square_sum(components);
            return self.glsl(glsl::SQRT, &[sum]);
        }
        let (scaled, scale) = self.scaled(components);
        let sum = self.square_sum(&scaled);
        let root = self.glsl(glsl::SQRT, &[sum]);
        self.binary(Binary::FMul, root, scale)
    }

    /// Components scaled by a power of two so that the sum of their squares is a normal number, and the
    /// factor that undoes it.
    fn scaled(&mut self, components: &[Value]) -> (Values, Value) {
        let ty = self.b.ty(components[0]);
        let (format, range) = (FloatFormat::of(ty), Range::of(ty));
        let sum = self.square_sum(components);
        let least = self.b.constant(ty, format.power_of_two(range.least_square));
        let small = self.compare(Compare::FOrdLess, sum, least);
        let big = self.b.unary(Unary::IsInf, sum);
        let power = |this: &mut Self, up: i32, down: i32| {
            let [up, down] = [up, down].map(|p| this.b.constant(ty, format.power_of_two(p)));
            let one = this.float(ty, 1.0);
            let value = this.select(small, up, one);
            this.select(big, down, value)
        };
        let factor = power(self, range.up, range.down);
        let back = power(self, -range.up, -range.down);
        let scaled = components
            .iter()
            .map(|c| self.binary(Binary::FMul, *c, factor))
            .collect();
        (scaled, back)
    }

    fn normalize(&mut self, components: &[Value]) -> Values {
        let ty = self.b.ty(components[0]);
        if let &[x] = components {
            let zero = self.float(ty, 0.0);
            let one = self.float(ty, 1.0);
            let signed = self.copy_sign(one, x);
            let is_zero = self.compare(Compare::FOrdEqual, x, zero);
            let is_nan = self.b.unary(Unary::IsNan, x);
            let keep = self.binary(Binary::Or, is_zero, is_nan);
            return smallvec![self.select(keep, x, signed)];
        }
        // An infinite component counts as one, the finite ones beside it as zero.
        let (one, zero) = (self.float(ty, 1.0), self.float(ty, 0.0));
        let infinite: Values = components
            .iter()
            .map(|c| self.b.unary(Unary::IsInf, *c))
            .collect();
        let any = infinite[1..]
            .iter()
            .fold(infinite[0], |a, b| self.binary(Binary::Or, a, *b));
        let finite: Values = components
            .iter()
            .zip(&infinite)
            .map(|(c, is_infinite)| {
                let unit = self.select(*is_infinite, one, zero);
                let unit = self.copy_sign(unit, *c);
                let nan = self.b.unary(Unary::IsNan, *c);
                let unit = self.select(nan, *c, unit);
                self.select(any, unit, *c)
            })
            .collect();
        let (scaled, _) = self.scaled(&finite);
        let sum = self.square_sum(&scaled);
        self.over_root(&scaled, sum, components)
    }

    fn fast_normalize(&mut self, components: &[Value]) -> Values {
        let sum = self.square_sum(components);
        self.over_root(components, sum, components)
    }

    /// Components over the root of `sum`; `original` where that is zero.
    fn over_root(&mut self, components: &[Value], sum: Value, original: &[Value]) -> Values {
        let ty = self.b.ty(sum);
        let factor = if ty == Type::F32 {
            self.glsl(glsl::INVERSE_SQRT, &[sum])
        } else {
            let (one, root) = (self.float(ty, 1.0), self.glsl(glsl::SQRT, &[sum]));
            self.binary(Binary::FDiv, one, root)
        };
        let zero = self.float(ty, 0.0);
        let is_zero = self.compare(Compare::FOrdEqual, sum, zero);
        components
            .iter()
            .zip(original)
            .map(|(component, original)| {
                let value = self.binary(Binary::FMul, *component, factor);
                self.select(is_zero, *original, value)
            })
            .collect()
    }
}
