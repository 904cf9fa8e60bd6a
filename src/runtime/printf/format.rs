//! OpenCL C's `printf` formats (OpenCL C 3.0, section 6.15.14) over arguments taken from a record.
//!
//! Numbers are formatted by the C library, one conversion at a time. What the specification leaves undefined
//! (a conversion without an argument, an argument of another type) prints something harmless.

use crate::compiler::printf::PrintfKind;
use smallvec::SmallVec;
use std::ffi::{c_char, c_int};

/// One argument of a call.
pub struct Argument {
    pub kind: PrintfKind,
    /// The bits of each component, extended with zeros.
    pub components: SmallVec<[u64; 4]>,
}

/// Finds strings by their device address.
pub trait Strings {
    /// The string at an address, without the NUL; `None` if there is none.
    fn at(&self, address: u64) -> Option<&[u8]>;
}

/// Field widths and precisions beyond are cut: they would only take memory.
const MOST_CHARACTERS: c_int = 1 << 16;

/// Appends `format` with the arguments filled in.
pub fn write_formatted(
    text: &mut Vec<u8>,
    format: &[u8],
    arguments: &[Argument],
    strings: &dyn Strings,
) {
    let mut arguments = arguments.iter();
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        text.extend_from_slice(&rest[..at]);
        let specification = &rest[at..];
        let mut reader = Reader {
            bytes: specification,
            at: 1,
        };
        let parsed = Conversion::read(&mut reader, &mut arguments);
        rest = specification.get(reader.at..).unwrap_or_default();
        match parsed {
            Some(Conversion { letter: b'%', .. }) => text.push(b'%'),
            Some(conversion) => match arguments.next() {
                Some(argument) => conversion.write(text, argument, strings),
                None => text.extend_from_slice(&specification[..reader.at]),
            },
            // Not a conversion: as it stands.
            None => text.extend_from_slice(&specification[..reader.at]),
        }
    }
    text.extend_from_slice(rest);
}

/// Goes over a conversion specification.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Passes over `wanted` if it is next.
    fn accept(&mut self, wanted: &[u8]) -> bool {
        let found = self
            .bytes
            .get(self.at..)
            .is_some_and(|rest| rest.starts_with(wanted));
        if found {
            self.at += wanted.len();
        }
        found
    }

    /// A decimal number, if one is next.
    fn number(&mut self) -> Option<c_int> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            let so_far: c_int = number.unwrap_or(0);
            let more = so_far * 10 + c_int::from(digit - b'0');
            number = Some(more.min(MOST_CHARACTERS));
            self.at += 1;
        }
        number
    }
}

/// What the length modifier says of integers; floats tell for themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    None,
    /// `hh`
    Char,
    /// `h`
    Short,
    /// `hl`: 32 bits, vectors only.
    Int,
    /// `l`, and C99's `ll`, `j`, `z`, `t`: all are 64 bits here.
    Long,
}

struct Conversion {
    /// Any of `-+ #0`, each at most once.
    flags: SmallVec<[u8; 8]>,
    width: c_int,
    /// Negative: not given.
    precision: c_int,
    length: Length,
    letter: u8,
}

