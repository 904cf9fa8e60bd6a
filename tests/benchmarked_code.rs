//! What the compiler makes of kernels that `benches/` measures, where it was once seen to cost them much time.

use std::process::Command;

/// A kernel of `benches/kernels` as text of SPIR-V, for a device like `device`.
#[track_caller]
fn code(kernel: &str, device: &str) -> String {
    let source = format!("{}/benches/kernels/{kernel}.cl", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(env!("CARGO_BIN_EXE_pumice"))
        .args(["compile", &source, "--device-like", device])
        // What a program in OpenCL C 1.2 may take for granted.
        .args(["--options", "-cl-uniform-work-group-size"])
        .env("PUMICE_CACHE_DIR", "")
        .output()
        .expect("pumice starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Four numbers of each of eight rows are loaded at once, one row by each work-item of a sub-group: shuffles give all of
/// them to all. Without that the matrix product takes half as long again on lavapipe.
#[test]
fn rows_that_a_sub_group_shares_are_loaded_once() {
    let code = code("matrix_product", "lavapipe");
    let shuffles = code.matches("= OpGroupNonUniformShuffle ").count();
    assert_eq!(shuffles, 8 * 4, "{code}");
}

/// The loops that fill a tile make two rounds at most. Prepared for 32, which lavapipe asks for, the stencil took four
/// times as long.
#[test]
fn loops_over_a_tile_are_prepared_for_no_more_rounds_than_they_make() {
    let code = code("stencil", "lavapipe");
    // Into the tile, and the result.
    assert_eq!(code.matches("OpStore ").count(), 2, "{code}");
}

/// LLVM sees that all work-items have the same address where it is loaded at once: SHA-256 took twice as long on lavapipe
/// with addresses of two words.
#[test]
fn addresses_are_read_at_once() {
    for kernel in ["sha256", "copy"] {
        let code = code(kernel, "lavapipe");
        let mut lines = code.lines();
        let long = lines.find_map(|line| line.strip_suffix(" = OpTypeInt 64 0"));
        let pointer = format!("= OpTypePointer PushConstant {}\n", long.expect("one type"));
        assert!(code.contains(&pointer), "{code}");
    }
}
