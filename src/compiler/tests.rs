//! The whole way: OpenCL C to Vulkan SPIR-V that the validator accepts.

use super::emit::validate::{assert_valid, disassemble};
use super::testing::{opencl_c, opencl_c_with};
use super::{Capabilities, CompileError, CompiledProgram, Library, Options, compile};
use std::sync::OnceLock;

fn compile_words(
    modules: &[&[u32]],
    capabilities: &Capabilities,
) -> Result<CompiledProgram, CompileError> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| Library::embedded().expect("the library is embedded"));
    compile(modules, library, capabilities, &Options::default())
}

fn compile_c(source: &str, level: &str, capabilities: &Capabilities) -> CompiledProgram {
    let words = opencl_c_with(source, &[level]);
    let program = compile_words(&[&words], capabilities).unwrap_or_else(|error| panic!("{error}"));
    for kernel in &program.kernels {
        assert_valid(&kernel.spirv.words().unwrap());
    }
    program
}

const VECTOR_ADD: &str = "
    kernel void add(global const float *a, global const float *b, global float *c, uint n) {
        size_t i = get_global_id(0);
        if (i < n) c[i] = a[i] + b[i];
    }";

#[test]
fn a_vector_add_for_every_device() {
    for capabilities in [Capabilities::full(), Capabilities::minimal()] {
        let program = compile_c(VECTOR_ADD, "-O2", &capabilities);
        let [kernel] = program.kernels.as_slice() else {
            panic!("one kernel");
        };
        assert_eq!((kernel.name.as_str(), kernel.arguments.len()), ("add", 4));
        assert!(!kernel.uses_barrier);
    }
}

/// What clang knows of overflow reaches the pass that needs it, and loops are unrolled after that: of eighteen places that
/// are loaded from none is widened by itself.
#[test]
fn loops_count_addresses_on_where_the_device_asks() {
    let source = include_str!("../../benches/kernels/plain_product.cl");
    // As the driver asks for it.
    let counters = [
        "-mllvm",
        "-disable-lsr",
        "-mllvm",
        "-indvars-widen-indvars=false",
    ];
    let words = opencl_c_with(source, &[&["-O2"], &counters[..]].concat());
    for (counts_addresses, loads, widened) in [(false, 2, 2), (true, 2 * (8 + 4 + 2 + 1 + 1), 3)] {
        let capabilities = Capabilities {
            counts_addresses,
            ..Capabilities::full()
        };
        let program = compile_words(&[&words], &capabilities).unwrap();
        assert_valid(&program.kernels[0].spirv.words().unwrap());
        let Some(text) = disassemble(&program.kernels[0].spirv.words().unwrap()) else {
            return;
        };
        assert_eq!(text.matches("Aligned 4").count(), loads + 1, "{text}");
        // One more widens the place in the product.
        assert_eq!(text.matches("OpSConvert").count(), widened + 1, "{text}");
    }
}

/// Kernels of all sorts, as clang optimizes them and as it does not.
#[test]
fn ordinary_programs_for_every_device() {
    let double = include_str!("../../tests/compiler/doubles.cl");
    let sources = [
        include_str!("../../tests/compiler/structures.cl"),
        include_str!("../../tests/compiler/vectors.cl"),
        include_str!("../../tests/compiler/work_groups.cl"),
        include_str!("../../tests/compiler/images.cl"),
    ];
    for level in ["-O0", "-O2"] {
        for source in sources {
            for capabilities in [Capabilities::full(), Capabilities::minimal()] {
                assert!(!compile_c(source, level, &capabilities).kernels.is_empty());
            }
        }
        compile_c(double, level, &Capabilities::full());
    }
}

