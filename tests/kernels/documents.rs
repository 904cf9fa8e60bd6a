//! `docs/group-functions.md`: a table of functions and the tests that show them, which must be true.

use super::harness::session;
use super::{Test, all};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

pub const TESTS: &[Test] = &[("functions_have_their_tests", functions_have_their_tests)];

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

fn rows() -> Vec<Row<'static>> {
    let lines = TABLE.lines().filter(|line| line.starts_with("| `"));
    lines
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [word, test, lavapipe, swiftshader, h200] = cells[..] else {
                panic!("a row of another form: {line}");
            };
            Row {
                word: word.trim_matches('`'),
                test,
                columns: [lavapipe, swiftshader, h200],
            }
        })
        .collect()
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
    let rows = rows();
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
