//! Device memory behind memory objects, shared with the commands that use it.

pub mod allocate;
pub mod iterations_word;
pub mod pinned;
pub mod printf_buffers;
pub mod staging;
pub mod upload;

use super::image::prepared::PreparedTexture;
use super::image::texture;
use super::object::error::Result;
use crate::vulkan::{self, Buffer, MemoryKind, TextureDescription};
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One buffer on one device. Commands in flight hold it; the last share frees it.
pub struct Allocation {
    /// `ManuallyDrop`: what `on_release` holds must run after the memory is free.
    buffer: ManuallyDrop<Buffer>,
    /// Commands recorded and not yet known to be done.
    pending: AtomicU32,
    /// How often commands other than writes of the host have changed it, and which of these changes the host is known
    /// to see: see [`Allocation::window`]. Counted only where there is a window.
    changes: AtomicU64,
    shown: AtomicU64,
    /// The application knows its address: commands may use it without naming it.
    addressed: AtomicBool,
    /// Uses counted elsewhere, and whether there are any.
    shared: Mutex<Vec<Weak<Uses>>>,
    is_shared: AtomicBool,
    on_release: Mutex<Vec<Box<dyn FnOnce() + Send>>>,
    /// Made over the memory, or known not to be possible.
    textures: Mutex<Vec<(TextureDescription, Option<Arc<PreparedTexture>>)>>,
}

/// Counts the uses of many allocations at once: those of a command buffer, however many it names.
#[derive(Debug, Default)]
pub struct Uses(AtomicU32);

impl Uses {
    pub fn begin(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub fn end(&self) {
        self.0.fetch_sub(1, Ordering::Release);
    }

    pub fn is_idle(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }
}

/// How a command uses an allocation.
#[derive(Clone)]
pub struct Access {
    pub allocation: Arc<Allocation>,
    /// Which bytes; [`super::command::hazard::ALL_BYTES`] where it can't be told.
    pub bytes: Range<u64>,
    pub write: bool,
}

impl Allocation {
    /// Allocates `size_bytes` (not 0).
    pub fn new(
        device: &Arc<vulkan::Device>,
        size_bytes: u64,
        kind: MemoryKind,
    ) -> Result<Arc<Self>> {
        Ok(Self::from_buffer(device.create_buffer(size_bytes, kind)?))
    }

    pub fn from_buffer(buffer: Buffer) -> Arc<Self> {
        Arc::new(Self {
            buffer: ManuallyDrop::new(buffer),
            pending: AtomicU32::new(0),
            changes: AtomicU64::new(0),
            shown: AtomicU64::new(0),
            addressed: AtomicBool::new(false),
            shared: Mutex::default(),
            is_shared: AtomicBool::new(false),
            on_release: Mutex::default(),
            textures: Mutex::default(),
        })
    }

    /// Memory whose address the application is given.
    pub fn from_shared_buffer(buffer: Buffer) -> Arc<Self> {
        let allocation = Self::from_buffer(buffer);
        allocation.give_address();
        allocation
    }

    /// The application is given the address: from here on commands may use the memory without naming it.
    pub fn give_address(&self) {
        self.addressed.store(true, Ordering::Release);
    }

    /// Whether commands may use it without naming it.
    pub fn is_addressed(&self) -> bool {
        self.addressed.load(Ordering::Acquire)
    }

    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The device address of the first byte.
    pub fn device_address(&self) -> u64 {
        self.buffer.device_address()
    }

    /// Where the host sees the first byte, if it does.
    pub fn mapped(&self) -> Option<NonNull<u8>> {
        self.buffer.mapped()
    }

    /// Where the host may touch the first byte of idle memory though it is not [`Allocation::mapped`]
    /// ([`Buffer::window`]). Not while a kernel or a copy has written it that the host is not known to come after.
    pub fn window(&self) -> Option<NonNull<u8>> {
        let is_shown = self.shown.load(Ordering::Acquire) == self.changes();
        self.window_if_shown().filter(|_| is_shown)
    }

