//! Tests of the parser: what clang and hand-written assembly become.

mod declarations;
mod instructions;
mod programs;
mod refusals;
mod widths;

use super::parse;
use crate::compiler::Options;
use crate::compiler::ir::{Module, Op};
use crate::compiler::testing::{assemble, opencl_c};
use crate::compiler::verify::{self, Stage};

fn parse_valid(words: &[u32]) -> Module {
    let module = parse(words, &Options::default()).expect("the module is valid");
    verify::module(&module, Stage::Parsed).expect("the parser makes valid IR");
    module
}

fn parse_c(source: &str) -> Module {
    parse_valid(&opencl_c(source))
}

/// The operations of the function behind the first kernel.
fn operations(module: &Module) -> Vec<Op> {
    let function = module.function(module.kernels[0].function);
    let insts = function
        .layout()
        .iter()
        .flat_map(|&block| function.block(block).insts.clone());
    insts.map(|inst| function.inst(inst).op.clone()).collect()
}

const HEADER: &str = r#"
    OpCapability Addresses
    OpCapability Kernel
    OpCapability Linkage
    OpCapability Int64
    OpCapability Int8
    OpCapability Int16
    %ext = OpExtInstImport "OpenCL.std"
    OpMemoryModel Physical64 OpenCL
    OpEntryPoint Kernel %kernel "kernel"
"#;

const TYPES: &str = r#"
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %ulong = OpTypeInt 64 0
    %uchar = OpTypeInt 8 0
    %ushort = OpTypeInt 16 0
    %float = OpTypeFloat 32
    %uint_0 = OpConstant %uint 0
    %uint_1 = OpConstant %uint 1
    %uint_2 = OpConstant %uint 2
    %uint_7 = OpConstant %uint 7
    %global_uint = OpTypePointer CrossWorkgroup %uint
    %signature = OpTypeFunction %void %global_uint %uint
"#;

/// A kernel of a pointer `%out` and a number `%n` with this body.
fn kernel(declarations: &str, body: &str) -> Vec<u32> {
    assemble(&format!(
        "{HEADER}\n{TYPES}\n{declarations}
        %kernel = OpFunction %void None %signature
        %out = OpFunctionParameter %global_uint
        %n = OpFunctionParameter %uint
        %entry = OpLabel
        {body}
        OpFunctionEnd"
    ))
}
