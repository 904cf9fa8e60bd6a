//! OpenCL through the system's loader: which devices take part, and enqueueing without events.
//!
//! `opencl3` asks for an event with every command. What a command costs without one is measured through the loader's
//! functions themselves, which `cl3` finds.

use super::Result;
use cl3::{OpenClRuntime, load_library};
use dlopen2::raw::Library;
use opencl_sys::cl_function_types::clEnqueueNDRangeKernel_t;
use opencl_sys::{cl_int, cl_platform_id};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_GPU, Device};
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_READ_WRITE, ClMem,
};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::LazyLock;

/// A device, and the names of its platform and itself.
pub struct Subject {
    pub name: String,
    pub device: Device,
}

impl Subject {
    pub fn is_gpu(&self) -> bool {
        let kind = self.device.dev_type();
        kind.is_ok_and(|kind| kind & CL_DEVICE_TYPE_GPU != 0)
    }
}

/// Every device that the loader knows. With `names`: those whose platform or device name contains one of
/// them, in the order of the names.
///
/// # Errors
/// Where there is none.
pub fn subjects(names: &[String]) -> Result<Vec<Subject>> {
    let mut all = Vec::new();
    for platform in get_platforms()? {
        for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            let device = Device::new(id);
            let name = format!("{} / {}", platform.name()?.trim(), device.name()?.trim());
            all.push(Subject { name, device });
        }
    }
    let mut chosen = Vec::new();
    for wanted in names {
        let (take, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|s| s.name.contains(wanted));
        chosen.extend(take);
        all = rest;
    }
    let subjects = if names.is_empty() { all } else { chosen };
    if subjects.is_empty() {
        Err("the loader has no OpenCL device of such a name".into())
    } else {
        Ok(subjects)
    }
}

/// A command queue with `properties` as `clCreateCommandQueue` takes them.
pub fn queue(context: &Context, properties: u64) -> Result<CommandQueue> {
    let queue = CommandQueue::create_default_with_properties(context, properties, 0)?;
    Ok(queue)
}

/// A buffer that kernels read and write.
pub fn buffer<T>(context: &Context, count: usize) -> Result<Buffer<T>> {
    // SAFETY: no host pointer is given.
    Ok(unsafe { Buffer::create(context, CL_MEM_READ_WRITE, count, ptr::null_mut())? })
}

/// Host memory that the driver can move from and to without another copy: a buffer in it that stays mapped.
pub struct Pinned {
    queue: CommandQueue,
    buffer: Buffer<u8>,
    pointer: *mut c_void,
    size_bytes: usize,
}

impl Pinned {
    pub fn new(context: &Context, size_bytes: usize) -> Result<Self> {
        let (queue, flags) = (
            queue(context, 0)?,
            CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
        );
        // SAFETY: no host pointer is given.
        let buffer = unsafe { Buffer::create(context, flags, size_bytes, ptr::null_mut())? };
        let pointer = map(&queue, &buffer, size_bytes, CL_MAP_READ | CL_MAP_WRITE)?;
        Ok(Self {
            queue,
            buffer,
            pointer,
            size_bytes,
        })
    }

    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: mapped for as long as it lives, and for nobody else.
        unsafe { std::slice::from_raw_parts_mut(self.pointer.cast(), self.size_bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // What fails here, nobody misses.
        let _ = unmap(&self.queue, &self.buffer, self.pointer);
        let _ = self.queue.finish();
    }
}

/// Builds `source` and takes its kernel `name`, which keeps the program.
pub fn kernel(context: &Context, source: &str, name: &str, options: &str) -> Result<Kernel> {
    let program = Program::create_and_build_from_source(context, source, options)?;
    Ok(Kernel::create(&program, name)?)
}

/// Sets a buffer as an argument.
pub fn set_buffer<T>(kernel: &Kernel, index: u32, buffer: &Buffer<T>) -> Result<()> {
    // SAFETY: the value is a buffer; OpenCL refuses it where the argument is none.
    unsafe { kernel.set_arg(index, &buffer.get())? };
    Ok(())
}

/// Sets a number as an argument.
pub fn set_value<T: Copy>(kernel: &Kernel, index: u32, value: T) -> Result<()> {
    // SAFETY: OpenCL compares the size with the argument's.
    unsafe { kernel.set_arg(index, &value)? };
    Ok(())
}

fn loader() -> Result<&'static OpenClRuntime> {
    load_library()
        .as_ref()
        .map_err(|error| error.to_string().into())
}

