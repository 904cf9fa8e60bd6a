//! Queues, and markers on them, for tests.

use super::command::{Command, Ordering};
use super::context::Context;
use super::device::Device;
use super::event::Event;
use super::event::waits::Waits;
use super::object::callback::UserData;
use super::platform::Platform;
use super::program::{self, Program, build};
use super::queue::Queue;
use crate::compiler::Defects;
use crate::toolchain::BuildOptions;
use crate::vulkan::test_device::skip;
use crate::vulkan::{Instance, InstanceOptions, Priority};
use opencl_sys::{CL_COMMAND_MARKER, cl_command_queue_properties};
use std::sync::Arc;

/// A queue of the first device, in a context of its own; `None` where the machine has no device.
pub fn new(flags: cl_command_queue_properties) -> Option<Arc<Queue>> {
    let Some(device) = Platform::instance().devices().first() else {
        skip::no_device();
        return None;
    };
    let user_data = UserData(std::ptr::null_mut());
    let context = Context::new(vec![Arc::clone(device)], Vec::new(), None, user_data);
    let vulkan = device.vulkan().unwrap();
    Some(Queue::new(&context, device, vulkan, flags, Priority::Medium, None).unwrap())
}

/// Another queue of the same device, in the same context.
pub fn another(queue: &Queue, flags: cl_command_queue_properties) -> Arc<Queue> {
    let (context, device) = (queue.context(), queue.device());
    Queue::new(
        context,
        device,
        queue.vulkan(),
        flags,
        Priority::Medium,
        None,
    )
    .unwrap()
}

/// A queue on each of two devices of one context, which are twice the machine's.
pub fn pair() -> Option<[Arc<Queue>; 2]> {
    on_own_devices(false)
}

/// A queue of a device whose memory the host reaches through windows alone, as a discrete GPU's, in a context of its own.
pub fn discrete() -> Option<Arc<Queue>> {
    on_own_devices(true).map(|[queue]| queue)
}

/// A queue on each of several devices of one context. All are the machine's first one, with an instance of their own.
fn on_own_devices<const COUNT: usize>(discrete: bool) -> Option<[Arc<Queue>; COUNT]> {
    let options = InstanceOptions {
        validate: true,
        discrete,
    };
    let instance = Instance::new(options).ok();
    let index = instance.as_ref().and_then(|instance| {
        let mut all = instance.physical_devices().iter();
        all.position(|it| it.unusable_reason.is_none())
    });
    let (Some(instance), Some(index)) = (instance, index) else {
        skip::no_device();
        return None;
    };
    let device = |()| Device::new(&instance, index, &[], Defects::empty()).unwrap();
    let devices = [(); COUNT].map(device);
    let user_data = UserData(std::ptr::null_mut());
    let context = Context::new(devices.to_vec(), Vec::new(), None, user_data);
    Some(devices.map(|device| {
        let vulkan = device.vulkan().unwrap();
        Queue::new(&context, &device, vulkan, 0, Priority::Medium, None).unwrap()
    }))
}

/// Enqueues a command that does nothing.
pub fn marker(queue: &Arc<Queue>, wait_list: &[Arc<Event>]) -> Arc<Event> {
    let waits = Waits::on(wait_list);
    queue
        .enqueue(
            CL_COMMAND_MARKER,
            Command::NOTHING,
            waits,
            Ordering::default(),
        )
        .unwrap()
}

/// A program built for the queue's device; `None` where the machine has no clang.
pub fn program(queue: &Queue, source: &str) -> Option<Arc<Program>> {
    let mut text = program::source::Source::default();
    text.push(source.as_bytes()).unwrap();
    let program = Program::new(queue.context(), program::Origin::Source(text));
    let options = "-cl-std=CL3.0";
    let parsed = BuildOptions::parse(options).unwrap();
    let built = build::build(&program, vec![0], options, parsed, build::Notify::default());
    if let Err(error) = built {
        skip::lacks(&format!("no clang ({error})"));
        return None;
    }
    Some(program)
}
