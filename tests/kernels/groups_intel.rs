//! Intel's sub-group extensions.

use super::documents;
use super::group_model::{
    BASIC, HALVES, PLACE, SIZES, Scalar, arithmetic, places, sub_group_size, together,
};
use super::harness::{Launch, Plain, assert_equal, rounds, session, skip};
use super::random::Random;
use std::fmt::Write;

fn lacks(extension: &str) -> bool {
    let lacks = !session().has(extension);
    if lacks {
        skip(&format!("no {extension}"));
    }
    lacks
}

/// A number of a type from a small one.
trait FromSmall: Plain {
    fn from_small(number: usize) -> Self;
}

macro_rules! from_small {
    ($($ty:ty)*) => {$(
        impl FromSmall for $ty {
            fn from_small(number: usize) -> Self {
                number as u8 as $ty
            }
        }
    )*};
}
from_small!(u8 u16 u32 u64);

/// A call of a shuffle on `x` and `y`, and the place that its result comes from: that of a work-item in a sub-group
/// that holds `x`, or, counted on from there, of one that holds `y`.
type Shuffle = (&'static str, fn(usize, usize) -> usize);

const SHUFFLES: [Shuffle; 8] = [
    (
        "intel_sub_group_shuffle(x, (lane * 3 + 1) % size)",
        |lane, size| (lane * 3 + 1) % size,
    ),
    ("intel_sub_group_shuffle_xor(x, size / 2)", |lane, size| {
        lane ^ (size / 2)
    }),
    ("intel_sub_group_shuffle_down(x, y, 1)", |lane, _| lane + 1),
    // In `up` the first operand is the row before.
    ("intel_sub_group_shuffle_up(x, y, 1)", |lane, size| {
        lane + size - 1
    }),
    (
        "intel_sub_group_shuffle_down(x, y, size - 1)",
        |lane, size| lane + size - 1,
    ),
    (
        "intel_sub_group_shuffle_up(x, y, lane % size)",
        |_, size| size,
    ),
    ("intel_sub_group_shuffle_down(x, y, 0)", |lane, _| lane),
    ("intel_sub_group_shuffle_up(x, y, 0)", |lane, size| {
        lane + size
    }),
];

#[test]
fn shuffles() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        let scalars = SHUFFLES.map(|shuffle| (shuffle, 1));
        check_shuffles::<T>(ty, exchanged, &scalars);
    }
    for_each_type!(check, small: true);
}

/// Vectors of every type and width, each in one of the functions by turns.
#[test]
fn vector_shuffles() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: Scalar>(ty: &str, exchanged: &str) {
        for round in rounds() {
            let turn = round as usize + ty.len();
            let vectors = [2usize, 3, 4, 8, 16].map(|width| {
                let number = width.ilog2() as usize + turn;
                (SHUFFLES[number % 4], width)
            });
            check_shuffles::<T>(ty, exchanged, &vectors);
        }
    }
    for_each_type!(check, small: true);
}

/// Checks shuffles of vectors of these widths.
fn check_shuffles<T: Scalar>(ty: &str, exchanged: &str, shuffles: &[(Shuffle, usize)]) {
    let size = sub_group_size();
    let total: usize = shuffles.iter().map(|(_, width)| width).sum();
    let mut body = String::new();
    let mut at = 0;
    for ((call, _), width) in shuffles {
        let _ = match width {
            1 => writeln!(
                body,
                "{{ {ty} x = ({ty})a[i * 16], y = ({ty})b[i * 16]; out[i * {total} + {at}] = {call}; }}"
            ),
            _ => writeln!(
                body,
                "{{ {ty}{width} x = convert_{ty}{width}(vload{width}(0, a + i * 16));
                    {ty}{width} y = convert_{ty}{width}(vload{width}(0, b + i * 16));
                    vstore{width}(convert_{exchanged}{width}({call}), 0, out + i * {total} + {at}); }}"
            ),
        };
        at += width;
    }
    let source = format!(
        "{HALVES}kernel void test(global const {exchanged} *a, global const {exchanged} *b,
             global {exchanged} *out) {{
             size_t i = get_global_id(0); uint lane = get_sub_group_local_id();
             uint size = get_max_sub_group_size(); {body} }}"
    );
    // Work-groups of whole sub-groups, so that all of both rows is there.
    let count = 4 * size;
    let mut random = Random::new(19);
    let mut numbers = || -> Vec<T> { (0..count * 16).map(|_| T::small(&mut random)).collect() };
    let (a, b) = (numbers(), numbers());
    let found = Launch::new(source)
        .buffer(&a)
        .buffer(&b)
        .output::<T>(count * total)
        .run(&[count], &[2 * size]);
    let mut expected = Vec::new();
    for i in 0..count {
        let (first, lane) = (i / size * size, i % size);
        for ((_, source), width) in shuffles {
            let source = source(lane, size);
            let (values, item) = if source < size {
                (&a, first + source)
            } else {
                (&b, first + source - size)
            };
            expected.extend_from_slice(&values[item * 16..][..*width]);
        }
    }
    assert_equal(&found.get(2), &expected, |i| {
        format!("result {} of {ty}", i % total)
    });
}

