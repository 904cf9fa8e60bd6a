//! Generated code, run by the interpreter on texels whose meaning is written out here.

use super::run;
use crate::compiler::image::{
    Addressing, ChannelLayout, ChannelNumbers, ImageDimension, ImageField, ReadSource, Sampler,
    TexelFormat,
};
use crate::compiler::interp::Interpreter;
use crate::compiler::ir::{
    AddressSpace, Builder, FuncId, Function, ImageAccess, ImageAccessKind, ImageLevel, Module, Op,
    Terminator, Type, Values,
};
use crate::compiler::passes::helpers::testing;
use crate::compiler::verify::{self, Stage};

/// A module whose first function passes its parameters to one access.
fn module_of(access: ImageAccess) -> Module {
    let mut function = Function::new("k");
    let entry = function.entry();
    let mut operands = Values::new();
    operands.push(function.add_param(entry, Type::Ptr(AddressSpace::Global)));
    for _ in 1..ImageField::ALL.len() {
        operands.push(function.add_param(entry, Type::I32));
    }
    let coordinate = match access.kind {
        ImageAccessKind::Sample { float_coordinates } => {
            operands.push(function.add_param(entry, Type::I32));
            if float_coordinates {
                Type::F32
            } else {
                Type::I32
            }
        }
        _ => Type::I32,
    };
    for _ in 0..access.dimension.coordinates() {
        operands.push(function.add_param(entry, coordinate));
    }
    let is_write = access.kind == ImageAccessKind::Write;
    let level = if is_write { Type::I32 } else { Type::F32 };
    let levels = match access.level {
        ImageLevel::Base => 0,
        ImageLevel::Named => 1,
        ImageLevel::Gradient => 2 * access.dimension.axes(),
    };
    for _ in 0..levels {
        operands.push(function.add_param(entry, level));
    }
    if is_write {
        for _ in 0..4 {
            operands.push(function.add_param(entry, access.texel));
        }
    }
    let count = if is_write { 0 } else { 4 };
    function.return_types = vec![access.texel; count];
    let mut b = Builder::new(&mut function, entry);
    let results = b.op(Op::Image(access, operands), vec![access.texel; count]);
    b.terminate(Terminator::Return(results));
    let mut module = testing::module_of(function);
    testing::run(&mut module, run).unwrap();
    verify::module(&module, Stage::ImagesLowered).unwrap();
    module
}

const RGBA: [ReadSource; 4] = [
    ReadSource::Stored(0),
    ReadSource::Stored(1),
    ReadSource::Stored(2),
    ReadSource::Stored(3),
];

fn format(texel_bytes: u32, layout: ChannelLayout, numbers: ChannelNumbers) -> TexelFormat {
    TexelFormat::new(texel_bytes, layout, numbers, RGBA, [0, 1, 2, 3], false)
}

/// An image of one row: what a function gets before sampler and coordinates.
fn row(address: u64, width: u64, format: TexelFormat) -> Vec<u64> {
    let pitch = width << (format.0 & 7);
    vec![
        address,
        width,
        1,
        1,
        pitch,
        pitch,
        format.0.into(),
        0,
        0,
        1,
        0,
    ]
}

fn floats(bits: &[u64]) -> Vec<f32> {
    bits.iter()
        .map(|&bits| f32::from_bits(bits as u32))
        .collect()
}

#[test]
fn texels_are_decoded() {
    let module = module_of(ImageAccess {
        kind: ImageAccessKind::Read,
        dimension: ImageDimension::One,
        texel: Type::F32,
        level: ImageLevel::Base,
    });
    let read = |format: TexelFormat, bytes: &[u8], x: u64| {
        let mut interpreter = Interpreter::new(&module);
        let address = interpreter.allocate(bytes);
        let width = bytes.len() as u64 >> (format.0 & 7);
        let mut args = row(address, width, format);
        args.push(x);
        floats(&interpreter.run(FuncId(0), &args).unwrap())
    };
    use ChannelLayout::{Bits8, Bits16, Bits32, Packed1010102};
    use ChannelNumbers::{Float, Snorm, Srgb, Unorm};
    let bytes = [9, 9, 9, 9, 255, 0, 51, 128];
    assert_eq!(
        read(format(4, Bits8, Unorm), &bytes, 1),
        [1.0, 0.0, 51.0 * (1.0 / 255.0), 128.0 * (1.0 / 255.0)]
    );
    // Out of range, so clamped.
    assert_eq!(read(format(4, Bits8, Unorm), &bytes, 7)[0], 1.0);
    let snorm = read(format(4, Bits8, Snorm), &[0x80, 0x81, 0x7f, 0], 0);
    assert_eq!(snorm, [-1.0, -1.0, 1.0, 0.0]);
    let half = [0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b, 0x00, 0x00];
    assert_eq!(
        read(format(8, Bits16, Float), &half, 0),
        [1.0, -2.0, 65504.0, 0.0]
    );
    let mut single = Vec::new();
    for number in [0.0_f32, 0.0, 0.0, 0.0, 1.5, -2.5, 1e30, 0.0] {
        single.extend(number.to_le_bytes());
    }
    assert_eq!(
        read(format(16, Bits32, Float), &single, 1),
        [1.5, -2.5, 1e30, 0.0]
    );
    let packed = (1023_u32 << 22 | 3).to_le_bytes();
    assert_eq!(
        read(format(4, Packed1010102, Unorm), &packed, 0),
        [1.0, 0.0, 0.0, 1.0]
    );
    let srgb = read(format(4, Bits8, Srgb), &[128, 10, 255, 128], 0);
    for (got, wanted) in srgb
        .iter()
        .zip([0.215_860_5, 0.003_035_27, 1.0, 128.0 / 255.0])
    {
        assert!((got - wanted).abs() < 1e-5, "{srgb:?}");
    }
}

