//! Gives every edge defined arguments.
//!
//! **Why.** A dispatch takes what any of its targets takes, so that an edge meant for one of them has nothing for the
//! others (`structurize`). NVIDIA's compiler (seen in 580.159.04) never writes the first value of a loop's variable into
//! its register where what comes around is undefined on some way.
//!
//! **How.** Two parameters of a block of which no edge defines both, unless they are the same there, become one: mostly a
//! variable under the names that it has in two targets. Where the block passes them on, that must hold there, too. Parameters that
//! have one value then go ([`crate::compiler::passes::structure::drop_parameters`]). What is undefined still stays as it was, around a loop, and is zero
//! elsewhere.
//!
//! **Needs** structured control flow, and keeps it.

use crate::compiler::ir::{Block, Function, InstFlags, Merge, Module, Op, Terminator, Type, Value};
use crate::compiler::passes::structure::drop_parameters::drop_parameters;
use crate::compiler::{CompileError, Context};
use smallvec::SmallVec;
use std::collections::HashMap;

/// How often all blocks are gone through: a loop's continue target comes before its head.
const ROUNDS: usize = 4;

/// How many parameters one is compared with at most.
const TRIES: usize = 128;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    for function in &mut module.functions {
        define(function);
    }
    Ok(())
}

/// Does it to one function.
pub(in crate::compiler) fn define(function: &mut Function) {
    if !is_anything_undefined(function) {
        return;
    }
    let mut joined = HashMap::new();
    for _ in 0..ROUNDS {
        if !join(function, &mut joined) {
            break;
        }
    }
    function.replace_values(&joined);
    drop_parameters(function);
    fill(function);
}

fn is_undefined(function: &Function, value: Value) -> bool {
    matches!(function.op_of(value), Some(Op::Undef))
}

fn is_anything_undefined(function: &Function) -> bool {
    function.layout().iter().any(|&block| {
        let edges = function.block(block).terminator.edges();
        edges
            .iter()
            .any(|edge| edge.args.iter().any(|&arg| is_undefined(function, arg)))
    })
}

/// What a parameter gets on an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Argument {
    Undefined,
    /// What it is already.
    Itself,
    Value(Value),
}

impl Argument {
    /// What one parameter in the place of two gets; `None` where each needs its own.
    fn and(self, other: Self) -> Option<Self> {
        match (self, other) {
            (Self::Undefined, one) | (one, Self::Undefined) => Some(one),
            (one, other) => (one == other).then_some(one),
        }
    }
}

/// What a parameter gets: from where, and what, in one order for all parameters of a block.
type Arguments = SmallVec<[(Block, Argument); 4]>;

/// What two parameters in one would get.
fn both(a: &Arguments, b: &Arguments) -> Option<Arguments> {
    a.iter()
        .zip(b)
        .map(|(&(from, a), &(_, b))| Some((from, a.and(b)?)))
        .collect()
}

/// Joins parameters that can be one, notes which one each has become, and says whether there were any.
fn join(function: &mut Function, joined: &mut HashMap<Value, Value>) -> bool {
    let mut arguments = arguments(function, joined);
    let count = joined.len();
    for &block in function.layout().iter().rev() {
        let mut kept: Vec<Value> = Vec::new();
        for &param in &function.block(block).params {
            let found = kept.iter().take(TRIES).find_map(|&other| {
                let same_type = function.ty(other) == function.ty(param);
                let args = same_type.then(|| both(&arguments[&other], &arguments[&param]))??;
                // A function's own have none here.
                if args.is_empty() {
                    return None;
                }
                let fits = stay_one(function, &arguments, block, other, param);
                fits.then_some((other, args))
            });
            match found {
                Some((other, args)) => {
                    arguments.insert(other, args);
                    joined.insert(param, other);
                }
                None => kept.push(param),
            }
        }
    }
    if joined.len() == count {
        return false;
    }
    // The edges still have an argument for each parameter: that of the one which stays is defined where any was.
    for block in function.layout().to_vec() {
        let mut terminator = std::mem::replace(
            &mut function.block_mut(block).terminator,
            Terminator::Unreachable,
        );
        for edge in terminator.edges_mut() {
            let params = &function.block(edge.block).params;
            for (at, param) in params.iter().enumerate() {
                if let Some(&other) = joined.get(param)
                    && let Some(first) = params.iter().position(|&param| param == other)
                    && is_undefined(function, edge.args[first])
                {
                    edge.args[first] = edge.args[at];
                }
            }
        }
        function.block_mut(block).terminator = terminator;
    }
    function.remove_params(|param| joined.contains_key(&param));
    true
}

/// What every parameter of a block gets.
fn arguments(function: &Function, joined: &HashMap<Value, Value>) -> HashMap<Value, Arguments> {
    let mut all: HashMap<Value, Arguments> = HashMap::new();
    for &block in function.layout() {
        for &param in &function.block(block).params {
            all.entry(param).or_default();
        }
        for edge in function.block(block).terminator.edges() {
            let params = &function.block(edge.block).params;
            for (&param, &arg) in params.iter().zip(&edge.args) {
                let mut arg = arg;
                while let Some(&other) = joined.get(&arg) {
                    arg = other;
                }
                let argument = if arg == param {
                    Argument::Itself
                } else if is_undefined(function, arg) {
                    Argument::Undefined
                } else {
                    Argument::Value(arg)
                };
                all.entry(param).or_default().push((block, argument));
            }
        }
    }
    all
}