/// A vector that every work-item of two sub-groups reads or writes.
struct Block<T> {
    /// Of a sub-group.
    size: usize,
    width: usize,
    /// What the built-in functions' names end with.
    suffix: String,
    vector: String,
    /// As many numbers as all work-items have.
    values: Vec<T>,
}

impl<T: FromSmall> Block<T> {
    /// Runs the kernel, which makes two buffers of as many numbers from `values`, and compares them; the second, and the
    /// local memory of `local_bytes` if it takes any, are its last arguments.
    fn check(&self, source: String, local_bytes: usize, expected: [&[T]; 2]) {
        let count = self.values.len();
        let launch = Launch::new(source)
            .buffer(&self.values)
            .output::<T>(count)
            .output::<T>(count);
        let launch = match local_bytes {
            0 => launch,
            bytes => launch.local(bytes),
        };
        let found = launch.run(&[2 * self.size], &[self.size]);
        for (index, expected) in expected.into_iter().enumerate() {
            assert_equal(&found.get(1 + index), expected, |i| {
                format!("element {i} of {}{}", self.vector, self.suffix)
            });
        }
    }
}

/// Every block of numbers of a type, whose functions' names have one of `suffixes`.
fn blocks_of<T: FromSmall>(ty: &str, suffixes: &[&str]) -> Vec<Block<T>> {
    let size = sub_group_size();
    let of = |suffix: &str, width: usize| Block {
        size,
        width,
        suffix: format!("{suffix}{}", number(width)),
        vector: format!("{ty}{}", number(width)),
        values: (0..2 * size * width)
            .map(|i| T::from_small(i * 3 + 1))
            .collect(),
    };
    let mut list = Vec::new();
    for suffix in suffixes {
        list.extend(widths(suffix).iter().map(|&width| of(suffix, width)));
    }
    list
}

/// A function for every type of number that blocks have.
macro_rules! each_type {
    ($check:ident) => {
        $check::<u32>("uint", &["", "_ui"]);
        $check::<u16>("ushort", &["_us"]);
        $check::<u8>("uchar", &["_uc"]);
        $check::<u64>("ulong", &["_ul"]);
    };
}

#[test]
fn block_reads_and_writes() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: FromSmall>(ty: &str, suffixes: &[&str]) {
        for block in blocks_of::<T>(ty, suffixes) {
            let (size, width) = (block.size, block.width);
            let (suffix, vector) = (&block.suffix, &block.vector);
            let source = format!(
                "kernel void test(global const {ty} *in, global {ty} *out, global {ty} *mine) {{
                     size_t first = (get_group_id(0) * get_num_sub_groups() + get_sub_group_id())
                         * get_max_sub_group_size() * {width};
                     {vector} x = intel_sub_group_block_read{suffix}(in + first);
                     for (int k = 0; k < {width}; k++)
                         mine[get_global_id(0) * {width} + k] = (({ty} *)&x)[k];
                     intel_sub_group_block_write{suffix}(out + first, x); }}"
            );
            let mine: Vec<T> = (0..block.values.len())
                .map(|at| {
                    let (item, k) = (at / width, at % width);
                    let (group, lane) = (item / size, item % size);
                    block.values[group * size * width + k * size + lane]
                })
                .collect();
            block.check(source, 0, [&block.values, &mine]);
        }
    }
    each_type!(check);
}

