//! The gravity of all bodies on all.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "n-body",
    source: include_str!("n_body.cl"),
    prepare,
};

const SOFTENING: f64 = 0.01;
/// How many bodies the host computes, too.
const CHECKED: usize = 50;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(4096, 128 << 10);
    let bodies = Random::new(7).floats(count * 4, 0.0, 1.0);
    let places = bench.upload(&bodies)?;
    let accelerations = bench.memory::<f32>(count * 4)?;
    let step = bench
        .step("accelerate", &[count], &[256])?
        .memory(&places)?
        .value(count as u32)?
        .memory(&accelerations)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        // The customary number of operations for a pair.
        work: Work::operations(20.0 * (count as f64).powi(2)),
        check: Box::new(move |bench| {
            let got = bench.read(&accelerations, count * 4)?;
            for body in (0..count).step_by(count / CHECKED) {
                for (axis, wanted) in acceleration(&bodies, body).into_iter().enumerate() {
                    let place = body * 4 + axis;
                    // What is summed is of both signs: the error is relative to the count, not to the sum.
                    expect_close(place, got[place], wanted, 1e-4 * (count as f64).sqrt())?;
                }
            }
            Ok(())
        }),
    })
}

fn acceleration(bodies: &[f32], body: usize) -> [f64; 3] {
    let value = |body: usize, axis: usize| f64::from(bodies[body * 4 + axis]);
    let mut sum = [0.0; 3];
    for other in 0..bodies.len() / 4 {
        let way = [0, 1, 2].map(|axis| value(other, axis) - value(body, axis));
        let square = way.iter().map(|w| w * w).sum::<f64>() + SOFTENING;
        for axis in 0..3 {
            sum[axis] += way[axis] * value(other, 3) / (square * square.sqrt());
        }
    }
    sum
}
