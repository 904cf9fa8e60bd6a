//! Keeps from a driver what numbers there can be, where it draws the wrong conclusions.
//!
//! **Why.** NVIDIA's compiler (seen in 580.159.04) makes operations narrower where it finds that the upper bits are zero
//! or copies of the sign, and some of those it gets wrong:
//! - `x << 8 | x >> 8` of 16 bits becomes an exchange of bytes that is never computed: the register holds anything;
//! - `popcount` of an extended byte, or of one of two, counts the copies of its sign;
//! - an unsigned quotient of a byte with its sign (`(uint)(char)x / y`) is computed of the signed number;
//! - `(long)x << 31` of an `int` is multiplied by -2^31;
//! - where a condition is a number (`c ? 1 : 0`) in more than one place, or bits of such numbers are joined, some of them come
//!   out as if the condition held: `c ^ (((c ? 256 : 0) | x) == 0)`, or a sum of 32 bits and one of 64 with the same `c`;
//! - of `(short)-x` it extends the sign before it negates, so -32768 becomes 32768;
//! - `max(1, abs(x))` in a loop is 1;
//! - of `max(max(x, -y), z)`, where neither negation can overflow, it makes one instruction that takes y for -y;
//! - `mul_hi(x, y) + i` in a loop that it unrolls is that of another iteration: the sum becomes an operand of 64 bits of the
//!   product, of which the upper half is overlooked;
//! - of `bytes[i] = x % 10, x /= 10` with a 64-bit `x` in a loop, all bytes but the first two are the second one;
//! - where a few elements of a private array are arguments, it reads the arguments in place of the array, and those at
//!   the wrong end; where one is the sum of an argument and the group's id, it reads the work-item's id in its place.
//!
//! **How.** What such operations read is combined with a zero that the driver does not know to be one: the
//! highest bit of a buffer's address. For bytes that are exchanged it is how far they are shifted: the driver has taken a
//! zero out of the exchange. For numbers of conditions it is the constant where they hold, which costs next to nothing, and that
//! alone: what both were hidden by was lost where the driver made the selection again behind it. For negations of which a
//! narrow part, or the smaller or larger one with another number is used, it is the result, and so it is for magnitudes and the
//! upper words of products that are added to. Words of 64-bit quotients and
//! remainders of which a narrow part is used, also of those that a loop carries, are shifted by the zero, so that the driver
//! can't compute the narrow part alone.
//!
//! **Needs** arguments in their block. Does nothing unless the device asks for it
//! ([`crate::compiler::Defects::MISREADS_RANGES`]), nor in kernels without a buffer.

use crate::compiler::ir::{
    Array, ArrayId, ArrayStorage, Binary, Builder, BuiltIn, Convert, Function, Inst, InstFlags,
    Module, Op, Place, Rewrite, Type, Unary, Value, rewrite_instructions,
};
use crate::compiler::passes::helpers::hidden_zero::HiddenZero;
use crate::compiler::{CompileError, Context, Defects};
use smallvec::smallvec;
use std::collections::{HashMap, HashSet};

/// How far an operand is followed to where it was a narrow number.
const DEPTH: u32 = 4;

/// How far an operand that is shifted by a byte is followed.
const BYTE_DEPTH: u32 = 2;

/// How far the word of a 64-bit number is followed to the quotient that it was computed of: past the product with the
/// divisor, the difference, and what gives a signed remainder its sign.
const QUOTIENT_DEPTH: u32 = 6;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.has(Defects::MISREADS_RANGES) {
        hide(module)?;
    }
    Ok(())
}

fn hide(module: &mut Module) -> Result<(), CompileError> {
    let Some(zero) = HiddenZero::of(module) else {
        return Ok(());
    };
    for function in &mut module.functions {
        let hider = Hider {
            zero,
            narrowed: narrowed(function),
            bounded: bounded(function),
            added: added(function),
            of_quotients: passed_quotients(function),
            filled: filled_by_arguments(function, &module.arrays),
        };
        rewrite_instructions(function, |b, inst| {
            Ok::<_, CompileError>(hider.rewrite(b, inst))
        })?;
    }
    Ok(())
}

