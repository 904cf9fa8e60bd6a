//! How long programs take to build, and how that grows with their size.
//!
//! ```text
//! cargo bench --bench compile -- [--shape NAME]… [--lines N]… [--device-like NAME] [--passes] [--driver] [--cold]
//!     [--warm] [--svg FILE]
//! ```
//!
//! Programs of several shapes are made in growing sizes and compiled without any cache. The columns: clang's front end
//! (source to OpenCL SPIR-V), our passes (to Vulkan SPIR-V) and their ratio to clang, with `--driver` the Vulkan
//! driver's pipelines (one for each kernel), and the bytes of the compiled program as memory and the disk cache keep it:
//! packed SPIR-V and what a launch wants to know of each kernel. `clBuildProgram` is that of the first platform named Pumice: with `--cold`
//! of a program that no cache knows, beside one run of clang alone, by a command line as one would write it to get
//! SPIR-V; with `--warm` the first one of a process whose disk cache knows the program. Growth is the exponent between
//! a size and the one before: 1 is linear, 2 quadratic. `--device-like` compiles for another device than the first, as
//! `pumice compile` does. `--passes` tells the passes of the largest program of each shape apart.

mod support;

use lexopt::prelude::*;
use opencl3::context::Context;
use opencl3::program::Program;
use pumice::compiler::{self, Capabilities, CompiledProgram};
use pumice::config::Config;
use pumice::runtime::code::front_end::FrontEnd;
use pumice::runtime::device::Device;
use pumice::runtime::platform::Platform;
use pumice::toolchain::{BuildOptions, CompileRequest, DiskCache, LanguageTarget, compile_source};
use pumice::vulkan::{Pipeline, PipelineOptions, ShaderModule};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use support::opencl::subjects;
use support::report::save_plot;
use support::table::Curves;
use support::{Result, child, plot};

/// A program of about so many lines.
type Generator = fn(usize) -> String;

const SHAPES: [(&str, Generator); 9] = [
    ("functions", functions),
    ("kernels", kernels),
    ("straight line", straight_line),
    ("branches", branches),
    ("loops", loops),
    ("counted loops", counted_loops),
    ("loops of sums", loops_of_sums),
    ("nesting", nesting),
    ("variables", variables),
];
const LINES: [usize; 6] = [100, 300, 1000, 2500, 5000, 10_000];
/// A run is repeated until this has passed, or three times.
const ENOUGH: Duration = Duration::from_secs(2);

/// Functions that call each other in a chain of short calls, all from one kernel.
fn functions(lines: usize) -> String {
    let count = (lines / 8).max(1);
    let mut text = String::new();
    for f in 0..count {
        let call = match f % 4 {
            0 => "x * 0.5f".to_owned(),
            _ => format!("f{}(x * 0.5f, n)", f - 1),
        };
        let _ = write!(
            text,
            "float f{f}(float x, uint n) {{\n    float sum = {f}.0f;\n    for (uint i = 0; i < n; i++) {{\n\
             \x20       sum = sum * x + (float)(i % {m}u);\n        if (sum > {f}00.0f) sum = x;\n    }}\n\
             \x20   return sum + {call};\n}}\n",
            m = f + 2
        );
    }
    text.push_str("kernel void k(global float *p, uint n) {\n    float x = p[get_global_id(0)];\n");
    for f in (3..count).step_by(4).chain([count - 1]) {
        let _ = writeln!(text, "    x += f{f}(x, n);");
    }
    text.push_str("    p[get_global_id(0)] = x;\n}\n");
    text
}

/// Kernels of eight lines each.
fn kernels(lines: usize) -> String {
    let mut text = String::new();
    for k in 0..(lines / 8).max(1) {
        let _ = write!(
            text,
            "kernel void k{k}(global float *a, global const float *b, uint n) {{\n    size_t i = get_global_id(0);\n\
             \x20   float x = a[i];\n    for (uint j = 0; j < n; j++) {{\n        x = x * b[j * {k}u] + {k}.5f;\n\
             \x20       if (x > 100.0f) x = b[i];\n    }}\n    a[i] = x; }}\n"
        );
    }
    text
}

