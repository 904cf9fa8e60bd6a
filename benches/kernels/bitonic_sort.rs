//! Keys sorted by Batcher's bitonic network: in local memory as far as a block reaches, else one launch a step.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_equal};

pub const CASE: Case = Case {
    name: "bitonic sort",
    source: include_str!("bitonic_sort.cl"),
    prepare,
};

const GROUP: usize = 256;
const BLOCK: usize = 2 * GROUP;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(128 << 10, 4 << 20);
    let input = Random::new(12).words(count);
    let mut wanted = input.clone();
    wanted.sort_unstable();
    let source = bench.upload(&input)?;
    let keys = bench.memory::<u32>(count)?;
    let step = |name| bench.step(name, &[count / 2], &[GROUP]);
    let mut steps = vec![step("sort_blocks")?.memory(&keys)?];
    let mut size = 2 * BLOCK;
    while size <= count {
        let mut distance = size / 2;
        while distance >= BLOCK {
            let merge = step("merge_step")?.memory(&keys)?;
            steps.push(merge.value(size as u32)?.value(distance as u32)?);
            distance /= 2;
        }
        let merge = step("merge_blocks")?.memory(&keys)?;
        steps.push(merge.value(size as u32)?);
        size *= 2;
    }
    let restore = bench
        .step("restore", &[count], &[GROUP])?
        .memory(&source)?
        .memory(&keys)?;
    Ok(Prepared {
        steps,
        restore: Some(restore),
        work: Work::items(count),
        check: Box::new(move |bench| expect_equal(&bench.read(&keys, count)?, &wanted)),
    })
}
