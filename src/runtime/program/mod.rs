//! Programs: where they come from, and what was built of them for each device.

pub mod build;
pub mod executable;
mod initializers;
pub mod kernel_code;
pub mod lost_iterations;
pub mod object;
pub mod pipeline_key;
pub mod source;
pub mod specialization;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::executable::Executable;
use self::object::Object as CompiledObject;
use self::source::Source;
use super::context::Context;
use super::device::Device;
use super::object::registry::{Handle, Kind, Object};
use super::{Error, Result};
use crate::compiler::PackedModule;
use crate::runtime::code::binary::{Binary, StoredExecutable};
use crate::runtime::code::modules::Modules;

/// A program.
pub struct Program {
    handle: Handle,
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    origin: Origin,
    state: Mutex<State>,
    /// Kernel objects that exist: a program with kernels can't be built again.
    kernels: AtomicUsize,
}

// SAFETY: the only object of this kind.
unsafe impl Object for Program {
    const KIND: Kind = Kind::Program;

    fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// What a program was created from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// `clCreateProgramWithSource`
    Source(Source),
    /// `clCreateProgramWithIL`: the bytes as given, and the module they are.
    Il {
        bytes: Vec<u8>,
        module: PackedModule,
    },
    /// `clCreateProgramWithBinary`
    Binary,
    /// `clLinkProgram`
    Linked,
}

/// `CL_PROGRAM_BUILD_STATUS`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuildStatus {
    #[default]
    None,
    InProgress,
    Success,
    Error,
}

/// What there is of a program for one device.
#[derive(Clone, Default)]
pub enum Product {
    #[default]
    None,
    Object(Arc<CompiledObject>),
    Library(Arc<Modules>),
    /// From a binary, not built yet.
    Loaded(Arc<StoredExecutable>),
    Executable(Arc<Executable>),
}

/// A program's state for one device.
#[derive(Clone, Default)]
pub struct DeviceBuild {
    pub status: BuildStatus,
    /// The options as the application gave them.
    pub options: String,
    pub log: String,
    pub product: Product,
}

#[derive(Default)]
struct State {
    /// In the order of the program's devices.
    builds: Vec<DeviceBuild>,
    /// `clSetProgramSpecializationConstant`
    specialization: BTreeMap<u32, Vec<u8>>,
}

impl Program {
    /// A program for all devices of its context.
    pub fn new(context: &Arc<Context>, origin: Origin) -> Arc<Self> {
        Self::for_devices(context, context.devices().to_vec(), origin)
    }

    /// A program for some devices of its context.
    pub fn for_devices(
        context: &Arc<Context>,
        devices: Vec<Arc<Device>>,
        origin: Origin,
    ) -> Arc<Self> {
        let builds = vec![DeviceBuild::default(); devices.len()];
        Arc::new(Self {
            handle: Handle::default(),
            context: Arc::clone(context),
            devices,
            origin,
            state: Mutex::new(State {
                builds,
                specialization: BTreeMap::new(),
            }),
            kernels: AtomicUsize::new(0),
        })
    }

