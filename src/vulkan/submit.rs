//! Timelines and submission.

use std::sync::Arc;
use std::time::Duration;

use ash::vk;
use smallvec::{SmallVec, smallvec};

use super::device::Device;
use super::error::Error;
use super::fence_timeline::{Fence, FenceTimeline};
use super::recorder::Recorder;
use super::semaphore::BinarySemaphore;
use super::used_timeline::UsedTimeline;

/// A timeline, from value 0 upward: a semaphore, or fences on a device without timeline semaphores.
///
/// Its `VkSemaphore` comes from the device's used ones and goes back to them, to be destroyed with the device:
/// lavapipe's submission thread still touches a semaphore that a batch waited for after the host has seen the
/// batch done (Mesa 22.3, `vk_queue_submit_cleanup`), so destroying it then, though right, ends in a crash.
pub struct Timeline {
    form: Form,
    device: Arc<Device>,
}

enum Form {
    Semaphore {
        handle: vk::Semaphore,
        /// The semaphore's value that is 0 here.
        base: u64,
    },
    Fences(FenceTimeline),
}

/// Work may begin when `timeline` has reached `value`.
pub struct SemaphoreWait<'a> {
    pub timeline: &'a Timeline,
    pub value: u64,
}

impl Timeline {
    pub fn new(device: &Arc<Device>) -> Result<Self, Error> {
        let of = |form| Self {
            form,
            device: Arc::clone(device),
        };
        if !device.info().features.timeline_semaphore {
            return Ok(of(Form::Fences(FenceTimeline::default())));
        }
        if let Some(used) = device.used_timelines().pop() {
            let (handle, base) = (used.handle, used.value);
            return Ok(of(Form::Semaphore { handle, base }));
        }
        let mut kind = vk::SemaphoreTypeCreateInfo::default()
            .semaphore_type(vk::SemaphoreType::TIMELINE)
            .initial_value(0);
        let create = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: a live device with timelineSemaphore enabled.
        let handle = unsafe { device.raw.create_semaphore(&create, None) }
            .map_err(Error::of("vkCreateSemaphore"))?;
        Ok(of(Form::Semaphore { handle, base: 0 }))
    }

    /// The value reached so far. Does not block.
    pub fn value(&self) -> Result<u64, Error> {
        let (handle, base) = match &self.form {
            Form::Semaphore { handle, base } => (*handle, base),
            Form::Fences(_) if self.device.is_lost() => return Err(Error::DeviceLost),
            Form::Fences(fences) => return fences.value(),
        };
        // SAFETY: a live timeline semaphore.
        let value = unsafe { self.device.raw.get_semaphore_counter_value(handle) };
        let value = value.map_err(|result| {
            let error = Error::from_vk("vkGetSemaphoreCounterValue", result);
            self.device.note(error)
        })?;
        // Drivers may let a lost device's semaphores read as the largest value.
        if value == u64::MAX || self.device.is_lost() {
            return Err(self.device.note(Error::DeviceLost));
        }
        Ok(value - base)
    }

    /// Blocks until `value` is reached, at most `timeout`; whether it was reached.
    pub fn wait(&self, value: u64, timeout: Duration) -> Result<bool, Error> {
        if self.device.is_lost() {
            return Err(Error::DeviceLost);
        }
        let (handle, base) = match &self.form {
            Form::Semaphore { handle, base } => (*handle, base),
            Form::Fences(fences) => return fences.wait(value, timeout),
        };
        let semaphores = [handle];
        let values = [base + value];
        let wait = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        let timeout_ns = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: a live timeline semaphore.
        match unsafe { self.device.raw.wait_semaphores(&wait, timeout_ns) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => Err(self.device.note(Error::from_vk("vkWaitSemaphores", result))),
        }
    }

    /// Raises the value from the host, when a submission that was to do it failed.
    pub fn signal(&self, value: u64) -> Result<(), Error> {
        let (handle, base) = match &self.form {
            Form::Semaphore { handle, base } => (*handle, base),
            Form::Fences(fences) => {
                fences.signal(value);
                return Ok(());
            }
        };
        let signal = vk::SemaphoreSignalInfo::default()
            .semaphore(handle)
            .value(base + value);
        // SAFETY: a live timeline semaphore; the caller's word that `value` is above its own.
        unsafe { self.device.raw.signal_semaphore(&signal) }.map_err(Error::of("vkSignalSemaphore"))
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        let Form::Semaphore { handle, .. } = self.form else {
            return;
        };
        // The owner waited for every submission that names it, so this is its last value.
        // SAFETY: a live timeline semaphore.
        match unsafe { self.device.raw.get_semaphore_counter_value(handle) } {
            Ok(value) if value != u64::MAX => {
                let used = UsedTimeline { handle, value };
                self.device.used_timelines().push(used);
            }
            // A lost device: nothing waits any more.
            // SAFETY: the owner waited for every submission that names it.
            _ => unsafe { self.device.raw.destroy_semaphore(handle, None) },
        }
    }
}

impl Device {
    /// Submits `recorders`, one after the other, to `VkQueue` number `queue`; when all are done `signal` is
    /// raised to `value`. What orders the commands of one recorder after those of another is recorded in
    /// them.
    pub fn submit(
        &self,
        queue: usize,
        recorders: &[&Recorder],
        signal: &Timeline,
        value: u64,
    ) -> Result<(), Error> {
        let recorders = recorders.iter().copied();
        self.submit_sharing(queue, recorders, [], signal, value, [&[], &[]])
    }

