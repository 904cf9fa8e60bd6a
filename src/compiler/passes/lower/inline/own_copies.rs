//! Decides which pointers a shared body gets a copy of its own behind.
//!
//! **Why.** Calls of one body may pass pointers to different variables: `update(&inner)` and `update(&outer)`. Which one it is
//! is known only at run time in the shared body, so that neither variable can become values, and each access to either is one
//! of a private array at a computed index: some of the costliest code there is.
//!
//! **How.** The body accesses a variable of its own in the place of those that such a parameter points to. A call copies
//! there what the body accesses, and copies it back where the body writes.
//!
//! **When.** All accesses through the parameter must be at constant offsets. At each call it must be known that the pointer
//! points into a variable that holds all of what is accessed, and that nothing else the body accesses overlaps it. Parameters
//! that point to the same place at all calls need no copy: [`super::share`] drops them.

use super::pointees::{Argument, Base, Call, Extent, Pointees, Uses};
use crate::compiler::analysis::callees;
use crate::compiler::ir::{FuncId, Function, Module, VariableId};
use std::collections::{HashMap, HashSet};

/// What is copied for a parameter at most, in bytes.
const MOST_BYTES: i64 = 512;

/// What a body has in the place of what a parameter points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnCopy {
    /// The bytes copied, relative to the pointer.
    pub start: i64,
    pub size_bytes: u64,
    /// Where in the copy they begin, so that addresses in it are as aligned as those that calls pass.
    pub padding: u64,
    pub align_bytes: u32,
    pub written: bool,
}

/// The copies of the shared bodies of a function.
#[derive(Default)]
pub struct OwnCopies {
    by_param: HashMap<(FuncId, usize), OwnCopy>,
}

impl OwnCopies {
    /// Decides for the shared functions that `root` calls, and those that these call. `order` has all functions, callees
    /// first.
    pub fn of(
        module: &Module,
        root: &Function,
        order: &[FuncId],
        is_shared: &dyn Fn(FuncId) -> bool,
    ) -> Self {
        let bodies = bodies(module, root, order, is_shared);
        let mut known = HashMap::new();
        for &id in &bodies {
            known.insert(id, Pointees::of(module.function(id), &known));
        }
        let at_root = Pointees::of(root, &known);
        if at_root.has_unknown || known.values().any(|function| function.has_unknown) {
            return Self::default();
        }
        let mut sites: HashMap<FuncId, Vec<Site<'_>>> = HashMap::new();
        let functions = known.iter().map(|(&id, function)| (Some(id), function));
        for (caller, function) in functions.chain([(None, &at_root)]) {
            for call in &function.calls {
                sites.entry(call.callee).or_default().push((caller, call));
            }
        }
        let mut decision = Decision {
            module,
            root,
            known: &known,
            targets: HashMap::new(),
            copies: Self::default(),
        };
        for &id in bodies.iter().rev() {
            decision.decide(id, sites.get(&id).map_or(&[], Vec::as_slice));
        }
        decision.copies
    }

    /// What takes the place of what a parameter points to.
    pub fn get(&self, function: FuncId, position: usize) -> Option<&OwnCopy> {
        self.by_param.get(&(function, position))
    }
}

/// The shared functions that `root` calls, and those that these call, callees first.
fn bodies(
    module: &Module,
    root: &Function,
    order: &[FuncId],
    is_shared: &dyn Fn(FuncId) -> bool,
) -> Vec<FuncId> {
    let mut called: HashSet<FuncId> = callees(root).collect();
    let mut bodies = Vec::new();
    for &id in order.iter().rev() {
        if is_shared(id) && called.contains(&id) {
            called.extend(callees(module.function(id)));
            bodies.push(id);
        }
    }
    bodies.reverse();
    bodies
}

/// A call and the shared function that makes it; `None`: the root.
type Site<'a> = (Option<FuncId>, &'a Call);

/// Memory that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// A variable of a shared function, or of the root.
    Variable(Option<FuncId>, VariableId),
    /// The copy of a shared function for a parameter.
    Copy(FuncId, usize),
    /// What a parameter of a function points to, which is not known.
    Unknown(Option<FuncId>, usize),
}

/// A place in memory.
type Target = (Memory, i64);

struct Decision<'a> {
    module: &'a Module,
    root: &'a Function,
    known: &'a HashMap<FuncId, Pointees>,
    /// Where parameters point to that point to the same place at all calls.
    targets: HashMap<(FuncId, usize), Target>,
    copies: OwnCopies,
}

