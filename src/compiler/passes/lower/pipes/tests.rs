//! One work-item at a pipe in the interpreter, against a queue of the standard library.

use super::run;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    AddressSpace, Builder, FuncId, Function, Module, Op, Pipe, PipeOp, Scope, Terminator, Type,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::passes::lower::copies;
use crate::compiler::pipe::{Counter, header, size_bytes};
use crate::compiler::verify::{self, Stage};
use smallvec::smallvec;
use std::collections::VecDeque;

const PACKET_BYTES: u32 = 12;

/// A kernel of one instruction: the pipe, then its operands.
fn kernel(op: PipeOp, writes: bool, operands: &[Type], packet_bytes: u32) -> Module {
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut values = smallvec![function.add_param(entry, Type::Ptr(AddressSpace::Global))];
    for &ty in operands {
        values.push(function.add_param(entry, ty));
    }
    let result = match op {
        PipeOp::Commit => None,
        PipeOp::Reserve => Some(Type::I64),
        _ => Some(Type::I32),
    };
    function.return_types = result.into_iter().collect();
    let mut b = Builder::new(&mut function, entry);
    let pipe = Pipe {
        op,
        writes,
        scope: Scope::Invocation,
        packet_bytes,
        align_bytes: 4,
    };
    let results = b.op(Op::Pipe(pipe, values), result);
    b.terminate(Terminator::Return(results));
    let mut module = testing::module_of(function);
    testing::run(&mut module, run).unwrap();
    testing::run(&mut module, copies::run).unwrap();
    verify::module(&module, Stage::WorkItemsLowered).unwrap();
    module
}

fn bytes_of(values: [u32; 3]) -> Vec<u8> {
    values.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The memory of a pipe whose counters all start at `start`.
fn memory(max_packets: u32, start: u32) -> Vec<u8> {
    let mut bytes = header(PACKET_BYTES, max_packets).to_vec();
    for counter in [Counter::Reserved, Counter::Committed, Counter::Visible] {
        for of_writers in [false, true] {
            let at = counter.offset_bytes(of_writers) as usize;
            bytes[at..at + 4].copy_from_slice(&start.to_le_bytes());
        }
    }
    bytes.resize(size_bytes(PACKET_BYTES, max_packets) as usize, 0xee);
    bytes
}

/// Runs a kernel on a copy of the memory; gives what it returned, its packet, and leaves the memory changed.
fn call(module: &Module, memory: &mut Vec<u8>, packet: &mut Vec<u8>, operands: &[u64]) -> Vec<u64> {
    let mut interpreter = Interpreter::new(module);
    let base = interpreter.allocate(memory);
    let at = interpreter.allocate(packet);
    let mut all = vec![base];
    // u64::MAX stands for the packet's address.
    all.extend(operands.iter().map(|&v| if v == u64::MAX { at } else { v }));
    let results = interpreter.run(FuncId(0), &all).unwrap();
    *memory = interpreter.bytes(base, memory.len()).to_vec();
    *packet = interpreter.bytes(at, packet.len()).to_vec();
    results
}

const POINTER: Type = Type::Ptr(AddressSpace::Global);
const FAILED: u64 = u32::MAX as u64;

#[test]
fn packets_come_out_as_they_went_in_even_where_the_counters_wrap() {
    let write = kernel(PipeOp::Transfer, true, &[POINTER], PACKET_BYTES);
    let read = kernel(PipeOp::Transfer, false, &[POINTER], PACKET_BYTES);
    let count = kernel(PipeOp::NumPackets, false, &[], PACKET_BYTES);
    let most = kernel(PipeOp::MaxPackets, true, &[], PACKET_BYTES);
    let mut memory = memory(5, u32::MAX - 8);
    let mut model = VecDeque::new();
    assert_eq!(call(&most, &mut memory, &mut vec![0; 12], &[]), [5]);
    for step in 0..60u32 {
        // Three writes for two reads: it fills up.
        if step % 5 < 3 {
            let packet = [step, step * 7, !step];
            let found = call(&write, &mut memory, &mut bytes_of(packet), &[u64::MAX]);
            let fits = model.len() < 5;
            assert_eq!(found, [if fits { 0 } else { FAILED }], "step {step}");
            if fits {
                model.push_back(packet);
            }
        } else {
            let mut packet = vec![0xaa; 12];
            let found = call(&read, &mut memory, &mut packet, &[u64::MAX]);
            match model.pop_front() {
                Some(expected) => {
                    assert_eq!(found, [0], "step {step}");
                    assert_eq!(packet, bytes_of(expected), "step {step}");
                }
                None => assert_eq!((found, packet), (vec![FAILED], vec![0xaa; 12])),
            }
        }
        let found = call(&count, &mut memory, &mut vec![0; 12], &[]);
        assert_eq!(found, [model.len() as u64], "step {step}");
    }
    let mut emptied = 0;
    while call(&read, &mut memory, &mut vec![0; 12], &[u64::MAX]) == [0] {
        emptied += 1;
    }
    assert_eq!(emptied, model.len());
}

#[test]
fn readers_see_what_has_no_gap_before_it() {
    let reserve = kernel(PipeOp::Reserve, true, &[Type::I32], PACKET_BYTES);
    let put = kernel(
        PipeOp::TransferReserved,
        true,
        &[Type::I64, Type::I32, POINTER],
        PACKET_BYTES,
    );
    let commit = kernel(PipeOp::Commit, true, &[Type::I64], PACKET_BYTES);
    let count = kernel(PipeOp::NumPackets, false, &[], PACKET_BYTES);
    let read = kernel(PipeOp::Transfer, false, &[POINTER], PACKET_BYTES);
    let mut memory = memory(6, 3);
    let none = &mut vec![0; 12];
    let first = call(&reserve, &mut memory, none, &[2])[0];
    let second = call(&reserve, &mut memory, none, &[3])[0];
    assert_eq!(
        call(&reserve, &mut memory, none, &[2]),
        [0],
        "one slot is left"
    );
    assert_eq!(
        call(&reserve, &mut memory, none, &[0]),
        [0],
        "of no packets"
    );
    for (id, packets) in [(second, 3), (first, 2)] {
        for index in 0..packets {
            let mut packet = bytes_of([id as u32, index, 9]);
            let operands = [id, index.into(), u64::MAX];
            assert_eq!(call(&put, &mut memory, &mut packet, &operands), [0]);
        }
        let beyond = [id, packets.into(), u64::MAX];
        assert_eq!(
            call(&put, &mut memory, none, &beyond),
            [FAILED],
            "beyond it"
        );
    }
    call(&commit, &mut memory, none, &[second]);
    assert_eq!(
        call(&count, &mut memory, none, &[]),
        [0],
        "the first is open"
    );
    call(&commit, &mut memory, none, &[first]);
    assert_eq!(call(&count, &mut memory, none, &[]), [5]);
    for (id, index) in [
        (first, 0),
        (first, 1),
        (second, 0),
        (second, 1),
        (second, 2),
    ] {
        let mut packet = vec![0; 12];
        assert_eq!(call(&read, &mut memory, &mut packet, &[u64::MAX]), [0]);
        assert_eq!(packet, bytes_of([id as u32, index, 9]));
    }
}

#[test]
fn packets_of_another_size_do_not_pass() {
    let mut memory = memory(4, 0);
    let before = memory.clone();
    let write = kernel(PipeOp::Transfer, true, &[POINTER], 16);
    assert_eq!(
        call(&write, &mut memory, &mut vec![1; 16], &[u64::MAX]),
        [FAILED]
    );
    assert_eq!(memory, before);
}
