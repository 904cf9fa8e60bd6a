//! Addresses of the process, set aside.

use std::ffi::c_void;
use std::io;
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
            assert!(HostRange::at(address, 4096, HostUse::Reserved).is_err());
        }
    }
}
