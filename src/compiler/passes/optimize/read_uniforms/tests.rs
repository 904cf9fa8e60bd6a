use super::*;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{FuncId, Global, Terminator};
use crate::compiler::passes::helpers::testing;
use crate::compiler::testing::opencl_c;
use crate::compiler::{Capabilities, Library, Options, compile};
use std::sync::Arc;

fn constant(size_bytes: u64, align_bytes: u32) -> Global {
    let bytes = (0..size_bytes).map(|it| (it * 7 + size_bytes) as u8);
    Global {
        name: String::new(),
        space: AddressSpace::Constant,
        size_bytes,
        align_bytes,
        initializer: Some(Arc::new(bytes.collect())),
        relocations: Arc::default(),
        spec_id: None,
        export: None,
        import: None,
    }
}

/// A kernel that loads numbers of these types at an offset in the second variable, which is made of a parameter (I32).
fn module(
    types: &[Type],
    access: Access,
    offset: impl Fn(&mut Builder<'_>, Value) -> Value,
) -> Module {
    let mut function = Function::new("k");
    function.return_types = types.to_vec();
    let entry = function.entry();
    let index = function.add_param(entry, Type::I32);
    let mut b = Builder::new(&mut function, entry);
    let ty = Type::Ptr(AddressSpace::Constant);
    let start = b.op1(Op::GlobalAddress(GlobalId(1)), ty);
    let offset = offset(&mut b, index);
    let pointer = b.op1(Op::PtrAdd(start, offset), ty);
    let values = b.op(Op::Load(Place::Pointer(pointer), access), types.to_vec());
    b.terminate(Terminator::Return(values));
    let mut module = testing::module_of(function);
    module.add_global(constant(20, 4));
    module.add_global(constant(256, 16));
    module
}

/// Whether all is read through the buffer; then each result is what the bytes at the offset say.
#[track_caller]
fn check(mut module: Module, cases: &[(u32, u64)]) -> bool {
    testing::run_on(&mut module, &Capabilities::lavapipe(), run).unwrap();
    let text = module.functions[0].to_string();
    if text.contains("address @") {
        assert_eq!(module.kernels[0].uniform_bytes, 0);
        assert!(!text.contains("uniform"), "{text}");
        return false;
    }
    assert_eq!(module.kernels[0].uniform_bytes, 288);
    let offsets = data_segment::offsets(&module).unwrap();
    let segment = data_segment::layout(&module).unwrap();
    for &(index, place) in cases {
        let mut interpreter = Interpreter::new(&module);
        interpreter.uniforms = segment.bytes.clone();
        let found = interpreter.run(FuncId(0), &[index.into()]).unwrap();
        let types = module.functions[0].return_types.clone();
        let (places, _) = scalar_bits::offsets_of(types.iter().copied());
        for ((found, ty), within) in found.into_iter().zip(types).zip(places) {
            let first = (offsets[1] + place) as usize + within as usize;
            let mut bytes = [0; 8];
            let size = ty.size_bytes() as usize;
            bytes[..size].copy_from_slice(&segment.bytes[first..first + size]);
            assert_eq!(found, u64::from_le_bytes(bytes), "{index} {ty}\n{text}");
        }
    }
    true
}

fn scaled(by: u64) -> impl Fn(&mut Builder<'_>, Value) -> Value {
    move |b, index| {
        let wide = b.convert(Convert::SignExtend, index, Type::I64);
        b.binary_const(Binary::Mul, wide, by)
    }
}

#[test]
fn every_width_is_read_of_words() {
    let cases = [(0, 0), (1, 16), (7, 112), (15, 240)];
    for ty in [
        Type::I8,
        Type::I16,
        Type::I32,
        Type::F32,
        Type::I64,
        Type::F64,
    ] {
        for count in 1..=2 {
            let access = Access::aligned(ty.size_bytes());
            assert!(check(module(&vec![ty; count], access, scaled(16)), &cases));
        }
        let size = ty.size_bytes();
        let last = 256 / size - 1;
        let cases = [0, 1, 2, 3, last].map(|index| (index, u64::from(index * size)));
        let access = Access::aligned(size);
        assert!(check(module(&[ty], access, scaled(size.into())), &cases));
    }
    let mixed = [Type::I8, Type::I16, Type::I32, Type::I64];
    assert!(check(
        module(&mixed, Access::aligned(8), scaled(16)),
        &cases
    ));
}

#[test]
fn offsets_may_be_moved_and_wrap_around() {
    let moved = |b: &mut Builder<'_>, index| {
        let offset = scaled(4)(b, index);
        b.binary_const(Binary::Add, offset, 20_u64.wrapping_neg())
    };
    let access = Access::aligned(4);
    assert!(check(
        module(&[Type::I32], access, moved),
        &[(5, 0), (6, 4), (68, 252)]
    ));
    let backwards = |b: &mut Builder<'_>, index| {
        let offset = scaled(4_u64.wrapping_neg())(b, index);
        b.binary_const(Binary::Add, offset, 252)
    };
    assert!(check(
        module(&[Type::I32], access, backwards),
        &[(0, 252), (63, 0)]
    ));
    // The bits above the 32 of the offset are of no account.
    let narrow = |b: &mut Builder<'_>, index| b.binary_const(Binary::Shl, index, 2);
    assert!(check(
        module(&[Type::I32], access, narrow),
        &[(3, 12), (0x4000_0003, 12), (0xc000_003f, 252)]
    ));
}

