//! Tables and plots of figures, written by the benchmarks themselves: Markdown and SVG.

use std::fmt::Write;
use std::path::Path;

/// Whether a small figure is a good one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
}

/// One measurement on every subject that could take it.
pub struct Row {
    pub name: String,
    pub unit: &'static str,
    pub better: Better,
    pub values: Vec<Option<f64>>,
}

/// Figures of several subjects; the first is the one that the others are compared with.
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    pub rows: Vec<Row>,
    /// Whether the columns measure the same thing.
    pub compares: bool,
}

/// Colours of the subjects, in order.
const COLOURS: [&str; 6] = [
    "#2563a8", "#c2571a", "#4b8b3b", "#7a4a9e", "#b03060", "#5f6b6d",
];

impl Row {
    /// How many times better the first subject is than that of `column`.
    pub fn ratio(&self, column: usize) -> Option<f64> {
        let first = (*self.values.first()?)?;
        let other = (*self.values.get(column)?)?;
        Some(match self.better {
            Better::Less => other / first,
            Better::More => first / other,
        })
    }
}

impl Table {
    pub fn new(title: &str, columns: &[String]) -> Self {
        Self {
            title: title.to_owned(),
            columns: columns.to_vec(),
            rows: Vec::new(),
            compares: true,
        }
    }

    /// Puts a figure in; the row is made by the first subject that has it.
    pub fn put(
        &mut self,
        column: usize,
        name: &str,
        unit: &'static str,
        better: Better,
        value: f64,
    ) {
        let index = match self.rows.iter().position(|row| row.name == name) {
            Some(index) => index,
            None => {
                self.rows.push(Row {
                    name: name.to_owned(),
                    unit,
                    better,
                    values: vec![None; self.columns.len()],
                });
                self.rows.len() - 1
            }
        };
        self.rows[index].values[column] = Some(value);
    }

