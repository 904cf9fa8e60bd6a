//! Instructions in the bodies of functions.

use super::{HEADER, TYPES, kernel, operations, parse_valid};
use crate::compiler::Options;
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{Convert, Op, Unary};
use crate::compiler::parse::parse;
use crate::compiler::testing::assemble;

#[test]
fn a_vector_of_one_component() {
    let words = kernel(
        "%lonely = OpTypeVector %uint 1",
        "%vector = OpCompositeConstruct %lonely %n
         %sum = OpIAdd %lonely %vector %vector
         %value = OpCompositeExtract %uint %sum 0
         OpStore %out %value Aligned 4
         OpReturn",
    );
    let operations = operations(&parse_valid(&words));
    assert!(matches!(operations[..], [Op::Binary(..), Op::Store(..)]));
}

/// How often the kernel takes the low bits of a number.
fn truncations(words: &[u32]) -> usize {
    let operations = operations(&parse_valid(words));
    let narrow = |op: &&Op| matches!(op, Op::Convert(Convert::Truncate, _));
    operations.iter().filter(narrow).count()
}

/// clang-22 writes operands that are too wide where the high bits do not matter.
#[test]
fn operands_that_are_too_wide_are_narrowed() {
    let words = kernel(
        "%uchar_3 = OpConstant %uchar 3",
        "%low = OpBitwiseAnd %uchar %n %uchar_3
         %moved = OpShiftLeftLogical %uchar %n %uchar_3
         %both = OpIAdd %uchar %low %moved
         %quotient = OpSDiv %uchar %n %uchar_3
         %sum = OpIAdd %uchar %both %quotient
         %value = OpUConvert %uint %sum
         OpStore %out %value Aligned 4
         OpReturn",
    );
    assert_eq!(truncations(&words), 3);
}

/// clang-22 leaves an operand of `mad_hi` too wide where it is a comparison that became a `short`.
#[test]
fn operands_of_functions_that_are_too_wide_are_narrowed() {
    let words = kernel(
        "",
        "%low = OpUConvert %ushort %n
         %less = OpULessThan %bool %n %uint_7
         %number = OpSelect %uint %less %uint_1 %uint_0
         %high = OpExtInst %ushort %ext s_mad_hi %low %number %low
         %value = OpUConvert %uint %high
         OpStore %out %value Aligned 4
         OpReturn",
    );
    assert_eq!(truncations(&words), 2);
}

/// clang-22 writes `OpBitReverse` of a boolean for `llvm.bitreverse.i1`.
#[test]
fn the_one_bit_of_a_boolean_reversed_is_itself() {
    let words = kernel(
        "",
        "%less = OpULessThan %bool %n %uint_7
         %reversed = OpBitReverse %bool %less
         %value = OpSelect %uint %reversed %uint_1 %uint_2
         OpStore %out %value Aligned 4
         OpReturn",
    );
    let operations = operations(&parse_valid(&words));
    let is_reversal = |op: &Op| matches!(op, Op::Unary(Unary::BitReverse, _));
    assert!(!operations.iter().any(is_reversal), "{operations:?}");
}

#[test]
fn wide_values_of_phis_and_comparisons_are_narrowed() {
    let words = kernel(
        "",
        "%wide = OpUConvert %ulong %n
        %less = OpSLessThan %bool %n %wide
        OpSelectionMerge %exit None
        OpBranchConditional %less %then %exit
        %then = OpLabel
        OpBranch %exit
        %exit = OpLabel
        %either = OpPhi %uint %n %entry %wide %then
        OpStore %out %either Aligned 4
        OpReturn",
    );
    assert_eq!(truncations(&words), 2);
}

#[test]
fn a_loop_with_phis_in_any_block_order() {
    let words = kernel(
        "",
        "OpBranch %header
        %header = OpLabel
        %i = OpPhi %uint %uint_0 %entry %next %body
        %more = OpULessThan %bool %i %n
        OpBranchConditional %more %body %exit
        %exit = OpLabel
        OpStore %out %i Aligned 4
        OpReturn
        %body = OpLabel
        %next = OpIAdd %uint %i %uint_1
        OpBranch %header",
    );
    let module = parse_valid(&words);
    let function = module.function(module.kernels[0].function);
    let header = function.successors(function.entry())[0];
    assert_eq!(function.block(header).params.len(), 1);
}

