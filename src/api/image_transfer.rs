//! Copies and fills of images, checked: for queues and for command buffers alike.

use super::enqueue;
use super::error::{Error, Result};
use super::image_region::{Region, texels_of_color};
use super::transfer::Transfer;
use crate::compiler::image::ImageDimension;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::host_memory::layout::{Extent, Layout};
use crate::runtime::memory::Memory;
use crate::runtime::queue::Queue;
use crate::runtime::residency::storage::Place;
use opencl_sys::{CL_IMAGE_FORMAT_MISMATCH, CL_INVALID_MEM_OBJECT, cl_mem};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// The arguments of a copy or fill of an image.
pub(super) trait ImageCommand {
    /// Checks them as the function that enqueues the command says; `wait_list` is called where the wait list's
    /// turn is.
    ///
    /// # Safety
    /// Origins and regions are NULL or three numbers (four where [`Region::parse`] says so), a colour is NULL or
    /// one of the image's format.
    unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)>;
}

/// The arguments of a copy between images: `clEnqueueCopyImage`, `clCommandCopyImageKHR`.
pub(super) struct CopyImage {
    pub src_image: cl_mem,
    pub dst_image: cl_mem,
    pub src_origin: *const usize,
    pub dst_origin: *const usize,
    pub region: *const usize,
}

impl ImageCommand for CopyImage {
    unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let (source, from_image) = enqueue::image(queue, self.src_image)?;
        let (target, to_image) = enqueue::image(queue, self.dst_image)?;
        // "CL_IMAGE_FORMAT_MISMATCH if src_image and dst_image do not use the same image format."
        if from_image.format != to_image.format {
            return Err(Error::new(
                CL_IMAGE_FORMAT_MISMATCH,
                "source and destination have different formats",
            ));
        }
        // SAFETY: the caller's promise.
        let (from, to) = unsafe {
            (
                Region::parse(&from_image, self.src_origin, self.region)?,
                Region::parse(&to_image, self.dst_origin, self.region)?,
            )
        };
        let wait_list = wait_list()?;

        let (source, target) = ((source, from.layout()), (target, to.layout()));
        let transfer = Transfer::copy(queue, source, target, from.extent())?;
        Ok((transfer, wait_list))
    }
}

/// "CL_INVALID_MEM_OBJECT … if src_image is a 1D image buffer object created from dst_buffer", and the reverse.
fn check_apart(image: &Memory, buffer: &Arc<Memory>) -> Result<()> {
    let is_line = image.image().map(|image| image.dimension) == Some(ImageDimension::Buffer);
    if is_line && image.parent().is_some_and(|of| Arc::ptr_eq(of, buffer)) {
        return Err(Error::new(
            CL_INVALID_MEM_OBJECT,
            "the image is made of that buffer",
        ));
    }
    Ok(())
}

/// The arguments of a copy from an image to a buffer: `clEnqueueCopyImageToBuffer`, `clCommandCopyImageToBufferKHR`.
pub(super) struct CopyImageToBuffer {
    pub src_image: cl_mem,
    pub dst_buffer: cl_mem,
    pub src_origin: *const usize,
    pub region: *const usize,
    pub dst_offset: usize,
}

impl ImageCommand for CopyImageToBuffer {
    unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let (source, image) = enqueue::image(queue, self.src_image)?;
        let target = enqueue::memory(queue, self.dst_buffer)?;
        check_apart(&source, &target)?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::parse(&image, self.src_origin, self.region) }?;
        let extent = region.extent();
        // "CL_INVALID_VALUE if … the region specified by dst_offset and dst_offset + dst_cb refer to a region
        // outside dst_buffer".
        enqueue::check_bounds(&target, self.dst_offset, extent.size_bytes())?;
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &target)?;

        let source = (source, region.layout());
        let target = (target, extent.packed(self.dst_offset));
        let transfer = Transfer::copy(queue, source, target, extent)?;
        Ok((transfer, wait_list))
    }
}

/// The arguments of a copy from a buffer to an image: `clEnqueueCopyBufferToImage`, `clCommandCopyBufferToImageKHR`.
pub(super) struct CopyBufferToImage {
    pub src_buffer: cl_mem,
    pub dst_image: cl_mem,
    pub src_offset: usize,
    pub dst_origin: *const usize,
    pub region: *const usize,
}

impl ImageCommand for CopyBufferToImage {
    unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let source = enqueue::memory(queue, self.src_buffer)?;
        let (target, image) = enqueue::image(queue, self.dst_image)?;
        check_apart(&target, &source)?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::parse(&image, self.dst_origin, self.region) }?;
        let extent = region.extent();
        // "CL_INVALID_VALUE if … the region specified by src_offset and src_offset + src_cb refer to a region
        // outside src_buffer."
        enqueue::check_bounds(&source, self.src_offset, extent.size_bytes())?;
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &source)?;

        let source = (source, extent.packed(self.src_offset));
        let target = (target, region.layout());
        let transfer = Transfer::copy(queue, source, target, extent)?;
        Ok((transfer, wait_list))
    }
}

/// The arguments of a fill of an image: `clEnqueueFillImage`, `clCommandFillImageKHR`.
pub(super) struct FillImage {
    pub image: cl_mem,
    pub fill_color: *const c_void,
    pub origin: *const usize,
    pub region: *const usize,
}

impl ImageCommand for FillImage {
    unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let (memory, image) = enqueue::image(queue, self.image)?;
        // "CL_INVALID_VALUE if fill_color is NULL."
        // SAFETY: the caller's promise.
        let texel = unsafe { texels_of_color(&image, self.fill_color) }?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::parse(&image, self.origin, self.region) }?;
        let wait_list = wait_list()?;

        let target = (memory, region.layout());
        let fill = |place: &_| fill(place, region.layout(), region.extent(), texel);
        let transfer = Transfer::fill(queue, target, region.extent(), fill)?;
        Ok((transfer, wait_list))
    }
}

/// The command that fills a region, inside, with a texel.
fn fill(
    target: &Place,
    layout: Layout,
    extent: Extent,
    texel: SmallVec<[u8; 16]>,
) -> DeviceCommand {
    DeviceCommand::FillRectangle {
        target: Arc::clone(&target.allocation),
        extent,
        layout: Layout {
            offset_bytes: layout.offset_bytes + target.offset_bytes,
            ..layout
        },
        pattern: texel,
    }
}
