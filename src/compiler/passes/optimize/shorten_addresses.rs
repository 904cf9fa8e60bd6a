//! Computes places in arrays in 32 bits where the range of the launch is small.
//!
//! **Why.** `in[get_global_id(0)]` is `in + ((base + zero_extend(group * size + local)) << 2)`: three operations of 64
//! bits, of which hardware makes two each, one after the other, before memory is asked for anything. But nearly every
//! launch begins at 0 and has far fewer than 2³² work-items. Then the base is gone and `(group * size + local) << 2` fits
//! 32 bits, which GPUs add to a pointer of the scalar unit as part of the access. A sub-group's reduction of an array
//! reached 0.98 of the bandwidth of plain Vulkan on NVIDIA's driver (580.159.04) before.
//!
//! **How.** A specialization constant tells what the launch is like (`CompiledKernel::small_range_spec_id`): the driver
//! keeps one of the two.
//!
//! - The base is 0 if the range is small.
//! - The sum behind an address is taken apart, through additions and products by constants. Where the range being small
//!   bounds terms so that their sum has 32 bits, the address is chosen of the sum as it is, and of the sum with these
//!   terms added up in 32 bits.
//!
//! **Needs** pointers lowered and 64-bit integers, and arguments in push constants. Arguments in memory are those of
//! launches that are updated in place, with pipelines that stay.

use crate::compiler::analysis::{Affine, KnownBits, MadeOfArguments, Terms};
use crate::compiler::ir::{
    Binary, Block, Builder, BuiltIn, Compare, Convert, Function, InstFlags, Kernel, Module, Op,
    Place, Rewrite, Type, Value, rewrite_instructions,
};
use crate::compiler::program::{Implicit, Placement, SMALL_RANGE};
use crate::compiler::{CompileError, Context};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;
use std::convert::Infallible;

use crate::compiler::passes::lower::arguments::at_entry;
use crate::compiler::passes::lower::arguments::spec_ids::free_spec_id;

/// How deep a sum is followed.
const DEPTH: u32 = 12;

/// Runs the pass on the module's kernel.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let [kernel] = module.kernels.as_slice() else {
        return Ok(());
    };
    let bases = bases(kernel);
    if bases.is_empty() || !cx.capabilities.int64 {
        return Ok(());
    }
    let spec_id = free_spec_id(kernel);
    let range = SmallRange {
        bases,
        required: kernel.attributes.required_work_group_size,
        local_sizes: module.most_local_sizes(),
    };
    for function in &mut module.functions {
        let is_small = at_entry(function, |b| {
            let id = spec_id;
            let told = b.op1(Op::SpecConst { id, default: 0 }, Type::I32);
            let no = b.i32(0);
            b.compare(Compare::NotEqual, told, no)
        });
        shorten(function, &range, is_small);
        choose_bases(function, &range, is_small);
    }
    module.kernels[0].small_range_spec_id = Some(spec_id);
    Ok(())
}

/// Offsets in the push constants of the words that are 0 if the range is small.
fn bases(kernel: &Kernel) -> SmallVec<[u32; 6]> {
    let block = &kernel.argument_block;
    if block.placement != Placement::PushConstants {
        return SmallVec::new();
    }
    let bases = block
        .implicit
        .iter()
        .filter(|(implicit, _)| matches!(implicit, Implicit::GlobalBase(_)));
    bases
        .flat_map(|&(_, offset)| [offset, offset + 4])
        .collect()
}

/// Chooses between each address and a shorter way to it.
fn shorten(function: &mut Function, range: &SmallRange, is_small: Value) {
    let made = MadeOfArguments::new(function);
    // What was chosen in the block.
    let mut chosen: HashMap<(Block, Value), Option<Value>> = HashMap::new();
    let Ok(_) = rewrite_instructions(function, |b, inst| {
        b.flags = InstFlags::default();
        if let Some(Place::Address(address)) = b.function.inst(inst).op.place() {
            let choice = *chosen.entry((b.block(), address)).or_insert_with(|| {
                let short = ShortSum::of(b.function, range, &made, address)?.build(b);
                Some(b.select(is_small, short, address))
            });
            if let (Some(choice), Some(place)) = (choice, b.function.inst_mut(inst).op.place_mut())
            {
                *place = Place::Address(choice);
            }
        }
        Ok::<_, Infallible>(Rewrite::Keep)
    });
}

