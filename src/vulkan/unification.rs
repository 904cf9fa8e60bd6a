//! How far host and device see memory at the same addresses.

/// How the host sees the addresses of a unified buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostView {
    /// The buffer's memory, at the same addresses: host and device see each other's writes.
    Direct,
    /// Other memory at the same addresses ([`Buffer::shadow`]), unless `Direct` costs nothing.
    Shadow,
    /// Not at all, but nothing else of the host is there.
    None,
}

/// What a device can do of all this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unification {
    /// [`HostView::Direct`] works.
    pub direct: bool,
    /// [`HostView::Shadow`] works, one way or the other.
    pub shadow: bool,
    /// The device reads and writes any memory of the process at the host's own addresses.
    pub any_host_memory: bool,
}
