//! Host and wall times.

use crate::support::{Result, median};
use std::time::Instant;

/// Of one execution, microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Until everything was handed to the device.
    pub host: f64,
    /// Until it was done.
    pub wall: f64,
}

/// Executions that are not counted.
pub const WARM_UP: usize = 3;

/// How often `commands` of them are executed to be counted.
pub fn rounds(commands: usize) -> usize {
    (20_000 / commands).clamp(10, 200)
}

/// Medians of `count` runs of `work`, which answers when the host was through with its part and then waits for the
/// end.
pub fn time(count: usize, mut work: impl FnMut() -> Result<Instant>) -> Result<Times> {
    let (mut host, mut wall) = (Vec::new(), Vec::new());
    for round in 0..count + WARM_UP {
        let start = Instant::now();
        let handed_over = work()?;
        if round >= WARM_UP {
            host.push((handed_over - start).as_secs_f64() * 1e6);
            wall.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(Times {
        host: median(host),
        wall: median(wall),
    })
}
