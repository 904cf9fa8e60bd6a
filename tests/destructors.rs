//! Destructor callbacks of memory objects that are not alone with their memory: sub-buffers, images over buffers,
//! buffers over shared virtual memory. "[T]he memory object is deleted" after "the memobj reference count becomes zero
//! and commands queued for execution on a command-queue(s) that use memobj have finished".

mod common;

use std::ffi::c_void;
use std::ptr;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use opencl3::command_queue::{CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CommandQueue};
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, Device};
use opencl3::event::{CL_COMPLETE, Event, create_user_event, set_user_event_status};
use opencl3::memory::{
    Buffer, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR, CL_R,
    CL_UNSIGNED_INT32, ClMem, Image, set_mem_object_destructor_callback, svm_alloc, svm_free,
};
use opencl3::types::{cl_event, cl_image_desc, cl_image_format, cl_int, cl_mem};

const WORDS: usize = 1024;
/// Of a sub-buffer.
const PART: usize = 256;

/// What the callbacks tell: their numbers, and the event's status that they found.
struct Log {
    event: usize,
    calls: Mutex<Vec<(u32, i32)>>,
}

/// What a callback is given.
struct Call {
    log: &'static Log,
    number: u32,
}

impl Log {
    fn new(event: &Event) -> &'static Self {
        Box::leak(Box::new(Self {
            event: event.get() as usize,
            calls: Mutex::default(),
        }))
    }

    /// Has two calls be made for `memory`.
    fn register(&'static self, memory: &impl ClMem) {
        extern "C" fn destroyed(_: cl_mem, call: *mut c_void) {
            // SAFETY: leaked by `register`.
            let call = unsafe { &*call.cast::<Call>() };
            // The test's own, which is not given back here.
            let event = std::mem::ManuallyDrop::new(Event::new(call.log.event as cl_event));
            let status = event.command_execution_status().unwrap().0;
            call.log.calls.lock().unwrap().push((call.number, status));
        }
        for number in [1, 2] {
            let call = Box::leak(Box::new(Call { log: self, number }));
            let data = ptr::from_mut(call).cast();
            // SAFETY: a function of that kind, and what it is given lives on.
            unsafe { set_mem_object_destructor_callback(memory.get(), destroyed, data) }.unwrap();
        }
    }

    fn calls(&self) -> Vec<(u32, i32)> {
        self.calls.lock().unwrap().clone()
    }

    /// The calls, as soon as there are two.
    fn both(&self) -> Vec<(u32, i32)> {
        let start = Instant::now();
        while self.calls().len() < 2 && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        self.calls()
    }

    /// Both have been made, in reverse order and when the command was complete.
    fn expect_both(&self) {
        assert_eq!(self.both(), [(2, CL_COMPLETE), (1, CL_COMPLETE)]);
    }
}

/// Queues in order and out of order, one of which the commands go to.
fn each(test: impl Fn(&Device, &Context, &CommandQueue)) {
    let Some(device) = common::device() else {
        return;
    };
    let context = Context::from_device(&device).unwrap();
    for flags in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE] {
        let queue = CommandQueue::create_default_with_properties(&context, flags, 0).unwrap();
        test(&device, &context, &queue);
    }
}

fn user_event(context: &Context) -> Event {
    Event::new(create_user_event(context.get()).unwrap())
}

fn buffer(context: &Context) -> Buffer<u32> {
    // SAFETY: no host memory.
    unsafe { Buffer::create(context, CL_MEM_READ_WRITE, WORDS, ptr::null_mut()) }.unwrap()
}

fn fill(queue: &CommandQueue, buffer: &mut Buffer<u32>, words: usize, waits: &[cl_event]) -> Event {
    // SAFETY: within the buffer.
    unsafe { queue.enqueue_fill_buffer(buffer, &[7_u32], 0, words * 4, waits) }.unwrap()
}

/// A buffer, and a part of it.
fn sub_buffer(context: &Context) -> (Buffer<u32>, Buffer<u32>) {
    let parent = buffer(context);
    // SAFETY: within the buffer.
    let part = unsafe { parent.create_sub_buffer(CL_MEM_READ_WRITE, 0, PART) }.unwrap();
    (parent, part)
}

/// Lets go of `object` while a command that uses it waits for the application, and has what it waits for end with
/// `status`. The event is the command's.
fn let_go_while_held<M: ClMem>(
    context: &Context,
    mut object: M,
    enqueue: impl FnOnce(&mut M, &[cl_event]) -> Event,
    status: cl_int,
) -> (Event, &'static Log) {
    let gate = user_event(context);
    let event = enqueue(&mut object, &[gate.get()]);
    let log = Log::new(&event);
    log.register(&object);
    drop(object);
    assert_eq!(log.calls(), []);
    set_user_event_status(gate.get(), status).unwrap();
    (event, log)
}

