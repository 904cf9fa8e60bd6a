//! Takes integer products apart where that makes multiply-adds: `(x + 1) * y` becomes `x * y + y`.
//!
//! LLVM factors sums of products, since fewer operations are left: `x * y + y` and what is made of it. A GPU
//! has multiply and add in one instruction and pays for each factored addition. A product is distributed over
//! a sum only where one of the two products is there already: in the same block, or because a summand is 1.
//! A sum that nothing else uses is then dead.

use crate::compiler::ir::{
    Binary, Block, Builder, Module, Op, Rewrite, Type, Value, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;
use std::collections::HashMap;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    for function in &mut module.functions {
        let mut products = Products::default();
        rewrite_instructions(function, |b, inst| {
            products.enter(b.block());
            let data = b.function.inst(inst);
            let Op::Binary(Binary::Mul, x, y) = data.op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let result = data.results[0];
            if !matches!(b.ty(result), Type::I32 | Type::I64) {
                return Ok(Rewrite::Keep);
            }
            let distributed = products
                .distribute(b, x, y)
                .or_else(|| products.distribute(b, y, x));
            products.add(x, y, result);
            Ok(match distributed {
                Some(value) => Rewrite::Replace(smallvec![value]),
                None => Rewrite::Keep,
            })
        })?;
    }
    Ok(())
}

/// The products of the block so far, by their factors in order.
#[derive(Default)]
struct Products {
    block: Option<Block>,
    known: HashMap<(Value, Value), Value>,
}

impl Products {
    fn enter(&mut self, block: Block) {
        if self.block.replace(block) != Some(block) {
            self.known.clear();
        }
    }

    fn add(&mut self, x: Value, y: Value, product: Value) {
        self.known.insert((x.min(y), x.max(y)), product);
    }

    /// `x * y`, if it needs no instruction.
    fn find(&self, b: &Builder<'_>, x: Value, y: Value) -> Option<Value> {
        match b.function.constant(x) {
            Some(1) => Some(y),
            _ => self.known.get(&(x.min(y), x.max(y))).copied(),
        }
    }

    /// `factor * sum` as a product plus one that is known.
    fn distribute(&mut self, b: &mut Builder<'_>, factor: Value, sum: Value) -> Option<Value> {
        let Some(&Op::Binary(Binary::Add, first, second)) = b.function.op_of(sum) else {
            return None;
        };
        // A product by a constant is cheaper than any multiply-add that could be made of it.
        if b.function.constant(factor).is_some() {
            return None;
        }
        let (known, other) = match self.find(b, second, factor) {
            Some(known) => (known, first),
            None => (self.find(b, first, factor)?, second),
        };
        let product = match self.find(b, other, factor) {
            Some(product) => product,
            None => {
                let product = b.binary(Binary::Mul, other, factor);
                self.add(other, factor, product);
                product
            }
        };
        Some(b.binary(Binary::Add, product, known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Function, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::passes::optimize::simplify;

    /// What is left of a function of two numbers: the names of its operations, constants left out.
    fn distributed(
        build: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
    ) -> Vec<&'static str> {
        let mut function = Function::new("k");
        let entry = function.entry();
        let [x, y] = [0, 1].map(|_| function.add_param(entry, Type::I32));
        let mut b = Builder::new(&mut function, entry);
        let result = build(&mut b, x, y);
        b.terminate(Terminator::Return(smallvec![result]));
        function.return_types.push(Type::I32);
        let mut module = testing::module_of(function);
        testing::run(&mut module, run).unwrap();
        testing::run(&mut module, simplify::run).unwrap();
        let function = &module.functions[0];
        let insts = &function.block(function.entry()).insts;
        insts
            .iter()
            .filter_map(|&inst| match function.inst(inst).op {
                Op::Binary(Binary::Add, ..) => Some("add"),
                Op::Binary(Binary::Mul, ..) => Some("mul"),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_factored_multiply_add_is_one_again() {
        let text = distributed(|b, x, y| {
            let next = b.binary_const(Binary::Add, x, 1);
            b.binary(Binary::Mul, y, next)
        });
        assert_eq!(text, ["mul", "add"]);
    }

    /// `x = x * y + y; y = x * y + x` as LLVM has it: `y * ((x + 1) + y * (x + 1))`.
    #[test]
    fn chains_of_them_lose_every_addition_too_many() {
        let text = distributed(|b, x, y| {
            let next = b.binary_const(Binary::Add, x, 1);
            let first = b.binary(Binary::Mul, y, next);
            let sum = b.binary(Binary::Add, next, first);
            b.binary(Binary::Mul, y, sum)
        });
        assert_eq!(text, ["mul", "add", "mul", "add"]);
    }

    #[test]
    fn other_products_stay() {
        let text = distributed(|b, x, y| {
            let sum = b.binary(Binary::Add, x, y);
            b.binary(Binary::Mul, x, sum)
        });
        assert_eq!(text, ["add", "mul"]);
    }
}
