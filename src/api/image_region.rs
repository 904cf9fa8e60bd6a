//! Origins, regions, pitches and colours of commands on images.

use super::error::{Error, Result};
use crate::runtime::host_memory::layout::{Extent, Layout};
use crate::runtime::image::Image;
use opencl_sys::CL_INVALID_MIP_LEVEL;
use smallvec::SmallVec;
use std::ffi::c_void;

/// A region inside a mip level of an image, in texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The level, and where it starts in the image's memory.
    pub image: Image,
    level_bytes: usize,
    pub origin: [usize; 3],
    pub size: [usize; 3],
}

impl Region {
    /// # Errors
    /// `CL_INVALID_VALUE`, `CL_INVALID_MIP_LEVEL`
    ///
    /// # Safety
    /// Both pointers are NULL or three numbers; where the image has mip levels and three coordinates, `origin`
    /// is four.
    pub unsafe fn parse(image: &Image, origin: *const usize, region: *const usize) -> Result<Self> {
        // "CL_INVALID_VALUE if origin or region is NULL."
        if origin.is_null() || region.is_null() {
            return Err(Error::invalid_value("origin or region is NULL"));
        }
        // SAFETY: the caller's promise: three numbers each.
        let (mut first, size) = unsafe {
            (
                origin.cast::<[usize; 3]>().read(),
                region.cast::<[usize; 3]>().read(),
            )
        };
        let mut level = 0;
        if image.levels > 1 {
            // "If image is a 1D image, origin[1] specifies the mip level to use", origin[2] for 1D image arrays
            // and 2D images, origin[3] for 2D image arrays and 3D images.
            let place = image.dimension.coordinates();
            level = match first.get_mut(place) {
                Some(level) => std::mem::take(level),
                // SAFETY: the caller's promise: a fourth number.
                None => unsafe { origin.add(place).read() },
            };
        }
        // "CL_INVALID_MIP_LEVEL if … the mip level specified in origin is not valid."
        if level >= image.levels {
            return Err(Error::new(
                CL_INVALID_MIP_LEVEL,
                format!("level {level} of an image with {}", image.levels),
            ));
        }
        let (image, level_bytes) = image.level(level);
        let region = Self::check(&image, first, size)?;
        Ok(Self {
            level_bytes,
            ..region
        })
    }

    /// Its bytes.
    pub fn extent(&self) -> Extent {
        self.image.extent(self.size)
    }

    /// Where in the image's memory it lies.
    pub fn layout(&self) -> Layout {
        let layout = self.image.layout(self.origin);
        Layout {
            offset_bytes: layout.offset_bytes + self.level_bytes,
            ..layout
        }
    }

    fn check(image: &Image, origin: [usize; 3], size: [usize; 3]) -> Result<Self> {
        // "CL_INVALID_VALUE if the region being read or written specified by origin and region is out of
        // bounds", "if values in origin and region do not follow rules described in the argument description
        // for origin and region": unused axes have origin 0 and size 1, which is what the image has there.
        let inside = origin
            .iter()
            .zip(size)
            .zip(image.region())
            .all(|((&start, size), most)| {
                size != 0 && start.checked_add(size).is_some_and(|end| end <= most)
            });
        if inside {
            Ok(Self {
                image: *image,
                level_bytes: 0,
                origin,
                size,
            })
        } else {
            Err(Error::invalid_value(format!(
                "{size:?} texels at {origin:?} are not inside an image of {:?}",
                image.region()
            )))
        }
    }
}

/// How a region lies in the application's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostPitches {
    row_bytes: usize,
    slice_bytes: usize,
}

