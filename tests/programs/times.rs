//! How long the first launch of a program may take.

use std::collections::HashMap;

/// CPU seconds of first launches on SwiftShader, for those where the bound depends on it: lines of a case's name, a tab
/// and the seconds. `--times` prints them.
const SWIFTSHADER: &str = include_str!("swiftshader.txt");

/// CPU seconds that every first launch may take.
const ALWAYS: f64 = 3.0;

/// A first launch may also take so many times what SwiftShader takes, and seconds beside.
const TIMES: f64 = 3.0;
const BESIDE: f64 = 1.0;

/// SwiftShader's seconds from which on the bound is more than that of all programs.
pub const TOLD_FROM: f64 = (ALWAYS - BESIDE) / TIMES;

/// The bounds of all cases.
pub struct Bounds(HashMap<&'static str, f64>);

impl Bounds {
    /// # Panics
    /// A line of the table can't be read.
    pub fn read() -> Self {
        let lines = SWIFTSHADER.lines().filter(|line| !line.is_empty());
        let read = |line: &'static str| {
            let (name, seconds) = line.split_once('\t')?;
            Some((name, seconds.parse().ok()?))
        };
        Self(
            lines
                .map(|line| read(line).unwrap_or_else(|| panic!("what is `{line}`?")))
                .collect(),
        )
    }

    /// CPU seconds that the first launch of a case may take.
    pub fn of(&self, case: &str) -> f64 {
        let swiftshader = self.0.get(case).copied().unwrap_or(0.0);
        ALWAYS.max(TIMES * swiftshader + BESIDE)
    }

    /// The most that any case may take.
    pub fn most(&self) -> f64 {
        self.0
            .keys()
            .map(|case| self.of(case))
            .fold(ALWAYS, f64::max)
    }

    /// Cases of the table that there are not.
    pub fn unknown<'a>(&'a self, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let mut unknown = self.0.clone();
        names.for_each(|name| {
            unknown.remove(name);
        });
        unknown.into_keys().collect()
    }
}
