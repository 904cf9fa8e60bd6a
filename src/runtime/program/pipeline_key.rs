//! What a pipeline is made for.

use smallvec::SmallVec;

/// What a pipeline is specialized for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PipelineKey {
    pub local_size: [u32; 3],
    /// All but the local size: the number of elements of each local argument, the format of each image, each
    /// sampler; and that the range is small, if it is.
    pub constants: Constants,
}

/// Specialization constants: `SpecId` and value.
pub type Constants = SmallVec<[(u32, u32); 4]>;
