//! Images: how their texels lie in memory. The memory itself is that of a [`super::memory::Memory`], like a
//! buffer's; why, says [`crate::compiler::image`].

mod encode;
pub mod format;
pub mod prepared;
pub mod texture;

use super::host_memory::layout::{Extent, Layout};
use crate::compiler::image::{ImageDimension, ImageField, LEVEL_ALIGN_BYTES};
use format::Format;
use opencl_sys as cl;
use opencl_sys::cl_mem_object_type;

/// Limits of the sizes, in texels: what fits memory beyond them is a buffer's work.
pub const MAX_2D: usize = 16384;
pub const MAX_3D: usize = 2048;
pub const MAX_LAYERS: usize = 2048;

/// What makes a memory object an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    pub format: Format,
    pub dimension: ImageDimension,
    /// In texels; what the dimension does not have is 1.
    pub width: usize,
    pub height: usize,
    /// Depth, or the number of layers.
    pub depth: usize,
    pub row_pitch_bytes: usize,
    /// The pitch of slices, or of layers.
    pub slice_pitch_bytes: usize,
    /// Mip levels; 1 where there are no others.
    pub levels: usize,
    /// `CL_IMAGE_NUM_MIP_LEVELS`: as described, where 0 stands for 1 too.
    pub described_levels: u32,
}

impl Image {
    /// Pitches of 0 are the least possible ones.
    pub fn new(
        format: Format,
        dimension: ImageDimension,
        [width, height, depth]: [usize; 3],
        row_pitch_bytes: usize,
        slice_pitch_bytes: usize,
    ) -> Self {
        let row_pitch_bytes = match row_pitch_bytes {
            0 => width.saturating_mul(format.texel_bytes()),
            pitch => pitch,
        };
        let slice_pitch_bytes = match slice_pitch_bytes {
            0 => row_pitch_bytes.saturating_mul(height),
            pitch => pitch,
        };
        Self {
            format,
            dimension,
            width,
            height,
            depth,
            row_pitch_bytes,
            slice_pitch_bytes,
            levels: 1,
            described_levels: 0,
        }
    }

    /// From the first texel to the end of the last slice of the last level.
    pub fn size_bytes(&self) -> usize {
        let (level, offset_bytes) = self.level(self.levels.saturating_sub(1));
        offset_bytes.saturating_add(level.own_bytes())
    }

    /// Bytes of the first level alone.
    fn own_bytes(&self) -> usize {
        self.slice_pitch_bytes.saturating_mul(self.depth)
    }

    /// A mip level as an image, and how many bytes after the first texel it starts.
    pub fn level(&self, index: usize) -> (Self, usize) {
        let mut level = Self { levels: 1, ..*self };
        let mut offset_bytes = 0_usize;
        for _ in 0..index {
            let after = offset_bytes.saturating_add(level.own_bytes());
            offset_bytes = after
                .checked_next_multiple_of(LEVEL_ALIGN_BYTES as usize)
                .unwrap_or(usize::MAX);
            // "Each successively smaller mipmap level is half the size of the previous level … rounded down".
            let axes = self.dimension.axes();
            let half =
                |size: usize, axis: usize| if axis < axes { (size / 2).max(1) } else { size };
            let size = [
                half(level.width, 0),
                half(level.height, 1),
                half(level.depth, 2),
            ];
            level = Self::new(self.format, self.dimension, size, 0, 0);
        }
        (level, offset_bytes)
    }

    /// The most levels that an image of these sizes can have.
    pub fn most_levels(&self) -> usize {
        let axes = self.dimension.axes();
        let sizes = [self.width, self.height, self.depth];
        let longest = sizes.into_iter().take(axes).max().unwrap_or(1);
        longest.max(1).ilog2() as usize + 1
    }

    /// `CL_MEM_TYPE`
    pub fn object_type(&self) -> cl_mem_object_type {
        match self.dimension {
            ImageDimension::One => cl::CL_MEM_OBJECT_IMAGE1D,
            ImageDimension::OneArray => cl::CL_MEM_OBJECT_IMAGE1D_ARRAY,
            ImageDimension::Buffer => cl::CL_MEM_OBJECT_IMAGE1D_BUFFER,
            ImageDimension::Two => cl::CL_MEM_OBJECT_IMAGE2D,
            ImageDimension::TwoArray => cl::CL_MEM_OBJECT_IMAGE2D_ARRAY,
            ImageDimension::Three => cl::CL_MEM_OBJECT_IMAGE3D,
        }
    }

