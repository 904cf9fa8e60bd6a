//! Parameters of blocks of which only the lower half is used.
//!
//! The counter of `for (int i = get_global_id(0); i < n; i += get_global_size(0))` is a `size_t` between two iterations, as clang
//! has it: what is added to is one. Only its lower half decides anything. In 32 bits it takes one register for two, and
//! the comparison with its limit counts iterations where others know how many there are.

use crate::compiler::ir::{Binary, Convert, Function, Op, Terminator, Type, Value};
use std::collections::HashMap;

/// Makes 32 bits of parameters of 64 that are only truncated, or passed on to others of which that holds.
pub fn run(function: &mut Function) {
    let mut narrow = candidates(function);
    // Facts only change from "narrow" to "wide": this ends.
    while widen(function, &mut narrow) {}
    if narrow.contains(&true) {
        rewrite(function, &narrow);
    }
}

/// By value: the parameters with which nothing computes that does not truncate them.
fn candidates(function: &Function) -> Vec<bool> {
    let mut narrow = vec![false; function.value_count()];
    for &block in &function.layout()[1..] {
        for &param in &function.block(block).params {
            narrow[param.index()] = function.ty(param) == Type::I64;
        }
    }
    for &block in function.layout() {
        let data = function.block(block);
        for &inst in &data.insts {
            let op = &function.inst(inst).op;
            if lower_half(function, op).is_none() {
                for value in op.operands() {
                    narrow[value.index()] = false;
                }
            }
        }
        for value in data.terminator.read() {
            narrow[value.index()] = false;
        }
    }
    narrow
}

/// How an operation takes the lower half of a number, or less.
fn lower_half(function: &Function, op: &Op) -> Option<Lower> {
    match *op {
        Op::Convert(Convert::Truncate, from) => Some(Lower::Truncated(from)),
        Op::Binary(Binary::And, from, mask) if function.constant(mask) == Some(u32::MAX.into()) => {
            Some(Lower::Masked(from))
        }
        _ => None,
    }
}

enum Lower {
    Truncated(Value),
    /// Extended by zeros again.
    Masked(Value),
}

/// Takes out those that are passed on to one that is wide; whether there are any.
fn widen(function: &Function, narrow: &mut [bool]) -> bool {
    let mut changed = false;
    for &block in function.layout() {
        for edge in function.block(block).terminator.edges() {
            let params = &function.block(edge.block).params;
            for (&param, &arg) in params.iter().zip(&edge.args) {
                if !narrow[param.index()] {
                    changed |= std::mem::replace(&mut narrow[arg.index()], false);
                }
            }
        }
    }
    changed
}