/// All that is written to local memory is read back, and each element is where the document says.
#[test]
fn local_blocks() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroup_local_block_io") {
        return;
    }
    fn check<T: FromSmall>(ty: &str, suffixes: &[&str]) {
        for block in blocks_of::<T>(ty, suffixes) {
            let (size, width) = (block.size, block.width);
            let (suffix, vector) = (&block.suffix, &block.vector);
            let source = format!(
                "kernel void test(global const {ty} *in, global {ty} *out, global {ty} *back,
                         local {ty} *scratch) {{
                     size_t i = get_global_id(0);
                     {vector} x;
                     for (int k = 0; k < {width}; k++) (({ty} *)&x)[k] = in[i * {width} + k];
                     intel_sub_group_block_write{suffix}(scratch, x);
                     barrier(CLK_LOCAL_MEM_FENCE);
                     for (int k = 0; k < {width}; k++)
                         out[i * {width} + k] = scratch[get_local_id(0) * {width} + k];
                     {vector} y = intel_sub_group_block_read{suffix}(scratch);
                     for (int k = 0; k < {width}; k++) back[i * {width} + k] = (({ty} *)&y)[k]; }}"
            );
            let written: Vec<T> = (0..block.values.len())
                .map(|at| {
                    let (group, at) = (at / (size * width), at % (size * width));
                    let (k, lane) = (at / size, at % size);
                    block.values[(group * size + lane) * width + k]
                })
                .collect();
            let local_bytes = size * width * T::SIZE;
            block.check(source, local_bytes, [&written, &block.values]);
        }
    }
    each_type!(check);
}

/// "p must be aligned to a 32-bit (4-byte) boundary", whatever is read from there.
#[test]
fn reads_of_four_byte_alignment() {
    if lacks("cl_intel_subgroup_local_block_io") || lacks("cl_intel_subgroups_long") {
        return;
    }
    let size = sub_group_size();
    let words = 4 * size + 1;
    let source = format!(
        "kernel void test(global const uint *in, global ulong2 *out, local uint *scratch) {{
             size_t i = get_local_id(0);
             for (size_t k = i; k < {words}; k += get_local_size(0)) scratch[k] = in[k];
             barrier(CLK_LOCAL_MEM_FENCE);
             out[2 * i] = intel_sub_group_block_read_ul2((global const ulong *)(in + 1));
             out[2 * i + 1] = intel_sub_group_block_read_ul2((local const ulong *)(scratch + 1)); }}"
    );
    let values: Vec<u32> = (0..words as u32).map(|i| i * 0x0101_0101 + 7).collect();
    let found = Launch::new(source)
        .buffer(&values)
        .output::<[u64; 2]>(2 * size)
        .local(words * 4)
        .run(&[size], &[size]);
    let element = |at: usize| u64::from(values[1 + 2 * at]) | u64::from(values[2 + 2 * at]) << 32;
    let expected: Vec<[u64; 2]> = (0..2 * size)
        .map(|row| [element(row / 2), element(row / 2 + size)])
        .collect();
    assert_equal(&found.get(1), &expected, |row| {
        let memory = ["global", "local"][row % 2];
        format!("work-item {} from {memory} memory", row / 2)
    });
}

/// The functions are declared where the source does not spell out their names.
#[test]
fn names_made_by_macros() {
    if lacks("cl_intel_subgroups") {
        return;
    }
    let size = sub_group_size();
    if size == 1 {
        return skip("sub-groups of one work-item have nobody to exchange with");
    }
    let expected: Vec<u32> = (0..size as u32).map(|i| i ^ 1).collect();
    let pasted = "
        #define CAT(a, b) a##b
        kernel void test(global uint *out) {
            uint x = get_local_id(0); out[x] = CAT(intel_, sub_group_shuffle)(x, x ^ 1); }";
    let named = "kernel void test(global uint *out) {
        uint x = get_local_id(0); out[x] = SHUFFLE(x, x ^ 1); }";
    for (source, option) in [(pasted, ""), (named, "-DSHUFFLE=intel_sub_group_shuffle")] {
        let found = Launch::new(source)
            .option(option)
            .output::<u32>(size)
            .run(&[size], &[size]);
        assert_equal(&found.get(0), &expected, |i| format!("{option} {i}"));
    }
}

