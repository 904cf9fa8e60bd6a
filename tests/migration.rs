//! Memory that is told to move: `clEnqueueMigrateMemObjects` and `clEnqueueSVMMigrateMem`. Between several devices it is
//! tested in `devices`.

mod common;
#[macro_use]
#[path = "common/entry.rs"]
mod entry;
#[path = "common/enqueued.rs"]
mod enqueued;

use std::ffi::c_void;
use std::ptr;

use enqueued::{BAD_LIST, List, NO_LIST, ended};
use opencl_sys::cl_function_types::{
    clEnqueueMigrateMemObjects_t, clEnqueueSVMMemcpy_t, clEnqueueSVMMigrateMem_t, clSVMAlloc_t,
    clSVMFree_t,
};
use opencl_sys::{
    CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_COMMAND_SVM_MIGRATE_MEM, CL_COMPLETE,
    CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT,
    CL_INVALID_EVENT_WAIT_LIST, CL_INVALID_MEM_OBJECT, CL_INVALID_VALUE, CL_MEM_OBJECT_IMAGE2D,
    CL_MEM_READ_WRITE, CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, CL_MIGRATE_MEM_OBJECT_HOST, CL_R,
    CL_SUCCESS, CL_TRUE, CL_UNSIGNED_INT32, cl_command_queue, cl_image_desc, cl_image_format,
    cl_int, cl_mem, cl_mem_migration_flags, cl_uint, clDeviceMemAllocINTEL_t, clMemFreeINTEL_t,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::{Event, create_user_event, release_event, set_user_event_status};
use opencl3::memory::{Buffer, ClMem, Image};
use opencl3::types::CL_BLOCKING;

const COUNT: usize = 64;
const BYTES: usize = COUNT * 4;

/// The two of which the contents stay what they were.
const KEEP: [cl_mem_migration_flags; 2] = [0, CL_MIGRATE_MEM_OBJECT_HOST];
const LOSE: [cl_mem_migration_flags; 2] = [
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED,
    CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED | CL_MIGRATE_MEM_OBJECT_HOST,
];
const UNKNOWN: cl_mem_migration_flags = 1 << 2;

struct Bench {
    device: Device,
    context: Context,
    queue: CommandQueue,
}

impl Bench {
    fn new() -> Option<Self> {
        let device = common::device()?;
        let context = Context::from_device(&device).expect("a context");
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
        Some(Self {
            device,
            context,
            queue,
        })
    }

    fn buffer(&self) -> Buffer<u32> {
        // SAFETY: no host memory.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .expect("a buffer")
    }

    fn write(&self, buffer: &mut Buffer<u32>, numbers: &[u32]) {
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_write_buffer(buffer, CL_BLOCKING, 0, numbers, &[])
        }
        .expect("a write");
    }

    fn read(&self, buffer: &Buffer<u32>) -> Vec<u32> {
        let mut numbers = vec![0; COUNT];
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut numbers, &[])
        }
        .expect("a read");
        numbers
    }

    fn shared(&self) -> *mut c_void {
        let allocate = entry!(clSVMAlloc_t, "clSVMAlloc");
        // SAFETY: a live context.
        let memory = unsafe { allocate(self.context.get(), CL_MEM_READ_WRITE, BYTES, 0) };
        assert!(!memory.is_null());
        memory
    }

    fn copy(&self, to: *mut c_void, from: *const c_void) {
        let copy = entry!(clEnqueueSVMMemcpy_t, "clEnqueueSVMMemcpy");
        let (queue, none) = (self.queue.get(), ptr::null_mut());
        // SAFETY: memory of `BYTES` on both sides; blocking.
        let code = unsafe { copy(queue, CL_TRUE, to, from, BYTES, 0, ptr::null(), none) };
        assert_eq!(code, CL_SUCCESS);
    }

    fn read_shared(&self, from: *const c_void) -> Vec<u32> {
        let mut numbers = vec![0_u32; COUNT];
        self.copy(numbers.as_mut_ptr().cast(), from);
        numbers
    }
}

fn numbers(first: u32) -> Vec<u32> {
    (first..first + COUNT as u32).collect()
}

