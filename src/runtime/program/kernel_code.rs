//! The code of a kernel on one device.

use super::executable::Executable;
use crate::compiler::CompiledKernel;
use std::sync::Arc;

/// The code of a kernel on one device.
#[derive(Clone)]
pub struct KernelCode {
    pub executable: Arc<Executable>,
    index: usize,
}

impl KernelCode {
    /// The code of the kernel called `name`, if the program has it.
    pub fn find(executable: &Arc<Executable>, name: &str) -> Option<Self> {
        Some(Self {
            index: executable.kernel_index(name)?,
            executable: Arc::clone(executable),
        })
    }

    /// Place of the kernel in its program's list.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The code and its reflection.
    pub fn compiled(&self) -> &CompiledKernel {
        // `index` was found in this very list, which never changes.
        &self.executable.program().kernels[self.index]
    }
}

/// The code of a kernel on the device that it is launched on: found once for a launch, as the ways to it are long.
#[derive(Clone, Copy)]
pub struct DeviceCode<'a> {
    /// Place of the device in the program's list.
    pub place: usize,
    pub code: &'a KernelCode,
    pub compiled: &'a CompiledKernel,
}
