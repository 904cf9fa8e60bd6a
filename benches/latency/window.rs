//! The device's own memory as the host sees it over the bus: what it costs to read there.

use crate::support::{Result, median};
use ash::vk;
use std::time::Instant;

/// Bytes of the memory.
pub const BYTES: usize = 64 << 10;

/// Mapped device memory that is not cached. Lives until the process ends.
pub struct Window(*const u8);

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

    /// Microseconds that it takes to read so many of its bytes: as `memcpy` does it, or by streaming loads, of which the
    /// processor has several under way.
    pub fn read(&self, size_bytes: usize, streams: bool, rounds: usize) -> Option<f64> {
        let mut target = vec![0_u8; BYTES];
        let mut samples = Vec::new();
        for _ in 0..rounds + 10 {
            let start = Instant::now();
            match streams {
                true => self.stream(&mut target[..size_bytes])?,
                // SAFETY: mapped, and at least as long.
                false => unsafe {
                    self.0
                        .copy_to_nonoverlapping(target.as_mut_ptr(), size_bytes);
                },
            }
            std::hint::black_box(&target);
            samples.push(start.elapsed().as_secs_f64() * 1e6);
        }
        Some(median(samples.split_off(10)))
    }

    #[cfg(target_arch = "x86_64")]
    fn stream(&self, target: &mut [u8]) -> Option<()> {
        std::arch::is_x86_feature_detected!("sse4.1").then_some(())?;
        // SAFETY: the processor has SSE 4.1; the source is mapped, at least as long, and aligned as mappings are.
        unsafe { stream(self.0.cast(), target) };
        Some(())
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn stream(&self, _: &mut [u8]) -> Option<()> {
        None
    }
}

/// Copies whole lines of 64 bytes.
///
/// # Safety
/// The processor has SSE 4.1; the source is readable and aligned to 16 bytes.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.1")]
unsafe fn stream(from: *const std::arch::x86_64::__m128i, target: &mut [u8]) {
    use std::arch::x86_64::{_mm_storeu_si128, _mm_stream_load_si128};
    for (index, chunk) in target.chunks_exact_mut(64).enumerate() {
        // SAFETY: the caller's promise, for this line.
        unsafe {
            let from = from.add(index * 4);
            let line = [0, 1, 2, 3].map(|part| _mm_stream_load_si128(from.add(part)));
            let to = chunk.as_mut_ptr().cast::<std::arch::x86_64::__m128i>();
            (0..4).for_each(|part| _mm_storeu_si128(to.add(part), line[part]));
        }
    }
}
