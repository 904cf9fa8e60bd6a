//! The whole way: OpenCL C to Vulkan SPIR-V that the validator accepts.

use super::emit::validate::assert_valid;
use super::testing::opencl_c;
use super::{Capabilities, CompiledProgram, Library, Options, compile};
use std::sync::OnceLock;

fn compile_c(source: &str, capabilities: &Capabilities) -> CompiledProgram {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| Library::embedded().expect("the library is embedded"));
    let words = opencl_c(source);
    let program = compile(&[&words], library, capabilities, &Options::default())
        .unwrap_or_else(|error| panic!("{error}"));
    for kernel in &program.kernels {
        assert_valid(&kernel.spirv);
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
        let program = compile_c(VECTOR_ADD, &capabilities);
        let [kernel] = program.kernels.as_slice() else {
            panic!("one kernel");
        };
        assert_eq!((kernel.name.as_str(), kernel.arguments.len()), ("add", 4));
        assert!(!kernel.uses_barrier);
    }
}
