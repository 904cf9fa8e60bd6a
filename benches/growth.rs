//! How time and memory grow: with the kernels of a program, arguments, commands in flight or held, and buffers.
//!
//! ```text
//! cargo bench --bench growth -- [--quick] [--only idle|kernels|arguments|commands|held|buffers]… [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks OpenCL through the system's loader, so that every ICD takes the same test. With names, only devices
//! whose platform or device name contains one take part, in that order. Each point is measured in a process of its
//! own, since memory that was once used is seldom given back. Where the cost of each is the same at every size,
//! growth is linear; curves on logarithmic axes that rise with slope one are quadratic growth of the whole.

mod support;

use opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use opencl3::program::Program;
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;
use support::opencl::{Subject, buffer, kernel, launch, queue, set_buffer, subjects};
use support::report::Report;
use support::table::{Table, Unit};
use support::{Arguments, Result, median, resident_bytes};

/// The child's arguments, in an environment variable: the quantity's name, the count and the device's name.
const CHILD: &str = "PUMICE_BENCH_GROWTH";
const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
const ITEMS: usize = 64;
const BUFFER_BYTES: usize = 256;
const MIB: f64 = (1 << 20) as f64;

/// What one of so many costs.
struct Cost {
    /// Microseconds; NaN where it isn't measured.
    us: f64,
    /// Bytes of resident memory; NaN where it isn't measured.
    bytes: f64,
}

/// Something that there can be many of.
struct Quantity {
    name: &'static str,
    /// What is counted, as the axis says it.
    axis: &'static str,
    time: &'static str,
    memory: &'static str,
    counts: &'static [usize],
    quick_counts: &'static [usize],
    measure: fn(&Subject, usize) -> Result<Cost>,
}

const QUANTITIES: [Quantity; 5] = [
    Quantity {
        name: "kernels",
        axis: "kernels",
        time: "Building a program that no cache knows, each kernel",
        memory: "Memory of a built program, each kernel",
        counts: &[1, 10, 100, 1000],
        quick_counts: &[1, 10, 100],
        measure: kernels,
    },
    Quantity {
        name: "arguments",
        axis: "arguments",
        time: "Enqueueing a launch with so many buffers",
        memory: "Memory of a launch with so many buffers",
        counts: &[1, 4, 16, 64],
        quick_counts: &[1, 4, 16, 64],
        measure: arguments,
    },
    Quantity {
        name: "commands",
        axis: "commands",
        time: "Enqueueing each of so many launches",
        memory: "Memory of each of so many launches in flight",
        counts: &[1, 10, 100, 1000, 10_000, 100_000],
        quick_counts: &[1, 10, 100, 1000],
        measure: commands,
    },
    Quantity {
        name: "held",
        axis: "commands",
        time: "Enqueueing each of a chain of so many markers, out of order behind a user event, and letting them go",
        memory: "Memory of each of so many markers held",
        counts: &[1, 10, 100, 1000, 10_000, 100_000],
        quick_counts: &[1, 10, 100, 1000],
        measure: held,
    },
    Quantity {
        name: "buffers",
        axis: "buffers",
        time: "Creating and releasing each of so many buffers",
        memory: "Memory of each of so many buffers of 256 bytes",
        counts: &[1, 10, 100, 1000, 10_000, 100_000],
        quick_counts: &[1, 10, 100, 1000, 10_000],
        measure: buffers,
    },
];

