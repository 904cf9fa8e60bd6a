//! Copies and fills of images, checked: for queues and for command buffers alike.

use super::enqueue;
use super::enqueue_buffer::Transfer;
use super::error::{Error, Result};
use super::image_region::{Region, texels_of_color};
use crate::runtime::command::Command;
use crate::runtime::layout::{Layout, Shape};
use crate::runtime::memory::Place;
use crate::runtime::queue::Queue;
use opencl_sys::{CL_IMAGE_FORMAT_MISMATCH, CL_MEM_COPY_OVERLAP, cl_mem};
use std::ffi::c_void;
use std::sync::Arc;

fn moved(layout: Layout, place: &Place) -> Layout {
    Layout {
        offset_bytes: layout.offset_bytes + place.offset_bytes,
        ..layout
    }
}

/// The arguments of a copy between images.
pub(super) struct CopyImage {
    pub src_image: cl_mem,
    pub dst_image: cl_mem,
    pub src_origin: *const usize,
    pub dst_origin: *const usize,
    pub region: *const usize,
}

impl CopyImage {
    /// Checks them as `clEnqueueCopyImage` says; `wait_list` is called where the wait list's turn is.
    ///
    /// # Safety
    /// The origins and the region are NULL or three numbers.
    pub unsafe fn check<W>(
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

        let from_place = source.access(queue, false)?;
        let to_place = target.access(queue, true)?;
        let shape = Shape {
            extent: from_image.extent(from.size),
            source: moved(from_image.layout(from.origin), &from_place),
            target: moved(to_image.layout(to.origin), &to_place),
        };
        // "CL_MEM_COPY_OVERLAP if src_image and dst_image are the same image object and the source and
        // destination regions overlap."
        if source.shares_storage(&target) && shape.overlaps() {
            return Err(Error::new(
                CL_MEM_COPY_OVERLAP,
                "the source and destination regions overlap",
            ));
        }
        let command = Command::Copy {
            source: from_place.allocation,
            target: to_place.allocation,
            shape,
        };
        let memories = vec![(source, false), (target, true)];
        Ok((Transfer { command, memories }, wait_list))
    }
}

/// The arguments of a copy from an image to a buffer.
pub(super) struct CopyImageToBuffer {
    pub src_image: cl_mem,
    pub dst_buffer: cl_mem,
    pub src_origin: *const usize,
    pub region: *const usize,
    pub dst_offset: usize,
}

impl CopyImageToBuffer {
    /// As [`CopyImage::check`], for `clEnqueueCopyImageToBuffer`.
    ///
    /// # Safety
    /// The origin and the region are NULL or three numbers.
    pub unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let (source, image) = enqueue::image(queue, self.src_image)?;
        let target = enqueue::memory(queue, self.dst_buffer)?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::parse(&image, self.src_origin, self.region) }?;
        let extent = image.extent(region.size);
        // "CL_INVALID_VALUE if … the region specified by dst_offset and dst_offset + dst_cb refer to a region
        // outside dst_buffer".
        enqueue::check_bounds(&target, self.dst_offset, extent.size_bytes())?;
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &target)?;

        let from_place = source.access(queue, false)?;
        let to_place = target.access(queue, true)?;
        let command = Command::Copy {
            shape: Shape {
                extent,
                source: moved(image.layout(region.origin), &from_place),
                target: extent.packed(to_place.offset_bytes + self.dst_offset),
            },
            source: from_place.allocation,
            target: to_place.allocation,
        };
        let memories = vec![(source, false), (target, true)];
        Ok((Transfer { command, memories }, wait_list))
    }
}

/// The arguments of a copy from a buffer to an image.
pub(super) struct CopyBufferToImage {
    pub src_buffer: cl_mem,
    pub dst_image: cl_mem,
    pub src_offset: usize,
    pub dst_origin: *const usize,
    pub region: *const usize,
}

impl CopyBufferToImage {
    /// As [`CopyImage::check`], for `clEnqueueCopyBufferToImage`.
    ///
    /// # Safety
    /// The origin and the region are NULL or three numbers.
    pub unsafe fn check<W>(
        self,
        queue: &Arc<Queue>,
        wait_list: impl FnOnce() -> Result<W>,
    ) -> Result<(Transfer, W)> {
        let source = enqueue::memory(queue, self.src_buffer)?;
        let (target, image) = enqueue::image(queue, self.dst_image)?;
        // SAFETY: the caller's promise.
        let region = unsafe { Region::parse(&image, self.dst_origin, self.region) }?;
        let extent = image.extent(region.size);
        // "CL_INVALID_VALUE if … the region specified by src_offset and src_offset + src_cb refer to a region
        // outside src_buffer."
        enqueue::check_bounds(&source, self.src_offset, extent.size_bytes())?;
        let wait_list = wait_list()?;
        enqueue::check_alignment(queue, &source)?;

        let from_place = source.access(queue, false)?;
        let to_place = target.access(queue, true)?;
        let command = Command::Copy {
            shape: Shape {
                extent,
                source: extent.packed(from_place.offset_bytes + self.src_offset),
                target: moved(image.layout(region.origin), &to_place),
            },
            source: from_place.allocation,
            target: to_place.allocation,
        };
        let memories = vec![(source, false), (target, true)];
        Ok((Transfer { command, memories }, wait_list))
    }
}

/// The arguments of a fill of an image.
pub(super) struct FillImage {
    pub image: cl_mem,
    pub fill_color: *const c_void,
    pub origin: *const usize,
    pub region: *const usize,
}

impl FillImage {
    /// As [`CopyImage::check`], for `clEnqueueFillImage`.
    ///
    /// # Safety
    /// `fill_color` is NULL or a colour of the image's format; the origin and the region are NULL or three
    /// numbers.
    pub unsafe fn check<W>(
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

        let target = memory.access(queue, true)?;
        let command = image.fill(&target, region.origin, region.size, texel);
        let memories = vec![(memory, true)];
        Ok((Transfer { command, memories }, wait_list))
    }
}
