//! Every format that `clGetSupportedImageFormats` lists: read and written by kernels, filled, and what lies around it,
//! against the specification's tables of channel orders and data types.

use crate::kinds::srgb_of_linear;
use crate::model::KINDS;
use crate::session::{Session, describe, over, session};
use opencl_sys::{
    CL_ABGR, CL_ARGB, CL_DEPTH, CL_SIGNED_INT16, CL_SNORM_INT8, CL_UNORM_INT_101010,
    CL_UNORM_INT_101010_2, CL_UNORM_SHORT_555, CL_UNSIGNED_INT16, CL_sBGRA, CL_sRGBA,
};
use opencl3::kernel::Kernel;
use opencl3::memory::{
    Buffer, CL_A, CL_BGRA, CL_FLOAT, CL_HALF_FLOAT, CL_INTENSITY, CL_LUMINANCE,
    CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_READ_WRITE, CL_R, CL_RA, CL_RG, CL_RGB, CL_RGBA,
    CL_SIGNED_INT8, CL_SIGNED_INT32, CL_SNORM_INT16, CL_UNORM_INT8, CL_UNORM_SHORT_565,
    CL_UNSIGNED_INT8, CL_UNSIGNED_INT32, ClMem, Image,
};
use opencl3::types::{cl_image_desc, cl_image_format};
use std::collections::HashMap;

/// Where the stored channels go. `I` is all four components, `L` the first three.
fn stored(order: u32) -> &'static str {
    match order {
        CL_R | CL_DEPTH => "R",
        CL_A => "A",
        CL_RG => "RG",
        CL_RA => "RA",
        CL_RGB => "RGB",
        CL_RGBA => "RGBA",
        CL_BGRA => "BGRA",
        curved if curved == CL_sRGBA => "RGBA",
        curved if curved == CL_sBGRA => "BGRA",
        CL_ARGB => "ARGB",
        CL_ABGR => "ABGR",
        CL_INTENSITY => "I",
        CL_LUMINANCE => "L",
        other => panic!("no test knows the order {other:#x}"),
    }
}

/// Section 8.1.2 "Border Color".
fn border_alpha(order: u32) -> f64 {
    match order {
        CL_R | CL_RG | CL_RGB | CL_LUMINANCE => 1.0,
        _ => 0.0,
    }
}

/// Lowest bit and width of each stored channel.
fn fields(channel_type: u32, count: usize) -> Vec<(usize, usize)> {
    let equal = |width: usize| (0..count).map(|index| (index * width, width)).collect();
    match channel_type {
        CL_SNORM_INT8 | CL_UNORM_INT8 | CL_SIGNED_INT8 | CL_UNSIGNED_INT8 => equal(8),
        CL_SIGNED_INT32 | CL_UNSIGNED_INT32 | CL_FLOAT => equal(32),
        CL_UNORM_SHORT_565 => vec![(11, 5), (5, 6), (0, 5)],
        CL_UNORM_SHORT_555 => vec![(10, 5), (5, 5), (0, 5)],
        CL_UNORM_INT_101010 => vec![(20, 10), (10, 10), (0, 10)],
        CL_UNORM_INT_101010_2 => vec![(22, 10), (12, 10), (2, 10), (0, 2)],
        _ => equal(16),
    }
}

fn texel_bytes(format: cl_image_format) -> usize {
    match format.image_channel_data_type {
        CL_UNORM_SHORT_565 | CL_UNORM_SHORT_555 => 2,
        CL_UNORM_INT_101010 | CL_UNORM_INT_101010_2 => 4,
        channel_type => {
            let channels = stored(format.image_channel_order).len();
            let (bit, width) = fields(channel_type, channels)[channels - 1];
            (bit + width) / 8
        }
    }
}

/// Of 16 bits, not infinite and no NaN.
fn half(bits: u64) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
    sign * match exponent {
        0 => mantissa * 2.0_f64.powi(-24),
        _ => (1.0 + mantissa / 1024.0) * 2.0_f64.powi(exponent - 15),
    }
}