impl Conversion {
    /// What follows a `%`; `None` if it is no conversion. `*` takes an argument.
    fn read<'a>(
        reader: &mut Reader<'_>,
        arguments: &mut impl Iterator<Item = &'a Argument>,
    ) -> Option<Self> {
        let mut star = || {
            let bits = arguments.next().and_then(|it| it.components.first());
            (bits.copied().unwrap_or(0) as c_int).clamp(-MOST_CHARACTERS, MOST_CHARACTERS)
        };
        let mut flags = SmallVec::new();
        while let Some(flag) = reader.peek().filter(|byte| b"-+ #0".contains(byte)) {
            if !flags.contains(&flag) {
                flags.push(flag);
            }
            reader.at += 1;
        }
        let mut width = if reader.accept(b"*") {
            star()
        } else {
            reader.number().unwrap_or(0)
        };
        if width < 0 {
            // "A negative field width argument is taken as a - flag followed by a positive field width."
            flags.push(b'-');
            width = -width;
        }
        let mut precision = -1;
        if reader.accept(b".") {
            precision = if reader.accept(b"*") {
                star()
            } else {
                reader.number().unwrap_or(0)
            };
        }
        if reader.accept(b"v") {
            // The argument itself tells how many components it has.
            reader.number()?;
        }
        const LENGTHS: [(&[u8], Length); 8] = [
            (b"hh", Length::Char),
            (b"hl", Length::Int),
            (b"h", Length::Short),
            (b"ll", Length::Long),
            (b"l", Length::Long),
            (b"j", Length::Long),
            (b"z", Length::Long),
            (b"t", Length::Long),
        ];
        let length = LENGTHS
            .iter()
            .find(|(name, _)| reader.accept(name))
            .map_or(Length::None, |(_, length)| *length);
        let letter = reader.peek()?;
        reader.at += 1;
        b"diouxXfFeEgGaAcsp%".contains(&letter).then_some(Self {
            flags,
            width,
            precision,
            length,
            letter,
        })
    }

    fn write(&self, text: &mut Vec<u8>, argument: &Argument, strings: &dyn Strings) {
        for (index, &bits) in argument.components.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            match self.letter {
                b'c' => self.pad(text, &[bits as u8]),
                b's' => {
                    let string = match strings.at(bits) {
                        Some(string) => string,
                        None if bits == 0 => b"(null)",
                        // The specification has `%s` take literals only.
                        None => b"(not a string literal)",
                    };
                    let most = usize::try_from(self.precision).unwrap_or(usize::MAX);
                    self.pad(text, &string[..string.len().min(most)]);
                }
                b'p' => {
                    let digits = format!("0x{bits:x}");
                    self.pad(text, digits.as_bytes());
                }
                b'd' | b'i' => {
                    let unused = 64 - self.int_bits(argument.kind);
                    let value = ((bits << unused) as i64) >> unused;
                    self.number(text, Number::Signed(value));
                }
                b'o' | b'u' | b'x' | b'X' => {
                    let unused = 64 - self.int_bits(argument.kind);
                    let value = (bits << unused) >> unused;
                    self.number(text, Number::Unsigned(value));
                }
                _ => self.number(text, Number::Float(float(bits, argument.kind))),
            }
        }
    }

    /// Bits of an integer component that the conversion looks at.
    fn int_bits(&self, kind: PrintfKind) -> u32 {
        let wanted = match self.length {
            Length::None => kind.bits().min(32),
            Length::Char => 8,
            Length::Short => 16,
            Length::Int => 32,
            Length::Long => 64,
        };
        wanted.min(kind.bits())
    }

    /// A string in a field.
    fn pad(&self, text: &mut Vec<u8>, string: &[u8]) {
        let width = usize::try_from(self.width).unwrap_or(0);
        let spaces = width.saturating_sub(string.len());
        let left = self.flags.contains(&b'-');
        if !left {
            text.extend(std::iter::repeat_n(b' ', spaces));
        }
        text.extend_from_slice(string);
        if left {
            text.extend(std::iter::repeat_n(b' ', spaces));
        }
    }

    /// A number, by the C library.
    fn number(&self, text: &mut Vec<u8>, number: Number) {
        let mut format: SmallVec<[u8; 16]> = SmallVec::new();
        format.push(b'%');
        format.extend_from_slice(&self.flags);
        format.extend_from_slice(b"*.*");
        if !matches!(number, Number::Float(_)) {
            format.extend_from_slice(b"ll");
        }
        format.extend_from_slice(&[self.letter, 0]);
        let print = |buffer: *mut c_char, size: usize| {
            let (format, width, precision) =
                (format.as_ptr().cast::<c_char>(), self.width, self.precision);
            // SAFETY: `buffer` is valid for `size` bytes; the format ends with a NUL and names two `int`s and
            // a number of just the type that is passed.
            unsafe {
                match number {
                    Number::Signed(value) => {
                        libc::snprintf(buffer, size, format, width, precision, value)
                    }
                    Number::Unsigned(value) => {
                        libc::snprintf(buffer, size, format, width, precision, value)
                    }
                    Number::Float(value) => {
                        libc::snprintf(buffer, size, format, width, precision, value)
                    }
                }
            }
        };
        let mut short = [0u8; 64];
        let length = usize::try_from(print(short.as_mut_ptr().cast(), short.len())).unwrap_or(0);
        if let Some(result) = short.get(..length).filter(|_| length < short.len()) {
            text.extend_from_slice(result);
            return;
        }
        let mut long = vec![0u8; length + 1];
        print(long.as_mut_ptr().cast(), long.len());
        long.truncate(length);
        text.append(&mut long);
    }
}