#[test]
fn other_loads_stay() {
    let access = Access::aligned(4);
    let volatile = Access {
        volatile: true,
        ..access
    };
    assert!(!check(module(&[Type::I32], volatile, scaled(4)), &[]));
    let misaligned = Access::aligned(1);
    assert!(!check(module(&[Type::I32], misaligned, scaled(5)), &[]));
    // Its place tells that it is aligned.
    assert!(check(
        module(&[Type::I32], misaligned, scaled(4)),
        &[(3, 12)]
    ));
    let pointer = Type::Ptr(AddressSpace::Constant);
    assert!(!check(
        module(&[pointer], Access::aligned(8), scaled(8)),
        &[]
    ));
    let mut large = module(&[Type::I32], access, scaled(4));
    large.globals[1].size_bytes = (64 << 10) - 16;
    assert!(!check(large, &[]));
    let mut written = module(&[Type::I32], access, scaled(4));
    written.globals[1].space = AddressSpace::Global;
    let function = &mut written.functions[0];
    for value in (0..function.value_count() as u32).map(Value) {
        if function.ty(value).is_pointer() {
            function.set_type(value, Type::Ptr(AddressSpace::Global));
        }
    }
    assert!(!check(written, &[]));
    let mut elsewhere = module(&[Type::I32], access, scaled(4));
    testing::run_on(&mut elsewhere, &Capabilities::full(), run).unwrap();
    assert_eq!(elsewhere.kernels[0].uniform_bytes, 0);
}

/// Bytes of local memory of a kernel, for lavapipe, that looks up in `t` what `fill` has put there.
fn local_bytes(fill: &str) -> u64 {
    let source = format!(
        "constant uint c[256] = {{1, 2, 3, 4}}, d[256] = {{5, 6, 7}};
        __attribute__((reqd_work_group_size(64, 1, 1)))
        kernel void k(global uint *out) {{
            local uint t[256];
            uint id = get_local_id(0), x = out[get_global_id(0)];
            {fill}
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int i = 0; i < 3; i++) x = t[x & 255] ^ t[x >> 24];
            out[get_global_id(0)] = x;
        }}"
    );
    let library = Library::embedded().expect("the library is embedded");
    let (device, options) = (Capabilities::lavapipe(), Options::default());
    let program = compile(&[&opencl_c(&source)], &library, &device, &options);
    program.expect("it compiles").kernels[0].local_memory_bytes
}

#[test]
fn copies_in_local_memory_are_read_where_they_were_made_of() {
    let copy = "for (int i = id; i < 256; i += 64) t[i] = c[i];";
    assert_eq!(local_bytes(copy), 0);
    let wide = "for (int i = id; i < 64; i += 64) vstore4(vload4(i, c), i, t);";
    assert_eq!(local_bytes(wide), 0);
    // The offsets are computed in 64 bits and in 32.
    let masked =
        "ulong n = get_local_size(0); for (uint i = get_local_id(0); i < 256; i += n) t[i] = c[i];";
    assert_eq!(local_bytes(masked), 0);
    for other in [
        "for (ulong i = id; i < 256; i += 64) t[i & 255] = c[(uint)i & 127];",
        // Not the same place.
        "for (int i = id; i < 256; i += 64) t[i] = c[255 - i];",
        "for (int i = id; i < 256; i += 64) t[i] = c[i ^ 1];",
        // Not all of one.
        "for (int i = id; i < 256; i += 64) t[i] = i & 1 ? c[i] : d[i];",
        "for (int i = id; i < 128; i += 64) { t[i] = c[i]; t[i + 128] = d[i]; }",
        "for (int i = id; i < 256; i += 64) t[i] = c[i]; if (id == 5) t[7] = x;",
        "for (int i = id; i < 256; i += 64) t[i] = c[i] + 1;",
        "for (int i = id; i < 256; i += 64) t[i] = c[i]; atomic_inc(&t[3]);",
    ] {
        assert_eq!(local_bytes(other), 1024, "{other}");
    }
}
