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
    for &block in function.layout() {
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
