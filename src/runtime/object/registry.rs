//! Handles: what an application holds in a `cl_*` variable, and how it leads to an object.
//!
//! A handle is the address of a [`Slot`]: the dispatch pointer first and the loader's dispatch data
//! second, as cl_khr_icd demands, then the type tag, the application's reference count and the object.
//!
//! Slots are **type-stable**: they come from a few large chunks that are never given back, and a slot is
//! only ever reused as a slot. So a pointer can be checked without reading anything but slots: it lies in
//! a chunk at a slot's boundary, or it is not a handle. A released handle finds a poisoned tag; garbage
//! finds no chunk. The check takes no lock.
//!
//! The application's count and the internal shares are apart: while the application's count is above zero,
//! the slot owns one `Arc` of the object. At zero that share is dropped. The object, and the slot's tag,
//! live on for as long as commands or other objects hold it, so that a handle found through
//! `clGet*Info` may be retained again, as the C++ bindings do.

use super::error::{Error, Result};
use opencl_sys::{
    CL_INVALID_COMMAND_BUFFER_KHR, CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, CL_INVALID_DEVICE,
    CL_INVALID_EVENT, CL_INVALID_KERNEL, CL_INVALID_MEM_OBJECT, CL_INVALID_MUTABLE_COMMAND_KHR,
    CL_INVALID_PLATFORM, CL_INVALID_PROGRAM, CL_INVALID_SAMPLER, CL_INVALID_SEMAPHORE_KHR, cl_int,
};
use std::ffi::c_void;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The type of an object behind a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Kind {
    Platform = 0x5055_4D01,
    Device,
    Context,
    Queue,
    /// Buffers, sub-buffers, images and pipes: everything that is a `cl_mem`.
    Memory,
    Sampler,
    Program,
    Kernel,
    Event,
    CommandBuffer,
    MutableCommand,
    Semaphore,
}

impl Kind {
    /// The code for a pointer that is not a handle of this kind.
    pub fn invalid_code(self) -> cl_int {
        match self {
            Self::Platform => CL_INVALID_PLATFORM,
            Self::Device => CL_INVALID_DEVICE,
            Self::Context => CL_INVALID_CONTEXT,
            Self::Queue => CL_INVALID_COMMAND_QUEUE,
            Self::Memory => CL_INVALID_MEM_OBJECT,
            Self::Sampler => CL_INVALID_SAMPLER,
            Self::Program => CL_INVALID_PROGRAM,
            Self::Kernel => CL_INVALID_KERNEL,
            Self::Event => CL_INVALID_EVENT,
            Self::CommandBuffer => CL_INVALID_COMMAND_BUFFER_KHR,
            Self::MutableCommand => CL_INVALID_MUTABLE_COMMAND_KHR,
            Self::Semaphore => CL_INVALID_SEMAPHORE_KHR,
        }
    }
}

/// Something that an application can hold a handle to.
///
/// # Safety
/// No two types may have the same [`Kind`]: the kind is what makes the cast from a handle right.
/// `handle` must always answer with the same field of the object.
pub unsafe trait Object: Send + Sync + Sized + 'static {
    const KIND: Kind;

    /// The object's link to its handle, a field that starts as `Handle::default()`.
    fn handle(&self) -> &Handle;
}

/// An object's link to its handle. Dropping it (with the object) poisons the handle.
#[derive(Debug, Default)]
pub struct Handle {
    slot: AtomicPtr<Slot>,
}

impl Handle {
    /// The pointer that the application holds; null while it was never given one (an event that nobody
    /// asked for).
    pub fn as_ptr(&self) -> *mut c_void {
        self.slot.load(Ordering::Acquire).cast()
    }

    /// The application's reference count, for `CL_*_REFERENCE_COUNT`.
    pub fn references(&self) -> u32 {
        self.slot()
            .map_or(0, |slot| slot.references.load(Ordering::Relaxed))
    }

    fn slot(&self) -> Option<&'static Slot> {
        // SAFETY: a slot, once part of a chunk, is never deallocated.
        unsafe { self.slot.load(Ordering::Acquire).as_ref() }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(slot) = self.slot() {
            slot.tag.store(POISON, Ordering::Release);
            slot.object.store(ptr::null_mut(), Ordering::Relaxed);
            SLOTS.give_back(slot);
        }
    }
}