#[test]
fn odd_texels_are_read_from_their_words() {
    let module = module_of(ImageAccess {
        kind: ImageAccessKind::Read,
        dimension: ImageDimension::One,
        texel: Type::I32,
        level: ImageLevel::Base,
    });
    let mut interpreter = Interpreter::new(&module);
    let bytes = [1_u8, 0x80, 3, 4, 5, 0xfe];
    let address = interpreter.allocate(&bytes);
    interpreter.allocate(&[0; 16]);
    let one = |numbers| {
        let read = [
            ReadSource::Stored(0),
            ReadSource::Zero,
            ReadSource::Zero,
            ReadSource::One,
        ];
        TexelFormat::new(1, ChannelLayout::Bits8, numbers, read, [0; 4], true)
    };
    for (x, &byte) in bytes.iter().enumerate() {
        for (numbers, wanted) in [
            (ChannelNumbers::Unsigned, u32::from(byte)),
            (ChannelNumbers::Signed, i32::from(byte as i8) as u32),
        ] {
            let mut args = row(address, 6, one(numbers));
            args.push(x as u64);
            let found = interpreter.run(FuncId(0), &args).unwrap();
            assert_eq!(found, [u64::from(wanted), 0, 0, 1]);
        }
    }
}

#[test]
fn coordinates_wrap_as_the_sampler_says() {
    let module = module_of(ImageAccess {
        kind: ImageAccessKind::Sample {
            float_coordinates: true,
        },
        dimension: ImageDimension::One,
        texel: Type::F32,
        level: ImageLevel::Base,
    });
    let mut interpreter = Interpreter::new(&module);
    let mut bytes = Vec::new();
    for number in [10.0_f32, 20.0, 30.0, 40.0] {
        bytes.extend(number.to_le_bytes());
    }
    let address = interpreter.allocate(&bytes);
    let read = [
        ReadSource::Stored(0),
        ReadSource::Zero,
        ReadSource::Zero,
        ReadSource::One,
    ];
    let float = ChannelNumbers::Float;
    let format = TexelFormat::new(4, ChannelLayout::Bits32, float, read, [0; 4], false);
    let mut sample = |addressing, linear, at: f32| {
        let mut args = row(address, 4, format);
        args.push(Sampler::new(true, addressing, linear).0.into());
        args.push(at.to_bits().into());
        let found = floats(&interpreter.run(FuncId(0), &args).unwrap());
        (found[0], found[3])
    };
    use Addressing::{Clamp, ClampToEdge, None, Repeat, RepeatMirrored};
    assert_eq!(sample(ClampToEdge, false, -3.0), (10.0, 1.0));
    assert_eq!(sample(ClampToEdge, false, 0.3), (20.0, 1.0));
    assert_eq!(sample(None, false, 9.0), (40.0, 1.0));
    assert_eq!(sample(Clamp, false, 1.1), (0.0, 0.0));
    assert_eq!(sample(Repeat, false, -0.1), (40.0, 1.0));
    assert_eq!(sample(Repeat, false, 1.3), (20.0, 1.0));
    assert_eq!(sample(RepeatMirrored, false, -0.3), (20.0, 1.0));
    assert_eq!(sample(RepeatMirrored, false, 1.1), (40.0, 1.0));
    assert_eq!(sample(ClampToEdge, true, 0.25), (15.0, 1.0));
    assert_eq!(sample(Clamp, true, 0.0), (5.0, 0.5));
    assert_eq!(sample(Repeat, true, 0.0), (25.0, 1.0));
    assert_eq!(sample(RepeatMirrored, true, 1.0), (40.0, 1.0));
    // What no image has must not leave its memory.
    for addressing in [None, ClampToEdge, Clamp, Repeat, RepeatMirrored] {
        for linear in [false, true] {
            for at in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38] {
                sample(addressing, linear, at);
            }
        }
    }
}

