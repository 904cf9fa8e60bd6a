use super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    Access, AddressSpace, Binary, Builder, Convert, FuncId, Function, KernelParameter,
    KernelParameterKind, Module, Op, Place, Terminator, Type, Value, Values,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::program::{ArgumentKind, Implicit, Placement, UnusedMemory};
use crate::compiler::{Capabilities, Options};
use smallvec::smallvec;

/// A kernel whose parameters are those of the given kinds.
fn kernel(
    parameters: &[(KernelParameterKind, &[Type])],
    build: impl FnOnce(&mut Builder<'_>, &[Value]) -> Values,
) -> Module {
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut values = Vec::new();
    let mut described = Vec::new();
    for (kind, types) in parameters {
        described.push(KernelParameter {
            kind: kind.clone(),
            info: Default::default(),
            first_param: values.len(),
            param_count: types.len(),
        });
        values.extend(types.iter().map(|&ty| function.add_param(entry, ty)));
    }
    let mut b = Builder::new(&mut function, entry);
    let results = build(&mut b, &values);
    b.terminate(Terminator::Return(results.clone()));
    function.return_types = results.iter().map(|&v| function.ty(v)).collect();
    let mut module = testing::module_of(function);
    module.kernels[0].parameters = described;
    module
}

fn value(size_bytes: u32, align_bytes: u32, offsets_bytes: &[u32]) -> KernelParameterKind {
    KernelParameterKind::Value {
        size_bytes,
        align_bytes,
        offsets_bytes: offsets_bytes.to_vec(),
    }
}

const GLOBAL: KernelParameterKind = KernelParameterKind::Pointer(AddressSpace::Global);
const GLOBAL_TYPE: Type = Type::Ptr(AddressSpace::Global);

/// Lowers for push constants and for a block in memory, and runs both with the block's bytes.
fn run_with(module: &Module, block: &[u8]) -> (Module, Vec<u64>) {
    let mut results = Vec::new();
    for (arguments_in_memory, placement) in [
        (false, Placement::PushConstants),
        (true, Placement::DeviceAddress),
    ] {
        let mut module = module.clone();
        let options = Options {
            arguments_in_memory,
            ..Options::default()
        };
        testing::run_with(&mut module, &Capabilities::full(), &options, run).unwrap();
        assert_eq!(module.kernels[0].argument_block.placement, placement);
        assert!(module.functions[0].params().is_empty());
        let mut interpreter = Interpreter::new(&module);
        interpreter.arguments = match placement {
            Placement::PushConstants => block.to_vec(),
            Placement::DeviceAddress => interpreter.allocate(block).to_le_bytes().to_vec(),
        };
        let values = interpreter.run(FuncId(0), &[]);
        results.push((module.clone(), values.unwrap()));
    }
    let (_, in_memory) = results.pop().unwrap();
    let (module, pushed) = results.pop().unwrap();
    assert_eq!(pushed, in_memory);
    (module, pushed)
}

#[test]
fn values_of_every_width_come_out_of_words() {
    let module = kernel(
        &[
            (value(1, 1, &[0]), &[Type::I8]),
            (value(2, 2, &[0]), &[Type::I16]),
            (value(8, 8, &[0]), &[Type::I64]),
            (value(8, 4, &[0, 4]), &[Type::F32, Type::F32]),
            (value(4, 1, &[0, 2]), &[Type::I8, Type::F16]),
        ],
        |_, values| Values::from_slice(values),
    );
    let block: Vec<u8> = (1..=40).collect();
    let (module, values) = run_with(&module, &block);
    assert_eq!(
        values,
        [
            0x01,
            0x0403,
            0x100f_0e0d_0c0b_0a09,
            0x1413_1211,
            0x1817_1615,
            0x19,
            0x1c1b,
        ]
    );
    assert_eq!(module.kernels[0].argument_block.size_bytes, 28);
}

#[test]
fn a_single_word_lies_in_memory_too_where_that_is_asked_for() {
    let argument = (value(4, 4, &[0]), &[Type::I32][..]);
    let module = kernel(&[argument], |_, values| Values::from_slice(values));
    let (_, values) = run_with(&module, &7_u32.to_le_bytes());
    assert_eq!(values, [7]);
}

#[test]
fn a_structure_is_read_where_it_is_loaded_or_copied_if_indexed() {
    let parameter = KernelParameterKind::ByValue {
        size_bytes: 15,
        align_bytes: 4,
    };
    let ty = Type::Ptr(AddressSpace::Private);
    let direct = kernel(&[(parameter.clone(), &[ty])], |b, values| {
        let at = b.ptr_add_const(values[0], 4);
        b.load(Place::Pointer(at), Type::I16, 3, Access::aligned(2))
    });
    let indexed = kernel(
        &[(parameter, &[ty]), (value(4, 4, &[0]), &[Type::I32])],
        |b, values| {
            let at = b.ptr_add(values[0], values[1]);
            b.load(Place::Pointer(at), Type::I8, 1, Access::aligned(1))
        },
    );
    let mut block: Vec<u8> = (1..=16).collect();
    let (module, values) = run_with(&direct, &block);
    assert_eq!(values, [0x0605, 0x0807, 0x0a09]);
    assert!(module.functions[0].variables.is_empty());
    block.extend(14u32.to_le_bytes());
    let (module, values) = run_with(&indexed, &block);
    assert_eq!(values, [15]);
    assert_eq!(module.functions[0].variables.len(), 1);
}

#[test]
fn buffers_say_whether_they_are_read_and_written() {
    let types: &[Type] = &[GLOBAL_TYPE];
    let module = kernel(
        &[
            (GLOBAL, types),
            (GLOBAL, types),
            (GLOBAL, types),
            (GLOBAL, types),
        ],
        |b, values| {
            let at = b.ptr_add_const(values[0], 16);
            let value = b.load1(Place::Pointer(at), Type::I32, Access::aligned(4));
            b.store1(Place::Pointer(values[1]), value, Access::aligned(4));
            // Hidden in an integer.
            let hidden = b.convert(Convert::PtrToInt, values[2], Type::I64);
            smallvec![hidden]
        },
    );
    let mut module = module;
    testing::run(&mut module, run).unwrap();
    let kinds: Vec<_> = module.kernels[0]
        .arguments
        .iter()
        .map(|argument| match argument.kind {
            ArgumentKind::Buffer { read, written, .. } => Some((read, written)),
            _ => None,
        })
        .collect();
    assert_eq!(
        kinds,
        [
            Some((true, false)),
            Some((false, true)),
            Some((true, true)),
            None
        ]
    );
    assert_eq!(
        module.kernels[0].arguments[3].kind,
        ArgumentKind::Unused {
            size_bytes: 8,
            memory: UnusedMemory::Buffer
        }
    );
    assert!(!module.kernels[0].follows_pointers);
}

#[test]
fn pointers_from_memory_are_followed() {
    let mut module = kernel(&[(GLOBAL, &[GLOBAL_TYPE])], |b, values| {
        let next = b.load1(Place::Pointer(values[0]), GLOBAL_TYPE, Access::aligned(8));
        b.load(Place::Pointer(next), Type::I32, 1, Access::aligned(4))
    });
    testing::run(&mut module, run).unwrap();
    assert!(module.kernels[0].follows_pointers);
}

#[test]
fn implicit_values_follow_the_arguments_largest_first() {
    let module = kernel(&[(value(4, 4, &[0]), &[Type::I32])], |b, values| {
        let dimensions = b.op1(Op::Implicit(Implicit::WorkDim), Type::I32);
        let offset = b.op1(Op::Implicit(Implicit::GlobalOffset(1)), Type::I64);
        let sum = b.binary(Binary::Add, values[0], dimensions);
        smallvec![sum, offset]
    });
    let mut block = vec![0; 24];
    block[0] = 5;
    block[8..16].copy_from_slice(&0x1_0000_0002u64.to_le_bytes());
    block[16] = 3;
    let (module, values) = run_with(&module, &block);
    assert_eq!(values, [8, 0x1_0000_0002]);
    let block = &module.kernels[0].argument_block;
    assert_eq!(
        block.implicit,
        [(Implicit::GlobalOffset(1), 8), (Implicit::WorkDim, 16)]
    );
    assert_eq!(block.size_bytes, 20);
}

#[test]
fn local_pointers_take_no_room() {
    let local = KernelParameterKind::Pointer(AddressSpace::Local);
    let ty = Type::Ptr(AddressSpace::Local);
    let mut module = kernel(&[(local.clone(), &[ty]), (local, &[ty])], |b, values| {
        let zero = b.i32(0);
        b.store1(Place::Pointer(values[1]), zero, Access::aligned(4));
        Values::new()
    });
    testing::run(&mut module, run).unwrap();
    let kernel = &module.kernels[0];
    assert_eq!(kernel.argument_block.size_bytes, 0);
    assert_eq!(
        kernel.arguments[1].kind,
        ArgumentKind::Local {
            spec_id: 3,
            element_bytes: 1,
            granule_bytes: 1,
        }
    );
    assert_eq!(module.globals[0].spec_id, Some(3));
}