/// What versions of the extensions promise is there.
#[test]
fn versions() {
    let session = session();
    let reported = session
        .device()
        .extensions_with_version()
        .expect("a device lists its extensions");
    let version = |name: &str| {
        let one = reported.iter().find(|one| {
            let bytes = one.name.iter().copied().take_while(|&c| c != 0);
            bytes.eq(name.bytes())
        });
        one.map(|one| {
            (
                one.version >> 22,
                one.version >> 12 & 0x3ff,
                one.version & 0xfff,
            )
        })
    };
    // 1.1.0 has brought the functions of `ushort16`.
    if !lacks("cl_intel_subgroups_short") {
        assert!(version("cl_intel_subgroups_short") >= Some((1, 1, 0)));
    }
    // 1.0.1 speaks of them too.
    if !lacks("cl_intel_subgroup_local_block_io") {
        assert!(version("cl_intel_subgroup_local_block_io") >= Some((1, 0, 1)));
    }
    // SPV_INTEL_subgroups is what clang makes of the functions.
    if !lacks("cl_intel_subgroups") {
        assert!(version("cl_intel_spirv_subgroups").is_some());
    }
}

/// Corners of blocks, in bytes: inside, unaligned, and across every edge.
const CORNERS: [(isize, isize); 6] = [(4, 1), (0, 0), (3, 2), (-6, -2), (20, 6), (300, -9)];

/// The widths of the functions with a suffix.
fn widths(suffix: &str) -> &'static [usize] {
    match suffix {
        "_us" | "_uc" => &[1, 2, 4, 8, 16],
        _ => &[1, 2, 4, 8],
    }
}

/// What is written after a type or a function for a width.
fn number(width: usize) -> String {
    match width {
        1 => String::new(),
        width => width.to_string(),
    }
}

/// An image of nine rows, of bytes or of four bytes a texel.
struct Picture {
    bytes: Vec<u8>,
    row_bytes: usize,
    texel_bytes: usize,
}

impl Picture {
    fn new(texel_bytes: usize) -> Self {
        let row_bytes = if texel_bytes == 1 { 37 } else { 13 * 4 };
        Self {
            bytes: (0..row_bytes * 9)
                .map(|i| (i * 11 + i / row_bytes) as u8)
                .collect(),
            row_bytes,
            texel_bytes,
        }
    }

    /// Where byte `x` of row `y` lies, if it is in the image.
    fn place(&self, x: isize, y: isize) -> Option<usize> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        let inside = x < self.row_bytes && y < self.bytes.len() / self.row_bytes;
        inside.then_some(y * self.row_bytes + x)
    }

    /// Byte `x` of row `y`; outside, the nearest texel's.
    fn byte(&self, x: isize, y: isize) -> u8 {
        let height = self.bytes.len() / self.row_bytes;
        let y = y.clamp(0, height as isize - 1) as usize;
        let within = x.rem_euclid(self.texel_bytes as isize) as usize;
        let x = match usize::try_from(x) {
            Err(_) => within,
            Ok(x) if x >= self.row_bytes => self.row_bytes - self.texel_bytes + within,
            Ok(x) => x,
        };
        self.bytes[y * self.row_bytes + x]
    }

    fn pass_to(&self, launch: Launch) -> Launch {
        let width = self.row_bytes / self.texel_bytes;
        match self.bytes.as_chunks() {
            (texels, []) if self.texel_bytes == 4 => launch.image::<[u8; 4]>(width, texels),
            _ => launch.image(width, &self.bytes),
        }
    }
}

