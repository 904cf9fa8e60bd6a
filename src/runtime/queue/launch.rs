//! Enqueueing the launch of a kernel.
//!
//! Most launches are recorded at once: from the kernel that they lie in, which stays locked meanwhile. To make a command
//! of each that could wait, and drop it, takes as long as the rest. The lock of a kernel comes before that of a queue.

use crate::runtime::queue::bring::bring;
use std::sync::Arc;

use opencl_sys::cl_command_type;

use super::batch::Batch;
use super::host_wait::wait_for_oldest;
use super::issue::{Placement, issue};
use super::place::record_now;
use super::place::work_off;
use super::repeat::Repeats;
use super::work::{SortOfWork, Work};
use super::{Queue, enqueue_waiting, event_if, new_event};
use crate::runtime::command::Ordering;
use crate::runtime::command::device_command::DeviceCommand;
use crate::runtime::command::hazard::{Accesses, TrackedAccess};
use crate::runtime::command::prepared_launch::PreparedLaunch;
use crate::runtime::event::waits::{LateWaits, Waits};
use crate::runtime::event::{DeferredWork, Event};
use crate::runtime::launch::indirect::Addressed;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::launch::nd_range::NdRange;
use crate::runtime::launch::prepare::{self, LockedKernel};
use crate::runtime::object::error::Result;
use crate::runtime::printf;
use crate::runtime::program::kernel_code::DeviceCode;

/// The launch of a kernel, in the kernel that it was prepared in.
struct KernelLaunch<'a, 'k> {
    locked: &'a mut LockedKernel<'k>,
    kernel: &'a Arc<Kernel>,
    range: &'a NdRange,
}

impl Work for KernelLaunch<'_, '_> {
    fn sort(&self) -> SortOfWork {
        SortOfWork::KERNEL
    }

    fn accesses<'a>(&'a self, room: &'a mut Accesses) -> (&'a [TrackedAccess], bool) {
        let anything = self.locked.launch().add_accesses(room);
        (room, anything)
    }

    fn record(&mut self, batch: &mut Batch) -> Result<()> {
        batch.record_launch(self.locked.launch())
    }

    fn keep(&mut self, repeats: &mut Repeats, sequence: u64) {
        repeats.keep_launch(self.locked, self.kernel, self.range, sequence);
    }
}

/// Enqueues a launch that waits for no event, if the open batch of the queue has the same already; `None` if not. That it
/// is right has been found then. `is_range` says whether a range is the one that is asked for. Both objects are the
/// application's, as those of a [`LaunchTarget`].
///
/// # Errors
/// As `clEnqueueNDRangeKernel`.
#[inline]
pub(crate) fn launch_again(
    queue: &Arc<Queue>,
    kernel: &Arc<Kernel>,
    kind: cl_command_type,
    is_range: impl Fn(&NdRange) -> bool,
    wants_event: bool,
) -> Result<Option<Enqueued>> {
    if !kernel.may_be_kept() {
        return Ok(None);
    }
    let mut deferred = DeferredWork::default();
    let enqueued = enqueue_again(queue, wants_event, kind, kernel, is_range, &mut deferred)?;
    deferred.run();
    Ok(enqueued)
}

/// A command that has been enqueued, with its event if there is one.
pub struct Enqueued {
    pub event: Option<Arc<Event>>,
}

/// Records the launch of a kernel, as it is, over the range that `is_range` knows once more, if the open batch has it;
/// `None` if not. Otherwise as [`Queue::enqueue_if`] without anything to wait for. `deferred` takes what is left to do then.
///
/// # Errors
/// Those of [`Queue::enqueue_if`].
#[inline]
pub(super) fn enqueue_again(
    queue: &Arc<Queue>,
    wants_event: bool,
    kind: cl_command_type,
    kernel: &Arc<Kernel>,
    is_range: impl Fn(&NdRange) -> bool,
    deferred: &mut DeferredWork,
) -> Result<Option<Enqueued>> {
    let order = Ordering::default();
    let mut state = queue.lock_to_enqueue();
    if state.has_wait(order, queue.is_in_order()) {
        return Ok(None);
    }
    let Some((slot, mut launch)) = state.recording.repeats().take(kernel, is_range) else {
        return Ok(None);
    };
    let event = event_if(queue, wants_event, kind);
    let placement = Placement {
        event: event.as_ref(),
        ready: None,
        order,
        waited: None,
    };
    let issued = issue(queue, &mut state, &mut *launch, placement);
    let is_open = state.recording.is_open();
    state.recording.repeats().put_back(slot, launch, is_open);
    issued?;
    if !is_open {
        work_off(queue, &state, deferred);
    }
    Ok(Some(Enqueued { event }))
}