    /// `clCreateProgramWithBinary`: one binary for each of `devices`.
    pub fn from_binaries(
        context: &Arc<Context>,
        devices: Vec<Arc<Device>>,
        binaries: Vec<Binary>,
    ) -> Arc<Self> {
        let program = Self::for_devices(context, devices, Origin::Binary);
        {
            let mut state = program.lock();
            for (build, binary) in state.builds.iter_mut().zip(binaries) {
                build.product = match binary {
                    Binary::Object(modules) => {
                        Product::Object(Arc::new(CompiledObject::new(modules, None)))
                    }
                    Binary::Library(modules) => Product::Library(Arc::new(modules)),
                    Binary::Executable(stored) => Product::Loaded(Arc::new(stored)),
                };
            }
        }
        program
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The place of a device in [`Self::devices`].
    pub fn device_index(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices
            .iter()
            .position(|other| Arc::ptr_eq(other, device))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state for the device at `index`.
    pub fn build(&self, index: usize) -> DeviceBuild {
        self.lock().builds.get(index).cloned().unwrap_or_default()
    }

    /// The state for every device.
    pub fn builds(&self) -> Vec<DeviceBuild> {
        self.lock().builds.clone()
    }

    /// The executables there are, by device.
    pub fn executables(&self) -> Vec<Option<Arc<Executable>>> {
        self.lock()
            .builds
            .iter()
            .map(|build| match (&build.product, build.status) {
                (Product::Executable(executable), BuildStatus::Success) => {
                    Some(Arc::clone(executable))
                }
                _ => None,
            })
            .collect()
    }

    /// The names of the kernels, from the first device that has an executable; `None` if none has.
    pub fn kernel_names(&self) -> Option<Vec<String>> {
        let executable = self.executables().into_iter().flatten().next()?;
        let kernels = &executable.program().kernels;
        let callable = kernels
            .iter()
            .filter(|kernel| !kernel.attributes.is_initializer);
        Some(callable.map(|kernel| kernel.name.clone()).collect())
    }

    /// The program binary for the device at `index`; empty when there is nothing.
    pub fn binary(&self, index: usize) -> Vec<u8> {
        let Some(device) = self.devices.get(index) else {
            return Vec::new();
        };
        let binary = match self.build(index).product {
            Product::None => return Vec::new(),
            Product::Object(object) => match object.whole() {
                Ok(modules) => Binary::Object(modules),
                Err(log) => {
                    log::warn!("no binary of a compiled program: {log}");
                    return Vec::new();
                }
            },
            Product::Library(modules) => Binary::Library((*modules).clone()),
            Product::Loaded(stored) => Binary::Executable((*stored).clone()),
            Product::Executable(executable) => Binary::Executable(executable.stored()),
        };
        binary.to_bytes(device.capabilities())
    }

    /// Sets a specialization constant for later builds.
    pub fn specialize(&self, spec_id: u32, value: Vec<u8>) {
        self.lock().specialization.insert(spec_id, value);
    }

    /// Counts a kernel object in.
    pub(super) fn attach_kernel(&self) {
        self.kernels.fetch_add(1, Ordering::AcqRel);
    }

    /// Counts a kernel object out.
    pub(super) fn detach_kernel(&self) {
        self.kernels.fetch_sub(1, Ordering::AcqRel);
    }

    /// Marks the devices as being built.
    ///
    /// # Errors
    /// `CL_INVALID_OPERATION`: kernels are attached, or a build of one of the devices has not finished.
    fn begin(&self, devices: &[usize], options: &str) -> Result<()> {
        let mut state = self.lock();
        // "CL_INVALID_OPERATION if the build of a program executable for any of the devices listed in
        // device_list by a previous call to clBuildProgram for program has not completed."
        let busy = devices.iter().any(|index| {
            state
                .builds
                .get(*index)
                .is_some_and(|build| build.status == BuildStatus::InProgress)
        });
        if busy {
            return Err(Error::invalid_operation(
                "program is still being built for one of these devices",
            ));
        }
        // "CL_INVALID_OPERATION if there are kernel objects attached to program."
        let kernels = self.kernels.load(Ordering::Acquire);
        if kernels > 0 {
            return Err(Error::invalid_operation(format!(
                "program has {kernels} kernel objects attached"
            )));
        }
        for index in devices {
            if let Some(build) = state.builds.get_mut(*index) {
                build.status = BuildStatus::InProgress;
                build.options = options.to_owned();
                build.log.clear();
            }
        }
        Ok(())
    }

    fn finish(&self, index: usize, result: build::Built) {
        let mut state = self.lock();
        if let Some(build) = state.builds.get_mut(index) {
            build.log = result.log;
            build.status = match result.product {
                Some(product) => {
                    build.product = product;
                    BuildStatus::Success
                }
                None => {
                    // What a binary holds stays; what a failed build replaced is gone.
                    if !matches!(self.origin, Origin::Binary) {
                        build.product = Product::None;
                    }
                    BuildStatus::Error
                }
            };
        }
    }

    fn specialization(&self) -> BTreeMap<u32, Vec<u8>> {
        self.lock().specialization.clone()
    }
}
