//! What a range becomes on a device: local size, regions, and the pipeline of each.
//!
//! Making a plan costs microseconds (and pipelines, the first time); launches tend to repeat their range, or that of the
//! launch before the last, so a kernel keeps two.

use std::sync::Arc;

use opencl_sys::{
    CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_ITEM_SIZE,
};
use smallvec::SmallVec;

use super::argument::ArgumentValue;
use super::nd_range::{NdRange, is_same, is_same_size};
use super::short_ranges::{MOST_COVERED, covering_size, is_long, shared_size, work_items};
use super::work_size::{
    GroupRegion, choose_any_local_size, choose_local_size, cover_range, split_range,
};
use crate::compiler::CompiledKernel;
use crate::compiler::image::ImageField;
use crate::compiler::program::{ArgumentKind, SMALL_RANGE};
use crate::runtime::context::device_queue::DeviceQueue;
use crate::runtime::device::Device;
use crate::runtime::device::work_limits::WorkLimits;
use crate::runtime::program::kernel_code::DeviceCode;
use crate::runtime::program::pipeline_key::{Constants, PipelineKey};
use crate::runtime::{Error, Result};
use crate::vulkan;

/// The plans of a kernel's last launches.
#[derive(Default)]
pub struct LaunchPlans {
    kept: [Option<LaunchPlan>; 2],
    /// Which of them is that of the last launch.
    last: usize,
    /// Work-items of the launches of long ranges that made do with the pipeline of short ones.
    covered: u64,
}

/// A launch of a kernel but for its arguments' values, and its offset where pipelines don't depend on it.
pub struct LaunchPlan {
    request: Request,
    /// `get_enqueued_local_size`, where the kernel can tell
    pub local: [u32; 3],
    /// `get_num_groups`, where the kernel can tell
    pub groups: [u64; 3],
    pub regions: SmallVec<[PlannedRegion; 1]>,
    /// Whether it is one of a long range with the pipeline of short ones.
    covers_long: bool,
}

/// What a plan is made for.
struct Request {
    /// Place of the device in the program's list.
    device: usize,
    global: [u64; 3],
    local: Option<[u64; 3]>,
    starts_at_zero: bool,
    /// What of the arguments' values pipelines depend on.
    constants: Constants,
}

/// One `vkCmdDispatch` to be.
pub struct PlannedRegion {
    pub groups: GroupRegion,
    key: PipelineKey,
    pub pipeline: Arc<vulkan::Pipeline>,
}

