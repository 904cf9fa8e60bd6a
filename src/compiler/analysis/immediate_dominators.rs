//! Immediate dominators of any graph: of blocks along their edges, or against them for post-dominators.
//!
//! Semi-dominators, then the chains of a depth-first tree: Georgiadis, Tarjan, Werneck, "Finding Dominators in Practice"
//! (2006), SEMI-NCA. To iterate over intersections of the predecessors' chains is shorter and quadratic where many
//! blocks of a long chain go to one, as checks before an operation do.

/// The immediate dominator of each node, the root's its own. Nodes are numbered in reverse postorder from the root,
/// node 0, which reaches all of them.
pub fn immediate_dominators(predecessors: &[Vec<u32>]) -> Vec<u32> {
    let (preorder, parent) = depth_first(predecessors);
    let count = preorder.len();
    let mut number = vec![0; count];
    for (index, &node) in preorder.iter().enumerate() {
        number[node as usize] = index;
    }
    // From here on nodes are numbers in preorder.
    let mut paths = Paths {
        above: parent.clone(),
        least: (0..count).collect(),
        semi: (0..count).collect(),
    };
    for node in (1..count).rev() {
        let from = &predecessors[preorder[node] as usize];
        let least = from.iter().map(|&from| {
            let least = paths.least_semi(number[from as usize], node + 1);
            paths.semi[least]
        });
        paths.semi[node] = least.fold(parent[node], usize::min);
    }
    let mut idom = parent;
    for node in 1..count {
        while idom[node] > paths.semi[node] {
            idom[node] = idom[idom[node]];
        }
    }
    let mut result = vec![0; count];
    for node in 1..count {
        result[preorder[node] as usize] = preorder[idom[node]];
    }
    result
}

/// The nodes in preorder of a depth-first walk, and by place in it the place of the one that each was reached from.
fn depth_first(predecessors: &[Vec<u32>]) -> (Vec<u32>, Vec<usize>) {
    let mut successors = vec![Vec::new(); predecessors.len()];
    for (node, predecessors) in (0..).zip(predecessors) {
        for &predecessor in predecessors {
            successors[predecessor as usize].push(node);
        }
    }
    let (mut preorder, mut parent) = (Vec::new(), Vec::new());
    let mut seen = vec![false; predecessors.len()];
    let mut pending = vec![(0, 0)];
    while let Some((node, from)) = pending.pop() {
        if std::mem::replace(&mut seen[node as usize], true) {
            continue;
        }
        let place = preorder.len();
        preorder.push(node);
        parent.push(from);
        pending.extend(successors[node as usize].iter().map(|&next| (next, place)));
    }
    (preorder, parent)
}

/// The tree above nodes that are done, whose paths get shorter with each search.
struct Paths {
    /// The parent, or one further up.
    above: Vec<usize>,
    /// The node with the least semi-dominator from here up to the one below `above`.
    least: Vec<usize>,
    semi: Vec<usize>,
}

impl Paths {
    /// The node with the least semi-dominator on the way from `node` up through those that are done: `done` and later ones.
    fn least_semi(&mut self, mut node: usize, done: usize) -> usize {
        let mut path = Vec::new();
        while self.above[node] >= done {
            path.push(node);
            node = self.above[node];
        }
        let mut least = self.least[node];
        let top = self.above[node];
        for node in path.into_iter().rev() {
            self.above[node] = top;
            if self.semi[least] < self.semi[self.least[node]] {
                self.least[node] = least;
            } else {
                least = self.least[node];
            }
        }
        least
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether every path to `node` passes `above`: it is not reached without.
    fn dominates(predecessors: &[Vec<u32>], above: usize, node: usize) -> bool {
        let mut reached = vec![false; predecessors.len()];
        reached[0] = above != 0;
        let mut grows = true;
        while grows {
            grows = false;
            for (at, from) in predecessors.iter().enumerate() {
                let comes = at != above && from.iter().any(|&from| reached[from as usize]);
                grows |= comes && !std::mem::replace(&mut reached[at], true);
            }
        }
        !reached[node]
    }

    /// Each node has an edge from an earlier one, as in reverse postorder, and some from anywhere.
    #[test]
    fn random_graphs_have_the_dominators_of_the_definition() {
        let mut state = 88_172_645_463_325_252_u64;
        let mut below = |limit: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % limit as u64) as u32
        };
        for round in 0..400 {
            let count = 2 + round % 14;
            let mut predecessors = vec![vec![]];
            predecessors.extend((1..count).map(|node| vec![below(node)]));
            for _ in 0..below(2 * count) {
                let to = below(count);
                predecessors[to as usize].push(below(count));
            }
            let found = immediate_dominators(&predecessors);
            assert_eq!(found[0], 0);
            for node in 1..count {
                let above: Vec<usize> = (0..count)
                    .filter(|&above| above != node && dominates(&predecessors, above, node))
                    .collect();
                let own = found[node] as usize;
                assert!(above.contains(&own), "{predecessors:?}: {found:?}");
                let closest = above
                    .iter()
                    .all(|&it| it == own || dominates(&predecessors, it, own));
                assert!(closest, "{predecessors:?}: {found:?}");
            }
        }
    }
}
