//! Where each argument of a kernel lies in the argument block, and what becomes of the function's parameters.

use super::spec_ids::FIRST_FREE_SPEC_ID;
use super::usage::{self, Uses};
use crate::compiler::CompileError;
use crate::compiler::image::ImageField;
use crate::compiler::ir::{
    AddressSpace, FuncId, Function, Global, GlobalId, Inst, KernelParameterKind, Module, Op, Type,
    Value,
};
use crate::compiler::program::{
    Argument, ArgumentKind, BufferSpace, ImageType, LARGEST_TYPE_BYTES, UnusedMemory,
};

/// Arguments that take more are refused: far above what devices report as `CL_DEVICE_MAX_PARAMETER_SIZE`.
const LIMIT_BYTES: u32 = 64 << 10;

/// What becomes of the function's parameters from `first_param` on.
pub enum Lowered {
    Unused,
    /// Type and offset in the block of each parameter.
    Values(Vec<(u32, Type)>),
    /// One parameter: loads from it, each with its offset in the block.
    Loads(Vec<(Inst, u32)>),
    /// One parameter: `size_bytes` of the block are copied to a private variable.
    Variable {
        offset_bytes: u32,
        size_bytes: u32,
        align_bytes: u32,
    },
    Pointer {
        offset_bytes: u32,
        ty: Type,
    },
    Local(GlobalId),
    /// The fields of an image that are read, as places among its parameters and offsets in the block, and its
    /// format's.
    Image {
        fields: Vec<(ImageField, u32)>,
        format_spec_id: Option<u32>,
    },
    /// One parameter, a specialization constant.
    Sampler {
        spec_id: u32,
    },
}

/// The argument block of a kernel, but for the implicit values.
pub struct Plan {
    /// By the first parameter of the function.
    pub parameters: Vec<(usize, Lowered)>,
    pub arguments: Vec<Argument>,
    /// Where the last argument ends.
    pub end_bytes: u32,
}

/// Decides where each argument goes; makes the variables behind `local` ones.
///
/// # Errors
/// They take too much, or one is a pointer to memory that no kernel's argument is in.
pub fn plan(module: &mut Module, id: FuncId) -> Result<Plan, CompileError> {
    let parameters = module.kernels[0].parameters.clone();
    let mut planner = Planner {
        uses: module.functions.iter().map(Uses::of).collect(),
        module,
        id,
        end_bytes: 0,
        next_spec_id: FIRST_FREE_SPEC_ID,
    };
    let mut plan = Plan {
        parameters: Vec::new(),
        arguments: Vec::new(),
        end_bytes: 0,
    };
    for (position, parameter) in parameters.into_iter().enumerate() {
        let first = parameter.first_param;
        let params = planner.module.function(id).params();
        let values = params
            .get(first..first + parameter.param_count)
            .ok_or_else(|| CompileError::internal("a kernel parameter has no function parameter"))?
            .to_vec();
        let (lowered, kind) = planner.parameter(position, parameter.kind, &values)?;
        plan.parameters.push((first, lowered));
        plan.arguments.push(Argument {
            kind,
            info: parameter.info,
        });
    }
    plan.end_bytes = planner.end_bytes;
    Ok(plan)
}

/// A plan being made.
struct Planner<'a> {
    module: &'a mut Module,
    /// By function.
    uses: Vec<Uses>,
    /// The kernel's function.
    id: FuncId,
    end_bytes: u32,
    next_spec_id: u32,
}

