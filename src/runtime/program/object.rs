//! What `clCompileProgram` made of a program for a device.

use std::sync::OnceLock;

use crate::compiler::PackedModule;
use crate::runtime::code::front_end::FrontEnd;
use crate::runtime::code::modules::Modules;
use crate::toolchain::request::Rest;

/// A compiled object.
pub struct Object {
    /// With all that its kernels reach.
    alone: Modules,
    /// Functions for others, where the module lacks some.
    rest: Option<Rest>,
    /// The module of all functions, once something asked for it: or the build log's lines.
    whole: OnceLock<Result<PackedModule, String>>,
}

impl Object {
    pub fn new(alone: Modules, rest: Option<Rest>) -> Self {
        Self {
            alone,
            rest,
            whole: OnceLock::new(),
        }
    }

    /// What becomes an executable that is linked of nothing else.
    pub fn alone(&self) -> &Modules {
        &self.alone
    }

    /// With all functions that others may call.
    ///
    /// # Errors
    /// Why they could not be compiled: lines for the build log.
    pub fn whole(&self) -> Result<Modules, String> {
        let Some(rest) = &self.rest else {
            return Ok(self.alone.clone());
        };
        let whole = self.whole.get_or_init(|| {
            let front_end = FrontEnd::instance();
            let outcome = rest.compile(front_end.clang(), front_end.cache());
            outcome.spirv.ok_or(outcome.log)
        });
        Ok(Modules {
            modules: vec![whole.clone()?],
            ..self.alone.clone()
        })
    }
}
