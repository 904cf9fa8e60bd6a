//! SHA-256 of many messages of 256 bytes.

use crate::random::Random;
use crate::workload::{Bench, Case, Prepared, Result, Work};
use sha2::{Digest, Sha256};

pub const CASE: Case = Case {
    name: "SHA-256",
    source: include_str!("sha256.cl"),
    prepare,
};

const MESSAGE_WORDS: usize = 64;
/// How many messages the host hashes, too.
const CHECKED: usize = 1000;

fn prepare(bench: &Bench) -> Result<Prepared> {
    let count = bench.pick(32 << 10, 1 << 20);
    let input = Random::new(11).words(count * MESSAGE_WORDS);
    let hashes = bench.memory::<u32>(count * 8)?;
    let step = bench
        .step("hash", &[count], &[256])?
        .memory(&bench.upload(&input)?)?
        .memory(&hashes)?
        .value(count as u32)?;
    Ok(Prepared {
        steps: vec![step],
        restore: None,
        work: Work::bytes(count * MESSAGE_WORDS * 4),
        check: Box::new(move |bench| {
            let got = bench.read(&hashes, count * 8)?;
            for item in (0..count).step_by(count / CHECKED) {
                let message =
                    (0..MESSAGE_WORDS).flat_map(|j| input[j * count + item].to_be_bytes());
                let wanted = Sha256::digest(message.collect::<Vec<_>>());
                let hash: Vec<u8> = (0..8)
                    .flat_map(|j| got[j * count + item].to_be_bytes())
                    .collect();
                if hash[..] != wanted[..] {
                    return Err(format!("the hash of message {item} is wrong").into());
                }
            }
            Ok(())
        }),
    })
}
