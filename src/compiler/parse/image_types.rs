//! Types of images and constant samplers.

use super::decode::Instruction;
use super::slot::{Layout, Slot};
use crate::compiler::CompileError;
use crate::compiler::image::{Addressing, ImageDimension, ImageField, Sampler};
use crate::compiler::ir::{AddressSpace, Type};
use crate::compiler::program::{AccessQualifier, ImageType};
use rspirv::spirv;
use std::rc::Rc;

/// The layout of an image in private memory, where only unoptimized code puts one.
pub(super) const LAYOUT: Layout = Layout {
    size_bytes: 8 * ImageField::ALL.len() as u64,
    align_bytes: 8,
};

/// The scalars of an image, or of an image with a sampler.
pub(super) fn slots(sampled: bool) -> Rc<[Slot]> {
    let fields = ImageField::ALL.into_iter().enumerate();
    let slot = |index: usize, ty| Slot::new(ty, 8 * index as u64);
    let image = fields.map(|(index, field)| slot(index, field_type(field)));
    let sampler = sampled.then(|| slot(ImageField::ALL.len(), Type::I32));
    image.chain(sampler).collect()
}

/// The type of a field in IR.
pub(crate) fn field_type(field: ImageField) -> Type {
    match field {
        ImageField::Address => Type::Ptr(AddressSpace::Global),
        _ => Type::I32,
    }
}

/// `OpTypeImage`
pub(super) fn image_type(inst: &Instruction<'_>) -> Result<ImageType, CompileError> {
    let arrayed = inst.word(3)? == 1;
    let dimension = match (spirv::Dim::from_u32(inst.word(1)?), arrayed) {
        (Some(spirv::Dim::Dim1D), false) => ImageDimension::One,
        (Some(spirv::Dim::Dim1D), true) => ImageDimension::OneArray,
        (Some(spirv::Dim::Dim2D), false) => ImageDimension::Two,
        (Some(spirv::Dim::Dim2D), true) => ImageDimension::TwoArray,
        (Some(spirv::Dim::Dim3D), false) => ImageDimension::Three,
        (Some(spirv::Dim::DimBuffer), false) => ImageDimension::Buffer,
        _ => return Err(inst.invalid("the image's dimension is none of OpenCL C's")),
    };
    if inst.word(4)? != 0 {
        return Err(inst.unsupported("multi-sampled images are not supported"));
    }
    let access = match inst.operands.get(7) {
        // "If not present, read-only" is how OpenCL C has it.
        None | Some(0) => AccessQualifier::ReadOnly,
        Some(1) => AccessQualifier::WriteOnly,
        Some(2) => AccessQualifier::ReadWrite,
        Some(_) => return Err(inst.invalid("the access qualifier is unknown")),
    };
    Ok(ImageType {
        dimension,
        depth: inst.word(2)? == 1,
        access,
    })
}

/// The bits of `OpConstantSampler`.
pub(super) fn literal_sampler(inst: &Instruction<'_>) -> Result<u64, CompileError> {
    let addressing = match inst.word(0)? {
        0 => Addressing::None,
        1 => Addressing::ClampToEdge,
        2 => Addressing::Clamp,
        3 => Addressing::Repeat,
        4 => Addressing::RepeatMirrored,
        _ => return Err(inst.invalid("the addressing mode is unknown")),
    };
    let sampler = Sampler::new(inst.word(1)? == 1, addressing, inst.word(2)? == 1);
    Ok(sampler.0.into())
}
