//! 16 bytes an item, from one buffer to another.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_equal};

pub const CASE: Case = Case {
    name: "copy",
    source: include_str!("copy.cl"),
    prepare,
};

fn prepare(bench: &Bench) -> Result<Prepared> {
    let words = bench.pick(4 << 20, 64 << 20);
    let input = Random::new(1).words(words);
    let source = bench.upload(&input)?;
    let target = bench.memory(words)?;
    let step = bench.step("copy", &[words / 4], &[256])?;
    Ok(Prepared {
        steps: vec![step.memory(&source)?.memory(&target)?],
        restore: None,
        work: Work::bytes(words * 8),
        check: Box::new(move |bench| expect_equal(&bench.read(&target, words)?, &input)),
    })
}
