//! One object of every kind, made, used and released. This file has memory, events and semaphores.

mod programs;

use super::setup::Setup;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use opencl_sys as cl;
use opencl_sys::cl_function_types::{
    clEnqueueSVMFree_t, clEnqueueSVMMap_t, clEnqueueSVMUnmap_t, clSVMAlloc_t,
    clSetMemObjectDestructorCallback_t,
};
use opencl_sys::{
    CL_MEM_READ_WRITE, CL_SUCCESS, clDeviceMemAllocINTEL_t, clEnqueueMemFillINTEL_t,
    clEnqueueSignalSemaphoresKHR_t, clEnqueueWaitSemaphoresKHR_t, clHostMemAllocINTEL_t,
    clMemBlockingFreeINTEL_t, clSharedMemAllocINTEL_t,
};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::event::{create_user_event, set_user_event_status};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT32, ClMem,
    Image, Pipe, Sampler,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format, cl_mem};

const WORDS: usize = 1024;
/// Texels of four words.
const SIDE: usize = 16;

const FORMAT: cl_image_format = cl_image_format {
    image_channel_order: CL_RGBA,
    image_channel_data_type: CL_UNSIGNED_INT32,
};

const DESC: cl_image_desc = cl_image_desc {
    image_type: CL_MEM_OBJECT_IMAGE2D,
    image_width: SIDE,
    image_height: SIDE,
    image_depth: 1,
    image_array_size: 1,
    image_row_pitch: 0,
    image_slice_pitch: 0,
    num_mip_levels: 0,
    num_samples: 0,
    buffer: ptr::null_mut(),
};

/// Memory objects that told of their end.
static GONE: AtomicU32 = AtomicU32::new(0);

extern "C" fn count_gone(_memory: cl_mem, _user_data: *mut c_void) {
    GONE.fetch_add(1, Ordering::SeqCst);
}

/// What the rounds share.
pub struct Bench {
    setup: Setup,
    program: Program,
    /// Of a program with the kernel `add` alone.
    binary: Vec<u8>,
    /// A program's intermediate language.
    module: Vec<u8>,
    has_pipes: bool,
}

impl Bench {
    /// `program` is that of the setup.
    pub fn new(setup: Setup, program: Program) -> Self {
        let small = Program::create_and_build_from_source(&setup.context, programs::ADD, "");
        let binaries = small.expect("a program").get_binaries().expect("binaries");
        let has_pipes = setup.device.pipe_support().expect("a query");
        Self {
            setup,
            program,
            binary: binaries.into_iter().next().expect("a binary"),
            module: programs::module(),
            has_pipes,
        }
    }

    /// One of each kind; what is read is checked.
    pub fn round(&self, number: u32) {
        // SAFETY: live handles; regions lie within what they are of; maps are blocking.
        unsafe {
            self.memory(number);
            self.shared(number);
            self.unified(number);
            self.semaphore();
        }
        self.events();
        self.programs(number);
        self.command_buffers(number);
    }

    /// Ends what the rounds have begun: `rounds` of them.
    pub fn finish(&self, rounds: u32) {
        self.setup.queue.finish().expect("the end");
        // The memory of the last round may go a little later.
        assert!(GONE.load(Ordering::SeqCst) + 1 >= rounds);
    }

    fn buffer(&self) -> Buffer<u32> {
        // SAFETY: no host pointer is given.
        unsafe {
            Buffer::create(
                &self.setup.context,
                CL_MEM_READ_WRITE,
                WORDS,
                ptr::null_mut(),
            )
        }
        .expect("a buffer")
    }

