//! Which arrays in local memory are declared as arrays of vectors.
//!
//! Arrays hold scalars; an access to several of them is one for each. Where a driver makes every access in a loop over
//! the work-items ([`Capabilities::serial_memory`]), an array that is accessed by whole vectors is one of vectors, so that
//! such an access is one. What accesses single elements of it names the vector and the component.

use crate::compiler::Capabilities;
use crate::compiler::ir::{Access, ArrayId, ArrayStorage, FuncId, Module, Op, Place, Type};
use std::collections::HashMap;

/// Components of the vectors that arrays are declared with.
#[derive(Debug, Default)]
pub struct ArrayVectors(HashMap<ArrayId, u32>);

impl ArrayVectors {
    /// Looks at the accesses of the functions `reached`.
    pub fn of(module: &Module, reached: &[FuncId], capabilities: &Capabilities) -> Self {
        let mut lanes = HashMap::new();
        if !capabilities.serial_memory {
            return Self(lanes);
        }
        let functions = reached.iter().map(|&id| module.function(id));
        let insts = functions.flat_map(|function| {
            let insts = function
                .layout()
                .iter()
                .flat_map(|&block| &function.block(block).insts);
            insts.map(|&inst| function.inst(inst))
        });
        for data in insts {
            let (array, count, access) = match &data.op {
                Op::Load(Place::Element { array, .. }, access) => {
                    (*array, data.results.len(), *access)
                }
                Op::Store(Place::Element { array, .. }, values, access) => {
                    (*array, values.len(), *access)
                }
                Op::Atomic {
                    place: Place::Element { array, .. },
                    ..
                } => {
                    // Atomics name variables or their elements, not components of those.
                    lanes.insert(*array, 1);
                    continue;
                }
                _ => continue,
            };
            let Some(data) = module.arrays.get(array.index()) else {
                continue;
            };
            let lanes = lanes.entry(array).or_insert(0);
            if let (ArrayStorage::Workgroup, Some(more)) =
                (data.storage, is_vector(data.element, count, access))
                && *lanes != 1
            {
                *lanes = more.max(*lanes);
            }
        }
        Self(lanes)
    }

    /// Components of the vectors of an array; 1 for one of scalars.
    pub fn lanes(&self, array: ArrayId) -> u32 {
        self.0.get(&array).copied().unwrap_or(1).max(1)
    }
}

/// The number of components, if `count` elements are accessed that make a vector aligned to its size.
pub fn is_vector(element: Type, count: usize, access: Access) -> Option<u32> {
    let lanes = u32::try_from(count).ok()?;
    let is_whole = access.align_bytes >= lanes.checked_mul(element.size_bytes())?;
    (matches!(lanes, 2 | 4) && element.bits() >= 32 && is_whole).then_some(lanes)
}
