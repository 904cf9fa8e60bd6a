//! The work that everybody does: N small kernels over a few buffers.

use crate::support::Result;

/// Adds to each element; what is left in the end tells how often every kernel ran.
pub const SOURCE: &str = "kernel void add(global uint *p, uint v) { p[get_global_id(0)] += v; }";
pub const KERNEL: &str = "add";
pub const ITEMS: usize = 64;
pub const BUFFERS: usize = 16;
pub const BUFFER_BYTES: usize = ITEMS * 4;

/// Which kernels wait for which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Graph {
    /// Those of one buffer, one after the other: the order of an in-order queue.
    InOrder,
    /// None; those of one buffer race.
    Independent,
    /// Each for the one before.
    Chain,
}

impl Graph {
    /// Whether a barrier must lie before kernel number `index`.
    pub fn needs_barrier(self, index: usize) -> bool {
        match self {
            Self::InOrder => index > 0 && index.is_multiple_of(BUFFERS),
            Self::Independent => false,
            Self::Chain => index > 0,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::InOrder => "in order",
            Self::Independent => "independent",
            Self::Chain => "a chain",
        }
    }

    /// Compares a buffer's contents with what they must be after so many `runs` of `commands` kernels.
    ///
    /// # Errors
    /// They differ, where the kernels do not race.
    pub fn check(
        self,
        commands: usize,
        runs: usize,
        buffer: usize,
        contents: &[u32],
    ) -> Result<()> {
        if self == Self::Independent {
            return Ok(());
        }
        let once = (0..commands)
            .map(command)
            .filter(|(target, _)| *target == buffer)
            .fold(0_u32, |sum, (_, value)| sum.wrapping_add(value));
        let expected = once.wrapping_mul(runs as u32);
        match contents.iter().find(|value| **value != expected) {
            None => Ok(()),
            Some(value) => Err(format!("a buffer holds {value} in place of {expected}").into()),
        }
    }
}

/// What kernel number `index` adds, and to which buffer.
pub fn command(index: usize) -> (usize, u32) {
    (index % BUFFERS, index as u32 + 1)
}