impl Planner<'_> {
    fn parameter(
        &mut self,
        position: usize,
        kind: KernelParameterKind,
        values: &[Value],
    ) -> Result<(Lowered, ArgumentKind), CompileError> {
        let is_used = values.iter().any(|&value| self.is_used(value));
        match kind {
            KernelParameterKind::Image(image) => self.image(image, values),
            KernelParameterKind::Sampler => {
                let spec_id = is_used.then(|| self.spec_id());
                let lowered =
                    spec_id.map_or(Lowered::Unused, |spec_id| Lowered::Sampler { spec_id });
                Ok((lowered, ArgumentKind::Sampler { spec_id }))
            }
            _ if !is_used => Ok((Lowered::Unused, unused(&kind))),
            KernelParameterKind::Value {
                size_bytes,
                align_bytes,
                offsets_bytes,
            } => {
                let offset_bytes = self.place(size_bytes, align_bytes)?;
                let function = self.module.function(self.id);
                let places = offsets_bytes
                    .iter()
                    .zip(values)
                    .map(|(within, &v)| (offset_bytes + within, function.ty(v)))
                    .collect();
                let kind = ArgumentKind::Value {
                    offset_bytes,
                    size_bytes,
                };
                Ok((Lowered::Values(places), kind))
            }
            KernelParameterKind::ByValue {
                size_bytes,
                align_bytes,
            } => self.by_value(size_bytes, align_bytes, values[0]),
            KernelParameterKind::Pointer(
                space @ (AddressSpace::Global | AddressSpace::Constant),
            ) => self.buffer(space, values[0]),
            KernelParameterKind::Pointer(AddressSpace::Local) => Ok(self.local(position)),
            KernelParameterKind::Pointer(space) => Err(CompileError::invalid(format!(
                "argument {position} of the kernel is a pointer to {space} memory"
            ))),
        }
    }

    fn is_used(&self, value: Value) -> bool {
        self.uses[self.id.index()].is_used(value)
    }

    fn spec_id(&mut self) -> u32 {
        let id = self.next_spec_id;
        self.next_spec_id = id.saturating_add(1);
        id
    }

    /// Where the next argument lies.
    fn place(&mut self, size_bytes: u32, align_bytes: u32) -> Result<u32, CompileError> {
        let offset = self.end_bytes.next_multiple_of(align_bytes.clamp(1, 16));
        let end = offset.checked_add(size_bytes);
        self.end_bytes = end
            .filter(|&end| end <= LIMIT_BYTES)
            .ok_or_else(|| CompileError::unsupported("the kernel's arguments take over 64 KiB"))?;
        Ok(offset)
    }

    fn image(
        &mut self,
        image: ImageType,
        values: &[Value],
    ) -> Result<(Lowered, ArgumentKind), CompileError> {
        let mut fields = Vec::new();
        let mut format_spec_id = None;
        let mut effects = usage::Effects::default();
        for (field, &value) in ImageField::ALL.into_iter().zip(values) {
            if !self.is_used(value) {
                continue;
            }
            match field {
                ImageField::Format => format_spec_id = Some(self.spec_id()),
                _ => fields.push((field, self.place(field.size_bytes(), field.size_bytes())?)),
            }
            if field == ImageField::Address {
                effects = usage::effects(self.module, &self.uses, self.id, value);
            }
        }
        let lowered = Lowered::Image {
            fields: fields.clone(),
            format_spec_id,
        };
        let kind = ArgumentKind::Image {
            image,
            fields,
            format_spec_id,
            read: effects.read,
            written: effects.written,
        };
        Ok((lowered, kind))
    }

    /// A structure passed by value, behind a pointer.
    fn by_value(
        &mut self,
        size_bytes: u32,
        align_bytes: u32,
        pointer: Value,
    ) -> Result<(Lowered, ArgumentKind), CompileError> {
        let offset_bytes = self.place(size_bytes, align_bytes)?;
        let function = self.module.function(self.id);
        let lowered = match constant_loads(function, &self.uses[self.id.index()], pointer) {
            Some(mut loads) => {
                for (_, within) in &mut loads {
                    *within += offset_bytes;
                }
                Lowered::Loads(loads)
            }
            None => Lowered::Variable {
                offset_bytes,
                size_bytes,
                align_bytes,
            },
        };
        let kind = ArgumentKind::Value {
            offset_bytes,
            size_bytes,
        };
        Ok((lowered, kind))
    }

    /// A pointer to global or constant memory.
    fn buffer(
        &mut self,
        space: AddressSpace,
        pointer: Value,
    ) -> Result<(Lowered, ArgumentKind), CompileError> {
        let offset_bytes = self.place(8, 8)?;
        let effects = usage::effects(self.module, &self.uses, self.id, pointer);
        let kind = ArgumentKind::Buffer {
            offset_bytes,
            address_space: match space {
                AddressSpace::Constant => BufferSpace::Constant,
                _ => BufferSpace::Global,
            },
            written: effects.written,
            read: effects.read,
        };
        let ty = Type::Ptr(space);
        Ok((Lowered::Pointer { offset_bytes, ty }, kind))
    }

    /// A pointer to local memory: a variable of its own.
    fn local(&mut self, position: usize) -> (Lowered, ArgumentKind) {
        let spec_id = self.spec_id();
        let global = self.module.add_global(Global {
            name: format!("argument {position}"),
            space: AddressSpace::Local,
            size_bytes: 0,
            align_bytes: LARGEST_TYPE_BYTES,
            initializer: None,
            relocations: Default::default(),
            spec_id: Some(spec_id),
            export: None,
            import: None,
        });
        let kind = ArgumentKind::Local {
            spec_id,
            element_bytes: 1,
            granule_bytes: 1,
        };
        (Lowered::Local(global), kind)
    }
}

fn unused(kind: &KernelParameterKind) -> ArgumentKind {
    let (size_bytes, memory) = match *kind {
        KernelParameterKind::Value { size_bytes, .. }
        | KernelParameterKind::ByValue { size_bytes, .. } => (size_bytes, UnusedMemory::Value),
        KernelParameterKind::Pointer(AddressSpace::Local) => (0, UnusedMemory::Local),
        // Images and samplers say themselves what is used of them.
        KernelParameterKind::Pointer(_)
        | KernelParameterKind::Image(_)
        | KernelParameterKind::Sampler => (8, UnusedMemory::Buffer),
    };
    ArgumentKind::Unused { size_bytes, memory }
}

/// The loads from a pointer and their byte offsets, if it is used for loads at constant offsets only.
fn constant_loads(function: &Function, uses: &Uses, pointer: Value) -> Option<Vec<(Inst, u32)>> {
    let mut loads = Vec::new();
    let mut work = vec![(pointer, 0u32)];
    while let Some((pointer, offset)) = work.pop() {
        if uses.is_used_by_control_flow(pointer) {
            return None;
        }
        for &inst in uses.insts(pointer) {
            let data = function.inst(inst);
            match data.op {
                Op::Load(_, access) if !access.volatile => loads.push((inst, offset)),
                Op::PtrAdd(base, by) if base == pointer => {
                    let by = function.signed_constant(by)?;
                    let offset = u32::try_from(i64::from(offset).checked_add(by)?).ok()?;
                    work.push((data.results[0], offset));
                }
                _ => return None,
            }
        }
    }
    Some(loads)
}
