//! Merges modules and resolves what they import from each other: the compiler's only multi-module step.
//!
//! Afterwards nothing is imported, and functions that no kernel reaches are gone (clang-22 makes two of
//! each kernel). Module-scope variables stay even if unused: they are part of the program.

use super::CompileError;
use super::ir::{FuncId, Function, Global, GlobalId, Module, Op, Type};
use crate::compiler::analysis::callees;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Links modules in order.
pub fn link(modules: Vec<Module>) -> Result<Module, CompileError> {
    let mut merged = Module::default();
    for module in modules {
        append(&mut merged, module);
    }
    let mut names = HashSet::new();
    for kernel in &merged.kernels {
        // Initializers have their names from no programmer, each module the same.
        if !kernel.attributes.is_initializer && !names.insert(kernel.name.as_str()) {
            return Err(duplicate(&kernel.name));
        }
    }
    let functions = resolve_functions(&merged)?;
    let globals = resolve_globals(&merged)?;
    let kept = reachable(&merged, &functions, &globals)?;
    Ok(rebuild(merged, &functions, &globals, &kept))
}

fn duplicate(name: &str) -> CompileError {
    CompileError::invalid(format!("symbol '{name}' is defined more than once"))
}

fn undefined(name: &str) -> CompileError {
    CompileError::invalid(format!("undefined reference to '{name}'"))
}

fn append(to: &mut Module, mut module: Module) {
    let (functions, globals) = (to.functions.len() as u32, to.globals.len() as u32);
    let function = |id: FuncId| FuncId(id.0 + functions);
    let global = |id: GlobalId| GlobalId(id.0 + globals);
    for function_data in &mut module.functions {
        renumber(function_data, function, global);
    }
    for data in &mut module.globals {
        for relocation in Arc::make_mut(&mut data.relocations) {
            relocation.target = global(relocation.target);
        }
    }
    for kernel in &mut module.kernels {
        kernel.function = function(kernel.function);
    }
    let rename = |(name, id)| (name, function(id));
    to.functions.append(&mut module.functions);
    to.globals.append(&mut module.globals);
    to.kernels.append(&mut module.kernels);
    to.link_once.append(&mut module.link_once);
    to.exports.extend(module.exports.into_iter().map(rename));
    to.imports.extend(module.imports.into_iter().map(rename));
}

/// Changes every mention of a function or variable in a function.
pub(super) fn renumber(
    function: &mut Function,
    map_function: impl Fn(FuncId) -> FuncId,
    map_global: impl Fn(GlobalId) -> GlobalId,
) {
    for index in 0..function.layout().len() {
        let block = function.layout()[index];
        for inst in function.block(block).insts.clone() {
            match &mut function.inst_mut(inst).op {
                Op::Call(callee, _) => *callee = map_function(*callee),
                Op::GlobalAddress(global) => *global = map_global(*global),
                _ => {}
            }
        }
    }
}

fn signature(function: &Function) -> (Vec<Type>, &[Type]) {
    let params = function.params().iter().map(|&param| function.ty(param));
    (params.collect(), &function.return_types)
}

/// For each function the one that stands for it: the definition of what is imported.
fn resolve_functions(module: &Module) -> Result<Vec<FuncId>, CompileError> {
    let once: HashSet<&str> = module.link_once.iter().map(String::as_str).collect();
    let mut resolved: Vec<FuncId> = module.function_ids().collect();
    let mut defined: HashMap<&str, FuncId> = HashMap::new();
    for (name, id) in &module.exports {
        match defined.get(name.as_str()) {
            Some(&first) if once.contains(name.as_str()) => resolved[id.index()] = first,
            Some(_) => return Err(duplicate(name)),
            None => {
                defined.insert(name, *id);
            }
        }
    }
    for (name, id) in &module.imports {
        // What is missing is an error only if it is called: see `reachable`.
        let Some(&definition) = defined.get(name.as_str()) else {
            continue;
        };
        if signature(module.function(*id)) != signature(module.function(definition)) {
            return Err(CompileError::invalid(format!(
                "function '{name}' is declared with other types than it is defined with"
            )));
        }
        resolved[id.index()] = definition;
    }
    Ok(resolved)
}

