//! Running kernels.

use super::error::{Error, Result};
use super::out::EventArguments;
use super::{enqueue, handle};
use crate::runtime::event::waits::LateWaits;
use crate::runtime::launch::kernel::Kernel;
use crate::runtime::launch::nd_range::NdRange;
use crate::runtime::object::callback::NativeKernel;
use crate::runtime::queue::Queue;
use crate::runtime::queue::launch::Enqueued;
use crate::runtime::queue::launch::{self, LaunchTarget};
use opencl_sys::{
    CL_COMMAND_NDRANGE_KERNEL, CL_COMMAND_TASK, CL_INVALID_CONTEXT, CL_INVALID_GLOBAL_OFFSET,
    CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_WORK_DIMENSION, cl_command_queue, cl_command_type,
    cl_kernel, cl_mem, cl_uint,
};
use std::ffi::c_void;
use std::sync::Arc;

/// `CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS`
const MAX_DIMENSIONS: u32 = 3;

/// "CL_INVALID_CONTEXT if context associated with command_queue and kernel are not the same".
pub(super) fn check_context(queue: &Queue, kernel: &Kernel) -> Result<()> {
    if Arc::ptr_eq(queue.context(), kernel.program().context()) {
        Ok(())
    } else {
        Err(Error::new(
            CL_INVALID_CONTEXT,
            "command_queue and kernel belong to different contexts",
        ))
    }
}

/// The range that the arguments describe.
///
/// # Safety
/// The pointers are NULL or have `work_dim` entries.
pub(super) unsafe fn range(
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
) -> Result<NdRange> {
    // SAFETY: the caller's promise.
    let arguments = unsafe {
        RangeArguments::new(
            work_dim,
            global_work_offset,
            global_work_size,
            local_work_size,
        )
    };
    let mut range = NdRange::default();
    arguments.read(&mut range)?;
    Ok(range)
}

/// A range as the application describes it.
struct RangeArguments {
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
}

impl RangeArguments {
    /// # Safety
    /// The pointers are NULL or have `work_dim` entries for as long as this is used.
    unsafe fn new(
        work_dim: cl_uint,
        global_work_offset: *const usize,
        global_work_size: *const usize,
        local_work_size: *const usize,
    ) -> Self {
        Self {
            work_dim,
            global_work_offset,
            global_work_size,
            local_work_size,
        }
    }

    /// Reads it to where it stays: words that have just been written are slow to copy in larger pieces.
    fn read(&self, range: &mut NdRange) -> Result<()> {
        // "CL_INVALID_WORK_DIMENSION if work_dim is not a valid value (i.e. a value between 1 and
        // CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS)."
        if !(1..=MAX_DIMENSIONS).contains(&self.work_dim) {
            return Err(Error::new(
                CL_INVALID_WORK_DIMENSION,
                format!("work_dim is {}", self.work_dim),
            ));
        }
        range.dimensions = self.work_dim;
        // "If global_work_size is NULL, or the value in any passed dimension is 0 then the kernel command will
        // trivially succeed after its event dependencies are satisfied".
        if self.global_work_size.is_null() {
            range.global = [0; 3];
        }
        if !self.local_work_size.is_null() {
            range.local = Some([1; 3]);
        }
        let (mut count, mut fits) = (1_u64, true);
        for dimension in 0..self.work_dim as usize {
            let read = |list: *const usize, value: &mut u64| {
                if !list.is_null() {
                    // SAFETY: the promise of `new`.
                    *value = unsafe { list.add(dimension).read() } as u64;
                }
            };
            let (global, offset) = (&mut range.global[dimension], &mut range.offset[dimension]);
            read(self.global_work_size, global);
            read(self.global_work_offset, offset);
            if let Some(local) = &mut range.local {
                read(self.local_work_size, &mut local[dimension]);
            }
            let beyond;
            (count, beyond) = count.overflowing_mul(*global);
            fits &= !beyond && global.checked_add(*offset).is_some();
        }
        if fits { Ok(()) } else { Err(too_large(range)) }
    }

    /// Whether it is that range, which a launch had before.
    #[inline]
    fn is(&self, range: &NdRange) -> bool {
        // SAFETY: the promise of `new`; the dimension is one of the range's.
        let read = |list: *const usize, dimension| unsafe { list.add(dimension).read() } as u64;
        range.dimensions == self.work_dim
            && !self.global_work_size.is_null()
            && range.local.is_none() == self.local_work_size.is_null()
            && (0..self.work_dim as usize).all(|dimension| {
                let offset = if self.global_work_offset.is_null() {
                    0
                } else {
                    read(self.global_work_offset, dimension)
                };
                let local = range.local.map(|local| local[dimension]);
                range.global[dimension] == read(self.global_work_size, dimension)
                    && range.offset[dimension] == offset
                    && local.is_none_or(|local| local == read(self.local_work_size, dimension))
            })
    }
}

