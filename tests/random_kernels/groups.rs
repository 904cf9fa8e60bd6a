//! What work-items of a group do together.

use crate::generator::{GROUP_SLOTS, Generator};
use crate::scope::{Scope, Variable};
use crate::tree::{Piece, Stmt};
use crate::types::{Base, Type};

/// A function of sub-groups, and what a work-item makes of all values instead.
struct Reduction {
    function: &'static str,
    /// What it starts with, of which a type is made.
    start: &'static str,
    /// `all` and `other` are what there is and what comes to it.
    step: &'static str,
    /// Whose values count: `at` is another work-item's place in the sub-group, `own` is the work-item's.
    among: &'static str,
    bases: &'static [Base],
}

const UNSIGNED: &[Base] = &[Base::UInt, Base::ULong];
const WHOLE: &[Base] = &[Base::Int, Base::UInt, Base::Long, Base::ULong];

const REDUCTIONS: [Reduction; 8] = [
    Reduction {
        function: "sub_group_reduce_add(one)",
        start: "0",
        step: "all + other",
        among: "1",
        bases: UNSIGNED,
    },
    Reduction {
        function: "sub_group_reduce_min(one)",
        start: "one",
        step: "min(all, other)",
        among: "1",
        bases: WHOLE,
    },
    Reduction {
        function: "sub_group_reduce_max(one)",
        start: "one",
        step: "max(all, other)",
        among: "1",
        bases: WHOLE,
    },
    Reduction {
        function: "sub_group_scan_exclusive_add(one)",
        start: "0",
        step: "all + other",
        among: "at < own",
        bases: UNSIGNED,
    },
    Reduction {
        function: "sub_group_scan_inclusive_max(one)",
        start: "one",
        step: "max(all, other)",
        among: "at <= own",
        bases: WHOLE,
    },
    Reduction {
        function: "sub_group_broadcast(one, 0)",
        start: "0",
        step: "other",
        among: "at == 0",
        bases: WHOLE,
    },
    Reduction {
        function: "(sub_group_any(one & 1) != 0)",
        start: "0",
        step: "all | other & 1",
        among: "1",
        bases: &[Base::Int],
    },
    Reduction {
        function: "(sub_group_all(one & 1) != 0)",
        start: "1",
        step: "all & other",
        among: "1",
        bases: &[Base::Int],
    },
];

impl Generator {
    /// Compares what a function of sub-groups says with the values in local memory, whichever sub-groups there are.
    pub fn sub_group(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let reduction = &REDUCTIONS[self.dice.below(REDUCTIONS.len())];
        let base = reduction.bases[self.dice.below(reduction.bases.len())];
        let value = self.expr(scope, Type::scalar(base), 2);
        let name = self.name("v");
        let Reduction {
            function,
            start,
            step,
            among,
            ..
        } = reduction;
        let (ty, size) = (base.name(), self.local_size);
        let text = format!(
            "uint {name}; {{ const {ty} one = @; const uint own = get_sub_group_local_id(); \
             barrier(CLK_LOCAL_MEM_FENCE); group_values[lid] = (ulong)one; \
             group_places[lid] = get_sub_group_id() * 256u + own; barrier(CLK_LOCAL_MEM_FENCE); \
             {ty} all = ({ty}){start}; for (uint i = 0; i < {size}u; ++i) {{ const uint at = group_places[i] % 256u; \
             const {ty} other = ({ty})group_values[i]; \
             if (group_places[i] / 256u == get_sub_group_id() && {among}) all = ({ty})({step}); }} \
             {name} = {function} == all; }}"
        );
        into.push(Stmt::new(&text, [Piece::Expr(value)]));
        scope.variables.push(Variable {
            name,
            ty: Type::UINT,
            writable: true,
            addressable: true,
        });
    }

    /// Each work-item writes its element of local memory and reads another's.
    pub fn exchange(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let Some((array, ty)) = self.dice.pick(&self.exchanges.clone()) else {
            return self.assignment(scope, into);
        };
        let value = self.initializer(scope, ty);
        let other = self.expr(scope, Type::UINT, 1);
        let name = self.name("v");
        let text = format!(
            "barrier(CLK_LOCAL_MEM_FENCE); {array}[lid] = @; barrier(CLK_LOCAL_MEM_FENCE); \
             {} {name} = {array}[@ % {}u];",
            ty.name(),
            self.local_size
        );
        into.push(Stmt::new(&text, [Piece::Expr(value), Piece::Expr(other)]));
        scope.variables.push(Variable {
            name,
            ty,
            writable: true,
            addressable: true,
        });
    }

    /// On counters of the whole range; each has one operation, so that their order is nobody's business.
    pub fn atomic(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let value = self.expr(scope, Type::UINT, 2);
        let index = self.index(scope, 4, 1);
        let operations = ["add", "or", "and", "xor", "min", "max", "sub"];
        let at = self.dice.below(operations.len());
        let text = format!("atomic_{}(&counters[{} + @], @);", operations[at], 4 * at);
        into.push(Stmt::new(&text, [Piece::Expr(index), Piece::Expr(value)]));
    }

    pub fn local_atomics(&mut self, scope: &mut Scope, into: &mut Vec<Stmt>) {
        let value = self.expr(scope, Type::UINT, 2);
        let index = self.index(scope, GROUP_SLOTS, 1);
        let operation = ["add", "or", "xor", "min", "max"][self.dice.below(5)];
        let name = self.name("v");
        let text = format!(
            "barrier(CLK_LOCAL_MEM_FENCE); if (lid < 1) for (uint i = 0; i < {GROUP_SLOTS}; ++i) group_slots[i] = i * 77u; \
             barrier(CLK_LOCAL_MEM_FENCE); atomic_{operation}(&group_slots[@], @); \
             barrier(CLK_LOCAL_MEM_FENCE); uint {name} = group_slots[{}];",
            self.dice.below(GROUP_SLOTS as usize)
        );
        into.push(Stmt::new(&text, [Piece::Expr(index), Piece::Expr(value)]));
        scope.variables.push(Variable {
            name,
            ty: Type::UINT,
            writable: true,
            addressable: true,
        });
    }
}
