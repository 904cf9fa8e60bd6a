//! What no device has as OpenCL has it becomes what all have: needed for correct code.

pub mod arguments;
pub mod builtins;
pub mod conversions;
pub mod copies;
pub mod dot_products;
pub mod groups;
pub mod images;
pub mod infer_address_spaces;
pub mod inline;
pub mod order_memory;
pub mod pipes;
pub mod pointers;
pub mod printf;
pub mod sequence_memory;
pub mod work_items;
