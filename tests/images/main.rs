//! Images through the API: host commands on regions, and what kernels read and write, against formulas
//! computed here.

#[path = "../common/mod.rs"]
mod common;
#[macro_use]
#[path = "../common/entry.rs"]
mod entry;

mod command_buffer;
mod host;
mod kernels;
mod kinds;
mod levels;
mod session;
