//! Makes definitions dominate their uses again, where the control flow has got more edges.
//!
//! A value that does not is led along every path as a parameter of the blocks where paths meet: those in the iterated
//! dominance frontier of its definition where it is still wanted. On paths from elsewhere it is undefined. Constants,
//! addresses of variables and the like are made anew where they are used.

use crate::compiler::CompileError;
use crate::compiler::analysis::Dominators;
use crate::compiler::ir::{Block, Convert, Function, Inst, InstFlags, Op, Type, Value, ValueDef};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Longest chain of instructions that is made anew.
const DEEPEST: u32 = 4;

/// Blocks in the dominance frontiers of all blocks together, at most, for each block.
const MOST_IN_FRONTIERS: usize = 64;

/// Arguments that are given to all new parameters, at most: as many as there are values times the paths that meet.
const MOST_ARGUMENTS: usize = 1 << 22;

/// Restores the dominance of all values. Every block of the layout is reachable.
///
/// # Errors
/// It takes more than so many parameters, or too much memory to find out.
pub fn restore(function: &mut Function, most_params: usize) -> Result<(), CompileError> {
    let too_many = || CompileError::unsupported("too much lives across calls of shared bodies");
    let dominators = function.analysis::<Dominators>();
    let homes = homes(function);
    let uses = astray(function, &dominators, &homes);
    if uses.is_empty() {
        return Ok(());
    }
    let most = MOST_IN_FRONTIERS * function.block_count();
    let mut repair = Repair {
        homes,
        predecessors: function.predecessors(),
        frontiers: dominators.frontiers(function, most).ok_or_else(too_many)?,
        dominators: &dominators,
        undefined: HashMap::new(),
        made: HashMap::new(),
        params: 0,
        arguments: 0,
    };
    // By block what its uses of a value become.
    let mut renamed: HashMap<Block, HashMap<Value, Value>> = HashMap::new();
    for (value, blocks) in uses {
        if repair.params > most_params || repair.arguments > MOST_ARGUMENTS {
            return Err(too_many());
        }
        for (block, new) in repair.value(function, value, &blocks) {
            renamed.entry(block).or_default().insert(value, new);
        }
    }
    let mut at_start = std::mem::take(&mut repair.made);
    let undefined = repair.undefined.into_values().map(|(inst, _)| inst);
    at_start
        .entry(function.entry())
        .or_default()
        .extend(undefined);
    for (block, mut insts) in at_start {
        insts.sort();
        insts.append(&mut function.block_mut(block).insts);
        function.block_mut(block).insts = insts;
    }
    for (block, news) in renamed {
        rename(function, block, &news);
    }
    Ok(())
}

/// Whether an operation can be made anew anywhere in its function.
pub fn can_stand_anywhere(op: &Op) -> bool {
    op.is_pure() && op.operands().is_empty()
}

/// The block that defines each value.
fn homes(function: &Function) -> Vec<Option<Block>> {
    let mut homes = vec![None; function.value_count()];
    for &block in function.layout() {
        let data = function.block(block);
        let results = data
            .insts
            .iter()
            .flat_map(|&inst| &function.inst(inst).results);
        for &value in data.params.iter().chain(results) {
            homes[value.index()] = Some(block);
        }
    }
    homes
}

/// The values that do not dominate all uses, and the blocks that hold those that they do not.
fn astray(
    function: &Function,
    dominators: &Dominators,
    homes: &[Option<Block>],
) -> BTreeMap<Value, Vec<Block>> {
    let mut astray: BTreeMap<Value, Vec<Block>> = BTreeMap::new();
    for &block in function.layout() {
        let mut note = |value: Value| {
            let home = homes[value.index()];
            if home.is_some_and(|home| dominators.dominates(home, block)) {
                return;
            }
            let blocks = astray.entry(value).or_default();
            if blocks.last() != Some(&block) {
                blocks.push(block);
            }
        };
        let data = function.block(block);
        for &inst in &data.insts {
            let operands = function.inst(inst).op.operands();
            operands.into_iter().for_each(&mut note);
        }
        data.terminator.operands().into_iter().for_each(&mut note);
    }
    astray
}

struct Repair<'a> {
    homes: Vec<Option<Block>>,
    predecessors: Vec<SmallVec<[Block; 4]>>,
    frontiers: Vec<Vec<Block>>,
    dominators: &'a Dominators,
    /// An undefined value of each type.
    undefined: HashMap<Type, (Inst, Value)>,
    /// Instructions to be put at the starts of blocks.
    made: HashMap<Block, Vec<Inst>>,
    /// New parameters so far, and what they are given.
    params: usize,
    arguments: usize,
}

