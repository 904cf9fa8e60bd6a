//! `cl_image_format` and `cl_image_desc` (section 5.3.1.2), checked.

use super::error::{Error, Result};
use super::handle;
use crate::compiler::image::ImageDimension;
use crate::runtime::allocation::allocate::TEXEL_ALIGNMENT;
use crate::runtime::context::Context;
use crate::runtime::image::format::{self, Format};
use crate::runtime::image::{Image, MAX_2D, MAX_3D, MAX_LAYERS};
use crate::runtime::memory::Memory;
use opencl_sys as cl;
use opencl_sys::{
    CL_IMAGE_FORMAT_NOT_SUPPORTED, CL_INVALID_CONTEXT, CL_INVALID_IMAGE_DESCRIPTOR,
    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, CL_INVALID_IMAGE_SIZE, cl_image_desc, cl_image_format,
    cl_mem_flags,
};
use std::sync::Arc;

/// A valid description.
pub struct Description {
    pub image: Image,
    /// The buffer or image that holds the texels.
    pub parent: Option<Arc<Memory>>,
}

/// A description of nothing.
pub fn empty() -> cl_image_desc {
    // SAFETY: numbers and a pointer: all zeros is a value.
    unsafe { std::mem::zeroed() }
}

fn bad(reason: impl Into<String>) -> Error {
    Error::new(CL_INVALID_IMAGE_DESCRIPTOR, reason.into())
}

/// The error for an image that is not as the image that it is made of.
fn differs(reason: impl Into<String>) -> Error {
    Error::new(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, reason.into())
}

impl Description {
    /// `without_memory` says that neither `host_ptr` nor an external handle is given.
    ///
    /// # Errors
    /// `CL_INVALID_IMAGE_FORMAT_DESCRIPTOR`, `CL_INVALID_IMAGE_DESCRIPTOR`, `CL_INVALID_IMAGE_SIZE`,
    /// `CL_IMAGE_FORMAT_NOT_SUPPORTED`.
    pub fn parse(
        context: &Arc<Context>,
        format: Option<&cl_image_format>,
        desc: Option<&cl_image_desc>,
        without_memory: bool,
    ) -> Result<Self> {
        // "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if
        // image_format is NULL."
        let format = *format
            .filter(|format| format::is_format(**format))
            .ok_or_else(|| {
                Error::new(
                    CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                    "image_format is NULL, or its order and type do not go together",
                )
            })?;
        // "CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid or if image_desc is
        // NULL."
        let desc = desc.ok_or_else(|| bad("image_desc is NULL"))?;
        let dimension = dimension(desc.image_type)
            .ok_or_else(|| bad(format!("image_type is {:#x}", desc.image_type)))?;
        // "num_samples … must be 0."
        if desc.num_samples != 0 {
            return Err(bad("num_samples must be 0"));
        }
        let size = size(context, desc, dimension)?;
        let parent = parent(context, desc, dimension)?;
        // "CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support image_format."
        let format = Format::supported(format, dimension).ok_or_else(|| {
            Error::new(
                CL_IMAGE_FORMAT_NOT_SUPPORTED,
                "no device supports image_format for this image type",
            )
        })?;
        check_pitches(
            desc,
            dimension,
            &format,
            size,
            without_memory && parent.is_none(),
        )?;
        let (row_pitch, slice_pitch) = match parent.as_ref().and_then(|parent| parent.image()) {
            Some(image) => {
                // "All of the values specified in image_desc must match the image descriptor information
                // associated with mem_object", of which 0 says nothing.
                if ![0, image.row_pitch_bytes].contains(&desc.image_row_pitch) {
                    return Err(differs(format!(
                        "image_row_pitch is {}, that of mem_object {}",
                        desc.image_row_pitch, image.row_pitch_bytes
                    )));
                }
                (image.row_pitch_bytes, image.slice_pitch_bytes)
            }
            // "image_slice_pitch … must be 0 for a 1D or 2D image."
            None if dimension.is_array() || dimension == ImageDimension::Three => {
                (desc.image_row_pitch, desc.image_slice_pitch)
            }
            None => (desc.image_row_pitch, 0),
        };
        let mut image = Image::new(format, dimension, size, row_pitch, slice_pitch);
        image.described_levels = desc.num_mip_levels;
        if desc.num_mip_levels > 1 {
            // "Mip-mapped images cannot be created for CL_MEM_OBJECT_IMAGE1D_BUFFER images, depth images or
            // multi-sampled (i.e. msaa) images", and have memory of their own.
            if dimension == ImageDimension::Buffer || format.is_depth() || parent.is_some() {
                return Err(bad("such an image has no mip levels"));
            }
            image.levels = desc.num_mip_levels as usize;
            if image.levels > image.most_levels() {
                return Err(bad(format!(
                    "num_mip_levels is {}, of {size:?} texels there are {}",
                    image.levels,
                    image.most_levels()
                )));
            }
        }
        Ok(Self { image, parent })
    }

