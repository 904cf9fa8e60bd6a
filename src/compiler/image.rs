//! How compiled kernels see images and samplers.
//!
//! **An image is memory**: texels in rows in rows of rows, reached through a 64-bit device address like a
//! buffer. A kernel gets where it is and how large ([`ImageField`]) in its argument block, and what its texels
//! are as a specialization constant ([`TexelFormat`]); a sampler is a specialization constant too
//! ([`Sampler`]). So the driver folds decoding and addressing to those of the one format and sampler that a
//! pipeline is for, results are exactly OpenCL's on every device (texture units filter with 8 bits, have no
//! unnormalized repeats, and reading without a format is optional), and images share the hazards, copies
//! and limits of buffers.
//!
//! **Texture units** read where the device has arrays of descriptors and can take the same memory for an image of
//! linear tiling: then [`TexelFormat::TEXTURED`] is set, and the code for sampling through the descriptor is what
//! is left, for reads that the unit does faster. On an H200 it filters 5 times as many RGBA8 texels a second and
//! fetches 1.7 times as many, where the loads of single floats are 2.4 times as fast. Nothing else changes:
//! memory, layouts, copies and writes are the same. The specification leaves the precision of linear filtering
//! open, and the conformance tests allow 2^-7; coordinates of nearest reads are exact in the units that are known.
//! Only 2D images have descriptors: images of linear tiling have no layers, and are never of three dimensions, in
//! the drivers that are known.

use serde::{Deserialize, Serialize};

/// The image types of OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageDimension {
    /// `image1d_t`
    One,
    /// `image1d_array_t`
    OneArray,
    /// `image1d_buffer_t`
    Buffer,
    /// `image2d_t`, `image2d_depth_t`
    Two,
    /// `image2d_array_t`, `image2d_array_depth_t`
    TwoArray,
    /// `image3d_t`
    Three,
}

impl ImageDimension {
    /// Dimensions that are addressed, without the one that counts layers.
    pub fn axes(self) -> usize {
        match self {
            Self::One | Self::OneArray | Self::Buffer => 1,
            Self::Two | Self::TwoArray => 2,
            Self::Three => 3,
        }
    }

    pub fn is_array(self) -> bool {
        matches!(self, Self::OneArray | Self::TwoArray)
    }

    /// Components of a coordinate that mean something.
    pub fn coordinates(self) -> usize {
        self.axes() + usize::from(self.is_array())
    }
}

/// A value by which a kernel knows an image; in this order the scalars that an image is in IR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ImageField {
    /// Device address of the first texel, 64-bit, a multiple of 16.
    Address,
    /// In texels, 32-bit; 1 where the image has no such dimension.
    Width,
    Height,
    /// Depth, or number of layers.
    Depth,
    /// Bytes from one row to the next, 32-bit.
    RowPitch,
    /// Bytes from one slice or layer to the next, 32-bit. A whole image has less than 4 GiB.
    SlicePitch,
    /// A [`TexelFormat`], 32-bit; a specialization constant, not in the argument block.
    Format,
    /// `CL_R` … and `CL_SNORM_INT8` …, 32-bit: what queries answer.
    ChannelOrder,
    ChannelType,
    /// Mip levels, 32-bit; 1 where there are no others. They follow each other in memory
    /// ([`LEVEL_ALIGN_BYTES`]), each with the least possible pitches.
    Levels,
    /// Index of the image's descriptor, 32-bit; read only with [`TexelFormat::TEXTURED`].
    Texture,
}

impl ImageField {
    pub const ALL: [Self; 11] = [
        Self::Address,
        Self::Width,
        Self::Height,
        Self::Depth,
        Self::RowPitch,
        Self::SlicePitch,
        Self::Format,
        Self::ChannelOrder,
        Self::ChannelType,
        Self::Levels,
        Self::Texture,
    ];

    /// Place among the scalars of an image.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Size in the argument block, bytes.
    pub fn size_bytes(self) -> u32 {
        match self {
            Self::Address => 8,
            _ => 4,
        }
    }
}

/// At which multiples mip levels start, from the start of the image.
pub const LEVEL_ALIGN_BYTES: u32 = 16;

/// Where the channels lie in a texel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelLayout {
    Bits8,
    Bits16,
    Bits32,
    /// From the highest bit: red 5, green 6, blue 5.
    Packed565,
    /// A bit without meaning, then 5 each.
    Packed555,
    /// 2 bits without meaning, then 10 each.
    Packed101010,
    /// Red, green, blue 10 each, alpha 2.
    Packed1010102,
}

impl ChannelLayout {
    pub const ALL: [Self; 7] = [
        Self::Bits8,
        Self::Bits16,
        Self::Bits32,
        Self::Packed565,
        Self::Packed555,
        Self::Packed101010,
        Self::Packed1010102,
    ];

    /// Bit of the texel at which stored channel `index` starts, and its width.
    pub fn channel_bits(self, index: usize) -> (u32, u32) {
        let packed: [(u32, u32); 4] = match self {
            Self::Bits8 => return (8 * index as u32, 8),
            Self::Bits16 => return (16 * index as u32, 16),
            Self::Bits32 => return (32 * index as u32, 32),
            Self::Packed565 => [(11, 5), (5, 6), (0, 5), (0, 1)],
            Self::Packed555 => [(10, 5), (5, 5), (0, 5), (0, 1)],
            Self::Packed101010 => [(20, 10), (10, 10), (0, 10), (0, 1)],
            Self::Packed1010102 => [(22, 10), (12, 10), (2, 10), (0, 2)],
        };
        packed[index & 3]
    }
}

