//! The events of commands.

use super::Queue;
use crate::runtime::event::Event;
use crate::vulkan::timestamps::host_now_ns;
use opencl_sys::cl_command_type;
use std::sync::Arc;

/// The event of a command, if somebody needs one.
#[inline]
pub(in crate::runtime) fn event_if(
    queue: &Arc<Queue>,
    wants_event: bool,
    kind: cl_command_type,
) -> Option<Arc<Event>> {
    // Every command is written to the trace.
    (wants_event || queue.trace.is_some()).then(|| new_event(queue, kind))
}

/// The event of a command that the application asks for now.
pub(in crate::runtime) fn new_event(queue: &Arc<Queue>, kind: cl_command_type) -> Arc<Event> {
    let queued_ns = if queue.times_commands() {
        host_now_ns()
    } else {
        0
    };
    Arc::new(event_of(queue, kind, queued_ns))
}

/// The event of a command that the application has asked for at `queued_ns`.
pub(in crate::runtime) fn event_of(
    queue: &Arc<Queue>,
    kind: cl_command_type,
    queued_ns: u64,
) -> Event {
    let source: Arc<Queue> = Arc::clone(queue);
    Event::of_command(queue.context(), source, kind, queued_ns)
}
