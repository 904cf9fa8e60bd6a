//! Removes what nothing depends on.

use crate::compiler::ir::{Function, Inst, Value, ValueDef};

/// Marks what effects and control flow need, and removes the rest; block parameters too, with their
/// arguments.
pub fn run(function: &mut Function) {
    let mut live = Live {
        values: vec![false; function.value_count()],
        insts: vec![false; function.inst_count()],
        work: Vec::new(),
    };
    // For each parameter the arguments it gets.
    let mut arguments: Vec<Vec<Value>> = vec![Vec::new(); function.value_count()];
    for &block in function.layout() {
        let data = function.block(block);
        for &inst in &data.insts {
            if !function.inst(inst).op.is_removable() {
                live.mark_inst(function, inst);
            }
        }
        for value in data.terminator.read() {
            live.mark(value);
        }
        for edge in data.terminator.edges() {
            let params = &function.block(edge.block).params;
            for (&param, &arg) in params.iter().zip(&edge.args) {
                arguments[param.index()].push(arg);
            }
        }
    }
    for &param in function.params() {
        live.mark(param);
    }
    while let Some(value) = live.work.pop() {
        match function.value(value).def {
            ValueDef::Result { inst, .. } => live.mark_inst(function, inst),
            ValueDef::Parameter(_) => {
                for &arg in &arguments[value.index()] {
                    live.mark(arg);
                }
            }
        }
    }

    for block in function.layout().to_vec() {
        let mut insts = function.block(block).insts.clone();
        insts.retain(|inst| live.insts[inst.index()]);
        function.set_insts(block, insts);
    }
    function.remove_params(|param| !live.values[param.index()]);
}

struct Live {
    values: Vec<bool>,
    insts: Vec<bool>,
    work: Vec<Value>,
}

impl Live {
    fn mark(&mut self, value: Value) {
        if !std::mem::replace(&mut self.values[value.index()], true) {
            self.work.push(value);
        }
    }

    fn mark_inst(&mut self, function: &Function, inst: Inst) {
        if !std::mem::replace(&mut self.insts[inst.index()], true) {
            for value in function.inst(inst).op.operands() {
                self.mark(value);
            }
        }
    }
}
