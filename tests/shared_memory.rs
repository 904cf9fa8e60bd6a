//! Memory that host and device know by the same address: shared virtual memory, unified shared memory, and
//! device addresses of buffers. Kernels follow pointers that they find in memory.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use opencl_sys::cl_function_types::{
    clCreateBufferWithProperties_t, clEnqueueReadBuffer_t, clEnqueueSVMFree_t, clEnqueueSVMMap_t,
    clEnqueueSVMMemcpy_t, clEnqueueSVMUnmap_t, clGetMemObjectInfo_t, clReleaseMemObject_t,
    clSVMAlloc_t, clSVMFree_t, clSetKernelArgSVMPointer_t, clWaitForEvents_t,
};
use opencl_sys::{
    CL_COMPLETE, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER,
    CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_FALSE,
    CL_INVALID_BUFFER_SIZE, CL_INVALID_OPERATION, CL_INVALID_VALUE, CL_MAP_READ, CL_MAP_WRITE,
    CL_MEM_ALLOC_BASE_PTR_INTEL, CL_MEM_ALLOC_TYPE_INTEL, CL_MEM_COPY_HOST_PTR,
    CL_MEM_COPY_OVERLAP, CL_MEM_DEVICE_ADDRESS_EXT, CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT,
    CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_SVM_ATOMICS, CL_MEM_SVM_FINE_GRAIN_BUFFER,
    CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_UNKNOWN_INTEL, CL_MEM_USE_HOST_PTR, CL_MEM_WRITE_ONLY,
    CL_SUCCESS, CL_TRUE, cl_bool, cl_command_queue, cl_command_queue_properties, cl_event,
    cl_map_flags, cl_svm_mem_flags, cl_uint, cl_ulong, clDeviceMemAllocINTEL_t,
    clEnqueueMemFillINTEL_t, clEnqueueMemcpyINTEL_t, clGetMemAllocInfoINTEL_t,
    clMemBlockingFreeINTEL_t, clSetKernelArgDevicePointerEXT_t, clSetKernelArgMemPointerINTEL_t,
};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::{create_user_event, set_user_event_status};
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use opencl3::program::Program;

struct Bench {
    device: Device,
    context: Context,
    queue: CommandQueue,
}

impl Bench {
    fn new(flags: cl_command_queue_properties) -> Option<Self> {
        let device = common::device()?;
        let context = Context::from_device(&device).expect("a context");
        // SAFETY: a device of the context.
        let queue =
            unsafe { CommandQueue::create_with_properties(&context, device.id(), flags, 0) }
                .expect("a queue");
        Some(Self {
            device,
            context,
            queue,
        })
    }

    fn capabilities(&self) -> cl_ulong {
        self.device.svm_mem_capability()
    }

    fn kernel(&self, source: &str) -> Kernel {
        let program = Program::create_and_build_from_source(&self.context, source, "")
            .unwrap_or_else(|log| panic!("{log}"));
        Kernel::create(&program, "test").expect("a kernel")
    }