/// Every kernel is made as well, as an application does that uses them.
fn kernels(subject: &Subject, count: usize) -> Result<Cost> {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed()?;
    // No cache has seen it.
    let mut source = format!("// {}\n", since.as_nanos());
    for index in 0..count {
        writeln!(
            source,
            "kernel void k{index}(global float *a, uint n) {{\n    size_t i = get_global_id(0);\n\
             \x20   float x = a[i];\n    for (uint j = 0; j < n; j++)\n        x = x * {index}.5f + (float)(j % 7);\n\
             \x20   a[i] = x;\n}}"
        )?;
    }
    let context = Context::from_device(&subject.device)?;
    // What the first build loads is no part of it.
    kernel(&context, EMPTY, "empty", "")?;
    let before = resident_bytes();
    let start = Instant::now();
    let program = Program::create_and_build_from_source(&context, &source, "")?;
    let kernels: Vec<Kernel> = (0..count)
        .map(|index| Ok(Kernel::create(&program, &format!("k{index}"))?))
        .collect::<Result<_>>()?;
    let us = start.elapsed().as_secs_f64() * 1e6;
    let bytes = resident_bytes() - before;
    drop(kernels);
    Ok(each(us, bytes, count))
}

fn each(us: f64, bytes: f64, count: usize) -> Cost {
    Cost {
        us: us / count as f64,
        // Of few, the pages that others need tell more than they themselves.
        bytes: if count < 100 {
            f64::NAN
        } else {
            bytes / count as f64
        },
    }
}

fn arguments(subject: &Subject, count: usize) -> Result<Cost> {
    const LAUNCHES: usize = 200;
    let list: Vec<String> = (0..count).map(|it| format!("global int *p{it}")).collect();
    let uses: Vec<String> = (0..count).map(|it| format!("p{it}[0] = 1;")).collect();
    let (list, uses) = (list.join(", "), uses.join(" "));
    let source = format!("kernel void many({list}) {{ {uses} }}");
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let many = kernel(&context, &source, "many", "")?;
    let buffers: Vec<Buffer<u8>> = (0..count)
        .map(|_| buffer(&context, BUFFER_BYTES))
        .collect::<Result<_>>()?;
    for (index, buffer) in buffers.iter().enumerate() {
        set_buffer(&many, index as u32, buffer)?;
    }
    let mut samples = Vec::new();
    for round in 0..14 {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            launch(&queue, &many, 1, 1)?;
        }
        if round >= 2 {
            samples.push(start.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64);
        }
        queue.finish()?;
    }
    Ok(Cost {
        us: median(samples),
        bytes: f64::NAN,
    })
}

fn commands(subject: &Subject, count: usize) -> Result<Cost> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let (empty, argument) = (
        kernel(&context, EMPTY, "empty", "")?,
        buffer::<u8>(&context, 64)?,
    );
    set_buffer(&empty, 0, &argument)?;
    launch(&queue, &empty, ITEMS, ITEMS)?;
    queue.finish()?;
    let (mut samples, mut bytes) = (Vec::new(), f64::NAN);
    for round in 0..5 {
        let before = resident_bytes();
        let start = Instant::now();
        for _ in 0..count {
            launch(&queue, &empty, ITEMS, ITEMS)?;
        }
        samples.push(start.elapsed().as_secs_f64() * 1e6);
        if round == 0 {
            bytes = resident_bytes() - before;
        }
        queue.finish()?;
    }
    Ok(each(median(samples), bytes, count))
}

fn held(subject: &Subject, count: usize) -> Result<Cost> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let (mut samples, mut bytes) = (Vec::new(), f64::NAN);
    for round in 0..5 {
        let mut events = vec![Event::new(
            create_user_event(context.get()).map_err(ClError)?,
        )];
        let before = resident_bytes();
        let start = Instant::now();
        for index in 0..count {
            // SAFETY: nothing to promise.
            let marker = unsafe { queue.enqueue_marker_with_wait_list(&[events[index].get()])? };
            events.push(marker);
        }
        if round == 0 {
            bytes = resident_bytes() - before;
        }
        set_user_event_status(events[0].get(), CL_COMPLETE).map_err(ClError)?;
        queue.finish()?;
        samples.push(start.elapsed().as_secs_f64() * 1e6);
    }
    Ok(each(median(samples), bytes, count))
}

