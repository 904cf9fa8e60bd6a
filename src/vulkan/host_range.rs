//! Addresses of the process, set aside.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// What the host may do at the addresses of a [`HostRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostUse {
    /// Nothing: they are only kept from other use.
    Reserved,
    /// Read and write memory of its own, zero at first.
    Memory,
}

/// A range of addresses that nothing else in the process uses. Unmapped when dropped.
#[derive(Debug)]
pub struct HostRange {
    start: NonNull<c_void>,
    size_bytes: usize,
}

// SAFETY: plain addresses; who reads or writes there synchronizes for itself.
unsafe impl Send for HostRange {}
// SAFETY: as above.
unsafe impl Sync for HostRange {}

impl HostRange {
    /// Takes the range at exactly `address`, a multiple of the page size; `size_bytes` is rounded up to whole
    /// pages.
    ///
    /// # Errors
    /// Something else is there, the address is not one of the host's, or memory ran out.
    pub fn at(address: u64, size_bytes: usize, purpose: HostUse) -> io::Result<Self> {
        let hint = usize::try_from(address).map_err(io::Error::other)?;
        let range = Self::map(hint as *mut c_void, size_bytes, purpose)?;
        // Kernels before 4.17 take MAP_FIXED_NOREPLACE for a mere hint.
        if range.start.as_ptr() as usize != hint {
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
        Ok(range)
    }

    /// Takes a range wherever there is room.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn anywhere(size_bytes: usize, purpose: HostUse) -> io::Result<Self> {
        Self::map(std::ptr::null_mut(), size_bytes, purpose)
    }

    /// Takes a range that begins at a multiple of `alignment_bytes`, a power of two.
    ///
    /// # Errors
    /// Memory ran out.
    pub fn aligned(
        size_bytes: usize,
        alignment_bytes: usize,
        purpose: HostUse,
    ) -> io::Result<Self> {
        let room_bytes = size_bytes
            .checked_add(alignment_bytes)
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let mut attempts = 8;
        loop {
            let room = Self::anywhere(room_bytes, HostUse::Reserved)?;
            let start = (room.start.as_ptr() as usize).next_multiple_of(alignment_bytes);
            drop(room);
            attempts -= 1;
            match Self::at(start as u64, size_bytes, purpose) {
                // Another thread has been faster.
                Err(_) if attempts > 0 => {}
                taken => return taken,
            }
        }
    }

    /// Takes a range wherever there is room, where the first `size_bytes` of `file` are read and written.
    ///
    /// # Errors
    /// The file can't be mapped, or memory ran out.
    pub fn of_file(file: BorrowedFd<'_>, size_bytes: usize) -> io::Result<Self> {
        Self::anywhere(size_bytes, HostUse::Reserved)?.show(file, 0)
    }

    /// Has the host read and write `file` in the whole range, from `offset_bytes` of it on, a multiple of the page size.
    ///
    /// # Errors
    /// The file can't be mapped.
    pub fn show(self, file: BorrowedFd<'_>, offset_bytes: u64) -> io::Result<Self> {
        let offset = libc::off_t::try_from(offset_bytes).map_err(io::Error::other)?;
        // SAFETY: the range is ours, and nothing in it is used yet.
        let mapped = unsafe {
            libc::mmap(
                self.start.as_ptr(),
                self.size_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_FIXED,
                file.as_raw_fd(),
                offset,
            )
        };
        if mapped == libc::MAP_FAILED {
            let error = io::Error::last_os_error();
            // Whether what was there is there still, depends on who refused; another thread's may be there by now.
            std::mem::forget(self);
            return Err(error);
        }
        Ok(self)
    }

    /// Whether nothing of the host can ever be at `address`, as `error` of [`HostRange::at`] has it: it is none of a process's
    /// addresses.
    pub fn is_beyond(size_bytes: usize, error: &io::Error) -> bool {
        // What is there already is another error, and where memory ran out there is none anywhere.
        error.raw_os_error() == Some(libc::ENOMEM)
            && Self::anywhere(size_bytes, HostUse::Reserved).is_ok()
    }

