use super::*;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{FuncId, Function, GlobalId, PrivateVariable, Terminator};
use crate::compiler::passes::helpers::testing;
use smallvec::smallvec;

/// Copies `size` bytes (or as many as the third parameter says) in memory and compares all of it.
fn check(size: Option<u64>, align_bytes: u32, expect_loop: bool) {
    let mut function = Function::new("k");
    let entry = function.entry();
    let ty = Type::Ptr(AddressSpace::Global);
    let to = function.add_param(entry, ty);
    let from = function.add_param(entry, ty);
    let dynamic = function.add_param(entry, Type::I64);
    let mut b = Builder::new(&mut function, entry);
    let size_bytes = size.map_or(dynamic, |size| b.i64(size));
    b.op0(Op::Copy {
        to,
        from,
        size_bytes,
        to_access: Access::aligned(align_bytes),
        from_access: Access::aligned(align_bytes),
    });
    b.terminate(Terminator::Return(smallvec![]));
    let mut module = testing::module_of(function);
    testing::run(&mut module, run).unwrap();
    assert_eq!(module.functions[0].layout().len() > 1, expect_loop);

    let size = size.unwrap_or(23) as usize;
    let mut interpreter = Interpreter::new(&module);
    let source: Vec<u8> = (0..size).map(|i| (i * 7 + 1) as u8).collect();
    let from = interpreter.allocate(&source);
    let to = interpreter.allocate(&vec![0xee; size + 16]);
    interpreter
        .run(FuncId(0), &[to, from, size as u64])
        .unwrap();
    assert_eq!(interpreter.bytes(to, size), source);
    assert_eq!(interpreter.bytes(to + size as u64, 16), [0xee; 16]);
}

#[test]
fn copies_of_every_size_and_alignment_copy_just_that() {
    for align in [1, 2, 4, 16] {
        for size in [0, 1, 2, 3, 4, 7, 8, 15, 16, 31] {
            check(Some(size), align, false);
        }
    }
}

#[test]
fn copies_of_a_repeated_byte_read_nothing() {
    for (initializer, byte) in [(None, 0), (Some(vec![0xa5; 600]), 0xa5)] {
        let mut function = Function::new("k");
        let entry = function.entry();
        let to = function.add_param(entry, Type::Ptr(AddressSpace::Global));
        let mut b = Builder::new(&mut function, entry);
        let constant = Type::Ptr(AddressSpace::Constant);
        let from = b.op1(Op::GlobalAddress(GlobalId(0)), constant);
        let size_bytes = b.i64(599);
        b.op0(Op::Copy {
            to,
            from,
            size_bytes,
            to_access: Access::aligned(4),
            from_access: Access::aligned(1),
        });
        b.terminate(Terminator::Return(smallvec![]));
        let mut module = testing::module_of(function);
        module.add_global(Global {
            name: "bytes".into(),
            space: AddressSpace::Constant,
            size_bytes: 600,
            align_bytes: 1,
            initializer: initializer.map(Into::into),
            relocations: Default::default(),
            spec_id: None,
            export: None,
            import: None,
        });
        testing::run(&mut module, run).unwrap();
        let text = module.to_string();
        assert!(!text.contains("load"), "{text}");
        let mut interpreter = Interpreter::new(&module);
        let to = interpreter.allocate(&[0xee; 616]);
        interpreter.run(FuncId(0), &[to]).unwrap();
        assert_eq!(interpreter.bytes(to, 599), [byte; 599]);
        assert_eq!(interpreter.bytes(to + 599, 17), [0xee; 17]);
    }
}

#[test]
fn long_copies_are_loops() {
    check(Some(100), 1, true);
    check(Some(1027), 4, true);
    check(Some(256), 16, false);
    check(Some(512), 16, true);
    check(None, 4, true);
}

/// How the target of a move within one array is told.
#[derive(Clone, Copy, Debug)]
enum Target {
    /// A constant distance from the source.
    Constant,
    /// Another pointer.
    Pointer,
    /// Another pointer, and the size is not constant either.
    PointerAndSize,
}

