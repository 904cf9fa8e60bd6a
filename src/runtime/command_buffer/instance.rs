//! A recorded `VkCommandBuffer` with the memory that its commands read, and its executions.

use super::graph::Level;
use crate::runtime::allocation::{Allocation, Uses};
use crate::runtime::batch::{copy_region, repeat, word_of};
use crate::runtime::command::{Arguments, Command, Dispatch};
use crate::runtime::staging::Arena;
use crate::runtime::{Error, Result};
use crate::vulkan::{CopyRegion, Device, MemoryKind, Recorder};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Most bytes of a repeated pattern in staging memory.
const PATTERN_BYTES: usize = 64 << 10;

/// A recording. What it holds, it holds until nothing executes it any more.
pub struct Instance {
    recorder: Recorder,
    /// Executions enqueued and not yet known to be done.
    executions: Uses,
    commands: u32,
    _arguments: Arena,
    _held: Vec<Arc<dyn Any + Send + Sync>>,
}

impl Instance {
    /// Records `commands`, given in the order of recording, each with its level: levels in ascending order,
    /// with a barrier between each and the next. The first begins after everything submitted before, and what
    /// is submitted later finds it all done.
    pub fn record<'a>(
        device: &Arc<Device>,
        commands: impl Iterator<Item = (Level, &'a Command)>,
    ) -> Result<Self> {
        let mut ordered: Vec<(Level, &Command)> = commands.collect();
        ordered.sort_by_key(|(level, _)| *level);
        let mut recording = Recording {
            recorder: Recorder::new(device)?,
            arguments: Arena::new(MemoryKind::Upload),
            held: Vec::new(),
            device: Arc::clone(device),
        };
        recording.recorder.begin_reusable()?;
        recording.recorder.full_barrier();
        let mut reached = ordered.first().map_or(0, |(level, _)| *level);
        for (level, command) in &ordered {
            if *level > reached {
                recording.recorder.full_barrier();
                reached = *level;
            }
            recording.command(command)?;
        }
        recording.recorder.full_barrier();
        recording.recorder.end()?;
        Ok(Self {
            recorder: recording.recorder,
            executions: Uses::default(),
            commands: u32::try_from(ordered.len()).unwrap_or(u32::MAX),
            _arguments: recording.arguments,
            _held: recording.held,
        })
    }

    /// Barriers in the `VkCommandBuffer`. Three are always there: first, last, and towards the host.
    pub fn barriers(&self) -> u32 {
        self.recorder.barriers()
    }

    /// Whether no execution is enqueued or under way.
    pub fn is_idle(&self) -> bool {
        self.executions.is_idle()
    }
}

struct Recording {
    recorder: Recorder,
    arguments: Arena,
    held: Vec<Arc<dyn Any + Send + Sync>>,
    device: Arc<Device>,
}

impl Recording {
    fn command(&mut self, command: &Command) -> Result<()> {
        match command {
            Command::Dispatch(dispatch) => self.dispatch(dispatch),
            Command::Copy {
                source,
                target,
                shape,
            } => {
                let regions = shape.runs().map(copy_region);
                self.recorder
                    .copy(source.buffer(), target.buffer(), regions);
                self.hold(source);
                self.hold(target);
                Ok(())
            }
            Command::Fill {
                target,
                offset_bytes,
                size_bytes,
                pattern,
            } => self.fill(target, *offset_bytes, *size_bytes, pattern),
            Command::Nothing => Ok(()),
            _ => Err(Error::out_of_resources(
                "a command that can't be part of a command buffer",
            )),
        }
    }

    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<()> {
        for region in &dispatch.regions {
            match &region.arguments {
                Arguments::PushConstants(bytes) => {
                    self.recorder
                        .dispatch(&region.pipeline, bytes, region.groups);
                }
                Arguments::Block(bytes) => {
                    let size_bytes = bytes.len().max(16) as u64;
                    let piece = self.arguments.take(&self.device, size_bytes)?;
                    // SAFETY: the piece is ours alone and as long as the block.
                    unsafe {
                        std::ptr::copy_nonoverlapping(
                            bytes.as_ptr(),
                            piece.pointer.as_ptr(),
                            bytes.len(),
                        );
                    }
                    let address = piece.device_address().to_le_bytes();
                    self.recorder
                        .dispatch(&region.pipeline, &address, region.groups);
                }
            }
            self.held.push(Arc::clone(&region.pipeline) as _);
        }
        for access in &dispatch.accesses {
            self.hold(&access.allocation);
        }
        self.held.extend(dispatch.keep_alive.iter().map(Arc::clone));
        Ok(())
    }

    fn fill(
        &mut self,
        target: &Arc<Allocation>,
        offset_bytes: u64,
        size_bytes: u64,
        pattern: &[u8],
    ) -> Result<()> {
        self.hold(target);
        if let Some(word) = word_of(pattern)
            && Recorder::can_fill(target.buffer(), offset_bytes, size_bytes)
        {
            self.recorder
                .fill(target.buffer(), offset_bytes, size_bytes, word);
            return Ok(());
        }
        // Copies of a staged run of patterns, as in a batch.
        let whole = (PATTERN_BYTES / pattern.len()) * pattern.len();
        let run_bytes = (size_bytes as usize).min(whole);
        let piece = self.arguments.take(&self.device, run_bytes as u64)?;
        repeat(pattern, piece.pointer, run_bytes);
        let staged_bytes = piece.offset_bytes;
        let regions = (0..size_bytes)
            .step_by(run_bytes)
            .map(|done_bytes| CopyRegion {
                source_offset_bytes: staged_bytes,
                target_offset_bytes: offset_bytes + done_bytes,
                size_bytes: (size_bytes - done_bytes).min(run_bytes as u64),
            });
        self.recorder.copy(piece.buffer, target.buffer(), regions);
        Ok(())
    }

    fn hold(&mut self, allocation: &Arc<Allocation>) {
        self.held.push(Arc::clone(allocation) as _);
    }
}

/// One execution of a command buffer: keeps its recording, and the allocations in use, until it is done.
pub struct Replay {
    instance: Arc<Instance>,
    uses: Arc<Uses>,
    ended: AtomicBool,
}

impl Replay {
    /// `uses` counts for the allocations of the command buffer.
    pub(super) fn new(instance: &Arc<Instance>, uses: &Arc<Uses>) -> Self {
        instance.executions.begin();
        uses.begin();
        Self {
            instance: Arc::clone(instance),
            uses: Arc::clone(uses),
            ended: AtomicBool::new(false),
        }
    }

    pub fn recorder(&self) -> &Recorder {
        &self.instance.recorder
    }

    /// How many commands it holds.
    pub fn weight(&self) -> u32 {
        self.instance.commands
    }

    /// It is done, or will never run. What it holds it holds until it is dropped.
    pub fn end(&self) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            self.instance.executions.end();
            self.uses.end();
        }
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        self.end();
    }
}
