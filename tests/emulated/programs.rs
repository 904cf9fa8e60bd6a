//! Programs on a device that gets something wrong: their results are right all the same.

use std::ptr;

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;

use super::{able_device, common, info, said, shown_as};

/// Names the case in the process that runs it.
const CHILD: &str = "PUMICE_TEST_CHILD";

/// Work-items, in one group.
const ITEMS: usize = 64;

/// From a work-item to what it writes.
type Expected = fn(u64) -> u64;

/// What the device gets wrong, what a work-item does, and what it is to write.
const CASES: [(&str, &str, Expected); 6] = [
    ("longs", "(i * 0x123456789abUL) * (i + 0xfedcba98UL)", |i| {
        (i * 0x123_4567_89ab).wrapping_mul(i + 0xfedc_ba98)
    }),
    ("halves", "(ulong)((half)i * (half)0.5f * (half)4)", |i| {
        i * 2
    }),
    (
        "narrow-integers",
        "(uchar)((uchar)(i * 3) + (uchar)(i * 5))",
        |i| i * 8 % 256,
    ),
    (
        "sub-group-arithmetic",
        "sub_group_reduce_add((uint)1) == get_sub_group_size()",
        |_| 1,
    ),
    (
        "sub-group-votes",
        "sub_group_all(get_sub_group_local_id() > 0) * 2 + sub_group_any(get_sub_group_local_id() == 0)",
        |_| 1,
    ),
    (
        "sub-group-exchanges",
        "sub_group_shuffle((uint)i, 0) == i - get_sub_group_local_id()",
        |_| 1,
    ),
];

#[test]
fn are_right_where_the_device_is_not() {
    if let Ok(wrong) = std::env::var(CHILD) {
        return run(&wrong);
    }
    if common::device().is_none() {
        return;
    }
    let path = &able_device();
    let right = info(path, "programs", &[]);
    let this = std::env::current_exe().expect("a path");
    for (wrong, ..) in CASES {
        if said(&right, wrong).is_empty() {
            println!("skipped: {wrong}: the device does not claim it");
            continue;
        }
        let output = shown_as(&this, path, &format!("programs-{wrong}"))
            .args([
                "--exact",
                "programs::are_right_where_the_device_is_not",
                "--nocapture",
            ])
            .env(CHILD, wrong)
            .env("PUMICE_TEST_WRONG", wrong)
            .output()
            .expect("the test itself");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{wrong}: {text}");
    }
}

fn run(wrong: &str) {
    let device = common::device().expect("the device");
    let (_, source, expected) = CASES
        .iter()
        .find(|(name, ..)| *name == wrong)
        .expect("a case");
    let context = Context::from_device(&device).expect("a context");
    let source = format!(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void test(global ulong *out) {{ ulong i = get_global_id(0); out[i] = {source}; }}"
    );
    let program = Program::create_and_build_from_source(&context, &source, "-cl-std=CL3.0");
    let kernel = Kernel::create(&program.expect("a program"), "test").expect("a kernel");
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
    let mut found = vec![0_u64; ITEMS];
    // SAFETY: the kernel takes a buffer of a long for each work-item; the read blocks.
    unsafe {
        let out = Buffer::<u64>::create(&context, CL_MEM_READ_WRITE, ITEMS, ptr::null_mut());
        let out = out.expect("a buffer");
        ExecuteKernel::new(&kernel)
            .set_arg(&out)
            .set_global_work_size(ITEMS)
            .set_local_work_size(ITEMS)
            .enqueue_nd_range(&queue)
            .expect("a launch");
        queue
            .enqueue_read_buffer(&out, CL_BLOCKING, 0, &mut found, &[])
            .expect("a read");
    }
    let expected: Vec<u64> = (0..ITEMS as u64).map(expected).collect();
    assert_eq!(found, expected, "{wrong}");
}

