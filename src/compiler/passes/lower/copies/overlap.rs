//! Whether the two sides of a copy may have bytes in common, and which of them comes first.

use crate::compiler::ir::{AddressSpace, Convert, Function, GlobalId, Op, Value, VariableId};

/// In which order the bytes of a copy may be moved one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Source and target have no byte in common, or are the same.
    Any,
    /// The target is not above the source: the first bytes first.
    Upwards,
    /// The target is not below the source: the last bytes first.
    Downwards,
    /// The addresses must be compared.
    Unknown,
}

/// The order for a copy of a size that may be known.
pub fn order(function: &Function, to: Value, from: Value, size_bytes: Option<u64>) -> Order {
    let (to, from) = (Position::of(function, to), Position::of(function, from));
    if are_apart(&to, &from) {
        return Order::Any;
    }
    if to.base != from.base {
        return Order::Unknown;
    }
    let (Some(to), Some(from)) = (to.offset, from.offset) else {
        return Order::Unknown;
    };
    let far = size_bytes.is_some_and(|size| to.abs_diff(from) >= size);
    match to.cmp(&from) {
        _ if far => Order::Any,
        std::cmp::Ordering::Equal => Order::Any,
        std::cmp::Ordering::Less => Order::Upwards,
        std::cmp::Ordering::Greater => Order::Downwards,
    }
}

/// What is known of a pointer.
struct Position {
    base: Value,
    object: Option<Object>,
    /// Bytes behind the base, if they are constant.
    offset: Option<i64>,
    /// All address spaces it went through.
    space: AddressSpace,
}

/// Memory that no pointer into other memory reaches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Object {
    Variable(VariableId),
    Global(GlobalId),
    /// What a parameter points to: it was there before the function's own variables.
    OfCaller,
}

impl Position {
    fn of(function: &Function, pointer: Value) -> Self {
        let mut base = pointer;
        let mut offset = Some(0i64);
        let mut space = AddressSpace::Generic;
        loop {
            // The named space that is nearest to the base says the most.
            if let Some(named) = function.space(base).filter(|&s| s != AddressSpace::Generic) {
                space = named;
            }
            base = match function.op_of(base) {
                Some(&Op::PtrAdd(below, by)) => {
                    offset = offset
                        .zip(function.signed_constant(by))
                        .and_then(|(offset, by)| offset.checked_add(by));
                    below
                }
                Some(&Op::Convert(Convert::AddressSpaceCast, below)) => below,
                _ => break,
            };
        }
        let object = match function.op_of(base) {
            Some(&Op::VariableAddress(variable)) => Some(Object::Variable(variable)),
            Some(&Op::GlobalAddress(global)) => Some(Object::Global(global)),
            _ if function.params().contains(&base) => Some(Object::OfCaller),
            _ => None,
        };
        Self {
            base,
            object,
            offset,
            space,
        }
    }
}

/// Whether the two can't point into one object.
fn are_apart(to: &Position, from: &Position) -> bool {
    let named = |space: AddressSpace| space != AddressSpace::Generic;
    if named(to.space) && named(from.space) && to.space != from.space {
        return true;
    }
    match (to.object, from.object) {
        (Some(Object::Variable(a)), Some(Object::Variable(b))) => a != b,
        (Some(Object::Global(a)), Some(Object::Global(b))) => a != b,
        (Some(Object::Variable(_)), Some(_)) | (Some(_), Some(Object::Variable(_))) => true,
        // A pointer to a program's variable may have come in by way of memory.
        _ => false,
    }
}
