//! Exclusive prefix sums: sums of blocks, their scan, scans of the blocks.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_equal};

pub const CASE: Case = Case {
    name: "scan",
    source: include_str!("scan.cl"),
    prepare,
};

const GROUP: usize = 256;
/// Elements that a group scans.
const BLOCK: usize = GROUP * 4 * 4;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(1 << 20, 32 << 20);
    let groups = count / BLOCK;
    let input = Random::new(3).words(count);
    let wanted: Vec<u32> = input
        .iter()
        .scan(0u32, |sum, value| {
            let before = *sum;
            *sum = sum.wrapping_add(*value);
            Some(before)
        })
        .collect();
    let source = bench.upload(&input)?;
    let sums = bench.memory::<u32>(groups)?;
    let target = bench.memory::<u32>(count)?;
    let steps = vec![
        bench
            .step("sum_blocks", &[groups * GROUP], &[GROUP])?
            .memory(&source)?
            .memory(&sums)?,
        bench
            .step("scan_sums", &[GROUP], &[GROUP])?
            .memory(&sums)?
            .value(groups as u32)?,
        bench
            .step("scan_blocks", &[groups * GROUP], &[GROUP])?
            .memory(&source)?
            .memory(&sums)?
            .memory(&target)?,
    ];
    Ok(Prepared {
        steps,
        restore: None,
        work: Work::bytes(count * 12),
        check: Box::new(move |bench| expect_equal(&bench.read(&target, count)?, &wanted)),
    })
}
