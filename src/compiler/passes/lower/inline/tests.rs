//! Tests of the pass, by what functions compute before and after it.

use super::*;
use crate::compiler::Capabilities;
use crate::compiler::analysis::cycles;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, Binary, Block, Builder, Compare, Edge, Kernel, Place, PrivateVariable, Scope,
    Semantics, Terminator, Value,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::verify::{self, Stage};
use smallvec::smallvec;

/// `private` pointer and value in, the larger of the value and what is stored there out.
fn larger() -> Function {
    let mut function = Function::new("larger");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let pointer = function.add_param(entry, Type::Ptr(AddressSpace::Private));
    let value = function.add_param(entry, Type::I32);
    let (yes, no) = (function.add_block(), function.add_block());
    let mut b = Builder::new(&mut function, entry);
    let old = b.load1(Place::Pointer(pointer), Type::I32, Access::aligned(4));
    let condition = b.compare(Compare::SLess, old, value);
    b.branch(condition, yes, no);
    b.switch_to(yes);
    b.terminate(Terminator::Return(smallvec![value]));
    b.switch_to(no);
    b.terminate(Terminator::Return(smallvec![old]));
    function
}

fn caller() -> Module {
    let mut module = Module::default();
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let param = function.add_param(entry, Type::I32);
    let variable = function.add_variable(PrivateVariable {
        name: "v".into(),
        size_bytes: 4,
        align_bytes: 4,
    });
    let mut b = Builder::new(&mut function, entry);
    let address = b.op1(
        Op::VariableAddress(variable),
        Type::Ptr(AddressSpace::Private),
    );
    let seven = b.i32(7);
    b.store1(Place::Pointer(address), seven, Access::aligned(4));
    let a = b.op1(Op::Call(FuncId(2), smallvec![address, param]), Type::I32);
    let c = b.op1(Op::Call(FuncId(2), smallvec![address, seven]), Type::I32);
    let sum = b.binary(Binary::Add, a, c);
    b.terminate(Terminator::Return(smallvec![sum]));
    module.add_function(Function::new("unused"));
    let id = module.add_function(function);
    module.add_function(larger());
    module.kernels.push(Kernel::new("k", id));
    module
}

#[test]
fn calls_with_private_pointers_disappear_and_mean_the_same() {
    let mut module = caller();
    let before: Vec<_> = [3, 90]
        .map(|x| Interpreter::new(&module).run(FuncId(1), &[x]))
        .into();
    testing::run(&mut module, run).unwrap();
    assert_eq!(module.functions.len(), 1);
    assert_eq!(module.kernels[0].function, FuncId(0));
    let after: Vec<_> = [3, 90]
        .map(|x| Interpreter::new(&module).run(FuncId(0), &[x]))
        .into();
    assert_eq!(before, after);
    assert_eq!(after, [Ok(vec![14]), Ok(vec![97])]);
}

#[test]
fn recursion_is_an_error() {
    let mut module = Module::default();
    let mut function = Function::new("again");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    b.op0(Op::Call(FuncId(0), smallvec![]));
    b.terminate(Terminator::Return(smallvec![]));
    let id = module.add_function(function);
    module.kernels.push(Kernel::new("k", id));
    let error = testing::run(&mut module, run).unwrap_err();
    assert_eq!(error.function.as_deref(), Some("again"));
}

#[test]
fn a_large_function_called_twice_stays() {
    let mut module = Module::default();
    let mut large = Function::new("large");
    large.return_types = vec![Type::I32];
    let entry = large.entry();
    let mut value = large.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut large, entry);
    for _ in 0..COPIES {
        value = b.binary(Binary::Add, value, value);
    }
    b.terminate(Terminator::Return(smallvec![value]));
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let one = b.i32(1);
    for _ in 0..2 {
        b.op1(Op::Call(FuncId(1), smallvec![one]), Type::I32);
    }
    b.terminate(Terminator::Return(smallvec![]));
    let id = module.add_function(function);
    module.add_function(large);
    module.kernels.push(Kernel::new("k", id));
    testing::run(&mut module, run).unwrap();
    assert_eq!(module.functions.len(), 2);
    assert_eq!(callees(module.function(id)).count(), 2);
}

const PRIVATE: Type = Type::Ptr(AddressSpace::Private);

