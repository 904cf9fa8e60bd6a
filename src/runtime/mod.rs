//! The objects behind the handles.
