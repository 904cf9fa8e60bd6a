//! The process that the driver runs in: its threads, what is written down of it, and when the application may be called.

pub mod deferral;
pub mod lock_check;
pub mod notifier;
pub mod process;
pub mod trace;
