//! The submission of a queue's open batch.

use super::Queue;
use super::batch::Batch;
use super::completion::die_from;
use super::state::State;
use crate::runtime::object::error::Result;
use crate::vulkan::SemaphoreWait;
use crate::vulkan::timestamps::host_now_ns;

/// Hands the open batch to the device.
pub(super) fn submit_open(queue: &Queue, state: &mut State) {
    let Some(mut batch) = state.recording.take() else {
        return;
    };
    let progress = &queue.progress;
    // Nobody may ask for the times of others.
    batch.submitted_ns = if batch.is_timed { host_now_ns() } else { 0 };
    let result = batch.close().and_then(|()| submit(queue, &batch));
    if let Err(error) = result {
        log::error!("a submission failed: {error}");
        give_up(queue, batch.value);
    }
    if batch.is_timed || queue.completion_thread.is_watched() {
        for entry in &batch.entries {
            // Sent off while nobody can complete the batch yet: "submitted" is told before "complete".
            entry.event.submitted(batch.submitted_ns).send_callbacks();
        }
    }
    progress.note_submission(batch.value);
    state.in_flight.push(batch);
    queue.completion_thread.note_work(state);
}

fn submit(queue: &Queue, batch: &Batch) -> Result<()> {
    let waits = batch.waits.iter().map(|(queue, value)| SemaphoreWait {
        timeline: queue.progress.timeline(),
        value: *value,
    });
    let recorders = batch.recorders();
    let (vk_queue, value) = (queue.device_queue.vk_queue(), batch.value);
    let [before, after] = &batch.shared;
    let shared = [before.as_slice(), after.as_slice()];
    let timeline = queue.progress.timeline();
    (queue.vulkan).submit_sharing(vk_queue, recorders, waits, timeline, value, shared)?;
    Ok(())
}

/// Fails the queue from the batch of time `value` on, which was not submitted. What other queues have submitted must not
/// wait for it for ever; but the batches before it raise the timeline too, and it may only rise.
fn give_up(queue: &Queue, value: u64) {
    let progress = &queue.progress;
    progress.failure().break_from(value);
    let before = progress.wait_asleep(progress.submitted());
    if let Err(error) = before.and_then(|()| progress.timeline().signal(value)) {
        log::error!("its timeline could not be raised: {error}");
        die_from(queue, value);
    }
}

/// Submits what is recorded, if it holds the command of time `value`.
pub(in crate::runtime) fn flush_to(queue: &Queue, value: u64) {
    if !queue.progress.is_submitted(value) {
        queue.flush();
    }
}
