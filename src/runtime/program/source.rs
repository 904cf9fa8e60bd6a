//! The source of a program, as it was given and as it is compiled.

use crate::toolchain::text::of_source;
use std::borrow::Cow;
use std::collections::TryReserveError;

/// The byte order mark of UTF-8. Editors put it before a text; to a compiler it is no character of a program.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// The strings of `clCreateProgramWithSource`, one after the other.
#[derive(Clone, Debug, Default)]
pub struct Source {
    text: Vec<u8>,
    /// Where strings begin with a byte order mark.
    marks: Vec<usize>,
}

impl Source {
    /// Adds a string.
    ///
    /// # Errors
    /// No memory for it.
    pub fn push(&mut self, string: &[u8]) -> Result<(), TryReserveError> {
        self.text.try_reserve(string.len())?;
        if string.starts_with(MARK) {
            self.marks.try_reserve(1)?;
            self.marks.push(self.text.len());
        }
        self.text.extend_from_slice(string);
        Ok(())
    }

    /// `CL_PROGRAM_SOURCE`: all of it.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// What is compiled: without byte order marks, and with escapes for bytes that are no UTF-8.
    pub fn for_compiler(&self) -> Cow<'_, str> {
        if self.marks.is_empty() {
            return of_source(&self.text);
        }
        let mut text = Vec::with_capacity(self.text.len());
        let mut start = 0;
        for &mark in &self.marks {
            text.extend_from_slice(self.text.get(start..mark).unwrap_or_default());
            start = mark + MARK.len();
        }
        text.extend_from_slice(self.text.get(start..).unwrap_or_default());
        Cow::Owned(of_source(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(strings: &[&str]) -> Source {
        let mut source = Source::default();
        for string in strings {
            source.push(string.as_bytes()).unwrap();
        }
        source
    }

    #[test]
    fn byte_order_marks_are_kept_and_not_compiled() {
        let given = [
            "\u{feff}int a;",
            "\u{feff}",
            "int b; // \u{feff}",
            "\u{feff}int c;",
        ];
        let source = source(&given);
        assert_eq!(source.text(), given.concat().as_bytes());
        assert_eq!(source.for_compiler(), "int a;int b; // \u{feff}int c;");
    }

    #[test]
    fn other_sources_are_compiled_as_they_are() {
        let source = source(&["int a;\n", "int b;"]);
        assert!(matches!(
            source.for_compiler(),
            Cow::Borrowed("int a;\nint b;")
        ));
    }
}
