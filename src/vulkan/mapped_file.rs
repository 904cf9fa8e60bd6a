//! The file that a mapping of this process is of, as Linux tells (`/proc/self/maps`, `/proc/self/fd`).

use std::ffi::c_int;
use std::io::{self, BufRead, BufReader};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A place in a file.
#[derive(Debug)]
pub(super) struct MappedFile {
    pub file: OwnedFd,
    pub offset_bytes: u64,
}

/// One mapping, as a line of `/proc/self/maps` has it.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    start: u64,
    end: u64,
    /// Whether it is of a file that others see changes of, and may be written.
    is_shared: bool,
    offset_bytes: u64,
    device: (u32, u32),
    inode: u64,
}

impl MappedFile {
    /// What is mapped for reading and writing at `address` and the `size_bytes` from there on, by a descriptor of the process.
    ///
    /// # Errors
    /// It is no such file, the process holds no descriptor of it any more, or Linux does not tell.
    pub fn at(address: u64, size_bytes: u64) -> io::Result<Self> {
        let end = address.saturating_add(size_bytes);
        let maps = BufReader::new(std::fs::File::open("/proc/self/maps")?);
        let lines = maps.lines().map_while(Result::ok);
        let line = lines
            .filter_map(|line| Line::parse(&line))
            .find(|line| line.start <= address && end <= line.end)
            .filter(|line| line.is_shared && line.inode != 0)
            .ok_or_else(|| io::Error::other("the driver's mapping is of no file"))?;
        for entry in std::fs::read_dir("/proc/self/fd")? {
            let name = entry?.file_name();
            let number: Option<RawFd> = name.to_str().and_then(|name| name.parse().ok());
            // Descriptors of other files are not even copied: closing a copy would end the application's locks on them.
            if let Some(number) = number.filter(|number| line.is_of(*number))
                && let Some(file) = copy(number)
            {
                if line.is_of(file.as_raw_fd()) {
                    let offset_bytes = line.offset_bytes + (address - line.start);
                    return Ok(Self { file, offset_bytes });
                }
                // Another thread has put another file there meanwhile.
                std::mem::forget(file);
            }
        }
        Err(io::Error::other(
            "the process has no descriptor of what the driver maps",
        ))
    }
}

impl Line {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let permissions = words.next()?;
        let offset = words.next()?;
        let (major, minor) = words.next()?.split_once(':')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(Self {
            start: number(start)?,
            end: number(end)?,
            is_shared: permissions.starts_with("rw") && permissions.ends_with('s'),
            offset_bytes: number(offset)?,
            device: (number(major)? as u32, number(minor)? as u32),
            inode: words.next()?.parse().ok()?,
        })
    }

    /// Whether the descriptor is of that file, and may be written.
    fn is_of(&self, fd: RawFd) -> bool {
        // SAFETY: numbers and zeros are what such a structure may hold.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: a number that may be no descriptor: then the calls fail.
        let (result, mode) =
            unsafe { (libc::fstat(fd, &mut status), libc::fcntl(fd, libc::F_GETFL)) };
        let device = (libc::major(status.st_dev), libc::minor(status.st_dev));
        result == 0 && may_be_written(mode) && (device, status.st_ino) == (self.device, self.inode)
    }
}

/// Whether a descriptor with these flags is for reading and writing.
pub(super) fn may_be_written(flags: c_int) -> bool {
    flags >= 0 && flags & libc::O_ACCMODE == libc::O_RDWR
}

fn copy(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: a number that may be no descriptor: then the call fails; a copy is ours.
    unsafe {
        let copy = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0);
        (copy >= 0).then(|| OwnedFd::from_raw_fd(copy))
    }
}

#[cfg(test)]
mod tests {
    use super::super::host_range::{HostRange, HostUse, page_bytes};
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_line_is_read() {
        let line = "7f5c0000-7f5d0000 rw-s 100a0000 00:05 672    /dev/dri/renderD128";
        let expected = Line {
            start: 0x7f5c_0000,
            end: 0x7f5d_0000,
            is_shared: true,
            offset_bytes: 0x100a_0000,
            device: (0, 5),
            inode: 672,
        };
        assert_eq!(Line::parse(line), Some(expected));
        let private = "7ffd1000-7ffd2000 rw-p 00000000 00:00 0    [stack]";
        assert!(!Line::parse(private).expect("a line").is_shared);
        assert_eq!(Line::parse("rollup"), None);
    }

    #[test]
    fn the_file_of_a_mapping_is_found_while_it_is_open() {
        let page = page_bytes();
        // SAFETY: a name; the descriptor is new.
        let file = unsafe {
            let file = libc::memfd_create(c"test".as_ptr(), libc::MFD_CLOEXEC);
            assert_eq!(libc::ftruncate(file, 4 * page as i64), 0);
            OwnedFd::from_raw_fd(file)
        };
        let range = HostRange::anywhere(2 * page, HostUse::Reserved).unwrap();
        let range = range.show(file.as_fd(), page as u64).unwrap();
        let within = range.start().as_ptr() as u64 + page as u64;
        let found = MappedFile::at(within, page as u64).unwrap();
        assert_eq!(found.offset_bytes, 2 * page as u64);
        assert!(MappedFile::at(within, 2 * page as u64).is_err());
        drop((found, file));
        assert!(MappedFile::at(within, page as u64).is_err());
        let own = HostRange::anywhere(page, HostUse::Memory).unwrap();
        assert!(MappedFile::at(own.start().as_ptr() as u64, page as u64).is_err());
    }
}
