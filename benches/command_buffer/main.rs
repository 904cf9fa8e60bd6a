//! What a replay of N small kernels costs: enqueued one by one, as a command buffer, and in plain Vulkan.
//!
//! ```text
//! cargo bench --bench command_buffer -- [--quick] [--only GRAPH] [--out FOLDER] [NAME…]
//! ```
//!
//! Every OpenCL device that the loader finds takes part (with names: those whose platform or device name contains
//! one, in that order). The first one is compared with all that follow, with plain Vulkan on the same device, and,
//! if it is another driver's, with kernels enqueued one by one there: the kernel, the buffers and their contents are
//! the same, and all check what came out. GRAPH is "in order", "independent" or "a chain". Host time ends when everything is handed to the device, wall time when it is done. Medians,
//! microseconds; tables and, with `--out`, plots.

mod code;
mod subject;
#[path = "../support/mod.rs"]
mod support;
mod times;
mod vulkan;
mod work;

use pumice::runtime::platform::Platform;
use std::path::PathBuf;
use subject::Subject;
use support::Result;
use support::opencl::{self, Device};
use support::report::{Plot, save};
use times::Times;
use vulkan::{Form, Vulkan};
use work::Graph;

const COUNTS: [usize; 7] = [1, 10, 100, 300, 1000, 3000, 10_000];
const QUICK_COUNTS: [usize; 4] = [1, 10, 100, 1000];

/// Ways to lay the kernels out in plain Vulkan, beside the usual one.
const FORMS: [Form; 6] = [
    Form::One,
    Form::Exclusive,
    Form::Split(1000),
    Form::Secondary(100),
    Form::Secondary(1000),
    Form::Secondary(10_000),
];

struct Options {
    counts: &'static [usize],
    only: Option<String>,
    out: Option<PathBuf>,
    names: Vec<String>,
}

fn options() -> Result<Options> {
    let mut options = Options {
        counts: &COUNTS,
        only: None,
        out: None,
        names: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => options.counts = &QUICK_COUNTS,
            "--only" => options.only = Some(arguments.next().ok_or("--only GRAPH")?),
            "--out" => options.out = Some(arguments.next().ok_or("--out FOLDER")?.into()),
            // What cargo bench passes.
            flag if flag.starts_with("--") => {}
            name => options.names.push(name.to_owned()),
        }
    }
    Ok(options)
}

/// One way to do the work, at each number of commands.
struct Series {
    name: String,
    points: Vec<(usize, Times)>,
}

impl Series {
    fn measure(
        name: String,
        counts: &[usize],
        mut run: impl FnMut(usize) -> Result<Times>,
    ) -> Self {
        let mut points = Vec::new();
        for &count in counts {
            match run(count) {
                Ok(times) => points.push((count, times)),
                Err(error) => eprintln!("{name}, {count} commands: {error}"),
            }
        }
        Self { name, points }
    }

    fn at(&self, count: usize) -> Option<Times> {
        let point = self.points.iter().find(|point| point.0 == count);
        point.map(|point| point.1)
    }
}

/// Everything measured for one graph.
struct Results {
    title: String,
    series: Vec<Series>,
}

impl Results {
    /// Host and wall time against the number of commands.
    fn plots(&self) -> [Plot; 2] {
        let plot = |what: &str, of: fn(&Times) -> f64| Plot {
            curves: self
                .series
                .iter()
                .map(|series| {
                    let point = |(count, times): &(usize, Times)| (*count as f64, of(times));
                    (
                        series.name.clone(),
                        series.points.iter().map(point).collect(),
                    )
                })
                .collect(),
            ..Plot::new(
                &format!("{what} of a replay, {}", self.title),
                "commands",
                "us",
            )
        };
        [
            plot("Host time", |it| it.host),
            plot("Wall time", |it| it.wall),
        ]
    }

    fn report(&self, out: Option<&PathBuf>) -> Result<()> {
        for (plot, kind) in self.plots().iter().zip(["host", "wall"]) {
            println!("{}", plot.markdown());
            if let Some(folder) = out {
                let name = format!("{}-{kind}", self.title.replace([' ', ','], "-"));
                save(folder, &format!("{name}.md"), &plot.markdown())?;
                save(folder, &format!("{name}.svg"), &plot.svg())?;
            }
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name.contains(name))
    }