/// What is known of a function before anything of it is hidden.
struct Hider {
    zero: HiddenZero,
    narrowed: HashSet<Value>,
    bounded: HashSet<Value>,
    added: HashSet<Value>,
    /// The parameters of blocks that are handed quotients.
    of_quotients: HashSet<Value>,
    filled: Vec<bool>,
}

impl Hider {
    fn rewrite(&self, b: &mut Builder<'_>, inst: Inst) -> Rewrite {
        let data = b.function.inst(inst);
        let (flags, op) = (data.flags, data.op.clone());
        let is_in = |set: &HashSet<Value>| data.results.first().is_some_and(|it| set.contains(it));
        let (is_bounded, is_narrowed) = (is_in(&self.bounded), is_in(&self.narrowed));
        let is_negation = matches!(op, Op::Unary(Unary::Negate, _));
        if is_bounded && (is_negation || is_magnitude(b.function, &op)) {
            let number = anew(b, inst, op, flags);
            return Rewrite::Replace(smallvec![self.zero.added_to(b, number)]);
        }
        if let (Op::MulExtended { .. }, [low, high]) = (&op, data.results.as_slice())
            && self.added.contains(high)
        {
            let types = [*low, *high].map(|it| b.ty(it));
            b.flags = flags;
            let words = b.op(op, types);
            b.flags = InstFlags::default();
            let high = self.zero.added_to(b, words[1]);
            return Rewrite::Replace(smallvec![words[0], high]);
        }
        if is_narrowed && self.loses_upper_bits(b.function, &op) {
            return Rewrite::Replace(smallvec![self.word(b, inst, op, flags)]);
        }
        if stores_uniforms(b.function, &self.filled, &op) {
            self.store(b, op, flags);
            return Rewrite::Replace(smallvec![]);
        }
        match self.operation(b, op) {
            Some(op) => Rewrite::Replace(smallvec![anew(b, inst, op, flags)]),
            None => Rewrite::Keep,
        }
    }

    /// Whether an operation gives a word whose narrow part the driver computes wrongly.
    fn loses_upper_bits(&self, function: &Function, op: &Op) -> bool {
        match *op {
            Op::Unary(Unary::Negate, _) => true,
            Op::Convert(Convert::Truncate, from) => {
                function.ty(from) == Type::I64
                    && is_of_quotient(function, from, &self.of_quotients, QUOTIENT_DEPTH)
            }
            _ => false,
        }
    }

    /// A word of which the driver can't compute a narrow part alone.
    fn word(&self, b: &mut Builder<'_>, inst: Inst, op: Op, flags: InstFlags) -> Value {
        let is_quotient = matches!(op, Op::Convert(..));
        let word = anew(b, inst, op, flags);
        if !is_quotient {
            return self.zero.added_to(b, word);
        }
        let none = b.i32(0);
        let none = self.zero.added_to(b, none);
        b.binary(Binary::LShr, word, none)
    }

    /// Stores of what is the same for a work-group, as unknown numbers.
    fn store(&self, b: &mut Builder<'_>, mut op: Op, flags: InstFlags) {
        b.flags = InstFlags::default();
        if let Op::Store(_, values, _) = &mut op {
            for value in values {
                if is_uniform(b.function, *value, DEPTH) {
                    *value = self.zero.added_to(b, *value);
                }
            }
        }
        b.flags = flags;
        b.op0(op);
    }

    /// An operation with operands of which the driver does not know what they can be.
    fn operation(&self, b: &mut Builder<'_>, mut op: Op) -> Option<Op> {
        b.flags = InstFlags::default();
        if let Op::Select(_, one, other) = &mut op
            && is_number_of_condition(b.function, *one, *other)
        {
            *one = self.zero.added_to(b, *one);
            return Some(op);
        }
        let (number, unknown) = match exchange(b.function, &op) {
            Some(number) => (number, shifted_somehow(b, number, self.zero)),
            None => {
                let number = misread(b.function, &op)?;
                (number, self.zero.added_to(b, number))
            }
        };
        op.for_each_operand_mut(|operand| {
            if *operand == number {
                *operand = unknown;
            }
        });
        Some(op)
    }
}

