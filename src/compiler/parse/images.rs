//! Images and samplers: their types, constants, and the instructions on them.
//!
//! An image is the scalars of [`ImageField::ALL`], a sampler is its 32 bits, and what `OpSampledImage` makes
//! is both together: they are passed, returned, stored and chosen like any structure.

use super::constants::Scalar;
use super::decode::{Id, Instruction};
use super::function_parser::FunctionParser;
use super::named_builtins::{Mangled, demangle};
use super::types::Kind;
use crate::compiler::CompileError;
use crate::compiler::image::{Addressing, ImageField, Sampler};
use crate::compiler::ir::{
    Convert, ImageAccess, ImageAccessKind, ImageLevel, Op as IrOp, Type, Value, Values,
};
use crate::compiler::program::{AccessQualifier, ImageType};
use rspirv::spirv::{self, Op};

/// The mip level of an access, and the operands that say it.
struct Level {
    level: ImageLevel,
    operands: Values,
}

impl Level {
    fn base() -> Self {
        Self {
            level: ImageLevel::Base,
            operands: Values::new(),
        }
    }
}

impl<'a> FunctionParser<'_, 'a> {
    /// Translates accesses to images; false if the instruction is another.
    pub(super) fn image(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::SampledImage => {
                let image = self.operand(inst, 0)?;
                let sampler = self.operand(inst, 1)?;
                let both: Values = image.iter().chain(&*sampler).copied().collect();
                self.define(inst, &both)?;
            }
            Op::Image => {
                let both = self.operand(inst, 0)?;
                let image = both.get(..ImageField::ALL.len()).unwrap_or(&both);
                self.define(inst, image)?;
            }
            Op::ImageSampleExplicitLod => {
                let (image, values) = self.image_operand(inst, inst.id(0)?, true)?;
                let coordinate = self.operand(inst, 1)?;
                let level = self.image_operands_level(inst, 2, image)?;
                self.sample(inst, image, &values, &coordinate, level)?;
            }
            Op::ImageRead => {
                let (image, values) = self.image_operand(inst, inst.id(0)?, false)?;
                let coordinate = self.operand(inst, 1)?;
                self.read(inst, image, &values, &coordinate)?;
            }
            Op::ImageWrite => {
                let (image, values) = self.image_operand(inst, inst.id(0)?, false)?;
                let coordinate = self.operand(inst, 1)?;
                let texel = self.operand(inst, 2)?;
                let level = self.image_operands_level(inst, 3, image)?;
                self.write(inst, image, &values, &coordinate, &texel, level)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Expands the call of an image function that the front end left as a call; false if it is none.
    pub(super) fn image_builtin(
        &mut self,
        inst: &Instruction<'a>,
        name: &str,
    ) -> Result<bool, CompileError> {
        let Some(Mangled { name, .. }) = demangle(name) else {
            return Ok(false);
        };
        let queried = match name {
            "get_image_channel_order" => Some(ImageField::ChannelOrder),
            "get_image_channel_data_type" => Some(ImageField::ChannelType),
            "get_image_num_mip_levels" => Some(ImageField::Levels),
            _ => None,
        };
        if let Some(field) = queried {
            let value = self.image_field(inst, inst.id(1)?, field)?;
            self.define(inst, &[value])?;
            return Ok(true);
        }
        // The toolchain gives another name to calls that may have a level.
        let name = name.strip_prefix("__pumice_").unwrap_or(name);
        let is_access = |function: &str| {
            let texel = name.strip_prefix(function);
            texel.is_some_and(|texel| ["f", "i", "ui", "h"].contains(&texel))
        };
        if is_access("read_image") {
            let (image, mut values) = self.image_operand(inst, inst.id(1)?, false)?;
            let (ty, second) = self.values(inst.id(2)?)?;
            if matches!(self.source.types.get(ty)?.kind, Kind::Sampler) {
                values.extend(second.iter().copied());
                let coordinate = self.operand(inst, 3)?;
                let level = match inst.operands.len() {
                    ..=4 => Level::base(),
                    5 => self.named_level(inst, inst.id(4)?)?,
                    _ => self.gradient(inst, 4, image)?,
                };
                self.sample(inst, image, &values, &coordinate, level)?;
            } else {
                self.read(inst, image, &values, &second)?;
            }
            return Ok(true);
        }
        if is_access("write_image") {
            let (image, values) = self.image_operand(inst, inst.id(1)?, false)?;
            let coordinate = self.operand(inst, 2)?;
            let texel = self.operand(inst, inst.operands.len().saturating_sub(1))?;
            let level = match inst.operands.len() {
                ..=4 => Level::base(),
                _ => self.named_level(inst, inst.id(3)?)?,
            };
            self.write(inst, image, &values, &coordinate, &texel, level)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// The level that image operands at `index`, if there are any, name.
    fn image_operands_level(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        image: ImageType,
    ) -> Result<Level, CompileError> {
        let Some(&mask) = inst.operands.get(index) else {
            return Ok(Level::base());
        };
        let mask = spirv::ImageOperands::from_bits_truncate(mask);
        // Each takes its operands in the order of the bits: these two are the lowest that kernels have.
        if mask.contains(spirv::ImageOperands::LOD) {
            return self.named_level(inst, inst.id(index + 1)?);
        }
        if mask.contains(spirv::ImageOperands::GRAD) {
            return self.gradient(inst, index + 1, image);
        }
        Ok(Level::base())
    }

    fn named_level(&mut self, inst: &Instruction<'a>, id: Id) -> Result<Level, CompileError> {
        if self.is_zero(id) {
            return Ok(Level::base());
        }
        match &*self.values(id)?.1 {
            &[level] => Ok(Level {
                level: ImageLevel::Named,
                operands: [level].into_iter().collect(),
            }),
            _ => Err(inst.invalid("the level of detail is not one number")),
        }
    }

    fn gradient(
        &mut self,
        inst: &Instruction<'a>,
        index: usize,
        image: ImageType,
    ) -> Result<Level, CompileError> {
        let mut operands = Values::new();
        for index in [index, index + 1] {
            let (_, step) = self.values(inst.id(index)?)?;
            let step = step.get(..image.dimension.axes());
            let step = step.ok_or_else(|| inst.invalid("a gradient has too few components"))?;
            operands.extend(step.iter().copied());
        }
        Ok(Level {
            level: ImageLevel::Gradient,
            operands,
        })
    }

    /// Whether it is a constant of zeros.
    pub(super) fn is_zero(&self, id: Id) -> bool {
        let scalars = self.source.constants.flatten(id, &self.source.types);
        scalars.is_ok_and(|scalars| scalars.iter().all(|&scalar| scalar == Scalar::Bits(0)))
    }

    /// The type and scalars of an image, with its sampler if `sampled`.
    pub(super) fn image_operand(
        &mut self,
        inst: &Instruction<'a>,
        id: Id,
        sampled: bool,
    ) -> Result<(ImageType, Values), CompileError> {
        let (ty, values) = self.values(id)?;
        let values = values.iter().copied().collect();
        match (&self.source.types.get(ty)?.kind, sampled) {
            (Kind::Image(image), false) | (Kind::SampledImage(image), true) => Ok((*image, values)),
            _ => Err(inst.invalid(format!("{id} is not the kind of image that is wanted"))),
        }
    }

    fn sample(
        &mut self,
        inst: &Instruction<'a>,
        image: ImageType,
        values: &[Value],
        coordinate: &[Value],
        level: Level,
    ) -> Result<(), CompileError> {
        let float_coordinates = match coordinate.first().map(|&v| self.ty(v)) {
            Some(Type::F32) => true,
            Some(Type::I32) => false,
            _ => return Err(inst.invalid("coordinates are of type float or int")),
        };
        let kind = ImageAccessKind::Sample { float_coordinates };
        self.read_as(inst, kind, image, values, coordinate, level)
    }

    fn read(
        &mut self,
        inst: &Instruction<'a>,
        image: ImageType,
        values: &[Value],
        coordinate: &[Value],
    ) -> Result<(), CompileError> {
        if image.access == AccessQualifier::ReadOnly {
            // "… behave exactly as the corresponding read image functions … that take integer coordinates and a
            // sampler with filter mode set to CLK_FILTER_NEAREST, normalized coordinates set to
            // CLK_NORMALIZED_COORDS_FALSE and addressing mode to CLK_ADDRESS_NONE" (OpenCL C, section 6.15.15.4):
            // what is never written may come through a texture unit.
            let sampler = Sampler::new(false, Addressing::None, false);
            let sampler = self.build().i32(sampler.0);
            let values: Values = values.iter().copied().chain([sampler]).collect();
            return self.sample(inst, image, &values, coordinate, Level::base());
        }
        self.read_as(
            inst,
            ImageAccessKind::Read,
            image,
            values,
            coordinate,
            Level::base(),
        )
    }

    fn read_as(
        &mut self,
        inst: &Instruction<'a>,
        kind: ImageAccessKind,
        image: ImageType,
        values: &[Value],
        coordinate: &[Value],
        level: Level,
    ) -> Result<(), CompileError> {
        let slots = self.result_slots(inst)?;
        let wanted = slots.first().map(|slot| slot.ty);
        let texel = match wanted {
            Some(Type::F32 | Type::F16) => Type::F32,
            Some(Type::I32) => Type::I32,
            _ => return Err(inst.invalid("texels are of type float, half, int or uint")),
        };
        let mut operands = self.access_operands(inst, kind, image, values, coordinate)?;
        self.add_level(inst, &mut operands, &level, Type::F32)?;
        let access = ImageAccess {
            kind,
            dimension: image.dimension,
            texel,
            level: level.level,
        };
        let mut b = self.build();
        let mut results = b.op(IrOp::Image(access, operands), [texel; 4]);
        if wanted == Some(Type::F16) {
            let halves = results
                .iter()
                .map(|&v| b.convert(Convert::FloatToFloat(None), v, Type::F16));
            results = halves.collect();
        }
        // A depth image is read as one number.
        results.truncate(slots.len());
        self.define(inst, &results)
    }

    fn write(
        &mut self,
        inst: &Instruction<'a>,
        image: ImageType,
        values: &[Value],
        coordinate: &[Value],
        texel: &[Value],
        level: Level,
    ) -> Result<(), CompileError> {
        let kind = ImageAccessKind::Write;
        let mut operands = self.access_operands(inst, kind, image, values, coordinate)?;
        self.add_level(inst, &mut operands, &level, Type::I32)?;
        let ty = match texel.first().map(|&v| self.ty(v)) {
            Some(Type::F32 | Type::F16) => Type::F32,
            Some(Type::I32) => Type::I32,
            _ => return Err(inst.invalid("texels are of type float, half, int or uint")),
        };
        let mut b = self.build();
        for index in 0..4 {
            operands.push(match texel.get(index) {
                Some(&value) if b.ty(value) == Type::F16 => {
                    b.convert(Convert::FloatToFloat(None), value, Type::F32)
                }
                Some(&value) => value,
                None => b.constant(ty, 0),
            });
        }
        let access = ImageAccess {
            kind,
            dimension: image.dimension,
            texel: ty,
            level: level.level,
        };
        b.op0(IrOp::Image(access, operands));
        Ok(())
    }

    fn add_level(
        &self,
        inst: &Instruction<'a>,
        operands: &mut Values,
        level: &Level,
        wanted: Type,
    ) -> Result<(), CompileError> {
        if level.operands.iter().any(|&v| self.ty(v) != wanted) {
            return Err(inst.invalid("the level of detail is of another type"));
        }
        operands.extend(level.operands.iter().copied());
        Ok(())
    }

    /// The image's scalars and as many coordinates as it has dimensions, of the right type.
    fn access_operands(
        &mut self,
        inst: &Instruction<'a>,
        kind: ImageAccessKind,
        image: ImageType,
        values: &[Value],
        coordinate: &[Value],
    ) -> Result<Values, CompileError> {
        let count = image.dimension.coordinates();
        let Some(coordinate) = coordinate.get(..count) else {
            return Err(inst.invalid(format!("the image takes {count} coordinates")));
        };
        let wanted = match kind {
            ImageAccessKind::Sample {
                float_coordinates: true,
            } => Type::F32,
            _ => Type::I32,
        };
        if coordinate.iter().any(|&v| self.ty(v) != wanted) {
            return Err(inst.invalid("the coordinates are of another type"));
        }
        Ok(values.iter().chain(coordinate).copied().collect())
    }
}
