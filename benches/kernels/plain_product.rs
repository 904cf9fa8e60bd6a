//! The product of two square matrices of floats, without tiles.

use crate::matrix_product::check;
use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work};

pub const CASE: Case = Case {
    name: "plain product",
    source: include_str!("plain_product.cl"),
    prepare,
};

fn prepare(bench: &Bench) -> Result<Prepared> {
    let n = bench.pick(256, 2048);
    let mut random = Random::new(15);
    let left = random.floats(n * n, -1.0, 1.0);
    let right = random.floats(n * n, -1.0, 1.0);
    let c = bench.memory::<f32>(n * n)?;
    let step = bench
        .step("multiply", &[n, n], &[16, 16])?
        .memory(&bench.upload(&left)?)?
        .memory(&bench.upload(&right)?)?
        .memory(&c)?
        .value(n as i32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::operations(2.0 * (n as f64).powi(3)),
        check: Box::new(move |bench| check(&bench.read(&c, n * n)?, &left, &right, n)),
    })
}
