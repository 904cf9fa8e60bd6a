//! Transfers from and to host memory that is mapped from another memory object, which a device moves by itself: random
//! sequences of them against a model on the host. They share bytes of the host's memory, so their order shows.

mod common;

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::event::{Event, create_user_event, release_event, set_user_event_status};
use opencl3::memory::{
    Buffer, CL_MAP_READ, CL_MAP_WRITE, CL_MEM_ALLOC_HOST_PTR, CL_MEM_COPY_HOST_PTR,
    CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, ClMem,
};
use opencl3::types::{CL_BLOCKING, CL_NON_BLOCKING, cl_event};
use std::ffi::c_void;
use std::process::Command;
use std::ptr;

/// Bytes of each memory object: of one that the host may write over the bus where it can't see it otherwise, and of one
/// that it does not.
const SIZES: [usize; 2] = [60_000, 600_000];
const STEPS: usize = 300;

/// xorshift, so that a failure repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.below(256) as u8).collect()
    }
}

/// What the transfers go from and to on the host.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Host {
    /// Memory that no driver knows of.
    Pageable,
    /// What is mapped of a buffer with these flags.
    Mapped(u64),
}

const HOSTS: [Host; 4] = [
    Host::Pageable,
    Host::Mapped(CL_MEM_ALLOC_HOST_PTR),
    Host::Mapped(CL_MEM_USE_HOST_PTR),
    Host::Mapped(0),
];

/// Memory of this alignment devices may take as it is.
#[derive(Clone)]
#[repr(align(4096))]
struct Page([u8; 4096]);

/// A range on both sides.
#[derive(Clone, Copy)]
struct Part {
    device: usize,
    host: usize,
    bytes: usize,
}

impl Part {
    fn random(random: &mut Random, size: usize) -> Self {
        let most = [64, 5_000, 100_000, size][random.below(4)].min(size);
        let bytes = 1 + random.below(most);
        Self {
            device: random.below(size - bytes + 1),
            host: random.below(size - bytes + 1),
            bytes,
        }
    }
}

/// All of them, of every size.
fn hosts() -> impl Iterator<Item = (Host, usize)> {
    HOSTS
        .into_iter()
        .flat_map(|host| SIZES.map(|size| (host, size)))
}

struct Model {
    size: usize,
    queue: CommandQueue,
    /// Of commands that have no other order.
    last: Option<Event>,
    is_chained: bool,
    buffers: [Buffer<u8>; 2],
    contents: [Vec<u8>; 2],
    host: *mut u8,
    host_contents: Vec<u8>,
    mapped: Option<Buffer<u8>>,
    /// What the buffer shares; declared after it, as it is freed after it.
    _own: Vec<Page>,
}

impl Model {
    fn new(
        context: &Context,
        properties: u64,
        (host, size): (Host, usize),
        random: &mut Random,
    ) -> Self {
        let queue = CommandQueue::create_default_with_properties(context, properties, 0).unwrap();
        let mut contents = [random.bytes(size), random.bytes(size)];
        let buffers = contents.each_mut().map(|contents| {
            let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
            let first = contents.as_mut_ptr().cast();
            // SAFETY: as long as the buffer.
            unsafe { Buffer::create(context, flags, size, first) }.unwrap()
        });
        let host_contents = random.bytes(size);
        let mut own = vec![Page([0; 4096]); size.div_ceil(4096)];
        for (page, bytes) in own.iter_mut().zip(host_contents.chunks(4096)) {
            page.0[..bytes.len()].copy_from_slice(bytes);
        }
        let first = own.as_mut_ptr().cast();
        let mut model = Self {
            size,
            queue,
            last: None,
            is_chained: properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
            buffers,
            contents,
            host: first,
            host_contents,
            mapped: None,
            _own: own,
        };
        if let Host::Mapped(flags) = host {
            let first = match flags & CL_MEM_USE_HOST_PTR {
                0 => ptr::null_mut(),
                _ => model.host.cast(),
            };
            // SAFETY: as long as the buffer, which is released first.
            let buffer = unsafe { Buffer::create(context, CL_MEM_READ_WRITE | flags, size, first) };
            model.host = map(&model.queue, buffer.as_ref().unwrap(), size);
            // SAFETY: mapped.
            let bytes = unsafe { std::slice::from_raw_parts_mut(model.host, size) };
            bytes.copy_from_slice(&model.host_contents);
            model.mapped = buffer.ok();
        }
        model
    }

