//! Pipes under contention, against a queue on the host.

use super::documents;
use super::harness::{Launch, loader_function, session, skip};
use super::random::Random;
use opencl3::command_queue::CommandQueue;
use opencl3::error_codes::{
    CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, CL_INVALID_PIPE_SIZE, CL_INVALID_VALUE,
};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    Buffer, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_PIPE, CL_MEM_READ_WRITE, ClMem, Pipe,
};
use opencl3::program::Program;
use opencl3::types::{CL_BLOCKING, cl_context, cl_int, cl_mem, cl_mem_flags, cl_uint};
use std::collections::HashSet;
use std::ffi::c_void;

fn has_pipes() -> bool {
    let has = session().has_feature("__opencl_c_pipes");
    if !has {
        skip("no __opencl_c_pipes");
    }
    has
}

fn pipe(packet_bytes: u32, max_packets: u32) -> Pipe {
    let session = session();
    session.pipe(packet_bytes, max_packets)
}

const WRITE: &str = "
kernel void test(write_only pipe uint p, uint first, uint step, global int *status) {
    uint i = get_global_id(0);
    uint packet = first + i;
    status[i] = i % step == 0 ? write_pipe(p, &packet) : 1;
}";

const READ: &str = "
kernel void test(read_only pipe uint p, uint step, global int *status, global uint *packets) {
    uint i = get_global_id(0);
    uint packet = 0xdead;
    status[i] = i % step == 0 ? read_pipe(p, &packet) : 1;
    packets[i] = packet;
}";

/// Has work-items whose number is a multiple of `step` write `first` plus their number; what got in.
fn write(pipe: &Pipe, items: usize, first: u32, step: u32) -> HashSet<u32> {
    let found = Launch::new(WRITE)
        .pipe(pipe)
        .value(first)
        .value(step)
        .output::<i32>(items)
        .run(&[items], &[]);
    let status = found.get::<i32>(0);
    (first..)
        .zip(&status)
        .filter_map(|(packet, &status)| (status == 0).then_some(packet))
        .collect()
}

/// Has work-items whose number is a multiple of `step` read; what came out.
fn read(pipe: &Pipe, items: usize, step: u32) -> Vec<u32> {
    let found = Launch::new(READ)
        .pipe(pipe)
        .value(step)
        .output::<i32>(items)
        .output::<u32>(items)
        .run(&[items], &[]);
    let (status, packets) = (found.get::<i32>(0), found.get::<u32>(1));
    for (index, (&status, &packet)) in status.iter().zip(&packets).enumerate() {
        let expected = if (index as u32).is_multiple_of(step) {
            status <= 0
        } else {
            status == 1
        };
        assert!(expected, "work-item {index} found {status}");
        assert!(
            status == 0 || packet == 0xdead,
            "a failed read wrote {packet}"
        );
    }
    packets
        .into_iter()
        .zip(status)
        .filter_map(|(packet, status)| (status == 0).then_some(packet))
        .collect()
}

/// More writers than room, then more readers than packets: what is there goes in and comes out once.
#[test]
fn writers_and_readers_compete() {
    if !has_pipes() {
        return;
    }
    for (max, items, step) in [(1, 300, 1), (100, 64, 1), (700, 5000, 1), (900, 5000, 3)] {
        let pipe = pipe(4, max);
        let writers = (items as u32).div_ceil(step);
        let written = write(&pipe, items, 10_000, step);
        assert_eq!(written.len() as u32, writers.min(max));
        assert!(written.iter().all(|packet| (packet - 10_000) % step == 0));
        let out = read(&pipe, items, step);
        assert_eq!(out.len(), written.len(), "every packet is read once");
        assert_eq!(out.into_iter().collect::<HashSet<u32>>(), written);
        assert!(read(&pipe, items, step).is_empty());
    }
}

#[test]
fn rings_go_round() {
    if !has_pipes() {
        return;
    }
    let mut random = Random::new(41);
    let pipe = pipe(4, 23);
    let mut inside: HashSet<u32> = HashSet::new();
    for round in 0..8u32 {
        let writers = 1 + (random.next() % 40) as usize;
        let written = write(&pipe, writers, round * 100, 1);
        assert_eq!(
            written.len(),
            writers.min(23 - inside.len()),
            "round {round}"
        );
        inside.extend(written);
        let readers = 1 + (random.next() % 40) as usize;
        let out = read(&pipe, readers, 1);
        assert_eq!(out.len(), readers.min(inside.len()), "round {round}");
        for packet in out {
            assert!(
                inside.remove(&packet),
                "round {round}: {packet} twice or never"
            );
        }
    }
}

