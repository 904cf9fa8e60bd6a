//! OpenCL through the system's loader, function by function: nothing between the benchmark and the driver but it.

use super::Result;
use opencl_sys as cl;
use opencl_sys::{
    cl_bool, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int, cl_kernel, cl_mem,
    cl_platform_id, cl_program, cl_uint, cl_ulong,
};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

type Events = *const cl_event;

macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions of the loader that the benchmarks call.
        #[derive(Clone, Copy)]
        pub struct Functions {
            $(pub $field: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            fn load() -> Option<Self> {
                let path = std::env::var("OPENCL_DYLIB_PATH");
                let path = CString::new(path.unwrap_or("libOpenCL.so.1".into())).ok()?;
                // SAFETY: a C string; the library stays open.
                let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW) };
                if library.is_null() {
                    return None;
                }
                Some(Self {
                    $($field: {
                        // SAFETY: an open library and a C string.
                        let address = unsafe { libc::dlsym(library, $name.as_ptr()) };
                        if address.is_null() {
                            return None;
                        }
                        // SAFETY: the function of that name has this signature.
                        unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C" fn($($argument),*) -> $result,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    platforms = c"clGetPlatformIDs": fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
    platform_info = c"clGetPlatformInfo": fn(cl_platform_id, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;
    devices = c"clGetDeviceIDs": fn(cl_platform_id, cl_ulong, cl_uint, *mut cl_device_id, *mut cl_uint) -> cl_int;
    device_info = c"clGetDeviceInfo": fn(cl_device_id, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;
    create_context = c"clCreateContext": fn(*const isize, cl_uint, *const cl_device_id, *const c_void, *mut c_void, *mut cl_int) -> cl_context;
    release_context = c"clReleaseContext": fn(cl_context) -> cl_int;
    create_queue_old = c"clCreateCommandQueue": fn(cl_context, cl_device_id, cl_ulong, *mut cl_int) -> cl_command_queue;
    release_queue = c"clReleaseCommandQueue": fn(cl_command_queue) -> cl_int;
    create_program = c"clCreateProgramWithSource": fn(cl_context, cl_uint, *const *const c_char, *const usize, *mut cl_int) -> cl_program;
    build_program = c"clBuildProgram": fn(cl_program, cl_uint, *const cl_device_id, *const c_char, *const c_void, *mut c_void) -> cl_int;
    release_program = c"clReleaseProgram": fn(cl_program) -> cl_int;
    create_kernel = c"clCreateKernel": fn(cl_program, *const c_char, *mut cl_int) -> cl_kernel;
    release_kernel = c"clReleaseKernel": fn(cl_kernel) -> cl_int;
    set_argument = c"clSetKernelArg": fn(cl_kernel, cl_uint, usize, *const c_void) -> cl_int;
    create_buffer = c"clCreateBuffer": fn(cl_context, cl_ulong, usize, *mut c_void, *mut cl_int) -> cl_mem;
    release_buffer = c"clReleaseMemObject": fn(cl_mem) -> cl_int;
    launch = c"clEnqueueNDRangeKernel": fn(cl_command_queue, cl_kernel, cl_uint, *const usize, *const usize, *const usize, cl_uint, Events, *mut cl_event) -> cl_int;
    read = c"clEnqueueReadBuffer": fn(cl_command_queue, cl_mem, cl_bool, usize, usize, *mut c_void, cl_uint, Events, *mut cl_event) -> cl_int;
    write = c"clEnqueueWriteBuffer": fn(cl_command_queue, cl_mem, cl_bool, usize, usize, *const c_void, cl_uint, Events, *mut cl_event) -> cl_int;
    map = c"clEnqueueMapBuffer": fn(cl_command_queue, cl_mem, cl_bool, cl_ulong, usize, usize, cl_uint, Events, *mut cl_event, *mut cl_int) -> *mut c_void;
    unmap = c"clEnqueueUnmapMemObject": fn(cl_command_queue, cl_mem, *mut c_void, cl_uint, Events, *mut cl_event) -> cl_int;
    flush = c"clFlush": fn(cl_command_queue) -> cl_int;
    finish = c"clFinish": fn(cl_command_queue) -> cl_int;
    wait = c"clWaitForEvents": fn(cl_uint, Events) -> cl_int;
    profile = c"clGetEventProfilingInfo": fn(cl_event, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;
    release_event = c"clReleaseEvent": fn(cl_event) -> cl_int;
    extension_function = c"clGetExtensionFunctionAddressForPlatform": fn(cl_platform_id, *const c_char) -> *mut c_void;
}

/// The functions of the loader.
pub fn functions() -> Result<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS
        .get_or_init(Functions::load)
        .as_ref()
        .ok_or_else(|| "no OpenCL loader".into())
}

/// An error code as a `Result`.
pub fn check(code: cl_int) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(format!("OpenCL error {code}").into()),
    }
}

/// A device that the loader knows.
#[derive(Clone)]
pub struct Device {
    pub id: cl_device_id,
    /// Platform and device.
    pub name: String,
}

// SAFETY: OpenCL handles may be used from any thread.
unsafe impl Send for Device {}
// SAFETY: as above.
unsafe impl Sync for Device {}

fn text(get: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<String> {
    let mut size = 0;
    check(get(0, ptr::null_mut(), &mut size))?;
    let mut bytes = vec![0_u8; size];
    check(get(size, bytes.as_mut_ptr().cast(), ptr::null_mut()))?;
    let text = CStr::from_bytes_until_nul(&bytes)?;
    Ok(text.to_string_lossy().trim().to_owned())
}

/// Every device, or those whose name contains one of `names`, in the order of the names.
pub fn devices(names: &[String]) -> Result<Vec<Device>> {
    let cl_ = functions()?;
    let mut count = 0;
    let mut platforms = [ptr::null_mut(); 16];
    // SAFETY: room for 16.
    check(unsafe { (cl_.platforms)(16, platforms.as_mut_ptr(), &mut count) })?;
    let mut all = Vec::new();
    for &platform in platforms.iter().take(count as usize) {
        let platform_name = text(|size, value, ret| {
            // SAFETY: as much room as said.
            unsafe { (cl_.platform_info)(platform, cl::CL_PLATFORM_NAME, size, value, ret) }
        })?;
        let mut ids = [ptr::null_mut(); 16];
        let mut count = 0;
        // SAFETY: room for 16.
        let code = unsafe {
            (cl_.devices)(
                platform,
                cl::CL_DEVICE_TYPE_ALL,
                16,
                ids.as_mut_ptr(),
                &mut count,
            )
        };
        if code != 0 {
            continue;
        }
        for &id in ids.iter().take(count as usize) {
            let device_name = text(|size, value, ret| {
                // SAFETY: as much room as said.
                unsafe { (cl_.device_info)(id, cl::CL_DEVICE_NAME, size, value, ret) }
            })?;
            all.push(Device {
                id,
                name: format!("{platform_name} / {device_name}"),
            });
        }
    }
    if names.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for wanted in names {
        let (take, rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|d| d.name.contains(wanted));
        chosen.extend(take);
        all = rest;
    }
    Ok(chosen)
}

impl Device {
    /// A number that `clGetDeviceInfo` tells, 64 bits.
    pub fn number(&self, name: cl_uint) -> Result<u64> {
        let mut value = 0_u64;
        // SAFETY: room for 8 bytes.
        check(unsafe {
            (functions()?.device_info)(self.id, name, 8, (&raw mut value).cast(), ptr::null_mut())
        })?;
        Ok(value)
    }
}

/// A context with one device.
pub struct Context {
    pub handle: cl_context,
    pub device: Device,
    cl: &'static Functions,
}

// SAFETY: OpenCL handles may be used from any thread.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

/// A command queue, released with the value.
pub struct Queue {
    pub handle: cl_command_queue,
    cl: &'static Functions,
}

// SAFETY: OpenCL handles may be used from any thread.
unsafe impl Send for Queue {}

/// A buffer, released with the value.
pub struct Buffer {
    pub handle: cl_mem,
    pub bytes: usize,
    cl: &'static Functions,
}

// SAFETY: OpenCL handles may be used from any thread.
unsafe impl Send for Buffer {}

/// A kernel with its program, released with the value.
pub struct Kernel {
    pub handle: cl_kernel,
    program: cl_program,
    cl: &'static Functions,
}

// SAFETY: OpenCL handles may be used from any thread; arguments are set by one thread at a time.
unsafe impl Send for Kernel {}

/// An event, released with the value.
pub struct Event {
    pub handle: cl_event,
    cl: &'static Functions,
}

impl Context {
    pub fn new(device: &Device) -> Result<Self> {
        let cl = functions()?;
        let mut code = 0;
        // SAFETY: one device, no properties, no callback.
        let handle = unsafe {
            (cl.create_context)(
                ptr::null(),
                1,
                &device.id,
                ptr::null(),
                ptr::null_mut(),
                &mut code,
            )
        };
        check(code)?;
        Ok(Self {
            handle,
            device: device.clone(),
            cl,
        })
    }

    /// `properties` as `clCreateCommandQueue` takes them.
    pub fn queue(&self, properties: u64) -> Result<Queue> {
        let mut code = 0;
        // SAFETY: handles that live.
        let handle = unsafe {
            (self.cl.create_queue_old)(self.handle, self.device.id, properties, &mut code)
        };
        check(code)?;
        Ok(Queue {
            handle,
            cl: self.cl,
        })
    }

    pub fn buffer(&self, bytes: usize, flags: u64) -> Result<Buffer> {
        let mut code = 0;
        // SAFETY: no host pointer.
        let handle = unsafe {
            (self.cl.create_buffer)(self.handle, flags, bytes, ptr::null_mut(), &mut code)
        };
        check(code)?;
        Ok(Buffer {
            handle,
            bytes,
            cl: self.cl,
        })
    }

    /// Builds `source` and takes its kernel `name`.
    pub fn kernel(&self, source: &str, name: &str, options: &str) -> Result<Kernel> {
        let (text, length) = (source.as_ptr().cast(), source.len());
        let options = CString::new(options)?;
        let name = CString::new(name)?;
        let mut code = 0;
        // SAFETY: one string with its length.
        let program =
            unsafe { (self.cl.create_program)(self.handle, 1, &text, &length, &mut code) };
        check(code)?;
        // SAFETY: one device, no callback.
        check(unsafe {
            (self.cl.build_program)(
                program,
                1,
                &self.device.id,
                options.as_ptr(),
                ptr::null(),
                ptr::null_mut(),
            )
        })?;
        // SAFETY: a built program and a C string.
        let handle = unsafe { (self.cl.create_kernel)(program, name.as_ptr(), &mut code) };
        check(code)?;
        Ok(Kernel {
            handle,
            program,
            cl: self.cl,
        })
    }
}

impl Kernel {
    pub fn set<T: Copy>(&self, index: u32, value: &T) -> Result<()> {
        // SAFETY: the value's own size.
        check(unsafe {
            (self.cl.set_argument)(
                self.handle,
                index,
                size_of::<T>(),
                ptr::from_ref(value).cast(),
            )
        })
    }

    pub fn set_buffer(&self, index: u32, buffer: &Buffer) -> Result<()> {
        self.set(index, &buffer.handle)
    }
}

impl Queue {
    /// Enqueues a launch of one dimension without an event.
    pub fn launch(&self, kernel: &Kernel, global: usize, local: usize) -> Result<()> {
        let (none, cl) = (ptr::null(), self.cl);
        // SAFETY: one dimension.
        check(unsafe {
            (cl.launch)(
                self.handle,
                kernel.handle,
                1,
                none,
                &global,
                &local,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        })
    }

    /// The same with one.
    pub fn launch_with_event(&self, kernel: &Kernel, global: usize, local: usize) -> Result<Event> {
        let mut handle = ptr::null_mut();
        // SAFETY: one dimension; the event is ours.
        check(unsafe {
            (self.cl.launch)(
                self.handle,
                kernel.handle,
                1,
                ptr::null(),
                &global,
                &local,
                0,
                ptr::null(),
                &mut handle,
            )
        })?;
        Ok(Event {
            handle,
            cl: self.cl,
        })
    }

    /// The first bytes of the buffer.
    pub fn write(&self, buffer: &Buffer, blocking: bool, data: &[u8]) -> Result<()> {
        // SAFETY: the caller finishes before `data` goes; its own length.
        check(unsafe {
            (self.cl.write)(
                self.handle,
                buffer.handle,
                blocking.into(),
                0,
                data.len(),
                data.as_ptr().cast(),
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        })
    }

    pub fn read(&self, buffer: &Buffer, blocking: bool, data: &mut [u8]) -> Result<()> {
        // SAFETY: as above.
        check(unsafe {
            (self.cl.read)(
                self.handle,
                buffer.handle,
                blocking.into(),
                0,
                data.len(),
                data.as_mut_ptr().cast(),
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        })
    }

    /// Maps the whole buffer, has `visit` look at it, and unmaps it.
    pub fn map(&self, buffer: &Buffer, flags: u64, visit: impl FnOnce(*mut u8)) -> Result<()> {
        let mut code = 0;
        // SAFETY: the whole buffer, blocking.
        let pointer = unsafe {
            (self.cl.map)(
                self.handle,
                buffer.handle,
                1,
                flags,
                0,
                buffer.bytes,
                0,
                ptr::null(),
                ptr::null_mut(),
                &mut code,
            )
        };
        check(code)?;
        visit(pointer.cast());
        // SAFETY: what was mapped.
        check(unsafe {
            (self.cl.unmap)(
                self.handle,
                buffer.handle,
                pointer,
                0,
                ptr::null(),
                ptr::null_mut(),
            )
        })
    }

    pub fn flush(&self) -> Result<()> {
        // SAFETY: a valid handle.
        check(unsafe { (self.cl.flush)(self.handle) })
    }

    pub fn finish(&self) -> Result<()> {
        // SAFETY: a valid handle.
        check(unsafe { (self.cl.finish)(self.handle) })
    }
}

impl Event {
    /// One of the times of a profiling queue, nanoseconds.
    pub fn time_ns(&self, which: cl_uint) -> Result<u64> {
        let mut value = 0_u64;
        // SAFETY: room for 8 bytes.
        check(unsafe {
            (self.cl.profile)(
                self.handle,
                which,
                8,
                (&raw mut value).cast(),
                ptr::null_mut(),
            )
        })?;
        Ok(value)
    }

    pub fn wait(&self) -> Result<()> {
        // SAFETY: one event.
        check(unsafe { (self.cl.wait)(1, &self.handle) })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: ours, once.
        unsafe { (self.cl.release_context)(self.handle) };
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: ours, once.
        unsafe { (self.cl.release_queue)(self.handle) };
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: ours, once.
        unsafe { (self.cl.release_buffer)(self.handle) };
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        // SAFETY: ours, once.
        unsafe {
            (self.cl.release_kernel)(self.handle);
            (self.cl.release_program)(self.program);
        }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: ours, once.
        unsafe { (self.cl.release_event)(self.handle) };
    }
}