/// What is wrong with a range that the device can't count.
#[cold]
fn too_large(range: &NdRange) -> Error {
    let (global, offset) = (&range.global, &range.offset);
    // "CL_INVALID_GLOBAL_WORK_SIZE if any of the values specified in global_work_size … exceed the maximum value
    // representable by size_t on the device": the device computes in 64 bits, as size_t has here.
    let mut ends = global.iter().zip(offset).enumerate();
    match ends.find(|(_, (global, offset))| global.checked_add(**offset).is_none()) {
        // "CL_INVALID_GLOBAL_OFFSET if the value specified in global_work_size + the corresponding values in
        // global_work_offset for any dimensions is greater than the maximum value representable by size t on the
        // device".
        Some((dimension, (global, offset))) => Error::new(
            CL_INVALID_GLOBAL_OFFSET,
            format!("dimension {dimension}: offset {offset} + size {global} exceeds size_t"),
        ),
        None => Error::new(
            CL_INVALID_GLOBAL_WORK_SIZE,
            format!("{global:?} work-items are more than size_t can count"),
        ),
    }
}

/// `clEnqueueNDRangeKernel`
///
/// # Safety
/// The arrays are NULL or have `work_dim` entries.
#[inline]
pub unsafe fn enqueue_nd_range_kernel(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    work_dim: cl_uint,
    global_work_offset: *const usize,
    global_work_size: *const usize,
    local_work_size: *const usize,
    events: EventArguments,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let range = unsafe {
        RangeArguments::new(
            work_dim,
            global_work_offset,
            global_work_size,
            local_work_size,
        )
    };
    let kind = CL_COMMAND_NDRANGE_KERNEL;
    launch_kernel(command_queue, kernel, kind, &range, events)
}

/// `clEnqueueTask`: a range of one work-item.
pub fn enqueue_task(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    events: EventArguments,
) -> Result<()> {
    // SAFETY: lists of one entry.
    let range = unsafe { RangeArguments::new(1, std::ptr::null(), &1, &1) };
    launch_kernel(command_queue, kernel, CL_COMMAND_TASK, &range, events)
}

/// Launches a kernel.
fn launch_kernel(
    command_queue: cl_command_queue,
    kernel: cl_kernel,
    command_type: cl_command_type,
    range: &RangeArguments,
    events: EventArguments,
) -> Result<()> {
    let queue = handle::borrow::<Queue>(command_queue)?;
    let kernel = handle::borrow::<Kernel>(kernel)?;
    if !events.has_list() {
        let wants_event = events.wants_event();
        let is_range = |kept: &NdRange| range.is(kept);
        let again = launch::launch_again(&queue, &kernel, command_type, is_range, wants_event)?;
        if let Some(Enqueued { event }) = again {
            events.give_if(event);
            return Ok(());
        }
    }
    launch_anew(&queue, &kernel, command_type, range, events)
}

/// Launches a kernel as if it were for the first time. Apart: the way there should have little to save and restore.
#[inline(never)]
fn launch_anew(
    queue: &Arc<Queue>,
    kernel: &Arc<Kernel>,
    command_type: cl_command_type,
    range: &RangeArguments,
    events: EventArguments,
) -> Result<()> {
    let target = LaunchTarget::new(queue, kernel)?;
    check_context(queue, kernel)?;
    let mut waits = LateWaits::default();
    enqueue::late_wait_list(queue, &events, &mut waits)?;
    kernel.check_arguments()?;
    // What is wrong with the range comes after other faults.
    let mut nd_range = NdRange::default();
    range.read(&mut nd_range)?;
    let event = target.launch(command_type, &nd_range, &mut waits, events.wants_event())?;
    events.give_if(event);
    Ok(())
}

