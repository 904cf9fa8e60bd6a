//! Records of the printf buffer (see [`crate::compiler::printf`]) to text.

use super::format::{Argument, Strings, write_formatted};
use crate::compiler::printf::{PrintfCall, PrintfFormat};

/// Strings in the program's data segment.
pub struct DataStrings<'a> {
    /// Device address of the segment.
    pub address: u64,
    /// What it held at the start: constant memory never changes.
    pub bytes: &'a [u8],
    /// Behind them it is zero up to here.
    pub size_bytes: u64,
}

impl Strings for DataStrings<'_> {
    fn at(&self, address: u64) -> Option<&[u8]> {
        let offset = address.checked_sub(self.address)?;
        if offset > self.size_bytes {
            return None;
        }
        let rest = self.bytes.get(usize::try_from(offset).ok()?..);
        let rest = rest.unwrap_or_default();
        let end = rest.iter().position(|&byte| byte == 0);
        Some(&rest[..end.unwrap_or(rest.len())])
    }
}

/// The text of all records in order. `calls` are those of the kernel that wrote them.
pub fn text(words: &[u32], calls: &[PrintfCall], strings: &dyn Strings) -> Vec<u8> {
    let mut text = Vec::new();
    let mut rest = words;
    // A record that did not fit has no number: it is the last.
    while let Some(call) = rest
        .first()
        .and_then(|&number| calls.get((number as usize).checked_sub(1)?))
    {
        let Some((record, after)) = rest.split_at_checked(call.record_words()) else {
            break;
        };
        rest = after;
        append(&mut text, record, call, strings);
    }
    text
}

fn append(text: &mut Vec<u8>, record: &[u32], call: &PrintfCall, strings: &dyn Strings) {
    let mut words = record.iter().skip(1).copied();
    let mut take = |count: usize| {
        let low = words.next().unwrap_or(0);
        let high = if count > 1 { words.next() } else { None };
        u64::from(low) | u64::from(high.unwrap_or(0)) << 32
    };
    let format = match &call.format {
        PrintfFormat::Literal(format) => format.as_slice(),
        PrintfFormat::Address => strings.at(take(2)).unwrap_or_default(),
    };
    let arguments: Vec<Argument> = call
        .arguments
        .iter()
        .map(|argument| Argument {
            kind: argument.kind,
            components: (0..argument.components)
                .map(|_| take(argument.kind.words()))
                .collect(),
        })
        .collect();
    write_formatted(text, format, &arguments, strings);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::printf::{PrintfArgument, PrintfKind};

    const STRINGS: DataStrings<'static> = DataStrings {
        address: 0x1_0000_1000,
        bytes: b"one\0two\0",
        size_bytes: 8,
    };

    fn call(format: PrintfFormat, kinds: &[(u8, PrintfKind)]) -> PrintfCall {
        PrintfCall {
            format,
            arguments: kinds
                .iter()
                .map(|&(components, kind)| PrintfArgument { components, kind })
                .collect(),
        }
    }

    fn literal(format: &str) -> PrintfFormat {
        PrintfFormat::Literal(format.into())
    }

    #[test]
    fn records_follow_each_other() {
        let calls = [
            call(literal("%d;"), &[(1, PrintfKind::Int32)]),
            call(
                literal("%s %v2ld;"),
                &[(1, PrintfKind::Pointer), (2, PrintfKind::Int64)],
            ),
        ];
        // The second one has a word more than it takes.
        let words = [1, 5, 2, 0x1004, 1, 7, 1, 8, 0, 99, 1, u32::MAX];
        assert_eq!(text(&words, &calls, &STRINGS), b"5;two 4294967303,8;-1;");
    }

    #[test]
    fn what_did_not_fit_ends_the_text() {
        let calls = [call(literal("%d;"), &[(1, PrintfKind::Int32)])];
        assert_eq!(text(&[1, 5, 0], &calls, &STRINGS), b"5;");
        assert_eq!(text(&[1, 5, 1], &calls, &STRINGS), b"5;");
        assert_eq!(text(&[9, 5], &calls, &STRINGS), b"");
        assert_eq!(text(&[], &calls, &STRINGS), b"");
    }

    #[test]
    fn a_format_may_be_an_address() {
        let calls = [call(PrintfFormat::Address, &[])];
        assert_eq!(text(&[1, 0x1000, 1, 0], &calls, &STRINGS), b"one");
        assert_eq!(text(&[1, 0, 0, 0], &calls, &STRINGS), b"");
    }

    #[test]
    fn strings_end_at_their_nul_or_with_the_segment() {
        let strings = DataStrings {
            address: 16,
            bytes: b"ab\0cd",
            size_bytes: 20,
        };
        assert_eq!(strings.at(16), Some(&b"ab"[..]));
        assert_eq!(strings.at(19), Some(&b"cd"[..]));
        assert_eq!(strings.at(15), None);
        assert_eq!(strings.at(30), Some(&b""[..]));
        assert_eq!(strings.at(100), None);
    }
}