fn variable(function: &mut Function) -> crate::compiler::ir::VariableId {
    function.add_variable(PrivateVariable {
        name: "t".into(),
        size_bytes: 4,
        align_bytes: 4,
    })
}

/// Takes a pointer and a number, changes what is there and returns a number.
fn node(name: &str) -> (Function, [Value; 2]) {
    let mut function = Function::new(name);
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let params = [PRIVATE, Type::I32].map(|ty| function.add_param(entry, ty));
    (function, params)
}

fn leaf(with_barrier: bool) -> Function {
    let (mut function, [pointer, x]) = node("leaf");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    if with_barrier {
        b.op0(Op::ControlBarrier {
            execution: Scope::Workgroup,
            memory: Scope::Workgroup,
            semantics: Semantics(0),
        });
    }
    let old = b.load1(Place::Pointer(pointer), Type::I32, Access::aligned(4));
    let mut value = b.binary(Binary::Add, old, x);
    for step in 0..10 {
        let product = b.binary_const(Binary::Mul, value, 5);
        value = b.binary_const(Binary::Xor, product, 3 + step);
    }
    b.store1(Place::Pointer(pointer), value, Access::aligned(4));
    b.terminate(Terminator::Return(smallvec![value]));
    function
}

/// Calls each of `lower` three times, twice with a variable of its own; values are wanted behind several calls.
fn branching(level: u64, lower: &[FuncId]) -> Function {
    let (mut function, [pointer, x]) = node("branching");
    let own = variable(&mut function);
    let [yes, no, meet] = [(); 3].map(|()| function.add_block());
    let second = function.add_param(meet, Type::I32);
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    let own = b.op1(Op::VariableAddress(own), PRIVATE);
    let old = b.load1(Place::Pointer(pointer), Type::I32, Access::aligned(4));
    let a = b.binary_const(Binary::Mul, x, 3 + level);
    let start = b.binary(Binary::Xor, a, old);
    b.store1(Place::Pointer(own), start, Access::aligned(4));
    let call = |b: &mut Builder<'_>, position: usize, pointer: Value, x: Value| {
        let callee = lower[position % lower.len()];
        b.op1(Op::Call(callee, smallvec![pointer, x]), Type::I32)
    };
    let first = call(&mut b, 0, own, old);
    let low = b.binary_const(Binary::And, first, 1);
    let zero = b.i32(0);
    let even = b.compare(Compare::Equal, low, zero);
    b.branch(even, yes, no);
    b.switch_to(yes);
    let one = call(&mut b, 1, pointer, a);
    b.jump(Edge::new(meet, [one]));
    b.switch_to(no);
    let other = call(&mut b, 2, own, first);
    b.jump(Edge::new(meet, [other]));
    b.switch_to(meet);
    let sum = b.binary(Binary::Add, first, second);
    let third = call(&mut b, 3, pointer, sum);
    let last = b.load1(Place::Pointer(own), Type::I32, Access::aligned(4));
    let mut result = b.binary_const(Binary::Mul, first, 5);
    for part in [second, third, a, last] {
        let more = b.binary_const(Binary::Mul, result, 7);
        result = b.binary(Binary::Add, more, part);
    }
    b.terminate(Terminator::Return(smallvec![result]));
    function
}

/// Takes a number and returns one, and has the number in a variable.
fn root() -> (Function, [Value; 2]) {
    let mut kernel = Function::new("k");
    kernel.return_types = vec![Type::I32];
    let own = variable(&mut kernel);
    let entry = kernel.entry();
    let x = kernel.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut kernel, entry);
    let own = b.op1(Op::VariableAddress(own), PRIVATE);
    b.store1(Place::Pointer(own), x, Access::aligned(4));
    (kernel, [own, x])
}

