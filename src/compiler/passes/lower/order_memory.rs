//! Memory order where the driver's own does not do.
//!
//! Vulkan has acquire and release, but no sequential consistency (what other devices do about that: see
//! `sequence_memory`), and llvmpipe makes every memory barrier, those in atomics too, an execution barrier: in
//! divergent code a work-group then never ends. Both are mended on processors whose locked operations order
//! everything around them, as x86 does:
//!
//! - a sequentially consistent store is an exchange, a sequentially consistent fence an exchange at a word of
//!   local memory that nobody else uses. On x86 every load is an acquire and every read-modify-write a fence,
//!   so nothing else is needed.
//! - on llvmpipe every ordered operation is a read-modify-write without memory semantics. So that its
//!   optimizer does not carry values across them, all accesses to shared memory are then volatile.
//!
//! Needs: no pointers (`lower::pointers`). Runs before `legalize::memory`, which may make loops of atomics.

use crate::compiler::capabilities::MemoryOrder;
use crate::compiler::ir::{
    Array, ArrayId, ArrayLength, ArrayStorage, AtomicOp, Builder, Function, Inst, Module, Op,
    Place, Rewrite, Scope, Semantics, Type, Values, rewrite_instructions,
};
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    order(module, cx.capabilities.memory_order)
}

fn order(module: &mut Module, how: MemoryOrder) -> Result<(), CompileError> {
    if how == MemoryOrder::Semantics {
        return Ok(());
    }
    let Module {
        functions, arrays, ..
    } = module;
    let orders = functions.iter().any(|function| has_order(function, how));
    let mut ordering = Ordering {
        how,
        fence: None,
        arrays,
    };
    for function in &mut *functions {
        rewrite_instructions(function, |b, inst| ordering.instruction(b, inst))?;
    }
    if orders && how == MemoryOrder::LockedOperationsOnly {
        for function in functions {
            make_volatile(function, arrays);
        }
    }
    Ok(())
}

const ORDERS: u32 = Semantics::ACQUIRE
    | Semantics::RELEASE
    | Semantics::ACQUIRE_RELEASE
    | Semantics::SEQUENTIALLY_CONSISTENT;
const MEMORY: u32 = Semantics::UNIFORM_MEMORY
    | Semantics::WORKGROUP_MEMORY
    | Semantics::CROSS_WORKGROUP_MEMORY
    | Semantics::IMAGE_MEMORY;

struct Ordering<'a> {
    how: MemoryOrder,
    /// The word that fences exchange.
    fence: Option<ArrayId>,
    arrays: &'a mut Vec<Array>,
}

impl Ordering<'_> {
    fn instruction(&mut self, b: &mut Builder<'_>, inst: Inst) -> Result<Rewrite, CompileError> {
        let data = b.function.inst(inst).clone();
        match data.op {
            Op::MemoryBarrier { memory, semantics } => {
                if !handles(self.how, semantics)
                    || memory == Scope::Invocation
                    || !semantics.has(MEMORY)
                {
                    return Ok(Rewrite::Keep);
                }
                let index = b.i32(0);
                let zero = b.i32(0);
                let array = self.fence_word()?;
                let exchange = Op::Atomic {
                    op: AtomicOp::Exchange,
                    place: Place::Element { array, index },
                    values: smallvec![zero],
                    scope: memory,
                    semantics: self.semantics(semantics),
                };
                b.op1(exchange, Type::I32);
                Ok(Rewrite::Replace(Values::new()))
            }
            Op::Atomic {
                op,
                place,
                mut values,
                scope,
                semantics,
            } if handles(self.how, semantics) => {
                let ty = data.results.first().or(values.first()).map(|&v| b.ty(v));
                let ty = ty.ok_or_else(|| CompileError::internal("an atomic without operands"))?;
                let is_store = op == AtomicOp::Store;
                let op = match op {
                    AtomicOp::Store => AtomicOp::Exchange,
                    AtomicOp::Load if self.how == MemoryOrder::LockedOperationsOnly => {
                        values.push(b.constant(ty, 0));
                        AtomicOp::Or
                    }
                    other => other,
                };
                let atomic = Op::Atomic {
                    op,
                    place,
                    values,
                    scope,
                    semantics: self.semantics(semantics),
                };
                let result = b.op1(atomic, ty);
                Ok(Rewrite::Replace(if is_store {
                    Values::new()
                } else {
                    smallvec![result]
                }))
            }
            _ => Ok(Rewrite::Keep),
        }
    }

    /// What is left to say once the operation is a locked one.
    fn semantics(&self, semantics: Semantics) -> Semantics {
        match self.how {
            MemoryOrder::LockedOperationsOnly => Semantics(0),
            _ => Semantics(semantics.0 & !ORDERS | Semantics::ACQUIRE_RELEASE),
        }
    }

    fn fence_word(&mut self) -> Result<ArrayId, CompileError> {
        if let Some(array) = self.fence {
            return Ok(array);
        }
        let array = u32::try_from(self.arrays.len())
            .map(ArrayId)
            .map_err(|_| CompileError::unsupported("the kernel has too many arrays"))?;
        self.arrays.push(Array {
            name: "fence".into(),
            storage: ArrayStorage::Workgroup,
            element: Type::I32,
            length: ArrayLength {
                elements: 1,
                spec_ids: Vec::new(),
            },
        });
        self.fence = Some(array);
        Ok(array)
    }
}

