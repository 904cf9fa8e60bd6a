//! What launches and transfers cost, against other OpenCL drivers and against plain Vulkan, in one run.
//!
//! ```text
//! cargo bench --bench latency -- [--quick] [--only PART] [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks OpenCL through the system's loader, so that every ICD takes the same test. With names, only devices
//! whose platform or device name contains one take part, in that order; the first is the one that the others are
//! compared with: ratios above 1 mean that the first is better. PART is launches,
//! transfers, overlap, growth or vulkan. Tables are printed; with `--out` they and their
//! plots are written there as well.

mod support;

use opencl_sys as cl;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Barrier;
use std::time::Instant;
use support::opencl::{self, Buffer, Context, Device, Kernel, Queue};
use support::raw::{Around, First, Raw, Wait};
use support::report::{Better, Plot, Table, save};
use support::{Result, median, resident_bytes, time};

const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
const LAUNCHES: usize = 1000;
const ITEMS: usize = 64;
const READ_WRITE: u64 = cl::CL_MEM_READ_WRITE;
const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

struct Options {
    quick: bool,
    only: Option<String>,
    out: Option<PathBuf>,
    names: Vec<String>,
}

/// The tables and plots of the run.
struct Figures {
    launch: Table,
    transfer: Table,
    memory: Table,
    overlap: Table,
    plots: Vec<Plot>,
    column: usize,
}

impl Options {
    fn wants(&self, part: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only == part)
    }
}

fn options() -> Result<Options> {
    let mut options = Options {
        quick: false,
        only: None,
        out: None,
        names: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.quick = true,
            "--only" => options.only = arguments.next(),
            "--out" => options.out = Some(arguments.next().ok_or("--out FOLDER")?.into()),
            // What cargo bench passes.
            flag if flag.starts_with("--") => {}
            name => options.names.push(name.to_owned()),
        }
    }
    Ok(options)
}

fn launches(
    context: &Context,
    kernel: &Kernel,
    figures: &mut Figures,
    rounds: usize,
) -> Result<()> {
    let column = figures.column;
    let mut put = |name: &str, value: f64| {
        figures.launch.put(column, name, "us", Better::Less, value);
    };
    let queue = context.queue(0)?;
    let stream = |each: &mut dyn FnMut() -> Result<()>| -> Result<(f64, f64)> {
        let (mut host, mut wall) = (Vec::new(), Vec::new());
        for round in 0..22 {
            let start = Instant::now();
            for _ in 0..LAUNCHES {
                each()?;
            }
            let handed_over = start.elapsed();
            queue.finish()?;
            if round >= 2 {
                host.push(handed_over.as_secs_f64() * 1e6 / LAUNCHES as f64);
                wall.push(start.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64);
            }
        }
        Ok((median(host), median(wall)))
    };
    let (host, wall) = stream(&mut || queue.launch(kernel, ITEMS, ITEMS))?;
    put(ENQUEUE, host);
    put("to completion, each of a stream of 1000", wall);
    let (host, _) = stream(&mut || {
        queue.launch_with_event(kernel, ITEMS, ITEMS)?;
        Ok(())
    })?;
    put("enqueue with event, released at once", host);
    let buffer = context.buffer(64, READ_WRITE)?;
    let (host, _) = stream(&mut || {
        kernel.set_buffer(0, &buffer)?;
        queue.launch(kernel, ITEMS, ITEMS)
    })?;
    put("set an argument and enqueue", host);
    let seconds = time(rounds, || {
        queue.launch(kernel, ITEMS, ITEMS)?;
        queue.finish()
    })?;
    put(ROUND_TRIP, seconds * 1e6);
    let seconds = time(rounds, || {
        let event = queue.launch_with_event(kernel, ITEMS, ITEMS)?;
        event.wait()
    })?;
    put("launch and wait for its event", seconds * 1e6);
    let seconds = time(rounds, || queue.finish())?;
    put("finish of an idle queue", seconds * 1e6);

    // clpeak's kernel latency (1.1.2): the mean of QUEUED to START, each launch finished before the next.
    let queue = context.queue(cl::CL_QUEUE_PROFILING_ENABLE)?;
    let (mut to_start, mut submitted, mut ran) = (Vec::new(), Vec::new(), Vec::new());
    let start = Instant::now();
    for round in 0..rounds + 10 {
        let event = queue.launch_with_event(kernel, ITEMS, ITEMS)?;
        queue.finish()?;
        let queued = event.time_ns(cl::CL_PROFILING_COMMAND_QUEUED)?;
        let submit = event.time_ns(cl::CL_PROFILING_COMMAND_SUBMIT)?;
        let begin = event.time_ns(cl::CL_PROFILING_COMMAND_START)?;
        let end = event.time_ns(cl::CL_PROFILING_COMMAND_END)?;
        if round >= 10 {
            let us = |from: u64, to: u64| to.saturating_sub(from) as f64 / 1e3;
            to_start.push(us(queued, begin));
            submitted.push(us(submit, begin));
            ran.push(us(begin, end));
        }
    }
    let each = start.elapsed().as_secs_f64() * 1e6 / (rounds + 10) as f64;
    let mean = |samples: &[f64]| samples.iter().sum::<f64>() / samples.len() as f64;
    put("latency: QUEUED to START, mean (clpeak)", mean(&to_start));
    put("latency: QUEUED to START, median", median(to_start));
    put("latency: SUBMIT to START, median", median(submitted));
    put("START to END of the empty kernel, median", median(ran));
    put("launch, finish and four times read, profiling", each);
    let queue = context.queue(cl::CL_QUEUE_PROFILING_ENABLE)?;
    let mut host = Vec::new();
    for _ in 0..12 {
        let start = Instant::now();
        for _ in 0..LAUNCHES {
            queue.launch(kernel, ITEMS, ITEMS)?;
        }
        host.push(start.elapsed().as_secs_f64() * 1e6 / LAUNCHES as f64);
        queue.finish()?;
    }
    put("enqueue in a stream of 1000, profiling", median(host));
    Ok(())
}