/// Builds an operation in place of an instruction; what is built next has no flags.
fn anew(b: &mut Builder<'_>, inst: Inst, op: Op, flags: InstFlags) -> Value {
    let ty = b.ty(b.function.inst(inst).results[0]);
    b.flags = flags;
    let result = b.op1(op, ty);
    b.flags = InstFlags::default();
    result
}

/// The operand of an operation whose range the driver must not know.
fn misread(function: &Function, op: &Op) -> Option<Value> {
    match *op {
        Op::Unary(Unary::BitCount, a) => is_extended(function, a, DEPTH).then_some(a),
        Op::Binary(Binary::UDiv | Binary::URem, a, b) => [a, b]
            .into_iter()
            .find(|&operand| is_signed(function, operand, DEPTH)),
        Op::Binary(Binary::Shl, a, by) => {
            let by_31 = function.constant(by) == Some(31);
            (by_31 && function.ty(a) == Type::I64).then_some(a)
        }
        Op::Convert(Convert::UnsignedToFloat(_), a) => is_signed(function, a, DEPTH).then_some(a),
        _ => None,
    }
}

/// Whether a selection of these makes a number of its condition: they are constants.
fn is_number_of_condition(function: &Function, one: Value, other: Value) -> bool {
    let mut arms = [one, other].into_iter();
    function.ty(one).is_int() && arms.all(|arm| function.constant(arm).is_some())
}

/// Whether an operation makes a number positive: the larger one of it and of its negation.
fn is_magnitude(function: &Function, op: &Op) -> bool {
    let Op::Binary(Binary::SMax, a, b) = op else {
        return false;
    };
    let negates =
        |x, y| matches!(function.op_of(x), Some(&Op::Unary(Unary::Negate, of)) if of == y);
    negates(*a, *b) || negates(*b, *a)
}

/// What the smaller or larger one of two numbers is taken of, also by way of a selection or of a block's parameter. Not what a
/// magnitude is taken of, for which there is one instruction.
fn bounded(function: &Function) -> HashSet<Value> {
    let mut pending: Vec<Value> = insts(function)
        .into_iter()
        .map(|inst| &function.inst(inst).op)
        .filter(|op| !is_magnitude(function, op))
        .filter_map(|op| match op {
            Op::Binary(Binary::SMin | Binary::SMax | Binary::UMin | Binary::UMax, a, b) => {
                Some([*a, *b])
            }
            _ => None,
        })
        .flatten()
        .collect();
    let arguments = arguments(function);
    let mut found = HashSet::new();
    while let Some(value) = pending.pop() {
        if !found.insert(value) {
            continue;
        }
        if let Some(&Op::Select(_, a, b)) = function.op_of(value) {
            pending.extend([a, b]);
        }
        pending.extend(arguments.get(&value).into_iter().flatten());
    }
    found
}

/// What each parameter of a block is given.
fn arguments(function: &Function) -> HashMap<Value, Vec<Value>> {
    let mut arguments: HashMap<Value, Vec<Value>> = HashMap::new();
    for &block in function.layout() {
        for edge in function.block(block).terminator.edges() {
            let params = &function.block(edge.block).params;
            for (&param, &argument) in params.iter().zip(&edge.args) {
                arguments.entry(param).or_default().push(argument);
            }
        }
    }
    arguments
}

