//! How time and memory grow: with the kernels of a program, arguments, commands in flight or held, and buffers.
//!
//! ```text
//! cargo bench --bench growth -- [--quick] [--only idle|kernels|arguments|commands|behind|waiting|held|buffers|touched]…
//!     [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks OpenCL through the system's loader, so that every ICD takes the same test. With names, only devices
//! whose platform or device name contains one take part, in that order. Each point is measured in a process of its
//! own, since memory that was once used is seldom given back. Where the cost of each is the same at every size,
//! growth is linear; curves on logarithmic axes that rise with slope one are quadratic growth of the whole.
//!
//! `commands` are launches that the device runs while the next ones are enqueued; `behind` are such that come after a
//! kernel that runs until all are enqueued, and `waiting` such whose first waits for a user event. An idle process
//! knows only the platform that is measured, as its loader is shown one `.icd` file.

mod support;

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use opencl3::program::Program;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::time::Instant;
use support::opencl::{Subject, buffer, kernel, launch, queue, set_buffer, set_value, subjects};
use support::report::Report;
use support::table::{Table, Unit};
use support::{Arguments, Result, child, median, resident_bytes, time};

const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
const TOUCH: &str = "kernel void touch(global int *p) { p[get_global_id(0)] = 1; }";
/// Rounds are long, for llvmpipe ends a kernel's loops after 65,535 rounds.
const SPIN: &str = "
#define STEP x = x * 1664525 + (x >> 3);
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
#define MANY STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS
kernel void spin(global int *p, int n) {
    int x = p[0];
    for (int i = 0; i < n; i++) {
        MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY MANY
    }
    p[0] = x;
}";
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

