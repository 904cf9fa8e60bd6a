//! Reads: without a sampler, nearest, and linear.

use super::addressing::{Image, Modes, Texel, layer};
use super::decode::{Format, bits, is, zero_and_one};
use super::{EXACT, function};
use crate::compiler::image::{ImageDimension, ImageField, Sampler, TexelFormat};
use crate::compiler::ir::{
    Binary, Builder, Convert, Edge, FuncId, Function, ImageAccess, ImageAccessKind, Op, Terminator,
    Type, Value, Values,
};
use smallvec::smallvec;

/// (image, sampler if there is one, coordinates) → four components. `load` is `load_texel` of the same type;
/// `textures` says whether the image may have a descriptor, by which it is read.
pub(super) fn read(access: ImageAccess, load: FuncId, textures: bool) -> Function {
    let name = format!("read_image.{:?}.{}", access.dimension, access.texel);
    let mut function = function(name, vec![access.texel; 4]);
    let entry = function.entry();
    let image = Image::params(&mut function);
    let (sampler, float_coordinates) = match access.kind {
        ImageAccessKind::Sample { float_coordinates } => (
            Some(function.add_param(entry, Type::I32)),
            float_coordinates,
        ),
        _ => (None, false),
    };
    let ty = if float_coordinates {
        Type::F32
    } else {
        Type::I32
    };
    let coordinates: Vec<Value> = (0..access.dimension.coordinates())
        .map(|_| function.add_param(entry, ty))
        .collect();

    let mut b = Builder::new(&mut function, entry);
    b.flags = EXACT;
    if let (Some(sampler), true) = (sampler, textures) {
        texture_first(&mut b, &image, sampler, &coordinates);
    }
    let reader = Reader {
        access,
        load,
        format: Format::new(&mut b, image.field(ImageField::Format)),
        modes: sampler.map(|sampler| Modes::new(&mut b, sampler)),
        image,
        coordinates,
    };
    match &reader.modes {
        // Integers are not filtered.
        Some(modes) if float_coordinates && access.texel == Type::F32 => {
            let (linear, nearest) = (b.function.add_block(), b.function.add_block());
            let end = b.function.add_block();
            let results: Values = (0..4)
                .map(|_| b.function.add_param(end, access.texel))
                .collect();
            b.branch(modes.linear, linear, nearest);
            b.switch_to(linear);
            let texel = reader.linear(&mut b, modes);
            b.jump(Edge::new(end, texel));
            b.switch_to(nearest);
            let texel = reader.nearest(&mut b);
            b.jump(Edge::new(end, texel));
            b.switch_to(end);
            b.terminate(Terminator::Return(results));
        }
        _ => {
            let texel = reader.nearest(&mut b);
            b.terminate(Terminator::Return(texel));
        }
    }
    function
}

/// What descriptors are of: flat images read as floats.
pub(super) fn has_descriptors(access: &ImageAccess) -> bool {
    access.dimension == ImageDimension::Two && access.texel == Type::F32
}

/// Returns what the texture unit reads, if the image has a descriptor; goes on otherwise.
fn texture_first(b: &mut Builder<'_>, image: &Image, sampler: Value, coordinates: &[Value]) {
    let format = image.field(ImageField::Format);
    let mut flag = |word: Value, part: (u32, u32)| {
        let flag = bits(b, word, part);
        is(b, flag, 1)
    };
    let textured = flag(format, TexelFormat::TEXTURED);
    let nearest = flag(format, TexelFormat::TEXTURED_NEAREST);
    let linear = flag(sampler, Sampler::LINEAR);
    let faster = b.binary(Binary::Or, linear, nearest);
    let textured = b.binary(Binary::And, textured, faster);
    let (through, around) = (b.function.add_block(), b.function.add_block());
    b.branch(textured, through, around);
    b.switch_to(through);
    let mut operands: Values = smallvec![image.field(ImageField::Texture)];
    let low = bits(b, sampler, (0, Sampler::DESCRIPTOR_BITS));
    let opaque = bits(b, format, TexelFormat::OPAQUE_BORDER);
    let high = b.binary_const(Binary::Shl, opaque, Sampler::DESCRIPTOR_BITS.into());
    operands.push(b.binary(Binary::Or, low, high));
    for &coordinate in coordinates {
        operands.push(match b.ty(coordinate) {
            Type::F32 => coordinate,
            // The texel's middle.
            _ => {
                let start = b.convert(Convert::SignedToFloat(None), coordinate, Type::F32);
                let half = b.f32(0.5);
                b.binary(Binary::FAdd, start, half)
            }
        });
    }
    let texel = b.op(Op::SampleTexture(operands), [Type::F32; 4]);
    b.terminate(Terminator::Return(texel));
    b.switch_to(around);
}

