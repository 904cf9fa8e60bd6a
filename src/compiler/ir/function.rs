//! Functions: blocks, instructions and values, and how they are changed.

use super::facts::Facts;
use super::{AddressSpace, Block, Inst, Op, Type, Value, Values, VariableId};
use smallvec::{SmallVec, smallvec};
use std::collections::HashMap;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// Result `index` of an instruction.
    Result { inst: Inst, index: u32 },
    /// Parameter of a block. Its position is found in the block's list, which passes edit.
    Parameter(Block),
}

#[derive(Clone, Copy, Debug)]
pub struct ValueData {
    pub ty: Type,
    pub def: ValueDef,
}

/// Freedoms and restrictions of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct InstFlags {
    /// `NoContraction`: must not be fused with another operation.
    pub no_contraction: bool,
    /// `FPFastMathMode` allows reciprocals and other changes of the result (`Fast`, `AllowRecip`).
    pub fast_math: bool,
    /// `NoSignedWrap`, `NoUnsignedWrap`
    pub no_signed_wrap: bool,
    pub no_unsigned_wrap: bool,
}

#[derive(Clone, Debug)]
pub struct InstData {
    pub op: Op,
    pub results: Values,
    pub flags: InstFlags,
}

/// A branch target and the values of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    pub block: Block,
    pub args: Values,
}

impl Edge {
    pub fn new(block: Block, args: impl IntoIterator<Item = Value>) -> Self {
        Self {
            block,
            args: args.into_iter().collect(),
        }
    }
}

impl From<Block> for Edge {
    fn from(block: Block) -> Self {
        Self::new(block, [])
    }
}

/// How a block ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Terminator {
    Jump(Edge),
    Branch {
        condition: Value,
        then: Edge,
        otherwise: Edge,
    },
    /// Cases hold the low bits of the value, as many as its type has.
    Switch {
        value: Value,
        cases: Vec<(u64, Edge)>,
        default: Edge,
    },
    Return(Values),
    Unreachable,
}

impl Terminator {
    /// Every way out, in order (a block may appear more than once).
    pub fn edges(&self) -> SmallVec<[&Edge; 2]> {
        match self {
            Self::Jump(edge) => smallvec![edge],
            Self::Branch {
                then, otherwise, ..
            } => smallvec![then, otherwise],
            Self::Switch { cases, default, .. } => cases
                .iter()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Self::Return(_) | Self::Unreachable => SmallVec::new(),
        }
    }

    pub fn edges_mut(&mut self) -> SmallVec<[&mut Edge; 2]> {
        match self {
            Self::Jump(edge) => smallvec![edge],
            Self::Branch {
                then, otherwise, ..
            } => smallvec![then, otherwise],
            Self::Switch { cases, default, .. } => cases
                .iter_mut()
                .map(|(_, edge)| edge)
                .chain([default])
                .collect(),
            Self::Return(_) | Self::Unreachable => SmallVec::new(),
        }
    }

    /// Every value read: condition first, then the arguments of the edges.
    pub fn operands(&self) -> Values {
        let mut all = self.read();
        for edge in self.edges() {
            all.extend_from_slice(&edge.args);
        }
        all
    }

    /// The values that it reads itself, not passes on.
    pub fn read(&self) -> Values {
        match self {
            Self::Branch { condition, .. } => Values::from_slice(&[*condition]),
            Self::Switch { value, .. } => Values::from_slice(&[*value]),
            Self::Return(values) => values.clone(),
            Self::Jump(_) | Self::Unreachable => Values::new(),
        }
    }

    pub fn for_each_operand_mut(&mut self, mut f: impl FnMut(&mut Value)) {
        match self {
            Self::Branch { condition, .. } => f(condition),
            Self::Switch { value, .. } => f(value),
            Self::Return(values) => values.iter_mut().for_each(&mut f),
            Self::Jump(_) | Self::Unreachable => {}
        }
        for edge in self.edges_mut() {
            edge.args.iter_mut().for_each(&mut f);
        }
    }
}

