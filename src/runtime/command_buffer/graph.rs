//! What comes after what in a command buffer.
//!
//! Every command gets a *level*. Commands of one level run together; between one level and the next lies one
//! barrier. A command's level is one more than the highest among the commands that it must come after, so the
//! number of barriers is the length of the longest chain, and no order needs fewer.
//!
//! A command comes after
//! - the sync points of its wait list,
//! - what a recorded barrier waited for, if it was recorded after that barrier,
//! - in order, the commands of its queue before it that touch the same bytes where one of them writes: the
//!   order of others can't be told.

use crate::runtime::command::hazard::{ALL_BYTES, Id, TrackedAccess};
use crate::runtime::{Error, Result};
use std::collections::HashMap;

/// Names a command, `cl_sync_point_khr`: its number, from 1 on.
pub type SyncPoint = u32;

/// How many barriers lie before a command; 0 is before all.
pub type Level = u32;

/// The levels of the commands recorded so far.
#[derive(Debug)]
pub struct Graph {
    queues: Vec<QueueOrder>,
    /// The level that has been reached when each command is done, in order with those of its queue before it.
    done: Vec<Level>,
    /// Commands from now on come after this level.
    floor: Level,
    highest: Level,
}

/// What the commands of one queue have touched.
#[derive(Debug, Default)]
struct QueueOrder {
    in_order: bool,
    accessed: HashMap<Id, Accessed>,
    /// The highest level of its commands, and of those that may touch any memory.
    highest: Level,
    anything: Level,
}

/// The regions of an allocation that commands touch, each with the highest level at which they do.
#[derive(Debug, Default)]
struct Accessed {
    regions: Vec<(TrackedAccess, Level)>,
}

/// Past so many regions of one allocation they are no longer told apart: the search would cost more than the
/// barriers that it spares.
const MOST_REGIONS: usize = 64;

impl Graph {
    /// For each queue, whether it is in order.
    pub fn new(in_order: impl IntoIterator<Item = bool>) -> Self {
        Self {
            queues: in_order
                .into_iter()
                .map(|in_order| QueueOrder {
                    in_order,
                    ..QueueOrder::default()
                })
                .collect(),
            done: Vec::new(),
            floor: 0,
            highest: 0,
        }
    }

    fn level(&self, point: SyncPoint) -> Option<Level> {
        let index = (point as usize).checked_sub(1)?;
        self.done.get(index).copied()
    }

    fn after(&self, wait_list: &[SyncPoint]) -> Level {
        wait_list
            .iter()
            .filter_map(|&point| self.level(point))
            .max()
            .unwrap_or(0)
    }

    /// Adds a command of queue number `queue`, which makes `accesses`, and memory not named if `anything`. The
    /// wait list has been checked. Answers with its level, from 1 on.
    ///
    /// # Errors
    /// `CL_OUT_OF_RESOURCES` when there are more commands than sync points.
    pub fn add(
        &mut self,
        queue: usize,
        wait_list: &[SyncPoint],
        accesses: &[TrackedAccess],
        anything: bool,
    ) -> Result<(SyncPoint, Level)> {
        let mut after = self.after(wait_list).max(self.floor);
        let mut done = after + 1;
        if let Some(order) = self.queues.get_mut(queue).filter(|order| order.in_order) {
            after = after.max(order.conflicts(accesses, anything));
            order.note(accesses, anything, after + 1);
            // It may run with commands before it, or before them, but whoever waits for it waits for them, too.
            done = order.highest;
        }
        Ok((self.point(done)?, after + 1))
    }

    /// Adds a barrier of queue number `queue`: "waits for either a list of synchronization-points to complete, or if
    /// the list is empty it waits for all commands previously recorded … any following commands recorded after it do
    /// not execute until it completes". In order, it comes after the commands of its queue, too. It costs nothing by
    /// itself.
    ///
    /// # Errors
    /// As [`Graph::add`].
    pub fn add_barrier(&mut self, queue: usize, wait_list: &[SyncPoint]) -> Result<SyncPoint> {
        let order = self.queues.get(queue).filter(|order| order.in_order);
        let done = match wait_list {
            [] => self.highest,
            points => self
                .after(points)
                .max(self.floor)
                .max(order.map_or(0, |order| order.highest)),
        };
        self.floor = self.floor.max(done);
        self.point(done)
    }