    /// Whether the image fits what it is made of.
    pub fn check_parent(&self, parent: &Memory) -> Result<()> {
        let image = &self.image;
        if let Some(other) = parent.image() {
            // "CL_INVALID_IMAGE_DESCRIPTOR if … a 2D image is created from a 2D image and the rules are not
            // followed": equal sizes and channel types, and orders of the table "Compatible Image Channel Orders".
            let same = other.region() == image.region()
                && other.format.channel_type() == image.format.channel_type();
            let orders = [other.format.order(), image.format.order()];
            // On and off the sRGB curve.
            let pairs = [
                [cl::CL_RGBA, cl::CL_sRGBA],
                [cl::CL_BGRA, cl::CL_sBGRA],
                [cl::CL_RGBx, cl::CL_sRGBx],
                [cl::CL_RGB, cl::CL_sRGB],
            ];
            let related = orders == [cl::CL_R, cl::CL_DEPTH]
                || pairs
                    .iter()
                    .any(|pair| orders == *pair || [orders[1], orders[0]] == *pair);
            if !same || !related {
                return Err(differs(
                    "the image does not have the size and channels of the image that it is made of",
                ));
            }
            return Ok(());
        }
        // "If the buffer object specified by mem_object was created with CL_MEM_USE_HOST_PTR, the host_ptr … must
        // be aligned to the maximum of the CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT value for all devices":
        // CL_INVALID_IMAGE_FORMAT_DESCRIPTOR. That counts pixels; larger ones need no more bytes than the smallest.
        let host_ptr = parent.host_ptr().map(|pointer| pointer.0);
        if let Some(host_ptr) = host_ptr.filter(|it| !it.addr().is_multiple_of(TEXEL_ALIGNMENT)) {
            return Err(Error::new(
                CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                format!(
                    "host_ptr {host_ptr:p} of the buffer is not a multiple of {TEXEL_ALIGNMENT}"
                ),
            ));
        }
        // "For a 1D image buffer … the image width × size of element in bytes must be <= size of the buffer
        // object", "For a 2D image … image_row_pitch × image_height must be <= size of the buffer".
        if image.size_bytes() > parent.size_bytes() {
            return Err(Error::new(
                CL_INVALID_IMAGE_SIZE,
                format!(
                    "the image takes {} bytes, the buffer has {}",
                    image.size_bytes(),
                    parent.size_bytes()
                ),
            ));
        }
        Ok(())
    }
}

/// Width, height, and depth or layers.
fn size(context: &Context, desc: &cl_image_desc, dimension: ImageDimension) -> Result<[usize; 3]> {
    let (most_width, most_height, most_depth) = match dimension {
        ImageDimension::Buffer => {
            let devices = context.devices().iter();
            let most = devices.map(|device| device.limits().max_image_buffer_texels());
            (most.max().unwrap_or(0), 1, 1)
        }
        ImageDimension::Three => (MAX_3D, MAX_3D, MAX_3D),
        _ => (MAX_2D, MAX_2D, MAX_LAYERS),
    };
    let height = match dimension.axes() {
        1 => 1,
        _ => desc.image_height,
    };
    let depth = match dimension {
        ImageDimension::Three => desc.image_depth,
        _ if dimension.is_array() => desc.image_array_size,
        _ => 1,
    };
    // "CL_INVALID_IMAGE_SIZE if the image dimensions specified in image_desc are not valid or exceed the maximum
    // image dimensions … for all devices in context".
    for (what, size, most) in [
        ("width", desc.image_width, most_width),
        ("height", height, most_height),
        ("depth or array size", depth, most_depth),
    ] {
        if size == 0 || size > most {
            return Err(Error::new(
                CL_INVALID_IMAGE_SIZE,
                format!("a {what} of {size} is 0 or more than {most}"),
            ));
        }
    }
    Ok([desc.image_width, height, depth])
}

