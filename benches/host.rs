//! What a user notices first of a driver: how long a launch, a transfer and a build take.
//!
//! ```text
//! cargo bench --bench host -- [--only launches|transfers|builds|starts]… [--out FOLDER] [NAME…]
//! ```
//!
//! It speaks OpenCL through the system's loader and as applications do, by way of a wrapper that asks for an event
//! with every command. With names, only devices whose platform or device name contains one of them take part, in
//! the order of the names; the first is the one that the others are compared with. Figures are medians; a ratio above
//! 1 means that the first is better. `--bench latency` tells launches and transfers apart more finely.
//!
//! What an application meets each time that it starts is measured in processes of their own, with five programs of a
//! thousand lines in 26 kernels that nothing has seen: one process builds, the next one builds again and launches one
//! of the kernels, and so does a third, by when the caches know the program and what the device runs of it.

mod support;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::fmt::Write;
use std::time::Instant;
use support::opencl::{Subject, buffer, kernel, launch, queue, set_buffer, set_value, subjects};
use support::report::Report;
use support::table::{Table, Unit};
use support::{Arguments, Result, child, median, time, time_handing_over};

const EMPTY: &str = "kernel void empty(global int *p) { if (p == 0) return; }";
const LAUNCHES: usize = 1000;
const ITEMS: usize = 64;
const TRANSFER_BYTES: [usize; 3] = [4 << 10, 1 << 20, 64 << 20];
const KERNELS: [usize; 2] = [1, 16];

fn launches(
    context: &Context,
    queue: &CommandQueue,
    mut put: impl FnMut(&str, Unit, f64),
) -> Result<()> {
    let kernel = kernel(context, EMPTY, "empty", "")?;
    let buffer = buffer::<u8>(context, 64)?;
    let launch = || -> Result<()> {
        // SAFETY: the kernel takes one buffer and touches no memory.
        unsafe {
            ExecuteKernel::new(&kernel)
                .set_arg(&buffer)
                .set_global_work_size(64)
                .set_local_work_size(64)
                .enqueue_nd_range(queue)?;
        }
        Ok(())
    };
    let seconds = time(500, || {
        launch()?;
        Ok(queue.finish()?)
    })?;
    let name = "launch and finish one empty kernel";
    put(name, Unit::MICROSECONDS, seconds * 1e6);
    let stream = || (0..LAUNCHES).try_for_each(|_| launch());
    let (host, wall) = time_handing_over(20, stream, || Ok(queue.finish()?))?;
    let each_us = 1e6 / LAUNCHES as f64;
    let name = format!("enqueue, in a stream of {LAUNCHES}");
    put(&name, Unit::MICROSECONDS, host * each_us);
    let name = format!("launch to completion, in a stream of {LAUNCHES}");
    put(&name, Unit::MICROSECONDS, wall * each_us);
    Ok(())
}

fn transfers(
    context: &Context,
    queue: &CommandQueue,
    mut put: impl FnMut(&str, Unit, f64),
) -> Result<()> {
    for bytes in TRANSFER_BYTES {
        let mut host = vec![0_u8; bytes];
        let mut device = buffer::<u8>(context, bytes)?;
        let rounds = if bytes > 16 << 20 { 10 } else { 100 };
        // SAFETY: the call blocks, `host` outlives it and has the buffer's size.
        let write = time(rounds, || unsafe {
            queue.enqueue_write_buffer(&mut device, CL_BLOCKING, 0, &host, &[])?;
            Ok(())
        })?;
        // SAFETY: as above.
        let read = time(rounds, || unsafe {
            queue.enqueue_read_buffer(&device, CL_BLOCKING, 0, &mut host, &[])?;
            Ok(())
        })?;
        for (what, seconds) in [("write", write), ("read", read)] {
            let name = format!("blocking {what} of {} KiB", bytes >> 10);
            put(
                &name,
                Unit::GIGABYTES_PER_SECOND,
                bytes as f64 / seconds / 1e9,
            );
        }
    }
    Ok(())
}

/// A program of `kernels` kernels that no cache has seen, so that the compiler really runs.
fn fresh_source(kernels: usize) -> Result<String> {
    let salt = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_nanos();
    let mut source = format!("// {salt}\n");
    for k in 0..kernels {
        writeln!(
            source,
            "kernel void k{k}(global float *a, uint n) {{\n\
             size_t i = get_global_id(0); float x = a[i];\n\
             for (uint j = 0; j < n; j++) {{ x = sin(x) * {k}.5f + (float)(j % {m}); if (x > 100.0f) break; }}\n\
             a[i] = x; }}",
            m = k + 2
        )?;
    }
    Ok(source)
}

fn builds(context: &Context, mut put: impl FnMut(&str, Unit, f64)) -> Result<()> {
    let build = |source: &str| -> Result<f64> {
        let start = Instant::now();
        let program = Program::create_and_build_from_source(context, source, "")?;
        Kernel::create(&program, "k0")?;
        Ok(start.elapsed().as_secs_f64())
    };
    for kernels in KERNELS {
        let unseen = (0..5)
            .map(|_| build(&fresh_source(kernels)?))
            .collect::<Result<_>>()?;
        let source = fresh_source(kernels)?;
        build(&source)?;
        let seen = (0..10).map(|_| build(&source)).collect::<Result<_>>()?;
        for (what, seconds) in [("unseen", unseen), ("seen", seen)] {
            let name = format!("build {what} source of {kernels} kernels");
            put(&name, Unit::MILLISECONDS, median(seconds) * 1e3);
        }
    }
    Ok(())
}

