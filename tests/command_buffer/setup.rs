//! A device with a queue, the extension's functions, and command buffers that are released in the end.

use super::common;
use std::cell::Cell;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::Arc;

use opencl_sys as cl;
use opencl_sys::{
    cl_command_buffer_khr, cl_command_queue, cl_event, cl_int, cl_mutable_command_khr,
    cl_mutable_dispatch_arg_khr, cl_mutable_dispatch_config_khr, cl_sync_point_khr, cl_uint,
};
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_mem};

/// The extension's functions, as `clGetExtensionFunctionAddressForPlatform` gives them.
pub struct Functions {
    pub create: cl::clCreateCommandBufferKHR_fn,
    pub release: cl::clReleaseCommandBufferKHR_fn,
    pub retain: cl::clRetainCommandBufferKHR_fn,
    pub finalize: cl::clFinalizeCommandBufferKHR_fn,
    pub enqueue: cl::clEnqueueCommandBufferKHR_fn,
    pub info: cl::clGetCommandBufferInfoKHR_fn,
    pub barrier: cl::clCommandBarrierWithWaitListKHR_fn,
    pub copy: cl::clCommandCopyBufferKHR_fn,
    pub copy_rect: cl::clCommandCopyBufferRectKHR_fn,
    pub fill: cl::clCommandFillBufferKHR_fn,
    pub launch: cl::clCommandNDRangeKernelKHR_fn,
    pub svm_copy: cl::clCommandSVMMemcpyKHR_fn,
    pub svm_fill: cl::clCommandSVMMemFillKHR_fn,
    pub update: cl::clUpdateMutableCommandsKHR_fn,
    pub command_info: cl::clGetMutableCommandInfoKHR_fn,
    pub remap: cl::clRemapCommandBufferKHR_fn,
}

impl Functions {
    pub fn load(device: &Device) -> Self {
        let platform = device.platform().expect("a device has a platform");
        let path = CString::new(std::env::var("OPENCL_DYLIB_PATH").expect("set by `common`"))
            .expect("a path holds no null");
        // SAFETY: the library is loaded already; this is another reference to it.
        let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
        // SAFETY: `library` is valid.
        let address = unsafe {
            libc::dlsym(
                library,
                c"clGetExtensionFunctionAddressForPlatform".as_ptr(),
            )
        };
        assert!(!address.is_null());
        type Lookup = unsafe extern "C" fn(*mut c_void, *const libc::c_char) -> *mut c_void;
        // SAFETY: the function has this signature.
        let lookup: Lookup = unsafe { std::mem::transmute(address) };
        macro_rules! find {
            ($name:literal, $ty:ident) => {{
                // SAFETY: a valid platform and a C string.
                let found = unsafe { lookup(platform, $name.as_ptr()) };
                assert!(!found.is_null(), "{:?} is not found", $name);
                // SAFETY: the function of that name has the signature of the headers.
                unsafe { std::mem::transmute::<*mut c_void, cl::$ty>(found) }
            }};
        }
        Self {
            create: find!(c"clCreateCommandBufferKHR", clCreateCommandBufferKHR_fn),
            release: find!(c"clReleaseCommandBufferKHR", clReleaseCommandBufferKHR_fn),
            retain: find!(c"clRetainCommandBufferKHR", clRetainCommandBufferKHR_fn),
            finalize: find!(c"clFinalizeCommandBufferKHR", clFinalizeCommandBufferKHR_fn),
            enqueue: find!(c"clEnqueueCommandBufferKHR", clEnqueueCommandBufferKHR_fn),
            info: find!(c"clGetCommandBufferInfoKHR", clGetCommandBufferInfoKHR_fn),
            barrier: find!(
                c"clCommandBarrierWithWaitListKHR",
                clCommandBarrierWithWaitListKHR_fn
            ),
            copy: find!(c"clCommandCopyBufferKHR", clCommandCopyBufferKHR_fn),
            copy_rect: find!(c"clCommandCopyBufferRectKHR", clCommandCopyBufferRectKHR_fn),
            fill: find!(c"clCommandFillBufferKHR", clCommandFillBufferKHR_fn),
            launch: find!(c"clCommandNDRangeKernelKHR", clCommandNDRangeKernelKHR_fn),
            svm_copy: find!(c"clCommandSVMMemcpyKHR", clCommandSVMMemcpyKHR_fn),
            svm_fill: find!(c"clCommandSVMMemFillKHR", clCommandSVMMemFillKHR_fn),
            update: find!(c"clUpdateMutableCommandsKHR", clUpdateMutableCommandsKHR_fn),
            command_info: find!(c"clGetMutableCommandInfoKHR", clGetMutableCommandInfoKHR_fn),
            remap: find!(c"clRemapCommandBufferKHR", clRemapCommandBufferKHR_fn),
        }
    }
}

