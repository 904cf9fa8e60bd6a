//! The Mandelbrot set: loops of different length side by side.

use crate::workload::{Bench, Case, Prepared, Result, Work};

pub const CASE: Case = Case {
    name: "Mandelbrot",
    source: include_str!("mandelbrot.cl"),
    prepare,
};

const LEFT: f32 = -2.0;
const TOP: f32 = -1.25;
const EXTENT: f32 = 2.5;
/// One in so many points is computed by the host, too.
const CHECKED_STEP: usize = 37;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let width = bench.pick(512, 4096);
    let limit = bench.pick(256, 1024) as u32;
    let step = EXTENT / width as f32;
    let rounds = bench.memory::<u32>(width * width)?;
    let iterate = bench
        .step("iterate", &[width, width], &[16, 16])?
        .memory(&rounds)?
        .value(width as u32)?
        .value(LEFT)?
        .value(TOP)?
        .value(step)?
        .value(limit)?;
    Ok(Prepared {
        steps: vec![iterate],
        restore: None,
        work: Work::items(width * width),
        check: Box::new(move |bench| {
            let got = bench.read(&rounds, width * width)?;
            let (mut checked, mut different) = (0, 0);
            for place in (0..width * width).step_by(CHECKED_STEP) {
                checked += 1;
                let (column, row) = ((place % width) as f32, (place / width) as f32);
                let wanted = iterations(LEFT + step * column, TOP + step * row, limit);
                different += u32::from(got[place] != wanted);
            }
            // The device may contract what the host doesn't, which decides near the edge of the set.
            if different * 50 > checked {
                return Err(format!("{different} of {checked} points differ").into());
            }
            Ok(())
        }),
    })
}

fn iterations(cx: f32, cy: f32, limit: u32) -> u32 {
    let (mut x, mut y) = (0.0f32, 0.0f32);
    let mut round = 0;
    while round < limit && x * x + y * y <= 4.0 {
        (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
        round += 1;
    }
    round
}