    /// Where the host may touch the first byte once all changes are shown to it ([`Allocation::window`]).
    pub(super) fn window_if_shown(&self) -> Option<NonNull<u8>> {
        let is_named = !self.is_shared.load(Ordering::Acquire) && !self.is_addressed();
        self.buffer.window().filter(|_| is_named)
    }

    /// A command that changes it has been recorded, and counts among its uses.
    pub(super) fn change_by_device(&self) {
        if self.buffer.window().is_some() {
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Commands that have changed it, where it has a window.
    pub(super) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The host sees so many of its changes.
    pub(super) fn show(&self, changes: u64) {
        self.shown.fetch_max(changes, Ordering::AcqRel);
    }

    /// Whether so many commands under way use it.
    pub(super) fn is_used(&self, times: usize) -> bool {
        self.pending.load(Ordering::Acquire) as usize == times
    }

    pub fn size_bytes(&self) -> u64 {
        self.buffer.size_bytes()
    }

    /// Whether no command that uses it is under way: then the host may touch it.
    pub fn is_idle(&self) -> bool {
        self.pending.load(Ordering::Acquire) == 0
            && (!self.is_shared.load(Ordering::Acquire) || self.shared_are_idle())
    }

    fn shared_are_idle(&self) -> bool {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut idle = true;
        shared.retain(|uses| match uses.upgrade() {
            Some(uses) => {
                idle &= uses.is_idle();
                true
            }
            None => false,
        });
        idle
    }

    /// From now on it is in use while `uses` counts.
    pub(super) fn count_with(&self, uses: &Arc<Uses>) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared
            .iter()
            .any(|known| known.as_ptr() == Arc::as_ptr(uses))
        {
            return;
        }
        shared.retain(|known| known.strong_count() > 0);
        shared.push(Arc::downgrade(uses));
        self.is_shared.store(true, Ordering::Release);
    }

    /// Whether it is in use while `uses` counts.
    pub(super) fn is_counted_with(&self, uses: &Arc<Uses>) -> bool {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        shared.iter().any(|it| it.as_ptr() == Arc::as_ptr(uses))
    }

    /// A command that uses it has been recorded.
    pub(super) fn begin_use(&self) {
        self.pending.fetch_add(1, Ordering::Relaxed);
    }

    /// That command is done.
    pub(super) fn end_use(&self) {
        self.pending.fetch_sub(1, Ordering::Release);
    }

    /// The texture over a part of the memory, made at its first use; `None` where the device makes no such one. It is
    /// ready for what `VkQueue` number `vk_queue` is given from now on.
    pub fn texture(
        &self,
        description: &TextureDescription,
        vk_queue: usize,
    ) -> Option<Arc<PreparedTexture>> {
        let mut textures = self.textures.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = textures.iter().find(|(known, _)| known == description) {
            let known = known.clone();
            drop(textures);
            return known.filter(|texture| texture.precede(vk_queue).is_ok());
        }
        let made = self.make_texture(description, vk_queue);
        let made = made.unwrap_or_else(|error| {
            log::debug!("an image is read without a texture unit: {error}");
            None
        });
        textures.push((*description, made.clone()));
        made
    }

    fn make_texture(
        &self,
        description: &TextureDescription,
        vk_queue: usize,
    ) -> Result<Option<Arc<PreparedTexture>>> {
        let device = self.buffer.device();
        device.set_samplers(&texture::samplers())?;
        let Some(texture) = device.create_texture(&self.buffer, description)? else {
            return Ok(None);
        };
        let texture = PreparedTexture::new(device, texture, vk_queue)?;
        Ok(Some(Arc::new(texture)))
    }

    /// Runs `action` once the memory has been freed.
    pub fn on_release(&self, action: Box<dyn FnOnce() + Send>) {
        self.on_release
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(action);
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.textures
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        // SAFETY: dropped here only; nothing below touches it.
        unsafe { ManuallyDrop::drop(&mut self.buffer) };
        let actions = std::mem::take(
            self.on_release
                .get_mut()
                .unwrap_or_else(PoisonError::into_inner),
        );
        for action in actions {
            action();
        }
    }
}