/// One kernel without a branch.
fn straight_line(lines: usize) -> String {
    let mut text = String::from(
        "kernel void k(global float *a, global const float *b) {\n    size_t i = get_global_id(0);\n    float x = a[i], y = b[i], z = x;\n",
    );
    for line in 0..lines {
        let _ = writeln!(
            text,
            "    {}",
            match line % 4 {
                0 => format!("x = x * y + b[i + {line}];"),
                1 => format!("y = fabs(x - {line}.5f) + z;"),
                2 => "z = z * z - x;".to_owned(),
                _ => format!("a[i + {line}] = z;"),
            }
        );
    }
    text.push_str("    a[i] = x + y + z;\n}\n");
    text
}

/// One kernel of many branches one after the other.
fn branches(lines: usize) -> String {
    let mut text = String::from(
        "kernel void k(global int *a, global const int *b) {\n    size_t i = get_global_id(0);\n    int x = a[i], y = b[i];\n",
    );
    for line in (0..lines).step_by(5) {
        let _ = write!(
            text,
            "    if (x > b[{line}]) {{\n        a[i + {line}] = y;\n        y = b[x & 63];\n    }} else\n\
             \x20       x += a[y & {line}];\n"
        );
    }
    text.push_str("    a[i] = x + y;\n}\n");
    text
}

/// One kernel of many loops one after the other.
fn loops(lines: usize) -> String {
    let mut text = String::from(
        "kernel void k(global int *a, global const int *b, int n) {\n    size_t i = get_global_id(0);\n    int x = a[i], y = b[i];\n",
    );
    for line in (0..lines).step_by(5) {
        let _ = write!(
            text,
            "    for (int j = {line}; j < n; j++) {{\n        x = x * y + b[j];\n        if (x == {line}) break;\n\
             \x20       a[j] = y;\n    }}\n"
        );
    }
    text.push_str("    a[i] = x + y;\n}\n");
    text
}

/// One kernel of many loops whose rounds are known as they begin, and that load and store.
fn counted_loops(lines: usize) -> String {
    let mut text = String::from(
        "kernel void k(global int *a, global const int *b, uint n) {\n    size_t i = get_global_id(0);\n    int x = a[i];\n    bool flag = x > 3;\n",
    );
    for line in (0..lines).step_by(5) {
        let _ = write!(
            text,
            "    for (uint j = 0; j != n; j++) {{\n        x = x * 3 + b[j + {line}];\n        a[j] = x;\n\
             \x20       flag = n > {line};\n    }}\n"
        );
    }
    text.push_str("    a[i] = x + flag;\n}\n");
    text
}

/// One kernel of many loops of constant rounds, that only compute.
fn loops_of_sums(lines: usize) -> String {
    let mut text = String::from(
        "kernel void k(global float *a, global const float *b) {\n    size_t i = get_global_id(0);\n    float x = a[i];\n",
    );
    for line in (0..lines).step_by(4) {
        let _ = write!(
            text,
            "    for (uint j = 0; j < {rounds}; j++) {{\n        x = fma(x, x, 0.{line}f);\n        x = x > 2.0f ? {line}.5f : x;\n    }}\n",
            rounds = 91 + 2 * (line % 40)
        );
    }
    text.push_str("    a[i] = x;\n}\n");
    text
}

/// One kernel with loops and branches in each other, forty deep, again and again.
fn nesting(lines: usize) -> String {
    const DEPTH: usize = 40;
    let mut text = String::from(
        "kernel void k(global int *a, global const int *b, int n) {\n    size_t i = get_global_id(0);\n    int x = a[i];\n",
    );
    for block in 0..(lines / (2 * DEPTH)).max(1) {
        for depth in 0..DEPTH {
            let _ = match depth % 2 {
                0 => writeln!(text, "if (x > b[{block} + {depth}]) {{ x += {depth};"),
                _ => writeln!(
                    text,
                    "while (x < b[x & {depth}]) {{ x += a[{block}]; if (x == {block}) break;"
                ),
            };
        }
        for depth in 0..DEPTH {
            let _ = writeln!(text, "a[{depth}] = x; }}");
        }
    }
    text.push_str("    a[i] = x;\n}\n");
    text
}