    fn point(&mut self, done: Level) -> Result<SyncPoint> {
        let point = SyncPoint::try_from(self.done.len() + 1)
            .map_err(|_| Error::out_of_resources("no sync points are left"))?;
        self.done.push(done);
        self.highest = self.highest.max(done);
        Ok(point)
    }

    /// Barriers between its levels.
    pub fn barriers(&self) -> u32 {
        self.highest.saturating_sub(1)
    }
}

impl QueueOrder {
    /// The highest level of a command that a new one must come after.
    fn conflicts(&self, accesses: &[TrackedAccess], anything: bool) -> Level {
        if anything {
            return self.highest;
        }
        accesses
            .iter()
            .filter_map(|new| Some(self.accessed.get(&new.id)?.conflicts(new)))
            .max()
            .unwrap_or(0)
            .max(self.anything)
    }

    fn note(&mut self, accesses: &[TrackedAccess], anything: bool, level: Level) {
        self.highest = self.highest.max(level);
        if anything {
            self.anything = self.anything.max(level);
        }
        for new in accesses {
            self.accessed.entry(new.id).or_default().note(new, level);
        }
    }
}

impl Accessed {
    fn conflicts(&self, new: &TrackedAccess) -> Level {
        let conflicting =
            |(old, level): &(TrackedAccess, Level)| old.conflicts(new).then_some(*level);
        self.regions
            .iter()
            .filter_map(conflicting)
            .max()
            .unwrap_or(0)
    }

    fn note(&mut self, new: &TrackedAccess, level: Level) {
        let stands = |(old, reached): &(TrackedAccess, Level)| old.covers(new) && *reached >= level;
        if self.regions.iter().any(stands) {
            return;
        }
        self.regions
            .retain(|(old, reached)| !new.covers(old) || *reached > level);
        self.regions.push((new.clone(), level));
        if self.regions.len() > MOST_REGIONS {
            self.join();
        }
    }

