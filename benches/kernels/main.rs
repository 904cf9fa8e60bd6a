//! Twelve kernels on every OpenCL device of the machine, timed in one run.
//!
//! ```text
//! cargo bench --bench kernels -- [--size cpu|gpu] [--runs N] [--only KERNEL]… [--options "…"] [--svg FILE] [NAME…]
//! ```
//!
//! It speaks only OpenCL through the system's loader, so every ICD that the loader finds takes the same test. With
//! names, only devices whose platform or device name contains one of them take part, in the order of the names;
//! the first is the one that the others are compared with. Each kernel is written as one would write it for a GPU,
//! and has one source for all; its result is compared with what the host computes. The time is the least of several runs:
//! by the device's clock (profiling events, summed where one run takes several launches), and by the host's, from
//! the first enqueue to the end of `clFinish`. A ratio is another device's time over the first one's: above 1 the
//! first is faster.

mod bitonic_sort;
mod black_scholes;
mod copy;
#[path = "../common/devices.rs"]
mod devices;
mod histogram;
mod mandelbrot;
mod matrix_product;
mod n_body;
#[path = "../common/plot.rs"]
mod plot;
mod random;
mod reduction;
mod scan;
mod sha256;
mod stencil;
mod transpose;
mod workload;

use devices::{Subject, subjects};
use lexopt::prelude::*;
use opencl3::device::CL_DEVICE_TYPE_GPU;
use std::path::PathBuf;
use workload::{Bench, Case, Result, Size, Times};

const CASES: [Case; 12] = [
    copy::CASE,
    reduction::CASE,
    scan::CASE,
    histogram::CASE,
    matrix_product::CASE,
    n_body::CASE,
    black_scholes::CASE,
    mandelbrot::CASE,
    stencil::CASE,
    transpose::CASE,
    sha256::CASE,
    bitonic_sort::CASE,
];

struct Arguments {
    size: Option<Size>,
    runs: usize,
    only: Vec<String>,
    options: String,
    svg: PathBuf,
    names: Vec<String>,
}

fn arguments() -> Result<Arguments> {
    let mut arguments = Arguments {
        size: None,
        runs: 10,
        only: Vec::new(),
        options: String::new(),
        svg: "target/kernels.svg".into(),
        names: Vec::new(),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            // cargo bench passes it.
            Long("bench") => {}
            Long("size") => {
                arguments.size = Some(match parser.value()?.string()?.as_str() {
                    "cpu" => Size::Processor,
                    "gpu" => Size::Gpu,
                    other => return Err(format!("--size {other}: not cpu or gpu").into()),
                });
            }
            Long("runs") => arguments.runs = parser.value()?.parse()?,
            Long("only") => arguments.only.push(parser.value()?.string()?),
            Long("options") => arguments.options = parser.value()?.string()?,
            Long("svg") => arguments.svg = parser.value()?.into(),
            Value(name) => arguments.names.push(name.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(arguments)
}

/// What a device took for each case, none where it failed.
struct Column {
    name: String,
    times: Vec<Option<Times>>,
}

fn measure(subject: &Subject, cases: &[&Case], arguments: &Arguments, size: Size) -> Column {
    let times = cases
        .iter()
        .map(|case| {
            let measured = Bench::new(&subject.device, case, &arguments.options, size)
                .and_then(|bench| bench.measure(case, arguments.runs));
            match measured {
                Ok(times) => Some(times),
                Err(error) => {
                    println!("    {}: {error}", case.name);
                    None
                }
            }
        })
        .collect();
    Column {
        name: subject.name.clone(),
        times,
    }
}

/// Each case's ratio of `other` to `first`.
fn ratios(first: &Column, other: &Column, pick: fn(&Times) -> f64) -> Vec<Option<f64>> {
    let pairs = first.times.iter().zip(&other.times);
    pairs
        .map(|(a, b)| Some(pick(b.as_ref()?) / pick(a.as_ref()?)))
        .collect()
}

fn geometric_mean(ratios: &[Option<f64>]) -> Option<f64> {
    let logs: Vec<f64> = ratios.iter().flatten().map(|ratio| ratio.ln()).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn print_table(title: &str, cases: &[&Case], columns: &[Column], pick: fn(&Times) -> f64) {
    let Some(first) = columns.first() else {
        return;
    };
    let ratios: Vec<_> = columns[1..]
        .iter()
        .map(|column| ratios(first, column, pick))
        .collect();
    print!("\n{title:16}{:>24}", "[0]");
    for index in 1..columns.len() {
        print!("{:>24}", format!("[{index}]"));
    }
    println!();
    for (row, case) in cases.iter().enumerate() {
        print!("{:16}", case.name);
        for (index, column) in columns.iter().enumerate() {
            let cell = match &column.times[row] {
                None => "failed".into(),
                Some(times) => {
                    let seconds = pick(times);
                    let beside = match index.checked_sub(1).map(|other| ratios[other][row]) {
                        None => {
                            format!("{:8.1} {}", times.work.amount / seconds, times.work.unit)
                        }
                        Some(ratio) => ratio.map_or(String::new(), |r| format!("  x{r:<6.2}")),
                    };
                    format!("{:.3} ms{beside}", seconds * 1e3)
                }
            };
            print!("{cell:>24}");
        }
        println!();
    }
    print!("{:40}", "geometric mean");
    for ratios in &ratios {
        let mean = geometric_mean(ratios).map_or(String::new(), |mean| format!("x{mean:<6.2}"));
        print!("{mean:>24}");
    }
    println!();
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    let cases: Vec<&Case> = CASES
        .iter()
        .filter(|case| arguments.only.is_empty() || arguments.only.iter().any(|o| o == case.name))
        .collect();
    let subjects = subjects(&arguments.names)?;
    if subjects.is_empty() {
        return Err("the loader has no OpenCL device of such a name".into());
    }
    let all_gpus = subjects.iter().all(|s| {
        s.device
            .dev_type()
            .is_ok_and(|t| t & CL_DEVICE_TYPE_GPU != 0)
    });
    let by_type = if all_gpus { Size::Gpu } else { Size::Processor };
    let size = arguments.size.unwrap_or(by_type);
    let mut columns = Vec::new();
    for (index, subject) in subjects.iter().enumerate() {
        println!("[{index}] {}", subject.name);
        columns.push(measure(subject, &cases, &arguments, size));
    }
    print_table("device time", &cases, &columns, |times| times.device);
    print_table("host time", &cases, &columns, |times| times.host);

    let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    let series: Vec<_> = columns[1..]
        .iter()
        .map(|column| plot::Bars {
            name: format!("against {}", column.name),
            values: ratios(&columns[0], column, |times| times.device),
        })
        .collect();
    let title = format!("How many times as fast {} is", columns[0].name);
    let svg = plot::bars(&title, "ratio of device times", &names, &series);
    if let Some(folder) = arguments.svg.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&arguments.svg, svg)?;
    println!("\nplot: {}", arguments.svg.display());
    if columns.iter().any(|c| c.times.iter().any(Option::is_none)) {
        return Err("not every kernel was right on every device".into());
    }
    Ok(())
}
