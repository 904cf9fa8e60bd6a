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
use super::gather;
use super::own_copies::{OwnCopies, OwnCopy};
use crate::compiler::CompileError;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Block, Builder, Convert, Edge, FuncId, Function, Module, Op,
    PrivateVariable, Rewrite, Terminator, Type, Value, Values, VariableId, rewrite_instructions,
};
use std::collections::{BTreeMap, HashMap};

/// `root` with the functions that it and they call and for which `is_shared` holds, each once. `order` has all functions,
/// callees first.
///
/// # Errors
/// A call does not fit what it calls, or what lives across calls takes more than so many parameters of blocks.
pub fn with_shared(
    module: &Module,
    root: &Function,
    order: &[FuncId],
    is_shared: &dyn Fn(FuncId) -> bool,
    most_params: usize,
) -> Result<Function, CompileError> {
    let mut function = root.clone();
    let copies = OwnCopies::of(module, root, order, is_shared);
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
        let body = bodies
            .entry(id)
            .or_insert_with(|| Body::place(b, id, callee, &copies));
        Ok(Rewrite::Replace(body.call(b, callee, args)))
    })? {}
    let mut behind = HashMap::new();
    for body in bodies.values() {
        body.go_back(&mut function, &mut behind);
    }
    function.sort_layout();
    let starts: Vec<Block> = bodies.values().map(|body| body.start).collect();
    drop_settled_params(&mut function, &starts);
    gather::ways(&mut function, &starts, &behind);
    function.sort_layout();
    dominance::restore(&mut function, most_params)?;
    Ok(function)
}

/// How a body takes an argument.
enum Parameter {
    /// The body's first block has a parameter for it.
    Passed,
    /// A variable of the body holds what it points to.
    Copied(VariableId, OwnCopy),
}

/// A body that calls share.
struct Body {
    /// Takes the arguments that are passed and the number of the call.
    start: Block,
    number: Value,
    params: Vec<Parameter>,
    /// Takes what the function returns.
    end: Block,
    /// What follows each call; takes that, too.
    behind: Vec<Block>,
}

impl Body {
    fn place(b: &mut Builder<'_>, id: FuncId, callee: &Function, copies: &OwnCopies) -> Self {
        let [start, end] = [(); 2].map(|()| b.function.add_block());
        for &ty in &callee.return_types {
            b.function.add_param(end, ty);
        }
        let from = b.block();
        b.switch_to(start);
        let (mut params, mut args) = (Vec::new(), Values::new());
        for (position, &param) in callee.params().iter().enumerate() {
            let ty = callee.ty(param);
            let (param, arg) = match copies.get(id, position) {
                Some(copy) => {
                    let variable = b.function.add_variable(variable_for(callee, copy));
                    let copied = address_in(b, variable, copy);
                    let pointer = b.ptr_add_const(copied, copy.start.wrapping_neg());
                    (Parameter::Copied(variable, *copy), cast(b, pointer, ty))
                }
                None => (Parameter::Passed, b.function.add_param(start, ty)),
            };
            params.push(param);
            args.push(arg);
        }
        let number = b.function.add_param(start, Type::I32);
        let entry = copy_blocks(b, callee, &args, end);
        b.jump(entry);
        b.switch_to(from);
        Self {
            start,
            number,
            params,
            end,
            behind: Vec::new(),
        }
    }

    /// Goes on behind the body; what it returned.
    fn call(&mut self, b: &mut Builder<'_>, callee: &Function, args: Values) -> Values {
        let mut passed = Values::new();
        for (param, &arg) in self.params.iter().zip(&args) {
            match param {
                Parameter::Passed => passed.push(arg),
                Parameter::Copied(variable, copy) => copy_bytes(b, *variable, copy, arg, true),
            }
        }
        let behind = b.function.add_block();
        passed.push(b.i32(self.behind.len() as u32));
        b.jump(Edge::new(self.start, passed));
        self.behind.push(behind);
        b.switch_to(behind);
        for (param, &arg) in self.params.iter().zip(&args) {
            if let Parameter::Copied(variable, copy) = param
                && copy.written
            {
                copy_bytes(b, *variable, copy, arg, false);
            }
        }
        let types = callee.return_types.iter();
        types.map(|&ty| b.function.add_param(behind, ty)).collect()
    }

