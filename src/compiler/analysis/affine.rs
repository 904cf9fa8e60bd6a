//! Affine integers: a sum of terms, each times a constant, and of a constant.
//!
//! Taken apart are additions, shifts and products by constants, and truncations. All of these keep what the integer is
//! modulo 2 to the power of its width, which is what the sum tells, though it is kept modulo 2⁶⁴. A term may so be wider
//! than the integer: its low bits count. Extensions are terms, as what they extend has wrapped around before.

use crate::compiler::ir::{Binary, Convert, Function, Op, Value};
use smallvec::{SmallVec, smallvec};

/// An integer, modulo 2 to the power of its width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    /// What is added up, in order, and what each is multiplied by, modulo 2⁶⁴.
    pub terms: Terms,
    /// Modulo 2⁶⁴. Constants of narrower integers are read signed: -1 is one less, not 2³² - 1 more.
    pub constant: u64,
}

/// Numbers, and what each is multiplied by.
pub type Terms = SmallVec<[(Value, u64); 4]>;

impl Affine {
    /// The sum that an integer is; its terms are no more than `depth` operations away.
    pub fn of(function: &Function, value: Value, depth: u32) -> Self {
        let mut sum = Self::default();
        sum.add(function, (value, 1), depth);
        sum
    }

    /// Adds a value times `factor`.
    fn add(&mut self, function: &Function, (value, factor): (Value, u64), depth: u32) {
        if let Some(constant) = signed(function, value) {
            let constant = constant.wrapping_mul(factor);
            self.constant = self.constant.wrapping_add(constant);
        } else if let Some((parts, by)) = parts(function, value).filter(|_| depth > 0) {
            for part in parts {
                self.add(function, (part, factor.wrapping_mul(by)), depth - 1);
            }
        } else {
            self.terms.push((value, factor));
        }
    }
}

/// An operation of integers that is linear in its operands, or is where one is a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linear {
    Sum(Value, Value),
    /// The first less the second.
    Difference(Value, Value),
    /// Two to the power of so much, less than the type has bits, times a value.
    Shifted(Value, u32),
    /// Two factors; a constant is the second.
    Product(Value, Value),
    /// The low bits of a wider integer.
    Truncated(Value),
}

impl Linear {
    /// The operation that defines a value, if it is one of these.
    pub fn of(function: &Function, value: Value) -> Option<Self> {
        Some(match *function.op_of(value)? {
            Op::Binary(Binary::Add, a, b) => Self::Sum(a, b),
            Op::Binary(Binary::Sub, a, b) => Self::Difference(a, b),
            Op::Binary(Binary::Shl, a, by) => {
                let width = function.ty(value).bits();
                let by = function.constant(by).filter(|&by| by < width.into())?;
                Self::Shifted(a, by as u32)
            }
            Op::Binary(Binary::Mul, a, b) if function.constant(a).is_some() => Self::Product(b, a),
            Op::Binary(Binary::Mul, a, b) => Self::Product(a, b),
            Op::Convert(Convert::Truncate, from) => Self::Truncated(from),
            _ => return None,
        })
    }
}

/// A value and a constant that an integer is the sum of. Whether the sum wraps around is for its user to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offset {
    pub base: Option<Value>,
    /// Constants are read signed.
    pub plus: i128,
}

impl Offset {
    /// The sum that an integer is; its value is no more than `depth` additions away.
    pub fn of(function: &Function, value: Value, depth: u32) -> Self {
        let constant = |value| function.signed_constant(value).map(i128::from);
        let (mut base, mut plus) = (value, 0);
        for _ in 0..depth {
            let Some(Linear::Sum(a, b)) = Linear::of(function, base) else {
                break;
            };
            let (next, more) = match (constant(a), constant(b)) {
                (_, Some(more)) => (a, more),
                (Some(more), None) => (b, more),
                (None, None) => break,
            };
            (base, plus) = (next, plus + more);
        }
        match constant(base) {
            Some(more) => Self {
                base: None,
                plus: plus + more,
            },
            None => Self {
                base: Some(base),
                plus,
            },
        }
    }
}

