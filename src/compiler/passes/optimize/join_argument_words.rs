//! Reads 64-bit arguments, addresses above all, at once.
//!
//! **Why.** A driver that makes every access in a loop over the work-items (llvmpipe) does so with one register for the
//! address if it knows that all have the same, and LLVM knows that of a number that is loaded and given to all. Of two words
//! put together it does not: it writes the vector of eight addresses to memory and reads one of them, for each work-item
//! and access. A convolution of 9 x 9 x 9 took four times as long.
//!
//! **How.** `zext(word) | zext(next word) << 32` becomes one load where the first word is at a multiple of 8 bytes.
//!
//! **Needs** arguments and pointers to be lowered; [`crate::compiler::passes::optimize::simplify`] removes the words that nothing reads any more. Does
//! nothing unless the device asks for it ([`crate::compiler::Capabilities::serial_memory`]) and has 64-bit integers.

use crate::compiler::ir::{
    Access, Binary, Convert, Function, InstFlags, Module, Op, Place, Rewrite, Type, Value,
    ValueDef, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Arguments do not change while a kernel runs.
const ACCESS: Access = Access {
    align_bytes: 8,
    volatile: false,
    read_only: true,
};

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if !(cx.capabilities.serial_memory && cx.capabilities.int64) {
        return Ok(());
    }
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            let Op::Binary(Binary::Or, low, high) = b.function.inst(inst).op else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let joined =
                joined_at(b.function, low, high).or_else(|| joined_at(b.function, high, low));
            let Some(offset_bytes) = joined else {
                return Ok(Rewrite::Keep);
            };
            b.flags = InstFlags::default();
            let whole = b.load1(Place::Argument { offset_bytes }, Type::I64, ACCESS);
            Ok(Rewrite::Replace(smallvec![whole]))
        })?;
    }
    Ok(())
}

/// Where the 64-bit argument lies whose halves these are.
fn joined_at(function: &Function, low: Value, high: Value) -> Option<u32> {
    let Some(&Op::Binary(Binary::Shl, high, by)) = function.op_of(high) else {
        return None;
    };
    let first = extended_word(function, low)?;
    let second = extended_word(function, high)?;
    let is_whole = function.constant(by) == Some(32) && second == first + 4;
    (is_whole && first.is_multiple_of(8)).then_some(first)
}

/// Where the word of the argument block lies that was extended to 64 bits.
fn extended_word(function: &Function, value: Value) -> Option<u32> {
    let Some(&Op::Convert(Convert::ZeroExtend, word)) = function.op_of(value) else {
        return None;
    };
    let ValueDef::Result { inst, index } = function.value(word).def else {
        return None;
    };
    match function.inst(inst).op {
        Op::Load(Place::Argument { offset_bytes }, _) if function.ty(word) == Type::I32 => {
            (function.ty(value) == Type::I64).then_some(offset_bytes + 4 * index)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::ir::{Builder, Terminator};
    use crate::compiler::passes::helpers::testing;

    /// What becomes of two words at `first` and `second`, the second of which is shifted `by` bits.
    fn joined(first: u32, second: u32, by: u64, device: &Capabilities) -> String {
        let mut function = Function::new("k");
        function.return_types = vec![Type::I64];
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let [low, high] = [first, second].map(|offset_bytes| {
            let place = Place::Argument { offset_bytes };
            let word = b.load1(place, Type::I32, Access::aligned(4));
            b.convert(Convert::ZeroExtend, word, Type::I64)
        });
        let high = b.binary_const(Binary::Shl, high, by);
        let whole = b.binary(Binary::Or, high, low);
        b.terminate(Terminator::Return(smallvec![whole]));
        let mut module = testing::module_of(function);
        testing::run_on(&mut module, device, run).unwrap();
        module.functions[0].to_string()
    }

    #[test]
    fn halves_of_a_number_are_read_at_once() {
        let device = Capabilities::lavapipe();
        let untouched = |text: &str| text.contains(" or ");
        let text = joined(8, 12, 32, &device);
        assert!(!untouched(&text), "{text}");
        for (first, second, by) in [(4, 8, 32), (8, 16, 32), (12, 8, 32), (8, 12, 31)] {
            let text = joined(first, second, by, &device);
            assert!(untouched(&text), "{text}");
        }
        let mut device = device;
        device.int64 = false;
        assert!(untouched(&joined(8, 12, 32, &device)));
    }
}