/// The number that a channel's bits stand for; on the sRGB curve where the order has it.
fn number(channel_type: u32, bits: u64, width: usize) -> f64 {
    let signed = (bits << (64 - width)) as i64 >> (64 - width);
    match channel_type {
        CL_SNORM_INT8 | CL_SNORM_INT16 => {
            (signed as f64 / f64::from((1 << (width - 1)) - 1)).max(-1.0)
        }
        CL_SIGNED_INT8 | CL_SIGNED_INT16 | CL_SIGNED_INT32 => signed as f64,
        CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32 => bits as f64,
        CL_HALF_FLOAT => half(bits),
        CL_FLOAT => f32::from_bits(bits as u32).into(),
        _ => bits as f64 / ((1_u64 << width) - 1) as f64,
    }
}

/// How texels are read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Numbers {
    Float,
    Signed,
    Unsigned,
    Depth,
}

fn numbers(format: cl_image_format) -> Numbers {
    match (format.image_channel_order, format.image_channel_data_type) {
        (CL_DEPTH, _) => Numbers::Depth,
        (_, CL_SIGNED_INT8 | CL_SIGNED_INT16 | CL_SIGNED_INT32) => Numbers::Signed,
        (_, CL_UNSIGNED_INT8 | CL_UNSIGNED_INT16 | CL_UNSIGNED_INT32) => Numbers::Unsigned,
        _ => Numbers::Float,
    }
}

/// Which component (of red, green, blue, alpha) each stored channel is of.
fn components(order: u32) -> Vec<usize> {
    let component = |letter: char| "RGBA".find(letter).unwrap_or(0);
    stored(order).chars().map(component).collect()
}

/// The stored channels of a texel as numbers.
fn channels(format: cl_image_format, texel: &[u8]) -> Vec<f64> {
    let (order, channel_type) = (format.image_channel_order, format.image_channel_data_type);
    let mut wide = [0_u8; 16];
    wide[..texel.len()].copy_from_slice(texel);
    let word = u128::from_le_bytes(wide);
    fields(channel_type, stored(order).len())
        .into_iter()
        .map(|(bit, width)| {
            let bits = (word >> bit) as u64 & ((1_u64 << width) - 1);
            number(channel_type, bits, width)
        })
        .collect()
}

/// What a read gives of a texel; sRGB as it is stored.
fn decoded(format: cl_image_format, texel: &[u8]) -> [f64; 4] {
    let order = format.image_channel_order;
    let channels = channels(format, texel);
    match stored(order) {
        "I" => [channels[0]; 4],
        "L" => [channels[0], channels[0], channels[0], 1.0],
        _ => {
            let mut all = [0.0, 0.0, 0.0, 1.0];
            for (component, channel) in components(order).into_iter().zip(channels) {
                all[component] = channel;
            }
            all
        }
    }
}

fn is_srgb(format: cl_image_format) -> bool {
    [CL_sRGBA, CL_sBGRA].contains(&format.image_channel_order)
}

/// Texels that are numbers all of them.
fn contents(format: cl_image_format, texels: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let mut bytes: Vec<u8> = (0..texels * texel_bytes(format))
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    match format.image_channel_data_type {
        CL_HALF_FLOAT => bytes.chunks_exact_mut(2).for_each(|it| it[1] &= 0xbf),
        // Neither infinite nor NaN, nor so small that a device may take it for 0.
        CL_FLOAT => bytes
            .chunks_exact_mut(4)
            .for_each(|it| it[3] = it[3] & 0x81 | 0x3e),
        _ => {}
    }
    bytes
}

