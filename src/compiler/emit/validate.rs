//! `spirv-val` on what tests emit.

use crate::compiler::spirv::words;
use std::io::Write;
use std::process::{Command, Stdio};

/// Panics with the validator's words and the disassembly when a module is not valid for the oldest Vulkan that takes its version.
///
/// Where the machine has no `spirv-val` nothing is checked, and the test says so.
pub fn assert_valid(module: &[u32]) {
    let bytes = words::to_bytes(module);
    let environment = words::environment(module);
    let Some((valid, message)) = pipe("spirv-val", &["--target-env", environment, "-"], &bytes)
    else {
        eprintln!("spirv-val is not installed: the module was not validated");
        return;
    };
    if !valid {
        let text = pipe("spirv-dis", &["-"], &bytes).map_or(String::new(), |(_, text)| text);
        panic!("{message}\n{text}");
    }
}

/// The text form of a module, by `spirv-dis`; `None` where it is not installed.
pub fn disassemble(module: &[u32]) -> Option<String> {
    let bytes = words::to_bytes(module);
    pipe("spirv-dis", &["--raw-id", "-"], &bytes).map(|(_, text)| text)
}

/// Runs a tool on `input`: whether it succeeded, and all that it wrote.
fn pipe(tool: &str, args: &[&str], input: &[u8]) -> Option<(bool, String)> {
    let mut child = Command::new(tool)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    // A tool that stops reading early has said why.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().ok()?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Some((output.status.success(), text))
}
