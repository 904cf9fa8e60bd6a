//! The device's own memory as the host sees it over the bus: what it costs to read there.

use super::super::{Result, median};
use ash::vk;
use pumice::runtime::host_memory::bus_read;
use pumice::runtime::host_memory::layout::Shape;
use std::time::Instant;

/// Bytes of the memory.
pub const BYTES: usize = 64 << 10;

/// Mapped device memory that is not cached. Lives until the process ends.
pub struct Window(*const u8);

// SAFETY: the memory is nobody's in particular.
unsafe impl Send for Window {}

impl Window {
    /// `None` if the device has no such memory.
    pub fn new(
        device: &ash::Device,
        memory: &vk::PhysicalDeviceMemoryProperties,
    ) -> Result<Option<Self>> {
        let wanted = vk::MemoryPropertyFlags::DEVICE_LOCAL
            | vk::MemoryPropertyFlags::HOST_VISIBLE
            | vk::MemoryPropertyFlags::HOST_COHERENT;
        let types = memory.memory_types_as_slice();
        let Some(index) = types.iter().position(|it| {
            it.property_flags.contains(wanted)
                && !(it.property_flags).contains(vk::MemoryPropertyFlags::HOST_CACHED)
        }) else {
            return Ok(None);
        };
        let allocate = vk::MemoryAllocateInfo::default()
            .allocation_size(BYTES as u64)
            .memory_type_index(index as u32);
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: a live device and a type of it that can be mapped.
        let pointer = unsafe {
            let memory = device.allocate_memory(&allocate, None)?;
            device.map_memory(memory, 0, vk::WHOLE_SIZE, flags)?
        };
        Ok(Some(Self(pointer.cast())))
    }

    /// Microseconds that it takes to read so many of its bytes: as `memcpy` does it, or as Pumice does, by streaming loads,
    /// of which the processor has several under way. `None` if it has no such loads.
    pub fn read(&self, size_bytes: usize, streams: bool, rounds: usize) -> Option<f64> {
        if streams && !bus_read::has_streaming_loads() {
            return None;
        }
        let shape = Shape::linear(0, 0, size_bytes);
        let mut target = vec![0_u8; BYTES];
        let to = target.as_mut_ptr();
        let mut samples = Vec::new();
        for _ in 0..rounds + 10 {
            let start = Instant::now();
            // SAFETY: mapped, and both are at least as long.
            unsafe {
                if streams {
                    bus_read::copy(&shape, self.0, to)
                } else {
                    self.0.copy_to_nonoverlapping(to, size_bytes)
                }
            }
            std::hint::black_box(&target);
            samples.push(start.elapsed().as_secs_f64() * 1e6);
        }
        Some(median(samples.split_off(10)))
    }
}
