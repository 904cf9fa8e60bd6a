//! The text that clang is given for a source: what we add, then the source under its own name.

use std::borrow::Cow;
use std::fmt::Write;

use super::built_ins::BuiltIns;
use super::diagnostics::SOURCE_NAME;
use super::{
    CompileRequest, atomics, conversions, group_functions, half_vectors, mipmaps, overflows,
};

/// The name of what we add in messages.
pub(super) const ADDED_NAME: &str = "<pumice>";

/// Whether more of the program may come from other files.
pub(super) fn includes(request: &CompileRequest<'_>) -> bool {
    !request.headers.is_empty() || request.source.contains("include")
}

/// The macros that options define: `N=4`, `F(x)=x`.
fn definitions<'a>(request: &CompileRequest<'a>) -> impl Iterator<Item = &'a str> {
    let options = request.options.preprocessor.iter();
    options.filter_map(|option| option.strip_prefix("-D"))
}

/// The source, and before it what macros of the options put into it.
pub(super) fn with_definitions<'a>(request: &CompileRequest<'a>) -> Cow<'a, str> {
    let mut text = String::new();
    for definition in definitions(request) {
        let (name, value) = definition.split_once('=').unwrap_or((definition, "1"));
        // Writing to a string does not fail.
        let _ = writeln!(text, "#define {name} {value}");
    }
    if text.is_empty() {
        Cow::Borrowed(request.source)
    } else {
        Cow::Owned(text + request.source)
    }
}

/// The text given to clang: what we add, marked as a system header, then the source. `declared` is the header of all
/// built-in functions, where it is needed.
pub(super) fn input(request: &CompileRequest<'_>, declared: Option<&BuiltIns>) -> String {
    let includes = includes(request);
    let text = with_definitions(request);
    let mut prelude = declared.map_or_else(String::new, |it| declarations(request, it));
    prelude.push_str(&conversions::prelude(&text, includes, declared.is_some()));
    prelude.push_str(half_vectors::prelude(&text, includes));
    prelude.push_str(mipmaps::prelude(&text, includes));
    prelude.push_str(atomics::prelude(&text, includes));
    prelude.push_str(overflows::prelude(&text, includes));
    prelude.push_str(&group_functions::prelude(&text, includes, |extension| {
        request.target.has_extension(extension)
    }));
    let source = request.source;
    if prelude.is_empty() {
        format!("# 1 \"{SOURCE_NAME}\"\n{source}\n")
    } else {
        format!("# 1 \"{ADDED_NAME}\" 3\n{prelude}# 1 \"{SOURCE_NAME}\"\n{source}\n")
    }
}

/// Extensions whose functions [`group_functions`] declares, in its own way.
const DECLARED_ELSEWHERE: [&str; 5] = [
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_short",
    "cl_intel_subgroups_long",
    "cl_intel_subgroup_local_block_io",
];

/// Includes all built-in functions. Macros of the options are not for the header, whose parameters have names like `n`
/// and `x`, but for those that say what the device and the language are.
fn declarations(request: &CompileRequest<'_>, built_ins: &BuiltIns) -> String {
    let names = definitions(request).map(|definition| {
        let end = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
        definition.split(end).next().unwrap_or_default()
    });
    let is_header_s = |name: &str| ["_", "cl_", "CL_"].iter().any(|it| name.starts_with(it));
    let names = names.filter(|name| !name.is_empty() && !is_header_s(name));
    let names: Vec<&str> = names.chain(DECLARED_ELSEWHERE).collect();
    let mut text = String::new();
    for name in &names {
        let _ = writeln!(text, "#pragma push_macro(\"{name}\")\n#undef {name}");
    }
    let _ = writeln!(text, "#include \"{}\"", built_ins.full());
    for name in names.iter().rev() {
        let _ = writeln!(text, "#pragma pop_macro(\"{name}\")");
    }
    text
}
