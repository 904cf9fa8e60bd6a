use super::run;
use crate::compiler::Capabilities;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AddressSpace, AtomicOp, Binary, Builder, Compare, Convert, Edge, FuncId, Function,
    Global, GlobalId, Module, Op, Place, PrivateVariable, Scope, Semantics, Terminator, Type,
    Value,
};
use crate::compiler::passes::helpers::testing;
use smallvec::smallvec;

const SIZE: u64 = 80;

/// A function of a 32-bit number and a global pointer, with 80 bytes of private or local memory.
fn function(
    space: AddressSpace,
    return_types: &[Type],
    build: impl FnOnce(&mut Builder<'_>, Value, Value, Value),
) -> Module {
    let mut function = Function::new("f");
    function.return_types = return_types.to_vec();
    let entry = function.entry();
    let number = function.add_param(entry, Type::I32);
    let global = function.add_param(entry, Type::Ptr(AddressSpace::Global));
    let variable = function.add_variable(PrivateVariable {
        name: "v".into(),
        size_bytes: SIZE,
        align_bytes: 16,
    });
    let op = match space {
        AddressSpace::Local => Op::GlobalAddress(GlobalId(0)),
        _ => Op::VariableAddress(variable),
    };
    let mut b = Builder::new(&mut function, entry);
    let memory = b.op1(op, Type::Ptr(space));
    build(&mut b, number, global, memory);
    let mut module = testing::module_of(function);
    module.add_global(Global {
        name: "l".into(),
        space: AddressSpace::Local,
        size_bytes: SIZE,
        align_bytes: 16,
        initializer: None,
        relocations: Default::default(),
        spec_id: None,
        export: None,
        import: None,
    });
    module
}

fn results(module: &Module) -> Vec<Result<Vec<u64>, crate::compiler::interp::Trap>> {
    [0u64, 1, 2, 3, 5, 7]
        .iter()
        .map(|&number| {
            let mut interpreter = Interpreter::new(module);
            let memory: Vec<u8> = (0..64).collect();
            let global = interpreter.allocate(&memory);
            let mut all = interpreter.run(FuncId(0), &[number, global])?;
            all.extend(interpreter.bytes(global, 64).iter().map(|&b| u64::from(b)));
            Ok(all)
        })
        .collect()
}

/// Lowers for devices of both kinds; the results must stay the same.
fn check(module: &Module) -> [String; 2] {
    let before = results(module);
    assert!(before.iter().all(Result::is_ok), "{before:?}\n{module}");
    [Capabilities::full(), Capabilities::minimal()].map(|capabilities| {
        let mut module = module.clone();
        testing::run_on(&mut module, &capabilities, run).unwrap();
        let text = module.to_string();
        assert!(!text.contains("ptr."), "{text}");
        assert_eq!(before, results(&module), "{text}");
        for array in &module.arrays {
            assert!(
                capabilities.int8 || array.element.size_bytes() == 4,
                "{text}"
            );
        }
        text
    })
}

/// Fills the memory with bytes, by stores of `ty`.
fn fill(b: &mut Builder<'_>, memory: Value, ty: Type) {
    for offset in (0..SIZE).step_by(ty.size_bytes() as usize) {
        let value = b.constant(ty, 0x0123_4567_89ab_cdef_u64.rotate_left(offset as u32));
        let at = b.ptr_add_const(memory, offset as i64);
        b.store1(Place::Pointer(at), value, Access::aligned(ty.size_bytes()));
    }
}

/// The number, below 8, times a size, as an offset of 64 bits.
fn scaled(b: &mut Builder<'_>, number: Value, size: u64) -> Value {
    let wide = b.convert(Convert::SignExtend, number, Type::I64);
    b.binary_const(Binary::Mul, wide, size)
}

#[test]
fn every_width_reads_and_writes_what_every_other_wrote() {
    let types = [Type::I8, Type::I16, Type::I32, Type::I64, Type::F32];
    for space in [AddressSpace::Private, AddressSpace::Local] {
        for (written, read) in types.iter().flat_map(|&w| types.map(|r| (w, r))) {
            check(&function(
                space,
                &[read, read, Type::I64],
                |b, number, _, memory| {
                    fill(b, memory, Type::I64);
                    let (write_size, read_size) = (written.size_bytes(), read.size_bytes());
                    let offset = scaled(b, number, write_size.into());
                    let at = b.ptr_add(memory, offset);
                    let value = b.constant(written, 0x1122_3344_5566_7788);
                    b.store1(Place::Pointer(at), value, Access::aligned(write_size));
                    let offset = scaled(b, number, read_size.into());
                    let at = b.ptr_add(memory, offset);
                    let pair = b.load(Place::Pointer(at), read, 2, Access::aligned(read_size));
                    let whole = b.load1(Place::Pointer(memory), Type::I64, Access::aligned(8));
                    b.terminate(Terminator::Return(smallvec![pair[0], pair[1], whole]));
                },
            ));
        }
    }
}

#[test]
fn accesses_without_alignment_are_made_of_bytes() {
    for space in [AddressSpace::Private, AddressSpace::Local] {
        check(&function(
            space,
            &[Type::I32, Type::I64],
            |b, number, _, memory| {
                fill(b, memory, Type::I32);
                let at = b.ptr_add(memory, number);
                let value = b.i32(0xdead_beef);
                b.store1(Place::Pointer(at), value, Access::aligned(1));
                let next = b.ptr_add_const(at, 3);
                let read = b.load1(Place::Pointer(next), Type::I32, Access::aligned(1));
                let whole = b.load1(Place::Pointer(memory), Type::I64, Access::aligned(8));
                b.terminate(Terminator::Return(smallvec![read, whole]));
            },
        ));
    }
}

#[test]
fn memory_of_one_float_type_is_an_array_of_it_indexed_without_shifts() {
    let [text, _] = check(&function(
        AddressSpace::Private,
        &[Type::F32],
        |b, number, _, memory| {
            fill(b, memory, Type::F32);
            let offset = scaled(b, number, 4);
            let at = b.ptr_add(memory, offset);
            let at = b.ptr_add_const(at, 8);
            let read = b.load1(Place::Pointer(at), Type::F32, Access::aligned(4));
            b.terminate(Terminator::Return(smallvec![read]));
        },
    ));
    assert!(text.contains("f32 x 20"), "{text}");
    assert!(!text.contains("shr"), "{text}");
}

#[test]
fn a_factor_may_be_negative() {
    for space in [AddressSpace::Private, AddressSpace::Local] {
        check(&function(space, &[Type::I32], |b, number, _, memory| {
            fill(b, memory, Type::I32);
            // Word 7 * number % 5, as compilers write it: 28 * number - 20 * (7 * number / 5) bytes.
            let bytes = scaled(b, number, 28);
            let words = scaled(b, number, 7);
            let quotient = b.binary_const(Binary::UDiv, words, 5);
            let less = b.binary_const(Binary::Mul, quotient, (-20i64) as u64);
            let offset = b.binary(Binary::Add, less, bytes);
            let at = b.ptr_add(memory, offset);
            let read = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
            b.terminate(Terminator::Return(smallvec![read]));
        }));
    }
}

#[test]
fn bytes_on_a_device_without_them_have_a_word_each_in_private_memory() {
    let [_, text] = check(&function(
        AddressSpace::Private,
        &[Type::I8],
        |b, number, _, memory| {
            fill(b, memory, Type::I8);
            let at = b.ptr_add(memory, number);
            let read = b.load1(Place::Pointer(at), Type::I8, Access::aligned(1));
            b.terminate(Terminator::Return(smallvec![read]));
        },
    ));
    assert!(text.contains("i32 x 80"), "{text}");
}

#[test]
fn words_with_a_byte_among_them_stay_words_in_private_memory() {
    let [text, _] = check(&function(
        AddressSpace::Private,
        &[Type::I32],
        |b, number, _, memory| {
            fill(b, memory, Type::I32);
            let at = b.ptr_add(memory, number);
            let byte = b.constant(Type::I8, 0x99);
            b.store1(Place::Pointer(at), byte, Access::aligned(1));
            let whole = b.load1(Place::Pointer(memory), Type::I32, Access::aligned(4));
            b.terminate(Terminator::Return(smallvec![whole]));
        },
    ));
    assert!(text.contains("i32 x 20"), "{text}");
}

#[test]
fn narrow_stores_beside_atomics_keep_their_neighbours() {
    let module = function(
        AddressSpace::Local,
        &[Type::I32, Type::I32],
        |b, number, _, memory| {
            fill(b, memory, Type::I32);
            let at = b.ptr_add(memory, number);
            let byte = b.constant(Type::I8, 0x5a);
            b.store1(Place::Pointer(at), byte, Access::aligned(1));
            let old = b.op1(
                Op::Atomic {
                    op: AtomicOp::Add,
                    place: Place::Pointer(memory),
                    values: smallvec![number],
                    scope: Scope::Workgroup,
                    semantics: Semantics(0),
                },
                Type::I32,
            );
            let now = b.load1(Place::Pointer(memory), Type::I32, Access::aligned(4));
            b.terminate(Terminator::Return(smallvec![old, now]));
        },
    );
    let [text, _] = check(&module);
    assert!(
        text.contains("atomic_and") && text.contains("atomic_or"),
        "{text}"
    );
}

#[test]
fn atomics_of_several_sizes_share_memory() {
    let module = function(
        AddressSpace::Local,
        &[Type::I32, Type::I64, Type::I32, Type::I16, Type::I64],
        |b, number, _, memory| {
            fill(b, memory, Type::I32);
            let low = b.binary_const(Binary::And, number, 3);
            let offset = scaled(b, low, 8);
            let at = b.ptr_add(memory, offset);
            let high = b.ptr_add_const(at, 4);
            let wide = b.convert(Convert::ZeroExtend, number, Type::I64);
            let narrow = b.convert(Convert::Truncate, number, Type::I16);
            let atomic = |b: &mut Builder<'_>, op, place, values: &[Value], ty| {
                let op = Op::Atomic {
                    op,
                    place: Place::Pointer(place),
                    values: values.into(),
                    scope: Scope::Workgroup,
                    semantics: Semantics(0),
                };
                b.op1(op, ty)
            };
            let first = atomic(b, AtomicOp::SMax, high, &[number], Type::I32);
            let second = atomic(b, AtomicOp::Add, at, &[wide], Type::I64);
            let third = atomic(b, AtomicOp::CompareExchange, high, &[low, first], Type::I32);
            let middle = b.ptr_add_const(at, 2);
            let fourth = atomic(b, AtomicOp::Xor, middle, &[narrow], Type::I16);
            let now = atomic(b, AtomicOp::Load, at, &[], Type::I64);
            let values = smallvec![first, second, third, fourth, now];
            b.terminate(Terminator::Return(values));
        },
    );
    let mut lowered = module.clone();
    testing::run(&mut lowered, run).unwrap();
    assert_eq!(lowered.arrays[0].element, Type::I64);
    assert_eq!(results(&module), results(&lowered), "{lowered}");
}

