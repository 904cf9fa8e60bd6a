//! The typed array that each class of local or private memory becomes.

use super::classes::{Class, Classes, Facts, Member};
use crate::compiler::CompileError;
use crate::compiler::capabilities::Capabilities;
use crate::compiler::ir::{AddressSpace, Array, ArrayId, ArrayLength, ArrayStorage, Module, Type};
use std::collections::HashMap;

/// The largest vector that `emit` accesses at once in local memory.
const LARGEST_VECTOR_BYTES: u64 = 32;

/// Bytes kept free at the start of an array whose pointers may be null: null is offset 0.
const NULL_BYTES: u64 = 16;

/// Local memory whose elements may be up to four times wider than what they hold, to spare atomic narrow
/// stores.
const WIDENED_LOCAL_BYTES: u64 = 2 << 10;

/// How a class lies in its array.
#[derive(Clone, Debug)]
pub struct Layout {
    pub array: ArrayId,
    pub storage: ArrayStorage,
    pub element: Type,
    /// Bytes of memory that one element stands for: its size, or less where the device has no type as narrow.
    pub stride_bytes: u32,
}

/// Where a variable begins: a constant offset plus the lengths of `local` arguments, by `SpecId`.
#[derive(Clone, Debug, Default)]
pub struct Start {
    pub offset_bytes: u32,
    pub after: Vec<u32>,
    /// What one of their elements stands for.
    pub stride_bytes: u32,
}

pub struct Layouts {
    pub by_class: HashMap<Class, Layout>,
    pub starts: HashMap<Member, Start>,
}

impl Layouts {
    /// Adds the arrays to the module.
    pub fn new(
        module: &mut Module,
        classes: &Classes,
        capabilities: &Capabilities,
    ) -> Result<Self, CompileError> {
        let mut layouts = Self {
            by_class: HashMap::new(),
            starts: HashMap::new(),
        };
        let mut sorted: Vec<(Class, &Facts)> = classes.facts.iter().map(|(&c, f)| (c, f)).collect();
        sorted.sort_by_key(|(class, _)| *class);
        for (class, facts) in sorted {
            let layout = layouts.place(module, facts, capabilities)?;
            layouts.by_class.insert(class, layout);
        }
        Ok(layouts)
    }

    fn place(
        &mut self,
        module: &mut Module,
        facts: &Facts,
        capabilities: &Capabilities,
    ) -> Result<Layout, CompileError> {
        let mut fixed_bytes = 0u64;
        let mut has_argument = false;
        for member in &facts.members {
            let (size, _, spec_id) = member_size(module, *member);
            fixed_bytes = fixed_bytes.saturating_add(size);
            has_argument |= spec_id.is_some();
        }
        let may_widen = facts.space == AddressSpace::Private
            || (!has_argument && fixed_bytes <= WIDENED_LOCAL_BYTES);
        let (element, stride_bytes) = element(facts, capabilities, may_widen);

        let mut end = if facts.has_null && !facts.members.is_empty() {
            NULL_BYTES
        } else {
            0
        };
        let (mut name, mut spec_ids) = (String::new(), Vec::new());
        // Arguments come last: what follows them has no constant offset.
        let (arguments, fixed): (Vec<&Member>, Vec<&Member>) = facts
            .members
            .iter()
            .partition(|member| member_size(module, **member).2.is_some());
        for member in fixed.into_iter().chain(arguments) {
            let (size, align, spec_id) = member_size(module, *member);
            if spec_ids.is_empty() {
                let least = match facts.space {
                    // So that accesses that say that they are aligned to vectors are so within the array.
                    AddressSpace::Local if capabilities.serial_memory => LARGEST_VECTOR_BYTES,
                    _ => 1,
                };
                end = end.next_multiple_of(align.max(u64::from(stride_bytes)).max(least));
            }
            let offset_bytes = u32::try_from(end)
                .ok()
                .filter(|_| end.saturating_add(size) <= u64::from(u32::MAX / 2))
                .ok_or_else(|| {
                    CompileError::unsupported(format!("{} memory exceeds 2 GiB", facts.space))
                })?;
            let start = Start {
                offset_bytes,
                after: spec_ids.clone(),
                stride_bytes,
            };
            self.starts.insert(*member, start);
            spec_ids.extend(spec_id);
            end += size;
            if name.is_empty() {
                name = member_name(module, *member);
            }
        }
        let elements = end.div_ceil(u64::from(stride_bytes)) as u32;
        let storage = match facts.space {
            AddressSpace::Local => ArrayStorage::Workgroup,
            _ => ArrayStorage::Private,
        };
        let array = match elements {
            0 if spec_ids.is_empty() => ArrayId(u32::MAX),
            _ => module.add_array(Array {
                name,
                storage,
                element,
                length: ArrayLength { elements, spec_ids },
            }),
        };
        Ok(Layout {
            array,
            storage,
            element,
            stride_bytes,
        })
    }
}

