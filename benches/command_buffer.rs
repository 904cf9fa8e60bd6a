//! What a replay of N small kernels costs: enqueued one by one, as a command buffer, and in plain Vulkan.
//!
//! ```text
//! cargo bench --bench command_buffer -- [NAME…]
//! ```
//!
//! Every OpenCL device that the loader finds takes part (with names: those whose platform or device name contains
//! one); those without cl_khr_command_buffer only one by one. The plain Vulkan runs on the first Vulkan device.
//! Host time ends when everything is handed to the device, wall time when it is done. Medians, microseconds.

use opencl_sys as cl;
use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, ClMem};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use pumice::runtime::platform::Platform;
use pumice::vulkan::{CopyRegion, MemoryKind, Recorder, Timeline};
use std::error::Error;
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::time::{Duration, Instant};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const SOURCE: &str = "kernel void add(global uint *p, uint v) { p[get_global_id(0)] += v; }";
const COUNTS: [usize; 5] = [1, 10, 100, 1000, 10_000];
const ITEMS: usize = 64;
const BUFFERS: usize = 16;

/// Host and wall time of one execution, microseconds.
#[derive(Clone, Copy)]
struct Times {
    host: f64,
    wall: f64,
}

/// Runs `work`, which answers when the host was through with its part and then waits for the end.
fn time(count: usize, mut work: impl FnMut() -> Result<Instant>) -> Result<Times> {
    let (mut host, mut wall) = (Vec::new(), Vec::new());
    for round in 0..count + 3 {
        let start = Instant::now();
        let handed_over = work()?;
        if round >= 3 {
            host.push((handed_over - start).as_secs_f64() * 1e6);
            wall.push(start.elapsed().as_secs_f64() * 1e6);
        }
    }
    let median = |mut samples: Vec<f64>| {
        samples.sort_by(f64::total_cmp);
        samples[samples.len() / 2]
    };
    Ok(Times {
        host: median(host),
        wall: median(wall),
    })
}

fn rounds(commands: usize) -> usize {
    (20_000 / commands).clamp(10, 200)
}

/// The functions of the extension.
struct Functions {
    create: cl::clCreateCommandBufferKHR_fn,
    release: cl::clReleaseCommandBufferKHR_fn,
    finalize: cl::clFinalizeCommandBufferKHR_fn,
    enqueue: cl::clEnqueueCommandBufferKHR_fn,
    launch: cl::clCommandNDRangeKernelKHR_fn,
}

impl Functions {
    fn load(device: &Device) -> Result<Self> {
        let platform = device.platform()?;
        let path = std::env::var("OPENCL_DYLIB_PATH").unwrap_or_else(|_| "libOpenCL.so.1".into());
        let path = CString::new(path)?;
        // SAFETY: the loader that is loaded already.
        let address = unsafe {
            let library = libc::dlopen(path.as_ptr(), libc::RTLD_NOW);
            libc::dlsym(
                library,
                c"clGetExtensionFunctionAddressForPlatform".as_ptr(),
            )
        };
        if address.is_null() {
            return Err("no clGetExtensionFunctionAddressForPlatform".into());
        }
        type Lookup = unsafe extern "C" fn(*mut c_void, *const libc::c_char) -> *mut c_void;
        // SAFETY: the function has this signature.
        let lookup: Lookup = unsafe { std::mem::transmute(address) };
        let find = |name: &CStr| {
            // SAFETY: a valid platform and a C string.
            unsafe { lookup(platform, name.as_ptr()) }
        };
        // SAFETY: the functions of those names have the signatures of the headers, or are NULL.
        unsafe {
            Ok(Self {
                create: std::mem::transmute::<*mut c_void, cl::clCreateCommandBufferKHR_fn>(find(
                    c"clCreateCommandBufferKHR",
                )),
                release: std::mem::transmute::<*mut c_void, cl::clReleaseCommandBufferKHR_fn>(
                    find(c"clReleaseCommandBufferKHR"),
                ),
                finalize: std::mem::transmute::<*mut c_void, cl::clFinalizeCommandBufferKHR_fn>(
                    find(c"clFinalizeCommandBufferKHR"),
                ),
                enqueue: std::mem::transmute::<*mut c_void, cl::clEnqueueCommandBufferKHR_fn>(
                    find(c"clEnqueueCommandBufferKHR"),
                ),
                launch: std::mem::transmute::<*mut c_void, cl::clCommandNDRangeKernelKHR_fn>(find(
                    c"clCommandNDRangeKernelKHR",
                )),
            })
        }
    }
}

fn check(code: i32) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(format!("error {code}").into()),
    }
}

struct Subject {
    queue: CommandQueue,
    kernel: Kernel,
    buffers: Vec<Buffer<u32>>,
    _program: Program,
    _context: Context,
}

impl Subject {
    fn new(device: &Device, flags: u64) -> Result<Self> {
        let context = Context::from_device(device)?;
        let queue = CommandQueue::create_default_with_properties(&context, flags, 0)?;
        let program = Program::create_and_build_from_source(&context, SOURCE, "")?;
        let kernel = Kernel::create(&program, "add")?;
        let buffers = (0..BUFFERS)
            // SAFETY: no host pointer.
            .map(|_| unsafe { Buffer::create(&context, CL_MEM_READ_WRITE, ITEMS, ptr::null_mut()) })
            .collect::<std::result::Result<_, _>>()?;
        Ok(Self {
            queue,
            kernel,
            buffers,
            _program: program,
            _context: context,
        })
    }

