//! What the benchmarks share: devices, timing, arguments, tables and plots.
#![allow(dead_code, reason = "each benchmark uses its part")]

pub mod child;
pub mod opencl;
pub mod plot;
pub mod report;
pub mod table;
pub mod turns;
pub mod vulkan;
pub mod vulkan_code;

use lexopt::prelude::*;
use std::path::PathBuf;
use std::time::Instant;

/// An error with a message.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// What most benchmarks take: `[--quick] [--only PART]… [--out FOLDER] [NAME…]`.
pub struct Arguments {
    /// Fewer repetitions and smaller sizes.
    pub quick: bool,
    only: Vec<String>,
    /// Where tables and plots are written besides being printed.
    pub out: Option<PathBuf>,
    /// Parts of the names of the devices that take part; all without.
    pub names: Vec<String>,
}

impl Arguments {
    /// `parts`: what `--only` may name.
    pub fn parse(parts: &[&str]) -> Result<Self> {
        let mut arguments = Self {
            quick: false,
            only: Vec::new(),
            out: None,
            names: Vec::new(),
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // cargo bench passes it.
                Long("bench") => {}
                Long("quick") => arguments.quick = true,
                Long("only") => arguments.only.push(parser.value()?.string()?),
                Long("out") => arguments.out = Some(parser.value()?.into()),
                Value(name) => arguments.names.push(name.string()?),
                other => return Err(other.unexpected().into()),
            }
        }
        match arguments
            .only
            .iter()
            .find(|it| !parts.contains(&it.as_str()))
        {
            Some(unknown) => Err(format!("--only {unknown}: there is {}", parts.join(", ")).into()),
            None => Ok(arguments),
        }
    }

    /// Whether a part is to be measured.
    pub fn wants(&self, part: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == part)
    }
}

/// The middle one; NaN of none.
pub fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Median seconds of `rounds` runs of `work`, after two that are not counted.
pub fn time(rounds: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut samples = Vec::with_capacity(rounds);
    for round in 0..rounds + 2 {
        let start = Instant::now();
        work()?;
        if round >= 2 {
            samples.push(start.elapsed().as_secs_f64());
        }
    }
    Ok(median(samples))
}

/// Median seconds of `rounds` runs of `work`, after two that are not counted: until the host has handed everything
/// over, which is when `work` returns, and until `finish` has returned as well.
pub fn time_handing_over(
    rounds: usize,
    mut work: impl FnMut() -> Result<()>,
    mut finish: impl FnMut() -> Result<()>,
) -> Result<(f64, f64)> {
    let (mut host, mut wall) = (Vec::new(), Vec::new());
    for round in 0..rounds + 2 {
        let start = Instant::now();
        work()?;
        let handed_over = start.elapsed();
        finish()?;
        if round >= 2 {
            host.push(handed_over.as_secs_f64());
            wall.push(start.elapsed().as_secs_f64());
        }
    }
    Ok((median(host), median(wall)))
}

/// Bytes of memory that this process occupies.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0
}
