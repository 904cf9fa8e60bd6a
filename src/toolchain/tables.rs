//! Large tables in LLVM IR, kept from clang's SPIR-V back end.
//!
//! It makes an instruction of each number, takes 17 s for a million of them, and breaks down on large arrays of
//! structures. So variables with many numbers lose them on their way through it: they are then all zeros that someone
//! else may initialize, which keeps the optimizer from using them, and the bytes follow the module as strings,
//! `initializer.OFFSET.BYTES.NAME`, which our parser reads.

use super::instructions;
use super::table_values::{Layouts, Reader};

/// A line of this length or more is looked at: a number takes a character at least.
const LEAST_BYTES: usize = 1 << 13;

/// Bytes in a string, which must fit an instruction.
const PART_BYTES: usize = 1 << 15;

/// Bytes of all tables together: what is more than the compiler takes of initializers stays where it is. A few numbers behind
/// an array of zeros are a table of any size.
const MOST_BYTES: usize = 1 << 27;

/// Tables that were taken out of a program.
#[derive(Default)]
pub struct Tables(Vec<Table>);

struct Table {
    name: String,
    bytes: Vec<u8>,
}

/// The IR without the numbers of large tables, and those; `None` if there is no such table. One that holds addresses
/// stays.
pub fn taken_out(ir: &str) -> Option<(String, Tables)> {
    let is_long = |line: &&str| line.len() >= LEAST_BYTES && line.starts_with('@');
    ir.lines().find(is_long)?;
    let layouts = Layouts::of(ir);
    let mut text = String::with_capacity(ir.len() / 2);
    let mut tables = Tables::default();
    let mut left_bytes = MOST_BYTES;
    for line in ir.split_inclusive('\n') {
        let found = is_long(&line).then(|| split(line, &layouts)).flatten();
        match found.filter(|(_, _, table)| table.bytes.len() <= left_bytes) {
            Some((start, rest, table)) => {
                left_bytes -= table.bytes.len();
                text.push_str(&start);
                text.push_str(rest);
                tables.0.push(table);
            }
            None => text.push_str(line),
        }
    }
    (!tables.0.is_empty()).then_some((text, tables))
}

/// A variable's definition up to what takes the place of its numbers, what follows them, and the table.
fn split<'a>(line: &'a str, layouts: &Layouts<'a>) -> Option<(String, &'a str, Table)> {
    let (name, definition) = line.strip_prefix('@')?.split_once(" = ")?;
    if name.starts_with('"') {
        return None;
    }
    // Linkage and the like come first, and hold neither word.
    let place = ["constant ", "global "]
        .iter()
        .filter_map(|word| {
            definition
                .find(&format!(" {word}"))
                .map(|at| (at + 1, word.len()))
        })
        .min()?;
    let (attributes, value) = (&definition[..place.0], &definition[place.0..]);
    if attributes.contains("externally_initialized") {
        return None;
    }
    let mut reader = Reader::new(&value[place.1..], layouts);
    let ty = reader.ty()?;
    let type_length = reader.at();
    let bytes = reader.value(&ty)?;
    let start = format!(
        "@{name} = {attributes}externally_initialized {}zeroinitializer",
        &value[..place.1 + type_length]
    );
    let rest = &value[place.1 + reader.at()..];
    let name = name.to_owned();
    Some((start, rest, Table { name, bytes }))
}

impl Tables {
    /// The module with the tables' bytes; `None` if it is malformed.
    pub fn put_into(&self, module: Vec<u32>) -> Option<Vec<u32>> {
        if self.0.is_empty() {
            return Some(module);
        }
        let strings: Vec<String> = self.0.iter().flat_map(Table::strings).collect();
        instructions::with_debug_info(&module, &strings, &[])
    }
}

impl Table {
    fn strings(&self) -> impl Iterator<Item = String> {
        let parts = self.bytes.chunks(PART_BYTES).enumerate();
        let parts = parts.filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0));
        parts.map(|(index, bytes)| {
            let digit = |bits: u8| char::from_digit(bits.into(), 16).unwrap_or('0');
            let digits = bytes
                .iter()
                .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
            let digits: String = digits.collect();
            format!("initializer.{}.{digits}.{}", index * PART_BYTES, self.name)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these lines is some kilobytes, and a table of 60 MB.
    #[test]
    fn tables_are_bounded_together() {
        let numbers = vec!["i32 7"; 2000].join(", ");
        let line = |name: usize| {
            format!(
                "@t{name} = internal constant {{ [60000000 x i8], [2000 x i32] }} \
                 {{ [60000000 x i8] zeroinitializer, [2000 x i32] [{numbers}] }}, align 4\n"
            )
        };
        let ir: String = (0..9).map(line).collect();
        let (text, tables) = taken_out(&ir).expect("tables");
        assert_eq!(tables.0.len(), 2);
        assert_eq!(text.matches("i32 7").count(), 7 * 2000);
    }

    #[test]
    fn large_tables_leave_their_type_and_attributes() {
        let numbers = (0..4000).map(|i| format!("i32 {i}"));
        let numbers = numbers.collect::<Vec<_>>().join(", ");
        let ir = format!(
            "@small = constant [2 x i32] [i32 1, i32 2], align 4\n\
             @t = internal addrspace(2) constant [4000 x i32] [{numbers}], align 4, !dbg !1\n\
             define spir_func void @f() {{\n"
        );
        let (text, tables) = taken_out(&ir).expect("a table");
        assert_eq!(
            text,
            "@small = constant [2 x i32] [i32 1, i32 2], align 4\n\
             @t = internal addrspace(2) externally_initialized constant [4000 x i32] zeroinitializer, align 4, !dbg !1\n\
             define spir_func void @f() {\n"
        );
        let expected: Vec<u8> = (0..4000_u32).flat_map(u32::to_le_bytes).collect();
        assert_eq!(tables.0[0].bytes, expected);
        let strings: Vec<String> = tables.0[0].strings().collect();
        assert_eq!(strings.len(), 1);
        assert!(
            strings[0].starts_with("initializer.0.0000000001000000") && strings[0].ends_with(".t")
        );
        let addresses = format!(
            "@a = constant [2 x ptr] [ptr @t, ptr @t], align 8 ; {:9000}\n",
            ""
        );
        assert!(taken_out(&addresses).is_none());
    }
}
