//! Image formats (section 5.3.1.1): what their texels are, which are supported, and colours as texels.

use super::encode;
use crate::compiler::image::{
    ChannelLayout, ChannelNumbers, ImageDimension, ReadSource, TexelFormat,
};
use opencl_sys as cl;
use opencl_sys::{cl_channel_order, cl_channel_type, cl_image_format};
use smallvec::SmallVec;

/// A format that images can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    order: cl_channel_order,
    channel_type: cl_channel_type,
    layout: ChannelLayout,
    numbers: ChannelNumbers,
    texel_bytes: u32,
}

/// What goes where: stored channels, where what is read comes from, which component each stored channel takes.
struct Order {
    order: cl_channel_order,
    channels: u32,
    read: [ReadSource; 4],
    write: [u8; 4],
}

const fn order(
    order: cl_channel_order,
    channels: u32,
    read: [ReadSource; 4],
    write: [u8; 4],
) -> Order {
    Order {
        order,
        channels,
        read,
        write,
    }
}

/// Supported channel orders. Those with an `x` are not among them: of their border colour the specification and
/// the conformance tests say different things.
const ORDERS: [Order; 15] = {
    use ReadSource::{One, Stored, Zero};
    const S0: ReadSource = Stored(0);
    const S1: ReadSource = Stored(1);
    const S2: ReadSource = Stored(2);
    const S3: ReadSource = Stored(3);
    const RGBA: [u8; 4] = [0, 1, 2, 3];
    [
        order(cl::CL_R, 1, [S0, Zero, Zero, One], RGBA),
        order(cl::CL_A, 1, [Zero, Zero, Zero, S0], [3, 0, 0, 0]),
        order(cl::CL_RG, 2, [S0, S1, Zero, One], RGBA),
        order(cl::CL_RA, 2, [S0, Zero, Zero, S1], [0, 3, 0, 0]),
        order(cl::CL_RGB, 3, [S0, S1, S2, One], RGBA),
        order(cl::CL_RGBA, 4, [S0, S1, S2, S3], RGBA),
        order(cl::CL_BGRA, 4, [S2, S1, S0, S3], [2, 1, 0, 3]),
        order(cl::CL_ARGB, 4, [S1, S2, S3, S0], [3, 0, 1, 2]),
        order(cl::CL_ABGR, 4, [S3, S2, S1, S0], [3, 2, 1, 0]),
        order(cl::CL_INTENSITY, 1, [S0, S0, S0, S0], RGBA),
        order(cl::CL_LUMINANCE, 1, [S0, S0, S0, One], RGBA),
        order(cl::CL_DEPTH, 1, [S0, Zero, Zero, One], RGBA),
        order(cl::CL_sRGB, 3, [S0, S1, S2, One], RGBA),
        order(cl::CL_sRGBA, 4, [S0, S1, S2, S3], RGBA),
        order(cl::CL_sBGRA, 4, [S2, S1, S0, S3], [2, 1, 0, 3]),
    ]
};

/// The channel type of depth and stencil in one, which no device here has.
const CL_UNORM_INT24: cl_channel_type = 0x10DF;

/// Every channel type but [`CL_UNORM_INT24`].
const TYPES: [(cl_channel_type, ChannelLayout, ChannelNumbers); 16] = {
    use ChannelLayout::{Bits8, Bits16, Bits32, Packed555, Packed565, Packed101010, Packed1010102};
    use ChannelNumbers::{Float, Signed, Snorm, Unorm, Unsigned};
    [
        (cl::CL_SNORM_INT8, Bits8, Snorm),
        (cl::CL_SNORM_INT16, Bits16, Snorm),
        (cl::CL_UNORM_INT8, Bits8, Unorm),
        (cl::CL_UNORM_INT16, Bits16, Unorm),
        (cl::CL_UNORM_SHORT_565, Packed565, Unorm),
        (cl::CL_UNORM_SHORT_555, Packed555, Unorm),
        (cl::CL_UNORM_INT_101010, Packed101010, Unorm),
        (cl::CL_UNORM_INT_101010_2, Packed1010102, Unorm),
        (cl::CL_SIGNED_INT8, Bits8, Signed),
        (cl::CL_SIGNED_INT16, Bits16, Signed),
        (cl::CL_SIGNED_INT32, Bits32, Signed),
        (cl::CL_UNSIGNED_INT8, Bits8, Unsigned),
        (cl::CL_UNSIGNED_INT16, Bits16, Unsigned),
        (cl::CL_UNSIGNED_INT32, Bits32, Unsigned),
        (cl::CL_HALF_FLOAT, Bits16, Float),
        (cl::CL_FLOAT, Bits32, Float),
    ]
};

