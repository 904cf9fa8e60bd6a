//! Device timestamps on the host's clock (CLOCK_MONOTONIC, nanoseconds).
//!
//! Where the device can be calibrated, both clocks are read together, again whenever the last reading is
//! old. Where it can't, each finished submission bounds the difference of the clocks: it began no earlier
//! than the host submitted it and ended no later than the host saw it end. The bounds of all submissions
//! together are narrow after a few.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::device::{Calibrated, Device};
use super::error::Error;

/// A pool of timestamp queries.
pub struct TimestampPool {
    pub(super) handle: vk::QueryPool,
    device: Arc<Device>,
    count: u32,
}

impl TimestampPool {
    pub fn new(device: &Arc<Device>, count: u32) -> Result<Self, Error> {
        let create = vk::QueryPoolCreateInfo::default()
            .query_type(vk::QueryType::TIMESTAMP)
            .query_count(count);
        // SAFETY: a live device.
        let handle = unsafe { device.raw.create_query_pool(&create, None) }
            .map_err(Error::of("vkCreateQueryPool"))?;
        let pool = Self {
            handle,
            device: Arc::clone(device),
            count,
        };
        pool.reset_by_host(count);
        Ok(pool)
    }

    /// Whether [`TimestampPool::reset_by_host`] does something. Otherwise the device must make timestamps writable
    /// again, which costs a launch more than all the rest of it.
    pub fn is_reset_by_host(&self) -> bool {
        self.device.info().features.host_query_reset
    }

    /// Makes timestamps `0..count` writable again; the device is done with them.
    pub fn reset_by_host(&self, count: u32) {
        if count > 0 && self.is_reset_by_host() {
            let raw = &self.device.raw;
            // SAFETY: the range is within the pool, nothing under way uses it, and the feature is enabled.
            unsafe { raw.reset_query_pool(self.handle, 0, count.min(self.count)) };
        }
    }

    /// Timestamps that it holds.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Reads the timestamps `0..ticks.len()`, all of them written by work that is done.
    pub fn read(&self, ticks: &mut [u64]) -> Result<(), Error> {
        if ticks.is_empty() {
            return Ok(());
        }
        debug_assert!(ticks.len() <= self.count as usize);
        // SAFETY: the pool is alive, the range is within it, and the results are 64 bits each.
        unsafe {
            self.device.raw.get_query_pool_results(
                self.handle,
                0,
                ticks,
                vk::QueryResultFlags::TYPE_64 | vk::QueryResultFlags::WAIT,
            )
        }
        .map_err(|result| {
            self.device
                .note(Error::from_vk("vkGetQueryPoolResults", result))
        })
    }
}

impl Drop for TimestampPool {
    fn drop(&mut self) {
        // SAFETY: the owner waited for every submission that writes to it.
        unsafe { self.device.raw.destroy_query_pool(self.handle, None) };
    }
}

/// Nanoseconds of CLOCK_MONOTONIC.
pub fn host_now_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock exists on every Linux and the pointer is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl Calibrated {
    /// Both clocks at once, and by how much they may have been read apart, nanoseconds.
    fn read(&self, domains: &[vk::CalibratedTimestampInfoEXT<'_>; 2]) -> Option<(u64, u64, u64)> {
        let (mut times, mut deviation_ns) = ([0_u64; 2], 0_u64);
        // SAFETY: the extension is enabled, both domains were reported, and there is room for two.
        let result = unsafe {
            (self.functions.fp().get_calibrated_timestamps_ext)(
                self.functions.device(),
                domains.len() as u32,
                domains.as_ptr(),
                times.as_mut_ptr(),
                &mut deviation_ns,
            )
        };
        result.result().ok()?;
        Some((times[0], times[1], deviation_ns))
    }
}

/// A calibration older than this is taken anew: clocks drift by microseconds a second.
const CALIBRATION_LIFE_NS: u64 = 20_000_000;

/// Readings of which the best is taken.
const CALIBRATIONS: usize = 3;

/// Maps device ticks to the host's clock.
pub struct Clock {
    device: Arc<Device>,
    ns_per_tick: f64,
    valid_mask: u64,
    state: Mutex<Offset>,
}

/// Host time minus device time, nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Offset {
    low: i128,
    high: i128,
    calibrated_at_ns: u64,
}

impl Offset {
    fn unknown() -> Self {
        Self {
            low: i128::MIN / 4,
            high: i128::MAX / 4,
            calibrated_at_ns: 0,
        }
    }

    /// Takes another pair of bounds in. Bounds that contradict the old ones mean drift: they replace them.
    fn narrow(&mut self, low: i128, high: i128) {
        let (low, high) = (low.min(high), low.max(high));
        let both = (self.low.max(low), self.high.min(high));
        (self.low, self.high) = if both.0 <= both.1 { both } else { (low, high) };
    }