/// Whether an operation of this order needs more than its memory semantics.
fn handles(how: MemoryOrder, semantics: Semantics) -> bool {
    semantics.has(match how {
        MemoryOrder::Semantics => 0,
        MemoryOrder::LockedOperations => Semantics::SEQUENTIALLY_CONSISTENT,
        MemoryOrder::LockedOperationsOnly => ORDERS,
    })
}

/// Whether a function has such an operation.
fn has_order(function: &Function, how: MemoryOrder) -> bool {
    let blocks = function.layout().iter();
    let mut insts = blocks.flat_map(|&block| &function.block(block).insts);
    insts.any(|&inst| match function.inst(inst).op {
        Op::MemoryBarrier { semantics, .. } | Op::Atomic { semantics, .. } => {
            handles(how, semantics)
        }
        _ => false,
    })
}

/// Marks every access to memory that other work-items may write.
fn make_volatile(function: &mut Function, arrays: &[Array]) {
    let insts: Vec<Inst> = function
        .layout()
        .iter()
        .flat_map(|&block| function.block(block).insts.clone())
        .collect();
    for inst in insts {
        if let Op::Load(place, access) | Op::Store(place, _, access) =
            &mut function.inst_mut(inst).op
        {
            let is_shared = match place {
                _ if place.is_device_address() => !access.read_only,
                Place::Element { array, .. } => arrays
                    .get(array.index())
                    .is_some_and(|array| array.storage == ArrayStorage::Workgroup),
                _ => false,
            };
            access.volatile |= is_shared;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::ir::{Access, FuncId, Terminator};

    const SEQUENTIAL: Semantics =
        Semantics(Semantics::SEQUENTIALLY_CONSISTENT | Semantics::CROSS_WORKGROUP_MEMORY);

    /// A load, a store and a fence of an order, and a plain load.
    fn lowered(how: MemoryOrder, semantics: Semantics) -> String {
        let mut function = Function::new("k");
        let entry = function.entry();
        let address = function.add_param(entry, Type::I64);
        let mut b = Builder::new(&mut function, entry);
        let place = Place::Address(address);
        let value = b.i32(7);
        let atomic = |op, values| Op::Atomic {
            op,
            place,
            values,
            scope: Scope::Device,
            semantics,
        };
        b.op1(atomic(AtomicOp::Load, smallvec![]), Type::I32);
        b.op0(atomic(AtomicOp::Store, smallvec![value]));
        b.op0(Op::MemoryBarrier {
            memory: Scope::Device,
            semantics,
        });
        b.load1(place, Type::I32, Access::aligned(4));
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = Module::default();
        module.add_function(function);
        order(&mut module, how).unwrap();
        module.function(FuncId(0)).to_string().to_lowercase()
    }

    #[test]
    fn vulkan_orders_by_semantics() {
        let text = lowered(MemoryOrder::Semantics, SEQUENTIAL);
        assert!(!text.contains("exchange"), "{text}");
    }

    #[test]
    fn sequential_consistency_is_exchanges() {
        let text = lowered(MemoryOrder::LockedOperations, SEQUENTIAL);
        assert_eq!(text.matches("exchange").count(), 2, "{text}");
        let acquire = Semantics(Semantics::ACQUIRE | Semantics::CROSS_WORKGROUP_MEMORY);
        let text = lowered(MemoryOrder::LockedOperations, acquire);
        assert!(!text.contains("exchange"), "{text}");
    }

    #[test]
    fn a_driver_whose_barriers_block_gets_none() {
        let acquire = Semantics(Semantics::ACQUIRE | Semantics::CROSS_WORKGROUP_MEMORY);
        let text = lowered(MemoryOrder::LockedOperationsOnly, acquire);
        assert_eq!(text.matches("exchange").count(), 2, "{text}");
        assert!(
            !text.contains("barrier") && text.contains("volatile"),
            "{text}"
        );
        let text = lowered(MemoryOrder::LockedOperationsOnly, Semantics(0));
        assert!(
            !text.contains("exchange") && !text.contains("volatile"),
            "{text}"
        );
    }
}
