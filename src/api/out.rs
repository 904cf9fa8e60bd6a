//! Where entry points write their answers: checked out-pointers, and the writer behind `clGet*Info`.

use super::error::{Error, Result};
use super::handle;
use crate::runtime::object::registry::Object;
use opencl_sys::{
    CL_FALSE, CL_INVALID_EVENT_WAIT_LIST, CL_TRUE, cl_bool, cl_event, cl_image_format,
    cl_name_version, cl_uint,
};
use smallvec::SmallVec;
use std::ffi::{c_char, c_void};
use std::sync::Arc;

/// Values whose bytes an application may read.
///
/// # Safety
/// The type has no padding, and no bytes that must not be seen.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($t:ty)*) => {
        // SAFETY: numbers, pointers, and C structures of them without padding.
        $(unsafe impl Plain for $t {})*
    };
}

plain! { i8 u8 i16 u16 i32 u32 i64 u64 isize usize *mut c_void *const c_void *const c_char cl_name_version cl_image_format }

// SAFETY: an array has no padding beyond that of its elements.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Proof that an [`Info`] has been answered.
#[derive(Debug)]
#[must_use]
pub struct Written(());

/// The `param_value_size`, `param_value`, `param_value_size_ret` of a query. Each method ends the query by
/// writing the answer; there is no other way to get a [`Written`].
#[derive(Debug)]
pub struct Info {
    size_bytes: usize,
    value: *mut c_void,
    size_bytes_ret: *mut usize,
}

impl Info {
    /// # Safety
    /// `value` is NULL or writable for `size_bytes`; `size_bytes_ret` is NULL or writable.
    pub unsafe fn new(size_bytes: usize, value: *mut c_void, size_bytes_ret: *mut usize) -> Self {
        Self {
            size_bytes,
            value,
            size_bytes_ret,
        }
    }

    /// Answers with one value.
    pub fn value<T: Plain>(self, value: T) -> Result<Written> {
        self.slice(std::slice::from_ref(&value))
    }

    /// Answers with a `cl_bool`.
    pub fn boolean(self, value: bool) -> Result<Written> {
        self.value(if value { CL_TRUE } else { CL_FALSE } as cl_bool)
    }

    /// Answers with a handle that the application holds already.
    pub fn handle<T: Object>(self, object: &T) -> Result<Written> {
        self.value(handle::existing(object))
    }

    /// Answers with a handle, or NULL.
    pub fn handle_or_null<T: Object>(self, object: Option<&T>) -> Result<Written> {
        self.value(object.map_or(std::ptr::null_mut(), handle::existing))
    }

    /// Answers with an array; an empty one is a `param_value_size_ret` of 0.
    pub fn slice<T: Plain>(self, values: &[T]) -> Result<Written> {
        self.write(values.as_ptr().cast(), size_of_val(values))
    }

    /// Answers with a string and its terminating null.
    pub fn string(self, text: &str) -> Result<Written> {
        self.text(text.as_bytes())
    }

    /// Answers with a string that may be no UTF-8 and its terminating null.
    pub fn text(self, text: &[u8]) -> Result<Written> {
        let size_bytes = text.len() + 1;
        self.check(size_bytes)?;
        if !self.value.is_null() {
            // SAFETY: `check` compared the sizes, and the caller of `new` promised the room.
            unsafe {
                let target = self.value.cast::<u8>();
                std::ptr::copy_nonoverlapping(text.as_ptr(), target, text.len());
                target.add(text.len()).write(0);
            }
        }
        self.write_size(size_bytes)
    }

    /// The caller's buffer, for queries that read it first (`CL_PROGRAM_BINARIES`).
    pub fn buffer(&self) -> (*mut c_void, usize) {
        (self.value, self.size_bytes)
    }

    /// Answers with a size only, after the caller has filled the buffer of [`Self::buffer`] itself.
    pub fn filled(self, size_bytes: usize) -> Result<Written> {
        self.check(size_bytes)?;
        self.write_size(size_bytes)
    }

    fn check(&self, size_bytes: usize) -> Result<()> {
        // "CL_INVALID_VALUE if size in bytes specified by param_value_size is < size of return type and
        // param_value is not a NULL value."
        if !self.value.is_null() && self.size_bytes < size_bytes {
            return Err(Error::invalid_value(format!(
                "param_value_size is {}, the answer has {size_bytes} bytes",
                self.size_bytes
            )));
        }
        Ok(())
    }

    fn write(self, bytes: *const u8, size_bytes: usize) -> Result<Written> {
        self.check(size_bytes)?;
        if !self.value.is_null() {
            // SAFETY: `check` compared the sizes, the caller of `new` promised the room, and `Plain` makes
            // the source bytes readable.
            unsafe { std::ptr::copy_nonoverlapping(bytes, self.value.cast(), size_bytes) };
        }
        self.write_size(size_bytes)
    }

    fn write_size(self, size_bytes: usize) -> Result<Written> {
        if !self.size_bytes_ret.is_null() {
            // SAFETY: the caller of `new` promised that it is writable.
            unsafe { self.size_bytes_ret.write(size_bytes) };
        }
        Ok(Written(()))
    }
}

