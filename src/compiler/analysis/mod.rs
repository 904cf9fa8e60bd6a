//! Facts about a function.
//!
//! What goes over the whole function is an [`Analysis`](super::ir::Analysis) where several ask for it: [`Dominators`],
//! [`PostDominators`], [`Loops`], [`Uses`]. The function has it made once and keeps it until an edit makes it stale, however many
//! passes that is. What is asked of a value or a loop is computed from the code as it is: [`Affine`], [`Induction`],
//! [`Invariance`], [`KnownBits`].

mod access_widths;
mod affine;
mod calls;
mod cycles;
mod divergence;
mod dominators;
mod immediate_dominators;
mod induction;
mod invariance;
mod known_bits;
mod loop_results;
mod loops;
mod made_of_arguments;
mod post_dominators;
#[cfg(test)]
mod testing;
mod uniformity;
mod uses;

pub use access_widths::{AccessWidths, Elements, aligned};
pub use affine::{Affine, Linear, Offset, Terms};
pub use calls::{callees, callees_first, copies_by_function};
pub use cycles::cycles;
pub use divergence::loops_left_together;
pub use dominators::Dominators;
pub use immediate_dominators::immediate_dominators;
pub use induction::{Amount, Induction, Step};
pub use invariance::Invariance;
pub use known_bits::KnownBits;
pub use loop_results::LoopResults;
pub use loops::{Loop, Loops, are_too_deep, defined_values};
pub use made_of_arguments::MadeOfArguments;
pub use post_dominators::PostDominators;
pub use uniformity::Uniformity;
pub use uses::Uses;