/// A context with a queue, and the functions.
pub struct Setup {
    pub device: Device,
    pub context: Arc<Context>,
    pub queue: CommandQueue,
    pub functions: Functions,
}

pub const IN_ORDER: u64 = 0;
pub const OUT_OF_ORDER: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

pub const SOURCE: &str = "
kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }
#define STEP value ^= value << 13; value ^= value >> 17; value ^= value << 5;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP
kernel void slow(global uint *out, uint rounds) {
    uint value = out[get_global_id(0)];
    for (uint round = 0; round < rounds; round++) { STEPS STEPS }
    out[get_global_id(0)] = value;
}
kernel void twice(global const uint *in, global uint *out) {
    size_t i = get_global_id(0);
    out[i] = 2 * in[i];
}";
/// What `slow` makes of a number. Some drivers leave loops after 65,535 rounds.
pub fn slowly(value: u32, rounds: u32) -> u32 {
    (0..16 * rounds).fold(value, |value, _| {
        let value = value ^ value << 13;
        let value = value ^ value >> 17;
        value ^ value << 5
    })
}

pub const COUNT: usize = 256;
pub const BYTES: usize = COUNT * 4;

/// The kernel that adds `value` to each number of `target`.
pub fn add(program: &Program, target: &Buffer<u32>, value: u32) -> Kernel {
    let kernel = Kernel::create(program, "add").expect("a kernel");
    // SAFETY: values of the right types.
    unsafe {
        kernel.set_arg(0, &target.get()).expect("a buffer");
        kernel.set_arg(1, &value).expect("a number");
    }
    kernel
}

impl Setup {
    pub fn new(flags: u64) -> Option<Self> {
        let device = common::device()?;
        let context = Arc::new(Context::from_device(&device).expect("a context"));
        let queue =
            CommandQueue::create_default_with_properties(&context, flags, 0).expect("queue");
        let functions = Functions::load(&device);
        Some(Self {
            device,
            context,
            queue,
            functions,
        })
    }

    pub fn buffer(&self) -> Buffer<u32> {
        // SAFETY: no host pointer.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, COUNT, ptr::null_mut()) }
            .expect("a buffer")
    }

    /// With the tests' kernels; `None` where there is no device or no compiler.
    pub fn with_program(flags: u64) -> Option<(Self, Program)> {
        let setup = Self::new(flags)?;
        let program = setup.program()?;
        Some((setup, program))
    }

    /// A launch that can be updated, alone in a command buffer that is finalized.
    pub fn recorded(&self, kernel: &Kernel) -> (CommandBuffer<'_>, cl_mutable_command_khr) {
        let buffer = self.command_buffer_with(cl::CL_COMMAND_BUFFER_MUTABLE_KHR);
        let command = buffer.launch_mutable(kernel, &[]);
        assert_eq!(buffer.finalize(), 0);
        (buffer, command)
    }

    pub fn program(&self) -> Option<Program> {
        if !self.device.compiler_available().expect("a query") {
            eprintln!("skipped: no clang");
            return None;
        }
        Some(Program::create_and_build_from_source(&self.context, SOURCE, "").expect("a program"))
    }

