//! Puts functions into a caller once, however many calls there are.
//!
//! A call becomes a jump to the body, with the number of the call beside the arguments; the body's end is a switch
//! on that number to what follows each call. Bodies that are called by bodies stand beside them. As there is no
//! recursion a body is entered again only after it was left: its variables and values need to be there once.
//!
//! What is computed before a call and used behind it no longer dominates its uses: paths lead from one call through
//! the body to what follows another. No work-item takes them; [`super::dominance`] gives values there
//! parameters, undefined on those paths.

use super::copy::copy_blocks;
use super::dominance;
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Block, Builder, Edge, FuncId, Function, Module, Op, Rewrite, Terminator, Type, Value, Values,
    rewrite_instructions,
};
use std::collections::BTreeMap;

/// `root` with the functions that it and they call and for which `is_shared` holds, each once.
pub fn with_shared(
    module: &Module,
    root: &Function,
    is_shared: &dyn Fn(FuncId) -> bool,
) -> Result<Function, CompileError> {
    let mut function = root.clone();
    let mut bodies: BTreeMap<FuncId, Body> = BTreeMap::new();
    // Each walk leads calls to bodies that it places, whose own calls are the next one's.
    while rewrite_instructions(&mut function, |b, inst| {
        let data = b.function.inst(inst);
        let (id, args) = match &data.op {
            Op::Call(id, args) if is_shared(*id) => (*id, args.clone()),
            _ => return Ok::<_, CompileError>(Rewrite::Keep),
        };
        let callee = module.function(id);
        super::check_call(callee, args.len(), data.results.len())?;
        let body = bodies.entry(id).or_insert_with(|| Body::place(b, callee));
        Ok(Rewrite::Replace(body.call(b, callee, args)))
    })? {}
    for body in bodies.values() {
        body.go_back(&mut function);
    }
    function.layout = function.reverse_postorder();
    let starts: Vec<Block> = bodies.values().map(|body| body.start).collect();
    drop_settled_params(&mut function, &starts);
    dominance::restore(&mut function);
    Ok(function)
}

/// A body that calls share.
struct Body {
    /// Takes the arguments and the number of the call.
    start: Block,
    number: Value,
    /// Takes what the function returns.
    end: Block,
    /// What follows each call; takes that, too.
    behind: Vec<Block>,
}

impl Body {
    fn place(b: &mut Builder<'_>, callee: &Function) -> Self {
        let [start, end] = [(); 2].map(|()| b.function.add_block());
        for &ty in &callee.return_types {
            b.function.add_param(end, ty);
        }
        let params: Values = callee
            .params()
            .iter()
            .map(|&param| b.function.add_param(start, callee.ty(param)))
            .collect();
        let number = b.function.add_param(start, Type::I32);
        let from = b.block();
        let entry = copy_blocks(b, callee, &params, end);
        b.switch_to(start);
        b.jump(entry);
        b.switch_to(from);
        Self {
            start,
            number,
            end,
            behind: Vec::new(),
        }
    }

    /// Goes on behind the body; what it returned.
    fn call(&mut self, b: &mut Builder<'_>, callee: &Function, args: Values) -> Values {
        let behind = b.function.add_block();
        let number = b.i32(self.behind.len() as u32);
        b.jump(Edge::new(self.start, args.into_iter().chain([number])));
        self.behind.push(behind);
        b.switch_to(behind);
        let types = callee.return_types.iter();
        types.map(|&ty| b.function.add_param(behind, ty)).collect()
    }

    /// Ends the body.
    fn go_back(&self, function: &mut Function) {
        let returned = function.block(self.end).params.clone();
        let edge = |&block: &Block| Edge::new(block, returned.iter().copied());
        let mut edges: Vec<Edge> = self.behind.iter().map(edge).collect();
        let Some(default) = edges.pop() else {
            return;
        };
        function.block_mut(self.end).terminator = match edges.is_empty() {
            true => Terminator::Jump(default),
            false => Terminator::Switch {
                value: self.number,
                cases: (0..).zip(edges).collect(),
                default,
            },
        };
    }
}

/// Drops parameters of bodies that get the same from all calls, as a pointer that is passed down a call tree is.
fn drop_settled_params(function: &mut Function, starts: &[Block]) {
    loop {
        let predecessors = function.predecessors();
        let mut settled = std::collections::HashMap::new();
        for &start in starts {
            for (position, &param) in function.block(start).params.iter().enumerate() {
                let from = predecessors[start.index()].iter();
                let edges = from.flat_map(|&from| function.block(from).terminator.edges());
                let given: Vec<Value> = edges
                    .filter(|edge| edge.block == start)
                    .filter_map(|edge| edge.args.get(position).copied())
                    .filter(|&arg| arg != param)
                    .collect();
                if let Some((&first, others)) = given.split_first()
                    && others.iter().all(|&other| is_same(function, first, other))
                {
                    settled.insert(param, first);
                }
            }
        }
        // One at a time where they depend on each other.
        let news: Vec<Value> = settled.values().copied().collect();
        settled.retain(|param, _| !news.contains(param));
        if settled.is_empty() {
            return;
        }
        function.remove_params(|param| settled.contains_key(&param));
        function.replace_values(&settled);
    }
}

/// Whether two values are one, or the same constant or variable.
fn is_same(function: &Function, a: Value, b: Value) -> bool {
    a == b
        || function.ty(a) == function.ty(b)
            && function.op_of(a).is_some_and(|op| {
                dominance::can_stand_anywhere(op) && function.op_of(b) == Some(op)
            })
}
