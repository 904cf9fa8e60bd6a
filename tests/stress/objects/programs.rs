//! Programs from everything that they are made of, their kernels, and command buffers of these.

use super::super::setup::{COUNT, argument, config};
use super::Bench;
use std::ptr;

use opencl_sys::{CL_COMMAND_BUFFER_MUTABLE_KHR, cl_mutable_dispatch_config_khr};
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::program::{Program, link_program, release_program};
use opencl3::types::cl_program;
use rspirv::binary::Assemble;
use rspirv::dr::Builder;
use rspirv::spirv::{AddressingModel, Capability, ExecutionModel, FunctionControl, MemoryModel};

/// The setup's kernel of that name.
pub const ADD: &str =
    "kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }";
const SOURCE: &str = "uint half_of(uint value);
kernel void test(global uint *out) { out[0] = half_of(get_global_id(0)); }";
const LIBRARY: &str = "uint half_of(uint value) { return value / 2; }";

/// Builds take their time: one of each kind in so many rounds.
const ROUNDS_A_BUILD: u32 = 400;

/// A module with a kernel that does nothing.
pub fn module() -> Vec<u8> {
    let mut builder = Builder::new();
    builder.set_version(1, 0);
    builder.capability(Capability::Kernel);
    builder.capability(Capability::Addresses);
    builder.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let void = builder.type_void();
    let kind = builder.type_function(void, []);
    let function = builder
        .begin_function(void, None, FunctionControl::NONE, kind)
        .expect("a function");
    builder.begin_block(None).expect("a block");
    builder.ret().expect("an end");
    builder.end_function().expect("an end");
    builder.entry_point(ExecutionModel::Kernel, function, "test", []);
    let words = builder.module().assemble();
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

impl Bench {
    /// Programs of every kind.
    pub(super) fn programs(&self, number: u32) {
        let context = &self.setup.context;
        let devices = [self.setup.device.id()];
        let program =
            Program::create_and_build_from_binary(context, &[&self.binary], "").expect("a program");
        let kernel = Kernel::create(&program, "add").expect("a kernel");
        assert!(Kernel::create(&program, "none").is_err());
        let words = self.setup.buffer();
        // SAFETY: values of the right types; one dimension.
        unsafe {
            kernel.set_arg(0, &words.get()).expect("an argument");
            kernel.set_arg(1, &number).expect("an argument");
            let clone = kernel.clone();
            // Each program's first launch has the driver compile.
            if number.is_multiple_of(ROUNDS_A_BUILD) {
                let queue = &self.setup.queue;
                queue
                    .enqueue_nd_range_kernel(clone.get(), 1, ptr::null(), &COUNT, ptr::null(), &[])
                    .expect("a launch");
            }
        }
        let mut source = Program::create_from_source(context, SOURCE).expect("a program");
        let mut module = Program::create_from_il(context, &self.module).expect("a program");
        if !number.is_multiple_of(ROUNDS_A_BUILD) {
            return;
        }
        module.build(&devices, "").expect("a build");
        Kernel::create(&module, "test").expect("a kernel");
        assert!(source.build(&devices, "").is_err(), "a function is missing");
        source.compile(&devices, "", &[], &[]).expect("an object");
        let mut library = Program::create_from_source(context, LIBRARY).expect("a program");
        library.compile(&devices, "", &[], &[]).expect("an object");
        let parts: [cl_program; 2] = [source.get(), library.get()];
        // SAFETY: live programs.
        unsafe {
            let none = ptr::null_mut();
            let linked = link_program(context.get(), &devices, c"", &parts, None, none);
            release_program(linked.expect("a program")).expect("a release");
        }
        let wrong = "kernel void test() { nothing_of_that_name(); }";
        assert!(Program::create_and_build_from_source(context, wrong, "").is_err());
    }

    /// A command buffer that is updated between two executions, and a copy of it.
    pub(super) fn command_buffers(&self, number: u32) {
        let setup = &self.setup;
        let words = setup.buffer();
        let kernel = Kernel::create(&self.program, "add").expect("a kernel");
        // SAFETY: values of the right types.
        unsafe {
            kernel.set_arg(0, &words.get()).expect("an argument");
            kernel.set_arg(1, &1_u32).expect("an argument");
        }
        let buffer = setup.command_buffer_with(CL_COMMAND_BUFFER_MUTABLE_KHR);
        let filled = buffer.fill(&words, number, &[]);
        buffer.barrier();
        let command = buffer.launch_mutable(&kernel, &[]);
        buffer.launch(&kernel, &[filled]);
        assert_eq!(buffer.finalize(), 0);
        buffer.enqueue_unseen();
        let arguments = [argument(1, &number)];
        let local = 1_usize << (number % 5);
        let update = cl_mutable_dispatch_config_khr {
            num_args: 1,
            arg_list: arguments.as_ptr(),
            // Now and then another recording.
            local_work_size: if number.is_multiple_of(2) {
                &local
            } else {
                ptr::null()
            },
            ..config(command)
        };
        assert_eq!(buffer.update(&[update]), 0);
        buffer.enqueue().wait().expect("the end");
        let expected = number.wrapping_mul(2).wrapping_add(1);
        assert_eq!(setup.read(&words), vec![expected; COUNT]);
    }
}