    unsafe fn memory(&self, number: u32) {
        let notify = entry!(
            clSetMemObjectDestructorCallback_t,
            "clSetMemObjectDestructorCallback"
        );
        // SAFETY: the caller's promise.
        unsafe {
            let (queue, context) = (&self.setup.queue, &*self.setup.context);
            let mut words = self.buffer();
            let mut image =
                Image::create(context, CL_MEM_READ_WRITE, &FORMAT, &DESC, ptr::null_mut())
                    .expect("an image");
            let (origin, region) = ([0; 3], [SIDE, SIDE, 1]);
            let color = [number; 4];
            queue
                .enqueue_fill_image(
                    &mut image,
                    color.as_ptr().cast(),
                    origin.as_ptr(),
                    region.as_ptr(),
                    &[],
                )
                .expect("a fill");
            queue
                .enqueue_copy_image_to_buffer(
                    &image,
                    &mut words,
                    origin.as_ptr(),
                    region.as_ptr(),
                    0,
                    &[],
                )
                .expect("a copy");
            let mut part = words
                .create_sub_buffer(CL_MEM_READ_WRITE, WORDS / 2, 64)
                .expect("a sub-buffer");
            queue
                .enqueue_fill_buffer(&mut part, &[!number], 0, 64 * 4, &[])
                .expect("a fill");
            queue.enqueue_marker_with_wait_list(&[]).expect("a marker");
            let mut pointer: *mut c_void = ptr::null_mut();
            queue
                .enqueue_map_buffer(
                    &words,
                    CL_BLOCKING,
                    CL_MAP_READ,
                    0,
                    WORDS * 4,
                    &mut pointer,
                    &[],
                )
                .expect("a map");
            let seen = std::slice::from_raw_parts(pointer.cast::<u32>(), WORDS);
            assert_eq!(
                (seen[0], seen[WORDS / 2], seen[WORDS - 1]),
                (number, !number, number)
            );
            queue
                .enqueue_unmap_mem_object(words.get(), pointer, &[])
                .expect("an unmap");
            let mut texels: cl_mem = ptr::null_mut();
            let mut pitch = 0;
            queue
                .enqueue_map_image(
                    &image,
                    CL_BLOCKING,
                    CL_MAP_WRITE,
                    origin.as_ptr(),
                    region.as_ptr(),
                    &mut pitch,
                    ptr::null_mut(),
                    &mut texels,
                    &[],
                )
                .expect("a map");
            texels.cast::<u32>().write(number);
            queue
                .enqueue_unmap_mem_object(image.get(), texels, &[])
                .expect("an unmap");
            let all = [words.get(), image.get()];
            queue
                .enqueue_migrate_mem_object(2, all.as_ptr(), 0, &[])
                .expect("a migration");
            queue
                .enqueue_barrier_with_wait_list(&[])
                .expect("a barrier");
            Sampler::create_with_properties(context, ptr::null()).expect("a sampler");
            if self.has_pipes {
                Pipe::create(context, 0, 4, 16).expect("a pipe");
            }
            let code = notify(words.get(), Some(count_gone), ptr::null_mut());
            assert_eq!(code, CL_SUCCESS);
        }
    }

    /// Shared memory, freed in turn.
    unsafe fn shared(&self, number: u32) {
        let allocate = entry!(clSVMAlloc_t, "clSVMAlloc");
        let map = entry!(clEnqueueSVMMap_t, "clEnqueueSVMMap");
        let unmap = entry!(clEnqueueSVMUnmap_t, "clEnqueueSVMUnmap");
        let free = entry!(clEnqueueSVMFree_t, "clEnqueueSVMFree");
        let (none, no_event) = (ptr::null(), ptr::null_mut());
        let queue = self.setup.queue.get();
        let size_bytes = 64 + number as usize % 5000;
        // SAFETY: the caller's promise.
        unsafe {
            let mut memory = allocate(self.setup.context.get(), CL_MEM_READ_WRITE, size_bytes, 0);
            assert!(!memory.is_null());
            let mapped = map(
                queue,
                CL_BLOCKING,
                CL_MAP_WRITE,
                memory,
                size_bytes,
                0,
                none,
                no_event,
            );
            assert_eq!(mapped, CL_SUCCESS);
            memory.cast::<u32>().write(number);
            assert_eq!(unmap(queue, memory, 0, none, no_event), CL_SUCCESS);
            let freed = free(
                queue,
                1,
                &mut memory,
                None,
                ptr::null_mut(),
                0,
                none,
                no_event,
            );
            assert_eq!(freed, CL_SUCCESS);
        }
    }

