//! Transfers through the API against a model on the host: random sequences of every kind of transfer, in
//! order, out of order and across queues, with and without a user event that holds them all back.

mod common;

use std::process::Command;
use std::ptr;

use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::error_codes::{
    CL_INVALID_BUFFER_SIZE, CL_INVALID_HOST_PTR, CL_INVALID_OPERATION, CL_INVALID_VALUE,
    CL_MEM_COPY_OVERLAP,
};
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
    CL_MEM_HOST_READ_ONLY, CL_MEM_HOST_WRITE_ONLY, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem,
};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event, cl_mem_flags};

const SIZE: usize = 40_000;

/// xorshift, so that a failure repeats.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() % limit
    }

    fn bytes(&mut self, size: usize) -> Vec<u8> {
        (0..size).map(|_| self.next() as u8).collect()
    }

    fn range(&mut self) -> (usize, usize) {
        let offset = self.below(SIZE);
        (offset, self.below((SIZE - offset).min(5_000) + 1))
    }
}

/// Two buffers, what must be in them, and what has been read.
struct Model {
    queues: Vec<CommandQueue>,
    /// Each command waits for the one before: needed unless there is one queue, in order.
    chained: bool,
    buffers: [Buffer<u8>; 2],
    expected: [Vec<u8>; 2],
    last: Option<Event>,
    /// Host memory of commands under way: moved nowhere until the end.
    sources: Vec<Vec<u8>>,
    reads: Vec<(Vec<u8>, Vec<u8>)>,
    gate: Option<cl_event>,
}

impl Model {
    fn new(
        context: &Context,
        queues: Vec<CommandQueue>,
        chained: bool,
        flags: cl_mem_flags,
        random: &mut Random,
    ) -> Self {
        let mut first = random.bytes(SIZE);
        let second = random.bytes(SIZE);
        // SAFETY: the flags that need a pointer get one.
        let buffers = unsafe {
            [
                Buffer::create(
                    context,
                    CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                    SIZE,
                    first.as_mut_ptr().cast(),
                )
                .unwrap(),
                Buffer::create(context, CL_MEM_READ_WRITE | flags, SIZE, ptr::null_mut()).unwrap(),
            ]
        };
        let mut model = Self {
            queues,
            chained,
            buffers,
            expected: [first, vec![0; SIZE]],
            last: None,
            sources: Vec::new(),
            reads: Vec::new(),
            gate: None,
        };
        model.write(0, 1, 0, second);
        model
    }

    fn waits(&self) -> Vec<cl_event> {
        match (&self.last, self.chained, self.gate) {
            (Some(event), true, _) => vec![event.get()],
            (_, _, Some(gate)) => vec![gate],
            _ => Vec::new(),
        }
    }

    fn write(&mut self, queue: usize, buffer: usize, offset: usize, data: Vec<u8>) {
        let waits = self.waits();
        self.sources.push(data);
        let data = self.sources.last().unwrap();
        self.expected[buffer][offset..offset + data.len()].copy_from_slice(data);
        // SAFETY: the data lives to the end.
        let event = unsafe {
            self.queues[queue].enqueue_write_buffer(
                &mut self.buffers[buffer],
                CL_NON_BLOCKING,
                offset,
                data,
                &waits,
            )
        };
        self.last = Some(event.unwrap());
    }

