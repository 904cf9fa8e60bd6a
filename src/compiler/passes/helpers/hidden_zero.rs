//! A zero that a driver does not know to be one, and a condition that it does not know to hold: what it concludes ends there.
//!
//! The zero is the highest bit of a buffer's address, which stands in the argument block, or of the number of groups.

use crate::compiler::ir::{
    Access, Binary, Builder, BuiltIn, Compare, Function, Module, Op, Place, Type, Value,
};
use crate::compiler::program::{ArgumentKind, Placement};

/// A condition that holds in every launch: none is without a group. (What is known of a work-item's place is known to the
/// driver, too: it is zero in groups of one.)
pub fn holds_always(b: &mut Builder<'_>) -> Value {
    holds_always_in(b, 0)
}

/// A condition that holds in every launch, on the groups in one dimension: two dimensions make two to a driver.
pub fn holds_always_in(b: &mut Builder<'_>, dimension: u8) -> Value {
    let groups = b.op1(Op::BuiltIn(BuiltIn::NumWorkgroups(dimension)), Type::I32);
    let none = b.i32(0);
    b.compare(Compare::NotEqual, groups, none)
}

/// Whether a condition is one of [`holds_always_in`].
pub fn is_always(function: &Function, condition: Value) -> bool {
    let Some(&Op::Compare(Compare::NotEqual, groups, _)) = function.op_of(condition) else {
        return false;
    };
    let groups = function.op_of(groups);
    matches!(groups, Some(Op::BuiltIn(BuiltIn::NumWorkgroups(_))))
}

/// The condition of [`holds_always`], computed once, at a function's entry.
#[derive(Debug, Default)]
pub struct Always(Option<Value>);

impl Always {
    /// The condition, which is computed once it is asked for.
    pub fn of(&mut self, function: &mut Function) -> Value {
        *self.0.get_or_insert_with(|| {
            let entry = function.entry();
            holds_always(&mut Builder::new(function, entry))
        })
    }
}

/// A zero that needs no argument: the highest bit of the number of groups, of which no launch has so many.
pub fn no_group_count_bit(b: &mut Builder<'_>) -> Value {
    let groups = b.op1(Op::BuiltIn(BuiltIn::NumWorkgroups(0)), Type::I32);
    b.binary_const(Binary::LShr, groups, 31)
}

/// Where the zero is found.
#[derive(Clone, Copy, Debug)]
pub struct HiddenZero {
    /// The offset of the upper word of a buffer's address in the argument block.
    offset_bytes: u32,
}

impl HiddenZero {
    /// The one of the module's kernel, if that has a buffer, and its arguments in push constants.
    pub fn of(module: &Module) -> Option<Self> {
        let kernel = module.kernels.first()?;
        if kernel.argument_block.placement != Placement::PushConstants {
            return None;
        }
        kernel
            .arguments
            .iter()
            .find_map(|argument| match argument.kind {
                ArgumentKind::Buffer { offset_bytes, .. } => Some(Self {
                    offset_bytes: offset_bytes + 4,
                }),
                _ => None,
            })
    }

    /// The one of an address whose upper word is there.
    #[cfg(test)]
    pub fn at(offset_bytes: u32) -> Self {
        Self { offset_bytes }
    }

    /// `value` combined with the zero: the same number, which the driver does not know.
    pub fn added_to(self, b: &mut Builder<'_>, value: Value) -> Value {
        let place = Place::Argument {
            offset_bytes: self.offset_bytes,
        };
        let upper = b.load1(place, Type::I32, Access::aligned(4));
        let zero = b.binary_const(Binary::LShr, upper, 31);
        let ty = b.ty(value);
        let zero = b.resize_int(zero, ty, false);
        b.binary(Binary::Xor, value, zero)
    }
}
