//! Copies between the host's memory and the device's own: what a transfer of pinned memory can at best cost.

use super::super::{Result, median};
use super::{Raw, Wait};
use ash::vk;
use std::time::Instant;

/// Memory of one buffer, freed with it.
struct Allocated<'a> {
    device: &'a ash::Device,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
}

impl Drop for Allocated<'_> {
    fn drop(&mut self) {
        // SAFETY: the device is done with them.
        unsafe {
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
        }
    }
}

impl Raw {
    fn allocate<'a>(
        &self,
        device: &'a ash::Device,
        bytes: usize,
        wanted: vk::MemoryPropertyFlags,
        unwanted: vk::MemoryPropertyFlags,
    ) -> Result<Allocated<'a>> {
        let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
        let create = vk::BufferCreateInfo::default()
            .size(bytes as u64)
            .usage(usage);
        // SAFETY: a live device; the structures outlive their calls.
        unsafe {
            let buffer = device.create_buffer(&create, None)?;
            let requirements = device.get_buffer_memory_requirements(buffer);
            let types = self.memory.memory_types_as_slice().iter().enumerate();
            let fits = |index: usize| requirements.memory_type_bits & (1 << index) != 0;
            let mut types = types.filter(|(index, it)| {
                fits(*index)
                    && it.property_flags.contains(wanted)
                    && !it.property_flags.intersects(unwanted)
            });
            let (index, _) = types.next().ok_or("no such memory")?;
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(requirements.size)
                .memory_type_index(index as u32);
            let memory = device.allocate_memory(&allocate, None)?;
            let allocated = Allocated {
                device,
                buffer,
                memory,
            };
            device.bind_buffer_memory(buffer, memory, 0)?;
            Ok(allocated)
        }
    }

    /// Seconds that a copy of so many bytes takes to the device and back, recorded, submitted and polled for. Fails where
    /// the device has no memory of its own.
    pub fn copies(&mut self, bytes: usize, rounds: usize) -> Result<[f64; 2]> {
        let device = self.device.clone();
        let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let cached = vk::MemoryPropertyFlags::HOST_CACHED;
        let host = self.allocate(&device, bytes, cached, local)?;
        let own = self.allocate(&device, bytes, local, cached)?;
        // As an application has it: written by the host, and in its caches in part.
        // SAFETY: visible memory of this size, which nothing else uses yet.
        unsafe {
            let flags = vk::MemoryMapFlags::empty();
            let mapped = device.map_memory(host.memory, 0, bytes as u64, flags)?;
            mapped.cast::<u8>().write_bytes(1, bytes);
            device.unmap_memory(host.memory);
        }
        let regions = [vk::BufferCopy::default().size(bytes as u64)];
        let mut seconds = [0.0; 2];
        for (seconds, (from, to)) in seconds.iter_mut().zip([(&host, &own), (&own, &host)]) {
            let mut samples = Vec::new();
            for round in 0..rounds + 2 {
                let start = Instant::now();
                self.begin(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT)?;
                // SAFETY: recording; live buffers of this size.
                unsafe {
                    device.cmd_copy_buffer(self.buffer, from.buffer, to.buffer, &regions);
                    device.end_command_buffer(self.buffer)?;
                }
                self.submit(Wait::Poll, false)?;
                self.wait(Wait::Poll)?;
                if round >= 2 {
                    samples.push(start.elapsed().as_secs_f64());
                }
            }
            *seconds = median(samples);
        }
        Ok(seconds)
    }
}
