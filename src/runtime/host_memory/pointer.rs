//! Memory of the application, by its address.

/// Memory of the application.
#[derive(Clone, Copy, Debug)]
pub struct HostPointer(pub *mut u8);

// SAFETY: the specification has the application keep the memory valid and untouched until the command
// is done, on whatever thread that happens.
unsafe impl Send for HostPointer {}
// SAFETY: as above.
unsafe impl Sync for HostPointer {}
