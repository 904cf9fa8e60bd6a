use super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Compare, Edge, FuncId, Function, Module, Op, Place,
    PrivateVariable, Terminator, Type, Value,
};
use crate::compiler::passes::helpers::testing;
use smallvec::smallvec;

/// A kernel of a 32-bit parameter and a private variable, which `build` fills.
fn kernel(
    size_bytes: u64,
    return_types: &[Type],
    build: impl FnOnce(&mut Builder<'_>, Value, Value),
) -> Module {
    let mut function = Function::new("k");
    function.return_types = return_types.to_vec();
    let entry = function.entry();
    let param = function.add_param(entry, Type::I32);
    let variable = function.add_variable(PrivateVariable {
        name: "v".into(),
        size_bytes,
        align_bytes: 8,
    });
    let mut b = Builder::new(&mut function, entry);
    let address = b.op1(
        Op::VariableAddress(variable),
        Type::Ptr(AddressSpace::Private),
    );
    build(&mut b, param, address);
    testing::module_of(function)
}

/// Promotes, expects no private memory to be left, and the same results for some parameters.
fn check(mut module: Module) -> String {
    let results = |module: &Module| -> Vec<_> {
        [0u64, 1, 5, 0x1234_5678, 0xffff_ffff]
            .iter()
            .map(|&x| Interpreter::new(module).run(FuncId(0), &[x]))
            .collect()
    };
    let before = results(&module);
    assert!(before.iter().all(Result::is_ok), "{before:?}\n{module}");
    testing::run(&mut module, run).unwrap();
    let text = module.functions[0].to_string();
    assert!(!text.contains("load") && !text.contains("store"), "{text}");
    assert_eq!(before, results(&module), "{text}");
    text
}

fn load(b: &mut Builder<'_>, address: Value, offset: i64, ty: Type) -> Value {
    let at = b.ptr_add_const(address, offset);
    b.load1(Place::Pointer(at), ty, Access::aligned(1))
}

fn store(b: &mut Builder<'_>, address: Value, offset: i64, value: Value) {
    let at = b.ptr_add_const(address, offset);
    b.store1(Place::Pointer(at), value, Access::aligned(1));
}

#[test]
fn a_loop_variable_becomes_a_block_parameter() {
    let text = check(kernel(8, &[Type::I32], |b, param, address| {
        let zero = b.i32(0);
        store(b, address, 0, zero);
        store(b, address, 4, param);
        let (head, body, exit) = (
            b.function.add_block(),
            b.function.add_block(),
            b.function.add_block(),
        );
        b.jump(head);
        b.switch_to(head);
        let i = load(b, address, 0, Type::I32);
        let ten = b.i32(10);
        let more = b.compare(Compare::ULess, i, ten);
        b.branch(more, body, exit);
        b.switch_to(body);
        let next = b.binary_const(Binary::Add, i, 1);
        store(b, address, 0, next);
        b.jump(head);
        b.switch_to(exit);
        let i = load(b, address, 0, Type::I32);
        let other = load(b, address, 4, Type::I32);
        let sum = b.binary(Binary::Add, i, other);
        b.terminate(Terminator::Return(smallvec![sum]));
    }));
    // One parameter in the loop: what does not change needs none.
    assert_eq!(text.matches("b1(%").count(), 3, "{text}");
}

#[test]
fn parts_of_a_value_are_read_and_written() {
    check(kernel(
        8,
        &[Type::I32, Type::I8, Type::F32, Type::I16, Type::I64],
        |b, param, address| {
            let zero = b.i64(0x1122_3344_5566_7788);
            store(b, address, 0, zero);
            store(b, address, 2, param);
            let middle = load(b, address, 3, Type::I32);
            let byte = load(b, address, 5, Type::I8);
            store(b, address, 7, byte);
            let float = load(b, address, 4, Type::F32);
            let half = load(b, address, 1, Type::I16);
            let all = load(b, address, 0, Type::I64);
            b.terminate(Terminator::Return(smallvec![
                middle, byte, float, half, all
            ]));
        },
    ));
}

#[test]
fn one_width_with_two_types_is_a_bitcast() {
    let text = check(kernel(4, &[Type::I32], |b, param, address| {
        store(b, address, 0, param);
        let float = load(b, address, 0, Type::F32);
        let sum = b.binary(Binary::FAdd, float, float);
        store(b, address, 0, sum);
        let bits = load(b, address, 0, Type::I32);
        b.terminate(Terminator::Return(smallvec![bits]));
    }));
    assert!(!text.contains("shl"), "{text}");
}

#[test]
fn copies_between_variables_move_slots() {
    check(kernel(16, &[Type::I16, Type::F32], |b, param, address| {
        let other = b.function.add_variable(PrivateVariable {
            name: "w".into(),
            size_bytes: 16,
            align_bytes: 4,
        });
        let other = b.op1(Op::VariableAddress(other), Type::Ptr(AddressSpace::Private));
        for offset in [0, 4, 8, 12] {
            store(b, address, offset, param);
        }
        let from = b.ptr_add_const(address, 2);
        let size_bytes = b.i64(12);
        b.op0(Op::Copy {
            to: other,
            from,
            size_bytes,
            to_access: Access::aligned(2),
            from_access: Access::aligned(2),
        });
        let half = load(b, other, 6, Type::I16);
        let float = load(b, other, 8, Type::F32);
        b.terminate(Terminator::Return(smallvec![half, float]));
    }));
}

#[test]
fn a_value_from_both_sides_of_a_branch_is_a_parameter() {
    check(kernel(4, &[Type::I32], |b, param, address| {
        let one = b.i32(1);
        store(b, address, 0, one);
        let condition = b.compare(Compare::ULess, param, one);
        let (then, join) = (b.function.add_block(), b.function.add_block());
        b.branch(condition, then, join);
        b.switch_to(then);
        let value = b.binary_const(Binary::Add, param, 7);
        store(b, address, 0, value);
        b.jump(Edge::new(join, []));
        b.switch_to(join);
        let value = load(b, address, 0, Type::I32);
        b.terminate(Terminator::Return(smallvec![value]));
    }));
}

#[test]
fn what_has_an_unknown_index_stays() {
    let mut module = kernel(16, &[Type::I32], |b, param, address| {
        let at = b.ptr_add(address, param);
        let value = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
        b.terminate(Terminator::Return(smallvec![value]));
    });
    let before = module.to_string();
    testing::run(&mut module, run).unwrap();
    assert_eq!(module.to_string(), before);
}
