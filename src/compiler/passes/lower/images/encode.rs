//! Writes: from components to a texel's bits, and to memory.

use super::addressing::Image;
use super::decode::{Format, POW, is, unorm_max};
use super::{EXACT, function};
use crate::compiler::image::{ChannelLayout, ChannelNumbers, ImageField, TexelFormat};
use crate::compiler::ir::{
    Access, Binary, Builder, Compare, Convert, Edge, Function, ImageAccess, Op, Place, Rounding,
    Terminator, Type, Unary, Value, Values,
};
use smallvec::smallvec;

/// (image, coordinates, four components) → nothing. Outside of the image nothing is written.
pub(super) fn write(access: ImageAccess) -> Function {
    let name = format!("write_image.{:?}.{}", access.dimension, access.texel);
    let mut function = function(name, Vec::new());
    let entry = function.entry();
    let image = Image::params(&mut function);
    let place: Vec<Value> = (0..access.dimension.coordinates())
        .map(|_| function.add_param(entry, Type::I32))
        .collect();
    let components: Vec<Value> = (0..4)
        .map(|_| function.add_param(entry, access.texel))
        .collect();

    let mut b = Builder::new(&mut function, entry);
    b.flags = EXACT;
    let format = Format::new(&mut b, image.field(ImageField::Format));
    let mut inside = b.bool(true);
    for (index, &at) in place.iter().enumerate() {
        let is_layer = index == access.dimension.axes();
        let size = if is_layer {
            image.field(ImageField::Depth)
        } else {
            image.size(index)
        };
        let within = b.compare(Compare::ULess, at, size);
        inside = b.binary(Binary::And, inside, within);
    }
    let (store, end) = (b.function.add_block(), b.function.add_block());
    b.branch(inside, store, end);

    b.switch_to(store);
    let offset = image.offset(&mut b, access.dimension, &place, format.log2_bytes);
    let offset = b.convert(Convert::ZeroExtend, offset, Type::I64);
    let pointer = b.ptr_add(image.field(ImageField::Address), offset);
    let channels: Vec<Value> = (0..4)
        .map(|index| {
            let source = format.part(&mut b, TexelFormat::WRITE, index);
            let mut value = components[0];
            for (component, &other) in components.iter().enumerate().skip(1) {
                let is_this = is(&mut b, source, component as u32);
                value = b.select(is_this, other, value);
            }
            match access.texel {
                Type::F32 => float_channel(&mut b, &format, value, index),
                _ => integer_channel(&mut b, &format, value),
            }
        })
        .collect();
    let words = pack(&mut b, &format, &channels);
    store_words(&mut b, pointer, &words, format.log2_bytes, end);

    b.switch_to(end);
    b.terminate(Terminator::Return(Values::new()));
    function
}

/// A number's bits in a channel; those above the channel's width are 0 but for 32-bit channels.
fn float_channel(b: &mut Builder<'_>, format: &Format, value: Value, index: usize) -> Value {
    let (zero, one, minus_one) = (b.f32(0.0), b.f32(1.0), b.f32(-1.0));
    let to_nearest = Some(Rounding::Rte);
    // NaN becomes 0, as where floats are converted to integers.
    let is_nan = b.unary(Unary::IsNan, value);
    let number = b.select(is_nan, zero, value);
    let upper = b.binary(Binary::FMin, number, one);
    let unorm = {
        let limited = b.binary(Binary::FMax, upper, zero);
        // Alpha, always the fourth in memory, is linear.
        let curved = match index {
            3 => limited,
            _ => {
                let srgb = srgb_of_linear(b, limited);
                let is_srgb = format.has_numbers(b, ChannelNumbers::Srgb);
                b.select(is_srgb, srgb, limited)
            }
        };
        let max = format.by_layout(b, |b, layout| {
            b.f32(unorm_max(layout.channel_bits(index).1) as f32)
        });
        let scaled = b.binary(Binary::FMul, curved, max);
        let convert = Convert::FloatToUnsigned {
            rounding: to_nearest,
            saturate: false,
        };
        b.convert(convert, scaled, Type::I32)
    };
    let snorm = {
        let limited = b.binary(Binary::FMax, upper, minus_one);
        let (wide, narrow) = (b.f32(32767.0), b.f32(127.0));
        let is_16 = format.has_layout(ChannelLayout::Bits16);
        let max = b.select(is_16, wide, narrow);
        let scaled = b.binary(Binary::FMul, limited, max);
        let convert = Convert::FloatToSigned {
            rounding: to_nearest,
            saturate: false,
        };
        let number = b.convert(convert, scaled, Type::I32);
        let (wide, narrow) = (b.i32(0xffff), b.i32(0xff));
        let mask = b.select(is_16, wide, narrow);
        b.binary(Binary::And, number, mask)
    };
    let float = {
        let half = b.convert(Convert::FloatToFloat(to_nearest), value, Type::F16);
        let half = b.bitcast(half, Type::I16);
        let half = b.convert(Convert::ZeroExtend, half, Type::I32);
        let single = b.bitcast(value, Type::I32);
        b.select(format.has_layout(ChannelLayout::Bits16), half, single)
    };
    let is_float = format.has_numbers(b, ChannelNumbers::Float);
    let is_snorm = format.has_numbers(b, ChannelNumbers::Snorm);
    let value = b.select(is_snorm, snorm, unorm);
    b.select(is_float, float, value)
}

