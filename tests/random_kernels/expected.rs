//! What platforms agreed on, written down for machines that have no other platform.
//!
//! A line for each kernel: its seed, a number for its text and one for its results.

use crate::generator::Program;
use std::collections::HashMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hasher};
use std::io::Write;
use std::path::Path;

/// The same number for the same text on every machine.
pub fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// Its text without the name that it has in its program.
fn text(kernel: &Program) -> String {
    kernel.text().replace(&kernel.name, "k")
}

/// Results by seed and text.
pub struct Expected(HashMap<(u64, u64), u64>);

impl Expected {
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let line = |line: &str| {
            let mut words = line.split(' ');
            let seed = words.next()?.parse().ok()?;
            let mut number = || u64::from_str_radix(words.next()?, 16).ok();
            Some(((seed, number()?), number()?))
        };
        Ok(Self(text.lines().filter_map(line).collect()))
    }

    /// Whether this is the result of a kernel; `None` where it is not known.
    pub fn is(&self, seed: u64, kernel: &Program, result: &str) -> Option<bool> {
        let known = self.0.get(&(seed, digest(&text(kernel))))?;
        Some(*known == digest(result))
    }
}

/// A file that results are added to.
pub struct Record(File);

impl Record {
    pub fn open(path: &Path) -> Result<Self, String> {
        let file = File::options().create(true).append(true).open(path);
        file.map(Self)
            .map_err(|error| format!("{}: {error}", path.display()))
    }

    pub fn add(&mut self, seed: u64, kernel: &Program, result: &str) -> Result<(), String> {
        let (text, result) = (digest(&text(kernel)), digest(result));
        writeln!(self.0, "{seed} {text:016x} {result:016x}").map_err(|error| error.to_string())
    }
}
