//! The glossary is true: each name of its tables is defined in the file that stands beside it.

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
    let found = faults(&glossary, root);
    assert!(found.is_empty(), "{}", found.join("\n"));
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
