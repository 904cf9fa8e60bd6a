//! Reads over the bus: of device memory that the host sees and does not cache.
//!
//! With `memcpy` the processor waits for every load, a microsecond on an H100: 4 KiB take 68 to 138. Several streaming
//! loads are under way at once, some sixteen. Of 16 bytes each, 4 KiB take 10 to 14 microseconds, of 32 bytes 5 to 7, of 64
//! bytes, a whole line, 4.1 (`cargo bench --bench latency`).

use super::layout::Shape;

/// Bytes of a line, and of the widest load.
const LINE: usize = 64;

/// Bytes that the host reads sooner than the device copies them to where it reads fast: a round trip to the device
/// takes 12 to 20 microseconds.
pub fn most_bytes() -> usize {
    match load_bytes() {
        LINE => 8192,
        16 | 32 => 4096,
        _ => 256,
    }
}

/// Bytes that the host reads sooner where a round trip is needed in any case, and the copy is all that is spared.
pub fn most_bytes_with_round_trip() -> usize {
    match load_bytes() {
        LINE => 2048,
        16 | 32 => 1024,
        _ => 256,
    }
}

/// Bytes that the host reads within a call that does not wait: about as fast as it submits a copy.
pub fn most_bytes_at_once() -> usize {
    match load_bytes() {
        LINE => 4096,
        32 => 2048,
        16 => 1024,
        _ => 256,
    }
}

/// Bytes of the processor's widest load that passes by its caches; 0 if it has none.
#[cfg(target_arch = "x86_64")]
fn load_bytes() -> usize {
    use std::arch::is_x86_feature_detected as has;
    match (has!("avx512f"), has!("avx2"), has!("sse4.1")) {
        (true, ..) => LINE,
        (_, true, _) => 32,
        (.., true) => 16,
        _ => 0,
    }
}

/// Bytes of the processor's widest load that passes by its caches; 0 if it has none.
#[cfg(not(target_arch = "x86_64"))]
fn load_bytes() -> usize {
    0
}

/// Whether the processor has loads that pass by its caches.
pub fn has_streaming_loads() -> bool {
    load_bytes() > 0
}

/// Copies `shape` from `source`, memory of a buffer from its first byte on, to `target`, ordinary memory.
///
/// # Safety
/// Every run is readable at `source`, with all of the lines (aligned 64 bytes) that it begins and ends in, and writable at
/// `target`; they do not overlap.
pub unsafe fn copy(shape: &Shape, source: *const u8, target: *mut u8) {
    // Lines that were loaded ahead are loaded anew.
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    for run in shape.runs() {
        // SAFETY: the caller's promise.
        unsafe {
            let from = source.add(run.source_bytes);
            copy_run(from, target.add(run.target_bytes), run.size_bytes);
        }
    }
}

/// # Safety
/// As [`copy`], for one run.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_run(source: *const u8, target: *mut u8, size_bytes: usize) {
    // SAFETY: the caller's promise; the processor has what is asked for.
    unsafe {
        match load_bytes() {
            LINE => loads_of_64_bytes(source, target, size_bytes),
            32 => loads_of_32_bytes(source, target, size_bytes),
            16 => loads_of_16_bytes(source, target, size_bytes),
            _ => target.copy_from_nonoverlapping(source, size_bytes),
        }
    }
}

/// # Safety
/// As [`copy`], for one run.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_run(source: *const u8, target: *mut u8, size_bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { target.copy_from_nonoverlapping(source, size_bytes) }
}

