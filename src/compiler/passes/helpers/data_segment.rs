//! Lays out the program's module-scope `constant` and `global` variables in one segment of device memory.
//!
//! `constant` ones that hold something come first, the small ones before the large ones, so that as many as may be fit into a
//! uniform buffer ([`crate::compiler::passes::optimize::read_uniforms`]); `global` ones that do come next, and then those of zeros, of which none has to be
//! kept.
//!
//! The layout depends on the list of variables only, so that it is the same for every kernel of a program:
//! passes that cut a module down to one kernel must leave `Module::globals` as it is. `lower::arguments` adds
//! `local` ones at the end, which are not part of the segment.

use crate::compiler::CompileError;
use crate::compiler::ir::{AddressSpace, Global, Module};
use crate::compiler::program::DataSegment;

/// Variables of program scope that take more are refused.
const LIMIT_BYTES: u64 = 1 << 30;

/// The segment.
///
/// # Errors
/// It is too large, or the host has no memory for what it begins with.
pub fn layout(module: &Module) -> Result<DataSegment, CompileError> {
    let offsets = offsets(module)?;
    let mut segment = DataSegment {
        constant_bytes: constant_bytes(module, &offsets),
        ..DataSegment::default()
    };
    let mut held_bytes = 0;
    let places = || module.globals.iter().zip(&offsets);
    for (global, &offset) in places().filter(|(global, _)| global.space.is_physical()) {
        let end = (offset + global.size_bytes).next_multiple_of(16);
        segment.alignment_bytes = segment.alignment_bytes.max(global.align_bytes).max(16);
        segment.size_bytes = segment.size_bytes.max(end);
        if global.space == AddressSpace::Global {
            segment.writable = true;
            segment.global_variable_bytes += global.size_bytes;
        }
        if has_contents(global) {
            held_bytes = end.max(held_bytes);
        }
    }
    // No more than the initializers and what aligns them: variables of zeros lie behind.
    let no_room =
        |_| CompileError::unsupported("the host has no memory for the program's variables");
    let held_bytes = held_bytes as usize;
    segment
        .bytes
        .try_reserve_exact(held_bytes)
        .map_err(no_room)?;
    segment.bytes.resize(held_bytes, 0);
    for (global, &offset) in places().filter(|(global, _)| global.space.is_physical()) {
        if let Some(initial) = &global.initializer {
            let start = offset as usize;
            let length = initial.len().min(global.size_bytes as usize);
            segment.bytes[start..start + length].copy_from_slice(&initial[..length]);
        }
        for relocation in global.relocations.iter() {
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
    Ok(segment)
}

/// For each variable by `GlobalId` its byte offset in the segment (0 for `local` ones).
///
/// # Errors
/// The segment is too large.
pub fn offsets(module: &Module) -> Result<Vec<u64>, CompileError> {
    let mut offsets = vec![0; module.globals.len()];
    let mut end = 0u64;
    let mut begun = Part::Constants;
    for index in in_order(module) {
        let global = &module.globals[index];
        if part(global) != begun {
            begun = part(global);
            end = end.next_multiple_of(16);
        }
        let place = end.next_multiple_of(global.align_bytes.max(1).into());
        offsets[index] = place;
        end = place
            .checked_add(global.size_bytes)
            .filter(|&end| end <= LIMIT_BYTES)
            .ok_or_else(|| {
                CompileError::unsupported(
                    "variables of program scope take more than 1 GiB together",
                )
            })?;
    }
    Ok(offsets)
}

/// Where the part ends that nobody writes to ([`DataSegment::constant_bytes`]), from the [`offsets`].
pub fn constant_bytes(module: &Module, offsets: &[u64]) -> u32 {
    let places = module.globals.iter().zip(offsets);
    let constants =
        places.filter(|(global, _)| global.space.is_physical() && part(global) == Part::Constants);
    let end = constants
        .map(|(global, offset)| offset + global.size_bytes)
        .max();
    end.unwrap_or(0).next_multiple_of(16) as u32
}

/// The parts of the segment, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// `constant` variables that hold something: nobody writes there.
    Constants,
    /// `global` variables that begin with something.
    Variables,
    /// What begins with zeros.
    Zeros,
}

fn part(global: &Global) -> Part {
    match global.space {
        _ if !has_contents(global) => Part::Zeros,
        AddressSpace::Constant => Part::Constants,
        _ => Part::Variables,
    }
}

/// The variables of the segment in the order that they lie there.
fn in_order(module: &Module) -> Vec<usize> {
    let globals = &module.globals;
    let physical = (0..globals.len()).filter(|&index| globals[index].space.is_physical());
    let mut order: Vec<usize> = physical.collect();
    order.sort_by_key(|&index| match part(&globals[index]) {
        Part::Constants => (Part::Constants, globals[index].size_bytes),
        part => (part, 0),
    });
    order
}

/// Whether a variable begins with anything but zeros.
fn has_contents(global: &Global) -> bool {
    global.initializer.is_some() || !global.relocations.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{GlobalId, Relocation};
    use std::sync::Arc;

    fn global(space: AddressSpace, size_bytes: u64, align_bytes: u32) -> Global {
        Global {
            name: String::new(),
            space,
            size_bytes,
            align_bytes,
            initializer: None,
            relocations: Default::default(),
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

    /// A variable of a gigabyte takes none of the host's memory, wherever it is declared.
    #[test]
    fn zeros_are_not_kept() {
        let mut module = Module::default();
        module.add_global(global(AddressSpace::Global, (1 << 30) - 64, 4));
        module.add_global(Global {
            initializer: Some(vec![1, 2, 3].into()),
            ..global(AddressSpace::Constant, 3, 1)
        });
        module.add_global(global(AddressSpace::Global, 20, 4));

        let (segment, offsets) = (layout(&module).unwrap(), offsets(&module).unwrap());

        assert_eq!(offsets, [16, 0, (1 << 30) - 48]);
        assert_eq!(
            segment.bytes,
            [1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(segment.size_bytes, (1 << 30) - 16);
        assert_eq!(segment.global_variable_bytes, (1 << 30) - 44);
    }

    #[test]
    fn variables_are_aligned_and_pointers_relocated() {
        let mut module = Module::default();
        module.add_global(Global {
            initializer: Some(vec![1, 2, 3].into()),
            ..global(AddressSpace::Constant, 3, 1)
        });
        module.add_global(global(AddressSpace::Local, 100, 4));
        module.add_global(Global {
            relocations: Arc::new(vec![Relocation {
                offset_bytes: 8,
                target: GlobalId(0),
                addend: 2,
            }]),
            ..global(AddressSpace::Global, 16, 8)
        });

        let (segment, offsets) = (layout(&module).unwrap(), offsets(&module).unwrap());

        assert_eq!(offsets, [0, 0, 16]);
        assert_eq!(segment.bytes.len(), 32);
        assert_eq!(segment.size_bytes, 32);
        assert_eq!(&segment.bytes[..4], [1, 2, 3, 0]);
        assert_eq!(segment.relocations, [24]);
        assert_eq!(segment.bytes[24], 2);
        assert!(segment.writable);
        assert_eq!(segment.constant_bytes, 16);
        assert_eq!(segment.global_variable_bytes, 16);
    }

    #[test]
    fn constants_come_first_and_the_small_ones_before_the_large_ones() {
        let holding = |space, size_bytes, align_bytes| Global {
            initializer: Some(vec![1; size_bytes as usize].into()),
            ..global(space, size_bytes, align_bytes)
        };
        let mut module = Module::default();
        module.add_global(holding(AddressSpace::Global, 8, 8));
        module.add_global(holding(AddressSpace::Constant, 100, 4));
        module.add_global(holding(AddressSpace::Constant, 20, 4));
        module.add_global(global(AddressSpace::Global, 40, 4));
        module.add_global(holding(AddressSpace::Global, 4, 4));

        let (segment, offsets) = (layout(&module).unwrap(), offsets(&module).unwrap());

        assert_eq!(offsets, [128, 20, 0, 144, 136]);
        assert_eq!(segment.constant_bytes, 128);
        assert_eq!(segment.bytes.len(), 144);
        assert_eq!(segment.size_bytes, 192);

        let mut constant = Module::default();
        constant.add_global(holding(AddressSpace::Constant, 3, 1));
        let segment = layout(&constant).unwrap();
        assert_eq!(segment.constant_bytes, 16);
        assert!(!segment.writable);
    }
}
