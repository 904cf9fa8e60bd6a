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
