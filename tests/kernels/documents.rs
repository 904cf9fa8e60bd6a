//! `docs/group-functions.md`: a table of functions and the tests that show them, which must be true; and the
//! summary of it in `README.md`.

use super::harness::session;
use super::{Test, all};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

pub const TESTS: &[Test] = &[
    ("functions_have_their_tests", functions_have_their_tests),
    ("the_summary_counts_them", the_summary_counts_them),
];

const TABLE: &str = include_str!("../../docs/group-functions.md");

/// What became of a test.
struct Ran {
    skipped: bool,
    words: BTreeSet<String>,
}

static RAN: Mutex<BTreeMap<String, Ran>> = Mutex::new(BTreeMap::new());

/// Remembers a test that has run, and the words of its programs.
pub fn remember(test: &str, skipped: bool, words: BTreeSet<String>) {
    let mut all = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    all.insert(test.to_owned(), Ran { skipped, words });
}

struct Row<'a> {
    word: &'a str,
    test: &'a str,
    /// Of lavapipe, SwiftShader, the H200.
    columns: [&'a str; 3],
}

/// The rows of a text's table.
fn rows(text: &str) -> Vec<Row<'_>> {
    let lines = text.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let [word, test, lavapipe, swiftshader, h200] = cells(line)[..] else {
                panic!("a row of another form: {line}");
            };
            Row {
                // What follows tells forms of a function apart.
                word: word.split('`').nth(1).unwrap_or_default(),
                test,
                columns: [lavapipe, swiftshader, h200],
            }
        })
        .collect()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// The summary has a line for each document: the number of its functions, and whether each device has them all.
fn the_summary_counts_them() {
    let summary = include_str!("../../README.md");
    let documents: Vec<&str> = TABLE.split("\n## ").skip(1).collect();
    assert_eq!(documents.len(), 5);
    for document in documents {
        let title = document.lines().next().unwrap_or_default();
        let rows = rows(document);
        let functions: BTreeSet<&str> = rows.iter().map(|row| row.word).collect();
        let all = |device: usize| {
            if rows.iter().all(|row| row.columns[device] == "yes") {
                "all"
            } else {
                "unseen"
            }
        };
        let count = functions.len().to_string();
        let line = summary
            .lines()
            .find(|line| line.starts_with(&format!("| {title} |")))
            .unwrap_or_else(|| panic!("README.md has no line for {title}"));
        let [_, found, _, devices @ ..] = &cells(line)[..] else {
            panic!("a row of another form: {line}");
        };
        assert_eq!(
            (*found, devices),
            (&*count, &[all(0), all(1), all(2)][..]),
            "{title}"
        );
    }
}

/// Every test that is named exists; of those that have run in this process (all, without a filter), every one
/// has used the word, and was skipped where the device's column says so and nowhere else.
fn functions_have_their_tests() {
    let name = session().map_or(String::new(), |session| session.name());
    let device = ["llvmpipe", "SwiftShader", "NVIDIA"]
        .iter()
        .position(|part| name.contains(part));
    let tests: BTreeSet<String> = all()
        .map(|(group, (test, _))| format!("{group}::{test}"))
        .collect();
    let ran = RAN.lock().unwrap_or_else(PoisonError::into_inner);
    let rows = rows(TABLE);
    assert!(rows.len() > 150, "the table is there");
    let mut wrong = Vec::new();
    for Row {
        word,
        test,
        columns,
    } in rows
    {
        if !tests.contains(test) {
            wrong.push(format!("{word}: there is no test {test}"));
        }
        let Some(ran) = ran.get(test) else { continue };
        if !ran.skipped && !ran.words.contains(word) {
            wrong.push(format!("{word}: {test} does not use it"));
        }
        match device.map(|device| columns[device]) {
            Some("yes") if ran.skipped => wrong.push(format!("{word}: {test} was skipped")),
            Some("no") if !ran.skipped => wrong.push(format!("{word}: {test} was not skipped")),
            Some("yes" | "no" | "unseen") | None => {}
            Some(other) => wrong.push(format!("{word}: the column says {other}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