/// Defines how a run is copied by streaming loads of one width.
#[cfg(target_arch = "x86_64")]
macro_rules! streaming {
    ($name:ident, $feature:literal, $vector:ident, $load:ident, $store:ident) => {
        /// # Safety
        /// As [`copy`], for one run; the processor has the feature.
        #[target_feature(enable = $feature)]
        unsafe fn $name(source: *const u8, target: *mut u8, size_bytes: usize) {
            use std::arch::x86_64::{$load, $store, $vector};
            const WIDTH: usize = size_of::<$vector>();
            let mut done = 0;
            while done < size_bytes {
                let skipped = source.addr().wrapping_add(done) % WIDTH;
                let count = (WIDTH - skipped).min(size_bytes - done);
                // SAFETY: the aligned vector that the byte lies in is readable, as it lies in one line, `count` bytes of it
                // are wanted, and so many are writable.
                unsafe {
                    let vector = $load(source.add(done).sub(skipped).cast());
                    let to = target.add(done);
                    match count {
                        WIDTH => $store(to.cast(), vector),
                        _ => {
                            let mut bytes = [0_u8; WIDTH];
                            $store(bytes.as_mut_ptr().cast(), vector);
                            to.copy_from_nonoverlapping(bytes.as_ptr().add(skipped), count);
                        }
                    }
                }
                done += count;
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
streaming!(
    loads_of_16_bytes,
    "sse4.1",
    __m128i,
    _mm_stream_load_si128,
    _mm_storeu_si128
);
#[cfg(target_arch = "x86_64")]
streaming!(
    loads_of_32_bytes,
    "avx2",
    __m256i,
    _mm256_stream_load_si256,
    _mm256_storeu_si256
);
#[cfg(target_arch = "x86_64")]
streaming!(
    loads_of_64_bytes,
    "avx512f",
    __m512i,
    _mm512_stream_load_si512,
    _mm512_storeu_si512
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::host_memory::layout::{Extent, Layout};

    /// Copies of one run.
    type CopyRun = unsafe fn(*const u8, *mut u8, usize);

    /// All that the processor has, and [`copy`]'s choice.
    fn ways() -> Vec<CopyRun> {
        let mut ways: Vec<CopyRun> = vec![copy_run];
        #[cfg(target_arch = "x86_64")]
        {
            let all: [CopyRun; 3] = [loads_of_16_bytes, loads_of_32_bytes, loads_of_64_bytes];
            let widths = [16, 32, LINE];
            ways.extend(
                all.into_iter()
                    .zip(widths)
                    .filter(|it| it.1 <= load_bytes())
                    .map(|it| it.0),
            );
        }
        ways
    }

    #[repr(align(64))]
    struct Room([u8; 512]);

    #[test]
    fn runs_of_any_place_and_size_are_copied() {
        let room = Room(std::array::from_fn(|index| (index * 7 + 3) as u8));
        for way in ways() {
            for offset_bytes in 0..70 {
                for size_bytes in [1, 2, 15, 16, 17, 31, 63, 64, 65, 100, 300] {
                    let mut found = vec![0_u8; size_bytes + 2];
                    // SAFETY: no run ends behind the room, which is of whole lines.
                    unsafe {
                        let from = room.0.as_ptr().add(offset_bytes);
                        way(from, found.as_mut_ptr().add(1), size_bytes);
                    }
                    let mut wanted = vec![0];
                    wanted.extend_from_slice(&room.0[offset_bytes..][..size_bytes]);
                    wanted.push(0);
                    assert_eq!(found, wanted, "{size_bytes} bytes from {offset_bytes} on");
                }
            }
        }
    }

    #[test]
    fn rows_are_copied() {
        let room = Room(std::array::from_fn(|index| (index * 7 + 3) as u8));
        for offset_bytes in 0..20 {
            for width_bytes in [1, 2, 15, 16, 17, 31, 64, 100] {
                let extent = Extent {
                    width_bytes,
                    rows: 3,
                    slices: 1,
                };
                let source = Layout {
                    offset_bytes,
                    row_pitch_bytes: width_bytes + 5,
                    slice_pitch_bytes: 0,
                };
                let shape = Shape {
                    extent,
                    source,
                    target: extent.packed(1),
                };
                let mut found = vec![0_u8; extent.size_bytes() + 2];
                // SAFETY: no row ends behind byte 20 + 3 * 105 of the room.
                unsafe { copy(&shape, room.0.as_ptr(), found.as_mut_ptr()) };
                let mut wanted = vec![0];
                for row in 0..3 {
                    let from = offset_bytes + row * (width_bytes + 5);
                    wanted.extend_from_slice(&room.0[from..][..width_bytes]);
                }
                wanted.push(0);
                assert_eq!(found, wanted, "{width_bytes} bytes from {offset_bytes} on");
            }
        }
    }
}