impl Layout {
    /// Whether no variable is in the class: there is nothing to access.
    pub fn is_empty(&self) -> bool {
        self.array == ArrayId(u32::MAX)
    }
}

/// Size and alignment in bytes, and the `SpecId` of a `local` argument.
fn member_size(module: &Module, member: Member) -> (u64, u64, Option<u32>) {
    match member {
        Member::Private(function, variable) => {
            let variable = &module.function(function).variables[variable.index()];
            (variable.size_bytes, u64::from(variable.align_bytes), None)
        }
        Member::Local(global) => {
            let global = module.global(global);
            (
                global.size_bytes,
                u64::from(global.align_bytes),
                global.spec_id,
            )
        }
    }
}

fn member_name(module: &Module, member: Member) -> String {
    match member {
        Member::Private(function, variable) => module.function(function).variables
            [variable.index()]
        .name
        .clone(),
        Member::Local(global) => module.global(global).name.clone(),
    }
}

/// The element type and the bytes it stands for.
fn element(facts: &Facts, capabilities: &Capabilities, may_widen: bool) -> (Type, u32) {
    if let Some(ty) = facts.atomic {
        return (ty, ty.size_bytes());
    }
    let widest = if capabilities.int64 { 8 } else { 4 };
    let unit = facts.unit_bytes.min(widest);
    if facts.widest_bytes == 0 {
        return (Type::I32, 4);
    }
    let has_float = |ty| match ty {
        Type::F16 => capabilities.float16,
        Type::F64 => capabilities.float64,
        _ => true,
    };
    match facts.common_type {
        Some(ty) if ty.is_float() && ty.size_bytes() == facts.unit_bytes && has_float(ty) => {
            return (ty, ty.size_bytes());
        }
        _ => {}
    }
    // A compiler that takes long over each access gets as few as there can be.
    let is_slow = match facts.space {
        AddressSpace::Local => capabilities.serial_memory,
        _ => capabilities.compiles_slowly,
    };
    if facts.widest_bytes > unit && is_slow {
        return match facts.widths.best(facts.space, capabilities) {
            1 => (Type::I8, 1),
            2 => (Type::I16, 2),
            8 => (Type::I64, 8),
            _ => (Type::I32, 4),
        };
    }
    // Words with a few narrow accesses among them stay words. In local memory a narrow store would then be
    // atomic, which costs more than it spares.
    let narrow_is_cheap = facts.space == AddressSpace::Private || facts.narrow_stores == 0;
    if unit < 4 && facts.word_unit_bytes >= 4 && facts.words >= facts.narrow && narrow_is_cheap {
        return (Type::I32, 4);
    }
    let has_int = match unit {
        1 => capabilities.int8,
        2 => capabilities.int16,
        _ => true,
    };
    match unit {
        1 if has_int => (Type::I8, 1),
        2 if has_int => (Type::I16, 2),
        1 | 2 if may_widen && facts.widest_bytes == unit => (Type::I32, unit),
        8 => (Type::I64, 8),
        _ => (Type::I32, 4),
    }
}
