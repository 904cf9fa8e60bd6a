//! Says of an address that is a sum that it is an element of an array.
//!
//! **Why.** NVIDIA's driver makes less of `base + index * stride` in integers, turned into a pointer, than of the same
//! element named as one: a kernel that reads and writes a float for each work-item ran 1.6 % longer on an H200.
//!
//! **How.** The last step of an address is found again: `base + (index << n)` or `base + index * stride`, where an access
//! fits into the stride, becomes [`Place::Indexed`].
//!
//! **Needs** 64-bit integers and legal accesses. Does nothing unless the device asks for it
//! ([`crate::compiler::Capabilities::indexes_memory`]).

use super::simplify::dead;
use crate::compiler::ir::{Binary, Convert, Function, Inst, Module, Op, Place, Type, Value};
use crate::compiler::{CompileError, Context};

/// Strides beyond are no array's.
const MOST_BYTES: u64 = 1 << 16;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.indexes_memory {
        for function in &mut module.functions {
            index_memory(function);
        }
    }
    Ok(())
}

fn index_memory(function: &mut Function) {
    for block in function.layout.clone() {
        for inst in function.block(block).insts.clone() {
            let Some((address, types)) = accessed(function, inst) else {
                continue;
            };
            let Some(indexed) = element(function, address, &types) else {
                continue;
            };
            if let Op::Load(place, _) | Op::Store(place, ..) | Op::Atomic { place, .. } =
                &mut function.inst_mut(inst).op
            {
                *place = indexed;
            }
        }
    }
    dead::run(function);
}

/// The address of an access, and the types of what is there.
fn accessed(function: &Function, inst: Inst) -> Option<(Value, Vec<Type>)> {
    let data = function.inst(inst);
    let types = |values: &[Value]| values.iter().map(|&it| function.ty(it)).collect();
    match &data.op {
        Op::Load(Place::Address(address), _) => Some((*address, types(&data.results))),
        Op::Store(Place::Address(address), values, _) => Some((*address, types(values))),
        Op::Atomic {
            place: Place::Address(address),
            values,
            ..
        } => {
            let operand = values.first().or(data.results.first())?;
            Some((*address, types(&[*operand])))
        }
        _ => None,
    }
}

