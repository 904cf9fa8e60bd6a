//! Entry points: kernels, their parameters, attributes and argument information.

use super::decode::Instruction;
use super::types::{Kind, Storage};
use super::{EntryPoint, Parameter, Source};
use crate::compiler::CompileError;
use crate::compiler::ir::{AddressSpace, Kernel, KernelParameter, KernelParameterKind};
use crate::compiler::program::{AccessQualifier, AddressQualifier, ArgumentInfo};
use rspirv::spirv::{ExecutionMode, Op};
use std::collections::HashSet;

/// Parameters of all kernels together, and some hundred bytes of their names: many entry points may have one function.
const MOST_PARAMETERS: usize = 1 << 18;

/// Bytes of a name that count as much as a parameter.
const NAME_BYTES: usize = 128;

/// Adds a kernel for every entry point.
pub(super) fn add(source: &mut Source<'_>) -> Result<(), CompileError> {
    let mut names = HashSet::new();
    let mut count = 0;
    for entry in std::mem::take(&mut source.entry_points) {
        count += weight(source, &entry);
        if count > MOST_PARAMETERS {
            let error = entry
                .inst
                .unsupported("the kernels have too many parameters");
            return Err(error.in_function(entry.name));
        }
        let kernel = kernel(source, &entry)
            .map_err(|error| entry.inst.locate(error).in_function(entry.name.as_str()))?;
        if !names.insert(kernel.name.clone()) {
            let error = entry.inst.invalid("two kernels have the same name");
            return Err(error.in_function(entry.name));
        }
        source.module.kernels.push(kernel);
    }
    Ok(())
}

/// What a kernel's parameters count.
fn weight(source: &Source<'_>, entry: &EntryPoint<'_>) -> usize {
    let declared = source.functions.get(&entry.function);
    let parameters = declared.map_or(&[][..], |declared| &declared.parameters);
    let each = parameters.iter().map(|parameter| {
        let name = source.decorations.name(parameter.id).unwrap_or_default();
        let slots = source
            .types
            .slots(parameter.ty)
            .map_or(0, |slots| slots.len());
        1 + name.len() / NAME_BYTES + slots / size_of::<ArgumentInfo>()
    });
    each.sum()
}

fn kernel(source: &Source<'_>, entry: &EntryPoint<'_>) -> Result<Kernel, CompileError> {
    let declared = source.functions.get(&entry.function).ok_or_else(|| {
        entry
            .inst
            .invalid(format!("{} is not a function", entry.function))
    })?;
    if !source.types.is_void(declared.result) {
        return Err(entry.inst.invalid("a kernel returns a value"));
    }
    let types = argument_strings(source, "kernel_arg_type", &entry.name);
    let qualifiers = argument_strings(source, "kernel_arg_type_qual", &entry.name);
    let mut parameters = Vec::with_capacity(declared.parameters.len());
    let mut first_param = 0;
    for (index, parameter) in declared.parameters.iter().enumerate() {
        let kind = parameter_kind(source, parameter)?;
        let pipe = match source.types.get(parameter.ty)?.kind {
            Kind::Pipe(access) => Some(access),
            _ => None,
        };
        let mut info = ArgumentInfo {
            address: map_address(&kind),
            access: match (&kind, pipe) {
                (KernelParameterKind::Image(image), _) => image.access,
                (_, Some(access)) => access,
                _ => AccessQualifier::None,
            },
            is_pipe: pipe.is_some(),
            ..ArgumentInfo::default()
        };
        if let Some(types) = &types {
            info.type_name = types.get(index).cloned();
            info.name = source.decorations.name(parameter.id).map(str::to_owned);
        }
        if let Some(qualifiers) = qualifiers.as_ref().and_then(|all| all.get(index)) {
            let has = |word: &str| qualifiers.split_whitespace().any(|other| other == word);
            info.is_const = has("const");
            info.is_restrict = has("restrict");
            info.is_volatile = has("volatile");
        }
        let param_count = source.types.slots(parameter.ty)?.len();
        parameters.push(KernelParameter {
            kind,
            info,
            first_param,
            param_count,
        });
        first_param += param_count;
    }
    // clang leaves the execution mode out of the constructors that it makes.
    let is_constructor = parameters.is_empty() && entry.name.starts_with("_GLOBAL__sub_I_");
    let mut kernel = Kernel::new(entry.name.clone(), declared.id);
    kernel.parameters = parameters;
    kernel.attributes.is_initializer = is_constructor;
    for mode in &source.execution_modes {
        if mode.id(0)? == entry.function {
            execution_mode(source, mode, &mut kernel)?;
        }
    }
    Ok(kernel)
}

fn parameter_kind(
    source: &Source<'_>,
    parameter: &Parameter,
) -> Result<KernelParameterKind, CompileError> {
    let too_large = || CompileError::unsupported("a kernel argument is too large");
    let data = source.types.get(parameter.ty)?;
    match data.kind {
        Kind::Image(image) => return Ok(KernelParameterKind::Image(image)),
        Kind::Sampler => return Ok(KernelParameterKind::Sampler),
        Kind::Pipe(_) => return Ok(KernelParameterKind::Pointer(AddressSpace::Global)),
        _ => {}
    }
    if let Kind::Pointer {
        storage: Storage::Space(space),
        pointee,
    } = data.kind
    {
        return match space {
            AddressSpace::Global | AddressSpace::Constant | AddressSpace::Local => {
                Ok(KernelParameterKind::Pointer(space))
            }
            AddressSpace::Private => {
                let layout = match parameter.by_value {
                    Some(layout) => layout,
                    None => source.by_value_layout(parameter.id, pointee)?,
                };
                Ok(KernelParameterKind::ByValue {
                    size_bytes: layout.size_bytes.try_into().map_err(|_| too_large())?,
                    align_bytes: layout.align_bytes,
                })
            }
            AddressSpace::Generic => Err(CompileError::invalid(
                "a kernel argument is a generic pointer",
            )),
        };
    }
    let layout = source.types.layout(parameter.ty)?;
    let slots = source.types.slots(parameter.ty)?;
    let offsets = slots.iter().map(|slot| u32::try_from(slot.offset_bytes));
    Ok(KernelParameterKind::Value {
        size_bytes: layout.size_bytes.try_into().map_err(|_| too_large())?,
        align_bytes: layout.align_bytes,
        offsets_bytes: offsets.collect::<Result<_, _>>().map_err(|_| too_large())?,
    })
}

