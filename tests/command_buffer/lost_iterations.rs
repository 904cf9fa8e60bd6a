//! Kernels in a command buffer that make more iterations than some devices do.

use super::setup::{IN_ORDER, Setup};

use opencl_sys as cl;
use opencl3::error_codes::CL_OUT_OF_RESOURCES;
use opencl3::event::CL_COMPLETE;
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::program::Program;

const SOURCE: &str = "
kernel void walk(global uint *out, uint steps) {
    uint made = 0, at = out[0];
    while (get_global_id(0) == 0 && made < steps) {
        at = (at ^ out[1 + (at >> 31)]) * 1664525 + 1013904223;
        if (at == out[3]) made += out[4];
        made++;
    }
    if (get_global_id(0) == 0) out[5] = made;
}";

/// Every execution is complete only if all iterations were made, whether its launches can be updated or not.
#[test]
fn an_execution_is_complete_only_if_all_iterations_were_made() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    if setup.program().is_none() {
        return;
    }
    let program = Program::create_and_build_from_source(&setup.context, SOURCE, "").unwrap();
    let mut target = setup.buffer();
    for (steps, flags) in [
        (4_000_000_u32, 0),
        (4_000_000, cl::CL_COMMAND_BUFFER_MUTABLE_KHR),
        (1000, 0),
    ] {
        let kernel = Kernel::create(&program, "walk").expect("a kernel");
        // SAFETY: values of the right types.
        unsafe {
            kernel.set_arg(0, &target.get()).unwrap();
            kernel.set_arg(1, &steps).unwrap();
        }
        let buffer = setup.command_buffer_with(flags);
        if flags == 0 {
            buffer.launch(&kernel, &[]);
        } else {
            buffer.launch_mutable(&kernel, &[]);
        }
        assert_eq!(buffer.finalize(), 0);
        for _ in 0..2 {
            setup.write(&mut target, 0);
            let event = buffer.enqueue_on(&mut [], &[]).unwrap();
            let finished = setup.queue.finish();
            let status = event.command_execution_status().unwrap().0;
            match status {
                CL_COMPLETE => assert_eq!(setup.read(&target)[5], steps),
                _ => assert_eq!(status, CL_OUT_OF_RESOURCES),
            }
            assert_eq!(finished.is_ok(), status == CL_COMPLETE);
            assert!(status == CL_COMPLETE || steps > 60_000);
        }
    }
}