    /// Geometric mean of the ratios against `column`.
    pub fn mean_ratio(&self, column: usize) -> Option<f64> {
        let logs: Vec<f64> = self
            .rows
            .iter()
            .filter_map(|row| Some(row.ratio(column)?.ln()))
            .collect();
        (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    /// The table, with in brackets how many times better the first subject is.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n|  |", self.title);
        for column in &self.columns {
            let _ = write!(text, " {column} |");
        }
        text.push_str("\n|---|");
        text.push_str(&"---:|".repeat(self.columns.len()));
        text.push('\n');
        for row in &self.rows {
            let _ = write!(text, "| {} ({}) |", row.name, row.unit);
            for column in 0..self.columns.len() {
                let Some(value) = row.values[column] else {
                    text.push_str(" – |");
                    continue;
                };
                let _ = match row.ratio(column).filter(|_| column > 0 && self.compares) {
                    Some(ratio) => write!(text, " {} ({ratio:.2}) |", short(value)),
                    None => write!(text, " {} |", short(value)),
                };
            }
            text.push('\n');
        }
        text
    }

    /// Bars of the ratios on a logarithmic scale: to the right of 1 the first subject is better.
    pub fn svg(&self) -> String {
        const LEFT: f64 = 330.0;
        const WIDTH: f64 = 480.0;
        const BAR: f64 = 11.0;
        let others = self.columns.len().saturating_sub(1).max(1);
        let row_height = BAR * others as f64 + 7.0;
        let top = 40.0 + 16.0 * others as f64;
        let height = top + row_height * self.rows.len() as f64 + 30.0;
        let mut svg = open_svg(LEFT + WIDTH + 70.0, height, &self.title);
        for (index, column) in self.columns.iter().enumerate().skip(1) {
            let y = 24.0 + 16.0 * index as f64;
            let first = &self.columns[0];
            text(
                &mut svg,
                10.0,
                y,
                "start",
                COLOURS[(index - 1) % COLOURS.len()],
                &format!("■ {first} against {column} (1: as good; to the right: better)"),
            );
        }
        // A tenth to ten times.
        let x_of = |ratio: f64| LEFT + WIDTH * (ratio.clamp(0.1, 10.0).log10() + 1.0) / 2.0;
        for mark in [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0] {
            let x = x_of(mark);
            let colour = if (1.0..=1.0).contains(&mark) {
                "#333"
            } else {
                "#ddd"
            };
            line(&mut svg, (x, top), (x, height - 26.0), colour);
            text(&mut svg, x, height - 12.0, "middle", "#333", &short(mark));
        }
        for (index, row) in self.rows.iter().enumerate() {
            let y = top + row_height * index as f64;
            let name = format!("{} ({})", row.name, row.unit);
            text(&mut svg, LEFT - 8.0, y + BAR, "end", "#333", &name);
            for column in 1..self.columns.len() {
                let Some(ratio) = row.ratio(column).filter(|ratio| ratio.is_finite()) else {
                    continue;
                };
                let (one, end) = (x_of(1.0), x_of(ratio));
                let y = y + BAR * (column - 1) as f64;
                let _ = writeln!(
                    svg,
                    r#"<rect x="{:.1}" y="{:.1}" width="{:.1}" height="{}" fill="{}"/>"#,
                    one.min(end),
                    y + 2.0,
                    (end - one).abs().max(1.0),
                    BAR - 2.0,
                    COLOURS[(column - 1) % COLOURS.len()]
                );
                let place = end.max(one) + 4.0;
                text(&mut svg, place, y + BAR, "start", "#333", &short(ratio));
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// A quantity against another one for several subjects, on logarithmic axes.
pub struct Plot {
    pub title: String,
    pub x: &'static str,
    pub y: &'static str,
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

impl Plot {
    pub fn new(title: &str, x: &'static str, y: &'static str) -> Self {
        Self {
            title: title.to_owned(),
            x,
            y,
            curves: Vec::new(),
        }
    }

    /// The same figures as a table: one row for each x.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n| {} |", self.title, self.x);
        for (name, _) in &self.curves {
            let _ = write!(text, " {name} ({}) |", self.y);
        }
        text.push_str("\n|---:|");
        text.push_str(&"---:|".repeat(self.curves.len()));
        text.push('\n');
        let mut xs: Vec<f64> = self.points().map(|(x, _)| x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        for x in xs {
            let _ = write!(text, "| {x} |");
            for (_, points) in &self.curves {
                let _ = match points.iter().find(|point| point.0 == x) {
                    Some((_, y)) => write!(text, " {} |", short(*y)),
                    None => write!(text, " – |"),
                };
            }
            text.push('\n');
        }
        text
    }

    pub fn svg(&self) -> String {
        const SIZE: (f64, f64) = (640.0, 360.0);
        const CORNER: (f64, f64) = (70.0, 50.0);
        let mut svg = open_svg(SIZE.0 + 190.0, SIZE.1 + 110.0, &self.title);
        let points = || self.points().filter(|(x, y)| *x > 0.0 && *y > 0.0);
        let range = |of: fn((f64, f64)) -> f64| {
            let (low, high) = points()
                .map(of)
                .fold((f64::MAX, f64::MIN_POSITIVE), |r, v| {
                    (r.0.min(v), r.1.max(v))
                });
            let low = low.log10().floor();
            (low, high.log10().ceil().max(low + 1.0))
        };
        let (x_low, x_high) = range(|point| point.0);
        let (y_low, y_high) = range(|point| point.1);
        let place = |(x, y): (f64, f64)| {
            (
                CORNER.0 + SIZE.0 * (x.log10() - x_low) / (x_high - x_low),
                CORNER.1 + SIZE.1 * (y_high - y.log10()) / (y_high - y_low),
            )
        };
        let mut decade = x_low;
        while decade <= x_high {
            let (x, bottom) = place((10f64.powf(decade), 10f64.powf(y_low)));
            line(&mut svg, (x, CORNER.1), (x, bottom), "#ddd");
            let label = short(10f64.powf(decade));
            text(&mut svg, x, bottom + 16.0, "middle", "#333", &label);
            decade += 1.0;
        }
        decade = y_low;
        while decade <= y_high {
            let (left, y) = place((10f64.powf(x_low), 10f64.powf(decade)));
            line(&mut svg, (left, y), (left + SIZE.0, y), "#ddd");
            let label = short(10f64.powf(decade));
            text(&mut svg, left - 6.0, y + 4.0, "end", "#333", &label);
            decade += 1.0;
        }
        let below = CORNER.1 + SIZE.1 + 40.0;
        text(
            &mut svg,
            CORNER.0 + SIZE.0 / 2.0,
            below,
            "middle",
            "#333",
            self.x,
        );
        text(&mut svg, 10.0, 40.0, "start", "#333", self.y);
        for (index, (name, points)) in self.curves.iter().enumerate() {
            let colour = COLOURS[index % COLOURS.len()];
            let points: Vec<String> = points
                .iter()
                .filter(|(x, y)| *x > 0.0 && *y > 0.0)
                .map(|point| place(*point))
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            let _ = writeln!(
                svg,
                r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"#,
                points.join(" ")
            );
            let y = CORNER.1 + 16.0 * (index + 1) as f64;
            text(&mut svg, CORNER.0 + SIZE.0 + 10.0, y, "start", colour, name);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.curves
            .iter()
            .flat_map(|(_, points)| points.iter().copied())
    }
}

/// Writes a file into `folder`, which is made if need be.
pub fn save(folder: &Path, name: &str, content: &str) -> super::Result<()> {
    std::fs::create_dir_all(folder)?;
    Ok(std::fs::write(folder.join(name), content)?)
}

/// Three digits that matter.
fn short(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => "?".to_owned(),
        size if size <= 0.0 => "0".to_owned(),
        size if size >= 1e6 => format!("{value:.1e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.995 => format!("{value:.2}"),
        size if size >= 0.001 => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

fn open_svg(width: f64, height: f64, title: &str) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    text(&mut svg, 10.0, 20.0, "start", "#000", title);
    svg
}

fn line(svg: &mut String, from: (f64, f64), to: (f64, f64), colour: &str) {
    let _ = writeln!(
        svg,
        r#"<line x1="{:.1}" y1="{:.1}" x2="{:.1}" y2="{:.1}" stroke="{colour}"/>"#,
        from.0, from.1, to.0, to.1
    );
}

fn text(svg: &mut String, x: f64, y: f64, anchor: &str, colour: &str, content: &str) {
    let content = content
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let _ = writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="{colour}">{content}</text>"#
    );
}