/// One kernel of many variables that live long, some of them arrays that stay in memory.
fn variables(lines: usize) -> String {
    let count = (lines / 3).max(1);
    let mut text = String::from(
        "kernel void k(global int *a, global const int *b, int n) {\n    size_t i = get_global_id(0);\n",
    );
    for v in 0..count {
        let _ = match v % 16 {
            0 => writeln!(
                text,
                "    int v{v}[8]; v{v}[b[{v}] & 7] = b[i]; v{v}[b[i] & 7] = {v};"
            ),
            _ => writeln!(text, "    int v{v} = b[i + {v}];"),
        };
    }
    text.push_str("    for (int j = 0; j < n; j++) {\n");
    for v in 0..count {
        let other = (v * 7 + 1) % count;
        let name = |v: usize| match v % 16 {
            0 => format!("v{v}[j & 7]"),
            _ => format!("v{v}"),
        };
        let _ = writeln!(text, "        {} += {} * j;", name(v), name(other));
    }
    text.push_str("    }\n");
    for v in 0..count {
        let index = if v % 16 == 0 { "[n & 7]" } else { "" };
        let _ = writeln!(text, "    a[i + {v}] = v{v}{index};");
    }
    text.push_str("}\n");
    text
}

struct Arguments {
    shapes: Vec<String>,
    lines: Vec<usize>,
    device_like: Option<String>,
    passes: bool,
    driver: bool,
    cold: bool,
    warm: bool,
    svg: PathBuf,
}

fn arguments() -> Result<Arguments> {
    let mut arguments = Arguments {
        shapes: Vec::new(),
        lines: Vec::new(),
        device_like: None,
        passes: false,
        driver: false,
        cold: false,
        warm: false,
        svg: "target/compile.svg".into(),
    };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            // cargo bench passes it.
            Long("bench") => {}
            Long("shape") => arguments.shapes.push(parser.value()?.string()?),
            Long("lines") => arguments.lines.push(parser.value()?.parse()?),
            Long("device-like") => arguments.device_like = Some(parser.value()?.string()?),
            Long("passes") => arguments.passes = true,
            Long("driver") => arguments.driver = true,
            Long("cold") => arguments.cold = true,
            Long("warm") => arguments.warm = true,
            Long("svg") => arguments.svg = parser.value()?.into(),
            other => return Err(other.unexpected().into()),
        }
    }
    if arguments.lines.is_empty() {
        arguments.lines = LINES.to_vec();
    }
    Ok(arguments)
}

/// The least seconds of up to three runs, and the result of the last.
fn least<T>(mut work: impl FnMut() -> Result<T>) -> Result<(f64, T)> {
    let begin = Instant::now();
    let mut least = f64::MAX;
    for round in 1.. {
        let start = Instant::now();
        let value = work()?;
        least = least.min(start.elapsed().as_secs_f64());
        if round == 3 || begin.elapsed() > ENOUGH {
            return Ok((least, value));
        }
    }
    Err("no run".into())
}

/// What the programs are compiled with, and for which device.
struct Bench {
    front_end: FrontEnd,
    device: Option<Arc<Device>>,
    capabilities: Capabilities,
    target: LanguageTarget,
}

impl Bench {
    fn new(device_like: Option<&str>) -> Result<Self> {
        let device = Platform::instance().devices().first().cloned();
        let capabilities = match device_like {
            Some(name) => {
                Capabilities::named(name).ok_or_else(|| format!("--device-like {name}: unknown"))?
            }
            None => device
                .as_ref()
                .map_or_else(Capabilities::full, |it| it.capabilities().clone()),
        };
        let target = device
            .as_deref()
            .map_or_else(LanguageTarget::default, Device::language_target);
        Ok(Self {
            front_end: FrontEnd::new(Config::of_process()),
            device,
            capabilities,
            target,
        })
    }

