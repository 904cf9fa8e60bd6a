//! From a texel's bits to its components.

use super::{EXACT, function};
use crate::compiler::image::{ChannelLayout, ChannelNumbers, TexelFormat};
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Convert, Edge, Function, Op, Place, Terminator,
    Type, Value, Values,
};
use smallvec::smallvec;

/// `GLSL.std.450` `Pow`
pub(super) const POW: u32 = 26;

/// The bits of a [`TexelFormat`] or sampler at (bit, width).
pub(super) fn bits(b: &mut Builder<'_>, word: Value, (bit, width): (u32, u32)) -> Value {
    let shifted = match bit {
        0 => word,
        _ => b.binary_const(Binary::LShr, word, bit.into()),
    };
    b.binary_const(Binary::And, shifted, (1u64 << width) - 1)
}

/// Whether an I32 has a value.
pub(super) fn is(b: &mut Builder<'_>, value: Value, wanted: u32) -> Value {
    let wanted = b.i32(wanted);
    b.compare(Compare::Equal, value, wanted)
}

/// What generated code asks of a format.
pub(super) struct Format {
    word: Value,
    pub log2_bytes: Value,
    /// By [`ChannelLayout::ALL`]: whether it is that.
    layouts: [Value; ChannelLayout::ALL.len()],
    numbers: Value,
}

impl Format {
    pub fn new(b: &mut Builder<'_>, word: Value) -> Self {
        let layout = bits(b, word, TexelFormat::LAYOUT);
        Self {
            word,
            log2_bytes: bits(b, word, TexelFormat::LOG2_BYTES),
            layouts: ChannelLayout::ALL.map(|each| is(b, layout, each as u32)),
            numbers: bits(b, word, TexelFormat::NUMBERS),
        }
    }

    pub fn has_numbers(&self, b: &mut Builder<'_>, numbers: ChannelNumbers) -> Value {
        is(b, self.numbers, numbers as u32)
    }

    pub fn has_layout(&self, layout: ChannelLayout) -> Value {
        self.layouts[layout as usize]
    }