fn migrate(
    queue: cl_command_queue,
    count: cl_uint,
    objects: *const cl_mem,
    flags: cl_mem_migration_flags,
    (events, list): List,
) -> Result<Event, cl_int> {
    let migrate = entry!(clEnqueueMigrateMemObjects_t, "clEnqueueMigrateMemObjects");
    let mut event = ptr::null_mut();
    // SAFETY: the array is as long as is said, or NULL.
    let code = unsafe { migrate(queue, count, objects, flags, events, list, &mut event) };
    ended(code, event)
}

fn migrate_shared(
    queue: cl_command_queue,
    count: cl_uint,
    pointers: &[*mut c_void],
    sizes: Option<&[usize]>,
    flags: cl_mem_migration_flags,
    (events, list): List,
) -> Result<Event, cl_int> {
    let migrate = entry!(clEnqueueSVMMigrateMem_t, "clEnqueueSVMMigrateMem");
    let mut event = ptr::null_mut();
    let mut pointers: Vec<_> = pointers.iter().map(|it| it.cast_const()).collect();
    let pointers = match pointers.as_mut_slice() {
        [] => ptr::null_mut(),
        pointers => pointers.as_mut_ptr(),
    };
    let sizes = sizes.map_or(ptr::null(), <[usize]>::as_ptr);
    // SAFETY: the arrays are as long as is said, or NULL.
    let code = unsafe {
        migrate(
            queue, count, pointers, sizes, flags, events, list, &mut event,
        )
    };
    ended(code, event)
}

fn code(result: Result<Event, cl_int>) -> cl_int {
    result.err().unwrap_or(CL_SUCCESS)
}

#[test]
fn objects_keep_their_contents() {
    let Some(bench) = Bench::new() else { return };
    let (mut first, whole) = (bench.buffer(), bench.buffer());
    // SAFETY: a region of the buffer.
    let sub_buffer = unsafe { whole.create_sub_buffer(CL_MEM_READ_WRITE, 0, COUNT) };
    let mut sub_buffer: Buffer<u32> = sub_buffer.expect("a sub-buffer");
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_UNSIGNED_INT32,
    };
    let desc = cl_image_desc {
        image_type: CL_MEM_OBJECT_IMAGE2D,
        image_width: 8,
        image_height: 8,
        image_depth: 1,
        image_array_size: 1,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    };
    let none = ptr::null_mut();
    // SAFETY: no host memory.
    let image = unsafe { Image::create(&bench.context, CL_MEM_READ_WRITE, &format, &desc, none) };
    let mut image = image.expect("an image");
    let (at, size) = ([0_usize; 3], [8_usize, 8, 1]);
    let (at, size) = (at.as_ptr(), size.as_ptr());
    let objects = [first.get(), sub_buffer.get(), image.get()];
    let mut round = 0;
    for flags in KEEP.into_iter().chain(LOSE) {
        let moved = || {
            let queue = bench.queue.get();
            let moved = migrate(queue, 3, objects.as_ptr(), flags, NO_LIST);
            let event = moved.expect("a migration");
            let kind = event.command_type().expect("a type").0;
            assert_eq!(kind, CL_COMMAND_MIGRATE_MEM_OBJECTS);
            event.wait().expect("an end");
        };
        if LOSE.contains(&flags) {
            // What is written afterwards is there.
            moved();
        }
        round += 1000;
        let expected = [1, 2, 3].map(|object| numbers(round + object));
        bench.write(&mut first, &expected[0]);
        bench.write(&mut sub_buffer, &expected[1]);
        let texels = expected[2].as_ptr().cast_mut().cast();
        let queue = &bench.queue;
        // SAFETY: as many texels; blocking.
        unsafe { queue.enqueue_write_image(&mut image, CL_BLOCKING, at, size, 0, 0, texels, &[]) }
            .expect("a write");
        if KEEP.contains(&flags) {
            moved();
        }
        let mut texels = vec![0_u32; COUNT];
        let to = texels.as_mut_ptr().cast();
        // SAFETY: as many texels; blocking.
        unsafe { queue.enqueue_read_image(&image, CL_BLOCKING, at, size, 0, 0, to, &[]) }
            .expect("a read");
        let found = [bench.read(&first), bench.read(&whole), texels];
        assert_eq!(found, expected, "{flags:#x}");
    }
}