/// Whether an order and a type go together (tables 10 and 11 of the specification, and those extensions that
/// are supported).
fn is_valid(order: cl_channel_order, channel_type: cl_channel_type) -> bool {
    let is_packed_rgb = matches!(
        channel_type,
        cl::CL_UNORM_SHORT_565 | cl::CL_UNORM_SHORT_555 | cl::CL_UNORM_INT_101010
    );
    match order {
        cl::CL_INTENSITY | cl::CL_LUMINANCE => matches!(
            channel_type,
            cl::CL_UNORM_INT8
                | cl::CL_UNORM_INT16
                | cl::CL_SNORM_INT8
                | cl::CL_SNORM_INT16
                | cl::CL_HALF_FLOAT
                | cl::CL_FLOAT
        ),
        cl::CL_RGB | cl::CL_RGBx => is_packed_rgb,
        cl::CL_ARGB | cl::CL_BGRA | cl::CL_ABGR => matches!(
            channel_type,
            cl::CL_UNORM_INT8 | cl::CL_SNORM_INT8 | cl::CL_SIGNED_INT8 | cl::CL_UNSIGNED_INT8
        ),
        cl::CL_DEPTH => matches!(channel_type, cl::CL_UNORM_INT16 | cl::CL_FLOAT),
        cl::CL_sRGB | cl::CL_sRGBx | cl::CL_sRGBA | cl::CL_sBGRA => {
            channel_type == cl::CL_UNORM_INT8
        }
        cl::CL_RGBA => !is_packed_rgb,
        _ => !is_packed_rgb && channel_type != cl::CL_UNORM_INT_101010_2,
    }
}

/// Whether `format` names an order and a type that exist and go together.
pub fn is_format(format: cl_image_format) -> bool {
    // From CL_R to CL_ABGR all are orders.
    let known = (cl::CL_R..=cl::CL_ABGR).contains(&format.image_channel_order);
    let known_type = TYPES
        .iter()
        .any(|(known, ..)| *known == format.image_channel_data_type)
        || format.image_channel_data_type == CL_UNORM_INT24;
    known && known_type && is_valid(format.image_channel_order, format.image_channel_data_type)
}

impl Format {
    /// The format, if images of this dimension can have it.
    pub fn supported(format: cl_image_format, dimension: ImageDimension) -> Option<Self> {
        let (order, channel_type) = (format.image_channel_order, format.image_channel_data_type);
        let described = ORDERS.iter().find(|known| known.order == order)?;
        let &(_, layout, numbers) = TYPES.iter().find(|(known, ..)| *known == channel_type)?;
        if !is_valid(order, channel_type) {
            return None;
        }
        // "CL_DEPTH … can only be used if … image is a 2D image or 2D image array."
        let is_2d = matches!(dimension, ImageDimension::Two | ImageDimension::TwoArray);
        if order == cl::CL_DEPTH && !is_2d {
            return None;
        }
        let is_srgb = matches!(
            order,
            cl::CL_sRGB | cl::CL_sRGBx | cl::CL_sRGBA | cl::CL_sBGRA
        );
        let texel_bytes = match layout {
            ChannelLayout::Bits8 => described.channels,
            ChannelLayout::Bits16 => 2 * described.channels,
            ChannelLayout::Bits32 => 4 * described.channels,
            ChannelLayout::Packed565 | ChannelLayout::Packed555 => 2,
            ChannelLayout::Packed101010 | ChannelLayout::Packed1010102 => 4,
        };
        // Texels that straddle words are none that the generated code reads.
        texel_bytes.is_power_of_two().then_some(Self {
            order,
            channel_type,
            layout,
            numbers: if is_srgb {
                ChannelNumbers::Srgb
            } else {
                numbers
            },
            texel_bytes,
        })
    }

