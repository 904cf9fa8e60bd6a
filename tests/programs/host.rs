//! What the host's C compiler makes of a program.

use crate::listing::Case;
use std::collections::HashMap;
use std::ffi::CStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// How a program is compiled: signed integers wrap and no multiplication is joined with an addition, as on the device.
const OPTIONS: &[&str] = &[
    "-std=gnu11",
    "-O1",
    "-fwrapv",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-w",
    "-shared",
    "-fPIC",
];

/// `host` of `entry.h`.
type Function = unsafe extern "C" fn(*const u32, *mut u32, u32);

/// A program as the host compiled it.
#[derive(Clone, Copy)]
pub struct Compiled {
    run: Function,
    /// The bytes of working memory that each unit needs.
    pub work_bytes: usize,
}

/// Compiles programs, each text once.
pub struct Compiler {
    folder: PathBuf,
    compiled: Mutex<HashMap<String, Compiled>>,
}

impl Compiler {
    /// A compiler that puts its libraries into a folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
            compiled: Mutex::default(),
        }
    }

    /// The program of a case.
    pub fn compile(&self, case: &Case) -> Result<Compiled, String> {
        let source = case.host_source();
        let mut all = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = all.get(source) {
            return Ok(*known);
        }
        let stem = self.folder.join(format!("host-{}", all.len()));
        let compiled = compile(source, &stem)?;
        all.insert(source.to_owned(), compiled);
        Ok(compiled)
    }
}

fn compile(source: &str, stem: &Path) -> Result<Compiled, String> {
    let (text, library) = (stem.with_extension("c"), stem.with_extension("so"));
    std::fs::write(&text, source).map_err(|error| error.to_string())?;
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let output = Command::new(&compiler)
        .args(OPTIONS)
        .arg(&text)
        .arg("-o")
        .arg(&library)
        .arg("-lm")
        .output()
        .map_err(|error| format!("{compiler}: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let path =
        std::ffi::CString::new(library.display().to_string()).map_err(|error| error.to_string())?;
    // SAFETY: the library was just made of a program, and nothing in it runs at load time.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
    let symbol = |name: &CStr| {
        // SAFETY: a library that stays open, or null, which means the whole process.
        let address = unsafe { libc::dlsym(library, name.as_ptr()) };
        if library.is_null() || address.is_null() {
            Err(format!("{name:?} is missing from {path:?}"))
        } else {
            Ok(address)
        }
    };
    let (run, bytes) = (symbol(c"host")?, symbol(c"work_bytes")?);
    Ok(Compiled {
        // SAFETY: `entry.h` declares it so.
        run: unsafe { std::mem::transmute::<*mut std::ffi::c_void, Function>(run) },
        // SAFETY: `entry.h` defines it as a number of 32 bits.
        work_bytes: unsafe { bytes.cast::<u32>().read() } as usize,
    })
}

impl Compiled {
    /// The words of output that all units of a case make of their input.
    pub fn run(&self, case: &Case, input: &[u32]) -> Vec<u32> {
        assert_eq!(input.len(), case.inputs * case.units);
        let mut output = vec![UNTOUCHED; case.outputs * case.units];
        // SAFETY: as many words as the program was compiled for; programs write nowhere else.
        unsafe { (self.run)(input.as_ptr(), output.as_mut_ptr(), case.units as u32) };
        output
    }
}

/// What words of output hold before a program runs, on the host and on the device.
pub const UNTOUCHED: u32 = 0xcccc_cccc;
