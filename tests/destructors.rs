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
use opencl3::types::{cl_event, cl_image_desc, cl_image_format, cl_mem};

const WORDS: usize = 1024;

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

    /// Both have been made, in reverse order and when the command was complete.
    fn expect_both(&self) {
        let start = Instant::now();
        while self.calls().len() < 2 && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(self.calls(), [(2, CL_COMPLETE), (1, CL_COMPLETE)]);
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

/// The command waits for the application.
#[test]
fn of_a_sub_buffer_whose_command_is_held() {
    each(|_, context, queue| {
        let parent = buffer(context);
        // SAFETY: within the buffer.
        let mut part = unsafe { parent.create_sub_buffer(CL_MEM_READ_WRITE, 0, 256) }.unwrap();
        let gate = user_event(context);
        let event = fill(queue, &mut part, 256, &[gate.get()]);
        let log = Log::new(&event);
        log.register(&part);
        drop(part);
        assert_eq!(log.calls(), []);
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        queue.finish().unwrap();
        log.expect_both();
        drop(parent);
    });
}

/// The command fails with what it waits for.
#[test]
fn of_a_sub_buffer_whose_command_fails() {
    each(|_, context, queue| {
        let parent = buffer(context);
        // SAFETY: within the buffer.
        let mut part = unsafe { parent.create_sub_buffer(CL_MEM_READ_WRITE, 0, 256) }.unwrap();
        let gate = user_event(context);
        let event = fill(queue, &mut part, 256, &[gate.get()]);
        let log = Log::new(&event);
        log.register(&part);
        drop(part);
        assert_eq!(log.calls(), []);
        set_user_event_status(gate.get(), -9).unwrap();
        let start = Instant::now();
        while log.calls().len() < 2 && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        let numbers: Vec<u32> = log.calls().iter().map(|call| call.0).collect();
        assert_eq!(numbers, [2, 1]);
    });
}

/// The command is recorded and not flushed: the device does not have it yet.
#[test]
fn of_a_sub_buffer_whose_command_is_not_flushed() {
    each(|_, context, queue| {
        let parent = buffer(context);
        // SAFETY: within the buffer.
        let mut part = unsafe { parent.create_sub_buffer(CL_MEM_READ_WRITE, 0, 256) }.unwrap();
        let event = fill(queue, &mut part, 256, &[]);
        let log = Log::new(&event);
        log.register(&part);
        drop(part);
        // The parent's own lives on: it has nothing to do with it.
        queue.finish().unwrap();
        log.expect_both();
        drop(parent);
    });
}

/// Nothing uses it, whatever else the application holds back.
#[test]
fn of_a_sub_buffer_that_no_command_uses() {
    each(|_, context, queue| {
        let (parent, mut other) = (buffer(context), buffer(context));
        // SAFETY: within the buffer.
        let part = unsafe { parent.create_sub_buffer(CL_MEM_READ_WRITE, 0, 256) }.unwrap();
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
        let mut image = unsafe {
            let none = ptr::null_mut();
            Image::create(context, CL_MEM_READ_WRITE, &format, &description, none)
        }
        .unwrap();
        let gate = user_event(context);
        // SAFETY: within the image.
        let event = unsafe {
            queue.enqueue_fill_image(
                &mut image,
                [7_u32; 4].as_ptr().cast(),
                [0_usize; 3].as_ptr(),
                [256_usize, 1, 1].as_ptr(),
                &[gate.get()],
            )
        }
        .unwrap();
        let log = Log::new(&event);
        log.register(&image);
        drop(image);
        assert_eq!(log.calls(), []);
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
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
        let mut over = unsafe { Buffer::<u32>::create(context, flags, WORDS, shared) }.unwrap();
        let gate = user_event(context);
        let event = fill(queue, &mut over, WORDS, &[gate.get()]);
        let log = Log::new(&event);
        log.register(&over);
        drop(over);
        assert_eq!(log.calls(), []);
        set_user_event_status(gate.get(), CL_COMPLETE).unwrap();
        queue.finish().unwrap();
        log.expect_both();
        // SAFETY: nothing uses it any more.
        unsafe { svm_free(context.get(), shared) }.unwrap();
    });
}
