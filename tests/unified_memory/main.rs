//! Unified shared memory (cl_intel_unified_shared_memory): what its allocations are, what is told of them, and the
//! commands and kernels that use them. What is refused is in `refused`.

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
#[path = "../common/entry.rs"]
mod entry;
#[path = "../common/enqueued.rs"]
mod enqueued;

mod bench;
#[path = "../common/layer.rs"]
mod layer;
mod refused;
mod ways;

use bench::{Bench, Host, KINDS, Kind, LARGEST_TYPE_BYTES, Shared, SharedByAll, UNKNOWN};
use bench::{advise, allocate, fill, memcpy, migrate, set_exec_info};
use enqueued::NO_LIST;
use opencl_sys::cl_function_types::{clSVMAlloc_t, clSVMFree_t};
use opencl_sys::*;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::event::{Event, create_user_event, set_user_event_status};
use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

#[test]
fn all_is_told_of_an_allocation_by_any_address_within() {
    const BYTES: usize = 1000;
    let Some(bench) = Bench::new() else { return };
    let flags = |kind| match kind {
        Host => [0, CL_MEM_ALLOC_WRITE_COMBINED_INTEL],
        Kind::Device => [0, CL_MEM_ALLOC_WRITE_COMBINED_INTEL],
        Shared => [
            CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL,
            CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL | CL_MEM_ALLOC_WRITE_COMBINED_INTEL,
        ],
        SharedByAll => [0, CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL],
    };
    for kind in bench.kinds() {
        for flags in flags(kind) {
            let properties: &[_] = match flags {
                0 => &[],
                flags => &[CL_MEM_ALLOC_FLAGS_INTEL, flags, 0],
            };
            let memory = bench.ask(kind, properties, BYTES, 0).expect("memory");
            let (type_of, device) = match kind {
                Host => (CL_MEM_TYPE_HOST_INTEL, 0),
                Kind::Device => (CL_MEM_TYPE_DEVICE_INTEL, bench.device.id() as usize),
                Shared => (CL_MEM_TYPE_SHARED_INTEL, bench.device.id() as usize),
                SharedByAll => (CL_MEM_TYPE_SHARED_INTEL, 0),
            };
            let expected = (type_of, memory as usize, BYTES, device, flags);
            for offset in [0, 1, 500, BYTES - 1] {
                let told = bench.all_told(memory.wrapping_byte_add(offset));
                assert_eq!(told, expected, "{kind:?} at {offset}");
            }
            for beside in [memory.wrapping_byte_sub(1), memory.wrapping_byte_add(BYTES)] {
                assert_eq!(bench.all_told(beside), UNKNOWN, "{kind:?}");
            }
            assert_eq!(bench.free(memory), CL_SUCCESS);
            assert_eq!(bench.all_told(memory), UNKNOWN, "{kind:?}, freed");
        }
    }
}

#[test]
fn other_pointers_are_unknown() {
    let Some(bench) = Bench::new() else { return };
    let on_stack = 7_u32;
    let other = Context::from_device(&bench.device).expect("a context");
    let foreign = allocate(Kind::Device, other.get(), bench.device.id(), &[], 64, 0);
    let foreign = foreign.expect("memory");
    let svm = entry!(clSVMAlloc_t, "clSVMAlloc");
    // SAFETY: a live context.
    let svm = unsafe { svm(bench.context.get(), CL_MEM_READ_WRITE, 64, 0) };
    assert!(!svm.is_null());
    let pointers = [
        ptr::null_mut(),
        ptr::from_ref(&on_stack).cast_mut().cast(),
        foreign,
        svm,
    ];
    for pointer in pointers {
        assert_eq!(bench.all_told(pointer), UNKNOWN);
    }
    // None of them can be freed, but NULL: "no action occurs".
    for (index, pointer) in pointers.into_iter().enumerate() {
        let expected = [CL_SUCCESS, CL_INVALID_VALUE][usize::from(index > 0)];
        assert_eq!(bench.free(pointer), expected, "{index}");
        assert_eq!(bench.blocking_free(pointer), expected, "{index}");
    }
    let free = entry!(clSVMFree_t, "clSVMFree");
    // SAFETY: from clSVMAlloc.
    unsafe { free(bench.context.get(), svm) };
    let free = entry!(clMemFreeINTEL_t, "clMemFreeINTEL");
    // SAFETY: a live context.
    assert_eq!(unsafe { free(other.get(), foreign) }, CL_SUCCESS);
}