#[test]
fn texels_are_encoded_and_neighbours_kept() {
    let module = module_of(ImageAccess {
        kind: ImageAccessKind::Write,
        dimension: ImageDimension::One,
        texel: Type::F32,
        level: ImageLevel::Base,
    });
    let write = |format: TexelFormat, at: u64, components: [f32; 4]| {
        let mut interpreter = Interpreter::new(&module);
        let texel_bytes = 1 << (format.0 & 7);
        let address = interpreter.allocate(&vec![0xee; 3 * texel_bytes]);
        let mut args = row(address, 3, format);
        args.push(at);
        args.extend(components.map(|component| u64::from(component.to_bits())));
        interpreter.run(FuncId(0), &args).unwrap();
        interpreter.bytes(address, 3 * texel_bytes).to_vec()
    };
    use ChannelLayout::{Bits8, Bits16, Packed565};
    use ChannelNumbers::{Float, Snorm, Unorm};
    let found = write(format(4, Bits8, Unorm), 1, [1.0, 0.5, -1.0, f32::NAN]);
    assert_eq!(found[4..8], [255, 128, 0, 0]);
    assert!(
        found[..4]
            .iter()
            .chain(&found[8..])
            .all(|&byte| byte == 0xee)
    );
    let found = write(format(1, Bits8, Snorm), 2, [-0.5, 0.0, 0.0, 0.0]);
    assert_eq!(found, [0xee, 0xee, 0xc0]);
    let found = write(format(8, Bits16, Float), 0, [1.0, -2.0, 65536.0, 0.0]);
    assert_eq!(found[..8], [0, 0x3c, 0, 0xc0, 0, 0x7c, 0, 0]);
    let found = write(format(2, Packed565, Unorm), 1, [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(found, [0xee, 0xee, 0x1f, 0xf8, 0xee, 0xee]);
    // Outside nothing is written.
    for at in [3, u64::from(u32::MAX)] {
        let found = write(format(4, Bits8, Unorm), at, [1.0; 4]);
        assert!(found.iter().all(|&byte| byte == 0xee));
    }
}

/// Three levels of a 4x2 image of floats, level `n` holding `100 * n + index`.
fn pyramid(interpreter: &mut Interpreter<'_>) -> (u64, Vec<u64>) {
    let mut bytes = Vec::new();
    for (level, texels) in [(0, 8), (1, 2), (2, 1)] {
        for index in 0..texels {
            bytes.extend(((100 * level + index) as f32).to_le_bytes());
        }
        bytes.resize(bytes.len().next_multiple_of(16), 0);
    }
    let address = interpreter.allocate(&bytes);
    let read = [
        ReadSource::Stored(0),
        ReadSource::Zero,
        ReadSource::Zero,
        ReadSource::One,
    ];
    let float = ChannelNumbers::Float;
    let format = TexelFormat::new(4, ChannelLayout::Bits32, float, read, [0; 4], false);
    let fields = [address, 4, 2, 1, 16, 32, format.0.into(), 0, 0, 3, 0];
    (address, fields.to_vec())
}

#[test]
fn levels_are_found_and_mixed() {
    let module = |level| {
        module_of(ImageAccess {
            kind: ImageAccessKind::Sample {
                float_coordinates: true,
            },
            dimension: ImageDimension::Two,
            texel: Type::F32,
            level,
        })
    };
    let sampler = Sampler::new(true, Addressing::ClampToEdge, false);
    let sample = |module: &Module, sampler: Sampler, at: [f32; 2], level: &[f32]| {
        let mut interpreter = Interpreter::new(module);
        let (_, mut args) = pyramid(&mut interpreter);
        args.push(sampler.0.into());
        let numbers = at.iter().chain(level);
        args.extend(numbers.map(|number| u64::from(number.to_bits())));
        floats(&interpreter.run(FuncId(0), &args).unwrap())[0]
    };
    let named = module(ImageLevel::Named);
    let at = [0.8, 0.8];
    for (lod, wanted) in [
        (0.0, 7.0),
        (0.4, 7.0),
        (0.6, 101.0),
        (1.0, 101.0),
        (2.0, 200.0),
        (9.0, 200.0),
        (-3.0, 7.0),
        (f32::NAN, 7.0),
    ] {
        assert_eq!(sample(&named, sampler, at, &[lod]), wanted, "{lod}");
    }
    let mixing = sampler.with_levels(true, 0.0, f32::MAX);
    assert_eq!(
        sample(&named, mixing, at, &[0.25]),
        0.75 * 7.0 + 0.25 * 101.0
    );
    assert_eq!(sample(&named, mixing, at, &[2.0]), 200.0);
    let bounded = sampler.with_levels(true, 0.5, 1.0);
    assert_eq!(sample(&named, bounded, at, &[0.0]), 0.5 * 7.0 + 0.5 * 101.0);
    assert_eq!(sample(&named, bounded, at, &[5.0]), 101.0);

    let gradient = module(ImageLevel::Gradient);
    // A step of half the image is two texels in x, one in y.
    assert_eq!(sample(&gradient, sampler, at, &[0.5, 0.0, 0.0, 0.5]), 101.0);
    assert_eq!(sample(&gradient, sampler, at, &[0.0, 0.0, 0.0, 0.5]), 7.0);
    assert_eq!(sample(&gradient, sampler, at, &[1.0, 0.0, 0.0, 0.0]), 200.0);
    assert_eq!(sample(&gradient, sampler, at, &[0.0; 4]), 7.0);
}

#[test]
fn levels_are_written() {
    let module = module_of(ImageAccess {
        kind: ImageAccessKind::Write,
        dimension: ImageDimension::Two,
        texel: Type::F32,
        level: ImageLevel::Named,
    });
    for (x, level, place) in [
        (1, 1, Some(36)),
        (0, 2, Some(48)),
        (1, 2, None),
        (0, 3, None),
    ] {
        let mut interpreter = Interpreter::new(&module);
        let (address, mut args) = pyramid(&mut interpreter);
        let before = interpreter.bytes(address, 64).to_vec();
        args.extend([x, 0, level]);
        args.extend([7.5_f32, 0.0, 0.0, 0.0].map(|number| u64::from(number.to_bits())));
        interpreter.run(FuncId(0), &args).unwrap();
        let after = interpreter.bytes(address, 64);
        for at in (0..64).step_by(4) {
            let wanted = if place == Some(at) {
                &7.5_f32.to_le_bytes()[..]
            } else {
                &before[at..at + 4]
            };
            assert_eq!(&after[at..at + 4], wanted, "{x} {level} {at}");
        }
    }
}

/// Whether a function, or what it calls, reads through descriptors.
fn samples(module: &Module, function: FuncId) -> bool {
    let function = module.function(function);
    let blocks = function.layout().iter();
    let mut insts = blocks.flat_map(|&block| &function.block(block).insts);
    insts.any(|&inst| match &function.inst(inst).op {
        Op::SampleTexture(_) => true,
        Op::Call(callee, _) => samples(module, *callee),
        _ => false,
    })
}

/// Vulkan has the index of a descriptor be the same for all work-items.
#[test]
fn what_is_chosen_is_read_by_loads() {
    let access = ImageAccess {
        kind: ImageAccessKind::Sample {
            float_coordinates: true,
        },
        dimension: ImageDimension::Two,
        texel: Type::F32,
        level: ImageLevel::Base,
    };
    assert!(samples(&module_of(access), FuncId(0)));

    // An image's scalars, a sampler and two coordinates; a function of them is called with one chosen.
    let count = ImageField::ALL.len() + 3;
    let reader = |name: &str| {
        let mut function = Function::new(name);
        let entry = function.entry();
        let mut operands = Values::new();
        for place in 0..count {
            let ty = match place {
                0 => Type::Ptr(AddressSpace::Global),
                _ if place + 2 >= count => Type::F32,
                _ => Type::I32,
            };
            operands.push(function.add_param(entry, ty));
        }
        function.return_types = vec![Type::F32; 4];
        (function, entry, operands)
    };
    for chosen in [ImageField::Texture.index(), ImageField::ALL.len()] {
        let (mut helper, entry, operands) = reader("helper");
        let mut b = Builder::new(&mut helper, entry);
        let results = b.op(Op::Image(access, operands), [Type::F32; 4]);
        b.terminate(Terminator::Return(results));

        let (mut kernel, entry, mut operands) = reader("k");
        let other = kernel.add_param(entry, Type::I32);
        let condition = kernel.add_param(entry, Type::Bool);
        let mut b = Builder::new(&mut kernel, entry);
        let direct = b.op(Op::Call(FuncId(1), operands.clone()), [Type::F32; 4]);
        operands[chosen] = b.select(condition, other, operands[chosen]);
        let mut texel = b.op(Op::Call(FuncId(2), operands), [Type::F32; 4]);
        texel[0] = direct[0];
        b.terminate(Terminator::Return(texel));

        let mut module = testing::module_of(kernel);
        module.add_function(helper.clone());
        module.add_function(helper);
        testing::run(&mut module, run).unwrap();
        verify::module(&module, Stage::ImagesLowered).unwrap();
        assert!(samples(&module, FuncId(1)), "called with what is given");
        assert!(!samples(&module, FuncId(2)), "called with what is chosen");
    }
}
