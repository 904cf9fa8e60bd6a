//! Passes over the IR, one file each with one public function `run`, in folders by what they are for.
//! `pipeline.rs` lists them in order. What is in `lower` and `legalize` is needed for correct code on every device, what is in
//! `workarounds` where a driver has the defect that it names; what is in `optimize` makes better code of the same meaning.

pub mod helpers;
pub mod legalize;
pub mod lower;
pub mod optimize;
pub mod structure;
#[cfg(test)]
#[path = "../../../tests/passes/cases.rs"]
mod tests;
pub mod workarounds;
