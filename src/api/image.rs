//! Images (section 5.3): creation and queries.

use super::buffer::{
    Wanted, check_external_flags, check_flags, read_properties, with_default_access,
};
use super::error::{Error, Result};
use super::image_description::{self, Description, dimension};
use super::out::{Info, List, Written};
use super::{context, handle};
use crate::compiler::image::ImageDimension;
use crate::runtime::context::Context;
use crate::runtime::image::Image;
use crate::runtime::image::format::Format;
use crate::runtime::memory::Memory;
use opencl_sys as cl;
use opencl_sys::{
    CL_INVALID_HOST_PTR, CL_INVALID_IMAGE_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, CL_INVALID_MEM_OBJECT,
    CL_INVALID_PROPERTY, CL_MEM_COPY_HOST_PTR, CL_MEM_KERNEL_READ_AND_WRITE, CL_MEM_USE_HOST_PTR,
    cl_context, cl_image_desc, cl_image_format, cl_image_info, cl_mem, cl_mem_flags,
    cl_mem_object_type, cl_mem_properties, cl_uint,
};
use std::ffi::c_void;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

/// `clCreateImage2D` (section 5.3.1, deprecated in 1.2)
///
/// # Safety
/// As [`create_image`].
pub unsafe fn create_image_2d(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_row_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let description = cl_image_desc {
        image_type: cl::CL_MEM_OBJECT_IMAGE2D,
        image_width,
        image_height,
        image_row_pitch,
        ..image_description::empty()
    };
    // SAFETY: the caller's promise.
    unsafe { create_of_size(context, flags, image_format, &description, host_ptr) }
}

/// `clCreateImage3D` (section 5.3.1, deprecated in 1.2)
///
/// # Safety
/// As [`create_image`].
pub unsafe fn create_image_3d(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_width: usize,
    image_height: usize,
    image_depth: usize,
    image_row_pitch: usize,
    image_slice_pitch: usize,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let description = cl_image_desc {
        image_type: cl::CL_MEM_OBJECT_IMAGE3D,
        image_width,
        image_height,
        // "CL_INVALID_IMAGE_SIZE … if image_depth ≤ 1": as if it were 0.
        image_depth: if image_depth > 1 { image_depth } else { 0 },
        image_row_pitch,
        image_slice_pitch,
        ..image_description::empty()
    };
    // SAFETY: the caller's promise.
    unsafe { create_of_size(context, flags, image_format, &description, host_ptr) }
}

/// Creates an image of sizes and pitches alone, as [`create_image`] does; bad ones are a `CL_INVALID_IMAGE_SIZE`.
unsafe fn create_of_size(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    description: &cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // SAFETY: the caller's promise.
    let image = unsafe { create_image(context, flags, image_format, description, host_ptr) };
    // "CL_INVALID_IMAGE_SIZE if image_width or image_height are 0 or if they exceed the maximum values … or if
    // values specified by image_row_pitch do not follow rules described in the argument description above."
    image.map_err(|error| match error.code() {
        CL_INVALID_IMAGE_DESCRIPTOR => Error::new(CL_INVALID_IMAGE_SIZE, error.reason().to_owned()),
        _ => error,
    })
}

/// `clCreateImage` (section 5.3.1)
///
/// # Safety
/// `image_format` and `image_desc` are NULL or readable; `host_ptr` is NULL or an image's memory, as the
/// flags ask.
pub unsafe fn create_image(
    context: cl_context,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    unsafe {
        create(
            &context,
            Wanted::default(),
            flags,
            image_format,
            image_desc,
            host_ptr,
        )
    }
}

/// `clCreateImageWithProperties` (section 5.3.1)
///
/// # Safety
/// As [`create_image`]; `properties` is NULL or ends with 0.
pub unsafe fn create_image_with_properties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    let context = context::get(context)?;
    // SAFETY: the caller's promise.
    let wanted = unsafe { read_properties(&context, properties) }?;
    // "CL_INVALID_PROPERTY if a property name in properties is not a supported property name": this one is of
    // buffers.
    if wanted.names_private_address {
        return Err(Error::new(
            CL_INVALID_PROPERTY,
            "CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT is a property of buffers",
        ));
    }
    // SAFETY: the caller's promise.
    unsafe { create(&context, wanted, flags, image_format, image_desc, host_ptr) }
}

