//! Every environment variable, read once.
