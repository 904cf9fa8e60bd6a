//! Images read through descriptors: set 0 holds an array of 2D images and one of samplers.

use super::Emitter;
use super::assembler::Id;
use super::function::FunctionEmitter;
use crate::compiler::CompileError;
use crate::compiler::image::Sampler;
use crate::compiler::ir::{Type, Value};
use rspirv::spirv::{self, Capability, Decoration, ImageOperands, Op, StorageClass};

const IMAGES_BINDING: u32 = 0;
const SAMPLERS_BINDING: u32 = 1;

/// The arrays, and the types of their elements.
#[derive(Clone, Copy)]
pub struct Variables {
    images: Id,
    image_type: Id,
    samplers: Id,
    sampler_type: Id,
}

impl Emitter<'_> {
    fn textures(&mut self) -> Result<Variables, CompileError> {
        if let Some(known) = self.textures {
            return Ok(known);
        }
        if self.capabilities.names_dynamic_indexing {
            self.asm
                .capability(Capability::SampledImageArrayDynamicIndexing);
        }
        let float = self.ty(Type::F32)?;
        // Not depth, not arrayed, one sample, used with a sampler, of any format.
        let image = [float, spirv::Dim::Dim2D as u32, 0, 0, 0, 1, 0];
        let image_type = self.asm.declare_type(Op::TypeImage, &image);
        let sampler_type = self.asm.declare_type(Op::TypeSampler, &[]);
        let images = self.capabilities.textures.max(1);
        let variables = Variables {
            images: self.descriptors(image_type, images, IMAGES_BINDING),
            image_type,
            samplers: self.descriptors(sampler_type, Sampler::DESCRIPTORS, SAMPLERS_BINDING),
            sampler_type,
        };
        self.textures = Some(variables);
        Ok(variables)
    }

    fn descriptors(&mut self, ty: Id, count: u32, binding: u32) -> Id {
        let count = self.const_u32(count);
        let array = self.asm.declare_type(Op::TypeArray, &[ty, count]);
        let variable = self.asm.variable(StorageClass::UniformConstant, array);
        self.asm.decorate(variable, Decoration::DescriptorSet, &[0]);
        self.asm.decorate(variable, Decoration::Binding, &[binding]);
        variable
    }
}

impl FunctionEmitter<'_, '_> {
    pub fn sample_texture(
        &mut self,
        operands: &[Value],
        results: &[Value],
    ) -> Result<(), CompileError> {
        let ids = self.values(operands)?;
        let &[image, sampler, x, y] = ids.as_slice() else {
            return Err(CompileError::internal(
                "a texture is read with four operands",
            ));
        };
        let emitter = &mut *self.emitter;
        let variables = emitter.textures()?;
        let image = emitter.descriptor(variables.images, variables.image_type, image);
        let sampler = emitter.descriptor(variables.samplers, variables.sampler_type, sampler);
        let asm = &mut emitter.asm;
        let both = asm.declare_type(Op::TypeSampledImage, &[variables.image_type]);
        let both = asm.result(Op::SampledImage, both, &[image, sampler]);
        let pair = emitter.vector_type(Type::F32, 2)?;
        let texel = emitter.vector_type(Type::F32, 4)?;
        let level = emitter.constant(Type::F32, 0)?;
        let asm = &mut emitter.asm;
        let place = asm.result(Op::CompositeConstruct, pair, &[x, y]);
        let lod = ImageOperands::LOD.bits();
        let operands = [both, place, lod, level];
        let texel = asm.result(Op::ImageSampleExplicitLod, texel, &operands);
        self.take_apart(results, texel)
    }
}

impl Emitter<'_> {
    fn descriptor(&mut self, array: Id, ty: Id, index: Id) -> Id {
        let pointer = self.pointer_type(StorageClass::UniformConstant, ty);
        let pointer = self.asm.result(Op::AccessChain, pointer, &[array, index]);
        self.asm.result(Op::Load, ty, &[pointer])
    }
}
