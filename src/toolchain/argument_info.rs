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

use super::instructions::{self, Instruction, opcode};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// What the source says of one kernel's arguments, in order, and of its vector type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KernelArguments {
    pub kernel: String,
    pub names: Vec<String>,
    /// The types as written in the source, without qualifiers: `float4*`.
    pub types: Vec<String>,
    /// `const`, `restrict`, `volatile`, parted by spaces.
    pub qualifiers: Vec<String>,
    /// `vec_type_hint`, as OpenCL C spells the type.
    pub vector_type: Option<String>,
}

/// Which of it is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Adds the strings and names to a module. A malformed module comes back as it is.
pub fn add(module: Vec<u32>, kernels: &[KernelArguments], wanted: Wanted) -> Vec<u32> {
    try_add(&module, kernels, wanted).unwrap_or(module)
}

fn try_add(module: &[u32], kernels: &[KernelArguments], wanted: Wanted) -> Option<Vec<u32>> {
    let mut entry_points: HashMap<u32, &KernelArguments> = HashMap::new();
    let mut names = Vec::new();
    let mut current: Option<(&KernelArguments, usize)> = None;
    for Instruction { opcode, words } in instructions::all(module) {
        match (opcode, words) {
            (opcode::ENTRY_POINT, [_, _, function, name @ ..]) => {
                let name = instructions::string(name);
                if let Some(kernel) = kernels.iter().find(|kernel| kernel.kernel == name) {
                    entry_points.insert(*function, kernel);
                }
            }
            (opcode::FUNCTION, [_, _, function, ..]) => {
                current = entry_points.get(function).map(|kernel| (*kernel, 0));
            }
            (opcode::FUNCTION_PARAMETER, [_, _, id, ..]) => {
                if let Some((kernel, index)) = &mut current {
                    if let Some(name) = kernel.names.get(*index).filter(|_| wanted.arguments) {
                        names.push((*id, name.clone()));
                    }
                    *index += 1;
                }
            }
            _ => {}
        }
    }
    let mut strings = Vec::new();
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
            strings.push(text);
        }
    }
    instructions::with_debug_info(module, &strings, &names)
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
