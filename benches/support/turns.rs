//! Several ways to do the same work, measured in turns: a noisy while of the machine is everybody's.

use super::{Result, median};
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Medians of one way, microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Until everything was handed to the device.
    pub host: f64,
    /// Until it was done.
    pub wall: f64,
}

/// Executions of a turn that are not counted: what came before is another way's.
const WARM_UP: usize = 2;
/// Executions of a turn that are.
const COUNTED: usize = 5;

/// Answers when the host was through with its part.
type Run<'a> = Box<dyn FnMut() -> Result<Instant> + 'a>;

/// One way to do the work, and what it is called.
pub struct Way<'a, N> {
    name: N,
    run: Run<'a>,
    host: Vec<f64>,
    wall: Vec<f64>,
}

impl<'a, N> Way<'a, N> {
    /// `run` does it once, and waits for the end; it answers when the host was through with its part.
    pub fn new(name: N, run: impl FnMut() -> Result<Instant> + 'a) -> Self {
        Self {
            name,
            run: Box::new(run),
            host: Vec::new(),
            wall: Vec::new(),
        }
    }

    fn take_turn(&mut self) -> Result<()> {
        for execution in 0..WARM_UP + COUNTED {
            let start = Instant::now();
            let handed_over = (self.run)()?;
            if execution >= WARM_UP {
                let us = |time: Duration| time.as_secs_f64() * 1e6;
                self.wall.push(us(start.elapsed()));
                self.host.push(us(handed_over - start));
            }
        }
        Ok(())
    }
}

/// Has the ways take so many turns; their names and times. One that fails is left out.
pub fn take_turns<N: Display>(mut ways: Vec<Way<'_, N>>, turns: usize) -> Vec<(N, Times)> {
    for _ in 0..turns {
        ways.retain_mut(|way| match way.take_turn() {
            Ok(()) => true,
            Err(error) => {
                eprintln!("{}: {error}", way.name);
                false
            }
        });
    }
    let times = |way: Way<'_, N>| {
        let times = Times {
            host: median(way.host),
            wall: median(way.wall),
        };
        (way.name, times)
    };
    ways.into_iter().map(times).collect()
}
