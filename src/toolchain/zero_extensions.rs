//! Zero extensions of vectors in LLVM IR, as the SPIR-V back end can take them.
//!
//! clang-22's makes one `and` of a zero extension of something narrowed or sign-extended, as
//! `convert_uint4(as_uchar4(a > b))` is, and then does not know the instruction it has made: "error in backend: cannot
//! select: … G_AND". As a sign extension and an `and` of our own it gets through.

use std::fmt::Write;

/// The IR with the zero extensions of all vectors but those of single bits rewritten; `None` if there is none.
pub fn spelled_out(ir: &str) -> Option<String> {
    let mut text = String::with_capacity(ir.len() + ir.len() / 16);
    let mut count = 0;
    for line in ir.split_inclusive('\n') {
        match Extension::parse(line) {
            Some(it) => {
                let Extension {
                    result,
                    from,
                    operand,
                    to,
                    rest,
                } = it;
                let (lanes, bits) = (to.lanes, to.bits);
                let mask = u64::MAX >> 64_u32.saturating_sub(from.bits);
                // Writing to a string does not fail.
                let _ = write!(
                    text,
                    "  %extended.{count} = sext <{lanes} x i{}> {operand} to <{lanes} x i{bits}>{rest}  \
                     {result} = and <{lanes} x i{bits}> %extended.{count}, splat (i{bits} {mask}){rest}",
                    from.bits
                );
                count += 1;
            }
            None => text.push_str(line),
        }
    }
    (count > 0).then_some(text)
}

/// `result = zext <lanes x ifrom> operand to <lanes x ito>rest`
struct Extension<'a> {
    result: &'a str,
    from: Vector,
    operand: &'a str,
    to: Vector,
    /// Metadata and the end of the line.
    rest: &'a str,
}

#[derive(Clone, Copy)]
struct Vector {
    lanes: u32,
    bits: u32,
}

impl<'a> Extension<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (result, operation) = line.strip_prefix("  ")?.split_once(" = zext ")?;
        let operation = operation.strip_prefix("nneg ").unwrap_or(operation);
        let (from, operation) = Vector::parse(operation)?;
        let (operand, to) = operation.trim_start().rsplit_once(" to <")?;
        let (to, rest) = Vector::parse_inside(to)?;
        let is_wanted = result.starts_with('%') && from.bits > 1 && from.bits < 64 && to.bits <= 64;
        is_wanted.then_some(Self {
            result,
            from,
            operand,
            to,
            rest,
        })
    }
}

impl Vector {
    /// What a text begins with, and what follows.
    fn parse(text: &str) -> Option<(Self, &str)> {
        Self::parse_inside(text.strip_prefix('<')?)
    }

    /// The vector type that a text begins with, its first bracket left out, and what follows.
    fn parse_inside(text: &str) -> Option<(Self, &str)> {
        let (inside, rest) = text.split_once('>')?;
        let (lanes, bits) = inside.split_once(" x i")?;
        let vector = Self {
            lanes: lanes.parse().ok()?,
            bits: bits.parse().ok()?,
        };
        Some((vector, rest))
    }
}

#[cfg(test)]
mod tests {
    use super::spelled_out;

    #[test]
    fn vectors_are_extended_by_their_signs_and_masked() {
        let ir = "\
  %1 = icmp ugt <3 x i8> %a, splat (i8 -65)
  %2 = sext <3 x i1> %1 to <3 x i8>
  %3 = zext nneg <3 x i8> %2 to <3 x i64>, !dbg !7
  %x = zext <2 x i16> <i16 1, i16 2> to <2 x i32>
";
        let expected = "\
  %1 = icmp ugt <3 x i8> %a, splat (i8 -65)
  %2 = sext <3 x i1> %1 to <3 x i8>
  %extended.0 = sext <3 x i8> %2 to <3 x i64>, !dbg !7
  %3 = and <3 x i64> %extended.0, splat (i64 255), !dbg !7
  %extended.1 = sext <2 x i16> <i16 1, i16 2> to <2 x i32>
  %x = and <2 x i32> %extended.1, splat (i32 65535)
";
        assert_eq!(spelled_out(ir).as_deref(), Some(expected));
    }

    #[test]
    fn what_else_there_is_stays() {
        let ir = "\
  %1 = zext i8 %a to i32
  %2 = zext <4 x i1> %b to <4 x i32>
  %3 = sext <4 x i8> %c to <4 x i32>
  call void @f(ptr @\" = zext <4 x i8> %c to <4 x i32>\")
";
        assert_eq!(spelled_out(ir), None);
    }
}
