//! Mip levels: which one an access names, and where it lies.
//!
//! Around the functions that know one level only: they are given the fields of the level that is wanted.

use super::addressing::{FLOOR, Image, clamp, glsl};
use super::decode::{bits, is};
use super::{EXACT, function};
use crate::compiler::image::{ImageDimension, ImageField, LEVEL_ALIGN_BYTES, Sampler, TexelFormat};
use crate::compiler::ir::{
    AddressSpace, Binary, Builder, Compare, Convert, Edge, FuncId, Function, ImageAccess,
    ImageAccessKind, ImageLevel, Op, Terminator, Type, Value, Values,
};

/// `GLSL.std.450`
const LOG2: u32 = 30;

/// The fields that a level has of its own.
const OWN: [ImageField; 6] = [
    ImageField::Address,
    ImageField::Width,
    ImageField::Height,
    ImageField::Depth,
    ImageField::RowPitch,
    ImageField::SlicePitch,
];

/// (image, level) → [`OWN`] of the level, which exists.
pub(super) fn find(dimension: ImageDimension) -> Function {
    let mut returns = vec![Type::I32; OWN.len()];
    returns[0] = Type::Ptr(AddressSpace::Global);
    let mut function = function(format!("mip_level.{dimension:?}"), returns);
    let entry = function.entry();
    let image = Image::params(&mut function);
    let level = function.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let format = image.field(ImageField::Format);
    let log2_bytes = bits(&mut b, format, TexelFormat::LOG2_BYTES);
    let [header, body, end] = [(); 3].map(|()| b.function.add_block());
    let [index, offset, width, height, depth, row, slice] =
        [(); 7].map(|()| b.function.add_param(header, Type::I32));
    let zero = b.i32(0);
    let start = [zero, zero]
        .into_iter()
        .chain(OWN[1..].iter().map(|&field| image.field(field)));
    b.jump(Edge::new(header, start));

    b.switch_to(header);
    let more = b.compare(Compare::ULess, index, level);
    b.branch(more, body, end);

    b.switch_to(body);
    let size = b.binary(Binary::Mul, slice, depth);
    let after = b.binary(Binary::Add, offset, size);
    let after = b.binary_const(Binary::Add, after, u64::from(LEVEL_ALIGN_BYTES - 1));
    let after = b.binary_const(Binary::And, after, u64::from(!(LEVEL_ALIGN_BYTES - 1)));
    let axes = dimension.axes();
    let mut half = |size: Value, axis: usize| {
        if axis < axes {
            let half = b.binary_const(Binary::LShr, size, 1);
            b.binary_const(Binary::UMax, half, 1)
        } else {
            // Layers, or what the image does not have.
            size
        }
    };
    let (width, height, depth) = (half(width, 0), half(height, 1), half(depth, 2));
    let row_after = b.binary(Binary::Shl, width, log2_bytes);
    let slice_after = b.binary(Binary::Mul, row_after, height);
    let next = b.binary_const(Binary::Add, index, 1);
    let again = [next, after, width, height, depth, row_after, slice_after];
    b.jump(Edge::new(header, again));

    b.switch_to(end);
    let header_sizes = b.function.block(header).params[2..5].to_vec();
    let offset = b.convert(Convert::ZeroExtend, offset, Type::I64);
    let address = b.ptr_add(image.field(ImageField::Address), offset);
    let own = [address]
        .into_iter()
        .chain(header_sizes)
        .chain([row, slice]);
    b.terminate(Terminator::Return(own.collect()));
    function
}

/// An access to one of several levels, being built.
struct Leveled {
    image: Image,
    /// The function for [`ImageLevel::Base`], and [`find`].
    base: FuncId,
    find: FuncId,
    /// Sampler and coordinates.
    operands: Values,
}

impl Leveled {
    /// The access to a level that exists.
    fn at(
        &self,
        b: &mut Builder<'_>,
        level: Value,
        more: &[Value],
        results: impl IntoIterator<Item = Type>,
    ) -> Values {
        let fields = ImageField::ALL.map(|field| self.image.field(field));
        let find = fields.iter().copied().chain([level]).collect();
        let types = OWN.map(crate::compiler::parse::image_field_type);
        let own = b.op(Op::Call(self.find, find), types);
        let mut operands: Values = fields.into_iter().collect();
        for (field, value) in OWN.into_iter().zip(own) {
            operands[field.index()] = value;
        }
        operands.extend(self.operands.iter().chain(more).copied());
        b.op(Op::Call(self.base, operands), results)
    }
}

