//! Types and constants of LLVM IR as bytes in memory.

use std::collections::HashMap;

/// A type, as far as tables have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// An integer of 8, 16, 32 or 64 bits.
    Integer(u64),
    Half,
    Float,
    Double,
    Pointer,
    Array(u64, Box<Type>),
    Vector(u64, Box<Type>),
    Structure {
        fields: Vec<Type>,
        is_packed: bool,
    },
}

impl Type {
    /// Size in memory, with the room to the next in an array, and alignment; `None` beyond what can be counted.
    fn layout(&self) -> Option<(u64, u64)> {
        Some(match self {
            Self::Integer(bits) => (bits / 8, bits / 8),
            Self::Half => (2, 2),
            Self::Float => (4, 4),
            Self::Double | Self::Pointer => (8, 8),
            Self::Array(count, element) => {
                let (size, align) = element.layout()?;
                (size.checked_mul(*count)?, align)
            }
            Self::Vector(count, element) => {
                let size = element.layout()?.0.checked_mul(*count)?;
                let room = size.checked_next_power_of_two()?;
                (room, room)
            }
            Self::Structure { fields, is_packed } => {
                let (mut end, mut most) = (0_u64, 1);
                for field in fields {
                    let (size, align) = field.layout()?;
                    let align = if *is_packed { 1 } else { align };
                    end = end.checked_next_multiple_of(align)?.checked_add(size)?;
                    most = most.max(align);
                }
                (end.checked_next_multiple_of(most)?, most)
            }
        })
    }

    /// Each part with its offset; nothing of a scalar.
    fn parts(&self) -> Option<Vec<(&Type, u64)>> {
        match self {
            Self::Array(count, element) | Self::Vector(count, element) => {
                let stride = element.layout()?.0;
                let parts = (0..*count).map(|index| (&**element, index * stride));
                Some(parts.collect())
            }
            Self::Structure { fields, is_packed } => {
                let mut end = 0_u64;
                let mut parts = Vec::new();
                for field in fields {
                    let (size, align) = field.layout()?;
                    let align = if *is_packed { 1 } else { align };
                    end = end.checked_next_multiple_of(align)?;
                    parts.push((field, end));
                    end += size;
                }
                Some(parts)
            }
            _ => Some(Vec::new()),
        }
    }
}

/// The structures that IR names: `%struct.S = type { i32, i8 }`.
pub struct Layouts<'a>(HashMap<&'a str, &'a str>);

impl<'a> Layouts<'a> {
    pub fn of(ir: &'a str) -> Self {
        let types = ir.lines().filter(|line| line.starts_with('%'));
        Self(
            types
                .filter_map(|line| line.split_once(" = type "))
                .collect(),
        )
    }
}

/// Tables are refused beyond this size.
const MAX_BYTES: u64 = 1 << 27;
/// Types within types.
const MAX_DEPTH: u32 = 32;

