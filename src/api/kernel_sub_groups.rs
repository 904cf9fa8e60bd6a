//! Queries on the sub-groups of a kernel.

use super::error::{Error, Result};
use super::kernel::get;
use super::kernel_info::code_for;
use super::out::{Info, Written};
use crate::runtime::device::work_limits::WorkLimits;
use opencl_sys::{
    CL_KERNEL_COMPILE_NUM_SUB_GROUPS, CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL,
    CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, CL_KERNEL_MAX_NUM_SUB_GROUPS,
    CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, cl_device_id,
    cl_kernel, cl_kernel_sub_group_info,
};
use smallvec::SmallVec;
use std::ffi::c_void;

/// What the answers follow from.
struct SubGroups {
    /// Work-items in a full one.
    size: usize,
    max_work_group_size: usize,
    required_work_group_size: Option<[usize; 3]>,
}

impl SubGroups {
    /// How many sub-groups a work-group of `work_items` work-items has.
    fn count(&self, work_items: usize) -> usize {
        work_items.div_ceil(self.size)
    }

    /// The work-group of one dimension with that many sub-groups, all full; `None` if there is none.
    fn local_size(&self, count: usize) -> Option<usize> {
        let work_items = count.checked_mul(self.size)?;
        match self.required_work_group_size {
            Some([x, 1, 1]) => (self.count(x) == count).then_some(x),
            Some(_) => None,
            None => {
                (work_items > 0 && work_items <= self.max_work_group_size).then_some(work_items)
            }
        }
    }
}

/// `clGetKernelSubGroupInfo` and `clGetKernelSubGroupInfoKHR`
///
/// # Safety
/// `input_value` is NULL or readable for `input_value_size` bytes.
pub unsafe fn get_kernel_sub_group_info(
    kernel: cl_kernel,
    device: cl_device_id,
    param_name: cl_kernel_sub_group_info,
    input_value_size: usize,
    input_value: *const c_void,
    info: Info,
) -> Result<Written> {
    let kernel = get(kernel)?;
    let (device, code) = code_for(&kernel, device)?;
    let attributes = &code.compiled().attributes;
    let limits = WorkLimits::of(&device, code.compiled());
    let sub_groups = SubGroups {
        size: limits.kernel_subgroup_size as usize,
        max_work_group_size: limits.max_group_size as usize,
        required_work_group_size: attributes
            .required_work_group_size
            .map(|sizes| sizes.map(|size| size as usize)),
    };
    match param_name {
        CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE => {
            // SAFETY: the caller's promise.
            unsafe { sizes(input_value_size, input_value, 3) }?;
            // "Returns the maximum sub-group size for this kernel": what the kernel has of
            // `get_max_sub_group_size`, whatever the local size.
            info.value::<usize>(sub_groups.size)
        }
        CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE => {
            // SAFETY: the caller's promise.
            let local = unsafe { sizes(input_value_size, input_value, 3) }?;
            let work_items = local.iter().fold(1, |a: usize, b| a.saturating_mul(*b));
            info.value::<usize>(sub_groups.count(work_items))
        }
        CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT => {
            // SAFETY: the caller's promise.
            let count = unsafe { sizes(input_value_size, input_value, 1) }?;
            let local_size = sub_groups.local_size(count.first().copied().unwrap_or(0));
            // "Any returned work-group will have one dimension. Other dimensions inferred from the value
            // specified for param_value_size will be filled with the value 1. … If no work-group size can
            // accommodate the requested number of sub-groups, 0 will be returned in each element of the
            // return array."
            let sizes = match local_size {
                Some(size) => [size, 1, 1],
                None => [0; 3],
            };
            let (buffer, size_bytes) = info.buffer();
            let dimensions = if buffer.is_null() {
                1
            } else {
                (size_bytes / size_of::<usize>()).clamp(1, 3)
            };
            info.slice::<usize>(sizes.get(..dimensions).unwrap_or(&sizes))
        }
        CL_KERNEL_MAX_NUM_SUB_GROUPS => {
            let work_items = match sub_groups.required_work_group_size {
                Some(sizes) => sizes.iter().fold(1, |a: usize, b| a.saturating_mul(*b)),
                None => sub_groups.max_work_group_size,
            };
            info.value::<usize>(sub_groups.count(work_items))
        }
        CL_KERNEL_COMPILE_NUM_SUB_GROUPS => {
            // "If not specified, 0 will be returned."
            info.value::<usize>(attributes.required_sub_groups.unwrap_or(0) as usize)
        }
        CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL => {
            // "If no sub-group size was specified, this value will be zero."
            info.value::<usize>(attributes.required_sub_group_size.unwrap_or(0) as usize)
        }
        _ => Err(Error::unknown_query(param_name)),
    }
}

/// The `input_value` of a query: one to `most` sizes.
///
/// # Safety
/// `value` is NULL or readable for `size_bytes`.
unsafe fn sizes(
    size_bytes: usize,
    value: *const c_void,
    most: usize,
) -> Result<SmallVec<[usize; 3]>> {
    // "CL_INVALID_VALUE if … the size in bytes specified by input_value_size is not valid or if input_value is
    // NULL."
    let count = size_bytes / size_of::<usize>();
    if !size_bytes.is_multiple_of(size_of::<usize>()) || !(1..=most).contains(&count) {
        return Err(Error::invalid_value(format!(
            "input_value_size is {size_bytes}, not that of 1 to {most} values"
        )));
    }
    if value.is_null() {
        return Err(Error::invalid_value("input_value is NULL"));
    }
    let values = value.cast::<usize>();
    Ok((0..count)
        // SAFETY: within the bytes that the caller promised; nothing is said of their alignment.
        .map(|index| unsafe { values.add(index).read_unaligned() })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_size_holds_whole_sub_groups() {
        let mut sub_groups = SubGroups {
            size: 8,
            max_work_group_size: 256,
            required_work_group_size: None,
        };
        assert_eq!(sub_groups.local_size(4), Some(32));
        assert_eq!(sub_groups.local_size(32), Some(256));
        assert_eq!(sub_groups.local_size(33), None);
        assert_eq!(sub_groups.local_size(0), None);
        assert_eq!(sub_groups.local_size(usize::MAX), None);
        sub_groups.required_work_group_size = Some([16, 1, 1]);
        assert_eq!(sub_groups.local_size(2), Some(16));
        assert_eq!(sub_groups.local_size(1), None);
        sub_groups.required_work_group_size = Some([4, 4, 1]);
        assert_eq!(sub_groups.local_size(2), None, "it has two dimensions");
        assert_eq!(sub_groups.count(17), 3);
    }

    #[test]
    fn input_values_are_counted() {
        let values = [3usize, 5, 7];
        let pointer = values.as_ptr().cast();
        // SAFETY: the sizes are those of the array or less, or nothing is read.
        unsafe {
            assert_eq!(sizes(24, pointer, 3).unwrap().as_slice(), [3, 5, 7]);
            assert_eq!(sizes(8, pointer, 1).unwrap().as_slice(), [3]);
            for bad in [0, 4, 12, 32] {
                assert!(sizes(bad, pointer, 3).is_err());
            }
            assert!(sizes(16, pointer, 1).is_err());
            assert!(sizes(8, std::ptr::null(), 1).is_err());
        }
    }
}
