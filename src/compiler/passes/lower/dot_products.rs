//! Brings dot products of four bytes to the form that the device has, or to arithmetic.
//!
//! Needs: nothing. After it the only dot products are of packed words, on devices with
//! `shaderIntegerDotProduct`.

use crate::compiler::ir::{
    Binary, Builder, DotFormat, Module, Op, Rewrite, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::passes::helpers::scalar_bits;
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let is_native = cx.capabilities.integer_dot_product;
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Op::DotProduct {
                signed,
                format,
                operands,
            } = &b.function.inst(inst).op
            else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let (signed, format, operands) = (*signed, *format, operands.clone());
            let result = match (is_native, format) {
                (true, DotFormat::Packed4x8) => return Ok(Rewrite::Keep),
                (true, DotFormat::Components) => {
                    let (x, y) = operands.split_at(operands.len() / 2);
                    let op = Op::DotProduct {
                        signed,
                        format: DotFormat::Packed4x8,
                        operands: smallvec![pack(b, x), pack(b, y)],
                    };
                    b.op1(op, Type::I32)
                }
                (false, _) => expand(b, signed, format, &operands),
            };
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    Ok(())
}

/// Four bytes in a word, the first lowest.
fn pack(b: &mut Builder<'_>, bytes: &[Value]) -> Value {
    let pieces: Vec<(u32, Value)> = (0..).zip(bytes.iter().copied()).collect();
    scalar_bits::join(b, &pieces, Type::I32)
}

fn expand(b: &mut Builder<'_>, signed: [bool; 2], format: DotFormat, operands: &[Value]) -> Value {
    let (x, y) = operands.split_at(operands.len() / 2);
    let x = components(b, signed[0], format, x);
    let y = components(b, signed[1], format, y);
    let mut sum = None;
    for (x, y) in x.into_iter().zip(y) {
        let product = b.binary(Binary::Mul, x, y);
        sum = Some(match sum {
            None => product,
            Some(sum) => b.binary(Binary::Add, sum, product),
        });
    }
    sum.unwrap_or_else(|| b.i32(0))
}

/// The components of one vector, each as a word.
fn components(b: &mut Builder<'_>, signed: bool, format: DotFormat, vector: &[Value]) -> Values {
    match (format, vector) {
        (DotFormat::Packed4x8, &[word]) => (0..4)
            .map(|byte| {
                // Up to the top, and down with the sign or zeros.
                let up = b.binary_const(Binary::Shl, word, 24 - 8 * byte);
                let down = if signed { Binary::AShr } else { Binary::LShr };
                b.binary_const(down, up, 24)
            })
            .collect(),
        _ => vector
            .iter()
            .map(|&byte| b.resize_int(byte, Type::I32, signed))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{FuncId, Function, Terminator};
    use crate::compiler::passes::helpers::testing;

    fn module(format: DotFormat, signed: [bool; 2]) -> Module {
        let mut function = Function::new("k");
        let entry = function.entry();
        function.return_types = vec![Type::I32];
        let (ty, count) = match format {
            DotFormat::Packed4x8 => (Type::I32, 2),
            DotFormat::Components => (Type::I8, 8),
        };
        let operands = (0..count).map(|_| function.add_param(entry, ty)).collect();
        let mut b = Builder::new(&mut function, entry);
        let op = Op::DotProduct {
            signed,
            format,
            operands,
        };
        let result = b.op1(op, Type::I32);
        b.terminate(Terminator::Return(smallvec![result]));
        testing::module_of(function)
    }

    fn expected(signed: [bool; 2], x: [u8; 4], y: [u8; 4]) -> u32 {
        let value = |signed: bool, byte: u8| {
            if signed {
                i32::from(byte as i8)
            } else {
                i32::from(byte)
            }
        };
        let products = x.iter().zip(y);
        products
            .map(|(&x, y)| value(signed[0], x) * value(signed[1], y))
            .sum::<i32>() as u32
    }

    #[test]
    fn every_form_is_the_sum_of_the_products() {
        let vectors = [
            [0, 1, 2, 3],
            [0x80; 4],
            [0xff; 4],
            [0x7f, 0x80, 0xff, 5],
            [200, 100, 50, 25],
        ];
        for native in [false, true] {
            let mut capabilities = Capabilities::full();
            capabilities.integer_dot_product = native;
            for signed in [[true, true], [false, false], [true, false]] {
                for format in [DotFormat::Packed4x8, DotFormat::Components] {
                    let mut module = module(format, signed);
                    testing::run_on(&mut module, &capabilities, run).unwrap();
                    let left = module.functions[0].layout().iter().any(|&block| {
                        let insts = &module.functions[0].block(block).insts;
                        insts.iter().any(|&inst| {
                            matches!(module.functions[0].inst(inst).op, Op::DotProduct { .. })
                        })
                    });
                    assert_eq!(left, native);
                    for x in vectors {
                        for y in vectors {
                            let args: Vec<u64> = match format {
                                DotFormat::Packed4x8 => {
                                    [x, y].map(|v| u64::from(u32::from_le_bytes(v))).to_vec()
                                }
                                DotFormat::Components => {
                                    x.iter().chain(&y).map(|&byte| byte.into()).collect()
                                }
                            };
                            let found = Interpreter::new(&module).run(FuncId(0), &args).unwrap();
                            let expected = expected(signed, x, y);
                            assert_eq!(found, [u64::from(expected)], "{signed:?} {x:?} {y:?}");
                        }
                    }
                }
            }
        }
    }
}