/// Each reserves as many packets as its number says, writes them backwards, and commits.
#[test]
fn reservations_of_work_items_keep_together() {
    let source = "
    kernel void test(write_only pipe uint2 p, global int *status) {
        uint i = get_global_id(0);
        uint count = 1 + i % 5;
        reserve_id_t id = reserve_write_pipe(p, count);
        status[i] = -2;
        if (is_valid_reserve_id(id)) {
            int failed = 0;
            for (uint k = count; k-- > 0;) {
                uint2 packet = (uint2)(i, k);
                failed |= write_pipe(p, id, k, &packet);
            }
            commit_write_pipe(p, id);
            status[i] = failed;
        }
    }";
    blocks(source, &[96], &[16], 96, |writer| 1 + writer % 5, 150);
}

#[test]
fn reservations_of_sub_groups_keep_together() {
    let _documented = documents::this_test();
    let source = "
    kernel void test(write_only pipe uint2 p, global int *status) {
        uint writer = get_group_id(0) * 64 + get_sub_group_id();
        uint count = 2 * get_sub_group_size();
        reserve_id_t id = sub_group_reserve_write_pipe(p, count);
        int failed = -2;
        if (is_valid_reserve_id(id)) {
            failed = 0;
            for (uint k = get_sub_group_local_id(); k < count; k += get_sub_group_size()) {
                uint2 packet = (uint2)(writer, k);
                failed |= write_pipe(p, id, k, &packet);
            }
            sub_group_commit_write_pipe(p, id);
        }
        if (sub_group_all(failed == 0) || sub_group_all(failed == -2))
            status[writer] = failed;
    }";
    // 40 work-items in a group: with sub-groups of 4, 8, 16 or 32 they are full, or the last is a part.
    let size = sub_group_size();
    let last = 40 % size;
    let count = move |writer: u32| {
        let (group, place) = (writer / 64, writer % 64);
        match (group < 3, place) {
            (true, place) if place < 40 / size => 2 * size,
            (true, place) if place == 40 / size => 2 * last,
            _ => 0,
        }
    };
    blocks(source, &[120], &[40], 3 * 64, count, 150);
}

#[test]
fn reservations_of_work_groups_keep_together() {
    let source = "
    kernel void test(write_only pipe uint2 p, global int *status) {
        local reserve_id_t id;
        uint writer = get_group_id(0);
        uint count = get_local_size(0) * get_local_size(1);
        id = work_group_reserve_write_pipe(p, count);
        int failed = -2;
        if (is_valid_reserve_id(id)) {
            uint k = get_local_id(1) * get_local_size(0) + get_local_id(0);
            uint2 packet = (uint2)(writer, k);
            failed = write_pipe(p, id, k, &packet);
            work_group_commit_write_pipe(p, id);
        }
        if (work_group_all(failed == 0) || work_group_all(failed == -2))
            status[writer] = failed;
    }";
    blocks(source, &[48, 3], &[6, 3], 8, |_| 18, 100);
}

