//! Kernels: an entry point of a program, with the arguments set so far.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use opencl_sys::{
    CL_INVALID_ARG_INDEX, CL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_DEFINITION,
    CL_INVALID_KERNEL_NAME, CL_INVALID_PROGRAM_EXECUTABLE,
};
use smallvec::SmallVec;

use super::argument::{ArgumentClass, ArgumentValue, Arguments};
use super::indirect::Indirect;
use super::nd_range::NdRange;
use super::plan::LaunchPlans;
use crate::compiler::CompiledKernel;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::device::Device;
use crate::runtime::memory::Memory;
use crate::runtime::object::registry::{Handle, Kind, Object};
use crate::runtime::program::Program;
use crate::runtime::program::kernel_code::{DeviceCode, KernelCode};
use crate::runtime::{Error, Result};

/// A kernel.
pub struct Kernel {
    handle: Handle,
    definition: Arc<Definition>,
    /// Arguments that were never set: spares a look at each in every launch.
    unset: AtomicUsize,
    /// See [`Kernel::version`]. Raised when the state is locked.
    version: AtomicU64,
    /// See [`Kernel::may_be_kept`].
    kept_version: AtomicU64,
    state: Mutex<KernelState>,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Kernel {
    const KIND: Kind = Kind::Kernel;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// What a kernel and its duplicates have in common.
struct Definition {
    attachment: Attachment,
    name: String,
    /// What `clSetKernelArg` must be given, the same on every device.
    classes: Vec<ArgumentClass>,
    /// In the order of the program's devices.
    codes: Vec<Option<KernelCode>>,
}

/// A kernel object that keeps its program from being built again.
struct Attachment(Arc<Program>);

impl Attachment {
    fn new(program: &Arc<Program>) -> Self {
        program.attach_kernel();
        Self(Arc::clone(program))
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.0.detach_kernel();
    }
}

/// What changes about a kernel.
pub struct KernelState {
    pub arguments: Arguments,
    pub plans: LaunchPlans,
    pub indirect: Indirect,
    pub last: Launched,
    /// Where launches are prepared. Empty in between, but for the regions of the last one.
    pub launch: Box<PreparedLaunch>,
}

/// The last launch of a kernel.
#[derive(Clone, Copy, Default)]
pub struct Launched {
    /// [`Kernel::version`]
    pub version: u64,
    pub range: NdRange,
    /// The command's number on its queue.
    pub sequence: u64,
}

impl Kernel {
    /// `clCreateKernel`
    ///
    /// # Errors
    /// `CL_INVALID_PROGRAM_EXECUTABLE`, `CL_INVALID_KERNEL_NAME`, `CL_INVALID_KERNEL_DEFINITION`.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
        let attachment = Attachment::new(program);
        // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program."
        let executables = program.executables();
        if executables.iter().all(Option::is_none) {
            return Err(Error::new(
                CL_INVALID_PROGRAM_EXECUTABLE,
                "program has no executable for any device",
            ));
        }
        let left_out = executables.iter().flatten().find_map(|executable| {
            let mut left_out = executable.program().left_out.iter();
            let (_, reason) = left_out.find(|(left_out, _)| left_out == name)?;
            Some(reason.clone())
        });
        let codes: Vec<Option<KernelCode>> = executables
            .into_iter()
            .map(|executable| KernelCode::find(&executable?, name))
            .collect();
        // "CL_INVALID_KERNEL_NAME if kernel_name is not found in program."
        let mut present = codes.iter().flatten();
        let Some(first) = present.next() else {
            let reason = left_out.map_or_else(String::new, |reason| format!(": {reason}"));
            return Err(Error::new(
                CL_INVALID_KERNEL_NAME,
                format!("program has no kernel '{name}'{reason}"),
            ));
        };
        let classes = classes_of(first.compiled());
        // "CL_INVALID_KERNEL_DEFINITION if the function definition for __kernel function given by
        // kernel_name such as the number of arguments, the argument types are not the same for all devices
        // for which the program executable has been built."
        if present.any(|code| classes_of(code.compiled()) != classes) {
            return Err(Error::new(
                CL_INVALID_KERNEL_DEFINITION,
                format!("kernel '{name}' has other arguments on another device"),
            ));
        }
        for code in codes.iter().flatten() {
            code.executable.prepare(code.index())?;
        }
        let arguments = classes.iter().map(|_| ArgumentValue::Unset).collect();
        let definition = Definition {
            attachment,
            name: name.to_owned(),
            classes,
            codes,
        };
        Ok(Self::of(
            Arc::new(definition),
            arguments,
            Indirect::default(),
        ))
    }

    fn of(definition: Arc<Definition>, arguments: Arguments, indirect: Indirect) -> Arc<Self> {
        Arc::new(Self {
            handle: Handle::default(),
            definition,
            unset: AtomicUsize::new(unset_count(&arguments)),
            version: AtomicU64::new(1),
            kept_version: AtomicU64::new(0),
            state: Mutex::new(KernelState {
                arguments,
                plans: LaunchPlans::default(),
                indirect,
                last: Launched::default(),
                launch: Box::default(),
            }),
        })
    }

    /// `clCloneKernel`: a kernel of its own with the same arguments and execution information set.
    pub fn duplicate(&self) -> Arc<Self> {
        self.duplicate_as(Arc::clone(&self.definition))
    }

    /// A duplicate with code that reads its arguments from memory, where such code can be had ([`Kernel::duplicate`]).
    pub fn duplicate_for_updates(&self) -> Arc<Self> {
        let own = &*self.definition;
        let in_memory = |code: &KernelCode| {
            KernelCode::find(code.executable.with_arguments_in_memory()?, &own.name)
        };
        let codes = own.codes.iter().map(|code| {
            let code = code.as_ref()?;
            Some(in_memory(code).unwrap_or_else(|| code.clone()))
        });
        let definition = Definition {
            attachment: Attachment::new(self.program()),
            name: own.name.clone(),
            classes: own.classes.clone(),
            codes: codes.collect(),
        };
        self.duplicate_as(Arc::new(definition))
    }

    fn duplicate_as(&self, definition: Arc<Definition>) -> Arc<Self> {
        let state = self.lock();
        let (arguments, indirect) = (state.arguments.clone(), state.indirect.clone());
        Self::of(definition, arguments, indirect)
    }

    pub fn name(&self) -> &str {
        &self.definition.name
    }

    pub fn program(&self) -> &Arc<Program> {
        &self.definition.attachment.0
    }

    /// `CL_KERNEL_NUM_ARGS`
    pub fn argument_count(&self) -> usize {
        self.definition.classes.len()
    }

    /// What the argument at `index` is.
    ///
    /// # Errors
    /// `CL_INVALID_ARG_INDEX`
    pub fn argument_class(&self, index: u32) -> Result<ArgumentClass> {
        // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index."
        self.definition
            .classes
            .get(index as usize)
            .copied()
            .ok_or_else(|| {
                Error::new(
                    CL_INVALID_ARG_INDEX,
                    format!(
                        "arg_index is {index}, kernel '{}' has {} arguments",
                        self.definition.name,
                        self.definition.classes.len()
                    ),
                )
            })
    }

    /// Sets an argument, whose class the value must fit.
    pub fn set_argument(&self, index: u32, mut value: ArgumentValue) {
        self.exchange_argument(index, &mut value);
    }

    /// Sets an argument to what it was given, and that to what the argument was.
    pub fn exchange_argument(&self, index: u32, value: &mut ArgumentValue) {
        let state = &mut *self.lock();
        let Some(argument) = state.arguments.get_mut(index as usize) else {
            return;
        };
        if argument.is_same(value) {
            return;
        }
        let is_unset = |value: &ArgumentValue| matches!(value, ArgumentValue::Unset);
        match (is_unset(argument), is_unset(value)) {
            (true, false) => drop(self.unset.fetch_sub(1, Ordering::Release)),
            (false, true) => drop(self.unset.fetch_add(1, Ordering::Release)),
            _ => {}
        }
        std::mem::swap(argument, value);
        self.change();
    }

    /// Changes what `clSetKernelExecInfo` says of it.
    pub fn set_indirect<R>(&self, set: impl FnOnce(&mut Indirect) -> R) -> R {
        let state = &mut *self.lock();
        let result = set(&mut state.indirect);
        self.change();
        result
    }

    /// What it is launched with has been changed. Its state is locked.
    fn change(&self) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version + 1, Ordering::Release);
    }

    /// Another one whenever what it is launched with is changed.
    pub fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Whether it is worth to look for a launch of it as it is among those that its queue has kept.
    pub(in crate::runtime) fn may_be_kept(&self) -> bool {
        self.kept_version.load(Ordering::Relaxed) == self.version()
    }

    /// A launch of that version is kept by its queue.
    pub(in crate::runtime) fn note_kept(&self, version: u64) {
        self.kept_version.store(version, Ordering::Relaxed);
    }

    /// Whether every argument has been set. None ever becomes unset again, but for an update that fails.
    pub fn has_all_arguments(&self) -> bool {
        self.unset.load(Ordering::Acquire) == 0
    }

    /// "CL_INVALID_KERNEL_ARGS if the kernel argument values have not been specified."
    ///
    /// # Errors
    /// That. The kernel must not be locked.
    pub fn check_arguments(&self) -> Result<()> {
        if self.has_all_arguments() {
            return Ok(());
        }
        let is_unset = |argument: &ArgumentValue| matches!(argument, ArgumentValue::Unset);
        match self.lock().arguments.iter().position(is_unset) {
            None => Ok(()),
            Some(index) => Err(Error::new(
                CL_INVALID_KERNEL_ARGS,
                format!(
                    "argument {index} of kernel '{}' was never set",
                    self.definition.name
                ),
            )),
        }
    }

    /// Devices with code for this kernel, with their places in the program's list.
    pub fn codes(&self) -> impl Iterator<Item = (usize, &KernelCode)> {
        let codes = &self.definition.codes;
        codes
            .iter()
            .enumerate()
            .filter_map(|(index, code)| Some((index, code.as_ref()?)))
    }

    /// The code for a device; `None` if the program was not built for the device.
    pub fn code(&self, device: &Arc<Device>) -> Option<DeviceCode<'_>> {
        let place = self.program().device_index(device)?;
        let code = self.definition.codes.get(place)?.as_ref()?;
        Some(DeviceCode {
            place,
            code,
            compiled: code.compiled(),
        })
    }

    /// Code to ask about what no device changes: names and attributes.
    pub fn any_code(&self) -> Option<&KernelCode> {
        self.definition.codes.iter().flatten().next()
    }

    pub fn lock(&self) -> MutexGuard<'_, KernelState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The memory objects among the arguments.
    pub fn memories(&self) -> SmallVec<[Arc<Memory>; 4]> {
        let state = self.lock();
        let memory = |argument: &ArgumentValue| match argument {
            ArgumentValue::Memory(Some(memory)) => memory.upgrade(),
            _ => None,
        };
        state.arguments.iter().filter_map(memory).collect()
    }

    /// What an argument is set to, for `clGetKernelWorkGroupInfo` and for tests.
    pub fn argument(&self, index: usize) -> ArgumentValue {
        self.lock()
            .arguments
            .get(index)
            .cloned()
            .unwrap_or_default()
    }
}

fn unset_count(arguments: &[ArgumentValue]) -> usize {
    let is_unset = |argument: &&ArgumentValue| matches!(argument, ArgumentValue::Unset);
    arguments.iter().filter(is_unset).count()
}

fn classes_of(kernel: &CompiledKernel) -> Vec<ArgumentClass> {
    kernel.arguments.iter().map(ArgumentClass::of).collect()
}
