//! Host memory of sizes that the application gives: where there is none, a call fails and the process goes on.

pub mod bus_read;
pub mod host_copy;
pub mod layout;
pub mod pointer;

use super::object::error::{Error, Result};

/// Makes room for `more` values.
///
/// # Errors
/// `CL_OUT_OF_HOST_MEMORY`
pub fn reserve<T>(list: &mut Vec<T>, more: usize) -> Result<()> {
    let refuse = |_| Error::out_of_host_memory(format!("no room for {more} more values"));
    list.try_reserve(more).map_err(refuse)
}

/// A copy of `bytes`.
///
/// # Errors
/// `CL_OUT_OF_HOST_MEMORY`
pub fn copy(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut copy = Vec::new();
    reserve(&mut copy, bytes.len())?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}
