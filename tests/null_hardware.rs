//! Code for GPUs that are not there: Mesa's driver for AMD's pretends to have one where `RADV_FORCE_FAMILY` names it, and
//! compiles for it down to the instructions, though it runs nothing. Each family has other widths of numbers and of
//! sub-groups.
//!
//! A kernel with a required work-group size has its pipeline made with it, before there is a queue, which this driver has
//! none to give. Each family has a process of its own: the driver ends it where it meets code that it has no instruction for.

#[path = "common/library.rs"]
mod library;
#[path = "kernels/random.rs"]
mod random;
#[path = "common/skip.rs"]
mod skip;

#[path = "random_kernels/expressions.rs"]
mod expressions;
#[path = "random_kernels/floats.rs"]
mod floats;
#[path = "random_kernels/generator.rs"]
#[allow(dead_code, reason = "nothing is run here, and nothing reduced")]
mod generator;
#[path = "random_kernels/groups.rs"]
mod groups;
#[path = "random_kernels/loops.rs"]
mod loops;
#[path = "random_kernels/pointers.rs"]
mod pointers;
#[path = "random_kernels/scope.rs"]
mod scope;
#[path = "random_kernels/statements.rs"]
mod statements;
#[path = "random_kernels/tree.rs"]
#[allow(dead_code, reason = "nothing is reduced here")]
mod tree;
#[path = "random_kernels/types.rs"]
mod types;

use generator::{Features, PREAMBLE};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::Kernel;
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// GFX6 to GFX11: the first two have no 16-bit arithmetic, GFX8 no halves, those from GFX10 on sub-groups of 32 and 64.
/// Mesa has renamed the last.
const FAMILIES: [&[&str]; 7] = [
    &["tahiti"],
    &["hawaii"],
    &["polaris10"],
    &["vega10"],
    &["navi10"],
    &["navi21"],
    &["navi31", "gfx1100"],
];

/// What the driver says before it ends the process of a family that it does not know by that name.
const UNKNOWN: &str = "Unknown family";

/// Random kernels that each family compiles.
const RANDOM_KERNELS: u64 = 8;

/// The driver takes a 16-bit subtraction for each, which GFX6 and GFX7 do not have.
const NARROW: &str = "
kernel void bytes(global uchar *p, uchar x) { p[get_global_id(0)] -= x; }
kernel void shorts(global ushort *p, ushort x) { p[get_global_id(0)] -= x; }
";

/// Says that the test runs in a process of its own.
const CHILD: &str = "PUMICE_TEST_CHILD";

fn manifest() -> Option<PathBuf> {
    let folder = Path::new("/usr/share/vulkan/icd.d").read_dir().ok()?;
    let mut paths = folder.filter_map(|entry| Some(entry.ok()?.path()));
    paths.find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with("radeon_icd."))
    })
}

#[test]
fn every_family_of_amds_gpus_takes_the_code() {
    if std::env::var_os(CHILD).is_some() {
        build_everything();
        return;
    }
    let Some(manifest) = manifest() else {
        skip::no_device();
        return;
    };
    if !pretends(&manifest) {
        eprintln!(
            "skipped: this driver can't pretend to have a GPU any more (Mesa 26.2 wants another library for that)"
        );
        return;
    }
    // What clang makes is the same for each.
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("null_hardware");
    let _ = std::fs::remove_dir_all(&cache);
    for names in FAMILIES {
        let mut names = names
            .iter()
            .map(|name| (*name, run(name, &manifest, &cache)));
        let known =
            names.find(|(_, output)| !String::from_utf8_lossy(&output.stderr).contains(UNKNOWN));
        let (family, output) = known.expect("the driver knows the family");
        let out = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let is_silent = !(errors.contains("VUID-") || errors.contains("Validation Error"));
        let ran = out.contains(&family.to_uppercase()) && out.contains("1 passed");
        // The pipelines are made first, then what lies in memory, of which there is none.
        let mut refusals = errors
            .lines()
            .filter(|line| line.contains("clCreateKernel: "));
        let only_memory = refusals.all(|line| line.contains("No compatible memory type"));
        assert!(
            output.status.success() && ran && is_silent && only_memory,
            "{family}: {}\n{out}{errors}",
            output.status
        );
    }
}

/// The variable that names the GPU that the driver pretends to have.
const FAMILY: &str = "RADV_FORCE_FAMILY";

/// Whether the driver of `manifest` reads [`FAMILY`]; Mesa's 25.0 does, 26.2 does not.
fn pretends(manifest: &Path) -> bool {
    let text = std::fs::read_to_string(manifest).expect("the manifest is read");
    let (_, rest) = text.split_once("\"library_path\": \"").expect("a driver");
    let (name, _) = rest.split_once('"').expect("a name");
    let folders = Path::new("/usr/lib").read_dir().expect("a folder");
    // An absolute path stays as it is.
    let mut paths = folders.filter_map(|entry| Some(entry.ok()?.path().join(name)));
    let path = paths.find(|path| path.is_file()).expect("the driver");
    let library = std::fs::read(path).expect("the driver is read");
    let mut places = library.windows(FAMILY.len());
    places.any(|place| place == FAMILY.as_bytes())
}

/// Runs the test once more, where the driver of `manifest` pretends to have a GPU of `family`.
fn run(family: &str, manifest: &Path, cache: &Path) -> Output {
    Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "every_family_of_amds_gpus_takes_the_code"])
        .arg("--nocapture")
        .env(CHILD, "")
        .env(FAMILY, family)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        .env("OPENCL_DYLIB_PATH", library::path())
        .env("PUMICE_CACHE_DIR", cache)
        .env("PUMICE_LOG", "debug")
        .stdin(Stdio::null())
        .output()
        .expect("a test starts again")
}

/// Builds all sources on the first device, and makes their kernels.
fn build_everything() {
    let platforms = get_platforms().expect("a platform");
    let ids = platforms[0]
        .get_devices(CL_DEVICE_TYPE_ALL)
        .expect("devices");
    let device = Device::new(ids[0]);
    println!("{}", device.name().expect("a name"));
    let context = Context::from_device(&device).expect("a context");
    for (name, source) in sources(&device) {
        println!("{name}");
        // Others have one of their own.
        let source = source.replace(
            "kernel void ",
            "kernel __attribute__((reqd_work_group_size(64, 1, 1))) void ",
        );
        let program = Program::create_and_build_from_source(&context, &source, "-cl-std=CL3.0")
            .unwrap_or_else(|log| panic!("{name}: {log}"));
        for kernel in program.kernel_names().split(';') {
            // The parent reads the reason.
            if Kernel::create(&program, kernel).is_err() {
                println!("no {kernel}");
            }
        }
    }
}

/// The kernels that `benches/` measures, those of the compiler's tests, and random ones.
fn sources(device: &Device) -> Vec<(String, String)> {
    let mut sources = vec![(String::from("narrow subtractions"), String::from(NARROW))];
    for folder in ["benches/kernels", "tests/compiler"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in folder.read_dir().expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "cl") {
                let source = std::fs::read_to_string(&path).expect("text");
                sources.push((path.display().to_string(), source));
            }
        }
    }
    let double = device.double_fp_config().is_ok_and(|config| config != 0);
    for seed in 0..RANDOM_KERNELS {
        let generic = seed % 2 == 1;
        let kernel = generator::kernel(
            seed,
            "random",
            Features {
                generic,
                double,
                plain: false,
            },
        );
        sources.push((
            format!("random kernel {seed}"),
            format!("{PREAMBLE}{}", kernel.text()),
        ));
    }
    sources
}