#[test]
fn an_allocation_is_freed_once_and_by_its_first_address() {
    let Some(bench) = Bench::new() else { return };
    for kind in bench.kinds() {
        let [first, second] = [bench.allocate(kind, 256), bench.allocate(kind, 256)];
        let within = first.wrapping_byte_add(128);
        assert_eq!(bench.free(within), CL_INVALID_VALUE);
        assert_eq!(bench.blocking_free(within), CL_INVALID_VALUE);
        assert_eq!(bench.free(first), CL_SUCCESS);
        assert_eq!(bench.free(first), CL_INVALID_VALUE);
        assert_eq!(bench.blocking_free(second), CL_SUCCESS);
        assert_eq!(bench.blocking_free(second), CL_INVALID_VALUE);
    }
}

#[test]
fn allocations_are_aligned_as_asked_and_for_any_type() {
    let Some(bench) = Bench::new() else { return };
    for kind in bench.kinds() {
        let mut list = Vec::new();
        for alignment in [0, 1, 2, 4, 8, 16, 32, 64, LARGEST_TYPE_BYTES] {
            // "If alignment is 0, a default alignment will be used that is equal to the size of largest data type".
            let expected = match alignment {
                0 => LARGEST_TYPE_BYTES,
                alignment => alignment,
            };
            for size_bytes in [1, 3, 200] {
                let made = bench.ask(kind, &[], size_bytes, alignment);
                let memory = made.expect("memory") as usize;
                assert_eq!(memory % expected as usize, 0, "{kind:?} {alignment}");
                list.push((memory, size_bytes));
            }
        }
        list.sort_unstable();
        for pair in list.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?} overlap");
        }
        for (memory, _) in list {
            assert_eq!(bench.free(memory as *mut c_void), CL_SUCCESS);
        }
    }
}

#[test]
fn capabilities_hold_together() {
    let Some(bench) = Bench::new() else { return };
    let access = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL;
    let all = access
        | CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
        | CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL;
    let system = CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL;
    for name in KINDS.map(Kind::capabilities).into_iter().chain([system]) {
        let told = bench.capabilities(name);
        assert_eq!(told & !all, 0, "{name:#x}");
        // What can't be accessed can't be in any other way.
        assert!(told == 0 || told & access != 0, "{name:#x}: {told:#x}");
    }
    // The one that is required.
    let device = bench.capabilities(CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL);
    assert_ne!(device & access, 0);
    // "CL_INVALID_OPERATION if CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL is zero", and so on.
    for kind in KINDS {
        let has = match kind {
            // Any of a device's shared memory may be without a device.
            SharedByAll => bench.capabilities(Shared.capabilities()),
            kind => bench.capabilities(kind.capabilities()),
        };
        match bench.ask(kind, &[], 64, 0) {
            Ok(memory) => {
                assert_ne!(has, 0, "{kind:?}");
                assert_eq!(bench.free(memory), CL_SUCCESS);
            }
            Err(code) => assert_eq!((code, has), (CL_INVALID_OPERATION, 0), "{kind:?}"),
        }
    }
}

