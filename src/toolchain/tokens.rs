//! The tokens of a C source, as far as it takes to find declarations: words, punctuation, directives.

/// One token. Comments are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// An identifier or keyword.
    Word(&'a str),
    /// One character.
    Punctuation(u8),
    /// A number, a character or a string.
    Literal,
    /// A preprocessor directive with its `#`, over continued lines.
    Directive(&'a str),
}

/// Reads tokens one by one.
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// Whether nothing but space stands before on the line.
    starts_line: bool,
}

impl<'a> Tokens<'a> {
    /// The tokens of a text.
    pub fn of(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            starts_line: true,
        }
    }

    /// The tokens of a part of a line, where `#` is no directive.
    pub fn of_line(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            starts_line: false,
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_while(&mut self, is_part: impl Fn(u8) -> bool) {
        while self.byte(0).is_some_and(&is_part) {
            self.at += 1;
        }
    }

    /// The length of a backslash and the end of the line.
    fn continuation(&self) -> Option<usize> {
        match (self.byte(0), self.byte(1), self.byte(2)) {
            (Some(b'\\'), Some(b'\n'), _) => Some(2),
            (Some(b'\\'), Some(b'\r'), Some(b'\n')) => Some(3),
            _ => None,
        }
    }

    /// To the end of the line, which a backslash puts off.
    fn skip_line(&mut self) {
        while let Some(byte) = self.byte(0) {
            match self.continuation() {
                Some(length) => self.at += length,
                None if byte == b'\n' => return,
                None => self.at += 1,
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let rest = self.text.as_bytes().get(self.at + 2..).unwrap_or_default();
        let end = rest.windows(2).position(|two| two == b"*/");
        self.at += end.map_or(rest.len() + 2, |end| end + 4);
    }

    /// To the end of a directive, whose comments may go on over lines.
    fn skip_directive(&mut self) {
        while let Some(byte) = self.byte(0) {
            match (byte, self.byte(1)) {
                (b'/', Some(b'*')) => self.skip_block_comment(),
                (b'/', Some(b'/')) => return self.skip_line(),
                (b'\n', _) => return,
                _ => self.at += self.continuation().unwrap_or(1),
            }
        }
    }

    /// A string or character; without its closing quote it ends with the line.
    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += self.continuation().unwrap_or(2),
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = self.byte(0)?;
            match (byte, self.byte(1)) {
                (b'\n', _) => {
                    self.starts_line = true;
                    self.at += 1;
                }
                (byte, _) if byte.is_ascii_whitespace() => self.at += 1,
                (b'\\', _) if self.continuation().is_some() => {
                    self.at += self.continuation().unwrap_or(1);
                }
                (b'/', Some(b'/')) => self.skip_line(),
                (b'/', Some(b'*')) => self.skip_block_comment(),
                _ => break,
            }
        }
        let (start, starts_line) = (self.at, std::mem::take(&mut self.starts_line));
        let byte = self.byte(0)?;
        let since = |tokens: &Self| tokens.text.get(start..tokens.at).unwrap_or_default();
        Some(match (byte, self.byte(1)) {
            (b'#', _) if starts_line => {
                self.skip_directive();
                Token::Directive(since(self))
            }
            (b'"' | b'\'', _) => {
                self.skip_quoted(byte);
                Token::Literal
            }
            (b'0'..=b'9', _) | (b'.', Some(b'0'..=b'9')) => {
                self.skip_while(|byte| is_word(byte) || byte == b'.');
                Token::Literal
            }
            (byte, _) if is_word(byte) => {
                self.skip_while(is_word);
                Token::Word(since(self))
            }
            _ => {
                self.at += 1;
                Token::Punctuation(byte)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Token::{Directive, Literal, Punctuation, Word};
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        Tokens::of(text).collect()
    }

    #[test]
    fn words_numbers_and_strings() {
        assert_eq!(
            all("a1 = .5e-3f + 'x' + \"y\\\"z\" # b\\\nc"),
            [
                Word("a1"),
                Punctuation(b'='),
                Literal,
                Punctuation(b'-'),
                Literal,
                Punctuation(b'+'),
                Literal,
                Punctuation(b'+'),
                Literal,
                Punctuation(b'#'),
                Word("b"),
                Word("c"),
            ]
        );
    }

    #[test]
    fn comments_are_left_out_and_directives_are_whole() {
        assert_eq!(
            all("/* { */ a // {\n # define X /* \n */ { \\\n } // \\\n z\nb"),
            [
                Word("a"),
                Directive("# define X /* \n */ { \\\n } // \\\n z"),
                Word("b"),
            ]
        );
        assert_eq!(all("/* never closed"), []);
        assert_eq!(all("\"never closed\nx"), [Literal, Word("x")]);
        assert_eq!(all("\\"), [Punctuation(b'\\')]);
    }
}