fn parent(
    context: &Arc<Context>,
    desc: &cl_image_desc,
    dimension: ImageDimension,
) -> Result<Option<Arc<Memory>>> {
    // Named `mem_object` from version 2.0 on.
    let mem_object = desc.buffer;
    if mem_object.is_null() {
        // "mem_object … must be a buffer … for a 1D image buffer."
        return match dimension {
            ImageDimension::Buffer => Err(bad("a 1D image buffer without a buffer")),
            _ => Ok(None),
        };
    }
    let parent: Arc<Memory> =
        handle::get(mem_object).map_err(|error| bad(error.reason().to_owned()))?;
    if !Arc::ptr_eq(parent.context(), context) {
        return Err(Error::new(
            CL_INVALID_CONTEXT,
            "mem_object belongs to another context",
        ));
    }
    // "mem_object may refer to a valid buffer or image memory object": a buffer for 1D image buffers and 2D
    // images, a 2D image for a 2D image.
    let serves = match (parent.image(), dimension) {
        (None, ImageDimension::Buffer | ImageDimension::Two) => parent.is_buffer(),
        (Some(image), ImageDimension::Two) => {
            image.dimension == ImageDimension::Two && image.levels == 1
        }
        _ => false,
    };
    if serves {
        Ok(Some(parent))
    } else {
        Err(bad("mem_object is nothing that such an image is made of"))
    }
}

fn check_pitches(
    desc: &cl_image_desc,
    dimension: ImageDimension,
    format: &Format,
    [width, height, _]: [usize; 3],
    alone: bool,
) -> Result<()> {
    let (row, slice) = (desc.image_row_pitch, desc.image_slice_pitch);
    // "This must be 0 if host_ptr is NULL", but for an image over a buffer or in external memory.
    if alone && (row != 0 || slice != 0) {
        return Err(bad("pitches are given without host_ptr"));
    }
    let texel_bytes = format.texel_bytes();
    // "… can be either 0 or ≥ image_width × size of element in bytes … If image_row_pitch is not 0, it must be a
    // multiple of the image element size in bytes."
    if row != 0 && (row < width * texel_bytes || !row.is_multiple_of(texel_bytes)) {
        return Err(bad(format!("image_row_pitch is {row}")));
    }
    let has_slices = dimension.is_array() || dimension == ImageDimension::Three;
    if has_slices && slice != 0 {
        // "… ≥ image_row_pitch × image_height for a 2D image array or 3D image … and ≥ image_row_pitch for a 1D
        // image array … must be a multiple of the image_row_pitch."
        let row = if row == 0 { width * texel_bytes } else { row };
        let least = row.checked_mul(height);
        if least.is_none_or(|least| slice < least) || !slice.is_multiple_of(row) {
            return Err(bad(format!("image_slice_pitch is {slice}")));
        }
    }
    Ok(())
}

/// The flags of an image made of a buffer or image: what is not given is inherited.
pub fn inherited_flags(parent: &Memory, flags: cl_mem_flags) -> Result<cl_mem_flags> {
    // "… if image_desc->mem_object is not NULL, the memory access qualifiers, host access and host pointer flags
    // follow the rules of sub-buffers".
    super::buffer::sub_buffer_flags(parent.flags(), flags)
}

/// The dimension of a memory object type that is an image's.
pub(super) fn dimension(image_type: cl::cl_mem_object_type) -> Option<ImageDimension> {
    Some(match image_type {
        cl::CL_MEM_OBJECT_IMAGE1D => ImageDimension::One,
        cl::CL_MEM_OBJECT_IMAGE1D_BUFFER => ImageDimension::Buffer,
        cl::CL_MEM_OBJECT_IMAGE1D_ARRAY => ImageDimension::OneArray,
        cl::CL_MEM_OBJECT_IMAGE2D => ImageDimension::Two,
        cl::CL_MEM_OBJECT_IMAGE2D_ARRAY => ImageDimension::TwoArray,
        cl::CL_MEM_OBJECT_IMAGE3D => ImageDimension::Three,
        _ => return None,
    })
}
