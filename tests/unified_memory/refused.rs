//! Calls with faults: each has its code, and of several the one that the extension's document lists first.

use crate::bench::{
    Bench, Host, Kind, LARGEST_TYPE_BYTES, Shared, SharedByAll, advise, allocate, fill, info,
    memcpy, migrate, set_exec_info, set_pointer,
};
use crate::enqueued::{BAD_LIST, List, NO_LIST};
use opencl_sys::*;
use opencl3::context::Context;
use opencl3::event::{create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use std::ffi::c_void;
use std::ptr;

#[test]
fn of_an_allocation() {
    let Some(bench) = Bench::new() else { return };
    let (context, device) = (bench.context.get(), bench.device.id());
    let most = bench.device.max_mem_alloc_size().expect("a size") as usize;
    let flags = |flags: cl_ulong| [CL_MEM_ALLOC_FLAGS_INTEL, flags, 0];
    for kind in bench.kinds() {
        let code = |context, device, properties: &[_], size_bytes, alignment| {
            allocate(kind, context, device, properties, size_bytes, alignment).err()
        };
        // Each call has the next one's faults as well: a wrong alignment, property and size.
        let unknown = [0x1234, 1, 0];
        let of = |context, device, alignment, properties: &[_], size_bytes| {
            code(context, device, properties, size_bytes, alignment).unwrap_or(CL_SUCCESS)
        };
        let none = ptr::null_mut();
        let not_a_device = context.cast();
        assert_eq!(of(none, none, 3, &unknown, 0), CL_INVALID_CONTEXT);
        if let Kind::Device = kind {
            assert_eq!(of(context, none, 3, &unknown, 0), CL_INVALID_DEVICE);
        }
        if let Kind::Device | Shared = kind {
            assert_eq!(of(context, not_a_device, 3, &unknown, 0), CL_INVALID_DEVICE);
        }
        for alignment in [3, 96, LARGEST_TYPE_BYTES * 2, 1 << 31] {
            let found = of(context, device, alignment, &unknown, 0);
            assert_eq!(found, CL_INVALID_VALUE, "{kind:?} {alignment}");
        }
        let combined = CL_MEM_ALLOC_WRITE_COMBINED_INTEL;
        let host = CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL;
        let there = CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL;
        let name = CL_MEM_ALLOC_FLAGS_INTEL;
        let mut wrong = vec![
            unknown.to_vec(),
            vec![name, combined, name, combined, 0],
            flags(1 << 3).to_vec(),
            flags(host | there).to_vec(),
        ];
        if let Host | Kind::Device = kind {
            wrong.extend([flags(host).to_vec(), flags(there).to_vec()]);
        }
        for properties in wrong {
            let found = of(context, device, 0, &properties, 0);
            assert_eq!(found, CL_INVALID_PROPERTY, "{kind:?} {properties:?}");
        }
        for size_bytes in [0, most + 1, usize::MAX] {
            let found = of(context, device, 0, &[], size_bytes);
            assert_eq!(found, CL_INVALID_BUFFER_SIZE, "{kind:?} {size_bytes}");
        }
    }
}

#[test]
fn of_a_question() {
    let Some(bench) = Bench::new() else { return };
    let memory = bench.allocate(Kind::Device, 64);
    let mut room = [0_u64; 2];
    let place = room.as_mut_ptr().cast::<c_void>();
    let none = ptr::null_mut();
    let context = bench.context.get();
    let code = |context, pointer, name, size_bytes, place| {
        info(context, pointer, name, size_bytes, place, ptr::null_mut())
    };
    let name = CL_MEM_ALLOC_TYPE_INTEL;
    for pointer in [memory, none] {
        assert_eq!(code(none, pointer, name, 16, place), CL_INVALID_CONTEXT);
        assert_eq!(code(context, pointer, 0, 16, place), CL_INVALID_VALUE);
        let pointers = size_of::<usize>();
        for (name, size_bytes) in [
            (CL_MEM_ALLOC_TYPE_INTEL, 4),
            (CL_MEM_ALLOC_BASE_PTR_INTEL, pointers),
            (CL_MEM_ALLOC_SIZE_INTEL, pointers),
            (CL_MEM_ALLOC_DEVICE_INTEL, pointers),
            (CL_MEM_ALLOC_FLAGS_INTEL as cl_mem_info_intel, 8),
        ] {
            let mut wanted = 0;
            let asked = info(context, pointer, name, 0, none, &mut wanted);
            assert_eq!((asked, wanted), (CL_SUCCESS, size_bytes), "{name:#x}");
            let less = code(context, pointer, name, size_bytes - 1, place);
            assert_eq!(less, CL_INVALID_VALUE, "{name:#x}");
            assert_eq!(code(context, pointer, name, 16, place), CL_SUCCESS);
        }
    }
    assert_eq!(bench.free(memory), CL_SUCCESS);
    let free = entry!(clMemFreeINTEL_t, "clMemFreeINTEL");
    let blocking_free = entry!(clMemBlockingFreeINTEL_t, "clMemBlockingFreeINTEL");
    // SAFETY: refused.
    let codes = unsafe { [free(none, none), blocking_free(none, none)] };
    assert_eq!(codes, [CL_INVALID_CONTEXT; 2]);
}

#[test]
fn of_a_command() {
    let Some(bench) = Bench::new() else { return };
    let queue = bench.queue.get();
    let other = Context::from_device(&bench.device).expect("a context");
    let gate = create_user_event(other.get()).expect("a user event");
    let foreign: List = (1, &gate);
    let memory = bench.allocate(Kind::Device, 256);
    let pattern = [1_u8; 256];
    let none = ptr::null_mut();

    let code = |queue, to, pattern, size_bytes, list| {
        let code = fill(queue, to, pattern, size_bytes, list);
        code.err().unwrap_or(CL_SUCCESS)
    };
    let good = (pattern.as_ptr(), 4);
    let of_none = (ptr::null(), 4);
    assert_eq!(
        code(none, none, of_none, 3, foreign),
        CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(code(queue, none, of_none, 3, foreign), CL_INVALID_CONTEXT);
    assert_eq!(code(queue, none, good, 64, BAD_LIST), CL_INVALID_VALUE);
    let odd = memory.wrapping_byte_add(2);
    assert_eq!(code(queue, odd, good, 64, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(code(queue, memory, of_none, 64, BAD_LIST), CL_INVALID_VALUE);
    for size_bytes in [0, 3, 12, 256] {
        let pattern = (pattern.as_ptr(), size_bytes);
        let found = code(queue, memory, pattern, size_bytes, BAD_LIST);
        assert_eq!(found, CL_INVALID_VALUE, "{size_bytes}");
    }
    assert_eq!(code(queue, memory, good, 63, BAD_LIST), CL_INVALID_VALUE);
    let found = code(queue, memory, good, 64, BAD_LIST);
    assert_eq!(found, CL_INVALID_EVENT_WAIT_LIST);

    let code = |queue, to, from, list| {
        let code = memcpy(queue, false, to, from, 64, list);
        code.err().unwrap_or(CL_SUCCESS)
    };
    let overlapping = memory.wrapping_byte_add(63);
    assert_eq!(code(none, none, none, foreign), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(code(queue, none, none, foreign), CL_INVALID_CONTEXT);
    assert_eq!(code(queue, none, memory, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(code(queue, memory, none, BAD_LIST), CL_INVALID_VALUE);
    let found = code(queue, memory, overlapping, BAD_LIST);
    assert_eq!(found, CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(
        code(queue, memory, overlapping, NO_LIST),
        CL_MEM_COPY_OVERLAP
    );
    assert_eq!(
        code(queue, overlapping, memory, NO_LIST),
        CL_MEM_COPY_OVERLAP
    );
    let beside = memory.wrapping_byte_add(64);
    assert_eq!(code(queue, memory, beside, NO_LIST), CL_SUCCESS);

    let code = |queue, flags, list| {
        let code = migrate(queue, memory, 64, flags, list);
        code.err().unwrap_or(CL_SUCCESS)
    };
    let unknown = 1 << 2;
    assert_eq!(code(none, unknown, foreign), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(code(queue, unknown, foreign), CL_INVALID_CONTEXT);
    assert_eq!(code(queue, unknown, BAD_LIST), CL_INVALID_VALUE);
    assert_eq!(code(queue, 0, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);

    let code = |queue, list| {
        let code = advise(queue, memory, 64, list);
        code.err().unwrap_or(CL_SUCCESS)
    };
    assert_eq!(code(none, foreign), CL_INVALID_COMMAND_QUEUE);
    assert_eq!(code(queue, foreign), CL_INVALID_CONTEXT);
    assert_eq!(code(queue, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);

    bench.queue.finish().expect("an end");
    assert_eq!(bench.free(memory), CL_SUCCESS);
    // SAFETY: the only hold on it.
    unsafe { opencl3::event::release_event(gate) }.expect("the event goes");
}

/// "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST if the copy operation is blocking and the execution status of any of
/// the events in event_wait_list is a negative integer value."
#[test]
fn of_what_waits_for_a_failure() {
    let Some(bench) = Bench::new() else { return };
    let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    let gate = create_user_event(bench.context.get()).expect("a user event");
    set_user_event_status(gate, -7).expect("a failure");
    let list: List = (1, &gate);
    let queue = bench.queue.get();
    for kind in bench.kinds() {
        let memory = bench.allocate(kind, 256);
        bench.put(memory, &[1; 64]);
        let mut target = [0_u8; 64];
        let there = target.as_mut_ptr().cast();
        let code = memcpy(queue, true, there, memory, 64, list).err();
        assert_eq!(code, Some(failed), "{kind:?}");
        let events = [
            memcpy(queue, false, there, memory, 64, list),
            fill(queue, memory, ([2].as_ptr(), 1), 256, list),
            migrate(queue, memory, 64, 0, list),
            advise(queue, memory, 64, list),
        ];
        for event in events {
            let event = event.expect("a command that fails later");
            event.wait().expect_err("a failure");
            let status = event.command_execution_status().expect("a status").0;
            assert_eq!(status, failed, "{kind:?}");
        }
        assert_eq!(target, [0; 64]);
        assert_eq!(bench.get(memory, 64), [1; 64], "{kind:?}");
        assert_eq!(bench.free(memory), CL_SUCCESS);
    }
    // SAFETY: the only hold on it.
    unsafe { opencl3::event::release_event(gate) }.expect("the event goes");
}

#[test]
fn of_a_kernel() {
    let Some(bench) = Bench::new() else { return };
    let kernel = bench.kernel(
        "kernel void test(global uint *g, constant uint *c, local uint *l, uint u) {
            g[0] = c[0] + l[0] + u;
        }",
    );
    let memory = bench.allocate(Kind::Device, 64);
    let none = ptr::null_mut();
    assert_eq!(set_pointer(none, 4, memory), CL_INVALID_KERNEL);
    assert_eq!(set_pointer(kernel.get(), 4, memory), CL_INVALID_ARG_INDEX);
    // "A pointer may only be set as an argument value for an argument declared to be a pointer to global or constant
    // memory."
    for index in [2, 3] {
        assert_eq!(
            set_pointer(kernel.get(), index, memory),
            CL_INVALID_ARG_VALUE
        );
    }
    // "For all devices, any pointer value is valid and may be set as an argument to a kernel."
    let anything = ptr::without_provenance::<c_void>(0xdead_0001);
    for pointer in [anything, memory.wrapping_byte_add(3), ptr::null()] {
        for index in [0, 1] {
            assert_eq!(set_pointer(kernel.get(), index, pointer), CL_SUCCESS);
        }
    }
    assert_eq!(bench.free(memory), CL_SUCCESS);
    of_exec_info(&bench, &kernel);
}

fn of_exec_info(bench: &Bench, kernel: &Kernel) {
    let set = entry!(
        opencl_sys::cl_function_types::clSetKernelExecInfo_t,
        "clSetKernelExecInfo"
    );
    let pointers = CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL;
    let anything = [ptr::without_provenance::<c_void>(0xdead_0001); 2];
    assert_eq!(set_exec_info(kernel, pointers, &anything), CL_SUCCESS);
    assert_eq!(
        set_exec_info(kernel, pointers, &[1_u8; 9]),
        CL_INVALID_VALUE
    );
    for (name, kind) in [
        (CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL, Host),
        (
            CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
            Kind::Device,
        ),
        (CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL, Shared),
    ] {
        let shared_by_all = kind == Shared && bench.capabilities(SharedByAll.capabilities()) != 0;
        let has = bench.capabilities(kind.capabilities()) != 0 || shared_by_all;
        // "CL_INVALID_OPERATION if … no devices in the context associated with kernel support" that kind.
        let expected = if has {
            CL_SUCCESS
        } else {
            CL_INVALID_OPERATION
        };
        assert_eq!(
            set_exec_info(kernel, name, &[CL_TRUE]),
            expected,
            "{name:#x}"
        );
        if has {
            let wrong = set_exec_info(kernel, name, &[1_u8]);
            assert_eq!(wrong, CL_INVALID_VALUE, "{name:#x}");
            // SAFETY: refused.
            let no_value = unsafe { set(kernel.get(), name, 4, ptr::null()) };
            assert_eq!(no_value, CL_INVALID_VALUE, "{name:#x}");
        }
    }
}