#[test]
fn a_value_that_is_an_inner_vector() {
    let words = kernel(
        "%v2 = OpTypeVector %ushort 2
        %uint_3 = OpConstant %uint 3
        %v4 = OpTypeVector %uchar 4
        %array = OpTypeArray %v2 %uint_2
        %undef = OpUndef %array",
        "%x = OpBitcast %v2 %n
        %y = OpCompositeInsert %array %x %undef 1
        %z = OpCompositeExtract %ushort %y 1 1
        %w = OpUConvert %uint %z
        %bytes = OpBitcast %v4 %x
        %b = OpVectorExtractDynamic %uchar %bytes %n
        %c = OpUConvert %uint %b
        %field = OpBitFieldSExtract %uint %w %uint_1 %uint_7
        %sum = OpIAdd %uint %field %c
        OpStore %out %sum Aligned 4
        OpReturn",
    );
    parse_valid(&words);
}

#[test]
fn pointers_are_words_too() {
    let module = parse_valid(&kernel(
        "%v2 = OpTypeVector %uint 2",
        "%words = OpBitcast %v2 %out
         %again = OpBitcast %global_uint %words
         OpStore %again %n Aligned 4
         OpReturn",
    ));
    let operations = operations(&module);
    let count = |wanted| {
        let same = |op: &&Op| matches!(op, Op::Convert(convert, _) if *convert == wanted);
        operations.iter().filter(same).count()
    };
    assert_eq!(count(Convert::PtrToInt), 1);
    assert_eq!(count(Convert::IntToPtr), 1);
}

/// Every width, sign and format of the operands, results wider and narrower.
#[test]
fn dot_products_of_all_forms() {
    let declarations = "
        %v2s = OpTypeVector %ushort 2
        %v3c = OpTypeVector %uchar 3
        %v4c = OpTypeVector %uchar 4
        %v2i = OpTypeVector %uint 2
        %s_min = OpConstant %ushort 0x8000
        %s_3 = OpConstant %ushort 3
        %c_ff = OpConstant %uchar 0xff
        %c_80 = OpConstant %uchar 0x80
        %c_2 = OpConstant %uchar 2
        %i_min = OpConstant %uint 0x80000000
        %i_packed = OpConstant %uint 0x80ff0201
        %s_near = OpConstant %ushort 0x7ff0
        %l_max = OpConstant %ulong 0x7fffffffffffffff
        %i_max = OpConstant %uint 0xffffffff
        %shorts = OpConstantComposite %v2s %s_min %s_3
        %threes = OpConstantComposite %v3c %c_ff %c_80 %c_2
        %fours = OpConstantComposite %v4c %c_ff %c_80 %c_2 %c_ff
        %ints = OpConstantComposite %v2i %i_min %uint_7
        %global_ulong = OpTypePointer CrossWorkgroup %ulong";
    // The instruction, the type of its result, and the result as 64 bits extended with zeros.
    let cases: [(&str, &str, u64); 12] = [
        ("OpSDot %uint %shorts %shorts", "uint", 0x4000_0009),
        ("OpUDot %ulong %shorts %shorts", "ulong", 0x4000_0009),
        (
            "OpSUDot %ulong %shorts %shorts",
            "ulong",
            (-0x4000_0000i64 + 9) as u64,
        ),
        (
            "OpUDot %uint %threes %threes",
            "uint",
            255 * 255 + 128 * 128 + 4,
        ),
        (
            "OpSDot %ushort %threes %threes",
            "ushort",
            1 + 128 * 128 + 4,
        ),
        (
            "OpSUDot %uint %fours %fours",
            "uint",
            (-255i32 - 128 * 128 + 4 - 255) as u32 as u64,
        ),
        (
            "OpSDot %ulong %fours %fours",
            "ulong",
            1 + 128 * 128 + 4 + 1,
        ),
        ("OpSDot %ulong %ints %ints", "ulong", (1 << 62) + 49),
        (
            "OpSUDot %ulong %i_packed %i_packed PackedVectorFormat4x8Bit",
            "ulong",
            (-128i64 * 128 - 255 + 4 + 1) as u64,
        ),
        (
            "OpSDotAccSat %ushort %threes %threes %s_near",
            "ushort",
            0x7fff,
        ),
        (
            "OpSDotAccSat %ulong %ints %ints %l_max",
            "ulong",
            i64::MAX as u64,
        ),
        (
            "OpUDotAccSat %uint %i_packed %i_packed %i_max PackedVectorFormat4x8Bit",
            "uint",
            0xffff_ffff,
        ),
    ];
    for (instruction, ty, expected) in cases {
        let widen = match ty {
            "ulong" => "%wide = OpCopyObject %ulong %dot",
            _ => "%wide = OpUConvert %ulong %dot",
        };
        let module = parse_valid(&kernel(
            declarations,
            &format!(
                "%place = OpBitcast %global_ulong %out
                 %dot = {instruction}
                 {widen}
                 OpStore %place %wide Aligned 8
                 OpReturn"
            ),
        ));
        let mut interpreter = Interpreter::new(&module);
        let out = interpreter.allocate(&[0; 8]);
        let function = module.kernels[0].function;
        interpreter.run(function, &[out, 0]).expect("it runs");
        let found: [u8; 8] = interpreter.bytes(out, 8).try_into().expect("eight bytes");
        assert_eq!(u64::from_le_bytes(found), expected, "{instruction}");
    }
}

