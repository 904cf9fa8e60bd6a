//! The dispatch table and the exported symbols.