/// A kernel that reads each texel, writes it to another image, and reads one outside.
fn kernel(
    s: &Session,
    name: &str,
    coordinate: &str,
    numbers: Numbers,
    region: [usize; 3],
) -> Kernel {
    let (suffix, texel, ty) = match numbers {
        Numbers::Float => ("f", "TEXEL", "float4"),
        Numbers::Signed => ("i", "TEXEL", "int4"),
        Numbers::Unsigned => ("ui", "TEXEL", "uint4"),
        Numbers::Depth => ("f", "(float4)(TEXEL, 0, 0, 1)", "float"),
    };
    let name = match numbers {
        Numbers::Depth => name.replace("_t", "_depth_t"),
        _ => name.to_owned(),
    };
    // Images over buffers are read without samplers.
    let sampler = if name == "image1d_buffer_t" {
        ""
    } else {
        "s, "
    };
    let [width, height, _] = region;
    let of = |at: &str| format!("read_image{suffix}(image, {sampler}{at}{coordinate})");
    let bits = |value: &str| texel.replace("TEXEL", value);
    let outside = if sampler.is_empty() {
        String::new()
    } else {
        format!(
            "out[n] = as_uint4({});\n",
            bits(&of("((int4)(-1, 0, 0, 0))"))
        )
    };
    s.kernel(&format!(
        "kernel void test(read_only {name} image, write_only {name} copy, global uint4 *out) {{\n\
         const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;\n\
         int i = get_global_id(0), n = get_global_size(0);\n\
         int4 at = (int4)(i % {width}, i / {width} % {height}, i / {}, 0);\n\
         {ty} texel = {};\n\
         out[i] = as_uint4({});\n\
         write_image{suffix}(copy, at{coordinate}, texel);\n\
         {outside}}}",
        width * height,
        of("at"),
        bits("texel"),
    ))
}

/// Four numbers of a kernel's output.
fn output(numbers: Numbers, words: &[u32]) -> [f64; 4] {
    let number = |word: u32| match numbers {
        Numbers::Signed => f64::from(word as i32),
        Numbers::Unsigned => f64::from(word),
        _ => f64::from(f32::from_bits(word)),
    };
    [0, 1, 2, 3].map(|index| number(words[index]))
}

/// Compares what a kernel has read with the stored numbers.
fn assert_read(format: cl_image_format, got: [f64; 4], wanted: [f64; 4]) {
    for (component, (got, wanted)) in got.into_iter().zip(wanted).enumerate() {
        // "… must be within 0.5 ulp of the original sRGB value": of 8 bits. Others within 1.5 ulp.
        let (error, limit) = if is_srgb(format) && component < 3 {
            ((srgb_of_linear(got) - wanted).abs(), 0.5 / 255.0)
        } else {
            ((got - wanted).abs(), wanted.abs() * 2e-7)
        };
        assert!(
            error <= limit,
            "{format:?}, component {component}: {got} not {wanted}"
        );
    }
}

const COLOR: [f32; 4] = [0.25, 0.5, 0.75, 1.0];
const INTEGERS: [i32; 4] = [100, 7, 33, 1];

/// Fills the image, and looks at each stored channel.
fn check_fill(s: &Session, image: &mut Image, format: cl_image_format, region: [usize; 3]) {
    let numbers = numbers(format);
    let color = match numbers {
        Numbers::Float | Numbers::Depth => COLOR.map(f32::to_bits),
        _ => INTEGERS.map(|value| value as u32),
    };
    // SAFETY: four components and three numbers each.
    unsafe {
        let origin = [0; 3];
        s.queue
            .enqueue_fill_image(
                image,
                color.as_ptr().cast(),
                origin.as_ptr(),
                region.as_ptr(),
                &[],
            )
            .expect("a fill");
    }
    let bytes = texel_bytes(format);
    let texels: usize = region.iter().product();
    let found = s.read::<u8>(image, &[0; 3], region, texels * bytes);
    let order = format.image_channel_order;
    let widths = fields(format.image_channel_data_type, stored(order).len());
    for texel in found.chunks_exact(bytes) {
        let parts = components(order).into_iter().zip(channels(format, texel));
        for ((component, got), &(_, width)) in parts.zip(&widths) {
            let wanted = match numbers {
                Numbers::Signed | Numbers::Unsigned => f64::from(INTEGERS[component]),
                _ if is_srgb(format) && component < 3 => srgb_of_linear(COLOR[component].into()),
                _ => f64::from(COLOR[component]),
            };
            let limit = match (numbers, format.image_channel_data_type) {
                (Numbers::Signed | Numbers::Unsigned, _) | (_, CL_FLOAT | CL_HALF_FLOAT) => 0.0,
                (_, CL_SNORM_INT8 | CL_SNORM_INT16) => 0.6 / f64::from((1 << (width - 1)) - 1),
                _ => 0.6 / f64::from((1 << width) - 1),
            };
            assert!(
                (got - wanted).abs() <= limit,
                "{format:?} is filled with {got} for {wanted}"
            );
        }
    }
}