/// What the bits of a channel mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelNumbers {
    /// 0 to 1.
    Unorm,
    /// -1 to 1.
    Snorm,
    Signed,
    Unsigned,
    Float,
    /// Unorm, red, green and blue on the sRGB curve.
    Srgb,
}

/// Where a component of what is read comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadSource {
    /// A stored channel, 0 to 3.
    Stored(u8),
    Zero,
    One,
}

/// A texel format in 32 bits, decoded by generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexelFormat(pub u32);

impl TexelFormat {
    /// Bit and width of each part.
    pub const LOG2_BYTES: (u32, u32) = (0, 3);
    pub const LAYOUT: (u32, u32) = (3, 3);
    pub const NUMBERS: (u32, u32) = (6, 3);
    /// Four parts of 3 bits: a stored channel, or [`Self::READ_ZERO`], [`Self::READ_ONE`].
    pub const READ: (u32, u32) = (9, 3);
    /// Four parts of 2 bits: the component that goes to a stored channel.
    pub const WRITE: (u32, u32) = (21, 2);
    /// Whether the border colour's alpha is 1.
    pub const OPAQUE_BORDER: (u32, u32) = (29, 1);
    /// Whether linear samplers read it through its descriptor, and whether the others do too.
    pub const TEXTURED: (u32, u32) = (30, 1);
    pub const TEXTURED_NEAREST: (u32, u32) = (31, 1);
    pub const READ_ZERO: u32 = 4;
    pub const READ_ONE: u32 = 5;

    /// The format of texels of `texel_bytes` (1, 2, 4, 8 or 16).
    pub fn new(
        texel_bytes: u32,
        layout: ChannelLayout,
        numbers: ChannelNumbers,
        read: [ReadSource; 4],
        write: [u8; 4],
        opaque_border: bool,
    ) -> Self {
        let mut word = texel_bytes.trailing_zeros() << Self::LOG2_BYTES.0
            | (layout as u32) << Self::LAYOUT.0
            | (numbers as u32) << Self::NUMBERS.0
            | u32::from(opaque_border) << Self::OPAQUE_BORDER.0;
        for (index, source) in read.into_iter().enumerate() {
            let source = match source {
                ReadSource::Stored(channel) => u32::from(channel & 3),
                ReadSource::Zero => Self::READ_ZERO,
                ReadSource::One => Self::READ_ONE,
            };
            word |= source << (Self::READ.0 + Self::READ.1 * index as u32);
        }
        for (index, component) in write.into_iter().enumerate() {
            word |= u32::from(component & 3) << (Self::WRITE.0 + Self::WRITE.1 * index as u32);
        }
        Self(word)
    }

    /// The format of an image that has a descriptor; `nearest` says that texels are read through it too when none
    /// are mixed.
    pub fn textured(self, nearest: bool) -> Self {
        let nearest = u32::from(nearest) << Self::TEXTURED_NEAREST.0;
        Self(self.0 | 1 << Self::TEXTURED.0 | nearest)
    }
}

/// SPIR-V's `Sampler Addressing Mode` (section 3.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addressing {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    RepeatMirrored,
}

/// A sampler in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sampler(pub u32);

impl Sampler {
    pub const NORMALIZED: (u32, u32) = (0, 1);
    pub const ADDRESSING: (u32, u32) = (1, 3);
    pub const LINEAR: (u32, u32) = (4, 1);
    /// Whether texels of two mip levels are mixed.
    pub const MIP_LINEAR: (u32, u32) = (5, 1);
    /// Bounds of the level of detail, in 1/[`Self::LOD_UNIT`]: finer than any texture unit has them.
    pub const LOD_MIN: (u32, u32) = (6, 12);
    pub const LOD_MAX: (u32, u32) = (18, 12);
    pub const LOD_UNIT: f32 = 256.0;
    /// The low bits of a sampler are the index of its descriptor, but for the border colour's alpha, which is the
    /// bit above them.
    pub const DESCRIPTOR_BITS: u32 = 5;
    /// Descriptors of samplers.
    pub const DESCRIPTORS: u32 = 2 << Self::DESCRIPTOR_BITS;

    /// A sampler that reads the nearest of all mip levels.
    pub fn new(normalized: bool, addressing: Addressing, linear: bool) -> Self {
        Self(
            u32::from(normalized) << Self::NORMALIZED.0
                | (addressing as u32) << Self::ADDRESSING.0
                | u32::from(linear) << Self::LINEAR.0,
        )
        .with_levels(false, 0.0, f32::MAX)
    }

    /// The sampler with other settings for mip levels. Bounds that no image reaches stand for infinity.
    pub fn with_levels(self, linear: bool, lod_min: f32, lod_max: f32) -> Self {
        let most = (1_u32 << Self::LOD_MAX.1) - 1;
        // Saturates; NaN becomes 0.
        let fixed = |lod: f32| ((lod * Self::LOD_UNIT).round() as u32).min(most);
        let rest = self.0 & ((1 << Self::MIP_LINEAR.0) - 1);
        Self(
            rest | u32::from(linear) << Self::MIP_LINEAR.0
                | fixed(lod_min) << Self::LOD_MIN.0
                | fixed(lod_max) << Self::LOD_MAX.0,
        )
    }
}