/// Has the bases be 0 if the range is small.
fn choose_bases(function: &mut Function, range: &SmallRange, is_small: Value) {
    let Ok(_) = rewrite_instructions(function, |b, inst| {
        let data = b.function.inst(inst);
        let Op::Load(place @ Place::Argument { offset_bytes }, access) = data.op else {
            return Ok::<_, Infallible>(Rewrite::Keep);
        };
        let is_word = matches!(*data.results, [word] if b.ty(word) == Type::I32);
        if !is_word || !range.bases.contains(&offset_bytes) {
            return Ok(Rewrite::Keep);
        }
        b.flags = InstFlags::default();
        let base = b.load1(place, Type::I32, access);
        let zero = b.i32(0);
        let base = b.select(is_small, zero, base);
        Ok(Rewrite::Replace(smallvec![base]))
    });
}

/// What is known of a small range.
struct SmallRange {
    /// Offsets of the words of the argument block that are 0.
    bases: SmallVec<[u32; 6]>,
    required: Option<[u32; 3]>,
    local_sizes: [u32; 3],
}

impl SmallRange {
    /// The most that an integer is.
    fn most(&self, function: &Function, value: Value) -> u64 {
        let bound = |value| self.bound(function, value);
        KnownBits::assuming(function, self.local_sizes, value, &bound).most
    }

    /// The most that an integer is by itself, not by what it is made of.
    fn bound(&self, function: &Function, value: Value) -> Option<u64> {
        let below_the_range = Some(u64::from(SMALL_RANGE - 1));
        match *function.op_of(value)? {
            Op::Load(Place::Argument { offset_bytes }, _) => {
                self.bases.contains(&offset_bytes).then_some(0)
            }
            Op::BuiltIn(BuiltIn::WorkgroupId(_)) => below_the_range,
            Op::Binary(Binary::Mul, a, b) => {
                let is_start = self.is_start(function, a, b) || self.is_start(function, b, a);
                is_start.then_some(below_the_range)?
            }
            Op::Binary(Binary::Shl, a, by) => {
                let by = function.constant(by)?;
                let dimension = group_dimension(function, a)?;
                let size = u64::from(*self.required?.get(dimension)?);
                (1u64.checked_shl(by as u32) == Some(size)).then_some(below_the_range)?
            }
            _ => None,
        }
    }

    /// Whether the product is the global id of a work-group's first work-item.
    fn is_start(&self, function: &Function, group: Value, size: Value) -> bool {
        let Some(dimension) = group_dimension(function, group) else {
            return false;
        };
        match function.op_of(size) {
            Some(&Op::SpecConst { id, .. }) => id as usize == dimension,
            Some(&Op::Const(bits)) => self
                .required
                .and_then(|sizes| sizes.get(dimension).copied())
                .is_some_and(|size| u64::from(size) == bits),
            _ => false,
        }
    }
}

/// The dimension of a work-group's place.
fn group_dimension(function: &Function, value: Value) -> Option<usize> {
    match function.op_of(value) {
        Some(&Op::BuiltIn(BuiltIn::WorkgroupId(dimension))) => Some(usize::from(dimension)),
        _ => None,
    }
}

/// An address, modulo 2⁶⁴, if the range is small.
#[derive(Default)]
struct ShortSum {
    /// Made of arguments alone.
    arguments: Terms,
    /// Terms of any integer type whose sum fits 32 bits.
    short: Terms,
    other: Terms,
    constant: u64,
}

