//! Runs the probes: compiled for all that the device claims, launched one after the other.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::cases::{self, Case, GROUP};

use crate::compiler::program::{ArgumentKind, Implicit, Placement};
use crate::compiler::{Capabilities, CompiledKernel, CompiledProgram, Defects, PackedModule};
use crate::runtime::code::compile::compile_on_own_stack;
use crate::runtime::code::modules::Modules;
use crate::runtime::device::findings::{Finding, Findings, Origin, Subject};
use crate::runtime::device::target;
use crate::vulkan::{
    self, Buffer, MemoryKind, Pipeline, PipelineOptions, Recorder, ShaderModule, Timeline,
};

/// The kernels, without those of doubles.
const SINGLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probes.spv"));

/// The kernels, as OpenCL SPIR-V.
pub const KERNELS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/probes_doubles.spv"));

/// How long a probe may take until it is given up: all of what it was about is missing then.
const PATIENCE: Duration = Duration::from_secs(10);

/// What addresses and bytes are computed with: tried first, so that the others do not go wrong over it.
const FIRST: [Subject; 3] = [
    Subject::Longs,
    Subject::NarrowIntegers,
    Subject::NarrowMemory,
];

/// What was found of a device. `None` of what its driver refuses to run or does not come to the end of, and of what need not be
/// tried.
pub type Tried = Vec<(Subject, Option<bool>)>;

/// Why a probe did not come to its end.
enum Failure {
    /// There is no memory for it, which says nothing of what it is about.
    Memory,
    /// The driver refuses it, the device does not end it, or is lost over it.
    Refused(String),
}

impl From<vulkan::Error> for Failure {
    fn from(error: vulkan::Error) -> Self {
        match error {
            vulkan::Error::OutOfHostMemory | vulkan::Error::OutOfDeviceMemory => Self::Memory,
            other => Self::Refused(other.to_string()),
        }
    }
}

/// Tries a device out; `None` where memory runs out meanwhile. A device that is lost over it is no more tried, and of no use.
pub fn try_out(device: &Arc<vulkan::Device>, info: &vulkan::PhysicalDeviceInfo) -> Option<Tried> {
    let start = Instant::now();
    let mut cases = cases::all(info, claimed(info).subgroup_size);
    // What the driver's file decides need not be tried; that the device claims it is kept all the same.
    let is_open = |subject: &Subject| super::of_driver(info, *subject).is_none();
    let decided = cases.extract_if(.., |case| !case.subjects.iter().any(is_open));
    let mut found: Tried = decided
        .flat_map(|case| case.subjects)
        .map(|subject| (subject, None))
        .collect();
    let is_first = |case: &Case| case.subjects.iter().any(|subject| FIRST.contains(subject));
    let (first, rest): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(is_first);
    run_all(device, info, &first, &mut found)?;
    let wrong = found
        .iter()
        .filter(|(subject, holds)| is_open(subject) && *holds != Some(true));
    let wrong = wrong.map(|&(subject, _)| Finding {
        subject,
        holds: false,
        origin: Origin::Tried,
    });
    let mut info = info.clone();
    Findings(wrong.collect()).correct(&mut info);
    run_all(device, &info, &rest, &mut found)?;
    log::info!("{} was tried out in {:?}", info.name, start.elapsed());
    Some(found)
}

/// Runs probes, and adds what they find. `None` where memory runs out.
fn run_all(
    device: &Arc<vulkan::Device>,
    info: &vulkan::PhysicalDeviceInfo,
    cases: &[Case],
    found: &mut Tried,
) -> Option<()> {
    let capabilities = claimed(info);
    let program = compile(&capabilities)
        // That is no fault of the device: it is taken at its word.
        .inspect_err(|message| {
            log::error!("the probes can't be compiled for {}: {message}", info.name);
        })
        .ok()?;
    for case in cases {
        if device.is_lost() {
            break;
        }
        match run(device, &capabilities, &program, case) {
            Ok(buffers) => {
                let verdicts = (case.judge)(&buffers).into_iter();
                found.extend(verdicts.map(|(subject, holds)| (subject, Some(holds))));
            }
            Err(Failure::Refused(message)) => {
                let name = &info.name;
                log::warn!("{name}: the probe '{}' failed: {message}", case.kernel);
                found.extend(case.subjects.iter().map(|subject| (*subject, None)));
            }
            Err(Failure::Memory) => {
                log::warn!("{} can't be tried out: there is no memory", info.name);
                return None;
            }
        }
    }
    Some(())
}

