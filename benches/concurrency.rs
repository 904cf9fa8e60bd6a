//! What runs together: independent kernels, a kernel beside a transfer, threads with queues of their own.
//!
//! ```text
//! cargo bench --bench concurrency -- [--quick] [--only overlap|threads]… [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks OpenCL through the system's loader, so that every ICD takes the same test. With names, only devices
//! whose platform or device name contains one take part, in that order. Kernels of one work-item each spin
//! for some milliseconds; the table shows how many times as long as one alone eight take, by the host's clock from
//! the first enqueue to the end, and by the device's from the first START to the last END, and how many of them ran
//! at the same time: the most that the profiling timestamps show. Threads enqueue streams of empty kernels, each on
//! a queue of its own; what the device needs for them is not counted.

mod support;

use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use std::ptr;
use std::sync::Barrier;
use std::time::Instant;
use support::opencl::{
    buffer, kernel, launch, queue, read, set_buffer, set_value, subjects, write,
};
use support::report::Report;
use support::table::{Table, Unit};
use support::vulkan::{BATCHES, Raw};
use support::{Arguments, Result, median, time};

const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
const SPIN: &str = "kernel void spin(global int *p, int n) {
    int x = p[0];
    for (int i = 0; i < n; i++) x = x * 1664525 + (x >> 3);
    p[0] = x;
}";
const KERNELS: usize = 8;
const LAUNCHES: usize = 1000;
const ITEMS: usize = 64;
const TRANSFER_BYTES: usize = 64 << 20;
/// Seconds that a kernel is to spin at least.
const LONG: f64 = 2e-3;
const ROUNDS: usize = 5;

const TIMES_ONE: Unit = Unit::less("times one alone");
const TIMES_LONGER: Unit = Unit::less("times the longer alone");
const TIMES_ONE_THREAD: Unit = Unit::more("times one thread");
const AT_ONCE: Unit = Unit::more("at once");

/// Kernels that have nothing to do with each other, and the seconds of one.
struct Spinning {
    work: Vec<(Kernel, Buffer<i32>)>,
    alone: f64,
}

impl Spinning {
    fn new(context: &Context) -> Result<Self> {
        let work: Vec<(Kernel, Buffer<i32>)> = (0..KERNELS)
            .map(|_| {
                let (kernel, buffer) = (kernel(context, SPIN, "spin", "")?, buffer(context, 16)?);
                set_buffer(&kernel, 0, &buffer)?;
                Ok((kernel, buffer))
            })
            .collect::<Result<_>>()?;
        let queue = queue(context, 0)?;
        let mut count = 10_000_i32;
        let alone = loop {
            set_value(&work[0].0, 1, count)?;
            let seconds = time(3, || {
                launch(&queue, &work[0].0, 1, 1)?;
                Ok(queue.finish()?)
            })?;
            if seconds > LONG || count > i32::MAX / 4 {
                break seconds;
            }
            count *= 2;
        };
        for (kernel, _) in &work {
            set_value(kernel, 1, count)?;
        }
        Ok(Self { work, alone })
    }
}

/// From when to when the device ran a command, nanoseconds.
type Span = (u64, u64);

/// How many of the spans have an instant in common.
fn most_at_once(spans: &[Span]) -> usize {
    let holding = |instant: u64| {
        let holds = |span: &&Span| span.0 <= instant && instant < span.1;
        spans.iter().filter(holds).count()
    };
    spans.iter().map(|span| holding(span.0)).max().unwrap_or(0)
}

/// Runs one kernel after the other, on the queues in turn: seconds by the host, and when the device ran each.
fn run(spinning: &Spinning, queues: &[&CommandQueue]) -> Result<(f64, Vec<Span>)> {
    let start = Instant::now();
    let events = spinning
        .work
        .iter()
        .zip(queues.iter().cycle())
        .map(|((kernel, _), queue)| {
            // SAFETY: one dimension.
            let event = unsafe {
                queue.enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &1, &1, &[])?
            };
            queue.flush()?;
            Ok(event)
        })
        .collect::<Result<Vec<Event>>>()?;
    for queue in queues {
        queue.finish()?;
    }
    let seconds = start.elapsed().as_secs_f64();
    let span = |event: &Event| {
        Ok((
            event.profiling_command_start()?,
            event.profiling_command_end()?,
        ))
    };
    Ok((seconds, events.iter().map(span).collect::<Result<_>>()?))
}

/// Seconds of one kernel by the device's clock.
fn alone_by_device(spinning: &Spinning, queue: &CommandQueue) -> Result<f64> {
    let one = || {
        // SAFETY: one dimension.
        let event = unsafe {
            let kernel = spinning.work[0].0.get();
            queue.enqueue_nd_range_kernel(kernel, 1, ptr::null(), &1, &1, &[])?
        };
        event.wait()?;
        let span = event.profiling_command_end()? - event.profiling_command_start()?;
        Ok(span as f64 * 1e-9)
    };
    Ok(median((0..ROUNDS).map(|_| one()).collect::<Result<_>>()?))
}

