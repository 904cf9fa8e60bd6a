//! The trial of a way to memory at the device's addresses: that it is the buffer's, for the host and for the device.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use super::buffer::{Buffer, MemoryKind};
use super::copy_region::CopyRegion;
use super::device::Device;
use super::error::Error;
use super::host_range::page_bytes;
use super::page_memory::Sight;
use super::recorder::Recorder;
use super::submit::Timeline;
use super::unification::DirectWay;

/// Looked at in one go, at each end of the buffer.
const WORDS: usize = 16;
const PIECE_BYTES: u64 = WORDS as u64 * 4;

/// A device that takes longer is taken for one that can't.
const PATIENCE: Duration = Duration::from_secs(5);

impl Device {
    /// Makes a buffer by a way, and looks whether host and device see the same in it.
    ///
    /// # Errors
    /// They don't, or there is no such buffer.
    pub(super) fn try_way(self: &Arc<Self>, way: DirectWay) -> Result<(), Error> {
        let size_bytes = 3 * page_bytes() as u64;
        let buffer = self.create_unified(size_bytes, Sight::Direct(way))?;
        if way == DirectWay::Pointers {
            return Ok(());
        }
        let pointer = buffer.mapped().ok_or(Error::NotImportable)?;
        let elsewhere = match way {
            DirectWay::DmaBuf | DirectWay::OpaqueFd => Some(self.map_anywhere(&buffer)?),
            _ => buffer.elsewhere,
        };
        let last = size_bytes - PIECE_BYTES;
        if let Some(elsewhere) = elsewhere {
            for offset_bytes in [0, last] {
                let [here, there] = [pointer, elsewhere].map(|it| at(it, offset_bytes));
                // What is not the buffer's is not written to.
                write(there, 0x1234_5678);
                if read(here) != pattern(0x1234_5678) {
                    return Err(differs("what is at the address is not the buffer's memory"));
                }
                write(here, 0x8765_4321);
                if read(there) != pattern(0x8765_4321) {
                    return Err(differs("what is at the address is not the buffer's memory"));
                }
            }
        }
        self.try_on_device(buffer, pointer, last)
    }

    /// Has the device read what the host writes at both ends of the buffer, and write beside it.
    fn try_on_device(
        self: &Arc<Self>,
        buffer: Buffer,
        pointer: NonNull<u8>,
        last: u64,
    ) -> Result<(), Error> {
        const FILLED: u32 = 0x5a5a_a5a5;
        let ends = [(0, 0x0102_0304), (last, 0x0506_0708)];
        for (offset_bytes, seed) in ends {
            write(at(pointer, offset_bytes), seed);
        }
        let back = self.create_buffer(2 * PIECE_BYTES, MemoryKind::Readback)?;
        let timeline = Timeline::new(self)?;
        let mut recorder = Recorder::new(self)?;
        recorder.begin()?;
        let regions = [(0, 0), (last, PIECE_BYTES)];
        let regions = regions.map(|(source_offset_bytes, target_offset_bytes)| CopyRegion {
            source_offset_bytes,
            target_offset_bytes,
            size_bytes: PIECE_BYTES,
        });
        recorder.copy(&buffer, &back, regions);
        for offset_bytes in [PIECE_BYTES, last - PIECE_BYTES] {
            recorder.fill(&buffer, offset_bytes, PIECE_BYTES, FILLED);
        }
        recorder.end()?;
        self.submit(self.spare_queue(), &[&recorder], &timeline, 1)?;
        if !timeline.wait(1, PATIENCE)? {
            // It may come to it yet.
            std::mem::forget((buffer, back, timeline, recorder));
            return Err(differs("the device does not come to an end"));
        }
        let found = back.mapped().ok_or(Error::NotImportable)?;
        for (index, (_, seed)) in ends.into_iter().enumerate() {
            if read(at(found, index as u64 * PIECE_BYTES)) != pattern(seed) {
                return Err(differs("the device does not see the host's writes"));
            }
        }
        for offset_bytes in [PIECE_BYTES, last - PIECE_BYTES] {
            if read(at(pointer, offset_bytes)) != [FILLED; WORDS] {
                return Err(differs("the host does not see the device's writes"));
            }
        }
        Ok(())
    }
}

fn differs(how: &str) -> Error {
    Error::Unexpected {
        call: "its trial",
        result: how.to_owned(),
    }
}

fn pattern(seed: u32) -> [u32; WORDS] {
    std::array::from_fn(|index| seed.wrapping_mul(index as u32 + 1))
}

fn at(pointer: NonNull<u8>, offset_bytes: u64) -> *mut u32 {
    pointer.as_ptr().wrapping_add(offset_bytes as usize).cast()
}

fn write(place: *mut u32, seed: u32) {
    for (index, word) in pattern(seed).into_iter().enumerate() {
        // SAFETY: within a mapping of the trial's buffer, aligned as pages are.
        unsafe { place.add(index).write_volatile(word) };
    }
}

fn read(place: *const u32) -> [u32; WORDS] {
    // SAFETY: as above.
    std::array::from_fn(|index| unsafe { place.add(index).read_volatile() })
}
