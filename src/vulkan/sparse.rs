//! Buffers larger than a device's largest allocation: several of those, bound to one buffer with one address.

use std::sync::{Arc, PoisonError};

use ash::vk;

use super::buffer::{Buffer, Memory};
use super::device::{BindingQueue, Device};
use super::error::Error;

impl Device {
    /// Whether a buffer of so many bytes needs more than one allocation, and may have it.
    pub(super) fn needs_sparse_buffer(&self, size_bytes: u64) -> bool {
        self.binding_queue.is_some() && size_bytes > self.info().largest_allocation_bytes()
    }

    /// Creates a buffer of `size_bytes` (not 0), with room for `room_bytes`, over several allocations in the device's own
    /// memory, which the host does not see.
    ///
    /// # Errors
    /// [`Error::OutOfDeviceMemory`], [`Error::OutOfHostMemory`], [`Error::DeviceLost`].
    pub(super) fn create_sparse_buffer(
        self: &Arc<Self>,
        size_bytes: u64,
        room_bytes: u64,
    ) -> Result<Buffer, Error> {
        if room_bytes > self.info().limits.max_sparse_bytes {
            return Err(Error::OutOfDeviceMemory);
        }
        let create = vk::BufferCreateInfo::default()
            .flags(vk::BufferCreateFlags::SPARSE_BINDING)
            .size(room_bytes)
            .usage(self.buffer_usage())
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: a live device with sparse binding; the size is within its limits.
        let handle = unsafe { self.raw.create_buffer(&create, None) }
            .map_err(Error::of("vkCreateBuffer"))?;
        let mut buffer = Buffer::unbound(self, handle, size_bytes);
        // SAFETY: the buffer was made from this device.
        let requirements = unsafe { self.raw.get_buffer_memory_requirements(handle) };
        let granule_bytes = requirements.alignment.max(1);
        let largest_bytes = self.info().largest_allocation_bytes();
        let whole_bytes = largest_bytes - largest_bytes % granule_bytes;
        if whole_bytes == 0 {
            return Err(Error::OutOfDeviceMemory);
        }
        let mut binds = Vec::new();
        let mut end_bytes = 0;
        while end_bytes < requirements.size {
            let part_bytes = whole_bytes.min(requirements.size - end_bytes);
            let memory = self.allocate_part(requirements.memory_type_bits, part_bytes)?;
            // The buffer frees it, whatever comes.
            buffer.memory.add_part(memory);
            binds.push(
                vk::SparseMemoryBind::default()
                    .resource_offset(end_bytes)
                    .size(part_bytes)
                    .memory(memory),
            );
            end_bytes += part_bytes;
        }
        self.bind(handle, &binds)?;
        self.give_address(&mut buffer, room_bytes)?;
        Ok(buffer)
    }

    /// Memory of one of the types in `bits`: the device's own, as long as there is some.
    fn allocate_part(&self, bits: u32, size_bytes: u64) -> Result<vk::DeviceMemory, Error> {
        let types = self.info().memory_types.iter().enumerate();
        let own = types.filter(|(index, kind)| bits & (1 << index) != 0 && kind.device_local);
        let mut failure = Error::OutOfDeviceMemory;
        for (index, _) in own {
            let mut flags = self.memory_flags();
            let allocate = vk::MemoryAllocateInfo::default()
                .allocation_size(size_bytes)
                .memory_type_index(index as u32)
                .push_next(&mut flags);
            // SAFETY: a live device; the type is one of its own.
            match unsafe { self.raw.allocate_memory(&allocate, None) } {
                Ok(memory) => return Ok(memory),
                Err(result) => failure = Error::from_vk("vkAllocateMemory", result),
            }
        }
        Err(failure)
    }

    /// Binds memory to a buffer, and waits for it.
    fn bind(&self, buffer: vk::Buffer, binds: &[vk::SparseMemoryBind]) -> Result<(), Error> {
        // SAFETY: a live device.
        let fence = unsafe { self.raw.create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(Error::of("vkCreateFence"))?;
        let buffers = [vk::SparseBufferMemoryBindInfo::default()
            .buffer(buffer)
            .binds(binds)];
        let submits = [vk::BindSparseInfo::default().buffer_binds(&buffers)];
        let submitted = {
            let queue = match &self.binding_queue {
                Some(BindingQueue::Own(queue)) => {
                    queue.lock().unwrap_or_else(PoisonError::into_inner)
                }
                _ => self.queue(self.spare_queue()),
            };
            // SAFETY: the lock on the queue is held; the ranges lie within the buffer and the memory.
            unsafe { self.raw.queue_bind_sparse(*queue, &submits, fence) }
        };
        let done = submitted
            .map_err(Error::of("vkQueueBindSparse"))
            // SAFETY: the fence was submitted.
            .and_then(|()| unsafe {
                let waited = self.raw.wait_for_fences(&[fence], true, u64::MAX);
                waited.map_err(Error::of("vkWaitForFences"))
            });
        // SAFETY: nothing is to signal it any more.
        unsafe { self.raw.destroy_fence(fence, None) };
        done.map_err(|error| self.note(error))
    }
}

impl Memory {
    /// Adds an allocation to those of a sparse buffer.
    fn add_part(&mut self, memory: vk::DeviceMemory) {
        match self {
            Self::Parts(parts) => parts.push(memory),
            _ => *self = Self::Parts(vec![memory]),
        }
    }
}
