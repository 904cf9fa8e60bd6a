//! Turns `printf` into stores to the printf buffer: see [`crate::compiler::printf`] for its layout.
//!
//! Needs: one kernel per module; formats are best known after inlining and promotion. After it no
//! `Op::Printf` is left and `Kernel::printf_calls` lists the calls.
//!
//! A call reserves its record by one atomic addition and fills it. Where the buffer is full already it does
//! not add: the count, which would go on growing with every call that fails, stays far below 2³². The result
//! is 0, or -1 where the record did not fit.

use crate::compiler::ir::{
    Access, AddressSpace, AtomicOp, Binary, Builder, Compare, Convert, Edge, Function, Module, Op,
    Place, Rewrite, Scope, Semantics, Type, Value, Values, rewrite_instructions,
};
use crate::compiler::printf::{HEADER_WORDS, PrintfArgument, PrintfCall, PrintfFormat, PrintfKind};
use crate::compiler::program::Implicit;
use crate::compiler::{CompileError, Context};
use smallvec::smallvec;

/// Most words of one record: beyond any call that OpenCL C can hold in reason.
const MOST_WORDS: usize = 1 << 16;

/// Runs the pass on every function.
pub fn run(module: &mut Module, _cx: &Context<'_>) -> Result<(), CompileError> {
    let mut calls = Vec::new();
    let globals = &module.globals;
    for function in &mut module.functions {
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
            let text = literal(b.function, globals, format);
            let known = text.is_some();
            let call = PrintfCall {
                format: text.map_or(PrintfFormat::Address, PrintfFormat::Literal),
                arguments: describe(b.function, &arguments, &lanes)?,
            };
            if call.record_words() > MOST_WORDS {
                return Err(CompileError::new("a printf has too many arguments"));
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
            let result = write_record(b, &words);
            Ok(Rewrite::Replace(smallvec![result]))
        })?;
    }
    if let Some(kernel) = module.kernels.first_mut() {
        kernel.printf_calls = calls;
    }
    Ok(())
}

