//! Commands on memory objects whose contents must be brought to the device before: see [`crate::runtime::residency::residence`].

use super::Queue;
use super::turn::Turn;
use crate::runtime::command::host_job::HostJob;
use crate::runtime::command::{Command, Ordering};
use crate::runtime::event::waits::Waits;
use crate::runtime::event::{Event, Stage, WaitList};
use crate::runtime::object::error::Result;
use crate::runtime::residency::backing::Use;
use crate::runtime::residency::fetch::Fetches;
use opencl_sys::{CL_COMMAND_MIGRATE_MEM_OBJECTS, CL_COMPLETE, cl_command_type};
use std::sync::Arc;

impl Queue {
    /// Has what a command uses brought to this queue's device before it. `wait_list` are the events that the
    /// command waits for, and from here on must wait for. Whoever enqueues what overwrites has a [`Turn`] until
    /// it is enqueued: other threads must not find the device the owner of what is not there yet.
    ///
    /// # Errors
    /// `CL_MEM_OBJECT_ALLOCATION_FAILURE`, and as [`Queue::enqueue`].
    pub fn bring<'a>(
        self: &Arc<Self>,
        uses: impl IntoIterator<Item = &'a Use>,
        wait_list: &mut WaitList,
    ) -> Result<()> {
        if self.context().devices().len() == 1 {
            return Ok(());
        }
        let device = self.context_device();
        let mut fetches = Fetches::default();
        for it in uses {
            // Before it is the owner of anything, the device has room for it.
            it.backing.place(device)?;
            if let Some(fetch) = it.backing.fetch(device.index(), &it.range, it.mode) {
                fetches.push(fetch);
            }
        }
        if fetches.is_empty() {
            return Ok(());
        }
        let event = if !self.is_after_claims(wait_list) {
            self.hold_fetches(fetches, Waits::on(wait_list))
        } else if fetches.claim_if_there() {
            return Ok(());
        } else {
            let kind = CL_COMMAND_MIGRATE_MEM_OBJECTS;
            let job = HostJob::Own(Box::new(move || fetches.carry()));
            self.enqueue_host_job(kind, job, false, wait_list)?
        };
        wait_list.push(event);
        Ok(())
    }

    /// [`Queue::enqueue_if`] of a command with what it uses brought to the device before it, unless the host carries it
    /// out.
    ///
    /// # Errors
    /// Those of [`Queue::enqueue_if`] and of [`Queue::bring`].
    pub fn enqueue_using(
        self: &Arc<Self>,
        uses: &[Use],
        wants_event: bool,
        kind: cl_command_type,
        command: &mut Command,
        wait_list: &mut WaitList,
    ) -> Result<Option<Arc<Event>>> {
        let travels = uses.iter().any(|it| it.backing.travels());
        if !travels && let Some(event) = self.move_on_host(kind, command, wait_list)? {
            return Ok(Some(event));
        }
        let _turn = travels.then(|| Turn::take([self]));
        self.bring(uses, wait_list)?;
        let (waits, order) = (Waits::on(wait_list), Ordering::default());
        self.enqueue_if(wants_event, kind, command, waits, order)
    }

    /// Whether all that comes before a command with this wait list has claimed what it writes.
    fn is_after_claims(&self, wait_list: &[Arc<Event>]) -> bool {
        let has_claimed = |event: &Arc<Event>| {
            matches!(
                event.stage(),
                Stage::Issued { .. } | Stage::Done(CL_COMPLETE)
            )
        };
        wait_list.iter().all(has_claimed) && !self.must_hold(&self.lock(), Ordering::default())
    }
}
