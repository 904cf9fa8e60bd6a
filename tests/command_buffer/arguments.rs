//! Arguments of launches: every kind of them updated, and objects that the application has let go of.

use super::setup::{COUNT, IN_ORDER, OUT_OF_ORDER, Setup, add, argument, config};
use std::ffi::c_void;
use std::ptr;

use opencl_sys as cl;
use opencl_sys::cl_function_types::{
    clEnqueueSVMMemcpy_t, clSVMAlloc_t, clSVMFree_t, clSetKernelArgSVMPointer_t,
};
use opencl_sys::{
    cl_mutable_dispatch_arg_khr, cl_mutable_dispatch_config_khr, cl_mutable_dispatch_exec_info_khr,
};
use opencl3::command_queue::CommandQueue;
use opencl3::device::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
use opencl3::kernel::Kernel;
use opencl3::memory::ClMem;
use opencl3::program::Program;

const MUTABLE: u64 = cl::CL_COMMAND_BUFFER_MUTABLE_KHR;

#[test]
fn a_local_argument_gets_another_size() {
    let source = "kernel void turn(global uint *out, local uint *room) {
        size_t id = get_local_id(0), size = get_local_size(0);
        room[id] = get_global_id(0);
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = room[size - 1 - id];
    }";
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    if setup.program().is_none() {
        return;
    }
    let program = Program::create_and_build_from_source(&setup.context, source, "").unwrap();
    let target = setup.buffer();
    let kernel = Kernel::create(&program, "turn").expect("a kernel");
    // SAFETY: a value of the right type, and room for the greatest work-group.
    unsafe {
        kernel.set_arg(0, &target.get()).unwrap();
        kernel.set_arg_local_buffer(1, 4 * COUNT).unwrap();
    }
    let buffer = setup.command_buffer_with(MUTABLE);
    let command = buffer.launch_mutable(&kernel, &[]);
    assert_eq!(buffer.finalize(), 0);
    for local in [16_usize, 64, 8] {
        let room = cl_mutable_dispatch_arg_khr {
            arg_index: 1,
            arg_size: 4 * local,
            arg_value: ptr::null(),
        };
        let update = cl_mutable_dispatch_config_khr {
            num_args: 1,
            arg_list: &room,
            local_work_size: &local,
            ..config(command)
        };
        assert_eq!(buffer.update(&[update]), 0);
        buffer.enqueue().wait().unwrap();
        let turned = |index: usize| (index - index % local + local - 1 - index % local) as u32;
        let expected: Vec<u32> = (0..COUNT).map(turned).collect();
        assert_eq!(setup.read(&target), expected, "groups of {local}");
    }
    let none = cl_mutable_dispatch_arg_khr {
        arg_index: 1,
        arg_size: 0,
        arg_value: ptr::null(),
    };
    let update = cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: &none,
        ..config(command)
    };
    assert_eq!(buffer.update(&[update]), cl::CL_INVALID_ARG_SIZE);
}

#[test]
fn many_commands_are_updated_at_once_and_one_more_than_once() {
    let Some((setup, program)) = Setup::with_program(OUT_OF_ORDER) else {
        return;
    };
    let mut targets = [(); 3].map(|()| setup.buffer());
    let buffer = setup.command_buffer_with(MUTABLE);
    let commands = targets.each_mut().map(|target| {
        setup.write(target, 0);
        let kernel = add(&program, target, 1);
        buffer.launch_mutable(&kernel, &[])
    });
    assert_eq!(buffer.finalize(), 0);
    let values = [10_u32, 100, 1000];
    let arguments = values.each_ref().map(|value| argument(1, value));
    let half = COUNT / 2;
    let update = |which: usize, value: usize| cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: &arguments[value],
        ..config(commands[which])
    };
    let shorter = cl_mutable_dispatch_config_khr {
        global_work_size: &half,
        ..config(commands[0])
    };
    // The last value counts, and what comes between stays.
    let updates = [update(0, 0), shorter, update(1, 1), update(0, 2)];
    assert_eq!(buffer.update(&updates), 0);
    buffer.enqueue().wait().unwrap();
    let mut expected = vec![1000; half];
    expected.resize(COUNT, 0);
    assert_eq!(setup.read(&targets[0]), expected);
    assert_eq!(setup.read(&targets[1]), [100; COUNT]);
    assert_eq!(setup.read(&targets[2]), [1; COUNT]);
}

