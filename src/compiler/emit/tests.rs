//! Emitted modules are valid, and say what the IR says.

use super::emit;
use super::validate::{assert_valid, disassemble};
use crate::compiler::ir::{
    Access, Array, ArrayId, ArrayLength, ArrayStorage, AtomicOp, Binary, Block, Builder, BuiltIn,
    Compare, Convert, Edge, FuncId, Function, Group, GroupOp, Merge, Module, Op, Place, Scope,
    Semantics, Terminator, Type, Unary, Value,
};
use crate::compiler::passes::helpers::testing::module_of;
use crate::compiler::{
    Capabilities, CompileError, CompiledKernel, Context, Library, Options, Sharing,
};
use smallvec::smallvec;

fn emit_with(module: &Module, caps: &Capabilities) -> Result<CompiledKernel, CompileError> {
    emit_under(module, caps, &Options::default())
}

fn emit_under(
    module: &Module,
    caps: &Capabilities,
    options: &Options,
) -> Result<CompiledKernel, CompileError> {
    let library = Library::empty();
    emit(
        module,
        &Context {
            capabilities: caps,
            options,
            library: &library,
            sharing: Sharing::All,
        },
    )
}

/// Emits for a device with everything; the module must be valid.
fn emit_valid(module: &Module) -> String {
    let kernel = emit_with(module, &Capabilities::full()).unwrap();
    assert_valid(&kernel.spirv.words().unwrap());
    disassemble(&kernel.spirv.words().unwrap()).unwrap_or_default()
}

/// A kernel of one block.
fn straight(build: impl FnOnce(&mut Builder)) -> Module {
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut b = Builder::new(&mut function, entry);
    build(&mut b);
    b.terminate(Terminator::Return(smallvec![]));
    module_of(function)
}

/// The 64-bit value at `offset_bytes` of the argument block.
fn argument64(b: &mut Builder, offset_bytes: u32) -> Value {
    let access = Access::aligned(4);
    let words = b.load(Place::Argument { offset_bytes }, Type::I32, 2, access);
    let lo = b.convert(Convert::ZeroExtend, words[0], Type::I64);
    let hi = b.convert(Convert::ZeroExtend, words[1], Type::I64);
    let hi = b.binary_const(Binary::Shl, hi, 32);
    b.binary(Binary::Or, lo, hi)
}

#[test]
fn an_empty_kernel_takes_its_local_size_from_spec_constants() {
    let text = emit_valid(&straight(|_| {}));
    if !text.is_empty() {
        assert!(text.contains("BuiltIn WorkgroupSize"), "{text}");
        assert!(text.contains("OpMemoryModel PhysicalStorageBuffer64 Vulkan"));
    }
}

#[test]
fn a_required_size_is_literal_where_all_groups_have_it() {
    let mut module = straight(|b| {
        let a = b.op1(Op::SpecConst { id: 1, default: 1 }, Type::I32);
        b.binary(Binary::Add, a, a);
    });
    module.kernels[0].attributes.required_work_group_size = Some([8, 4, 2]);
    for uniform_work_groups in [true, false] {
        let options = Options {
            uniform_work_groups,
            ..Options::default()
        };
        let kernel = emit_under(&module, &Capabilities::full(), &options).unwrap();
        assert_valid(&kernel.spirv.words().unwrap());
        assert_eq!(kernel.uniform_work_groups, uniform_work_groups);
        let text = disassemble(&kernel.spirv.words().unwrap()).unwrap_or_default();
        if !text.is_empty() {
            assert!(text.contains("LocalSize 8 4 2"), "{text}");
            // The groups at the end of a range may be smaller.
            assert_eq!(!text.contains("SpecId"), uniform_work_groups, "{text}");
        }
    }
}

#[test]
fn every_width_is_loaded_and_stored() {
    for ty in [
        Type::I8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::F16,
        Type::F32,
        Type::F64,
    ] {
        for count in 1..=4 {
            let text = emit_valid(&straight(|b| {
                let address = argument64(b, 8);
                let access = Access::aligned(ty.size_bytes());
                let values = b.load(Place::Address(address), ty, count, access);
                let to = b.binary_const(Binary::Add, address, 64);
                b.store(Place::Address(to), values, access);
            }));
            if !text.is_empty() {
                assert!(text.contains("Aligned"), "{text}");
            }
        }
    }
}