    /// One region for all reads, one for all writes.
    fn join(&mut self) {
        let regions = std::mem::take(&mut self.regions);
        for write in [false, true] {
            let of_kind = || regions.iter().filter(|(touch, _)| touch.write == write);
            let Some(level) = of_kind().map(|(_, level)| *level).max() else {
                continue;
            };
            if let Some((first, _)) = of_kind().next() {
                let all = TrackedAccess {
                    bytes: ALL_BYTES,
                    ..first.clone()
                };
                self.regions.push((all, level));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Id = 1;
    const B: Id = 2;
    const C: Id = 3;

    fn whole(accesses: &[(Id, bool)]) -> Vec<TrackedAccess> {
        let touch = |&(id, write): &(Id, bool)| TrackedAccess {
            id,
            bytes: ALL_BYTES,
            write,
        };
        accesses.iter().map(touch).collect()
    }

    fn level(graph: &mut Graph, waits: &[SyncPoint], accesses: &[(Id, bool)]) -> (u32, u32) {
        graph.add(0, waits, &whole(accesses), false).unwrap()
    }

    #[test]
    fn out_of_order_only_sync_points_order() {
        let mut graph = Graph::new([false]);
        let (first, level_1) = level(&mut graph, &[], &[(A, true)]);
        let (second, level_2) = level(&mut graph, &[], &[(A, true)]);
        let (third, level_3) = level(&mut graph, &[first, second], &[(B, true)]);
        let (_, level_4) = level(&mut graph, &[first], &[(C, true)]);
        let (_, level_5) = level(&mut graph, &[third], &[]);
        assert_eq!(
            [level_1, level_2, level_3, level_4, level_5],
            [1, 1, 2, 2, 3]
        );
        assert_eq!(graph.barriers(), 2);
    }

    #[test]
    fn in_order_only_memory_orders() {
        let mut graph = Graph::new([true]);
        let mut add = |accesses: &[(Id, bool)]| level(&mut graph, &[], accesses).1;
        assert_eq!(add(&[(A, true)]), 1);
        assert_eq!(add(&[(B, true)]), 1);
        assert_eq!(add(&[(A, false), (C, true)]), 2);
        assert_eq!(add(&[(A, false)]), 2);
        assert_eq!(add(&[(A, true)]), 3);
        assert_eq!(add(&[(B, false)]), 2);
        let (_, anything) = graph.add(0, &[], &[], true).unwrap();
        assert_eq!(anything, 4);
        assert_eq!(level(&mut graph, &[], &[(9, false)]).1, 5);
        assert_eq!(graph.barriers(), 4);
    }

    #[test]
    fn parts_of_a_buffer_are_independent() {
        let mut graph = Graph::new([true]);
        let mut add = |bytes: std::ops::Range<u64>, write| {
            let touch = TrackedAccess {
                id: A,
                bytes,
                write,
            };
            graph.add(0, &[], &[touch], false).unwrap().1
        };
        assert_eq!([add(0..64, true), add(64..128, true)], [1, 1]);
        assert_eq!(add(32..96, false), 2);
        assert_eq!(add(0..16, true), 2);
        assert_eq!(add(40..48, true), 3);
        assert_eq!(add(ALL_BYTES, true), 4);
        assert_eq!(add(1000..1001, false), 5);
        // More parts than are told apart: still in order, at worst with more barriers.
        for part in 0..1000 {
            assert!(add(part * 8..part * 8 + 8, true) >= 5);
        }
        let last = add(ALL_BYTES, true);
        assert!(add(0..1, false) == last + 1);
    }

    #[test]
    fn barriers_wait_and_hold_back() {
        let mut graph = Graph::new([false]);
        let (first, _) = level(&mut graph, &[], &[]);
        let (second, _) = level(&mut graph, &[first], &[]);
        // Waits for the first only.
        let partial = graph.add_barrier(0, &[first]).unwrap();
        assert_eq!(level(&mut graph, &[], &[]).1, 2);
        assert_eq!(level(&mut graph, &[second], &[]).1, 3);
        let full = graph.add_barrier(0, &[]).unwrap();
        let (_, last) = level(&mut graph, &[full], &[]);
        assert_eq!(last, 4);
        assert_eq!(level(&mut graph, &[partial], &[]).1, 4);
        // A barrier after nothing is none.
        let mut empty = Graph::new([true]);
        empty.add_barrier(0, &[]).unwrap();
        assert_eq!(empty.barriers(), 0);
        assert_eq!(empty.add(0, &[], &[], false).unwrap().1, 1);
    }

    #[test]
    fn queues_are_independent_of_each_other() {
        let mut graph = Graph::new([true, true]);
        assert_eq!(graph.add(0, &[], &whole(&[(A, true)]), false).unwrap().1, 1);
        assert_eq!(graph.add(1, &[], &whole(&[(A, true)]), false).unwrap().1, 1);
        assert_eq!(graph.add(1, &[], &whole(&[(A, true)]), false).unwrap().1, 2);
        assert_eq!(graph.add(0, &[], &whole(&[(A, false)]), true).unwrap().1, 2);
    }

    #[test]
    fn a_sync_point_in_order_stands_for_all_before_it() {
        let mut graph = Graph::new([true, false]);
        let mut add = |queue, waits: &[SyncPoint], accesses: &[(Id, bool)]| {
            graph.add(queue, waits, &whole(accesses), false).unwrap()
        };
        add(0, &[], &[(A, true)]);
        assert_eq!(add(0, &[], &[(A, false), (B, true)]).1, 2);
        // It may run with the first, but is done when its queue is.
        let (point, level) = add(0, &[], &[(C, true)]);
        assert_eq!(level, 1);
        assert_eq!(add(1, &[point], &[(B, false)]).1, 3);
        // So is a barrier, whatever it waits for besides.
        let mut graph = Graph::new([true, false]);
        let mut add = |queue, accesses: &[(Id, bool)]| {
            graph.add(queue, &[], &whole(accesses), false).unwrap()
        };
        add(0, &[(A, true)]);
        add(0, &[(A, true)]);
        let (other, _) = add(1, &[(B, true)]);
        graph.add_barrier(1, &[other]).unwrap();
        assert_eq!(graph.add(1, &[], &[], false).unwrap().1, 2);
        graph.add_barrier(0, &[other]).unwrap();
        assert_eq!(graph.add(1, &[], &[], false).unwrap().1, 3);
    }
}
