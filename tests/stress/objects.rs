//! One object of every kind, made, used and released.

use std::ffi::c_void;
use std::ptr;

use opencl_sys as cl;
use opencl_sys::{
    CL_MEM_READ_WRITE, CL_SUCCESS, clCreateCommandBufferKHR_t, clDeviceMemAllocINTEL_t,
    clEnqueueSignalSemaphoresKHR_t, clEnqueueWaitSemaphoresKHR_t, clMemFreeINTEL_t,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT32, ClMem, Image, Sampler,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format};

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

/// What the rounds share.
pub struct Bench {
    device: Device,
    context: Context,
    queue: CommandQueue,
    /// Of a program with the kernel `test`.
    binary: Vec<u8>,
}

impl Bench {
    /// `source` has the kernel `test` of a buffer and a word to add to each of its words.
    pub fn new(device: Device, source: &str) -> Self {
        let context = Context::from_device(&device).expect("a context");
        // SAFETY: a device of the context.
        let queue = unsafe { CommandQueue::create_with_properties(&context, device.id(), 0, 0) }
            .expect("a queue");
        let program =
            Program::create_and_build_from_source(&context, source, "").expect("a program");
        let binaries = program.get_binaries().expect("binaries");
        Self {
            device,
            context,
            queue,
            binary: binaries.into_iter().next().expect("a binary"),
        }
    }

    /// One of each kind; what is read is checked.
    pub fn round(&self, number: u32) {
        // SAFETY: live handles; regions lie within what they are of; maps are blocking.
        unsafe {
            self.memory(number);
            self.program(number);
            self.unified(number);
            self.semaphore();
            self.command_buffer(number);
        }
    }

    fn buffer(&self) -> Buffer<u32> {
        // SAFETY: no host pointer is given.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, WORDS, ptr::null_mut()) }
            .expect("a buffer")
    }

    unsafe fn memory(&self, number: u32) {
        // SAFETY: the caller's promise.
        unsafe {
            let (queue, context) = (&self.queue, &self.context);
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
            Sampler::create_with_properties(context, ptr::null()).expect("a sampler");
        }
    }

    unsafe fn program(&self, number: u32) {
        let program =
            Program::create_and_build_from_binary(&self.context, &[self.binary.as_slice()], "")
                .expect("a program");
        let kernel = Kernel::create(&program, "test").expect("a kernel");
        let words = self.buffer();
        // SAFETY: the caller's promise.
        unsafe {
            kernel.set_arg(0, &words.get()).expect("an argument");
            kernel.set_arg(1, &number).expect("an argument");
            let clone = kernel.clone();
            // Each program's first launch has the driver compile.
            if number.is_multiple_of(100) {
                self.queue
                    .enqueue_nd_range_kernel(clone.get(), 1, ptr::null(), &WORDS, ptr::null(), &[])
                    .expect("a launch");
            }
        }
    }

    unsafe fn unified(&self, number: u32) {
        let allocate = entry!(clDeviceMemAllocINTEL_t, "clDeviceMemAllocINTEL");
        let free = entry!(clMemFreeINTEL_t, "clMemFreeINTEL");
        let mut code = 1;
        // SAFETY: the caller's promise.
        unsafe {
            let memory = allocate(
                self.context.get(),
                self.device.id(),
                ptr::null(),
                64 + number as usize % 5000,
                0,
                &mut code,
            );
            assert_eq!(code, CL_SUCCESS);
            assert_eq!(free(self.context.get(), memory), CL_SUCCESS);
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
            let queue = self.queue.get();
            let semaphore = create(self.context.get(), properties.as_ptr(), &mut code);
            assert_eq!(code, CL_SUCCESS);
            let signalled = signal(queue, 1, &semaphore, ptr::null(), 0, none, no_event);
            assert_eq!(signalled, CL_SUCCESS);
            let waited = wait(queue, 1, &semaphore, ptr::null(), 0, none, no_event);
            assert_eq!(waited, CL_SUCCESS);
            self.queue.finish().expect("the end");
            assert_eq!(release(semaphore), CL_SUCCESS);
        }
    }

    unsafe fn command_buffer(&self, number: u32) {
        let create = entry!(clCreateCommandBufferKHR_t, "clCreateCommandBufferKHR");
        let fill = entry!(cl::clCommandFillBufferKHR_t, "clCommandFillBufferKHR");
        let finalize = entry!(
            cl::clFinalizeCommandBufferKHR_t,
            "clFinalizeCommandBufferKHR"
        );
        let enqueue = entry!(cl::clEnqueueCommandBufferKHR_t, "clEnqueueCommandBufferKHR");
        let release = entry!(cl::clReleaseCommandBufferKHR_t, "clReleaseCommandBufferKHR");
        let words = self.buffer();
        let mut code = 1;
        // SAFETY: the caller's promise.
        unsafe {
            let commands = create(1, &self.queue.get(), ptr::null(), &mut code);
            assert_eq!(code, CL_SUCCESS);
            let recorded = fill(
                commands,
                ptr::null_mut(),
                ptr::null(),
                words.get(),
                (&raw const number).cast(),
                4,
                0,
                WORDS * 4,
                0,
                ptr::null(),
                ptr::null_mut(),
                ptr::null_mut(),
            );
            assert_eq!(recorded, CL_SUCCESS);
            assert_eq!(finalize(commands), CL_SUCCESS);
            let (none, no_event) = (ptr::null(), ptr::null_mut());
            assert_eq!(
                enqueue(0, ptr::null_mut(), commands, 0, none, no_event),
                CL_SUCCESS
            );
            assert_eq!(release(commands), CL_SUCCESS);
        }
    }
}
