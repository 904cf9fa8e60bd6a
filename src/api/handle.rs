//! From `cl_*` pointers to objects and back: the only casts of handles.

use super::error::{Error, Result};
use crate::runtime::object::registry::{self, Borrowed, Object};
use std::ffi::c_void;
use std::sync::Arc;

/// The object behind a handle, or the `CL_INVALID_*` code of its type for NULL, garbage, released
/// handles and handles of another type.
pub fn get<T: Object>(handle: *mut c_void) -> Result<Arc<T>> {
    registry::lookup(handle)
}

/// The object behind a handle, borrowed for the length of the call: see [`Borrowed`]. Errors as of [`get`].
#[inline]
pub fn borrow<T: Object>(handle: *mut c_void) -> Result<Borrowed<T>> {
    registry::borrow(handle)
}

/// The object behind a handle that may be NULL; `None` for NULL, else as [`get`].
pub fn get_optional<T: Object>(handle: *mut c_void) -> Result<Option<Arc<T>>> {
    if handle.is_null() {
        return Ok(None);
    }
    get(handle).map(Some)
}

/// Gives the application a handle with one reference, for `clCreate*` and the events of `clEnqueue*`.
pub fn create<T: Object>(object: Arc<T>) -> *mut c_void {
    registry::expose(&object)
}

/// The handle that the application holds already, for `clGet*Info`; its count stays as it is. NULL for
/// an object that the application was never given.
pub fn existing<T: Object>(object: &T) -> *mut c_void {
    object.handle().as_ptr()
}

/// `clRetain*`
pub fn retain<T: Object>(handle: *mut c_void) -> Result<()> {
    registry::retain::<T>(handle)
}

/// `clRelease*`
pub fn release<T: Object>(handle: *mut c_void) -> Result<()> {
    registry::release::<T>(handle).map(drop)
}

/// `clRelease*`, and whether the application holds no reference any more.
pub fn release_to_the_last<T: Object>(handle: *mut c_void) -> Result<bool> {
    registry::release::<T>(handle)
}

/// The objects of a list of handles; a bad one is answered with the `CL_INVALID_*` code of its type.
///
/// # Safety
/// `list` is NULL or points to `count` handles.
pub unsafe fn get_list<T: Object>(
    count: u32,
    list: *const *mut c_void,
    argument: &'static str,
) -> Result<Vec<Arc<T>>> {
    // SAFETY: the caller's promise.
    unsafe { slice(list, count as usize, argument) }?
        .iter()
        .map(|&handle| get(handle))
        .collect()
}

/// A C array as a slice. `CL_INVALID_VALUE` when `count` and the pointer contradict each other: one is
/// zero and the other is not.
///
/// # Safety
/// `pointer` is NULL or points to `count` values that stay unchanged for `'a`.
pub unsafe fn slice<'a, T>(
    pointer: *const T,
    count: usize,
    argument: &'static str,
) -> Result<&'a [T]> {
    match (pointer.is_null(), count) {
        (true, 0) => Ok(&[]),
        (true, _) => Err(Error::invalid_value(format!(
            "{argument} is NULL, its count is {count}"
        ))),
        (false, 0) => Err(Error::invalid_value(format!(
            "{argument} is not NULL, its count is 0"
        ))),
        // SAFETY: the caller's promise.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// A list of properties, name and value in turn, ended by 0. NULL is the empty list.
///
/// # Safety
/// `list` is NULL or ends with a 0 at an even place.
pub unsafe fn properties<T: Copy + PartialEq + Default>(list: *const T) -> Vec<(T, T)> {
    let mut pairs = Vec::new();
    if list.is_null() {
        return pairs;
    }
    let mut at = list;
    loop {
        // SAFETY: the list has not ended yet, so there is a name here, and a value after one that is not 0.
        let name = unsafe { at.read() };
        if name == T::default() {
            return pairs;
        }
        // SAFETY: as above.
        let value = unsafe { at.add(1).read() };
        pairs.push((name, value));
        // SAFETY: as above; the next name or the final 0 follows.
        at = unsafe { at.add(2) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_and_pointer_must_agree() {
        let values = [1u32, 2, 3];
        // SAFETY: three values, or not read.
        unsafe {
            assert_eq!(slice(values.as_ptr(), 3, "x").unwrap(), [1, 2, 3]);
            assert!(slice(values.as_ptr(), 0, "x").is_err());
            assert!(slice(std::ptr::null::<u32>(), 2, "x").is_err());
            assert!(slice(std::ptr::null::<u32>(), 0, "x").unwrap().is_empty());
        }
    }

    #[test]
    fn property_lists_end_at_zero() {
        let list = [4i64, 5, 6, 0, 0, 9];
        // SAFETY: ends with a 0 at place 4.
        assert_eq!(unsafe { properties(list.as_ptr()) }, [(4, 5), (6, 0)]);
        // SAFETY: NULL is allowed.
        assert!(unsafe { properties(std::ptr::null::<i64>()) }.is_empty());
    }
}
