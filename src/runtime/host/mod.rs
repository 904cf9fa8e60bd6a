//! The process that the driver runs in: its threads, what is written down of it, when the application may be called, and what
//! the operating system says of the machine.

pub mod deferral;
pub mod kernel_driver;
pub mod lock_check;
pub mod notifier;
pub mod nvidia_management;
pub mod process;
pub mod processors;
#[cfg(test)]
mod test_files;
pub mod trace;