/// An out-pointer that may be NULL.
#[derive(Debug)]
pub struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// # Safety
    /// `pointer` is NULL or writable.
    pub unsafe fn new(pointer: *mut T) -> Self {
        Self(pointer)
    }

    /// Whether the application does not want the answer.
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Writes the answer, if it is wanted.
    pub fn write(&mut self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the caller of `new` promised that it is writable.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

/// `num_entries`, a list, and `num_…_ret`: functions that answer with a list.
#[derive(Debug)]
pub struct List<T> {
    entries: usize,
    list: *mut T,
    count_ret: Out<cl_uint>,
}

impl<T: Copy> List<T> {
    /// # Safety
    /// `list` is NULL or has room for `entries`; `count_ret` is NULL or writable.
    pub unsafe fn new(entries: cl_uint, list: *mut T, count_ret: *mut cl_uint) -> Self {
        Self {
            entries: entries as usize,
            list,
            // SAFETY: the caller's promise.
            count_ret: unsafe { Out::new(count_ret) },
        }
    }

    /// The usual rule: "CL_INVALID_VALUE if num_entries is equal to zero and the list is not NULL or if
    /// both num_…_ret and the list are NULL."
    pub fn check(&self) -> Result<()> {
        if self.entries == 0 && !self.list.is_null() {
            return Err(Error::invalid_value(
                "num_entries is 0, the list is not NULL",
            ));
        }
        if self.list.is_null() && self.count_ret.is_null() {
            return Err(Error::invalid_value("both the list and its count are NULL"));
        }
        Ok(())
    }

    /// Whether a list is wanted, and not only its length.
    pub fn wants_list(&self) -> bool {
        !self.list.is_null()
    }

    /// How many values the application has room for.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Writes as many values as there is room for, and how many there are.
    pub fn write(mut self, values: &[T]) {
        if !self.list.is_null() {
            let count = values.len().min(self.entries);
            // SAFETY: the caller of `new` promised room for `entries`.
            unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.list, count) };
        }
        self.count_ret.write(values.len() as cl_uint);
    }
}

/// `num_events_in_wait_list`, `event_wait_list` and `event` of every `clEnqueue*`.
#[derive(Debug)]
pub struct EventArguments {
    count: cl_uint,
    list: *const cl_event,
    event: Out<cl_event>,
}

impl EventArguments {
    /// # Safety
    /// `list` is NULL or holds `count` handles; `event` is NULL or writable.
    pub unsafe fn new(count: cl_uint, list: *const cl_event, event: *mut cl_event) -> Self {
        Self {
            count,
            list,
            // SAFETY: the caller's promise.
            event: unsafe { Out::new(event) },
        }
    }

    /// The events to wait for. That they belong to the queue's context is for the caller to check
    /// (`CL_INVALID_CONTEXT`).
    pub fn wait_list<E: Object>(&self) -> Result<SmallVec<[Arc<E>; 4]>> {
        let mut events = SmallVec::new();
        self.add_wait_list(&mut events)?;
        Ok(events)
    }

    /// Adds the events to wait for to `events`, their contexts unchecked; an empty wait list costs nothing.
    pub fn add_wait_list<E: Object>(&self, events: &mut SmallVec<[Arc<E>; 4]>) -> Result<()> {
        if !self.has_list() {
            return Ok(());
        }
        // "CL_INVALID_EVENT_WAIT_LIST if event_wait_list is NULL and num_events_in_wait_list > 0, or
        // event_wait_list is not NULL and num_events_in_wait_list is 0, or if event objects in
        // event_wait_list are not valid events."
        let invalid = |reason: String| Error::new(CL_INVALID_EVENT_WAIT_LIST, reason);
        // SAFETY: the promise of `new`.
        let list = unsafe { handle::slice(self.list, self.count as usize, "event_wait_list") }
            .map_err(|error| invalid(error.reason().to_owned()))?;
        for &event in list {
            let event = handle::get(event);
            events.push(event.map_err(|error| invalid(error.reason().to_owned()))?);
        }
        Ok(())
    }

    /// Whether there is a wait list, or something that is wrong with it.
    pub fn has_list(&self) -> bool {
        self.count > 0 || !self.list.is_null()
    }

    /// Whether the application asked for the command's event.
    pub fn wants_event(&self) -> bool {
        !self.event.is_null()
    }

    /// Gives the application its event, which was only made if [`EventArguments::wants_event`].
    #[inline]
    pub fn give_if<E: Object>(self, event: Option<Arc<E>>) {
        if let Some(event) = event {
            self.give(event);
        }
    }

    /// Gives the application its event, if it asked for one.
    pub fn give<E: Object>(mut self, event: Arc<E>) {
        if self.wants_event() {
            self.event.write(handle::create(event));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use opencl_sys::CL_INVALID_VALUE;

    #[test]
    fn an_answer_needs_room_unless_only_its_size_is_asked() {
        let mut value = 0u32;
        let mut size = 0usize;
        let info = |bytes, value: *mut u32, size: *mut usize| {
            // SAFETY: the pointers of this test.
            unsafe { Info::new(bytes, value.cast(), size) }
        };
        let _ = info(4, &mut value, &mut size).value(7u32).unwrap();
        assert_eq!((value, size), (7, 4));
        let _ = info(0, std::ptr::null_mut(), &mut size)
            .value(7u64)
            .unwrap();
        assert_eq!(size, 8);
        let error = info(4, &mut value, &mut size).value(9u64).unwrap_err();
        assert_eq!(error.code(), CL_INVALID_VALUE);
        assert_eq!((value, size), (7, 8), "nothing is written on failure");
        let _ = info(4, &mut value, &mut size).string("ab").unwrap();
        assert_eq!(
            (value.to_le_bytes()[..3].to_vec(), size),
            (b"ab\0".to_vec(), 3)
        );
    }

    #[test]
    fn lists_are_cut_to_the_room_and_counted_in_full() {
        let mut list = [0u32; 2];
        let mut count = 0;
        // SAFETY: room for two.
        let out = unsafe { List::new(2, list.as_mut_ptr(), &mut count) };
        out.check().unwrap();
        out.write(&[5, 6, 7]);
        assert_eq!((list, count), ([5, 6], 3));
        // SAFETY: nothing is written.
        assert!(
            unsafe { List::new(0, list.as_mut_ptr(), &mut count) }
                .check()
                .is_err()
        );
    }
}
