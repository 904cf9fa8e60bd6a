//! Sources as text, whatever their encoding.

use std::borrow::Cow;

/// The text of a source or header. OpenCL C says nothing of encodings and applications have sources in Latin-1: bytes
/// that are no UTF-8 become octal escapes, which in a string or character are those bytes again, and in a comment
/// nothing.
pub fn of_source(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + bytes.len() / 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\{byte:03o}"));
        }
    }
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_utf_8_are_escaped() {
        assert!(matches!(
            of_source("caf\u{e9}".as_bytes()),
            Cow::Borrowed("caf\u{e9}")
        ));
        assert_eq!(
            of_source(b"\"caf\xe9\" // \xc3\xa9\xff"),
            "\"caf\\351\" // \u{e9}\\377"
        );
        // A digit behind it stays a digit: an octal escape has three at most.
        assert_eq!(of_source(b"\"\xe97\""), "\"\\3517\"");
    }
}