#[derive(Clone, Copy)]
enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

/// A component's value as a float; integers, which the conversion should not have been given, by value.
fn float(bits: u64, kind: PrintfKind) -> f64 {
    match kind {
        PrintfKind::Float16 => half(bits as u16),
        PrintfKind::Float32 => f32::from_bits(bits as u32).into(),
        PrintfKind::Float64 => f64::from_bits(bits),
        _ => {
            let unused = 64 - kind.bits();
            (((bits << unused) as i64) >> unused) as f64
        }
    }
}

/// The value of a 16-bit float.
fn half(bits: u16) -> f64 {
    let magnitude = match (bits >> 10 & 0x1f, bits & 0x3ff) {
        (0, fraction) => f64::from(fraction) * 2f64.powi(-24),
        (0x1f, 0) => f64::INFINITY,
        (0x1f, _) => f64::NAN,
        (exponent, fraction) => f64::from(fraction | 0x400) * 2f64.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 0 {
        magnitude
    } else {
        -magnitude
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoStrings;

    impl Strings for NoStrings {
        fn at(&self, address: u64) -> Option<&[u8]> {
            (address == 8).then_some(b"string")
        }
    }

    fn vector(kind: PrintfKind, components: &[u64]) -> Argument {
        Argument {
            kind,
            components: components.into(),
        }
    }

    fn int(value: i32) -> Argument {
        vector(PrintfKind::Int32, &[value as u32 as u64])
    }

    fn long(value: i64) -> Argument {
        vector(PrintfKind::Int64, &[value as u64])
    }

    fn double(value: f64) -> Argument {
        vector(PrintfKind::Float64, &[value.to_bits()])
    }

    fn pointer(address: u64) -> Argument {
        vector(PrintfKind::Pointer, &[address])
    }

    #[track_caller]
    fn check(format: &str, arguments: &[Argument], expected: &str) {
        let mut text = Vec::new();
        write_formatted(&mut text, format.as_bytes(), arguments, &NoStrings);
        assert_eq!(String::from_utf8_lossy(&text), expected, "{format}");
    }

    #[test]
    fn text_without_conversions_stays() {
        check("", &[], "");
        check("plain\n", &[int(1)], "plain\n");
        check("100%%, %%d", &[], "100%, %d");
        // Undefined, so as it stands.
        check("%", &[], "%");
        check("%y %d", &[int(3)], "%y 3");
        check("%d %d", &[int(3)], "3 %d");
        check("%v", &[], "%v");
    }

    #[test]
    fn integers_have_the_width_of_their_length_modifier() {
        check("%d %i", &[int(-5), int(7)], "-5 7");
        check("%hhd %hd", &[int(0x1ff), int(0x18000)], "-1 -32768");
        check(
            "%hhx %hx %x",
            &[int(-1), int(-1), int(-1)],
            "ff ffff ffffffff",
        );
        check(
            "%ld %lu",
            &[long(i64::MIN), long(-1)],
            "-9223372036854775808 18446744073709551615",
        );
        check(
            "%zu %td %jd %lld",
            &[long(1), long(-2), long(3), long(4)],
            "1 -2 3 4",
        );
        check("%u %o", &[int(-1), int(8)], "4294967295 10");
        check(
            "[%+5d|%-5d|%05d|% d|%.3d|%6.5i|%-06i]",
            &[int(1), int(2), int(3), int(4), int(5), int(100), int(100)],
            "[   +1|2    |00003| 4|005| 00100|100   ]",
        );
        check(
            "%#x %#X %#o %#x",
            &[int(255), int(255), int(8), int(0)],
            "0xff 0XFF 010 0",
        );
        check("[%.0u]", &[int(0)], "[]");
        check(
            "[%*d|%*d|%.*d]",
            &[int(4), int(1), int(-4), int(2), int(3), int(3)],
            "[   1|2   |003]",
        );
    }

    #[test]
    fn floats_of_every_width() {
        check(
            "%f %.2f %e %G",
            &[double(1.5), double(-0.125), double(1e10), double(1e-7)],
            "1.500000 -0.12 1.000000e+10 1E-07",
        );
        check("%a %A", &[double(1.0), double(0.5)], "0x1p+0 0X1P-1");
        let single = vector(PrintfKind::Float32, &[0.1f32.to_bits().into()]);
        check("%.9f", &[single], "0.100000001");
        let halves = [0x3c00, 0xc000, 0x7bff, 0x0001, 0xfc00];
        check(
            "%v5hg",
            &[vector(PrintfKind::Float16, &halves)],
            "1,-2,65504,5.96046e-08,-inf",
        );
        check(
            "%f %F %f",
            &[
                double(f64::INFINITY),
                double(f64::NEG_INFINITY),
                double(f64::NAN),
            ],
            "inf -INF nan",
        );
        check(
            "[%10.2f|%-8.1f|%+08.2f]",
            &[double(1.25), double(2.0), double(-3.0)],
            "[      1.25|2.0     |-0003.00]",
        );
        check("%.70f", &[double(0.5)], &format!("0.5{}", "0".repeat(69)));
        check("%f", &[int(-2)], "-2.000000");
    }

    #[test]
    fn vectors_are_separated_by_commas() {
        let bytes = vector(PrintfKind::Int8, &[0xff, 0x01]);
        check("%v2hhd", &[bytes], "-1,1");
        let bytes = vector(PrintfKind::Int8, &[0xff, 0x01]);
        check("%#v2hhx!", &[bytes], "0xff,0x1!");
        let words = vector(PrintfKind::Int32, &[1, 0xffff_fffe, 3, 4]);
        check("[%+3v4hld]", &[words], "[ +1, -2, +3, +4]");
        let floats = vector(
            PrintfKind::Float32,
            &[1.0f32, 2.5].map(|it| it.to_bits().into()),
        );
        check("%2.2v2hlf", &[floats], "1.00,2.50");
    }

    #[test]
    fn characters_strings_and_pointers() {
        check("[%c%3c%-3c]", &[int(65), int(66), int(67)], "[A  BC  ]");
        let mut text = Vec::new();
        write_formatted(&mut text, b"a%cb", &[int(0)], &NoStrings);
        assert_eq!(text, b"a\0b");
        check(
            "[%s|%8s|%-8s|%.3s]",
            &[pointer(8), pointer(8), pointer(8), pointer(8)],
            "[string|  string|string  |str]",
        );
        check(
            "%s %s",
            &[pointer(0), pointer(1)],
            "(null) (not a string literal)",
        );
        check(
            "%p %12p",
            &[pointer(0), pointer(0x1_0000_0abc)],
            "0x0  0x100000abc",
        );
    }

    #[test]
    fn huge_fields_are_cut() {
        let mut text = Vec::new();
        write_formatted(&mut text, b"%99999999999d", &[int(1)], &NoStrings);
        assert_eq!(text.len(), MOST_CHARACTERS as usize);
        let mut text = Vec::new();
        write_formatted(&mut text, b"%.99999999999f", &[double(1.0)], &NoStrings);
        assert_eq!(text.len(), MOST_CHARACTERS as usize + 2);
    }
}
