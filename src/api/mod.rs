//! The `extern "C"` surface: argument checks and nothing else.
