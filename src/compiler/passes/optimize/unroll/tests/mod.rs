mod bounds;
mod partial;

use super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, BuiltIn, Compare, Convert, Edge, FuncId, Function,
    Module, Op, Place, PrivateVariable, Scope, Semantics, Terminator, Type, Value,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::{Capabilities, Context, Defects, Library, Options, Sharing};
use smallvec::smallvec;

/// A kernel of a number that sums over a counter, `first`, then `next`, while `again` holds of the next one; `body`
/// computes what is summed.
fn kernel(
    ty: Type,
    first: impl FnOnce(&mut Builder<'_>, Value) -> Value,
    step: u64,
    again: impl FnOnce(&mut Builder<'_>, Value) -> Value,
    body: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
) -> Module {
    kernel_by(ty, first, (Binary::Add, step), again, body)
}

/// A [`kernel`] whose induction variable is updated by any operation, `op` with the constant `by`.
fn kernel_by(
    ty: Type,
    first: impl FnOnce(&mut Builder<'_>, Value) -> Value,
    (op, by): (Binary, u64),
    again: impl FnOnce(&mut Builder<'_>, Value) -> Value,
    body: impl FnOnce(&mut Builder<'_>, Value, Value) -> Value,
) -> Module {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32, ty];
    let entry = function.entry();
    let param = function.add_param(entry, Type::I32);
    let variable = function.add_variable(PrivateVariable {
        name: "v".into(),
        size_bytes: 64,
        align_bytes: 8,
    });
    let [iteration, done] = [0; 2].map(|_| function.add_block());
    let counter = function.add_param(iteration, ty);
    let total = function.add_param(iteration, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let address = b.op1(
        Op::VariableAddress(variable),
        Type::Ptr(AddressSpace::Private),
    );
    for word in 0..16 {
        let at = b.ptr_add_const(address, word * 4);
        let scaled = b.binary_const(Binary::Mul, param, word as u64 + 1);
        b.store1(Place::Pointer(at), scaled, Access::aligned(4));
    }
    let first = first(&mut b, param);
    let zero = b.i32(0);
    b.jump(Edge::new(iteration, [first, zero]));
    b.switch_to(iteration);
    let summand = body(&mut b, address, counter);
    let sum = b.binary(Binary::Add, total, summand);
    let next = b.binary_const(op, counter, by);
    let condition = again(&mut b, next);
    b.branch(condition, Edge::new(iteration, [next, sum]), done);
    b.switch_to(done);
    // Read behind the loop: the last iteration's.
    b.terminate(Terminator::Return(smallvec![sum, counter]));
    testing::module_of(function)
}

/// A word of the variable.
fn word(b: &mut Builder<'_>, address: Value, counter: Value) -> Value {
    let offset = b.binary_const(Binary::And, counter, 15);
    let offset = b.binary_const(Binary::Shl, offset, 2);
    let at = b.ptr_add(address, offset);
    b.load1(Place::Pointer(at), Type::I32, Access::aligned(4))
}

/// Runs the pass; results stay the same for some parameters and local ids below `ids`.
fn check(mut module: Module, ids: u32) -> String {
    let results = |module: &Module| -> Vec<_> {
        (0..ids)
            .flat_map(|id| [0u64, 1, 7, 0xffff_fff0].map(|x| (id, x)))
            .map(|(id, x)| {
                let mut interpreter = Interpreter::new(module);
                for dimension in 0..2 {
                    let input = BuiltIn::LocalInvocationId(dimension);
                    interpreter.inputs.insert(input, id);
                }
                interpreter.run(FuncId(0), &[x])
            })
            .collect()
    };
    let before = results(&module);
    assert!(before.iter().all(Result::is_ok), "{before:?}");
    testing::run(&mut module, run).unwrap();
    assert_eq!(before, results(&module), "{module}");
    module.functions[0].to_string()
}

fn is_loop(text: &str) -> bool {
    text.contains("branch")
}

#[test]
fn a_counted_loop_over_private_memory_is_unrolled() {
    for (op, last) in [
        (Compare::NotEqual, 16),
        (Compare::ULess, 16),
        (Compare::SLessEqual, 15),
    ] {
        let module = kernel(
            Type::I64,
            |b, _| b.i64(0),
            1,
            |b, next| {
                let last = b.i64(last);
                b.compare(op, next, last)
            },
            word,
        );
        let text = check(module, 1);
        assert!(!is_loop(&text), "{op:?}\n{text}");
    }
}

#[test]
fn a_loop_whose_counter_is_multiplied_is_unrolled() {
    for (op, by, first, last) in [
        (Binary::Shl, 1, 1, 256),
        (Binary::Mul, 3, 1, 729),
        (Binary::LShr, 1, 128, 0),
    ] {
        let module = kernel_by(
            Type::I32,
            |b, _| b.i32(first),
            (op, by),
            |b, next| {
                let last = b.i32(last);
                b.compare(Compare::NotEqual, next, last)
            },
            word,
        );
        let text = check(module, 1);
        assert!(!is_loop(&text), "{op:?}\n{text}");
    }
}

#[test]
fn a_loop_of_twelve_iterations_is_unrolled_where_barriers_are_between_them() {
    for barriers in [false, true] {
        let module = kernel(
            Type::I32,
            |b, _| b.i32(0),
            1,
            |b, next| {
                let last = b.i32(12);
                b.compare(Compare::ULess, next, last)
            },
            |b, address, _| {
                if barriers {
                    b.op0(Op::ControlBarrier {
                        execution: Scope::Workgroup,
                        memory: Scope::Workgroup,
                        semantics: Semantics(0),
                    });
                }
                b.load1(Place::Pointer(address), Type::I32, Access::aligned(4))
            },
        );
        assert_eq!(is_loop(&check(module, 1)), !barriers);
    }
}

#[test]
fn a_loop_of_unknown_or_many_iterations_stays() {
    let from_parameter = kernel(
        Type::I32,
        |b, param| b.binary_const(Binary::And, param, 7),
        1,
        |b, next| {
            let last = b.i32(16);
            b.compare(Compare::ULess, next, last)
        },
        word,
    );
    assert!(is_loop(&check(from_parameter, 1)));
    let many = kernel(
        Type::I32,
        |b, _| b.i32(0),
        1,
        |b, next| {
            let last = b.i32(1000);
            b.compare(Compare::ULess, next, last)
        },
        word,
    );
    assert!(is_loop(&check(many, 1)));
}

/// Rows of a tile, from the local id on, in steps of 8, below 32; clang counts from 8 less.
fn rows(dimension: u8) -> Module {
    kernel(
        Type::I64,
        |b, _| {
            let input = BuiltIn::LocalInvocationId(dimension);
            let id = b.op1(Op::BuiltIn(input), Type::I32);
            let wide = b.convert(Convert::ZeroExtend, id, Type::I64);
            b.binary_const(Binary::Add, wide, (-8i64) as u64)
        },
        8,
        |b, next| {
            let last = b.i64(24);
            b.compare(Compare::ULess, next, last)
        },
        word,
    )
}

#[test]
fn local_ids_of_any_size_leave_the_loop() {
    assert!(is_loop(&check(rows(1), 8)));
    // 0 to 9: iterations differ.
    let mut module = rows(1);
    module.kernels[0].attributes.required_work_group_size = Some([32, 10, 1]);
    assert!(is_loop(&check(module, 10)));
}

/// In a work-group of one row the first local id is the place in all of it.
#[test]
fn a_row_of_work_items_is_as_long_as_the_work_group() {
    let mut module = rows(0);
    module.kernels[0].attributes.required_work_group_size = Some([8, 2, 1]);
    module.kernels[0].linear_groups = true;
    assert!(is_loop(&check(module.clone(), 16)));
    module.kernels[0].attributes.required_work_group_size = Some([4, 2, 1]);
    assert!(!is_loop(&check(module, 8)));
}

#[test]
fn iterations_that_only_compute_are_joined() {
    for (iterations, joined) in [(128, 8), (12, 4), (6, 2), (7, 1), (8, 4), (2, 1)] {
        let module = kernel(
            Type::I32,
            |b, _| b.i32(0),
            1,
            |b, next| {
                let last = b.i32(iterations);
                b.compare(Compare::NotEqual, next, last)
            },
            |b, _, counter| b.binary_const(Binary::Xor, counter, 0x9e37_79b9),
        );
        let text = check(module, 1);
        assert!(is_loop(&text), "{text}");
        assert_eq!(
            text.matches("xor ").count(),
            joined,
            "{iterations} iterations\n{text}"
        );
    }
}

/// A loop over a tile, say, makes two: it does not use up what the device makes.
#[test]
fn loops_of_few_iterations_stay_where_the_device_makes_few() {
    let capabilities = Capabilities {
        defects: Defects::LIMITS_ITERATIONS,
        ..Capabilities::full()
    };
    // Up to where it goes on, and the iterations there are then, with those that are left.
    for (last, iterations) in [
        (16, 1),
        (24, 1),
        (64, 1),
        (1000, 1),
        (8 * 4000, 1),
        (8 * 4097, 32 + 1),
    ] {
        let mut module = kernel(
            Type::I64,
            |b, _| {
                let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(1)), Type::I32);
                b.convert(Convert::ZeroExtend, id, Type::I64)
            },
            8,
            |b, next| {
                let last = b.i64(last + 8);
                b.compare(Compare::ULess, next, last)
            },
            word,
        );
        module.kernels[0].attributes.required_work_group_size = Some([8, 40, 1]);
        testing::run_on(&mut module, &capabilities, run).unwrap();
        let text = module.functions[0].to_string();
        assert_eq!(text.matches("load ").count(), iterations, "{text}");
    }
}

/// A kernel of 16 iterations that load from where `id` says, and the sum of what they load.
fn tile_iterations(id: BuiltIn) -> Module {
    let mut function = Function::new("k");
    function.return_types = vec![Type::I32];
    let entry = function.entry();
    let [iteration, done] = [0; 2].map(|_| function.add_block());
    let counter = function.add_param(iteration, Type::I32);
    let total = function.add_param(iteration, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let local = b.constant(Type::Ptr(AddressSpace::Local), 64);
    let row = b.op1(Op::BuiltIn(id), Type::I32);
    let zero = b.i32(0);
    b.jump(Edge::new(iteration, [zero, zero]));
    b.switch_to(iteration);
    let place = b.binary(Binary::Add, row, counter);
    let offset = b.binary_const(Binary::Shl, place, 2);
    let at = b.ptr_add(local, offset);
    let loaded = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
    let sum = b.binary(Binary::Add, total, loaded);
    let next = b.binary_const(Binary::Add, counter, 1);
    let more = {
        let limit = b.i32(16);
        b.compare(Compare::ULess, next, limit)
    };
    b.branch(more, Edge::new(iteration, [next, sum]), done);
    b.switch_to(done);
    b.terminate(Terminator::Return(smallvec![sum]));
    let mut module = testing::module_of(function);
    let attributes = &mut module.kernels[0].attributes;
    attributes.required_work_group_size = Some([8, 8, 1]);
    module
}

#[test]
fn iterations_that_load_the_same_for_a_sub_group_are_joined_for_drivers_that_load_one_by_one() {
    let loads = |id, serial_memory, uniform_work_groups| {
        let mut module = tile_iterations(id);
        let capabilities = Capabilities {
            serial_memory,
            defects: Capabilities::lavapipe().defects - Defects::LIMITS_ITERATIONS,
            ..Capabilities::lavapipe()
        };
        let options = Options {
            uniform_work_groups,
            ..Options::default()
        };
        let cx = Context {
            capabilities: &capabilities,
            options: &options,
            library: &Library::empty(),
            sharing: Sharing::All,
        };
        run(&mut module, &cx).unwrap();
        module.functions[0].to_string().matches("load").count()
    };
    let (row, lane) = (BuiltIn::LocalInvocationId(1), BuiltIn::LocalInvocationId(0));
    assert_eq!(loads(row, true, true), 8);
    // Sub-groups that may not be full, other addresses for each work-item, other drivers.
    assert_eq!(loads(row, true, false), 1);
    assert_eq!(loads(lane, true, true), 1);
    assert_eq!(loads(row, false, true), 1);
}

/// A kernel of a number: `iterations` iterations that set a flag, of which only the last one's is returned.
fn setting(iterations: u32, flag: impl FnOnce(&mut Builder<'_>, Value) -> Value) -> Module {
    let mut function = Function::new("k");
    function.return_types = vec![Type::Bool];
    let entry = function.entry();
    let param = function.add_param(entry, Type::I32);
    let [iteration, body, done] = [0; 3].map(|_| function.add_block());
    let counter = function.add_param(iteration, Type::I32);
    let found = function.add_param(iteration, Type::Bool);
    let mut b = Builder::new(&mut function, entry);
    let five = b.i32(5);
    let first = b.compare(Compare::ULess, param, five);
    let outside = flag(&mut b, param);
    let zero = b.i32(0);
    b.jump(Edge::new(iteration, [zero, first]));
    b.switch_to(iteration);
    let last = b.i32(iterations);
    let goes_on = b.compare(Compare::NotEqual, counter, last);
    b.branch(goes_on, body, done);
    b.switch_to(body);
    let next = b.binary_const(Binary::Add, counter, 1);
    b.jump(Edge::new(iteration, [next, outside]));
    b.switch_to(done);
    b.terminate(Terminator::Return(smallvec![found]));
    testing::module_of(function)
}

#[test]
fn a_loop_that_sets_a_flag_is_taken_away() {
    let is_seven = |b: &mut Builder<'_>, param| {
        let seven = b.i32(7);
        b.compare(Compare::Equal, param, seven)
    };
    for iterations in [1, 2, 200] {
        let text = check(setting(iterations, is_seven), 1);
        assert!(!text.contains("branch"), "{iterations}: {text}");
    }
    // Without a second iteration it is the first flag.
    check(setting(0, is_seven), 1);
    let text = check(setting(3, |b, _| b.bool(true)), 1);
    assert!(!text.contains("branch"), "{text}");
    // How many iterations these are nobody counts.
    let text = check(setting(5000, is_seven), 1);
    assert!(text.contains("branch"), "{text}");
}