#[test]
fn values_stay_when_something_else_is_updated() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let mut target = setup.buffer();
    setup.write(&mut target, 0);
    let buffer = setup.command_buffer_with(MUTABLE);
    let command = buffer.launch_mutable(&add(&program, &target, 1), &[]);
    assert_eq!(buffer.finalize(), 0);
    let (ten, half) = (10_u32, COUNT / 2);
    let ten = argument(1, &ten);
    let value = cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: &ten,
        ..config(command)
    };
    let shorter = cl_mutable_dispatch_config_khr {
        global_work_size: &half,
        ..config(command)
    };
    // The first execution may be under way while the command is updated.
    let first = buffer.enqueue();
    assert_eq!(buffer.update(&[value]), 0);
    let second = buffer.enqueue();
    assert_eq!(buffer.update(&[shorter]), 0);
    buffer.enqueue().wait().unwrap();
    drop((first, second));
    let mut expected = vec![21; half];
    expected.resize(COUNT, 11);
    assert_eq!(setup.read(&target), expected);
    // A wrong one among them: none is taken.
    let short = cl_mutable_dispatch_arg_khr {
        arg_size: 2,
        ..argument(1, &5_u32)
    };
    let wrong = cl_mutable_dispatch_config_khr {
        num_args: 1,
        arg_list: &short,
        ..config(command)
    };
    let two = 2_u32;
    let two = argument(1, &two);
    let right = cl_mutable_dispatch_config_khr {
        arg_list: &two,
        ..wrong
    };
    assert_eq!(buffer.update(&[right, wrong]), cl::CL_INVALID_ARG_SIZE);
    buffer.enqueue().wait().unwrap();
    expected[..half].fill(31);
    assert_eq!(setup.read(&target), expected);
}

/// Shared memory of `COUNT` numbers.
struct Shared<'a> {
    setup: &'a Setup,
    pointer: *mut u32,
}

impl<'a> Shared<'a> {
    fn new(setup: &'a Setup) -> Option<Self> {
        let capabilities = setup.device.svm_mem_capability();
        if capabilities & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER == 0 {
            eprintln!("skipped: no shared memory");
            return None;
        }
        let allocate = entry!(clSVMAlloc_t, "clSVMAlloc");
        // SAFETY: a live context.
        let pointer = unsafe { allocate(setup.context.get(), cl::CL_MEM_READ_WRITE, 4 * COUNT, 0) };
        assert!(!pointer.is_null());
        let pointer = pointer.cast();
        Some(Self { setup, pointer })
    }

    fn address(&self) -> *mut c_void {
        self.pointer.cast()
    }

    fn copy(&self, to: *mut u32, from: *const u32) {
        let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
        let (queue, bytes) = (self.setup.queue.get(), 4 * COUNT);
        let event = ptr::null_mut();
        // SAFETY: so many bytes on either side.
        let code = unsafe {
            copy(
                queue,
                1,
                to.cast(),
                from.cast(),
                bytes,
                0,
                ptr::null(),
                event,
            )
        };
        assert_eq!(code, 0);
    }

    fn write(&self, value: u32) {
        self.copy(self.pointer, [value; COUNT].as_ptr());
    }

    fn read(&self) -> Vec<u32> {
        let mut values = vec![0; COUNT];
        self.copy(values.as_mut_ptr(), self.pointer);
        values
    }
}

impl Drop for Shared<'_> {
    fn drop(&mut self) {
        let free = entry!(clSVMFree_t, "clSVMFree");
        // SAFETY: allocated in `new`; nothing under way uses it.
        unsafe { free(self.setup.context.get(), self.address()) };
    }
}

#[test]
fn shared_memory_is_filled_and_copied() {
    for flags in [IN_ORDER, OUT_OF_ORDER] {
        let Some(setup) = Setup::new(flags) else {
            return;
        };
        let (Some(first), Some(second)) = (Shared::new(&setup), Shared::new(&setup)) else {
            return;
        };
        let buffer = setup.command_buffer();
        let half = 2 * COUNT;
        let fill = |pattern: [u32; 2], at: usize| {
            let bytes: Vec<u8> = pattern.into_iter().flat_map(u32::to_ne_bytes).collect();
            let there = first.address().wrapping_byte_add(at);
            assert_eq!(buffer.svm_fill_code(there, &bytes, half, &[]), 0);
        };
        fill([1, 2], 0);
        fill([3, 4], half);
        let copied = buffer.svm_copy_code(second.address(), first.address(), 4 * COUNT, &[1, 2]);
        assert_eq!(copied, 0);
        assert_eq!(buffer.finalize(), 0);
        for _ in 0..2 {
            first.write(0);
            second.write(0);
            buffer.enqueue().wait().unwrap();
            let pair = |index: usize| (index % 2) as u32 + if index < COUNT / 2 { 1 } else { 3 };
            let expected: Vec<u32> = (0..COUNT).map(pair).collect();
            assert_eq!(first.read(), expected);
            assert_eq!(second.read(), expected);
        }
    }
}

