//! The objects behind the handles.
//!
//! Its folders are floors, the lowest of them first in this table: each imports from those named before it, and from none
//! named after it. `tests/architecture` reads the table.
//!
//! | floor | what is there |
//! | --- | --- |
//! | `object` | handles, errors, the application's callbacks |
//! | `host` | the process, its threads, the trace, what the operating system says of the machine |
//! | `host_memory` | the application's memory: rectangles in it, copies by the host |
//! | `image` | how the texels of images lie in memory, and textures |
//! | `allocation` | device memory, staging memory, words and records that kernels leave for the host |
//! | `code` | device code: what it is made from, how, and where it is kept |
//! | `device` | devices, what they can do, and kernels of our own for fills and copies |
//! | `residency` | the bytes of memory objects, and on which devices of a context they are current |
//! | `context` | contexts, samplers, and where in a context the commands of a queue run |
//! | `event` | events and wait lists |
//! | `memory` | memory objects: buffers, images, pipes |
//! | `program` | programs, and what is built of them for each device |
//! | `printf` | what kernels print |
//! | `command` | commands that are complete in themselves, what they access, hazards |
//! | `launch` | kernels, and what becomes of a launch before it is enqueued |
//! | `queue` | command queues: batches, submission, completion, waiting commands |
//! | `transfer` | reads, writes, copies, mappings |
//! | `semaphore` | semaphores of cl_khr_semaphore |
//! | `command_buffer` | command buffers of cl_khr_command_buffer |
//! | `platform` | the platform |
//!
//! Memory lies on three floors: a device has allocations of its own, a context knows the bytes of its memory objects, and
//! a memory object holds its context.

pub mod allocation;
pub mod code;
pub mod command;
pub mod command_buffer;
pub mod context;
pub mod device;
pub mod event;
pub mod host;
pub mod host_memory;
pub mod image;
pub mod launch;
pub mod memory;
pub mod object;
pub mod platform;
pub mod printf;
pub mod program;
pub mod queue;
pub mod residency;
pub mod semaphore;
#[cfg(test)]
mod test_bench;
#[cfg(test)]
mod test_queue;
pub mod transfer;

pub use object::error::{Error, Result};
