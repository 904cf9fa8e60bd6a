//! What a kernel asks of an image: `OpImageQuery*`.

use super::decode::{Id, Instruction};
use super::function_parser::FunctionParser;
use crate::compiler::CompileError;
use crate::compiler::image::{ImageDimension, ImageField};
use crate::compiler::ir::{Binary, Type, Value, Values};
use rspirv::spirv::Op;

/// `CL_SNORM_INT8`, `CL_R`: where OpenCL's numbers of the enumerations of SPIR-V sections 3.13 and 3.12 start.
const FIRST_CHANNEL_TYPE: u32 = 0x10D0;
const FIRST_CHANNEL_ORDER: u32 = 0x10B0;

/// LLVM's SPIR-V back end: its `OpImageQueryFormat` stands for `get_image_channel_data_type`, without the
/// addition that would make OpenCL's number of SPIR-V's.
const GENERATOR_LLVM: u32 = 43;

impl<'a> FunctionParser<'_, 'a> {
    /// Translates queries of images; false if the instruction is another.
    pub(super) fn image_query(&mut self, inst: &Instruction<'a>) -> Result<bool, CompileError> {
        match inst.op {
            Op::ImageQuerySizeLod if !self.is_zero(inst.id(1)?) => {
                let level = self.integer(inst, 1)?;
                self.image_size(inst, Some(level))?;
            }
            Op::ImageQuerySizeLod | Op::ImageQuerySize => self.image_size(inst, None)?,
            Op::ImageQueryFormat => {
                self.image_enumerant(inst, ImageField::ChannelType, FIRST_CHANNEL_TYPE)?;
            }
            Op::ImageQueryOrder => {
                self.image_enumerant(inst, ImageField::ChannelOrder, FIRST_CHANNEL_ORDER)?;
            }
            Op::ImageQueryLevels => {
                let levels = self.image_field(inst, inst.id(0)?, ImageField::Levels)?;
                self.define(inst, &[levels])?;
            }
            Op::ImageQuerySamples => {
                let one = self.build().i32(1);
                self.define(inst, &[one])?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The scalar of an image that answers a query.
    pub(super) fn image_field(
        &mut self,
        inst: &Instruction<'a>,
        image: Id,
        field: ImageField,
    ) -> Result<Value, CompileError> {
        let (_, values) = self.image_operand(inst, image, false)?;
        let value = values.get(field.index()).copied();
        value.ok_or_else(|| inst.invalid("the operand is not an image"))
    }

    fn image_enumerant(
        &mut self,
        inst: &Instruction<'a>,
        field: ImageField,
        first: u32,
    ) -> Result<(), CompileError> {
        let value = self.image_field(inst, inst.id(0)?, field)?;
        let value = match self.source.generator {
            GENERATOR_LLVM => value,
            _ => self.build().binary_const(Binary::Sub, value, first.into()),
        };
        self.define(inst, &[value])
    }

    /// The sizes of a level, then the number of layers; what the result has more is 0.
    fn image_size(
        &mut self,
        inst: &Instruction<'a>,
        level: Option<Value>,
    ) -> Result<(), CompileError> {
        let (image, values) = self.image_operand(inst, inst.id(0)?, false)?;
        let sizes: &[ImageField] = match image.dimension {
            ImageDimension::One | ImageDimension::Buffer => &[ImageField::Width],
            ImageDimension::OneArray => &[ImageField::Width, ImageField::Depth],
            ImageDimension::Two => &[ImageField::Width, ImageField::Height],
            ImageDimension::TwoArray | ImageDimension::Three => {
                &[ImageField::Width, ImageField::Height, ImageField::Depth]
            }
        };
        let slots = self.result_slots(inst)?;
        let mut results = Values::new();
        for (index, slot) in slots.iter().enumerate() {
            let size = sizes.get(index).and_then(|field| values.get(field.index()));
            let mut b = self.build();
            results.push(match (size, level) {
                (Some(&size), Some(level)) if index < image.dimension.axes() => {
                    let level = b.resize_int(level, Type::I32, false);
                    let size = b.binary(Binary::LShr, size, level);
                    let size = b.binary_const(Binary::UMax, size, 1);
                    b.resize_int(size, slot.ty, false)
                }
                (Some(&size), _) => b.resize_int(size, slot.ty, false),
                (None, _) => b.constant(slot.ty, 0),
            });
        }
        self.define(inst, &results)
    }
}