/// Everything natively, everything built from shuffles of words, and sub-groups of one.
#[test]
fn sub_groups_for_every_device() {
    let words = opencl_c(include_str!("../../tests/compiler/sub_groups.cl"));
    let alone = Capabilities {
        subgroup: Default::default(),
        subgroup_size: 1,
        min_subgroup_size: 1,
        ..Capabilities::full()
    };
    let wave64 = Capabilities {
        subgroup_size: 64,
        ..Capabilities::minimal()
    };
    for capabilities in [Capabilities::full(), Capabilities::minimal(), wave64, alone] {
        let program = compile_words(&[&words], &capabilities).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(program.kernels.len(), 16);
        for kernel in &program.kernels {
            assert_valid(&kernel.spirv.words().unwrap());
            assert_eq!(
                kernel.uses_subgroups,
                capabilities.subgroup_size > 1
                    && kernel.name != "work_group_char"
                    && kernel.name != "work_group_ushort"
            );
        }
    }
}

/// Neighbours read neighbouring elements, each in one access as wide as the element, at one offset after another from
/// one address: what a GPU makes one transaction of. What is read is aligned by 4 bytes and no more, and wider elements
/// come in two parts.
#[test]
fn blocks_are_read_and_written_by_whole_elements() {
    for (ty, suffix, width) in [
        ("uint", "ui", 8),
        ("ulong", "ul", 4),
        ("ushort", "us", 16),
        ("uchar", "uc", 16),
    ] {
        let source = format!(
            "{ty}{width} __attribute__((overloadable, convergent))
                 intel_sub_group_block_read_{suffix}{width}(const global {ty} *);
             void __attribute__((overloadable, convergent))
                 intel_sub_group_block_write_{suffix}{width}(global {ty} *, {ty}{width});
             kernel void copy(global const {ty} *in, global {ty} *out) {{
                 intel_sub_group_block_write_{suffix}{width}(out, intel_sub_group_block_read_{suffix}{width}(in)); }}"
        );
        let program = compile_c(&source, "-O2", &Capabilities::full());
        let Some(text) = disassemble(&program.kernels[0].spirv.words().unwrap()) else {
            return;
        };
        let bytes = match ty {
            "uchar" => 1,
            "ushort" => 2,
            "uint" => 4,
            _ => 8,
        };
        let accesses = |op: &str| -> Vec<&str> {
            let lines = text.lines().filter(|line| line.contains(op));
            lines.filter(|line| line.contains("Aligned")).collect()
        };
        for op in ["OpLoad", "OpStore"] {
            let accesses = accesses(op);
            let part = if op == "OpLoad" { bytes.min(4) } else { bytes };
            assert_eq!(accesses.len(), width * bytes / part, "{op} of {ty}: {text}");
            let aligned = format!("Aligned {part}");
            assert!(
                accesses.iter().all(|line| line.contains(&aligned)),
                "{text}"
            );
        }
        for op in ["OpBranch ", "OpGroupNonUniform"] {
            assert!(!text.contains(op), "{op}: {text}");
        }
    }
}

#[test]
fn what_is_missing_is_said() {
    let words = opencl_c("int f(int x); kernel void k(global int *p) { p[0] = f(1); }");
    let error = compile_words(&[&words], &Capabilities::full()).expect_err("refused");
    assert_eq!(
        error.to_string(),
        "error: invalid: undefined reference to 'f' in function 'k'"
    );

    let words = opencl_c(include_str!("../../tests/compiler/doubles.cl"));
    let error = compile_words(&[&words], &Capabilities::minimal()).expect_err("refused");
    assert!(
        error
            .reason
            .ends_with("on doubles, which the device does not have"),
        "{error}"
    );
    assert_eq!(error.function.as_deref(), Some("doubles"));
}

#[test]
fn a_kernel_that_asks_too_much_is_left_out_alone() {
    let bad = "__attribute__((intel_reqd_sub_group_size(1024))) kernel void bad() {}\n";
    let good = "kernel void good(global int *p) { p[0] = 7; }\n";
    let reason = "the kernel requires sub-groups of 1024 work-items";
    let words = opencl_c(&format!("{bad}{good}"));
    let program = compile_words(&[&words], &Capabilities::full()).expect("compiled");
    assert_eq!(program.kernels.len(), 1);
    assert_eq!(program.left_out[0].0, "bad");
    assert!(program.left_out[0].1.contains(reason), "{program:?}");

    let words = opencl_c(bad);
    let error = compile_words(&[&words], &Capabilities::full()).expect_err("refused");
    assert!(error.reason.starts_with(reason), "{error}");
}