    fn step(&mut self, random: &mut Random) {
        let index = random.below(self.queues.len());
        let buffer = random.below(2);
        let (offset, size) = random.range();
        let waits = self.waits();
        let queue = &self.queues[index];
        // SAFETY (of all): ranges lie within the buffers, host memory lives to the end.
        let event = match random.below(9) {
            0 => {
                let data = random.bytes(size);
                return self.write(random.below(self.queues.len()), buffer, offset, data);
            }
            1 => {
                self.reads.push((
                    vec![0; size],
                    self.expected[buffer][offset..offset + size].to_vec(),
                ));
                let data = &mut self.reads.last_mut().unwrap().0;
                // SAFETY: see above.
                unsafe {
                    queue.enqueue_read_buffer(
                        &self.buffers[buffer],
                        CL_NON_BLOCKING,
                        offset,
                        data,
                        &waits,
                    )
                }
            }
            2 => {
                let length = 1 << random.below(8);
                let pattern = random.bytes(length);
                let offset = offset - offset % pattern.len();
                let size = size - size % pattern.len();
                let area = &mut self.expected[buffer][offset..offset + size];
                for chunk in area.chunks_mut(pattern.len()) {
                    chunk.copy_from_slice(&pattern);
                }
                // SAFETY: see above.
                unsafe {
                    queue.enqueue_fill_buffer(
                        &mut self.buffers[buffer],
                        &pattern,
                        offset,
                        size,
                        &waits,
                    )
                }
            }
            3 => {
                let target = random.below(SIZE - size + 1);
                let data = self.expected[buffer][offset..offset + size].to_vec();
                self.expected[1 - buffer][target..target + size].copy_from_slice(&data);
                let [first, second] = &mut self.buffers;
                let (from, to) = if buffer == 0 {
                    (&*first, second)
                } else {
                    (&*second, first)
                };
                // SAFETY: see above.
                unsafe { queue.enqueue_copy_buffer(from, to, offset, target, size, &waits) }
            }
            4 => return self.rectangle(random, buffer),
            8 => return self.columns(random, buffer),
            6 if self.gate.is_none() => {
                // Small and blocking: the host may look where the device has the memory.
                let size = size.min(1 << random.below(10));
                let mut data = vec![0; size];
                let (buffers, expected) = (&self.buffers, &self.expected[buffer]);
                // SAFETY: see above.
                let event = unsafe {
                    queue.enqueue_read_buffer(
                        &buffers[buffer],
                        CL_BLOCKING,
                        offset,
                        &mut data,
                        &waits,
                    )
                };
                assert!(data == expected[offset..offset + size], "a small read");
                event
            }
            5 if size > 0 => {
                if self.gate.is_none() {
                    self.map(random, index, buffer, (offset, size));
                }
                return;
            }
            // SAFETY: nothing to promise.
            _ => unsafe { queue.enqueue_marker_with_wait_list(&waits) },
        };
        self.last = Some(event.unwrap());
    }