/// OpenCL specification, section 8.3.1.1 "Conversion rules for sRGB channel order".
fn srgb_of_linear(b: &mut Builder<'_>, c: Value) -> Value {
    let scale = b.f32(12.92);
    let low = b.binary(Binary::FMul, c, scale);
    let exponent = b.f32(1.0 / 2.4);
    let power = b.op1(Op::Glsl(POW, smallvec![c, exponent]), Type::F32);
    let scale = b.f32(1.055);
    let scaled = b.binary(Binary::FMul, power, scale);
    let shift = b.f32(0.055);
    let high = b.binary(Binary::FSub, scaled, shift);
    let limit = b.f32(0.0031308);
    let is_low = b.compare(Compare::FOrdLess, c, limit);
    b.select(is_low, low, high)
}

/// An integer's bits in a channel: what does not fit is saturated.
fn integer_channel(b: &mut Builder<'_>, format: &Format, value: Value) -> Value {
    let is_16 = format.has_layout(ChannelLayout::Bits16);
    let limit = |b: &mut Builder<'_>, wide: i32, narrow: i32| {
        let (wide, narrow) = (b.i32(wide as u32), b.i32(narrow as u32));
        b.select(is_16, wide, narrow)
    };
    let mask = limit(b, 0xffff, 0xff);
    let most = limit(b, 0x7fff, 0x7f);
    let least = limit(b, -0x8000, -0x80);
    let signed = b.binary(Binary::SMin, value, most);
    let signed = b.binary(Binary::SMax, signed, least);
    let signed = b.binary(Binary::And, signed, mask);
    let unsigned = b.binary(Binary::UMin, value, mask);
    let is_signed = format.has_numbers(b, ChannelNumbers::Signed);
    let narrow = b.select(is_signed, signed, unsigned);
    b.select(format.has_layout(ChannelLayout::Bits32), value, narrow)
}

/// The texel's words; those beyond its size mean nothing.
fn pack(b: &mut Builder<'_>, format: &Format, channels: &[Value]) -> [Value; 4] {
    [0, 1, 2, 3].map(|word| {
        let zero = b.i32(0);
        format.by_layout(b, |b, layout| {
            let mut packed = zero;
            for (index, &channel) in channels.iter().enumerate() {
                let (bit, width) = layout.channel_bits(index);
                let is_absent = width == 1;
                if bit / 32 != word || is_absent {
                    continue;
                }
                let placed = match bit % 32 {
                    0 => channel,
                    by => b.binary_const(Binary::Shl, channel, by.into()),
                };
                packed = if packed == zero {
                    placed
                } else {
                    b.binary(Binary::Or, packed, placed)
                };
            }
            packed
        })
    })
}

/// Stores as many bytes as a texel has, and goes to `end`.
fn store_words(
    b: &mut Builder<'_>,
    pointer: Value,
    words: &[Value; 4],
    log2_bytes: Value,
    end: crate::compiler::ir::Block,
) {
    let from = b.block();
    let mut cases: Vec<(u64, Edge)> = Vec::new();
    for log2 in 0..5u32 {
        let block = b.function.add_block();
        b.switch_to(block);
        let (values, align_bytes): (Values, u32) = match log2 {
            0 => (
                smallvec![b.convert(Convert::Truncate, words[0], Type::I8)],
                1,
            ),
            1 => (
                smallvec![b.convert(Convert::Truncate, words[0], Type::I16)],
                2,
            ),
            2 => (smallvec![words[0]], 4),
            // Texels lie at multiples of their size.
            3 => (smallvec![words[0], words[1]], 8),
            _ => (words.iter().copied().collect(), 16),
        };
        b.store(
            Place::Pointer(pointer),
            values,
            Access::aligned(align_bytes),
        );
        b.jump(end);
        cases.push((log2.into(), Edge::from(block)));
    }
    b.switch_to(from);
    b.terminate(Terminator::Switch {
        value: log2_bytes,
        cases,
        default: end.into(),
    });
}