    fn waits(&self) -> Vec<cl_event> {
        let last = self.last.as_ref().filter(|_| self.is_chained);
        last.map(Event::get).into_iter().collect()
    }

    /// The part of the host's memory, which commands under way may use: for calls that do not look at it.
    fn host(&self, part: Part) -> &'static mut [u8] {
        // SAFETY: within the memory, which outlives all commands.
        unsafe { std::slice::from_raw_parts_mut(self.host.add(part.host), part.bytes) }
    }

    fn read(&mut self, buffer: usize, part: Part) {
        let (host, waits) = (self.host(part), self.waits());
        let from = &self.buffers[buffer];
        // SAFETY: within both.
        let event = unsafe {
            (self.queue).enqueue_read_buffer(from, CL_NON_BLOCKING, part.device, host, &waits)
        };
        self.last = Some(event.unwrap());
        let bytes = &self.contents[buffer][part.device..part.device + part.bytes];
        self.host_contents[part.host..part.host + part.bytes].copy_from_slice(bytes);
    }

    fn write(&mut self, buffer: usize, part: Part) {
        let (host, waits) = (self.host(part), self.waits());
        let to = &mut self.buffers[buffer];
        // SAFETY: within both.
        let event = unsafe {
            (self.queue).enqueue_write_buffer(to, CL_NON_BLOCKING, part.device, host, &waits)
        };
        self.last = Some(event.unwrap());
        let bytes = &self.host_contents[part.host..part.host + part.bytes];
        self.contents[buffer][part.device..part.device + part.bytes].copy_from_slice(bytes);
    }

    /// Rows of both, with gaps.
    fn rows(&mut self, buffer: usize, random: &mut Random) {
        let [width, rows] = [1 + random.below(300), 1 + random.below(40)];
        let pitches = [(); 2].map(|()| width + random.below(100));
        let spans = pitches.map(|pitch| pitch * rows);
        let starts = spans.map(|span| random.below(self.size - span));
        let [(at_device, device_pitch), (at_host, host_pitch)] =
            [0, 1].map(|side| (starts[side], pitches[side]));
        let (region, waits) = ([width, rows, 1], self.waits());
        let [device_origin, host_origin] = [[at_device, 0, 0], [at_host, 0, 0]];
        let is_read = random.below(2) == 0;
        let (queue, host) = (&self.queue, self.host.cast());
        let (device, on_host) = (device_origin.as_ptr(), host_origin.as_ptr());
        let buffer_of = &mut self.buffers[buffer];
        // SAFETY: within both.
        let event = unsafe {
            if is_read {
                queue.enqueue_read_buffer_rect(
                    buffer_of,
                    CL_NON_BLOCKING,
                    device,
                    on_host,
                    region.as_ptr(),
                    device_pitch,
                    0,
                    host_pitch,
                    0,
                    host,
                    &waits,
                )
            } else {
                queue.enqueue_write_buffer_rect(
                    buffer_of,
                    CL_NON_BLOCKING,
                    device,
                    on_host,
                    region.as_ptr(),
                    device_pitch,
                    0,
                    host_pitch,
                    0,
                    host,
                    &waits,
                )
            }
        };
        self.last = Some(event.unwrap());
        for row in 0..rows {
            let device = at_device + row * device_pitch..at_device + row * device_pitch + width;
            let host = at_host + row * host_pitch..at_host + row * host_pitch + width;
            let (contents, host_contents) = (&mut self.contents[buffer], &mut self.host_contents);
            if is_read {
                host_contents[host].copy_from_slice(&contents[device])
            } else {
                contents[device].copy_from_slice(&host_contents[host])
            }
        }
    }

    fn step(&mut self, random: &mut Random) {
        let (buffer, part) = (random.below(2), Part::random(random, self.size));
        match random.below(5) {
            0 | 1 => self.read(buffer, part),
            2 | 3 => self.write(buffer, part),
            _ => self.rows(buffer, random),
        }
    }

    /// Compares all, when all is done.
    fn check(&self, what: &str) {
        self.queue.finish().unwrap();
        let all = Part {
            device: 0,
            host: 0,
            bytes: self.size,
        };
        assert!(*self.host(all) == *self.host_contents, "{what}: the host's");
        for (buffer, contents) in self.buffers.iter().zip(&self.contents) {
            self.check_buffer(buffer, contents, what);
        }
    }

    fn check_buffer(&self, buffer: &Buffer<u8>, contents: &[u8], what: &str) {
        let mut bytes = vec![0; self.size];
        let queue = &self.queue;
        let waits = self.waits();
        // SAFETY: as long as the buffer.
        unsafe { queue.enqueue_read_buffer(buffer, CL_BLOCKING, 0, &mut bytes, &waits) }.unwrap();
        assert!(bytes == contents, "{what}: a buffer's");
    }
}