/// The same on queues without profiling, where nothing is written between the kernels: seconds by the host.
fn run_untimed(spinning: &Spinning, queues: &[&CommandQueue]) -> Result<f64> {
    let start = Instant::now();
    for ((kernel, _), queue) in spinning.work.iter().zip(queues.iter().cycle()) {
        launch(queue, kernel, 1, 1)?;
    }
    for queue in queues {
        queue.flush()?;
    }
    for queue in queues {
        queue.finish()?;
    }
    Ok(start.elapsed().as_secs_f64())
}

fn overlap(context: &Context, column: usize, table: &mut Table) -> Result<()> {
    let spinning = Spinning::new(context)?;
    let profiling = CL_QUEUE_PROFILING_ENABLE;
    let ordered = queue(context, profiling)?;
    let unordered = queue(context, profiling | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let several: Vec<CommandQueue> = (0..KERNELS)
        .map(|_| queue(context, profiling))
        .collect::<Result<_>>()?;
    let several: Vec<&CommandQueue> = several.iter().collect();
    let alone_by_device = alone_by_device(&spinning, &ordered)?;
    for (name, queues) in [
        ("8 kernels, one in-order queue", &[&ordered][..]),
        ("8 kernels, one out-of-order queue", &[&unordered][..]),
        ("8 kernels, 8 queues", &several[..]),
    ] {
        let (mut host, mut device, mut at_once) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS + 1 {
            let (seconds, spans) = run(&spinning, queues)?;
            if round == 0 {
                continue;
            }
            let first = spans.iter().map(|span| span.0).min().unwrap_or(0);
            let last = spans.iter().map(|span| span.1).max().unwrap_or(0);
            host.push(seconds / spinning.alone);
            device.push((last - first) as f64 * 1e-9 / alone_by_device);
            at_once.push(most_at_once(&spans) as f64);
        }
        table.put(column, name, TIMES_ONE, median(host));
        let by_device = format!("{name}, by its timestamps");
        table.put(column, &by_device, TIMES_ONE, median(device));
        table.put(column, name, AT_ONCE, median(at_once));
    }
    let ordered = queue(context, 0)?;
    let unordered = queue(context, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
    let several: Vec<CommandQueue> = (0..KERNELS)
        .map(|_| queue(context, 0))
        .collect::<Result<_>>()?;
    let several: Vec<&CommandQueue> = several.iter().collect();
    for (name, queues) in [
        (
            "8 kernels, one in-order queue, no profiling",
            &[&ordered][..],
        ),
        (
            "8 kernels, one out-of-order queue, no profiling",
            &[&unordered][..],
        ),
        ("8 kernels, 8 queues, no profiling", &several[..]),
    ] {
        run_untimed(&spinning, queues)?;
        let times = (0..ROUNDS).map(|_| Ok(run_untimed(&spinning, queues)? / spinning.alone));
        let times = times.collect::<Result<Vec<f64>>>()?;
        table.put(column, name, TIMES_ONE, median(times));
    }
    beside_a_transfer(context, &spinning, column, table)
}

fn beside_a_transfer(
    context: &Context,
    spinning: &Spinning,
    column: usize,
    table: &mut Table,
) -> Result<()> {
    let (computes, transfers) = (queue(context, 0)?, queue(context, 0)?);
    let mut host = vec![1_u8; TRANSFER_BYTES];
    let device = buffer(context, TRANSFER_BYTES)?;
    // So that what is read is there, and not only what was never written.
    write(&transfers, &device, true, &host)?;
    for what in ["write", "read"] {
        let mut transfer = || match what {
            "write" => write(&transfers, &device, false, &host),
            _ => read(&transfers, &device, false, &mut host),
        };
        let alone = time(ROUNDS, || {
            transfer()?;
            Ok(transfers.finish()?)
        })?;
        let name = format!("64 MiB {what} alone");
        table.put(column, &name, TIMES_ONE, alone / spinning.alone);
        let both = time(ROUNDS, || {
            launch(&computes, &spinning.work[0].0, 1, 1)?;
            computes.flush()?;
            transfer()?;
            transfers.finish()?;
            Ok(computes.finish()?)
        })?;
        let name = format!("a kernel and a 64 MiB {what}, two queues");
        table.put(column, &name, TIMES_ONE, both / spinning.alone);
        // 1 where one hides behind the other.
        let longer = alone.max(spinning.alone);
        table.put(column, &name, TIMES_LONGER, both / longer);
    }
    Ok(())
}

/// Millions of launches that `count` threads enqueue in a second. Each enqueues a stream, waits for it, and
/// begins the next together with the others.
fn threads(context: &Context, count: usize, rounds: usize) -> Result<f64> {
    let work: Vec<(CommandQueue, Kernel, Buffer<i32>)> = (0..count)
        .map(|_| {
            let (kernel, buffer) = (kernel(context, EMPTY, "empty", "")?, buffer(context, 16)?);
            set_buffer(&kernel, 0, &buffer)?;
            let queue = queue(context, 0)?;
            launch(&queue, &kernel, ITEMS, ITEMS)?;
            queue.finish()?;
            Ok((queue, kernel, buffer))
        })
        .collect::<Result<_>>()?;
    let together = Barrier::new(count);
    let one = |queue: CommandQueue, kernel: Kernel, _buffer: Buffer<i32>| {
        let (mut samples, mut failed) = (Vec::new(), false);
        for _ in 0..rounds {
            together.wait();
            let start = Instant::now();
            let enqueued = (0..LAUNCHES).try_for_each(|_| launch(&queue, &kernel, ITEMS, ITEMS));
            samples.push(LAUNCHES as f64 / start.elapsed().as_secs_f64() / 1e6);
            // It goes on whatever it finds, for the others wait for it.
            failed |= enqueued.is_err() || queue.finish().is_err();
        }
        if failed { f64::NAN } else { median(samples) }
    };
    let one = &one;
    let rates: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = work
            .into_iter()
            .map(|(queue, kernel, buffer)| scope.spawn(move || one(queue, kernel, buffer)))
            .collect();
        let rates = threads.into_iter().map(|thread| thread.join());
        rates.map(|rate| rate.unwrap_or(f64::NAN)).collect()
    });
    Ok(rates.iter().sum())
}

