//! What tests of passes share.

use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Builder, FuncId, Function, Kernel, Module, Terminator, Type, Value, Values,
};
use crate::compiler::{Capabilities, CompileError, Context, Library, Options, Sharing};
use std::sync::OnceLock;

/// Runs a pass for a device.
pub fn run_on(
    module: &mut Module,
    capabilities: &Capabilities,
    pass: fn(&mut Module, &Context<'_>) -> Result<(), CompileError>,
) -> Result<(), CompileError> {
    run_with(module, capabilities, &Options::default(), pass)
}

/// Runs a pass for a device and under options.
pub fn run_with(
    module: &mut Module,
    capabilities: &Capabilities,
    options: &Options,
    pass: fn(&mut Module, &Context<'_>) -> Result<(), CompileError>,
) -> Result<(), CompileError> {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| Library::embedded().expect("the library is embedded"));
    let cx = Context {
        capabilities,
        options,
        library,
        sharing: Sharing::All,
    };
    pass(module, &cx)
}

/// Runs a pass for a device that can do everything.
pub fn run(
    module: &mut Module,
    pass: fn(&mut Module, &Context<'_>) -> Result<(), CompileError>,
) -> Result<(), CompileError> {
    run_on(module, &Capabilities::full(), pass)
}

/// A module whose only function is a kernel without parameters.
pub fn module_of(function: Function) -> Module {
    let mut module = Module::default();
    let id = module.add_function(function);
    module.kernels.push(Kernel::new("k", id));
    module
}

/// A module with one function of these parameters; `build` returns its results.
pub fn module_with(
    params: &[Type],
    build: impl FnOnce(&mut Builder<'_>, &[Value]) -> Values,
) -> Module {
    let mut function = Function::new("test");
    let entry = function.entry();
    let params: Vec<Value> = params
        .iter()
        .map(|&ty| function.add_param(entry, ty))
        .collect();
    let mut b = Builder::new(&mut function, entry);
    let results = build(&mut b, &params);
    b.terminate(Terminator::Return(results.clone()));
    function.return_types = results.iter().map(|&v| function.ty(v)).collect();
    let mut module = Module::default();
    module.add_function(function);
    module
}

/// What a module's first function returns.
///
/// # Panics
/// It does not return.
pub fn results(module: &Module, args: &[u64]) -> Vec<u64> {
    let results = Interpreter::new(module).run(FuncId(0), args);
    results.unwrap_or_else(|trap| panic!("{trap:?} in {module}"))
}
