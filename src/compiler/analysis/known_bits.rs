//! What is known of an integer whatever the inputs are: bits that are zero, and bounds.
//!
//! Both are read unsigned. Found by following how the value is computed a few operations deep; block parameters
//! are unknown, so a loop's counter is too.

use crate::compiler::ir::{Binary, BuiltIn, Convert, Function, Op, Type, Value};

/// How deep an expression is followed.
const DEPTH: u32 = 6;

/// What is known of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownBits {
    /// Bits that are zero. Those beyond the type's width are not among them.
    pub zeros: u64,
    /// The least and the greatest number it can be.
    pub least: u64,
    pub most: u64,
}

impl KnownBits {
    /// What is known of a value of a function whose local ids are below `local_sizes` ([`Module::most_local_sizes`]).
    ///
    /// [`Module::most_local_sizes`]: crate::compiler::ir::Module::most_local_sizes
    pub fn of(function: &Function, local_sizes: [u32; 3], value: Value) -> Self {
        Self::assuming(function, local_sizes, value, &|_| None)
    }

    /// What is known of a value ([`Self::of`]) where, besides, values are at most what `bound` says.
    pub fn assuming(
        function: &Function,
        local_sizes: [u32; 3],
        value: Value,
        bound: &dyn Fn(Value) -> Option<u64>,
    ) -> Self {
        let given = Given {
            function,
            local_sizes,
            bound,
        };
        given.follow(value, DEPTH)
    }

    /// What is known of a number that has no bits but those of `possible`.
    fn within(ty: Type, possible: u64) -> Self {
        Self::bounded(ty, !possible, 0, possible & ty.mask())
    }

    /// Bits and bounds, each improved by the other.
    fn bounded(ty: Type, zeros: u64, least: u64, most: u64) -> Self {
        let mask = ty.mask();
        let most = most.min(!zeros & mask);
        let unused = match most {
            0 => u64::MAX,
            most => !(u64::MAX >> most.leading_zeros()),
        };
        Self {
            zeros: (zeros | unused) & mask,
            least: least.min(most),
            most,
        }
    }

    /// How many of the lowest bits are zero; of a zero all of its type's.
    fn trailing(self, ty: Type) -> u32 {
        self.zeros.trailing_ones().min(ty.bits())
    }
}

/// What is known beforehand.
struct Given<'a> {
    function: &'a Function,
    local_sizes: [u32; 3],
    bound: &'a dyn Fn(Value) -> Option<u64>,
}

