//! Circles of modules: those that import each other by whatever way.

use crate::imports::{Import, Module};
use petgraph::algo::tarjan_scc;
use petgraph::graphmap::DiGraphMap;

/// The sets of more than one module of which each leads to all others.
pub fn circles(arrows: &[&Import]) -> Vec<Vec<Module>> {
    let edges = arrows.iter().map(|arrow| (&arrow.from, &arrow.to));
    let graph: DiGraphMap<&Module, ()> = edges.collect();
    tarjan_scc(&graph)
        .into_iter()
        .filter(|set| set.len() > 1)
        .map(|set| set.into_iter().cloned().collect())
        .collect()
}
