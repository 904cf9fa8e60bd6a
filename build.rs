//! Embeds what the driver carries with it, the OpenCL built-in library as SPIR-V, and links it to stay loaded.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where Debian's `libclc-15` puts the 64-bit build.
const LIBCLC: &str = "/usr/lib/clc/spirv64-mesa3d-.spv";
const SPIRV_MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

fn main() {
    keep_loaded();
    embed_libclc();
}

/// The Khronos loader unloads drivers while the process exits; threads of ours may still be running then, so
/// the library asks to stay in memory.
fn keep_loaded() {
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}

/// Copies libclc to `OUT_DIR/libclc.spv`. `PUMICE_LIBCLC` names another file.
fn embed_libclc() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=PUMICE_LIBCLC");
    let path = env::var_os("PUMICE_LIBCLC").map_or_else(|| PathBuf::from(LIBCLC), PathBuf::from);
    println!("cargo:rerun-if-changed={}", path.display());
    let bytes = match fs::read(&path) {
        Ok(bytes) if bytes.starts_with(&SPIRV_MAGIC) && bytes.len() % 4 == 0 => bytes,
        Ok(_) => fail(&format!("{} is not a SPIR-V module", path.display())),
        Err(error) => fail(&format!("{}: {error}", path.display())),
    };
    let Some(out) = env::var_os("OUT_DIR") else {
        fail("OUT_DIR is not set; build with cargo");
    };
    if let Err(error) = fs::write(Path::new(&out).join("libclc.spv"), bytes) {
        fail(&format!("cannot write to OUT_DIR: {error}"));
    }
}

fn fail(reason: &str) -> ! {
    eprintln!(
        "The OpenCL built-in library is missing: {reason}\n\
         Install the package libclc-15 (it holds {LIBCLC}), or set PUMICE_LIBCLC to a SPIR-V build of libclc."
    );
    std::process::exit(1);
}
