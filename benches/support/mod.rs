//! What the benchmarks share.
#![allow(dead_code, reason = "each benchmark uses its part")]

pub mod opencl;
pub mod raw;
pub mod report;

use std::time::Instant;

/// An error with a message.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

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

/// Bytes of memory that this process occupies.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or(f64::NAN) * 1024.0
}
