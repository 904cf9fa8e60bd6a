//! Damaged SPIR-V: whatever an application hands over, the compiler answers in bounded time with code or with
//! an error, and never panics.
//!
//! ```text
//! cargo test --test mutations                  a few hundred modules, always the same
//! PUMICE_MUTATIONS=100000 cargo test …         more
//! ```

mod mutator;

use mutator::{Random, damage, devices, instructions};
use pumice::compiler::{ErrorKind, Library, Options, compile};
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

/// Rounds at first with modules that are whole: each source for each device.
const WHOLE: usize = SOURCES.len() * 3;

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
            0..WHOLE => instructions.concat(),
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
                assert!(round >= WHOLE, "{source} is valid: {error}");
                assert_ne!(error.kind, ErrorKind::Internal, "{error}: {}", keep());
            }
            Err(_) => panic!("a panic: {}", keep()),
        }
        assert!(time < MOST_TIME, "{time:?}: {}", keep());
    }
    println!("{accepted} of {rounds} accepted");
    // Damage that all is refused for at the door, or that nobody notices, would prove nothing.
    let damaged = WHOLE + 1..rounds;
    assert!(rounds < FEW || damaged.contains(&accepted), "{accepted}");
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
