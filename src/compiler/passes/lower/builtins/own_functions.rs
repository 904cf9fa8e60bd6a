//! Functions of our own that lowered code calls.

use super::imports::OwnFunctions;
use super::{fused_multiply_add, gamma, remainder, target};
use crate::compiler::Context;
use crate::compiler::ir::{Function, Type};

/// All of them.
pub const OWN: OwnFunctions = OwnFunctions { has, make };

/// The function of that name, if it is one that the library lacks or that depends on the device.
fn make(name: &str, cx: &Context<'_>) -> Option<Function> {
    let mut function = match name {
        fused_multiply_add::FMA32 => fused_multiply_add::emulated(Type::F32),
        fused_multiply_add::FMA64 => fused_multiply_add::emulated(Type::F64),
        gamma::TGAMMA32 => gamma::tgamma(Type::F32),
        gamma::TGAMMA64 => gamma::tgamma(Type::F64),
        remainder::FMOD32 => remainder::remainder(false),
        remainder::REMQUO32 => remainder::remainder(true),
        _ => target::answer(name, cx)?,
    };
    function.control.library = true;
    Some(function)
}

/// Whether [`make`] makes one of that name.
fn has(name: &str) -> bool {
    let own = [
        fused_multiply_add::FMA32,
        fused_multiply_add::FMA64,
        gamma::TGAMMA32,
        gamma::TGAMMA64,
        remainder::FMOD32,
        remainder::REMQUO32,
    ];
    own.contains(&name) || target::is_question(name)
}