/// What a function of the loader returned, if it has the function.
#[inline]
fn check(code: Option<cl_int>) -> Result<()> {
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(format!("OpenCL error {code}").into()),
        None => Err("the loader lacks a function".into()),
    }
}

/// The address of an extension's function, NULL where the platform lacks it.
pub fn extension_function(platform: cl_platform_id, name: &CStr) -> Result<*mut c_void> {
    let address = loader()?.clGetExtensionFunctionAddressForPlatform(platform, name.as_ptr());
    address.ok_or_else(|| "the loader lacks a function".into())
}

/// The loader's function itself, as a C program calls it: no time of a wrapper's is counted with the driver's.
static ENQUEUE_ND_RANGE_KERNEL: LazyLock<clEnqueueNDRangeKernel_t> = LazyLock::new(|| {
    let library = Library::open("libOpenCL.so.1").ok()?;
    // SAFETY: the type of the function of that name.
    let function = unsafe { library.symbol("clEnqueueNDRangeKernel") }.ok()?;
    // The function stays.
    std::mem::forget(library);
    function
});

/// Enqueues a launch of one dimension without an event.
#[inline]
pub fn launch(queue: &CommandQueue, kernel: &Kernel, global: usize, local: usize) -> Result<()> {
    // SAFETY: live handles, and pointers to one size each.
    let code = ENQUEUE_ND_RANGE_KERNEL.map(|enqueue| unsafe {
        enqueue(
            queue.get(),
            kernel.get(),
            1,
            ptr::null(),
            &global,
            &local,
            0,
            ptr::null(),
            ptr::null_mut(),
        )
    });
    check(code)
}

/// Writes the first bytes of a buffer without an event. Where it does not block, the caller finishes the queue
/// before `data` goes.
pub fn write(queue: &CommandQueue, buffer: &Buffer<u8>, blocking: bool, data: &[u8]) -> Result<()> {
    check(loader()?.clEnqueueWriteBuffer(
        queue.get(),
        buffer.get(),
        blocking.into(),
        0,
        data.len(),
        data.as_ptr().cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    ))
}

/// Reads the first bytes of a buffer as [`write()`] writes them.
pub fn read(
    queue: &CommandQueue,
    buffer: &Buffer<u8>,
    blocking: bool,
    data: &mut [u8],
) -> Result<()> {
    check(loader()?.clEnqueueReadBuffer(
        queue.get(),
        buffer.get(),
        blocking.into(),
        0,
        data.len(),
        data.as_mut_ptr().cast(),
        0,
        ptr::null(),
        ptr::null_mut(),
    ))
}

/// Maps the first `bytes` of a buffer, blocking, without an event.
fn map(queue: &CommandQueue, buffer: &Buffer<u8>, bytes: usize, flags: u64) -> Result<*mut c_void> {
    let mut code = 0;
    let pointer = loader()?.clEnqueueMapBuffer(
        queue.get(),
        buffer.get(),
        1,
        flags,
        0,
        bytes,
        0,
        ptr::null(),
        ptr::null_mut(),
        &mut code,
    );
    check(pointer.and(Some(code)))?;
    Ok(pointer.unwrap_or(ptr::null_mut()))
}

/// Unmaps what [`map`] mapped.
fn unmap(queue: &CommandQueue, buffer: &Buffer<u8>, pointer: *mut c_void) -> Result<()> {
    check(loader()?.clEnqueueUnmapMemObject(
        queue.get(),
        buffer.get(),
        pointer,
        0,
        ptr::null(),
        ptr::null_mut(),
    ))
}

/// Maps the first `bytes` of a buffer, blocking, and unmaps them, without events.
pub fn map_and_unmap(
    queue: &CommandQueue,
    buffer: &Buffer<u8>,
    bytes: usize,
    flags: u64,
) -> Result<()> {
    let pointer = map(queue, buffer, bytes, flags)?;
    unmap(queue, buffer, pointer)
}