/// What the capabilities promise: kernels read, write and count up there, and what host and device share, both see
/// without a command.
#[test]
fn kernels_work_in_every_memory_that_the_device_has() {
    const COUNT: usize = 256;
    let Some(bench) = Bench::new() else { return };
    let plain = bench.kernel(
        "kernel void test(global uint *words) {
            words[get_global_id(0)] += get_global_id(0) + 1;
        }",
    );
    let atomic = bench
        .kernel("kernel void test(global uint *words) { atomic_add(words, get_global_id(0)); }");
    let mut own = vec![0_u32; COUNT];
    let system = CL_DEVICE_SHARED_SYSTEM_MEM_CAPABILITIES_INTEL;
    let has_system = bench.capabilities(system) & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL != 0;
    let own = has_system.then(|| (system, own.as_mut_ptr().cast(), true));
    let allocated = bench.kinds().map(|kind| {
        let memory = bench.allocate(kind, COUNT * 4);
        (kind.capabilities(), memory, kind.is_seen_by_host())
    });
    for (name, memory, is_seen_by_host) in allocated.chain(own) {
        let words: Vec<u32> = (0..COUNT as u32).map(|i| i * 5).collect();
        let slots = memory.cast::<u32>();
        if is_seen_by_host {
            // SAFETY: as many words, which nothing else uses now.
            unsafe { slots.copy_from_nonoverlapping(words.as_ptr(), COUNT) }
        } else {
            bench.put(memory, &words)
        }
        let mut expected: Vec<u32> = (0..COUNT as u32).map(|i| i * 6 + 1).collect();
        bench.run(&plain, &[memory], COUNT);
        if bench.capabilities(name) & CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL != 0 {
            bench.run(&atomic, &[memory], COUNT);
            expected[0] += (0..COUNT as u32).sum::<u32>();
        }
        bench.queue.finish().expect("an end");
        let found = if is_seen_by_host {
            // SAFETY: as many words, which nothing else uses now.
            unsafe { std::slice::from_raw_parts(slots, COUNT) }.to_vec()
        } else {
            bench.get(memory, COUNT)
        };
        assert_eq!(found, expected, "{name:#x}");
        if name != system {
            assert_eq!(bench.free(memory), CL_SUCCESS);
        }
    }
}

/// A list of which every node lies in an allocation of its own.
#[repr(C)]
#[derive(Clone, Copy)]
struct Node {
    next: *mut c_void,
    value: u64,
}

#[test]
fn kernels_follow_pointers_into_memory_that_they_are_told_of() {
    let Some(bench) = Bench::new() else { return };
    let kernel = bench.kernel(
        "struct node { global struct node *next; ulong value; };
        kernel void test(global struct node *head, global ulong *sum) {
            ulong total = 0;
            for (global struct node *at = head; at; at = at->next) total += at->value++;
            *sum = total;
        }",
    );
    let kinds: Vec<Kind> = bench.kinds().collect();
    let size_bytes = size_of::<Node>();
    let nodes: Vec<*mut c_void> = (0..24)
        .map(|index| bench.allocate(kinds[index % kinds.len()], size_bytes))
        .collect();
    for (index, &node) in nodes.iter().enumerate() {
        let next = nodes.get(index + 1).copied().unwrap_or(ptr::null_mut());
        let contents = Node {
            next,
            value: 1 << index,
        };
        bench.copy(node, ptr::from_ref(&contents).cast(), size_bytes);
    }
    let sum = bench.allocate(Kind::Device, 8);
    let indirect = [
        CL_KERNEL_EXEC_INFO_INDIRECT_HOST_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_DEVICE_ACCESS_INTEL,
        CL_KERNEL_EXEC_INFO_INDIRECT_SHARED_ACCESS_INTEL,
    ];
    let run = |run: u64| {
        bench.run(&kernel, &[nodes[0], sum], 1);
        let mut total = 0_u64;
        bench.copy(ptr::from_mut(&mut total).cast(), sum, 8);
        assert_eq!(total, (1 << 24) - 1 + 24 * run, "run {run}");
    };
    for name in indirect {
        assert_eq!(set_exec_info(&kernel, name, &[CL_TRUE]), CL_SUCCESS);
    }
    run(0);
    // The same by an explicit set.
    for name in indirect {
        assert_eq!(set_exec_info(&kernel, name, &[CL_FALSE]), CL_SUCCESS);
    }
    let set = CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL;
    assert_eq!(set_exec_info(&kernel, set, &nodes), CL_SUCCESS);
    run(1);
    for node in nodes.into_iter().chain([sum]) {
        assert_eq!(bench.free(node), CL_SUCCESS);
    }
}

