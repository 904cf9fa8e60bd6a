//! Kernels that csmith makes: whole programs of C with pointers to pointers, structures, unions and jumps, whose variables
//! are at program scope. One work-item runs such a program; what all its variables hold in the end is the result.

use crate::generator::{Program, printed};
use std::fmt::Write;
use std::process::Command;

/// What programs of csmith are made of, beyond what OpenCL C lacks; they take turns.
const KINDS: &[&[&str]] = &[
    &[],
    &["--max-funcs", "5"],
    &["--no-global-variables"],
    &["--max-funcs", "3", "--max-block-depth", "3"],
    &["--no-jumps"],
    &["--max-array-dim", "2", "--max-pointer-depth", "3"],
    &["--no-unions", "--inline-function"],
    &["--no-structs", "--no-unions", "--max-funcs", "6"],
];

/// OpenCL C has no bit-fields. A kernel has no arguments of a command line, and packed structures are asked for by a pragma.
const WITHOUT: [&str; 4] = [
    "--concise",
    "--no-bitfields",
    "--no-packed-struct",
    "--no-argc",
];

/// What the program's `main` becomes.
const SIGNATURE: &str = "(global ulong *out, global const uint *in, global uint *scratch, global uint *counters, \
                         local short *items, uint number, short4 vector)";

/// The kernel of a seed; what csmith says if it makes none.
pub fn kernel(seed: u64, name: &str) -> Result<Program, String> {
    let kind = KINDS[seed as usize % KINDS.len()];
    let output = Command::new("csmith")
        .args(["--seed", &seed.to_string()])
        .args(WITHOUT)
        .args(kind)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .map_err(|error| format!("csmith: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = translated(&String::from_utf8_lossy(&output.stdout), name);
    printed(&text, 1, true).ok_or_else(|| "csmith made no program".into())
}

/// A program of csmith as a kernel.
fn translated(program: &str, name: &str) -> String {
    let has_number = program.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        matches!(words[..], ["static", ty, "func_1(void);"] if ty.ends_with("_t"))
    });
    let mut text = String::new();
    let mut is_main = false;
    for line in program.lines() {
        let line = with_short_suffixes(line);
        match line.trim() {
            "#include \"csmith.h\"" => text.push_str(include_str!("csmith.h")),
            "int main (void)" => {
                is_main = true;
                let _ = writeln!(text, "kernel void {name}{SIGNATURE}");
            }
            "{" if is_main => text.push_str("{\n    if (get_global_id(0) != 0) return;\n"),
            // All that is seen of a program without variables.
            "func_1();" if is_main && has_number => {
                text.push_str("    transparent_crc(func_1(), \"func_1\", 0);\n");
            }
            "return 0;" if is_main => {}
            trimmed if is_main && trimmed.starts_with("if (print_hash_value) printf") => {}
            _ => match generic_variable(&line) {
                Some(generic) => text.push_str(&generic),
                None => {
                    text.push_str(&line);
                    text.push('\n');
                }
            },
        }
    }
    text
}

/// A variable of program scope, with a name for it of which the address is a generic pointer: OpenCL C compares no pointers
/// of two named address spaces.
fn generic_variable(line: &str) -> Option<String> {
    let declared = line.strip_prefix("static ")?;
    let (declarator, _) = declared.split_once(" = ")?;
    let start = declarator.rfind("g_")?;
    let (ty, name) = declarator.split_at(start);
    let (name, dimensions) = name.split_at(name.find('[').unwrap_or(name.len()));
    let renamed = line.replacen(
        &format!("{name}{dimensions} ="),
        &format!("{name}_{dimensions} ="),
        1,
    );
    Some(format!(
        "{renamed}\n#define {name} (*({ty}(*){dimensions})&{name}_)\n"
    ))
}

/// A line without numbers of type `long long`, which are `long` in OpenCL C.
fn with_short_suffixes(line: &str) -> String {
    line.replace("ULL", "UL").replace("LL", "L")
}