/// The command waits for the application.
#[test]
fn of_a_sub_buffer_whose_command_is_held() {
    each(|_, context, queue| {
        let (_parent, part) = sub_buffer(context);
        let enqueue = |part: &mut _, waits: &[_]| fill(queue, part, PART, waits);
        let (_event, log) = let_go_while_held(context, part, enqueue, CL_COMPLETE);
        queue.finish().unwrap();
        log.expect_both();
    });
}

/// The command fails with what it waits for.
#[test]
fn of_a_sub_buffer_whose_command_fails() {
    each(|_, context, queue| {
        let (_parent, part) = sub_buffer(context);
        let enqueue = |part: &mut _, waits: &[_]| fill(queue, part, PART, waits);
        let (_event, log) = let_go_while_held(context, part, enqueue, -9);
        let numbers: Vec<u32> = log.both().iter().map(|call| call.0).collect();
        assert_eq!(numbers, [2, 1]);
    });
}

/// The command is recorded and not flushed: the device does not have it yet.
#[test]
fn of_a_sub_buffer_whose_command_is_not_flushed() {
    each(|_, context, queue| {
        // The parent lives on: its end has nothing to do with it.
        let (_parent, mut part) = sub_buffer(context);
        let event = fill(queue, &mut part, PART, &[]);
        let log = Log::new(&event);
        log.register(&part);
        drop(part);
        queue.finish().unwrap();
        log.expect_both();
    });
}

/// Nothing uses it, whatever else the application holds back.
#[test]
fn of_a_sub_buffer_that_no_command_uses() {
    each(|_, context, queue| {
        let ((_parent, part), mut other) = (sub_buffer(context), buffer(context));
        let gate = user_event(context);
        let held = fill(queue, &mut other, WORDS, &[gate.get()]);
        let done = user_event(context);
        set_user_event_status(done.get(), CL_COMPLETE).unwrap();
        let log = Log::new(&done);
        log.register(&part);
        drop(part);
        log.expect_both();
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        held.wait().unwrap();
    });
}

#[test]
fn of_an_image_over_a_buffer() {
    each(|device, context, queue| {
        if !device.image_support().unwrap() {
            return;
        }
        let parent = buffer(context);
        let format = cl_image_format {
            image_channel_order: CL_R,
            image_channel_data_type: CL_UNSIGNED_INT32,
        };
        let description = cl_image_desc {
            image_type: CL_MEM_OBJECT_IMAGE1D_BUFFER,
            image_width: 256,
            buffer: parent.get(),
            // SAFETY: zeros are the values of all the rest.
            ..unsafe { std::mem::zeroed() }
        };
        // SAFETY: no host memory.
        let image = unsafe {
            let none = ptr::null_mut();
            Image::create(context, CL_MEM_READ_WRITE, &format, &description, none)
        }
        .unwrap();
        let enqueue = |image: &mut Image, waits: &[cl_event]| {
            let (colour, origin, region) = ([7_u32; 4], [0_usize; 3], [256_usize, 1, 1]);
            let colour = colour.as_ptr().cast();
            // SAFETY: within the image.
            unsafe {
                queue.enqueue_fill_image(image, colour, origin.as_ptr(), region.as_ptr(), waits)
            }
            .unwrap()
        };
        let (_event, log) = let_go_while_held(context, image, enqueue, CL_COMPLETE);
        queue.finish().unwrap();
        log.expect_both();
    });
}

/// The memory is the application's to free in the callback.
#[test]
fn of_a_buffer_over_shared_virtual_memory() {
    each(|device, context, queue| {
        if device.svm_mem_capability() & CL_DEVICE_SVM_COARSE_GRAIN_BUFFER == 0 {
            return;
        }
        // SAFETY: a live context.
        let shared = unsafe { svm_alloc(context.get(), CL_MEM_READ_WRITE, WORDS * 4, 0) }.unwrap();
        let flags = CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR;
        // SAFETY: the memory is freed when the buffer and its commands are gone.
        let over = unsafe { Buffer::<u32>::create(context, flags, WORDS, shared) }.unwrap();
        let enqueue = |over: &mut _, waits: &[_]| fill(queue, over, WORDS, waits);
        let (_event, log) = let_go_while_held(context, over, enqueue, CL_COMPLETE);
        queue.finish().unwrap();
        log.expect_both();
        // SAFETY: nothing uses it any more.
        unsafe { svm_free(context.get(), shared) }.unwrap();
    });
}