#[test]
fn descriptors_stand_in_for_addresses() {
    let capabilities = Capabilities {
        buffer_descriptors: 1 << 10,
        ..Capabilities::full()
    };
    for vulkan_memory_model in [true, false] {
        let capabilities = Capabilities {
            vulkan_memory_model,
            vulkan_memory_model_device_scope: vulkan_memory_model,
            ..capabilities.clone()
        };
        let module = straight(|b| {
            let address = argument64(b, 8);
            for ty in [Type::I8, Type::I16, Type::I32, Type::I64, Type::F32] {
                let access = Access::aligned(ty.size_bytes());
                let values = b.load(Place::Address(address), ty, 3, access);
                let to = b.binary_const(Binary::Add, address, 64);
                b.store(Place::Address(to), values, access);
            }
            let halves = b.load(
                Place::Argument { offset_bytes: 8 },
                Type::I32,
                2,
                Access::aligned(4),
            );
            let (lo, hi) = (halves[0], halves[1]);
            let one = b.i32(1);
            b.op1(
                Op::Atomic {
                    op: AtomicOp::Add,
                    place: Place::AddressPair { lo, hi },
                    values: smallvec![one],
                    scope: Scope::Device,
                    semantics: Semantics(0),
                },
                Type::I32,
            );
        });
        let kernel = emit_under(&module, &capabilities, &Options::default()).unwrap();
        let words = kernel.spirv.words().unwrap();
        assert_valid(&words);
        let text = disassemble(&words).unwrap_or_default();
        if !text.is_empty() {
            assert!(text.contains("OpMemoryModel Logical"), "{text}");
            assert!(!text.contains("PhysicalStorageBuffer"), "{text}");
            // Five types, each of the integers of 32 bits once, and coherent where no access can say so.
            assert_eq!(text.matches(" Aliased").count(), 5, "{text}");
            assert_eq!(text.contains(" Coherent"), !vulkan_memory_model, "{text}");
        }
    }
}

/// Nobody else can look in the same launch but through a fence, an atomic or a volatile access.
#[test]
fn accesses_are_private_where_nothing_orders_them() {
    let text_of = |order: Option<u32>, volatile| {
        emit_valid(&straight(|b| {
            let address = argument64(b, 8);
            let access = Access {
                volatile,
                ..Access::aligned(4)
            };
            let values = b.load(Place::Address(address), Type::I32, 1, access);
            if let Some(bits) = order {
                b.op0(Op::ControlBarrier {
                    execution: Scope::Workgroup,
                    memory: Scope::Workgroup,
                    semantics: Semantics(bits),
                });
            }
            b.store(Place::Address(address), values, access);
        }))
    };
    let (local, global) = (0x110, 0x210);
    for (order, volatile, expected) in [
        (None, false, false),
        (Some(local), false, false),
        (Some(global), false, true),
        (Some(local | global), false, true),
        (None, true, true),
    ] {
        let text = text_of(order, volatile);
        if !text.is_empty() {
            assert_eq!(text.contains("NonPrivatePointer"), expected, "{text}");
        }
    }
}

#[test]
fn arguments_of_64_bits_are_members_of_the_block() {
    let module = straight(|b| {
        let access = Access::aligned(4);
        let place = |offset_bytes| Place::Argument { offset_bytes };
        let address = b.load1(place(8), Type::I64, Access::aligned(8));
        // One before it, its own upper half, and one after it.
        let words = [4, 12, 16].map(|offset| b.load1(place(offset), Type::I32, access));
        b.store(Place::Address(address), words.into_iter().collect(), access);
    });
    let text = emit_valid(&module);
    if !text.is_empty() {
        let offsets = [(0, 0), (1, 4), (2, 8), (3, 16)];
        for (member, offset) in offsets {
            let decoration = format!(" {member} Offset {offset}");
            assert!(text.contains(&decoration), "{text}");
        }
        assert_eq!(text.matches("OpShiftRightLogical").count(), 1, "{text}");
    }
}