fn buffers(subject: &Subject, count: usize) -> Result<Cost> {
    let context = Context::from_device(&subject.device)?;
    let first = buffer::<u8>(&context, BUFFER_BYTES)?;
    let before = resident_bytes();
    let start = Instant::now();
    let buffers: Vec<Buffer<u8>> = (0..count)
        .map(|_| buffer(&context, BUFFER_BYTES))
        .collect::<Result<_>>()?;
    let created = start.elapsed();
    let bytes = resident_bytes() - before;
    let start = Instant::now();
    drop(buffers);
    let us = (created + start.elapsed()).as_secs_f64() * 1e6;
    drop(first);
    Ok(each(us, bytes, count))
}

/// A process that has one context with one queue and does nothing, beyond one that only knows the device.
fn idle(subject: &Subject, _: usize) -> Result<Cost> {
    let before = resident_bytes();
    let context = Context::from_device(&subject.device)?;
    queue(&context, 0)?.finish()?;
    Ok(Cost {
        us: f64::NAN,
        bytes: resident_bytes() - before,
    })
}

/// Measures in a process of its own.
fn in_a_child(name: &str, count: usize, subject: &Subject) -> Result<Cost> {
    let output = Command::new(std::env::current_exe()?)
        .env(CHILD, format!("{name}\n{count}\n{}", subject.name))
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let numbers = text.split_whitespace().map(str::parse);
    match numbers.collect::<std::result::Result<Vec<f64>, _>>() {
        Ok(numbers) if output.status.success() && numbers.len() == 2 => Ok(Cost {
            us: numbers[0],
            bytes: numbers[1],
        }),
        _ => Err(String::from_utf8_lossy(&output.stderr).trim().into()),
    }
}

/// What [`in_a_child`] asks for.
fn child(request: &str) -> Result<()> {
    let mut parts = request.splitn(3, '\n');
    let (Some(name), Some(count), Some(device)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("not a request".into());
    };
    let subjects = subjects(&[device.to_owned()])?;
    let measure = match QUANTITIES.iter().find(|it| it.name == name) {
        Some(quantity) => quantity.measure,
        None => idle,
    };
    let cost = measure(&subjects[0], count.parse()?)?;
    println!("{} {}", cost.us, cost.bytes);
    Ok(())
}

fn main() -> Result<()> {
    if let Ok(request) = std::env::var(CHILD) {
        return child(&request);
    }
    let names = QUANTITIES.map(|quantity| quantity.name);
    let arguments = Arguments::parse(&[&["idle"][..], &names].concat())?;
    let subjects = subjects(&arguments.names)?;
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let mut table = Table::new("Resident memory", &columns);
    let mut report = Report::default();
    for (column, subject) in subjects.iter().enumerate() {
        if arguments.wants("idle") {
            match in_a_child("idle", 1, subject) {
                Ok(cost) => {
                    let name = "an idle context with one queue";
                    table.put(column, name, Unit::MEBIBYTES, cost.bytes / MIB);
                }
                Err(error) => println!("{}: idle: {error}", subject.name),
            }
        }
        for quantity in QUANTITIES.iter().filter(|it| arguments.wants(it.name)) {
            let counts = match arguments.quick {
                true => quantity.quick_counts,
                false => quantity.counts,
            };
            for &count in counts {
                let cost = match in_a_child(quantity.name, count, subject) {
                    Ok(cost) => cost,
                    Err(error) => {
                        println!("{}: {count} {}: {error}", subject.name, quantity.axis);
                        break;
                    }
                };
                for (title, unit, value) in [
                    (quantity.time, "us", cost.us),
                    (quantity.memory, "bytes", cost.bytes),
                ] {
                    if !value.is_nan() {
                        let curves = report.curves(title, quantity.axis, unit);
                        curves.put(&subject.name, count as f64, value);
                    }
                }
            }
        }
    }
    report.tables.push(table);
    report.show("growth", arguments.out.as_deref())
}
