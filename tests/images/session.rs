//! A queue, and what the tests do with images on it.

use crate::common;
use opencl_sys::{
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS,
    cl_sampler_properties,
};
use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_MEM_COPY_HOST_PTR, CL_MEM_READ_WRITE, ClMem,
    Image, Sampler,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_image_desc, cl_image_format, cl_mem_flags};
use std::ffi::c_void;
use std::ptr;

pub struct Session {
    pub context: Context,
    pub queue: CommandQueue,
}

/// `None` where the machine has no device.
pub fn session() -> Option<Session> {
    let device = common::device()?;
    let context = Context::from_device(&device).expect("a context");
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
    Some(Session { context, queue })
}

pub fn format(order: u32, channel_type: u32) -> cl_image_format {
    cl_image_format {
        image_channel_order: order,
        image_channel_data_type: channel_type,
    }
}

/// An image of its own, without levels, as tight as can be; `depth` is the number of layers too.
pub fn describe(image_type: u32, [width, height, depth]: [usize; 3]) -> cl_image_desc {
    cl_image_desc {
        image_type,
        image_width: width,
        image_height: height,
        image_depth: depth,
        image_array_size: depth,
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

impl Session {
    pub fn create(
        &self,
        flags: cl_mem_flags,
        format: cl_image_format,
        desc: &cl_image_desc,
        host: *mut c_void,
    ) -> Result<Image, ClError> {
        // SAFETY: the tests give memory of the image's size, or none.
        unsafe { Image::create(&self.context, flags, &format, desc, host) }
    }

    /// An image with contents that mean nothing.
    pub fn empty_image(&self, order: u32, channel_type: u32, desc: &cl_image_desc) -> Image {
        let format = format(order, channel_type);
        self.create(CL_MEM_READ_WRITE, format, desc, ptr::null_mut())
            .expect("an image")
    }

    pub fn image_of<T>(
        &self,
        order: u32,
        channel_type: u32,
        desc: &cl_image_desc,
        texels: &[T],
    ) -> Image {
        let host = texels.as_ptr().cast_mut().cast();
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        self.create(flags, format(order, channel_type), desc, host)
            .expect("an image")
    }

    /// A buffer with these contents.
    pub fn buffer_of<T>(&self, values: &[T]) -> Buffer<T> {
        let host = values.as_ptr().cast_mut().cast();
        let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
        // SAFETY: as many values as the buffer takes.
        unsafe { Buffer::create(&self.context, flags, values.len(), host).expect("a buffer") }
    }

    /// `origin` has a fourth number where the image has three coordinates and levels.
    pub fn try_read<T: Copy + Default>(
        &self,
        image: &Image,
        origin: &[usize],
        region: [usize; 3],
        values: usize,
    ) -> Result<Vec<T>, ClError> {
        let mut out = vec![T::default(); values];
        // SAFETY: room for the region.
        unsafe {
            self.queue.enqueue_read_image(
                image,
                CL_BLOCKING,
                origin.as_ptr(),
                region.as_ptr(),
                0,
                0,
                out.as_mut_ptr().cast(),
                &[],
            )?;
        }
        Ok(out)
    }

    pub fn read<T: Copy + Default>(
        &self,
        image: &Image,
        origin: &[usize],
        region: [usize; 3],
        values: usize,
    ) -> Vec<T> {
        self.try_read(image, origin, region, values)
            .expect("the region is read")
    }

    /// Builds `source` and takes its kernel, named `test`.
    pub fn kernel(&self, source: &str) -> Kernel {
        let program = Program::create_and_build_from_source(&self.context, source, "-cl-std=CL3.0")
            .unwrap_or_else(|log| panic!("{log}"));
        Kernel::create(&program, "test").expect("a kernel named test")
    }

    pub fn sampler(&self, normalized: bool, addressing: u32, linear: bool) -> Sampler {
        let filter = if linear {
            CL_FILTER_LINEAR
        } else {
            CL_FILTER_NEAREST
        };
        let properties = [
            [CL_SAMPLER_NORMALIZED_COORDS, normalized.into()],
            [CL_SAMPLER_ADDRESSING_MODE, addressing],
            [CL_SAMPLER_FILTER_MODE, filter],
            [0, 0],
        ];
        let properties = properties.map(|pair| pair.map(cl_sampler_properties::from));
        Sampler::create_with_properties(&self.context, properties.as_flattened().as_ptr())
            .expect("a sampler")
    }

    pub fn output(&self, floats: usize) -> Buffer<f32> {
        // SAFETY: no host memory is given.
        unsafe { Buffer::create(&self.context, CL_MEM_READ_WRITE, floats, ptr::null_mut()) }
            .expect("a buffer")
    }

    pub fn values<T: Copy + Default>(&self, buffer: &Buffer<T>, count: usize) -> Vec<T> {
        let mut out = vec![T::default(); count];
        // SAFETY: room for as many.
        unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut out, &[])
                .expect("the buffer is read");
        }
        out
    }
}

/// The description of an image over a memory object.
pub fn over<M: ClMem>(memory: &M, image_type: u32, size: [usize; 3]) -> cl_image_desc {
    cl_image_desc {
        buffer: memory.get(),
        ..describe(image_type, size)
    }
}
