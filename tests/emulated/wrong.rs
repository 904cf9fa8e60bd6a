//! Results that the layer has a device get wrong: `PUMICE_TEST_WRONG` names what, by the name that Pumice has for it. Code is
//! changed on its way to the driver, one operation for another that takes the same.

use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::transmute;

use ash::vk;

use crate::layer_chain::{Allocator, next_of_device};

/// A type of scalars, as SPIR-V declares it.
#[derive(Clone, Copy, PartialEq)]
enum Scalar {
    Any,
    Integer(u32),
    Float(u32),
}

/// Numbers of instructions of SPIR-V.
const TYPE_INT: u32 = 21;
const TYPE_FLOAT: u32 = 22;
const TYPE_VECTOR: u32 = 23;
const EXT_INST: u32 = 12;
const I_ADD: u32 = 128;
const F_ADD: u32 = 129;
const I_SUB: u32 = 130;
const F_SUB: u32 = 131;
const I_MUL: u32 = 132;
const F_MUL: u32 = 133;
const CONTROL_BARRIER: u32 = 224;
const MEMORY_BARRIER: u32 = 225;
const ALL: u32 = 334;
const ANY: u32 = 335;
const SHUFFLE: u32 = 345;
const SHUFFLE_XOR: u32 = 346;
const SUM: u32 = 349;
const MAXIMUM: u32 = 356;

/// `Fma` and `FClamp` of GLSL's instructions, which take three numbers.
const FMA: u32 = 50;
const CLAMP: u32 = 43;

/// What becomes of which instruction: with a result of that type.
fn exchange(name: &str) -> Option<(Scalar, u32, u32)> {
    Some(match name {
        "singles" => (Scalar::Float(32), F_SUB, F_ADD),
        "halves" => (Scalar::Float(16), F_MUL, F_ADD),
        "doubles" => (Scalar::Float(64), F_MUL, F_ADD),
        "longs" => (Scalar::Integer(64), I_MUL, I_ADD),
        "narrow-integers" => (Scalar::Integer(8), I_ADD, I_SUB),
        "sub-group-arithmetic" => (Scalar::Any, SUM, MAXIMUM),
        "sub-group-votes" => (Scalar::Any, ALL, ANY),
        "sub-group-exchanges" => (Scalar::Any, SHUFFLE, SHUFFLE_XOR),
        _ => return None,
    })
}

pub fn of_device(name: &[u8]) -> Option<*const c_void> {
    let is_asked =
        name == b"vkCreateShaderModule" && std::env::var_os("PUMICE_TEST_WRONG").is_some();
    is_asked.then_some(create_shader_module as *const c_void)
}

unsafe extern "system" fn create_shader_module(
    device: vk::Device,
    create: *const vk::ShaderModuleCreateInfo<'_>,
    allocator: Allocator,
    made: *mut vk::ShaderModule,
) -> vk::Result {
    // SAFETY: the caller's word, and that of the next layer for its command.
    unsafe {
        let next: vk::PFN_vkCreateShaderModule = transmute(next_of_device(c"vkCreateShaderModule"));
        let name = std::env::var("PUMICE_TEST_WRONG").unwrap_or_default();
        let mut words =
            std::slice::from_raw_parts((*create).p_code, (*create).code_size / 4).to_vec();
        change(&mut words, &name);
        let create = vk::ShaderModuleCreateInfo {
            p_code: words.as_ptr(),
            ..*create
        };
        next(device, &create, allocator.cast(), made)
    }
}

fn change(words: &mut [u32], name: &str) {
    let mut types: HashMap<u32, Scalar> = HashMap::new();
    let mut at = 5;
    while let Some(&first) = words.get(at) {
        let (opcode, length) = (first & 0xffff, (first >> 16) as usize);
        let Some(inst) = words
            .get_mut(at..at + length)
            .filter(|inst| !inst.is_empty())
        else {
            return;
        };
        let result = inst.get(1).and_then(|ty| types.get(ty)).copied();
        match opcode {
            TYPE_INT => drop(types.insert(inst[1], Scalar::Integer(inst[2]))),
            TYPE_FLOAT => drop(types.insert(inst[1], Scalar::Float(inst[2]))),
            TYPE_VECTOR => {
                if let Some(&scalar) = types.get(&inst[2]) {
                    types.insert(inst[1], scalar);
                }
            }
            EXT_INST
                if name == "fused-singles"
                    && inst[4] == FMA
                    && result == Some(Scalar::Float(32)) =>
            {
                inst[4] = CLAMP;
            }
            // Without operands it is one word: the others are as many of the same.
            CONTROL_BARRIER | MEMORY_BARRIER if name == "barriers" => inst.fill(1 << 16),
            _ => {}
        }
        if let Some((ty, from, to)) = exchange(name)
            && opcode == from
            && (ty == Scalar::Any || result == Some(ty))
        {
            inst[0] = to | (first & !0xffff);
        }
        at += length;
    }
}
