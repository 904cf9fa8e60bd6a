//! The argument block of a launch, and what it reads and writes by way of its arguments.

use super::argument::ArgumentValue;
use super::indirect::{self, Addressed};
use super::nd_range::NdRange;
use super::plan::LaunchPlan;
use crate::compiler::image::ImageField;
use crate::compiler::program::{ArgumentBlock, ArgumentKind, Implicit};
use crate::runtime::allocation::Access;
use crate::runtime::command::hazard::ALL_BYTES;
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::memory::Memory;
use crate::runtime::program::kernel_code::DeviceCode;
use crate::runtime::program::lost_iterations::Watched;
use crate::runtime::residency::backing::MemoryAccess;
use crate::runtime::residency::contents::AccessMode;
use crate::runtime::residency::storage::Place;
use crate::runtime::{Error, Result};
use opencl_sys::CL_INVALID_KERNEL_ARGS;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Weak};

/// Where the arguments of a launch go.
pub(super) struct ArgumentWriter<'a> {
    pub launch: &'a mut PreparedLaunch,
    pub block: &'a mut Block,
    pub addressed: &'a Addressed<'a>,
}

impl ArgumentWriter<'_> {
    /// Adds an argument of a kernel, which is set.
    ///
    /// # Errors
    /// Those of `clEnqueueNDRangeKernel`.
    #[inline]
    pub fn add(&mut self, kind: &ArgumentKind, value: &ArgumentValue) -> Result<()> {
        match (kind, value) {
            (ArgumentKind::Value { offset_bytes, .. }, ArgumentValue::Bytes(bytes)) => {
                self.block.put(*offset_bytes, bytes);
                Ok(())
            }
            (
                ArgumentKind::Buffer {
                    offset_bytes,
                    written,
                    ..
                },
                ArgumentValue::Memory(Some(memory)),
            ) => self.add_buffer(*offset_bytes, *written, memory),
            (
                ArgumentKind::Buffer {
                    offset_bytes,
                    written,
                    ..
                },
                ArgumentValue::Address(address),
            ) => self.add_address(*offset_bytes, *written, *address, false),
            (
                ArgumentKind::Buffer {
                    offset_bytes,
                    written,
                    ..
                },
                ArgumentValue::SharedAddress(address),
            ) => self.add_address(*offset_bytes, *written, *address, true),
            (
                ArgumentKind::Image {
                    fields, written, ..
                },
                ArgumentValue::Memory(Some(memory)),
            ) => self.add_image(fields, *written, memory),
            // NULL is address 0, which the block holds from the start; local sizes are in the pipeline; unused
            // arguments are written nowhere.
            _ => Ok(()),
        }
    }

    fn add_buffer(
        &mut self,
        offset_bytes: u32,
        written: bool,
        memory: &Weak<Memory>,
    ) -> Result<()> {
        let memory = memory.upgrade().ok_or_else(|| {
            Error::new(
                CL_INVALID_KERNEL_ARGS,
                "a buffer set as an argument was released before the launch",
            )
        })?;
        let place = memory.place(self.addressed.queue().context_device())?;
        let address = place.device_address();
        self.block.put(offset_bytes, &address.to_le_bytes());
        self.add_access(memory, place, written);
        Ok(())
    }

    /// Adds an address that the application gives, of shared virtual memory if `is_shared`.
    fn add_address(
        &mut self,
        offset_bytes: u32,
        written: bool,
        address: u64,
        is_shared: bool,
    ) -> Result<()> {
        let queue = self.addressed.queue();
        self.block.put(offset_bytes, &address.to_le_bytes());
        if let Some(memory) = queue.context().shared().find(address) {
            self.launch.accesses.push(Access {
                allocation: Arc::clone(memory.on(queue.context_device())?),
                bytes: ALL_BYTES,
                write: written,
            });
            return Ok(());
        }
        let any_memory = queue.device().unification().any_host_memory;
        if is_shared && address != 0 && !any_memory {
            // "CL_INVALID_OPERATION if SVM pointers are passed as arguments to a kernel and the device does not support
            // SVM or if system pointers are passed as arguments to a kernel … and the device does not support fine
            // grain system SVM allocations."
            return Err(Error::invalid_operation(format!(
                "the argument {address:#x} is no address of shared virtual memory"
            )));
        }
        self.launch.accesses_anything |= address != 0;
        indirect::add_address(self.launch, self.addressed, address, written)
    }

    fn add_image(
        &mut self,
        fields: &[(ImageField, u32)],
        written: bool,
        memory: &Weak<Memory>,
    ) -> Result<()> {
        let queue = self.addressed.queue();
        let released = || {
            Error::new(
                CL_INVALID_KERNEL_ARGS,
                "an image set as an argument was released before the launch",
            )
        };
        let memory = memory.upgrade().ok_or_else(released)?;
        let image = memory.image().ok_or_else(released)?;
        let place = memory.place(queue.context_device())?;
        for (field, offset_bytes) in fields {
            let value = match field {
                // Read only where the format says that there is one.
                ImageField::Texture => memory
                    .texture(queue.context_device(), queue.vk_queue())
                    .map_or(0, |texture| texture.index().into()),
                field => image.field(*field, place.device_address()),
            };
            let value = value.to_le_bytes();
            if let Some(bytes) = value.get(..field.size_bytes() as usize) {
                self.block.put(*offset_bytes, bytes);
            }
        }
        self.add_access(memory, place, written);
        Ok(())
    }

    /// Notes that the launch reads or writes a memory object.
    fn add_access(&mut self, memory: Arc<Memory>, place: Place, written: bool) {
        self.launch.accesses.push(Access {
            bytes: bytes_of(&memory, &place),
            allocation: place.allocation,
            write: written,
        });
        if memory.migrates() {
            let mode = AccessMode::of(written);
            let used = MemoryAccess::whole(memory.backing(), mode);
            self.launch.memory_accesses.push(used);
        }
    }

    /// Adds what the runtime passes to a kernel beside its arguments.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn add_implicit(
        &mut self,
        code: DeviceCode<'_>,
        range: &NdRange,
        plan: &LaunchPlan,
    ) -> Result<()> {
        for (implicit, offset) in &code.compiled.argument_block.implicit {
            let value: u64 = match implicit {
                Implicit::GlobalOffset(dimension) => element(&range.offset, *dimension),
                Implicit::GlobalSize(dimension) => element(&range.global, *dimension),
                Implicit::NumGroups(dimension) => element(&plan.groups, *dimension),
                Implicit::EnqueuedLocalSize(dimension) => element(&plan.local, *dimension).into(),
                Implicit::WorkDim => range.dimensions.into(),
                // Written for each region.
                Implicit::GroupBase(_) | Implicit::GlobalBase(_) | Implicit::DispatchWidth => {
                    continue;
                }
                Implicit::DataSegment => match code.code.executable.data()? {
                    Some(allocation) => {
                        self.launch.accesses.push(Access {
                            allocation: Arc::clone(allocation),
                            bytes: ALL_BYTES,
                            write: code.code.executable.program().data.writable,
                        });
                        allocation.device_address()
                    }
                    None => 0,
                },
                Implicit::OrderWord => code.code.executable.device().order_word()?,
                Implicit::IterationsLost => {
                    let (executable, index) = (&code.code.executable, code.code.index());
                    self.launch.watched = Watched::of(executable, index);
                    match executable.iterations_lost(index) {
                        Some(word) => word.address(executable.device().vulkan()?)?,
                        None => 0,
                    }
                }
                Implicit::PrintfBuffer => match &self.launch.printf {
                    Some(output) => output.device_address(),
                    None => 0,
                },
            };
            let size = implicit.size_bytes() as usize;
            if let Some(bytes) = value.to_le_bytes().get(..size) {
                self.block.put(*offset, bytes);
            }
        }
        Ok(())
    }
}