/// Whether what a block passes two of its parameters on as can be one on all other ways there: else the one would be
/// copied into two again.
fn stay_one(
    function: &Function,
    arguments: &HashMap<Value, Arguments>,
    block: Block,
    a: Value,
    b: Value,
) -> bool {
    let edges = function.block(block).terminator.edges();
    edges.iter().all(|edge| {
        let params = &function.block(edge.block).params;
        let further = |value| edge.args.iter().position(|&arg| arg == value);
        let (Some(x), Some(y)) = (further(a), further(b)) else {
            return true;
        };
        let (x, y) = (&arguments[&params[x]], &arguments[&params[y]]);
        x.iter()
            .zip(y)
            .all(|(&(from, x), &(_, y))| from == block || x.and(y).is_some())
    })
}

/// Defines the arguments that are still undefined.
fn fill(function: &mut Function) {
    // Of each continue target the head of its loop.
    let heads: HashMap<Block, Block> = function
        .layout()
        .iter()
        .filter_map(|&head| match function.block(head).merge {
            Some(Merge::Loop { continues, .. }) => Some((continues, head)),
            _ => None,
        })
        .collect();
    let mut zeros: HashMap<Type, Value> = HashMap::new();
    for block in function.layout().to_vec() {
        let mut terminator = std::mem::replace(
            &mut function.block_mut(block).terminator,
            Terminator::Unreachable,
        );
        for edge in terminator.edges_mut() {
            for at in 0..edge.args.len() {
                if !is_undefined(function, edge.args[at]) {
                    continue;
                }
                let target = edge.block;
                let param = function.block(target).params[at];
                let unchanged = if heads.get(&block) == Some(&target) {
                    Some(param)
                } else {
                    heads
                        .get(&target)
                        .and_then(|&head| passed_on(function, target, param, head))
                };
                edge.args[at] = unchanged.unwrap_or_else(|| {
                    let ty = function.ty(param);
                    *zeros.entry(ty).or_insert_with(|| zero(function, ty))
                });
            }
        }
        function.block_mut(block).terminator = terminator;
    }
}

/// The parameter of `head` that `from` passes one of its own on as.
fn passed_on(function: &Function, from: Block, param: Value, head: Block) -> Option<Value> {
    let edges = function.block(from).terminator.edges();
    let edge = edges.iter().find(|edge| edge.block == head)?;
    let at = edge.args.iter().position(|&arg| arg == param)?;
    function.block(head).params.get(at).copied()
}

/// A zero in the entry block.
fn zero(function: &mut Function, ty: Type) -> Value {
    let inst = function.make_inst(Op::Const(0), [ty], InstFlags::default());
    let entry = function.entry();
    function.block_mut(entry).insts.insert(0, inst);
    function.inst(inst).results[0]
}

#[cfg(test)]
mod tests {
    use super::{define, is_anything_undefined};
    use crate::compiler::ir::{
        Binary, Builder, Compare, Edge, Function, Merge, Terminator, Type, Values,
    };

    /// A loop that is entered at one of two places, and counts down: a selector, and the counter once for each place,
    /// which is one number at first, or
    /// another number in the second.
    fn dispatch(is_one: bool) -> Function {
        let mut f = Function::new("f");
        let entry = f.entry();
        let condition = f.add_param(entry, Type::Bool);
        let [head, first, second, continues, end] = [(); 5].map(|()| f.add_block());
        let [selector, a, b] = [(); 3].map(|()| f.add_param(head, Type::I32));
        let passed = [(); 3].map(|()| f.add_param(continues, Type::I32));

        let mut x = Builder::new(&mut f, entry);
        let [zero, one] = [0, 1].map(|number| x.i32(number));
        let number = x.i32(7);
        let other = if is_one { number } else { x.i32(9) };
        let undefined = x.undef(Type::I32);
        let chosen = x.select(condition, zero, one);
        x.jump(Edge::new(head, [chosen, number, other]));
        x.switch_to(head);
        let is_first = x.compare(Compare::Equal, selector, zero);
        x.branch(is_first, first, second);
        x.switch_to(first);
        let less = x.binary_const(Binary::Sub, a, 1);
        x.jump(Edge::new(continues, [one, undefined, less]));
        x.switch_to(second);
        let is_done = x.compare(Compare::Equal, b, zero);
        x.branch(is_done, end, Edge::new(continues, [zero, b, undefined]));
        x.switch_to(continues);
        x.jump(Edge::new(head, passed));
        x.switch_to(end);
        x.terminate(Terminator::Return(Values::new()));
        f.block_mut(head).merge = Some(Merge::Loop {
            merge: end,
            continues,
        });
        f
    }

    /// How many parameters the head of the loop and its continue target take in the end.
    fn taken(mut f: Function) -> [usize; 2] {
        assert!(is_anything_undefined(&f));
        define(&mut f);
        assert!(!is_anything_undefined(&f), "{f}");
        [1, 4].map(|block| f.block(f.layout()[block]).params.len())
    }

    #[test]
    fn a_variable_under_two_names_becomes_one() {
        assert_eq!(taken(dispatch(true)), [2, 2]);
    }

    #[test]
    fn two_variables_stay_two_and_keep_their_values() {
        // What the second place does not change comes around as it is, without a parameter of the continue target.
        assert_eq!(taken(dispatch(false)), [3, 2]);
    }
}
