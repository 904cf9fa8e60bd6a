//! A device, and two buffers that both it and the host see, for tests of what is recorded.

use super::device::findings::Findings;
use super::device::internal_kernels::InternalKernels;
use super::device::target;
use crate::vulkan::{Buffer, MemoryKind, Recorder, Timeline, test_device};
use std::sync::Arc;
use std::time::Duration;

pub const ROOM_BYTES: usize = 64 << 10;

pub struct Bench {
    pub source: Buffer,
    pub target: Buffer,
    kernels: Arc<InternalKernels>,
    recorder: Recorder,
    timeline: Timeline,
    submissions: u64,
}

impl Bench {
    /// `None` where the machine has no device.
    pub fn new() -> Option<Self> {
        let device = test_device::get()?;
        let buffer = || device.create_buffer(ROOM_BYTES as u64, MemoryKind::Readback);
        Some(Self {
            source: buffer().unwrap(),
            target: buffer().unwrap(),
            kernels: InternalKernels::new(
                &device,
                &target::capabilities(device.info(), &Findings::default()),
            ),
            recorder: Recorder::new(&device).unwrap(),
            timeline: Timeline::new(&device).unwrap(),
            submissions: 0,
        })
    }

    /// Runs what `record` records, which must be something; the target's bytes before and after.
    pub fn run(
        &mut self,
        record: impl FnOnce(&InternalKernels, &Buffer, &mut Recorder) -> bool,
    ) -> [Vec<u8>; 2] {
        let before = vec![0xa5; ROOM_BYTES];
        bytes(&self.target).copy_from_slice(&before);
        self.recorder.begin().unwrap();
        assert!(record(&self.kernels, &self.target, &mut self.recorder));
        self.recorder.end().unwrap();
        self.submissions += 1;
        let (device, value) = (self.kernels.device(), self.submissions);
        device
            .submit(0, &[&self.recorder], &self.timeline, value)
            .unwrap();
        let patience = Duration::from_secs(60);
        assert!(self.timeline.wait(value, patience).unwrap());
        [before, bytes(&self.target).to_vec()]
    }
}

/// The contents of one of the buffers. No command is under way outside of [`Bench::run`].
#[allow(clippy::mut_from_ref)]
pub fn bytes(buffer: &Buffer) -> &mut [u8] {
    let first = buffer.mapped().unwrap().as_ptr();
    // SAFETY: mapped, so long, and used by one thread at a time, which holds no other slice of it.
    unsafe { std::slice::from_raw_parts_mut(first, ROOM_BYTES) }
}