    /// Changes bytes by the host, between map and unmap.
    fn map(
        &mut self,
        random: &mut Random,
        queue: usize,
        buffer: usize,
        (offset, size): (usize, usize),
    ) {
        let queue = &self.queues[queue];
        let mut pointer = ptr::null_mut();
        // SAFETY: the buffer lives to the end; the map is complete when the call returns.
        unsafe {
            queue
                .enqueue_map_buffer(
                    &self.buffers[buffer],
                    CL_BLOCKING,
                    CL_MAP_READ | CL_MAP_WRITE,
                    offset,
                    size,
                    &mut pointer,
                    &self.waits(),
                )
                .unwrap();
        }
        // SAFETY: mapped for reading and writing.
        let area = unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u8>(), size) };
        let expected = &mut self.expected[buffer][offset..offset + size];
        assert_eq!(area, expected, "mapped");
        let data = random.bytes(size);
        area.copy_from_slice(&data);
        expected.copy_from_slice(&data);
        // SAFETY: mapped above.
        let event =
            unsafe { queue.enqueue_unmap_mem_object(self.buffers[buffer].get(), pointer, &[]) };
        self.last = Some(event.unwrap());
    }

    /// Writes or reads a box of rows and slices.
    fn rectangle(&mut self, random: &mut Random, buffer: usize) {
        let region = [
            random.below(50) + 1,
            random.below(8) + 1,
            random.below(3) + 1,
        ];
        let row_pitch = region[0] + random.below(20);
        let slice_pitch = row_pitch * (region[1] + random.below(3));
        let origin = [random.below(30), random.below(5), random.below(4)];
        let host_pitch = region[0] + random.below(3);
        let place = |slice: usize, row: usize| {
            (origin[2] + slice) * slice_pitch + (origin[1] + row) * row_pitch + origin[0]
        };
        let host_place = |slice: usize, row: usize| (slice * region[1] + row) * host_pitch;
        let host_size = host_pitch * region[1] * region[2];
        let waits = self.waits();
        let queue = &self.queues[random.below(self.queues.len())];
        let rows = || (0..region[2]).flat_map(|slice| (0..region[1]).map(move |row| (slice, row)));
        let event = if random.below(2) == 0 {
            self.sources.push(random.bytes(host_size));
            let data = self.sources.last().unwrap();
            for (slice, row) in rows() {
                let from = &data[host_place(slice, row)..][..region[0]];
                self.expected[buffer][place(slice, row)..][..region[0]].copy_from_slice(from);
            }
            // SAFETY: within the buffer, and the data lives to the end.
            unsafe {
                queue.enqueue_write_buffer_rect(
                    &mut self.buffers[buffer],
                    CL_NON_BLOCKING,
                    origin.as_ptr(),
                    [0, 0, 0].as_ptr(),
                    region.as_ptr(),
                    row_pitch,
                    slice_pitch,
                    host_pitch,
                    0,
                    data.as_ptr().cast_mut().cast(),
                    &waits,
                )
            }
        } else {
            let mut expected = vec![0; host_size];
            for (slice, row) in rows() {
                let from = &self.expected[buffer][place(slice, row)..][..region[0]];
                expected[host_place(slice, row)..][..region[0]].copy_from_slice(from);
            }
            self.reads.push((vec![0; host_size], expected));
            let data = &mut self.reads.last_mut().unwrap().0;
            // SAFETY: as above.
            unsafe {
                queue.enqueue_read_buffer_rect(
                    &self.buffers[buffer],
                    CL_NON_BLOCKING,
                    origin.as_ptr(),
                    [0, 0, 0].as_ptr(),
                    region.as_ptr(),
                    row_pitch,
                    slice_pitch,
                    host_pitch,
                    0,
                    data.as_mut_ptr().cast(),
                    &waits,
                )
            }
        };
        self.last = Some(event.unwrap());
    }

    /// Copies a few columns of many rows to the other buffer.
    fn columns(&mut self, random: &mut Random, buffer: usize) {
        let region = [random.below(16) + 1, random.below(150) + 20, 1];
        let [(from_pitch, from_x), (to_pitch, to_x)] = [(); 2].map(|()| {
            let pitch = region[0] + random.below(200);
            (pitch, random.below(pitch - region[0] + 1))
        });
        for row in 0..region[1] {
            let [from, to] = [row * from_pitch + from_x, row * to_pitch + to_x];
            let data = self.expected[buffer][from..from + region[0]].to_vec();
            self.expected[1 - buffer][to..to + region[0]].copy_from_slice(&data);
        }
        let waits = self.waits();
        let queue = &self.queues[random.below(self.queues.len())];
        let [first, second] = &mut self.buffers;
        let (source, target) = match buffer {
            0 => (&*first, second),
            _ => (&*second, first),
        };
        // SAFETY: within the buffers.
        let event = unsafe {
            queue.enqueue_copy_buffer_rect(
                source,
                target,
                [from_x, 0, 0].as_ptr(),
                [to_x, 0, 0].as_ptr(),
                region.as_ptr(),
                from_pitch,
                0,
                to_pitch,
                0,
                &waits,
            )
        };
        self.last = Some(event.unwrap());
    }

    fn check(mut self) {
        for buffer in 0..2 {
            let waits = self.waits();
            let mut data = vec![0; SIZE];
            // SAFETY: the call blocks.
            unsafe {
                self.queues[0]
                    .enqueue_read_buffer(&self.buffers[buffer], CL_BLOCKING, 0, &mut data, &waits)
                    .unwrap();
            }
            assert!(data == self.expected[buffer], "contents of buffer {buffer}");
        }
        for queue in &self.queues {
            queue.finish().unwrap();
        }
        for (number, (data, expected)) in self.reads.drain(..).enumerate() {
            assert!(data == expected, "read {number}");
        }
    }
}

fn queues(context: &Context, count: usize, out_of_order: bool) -> Vec<CommandQueue> {
    let order = if out_of_order {
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
    } else {
        0
    };
    (0..count)
        .map(|_| {
            CommandQueue::create_default_with_properties(
                context,
                order | CL_QUEUE_PROFILING_ENABLE,
                0,
            )
            .unwrap()
        })
        .collect()
}

fn sequences(count: usize, out_of_order: bool, gated: bool) {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let chained = count > 1 || out_of_order;
    for (seed, flags) in [(1, 0), (2, CL_MEM_ALLOC_HOST_PTR), (3, 0)] {
        let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ seed);
        let queues = queues(&context, count, out_of_order);
        let mut model = Model::new(&context, queues, chained, flags, &mut random);
        let gate = gated.then(|| create_user_event(context.get()).unwrap());
        if gated {
            for queue in &model.queues {
                queue.finish().unwrap();
            }
            model.gate = gate;
            model.last = None;
        }
        for _ in 0..60 {
            model.step(&mut random);
        }
        if let Some(gate) = gate {
            set_user_event_status(gate, CL_COMPLETE).unwrap();
            model.gate = None;
        }
        model.check();
    }
}

