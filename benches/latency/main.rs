//! What launches and transfers cost, against other OpenCL drivers and against plain Vulkan, in one run.
//!
//! ```text
//! cargo bench --bench latency -- [--quick] [--only launches|transfers|vulkan]… [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks OpenCL through the system's loader, so that every ICD takes the same test. With names, only devices
//! whose platform or device name contains one take part, in that order; the first is the one that the others are
//! compared with: ratios above 1 mean that the first is better. Tables are printed; with `--out` they and their
//! plots are written there as well. What grows with what is `--bench growth`, what runs together `--bench concurrency`.

mod dissection;
mod launches;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod transfers;

use opencl3::context::Context;
use support::opencl::{Subject, subjects};
use support::report::Report;
use support::table::{Table, Unit};
use support::vulkan::Raw;
use support::{Arguments, Result};

struct Figures {
    launches: Table,
    transfers: Table,
    pinned: Table,
}

fn measure(
    subject: &Subject,
    column: usize,
    figures: &mut Figures,
    arguments: &Arguments,
) -> Result<()> {
    let context = Context::from_device(&subject.device)?;
    if arguments.wants("launches") {
        launches::measure(&context, column, &mut figures.launches, rounds(arguments))?;
    }
    if arguments.wants("transfers") {
        let tables = (&mut figures.transfers, &mut figures.pinned);
        transfers::measure(&subject.device, &context, column, tables, arguments.quick)?;
    }
    Ok(())
}

/// What a transfer of pinned memory can at best cost, on each family of queues.
fn plain_copies(raw: &mut Raw, column: usize, table: &mut Table, quick: bool) -> Result<()> {
    let sizes = &transfers::SIZES[..if quick { 3 } else { 4 }];
    for &bytes in sizes {
        let rounds = (transfers::ENOUGH / bytes).clamp(3, 300);
        for (what, seconds) in ["write", "read"]
            .into_iter()
            .zip(raw.copies(bytes, rounds)?)
        {
            transfers::put(table, column, what, bytes, seconds);
        }
    }
    Ok(())
}

fn rounds(arguments: &Arguments) -> usize {
    if arguments.quick { 200 } else { 2000 }
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(&["launches", "transfers", "vulkan"])?;
    let subjects = subjects(&arguments.names)?;
    let devices: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let raw = if arguments.wants("vulkan") {
        Raw::all(&subjects[0].name)
    } else {
        Err("not asked for".into())
    };
    let mut columns = devices.clone();
    let mut report = Report::default();
    match &raw {
        Ok((raws, memory)) => {
            let name = raws
                .first()
                .map(|raw| format!("plain Vulkan / {}", raw.name));
            columns.extend(name);
            report.notes.clone_from(memory);
        }
        Err(error) => println!("plain Vulkan is left out: {error}"),
    }
    let mut figures = Figures {
        launches: Table::new("Launches", &columns),
        transfers: Table::new("Transfers of pageable memory", &devices),
        pinned: Table::new("Transfers of pinned memory", &devices),
    };
    let mut raws: Vec<_> = raw.into_iter().flat_map(|(raws, _)| raws).collect();
    if arguments.wants("launches") {
        let plain = raws.iter_mut().find(|raw| raw.computes);
        streams::measure(&subjects, plain, &mut figures.launches, rounds(&arguments))?;
    }
    for (column, subject) in subjects.iter().enumerate() {
        if let Err(error) = measure(subject, column, &mut figures, &arguments) {
            println!("{}: left out from here on: {error}", subject.name);
        }
    }
    let mut parts = Vec::new();
    let families: Vec<String> = raws.iter().map(|raw| raw.family.clone()).collect();
    let mut copies = Table::of_parts("Copies in plain Vulkan", &families);
    for (column, raw) in raws.iter_mut().enumerate() {
        if let Err(error) = plain_copies(raw, column, &mut copies, arguments.quick) {
            println!("{}: no copies: {error}", raw.family);
        }
    }
    raws.retain(|raw| raw.computes);
    for (index, raw) in raws.into_iter().enumerate() {
        let mut raw = raw;
        if index == 0
            && let Some(us) = dissection::to_start_us(&mut raw, rounds(&arguments))?
        {
            let (row, unit) = (launches::TO_START, Unit::MICROSECONDS);
            figures.launches.put(devices.len(), row, unit, us);
        }
        parts.push(dissection::dissect(&mut raw, rounds(&arguments))?);
    }
    report.tables = vec![figures.launches, figures.transfers, figures.pinned, copies];
    report.tables.extend(parts);
    report.show("latency", arguments.out.as_deref())
}