#[test]
fn addresses_may_come_in_two_halves() {
    let caps = Capabilities::minimal();
    let module = straight(|b| {
        let offset_bytes = 0;
        let words = b.load(
            Place::Argument { offset_bytes },
            Type::I32,
            2,
            Access::aligned(4),
        );
        let place = Place::AddressPair {
            lo: words[0],
            hi: words[1],
        };
        let values = b.load(place, Type::F32, 3, Access::aligned(4));
        b.store(place, values, Access::aligned(16));
    });
    let kernel = emit_with(&module, &caps).unwrap();
    assert_valid(&kernel.spirv.words().unwrap());
    if let Some(text) = disassemble(&kernel.spirv.words().unwrap()) {
        assert!(!text.contains("Int64"), "{text}");
        // One pointer serves both.
        assert_eq!(text.matches("OpBitcast").count(), 1, "{text}");
    }
}

#[test]
fn addresses_may_come_as_a_base_and_an_index() {
    let module = straight(|b| {
        let base = argument64(b, 0);
        let index = b.load1(Place::Address(base), Type::I32, Access::aligned(4));
        let place = |stride_bytes| Place::Indexed {
            base,
            index,
            stride_bytes,
        };
        for stride_bytes in [12, 16] {
            let values = b.load(place(stride_bytes), Type::F32, 3, Access::aligned(4));
            b.store(place(stride_bytes), values, Access::aligned(4));
        }
    });
    let text = emit_valid(&module);
    if !text.is_empty() {
        // One pointer serves both accesses of a stride.
        for (what, count) in [
            ("OpPtrAccessChain", 2),
            ("ArrayStride 12", 1),
            ("ArrayStride 16", 1),
        ] {
            assert_eq!(text.matches(what).count(), count, "{what}\n{text}");
        }
    }
}

#[test]
fn bytes_are_extracted_where_the_device_asks() {
    let module = straight(|b| {
        let address = argument64(b, 0);
        let word = b.load1(Place::Address(address), Type::I32, Access::aligned(4));
        let shifted = b.binary_const(Binary::LShr, word, 16);
        let byte = b.binary_const(Binary::And, shifted, 0xff);
        let sum = b.binary(Binary::Add, byte, word);
        b.store1(Place::Address(address), sum, Access::aligned(4));
    });
    for (extracts_fields, count) in [(true, 1), (false, 0)] {
        let capabilities = Capabilities {
            extracts_fields,
            ..Capabilities::full()
        };
        let kernel = emit_with(&module, &capabilities).unwrap();
        assert_valid(&kernel.spirv.words().unwrap());
        if let Some(text) = disassemble(&kernel.spirv.words().unwrap()) {
            assert_eq!(text.matches("OpBitFieldUExtract").count(), count, "{text}");
        }
    }
}

#[test]
fn arithmetic_of_every_kind() {
    emit_valid(&straight(|b| {
        use Binary::*;
        let address = argument64(b, 0);
        for ty in [Type::I8, Type::I16, Type::I32, Type::I64] {
            let access = Access::aligned(ty.size_bytes());
            let v = b.load(Place::Address(address), ty, 2, access);
            for op in [
                Add, Sub, Mul, UDiv, SDiv, URem, SRem, SMod, Shl, LShr, AShr, And, Or, Xor, UMin,
                UMax, SMin, SMax,
            ] {
                b.binary(op, v[0], v[1]);
            }
            for op in [
                Compare::Equal,
                Compare::NotEqual,
                Compare::ULess,
                Compare::ULessEqual,
                Compare::SLess,
                Compare::SLessEqual,
            ] {
                let c = b.compare(op, v[0], v[1]);
                b.select(c, v[0], v[1]);
            }
            b.unary(Unary::Negate, v[0]);
            b.unary(Unary::Not, v[0]);
            let both = Op::MulExtended {
                signed: true,
                a: v[0],
                b: v[1],
            };
            b.op(both, [ty, ty]);
            let f = b.convert(Convert::SignedToFloat(None), v[0], Type::F32);
            let f = b.convert(Convert::FloatToFloat(None), f, Type::F64);
            let to_unsigned = Convert::FloatToUnsigned {
                rounding: None,
                saturate: false,
            };
            b.convert(to_unsigned, f, ty);
            b.constant(ty, u64::MAX);
        }
        for ty in [Type::F16, Type::F32, Type::F64] {
            let access = Access::aligned(ty.size_bytes());
            let v = b.load(Place::Address(address), ty, 2, access);
            b.flags.no_contraction = true;
            for op in [FAdd, FSub, FMul, FDiv, FRem, FMod, FMin, FMax] {
                b.binary(op, v[0], v[1]);
            }
            b.flags.no_contraction = false;
            b.op1(Op::Fma(v[0], v[1], v[0]), ty);
            for op in [Unary::IsNan, Unary::IsInf, Unary::FNegate] {
                b.unary(op, v[0]);
            }
            b.compare(Compare::FUnordLess, v[0], v[1]);
            b.bitcast(v[0], ty.as_int().unwrap());
        }
        let t = b.bool(true);
        let u = b.undef(Type::Bool);
        for op in [And, Or, Xor] {
            b.binary(op, t, u);
        }
        b.unary(Unary::Not, t);
        b.compare(Compare::Equal, t, u);
        let n = b.i32(7);
        b.unary(Unary::BitCount, n);
        b.unary(Unary::BitReverse, n);
    }));
}

