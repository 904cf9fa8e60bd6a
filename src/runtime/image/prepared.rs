//! Textures, from the submission that makes them ready to be read.
//!
//! A new texture needs one transition of its layout. It is submitted where the texture is first used, and nobody
//! waits for it there: whatever that `VkQueue` is given later comes after it. Commands of another `VkQueue` do not, nor
//! does what is recorded once to run anywhere: for those it must be done, which it mostly is. Then the transition costs
//! one look at a flag.

use crate::runtime::object::error::Result;
use crate::vulkan::{Device, Recorder, Texture, Timeline};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What [`Transition::timeline`] reaches.
const DONE: u64 = 1;

/// A texture whose transition has been submitted.
pub struct PreparedTexture {
    texture: Texture,
    is_done: AtomicBool,
    /// Until it is known to be done.
    transition: Mutex<Option<Transition>>,
}

struct Transition {
    timeline: Timeline,
    vk_queue: usize,
    /// Kept until the device is done with it.
    _recorder: Recorder,
}

impl PreparedTexture {
    /// Submits the transition to `VkQueue` number `vk_queue`.
    ///
    /// # Errors
    /// The driver has no memory for it, or the device was lost.
    pub fn new(device: &Arc<Device>, texture: Texture, vk_queue: usize) -> Result<Self> {
        let timeline = Timeline::new(device)?;
        let mut recorder = Recorder::new(device)?;
        recorder.begin()?;
        recorder.prepare_texture(&texture);
        recorder.end_unseen()?;
        device.submit(vk_queue, &[&recorder], &timeline, DONE)?;
        Ok(Self {
            texture,
            is_done: AtomicBool::new(false),
            transition: Mutex::new(Some(Transition {
                timeline,
                vk_queue,
                _recorder: recorder,
            })),
        })
    }

    /// Its index in the array of descriptors.
    pub fn index(&self) -> u32 {
        self.texture.index()
    }

    /// Has what is submitted to a `VkQueue` from now on come after the transition. Blocks only where that is another
    /// one, and the transition not yet done.
    ///
    /// # Errors
    /// The device was lost.
    pub fn precede(&self, vk_queue: usize) -> Result<()> {
        self.await_unless(|transition| transition.vk_queue == vk_queue)
    }

    /// Blocks until the texture is ready, wherever it is used.
    ///
    /// # Errors
    /// The device was lost.
    pub fn finish(&self) -> Result<()> {
        self.await_unless(|_| false)
    }

    fn await_unless(&self, comes_first: impl FnOnce(&Transition) -> bool) -> Result<()> {
        if self.is_done.load(Ordering::Acquire) {
            return Ok(());
        }
        let lock = self.transition.lock();
        let mut lock = lock.unwrap_or_else(PoisonError::into_inner);
        if let Some(transition) = &*lock {
            let timeline = &transition.timeline;
            if timeline.value()? < DONE {
                if comes_first(transition) {
                    return Ok(());
                }
                while !timeline.wait(DONE, Duration::from_secs(2))? {}
            }
            *lock = None;
        }
        self.is_done.store(true, Ordering::Release);
        Ok(())
    }
}

impl Drop for PreparedTexture {
    fn drop(&mut self) {
        // Of a lost device nothing runs any more.
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vulkan::textures::TexelNumbers;
    use crate::vulkan::{MemoryKind, TextureDescription, test_device};

    #[test]
    fn a_transition_is_awaited_elsewhere_only() {
        let Some(device) = test_device::get() else {
            return;
        };
        let description = TextureDescription {
            offset_bytes: 0,
            width: 64,
            height: 4,
            row_pitch_bytes: 256,
            channels: 4,
            channel_bits: 8,
            numbers: TexelNumbers::Unorm,
            bgra: false,
        };
        let buffer = device.create_buffer(1 << 12, MemoryKind::Texels).unwrap();
        let Some(texture) = device.create_texture(&buffer, &description).unwrap() else {
            return;
        };
        let vk_queue = device.spare_queue();
        let texture = PreparedTexture::new(&device, texture, vk_queue).unwrap();
        texture.precede(vk_queue).unwrap();
        texture.precede(vk_queue + 1).unwrap();
        assert!(texture.is_done.load(Ordering::Acquire));
        assert!(texture.transition.lock().unwrap().is_none());
        texture.finish().unwrap();
    }
}