#[test]
fn shared_memory_keeps_its_contents() {
    let Some(bench) = Bench::new() else { return };
    let queue = bench.queue.get();
    let (first, second) = (bench.shared(), bench.shared());
    let middle = second.wrapping_byte_add(100);
    // All of both, by no sizes and by zeros, and parts up to the last byte.
    for sizes in [None, Some([0, 0]), Some([BYTES, BYTES - 100]), Some([1, 0])] {
        let sizes = sizes.as_ref().map(<[usize; 2]>::as_slice);
        for flags in KEEP.into_iter().chain(LOSE) {
            let moved = || {
                let moved = migrate_shared(queue, 2, &[first, middle], sizes, flags, NO_LIST);
                let event = moved.expect("a migration");
                let kind = event.command_type().expect("a type").0;
                assert_eq!(kind, CL_COMMAND_SVM_MIGRATE_MEM);
                event.wait().expect("an end");
            };
            if LOSE.contains(&flags) {
                moved();
            }
            let expected = [7, 7000].map(numbers);
            bench.copy(first, expected[0].as_ptr().cast());
            bench.copy(second, expected[1].as_ptr().cast());
            if KEEP.contains(&flags) {
                moved();
            }
            let found = [first, second].map(|it| bench.read_shared(it));
            assert_eq!(found, expected, "{flags:#x} {sizes:?}");
        }
    }
    let free = entry!(clSVMFree_t, "clSVMFree");
    for memory in [first, second] {
        // SAFETY: from clSVMAlloc, used by nothing.
        unsafe { free(bench.context.get(), memory) };
    }
}

#[test]
fn a_migration_waits_for_its_events_and_fails_with_them() {
    let Some(bench) = Bench::new() else { return };
    let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    let queue = bench.queue.get();
    let mut buffer = bench.buffer();
    bench.write(&mut buffer, &numbers(3));
    let shared = bench.shared();
    bench.copy(shared, numbers(4).as_ptr().cast());
    for status in [CL_COMPLETE, -7] {
        for flags in KEEP {
            let gate = create_user_event(bench.context.get()).expect("a user event");
            let events = [
                migrate(queue, 1, &buffer.get(), flags, (1, &gate)),
                migrate_shared(queue, 1, &[shared], None, flags, (1, &gate)),
            ]
            .map(|event| event.expect("a migration"));
            let now = |event: &Event| event.command_execution_status().expect("a status").0;
            assert!(events.iter().all(|event| now(event) > CL_COMPLETE));
            set_user_event_status(gate, status).expect("the gate opens");
            for event in &events {
                assert_eq!(event.wait().is_ok(), status == CL_COMPLETE);
                assert_eq!(now(event), if status < 0 { failed } else { CL_COMPLETE });
            }
            // SAFETY: the only hold on it.
            unsafe { release_event(gate) }.expect("the event goes");
        }
    }
    assert_eq!(bench.read(&buffer), numbers(3));
    assert_eq!(bench.read_shared(shared), numbers(4));
    let free = entry!(clSVMFree_t, "clSVMFree");
    // SAFETY: from clSVMAlloc, used by nothing.
    unsafe { free(bench.context.get(), shared) };
}