impl ShortSum {
    /// The parts of an address, where that the range is small makes any of them shorter.
    fn of(
        function: &Function,
        range: &SmallRange,
        made: &MadeOfArguments,
        address: Value,
    ) -> Option<Self> {
        let Affine { terms, constant } = Affine::of(function, address, DEPTH);
        let mut sum = Self {
            constant,
            ..Self::default()
        };
        let mut gains = false;
        let mut left = u64::from(u32::MAX);
        for (value, factor) in terms {
            let most = range.most(function, value);
            if most == 0 {
                continue;
            }
            let rest = most
                .checked_mul(factor)
                .and_then(|most| left.checked_sub(most));
            match rest {
                Some(rest) => {
                    left = rest;
                    let known = KnownBits::of(function, range.local_sizes, value).most;
                    gains |= known
                        .checked_mul(factor)
                        .is_none_or(|known| known > u64::from(u32::MAX));
                    sum.short.push((value, factor));
                }
                None if made.contains(value) => sum.arguments.push((value, factor)),
                None => sum.other.push((value, factor)),
            }
        }
        gains.then_some(sum)
    }

    /// The address, added up anew: what work-items share first, and constants last.
    fn build(&self, b: &mut Builder<'_>) -> Value {
        let short: Terms = self
            .short
            .iter()
            .map(|&(value, factor)| (word(b, value), factor))
            .collect();
        let short = total(b, &short).map(|sum| b.convert(Convert::ZeroExtend, sum, Type::I64));
        let parts = [total(b, &self.arguments), short, total(b, &self.other)];
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

/// An integer below 2³² in 32 bits.
fn word(b: &mut Builder<'_>, value: Value) -> Value {
    match b.function.op_of(value) {
        Some(&Op::Convert(Convert::ZeroExtend | Convert::SignExtend, from))
            if b.ty(from) == Type::I32 =>
        {
            from
        }
        _ => b.resize_int(value, Type::I32, false),
    }
}

/// The sum of the terms; those with the same factor are added before they are multiplied.
fn total(b: &mut Builder<'_>, terms: &[(Value, u64)]) -> Option<Value> {
    let mut by_factor: Terms = Terms::new();
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
            _ if factor.is_power_of_two() => {
                b.binary_const(Binary::Shl, value, factor.trailing_zeros().into())
            }
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
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Access, FuncId, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::program::{ArgumentBlock, ArgumentKind};
    use crate::compiler::testing::Random;

    const BASE: u32 = 8;

    fn small_range() -> SmallRange {
        SmallRange {
            bases: smallvec![BASE, BASE + 4],
            required: Some([64, 1, 1]),
            local_sizes: [64, 1, 1],
        }
    }

    /// The address of an array, the base and the rest of the global id.
    struct Parts {
        array: Value,
        base: Value,
        within: Value,
    }

    fn parts(b: &mut Builder<'_>) -> Parts {
        let long = |b: &mut Builder<'_>, offset: u32| {
            let words = [offset, offset + 4].map(|offset_bytes| {
                let place = Place::Argument { offset_bytes };
                let word = b.load1(place, Type::I32, Access::aligned(4));
                b.convert(Convert::ZeroExtend, word, Type::I64)
            });
            let high = b.binary_const(Binary::Shl, words[1], 32);
            b.binary(Binary::Or, words[0], high)
        };
        let (array, base) = (long(b, 0), long(b, BASE));
        let group = b.op1(Op::BuiltIn(BuiltIn::WorkgroupId(0)), Type::I32);
        let local = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        let start = b.binary_const(Binary::Shl, group, 6);
        Parts {
            array,
            base,
            within: b.binary(Binary::Add, local, start),
        }
    }

    fn global_id(b: &mut Builder<'_>, parts: &Parts) -> Value {
        let within = b.convert(Convert::ZeroExtend, parts.within, Type::I64);
        b.binary(Binary::Add, within, parts.base)
    }

    fn kernel_of(build: impl FnOnce(&mut Builder<'_>)) -> Module {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        build(&mut b);
        if matches!(function.block(entry).terminator, Terminator::Unreachable) {
            Builder::new(&mut function, entry).terminate(Terminator::Return(smallvec![]));
        }
        let mut module = testing::module_of(function);
        module.kernels[0].attributes.required_work_group_size = Some([64, 1, 1]);
        module.kernels[0].argument_block = ArgumentBlock {
            size_bytes: 16,
            placement: Placement::PushConstants,
            implicit: vec![(Implicit::GlobalBase(0), BASE)],
        };
        module
    }

    fn stores(b: &mut Builder<'_>, element: impl FnOnce(&mut Builder<'_>, Value) -> Value) {
        let parts = parts(b);
        let id = global_id(b, &parts);
        let offset = element(b, id);
        let address = b.binary(Binary::Add, offset, parts.array);
        b.store1(Place::Address(address), parts.within, Access::aligned(4));
    }

    #[test]
    fn the_place_in_a_small_range_takes_32_bits() {
        let mut module = kernel_of(|b| stores(b, |b, id| b.binary_const(Binary::Shl, id, 2)));
        testing::run(&mut module, run).unwrap();
        testing::run(
            &mut module,
            crate::compiler::passes::optimize::simplify::run,
        )
        .unwrap();
        assert_eq!(module.kernels[0].small_range_spec_id, Some(3));
        let text = module.functions[0].to_string();
        // `array + zero_extend((local + group * 64) << 2)`, and the two words of the base.
        assert_eq!(text.matches(": i64 = select ").count(), 1, "{text}");
        assert_eq!(text.matches(": i32 = select ").count(), 2, "{text}");
        assert!(
            text.contains(": i32 = mul ") || text.contains(": i32 = shl "),
            "{text}"
        );
    }

    #[test]
    fn elements_too_large_and_other_memory_stay() {
        let mut module = kernel_of(|b| stores(b, |b, id| b.binary_const(Binary::Shl, id, 6)));
        testing::run(&mut module, run).unwrap();
        let text = module.functions[0].to_string();
        assert_eq!(text.matches(": i64 = select ").count(), 0, "{text}");
        // The base is still chosen.
        assert_eq!(text.matches(": i32 = select ").count(), 2, "{text}");

        let mut module = kernel_of(|b| stores(b, |b, id| b.binary_const(Binary::Shl, id, 2)));
        let before = module.functions[0].to_string();
        module.kernels[0].argument_block.placement = Placement::DeviceAddress;
        testing::run(&mut module, run).unwrap();
        assert_eq!(module.kernels[0].small_range_spec_id, None);
        assert_eq!(module.functions[0].to_string(), before);
        module.kernels[0].argument_block.placement = Placement::PushConstants;
        let capabilities = Capabilities {
            int64: false,
            ..Capabilities::full()
        };
        testing::run_on(&mut module, &capabilities, run).unwrap();
        assert_eq!(module.kernels[0].small_range_spec_id, None);
    }

    #[test]
    fn the_constant_is_none_that_the_kernel_has() {
        let mut module = kernel_of(|b| stores(b, |b, id| b.binary_const(Binary::Shl, id, 2)));
        let argument = |kind| crate::compiler::program::Argument {
            kind,
            info: Default::default(),
        };
        module.kernels[0].arguments = vec![
            argument(ArgumentKind::Sampler { spec_id: Some(4) }),
            argument(ArgumentKind::Local {
                spec_id: 3,
                element_bytes: 1,
                granule_bytes: 1,
            }),
        ];
        testing::run(&mut module, run).unwrap();
        assert_eq!(module.kernels[0].small_range_spec_id, Some(5));
    }

    /// A sum of the global id in 64 and in 32 bits, of parts of it, and of numbers from elsewhere, at random.
    fn random_sum(b: &mut Builder<'_>, ids: &[Value], random: &mut Random, depth: u32) -> Value {
        let kind = match depth {
            0 => random.bits() % 3,
            _ => random.bits() % 7,
        };
        let id = ids[random.bits() as usize % ids.len()];
        match kind {
            0 => id,
            1 | 2 => {
                let word = b.convert(Convert::Truncate, id, Type::I32);
                let word = match random.bits() % 3 {
                    0 => word,
                    1 => b.binary_const(Binary::Add, word, random.bits() % 5),
                    _ => b.binary_const(Binary::And, word, 0xffff),
                };
                b.resize_int(word, Type::I64, kind == 1)
            }
            3 => {
                let term = random_sum(b, ids, random, depth - 1);
                b.binary_const(Binary::Shl, term, random.bits() % 8)
            }
            4 => {
                let term = random_sum(b, ids, random, depth - 1);
                let factor = random.number();
                b.binary_const(Binary::Mul, term, factor)
            }
            5 => {
                let term = random_sum(b, ids, random, depth - 1);
                b.binary_const(Binary::LShr, term, random.bits() % 8)
            }
            _ => {
                let [x, y] = [0; 2].map(|_| random_sum(b, ids, random, depth - 1));
                let sum = b.binary(Binary::Add, x, y);
                b.binary_const(Binary::Add, sum, random.bits() % 3)
            }
        }
    }

    #[test]
    fn the_address_stays_the_same() {
        let mut random = Random(1);
        let mut shortened = 0;
        for _ in 0..1000 {
            let module = kernel_of(|b| {
                let parts = parts(b);
                let id = global_id(b, &parts);
                let sum = random_sum(b, &[id, id, parts.array], &mut random, 5);
                let address = b.binary(Binary::Add, sum, parts.array);
                let made = MadeOfArguments::new(b.function);
                let short = match ShortSum::of(b.function, &small_range(), &made, address) {
                    Some(parts) => {
                        shortened += 1;
                        parts.build(b)
                    }
                    None => address,
                };
                b.function.return_types = vec![Type::I64; 2];
                b.terminate(Terminator::Return(smallvec![address, short]));
            });
            for round in 0..20 {
                let last = SMALL_RANGE / 64 - 1;
                let group = match round {
                    0 => last,
                    1 => 0,
                    _ => random.bits() as u32 % SMALL_RANGE / 64,
                };
                let local = match round {
                    0 => 63,
                    _ => random.bits() as u32 % 64,
                };
                let mut interpreter = Interpreter::new(&module);
                interpreter.arguments = [random.number(), 0].map(u64::to_le_bytes).concat();
                let inputs = [
                    (BuiltIn::WorkgroupId(0), group),
                    (BuiltIn::LocalInvocationId(0), local),
                ];
                interpreter.inputs.extend(inputs);
                let results = interpreter.run(FuncId(0), &[]).unwrap();
                assert_eq!(results[0], results[1], "{}", module.functions[0]);
            }
        }
        assert!(shortened > 100, "{shortened}");
    }

    /// Where the range is not small, nothing changes.
    #[test]
    fn any_other_range_has_its_own_addresses() {
        let build = || kernel_of(|b| stores(b, |b, id| b.binary_const(Binary::Shl, id, 2)));
        let (plain, mut chosen) = (build(), build());
        testing::run(&mut chosen, run).unwrap();
        for (base, small) in [(0u64, 0), (0, 1), (5, 0), (1 << 40, 0)] {
            let written = [&plain, &chosen].map(|module| {
                let mut interpreter = Interpreter::new(module);
                let memory = interpreter.allocate(&[0; 64 * 4 * 4]);
                // The third group's work-items write the last quarter.
                let array = memory.wrapping_sub(base * 4);
                interpreter.arguments = [array, base].map(u64::to_le_bytes).concat();
                interpreter.spec_constants.insert(3, small);
                interpreter.inputs.insert(BuiltIn::WorkgroupId(0), 3);
                interpreter.inputs.insert(BuiltIn::LocalInvocationId(0), 7);
                interpreter.run(FuncId(0), &[]).unwrap();
                interpreter.bytes(memory + (3 * 64 + 7) * 4, 4).to_vec()
            });
            assert_eq!(written[0], (3 * 64 + 7u32).to_le_bytes());
            assert_eq!(written[0], written[1], "{base} {small}");
        }
    }
}
