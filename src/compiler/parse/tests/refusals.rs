//! Modules that are wrong, and what is said of them.

use super::{HEADER, TYPES, kernel, parse_valid};
use crate::compiler::parse::parse;
use crate::compiler::testing::{assemble, opencl_c};
use crate::compiler::verify::{self, Stage};
use crate::compiler::{CompileError, Options};

fn error_of(words: &[u32]) -> CompileError {
    parse(words, &Options::default()).expect_err("the module is refused")
}

#[test]
fn errors_name_instruction_and_offset() {
    let words = kernel(
        "%image = OpTypeMatrix %v2 2\n%v2 = OpTypeVector %float 2",
        "OpReturn",
    );
    assert_eq!(
        error_of(&words).instruction.as_deref(),
        Some("OpTypeMatrix")
    );

    let words = kernel("", "OpKill");
    let error = error_of(&words);
    assert_eq!(error.instruction.as_deref(), Some("OpKill"));
    assert_eq!(error.function.as_deref(), Some("kernel"));
    // The instruction before OpFunctionEnd, which ends the module.
    assert_eq!(error.offset_words, Some(words.len() - 2));

    let words = kernel("", "%x = OpIAdd %uint %n %missing\nOpReturn");
    let error = error_of(&words);
    assert!(error.reason.contains("is not a value"), "{error}");

    let words = kernel(
        "",
        "OpBranchConditional %c %a %b
        %a = OpLabel
        %x = OpIAdd %uint %n %n
        OpBranch %b
        %b = OpLabel
        OpStore %out %x Aligned 4
        OpReturn",
    );
    assert!(error_of(&words).reason.contains("is not a value"));
    let words = kernel(
        "%c = OpConstantTrue %bool",
        "OpBranchConditional %c %a %b
        %a = OpLabel
        %x = OpIAdd %uint %n %n
        OpBranch %b
        %b = OpLabel
        OpStore %out %x Aligned 4
        OpReturn",
    );
    assert!(error_of(&words).reason.contains("dominate"));
}

#[test]
fn headers_are_checked() {
    let words = kernel("", "OpReturn");
    for length in 0..words.len() {
        // Cut short anywhere: an error, or nothing that needs what was cut.
        let _ = parse(&words[..length], &Options::default());
    }
    let mut version = words.clone();
    version[1] = 0x0002_0000;
    assert!(error_of(&version).reason.contains("version"));
    assert!(error_of(&[]).reason.contains("magic"));
    let mut endless = words.clone();
    endless[5] &= 0xffff;
    assert!(error_of(&endless).reason.contains("no words"));
}

/// A few words of constants that stand for any number of addresses.
#[test]
fn addresses_in_initializers_are_bounded() {
    let mut types = String::from(
        "%p = OpTypePointer CrossWorkgroup %uint\n%k0 = OpVariable %p CrossWorkgroup\n\
         %a1 = OpTypeArray %p %uint_2\n%k1 = OpConstantComposite %a1 %k0 %k0\n",
    );
    for level in 2..23 {
        let inner = level - 1;
        types += &format!("%a{level} = OpTypeArray %a{inner} %uint_2\n");
        types += &format!("%k{level} = OpConstantComposite %a{level} %k{inner} %k{inner}\n");
    }
    types += "%q = OpTypePointer CrossWorkgroup %a22\n%w = OpVariable %q CrossWorkgroup %k22\n";
    let error = error_of(&kernel(&types, "OpReturn"));
    assert!(error.reason.contains("too many addresses"), "{error}");
}

/// Small modules that ask for huge values.
#[test]
fn what_is_asked_for_is_bounded() {
    let mut types = String::from("%array0 = OpTypeArray %uint %uint_7\n");
    for level in 1..40 {
        let inner = level - 1;
        types += &format!("%array{level} = OpTypeArray %array{inner} %uint_7\n");
    }
    assert!(
        error_of(&kernel(&types, "OpReturn"))
            .reason
            .contains("too large")
    );

    // 8 bytes doubled up to 256 MiB, of constants that name each other.
    let mut types = String::from("%a0 = OpTypeArray %uint %uint_2\n");
    types += "%k0 = OpConstantComposite %a0 %uint_1 %uint_7\n";
    for level in 1..26 {
        let inner = level - 1;
        types += &format!("%a{level} = OpTypeArray %a{inner} %uint_2\n");
        types += &format!("%k{level} = OpConstantComposite %a{level} %k{inner} %k{inner}\n");
    }
    types += "%q = OpTypePointer UniformConstant %a25\n%w = OpVariable %q UniformConstant %k25\n";
    assert!(
        error_of(&kernel(&types, "OpReturn"))
            .reason
            .contains("too large")
    );

    let mut types = String::from("%s0 = OpTypeStruct\n%c0 = OpConstantComposite %s0\n");
    for level in 1..60 {
        let inner = level - 1;
        types += &format!("%s{level} = OpTypeStruct %s{inner} %s{inner}\n");
        types += &format!("%c{level} = OpConstantComposite %s{level} %c{inner} %c{inner}\n");
    }
    types += "%p = OpTypePointer UniformConstant %s59\n%v = OpVariable %p UniformConstant %c59\n";
    parse_valid(&kernel(&types, "%x = OpCopyObject %s59 %c59\nOpReturn"));
}

