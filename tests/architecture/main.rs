//! The order of `src/`: rooms import only what the table in `src/lib.rs` allows them, the floors of a room only from those
//! that its own table names before them, and no modules import each other in a circle.

mod circles;
mod imports;

use circles::circles;
use imports::{Import, Module};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The rooms that each room may import, by the table "| `room` | `one`, `other` |" in a text.
fn table(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `"));
    rows.filter_map(|row| {
        let mut columns = row.split('|');
        let room = columns.next()?.trim_end().trim_end_matches('`').to_owned();
        let named = columns.next()?.split('`').skip(1).step_by(2);
        Some((room, named.map(str::to_owned).collect()))
    })
    .collect()
}

#[test]
fn rooms_import_what_the_table_allows() {
    let text = fs::read_to_string(source().join("lib.rs")).expect("there is a library");
    let allowed = table(&text);
    assert!(allowed.len() > 7, "the table is not read");
    let (all, modules) = imports::all(&source());
    let rooms: BTreeSet<&String> = modules.iter().filter_map(|module| module.first()).collect();
    let listed: BTreeSet<&String> = allowed.keys().collect();
    assert_eq!(rooms, listed, "the rooms, and those of the table");
    let mut used: BTreeMap<&String, BTreeSet<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for import in &all {
        let (Some(from), Some(to)) = (import.from.first(), import.to.first()) else {
            continue;
        };
        if from != to {
            used.entry(from).or_default().insert(to.clone());
            if !allowed[from].contains(to) {
                wrong.push(import.to_string());
            }
        }
    }
    assert!(wrong.is_empty(), "not allowed:\n{}", wrong.join("\n"));
    for (room, allowed) in &allowed {
        let used = used.remove(room).unwrap_or_default();
        assert_eq!(&used, allowed, "what `{room}` imports, and may import");
    }
}

/// Rooms whose folders lie on floors, by a table in their `mod.rs`.
const WITH_FLOORS: [&str; 1] = ["runtime"];

/// The floors of a room by the table "| `floor` | what is there |" in a text, the lowest first.
fn floors(text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `"));
    rows.filter_map(|row| Some(row.split_once('`')?.0.to_owned()))
        .collect()
}

#[test]
fn floors_import_what_lies_below_them() {
    let (all, modules) = imports::all(&source());
    for room in WITH_FLOORS {
        let text = fs::read_to_string(source().join(room).join("mod.rs"));
        let floors = floors(&text.expect("the room is a folder"));
        let folder = |module: &Module| match module.as_slice() {
            [first, folder, ..] if first == room => Some(folder.clone()),
            _ => None,
        };
        let found: BTreeSet<String> = modules.iter().filter_map(folder).collect();
        let listed: BTreeSet<String> = floors.iter().cloned().collect();
        assert_eq!(
            found, listed,
            "the folders of `{room}`, and those of its table"
        );
        let floor = |module: &Module| {
            let folder = folder(module)?;
            floors.iter().position(|it| *it == folder)
        };
        let upward = all.iter().filter(|import| {
            let floors = floor(&import.from).zip(floor(&import.to));
            floors.is_some_and(|(from, to)| from < to)
        });
        let upward: Vec<String> = upward.map(ToString::to_string).collect();
        assert!(upward.is_empty(), "upward:\n{}", upward.join("\n"));
    }
}

/// The imports between two modules of which neither lies within the other.
fn between_siblings(import: &&Import) -> bool {
    !import.to.starts_with(&import.from) && !import.from.starts_with(&import.to)
}

#[test]
fn no_modules_import_each_other_in_a_circle() {
    let (all, _) = imports::all(&source());
    let arrows: Vec<&Import> = all.iter().filter(between_siblings).collect();
    assert!(arrows.len() > 1000, "the imports are not read");
    let circles = circles(&arrows);
    let lines = circles.iter().map(|circle| {
        let within = |it: &&&Import| circle.contains(&it.from) && circle.contains(&it.to);
        let lines = arrows.iter().filter(within).map(ToString::to_string);
        lines.collect::<Vec<_>>().join("\n")
    });
    let lines: Vec<String> = lines.collect();
    assert!(circles.is_empty(), "circles:\n{}", lines.join("\n\n"));
}

