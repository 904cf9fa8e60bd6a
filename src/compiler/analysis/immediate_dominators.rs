//! Immediate dominators of any graph: of blocks along their edges, or against them for post-dominators.
//!
//! Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (2001): iterate in reverse postorder, intersecting the
//! predecessors' chains.

const NONE: u32 = u32::MAX;

/// The immediate dominator of each node, the root's its own. Nodes are numbered in reverse postorder from the root,
/// node 0, which reaches all of them.
pub fn immediate_dominators(predecessors: &[Vec<u32>]) -> Vec<u32> {
    let mut idom = vec![NONE; predecessors.len()];
    idom[0] = 0;
    let mut changed = true;
    while changed {
        changed = false;
        for (node, predecessors) in predecessors.iter().enumerate().skip(1) {
            let mut new = NONE;
            for &predecessor in predecessors {
                if idom[predecessor as usize] != NONE {
                    new = match new {
                        NONE => predecessor,
                        other => intersect(&idom, other, predecessor),
                    };
                }
            }
            if idom[node] != new {
                idom[node] = new;
                changed = true;
            }
        }
    }
    idom
}

/// The closest node that dominates both.
pub fn intersect(idom: &[u32], mut a: u32, mut b: u32) -> u32 {
    while a != b {
        while a > b {
            a = idom[a as usize];
        }
        while b > a {
            b = idom[b as usize];
        }
    }
    a
}
