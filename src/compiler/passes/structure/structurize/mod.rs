//! Any control-flow graph to structured control flow.
//!
//! **Needs** valid SSA without pointers to code; no merge annotations. **Gives** every header its
//! [`crate::compiler::ir::Merge`], such that SPIR-V's rules for structured control flow hold (SPIR-V
//! section 2.11): a construct is entered at its header, and left to its merge block, to the innermost
//! loop's merge block or continue target, or by a return.
//!
//! **How.** Outside in, one region at a time: the function, then the inside of each loop.
//!
//! 1. *Loops* of a region are its strongly connected components. One with several entries gets a header
//!    that dispatches on a selector; every loop gets a block before it, and one continue target. Then each
//!    loop counts as one node, and the region has no cycles ([`graph`]).
//! 2. *Selections* follow the region's dominator tree. A node's children with one predecessor are its
//!    arms, those with several are where arms meet. When all ways out of a branch meet in one child, it is
//!    the merge block. When they meet in several, or also lead to where the enclosing construct ends (its
//!    *follow*), they all go to a dispatch block instead, which takes a selector and what the targets
//!    take as parameters, and tries the targets one after the other ([`dispatch`]).
//! 3. A loop as a node is treated as a branch with an arm for each way out, except that it can't be left to
//!    the enclosing loop directly: small arms become part of the loop, ended by a `break` ([`loops`]).
//!
//! 4. Where the device has a limit on nesting ([`crate::compiler::Capabilities::max_nesting`]) and the outcome is deeper, all is
//!    done again with large switches in pieces ([`switches`]), and then with regions cut into a sequence of parts first
//!    ([`sequence`]), deeper and deeper cuts until it fits. What never does is an error.
//!
//! Common shapes come out without selectors. No block that depends on which work-items execute it together
//! (barriers, collectives) is duplicated, or moved into a loop.
//!
//! **SSA.** A dispatch block on the way from a branch to its children takes nothing away from dominance. On
//! the way out of a loop it does: values of the loop used behind it become parameters there.

mod dispatch;
mod edit;
mod graph;
mod loops;
mod nesting;
mod prepare;
mod selections;
mod sequence;
mod slots;
mod switches;

#[cfg(test)]
mod check;
#[cfg(test)]
mod nesting_tests;
#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

use crate::compiler::analysis::Uses;
use crate::compiler::ir::{Array, Block, FuncId, Function, Module, Op, Type, Value};
use crate::compiler::{CompileError, Context, Defects};
use graph::Region;
use sequence::Carried;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Structures every function of the module.
pub fn run(module: &mut Module, cx: &Context) -> Result<(), CompileError> {
    let leave_at_end = !cx.capabilities.has(Defects::OVERWRITES_LOOP_STATE);
    let convergent = convergent_functions(module);
    // Ways through a called function that return can't be given another one to where they meet (`bypass_selections`).
    if cx.capabilities.has(Defects::FOLLOWS_ALL_WAYS) {
        let is_kernel = |id: FuncId| module.kernels.iter().any(|kernel| kernel.function == id);
        let ids = (0..).map(FuncId).zip(&mut module.functions);
        ids.filter(|(id, _)| !is_kernel(*id))
            .for_each(|(_, function)| prepare::return_once(function));
    }
    let arrays = &mut module.arrays;
    for function in &mut module.functions {
        let name = function.name.clone();
        match cx.capabilities.max_nesting {
            None => structurize(function, &convergent, leave_at_end).map(drop),
            Some(most) => limited(function, &convergent, leave_at_end, most, arrays),
        }
        .map_err(|error| error.in_function(name))?;
    }
    Ok(())
}

