//! A star of radius two over a field of floats.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "stencil",
    source: include_str!("stencil.cl"),
    prepare,
};

fn prepare(bench: &Bench) -> Result<Prepared> {
    let (width, height) = (bench.pick(1024, 8192), bench.pick(1024, 8192));
    let field = Random::new(9).floats(width * height, -1.0, 1.0);
    let target = bench.memory::<f32>(width * height)?;
    let step = bench
        .step("smooth", &[width, height], &[32, 8])?
        .memory(&bench.upload(&field)?)?
        .memory(&target)?
        .value(width as u32)?
        .value(height as u32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::bytes(width * height * 8),
        check: Box::new(move |bench| {
            let got = bench.read(&target, width * height)?;
            let at = |x: i64, y: i64| {
                let x = x.clamp(0, width as i64 - 1) as usize;
                let y = y.clamp(0, height as i64 - 1) as usize;
                f64::from(field[y * width + x])
            };
            let ring =
                |x: i64, y: i64, r: i64| at(x - r, y) + at(x + r, y) + at(x, y - r) + at(x, y + r);
            for (place, got) in got.into_iter().enumerate() {
                let (x, y) = ((place % width) as i64, (place / width) as i64);
                let wanted = 0.5 * at(x, y) + 0.1 * ring(x, y, 1) + 0.025 * ring(x, y, 2);
                expect_close(place, got, wanted, 1e-5)?;
            }
            Ok(())
        }),
    })
}
