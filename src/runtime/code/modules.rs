//! OpenCL SPIR-V, as programs and program binaries hold it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compiler::PackedModule;

/// OpenCL SPIR-V, and how it was asked to be compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Modules {
    #[serde(with = "as_words")]
    pub modules: Vec<PackedModule>,
    /// `-cl-denorms-are-zero`, `-cl-fast-relaxed-math` (or `-cl-unsafe-math-optimizations`), `-cl-opt-disable`.
    pub denorms_are_zero: bool,
    pub fast_relaxed_math: bool,
    pub opt_disable: bool,
    /// `-cl-uniform-work-group-size`, or OpenCL C before 2.0.
    pub uniform_work_groups: bool,
    /// Specialization constants by `SpecId`: little-endian bytes.
    pub specialization: BTreeMap<u32, Vec<u8>>,
}

/// Modules word by word, as binaries have held them from the first.
mod as_words {
    use super::PackedModule;
    use serde::ser::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(
        modules: &[PackedModule],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let words = modules.iter().map(PackedModule::words);
        let words: Vec<Vec<u32>> = words.collect::<Result<_, _>>().map_err(S::Error::custom)?;
        words.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PackedModule>, D::Error> {
        let modules = Vec::<Vec<u32>>::deserialize(deserializer)?;
        Ok(modules
            .iter()
            .map(|words| PackedModule::new(words))
            .collect())
    }
}
