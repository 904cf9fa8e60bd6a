//! From coordinates to places in an image.

use super::decode::{bits, is};
use crate::compiler::image::{Addressing, ImageDimension, ImageField, Sampler};
use crate::compiler::ir::{Binary, Builder, Compare, Convert, Function, Op, Type, Value, Values};
use crate::compiler::parse::image_field_type;
use smallvec::smallvec;

/// `GLSL.std.450`
const ROUND_EVEN: u32 = 2;
const FABS: u32 = 4;
pub(super) const FLOOR: u32 = 8;

/// The scalars of an image as parameters of a function.
pub(super) struct Image {
    fields: Vec<Value>,
}

impl Image {
    /// Adds the parameters.
    pub fn params(function: &mut Function) -> Self {
        let entry = function.entry();
        let fields =
            ImageField::ALL.map(|field| function.add_param(entry, image_field_type(field)));
        Self {
            fields: fields.to_vec(),
        }
    }

    pub fn field(&self, field: ImageField) -> Value {
        self.fields[field.index()]
    }

    /// Sizes along x, y, z, those that the dimension has; then the number of layers.
    pub fn size(&self, axis: usize) -> Value {
        self.field([ImageField::Width, ImageField::Height, ImageField::Depth][axis.min(2)])
    }

    /// Byte offset of the texel at (x, y, z): as many as the image has axes, then the layer.
    pub fn offset(
        &self,
        b: &mut Builder<'_>,
        dimension: ImageDimension,
        place: &[Value],
        log2_bytes: Value,
    ) -> Value {
        let mut offset = b.binary(Binary::Shl, place[0], log2_bytes);
        for (index, &at) in place.iter().enumerate().skip(1) {
            let is_row = index == 1 && dimension != ImageDimension::OneArray;
            let pitch = self.field(if is_row {
                ImageField::RowPitch
            } else {
                ImageField::SlicePitch
            });
            let moved = b.binary(Binary::Mul, at, pitch);
            offset = b.binary(Binary::Add, offset, moved);
        }
        offset
    }
}

/// What generated code asks of a sampler.
pub(super) struct Modes {
    normalized: Value,
    pub linear: Value,
    /// `CLK_ADDRESS_CLAMP`: texels outside have the border colour.
    pub border: Value,
    repeat: Value,
    mirror: Value,
}

impl Modes {
    pub fn new(b: &mut Builder<'_>, sampler: Value) -> Self {
        let normalized = bits(b, sampler, Sampler::NORMALIZED);
        let linear = bits(b, sampler, Sampler::LINEAR);
        let addressing = bits(b, sampler, Sampler::ADDRESSING);
        Self {
            normalized: is(b, normalized, 1),
            linear: is(b, linear, 1),
            border: is(b, addressing, Addressing::Clamp as u32),
            repeat: is(b, addressing, Addressing::Repeat as u32),
            mirror: is(b, addressing, Addressing::RepeatMirrored as u32),
        }
    }

    /// The coordinate in texels, by the formulas of section 8.2 "Image Addressing and Filtering", before it
    /// is rounded. `size` as a float.
    fn unfold(&self, b: &mut Builder<'_>, coordinate: Value, size: Value) -> Value {
        let scaled = b.binary(Binary::FMul, coordinate, size);
        let plain = b.select(self.normalized, scaled, coordinate);

        let whole = glsl(b, FLOOR, coordinate);
        let fraction = b.binary(Binary::FSub, coordinate, whole);
        let repeated = b.binary(Binary::FMul, fraction, size);

        let half = b.f32(0.5);
        let halved = b.binary(Binary::FMul, coordinate, half);
        let nearest = glsl(b, ROUND_EVEN, halved);
        let two = b.f32(2.0);
        let even = b.binary(Binary::FMul, nearest, two);
        let distance = b.binary(Binary::FSub, coordinate, even);
        let distance = glsl(b, FABS, distance);
        let mirrored = b.binary(Binary::FMul, distance, size);

        let value = b.select(self.repeat, repeated, plain);
        b.select(self.mirror, mirrored, value)
    }

