//! Has the driver compute addresses of which it knows that an index of 32 bits lies behind them.
//!
//! **Why.** `base + (sign_extend(index) << 2)` is one instruction of NVIDIA's GPUs, or part of the access. Its driver for
//! Vulkan finds that for the index of `OpPtrAccessChain`, and not always for the sum: a convolution of 9 x 9 reached 0.89
//! of the speed of NVIDIA's OpenCL with sums and 0.96 with indices (driver 580, H200).
//!
//! **How.** Loads and stores go to [`Place::Indexed`] where the sum behind their address is a product of an extended index
//! and a constant, the stride, and something else, and nothing else needs the sum. Elements must not overlap: an access is
//! no longer than the stride.
//!
//! **But** that driver takes an index for one without a sign, against the specification: `p[-1]` reached 16 GiB behind the
//! memory, and the launch never ended (580, H100), nor with the index extended to 64 bits. What may be negative stays a sum,
//! that convolution's indices, too: 0.87.
//!
//! **Needs** pointers lowered; [`crate::compiler::passes::optimize::simplify`] removes the sums. Does nothing unless the device asks for it
//! ([`crate::compiler::Capabilities::indexes_addresses`]) and has 64-bit integers.

use crate::compiler::analysis::KnownBits;
use crate::compiler::ir::{Binary, Convert, Function, Module, Op, Place, Type, Value};
use crate::compiler::{CompileError, Context};
use std::collections::HashMap;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if !(cx.capabilities.indexes_addresses && cx.capabilities.int64) {
        return Ok(());
    }
    let local_sizes = module.most_local_sizes();
    for function in &mut module.functions {
        index(function, local_sizes);
    }
    Ok(())
}

fn index(function: &mut Function, local_sizes: [u32; 3]) {
    let mut uses: HashMap<Value, usize> = HashMap::new();
    let mut accesses = Vec::new();
    for &block in &function.layout {
        let data = function.block(block);
        for &inst in &data.insts {
            let op = &function.inst(inst).op;
            for operand in op.operands() {
                *uses.entry(operand).or_default() += 1;
            }
            if let Some((address, length_bytes)) =
                access(function, op, &function.inst(inst).results)
            {
                accesses.push((inst, address, length_bytes));
            }
        }
        for operand in data.terminator.operands() {
            *uses.entry(operand).or_default() += 1;
        }
    }
    let mut longest: HashMap<Value, (usize, u32)> = HashMap::new();
    for &(_, address, length_bytes) in &accesses {
        let (count, longest) = longest.entry(address).or_default();
        *count += 1;
        *longest = length_bytes.max(*longest);
    }
    for (inst, address, _) in accesses {
        let (count, longest) = longest[&address];
        if uses[&address] == count
            && let Some((base, index, stride_bytes)) = indexed(function, address)
            && longest <= stride_bytes
            && KnownBits::of(function, local_sizes, index).most <= i32::MAX as u64
            && let Some(place) = function.inst_mut(inst).op.place_mut()
        {
            *place = Place::Indexed {
                base,
                index,
                stride_bytes,
            };
        }
    }
}

/// The address of a load or a store and how long it is, bytes.
fn access(function: &Function, op: &Op, results: &[Value]) -> Option<(Value, u32)> {
    let (address, values) = match op {
        Op::Load(Place::Address(address), _) => (*address, results),
        Op::Store(Place::Address(address), values, _) => (*address, values.as_slice()),
        _ => return None,
    };
    let lengths = values.iter().map(|&value| function.ty(value).size_bytes());
    Some((address, lengths.sum()))
}

/// Takes a sum apart: the base, the index and the stride.
fn indexed(function: &Function, address: Value) -> Option<(Value, Value, u32)> {
    let &Op::Binary(Binary::Add, a, b) = function.op_of(address)? else {
        return None;
    };
    [(a, b), (b, a)].into_iter().find_map(|(base, product)| {
        strides(function, product).map(|(index, stride_bytes)| (base, index, stride_bytes))
    })
}

