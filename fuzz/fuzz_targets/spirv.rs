//! Any bytes as a SPIR-V module: the compiler answers with code or with an error, in bounded time and memory,
//! and never panics.
//!
//! ```text
//! fuzz/seeds                                   valid modules to start from, into fuzz/corpus/spirv
//! cargo +nightly fuzz run spirv -- -max_len=65536 -timeout=60 -rss_limit_mb=2048
//! fuzz/run -max_total_time=1200                the same without nightly and cargo-fuzz
//! ```
//!
//! Inputs are changed as `tests/mutations.rs` does it, by whole instructions, and by libFuzzer's own means. Which
//! of the devices a module is compiled for its own words decide, so that a `.spv` file is an input as it is.
#![no_main]

#[path = "../../tests/mutator/mod.rs"]
mod mutator;

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};
use mutator::{Random, damage, devices, instructions};
use pumice::compiler::{Capabilities, ErrorKind, Library, Options, compile};
use std::sync::OnceLock;

/// The compiler recurses over deep programs: the driver gives it this much, too.
const STACK_BYTES: usize = 256 << 20;

fn words(bytes: &[u8]) -> Vec<u32> {
    let whole = bytes.chunks_exact(4);
    whole
        .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
        .collect()
}

fuzz_target!(|bytes: &[u8]| {
    static SHARED: OnceLock<(Library, [Capabilities; 3])> = OnceLock::new();
    let (library, devices) = SHARED.get_or_init(|| {
        let library = Library::embedded().expect("the library is embedded");
        (library, devices())
    });
    let words = words(bytes);
    let sum = words.iter().fold(0u32, |sum, &word| sum.wrapping_add(word));
    let device = &devices[sum as usize % devices.len()];
    std::thread::scope(|scope| {
        let work = || compile(&[&words], library, device, &Options::default());
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, work).expect("a thread starts");
        if let Ok(Err(error)) = thread.join() {
            assert_ne!(error.kind, ErrorKind::Internal, "{error}");
        }
    });
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed.is_multiple_of(4) || size < 24 {
        return fuzzer_mutate(data, size, max_size);
    }
    let all = instructions(&words(&data[..size]));
    let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ u64::from(seed) << 20);
    let damaged = damage(&all, &mut random);
    let bytes: Vec<u8> = damaged.iter().flat_map(|word| word.to_le_bytes()).collect();
    let size = bytes.len().min(max_size) / 4 * 4;
    data[..size].copy_from_slice(&bytes[..size]);
    size
});
