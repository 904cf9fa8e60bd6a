//! Kernels through the API, with code that is given and not compiled: programs from binaries, arguments,
//! ranges, and what the specification says of wrong ones.

mod common;

use std::path::Path;
use std::process::Command;
use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_INVALID_ARG_INDEX, CL_INVALID_ARG_SIZE, CL_INVALID_ARG_VALUE, CL_INVALID_BINARY,
    CL_INVALID_GLOBAL_OFFSET, CL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_NAME,
    CL_INVALID_MEM_OBJECT, CL_INVALID_OPERATION, CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE,
    CL_INVALID_WORK_DIMENSION, CL_INVALID_WORK_GROUP_SIZE, CL_OUT_OF_RESOURCES, cl_int,
};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::{CL_PROGRAM_BINARY_TYPE_EXECUTABLE, Program};
use opencl3::types::CL_BLOCKING;
use pumice::compiler::program::{
    Argument, ArgumentBlock, ArgumentInfo, ArgumentKind, BufferSpace, Implicit, KernelAttributes,
    Placement,
};
use pumice::compiler::{CompiledKernel, CompiledProgram, PackedModule};
use pumice::runtime::code::binary::{Binary, StoredExecutable};
use pumice::runtime::platform::Platform;

fn iota() -> Vec<u32> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/iota.spvasm");
    let output = Command::new("spirv-as")
        .args(["--target-env", "vulkan1.2", "-o", "-"])
        .arg(source)
        .output()
        .expect("spirv-as is installed (apt install spirv-tools)");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    pumice::compiler::spirv::words::from_bytes(&output.stdout).expect("spirv-as makes SPIR-V")
}

/// `iota(global uint *out, uint n, local float *scratch, uint unused)`
fn program(required: Option<[u32; 3]>) -> CompiledProgram {
    let argument = |kind| Argument {
        kind,
        info: ArgumentInfo::default(),
    };
    CompiledProgram {
        kernels: vec![CompiledKernel {
            name: "iota".into(),
            spirv: PackedModule::new(&iota()),
            arguments: vec![
                argument(ArgumentKind::Buffer {
                    offset_bytes: 0,
                    address_space: BufferSpace::Global,
                    written: true,
                    read: false,
                }),
                argument(ArgumentKind::Value {
                    offset_bytes: 8,
                    size_bytes: 4,
                }),
                argument(ArgumentKind::Local {
                    spec_id: 3,
                    element_bytes: 4,
                    granule_bytes: 4,
                }),
                argument(ArgumentKind::Unused {
                    size_bytes: 8,
                    memory: pumice::compiler::program::UnusedMemory::Value,
                }),
            ],
            argument_block: ArgumentBlock {
                size_bytes: 24,
                placement: Placement::PushConstants,
                implicit: vec![(Implicit::GlobalBase(0), 16)],
            },
            attributes: KernelAttributes {
                required_work_group_size: required,
                ..KernelAttributes::default()
            },
            local_memory_bytes: 0,
            private_memory_bytes: 0,
            uses_barrier: false,
            uniform_work_groups: true,
            sees_work_groups: true,
            follows_pointers: false,
            uses_subgroups: false,
            small_range_spec_id: None,
            whole_rows_spec_id: None,
            uniform_bytes: 0,
            excess: None,
            printf_calls: Vec::new(),
        }],
        ..CompiledProgram::default()
    }
}

struct Setup {
    context: Context,
    queue: CommandQueue,
    program: Program,
    kernel: Kernel,
}

fn binary(program: CompiledProgram) -> Vec<u8> {
    let capabilities = Platform::instance().devices()[0].capabilities();
    Binary::Executable(StoredExecutable {
        modules: Default::default(),
        program: Some(program),
    })
    .to_bytes(capabilities)
}

fn setup(required: Option<[u32; 3]>) -> Option<Setup> {
    setup_of(program(required))
}