/// A kernel and the queue that it is to run on. Both are the application's for the length of its call ([`Borrowed`]).
///
/// [`Borrowed`]: crate::runtime::object::registry::Borrowed
pub struct LaunchTarget<'a> {
    queue: &'a Arc<Queue>,
    kernel: &'a Arc<Kernel>,
    code: DeviceCode<'a>,
}

impl<'a> LaunchTarget<'a> {
    /// # Errors
    /// Those of [`prepare::code`].
    pub fn new(queue: &'a Arc<Queue>, kernel: &'a Arc<Kernel>) -> Result<Self> {
        Ok(Self {
            queue,
            kernel,
            code: prepare::code(kernel, queue.device())?,
        })
    }

    /// Enqueues the launch of a kernel, all of whose arguments are set; `kind` is what its event says it is, which is made
    /// if `wants_event`.
    ///
    /// # Errors
    /// As `clEnqueueNDRangeKernel`; what is wrong with the wait list comes after what is wrong with the launch.
    pub fn launch(
        &self,
        kind: cl_command_type,
        range: &NdRange,
        late: &mut LateWaits,
        wants_event: bool,
    ) -> Result<Option<Arc<Event>>> {
        let &Self {
            queue,
            kernel,
            code,
        } = self;
        // What is let go of here may call the application: when the kernel is locked no longer.
        let addressed = Addressed::new(queue.device_queue());
        let mut deferred = DeferredWork::default();
        let (mut output, mut _kept) = (None, None);
        if printf::is_used(code.compiled) && !range.is_empty() {
            // Before the kernel is locked: it may have to wait for earlier commands, whose end calls the application.
            _kept = Some((Arc::clone(queue), Arc::clone(kernel)));
            while !printf::has_room(queue.device()) && wait_for_oldest(queue) {}
            output = Some(printf::Output::new(code.code)?);
        }
        let order = Ordering::default();
        let mut locked = LockedKernel::new(kernel, code);
        locked.prepare(range, &addressed, output)?;
        let LateWaits { waits, fault } = late;
        if let Some(fault) = fault.take() {
            return Err(fault);
        }
        if addressed.matter() {
            let launch = locked.take();
            drop(locked);
            let queue = Arc::clone(queue);
            return enqueue_with_memory(&queue, wants_event, kind, launch, waits);
        }
        let event = event_if(queue, wants_event, kind);
        let mut work = KernelLaunch {
            locked: &mut locked,
            kernel,
            range,
        };
        if record_now(
            queue,
            &mut work,
            waits,
            order,
            event.as_ref(),
            &mut deferred,
        )? {
            drop(locked);
            deferred.run();
            return Ok(event);
        }
        let launch = locked.take();
        drop(locked);
        let queue = Arc::clone(queue);
        let its = event
            .as_ref()
            .map_or_else(|| new_event(&queue, kind), Arc::clone);
        let waits = std::mem::take(waits);
        let command = DeviceCommand::Launch(launch);
        enqueue_waiting(&queue, command.into(), its, waits, order);
        Ok(event)
    }
}

