//! `pumice run`: a program with Pumice as its only OpenCL platform.

use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::{Failure, library};

pub fn command(mut arguments: lexopt::Parser) -> Result<ExitCode, Failure> {
    let mut words = arguments.raw_args()?;
    // What follows belongs to the program, options too; only a separating `--` is ours.
    let first = match words.next() {
        Some(word) if word == "--" => words.next(),
        other => other,
    };
    let program = first.ok_or("run: the program is missing")?;
    let vendors = vendor_directory(&library::find()?)?;
    // Takes the place of this process: signals and the exit status are the program's own.
    let error = Command::new(&program)
        .args(words)
        .env("OCL_ICD_VENDORS", &vendors)
        // The Khronos loader would add these to the directory.
        .env_remove("OCL_ICD_FILENAMES")
        .exec();
    Err(format!("{}: {error}", program.to_string_lossy()).into())
}

/// A directory that holds our `.icd` file alone. Both loaders know `OCL_ICD_VENDORS` (older ones nothing
/// else), and take a directory. It stays, for the program that takes our place; one for each library.
fn vendor_directory(library: &Path) -> Result<PathBuf, Failure> {
    // SAFETY: takes nothing and can't fail.
    let user = unsafe { libc::geteuid() };
    let base = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(directory) if Path::new(&directory).is_dir() => Path::new(&directory).join("pumice"),
        _ => std::env::temp_dir().join(format!("pumice-{user}")),
    };
    private_directory(&base, user)?;
    let name: String = library
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let directory = base.join(name);
    private_directory(&directory, user)?;
    let temporary = base.join(format!(".icd-{}", std::process::id()));
    std::fs::write(&temporary, library::manifest(library))?;
    std::fs::rename(&temporary, directory.join("pumice.icd"))?;
    Ok(directory)
}

/// Makes the directory, or accepts it if nobody else can write to it: what lies in it is loaded as code.
fn private_directory(path: &Path, user: u32) -> Result<(), Failure> {
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(format!("{}: {error}", path.display()).into()),
    }
    let data = std::fs::symlink_metadata(path)?;
    if !data.is_dir() || data.uid() != user || data.mode() & 0o022 != 0 {
        return Err(format!("{} exists and is not private to this user", path.display()).into());
    }
    Ok(())
}
