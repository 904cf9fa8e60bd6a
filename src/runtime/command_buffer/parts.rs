//! Into which parts a command buffer of several devices falls.
//!
//! A part is what one device does in one go: one recording, one submission. A command that waits for one of another
//! device is in a later *round* than that one, and the parts are the rounds of each device. So a part never
//! waits for a later one, those of one device follow each other, and there are no more rounds than the longest chain
//! of commands changes devices. A command buffer of one device is one part.

use super::graph::SyncPoint;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// Names a part. In their order they can be enqueued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part {
    pub round: u32,
    /// Number of the device.
    pub device: usize,
}

/// The part of each command recorded so far.
#[derive(Debug)]
pub struct Parts {
    devices: usize,
    queues: Vec<Queue>,
    /// What every sync point tells.
    done: Vec<Reached>,
    /// What commands from now on wait for, and what all commands so far have reached.
    floor: Reached,
    highest: Reached,
    /// The parts that there are, each with those of other devices that it waits for.
    waits: BTreeMap<Part, BTreeSet<Part>>,
}

#[derive(Debug)]
struct Queue {
    device: usize,
    in_order: bool,
    /// For its last command, one more than the round.
    reached: u32,
}

/// For each device, up to which round (not included) its parts must be done.
type Reached = SmallVec<[u32; 2]>;

impl Parts {
    /// For each queue the number of its device, counted from 0, and whether it is in order.
    pub fn new(queues: impl IntoIterator<Item = (usize, bool)>) -> Self {
        let queues: Vec<Queue> = queues
            .into_iter()
            .map(|(device, in_order)| Queue {
                device,
                in_order,
                reached: 0,
            })
            .collect();
        let devices = queues.iter().map(|it| it.device + 1).max().unwrap_or(1);
        let nothing = Reached::from_elem(0, devices);
        Self {
            devices,
            queues,
            done: Vec::new(),
            floor: nothing.clone(),
            highest: nothing,
            waits: BTreeMap::new(),
        }
    }

    /// Adds a command of queue number `queue`.
    pub fn add(&mut self, queue: usize, wait_list: &[SyncPoint]) -> Part {
        let mut after = self.after(wait_list);
        join(&mut after, &self.floor);
        let Some(queue) = self.queues.get_mut(queue) else {
            return Part {
                round: 0,
                device: 0,
            };
        };
        let device = queue.device;
        if queue.in_order
            && let Some(own) = after.get_mut(device)
        {
            *own = queue.reached.max(*own);
        }
        let rounds = after.iter().enumerate().map(|(other, reached)| {
            // It may share a part with the commands of its own device.
            reached.saturating_sub(u32::from(other == device))
        });
        let part = Part {
            round: rounds.max().unwrap_or(0),
            device,
        };
        queue.reached = queue.reached.max(part.round + 1);
        let others = after
            .iter()
            .enumerate()
            .filter(|&(other, &reached)| other != device && reached > 0)
            .map(|(other, reached)| Part {
                round: reached - 1,
                device: other,
            });
        self.waits.entry(part).or_default().extend(others);
        let mut done = Reached::from_elem(0, self.devices);
        if let Some(own) = done.get_mut(device) {
            *own = part.round + 1;
        }
        join(&mut self.highest, &done);
        self.done.push(done);
        part
    }

    /// Adds a barrier, as [`super::graph::Graph::add_barrier`].
    pub fn add_barrier(&mut self, queue: usize, wait_list: &[SyncPoint]) {
        let done = match wait_list {
            [] => self.highest.clone(),
            points => {
                let mut done = self.after(points);
                join(&mut done, &self.floor);
                if let Some(queue) = self.queues.get(queue).filter(|queue| queue.in_order)
                    && let Some(own) = done.get_mut(queue.device)
                {
                    *own = queue.reached.max(*own);
                }
                done
            }
        };
        join(&mut self.floor, &done);
        self.done.push(done);
    }

    fn after(&self, wait_list: &[SyncPoint]) -> Reached {
        let mut after = Reached::from_elem(0, self.devices);
        for point in wait_list {
            let done = (*point as usize).checked_sub(1);
            if let Some(done) = done.and_then(|index| self.done.get(index)) {
                join(&mut after, done);
            }
        }
        after
    }

    /// The parts in their order, each with the places of those of other devices that it comes after.
    pub fn finish(self) -> Vec<(Part, Vec<usize>)> {
        let order: Vec<Part> = self.waits.keys().copied().collect();
        let place = |part: &Part| order.binary_search(part).ok();
        self.waits
            .iter()
            .map(|(part, waits)| (*part, waits.iter().filter_map(place).collect()))
            .collect()
    }
}

fn join(reached: &mut Reached, other: &Reached) {
    for (own, other) in reached.iter_mut().zip(other) {
        *own = (*own).max(*other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(device: usize, round: u32) -> Part {
        Part { round, device }
    }

    #[test]
    fn one_device_is_one_part() {
        let mut parts = Parts::new([(0, true), (0, false)]);
        assert_eq!(parts.add(0, &[]), part(0, 0));
        assert_eq!(parts.add(1, &[1]), part(0, 0));
        parts.add_barrier(0, &[]);
        assert_eq!(parts.add(1, &[]), part(0, 0));
        assert_eq!(parts.finish(), [(part(0, 0), vec![])]);
    }

    #[test]
    fn a_round_ends_where_a_device_waits_for_another() {
        let mut parts = Parts::new([(0, false), (1, false)]);
        assert_eq!(parts.add(0, &[]), part(0, 0));
        assert_eq!(parts.add(1, &[]), part(1, 0));
        assert_eq!(parts.add(1, &[1]), part(1, 1));
        assert_eq!(parts.add(0, &[1]), part(0, 0));
        // There and back.
        assert_eq!(parts.add(0, &[3]), part(0, 2));
        // Waits for nothing, and so for no device.
        assert_eq!(parts.add(0, &[]), part(0, 0));
        assert_eq!(
            parts.finish(),
            [
                (part(0, 0), vec![]),
                (part(1, 0), vec![]),
                (part(1, 1), vec![0]),
                (part(0, 2), vec![2]),
            ]
        );
    }

    #[test]
    fn barriers_hold_every_device_back() {
        let mut parts = Parts::new([(0, false), (1, false)]);
        parts.add(0, &[]);
        parts.add_barrier(0, &[]);
        assert_eq!(parts.add(1, &[]), part(1, 1));
        assert_eq!(parts.add(0, &[]), part(0, 0));
        assert_eq!(parts.add(0, &[3]), part(0, 2));
    }

    #[test]
    fn an_in_order_queue_never_goes_back_to_an_earlier_part() {
        let mut parts = Parts::new([(0, true), (1, true)]);
        parts.add(1, &[]);
        assert_eq!(parts.add(0, &[1]), part(0, 1));
        assert_eq!(parts.add(0, &[]), part(0, 1));
        // A barrier comes after both, though it waits for another.
        parts.add_barrier(0, &[1]);
        assert_eq!(parts.add(1, &[]), part(1, 2));
    }
}