fn rewrite(function: &mut Function, narrow: &[bool]) {
    let is_narrow = |value: Value| narrow.get(value.index()) == Some(&true);
    let mut replacements = HashMap::new();
    for block in function.layout().to_vec() {
        for inst in function.block(block).insts.clone() {
            let data = function.inst(inst);
            match (lower_half(function, &data.op), data.results.as_slice()) {
                (Some(Lower::Truncated(value)), &[result])
                    if is_narrow(value) && function.ty(result) == Type::I32 =>
                {
                    replacements.insert(result, value);
                }
                (Some(Lower::Masked(value)), _) if is_narrow(value) => {
                    function.inst_mut(inst).op = Op::Convert(Convert::ZeroExtend, value);
                }
                _ => {}
            }
        }
        let mut terminator = std::mem::replace(
            &mut function.block_mut(block).terminator,
            Terminator::Unreachable,
        );
        for edge in terminator.edges_mut() {
            let params = function.block(edge.block).params.clone();
            for (&param, arg) in params.iter().zip(&mut edge.args) {
                if is_narrow(param) && !is_narrow(*arg) {
                    let truncate = Op::Convert(Convert::Truncate, *arg);
                    let inst = function.make_inst(truncate, [Type::I32], Default::default());
                    function.block_mut(block).insts.push(inst);
                    *arg = function.inst(inst).results[0];
                }
            }
        }
        function.block_mut(block).terminator = terminator;
    }
    for value in (0..narrow.len() as u32).map(Value) {
        if is_narrow(value) {
            function.set_type(value, Type::I32);
        }
    }
    // Their own truncations go; what is truncated further still is.
    for block in function.layout().to_vec() {
        let mut insts = std::mem::take(&mut function.block_mut(block).insts);
        insts.retain(|&inst| {
            let results = &function.inst(inst).results;
            !results
                .iter()
                .any(|result| replacements.contains_key(result))
        });
        function.block_mut(block).insts = insts;
    }
    function.replace_values(&replacements);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Builder, Compare, Edge, FuncId, Module};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::passes::optimize::simplify;

    /// How what is left of a counter is used.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Use {
        /// `(int)i`
        Signed,
        /// `(uint)i`
        Unsigned,
        /// `(short)i`
        Short,
        Whole,
    }

    /// `for (i = first; (int)i < 10; i = (size_t)(int)i + step) sum = sum * 3 + i`, through another block.
    fn strides(with: Use) -> Module {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I64; 2];
        let entry = function.entry();
        let [first, step] = [(); 2].map(|()| function.add_param(entry, Type::I64));
        let [before, iteration, done] = [0; 3].map(|_| function.add_block());
        let begun = function.add_param(before, Type::I64);
        let [counter, sum] = [(); 2].map(|()| function.add_param(iteration, Type::I64));
        let mut b = Builder::new(&mut function, entry);
        b.jump(Edge::new(before, [first]));
        b.switch_to(before);
        let zero = b.i64(0);
        b.jump(Edge::new(iteration, [begun, zero]));
        b.switch_to(iteration);
        let low = b.convert(Convert::Truncate, counter, Type::I32);
        let wide = match with {
            Use::Signed => b.convert(Convert::SignExtend, low, Type::I64),
            Use::Unsigned => b.binary_const(Binary::And, counter, u32::MAX.into()),
            Use::Short => {
                let short = b.convert(Convert::Truncate, counter, Type::I16);
                b.convert(Convert::SignExtend, short, Type::I64)
            }
            Use::Whole => counter,
        };
        let tripled = b.binary_const(Binary::Mul, sum, 3);
        let sum = b.binary(Binary::Add, tripled, wide);
        let next = b.binary(Binary::Add, wide, step);
        let ten = b.i32(10);
        let again = b.compare(Compare::SLess, low, ten);
        b.branch(again, Edge::new(iteration, [next, sum]), done);
        b.switch_to(done);
        b.terminate(Terminator::Return([sum, next].into_iter().collect()));
        testing::module_of(function)
    }

    fn results(module: &Module) -> Vec<Vec<u64>> {
        let firsts = [
            0,
            3,
            9,
            10,
            1 << 32,
            (1 << 33) + 5,
            -4_i64 as u64,
            0xffff_fff0,
            0x7fff,
        ];
        let run = |(first, step)| {
            let mut interpreter = Interpreter::new(module);
            interpreter.run(FuncId(0), &[first, step]).unwrap()
        };
        let steps = [1, 7, (1 << 32) + 3];
        let all = firsts
            .iter()
            .flat_map(|&first| steps.map(|step| (first, step)));
        all.map(run).collect()
    }

    #[test]
    fn counters_of_which_the_lower_half_is_used_have_32_bits() {
        for with in [Use::Signed, Use::Unsigned, Use::Short, Use::Whole] {
            let mut module = strides(with);
            let expected = results(&module);
            testing::run(&mut module, simplify::run).unwrap();
            assert_eq!(results(&module), expected, "{with:?} {module}");
            let function = module.function(FuncId(0));
            let params = function.layout()[1..]
                .iter()
                .flat_map(|&block| &function.block(block).params);
            let narrow = params.filter(|&&param| function.ty(param) == Type::I32);
            assert_eq!(narrow.count(), usize::from(with != Use::Whole), "{module}");
        }
    }
}
