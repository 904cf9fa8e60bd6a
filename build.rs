//! Embeds what the driver carries with it as SPIR-V: the OpenCL built-in library, in two modules (libclc and our own
//! mathematical functions), and the driver's own kernels; links it to stay loaded; says which compiler is in it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Where Debian's packages put the 64-bit build (`libclc-15` to `libclc-22`; that of 23 has none).
const LIBCLC: &str = "/usr/lib/clc/spirv64-mesa3d-.spv";
/// Our own functions, in OpenCL C.
const MATHS: &str = "device/maths";
/// Our own kernels, in OpenCL C.
const SHADERS: &str = "shaders";
const SPIRV_MAGIC: [u8; 4] = 0x0723_0203_u32.to_le_bytes();

fn main() {
    keep_loaded();
    embed_libclc();
    // Sums and products stay apart: where they are one, the source says so.
    embed_opencl_c(MATHS, "maths", &["-ffp-contract=off"]);
    embed_opencl_c(SHADERS, "rectangles", &[]);
    let rotations = ["-mllvm", "-spirv-ext=+SPV_KHR_subgroup_rotate"];
    embed_opencl_c(SHADERS, "probes", &rotations);
    let with_doubles = [&rotations[..], &["-DDOUBLES"]].concat();
    embed_opencl_c_as(SHADERS, "probes", "probes_doubles", &with_doubles);
    stamp_compiler();
}

/// What generated code depends on: a cached or stored program made by another compiler is not taken for one
/// of this one's.
const COMPILER: [&str; 4] = ["src/compiler", "src/drivers", "src/toolchain", "Cargo.lock"];

/// Sets `PUMICE_COMPILER_STAMP`, a hash of the compiler's sources and of the built-in library.
fn stamp_compiler() {
    let mut files = Vec::new();
    for place in COMPILER {
        println!("cargo:rerun-if-changed={place}");
        collect(Path::new(place), &mut files);
    }
    files.sort();
    for library in ["libclc.spv", "maths.spv"] {
        files.extend(env::var_os("OUT_DIR").map(|out| Path::new(&out).join(library)));
    }
    // FNV-1a: nobody chooses these inputs to collide.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        let Ok(bytes) = fs::read(&file) else { continue };
        for byte in bytes {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo:rustc-env=PUMICE_COMPILER_STAMP={hash:016x}");
}

fn collect(place: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(place) {
        Ok(entries) => entries
            .flatten()
            .for_each(|entry| collect(&entry.path(), files)),
        Err(_) => files.push(place.to_owned()),
    }
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
        Ok(_) => no_libclc(&format!("{} is not a SPIR-V module", path.display())),
        Err(error) => no_libclc(&format!("{}: {error}", path.display())),
    };
    let to = out_dir().join("libclc.spv");
    if let Err(error) = fs::write(&to, bytes) {
        fail(&format!("{}: {error}", to.display()));
    }
}

fn no_libclc(reason: &str) -> ! {
    fail(&format!(
        "The OpenCL built-in library is missing: {reason}\n\
         Install one of the packages libclc-15 to libclc-22 (they hold {LIBCLC}), or set PUMICE_LIBCLC to a SPIR-V build of libclc."
    ))
}

/// Compiles `NAME.cl` in `folder` to `OUT_DIR/NAME.spv`, with `PUMICE_CLANG` or the oldest clang that can:
/// the one that all was tried with.
fn embed_opencl_c(folder: &str, name: &str, options: &[&str]) {
    embed_opencl_c_as(folder, name, name, options);
}

fn embed_opencl_c_as(folder: &str, name: &str, to: &str, options: &[&str]) {
    println!("cargo:rerun-if-changed={folder}");
    println!("cargo:rerun-if-env-changed=PUMICE_CLANG");
    let candidates = match env::var_os("PUMICE_CLANG") {
        Some(clang) if !clang.is_empty() => vec![PathBuf::from(clang)],
        _ => (22..=30)
            .map(|version| PathBuf::from(format!("clang-{version}")))
            .chain([PathBuf::from("clang")])
            .collect(),
    };
    let mut reasons = String::new();
    for clang in candidates {
        let output = Command::new(&clang)
            .args(["-target", "spirv64", "-cl-std=CL3.0", "-O2", "-c"])
            .args(options)
            .arg(Path::new(folder).join(format!("{name}.cl")))
            .arg("-o")
            .arg(out_dir().join(format!("{to}.spv")))
            .output();
        match output {
            Ok(output) if output.status.success() => return,
            Ok(output) => {
                let messages = String::from_utf8_lossy(&output.stderr);
                reasons += &format!("{}: {messages}\n", clang.display());
            }
            Err(error) => reasons += &format!("{}: {error}\n", clang.display()),
        }
    }
    fail(&format!(
        "{folder} can't be compiled:\n{reasons}\
         Install clang 22 or later (on Debian and Ubuntu: apt install clang-22), or set PUMICE_CLANG to one that makes SPIR-V."
    ))
}

fn out_dir() -> PathBuf {
    match env::var_os("OUT_DIR") {
        Some(out) => PathBuf::from(out),
        None => fail("OUT_DIR is not set; build with cargo"),
    }
}

fn fail(reason: &str) -> ! {
    eprintln!("{reason}");
    std::process::exit(1);
}