unsafe fn create(
    context: &Arc<Context>,
    wanted: Wanted,
    flags: cl_mem_flags,
    image_format: *const cl_image_format,
    image_desc: *const cl_image_desc,
    host_ptr: *mut c_void,
) -> Result<cl_mem> {
    // "CL_INVALID_VALUE if values specified in flags are not valid."
    check_flags(flags)?;
    if wanted.external.is_some() {
        check_external_flags(flags)?;
    }
    // SAFETY: the caller's promise.
    let (format, description) = unsafe { (image_format.as_ref(), image_desc.as_ref()) };
    let without_memory = host_ptr.is_null() && wanted.external.is_none();
    let description = Description::parse(context, format, description, without_memory)?;
    // "CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in flags
    // or if host_ptr is not NULL but CL_MEM_COPY_HOST_PTR or CL_MEM_USE_HOST_PTR are not set in flags."
    let host_ptr = NonNull::new(host_ptr.cast::<u8>());
    let wants_host_ptr = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    if host_ptr.is_some() != wants_host_ptr {
        return Err(Error::new(
            CL_INVALID_HOST_PTR,
            "host_ptr and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR contradict each other",
        ));
    }
    check_fits(context, &description.image)?;
    if let Some(external) = wanted.external {
        // A handle excludes memory of others, and says nothing of levels. It excludes host_ptr too, which the flags
        // already did.
        let image = description.image;
        if description.parent.is_some() || image.levels > 1 {
            return Err(Error::new(
                CL_INVALID_IMAGE_DESCRIPTOR,
                "an image in external memory has no mem_object and no mip levels",
            ));
        }
        let flags = with_default_access(flags);
        // SAFETY: "… transfers ownership of the file descriptor from the application".
        let fd = unsafe { OwnedFd::from_raw_fd(external.fd) };
        let (device, kind) = (&external.device, external.kind);
        let memory = Memory::external_image(context, device, flags, image, kind, fd, wanted.all)?;
        return Ok(handle::create(memory));
    }
    // "CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR cannot be specified if a mip-mapped image is created."
    if wants_host_ptr && description.image.levels > 1 {
        return Err(Error::invalid_value(
            "a mip-mapped image is not created with host_ptr",
        ));
    }
    let memory = match &description.parent {
        Some(parent) => {
            let flags = image_description::inherited_flags(parent, flags)?;
            description.check_parent(parent)?;
            Memory::image_of(parent, flags, description.image, wanted.all)
        }
        None => {
            let flags = with_default_access(flags);
            let image = description.image;
            // SAFETY: the caller's promise, and the flags agree with `host_ptr`.
            unsafe { Memory::image_with_memory(context, flags, image, host_ptr, wanted.all) }?
        }
    };
    Ok(handle::create(memory))
}

/// "CL_INVALID_IMAGE_SIZE if image dimensions specified in image_desc exceed the maximum image dimensions
/// described in the Device Queries table for all devices in context."
fn check_fits(context: &Context, image: &Image) -> Result<()> {
    let size_bytes = image.size_bytes() as u64;
    let fits = context
        .devices()
        .iter()
        .any(|device| size_bytes <= device.limits().max_allocation_bytes);
    if size_bytes > crate::runtime::device::limits::MAX_IMAGE_BYTES || !fits {
        return Err(Error::new(
            CL_INVALID_IMAGE_SIZE,
            format!("an image of {size_bytes} bytes is larger than any device allows"),
        ));
    }
    Ok(())
}