/// Whether a 64-bit number is computed of a quotient or is a remainder; those of `known` are.
fn is_of_quotient(function: &Function, value: Value, known: &HashSet<Value>, depth: u32) -> bool {
    if known.contains(&value) {
        return true;
    }
    let further = |from| depth > 0 && is_of_quotient(function, from, known, depth - 1);
    match function.op_of(value) {
        Some(&Op::Binary(Binary::UDiv | Binary::URem | Binary::SDiv | Binary::SRem, ..)) => true,
        Some(&Op::Binary(
            Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::Shl
            | Binary::And
            | Binary::Or
            | Binary::Xor,
            a,
            b,
        ))
        | Some(&Op::Select(_, a, b)) => further(a) || further(b),
        Some(&Op::Unary(Unary::Negate, a)) => further(a),
        // The words of a quotient that `divide_longs` has a function for.
        Some(&Op::Convert(Convert::ZeroExtend, word)) => {
            matches!(function.op_of(word), Some(Op::Call(..)))
        }
        _ => false,
    }
}

/// The parameters of blocks that are handed 64-bit numbers computed of quotients, from wherever.
fn passed_quotients(function: &Function) -> HashSet<Value> {
    let arguments = arguments(function);
    let long = |&(&param, _): &(&Value, _)| function.ty(param) == Type::I64;
    let long: Vec<_> = arguments.iter().filter(long).collect();
    let mut passed = HashSet::new();
    loop {
        let before = passed.len();
        for (param, given) in &long {
            let of_quotient = |&it: &Value| is_of_quotient(function, it, &passed, QUOTIENT_DEPTH);
            if given.iter().any(of_quotient) {
                passed.insert(**param);
            }
        }
        if passed.len() == before {
            return passed;
        }
    }
}

/// The words that are added to something.
fn added(function: &Function) -> HashSet<Value> {
    insts(function)
        .into_iter()
        .filter_map(|inst| match function.inst(inst).op {
            Op::Binary(Binary::Add, a, b) if function.ty(a) == Type::I32 => Some([a, b]),
            _ => None,
        })
        .flatten()
        .collect()
}

/// The words of which only a narrow part is used somewhere.
fn narrowed(function: &Function) -> HashSet<Value> {
    insts(function)
        .into_iter()
        .filter_map(|inst| match function.inst(inst).op {
            Op::Convert(Convert::Truncate, a) => Some(a),
            Op::Binary(Binary::And, a, mask) => {
                let mask = function.constant(mask)?;
                (mask <= 0xffff).then_some(a)
            }
            Op::Binary(Binary::Shl, a, by) => {
                matches!(function.constant(by)?, 16 | 24).then_some(a)
            }
            _ => None,
        })
        .filter(|&value| function.ty(value) == Type::I32)
        .collect()
}

/// Whether it stores numbers that a work-group shares in a private array of which arguments do not fill every element.
fn stores_uniforms(function: &Function, filled: &[bool], op: &Op) -> bool {
    let Op::Store(Place::Element { array, .. }, values, _) = op else {
        return false;
    };
    filled.get(array.index()) == Some(&false)
        && values
            .iter()
            .any(|&value| is_uniform(function, value, DEPTH))
}

/// Whether it is computed of arguments and the place of the work-group alone.
fn is_uniform(function: &Function, value: Value, depth: u32) -> bool {
    match function.op_of(value) {
        Some(Op::BuiltIn(BuiltIn::WorkgroupId(_) | BuiltIn::NumWorkgroups(_))) => true,
        Some(op @ (Op::Unary(..) | Op::Binary(..) | Op::Convert(..) | Op::Select(..))) => {
            let operands = op.operands();
            let mut unknown = operands
                .into_iter()
                .filter(|&operand| function.constant(operand).is_none())
                .peekable();
            depth > 0
                && unknown.peek().is_some()
                && unknown.all(|operand| is_uniform(function, operand, depth - 1))
        }
        _ => is_argument(function, value),
    }
}

fn is_argument(function: &Function, value: Value) -> bool {
    matches!(
        function.op_of(value),
        Some(Op::Load(Place::Argument { .. }, _))
    )
}

