//! OpenCL C for the atomic functions of C11, put before every source that uses them.
//!
//! clang-22's SPIR-V back end forgets what some of them say: `atomic_exchange(p, v)` and `atomic_fetch_…(p, v)`
//! become relaxed operations of the work-group, like OpenCL 1.x's, where C11 means sequential consistency for
//! the device; with an order and no scope the scope is wrong; `atomic_store_explicit` is always sequentially
//! consistent. So all become their longest form, and stores a function of our own, which the compiler knows.

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
    match elsewhere || NAMES.iter().any(|name| source.contains(name)) {
        true => &TEXT,
        false => "",
    }
}

/// Functions of a pointer and a value that return what was there.
const READ_MODIFY_WRITE: [&str; 8] = [
    "exchange",
    "fetch_add",
    "fetch_sub",
    "fetch_or",
    "fetch_xor",
    "fetch_and",
    "fetch_min",
    "fetch_max",
];

/// Types of atomic objects, what they hold, and what must be defined for them.
const TYPES: [(&str, &str, &str); 6] = [
    ("atomic_int", "int", ""),
    ("atomic_uint", "uint", ""),
    ("atomic_float", "float", ""),
    ("atomic_long", "long", LONG),
    ("atomic_ulong", "ulong", LONG),
    ("atomic_double", "double", DOUBLE),
];
const LONG: &str = "defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics)";
const DOUBLE: &str = "defined(cl_khr_int64_base_atomics) && defined(cl_khr_int64_extended_atomics) \
                      && defined(cl_khr_fp64)";

fn text() -> String {
    use std::fmt::Write;
    let mut text = String::from(
        "#if defined(__opencl_c_generic_address_space) && defined(__opencl_c_atomic_scope_device)\n\
         #define __PUMICE_ORDER(order, scope, ...) order, scope\n\
         #define __PUMICE_STORE __attribute__((overloadable))\n",
    );
    for (object, value, condition) in TYPES {
        let function = format!(
            "__PUMICE_STORE void __pumice_atomic_store(volatile {object} *, {value}, memory_order, memory_scope);"
        );
        let _ = match condition {
            "" => writeln!(text, "{function}"),
            _ => writeln!(text, "#if {condition}\n{function}\n#endif"),
        };
    }
    text.push_str(
        "#undef __PUMICE_STORE\n\
         #define atomic_load_explicit(p, ...) \
         atomic_load_explicit((p), __PUMICE_ORDER(__VA_ARGS__, memory_scope_device,))\n\
         #define atomic_store_explicit(p, v, ...) \
         __pumice_atomic_store((p), (v), __PUMICE_ORDER(__VA_ARGS__, memory_scope_device,))\n",
    );
    for name in READ_MODIFY_WRITE {
        let _ = writeln!(
            text,
            "#define atomic_{name}_explicit(p, v, ...) \
             atomic_{name}_explicit((p), (v), __PUMICE_ORDER(__VA_ARGS__, memory_scope_device,))"
        );
    }
    text.push_str(
        "#ifdef __opencl_c_atomic_order_seq_cst\n\
         #define atomic_load(p) atomic_load_explicit((p), memory_order_seq_cst)\n\
         #define atomic_store(p, v) atomic_store_explicit((p), (v), memory_order_seq_cst)\n",
    );
    for name in READ_MODIFY_WRITE {
        let _ = writeln!(
            text,
            "#define atomic_{name}(p, v) atomic_{name}_explicit((p), (v), memory_order_seq_cst)"
        );
    }
    text.push_str("#endif\n#endif\n");
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
