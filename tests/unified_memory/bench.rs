//! A device's unified shared memory, and the calls of the extension.

use crate::common;
use crate::enqueued::{List, NO_LIST, ended};
use opencl_sys::cl_function_types::clSetKernelExecInfo_t;
use opencl_sys::*;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::Device;
use opencl3::event::Event;
use opencl3::kernel::Kernel;
use opencl3::program::Program;
use std::ffi::c_void;
use std::ptr;

/// The size of `long16`, the largest type of OpenCL C.
pub const LARGEST_TYPE_BYTES: cl_uint = 128;

pub struct Bench {
    pub device: Device,
    pub context: Context,
    pub queue: CommandQueue,
}

/// How an allocation is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Host,
    Device,
    /// Of the device.
    Shared,
    /// Of no device.
    SharedByAll,
}

pub use Kind::{Host, Shared, SharedByAll};

pub const KINDS: [Kind; 4] = [Host, Kind::Device, Shared, SharedByAll];

impl Kind {
    pub fn is_seen_by_host(self) -> bool {
        self != Kind::Device
    }

    /// The query of what the device does with it.
    pub fn capabilities(self) -> cl_device_info {
        match self {
            Host => CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL,
            Kind::Device => CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
            Shared => CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
            SharedByAll => CL_DEVICE_CROSS_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
        }
    }
}

impl Bench {
    pub fn new() -> Option<Self> {
        let device = common::device()?;
        let context = Context::from_device(&device).expect("a context");
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
        Some(Self {
            device,
            context,
            queue,
        })
    }

    pub fn capabilities(&self, name: cl_device_info) -> cl_ulong {
        let bytes = self.device.get_data(name).expect("an answer");
        u64::from_ne_bytes(bytes.try_into().expect("a bit field of 64 bits"))
    }

    /// The kinds that the device has.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        KINDS.into_iter().filter(|kind| {
            self.capabilities(kind.capabilities()) & CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL != 0
        })
    }

    /// What the call that allocates answers.
    pub fn ask(
        &self,
        kind: Kind,
        properties: &[cl_mem_properties_intel],
        size_bytes: usize,
        alignment: cl_uint,
    ) -> Result<*mut c_void, cl_int> {
        let (context, device) = (self.context.get(), self.device.id());
        allocate(kind, context, device, properties, size_bytes, alignment)
    }

    pub fn allocate(&self, kind: Kind, size_bytes: usize) -> *mut c_void {
        let made = self.ask(kind, &[], size_bytes, 0);
        made.unwrap_or_else(|code| panic!("{kind:?}: {code}"))
    }

    pub fn free(&self, pointer: *mut c_void) -> cl_int {
        let free = entry!(clMemFreeINTEL_t, "clMemFreeINTEL");
        // SAFETY: a live context.
        unsafe { free(self.context.get(), pointer) }
    }

    pub fn blocking_free(&self, pointer: *mut c_void) -> cl_int {
        let free = entry!(clMemBlockingFreeINTEL_t, "clMemBlockingFreeINTEL");
        // SAFETY: a live context.
        unsafe { free(self.context.get(), pointer) }
    }

    /// Copies, blocking.
    pub fn copy(&self, to: *mut c_void, from: *const c_void, size_bytes: usize) {
        let code = memcpy(self.queue.get(), true, to, from, size_bytes, NO_LIST).map(drop);
        assert_eq!(code, Ok(()));
    }

    /// Puts numbers where the host may not see.
    pub fn put(&self, to: *mut c_void, values: &[u32]) {
        self.copy(to, values.as_ptr().cast(), size_of_val(values));
    }

    pub fn get(&self, from: *const c_void, count: usize) -> Vec<u32> {
        let mut values = vec![0_u32; count];
        self.copy(values.as_mut_ptr().cast(), from, count * 4);
        values
    }

    pub fn kernel(&self, source: &str) -> Kernel {
        let program = Program::create_and_build_from_source(&self.context, source, "")
            .unwrap_or_else(|log| panic!("{log}"));
        Kernel::create(&program, "test").expect("a kernel")
    }

    /// Runs the kernel with pointers for its arguments.
    pub fn run(&self, kernel: &Kernel, pointers: &[*mut c_void], size: usize) {
        for (index, &pointer) in pointers.iter().enumerate() {
            assert_eq!(set_pointer(kernel.get(), index as u32, pointer), CL_SUCCESS);
        }
        let none = ptr::null();
        // SAFETY: the arguments are set.
        unsafe {
            let queue = &self.queue;
            queue
                .enqueue_nd_range_kernel(kernel.get(), 1, none, &size, none, &[])
                .expect("a launch");
        }
    }

    /// One answer of `clGetMemAllocInfoINTEL`.
    pub fn told<T: Default>(&self, pointer: *const c_void, name: cl_mem_info_intel) -> T {
        let (mut value, mut size_bytes) = (T::default(), 0);
        let place = (&raw mut value).cast();
        let code = info(
            self.context.get(),
            pointer,
            name,
            size_of::<T>(),
            place,
            &mut size_bytes,
        );
        assert_eq!(
            (code, size_bytes),
            (CL_SUCCESS, size_of::<T>()),
            "{name:#x}"
        );
        value
    }

    /// All that is told of a pointer: type, base, size, device, flags.
    pub fn all_told(&self, pointer: *const c_void) -> Told {
        (
            self.told(pointer, CL_MEM_ALLOC_TYPE_INTEL),
            self.told(pointer, CL_MEM_ALLOC_BASE_PTR_INTEL),
            self.told(pointer, CL_MEM_ALLOC_SIZE_INTEL),
            self.told(pointer, CL_MEM_ALLOC_DEVICE_INTEL),
            self.told(pointer, CL_MEM_ALLOC_FLAGS_INTEL as cl_mem_info_intel),
        )
    }
}