#[test]
fn image_block_reads() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: FromSmall>(ty: &str, suffix: &str, picture: &Picture) {
        let size = sub_group_size();
        let widths = widths(suffix);
        let total: usize = widths.iter().sum();
        let corners: String = CORNERS.map(|(x, y)| format!("(int2)({x}, {y}),")).concat();
        let mut body = String::new();
        let mut at = 0;
        for &width in widths {
            let read = format!(
                "intel_sub_group_block_read{suffix}{}(image, corners[c])",
                number(width)
            );
            let _ = match width {
                1 => writeln!(body, "o[{at}] = {read};"),
                _ => writeln!(body, "vstore{width}({read}, 0, o + {at});"),
            };
            at += width;
        }
        let source = format!(
            "constant int2 corners[] = {{ {corners} }};
             kernel void test(read_only image2d_t image, global {ty} *out) {{
                 for (int c = 0; c < {}; c++) {{
                     global {ty} *o = out + (c * get_global_size(0) + get_global_id(0)) * {total};
                     {body} }} }}",
            CORNERS.len()
        );
        let found = picture
            .pass_to(Launch::new(source))
            .output::<T>(CORNERS.len() * size * total)
            .run(&[size], &[size]);
        let mut expected = Vec::new();
        for (x, y) in CORNERS {
            for lane in 0..size {
                for k in widths.iter().flat_map(|&width| 0..width) {
                    let element: Vec<u8> = (0..T::SIZE)
                        .map(|byte| {
                            let x = x + (lane * T::SIZE + byte) as isize;
                            picture.byte(x, y + k as isize)
                        })
                        .collect();
                    expected.push(T::get(&element));
                }
            }
        }
        assert_equal(&found.get(1), &expected, |i| {
            let corner = CORNERS[i / (size * total)];
            format!(
                "{suffix}, element {} of all widths, corner {corner:?}",
                i % total
            )
        });
    }
    for picture in [Picture::new(1), Picture::new(4)] {
        check::<u32>("uint", "", &picture);
        check::<u32>("uint", "_ui", &picture);
        check::<u16>("ushort", "_us", &picture);
        check::<u8>("uchar", "_uc", &picture);
        check::<u64>("ulong", "_ul", &picture);
    }
}

#[test]
fn image_block_writes() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroups") {
        return;
    }
    fn check<T: FromSmall>(ty: &str, suffix: &str, picture: &Picture) {
        let size = sub_group_size();
        // Each write has an image of its own, and the next corner.
        let writes = || {
            let corners = [(4, 1), (-8, -1), (28, 7)].into_iter().cycle();
            widths(suffix)
                .iter()
                .copied()
                .zip(corners.skip(suffix.len() % 2))
        };
        let (mut parameters, mut body) = (String::new(), String::new());
        for (image, (width, (x, y))) in writes().enumerate() {
            let _ = write!(parameters, "write_only image2d_t image{image}, ");
            let value = match width {
                1 => "in[i]".to_owned(),
                _ => format!("vload{width}(i, in)"),
            };
            let write = format!("intel_sub_group_block_write{suffix}{}", number(width));
            let _ = writeln!(body, "{write}(image{image}, (int2)({x}, {y}), {value});");
        }
        let source = format!(
            "kernel void test({parameters}global const {ty} *in) {{ size_t i = get_global_id(0); {body} }}"
        );
        let values: Vec<T> = (0..size * 16).map(|i| T::from_small(i * 3 + 100)).collect();
        let launch = writes().fold(Launch::new(source), |launch, _| picture.pass_to(launch));
        let found = launch.buffer(&values).run(&[size], &[size]);
        for (image, (width, (x, y))) in writes().enumerate() {
            let mut expected = picture.bytes.clone();
            for (at, value) in values[..size * width].iter().enumerate() {
                let (lane, k) = (at / width, at % width);
                let mut element = Vec::new();
                value.put(&mut element);
                for (byte, bits) in element.iter().enumerate() {
                    let x = x + (lane * T::SIZE + byte) as isize;
                    if let Some(at) = picture.place(x, y + k as isize) {
                        expected[at] = *bits;
                    }
                }
            }
            assert_equal(&found.get(image), &expected, |i| {
                format!("byte {i} after {ty}{} at {x}, {y}", number(width))
            });
        }
    }
    let (bytes, colours) = (Picture::new(1), Picture::new(4));
    check::<u32>("uint", "", &bytes);
    check::<u32>("uint", "_ui", &colours);
    check::<u16>("ushort", "_us", &bytes);
    check::<u8>("uchar", "_uc", &colours);
    check::<u8>("uchar", "_uc", &bytes);
    check::<u64>("ulong", "_ul", &colours);
}

