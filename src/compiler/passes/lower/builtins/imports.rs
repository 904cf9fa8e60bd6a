//! Functions that lowered code calls: of the built-in library, and of our own.

use crate::compiler::ir::{FuncId, Function, GlobalId, Module, Op};
use crate::compiler::{CompileError, Context, parse};
use std::collections::HashMap;
use std::sync::Arc;

/// Functions that are not the library's.
#[derive(Clone, Copy)]
pub struct OwnFunctions {
    /// Whether there is one of that name.
    pub has: fn(&str) -> bool,
    /// The one of that name, if there is one.
    pub make: fn(&str, &Context<'_>) -> Option<Function>,
}

/// Functions in the module or about to be, by name. A function asked for has its [`FuncId`] at once and its
/// body after [`Imports::resolve`].
pub struct Imports {
    own: OwnFunctions,
    by_name: HashMap<String, FuncId>,
    pending: Vec<String>,
    next: u32,
}

/// The function that a mangled name stands for on this device: our own, if there is one. Those are made for devices
/// that fuse multiply-adds, where a product and a sum are one instruction.
pub fn for_device<'a>(name: &'a str, cx: &Context<'a>) -> &'a str {
    if cx.capabilities.fused_fma32 {
        cx.library.replacement(name).unwrap_or(name)
    } else {
        name
    }
}

impl Imports {
    /// For a module to which nobody else adds functions meanwhile.
    pub fn new(module: &Module, own: OwnFunctions) -> Self {
        Self {
            own,
            by_name: HashMap::new(),
            pending: Vec::new(),
            next: module.functions.len() as u32,
        }
    }

    /// The function of this name: a mangled one of the library, or one of [`OwnFunctions`].
    pub fn function(&mut self, name: &str) -> FuncId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = FuncId(self.next);
        self.next += 1;
        self.by_name.insert(name.to_owned(), id);
        self.pending.push(name.to_owned());
        id
    }

    /// Adds what was asked for to the module. Returns whether there was anything.
    pub fn resolve(&mut self, module: &mut Module, cx: &Context<'_>) -> Result<bool, CompileError> {
        if self.pending.is_empty() {
            return Ok(false);
        }
        while !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            for name in &pending {
                let own = (self.own.make)(name, cx);
                module.add_function(own.unwrap_or_else(|| Function::new(name)));
            }
            let wanted: Vec<&str> = pending
                .iter()
                .map(String::as_str)
                .filter(|name| !(self.own.has)(name))
                .collect();
            if !wanted.is_empty() {
                self.import(module, &wanted, cx)?;
            }
        }
        Ok(true)
    }

    /// Adds `wanted` and what they reach, as far as it is not there yet.
    fn import(
        &mut self,
        module: &mut Module,
        wanted: &[&str],
        cx: &Context<'_>,
    ) -> Result<(), CompileError> {
        let modules = cx.library.modules_with(wanted, |name| {
            (self.own.has)(name)
                || for_device(name, cx) != name
                || (self.by_name.contains_key(name) && !wanted.contains(&name))
        })?;
        let mut parts = Vec::new();
        for words in &modules {
            parts.push(Part::new(parse::parse(words, cx.options)?));
        }
        // Exported names first: those that were asked for have a place already. Then the others get
        // one, behind whatever is asked for by `imports`.
        for part in &mut parts {
            self.place_exports(module, part);
        }
        for part in &mut parts {
            for (name, id) in &part.parsed.imports {
                part.ids[id.index()] = Some(self.function(for_device(name, cx)));
            }
        }
        parts.into_iter().try_for_each(|part| part.merge(module))
    }

    /// Gives the functions of a part their places in the module.
    fn place_exports(&mut self, module: &mut Module, part: &mut Part) {
        for (name, id) in &part.parsed.exports {
            let new = match self.by_name.get(name) {
                Some(&known) => known,
                None => {
                    let new = module.add_function(Function::new(name));
                    self.next = module.functions.len() as u32;
                    self.by_name.insert(name.clone(), new);
                    new
                }
            };
            part.ids[id.index()] = Some(new);
            part.defined.push(*id);
        }
    }
}

/// Some of the library's functions, as parsed.
struct Part {
    parsed: Module,
    /// The functions' ids in the module that they go to.
    ids: Vec<Option<FuncId>>,
    /// Those that have a body here.
    defined: Vec<FuncId>,
}

impl Part {
    fn new(parsed: Module) -> Self {
        Self {
            ids: vec![None; parsed.functions.len()],
            defined: Vec::new(),
            parsed,
        }
    }

    /// Adds variables and bodies to the module.
    fn merge(self, module: &mut Module) -> Result<(), CompileError> {
        let first_global = module.globals.len() as u32;
        for mut global in self.parsed.globals {
            (global.export, global.import) = (None, None);
            for relocation in Arc::make_mut(&mut global.relocations) {
                relocation.target = GlobalId(relocation.target.0 + first_global);
            }
            module.add_global(global);
        }
        let functions = self.parsed.functions.into_iter();
        let mut functions: Vec<Option<Function>> = functions.map(Some).collect();
        for id in self.defined {
            let Some(mut function) = functions[id.index()].take() else {
                continue;
            };
            relocate(&mut function, &self.ids, first_global)?;
            mark(&mut function);
            if let Some(new) = self.ids[id.index()] {
                *module.function_mut(new) = function;
            }
        }
        Ok(())
    }
}

/// Rewrites the ids of functions and variables to those of the module that the function goes to.
fn relocate(
    function: &mut Function,
    ids: &[Option<FuncId>],
    first_global: u32,
) -> Result<(), CompileError> {
    for block in function.layout().to_vec() {
        for inst in function.block(block).insts.clone() {
            match &mut function.inst_mut(inst).op {
                Op::Call(callee, _) => {
                    *callee = ids.get(callee.index()).copied().flatten().ok_or_else(|| {
                        CompileError::internal(
                            "the built-in library calls a function without a name",
                        )
                    })?;
                }
                Op::GlobalAddress(global) => global.0 += first_global,
                _ => {}
            }
        }
    }
    Ok(())
}

/// Marks a function as the library's: it is inlined when that pays, not when libclc was told so, and its
/// sums and products stay apart, since many compute what the rounding of another one lost.
fn mark(function: &mut Function) {
    function.control.library = true;
    function.control.inline = false;
    function.control.dont_inline = false;
    for block in function.layout().to_vec() {
        for inst in function.block(block).insts.clone() {
            let data = function.inst_mut(inst);
            data.flags.no_contraction = true;
        }
    }
}
