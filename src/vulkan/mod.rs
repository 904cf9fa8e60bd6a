//! Everything that calls `ash`.
