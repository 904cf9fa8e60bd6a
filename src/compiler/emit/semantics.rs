//! OpenCL's scopes and memory semantics in Vulkan's memory model.
//!
//! Vulkan has no sequential consistency and no device-crossing scope, names global memory
//! `UniformMemory`, and asks that availability and visibility be spelled out.

use super::Emitter;
use crate::compiler::ir::{Scope, Semantics};
use rspirv::spirv::{self, Capability, MemorySemantics};

/// Memory kinds that are device memory to Vulkan. Images are in global memory.
pub const DEVICE_MEMORY: u32 = Semantics::CROSS_WORKGROUP_MEMORY
    | Semantics::UNIFORM_MEMORY
    | Semantics::SUBGROUP_MEMORY
    | Semantics::IMAGE_MEMORY;

/// Which half of acquire and release an instruction can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads: acquire only.
    Read,
    /// Writes: release only.
    Write,
    /// Both, as barriers and read-modify-write operations.
    Both,
}

impl Emitter<'_> {
    /// The number of a memory scope.
    pub fn scope(&mut self, scope: Scope) -> u32 {
        let caps = self.capabilities;
        let scope = match scope {
            Scope::CrossDevice | Scope::Device if !caps.vulkan_memory_model => spirv::Scope::Device,
            Scope::CrossDevice | Scope::Device if caps.vulkan_memory_model_device_scope => {
                self.asm
                    .capability(Capability::VulkanMemoryModelDeviceScope);
                spirv::Scope::Device
            }
            Scope::CrossDevice | Scope::Device => spirv::Scope::QueueFamily,
            Scope::Workgroup => spirv::Scope::Workgroup,
            Scope::Subgroup => spirv::Scope::Subgroup,
            Scope::Invocation => spirv::Scope::Invocation,
        };
        scope as u32
    }

    /// The bits for an instruction at `scope`; `storage` is the memory meant when the source names none.
    ///
    /// Without an order there is nothing to say about memory: the bits are then zero.
    pub fn semantics(
        &self,
        semantics: Semantics,
        scope: Scope,
        direction: Direction,
        storage: MemorySemantics,
    ) -> u32 {
        let both = Semantics::ACQUIRE_RELEASE | Semantics::SEQUENTIALLY_CONSISTENT;
        let acquire = semantics.has(Semantics::ACQUIRE | both) && direction != Direction::Write;
        let release = semantics.has(Semantics::RELEASE | both) && direction != Direction::Read;
        let mut bits = match (acquire, release) {
            (false, false) => return 0,
            (true, false) => MemorySemantics::ACQUIRE,
            (false, true) => MemorySemantics::RELEASE,
            (true, true) => MemorySemantics::ACQUIRE_RELEASE,
        };
        if scope == Scope::Invocation {
            return 0;
        }
        let mut memory = storage;
        if semantics.has(DEVICE_MEMORY) {
            memory |= MemorySemantics::UNIFORM_MEMORY;
        }
        if semantics.has(Semantics::WORKGROUP_MEMORY) {
            memory |= MemorySemantics::WORKGROUP_MEMORY;
        }
        if memory.is_empty() {
            return 0;
        }
        bits |= memory;
        if self.capabilities.vulkan_memory_model {
            if acquire {
                bits |= MemorySemantics::MAKE_VISIBLE;
            }
            if release {
                bits |= MemorySemantics::MAKE_AVAILABLE;
            }
        }
        bits.bits()
    }
}
