//! Where values are defined and used.
//!
//! For passes that ask of many loops what is used behind them: a search of the function for each would be quadratic. One that
//! asks while it edits the function has its own, and adds what comes: instructions, and how blocks end. What a block no longer
//! uses may stay in the lists: it is looked at again.

use crate::compiler::ir::{Analysis, Block, Function, Inst, Value, ValueDef};
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Something that uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Site {
    Instruction(Block, Inst),
    End(Block),
}

/// The definitions and uses of a function's values.
pub struct Uses {
    /// By instruction: the block it is in.
    homes: Vec<Option<Block>>,
    /// By value.
    sites: Vec<Vec<Site>>,
    looked_at: AtomicUsize,
}

impl Analysis for Uses {
    const OUTLASTS_EDITS: bool = false;

    fn of(function: &Function) -> Self {
        Self::new(function)
    }
}

impl Uses {
    /// The uses as they are now, for a pass that adds to them what it adds to the function.
    pub fn new(function: &Function) -> Self {
        let mut this = Self {
            homes: Vec::new(),
            sites: Vec::new(),
            looked_at: AtomicUsize::new(0),
        };
        for &block in function.layout() {
            for &inst in &function.block(block).insts {
                this.add_instruction(function, block, inst);
            }
            this.add_end(function, block);
        }
        this
    }

    /// How many uses were looked at.
    pub fn looked_at(&self) -> usize {
        self.looked_at.load(Ordering::Relaxed)
    }

    /// An instruction was added to a block.
    pub fn add_instruction(&mut self, function: &Function, block: Block, inst: Inst) {
        *entry(&mut self.homes, inst.index()) = Some(block);
        for value in function.inst(inst).op.operands() {
            self.add(value, Site::Instruction(block, inst));
        }
    }

    /// A block ends in another way.
    pub fn add_end(&mut self, function: &Function, block: Block) {
        for value in function.block(block).terminator.operands() {
            self.add(value, Site::End(block));
        }
    }

    fn add(&mut self, value: Value, site: Site) {
        let sites = entry(&mut self.sites, value.index());
        if sites.last() != Some(&site) {
            sites.push(site);
        }
    }

    /// The block that defines a value.
    pub fn definition(&self, function: &Function, value: Value) -> Option<Block> {
        match function.value(value).def {
            ValueDef::Parameter(block) => Some(block),
            ValueDef::Result { inst, .. } => *self.homes.get(inst.index())?,
        }
    }

    /// The values of the blocks `inside` that others use, in the order of `blocks`, which are all that define any.
    pub fn left_behind(
        &self,
        function: &Function,
        blocks: &[Block],
        inside: &HashSet<Block>,
    ) -> Vec<Value> {
        let mut left = Vec::new();
        for &block in blocks {
            let data = function.block(block);
            let results = data
                .insts
                .iter()
                .flat_map(|&inst| &function.inst(inst).results);
            for &value in data.params.iter().chain(results) {
                if self.is_used_outside(function, value, inside) {
                    left.push(value);
                }
            }
        }
        left
    }

    fn is_used_outside(&self, function: &Function, value: Value, inside: &HashSet<Block>) -> bool {
        let sites = self.sites.get(value.index()).map_or(&[][..], Vec::as_slice);
        self.looked_at.fetch_add(1 + sites.len(), Ordering::Relaxed);
        sites
            .iter()
            .any(|site| !inside.contains(&site.block()) && site.uses(function, value))
    }

    /// Puts `new` in the place of `old` everywhere but in the blocks `inside`.
    pub fn replace_outside(
        &mut self,
        function: &mut Function,
        old: Value,
        new: Value,
        inside: &HashSet<Block>,
    ) {
        let sites = std::mem::take(entry(&mut self.sites, old.index()));
        *self.looked_at.get_mut() += sites.len();
        let (kept, moved): (Vec<_>, _) = sites
            .into_iter()
            .partition(|site| inside.contains(&site.block()));
        let replace = |value: &mut Value| {
            if *value == old {
                *value = new;
            }
        };
        for &site in &moved {
            match site {
                Site::Instruction(_, inst) => {
                    function.inst_mut(inst).op.for_each_operand_mut(replace);
                }
                Site::End(block) => {
                    let end = &mut function.block_mut(block).terminator;
                    end.for_each_operand_mut(replace);
                }
            }
        }
        *entry(&mut self.sites, old.index()) = kept;
        entry(&mut self.sites, new.index()).extend(moved);
    }
}

impl Site {
    fn block(self) -> Block {
        match self {
            Self::Instruction(block, _) | Self::End(block) => block,
        }
    }

    fn uses(self, function: &Function, value: Value) -> bool {
        match self {
            Self::Instruction(_, inst) => function.inst(inst).op.operands().contains(&value),
            Self::End(block) => function.block(block).terminator.operands().contains(&value),
        }
    }
}

/// An element of a list that grows to hold it.
fn entry<T: Default + Clone>(list: &mut Vec<T>, index: usize) -> &mut T {
    if list.len() <= index {
        list.resize(index + 1, T::default());
    }
    &mut list[index]
}