/// Enqueues a launch in a context of several devices, with what it uses brought to the queue's device before it.
fn enqueue_with_memory(
    queue: &Arc<Queue>,
    wants_event: bool,
    kind: cl_command_type,
    mut launch: Box<PreparedLaunch>,
    waits: &mut Waits,
) -> Result<Option<Arc<Event>>> {
    let mut accesses = std::mem::take(&mut launch.memory_accesses);
    if launch.uses_any_address {
        accesses.extend(queue.context().addressed_accesses());
    }
    bring(queue, &accesses, &mut waits.events)?;
    let mut command = DeviceCommand::Launch(launch).into();
    let waits = std::mem::take(waits);
    queue.enqueue_if(wants_event, kind, &mut command, waits, Ordering::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::launch::argument::ArgumentValue;
    use crate::runtime::memory::Memory;
    use crate::runtime::program::Program;
    use crate::runtime::test_queue;
    use opencl_sys::{
        CL_COMMAND_NDRANGE_KERNEL, CL_INVALID_KERNEL_ARGS, CL_KERNEL_EXEC_INFO_SVM_PTRS,
        CL_MEM_READ_WRITE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
    };

    const SOURCE: &str = r#"
kernel void add(global uint *out, uint value) { out[get_global_id(0)] += value; }
kernel void say(global uint *out, uint value) { if (value == 1) printf("never\n"); }
"#;

    struct Setup {
        queue: Arc<Queue>,
        program: Arc<Program>,
        memory: Arc<Memory>,
    }

    impl Setup {
        fn new(flags: u32) -> Option<Self> {
            let queue = test_queue::new(flags.into())?;
            let program = test_queue::program(&queue, SOURCE)?;
            let context = queue.context();
            // SAFETY: no host pointer.
            let memory =
                unsafe { Memory::buffer(context, CL_MEM_READ_WRITE, 1024, None, Vec::new()) };
            Some(Self {
                memory: memory.unwrap(),
                program,
                queue,
            })
        }

        fn kernel(&self, name: &str) -> Arc<Kernel> {
            let kernel = Kernel::new(&self.program, name).unwrap();
            kernel.set_argument(0, ArgumentValue::Memory(Some(Arc::downgrade(&self.memory))));
            set(&kernel, 0);
            kernel
        }

        /// Launches it, as `clEnqueueNDRangeKernel` does; whether the queue had kept it.
        fn launch(&self, kernel: &Arc<Kernel>, range: &NdRange) -> Result<bool> {
            let (queue, kind) = (&self.queue, CL_COMMAND_NDRANGE_KERNEL);
            if launch_again(queue, kernel, kind, |it| it.is_same(range), false)?.is_some() {
                return Ok(true);
            }
            let target = LaunchTarget::new(queue, kernel)?;
            target.launch(kind, range, &mut LateWaits::default(), false)?;
            Ok(false)
        }

        /// Launches `kernel` `COUNT` times; whether the queue had kept it each time.
        fn launches<const COUNT: usize>(&self, kernel: &Arc<Kernel>) -> [bool; COUNT] {
            [(); COUNT].map(|()| self.launch(kernel, &range(64)).unwrap())
        }
    }

    fn set(kernel: &Kernel, value: u32) {
        kernel.set_argument(
            1,
            ArgumentValue::Bytes(value.to_le_bytes().as_slice().into()),
        );
    }

    fn range(size: u64) -> NdRange {
        NdRange {
            global: [size, 1, 1],
            ..NdRange::default()
        }
    }

    #[test]
    fn a_launch_that_comes_again_is_found_as_long_as_nothing_has_changed() {
        for flags in [0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE as u32] {
            let Some(setup) = Setup::new(flags) else {
                return;
            };
            let queue = &setup.queue;
            let (add, other) = (setup.kernel("add"), setup.kernel("add"));
            assert_eq!(setup.launches(&add), [false, false, true, true]);
            // The same argument once more.
            set(&add, 0);
            assert_eq!(setup.launches(&add), [true]);
            set(&add, 1);
            assert_eq!(setup.launches(&add), [false, false, true]);
            // Another batch.
            queue.flush();
            assert_eq!(setup.launches(&add), [false, true, true]);
            let range = range(32);
            let small = || setup.launch(&add, &range).unwrap();
            assert_eq!([small(), small(), small()], [false, false, true]);
            assert_eq!(setup.launches(&add), [true]);
            queue.flush();
            // Two kernels in turns.
            for expected in [false, false, true, true] {
                assert_eq!(setup.launches(&add), [expected]);
                assert_eq!(setup.launches(&other), [expected]);
            }
            queue.flush();
            assert_eq!(setup.launches(&add), [false, true, true]);
            add.set_indirect(|indirect| {
                indirect.set_pointers(CL_KERNEL_EXEC_INFO_SVM_PTRS, Vec::new());
            });
            assert_eq!(setup.launches(&add), [false, false, true]);
            queue.finish().unwrap();
        }
    }

    #[test]
    fn what_prints_is_made_anew_each_time() {
        let Some(setup) = Setup::new(0) else {
            return;
        };
        assert_eq!(setup.launches(&setup.kernel("say")), [false; 4]);
        setup.queue.finish().unwrap();
    }

    #[test]
    fn what_is_kept_for_a_launch_goes_with_the_batch() {
        let Some(mut setup) = Setup::new(0) else {
            return;
        };
        let add = setup.kernel("add");
        assert_eq!(setup.launches(&add), [false, false, true]);
        let place = setup.memory.place(setup.queue.context_device()).unwrap();
        let allocation = Arc::downgrade(&place.allocation);
        drop(place);
        let context = setup.queue.context();
        // SAFETY: no host pointer.
        let new = unsafe { Memory::buffer(context, CL_MEM_READ_WRITE, 64, None, Vec::new()) };
        setup.memory = new.unwrap();
        // Released: refused as if it came for the first time.
        let error = setup.launch(&add, &range(64)).unwrap_err();
        assert_eq!(error.code(), CL_INVALID_KERNEL_ARGS);
        assert!(allocation.strong_count() > 0);
        setup.queue.finish().unwrap();
        assert_eq!(allocation.strong_count(), 0);
    }

    #[test]
    fn a_launch_that_must_wait_is_not_recorded_though_it_is_kept() {
        let Some(setup) = Setup::new(0) else {
            return;
        };
        let add = setup.kernel("add");
        assert_eq!(setup.launches(&add), [false, false, true]);
        let gate = Event::of_user(setup.queue.context());
        test_queue::marker(&setup.queue, &[Arc::clone(&gate)]);
        assert_eq!(setup.launches(&add), [false, false]);
        assert!(!setup.queue.lock().none_waits());
        gate.set_user_status(0).unwrap();
        setup.queue.finish().unwrap();
    }
}