fn resolve_globals(module: &Module) -> Result<Vec<GlobalId>, CompileError> {
    let once: HashSet<&str> = module.link_once.iter().map(String::as_str).collect();
    let mut resolved: Vec<GlobalId> = (0..module.globals.len() as u32).map(GlobalId).collect();
    let mut defined: HashMap<&str, GlobalId> = HashMap::new();
    for (index, global) in module.globals.iter().enumerate() {
        let Some(name) = global.export.as_deref() else {
            continue;
        };
        match defined.get(name) {
            Some(&first) if once.contains(name) => resolved[index] = first,
            Some(_) => return Err(duplicate(name)),
            None => {
                defined.insert(name, GlobalId(index as u32));
            }
        }
    }
    for (index, global) in module.globals.iter().enumerate() {
        let Some(name) = global.import.as_deref() else {
            continue;
        };
        // What is missing is an error only if it is used: see `reachable`.
        let Some(&definition) = defined.get(name) else {
            continue;
        };
        let same =
            |other: &Global| other.space == global.space && other.size_bytes >= global.size_bytes;
        if !same(module.global(definition)) {
            return Err(CompileError::invalid(format!(
                "variable '{name}' is declared with another type than it is defined with"
            )));
        }
        resolved[index] = definition;
    }
    Ok(resolved)
}

/// Which functions kernels reach.
fn reachable(
    module: &Module,
    resolved: &[FuncId],
    globals: &[GlobalId],
) -> Result<Vec<bool>, CompileError> {
    let absent = |id: GlobalId| is_absent(module.global(globals[id.index()]));
    for global in &module.globals {
        let mut targets = global.relocations.iter().map(|it| it.target);
        if let Some(target) = targets.find(|target| absent(*target)) {
            return Err(undefined(&module.global(target).name));
        }
    }
    let missing: HashMap<FuncId, &str> = module
        .imports
        .iter()
        .filter(|(_, id)| resolved[id.index()] == *id)
        .map(|(name, id)| (*id, name.as_str()))
        .collect();
    let mut kept = vec![false; module.functions.len()];
    let mut work: Vec<FuncId> = module
        .kernels
        .iter()
        .map(|kernel| kernel.function)
        .collect();
    while let Some(id) = work.pop() {
        let id = resolved[id.index()];
        if std::mem::replace(&mut kept[id.index()], true) {
            continue;
        }
        let function = module.function(id);
        if let Some(global) = globals_of(function).find(|global| absent(*global)) {
            let name = &module.global(global).name;
            return Err(undefined(name).in_function(function.name.as_str()));
        }
        for callee in callees(function) {
            if let Some(name) = missing.get(&callee) {
                return Err(undefined(name).in_function(function.name.as_str()));
            }
            work.push(callee);
        }
    }
    Ok(kept)
}

/// Whether a variable, resolved, is one that no module defines.
fn is_absent(global: &Global) -> bool {
    global.import.is_some()
}

/// The variables whose addresses a function takes, one for each time.
fn globals_of(function: &Function) -> impl Iterator<Item = GlobalId> + '_ {
    let blocks = function.layout().iter();
    let insts = blocks.flat_map(|&block| &function.block(block).insts);
    insts.filter_map(|&inst| match function.inst(inst).op {
        Op::GlobalAddress(global) => Some(global),
        _ => None,
    })
}