    /// Runs one work-item with pointers for its arguments.
    fn run(&self, kernel: &Kernel, pointers: &[*mut c_void]) {
        let set = entry!(clSetKernelArgSVMPointer_t, "clSetKernelArgSVMPointer");
        for (index, pointer) in pointers.iter().enumerate() {
            // SAFETY: a kernel with that many pointer arguments.
            assert_eq!(
                unsafe { set(kernel.get(), index as u32, *pointer) },
                CL_SUCCESS
            );
        }
        // SAFETY: the arguments are set.
        unsafe {
            self.queue
                .enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &1, ptr::null(), &[])
                .expect("a launch");
        }
    }

    fn allocate(&self, flags: cl_svm_mem_flags, size_bytes: usize) -> *mut c_void {
        let allocate = entry!(clSVMAlloc_t, "clSVMAlloc");
        // SAFETY: a live context.
        let pointer = unsafe { allocate(self.context.get(), flags, size_bytes, 0) };
        assert!(!pointer.is_null());
        pointer
    }

    fn free(&self, pointer: *mut c_void) {
        let free = entry!(clSVMFree_t, "clSVMFree");
        // SAFETY: allocated by `allocate`, used by nothing.
        unsafe { free(self.context.get(), pointer) };
    }

    fn map(&self, pointer: *mut c_void, size_bytes: usize, flags: cl_map_flags) {
        let map = entry!(clEnqueueSVMMap_t, "clEnqueueSVMMap");
        // SAFETY: a live allocation of that size.
        let code = unsafe {
            map(
                self.queue.get(),
                CL_TRUE,
                flags,
                pointer,
                size_bytes,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        assert_eq!(code, CL_SUCCESS);
    }

    fn unmap(&self, pointer: *mut c_void) {
        let unmap = entry!(clEnqueueSVMUnmap_t, "clEnqueueSVMUnmap");
        // SAFETY: mapped by `map`.
        let code = unsafe { unmap(self.queue.get(), pointer, 0, ptr::null(), ptr::null_mut()) };
        assert_eq!(code, CL_SUCCESS);
    }

    /// Copies through `clEnqueueSVMMemcpy`.
    fn copy(&self, to: *mut c_void, from: *const c_void, size_bytes: usize, blocking: cl_bool) {
        let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
        // SAFETY: the tests' memory, which outlives the queue's work.
        let code = unsafe {
            copy(
                self.queue.get(),
                blocking,
                to,
                from,
                size_bytes,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        assert_eq!(code, CL_SUCCESS);
    }
}

/// A list of which every node lies in an allocation of its own.
#[repr(C)]
#[derive(Clone, Copy)]
struct Node {
    next: *mut Node,
    value: u64,
}

const SUM_OF_LIST: &str = "
    struct node { global struct node *next; ulong value; };
    kernel void test(global struct node *head, global ulong *sum) {
        ulong total = 0;
        for (global struct node *at = head; at; at = at->next) {
            total += at->value;
            at->value *= 2;
        }
        *sum = total;
    }";

#[test]
fn a_kernel_follows_pointers_that_the_host_wrote() {
    let Some(bench) = Bench::new(0) else { return };
    assert_ne!(bench.capabilities() & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, 0);
    let size_bytes = size_of::<Node>();
    let nodes: Vec<*mut c_void> = (0..20).map(|_| bench.allocate(0, size_bytes)).collect();
    let sum = bench.allocate(CL_MEM_READ_WRITE, 8);
    for (index, &node) in nodes.iter().enumerate() {
        bench.map(node, size_bytes, CL_MAP_WRITE);
        let next = nodes.get(index + 1).copied().unwrap_or(ptr::null_mut());
        // SAFETY: mapped for writing.
        unsafe {
            node.cast::<Node>().write(Node {
                next: next.cast(),
                value: 1 << index,
            });
        }
        bench.unmap(node);
    }
    let kernel = bench.kernel(SUM_OF_LIST);
    bench.run(&kernel, &[nodes[0], sum]);
    bench.run(&kernel, &[nodes[0], sum]);
    bench.map(sum, 8, CL_MAP_READ);
    // SAFETY: mapped.
    assert_eq!(unsafe { sum.cast::<u64>().read() }, ((1 << 20) - 1) * 2);
    bench.unmap(sum);
    for (index, &node) in nodes.iter().enumerate() {
        bench.map(node, size_bytes, CL_MAP_READ);
        // SAFETY: mapped.
        assert_eq!(unsafe { node.cast::<Node>().read() }.value, 4 << index);
        bench.unmap(node);
    }
    bench.queue.finish().unwrap();
    nodes.into_iter().for_each(|node| bench.free(node));
    bench.free(sum);
}

/// More than a Vulkan device has memory objects. PUMICE_SVM_ALLOCATIONS asks for another number.
#[test]
fn small_allocations_are_as_many_as_the_application_likes() {
    let Some(bench) = Bench::new(0) else { return };
    let count = std::env::var("PUMICE_SVM_ALLOCATIONS").map_or(Ok(10_000), |count| count.parse());
    let size = |number: usize| 16 + number * 37 % 700;
    let begun = std::time::Instant::now();
    let mut list: Vec<(usize, usize)> = (0..count.expect("a number"))
        .map(|number| (bench.allocate(0, size(number)) as usize, size(number)))
        .collect();
    list.sort_unstable();
    for pair in list.windows(2) {
        assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?} overlap");
    }
    // The first half is freed, from both sides, and had again.
    let half = list.len() / 2;
    let rest = list.split_off(half);
    for index in 0..half / 2 {
        bench.free(list[index].0 as *mut c_void);
        bench.free(list[half - 1 - index].0 as *mut c_void);
    }
    list = (0..half)
        .map(|number| (bench.allocate(0, size(number)) as usize, size(number)))
        .chain(rest)
        .collect();
    // A list through some of them.
    let size_bytes = size_of::<Node>();
    let nodes: Vec<*mut c_void> = list
        .iter()
        .step_by(list.len() / 100)
        .map(|(address, _)| *address as *mut c_void)
        .collect();
    let sum = bench.allocate(0, 8);
    for pair in nodes.windows(2) {
        let node = Node {
            next: pair[1].cast(),
            value: 3,
        };
        bench.copy(pair[0], ptr::from_ref(&node).cast(), size_bytes, CL_TRUE);
    }
    bench.run(
        &bench.kernel(SUM_UP_TO),
        &[nodes[0], sum, nodes[nodes.len() - 1]],
    );
    let mut total = 0_u64;
    bench.copy(ptr::from_mut(&mut total).cast(), sum, 8, CL_TRUE);
    assert_eq!(total, 3 * (nodes.len() as u64 - 1));
    list.iter()
        .for_each(|(address, _)| bench.free(*address as *mut c_void));
    bench.free(sum);
    eprintln!("{} allocations: {:?}", list.len(), begun.elapsed());
}

const SUM_UP_TO: &str = "
    struct node { global struct node *next; ulong value; };
    kernel void test(global struct node *head, global ulong *sum, global struct node *end) {
        ulong total = 0;
        for (global struct node *at = head; at != end; at = at->next) total += at->value;
        *sum = total;
    }";

const ADD_ONE: &str = "kernel void test(global uint *words) {
    for (uint i = 0; i < 256; i++) words[i] += 1 + i;
}";

#[test]
fn copies_and_kernels_keep_their_order_whatever_memory_they_use() {
    let Some(bench) = Bench::new(0) else { return };
    let kernel = bench.kernel(ADD_ONE);
    let first = bench.allocate(0, 1024);
    let second = bench.allocate(0, 1024);
    for round in 0..50_u32 {
        let source: Vec<u32> = (0..256).map(|i| i * 7 + round).collect();
        let mut between = vec![0_u32; 256];
        let mut target = vec![0_u32; 256];
        // Host to shared, kernel, shared to host, host to host's other copy, and back to shared: nothing
        // waits but the queue's order.
        bench.copy(first, source.as_ptr().cast(), 1024, CL_FALSE);
        bench.run(&kernel, &[first]);
        bench.copy(between.as_mut_ptr().cast(), first, 1024, CL_FALSE);
        bench.copy(second, between.as_ptr().cast(), 1024, CL_FALSE);
        bench.run(&kernel, &[second]);
        bench.copy(first, second, 1024, CL_FALSE);
        bench.copy(target.as_mut_ptr().cast(), first, 1024, CL_TRUE);
        let expected: Vec<u32> = (0..256).map(|i| i * 7 + round + 2 * (1 + i)).collect();
        assert_eq!(target, expected, "round {round}");
        let middle: Vec<u32> = (0..256).map(|i| i * 7 + round + 1 + i).collect();
        assert_eq!(between, middle, "round {round}");
    }
    bench.free(first);
    bench.free(second);
}

#[test]
fn a_copy_on_the_host_waits_for_its_events() {
    let out_of_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let Some(bench) = Bench::new(out_of_order) else {
        return;
    };
    let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
    let wait = entry!(clWaitForEvents_t, "clWaitForEvents");
    let source = [5_u8; 64];
    let mut target = [0_u8; 64];
    for status in [CL_COMPLETE, -7] {
        target.fill(0);
        let gate = create_user_event(bench.context.get()).unwrap();
        let mut event: cl_event = ptr::null_mut();
        // SAFETY: both arrays outlive the wait below.
        let code = unsafe {
            copy(
                bench.queue.get(),
                CL_FALSE,
                target.as_mut_ptr().cast(),
                source.as_ptr().cast(),
                64,
                1,
                &gate,
                &mut event,
            )
        };
        assert_eq!(code, CL_SUCCESS);
        std::thread::sleep(std::time::Duration::from_millis(20));
        // SAFETY: read as if another thread wrote.
        assert_eq!(unsafe { target.as_ptr().read_volatile() }, 0);
        set_user_event_status(gate, status).unwrap();
        // SAFETY: a live event.
        let code = unsafe { wait(1, &event) };
        if status == CL_COMPLETE {
            assert_eq!((code, target), (CL_SUCCESS, source));
        } else {
            assert_eq!(
                (code, target[0]),
                (CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, 0)
            );
        }
    }
}

static FREED: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_freed(
    _queue: cl_command_queue,
    count: cl_uint,
    pointers: *mut *mut c_void,
    user_data: *mut c_void,
) {
    assert_eq!(user_data as usize, 77);
    // SAFETY: as the specification says.
    let list = unsafe { std::slice::from_raw_parts(pointers, count as usize) };
    assert!(list.iter().all(|pointer| !pointer.is_null()));
    FREED.fetch_add(count, Ordering::SeqCst);
}

#[test]
fn freeing_in_turn_calls_the_application_before_its_event_is_complete() {
    let Some(bench) = Bench::new(0) else { return };
    let enqueue_free = entry!(clEnqueueSVMFree_t, "clEnqueueSVMFree");
    let kernel = bench.kernel(ADD_ONE);
    let mut list: Vec<*mut c_void> = (0..3).map(|_| bench.allocate(0, 1024)).collect();
    bench.run(&kernel, &[list[0]]);
    // SAFETY: live allocations; nothing uses them after.
    let code = unsafe {
        enqueue_free(
            bench.queue.get(),
            3,
            list.as_mut_ptr(),
            Some(count_freed),
            77 as *mut c_void,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    };
    assert_eq!(code, CL_SUCCESS);
    bench.queue.finish().unwrap();
    assert_eq!(FREED.load(Ordering::SeqCst), 3);
    // The callback's to free.
    list.into_iter().for_each(|pointer| bench.free(pointer));
}

#[test]
fn fine_grain_memory_needs_no_map() {
    let Some(bench) = Bench::new(0) else { return };
    if bench.capabilities() & CL_DEVICE_SVM_FINE_GRAIN_BUFFER == 0 {
        eprintln!("skipped: no fine-grain buffers");
        return;
    }
    let kernel = bench.kernel(ADD_ONE);
    let words = bench.allocate(CL_MEM_SVM_FINE_GRAIN_BUFFER, 1024);
    let mut own = vec![3_u32; 256];
    let mut pointers = vec![words.cast::<u32>()];
    if bench.capabilities() & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0 {
        pointers.push(own.as_mut_ptr());
    }
    for pointer in pointers {
        for index in 0..256 {
            // SAFETY: within the memory, which nothing else uses now.
            unsafe { pointer.add(index).write(index as u32) };
        }
        bench.run(&kernel, &[pointer.cast()]);
        bench.queue.finish().unwrap();
        for index in 0..256 {
            // SAFETY: as above.
            let word = unsafe { pointer.add(index).read() };
            assert_eq!(word, 2 * index as u32 + 1);
        }
    }
    bench.free(words);
}

#[test]
fn wrong_requests_are_refused() {
    let Some(bench) = Bench::new(0) else { return };
    let allocate = entry!(clSVMAlloc_t, "clSVMAlloc");
    let context = bench.context.get();
    let refused = |flags, size, alignment| {
        // SAFETY: a live context.
        unsafe { allocate(context, flags, size, alignment) }.is_null()
    };
    assert!(refused(0, 0, 0));
    assert!(refused(0, usize::MAX, 0));
    assert!(refused(0, 64, 3));
    assert!(refused(0, 64, 256));
    assert!(refused(CL_MEM_SVM_ATOMICS, 64, 0));
    assert!(refused(CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 64, 0));
    assert!(refused(CL_MEM_USE_HOST_PTR, 64, 0));
    // SAFETY: a live context.
    let aligned = unsafe { allocate(context, 0, 64, 128) };
    assert_eq!(aligned as usize % 128, 0);
    let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
    let code = |to: *mut c_void, from: *const c_void| {
        // SAFETY: refused before anything is touched.
        unsafe {
            copy(
                bench.queue.get(),
                CL_TRUE,
                to,
                from,
                32,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        }
    };
    assert_eq!(code(aligned, ptr::null()), CL_INVALID_VALUE);
    assert_eq!(
        code(aligned, aligned.wrapping_byte_add(16)),
        CL_MEM_COPY_OVERLAP
    );
    // 32 bytes, of which 16 are behind the allocation.
    let mut host = [0_u8; 32];
    let beyond = aligned.wrapping_byte_add(48);
    assert_eq!(code(beyond, host.as_ptr().cast()), CL_INVALID_VALUE);
    assert_eq!(code(host.as_mut_ptr().cast(), beyond), CL_INVALID_VALUE);
    // "CL_INVALID_BUFFER_SIZE … if host_ptr is a pointer allocated using clSVMAlloc and the size … is greater than the size of
    // the allocation": whether the buffer uses it or copies it.
    for flags in [CL_MEM_USE_HOST_PTR, CL_MEM_COPY_HOST_PTR] {
        for (size_bytes, code) in [(64, CL_SUCCESS), (65, CL_INVALID_BUFFER_SIZE)] {
            // SAFETY: memory of 64 bytes; what reaches beyond is refused.
            let made = unsafe { Buffer::<u8>::create(&bench.context, flags, size_bytes, aligned) };
            assert_eq!(made.err().map_or(CL_SUCCESS, |error| error.0), code);
        }
    }
    bench.free(aligned);
}

/// "CL_INVALID_OPERATION … if system pointers are passed as arguments to a kernel … and the device does not support fine
/// grain system SVM allocations."
#[test]
fn host_memory_is_an_argument_only_where_the_device_reaches_it() {
    let Some(bench) = Bench::new(0) else { return };
    let kernel = bench.kernel("kernel void test(global uint *word) { if (word) *word = 7; }");
    let reaches_all = bench.capabilities() & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0;
    let set = entry!(clSetKernelArgSVMPointer_t, "clSetKernelArgSVMPointer");
    let mut word = Box::new(1_u32);
    let launch = |pointer: *const c_void| {
        // SAFETY: the device reaches the word, or refuses; it lives until `finish`.
        unsafe {
            assert_eq!(set(kernel.get(), 0, pointer), CL_SUCCESS);
            let (size, none) = ([1_usize], ptr::null());
            let code = bench.queue.enqueue_nd_range_kernel(
                kernel.get(),
                1,
                none,
                size.as_ptr(),
                none,
                &[],
            );
            bench.queue.finish().expect("finished");
            code.map(drop).map_err(|error| error.0)
        }
    };
    let expected = if reaches_all {
        Ok(())
    } else {
        Err(CL_INVALID_OPERATION)
    };
    assert_eq!(launch((&raw mut *word).cast()), expected);
    assert_eq!(*word, if reaches_all { 7 } else { 1 });
    assert_eq!(launch(ptr::null()), Ok(()));
}

#[test]
fn unified_memory_is_known_by_any_address_within() {
    let Some(bench) = Bench::new(0) else { return };
    let device_memory = entry!(clDeviceMemAllocINTEL_t, "clDeviceMemAllocINTEL");
    let info = entry!(clGetMemAllocInfoINTEL_t, "clGetMemAllocInfoINTEL");
    let fill = entry!(clEnqueueMemFillINTEL_t, "clEnqueueMemFillINTEL");
    let copy = entry!(clEnqueueMemcpyINTEL_t, "clEnqueueMemcpyINTEL");
    let set = entry!(
        clSetKernelArgMemPointerINTEL_t,
        "clSetKernelArgMemPointerINTEL"
    );
    let free = entry!(clMemBlockingFreeINTEL_t, "clMemBlockingFreeINTEL");
    let (context, queue) = (bench.context.get(), bench.queue.get());
    let mut code = 0;
    // SAFETY: live handles; `back` outlives the blocking copy.
    unsafe {
        let memory = device_memory(context, bench.device.id(), ptr::null(), 1024, 0, &mut code);
        assert_eq!(code, CL_SUCCESS);
        let within = memory.wrapping_byte_add(100);
        let mut base: *mut c_void = ptr::null_mut();
        let result = info(
            context,
            within,
            CL_MEM_ALLOC_BASE_PTR_INTEL,
            8,
            (&raw mut base).cast(),
            ptr::null_mut(),
        );
        assert_eq!((result, base), (CL_SUCCESS, memory));
        let mut kind: cl_uint = 0;
        for (pointer, expected) in [
            (within.cast_const(), CL_MEM_TYPE_DEVICE_INTEL),
            ((&raw const code).cast(), CL_MEM_TYPE_UNKNOWN_INTEL),
        ] {
            let kind_ptr = (&raw mut kind).cast();
            let name = CL_MEM_ALLOC_TYPE_INTEL;
            assert_eq!(
                info(context, pointer, name, 4, kind_ptr, ptr::null_mut()),
                CL_SUCCESS
            );
            assert_eq!(kind, expected);
        }
        let pattern = [1_u32, 2];
        let none = ptr::null_mut();
        let result = fill(
            queue,
            memory,
            pattern.as_ptr().cast(),
            8,
            1024,
            0,
            ptr::null(),
            none,
        );
        assert_eq!(result, CL_SUCCESS);
        let kernel = bench.kernel(ADD_ONE);
        assert_eq!(set(kernel.get(), 0, memory), CL_SUCCESS);
        bench
            .queue
            .enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &1, ptr::null(), &[])
            .unwrap();
        let mut back = [0_u32; 256];
        let to = back.as_mut_ptr().cast();
        assert_eq!(
            copy(queue, CL_TRUE, to, memory, 1024, 0, ptr::null(), none),
            CL_SUCCESS
        );
        for (index, word) in back.iter().enumerate() {
            assert_eq!(*word, pattern[index % 2] + 1 + index as u32);
        }
        assert_eq!(free(context, within), CL_INVALID_VALUE);
        assert_eq!(free(context, memory), CL_SUCCESS);
        assert_eq!(free(context, memory), CL_INVALID_VALUE);
    }
}

#[test]
fn a_buffer_is_found_by_its_device_address() {
    let Some(bench) = Bench::new(0) else { return };
    let create = entry!(
        clCreateBufferWithProperties_t,
        "clCreateBufferWithProperties"
    );
    let info = entry!(clGetMemObjectInfo_t, "clGetMemObjectInfo");
    let set = entry!(
        clSetKernelArgDevicePointerEXT_t,
        "clSetKernelArgDevicePointerEXT"
    );
    let read = entry!(clEnqueueReadBuffer_t, "clEnqueueReadBuffer");
    let release = entry!(clReleaseMemObject_t, "clReleaseMemObject");
    let mut words: Vec<u32> = (0..256).collect();
    let properties = [CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT, CL_TRUE.into(), 0];
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let data = words.as_mut_ptr().cast();
    let mut code = 0;
    // SAFETY: live handles; `words` outlives the blocking read.
    unsafe {
        let context = bench.context.get();
        let buffer = create(context, properties.as_ptr(), flags, 1024, data, &mut code);
        assert_eq!(code, CL_SUCCESS);
        let plain = create(context, ptr::null(), flags, 1024, data, &mut code);
        let mut address: cl_ulong = 0;
        let name = CL_MEM_DEVICE_ADDRESS_EXT;
        let mut query = |of| info(of, name, 8, (&raw mut address).cast(), ptr::null_mut());
        assert_eq!(query(plain), CL_INVALID_OPERATION);
        assert_eq!(query(buffer), CL_SUCCESS);
        let kernel = bench.kernel(ADD_ONE);
        assert_eq!(set(kernel.get(), 0, address), CL_SUCCESS);
        for _ in 0..2 {
            bench
                .queue
                .enqueue_nd_range_kernel(kernel.get(), 1, ptr::null(), &1, ptr::null(), &[])
                .unwrap();
        }
        let queue = bench.queue.get();
        let none = ptr::null_mut();
        assert_eq!(
            read(queue, buffer, CL_TRUE, 0, 1024, data, 0, ptr::null(), none),
            CL_SUCCESS
        );
        for (index, word) in words.iter().enumerate() {
            assert_eq!(*word, 3 * index as u32 + 2);
        }
        release(buffer);
        release(plain);
    }
}
