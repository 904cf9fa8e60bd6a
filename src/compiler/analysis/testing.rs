//! What tests of analyses share.

use crate::compiler::ir::{
    Binary, Builder, BuiltIn, Compare, Convert, Function, Module, Op, Terminator, Type, Value,
};
use crate::compiler::testing::Random;

/// A module of one function, which takes a word of 32 bits and one of 64 and returns all its values: see [`expressions`].
pub fn random_function(random: &mut Random) -> (Module, Vec<Value>) {
    let mut function = Function::new("f");
    let entry = function.entry();
    let params = [Type::I32, Type::I64].map(|ty| function.add_param(entry, ty));
    let mut b = Builder::new(&mut function, entry);
    let values = expressions(&mut b, &params, random);
    b.terminate(Terminator::Return(values.iter().copied().collect()));
    function.return_types = values.iter().map(|&v| function.ty(v)).collect();
    let mut module = Module::default();
    module.add_function(function);
    (module, values)
}

/// Values of all kinds over two parameters and the local ids.
fn expressions(b: &mut Builder<'_>, params: &[Value], random: &mut Random) -> Vec<Value> {
    let mut values = params.to_vec();
    for dimension in 0..2 {
        values.push(b.op1(
            Op::BuiltIn(BuiltIn::LocalInvocationId(dimension)),
            Type::I32,
        ));
    }
    for _ in 0..40 {
        let a = random.one_of(&values);
        let ty = b.ty(a);
        let others: Vec<Value> = values.iter().copied().filter(|&v| b.ty(v) == ty).collect();
        let other = match random.below(2) {
            0 => random.one_of(&others),
            _ => b.op1(Op::Const(random.constant() & ty.mask()), ty),
        };
        let value = match random.below(12) {
            0 | 1 => {
                let wide = random.one_of(&[Type::I8, Type::I16, Type::I32, Type::I64]);
                b.resize_int(a, wide, random.below(2) == 0)
            }
            2 => b.convert(Convert::Truncate, a, Type::I8),
            3 => {
                let condition = b.compare(Compare::ULess, a, other);
                b.op1(Op::Select(condition, a, other), ty)
            }
            4 => b.binary_const(Binary::Shl, a, random.below(ty.bits() as usize) as u64),
            5 => b.binary_const(Binary::LShr, a, random.below(ty.bits() as usize) as u64),
            number => {
                use Binary::{Add, And, Mul, Or, Sub, Xor};
                let op = [And, And, Or, Add, Mul, random.one_of(&[Sub, Xor])];
                b.binary(op[number - 6], a, other)
            }
        };
        values.push(value);
    }
    values
}