#[test]
fn copies_go_from_any_memory_to_any_other() {
    const COUNT: usize = 1024;
    let Some(bench) = Bench::new() else { return };
    let allocated: Vec<_> = bench
        .kinds()
        .flat_map(|kind| [kind, kind])
        .map(|kind| bench.allocate(kind, COUNT * 4))
        .collect();
    let mut own = [vec![0_u32; COUNT], vec![0_u32; COUNT]];
    let own = own.each_mut().map(|own| own.as_mut_ptr().cast::<c_void>());
    let places: Vec<*mut c_void> = allocated.iter().copied().chain(own).collect();
    let mut round = 0;
    for &from in &places {
        for &to in places.iter().filter(|&&to| to != from) {
            round += 1;
            let source: Vec<u32> = (0..COUNT as u32).map(|i| i * 3 + round).collect();
            let mut expected = vec![round; COUNT];
            bench.put(from, &source);
            bench.put(to, &expected);
            let (from_at, to_at, count) = (17, 401, 500);
            let here = from.wrapping_byte_add(from_at * 4);
            let there = to.wrapping_byte_add(to_at * 4);
            let blocking = round % 2 == 0;
            let copied = memcpy(bench.queue.get(), blocking, there, here, count * 4, NO_LIST);
            let event = copied.expect("a copy");
            if !blocking {
                event.wait().expect("an end");
            }
            assert_eq!(event.command_execution_status().unwrap().0, CL_COMPLETE);
            assert_eq!(event.command_type().unwrap().0, CL_COMMAND_MEMCPY_INTEL);
            expected[to_at..][..count].copy_from_slice(&source[from_at..][..count]);
            assert_eq!(bench.get(to, COUNT), expected, "round {round}");
        }
    }
    for memory in allocated {
        assert_eq!(bench.free(memory), CL_SUCCESS);
    }
}

#[test]
fn fills_repeat_patterns_of_any_size() {
    const BYTES: usize = 4096;
    let Some(bench) = Bench::new() else { return };
    for kind in bench.kinds() {
        let memory = bench.allocate(kind, BYTES);
        let mut expected = vec![0_u8; BYTES];
        let zero = fill(bench.queue.get(), memory, ([0].as_ptr(), 1), BYTES, NO_LIST);
        assert!(zero.is_ok());
        for (round, pattern_bytes) in [1, 2, 4, 8, 16, 32, 64, 128].into_iter().enumerate() {
            let pattern: Vec<u8> = (0..pattern_bytes)
                .map(|byte| (byte * 3 + round * 50 + 1) as u8)
                .collect();
            let (at, size_bytes) = (round * 384 + pattern_bytes, 2 * pattern_bytes);
            let done = fill(
                bench.queue.get(),
                memory.wrapping_byte_add(at),
                (pattern.as_ptr(), pattern_bytes),
                size_bytes,
                NO_LIST,
            );
            let event = done.expect("a fill");
            assert_eq!(event.command_type().unwrap().0, CL_COMMAND_MEMFILL_INTEL);
            // "The memory associated with pattern can be reused or freed after the function returns."
            let expected = &mut expected[at..][..size_bytes];
            expected.copy_from_slice(&pattern.repeat(2));
        }
        let mut found = vec![0_u8; BYTES];
        bench.copy(found.as_mut_ptr().cast(), memory, BYTES);
        assert!(found == expected, "{kind:?}");
        assert_eq!(bench.free(memory), CL_SUCCESS);
    }
}

