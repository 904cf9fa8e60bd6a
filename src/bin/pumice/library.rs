//! Where `libpumice.so` is, and the `.icd` file that names it.

use std::path::{Path, PathBuf};

use crate::Failure;

/// The contents of an `.icd` file, with a place for the library's path.
const TEMPLATE: &str = include_str!("../../../layer-manifest/pumice.icd.in");

const LIBRARY: &str = "libpumice.so";

/// The library that belongs to this program: beside it (a build, or a folder unpacked anywhere), else in the
/// `lib` folder of the same prefix.
pub fn find() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe()?.canonicalize()?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let triplet = format!("{}-linux-gnu", std::env::consts::ARCH);
    let candidates = [
        folder.join(LIBRARY),
        folder.join("../lib").join(LIBRARY),
        folder.join("../lib").join(triplet).join(LIBRARY),
    ];
    for candidate in &candidates {
        if let Ok(path) = candidate.canonicalize() {
            return Ok(path);
        }
    }
    let mut text = format!("{LIBRARY} was not found; looked for");
    for candidate in candidates {
        text.push_str(&format!("\n  {}", candidate.display()));
    }
    Err(text.into())
}

/// The text of the `.icd` file for a library.
pub fn manifest(library: &Path) -> String {
    TEMPLATE.replace("@LIBRARY@", &library.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_is_the_path_on_a_line() {
        assert_eq!(
            manifest(Path::new("/a b/libpumice.so")),
            "/a b/libpumice.so\n"
        );
    }
}