/// The local size of a range: as given, as required, or chosen.
///
/// # Errors
/// `CL_INVALID_WORK_GROUP_SIZE`, `CL_INVALID_WORK_ITEM_SIZE`, in the specification's order.
pub fn local_size(
    kernel: &CompiledKernel,
    range: &NdRange,
    limits: &WorkLimits,
) -> Result<[u32; 3]> {
    let required = kernel.attributes.required_work_group_size;
    let bad_group = |reason: String| Error::new(CL_INVALID_WORK_GROUP_SIZE, reason);
    let local = match (range.local, required) {
        (Some(local), Some(required)) if local != required.map(u64::from) => {
            // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and does not match the required
            // work-group size for kernel in the program source."
            return Err(bad_group(format!(
                "local_work_size is {local:?}, the kernel requires {required:?}"
            )));
        }
        (Some(local), _) => local,
        (None, Some(required)) => required.map(u64::from),
        (None, None) => match required_work_items(kernel, limits) {
            Some(work_items) => [work_items, 1, 1],
            None => {
                let uniform = kernel.uniform_work_groups && kernel.sees_work_groups;
                return Ok(if uniform {
                    choose_local_size(range.global, limits)
                } else {
                    choose_any_local_size(range.global, limits)
                });
            }
        },
    };
    // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and the total number of work-items in the
    // work-group computed as local_work_size[0] × … local_work_size[work_dim - 1] is greater than the value
    // specified by CL_KERNEL_WORK_GROUP_SIZE".
    let total = local
        .iter()
        .try_fold(1u64, |total, size| total.checked_mul(*size));
    if total.is_none_or(|total| total > u64::from(limits.max_group_size)) {
        return Err(bad_group(format!(
            "local_work_size {local:?} has more than {} work-items",
            limits.max_group_size
        )));
    }
    if local.contains(&0) {
        return Err(bad_group(format!("local_work_size {local:?} has a zero")));
    }
    // "CL_INVALID_WORK_GROUP_SIZE if local_work_size is specified and is not consistent with the required number
    // of sub-groups for kernel in the program source."
    let sub_groups = |work_items: u64| work_items.div_ceil(limits.kernel_subgroup_size.into());
    if let (Some(sub_groups_required), Some(total)) = (kernel.attributes.required_sub_groups, total)
        && sub_groups(total) != u64::from(sub_groups_required)
    {
        return Err(bad_group(format!(
            "local_work_size {local:?} makes {} sub-groups, the kernel requires {sub_groups_required}",
            sub_groups(total)
        )));
    }
    // "CL_INVALID_WORK_GROUP_SIZE if the program was compiled with -cl-uniform-work-group-size and the number
    // of work-items specified by global_work_size is not evenly divisible by size of work-group given by
    // local_work_size".
    let divides = range
        .global
        .iter()
        .zip(local)
        .all(|(global, local)| global.is_multiple_of(local));
    if kernel.uniform_work_groups && !divides {
        return Err(bad_group(format!(
            "local_work_size {local:?} does not divide global_work_size {:?}, and the program was compiled for \
             uniform work-groups (-cl-uniform-work-group-size, or OpenCL C before 2.0)",
            range.global
        )));
    }
    // "CL_INVALID_WORK_ITEM_SIZE if the number of work-items specified in any of local_work_size[0], …
    // local_work_size[work_dim - 1] is greater than the corresponding values specified by
    // CL_DEVICE_MAX_WORK_ITEM_SIZES".
    for (dimension, (size, limit)) in local.iter().zip(limits.max_item_sizes).enumerate() {
        if *size > u64::from(limit) {
            return Err(Error::new(
                CL_INVALID_WORK_ITEM_SIZE,
                format!("local_work_size[{dimension}] is {size}, the device's limit is {limit}"),
            ));
        }
    }
    // Within limits of 32 bits by now.
    Ok(local.map(|size| size as u32))
}

/// The local size that a range runs with: the given one, unless it fills less than a sub-group and the kernel
/// can't tell. A device runs a work-group of one work-item at the cost of a whole sub-group. A size that the kernel
/// requires may be a literal in its code, and loops may have been unrolled by it: it stays.
fn executed_size(
    kernel: &CompiledKernel,
    range: &NdRange,
    local: [u32; 3],
    limits: &WorkLimits,
) -> [u32; 3] {
    let work_items: u32 = local.iter().product();
    if takes_any_size(kernel) && work_items < limits.subgroup_size {
        choose_any_local_size(range.global, limits)
    } else {
        local
    }
}

/// Whether no work-item can tell what local size it runs with.
fn takes_any_size(kernel: &CompiledKernel) -> bool {
    !kernel.sees_work_groups && kernel.attributes.required_work_group_size.is_none()
}

/// The dispatches of a range.
fn regions_of(
    kernel: &CompiledKernel,
    global: [u64; 3],
    local: [u32; 3],
    limits: &WorkLimits,
) -> Option<SmallVec<[GroupRegion; 1]>> {
    if kernel.ends_rows() {
        cover_range(global, local, limits)
    } else {
        split_range(global, local, limits)
    }
}

/// What the pipeline of a dispatch is specialized for.
fn pipeline_key(
    kernel: &CompiledKernel,
    request: &Request,
    groups: &GroupRegion,
    limits: &WorkLimits,
) -> PipelineKey {
    let mut constants = request.constants.clone();
    if let Some(spec_id) = kernel.small_range_spec_id
        && request.starts_at_zero
        && is_small(groups)
    {
        constants.push((spec_id, 1));
    }
    // Work-groups of one sub-group have one pipeline for all ranges.
    if let Some(spec_id) = kernel.whole_rows_spec_id
        && groups.local != [limits.subgroup_size, 1, 1]
        && groups.ends_with_a_group()
    {
        constants.push((spec_id, 1));
    }
    PipelineKey {
        local_size: groups.local,
        constants,
    }
}

/// Work-items in a work-group of as many whole sub-groups as the kernel requires.
fn required_work_items(kernel: &CompiledKernel, limits: &WorkLimits) -> Option<u64> {
    let sub_groups = kernel.attributes.required_sub_groups?;
    u64::from(sub_groups).checked_mul(limits.kernel_subgroup_size.into())
}