const ENQUEUE: &str = "enqueue, in a stream of 1000";
const ROUND_TRIP: &str = "launch and finish one empty kernel";

/// Plain Vulkan's figures for what has a counterpart: waits are polled for, which is the faster way on GPUs.
fn plain_vulkan(raw: &mut Raw, figures: &mut Figures, rounds: usize) -> Result<Table> {
    let column = figures.column;
    let mut put = |name: &str, value: f64| {
        figures.launch.put(column, name, "us", Better::Less, value);
    };
    put(ENQUEUE, raw.record(LAUNCHES, true, 20)?);
    let polled = Around {
        wait: Wait::Poll,
        ..Around::default()
    };
    put(ROUND_TRIP, raw.round_trip(polled, rounds)?.total_us);
    let stamped = Around {
        barrier: true,
        stamps: Some(First::All),
        ..polled
    };
    if let Some(to_start) = raw.round_trip(stamped, rounds)?.to_start_us {
        put("latency: QUEUED to START, median", to_start);
    }
    dissect(raw, rounds)
}

/// What a round trip of plain Vulkan is made of.
fn dissect(raw: &mut Raw, rounds: usize) -> Result<Table> {
    let columns = ["record", "submit", "total", "to the first timestamp"].map(str::to_owned);
    let title = format!("One empty kernel in plain Vulkan, {}", raw.family);
    let mut table = Table::new(&title, &columns);
    table.compares = false;
    let polled = Around {
        wait: Wait::Poll,
        ..Around::default()
    };
    let both = Around {
        barrier: true,
        to_host: true,
        ..polled
    };
    let timed = Around {
        stamps: Some(First::All),
        ..polled
    };
    let variants = [
        ("recorded each time, blocked for", Around::default()),
        ("polled for", polled),
        (
            "polled for, a fence",
            Around {
                wait: Wait::Fence,
                ..polled
            },
        ),
        (
            "recorded once",
            Around {
                reused: true,
                ..polled
            },
        ),
        (
            "a barrier before",
            Around {
                barrier: true,
                ..polled
            },
        ),
        (
            "a barrier to the host after",
            Around {
                to_host: true,
                ..polled
            },
        ),
        ("both barriers", both),
        (
            "waits for the one before, done",
            Around {
                waits: true,
                ..polled
            },
        ),
        (
            "two timestamps, first at the top",
            Around {
                stamps: Some(First::Top),
                ..polled
            },
        ),
        ("two timestamps, both after all", timed),
        (
            "barrier before, timestamps after all",
            Around {
                barrier: true,
                ..timed
            },
        ),
        (
            "waits for the one before, timestamps",
            Around {
                waits: true,
                ..timed
            },
        ),
        (
            "both barriers, timestamps, 512 queries reset",
            Around {
                stamps: Some(First::All),
                reset: 512,
                ..both
            },
        ),
    ];
    for (name, around) in variants {
        let times = raw.round_trip(around, rounds)?;
        let values = [
            Some(times.record_us),
            Some(times.submit_us),
            Some(times.total_us),
            times.to_start_us,
        ];
        for (column, value) in values.into_iter().enumerate() {
            if let Some(value) = value {
                table.put(column, name, "us", Better::Less, value);
            }
        }
    }
    let ordered = raw.record(LAUNCHES, true, 20)?;
    let free = raw.record(LAUNCHES, false, 20)?;
    table.put(
        0,
        "one of 1000, a barrier before each",
        "us",
        Better::Less,
        ordered,
    );
    table.put(0, "one of 1000, no barriers", "us", Better::Less, free);
    if let Some((deviation_ns, us)) = raw.calibration() {
        table.put(0, "vkGetCalibratedTimestampsEXT", "us", Better::Less, us);
        let deviation_us = deviation_ns as f64 / 1e3;
        table.put(0, "its deviation", "us", Better::Less, deviation_us);
    }
    Ok(table)
}