/// Gives the application a handle to `object`, with a reference of its own.
pub fn expose<T: Object>(object: &Arc<T>) -> *mut c_void {
    let handle = object.handle();
    if handle.slot().is_none() {
        let slot = SLOTS.take();
        slot.object
            .store(Arc::as_ptr(object).cast_mut().cast(), Ordering::Relaxed);
        slot.references.store(0, Ordering::Relaxed);
        slot.tag.store(T::KIND as u32, Ordering::Release);
        let raced = handle.slot.compare_exchange(
            ptr::null_mut(),
            ptr::from_ref(slot).cast_mut(),
            Ordering::AcqRel,
            Ordering::Acquire,
        );
        if raced.is_err() {
            slot.tag.store(POISON, Ordering::Release);
            SLOTS.give_back(slot);
        }
    }
    if let Some(slot) = handle.slot()
        && slot.references.fetch_add(1, Ordering::AcqRel) == 0
    {
        // The application's share, dropped by `release`.
        let _ = Arc::into_raw(Arc::clone(object));
    }
    handle.as_ptr()
}

/// The object behind `handle`, if it is one of type `T`.
pub fn lookup<T: Object>(handle: *mut c_void) -> Result<Arc<T>> {
    let slot = slot_of::<T>(handle)?;
    let object = slot.object.load(Ordering::Relaxed).cast::<T>();
    // A weak reference, because the object may be on its way out: callbacks run from its `drop`.
    // SAFETY: the tag says that the slot leads to a `T` whose `drop` has not ended. Until then its
    // allocation stays: the strong references own one weak reference together, which is borrowed here and
    // not dropped. Only an application that releases its last reference on another thread at this very
    // moment breaks this, which the specification forbids.
    let weak = ManuallyDrop::new(unsafe { Weak::from_raw(object) });
    weak.upgrade().ok_or_else(|| {
        Error::new(
            T::KIND.invalid_code(),
            format!("{:?} {handle:p} is being destroyed", T::KIND),
        )
    })
}

/// An object for the length of a call that the application gave its handle to: without a share of its own, as long as
/// the application has one. To count a share costs more than to find the object.
///
/// What may call the application, and needs the object afterwards, takes a share first: the application may let go of
/// the object there.
pub struct Borrowed<T: Object> {
    object: ManuallyDrop<Arc<T>>,
    /// Whether it is a share after all.
    is_share: bool,
}

impl<T: Object> Deref for Borrowed<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.object
    }
}

impl<T: Object> Drop for Borrowed<T> {
    fn drop(&mut self) {
        if self.is_share {
            // SAFETY: a share that nobody else drops, and that is not used any more.
            unsafe { ManuallyDrop::drop(&mut self.object) };
        }
    }
}

/// Borrows the object behind `handle`, if it is one of type `T`, for the length of the call.
#[inline]
pub fn borrow<T: Object>(handle: *mut c_void) -> Result<Borrowed<T>> {
    let slot = slot_of::<T>(handle)?;
    if slot.references.load(Ordering::Acquire) == 0 {
        return Ok(Borrowed {
            object: ManuallyDrop::new(lookup(handle)?),
            is_share: true,
        });
    }
    let object = slot.object.load(Ordering::Relaxed).cast::<T>();
    // SAFETY: the tag says that the slot leads to a `T`, and the application's count that it owns a share. That one is
    // borrowed here and not dropped. It stays for as long as the application does not release its last reference in the
    // middle of a call with the handle, which the specification forbids.
    let object = ManuallyDrop::new(unsafe { Arc::from_raw(object.cast_const()) });
    Ok(Borrowed {
        object,
        is_share: false,
    })
}

/// `clRetain*`: one more reference of the application.
pub fn retain<T: Object>(handle: *mut c_void) -> Result<()> {
    let object = lookup::<T>(handle)?;
    expose(&object);
    Ok(())
}

/// `clRelease*`: one reference of the application less. The last one drops the application's share; whether it was that.
pub fn release<T: Object>(handle: *mut c_void) -> Result<bool> {
    let slot = slot_of::<T>(handle)?;
    let object = slot.object.load(Ordering::Relaxed).cast::<T>();
    let before = slot
        .references
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, |n| n.checked_sub(1))
        .map_err(|_| {
            Error::new(
                T::KIND.invalid_code(),
                format!("{:?} {handle:p} has been released already", T::KIND),
            )
        })?;
    if before == 1 {
        // SAFETY: `expose` leaked this share when the count left zero; it is dropped once.
        drop(unsafe { Arc::from_raw(object.cast_const()) });
    }
    Ok(before == 1)
}