/// The string that a pointer points to, where that is a known place in a variable of constant memory.
fn literal(
    function: &Function,
    globals: &[crate::compiler::ir::Global],
    pointer: Value,
) -> Option<Vec<u8>> {
    let mut offset = 0i64;
    let mut at = pointer;
    loop {
        match *function.op_of(at)? {
            Op::GlobalAddress(global) => {
                let global = globals.get(global.index())?;
                if global.space != AddressSpace::Constant || !global.relocations.is_empty() {
                    return None;
                }
                let bytes = global.initializer.as_deref().unwrap_or(&[]);
                let string = bytes.get(usize::try_from(offset).ok()?..).unwrap_or(&[]);
                let end = string.iter().position(|&byte| byte == 0);
                return Some(string[..end.unwrap_or(string.len())].to_vec());
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
                .ok_or_else(|| CompileError::new("a printf has fewer values than arguments"))?;
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
    let int = super::scalar_bits::to_int(b, value);
    if b.ty(int) == Type::I64 {
        words.push(b.convert(Convert::Truncate, int, Type::I32));
        let high = b.binary_const(Binary::LShr, int, 32);
        words.push(b.convert(Convert::Truncate, high, Type::I32));
    } else {
        words.push(b.resize_int(int, Type::I32, false));
    }
}

/// Reserves room, fills it, and goes on after it with the call's result.
fn write_record(b: &mut Builder<'_>, words: &[Value]) -> Value {
    let access = Access::aligned(4);
    let [room, fill, after] = [(); 3].map(|()| b.function.add_block());
    let result = b.function.add_param(after, Type::I32);
    let full = b.i32(u32::MAX);
    let size = b.i32(words.len() as u32);

    let base = b.op1(Op::Implicit(Implicit::PrintfBuffer), Type::I64);
    let count = Place::Address(base);
    let capacity_at = b.binary_const(Binary::Add, base, 4);
    // The host set it before the kernel started.
    let constant = Access {
        read_only: true,
        ..access
    };
    let capacity = b.load1(Place::Address(capacity_at), Type::I32, constant);
    let seen = atomic(b, AtomicOp::Load, count, smallvec![]);
    let has_room = b.compare(Compare::ULess, seen, capacity);
    b.branch(has_room, room, Edge::new(after, [full]));

    b.switch_to(room);
    let start = atomic(b, AtomicOp::Add, count, smallvec![size]);
    let end = b.binary(Binary::Add, start, size);
    let fits = b.compare(Compare::ULessEqual, end, capacity);
    b.branch(fits, fill, Edge::new(after, [full]));

    b.switch_to(fill);
    let start = b.convert(Convert::ZeroExtend, start, Type::I64);
    let two = b.i32(2);
    let start = b.binary(Binary::Shl, start, two);
    let record = b.binary(Binary::Add, base, start);
    for (index, &word) in words.iter().enumerate() {
        let offset = u64::from(HEADER_WORDS) * 4 + index as u64 * 4;
        let at = b.binary_const(Binary::Add, record, offset);
        b.store1(Place::Address(at), word, access);
    }
    let written = b.i32(0);
    b.jump(Edge::new(after, [written]));

    b.switch_to(after);
    result
}

/// An atomic operation on a word, which orders nothing else.
fn atomic(b: &mut Builder<'_>, op: AtomicOp, place: Place, values: Values) -> Value {
    let op = Op::Atomic {
        op,
        place,
        values,
        scope: Scope::Device,
        semantics: Semantics(0),
    };
    b.op1(op, Type::I32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::interp::Interpreter;
    use crate::compiler::ir::{Global, Terminator};
    use crate::compiler::passes::testing;
    use crate::compiler::verify::{self, Stage};

    fn constant(module: &mut Module, text: &[u8]) -> crate::compiler::ir::GlobalId {
        module.add_global(Global {
            name: "text".into(),
            space: AddressSpace::Constant,
            size_bytes: text.len() as u64,
            align_bytes: 1,
            initializer: Some(text.to_vec()),
            relocations: Vec::new(),
            spec_id: None,
            export: None,
            import: None,
        })
    }

    /// A kernel that prints its arguments at `format` (moved by a number of bytes) and returns the result.
    fn print(text: &[u8], skip: i64, types: &[Type], lanes: &[u8]) -> Module {
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
        module.kernels.push(testing::kernel(id));
        testing::run(&mut module, run).unwrap();
        verify::module(&module, Stage::WorkItemsLowered).unwrap();
        module
    }

    /// Runs it with room for so many words of which some are used: its result, and the buffer's words.
    fn write(module: &Module, used: u32, capacity: u32, arguments: &[u64]) -> (u64, Vec<u32>) {
        let mut interpreter = Interpreter::new(module);
        let mut buffer = vec![0u8; (capacity as usize + 10) * 4];
        buffer[..4].copy_from_slice(&used.to_le_bytes());
        buffer[4..8].copy_from_slice(&capacity.to_le_bytes());
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
        let (result, words) = write(&module, 3, 20, &[0xff, 7, pi, half]);
        assert_eq!(result, 0);
        assert_eq!(words[..2], [9, 20]);
        assert_eq!(words[2..5], [0; 3], "records before it");
        assert_eq!(
            words[5..11],
            [1, 0xff, 7, pi as u32, (pi >> 32) as u32, half as u32]
        );
        assert!(words[11..].iter().all(|&word| word == 0));
    }

    #[test]
    fn what_does_not_fit_is_not_written() {
        let module = print(b"%d\0", 0, &[Type::I32], &[1]);
        assert_eq!(write(&module, 0, 2, &[5]).0, 0);
        let (result, words) = write(&module, 1, 2, &[5]);
        assert_eq!(result, u64::from(u32::MAX));
        assert_eq!(words[0], 3, "it asked for more than there is");
        assert!(words[2..].iter().all(|&word| word == 0));
        let (result, words) = write(&module, 2, 2, &[5]);
        assert_eq!(result, u64::from(u32::MAX));
        assert_eq!(words[0], 2, "a full buffer is not counted up");
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
        assert_eq!(calls[0].record_words(), 3);
        let (_, words) = write(&module, 0, 8, &[0x1_2345_6789]);
        assert_eq!(words[..5], [3, 8, 1, 0x2345_6789, 1]);
    }
}
