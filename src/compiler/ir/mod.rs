//! The SSA intermediate representation.
