//! Ranges that begin at 0 and are small have pipelines of their own, which compute places in arrays in 32 bits: the same
//! kernel is launched over ranges of every kind.

use super::harness::{Launch, assert_equal, session};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::types::CL_BLOCKING;

/// One kernel, launched with and without an offset: each launch has the pipeline that it needs.
#[test]
fn offsets_come_and_go() {
    let session = session();
    let source = "kernel void test(global ulong *out, ulong start) {
        out[get_global_id(0) - start] = get_global_id(0) * 3 + get_global_offset(0);
    }";
    let program = session.build_source(source, "-cl-std=CL3.0");
    let kernel = Kernel::create(&program, "test").expect("a kernel named test");
    let buffer = session.buffer(100 * 8);
    for offset in [0usize, 7, 0, 1 << 33, (1 << 26) - 50, 0] {
        let event = {
            let mut launch = ExecuteKernel::new(&kernel);
            // SAFETY: the kernel takes a buffer and a ulong, and the queue is in order.
            unsafe {
                launch
                    .set_arg(&buffer)
                    .set_arg(&(offset as u64))
                    .set_global_work_offset(offset)
                    .set_global_work_size(100)
                    .enqueue_nd_range(session.queue())
            }
        };
        event.expect("the launch is accepted");
        let mut bytes = vec![0u8; 800];
        // SAFETY: there is room, and the read is blocking.
        unsafe {
            session
                .queue()
                .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut bytes, &[])
        }
        .expect("the kernel has ended well");
        let found: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|bytes| u64::from_le_bytes(bytes.try_into().expect("eight")))
            .collect();
        let offset = offset as u64;
        let expected: Vec<u64> = (0..100).map(|i| (i + offset) * 3 + offset).collect();
        assert_equal(&found, &expected, |i| format!("work-item {i} at {offset}"));
    }
}

/// A large kernel has a pipeline for short ranges, with which the first long ones make do, and later another one.
#[test]
fn one_large_kernel_over_ranges_of_all_lengths() {
    const STEPS: usize = 500;
    const MOST: usize = 1_500_000;
    let session = session();
    let step = "x = x * 0x9e3779b1u + rotate(x, 7u) ^ (x >> 3); x ^= x >> 15; ";
    let source = format!(
        "kernel void test(global uint *out, uint start) {{
            size_t at = get_global_id(0);
            uint x = at % 64 + start;
            {}
            out[at] = x;
        }}",
        step.repeat(STEPS)
    );
    let program = session.build_source(&source, "-cl-std=CL3.0");
    let kernel = Kernel::create(&program, "test").expect("a kernel named test");
    let buffer = session.buffer(MOST * 4);
    let mut expected = vec![0u32; MOST];
    let ranges = [
        1, 100, 32_768, 33_001, 600_001, 1_000_001, MOST, 1_400_007, 50_003, 1_200_000, 9,
    ];
    for (start, work_items) in (0u32..).zip(ranges) {
        let event = {
            let mut launch = ExecuteKernel::new(&kernel);
            // SAFETY: the kernel takes a buffer, which has an element for each work-item, and a uint.
            unsafe {
                launch
                    .set_arg(&buffer)
                    .set_arg(&start)
                    .set_global_work_size(work_items)
                    .enqueue_nd_range(session.queue())
            }
        };
        event.expect("the launch is accepted");
        let mut bytes = vec![0u8; MOST * 4];
        // SAFETY: there is room, and the read is blocking.
        unsafe {
            session
                .queue()
                .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, &mut bytes, &[])
        }
        .expect("the kernel has ended well");
        let found: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four")))
            .collect();
        let values: Vec<u32> = (start..start + 64)
            .map(|start| {
                (0..STEPS).fold(start, |x, _| {
                    let x = x.wrapping_mul(0x9e37_79b1).wrapping_add(x.rotate_left(7)) ^ (x >> 3);
                    x ^ (x >> 15)
                })
            })
            .collect();
        for (place, value) in expected
            .iter_mut()
            .zip(values.iter().cycle())
            .take(work_items)
        {
            *place = *value;
        }
        assert_equal(&found, &expected, |at| format!("{work_items}: {at}"));
    }
}