impl LaunchPlans {
    /// The plan of the last launch.
    fn last(&self) -> Option<&LaunchPlan> {
        self.kept[self.last].as_ref()
    }

    /// Its local size.
    pub fn last_local_size(&self) -> Option<[u32; 3]> {
        Some(self.last()?.local)
    }

    /// The plan for a launch on a queue: one that is kept, if it fits.
    ///
    /// # Errors
    /// As [`local_size`]; `CL_INVALID_GLOBAL_WORK_SIZE`; `CL_OUT_OF_RESOURCES` for too much local memory or a
    /// pipeline that can't be made.
    pub fn plan(
        &mut self,
        arguments: &[ArgumentValue],
        code: DeviceCode<'_>,
        queue: &DeviceQueue,
        range: &NdRange,
    ) -> Result<&LaunchPlan> {
        let compiled = code.compiled;
        let starts_at_zero = compiled.small_range_spec_id.is_some() && range.offset == [0; 3];
        let constants = argument_constants(compiled, arguments, queue);
        let left_to_cover = MOST_COVERED.saturating_sub(self.covered);
        let fits = |plan: &LaunchPlan| {
            // Word by word: those of the range have just been written.
            let made_for = &plan.request;
            made_for.device == code.place
                && (!plan.covers_long || work_items(range.global) <= left_to_cover)
                && is_same(&made_for.global, &range.global)
                && is_same_size(&made_for.local, &range.local)
                && made_for.starts_at_zero == starts_at_zero
                && made_for.constants == constants
        };
        let has = |place: usize| self.kept[place].as_ref().is_some_and(fits);
        let other = 1 - self.last;
        if !has(self.last) {
            if !has(other) {
                let request = Request {
                    device: code.place,
                    global: range.global,
                    local: range.local,
                    starts_at_zero,
                    constants,
                };
                let plan = self.make(request, arguments, code, queue.device(), range)?;
                self.kept[other] = Some(plan);
            }
            self.last = other;
        }
        if self.last().is_some_and(|plan| plan.covers_long) {
            self.covered = self.covered.saturating_add(work_items(range.global));
        }
        self.last()
            .ok_or_else(|| Error::impossible("the launch has no plan"))
    }

    fn make(
        &self,
        request: Request,
        arguments: &[ArgumentValue],
        code: DeviceCode<'_>,
        device: &Device,
        range: &NdRange,
    ) -> Result<LaunchPlan> {
        let DeviceCode { code, compiled, .. } = code;
        let limits = WorkLimits::of(device, compiled);
        let local = local_size(compiled, range, &limits)?;
        let mut local = executed_size(compiled, range, local, &limits);
        let mut covers_long = false;
        if device.capabilities().compiles_slowly && takes_any_size(compiled) {
            let has_pipeline = |size| {
                let regions = regions_of(compiled, range.global, size, &limits);
                regions.unwrap_or_default().iter().all(|groups| {
                    let key = pipeline_key(compiled, &request, groups, &limits);
                    code.executable.has_pipeline(code.index(), &key)
                })
            };
            if compiled.ends_rows() {
                let left_to_cover = MOST_COVERED.saturating_sub(self.covered);
                let size = covering_size(range.global, local, &limits, left_to_cover, has_pipeline);
                covers_long = size != local && is_long(range.global);
                local = size;
            } else {
                local = shared_size(range.global, local, &limits, has_pipeline);
            }
        }
        let regions = regions_of(compiled, range.global, local, &limits).ok_or_else(|| {
            Error::new(
                CL_INVALID_GLOBAL_WORK_SIZE,
                format!(
                    "global_work_size {:?} in work-groups of {local:?} is more than 2^32 - 1 of them in a \
                     dimension",
                    range.global
                ),
            )
        })?;
        check_local_memory(compiled, arguments, device)?;
        let kept = self.kept.iter().flatten();
        let kept = kept.filter(|plan| plan.request.device == request.device);
        let known: SmallVec<[&PlannedRegion; 4]> = kept.flat_map(|plan| &plan.regions).collect();
        let mut planned: SmallVec<[PlannedRegion; 1]> = SmallVec::new();
        for groups in regions {
            let key = pipeline_key(compiled, &request, &groups, &limits);
            let mut known = known.iter().copied().chain(&planned);
            let pipeline = match known.find(|known| known.key == key) {
                Some(known) => Arc::clone(&known.pipeline),
                None => code.executable.pipeline(code.index(), &key)?,
            };
            planned.push(PlannedRegion {
                groups,
                key,
                pipeline,
            });
        }
        let mut groups = [0u64; 3];
        for ((groups, global), local) in groups.iter_mut().zip(range.global).zip(local) {
            *groups = global.div_ceil(u64::from(local));
        }
        Ok(LaunchPlan {
            request,
            local,
            groups,
            regions: planned,
            covers_long,
        })
    }
}