/// (image, sampler, coordinates, level or gradients) → four components.
pub(super) fn read(access: ImageAccess, base: FuncId, find: FuncId) -> Function {
    let name = format!("read_level.{:?}.{}", access.dimension, access.texel);
    let texel_types = [access.texel; 4];
    let mut function = function(name, texel_types.to_vec());
    let image = Image::params(&mut function);
    let Operands {
        sampler,
        coordinates,
        level,
    } = Operands::params(&mut function, access);

    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    b.flags = EXACT;
    let lod = match access.level {
        ImageLevel::Gradient => lod_of_gradients(&mut b, &image, &level),
        _ => level[0],
    };
    let levels = image.field(ImageField::Levels);
    let lod = limit(&mut b, lod, sampler, levels);
    let leveled = Leveled {
        image,
        base,
        find,
        operands: sampler.into_iter().chain(coordinates).collect(),
    };
    // Integers are not mixed.
    let mixed = match (sampler, access.texel) {
        (Some(sampler), Type::F32) => {
            let linear = bits(&mut b, sampler, Sampler::MIP_LINEAR);
            Some(is(&mut b, linear, 1))
        }
        _ => None,
    };
    let half = b.f32(0.5);
    let above = b.binary(Binary::FAdd, lod, half);
    let nearest = glsl(&mut b, FLOOR, above);
    let first = match mixed {
        Some(mixed) => {
            let below = glsl(&mut b, FLOOR, lod);
            b.select(mixed, below, nearest)
        }
        None => nearest,
    };
    let convert = Convert::FloatToSigned {
        rounding: None,
        saturate: false,
    };
    let level = b.convert(convert, first, Type::I32);
    let level = clamp(&mut b, level, levels);
    let mut texel = leveled.at(&mut b, level, &[], texel_types);
    if let Some(mixed) = mixed {
        let fraction = b.binary(Binary::FSub, lod, first);
        texel = mix_with_next(&mut b, &leveled, level, texel, (mixed, fraction));
    }
    b.terminate(Terminator::Return(texel));
    function
}

/// Parameters of a reading function behind the image's.
struct Operands {
    sampler: Option<Value>,
    coordinates: Values,
    /// The level of detail, or the gradients that it is computed from.
    level: Values,
}

impl Operands {
    fn params(function: &mut Function, access: ImageAccess) -> Self {
        let entry = function.entry();
        let (sampler, coordinate) = match access.kind {
            ImageAccessKind::Sample { float_coordinates } => (
                Some(function.add_param(entry, Type::I32)),
                if float_coordinates {
                    Type::F32
                } else {
                    Type::I32
                },
            ),
            _ => (None, Type::I32),
        };
        let mut params =
            |count, ty| -> Values { (0..count).map(|_| function.add_param(entry, ty)).collect() };
        let coordinates = params(access.dimension.coordinates(), coordinate);
        let level_count = match access.level {
            ImageLevel::Gradient => 2 * access.dimension.axes(),
            _ => 1,
        };
        Self {
            sampler,
            coordinates,
            level: params(level_count, Type::F32),
        }
    }
}

/// A texel of floats mixed with that of the next level, where it is to be `mixed` and the `fraction` is not zero.
/// Building goes on in a block behind both.
fn mix_with_next(
    b: &mut Builder<'_>,
    leveled: &Leveled,
    level: Value,
    texel: Values,
    (mixed, fraction): (Value, Value),
) -> Values {
    let zero = b.f32(0.0);
    let between = b.compare(Compare::FOrdLess, zero, fraction);
    let mixed = b.binary(Binary::And, mixed, between);
    let (second, end) = (b.function.add_block(), b.function.add_block());
    let results: Values = (0..4)
        .map(|_| b.function.add_param(end, Type::F32))
        .collect();
    b.branch(mixed, second, Edge::new(end, texel.iter().copied()));

    b.switch_to(second);
    let next = b.binary_const(Binary::Add, level, 1);
    let next = clamp(b, next, leveled.image.field(ImageField::Levels));
    let other = leveled.at(b, next, &[], [Type::F32; 4]);
    let one = b.f32(1.0);
    let rest = b.binary(Binary::FSub, one, fraction);
    let sums: Values = texel
        .iter()
        .zip(other)
        .map(|(&near, far)| {
            let near = b.binary(Binary::FMul, rest, near);
            let far = b.binary(Binary::FMul, fraction, far);
            b.binary(Binary::FAdd, near, far)
        })
        .collect();
    b.jump(Edge::new(end, sums));

    b.switch_to(end);
    results
}

