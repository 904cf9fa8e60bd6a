//! The device under test.

use crate::report::{Argument, Report};
use cl3::kernel::set_kernel_arg;
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device as ClDevice};
use opencl3::event::CL_COMPLETE;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_mem};
use std::ffi::c_void;
use std::ptr;

pub struct Device {
    context: Context,
    queue: CommandQueue,
    /// Extensions and optional features of OpenCL C.
    names: Vec<String>,
}

impl Device {
    /// The first device that the loader finds.
    pub fn open() -> Option<Self> {
        let platforms = get_platforms().ok()?;
        let devices = platforms.first()?.get_devices(CL_DEVICE_TYPE_ALL).ok()?;
        let device = ClDevice::new(*devices.first()?);
        let context = Context::from_device(&device).ok()?;
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).ok()?;
        let extensions = device.extensions().ok()?;
        let mut names: Vec<String> = extensions.split_whitespace().map(str::to_owned).collect();
        names.extend(
            device
                .opencl_c_features()
                .unwrap_or_default()
                .iter()
                .map(|feature| {
                    let name = feature.name.iter().take_while(|&&byte| byte != 0);
                    name.map(|&byte| char::from(byte)).collect()
                }),
        );
        if device.image_support().unwrap_or(false) {
            names.push("images".to_owned());
        }
        println!("running on {}", device.name().ok()?);
        Some(Self {
            context,
            queue,
            names,
        })
    }

    /// Whether the device has an extension or an optional feature.
    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    /// Builds a report's program, launches its kernel, and compares what it wrote.
    ///
    /// # Errors
    /// What is not as it should be.
    pub fn run(&self, report: &Report) -> Result<(), String> {
        let built =
            Program::create_and_build_from_source(&self.context, &report.source, &report.options);
        let program = match (built, &report.refused) {
            (Ok(program), None) => program,
            (Err(log), Some(part)) if log.contains(part.as_str()) => return Ok(()),
            (Err(log), Some(part)) => return Err(format!("the log does not say '{part}':\n{log}")),
            (Ok(_), Some(_)) => return Err("it builds, and must not".into()),
            (Err(log), None) => return Err(format!("it does not build:\n{log}")),
        };
        let kernel =
            Kernel::create(&program, "test").map_err(|error| format!("clCreateKernel: {error}"))?;
        let buffers = self.give(&kernel, report)?;
        self.launch(&kernel, report)?;
        for (index, (argument, buffer)) in report.arguments.iter().zip(&buffers).enumerate() {
            let (
                Argument::Buffer {
                    last: Some(last), ..
                },
                Some(buffer),
            ) = (argument, buffer)
            else {
                continue;
            };
            let mut found = vec![0; last.bytes.len()];
            // SAFETY: the slice outlives the call, which waits for the read.
            unsafe {
                self.queue
                    .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut found, &[])
            }
            .map_err(|error| format!("clEnqueueReadBuffer: {error}"))?;
            if let Some((element, is, should)) = last.difference(&found) {
                return Err(format!(
                    "argument {index}, element {element}: {is}, should be {should}"
                ));
            }
        }
        Ok(())
    }

    /// The buffers of the arguments that have one.
    fn give(&self, kernel: &Kernel, report: &Report) -> Result<Vec<Option<Buffer<u8>>>, String> {
        let mut buffers = Vec::new();
        for (index, argument) in (0..).zip(&report.arguments) {
            let mut made = None;
            let (bytes, value, handle): (usize, *const c_void, cl_mem);
            match argument {
                Argument::Buffer { first, .. } => {
                    let mut contents = first.clone();
                    // SAFETY: the contents are copied before the call returns.
                    let buffer = unsafe {
                        Buffer::create(
                            &self.context,
                            CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                            contents.len(),
                            contents.as_mut_ptr().cast(),
                        )
                    };
                    let buffer = buffer.map_err(|error| format!("clCreateBuffer: {error}"))?;
                    handle = buffer.get();
                    (bytes, value) = (size_of::<cl_mem>(), (&raw const handle).cast());
                    made = Some(buffer);
                }
                Argument::Value(contents) => {
                    (bytes, value) = (contents.len(), contents.as_ptr().cast())
                }
                Argument::Local(size) => (bytes, value) = (*size, ptr::null()),
            }
            // SAFETY: so many bytes are there, but for local memory, which has none.
            let set = unsafe { set_kernel_arg(kernel.get(), index, bytes, value) };
            set.map_err(|code| format!("clSetKernelArg {index}: {code}"))?;
            buffers.push(made);
        }
        Ok(buffers)
    }

    fn launch(&self, kernel: &Kernel, report: &Report) -> Result<(), String> {
        let local = if report.local.is_empty() {
            ptr::null()
        } else {
            report.local.as_ptr()
        };
        // SAFETY: both lists have as many sizes as there are dimensions, and the queue is waited for while they live.
        let launched = unsafe {
            self.queue.enqueue_nd_range_kernel(
                kernel.get(),
                report.global.len() as u32,
                ptr::null(),
                report.global.as_ptr(),
                local,
                &[],
            )
        };
        let event = launched.map_err(|error| format!("clEnqueueNDRangeKernel: {error}"))?;
        event
            .wait()
            .map_err(|error| format!("clWaitForEvents: {error}"))?;
        let status = event
            .command_execution_status()
            .map_err(|error| error.to_string())?
            .0;
        match status {
            CL_COMPLETE => Ok(()),
            status => Err(format!("the launch ended with {status}")),
        }
    }
}
