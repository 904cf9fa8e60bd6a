//! Questions about the device that library functions ask by calling a function.

use crate::compiler::Context;
use crate::compiler::ir::{Builder, Function, Terminator, Type};
use smallvec::smallvec;

const QUESTIONS: [&str; 5] = [
    "__clc_runtime_has_hw_fma32",
    "__clc_fp16_subnormals_supported",
    "__clc_fp32_subnormals_supported",
    "__clc_fp64_subnormals_supported",
    "pumice_exp2_is_precise",
];

/// Whether `name` is such a function.
pub fn is_question(name: &str) -> bool {
    QUESTIONS.contains(&name)
}

/// A function that answers for this device.
pub fn answer(name: &str, cx: &Context<'_>) -> Option<Function> {
    let caps = cx.capabilities;
    let index = QUESTIONS.iter().position(|question| *question == name)?;
    let answer = match index {
        0 => caps.fused_fma32,
        1 => caps.keeps_denormals16,
        2 => caps.keeps_denormals32 && !cx.options.denorms_are_zero,
        // "Denormals are supported" is part of what cl_khr_fp64 demands.
        3 => true,
        _ => caps.precise_exp2,
    };
    let mut function = Function::new(name);
    function.return_types = vec![Type::Bool];
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let answer = b.bool(answer);
    b.terminate(Terminator::Return(smallvec![answer]));
    Some(function)
}