#[test]
fn arrays_inputs_barriers_and_collectives() {
    let mut module = straight(|b| {
        let id = b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(1)), Type::I32);
        b.op1(Op::BuiltIn(BuiltIn::LocalInvocationId(0)), Type::I32);
        b.op1(Op::BuiltIn(BuiltIn::WorkgroupId(2)), Type::I32);
        let lane = b.op1(Op::BuiltIn(BuiltIn::SubgroupLocalInvocationId), Type::I32);
        let value = b.f32(1.5);
        let local = Place::Element {
            array: ArrayId(0),
            index: id,
        };
        b.store(local, smallvec![value, value], Access::aligned(4));
        for bits in [0x10, 0x110, 0x210, 0x310] {
            b.op0(Op::ControlBarrier {
                execution: Scope::Workgroup,
                memory: Scope::Workgroup,
                semantics: Semantics(bits),
            });
            b.op0(Op::MemoryBarrier {
                memory: Scope::CrossDevice,
                semantics: Semantics(bits),
            });
        }
        let back = b.load(local, Type::F32, 2, Access::aligned(4));
        let private = Place::Element {
            array: ArrayId(1),
            index: lane,
        };
        b.store1(private, back[1], Access::aligned(4));
        let group = |op| Group {
            op,
            scope: Scope::Subgroup,
        };
        let sum = group(GroupOp::Reduce(Binary::FAdd));
        let sum = b.op1(Op::Group(sum, smallvec![back[0]]), Type::F32);
        let zero = b.i32(0);
        let broadcast = group(GroupOp::Broadcast);
        let sum = b.op1(Op::Group(broadcast, smallvec![sum, zero]), Type::F32);
        let c = b.compare(Compare::FOrdLess, sum, value);
        b.op1(Op::Group(group(GroupOp::All), smallvec![c]), Type::Bool);
    });
    for (storage, spec_ids) in [
        (ArrayStorage::Workgroup, vec![3, 4]),
        (ArrayStorage::Private, vec![]),
    ] {
        module.add_array(Array {
            name: "a".into(),
            storage,
            element: Type::F32,
            length: ArrayLength {
                elements: 16,
                spec_ids,
            },
        });
    }
    let kernel = emit_with(&module, &Capabilities::full()).unwrap();
    assert!(kernel.uses_barrier);
    assert_eq!(kernel.local_memory_bytes, 64);
    assert_eq!(kernel.private_memory_bytes, 64);
    assert_valid(&kernel.spirv.words().unwrap());
}