/// `clGetSupportedImageFormats` (section 5.3.2)
///
/// # Safety
/// `image_formats` has room for `num_entries`; both pointers are NULL or writable.
pub unsafe fn get_supported_image_formats(
    context: cl_context,
    flags: cl_mem_flags,
    image_type: cl_mem_object_type,
    num_entries: cl_uint,
    image_formats: *mut cl_image_format,
    num_image_formats: *mut cl_uint,
) -> Result<()> {
    // "CL_INVALID_CONTEXT if context is not a valid context."
    context::get(context)?;
    // "CL_INVALID_VALUE if flags or image_type are not valid, or if num_entries is 0 and image_formats is
    // not NULL."
    check_flags(flags & !cl_mem_flags::from(CL_MEM_KERNEL_READ_AND_WRITE))?;
    let Some(dimension) = dimension(image_type) else {
        return Err(Error::invalid_value(format!(
            "image_type is {image_type:#x}"
        )));
    };
    if num_entries == 0 && !image_formats.is_null() {
        return Err(Error::invalid_value(
            "num_entries is 0, image_formats is not NULL",
        ));
    }
    // Code reads and writes every format, and in one kernel too.
    let formats: Vec<cl_image_format> = Format::all(dimension)
        .map(|format| format.describe())
        .collect();
    // SAFETY: the caller's promise.
    unsafe { List::new(num_entries, image_formats, num_image_formats) }.write(&formats);
    Ok(())
}