/// What the device claims, and all that Vulkan leaves open.
fn claimed(info: &vulkan::PhysicalDeviceInfo) -> Capabilities {
    let capabilities = target::capabilities(info, &Findings::default());
    Capabilities {
        fused_fma16: true,
        fused_fma32: true,
        fused_fma64: capabilities.float64,
        precise_exp2: true,
        // Loops of so few iterations lose none.
        defects: capabilities.defects - Defects::LIMITS_ITERATIONS,
        ..capabilities
    }
}

fn compile(capabilities: &Capabilities) -> Result<CompiledProgram, String> {
    let bytes = if capabilities.float64 {
        KERNELS
    } else {
        SINGLE
    };
    let modules = Modules {
        modules: vec![PackedModule::of_bytes(bytes).map_err(|error| error.to_string())?],
        ..Modules::default()
    };
    compile_on_own_stack(capabilities, &modules, false)
}

/// Launches a probe, and returns what is in its buffers behind.
fn run(
    device: &Arc<vulkan::Device>,
    capabilities: &Capabilities,
    program: &CompiledProgram,
    case: &Case,
) -> Result<Vec<Vec<u32>>, Failure> {
    let missing = || Failure::Refused("there is no such kernel".to_owned());
    let kernel = program
        .kernels
        .iter()
        .find(|kernel| kernel.name == case.kernel);
    let kernel = kernel.ok_or_else(missing)?;
    let buffers = (case.buffers.iter())
        .map(|words| filled(device, words))
        .collect::<Result<Vec<_>, _>>()?;
    let addresses: Vec<u64> = buffers.iter().map(Buffer::device_address).collect();
    let order_word = filled(device, &[0; 64])?;
    let block = block(kernel, case, &addresses, order_word.device_address()).ok_or_else(missing)?;
    let words = kernel.spirv.words();
    let words = words.map_err(|error| Failure::Refused(error.to_string()))?;
    let module = ShaderModule::new(device, &words)?;
    let groups = &device.info().subgroup;
    let size = capabilities.subgroup_size;
    let options = PipelineOptions {
        required_subgroup_size: (kernel.uses_subgroups
            && groups.size_control
            && groups.min_size != groups.max_size)
            .then_some(size),
        full_subgroups: kernel.uses_subgroups
            && groups.full_subgroups
            && GROUP.is_multiple_of(size as usize),
        push_constant_bytes: Some(block.len() as u32),
        ..PipelineOptions::default()
    };
    let pipeline = Pipeline::new(device, &module, &[], options, None)?;
    let timeline = Timeline::new(device)?;
    let mut recorder = Recorder::new(device)?;
    recorder.begin()?;
    recorder.dispatch(&pipeline, &block, [case.groups, 1, 1]);
    recorder.end()?;
    device.submit(device.spare_queue(), &[&recorder], &timeline, 1)?;
    if !timeline.wait(1, PATIENCE)? {
        // What the device still uses must stay.
        std::mem::forget((pipeline, recorder, timeline, buffers, order_word));
        return Err(Failure::Refused("it does not end".to_owned()));
    }
    Ok(buffers
        .iter()
        .zip(&case.buffers)
        .map(|(buffer, words)| contents(buffer, words.len()))
        .collect())
}

