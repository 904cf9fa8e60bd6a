//! Images that a texture unit reads where the device has one for them: rows are of whole 256 bytes. What they read
//! is the same everywhere, but that a unit's filter may have 8 bits.

use crate::common;
use crate::recorded::CommandBuffer;
use crate::session::{Session, describe, session};
use opencl3::command_queue::CommandQueue;
use opencl3::event::Event;
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    Buffer, CL_ADDRESS_CLAMP_TO_EDGE, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, CL_R, CL_RGBA,
    CL_UNORM_INT8, ClMem, Image,
};
use opencl3::types::cl_event;
use std::time::{Duration, Instant};

const SIZE: [usize; 3] = [64, 4, 1];

/// 64x4 texels of RGBA8, all different, from a number on.
fn texels(first: u32) -> Vec<u32> {
    (0..256).map(|index| first + 0x0001_0203 * index).collect()
}

fn image(s: &Session, first: u32) -> Image {
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, SIZE);
    s.image_of(CL_RGBA, CL_UNORM_INT8, &desc, &texels(first))
}

const COPY: &str = "kernel void test(read_only image2d_t image, global uint *out) {\n\
    const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n\
    int i = get_global_id(0);\n\
    float4 texel = read_imagef(image, s, (float2)(i % 64 + 0.5f, i / 64 + 0.5f));\n\
    out[i] = as_uint(convert_uchar4_sat_rte(texel * 255.0f));\n}";

fn launch(kernel: &Kernel, queue: &CommandQueue, image: &Image, out: &Buffer<u32>) -> Event {
    launch_on(kernel, queue, image.get() as usize, out)
}

/// `image` is a handle, which may go from thread to thread.
fn launch_on(kernel: &Kernel, queue: &CommandQueue, image: usize, out: &Buffer<u32>) -> Event {
    // SAFETY: the arguments are the kernel's.
    unsafe {
        ExecuteKernel::new(kernel)
            .set_arg(&image)
            .set_arg(out)
            .set_global_work_size(256)
            .enqueue_nd_range(queue)
            .expect("a launch")
    }
}

/// A kernel that keeps a device busy for about so long, started. It has many work-items of few iterations, as some devices
/// make no more of them.
fn keep_busy(s: &Session, wanted: Duration) -> Event {
    let kernel = s.kernel(
        "kernel void test(global uint *out) {\n\
         uint x = get_global_id(0);\n\
         for (uint i = 0; i < 10000; i++) x = x * 1664525u + (x >> 7) + i;\n\
         if (x == 0) out[0] = get_global_id(0);\n}",
    );
    let out = s.buffer_of(&[0_u32; 1]);
    let start = |items: usize| {
        // SAFETY: the arguments are the kernel's.
        let event = unsafe {
            ExecuteKernel::new(&kernel)
                .set_arg(&out)
                .set_global_work_size(items)
                .enqueue_nd_range(&s.queue)
                .expect("a launch")
        };
        s.queue.flush().expect("a flush");
        event
    };
    start(64).wait().expect("the first has the pipeline made");
    let mut items = 1 << 10;
    loop {
        let begin = Instant::now();
        start(items).wait().expect("an end");
        let took = begin.elapsed();
        if took > Duration::from_millis(20) || items > 1 << 24 {
            let factor = wanted.as_secs_f64() / took.as_secs_f64();
            // Whole work-groups.
            return start(((items as f64 * factor) as usize).next_multiple_of(64));
        }
        items *= 4;
    }
}

/// lavapipe holds the lock of its queue while a kernel runs, and takes it to make an image's view.
#[test]
fn the_first_use_of_an_image_waits_for_nothing() {
    let Some(s) = session() else { return };
    let device = common::device().expect("it has a session");
    if device.name().expect("a name").contains("llvmpipe") {
        return;
    }
    let kernel = s.kernel(COPY);
    let out = s.buffer_of(&[0_u32; 256]);
    // The pipeline for such images is made here.
    let first = image(&s, 7);
    launch(&kernel, &s.queue, &first, &out)
        .wait()
        .expect("an end");
    // On a machine that others use, the device may be done before the host gets to launch; a launch that waits finds it
    // done however long that takes.
    let was_busy = [2, 8, 20].into_iter().any(|seconds| {
        let images = [1, 2, 3].map(|first| image(&s, first));
        let busy = keep_busy(&s, Duration::from_secs(seconds));
        for image in &images {
            launch(&kernel, &s.queue, image, &out);
        }
        let status = busy.command_execution_status().expect("a status").0;
        assert_eq!(s.values(&out, 256), texels(3));
        status != opencl3::event::CL_COMPLETE
    });
    assert!(was_busy, "a launch waited");
}