/// Moves `size` bytes by `distance` within one array and compares all of it.
fn check_move(size: usize, distance: i64, align_bytes: u32, target: Target) {
    let mut function = Function::new("k");
    let entry = function.entry();
    let ty = Type::Ptr(AddressSpace::Global);
    let from = function.add_param(entry, ty);
    let other = function.add_param(entry, ty);
    let dynamic = function.add_param(entry, Type::I64);
    let mut b = Builder::new(&mut function, entry);
    let to = match target {
        Target::Constant => b.ptr_add_const(from, distance),
        Target::Pointer | Target::PointerAndSize => other,
    };
    let size_bytes = match target {
        Target::PointerAndSize => dynamic,
        _ => b.i64(size as u64),
    };
    b.op0(Op::Copy {
        to,
        from,
        size_bytes,
        to_access: Access::aligned(align_bytes),
        from_access: Access::aligned(align_bytes),
    });
    b.terminate(Terminator::Return(smallvec![]));
    let mut module = testing::module_of(function);
    testing::run(&mut module, run).unwrap();

    const MIDDLE: usize = 512;
    let mut bytes: Vec<u8> = (0..1536usize)
        .map(|i| (i * 7 + i / 256 + 1) as u8)
        .collect();
    let mut interpreter = Interpreter::new(&module);
    let array = interpreter.allocate(&bytes);
    let from = array + MIDDLE as u64;
    let to = from.wrapping_add_signed(distance);
    interpreter
        .run(FuncId(0), &[from, to, size as u64])
        .unwrap();
    let target_start = MIDDLE.wrapping_add_signed(distance as isize);
    bytes.copy_within(MIDDLE..MIDDLE + size, target_start);
    let found = interpreter.bytes(array, bytes.len());
    assert_eq!(
        found, bytes,
        "{size} bytes by {distance}, {align_bytes}, {target:?}"
    );
}

#[test]
fn what_overlaps_is_moved_as_it_was() {
    for target in [Target::Constant, Target::Pointer, Target::PointerAndSize] {
        for (align, distances) in [
            (1, &[0, 1, 2, 3, 7, 15, 16, 17, 31, 63, 100, 300][..]),
            (2, &[2, 6, 14, 34, 62, 100]),
            (4, &[4, 8, 12, 16, 20, 60, 64, 100, 252]),
            (16, &[16, 32, 48, 256]),
        ] {
            for size in [
                1, 3, 7, 16, 28, 31, 36, 64, 65, 100, 129, 200, 257, 300, 511,
            ] {
                for &distance in distances {
                    check_move(size, distance, align, target);
                    check_move(size, -distance, align, target);
                }
            }
        }
    }
}

/// The order for a copy of 100 bytes between two pointers that `build` makes.
fn order_of(build: impl FnOnce(&mut Builder<'_>, [Value; 2], Value) -> [Value; 2]) -> Order {
    let mut function = Function::new("k");
    let entry = function.entry();
    let global = Type::Ptr(AddressSpace::Global);
    let params = [(); 2].map(|()| function.add_param(entry, global));
    let index = function.add_param(entry, Type::I64);
    let mut b = Builder::new(&mut function, entry);
    let [to, from] = build(&mut b, params, index);
    overlap::order(b.function, to, from, Some(100))
}

/// The address of a new private variable.
fn variable(b: &mut Builder<'_>) -> Value {
    let variable = b.function.add_variable(PrivateVariable {
        name: "v".into(),
        size_bytes: 400,
        align_bytes: 4,
    });
    let ty = Type::Ptr(AddressSpace::Private);
    b.op1(Op::VariableAddress(variable), ty)
}

#[test]
fn constant_distances_say_in_which_order_bytes_are_moved() {
    for (distance, order) in [
        (4, Order::Downwards),
        (-99, Order::Upwards),
        (0, Order::Any),
        (100, Order::Any),
        (-100, Order::Any),
    ] {
        let found = order_of(|b, [p, _], _| [b.ptr_add_const(p, distance), p]);
        assert_eq!(found, order, "{distance}");
    }
}

#[test]
fn memory_is_apart_by_its_object_or_address_space() {
    let any = [
        order_of(|b, _, _| [variable(b), variable(b)]),
        order_of(|b, [p, _], _| [variable(b), p]),
        order_of(|b, [p, _], index| {
            let v = variable(b);
            let there = b.ptr_add(v, index);
            let generic = b.convert(
                Convert::AddressSpaceCast,
                there,
                Type::Ptr(AddressSpace::Generic),
            );
            [p, generic]
        }),
    ];
    assert_eq!(any, [Order::Any; 3]);
    let unknown = [
        order_of(|_, [p, q], _| [p, q]),
        order_of(|b, [p, _], index| [b.ptr_add(p, index), p]),
        order_of(|b, _, index| {
            let v = variable(b);
            [b.ptr_add(v, index), v]
        }),
        order_of(|b, [p, q], _| {
            let generic = Type::Ptr(AddressSpace::Generic);
            [b.convert(Convert::AddressSpaceCast, p, generic), q]
        }),
    ];
    assert_eq!(unknown, [Order::Unknown; 4]);
}