#[test]
fn a_pointer_kept_in_memory_points_to_the_same() {
    check(&function(
        AddressSpace::Private,
        &[Type::I32, Type::Bool, Type::Bool],
        |b, number, global, memory| {
            fill(b, memory, Type::I32);
            let offset = scaled(b, number, 4);
            let at = b.ptr_add(memory, offset);
            b.store1(Place::Pointer(global), at, Access::aligned(8));
            let ty = Type::Ptr(AddressSpace::Private);
            let same = b.load1(Place::Pointer(global), ty, Access::aligned(8));
            let value = b.load1(Place::Pointer(same), Type::I32, Access::aligned(4));
            let is_same = b.compare(Compare::Equal, same, at);
            let null = b.constant(ty, 0);
            let is_null = b.compare(Compare::Equal, memory, null);
            // What the pointer looks like in memory is our choice.
            let zero = b.i64(0);
            b.store1(Place::Pointer(global), zero, Access::aligned(8));
            b.terminate(Terminator::Return(smallvec![value, is_same, is_null]));
        },
    ));
}

#[test]
fn a_generic_pointer_finds_its_memory() {
    for space in [AddressSpace::Private, AddressSpace::Local] {
        check(&function(
            space,
            &[Type::I32, Type::Bool],
            |b, number, global, memory| {
                fill(b, memory, Type::I32);
                let generic = Type::Ptr(AddressSpace::Generic);
                let here = b.convert(Convert::AddressSpaceCast, memory, generic);
                let there = b.convert(Convert::AddressSpaceCast, global, generic);
                let three = b.i32(3);
                let is_low = b.compare(Compare::ULess, number, three);
                let chosen = b.select(is_low, here, there);
                let offset = scaled(b, number, 4);
                let at = b.ptr_add(chosen, offset);
                let old = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
                b.store1(Place::Pointer(at), number, Access::aligned(4));
                let new = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
                let sum = b.binary(Binary::Add, old, new);
                let null = b.constant(generic, 0);
                let is_null = b.compare(Compare::Equal, at, null);
                b.terminate(Terminator::Return(smallvec![sum, is_null]));
            },
        ));
    }
}

