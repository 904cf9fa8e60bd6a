//! Files that tests have in place of those of the operating system.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this process and a test, gone with it.
pub struct Files(PathBuf);

impl Files {
    pub fn new(test: &str) -> Self {
        let name = format!("pumice-{}-{test}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder can be made");
        Self(folder)
    }

    pub fn folder(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        let folder = path.parent().expect("it is in the folder");
        fs::create_dir_all(folder).expect("a folder can be made");
        fs::write(path, text).expect("a file can be written");
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