/// The sum of a pointer, of what does not fit 32 bits, and of the place in the range.
#[test]
fn elements_beyond_4_gib_of_the_pointer() {
    let source = "kernel void test(global uint *out, long far) {
        global uint *start = out - far;
        start[(long)get_global_id(0) + far] = (uint)get_global_id(0) + 1;
        start[far + 299 - get_global_id(0)] = 1000;
    }";
    for far in [0i64, 1 << 33, -(1 << 40), (1 << 30) - 100] {
        let found = Launch::new(source)
            .output::<u32>(300)
            .value(far)
            .run(&[150], &[]);
        let expected: Vec<u32> = (0..300)
            .map(|i| if i < 150 { i + 1 } else { 1000 })
            .collect();
        assert_equal(&found.get(0), &expected, |i| format!("{i} of {far}"));
    }
}

/// 2²⁶ work-items and some more of elements of 64 bytes, of which the last few lie within the buffer: their places in
/// the array are beyond 32 bits.
#[test]
fn a_range_just_too_large() {
    let source = "kernel void test(global uint16 *out, ulong first) {
        size_t i = get_global_id(0);
        if (i >= first) out[i - first] = (uint16)((uint)(i - first) + 1);
    }";
    for range in [1usize << 26, (1 << 26) + 256] {
        let found = Launch::new(source)
            .output::<u32>(32 * 16)
            .value(range as u64 - 32)
            .run(&[range], &[session().max_group().min(256)]);
        let expected: Vec<u32> = (0..32 * 16).map(|i| i / 16 + 1).collect();
        assert_equal(&found.get(0), &expected, |i| format!("{i} of {range}"));
    }
}

/// Numbers of 32 bits that wrap around on their way to a place.
#[test]
fn two_dimensions() {
    let source = "kernel void test(global const int *in, global int *out, int width) {
        int x = get_global_id(0), y = get_global_id(1);
        int around = in[y * width + (x + width - 1) % width];
        out[(y * width + x) ^ 1] = around * 2 + in[get_global_id(1) * width + get_global_id(0)];
        if (x == 0) out[width * (int)get_global_size(1) + y - 1 + 1] = y - x;
    }";
    const WIDTH: usize = 40;
    const HEIGHT: usize = 13;
    let input: Vec<i32> = (0..WIDTH * HEIGHT).map(|i| (i * 37 % 101) as i32).collect();
    let mut expected = vec![0; WIDTH * HEIGHT + HEIGHT];
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let around = input[y * WIDTH + (x + WIDTH - 1) % WIDTH];
            expected[(y * WIDTH + x) ^ 1] = around * 2 + input[y * WIDTH + x];
        }
        expected[WIDTH * HEIGHT + y] = y as i32;
    }
    for local in [vec![], vec![8, 1], vec![16, 4]] {
        let found = Launch::new(source)
            .buffer(&input)
            .output::<i32>(expected.len())
            .value(WIDTH as i32)
            .run(&[WIDTH, HEIGHT], &local);
        assert_equal(&found.get(1), &expected, |i| format!("{i} of {local:?}"));
    }
}

/// Each element of the next one, of sizes that products and shifts make.
#[test]
fn elements_of_every_size() {
    for (ty, bytes) in [
        ("uchar", 1),
        ("ushort", 2),
        ("uint", 4),
        ("ulong", 8),
        ("uint4", 16),
    ] {
        for count in [1usize, 3, 5] {
            let source = format!(
                "typedef struct {{ {ty} all[{count}]; }} element;
                kernel void test(global const element *in, global element *out, int last) {{
                    int i = get_global_id(0);
                    out[i] = in[i == last ? 0 : i + 1];
                    out[i].all[{count} - 1] = in[get_global_id(0)].all[0];
                }}"
            );
            const ITEMS: usize = 64;
            let size = bytes * count;
            let input: Vec<u8> = (0..ITEMS * size).map(|i| (i * 7 % 251) as u8).collect();
            let found = Launch::new(source)
                .buffer(&input)
                .output::<u8>(ITEMS * size)
                .value(ITEMS as i32 - 1)
                .run(&[ITEMS], &[]);
            let expected: Vec<u8> = (0..ITEMS)
                .flat_map(|i| {
                    let next = (i + 1) % ITEMS * size;
                    let mut element = input[next..next + size].to_vec();
                    element[size - bytes..].copy_from_slice(&input[i * size..i * size + bytes]);
                    element
                })
                .collect();
            assert_equal(&found.get(1), &expected, |i| format!("{i} of {count} {ty}"));
        }
    }
}