impl Given<'_> {
    fn follow(&self, value: Value, depth: u32) -> KnownBits {
        let function = self.function;
        let ty = function.ty(value);
        let mask = ty.mask();
        if let Some(most) = (self.bound)(value) {
            return KnownBits::bounded(ty, 0, 0, most);
        }
        let unknown = KnownBits::within(ty, mask);
        let Some(op) = function.op_of(value) else {
            return unknown;
        };
        if let Op::Const(bits) = *op {
            return KnownBits::bounded(ty, !bits, bits, bits);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return unknown;
        };
        let of = |value: Value| self.follow(value, depth);
        let amount = |by: Value| function.constant(by).filter(|&by| by < ty.bits().into());
        let low_zeros = |count: u32| !u64::MAX.checked_shl(count).unwrap_or(0);
        match *op {
            Op::Convert(Convert::ZeroExtend, from) => {
                let from = of(from);
                KnownBits::bounded(ty, from.zeros, from.least, from.most)
            }
            Op::Convert(Convert::SignExtend, from) => {
                let width = function.ty(from).bits();
                match of(from) {
                    from if from.most >> (width - 1) == 0 => {
                        KnownBits::bounded(ty, from.zeros, from.least, from.most)
                    }
                    // The lower bits stay as they are.
                    from => KnownBits::within(
                        ty,
                        !(from.zeros & u64::MAX.checked_shr(65 - width).unwrap_or(0)),
                    ),
                }
            }
            Op::Convert(Convert::Truncate, from) => match of(from) {
                from if from.most <= mask => {
                    KnownBits::bounded(ty, from.zeros, from.least, from.most)
                }
                from => KnownBits::within(ty, !from.zeros),
            },
            Op::Select(_, a, b) => {
                let (a, b) = (of(a), of(b));
                KnownBits::bounded(
                    ty,
                    a.zeros & b.zeros,
                    a.least.min(b.least),
                    a.most.max(b.most),
                )
            }
            Op::Binary(Binary::And, a, b) => {
                let (a, b) = (of(a), of(b));
                KnownBits::bounded(ty, a.zeros | b.zeros, 0, a.most.min(b.most))
            }
            Op::Binary(Binary::Or, a, b) => {
                let (a, b) = (of(a), of(b));
                KnownBits::bounded(ty, a.zeros & b.zeros, a.least.max(b.least), mask)
            }
            Op::Binary(Binary::Xor, a, b) => KnownBits::within(ty, !(of(a).zeros & of(b).zeros)),
            Op::Binary(Binary::Shl, a, by) => match amount(by) {
                Some(by) => KnownBits::within(ty, !of(a).zeros << by),
                None => unknown,
            },
            Op::Binary(Binary::LShr, a, by) => match (of(a), amount(by)) {
                (a, Some(by)) => {
                    KnownBits::bounded(ty, !(!a.zeros >> by), a.least >> by, a.most >> by)
                }
                (_, None) => unknown,
            },
            Op::Binary(Binary::Add, a, b) => {
                let (a, b) = (of(a), of(b));
                let zeros = low_zeros(a.trailing(ty).min(b.trailing(ty)));
                match a.most.checked_add(b.most).filter(|&most| most <= mask) {
                    Some(most) => KnownBits::bounded(ty, zeros, a.least + b.least, most),
                    None => KnownBits::within(ty, !zeros),
                }
            }
            Op::Binary(Binary::Mul, a, b) => {
                let (a, b) = (of(a), of(b));
                let zeros = low_zeros(a.trailing(ty) + b.trailing(ty));
                match a.most.checked_mul(b.most).filter(|&most| most <= mask) {
                    Some(most) => KnownBits::bounded(ty, zeros, a.least * b.least, most),
                    None => KnownBits::within(ty, !zeros),
                }
            }
            Op::BuiltIn(BuiltIn::LocalInvocationId(dimension)) => {
                match self.local_sizes.get(usize::from(dimension)) {
                    Some(&size) => KnownBits::bounded(ty, 0, 0, u64::from(size).saturating_sub(1)),
                    None => unknown,
                }
            }
            _ => unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::analysis::testing::random_function;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Builder, FuncId};
    use crate::compiler::testing::Random;

    const SIZES: [u32; 3] = [24, 3, 65535];

    #[test]
    fn what_is_known_holds() {
        let random = &mut Random(7);
        let mut told = 0;
        for _ in 0..60 {
            let (module, values) = random_function(random);
            let function = module.function(FuncId(0));
            let known: Vec<_> = values
                .iter()
                .map(|&value| KnownBits::of(function, SIZES, value))
                .collect();
            told += known.iter().filter(|known| known.zeros != 0).count();
            for _ in 0..40 {
                let mut interpreter = Interpreter::new(&module);
                for dimension in 0..2 {
                    let id = random.bits() as u32 % SIZES[usize::from(dimension)];
                    let id = random.one_of(&[0, SIZES[usize::from(dimension)] - 1, id]);
                    let input = BuiltIn::LocalInvocationId(dimension);
                    interpreter.inputs.insert(input, id);
                }
                let inputs = [random.constant() as u32 as u64, !random.constant()];
                let results = interpreter.run(FuncId(0), &inputs).unwrap();
                for ((known, result), value) in known.iter().zip(results).zip(&values) {
                    let fits = known.zeros & result == 0;
                    assert!(
                        fits && (known.least..=known.most).contains(&result),
                        "{value}: {result:#x} is not in {known:x?}\n{module}"
                    );
                }
            }
        }
        assert!(told > 500, "only of {told} values anything is known");
    }

    #[test]
    fn bounds_are_those_of_the_local_size_and_of_constants() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let param = function.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let wide = b.convert(Convert::ZeroExtend, id, Type::I64);
        let scaled = b.binary_const(Binary::Mul, wide, 12);
        let moved = b.binary_const(Binary::Add, scaled, 100);
        let masked = b.binary_const(Binary::And, param, 0x3_0000);
        let high = b.binary_const(Binary::LShr, masked, 16);
        let known = |value| KnownBits::of(&function, SIZES, value);
        assert_eq!(
            (known(moved).least, known(moved).most),
            (100, 100 + 12 * 23)
        );
        assert_eq!(
            known(moved).zeros & 0xfff,
            0xe03,
            "a multiple of four below 512"
        );
        assert_eq!((known(masked).least, known(masked).most), (0, 0x3_0000));
        assert_eq!((known(high).zeros, known(high).most), (0xffff_fffc, 3));
        assert_eq!(known(param).zeros, 0);
    }
}