/// The element that an address is of.
fn element(function: &Function, address: Value, types: &[Type]) -> Option<Place> {
    let &Op::Binary(Binary::Add, a, b) = function.op_of(address)? else {
        return None;
    };
    // A vector of three is laid out as one of four.
    let bytes = types.iter().map(|ty| ty.size_bytes()).sum::<u32>();
    let bytes = u64::from(bytes.next_power_of_two());
    [(a, b), (b, a)].into_iter().find_map(|(base, scaled)| {
        let (index, stride) = match *function.op_of(scaled)? {
            Op::Binary(Binary::Shl, index, by) => {
                let by = u32::try_from(function.constant(by)?).ok()?;
                (index, 1u64.checked_shl(by)?)
            }
            Op::Binary(Binary::Mul, index, stride) => (index, function.constant(stride)?),
            _ => return None,
        };
        let fits = (bytes..=MOST_BYTES).contains(&stride) && stride.is_multiple_of(bytes);
        // The index of an array is a signed number.
        let index = match function.op_of(index) {
            Some(&Op::Convert(Convert::SignExtend, narrow)) if function.ty(narrow) == Type::I32 => {
                narrow
            }
            _ => index,
        };
        fits.then_some(Place::Indexed {
            base,
            index,
            stride_bytes: stride as u32,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, Builder, FuncId};
    use crate::compiler::passes::legal_evaluator::{Evaluator, module_of};

    /// An address of a base and an index, both I64.
    type Sum = fn(&mut Builder<'_>, Value, Value) -> Value;

    /// Loads `count` floats from such an address.
    fn loading(count: usize, sum: Sum) -> Module {
        module_of(&[Type::I64, Type::I64], |b, params| {
            let address = sum(b, params[0], params[1]);
            b.load(
                Place::Address(address),
                Type::F32,
                count,
                Access::aligned(4),
            )
        })
    }

    fn shifted(b: &mut Builder<'_>, base: Value, index: Value) -> Value {
        let scaled = b.binary_const(Binary::Shl, index, 2);
        b.binary(Binary::Add, scaled, base)
    }

    fn multiplied(b: &mut Builder<'_>, base: Value, index: Value) -> Value {
        let scaled = b.binary_const(Binary::Mul, index, 12);
        b.binary(Binary::Add, base, scaled)
    }

    fn of_a_signed_index(b: &mut Builder<'_>, base: Value, index: Value) -> Value {
        let narrow = b.convert(Convert::Truncate, index, Type::I32);
        let index = b.convert(Convert::SignExtend, narrow, Type::I64);
        shifted(b, base, index)
    }

    fn of_an_unsigned_index(b: &mut Builder<'_>, base: Value, index: Value) -> Value {
        let narrow = b.convert(Convert::Truncate, index, Type::I32);
        let index = b.convert(Convert::ZeroExtend, narrow, Type::I64);
        shifted(b, base, index)
    }

    /// The place that the pass makes of the only load's.
    fn indexed(module: &mut Module) -> Option<Place> {
        index_memory(&mut module.functions[0]);
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        insts.iter().find_map(|&inst| match function.inst(inst).op {
            Op::Load(place @ Place::Indexed { .. }, _) => Some(place),
            _ => None,
        })
    }

    #[test]
    fn the_same_is_read() {
        let signed: [(u64, i64); 4] = [(0, 3), (400, 7), (400, -9), (400, 0)];
        let sums: [(Sum, &[(u64, i64)]); 4] = [
            (shifted, &signed),
            (multiplied, &signed),
            (of_a_signed_index, &signed),
            (of_an_unsigned_index, &signed[..2]),
        ];
        for (sum, places) in sums {
            let before = loading(1, sum);
            let mut after = before.clone();
            assert!(indexed(&mut after).is_some(), "{after}");
            for &(base, index) in places {
                let read = |module: &Module| {
                    let mut run = Evaluator::new(module);
                    run.memory = (0..800u32).map(|i| (i * 37 % 251) as u8).collect();
                    run.call(FuncId(0), &[base, index as u64])
                };
                assert_eq!(read(&after), read(&before), "{base} {index}\n{after}");
            }
        }
    }

    #[test]
    fn an_index_of_32_bits_stays_one_if_it_has_a_sign() {
        for (sum, expected) in [
            (of_a_signed_index as Sum, Type::I32),
            (of_an_unsigned_index, Type::I64),
        ] {
            let mut module = loading(1, sum);
            let Some(Place::Indexed { index, .. }) = indexed(&mut module) else {
                panic!("{module}");
            };
            assert_eq!(module.functions[0].ty(index), expected, "{module}");
        }
    }

    #[test]
    fn what_is_no_element_stays_a_sum() {
        let plain: Sum = |b, base, index| b.binary(Binary::Add, base, index);
        let at_an_offset: Sum = |b, base, index| {
            let address = shifted(b, base, index);
            b.binary_const(Binary::Add, address, 4)
        };
        let by_a_variable: Sum = |b, base, index| {
            let scaled = b.binary(Binary::Shl, index, index);
            b.binary(Binary::Add, base, scaled)
        };
        let wide: Sum = |b, base, index| {
            let scaled = b.binary_const(Binary::Shl, index, 40);
            b.binary(Binary::Add, base, scaled)
        };
        for sum in [plain, at_an_offset, by_a_variable, wide] {
            let mut module = loading(1, sum);
            assert_eq!(indexed(&mut module), None, "{module}");
        }
        // Elements of an array do not overlap, and their stride is a multiple of their alignment.
        for (sum, counts) in [(shifted as Sum, 2..5), (multiplied, 2..4)] {
            for count in counts {
                let mut module = loading(count, sum);
                assert_eq!(indexed(&mut module), None, "{module}");
            }
        }
    }

    #[test]
    fn what_made_the_sum_goes() {
        let mut module = loading(1, shifted);
        assert!(indexed(&mut module).is_some());
        let function = &module.functions[0];
        assert_eq!(function.block(function.entry()).insts.len(), 1, "{module}");
    }
}
