//! One kernel, and what it reaches, as a module of its own.

use super::analysis::callees;
use super::ir::{FuncId, Function, Module, Op};
use super::link::renumber;

/// The module of `module.kernels[index]`: its function and all functions that it calls. Module-scope
/// variables stay all, with their ids, so that every kernel lays out the same data segment.
///
/// A kernel that asks for it (`ContractionOff`) gets `no_contraction` on its additions and multiplications.
pub fn extract_kernel(module: &Module, index: usize) -> Option<Module> {
    let mut kernel = module.kernels.get(index)?.clone();
    let mut new_ids: Vec<Option<FuncId>> = vec![None; module.functions.len()];
    let mut extracted = Module {
        globals: module.globals.clone(),
        arrays: module.arrays.clone(),
        ..Module::default()
    };
    let mut work = vec![kernel.function];
    while let Some(id) = work.pop() {
        if new_ids[id.index()].is_none() {
            let function = module.function(id);
            new_ids[id.index()] = Some(extracted.add_function(function.clone()));
            work.extend(callees(function));
        }
    }
    // Everything mentioned was visited.
    let map = |id: FuncId| new_ids[id.index()].unwrap_or(FuncId(0));
    for function in &mut extracted.functions {
        renumber(function, map, |global| global);
        if kernel.contraction_off {
            forbid_contraction(function);
        }
    }
    kernel.function = map(kernel.function);
    extracted.kernels.push(kernel);
    Some(extracted)
}

fn forbid_contraction(function: &mut Function) {
    for index in 0..function.layout().len() {
        let block = function.layout()[index];
        for inst in function.block(block).insts.clone() {
            let data = function.inst_mut(inst);
            if matches!(data.op, Op::Binary(op, ..) if op.is_float()) {
                data.flags.no_contraction = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::testing::opencl_c;
    use crate::compiler::verify::{self, Stage};
    use crate::compiler::{Options, link, parse};

    #[test]
    fn each_kernel_gets_what_it_calls() {
        let words = opencl_c(
            "constant int table[] = {1, 2, 3};
             __attribute__((noinline)) float f(float x) { return x * x + 1; }
             __attribute__((noinline)) float g(float x) { return f(x) * 3; }
             kernel void a(global float *p) { p[0] = g(p[1]) + table[(int)p[2]]; }
             kernel void b(global float *p) { p[0] = f(p[1]); }",
        );
        let module = parse::parse(&words, &Options::default()).expect("valid");
        let module = link::link(vec![module]).expect("linked");
        let count = |index| {
            let extracted = extract_kernel(&module, index).expect("a kernel");
            verify::module(&extracted, Stage::Parsed).expect("valid");
            assert_eq!(extracted.globals, module.globals);
            assert_eq!(extracted.kernels.len(), 1);
            // clang asks for no contraction: multiplication and addition must stay apart.
            for function in &extracted.functions {
                for &inst in function
                    .layout()
                    .iter()
                    .flat_map(|&b| &function.block(b).insts)
                {
                    let data = function.inst(inst);
                    let is_float = matches!(data.op, Op::Binary(op, ..) if op.is_float());
                    assert_eq!(data.flags.no_contraction, is_float);
                }
            }
            extracted.functions.len()
        };
        assert_eq!((count(0), count(1)), (3, 2));
        assert!(extract_kernel(&module, 2).is_none());
    }
}