/// With the program's kernel `iota`.
fn setup_of(program: CompiledProgram) -> Option<Setup> {
    let device = common::device()?;
    let context = Context::from_device(&device).expect("context");
    #[allow(deprecated)]
    let queue = CommandQueue::create_default(&context, 0).expect("queue");
    // SAFETY: the binary is a slice.
    let mut program =
        unsafe { Program::create_from_binary(&context, context.devices(), &[&binary(program)]) }
            .expect("program");
    program.build(context.devices(), "").expect("build");
    let kernel = Kernel::create(&program, "iota").expect("kernel");
    Some(Setup {
        context,
        queue,
        program,
        kernel,
    })
}

impl Setup {
    fn buffer(&self, count: usize) -> Buffer<u32> {
        // SAFETY: no host pointer.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, count, ptr::null_mut()) }
            .expect("buffer")
    }

    fn set(&self, buffer: &Buffer<u32>, n: u32, local_bytes: usize) {
        // SAFETY: the arguments are what the kernel was described with.
        unsafe {
            self.kernel.set_arg(0, &buffer.get()).expect("argument 0");
            self.kernel.set_arg(1, &n).expect("argument 1");
            self.kernel
                .set_arg_local_buffer(2, local_bytes)
                .expect("argument 2");
            self.kernel.set_arg(3, &7u64).expect("argument 3");
        }
    }

    fn enqueue(
        &self,
        dim: u32,
        offset: &[usize],
        global: &[usize],
        local: &[usize],
    ) -> Result<(), cl_int> {
        let pointer = |list: &[usize]| match list {
            [] => ptr::null(),
            list => list.as_ptr(),
        };
        // SAFETY: the lists are as long as `dim`, or NULL.
        unsafe {
            self.queue.enqueue_nd_range_kernel(
                self.kernel.get(),
                dim,
                pointer(offset),
                pointer(global),
                pointer(local),
                &[],
            )
        }
        .map(drop)
        .map_err(|error| error.0)
    }

    fn read(&self, buffer: &Buffer<u32>, count: usize) -> Vec<u32> {
        let mut values = vec![0; count];
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut values, &[])
        }
        .expect("read");
        values
    }
}

#[test]
fn a_range_runs_with_its_offset_and_arguments() {
    let Some(setup) = setup(None) else { return };
    let buffer = setup.buffer(1000);
    // SAFETY: the pattern is a word.
    unsafe {
        setup
            .queue
            .enqueue_fill_buffer(&mut setup.buffer(1), &[0u32], 0, 4, &[])
    }
    .expect("fill");
    for (offset, global, local, local_bytes) in [
        (0, 1000, 0, 4),
        (0, 1000, 100, 400),
        (10, 990, 10, 5),
        (999, 1, 0, 1),
    ] {
        setup.set(&buffer, 5, local_bytes);
        let locals = [local];
        let local: &[usize] = if local == 0 { &[] } else { &locals };
        setup
            .enqueue(1, &[offset], &[global], local)
            .expect("enqueue");
        let values = setup.read(&buffer, 1000);
        let length = local_bytes.div_ceil(4) as u32;
        for (index, &value) in values.iter().enumerate().skip(offset).take(global) {
            assert_eq!(
                value,
                5 + index as u32 + length,
                "{offset} {global} {index}"
            );
        }
    }
}

#[test]
fn arguments_are_copied_when_set_and_when_enqueued() {
    let Some(setup) = setup(None) else { return };
    let (first, second) = (setup.buffer(64), setup.buffer(64));
    setup.set(&first, 1, 4);
    setup.enqueue(1, &[], &[64], &[64]).expect("enqueue");
    setup.set(&second, 2, 8);
    setup.enqueue(1, &[], &[64], &[64]).expect("enqueue");
    let clone = setup.kernel.clone();
    drop(clone);
    assert_eq!(setup.read(&first, 64)[63], 63 + 1 + 1);
    assert_eq!(setup.read(&second, 64)[63], 63 + 2 + 2);
}

#[test]
fn a_kernel_does_not_keep_the_buffers_set_on_it() {
    let Some(setup) = setup(None) else { return };
    let buffer = setup.buffer(64);
    setup.set(&buffer, 1, 4);
    setup.enqueue(1, &[], &[64], &[]).expect("enqueue");
    // The command under way keeps it, the kernel does not.
    drop(buffer);
    setup.queue.finish().expect("finish");
    assert_eq!(
        setup.enqueue(1, &[], &[64], &[]),
        Err(CL_INVALID_KERNEL_ARGS)
    );
}