const QUANTITIES: [Quantity; 8] = [
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
        name: "behind",
        axis: "commands",
        time: "Enqueueing each of so many launches behind a kernel that runs until all are enqueued",
        memory: "Memory of each of so many launches behind a kernel that runs",
        counts: &[1, 10, 100, 1000, 10_000, 100_000],
        quick_counts: &[1, 10, 100, 1000],
        measure: behind,
    },
    Quantity {
        name: "waiting",
        axis: "commands",
        time: "Enqueueing each of so many launches, in order behind a user event, and letting them go",
        memory: "Memory of each of so many launches behind a user event",
        counts: &[1, 10, 100, 1000, 10_000, 100_000],
        quick_counts: &[1, 10, 100, 1000],
        measure: waiting,
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
    Quantity {
        name: "touched",
        axis: "buffers",
        time: "Creating, filling by a kernel and releasing each of so many buffers",
        memory: "Memory of each of so many buffers of 256 bytes that a kernel has filled",
        counts: &[1, 10, 100, 1000, 10_000, 100_000],
        quick_counts: &[1, 10, 100, 1000, 10_000],
        measure: touched,
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
    let before = settled_bytes();
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

/// Resident memory, without what was freed and would be taken again without a trace.
fn settled_bytes() -> f64 {
    #[cfg(target_env = "gnu")]
    // SAFETY: nothing to promise.
    unsafe {
        libc::malloc_trim(0)
    };
    resident_bytes()
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
        let before = settled_bytes();
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

/// A kernel of one work-item that spins.
struct Spin {
    kernel: Kernel,
    _argument: Buffer<u8>,
    rounds: i32,
}

impl Spin {
    fn new(context: &Context) -> Result<Self> {
        let (kernel, argument) = (kernel(context, SPIN, "spin", "")?, buffer(context, 64)?);
        set_buffer(&kernel, 0, &argument)?;
        Ok(Self {
            kernel,
            _argument: argument,
            rounds: 64,
        })
    }

    fn start(&self, queue: &CommandQueue) -> Result<()> {
        set_value(&self.kernel, 1, self.rounds)?;
        launch(queue, &self.kernel, 1, 1)
    }

    /// Has it run twice as long as before; tells how long it runs alone, in seconds.
    fn double(&mut self, queue: &CommandQueue) -> Result<f64> {
        const MOST_ROUNDS: i32 = 65_535;
        if self.rounds == MOST_ROUNDS {
            // The driver, too, may have who enqueues so many wait.
            return Err("no kernel runs until all are enqueued".into());
        }
        self.rounds = (2 * self.rounds).min(MOST_ROUNDS);
        time(1, || {
            self.start(queue)?;
            Ok(queue.finish()?)
        })
    }
}

/// The device is busy with another kernel all the time: a round in which it wasn't counts for nothing.
fn behind(subject: &Subject, count: usize) -> Result<Cost> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let (empty, argument) = (
        kernel(&context, EMPTY, "empty", "")?,
        buffer::<u8>(&context, 64)?,
    );
    set_buffer(&empty, 0, &argument)?;
    launch(&queue, &empty, ITEMS, ITEMS)?;
    let mut spin = Spin::new(&context)?;
    let mut alone = spin.double(&queue)?;
    let (mut samples, mut bytes) = (Vec::new(), f64::NAN);
    let before = settled_bytes();
    while samples.len() < 5 {
        spin.start(&queue)?;
        queue.flush()?;
        let start = Instant::now();
        for _ in 0..count {
            launch(&queue, &empty, ITEMS, ITEMS)?;
        }
        let enqueued = start.elapsed().as_secs_f64();
        let after = resident_bytes();
        queue.finish()?;
        if enqueued < 0.8 * alone {
            samples.push(enqueued * 1e6);
            bytes = if bytes.is_nan() {
                after - before
            } else {
                bytes
            };
        }
        while enqueued >= 0.8 * alone {
            alone = spin.double(&queue)?;
        }
    }
    Ok(each(median(samples), bytes, count))
}

fn waiting(subject: &Subject, count: usize) -> Result<Cost> {
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
    for round in 0..3 {
        let gate = Event::new(create_user_event(context.get()).map_err(ClError)?);
        let before = settled_bytes();
        let start = Instant::now();
        // SAFETY: nothing to promise.
        unsafe { queue.enqueue_barrier_with_wait_list(&[gate.get()])? };
        for _ in 0..count {
            launch(&queue, &empty, ITEMS, ITEMS)?;
        }
        if round == 0 {
            bytes = resident_bytes() - before;
        }
        set_user_event_status(gate.get(), CL_COMPLETE).map_err(ClError)?;
        queue.finish()?;
        samples.push(start.elapsed().as_secs_f64() * 1e6);
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
        let before = settled_bytes();
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
    let before = settled_bytes();
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

/// Each is written by a kernel, so that it really has memory.
fn touched(subject: &Subject, count: usize) -> Result<Cost> {
    const ITEMS: usize = BUFFER_BYTES / size_of::<i32>();
    const IN_FLIGHT: usize = 100;
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let touch = kernel(&context, TOUCH, "touch", "")?;
    let fill = |buffer: &Buffer<u8>| {
        set_buffer(&touch, 0, buffer)?;
        launch(&queue, &touch, ITEMS, ITEMS)
    };
    let first = buffer::<u8>(&context, BUFFER_BYTES)?;
    // What launches need is no part of it.
    (0..IN_FLIGHT).try_for_each(|_| fill(&first))?;
    queue.finish()?;
    let before = settled_bytes();
    let start = Instant::now();
    let buffers: Vec<Buffer<u8>> = (1..=count)
        .map(|index| {
            let buffer = buffer(&context, BUFFER_BYTES)?;
            fill(&buffer)?;
            if index % IN_FLIGHT == 0 {
                queue.finish()?;
            }
            Ok(buffer)
        })
        .collect::<Result<_>>()?;
    queue.finish()?;
    let filled = start.elapsed();
    let bytes = resident_bytes() - before;
    let start = Instant::now();
    drop(buffers);
    let us = (filled + start.elapsed()).as_secs_f64() * 1e6;
    drop(first);
    Ok(each(us, bytes, count))
}

/// A process that has one context with one queue and does nothing: its bytes beyond one that only knows the device, and
/// all that it occupies.
fn idle(subject: &Subject) -> Result<[f64; 2]> {
    let before = settled_bytes();
    let context = Context::from_device(&subject.device)?;
    queue(&context, 0)?.finish()?;
    let all = resident_bytes();
    Ok([all - before, all])
}

/// [`idle`] in a process whose loader knows no other platform: one for each `.icd` file, until one has the device.
fn idle_alone(subject: &Subject) -> Result<Vec<f64>> {
    let vendors = std::env::var_os("OCL_ICD_VENDORS");
    let vendors = vendors.map_or_else(|| PathBuf::from("/etc/OpenCL/vendors"), PathBuf::from);
    let alone = std::env::temp_dir().join(format!("pumice-bench-{}", std::process::id()));
    let mut found = Err(format!("no file of {} names it", vendors.display()).into());
    for file in fs::read_dir(&vendors)? {
        let file = file?.path();
        if file.extension().is_none_or(|it| it != "icd") {
            continue;
        }
        fs::create_dir_all(&alone)?;
        fs::copy(&file, alone.join("one.icd"))?;
        found = child::ask(&["idle", "1", &subject.name], Some(&alone));
        if found.is_ok() {
            break;
        }
    }
    // Nothing is lost with a folder that stays.
    let _ = fs::remove_dir_all(&alone);
    found
}

/// Measures in a process of its own.
fn in_a_child(name: &str, count: usize, subject: &Subject) -> Result<Cost> {
    match child::ask(&[name, &count.to_string(), &subject.name], None)?[..] {
        [us, bytes] => Ok(Cost { us, bytes }),
        _ => Err("not two figures".into()),
    }
}

/// What [`in_a_child`] and [`idle_alone`] ask for.
fn answer(request: &[String]) -> Result<()> {
    let [name, count, device] = request else {
        return Err("not a request".into());
    };
    let subjects = subjects(&[device.to_owned()])?;
    let figures = match QUANTITIES.iter().find(|it| it.name == name) {
        Some(quantity) => {
            let cost = (quantity.measure)(&subjects[0], count.parse()?)?;
            [cost.us, cost.bytes]
        }
        None => idle(&subjects[0])?,
    };
    child::answer(&figures);
    Ok(())
}

/// What a small buffer takes besides its bytes, which lie in the process where the device shares the host's memory.
fn beyond_its_bytes(subject: &Subject, cost: &Cost) -> f64 {
    match subject.device.host_unified_memory() {
        Ok(true) => cost.bytes - BUFFER_BYTES as f64,
        _ => cost.bytes,
    }
}

fn main() -> Result<()> {
    if let Some(request) = child::request() {
        return answer(&request);
    }
    let names = QUANTITIES.map(|quantity| quantity.name);
    let arguments = Arguments::parse(&[&["idle"][..], &names].concat())?;
    let subjects = subjects(&arguments.names)?;
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let mut table = Table::new("Resident memory", &columns);
    let mut report = Report::default();
    for (column, subject) in subjects.iter().enumerate() {
        if arguments.wants("idle") {
            match idle_alone(subject).as_deref() {
                Ok(figures) => {
                    for (name, bytes) in [
                        "an idle context with one queue",
                        "an idle process with one context, all of it",
                    ]
                    .into_iter()
                    .zip(figures)
                    {
                        table.put(column, name, Unit::MEBIBYTES, bytes / MIB);
                    }
                }
                Err(error) => println!("{}: idle: {error}", subject.name),
            }
        }
        for quantity in QUANTITIES.iter().filter(|it| arguments.wants(it.name)) {
            let counts = if arguments.quick {
                quantity.quick_counts
            } else {
                quantity.counts
            };
            for &count in counts {
                let cost = match in_a_child(quantity.name, count, subject) {
                    Ok(cost) => cost,
                    Err(error) => {
                        println!("{}: {count} {}: {error}", subject.name, quantity.axis);
                        break;
                    }
                };
                // Of fewer, much lies in what the process had freed before.
                if quantity.name == "touched" && count >= 100_000 {
                    let name = format!("each of {count} filled buffers of 256 bytes beyond these");
                    let bytes = beyond_its_bytes(subject, &cost);
                    table.put(column, &name, Unit::BYTES, bytes);
                }
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
