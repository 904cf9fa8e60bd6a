//! What clpeak, an OpenCL benchmark that others made, says of each device.
//!
//! ```text
//! cargo bench --bench clpeak -- [--quick] [--only bandwidth|compute|transfers|latency]… [--out FOLDER] [NAME…]
//! ```
//!
//! It runs the `clpeak` that is installed, through the system's loader like everything here. With names, only devices
//! whose platform or device name contains one take part, in that order; the first is the one that the others are
//! compared with. Figures are medians of three runs, in which the devices take turns; of one run with `--quick`. Maps
//! have a table of their own: where nothing has to move, clpeak's rate tells how long a call takes. clpeak flushes
//! kernels, and takes the time until `clFinish` returns: of a device where that does not wait for what was flushed, which
//! is found out before, its figures of kernels are left out.

mod support;

use opencl3::context::Context;
use opencl3::device::CL_DEVICE_TYPE_ALL;
use opencl3::platform::get_platforms;
use std::error::Error;
use std::io::ErrorKind;
use std::process::Command;
use std::time::Instant;
use support::opencl::{
    Subject, buffer, kernel, launch, queue, read, set_buffer, set_value, subjects,
};
use support::report::Report;
use support::table::{Table, Unit};
use support::{Arguments, Result, median};

/// What `--only` may name, and clpeak's options for it.
const PARTS: [(&str, &[&str]); 4] = [
    ("bandwidth", &["--global-bandwidth"]),
    (
        "compute",
        &[
            "--compute-sp",
            "--compute-dp",
            "--compute-integer",
            "--compute-intfast",
        ],
    ),
    ("transfers", &["--transfer-bandwidth"]),
    ("latency", &["--kernel-latency"]),
];

/// Runs for a while; llvmpipe ends loops after 65,535 rounds.
const SPIN: &str = "kernel void spin(global int *p, int n) {
    int x = p[0];
    for (int i = 0; i < n; i++) x = x * 1664525 + (x >> 3);
    p[0] = x;
}";
const ROUNDS: i32 = 65_000;

/// Units as clpeak writes them.
const UNITS: [(&str, Unit); 4] = [
    ("GBPS", Unit::GIGABYTES_PER_SECOND),
    ("GFLOPS", Unit::more("GFLOPS")),
    ("GIOPS", Unit::more("GIOPS")),
    ("us", Unit::MICROSECONDS),
];

/// A figure of clpeak's.
struct Figure {
    name: String,
    unit: Unit,
    value: f64,
}

impl Figure {
    /// Whether kernels are what it tells of.
    fn is_of_kernels(&self) -> bool {
        !self.name.starts_with("Transfer bandwidth")
    }

    /// Whether it is the rate of a map or an unmap, which need not move anything.
    fn is_of_a_map(&self) -> bool {
        self.name.contains("enqueueMap") || self.name.contains("enqueueUnmap")
    }
}

