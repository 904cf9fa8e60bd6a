//! How often each of the 256 bytes occurs.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_equal};

pub const CASE: Case = Case {
    name: "histogram",
    source: include_str!("histogram.cl"),
    prepare,
};

const GROUP: usize = 256;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let words = bench.pick(1 << 20, 32 << 20);
    let groups = bench.pick(32, 2048);
    let input = Random::new(4).words(words);
    let mut wanted = vec![0; 256];
    for byte in input.iter().flat_map(|word| word.to_le_bytes()) {
        wanted[usize::from(byte)] += 1;
    }
    let source = bench.upload(&input)?;
    let bins = bench.memory::<u32>(256)?;
    let count = bench
        .step("count", &[groups * GROUP], &[GROUP])?
        .memory(&source)?
        .value(words as u32 / 4)?
        .memory(&bins)?;
    Ok(Prepared {
        steps: vec![count],
        restore: Some(bench.step("clear", &[GROUP], &[GROUP])?.memory(&bins)?),
        work: Work::bytes(words * 4),
        check: Box::new(move |bench| expect_equal(&bench.read(&bins, 256)?, &wanted)),
    })
}
