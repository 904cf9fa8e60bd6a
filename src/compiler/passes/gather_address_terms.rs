//! Adds up what all work-items have in common in an address before what differs.
//!
//! `p[get_global_id(0)]` is `p + ((GlobalBase + zext(id)) << 2)`: three operations on 64-bit numbers of every
//! work-item's own. `(p + (GlobalBase << 2)) + (zext(id) << 2)` is the same sum, of which a GPU with a scalar unit does
//! the first part once for a sub-group, and the second in one multiply-add. Constants come last: neighbouring elements
//! then differ in an offset that fits the access's instruction.
//!
//! Needs addresses that are 64-bit integers (`lower_pointers`) on a device that has them. The old sums stay where
//! something else uses them.

use crate::compiler::ir::{
    Binary, Block, Builder, BuiltIn, Function, InstFlags, Module, Op, Place, Rewrite, Type, Value,
    rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::SmallVec;
use std::collections::HashMap;

/// Sums of more terms stay as they are.
const MOST_TERMS: usize = 8;
/// Additions and shifts that a sum is made of at most.
const MOST_STEPS: usize = 32;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if !cx.capabilities.int64 {
        return Ok(());
    }
    for function in &mut module.functions {
        let common = Common::find(function);
        let mut gathered = Gathered::default();
        rewrite_instructions(function, |b, inst| {
            let mut op = b.function.inst(inst).op.clone();
            let (Op::Load(place, _) | Op::Store(place, ..) | Op::Atomic { place, .. }) = &mut op
            else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            if let Place::Address(address) = place
                && let Some(sum) = gathered.sum(b, &common, *address)
            {
                *address = sum;
                b.function.inst_mut(inst).op = op;
            }
            Ok(Rewrite::Keep)
        })?;
    }
    Ok(())
}

/// The values that are the same in all work-items of a work-group, as far as is easily seen.
struct Common(Vec<bool>);

impl Common {
    fn find(function: &Function) -> Self {
        let mut common = Self(vec![false; function.value_count()]);
        for &block in &function.layout {
            for &inst in &function.block(block).insts {
                let data = function.inst(inst);
                if common.is_made_by(&data.op) {
                    data.results
                        .iter()
                        .for_each(|it| common.0[it.index()] = true);
                }
            }
        }
        common
    }

    fn is_made_by(&self, op: &Op) -> bool {
        let repeats = match op {
            Op::BuiltIn(input) => return matches!(input, BuiltIn::WorkgroupId(_)),
            Op::WorkItem(_) | Op::VariableAddress(_) | Op::Undef => false,
            Op::Load(Place::Address(_), access) => access.read_only && !access.volatile,
            op => op.is_pure(),
        };
        repeats && op.operands().iter().all(|it| self.has(*it))
    }

    fn has(&self, value: Value) -> bool {
        self.0.get(value.index()).copied().unwrap_or(false)
    }
}

/// A sum of values, each times a factor, modulo 2^64.
#[derive(Default)]
struct Sum {
    terms: SmallVec<[(Value, u64); MOST_TERMS]>,
    constant: u64,
    steps: usize,
}

impl Sum {
    /// Takes `factor * value` apart. `None` if that becomes too much.
    fn add(&mut self, function: &Function, value: Value, factor: u64) -> Option<()> {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return None;
        }
        let constant = |value| function.constant(value);
        match function.op_of(value) {
            Some(Op::Const(bits)) => {
                self.constant = self.constant.wrapping_add(bits.wrapping_mul(factor));
            }
            Some(&Op::Binary(Binary::Add, x, y)) => {
                self.add(function, x, factor)?;
                self.add(function, y, factor)?;
            }
            Some(&Op::Binary(Binary::Shl, x, by)) if constant(by).is_some_and(|by| by < 64) => {
                self.add(function, x, factor << constant(by)?)?;
            }
            Some(&Op::Binary(Binary::Mul, x, by)) if constant(by).is_some() => {
                self.add(function, x, factor.wrapping_mul(constant(by)?))?;
            }
            _ if self.terms.len() < MOST_TERMS => self.terms.push((value, factor)),
            _ => return None,
        }
        Some(())
    }

    /// Those of `terms` that `wanted` takes, added up.
    fn build(&self, b: &mut Builder<'_>, wanted: impl Fn(Value) -> bool) -> Option<Value> {
        let mut left: SmallVec<[(Value, u64); MOST_TERMS]> = self.terms.clone();
        left.retain(|(value, _)| wanted(*value));
        let mut sum = None;
        while let Some(&(first, factor)) = left.first() {
            let of_factor = left.iter().filter(|(_, it)| *it == factor).skip(1);
            let product = of_factor.fold(first, |sum, (it, _)| b.binary(Binary::Add, sum, *it));
            left.retain(|(_, it)| *it != factor);
            let product = times(b, product, factor);
            sum = Some(match sum {
                Some(sum) => b.binary(Binary::Add, sum, product),
                None => product,
            });
        }
        sum
    }
}

