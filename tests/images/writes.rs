//! What `write_image*` makes of numbers that the format does not have (section 8.3 "Conversion Rules").

use crate::session::{Session, describe, session};
use opencl_sys::{CL_SIGNED_INT16, CL_SNORM_INT8, CL_UNORM_INT_101010_2, CL_UNSIGNED_INT16};
use opencl3::memory::{
    CL_FLOAT, CL_HALF_FLOAT, CL_MEM_OBJECT_IMAGE2D, CL_R, CL_RG, CL_RGB, CL_RGBA, CL_SIGNED_INT8,
    CL_SIGNED_INT32, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_INT16, CL_UNORM_SHORT_565,
    CL_UNSIGNED_INT8, CL_UNSIGNED_INT32, ClMem,
};

/// Writes a row of texels of `T` channels, each from four values, and gives their bytes as `U`.
fn written<T, U: Copy + Default>(
    s: &Session,
    (order, channel_type): (u32, u32),
    (suffix, ty): (&str, &str),
    values: &[[T; 4]],
    channels: usize,
) -> Vec<U> {
    let kernel = s.kernel(&format!(
        "kernel void test(write_only image2d_t image, global const {ty} *values) {{\n\
         int x = get_global_id(0);\n\
         write_image{suffix}(image, (int2)(x, 0), values[x]);\n}}"
    ));
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [values.len(), 1, 1]);
    let image = s.empty_image(order, channel_type, &desc);
    let from = s.buffer_of(values);
    s.launch(&kernel, &[image.get(), from.get()], values.len());
    let region = [values.len(), 1, 1];
    s.read::<U>(&image, &[0; 3], region, values.len() * channels)
}

const FLOATS: [f32; 20] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    -0.0,
    0.0,
    1.0,
    -1.0,
    1.000_001,
    -1.000_001,
    0.5,
    -0.5,
    0.499,
    0.1,
    -0.7,
    2.0,
    1e-4,
    0.999,
];

/// Four different ones in each texel.
fn floats() -> Vec<[f32; 4]> {
    (0..FLOATS.len())
        .map(|i| [0, 1, 2, 3].map(|j| FLOATS[(i + 5 * j) % FLOATS.len()]))
        .collect()
}

/// "The preferred rounding mode is round to nearest even"; "an implementation … must be within 0.6" of the exact.
fn assert_normalized(got: f64, value: f32, least: f64, most: f64) {
    let exact = if value.is_nan() {
        0.0
    } else {
        f64::from(value).clamp(least, 1.0) * most
    };
    assert!((got - exact).abs() <= 0.6, "{value} became {got} of {most}");
}

#[test]
fn normalized_channels_saturate() {
    let Some(s) = session() else { return };
    let values = floats();
    let float = ("f", "float4");
    let flat: Vec<f32> = values.iter().flatten().copied().collect();
    let bytes = written::<_, u8>(&s, (CL_RGBA, CL_UNORM_INT8), float, &values, 4);
    for (got, &value) in bytes.into_iter().zip(&flat) {
        assert_normalized(got.into(), value, 0.0, 255.0);
    }
    let bytes = written::<_, i8>(&s, (CL_RGBA, CL_SNORM_INT8), float, &values, 4);
    for (got, &value) in bytes.into_iter().zip(&flat) {
        assert_normalized(got.into(), value, -1.0, 127.0);
    }
    let words = written::<_, u16>(&s, (CL_RGBA, CL_UNORM_INT16), float, &values, 4);
    for (got, &value) in words.into_iter().zip(&flat) {
        assert_normalized(got.into(), value, 0.0, 65535.0);
    }
    let words = written::<_, i16>(&s, (CL_RG, CL_SNORM_INT16), float, &values, 2);
    let pairs = values.iter().flat_map(|it| [it[0], it[1]]);
    for (got, value) in words.into_iter().zip(pairs) {
        assert_normalized(got.into(), value, -1.0, 32767.0);
    }
    let texels = written::<_, u16>(&s, (CL_RGB, CL_UNORM_SHORT_565), float, &values, 1);
    for (texel, values) in texels.into_iter().zip(&values) {
        for (value, (bit, width)) in values.iter().zip([(11, 5), (5, 6), (0, 5)]) {
            let most = (1 << width) - 1;
            assert_normalized((texel >> bit & most).into(), *value, 0.0, most.into());
        }
    }
    let texels = written::<_, u32>(&s, (CL_RGBA, CL_UNORM_INT_101010_2), float, &values, 1);
    for (texel, values) in texels.into_iter().zip(&values) {
        for (value, (bit, width)) in values.iter().zip([(22, 10), (12, 10), (2, 10), (0, 2)]) {
            let most = (1 << width) - 1;
            assert_normalized((texel >> bit & most).into(), *value, 0.0, most.into());
        }
    }
}

