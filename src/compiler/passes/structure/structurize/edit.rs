//! Changes to blocks and edges.

use super::{MOST_PASSED, Shaper};
use crate::compiler::ir::{Block, Edge, InstFlags, Op, Terminator, Type, Value, Values};

impl Shaper<'_> {
    /// An undefined value that dominates everything.
    pub fn undefined(&mut self, ty: Type) -> Value {
        if let Some(&value) = self.undefined.get(&ty) {
            return value;
        }
        let value = self.in_entry(Op::Undef, ty);
        self.undefined.insert(ty, value);
        value
    }

    /// A 32-bit constant that dominates everything.
    pub fn number(&mut self, number: u32) -> Value {
        if let Some(&value) = self.numbers.get(&number) {
            return value;
        }
        let value = self.in_entry(Op::Const(number.into()), Type::I32);
        self.numbers.insert(number, value);
        value
    }

    fn in_entry(&mut self, op: Op, ty: Type) -> Value {
        let entry = self.function.entry();
        self.append(entry, op, ty)
    }

    /// Appends an operation to a block.
    pub fn append(&mut self, block: Block, op: Op, ty: Type) -> Value {
        let inst = self.function.make_inst(op, [ty], InstFlags::default());
        self.function.block_mut(block).insts.push(inst);
        if let Some(uses) = &mut self.uses {
            uses.add_instruction(self.function, block, inst);
        }
        self.function.inst(inst).results[0]
    }

    /// Gives a block another end.
    pub fn end(&mut self, block: Block, terminator: Terminator) {
        let edges = terminator.edges().into_iter();
        self.passed += edges.map(|edge| edge.args.len()).sum::<usize>();
        if self.passed > MOST_PASSED {
            self.function.give_up();
        }
        self.function.block_mut(block).terminator = terminator;
        if let Some(uses) = &mut self.uses {
            uses.add_end(self.function, block);
        }
    }

    /// Parameters for `to` of the same types as those of `from`.
    pub fn copy_params(&mut self, from: Block, to: Block) -> Values {
        let params = self.function.block(from).params.clone();
        params
            .into_iter()
            .map(|param| {
                let ty = self.function.ty(param);
                self.function.add_param(to, ty)
            })
            .collect()
    }

    /// A new block that goes on to `target`, taking what it takes.
    pub fn block_before(&mut self, target: Block) -> Block {
        let block = self.function.add_block();
        let args = self.copy_params(target, block);
        self.end(block, Terminator::Jump(Edge::new(target, args)));
        block
    }

    /// A new block that takes over how `block` ends.
    pub fn split_end(&mut self, block: Block) -> Block {
        let end = self.function.add_block();
        let jump = Terminator::Jump(end.into());
        let terminator = std::mem::replace(&mut self.function.block_mut(block).terminator, jump);
        self.end(end, terminator);
        end
    }

    /// A new block that must never be reached.
    pub fn unreachable(&mut self) -> Block {
        self.function.add_block()
    }

    /// Replaces edges of a block's terminator where `map` gives another one. A branch that then goes to one
    /// place becomes a jump.
    pub fn map_edges(
        &mut self,
        block: Block,
        mut map: impl FnMut(&mut Self, &Edge) -> Option<Edge>,
    ) {
        let mut terminator = self.function.block(block).terminator.clone();
        for edge in terminator.edges_mut() {
            if let Some(new) = map(self, edge) {
                *edge = new;
            }
        }
        if terminator != self.function.block(block).terminator {
            self.end(block, terminator);
            self.join_branch(block);
        }
    }

    /// A branch to one place along both edges becomes a jump, its arguments being selected.
    pub fn join_branch(&mut self, block: Block) {
        let Terminator::Branch {
            condition,
            then,
            otherwise,
        } = &self.function.block(block).terminator
        else {
            return;
        };
        if then.block != otherwise.block {
            return;
        }
        let condition = *condition;
        let (mut edge, other) = (then.clone(), otherwise.clone());
        for (arg, other) in edge.args.iter_mut().zip(other.args) {
            let ty = self.function.ty(*arg);
            let undefined = self.undefined.get(&ty);
            if *arg == other || undefined == Some(&other) {
                continue;
            }
            *arg = if undefined == Some(arg) {
                other
            } else {
                self.append(block, Op::Select(condition, *arg, other), ty)
            };
        }
        self.end(block, Terminator::Jump(edge));
    }

    /// Whether a block does nothing but return, so that it may be repeated.
    pub fn is_return(&self, block: Block) -> bool {
        let data = self.function.block(block);
        data.insts.is_empty() && matches!(data.terminator, Terminator::Return(_))
    }

    /// A copy of a return block for one edge into it.
    pub fn copy_return(&mut self, edge: &Edge) -> Edge {
        let original = self.function.block(edge.block);
        let params = original.params.clone();
        let mut terminator = original.terminator.clone();
        terminator.for_each_operand_mut(|value| {
            if let Some(index) = params.iter().position(|param| param == value) {
                *value = edge.args[index];
            }
        });
        let copy = self.function.add_block();
        self.end(copy, terminator);
        self.terminals.insert(copy);
        copy.into()
    }
}