    /// The ratios that decide: command buffer to plain Vulkan, and one by one to the command buffer.
    fn verdict(&self, counts: &[usize]) -> Option<String> {
        let replayed = self.find(COMMAND_BUFFER)?;
        let plain = self.find(PLAIN)?;
        let mut text = format!(
            "## Ratios, {}\n\n| commands | host, of plain Vulkan | wall, of plain Vulkan |",
            self.title
        );
        let others: Vec<&Series> = self
            .series
            .iter()
            .filter(|series| series.name.contains(ONE_BY_ONE))
            .collect();
        for other in &others {
            text += &format!(" {}: host, times | wall, times |", other.name);
        }
        text += &format!("\n|---:|---:|---:|{}\n", "---:|".repeat(2 * others.len()));
        for &count in counts {
            let (Some(own), Some(plain)) = (replayed.at(count), plain.at(count)) else {
                continue;
            };
            let (host, wall) = (own.host / plain.host, own.wall / plain.wall);
            text += &format!("| {count} | {host:.2} | {wall:.2} |");
            for other in &others {
                let times = other.at(count);
                let times = times.map(|it| (it.host / own.host, it.wall / own.wall));
                text += &times.map_or(" – | – |".to_owned(), |(host, wall)| {
                    format!(" {host:.1} | {wall:.2} |")
                });
            }
            text.push('\n');
        }
        Some(text)
    }
}

const ONE_BY_ONE: &str = "one by one";
const COMMAND_BUFFER: &str = "command buffer";
const PLAIN: &str = "plain Vulkan";

/// The same device in plain Vulkan, where it is one of ours.
fn plain(device: &Device) -> Result<Vulkan> {
    let platform = Platform::instance();
    let known = platform
        .devices()
        .iter()
        .find(|known| device.name.contains(&known.info().name))
        .ok_or("no such Vulkan device")?;
    Vulkan::new(&known.info().name, code::Code::new(known)?)
}

fn results(options: &Options, devices: &[Device], graph: Graph, vulkan: &mut Vulkan) -> Results {
    let counts = options.counts;
    let mut series = Vec::new();
    for device in devices {
        let subject = match Subject::new(device, graph) {
            Ok(subject) => subject,
            Err(error) => {
                eprintln!("{}: {error}", device.name);
                continue;
            }
        };
        if graph == Graph::InOrder {
            let name = format!("{}, {ONE_BY_ONE}", device.name);
            series.push(Series::measure(name, counts, |count| {
                subject.one_by_one(count)
            }));
        }
        if subject.has_command_buffers() {
            let name = format!("{}, {COMMAND_BUFFER}", device.name);
            series.push(Series::measure(name, counts, |count| {
                subject.command_buffer(count, graph)
            }));
        }
    }
    let name = format!("{PLAIN} / {}", vulkan.name);
    series.push(Series::measure(name, counts, |count| {
        vulkan.replay(count, graph, Form::One)
    }));
    Results {
        title: graph.name().to_owned(),
        series,
    }
}

fn main() -> Result<()> {
    let options = options()?;
    let devices = opencl::devices(&options.names)?;
    let first = devices.first().ok_or("no OpenCL device")?;
    let mut vulkan = plain(first)?;
    for graph in [Graph::InOrder, Graph::Independent, Graph::Chain] {
        if options
            .only
            .as_ref()
            .is_some_and(|only| only != graph.name())
        {
            continue;
        }
        let results = results(&options, &devices, graph, &mut vulkan);
        results.report(options.out.as_ref())?;
        if let Some(text) = results.verdict(options.counts) {
            println!("{text}");
            if let Some(folder) = &options.out {
                save(
                    folder,
                    &format!("{}-ratios.md", graph.name().replace(' ', "-")),
                    &text,
                )?;
            }
        }
    }
    if options.only.as_ref().is_none_or(|only| only == "forms") {
        let series = FORMS.iter().map(|form| {
            Series::measure(form.name(), options.counts, |count| {
                vulkan.replay(count, Graph::InOrder, *form)
            })
        });
        let results = Results {
            title: format!("{PLAIN}, in order, by the form of the command buffers"),
            series: series.collect(),
        };
        results.report(options.out.as_ref())?;
    }
    Ok(())
}