/// Sub-groups and work-groups reserve for reading until there is nothing left for all of them.
#[test]
fn groups_read_together() {
    let _documented = documents::this_test();
    if !has_pipes() {
        return;
    }
    const ITEMS: usize = 128;
    for (kind, group, place, size) in [
        (
            "sub_group",
            "get_group_id(0) * get_num_sub_groups() + get_sub_group_id()",
            "get_sub_group_local_id()",
            "get_sub_group_size()",
        ),
        (
            "work_group",
            "get_group_id(0)",
            "get_local_id(0)",
            "get_local_size(0)",
        ),
    ] {
        let pipe = pipe(4, 200);
        assert_eq!(write(&pipe, 100, 500, 1).len(), 100);
        let source = format!(
            "kernel void test(read_only pipe uint p, global uint2 *out) {{
                 uint packet = 0;
                 reserve_id_t id = {kind}_reserve_read_pipe(p, {size});
                 if (is_valid_reserve_id(id)) {{
                     read_pipe(p, id, {place}, &packet);
                     {kind}_commit_read_pipe(p, id);
                 }}
                 out[get_global_id(0)] = (uint2)({group}, packet);
             }}"
        );
        let found = Launch::new(source)
            .pipe(&pipe)
            .output::<[u32; 2]>(ITEMS)
            .run(&[ITEMS], &[32]);
        let rows = found.get::<[u32; 2]>(0);
        let mut seen = HashSet::new();
        let mut start = 0;
        let mut largest = 0;
        while start < ITEMS {
            let members = rows[start..]
                .iter()
                .take_while(|row| row[0] == rows[start][0]);
            let packets: Vec<u32> = members.map(|row| row[1]).collect();
            let all = packets.iter().all(|packet| (500..600).contains(packet));
            let none = packets.iter().all(|&packet| packet == 0);
            assert!(all || none, "{kind}: {packets:?}");
            if all {
                assert!(
                    packets.iter().all(|&packet| seen.insert(packet)),
                    "read once"
                );
            }
            start += packets.len();
            largest = largest.max(packets.len());
        }
        // As many groups got theirs as there was something for.
        assert_eq!(seen.len(), 100 / largest * largest, "{kind}");
        assert_eq!(read(&pipe, 200, 1).len(), 100 - seen.len());
    }
}

fn sub_group_size() -> u32 {
    let found =
        Launch::new("kernel void test(global uint *out) { *out = get_max_sub_group_size(); }")
            .output::<u32>(1)
            .run(&[1], &[]);
    found.get::<u32>(0)[0]
}

/// Runs a kernel in which `writers` reserve `count` packets each, a packet being the writer's number and its
/// place in the reservation, in a pipe that has no room for all. Those who say that they got theirs (status
/// 0) must find them together and in order, and as many must have got them as fit.
fn blocks(
    source: &str,
    global: &[usize],
    local: &[usize],
    writers: u32,
    count: impl Fn(u32) -> u32,
    max: u32,
) {
    if !has_pipes() {
        return;
    }
    let pipe = pipe(8, max);
    let unseen = 77;
    let found = Launch::new(source)
        .pipe(&pipe)
        .buffer(&vec![unseen; writers as usize])
        .run(global, local);
    let status = found.get::<i32>(0);
    let mut expected = 0;
    let mut refused = Vec::new();
    for (writer, &status) in (0u32..).zip(&status) {
        match (status, count(writer)) {
            (77, 0) => {}
            (0, count @ 1..) => expected += count,
            (-2, count @ 1..) => refused.push(count),
            (other, count) => panic!("writer {writer} of {count} packets found {other}"),
        }
    }
    assert!(expected <= max && !refused.is_empty());
    assert!(refused.iter().all(|count| expected + count > max));
    // One work-item reads them in order.
    let source = "
    kernel void test(read_only pipe uint2 p, global uint *count, global uint2 *packets) {
        uint n = get_pipe_num_packets(p), i = 0;
        count[0] = n;
        count[1] = get_pipe_max_packets(p);
        reserve_id_t id = reserve_read_pipe(p, n / 2);
        for (; i < n / 2; i++)
            read_pipe(p, id, i, packets + i);
        commit_read_pipe(p, id);
        while (read_pipe(p, packets + i) == 0)
            i++;
        count[2] = i;
        count[3] = get_pipe_num_packets(p);
    }";
    let found = Launch::new(source)
        .pipe(&pipe)
        .output::<u32>(4)
        .output::<[u32; 2]>(max as usize)
        .run(&[1], &[]);
    assert_eq!(found.get::<u32>(0), [expected, max, expected, 0]);
    let packets = found.get::<[u32; 2]>(1);
    let mut rest = packets[..expected as usize].iter();
    let mut seen = HashSet::new();
    while let Some(&[writer, first]) = rest.next() {
        assert!(seen.insert(writer), "writer {writer} twice");
        assert_eq!((first, status[writer as usize]), (0, 0), "writer {writer}");
        for place in 1..count(writer) {
            assert_eq!(rest.next(), Some(&[writer, place]));
        }
    }
}