/// For each array whether arguments are stored in all of its elements, or it is not private.
fn filled_by_arguments(function: &Function, arrays: &[Array]) -> Vec<bool> {
    let mut elements: HashMap<ArrayId, HashSet<u64>> = HashMap::new();
    for inst in insts(function) {
        if let Op::Store(Place::Element { array, index }, values, _) = &function.inst(inst).op
            && let Some(first) = function.constant(*index)
        {
            let stored = elements.entry(*array).or_default();
            let arguments = (first..)
                .zip(values)
                .filter(|&(_, &value)| is_argument(function, value));
            stored.extend(arguments.map(|(index, _)| index));
        }
    }
    let arrays = arrays.iter().enumerate();
    arrays
        .map(|(index, array)| {
            let stored = elements.get(&ArrayId(index as u32)).map_or(0, HashSet::len);
            array.storage != ArrayStorage::Private || stored >= array.length.elements as usize
        })
        .collect()
}

fn insts(function: &Function) -> Vec<Inst> {
    let blocks = function.reverse_postorder().into_iter();
    blocks
        .flat_map(|block| function.block(block).insts.clone())
        .collect()
}

/// What an operation that exchanges bytes has shifted up.
fn exchange(function: &Function, op: &Op) -> Option<Value> {
    let &Op::Binary(Binary::Or, a, b) = op else {
        return None;
    };
    [(a, b), (b, a)].into_iter().find_map(|(high, low)| {
        let exchanges = shifts_by_a_byte(function, high, Binary::Shl, BYTE_DEPTH)
            && shifts_by_a_byte(function, low, Binary::LShr, BYTE_DEPTH);
        exchanges.then_some(high)
    })
}

/// Whether it is a narrow number with zeros above.
fn is_extended(function: &Function, value: Value, depth: u32) -> bool {
    match function.op_of(value) {
        Some(&Op::Convert(Convert::ZeroExtend, from)) => {
            function.ty(from).bits() < 32 || depth > 0 && is_extended(function, from, depth - 1)
        }
        Some(&Op::Binary(Binary::And, a, b)) if depth > 0 => [a, b].into_iter().any(|value| {
            let mask = function.constant(value).is_some_and(|mask| mask <= 0xffff);
            mask || is_extended(function, value, depth - 1)
        }),
        Some(&Op::Select(_, a, b)) if depth > 0 => [a, b]
            .into_iter()
            .any(|value| is_extended(function, value, depth - 1)),
        _ => false,
    }
}

/// Whether it is a narrow number with copies of its sign above, or a part of that.
fn is_signed(function: &Function, value: Value, depth: u32) -> bool {
    let further = |from| depth > 0 && is_signed(function, from, depth - 1);
    match function.op_of(value) {
        Some(&Op::Convert(Convert::SignExtend, from)) => {
            function.ty(from).bits() < 32 || further(from)
        }
        Some(&Op::Convert(Convert::ZeroExtend | Convert::Truncate, from)) => further(from),
        Some(&Op::Binary(Binary::AShr, _, by)) => function
            .constant(by)
            .is_some_and(|by| matches!(by, 16 | 24)),
        Some(&Op::Binary(Binary::And, a, b)) => further(a) || further(b),
        _ => false,
    }
}

/// Whether it is a word shifted by eight bits, or some bits of that.
fn shifts_by_a_byte(function: &Function, value: Value, shift: Binary, depth: u32) -> bool {
    match function.op_of(value) {
        Some(&Op::Binary(op, _, by)) if op == shift => {
            function.ty(value) == Type::I32 && function.constant(by) == Some(8)
        }
        Some(&Op::Binary(Binary::And, a, b)) if depth > 0 => [a, b]
            .into_iter()
            .any(|value| shifts_by_a_byte(function, value, shift, depth - 1)),
        _ => false,
    }
}