/// What an operation adds up, and what it multiplies that by.
fn parts(function: &Function, value: Value) -> Option<(SmallVec<[Value; 2]>, u64)> {
    Some(match Linear::of(function, value)? {
        Linear::Sum(a, b) => (smallvec![a, b], 1),
        Linear::Shifted(a, by) => (smallvec![a], 1 << by),
        Linear::Product(a, by) => (smallvec![a], signed(function, by)?),
        Linear::Truncated(from) => (smallvec![from], 1),
        Linear::Difference(..) => return None,
    })
}

/// The bits of a constant with copies of its sign above.
fn signed(function: &Function, constant: Value) -> Option<u64> {
    function.signed_constant(constant).map(|it| it as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::analysis::testing::random_function;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Builder, BuiltIn, FuncId, Type};
    use crate::compiler::testing::Random;

    /// The sum that `build` makes of two parameters, one of 32 bits and one of 64; the parameters, and what was built.
    fn sum_of(
        depth: u32,
        build: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
    ) -> (Affine, [Value; 2], Value) {
        let mut function = Function::new("f");
        let entry = function.entry();
        let params = [Type::I32, Type::I64].map(|ty| function.add_param(entry, ty));
        let mut b = Builder::new(&mut function, entry);
        let value = build(&mut b, params[0], params[1]);
        (Affine::of(&function, value, depth), params, value)
    }

    #[test]
    fn additions_and_constants_are_taken_apart() {
        let (sum, [word, _], _) = sum_of(8, |b, word, _| {
            let moved = b.binary_const(Binary::Add, word, 5);
            let twice = b.binary(Binary::Add, moved, word);
            b.binary_const(Binary::Add, twice, 0xffff_fffe)
        });
        assert_eq!(sum.terms[..], [(word, 1), (word, 1)]);
        assert_eq!(sum.constant, 3);
    }

    #[test]
    fn shifts_and_products_by_constants_multiply_what_they_are_of() {
        let (sum, [_, long], _) = sum_of(8, |b, _, long| {
            let moved = b.binary_const(Binary::Add, long, 7);
            let scaled = b.binary_const(Binary::Mul, moved, 68);
            let less = b.binary_const(Binary::Mul, long, u64::MAX);
            let sum = b.binary(Binary::Add, scaled, less);
            b.binary_const(Binary::Shl, sum, 2)
        });
        assert_eq!(sum.terms[..], [(long, 272), (long, 4_u64.wrapping_neg())]);
        assert_eq!(sum.constant, 7 * 272);
    }

    #[test]
    fn a_constant_of_32_bits_may_be_negative() {
        let (sum, [word, _], _) = sum_of(8, |b, word, _| {
            let less = b.binary_const(Binary::Add, word, u64::from(u32::MAX));
            b.binary_const(Binary::Mul, less, u64::from(u32::MAX - 2))
        });
        assert_eq!(sum.terms[..], [(word, 3_u64.wrapping_neg())]);
        assert_eq!(sum.constant, 3);
    }

    #[test]
    fn truncations_are_looked_through_and_extensions_are_not() {
        let (sum, [_, long], _) = sum_of(8, |b, _, long| {
            let moved = b.binary_const(Binary::Add, long, 3);
            b.convert(Convert::Truncate, moved, Type::I32)
        });
        assert_eq!(sum.terms[..], [(long, 1)]);
        assert_eq!(sum.constant, 3);
        for extend in [Convert::ZeroExtend, Convert::SignExtend] {
            let (sum, _, value) = sum_of(8, |b, word, _| {
                let moved = b.binary_const(Binary::Add, word, 3);
                b.convert(extend, moved, Type::I64)
            });
            assert_eq!(sum.terms[..], [(value, 1)]);
            assert_eq!(sum.constant, 0);
        }
    }

    #[test]
    fn all_else_is_a_term() {
        let (sum, _, value) = sum_of(8, |b, _, long| b.binary(Binary::Mul, long, long));
        assert_eq!(sum.terms[..], [(value, 1)]);
        let (sum, _, value) = sum_of(8, |b, _, long| b.binary(Binary::Shl, long, long));
        assert_eq!(sum.terms[..], [(value, 1)]);
        // Undefined.
        let (sum, _, value) = sum_of(8, |b, word, _| b.binary_const(Binary::Shl, word, 32));
        assert_eq!(sum.terms[..], [(value, 1)]);
    }

    #[test]
    fn an_offset_is_one_value_and_the_constants_around_it() {
        let (function, values) = {
            let mut function = Function::new("f");
            let entry = function.entry();
            let params = [0; 2].map(|_| function.add_param(entry, Type::I32));
            let mut b = Builder::new(&mut function, entry);
            let less = b.binary_const(Binary::Add, params[0], u64::from(u32::MAX));
            let three = b.i32(3);
            let more = b.binary(Binary::Add, three, less);
            let both = b.binary(Binary::Add, more, params[1]);
            (function, [params[0], less, more, both, three])
        };
        let [param, less, more, both, three] = values;
        let offset = |value, depth| Offset::of(&function, value, depth);
        let of = |base, plus| Offset { base, plus };
        assert_eq!(offset(less, 8), of(Some(param), -1));
        assert_eq!(offset(more, 8), of(Some(param), 2));
        assert_eq!(offset(more, 1), of(Some(less), 3));
        assert_eq!(offset(both, 8), of(Some(both), 0));
        assert_eq!(offset(three, 8), of(None, 3));
    }

    #[test]
    fn it_goes_no_deeper_than_asked() {
        let twice_moved = |b: &mut Builder<'_>, _, long| {
            let moved = b.binary_const(Binary::Add, long, 1);
            b.binary_const(Binary::Add, moved, 1)
        };
        let (sum, [_, long], _) = sum_of(2, twice_moved);
        assert_eq!((&sum.terms[..], sum.constant), (&[(long, 1)][..], 2));
        let (sum, [_, long], _) = sum_of(1, twice_moved);
        assert!(sum.terms[0].0 != long && sum.terms.len() == 1);
        assert_eq!(sum.constant, 1);
        let (sum, _, value) = sum_of(0, twice_moved);
        assert_eq!((&sum.terms[..], sum.constant), (&[(value, 1)][..], 0));
    }

    /// A sum has its value's bits where factors and constants wrap around, too.
    #[test]
    fn it_is_the_integer_modulo_its_width() {
        let random = &mut Random(3);
        let mut apart = 0;
        for _ in 0..200 {
            let (module, values) = random_function(random);
            let function = module.function(FuncId(0));
            let sums: Vec<Affine> = values
                .iter()
                .map(|&value| Affine::of(function, value, 6))
                .collect();
            apart += sums.iter().filter(|sum| sum.terms.len() > 1).count();
            for _ in 0..10 {
                let mut interpreter = Interpreter::new(&module);
                for dimension in 0..2 {
                    let input = BuiltIn::LocalInvocationId(dimension);
                    interpreter.inputs.insert(input, random.bits() as u32);
                }
                let inputs = [random.constant() as u32 as u64, !random.constant()];
                let results = interpreter.run(FuncId(0), &inputs).unwrap();
                let number = |term: Value| {
                    let place = values.iter().position(|&value| value == term).unwrap();
                    results[place]
                };
                for ((sum, &result), &value) in sums.iter().zip(&results).zip(&values) {
                    let terms = sum.terms.iter();
                    let total = terms.fold(sum.constant, |total, &(term, factor)| {
                        total.wrapping_add(number(term).wrapping_mul(factor))
                    });
                    let mask = function.ty(value).mask();
                    assert_eq!(total & mask, result, "{value}: {sum:?}\n{module}");
                }
            }
        }
        assert!(apart > 300, "{apart}");
    }
}