/// A call tree: kernel, then levels of functions down to a leaf. Each calls the next `reach` levels.
fn tree(depth: u32, reach: u32, with_barrier: [bool; 2]) -> Module {
    let mut module = Module::default();
    let (mut kernel, [own, x]) = root();
    let entry = kernel.entry();
    let mut b = Builder::new(&mut kernel, entry);
    let top = FuncId(depth + 1);
    let first = b.op1(Op::Call(top, smallvec![own, x]), Type::I32);
    if with_barrier[0] {
        b.op0(Op::ControlBarrier {
            execution: Scope::Workgroup,
            memory: Scope::Workgroup,
            semantics: Semantics(0),
        });
    }
    let second = b.op1(Op::Call(top, smallvec![own, first]), Type::I32);
    let both = b.binary(Binary::Xor, first, second);
    b.terminate(Terminator::Return(smallvec![both]));
    let id = module.add_function(kernel);
    module.kernels.push(Kernel::new("k", id));
    module.add_function(leaf(with_barrier[1]));
    for level in 1..=depth {
        let lower: Vec<FuncId> = (level.saturating_sub(reach)..level)
            .map(|level| FuncId(level + 1))
            .collect();
        module.add_function(branching(level.into(), &lower));
    }
    module
}

fn instructions(module: &Module) -> usize {
    let function = &module.functions[0];
    let blocks = function.layout().iter();
    blocks.map(|&block| function.block(block).insts.len()).sum()
}

/// Runs the pass on a call tree; how many instructions the kernel has then. What it computes stays the same.
fn check_tree(mut module: Module) -> usize {
    let compute =
        |module: &Module| [0, 7, 12345].map(|x| Interpreter::new(module).run(FuncId(0), &[x]));
    let before = compute(&module);
    assert!(before.iter().all(Result::is_ok), "{before:?}");
    let slow = Capabilities {
        compiles_slowly: true,
        ..Capabilities::full()
    };
    testing::run_on(&mut module, &slow, run).unwrap();
    verify::module(&module, Stage::ImagesLowered).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(module.functions.len(), 1);
    assert_eq!(compute(&module), before);
    instructions(&module)
}

#[test]
fn copies_do_not_multiply_down_a_call_tree() {
    for depth in [5, 7] {
        assert!(check_tree(tree(depth, 1, [false; 2])) < 4000);
    }
}

#[test]
fn functions_called_from_several_levels_are_shared_too() {
    for reach in [2, 3] {
        assert!(check_tree(tree(9, reach, [false; 2])) < 4000);
    }
}

#[test]
fn bodies_access_what_is_known_whatever_calls_pass() {
    let mut module = tree(7, 1, [false; 2]);
    let slow = Capabilities {
        compiles_slowly: true,
        ..Capabilities::full()
    };
    testing::run_on(&mut module, &slow, run).unwrap();
    let function = &module.functions[0];
    let blocks = function.layout().iter();
    let mut params = blocks.flat_map(|&block| &function.block(block).params);
    assert!(!params.any(|&param| function.ty(param) == PRIVATE));
}

#[test]
fn small_call_trees_are_inlined_whole() {
    let mut module = tree(2, 1, [false; 2]);
    testing::run(&mut module, run).unwrap();
    let function = &module.functions[0];
    let is_switch =
        |&block: &Block| matches!(function.block(block).terminator, Terminator::Switch { .. });
    assert!(!function.layout().iter().any(is_switch));
}

#[test]
fn bodies_are_not_shared_around_a_barrier() {
    let mut module = tree(5, 1, [true, false]);
    testing::run(&mut module, run).unwrap();
    let function = &module.functions[0];
    let barrier = function.layout().iter().copied().find(|&block| {
        let insts = function.block(block).insts.iter();
        let mut ops = insts.map(|&inst| &function.inst(inst).op);
        ops.any(|op| matches!(op, Op::ControlBarrier { .. }))
    });
    let cycles = cycles(function, function.layout());
    assert!(!cycles.is_empty());
    assert!(!cycles.iter().any(|cycle| cycle.contains(&barrier.unwrap())));
}

