//! How much memory on its stack a driver has for a kernel.

use serde::{Deserialize, Serialize};

/// What a driver keeps of a kernel on the stack of its threads, for as many work-items as it runs at a time. All in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FrameLimit {
    /// All there is.
    pub bytes: u64,
    /// A word, or a part of one, of a private array.
    pub array_word_bytes: u64,
    /// A load from memory by its address, and what each of its components takes beside.
    pub load_bytes: u64,
    pub loaded_component_bytes: u64,
    /// A store to memory by its address, and what each of its components takes beside.
    pub store_bytes: u64,
    pub stored_component_bytes: u64,
    /// A parameter of a block, and what each value takes that a way gives one.
    pub parameter_bytes: u64,
    pub argument_bytes: u64,
}

impl FrameLimit {
    /// What a load of so many components takes.
    pub fn of_load(self, components: usize) -> u64 {
        self.load_bytes + components as u64 * self.loaded_component_bytes
    }

    /// What a store of so many components takes.
    pub fn of_store(self, components: usize) -> u64 {
        self.store_bytes + components as u64 * self.stored_component_bytes
    }
}
