//! Device code of programs: what it is made from, how it is made, and where it is kept.

pub mod binary;
pub mod compile;
pub mod front_end;
pub mod kept_pipelines;
pub mod modules;