#[test]
fn a_pointer_may_walk_through_an_array() {
    check(&function(
        AddressSpace::Private,
        &[Type::I32],
        |b, number, _, memory| {
            fill(b, memory, Type::I32);
            let (head, exit) = (b.function.add_block(), b.function.add_block());
            let ty = Type::Ptr(AddressSpace::Private);
            let at = b.function.add_param(head, ty);
            let sum = b.function.add_param(head, Type::I32);
            let end = b.ptr_add_const(memory, 32);
            let zero = b.i32(0);
            b.jump(Edge::new(head, [end, zero]));
            b.switch_to(head);
            let before = b.ptr_add_const(at, -4);
            let value = b.load1(Place::Pointer(before), Type::I32, Access::aligned(4));
            let next = b.binary(Binary::Add, sum, value);
            let more = b.compare(Compare::NotEqual, before, memory);
            b.branch(more, Edge::new(head, [before, next]), exit);
            b.switch_to(exit);
            let result = b.binary(Binary::Xor, next, number);
            b.terminate(Terminator::Return(smallvec![result]));
        },
    ));
}

#[test]
fn local_arguments_are_sized_by_their_specialization_constants() {
    let mut module = function(AddressSpace::Local, &[Type::I16], |b, number, _, memory| {
        let offset = scaled(b, number, 2);
        let at = b.ptr_add(memory, offset);
        let value = b.constant(Type::I16, 7);
        b.store1(Place::Pointer(at), value, Access::aligned(2));
        let read = b.load1(Place::Pointer(at), Type::I16, Access::aligned(2));
        b.terminate(Terminator::Return(smallvec![read]));
    });
    module.globals[0].size_bytes = 0;
    module.globals[0].spec_id = Some(3);
    module.kernels[0].arguments = vec![crate::compiler::program::Argument {
        kind: crate::compiler::program::ArgumentKind::Local {
            spec_id: 3,
            element_bytes: 1,
            granule_bytes: 1,
        },
        info: Default::default(),
    }];
    testing::run(&mut module, run).unwrap();
    assert_eq!(module.arrays[0].length.spec_ids, [3]);
    assert_eq!(module.arrays[0].element, Type::I16);
    assert_eq!(
        module.kernels[0].arguments[0].kind,
        crate::compiler::program::ArgumentKind::Local {
            spec_id: 3,
            element_bytes: 2,
            granule_bytes: 2,
        }
    );
}