    pub fn write(&self, buffer: &mut Buffer<u32>, value: u32) {
        let data = [value; COUNT];
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_write_buffer(buffer, CL_BLOCKING, 0, &data, &[])
        }
        .expect("a write");
    }

    pub fn read(&self, buffer: &Buffer<u32>) -> Vec<u32> {
        let mut data = vec![0; COUNT];
        // SAFETY: blocking.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut data, &[])
        }
        .expect("a read");
        data
    }

    pub fn command_buffer(&self) -> CommandBuffer<'_> {
        self.command_buffer_with(0)
    }

    pub fn command_buffer_with(&self, flags: u64) -> CommandBuffer<'_> {
        let mut error = 1;
        let queue = self.queue.get();
        let properties = [cl::CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0];
        // SAFETY: one queue, a list that ends with 0.
        let handle =
            unsafe { (self.functions.create.unwrap())(1, &queue, properties.as_ptr(), &mut error) };
        assert_eq!(error, 0);
        assert!(!handle.is_null());
        self.wrap(handle)
    }

    /// A command buffer of several queues.
    pub fn command_buffer_of(&self, queues: &[&CommandQueue], flags: u64) -> CommandBuffer<'_> {
        let (error, buffer) = self.create_of(queues, flags);
        assert_eq!(error, 0);
        buffer.expect("a command buffer")
    }

    /// The same, with the error code.
    pub fn create_of(
        &self,
        queues: &[&CommandQueue],
        flags: u64,
    ) -> (cl_int, Option<CommandBuffer<'_>>) {
        let mut error = 1;
        let handles: Vec<_> = queues.iter().map(|queue| queue.get()).collect();
        let properties = [cl::CL_COMMAND_BUFFER_FLAGS_KHR, flags, 0];
        // SAFETY: as many queues as said, a list that ends with 0.
        let handle = unsafe {
            (self.functions.create.unwrap())(
                handles.len() as cl_uint,
                handles.as_ptr(),
                properties.as_ptr(),
                &mut error,
            )
        };
        (error, (!handle.is_null()).then(|| self.wrap(handle)))
    }

    /// Takes a command buffer over.
    pub fn wrap(&self, handle: cl_command_buffer_khr) -> CommandBuffer<'_> {
        CommandBuffer {
            handle,
            setup: self,
            queue: Cell::new(ptr::null_mut()),
        }
    }
}

/// Released when dropped.
pub struct CommandBuffer<'a> {
    pub handle: cl_command_buffer_khr,
    pub setup: &'a Setup,
    /// The queue that commands are recorded to; NULL where there is only one.
    pub queue: Cell<cl_command_queue>,
}

impl Drop for CommandBuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: a valid handle.
        let code = unsafe { (self.setup.functions.release.unwrap())(self.handle) };
        assert_eq!(code, 0);
    }
}

/// The arguments of a wait list.
pub fn list<T>(values: &[T]) -> (cl_uint, *const T) {
    match values {
        [] => (0, ptr::null()),
        values => (values.len() as cl_uint, values.as_ptr()),
    }
}

