//! Loops: one entry, one continue target, one merge block.

use super::graph::{Node, Region};
use super::selections::{children, distinct, largest, unexpected};
use super::slots::Slots;
use super::{Exits, Shaper, Task};
use crate::compiler::CompileError;
use crate::compiler::analysis::{Dominators, Uses, cycles};
use crate::compiler::ir::{
    Block, Compare, Edge, Function, Merge, Op, Terminator, Type, Value, Values,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// An arm of a loop larger than this stays behind the loop.
const SMALL_BLOCKS: usize = 8;
const SMALL_INSTRUCTIONS: usize = 48;

/// Which members of a region go to each block.
#[derive(Default)]
struct WaysIn {
    predecessors: HashMap<Block, Vec<Block>>,
    /// The place of each block among the members.
    places: HashMap<Block, usize>,
}

impl WaysIn {
    /// Adds what members lead to that came since the last time. What changed of the others may stay: it is
    /// asked again, and their new edges go to new blocks only.
    fn learn(&mut self, function: &Function, members: &[Block]) {
        let known = self.places.len();
        for (place, &block) in members.iter().enumerate().skip(known) {
            self.places.insert(block, place);
            for target in function.successors(block) {
                self.predecessors.entry(target).or_default().push(block);
            }
        }
    }

    /// The members that go to one of `blocks` and are none of them, in the order of members.
    fn into(&self, function: &Function, blocks: &[Block], inside: &HashSet<Block>) -> Vec<Block> {
        let mut found: Vec<Block> = Vec::new();
        for block in blocks {
            let from = self.predecessors.get(block).into_iter().flatten().copied();
            found.extend(from.filter(|from| {
                !inside.contains(from) && function.successors(*from).contains(block)
            }));
        }
        found.sort_by_key(|block| self.places.get(block));
        found.dedup();
        found
    }
}

/// A loop in its region, and where what is behind it goes on.
struct LoopPlace<'a> {
    region: &'a Rc<Region>,
    node: usize,
    follow: Option<Block>,
}