#[test]
fn ranges_beyond_the_dispatch_limit_are_whole() {
    let Some(setup) = setup(None) else { return };
    // More groups than the 65,535 that the software devices dispatch at once.
    let count = 150_001;
    let buffer = setup.buffer(count);
    setup.set(&buffer, 3, 4);
    setup.enqueue(1, &[], &[count], &[1]).expect("enqueue");
    let values = setup.read(&buffer, count);
    assert!(
        values
            .iter()
            .zip(0u32..)
            .all(|(value, index)| *value == index + 3 + 1)
    );
}

#[test]
fn ranges_of_nothing_succeed() {
    let Some(setup) = setup(None) else { return };
    let buffer = setup.buffer(1);
    setup.set(&buffer, 1, 4);
    setup.enqueue(1, &[], &[0], &[]).expect("zero");
    setup.enqueue(3, &[], &[4, 0, 4], &[]).expect("zero in y");
    setup.enqueue(2, &[], &[], &[]).expect("NULL");
    setup.queue.finish().expect("finish");
}

#[test]
fn wrong_ranges_are_answered_by_their_codes() {
    let Some(setup) = setup(None) else { return };
    assert_eq!(
        setup.enqueue(1, &[], &[1], &[]),
        Err(CL_INVALID_KERNEL_ARGS)
    );
    let buffer = setup.buffer(64);
    setup.set(&buffer, 1, 4);
    assert_eq!(
        setup.enqueue(0, &[], &[1], &[]),
        Err(CL_INVALID_WORK_DIMENSION)
    );
    assert_eq!(
        setup.enqueue(4, &[], &[1, 1, 1, 1], &[]),
        Err(CL_INVALID_WORK_DIMENSION)
    );
    assert_eq!(
        setup.enqueue(1, &[usize::MAX], &[64], &[]),
        Err(CL_INVALID_GLOBAL_OFFSET)
    );
    for local in [7, 0, 1 << 20] {
        assert_eq!(
            setup.enqueue(1, &[], &[64], &[local]),
            Err(CL_INVALID_WORK_GROUP_SIZE),
            "{local}"
        );
    }
    setup.set(&buffer, 1, 1 << 30);
    assert_eq!(setup.enqueue(1, &[], &[64], &[]), Err(CL_OUT_OF_RESOURCES));
}

#[test]
fn a_kernel_that_needs_too_much_fails_alone_and_when_it_is_launched() {
    let mut compiled = program(None);
    let mut large = compiled.kernels[0].clone();
    large.name = "large".into();
    large.excess = Some("it takes 2 bytes of what the driver has 1 of".into());
    compiled.kernels.push(large);
    let Some(mut setup) = setup_of(compiled) else {
        return;
    };
    let log = setup.program.get_build_log(setup.context.devices()[0]);
    let warning = "kernel 'large' can't be launched: it takes 2 bytes";
    assert!(
        log.as_ref().is_ok_and(|log| log.contains(warning)),
        "{log:?}"
    );
    let buffer = setup.buffer(64);
    setup.set(&buffer, 64, 4);
    assert_eq!(setup.enqueue(1, &[], &[64], &[]), Ok(()));
    setup.kernel = Kernel::create(&setup.program, "large").expect("kernel");
    setup.set(&buffer, 64, 4);
    assert_eq!(setup.enqueue(1, &[], &[64], &[]), Err(CL_OUT_OF_RESOURCES));
}

