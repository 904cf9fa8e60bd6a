//! When the commands of a queue ran: their profiling information, and the trace.

use super::Queue;
use super::batch::Batch;
use crate::runtime::event::Event;
use crate::runtime::host::trace::{CommandTimes, Trace};
use crate::runtime::object::error::Result;
use crate::vulkan::timestamps::host_now_ns;
use smallvec::SmallVec;

/// Start and end of a batch's commands, host nanoseconds.
#[derive(Default)]
pub(super) struct Times {
    host_ns: SmallVec<[u64; 16]>,
    /// For commands without timestamps.
    otherwise: Option<(u64, u64)>,
}

impl Times {
    /// The times of a batch that the device is done with; none of one that has failed, or of which nobody may ask.
    pub fn of(queue: &Queue, batch: &Batch, has_failed: bool) -> Self {
        if has_failed || !batch.is_timed {
            return Self::default();
        }
        let seen_ns = host_now_ns();
        let mut times = Self {
            host_ns: SmallVec::new(),
            otherwise: Some((batch.submitted_ns, seen_ns)),
        };
        let clock = &queue.clock;
        let pool = batch.timestamps.as_ref();
        let Some(pool) = pool.filter(|_| clock.has_timestamps()) else {
            return times;
        };
        let mut ticks: SmallVec<[u64; 16]> = smallvec::smallvec![0; batch.stamps as usize];
        if let Err(error) = pool.read(&mut ticks) {
            log::warn!("timestamps can't be read: {error}");
            return times;
        }
        if let (Some(first), Some(last)) = (ticks.first(), ticks.last()) {
            clock.observe(*first, *last, batch.submitted_ns, seen_ns);
        }
        let last_ns = seen_ns.max(batch.submitted_ns);
        let host_ns = ticks.iter().map(|tick| clock.host_ns(*tick));
        times.host_ns = host_ns
            .map(|time_ns| time_ns.clamp(batch.submitted_ns, last_ns))
            .collect();
        times
    }

    /// Start and end of the command whose first timestamp is number `timestamp`.
    pub fn at(&self, timestamp: Option<u32>) -> Option<(u64, u64)> {
        let first = timestamp.map(|first| first as usize);
        let pair = first.and_then(|first| {
            let start = *self.host_ns.get(first)?;
            let end = *self.host_ns.get(first + 1)?;
            Some((start, end.max(start)))
        });
        pair.or(self.otherwise)
    }
}

/// Where the commands of a queue are written down.
#[derive(Clone, Copy)]
pub(super) struct QueueTrace {
    trace: &'static Trace,
    /// The queue's number there.
    queue: u64,
}

impl QueueTrace {
    /// A new queue's place in the trace, if there is one.
    pub fn begin() -> Option<Self> {
        let trace = crate::runtime::host::trace::get()?;
        Some(Self {
            trace,
            queue: trace.queue(),
        })
    }

    /// Writes the commands of `batch`, which are done.
    pub fn write_batch(self, batch: &Batch) {
        for entry in &batch.entries {
            self.write(&entry.event, entry.recorded_ns, batch.submitted_ns);
        }
        self.trace.flush();
    }

    /// Writes a command that the host has carried out: it was recorded and submitted when it began.
    pub fn write_host_command(self, event: &Event, start_ns: u64) {
        self.write(event, start_ns, start_ns);
        self.trace.flush();
    }

    fn write(self, event: &Event, recorded_ns: u64, submit_ns: u64) {
        let Some(profile) = event.profile() else {
            return;
        };
        let times = CommandTimes {
            queued_ns: profile.queued_ns,
            recorded_ns,
            submit_ns,
            start_ns: profile.start_ns,
            end_ns: profile.end_ns,
        };
        self.trace.command(self.queue, event.kind(), times);
    }
}

/// Writes a command of `queue` that the host has carried out since `start_ns` to the trace, if there is one.
pub(super) fn trace_host_command(queue: &Queue, event: &Event, start_ns: u64) {
    if let Some(trace) = queue.trace {
        trace.write_host_command(event, start_ns);
    }
}

/// Records a command buffer whose first queue is `queue`, and writes that to the trace, if there is one.
///
/// # Errors
/// Those of `record`.
pub(in crate::runtime) fn trace_recording<T>(
    queue: &Queue,
    record: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let begin_ns = queue.trace.map_or(0, |_| host_now_ns());
    let recorded = record()?;
    if let Some(QueueTrace { trace, queue }) = queue.trace {
        trace.recording(queue, begin_ns, host_now_ns());
    }
    Ok(recorded)
}
