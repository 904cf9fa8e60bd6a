//! Measurements in processes of their own: what memory a process takes, and what one meets that has only begun.
//!
//! The child is the same program; a variable of its environment holds what it is asked for, its output the figures.

use super::Result;
use std::path::Path;
use std::process::Command;

const REQUEST: &str = "PUMICE_BENCH_REQUEST";

/// The lines of what this process is asked for, if it is a child.
pub fn request() -> Option<Vec<String>> {
    let request = std::env::var(REQUEST).ok()?;
    Some(request.split('\n').map(str::to_owned).collect())
}

/// Starts a child and takes its figures. With `vendors`, a folder, its loader knows the platforms named there alone.
pub fn ask(request: &[&str], vendors: Option<&Path>) -> Result<Vec<f64>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.env(REQUEST, request.join("\n"));
    if let Some(vendors) = vendors {
        // ocl-icd wants the slash to tell a folder from a file.
        command
            .env("OCL_ICD_VENDORS", vendors.join(""))
            .env_remove("OCL_ICD_FILENAMES");
    }
    let output = command.output()?;
    let text = String::from_utf8(output.stdout)?;
    let last = text.lines().last().unwrap_or_default();
    let figures: std::result::Result<Vec<f64>, _> =
        last.split_whitespace().map(str::parse).collect();
    match figures {
        Ok(figures) if output.status.success() && !figures.is_empty() => Ok(figures),
        _ => {
            let error = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: {}", output.status, error.trim()).into())
        }
    }
}

/// What a child ends with.
pub fn answer(figures: &[f64]) {
    let figures: Vec<String> = figures.iter().map(f64::to_string).collect();
    println!("{}", figures.join(" "));
}