#[test]
fn a_required_size_is_used_and_insisted_on() {
    let Some(setup) = setup(Some([16, 1, 1])) else {
        return;
    };
    let buffer = setup.buffer(64);
    setup.set(&buffer, 0, 4);
    setup.enqueue(1, &[], &[64], &[]).expect("required");
    setup.enqueue(1, &[], &[64], &[16]).expect("the same");
    assert_eq!(
        setup.enqueue(1, &[], &[64], &[32]),
        Err(CL_INVALID_WORK_GROUP_SIZE)
    );
    assert_eq!(
        setup.enqueue(1, &[], &[65], &[]),
        Err(CL_INVALID_WORK_GROUP_SIZE)
    );
    assert_eq!(setup.read(&buffer, 64)[63], 64);
    let device = setup.context.devices()[0];
    assert_eq!(
        setup.kernel.get_compile_work_group_size(device).unwrap(),
        [16, 1, 1]
    );
    assert_eq!(setup.kernel.get_local_mem_size(device).unwrap(), 4);
}

#[test]
fn wrong_arguments_are_answered_by_their_codes() {
    let Some(setup) = setup(None) else { return };
    let raw = |index: u32, size: usize, value: *const std::ffi::c_void| {
        // SAFETY: the value has `size` bytes, or is NULL.
        unsafe { opencl3::kernel::set_kernel_arg(setup.kernel.get(), index, size, value) }.err()
    };
    let value = 5u64;
    let pointer: *const std::ffi::c_void = ptr::from_ref(&value).cast();
    let garbage = ptr::from_ref(&pointer).cast();
    assert_eq!(raw(4, 4, pointer), Some(CL_INVALID_ARG_INDEX));
    assert_eq!(raw(0, 4, pointer), Some(CL_INVALID_ARG_SIZE));
    assert_eq!(raw(0, 8, garbage), Some(CL_INVALID_MEM_OBJECT));
    assert_eq!(raw(1, 8, pointer), Some(CL_INVALID_ARG_SIZE));
    assert_eq!(raw(1, 4, ptr::null()), Some(CL_INVALID_ARG_VALUE));
    assert_eq!(raw(2, 4, pointer), Some(CL_INVALID_ARG_VALUE));
    assert_eq!(raw(2, 0, ptr::null()), Some(CL_INVALID_ARG_SIZE));
    assert_eq!(raw(0, 8, ptr::null()), None, "NULL is a buffer");
}

#[test]
fn programs_keep_to_the_order_of_things() {
    let Some(setup) = setup(None) else { return };
    let devices = setup.context.devices();
    let code = |result: opencl3::Result<Kernel>| result.map(drop).map_err(|error| error.0);
    assert_eq!(
        code(Kernel::create(&setup.program, "other")),
        Err(CL_INVALID_KERNEL_NAME)
    );
    assert_eq!(setup.program.kernel_names(), "iota");
    assert_eq!(
        setup.program.get_build_binary_type(devices[0]).unwrap(),
        CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    );
    let rebuild = |program: &Program| {
        // SAFETY: no callback.
        opencl3::program::build_program(program.get(), devices, c"", None, ptr::null_mut())
    };
    assert_eq!(
        rebuild(&setup.program),
        Err(CL_INVALID_OPERATION),
        "a kernel is attached"
    );
    let Setup {
        program, kernel, ..
    } = setup;
    drop(kernel);
    assert_eq!(rebuild(&program), Ok(()));
}

#[test]
fn binaries_come_back_and_damaged_ones_do_not() {
    let Some(setup) = setup(None) else { return };
    let devices = setup.context.devices();
    let stored = setup.program.get_binaries().expect("binaries").remove(0);
    assert_eq!(stored, binary(program(None)));
    let create = |bytes: &[u8]| {
        // SAFETY: the binary is a slice.
        unsafe { Program::create_from_binary(&setup.context, devices, &[bytes]) }
            .map_err(|error| error.0)
    };
    let unbuilt = create(&stored).expect("program");
    assert_eq!(
        Kernel::create(&unbuilt, "iota")
            .map(drop)
            .map_err(|error| error.0),
        Err(CL_INVALID_PROGRAM_EXECUTABLE)
    );
    assert_eq!(
        create(&stored[..stored.len() - 1]).map(drop),
        Err(CL_INVALID_BINARY)
    );
    assert_eq!(create(b"\x7fELF").map(drop), Err(CL_INVALID_BINARY));
    assert_eq!(create(&[]).map(drop), Err(CL_INVALID_VALUE));
}
