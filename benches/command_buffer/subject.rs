//! The work on an OpenCL device: enqueued one by one, and as a command buffer.

use crate::support::Result;
use crate::support::opencl::{
    buffer, extension_function, kernel, launch, queue, read, set_buffer, set_value, write,
};
use crate::work::{self, BUFFER_BYTES, BUFFERS, Graph, ITEMS, KERNEL, SOURCE};
use opencl_sys as cl;
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::kernel::Kernel;
use opencl3::memory::Buffer;
use std::cell::Cell;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::time::Instant;

/// A device with what the work needs.
pub struct Subject {
    queue: CommandQueue,
    kernel: Kernel,
    buffers: Vec<Buffer<u8>>,
    extension: Option<Extension>,
    /// Executions since the buffers were cleared.
    runs: Cell<usize>,
    _context: Context,
}

/// The functions of cl_khr_command_buffer that it calls.
struct Extension {
    create: unsafe extern "C" fn(
        cl::cl_uint,
        *const cl::cl_command_queue,
        *const cl::cl_command_buffer_properties_khr,
        *mut cl::cl_int,
    ) -> cl::cl_command_buffer_khr,
    release: unsafe extern "C" fn(cl::cl_command_buffer_khr) -> cl::cl_int,
    finalize: unsafe extern "C" fn(cl::cl_command_buffer_khr) -> cl::cl_int,
    enqueue: unsafe extern "C" fn(
        cl::cl_uint,
        *mut cl::cl_command_queue,
        cl::cl_command_buffer_khr,
        cl::cl_uint,
        *const cl::cl_event,
        *mut cl::cl_event,
    ) -> cl::cl_int,
    launch: cl::clCommandNDRangeKernelKHR_fn,
}

impl Extension {
    /// `None` where the device's platform lacks it.
    fn load(device: &Device) -> Result<Option<Self>> {
        let platform = device.platform()?;
        let find = |name: &CStr| extension_function(platform, name);
        let [create, release, finalize, enqueue, launch] = [
            c"clCreateCommandBufferKHR",
            c"clReleaseCommandBufferKHR",
            c"clFinalizeCommandBufferKHR",
            c"clEnqueueCommandBufferKHR",
            c"clCommandNDRangeKernelKHR",
        ]
        .map(find);
        let found = [create?, release?, finalize?, enqueue?, launch?];
        if found.iter().any(|address| address.is_null()) {
            return Ok(None);
        }
        let [create, release, finalize, enqueue, launch] = found;
        // SAFETY: the functions of those names have the signatures of the headers, and none is NULL.
        Ok(Some(unsafe {
            Self {
                create: function(create),
                release: function(release),
                finalize: function(finalize),
                enqueue: function(enqueue),
                launch: function(launch),
            }
        }))
    }
}

/// # Safety
/// `F` is the type of the function at `address`.
unsafe fn function<F>(address: *mut c_void) -> F {
    // SAFETY: a pointer to a function is as large as an address; the caller's promise.
    unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) }
}

fn check(code: cl::cl_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(format!("OpenCL error {code}").into()),
    }
}

impl Subject {
    /// `graph` decides whether the queue is in order.
    pub fn new(device: &Device, graph: Graph) -> Result<Self> {
        let context = Context::from_device(device)?;
        let properties = match graph {
            Graph::InOrder => 0,
            _ => CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
        };
        let queue = queue(&context, properties)?;
        let kernel = kernel(&context, SOURCE, KERNEL, "")?;
        let buffers = (0..BUFFERS)
            .map(|_| buffer(&context, BUFFER_BYTES))
            .collect::<Result<Vec<_>>>()?;
        for buffer in &buffers {
            write(&queue, buffer, true, &[0; BUFFER_BYTES])?;
        }
        Ok(Self {
            queue,
            kernel,
            buffers,
            extension: Extension::load(device)?,
            runs: Cell::new(0),
            _context: context,
        })
    }

    pub fn has_command_buffers(&self) -> bool {
        self.extension.is_some()
    }

    fn set(&self, index: usize) -> Result<()> {
        let (buffer, value) = work::command(index);
        set_buffer(&self.kernel, 0, &self.buffers[buffer])?;
        set_value(&self.kernel, 1, value)
    }

    /// Sets the arguments and enqueues every kernel, and waits for the end; when all was handed over.
    pub fn one_by_one(&self, commands: usize) -> Result<Instant> {
        for index in 0..commands {
            self.set(index)?;
            launch(&self.queue, &self.kernel, ITEMS, ITEMS)?;
        }
        self.hand_over()
    }

    /// The same kernels as a command buffer.
    pub fn command_buffer(&self, commands: usize, graph: Graph) -> Result<CommandBuffer<'_>> {
        let extension = self.extension.as_ref().ok_or("no command buffers")?;
        let mut error = 0;
        // SAFETY: one queue, no properties.
        let handle = unsafe { (extension.create)(1, &self.queue.get(), ptr::null(), &mut error) };
        check(error)?;
        let buffer = CommandBuffer {
            subject: self,
            extension,
            handle,
        };
        let mut point = 0;
        for index in 0..commands {
            self.set(index)?;
            let before = point;
            let waits = graph == Graph::Chain && index > 0;
            let list = if waits {
                &raw const before
            } else {
                ptr::null()
            };
            let launch = extension.launch.ok_or("no clCommandNDRangeKernelKHR")?;
            // SAFETY: valid handles and arrays.
            check(unsafe {
                launch(
                    handle,
                    ptr::null_mut(),
                    ptr::null(),
                    self.kernel.get(),
                    1,
                    ptr::null(),
                    &ITEMS,
                    &ITEMS,
                    waits.into(),
                    list,
                    &mut point,
                    ptr::null_mut(),
                )
            })?;
        }
        // SAFETY: a valid handle.
        check(unsafe { (extension.finalize)(handle) })?;
        Ok(buffer)
    }

    fn hand_over(&self) -> Result<Instant> {
        self.queue.flush()?;
        let handed_over = Instant::now();
        self.queue.finish()?;
        self.runs.set(self.runs.get() + 1);
        Ok(handed_over)
    }

    /// Looks at what all that ran has left behind, each time with as many commands, and clears it.
    ///
    /// # Errors
    /// It is not what it must be, unless the kernels may race.
    pub fn verify(&self, commands: usize, graph: Graph) -> Result<()> {
        let runs = self.runs.take();
        for (index, buffer) in self.buffers.iter().enumerate() {
            let mut bytes = [0; BUFFER_BYTES];
            read(&self.queue, buffer, true, &mut bytes)?;
            write(&self.queue, buffer, true, &[0; BUFFER_BYTES])?;
            let words: Vec<u32> = bytes
                .chunks_exact(4)
                .map(|it| u32::from_ne_bytes([it[0], it[1], it[2], it[3]]))
                .collect();
            graph.check(commands, runs, index, &words)?;
        }
        Ok(())
    }
}

/// A finalized command buffer of a subject's.
pub struct CommandBuffer<'a> {
    subject: &'a Subject,
    extension: &'a Extension,
    handle: cl::cl_command_buffer_khr,
}

impl CommandBuffer<'_> {
    /// Enqueues it and waits for the end; when it was handed over.
    pub fn replay(&self) -> Result<Instant> {
        let enqueue = self.extension.enqueue;
        // SAFETY: a valid handle, no events.
        check(unsafe {
            enqueue(
                0,
                ptr::null_mut(),
                self.handle,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        })?;
        self.subject.hand_over()
    }
}

impl Drop for CommandBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: a valid handle, not used any more.
        unsafe { (self.extension.release)(self.handle) };
    }
}