/// Structured control flow, set by `structurize`: what the block heads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    Selection { merge: Block },
    Loop { merge: Block, continues: Block },
}

#[derive(Clone, Debug)]
pub struct BlockData {
    pub params: Values,
    pub insts: Vec<Inst>,
    pub terminator: Terminator,
    pub merge: Option<Merge>,
    /// Whether the block is the header of a loop that the driver is not to unroll.
    pub keeps_loop: bool,
    /// Whether the block is the header of a selection that the driver is not to make values of (`DontFlatten`).
    pub keeps_selection: bool,
}

/// A variable in private memory (`OpVariable Function`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateVariable {
    pub name: String,
    pub size_bytes: u64,
    pub align_bytes: u32,
}

/// SPIR-V `Function Control`, and where the function is from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionControl {
    pub inline: bool,
    pub dont_inline: bool,
    /// From the built-in library: its arithmetic must not be contracted or reordered.
    pub library: bool,
}

/// Instructions that a function may have, those included that passes have removed: some 350 bytes each where passes keep most of
/// them.
const MOST_INSTRUCTIONS: usize = 1 << 21;

/// Values that it may have.
const MOST_VALUES: usize = 1 << 22;

/// A function: its entry block's parameters are its parameters.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub return_types: Vec<Type>,
    pub control: FunctionControl,
    pub variables: Vec<PrivateVariable>,
    layout: Vec<Block>,
    blocks: Vec<BlockData>,
    insts: Vec<InstData>,
    values: Vec<ValueData>,
    is_given_up: bool,
    edits: u64,
    pub(super) facts: Facts,
}

impl Function {
    /// A function with an empty, unreachable-terminated entry block.
    pub fn new(name: impl Into<String>) -> Self {
        let mut function = Self {
            name: name.into(),
            return_types: Vec::new(),
            control: FunctionControl::default(),
            variables: Vec::new(),
            layout: Vec::new(),
            blocks: Vec::new(),
            insts: Vec::new(),
            values: Vec::new(),
            is_given_up: false,
            edits: 0,
            facts: Facts::default(),
        };
        function.add_block();
        function
    }

    /// Blocks in layout order; the first is the entry. Blocks not listed are dead.
    pub fn layout(&self) -> &[Block] {
        &self.layout
    }

