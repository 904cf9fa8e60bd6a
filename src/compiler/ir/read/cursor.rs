//! What of a line is still to be read.

use super::Result;

/// What is left of a line.
pub struct Cursor<'a>(pub &'a str);

impl<'a> Cursor<'a> {
    /// Goes behind `text` if that is what comes next.
    pub fn eats(&mut self, text: &str) -> bool {
        let rest = self.0.strip_prefix(text);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    pub fn needs(&mut self, text: &str) -> Result<()> {
        if self.eats(text) {
            return Ok(());
        }
        Err(format!("\"{text}\" is missing before \"{}\"", self.0))
    }

    /// Letters, digits, underscores and points.
    pub fn word(&mut self) -> Result<&'a str> {
        let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.0.find(|c| !is_inside(c)).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        if word.is_empty() {
            return Err(format!("a word is missing before \"{rest}\""));
        }
        Ok(word)
    }

    pub fn number(&mut self) -> Result<u64> {
        let word = self.word()?;
        let number = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        number.map_err(|_| format!("{word} is no number"))
    }

    /// The number behind a name.
    pub fn named(&mut self, name: &str) -> Result<u64> {
        self.needs(name)?;
        self.number()
    }

    pub fn quoted(&mut self) -> Result<String> {
        self.needs("\"")?;
        let (text, rest) = self.0.split_once('"').ok_or("a name has no end")?;
        self.0 = rest;
        Ok(text.to_owned())
    }

    /// Sees to it that entities stand in the order of their numbers.
    pub fn is_next(&mut self, count: usize) -> Result<()> {
        match self.number()? {
            number if number == count as u64 => Ok(()),
            number => Err(format!("number {number} is the {count}th")),
        }
    }

    pub fn is_at_end(&self) -> Result<()> {
        match self.0.trim_end() {
            "" => Ok(()),
            rest => Err(format!("\"{rest}\" is left")),
        }
    }
}
