//! Kernels of plain C on the host, compiled by gcc.

use crate::generator::ITEMS;
use crate::worker::{NUMBER, VECTOR, Wanted, contents};
use std::ffi::{CString, c_void};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What the header calls `struct launch`.
#[repr(C)]
struct Launch {
    kernel: *mut c_void,
    buffers: [*mut u8; 4],
    items: *mut i16,
    number: u32,
    vector: [i16; 4],
    items_of_all: u64,
    items_of_group: u64,
}

/// Elements of local memory that the largest group has.
const LOCAL_ELEMENTS: usize = (ITEMS * crate::generator::ITEM_SLOTS) as usize;

/// A library that gcc made.
pub struct Library(*mut c_void);

impl Drop for Library {
    fn drop(&mut self) {
        // SAFETY: it was opened by `build`, and nothing of it is running.
        unsafe { libc::dlclose(self.0) };
    }
}

impl Library {
    fn symbol(&self, name: &str) -> Result<*mut c_void, String> {
        let text = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the library is open, and the name ends with a zero.
        let address = unsafe { libc::dlsym(self.0, text.as_ptr()) };
        if address.is_null() {
            return Err(format!("there is no {name}"));
        }
        Ok(address)
    }
}

/// The names of conversions, which are many.
fn conversions() -> String {
    let mut text = String::new();
    for ty in [
        "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong",
    ] {
        let _ = writeln!(text, "#define as_{ty}(x) (({ty})(x))");
        for rounding in ["", "_rte", "_rtz", "_rtp", "_rtn"] {
            let _ = writeln!(text, "#define convert_{ty}{rounding}(x) (({ty})(x))");
            let _ = writeln!(
                text,
                "#define convert_{ty}_sat{rounding}(x) host_saturated_{ty}(x)"
            );
        }
    }
    text
}

pub fn build(path: &Path) -> Result<Library, String> {
    let program = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let (source, library) = (path.with_extension("c"), path.with_extension("so"));
    let text = format!("{}{}{program}", include_str!("host.h"), conversions());
    std::fs::write(&source, text).map_err(|error| error.to_string())?;
    // Whatever is not defined is to be what hardware makes of it, so that a mistake of the generator's shows on platforms.
    let output = Command::new("gcc")
        .args([
            "-O0",
            "-w",
            "-shared",
            "-fPIC",
            "-fwrapv",
            "-fno-strict-aliasing",
            "-o",
        ])
        .arg(&library)
        .arg(&source)
        .output()
        .map_err(|error| format!("gcc: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let name =
        CString::new(library.as_os_str().as_encoded_bytes()).map_err(|error| error.to_string())?;
    // SAFETY: the library has no initializers.
    let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
    if opened.is_null() {
        return Err("gcc's library can't be loaded".into());
    }
    Ok(Library(opened))
}

pub fn run(library: &Library, wanted: &Wanted) -> Result<Vec<u8>, String> {
    let kernel = library.symbol(wanted.name)?;
    let run = library.symbol("host_run")?;
    let mut contents = contents();
    let mut items = vec![0i16; LOCAL_ELEMENTS];
    let launch = Launch {
        kernel,
        buffers: contents.each_mut().map(|bytes| bytes.as_mut_ptr()),
        items: items.as_mut_ptr(),
        number: NUMBER,
        vector: VECTOR,
        items_of_all: ITEMS.into(),
        items_of_group: wanted.local_size as u64,
    };
    // SAFETY: the header defines it so. The kernel stays within its buffers, as all that the generator makes.
    unsafe {
        let run: unsafe extern "C" fn(*const Launch) = std::mem::transmute(run);
        run(&launch);
    }
    Ok(contents.concat())
}