    /// All formats of images of a dimension.
    pub fn all(dimension: ImageDimension) -> impl Iterator<Item = Self> {
        ORDERS.iter().flat_map(move |order| {
            TYPES.iter().filter_map(move |(channel_type, ..)| {
                let format = cl_image_format {
                    image_channel_order: order.order,
                    image_channel_data_type: *channel_type,
                };
                Self::supported(format, dimension)
            })
        })
    }

    /// The format as the application names it.
    pub fn describe(&self) -> cl_image_format {
        cl_image_format {
            image_channel_order: self.order,
            image_channel_data_type: self.channel_type,
        }
    }

    pub fn order(&self) -> cl_channel_order {
        self.order
    }

    pub fn channel_type(&self) -> cl_channel_type {
        self.channel_type
    }

    /// `CL_IMAGE_ELEMENT_SIZE`
    pub fn texel_bytes(&self) -> usize {
        self.texel_bytes as usize
    }

    pub fn numbers(&self) -> ChannelNumbers {
        self.numbers
    }

    /// Number and width of the channels, and whether blue is the first, of a texel with red, green, blue and
    /// alpha in that order, or the first of them, each read as it is stored.
    pub fn plain_channels(&self) -> Option<(u32, u32, bool)> {
        let bits = match self.layout {
            ChannelLayout::Bits8 => 8,
            ChannelLayout::Bits16 => 16,
            ChannelLayout::Bits32 => 32,
            _ => return None,
        };
        match self.order {
            cl::CL_R | cl::CL_DEPTH => Some((1, bits, false)),
            cl::CL_RG => Some((2, bits, false)),
            cl::CL_RGBA | cl::CL_sRGBA => Some((4, bits, false)),
            cl::CL_BGRA | cl::CL_sBGRA => Some((4, bits, true)),
            _ => None,
        }
    }

    pub fn is_depth(&self) -> bool {
        self.order == cl::CL_DEPTH
    }

    /// Bytes of a fill colour: four components, or one for depth.
    pub fn color_bytes(&self) -> usize {
        if self.is_depth() { 4 } else { 16 }
    }

    /// The format as generated code knows it.
    pub fn texel_format(&self) -> TexelFormat {
        let order = self.channels();
        TexelFormat::new(
            self.texel_bytes,
            self.layout,
            self.numbers,
            order.read,
            order.write,
            // Section 8.1.2 "Border Color": "If the image channel order is CL_A, CL_INTENSITY, CL_Rx, CL_RA,
            // CL_RGx, CL_RGBx, CL_sRGBx, CL_ARGB, CL_BGRA, CL_ABGR, CL_RGBA, CL_sRGBA or CL_sBGRA, the border
            // color is (0, 0, 0, 0). If … CL_R, CL_RG, CL_RGB, or CL_LUMINANCE, … (0, 0, 0, 1)."
            matches!(
                self.order,
                cl::CL_R | cl::CL_RG | cl::CL_RGB | cl::CL_LUMINANCE
            ),
        )
    }

    /// The texel that a fill colour becomes: `color` holds the bits of four floats, of four signed or unsigned
    /// integers, or of one float for depth.
    pub fn texel(&self, color: [u32; 4]) -> SmallVec<[u8; 16]> {
        let order = self.channels();
        let mut words = [0_u32; 4];
        for index in 0..4 {
            let (bit, width) = self.layout.channel_bits(index);
            if bit >= 8 * self.texel_bytes || width == 1 {
                continue;
            }
            let component = color[usize::from(order.write[index] & 3)];
            let bits = encode::channel(self.numbers, width, component, index == 3);
            words[(bit / 32) as usize] |= bits << (bit % 32);
        }
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(self.texel_bytes as usize).collect()
    }

