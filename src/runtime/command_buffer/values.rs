//! Updates of values, which are most of what a frame loop updates.
//!
//! A new value of an argument that is plain bytes changes nothing of a launch but those bytes in its argument block: so it
//! is written there, and the launch is not prepared anew, which takes four times as long.

use super::CommandBuffer;
use super::mutable::MutableCommand;
use crate::compiler::program::ArgumentKind;
use crate::runtime::Result;
use crate::runtime::command::{Arguments, Command, Dispatch};
use crate::runtime::kernel::ArgumentValue;
use smallvec::SmallVec;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// A new value for an argument that is plain bytes.
pub struct NewValue<'a> {
    pub command: Arc<MutableCommand>,
    pub index: u32,
    /// As many as the argument has.
    pub bytes: &'a [u8],
}

/// Where a value goes.
struct Place {
    /// The command's, among those of the command buffer.
    node: usize,
    /// In the argument block; `None` for an argument that the kernel does not use.
    range: Option<Range<usize>>,
}

impl CommandBuffer {
    /// `clUpdateMutableCommandsKHR` for nothing but values: all of them, the last one of an argument counts. `false` if
    /// that takes more than to write them, and nothing has changed.
    ///
    /// # Errors
    /// `CL_OUT_OF_RESOURCES`: nothing has changed.
    pub fn update_values(&self, values: &[NewValue<'_>]) -> Result<bool> {
        self.retire(&[]);
        let updating = self.updating.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard = self.lock();
        let state = &mut *guard;
        let place = |value: &NewValue<'_>| {
            let node = value.command.launch_with(|launch| launch.node);
            let command = &state.nodes.get(node)?.command;
            place_in(command, value).map(|range| Place { node, range })
        };
        let Some(places) = values.iter().map(place).collect::<Option<Vec<_>>>() else {
            return Ok(false);
        };
        let mut old: Vec<SmallVec<[u8; 16]>> = Vec::with_capacity(values.len());
        for (value, place) in values.iter().zip(&places) {
            let before = match &mut state.nodes[place.node].command {
                Command::Dispatch(dispatch) => replace(dispatch, place, value.bytes),
                _ => SmallVec::new(),
            };
            old.push(before);
        }
        let changed: BTreeSet<usize> = places.iter().map(|place| place.node).collect();
        match self.bring_up_to_date(state, &changed, false) {
            Ok(leftovers) => {
                for NewValue {
                    command,
                    index,
                    bytes,
                } in values
                {
                    let bytes = ArgumentValue::Bytes(SmallVec::from_slice(bytes));
                    command.launch_with(|launch| launch.kernel.set_argument(*index, bytes));
                }
                drop(guard);
                drop(updating);
                // No lock is held: memory may go now, and its destructor callbacks run.
                drop(leftovers);
                Ok(true)
            }
            Err(error) => {
                for (bytes, place) in old.iter().zip(&places).rev() {
                    if let Command::Dispatch(dispatch) = &mut state.nodes[place.node].command {
                        replace(dispatch, place, bytes);
                    }
                }
                Err(error)
            }
        }
    }
}

/// Where in the argument block of `command` the value goes; `None` if that is not all there is to do.
fn place_in(command: &Command, value: &NewValue<'_>) -> Option<Option<Range<usize>>> {
    let Command::Dispatch(dispatch) = command else {
        return None;
    };
    let range = value.command.launch_with(|launch| {
        let code = launch.kernel.code(value.command.queue().device())?;
        match code.compiled.arguments.get(value.index as usize)?.kind {
            ArgumentKind::Value { offset_bytes, .. } => {
                let start = offset_bytes as usize;
                Some(Some(start..start + value.bytes.len()))
            }
            ArgumentKind::Unused { .. } => Some(None),
            _ => None,
        }
    })?;
    let fits = |arguments: &Arguments| match (arguments, &range) {
        (Arguments::Block(block), Some(range)) => range.end <= block.len(),
        (Arguments::Block(_), None) => true,
        // They are in the recording itself.
        (Arguments::PushConstants(_), _) => false,
    };
    let mut regions = dispatch.regions.iter();
    regions
        .all(|region| fits(&region.arguments))
        .then_some(range)
}

/// Writes a value there; what was there before.
fn replace(dispatch: &mut Dispatch, place: &Place, bytes: &[u8]) -> SmallVec<[u8; 16]> {
    let mut old = SmallVec::new();
    let Some(range) = &place.range else {
        return old;
    };
    for region in &mut dispatch.regions {
        if let Arguments::Block(block) = &mut region.arguments
            && let Some(there) = block.get_mut(range.clone())
            && there.len() == bytes.len()
        {
            // The same in all of them.
            old = SmallVec::from_slice(there);
            there.copy_from_slice(bytes);
        }
    }
    old
}