#[test]
fn wrong_migrations_of_objects_are_refused() {
    let Some(bench) = Bench::new() else { return };
    let other = Context::from_device(&bench.device).expect("a context");
    let gate = create_user_event(other.get()).expect("a user event");
    let foreign: List = (1, &gate);
    let buffer = bench.buffer();
    // SAFETY: no host memory.
    let elsewhere =
        unsafe { Buffer::<u32>::create(&other, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) };
    let elsewhere = elsewhere.expect("a buffer");
    let (queue, none) = (bench.queue.get(), ptr::null_mut());
    let good = [buffer.get()];
    let of = |queue, objects: &[cl_mem], flags, list| {
        code(migrate(
            queue,
            objects.len() as cl_uint,
            objects.as_ptr(),
            flags,
            list,
        ))
    };
    assert_eq!(
        of(none, &[none], UNKNOWN, foreign),
        CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(of(queue, &[none], UNKNOWN, foreign), CL_INVALID_CONTEXT);
    let mixed = [buffer.get(), elsewhere.get()];
    assert_eq!(of(queue, &mixed, UNKNOWN, BAD_LIST), CL_INVALID_CONTEXT);
    for wrong in [none, queue] {
        let mixed = [buffer.get(), wrong];
        assert_eq!(of(queue, &mixed, UNKNOWN, BAD_LIST), CL_INVALID_MEM_OBJECT);
    }
    let empty = code(migrate(queue, 0, good.as_ptr(), 0, BAD_LIST));
    let absent = code(migrate(queue, 1, ptr::null(), 0, BAD_LIST));
    let neither = code(migrate(queue, 0, ptr::null(), 0, BAD_LIST));
    assert_eq!([empty, absent, neither], [CL_INVALID_VALUE; 3]);
    for flags in [UNKNOWN, UNKNOWN | CL_MIGRATE_MEM_OBJECT_HOST, 1 << 63] {
        assert_eq!(of(queue, &good, flags, BAD_LIST), CL_INVALID_VALUE);
    }
    assert_eq!(of(queue, &good, 0, BAD_LIST), CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(of(queue, &good, 0, NO_LIST), CL_SUCCESS);
    // SAFETY: the only hold on it.
    unsafe { release_event(gate) }.expect("the event goes");
}

#[test]
fn wrong_migrations_of_shared_memory_are_refused() {
    let Some(bench) = Bench::new() else { return };
    let other = Context::from_device(&bench.device).expect("a context");
    let gate = create_user_event(other.get()).expect("a user event");
    let foreign: List = (1, &gate);
    let (queue, none) = (bench.queue.get(), ptr::null_mut());
    // Nothing of clSVMAlloc comes after the second.
    let mut pair = [bench.shared(), bench.shared()];
    pair.sort_unstable();
    let [first, second] = pair;
    let unified = entry!(clDeviceMemAllocINTEL_t, "clDeviceMemAllocINTEL");
    // SAFETY: live handles.
    let unified = unsafe {
        unified(
            bench.context.get(),
            bench.device.id(),
            ptr::null(),
            BYTES,
            0,
            ptr::null_mut(),
        )
    };
    assert!(!unified.is_null());
    let of = |queue, pointers: &[*mut c_void], sizes: Option<&[usize]>, flags, list| {
        let count = pointers.len() as cl_uint;
        code(migrate_shared(queue, count, pointers, sizes, flags, list))
    };
    assert_eq!(
        of(none, &[], None, UNKNOWN, foreign),
        CL_INVALID_COMMAND_QUEUE
    );
    assert_eq!(of(queue, &[], None, UNKNOWN, foreign), CL_INVALID_CONTEXT);
    let empty = code(migrate_shared(queue, 0, &[first], None, 0, BAD_LIST));
    let absent = code(migrate_shared(queue, 1, &[], None, 0, BAD_LIST));
    assert_eq!([empty, absent], [CL_INVALID_VALUE; 2]);
    for flags in [UNKNOWN, UNKNOWN | CL_MIGRATE_MEM_OBJECT_HOST, 1 << 63] {
        assert_eq!(of(queue, &[first], None, flags, BAD_LIST), CL_INVALID_VALUE);
    }
    // "if sizes[i] is non-zero and the memory range described by svm_pointers[i] and sizes[i] is not contained within an
    // SVM allocation returned by clSVMAlloc"
    let mut on_stack = 0_u64;
    for (pointer, size_bytes) in [
        (second, BYTES + 1),
        (second, usize::MAX),
        (second.wrapping_byte_add(BYTES - 1), 2),
        (second.wrapping_byte_add(BYTES), 1),
        (second.wrapping_byte_sub(1), 2),
        (unified, 1),
        (ptr::from_mut(&mut on_stack).cast(), 8),
        (none, 1),
    ] {
        let found = of(
            queue,
            &[first, pointer],
            Some(&[0, size_bytes]),
            0,
            BAD_LIST,
        );
        assert_eq!(found, CL_INVALID_VALUE, "{size_bytes} at {pointer:p}");
    }
    let whole: Option<&[usize]> = Some(&[BYTES]);
    let found = of(queue, &[first], whole, 0, BAD_LIST);
    assert_eq!(found, CL_INVALID_EVENT_WAIT_LIST);
    assert_eq!(of(queue, &[first], whole, 0, NO_LIST), CL_SUCCESS);
    bench.queue.finish().expect("an end");
    let free = entry!(clSVMFree_t, "clSVMFree");
    let free_unified = entry!(clMemFreeINTEL_t, "clMemFreeINTEL");
    // SAFETY: each freed by its own function, and used by nothing.
    unsafe {
        free(bench.context.get(), first);
        free(bench.context.get(), second);
        assert_eq!(free_unified(bench.context.get(), unified), CL_SUCCESS);
        release_event(gate).expect("the event goes");
    }
}
