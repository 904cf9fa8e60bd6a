//! Turns `printf` into stores to the printf buffer: see [`crate::compiler::printf`] for its layout.
//!
//! Needs: one kernel per module; formats are best known after inlining and promotion. After it no
//! `Op::Printf` is left and `Kernel::printf_calls` lists the calls.
//!
//! A call reserves its record by one atomic addition and fills it. The count goes on growing with every call that
//! fails. Where the device adds to 64 bits, it may. Elsewhere a call does not add where the buffer is full already, so
//! that the count stays far below 2³². The result is 0, or -1 where the record did not fit.
//!
//! Drivers that make a loop of each access to memory ([`crate::compiler::Capabilities::serial_memory`]) take long over a
//! kernel that prints at hundreds of places, so that a call makes few: two words are stored at once, and such a driver
//! gets the buffer's capacity once for all calls, where the function starts.

use crate::compiler::ir::{
    Access, AddressSpace, AtomicOp, Binary, Builder, Compare, Convert, Edge, Function, Module, Op,
    Place, Rewrite, Scope, Semantics, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::passes::lower::arguments::at_entry;
use crate::compiler::printf::{
    CAPACITY_WORD, HEADER_WORDS, PrintfArgument, PrintfCall, PrintfFormat, PrintfKind,
};
use crate::compiler::program::Implicit;
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Most words of one record: beyond any call that OpenCL C can hold in reason.
const MOST_WORDS: usize = 1 << 16;

/// Bytes of format strings that a kernel's calls hold themselves.
const MOST_LITERAL_BYTES: usize = 1 << 22;

/// Runs the pass on every function.
pub fn run(module: &mut Module, cx: &Context<'_>) -> Result<(), CompileError> {
    let device = cx.capabilities;
    let count = if device.buffer_int64_atomics && device.int64 {
        Type::I64
    } else {
        Type::I32
    };
    let mut calls = Vec::new();
    let mut literal_bytes = 0;
    let globals = &module.globals;
    for function in &mut module.functions {
        let capacity =
            (device.serial_memory && prints(function)).then(|| at_entry(function, load_capacity));
        rewrite_instructions(function, |b, inst| {
            let Op::Printf {
                format,
                arguments,
                lanes,
            } = &b.function.inst(inst).op
            else {
                return Ok::<_, CompileError>(Rewrite::Keep);
            };
            let (format, arguments, lanes) = (*format, arguments.clone(), lanes.clone());
            // What a program prints at many places, and is long, stays in its variable.
            let text = literal(b.function, globals, format)
                .filter(|text| literal_bytes + text.len() <= MOST_LITERAL_BYTES)
                .map(<[u8]>::to_vec);
            literal_bytes += text.as_ref().map_or(0, Vec::len);
            let known = text.is_some();
            let call = PrintfCall {
                format: text.map_or(PrintfFormat::Address, PrintfFormat::Literal),
                arguments: describe(b.function, &arguments, &lanes)?,
            };
            let call_words = call.record_words();
            if call_words > MOST_WORDS {
                return Err(CompileError::unsupported("a printf has too many arguments"));
            }
            calls.push(call);
            let number = calls.len() as u32;
            let mut words = smallvec![b.i32(number)];
            if !known {
                push_words(b, format, &mut words);
            }
            for value in arguments {
                push_words(b, value, &mut words);
            }
            let capacity = capacity.unwrap_or_else(|| load_capacity(b));
            let result = write_record(b, &words, call_words, count, capacity);
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    if let Some(kernel) = module.kernels.first_mut() {
        kernel.printf_calls = calls;
    }
    Ok(())
}

/// The string that a pointer points to, where that is a known place in a variable of constant memory.
fn literal<'a>(
    function: &Function,
    globals: &'a [crate::compiler::ir::Global],
    pointer: Value,
) -> Option<&'a [u8]> {
    let mut offset = 0i64;
    let mut at = pointer;
    loop {
        match *function.op_of(at)? {
            Op::GlobalAddress(global) => {
                let global = globals.get(global.index())?;
                if global.space != AddressSpace::Constant || !global.relocations.is_empty() {
                    return None;
                }
                let bytes = global.initializer.as_ref().map_or(&[][..], |bytes| bytes);
                let string = bytes.get(usize::try_from(offset).ok()?..).unwrap_or(&[]);
                let end = string.iter().position(|&byte| byte == 0);
                return Some(&string[..end.unwrap_or(string.len())]);
            }
            Op::PtrAdd(base, by) => {
                let unused = 64 - function.ty(by).bits();
                let by = ((function.constant(by)? << unused) as i64) >> unused;
                offset = offset.checked_add(by)?;
                at = base;
            }
            Op::Convert(Convert::AddressSpaceCast, base) => at = base,
            _ => return None,
        }
    }
}

/// Types of the arguments, which `lanes` cuts the values into.
fn describe(
    function: &Function,
    values: &[Value],
    lanes: &[u8],
) -> Result<Vec<PrintfArgument>, CompileError> {
    let mut rest = values;
    lanes
        .iter()
        .map(|&components| {
            let (argument, after) = rest
                .split_at_checked(components.into())
                .ok_or_else(|| CompileError::invalid("a printf has fewer values than arguments"))?;
            rest = after;
            let kind = match argument.first().map(|&value| function.ty(value)) {
                Some(Type::Bool | Type::I8) => PrintfKind::Int8,
                Some(Type::I16) => PrintfKind::Int16,
                Some(Type::I32) | None => PrintfKind::Int32,
                Some(Type::I64) => PrintfKind::Int64,
                Some(Type::F16) => PrintfKind::Float16,
                Some(Type::F32) => PrintfKind::Float32,
                Some(Type::F64) => PrintfKind::Float64,
                Some(Type::Ptr(_)) => PrintfKind::Pointer,
            };
            Ok(PrintfArgument { components, kind })
        })
        .collect()
}

/// A component as words, low first; narrow ones are extended with zeros.
fn push_words(b: &mut Builder<'_>, value: Value, words: &mut Values) {
    let int = crate::compiler::passes::helpers::scalar_bits::to_int(b, value);
    if b.ty(int) == Type::I64 {
        words.push(b.convert(Convert::Truncate, int, Type::I32));
        let high = b.binary_const(Binary::LShr, int, 32);
        words.push(b.convert(Convert::Truncate, high, Type::I32));
    } else {
        words.push(b.resize_int(int, Type::I32, false));
    }
}

/// Whether a function has a call.
fn prints(function: &Function) -> bool {
    let mut insts = function
        .layout()
        .iter()
        .flat_map(|&block| &function.block(block).insts);
    insts.any(|&inst| matches!(function.inst(inst).op, Op::Printf { .. }))
}

fn buffer(b: &mut Builder<'_>) -> Value {
    b.op1(Op::Implicit(Implicit::PrintfBuffer), Type::I64)
}

/// How many words of records the buffer has room for.
fn load_capacity(b: &mut Builder<'_>) -> Value {
    let buffer = buffer(b);
    let at = b.binary_const(Binary::Add, buffer, u64::from(CAPACITY_WORD) * 4);
    // The host set it before the kernel started.
    let constant = Access {
        read_only: true,
        ..Access::aligned(4)
    };
    b.load1(Place::Address(at), Type::I32, constant)
}

/// Reserves room for a record of `size` words, fills it, and goes on after it with the call's result. `count` is the
/// type of the buffer's count.
fn write_record(
    b: &mut Builder<'_>,
    words: &[Value],
    size: usize,
    count: Type,
    capacity: Value,
) -> Value {
    let [fill, after] = [(); 2].map(|()| b.function.add_block());
    let result = b.function.add_param(after, Type::I32);
    let full = b.i32(u32::MAX);
    let size = b.constant(count, size as u64);
    let capacity = b.resize_int(capacity, count, false);

    let buffer = buffer(b);
    let count_at = Place::Address(buffer);
    if count == Type::I32 {
        let room = b.function.add_block();
        let seen = atomic(b, AtomicOp::Load, count_at, smallvec![], count);
        let has_room = b.compare(Compare::ULess, seen, capacity);
        b.branch(has_room, room, Edge::new(after, [full]));
        b.switch_to(room);
    }
    let start = atomic(b, AtomicOp::Add, count_at, smallvec![size], count);
    let end = b.binary(Binary::Add, start, size);
    let fits = b.compare(Compare::ULessEqual, end, capacity);
    b.branch(fits, fill, Edge::new(after, [full]));

    b.switch_to(fill);
    let start = b.resize_int(start, Type::I64, false);
    let two = b.i32(2);
    let start = b.binary(Binary::Shl, start, two);
    let record = b.binary(Binary::Add, buffer, start);
    fill_record(b, record, words);
    let written = b.i32(0);
    b.jump(Edge::new(after, [written]));

    b.switch_to(after);
    result
}

/// Stores words at a multiple of 8 bytes, two at once.
fn fill_record(b: &mut Builder<'_>, record: Value, words: &[Value]) {
    for (index, pair) in words.chunks(2).enumerate() {
        let offset = u64::from(HEADER_WORDS) * 4 + index as u64 * 8;
        let at = Place::Address(b.binary_const(Binary::Add, record, offset));
        match *pair {
            [low, high] => {
                let [low, high] = [low, high].map(|word| b.resize_int(word, Type::I64, false));
                let high = b.binary_const(Binary::Shl, high, 32);
                let both = b.binary(Binary::Or, low, high);
                b.store1(at, both, Access::aligned(8));
            }
            _ => b.store(at, pair.into(), Access::aligned(4)),
        }
    }
}

/// An atomic operation on an integer of type `ty`, which orders nothing else.
fn atomic(b: &mut Builder<'_>, op: AtomicOp, place: Place, values: Values, ty: Type) -> Value {
    let op = Op::Atomic {
        op,
        place,
        values,
        scope: Scope::Device,
        semantics: Semantics(0),
    };
    b.op1(op, ty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Capabilities;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Global, Kernel, Terminator};
    use crate::compiler::passes::helpers::testing;
    use crate::compiler::verify::{self, Stage};

    fn constant(module: &mut Module, text: &[u8]) -> crate::compiler::ir::GlobalId {
        module.add_global(Global {
            name: "text".into(),
            space: AddressSpace::Constant,
            size_bytes: text.len() as u64,
            align_bytes: 1,
            initializer: Some(text.to_vec().into()),
            relocations: Default::default(),
            spec_id: None,
            export: None,
            import: None,
        })
    }

    /// A kernel that prints its arguments at `format` (moved by a number of bytes) and returns the result.
    fn print(text: &[u8], skip: i64, types: &[Type], lanes: &[u8]) -> Module {
        print_on(&Capabilities::full(), text, skip, types, lanes)
    }

    fn print_on(
        device: &Capabilities,
        text: &[u8],
        skip: i64,
        types: &[Type],
        lanes: &[u8],
    ) -> Module {
        let mut module = Module::default();
        let global = constant(&mut module, text);
        let mut function = Function::new("k");
        let entry = function.entry();
        function.return_types = vec![Type::I32];
        let arguments: Values = types
            .iter()
            .map(|&ty| function.add_param(entry, ty))
            .collect();
        let mut b = Builder::new(&mut function, entry);
        let start = b.op1(Op::GlobalAddress(global), Type::Ptr(AddressSpace::Constant));
        let format = b.ptr_add_const(start, skip);
        let op = Op::Printf {
            format,
            arguments,
            lanes: lanes.to_vec(),
        };
        let result = b.op1(op, Type::I32);
        b.terminate(Terminator::Return(smallvec![result]));
        let id = module.add_function(function);
        module.kernels.push(Kernel::new("k", id));
        testing::run_on(&mut module, device, run).unwrap();
        verify::module(&module, Stage::WorkItemsLowered).unwrap();
        module
    }

    /// Runs it with room for so many words of which some are used: its result, and the buffer's words.
    fn write(module: &Module, used: u32, capacity: u32, arguments: &[u64]) -> (u64, Vec<u32>) {
        let mut interpreter = Interpreter::new(module);
        let mut buffer = vec![0u8; (capacity as usize + 12) * 4];
        buffer[..4].copy_from_slice(&used.to_le_bytes());
        buffer[8..12].copy_from_slice(&capacity.to_le_bytes());
        let address = interpreter.allocate(&buffer);
        interpreter.implicit.insert(Implicit::PrintfBuffer, address);
        let id = module.kernels[0].function;
        let result = interpreter.run(id, arguments).unwrap();
        let words = interpreter
            .bytes(address, buffer.len())
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        (result[0], words)
    }

    /// Each call would hold it once more.
    #[test]
    fn a_very_long_format_stays_in_its_variable() {
        let text = vec![b'a'; MOST_LITERAL_BYTES + 1];
        let format = |text: &[u8]| {
            let module = print(text, 0, &[], &[]);
            module.kernels[0].printf_calls[0].format.clone()
        };
        assert_eq!(format(&text), PrintfFormat::Address);
        assert_eq!(
            format(&text[1..]),
            PrintfFormat::Literal(text[1..].to_vec())
        );
    }

    #[test]
    fn a_record_holds_the_call_and_its_arguments() {
        let types = [Type::I8, Type::I8, Type::F64, Type::F32];
        let module = print(b"%v2hhd %f %f\0rest", 0, &types, &[2, 1, 1]);
        let calls = &module.kernels[0].printf_calls;
        let argument = |components, kind| PrintfArgument { components, kind };
        assert_eq!(
            calls.as_slice(),
            [PrintfCall {
                format: PrintfFormat::Literal(b"%v2hhd %f %f".to_vec()),
                arguments: vec![
                    argument(2, PrintfKind::Int8),
                    argument(1, PrintfKind::Float64),
                    argument(1, PrintfKind::Float32),
                ],
            }]
        );
        assert_eq!(calls[0].record_words(), 6);
        let (pi, half) = (3.25f64.to_bits(), u64::from(0.5f32.to_bits()));
        let (result, words) = write(&module, 4, 20, &[0xff, 7, pi, half]);
        assert_eq!(result, 0);
        assert_eq!(words[..4], [10, 0, 20, 0]);
        assert_eq!(words[4..8], [0; 4], "records before it");
        assert_eq!(
            words[8..14],
            [1, 0xff, 7, pi as u32, (pi >> 32) as u32, half as u32]
        );
        assert!(words[14..].iter().all(|&word| word == 0));
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let narrow = Capabilities {
            buffer_int64_atomics: false,
            ..Capabilities::full()
        };
        for (device, counted) in [(Capabilities::full(), 4), (narrow, 2)] {
            let module = print_on(&device, b"%d\0", 0, &[Type::I32], &[1]);
            assert_eq!(write(&module, 0, 2, &[5]).0, 0);
            let (result, words) = write(&module, 1, 2, &[5]);
            assert_eq!(result, u64::from(u32::MAX));
            assert_eq!(words[0], 3, "it asked for more than there is");
            assert!(words[4..].iter().all(|&word| word == 0));
            let (result, words) = write(&module, 2, 2, &[5]);
            assert_eq!(result, u64::from(u32::MAX));
            assert_eq!(words[0], counted, "32 bits are not counted up when full");
        }
    }

    #[test]
    fn a_count_of_64_bits_does_not_wrap() {
        let module = print(b"%d\0", 0, &[Type::I32], &[1]);
        let (result, words) = write(&module, u32::MAX - 1, 2, &[5]);
        assert_eq!(result, u64::from(u32::MAX));
        assert_eq!(words[..2], [0, 1]);
        assert!(words[4..].iter().all(|&word| word == 0));
    }

    #[test]
    fn a_driver_with_serial_memory_reads_the_capacity_once() {
        let device = Capabilities::lavapipe();
        let module = print_on(&device, b"%d %f\0", 0, &[Type::I32, Type::F32], &[1, 1]);
        let function = &module.functions[0];
        let insts = function
            .layout()
            .iter()
            .flat_map(|&block| &function.block(block).insts);
        let accesses = insts.filter(|&&inst| function.inst(inst).op.place().is_some());
        assert_eq!(accesses.count(), 1 + 1 + 2);
        let entry = &function.block(function.entry()).insts;
        let is_load =
            |&inst: &crate::compiler::ir::Inst| matches!(function.inst(inst).op, Op::Load(..));
        assert!(entry.iter().take(4).any(is_load), "before all else");
        let (result, words) = write(&module, 0, 8, &[5, 6]);
        assert_eq!((result, &words[4..8]), (0, &[1, 5, 6, 0][..]));
    }

    #[test]
    fn a_format_may_start_within_a_string() {
        let module = print(b"abc\0", 1, &[], &[]);
        let format = &module.kernels[0].printf_calls[0].format;
        assert_eq!(*format, PrintfFormat::Literal(b"bc".to_vec()));
    }

    #[test]
    fn an_unknown_format_is_an_address_in_the_record() {
        let mut function = Function::new("k");
        let entry = function.entry();
        function.return_types = vec![Type::I32];
        let format = function.add_param(entry, Type::Ptr(AddressSpace::Constant));
        let mut b = Builder::new(&mut function, entry);
        let op = Op::Printf {
            format,
            arguments: Values::new(),
            lanes: Vec::new(),
        };
        let result = b.op1(op, Type::I32);
        b.terminate(Terminator::Return(smallvec![result]));
        let mut module = testing::module_of(function);
        testing::run(&mut module, run).unwrap();
        let calls = &module.kernels[0].printf_calls;
        assert_eq!(calls[0].format, PrintfFormat::Address);
        assert_eq!(calls[0].record_words(), 4);
        let (_, words) = write(&module, 0, 8, &[0x1_2345_6789]);
        assert_eq!(words[..7], [4, 0, 8, 0, 1, 0x2345_6789, 1]);
    }
}
