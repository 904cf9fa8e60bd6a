//! The Vulkan layer of the tests (`tests/faults/layer.rs`, built as an example), and how a process gets it.

use std::path::{Path, PathBuf};

/// Where the layer is.
pub fn path() -> PathBuf {
    let test = std::env::current_exe().expect("a running test has a path");
    // The test lies in target/debug/deps, or deeper.
    let folders = test.ancestors().skip(1);
    let mut paths = folders.map(|folder| folder.join("examples/libfault_layer.so"));
    paths
        .find(|path| path.exists())
        .expect("libfault_layer.so is missing: cargo build --example fault_layer")
}

/// The environment that has a process load it; `name` is the test's.
pub fn variables(name: &str) -> [(&'static str, PathBuf); 2] {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fault-layer");
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).expect("a folder for the manifest");
    let manifest = format!(
        r#"{{ "file_format_version": "1.2.0", "layer": {{ "name": "VK_LAYER_PUMICE_faults",
            "type": "GLOBAL", "library_path": "{}", "api_version": "1.3.0",
            "implementation_version": "1", "description": "Has calls fail" }} }}"#,
        path().display()
    );
    std::fs::write(folder.join("layer.json"), manifest).expect("the manifest");
    [
        ("VK_LAYER_PATH", folder),
        ("VK_INSTANCE_LAYERS", "VK_LAYER_PUMICE_faults".into()),
    ]
}