/// What cl_intel_subgroups and the others bring to OpenCL C 1.2 and 2.0, which have no sub-groups of their own; and what
/// tells types apart: what changes nothing is the type's own.
#[test]
fn older_languages() {
    if lacks("cl_intel_subgroups") || lacks("cl_intel_subgroups_char") {
        return;
    }
    let size = sub_group_size();
    let source = "
        kernel void test(global const int *in, global int *out) {
            size_t i = get_global_id(0); global int *o = out + 16 * i;
            int x = in[i];
            o[0] = get_sub_group_size() + 1000 * get_max_sub_group_size();
            o[1] = get_num_sub_groups() * 100 + get_sub_group_id() * 10;
            o[2] = get_sub_group_local_id();
            o[3] = sub_group_all(x > 2) * 2 + sub_group_any(x > 90);
            o[4] = sub_group_broadcast(x, 1) + (int)sub_group_broadcast((float)x, 2);
            o[5] = sub_group_reduce_add(x) + (int)sub_group_reduce_max((float)x);
            o[6] = sub_group_scan_exclusive_max(x);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            o[7] = intel_sub_group_shuffle_xor(x, 1);
            o[8] = intel_sub_group_block_read((global const uint *)in + get_group_id(0) * get_local_size(0));
            o[9] = intel_sub_group_scan_exclusive_min((char)x);
            o[10] = intel_sub_group_scan_exclusive_min((uchar)x);
            o[11] = intel_sub_group_scan_exclusive_max((short)x);
            o[12] = intel_sub_group_scan_exclusive_min((ushort)x);
            o[13] = intel_sub_group_reduce_add((uchar)(x + 200));
            o[14] = intel_sub_group_reduce_min((char)(x + 100));
            o[15] = sub_group_scan_inclusive_add(x);
        }";
    if size == 1 {
        return skip("sub-groups of one work-item have nobody to exchange with");
    }
    let values: Vec<i32> = (0..2 * size as i32).map(|i| (i * 37 + 5) % 100).collect();
    for std in ["-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"] {
        let found = Launch::new(source)
            .only_options(std)
            .buffer(&values)
            .output::<[i32; 16]>(2 * size)
            .run(&[2 * size], &[size]);
        let expected: Vec<[i32; 16]> = (0..2 * size)
            .map(|i| {
                let row = &values[i / size * size..][..size];
                let (x, at) = (values[i], i % size);
                let before = &row[..at];
                let (sum, most) = (row.iter().sum::<i32>(), row.iter().max());
                let least = |none: i32| before.iter().copied().min().unwrap_or(none);
                let greatest = |none: i32| before.iter().copied().max().unwrap_or(none);
                let bytes = row.iter().map(|&x| (x + 200) as u8);
                let chars = row.iter().map(|&x| (x + 100) as i8);
                let all = i32::from(row.iter().all(|&x| x > 2));
                let any = i32::from(row.iter().any(|&x| x > 90));
                [
                    size as i32 * 1001,
                    100,
                    at as i32,
                    all * 2 + any,
                    row[1] + row[2],
                    sum + most.copied().unwrap_or(0),
                    greatest(i32::MIN),
                    row[at ^ 1],
                    x,
                    least(127),
                    least(255),
                    greatest(-32768),
                    least(65535),
                    bytes.fold(0, |a: u8, b| a.wrapping_add(b)).into(),
                    chars.min().unwrap_or(0).into(),
                    row[..=at].iter().sum(),
                ]
            })
            .collect();
        assert_equal(&found.get(1), &expected, |i| {
            format!("work-item {i}, {std}")
        });
    }
}

/// Reductions, scans and broadcasts of `char` to `ushort` under Intel's names, in sub-groups that are whole and
/// that are not.
#[test]
fn every_small_integer() {
    let _documented = documents::this_test();
    if lacks("cl_intel_subgroups_char") || lacks("cl_intel_subgroups_short") {
        return;
    }
    fn check<T: Scalar>(ty: &str) {
        for sizes in [SIZES[0], SIZES[3]] {
            arithmetic::<T>(ty, ty, "intel_sub_group_", &BASIC, sizes, |places, _, i| {
                together(places, i, |_| true)
            });
        }
        let source = format!(
            "kernel void test(global uint4 *place, global const {ty} *in, global {ty} *out) {{ {PLACE}
                 out[i] = intel_sub_group_broadcast(in[i], get_sub_group_size() / 2); }}"
        );
        let mut random = Random::new(31);
        let values: Vec<T> = (0..77).map(|_| T::small(&mut random)).collect();
        let found = Launch::new(source)
            .output::<[u32; 4]>(77)
            .buffer(&values)
            .output::<T>(77)
            .run(&[77], &[77]);
        let places = places(&found.get(0));
        let expected: Vec<T> = (0..77)
            .map(|i| {
                let members = together(&places, i, |_| true);
                values[members[members.len() / 2]]
            })
            .collect();
        assert_equal(&found.get(2), &expected, |_| format!("a broadcast of {ty}"));
    }
    check::<i8>("char");
    check::<u8>("uchar");
    check::<i16>("short");
    check::<u16>("ushort");
}

