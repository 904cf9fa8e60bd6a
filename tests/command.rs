//! The program `pumice`, as a user runs it.

#[path = "common/library.rs"]
mod library;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{PoisonError, RwLock};

/// Held for writing while a program is copied: a process forked meanwhile holds the copy open for writing until
/// it executes its own, and what is open for writing can't be executed (ETXTBSY).
static FORKS: RwLock<()> = RwLock::new(());

/// A folder with the program and the library side by side, as they are delivered.
struct Installation(PathBuf);

impl Installation {
    fn new(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("command-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("runtime")).expect("folder");
        let _lock = FORKS.write().unwrap_or_else(PoisonError::into_inner);
        fs::copy(library::path(), folder.join("libpumice.so")).expect("library");
        fs::copy(env!("CARGO_BIN_EXE_pumice"), folder.join("pumice")).expect("program");
        Self(folder)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let _lock = FORKS.read().unwrap_or_else(PoisonError::into_inner);
        Command::new(self.0.join("pumice"))
            .args(arguments)
            .env("XDG_CONFIG_HOME", self.0.join("config"))
            .env("XDG_RUNTIME_DIR", self.0.join("runtime"))
            .env("PUMICE_CACHE_DIR", "")
            .env_remove("OCL_ICD_VENDORS")
            .output()
            .expect("pumice starts")
    }

    #[track_caller]
    fn stdout(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    #[track_caller]
    fn failure(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stderr).expect("text")
    }
}

#[test]
fn it_says_what_it_is_and_refuses_what_it_does_not_know() {
    let pumice = Installation::new("help");
    assert!(pumice.stdout(&["--help"]).contains("pumice run PROGRAM"));
    let version = concat!("pumice ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(pumice.stdout(&["--version"]), version);
    assert!(pumice.failure(&["frobnicate"]).contains("frobnicate"));
    assert!(pumice.failure(&["info", "--nonsense"]).contains("nonsense"));
    assert!(pumice.failure(&[]).contains("--help"));
    assert!(
        pumice
            .failure(&["compile", "/no/such.cl"])
            .contains("/no/such.cl")
    );
}

#[test]
fn info_names_the_compiler_and_the_devices_or_their_lack() {
    let pumice = Installation::new("info");
    let output = pumice.run(&["info"]);
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains("clang version"), "{text}");
    assert!(text.contains("cache: off"), "{text}");
    if output.status.success() {
        assert!(text.contains("Vulkan 1."), "{text}")
    } else {
        assert!(text.contains("none:"), "{text}")
    }
}

#[test]
fn run_becomes_the_program_with_pumice_as_its_only_platform() {
    let pumice = Installation::new("run");
    let output = pumice.run(&[
        "run",
        "sh",
        "-c",
        "cat \"$OCL_ICD_VENDORS\"/*; exit 7",
        "--help",
    ]);
    assert_eq!(output.status.code(), Some(7));
    let library = pumice
        .0
        .join("libpumice.so")
        .canonicalize()
        .expect("library");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{}\n", library.display())
    );
    assert!(
        pumice
            .failure(&["run", "/no/such/program"])
            .contains("/no/such/program")
    );
    assert!(pumice.failure(&["run"]).contains("missing"));
}

#[test]
fn a_user_installation_is_written_and_removed() {
    let pumice = Installation::new("install");
    let file = pumice.0.join("config/OpenCL/vendors/pumice.icd");
    assert!(
        pumice
            .stdout(&["install", "--user"])
            .contains("OCL_ICD_VENDORS")
    );
    let library = pumice
        .0
        .join("libpumice.so")
        .canonicalize()
        .expect("library");
    assert_eq!(
        fs::read_to_string(&file).expect("icd file"),
        format!("{}\n", library.display())
    );
    let info = pumice.run(&["info"]);
    assert!(String::from_utf8_lossy(&info.stdout).contains("(Pumice)"));
    pumice.stdout(&["install", "--user", "--uninstall"]);
    assert!(!file.exists());
    assert!(
        pumice
            .failure(&["install", "--user", "--uninstall"])
            .contains("pumice.icd")
    );
}

#[test]
fn a_kernel_is_compiled_to_opencl_spirv_and_its_errors_are_shown() {
    let pumice = Installation::new("compile");
    let (source, output) = (pumice.0.join("k.cl"), pumice.0.join("k.spv"));
    let paths = (
        source.to_str().expect("path"),
        output.to_str().expect("path"),
    );
    // Editors save sources with a byte order mark, and comments in Latin-1.
    fs::write(
        &source,
        b"\xef\xbb\xbfkernel void k(global int *p) { *p = N; } // \xe4",
    )
    .expect("source");
    let failure = pumice.failure(&["compile", paths.0, "--emit", "il"]);
    assert!(failure.contains("<program source>:1:"), "{failure}");
    pumice.stdout(&[
        "compile",
        paths.0,
        "--emit",
        "il",
        "--options",
        "-D N=3",
        "-o",
        paths.1,
    ]);
    let module = fs::read(&output).expect("module");
    assert!(pumice::compiler::spirv::words::from_bytes(&module).is_some());
}

#[test]
fn a_kernel_may_use_all_that_a_device_of_the_kind_offers() {
    let pumice = Installation::new("compile-features");
    let source = pumice.0.join("k.cl");
    let path = source.to_str().expect("path");
    fs::write(
        &source,
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void k(global float *out, read_only image2d_t from, read_only pipe int numbers) {
            int number = 0;
            read_pipe(numbers, &number);
            float texel = read_imagef(from, (int2)(number, 0)).x;
            half h = (half)texel;
            global atomic_int *counter = (global atomic_int *)out;
            atomic_fetch_add(counter, 1);
            out[1] = sub_group_reduce_add(texel) + sub_group_shuffle_xor(texel, 1) + h + work_group_any(number);
        #ifdef cl_khr_fp64
            out[2] = (float)sqrt((double)texel);
        #endif
        }",
    )
    .expect("source");
    for device in ["full", "lavapipe", "nvidia", "swiftshader"] {
        let options = ["--options", "-cl-std=CL3.0", "--device-like", device];
        let text = pumice.stdout(&[&["compile", path][..], &options].concat());
        assert!(text.contains("OpEntryPoint GLCompute"), "{device}: {text}");
    }
}