#[test]
fn hints_change_nothing() {
    let Some(bench) = Bench::new() else { return };
    let queue = bench.queue.get();
    let words: Vec<u32> = (0..64).collect();
    for kind in bench.kinds() {
        let memory = bench.allocate(kind, 256);
        bench.put(memory, &words);
        // From version 1.2.0 of the extension on, no flag means the queue's device.
        let extensions = bench.device.extensions_with_version().expect("a list");
        let version = extensions.iter().find(|it| {
            let name = it.name.iter().take_while(|&&byte| byte != 0);
            name.copied()
                .eq(b"cl_intel_unified_shared_memory".iter().copied())
        });
        assert!(version.expect("the extension").version >= 1 << 22 | 2 << 12);
        for flags in [0, CL_MIGRATE_MEM_OBJECT_HOST] {
            let event = migrate(queue, memory, 256, flags, NO_LIST).expect("a migration");
            assert_eq!(event.command_type().unwrap().0, CL_COMMAND_MIGRATEMEM_INTEL);
            assert_eq!(bench.get(memory, 64), words, "{kind:?} {flags:#x}");
        }
        let within = memory.wrapping_byte_add(64);
        let event = advise(queue, within, 64, NO_LIST).expect("an advice");
        assert_eq!(event.command_type().unwrap().0, CL_COMMAND_MEMADVISE_INTEL);
        event.wait().expect("an end");
        assert_eq!(bench.get(memory, 64), words, "{kind:?}");
        // The contents are undefined from here on, the memory is as good as before.
        let undefined = CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
        for flags in [undefined, undefined | CL_MIGRATE_MEM_OBJECT_HOST] {
            migrate(queue, memory, 256, flags, NO_LIST).expect("a migration");
            bench.put(memory, &words);
            assert_eq!(bench.get(memory, 64), words, "{kind:?} {flags:#x}");
        }
        assert_eq!(bench.free(memory), CL_SUCCESS);
    }
}

#[test]
fn a_blocking_free_comes_after_all_that_may_use_the_memory() {
    let Some(bench) = Bench::new() else { return };
    let others = [(); 2].map(|()| {
        let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE as cl_ulong;
        CommandQueue::create_default_with_properties(&bench.context, flags, 0).expect("a queue")
    });
    for kind in bench.kinds() {
        let memory = bench.allocate(kind, 1024);
        let gate = create_user_event(bench.context.get()).expect("a user event");
        let mut target = [0_u8; 1024];
        let fill = fill(others[0].get(), memory, ([9].as_ptr(), 1), 1024, (1, &gate));
        let fill = fill.expect("a fill");
        let after = fill.get();
        let there = target.as_mut_ptr().cast();
        let copied = memcpy(others[1].get(), false, there, memory, 1024, (1, &after));
        let copied = copied.expect("a copy");
        let gate = gate as usize;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                set_user_event_status(gate as cl_event, CL_COMPLETE).expect("the gate opens");
            });
            assert_eq!(bench.blocking_free(memory), CL_SUCCESS);
            let status = |event: &Event| event.command_execution_status().unwrap().0;
            assert_eq!([&fill, &copied].map(status), [CL_COMPLETE; 2], "{kind:?}");
            assert_eq!(target, [9; 1024], "{kind:?}");
        });
        // SAFETY: the only hold on it.
        unsafe { opencl3::event::release_event(gate as cl_event) }.expect("the event goes");
    }
}

/// "It is the responsibility of the application to make sure enqueued commands that use ptr are complete": other
/// memory may go while they are under way.
#[test]
fn a_free_leaves_work_on_other_memory_alone() {
    let Some(bench) = Bench::new() else { return };
    for kind in bench.kinds() {
        let [used, unused] = [bench.allocate(kind, 1024), bench.allocate(kind, 1024)];
        let gate = create_user_event(bench.context.get()).expect("a user event");
        let queue = bench.queue.get();
        let filled = fill(queue, used, ([5].as_ptr(), 1), 1024, (1, &gate));
        let filled = filled.expect("a fill");
        assert_eq!(bench.free(unused), CL_SUCCESS);
        // What takes its place is not touched either.
        let next = bench.allocate(kind, 1024);
        assert!(filled.command_execution_status().unwrap().0 > CL_COMPLETE);
        set_user_event_status(gate, CL_COMPLETE).expect("the gate opens");
        bench.put(next, &[8; 256]);
        assert_eq!(bench.get(used, 256), [0x0505_0505; 256], "{kind:?}");
        assert_eq!(bench.get(next, 256), [8; 256], "{kind:?}");
        assert_eq!([used, next].map(|it| bench.free(it)), [CL_SUCCESS; 2]);
        // SAFETY: the only hold on it.
        unsafe { opencl3::event::release_event(gate) }.expect("the event goes");
    }
}
