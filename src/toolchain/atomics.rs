//! OpenCL C for the atomic functions of C11, put before every source that uses them.
//!
//! clang-22's SPIR-V back end forgets what some of them say: `atomic_exchange(p, v)` and `atomic_fetch_…(p, v)`
//! become relaxed operations of the work-group, like OpenCL 1.x's, where C11 means sequential consistency for
//! the device; with an order and no scope the scope is wrong; `atomic_store_explicit` is always sequentially
//! consistent, arithmetic on floats always relaxed. So all become functions of our own in their longest form,
//! which the compiler knows by name.
//!
//! Their names become those of functions that call these, so that a program can add overloads of its own.

use std::sync::LazyLock;

/// What a source needs; empty for one without such functions. `elsewhere` says that more of the program
/// comes from other files.
pub fn prelude(source: &str, elsewhere: bool) -> &'static str {
    const NAMES: [&str; 4] = [
        "atomic_load",
        "atomic_store",
        "atomic_exchange",
        "atomic_fetch_",
    ];
    static TEXT: LazyLock<String> = LazyLock::new(text);
    if elsewhere || NAMES.iter().any(|name| source.contains(name)) {
        &TEXT
    } else {
        ""
    }
}

/// Functions that return what was there, and what floats must have for them in global or local memory: the
/// end of the feature macro.
const READ_MODIFY_WRITE: [(&str, Option<&str>); 8] = [
    ("exchange", Some("load_store")),
    ("fetch_add", Some("add")),
    ("fetch_sub", Some("add")),
    ("fetch_min", Some("min_max")),
    ("fetch_max", Some("min_max")),
    ("fetch_or", None),
    ("fetch_xor", None),
    ("fetch_and", None),
];

/// An atomic type, what it holds, and the macros that go with it.
struct Object {
    name: &'static str,
    value: &'static str,
    /// The extension that it needs beside those for 64 bits.
    extension: Option<&'static str>,
    bits: u32,
    is_float: bool,
}

const fn object(name: &'static str, value: &'static str, bits: u32, is_float: bool) -> Object {
    let extension = match (bits, is_float) {
        (64, true) => Some("cl_khr_fp64"),
        (16, true) => Some("cl_khr_fp16"),
        _ => None,
    };
    Object {
        name,
        value,
        extension,
        bits,
        is_float,
    }
}

const OBJECTS: [Object; 7] = [
    object("atomic_int", "int", 32, false),
    object("atomic_uint", "uint", 32, false),
    object("atomic_long", "long", 64, false),
    object("atomic_ulong", "ulong", 64, false),
    object("atomic_float", "float", 32, true),
    object("atomic_double", "double", 64, true),
    object("atomic_half", "half", 16, true),
];

impl Object {
    /// The preprocessor's condition for a function of `feature`, if floats need one.
    fn condition(&self, feature: Option<&str>) -> String {
        let mut terms = Vec::new();
        terms.extend(self.extension.map(|name| format!("defined({name})")));
        if self.bits == 64 {
            terms.push("defined(cl_khr_int64_base_atomics)".into());
            terms.push("defined(cl_khr_int64_extended_atomics)".into());
        }
        let has_feature = |space: &str, feature: &str| {
            let bits = self.bits;
            format!("defined(__opencl_c_ext_fp{bits}_{space}_atomic_{feature})")
        };
        // Floats of 32 and 64 bits are moved without any.
        match feature {
            Some("load_store") if self.bits != 16 => {}
            Some(feature) if self.is_float => terms.push(format!(
                "({} || {})",
                has_feature("global", feature),
                has_feature("local", feature)
            )),
            _ => {}
        }
        if terms.is_empty() {
            "1".into()
        } else {
            terms.join(" && ")
        }
    }
}

/// Declares our own function behind one of C11's, and those that have its shorter forms.
fn declare(text: &mut String, name: &str, feature: Option<&str>) {
    use std::fmt::Write;
    for object in OBJECTS {
        if object.is_float && feature.is_none() {
            continue;
        }
        let (atomic, value) = (object.name, object.value);
        let result = if name == "store" { "void" } else { value };
        let (parameters, operands) = match name {
            "load" => (format!("volatile {atomic} *p"), "p"),
            _ => (format!("volatile {atomic} *p, {value} v"), "p, v"),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "#if {}\n{result} __PUMICE_OVERLOAD __pumice_atomic_{name}({parameters}, memory_order, memory_scope);",
            object.condition(feature)
        );
        for (form, more, order, scope) in [
            ("_explicit", ", memory_order o, memory_scope s", "o", "s"),
            ("_explicit", ", memory_order o", "o", "memory_scope_device"),
            ("", "", "memory_order_seq_cst", "memory_scope_device"),
        ] {
            let condition = match form {
                "" => "#ifdef __opencl_c_atomic_order_seq_cst\n",
                _ => "",
            };
            let end = if condition.is_empty() { "" } else { "#endif\n" };
            let _ = write!(
                text,
                "{condition}static inline {result} __PUMICE_INLINE __pumice_{name}{form}({parameters}{more}) \
                 {{ return __pumice_atomic_{name}({operands}, {order}, {scope}); }}\n{end}"
            );
        }
        text.push_str("#endif\n");
    }
    let _ = writeln!(
        text,
        "#define atomic_{name}_explicit __pumice_{name}_explicit\n\
         #ifdef __opencl_c_atomic_order_seq_cst\n#define atomic_{name} __pumice_{name}\n#endif"
    );
}

fn text() -> String {
    let mut text = String::from(
        "#if defined(__opencl_c_generic_address_space) && defined(__opencl_c_atomic_scope_device)\n\
         #define __PUMICE_OVERLOAD __attribute__((overloadable))\n\
         #define __PUMICE_INLINE __attribute__((overloadable, always_inline))\n",
    );
    let all = [("load", Some("load_store")), ("store", Some("load_store"))];
    for (name, feature) in all.into_iter().chain(READ_MODIFY_WRITE) {
        declare(&mut text, name, feature);
    }
    text.push_str("#undef __PUMICE_OVERLOAD\n#undef __PUMICE_INLINE\n#endif\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_without_c11_atomics_needs_nothing() {
        assert_eq!(prelude("atomic_inc(p); atomic_add(p, 1);", false), "");
        assert!(prelude("atomic_fetch_add(p, 1);", false).contains("memory_order_seq_cst"));
        assert!(!prelude("", true).is_empty());
    }
}
