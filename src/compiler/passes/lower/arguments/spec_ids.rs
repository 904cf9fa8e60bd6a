//! Numbers of specialization constants.

use crate::compiler::ir::Kernel;
use crate::compiler::program::ArgumentKind;

/// `SpecId`s from here on are lengths of `local` arguments, formats of images and samplers: 0 to 2 are the
/// local size.
pub const FIRST_FREE_SPEC_ID: u32 = 3;

/// A specialization constant that neither an argument of the kernel nor a pass has.
pub fn free_spec_id(kernel: &Kernel) -> u32 {
    let of_arguments = kernel
        .arguments
        .iter()
        .filter_map(|argument| match argument.kind {
            ArgumentKind::Local { spec_id, .. } => Some(spec_id),
            ArgumentKind::Image { format_spec_id, .. } => format_spec_id,
            ArgumentKind::Sampler { spec_id } => spec_id,
            _ => None,
        });
    let of_passes = [kernel.small_range_spec_id, kernel.whole_rows_spec_id];
    let taken = of_arguments.chain(of_passes.into_iter().flatten());
    taken.max().map_or(FIRST_FREE_SPEC_ID, |last| last + 1)
}