    fn front(&self, source: &str) -> Result<Vec<u32>> {
        let outcome = compile_source(
            self.front_end.clang(),
            &DiskCache::disabled(),
            &CompileRequest {
                source,
                headers: &[],
                options: &BuildOptions::default(),
                target: &self.target,
                is_whole: true,
                is_unoptimized: false,
            },
        );
        Ok(outcome.spirv.ok_or(outcome.log)?.words()?)
    }

    /// Runs clang once, as one would by hand to get SPIR-V, but without what Pumice leaves out as well: vectors that
    /// clang makes itself, and unrolled loops.
    fn clang_alone(&self, source: &str) -> Result<()> {
        let clang = self.front_end.clang().map_err(Clone::clone)?;
        let mut child = Command::new(&clang.path)
            .args(["-target", "spirv64", "-cl-std=CL1.2", "-O2", "-w"])
            .args(["-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops"])
            .args(["-x", "cl", "-c", "-", "-o", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take().ok_or("clang has no input")?;
        input.write_all(source.as_bytes())?;
        drop(input);
        if child.wait_with_output()?.status.success() {
            Ok(())
        } else {
            Err("clang failed".into())
        }
    }

    /// Compiles a module, and adds the time of each pass to `passes`.
    fn passes(
        &self,
        module: &[u32],
        passes: &mut Vec<(String, Duration)>,
    ) -> Result<CompiledProgram> {
        let library = self.front_end.library().map_err(Clone::clone)?;
        let options = compiler::Options {
            uniform_work_groups: true,
            ..compiler::Options::default()
        };
        let mut last = Instant::now();
        let mut observe = |name: &str, _: &compiler::ir::Module| {
            let spent = last.elapsed();
            match passes.iter_mut().find(|(found, _)| found == name) {
                Some((_, sum)) => *sum += spent,
                None => passes.push((name.to_owned(), spent)),
            }
            last = Instant::now();
        };
        let program = compiler::compile_observed(
            &[module],
            library,
            &self.capabilities,
            &options,
            &mut observe,
        )?;
        Ok(program)
    }

    /// A pipeline for each kernel, as the driver makes it the first time.
    fn pipelines(&self, program: &CompiledProgram) -> Result<()> {
        let device = self.device.as_ref().ok_or("no Vulkan device")?.vulkan()?;
        for kernel in &program.kernels {
            let module = ShaderModule::new(device, &kernel.spirv.words()?)?;
            let size = [(0, 64), (1, 1), (2, 1)];
            Pipeline::new(device, &module, &size, PipelineOptions::default(), None)?;
        }
        Ok(())
    }
}

/// Seconds of `clBuildProgram`.
fn build(device: &opencl3::device::Device, context: &Context, source: &str) -> Result<f64> {
    let program = Program::create_from_source(context, source)?;
    let start = Instant::now();
    opencl3::program::build_program(
        program.get(),
        &[device.id()],
        c"",
        None,
        std::ptr::null_mut(),
    )
    .map_err(|code| format!("clBuildProgram: error {code}"))?;
    Ok(start.elapsed().as_secs_f64())
}

/// The least seconds of `clBuildProgram` where no cache knows the program.
fn cold_build(source: &str) -> Result<f64> {
    let device = &subjects(&["Pumice".into()])?[0].device;
    let context = Context::from_device(device)?;
    // What the first build of a process finds and loads is no part of it.
    build(device, &context, "kernel void k() {}")?;
    let one = || {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_nanos();
        build(device, &context, &format!("{source}// {since}\n"))
    };
    (0..3).try_fold(f64::MAX, |least, _| Ok(one()?.min(least)))
}

/// The least seconds of `clBuildProgram` as the first of a process whose disk cache knows the program.
fn warm_build(shape: &str, lines: usize) -> Result<f64> {
    let build = || -> Result<f64> { Ok(child::ask(&[shape, &lines.to_string()], None)?[0]) };
    // It may be the cache that is asked for the first time.
    build()?;
    (0..5).try_fold(f64::MAX, |least, _| Ok(build()?.min(least)))
}

/// What [`warm_build`] asks for.
fn answer(request: &[String]) -> Result<()> {
    let [shape, lines] = request else {
        return Err("not a request".into());
    };
    let found = SHAPES.iter().find(|(name, _)| name == shape);
    let source = found.ok_or("no such shape")?.1(lines.parse()?);
    let device = &subjects(&["Pumice".into()])?[0].device;
    let context = Context::from_device(device)?;
    child::answer(&[build(device, &context, &source)?]);
    Ok(())
}

/// The exponent that leads from one point to the next.
fn growth(points: &[(f64, f64)]) -> String {
    match points {
        [.., (x0, y0), (x1, y1)] => format!("{:.1}", (y1 / y0).ln() / (x1 / x0).ln()),
        _ => String::new(),
    }
}

fn main() -> Result<()> {
    if let Some(request) = child::request() {
        return answer(&request);
    }
    let arguments = arguments()?;
    let bench = Bench::new(arguments.device_like.as_deref())?;
    let mut curves = Curves::new("Compile time", "lines", "milliseconds");
    let (mut worst, mut worst_cold): (f64, f64) = (0.0, 0.0);
    println!(
        "{:14}{:>7}{:>11}{:>7}{:>11}{:>7}{:>8}{:>10}{:>11}{:>10}{:>10}{:>8}{:>11}",
        "program",
        "lines",
        "clang ms",
        "growth",
        "passes ms",
        "growth",
        "ratio",
        "kept KiB",
        "driver ms",
        "alone ms",
        "cold ms",
        "ratio",
        "warm ms"
    );
    for (name, generate) in SHAPES {
        if !arguments.shapes.is_empty() && !arguments.shapes.iter().any(|shape| shape == name) {
            continue;
        }
        let (mut clang, mut ours) = (Vec::new(), Vec::new());
        let mut by_pass = Vec::new();
        for &wanted in &arguments.lines {
            let source = generate(wanted);
            let size = source.lines().count() as f64;
            let (front, module) = least(|| bench.front(&source))?;
            let (back, program) = least(|| {
                by_pass.clear();
                bench.passes(&module, &mut by_pass)
            })?;
            clang.push((size, front));
            ours.push((size, back));
            worst = worst.max(back / front);
            let kept = postcard::to_allocvec(&program)?.len() as f64 / 1024.0;
            let driver = if arguments.driver {
                format!("{:.1}", least(|| bench.pipelines(&program))?.0 * 1e3)
            } else {
                String::new()
            };
            let (mut alone, mut cold, mut ratio) = Default::default();
            if arguments.cold {
                let by_clang = least(|| bench.clang_alone(&source))?.0;
                let by_us = cold_build(&source)?;
                worst_cold = worst_cold.max(by_us / by_clang);
                alone = format!("{:.1}", by_clang * 1e3);
                cold = format!("{:.1}", by_us * 1e3);
                ratio = format!("{:.2}", by_us / by_clang);
            }
            let warm = if arguments.warm {
                format!("{:.2}", warm_build(name, wanted)? * 1e3)
            } else {
                String::new()
            };
            println!(
                "{name:14}{size:>7}{:>11.1}{:>7}{:>11.1}{:>7}{:>8.2}{kept:>10.1}{driver:>11}{alone:>10}{cold:>10}{ratio:>8}{warm:>11}",
                front * 1e3,
                growth(&clang),
                back * 1e3,
                growth(&ours),
                back / front
            );
        }
        if arguments.passes {
            by_pass.sort_by_key(|pass| std::cmp::Reverse(pass.1));
            for (pass, spent) in by_pass.iter().take(12) {
                println!("    {pass:28}{:>10.1} ms", spent.as_secs_f64() * 1e3);
            }
        }
        for (what, points) in [("clang", clang), ("passes", ours)] {
            for (size, seconds) in points {
                curves.put(&format!("{name}: {what}"), size, seconds * 1e3);
            }
        }
    }
    println!("\nour passes took at most {worst:.2} of clang's time");
    if arguments.cold {
        println!("cold builds took at most {worst_cold:.2} times as long as clang alone");
    }
    save_plot(&arguments.svg, &plot::curves(&curves)?)
}
