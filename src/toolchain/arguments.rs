//! What clang is called with, and why none of it changes what a program means.
//!
//! No argument of ours may turn an error into other semantics. Those that concern the language are:
//!
//! - `-Wno-error=incompatible-pointer-types`, `-Wno-error=int-conversion`: C demands a message, and the conversion does
//!   what it does in each OpenCL implementation that warns of it. Which function is called is the same with and without
//!   them; but a call may only be of the program's own function because the built-in of the same name is not declared.
//!   Therefore they are given where all built-ins are: [`Conversions`].
//! - `-fgnu89-inline`: an `inline` function of a whole program is one to call, too. What is inlined is the same function;
//!   `extern inline`, which means the contrary there, keeps C99's rules.
//! - `-fno-strict-aliasing`: clang assumes less.
//! - `-ffp-contract=off`: `a * b + c` rounds twice, as it is written.
//! - `-cl-ext`, `-D__OPENCL_VERSION__`, `-D__EMBEDDED_PROFILE__`, `-U__IMAGE_SUPPORT__`: what the device is. What it lacks is an error.
//! - `-cl-no-stdinc` with `-fdeclare-opencl-builtins` and `-include`: clang's own way of declaring built-ins, but for the
//!   path of the header.
//! - `-Qunused-arguments`, `--no-default-config`, `-fno-crash-diagnostics`: nothing of the language.
//!
//! An implicit declaration of a function stays an error, as OpenCL C has it, and so does all else that clang refuses.
//! What [`EMIT_ARGUMENTS`] say concerns the code that is made.

use super::built_ins::BuiltIns;
use super::headers::HeaderDirectory;
use super::request::CompileRequest;

/// The arguments every run of clang starts with.
pub(super) const TARGET_ARGUMENTS: [&str; 5] = [
    "-target",
    "spirv64",
    // What a machine's clang.cfg adds is not for kernels.
    "--no-default-config",
    // No reproducer files in /tmp when it crashes.
    "-fno-crash-diagnostics",
    // Kernels look at their variables through pointers to other types, and no other driver minds.
    "-fno-strict-aliasing",
];

/// The arguments that ask for a SPIR-V module, beside the target and what it is made of.
pub(super) const EMIT_ARGUMENTS: [&str; 12] = [
    "-mllvm",
    // `printf` formats lie in constant memory; without the first the back end refuses them. The others are
    // what it spells sub_group_rotate, work_group_reduce_mul and the built-ins of other extensions with, what it
    // says with which sums do not wrap around, how it writes constants of more than 65,532 parts, and integers of other
    // widths than those of OpenCL C: it would make them wider, and not cut them.
    "-spirv-ext=+SPV_EXT_relaxed_printf_string_address_space,+SPV_KHR_subgroup_rotate,\
     +SPV_KHR_uniform_group_instructions,+SPV_KHR_bit_instructions,+SPV_KHR_integer_dot_product,\
     +SPV_KHR_expect_assume,+SPV_KHR_no_integer_wrap_decoration,+SPV_INTEL_subgroups,+SPV_INTEL_long_composites,\
     +SPV_ALTERA_arbitrary_precision_integers",
    // It has loops count addresses, several at a time, and integers of as many bits as a mask leaves of the counter: of
    // neither does `compiler::passes::optimize::unroll` see how many iterations there are.
    "-mllvm",
    "-disable-lsr",
    // It makes counters 64 bits wide, which few devices have registers for.
    "-mllvm",
    "-indvars-widen-indvars=false",
    // What a sum has become at the end of a loop it computes in 33 or 65 bits; of 65 the back end breaks down.
    "-mllvm",
    "-replexitval=never",
    // The Vulkan driver behind vectorizes for its own registers; wide and odd vectors only have to be
    // taken apart again.
    "-fno-vectorize",
    "-fno-slp-vectorize",
    // It takes an operation on sixteen elements for one, and makes thousands of a few; `compiler::passes::optimize::unroll` knows.
    "-fno-unroll-loops",
    "-c",
];

/// From OpenCL C or LLVM IR on standard input to standard output.
pub(super) const SOURCE_THROUGH: [&str; 5] = ["-x", "cl", "-", "-o", "-"];
pub(super) const IR_THROUGH: [&str; 5] = ["-x", "ir", "-", "-o", "-"];

/// Whether pointers and integers become pointers to other types without a cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversions {
    /// With a warning, as other implementations do and clang up to 15 did.
    Warned,
    /// They are errors: a built-in that would take them as they are may be hidden.
    Refused,
}

/// What the language depends on: version, macros, includes, extensions. `built_ins` are clang's own headers.
pub(super) fn front(
    built_ins: Option<&BuiltIns>,
    request: &CompileRequest<'_>,
    headers: Option<&HeaderDirectory>,
    conversions: Conversions,
) -> Vec<String> {
    let mut arguments: Vec<String> = TARGET_ARGUMENTS.map(String::from).to_vec();
    arguments.extend([
        // clang complains of options that don't concern the step at hand (as -cl-… of the back end).
        "-Qunused-arguments".into(),
        "-Xclang".into(),
        format!("-cl-ext={}", request.target.clang_extensions()),
        // "__OPENCL_VERSION__ substitutes an integer reflecting the version number of the OpenCL supported
        // by the OpenCL device": clang leaves that to the implementation.
        format!("-D__OPENCL_VERSION__={}", request.target.device_version),
    ]);
    if request.target.embedded_profile {
        // "__EMBEDDED_PROFILE__ … is the integer constant 1 if the OpenCL device is an embedded profile device and is undefined
        // otherwise."
        arguments.push("-D__EMBEDDED_PROFILE__=1".into());
    }
    if let Some(built_ins) = built_ins {
        // clang would look for its header in the application's folders first.
        arguments.extend(["-cl-no-stdinc", "-Xclang", "-fdeclare-opencl-builtins"].map(Into::into));
        arguments.extend(["-include".into(), built_ins.base().into()]);
    }
    if !request.target.fused_multiply_add {
        // clang makes `fma` of `a * b + c`, which must round once and is then a long way round.
        arguments.push("-ffp-contract=off".into());
    }
    arguments.extend(request.target.clang_definitions());
    if !request.target.images {
        // clang defines it for every SPIR-V target.
        arguments.push("-U__IMAGE_SUPPORT__".into());
    }
    if let Some(headers) = headers {
        // Before the application's own directories.
        arguments.extend(headers.arguments());
    }
    let has_built_ins = built_ins.is_some();
    if conversions == Conversions::Warned && has_built_ins && !request.options.warnings_are_errors {
        arguments.push("-Wno-error=incompatible-pointer-types".into());
        arguments.push("-Wno-error=int-conversion".into());
    }
    arguments.extend(request.options.clang_arguments());
    if request.is_unoptimized {
        // The last one counts.
        arguments.push("-O0".into());
    }
    let has_external = ["extern inline", "inline extern"]
        .iter()
        .any(|words| request.source.contains(words));
    if request.is_whole && request.options.is_c() && !has_external {
        // By the rules of C99 a function that is `inline` and nothing else is not there to be called, only to be
        // inlined; programs that declare all theirs so expect to call them where clang does not inline.
        arguments.push("-fgnu89-inline".into());
    }
    arguments
}
