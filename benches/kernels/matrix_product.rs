//! The product of two square matrices of floats, in tiles that local memory and registers hold.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "matrix product",
    source: include_str!("matrix_product.cl"),
    prepare,
};

/// How many elements of the product the host computes, too.
const CHECKED: usize = 1000;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let n = bench.pick(512, 4096);
    let mut random = Random::new(5);
    let left = random.floats(n * n, -1.0, 1.0);
    let right = random.floats(n * n, -1.0, 1.0);
    let a = bench.upload(&left)?;
    let b = bench.upload(&right)?;
    let c = bench.memory::<f32>(n * n)?;
    let step = bench
        .step("multiply", &[n / 4, n / 4], &[16, 16])?
        .memory(&a)?
        .memory(&b)?
        .memory(&c)?
        .value(n as u32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::operations(2.0 * (n as f64).powi(3)),
        check: Box::new(move |bench| check(&bench.read(&c, n * n)?, &left, &right, n)),
    })
}

/// Compares some elements of the product of two matrices of `n` rows and columns with what they are.
pub fn check(product: &[f32], left: &[f32], right: &[f32], n: usize) -> Result<()> {
    let mut random = Random::new(6);
    for _ in 0..CHECKED {
        let place = random.bits() as usize % (n * n);
        let (row, column) = (place / n, place % n);
        let wanted = (0..n)
            .map(|k| f64::from(left[row * n + k]) * f64::from(right[k * n + column]))
            .sum();
        expect_close(place, product[place], wanted, 1e-3)?;
    }
    Ok(())
}