/// A list in one buffer that leads through another one, which the kernel knows by pointers in memory alone; each work-item goes
/// its own way.
const LIST: &str = "
    struct Node { global struct Node *next; uint value; };
    kernel void build(global struct Node *here, global struct Node *there, uint nodes) {
        uint i = get_global_id(0);
        global struct Node *mine = i % 2 ? here + i : there + i;
        uint next = (i * 5 + 1) % nodes;
        mine->next = next % 2 ? here + next : there + next;
        mine->value = i;
    }
    kernel void walk(global struct Node *here, global uint *out, uint steps) {
        global struct Node *node = here + (2 * get_global_id(0) + 1) % get_global_size(0);
        for (uint i = 0; i < steps; i++)
            node = node->next;
        atomic_add(&out[get_global_id(0)], node->value);
    }
";

/// Descriptors stand in for addresses, also for those that lie in memory.
#[test]
fn follow_pointers_without_buffer_device_addresses() {
    const TEST: &str = "programs::follow_pointers_without_buffer_device_addresses";
    if std::env::var_os(CHILD).is_some() {
        return follow_pointers();
    }
    if common::device().is_none() {
        return;
    }
    let (path, without) = (
        &able_device(),
        ("PUMICE_TEST_WITHOUT", "bufferDeviceAddress"),
    );
    let text = info(path, "follow", &[without]);
    if text.contains("not usable") {
        assert!(text.contains("descriptor indexing"), "{text}");
        println!("skipped: the driver has no descriptor indexing");
        return;
    }
    assert!(said(&text, "addresses").starts_with("emulated"), "{text}");
    let this = std::env::current_exe().expect("a path");
    let output = shown_as(&this, path, "programs-follow")
        .args(["--exact", TEST, "--nocapture"])
        .env(CHILD, "")
        .env(without.0, without.1)
        .output()
        .expect("the test itself");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

fn follow_pointers() {
    const STEPS: u32 = 7;
    let device = common::device().expect("the device");
    let context = Context::from_device(&device).expect("a context");
    let program = Program::create_and_build_from_source(&context, LIST, "").expect("a program");
    let queue = CommandQueue::create_default_with_properties(&context, 0, 0).expect("a queue");
    let nodes = ITEMS as u32;
    let mut found = vec![0_u32; ITEMS];
    // SAFETY: the buffers have a node, and a number, for each work-item; writes and reads block.
    unsafe {
        let nodes_of =
            || Buffer::<u8>::create(&context, CL_MEM_READ_WRITE, 16 * ITEMS, ptr::null_mut());
        let (here, there) = (nodes_of().expect("nodes"), nodes_of().expect("nodes"));
        let out = Buffer::<u32>::create(&context, CL_MEM_READ_WRITE, ITEMS, ptr::null_mut());
        let mut out = out.expect("a buffer");
        queue
            .enqueue_write_buffer(&mut out, CL_BLOCKING, 0, &found, &[])
            .expect("a write");
        let build = Kernel::create(&program, "build").expect("a kernel");
        ExecuteKernel::new(&build)
            .set_arg(&here)
            .set_arg(&there)
            .set_arg(&nodes)
            .set_global_work_size(ITEMS)
            .enqueue_nd_range(&queue)
            .expect("a launch");
        // It reaches the other buffer by pointers in memory: "clSetKernelExecInfo" is for memory without a buffer.
        let walk = Kernel::create(&program, "walk").expect("a kernel");
        ExecuteKernel::new(&walk)
            .set_arg(&here)
            .set_arg(&out)
            .set_arg(&STEPS)
            .set_global_work_size(ITEMS)
            .enqueue_nd_range(&queue)
            .expect("a launch");
        queue
            .enqueue_read_buffer(&out, CL_BLOCKING, 0, &mut found, &[])
            .expect("a read");
        drop((here, there));
    }
    let walked =
        |item: u32| (0..STEPS).fold((2 * item + 1) % nodes, |node, _| (node * 5 + 1) % nodes);
    let expected: Vec<u32> = (0..nodes).map(walked).collect();
    assert_eq!(found, expected);
}
