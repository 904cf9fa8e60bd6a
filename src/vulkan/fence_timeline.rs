//! A timeline of fences, one for each submission: what stands in for a timeline semaphore on a device without them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ash::vk;

use super::device::Device;
use super::error::Error;

/// A `VkFence` of one submission.
pub(super) struct Fence {
    pub(super) handle: vk::Fence,
    device: Arc<Device>,
}

/// Values that submissions reach, in the order in which they were submitted.
#[derive(Default)]
pub(super) struct FenceTimeline {
    state: Mutex<State>,
    /// A submission was made, or the host raised the value.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    reached: u64,
    pending: VecDeque<(u64, Arc<Fence>)>,
}

impl Fence {
    /// # Errors
    /// Memory ran out.
    pub(super) fn new(device: &Arc<Device>) -> Result<Self, Error> {
        let create = vk::FenceCreateInfo::default();
        // SAFETY: a live device.
        let handle = unsafe { device.raw.create_fence(&create, None) }
            .map_err(Error::of("vkCreateFence"))?;
        Ok(Self {
            handle,
            device: Arc::clone(device),
        })
    }

    /// Whether it is signalled within `timeout_ns`.
    fn wait(&self, timeout_ns: u64) -> Result<bool, Error> {
        // SAFETY: a live fence.
        match unsafe { (self.device.raw).wait_for_fences(&[self.handle], true, timeout_ns) } {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(result) => {
                let error = Error::from_vk("vkWaitForFences", result);
                Err(self.device.note(error))
            }
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // SAFETY: never submitted, or signalled, or its timeline's owner waited for all submissions.
        unsafe { self.device.raw.destroy_fence(self.handle, None) };
    }
}

impl FenceTimeline {
    /// Adds a submission that reaches `value`, above those before it.
    pub fn add(&self, value: u64, fence: Fence) {
        self.lock().pending.push_back((value, Arc::new(fence)));
        self.changed.notify_all();
    }

    /// The value reached so far. Does not block.
    ///
    /// # Errors
    /// [`Error::DeviceLost`]
    pub fn value(&self) -> Result<u64, Error> {
        let mut state = self.lock();
        while let Some((value, fence)) = state.pending.front() {
            if !fence.wait(0)? {
                break;
            }
            state.reached = state.reached.max(*value);
            state.pending.pop_front();
        }
        Ok(state.reached)
    }

    /// Blocks until `value` is reached, at most `timeout`; whether it was reached.
    ///
    /// # Errors
    /// [`Error::DeviceLost`]
    pub fn wait(&self, value: u64, timeout: Duration) -> Result<bool, Error> {
        // A time too far off is none.
        let end = Instant::now().checked_add(timeout);
        loop {
            if self.value()? >= value {
                return Ok(true);
            }
            let left = end.map_or(Duration::MAX, |end| {
                end.saturating_duration_since(Instant::now())
            });
            let state = self.lock();
            let submitted = state.pending.iter().find(|(reached, _)| *reached >= value);
            let fence = submitted.map(|(_, fence)| Arc::clone(fence));
            let is_over = match fence {
                Some(fence) => {
                    drop(state);
                    let left_ns = u64::try_from(left.as_nanos()).unwrap_or(u64::MAX);
                    !fence.wait(left_ns)?
                }
                None if state.reached >= value => false,
                None => {
                    // Some systems take no longer time; the loop comes back.
                    let left = left.min(Duration::from_secs(1 << 20));
                    let waited = self.changed.wait_timeout(state, left);
                    let (_state, waited) = waited.unwrap_or_else(PoisonError::into_inner);
                    waited.timed_out()
                }
            };
            if is_over {
                return Ok(self.value()? >= value);
            }
        }
    }

    /// Raises the value from the host.
    pub fn signal(&self, value: u64) {
        let mut state = self.lock();
        state.reached = state.reached.max(value);
        drop(state);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_device;
    use super::*;

    #[test]
    fn the_host_raises_it() {
        let timeline = FenceTimeline::default();
        assert!(!timeline.wait(1, Duration::from_millis(1)).unwrap());
        std::thread::scope(|scope| {
            scope.spawn(|| timeline.signal(2));
            assert!(timeline.wait(1, Duration::MAX).unwrap());
        });
        timeline.signal(1);
        assert_eq!(timeline.value(), Ok(2));
    }

    #[test]
    fn submissions_raise_it_in_order() {
        let Some(device) = test_device::get() else {
            return;
        };
        let timeline = FenceTimeline::default();
        for value in 1..=3 {
            let fence = Fence::new(&device).unwrap();
            let queue = device.queue(0);
            // SAFETY: the lock on the queue is held; the fence is new.
            unsafe { device.raw.queue_submit(*queue, &[], fence.handle) }.unwrap();
            drop(queue);
            timeline.add(value, fence);
        }
        assert!(timeline.wait(2, Duration::from_secs(20)).unwrap());
        assert!(!timeline.wait(4, Duration::from_millis(1)).unwrap());
        assert!(timeline.wait(3, Duration::from_secs(20)).unwrap());
        assert_eq!(timeline.value(), Ok(3));
        assert!(timeline.lock().pending.is_empty());
    }
}
