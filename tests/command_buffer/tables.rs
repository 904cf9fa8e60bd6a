//! Constant tables of several programs in one command buffer.

use super::setup::{COUNT, IN_ORDER, Setup};

use opencl_sys as cl;
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::program::Program;

/// Launches of two programs in turns, which are let go of before the command buffer runs.
#[test]
fn each_program_reads_its_own() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    if setup.program().is_none() {
        return;
    }
    for flags in [0, cl::CL_COMMAND_BUFFER_MUTABLE_KHR] {
        let target = setup.buffer();
        let buffer = setup.command_buffer_with(flags);
        {
            let kernels = [3, 5].map(|factor| {
                let all: Vec<String> = (0..256).map(|it| (it * factor).to_string()).collect();
                let source = format!(
                    "constant uint t[256] = {{{}}};
                    kernel void look(global uint *d) {{
                        size_t i = get_global_id(0);
                        d[i] = t[(d[i] + i) & 255];
                    }}",
                    all.join(",")
                );
                let program = Program::create_and_build_from_source(&setup.context, &source, "");
                let kernel =
                    Kernel::create(&program.expect("a program"), "look").expect("a kernel");
                // SAFETY: a buffer, as the kernel takes.
                unsafe { kernel.set_arg(0, &target.get()) }.expect("it is taken");
                kernel
            });
            for _ in 0..3 {
                for kernel in &kernels {
                    buffer.launch(kernel, &[]);
                }
            }
        }
        assert_eq!(buffer.finalize(), 0);
        let mut target = target;
        setup.write(&mut target, 1);
        for _ in 0..2 {
            buffer.enqueue();
        }
        let of = |index: u32| {
            let factors = [3, 5].into_iter().cycle().take(12);
            factors.fold(1, |number, factor| ((number + index) & 255) * factor)
        };
        let expected: Vec<u32> = (0..COUNT as u32).map(of).collect();
        assert_eq!(setup.read(&target), expected, "{flags}");
    }
}