struct Reader {
    access: ImageAccess,
    load: FuncId,
    image: Image,
    format: Format,
    modes: Option<Modes>,
    coordinates: Vec<Value>,
}

impl Reader {
    fn axes(&self) -> usize {
        self.access.dimension.axes()
    }

    /// The layer's index, for arrays.
    fn layer(&self, b: &mut Builder<'_>) -> Option<Value> {
        let &coordinate = self.coordinates.get(self.axes())?;
        let layers = self.image.field(ImageField::Depth);
        Some(layer(b, coordinate, layers))
    }

    fn nearest(&self, b: &mut Builder<'_>) -> Values {
        let texels: Vec<Texel> = (0..self.axes())
            .map(|axis| {
                let (coordinate, size) = (self.coordinates[axis], self.image.size(axis));
                match &self.modes {
                    Some(modes) if b.ty(coordinate) == Type::F32 => {
                        modes.nearest(b, coordinate, size)
                    }
                    _ => Texel::new(b, coordinate, size),
                }
            })
            .collect();
        let layer = self.layer(b);
        self.texel(b, &texels, layer)
    }

    /// `T = (1 - a)(1 - b) T00 + a(1 - b) T10 + (1 - a) b T01 + ab T11`, and so on for three axes.
    fn linear(&self, b: &mut Builder<'_>, modes: &Modes) -> Values {
        let axes: Vec<([Texel; 2], [Value; 2])> = (0..self.axes())
            .map(|axis| {
                let (coordinate, size) = (self.coordinates[axis], self.image.size(axis));
                let (texels, fraction) = modes.linear(b, coordinate, size);
                let one = b.f32(1.0);
                let rest = b.binary(Binary::FSub, one, fraction);
                (texels, [rest, fraction])
            })
            .collect();
        let layer = self.layer(b);
        // How precise the sum is, the specification leaves open.
        b.flags.no_contraction = false;
        let mut sum: Option<Values> = None;
        for corner in 0..1usize << axes.len() {
            let side = |axis: usize| corner >> axis & 1;
            let texels: Vec<Texel> = axes
                .iter()
                .enumerate()
                .map(|(axis, (texels, _))| texels[side(axis)])
                .collect();
            let mut weight: Option<Value> = None;
            for (axis, (_, weights)) in axes.iter().enumerate() {
                let own = weights[side(axis)];
                weight = Some(match weight {
                    Some(weight) => b.binary(Binary::FMul, weight, own),
                    None => own,
                });
            }
            let texel = self.texel(b, &texels, layer);
            let weighted: Values = match weight {
                Some(weight) => texel
                    .iter()
                    .map(|&v| b.binary(Binary::FMul, weight, v))
                    .collect(),
                None => texel,
            };
            sum = Some(match sum {
                Some(sum) => sum
                    .iter()
                    .zip(&weighted)
                    .map(|(&total, &more)| b.binary(Binary::FAdd, total, more))
                    .collect(),
                None => weighted,
            });
        }
        b.flags = EXACT;
        sum.unwrap_or_default()
    }

    /// The texel at a place, or the border colour.
    fn texel(&self, b: &mut Builder<'_>, texels: &[Texel], layer: Option<Value>) -> Values {
        let place: Vec<Value> = texels
            .iter()
            .map(|texel| texel.index)
            .chain(layer)
            .collect();
        let dimension = self.access.dimension;
        let log2_bytes = self.format.log2_bytes;
        let offset = self.image.offset(b, dimension, &place, log2_bytes);
        let address = self.image.field(ImageField::Address);
        let format = self.image.field(ImageField::Format);
        let call = Op::Call(self.load, smallvec![address, offset, format]);
        let texel = b.op(call, [self.access.texel; 4]);
        let Some(modes) = &self.modes else {
            return texel;
        };
        let mut at_border = b.bool(false);
        for texel in texels {
            at_border = b.binary(Binary::Or, at_border, texel.outside);
        }
        let at_border = b.binary(Binary::And, at_border, modes.border);
        let (zero, one) = zero_and_one(b, self.access.texel);
        let opaque = bits(b, format, TexelFormat::OPAQUE_BORDER);
        let opaque = is(b, opaque, 1);
        let alpha = b.select(opaque, one, zero);
        texel
            .iter()
            .zip([zero, zero, zero, alpha])
            .map(|(&inside, border)| b.select(at_border, border, inside))
            .collect()
    }
}