/// A file that no module names is compiled by nobody.
#[test]
fn every_file_is_a_module() {
    let (_, modules) = imports::all(&source());
    let declared = imports::declared(&source());
    assert!(declared.len() > 300, "the source is not read");
    // What lies below a module of tests is not read, nor is that.
    let is_read = |module: &&Module| match module.split_last() {
        Some((_, parent)) => modules.iter().any(|it| it == parent),
        None => false,
    };
    let mut stray = (modules.iter().filter(is_read)).filter(|module| !declared.contains(*module));
    assert_eq!(stray.next(), None, "`mod` names it nowhere");
}

/// How many methods a queue may have for others: what takes several of its parts is a function.
const MOST_METHODS_OF_QUEUE: usize = 25;

#[test]
fn a_queue_is_a_facade() {
    let methods = imports::methods(&source(), "Queue");
    assert!(methods.len() > 10, "the queue is not read");
    assert!(methods.len() <= MOST_METHODS_OF_QUEUE, "{methods:?}");
}

#[test]
fn state_of_the_process_is_listed_with_the_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("docs/architecture.md")).expect("it is there");
    let is_listed = |name: &str, file: &str| {
        let mut rows = document.lines().filter(|line| line.starts_with("| `"));
        rows.any(|row| row.contains(&format!("`{name}`")) && row.contains(&format!("`{file}`")))
    };
    let state = imports::state(&source());
    assert!(state.len() > 20, "the source is not read");
    let missing = state.iter().filter_map(|(path, name)| {
        let file = path.strip_prefix(root).expect("it lies below");
        let file = file.to_string_lossy();
        (!is_listed(name, &file)).then(|| format!("{file}: {name}"))
    });
    let missing: Vec<String> = missing.collect();
    assert!(
        missing.is_empty(),
        "not in docs/architecture.md:\n{}",
        missing.join("\n")
    );
}

/// Where drivers are told apart, and where Vulkan is asked which one it is.
const TELL_DRIVERS_APART: [&str; 3] = [
    "drivers/",
    "vulkan/query_info.rs",
    "vulkan/query_properties.rs",
];

#[test]
fn nothing_else_tells_drivers_apart() {
    let files = imports::texts(&source());
    assert!(files.len() > 300, "the source is not read");
    let names = |text: &str| text.contains("driver_id") || text.contains("DriverId::");
    let askers: BTreeSet<&str> = (files.iter())
        .filter(|(_, text)| names(text))
        .filter_map(|(path, _)| {
            TELL_DRIVERS_APART
                .into_iter()
                .find(|it| path.starts_with(it))
        })
        .collect();
    assert!(askers.contains("vulkan/query_info.rs"), "nobody asks");
    let others = files.iter().filter(|(path, text)| {
        names(text) && !TELL_DRIVERS_APART.iter().any(|it| path.starts_with(it))
    });
    let others: Vec<&String> = others.map(|(path, _)| path).collect();
    assert!(others.is_empty(), "they compare drivers: {others:?}");
}

/// What the compiler makes depends on what it is given alone: that is what its cache goes by.
#[test]
fn the_compiler_reads_no_environment_and_no_clock() {
    let files = imports::texts(&source());
    let compiler = files
        .iter()
        .filter(|(path, _)| path.starts_with("compiler/"));
    let reads = [
        "env::var",
        "Instant::",
        "SystemTime::",
        "Config::of_process",
    ];
    let wrong: Vec<String> = compiler
        .flat_map(|(path, text)| {
            let found = reads.into_iter().filter(|it| text.contains(it));
            found.map(move |it| format!("{path}: {it}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
