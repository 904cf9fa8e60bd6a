//! The compiler's own SSA intermediate representation.
//!
//! **Everything is scalar.** A value is a boolean, an integer of 8 to 64 bits, a float of 16 to 64 bits,
//! or a pointer. Vectors, arrays and structures are taken apart by the parser: an instruction may have
//! several results (a 16-wide load has 16), a block, a call and a return take as many values as needed.
//! GPUs are scalar machines and their drivers scalarize anyway; in exchange every pass has one case.
//!
//! **Pointers are opaque.** A pointer has an address space and no pointee: `PtrAdd` adds a byte offset,
//! a load says what it loads. Casts between pointee types do not exist, so they can't go wrong.
//!
//! **Memory operands are refined in place.** `Load`, `Store` and `Atomic` name a [`Place`]: a pointer as
//! parsed; later a device address, an element of a workgroup or private array, or a word of the
//! argument block. [`crate::compiler::verify`] says which forms each stage allows.
//!
//! **Blocks have parameters** instead of phi instructions; an [`Edge`] carries the arguments. A function's
//! parameters are those of its entry block, which has no predecessors.
//!
//! Entities are newtyped indices into arenas of their [`Function`] or [`Module`]; removing an instruction
//! unlinks it from its block, the arena keeps it.

mod analysis;
mod builder;
mod facts;
mod function;
mod ids;
mod module;
mod op;
mod print;
#[cfg(test)]
pub mod read;
mod rewrite;
mod types;

pub use analysis::Analysis;
pub use builder::Builder;
pub use function::{
    BlockData, Edge, Function, FunctionControl, InstData, InstFlags, Merge, PrivateVariable,
    Terminator, ValueData, ValueDef,
};
pub use ids::{ArrayId, Block, FuncId, GlobalId, Inst, Value, VariableId};
pub use module::{
    Array, ArrayLength, ArrayStorage, Global, Kernel, KernelParameter, KernelParameterKind,
    MAX_WORK_GROUP_SIZE, Module, Relocation, Sharing,
};
pub use op::{
    Access, AtomicOp, Binary, BuiltIn, Compare, Convert, DotFormat, Group, GroupOp, ImageAccess,
    ImageAccessKind, ImageLevel, Op, OpenClStd, Pipe, PipeOp, Place, Rounding, Unary, WorkItem,
};
pub use rewrite::{Rewrite, rewrite_instructions};
pub use types::{AddressSpace, Scope, Semantics, Type, Values};
