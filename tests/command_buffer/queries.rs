//! What can be asked of command buffers, of their commands, and of devices about them.

use super::setup::{COUNT, IN_ORDER, OUT_OF_ORDER, Setup, add, config};
use std::ptr;

use opencl_sys as cl;
use opencl_sys::{cl_mutable_command_khr, cl_mutable_dispatch_config_khr, cl_uint};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::device::Device;

/// A list that a query answers with, its size asked first.
fn list<T: Clone + Default>(
    query: impl Fn(usize, *mut std::ffi::c_void, *mut usize) -> i32,
) -> Vec<T> {
    let mut size = usize::MAX;
    assert_eq!(query(0, ptr::null_mut(), &mut size), 0);
    assert_eq!(size % size_of::<T>(), 0);
    let mut values = vec![T::default(); size / size_of::<T>()];
    if size > 0 {
        assert_eq!(query(size, values.as_mut_ptr().cast(), &mut size), 0);
        let less = query(size - 1, values.as_mut_ptr().cast(), ptr::null_mut());
        assert_eq!(less, cl::CL_INVALID_VALUE);
    }
    values
}

#[test]
fn of_a_command_buffer() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let other = CommandQueue::create_default_with_properties(&setup.context, OUT_OF_ORDER, 0);
    let other = other.unwrap();
    let handles = [setup.queue.get(), other.get()];
    let flags = cl::CL_COMMAND_BUFFER_MUTABLE_KHR | cl::CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR;
    // The header's; `opencl_sys` has a slip there.
    let asserts = 0x12B7_u64;
    for properties in [
        vec![],
        vec![0],
        vec![cl::CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0],
        vec![asserts, 1, cl::CL_COMMAND_BUFFER_FLAGS_KHR, 0, 0],
    ] {
        let given = match properties.as_slice() {
            [] => ptr::null(),
            properties => properties.as_ptr(),
        };
        let mut error = 1;
        // SAFETY: two queues, a list that ends with 0.
        let handle =
            unsafe { (setup.functions.create.unwrap())(2, handles.as_ptr(), given, &mut error) };
        assert_eq!(error, 0);
        let buffer = setup.wrap(handle);
        let query = |name| {
            move |size, value, told| {
                // SAFETY: room for `size` bytes.
                unsafe { (setup.functions.info.unwrap())(handle, name, size, value, told) }
            }
        };
        let told: Vec<u64> = list(query(cl::CL_COMMAND_BUFFER_PROPERTIES_ARRAY_KHR));
        assert_eq!(told, properties);
        let queues: Vec<usize> = list(query(cl::CL_COMMAND_BUFFER_QUEUES_KHR));
        assert_eq!(queues, handles.map(|queue| queue as usize));
        assert_eq!(buffer.info::<u32>(cl::CL_COMMAND_BUFFER_NUM_QUEUES_KHR), 2);
        let unknown = query(0)(0, ptr::null_mut(), ptr::null_mut());
        assert_eq!(unknown, cl::CL_INVALID_VALUE);
    }
}

#[test]
fn of_a_device() {
    let Some(setup) = Setup::new(IN_ORDER) else {
        return;
    };
    let number = |name| {
        let bytes = setup.device.get_data(name).unwrap();
        u64::from_ne_bytes(bytes.try_into().unwrap())
    };
    let capabilities = number(cl::CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR);
    let promised = cl::CL_COMMAND_BUFFER_CAPABILITY_KERNEL_PRINTF_KHR
        | cl::CL_COMMAND_BUFFER_CAPABILITY_SIMULTANEOUS_USE_KHR
        | cl::CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR;
    assert_eq!(capabilities, promised);
    assert_eq!(
        number(cl::CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR),
        OUT_OF_ORDER | CL_QUEUE_PROFILING_ENABLE
    );
    assert_eq!(
        number(cl::CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR),
        0
    );
    let fields = cl::CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR
        | cl::CL_MUTABLE_DISPATCH_GLOBAL_SIZE_KHR
        | cl::CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR
        | cl::CL_MUTABLE_DISPATCH_ARGUMENTS_KHR
        | cl::CL_MUTABLE_DISPATCH_EXEC_INFO_KHR;
    assert_eq!(
        number(cl::CL_DEVICE_MUTABLE_DISPATCH_CAPABILITIES_KHR),
        fields
    );
    // It synchronizes with itself.
    let count = cl::CL_DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES_KHR;
    assert_eq!(setup.device.get_data(count).unwrap(), 1_u32.to_ne_bytes());
    let devices = number(cl::CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR);
    assert_eq!(Device::new(devices as _).id(), setup.device.id());
}

#[test]
fn of_a_command() {
    let Some((setup, program)) = Setup::with_program(IN_ORDER) else {
        return;
    };
    let target = setup.buffer();
    let kernel = add(&program, &target, 1);
    let fields = [
        cl::CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR,
        cl::CL_MUTABLE_DISPATCH_GLOBAL_OFFSET_KHR | cl::CL_MUTABLE_DISPATCH_LOCAL_SIZE_KHR,
        0,
    ];
    let buffer = setup.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
    let [plain, command] = [
        buffer.launch_mutable(&kernel, &[]),
        buffer.launch_mutable(&kernel, &fields),
    ];
    assert_eq!(buffer.finalize(), 0);
    let query = |command: cl_mutable_command_khr, name| {
        let setup = &setup;
        move |size, value, told| {
            // SAFETY: room for `size` bytes.
            unsafe { (setup.functions.command_info.unwrap())(command, name, size, value, told) }
        }
    };
    let handle = |name| list::<usize>(query(command, name));
    let number = |name| list::<cl_uint>(query(command, name));
    assert_eq!(
        handle(cl::CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR),
        [setup.queue.get() as usize]
    );
    assert_eq!(
        handle(cl::CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR),
        [buffer.handle as usize]
    );
    assert_eq!(
        handle(cl::CL_MUTABLE_DISPATCH_KERNEL_KHR),
        [kernel.get() as usize]
    );
    assert_eq!(
        number(cl::CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR),
        [cl::CL_COMMAND_NDRANGE_KERNEL]
    );
    assert_eq!(number(cl::CL_MUTABLE_DISPATCH_DIMENSIONS_KHR), [1]);
    let properties = cl::CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR;
    assert_eq!(list::<u64>(query(command, properties)), fields);
    assert_eq!(list::<u64>(query(plain, properties)), [0; 0]);
    let sizes = || {
        [
            cl::CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
            cl::CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR,
            cl::CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR,
        ]
        .map(|name| list::<usize>(query(command, name)))
    };
    // "If a local work-item size was not set, zero is returned for each element in the array."
    assert_eq!(sizes(), [[0], [COUNT], [0]]);
    let (offset, local) = (5, 32);
    let update = cl_mutable_dispatch_config_khr {
        global_work_offset: &offset,
        local_work_size: &local,
        ..config(command)
    };
    assert_eq!(buffer.update(&[update]), 0);
    assert_eq!(sizes(), [[5], [COUNT], [32]]);
    let unknown = query(command, 0)(0, ptr::null_mut(), ptr::null_mut());
    assert_eq!(unknown, cl::CL_INVALID_VALUE);
    let type_of = cl::CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR;
    let wrong = query(buffer.handle, type_of)(0, ptr::null_mut(), ptr::null_mut());
    assert_eq!(wrong, cl::CL_INVALID_MUTABLE_COMMAND_KHR);
}
