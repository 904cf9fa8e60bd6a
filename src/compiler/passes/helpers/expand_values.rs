//! The frame of the legalizing passes that put values of other types in place of every value of some type:
//! two I32 for an I64, one I32 for an I16.
//!
//! It walks the blocks in reverse postorder, so that a definition is seen before its uses, and does by
//! itself what only moves values: block parameters and edges, calls and returns, selects, undefined
//! values. Every other instruction that reads or makes a value of a replaced type is the pass's.
//! Unreachable blocks are dropped.

use crate::compiler::CompileError;
use crate::compiler::ir::{
    Block, Builder, Edge, Function, Inst, InstFlags, Op, Terminator, Type, Value, Values,
};
use smallvec::smallvec;

/// What a pass says of the types it replaces.
pub trait Expander {
    /// The types of the parts that stand for a value of type `ty`; `None` if it stays as it is.
    fn parts(&self, ty: Type) -> Option<&'static [Type]>;

    /// Builds what stands for an instruction that reads or makes a value of a replaced type, and returns
    /// the parts of each result, in order.
    fn instruction(&mut self, x: &mut Expansion<'_>, op: &Op, types: &[Type]) -> Expanded;

    /// Ends the current block with a switch on a value of a replaced type; the edges are done already.
    fn switch(
        &mut self,
        x: &mut Expansion<'_>,
        value: Value,
        cases: Vec<(u64, Edge)>,
        default: Edge,
    ) -> Result<(), CompileError>;
}

/// The parts of each result of an instruction.
pub type Expanded = Result<Vec<Values>, CompileError>;

/// A function while its values are replaced.
pub struct Expansion<'a> {
    pub b: Builder<'a>,
    /// By value: what stands for it; empty for itself.
    parts: Vec<Values>,
}

impl Expansion<'_> {
    /// What stands for a value of the source.
    pub fn parts(&self, value: Value) -> Values {
        match self.parts.get(value.index()) {
            Some(parts) if !parts.is_empty() => parts.clone(),
            _ => smallvec![value],
        }
    }

    /// What stands for a value that is not taken apart.
    pub fn one(&self, value: Value) -> Value {
        self.parts(value)[0]
    }

    /// The low and high half of a value that became two.
    pub fn pair(&self, value: Value) -> (Value, Value) {
        let parts = self.parts(value);
        debug_assert_eq!(parts.len(), 2);
        (parts[0], parts[parts.len() - 1])
    }

    /// The type that a value of the source has there.
    pub fn ty(&self, value: Value) -> Type {
        self.b.ty(value)
    }

    fn all_parts(&self, values: &[Value]) -> Values {
        values.iter().flat_map(|&value| self.parts(value)).collect()
    }

    fn set(&mut self, value: Value, parts: Values) {
        if self.parts.len() <= value.index() {
            self.parts.resize(value.index() + 1, Values::new());
        }
        self.parts[value.index()] = parts;
    }

    fn expand_edge(&self, edge: &mut Edge) {
        edge.args = self.all_parts(&edge.args);
    }
}

/// Replaces the values of one function.
pub fn expand_function(
    function: &mut Function,
    pass: &mut impl Expander,
) -> Result<(), CompileError> {
    let touched = (0..function.value_count() as u32)
        .any(|index| pass.parts(function.ty(Value(index))).is_some());
    if !touched {
        return Ok(());
    }
    let name = function.name.clone();
    expand(function, pass).map_err(|error| error.in_function(name))
}

fn expand(function: &mut Function, pass: &mut impl Expander) -> Result<(), CompileError> {
    let order = function.reverse_postorder();
    let mut reachable = vec![false; function.block_count()];
    order.iter().for_each(|b| reachable[b.index()] = true);
    function.retain_blocks(|block| reachable[block.index()]);
    function.return_types = std::mem::take(&mut function.return_types)
        .into_iter()
        .flat_map(|ty| pass.parts(ty).map_or(vec![ty], <[Type]>::to_vec))
        .collect();

    let entry = function.entry();
    let mut x = Expansion {
        b: Builder::new(function, entry),
        parts: Vec::new(),
    };
    for &block in &order {
        expand_params(&mut x, pass, block);
    }
    for &block in &order {
        let data = x.b.function.block_mut(block);
        let insts = std::mem::take(&mut data.insts);
        let terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
        x.b.switch_to(block);
        for inst in insts {
            expand_inst(&mut x, pass, inst)?;
        }
        expand_terminator(&mut x, pass, terminator)?;
    }
    Ok(())
}