fn transfers(context: &Context, figures: &mut Figures, quick: bool) -> Result<()> {
    let sizes: &[usize] = match quick {
        true => &[4 * KIB, MIB, 64 * MIB],
        false => &[4 * KIB, MIB, 64 * MIB, 1024 * MIB],
    };
    let most = context.device.number(cl::CL_DEVICE_MAX_MEM_ALLOC_SIZE)? as usize;
    let queue = context.queue(0)?;
    for &bytes in sizes.iter().filter(|&&bytes| bytes <= most) {
        let buffer = context.buffer(bytes, READ_WRITE)?;
        let mut host = vec![1_u8; bytes];
        let rounds = (512 * MIB / bytes).clamp(3, 300);
        let size = match bytes {
            small if small < MIB => format!("{} KiB", bytes / KIB),
            _ => format!("{} MiB", bytes / MIB),
        };
        let mut put = |what: &str, seconds: f64| {
            let (name, column) = (format!("{what}, {size}"), figures.column);
            match bytes < MIB {
                true => {
                    let us = seconds * 1e6;
                    figures.transfer.put(column, &name, "us", Better::Less, us);
                }
                false => {
                    let rate = bytes as f64 / seconds / 1e9;
                    figures
                        .transfer
                        .put(column, &name, "GB/s", Better::More, rate);
                }
            }
        };
        put(
            "write, blocking",
            time(rounds, || queue.write(&buffer, true, &host))?,
        );
        put(
            "write and finish",
            time(rounds, || {
                queue.write(&buffer, false, &host)?;
                queue.finish()
            })?,
        );
        put(
            "read, blocking",
            time(rounds, || queue.read(&buffer, true, &mut host))?,
        );
        put(
            "read and finish",
            time(rounds, || {
                queue.read(&buffer, false, &mut host)?;
                queue.finish()
            })?,
        );
        put(
            "map to read and unmap",
            time(rounds, || {
                queue.map(&buffer, cl::CL_MAP_READ, |_| ())?;
                queue.finish()
            })?,
        );
        put(
            "map to overwrite and unmap",
            time(rounds, || {
                queue.map(&buffer, cl::CL_MAP_WRITE_INVALIDATE_REGION, |_| ())?;
                queue.finish()
            })?,
        );
    }
    Ok(())
}

const SPIN: &str = "kernel void spin(global int *p, int n) {
    int x = p[0];
    for (int i = 0; i < n; i++) x = x * 1664525 + (x >> 3);
    p[0] = x;
}";

