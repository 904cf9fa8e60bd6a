//! Damaged SPIR-V: whatever an application hands over, the compiler answers in bounded time with code or with
//! an error, and never panics.
//!
//! ```text
//! cargo test --test mutations                  a few hundred modules, always the same
//! PUMICE_MUTATIONS=100000 cargo test …         more
//! ```

use pumice::compiler::{Capabilities, Library, Options, compile};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const SOURCES: [&str; 4] = [
    "everything.cl",
    "structures.cl",
    "collectives.cl",
    "vectors.cl",
];

/// Damaged modules that are tried without `PUMICE_MUTATIONS`.
const FEW: usize = 200;

/// One module takes a fraction of this, undamaged and unoptimized.
const MOST_TIME: Duration = Duration::from_secs(60);

/// The compiler recurses over deep programs: the driver gives it this much, too.
const STACK_BYTES: usize = 256 << 20;

fn module(source: &str) -> Vec<u32> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiler");
    let output = Command::new("clang-22")
        .args(["-target", "spirv64", "-cl-std=CL3.0", "-O2", "-w", "-Xclang", "-cl-ext=+all"])
        .args([
            "-mllvm",
            "-spirv-ext=+SPV_EXT_relaxed_printf_string_address_space,+SPV_KHR_uniform_group_instructions,\
             +SPV_KHR_subgroup_rotate",
        ])
        .args(["-x", "cl", "-o", "-", "-c"])
        .arg(folder.join(source))
        .output()
        .expect("the tests need clang 22 (apt install clang-22)");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{source}: {message}");
    let words = output.stdout.chunks_exact(4);
    words
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect()
}

/// xorshift64
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }
}

/// Names (5 and 6 are `OpName` and `OpMemberName`) mean next to nothing: to damage them is a waste.
fn is_name(instruction: &[u32]) -> bool {
    instruction
        .first()
        .is_some_and(|word| matches!(word & 0xffff, 5 | 6))
}

/// The words of each instruction, the header first.
fn instructions(words: &[u32]) -> Vec<Vec<u32>> {
    let (header, mut rest) = words.split_at(5);
    let mut all = vec![header.to_vec()];
    while let Some(first) = rest.first() {
        let (one, after) = rest.split_at((first >> 16) as usize);
        if !is_name(one) {
            all.push(one.to_vec());
        }
        rest = after;
    }
    all
}

/// Changes whole instructions, which gets further than changes of words do, and words.
fn damage(instructions: &[Vec<u32>], random: &mut Random) -> Vec<u32> {
    let mut all = instructions.to_vec();
    for _ in 0..1 + random.below(5) / 3 {
        let at = 1 + random.below(all.len() - 1);
        let other = 1 + random.below(all.len() - 1);
        match random.below(8) {
            0 => drop(all.remove(at)),
            1 => all.swap(at, other),
            2 => all.insert(at, all[other].clone()),
            3 => {
                // The operands of another instruction.
                let from = all[other].clone();
                for (to, from) in all[at].iter_mut().zip(from).skip(2) {
                    *to = from;
                }
            }
            4 => {
                // The same with another opcode.
                let opcode = all[other][0] & 0xffff;
                all[at][0] = all[at][0] & 0xffff_0000 | opcode;
            }
            _ => {
                let word = 1 + random.below(all[at].len() - 1);
                let Some(place) = all[at].get_mut(word) else {
                    continue;
                };
                *place = match random.below(6) {
                    0 => *place ^ 1 << random.below(32),
                    1 => place.wrapping_add(1),
                    2 => place.wrapping_sub(1),
                    3 => random.below(700) as u32,
                    4 => random.below(9) as u32,
                    _ => u32::MAX >> random.below(32),
                };
            }
        }
        if all.len() < 2 {
            break;
        }
    }
    all.concat()
}

/// A device that can do everything, and one that can do nothing.
fn devices() -> [Capabilities; 2] {
    let mut least = Capabilities::full();
    least.int8 = false;
    least.int16 = false;
    least.int64 = false;
    least.float16 = false;
    least.storage8 = false;
    least.storage16 = false;
    least.integer_dot_product = false;
    [Capabilities::full(), least]
}

fn run(rounds: usize) {
    let library = Library::embedded().expect("the library is embedded");
    let options = Options::default();
    let devices = devices();
    let modules = SOURCES.map(|source| (source, instructions(&module(source))));
    let mut accepted = 0;
    for round in 0..rounds {
        let (source, instructions) = &modules[round % modules.len()];
        let capabilities = &devices[round / modules.len() % devices.len()];
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (round as u64 + 1) << 20);
        let words = match round {
            // First of all what is whole.
            0..8 => instructions.concat(),
            _ => damage(instructions, &mut random),
        };
        let start = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| {
            compile(&[&words], &library, capabilities, &options)
        }));
        let time = start.elapsed();
        let keep = || {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mutation.spv");
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            std::fs::write(&path, bytes).expect("the build's folder is writable");
            format!("round {round}, of {source}: see {}", path.display())
        };
        match result {
            Ok(Ok(_)) => accepted += 1,
            Ok(Err(error)) => {
                assert!(round >= 8, "{source} is valid: {error}");
                let text = error.to_string();
                assert!(!text.contains("internal"), "{text}: {}", keep());
            }
            Err(_) => panic!("a panic: {}", keep()),
        }
        assert!(time < MOST_TIME, "{time:?}: {}", keep());
    }
    println!("{accepted} of {rounds} accepted");
}

#[test]
fn damaged_modules_give_code_or_an_error() {
    let rounds = std::env::var("PUMICE_MUTATIONS")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(FEW);
    let thread = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || run(rounds))
        .expect("a thread");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}
