//! The programs: their files, and what the comments at the head of each say.

use std::path::{Path, PathBuf};

/// Stands before each program's text.
const BEFORE: &str = include_str!("common.h");
/// Stands after it.
const AFTER: &str = include_str!("entry.h");

/// Where the programs lie.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs");

/// One program of the folder.
pub struct Program {
    /// Its folder and file without the ending: `sorts/heap`.
    pub name: String,
    text: String,
    path: PathBuf,
    /// Words of input and of output that each unit has.
    inputs: usize,
    outputs: usize,
    /// Whether a unit is a work-group; else it is a work-item.
    grouped: bool,
    /// How far apart results may be; none where they must be bit-equal.
    pub tolerance: Option<Tolerance>,
    runs: Vec<Run>,
}

/// How far the words of results, which are floats, may be apart: a distance that is allowed for each of them.
#[derive(Clone, Copy)]
pub struct Tolerance {
    pub relative: f32,
    pub absolute: f32,
}

/// One way to run a program: where its working memory is, of which elements, and in how many work-items.
struct Run {
    space: String,
    element: String,
    groups: usize,
    group_size: usize,
}

/// A program and one way to run it.
#[derive(Clone)]
pub struct Case {
    pub name: String,
    /// The macros of the run and the program.
    source: String,
    space: String,
    pub tolerance: Option<Tolerance>,
    pub inputs: usize,
    pub outputs: usize,
    pub units: usize,
    pub global_size: usize,
    pub local_size: usize,
    /// Whether the device must have doubles.
    pub double: bool,
}

impl Case {
    /// C for the host, the same for every address space.
    pub fn host_source(&self) -> &str {
        &self.source
    }

    /// OpenCL C.
    pub fn device_source(&self) -> String {
        format!(
            "#define SPACE_{}\n{}",
            self.space.to_uppercase(),
            self.source
        )
    }
}

/// All cases in the order of the programs' names.
///
/// # Panics
/// A program's head can't be read.
pub fn cases() -> Vec<Case> {
    let mut paths = Vec::new();
    for folder in entries(Path::new(FOLDER)) {
        if folder.is_dir() {
            paths.extend(entries(&folder));
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c"));
    paths.sort();
    paths
        .into_iter()
        .map(Program::read)
        .flat_map(|program| program.cases())
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder
        .read_dir()
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.flatten().map(|entry| entry.path()).collect()
}

/// The names of types and what C calls them here.
const ELEMENTS: &[&str] = &[
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64",
];

impl Program {
    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let name = path.strip_prefix(FOLDER).unwrap_or(&path);
        let mut this = Self {
            name: name.with_extension("").display().to_string(),
            text,
            path,
            inputs: 0,
            outputs: 0,
            grouped: false,
            tolerance: None,
            runs: Vec::new(),
        };
        for line in this.text.clone().lines() {
            let Some(line) = line.strip_prefix("// ") else {
                break;
            };
            this.read_line(line)
                .unwrap_or_else(|| panic!("{}: what is `{line}`?", this.path.display()));
        }
        assert!(
            !this.runs.is_empty() && this.outputs > 0,
            "{}: its head needs `words:` and `run:`",
            this.path.display()
        );
        this
    }

    /// Reads one line of the head: `words: IN OUT`, `run: SPACE TYPE GROUPSxITEMS`, `tolerance: RELATIVE ABSOLUTE`,
    /// `grouped:`, or what the program is, which has no colon after its first word.
    fn read_line(&mut self, line: &str) -> Option<()> {
        let Some((key, value)) = line.split_once(':') else {
            return Some(());
        };
        let mut words = value.split_whitespace();
        match key {
            "words" => {
                self.inputs = words.next()?.parse().ok()?;
                self.outputs = words.next()?.parse().ok()?;
            }
            "tolerance" => {
                self.tolerance = Some(Tolerance {
                    relative: words.next()?.parse().ok()?,
                    absolute: words.next()?.parse().ok()?,
                });
            }
            "grouped" => self.grouped = true,
            "run" => {
                let (space, element) = (words.next()?.to_owned(), words.next()?.to_owned());
                let (groups, group_size) = words.next()?.split_once('x')?;
                let known = ["private", "local", "global"].contains(&space.as_str());
                if !known || !ELEMENTS.contains(&element.as_str()) {
                    return None;
                }
                self.runs.push(Run {
                    space,
                    element,
                    groups: groups.parse().ok()?,
                    group_size: group_size.parse().ok()?,
                });
            }
            _ => {}
        }
        Some(())
    }

    fn cases(&self) -> Vec<Case> {
        let case = |run: &Run| {
            let Run {
                space,
                element,
                groups,
                group_size,
            } = run;
            let global_size = groups * group_size;
            Case {
                name: format!("{} {space} {element} {groups}x{group_size}", self.name),
                source: self.source(run),
                space: space.clone(),
                tolerance: self.tolerance,
                inputs: self.inputs,
                outputs: self.outputs,
                units: if self.grouped { *groups } else { global_size },
                global_size,
                local_size: *group_size,
                double: element == "f64",
            }
        };
        self.runs.iter().map(case).collect()
    }

    fn source(&self, run: &Run) -> String {
        let element = match run.element.as_str() {
            "f32" => "float\n#define ELEMENT_FLOAT",
            "f64" => "double\n#define ELEMENT_FLOAT\n#define ELEMENT_DOUBLE",
            other => other,
        };
        let grouped = if self.grouped {
            "#define GROUPED\n"
        } else {
            ""
        };
        format!(
            "#define ELEMENT {element}\n#define GROUP {}\n#define INPUTS {}\n#define OUTPUTS {}\n{grouped}\
             {BEFORE}\n#line 1 \"{}\"\n{}\n#line 1 \"entry.h\"\n{AFTER}",
            run.group_size,
            self.inputs,
            self.outputs,
            self.path.display(),
            self.text,
        )
    }
}