impl Decision<'_> {
    fn decide(&mut self, id: FuncId, sites: &[Site<'_>]) {
        let Some(function) = self.known.get(&id) else {
            return;
        };
        for (position, uses) in function.params.iter().enumerate() {
            let Some(uses) = uses else {
                continue;
            };
            let at = |&(caller, call): &Site<'_>| self.argument(caller, call, position);
            let targets: Option<Vec<Target>> = sites.iter().map(at).collect();
            let Some(targets) = targets else {
                continue;
            };
            let Some((&first, others)) = targets.split_first() else {
                continue;
            };
            if others.iter().all(|&other| other == first) {
                self.targets.insert((id, position), first);
            } else if let Some(copy) = self.copy(uses, &targets)
                && !sites.iter().any(|site| self.overlaps(id, position, site))
            {
                self.copies.by_param.insert((id, position), copy);
            }
        }
    }

    /// Where a call's argument points to.
    fn argument(&self, caller: Option<FuncId>, call: &Call, position: usize) -> Option<Target> {
        let mut arguments = call.arguments.iter();
        let argument = arguments.find(|argument| argument.position == position)?;
        self.target(caller, argument)
    }

    fn target(&self, caller: Option<FuncId>, argument: &Argument) -> Option<Target> {
        let (base, offset) = argument.pointer?;
        match base {
            Base::Variable(variable) => Some((Memory::Variable(caller, variable), offset)),
            Base::Parameter(position) => {
                let (memory, start) = self.pointed_to(caller, position);
                Some((memory, start.checked_add(offset)?))
            }
        }
    }

    /// Where a parameter points to.
    fn pointed_to(&self, function: Option<FuncId>, position: usize) -> Target {
        let Some(id) = function else {
            return (Memory::Unknown(function, position), 0);
        };
        match self.targets.get(&(id, position)) {
            Some(&target) => target,
            None if self.copies.get(id, position).is_some() => (Memory::Copy(id, position), 0),
            None => (Memory::Unknown(function, position), 0),
        }
    }

    /// The copy for what is accessed at these places, if each is in memory that holds it.
    fn copy(&self, uses: &Uses, targets: &[Target]) -> Option<OwnCopy> {
        let extent = uses.extent.filter(|_| !uses.other)?;
        let size = extent.end.checked_sub(extent.start)?;
        let fits = |&target: &Target| self.holds(target, extent);
        if size > MOST_BYTES || !targets.iter().all(fits) {
            return None;
        }
        let (_, offset) = *targets.first()?;
        let align = i64::from(extent.align_bytes);
        let padding = offset.checked_add(extent.start)?.rem_euclid(align.max(1));
        Some(OwnCopy {
            start: extent.start,
            size_bytes: u64::try_from(size).ok()?,
            padding: u64::try_from(padding).ok()?,
            align_bytes: extent.align_bytes,
            written: uses.written,
        })
    }

    /// Whether the memory that a pointer points into is known to hold what is accessed.
    fn holds(&self, (memory, offset): Target, extent: Extent) -> bool {
        let (start, end) = match memory {
            Memory::Variable(function, variable) => {
                let function = function.map_or(self.root, |id| self.module.function(id));
                let size = function.variables[variable.index()].size_bytes;
                (0, i64::try_from(size).unwrap_or(i64::MAX))
            }
            Memory::Copy(function, position) => {
                let Some(copy) = self.copies.get(function, position) else {
                    return false;
                };
                let size = i64::try_from(copy.size_bytes).unwrap_or(0);
                (copy.start, copy.start.saturating_add(size))
            }
            Memory::Unknown(..) => return false,
        };
        let first = offset.checked_add(extent.start);
        let behind = offset.checked_add(extent.end);
        first.is_some_and(|it| it >= start) && behind.is_some_and(|it| it <= end)
    }

    /// Whether a call may pass two pointers to one place, of which one is written.
    fn overlaps(&self, id: FuncId, position: usize, &(caller, call): &Site<'_>) -> bool {
        let uses = |position: usize| {
            let params = self.known.get(&id).map(|function| &function.params);
            let uses = params.and_then(|params| params.get(position).copied().flatten());
            uses.unwrap_or(Uses {
                other: true,
                written: true,
                extent: None,
            })
        };
        let own = (self.argument(caller, call, position), uses(position));
        let mut others = call.arguments.iter();
        others.any(|argument| {
            let other = (self.target(caller, argument), uses(argument.position));
            argument.position != position
                && (own.1.written || other.1.written)
                && may_overlap(own, other)
        })
    }
}

/// Whether what is accessed at two places may have bytes in common.
fn may_overlap(a: (Option<Target>, Uses), b: (Option<Target>, Uses)) -> bool {
    let ((Some((memory, offset)), uses), (Some((other_memory, other_offset)), other_uses)) = (a, b)
    else {
        return true;
    };
    if memory != other_memory {
        return [memory, other_memory]
            .iter()
            .any(|it| matches!(it, Memory::Unknown(..)));
    }
    if uses.other || other_uses.other {
        return true;
    }
    let (Some(extent), Some(other)) = (uses.extent, other_uses.extent) else {
        return false;
    };
    let is_before =
        |a: i64, end: i64, b: i64, start: i64| a.saturating_add(end) <= b.saturating_add(start);
    !is_before(offset, extent.end, other_offset, other.start)
        && !is_before(other_offset, other.end, offset, extent.start)
}