    /// The texel that a coordinate names on an axis of `size` texels.
    pub fn nearest(&self, b: &mut Builder<'_>, coordinate: Value, size: Value) -> Texel {
        let length = b.convert(Convert::SignedToFloat(None), size, Type::F32);
        let place = self.unfold(b, coordinate, length);
        let place = glsl(b, FLOOR, place);
        let index = index_within(b, place, -1.0, length);
        let index = self.wrap_top(b, index, size);
        Texel::new(b, index, size)
    }

    /// The two texels between which a coordinate lies, and how far it is from the first to the second.
    pub fn linear(
        &self,
        b: &mut Builder<'_>,
        coordinate: Value,
        size: Value,
    ) -> ([Texel; 2], Value) {
        let length = b.convert(Convert::SignedToFloat(None), size, Type::F32);
        let place = self.unfold(b, coordinate, length);
        let half = b.f32(0.5);
        let place = b.binary(Binary::FSub, place, half);
        let first = glsl(b, FLOOR, place);
        let fraction = b.binary(Binary::FSub, place, first);
        let first = index_within(b, first, -2.0, length);
        let second = b.binary_const(Binary::Add, first, 1);
        let zero = b.i32(0);
        let below = b.compare(Compare::SLess, first, zero);
        let wraps = b.binary(Binary::And, below, self.repeat);
        let around = b.binary(Binary::Add, first, size);
        let first = b.select(wraps, around, first);
        let second = self.wrap_top(b, second, size);
        let texels = [Texel::new(b, first, size), Texel::new(b, second, size)];
        (texels, fraction)
    }

    /// A repeated image begins anew after its last texel.
    fn wrap_top(&self, b: &mut Builder<'_>, index: Value, size: Value) -> Value {
        let above = b.compare(Compare::SLessEqual, size, index);
        let wraps = b.binary(Binary::And, above, self.repeat);
        let around = b.binary(Binary::Sub, index, size);
        b.select(wraps, around, index)
    }
}

/// A place on one axis.
#[derive(Clone, Copy)]
pub(super) struct Texel {
    /// Within the image.
    pub index: Value,
    /// Whether it was outside.
    pub outside: Value,
}

impl Texel {
    /// Clamps an index to an axis of `size` texels.
    pub fn new(b: &mut Builder<'_>, index: Value, size: Value) -> Self {
        // As unsigned numbers, those below 0 are beyond the end.
        let outside = b.compare(Compare::ULessEqual, size, index);
        Self {
            index: clamp(b, index, size),
            outside,
        }
    }
}

/// An index clamped to 0 … size - 1.
pub(super) fn clamp(b: &mut Builder<'_>, index: Value, size: Value) -> Value {
    let last = b.binary_const(Binary::Sub, size, 1);
    let below = b.binary(Binary::SMin, index, last);
    let zero = b.i32(0);
    b.binary(Binary::SMax, below, zero)
}

/// The layer that a coordinate names: `clamp(rint(coordinate), 0, layers - 1)`.
pub(super) fn layer(b: &mut Builder<'_>, coordinate: Value, layers: Value) -> Value {
    if b.ty(coordinate) != Type::F32 {
        return clamp(b, coordinate, layers);
    }
    let rounded = glsl(b, ROUND_EVEN, coordinate);
    let count = b.convert(Convert::SignedToFloat(None), layers, Type::F32);
    let index = index_within(b, rounded, 0.0, count);
    clamp(b, index, layers)
}

/// A whole number as an integer, brought between `least` and `most` first; NaN becomes one of them.
fn index_within(b: &mut Builder<'_>, whole: Value, least: f32, most: Value) -> Value {
    let least = b.f32(least);
    let whole = b.binary(Binary::FMax, whole, least);
    let whole = b.binary(Binary::FMin, whole, most);
    let convert = Convert::FloatToSigned {
        rounding: None,
        saturate: false,
    };
    b.convert(convert, whole, Type::I32)
}

pub(super) fn glsl(b: &mut Builder<'_>, number: u32, x: Value) -> Value {
    let args: Values = smallvec![x];
    b.op1(Op::Glsl(number, args), Type::F32)
}
