//! What functions of `GLSL.std.450` compute, as far as tests need them.

use crate::compiler::evaluate::float::{from_f64, to_f64};
use crate::compiler::evaluate::signed;
use crate::compiler::ir::Type;

/// `a * b + c`, rounded once.
pub fn fma(ty: Type, a: u64, b: u64, c: u64) -> u64 {
    match ty {
        Type::F32 => {
            let [a, b, c] = [a, b, c].map(|bits| f32::from_bits(bits as u32));
            a.mul_add(b, c).to_bits().into()
        }
        _ => {
            let [a, b, c] = [a, b, c].map(|bits| to_f64(ty, bits));
            from_f64(ty, a.mul_add(b, c))
        }
    }
}

/// A function of `GLSL.std.450`; `None` for those that tests have not needed.
pub fn glsl(number: u32, ty: Type, args: &[u64], arg_types: &[Type]) -> Option<u64> {
    let float = |index: usize| Some(to_f64(*arg_types.get(index)?, *args.get(index)?));
    let int = |index: usize| args.get(index).copied();
    let value = match number {
        2 => float(0)?.round_ties_even(),
        3 => float(0)?.trunc(),
        4 => float(0)?.abs(),
        6 => match float(0)? {
            0.0 => 0.0,
            x => x.signum(),
        },
        8 => float(0)?.floor(),
        9 => float(0)?.ceil(),
        10 => float(0)? - float(0)?.floor(),
        13 => float(0)?.sin(),
        14 => float(0)?.cos(),
        26 => float(0)?.powf(float(1)?),
        27 => float(0)?.exp(),
        28 => float(0)?.ln(),
        29 => float(0)?.exp2(),
        30 => float(0)?.log2(),
        31 => float(0)?.sqrt(),
        32 => 1.0 / float(0)?.sqrt(),
        37 | 79 => float(0)?.min(float(1)?),
        40 | 80 => float(0)?.max(float(1)?),
        43 => float(0)?.max(float(1)?).min(float(2)?),
        53 => {
            let exponent = signed(*arg_types.get(1)?, int(1)?).clamp(-2000, 2000);
            // Two steps, since 2^exponent alone may be out of range.
            let half = (exponent / 2) as i32;
            float(0)? * 2f64.powi(half) * 2f64.powi(exponent as i32 - half)
        }
        5 => return Some(signed(ty, int(0)?).unsigned_abs() & ty.mask()),
        38 => return Some(int(0)?.min(int(1)?)),
        41 => return Some(int(0)?.max(int(1)?)),
        39 => return Some(signed(ty, int(0)?).min(signed(ty, int(1)?)) as u64 & ty.mask()),
        42 => return Some(signed(ty, int(0)?).max(signed(ty, int(1)?)) as u64 & ty.mask()),
        50 => return Some(fma(ty, int(0)?, int(1)?, int(2)?)),
        73 => {
            return Some(match int(0)? {
                0 => ty.mask(),
                x => x.trailing_zeros().into(),
            });
        }
        75 => {
            return Some(match int(0)? {
                0 => ty.mask(),
                x => (63 - x.leading_zeros()).into(),
            });
        }
        _ => return None,
    };
    Some(from_f64(ty, value))
}
