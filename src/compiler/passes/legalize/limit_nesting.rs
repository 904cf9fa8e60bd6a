//! Refuses functions whose loops are nested so deeply that memory and time would grow with the square of their size.
//!
//! Each pass that knows loops has a list of blocks for every one, with those of the loops within it. Of programs that people
//! write none comes near what is refused here: clang takes 256 brackets within each other.

use crate::compiler::analysis::are_too_deep;
use crate::compiler::ir::Module;
use crate::compiler::{CompileError, Context};

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let mut functions = module.functions.iter();
    match functions.find(|function| are_too_deep(function)) {
        Some(function) => {
            let error = CompileError::unsupported("loops are nested too deeply");
            Err(error.in_function(function.name.as_str()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Builder, Function, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::{Capabilities, Library, Options, Sharing};

    /// `do { do { … } while (…); } while (…);`
    fn nested(depth: usize) -> Module {
        let mut function = Function::new("k");
        let entry = function.entry();
        let mut b = Builder::new(&mut function, entry);
        let headers: Vec<_> = (0..depth).map(|_| b.function.add_block()).collect();
        for &header in &headers {
            b.jump(header);
            b.switch_to(header);
        }
        let again = b.bool(true);
        for &header in headers.iter().rev() {
            let behind = b.function.add_block();
            b.branch(again, header, behind);
            b.switch_to(behind);
        }
        b.terminate(Terminator::Return(Default::default()));
        testing::module_of(function)
    }

    #[test]
    fn loops_in_thousands_of_loops_are_refused() {
        let (capabilities, options) = (Capabilities::full(), Options::default());
        let library = Library::empty();
        let cx = Context {
            capabilities: &capabilities,
            options: &options,
            library: &library,
            sharing: Sharing::All,
        };
        assert_eq!(run(&mut nested(900), &cx), Ok(()));
        let error = run(&mut nested(20_000), &cx).unwrap_err();
        assert_eq!(error.reason, "loops are nested too deeply");
        assert_eq!(error.function.as_deref(), Some("k"));
    }
}
