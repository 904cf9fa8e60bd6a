//! The kernels on the device, against what the host makes of the same rectangle.

use super::*;
use crate::runtime::test_bench::{Bench, ROOM_BYTES, bytes};

/// Calls `test` with rectangles of every unit and of every kind of tile, and the layouts of two of them.
fn for_each_rectangle(mut test: impl FnMut(Extent, [Layout; 2])) {
    const WIDTHS: [usize; 13] = [1, 2, 3, 4, 7, 8, 12, 16, 31, 33, 48, 130, 1040];
    for (width_bytes, rows, slices) in WIDTHS
        .into_iter()
        .flat_map(|width| [1, 2, 3, 5, 9].map(|rows| (width, rows)))
        .flat_map(|(width, rows)| [1, 2, 3].map(|slices| (width, rows, slices)))
    {
        let extent = Extent {
            width_bytes,
            rows,
            slices,
        };
        for granule in [1, 2, 4, 8, 16] {
            let layout = |offset: usize, more_row: usize, more_slice: usize| {
                let row_pitch_bytes = (width_bytes + more_row).next_multiple_of(granule);
                Layout {
                    offset_bytes: offset * granule,
                    row_pitch_bytes,
                    slice_pitch_bytes: row_pitch_bytes * (rows + more_slice),
                }
            };
            let layouts = [layout(3, 5, 0), layout(2, 0, 1)];
            assert!(layouts.iter().all(|it| it.end_bytes(extent) <= ROOM_BYTES));
            test(extent, layouts);
        }
    }
}

/// Few enough for every rectangle but the smallest to be cut.
const FEW_GROUPS: [u32; 3] = [2, 1, 2];

#[test]
fn copies_are_what_the_host_would_copy() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    for (index, byte) in bytes(&bench.source).iter_mut().enumerate() {
        *byte = (index * 7 + index / 251) as u8;
    }
    let source = bytes(&bench.source).to_vec();
    for_each_rectangle(|extent, [from, to]| {
        let shape = Shape {
            extent,
            source: from,
            target: to,
        };
        let sides = [side(&bench.target, to), side(&bench.source, from)];
        for most_groups in [[65_535; 3], FEW_GROUPS] {
            let [mut wanted, found] = bench.run(|kernels, _, recorder| {
                kernels.copy_rectangle(recorder, &Rectangle::new(extent, sides), most_groups)
            });
            for run in shape.runs() {
                wanted[run.target_bytes..][..run.size_bytes]
                    .copy_from_slice(&source[run.source_bytes..][..run.size_bytes]);
            }
            assert!(found == wanted, "{shape:?}, at most {most_groups:?} groups");
        }
    });
}

#[test]
fn fills_repeat_their_pattern_from_each_row_on() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let pattern: Vec<u8> = (1..=128).collect();
    for_each_rectangle(|extent, layouts| {
        for (layout, log_bytes) in layouts
            .into_iter()
            .flat_map(|it| (0..5).map(move |log| (it, log)))
        {
            let pattern = &pattern[..1 << log_bytes];
            let rectangle = Rectangle::new(extent, [side(&bench.target, layout)]);
            let fits = extent.width_bytes.is_multiple_of(pattern.len())
                && value(pattern, rectangle.unit()).is_some();
            if !fits {
                continue;
            }
            for most_groups in [[65_535; 3], FEW_GROUPS] {
                let [mut wanted, found] = bench.run(|kernels, _, recorder| {
                    kernels.fill_columns(recorder, &rectangle, pattern, most_groups)
                });
                fill_rows(&mut wanted, extent, layout, pattern);
                assert!(found == wanted, "{extent:?} {layout:?}, {pattern:?}");
            }
        }
    });
}

#[test]
fn long_patterns_are_filled_by_columns() {
    let Some(mut bench) = Bench::new() else {
        return;
    };
    let pattern: Vec<u8> = (1..=128).collect();
    for length in [32, 64, 128] {
        for count in [1, 2, 5, 100] {
            let pattern = &pattern[..length];
            let extent = Extent::linear(count * length);
            let layout = extent.packed(length);
            let rectangle = Rectangle::new(extent, [side(&bench.target, layout)]);
            let [mut wanted, found] = bench.run(|kernels, _, recorder| {
                kernels.fill_columns(recorder, &rectangle, pattern, [65_535; 3])
            });
            fill_rows(&mut wanted, extent, layout, pattern);
            assert!(found == wanted, "{count} times {length} bytes");
        }
    }
}

fn fill_rows(target: &mut [u8], extent: Extent, layout: Layout, pattern: &[u8]) {
    for slice in 0..extent.slices {
        for row in 0..extent.rows {
            let start = layout.offset_bytes
                + slice * layout.slice_pitch_bytes
                + row * layout.row_pitch_bytes;
            for (index, byte) in target[start..][..extent.width_bytes].iter_mut().enumerate() {
                *byte = pattern[index % pattern.len()];
            }
        }
    }
}

#[test]
fn tiles_leave_few_lanes_idle() {
    for units in 1..5000_u64 {
        let tile = Tile::of(units, 100);
        let lanes = 1_u64 << tile.log_lanes;
        let busy = units as f64 / units.next_multiple_of(lanes) as f64;
        assert!(
            busy > 0.5 && (busy > 0.88 || lanes <= 32),
            "{units}: {tile:?}"
        );
    }
}

#[test]
fn units_are_as_wide_as_all_parts_allow() {
    let unit = |width_bytes, address, row_pitch_bytes, rows| {
        let side = Side {
            address,
            row_pitch_bytes,
            slice_pitch_bytes: row_pitch_bytes * rows,
        };
        Rectangle {
            width_bytes,
            rows,
            slices: 1,
            sides: [side],
        }
        .unit()
    };
    assert_eq!(unit(64, 256, 128, 2), Unit::Sixteen);
    assert_eq!(unit(40, 256, 128, 2), Unit::Eight);
    assert_eq!(unit(64, 260, 128, 2), Unit::Four);
    assert_eq!(unit(64, 256, 130, 2), Unit::Byte);
    assert_eq!(unit(64, 257, 128, 2), Unit::Byte);
    // The pitch of a single row does not matter.
    assert_eq!(unit(64, 256, 65, 1), Unit::Sixteen);
}

#[test]
fn what_is_too_large_for_a_dispatch_is_cut() {
    let side = Side {
        address: (1 << 40) + 1,
        row_pitch_bytes: 1 << 36,
        slice_pitch_bytes: 0,
    };
    let rectangle = Rectangle {
        width_bytes: 3 << 34,
        rows: 2,
        slices: 1,
        sides: [side],
    };
    let mut next = side.address;
    let mut bytes = 0;
    for launch in rectangle.launches([65_535; 3]) {
        let [target] = launch.sides;
        assert_eq!(target.address, next);
        assert_eq!(launch.tiling.rows, 2);
        assert!(
            launch
                .groups
                .iter()
                .all(|count| (1..=65_535).contains(count))
        );
        next += u64::from(launch.tiling.width_units);
        bytes += u64::from(launch.tiling.width_units);
    }
    assert_eq!(bytes, 3 << 34);
}