/// A fuzzed module asked for the level 1.0.
#[test]
fn the_level_of_a_size_is_an_integer() {
    let query = |level: &str| {
        kernel(
            "%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
             %v2uint = OpTypeVector %uint 2
             %float_1 = OpConstant %float 1
             %image_function = OpTypeFunction %void %image",
            &format!(
                "OpReturn
                 OpFunctionEnd
                 %other = OpFunction %void None %image_function
                 %i = OpFunctionParameter %image
                 %begin = OpLabel
                 %size = OpImageQuerySizeLod %v2uint %i {level}
                 OpReturn"
            ),
        )
    };
    parse_valid(&query("%uint_1"));
    let error = error_of(&query("%float_1")).to_string();
    assert!(error.contains("not an integer"), "{error}");
}

#[test]
fn structures_hold_no_images() {
    let declarations = "%image = OpTypeImage %void 2D 0 0 0 0 Unknown ReadOnly
         %pair = OpTypeStruct %uint %image";
    let error = error_of(&kernel(declarations, "OpReturn"));
    assert_eq!(error.instruction.as_deref(), Some("OpTypeStruct"));
    assert!(error.reason.contains("holds an image"), "{error}");
}

/// Words of a module of all kinds of instructions, changed in several ways: no panic, no hang.
#[test]
fn damaged_modules_are_refused_calmly() {
    let words = opencl_c(include_str!("../../../../tests/compiler/structures.cl"));
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..4000 {
        let mut damaged = words.clone();
        for _ in 0..1 + round % 3 {
            let index = random() as usize % damaged.len();
            let other = damaged[random() as usize % words.len()];
            damaged[index] = match random() % 5 {
                0 => damaged[index] ^ 1 << (random() % 32),
                1 => damaged[index].wrapping_add(1),
                2 => other,
                3 => random() as u32 % 700,
                _ => u32::MAX,
            };
        }
        if let Ok(module) = parse(&damaged, &Options::default()) {
            verify::module(&module, Stage::Parsed).expect("what is accepted is valid");
        }
    }
}

/// A place in a work-group has up to three components, one in a sub-group is a single number.
#[test]
fn places_of_broadcasts_are_counted() {
    let broadcast = |scope: &str, components: usize| {
        let ids = "%n ".repeat(components);
        let id = match components {
            1 => String::new(),
            _ => format!("%id = OpCompositeConstruct %ids {ids}"),
        };
        let name = if components == 1 { "%n" } else { "%id" };
        kernel(
            &format!(
                "%uint_3 = OpConstant %uint 3\n%ids = OpTypeVector %uint {}",
                components.max(2)
            ),
            &format!(
                "{id}
                 %x = OpGroupBroadcast %uint {scope} %n {name}
                 OpStore %out %x Aligned 4
                 OpReturn"
            ),
        )
    };
    for (scope, components) in [
        ("%uint_2", 1),
        ("%uint_2", 2),
        ("%uint_2", 3),
        ("%uint_3", 1),
    ] {
        parse_valid(&broadcast(scope, components));
    }
    for (scope, components) in [("%uint_2", 4), ("%uint_3", 2), ("%uint_3", 3)] {
        let error = error_of(&broadcast(scope, components));
        assert_eq!(error.instruction.as_deref(), Some("OpGroupBroadcast"));
        assert!(error.reason.contains("component"), "{error}");
    }
}

/// A kernel with lines before its types.
fn annotated(annotations: &str, body: &str) -> Vec<u32> {
    assemble(&format!(
        "{HEADER}\n{annotations}\n{TYPES}
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        {body}
        OpReturn
        OpFunctionEnd"
    ))
}

/// What a kernel asks for and can't have is not left out in silence.
#[test]
fn execution_modes_are_met_or_refused() {
    for mode in [
        "RoundingModeRTZ 32",
        "DenormFlushToZero 32",
        "RoundingModeRTPINTEL 32",
        "SharedLocalMemorySizeINTEL 1024",
        "Finalizer",
    ] {
        let words = annotated(&format!("OpExecutionMode %kernel {mode}"), "");
        let error = error_of(&words);
        let name = mode.split(' ').next().unwrap();
        assert!(error.reason.contains(name), "{mode}: {error}");
    }
    for mode in [
        "RoundingModeRTE 32",
        "SignedZeroInfNanPreserve 32",
        "ContractionOff",
        "MaxWorkDimINTEL 1",
    ] {
        parse_valid(&annotated(&format!("OpExecutionMode %kernel {mode}"), ""));
    }
}

#[test]
fn directions_of_rounding_are_known_or_refused() {
    let convert = "%x = OpConvertUToF %float %n";
    let mut words = annotated("OpDecorate %x FPRoundingMode RTZ", convert);
    parse_valid(&words);
    // OpDecorate of four words, FPRoundingMode, RTZ.
    let at = words
        .windows(4)
        .position(|w| w[0] == 4 << 16 | 71 && w[2..] == [39, 1]);
    words[at.unwrap() + 3] = 99;
    assert!(error_of(&words).reason.contains("rounding mode 99"));
}