#[test]
fn queues_may_use_an_image_first_at_the_same_time() {
    let Some(s) = session() else { return };
    let s = &s;
    for round in 0..8 {
        let image = image(s, round);
        let handle = image.get() as usize;
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    let queue = CommandQueue::create_default_with_properties(&s.context, 0, 0)
                        .expect("a queue");
                    let kernel = s.kernel(COPY);
                    let out = s.buffer_of(&[0_u32; 256]);
                    launch_on(&kernel, &queue, handle, &out)
                        .wait()
                        .expect("an end");
                    assert_eq!(s.values(&out, 256), texels(round));
                });
            }
        });
    }
}

#[test]
fn an_image_may_go_before_its_first_launch_begins() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(COPY);
    for first in 0..16 {
        let out = s.buffer_of(&[0_u32; 256]);
        let gate = opencl3::event::create_user_event(s.context.get()).expect("a user event");
        let waits: [cl_event; 1] = [gate];
        let event = {
            let image = image(&s, first);
            // SAFETY: the arguments are the kernel's.
            unsafe {
                ExecuteKernel::new(&kernel)
                    .set_arg(&image)
                    .set_arg(&out)
                    .set_global_work_size(256)
                    .set_event_wait_list(&waits)
                    .enqueue_nd_range(&s.queue)
                    .expect("a launch")
            }
        };
        opencl3::event::set_user_event_status(gate, 0).expect("the launch may begin");
        event.wait().expect("an end");
        assert_eq!(s.values(&out, 256), texels(first));
        // SAFETY: the only hold on it.
        unsafe { opencl3::event::release_event(gate).expect("the event goes") };
    }
}

/// Two images with the odd work-items of a sub-group reading the second, by calls that an optimizer may make one.
#[test]
fn work_items_of_a_sub_group_read_images_and_samplers_of_their_own() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(
        "kernel void test(read_only image2d_t a, read_only image2d_t b, sampler_t near, sampler_t smooth,\n\
         global uint *choice, global float *out) {\n\
         int i = get_global_id(0);\n\
         float2 at = (float2)(i % 64 + 1.0f, 0.5f);\n\
         float texel;\n\
         switch (choice[i]) {\n\
         case 0: texel = read_imagef(a, near, at).x; break;\n\
         case 1: texel = read_imagef(b, near, at).x; break;\n\
         case 2: texel = read_imagef(a, smooth, at).x; break;\n\
         default: texel = read_imagef(b, smooth, at).x; break;\n\
         }\n\
         out[i] = choice[i] & 1 ? read_imagef(a, smooth, at).x : read_imagef(b, smooth, at).x;\n\
         out[i + 64] = texel;\n}",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, SIZE);
    let ramp = |first: f32| -> Vec<f32> { (0..256).map(|i| first + 2.0 * i as f32).collect() };
    let a = s.image_of(CL_R, CL_FLOAT, &desc, &ramp(0.0));
    let b = s.image_of(CL_R, CL_FLOAT, &desc, &ramp(1000.0));
    let choices: Vec<u32> = (0..64).map(|i| (i * 7 + i / 5) % 4).collect();
    let choice = s.buffer_of(&choices);
    let out = s.output(128);
    let [near, smooth] =
        [false, true].map(|linear| s.sampler(false, CL_ADDRESS_CLAMP_TO_EDGE, linear));
    // SAFETY: the arguments are the kernel's.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&a)
            .set_arg(&b)
            .set_arg(&near)
            .set_arg(&smooth)
            .set_arg(&choice)
            .set_arg(&out)
            .set_global_work_size(64)
            .enqueue_nd_range(&s.queue)
            .expect("a launch");
    }
    let found = s.values(&out, 128);
    for (i, &choice) in choices.iter().enumerate() {
        // At the border of two texels: the next, or half of each; past the last there is only the last.
        let next = ((i + 1) % 64).max(i);
        let of = |second: bool, smooth: bool| {
            let mean = if smooth {
                (i + next) as f32
            } else {
                2.0 * next as f32
            };
            mean + if second { 1000.0 } else { 0.0 }
        };
        assert_eq!(found[i], of(choice & 1 == 0, true), "{i}");
        assert_eq!(found[i + 64], of(choice & 1 == 1, choice & 2 != 0), "{i}");
    }
}

/// An image whose first use is recorded, and run by another queue than that of the recording.
#[test]
fn recorded_kernels_read_images_through_texture_units() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(COPY);
    for first in 0..4 {
        let image = image(&s, first);
        let out = s.buffer_of(&[0_u32; 256]);
        // SAFETY: handles of the right size.
        unsafe {
            kernel.set_arg(0, &image.get()).expect("the image is set");
            kernel.set_arg(1, &out.get()).expect("the buffer is set");
        }
        let other =
            CommandQueue::create_default_with_properties(&s.context, 0, 0).expect("another queue");
        let commands = CommandBuffer::new(&s, 0);
        commands.launch(&kernel, &[256]);
        commands.finalize();
        for _ in 0..2 {
            commands.enqueue_on(&mut [other.get()]);
        }
        other.finish().expect("an end");
        assert_eq!(s.values(&out, 256), texels(first));
    }
}