#[test]
fn atomics_of_every_kind_and_order() {
    let mut module = straight(|b| {
        use AtomicOp::*;
        let address = argument64(b, 0);
        let index = b.i32(3);
        for ty in [Type::I32, Type::I64] {
            let array = ArrayId(u32::from(ty == Type::I64));
            let value = b.constant(ty, 5);
            for place in [Place::Address(address), Place::Element { array, index }] {
                for op in [
                    Load,
                    Store,
                    Exchange,
                    CompareExchange,
                    Add,
                    Sub,
                    UMin,
                    UMax,
                    SMin,
                    SMax,
                    And,
                    Or,
                    Xor,
                ] {
                    let values = match op {
                        Load => smallvec![],
                        CompareExchange => smallvec![value, value],
                        _ => smallvec![value],
                    };
                    for (scope, bits) in [
                        (Scope::Device, 0x210),
                        (Scope::Workgroup, 0x302),
                        (Scope::CrossDevice, 0x204),
                        (Scope::Workgroup, 0x8),
                        (Scope::Subgroup, 0),
                    ] {
                        let atomic = Op::Atomic {
                            op,
                            place,
                            values: values.clone(),
                            scope,
                            semantics: Semantics(bits),
                        };
                        match op {
                            Store => b.op0(atomic),
                            _ => drop(b.op1(atomic, ty)),
                        }
                    }
                }
            }
        }
        let float = b.f32(1.0);
        let place = Place::Address(address);
        let (scope, semantics) = (Scope::Device, Semantics(0));
        b.op1(
            Op::Atomic {
                op: Exchange,
                place,
                values: smallvec![float],
                scope,
                semantics,
            },
            Type::F32,
        );
        b.op1(
            Op::Atomic {
                op: FlagTestAndSet,
                place,
                values: smallvec![],
                scope,
                semantics,
            },
            Type::Bool,
        );
        b.op0(Op::Atomic {
            op: FlagClear,
            place,
            values: smallvec![],
            scope,
            semantics,
        });
    });
    for element in [Type::I32, Type::I64] {
        module.add_array(Array {
            name: String::new(),
            storage: ArrayStorage::Workgroup,
            element,
            length: ArrayLength {
                elements: 4,
                spec_ids: vec![],
            },
        });
    }
    emit_valid(&module);
    let mut caps = Capabilities::full();
    caps.vulkan_memory_model_device_scope = false;
    assert_valid(&emit_with(&module, &caps).unwrap().spirv.words().unwrap());
    caps.vulkan_memory_model = false;
    assert_valid(&emit_with(&module, &caps).unwrap().spirv.words().unwrap());
}

/// `for (i = 0; i < 10; i++) if (i == 5) i += 2;` with a phi at each join.
fn loop_function() -> Function {
    let mut f = Function::new("k");
    let entry = f.entry();
    let [header, body, then, join, latch, exit]: [Block; 6] =
        std::array::from_fn(|_| f.add_block());
    let i = f.add_param(header, Type::I32);
    let j = f.add_param(join, Type::I32);
    let mut b = Builder::new(&mut f, entry);
    let zero = b.i32(0);
    b.jump(Edge::new(header, [zero]));
    b.switch_to(header);
    b.jump(body);
    b.switch_to(body);
    let five = b.i32(5);
    let c = b.compare(Compare::Equal, i, five);
    b.branch(c, then, Edge::new(join, [i]));
    b.switch_to(then);
    let i2 = b.binary_const(Binary::Add, i, 2);
    b.jump(Edge::new(join, [i2]));
    b.switch_to(join);
    let ten = b.i32(10);
    let more = b.compare(Compare::ULess, j, ten);
    b.branch(more, latch, exit);
    b.switch_to(latch);
    let next = b.binary_const(Binary::Add, j, 1);
    b.jump(Edge::new(header, [next]));
    b.switch_to(exit);
    b.terminate(Terminator::Return(smallvec![]));
    f.block_mut(header).merge = Some(Merge::Loop {
        merge: exit,
        continues: latch,
    });
    f.block_mut(body).merge = Some(Merge::Selection { merge: join });
    f
}

#[test]
fn a_structured_loop_is_valid() {
    let text = emit_valid(&module_of(loop_function()));
    if !text.is_empty() {
        assert!(text.contains("OpLoopMerge") && text.contains("OpSelectionMerge"));
    }
}

#[test]
fn loops_are_marked_where_the_driver_makes_better_code_of_them() {
    for (capabilities, mark) in [
        (Capabilities::full(), "None"),
        (Capabilities::nvidia(), "DontUnroll"),
    ] {
        let kernel = emit_with(&module_of(loop_function()), &capabilities).unwrap();
        if let Some(text) = disassemble(&kernel.spirv.words().unwrap()) {
            let merge = text.lines().find(|line| line.contains("OpLoopMerge"));
            assert!(merge.unwrap().ends_with(mark), "{merge:?}");
        }
    }
}