    /// Submits `recorders` as [`Device::submit`] does, with semaphores to wait for and to signal. The first recorder
    /// begins when all `waits` are reached (each must already be submitted, or a single `VkQueue` would wait for
    /// itself), and after the first of the `shared` semaphores; the second of them are signalled at the end.
    pub fn submit_sharing<'a>(
        &self,
        queue: usize,
        recorders: impl IntoIterator<Item = &'a Recorder>,
        waits: impl IntoIterator<Item = SemaphoreWait<'a>>,
        signal: &Timeline,
        value: u64,
        shared: [&[Arc<BinarySemaphore>]; 2],
    ) -> Result<(), Error> {
        if self.is_lost() {
            return Err(Error::DeviceLost);
        }
        // Filled where they lie: to collect them moves hundreds of bytes for every submission.
        let mut begin: SmallVec<[vk::Semaphore; 4]> = SmallVec::new();
        let mut begin_values: SmallVec<[u64; 4]> = SmallVec::new();
        for wait in waits {
            match &wait.timeline.form {
                Form::Semaphore { handle, base } => {
                    begin.push(*handle);
                    begin_values.push(base + wait.value);
                }
                // The host waits in place of the device, for what is submitted.
                Form::Fences(fences) => {
                    fences.wait(wait.value, Duration::MAX)?;
                }
            }
        }
        let mut end: SmallVec<[vk::Semaphore; 4]> = SmallVec::new();
        let mut end_values: SmallVec<[u64; 4]> = SmallVec::new();
        let fence = match &signal.form {
            Form::Semaphore { handle, base } => {
                end.push(*handle);
                end_values.push(base + value);
                None
            }
            Form::Fences(fences) => Some((fences, Fence::new(&signal.device)?)),
        };
        for (semaphores, values, shared) in [
            (&mut begin, &mut begin_values, shared[0]),
            (&mut end, &mut end_values, shared[1]),
        ] {
            semaphores.extend(shared.iter().map(|semaphore| semaphore.handle));
            // Binary ones have no values: what stands there is not looked at.
            values.resize(semaphores.len(), 0);
        }
        let stages: SmallVec<[vk::PipelineStageFlags; 4]> =
            smallvec![vk::PipelineStageFlags::ALL_COMMANDS; begin.len()];
        // A busy device gets many command buffers of the application at once, each with a barrier before it.
        let mut buffers: SmallVec<[vk::CommandBuffer; 128]> = SmallVec::new();
        buffers.extend(recorders.into_iter().map(|recorder| recorder.handle));
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&begin_values)
            .signal_semaphore_values(&end_values);
        let mut submit = vk::SubmitInfo::default()
            .wait_semaphores(&begin)
            .wait_dst_stage_mask(&stages)
            .command_buffers(&buffers)
            .signal_semaphores(&end);
        if fence.is_none() {
            submit = submit.push_next(&mut values);
        }
        let submits = [submit];
        let done = (fence.as_ref()).map_or(vk::Fence::null(), |(_, fence)| fence.handle);
        let queue = self.queue(queue);
        let _code = self.run_code();
        // SAFETY: the lock on the queue is held; the recorders have ended; every handle is alive and stays
        // so until the owner has seen `value`.
        let result = unsafe { self.raw.queue_submit(*queue, &submits, done) };
        drop(queue);
        result.map_err(|result| self.note(Error::from_vk("vkQueueSubmit", result)))?;
        if let Some((fences, fence)) = fence {
            fences.add(value, fence);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CopyRegion, MemoryKind, test_device};
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_fill_and_a_copy_arrive_in_order() {
        let Some(device) = test_device::get() else {
            return;
        };
        let source = device.create_buffer(64, MemoryKind::Device).unwrap();
        let target = device.create_buffer(64, MemoryKind::Readback).unwrap();
        let timeline = Timeline::new(&device).unwrap();
        let mut recorder = Recorder::new(&device).unwrap();
        for round in 1..=3_u64 {
            recorder.begin().unwrap();
            recorder.full_barrier();
            recorder.fill(&source, 0, 64, round as u32);
            recorder.full_barrier();
            recorder.copy(
                &source,
                &target,
                [CopyRegion {
                    source_offset_bytes: 4,
                    target_offset_bytes: 1,
                    size_bytes: 8,
                }],
            );
            recorder.end().unwrap();
            device
                .submit(device.spare_queue(), &[&recorder], &timeline, round)
                .unwrap();
            assert!(timeline.wait(round, LONG).unwrap());
            assert_eq!(timeline.value().unwrap(), round);
            // SAFETY: mapped, 64 bytes, and the device is done.
            let word = unsafe {
                target
                    .mapped()
                    .unwrap()
                    .as_ptr()
                    .add(1)
                    .cast::<u32>()
                    .read_unaligned()
            };
            assert_eq!(u64::from(word), round);
        }
    }

    #[test]
    fn a_wait_times_out() {
        let Some(device) = test_device::get() else {
            return;
        };
        let timeline = Timeline::new(&device).unwrap();
        assert!(!timeline.wait(1, Duration::from_millis(1)).unwrap());
    }
}
