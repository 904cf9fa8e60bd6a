//! `printf`: the buffer that a launch writes records into, and their way to standard output.
//!
//! Each launch of a kernel that prints has a buffer of its own, of `CL_DEVICE_PRINTF_BUFFER_SIZE`, in memory
//! that host and device see. When the device is done, before the event is complete, the host makes text of the
//! records ([`records`], [`format`]) and writes it ([`output`]). A kernel without `printf` knows nothing of
//! all this.

mod format;
mod output;
mod records;

use super::allocation::Allocation;
use super::device::Device;
use super::object::error::{Error, Result};
use super::program::executable::Executable;
use super::program::kernel_code::KernelCode;
use crate::compiler::CompiledKernel;
use crate::compiler::printf::{CAPACITY_WORD, HEADER_WORDS};
use crate::vulkan::MemoryKind;
use records::DataStrings;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Buffers in use on a device from which on a launch waits for earlier ones.
const MOST_BUFFERS: usize = 32;

/// What one launch prints.
pub struct Output {
    executable: Arc<Executable>,
    kernel: usize,
    buffer: Arc<Allocation>,
    /// Whether the buffer holds no records, as the next launch needs it.
    is_clean: AtomicBool,
    /// It counts among the device's buffers in use, which others wait for.
    is_counted: bool,
}

/// Whether a kernel prints.
pub fn is_used(kernel: &CompiledKernel) -> bool {
    !kernel.printf_calls.is_empty()
}

/// Whether a launch needn't wait for earlier ones on its device before it gets a buffer.
pub fn has_room(device: &Device) -> bool {
    device.printf_buffers().in_use() < MOST_BUFFERS
}

impl Output {
    /// A buffer for one launch of `code`.
    ///
    /// # Errors
    /// `CL_OUT_OF_RESOURCES`: no memory for it.
    pub fn new(code: &KernelCode) -> Result<Arc<Self>> {
        let output = Self::with_buffer(code, true)?;
        code.executable.device().printf_buffers().begin_use();
        Ok(Arc::new(output))
    }

    /// A buffer for a launch of `code` that is recorded once and runs many times: to wait until it is free again
    /// could take for ever, so nobody does.
    ///
    /// # Errors
    /// As [`Output::new`].
    pub fn of_recording(code: &KernelCode) -> Result<Arc<Self>> {
        Ok(Arc::new(Self::with_buffer(code, false)?))
    }

    fn with_buffer(code: &KernelCode, is_counted: bool) -> Result<Self> {
        let device = code.executable.device();
        let buffer = match device.printf_buffers().take() {
            Some(buffer) => buffer,
            None => new_buffer(device)?,
        };
        Ok(Self {
            executable: Arc::clone(&code.executable),
            kernel: code.index(),
            buffer,
            is_clean: AtomicBool::new(true),
            is_counted,
        })
    }

    /// What the kernel gets as [`Implicit::PrintfBuffer`](crate::compiler::program::Implicit::PrintfBuffer):
    /// it may now write there.
    pub fn device_address(&self) -> u64 {
        self.is_clean.store(false, Ordering::Release);
        self.buffer.device_address()
    }

    /// Prints what the launch, which is done, has left, and makes the buffer ready for another run of it.
    pub fn print(&self) {
        let Some((words, is_full)) = self.take_records() else {
            return;
        };
        let program = self.executable.program();
        let Some(kernel) = program.kernels.get(self.kernel) else {
            return;
        };
        if is_full {
            log::warn!(
                "kernel '{}' filled the printf buffer of {} bytes: what it printed after that is lost",
                kernel.name,
                self.buffer.size_bytes()
            );
        }
        // Without data there are no strings either.
        let address = match self.executable.data() {
            Ok(Some(data)) => data.device_address(),
            _ => 0,
        };
        let strings = DataStrings {
            address,
            bytes: &program.data.bytes,
            size_bytes: program.data.size_bytes,
        };
        let text = records::text(&words, &kernel.printf_calls, &strings);
        output::write(&text);
    }

    /// The words of all records, and whether the buffer was full; the buffer is empty again afterwards.
    fn take_records(&self) -> Option<(Vec<u32>, bool)> {
        let start = self.buffer.mapped()?.cast::<u32>();
        let capacity = capacity_words(&self.buffer);
        // SAFETY: the buffer's own memory, 256-byte aligned, which the device is done with.
        let whole = unsafe {
            std::slice::from_raw_parts_mut(start.as_ptr(), HEADER_WORDS as usize + capacity)
        };
        let (header, records) = whole.split_at_mut(HEADER_WORDS as usize);
        let [low, high, ..] = header else {
            return None;
        };
        let asked = u64::from(*low) | u64::from(*high) << 32;
        let asked = usize::try_from(asked).unwrap_or(usize::MAX);
        let is_full = asked >= capacity;
        let used = records.get_mut(..asked.min(capacity))?;
        let words = used.to_vec();
        used.fill(0);
        (*low, *high) = (0, 0);
        self.is_clean.store(true, Ordering::Release);
        Some((words, is_full))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let buffers = self.executable.device().printf_buffers();
        if self.is_counted {
            buffers.end_use();
        }
        if self.is_clean.load(Ordering::Acquire) {
            buffers.give_back(&self.buffer);
        }
    }
}

/// Words of records that a buffer has room for.
fn capacity_words(buffer: &Allocation) -> usize {
    (buffer.size_bytes() / 4).saturating_sub(HEADER_WORDS.into()) as usize
}

fn new_buffer(device: &Device) -> Result<Arc<Allocation>> {
    let size_bytes = device.limits().printf_buffer_bytes;
    let buffer = Allocation::new(device.vulkan()?, size_bytes as u64, MemoryKind::Readback)?;
    let start: NonNull<u8> = buffer
        .mapped()
        .ok_or_else(|| Error::impossible("printf memory is not visible to the host"))?;
    let capacity = capacity_words(&buffer) as u32;
    // SAFETY: the buffer's own memory of that size, aligned to 256 bytes, which nothing else uses yet.
    unsafe {
        start.as_ptr().write_bytes(0, size_bytes);
        let at = start.cast::<u32>().as_ptr().add(CAPACITY_WORD as usize);
        at.write(capacity);
    }
    Ok(buffer)
}
