//! Where `libpumice.so` is.

use std::path::{Path, PathBuf};

/// The `libpumice.so` that cargo built: beside the tests, or, where cargo gives every library and every test a folder of
/// its own (`build/pumice/HASH/out`), the newest of those.
///
/// # Panics
/// There is none.
pub fn path() -> PathBuf {
    const NAME: &str = "libpumice.so";
    let test = std::env::current_exe().expect("a running test has a path");
    let beside = test.with_file_name(NAME);
    if beside.exists() {
        return beside;
    }
    let folders = test.ancestors().nth(3).map(Path::read_dir);
    let folders = folders.and_then(Result::ok).into_iter().flatten();
    let built = folders.filter_map(|folder| {
        let path = folder.ok()?.path().join("out").join(NAME);
        let time = path.metadata().and_then(|it| it.modified()).ok()?;
        Some((time, path))
    });
    let newest = built.max().map(|(_, path)| path);
    newest.unwrap_or_else(|| panic!("{} is missing", beside.display()))
}
