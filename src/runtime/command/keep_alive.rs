//! What commands hold until the device is done with them.

use std::any::Any;
use std::sync::Arc;

/// Objects that are dropped when the commands that use them are done.
pub type KeepAlive = Vec<Arc<dyn Any + Send + Sync>>;
