//! Kernel argument names, types and qualifiers, carried in the SPIR-V module.
//!
//! clang's SPIR-V back end drops what the front end knows of them. The front end's LLVM IR says it as
//! metadata; it is added to the module in the form that `llvm-spirv` writes and that SPIR-V consumers know:
//!
//! - `OpString "kernel_arg_type.NAME.type,type,"`
//! - `OpString "kernel_arg_type_qual.NAME.const restrict,,"`
//! - `OpName` of the entry point's parameters.
//!
//! And one of our own, because SPIR-V's `VecTypeHint` has no unsigned types:
//!
//! - `OpString "kernel_vec_type_hint.NAME.uchar2,"`
//!
//! Address qualifiers follow from the storage class of a parameter's type, access qualifiers from image types.

use std::collections::HashMap;

/// What the source says of one kernel's arguments, in order, and of its vector type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArguments {
    pub kernel: String,
    pub names: Vec<String>,
    /// As written in the source, without qualifiers: `float4*`.
    pub types: Vec<String>,
    /// `const`, `restrict`, `volatile`, parted by spaces.
    pub qualifiers: Vec<String>,
    /// `vec_type_hint`, as OpenCL C spells the type.
    pub vector_type: Option<String>,
}

/// Which of it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// `-cl-kernel-arg-info`
    pub arguments: bool,
    /// The source has a `vec_type_hint`.
    pub vector_types: bool,
}

/// Reads the kernels' argument metadata from LLVM IR text.
pub fn parse(llvm_ir: &str) -> Vec<KernelArguments> {
    let lists: HashMap<&str, &str> = llvm_ir
        .lines()
        .filter(|line| line.starts_with('!'))
        .filter_map(|line| line.split_once(" = !{"))
        .collect();
    llvm_ir
        .lines()
        .filter(|line| line.starts_with("define ") && line.contains(" spir_kernel "))
        .filter_map(|line| {
            let list = |name: &str| -> Vec<String> {
                reference(line, name)
                    .and_then(|node| lists.get(node))
                    .map(|text| strings(text))
                    .unwrap_or_default()
            };
            Some(KernelArguments {
                kernel: function_name(line)?,
                names: list("!kernel_arg_name "),
                types: list("!kernel_arg_type "),
                qualifiers: list("!kernel_arg_type_qual "),
                vector_type: reference(line, "!vec_type_hint ")
                    .and_then(|node| lists.get(node))
                    .and_then(|text| vector_type(text)),
            })
        })
        .collect()
}

/// The type of `<2 x i8> poison, i32 0}`, whose last number says whether it is signed.
fn vector_type(list: &str) -> Option<String> {
    let (ty, sign) = list.strip_suffix('}')?.rsplit_once(", i32 ")?;
    let ty = ty.rsplit_once(' ')?.0;
    let (count, scalar) = match ty.strip_prefix('<') {
        Some(vector) => vector.strip_suffix('>')?.split_once(" x ")?,
        None => ("", ty),
    };
    let name = match scalar {
        "i8" => "char",
        "i16" => "short",
        "i32" => "int",
        "i64" => "long",
        float => float,
    };
    let unsigned = if scalar.starts_with('i') && sign == "0" {
        "u"
    } else {
        ""
    };
    Some(format!("{unsigned}{name}{count}"))
}

/// The name after `@`: bare, or quoted with escapes.
fn function_name(line: &str) -> Option<String> {
    let rest = &line[line.find('@')? + 1..];
    match rest.strip_prefix('"') {
        Some(quoted) => Some(unescape(quoted.split('"').next()?)),
        None => Some(rest.split('(').next()?.to_owned()),
    }
}

/// The node that a metadata attachment such as `!kernel_arg_name !13` names.
fn reference<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let rest = &line[line.find(name)? + name.len()..];
    rest.split([' ', ',']).next()
}

