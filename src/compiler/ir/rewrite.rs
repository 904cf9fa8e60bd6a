//! The frame of a lowering pass: visit every instruction, keep it or build something else.

use super::{Builder, Function, Inst, Terminator, Value, Values};
use std::collections::HashMap;

/// What becomes of an instruction.
pub enum Rewrite {
    /// It stays.
    Keep,
    /// It goes; its results become these values, one each. What was built stands in its place.
    Replace(Values),
}

/// Calls `visit` on every instruction in layout order. `visit` may build instructions, which go where the
/// visited one stands, and may make new blocks and continue in another one ([`Builder::switch_to`]): what
/// follows the instruction, terminator included, then moves there. Blocks made meanwhile must be put into
/// the layout by `Function::add_block`; they are not visited.
///
/// Operands seen by `visit` are those of before; uses of replaced results are rewritten at the end.
/// Returns whether anything was replaced. Once the function is too large ([`Function::is_too_large`]) nothing more is
/// visited.
pub fn rewrite_instructions<E>(
    function: &mut Function,
    mut visit: impl FnMut(&mut Builder<'_>, Inst) -> Result<Rewrite, E>,
) -> Result<bool, E> {
    let mut replacements: HashMap<Value, Value> = HashMap::new();
    let mut is_replaced = false;
    for block in function.layout().to_vec() {
        let data = function.block_mut(block);
        let insts = std::mem::take(&mut data.insts);
        let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
        let mut builder = Builder::new(function, block);
        for inst in insts {
            if builder.function.is_too_large() {
                builder.push(inst);
                continue;
            }
            builder.flags = builder.function.inst(inst).flags;
            match visit(&mut builder, inst)? {
                Rewrite::Keep => builder.push(inst),
                Rewrite::Replace(values) => {
                    is_replaced = true;
                    let results = &builder.function.inst(inst).results;
                    debug_assert_eq!(results.len(), values.len(), "one value for each result");
                    replacements.extend(results.iter().copied().zip(values));
                }
            }
        }
        builder.terminate(terminator);
    }
    function.replace_values(&replacements);
    Ok(is_replaced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Binary, Op, Type};
    use smallvec::smallvec;
    use std::convert::Infallible;

    #[test]
    fn a_split_moves_what_follows_and_the_terminator() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let one = b.i32(1);
        let sum = b.binary(Binary::Add, one, one);
        let twice = b.binary(Binary::Mul, sum, sum);
        b.terminate(Terminator::Return(smallvec![twice]));

        let changed = rewrite_instructions(&mut function, |b, inst| {
            if !matches!(b.function.inst(inst).op, Op::Binary(Binary::Add, ..)) {
                return Ok::<_, Infallible>(Rewrite::Keep);
            }
            let next = b.function.add_block();
            b.jump(next);
            b.switch_to(next);
            let two = b.constant(Type::I32, 2);
            Ok(Rewrite::Replace(smallvec![two]))
        })
        .unwrap();

        assert!(changed);
        assert_eq!(function.layout().len(), 2);
        let next = function.layout()[1];
        assert_eq!(function.successors(entry).as_slice(), [next]);
        let Terminator::Return(values) = &function.block(next).terminator else {
            panic!("the return moved to the new block");
        };
        let Some(&Op::Binary(Binary::Mul, a, _)) = function.op_of(values[0]) else {
            panic!("the multiplication stays");
        };
        assert_eq!(function.constant(a), Some(2));
    }
}