/// Sets what the first word of every handle is: the dispatch table of the ICD. Once, before any handle
/// exists.
pub fn set_dispatch(table: *const c_void) {
    SLOTS.dispatch.store(table.cast_mut(), Ordering::Release);
}

/// Sets the second word of every handle, present and future: the loader's own data
/// (`clIcdSetPlatformDispatchDataKHR`).
pub fn set_dispatch_data(data: *mut c_void) {
    SLOTS.dispatch_data.store(data, Ordering::Release);
    SLOTS.for_each(|slot| slot.dispatch_data.store(data, Ordering::Release));
}

#[inline]
fn slot_of<T: Object>(handle: *mut c_void) -> Result<&'static Slot> {
    match SLOTS.find(handle) {
        Some(slot) if slot.tag.load(Ordering::Acquire) == T::KIND as u32 => Ok(slot),
        found => Err(not_a(T::KIND, handle, found)),
    }
}

/// What is wrong with a pointer that is not a handle of this kind.
#[cold]
fn not_a(kind: Kind, handle: *mut c_void, found: Option<&Slot>) -> Error {
    let problem = match found.map(|slot| slot.tag.load(Ordering::Acquire)) {
        None if handle.is_null() => "is NULL",
        None => "is not a handle of this platform",
        Some(POISON) => "has been released",
        Some(_) => "is a handle of another type",
    };
    Error::new(
        kind.invalid_code(),
        format!("{kind:?} {handle:p} {problem}"),
    )
}

/// What a handle points to. The first two words belong to the loader.
#[repr(C, align(64))]
#[derive(Debug)]
struct Slot {
    dispatch: AtomicPtr<c_void>,
    dispatch_data: AtomicPtr<c_void>,
    tag: AtomicU32,
    references: AtomicU32,
    object: AtomicPtr<c_void>,
    /// Place in [`Slots`], and while free the place after the next free one (0: none).
    index: u32,
    next_free: AtomicU32,
}

/// The tag of a slot without an object.
const POISON: u32 = 0xDEAD_0000;
/// Slots in the first chunk; each further chunk has twice as many.
const FIRST_CHUNK_SLOTS: usize = 256;
/// Enough for 2^28 handles at once.
const CHUNKS: usize = 20;

/// All slots of the process. Process-wide because a handle must be checked before anything is known about it.
struct Slots {
    chunks: [AtomicPtr<Slot>; CHUNKS],
    /// Free list: the index of its first slot plus one (low half), and a count of changes (high half)
    /// that keeps a slow thread from putting an outdated head back.
    free: AtomicU64,
    grow: Mutex<()>,
    dispatch: AtomicPtr<c_void>,
    dispatch_data: AtomicPtr<c_void>,
}

static SLOTS: Slots = Slots {
    chunks: [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS],
    free: AtomicU64::new(0),
    grow: Mutex::new(()),
    dispatch: AtomicPtr::new(ptr::null_mut()),
    dispatch_data: AtomicPtr::new(ptr::null_mut()),
};

impl Slots {
    #[inline]
    const fn chunk_slots(chunk: usize) -> usize {
        FIRST_CHUNK_SLOTS << chunk
    }

