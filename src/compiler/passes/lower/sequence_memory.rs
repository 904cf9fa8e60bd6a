//! Sequential consistency out of acquire and release.
//!
//! Needs: one kernel per module, pointers whose address space is known. Runs before `lower::arguments`, since it
//! reads an implicit argument. After it no operation of device scope is sequentially consistent. Devices on
//! whose processor every atomic read-modify-write is a fence need none of this: see `order_memory`.
//!
//! **How.** There is one word of memory for the whole device ([`Implicit::OrderWord`]). Before each
//! sequentially consistent operation, and for each sequentially consistent fence, the work-item exchanges that
//! word, acquiring and releasing; the operation itself then acquires or releases only.
//!
//! **Why it is right**, by Vulkan's memory model alone and whatever the hardware. Atomics on one word happen in
//! one order, and an exchange reads what the exchange before it wrote. It acquires what that one released: so of
//! any two exchanges one *happens before* the other. Call G(A) the exchange before operation A. Suppose the
//! operations could not be put in one order that agrees with each thread's program and with what each read and
//! overwrote. Then there is a cycle of steps, each from an operation A to a later one B of its thread, and from
//! B to an operation A' of another thread that reads B's value, overwrites it, or overwrites what B has read.
//! Take G, an exchange between A and B (there is G(B)), and G' between A' and B'. Were G' before G, then A'
//! would happen before B: but then A' could neither have read what B wrote nor come after B in any other way.
//! So G is before G' for each step of the cycle, which no order allows. The same holds for steps from B to A'
//! by happens-before, so weaker atomics may stand in between.
//!
//! This is what store buffering and independent reads of independent writes need, and what acquire and release
//! with barriers of the same kind do not give: two threads may both pass such barriers before either has seen
//! the other's store.
//!
//! **Scope.** "memory_order_seq_cst … all of the operations have scope memory_scope_device" or wider is where
//! OpenCL promises one order (section 3.3.4.4); operations of narrower scope acquire and release. A kernel that
//! has them on local memory only needs an order in each work-group: its word is in local memory.
//!
//! All go through one word: slow, but nobody waits for anybody. Programs that want speed name a weaker order.

use crate::compiler::capabilities::MemoryOrder;
use crate::compiler::ir::{
    AddressSpace, AtomicOp, Builder, Function, Global, GlobalId, Inst, Module, Op, Place, Rewrite,
    Scope, Semantics, Type, rewrite_instructions,
};
use crate::compiler::program::Implicit;
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    if cx.capabilities.memory_order != MemoryOrder::Semantics {
        return Ok(());
    }
    let mut reach = None;
    for function in &module.functions {
        for &block in function.layout() {
            let insts = function.block(block).insts.iter();
            reach = reach.max(insts.filter_map(|&inst| reach_of(function, inst)).max());
        }
    }
    let word = match reach {
        None => return Ok(()),
        Some(Reach::WorkGroup) => Word::Local(declare(module)),
        Some(Reach::Device) => Word::Device,
    };
    for function in &mut module.functions {
        rewrite_instructions(function, |b, inst| {
            if reach_of(b.function, inst).is_some() {
                word.exchange(b);
                if let Op::Atomic { semantics, .. } | Op::MemoryBarrier { semantics, .. } =
                    &mut b.function.inst_mut(inst).op
                {
                    let rest = semantics.0 & !Semantics::SEQUENTIALLY_CONSISTENT;
                    *semantics = Semantics(rest | Semantics::ACQUIRE_RELEASE);
                }
            }
            Ok::<_, CompileError>(Rewrite::Keep)
        })?;
    }
    Ok(())
}

/// How far the effect of an operation is seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    WorkGroup,
    Device,
}

/// Who takes part in the order that the instruction is part of, if it is sequentially consistent.
fn reach_of(function: &Function, inst: Inst) -> Option<Reach> {
    let (scope, semantics, is_local) = match &function.inst(inst).op {
        Op::Atomic {
            place,
            scope,
            semantics,
            ..
        } => {
            let is_local = matches!(place, Place::Pointer(pointer)
                if function.space(*pointer) == Some(AddressSpace::Local));
            (scope, semantics, is_local)
        }
        Op::MemoryBarrier { memory, semantics } => {
            let others = Semantics::CROSS_WORKGROUP_MEMORY
                | Semantics::UNIFORM_MEMORY
                | Semantics::IMAGE_MEMORY;
            (memory, semantics, !semantics.has(others))
        }
        _ => return None,
    };
    let is_wide = matches!(scope, Scope::Device | Scope::CrossDevice);
    (is_wide && semantics.has(Semantics::SEQUENTIALLY_CONSISTENT)).then_some(if is_local {
        Reach::WorkGroup
    } else {
        Reach::Device
    })
}