fn check_format(
    s: &Session,
    kernel: &Kernel,
    format: cl_image_format,
    desc: &cl_image_desc,
    region: [usize; 3],
    has_border: bool,
) {
    let (order, channel_type) = (format.image_channel_order, format.image_channel_data_type);
    let texels: usize = region.iter().product();
    let size = texel_bytes(format);
    let bytes = contents(format, texels);
    // Over a buffer, an image has no memory of its own.
    let [mut image, copy] = if desc.buffer.is_null() {
        [
            s.image_of(order, channel_type, desc, &bytes),
            s.empty_image(order, channel_type, desc),
        ]
    } else {
        let of = |bytes: &[u8]| -> (Buffer<u8>, Image) {
            let buffer = s.buffer_of(bytes);
            let desc = over(&buffer, CL_MEM_OBJECT_IMAGE1D_BUFFER, region);
            let image = s.empty_image(order, channel_type, &desc);
            (buffer, image)
        };
        [of(&bytes).1, of(&vec![0; bytes.len()]).1]
    };
    assert_eq!(image.element_size().map_err(|error| error.0), Ok(size));
    let out = s.buffer_of(&vec![0_u32; 4 * (texels + 1)]);
    s.launch(kernel, &[image.get(), copy.get(), out.get()], texels);
    let found = s.values(&out, 4 * (texels + 1));
    let numbers = numbers(format);
    for (texel, words) in bytes.chunks_exact(size).zip(found.chunks_exact(4)) {
        assert_read(format, output(numbers, words), decoded(format, texel));
    }
    if has_border {
        let got = output(numbers, &found[4 * texels..]);
        let alpha = match numbers {
            // One number, to which the test's kernel adds three.
            Numbers::Depth => 1.0,
            _ => border_alpha(order),
        };
        assert_eq!(got, [0.0, 0.0, 0.0, alpha], "the border of {format:?}");
    }
    let written = s.read::<u8>(&copy, &[0; 3], region, bytes.len());
    for (wanted, got) in bytes.chunks_exact(size).zip(written.chunks_exact(size)) {
        // As numbers: bits without a meaning, and the two -1, may differ.
        let [wanted, got] = [wanted, got].map(|texel| channels(format, texel));
        assert_eq!(got, wanted, "{format:?} read and written");
    }
    check_fill(s, &mut image, format, region);
}

#[test]
fn every_listed_format_is_read_written_and_filled() {
    let Some(s) = session() else { return };
    let types = KINDS
        .map(|kind| (kind.image_type, kind.name, kind.swizzle(), true))
        .into_iter()
        .chain([(
            CL_MEM_OBJECT_IMAGE1D_BUFFER,
            "image1d_buffer_t",
            ".x",
            false,
        )]);
    for (place, (image_type, name, swizzle, has_border)) in types.enumerate() {
        let formats = s
            .context
            .get_supported_image_formats(CL_MEM_READ_WRITE, image_type)
            .expect("formats");
        assert!(formats.len() > 40, "{name}: {}", formats.len());
        let is_flat = name == "image2d_t";
        let size = KINDS
            .iter()
            .find(|kind| kind.image_type == image_type)
            .map_or([24, 1, 1], |kind| kind.region([8, 3, 2]));
        // Of a 1D array the layers are rows of a region.
        let region = match name {
            "image1d_array_t" => [size[0], size[2], 1],
            _ => size,
        };
        let mut kernels: HashMap<Numbers, Kernel> = HashMap::new();
        for (index, &format) in formats.iter().enumerate() {
            // All of the flat ones, and of the others each a part: what a format is has nothing to do with the kind.
            if !is_flat && index % 5 != place % 5 {
                continue;
            }
            let numbers = numbers(format);
            let kernel = kernels
                .entry(numbers)
                .or_insert_with(|| kernel(&s, name, swizzle, numbers, region));
            let some = s.buffer_of(&[0_u8; 1]);
            let desc = if has_border {
                describe(image_type, size)
            } else {
                over(&some, image_type, size)
            };
            check_format(&s, kernel, format, &desc, region, has_border);
        }
    }
}
