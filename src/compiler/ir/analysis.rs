//! Analyses of a function, kept with it until an edit makes them stale.
//!
//! A pass asks for what it needs by [`Function::analysis`], and again once it has edited the function: nobody has to say
//! what an edit has left as it was. What the analyses are is the business of `compiler::analysis`.

use super::Function;
use std::any::Any;
use std::sync::Arc;

/// Facts about a function.
pub trait Analysis: Any + Send + Sync {
    /// Whether an edit may leave it as it is, and [`Self::holds`] tells whether one has. Others are stale after any edit.
    const OUTLASTS_EDITS: bool;

    /// Analyses a function.
    fn of(function: &Function) -> Self;

    /// Whether it is what [`Self::of`] would find now, in less time than that takes.
    fn holds(&self, _function: &Function) -> bool {
        false
    }
}

impl Function {
    /// An analysis of the function as it is now: made at most once until an edit makes it stale.
    pub fn analysis<A: Analysis>(&self) -> Arc<A> {
        // Nothing is locked meanwhile: an analysis may ask for others.
        let facts = match self.facts.get::<A>() {
            Some((facts, edits)) if edits == self.edits() => return facts,
            Some((facts, _)) if A::OUTLASTS_EDITS && facts.holds(self) => facts,
            _ => Arc::new(A::of(self)),
        };
        let new = facts.clone();
        self.facts.set(new, self.edits(), A::OUTLASTS_EDITS);
        facts
    }

    /// Frees the analyses that the last edit has made stale, whatever it was.
    pub fn drop_stale_analyses(&mut self) {
        self.facts.drop_stale(self.edits());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Block, Builder, Terminator, Type};

    /// How many instructions there are.
    struct Size(usize);

    impl Analysis for Size {
        const OUTLASTS_EDITS: bool = false;

        fn of(function: &Function) -> Self {
            let blocks = function.layout().iter();
            Self(blocks.map(|&block| function.block(block).insts.len()).sum())
        }
    }

    /// Where the entry goes.
    struct Next(Vec<Block>);

    impl Analysis for Next {
        const OUTLASTS_EDITS: bool = true;

        fn of(function: &Function) -> Self {
            Self(function.successors(function.entry()).to_vec())
        }

        fn holds(&self, function: &Function) -> bool {
            Self::of(function).0 == self.0
        }
    }

    #[test]
    fn an_edit_makes_stale_what_it_changes() {
        let mut function = Function::new("f");
        let (entry, next) = (function.entry(), function.add_block());
        let (size, ways) = (function.analysis::<Size>(), function.analysis::<Next>());
        assert_eq!((size.0, ways.0.len()), (0, 0));
        assert!(Arc::ptr_eq(&size, &function.analysis()));

        Builder::new(&mut function, entry).constant(Type::I32, 7);
        assert_eq!(function.analysis::<Size>().0, 1);
        assert!(Arc::ptr_eq(&ways, &function.analysis()));

        function.set_terminator(entry, Terminator::Jump(next.into()));
        assert_eq!(function.analysis::<Next>().0, [next]);
    }

    #[test]
    fn what_is_set_to_what_it_is_counts_as_no_edit() {
        let mut function = Function::new("f");
        let entry = function.entry();
        let end = function.add_block();
        let mut b = Builder::new(&mut function, entry);
        b.constant(Type::I32, 7);
        b.jump(end);
        let before = function.edits();
        let data = function.block(entry).clone();
        let inst = function.inst(data.insts[0]).clone();
        function.set_op(data.insts[0], inst.op, inst.flags);
        function.set_insts(entry, data.insts);
        function.set_terminator(entry, data.terminator);
        function.sort_layout();
        function.remove_params(|_| true);
        function.retain_blocks(|_| true);
        assert_eq!(function.edits(), before);
        function.set_insts(entry, vec![]);
        assert_ne!(function.edits(), before);
    }

    #[test]
    fn a_copy_is_edited_for_itself() {
        let function = Function::new("f");
        let entry = function.entry();
        let size = function.analysis::<Size>();
        let mut copy = function.clone();
        Builder::new(&mut copy, entry).constant(Type::I32, 7);
        assert_eq!(copy.analysis::<Size>().0, 1);
        assert!(Arc::ptr_eq(&size, &function.analysis()));
    }
}
