//! The embedded headers of `clCompileProgram`, and our own, as files that clang can include.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Headers that every source can include.
const OWN: [(&str, &str); 1] = [(
    "pumice/non_uniform_groups.clh",
    include_str!("../../device/pumice/non_uniform_groups.clh"),
)];

/// The application's headers and ours; of two with the same name the application's.
pub fn with_own(headers: &[(String, String)]) -> Vec<(String, String)> {
    let own = OWN
        .iter()
        .filter(|(name, _)| headers.iter().all(|(given, _)| given != name))
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    headers.iter().cloned().chain(own).collect()
}

/// A private directory with the headers in it; gone when dropped.
#[derive(Debug)]
pub struct HeaderDirectory {
    path: PathBuf,
}

impl HeaderDirectory {
    /// Writes every header under its include name, which may hold directories (`lib/a.h`).
    ///
    /// # Errors
    /// The directory or a file can't be written, or a name leaves the directory (`../x`, `/x`).
    pub fn new(headers: &[(String, String)]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = std::env::temp_dir();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("pumice-headers-{}-{number}", std::process::id()));
            match create_private(&path) {
                Ok(()) => {
                    let directory = Self { path };
                    for (name, contents) in headers {
                        directory.write(name, contents)?;
                    }
                    return Ok(directory);
                }
                // Left over from a process that had our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn write(&self, name: &str, contents: &str) -> io::Result<()> {
        let relative = Path::new(name);
        let inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !inside || name.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("the header name '{name}' is not a relative path"),
            ));
        }
        let path = self.path.join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, contents)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The arguments by which clang finds the headers.
    pub fn arguments(&self) -> Vec<String> {
        vec![format!("-I{}", self.path.display())]
    }
}

fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

impl Drop for HeaderDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.path) {
            log::warn!("{} could not be removed: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_there_and_then_gone() {
        let headers = [("sub/a.h".to_owned(), "#define A 1".to_owned())];
        let directory = HeaderDirectory::new(&headers).unwrap();
        let path = directory.path().to_owned();
        assert_eq!(
            fs::read_to_string(path.join("sub/a.h")).unwrap(),
            "#define A 1"
        );
        drop(directory);
        assert!(!path.exists());
    }

    #[test]
    fn an_application_s_header_goes_before_ours() {
        let (name, text) = OWN[0];
        assert_eq!(with_own(&[]), [(name.to_owned(), text.to_owned())]);
        let given = [(name.to_owned(), "int x;".to_owned())];
        assert_eq!(with_own(&given), given);
    }

    #[test]
    fn names_that_leave_the_directory_are_refused() {
        for name in ["../a.h", "/tmp/a.h", "a/../../b.h", ""] {
            let headers = [(name.to_owned(), String::new())];
            assert!(HeaderDirectory::new(&headers).is_err(), "{name}");
        }
    }
}
