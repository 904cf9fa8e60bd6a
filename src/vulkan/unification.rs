//! How far host and device see memory at the same addresses.

use super::error::Error;

/// How the host sees the addresses of a unified buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostView {
    /// The buffer's memory, at the same addresses: host and device see each other's writes.
    Direct,
    /// Other memory at the same addresses ([`Buffer::shadow`](super::Buffer::shadow)), unless `Direct` costs nothing.
    Shadow,
    /// Not at all, but nothing else of the host is there.
    None,
}

/// By what the host has a buffer's memory at the device's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectWay {
    /// Device addresses are pointers of the process by nature.
    Pointers,
    /// VK_EXT_map_memory_placed maps it there.
    Placed,
    /// It is exported as a dma-buf, which is mapped there.
    DmaBuf,
    /// It is exported as an opaque descriptor, which is mapped there.
    OpaqueFd,
    /// The driver maps it elsewhere, and what it maps is mapped there once more.
    MappedAgain,
    /// It is memory of the host that is imported (VK_EXT_external_memory_host), and mapped there once more.
    Imported,
}

impl DirectWay {
    /// Every way, in the order in which they are tried.
    pub const ALL: [Self; 6] = [
        Self::Pointers,
        Self::Placed,
        Self::DmaBuf,
        Self::OpaqueFd,
        Self::MappedAgain,
        Self::Imported,
    ];

    /// What `pumice info` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pointers => "device addresses that are pointers",
            Self::Placed => "VK_EXT_map_memory_placed",
            Self::DmaBuf => "a dma-buf",
            Self::OpaqueFd => "an opaque descriptor",
            Self::MappedAgain => "the driver's mapping, mapped again",
            Self::Imported => "VK_EXT_external_memory_host",
        }
    }
}

/// What a device can do of all this.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unification {
    /// By what [`HostView::Direct`] works, if it does.
    pub direct: Option<DirectWay>,
    /// [`HostView::Shadow`] works, one way or the other.
    pub shadow: bool,
    /// The device reads and writes any memory of the process at the host's own addresses.
    pub any_host_memory: bool,
}

/// What a device can do, and why it can't do more.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub unification: Unification,
    /// [`HostView::Shadow`] works by itself.
    pub has_shadows: bool,
    /// [`HostView::None`] does.
    pub has_unseen: bool,
    /// The ways that were tried before the one that works, or all.
    pub refused: Vec<(DirectWay, Error)>,
}
