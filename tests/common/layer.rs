//! The Vulkan layers of the tests (built as examples), and how a process gets one.

use std::path::{Path, PathBuf};

/// Where the library of a layer is.
pub fn path(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    // The test lies in target/debug/deps, or deeper.
    let folders = test.ancestors().skip(1);
    let mut paths = folders.map(|folder| folder.join(format!("examples/lib{example}.so")));
    paths
        .find(|path| path.exists())
        .unwrap_or_else(|| panic!("it is missing: cargo build --example {example}"))
}

/// The environment that has a process load the layer; `name` is the test's.
pub fn variables(example: &str, name: &str) -> [(&'static str, PathBuf); 2] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layers");
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the manifest");
    let layer = format!("VK_LAYER_PUMICE_{example}");
    let manifest = format!(
        r#"{{ "file_format_version": "1.2.0", "layer": {{ "name": "{layer}",
            "type": "GLOBAL", "library_path": "{}", "api_version": "1.3.0",
            "implementation_version": "1", "description": "A layer of Pumice's tests" }} }}"#,
        path(example).display()
    );
    std::fs::write(folder.join("layer.json"), manifest).expect("the manifest");
    [
        ("VK_LAYER_PATH", folder),
        ("VK_INSTANCE_LAYERS", layer.into()),
    ]
}