    /// How often blocks and instructions were edited. Where this is the same as before, none of them has changed; access by
    /// [`Self::block_mut`] or [`Self::inst_mut`] counts as an edit, while methods that set something count where it is another.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    pub fn entry(&self) -> Block {
        self.layout[0]
    }

    /// The function's parameters.
    pub fn params(&self) -> &[Value] {
        &self.block(self.entry()).params
    }

    /// A new block at the end of the layout, terminated by `Unreachable` until told otherwise.
    pub fn add_block(&mut self) -> Block {
        let block = self.add_detached_block();
        self.edits += 1;
        self.layout.push(block);
        block
    }

    /// A new block behind another in the layout.
    pub fn add_block_behind(&mut self, other: Block) -> Block {
        let block = self.add_detached_block();
        self.edits += 1;
        let place = self.layout.iter().position(|&it| it == other);
        let place = place.map_or(self.layout.len(), |place| place + 1);
        self.layout.insert(place, block);
        block
    }

    /// Sets the layout, whose first block is the entry.
    pub fn set_layout(&mut self, layout: Vec<Block>) {
        self.edits += u64::from(self.layout != layout);
        self.layout = layout;
    }

    /// Puts the layout in reverse postorder, without unreachable blocks.
    pub fn sort_layout(&mut self) {
        self.set_layout(self.reverse_postorder());
    }

    /// Takes blocks out of the layout.
    pub fn retain_blocks(&mut self, is_kept: impl Fn(Block) -> bool) {
        let before = self.layout.len();
        self.layout.retain(|&block| is_kept(block));
        self.edits += u64::from(self.layout.len() != before);
    }

    /// A new block that is not in the layout yet.
    pub fn add_detached_block(&mut self) -> Block {
        let block = Block(self.blocks.len() as u32);
        self.blocks.push(BlockData {
            params: Values::new(),
            insts: Vec::new(),
            terminator: Terminator::Unreachable,
            merge: None,
            keeps_loop: false,
            keeps_selection: false,
        });
        block
    }

    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block.index()]
    }

    pub fn block_mut(&mut self, block: Block) -> &mut BlockData {
        self.edits += 1;
        &mut self.blocks[block.index()]
    }

    pub fn inst(&self, inst: Inst) -> &InstData {
        &self.insts[inst.index()]
    }

    pub fn inst_mut(&mut self, inst: Inst) -> &mut InstData {
        self.edits += 1;
        &mut self.insts[inst.index()]
    }

    /// Sets the instructions of a block.
    pub fn set_insts(&mut self, block: Block, insts: Vec<Inst>) {
        let data = &mut self.blocks[block.index()];
        self.edits += u64::from(data.insts != insts);
        data.insts = insts;
    }

    /// Sets how a block ends.
    pub fn set_terminator(&mut self, block: Block, terminator: Terminator) {
        let data = &mut self.blocks[block.index()];
        self.edits += u64::from(data.terminator != terminator);
        data.terminator = terminator;
    }

    /// Sets what an instruction does.
    pub fn set_op(&mut self, inst: Inst, op: Op, flags: InstFlags) {
        let data = &mut self.insts[inst.index()];
        self.edits += u64::from(data.op != op || data.flags != flags);
        (data.op, data.flags) = (op, flags);
    }

    pub fn value(&self, value: Value) -> ValueData {
        self.values[value.index()]
    }

    pub fn ty(&self, value: Value) -> Type {
        self.values[value.index()].ty
    }

    /// Number of values ever made: the size for a table indexed by value.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Number of blocks ever made, dead ones included.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// Number of instructions ever made, removed ones included.
    pub fn inst_count(&self) -> usize {
        self.insts.len()
    }

    /// Whether the function has grown beyond what is compiled. A pass that sees it may stop where it is:
    /// [`crate::compiler::compile`] refuses the function after each pass, before anything else looks at it.
    pub fn is_too_large(&self) -> bool {
        self.is_given_up || self.insts.len() > MOST_INSTRUCTIONS || self.values.len() > MOST_VALUES
    }

    /// Makes the function one that [is too large](Self::is_too_large): a pass would need too much memory for what it makes of
    /// it.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
    }

    /// Gives a value another type: for passes that change what every definition and use of it means.
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.edits += 1;
        self.values[value.index()].ty = ty;
    }

    /// Appends a parameter to a block. Edges into it must be extended by the caller.
    pub fn add_param(&mut self, block: Block, ty: Type) -> Value {
        self.edits += 1;
        let value = self.add_value(ty, ValueDef::Parameter(block));
        self.blocks[block.index()].params.push(value);
        value
    }

    /// Removes parameters of blocks, and their arguments.
    pub fn remove_params(&mut self, is_removed: impl Fn(Value) -> bool) {
        for index in 0..self.layout.len() {
            let block = self.layout[index];
            let data = &mut self.blocks[block.index()];
            let mut terminator = std::mem::replace(&mut data.terminator, Terminator::Unreachable);
            for edge in terminator.edges_mut() {
                let params = &self.blocks[edge.block.index()].params;
                let mut keep = params.iter().map(|&param| !is_removed(param));
                edge.args.retain(|_| keep.next().unwrap_or(true));
            }
            self.blocks[block.index()].terminator = terminator;
        }
        for index in 0..self.layout.len() {
            let block = self.layout[index];
            let params = &mut self.blocks[block.index()].params;
            let before = params.len();
            params.retain(|param| !is_removed(*param));
            self.edits += u64::from(params.len() != before);
        }
    }

    /// A new instruction in no block yet, with results of the given types.
    pub fn make_inst(
        &mut self,
        op: Op,
        result_types: impl IntoIterator<Item = Type>,
        flags: InstFlags,
    ) -> Inst {
        let inst = Inst(self.insts.len() as u32);
        let results = result_types
            .into_iter()
            .enumerate()
            .map(|(index, ty)| {
                let index = index as u32;
                self.add_value(ty, ValueDef::Result { inst, index })
            })
            .collect();
        self.insts.push(InstData { op, results, flags });
        inst
    }

    pub fn add_variable(&mut self, variable: PrivateVariable) -> VariableId {
        self.variables.push(variable);
        VariableId(self.variables.len() as u32 - 1)
    }

    /// The operation that defines a value, if an instruction does.
    pub fn op_of(&self, value: Value) -> Option<&Op> {
        match self.value(value).def {
            ValueDef::Result { inst, .. } => Some(&self.inst(inst).op),
            ValueDef::Parameter(_) => None,
        }
    }

    /// The bits of a value defined by `Op::Const`.
    pub fn constant(&self, value: Value) -> Option<u64> {
        match self.op_of(value) {
            Some(Op::Const(bits)) => Some(*bits),
            _ => None,
        }
    }

    /// A constant integer, sign-extended.
    pub fn signed_constant(&self, value: Value) -> Option<i64> {
        let unused_bits = 64 - self.ty(value).bits();
        Some((self.constant(value)? << unused_bits) as i64 >> unused_bits)
    }

    /// The address space of a pointer.
    pub fn space(&self, pointer: Value) -> Option<AddressSpace> {
        match self.ty(pointer) {
            Type::Ptr(space) => Some(space),
            _ => None,
        }
    }

    /// Blocks that a block may go to, in edge order.
    pub fn successors(&self, block: Block) -> SmallVec<[Block; 2]> {
        match &self.block(block).terminator {
            Terminator::Jump(edge) => smallvec![edge.block],
            Terminator::Branch {
                then, otherwise, ..
            } => smallvec![then.block, otherwise.block],
            other => other.edges().iter().map(|edge| edge.block).collect(),
        }
    }

    /// For each block (by index) the blocks that go to it; a block with two edges there stands twice.
    pub fn predecessors(&self) -> Vec<SmallVec<[Block; 4]>> {
        let mut predecessors = vec![SmallVec::new(); self.blocks.len()];
        for &block in &self.layout {
            for successor in self.successors(block) {
                predecessors[successor.index()].push(block);
            }
        }
        predecessors
    }

    /// Reachable blocks in reverse postorder.
    pub fn reverse_postorder(&self) -> Vec<Block> {
        let mut seen = vec![false; self.blocks.len()];
        let mut postorder = Vec::with_capacity(self.layout.len());
        let mut stack = vec![(self.entry(), 0)];
        seen[self.entry().index()] = true;
        while let Some((block, next)) = stack.last_mut() {
            let successors = self.successors(*block);
            match successors.get(*next) {
                Some(&successor) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[successor.index()], true) {
                        stack.push((successor, 0));
                    }
                }
                None => {
                    postorder.push(*block);
                    stack.pop();
                }
            }
        }
        postorder.reverse();
        postorder
    }

    /// Replaces uses everywhere in the layout: `replacements` maps old to new, chains are followed.
    pub fn replace_values(&mut self, replacements: &HashMap<Value, Value>) {
        if replacements.is_empty() {
            return;
        }
        self.edits += 1;
        let resolve = |value: &mut Value| {
            while let Some(&new) = replacements.get(value) {
                *value = new;
            }
        };
        for index in 0..self.layout.len() {
            let block = self.layout[index];
            let insts = std::mem::take(&mut self.blocks[block.index()].insts);
            for &inst in &insts {
                self.insts[inst.index()].op.for_each_operand_mut(resolve);
            }
            let data = &mut self.blocks[block.index()];
            data.insts = insts;
            data.terminator.for_each_operand_mut(resolve);
        }
    }

    fn add_value(&mut self, ty: Type, def: ValueDef) -> Value {
        self.values.push(ValueData { ty, def });
        Value(self.values.len() as u32 - 1)
    }
}
