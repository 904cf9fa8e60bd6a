//! A matrix of floats with rows and columns exchanged.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_equal};

pub const CASE: Case = Case {
    name: "transpose",
    source: include_str!("transpose.cl"),
    prepare,
};

fn prepare(bench: &Bench) -> Result<Prepared> {
    let (width, height) = (bench.pick(1024, 8192), bench.pick(2048, 8192));
    let input = Random::new(10).words(width * height);
    let target = bench.memory::<u32>(width * height)?;
    let step = bench
        .step("transpose", &[width, height / 4], &[32, 8])?
        .memory(&bench.upload(&input)?)?
        .memory(&target)?
        .value(width as u32)?
        .value(height as u32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::bytes(width * height * 8),
        check: Box::new(move |bench| {
            let wanted: Vec<u32> = (0..width * height)
                .map(|place| input[place % height * width + place / height])
                .collect();
            expect_equal(&bench.read(&target, width * height)?, &wanted)
        }),
    })
}