    fn set(&self, index: usize) -> Result<()> {
        // SAFETY: values of the right types.
        unsafe {
            self.kernel
                .set_arg(0, &self.buffers[index % BUFFERS].get())?;
            self.kernel.set_arg(1, &(index as u32))?;
        }
        Ok(())
    }

    fn one_by_one(&self, commands: usize) -> Result<Times> {
        time(rounds(commands), || {
            for index in 0..commands {
                self.set(index)?;
                // SAFETY: one dimension.
                unsafe {
                    self.queue.enqueue_nd_range_kernel(
                        self.kernel.get(),
                        1,
                        ptr::null(),
                        &ITEMS,
                        &ITEMS,
                        &[],
                    )?;
                }
            }
            self.queue.flush()?;
            let handed_over = Instant::now();
            self.queue.finish()?;
            Ok(handed_over)
        })
    }

    /// `chained`: each command waits for the one before.
    fn command_buffer(
        &self,
        functions: &Functions,
        commands: usize,
        chained: bool,
    ) -> Result<Times> {
        let (Some(create), Some(release), Some(finalize), Some(enqueue), Some(launch)) = (
            functions.create,
            functions.release,
            functions.finalize,
            functions.enqueue,
            functions.launch,
        ) else {
            return Err("no command buffers".into());
        };
        let queue = self.queue.get();
        let mut error = 0;
        // SAFETY: one queue, no properties.
        let buffer = unsafe { create(1, &queue, ptr::null(), &mut error) };
        check(error)?;
        let mut point = 0;
        for index in 0..commands {
            self.set(index)?;
            let before = point;
            let waits = u32::from(chained && index > 0);
            let list = if waits > 0 {
                &raw const before
            } else {
                ptr::null()
            };
            // SAFETY: valid handles and arrays.
            check(unsafe {
                launch(
                    buffer,
                    ptr::null_mut(),
                    ptr::null(),
                    self.kernel.get(),
                    1,
                    ptr::null(),
                    &ITEMS,
                    &ITEMS,
                    waits,
                    list,
                    &mut point,
                    ptr::null_mut(),
                )
            })?;
        }
        // SAFETY: a valid handle.
        check(unsafe { finalize(buffer) })?;
        let times = time(rounds(commands), || {
            // SAFETY: a valid handle.
            check(unsafe { enqueue(0, ptr::null_mut(), buffer, 0, ptr::null(), ptr::null_mut()) })?;
            self.queue.flush()?;
            let handed_over = Instant::now();
            self.queue.finish()?;
            Ok(handed_over)
        });
        // SAFETY: a valid handle.
        check(unsafe { release(buffer) })?;
        times
    }
}

/// The same number of commands in one `VkCommandBuffer`: copies of as many bytes as the kernel touches, with the
/// barriers that the in-order queue of the others needs.
fn plain_vulkan(commands: usize) -> Result<Times> {
    let platform = Platform::instance();
    let device = platform.devices().first().ok_or("no Vulkan device")?;
    let vulkan = device.vulkan()?;
    let bytes = (ITEMS * 4) as u64;
    let buffers = (0..=BUFFERS)
        .map(|_| vulkan.create_buffer(bytes, MemoryKind::Device))
        .collect::<std::result::Result<Vec<_>, _>>()?;
    let mut recorder = Recorder::new(vulkan)?;
    recorder.begin_reusable()?;
    recorder.full_barrier();
    for index in 0..commands {
        if index > 0 && index % BUFFERS == 0 {
            recorder.full_barrier();
        }
        let region = CopyRegion {
            source_offset_bytes: 0,
            target_offset_bytes: 0,
            size_bytes: bytes,
        };
        recorder.copy(&buffers[BUFFERS], &buffers[index % BUFFERS], [region]);
    }
    recorder.end()?;
    let timeline = Timeline::new(vulkan)?;
    let queue = vulkan.assign_queue();
    let mut value = 0;
    time(rounds(commands), || {
        value += 1;
        vulkan.submit(queue, &[&recorder], &[], &timeline, value)?;
        let handed_over = Instant::now();
        while !timeline.wait(value, Duration::from_secs(2))? {}
        Ok(handed_over)
    })
}

fn print(name: &str, times: Result<Times>) {
    match times {
        Ok(times) => println!("  {name:34}{:>14.1}{:>14.1}", times.host, times.wall),
        Err(error) => println!("  {name:34}{error:>28}"),
    }
}

fn main() -> Result<()> {
    // cargo bench passes `--bench`.
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    for commands in COUNTS {
        println!("{commands:>6} commands{:>34}{:>14}", "host us", "wall us");
        for platform in get_platforms()? {
            for id in platform.get_devices(CL_DEVICE_TYPE_ALL).unwrap_or_default() {
                let device = Device::new(id);
                let name = format!("{} / {}", platform.name()?.trim(), device.name()?.trim());
                if !names.is_empty() && !names.iter().any(|wanted| name.contains(wanted)) {
                    continue;
                }
                println!(" {name}");
                let in_order = Subject::new(&device, 0)?;
                print("one by one", in_order.one_by_one(commands));
                if !device.extensions()?.contains("cl_khr_command_buffer") {
                    continue;
                }
                let functions = Functions::load(&device)?;
                let times = in_order.command_buffer(&functions, commands, false);
                print("command buffer, in order", times);
                let wide = Subject::new(&device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)?;
                let times = wide.command_buffer(&functions, commands, false);
                print("command buffer, independent", times);
                let times = wide.command_buffer(&functions, commands, true);
                print("command buffer, a chain", times);
            }
        }
        print("plain Vulkan, copies", plain_vulkan(commands));
    }
    Ok(())
}