fn unit(name: &str) -> Option<Unit> {
    let found = UNITS.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// Reads what clpeak prints: `Heading (UNIT)` with lines `row : figure` below, and `Heading : figure UNIT`.
fn figures(text: &str) -> Vec<Figure> {
    let mut figures = Vec::new();
    let mut heading = None;
    for line in text.lines().map(str::trim) {
        if let Some((row, value)) = line.rsplit_once(" : ") {
            let (row, mut words) = (row.trim_end(), value.split_whitespace());
            let Some(Ok(value)) = words.next().map(str::parse::<f64>) else {
                continue;
            };
            // Its clock saw no time pass.
            if !value.is_normal() {
                continue;
            }
            let found = match (words.next().map(unit), heading) {
                (Some(Some(unit)), _) => Some((row.to_owned(), unit)),
                (None, Some((heading, unit))) => Some((format!("{heading}: {row}"), unit)),
                // Something about the device.
                _ => None,
            };
            figures.extend(found.map(|(name, unit)| Figure { name, unit, value }));
        } else if let Some((name, rest)) = line.rsplit_once(" (") {
            heading = unit(rest.trim_end_matches(')')).map(|unit| (name, unit));
        }
    }
    figures
}

/// The numbers by which clpeak knows a device: its platform's, and its own there.
fn numbers(subject: &Subject) -> Result<(usize, usize)> {
    for (platform, found) in get_platforms()?.iter().enumerate() {
        let devices = found.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default();
        if let Some(device) = devices.iter().position(|id| *id == subject.device.id()) {
            return Ok((platform, device));
        }
    }
    Err("the loader has it no longer".into())
}

fn run(subject: &Subject, options: &[&str]) -> Result<Vec<Figure>> {
    let (platform, device) = numbers(subject)?;
    let output = Command::new("clpeak")
        .args(["-p", &platform.to_string(), "-d", &device.to_string()])
        .args(options)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Device: "))
        .collect();
    let figures = figures(&text);
    // Another one's figures are worse than none.
    let is_it = matches!(names[..], [name] if subject.name.ends_with(name.trim()));
    if is_it && output.status.success() && !figures.is_empty() {
        Ok(figures)
    } else {
        let error = String::from_utf8_lossy(&output.stderr);
        let (ran_on, error) = (names.join(", "), error.trim());
        Err(format!("clpeak ran on \"{ran_on}\", {}: {error}", output.status).into())
    }
}

/// Whether `clFinish` waits for a kernel that was flushed, as it does for one that was not.
fn waits_for_what_was_flushed(subject: &Subject) -> Result<bool> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let (spin, argument) = (kernel(&context, SPIN, "spin", "")?, buffer(&context, 64)?);
    set_buffer(&spin, 0, &argument)?;
    set_value(&spin, 1, ROUNDS)?;
    let seconds = |flushes: bool| {
        let mut samples = Vec::new();
        for _ in 0..10 {
            let start = Instant::now();
            launch(&queue, &spin, 1, 1)?;
            if flushes {
                queue.flush()?;
            }
            queue.finish()?;
            samples.push(start.elapsed().as_secs_f64());
            // For this it waits in any case.
            read(&queue, &argument, true, &mut [0; 64])?;
        }
        Ok::<f64, Box<dyn Error>>(median(samples))
    };
    Ok(seconds(true)? > 0.5 * seconds(false)?)
}

/// Whether clpeak can be run at all.
fn is_installed() -> Result<bool> {
    match Command::new("clpeak").arg("--version").output() {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(&PARTS.map(|(part, _)| part))?;
    if !is_installed()? {
        println!("clpeak is not installed: there is no such program on PATH");
        return Ok(());
    }
    let subjects = subjects(&arguments.names)?;
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let wanted = PARTS.iter().filter(|(part, _)| arguments.wants(part));
    // Without options it does everything, also what has none (half precision).
    let options = if wanted.clone().count() == PARTS.len() {
        Vec::new()
    } else {
        wanted.flat_map(|(_, options)| options.to_vec()).collect()
    };
    let mut trusted = Vec::new();
    for subject in &subjects {
        let waits = waits_for_what_was_flushed(subject)?;
        if !waits {
            println!(
                "{}: clFinish does not wait for what was flushed; figures of kernels are left out",
                subject.name
            );
        }
        trusted.push(waits);
    }
    let mut samples: Vec<Vec<(Figure, Vec<f64>)>> = Vec::new();
    samples.resize_with(subjects.len(), Vec::new);
    for _ in 0..if arguments.quick { 1 } else { 3 } {
        for (subject, rows) in subjects.iter().zip(&mut samples) {
            let figures = run(subject, &options).unwrap_or_else(|error| {
                println!("{}: {error}", subject.name);
                Vec::new()
            });
            for figure in figures {
                let known = |(row, _): &&mut (Figure, Vec<f64>)| row.name == figure.name;
                match rows.iter_mut().find(known) {
                    Some((_, values)) => values.push(figure.value),
                    None => {
                        let value = figure.value;
                        rows.push((figure, vec![value]));
                    }
                }
            }
        }
    }
    let mut figures = Table::new("clpeak", &columns);
    let mut maps = Table::new("clpeak: maps, which need not move anything", &columns);
    for (column, rows) in samples.into_iter().enumerate() {
        for (row, values) in rows {
            if row.is_of_kernels() && !trusted[column] {
                continue;
            }
            let table = if row.is_of_a_map() {
                &mut maps
            } else {
                &mut figures
            };
            table.put(column, &row.name, row.unit, median(values));
        }
    }
    let report = Report {
        tables: vec![figures, maps],
        ..Report::default()
    };
    report.show("clpeak", arguments.out.as_deref())
}