    fn channels(&self) -> &'static Order {
        ORDERS
            .iter()
            .find(|known| known.order == self.order)
            .unwrap_or(&ORDERS[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(order: cl_channel_order, channel_type: cl_channel_type) -> Option<Format> {
        let format = cl_image_format {
            image_channel_order: order,
            image_channel_data_type: channel_type,
        };
        Format::supported(format, ImageDimension::Two)
    }

    #[test]
    fn every_mandatory_format_is_supported() {
        // Section 5.3.2.1, table "Minimum list of required image formats": read and write.
        let rgba = [
            cl::CL_UNORM_INT8,
            cl::CL_UNORM_INT16,
            cl::CL_SIGNED_INT8,
            cl::CL_SIGNED_INT16,
            cl::CL_SIGNED_INT32,
            cl::CL_UNSIGNED_INT8,
            cl::CL_UNSIGNED_INT16,
            cl::CL_UNSIGNED_INT32,
            cl::CL_HALF_FLOAT,
            cl::CL_FLOAT,
        ];
        for order in [cl::CL_R, cl::CL_RG, cl::CL_RGBA] {
            for channel_type in rgba {
                assert!(format(order, channel_type).is_some());
            }
        }
        assert!(format(cl::CL_BGRA, cl::CL_UNORM_INT8).is_some());
        assert!(format(cl::CL_sRGBA, cl::CL_UNORM_INT8).is_some());
        assert!(format(cl::CL_DEPTH, cl::CL_FLOAT).is_some());
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        assert!(format(cl::CL_RGB, cl::CL_UNORM_INT8).is_none());
        assert!(format(cl::CL_INTENSITY, cl::CL_SIGNED_INT8).is_none());
        assert!(format(cl::CL_BGRA, cl::CL_FLOAT).is_none());
        let depth = cl_image_format {
            image_channel_order: cl::CL_DEPTH,
            image_channel_data_type: cl::CL_FLOAT,
        };
        assert!(Format::supported(depth, ImageDimension::Three).is_none());
    }

    #[test]
    fn texels_have_power_of_two_sizes_up_to_16_bytes() {
        for format in Format::all(ImageDimension::Two) {
            assert!([1, 2, 4, 8, 16].contains(&format.texel_bytes()));
            let order = format.channels();
            let stored = 8 * format.texel_bytes() as u32;
            for source in order.read {
                if let ReadSource::Stored(index) = source {
                    let (bit, width) = format.layout.channel_bits(index.into());
                    assert!(bit + width <= stored, "{format:?}");
                }
            }
        }
    }

    #[test]
    fn fill_colours_become_texels() {
        let float = |values: [f32; 4]| values.map(f32::to_bits);
        let bgra = format(cl::CL_BGRA, cl::CL_UNORM_INT8).unwrap();
        assert_eq!(
            bgra.texel(float([1.0, 0.5, 0.0, 2.0])).as_slice(),
            [0, 128, 255, 255]
        );
        let packed = format(cl::CL_RGB, cl::CL_UNORM_SHORT_565).unwrap();
        assert_eq!(
            packed.texel(float([1.0, 0.0, 1.0, 0.0])).as_slice(),
            0xf81f_u16.to_le_bytes()
        );
        let ra = format(cl::CL_RA, cl::CL_SIGNED_INT8).unwrap();
        let color = [-300_i32, 1, 2, 7].map(|value| value as u32);
        assert_eq!(ra.texel(color).as_slice(), [0x80, 7]);
        let half = format(cl::CL_A, cl::CL_HALF_FLOAT).unwrap();
        assert_eq!(
            half.texel(float([0.0, 0.0, 0.0, -2.0])).as_slice(),
            [0, 0xc0]
        );
    }
}
