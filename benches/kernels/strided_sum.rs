//! Squares of floats added up in the strides of the grid, a sum for each work-item.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "strided sum",
    source: include_str!("strided_sum.cl"),
    prepare,
};

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(4 << 20, 64 << 20);
    let items = bench.pick(1 << 14, 1 << 17);
    let input = Random::new(18).floats(count, 0.0, 1.0);
    let sums = bench.memory::<f32>(items)?;
    let step = bench
        .step("add", &[items], &[256])?
        .memory(&bench.upload(&input)?)?
        .memory(&sums)?
        .value(count as i32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::bytes(count * 4),
        check: Box::new(move |bench| {
            let got = bench.read(&sums, items)?;
            for (item, got) in got.into_iter().enumerate() {
                let squares = input[item..].iter().step_by(items);
                let squares = squares.map(|value| f64::from(*value).powi(2));
                expect_close(item, got, squares.sum(), 1e-4)?;
            }
            Ok(())
        }),
    })
}
