//! `docs/group-functions.md`: a table of functions and the tests that show them, which must be true; and the
//! summary of it in `README.md`.

use super::harness::{has_used, is_skipped, session};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::process::Command;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../../docs/group-functions.md");

/// The tests that the table names.
static DOCUMENTED: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| rows(TABLE).iter().map(|row| row.test).collect());

thread_local! {
    /// Whether what the running test has done will be compared with its rows.
    static IS_CHECKED: Cell<bool> = const { Cell::new(false) };
}

/// Compares what a test has done with its rows of the table, when the test ends.
#[must_use]
pub struct Check {
    test: String,
}

/// The check of the running test, which the test holds to its end.
///
/// # Panics
/// No row names the test.
pub fn this_test() -> Check {
    let test = running_test().unwrap_or_default();
    assert!(DOCUMENTED.contains(&*test), "no row names {test}");
    IS_CHECKED.set(true);
    Check { test }
}

/// Sees to it that the running test is checked if the table names it.
///
/// # Panics
/// It is named and is not checked.
pub fn expect_check() {
    let test = running_test().unwrap_or_default();
    let is_checked = IS_CHECKED.get() || !DOCUMENTED.contains(&*test);
    assert!(is_checked, "{test} has rows, but no check of them");
}

/// The name of the running test, which is that of its thread.
fn running_test() -> Option<String> {
    std::thread::current().name().map(str::to_owned)
}

impl Drop for Check {
    /// Every word was used, and the test was skipped where the device's column says so and nowhere else.
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let name = session().name();
        let device = ["llvmpipe", "SwiftShader", "NVIDIA"]
            .iter()
            .position(|part| name.contains(part));
        let mut wrong = Vec::new();
        for row in rows(TABLE).iter().filter(|row| row.test == self.test) {
            let word = row.word;
            if !is_skipped() && !has_used(word) {
                wrong.push(format!("{word}: is not used"));
            }
            match device.map(|device| row.columns[device]) {
                Some("yes") if is_skipped() => wrong.push(format!("{word}: was skipped")),
                Some("no") if !is_skipped() => wrong.push(format!("{word}: was not skipped")),
                Some("yes" | "no" | "unseen") | None => {}
                Some(other) => wrong.push(format!("{word}: the column says {other}")),
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
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
#[test]
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

/// Every test that is named exists. Whether it uses the word is its own [`Check`].
#[test]
fn functions_have_their_tests() {
    let this = std::env::current_exe().expect("a running test has a path");
    let listed = Command::new(this)
        .args(["--list", "--format", "terse"])
        .output();
    let listed = String::from_utf8(listed.expect("it can be started").stdout).expect("text");
    let tests: BTreeSet<&str> = listed
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    let rows = rows(TABLE);
    assert!(rows.len() > 150, "the table is there");
    let wrong: Vec<String> = rows
        .iter()
        .filter(|row| !tests.contains(row.test))
        .map(|row| format!("{}: there is no test {}", row.word, row.test))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
