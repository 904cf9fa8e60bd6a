//! Sixteen kernels on every OpenCL device of the machine, timed in one run.
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
mod convolution;
mod copy;
mod filter;
mod histogram;
mod mandelbrot;
mod matrix_product;
mod n_body;
mod plain_product;
mod random;
mod reduction;
mod scan;
mod sha256;
mod stencil;
mod strided_sum;
#[path = "../support/mod.rs"]
mod support;
mod transpose;
mod workload;

use lexopt::prelude::*;
use std::path::PathBuf;
use support::opencl::{Subject, subjects};
use support::report::{Report, save_plot};
use support::table::{Table, Unit};
use support::{Result, plot};
use workload::{Bench, Case, Size};

const CASES: [Case; 16] = [
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
    convolution::CASE,
    plain_product::CASE,
    filter::CASE,
    strided_sum::CASE,
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

/// How many times as long as the device the host may take: beyond that the device's times are none.
const MOST_OVERHEAD: f64 = 1000.0;

/// The tables of the run.
struct Figures {
    device: Table,
    host: Table,
    rates: Table,
}

/// Measures all cases on one device: whether all were right.
fn measure(
    subject: &Subject,
    cases: &[&Case],
    arguments: &Arguments,
    size: Size,
    column: usize,
    figures: &mut Figures,
) -> bool {
    let mut all_right = true;
    for case in cases {
        let measured = Bench::new(&subject.device, case, &arguments.options, size)
            .and_then(|bench| bench.measure(case, arguments.runs));
        match measured {
            Ok(times) => {
                let host = times.host * 1e3;
                let (host_table, name) = (&mut figures.host, case.name);
                host_table.put(column, name, Unit::MILLISECONDS, host);
                // Rusticl's timestamps of Mesa 22.3 are a nanosecond apart whatever runs between them.
                if times.device * MOST_OVERHEAD < times.host {
                    println!("{}: {name}: no times of the device", subject.name);
                    continue;
                }
                let (device, rate) = (times.device * 1e3, times.work.amount / times.device);
                let unit = Unit::more(times.work.unit);
                figures.device.put(column, name, Unit::MILLISECONDS, device);
                figures.rates.put(column, name, unit, rate);
            }
            Err(error) => {
                println!("{}: {}: {error}", subject.name, case.name);
                all_right = false;
            }
        }
    }
    all_right
}

fn main() -> Result<()> {
    let arguments = arguments()?;
    let cases: Vec<&Case> = CASES
        .iter()
        .filter(|case| arguments.only.is_empty() || arguments.only.iter().any(|o| o == case.name))
        .collect();
    let subjects = subjects(&arguments.names)?;
    let by_type = if subjects.iter().all(Subject::is_gpu) {
        Size::Gpu
    } else {
        Size::Processor
    };
    let size = arguments.size.unwrap_or(by_type);
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let mut figures = Figures {
        device: Table::new("Kernels by the device's clock", &columns),
        host: Table::new("Kernels by the host's clock", &columns),
        rates: Table::of_parts("What that is by the device's clock", &columns),
    };
    let mut all_right = true;
    for (column, subject) in subjects.iter().enumerate() {
        all_right &= measure(subject, &cases, &arguments, size, column, &mut figures);
    }
    let plots = [
        (arguments.svg.clone(), plot::ratios(&figures.device)?),
        (
            arguments.svg.with_extension("host.svg"),
            plot::ratios(&figures.host)?,
        ),
    ];
    let report = Report {
        tables: vec![figures.device, figures.host, figures.rates],
        ..Report::default()
    };
    report.show("kernels", None)?;
    for (file, svg) in plots {
        save_plot(&file, &svg)?;
    }
    if all_right {
        Ok(())
    } else {
        Err("not every kernel was right on every device".into())
    }
}