    /// Ends the body. Notes the switch that leads to each block behind a call.
    fn go_back(&self, function: &mut Function, switches: &mut HashMap<Block, Block>) {
        let returned = function.block(self.end).params.clone();
        let edge = |&block: &Block| Edge::new(block, returned.iter().copied());
        let ways: Vec<(u64, Edge)> = (0..).zip(self.behind.iter().map(edge)).collect();
        if ways.len() <= gather::GROUP {
            switches.extend(self.behind.iter().map(|&block| (block, self.end)));
            return go_on(function, self.end, self.number, &ways);
        }
        let mut b = Builder::new(function, self.end);
        let size = b.i32(gather::GROUP as u32);
        let group = b.binary(Binary::UDiv, self.number, size);
        let mut groups: Vec<(u64, Edge)> = Vec::new();
        for (at, ways) in (0..).zip(ways.chunks(gather::GROUP)) {
            let switch = function.add_block();
            switches.extend(ways.iter().map(|(_, edge)| (edge.block, switch)));
            go_on(function, switch, self.number, ways);
            groups.push((at, switch.into()));
        }
        go_on(function, self.end, group, &groups);
    }
}

/// Ends a block with a way for each number that there is.
fn go_on(function: &mut Function, block: Block, number: Value, ways: &[(u64, Edge)]) {
    let Some(((_, default), cases)) = ways.split_last() else {
        return;
    };
    let default = default.clone();
    function.block_mut(block).terminator = if cases.is_empty() {
        Terminator::Jump(default)
    } else {
        Terminator::Switch {
            value: number,
            cases: cases.to_vec(),
            default,
        }
    };
}

/// A variable that holds a copy.
fn variable_for(callee: &Function, copy: &OwnCopy) -> PrivateVariable {
    PrivateVariable {
        name: callee.name.clone(),
        size_bytes: copy.padding + copy.size_bytes,
        align_bytes: copy.align_bytes,
    }
}

/// Where in a variable that holds a copy its bytes begin.
fn address_in(b: &mut Builder<'_>, variable: VariableId, copy: &OwnCopy) -> Value {
    let pointer = Type::Ptr(AddressSpace::Private);
    let address = b.op1(Op::VariableAddress(variable), pointer);
    b.ptr_add_const(address, copy.padding as i64)
}

/// A private pointer in another address space.
fn cast(b: &mut Builder<'_>, pointer: Value, ty: Type) -> Value {
    if b.ty(pointer) == ty {
        return pointer;
    }
    b.convert(Convert::AddressSpaceCast, pointer, ty)
}

/// Copies what an argument points to into the body's variable, or back.
fn copy_bytes(b: &mut Builder<'_>, own: VariableId, copy: &OwnCopy, arg: Value, into: bool) {
    let own = address_in(b, own, copy);
    let arg = b.ptr_add_const(arg, copy.start);
    let (to, from) = if into { (own, arg) } else { (arg, own) };
    let size_bytes = b.i64(copy.size_bytes);
    // `align_copies` sees how they are aligned.
    let access = Access::aligned(1);
    b.op0(Op::Copy {
        to,
        from,
        size_bytes,
        to_access: access,
        from_access: access,
    });
}

/// Drops parameters of bodies that get the same from all calls, as a pointer that is passed down a call tree is.
fn drop_settled_params(function: &mut Function, starts: &[Block]) {
    loop {
        let predecessors = function.predecessors();
        let mut settled = HashMap::new();
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

/// Whether two values are one, or the same constant, variable or place in one.
fn is_same(function: &Function, a: Value, b: Value) -> bool {
    a == b
        || function.ty(a) == function.ty(b)
            && dominance::can_be_made_anew(function, a)
            && dominance::can_be_made_anew(function, b)
            && is_made_alike(function, a, b)
}

/// Whether two values that can be made anew are made by the same instructions.
fn is_made_alike(function: &Function, a: Value, b: Value) -> bool {
    let (Some(op), Some(other)) = (function.op_of(a), function.op_of(b)) else {
        return false;
    };
    let mut same = op.clone();
    let mut operands = other.operands().into_iter();
    same.for_each_operand_mut(|operand| *operand = operands.next().unwrap_or(*operand));
    let pairs = op.operands().into_iter().zip(other.operands());
    same == *other
        && function.ty(a) == function.ty(b)
        && pairs
            .into_iter()
            .all(|(a, b)| is_made_alike(function, a, b))
}
