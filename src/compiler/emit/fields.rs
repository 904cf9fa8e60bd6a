//! Bytes and halves of words, for drivers that make one instruction of `OpBitFieldUExtract` and two of a shift and a mask.
//!
//! NVIDIA's does so for Vulkan: sums of the bytes of `uchar4` reached 0.82 of the speed of NVIDIA's OpenCL with shifts and
//! masks and 0.98 without (driver 580, H200). What goes on to logic or becomes a float stays as it is: there the mask is
//! part of another instruction; a hash of bytes took 1.09 times as long, sums of bytes as floats 1.3 times.

use crate::compiler::ir::{Binary, Convert, Function, Op, Type, Unary, Value};
use std::collections::{HashMap, HashSet};

/// Bits of a word, from the lowest one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub word: Value,
    pub offset: u32,
    pub bits: u32,
}

/// The values of a function that are fields, by themselves.
pub fn fields(function: &Function) -> HashMap<Value, Field> {
    let insts = || {
        let blocks = function.layout().iter();
        let insts = blocks.flat_map(|&block| &function.block(block).insts);
        insts.map(|&inst| function.inst(inst))
    };
    let mut kept = HashSet::new();
    for data in insts() {
        match data.op {
            Op::Binary(Binary::And | Binary::Or | Binary::Xor, a, b) => kept.extend([a, b]),
            Op::Unary(Unary::Not, a)
            | Op::Convert(Convert::UnsignedToFloat(_) | Convert::SignedToFloat(_), a) => {
                kept.insert(a);
            }
            _ => {}
        }
    }
    insts()
        .filter_map(|data| {
            let &[result] = data.results.as_slice() else {
                return None;
            };
            let field = field(function, &data.op)?;
            (!kept.contains(&result)).then_some((result, field))
        })
        .collect()
}

fn field(function: &Function, op: &Op) -> Option<Field> {
    let &Op::Binary(binary, word, constant) = op else {
        return None;
    };
    if function.ty(word) != Type::I32 {
        return None;
    }
    let constant = function.constant(constant)? as u32;
    let (word, offset, bits) = match (binary, constant) {
        (Binary::And, 0xff | 0xffff) => {
            let bits = constant.count_ones();
            let (word, offset) = shifted(function, word, 32 - bits).unwrap_or((word, 0));
            (word, offset, bits)
        }
        (Binary::LShr, 16 | 24) => (word, constant, 32 - constant),
        _ => return None,
    };
    Some(Field { word, offset, bits })
}

/// What is shifted right by whole bytes, so many bits at most, and by how many.
fn shifted(function: &Function, value: Value, most: u32) -> Option<(Value, u32)> {
    let &Op::Binary(Binary::LShr, word, by) = function.op_of(value)? else {
        return None;
    };
    let by = function.constant(by)? as u32;
    (by.is_multiple_of(8) && by <= most).then_some((word, by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::Builder;

    #[test]
    fn bytes_and_halves_are_fields_unless_logic_or_floats_come_of_them() {
        let mut function = Function::new("k");
        let entry = function.entry();
        let word = function.add_param(entry, Type::I32);
        let long = function.add_param(entry, Type::I64);
        let mut b = Builder::new(&mut function, entry);
        let mut found = Vec::new();
        for (by, mask, offset, bits) in [(8, 0xff, 8, 8), (16, 0xff, 16, 8), (16, 0xffff, 16, 16)] {
            let shifted = b.binary_const(Binary::LShr, word, by);
            let value = b.binary_const(Binary::And, shifted, mask);
            found.push((value, Some(Field { word, offset, bits })));
        }
        // The upper bits would come from beyond the word, and the driver is left to shift by less than bytes.
        for (by, mask, bits) in [(24, 0xffff, 16), (4, 0xff, 8)] {
            let word = b.binary_const(Binary::LShr, word, by);
            let value = b.binary_const(Binary::And, word, mask);
            let offset = 0;
            found.push((value, Some(Field { word, offset, bits })));
        }
        found.push((b.binary_const(Binary::And, word, 0x7f), None));
        let ends = [(Binary::And, 0xff, 0), (Binary::LShr, 24, 24)];
        for (op, constant, offset) in ends {
            let value = b.binary_const(op, word, constant);
            let bits = 8;
            found.push((value, Some(Field { word, offset, bits })));
        }
        found.push((b.binary_const(Binary::LShr, word, 20), None));
        found.push((b.binary_const(Binary::And, long, 0xff), None));
        let mixed = b.binary_const(Binary::LShr, word, 16);
        b.binary(Binary::Xor, mixed, word);
        found.push((mixed, None));
        let float = b.binary_const(Binary::LShr, word, 24);
        b.convert(Convert::SignedToFloat(None), float, Type::F32);
        found.push((float, None));
        let fields = fields(&function);
        for (value, field) in found {
            assert_eq!(fields.get(&value).copied(), field, "{value}\n{function}");
        }
    }
}