/// Whether a dispatch of a range that starts at 0 has the global ids of a small range ([`SMALL_RANGE`]).
fn is_small(region: &GroupRegion) -> bool {
    let sizes = region.count.into_iter().zip(region.local);
    let mut work_items = sizes.map(|(count, local)| u64::from(count) * u64::from(local));
    region.base == [0; 3] && work_items.all(|size| size <= u64::from(SMALL_RANGE))
}

/// The number of elements of each local argument, the format of each image, each sampler.
fn argument_constants(
    kernel: &CompiledKernel,
    values: &[ArgumentValue],
    queue: &DeviceQueue,
) -> Constants {
    let mut constants = Constants::new();
    for (argument, value) in kernel.arguments.iter().zip(values) {
        if let (
            ArgumentKind::Local {
                spec_id,
                element_bytes,
                granule_bytes,
            },
            ArgumentValue::LocalBytes(bytes),
        ) = (&argument.kind, value)
        {
            let bytes = bytes
                .checked_next_multiple_of(u64::from((*granule_bytes).max(1)))
                .unwrap_or(u64::MAX);
            let elements = bytes.div_ceil(u64::from((*element_bytes).max(1))).max(1);
            // Sizes beyond are refused by `check_local_memory`.
            constants.push((*spec_id, u32::try_from(elements).unwrap_or(u32::MAX)));
        }
        match (&argument.kind, value) {
            (
                ArgumentKind::Image {
                    format_spec_id: Some(spec_id),
                    fields,
                    ..
                },
                ArgumentValue::Memory(Some(memory)),
            ) => {
                // A released image is refused when its fields are written.
                let memory = memory.upgrade();
                if let Some((memory, image)) =
                    memory.as_ref().and_then(|it| Some((it, it.image()?)))
                {
                    let format = image.format.texel_format();
                    let samples = fields
                        .iter()
                        .any(|(field, _)| *field == ImageField::Texture);
                    let format = if samples
                        && memory
                            .texture(queue.context_device(), queue.vk_queue())
                            .is_some()
                    {
                        format.textured(image.is_fetched_through_texture())
                    } else {
                        format
                    };
                    constants.push((*spec_id, format.0));
                }
            }
            (
                ArgumentKind::Sampler {
                    spec_id: Some(spec_id),
                },
                ArgumentValue::Sampler(word),
            ) => constants.push((*spec_id, *word)),
            _ => {}
        }
    }
    constants
}

/// "CL_OUT_OF_RESOURCES if there is a failure to queue the execution instance of kernel on the command-queue
/// because of insufficient resources needed to execute the kernel."
fn check_local_memory(
    kernel: &CompiledKernel,
    arguments: &[ArgumentValue],
    device: &Device,
) -> Result<()> {
    let mut total = kernel.local_memory_bytes;
    for value in arguments {
        if let ArgumentValue::LocalBytes(bytes) = value {
            total = total.saturating_add(*bytes);
        }
    }
    let limit = device.limits().local_memory_bytes;
    if total > limit {
        return Err(Error::out_of_resources(format!(
            "kernel '{}' needs {total} bytes of local memory, the device has {limit}",
            kernel.name
        )));
    }
    Ok(())
}

#[cfg(test)]
pub(in crate::runtime) mod tests {
    use super::*;
    use crate::compiler::program::KernelAttributes;
    use crate::runtime::launch::kernel::Kernel;
    use crate::runtime::test_queue;

    pub(in crate::runtime) const LIMITS: WorkLimits = WorkLimits {
        max_group_size: 256,
        max_item_sizes: [256, 256, 64],
        max_group_counts: [65535; 3],
        subgroup_size: 8,
        kernel_subgroup_size: 16,
    };

