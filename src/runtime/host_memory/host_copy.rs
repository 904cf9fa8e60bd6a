//! Copies on the host, large ones on several threads: one thread moves 3 to 10 GB/s, a bus 50.

use super::layout::{Extent, Layout, Shape};
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::num::NonZeroUsize;
use std::sync::OnceLock;

/// Bytes that are worth a thread.
const BYTES_PER_THREAD: usize = 256 << 10;

/// More threads than this gain nothing: memory is the limit.
const MOST_THREADS: usize = 6;

/// Addresses for the threads of one copy.
#[derive(Clone, Copy)]
struct Ends(*const u8, *mut u8);

// SAFETY: the threads copy disjoint parts, and end before the copy returns.
unsafe impl Send for Ends {}

/// Copies `shape` from `source` to `target`. A run may overlap its own copy, as in [`Shape::copy`].
///
/// # Safety
/// Every run is readable at `source` and writable at `target`.
pub unsafe fn copy(shape: &Shape, source: *const u8, target: *mut u8) {
    let parts = (shape.extent.size_bytes() / BYTES_PER_THREAD).min(threads());
    if parts < 2 || overlaps(shape, source, target) {
        // SAFETY: the caller's promise.
        unsafe { shape.copy(source, target) };
        return;
    }
    // SAFETY: as above; no part of the source is in the target.
    unsafe { copy_in_parts(helpers(), parts, shape, source, target) };
}

/// Copies about so many parts, the first on this thread and the others on `helpers`.
///
/// # Safety
/// As [`copy`]; source and target share no byte.
unsafe fn copy_in_parts(
    helpers: Option<&ThreadPool>,
    parts: usize,
    shape: &Shape,
    source: *const u8,
    target: *mut u8,
) {
    // Whole pages for each.
    let part_bytes = (shape.extent.size_bytes().div_ceil(parts)).next_multiple_of(4096);
    let ends = Ends(source, target);
    let copy = move |piece: Shape| {
        let Ends(source, target) = { ends };
        // SAFETY: the caller's promise, for a part of the shape.
        unsafe { piece.copy(source, target) };
    };
    let mut pieces = shape.pieces(part_bytes);
    let own = pieces.next();
    match helpers {
        Some(helpers) => helpers.in_place_scope(|scope| {
            for piece in pieces {
                scope.spawn(move |_| copy(piece));
            }
            own.into_iter().for_each(copy);
        }),
        None => own.into_iter().chain(pieces).for_each(copy),
    }
}

/// Fills rows, each of which begins with the pattern.
///
/// # Safety
/// Every row is writable at `target`.
pub unsafe fn fill(extent: Extent, layout: Layout, pattern: &[u8], target: *mut u8) {
    if extent.size_bytes() == 0 || pattern.is_empty() {
        return;
    }
    // SAFETY: the first row, by the caller's promise.
    let row = unsafe {
        std::slice::from_raw_parts_mut(target.add(layout.offset_bytes), extent.width_bytes)
    };
    for part in row.chunks_mut(pattern.len()) {
        part.copy_from_slice(&pattern[..part.len()]);
    }
    let first = Layout {
        row_pitch_bytes: 0,
        slice_pitch_bytes: 0,
        ..layout
    };
    let shape = Shape {
        extent,
        source: first,
        target: layout,
    };
    // SAFETY: the same rows, and the first, which is copied to itself, too.
    unsafe { shape.copy(target, target) };
}

/// Whether source and target share bytes: then the order of the parts would matter.
fn overlaps(shape: &Shape, source: *const u8, target: *mut u8) -> bool {
    let from = source as usize + shape.source.offset_bytes;
    let to = target as usize + shape.target.offset_bytes;
    let from_end = source as usize + shape.source.end_bytes(shape.extent);
    let to_end = target as usize + shape.target.end_bytes(shape.extent);
    from < to_end && to < from_end
}

/// Half of the processors: the other half may be what the device itself runs on.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| {
        let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        (processors / 2).clamp(1, MOST_THREADS)
    })
}