/// `clEnqueueNativeKernel`
pub fn enqueue_native_kernel(
    command_queue: cl_command_queue,
    user_func: NativeKernel,
    args: *mut c_void,
    cb_args: usize,
    num_mem_objects: cl_uint,
    mem_list: *const cl_mem,
    args_mem_loc: *mut *const c_void,
    events: EventArguments,
) -> Result<()> {
    enqueue::queue_with(command_queue, &events)?;
    // "CL_INVALID_VALUE if user_func is NULL."
    if user_func.is_none() {
        return Err(Error::invalid_value("user_func is NULL"));
    }
    // "CL_INVALID_VALUE if args is a NULL value and cb_args > 0, or if args is a NULL value and
    // num_mem_objects > 0.", "CL_INVALID_VALUE if args is not NULL and cb_args is 0."
    let fits = if args.is_null() {
        cb_args == 0 && num_mem_objects == 0
    } else {
        cb_args > 0
    };
    if !fits {
        return Err(Error::invalid_value("args does not go with its size"));
    }
    // "CL_INVALID_VALUE if num_mem_objects > 0 and mem_list or args_mem_loc are NULL.", "CL_INVALID_VALUE if
    // num_mem_objects = 0 and mem_list or args_mem_loc are not NULL."
    let none = num_mem_objects == 0;
    if mem_list.is_null() != none || args_mem_loc.is_null() != none {
        return Err(Error::invalid_value(
            "mem_list and args_mem_loc do not go with num_mem_objects",
        ));
    }
    // "CL_INVALID_OPERATION if the device associated with command_queue cannot execute the native kernel."
    Err(Error::invalid_operation(
        "no device executes native kernels",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(work_dim: u32, offset: &[usize], global: &[usize]) -> Result<NdRange> {
        let pointer = |list: &[usize]| match list {
            [] => std::ptr::null(),
            list => list.as_ptr(),
        };
        // SAFETY: the lists of these tests have `work_dim` entries.
        unsafe { range(work_dim, pointer(offset), pointer(global), std::ptr::null()) }
    }

    #[test]
    fn a_range_is_known_again_by_its_arguments() {
        type Lists = (u32, &'static [usize], &'static [usize], &'static [usize]);
        const NONE: [usize; 0] = [];
        let lists: [Lists; 12] = [
            (1, &NONE, &[8], &NONE),
            (1, &[0], &[8], &NONE),
            (1, &[4], &[8], &NONE),
            (1, &NONE, &[8], &[8]),
            (1, &NONE, &[8], &[4]),
            (1, &NONE, &[16], &[4]),
            (2, &NONE, &[8, 1], &NONE),
            (2, &NONE, &[8, 2], &[8, 1]),
            (2, &[0, 3], &[8, 2], &[8, 1]),
            (3, &NONE, &[8, 2, 1], &[8, 1, 1]),
            (3, &NONE, &[8, 2, 5], &[8, 1, 1]),
            (3, &NONE, &[8, 2, 5], &[8, 1, 5]),
        ];
        let pointer = |list: &[usize]| {
            if list.is_empty() {
                std::ptr::null()
            } else {
                list.as_ptr()
            }
        };
        let lists = lists.map(|(work_dim, offset, global, local)| {
            // SAFETY: the lists have as many entries.
            unsafe {
                RangeArguments::new(work_dim, pointer(offset), pointer(global), pointer(local))
            }
        });
        let read = |arguments: &RangeArguments| {
            let mut range = NdRange::default();
            arguments.read(&mut range).unwrap();
            range
        };
        for described in &lists {
            let known = read(described);
            for asked in &lists {
                let is_known = asked.is(&known);
                let asked = read(asked);
                assert_eq!(is_known, asked == known, "{asked:?}, {known:?}");
            }
            let none = RangeArguments {
                global_work_size: std::ptr::null(),
                ..*described
            };
            assert!(!none.is(&known));
        }
    }

    #[test]
    fn ranges_are_read_and_checked() {
        let range = code_of(2, &[5, 6], &[7, 8]).unwrap();
        assert_eq!((range.offset, range.global), ([5, 6, 0], [7, 8, 1]));
        assert!(code_of(3, &[], &[]).unwrap().is_empty());
        assert!(code_of(1, &[], &[0]).unwrap().is_empty());
        let code = |result: Result<NdRange>| result.unwrap_err().code();
        assert_eq!(code(code_of(0, &[], &[])), CL_INVALID_WORK_DIMENSION);
        assert_eq!(code(code_of(4, &[], &[])), CL_INVALID_WORK_DIMENSION);
        assert_eq!(
            code(code_of(1, &[usize::MAX], &[2])),
            CL_INVALID_GLOBAL_OFFSET
        );
        assert_eq!(
            code(code_of(2, &[], &[usize::MAX, 2])),
            CL_INVALID_GLOBAL_WORK_SIZE
        );
    }
}