    /// Work is seen to end late more than it is seen to begin early: the low bound is the better one.
    fn best(&self) -> i128 {
        if self.low > i128::MIN / 4 {
            self.low
        } else {
            0
        }
    }
}

impl Clock {
    pub fn new(device: &Arc<Device>) -> Self {
        let bits = device.info().timestamp_valid_bits.min(64);
        let valid_mask = match bits {
            64 => u64::MAX,
            bits => (1_u64 << bits) - 1,
        };
        Self {
            device: Arc::clone(device),
            ns_per_tick: f64::from(device.info().limits.timestamp_period_ns),
            valid_mask,
            state: Mutex::new(Offset::unknown()),
        }
    }

    /// Whether the device writes timestamps at all.
    pub fn has_timestamps(&self) -> bool {
        self.valid_mask != 0
    }

    /// Takes in that work which wrote the ticks `first` to `last` was submitted by the host at
    /// `submitted_ns` and was seen finished at `seen_ns`.
    pub fn observe(&self, first: u64, last: u64, submitted_ns: u64, seen_ns: u64) {
        let mut offset = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(exact) = self.calibrate(&mut offset) {
            offset.low = exact;
            offset.high = exact;
            return;
        }
        if self.device.calibrated.is_none() {
            let low = i128::from(submitted_ns) - self.nanoseconds(first);
            let high = i128::from(seen_ns) - self.nanoseconds(last);
            offset.narrow(low, high);
        }
    }

    /// Host time at which the device's counter stood at `ticks`.
    pub fn host_ns(&self, ticks: u64) -> u64 {
        let offset = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let time = self.nanoseconds(ticks) + offset.best();
        u64::try_from(time.max(0)).unwrap_or(u64::MAX)
    }

    fn nanoseconds(&self, ticks: u64) -> i128 {
        let ticks = ticks & self.valid_mask;
        // Exact for the usual period of 1 even where an f64 would round.
        if self.ns_per_tick == 1.0 {
            return i128::from(ticks);
        }
        (ticks as f64 * self.ns_per_tick) as i128
    }

    /// The difference now, when the device can tell and the last answer is old.
    fn calibrate(&self, offset: &mut Offset) -> Option<i128> {
        let calibrated = self.device.calibrated.as_ref()?;
        let now = host_now_ns();
        if offset.calibrated_at_ns != 0 && now - offset.calibrated_at_ns < CALIBRATION_LIFE_NS {
            return None;
        }
        let domains = [
            vk::CalibratedTimestampInfoEXT::default().time_domain(vk::TimeDomainEXT::DEVICE),
            vk::CalibratedTimestampInfoEXT::default()
                .time_domain(vk::TimeDomainEXT::CLOCK_MONOTONIC),
        ];
        let (device, host, _) = (0..CALIBRATIONS)
            .filter_map(|_| calibrated.read(&domains))
            .min_by_key(|(_, _, deviation_ns)| *deviation_ns)?;
        offset.calibrated_at_ns = now;
        Some(i128::from(host) - self.nanoseconds(device))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::{Recorder, Timeline, test_device};
    use super::*;

    #[test]
    fn bounds_narrow_and_recover_from_drift() {
        let mut offset = Offset::unknown();
        offset.narrow(100, 200);
        offset.narrow(50, 150);
        assert_eq!((offset.low, offset.high), (100, 150));
        offset.narrow(400, 500);
        assert_eq!((offset.low, offset.high), (400, 500));
    }

    #[test]
    fn device_times_lie_between_submission_and_completion() {
        let Some(device) = test_device::get() else {
            return;
        };
        let clock = Clock::new(&device);
        if !clock.has_timestamps() {
            eprintln!("skipped: the device has no timestamps");
            return;
        }
        let pool = TimestampPool::new(&device, 2).unwrap();
        let timeline = Timeline::new(&device).unwrap();
        let mut recorder = Recorder::new(&device).unwrap();
        recorder.begin().unwrap();
        recorder.reset_timestamps(&pool, 2);
        recorder.timestamp(&pool, 0, false);
        recorder.timestamp(&pool, 1, true);
        recorder.end().unwrap();
        let before = host_now_ns();
        device.submit(0, &[&recorder], &timeline, 1).unwrap();
        assert!(timeline.wait(1, Duration::from_secs(20)).unwrap());
        let after = host_now_ns();
        let mut ticks = [0; 2];
        pool.read(&mut ticks).unwrap();
        assert!(ticks[0] <= ticks[1]);
        clock.observe(ticks[0], ticks[1], before, after);
        let (start, end) = (clock.host_ns(ticks[0]), clock.host_ns(ticks[1]));
        // Calibration is as exact as the driver makes it; a millisecond is far outside of that.
        assert!(start + 1_000_000 >= before && end <= after + 1_000_000);
        assert!(start <= end);
    }
}