#[test]
fn floats_stay_and_halves_overflow_to_infinity() {
    let Some(s) = session() else { return };
    let float = ("f", "float4");
    // Without the smallest, which a device may take for 0.
    let normal = |value: f32| {
        if value == f32::MIN_POSITIVE {
            3.0
        } else {
            value
        }
    };
    let values: Vec<[f32; 4]> = floats().into_iter().map(|it| it.map(normal)).collect();
    let found = written::<_, f32>(&s, (CL_RGBA, CL_FLOAT), float, &values, 4);
    for (got, value) in found.into_iter().zip(values.into_iter().flatten()) {
        let same = got.to_bits() == value.to_bits() || got.is_nan() && value.is_nan();
        assert!(same, "{value} became {got}");
    }
    let halves = [
        (1.0, 0x3c00),
        (-2.0, 0xc000),
        (65504.0, 0x7bff),
        (65519.0, 0x7bff),
        (65520.0, 0x7c00),
        (-70000.0, 0xfc00),
        (1e30, 0x7c00),
        (f32::INFINITY, 0x7c00),
        (f32::NEG_INFINITY, 0xfc00),
        (0.0, 0),
        (-0.0, 0x8000),
        // 2^-24, the smallest; half of it, a tie, to the even 0; a little more.
        (5.960_464_5e-8, 1),
        (2.980_232_2e-8, 0),
        (3.1e-8, 1),
        // Ties: to the even 0x3c00 and 0x3c02.
        (1.0 + 1.0 / 2048.0, 0x3c00),
        (1.0 + 3.0 / 2048.0, 0x3c02),
    ];
    let values = halves.map(|(value, _)| [value; 4]);
    let found = written::<_, u16>(&s, (CL_R, CL_HALF_FLOAT), float, &values, 1);
    for (got, (value, wanted)) in found.into_iter().zip(halves) {
        assert_eq!(got, wanted, "{value}: {got:#x} not {wanted:#x}");
    }
    let found = written::<_, u16>(&s, (CL_R, CL_HALF_FLOAT), float, &[[f32::NAN; 4]], 1);
    assert!(found[0] & 0x7fff > 0x7c00, "NaN became {:#x}", found[0]);
}

#[test]
fn integers_saturate() {
    let Some(s) = session() else { return };
    let signed = [
        [i32::MAX, i32::MIN, 0, -1],
        [127, 128, -128, -129],
        [32767, 32768, -32768, -32769],
        [5, -5, 255, 256],
    ];
    let int = ("i", "int4");
    let flat = signed.as_flattened();
    let found = written::<_, i8>(&s, (CL_RGBA, CL_SIGNED_INT8), int, &signed, 4);
    let wanted: Vec<i8> = flat.iter().map(|&v| v.clamp(-128, 127) as i8).collect();
    assert_eq!(found, wanted);
    let found = written::<_, i16>(&s, (CL_RGBA, CL_SIGNED_INT16), int, &signed, 4);
    let wanted: Vec<i16> = flat
        .iter()
        .map(|&v| v.clamp(-32768, 32767) as i16)
        .collect();
    assert_eq!(found, wanted);
    let found = written::<_, i32>(&s, (CL_RGBA, CL_SIGNED_INT32), int, &signed, 4);
    assert_eq!(found, flat);

    let unsigned = [
        [u32::MAX, 0, 1, 255],
        [256, 65535, 65536, 0x8000_0000],
        [7, 77, 777, 7777],
    ];
    let uint = ("ui", "uint4");
    let flat = unsigned.as_flattened();
    let found = written::<_, u8>(&s, (CL_RGBA, CL_UNSIGNED_INT8), uint, &unsigned, 4);
    let wanted: Vec<u8> = flat.iter().map(|&v| v.min(255) as u8).collect();
    assert_eq!(found, wanted);
    let found = written::<_, u16>(&s, (CL_RGBA, CL_UNSIGNED_INT16), uint, &unsigned, 4);
    let wanted: Vec<u16> = flat.iter().map(|&v| v.min(65535) as u16).collect();
    assert_eq!(found, wanted);
    let found = written::<_, u32>(&s, (CL_RGBA, CL_UNSIGNED_INT32), uint, &unsigned, 4);
    assert_eq!(found, flat);
}

#[test]
fn halves_are_texels_too() {
    let Some(s) = session() else { return };
    let device = opencl3::device::Device::new(s.context.default_device());
    let extensions = device.extensions().expect("extensions");
    if !extensions.split(' ').any(|name| name == "cl_khr_fp16") {
        return;
    }
    let kernel = s.kernel(
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n\
         kernel void test(read_only image2d_t image, write_only image2d_t copy, global float4 *out) {\n\
         const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_LINEAR;\n\
         int x = get_global_id(0);\n\
         half4 texel = read_imageh(image, (int2)(x, 0));\n\
         out[x] = convert_float4(texel);\n\
         out[x + 2] = convert_float4(read_imageh(image, s, (float2)(x + 0.5f, 0.5f)));\n\
         write_imageh(copy, (int2)(x, 0), texel * (half)0.5f);\n}",
    );
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [2, 1, 1]);
    let texels = [1.0_f32, -2.0, 0.25, 1000.0, 3.0, 0.0, -0.125, 7.5];
    let image = s.image_of(CL_RGBA, CL_FLOAT, &desc, &texels);
    let copy = s.empty_image(CL_RGBA, CL_FLOAT, &desc);
    let out = s.output(16);
    s.launch(&kernel, &[image.get(), copy.get(), out.get()], 2);
    let found = s.values(&out, 16);
    assert_eq!(found[..8], texels);
    assert_eq!(found[8..], texels);
    let halved = texels.map(|value| value / 2.0);
    assert_eq!(s.read::<f32>(&copy, &[0; 3], [2, 1, 1], 8), halved);
}