#[test]
fn small_integers() {
    if lacks("cl_intel_subgroups_char") || lacks("cl_intel_subgroups_short") {
        return;
    }
    // They are functions of every version of the language: the extensions need OpenCL 1.2.
    for std in ["", "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0"] {
        small_integers_in(std);
    }
}

fn small_integers_in(std: &str) {
    let size = sub_group_size();
    let source = "
        #if !defined(cl_intel_subgroups) || !defined(cl_intel_subgroups_char) || !defined(cl_intel_subgroups_short)
        #error the extensions have their macros
        #endif
        kernel void test(global const char *in, global short4 *out) {
            size_t i = get_global_id(0); char c = in[i]; ushort s = (uchar)c * 256;
            out[2 * i] = (short4)(intel_sub_group_reduce_add(c), intel_sub_group_reduce_max((uchar)c),
                intel_sub_group_scan_exclusive_min(c), intel_sub_group_broadcast(c, 1));
            out[2 * i + 1] = (short4)((short)intel_sub_group_reduce_add(s), (short)intel_sub_group_reduce_min(s),
                intel_sub_group_scan_inclusive_max((short)s), (short)intel_sub_group_broadcast(s, 1)); }";
    let values: Vec<i8> = (0..2 * size).map(|i| (i * 53 + 200) as i8).collect();
    let found = Launch::new(source)
        .only_options(std)
        .buffer(&values)
        .output::<[i16; 4]>(4 * size)
        .run(&[2 * size], &[size]);
    let mut expected = Vec::new();
    for i in 0..2 * size {
        let row = &values[i / size * size..][..size];
        let at = i % size;
        let one = row[1 % size];
        let wide: Vec<u16> = row.iter().map(|&c| u16::from(c as u8) * 256).collect();
        let sum = row.iter().fold(0i8, |a, b| a.wrapping_add(*b));
        let most = row.iter().map(|&c| c as u8).max().unwrap_or(0);
        let least = row[..at].iter().copied().min().unwrap_or(i8::MAX);
        expected.push([sum.into(), most.into(), least.into(), one.into()]);
        let sum = wide.iter().fold(0u16, |a, b| a.wrapping_add(*b));
        let least = wide.iter().copied().min().unwrap_or(0);
        let most = wide[..=at].iter().map(|&s| s as i16).max().unwrap_or(0);
        expected.push([sum as i16, least as i16, most, wide[1 % size] as i16]);
    }
    assert_equal(&found.get(1), &expected, |i| {
        format!("row {} of work-item {}, {std}", i % 2, i / 2)
    });
}

#[test]
fn required_size() {
    let _documented = documents::this_test();
    if lacks("cl_intel_required_subgroup_size") {
        return;
    }
    let size = sub_group_size();
    let source = format!(
        "__attribute__((intel_reqd_sub_group_size({size}))) kernel void test(global uint2 *out) {{
             out[get_global_id(0)] = (uint2)(get_max_sub_group_size(), sub_group_reduce_add(1)); }}"
    );
    let found = Launch::new(source)
        .output::<[u32; 2]>(2 * size)
        .run(&[2 * size], &[2 * size]);
    let size = size as u32;
    assert_equal(&found.get(0), &vec![[size, size]; 2 * size as usize], |i| {
        format!("work-item {i}")
    });
    // Nothing depends on the size, and rows are not multiples of it.
    let source = format!(
        "__attribute__((intel_reqd_sub_group_size({size}))) kernel void test(global uint *out) {{
             out[get_global_linear_id()] = get_local_id(0) + 10 * get_local_id(1); }}"
    );
    let (x, y) = (size as usize / 2, 6);
    let found = Launch::new(source)
        .output::<u32>(x * y)
        .run(&[x, y], &[x, y]);
    let expected: Vec<u32> = (0..y as u32)
        .flat_map(|row| (0..x as u32).map(move |column| column + 10 * row))
        .collect();
    assert_equal(&found.get(0), &expected, |i| format!("work-item {i}"));
}
