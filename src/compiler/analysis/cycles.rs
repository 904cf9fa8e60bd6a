//! Cycles of the control flow, with one way in or several.

use crate::compiler::ir::{Block, Function};
use std::collections::HashMap;

/// The cyclic strongly connected components among `members` (Tarjan's algorithm, without recursion).
pub fn cycles(function: &Function, members: &[Block]) -> Vec<Vec<Block>> {
    struct State {
        index: usize,
        low: usize,
        on_stack: bool,
    }
    let inside: HashMap<Block, usize> = members.iter().copied().zip(0..).collect();
    let successors: Vec<Vec<usize>> = members
        .iter()
        .map(|&block| {
            let targets = function.successors(block).into_iter();
            targets
                .filter_map(|target| inside.get(&target).copied())
                .collect()
        })
        .collect();
    let mut states: Vec<Option<State>> = members.iter().map(|_| None).collect();
    let mut stack: Vec<usize> = Vec::new();
    let mut count = 0;
    let mut found = Vec::new();
    for root in 0..members.len() {
        if states[root].is_some() {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some(&mut (node, ref mut next)) = calls.last_mut() {
            if *next == 0 && states[node].is_none() {
                states[node] = Some(State {
                    index: count,
                    low: count,
                    on_stack: true,
                });
                count += 1;
                stack.push(node);
            }
            if let Some(&target) = successors[node].get(*next) {
                *next += 1;
                match &states[target] {
                    None => calls.push((target, 0)),
                    Some(other) if other.on_stack => {
                        let index = other.index;
                        lower(&mut states[node], index, |state| &mut state.low);
                    }
                    Some(_) => {}
                }
                continue;
            }
            calls.pop();
            let Some((low, index)) = states[node].as_ref().map(|s| (s.low, s.index)) else {
                continue;
            };
            if let Some(&(caller, _)) = calls.last() {
                lower(&mut states[caller], low, |state| &mut state.low);
            }
            if low != index {
                continue;
            }
            let mut component = Vec::new();
            while let Some(member) = stack.pop() {
                if let Some(state) = &mut states[member] {
                    state.on_stack = false;
                }
                component.push(member);
                if member == node {
                    break;
                }
            }
            if component.len() > 1 || successors[node].contains(&node) {
                // In the order of `members`, so that the outcome does not depend on the search.
                component.sort_unstable();
                found.push(component.into_iter().map(|index| members[index]).collect());
            }
        }
    }
    return found;

    fn lower<S>(state: &mut Option<S>, value: usize, low: impl Fn(&mut S) -> &mut usize) {
        if let Some(state) = state {
            let low = low(state);
            *low = value.min(*low);
        }
    }
}