/// A program of about a thousand lines: kernels that come to four functions each. Neither source nor code have been
/// seen before where the salt is new.
fn long_source(salt: u32) -> Result<String> {
    const KERNELS: usize = 26;
    let mut source = String::new();
    for k in 0..KERNELS {
        for f in 0..4 {
            let call = match f {
                0 => "x * 0.5f".to_owned(),
                _ => format!("f{k}_{}(x * 0.5f, n)", f - 1),
            };
            writeln!(
                source,
                "float f{k}_{f}(float x, uint n) {{\n    float sum = {f}.5f;\n    for (uint i = 0; i < n; i++) {{\n\
                 \x20       sum = sum * x + (float)(i % {m}u);\n        if (sum > {m}00.0f) sum = x;\n    }}\n\
                 \x20   return sum + {call};\n}}",
                m = k + f + 2
            )?;
        }
        writeln!(
            source,
            "kernel void k{k}(global float *p, uint n) {{\n    size_t i = get_global_id(0);\n    float x = p[i];\n\
             \x20   if (n == {salt}u) x = {k}.0f;\n    p[i] = f{k}_3(x, n);\n}}"
        )?;
    }
    Ok(source)
}

/// What a child does: builds, in this process the first time, and where it is to launches. Milliseconds of each.
fn start(subject: &Subject, salt: u32, launches: bool) -> Result<Vec<f64>> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    let buffer = buffer::<f32>(&context, ITEMS)?;
    let source = long_source(salt)?;
    let start = Instant::now();
    let program = Program::create_and_build_from_source(&context, &source, "")?;
    let mut figures = vec![start.elapsed().as_secs_f64() * 1e3];
    if launches {
        let start = Instant::now();
        let kernel = Kernel::create(&program, "k0")?;
        set_buffer(&kernel, 0, &buffer)?;
        set_value(&kernel, 1, 0_u32)?;
        launch(&queue, &kernel, ITEMS, ITEMS)?;
        queue.finish()?;
        figures.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(figures)
}

/// Builds and first launches of processes that have only begun.
fn starts(subject: &Subject, mut put: impl FnMut(&str, Unit, f64)) -> Result<()> {
    const PROGRAMS: u32 = 5;
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed()?;
    let (mut unseen, mut seen) = (vec![], vec![]);
    let (mut first, mut later, mut both) = (vec![], vec![], vec![]);
    for program in 0..PROGRAMS {
        let salt = (since.as_micros() as u32).wrapping_add(program).to_string();
        let ask = |what: &str| child::ask(&[what, &salt, &subject.name], None);
        unseen.extend(ask("build")?);
        let mut last = f64::NAN;
        for launches in [&mut first, &mut later] {
            let [build, launch] = ask("launch")?[..] else {
                return Err("not two figures".into());
            };
            seen.push(build);
            launches.push(launch);
            last = build + launch;
        }
        // Some drivers leave to the launch what others do as they build.
        both.push(last);
    }
    for (name, samples) in [
        ("1000 lines in a new process: build, unseen", unseen),
        ("1000 lines in a new process: build, seen", seen),
        ("1000 lines in a new process: first launch, unseen", first),
        ("1000 lines in a new process: first launch, seen", later),
        ("1000 lines in a new process: both, seen", both),
    ] {
        put(name, Unit::MILLISECONDS, median(samples));
    }
    Ok(())
}

/// What [`starts`] asks for.
fn answer(request: &[String]) -> Result<()> {
    let [what, salt, device] = request else {
        return Err("not a request".into());
    };
    let subjects = subjects(&[device.to_owned()])?;
    child::answer(&start(&subjects[0], salt.parse()?, what == "launch")?);
    Ok(())
}

fn measure(
    subject: &Subject,
    arguments: &Arguments,
    mut put: impl FnMut(&str, Unit, f64),
) -> Result<()> {
    let context = Context::from_device(&subject.device)?;
    let queue = queue(&context, 0)?;
    if arguments.wants("launches") {
        launches(&context, &queue, &mut put)?;
    }
    if arguments.wants("transfers") {
        transfers(&context, &queue, &mut put)?;
    }
    if arguments.wants("builds") {
        builds(&context, &mut put)?;
    }
    if arguments.wants("starts") {
        starts(subject, &mut put)?;
    }
    Ok(())
}

fn main() -> Result<()> {
    if let Some(request) = child::request() {
        return answer(&request);
    }
    let arguments = Arguments::parse(&["launches", "transfers", "builds", "starts"])?;
    let subjects = subjects(&arguments.names)?;
    let columns: Vec<String> = subjects.iter().map(|it| it.name.clone()).collect();
    let mut table = Table::new("What OpenCL costs the host", &columns);
    for (column, subject) in subjects.iter().enumerate() {
        let put = |name: &str, unit, value| table.put(column, name, unit, value);
        if let Err(error) = measure(subject, &arguments, put) {
            println!("{}: left out from here on: {error}", subject.name);
        }
    }
    let report = Report {
        tables: vec![table],
        ..Report::default()
    };
    report.show("host", arguments.out.as_deref())
}