/// The index of 32 bits in a number of strides, and the stride.
fn strides(function: &Function, product: Value) -> Option<(Value, u32)> {
    let (wide, stride_bytes) = match *function.op_of(product)? {
        Op::Binary(Binary::Shl, wide, by) => {
            let by = u32::try_from(function.constant(by)?).ok()?;
            (wide, 1_u32.checked_shl(by)?)
        }
        Op::Binary(Binary::Mul, a, b) => match (function.constant(a), function.constant(b)) {
            (None, Some(stride)) => (a, u32::try_from(stride).ok()?),
            (Some(stride), None) => (b, u32::try_from(stride).ok()?),
            _ => return None,
        },
        _ => (product, 1),
    };
    match function.op_of(wide)? {
        &Op::Convert(Convert::SignExtend, index) if function.ty(index) == Type::I32 => {
            // A stride is a number with a sign in some drivers.
            (stride_bytes > 0 && stride_bytes <= i32::MAX as u32).then_some((index, stride_bytes))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Access, Builder, FuncId, Terminator};
    use crate::compiler::passes::helpers::testing;
    use smallvec::smallvec;

    /// `address` makes one of a base (I64) and an index (I32), and says what the function gives besides what it loads from
    /// there and the four bytes after that.
    fn module(
        address: impl Fn(&mut Builder<'_>, Value, Value) -> (Value, Option<Value>),
    ) -> Module {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I32; 2];
        let entry = function.entry();
        let base = function.add_param(entry, Type::I64);
        let index = function.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let (address, other) = address(&mut b, base, index);
        let mut loaded = b.load(Place::Address(address), Type::I32, 2, Access::aligned(4));
        if let Some(other) = other {
            loaded[1] = b.convert(Convert::Truncate, other, Type::I32);
        }
        b.terminate(Terminator::Return(loaded));
        testing::module_of(function)
    }

    /// The stride of what became of it, which loads the same.
    fn stride(mut module: Module, capabilities: &Capabilities) -> Option<String> {
        let results = |module: &Module| {
            // The last is 5 to what cuts it.
            [0, 3, 13_i32].map(|index| {
                let mut interpreter = Interpreter::new(module);
                let bytes: Vec<u8> = (0..200).collect();
                let base = interpreter.allocate(&bytes) + 64;
                let args = [base, u64::from(index as u32)];
                interpreter.run(FuncId(0), &args).unwrap()
            })
        };
        let expected = results(&module);
        testing::run_on(&mut module, capabilities, run).unwrap();
        assert_eq!(results(&module), expected);
        let text = module.functions[0].to_string();
        let (_, place) = text.split_once("address [")?;
        let (_, stride) = place.split_once(']')?.0.split_once(" * ")?;
        Some(stride.to_owned())
    }

    /// An index that is not negative, extended.
    fn wide(b: &mut Builder<'_>, index: Value) -> Value {
        let index = b.binary_const(Binary::And, index, 7);
        b.convert(Convert::SignExtend, index, Type::I64)
    }

    #[test]
    fn sums_of_an_extended_index_are_told_by_the_index() {
        let device = Capabilities::nvidia();
        let found = |module| stride(module, &device);
        let shifted = |by, swapped| {
            module(move |b, base, index| {
                let index = wide(b, index);
                let offset = b.binary_const(Binary::Shl, index, by);
                let (x, y) = if swapped {
                    (offset, base)
                } else {
                    (base, offset)
                };
                (b.binary(Binary::Add, x, y), None)
            })
        };
        for swapped in [false, true] {
            assert_eq!(found(shifted(3, swapped)).as_deref(), Some("8"));
        }
        let product = module(|b, base, index| {
            let index = wide(b, index);
            let offset = b.binary_const(Binary::Mul, index, 12);
            (b.binary(Binary::Add, base, offset), None)
        });
        assert_eq!(found(product).as_deref(), Some("12"));
        // Elements would overlap.
        assert_eq!(found(shifted(2, false)), None);
        assert_eq!(stride(shifted(3, false), &Capabilities::full()), None);
    }

    #[test]
    fn other_addresses_stay() {
        let device = Capabilities::nvidia();
        let without_sign = module(|b, base, index| {
            // Negative ones would be others with a sign.
            let index = b.binary_const(Binary::And, index, 3);
            let index = b.convert(Convert::ZeroExtend, index, Type::I64);
            let offset = b.binary_const(Binary::Shl, index, 3);
            (b.binary(Binary::Add, base, offset), None)
        });
        assert_eq!(stride(without_sign, &device), None);
        let maybe_negative = module(|b, base, index| {
            let index = b.convert(Convert::SignExtend, index, Type::I64);
            let offset = b.binary_const(Binary::Shl, index, 3);
            (b.binary(Binary::Add, base, offset), None)
        });
        assert_eq!(stride(maybe_negative, &device), None);
        let used_otherwise = module(|b, base, index| {
            let index = wide(b, index);
            let offset = b.binary_const(Binary::Shl, index, 3);
            let sum = b.binary(Binary::Add, base, offset);
            (sum, Some(sum))
        });
        assert_eq!(stride(used_otherwise, &device), None);
        let base_alone = module(|_, base, _| (base, None));
        assert_eq!(stride(base_alone, &device), None);
    }

    #[test]
    fn stores_are_told_so_as_well() {
        let mut function = Function::new("k");
        let entry = function.entry();
        let base = function.add_param(entry, Type::I64);
        let index = function.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut function, entry);
        let index = wide(&mut b, index);
        let offset = b.binary_const(Binary::Shl, index, 2);
        let address = b.binary(Binary::Add, base, offset);
        let seven = b.i32(7);
        b.store(
            Place::Address(address),
            smallvec![seven],
            Access::aligned(4),
        );
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        testing::run_on(&mut module, &Capabilities::nvidia(), run).unwrap();
        let text = module.functions[0].to_string();
        assert!(text.contains("address [%0 + %3 * 4]"), "{text}");
    }
}
