//! An integer as a sum: its terms, each times a constant, and a constant.
//!
//! Taken apart are additions, shifts and products by constants, and truncations. All of these keep what the integer is
//! modulo 2 to the power of its width, which is what the sum tells, though it is kept modulo 2⁶⁴. A term may so be wider
//! than the integer: its low bits count. Extensions are terms, as what they extend has wrapped around before.

use crate::compiler::ir::{Binary, Convert, Function, Op, Value};
use smallvec::{SmallVec, smallvec};

/// An integer, modulo 2 to the power of its width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// What is added up, in order, and what each is multiplied by, modulo 2⁶⁴.
    pub terms: Terms,
    /// Modulo 2⁶⁴. Constants of narrower integers are read signed: -1 is one less, not 2³² - 1 more.
    pub constant: u64,
}

/// Numbers, and what each is multiplied by.
pub type Terms = SmallVec<[(Value, u64); 4]>;

impl Sum {
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

/// What an operation adds up, and what it multiplies that by.
fn parts(function: &Function, value: Value) -> Option<(SmallVec<[Value; 2]>, u64)> {
    Some(match *function.op_of(value)? {
        Op::Binary(Binary::Add, a, b) => (smallvec![a, b], 1),
        Op::Binary(Binary::Shl, a, by) => {
            let width = function.ty(value).bits();
            let by = function.constant(by).filter(|&by| by < width.into())?;
            (smallvec![a], 1 << by)
        }
        Op::Binary(Binary::Mul, a, by) => (smallvec![a], signed(function, by)?),
        Op::Convert(Convert::Truncate, from) => (smallvec![from], 1),
        _ => return None,
    })
}

/// The bits of a constant with copies of its sign above.
fn signed(function: &Function, constant: Value) -> Option<u64> {
    let unused = 64 - function.ty(constant).bits();
    let bits = function.constant(constant)?;
    Some(((bits << unused) as i64 >> unused) as u64)
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
    ) -> (Sum, [Value; 2], Value) {
        let mut function = Function::new("f");
        let entry = function.entry();
        let params = [Type::I32, Type::I64].map(|ty| function.add_param(entry, ty));
        let mut b = Builder::new(&mut function, entry);
        let value = build(&mut b, params[0], params[1]);
        (Sum::of(&function, value, depth), params, value)
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
            let sums: Vec<Sum> = values
                .iter()
                .map(|&value| Sum::of(function, value, 6))
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