/// Types of all sizes and alignments, through private memory and generic pointers.
#[test]
fn packets_are_copied_whole() {
    if !has_pipes() {
        return;
    }
    for (ty, bytes) in [
        ("uchar", 1),
        ("uchar3", 4),
        ("ushort", 2),
        ("uint3", 16),
        ("ulong", 8),
        ("uint16", 64),
        ("struct odd", 7),
        ("struct mixed", 24),
    ] {
        let pipe = pipe(bytes, 10);
        let types = "
        struct __attribute__((packed)) odd { uchar a; ushort b; uint c; };
        struct mixed { uchar a; ulong b; ushort c; };";
        let put = format!(
            "{types}
            kernel void test(write_only pipe {ty} p, global uchar *in, global int *status) {{
                {ty} packet;
                for (int i = 0; i < sizeof({ty}); i++)
                    ((uchar *)&packet)[i] = in[get_global_id(0) * sizeof({ty}) + i];
                status[get_global_id(0)] = write_pipe(p, &packet);
            }}"
        );
        let take = format!(
            "{types}
            kernel void test(read_only pipe {ty} p, global uchar *out, global int *status) {{
                {ty} packet;
                status[get_global_id(0)] = read_pipe(p, &packet);
                for (int i = 0; i < sizeof({ty}); i++)
                    out[get_global_id(0) * sizeof({ty}) + i] = ((uchar *)&packet)[i];
            }}"
        );
        let data: Vec<u8> = (0..bytes * 5).map(|i| (i * 37 + 11) as u8).collect();
        let found = Launch::new(put)
            .pipe(&pipe)
            .buffer(&data)
            .output::<i32>(5)
            .run(&[5], &[]);
        assert_eq!(found.get::<i32>(1), [0; 5], "{ty}");
        let found = Launch::new(take)
            .pipe(&pipe)
            .output::<u8>(data.len())
            .output::<i32>(5)
            .run(&[5], &[]);
        assert_eq!(found.get::<i32>(1), [0; 5], "{ty}");
        let out = found.get::<u8>(0);
        let packets = |bytes_of: &[u8]| -> HashSet<Vec<u8>> {
            let chunks = bytes_of.chunks_exact(bytes as usize);
            chunks.map(<[u8]>::to_vec).collect()
        };
        assert_eq!(packets(&out), packets(&data), "{ty}");
    }
}

