//! Adds up an address so that what all work-items of a work-group share comes first.
//!
//! **Why.** `in[get_global_id(0)]` is `((zero_extend(local_id) + start) << 2) + in`, and with two such arrays each
//! work-item makes two sums of 64 bits. Of those a GPU can make `in + (start << 2)` once for a whole sub-group, on its
//! scalar unit, and then access memory at that address plus a number of 32 bits. NVIDIA's driver (580.159.04) does so
//! only where the sum says it: a sub-group's reduction of an array reached 0.98 of the bandwidth before, 1.00 since.
//!
//! **How.** The sum behind an address is taken apart, through additions and products by constants. First comes the sum of
//! what is made of arguments and the work-group's place alone, then that of small numbers, in 32 bits, then all
//! else, and constants last, so that neighbouring elements share all but these.
//!
//! **Needs** pointers lowered and 64-bit integers. For devices that run a work-item as a thread
//! ([`crate::compiler::Capabilities::serial_memory`]): others have no scalar unit. `simplify` then finds equal parts.

use crate::compiler::analysis::KnownBits;
use crate::compiler::ir::{
    Binary, Builder, BuiltIn, Convert, Function, InstFlags, Module, Op, Place, Rewrite, Type,
    Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::SmallVec;

/// How deep a sum is followed.
const DEPTH: u32 = 12;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let caps = cx.capabilities;
    if caps.serial_memory || !caps.int64 {
        return Ok(());
    }
    let local_sizes = module.most_local_sizes();
    for function in &mut module.functions {
        let shared = Shared::of(function);
        rewrite_instructions(function, |b, inst| {
            b.flags = InstFlags::default();
            if let Some(address) = address_of(&b.function.inst(inst).op)
                && let Some(sum) = Sum::of(b.function, &shared, local_sizes, address)
            {
                let split = sum.build(b);
                if let Some(address) = place_mut(&mut b.function.inst_mut(inst).op) {
                    *address = Place::Address(split);
                }
            }
            Ok::<_, CompileError>(Rewrite::Keep)
        })?;
    }
    Ok(())
}

fn address_of(op: &Op) -> Option<Value> {
    match *op {
        Op::Load(Place::Address(address), _)
        | Op::Store(Place::Address(address), ..)
        | Op::Atomic {
            place: Place::Address(address),
            ..
        } => Some(address),
        _ => None,
    }
}

fn place_mut(op: &mut Op) -> Option<&mut Place> {
    match op {
        Op::Load(place, _) | Op::Store(place, ..) | Op::Atomic { place, .. } => Some(place),
        _ => None,
    }
}

/// By value: whether it is made of nothing but arguments and the work-group's place.
struct Shared(Vec<bool>);

impl Shared {
    fn of(function: &Function) -> Self {
        let mut this = Self(vec![false; function.value_count()]);
        // A block comes after those that dominate it.
        for block in function.reverse_postorder() {
            for &inst in &function.block(block).insts {
                let data = function.inst(inst);
                if this.is_made_of_shared(&data.op) {
                    for result in &data.results {
                        this.0[result.index()] = true;
                    }
                }
            }
        }
        this
    }

    fn is_made_of_shared(&self, op: &Op) -> bool {
        match *op {
            Op::Const(_)
            | Op::SpecConst { .. }
            | Op::Load(Place::Argument { .. }, _)
            | Op::BuiltIn(BuiltIn::WorkgroupId(_) | BuiltIn::NumWorkgroups(_)) => true,
            Op::Unary(_, a) | Op::Convert(_, a) => self.has(a),
            Op::Binary(_, a, b) | Op::Compare(_, a, b) => self.has(a) && self.has(b),
            Op::Select(condition, a, b) => [condition, a, b].into_iter().all(|it| self.has(it)),
            _ => false,
        }
    }

    /// Not known of values that are newer.
    fn has(&self, value: Value) -> bool {
        self.0.get(value.index()) == Some(&true)
    }
}

/// A number and what it is multiplied by.
type Term = (Value, u64);
type Terms = SmallVec<[Term; 4]>;

/// An address, modulo 2⁶⁴.
#[derive(Default)]
struct Sum {
    /// The same for all work-items of a work-group.
    shared: Terms,
    /// Numbers of 32 bits, whose sum has no more.
    small: Terms,
    other: Terms,
    constant: u64,
}