impl Repair<'_> {
    /// What a value becomes in each of the blocks that use it.
    fn value(
        &mut self,
        function: &mut Function,
        value: Value,
        users: &[Block],
    ) -> Vec<(Block, Value)> {
        if can_be_made_anew(function, value) {
            let make = |&user: &Block| (user, self.make_anew(function, value, user));
            return users.iter().map(make).collect();
        }
        // What has no definition in the layout is undefined everywhere.
        let home = self.homes[value.index()];
        let mut found: HashMap<Block, Value> = self.params(function, value, home, users);
        let joins: Vec<Block> = found.keys().copied().collect();
        self.params += joins.len();
        let ways = |block: &Block| self.predecessors[block.index()].len();
        self.arguments += joins.iter().map(ways).sum::<usize>();
        found.extend(home.map(|home| (home, value)));
        for block in joins {
            let mut from = self.predecessors[block.index()].clone();
            from.sort();
            from.dedup();
            for from in from {
                let arg = self.reaching(function, &mut found, function.ty(value), from);
                let terminator = &mut function.block_mut(from).terminator;
                for edge in terminator.edges_mut() {
                    if edge.block == block {
                        edge.args.push(arg);
                    }
                }
            }
        }
        let ty = function.ty(value);
        let mut at = |&user: &Block| (user, self.reaching(function, &mut found, ty, user));
        users.iter().map(&mut at).collect()
    }

    /// Makes a value's instruction, and those of its operands, once more at the start of a block.
    fn make_anew(&mut self, function: &mut Function, value: Value, block: Block) -> Value {
        let ValueDef::Result { inst, .. } = function.value(value).def else {
            return value;
        };
        let (mut op, flags) = (function.inst(inst).op.clone(), function.inst(inst).flags);
        op.for_each_operand_mut(|operand| *operand = self.make_anew(function, *operand, block));
        let new = function.make_inst(op, [function.ty(value)], flags);
        self.made.entry(block).or_default().push(new);
        function.inst(new).results[0]
    }

    /// Gives the blocks where definitions of a value meet a parameter for it.
    fn params(
        &self,
        function: &mut Function,
        value: Value,
        home: Option<Block>,
        users: &[Block],
    ) -> HashMap<Block, Value> {
        let wanted = self.wanted(home, users);
        let mut params = HashMap::new();
        let mut pending: Vec<Block> = home.into_iter().collect();
        while let Some(block) = pending.pop() {
            for &join in &self.frontiers[block.index()] {
                if wanted.contains(&join) && !params.contains_key(&join) {
                    params.insert(join, function.add_param(join, function.ty(value)));
                    pending.push(join);
                }
            }
        }
        params
    }

    /// The blocks at whose start a value is wanted.
    fn wanted(&self, home: Option<Block>, users: &[Block]) -> HashSet<Block> {
        let mut wanted: HashSet<Block> = users.iter().copied().collect();
        let mut pending: Vec<Block> = users.to_vec();
        while let Some(block) = pending.pop() {
            for &from in &self.predecessors[block.index()] {
                if Some(from) != home && wanted.insert(from) {
                    pending.push(from);
                }
            }
        }
        wanted
    }

    /// The value at the end of a block, where `found` has those of the blocks that change it.
    fn reaching(
        &mut self,
        function: &mut Function,
        found: &mut HashMap<Block, Value>,
        ty: Type,
        block: Block,
    ) -> Value {
        let mut passed: SmallVec<[Block; 8]> = SmallVec::new();
        let mut at = Some(block);
        let value = loop {
            let Some(block) = at else {
                break self.undefined(function, ty);
            };
            if let Some(&value) = found.get(&block) {
                break value;
            }
            passed.push(block);
            at = self.dominators.immediate_dominator(block);
        };
        found.extend(passed.into_iter().map(|block| (block, value)));
        value
    }

    fn undefined(&mut self, function: &mut Function, ty: Type) -> Value {
        let (_, value) = *self.undefined.entry(ty).or_insert_with(|| {
            let inst = function.make_inst(Op::Undef, [ty], InstFlags::default());
            (inst, function.inst(inst).results[0])
        });
        value
    }
}

/// Whether a value is made of constants and addresses by few instructions.
pub fn can_be_made_anew(function: &Function, value: Value) -> bool {
    can_be_made_by(function, value, DEEPEST)
}

fn can_be_made_by(function: &Function, value: Value, depth: u32) -> bool {
    let Some(op) = function.op_of(value) else {
        return false;
    };
    match op {
        Op::PtrAdd(..) | Op::Convert(Convert::AddressSpaceCast, _) => {
            let mut operands = op.operands().into_iter();
            depth > 0 && operands.all(|operand| can_be_made_by(function, operand, depth - 1))
        }
        _ => can_stand_anywhere(op),
    }
}

/// Replaces the values that a block's instructions and terminator read.
fn rename(function: &mut Function, block: Block, news: &HashMap<Value, Value>) {
    let new = |value: &mut Value| *value = news.get(value).copied().unwrap_or(*value);
    for inst in function.block(block).insts.clone() {
        function.inst_mut(inst).op.for_each_operand_mut(new);
    }
    let terminator = &mut function.block_mut(block).terminator;
    terminator.for_each_operand_mut(new);
}
