//! The sum of floats: groups stride over the input, then one group sums their sums.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "reduction",
    source: include_str!("reduction.cl"),
    prepare,
};

const GROUP: usize = 256;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(4 << 20, 64 << 20);
    let groups = bench.pick(64, 2048);
    let input = Random::new(2).floats(count, 0.0, 1.0);
    let wanted: f64 = input.iter().map(|v| f64::from(*v)).sum();
    let source = bench.upload(&input)?;
    let sums = bench.memory::<f32>(groups)?;
    let total = bench.memory::<f32>(1)?;
    let first = bench
        .step("sum", &[groups * GROUP], &[GROUP])?
        .memory(&source)?
        .value(count as u32 / 4)?
        .memory(&sums)?;
    let second = bench
        .step("sum", &[GROUP], &[GROUP])?
        .memory(&sums)?
        .value(groups as u32 / 4)?
        .memory(&total)?;
    Ok(Prepared {
        steps: vec![first, second],
        restore: None,
        work: Work::bytes(count * 4),
        check: Box::new(move |bench| {
            let got = bench.read(&total, 1)?;
            expect_close(0, got[0], wanted, 1e-5)
        }),
    })
}
