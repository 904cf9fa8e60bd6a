//! Where each command of a command buffer goes: into which part, and after how many barriers there.

use super::graph::{Graph, Level, SyncPoint};
use super::parts::Parts;
use crate::runtime::Result;
use crate::runtime::command::hazard::TrackedAccess;

/// What was recorded, in order. Every one is a sync point.
pub enum Step<'a> {
    Command {
        /// Number of its line.
        line: usize,
        wait_list: &'a [SyncPoint],
        /// What it accesses, and whether it may touch memory that it does not name.
        accesses: &'a [TrackedAccess],
        anything: bool,
    },
    Barrier {
        line: usize,
        wait_list: &'a [SyncPoint],
    },
}

/// What one queue orders: the commands that were recorded to it. Those of a copy for other queues stay in the lines
/// of the original's, and those recorded to the copy are in lines of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Number of the queue that the commands go to.
    pub queue: usize,
    pub in_order: bool,
}

/// The plan of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// The place of each command.
    pub places: Vec<Place>,
    /// In an order in which they can be enqueued; at least one.
    pub parts: Vec<PartPlan>,
    /// Barriers between the levels.
    pub barriers: u32,
}

/// The place of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Number of its part.
    pub part: usize,
    pub level: Level,
}

/// What one device does in one go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartPlan {
    /// Number of the queue that it runs on: the device's first.
    pub queue: usize,
    /// The parts of other devices that it comes after. It also comes after the device's own part before it.
    pub after: Vec<usize>,
}

impl Schedule {
    /// `devices` are the numbers of the queues' devices.
    ///
    /// # Errors
    /// `CL_OUT_OF_RESOURCES` when there are more commands than sync points.
    pub fn new<'a>(
        devices: &[usize],
        lines: &[Line],
        steps: impl IntoIterator<Item = Step<'a>>,
    ) -> Result<Self> {
        let mut graph = Graph::new(lines.iter().map(|line| line.in_order));
        let device = |line: &Line| devices.get(line.queue).copied().unwrap_or(0);
        let mut parts = Parts::new(lines.iter().map(|line| (device(line), line.in_order)));
        let mut placed = Vec::new();
        for step in steps {
            match step {
                Step::Command {
                    line,
                    wait_list,
                    accesses,
                    anything,
                } => {
                    let (_, level) = graph.add(line, wait_list, accesses, anything)?;
                    placed.push((parts.add(line, wait_list), level));
                }
                Step::Barrier { line, wait_list } => {
                    graph.add_barrier(line, wait_list)?;
                    parts.add_barrier(line, wait_list);
                }
            }
        }
        let list = parts.finish();
        let place = |(part, level)| Place {
            part: list
                .binary_search_by_key(&part, |(part, _)| *part)
                .unwrap_or(0),
            level,
        };
        let places = placed.into_iter().map(place).collect();
        let first_queue = |device| devices.iter().position(|own| *own == device);
        let mut plans: Vec<PartPlan> = list
            .iter()
            .map(|(part, after)| PartPlan {
                queue: first_queue(part.device).unwrap_or(0),
                after: after.clone(),
            })
            .collect();
        if plans.is_empty() {
            // Even a command buffer of nothing is a place in the order.
            plans.push(PartPlan {
                queue: 0,
                after: Vec::new(),
            });
        }
        Ok(Self {
            places,
            parts: plans,
            barriers: graph.barriers(),
        })
    }
}