    fn map(hint: *mut c_void, size_bytes: usize, purpose: HostUse) -> io::Result<Self> {
        let size_bytes = size_bytes
            .checked_next_multiple_of(page_bytes())
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let (protection, commit) = match purpose {
            HostUse::Reserved => (libc::PROT_NONE, libc::MAP_NORESERVE),
            HostUse::Memory => (libc::PROT_READ | libc::PROT_WRITE, 0),
        };
        let place = if hint.is_null() {
            0
        } else {
            libc::MAP_FIXED_NOREPLACE
        };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | commit | place;
        // SAFETY: a new anonymous mapping, which replaces nothing.
        let start = unsafe { libc::mmap(hint, size_bytes, protection, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Self { start, size_bytes })
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start.cast()
    }

    /// Whole pages.
    pub fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl Drop for HostRange {
    fn drop(&mut self) {
        // SAFETY: mapped by `map`; the owner has let go of everything within.
        if unsafe { libc::munmap(self.start.as_ptr(), self.size_bytes) } != 0 {
            log::error!("munmap: {}", io::Error::last_os_error());
        }
    }
}

/// The system's page size.
pub fn page_bytes() -> usize {
    // SAFETY: no precondition.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsFd, FromRawFd, OwnedFd};

    #[test]
    fn a_range_is_taken_once() {
        let range = HostRange::anywhere(10, HostUse::Memory).unwrap();
        assert_eq!(range.size_bytes(), page_bytes());
        // SAFETY: ours, one page.
        unsafe { range.start().as_ptr().write(7) };
        let address = range.start().as_ptr() as u64;
        assert!(HostRange::at(address, 1, HostUse::Reserved).is_err());
        drop(range);
        let again = HostRange::at(address, 1, HostUse::Reserved).unwrap();
        assert_eq!(again.start().as_ptr() as u64, address);
    }

    #[test]
    fn addresses_that_are_not_the_hosts_are_refused() {
        for address in [u64::MAX - 0xFFFF, 1 << 63, 0xFFFF_8000_0000_0000] {
            let error = HostRange::at(address, 4096, HostUse::Reserved).expect_err("refused");
            assert!(HostRange::is_beyond(4096, &error), "{address:#x}: {error}");
        }
        let taken = HostRange::anywhere(1, HostUse::Reserved).unwrap();
        let error = HostRange::at(taken.start().as_ptr() as u64, 1, HostUse::Reserved);
        assert!(!HostRange::is_beyond(1, &error.expect_err("taken")));
    }

    #[test]
    fn a_range_begins_where_asked() {
        let bytes = 3 * page_bytes();
        let range = HostRange::aligned(bytes, 1 << 21, HostUse::Reserved).unwrap();
        assert_eq!(range.start().as_ptr() as usize % (1 << 21), 0);
        assert_eq!(range.size_bytes(), bytes);
    }

    #[test]
    fn ranges_of_a_file_show_it() {
        let page = page_bytes();
        // SAFETY: a name; the descriptor is new.
        let file = unsafe {
            let file = libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC);
            assert_eq!(libc::ftruncate(file, 3 * page as i64), 0);
            OwnedFd::from_raw_fd(file)
        };
        let whole = HostRange::of_file(file.as_fd(), 3 * page).unwrap();
        let part = HostRange::anywhere(page, HostUse::Reserved).unwrap();
        let part = part.show(file.as_fd(), 2 * page as u64).unwrap();
        // SAFETY: both mapped, and the page is in both.
        unsafe {
            whole.start().as_ptr().add(2 * page + 7).write(9);
            assert_eq!(part.start().as_ptr().add(7).read_volatile(), 9);
        }
        let null = std::fs::File::open("/dev/null").unwrap();
        assert!(part.show(null.as_fd(), 0).is_err());
    }
}
