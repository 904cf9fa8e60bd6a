//! Tests of the pass.

use super::*;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{Access, Binary, Compare, Place, PrivateVariable};
use crate::compiler::passes::testing;
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
    module.kernels.push(testing::kernel(id));
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
    module.kernels.push(testing::kernel(id));
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
    module.kernels.push(testing::kernel(id));
    testing::run(&mut module, run).unwrap();
    assert_eq!(module.functions.len(), 2);
    assert_eq!(callees(module.function(id)).count(), 2);
}