/// A buffer that the host sees, with these words in it.
fn filled(device: &Arc<vulkan::Device>, words: &[u32]) -> Result<Buffer, Failure> {
    let buffer = device
        .create_buffer(size_of_val(words) as u64, MemoryKind::Readback)
        .map_err(|_| Failure::Memory)?;
    if let Some(pointer) = buffer.mapped() {
        // SAFETY: the buffer is new, mapped, and has room for that many words.
        unsafe {
            pointer
                .cast::<u32>()
                .as_ptr()
                .copy_from_nonoverlapping(words.as_ptr(), words.len())
        };
    }
    Ok(buffer)
}

fn contents(buffer: &Buffer, count: usize) -> Vec<u32> {
    let mut words = vec![0_u32; count];
    if let Some(pointer) = buffer.mapped() {
        // SAFETY: mapped, with room for that many words, and the device is done.
        unsafe {
            words
                .as_mut_ptr()
                .copy_from_nonoverlapping(pointer.cast::<u32>().as_ptr(), count)
        };
    }
    words
}

/// The kernel's arguments: buffers, and what it wants to know of its range. `None` where it takes something else.
fn block(
    kernel: &CompiledKernel,
    case: &Case,
    addresses: &[u64],
    order_word: u64,
) -> Option<Vec<u8>> {
    let layout = &kernel.argument_block;
    if layout.placement != Placement::PushConstants {
        return None;
    }
    let mut bytes = vec![0; layout.size_bytes as usize];
    let mut put = |offset: u32, value: &[u8]| {
        let place = bytes.get_mut(offset as usize..)?.get_mut(..value.len())?;
        place.copy_from_slice(value);
        Some(())
    };
    for (argument, address) in kernel.arguments.iter().zip(addresses) {
        match argument.kind {
            ArgumentKind::Buffer { offset_bytes, .. } => {
                put(offset_bytes, &address.to_le_bytes())?;
            }
            ArgumentKind::Unused { .. } => {}
            _ => return None,
        }
    }
    let items = u64::from(case.groups) * GROUP as u64;
    for &(implicit, offset_bytes) in &layout.implicit {
        match implicit {
            Implicit::GlobalSize(0) => put(offset_bytes, &items.to_le_bytes())?,
            Implicit::GlobalSize(_) => put(offset_bytes, &1_u64.to_le_bytes())?,
            Implicit::NumGroups(0) => put(offset_bytes, &case.groups.to_le_bytes())?,
            Implicit::NumGroups(_) => put(offset_bytes, &1_u32.to_le_bytes())?,
            Implicit::OrderWord => put(offset_bytes, &order_word.to_le_bytes())?,
            Implicit::DispatchWidth => put(offset_bytes, &(items as u32).to_le_bytes())?,
            Implicit::GlobalOffset(_) | Implicit::GlobalBase(_) | Implicit::GroupBase(_) => {}
            _ => return None,
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::device::limits::tests::software_device;

    /// All can be launched as they are made for any device.
    #[test]
    fn arguments_are_known() {
        let mut info = software_device();
        let features = &mut info.features;
        features.shader_float16 = true;
        features.shader_float64 = true;
        features.shader_int64 = true;
        (features.shader_int8, features.shader_int16) = (true, true);
        (features.storage_buffer_8bit, features.storage_buffer_16bit) = (true, true);
        for capabilities in [
            Capabilities::full(),
            Capabilities::nvidia(),
            Capabilities::lavapipe(),
            Capabilities::radv(),
            Capabilities::minimal(),
        ] {
            let capabilities = Capabilities {
                defects: capabilities.defects - Defects::LIMITS_ITERATIONS,
                ..capabilities
            };
            let program = compile(&capabilities).expect("they compile");
            for case in cases::all(&info, 32) {
                let named = |kernel: &&CompiledKernel| kernel.name == case.kernel;
                let Some(kernel) = program.kernels.iter().find(named) else {
                    assert!(case.kernel == "doubles" && !capabilities.float64);
                    continue;
                };
                let implicit = &kernel.argument_block.implicit;
                let addresses = vec![0; case.buffers.len()];
                let block = block(kernel, &case, &addresses, 0);
                assert!(block.is_some(), "{}: {implicit:?}", case.kernel);
            }
        }
    }
}