/// Whether independent work runs together: wall time of several kernels of one work-item, and of one beside a
/// transfer, against the time of one alone.
fn overlap(context: &Context, figures: &mut Figures) -> Result<()> {
    const KERNELS: usize = 8;
    let column = figures.column;
    let ordered = context.queue(0)?;
    let out_of_order = context.queue(cl::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let queues: Vec<Queue> = (0..KERNELS)
        .map(|_| context.queue(0))
        .collect::<Result<_>>()?;
    let work: Vec<(Kernel, Buffer)> = (0..KERNELS)
        .map(|_| {
            let kernel = context.kernel(SPIN, "spin", "")?;
            let buffer = context.buffer(64, READ_WRITE)?;
            kernel.set_buffer(0, &buffer)?;
            Ok((kernel, buffer))
        })
        .collect::<Result<_>>()?;
    let mut count = 10_000_i32;
    let alone = loop {
        work[0].0.set(1, &count)?;
        let seconds = time(3, || {
            ordered.launch(&work[0].0, 1, 1)?;
            ordered.finish()
        })?;
        if seconds > 2e-3 || count > i32::MAX / 4 {
            break seconds;
        }
        count *= 2;
    };
    for (kernel, _) in &work {
        kernel.set(1, &count)?;
    }
    let mut put = |name: &str, seconds: f64| {
        let times = seconds / alone;
        figures
            .overlap
            .put(column, name, "times one", Better::Less, times);
    };
    for (name, queue) in [
        ("8 kernels, one in-order queue", &ordered),
        ("8 kernels, one out-of-order queue", &out_of_order),
    ] {
        let seconds = time(5, || {
            for (kernel, _) in &work {
                queue.launch(kernel, 1, 1)?;
            }
            queue.finish()
        })?;
        put(name, seconds);
    }
    let seconds = time(5, || {
        for ((kernel, _), queue) in work.iter().zip(&queues) {
            queue.launch(kernel, 1, 1)?;
            queue.flush()?;
        }
        queues.iter().try_for_each(Queue::finish)
    })?;
    put("8 kernels, 8 queues", seconds);
    let bytes = 64 * MIB;
    let (host, buffer) = (vec![1_u8; bytes], context.buffer(bytes, READ_WRITE)?);
    let transfer = time(5, || {
        queues[1].write(&buffer, false, &host)?;
        queues[1].finish()
    })?;
    put("64 MiB write alone", transfer);
    let seconds = time(5, || {
        queues[0].launch(&work[0].0, 1, 1)?;
        queues[0].flush()?;
        queues[1].write(&buffer, false, &host)?;
        queues[1].finish()?;
        queues[0].finish()
    })?;
    put("a kernel and a 64 MiB write, two queues", seconds);
    Ok(())
}

fn growth(context: &Context, kernel: &Kernel, figures: &mut Figures, quick: bool) -> Result<()> {
    let name = context.device.name.clone();
    let mut curves: [Vec<(f64, f64)>; 4] = Default::default();
    let queue = context.queue(0)?;
    let most = if quick { 1000 } else { 100_000 };
    for count in [1, 10, 100, 1000, 10_000, 100_000] {
        if count > most {
            break;
        }
        let mut samples = Vec::new();
        for _ in 0..5 {
            let start = Instant::now();
            for _ in 0..count {
                queue.launch(kernel, ITEMS, ITEMS)?;
            }
            samples.push(start.elapsed().as_secs_f64() * 1e6 / count as f64);
            queue.finish()?;
        }
        curves[0].push((count as f64, median(samples)));
    }
    for count in [1, 10, 100, 1000, 10_000, 100_000] {
        if count > most {
            break;
        }
        let before = resident_bytes();
        let start = Instant::now();
        let buffers: Vec<Buffer> = (0..count)
            .map(|_| context.buffer(256, READ_WRITE))
            .collect::<Result<_>>()?;
        let us = start.elapsed().as_secs_f64() * 1e6 / count as f64;
        curves[1].push((count as f64, us));
        if count >= 1000 {
            let each = (resident_bytes() - before) / count as f64;
            figures.memory.put(
                figures.column,
                &format!("each of {count} buffers of 256 bytes"),
                "bytes",
                Better::Less,
                each,
            );
        }
        drop(buffers);
    }
    let buffer = context.buffer(256, READ_WRITE)?;
    for count in [1, 4, 16, 64] {
        let list: Vec<String> = (0..count).map(|it| format!("global int *p{it}")).collect();
        let uses: Vec<String> = (0..count).map(|it| format!("p{it}[0] = 1;")).collect();
        let source = format!(
            "kernel void many({}) {{ {} }}",
            list.join(", "),
            uses.join(" ")
        );
        let many = context.kernel(&source, "many", "")?;
        for index in 0..count {
            many.set_buffer(index, &buffer)?;
        }
        let mut samples = Vec::new();
        for _ in 0..12 {
            let start = Instant::now();
            for _ in 0..200 {
                queue.launch(&many, 1, 1)?;
            }
            samples.push(start.elapsed().as_secs_f64() * 1e6 / 200.0);
            queue.finish()?;
        }
        curves[2].push((count.into(), median(samples)));
    }
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    for count in [1, 2, 4, 8] {
        // Figures of more threads than processors say nothing about locks.
        if count > threads.max(2) {
            break;
        }
        curves[3].push((count as f64, threads_rate(context, count)?));
    }
    let texts = [
        ("Enqueue against commands in flight", "commands", "us each"),
        ("Creation against buffers", "buffers", "us each"),
        ("Enqueue against arguments", "arguments", "us each"),
        ("Threads with a queue each", "threads", "million launches/s"),
    ];
    for (index, (title, x, y)) in texts.into_iter().enumerate() {
        if figures.plots.len() <= index {
            figures.plots.push(Plot::new(title, x, y));
        }
        let curve = (name.clone(), std::mem::take(&mut curves[index]));
        figures.plots[index].curves.push(curve);
    }
    Ok(())
}

/// Millions of launches that `count` threads enqueue in a second, each on a queue of its own. What the device
/// needs for them is not counted: each thread enqueues a stream, waits for it and begins again.
fn threads_rate(context: &Context, count: usize) -> Result<f64> {
    const ROUNDS: usize = 12;
    let work: Vec<(Queue, Kernel, Buffer)> = (0..count)
        .map(|_| {
            let kernel = context.kernel(EMPTY, "empty", "")?;
            let buffer = context.buffer(64, READ_WRITE)?;
            kernel.set_buffer(0, &buffer)?;
            let queue = context.queue(0)?;
            queue.launch(&kernel, ITEMS, ITEMS)?;
            queue.finish()?;
            Ok((queue, kernel, buffer))
        })
        .collect::<Result<_>>()?;
    let together = Barrier::new(count);
    let rates: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = work
            .iter()
            .map(|(queue, kernel, _)| {
                let (queue, kernel) = (Shared(queue), Shared(kernel));
                let together = &together;
                scope.spawn(move || {
                    let (queue, kernel) = (queue.get(), kernel.get());
                    let mut samples = Vec::new();
                    for _ in 0..ROUNDS {
                        together.wait();
                        let start = Instant::now();
                        for _ in 0..LAUNCHES {
                            if queue.launch(kernel, ITEMS, ITEMS).is_err() {
                                return f64::NAN;
                            }
                        }
                        samples.push(LAUNCHES as f64 / start.elapsed().as_secs_f64() / 1e6);
                        if queue.finish().is_err() {
                            return f64::NAN;
                        }
                    }
                    median(samples)
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(f64::NAN))
            .collect()
    });
    Ok(rates.iter().sum())
}

/// A handle lent to one other thread.
#[derive(Clone, Copy)]
struct Shared<'a, T>(&'a T);

// SAFETY: OpenCL handles may be used from any thread, and each is lent to one.
unsafe impl<T> Send for Shared<'_, T> {}

impl<'a, T> Shared<'a, T> {
    fn get(self) -> &'a T {
        self.0
    }
}