/// (image, coordinates, level, four components) → nothing. To a level that there is not nothing is written.
pub(super) fn write(access: ImageAccess, base: FuncId, find: FuncId) -> Function {
    let name = format!("write_level.{:?}.{}", access.dimension, access.texel);
    let mut function = function(name, Vec::new());
    let entry = function.entry();
    let image = Image::params(&mut function);
    let operands = (0..access.dimension.coordinates())
        .map(|_| function.add_param(entry, Type::I32))
        .collect();
    let level = function.add_param(entry, Type::I32);
    let texel = [(); 4].map(|()| function.add_param(entry, access.texel));
    let mut b = Builder::new(&mut function, entry);
    let exists = b.compare(Compare::ULess, level, image.field(ImageField::Levels));
    let (store, end) = (b.function.add_block(), b.function.add_block());
    b.branch(exists, store, end);
    b.switch_to(store);
    let leveled = Leveled {
        image,
        base,
        find,
        operands,
    };
    leveled.at(&mut b, level, &texel, []);
    b.jump(end);
    b.switch_to(end);
    b.terminate(Terminator::Return(Values::new()));
    function
}

/// `log2(max(|dx|, |dy|))`, the lengths in texels of the first level.
fn lod_of_gradients(b: &mut Builder<'_>, image: &Image, gradients: &[Value]) -> Value {
    let mut squares: Vec<Value> = Vec::new();
    for gradient in gradients.chunks(gradients.len() / 2) {
        let mut sum: Option<Value> = None;
        for (axis, &step) in gradient.iter().enumerate() {
            let size = image.size(axis);
            let size = b.convert(Convert::SignedToFloat(None), size, Type::F32);
            let texels = b.binary(Binary::FMul, step, size);
            let square = b.binary(Binary::FMul, texels, texels);
            sum = Some(match sum {
                Some(sum) => b.binary(Binary::FAdd, sum, square),
                None => square,
            });
        }
        squares.extend(sum);
    }
    let longest = squares
        .into_iter()
        .reduce(|one, other| b.binary(Binary::FMax, one, other))
        .unwrap_or_else(|| b.f32(1.0));
    let log2 = glsl(b, LOG2, longest);
    let half = b.f32(0.5);
    b.binary(Binary::FMul, log2, half)
}

/// "The value specified in the lod argument is clamped to the minimum of (actual number of mip-levels - 1) in
/// the image or value specified for CL_SAMPLER_LOD_MAX."
fn limit(b: &mut Builder<'_>, lod: Value, sampler: Option<Value>, levels: Value) -> Value {
    let mut lod = lod;
    if let Some(sampler) = sampler {
        let mut bound = |part: (u32, u32)| {
            let fixed = bits(b, sampler, part);
            let whole = b.convert(Convert::UnsignedToFloat(None), fixed, Type::F32);
            let unit = b.f32(1.0 / Sampler::LOD_UNIT);
            b.binary(Binary::FMul, whole, unit)
        };
        let (least, most) = (bound(Sampler::LOD_MIN), bound(Sampler::LOD_MAX));
        lod = b.binary(Binary::FMax, lod, least);
        lod = b.binary(Binary::FMin, lod, most);
    }
    let last = b.binary_const(Binary::Sub, levels, 1);
    let last = b.convert(Convert::SignedToFloat(None), last, Type::F32);
    let lod = b.binary(Binary::FMin, lod, last);
    let zero = b.f32(0.0);
    b.binary(Binary::FMax, lod, zero)
}