/// clang-22 gives pointers that are compared with others the types of those.
#[test]
fn pointers_to_anything_meet_in_phis() {
    let words = kernel(
        "%global_uchar = OpTypePointer CrossWorkgroup %uchar",
        "%less = OpULessThan %bool %n %uint_7
         OpSelectionMerge %join None
         OpBranchConditional %less %then %join
         %then = OpLabel
         %bytes = OpBitcast %global_uchar %out
         OpBranch %join
         %join = OpLabel
         %pointer = OpPhi %global_uint %out %entry %bytes %then
         OpStore %pointer %n Aligned 4
         OpReturn",
    );
    let stores = operations(&parse_valid(&words));
    let stores = stores.iter().filter(|op| matches!(op, Op::Store(..)));
    assert_eq!(stores.count(), 1);
}

/// LLVM gives null an alignment of 2^32, of which clang-22 writes the low 32 bits.
#[test]
fn an_alignment_of_zero_is_that_of_the_type() {
    let words = kernel("", "OpStore %out %n Aligned 0\n OpReturn");
    let operations = operations(&parse_valid(&words));
    let [Op::Store(_, _, access)] = operations[..] else {
        panic!("{operations:?}");
    };
    assert_eq!(access.align_bytes, 4);
}

/// clang-22 returns a number of 32 bits that it has made of a condition from a function of 16, without optimization.
#[test]
fn what_is_returned_of_a_wider_integer_are_its_low_bits() {
    let module = |returned: &str| {
        assemble(&format!(
            "{HEADER}
            {TYPES}
            %of_short = OpTypeFunction %ushort %uint
            %short = OpFunction %ushort None %of_short
            %x = OpFunctionParameter %uint
            %begin = OpLabel
            %float_x = OpConvertUToF %float %x
            OpReturnValue {returned}
            OpFunctionEnd
            %kernel = OpFunction %void None %signature
            %out = OpFunctionParameter %global_uint
            %n = OpFunctionParameter %uint
            %entry = OpLabel
            %result = OpFunctionCall %ushort %short %n
            %wide = OpUConvert %uint %result
            OpStore %out %wide Aligned 4
            OpReturn
            OpFunctionEnd"
        ))
    };
    let valid = parse_valid(&module("%x"));
    let mut interpreter = Interpreter::new(&valid);
    let out = interpreter.allocate(&[0; 4]);
    let function = valid.kernels[0].function;
    let run = interpreter.run(function, &[out, 0xabcd_0123]);
    run.expect("it runs");
    assert_eq!(interpreter.bytes(out, 4), 0x123_u32.to_le_bytes());
    assert!(parse(&module("%float_x"), &Options::default()).is_err());
}
