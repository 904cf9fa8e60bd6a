//! Copies between buffers.

/// A run of bytes to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyRegion {
    pub source_offset_bytes: u64,
    pub target_offset_bytes: u64,
    pub size_bytes: u64,
}
