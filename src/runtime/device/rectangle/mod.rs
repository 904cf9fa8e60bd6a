//! Rectangles, copied and filled on the device.
//!
//! Vulkan copies runs of bytes, and fills runs with a word. A rectangle is a run for each of its rows, which the drivers
//! of hardware take microseconds for: of a quarter of an image of 4096 × 4096 texels in RGBA8, NVIDIA's copied 7.7 GB
//! a second on an H200, and filled 4.5. So rectangles, and fills with longer patterns, are launches of a kernel of
//! ours (`shaders/rectangles.cl`); what is one run, or a few, stays Vulkan's.
//!
//! The software drivers' copies are calls of `memcpy`, which no kernel of theirs comes near (a quarter of an image:
//! lavapipe 8.5 against 0.6 GB/s, SwiftShader 17 against 0.2): there everything is Vulkan's, but for many short rows,
//! which the host moves ([`crate::runtime::transfer::host_access::move_on_host`]).

use crate::runtime::device::internal_kernels::{InternalKernel, InternalKernels, Unit};
use crate::runtime::host_memory::layout::{Extent, Layout, Shape};
use crate::vulkan::info::DeviceType;
use crate::vulkan::{Buffer, CopyRegion, Recorder};

/// Work-items of a work-group, as in `shaders/rectangles.cl`.
const GROUP_SIZE: u64 = 128;
/// Units that a work-item moves, as in `shaders/rectangles.cl`.
const STEPS: u64 = 4;

/// Units in a dispatch's row, and rows, that the kernels' 32 bits count with room for a tile beyond.
const MOST_UNITS: u64 = 1 << 30;

/// So many runs are as fast by Vulkan's copies: two microseconds each, less than what a launch takes.
const FEW_RUNS: usize = 2;

/// The longest pattern that a fill's argument holds.
const VALUE_BYTES: usize = 32;

impl InternalKernels {
    /// Records a copy. What it reads and writes must not overlap.
    pub fn copy(&self, recorder: &mut Recorder, source: &Buffer, target: &Buffer, shape: &Shape) {
        let shape = shape.merged();
        let runs = shape.extent.rows * shape.extent.slices;
        let by_kernel = runs > FEW_RUNS && self.are_faster() && {
            let sides = [side(target, shape.target), side(source, shape.source)];
            let rectangle = Rectangle::new(shape.extent, sides);
            self.copy_rectangle(recorder, &rectangle, self.most_groups())
        };
        if !by_kernel {
            recorder.copy(source, target, shape.runs().map(CopyRegion::from));
        }
    }

    fn copy_rectangle(
        &self,
        recorder: &mut Recorder,
        rectangle: &Rectangle<2>,
        most_groups: [u32; 3],
    ) -> bool {
        let kernel = InternalKernel::Copy(rectangle.unit());
        let can = self.has(kernel);
        if can {
            for launch in rectangle.launches(most_groups) {
                let [target, source] = launch.sides;
                let mut argument = [0; 64];
                let parts = [&target.bytes()[..], &launch.tiling.bytes(), &source.bytes()];
                put(&mut argument, &parts);
                self.dispatch(recorder, kernel, &argument, launch.groups);
            }
        }
        can
    }

    /// Records a fill, each row of which begins with the pattern and holds it a whole number of times; false where
    /// it can't, or where Vulkan's commands are as good.
    pub fn fill(
        &self,
        recorder: &mut Recorder,
        target: &Buffer,
        extent: Extent,
        layout: Layout,
        pattern: &[u8],
    ) -> bool {
        let rectangle = Rectangle::new(extent, [side(target, layout)]);
        self.are_faster() && self.fill_columns(recorder, &rectangle, pattern, self.most_groups())
    }

    /// The columns of a pattern longer than a fill's argument holds, one after the other.
    fn fill_columns(
        &self,
        recorder: &mut Recorder,
        rectangle: &Rectangle<1>,
        pattern: &[u8],
        most_groups: [u32; 3],
    ) -> bool {
        if pattern.len() <= VALUE_BYTES {
            return self.fill_rectangle(recorder, rectangle, pattern, most_groups);
        }
        let rows = rectangle.cut(pattern.len() as u64);
        rows.is_some_and(|rows| {
            let parts = pattern.chunks(VALUE_BYTES).zip((0..).step_by(VALUE_BYTES));
            parts.into_iter().all(|(part, offset_bytes)| {
                let column = rows.column(offset_bytes, part.len() as u64);
                self.fill_rectangle(recorder, &column, part, most_groups)
            })
        })
    }