impl HostPitches {
    /// # Errors
    /// `CL_INVALID_VALUE`
    pub fn check(
        image: &Image,
        region: &Region,
        row_pitch: usize,
        slice_pitch: usize,
    ) -> Result<Self> {
        let least_row = region.size[0] * image.format.texel_bytes();
        let invalid = |reason: &str| Err(Error::invalid_value(reason.to_owned()));
        // "If row_pitch … is set to 0, the appropriate row pitch is calculated based on the size of each element
        // in bytes multiplied by width. … must be greater than or equal to the element size in bytes × width."
        let row_bytes = if row_pitch == 0 { least_row } else { row_pitch };
        if row_bytes < least_row {
            return invalid("row_pitch is less than a row of the region");
        }
        // "slice_pitch … must be 0 if image is a 1D or 2D image. Otherwise this value must be greater than or
        // equal to row_pitch × height" (of one layer, where layers are 1D).
        if slice_pitch != 0 && !image.depth_is_used() {
            return invalid("slice_pitch is given for an image without slices");
        }
        let rows = if image.rows_are_layers() {
            1
        } else {
            region.size[1]
        };
        let least_slice = row_bytes
            .checked_mul(rows)
            .ok_or_else(|| Error::invalid_value("the region is larger than memory"))?;
        let slice_bytes = match slice_pitch {
            0 => least_slice,
            pitch => pitch,
        };
        if slice_bytes < least_slice {
            return invalid("slice_pitch is less than a slice of the region");
        }
        let layers = region.size[1].max(region.size[2]);
        if slice_bytes.checked_mul(layers).is_none() {
            return invalid("the region is larger than memory");
        }
        Ok(if image.rows_are_layers() {
            Self {
                row_bytes: slice_bytes,
                slice_bytes: slice_bytes * region.size[1],
            }
        } else {
            Self {
                row_bytes,
                slice_bytes,
            }
        })
    }

    pub fn layout(self) -> Layout {
        Layout {
            offset_bytes: 0,
            row_pitch_bytes: self.row_bytes,
            slice_pitch_bytes: self.slice_bytes,
        }
    }
}

/// The texel that `fill_color` is: "a four component RGBA floating-point color value if the image channel data
/// type is not an unnormalized signed and unsigned integer type, … signed integer …, … unsigned integer …";
/// "a single floating-point value if the channel order is CL_DEPTH".
///
/// # Safety
/// `color` is NULL or such a value.
pub unsafe fn texels_of_color(image: &Image, color: *const c_void) -> Result<SmallVec<[u8; 16]>> {
    if color.is_null() {
        return Err(Error::invalid_value("fill_color is NULL"));
    }
    let mut words = [0_u32; 4];
    let count = image.format.color_bytes() / 4;
    for (index, word) in words.iter_mut().enumerate().take(count) {
        // SAFETY: the caller's promise.
        *word = unsafe { color.cast::<u32>().add(index).read_unaligned() };
    }
    Ok(image.format.texel(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::image::ImageDimension;
    use crate::runtime::image::format::Format;
    use opencl_sys::{CL_RGBA, CL_UNORM_INT8, cl_image_format};

    fn image(dimension: ImageDimension, size: [usize; 3]) -> Image {
        let format = cl_image_format {
            image_channel_order: CL_RGBA,
            image_channel_data_type: CL_UNORM_INT8,
        };
        let format = Format::supported(format, dimension).unwrap();
        Image::new(format, dimension, size, 0, 0)
    }

    #[test]
    fn regions_stay_inside() {
        let image = image(ImageDimension::Two, [8, 4, 1]);
        assert!(Region::check(&image, [0, 0, 0], [8, 4, 1]).is_ok());
        assert!(Region::check(&image, [1, 0, 0], [8, 4, 1]).is_err());
        assert!(Region::check(&image, [0, 0, 0], [8, 0, 1]).is_err());
        assert!(Region::check(&image, [0, 0, 1], [8, 4, 1]).is_err());
        assert!(Region::check(&image, [usize::MAX, 0, 0], [2, 1, 1]).is_err());
    }

    #[test]
    fn layers_of_1d_arrays_are_a_slice_pitch_apart() {
        let image = image(ImageDimension::OneArray, [8, 1, 4]);
        let region = Region::check(&image, [0; 3], [8, 4, 1]).unwrap();
        let tight = HostPitches::check(&image, &region, 0, 0).unwrap();
        assert_eq!((tight.row_bytes, tight.slice_bytes), (32, 128));
        let wide = HostPitches::check(&image, &region, 36, 80).unwrap();
        assert_eq!(wide.row_bytes, 80);
        assert!(HostPitches::check(&image, &region, 36, 35).is_err());
    }

    #[test]
    fn flat_images_have_no_slice_pitch() {
        let image = image(ImageDimension::Two, [8, 4, 1]);
        let region = Region::check(&image, [0; 3], [8, 4, 1]).unwrap();
        assert!(HostPitches::check(&image, &region, 0, 128).is_err());
        assert!(HostPitches::check(&image, &region, 31, 0).is_err());
    }
}