/// The bytes of an allocation that a kernel reaches through `memory`: a sub-buffer's own, since "the behavior of
/// reading from and writing to a buffer outside" of it is not defined.
fn bytes_of(memory: &Memory, place: &Place) -> Range<u64> {
    let start = place.offset_bytes as u64;
    match memory.parent() {
        Some(_) => start..start + memory.size_bytes() as u64,
        None => ALL_BYTES,
    }
}

/// One of three values, by its dimension.
pub(super) fn element<T: Copy + Default>(values: &[T; 3], dimension: u8) -> T {
    values
        .get(usize::from(dimension))
        .copied()
        .unwrap_or_default()
}

/// The argument block being filled.
#[derive(Default)]
pub(in crate::runtime) struct Block(pub(super) SmallVec<[u8; 256]>);

impl Block {
    /// Makes it one of zeros.
    pub fn clear(&mut self, block: &ArgumentBlock) {
        let size_bytes = block.size_bytes as usize;
        self.0.clear();
        // At once: SmallVec::resize takes ten instructions for each byte.
        match [0; 256].get(..size_bytes) {
            Some(zeros) => self.0.extend_from_slice(zeros),
            None => self.0.resize(size_bytes, 0),
        }
    }

    /// Writes at `offset`; what the compiler placed always fits.
    pub fn put(&mut self, offset: u32, bytes: &[u8]) {
        put(&mut self.0, offset, bytes);
    }
}

/// Writes at `offset` of an argument block; what the compiler placed always fits.
pub(super) fn put(block: &mut [u8], offset: u32, bytes: &[u8]) {
    let start = offset as usize;
    let place = block.get_mut(start..start.saturating_add(bytes.len()));
    debug_assert!(place.is_some(), "an argument lies outside its block");
    if let Some(place) = place {
        place.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_written_where_the_compiler_says() {
        let mut block = Block::default();
        block.clear(&ArgumentBlock {
            size_bytes: 12,
            ..ArgumentBlock::default()
        });
        block.put(4, &7u32.to_le_bytes());
        assert_eq!(block.0.as_slice(), [0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]);
        for size_bytes in [8, 256, 300] {
            block.clear(&ArgumentBlock {
                size_bytes,
                ..ArgumentBlock::default()
            });
            assert_eq!(block.0.as_slice(), vec![0; size_bytes as usize]);
        }
    }
}