    fn fill_rectangle(
        &self,
        recorder: &mut Recorder,
        rectangle: &Rectangle<1>,
        pattern: &[u8],
        most_groups: [u32; 3],
    ) -> bool {
        let unit = rectangle.unit();
        let kernel = InternalKernel::Fill(unit);
        let Some(value) = value(pattern, unit).filter(|_| self.has(kernel)) else {
            return false;
        };
        for launch in rectangle.launches(most_groups) {
            let [target] = launch.sides;
            let mut argument = [0; 80];
            let gap = [0; 8];
            let parts = [&target.bytes()[..], &launch.tiling.bytes(), &gap, &value];
            put(&mut argument, &parts);
            self.dispatch(recorder, kernel, &argument, launch.groups);
        }
        true
    }

    /// Whether they beat Vulkan's commands.
    fn are_faster(&self) -> bool {
        let device = self.device();
        device.info().device_type != DeviceType::Cpu || device.hides_memory()
    }

    fn most_groups(&self) -> [u32; 3] {
        self.device().info().limits.max_compute_work_group_count
    }
}

/// The two units that a fill's rows are made of, each in a vector's place; `None` where more than two differ. Of
/// bytes it is a word, which may begin anywhere.
fn value(pattern: &[u8], unit: Unit) -> Option<[u8; VALUE_BYTES]> {
    let (unit_bytes, units) = match unit {
        Unit::Byte => (4, 1),
        _ => (1_usize << unit.log_bytes(), 2),
    };
    let repeats = (unit_bytes * units).checked_rem(pattern.len()) == Some(0);
    if !repeats {
        return None;
    }
    let mut value = [0; VALUE_BYTES];
    let mut repeated = pattern.iter().cycle();
    for vector in value.chunks_mut(VALUE_BYTES / 2) {
        for (byte, from) in vector.iter_mut().take(unit_bytes).zip(&mut repeated) {
            *byte = *from;
        }
    }
    Some(value)
}

/// A rectangle in one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Side {
    address: u64,
    row_pitch_bytes: u64,
    slice_pitch_bytes: u64,
}

fn side(buffer: &Buffer, layout: Layout) -> Side {
    Side {
        address: buffer.device_address() + layout.offset_bytes as u64,
        row_pitch_bytes: layout.row_pitch_bytes as u64,
        slice_pitch_bytes: layout.slice_pitch_bytes as u64,
    }
}

impl Side {
    fn at(&self, x_bytes: u64, row: u64, slice: u64) -> Self {
        let offset = slice * self.slice_pitch_bytes + row * self.row_pitch_bytes + x_bytes;
        Self {
            address: self.address + offset,
            ..*self
        }
    }

    /// `Side` of `shaders/rectangles.cl`.
    fn bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        let fields = [self.address, self.row_pitch_bytes, self.slice_pitch_bytes];
        put(&mut bytes, &fields.map(u64::to_le_bytes));
        bytes
    }
}

/// Rows and slices of bytes in `N` memories, none of the numbers 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rectangle<const N: usize> {
    width_bytes: u64,
    rows: u64,
    slices: u64,
    sides: [Side; N],
}

impl<const N: usize> Rectangle<N> {
    fn new(extent: Extent, sides: [Side; N]) -> Self {
        let mut rectangle = Self {
            width_bytes: extent.width_bytes as u64,
            rows: extent.rows as u64,
            slices: extent.slices as u64,
            sides,
        };
        rectangle.join_slices();
        rectangle
    }

    /// Has the rows of all slices be those of one where they are as far apart.
    fn join_slices(&mut self) {
        let rows = self.rows;
        let joins =
            |side: &Side| rows == 1 || side.slice_pitch_bytes == rows * side.row_pitch_bytes;
        if self.sides.iter().all(joins) {
            if rows == 1 {
                for side in &mut self.sides {
                    side.row_pitch_bytes = side.slice_pitch_bytes;
                }
            }
            self.rows *= self.slices;
            self.slices = 1;
        }
    }

    /// The only row in rows of `width_bytes`, one after the other, of which it is a multiple; `None` if there are more.
    fn cut(&self, width_bytes: u64) -> Option<Self> {
        let is_one = self.rows == 1 && self.slices == 1;
        is_one.then(|| Self {
            width_bytes,
            rows: self.width_bytes / width_bytes,
            slices: 1,
            sides: self.sides.map(|side| Side {
                row_pitch_bytes: width_bytes,
                ..side
            }),
        })
    }

    /// A part of every row.
    fn column(&self, offset_bytes: u64, width_bytes: u64) -> Self {
        Self {
            width_bytes,
            sides: self.sides.map(|side| side.at(offset_bytes, 0, 0)),
            ..*self
        }
    }