/// Reads a type and then a constant of it.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    layouts: &'a Layouts<'a>,
    depth: u32,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, layouts: &'a Layouts<'a>) -> Self {
        Self {
            text,
            at: 0,
            layouts,
            depth: 0,
        }
    }

    /// How far the text is read.
    pub fn at(&self) -> usize {
        self.at
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Reads this and the space after it, if it comes next.
    fn takes(&mut self, mark: &str) -> bool {
        let takes = self.rest().starts_with(mark);
        if takes {
            self.at += mark.len();
            while self.rest().starts_with(' ') {
                self.at += 1;
            }
        }
        takes
    }

    /// Reads to the first character that no word has.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find([' ', ',', ']', '}', '>', ')', '(', '\n']);
        let word = &rest[..end.unwrap_or(rest.len())];
        self.takes(word);
        word
    }

    /// A type; `None` for one that tables don't have.
    pub fn ty(&mut self) -> Option<Type> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let ty = if self.takes("[") {
            Type::Array(self.count()?, self.element("]")?)
        } else if self.takes("<{") {
            self.structure("}>", true)?
        } else if self.takes("<") {
            Type::Vector(self.count()?, self.element(">")?)
        } else if self.takes("{") {
            self.structure("}", false)?
        } else {
            self.named()?
        };
        self.depth -= 1;
        Some(ty)
    }

    fn count(&mut self) -> Option<u64> {
        let count = self.word().parse().ok()?;
        self.takes("x").then_some(count)
    }

    fn element(&mut self, end: &str) -> Option<Box<Type>> {
        let element = self.ty()?;
        self.takes(end).then(|| Box::new(element))
    }

    fn structure(&mut self, end: &str, is_packed: bool) -> Option<Type> {
        let mut fields = Vec::new();
        while !self.takes(end) {
            fields.push(self.ty()?);
            self.takes(",");
        }
        Some(Type::Structure { fields, is_packed })
    }

    fn named(&mut self) -> Option<Type> {
        match self.word() {
            "i8" => Some(Type::Integer(8)),
            "i16" => Some(Type::Integer(16)),
            "i32" => Some(Type::Integer(32)),
            "i64" => Some(Type::Integer(64)),
            "half" => Some(Type::Half),
            "float" => Some(Type::Float),
            "double" => Some(Type::Double),
            "ptr" => {
                if self.takes("addrspace(") {
                    self.word();
                    self.takes(")");
                }
                Some(Type::Pointer)
            }
            name => {
                let text = self.layouts.0.get(name)?;
                let mut reader = Reader {
                    depth: self.depth,
                    ..Reader::new(text, self.layouts)
                };
                reader.ty()
            }
        }
    }

    /// The bytes of a constant; `None` if it is none that is known here, an address above all.
    pub fn value(&mut self, ty: &Type) -> Option<Vec<u8>> {
        let (size, _) = ty.layout()?;
        if size > MAX_BYTES {
            return None;
        }
        let mut bytes = vec![0; size as usize];
        self.fill(ty, &mut bytes)?;
        Some(bytes)
    }

    fn fill(&mut self, ty: &Type, bytes: &mut [u8]) -> Option<()> {
        let zeros = ["zeroinitializer", "undef", "poison", "null"];
        if zeros.iter().any(|word| self.takes(word)) {
            return Some(());
        }
        match ty {
            Type::Array(..) if self.rest().starts_with("c\"") => {
                self.at += "c\"".len();
                self.string(bytes)
            }
            Type::Vector(_, element) if self.takes("splat (") => {
                self.is_next(element)?;
                let mut one = vec![0; element.layout()?.0 as usize];
                self.fill(element, &mut one)?;
                self.takes(")").then_some(())?;
                // A vector of three has room for four.
                for (part, at) in ty.parts()? {
                    let size = part.layout()?.0 as usize;
                    bytes
                        .get_mut(at as usize..)?
                        .get_mut(..size)?
                        .copy_from_slice(&one);
                }
                Some(())
            }
            Type::Array(..) => self.parts(ty, ("[", "]"), bytes),
            Type::Vector(..) => self.parts(ty, ("<", ">"), bytes),
            Type::Structure {
                is_packed: true, ..
            } => self.parts(ty, ("<{", "}>"), bytes),
            Type::Structure { .. } => self.parts(ty, ("{", "}"), bytes),
            scalar => {
                let bits = scalar_bits(scalar, self.word())?;
                let from = bits.to_le_bytes();
                bytes.copy_from_slice(from.get(..bytes.len())?);
                Some(())
            }
        }
    }

    /// Reads a type that must be the given one.
    fn is_next(&mut self, ty: &Type) -> Option<()> {
        (self.ty()? == *ty).then_some(())
    }

    fn parts(&mut self, ty: &Type, (start, end): (&str, &str), bytes: &mut [u8]) -> Option<()> {
        self.takes(start).then_some(())?;
        for (index, (part, at)) in ty.parts()?.into_iter().enumerate() {
            if index > 0 {
                self.takes(",").then_some(())?;
            }
            self.is_next(part)?;
            let size = part.layout()?.0 as usize;
            self.fill(part, bytes.get_mut(at as usize..)?.get_mut(..size)?)?;
        }
        self.takes(end).then_some(())
    }

    /// The rest of `c"a\00\22"`.
    fn string(&mut self, bytes: &mut [u8]) -> Option<()> {
        for to in bytes {
            let rest = self.rest().as_bytes();
            let (byte, length) = match *rest.first()? {
                b'"' => return None,
                b'\\' if rest.get(1) == Some(&b'\\') => (b'\\', 2),
                b'\\' => {
                    let digits = std::str::from_utf8(rest.get(1..3)?).ok()?;
                    (u8::from_str_radix(digits, 16).ok()?, 3)
                }
                byte => (byte, 1),
            };
            *to = byte;
            self.at += length;
        }
        self.takes("\"").then_some(())
    }
}