/// The kernel of a call tree meets at a barrier in a loop and at one behind it before it calls. What it hands over is the address
/// of one variable, which it has used before, or of one that it has not.
fn tree_behind_barriers(depth: u32, passes_used: bool) -> Module {
    let mut module = tree(depth, 1, [false; 2]);
    let mut kernel = Function::new("k");
    kernel.return_types = vec![Type::I32];
    let [used, fresh] = [(); 2].map(|()| variable(&mut kernel));
    let [head, done, early, late] = [(); 4].map(|()| kernel.add_block());
    let counter = kernel.add_param(head, Type::I32);
    let sum = kernel.add_param(done, Type::I32);
    let entry = kernel.entry();
    let x = kernel.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut kernel, entry);
    let [used, fresh] = [used, fresh].map(|it| b.op1(Op::VariableAddress(it), PRIVATE));
    let zero_bytes = b.i32(0);
    let fresh = b.ptr_add(fresh, zero_bytes);
    let zero = b.i32(0);
    b.store1(Place::Pointer(used), x, Access::aligned(4));
    b.jump(Edge::new(head, [zero]));
    let barrier = || Op::ControlBarrier {
        execution: Scope::Workgroup,
        memory: Scope::Workgroup,
        semantics: Semantics(0),
    };
    b.switch_to(head);
    b.op0(barrier());
    let next = b.binary_const(Binary::Add, counter, 1);
    let four = b.i32(4);
    let again = b.compare(Compare::NotEqual, next, four);
    let squared = b.binary(Binary::Mul, next, next);
    b.branch(again, Edge::new(head, [next]), Edge::new(done, [squared]));
    b.switch_to(done);
    b.op0(barrier());
    let odd = b.binary_const(Binary::And, x, 1);
    let is_odd = b.compare(Compare::NotEqual, odd, zero);
    b.branch(is_odd, late, early);
    b.switch_to(early);
    b.terminate(Terminator::Return(smallvec![sum]));
    b.switch_to(late);
    let top = FuncId(depth + 1);
    let pointer = if passes_used { used } else { fresh };
    b.store1(Place::Pointer(fresh), sum, Access::aligned(4));
    let first = b.op1(Op::Call(top, smallvec![pointer, x]), Type::I32);
    let second = (0..20).fold(first, |x, _| {
        b.op1(Op::Call(top, smallvec![pointer, x]), Type::I32)
    });
    let old = b.load1(Place::Pointer(used), Type::I32, Access::aligned(4));
    let both = b.binary(Binary::Xor, first, second);
    let all = b.binary(Binary::Add, both, old);
    let result = b.binary(Binary::Mul, all, squared);
    b.terminate(Terminator::Return(smallvec![result]));
    module.functions[0] = kernel;
    module
}

#[test]
fn bodies_are_shared_behind_the_last_barrier() {
    for passes_used in [false, true] {
        // With shared bodies for each call they are four times as many.
        assert!(check_tree(tree_behind_barriers(5, passes_used)) < 2000);
    }
}

#[test]
fn a_kernel_that_cannot_be_made_small_is_refused() {
    let mut module = tree(9, 1, [false, true]);
    let error = testing::run(&mut module, run).unwrap_err();
    assert!(error.reason.contains("too large"), "{error}");
}

#[test]
fn ways_to_a_body_of_many_calls_meet_in_groups() {
    const CALLS: u64 = 100;
    let mut module = Module::default();
    let (mut kernel, [own, x]) = root();
    let entry = kernel.entry();
    let mut b = Builder::new(&mut kernel, entry);
    let mut last = x;
    for call in 0..CALLS {
        let sum = b.binary_const(Binary::Add, last, call);
        let found = b.op1(Op::Call(FuncId(1), smallvec![own, sum]), Type::I32);
        // Wanted behind the next two calls.
        last = b.binary(Binary::Xor, found, last);
    }
    let result = b.binary(Binary::Add, last, x);
    b.terminate(Terminator::Return(smallvec![result]));
    let id = module.add_function(kernel);
    module.kernels.push(Kernel::new("k", id));
    module.add_function(leaf(false));
    let compute =
        |module: &Module| [0, 7, 12345].map(|x| Interpreter::new(module).run(FuncId(0), &[x]));
    let before = compute(&module);
    assert!(before.iter().all(Result::is_ok), "{before:?}");

    let order = callees_first(&module).unwrap();
    let kernel = module.function(FuncId(0));
    let whole = share::with_shared(&module, kernel, &order, &|id| id == FuncId(1), 1000).unwrap();
    let predecessors = whole.predecessors();
    let ways = predecessors.iter().map(|from| from.len()).max();
    assert_eq!(ways, Some(gather::GROUP));
    let cases = whole
        .layout()
        .iter()
        .map(|&block| whole.successors(block).len());
    assert_eq!(cases.max(), Some(gather::GROUP));
    module.functions[0] = whole;
    assert_eq!(compute(&module), before);
    let whole = &module.functions[0];
    assert_eq!(cycles(whole, whole.layout()).len(), 1);
}