/// The word that is exchanged.
enum Word {
    Device,
    Local(GlobalId),
}

impl Word {
    /// The value is always the same; an exchange, unlike an addition whose result nobody uses, can't be
    /// turned into an operation that returns nothing and so acquires nothing.
    fn exchange(&self, b: &mut Builder<'_>) {
        let (place, scope) = match *self {
            Self::Device => {
                let address = b.op1(Op::Implicit(Implicit::OrderWord), Type::I64);
                (Place::Address(address), Scope::Device)
            }
            Self::Local(global) => {
                let ty = Type::Ptr(AddressSpace::Local);
                let pointer = b.op1(Op::GlobalAddress(global), ty);
                (Place::Pointer(pointer), Scope::Workgroup)
            }
        };
        let zero = b.i32(0);
        let exchange = Op::Atomic {
            op: AtomicOp::Exchange,
            place,
            values: smallvec![zero],
            scope,
            semantics: Semantics(
                Semantics::ACQUIRE_RELEASE
                    | Semantics::CROSS_WORKGROUP_MEMORY
                    | Semantics::WORKGROUP_MEMORY,
            ),
        };
        b.op1(exchange, Type::I32);
    }
}

/// Local memory for the word.
fn declare(module: &mut Module) -> GlobalId {
    module.add_global(Global {
        name: "order".into(),
        space: AddressSpace::Local,
        size_bytes: 4,
        align_bytes: 4,
        initializer: None,
        relocations: Default::default(),
        spec_id: None,
        export: None,
        import: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{FuncId, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::verify::{self, Stage};

    /// A load from one space and a fence, both of an order and scope, after the pass.
    fn sequenced(space: AddressSpace, scope: Scope, semantics: u32) -> String {
        let mut function = Function::new("k");
        let entry = function.entry();
        let pointer = function.add_param(entry, Type::Ptr(space));
        let mut b = Builder::new(&mut function, entry);
        let semantics = Semantics(semantics);
        let load = Op::Atomic {
            op: AtomicOp::Load,
            place: Place::Pointer(pointer),
            values: smallvec![],
            scope,
            semantics,
        };
        b.op1(load, Type::I32);
        b.op0(Op::MemoryBarrier {
            memory: scope,
            semantics,
        });
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        testing::run(&mut module, run).unwrap();
        verify::module(&module, Stage::WorkItemsLowered).unwrap();
        module.function(FuncId(0)).to_string().to_lowercase()
    }

    const GLOBAL: u32 = Semantics::SEQUENTIALLY_CONSISTENT | Semantics::CROSS_WORKGROUP_MEMORY;
    const LOCAL: u32 = Semantics::SEQUENTIALLY_CONSISTENT | Semantics::WORKGROUP_MEMORY;

    #[test]
    fn an_exchange_of_the_devices_word_goes_before_each_operation() {
        let text = sequenced(AddressSpace::Global, Scope::Device, GLOBAL);
        assert_eq!(text.matches("exchange").count(), 2, "{text}");
        assert_eq!(text.matches("order_word").count(), 2, "{text}");
        let places: Vec<usize> = ["exchange", "load", "exchange", "memory_barrier"]
            .iter()
            .scan(0, |from, what| {
                let at = *from + text[*from..].find(what)?;
                *from = at + 1;
                Some(at)
            })
            .collect();
        assert_eq!(places.len(), 4, "{text}");
        assert!(text.contains("memory_barrier device 0x208"), "{text}");
    }

    #[test]
    fn local_memory_alone_needs_a_word_of_its_own() {
        let text = sequenced(AddressSpace::Local, Scope::Device, LOCAL);
        assert_eq!(text.matches("exchange").count(), 2, "{text}");
        assert!(!text.contains("order_word"), "{text}");
        let mixed = sequenced(AddressSpace::Local, Scope::Device, LOCAL | GLOBAL);
        assert_eq!(mixed.matches("order_word").count(), 2, "{mixed}");
    }

    #[test]
    fn weaker_orders_and_narrower_scopes_stay() {
        for (scope, semantics) in [
            (Scope::Workgroup, GLOBAL),
            (
                Scope::Device,
                Semantics::ACQUIRE | Semantics::CROSS_WORKGROUP_MEMORY,
            ),
            (Scope::Device, 0),
        ] {
            let text = sequenced(AddressSpace::Global, scope, semantics);
            assert!(!text.contains("exchange"), "{text}");
        }
    }
}