/// A kernel that reads one pipe and writes another, in one queue, while another queue fills the first pipe:
/// whatever it finds, nothing is lost, doubled or torn.
#[test]
fn two_kernels_at_a_time() {
    let session = session();
    if !has_pipes() {
        return;
    }
    const ITEMS: usize = 1 << 14;
    const ROUNDS: usize = 8;
    let source = "
    kernel void fill(write_only pipe uint4 p, uint first, global int *lost) {
        uint i = get_global_id(0) + first;
        uint4 packet = (uint4)(i, i * 3, ~i, i ^ 77);
        if (write_pipe(p, &packet))
            atomic_inc(lost);
    }
    kernel void forward(read_only pipe uint4 from, write_only pipe uint4 to, global int *lost) {
        uint4 packet;
        if (read_pipe(from, &packet) == 0 && write_pipe(to, &packet))
            atomic_inc(lost);
    }";
    let context = session.context();
    let program = session.build_source(source, "-cl-std=CL3.0");
    let kernel = |name: &str| Kernel::create(&program, name).expect("a kernel");
    let (fill, forward) = (kernel("fill"), kernel("forward"));
    let total = (ITEMS * ROUNDS) as u32;
    let (a, b) = (pipe(16, total), pipe(16, total));
    let queues = [(); 2]
        .map(|()| CommandQueue::create_default_with_properties(context, 0, 0).expect("a queue"));
    // SAFETY: no host pointer is given to the buffer; arguments are what the kernels declare, and everything
    // lives until both queues are finished.
    let lost = unsafe {
        let mut lost = Buffer::<i32>::create(context, CL_MEM_READ_WRITE, 1, std::ptr::null_mut())
            .expect("a buffer");
        let zero = queues[0].enqueue_write_buffer(&mut lost, CL_BLOCKING, 0, &[0], &[]);
        zero.expect("a buffer can be written");
        for round in 0..ROUNDS {
            ExecuteKernel::new(&fill)
                .set_arg(&a.get())
                .set_arg(&((round * ITEMS) as u32))
                .set_arg(&lost)
                .set_global_work_size(ITEMS)
                .enqueue_nd_range(&queues[0])
                .expect("a launch");
            queues[0].flush().expect("a flush");
            ExecuteKernel::new(&forward)
                .set_arg(&a.get())
                .set_arg(&b.get())
                .set_arg(&lost)
                .set_global_work_size(ITEMS)
                .enqueue_nd_range(&queues[1])
                .expect("a launch");
            queues[1].flush().expect("a flush");
        }
        queues
            .iter()
            .for_each(|queue| queue.finish().expect("all is done"));
        // What came too late for them.
        ExecuteKernel::new(&forward)
            .set_arg(&a.get())
            .set_arg(&b.get())
            .set_arg(&lost)
            .set_global_work_size(ITEMS * ROUNDS)
            .enqueue_nd_range(&queues[1])
            .expect("a launch");
        queues[1].finish().expect("all is done");
        let mut count = [1];
        let read = queues[0].enqueue_read_buffer(&lost, CL_BLOCKING, 0, &mut count, &[]);
        read.expect("a buffer can be read");
        count[0]
    };
    assert_eq!(lost, 0, "there is room for all");
    let drain = "
    kernel void test(read_only pipe uint4 p, global int *status, global uint4 *packets) {
        status[get_global_id(0)] = read_pipe(p, packets + get_global_id(0));
    }";
    let found = Launch::new(drain)
        .pipe(&b)
        .output::<i32>(ITEMS * ROUNDS)
        .output::<[u32; 4]>(ITEMS * ROUNDS)
        .run(&[ITEMS * ROUNDS], &[]);
    assert!(found.get::<i32>(0).iter().all(|&status| status == 0));
    let mut packets = found.get::<[u32; 4]>(1);
    packets.sort_unstable();
    for (i, packet) in (0u32..).zip(packets) {
        assert_eq!(packet, [i, i.wrapping_mul(3), !i, i ^ 77]);
    }
}

/// `clCreatePipe`, `clGetPipeInfo`, and pipes where other objects are wanted.
#[test]
fn objects() {
    let session = session();
    if !has_pipes() {
        return;
    }
    let pipe = session.pipe(12, 100);
    assert_eq!(pipe.pipe_packet_size(), Ok(12));
    assert_eq!(pipe.pipe_max_packets(), Ok(100));
    assert_eq!(pipe.pipe_properties(), Ok(vec![]));
    assert_eq!(pipe.mem_type(), Ok(CL_MEM_OBJECT_PIPE));
    let create = |flags, packet_bytes, max_packets| {
        // SAFETY: there is no pointer in it.
        let made = unsafe { Pipe::create(session.context(), flags, packet_bytes, max_packets) };
        made.map(drop).map_err(|error| error.0)
    };
    assert_eq!(create(0, 0, 1), Err(CL_INVALID_PIPE_SIZE));
    assert_eq!(create(0, 1, 0), Err(CL_INVALID_PIPE_SIZE));
    assert_eq!(create(0, 1 << 30, 1), Err(CL_INVALID_PIPE_SIZE));
    assert_eq!(create(CL_MEM_COPY_HOST_PTR, 1, 1), Err(CL_INVALID_VALUE));
    assert_eq!(create(CL_MEM_READ_WRITE, 1, 1), Ok(()));

    let source = "kernel void test(write_only pipe int3 p, global int *b) {}";
    let program = Program::create_and_build_from_source(
        session.context(),
        source,
        "-cl-std=CL3.0 -cl-kernel-arg-info",
    )
    .expect("a program");
    let kernel = Kernel::create(&program, "test").expect("a kernel");
    let qualifier = kernel
        .get_arg_type_qualifier(0)
        .expect("argument information");
    assert_eq!(qualifier, 1 << 3, "CL_KERNEL_ARG_TYPE_PIPE");
    let access = kernel
        .get_arg_access_qualifier(0)
        .expect("argument information");
    assert_eq!(access, 0x11A1, "CL_KERNEL_ARG_ACCESS_WRITE_ONLY");
    assert_eq!(kernel.get_arg_type_name(0), Ok("int3".into()));
    // SAFETY: no host pointer is given; the arguments are handles.
    unsafe {
        let size = 64;
        let buffer = Buffer::<u8>::create(session.context(), 0, size, std::ptr::null_mut());
        let mut buffer = buffer.expect("a buffer");
        let wrong = |result: Result<(), opencl3::error_codes::ClError>| {
            assert_eq!(result.map_err(|error| error.0), Err(CL_INVALID_MEM_OBJECT));
        };
        wrong(kernel.set_arg(0, &buffer.get()));
        wrong(kernel.set_arg(1, &pipe.get()));
        assert_eq!(kernel.set_arg(0, &pipe.get()), Ok(()));
        let queue = session.queue();
        let mut not_a_buffer = std::mem::ManuallyDrop::new(Buffer::<u8>::new(pipe.get()));
        let write = queue.enqueue_write_buffer(&mut not_a_buffer, CL_BLOCKING, 0, &[1], &[]);
        wrong(write.map(drop));
        let write = queue.enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, &[1], &[]);
        assert!(write.is_ok());
    }
}