/// The same in plain Vulkan, each thread on a `VkQueue` of its own: what is recorded and submitted.
fn plain_threads(raw: &Raw, count: usize, rounds: usize) -> Result<f64> {
    let work = raw.threads(count)?;
    let together = Barrier::new(count);
    let one = |mut raw: Raw| {
        together.wait();
        (raw.batches(&BATCHES, false, rounds)).map_or(f64::NAN, |each_us| 1.0 / each_us)
    };
    let one = &one;
    let rates: Vec<f64> = std::thread::scope(|scope| {
        let threads: Vec<_> = work
            .into_iter()
            .map(|raw| scope.spawn(move || one(raw)))
            .collect();
        let rates = threads.into_iter().map(|thread| thread.join());
        rates.map(|rate| rate.unwrap_or(f64::NAN)).collect()
    });
    Ok(rates.iter().sum())
}

/// The threads' figures, of which `rate` takes one for so many threads.
fn all_threads(
    (name, column): (&str, usize),
    table: &mut Table,
    report: &mut Report,
    rate: impl Fn(usize) -> Result<f64>,
) -> Result<()> {
    // Figures of more threads than processors say nothing about locks.
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let mut of_one = f64::NAN;
    for count in [1, 2, 4, 8]
        .into_iter()
        .filter(|it| *it <= processors.max(2))
    {
        let rate = rate(count)?;
        match count {
            1 => of_one = rate,
            _ => {
                let name = format!("{count} threads with a queue each");
                table.put(column, &name, TIMES_ONE_THREAD, rate / of_one);
            }
        }
        report
            .curves("Threads with a queue each", "threads", "million launches/s")
            .put(name, count as f64, rate);
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments = Arguments::parse(&["overlap", "threads"])?;
    let subjects = subjects(&arguments.names)?;
    let mut columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let raw = if arguments.wants("threads") {
        Raw::all(&subjects[0].name).map(|(raws, _)| raws.into_iter().next())
    } else {
        Ok(None)
    };
    let raw = raw.unwrap_or_else(|error| {
        println!("plain Vulkan is left out: {error}");
        None
    });
    columns.extend(
        raw.as_ref()
            .map(|raw| format!("plain Vulkan / {}", raw.name)),
    );
    let mut table = Table::new("Independent work", &columns);
    let mut report = Report::default();
    let rounds = if arguments.quick { 12 } else { 40 };
    for (column, subject) in subjects.iter().enumerate() {
        let context = Context::from_device(&subject.device)?;
        if arguments.wants("overlap")
            && let Err(error) = overlap(&context, column, &mut table)
        {
            println!("{}: no overlap: {error}", subject.name);
        }
        if arguments.wants("threads") {
            let rate = |count| threads(&context, count, rounds);
            all_threads((&subject.name, column), &mut table, &mut report, rate)?;
        }
    }
    if let Some(raw) = raw {
        let column = (&*columns[subjects.len()], subjects.len());
        let rate = |count| plain_threads(&raw, count, rounds);
        if let Err(error) = all_threads(column, &mut table, &mut report, rate) {
            println!("{}: no more threads: {error}", column.0);
        }
    }
    report.tables.push(table);
    report.show("concurrency", arguments.out.as_deref())
}
