//! Which values are given: arguments of the kernel or constants, through however many calls they come. Those are the
//! same for all work-items of a launch, as an index among descriptors has to be ("dynamically uniform"). OpenCL C has
//! no others for images and samplers, but SPIR-V may choose among them.

use crate::compiler::ir::{Function, Module, Op, Value};

/// For each function which of its parameters are given.
pub(super) struct Given(Vec<Vec<bool>>);

impl Given {
    pub fn new(module: &Module) -> Self {
        let all = |function: &Function| vec![true; function.params().len()];
        let mut given = Self(module.functions.iter().map(all).collect());
        // What is chosen somewhere goes on to what is called with it, until there are no more.
        while given.note_calls(module) {}
        given
    }

    /// Whether a parameter that passed for given turned out not to be.
    fn note_calls(&mut self, module: &Module) -> bool {
        let mut found = false;
        for (index, function) in module.functions.iter().enumerate() {
            let blocks = function.layout().iter();
            for &inst in blocks.flat_map(|&block| &function.block(block).insts) {
                let Op::Call(callee, arguments) = &function.inst(inst).op else {
                    continue;
                };
                for (position, &argument) in arguments.iter().enumerate() {
                    let is_given = self.is_given(index, function, argument);
                    let parameters = self.0.get_mut(callee.index());
                    let parameter = parameters.and_then(|all| all.get_mut(position));
                    if let (Some(parameter @ true), false) = (parameter, is_given) {
                        *parameter = false;
                        found = true;
                    }
                }
            }
        }
        found
    }

    /// Whether a value in the function at `index` of the module is given.
    pub fn is_given(&self, index: usize, function: &Function, value: Value) -> bool {
        let position = || function.params().iter().position(|&param| param == value);
        let parameter = || self.0.get(index)?.get(position()?).copied();
        function.constant(value).is_some() || parameter() == Some(true)
    }
}
