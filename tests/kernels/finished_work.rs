//! What the host has seen the end of is seen by whatever it launches then, on whatever queue.

use super::harness::{Session, description_2d, session, skip};
use opencl3::command_queue::CommandQueue;
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE, CL_R, CL_UNSIGNED_INT32, ClMem, Image};
use opencl3::types::{CL_BLOCKING, cl_image_format};
use std::ptr;

/// Words, few enough for every multiprocessor to have them all in its caches.
const WORDS: usize = 256;
const READERS: usize = 1 << 14;
const ROUNDS: u32 = 400;

const SOURCE: &str = "
kernel void put(global uint *words, uint value) { words[get_global_id(0)] = value; }
kernel void check(
    global const uint *restrict words, constant uint *constants, uint value, global uint *wrong
) {
    size_t i = get_global_id(0) % 256;
    if (words[i] != value || constants[255 - i] != value) { atomic_inc(wrong); }
}";

const IMAGES: &str = "
kernel void put(write_only image2d_t image, uint value) {
    int i = get_global_id(0);
    write_imageui(image, (int2)(i % 16, i / 16), (uint4)(value));
}
kernel void check(read_only image2d_t image, uint value, global uint *wrong) {
    const sampler_t sampler = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int i = get_global_id(0) % 256;
    if (read_imageui(image, sampler, (int2)(i % 16, i / 16)).x != value) { atomic_inc(wrong); }
}";

/// Work that has nothing to do with the rest.
const OTHER: &str = "
kernel void other(global uint *out) { out[get_global_id(0)] = 1; }";

struct Setup {
    session: &'static Session,
    queues: [CommandQueue; 2],
    put: Kernel,
    check: Kernel,
    other: Kernel,
    out: Buffer<u8>,
    wrong: Buffer<u8>,
}

impl Setup {
    fn new(source: &str) -> Self {
        let session = session();
        let program = session.build_source(&format!("{source}{OTHER}"), "");
        let kernel = |name| Kernel::create(&program, name).unwrap();
        let context = session.context();
        let queue = |_| CommandQueue::create_default_with_properties(context, 0, 0).unwrap();
        let setup = Self {
            session,
            queues: [0, 1].map(queue),
            put: kernel("put"),
            check: kernel("check"),
            other: kernel("other"),
            out: session.buffer(WORDS * 4),
            wrong: session.buffer(4),
        };
        set(&setup.other, 0, &setup.out.get());
        setup
    }

    /// Has `write` write a value, waits for it, and has the kernel `check` look for it, round for round.
    fn run(&self, mut write: impl FnMut(&CommandQueue, u32)) {
        let last = self.check.num_args().unwrap() - 1;
        set(&self.check, last, &self.wrong.get());
        for round in 1..=ROUNDS {
            let queue = |bit: u32| &self.queues[(round >> bit & 1) as usize];
            let [writer, reader] = [queue(0), queue(1)];
            if round & 4 != 0 {
                // Recorded with what is launched on this queue next, and before what that one has to see.
                launch(reader, &self.other, WORDS);
            }
            write(writer, round);
            writer.finish().unwrap();
            set(&self.check, last - 1, &round);
            launch(reader, &self.check, READERS);
            reader.finish().unwrap();
        }
        let mut wrong = [0; 4];
        let queue = self.session.queue();
        // SAFETY: within the buffer.
        unsafe { queue.enqueue_read_buffer(&self.wrong, CL_BLOCKING, 0, &mut wrong, &[]) }.unwrap();
        let wrong = u32::from_le_bytes(wrong);
        assert_eq!(wrong, 0, "so many work-items saw old values");
    }
}

fn set<T>(kernel: &Kernel, index: u32, value: &T) {
    // SAFETY: of the argument's type.
    unsafe { kernel.set_arg(index, value) }.unwrap();
}

fn launch(queue: &CommandQueue, kernel: &Kernel, work_items: usize) {
    let (kernel, size) = (kernel.get(), [work_items]);
    // SAFETY: the arguments are set, and there are as many elements as work-items write.
    unsafe {
        queue.enqueue_nd_range_kernel(kernel, 1, ptr::null(), size.as_ptr(), ptr::null(), &[])
    }
    .unwrap();
}

#[test]
fn finished_kernels() {
    let setup = Setup::new(SOURCE);
    let words = setup.session.buffer(WORDS * 4);
    set(&setup.put, 0, &words.get());
    set(&setup.check, 0, &words.get());
    set(&setup.check, 1, &words.get());
    setup.run(|queue, value| {
        set(&setup.put, 1, &value);
        launch(queue, &setup.put, WORDS);
    });
}

#[test]
fn finished_fills() {
    let setup = Setup::new(SOURCE);
    let mut words = setup.session.buffer(WORDS * 4);
    set(&setup.check, 0, &words.get());
    set(&setup.check, 1, &words.get());
    setup.run(|queue, value| {
        let pattern = value.to_le_bytes();
        // SAFETY: within the buffer.
        unsafe { queue.enqueue_fill_buffer(&mut words, &pattern, 0, WORDS * 4, &[]) }.unwrap();
    });
}

#[test]
fn finished_images() {
    if !session().device().image_support().unwrap_or(false) {
        return skip("the device has no images");
    }
    let setup = Setup::new(IMAGES);
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_UNSIGNED_INT32,
    };
    let description = description_2d(16, 16);
    let (context, flags) = (setup.session.context(), CL_MEM_READ_WRITE);
    // SAFETY: no host memory.
    let image = unsafe { Image::create(context, flags, &format, &description, ptr::null_mut()) };
    let image = image.unwrap();
    set(&setup.put, 0, &image.get());
    set(&setup.check, 0, &image.get());
    setup.run(|queue, value| {
        set(&setup.put, 1, &value);
        launch(queue, &setup.put, WORDS);
    });
}