impl Sum {
    /// The parts of an address, unless they are added in this order already.
    fn of(
        function: &Function,
        shared: &Shared,
        local_sizes: [u32; 3],
        address: Value,
    ) -> Option<Self> {
        if shared.has(address) {
            return None;
        }
        let mut sum = Self::default();
        let mut own = Terms::new();
        sum.add(function, shared, (address, 1), &mut own, DEPTH);
        let mut left = u64::from(u32::MAX);
        for (value, factor) in own {
            let most = match function.op_of(value) {
                Some(&Op::Convert(Convert::ZeroExtend, word)) => Some(word)
                    .filter(|&word| function.ty(word) == Type::I32)
                    .map(|word| (word, KnownBits::of(function, local_sizes, word).most)),
                _ => None,
            };
            let fits = most.and_then(|(word, most)| {
                left = left.checked_sub(most.checked_mul(factor)?)?;
                Some(word)
            });
            match fits {
                Some(word) => sum.small.push((word, factor)),
                None => sum.other.push((value, factor)),
            }
        }
        let is_one = matches!(*sum.shared, [(_, 1)]);
        let is_split = is_one && sum.small.is_empty() && sum.constant == 0;
        (!sum.shared.is_empty() && !is_split).then_some(sum)
    }

    fn add(
        &mut self,
        function: &Function,
        shared: &Shared,
        (value, factor): Term,
        own: &mut Terms,
        depth: u32,
    ) {
        let mut add = |value, factor| {
            self.add(function, shared, (value, factor), own, depth - 1);
        };
        match function.op_of(value) {
            Some(&Op::Const(bits)) => {
                self.constant = self.constant.wrapping_add(bits.wrapping_mul(factor));
            }
            Some(&Op::Binary(Binary::Add, a, b)) if depth > 0 => {
                add(a, factor);
                add(b, factor);
            }
            Some(&Op::Binary(Binary::Shl, a, by))
                if depth > 0 && function.constant(by).is_some_and(|by| by < 64) =>
            {
                let by = function.constant(by).unwrap_or(0);
                add(a, factor << by);
            }
            Some(&Op::Binary(Binary::Mul, a, by))
                if depth > 0 && function.constant(by).is_some() =>
            {
                let by = function.constant(by).unwrap_or(0);
                add(a, factor.wrapping_mul(by));
            }
            _ if shared.has(value) => self.shared.push((value, factor)),
            _ => own.push((value, factor)),
        }
    }

    /// The address, added up anew.
    fn build(&self, b: &mut Builder<'_>) -> Value {
        let small =
            total(b, &self.small).map(|small| b.convert(Convert::ZeroExtend, small, Type::I64));
        let parts = [total(b, &self.shared), small, total(b, &self.other)];
        let sum = parts
            .into_iter()
            .flatten()
            .reduce(|sum, part| b.binary(Binary::Add, sum, part));
        match sum {
            Some(sum) if self.constant == 0 => sum,
            Some(sum) => b.binary_const(Binary::Add, sum, self.constant),
            None => b.i64(self.constant),
        }
    }
}

