//! Reads over the bus: of device memory that the host sees and does not cache.
//!
//! As `memcpy` does it the processor waits for every line, two microseconds on an H200: 4 KiB take 138. Streaming loads
//! take a whole line each and several are under way at once: 4 KiB take 11, 1 KiB 3.4 (`cargo bench --bench latency`).

use super::layout::Shape;

/// Bytes that the host reads sooner than the device copies them to where it reads fast: a round trip to the device
/// takes 16 to 20 microseconds.
pub fn most_bytes() -> usize {
    if has_streaming_loads() { 4096 } else { 256 }
}

/// The same where a round trip is needed in any case, and the copy is all that is spared.
pub fn most_bytes_with_round_trip() -> usize {
    if has_streaming_loads() { 1024 } else { 256 }
}

/// Copies `shape` from `source`, memory of a buffer from its first byte on, to `target`, ordinary memory.
///
/// # Safety
/// Every run is readable at `source`, with all of the aligned 16 bytes that it begins and ends in, and writable at
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

/// Whether the processor has loads that pass by its caches.
#[cfg(target_arch = "x86_64")]
pub fn has_streaming_loads() -> bool {
    std::arch::is_x86_feature_detected!("sse4.1")
}

/// Whether the processor has loads that pass by its caches.
#[cfg(not(target_arch = "x86_64"))]
pub fn has_streaming_loads() -> bool {
    false
}

/// # Safety
/// As [`copy`], for one run.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_run(source: *const u8, target: *mut u8, size_bytes: usize) {
    // SAFETY: the caller's promise; the processor has what is asked for.
    unsafe {
        match has_streaming_loads() {
            true => stream(source, target, size_bytes),
            false => target.copy_from_nonoverlapping(source, size_bytes),
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

/// # Safety
/// As [`copy`], for one run; the processor has SSE 4.1.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.1")]
unsafe fn stream(source: *const u8, target: *mut u8, size_bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_storeu_si128, _mm_stream_load_si128};
    const GRANULE: usize = size_of::<__m128i>();
    let mut done = 0;
    while done < size_bytes {
        let skipped = source.addr().wrapping_add(done) % GRANULE;
        let count = (GRANULE - skipped).min(size_bytes - done);
        // SAFETY: the aligned granule that the byte lies in is readable, `count` bytes of it are wanted, and so many
        // are writable.
        unsafe {
            let granule = _mm_stream_load_si128(source.add(done).sub(skipped).cast());
            let to = target.add(done);
            match count {
                GRANULE => _mm_storeu_si128(to.cast(), granule),
                _ => {
                    let mut bytes = [0_u8; GRANULE];
                    _mm_storeu_si128(bytes.as_mut_ptr().cast(), granule);
                    to.copy_from_nonoverlapping(bytes.as_ptr().add(skipped), count);
                }
            }
        }
        done += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::layout::{Extent, Layout};

    #[test]
    fn runs_of_any_place_and_size_are_copied() {
        #[repr(align(16))]
        struct Room([u8; 512]);
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
