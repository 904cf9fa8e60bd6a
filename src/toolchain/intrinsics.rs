//! Calls of LLVM's intrinsic functions that clang's SPIR-V back end does not know, as functions of the program.
//!
//! `__builtin_sadd_overflow`, `__builtin_lrintf`, `__builtin_elementwise_canonicalize` and `__builtin_prefetch` become
//! such, and the optimizer makes some of ordinary code: it breaks down on them all.

use std::fmt::Write;

/// The IR with those functions defined; `None` if there is none.
pub fn spelled_out(ir: &str) -> Option<String> {
    let declared = ir.lines().filter_map(Declaration::parse);
    let known: Vec<(Declaration<'_>, String)> = declared
        .filter_map(|declaration| Some((declaration, declaration.definition()?)))
        .collect();
    if known.is_empty() {
        return None;
    }
    let mut text = String::with_capacity(ir.len() + ir.len() / 16);
    for line in ir.split_inclusive('\n') {
        let is_declaration =
            |(declaration, _): &(Declaration<'_>, String)| declaration.line == line.trim_end();
        if known.iter().any(is_declaration) {
            continue;
        }
        let call = known.iter().find_map(|(declaration, _)| {
            let name = declaration.name;
            let (before, after) = line.split_once(name)?;
            after.starts_with('(').then_some((before, name, after))
        });
        match call {
            Some((before, name, after)) => {
                let name = renamed(name);
                text.push_str(before);
                text.push_str(&name);
                text.push_str(after);
            }
            None => text.push_str(line),
        }
    }
    for (_, definition) in &known {
        text.push_str(definition);
    }
    for helper in ["rint", "round"] {
        declare_helpers(&mut text, ir, helper);
    }
    Some(text)
}

/// `@llvm.lrint.i64.f32` under a name of ours.
fn renamed(name: &str) -> String {
    name.replacen("@llvm.", "@pumice.", 1)
}

/// Declares the functions that definitions call, where the program does not.
fn declare_helpers(text: &mut String, ir: &str, helper: &str) {
    for (suffix, ty) in [("f16", "half"), ("f32", "float"), ("f64", "double")] {
        let name = format!("@llvm.{helper}.{suffix}(");
        if text.contains(&name) && !ir.contains(&format!("declare {ty} {name}")) {
            let _ = writeln!(text, "declare {ty} {name}{ty})");
        }
    }
}

/// `declare RESULT NAME(PARAMETERS) …`
#[derive(Clone, Copy)]
struct Declaration<'a> {
    line: &'a str,
    result: &'a str,
    /// With its `@`.
    name: &'a str,
    /// The first parameter's type.
    parameter: &'a str,
}

impl<'a> Declaration<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (result, rest) = line.strip_prefix("declare ")?.split_once(" @llvm.")?;
        let start = line.len() - rest.len() - "@llvm.".len();
        let (name, parameters) = line[start..].split_once('(')?;
        let parameter = parameters.split([',', ')']).next()?;
        let end = if parameter.starts_with('<') {
            parameter.find('>')? + 1
        } else {
            parameter.find(' ').unwrap_or(parameter.len())
        };
        Some(Self {
            line,
            result,
            name,
            parameter: &parameter[..end],
        })
    }

    /// A definition of the function; `None` of one that the back end knows.
    fn definition(&self) -> Option<String> {
        let Self {
            result, parameter, ..
        } = *self;
        let (kind, suffix) = self.name.strip_prefix("@llvm.")?.rsplit_once('.')?;
        let name = renamed(self.name);
        let head = format!("define internal {result} {name}({parameter} %a");
        let of_float = |function: &str| {
            let function = format!("@llvm.{function}.{suffix}({parameter} %a)");
            format!(
                "{head}) {{\n  %r = call {parameter} {function}\n  %i = fptosi {parameter} %r to {result}\n  ret {result} %i\n}}\n"
            )
        };
        Some(match kind {
            // The sign of the exact result is that of the one that has it and is not the other's.
            "sadd.with.overflow" => self.checked(&head, "add", ["%a, %s", "%b, %s"]),
            "ssub.with.overflow" => self.checked(&head, "sub", ["%a, %b", "%a, %s"]),
            "canonicalize" => format!("{head}) {{\n  ret {result} %a\n}}\n"),
            "prefetch" => {
                let pointer = match suffix.strip_prefix('p')? {
                    "0" => "ptr".to_owned(),
                    space => format!("ptr addrspace({space})"),
                };
                format!(
                    "define internal void {name}({pointer} %p, i32 %a, i32 %b, i32 %c) {{\n  ret void\n}}\n"
                )
            }
            _ if parameter.starts_with('<') => return None,
            _ if ["lrint", "llrint"].iter().any(|it| kind.starts_with(it)) => of_float("rint"),
            _ if ["lround", "llround"].iter().any(|it| kind.starts_with(it)) => of_float("round"),
            _ => return None,
        })
    }

    /// A sum or difference, and whether both of two exclusive ors are negative.
    fn checked(&self, head: &str, op: &str, signs: [&str; 2]) -> String {
        let Self {
            result, parameter, ..
        } = *self;
        let [first, second] = signs;
        format!(
            "{head}, {parameter} %b) {{\n  %s = {op} {parameter} %a, %b\n  %x = xor {parameter} {first}\n  \
             %y = xor {parameter} {second}\n  %z = and {parameter} %x, %y\n  %o = icmp slt {parameter} %z, 0\n  \
             %p = insertvalue {result} poison, {parameter} %s, 0\n  %q = insertvalue {result} %p, i1 %o, 1\n  \
             ret {result} %q\n}}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_intrinsics_become_functions() {
        let ir = "\
define void @f(i32 %x) {
  %1 = tail call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %x, i32 7), !x !1
  %2 = call float @llvm.rint.f32(float 1.0)
}
declare { i32, i1 } @llvm.sadd.with.overflow.i32(i32, i32) #1
declare i64 @llvm.lrint.i64.f32(float) #1
declare void @llvm.prefetch.p1(ptr addrspace(1) readonly captures(none), i32 immarg, i32 immarg, i32 immarg) #1
declare float @llvm.rint.f32(float) #1
";
        let text = spelled_out(ir).expect("rewritten");
        assert!(
            text.contains(
                "call { i32, i1 } @pumice.sadd.with.overflow.i32(i32 %x, i32 7), !x !1\n"
            )
        );
        assert!(text.contains(
            "define internal { i32, i1 } @pumice.sadd.with.overflow.i32(i32 %a, i32 %b) {"
        ));
        assert!(text.contains("define internal i64 @pumice.lrint.i64.f32(float %a) {"));
        assert!(text.contains("define internal void @pumice.prefetch.p1(ptr addrspace(1) %p,"));
        assert_eq!(text.matches("declare").count(), 1);
        assert_eq!(
            spelled_out("declare float @llvm.rint.f32(float) #1\n"),
            None
        );
    }
}