/// The sum of the terms; those with the same factor are added before they are multiplied.
fn total(b: &mut Builder<'_>, terms: &[Term]) -> Option<Value> {
    let mut by_factor: SmallVec<[Term; 4]> = SmallVec::new();
    for &(value, factor) in terms {
        match by_factor.iter_mut().find(|(_, known)| *known == factor) {
            Some((sum, _)) => *sum = b.binary(Binary::Add, *sum, value),
            None => by_factor.push((value, factor)),
        }
    }
    let mut sum = None;
    for (value, factor) in by_factor {
        let part = match factor {
            1 => value,
            _ => b.binary_const(Binary::Mul, value, factor),
        };
        sum = Some(match sum {
            Some(sum) => b.binary(Binary::Add, sum, part),
            None => part,
        });
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::{Access, FuncId, Terminator};
    use crate::compiler::passes::legal_evaluator::{Evaluator, Random, module_of};
    use crate::compiler::passes::testing;
    use smallvec::smallvec;

    /// A kernel that stores to an address made of `local_id`, the group's `start` and an `array`.
    fn stores(address: impl FnOnce(&mut Builder<'_>, [Value; 3]) -> Value) -> String {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let local_id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let group = b.op1(Op::BuiltIn(BuiltIn::WorkgroupId(0)), Type::I32);
        let start = b.convert(Convert::ZeroExtend, group, Type::I64);
        let argument = Place::Argument { offset_bytes: 0 };
        let array = b.load1(argument, Type::I64, Access::aligned(8));
        let address = address(&mut b, [local_id, start, array]);
        b.store1(Place::Address(address), local_id, Access::aligned(4));
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        testing::run(&mut module, run).unwrap();
        testing::run(&mut module, crate::compiler::passes::simplify::run).unwrap();
        module.functions[0].to_string()
    }

    /// What `address` becomes is `((array + (start << 2)) + zero_extend(local_id << 2)) + constant`.
    fn assert_is_split(text: &str, constant: bool) {
        let count = |part: &str| text.matches(part).count();
        assert_eq!(count(": i32 = shl %0, "), 1, "{text}");
        assert_eq!(count(": i64 = shl %2, "), 1, "{text}");
        assert_eq!(count(": i64 = zero_extend "), 2, "{text}");
        assert_eq!(count(": i64 = add "), 2 + usize::from(constant), "{text}");
    }

    #[test]
    fn what_a_group_shares_comes_first_and_the_local_id_is_small() {
        for constant in [0, 1] {
            let text = stores(|b, [local_id, start, array]| {
                let id = b.convert(Convert::ZeroExtend, local_id, Type::I64);
                let id = b.binary(Binary::Add, id, start);
                let next = b.binary_const(Binary::Add, id, constant);
                let offset = b.binary_const(Binary::Shl, next, 2);
                b.binary(Binary::Add, offset, array)
            });
            assert_is_split(&text, constant != 0);
        }
    }

    /// `array[(int)get_global_id(0)]`: the sum may wrap around, and is one number.
    #[test]
    fn a_sum_of_32_bits_stays_whole() {
        let text = stores(|b, [local_id, start, array]| {
            let start = b.convert(Convert::Truncate, start, Type::I32);
            let id = b.binary(Binary::Add, local_id, start);
            let id = b.convert(Convert::SignExtend, id, Type::I64);
            let offset = b.binary_const(Binary::Shl, id, 2);
            b.binary(Binary::Add, offset, array)
        });
        assert_eq!(text.matches(": i32 = add %0, %1").count(), 1, "{text}");
        assert_eq!(text.matches(": i64 = shl ").count(), 1, "{text}");
        assert_eq!(text.matches(": i64 = add ").count(), 1, "{text}");
    }

    #[test]
    fn a_device_without_a_scalar_unit_is_left_alone() {
        let mut capabilities = Capabilities::full();
        capabilities.serial_memory = true;
        let mut module = testing::module_of(Function::new("k"));
        let function = &mut module.functions[0];
        let entry = function.entry();
        let mut b = Builder::new(function, entry);
        let local_id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let group = b.op1(Op::BuiltIn(BuiltIn::WorkgroupId(0)), Type::I32);
        let [id, start] = [local_id, group].map(|it| b.convert(Convert::ZeroExtend, it, Type::I64));
        let sum = b.binary(Binary::Add, id, start);
        let address = b.binary_const(Binary::Shl, sum, 2);
        b.store1(Place::Address(address), local_id, Access::aligned(4));
        b.terminate(Terminator::Return(smallvec![]));
        let before = module.functions[0].to_string();
        testing::run_on(&mut module, &capabilities, run).unwrap();
        assert_eq!(module.functions[0].to_string(), before);
        testing::run(&mut module, run).unwrap();
        assert_ne!(module.functions[0].to_string(), before);
    }

    /// A sum of parameters, some of them at most 16 bits, multiplied and added up at random.
    fn random_sum(b: &mut Builder<'_>, params: &[Value], random: &mut Random, depth: u32) -> Value {
        let kind = match depth {
            0 => random.next() % 3,
            _ => random.next() % 6,
        };
        let param = params[random.next() as usize % params.len()];
        match kind {
            0 => param,
            1 => {
                let word = b.convert(Convert::Truncate, param, Type::I32);
                b.convert(Convert::ZeroExtend, word, Type::I64)
            }
            2 => {
                let word = b.convert(Convert::Truncate, param, Type::I32);
                let small = b.binary_const(Binary::And, word, 0xffff);
                b.convert(Convert::ZeroExtend, small, Type::I64)
            }
            3 => {
                let term = random_sum(b, params, random, depth - 1);
                b.binary_const(Binary::Shl, term, random.next() % 20)
            }
            4 => {
                let term = random_sum(b, params, random, depth - 1);
                let factor = random.number();
                b.binary_const(Binary::Mul, term, factor)
            }
            _ => {
                let [x, y] = [0; 2].map(|_| random_sum(b, params, random, depth - 1));
                let sum = b.binary(Binary::Add, x, y);
                b.binary_const(Binary::Add, sum, random.next() % 3)
            }
        }
    }

    #[test]
    fn the_sum_stays_the_same() {
        let mut random = Random(1);
        let mut split = 0;
        for _ in 0..2000 {
            let module = module_of(&[Type::I64; 4], |b, params| {
                let sum = random_sum(b, params, &mut random, 5);
                let mut shared = Shared::of(b.function);
                // As if the first two were arguments.
                for param in &params[..2] {
                    shared.0[param.index()] = true;
                }
                match Sum::of(b.function, &shared, [64; 3], sum) {
                    Some(parts) => {
                        split += 1;
                        smallvec![sum, parts.build(b)]
                    }
                    None => smallvec![sum, sum],
                }
            });
            for _ in 0..20 {
                let args = [0; 4].map(|_| random.number());
                let results = Evaluator::new(&module).call(FuncId(0), &args);
                assert_eq!(results[0], results[1], "{}", module.functions[0]);
            }
        }
        assert!(split > 100, "{split}");
    }
}