fn times(b: &mut Builder<'_>, value: Value, factor: u64) -> Value {
    match factor {
        1 => value,
        factor if factor.is_power_of_two() => {
            b.binary_const(Binary::Shl, value, factor.trailing_zeros().into())
        }
        factor => b.binary_const(Binary::Mul, value, factor),
    }
}

/// What addresses became in the block so far.
#[derive(Default)]
struct Gathered {
    block: Option<Block>,
    known: HashMap<Value, Option<Value>>,
}

impl Gathered {
    /// The address as another sum, where that is better.
    fn sum(&mut self, b: &mut Builder<'_>, common: &Common, address: Value) -> Option<Value> {
        if self.block.replace(b.block()) != Some(b.block()) {
            self.known.clear();
        }
        if let Some(&known) = self.known.get(&address) {
            return known;
        }
        let sum = gathered(b, common, address);
        self.known.insert(address, sum);
        sum
    }
}

fn gathered(b: &mut Builder<'_>, common: &Common, address: Value) -> Option<Value> {
    if b.ty(address) != Type::I64 || common.has(address) {
        return None;
    }
    let mut sum = Sum::default();
    sum.add(b.function, address, 1)?;
    let shared = sum.terms.iter().filter(|(it, _)| common.has(*it)).count();
    if shared < 2 {
        return None;
    }
    b.flags = InstFlags::default();
    let start = sum.build(b, |it| common.has(it))?;
    let own = sum.build(b, |it| !common.has(it))?;
    let whole = b.binary(Binary::Add, start, own);
    Some(match sum.constant {
        0 => whole,
        constant => b.binary_const(Binary::Add, whole, constant),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Access, Convert, FuncId, Terminator};
    use crate::compiler::passes::testing;
    use crate::compiler::program::Implicit;
    use smallvec::smallvec;

    /// What a function of an argument, a value of the work-item's own and a common one loads from.
    struct Addresses(Module);

    impl Addresses {
        fn gathered(
            capabilities: &Capabilities,
            build: impl FnOnce(&mut Builder<'_>, [Value; 3]) -> Value,
        ) -> Self {
            let mut function = Function::new("k");
            let entry = function.entry();
            let mut b = Builder::new(&mut function, entry);
            let load = Op::Load(Place::Argument { offset_bytes: 0 }, Access::aligned(8));
            let pointer = b.op1(load, Type::I64);
            let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
            let id = b.convert(Convert::ZeroExtend, id, Type::I64);
            let base = b.op1(Op::Implicit(Implicit::GlobalBase(0)), Type::I64);
            let address = build(&mut b, [pointer, id, base]);
            let load = Op::Load(Place::Address(address), Access::aligned(4));
            b.op1(load, Type::I32);
            b.terminate(Terminator::Return(smallvec![]));
            let mut module = testing::module_of(function);
            testing::run_on(&mut module, capabilities, run).unwrap();
            Self(module)
        }

        /// The address as text: p, i and b are the three.
        fn text(&self) -> String {
            let function = &self.0.functions[0];
            let insts = &function.block(function.entry()).insts;
            let Some(Op::Load(Place::Address(address), _)) =
                insts.last().map(|it| &function.inst(*it).op)
            else {
                panic!("the load is last");
            };
            say(function, *address)
        }
    }

    fn say(function: &Function, value: Value) -> String {
        match function.op_of(value).unwrap() {
            Op::Const(bits) => bits.to_string(),
            Op::Load(..) => "p".into(),
            Op::Implicit(_) => "b".into(),
            Op::Convert(..) => "i".into(),
            Op::Binary(op, x, y) => {
                let sign = match op {
                    Binary::Add => "+",
                    Binary::Shl => "<<",
                    Binary::Mul => "*",
                    _ => "?",
                };
                format!("({} {sign} {})", say(function, *x), say(function, *y))
            }
            op => panic!("{op:?}"),
        }
    }

    fn gathered_text(build: impl FnOnce(&mut Builder<'_>, [Value; 3]) -> Value) -> String {
        Addresses::gathered(&Capabilities::full(), build).text()
    }

    fn element(b: &mut Builder<'_>, [pointer, id, base]: [Value; 3]) -> Value {
        let id = b.binary(Binary::Add, id, base);
        let offset = b.binary_const(Binary::Shl, id, 2);
        b.binary(Binary::Add, offset, pointer)
    }

    #[test]
    fn what_is_common_is_added_up_first() {
        assert_eq!(gathered_text(element), "(((b << 2) + p) + (i << 2))");
    }

    #[test]
    fn constants_come_last() {
        let text = gathered_text(|b, [pointer, id, base]| {
            let next = b.binary_const(Binary::Add, base, 5);
            let id = b.binary(Binary::Add, next, id);
            let offset = b.binary_const(Binary::Mul, id, 12);
            b.binary(Binary::Add, pointer, offset)
        });
        assert_eq!(text, "(((p + (b * 12)) + (i * 12)) + 60)");
    }

    #[test]
    fn terms_of_one_factor_are_multiplied_together() {
        let text = gathered_text(|b, [pointer, id, base]| {
            let square = b.binary(Binary::Mul, id, id);
            let sum = b.binary(Binary::Add, square, base);
            let sum = b.binary(Binary::Add, sum, id);
            let offset = b.binary_const(Binary::Shl, sum, 3);
            b.binary(Binary::Add, pointer, offset)
        });
        assert_eq!(text, "((p + (b << 3)) + (((i * i) + i) << 3))");
    }

    #[test]
    fn one_common_term_is_enough_where_it_is() {
        let build = |b: &mut Builder<'_>, [pointer, id, _]: [Value; 3]| {
            let offset = b.binary_const(Binary::Shl, id, 2);
            b.binary(Binary::Add, offset, pointer)
        };
        assert_eq!(gathered_text(build), "((i << 2) + p)");
    }

    #[test]
    fn a_device_without_64_bits_keeps_its_sums() {
        let narrow = Addresses::gathered(&Capabilities::minimal(), element);
        assert_eq!(narrow.text(), "(((i + b) << 2) + p)");
    }

    /// Sixty-four doublings would be 2^64 terms.
    #[test]
    fn a_sum_without_end_is_left() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let [own, common] = [0, 1].map(|_| function.add_param(entry, Type::I64));
        let mut b = Builder::new(&mut function, entry);
        let start = b.binary(Binary::Add, own, common);
        let sum = (0..64).fold(start, |it, _| b.binary(Binary::Add, it, it));
        let mut known = Common(vec![false; b.function.value_count()]);
        known.0[common.index()] = true;
        assert_eq!(gathered(&mut b, &known, sum), None);
    }

    /// Random sums of three parameters, of which the first two count as common.
    #[test]
    fn the_sum_stays_the_same() {
        let mut state = 7_u64;
        let mut random = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        let mut changed = 0;
        for _ in 0..500 {
            let mut function = Function::new("f");
            let entry = function.entry();
            let params: Vec<Value> = (0..4)
                .map(|_| function.add_param(entry, Type::I64))
                .collect();
            let mut b = Builder::new(&mut function, entry);
            let mut values = params.clone();
            for _ in 0..1 + random(8) {
                let x = values[values.len() - 1];
                let y = values[random(values.len() as u64) as usize];
                values.push(match random(4) {
                    0 => b.binary_const(Binary::Shl, x, random(64)),
                    1 => b.binary_const(Binary::Mul, x, random(100)),
                    2 => b.binary_const(Binary::Add, x, random(1 << 20)),
                    _ => b.binary(Binary::Add, x, y),
                });
            }
            let address = values[values.len() - 1];
            let mut common = Common(vec![false; b.function.value_count()]);
            params[..3]
                .iter()
                .for_each(|it| common.0[it.index()] = true);
            let sum = gathered(&mut b, &common, address);
            changed += u32::from(sum.is_some());
            let sum = sum.unwrap_or(address);
            b.terminate(Terminator::Return(smallvec![address, sum]));
            function.return_types = vec![Type::I64; 2];
            let module = testing::module_of(function);
            let args = [0, 1, 2, 3].map(|_| random(u64::MAX) << 31 ^ random(u64::MAX));
            let results = Interpreter::new(&module).run(FuncId(0), &args).unwrap();
            assert_eq!(results[0], results[1]);
        }
        assert!(changed > 50, "{changed}");
    }
}