    /// A kernel without arguments.
    pub(in crate::runtime) fn kernel(required: Option<[u32; 3]>) -> CompiledKernel {
        CompiledKernel {
            name: "k".into(),
            spirv: crate::compiler::PackedModule::default(),
            arguments: Vec::new(),
            argument_block: Default::default(),
            attributes: KernelAttributes {
                required_work_group_size: required,
                ..Default::default()
            },
            local_memory_bytes: 0,
            private_memory_bytes: 0,
            uses_barrier: false,
            uniform_work_groups: true,
            sees_work_groups: true,
            follows_pointers: false,
            printf_calls: Vec::new(),
            uses_subgroups: false,
            small_range_spec_id: None,
            whole_rows_spec_id: None,
            uniform_bytes: 0,
            excess: None,
        }
    }

    fn code(required: Option<[u32; 3]>, global: [u64; 3], local: Option<[u64; 3]>) -> Option<i32> {
        let range = NdRange {
            dimensions: 3,
            offset: [0; 3],
            global,
            local,
        };
        local_size(&kernel(required), &range, &LIMITS)
            .err()
            .map(|error| error.code())
    }

    #[test]
    fn ranges_that_take_turns_keep_their_plans() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let source = "kernel void k(global uint *out) { out[get_global_id(0)] = 1; }";
        let Some(program) = test_queue::program(&queue, source) else {
            return;
        };
        let kernel = Kernel::new(&program, "k").unwrap();
        kernel.set_argument(0, ArgumentValue::Memory(None));
        let code = kernel.code(queue.device()).unwrap();
        let state = &mut *kernel.lock();
        // Where they begin matters only to a kernel with code for small ranges.
        let has_small = code.compiled.small_range_spec_id.is_some();
        // Each range, too long to share pipelines with others, its first work-item, and whether it is known by then.
        for (size, first, is_known) in [
            (2048, 0, false),
            (2048, 0, true),
            (2048, 64, !has_small),
            (2048, 0, true),
            // The same pipeline, wherever it begins.
            (2048, 128, true),
            (2048, 0, true),
            (3072, 0, false),
            (2048, 0, true),
            (3072, 0, true),
            (4096, 0, false),
            (3072, 0, true),
            // No longer.
            (2048, 0, false),
        ] {
            let range = NdRange {
                offset: [first, 0, 0],
                global: [size, 1, 1],
                local: Some([32, 1, 1]),
                ..NdRange::default()
            };
            let sizes = |plans: &LaunchPlans| {
                let kept = plans.kept.iter().flatten();
                let kept = kept.map(|plan| (plan.request.global[0], plan.request.starts_at_zero));
                kept.collect::<Vec<_>>()
            };
            let before = sizes(&state.plans);
            let plan = state
                .plans
                .plan(&state.arguments, code, queue.device_queue(), &range)
                .unwrap();
            assert_eq!(plan.groups, [size / 32, 1, 1]);
            assert_eq!(plan.request.starts_at_zero, has_small && first == 0);
            assert_eq!(before == sizes(&state.plans), is_known, "{size} at {first}");
        }
    }

    #[test]
    fn a_number_of_sub_groups_may_be_required() {
        let mut kernel = kernel(None);
        kernel.attributes.required_sub_groups = Some(3);
        let size = |local: Option<[u64; 3]>| {
            let range = NdRange {
                dimensions: 1,
                offset: [0; 3],
                global: [480, 1, 1],
                local,
            };
            local_size(&kernel, &range, &LIMITS)
        };
        let least = u64::from(LIMITS.kernel_subgroup_size);
        assert_eq!(size(None).unwrap(), [3 * LIMITS.kernel_subgroup_size, 1, 1]);
        assert!(size(Some([2 * least, 1, 1])).is_err());
        assert!(size(Some([3 * least, 1, 1])).is_ok());
    }

    #[test]
    fn local_sizes_are_checked_as_the_specification_says() {
        assert_eq!(code(None, [64, 1, 1], Some([64, 1, 1])), None);
        assert_eq!(code(None, [64, 1, 1], None), None);
        assert_eq!(code(Some([8, 1, 1]), [64, 1, 1], None), None);
        for (required, global, local, expected) in [
            (
                Some([8, 1, 1]),
                [64, 1, 1],
                Some([4, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                Some([8, 1, 1]),
                [65, 1, 1],
                None,
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [512, 1, 1],
                Some([512, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [64, 1, 1],
                Some([7, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [64, 1, 1],
                Some([0, 1, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [64, 64, 1],
                Some([u64::MAX, u64::MAX, 1]),
                CL_INVALID_WORK_GROUP_SIZE,
            ),
            (
                None,
                [1, 1, 128],
                Some([1, 1, 128]),
                CL_INVALID_WORK_ITEM_SIZE,
            ),
        ] {
            assert_eq!(
                code(required, global, local),
                Some(expected),
                "{global:?} {local:?}"
            );
        }
    }

    #[test]
    fn groups_need_not_divide_where_the_program_allows_others() {
        let mut free = kernel(Some([8, 1, 1]));
        free.uniform_work_groups = false;
        let mut range = NdRange {
            dimensions: 1,
            offset: [0; 3],
            global: [65, 1, 1],
            local: None,
        };
        assert_eq!(local_size(&free, &range, &LIMITS).unwrap(), [8, 1, 1]);
        free.attributes.required_work_group_size = None;
        range.local = Some([64, 1, 1]);
        assert_eq!(local_size(&free, &range, &LIMITS).unwrap(), [64, 1, 1]);
        range.local = Some([0, 1, 1]);
        assert!(local_size(&free, &range, &LIMITS).is_err());
        range.local = None;
        range.global = [1_000_003, 1, 1];
        assert_eq!(local_size(&free, &range, &LIMITS).unwrap(), [256, 1, 1]);
        let mut uniform = kernel(None);
        assert_eq!(local_size(&uniform, &range, &LIMITS).unwrap(), [1, 1, 1]);
        uniform.sees_work_groups = false;
        assert_eq!(local_size(&uniform, &range, &LIMITS).unwrap(), [256, 1, 1]);
    }

    #[test]
    fn long_ranges_of_large_kernels_make_do_with_the_pipeline_of_short_ones_at_first() {
        let Some(queue) = test_queue::new(0) else {
            return;
        };
        let source = format!(
            "kernel void k(global uint *p, uint c) {{ size_t i = get_global_id(0); uint x = i; {} p[i] = x; }}",
            "x = x * 0x9e3779b1u + rotate(x, 7u) ^ c; x ^= x >> 15; ".repeat(800)
        );
        let Some(program) = test_queue::program(&queue, &source) else {
            return;
        };
        let kernel = Kernel::new(&program, "k").unwrap();
        kernel.set_argument(0, ArgumentValue::Memory(None));
        kernel.set_argument(1, ArgumentValue::Bytes([0; 4].as_slice().into()));
        let code = kernel.code(queue.device()).unwrap();
        if !code.compiled.ends_rows() {
            return;
        }
        let state = &mut *kernel.lock();
        let mut size = |work_items: u64| {
            let range = NdRange {
                global: [work_items, 1, 1],
                local: Some([64, 1, 1]),
                ..NdRange::default()
            };
            let plans = &mut state.plans;
            let plan = plans.plan(&state.arguments, code, queue.device_queue(), &range);
            plan.unwrap().local[0]
        };
        let sub_group = size(1);
        assert!(sub_group < 64);
        let long = 1 << 18;
        for _ in 0..MOST_COVERED / long {
            assert_eq!(size(long), sub_group);
        }
        assert_eq!(size(long), 64);
        // That one is for ranges of whole work-groups alone.
        assert_eq!(size(1), sub_group);
        assert_eq!(size(long), 64);
    }

    #[test]
    fn small_work_groups_are_merged_where_the_kernel_cannot_tell() {
        let mut kernel = kernel(None);
        let range = NdRange {
            dimensions: 2,
            offset: [0; 3],
            global: [1024, 1024, 1],
            local: Some([1, 1, 1]),
        };
        let executed =
            |kernel: &CompiledKernel, local| executed_size(kernel, &range, local, &LIMITS);
        assert_eq!(executed(&kernel, [1, 1, 1]), [1, 1, 1]);
        kernel.sees_work_groups = false;
        assert_eq!(executed(&kernel, [1, 1, 1]), [256, 1, 1]);
        assert_eq!(executed(&kernel, [7, 1, 1]), [256, 1, 1]);
        // A whole sub-group is the application's choice of what runs near what.
        assert_eq!(executed(&kernel, [1, 8, 1]), [1, 8, 1]);
        // What a kernel requires is in its code.
        kernel.attributes.required_work_group_size = Some([1, 1, 1]);
        assert_eq!(executed(&kernel, [1, 1, 1]), [1, 1, 1]);
    }
}