    #[inline]
    fn chunk(&self, chunk: usize) -> Option<&'static [Slot]> {
        let base = self.chunks.get(chunk)?.load(Ordering::Acquire);
        if base.is_null() {
            return None;
        }
        // SAFETY: a chunk is published with all its slots initialised and is never deallocated.
        Some(unsafe { std::slice::from_raw_parts(base, Self::chunk_slots(chunk)) })
    }

    fn for_each(&self, mut visit: impl FnMut(&'static Slot)) {
        (0..CHUNKS)
            .map_while(|chunk| self.chunk(chunk))
            .flatten()
            .for_each(&mut visit);
    }

    /// The slot at exactly this address.
    #[inline]
    fn find(&self, handle: *mut c_void) -> Option<&'static Slot> {
        // Most programs have no more handles than fit there.
        match self.find_in(0, handle) {
            Some(slot) => Some(slot),
            None => self.find_beyond_the_first(handle),
        }
    }

    #[inline(never)]
    fn find_beyond_the_first(&self, handle: *mut c_void) -> Option<&'static Slot> {
        (1..CHUNKS).find_map(|chunk| self.find_in(chunk, handle))
    }

    #[inline]
    fn find_in(&self, chunk: usize, handle: *mut c_void) -> Option<&'static Slot> {
        let chunk = self.chunk(chunk)?;
        let offset = handle.addr().wrapping_sub(chunk.as_ptr().addr());
        let slot = chunk.get(offset / size_of::<Slot>())?;
        offset.is_multiple_of(size_of::<Slot>()).then_some(slot)
    }

    fn at(&self, index: u32) -> Option<&'static Slot> {
        let index = index as usize;
        let chunk = (index / FIRST_CHUNK_SLOTS + 1).ilog2() as usize;
        let first = FIRST_CHUNK_SLOTS * ((1 << chunk) - 1);
        self.chunk(chunk)?.get(index - first)
    }

    fn take(&self) -> &'static Slot {
        loop {
            let head = self.free.load(Ordering::Acquire);
            let Some(slot) = (head as u32).checked_sub(1).and_then(|i| self.at(i)) else {
                self.grow();
                continue;
            };
            let next = slot.next_free.load(Ordering::Relaxed);
            if self.replace_head(head, next) {
                let dispatch = self.dispatch.load(Ordering::Acquire);
                slot.dispatch.store(dispatch, Ordering::Relaxed);
                let data = self.dispatch_data.load(Ordering::Acquire);
                slot.dispatch_data.store(data, Ordering::Relaxed);
                return slot;
            }
        }
    }

    fn give_back(&self, slot: &'static Slot) {
        loop {
            let head = self.free.load(Ordering::Acquire);
            slot.next_free.store(head as u32, Ordering::Relaxed);
            if self.replace_head(head, slot.index + 1) {
                return;
            }
        }
    }

    fn replace_head(&self, head: u64, first: u32) -> bool {
        let changes = (head >> 32).wrapping_add(1);
        let new = changes << 32 | u64::from(first);
        self.free
            .compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    fn grow(&self) {
        let _growing = self.grow.lock().unwrap_or_else(PoisonError::into_inner);
        if self.free.load(Ordering::Acquire) as u32 != 0 {
            return;
        }
        let Some(chunk) = (0..CHUNKS).find(|&chunk| self.chunk(chunk).is_none()) else {
            // 2^28 handles of 64 bytes each: the application leaks.
            panic!("out of handles");
        };
        let first = FIRST_CHUNK_SLOTS * ((1 << chunk) - 1);
        let slots: Box<[Slot]> = (first..first + Self::chunk_slots(chunk))
            .map(|index| Slot {
                dispatch: AtomicPtr::default(),
                dispatch_data: AtomicPtr::default(),
                tag: AtomicU32::new(POISON),
                references: AtomicU32::new(0),
                object: AtomicPtr::default(),
                index: index as u32,
                next_free: AtomicU32::new(0),
            })
            .collect();
        let slots = Box::leak(slots);
        self.chunks[chunk].store(slots.as_mut_ptr(), Ordering::Release);
        // In reverse, so that they are taken in ascending order.
        slots.iter().rev().for_each(|slot| self.give_back(slot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Lamp {
        handle: Handle,
    }

    // SAFETY: no test of this process gives out handles of the runtime's command buffers.
    unsafe impl Object for Lamp {
        const KIND: Kind = Kind::CommandBuffer;
        fn handle(&self) -> &Handle {
            &self.handle
        }
    }

    struct Chair {
        handle: Handle,
    }

    // SAFETY: as above, for samplers.
    unsafe impl Object for Chair {
        const KIND: Kind = Kind::Sampler;
        fn handle(&self) -> &Handle {
            &self.handle
        }
    }

    fn lamp() -> Arc<Lamp> {
        Arc::new(Lamp {
            handle: Handle::default(),
        })
    }

    fn code_of<T: Object>(handle: *mut c_void) -> Option<cl_int> {
        lookup::<T>(handle).err().map(|error| error.code())
    }

    #[test]
    fn a_handle_leads_to_its_object_until_the_last_release() {
        let object = lamp();
        let handle = expose(&object);
        assert!(Arc::ptr_eq(&object, &lookup(handle).unwrap()));
        assert_eq!(object.handle().as_ptr(), handle);
        retain::<Lamp>(handle).unwrap();
        assert_eq!(object.handle().references(), 2);
        drop(object);
        release::<Lamp>(handle).unwrap();
        assert!(lookup::<Lamp>(handle).is_ok());
        release::<Lamp>(handle).unwrap();
        assert_eq!(code_of::<Lamp>(handle), Some(CL_INVALID_COMMAND_BUFFER_KHR));
        assert!(release::<Lamp>(handle).is_err());
    }

    #[test]
    fn an_object_held_inside_outlives_its_last_release_and_may_be_retained_again() {
        let object = lamp();
        let handle = expose(&object);
        release::<Lamp>(handle).unwrap();
        assert_eq!(Arc::strong_count(&object), 1);
        assert!(release::<Lamp>(handle).is_err(), "released twice");
        retain::<Lamp>(handle).unwrap();
        assert_eq!(Arc::strong_count(&object), 2);
        assert_eq!(expose(&object), handle);
        assert_eq!(object.handle().references(), 2);
        release::<Lamp>(handle).unwrap();
        release::<Lamp>(handle).unwrap();
    }

    #[test]
    fn a_borrowed_object_is_shared_only_where_the_application_has_no_reference() {
        let object = lamp();
        let handle = expose(&object);
        {
            let borrowed = borrow::<Lamp>(handle).unwrap();
            assert!(Arc::ptr_eq(&object, &borrowed));
            assert_eq!(Arc::strong_count(&object), 2);
        }
        assert_eq!(Arc::strong_count(&object), 2);
        release::<Lamp>(handle).unwrap();
        {
            let borrowed = borrow::<Lamp>(handle).unwrap();
            assert!(Arc::ptr_eq(&object, &borrowed));
            assert_eq!(Arc::strong_count(&object), 2);
        }
        assert_eq!(Arc::strong_count(&object), 1);
        drop(object);
        assert!(borrow::<Lamp>(handle).is_err(), "it is gone");
    }

    #[test]
    fn wrong_pointers_are_answered_with_the_code_of_the_type() {
        let mut something = [0u64; 64];
        let garbage = something.as_mut_ptr().cast();
        for bad in [ptr::null_mut(), garbage, ptr::without_provenance_mut(1)] {
            assert_eq!(code_of::<Lamp>(bad), Some(CL_INVALID_COMMAND_BUFFER_KHR));
            assert_eq!(code_of::<Chair>(bad), Some(CL_INVALID_SAMPLER));
        }
        let object = lamp();
        let handle = expose(&object);
        assert_eq!(code_of::<Chair>(handle), Some(CL_INVALID_SAMPLER));
        assert!(lookup::<Lamp>(handle.wrapping_byte_add(8)).is_err());
        release::<Lamp>(handle).unwrap();
    }

    struct Farewell {
        handle: Handle,
        seen: Arc<Mutex<Option<cl_int>>>,
    }

    // SAFETY: as above, for kernels.
    unsafe impl Object for Farewell {
        const KIND: Kind = Kind::Kernel;
        fn handle(&self) -> &Handle {
            &self.handle
        }
    }

    impl Drop for Farewell {
        fn drop(&mut self) {
            let handle = self.handle.as_ptr();
            *self.seen.lock().unwrap() = code_of::<Farewell>(handle);
            assert!(release::<Farewell>(handle).is_err());
        }
    }

    #[test]
    fn an_object_that_is_being_destroyed_is_not_found() {
        let seen = Arc::new(Mutex::new(None));
        let handle = expose(&Arc::new(Farewell {
            handle: Handle::default(),
            seen: Arc::clone(&seen),
        }));
        release::<Farewell>(handle).unwrap();
        assert_eq!(*seen.lock().unwrap(), Some(CL_INVALID_KERNEL));
    }

    #[test]
    fn slots_survive_growth_and_threads() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let objects: Vec<_> = (0..200).map(|_| lamp()).collect();
                        let handles: Vec<_> = objects.iter().map(expose).collect();
                        for (object, &handle) in objects.iter().zip(&handles) {
                            assert!(Arc::ptr_eq(object, &lookup(handle).unwrap()));
                        }
                        handles
                            .into_iter()
                            .for_each(|handle| assert!(release::<Lamp>(handle).is_ok()));
                    }
                });
            }
        });
    }
}