#[test]
fn one_queue_in_order() {
    sequences(1, false, false);
}

#[test]
fn one_queue_out_of_order() {
    sequences(1, true, false);
}

#[test]
fn three_queues() {
    sequences(3, false, false);
}

#[test]
fn one_queue_in_order_behind_a_user_event() {
    sequences(1, false, true);
}

#[test]
fn three_queues_out_of_order_behind_a_user_event() {
    sequences(3, true, true);
}

#[test]
fn large_transfers_arrive_whole() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let queue = queues(&context, 1, false).remove(0);
    let size = (37 << 20) + 13;
    let mut random = Random(7);
    let block = random.bytes(9_973);
    let data: Vec<u8> = block.iter().copied().cycle().take(size).collect();
    for blocking in [CL_BLOCKING, CL_NON_BLOCKING] {
        let mut read = vec![0; size];
        // SAFETY: the host memory lives until the queue has finished.
        unsafe {
            let mut buffer =
                Buffer::create(&context, CL_MEM_READ_WRITE, size, ptr::null_mut()).unwrap();
            let written = queue
                .enqueue_write_buffer(&mut buffer, blocking, 0, &data, &[])
                .unwrap();
            queue
                .enqueue_read_buffer(&buffer, blocking, 0, &mut read, &[written.get()])
                .unwrap();
            queue.finish().unwrap();
            let start = written.profiling_command_start().unwrap();
            assert!(written.profiling_command_submit().unwrap() <= start);
            assert!(start <= written.profiling_command_end().unwrap());
        }
        assert!(read == data);
    }
}

#[test]
fn a_write_from_memory_that_a_read_fills_comes_after_it() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let queues = queues(&context, 2, false);
    let mut through = vec![0_u8; SIZE];
    let mut data = Random(5).bytes(SIZE);
    let mut result = vec![0_u8; SIZE];
    // SAFETY: the host memory lives until the last, blocking, call.
    unsafe {
        let source: Buffer<u8> = Buffer::create(
            &context,
            CL_MEM_COPY_HOST_PTR,
            SIZE,
            data.as_mut_ptr().cast(),
        )
        .unwrap();
        let mut target: Buffer<u8> =
            Buffer::create(&context, CL_MEM_READ_WRITE, SIZE, ptr::null_mut()).unwrap();
        let gate = Event::new(create_user_event(context.get()).unwrap());
        let read = queues[0]
            .enqueue_read_buffer(&source, CL_NON_BLOCKING, 0, &mut through, &[gate.get()])
            .unwrap();
        let written = queues[1]
            .enqueue_write_buffer(&mut target, CL_NON_BLOCKING, 0, &through, &[read.get()])
            .unwrap();
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        queues[0]
            .enqueue_read_buffer(&target, CL_BLOCKING, 0, &mut result, &[written.get()])
            .unwrap();
    }
    assert!(result == data);
}

#[test]
fn host_memory_is_used_in_place_or_kept_in_step() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let queue = queues(&context, 1, false).remove(0);
    let mut memory = vec![1_u8; SIZE];
    let base = memory.as_mut_ptr();
    // SAFETY: the memory outlives the buffer, and is touched only while mapped.
    unsafe {
        let mut buffer: Buffer<u8> = Buffer::create(
            &context,
            CL_MEM_USE_HOST_PTR,
            SIZE - 100,
            base.add(33).cast(),
        )
        .unwrap();
        queue
            .enqueue_fill_buffer(&mut buffer, &[9_u8], 10, 20, &[])
            .unwrap();
        let mut pointer = ptr::null_mut();
        queue
            .enqueue_map_buffer(
                &buffer,
                CL_BLOCKING,
                CL_MAP_READ | CL_MAP_WRITE,
                5,
                50,
                &mut pointer,
                &[],
            )
            .unwrap();
        assert_eq!(pointer.cast::<u8>(), base.add(38));
        let area = std::slice::from_raw_parts_mut(pointer.cast::<u8>(), 50);
        assert_eq!(&area[..5], [1; 5]);
        assert_eq!(&area[5..25], [9; 20]);
        area[0] = 77;
        queue
            .enqueue_unmap_mem_object(buffer.get(), pointer, &[])
            .unwrap();
        let mut read = [0_u8; 1];
        queue
            .enqueue_read_buffer(&buffer, CL_BLOCKING, 5, &mut read, &[])
            .unwrap();
        assert_eq!(read, [77]);
        // Read to where it is.
        let itself = std::slice::from_raw_parts_mut(base.add(33), SIZE - 100);
        queue
            .enqueue_read_buffer(&buffer, CL_BLOCKING, 0, itself, &[])
            .unwrap();
        assert_eq!((itself[5], itself[10], itself[30]), (77, 9, 1));
        let unmapped = queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[]);
        assert_eq!(unmapped.err().map(|error| error.0), Some(CL_INVALID_VALUE));
    }
}

