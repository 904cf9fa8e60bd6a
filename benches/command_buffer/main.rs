//! What a replay of N small kernels costs: enqueued one by one, as a command buffer, and in plain Vulkan.
//!
//! ```text
//! cargo bench --bench command_buffer -- [--quick] [--only GRAPH]… [--out FOLDER] [NAME…]
//! ```
//!
//! Every OpenCL device that the loader finds takes part (with names: those whose platform or device name contains
//! one, in that order). The first one is compared with all that follow, with plain Vulkan on the same device, and,
//! if it is another driver's, with kernels enqueued one by one there: the kernel, the buffers and their contents are
//! the same, and all check what came out. Plain Vulkan waits for the end in two ways, each a column. All take turns, so
//! that a noisy while of the machine is everybody's, and one of plain Vulkan's takes part twice: where the two come
//! apart, so may any others. GRAPH is "in order", "independent", "a chain", or "forms": plain
//! Vulkan's command buffers laid out in several ways. Host time ends when everything is handed to the device, wall time
//! when it is done. Medians, microseconds; tables and, with `--out`, plots.

mod subject;
#[path = "../support/mod.rs"]
mod support;
mod vulkan;
mod work;

use pumice::runtime::platform::Platform;
use subject::Subject;
use support::opencl::{self, subjects};
use support::report::Report;
use support::table::{Curves, Table, Unit};
use support::turns::{Way, take_turns};
use support::vulkan_code::VulkanCode;
use support::{Arguments, Result};
use vulkan::{Form, Vulkan, Wait};
use work::{Graph, KERNEL, SOURCE};

const COUNTS: [usize; 7] = [1, 10, 100, 300, 1000, 3000, 10_000];
const QUICK_COUNTS: [usize; 4] = [1, 10, 100, 1000];

/// Ways to lay the kernels out in plain Vulkan, beside the usual one.
const FORMS: [Form; 7] = [
    Form::One,
    Form::FullBarriers,
    Form::Exclusive,
    Form::Split(1000),
    Form::Secondary(100),
    Form::Secondary(1000),
    Form::Secondary(10_000),
];

const ONE_BY_ONE: &str = "one by one";
const COMMAND_BUFFER: &str = "command buffer";
const PLAIN: &str = "plain Vulkan";
/// The same way measured once more: how far two that are alike come apart is what the machine's noise makes of a ratio.
const AGAIN: &str = ", again";

/// Ways to do the same work, at several numbers of commands.
struct Comparison {
    title: String,
    counts: &'static [usize],
    host: Curves,
    wall: Curves,
}

impl Comparison {
    fn new(title: &str, counts: &'static [usize]) -> Self {
        let curves = |what| Curves::new(&format!("{what} of a replay, {title}"), "commands", "us");
        Self {
            title: title.to_owned(),
            counts,
            host: curves("Host time"),
            wall: curves("Wall time"),
        }
    }

    /// Measures ways to execute `commands` kernels against each other.
    fn measure(&mut self, commands: usize, ways: Vec<Way<'_, String>>) {
        for (name, times) in take_turns(ways, (10_000 / commands).clamp(4, 40)) {
            self.host.put(&name, commands as f64, times.host);
            self.wall.put(&name, commands as f64, times.wall);
        }
    }

    /// The ratios that decide: command buffer to plain Vulkan, one by one to the command buffer, and plain Vulkan to
    /// itself.
    fn verdict(&self) -> Option<Table> {
        let names: Vec<&str> = self.host.curves.iter().map(|it| it.0.as_str()).collect();
        let mut own = names.iter().copied();
        let own = own.find(|name| name.contains(COMMAND_BUFFER))?;
        let plain = names.iter().filter(|name| name.contains(PLAIN));
        let mut pairs: Vec<_> = plain
            .map(|name| match name.strip_suffix(AGAIN) {
                Some(before) => (format!("{name} / before"), *name, before),
                None => (format!("{own} / {name}"), own, *name),
            })
            .collect();
        let one_by_one = names.iter().filter(|name| name.contains(ONE_BY_ONE));
        pairs.extend(one_by_one.map(|name| (format!("{name} / {own}"), *name, own)));
        let both = pairs
            .iter()
            .flat_map(|(name, ..)| ["host", "wall"].map(|it| format!("{it}: {name}")));
        let mut table = Table::of_parts(
            &format!("Ratios, {}", self.title),
            &both.collect::<Vec<_>>(),
        );
        for &count in self.counts {
            let row = format!("{count} commands");
            for (index, (_, above, below)) in pairs.iter().enumerate() {
                for (place, curves) in [&self.host, &self.wall].into_iter().enumerate() {
                    let at = |name| curves.at(name, count as f64);
                    if let (Some(above), Some(below)) = (at(above), at(below)) {
                        table.put(2 * index + place, &row, Unit::less("times"), above / below);
                    }
                }
            }
        }
        Some(table)
    }
}