/// What a process with one context of `device` and nothing else occupies beyond one without, in a process of
/// its own.
fn idle_bytes(name: &str) -> Result<f64> {
    let output = Command::new(std::env::current_exe()?)
        .env("PUMICE_BENCH_IDLE", name)
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}

/// The child of [`idle_bytes`].
fn print_idle(name: &str) -> Result<()> {
    let device = opencl::devices(&[name.to_owned()])?;
    let device = device.first().ok_or("no such device")?;
    let before = resident_bytes();
    let context = Context::new(device)?;
    let queue = context.queue(0)?;
    queue.finish()?;
    println!("{}", resident_bytes() - before);
    Ok(())
}

fn measure(device: &Device, figures: &mut Figures, options: &Options) -> Result<()> {
    let rounds = if options.quick { 200 } else { 2000 };
    let context = Context::new(device)?;
    let kernel = context.kernel(EMPTY, "empty", "")?;
    let buffer = context.buffer(64, READ_WRITE)?;
    kernel.set_buffer(0, &buffer)?;
    if options.wants("launches") {
        launches(&context, &kernel, figures, rounds)?;
    }
    if options.wants("transfers") {
        transfers(&context, figures, options.quick)?;
    }
    if options.wants("overlap") {
        overlap(&context, figures)?;
    }
    if !options.wants("growth") {
        return Ok(());
    }
    kernel.set_buffer(0, &buffer)?;
    growth(&context, &kernel, figures, options.quick)?;
    let column = figures.column;
    if let Ok(bytes) = idle_bytes(&device.name) {
        let name = "a context with one queue";
        let mib = bytes / MIB as f64;
        figures.memory.put(column, name, "MiB", Better::Less, mib);
    }
    Ok(())
}