/// Structures one function such that nothing is nested deeper than `most`.
fn limited(
    function: &mut Function,
    convergent: &HashSet<FuncId>,
    leave_at_end: bool,
    most: u32,
    arrays: &mut Vec<Array>,
) -> Result<(), CompileError> {
    let mut deepest = 0;
    // Made when it is asked for: most functions fit as they are.
    let mut pieces = None;
    for (in_pieces, part) in [
        (false, None),
        (true, None),
        (true, Some(most / 2)),
        (true, Some(most / 4)),
        (true, Some(most / 8)),
        (true, Some(1)),
    ] {
        let source = if in_pieces {
            let (split, is_split) = pieces.get_or_insert_with(|| {
                let mut split = function.clone();
                let is_split = switches::split(&mut split);
                (split, is_split)
            });
            // Nothing new.
            if part.is_none() && !*is_split {
                continue;
            }
            &*split
        } else {
            &*function
        };
        let mut candidate = source.clone();
        let mut carried = Carried::behind(arrays.len());
        let part = part.map(|depth| depth as usize);
        structurize_in_parts(&mut candidate, convergent, leave_at_end, part, &mut carried)?;
        deepest = nesting::depth(&candidate);
        if deepest <= most {
            *function = candidate;
            arrays.append(&mut carried.arrays);
            return Ok(());
        }
    }
    Err(CompileError::unsupported(format!(
        "conditions and loops are nested {deepest} deep; the device's driver takes {most} at most"
    )))
}

/// Structures one function; `convergent` are the callees that hold barriers or collectives. `leave_at_end`
/// lets a continue target leave the loop, as the end of `do … while` does. Returns how many uses of values it looked
/// at: as many as there are, a few times.
fn structurize(
    function: &mut Function,
    convergent: &HashSet<FuncId>,
    leave_at_end: bool,
) -> Result<usize, CompileError> {
    let mut carried = Carried::behind(0);
    structurize_in_parts(function, convergent, leave_at_end, None, &mut carried)
}

/// Structures one function as [`structurize`] does, with regions cut into parts that nest no deeper than `most_nested`.
fn structurize_in_parts(
    function: &mut Function,
    convergent: &HashSet<FuncId>,
    leave_at_end: bool,
    most_nested: Option<usize>,
    carried: &mut Carried,
) -> Result<usize, CompileError> {
    prepare::remove_unreachable(function);
    let mut shaper = Shaper {
        function,
        convergent,
        leave_at_end,
        undefined: HashMap::new(),
        numbers: HashMap::new(),
        terminals: HashSet::new(),
        continues: HashMap::new(),
        uses: None,
        most_nested,
        carried: std::mem::replace(carried, Carried::behind(0)),
        tasks: Vec::new(),
        passed: 0,
    };
    shaper.separate_edges();
    let entry = shaper.function.entry();
    let members = shaper.function.layout().to_vec();
    shaper.tasks.push(Task::Region {
        entry,
        members,
        exits: Exits::default(),
    });
    while let Some(task) = shaper.tasks.pop() {
        match task {
            Task::Region {
                entry,
                members,
                exits,
            } => shaper.region(entry, members, exits)?,
            Task::Node {
                region,
                node,
                follow,
            } => shaper.node(&region, node, follow)?,
        }
        if shaper.function.is_too_large() {
            return Err(CompileError::unsupported(
                "the control flow hands on too many values",
            ));
        }
    }
    *carried = shaper.carried;
    let looked_at = shaper.uses.map_or(0, |uses| uses.looked_at());
    prepare::remove_unreachable(function);
    Ok(looked_at)
}

/// Where a region may be left to from any depth: the innermost loop's merge block and continue target.
#[derive(Clone, Copy, Debug, Default)]
struct Exits {
    merge: Option<Block>,
    continues: Option<Block>,
}

impl Exits {
    fn contains(self, block: Block) -> bool {
        self.merge == Some(block) || self.continues == Some(block)
    }
}

/// What is left to do. Tasks are independent of each other: what leaves a node's part of the graph was led
/// to one place before the task was made.
enum Task {
    /// The blocks of the function or of a loop's inside.
    Region {
        entry: Block,
        members: Vec<Block>,
        exits: Exits,
    },
    /// A node of a region and what it dominates; all of which ends in exits, or goes to `follow`.
    Node {
        region: Rc<Region>,
        node: usize,
        follow: Option<Block>,
    },
}

