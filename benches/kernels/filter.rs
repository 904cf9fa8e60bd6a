//! A row of floats weighted with taps, the number of which only the launch knows (a FIR filter).

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "filter",
    source: include_str!("filter.cl"),
    prepare,
};

const TAPS: usize = 31;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(1 << 18, 32 << 20);
    let row = Random::new(16).floats(count + TAPS, -1.0, 1.0);
    let weights = Random::new(17).floats(TAPS, -1.0, 1.0);
    let target = bench.memory::<f32>(count)?;
    let step = bench
        .step("filter", &[count], &[256])?
        .memory(&bench.upload(&row)?)?
        .memory(&target)?
        .memory(&bench.upload(&weights)?)?
        .value(TAPS as i32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::operations((2 * TAPS * count) as f64),
        check: Box::new(move |bench| {
            let got = bench.read(&target, count)?;
            for (place, got) in got.into_iter().enumerate() {
                let products = row[place..].iter().zip(&weights);
                let products = products.map(|(a, b)| f64::from(*a) * f64::from(*b));
                expect_close(place, got, products.sum(), 1e-5)?;
            }
            Ok(())
        }),
    })
}