fn main() -> Result<()> {
    if let Ok(name) = std::env::var("PUMICE_BENCH_IDLE") {
        return print_idle(&name);
    }
    let options = options()?;
    let devices = opencl::devices(&options.names)?;
    let mut columns: Vec<String> = devices.iter().map(|device| device.name.clone()).collect();
    let raw = match options.wants("vulkan") {
        true => Raw::all(),
        false => Err("not asked for".into()),
    };
    match &raw {
        Ok((raws, _)) => columns.extend(
            raws.first()
                .map(|raw| format!("plain Vulkan / {}", raw.name)),
        ),
        Err(error) => println!("plain Vulkan is left out: {error}"),
    }
    let mut figures = Figures {
        launch: Table::new("Launches", &columns),
        transfer: Table::new("Transfers of pageable memory", &columns[..devices.len()]),
        memory: Table::new("Resident memory", &columns[..devices.len()]),
        overlap: Table::new("Independent work", &columns[..devices.len()]),
        plots: Vec::new(),
        column: 0,
    };
    for (column, device) in devices.iter().enumerate() {
        figures.column = column;
        if let Err(error) = measure(device, &mut figures, &options) {
            println!("{}: left out from here on: {error}", device.name);
        }
    }
    figures.column = devices.len();
    let mut tables = Vec::new();
    let mut text = String::new();
    if let Ok((raws, memory)) = raw {
        text.push_str(&memory);
        text.push('\n');
        let rounds = if options.quick { 200 } else { 2000 };
        for (index, mut raw) in raws.into_iter().enumerate() {
            tables.push(match index {
                0 => plain_vulkan(&mut raw, &mut figures, rounds)?,
                _ => dissect(&mut raw, rounds)?,
            });
        }
    }
    let all = [
        &figures.launch,
        &figures.transfer,
        &figures.overlap,
        &figures.memory,
    ];
    for table in all.into_iter().filter(|table| !table.rows.is_empty()) {
        text.push_str(&table.markdown());
        text.push('\n');
    }
    for table in &tables {
        text.push_str(&table.markdown());
        text.push('\n');
    }
    for plot in &figures.plots {
        text.push_str(&plot.markdown());
        text.push('\n');
    }
    print!("{text}");
    if let Some(folder) = &options.out {
        save(folder, "latency.md", &text)?;
        save(folder, "launch.svg", &figures.launch.svg())?;
        save(folder, "transfer.svg", &figures.transfer.svg())?;
        for (plot, name) in figures.plots.iter().zip(PLOTS) {
            save(folder, name, &plot.svg())?;
        }
    }
    Ok(())
}

const PLOTS: [&str; 4] = [
    "in_flight.svg",
    "buffers.svg",
    "arguments.svg",
    "threads.svg",
];