/// A function being structured.
struct Shaper<'a> {
    function: &'a mut Function,
    convergent: &'a HashSet<FuncId>,
    /// Whether a continue target may leave its loop.
    leave_at_end: bool,
    /// One undefined value of each type, in the entry block.
    undefined: HashMap<Type, Value>,
    /// Selector values, in the entry block.
    numbers: HashMap<u32, Value>,
    /// Blocks outside of the regions' nodes that belong to what goes to them: copies of return blocks, and
    /// the continue targets in `continues`.
    terminals: HashSet<Block>,
    /// Continue targets that took the place of those found first, by the loop's head.
    continues: HashMap<Block, Block>,
    /// From the first loop on that needs it.
    uses: Option<Uses>,
    /// How deep the parts of a region may be nested, if it is to be cut into parts.
    most_nested: Option<usize>,
    /// What lies in memory between parts.
    carried: Carried,
    tasks: Vec<Task>,
    /// Arguments of all ends of blocks made so far.
    passed: usize,
}

/// Arguments that ends of blocks are given at most: a dispatch hands on what its targets take along every way into it. A
/// function that needs more is given up.
const MOST_PASSED: usize = 1 << 22;

impl Shaper<'_> {
    /// Finds the loops of a region and its tree, and goes on with its entry.
    fn region(
        &mut self,
        entry: Block,
        members: Vec<Block>,
        exits: Exits,
    ) -> Result<(), CompileError> {
        let (members, loops) = self.prepare_loops(members);
        let mut region = Region::new(self.function, entry, members, loops, exits);
        if let Some(most) = self.most_nested
            && let Some(members) = self.sequence(&region, most)
        {
            let loops = region.into_loops();
            region = Region::new(self.function, entry, members, loops, exits);
        }
        let region = Rc::new(region);
        self.tasks.push(Task::Node {
            region,
            node: 0,
            follow: None,
        });
        Ok(())
    }

    fn node(
        &mut self,
        region: &Rc<Region>,
        mut node: usize,
        follow: Option<Block>,
    ) -> Result<(), CompileError> {
        use crate::compiler::ir::Terminator;
        loop {
            if region.nodes[node].continues.is_some() {
                return self.loop_node(region, node, follow);
            }
            match &self.function.block(region.nodes[node].head).terminator {
                Terminator::Return(_) | Terminator::Unreachable => return Ok(()),
                Terminator::Jump(edge) => match region.child_with(node, edge.block) {
                    Some(child) => node = child,
                    None => return Ok(()),
                },
                Terminator::Branch { .. } | Terminator::Switch { .. } => {
                    return self.selection(region, node, follow);
                }
            }
        }
    }

    /// Whether a block does something that depends on who else does it.
    fn is_convergent(&self, block: Block) -> bool {
        let insts = &self.function.block(block).insts;
        insts
            .iter()
            .any(|&inst| is_convergent(&self.function.inst(inst).op, self.convergent))
    }
}

fn is_convergent(op: &Op, convergent: &HashSet<FuncId>) -> bool {
    match op {
        Op::ControlBarrier { .. } | Op::Group(..) => true,
        Op::Call(callee, _) => convergent.contains(callee),
        _ => false,
    }
}

/// The functions that hold barriers or collectives, or call one that does.
fn convergent_functions(module: &Module) -> HashSet<FuncId> {
    let mut found = HashSet::new();
    loop {
        let before = found.len();
        for id in module.function_ids() {
            let function = module.function(id);
            let mut insts = function
                .layout()
                .iter()
                .flat_map(|&block| &function.block(block).insts);
            if insts.any(|&inst| is_convergent(&function.inst(inst).op, &found)) {
                found.insert(id);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}
