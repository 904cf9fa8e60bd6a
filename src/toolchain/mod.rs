//! Finds and runs `clang`; the disk cache.
