//! Launches as every driver and plain Vulkan make them, measured in turns.

use crate::dissection::POLLED;
use crate::launches::{EMPTY, ITEMS, STORE};
use crate::support::Result;
use crate::support::opencl::{Subject, buffer, kernel, launch, queue, set_buffer};
use crate::support::table::{Table, Unit};
use crate::support::turns::{Times, Way, take_turns};
use crate::support::vulkan::{Around, Raw};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use std::cell::RefCell;
use std::time::Instant;

/// Launches in a stream.
pub const LAUNCHES: usize = 1000;
/// Turns with streams.
const TURNS: usize = 8;

/// The rows of a stream: until the host was through, until all was done.
const FREE: [&str; 2] = [
    "enqueue, in a stream of 1000",
    "to completion, each of a stream of 1000",
];
const ORDERED: [&str; 2] = [
    "enqueue, in a stream of 1000, each writes what the next reads",
    "to completion, each of a stream of 1000, each writes what the next reads",
];
const ROUND_TRIP: &str = "launch and finish one empty kernel";

/// A device with kernels to launch.
struct Launcher {
    queue: CommandQueue,
    empty: Kernel,
    store: Kernel,
    _argument: Buffer<u8>,
    _context: Context,
}

impl Launcher {
    fn new(subject: &Subject) -> Result<Self> {
        let context = Context::from_device(&subject.device)?;
        let argument = buffer::<u8>(&context, 64)?;
        let kernel = |source, name| {
            let kernel = kernel(&context, source, name, "")?;
            set_buffer(&kernel, 0, &argument)?;
            Result::Ok(kernel)
        };
        Ok(Self {
            queue: queue(&context, 0)?,
            empty: kernel(EMPTY, "empty")?,
            store: kernel(STORE, "store")?,
            _argument: argument,
            _context: context,
        })
    }

    /// Enqueues the kernel so many times and waits for the end; when all was enqueued.
    fn launch(&self, kernel: &Kernel, launches: usize) -> Result<Instant> {
        for _ in 0..launches {
            launch(&self.queue, kernel, ITEMS, ITEMS)?;
        }
        let enqueued = Instant::now();
        self.queue.finish()?;
        Ok(enqueued)
    }
}

/// Fills in the columns of the subjects, and after them that of plain Vulkan, if it takes part.
pub fn measure(
    subjects: &[Subject],
    raw: Option<&mut Raw>,
    table: &mut Table,
    rounds: usize,
) -> Result<()> {
    let mut launchers = Vec::new();
    for (column, subject) in subjects.iter().enumerate() {
        match Launcher::new(subject) {
            Ok(launcher) => launchers.push((column, launcher)),
            Err(error) => println!("{}: left out: {error}", subject.name),
        }
    }
    // Ways are called by the numbers of their columns.
    let plain = subjects.len();
    let raw = raw.map(RefCell::new);
    let mut put = |column: usize, row: &str, us: f64| {
        table.put(column, row, Unit::MICROSECONDS, us);
    };
    for (ordered, rows) in [(false, FREE), (true, ORDERED)] {
        let mut ways = Vec::new();
        for (column, launcher) in &launchers {
            let kernel = if ordered {
                &launcher.store
            } else {
                &launcher.empty
            };
            ways.push(Way::new(*column, || launcher.launch(kernel, LAUNCHES)));
        }
        if let Some(raw) = &raw {
            // The empty kernel touches nothing, so nobody needs a barrier.
            let run = || raw.borrow_mut().stream(LAUNCHES, ordered);
            ways.push(Way::new(plain, run));
        }
        for (column, Times { host, wall }) in take_turns(ways, TURNS) {
            for (row, us) in rows.into_iter().zip([host, wall]) {
                put(column, row, us / LAUNCHES as f64);
            }
        }
    }
    let mut ways = Vec::new();
    for (column, launcher) in &launchers {
        ways.push(Way::new(*column, || launcher.launch(&launcher.empty, 1)));
    }
    if let Some(raw) = &raw {
        for around in [Around::default(), POLLED] {
            ways.push(Way::new(plain, move || raw.borrow_mut().once(around)));
        }
    }
    let mut least_us = vec![f64::INFINITY; plain + 1];
    for (column, times) in take_turns(ways, rounds / 5) {
        // On a processor who polls takes time from the device: the better way counts.
        least_us[column] = times.wall.min(least_us[column]);
        put(column, ROUND_TRIP, least_us[column]);
    }
    Ok(())
}