#[test]
fn pointers_and_what_they_lead_to_are_updated() {
    let source = "
    typedef struct { global uint *out; } Place;
    kernel void follow(global Place *place, uint value) { place->out[get_global_id(0)] += value; }";
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let shared = [(); 3].map(|()| Shared::new(&setup));
    let [Some(first), Some(second), Some(place)] = shared else {
        return;
    };
    first.write(1);
    second.write(2);
    let set = entry!(clSetKernelArgSVMPointer_t, "clSetKernelArgSVMPointer");
    let add = Kernel::create(&program, "add").expect("a kernel");
    let program = Program::create_and_build_from_source(&setup.context, source, "").unwrap();
    let follow = Kernel::create(&program, "follow").expect("a kernel");
    // SAFETY: values of the right types, and memory that lives.
    unsafe {
        assert_eq!(set(add.get(), 0, first.address()), 0);
        add.set_arg(1, &10_u32).unwrap();
        assert_eq!(set(follow.get(), 0, place.address()), 0);
        follow.set_arg(1, &100_u32).unwrap();
    }
    let buffer = setup.command_buffer_with(MUTABLE);
    let add = buffer.launch_mutable(&add, &[]);
    let follow = buffer.launch_mutable(&follow, &[]);
    assert_eq!(buffer.finalize(), 0);
    let lead_to = |shared: &Shared<'_>| {
        let mut words = [0_u32; COUNT];
        let address = shared.pointer as usize as u64;
        (words[0], words[1]) = (address as u32, (address >> 32) as u32);
        place.copy(place.pointer, words.as_ptr());
    };
    lead_to(&first);
    buffer.enqueue().wait().unwrap();
    assert_eq!(first.read(), [111; COUNT]);
    lead_to(&second);
    let pointer = cl_mutable_dispatch_arg_khr {
        arg_index: 0,
        arg_size: 0,
        arg_value: second.address(),
    };
    let argument = cl_mutable_dispatch_config_khr {
        num_svm_args: 1,
        arg_svm_list: &pointer,
        ..config(add)
    };
    let used = [second.address()];
    let info = |name, size| cl_mutable_dispatch_exec_info_khr {
        param_name: name,
        param_value_size: size,
        param_value: used.as_ptr().cast(),
    };
    let infos = info(cl::CL_KERNEL_EXEC_INFO_SVM_PTRS, size_of_val(&used));
    let leads = cl_mutable_dispatch_config_khr {
        num_exec_infos: 1,
        exec_info_list: &infos,
        ..config(follow)
    };
    assert_eq!(buffer.update(&[argument, leads]), 0);
    buffer.enqueue().wait().unwrap();
    assert_eq!(first.read(), [111; COUNT]);
    assert_eq!(second.read(), [112; COUNT]);
    let unknown = info(0, size_of_val(&used));
    let wrong = cl_mutable_dispatch_config_khr {
        exec_info_list: &unknown,
        ..leads
    };
    assert_eq!(buffer.update(&[wrong]), cl::CL_INVALID_VALUE);
}

#[test]
fn released_objects_are_there_as_long_as_the_command_buffer() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let queue = CommandQueue::create_default_with_properties(&setup.context, IN_ORDER, 0).unwrap();
    let mut source = setup.buffer();
    let [middle, result] = [(); 2].map(|()| setup.buffer());
    setup.write(&mut source, 3);
    let kernel = Kernel::create(&program, "twice").expect("a kernel");
    let buffer = setup.command_buffer_of(&[&queue], MUTABLE);
    assert_eq!(buffer.copy_code(source.get(), middle.get(), 0, &[]), 0);
    // SAFETY: handles of the right types.
    unsafe {
        kernel.set_arg(0, &middle.get()).unwrap();
        kernel.set_arg(1, &result.get()).unwrap();
    }
    buffer.launch(&kernel, &[]);
    // The second launch may be updated, though nothing is.
    let quadruple = add(&program, &result, 1);
    buffer.launch_mutable(&quadruple, &[]);
    drop((source, middle, kernel, quadruple, program, queue));
    assert_eq!(buffer.finalize(), 0);
    for _ in 0..2 {
        buffer.enqueue().wait().unwrap();
        assert_eq!(setup.read(&result), [7; COUNT]);
    }
}