fn expand_params(x: &mut Expansion<'_>, pass: &impl Expander, block: Block) {
    let params = std::mem::take(&mut x.b.function.block_mut(block).params);
    for param in params {
        match pass.parts(x.ty(param)) {
            None => x.b.function.block_mut(block).params.push(param),
            Some(types) => {
                let parts = types
                    .iter()
                    .map(|&ty| x.b.function.add_param(block, ty))
                    .collect();
                x.set(param, parts);
            }
        }
    }
}

fn expand_inst(
    x: &mut Expansion<'_>,
    pass: &mut impl Expander,
    inst: Inst,
) -> Result<(), CompileError> {
    let data = x.b.function.inst(inst).clone();
    let types: Vec<Type> = data.results.iter().map(|&v| x.ty(v)).collect();
    let replaced = |x: &Expansion<'_>, v: Value| pass.parts(x.ty(v)).is_some();
    let touched = data.results.iter().any(|&v| replaced(x, v))
        || data.op.operands().iter().any(|&v| replaced(x, v));
    if !touched {
        let mut op = data.op;
        op.for_each_operand_mut(|v| *v = x.one(*v));
        x.b.function.inst_mut(inst).op = op;
        x.b.push(inst);
        return Ok(());
    }

    // Wrapping is promised of the whole value, not of its parts.
    x.b.flags = InstFlags {
        no_signed_wrap: false,
        no_unsigned_wrap: false,
        ..data.flags
    };
    let parts_of = |ty: Type| pass.parts(ty).map_or(vec![ty], <[Type]>::to_vec);
    let results: Vec<Values> = match &data.op {
        Op::Undef => {
            let parts = parts_of(types[0]);
            vec![parts.into_iter().map(|ty| x.b.undef(ty)).collect()]
        }
        &Op::Select(condition, yes, no) => {
            let condition = x.one(condition);
            let pairs = x.parts(yes).into_iter().zip(x.parts(no));
            vec![
                pairs
                    .map(|(yes, no)| {
                        crate::compiler::passes::helpers::folding::select(
                            &mut x.b, condition, yes, no,
                        )
                    })
                    .collect(),
            ]
        }
        Op::Call(callee, args) => {
            let args = x.all_parts(args);
            let counts: Vec<_> = types.iter().map(|&ty| parts_of(ty).len()).collect();
            let flat: Vec<Type> = types.iter().flat_map(|&ty| parts_of(ty)).collect();
            let mut values = x.b.op(Op::Call(*callee, args), flat).into_iter();
            counts
                .into_iter()
                .map(|count| values.by_ref().take(count).collect())
                .collect()
        }
        op => pass.instruction(x, op, &types)?,
    };
    debug_assert_eq!(results.len(), data.results.len(), "parts for each result");
    for (&result, parts) in data.results.iter().zip(results) {
        x.set(result, parts);
    }
    Ok(())
}

fn expand_terminator(
    x: &mut Expansion<'_>,
    pass: &mut impl Expander,
    mut terminator: Terminator,
) -> Result<(), CompileError> {
    x.b.flags = InstFlags::default();
    for edge in terminator.edges_mut() {
        x.expand_edge(edge);
    }
    match &mut terminator {
        Terminator::Branch { condition, .. } => *condition = x.one(*condition),
        Terminator::Return(values) => *values = x.all_parts(values),
        Terminator::Switch {
            value,
            cases,
            default,
        } => {
            if pass.parts(x.ty(*value)).is_some() {
                return pass.switch(x, *value, std::mem::take(cases), default.clone());
            }
            *value = x.one(*value);
        }
        Terminator::Jump(_) | Terminator::Unreachable => {}
    }
    x.b.terminate(terminator);
    Ok(())
}
