//! Documents are true as far as names go: each name of the glossary and of the architecture is defined in the file that stands
//! beside it, and what documents link to and name is there.

use std::fs;
use std::path::Path;

/// The pairs of a name and a file in a line, "`Name` in `src/file.rs`", and files without a name.
fn places(line: &str) -> Vec<(Option<&str>, &str)> {
    let pieces: Vec<&str> = line.split('`').collect();
    let is_code = |index: usize| index % 2 == 1;
    let files =
        (0..pieces.len()).filter(|&index| is_code(index) && pieces[index].starts_with("src/"));
    files
        .map(|index| {
            let names = index >= 3 && pieces[index - 1] == " in " && is_code(index - 2);
            (names.then(|| pieces[index - 2]), pieces[index])
        })
        .collect()
}

/// Whether a text defines a type, a function or a variant of that name.
fn defines(text: &str, name: &str) -> bool {
    let is_whole =
        |rest: &str| !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_');
    // Variants are indented once.
    let kinds = ["struct ", "enum ", "trait ", "fn ", "\n    "];
    kinds.iter().any(|kind| {
        let marked = format!("{kind}{name}");
        let mut found = text.match_indices(&marked);
        found.any(|(at, it)| is_whole(&text[at + it.len()..]))
    })
}

/// What is wrong with a document's places, a line each.
fn faults(document: &str, root: &Path) -> Vec<String> {
    let mut faults = Vec::new();
    for (number, line) in document.lines().enumerate() {
        for (name, file) in places(line) {
            if name.is_none() && root.join(file).is_dir() {
                continue;
            }
            let fault = match (fs::read_to_string(root.join(file)), name) {
                (Err(error), _) => error.to_string(),
                (Ok(text), Some(name)) if !defines(&text, name) => format!("no {name}"),
                _ => continue,
            };
            faults.push(format!("line {}: {file}: {fault}", number + 1));
        }
    }
    faults
}

#[test]
fn names_of_the_glossary_are_where_it_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let glossary = fs::read_to_string(root.join("docs/glossary.md")).expect("there is a glossary");
    let named = glossary
        .lines()
        .flat_map(places)
        .filter(|(name, _)| name.is_some());
    assert!(named.count() > 40, "the tables are not read");
    for name in ["glossary", "architecture"] {
        let document = fs::read_to_string(root.join(format!("docs/{name}.md")));
        let found = faults(&document.expect("it is there"), root);
        assert!(found.is_empty(), "{name}: {}", found.join("\n"));
    }
}

#[test]
fn the_floors_are_those_of_the_runtime() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("it is there");
    let (module, document) = (read("src/runtime/mod.rs"), read("docs/architecture.md"));
    let floors = module
        .lines()
        .filter_map(|line| line.strip_prefix("//! | `"));
    let missing: Vec<&str> = floors
        .filter(|row| {
            !document
                .lines()
                .any(|line| line.strip_prefix("| `") == Some(*row))
        })
        .collect();
    assert!(module.contains("//! | `queue`"), "the table is not read");
    assert!(
        missing.is_empty(),
        "not in docs/architecture.md: {missing:?}"
    );
}

#[test]
fn names_that_are_gone_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for wrong in [
        "| a | b | `Nothing` in `src/runtime/queue/mod.rs` |",
        "| a | b | `Queue` in `src/runtime/gone.rs` |",
        "| a | b | `Que` in `src/runtime/queue/mod.rs` |",
    ] {
        assert_eq!(faults(wrong, root).len(), 1, "{wrong}");
    }
    assert!(faults("| a | b | `Queue` in `src/runtime/queue/mod.rs` |", root).is_empty());
}

/// The documents of the project.
fn documents() -> Vec<std::path::PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [root.to_path_buf(), root.join("docs"), root.join("device")];
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("it is there"));
    entries
        .map(|entry| entry.expect("the folder is read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect()
}

/// The files that a document links to.
fn links(document: &str) -> Vec<&str> {
    let targets = document
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'));
    targets
        .map(|(target, _)| target.split('#').next().unwrap_or_default())
        // In code an index may come before a list of parameters.
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(' '))
        .collect()
}

/// The files and folders of the project that a document names.
fn named(document: &str) -> Vec<&str> {
    let rooms = [
        "src/", "tests/", "docs/", "ci/", "device/", "fuzz/", "shaders/",
    ];
    let is_path = |it: &&str| {
        rooms.iter().any(|room| it.starts_with(room)) && !it.contains(|c| "*<> …".contains(c))
    };
    let code = document.split('`').skip(1).step_by(2);
    code.map(|it| it.split(' ').next().unwrap_or_default())
        .filter(is_path)
        .collect()
}

#[test]
fn what_documents_link_to_and_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (mut gone, mut seen) = (Vec::new(), 0);
    for path in documents() {
        let text = fs::read_to_string(&path).expect("it is text");
        let folder = path.parent().expect("a file is in a folder");
        let linked = links(&text).into_iter().map(|link| folder.join(link));
        let named = named(&text).into_iter().map(|file| root.join(file));
        for file in linked.chain(named) {
            seen += 1;
            // A program of tests may be named without its ending.
            if !file.exists() && !file.with_extension("rs").exists() {
                gone.push(format!("{}: {}", path.display(), file.display()));
            }
        }
    }
    assert!(seen > 100, "the documents are not read");
    assert!(gone.is_empty(), "{}", gone.join("\n"));
}

/// Every program of tests is in the table that says what it shows.
#[test]
fn tests_are_named_where_it_says_what_they_show() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("docs/testing.md")).expect("it is there");
    let entries = fs::read_dir(root.join("tests")).expect("it is there");
    let programs = entries.filter_map(|entry| {
        let path = entry.expect("the folder is read").path();
        let name = path.file_name()?.to_str()?.to_owned();
        let is_program = path.join("main.rs").exists();
        let is_file = path.extension().is_some_and(|it| it == "rs");
        if is_program {
            return Some(format!("tests/{name}/main.rs"));
        }
        is_file.then(|| format!("tests/{name}"))
    });
    let missing: Vec<String> = programs
        .filter(|program| !text.contains(&format!("`{program}`")))
        .collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
