//! A field of floats weighted with a square of taps, the number of which only the launch knows.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "convolution",
    source: include_str!("convolution.cl"),
    prepare,
};

/// Taps of a row and of a column.
const TAPS: usize = 9;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let (width, height) = (bench.pick(512, 4096), bench.pick(512, 4096));
    let field = Random::new(13).floats(width * height, -1.0, 1.0);
    let weights = Random::new(14).floats(TAPS * TAPS, -1.0, 1.0);
    let target = bench.memory::<f32>(width * height)?;
    let step = bench
        .step("convolve", &[width, height], &[32, 8])?
        .memory(&bench.upload(&field)?)?
        .memory(&target)?
        .memory(&bench.upload(&weights)?)?
        .value(TAPS as i32)?
        .value(width as i32)?
        .value(height as i32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::operations((2 * TAPS * TAPS * width * height) as f64),
        check: Box::new(move |bench| {
            let got = bench.read(&target, width * height)?;
            let clamped = |at: usize, tap: usize, size: usize| {
                (at + tap).saturating_sub(TAPS / 2).min(size - 1)
            };
            for (place, got) in got.into_iter().enumerate() {
                let (x, y) = (place % width, place / width);
                let taps = weights.iter().enumerate();
                let products = taps.map(|(tap, weight)| {
                    let row = clamped(y, tap / TAPS, height);
                    let column = clamped(x, tap % TAPS, width);
                    f64::from(field[row * width + column]) * f64::from(*weight)
                });
                expect_close(place, got, products.sum(), 1e-5)?;
            }
            Ok(())
        }),
    })
}