pub type Told = (cl_uint, usize, usize, usize, cl_ulong);

/// What is told of what is no allocation.
pub const UNKNOWN: Told = (CL_MEM_TYPE_UNKNOWN_INTEL, 0, 0, 0, 0);

pub fn allocate(
    kind: Kind,
    context: cl_context,
    device: cl_device_id,
    properties: &[cl_mem_properties_intel],
    size_bytes: usize,
    alignment: cl_uint,
) -> Result<*mut c_void, cl_int> {
    let host = entry!(clHostMemAllocINTEL_t, "clHostMemAllocINTEL");
    let of_device = entry!(clDeviceMemAllocINTEL_t, "clDeviceMemAllocINTEL");
    let shared = entry!(clSharedMemAllocINTEL_t, "clSharedMemAllocINTEL");
    let list = match properties {
        [] => ptr::null(),
        list => list.as_ptr(),
    };
    let mut code = 1;
    // SAFETY: handles that are live or refused; the list is NULL or ends with 0.
    let pointer = unsafe {
        match kind {
            Host => host(context, list, size_bytes, alignment, &mut code),
            Kind::Device => of_device(context, device, list, size_bytes, alignment, &mut code),
            Shared => shared(context, device, list, size_bytes, alignment, &mut code),
            SharedByAll => {
                let none = ptr::null_mut();
                shared(context, none, list, size_bytes, alignment, &mut code)
            }
        }
    };
    assert_eq!(pointer.is_null(), code != CL_SUCCESS, "{code}");
    match code {
        CL_SUCCESS => Ok(pointer),
        code => Err(code),
    }
}

pub fn info(
    context: cl_context,
    pointer: *const c_void,
    name: cl_mem_info_intel,
    size_bytes: usize,
    value: *mut c_void,
    size_bytes_ret: *mut usize,
) -> cl_int {
    let info = entry!(clGetMemAllocInfoINTEL_t, "clGetMemAllocInfoINTEL");
    // SAFETY: room for as much as is said.
    unsafe { info(context, pointer, name, size_bytes, value, size_bytes_ret) }
}

pub fn set_pointer(kernel: cl_kernel, index: cl_uint, pointer: *const c_void) -> cl_int {
    let set = entry!(
        clSetKernelArgMemPointerINTEL_t,
        "clSetKernelArgMemPointerINTEL"
    );
    // SAFETY: any pointer may be set.
    unsafe { set(kernel, index, pointer) }
}

pub fn set_exec_info<T>(kernel: &Kernel, name: cl_kernel_exec_info, values: &[T]) -> cl_int {
    let set = entry!(clSetKernelExecInfo_t, "clSetKernelExecInfo");
    let size_bytes = size_of_val(values);
    // SAFETY: as many bytes as are said.
    unsafe { set(kernel.get(), name, size_bytes, values.as_ptr().cast()) }
}

pub fn memcpy(
    queue: cl_command_queue,
    blocking: bool,
    to: *mut c_void,
    from: *const c_void,
    size_bytes: usize,
    (count, list): List,
) -> Result<Event, cl_int> {
    let copy = entry!(clEnqueueMemcpyINTEL_t, "clEnqueueMemcpyINTEL");
    let (blocking, mut event) = (cl_bool::from(blocking), ptr::null_mut());
    // SAFETY: the tests' memory, which outlives the queue's work.
    let code = unsafe {
        copy(
            queue, blocking, to, from, size_bytes, count, list, &mut event,
        )
    };
    ended(code, event)
}

pub fn fill(
    queue: cl_command_queue,
    to: *mut c_void,
    (pattern, pattern_bytes): (*const u8, usize),
    size_bytes: usize,
    (count, list): List,
) -> Result<Event, cl_int> {
    let fill = entry!(clEnqueueMemFillINTEL_t, "clEnqueueMemFillINTEL");
    let (pattern, mut event) = (pattern.cast(), ptr::null_mut());
    // SAFETY: the tests' memory, which outlives the queue's work.
    let code = unsafe {
        fill(
            queue,
            to,
            pattern,
            pattern_bytes,
            size_bytes,
            count,
            list,
            &mut event,
        )
    };
    ended(code, event)
}

pub fn migrate(
    queue: cl_command_queue,
    pointer: *const c_void,
    size_bytes: usize,
    flags: cl_mem_migration_flags,
    (count, list): List,
) -> Result<Event, cl_int> {
    let migrate = entry!(clEnqueueMigrateMemINTEL_t, "clEnqueueMigrateMemINTEL");
    let mut event = ptr::null_mut();
    // SAFETY: the tests' memory, or refused.
    let code = unsafe { migrate(queue, pointer, size_bytes, flags, count, list, &mut event) };
    ended(code, event)
}

pub fn advise(
    queue: cl_command_queue,
    pointer: *const c_void,
    size_bytes: usize,
    (count, list): List,
) -> Result<Event, cl_int> {
    let advise = entry!(clEnqueueMemAdviseINTEL_t, "clEnqueueMemAdviseINTEL");
    let mut event = ptr::null_mut();
    // SAFETY: the tests' memory, or refused.
    let code = unsafe { advise(queue, pointer, size_bytes, 0, count, list, &mut event) };
    ended(code, event)
}