impl CommandBuffer<'_> {
    /// From now on commands are recorded to `queue`.
    pub fn on(&self, queue: &CommandQueue) -> &Self {
        self.queue.set(queue.get());
        self
    }

    pub fn fill(&self, target: &Buffer<u32>, value: u32, waits: &[u32]) -> cl_sync_point_khr {
        let mut point = 0;
        let (count, waits) = list(waits);
        let pattern = (&raw const value).cast();
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.fill.unwrap())(
                self.handle,
                self.queue.get(),
                ptr::null(),
                target.get(),
                pattern,
                4,
                0,
                BYTES,
                count,
                waits,
                &mut point,
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0, "fill");
        point
    }

    pub fn copy_code(&self, source: cl_mem, target: cl_mem, at: usize, waits: &[u32]) -> cl_int {
        let (count, waits) = list(waits);
        // SAFETY: handles as given, valid arrays.
        unsafe {
            (self.setup.functions.copy.unwrap())(
                self.handle,
                self.queue.get(),
                ptr::null(),
                source,
                target,
                0,
                at,
                BYTES,
                count,
                waits,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    }

    pub fn svm_copy_code(
        &self,
        to: *mut c_void,
        from: *const c_void,
        size: usize,
        waits: &[u32],
    ) -> cl_int {
        let (count, waits) = list(waits);
        // SAFETY: memory that is so long, where it is used; valid arrays.
        unsafe {
            (self.setup.functions.svm_copy.unwrap())(
                self.handle,
                self.queue.get(),
                ptr::null(),
                to,
                from,
                size,
                count,
                waits,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    }

    pub fn svm_fill_code(
        &self,
        to: *mut c_void,
        pattern: &[u8],
        size: usize,
        waits: &[u32],
    ) -> cl_int {
        let (count, waits) = list(waits);
        // SAFETY: as above.
        unsafe {
            (self.setup.functions.svm_fill.unwrap())(
                self.handle,
                self.queue.get(),
                ptr::null(),
                to,
                pattern.as_ptr().cast(),
                pattern.len(),
                size,
                count,
                waits,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        }
    }

    pub fn launch_code(&self, kernel: &Kernel, waits: &[u32]) -> (cl_int, cl_sync_point_khr) {
        let mut point = 0;
        let (count, waits) = list(waits);
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.launch.unwrap())(
                self.handle,
                self.queue.get(),
                ptr::null(),
                kernel.get(),
                1,
                ptr::null(),
                &COUNT,
                ptr::null(),
                count,
                waits,
                &mut point,
                ptr::null_mut(),
            )
        };
        (code, point)
    }

    /// A launch that may be updated.
    pub fn launch_mutable(&self, kernel: &Kernel, properties: &[u64]) -> cl_mutable_command_khr {
        let mut command = ptr::null_mut();
        let properties = match properties {
            [] => ptr::null(),
            properties => properties.as_ptr(),
        };
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.launch.unwrap())(
                self.handle,
                self.queue.get(),
                properties,
                kernel.get(),
                1,
                ptr::null(),
                &COUNT,
                ptr::null(),
                0,
                ptr::null(),
                ptr::null_mut(),
                &mut command,
            )
        };
        assert_eq!(code, 0, "launch");
        assert!(!command.is_null());
        command
    }

    pub fn update(&self, configs: &[cl_mutable_dispatch_config_khr]) -> cl_int {
        let types = vec![cl::CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR; configs.len()];
        let mut configs: Vec<*const c_void> = configs
            .iter()
            .map(|config| ptr::from_ref(config).cast())
            .collect();
        // SAFETY: as many types as structures.
        unsafe {
            (self.setup.functions.update.unwrap())(
                self.handle,
                configs.len() as cl_uint,
                types.as_ptr(),
                configs.as_mut_ptr(),
            )
        }
    }

    pub fn launch(&self, kernel: &Kernel, waits: &[u32]) -> cl_sync_point_khr {
        let (code, point) = self.launch_code(kernel, waits);
        assert_eq!(code, 0, "launch");
        point
    }

    pub fn barrier(&self) {
        // SAFETY: a valid handle.
        let code = unsafe {
            (self.setup.functions.barrier.unwrap())(
                self.handle,
                self.queue.get(),
                ptr::null(),
                0,
                ptr::null(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0, "barrier");
    }

    pub fn finalize(&self) -> cl_int {
        // SAFETY: a valid handle.
        unsafe { (self.setup.functions.finalize.unwrap())(self.handle) }
    }

    pub fn enqueue_on(
        &self,
        queues: &mut [*mut c_void],
        waits: &[cl_event],
    ) -> Result<Event, cl_int> {
        let (count, waits) = list(waits);
        let length = queues.len() as cl_uint;
        let list = match length {
            0 => ptr::null_mut(),
            _ => queues.as_mut_ptr(),
        };
        let mut event = ptr::null_mut();
        // SAFETY: valid handles and arrays.
        let code = unsafe {
            (self.setup.functions.enqueue.unwrap())(
                length,
                list,
                self.handle,
                count,
                waits,
                &mut event,
            )
        };
        match code {
            0 => Ok(Event::new(event)),
            code => Err(code),
        }
    }

    pub fn enqueue(&self) -> Event {
        self.enqueue_on(&mut [], &[]).expect("an execution")
    }

    /// An execution without an event.
    pub fn enqueue_unseen(&self) {
        // SAFETY: a valid handle.
        let code = unsafe {
            (self.setup.functions.enqueue.unwrap())(
                0,
                ptr::null_mut(),
                self.handle,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        };
        assert_eq!(code, 0);
    }

    pub fn info<T: Default>(&self, name: cl_uint) -> T {
        let mut value = T::default();
        let mut size = 0;
        // SAFETY: room for the value.
        let code = unsafe {
            (self.setup.functions.info.unwrap())(
                self.handle,
                name,
                size_of::<T>(),
                (&raw mut value).cast(),
                &mut size,
            )
        };
        assert_eq!((code, size), (0, size_of::<T>()));
        value
    }
}

/// An update of `command` that changes nothing yet.
pub fn config(command: cl_mutable_command_khr) -> cl_mutable_dispatch_config_khr {
    cl_mutable_dispatch_config_khr {
        command,
        num_args: 0,
        num_svm_args: 0,
        num_exec_infos: 0,
        work_dim: 0,
        arg_list: ptr::null(),
        arg_svm_list: ptr::null(),
        exec_info_list: ptr::null(),
        global_work_offset: ptr::null(),
        global_work_size: ptr::null(),
        local_work_size: ptr::null(),
    }
}

/// Argument `index` is to be `value`.
pub fn argument<T>(index: u32, value: &T) -> cl_mutable_dispatch_arg_khr {
    cl_mutable_dispatch_arg_khr {
        arg_index: index,
        arg_size: size_of::<T>(),
        arg_value: ptr::from_ref(value).cast(),
    }
}
