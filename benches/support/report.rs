//! Everything that a run of a benchmark found: printed, and written as files.

use super::table::{Curves, Table};
use super::{Result, plot};
use std::path::Path;

/// Tables and curves in the order in which they are shown.
#[derive(Default)]
pub struct Report {
    /// Text that goes before.
    pub notes: String,
    pub tables: Vec<Table>,
    pub curves: Vec<Curves>,
}

impl Report {
    /// The curves of that title, made where there are none.
    pub fn curves(&mut self, title: &str, x: &'static str, y: &'static str) -> &mut Curves {
        let index = self.curves.iter().position(|it| it.title == title);
        let index = index.unwrap_or_else(|| {
            self.curves.push(Curves::new(title, x, y));
            self.curves.len() - 1
        });
        &mut self.curves[index]
    }

    /// Prints everything that has figures. With `out` it is written into that folder as well, as `NAME.md` and one
    /// plot for each table that compares and for all curves.
    pub fn show(&self, name: &str, out: Option<&Path>) -> Result<()> {
        let tables: Vec<&Table> = self
            .tables
            .iter()
            .filter(|it| !it.rows.is_empty())
            .collect();
        let mut text = self.notes.clone();
        for markdown in tables
            .iter()
            .map(|table| table.markdown())
            .chain(self.curves.iter().map(Curves::markdown))
        {
            text.push('\n');
            text.push_str(&markdown);
        }
        print!("{text}");
        let Some(folder) = out else {
            return Ok(());
        };
        std::fs::create_dir_all(folder)?;
        std::fs::write(folder.join(format!("{name}.md")), &text)?;
        let file = |title: &str| folder.join(format!("{name}-{}.svg", slug(title)));
        for table in tables.iter().filter(|table| table.compares) {
            std::fs::write(file(&table.title), plot::ratios(table)?)?;
        }
        for curves in &self.curves {
            std::fs::write(file(&curves.title), plot::curves(curves)?)?;
        }
        Ok(())
    }
}

/// Writes a plot, and says where.
pub fn save_plot(file: &Path, svg: &str) -> Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(file, svg)?;
    println!("\nplot: {}", file.display());
    Ok(())
}

/// A title as part of a file's name.
fn slug(title: &str) -> String {
    let letters = title.chars().map(|it| {
        if it.is_ascii_alphanumeric() {
            it.to_ascii_lowercase()
        } else {
            '-'
        }
    });
    let text: String = letters.collect();
    let words: Vec<&str> = text.split('-').filter(|word| !word.is_empty()).collect();
    words.join("-")
}