fn rebuild(module: Module, functions: &[FuncId], globals: &[GlobalId], kept: &[bool]) -> Module {
    let mut new_functions = vec![None; module.functions.len()];
    let mut linked = Module {
        link_once: Vec::new(),
        ..Module::default()
    };
    let mut new_globals = vec![GlobalId(0); module.globals.len()];
    for (index, global) in module.globals.into_iter().enumerate() {
        if globals[index] == GlobalId(index as u32) && !is_absent(&global) {
            new_globals[index] = linked.add_global(global);
        }
    }
    let map_global = |id: GlobalId| new_globals[globals[id.index()].index()];
    for global in &mut linked.globals {
        for relocation in Arc::make_mut(&mut global.relocations) {
            relocation.target = map_global(relocation.target);
        }
    }
    for (index, function) in module.functions.into_iter().enumerate() {
        if kept[index] {
            new_functions[index] = Some(linked.add_function(function));
        }
    }
    // Everything kept mentions only what is kept.
    let map_function =
        |id: FuncId| new_functions[functions[id.index()].index()].unwrap_or(FuncId(0));
    for function in &mut linked.functions {
        renumber(function, map_function, map_global);
    }
    linked.kernels = module.kernels;
    for kernel in &mut linked.kernels {
        kernel.function = map_function(kernel.function);
    }
    linked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::testing::{assemble, opencl_c};
    use crate::compiler::verify::{self, Stage};
    use crate::compiler::{Options, parse};

    fn parse_c(source: &str) -> Module {
        parse::parse(&opencl_c(source), &Options::default()).expect("valid")
    }

    const USER: &str = "int twice(int x); extern global int counter;
        kernel void k(global int *p) { p[0] = twice(p[1]) + counter; }";
    const LIBRARY: &str = "global int counter = 5; global int unused = 6;
        __attribute__((noinline)) int inner(int x) { return x * x; }
        int twice(int x) { return inner(x) + inner(x + 1); }";

    #[test]
    fn a_program_of_two_modules() {
        for order in [[USER, LIBRARY], [LIBRARY, USER]] {
            let linked = link(order.map(parse_c).into()).expect("linked");
            verify::module(&linked, Stage::Parsed).expect("valid");
            let names: HashSet<&str> = linked.functions.iter().map(|f| f.name.as_str()).collect();
            assert!(names.contains("twice") && names.contains("inner"));
            assert!(
                !names
                    .iter()
                    .any(|name| name.starts_with("__clang_ocl_kern_imp_"))
            );
            assert_eq!(linked.globals.len(), 2, "both variables, once");
            assert!(linked.globals.iter().all(|global| global.import.is_none()));
        }
    }

    #[test]
    fn missing_and_doubled_symbols_are_named() {
        let reason = |sources: &[&str]| {
            let modules = sources.iter().map(|source| parse_c(source)).collect();
            link(modules).expect_err("refused").reason
        };
        assert_eq!(reason(&[USER]), "undefined reference to 'counter'");
        let declared = "int twice(int x); kernel void k(global int *p) { p[0] = twice(p[1]); }";
        assert_eq!(reason(&[declared]), "undefined reference to 'twice'");
        assert_eq!(
            reason(&[declared, LIBRARY, "int twice(int x) { return x; }"]),
            "symbol 'twice' is defined more than once"
        );
        assert!(reason(&[declared, "int twice(long x) { return x; }"]).contains("other types"));
        assert!(reason(&[declared, LIBRARY, declared]).contains("'k' is defined more than once"));
    }

    #[test]
    fn a_variable_that_is_nowhere_matters_where_it_is_used() {
        let unused = "extern constant int nowhere[4];
            int unused(int i) { return nowhere[i]; }
            kernel void k(global int *p) { *p = 1; }";
        let linked = link(vec![parse_c(unused)]).expect("linked");
        verify::module(&linked, Stage::Parsed).expect("valid");
        assert!(linked.globals.is_empty());
        let used = "extern constant int nowhere[4];
            __attribute__((noinline)) int f(int i) { return nowhere[i]; }
            kernel void k(global int *p) { *p = f(*p); }";
        let error = link(vec![parse_c(used)]).expect_err("refused");
        assert_eq!(error.reason, "undefined reference to 'nowhere'");
    }

    #[test]
    fn functions_to_be_linked_once() {
        let module = |value: u32, kernel: &str| {
            let words = assemble(&format!(
                r#"OpCapability Addresses
                OpCapability Kernel
                OpCapability Linkage
                OpExtension "SPV_KHR_linkonce_odr"
                OpMemoryModel Physical64 OpenCL
                OpEntryPoint Kernel %kernel "{kernel}"
                OpDecorate %f LinkageAttributes "f" LinkOnceODR
                %void = OpTypeVoid
                %uint = OpTypeInt 32 0
                %value = OpConstant %uint {value}
                %f_type = OpTypeFunction %uint
                %kernel_type = OpTypeFunction %void
                %f = OpFunction %uint None %f_type
                %a = OpLabel
                OpReturnValue %value
                OpFunctionEnd
                %kernel = OpFunction %void None %kernel_type
                %b = OpLabel
                %c = OpFunctionCall %uint %f
                OpReturn
                OpFunctionEnd"#
            ));
            parse::parse(&words, &Options::default()).expect("valid")
        };
        let linked = link(vec![module(1, "x"), module(2, "y")]).expect("linked");
        assert_eq!((linked.functions.len(), linked.kernels.len()), (3, 2));
    }
}
