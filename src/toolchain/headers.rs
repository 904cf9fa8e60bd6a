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
///
/// Names are what `#include` says, and may be any path: those that lead out of the folder that is searched
/// (`../a.h`) find themselves in one around it, absolute ones are shown to clang by an overlay of its file system.
#[derive(Debug)]
pub struct HeaderDirectory {
    /// All that is ours.
    root: PathBuf,
    /// The folder that is searched, somewhere below.
    path: PathBuf,
    /// The description of the overlay, if there is one.
    overlay: Option<PathBuf>,
}

impl HeaderDirectory {
    /// Writes every header under its include name.
    ///
    /// # Errors
    /// The directory or a file can't be written.
    pub fn new(headers: &[(String, String)]) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let parent = std::env::temp_dir();
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let root = parent.join(format!("pumice-headers-{}-{number}", std::process::id()));
            match create_private(&root) {
                Ok(()) => return Self::write_all(root, headers),
                // Left over from a process that had our number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn write_all(root: PathBuf, headers: &[(String, String)]) -> io::Result<Self> {
        let depth = headers.iter().map(|(name, _)| levels_up(name)).max();
        let names = (0..depth.unwrap_or(0)).map(|level| format!("d{level}"));
        let path = names.fold(root.join("include"), |path, name| path.join(name));
        let mut directory = Self {
            root,
            path,
            overlay: None,
        };
        fs::create_dir_all(&directory.path)?;
        let mut absolute = Vec::new();
        for (index, (name, contents)) in headers.iter().enumerate() {
            if Path::new(name).is_absolute() {
                let file = directory.root.join(format!("absolute{index}"));
                fs::write(&file, contents)?;
                absolute.push((name.as_str(), file));
            } else if names_a_file(name) {
                write(&directory.path, name, contents)?;
            }
        }
        if !absolute.is_empty() {
            let overlay = directory.root.join("overlay.yaml");
            fs::write(&overlay, overlay_of(&absolute))?;
            directory.overlay = Some(overlay);
        }
        Ok(directory)
    }

    /// The folder that is searched.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The arguments by which clang finds the headers.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec![format!("-I{}", self.path.display())];
        if let Some(overlay) = &self.overlay {
            arguments.extend(["-ivfsoverlay".into(), overlay.display().to_string()]);
        }
        arguments
    }
}

/// How many folders a relative path leads out of where it starts, at its farthest.
fn levels_up(name: &str) -> usize {
    let (mut level, mut least) = (0_isize, 0);
    for part in Path::new(name).components() {
        match part {
            Component::Normal(_) => level += 1,
            Component::ParentDir => level -= 1,
            _ => {}
        }
        least = least.min(level);
    }
    least.unsigned_abs()
}

/// Whether there can be a file of a name: nothing can include one that ends as a folder's does.
fn names_a_file(name: &str) -> bool {
    !name.ends_with(['/', '\0'])
        && matches!(
            Path::new(name).components().next_back(),
            Some(Component::Normal(_))
        )
}

/// Writes a header, and makes every folder on the way to it: `a/../b.h` is found only if there is an `a`.
fn write(directory: &Path, name: &str, contents: &str) -> io::Result<()> {
    let path = directory.join(name);
    let mut way = directory.to_owned();
    for part in Path::new(name)
        .parent()
        .into_iter()
        .flat_map(Path::components)
    {
        way.push(part);
        if let Component::Normal(_) = part {
            fs::create_dir_all(&way)?;
        }
    }
    fs::write(path, contents)
}

/// The description of a file system with files at absolute paths, for `-ivfsoverlay`: YAML, of which JSON is a part.
/// clang shows the files under these names.
fn overlay_of(files: &[(&str, PathBuf)]) -> String {
    let roots = files.iter().map(|(name, file)| {
        let file = file.to_string_lossy();
        format!(
            "{{\"type\": \"file\", \"name\": {}, \"external-contents\": {}}}",
            quoted(name),
            quoted(&file)
        )
    });
    let roots: Vec<String> = roots.collect();
    format!(
        "{{\"version\": 0, \"use-external-names\": false, \"roots\": [{}]}}",
        roots.join(", ")
    )
}

/// A string of JSON.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().mode(0o700).create(path)
}

impl Drop for HeaderDirectory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            log::warn!("{} could not be removed: {error}", self.root.display());
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
    fn names_that_lead_out_of_the_folder_stay_in_ours() {
        let names = ["../a.h", "x/../../../b.h", "./c.h", "", "d/", ".."];
        let headers = names.map(|name| (name.to_owned(), name.to_owned()));
        let directory = HeaderDirectory::new(&headers).unwrap();
        for name in &names[..3] {
            let text = fs::read_to_string(directory.path().join(name)).unwrap();
            assert_eq!(text, *name);
        }
        let (root, path) = (directory.root.clone(), directory.path.clone());
        for name in &names[..3] {
            let file = path.join(name).canonicalize().unwrap();
            assert!(file.starts_with(root.canonicalize().unwrap()), "{file:?}");
        }
        drop(directory);
        assert!(!root.exists());
    }

    #[test]
    fn absolute_names_are_in_an_overlay() {
        let headers = [("/a \"b\".h".to_owned(), "x".to_owned())];
        let directory = HeaderDirectory::new(&headers).unwrap();
        let arguments = directory.arguments();
        assert_eq!(arguments[1], "-ivfsoverlay");
        let overlay = fs::read_to_string(&arguments[2]).unwrap();
        assert!(
            overlay.contains("\"name\": \"/a \\\"b\\\".h\""),
            "{overlay}"
        );
    }
}