/// `clGetImageInfo` (section 5.3.7)
pub fn get_image_info(image: cl_mem, param_name: cl_image_info, info: Info) -> Result<Written> {
    // "CL_INVALID_MEM_OBJECT if image is not a valid image object."
    let memory: Arc<Memory> = handle::get(image)?;
    let Some(image) = memory.image() else {
        return Err(Error::new(
            CL_INVALID_MEM_OBJECT,
            "the memory object is not an image",
        ));
    };
    let dimension = image.dimension;
    let has_height = dimension.axes() > 1;
    let is_3d = dimension == ImageDimension::Three;
    let if_so = |so: bool, value: usize| if so { value } else { 0 };
    match param_name {
        cl::CL_IMAGE_FORMAT => info.value(image.format.describe()),
        cl::CL_IMAGE_ELEMENT_SIZE => info.value::<usize>(image.format.texel_bytes()),
        cl::CL_IMAGE_ROW_PITCH => info.value::<usize>(image.row_pitch_bytes),
        // "For a 1D image, 1D image buffer and 2D image object return 0."
        cl::CL_IMAGE_SLICE_PITCH => info.value::<usize>(if_so(
            is_3d || dimension.is_array(),
            image.slice_pitch_bytes,
        )),
        cl::CL_IMAGE_WIDTH => info.value::<usize>(image.width),
        cl::CL_IMAGE_HEIGHT => info.value::<usize>(if_so(has_height, image.height)),
        cl::CL_IMAGE_DEPTH => info.value::<usize>(if_so(is_3d, image.depth)),
        cl::CL_IMAGE_ARRAY_SIZE => info.value::<usize>(if_so(dimension.is_array(), image.depth)),
        cl::CL_IMAGE_BUFFER => {
            let buffer = memory.parent().filter(|parent| parent.is_buffer());
            info.handle_or_null(buffer.map(|buffer| &**buffer))
        }
        cl::CL_IMAGE_NUM_MIP_LEVELS => info.value::<cl_uint>(image.described_levels),
        cl::CL_IMAGE_NUM_SAMPLES => info.value::<cl_uint>(0),
        _ => Err(Error::unknown_query(param_name)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::enqueue_image::enqueue_fill_image;
    use super::super::external_memory::{enqueue_acquire, enqueue_release};
    use super::super::out::EventArguments;
    use super::*;
    use crate::runtime::allocation::Allocation;
    use crate::runtime::allocation::upload;
    use crate::runtime::device::Device;
    use crate::runtime::object::callback::UserData;
    use crate::runtime::platform::Platform;
    use crate::runtime::queue::Queue;
    use crate::vulkan::external::tests::{exchanged, exported};
    use crate::vulkan::test_device::skip;
    use crate::vulkan::{MemoryFd, Priority};
    use std::os::fd::IntoRawFd;
    use std::ptr;

    #[test]
    fn an_image_may_lie_in_memory_of_others() {
        let Some(device) = Platform::instance().devices().first() else {
            skip::no_device();
            return;
        };
        for kind in exchanged(device.vulkan().unwrap()) {
            check_shared_image(device, kind);
        }
    }

    /// What one side writes the other reads.
    fn check_shared_image(device: &Arc<Device>, kind: MemoryFd) {
        let vulkan = device.vulkan().unwrap();
        let (buffer, fd) = exported(vulkan, kind, 4096);
        let theirs = Allocation::from_buffer(buffer);
        let mut texels: Vec<u8> = (0..128).collect();
        upload::upload(vulkan, &theirs, 0, &texels).unwrap();

        let user_data = UserData(ptr::null_mut());
        let context = Context::new(vec![Arc::clone(device)], Vec::new(), None, user_data);
        let queue = Queue::new(&context, device, vulkan, 0, Priority::Medium, None).unwrap();
        let handle: cl_context = handle::create(context);
        let format = cl_image_format {
            image_channel_order: cl::CL_RGBA,
            image_channel_data_type: cl::CL_UNORM_INT8,
        };
        let description = cl_image_desc {
            image_type: cl::CL_MEM_OBJECT_IMAGE2D,
            image_width: 4,
            image_height: 4,
            image_row_pitch: 32,
            ..image_description::empty()
        };
        let create = |fd: u64, flags: cl_mem_flags| {
            let kind = match kind {
                MemoryFd::Opaque => cl::CL_EXTERNAL_MEMORY_HANDLE_OPAQUE_FD_KHR,
                MemoryFd::DmaBuf => cl::CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR,
            };
            let properties = [kind.into(), fd, 0];
            // SAFETY: everything outlives the call; there is no host memory.
            unsafe {
                create_image_with_properties(
                    handle,
                    properties.as_ptr(),
                    flags,
                    &format,
                    &description,
                    ptr::null_mut(),
                )
            }
        };
        let fd = fd.into_raw_fd() as u64;
        let image = create(fd, 0).unwrap();
        let memory: Arc<Memory> = handle::get(image).unwrap();
        assert_eq!(memory.image().unwrap().row_pitch_bytes, 32);
        let place = memory.place(queue.context_device()).unwrap();
        let mut found = vec![0; 128];
        upload::download(vulkan, &place.allocation, 0, &mut found).unwrap();
        assert_eq!(found, texels, "{kind:?}");

        let commands: cl::cl_command_queue = handle::create(Arc::clone(&queue));
        let (origin, region) = ([1_usize, 2, 0], [2_usize, 1, 1]);
        // SAFETY: handles of this test, arrays as long as they are said to be.
        unsafe {
            let no_events = || EventArguments::new(0, ptr::null(), ptr::null_mut());
            enqueue_acquire(commands, 1, &image, no_events()).unwrap();
            enqueue_fill_image(
                commands,
                image,
                [1.0_f32; 4].as_ptr().cast(),
                origin.as_ptr(),
                region.as_ptr(),
                no_events(),
            )
            .unwrap();
            enqueue_release(commands, 1, &image, no_events()).unwrap();
        }
        queue.finish().unwrap();
        texels[2 * 32 + 4..2 * 32 + 12].fill(255);
        upload::download(vulkan, &theirs, 0, &mut found).unwrap();
        assert_eq!(found, texels, "{kind:?}");

        let refused = create(fd, CL_MEM_USE_HOST_PTR).unwrap_err();
        assert_eq!(refused.code(), cl::CL_INVALID_VALUE);
        let refused = create(u64::from(u32::MAX), 0).unwrap_err();
        assert_eq!(refused.code(), CL_INVALID_PROPERTY);
        handle::release::<Queue>(commands).unwrap();
        handle::release::<Memory>(image).unwrap();
        handle::release::<Context>(handle).unwrap();
    }
}