    /// The value for the format's layout.
    pub fn by_layout(
        &self,
        b: &mut Builder<'_>,
        mut value: impl FnMut(&mut Builder<'_>, ChannelLayout) -> Value,
    ) -> Value {
        let mut chosen = value(b, ChannelLayout::Bits8);
        for layout in ChannelLayout::ALL.into_iter().skip(1) {
            let other = value(b, layout);
            if other != chosen {
                chosen = b.select(self.has_layout(layout), other, chosen);
            }
        }
        chosen
    }

    /// Part `index` of a list of equal parts.
    pub fn part(&self, b: &mut Builder<'_>, first: (u32, u32), index: usize) -> Value {
        bits(b, self.word, (first.0 + first.1 * index as u32, first.1))
    }
}

/// The largest number of a channel of so many bits; of 32, which are never normalized, any.
pub(super) fn unorm_max(width: u32) -> u32 {
    (1 << width.min(16)) - 1
}

/// (address, offset in bytes, format) → four components: a texel of `texel` numbers.
pub(super) fn load_texel(texel: Type) -> Function {
    let mut function = function(format!("load_texel.{texel}"), vec![texel; 4]);
    let entry = function.entry();
    let address = function.add_param(entry, Type::Ptr(AddressSpace::Global));
    let offset = function.add_param(entry, Type::I32);
    let format = function.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    b.flags = EXACT;
    let format = Format::new(&mut b, format);
    let words = load_words(&mut b, address, offset, &format);

    let channels: Vec<Value> = (0..4)
        .map(|index| {
            let raw = channel(&mut b, &format, &words, index);
            match texel {
                Type::F32 => float_channel(&mut b, &format, raw, words[index], index),
                _ => {
                    let signed = sign_extend(&mut b, &format, raw);
                    let is_signed = format.has_numbers(&mut b, ChannelNumbers::Signed);
                    b.select(is_signed, signed, raw)
                }
            }
        })
        .collect();
    let (zero, one) = zero_and_one(&mut b, texel);
    let components: Values = (0..4)
        .map(|component| {
            let source = format.part(&mut b, TexelFormat::READ, component);
            let is_one = is(&mut b, source, TexelFormat::READ_ONE);
            let mut value = b.select(is_one, one, zero);
            for (index, &channel) in channels.iter().enumerate() {
                let is_this = is(&mut b, source, index as u32);
                value = b.select(is_this, channel, value);
            }
            value
        })
        .collect();
    b.terminate(Terminator::Return(components));
    function
}

pub(super) fn zero_and_one(b: &mut Builder<'_>, texel: Type) -> (Value, Value) {
    match texel {
        Type::F32 => (b.f32(0.0), b.f32(1.0)),
        _ => (b.i32(0), b.i32(1)),
    }
}

/// Four words: of a texel of less than one the first holds it, from bit 0; of words beyond the texel's the
/// contents mean nothing. Larger texels lie at multiples of their size.
fn load_words(b: &mut Builder<'_>, address: Value, offset: Value, format: &Format) -> [Value; 4] {
    let from = b.block();
    let end = b.function.add_block();
    let words = [(); 4].map(|()| b.function.add_param(end, Type::I32));
    let mut cases: Vec<(u64, Edge)> = Vec::new();
    for (log2_bytes, count) in [(3, 2), (4, 4)] {
        let block = b.function.add_block();
        b.switch_to(block);
        let offset = b.convert(Convert::ZeroExtend, offset, Type::I64);
        let pointer = Place::Pointer(b.ptr_add(address, offset));
        let access = Access::aligned(1 << log2_bytes);
        let mut loaded = b.load(pointer, Type::I32, count, access);
        let zero = b.i32(0);
        loaded.resize(words.len(), zero);
        b.jump(Edge::new(end, loaded));
        cases.push((log2_bytes, Edge::from(block)));
    }
    let narrow = b.function.add_block();
    b.switch_to(narrow);
    let aligned = b.binary_const(Binary::And, offset, !3);
    let aligned = b.convert(Convert::ZeroExtend, aligned, Type::I64);
    let pointer = Place::Pointer(b.ptr_add(address, aligned));
    let word = b.load1(pointer, Type::I32, Access::aligned(4));
    let within = b.binary_const(Binary::And, offset, 3);
    let shift = b.binary_const(Binary::Shl, within, 3);
    let word = b.binary(Binary::LShr, word, shift);
    let zero = b.i32(0);
    b.jump(Edge::new(end, [word, zero, zero, zero]));
    b.switch_to(from);
    b.terminate(Terminator::Switch {
        value: format.log2_bytes,
        cases,
        default: narrow.into(),
    });
    b.switch_to(end);
    words
}

/// The bits of stored channel `index`, zero-extended.
fn channel(b: &mut Builder<'_>, format: &Format, words: &[Value; 4], index: usize) -> Value {
    format.by_layout(b, |b, layout| {
        let (bit, width) = layout.channel_bits(index);
        let word = words[(bit / 32) as usize];
        match width {
            32 => word,
            _ => bits(b, word, (bit % 32, width)),
        }
    })
}

/// Signed numbers have 8, 16 or 32 bits.
fn sign_extend(b: &mut Builder<'_>, format: &Format, raw: Value) -> Value {
    let [none, by_16, by_24] = [0, 16, 24].map(|by| b.i32(by));
    let unused = b.select(format.has_layout(ChannelLayout::Bits16), by_16, by_24);
    let unused = b.select(format.has_layout(ChannelLayout::Bits32), none, unused);
    let up = b.binary(Binary::Shl, raw, unused);
    b.binary(Binary::AShr, up, unused)
}

/// The number that a channel's bits stand for.
fn float_channel(
    b: &mut Builder<'_>,
    format: &Format,
    raw: Value,
    word: Value,
    index: usize,
) -> Value {
    // Times the reciprocal: within 1.5 ulp, as the specification asks, and exactly 1 at the top.
    let unorm = {
        let scale = format.by_layout(b, |b, layout| {
            b.f32(1.0 / unorm_max(layout.channel_bits(index).1) as f32)
        });
        let number = b.convert(Convert::UnsignedToFloat(None), raw, Type::F32);
        b.binary(Binary::FMul, number, scale)
    };
    let snorm = {
        let is_16 = format.has_layout(ChannelLayout::Bits16);
        let signed = sign_extend(b, format, raw);
        let (wide, narrow) = (b.f32(1.0 / 32767.0), b.f32(1.0 / 127.0));
        let scale = b.select(is_16, wide, narrow);
        let number = b.convert(Convert::SignedToFloat(None), signed, Type::F32);
        let scaled = b.binary(Binary::FMul, number, scale);
        // The two lowest are -1.
        let minus_one = b.f32(-1.0);
        b.binary(Binary::FMax, scaled, minus_one)
    };
    let float = {
        let half = b.convert(Convert::Truncate, raw, Type::I16);
        let half = b.bitcast(half, Type::F16);
        let half = b.convert(Convert::FloatToFloat(None), half, Type::F32);
        let single = b.bitcast(word, Type::F32);
        b.select(format.has_layout(ChannelLayout::Bits16), half, single)
    };
    let is_float = format.has_numbers(b, ChannelNumbers::Float);
    let is_snorm = format.has_numbers(b, ChannelNumbers::Snorm);
    let value = b.select(is_snorm, snorm, unorm);
    let value = b.select(is_float, float, value);
    // Alpha, always the fourth in memory, is linear.
    if index == 3 {
        return value;
    }
    let linear = linear_of_srgb(b, unorm);
    let is_srgb = format.has_numbers(b, ChannelNumbers::Srgb);
    b.select(is_srgb, linear, value)
}

/// OpenCL specification, section 8.3.1.1 "Conversion rules for sRGB channel order".
fn linear_of_srgb(b: &mut Builder<'_>, c: Value) -> Value {
    let scale = b.f32(1.0 / 12.92);
    let low = b.binary(Binary::FMul, c, scale);
    let shift = b.f32(0.055);
    let shifted = b.binary(Binary::FAdd, c, shift);
    let scale = b.f32(1.0 / 1.055);
    let base = b.binary(Binary::FMul, shifted, scale);
    let exponent = b.f32(2.4);
    let high = b.op1(Op::Glsl(POW, smallvec![base, exponent]), Type::F32);
    let limit = b.f32(0.04045);
    let is_low = b.compare(Compare::FOrdLessEqual, c, limit);
    b.select(is_low, low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_number_of_every_width_is_one() {
        for width in [1, 2, 5, 6, 7, 8, 10, 15, 16] {
            let max = unorm_max(width) as f32;
            assert_eq!(max * (1.0 / max), 1.0, "{width} bits");
        }
    }
}