/// The bits of a number.
fn scalar_bits(ty: &Type, text: &str) -> Option<u64> {
    Some(match ty {
        Type::Integer(bits) => {
            let value: i128 = text.parse().ok()?;
            let most = 1_i128 << bits;
            (-most / 2..most).contains(&value).then_some(value as u64)?
        }
        Type::Half => u16::from_str_radix(text.strip_prefix("0xH")?, 16)
            .ok()?
            .into(),
        // Written as a double, which it is exactly.
        Type::Float => {
            let wide = f64::from_bits(scalar_bits(&Type::Double, text)?);
            single_bits(wide).into()
        }
        Type::Double => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok()?,
            None => text.parse::<f64>().ok()?.to_bits(),
        },
        _ => return None,
    })
}

/// The bits of the float that a double was made of. Those of NaN are its upper ones.
fn single_bits(wide: f64) -> u32 {
    if wide.is_nan() {
        let bits = wide.to_bits();
        let sign = (bits >> 32) as u32 & 0x8000_0000;
        sign | 0x7f80_0000 | (bits >> 29) as u32 & 0x007f_ffff
    } else {
        (wide as f32).to_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<Vec<u8>> {
        let layouts =
            Layouts::of("%struct.S = type { i8, i32 }\n%struct.T = type { [2 x %struct.S], i8 }");
        let mut reader = Reader::new(text, &layouts);
        let ty = reader.ty()?;
        let bytes = reader.value(&ty);
        assert!(
            bytes.is_none() || reader.rest() == ", align 4",
            "{text}: {}",
            reader.rest()
        );
        bytes
    }

    #[test]
    fn values_become_bytes() {
        for (text, expected) in [
            ("i32 -2", &[0xfe, 0xff, 0xff, 0xff][..]),
            ("[2 x i16] [i16 1, i16 -1]", &[1, 0, 255, 255]),
            ("[5 x i8] c\" a\\00\\\\\\22\"", b" a\0\\\""),
            (
                "[2 x float] [float 1.000000e+00, float 0x3FB99999A0000000]",
                &[0, 0, 128, 63, 205, 204, 204, 61],
            ),
            ("[1 x half] [half 0xH3C00]", &[0, 0x3c]),
            ("double 0x7FF8000000000000", &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f]),
            ("float 0x7FF8000000000000", &[0, 0, 0xc0, 0x7f]),
            ("%struct.S { i8 5, i32 6 }", &[5, 0, 0, 0, 6, 0, 0, 0]),
            ("<{ i8, i32 }> <{ i8 5, i32 6 }>", &[5, 6, 0, 0, 0]),
            ("<3 x i8> <i8 1, i8 2, i8 3>", &[1, 2, 3, 0]),
            ("<3 x i16> splat (i16 258)", &[2, 1, 2, 1, 2, 1, 0, 0]),
            (
                "[2 x <{ i8, [2 x i8] }>] [<{ i8, [2 x i8] }> <{ i8 1, [2 x i8] zeroinitializer }>, \
              <{ i8, [2 x i8] }> zeroinitializer]",
                &[1, 0, 0, 0, 0, 0],
            ),
            (
                "%struct.T { [2 x %struct.S] [%struct.S { i8 1, i32 2 }, %struct.S zeroinitializer], i8 9 }",
                &[1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0],
            ),
            ("ptr addrspace(2) null", &[0; 8]),
        ] {
            assert_eq!(
                bytes(&format!("{text}, align 4")).as_deref(),
                Some(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_known_is_left() {
        for text in [
            "ptr @x",
            "[1 x ptr] [ptr @x]",
            "i32 ptrtoint (ptr @x to i32)",
            "[2 x i8] c\"a\"",
            "i33 1",
            "%struct.U zeroinitializer",
            "i8 256",
        ] {
            assert_eq!(bytes(&format!("{text}, align 4")), None, "{text}");
        }
    }
}