    /// The largest region, as `clEnqueue*Image` counts: a layer of a 1D array is along the second axis.
    pub fn region(&self) -> [usize; 3] {
        match self.dimension {
            ImageDimension::OneArray => [self.width, self.depth, 1],
            _ => [self.width, self.height, self.depth],
        }
    }

    /// Whether it has slices or layers.
    pub fn depth_is_used(&self) -> bool {
        self.dimension.is_array() || self.dimension == ImageDimension::Three
    }

    /// Whether the second axis of a region counts layers.
    pub fn rows_are_layers(&self) -> bool {
        self.dimension == ImageDimension::OneArray
    }

    /// Bytes from one row and from one slice of a region to the next.
    pub fn region_pitches_bytes(&self) -> (usize, usize) {
        match self.dimension {
            ImageDimension::OneArray => (self.slice_pitch_bytes, self.own_bytes()),
            _ => (self.row_pitch_bytes, self.slice_pitch_bytes),
        }
    }

    /// Where a region that starts at `origin`, which is inside, lies.
    pub fn layout(&self, origin: [usize; 3]) -> Layout {
        let (row_pitch_bytes, slice_pitch_bytes) = self.region_pitches_bytes();
        Layout {
            offset_bytes: origin[0] * self.format.texel_bytes()
                + origin[1] * row_pitch_bytes
                + origin[2] * slice_pitch_bytes,
            row_pitch_bytes,
            slice_pitch_bytes,
        }
    }

    /// A region of texels in bytes.
    pub fn extent(&self, region: [usize; 3]) -> Extent {
        Extent {
            width_bytes: region[0] * self.format.texel_bytes(),
            rows: region[1],
            slices: region[2],
        }
    }

    /// The value of a field in an argument block.
    pub fn field(&self, field: ImageField, address: u64) -> u64 {
        match field {
            ImageField::Address => address,
            ImageField::Width => self.width as u64,
            ImageField::Height => self.height as u64,
            ImageField::Depth => self.depth as u64,
            ImageField::RowPitch => self.row_pitch_bytes as u64,
            ImageField::SlicePitch => self.slice_pitch_bytes as u64,
            ImageField::Format => self.format.texel_format().0.into(),
            ImageField::ChannelOrder => self.format.order().into(),
            ImageField::ChannelType => self.format.channel_type().into(),
            ImageField::Levels => self.levels as u64,
            // Depends on where the image lies: see `Memory::texture`.
            ImageField::Texture => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl_sys::cl_image_format;

    fn image(dimension: ImageDimension, size: [usize; 3], pitches: (usize, usize)) -> Image {
        let format = cl_image_format {
            image_channel_order: cl::CL_RGBA,
            image_channel_data_type: cl::CL_UNORM_INT8,
        };
        let format = Format::supported(format, dimension).unwrap();
        Image::new(format, dimension, size, pitches.0, pitches.1)
    }

    #[test]
    fn layers_of_a_1d_array_are_rows_of_a_region() {
        let image = image(ImageDimension::OneArray, [5, 1, 3], (0, 40));
        assert_eq!(image.region(), [5, 3, 1]);
        assert_eq!(image.layout([1, 2, 0]).offset_bytes, 4 + 2 * 40);
        assert_eq!(image.layout([0; 3]).row_pitch_bytes, 40);
        assert_eq!(image.size_bytes(), 120);
    }

    #[test]
    fn levels_follow_each_other_at_aligned_places() {
        let mut image = image(ImageDimension::TwoArray, [5, 3, 2], (0, 0));
        assert_eq!(image.most_levels(), 3);
        image.levels = 3;
        let (second, offset_bytes) = image.level(1);
        assert_eq!((second.width, second.height, second.depth), (2, 1, 2));
        assert_eq!((second.row_pitch_bytes, second.slice_pitch_bytes), (8, 8));
        assert_eq!(offset_bytes, 128, "120 bytes of the first");
        let (third, offset_bytes) = image.level(2);
        assert_eq!((third.width, third.height, third.depth), (1, 1, 2));
        assert_eq!(offset_bytes, 144);
        assert_eq!(image.size_bytes(), 144 + 8);
    }

    #[test]
    fn pitches_default_to_tight_ones() {
        let image = image(ImageDimension::Three, [5, 4, 3], (0, 0));
        assert_eq!((image.row_pitch_bytes, image.slice_pitch_bytes), (20, 80));
        assert_eq!(image.layout([2, 1, 1]).offset_bytes, 8 + 20 + 80);
        assert_eq!(image.size_bytes(), 240);
    }
}