/// What was shifted by a byte, shifted as far without the driver knowing how far.
fn shifted_somehow(b: &mut Builder<'_>, value: Value, zero: HiddenZero) -> Value {
    match b.function.op_of(value).cloned() {
        Some(Op::Binary(Binary::And, x, y)) => {
            let [x, y] = [x, y].map(|value| {
                if shifts_by_a_byte(b.function, value, Binary::Shl, BYTE_DEPTH) {
                    shifted_somehow(b, value, zero)
                } else {
                    value
                }
            });
            b.binary(Binary::And, x, y)
        }
        Some(Op::Binary(op, shifted, by)) => {
            let by = zero.added_to(b, by);
            b.binary(op, shifted, by)
        }
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use crate::compiler::Capabilities;
    use crate::compiler::testing::count_of;
    use rspirv::spirv::Op;

    /// `OpBitwiseXor` in what a kernel becomes on a device.
    fn exclusive_ors(source: &str, device: &Capabilities) -> usize {
        let source = format!(
            "kernel void k(global ushort *s, global uint *p, uint n, uint4 m) {{ {source} }}"
        );
        count_of(Op::BitwiseXor, &source, device)
    }

    #[test]
    fn what_a_driver_misreads_is_hidden_from_it() {
        for source in [
            "s[1] = s[0] << 8 | s[0] >> 8;",
            "s[1] = rotate(s[0], (ushort)8);",
            "p[0] = popcount((uchar)p[1]);",
            "p[0] = popcount(s[0]);",
            "p[0] = popcount(s[0] ? s[0] : (ushort)0xec3f);",
            "p[0] = (uint)(char)p[1] / p[2];",
            "p[0] = p[2] % (uint)(short)s[0];",
            "((global long *)p)[1] = (long)(int)p[0] << 31;",
            "s[1] = -s[0];",
            "int c = p[1] > 5; p[0] = c ^ !upsample((short)c, (ushort)(p[2] > 7));",
            "p[0] = max(abs((int)p[1]), 7u);",
            "p[0] = max(max((int)p[1], -(int)p[2]), (int)n);",
            "p[0] = min(min(p[3] ? -(int)p[1] : 5, (int)p[2]), (int)n);",
            "p[0] = mul_hi(p[1], p[2]) + n;",
            "p[0] = mad_hi((int)p[1], (int)p[2], (int)n);",
            "ulong q = 1; for (uint i = 0; i < n; ++i) q = *(global ulong *)p / (q | p[2 + i]); p[2] = (q & 1) ? n : p[1];",
            "s[1] = *(global ulong *)p % 10;",
            "s[1] = *(global long *)p % 10;",
            "uint v = n; uint *q = p[1] ? &v : (uint *)p + s[0]; p[2] = v; p[3] = *q;",
            "uint v[4] = { get_group_id(0) }; p[0] = v[p[1] & 3];",
            "uint v[4] = { n * 3 + get_group_id(1) }; p[0] = v[p[1] & 3];",
        ] {
            assert!(
                exclusive_ors(source, &Capabilities::nvidia()) > 0,
                "{source}"
            );
            assert_eq!(exclusive_ors(source, &Capabilities::full()), 0, "{source}");
        }
    }

    #[test]
    fn a_number_of_a_condition_is_hidden_in_one_arm() {
        for source in ["p[0] = p[1] > 5;", "p[0] = p[1] > 5 ? 3 : 8;"] {
            assert_eq!(
                exclusive_ors(source, &Capabilities::nvidia()),
                1,
                "{source}"
            );
        }
    }

    #[test]
    fn whole_words_stay_as_they_are() {
        for source in [
            "p[0] = p[1] << 9 | p[1] >> 8;",
            "p[0] = popcount(p[1]);",
            "p[0] = p[1] / p[2];",
            "p[0] = (float)p[1];",
            "p[0] = -p[1];",
            "p[0] = abs((int)p[1]);",
            "p[0] = mul_hi(p[1], p[2]) & n;",
            "p[0] = *(global ulong *)p % 10;",
            "s[1] = p[0] % 10;",
            "uint v[4]; for (uint i = 0; i < p[8]; ++i) v[i & 3] = p[i]; p[9] = v[1];",
            "uint v[4]; vstore4(m, 0, v); p[0] = v[p[1] & 3];",
            "uint v[4] = { n + get_local_id(0), 5 }; p[0] = v[p[1] & 3];",
        ] {
            assert_eq!(
                exclusive_ors(source, &Capabilities::nvidia()),
                0,
                "{source}"
            );
        }
    }
}