/// Threads that copy beside the one that has to. Kept: a copy of 1 MiB that made six of them first took longer than on one
/// thread. `None` where there are none to be had.
fn helpers() -> Option<&'static ThreadPool> {
    static HELPERS: OnceLock<Option<ThreadPool>> = OnceLock::new();
    let make = || pool(threads() - 1);
    HELPERS.get_or_init(make).as_ref()
}

fn pool(threads: usize) -> Option<ThreadPool> {
    let name = |_| "pumice-copy".to_owned();
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads.max(1))
        .thread_name(name);
    let failed = |error| log::warn!("large copies take one thread: {error}");
    pool.build().map_err(failed).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_copy_is_whole() {
        let size_bytes = 13 * BYTES_PER_THREAD + 12_345;
        let source: Vec<u8> = (0..size_bytes).map(|index| (index % 251) as u8).collect();
        let shape = Shape::linear(5, 7, size_bytes - 7);
        let is_whole =
            |target: &[u8]| target[..7] == [0; 7] && target[7..] == source[5..size_bytes - 2];
        let mut target = vec![0; size_bytes];
        // SAFETY: both are long enough.
        unsafe { copy(&shape, source.as_ptr(), target.as_mut_ptr()) };
        assert!(is_whole(&target));
        for helpers in [None, pool(1), pool(5)] {
            for parts in [2, 3, 6, 40] {
                let mut target = vec![0; size_bytes];
                let (from, to) = (source.as_ptr(), target.as_mut_ptr());
                // SAFETY: as above.
                unsafe { copy_in_parts(helpers.as_ref(), parts, &shape, from, to) };
                assert!(is_whole(&target), "{parts} parts");
            }
        }
    }

    #[test]
    fn rows_are_copied_in_parts_and_nothing_between_them() {
        let extent = Extent {
            width_bytes: 1000,
            rows: 100,
            slices: 3,
        };
        let pitched = Layout {
            offset_bytes: 3,
            row_pitch_bytes: 1100,
            slice_pitch_bytes: 120_000,
        };
        let shape = Shape {
            extent,
            source: extent.packed(0),
            target: pitched,
        };
        let source: Vec<u8> = (0..extent.size_bytes())
            .map(|index| (index % 250) as u8 + 1)
            .collect();
        let target = || vec![0_u8; pitched.end_bytes(extent) + 10];
        let [mut whole, mut in_parts] = [target(), target()];
        let helpers = pool(3);
        // SAFETY: both are long enough.
        unsafe {
            shape.copy(source.as_ptr(), whole.as_mut_ptr());
            let (from, to) = (source.as_ptr(), in_parts.as_mut_ptr());
            copy_in_parts(helpers.as_ref(), 4, &shape, from, to);
        }
        assert!(whole == in_parts);
    }

    #[test]
    fn a_pattern_fills_rows_and_nothing_else() {
        let extent = Extent {
            width_bytes: 7,
            rows: 3,
            slices: 2,
        };
        let layout = Layout {
            offset_bytes: 5,
            row_pitch_bytes: 10,
            slice_pitch_bytes: 40,
        };
        let mut bytes = [0; 90];
        // SAFETY: the last row ends at byte 72.
        unsafe { fill(extent, layout, &[1, 2, 3], bytes.as_mut_ptr()) };
        for (at, byte) in bytes.into_iter().enumerate() {
            let [slice, row, column] = match at.checked_sub(5) {
                Some(at) => [at / 40, at % 40 / 10, at % 10],
                None => [9; 3],
            };
            let is_inside = slice < 2 && row < 3 && column < 7;
            let expected = if is_inside { column % 3 + 1 } else { 0 };
            assert_eq!(usize::from(byte), expected, "{at}");
        }
    }

    #[test]
    fn overlap_is_found() {
        let bytes = [0_u8; 64];
        let base = bytes.as_ptr();
        let shape = Shape::linear(0, 8, 16);
        assert!(overlaps(&shape, base, base.cast_mut()));
        let shape = Shape::linear(0, 16, 16);
        assert!(!overlaps(&shape, base, base.cast_mut()));
    }
}