fn map_address(kind: &KernelParameterKind) -> AddressQualifier {
    match kind {
        KernelParameterKind::Pointer(AddressSpace::Global) | KernelParameterKind::Image(_) => {
            AddressQualifier::Global
        }
        KernelParameterKind::Pointer(AddressSpace::Local) => AddressQualifier::Local,
        KernelParameterKind::Pointer(AddressSpace::Constant) => AddressQualifier::Constant,
        _ => AddressQualifier::Private,
    }
}

fn execution_mode(
    source: &Source<'_>,
    inst: &Instruction<'_>,
    kernel: &mut Kernel,
) -> Result<(), CompileError> {
    let operand = |index: usize| -> Result<u32, CompileError> {
        if inst.op == Op::ExecutionMode {
            return inst.word(index);
        }
        source
            .constants
            .integer(inst.id(index)?)
            .and_then(|value| u32::try_from(value).ok())
            .ok_or_else(|| inst.invalid("the operand is not a constant"))
    };
    let attributes = &mut kernel.attributes;
    match ExecutionMode::from_u32(inst.word(1)?) {
        Some(ExecutionMode::LocalSize | ExecutionMode::LocalSizeId) => {
            attributes.required_work_group_size = Some([operand(2)?, operand(3)?, operand(4)?]);
        }
        Some(ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId) => {
            attributes.work_group_size_hint = Some([operand(2)?, operand(3)?, operand(4)?]);
        }
        Some(ExecutionMode::VecTypeHint) => {
            // The instruction has no signs; Pumice's own front end adds the type as the source spells it.
            attributes.vec_type_hint =
                argument_strings(source, "kernel_vec_type_hint", &kernel.name)
                    .and_then(|spelled| spelled.into_iter().next())
                    .or(map_vector_type(operand(2)?));
        }
        Some(ExecutionMode::SubgroupSize) => {
            attributes.required_sub_group_size = Some(operand(2)?);
        }
        Some(ExecutionMode::SubgroupsPerWorkgroup | ExecutionMode::SubgroupsPerWorkgroupId) => {
            attributes.required_sub_groups = Some(operand(2)?);
        }
        Some(ExecutionMode::Initializer) => attributes.is_initializer = true,
        Some(ExecutionMode::ContractionOff) => kernel.contraction_off = true,
        // Hints, promises of the program, and permissions to compute less exactly.
        Some(
            ExecutionMode::FPFastMathDefault
            | ExecutionMode::MaxWorkgroupSizeINTEL
            | ExecutionMode::MaxWorkDimINTEL
            | ExecutionMode::NoGlobalOffsetINTEL
            | ExecutionMode::NumSIMDWorkitemsINTEL
            | ExecutionMode::SchedulerTargetFmaxMhzINTEL
            | ExecutionMode::MaximumRegistersINTEL
            | ExecutionMode::MaximumRegistersIdINTEL
            | ExecutionMode::NamedMaximumRegistersINTEL,
        ) => {}
        // What OpenCL demands of every kernel; denormals of singles as the device's floating-point
        // configuration says.
        Some(
            ExecutionMode::SignedZeroInfNanPreserve
            | ExecutionMode::RoundingModeRTE
            | ExecutionMode::DenormPreserve
            | ExecutionMode::FloatingPointModeIEEEINTEL,
        ) => {}
        // Among them program-scope destructors, which no one would run, and other directions of rounding.
        Some(mode) => {
            return Err(inst.unsupported(format!("execution mode {mode:?} is not supported")));
        }
        None => {
            let mode = inst.word(1)?;
            return Err(inst.invalid(format!("execution mode {mode} is unknown")));
        }
    }
    Ok(())
}

/// SPIR-V section 3.6, `VecTypeHint`: the number of components and the scalar's kind, as OpenCL C spells it.
fn map_vector_type(hint: u32) -> Option<String> {
    let scalar = ["char", "short", "int", "long", "half", "float", "double"];
    let scalar = scalar.get((hint & 0xffff) as usize)?;
    Some(match hint >> 16 {
        0 | 1 => (*scalar).to_owned(),
        count => format!("{scalar}{count}"),
    })
}

/// The parts of `OpString "KIND.KERNEL.part,part,"`: how LLVM's translators hand on argument information.
fn argument_strings(source: &Source<'_>, kind: &str, kernel: &str) -> Option<Vec<String>> {
    let list = source.decorations.strings.iter().find_map(|string| {
        string
            .strip_prefix(kind)?
            .strip_prefix('.')?
            .strip_prefix(kernel)?
            .strip_prefix('.')
    })?;
    let mut parts: Vec<String> = list.split(',').map(str::to_owned).collect();
    // Each part ends with a comma.
    parts.pop();
    Some(parts)
}
