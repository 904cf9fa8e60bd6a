//! Prices of European options by the formula of Black and Scholes: logarithms, exponentials, square roots, divisions.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work, expect_close};

pub const CASE: Case = Case {
    name: "Black-Scholes",
    source: include_str!("black_scholes.cl"),
    prepare,
};

const RATE: f32 = 0.02;
const VOLATILITY: f32 = 0.3;
/// How many options the host computes, too.
const CHECKED: usize = 100_000;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(512 << 10, 16 << 20);
    let mut random = Random::new(8);
    let prices = random.floats(count, 5.0, 30.0);
    let strikes = random.floats(count, 1.0, 100.0);
    let years = random.floats(count, 0.25, 10.0);
    let calls = bench.memory::<f32>(count)?;
    let puts = bench.memory::<f32>(count)?;
    let step = bench
        .step("price", &[count], &[256])?
        .memory(&bench.upload(&prices)?)?
        .memory(&bench.upload(&strikes)?)?
        .memory(&bench.upload(&years)?)?
        .value(RATE)?
        .value(VOLATILITY)?
        .memory(&calls)?
        .memory(&puts)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::items(count),
        check: Box::new(move |bench| {
            let got_calls = bench.read(&calls, count)?;
            let got_puts = bench.read(&puts, count)?;
            for i in (0..count).step_by(count / CHECKED) {
                let (call, put) = price(prices[i].into(), strikes[i].into(), years[i].into());
                expect_close(i, got_calls[i], call, 1e-4)?;
                expect_close(i, got_puts[i], put, 1e-4)?;
            }
            Ok(())
        }),
    })
}

fn distribution(d: f64) -> f64 {
    let k = 1.0 / (1.0 + 0.2316419 * d.abs());
    let coefficients = [
        1.330274429,
        -1.821255978,
        1.781477937,
        -0.356563782,
        0.31938153,
        0.0,
    ];
    let polynomial = coefficients.iter().fold(0.0, |sum, c| sum * k + c);
    let tail = (-0.5 * d * d).exp() * polynomial / (2.0 * std::f64::consts::PI).sqrt();
    if d > 0.0 { 1.0 - tail } else { tail }
}

fn price(price: f64, strike: f64, time: f64) -> (f64, f64) {
    let (rate, volatility) = (f64::from(RATE), f64::from(VOLATILITY));
    let deviation = volatility * time.sqrt();
    let d1 = ((price / strike).ln() + (rate + 0.5 * volatility * volatility) * time) / deviation;
    let (first, second) = (distribution(d1), distribution(d1 - deviation));
    let discounted = strike * (-rate * time).exp();
    (
        price * first - discounted * second,
        discounted * (1.0 - second) - price * (1.0 - first),
    )
}