impl Shaper<'_> {
    /// Finds the outermost loops among `members` and gives each one entry, a block before it, and one
    /// continue target. Returns the members, new ones included, and the loops.
    pub fn prepare_loops(&mut self, mut members: Vec<Block>) -> (Vec<Block>, Vec<Node>) {
        let mut loops = Vec::new();
        // Found once for all loops: a search of the region for each would be quadratic.
        let mut ways = WaysIn::default();
        for blocks in cycles(self.function, &members) {
            ways.learn(self.function, &members);
            let node = self.prepare_loop(blocks, &mut members, &ways);
            loops.push(node);
        }
        (members, loops)
    }

    fn prepare_loop(
        &mut self,
        mut blocks: Vec<Block>,
        members: &mut Vec<Block>,
        ways: &WaysIn,
    ) -> Node {
        let inside: HashSet<Block> = blocks.iter().copied().collect();
        // The blocks outside that go into it.
        let outside = ways.into(self.function, &blocks, &inside);
        let mut entries = Vec::new();
        for &block in &outside {
            for target in self.function.successors(block) {
                if inside.contains(&target) && !entries.contains(&target) {
                    entries.push(target);
                }
            }
        }
        let head = match entries.as_slice() {
            &[head] => head,
            // A region is entered at its entry, which no cycle contains: there is always one.
            [] => blocks[0],
            _ => {
                let head = self.dispatch_entries(&entries, members);
                blocks.push(head);
                head
            }
        };

        let mut entering = 0;
        let mut only_jumps = true;
        for &block in &outside {
            let targets = self.function.successors(block);
            entering += targets.iter().filter(|&&target| target == head).count();
            only_jumps &= targets.len() == 1 || !targets.contains(&head);
        }
        if entering != 1 || !only_jumps {
            let before = self.block_before(head);
            self.lead(&outside, head, before);
            members.push(before);
        }

        if !matches!(self.function.block(head).terminator, Terminator::Jump(_)) {
            blocks.push(self.split_end(head));
        }
        let continues = self.continue_target(head, &mut blocks);
        let first = blocks.iter().position(|&block| block == head);
        blocks.swap(0, first.unwrap_or(0));
        for &block in &blocks {
            if !inside.contains(&block) {
                members.push(block);
            }
        }
        Node {
            head,
            blocks,
            continues: Some(continues),
        }
    }

    /// A block that all edges to one of several entries lead to, and which goes on to the one meant.
    fn dispatch_entries(&mut self, entries: &[Block], members: &[Block]) -> Block {
        let head = self.function.add_block();
        let selector = self.function.add_param(head, Type::I32);
        let slots = Slots::new(self.function, entries);
        let values = slots.add_params(self.function, head, 0);
        let numbered = entries.iter().enumerate();
        let mut edges: Vec<Edge> = numbered
            .map(|(index, &entry)| Edge::new(entry, slots.args(index, &values)))
            .collect();
        for &member in members {
            self.map_edges(member, |shaper, edge| {
                let chosen = entries.iter().position(|&entry| entry == edge.block)?;
                let mut args = Values::new();
                args.push(shaper.number(chosen as u32));
                args.extend(slots.pass(shaper, 0, chosen, &edge.args));
                Some(Edge::new(head, args))
            });
        }
        let terminator = if let [first, second] = edges.as_slice() {
            let zero = self.number(0);
            let compare = Op::Compare(Compare::Equal, selector, zero);
            Terminator::Branch {
                condition: self.append(head, compare, Type::Bool),
                then: first.clone(),
                otherwise: second.clone(),
            }
        } else {
            let default = edges.pop().unwrap_or_else(|| head.into());
            Terminator::Switch {
                value: selector,
                cases: (0..).zip(edges).collect(),
                default,
            }
        };
        self.end(head, terminator);
        head
    }

    /// The block from which alone the loop goes back to its head: the latch, where there is one and several
    /// ways lead to it or it decides to go on, else a new block.
    fn continue_target(&mut self, head: Block, blocks: &mut Vec<Block>) -> Block {
        let latches = self.predecessors_among(blocks, head);
        if let &[latch] = latches.as_slice()
            && latch != head
        {
            let ways = self.predecessors_among(blocks, latch);
            let from_switch = ways.iter().any(|&way| {
                matches!(
                    self.function.block(way).terminator,
                    Terminator::Switch { .. }
                )
            });
            let empty = self.function.block(latch).insts.is_empty();
            let usable = (ways.len() > 1 || empty) && !from_switch && !self.is_convergent(latch);
            match &self.function.block(latch).terminator {
                Terminator::Jump(_) if usable => return latch,
                Terminator::Branch {
                    then, otherwise, ..
                } if self.leave_at_end => {
                    let other = if then.block == head {
                        otherwise.block
                    } else {
                        then.block
                    };
                    if !blocks.contains(&other) {
                        if usable {
                            return latch;
                        }
                        let end = self.split_end(latch);
                        blocks.push(end);
                        return end;
                    }
                }
                _ => {}
            }
        }
        let target = self.block_before(head);
        self.lead(&latches, head, target);
        blocks.push(target);
        target
    }

    /// A new continue target instead of one that turned out to be more than the way back.
    pub fn replace_continue(&mut self, head: Block, old: Block) -> Block {
        let new = self.block_before(head);
        self.lead(&[old], head, new);
        self.continues.insert(head, new);
        self.terminals.insert(new);
        new
    }

    fn predecessors_among(&self, blocks: &[Block], target: Block) -> Vec<Block> {
        let all = blocks.iter().copied();
        all.filter(|&block| self.function.successors(block).contains(&target))
            .collect()
    }

    /// Gives a loop its merge block and goes on with its inside.
    pub fn loop_node(
        &mut self,
        region: &Rc<Region>,
        node: usize,
        follow: Option<Block>,
    ) -> Result<(), CompileError> {
        let Node {
            head,
            blocks,
            continues: Some(continues),
        } = &region.nodes[node]
        else {
            return Err(CompileError::internal("a loop without a continue target"));
        };
        let (head, mut continues) = (*head, *continues);
        let (mut arms, mut meetings) = children(region, node);
        let mut body = blocks.clone();
        if self.ways_out(&body).len() > 1 {
            self.copy_returns(region, node, &mut arms, &mut meetings);
        }
        let ways = self.ways_out(&body);
        if let Some(&replaced) = self.continues.get(&head) {
            continues = replaced;
            body.push(continues);
            // From here on it is an exit of the loop's inside.
            self.terminals.remove(&continues);
        }
        let place = LoopPlace {
            region,
            node,
            follow,
        };
        let merge = self.merge_block(&place, arms, meetings, &ways, &mut body)?;
        // What decides to go back can only leave to the merge block.
        let targets = self.function.successors(continues);
        if targets
            .iter()
            .any(|&target| target != head && target != merge)
        {
            continues = self.replace_continue(head, continues);
            self.terminals.remove(&continues);
            body.push(continues);
        }
        self.separate_exits(&mut body, merge);
        self.function.block_mut(head).merge = Some(Merge::Loop { merge, continues });
        body.retain(|&block| block != continues);
        self.tasks.push(Task::Region {
            entry: head,
            members: body,
            exits: Exits {
                merge: Some(merge),
                continues: Some(continues),
            },
        });
        Ok(())
    }

    /// The merge block of a loop whose `ways` out of `body` lead to its arms and where these meet. Small arms may become part of
    /// the body.
    fn merge_block(
        &mut self,
        place: &LoopPlace<'_>,
        arms: Vec<usize>,
        meetings: Vec<usize>,
        ways: &[Block],
        body: &mut Vec<Block>,
    ) -> Result<Block, CompileError> {
        let region = place.region;
        // Arms that may become part of the loop, and where its ways then lead to.
        let small: Vec<usize> = arms
            .iter()
            .copied()
            .filter(|&arm| self.is_small(region, arm))
            .collect();
        let mut with_small = body.clone();
        for &arm in &small {
            with_small.extend(region.blocks_under(arm));
        }
        let beyond = self.ways_out(&with_small);
        match (ways, beyond.as_slice()) {
            ([], _) => Ok(self.unreachable()),
            (&[target], _) => self.single_exit(place, body, target),
            (_, &[target]) => {
                *body = with_small;
                self.single_exit(place, body, target)
            }
            (_, []) => {
                // Every arm ends by itself; the largest is what comes after.
                let after = largest(region, &small);
                for &arm in &small {
                    if Some(arm) != after {
                        body.extend(region.blocks_under(arm));
                    }
                }
                let Some(arm) = after else {
                    return Ok(self.unreachable());
                };
                self.visit(place, arm);
                Ok(region.nodes[arm].head)
            }
            _ => {
                // In reverse postorder, as the tree has its children.
                let mut nodes = [arms, meetings].concat();
                nodes.sort_unstable();
                self.dispatch_exits(region, &nodes, body, ways, place.follow)
            }
        }
    }

    /// The merge block of a loop all of whose ways out lead to one target.
    fn single_exit(
        &mut self,
        place: &LoopPlace<'_>,
        body: &[Block],
        target: Block,
    ) -> Result<Block, CompileError> {
        match place.region.child_with(place.node, target) {
            Some(child) => {
                self.visit(place, child);
                Ok(target)
            }
            // Where an enclosing construct ends: this one ends just before.
            None if Some(target) == place.follow || place.region.exits.contains(target) => {
                let merge = self.block_before(target);
                self.lead(body, target, merge);
                Ok(merge)
            }
            None => Err(unexpected(target)),
        }
    }

    /// Has a node be given its structure later.
    fn visit(&mut self, place: &LoopPlace<'_>, node: usize) {
        self.tasks.push(Task::Node {
            region: place.region.clone(),
            node,
            follow: place.follow,
        });
    }

    /// Where the edges of `blocks` go that leave them, returns of their own apart.
    fn ways_out(&self, blocks: &[Block]) -> Vec<Block> {
        let inside: HashSet<Block> = blocks.iter().copied().collect();
        let mut ways = Vec::new();
        for &block in blocks {
            let targets = self.function.successors(block).into_iter();
            ways.push(
                targets
                    .filter(|target| !inside.contains(target) && !self.terminals.contains(target))
                    .collect(),
            );
        }
        distinct(&ways)
    }

    /// Whether an arm may become part of a loop: a few plain blocks.
    fn is_small(&self, region: &Region, arm: usize) -> bool {
        let nodes = region.dominated(arm);
        let mut instructions = 0;
        nodes.len() <= SMALL_BLOCKS
            && nodes.iter().all(|&node| {
                let node = &region.nodes[node];
                instructions += self.function.block(node.head).insts.len();
                node.continues.is_none() && !self.is_convergent(node.head)
            })
            && instructions <= SMALL_INSTRUCTIONS
    }

    /// Leads all ways out of a loop through dispatch blocks, and the values it leaves behind with them.
    fn dispatch_exits(
        &mut self,
        region: &Rc<Region>,
        nodes: &[usize],
        body: &[Block],
        ways: &[Block],
        follow: Option<Block>,
    ) -> Result<Block, CompileError> {
        let inside = self.with_returns(body);
        let uses = self.uses.get_or_insert_with(|| Uses::new(self.function));
        let carried = uses.left_behind(self.function, body, &inside);
        let definitions: HashMap<Value, Option<Block>> = carried
            .iter()
            .map(|&value| (value, uses.definition(self.function, value)))
            .collect();
        let dominators =
            (!carried.is_empty()).then(|| Dominators::within(self.function, body[0], &inside));

        let exits: Vec<Block> = ways
            .iter()
            .copied()
            .filter(|&target| region.exits.contains(target))
            .collect();
        let last = follow.filter(|follow| ways.contains(follow));
        for &way in ways {
            let child = nodes.iter().any(|&node| region.nodes[node].head == way);
            if !child && !exits.contains(&way) && last != Some(way) {
                return Err(unexpected(way));
            }
        }
        let dispatch = self.dispatch(region, nodes, &exits, follow, last)?;
        let merge = dispatch.head();
        let replacements: Vec<(Value, Value)> = carried
            .iter()
            .map(|&value| {
                let ty = self.function.ty(value);
                (value, self.function.add_param(merge, ty))
            })
            .collect();
        for &block in body {
            self.map_edges(block, |shaper, edge| {
                if inside.contains(&edge.block) {
                    return None;
                }
                let mut edge = dispatch.enter(shaper, 0, edge)?;
                for &value in &carried {
                    let defined = definitions[&value].is_some_and(|definition| {
                        dominators
                            .as_ref()
                            .is_some_and(|tree| tree.dominates(definition, block))
                    });
                    // Where it isn't defined it isn't used either.
                    let arg = if defined {
                        value
                    } else {
                        shaper.undefined(shaper.function.ty(value))
                    };
                    edge.args.push(arg);
                }
                Some(edge)
            });
        }
        let function = &mut *self.function;
        if let Some(uses) = &mut self.uses {
            for (value, param) in replacements {
                uses.replace_outside(function, value, param, &inside);
            }
        }
        Ok(merge)
    }

    /// The blocks of `body` and the copies of returns that they go to.
    fn with_returns(&self, body: &[Block]) -> HashSet<Block> {
        let mut inside: HashSet<Block> = body.iter().copied().collect();
        for &block in body {
            let targets = self.function.successors(block).into_iter();
            inside.extend(targets.filter(|target| self.terminals.contains(target)));
        }
        inside
    }

    /// A switch does not break out of a loop directly, since its edges would need different arguments:
    /// each gets a block in between, which becomes part of the loop.
    fn separate_exits(&mut self, body: &mut Vec<Block>, merge: Block) {
        let mut new = Vec::new();
        for &block in body.iter() {
            if !matches!(
                self.function.block(block).terminator,
                Terminator::Switch { .. }
            ) {
                continue;
            }
            self.map_edges(block, |shaper, edge| {
                (edge.block == merge).then(|| {
                    let between = shaper.function.add_block();
                    shaper.end(between, Terminator::Jump(edge.clone()));
                    new.push(between);
                    between.into()
                })
            });
        }
        body.extend(new);
    }
}