#[test]
fn wrong_arguments_have_their_codes() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let queue = queues(&context, 1, false).remove(0);
    let create = |flags, size, pointer: *mut u8| {
        // SAFETY: the calls fail before they follow the pointer.
        unsafe { Buffer::<u8>::create(&context, flags, size, pointer.cast()) }
            .err()
            .map(|error| error.0)
    };
    let mut byte = 0_u8;
    assert_eq!(create(0, 0, ptr::null_mut()), Some(CL_INVALID_BUFFER_SIZE));
    assert_eq!(
        create(0, usize::MAX, ptr::null_mut()),
        Some(CL_INVALID_BUFFER_SIZE)
    );
    assert_eq!(create(0, 1, &raw mut byte), Some(CL_INVALID_HOST_PTR));
    assert_eq!(
        create(CL_MEM_COPY_HOST_PTR, 1, ptr::null_mut()),
        Some(CL_INVALID_HOST_PTR)
    );
    assert_eq!(create(1 << 50, 1, ptr::null_mut()), Some(CL_INVALID_VALUE));

    // SAFETY: ranges that are wrong are refused before anything is touched.
    unsafe {
        let buffer = |flags| {
            Buffer::<u8>::create(&context, CL_MEM_READ_WRITE | flags, 100, ptr::null_mut()).unwrap()
        };
        let mut plain = buffer(0);
        let mut data = [0_u8; 101];
        let read = queue.enqueue_read_buffer(&plain, CL_BLOCKING, 0, &mut data, &[]);
        assert_eq!(read.err().map(|error| error.0), Some(CL_INVALID_VALUE));
        let read = queue.enqueue_read_buffer(&plain, CL_BLOCKING, usize::MAX, &mut data, &[]);
        assert_eq!(read.err().map(|error| error.0), Some(CL_INVALID_VALUE));
        let fill = queue.enqueue_fill_buffer(&mut plain, &[1_u8, 2, 3], 0, 99, &[]);
        assert_eq!(fill.err().map(|error| error.0), Some(CL_INVALID_VALUE));
        let write_only = buffer(CL_MEM_HOST_WRITE_ONLY);
        let read = queue.enqueue_read_buffer(&write_only, CL_BLOCKING, 0, &mut data[..1], &[]);
        assert_eq!(read.err().map(|error| error.0), Some(CL_INVALID_OPERATION));
        let mut read_only = buffer(CL_MEM_HOST_READ_ONLY);
        let write = queue.enqueue_write_buffer(&mut read_only, CL_BLOCKING, 0, &data[..1], &[]);
        assert_eq!(write.err().map(|error| error.0), Some(CL_INVALID_OPERATION));
        let same = Buffer::<u8>::new(plain.get());
        let copy = queue.enqueue_copy_buffer(&same, &mut plain, 0, 9, 10, &[]);
        assert_eq!(copy.err().map(|error| error.0), Some(CL_MEM_COPY_OVERLAP));
        // Two owners of one reference: only one may release it.
        std::mem::forget(same);
    }
}

/// Runs this file once more with device memory that the host can't see.
#[test]
fn the_same_through_staging_memory() {
    const AGAIN: &str = "BUFFERS_THROUGH_STAGING";
    if std::env::var_os(AGAIN).is_some() {
        return;
    }
    let test = std::env::current_exe().expect("a running test has a path");
    let output = Command::new(test)
        .env(AGAIN, "1")
        .env("PUMICE_DISCRETE", "1")
        .output()
        .expect("the test starts");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}
