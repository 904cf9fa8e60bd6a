//! Lays out the program's module-scope `constant` and `global` variables in one segment of device memory.
//!
//! The layout depends on the list of variables only, so that it is the same for every kernel of a program:
//! passes that cut a module down to one kernel must leave `Module::globals` as it is. `lower_arguments` adds
//! `local` ones at the end, which are not part of the segment.

use crate::compiler::CompileError;
use crate::compiler::ir::{AddressSpace, Module};
use crate::compiler::program::DataSegment;

/// Variables of program scope that take more are refused, rather than built in host memory first.
const LIMIT_BYTES: u64 = 1 << 30;

/// The segment and, for each variable by `GlobalId`, its byte offset in it (0 for `local` ones).
pub fn layout(module: &Module) -> Result<(DataSegment, Vec<u64>), CompileError> {
    let mut segment = DataSegment::default();
    let mut end = 0u64;
    let mut offsets = Vec::with_capacity(module.globals.len());
    for global in &module.globals {
        if !global.space.is_physical() {
            offsets.push(0);
            continue;
        }
        let align = u64::from(global.align_bytes.max(1));
        segment.alignment_bytes = segment.alignment_bytes.max(global.align_bytes).max(16);
        let offset = end.next_multiple_of(align);
        offsets.push(offset);
        end = offset
            .checked_add(global.size_bytes)
            .filter(|&end| end <= LIMIT_BYTES)
            .ok_or_else(|| {
                CompileError::new("variables of program scope take more than 1 GiB together")
            })?;
        if global.space == AddressSpace::Global {
            segment.writable = true;
            segment.global_variable_bytes += global.size_bytes;
        }
    }
    segment.bytes = vec![0; end as usize];
    for (global, &offset) in module.globals.iter().zip(&offsets) {
        if !global.space.is_physical() {
            continue;
        }
        if let Some(initial) = &global.initializer {
            let start = offset as usize;
            let length = initial.len().min(global.size_bytes as usize);
            segment.bytes[start..start + length].copy_from_slice(&initial[..length]);
        }
        for relocation in &global.relocations {
            let Some(&target) = offsets.get(relocation.target.index()) else {
                continue;
            };
            let value = target.wrapping_add(relocation.addend as u64);
            let place = offset + relocation.offset_bytes;
            let start = place as usize;
            if let Some(bytes) = segment.bytes.get_mut(start..start + 8) {
                bytes.copy_from_slice(&value.to_le_bytes());
                segment.relocations.push(place);
            }
        }
    }
    segment
        .bytes
        .resize(segment.bytes.len().next_multiple_of(16), 0);
    Ok((segment, offsets))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Global, GlobalId, Relocation};

    fn global(space: AddressSpace, size_bytes: u64, align_bytes: u32) -> Global {
        Global {
            name: String::new(),
            space,
            size_bytes,
            align_bytes,
            initializer: None,
            relocations: Vec::new(),
            spec_id: None,
            export: None,
            import: None,
        }
    }

    #[test]
    fn too_large_a_variable_is_an_error() {
        let mut module = Module::default();
        module.add_global(global(AddressSpace::Global, 16, 4));
        module.add_global(global(AddressSpace::Global, u64::MAX, 4));
        assert!(layout(&module).is_err());
    }

    #[test]
    fn variables_are_aligned_and_pointers_relocated() {
        let mut module = Module::default();
        module.add_global(Global {
            initializer: Some(vec![1, 2, 3]),
            ..global(AddressSpace::Constant, 3, 1)
        });
        module.add_global(global(AddressSpace::Local, 100, 4));
        module.add_global(Global {
            relocations: vec![Relocation {
                offset_bytes: 8,
                target: GlobalId(0),
                addend: 2,
            }],
            ..global(AddressSpace::Global, 16, 8)
        });

        let (segment, offsets) = layout(&module).unwrap();

        assert_eq!(offsets, [0, 0, 8]);
        assert_eq!(segment.bytes.len(), 32);
        assert_eq!(&segment.bytes[..4], [1, 2, 3, 0]);
        assert_eq!(segment.relocations, [16]);
        assert_eq!(segment.bytes[16], 2);
        assert!(segment.writable);
        assert_eq!(segment.global_variable_bytes, 16);
    }
}