#[test]
fn functions_return_any_number_of_values() {
    let mut module = straight(|b| {
        let x = b.i32(1);
        for (callee, count) in [(1, 0), (2, 1), (3, 2)] {
            let types = std::iter::repeat_n(Type::I32, count);
            b.op(Op::Call(FuncId(callee), smallvec![x]), types);
        }
    });
    for count in 0..3 {
        let mut f = Function::new("callee");
        f.return_types = vec![Type::I32; count];
        let entry = f.entry();
        let x = f.add_param(entry, Type::I32);
        let mut b = Builder::new(&mut f, entry);
        b.terminate(Terminator::Return(std::iter::repeat_n(x, count).collect()));
        module.add_function(f);
    }
    emit_valid(&module);
}

#[test]
fn what_the_device_lacks_is_an_error() {
    let module = straight(|b| {
        let x = b.i64(1);
        b.binary(Binary::Add, x, x);
    });
    let error = emit_with(&module, &Capabilities::minimal()).unwrap_err();
    assert!(error.reason.contains("i64"), "{error}");
    assert_eq!(error.function.as_deref(), Some("k"));
}

/// What a kernel is on a device with everything, and on one that makes accesses work-item by work-item.
fn both_texts(module: &Module) -> Option<[String; 2]> {
    let texts = [Capabilities::full(), Capabilities::lavapipe()].map(|caps| {
        let kernel = emit_with(module, &caps).unwrap();
        assert_valid(&kernel.spirv.words().unwrap());
        disassemble(&kernel.spirv.words().unwrap())
    });
    let [Some(full), Some(serial)] = texts else {
        return None;
    };
    Some([full, serial])
}

#[test]
fn vectors_in_device_memory_are_few_words_where_each_access_is_a_loop() {
    for (ty, count, align_bytes, casts) in [
        (Type::F32, 4, 16, true),
        (Type::F32, 2, 8, true),
        (Type::I8, 4, 4, true),
        (Type::I16, 4, 8, true),
        (Type::F32, 4, 4, false),
        (Type::F32, 3, 16, false),
        (Type::F64, 2, 16, false),
        (Type::I32, 1, 4, false),
    ] {
        let module = straight(|b| {
            let place = Place::Address(argument64(b, 0));
            let access = Access::aligned(align_bytes);
            let values = b.load(place, ty, count, access);
            b.store(place, values, access);
        });
        if let Some([full, serial]) = both_texts(&module) {
            assert!(!full.contains("OpBitcast"), "{full}");
            let found = serial.matches("OpBitcast").count();
            assert_eq!(found, if casts { 2 } else { 0 }, "{ty} {count}: {serial}");
        }
    }
}

#[test]
fn local_arrays_are_of_vectors_where_each_access_is_a_loop() {
    let loads = |text: &str| {
        let body = text.split("OpFunction ").nth(1).unwrap_or_default();
        body.matches("OpLoad").count()
    };
    for (align_bytes, expected) in [(16, 2), (4, 5)] {
        let mut module = straight(|b| {
            let index = b.op1(Op::BuiltIn(BuiltIn::NumWorkgroups(0)), Type::I32);
            let array = ArrayId(0);
            let place = Place::Element { array, index };
            let four = b.load(place, Type::F32, 4, Access::aligned(align_bytes));
            let one = b.load(place, Type::F32, 1, Access::aligned(4));
            b.store(place, four, Access::aligned(align_bytes));
            b.store(place, one, Access::aligned(4));
        });
        module.add_array(Array {
            name: "tile".into(),
            storage: ArrayStorage::Workgroup,
            element: Type::F32,
            length: ArrayLength {
                elements: 30,
                spec_ids: vec![3],
            },
        });
        if let Some([full, serial]) = both_texts(&module) {
            // One more is that of the input.
            assert_eq!(
                [loads(&full), loads(&serial)],
                [6, expected + 1],
                "{serial}"
            );
        }
    }
}
