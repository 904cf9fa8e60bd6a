//! What the compiler's tests share: random numbers, and SPIR-V from OpenCL C and from text.

use super::{Capabilities, Library, Options, compile};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A small generator of random numbers (xorshift64*), from a seed that is not 0.
pub(crate) struct Random(pub u64);

impl Random {
    /// Random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Random bits of random width, at times negated: a number of any magnitude.
    pub fn number(&mut self) -> u64 {
        let bits = self.bits();
        let number = bits >> (self.bits() % 64);
        if self.bits() & 3 == 0 {
            number.wrapping_neg()
        } else {
            number
        }
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.bits() >> 33) as usize % bound
    }

    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// A number that is small, or just below a power of two, or neither.
    pub fn constant(&mut self) -> u64 {
        let bits = 1 + self.below(63);
        match self.below(3) {
            0 => self.below(64) as u64,
            1 => (1 << bits) - 1,
            _ => self.bits() >> 1 & ((1 << bits) - 1),
        }
    }
}

/// A file name that no other test uses.
fn temporary(extension: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!(
        "pumice-{}-{number}.{extension}",
        std::process::id()
    ))
}

fn run(command: &mut Command, input: &[u8]) {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    child
        .stdin
        .take()
        .expect("piped")
        .write_all(input)
        .expect("written");
    let output = child.wait_with_output().expect("finished");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}");
}

fn read_words(path: &PathBuf) -> Vec<u32> {
    let bytes = std::fs::read(path).expect("the tool wrote its output");
    std::fs::remove_file(path).expect("it can be removed");
    bytes
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect()
}

/// How many instructions of an operation there are in what the first kernel of a program in OpenCL C becomes for a device.
pub(crate) fn count_of(operation: rspirv::spirv::Op, source: &str, device: &Capabilities) -> usize {
    let library = Library::embedded().expect("the library is embedded");
    let program = compile(&[&opencl_c(source)], &library, device, &Options::default());
    let kernel = &program.expect("the program is compiled").kernels[0];
    let words = kernel.spirv.words().expect("the words are whole");
    let mut rest = words.get(5..).expect("there is a header");
    let mut found = 0;
    while let Some(&first) = rest.first() {
        found += usize::from(first & 0xffff == operation as u32);
        rest = &rest[(first >> 16) as usize..];
    }
    found
}

/// OpenCL C 3.0 compiled as the driver does it.
pub(crate) fn opencl_c(source: &str) -> Vec<u32> {
    opencl_c_with(source, &["-O2"])
}

/// OpenCL C 3.0 compiled as the driver does it, but with `flags` in place of `-O2`.
pub(crate) fn opencl_c_with(source: &str, flags: &[&str]) -> Vec<u32> {
    let output = temporary("spv");
    let mut clang = Command::new("clang-22");
    clang
        .args([
            "-target",
            "spirv64",
            "-cl-std=CL3.0",
            "-Xclang",
            "-cl-ext=+all",
            "-w",
        ])
        .args([
            "-mllvm",
            "-spirv-ext=+SPV_EXT_relaxed_printf_string_address_space,+SPV_KHR_bit_instructions,\
             +SPV_KHR_integer_dot_product,+SPV_KHR_expect_assume,+SPV_KHR_no_integer_wrap_decoration,+SPV_KHR_subgroup_rotate,\
             +SPV_INTEL_subgroups",
        ])
        .args([
            "-fno-vectorize",
            "-fno-slp-vectorize",
            "-x",
            "cl",
            "-c",
            "-",
            "-o",
        ])
        .arg(&output)
        .args(flags);
    run(&mut clang, source.as_bytes());
    read_words(&output)
}

/// SPIR-V 1.4 from its text form. Ids keep the order in which they first occur.
pub(crate) fn assemble(text: &str) -> Vec<u32> {
    let output = temporary("spv");
    let mut assembler = Command::new("spirv-as");
    assembler
        .args(["--target-env", "spv1.4", "-", "-o"])
        .arg(&output);
    run(&mut assembler, text.as_bytes());
    read_words(&output)
}