/// The same device in plain Vulkan, where it is one of ours.
fn plain(subject: &opencl::Subject) -> Result<Vulkan> {
    let platform = Platform::instance();
    let known = platform
        .devices()
        .iter()
        .find(|known| subject.name.contains(&known.info().name))
        .ok_or("no such Vulkan device")?;
    // OpenCL C 1.2, the default.
    let code = VulkanCode::new(known, SOURCE, KERNEL, "", true)?;
    Vulkan::new(&known.info().name, code)
}

/// Says what went wrong, and goes on without it.
fn noted<T>(what: &str, result: Result<T>) -> Option<T> {
    result
        .inspect_err(|error| eprintln!("{what}: {error}"))
        .ok()
}

fn compare(
    graph: Graph,
    counts: &'static [usize],
    devices: &[opencl::Subject],
    vulkan: &Vulkan,
) -> Result<Comparison> {
    let mut comparison = Comparison::new(graph.name(), counts);
    let subjects: Vec<_> = devices
        .iter()
        .filter_map(|it| Some((&it.name, noted(&it.name, Subject::new(&it.device, graph))?)))
        .collect();
    for &commands in counts {
        let recorded = vulkan.record(commands, graph, Form::One)?;
        let mut ways = Vec::new();
        for (name, subject) in &subjects {
            if graph == Graph::InOrder {
                let run = move || subject.one_by_one(commands);
                ways.push(Way::new(format!("{name}, {ONE_BY_ONE}"), run));
            }
            if subject.has_command_buffers()
                && let Some(buffer) = noted(name, subject.command_buffer(commands, graph))
            {
                let run = move || buffer.replay();
                ways.push(Way::new(format!("{name}, {COMMAND_BUFFER}"), run));
            }
        }
        for (wait, again) in [(Wait::Block, ""), (Wait::Poll, ""), (Wait::Poll, AGAIN)] {
            let recorded = &recorded;
            let run = move || vulkan.replay(recorded, wait);
            ways.push(Way::new(format!("{PLAIN}, {}{again}", wait.name()), run));
        }
        comparison.measure(commands, ways);
        for (name, subject) in &subjects {
            let verified = subject.verify(commands, graph);
            verified.map_err(|error| format!("{name}, {commands} commands: {error}"))?;
        }
        vulkan.verify(commands, graph)?;
    }
    Ok(comparison)
}

/// Plain Vulkan's command buffers, laid out in several ways.
fn compare_forms(counts: &'static [usize], vulkan: &Vulkan) -> Result<Comparison> {
    let title = format!("{PLAIN}, in order, by the form of the command buffers");
    let mut comparison = Comparison::new(&title, counts);
    for &commands in counts {
        let way = |form: Form| {
            let recorded = vulkan.record(commands, Graph::InOrder, form)?;
            let run = move || vulkan.replay(&recorded, Wait::Block);
            Ok(Way::new(form.name(), run))
        };
        let ways = FORMS.map(way).into_iter().collect::<Result<_>>()?;
        comparison.measure(commands, ways);
        vulkan.verify(commands, Graph::InOrder)?;
    }
    Ok(comparison)
}

fn main() -> Result<()> {
    let graphs = [Graph::InOrder, Graph::Independent, Graph::Chain];
    let names = graphs.map(Graph::name);
    let arguments = Arguments::parse(&[&names[..], &["forms"]].concat())?;
    let counts: &'static [usize] = if arguments.quick {
        &QUICK_COUNTS
    } else {
        &COUNTS
    };
    let subjects = subjects(&arguments.names)?;
    let vulkan = plain(&subjects[0])?;
    let mut report = Report::default();
    for graph in graphs.into_iter().filter(|it| arguments.wants(it.name())) {
        let comparison = compare(graph, counts, &subjects, &vulkan)?;
        report.tables.extend(comparison.verdict());
        report.curves.extend([comparison.host, comparison.wall]);
    }
    if arguments.wants("forms") {
        let comparison = compare_forms(counts, &vulkan)?;
        report.curves.extend([comparison.host, comparison.wall]);
    }
    report.show("command_buffer", arguments.out.as_deref())
}
