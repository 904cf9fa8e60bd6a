//! Numbers as channels of texels, on the host: the conversions of section 8.3.

use crate::compiler::image::ChannelNumbers;

/// The bits of a component in a channel of `width` bits; `linear` for alpha, which no curve bends.
pub(super) fn channel(numbers: ChannelNumbers, width: u32, component: u32, linear: bool) -> u32 {
    let mask = u32::MAX >> (32 - width.clamp(1, 32));
    let number = f32::from_bits(component);
    match numbers {
        ChannelNumbers::Unorm => unorm(number, mask),
        ChannelNumbers::Srgb if linear => unorm(number, mask),
        ChannelNumbers::Srgb => unorm(srgb_of_linear(number), mask),
        ChannelNumbers::Snorm => {
            let most = f64::from(mask >> 1);
            let scaled = (f64::from(zero_if_nan(number)) * most).clamp(-most, most);
            scaled.round_ties_even() as i32 as u32 & mask
        }
        ChannelNumbers::Signed => {
            let most = (mask >> 1) as i32;
            (component as i32).clamp(-most - 1, most) as u32 & mask
        }
        ChannelNumbers::Unsigned => component.min(mask),
        ChannelNumbers::Float if width == 16 => u32::from(half(number)),
        ChannelNumbers::Float => component,
    }
}

fn zero_if_nan(number: f32) -> f32 {
    if number.is_nan() { 0.0 } else { number }
}

fn unorm(number: f32, mask: u32) -> u32 {
    let most = f64::from(mask);
    let scaled = (f64::from(zero_if_nan(number)) * most).clamp(0.0, most);
    scaled.round_ties_even() as u32
}

/// Section 8.3.1.1 "Conversion rules for sRGB channel order".
fn srgb_of_linear(number: f32) -> f32 {
    let c = f64::from(zero_if_nan(number)).clamp(0.0, 1.0);
    let curved = if c < 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    };
    curved as f32
}

/// To half precision, to the nearest even.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return sign | 0x7e00;
    }
    if magnitude >= 0x4780_0000 {
        return sign | 0x7c00;
    }
    // The exponent of the last bit kept: -24 for denormals.
    let exponent = (magnitude >> 23).max(113) as i32 - 127 - 10;
    let units = (f64::from(f32::from_bits(magnitude)) / 2f64.powi(exponent)).round_ties_even();
    // Counted from the least denormal, halves are evenly numbered.
    let binade = ((exponent + 24) as u32) << 10;
    sign | (binade + units as u32) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_rounded_to_even() {
        for (number, expected) in [
            (0.0, 0),
            (1.0, 0x3c00),
            (-1.5, 0xbe00),
            (65504.0, 0x7bff),
            (65519.9, 0x7bff),
            (65520.0, 0x7c00),
            (1e9, 0x7c00),
            (f32::NEG_INFINITY, 0xfc00),
            (5.960_464_5e-8, 1),
            (2.980_232_2e-8, 0),
            (6.103_515_6e-5, 0x0400),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
        ] {
            assert_eq!(half(number), expected, "{number}");
        }
    }

    #[test]
    fn numbers_are_saturated_and_rounded() {
        let unorm8 = |x: f32| channel(ChannelNumbers::Unorm, 8, x.to_bits(), false);
        assert_eq!([unorm8(-1.0), unorm8(0.5), unorm8(7.0)], [0, 128, 255]);
        assert_eq!(unorm8(f32::NAN), 0);
        let snorm8 = |x: f32| channel(ChannelNumbers::Snorm, 8, x.to_bits(), false);
        assert_eq!(
            [snorm8(-1.0), snorm8(1.0), snorm8(-9.0)],
            [0x81, 0x7f, 0x81]
        );
        let srgb = |x: f32| channel(ChannelNumbers::Srgb, 8, x.to_bits(), false);
        assert_eq!([srgb(0.0), srgb(0.214_041_14), srgb(1.0)], [0, 128, 255]);
        let signed = |x: i32| channel(ChannelNumbers::Signed, 16, x as u32, false);
        assert_eq!([signed(-40_000), signed(40_000)], [0x8000, 0x7fff]);
        assert_eq!(
            channel(ChannelNumbers::Unsigned, 32, 0xffff_ffff, false),
            u32::MAX
        );
    }
}