    /// Unified memory: of the device, of the host, of both.
    unsafe fn unified(&self, number: u32) {
        let of_device = entry!(clDeviceMemAllocINTEL_t, "clDeviceMemAllocINTEL");
        let of_host = entry!(clHostMemAllocINTEL_t, "clHostMemAllocINTEL");
        let of_both = entry!(clSharedMemAllocINTEL_t, "clSharedMemAllocINTEL");
        let fill = entry!(clEnqueueMemFillINTEL_t, "clEnqueueMemFillINTEL");
        let free = entry!(clMemBlockingFreeINTEL_t, "clMemBlockingFreeINTEL");
        let (context, device) = (self.setup.context.get(), self.setup.device.id());
        let size_bytes = 64 + number as usize % 5000;
        let mut code = 1;
        // SAFETY: the caller's promise.
        unsafe {
            let memory = match number % 3 {
                0 => of_device(context, device, ptr::null(), size_bytes, 0, &mut code),
                1 => of_host(context, ptr::null(), size_bytes, 0, &mut code),
                _ => of_both(context, device, ptr::null(), size_bytes, 0, &mut code),
            };
            if memory.is_null() {
                // The device has no such memory.
                assert_eq!(code, cl::CL_INVALID_OPERATION);
                return;
            }
            let pattern = (&raw const number).cast();
            let queue = self.setup.queue.get();
            let filled = fill(
                queue,
                memory,
                pattern,
                4,
                64,
                0,
                ptr::null(),
                ptr::null_mut(),
            );
            assert_eq!(filled, CL_SUCCESS);
            assert_eq!(free(context, memory), CL_SUCCESS);
        }
    }

    /// Commands that wait for what the application says, and what fails with it.
    fn events(&self) {
        let context = &self.setup.context;
        let flags = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        let queue = CommandQueue::create_default_with_properties(context, flags, 0);
        let queue = queue.expect("a queue");
        for status in [0, -1] {
            let gate = create_user_event(context.get()).expect("a user event");
            // SAFETY: live events.
            let markers = unsafe {
                let first = queue
                    .enqueue_marker_with_wait_list(&[gate])
                    .expect("a marker");
                let second = queue.enqueue_marker_with_wait_list(&[first.get()]);
                [first, second.expect("a marker")]
            };
            set_user_event_status(gate, status).expect("a status");
            for marker in &markers {
                assert_eq!(marker.wait().is_ok(), status == 0);
            }
            // SAFETY: it is not used any more.
            unsafe { opencl3::event::release_event(gate) }.expect("a release");
        }
    }

    unsafe fn semaphore(&self) {
        let create = entry!(
            cl::clCreateSemaphoreWithPropertiesKHR_t,
            "clCreateSemaphoreWithPropertiesKHR"
        );
        let signal = entry!(
            clEnqueueSignalSemaphoresKHR_t,
            "clEnqueueSignalSemaphoresKHR"
        );
        let wait = entry!(clEnqueueWaitSemaphoresKHR_t, "clEnqueueWaitSemaphoresKHR");
        let release = entry!(cl::clReleaseSemaphoreKHR_t, "clReleaseSemaphoreKHR");
        let properties = [
            cl::CL_SEMAPHORE_TYPE_KHR as cl::cl_ulong,
            cl::CL_SEMAPHORE_TYPE_BINARY_KHR as cl::cl_ulong,
            0,
        ];
        let (mut code, none, no_event) = (1, ptr::null(), ptr::null_mut());
        // SAFETY: the caller's promise.
        unsafe {
            let queue = self.setup.queue.get();
            let semaphore = create(self.setup.context.get(), properties.as_ptr(), &mut code);
            assert_eq!(code, CL_SUCCESS);
            let signalled = signal(queue, 1, &semaphore, ptr::null(), 0, none, no_event);
            assert_eq!(signalled, CL_SUCCESS);
            let waited = wait(queue, 1, &semaphore, ptr::null(), 0, none, no_event);
            assert_eq!(waited, CL_SUCCESS);
            self.setup.queue.finish().expect("the end");
            assert_eq!(release(semaphore), CL_SUCCESS);
        }
    }
}