/// The strings of a metadata list `!"a", !"b"}`.
fn strings(list: &str) -> Vec<String> {
    list.split("!\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .map(unescape)
        .collect()
}

/// `\XX` is a byte in hexadecimal.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'\\')
            .then(|| tail.get(..2))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

const OP_SOURCE_CONTINUED: u16 = 2;
const OP_SOURCE: u16 = 3;
const OP_SOURCE_EXTENSION: u16 = 4;
const OP_NAME: u16 = 5;
const OP_STRING: u16 = 7;
const OP_EXTENSION: u16 = 10;
const OP_EXT_INST_IMPORT: u16 = 11;
const OP_MEMORY_MODEL: u16 = 14;
const OP_ENTRY_POINT: u16 = 15;
const OP_EXECUTION_MODE: u16 = 16;
const OP_CAPABILITY: u16 = 17;
const OP_FUNCTION: u16 = 54;
const OP_FUNCTION_PARAMETER: u16 = 55;
const OP_EXECUTION_MODE_ID: u16 = 331;

/// What stands before the names in a module (SPIR-V, section 2.4 "Logical Layout of a Module").
const BEFORE_NAMES: [u16; 11] = [
    OP_SOURCE_CONTINUED,
    OP_SOURCE,
    OP_SOURCE_EXTENSION,
    OP_STRING,
    OP_EXTENSION,
    OP_EXT_INST_IMPORT,
    OP_MEMORY_MODEL,
    OP_ENTRY_POINT,
    OP_EXECUTION_MODE,
    OP_CAPABILITY,
    OP_EXECUTION_MODE_ID,
];

/// Words of the header.
const HEADER_WORDS: usize = 5;
/// Place of the bound in the header.
const BOUND: usize = 3;

/// Adds the strings and names to a module. A malformed module comes back as it is.
pub fn add(module: Vec<u32>, kernels: &[KernelArguments], wanted: Wanted) -> Vec<u32> {
    try_add(&module, kernels, wanted).unwrap_or(module)
}

fn try_add(module: &[u32], kernels: &[KernelArguments], wanted: Wanted) -> Option<Vec<u32>> {
    let mut bound = *module.get(BOUND)?;
    let mut entry_points: HashMap<u32, &KernelArguments> = HashMap::new();
    let mut names = Vec::new();
    let mut place = HEADER_WORDS;
    let mut current: Option<(&KernelArguments, usize)> = None;
    let mut offset = HEADER_WORDS;
    while offset < module.len() {
        let word = module[offset];
        let (opcode, count) = (word as u16, (word >> 16) as usize);
        let instruction = module.get(offset..offset + count.max(1))?;
        offset += count.max(1);
        if BEFORE_NAMES.contains(&opcode) {
            place = offset;
        }
        match (opcode, instruction) {
            (OP_ENTRY_POINT, [_, _, function, name @ ..]) => {
                let name = read_string(name);
                if let Some(kernel) = kernels.iter().find(|kernel| kernel.kernel == name) {
                    entry_points.insert(*function, kernel);
                }
            }
            (OP_FUNCTION, [_, _, function, ..]) => {
                current = entry_points.get(function).map(|kernel| (*kernel, 0));
            }
            (OP_FUNCTION_PARAMETER, [_, _, id, ..]) => {
                if let Some((kernel, index)) = &mut current {
                    if let Some(name) = kernel.names.get(*index).filter(|_| wanted.arguments) {
                        push_instruction(&mut names, OP_NAME, *id, name);
                    }
                    *index += 1;
                }
            }
            _ => {}
        }
    }
    let mut added = Vec::new();
    for kernel in entry_points.values() {
        let vector_type: Vec<String> = kernel.vector_type.iter().cloned().collect();
        for (kind, list, wanted) in [
            ("kernel_arg_type", &kernel.types, wanted.arguments),
            ("kernel_arg_type_qual", &kernel.qualifiers, wanted.arguments),
            (
                "kernel_vec_type_hint",
                &vector_type,
                wanted.vector_types && !vector_type.is_empty(),
            ),
        ] {
            if !wanted {
                continue;
            }
            let mut text = format!("{kind}.{}.", kernel.kernel);
            for item in list {
                text.push_str(item);
                text.push(',');
            }
            push_instruction(&mut added, OP_STRING, bound, &text);
            bound += 1;
        }
    }
    added.extend(names);
    let mut result = Vec::with_capacity(module.len() + added.len());
    result.extend_from_slice(module.get(..place)?);
    result.extend(added);
    result.extend_from_slice(module.get(place..)?);
    result[BOUND] = bound;
    Some(result)
}

/// An instruction of one id and one literal string; nothing if it would be too long for its count.
fn push_instruction(words: &mut Vec<u32>, opcode: u16, id: u32, text: &str) {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let Ok(count) = u16::try_from(2 + bytes.len() / 4) else {
        return;
    };
    words.extend([u32::from(count) << 16 | u32::from(opcode), id]);
    let (chunks, _) = bytes.as_chunks::<4>();
    words.extend(chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)));
}

fn read_string(words: &[u32]) -> String {
    let bytes: Vec<u8> = words
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read() {
        let text = "define spir_kernel void @k(ptr %0) #1 !kernel_arg_type !10 !kernel_arg_type_qual !12 \
            !kernel_arg_name !13 {\n\
            define spir_func void @k2() !kernel_arg_name !13 {\n\
            define spir_kernel void @\"a\\22b\"() !kernel_arg_name !14 {\n\
            !10 = !{!\"int*\", !\"float\"}\n!12 = !{!\"const volatile\", !\"\"}\n\
            !13 = !{!\"p\", !\"q\"}\n!14 = !{}\n";
        let kernels = parse(text);
        assert_eq!(kernels.len(), 2);
        assert_eq!(kernels[0].kernel, "k");
        assert_eq!(kernels[0].names, ["p", "q"]);
        assert_eq!(kernels[0].types, ["int*", "float"]);
        assert_eq!(kernels[0].qualifiers, ["const volatile", ""]);
        assert_eq!(kernels[1].kernel, "a\"b");
        assert!(kernels[1].names.is_empty());
    }

    #[test]
    fn a_malformed_module_is_left_alone() {
        let module = vec![0x0723_0203, 0x0001_0400, 0, 5, 0, 0x0009_000f, 6];
        let wanted = Wanted {
            arguments: true,
            vector_types: true,
        };
        let kernels = [KernelArguments::default()];
        assert_eq!(add(module.clone(), &kernels, wanted), module);
        assert_eq!(add(vec![1], &[], wanted), [1]);
    }

    #[test]
    fn vector_types_have_their_signs() {
        for (text, expected) in [
            ("<2 x i8> poison, i32 0}", "uchar2"),
            ("<16 x i64> undef, i32 1}", "long16"),
            ("i32 poison, i32 1}", "int"),
            ("<4 x float> poison, i32 0}", "float4"),
            ("half poison, i32 0}", "half"),
        ] {
            assert_eq!(vector_type(text).as_deref(), Some(expected));
        }
        assert_eq!(vector_type("}"), None);
    }
}