type CreatePipe = unsafe extern "C" fn(
    cl_context,
    cl_mem_flags,
    cl_uint,
    cl_uint,
    *const isize,
    *mut cl_int,
) -> cl_mem;
type GetPipeInfo = unsafe extern "C" fn(cl_mem, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;

/// What `clCreatePipe` and `clGetPipeInfo` refuse, as section 5.4 lists it.
#[test]
fn calls_that_are_wrong() {
    const PACKET_SIZE: cl_uint = 0x1120;
    const PROPERTIES: cl_uint = 0x1122;
    let session = session();
    if !has_pipes() {
        return;
    }
    // SAFETY: the functions have these signatures.
    let (create_pipe, pipe_info) = unsafe {
        (
            std::mem::transmute::<*mut c_void, CreatePipe>(loader_function(c"clCreatePipe")),
            std::mem::transmute::<*mut c_void, GetPipeInfo>(loader_function(c"clGetPipeInfo")),
        )
    };
    let create = |context: cl_context, properties: &[isize]| {
        let properties = match properties {
            [] => std::ptr::null(),
            some => some.as_ptr(),
        };
        let mut code = 0;
        // SAFETY: the list of properties ends with a 0.
        let made = unsafe { create_pipe(context, 0, 4, 4, properties, &raw mut code) };
        assert_eq!(made.is_null(), code != 0);
        code
    };
    let context = session.context().get();
    assert_eq!(create(context, &[0]), CL_INVALID_VALUE, "not NULL");
    // An object that is no context.
    let queue = session.queue().get();
    assert_eq!(create(queue, &[]), CL_INVALID_CONTEXT);

    let query = |object: cl_mem, name: cl_uint, room: usize| {
        let (mut value, mut size) = (0u64, usize::MAX);
        // SAFETY: the value has room for eight bytes.
        let code = unsafe { pipe_info(object, name, room, (&raw mut value).cast(), &raw mut size) };
        if code == 0 {
            Ok((value, size))
        } else {
            Err(code)
        }
    };
    let pipe = session.pipe(12, 100);
    assert_eq!(query(pipe.get(), PACKET_SIZE, 8), Ok((12, 4)));
    assert_eq!(query(pipe.get(), PACKET_SIZE, 3), Err(CL_INVALID_VALUE));
    assert_eq!(query(pipe.get(), 0x1234, 8), Err(CL_INVALID_VALUE));
    // There are none, and so there is nothing to return.
    assert_eq!(query(pipe.get(), PROPERTIES, 8), Ok((0, 0)));
    // SAFETY: no host pointer is given.
    let buffer = unsafe { Buffer::<u8>::create(session.context(), 0, 64, std::ptr::null_mut()) };
    let buffer = buffer.expect("a buffer");
    assert_eq!(
        query(buffer.get(), PACKET_SIZE, 8),
        Err(CL_INVALID_MEM_OBJECT)
    );
    assert_eq!(query(context, PACKET_SIZE, 8), Err(CL_INVALID_MEM_OBJECT));
}
