//! Copies of functions' bodies.

use crate::compiler::ir::{Block, Builder, Edge, Function, Op, Terminator, Type, Value, Values};

/// Puts a copy of a function's body in the place of a call, and goes on behind it; what the function returned.
pub fn copy_in_place(b: &mut Builder<'_>, callee: &Function, args: &[Value]) -> Values {
    let after = b.function.add_block();
    let returned: Values = callee
        .return_types
        .iter()
        .map(|&ty| b.function.add_param(after, ty))
        .collect();
    let entry = copy_blocks(b, callee, args, after);
    b.jump(entry);
    b.switch_to(after);
    returned
}

/// Copies a function's blocks and variables, with `args` for its parameters. What it returns goes to the parameters of
/// `after`. The copy of its entry.
pub fn copy_blocks(b: &mut Builder<'_>, callee: &Function, args: &[Value], after: Block) -> Block {
    let (flags, from) = (b.flags, b.block());
    let first_variable = b.function.variables.len() as u32;
    b.function
        .variables
        .extend(callee.variables.iter().cloned());
    let order = callee.reverse_postorder();
    let mut copy = Copy::new(b, callee, args, &order);
    for &block in &order {
        b.switch_to(copy.block(block));
        for &inst in &callee.block(block).insts {
            let data = callee.inst(inst);
            let mut op = data.op.clone();
            // Blocks come in reverse postorder: what an operand names is copied already.
            op.for_each_operand_mut(|value| *value = copy.value(*value));
            if let Op::VariableAddress(variable) = &mut op {
                variable.0 += first_variable;
            }
            b.flags = data.flags;
            let types: Vec<Type> = data.results.iter().map(|&v| callee.ty(v)).collect();
            let results = b.op(op, types);
            for (&old, new) in data.results.iter().zip(results) {
                copy.values[old.index()] = Some(new);
            }
        }
        b.terminate(copy.terminator(callee.block(block).terminator.clone(), after));
    }
    b.flags = flags;
    b.switch_to(from);
    copy.block(callee.entry())
}

/// What blocks and values of a function are in its copy.
struct Copy {
    blocks: Vec<Option<Block>>,
    values: Vec<Option<Value>>,
}

impl Copy {
    /// Makes the blocks and their parameters.
    fn new(b: &mut Builder<'_>, callee: &Function, args: &[Value], order: &[Block]) -> Self {
        let mut copy = Self {
            blocks: vec![None; callee.block_count()],
            values: vec![None; callee.value_count()],
        };
        for (&param, &arg) in callee.params().iter().zip(args) {
            copy.values[param.index()] = Some(arg);
        }
        for &block in order {
            let new = b.function.add_block();
            copy.blocks[block.index()] = Some(new);
            if block == callee.entry() {
                continue;
            }
            for &param in &callee.block(block).params {
                copy.values[param.index()] = Some(b.function.add_param(new, callee.ty(param)));
            }
        }
        copy
    }

    fn block(&self, block: Block) -> Block {
        self.blocks[block.index()].unwrap_or(block)
    }

    fn value(&self, value: Value) -> Value {
        self.values[value.index()].unwrap_or(value)
    }

    fn terminator(&self, mut terminator: Terminator, after: Block) -> Terminator {
        terminator.for_each_operand_mut(|value| *value = self.value(*value));
        for edge in terminator.edges_mut() {
            edge.block = self.block(edge.block);
        }
        match terminator {
            Terminator::Return(results) => Terminator::Jump(Edge::new(after, results)),
            other => other,
        }
    }
}
