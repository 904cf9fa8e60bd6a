//! Integers of other widths than 8, 16, 32 and 64 bits: what instructions make of them, and which are refused.

use super::{kernel, parse_valid};
use crate::compiler::Options;
use crate::compiler::interp::Interpreter;
use crate::compiler::parse::parse;

const TYPES: &str = "
    %i24 = OpTypeInt 24 0
    %i40 = OpTypeInt 40 0
    %global_i24 = OpTypePointer CrossWorkgroup %i24
    %i24_9 = OpConstant %i24 9
    %i40_9 = OpConstant %i40 9
    %minus_one = OpConstant %i24 0xffffff
    %true = OpConstantTrue %bool";

/// What stands for the literal of -1.
const POSITIVE_LITERAL: u32 = 0x5a_5a5a;

/// A kernel whose body gets `%n` as an integer of 24 and one of 40 bits, with nothing known of the bits above.
fn words(body: &str) -> Vec<u32> {
    let text = format!(
        "%wide = OpUConvert %ulong %n
        %tripled = OpIMul %ulong %wide %ulong_factor
        %a = OpUConvert %i24 %n
        %b = OpUConvert %i40 %tripled
        {body}"
    );
    kernel(
        &format!("{TYPES}\n%ulong_factor = OpConstant %ulong 0x10001"),
        &text,
    )
}

/// What the body leaves in `%r`, a word, for a number.
fn result(body: &str, n: u32) -> u32 {
    let mut words = words(&format!("{body}\nOpStore %out %r Aligned 4\nOpReturn"));
    // The assembler takes no literal with a sign in the bits above those of its type.
    for word in &mut words {
        if *word == POSITIVE_LITERAL {
            *word = u32::MAX;
        }
    }
    let module = parse_valid(&words);
    let mut run = Interpreter::new(&module);
    let out = run.allocate(&[0; 4]);
    run.run(module.kernels[0].function, &[out, n.into()])
        .expect("it runs");
    let bytes = run.bytes(out, 4);
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

/// The numbers that the tests try: those whose bits 23, 24, 31 and 39 differ in the two integers.
const NUMBERS: [u32; 8] = [
    9,
    0x80_0009,
    0xff_ffff,
    0x100_0009,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0xab_cdef,
];

fn low(n: u64, bits: u32) -> u64 {
    n & (u64::MAX >> (64 - bits))
}

fn signed(n: u64, bits: u32) -> i64 {
    ((n << (64 - bits)) as i64) >> (64 - bits)
}

/// The two integers that the body gets.
fn operands(n: u32) -> (u64, u64) {
    let wide = u64::from(n) * 0x10001;
    (low(n.into(), 24), low(wide, 40))
}

fn check(body: &str, expected: impl Fn(u64, u64) -> u64) {
    for n in NUMBERS {
        let (a, b) = operands(n);
        let found = result(body, n);
        assert_eq!(found, expected(a, b) as u32, "{body} of {n:#x}");
    }
}

#[test]
fn comparisons_of_two_widths_compare_what_both_have() {
    let compare = |op: &str, x: &str, y: &str| {
        format!("%c = {op} %bool {x} {y}\n%r = OpSelect %uint %c %uint_1 %uint_2")
    };
    let choose = |holds: bool| if holds { 1 } else { 2 };
    check(&compare("OpIEqual", "%a", "%b"), |a, b| {
        choose(a == low(b, 24))
    });
    check(&compare("OpULessThan", "%b", "%i24_9"), |_, b| {
        choose(low(b, 24) < 9)
    });
    check(&compare("OpSLessThan", "%i24_9", "%b"), |_, b| {
        choose(9 < signed(b, 24))
    });
    check(&compare("OpSGreaterThan", "%i40_9", "%a"), |a, _| {
        choose(9 > signed(a, 24))
    });
}

#[test]
fn operations_on_wider_integers_take_the_bits_of_the_result() {
    let of = |op: &str| format!("%x = {op} %i24 %b %i24_9\n%r = OpUConvert %uint %x");
    check(&of("OpUDiv"), |_, b| low(b, 24) / 9);
    check(&of("OpUMod"), |_, b| low(b, 24) % 9);
    check(&of("OpSDiv"), |_, b| low((signed(b, 24) / 9) as u64, 24));
    check(&of("OpSRem"), |_, b| low((signed(b, 24) % 9) as u64, 24));
    check(&of("OpISub"), |_, b| low(b.wrapping_sub(9), 24));
}

#[test]
fn switches_look_at_the_bits_of_their_selector() {
    let body = "OpSelectionMerge %end None
        OpSwitch %a %other 0x5a5a5a %one
        %one = OpLabel
        OpBranch %end
        %other = OpLabel
        OpBranch %end
        %end = OpLabel
        %r = OpPhi %uint %uint_1 %one %uint_2 %other";
    check(body, |a, _| if a == 0xff_ffff { 1 } else { 2 });
}

#[test]
fn indices_are_signed() {
    for index in ["%minus_one", "%index"] {
        let body = format!(
            "%index = OpBitwiseOr %i24 %a %minus_one
            %next = OpPtrAccessChain %global_uint %out %uint_1
            %place = OpPtrAccessChain %global_uint %next {index}
            OpStore %place %uint_7 Aligned 4
            %r = OpLoad %uint %out Aligned 4"
        );
        check(&body, |_, _| 7);
    }
}

#[test]
fn what_means_the_width_of_a_container_is_refused() {
    for body in [
        "%x = OpIAdd %uint %a %a",
        "%x = OpNot %uint %a",
        "%x = OpSelect %uint %true %a %a",
        "%x = OpSelect %i24 %true %n %n",
        "%x = OpShiftRightLogical %i24 %n %uint_1",
        "%x = OpSatConvertUToS %i24 %n",
        "%x = OpSatConvertSToU %i24 %n",
        "%x = OpBitReverse %i24 %a",
        "%x = OpExtInst %i24 %ext u_max %a %a",
        "%x = OpAtomicLoad %i24 %place %uint_1 %uint_0",
    ] {
        let words = words(&format!(
            "%place = OpBitcast %global_i24 %out
            {body}
            OpReturn"
        ));
        let error = parse(&words, &Options::default()).expect_err(body);
        let reason = error.reason;
        assert!(
            reason.contains("not supported") || reason.contains("do not match"),
            "{body}: {reason}"
        );
    }
}