    /// The widest unit that everything is a multiple of.
    fn unit(&self) -> Unit {
        let mut bits = self.width_bytes;
        for side in &self.sides {
            bits |= side.address;
            if self.rows > 1 {
                bits |= side.row_pitch_bytes;
            }
            if self.slices > 1 {
                bits |= side.slice_pitch_bytes;
            }
        }
        match bits.trailing_zeros() {
            0 | 1 => Unit::Byte,
            2 => Unit::Four,
            3 => Unit::Eight,
            _ => Unit::Sixteen,
        }
    }

    /// The dispatches that cover it, each of at most so many work-groups.
    fn launches(&self, most_groups: [u32; 3]) -> impl Iterator<Item = Launch<N>> {
        let whole = *self;
        let unit = self.unit();
        let log_unit = unit.log_bytes();
        let tile = Tile::of(unit.columns(whole.width_bytes >> log_unit), whole.rows);
        let [most_x, most_y, most_z] = most_groups.map(u64::from);
        let most_units = unit.within((most_x * tile.columns()).min(MOST_UNITS));
        let most_rows = (most_y * tile.rows()).min(MOST_UNITS);
        parts(whole.slices, most_z).flat_map(move |(slice, slices)| {
            parts(whole.rows, most_rows).flat_map(move |(row, rows)| {
                let units = whole.width_bytes >> log_unit;
                parts(units, most_units).map(move |(first, units)| Launch {
                    // No more than the limits, which are of 32 bits; so are numbers up to `MOST_UNITS`.
                    groups: [
                        unit.columns(units).div_ceil(tile.columns()),
                        rows.div_ceil(tile.rows()),
                        slices,
                    ]
                    .map(|count| count as u32),
                    tiling: Tiling {
                        width_units: units as u32,
                        rows: rows as u32,
                        tile,
                    },
                    sides: whole
                        .sides
                        .map(|side| side.at(first << log_unit, row, slice)),
                })
            })
        })
    }
}

impl Unit {
    fn log_bytes(self) -> u32 {
        match self {
            Self::Byte => 0,
            Self::Four => 2,
            Self::Eight => 3,
            Self::Sixteen => 4,
        }
    }

    /// What a row of so many units is to the work-items: of bytes each takes a word, of which the row may have
    /// a part at either end.
    fn columns(self, units: u64) -> u64 {
        match self {
            Self::Byte => (units + 6) / 4,
            _ => units,
        }
    }

    /// Units that make no more than so many columns: of bytes whole words, one at least.
    fn within(self, columns: u64) -> u64 {
        match self {
            Self::Byte => columns.saturating_sub(2).max(1) * 4,
            _ => columns,
        }
    }
}

/// `0..total` in parts of at most `most`: the beginning of each, and how many.
fn parts(total: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    let count = total.div_ceil(most);
    (0..count).map(move |index| (index * most, most.min(total - index * most)))
}

/// One dispatch.
struct Launch<const N: usize> {
    groups: [u32; 3],
    tiling: Tiling,
    sides: [Side; N],
}

struct Tiling {
    width_units: u32,
    rows: u32,
    tile: Tile,
}

impl Tiling {
    /// `Tiling` of `shaders/rectangles.cl`.
    fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        let Tile {
            log_lanes,
            along_row,
        } = self.tile;
        let fields = [self.width_units, self.rows, log_lanes, along_row.into()];
        put(&mut bytes, &fields.map(u32::to_le_bytes));
        bytes
    }
}

/// The units that a work-group takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tile {
    /// The binary logarithm of how many work-items lie beside each other.
    log_lanes: u32,
    /// Whether the units of a work-item lie in one row.
    along_row: bool,
}

impl Tile {
    /// For rows of so many units.
    fn of(units: u64, rows: u64) -> Self {
        let lanes = units.next_power_of_two().min(GROUP_SIZE);
        // Fewer lanes, but not fewer than a sub-group has, where an eighth of them would have nothing to do.
        let mut log_lanes = lanes.ilog2();
        let idle = |log_lanes: u32| units.next_multiple_of(1 << log_lanes) - units;
        while log_lanes > 5 && idle(log_lanes) > units / 8 {
            log_lanes -= 1;
        }
        Self {
            log_lanes,
            along_row: rows < STEPS,
        }
    }

    fn columns(self) -> u64 {
        let lanes = 1 << self.log_lanes;
        if self.along_row { STEPS * lanes } else { lanes }
    }

    fn rows(self) -> u64 {
        let lines = GROUP_SIZE >> self.log_lanes;
        if self.along_row { lines } else { STEPS * lines }
    }
}

/// Writes `parts` one after the other.
fn put<P: AsRef<[u8]>>(bytes: &mut [u8], parts: &[P]) {
    let from = parts.iter().flat_map(|part| part.as_ref());
    for (byte, from) in bytes.iter_mut().zip(from) {
        *byte = *from;
    }
}

#[cfg(test)]
mod tests;
