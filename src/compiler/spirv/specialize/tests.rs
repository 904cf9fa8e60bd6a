//! Modules of images, specialized: valid still, and without the other formats.

use super::specialize;
use crate::compiler::emit::validate::{assert_valid, disassemble};
use crate::compiler::image::{
    Addressing, ChannelLayout, ChannelNumbers, ReadSource, Sampler, TexelFormat,
};
use crate::compiler::program::ArgumentKind;
use crate::compiler::testing::opencl_c;
use crate::compiler::{Capabilities, CompiledKernel, Library, Options, compile};

fn kernels(source: &str, capabilities: &Capabilities) -> Vec<CompiledKernel> {
    let library = Library::embedded().expect("the library is embedded");
    let words = opencl_c(source);
    let program = compile(&[&words], &library, capabilities, &Options::default());
    program.unwrap_or_else(|error| panic!("{error}")).kernels
}

const SOURCE: &str = "
    kernel void filtered(read_only image2d_t from, sampler_t how, global float4 *to) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        to[at.x] = read_imagef(from, how, convert_float2(at) * 0.01f);
    }
    kernel void changed(read_only image3d_t from, write_only image2d_t to, int n) {
        int2 at = (int2)(get_global_id(0), get_global_id(1));
        float4 sum = 0;
        for (int z = 0; z < n; z++) sum += read_imagef(from, (int4)(at, z, 0));
        write_imagef(to, at, sum);
    }
    kernel void counted(read_write image1d_t all) {
        int x = get_global_id(0);
        write_imageui(all, x, read_imageui(all, x) + 1);
    }";

fn formats() -> Vec<TexelFormat> {
    const RGBA: [ReadSource; 4] = [
        ReadSource::Stored(0),
        ReadSource::Stored(1),
        ReadSource::Stored(2),
        ReadSource::Stored(3),
    ];
    let format = |bytes, layout, numbers| {
        TexelFormat::new(bytes, layout, numbers, RGBA, [0, 1, 2, 3], false)
    };
    vec![
        format(4, ChannelLayout::Bits8, ChannelNumbers::Unorm),
        format(4, ChannelLayout::Bits8, ChannelNumbers::Unorm).textured(true),
        format(4, ChannelLayout::Bits8, ChannelNumbers::Srgb),
        format(16, ChannelLayout::Bits32, ChannelNumbers::Float),
    ]
}

#[test]
fn what_is_left_is_valid_and_less() {
    let samplers = [
        Sampler::new(true, Addressing::Repeat, true),
        Sampler::new(false, Addressing::Clamp, false),
    ];
    for capabilities in [Capabilities::full(), Capabilities::minimal()] {
        for kernel in kernels(SOURCE, &capabilities) {
            let has_sampler = kernel.name == "filtered";
            for format in formats() {
                for &sampler in &samplers[..1 + usize::from(has_sampler)] {
                    let constants: Vec<(u32, u32)> = kernel
                        .arguments
                        .iter()
                        .filter_map(|argument| match argument.kind {
                            ArgumentKind::Image { format_spec_id, .. } => {
                                Some((format_spec_id?, format.0))
                            }
                            ArgumentKind::Sampler { spec_id } => Some((spec_id?, sampler.0)),
                            _ => None,
                        })
                        .collect();
                    assert!(!constants.is_empty());
                    let special = specialize(&kernel.spirv.words().unwrap(), &constants);
                    assert_valid(&special);
                    let (less, all) = (special.len(), kernel.spirv.words().unwrap().len());
                    assert!(2 * less < all, "{}: {less} of {all} words", kernel.name);
                    assert_eq!(specialize(&special, &constants), special);
                }
            }
        }
    }
}

#[test]
fn one_format_takes_one_way() {
    let kernels = kernels(SOURCE, &Capabilities::full());
    let changed = kernels
        .iter()
        .find(|kernel| kernel.name == "changed")
        .unwrap();
    let float = formats()[3];
    let constants: Vec<(u32, u32)> = changed
        .arguments
        .iter()
        .filter_map(|argument| match argument.kind {
            ArgumentKind::Image { format_spec_id, .. } => Some((format_spec_id?, float.0)),
            _ => None,
        })
        .collect();
    let special = specialize(&changed.spirv.words().unwrap(), &constants);
    let Some(text) = disassemble(&special) else {
        return;
    };
    // No curve, no switch on sizes, no half; whole texels of four floats.
    for gone in ["Pow", "OpSwitch", "OpFConvert", "OpConvertUToF"] {
        assert!(!text.contains(gone), "{gone} in\n{text}");
    }
}

#[test]
fn what_is_no_module_is_left_alone() {
    assert_eq!(specialize(&[], &[(3, 1)]), Vec::<u32>::new());
    let words = [0x0723_0203, 0x0001_0500, 0, 9, 0, 0x0003_0000];
    assert_eq!(specialize(&words, &[(3, 1)]), words);
}
