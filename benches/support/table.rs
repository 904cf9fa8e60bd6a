//! Figures of several subjects as Markdown, in columns that line up.

use std::fmt::Write;

/// What a figure counts, and which of two is the better one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    pub name: &'static str,
    pub less_is_better: bool,
}

impl Unit {
    pub const MICROSECONDS: Self = Self::less("us");
    pub const MILLISECONDS: Self = Self::less("ms");
    pub const BYTES: Self = Self::less("bytes");
    pub const MEBIBYTES: Self = Self::less("MiB");
    pub const GIGABYTES_PER_SECOND: Self = Self::more("GB/s");

    pub const fn less(name: &'static str) -> Self {
        Self {
            name,
            less_is_better: true,
        }
    }

    pub const fn more(name: &'static str) -> Self {
        Self {
            name,
            less_is_better: false,
        }
    }
}

/// One measurement on every subject that could take it.
pub struct Row {
    pub name: String,
    pub unit: Unit,
    pub values: Vec<Option<f64>>,
}

impl Row {
    /// How many times better the first subject is than that of `column`.
    pub fn ratio(&self, column: usize) -> Option<f64> {
        let first = (*self.values.first()?)?;
        let other = (*self.values.get(column)?)?;
        Some(if self.unit.less_is_better {
            other / first
        } else {
            first / other
        })
    }
}

/// Figures of several subjects; the first is the one that the others are compared with.
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// Whether the columns measure the same thing.
    pub compares: bool,
}

impl Table {
    pub fn new(title: &str, columns: &[String]) -> Self {
        Self {
            title: title.to_owned(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            compares: columns.len() > 1,
        }
    }

    /// A table whose columns are not compared with each other.
    pub fn of_parts(title: &str, columns: &[String]) -> Self {
        Self {
            compares: false,
            ..Self::new(title, columns)
        }
    }

    /// Puts a figure in; the row is made by the first subject that has it.
    pub fn put(&mut self, column: usize, name: &str, unit: Unit, value: f64) {
        let same = |row: &Row| row.name == name && row.unit == unit;
        let index = self.rows.iter().position(same).unwrap_or_else(|| {
            self.rows.push(Row {
                name: name.to_owned(),
                unit,
                values: vec![None; self.columns.len()],
            });
            self.rows.len() - 1
        });
        self.rows[index].values[column] = Some(value);
    }

    /// Geometric mean of the ratios against `column`.
    pub fn mean_ratio(&self, column: usize) -> Option<f64> {
        let ratios = self.rows.iter().filter_map(|row| row.ratio(column));
        let logs: Vec<f64> = ratios.map(f64::ln).collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    /// The table, with in brackets how many times better the first subject is, and their geometric means.
    pub fn markdown(&self) -> String {
        let mut lines = vec![vec![String::new()]];
        lines[0].extend(self.columns.iter().cloned());
        for row in &self.rows {
            let mut cells = vec![format!("{} ({})", row.name, row.unit.name)];
            for (column, value) in row.values.iter().enumerate() {
                let ratio = row.ratio(column).filter(|_| column > 0 && self.compares);
                cells.push(match (value, ratio) {
                    (None, _) => "–".to_owned(),
                    (Some(value), None) => short(*value),
                    (Some(value), Some(ratio)) => format!("{} ({ratio:.2})", short(*value)),
                });
            }
            lines.push(cells);
        }
        if self.compares && self.rows.len() > 1 {
            let mut cells = vec!["geometric mean of the ratios".to_owned(), String::new()];
            let means = (1..self.columns.len()).map(|column| self.mean_ratio(column));
            cells.extend(means.map(|it| it.map_or("–".to_owned(), |mean| format!("({mean:.2})"))));
            lines.push(cells);
        }
        markdown(&self.title, &lines)
    }
}

/// Quantities against another one, for several subjects.
pub struct Curves {
    pub title: String,
    pub x: &'static str,
    pub y: &'static str,
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

impl Curves {
    pub fn new(title: &str, x: &'static str, y: &'static str) -> Self {
        Self {
            title: title.to_owned(),
            x,
            y,
            curves: Vec::new(),
        }
    }

    /// Adds a point to the curve of that name.
    pub fn put(&mut self, name: &str, x: f64, y: f64) {
        match self.curves.iter_mut().find(|curve| curve.0 == name) {
            Some((_, points)) => points.push((x, y)),
            None => self.curves.push((name.to_owned(), vec![(x, y)])),
        }
    }

    /// What the curve of that name has at `x`.
    pub fn at(&self, name: &str, x: f64) -> Option<f64> {
        let (_, points) = self.curves.iter().find(|curve| curve.0 == name)?;
        Some(points.iter().find(|point| point.0 == x)?.1)
    }

    /// One row for each x.
    pub fn markdown(&self) -> String {
        let mut lines = vec![vec![format!("{} \\ {}", self.x, self.y)]];
        lines[0].extend(self.curves.iter().map(|(name, _)| name.clone()));
        let points = self.curves.iter().flat_map(|(_, points)| points);
        let mut xs: Vec<f64> = points.map(|(x, _)| *x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        for x in xs {
            let mut cells = vec![format!("{x}")];
            for (name, _) in &self.curves {
                let y = self.at(name, x);
                cells.push(y.map_or("–".to_owned(), short));
            }
            lines.push(cells);
        }
        markdown(&self.title, &lines)
    }
}

/// A table of Markdown: the first line is the head, the first column stands to the left.
fn markdown(title: &str, lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
            .max(3)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = format!("## {title}\n\n");
    for (index, line) in lines.iter().enumerate() {
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let _ = match column {
                0 => write!(text, "| {cell:width$} |"),
                _ => write!(text, " {cell:>width$} |"),
            };
        }
        text.push('\n');
        if index == 0 {
            for (column, width) in widths.iter().enumerate() {
                let _ = match column {
                    0 => write!(text, "|{}|", "-".repeat(width + 2)),
                    _ => write!(text, "{}:|", "-".repeat(width + 1)),
                };
            }
            text.push('\n');
        }
    }
    text
}

/// Three digits that matter.
pub fn short(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "?".to_owned(),
        size if size <= 0.0 => "0".to_owned(),
        size if size >= 1e6 => format!("{value:.2e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.995 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}