fn map(queue: &CommandQueue, buffer: &Buffer<u8>, size: usize) -> *mut u8 {
    let (flags, mut pointer) = (CL_MAP_READ | CL_MAP_WRITE, ptr::null_mut::<c_void>());
    // SAFETY: the whole buffer.
    let mapped =
        unsafe { queue.enqueue_map_buffer(buffer, CL_BLOCKING, flags, 0, size, &mut pointer, &[]) };
    mapped.unwrap();
    pointer.cast()
}

#[test]
fn transfers_of_shared_bytes_keep_their_order() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for properties in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        for (seed, host) in hosts().enumerate() {
            let mut random = Random(0x9e37_79b9_7f4a_7c15 + seed as u64);
            let mut model = Model::new(&context, properties, host, &mut random);
            for step in 0..STEPS {
                model.step(&mut random);
                if random.below(40) == 0 {
                    model.check(&format!("{host:?}, queue {properties:#x}, step {step}"));
                }
            }
            model.check(&format!("{host:?}, queue {properties:#x}, at the end"));
        }
    }
}

/// All that is enqueued waits for the host.
#[test]
fn held_transfers_keep_their_order() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for (seed, host) in hosts().enumerate() {
        let mut random = Random(0x2545_f491_4f6c_dd1d + seed as u64);
        let mut model = Model::new(&context, 0, host, &mut random);
        for round in 0..5 {
            let gate = create_user_event(context.get()).unwrap();
            // SAFETY: a live event.
            unsafe { model.queue.enqueue_marker_with_wait_list(&[gate]) }.unwrap();
            for _ in 0..20 {
                model.step(&mut random);
            }
            set_user_event_status(gate, 0).unwrap();
            model.check(&format!("{host:?}, round {round}"));
            // SAFETY: not used any more.
            unsafe { release_event(gate) }.unwrap();
        }
    }
}

/// An unmap comes after the reads before it in its queue, and carries what they wrote.
#[test]
fn an_unmap_carries_what_a_read_before_it_wrote() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for (seed, (host, size)) in hosts().enumerate() {
        for bytes in [100, size] {
            let mut random = Random(0x1234_5678_9abc_def1 + seed as u64);
            let mut model = Model::new(&context, 0, (host, size), &mut random);
            let Some(buffer) = model.mapped.take() else {
                continue;
            };
            for round in 0..10 {
                let part = Part {
                    device: 0,
                    host: 0,
                    bytes,
                };
                model.read(round % 2, part);
                let (pointer, queue) = (model.host.cast(), &model.queue);
                // SAFETY: mapped, and not looked at any more.
                unsafe { queue.enqueue_unmap_mem_object(buffer.get(), pointer, &[]) }.unwrap();
                let what = format!("{host:?}, {bytes} bytes, round {round}");
                model.check_buffer(&buffer, &model.host_contents, &what);
                model.host = map(&model.queue, &buffer, size);
                model.check(&what);
            }
            // SAFETY: as above.
            let unmapped = unsafe {
                let pointer = model.host.cast();
                (model.queue).enqueue_unmap_mem_object(buffer.get(), pointer, &[])
            };
            unmapped.unwrap();
            model.queue.finish().unwrap();
        }
    }
}

/// Memory that is released while it is mapped, with transfers under way.
#[test]
fn what_is_released_lasts_as_long_as_its_transfers() {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    let mut random = Random(77);
    for round in 0..20 {
        let size = SIZES[round % 2];
        let host = (Host::Mapped(CL_MEM_ALLOC_HOST_PTR), size);
        let mut model = Model::new(&context, 0, host, &mut random);
        let part = Part {
            device: 0,
            host: 0,
            bytes: size,
        };
        model.write(0, part);
        drop(model.mapped.take());
        let contents = model.contents[0].clone();
        model.check_buffer(&model.buffers[0], &contents, "after the release");
    }
}

/// Runs this file once more with device memory that the host can't see.
#[test]
fn the_same_through_staging_memory() {
    const AGAIN: &str = "PINNED_THROUGH_STAGING";
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
