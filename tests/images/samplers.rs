//! Every mode of a sampler on every kind of image, against the formulas; and samplers as objects.

use crate::model::{Contents, KINDS, Kind, Sampler};
use crate::session::{Session, describe, session};
use opencl_sys::cl_function_types::{
    clCreateSampler_t, clCreateSamplerWithProperties_t, clGetSamplerInfo_t,
};
use opencl_sys::{
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_NORMALIZED_COORDS,
    CL_SAMPLER_PROPERTIES, cl_sampler_properties,
};
use opencl3::error_codes::{CL_INVALID_CONTEXT, CL_INVALID_VALUE, CL_SUCCESS};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_MIRRORED_REPEAT, CL_ADDRESS_NONE,
    CL_ADDRESS_REPEAT, CL_FILTER_LINEAR, CL_FILTER_NEAREST, CL_FLOAT, CL_HALF_FLOAT,
    CL_MEM_OBJECT_IMAGE2D, CL_R, CL_RGBA, CL_UNORM_INT8, Image, Sampler as Object,
};
use opencl3::types::{cl_context, cl_int};
use std::ptr;

const MODES: [u32; 5] = [
    CL_ADDRESS_NONE,
    CL_ADDRESS_CLAMP,
    CL_ADDRESS_CLAMP_TO_EDGE,
    CL_ADDRESS_REPEAT,
    CL_ADDRESS_MIRRORED_REPEAT,
];

/// Places that each launch reads.
const PLACES: usize = 128;

/// All that OpenCL gives a meaning.
fn all_samplers() -> impl Iterator<Item = Sampler> {
    let each = MODES.into_iter().flat_map(|addressing| {
        [(true, true), (true, false), (false, true), (false, false)].map(
            move |(normalized, linear)| Sampler {
                normalized,
                addressing,
                linear,
            },
        )
    });
    // "CLK_ADDRESS_REPEAT … can only be used with normalized coordinates", and the mirrored one.
    each.filter(|sampler| {
        let repeats = [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT];
        sampler.normalized || !repeats.contains(&sampler.addressing)
    })
}

/// Numbers from 0 to 1, the same in every run.
fn numbers() -> impl Iterator<Item = f32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some((state >> 40) as f32 / (1 << 24) as f32)
    })
}

/// Coordinates around the image, half of them outside; with `CLK_ADDRESS_NONE`, whose application promises it, such
/// that no texel outside is asked for.
fn places(contents: &Contents<'_>, sampler: Sampler) -> Vec<[f32; 4]> {
    let mut numbers = numbers();
    let mut places = Vec::new();
    while places.len() < PLACES {
        let mut place = [0.0; 4];
        for (axis, &size) in contents.sizes.iter().enumerate() {
            let size = size as f32;
            let number = numbers.next().unwrap();
            let is_layer = axis == contents.kind.axes;
            let texels = match sampler.addressing {
                CL_ADDRESS_NONE if !is_layer => 0.5 + number * (size - 1.0),
                _ => (number * 3.0 - 1.0) * size,
            };
            place[axis] = if sampler.normalized && !is_layer {
                texels / size
            } else {
                texels
            };
        }
        if !contents.is_between(sampler, &place) {
            places.push(place);
        }
    }
    places
}

impl Session {
    fn reader(&self, kind: Kind, coordinate: &str) -> Kernel {
        let Kind { name, .. } = kind;
        let swizzle = kind.swizzle();
        self.kernel(&format!(
            "kernel void test(read_only {name} image, sampler_t sampler, global const {coordinate}4 *at, \
             global float4 *out) {{\n\
             size_t i = get_global_id(0);\n\
             out[i] = read_imagef(image, sampler, at[i]{swizzle});\n}}"
        ))
    }

    /// What a kernel reads at the places.
    fn read_at<T>(
        &self,
        kernel: &Kernel,
        image: &Image,
        sampler: Sampler,
        places: &[[T; 4]],
    ) -> Vec<[f32; 4]> {
        let object = self.sampler(sampler.normalized, sampler.addressing, sampler.linear);
        let at = self.buffer_of(places);
        let out = self.output(4 * places.len());
        // SAFETY: the arguments are the kernel's.
        unsafe {
            ExecuteKernel::new(kernel)
                .set_arg(image)
                .set_arg(&object)
                .set_arg(&at)
                .set_arg(&out)
                .set_global_work_size(places.len())
                .enqueue_nd_range(&self.queue)
                .expect("a launch");
        }
        let found = self.values(&out, 4 * places.len());
        found
            .chunks_exact(4)
            .map(|it| [it[0], it[1], it[2], it[3]])
            .collect()
    }

    /// Reads by every sampler, and finds what the formulas say up to `tolerance` where texels are mixed, and `exact`
    /// where they are not.
    fn check_samplers(&self, contents: &Contents<'_>, image: &Image, exact: f64, tolerance: f64) {
        let kernel = self.reader(contents.kind, "float");
        for sampler in all_samplers() {
            let places = places(contents, sampler);
            let found = self.read_at(&kernel, image, sampler, &places);
            let limit = if sampler.linear { tolerance } else { exact };
            for (place, got) in places.iter().zip(found) {
                let wanted = contents.read(sampler, place);
                let errors = got
                    .iter()
                    .zip(wanted)
                    .map(|(&got, wanted)| (f64::from(got) - wanted).abs());
                assert!(
                    errors.fold(0.0, f64::max) <= limit,
                    "{} {sampler:x?} at {place:?}: {got:?} not {wanted:?}",
                    contents.kind.name
                );
            }
        }
    }
}

/// Texels of one float, and what a read makes of them.
fn single_floats(count: usize) -> (Vec<f32>, Vec<[f64; 4]>) {
    let texels: Vec<f32> = (0..count)
        .map(|i| ((i * 37) % 64) as f32 / 4.0 - 3.0)
        .collect();
    let read = texels.iter().map(|&texel| [texel.into(), 0.0, 0.0, 1.0]);
    let read = read.collect();
    (texels, read)
}

/// Checks a small image of every kind.
fn for_every_kind(s: &Session, check: impl Fn(&Contents<'_>, &Image)) {
    for kind in KINDS {
        let size = kind.region([7, 5, 3]);
        let (floats, texels) = single_floats(size.iter().product());
        let desc = describe(kind.image_type, size);
        let image = s.image_of(CL_R, CL_FLOAT, &desc, &floats);
        let contents = Contents {
            kind,
            sizes: &kind.sizes(size),
            texels: &texels,
            // CL_R: opaque.
            border: [0.0, 0.0, 0.0, 1.0],
        };
        check(&contents, &image);
    }
}

#[test]
fn every_sampler_reads_as_the_formulas_say() {
    let Some(s) = session() else { return };
    for_every_kind(&s, |contents, image| {
        s.check_samplers(contents, image, 0.0, 2e-4);
    });
}

#[test]
fn whole_numbers_are_coordinates_of_texels() {
    let Some(s) = session() else { return };
    for_every_kind(&s, |contents, image| {
        let kernel = s.reader(contents.kind, "int");
        for addressing in [CL_ADDRESS_NONE, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE] {
            let mut numbers = numbers();
            let mut place = || {
                let mut place = [0_i32; 4];
                for (place, &size) in place.iter_mut().zip(contents.sizes) {
                    let number = numbers.next().unwrap() * size as f32;
                    *place = match addressing {
                        CL_ADDRESS_NONE => number as i32,
                        _ => (number * 3.0) as i32 - size as i32,
                    };
                }
                place
            };
            let mut places: Vec<[i32; 4]> = (0..PLACES).map(|_| place()).collect();
            if addressing != CL_ADDRESS_NONE {
                places.extend([[i32::MAX; 4], [i32::MIN; 4]]);
            }
            let sampler = Sampler {
                normalized: false,
                addressing,
                linear: false,
            };
            let found = s.read_at(&kernel, image, sampler, &places);
            for (place, got) in places.iter().zip(found) {
                let wanted = contents.fetch(addressing, place);
                let what = format!("{} {addressing:#x} at {place:?}", contents.kind.name);
                assert_eq!(got.map(f64::from), wanted, "{what}");
            }
        }
    });
}

/// Rows of whole 256 bytes, which a texture unit can read. Its weights may have 8 bits: the conformance tests allow
/// 2^-7 of the range.
#[test]
fn texture_units_read_as_the_formulas_say() {
    let Some(s) = session() else { return };
    let kind = KINDS[2];
    assert_eq!(kind.image_type, CL_MEM_OBJECT_IMAGE2D);
    let size = [64, 5, 1];
    let (floats, texels) = single_floats(320);
    let desc = describe(kind.image_type, size);
    let sizes = kind.sizes(size);
    let image = s.image_of(CL_R, CL_FLOAT, &desc, &floats);
    let contents = Contents {
        kind,
        sizes: &sizes,
        texels: &texels,
        border: [0.0, 0.0, 0.0, 1.0],
    };
    s.check_samplers(&contents, &image, 0.0, 16.0 / 128.0);

    let bytes: Vec<[u8; 4]> = (0..320_u32)
        .map(|i| i.wrapping_mul(0x0713_2b35).to_be_bytes())
        .collect();
    let image = s.image_of(CL_RGBA, CL_UNORM_INT8, &desc, &bytes);
    let unorm = |byte: u8| f64::from(byte) / 255.0;
    let texels: Vec<[f64; 4]> = bytes.iter().map(|texel| texel.map(unorm)).collect();
    let contents = Contents {
        texels: &texels,
        border: [0.0; 4],
        ..contents
    };
    s.check_samplers(&contents, &image, 1e-6, 1.0 / 128.0);

    // 0x3c00 is 1, 0x4000 is 2, and what is between them lies on a line.
    let halves: Vec<[u16; 4]> = (0..320_u32)
        .map(|i| [0, 1, 2, 3].map(|channel| 0x3c00 + ((i * 211 + channel * 57) % 1024) as u16))
        .collect();
    let image = s.image_of(CL_RGBA, CL_HALF_FLOAT, &desc, &halves);
    let number = |half: u16| 1.0 + f64::from(half - 0x3c00) / 1024.0;
    let texels: Vec<[f64; 4]> = halves.iter().map(|texel| texel.map(number)).collect();
    let contents = Contents {
        texels: &texels,
        ..contents
    };
    s.check_samplers(&contents, &image, 1e-6, 2.0 / 128.0);
}

/// `clCreateSamplerWithProperties`, and its code.
fn create(
    context: cl_context,
    properties: Option<&[cl_sampler_properties]>,
) -> Result<Object, cl_int> {
    let create = entry!(
        clCreateSamplerWithProperties_t,
        "clCreateSamplerWithProperties"
    );
    let properties = properties.map_or(ptr::null(), <[_]>::as_ptr);
    let mut status = CL_SUCCESS;
    // SAFETY: NULL, or a list that ends with 0.
    let sampler = unsafe { create(context, properties, &mut status) };
    match status {
        CL_SUCCESS => Ok(Object::new(sampler)),
        code => Err(code),
    }
}

#[test]
fn samplers_are_what_they_were_made_as() {
    let Some(s) = session() else { return };
    let context = s.context.get();
    let made = |properties: Option<&[cl_sampler_properties]>| {
        create(context, properties).expect("a sampler")
    };
    let linear: [cl_sampler_properties; 5] = [
        CL_SAMPLER_FILTER_MODE.into(),
        CL_FILTER_LINEAR.into(),
        CL_SAMPLER_ADDRESSING_MODE.into(),
        CL_ADDRESS_REPEAT.into(),
        0,
    ];
    let nothing: [cl_sampler_properties; 1] = [0];
    let info = entry!(clGetSamplerInfo_t, "clGetSamplerInfo");
    let plain = (CL_FILTER_NEAREST, CL_ADDRESS_CLAMP);
    let repeated = (CL_FILTER_LINEAR, CL_ADDRESS_REPEAT);
    for (sampler, (filter, addressing), properties) in [
        (made(None), plain, &[][..]),
        (made(Some(&nothing)), plain, &nothing),
        (made(Some(&linear)), repeated, &linear),
    ] {
        assert_eq!(sampler.filter_mode().map_err(|error| error.0), Ok(filter));
        let mode = sampler.addressing_mode().map_err(|error| error.0);
        assert_eq!(mode, Ok(addressing));
        let normalized = sampler.normalized_coords().map_err(|error| error.0);
        assert_eq!(normalized, Ok(true));
        let (mut found, mut bytes) = ([0_u64; 8], 0);
        // SAFETY: room for what is said.
        let status = unsafe {
            let room = size_of_val(&found);
            let into = found.as_mut_ptr().cast();
            info(sampler.get(), CL_SAMPLER_PROPERTIES, room, into, &mut bytes)
        };
        assert_eq!((status, bytes), (CL_SUCCESS, size_of_val(properties)));
        assert_eq!(&found[..properties.len()], properties);
        assert_eq!(sampler.context().map_err(|error| error.0), Ok(context));
        assert_eq!(sampler.reference_count().map_err(|error| error.0), Ok(1));
    }
}

/// "CL_INVALID_VALUE if addressing_mode, filter_mode, normalized_coords or a combination of these arguments are not
/// valid": addressing that repeats "can only be used with normalized coordinates".
#[test]
fn samplers_that_repeat_have_normalized_coordinates() {
    let Some(s) = session() else { return };
    let plain = entry!(clCreateSampler_t, "clCreateSampler");
    for mode in MODES {
        for normalized in [0, 1] {
            let repeats = [CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT].contains(&mode);
            let expected = if repeats && normalized == 0 {
                CL_INVALID_VALUE
            } else {
                CL_SUCCESS
            };
            let mut status = 1;
            let context = s.context.get();
            // SAFETY: a context, and room for the code.
            let sampler =
                unsafe { plain(context, normalized, mode, CL_FILTER_NEAREST, &mut status) };
            assert_eq!(status, expected, "{mode:#x} {normalized}");
            assert_eq!(sampler.is_null(), status != CL_SUCCESS);
            if !sampler.is_null() {
                drop(Object::new(sampler));
            }
            let properties: [cl_sampler_properties; 5] = [
                CL_SAMPLER_ADDRESSING_MODE.into(),
                mode.into(),
                CL_SAMPLER_NORMALIZED_COORDS.into(),
                normalized.into(),
                0,
            ];
            let made = create(context, Some(&properties)).map(drop);
            assert_eq!(
                made.err().unwrap_or(CL_SUCCESS),
                expected,
                "{mode:#x} {normalized}"
            );
        }
    }
}

#[test]
fn properties_that_are_none_are_refused_after_the_context() {
    let Some(s) = session() else { return };
    let context = s.context.get();
    let filter = cl_sampler_properties::from(CL_SAMPLER_FILTER_MODE);
    let (nearest, repeat) = (CL_FILTER_NEAREST.into(), CL_ADDRESS_REPEAT.into());
    let bad: [&[cl_sampler_properties]; 5] = [
        &[filter, nearest, filter, nearest, 0],
        &[filter, repeat, 0],
        &[CL_SAMPLER_ADDRESSING_MODE.into(), nearest, 0],
        &[CL_SAMPLER_NORMALIZED_COORDS.into(), 2, 0],
        &[0x1234, 1, 0],
    ];
    for properties in bad {
        let code = |context| create(context, Some(properties)).err();
        assert_eq!(code(context), Some(CL_INVALID_VALUE), "{properties:x?}");
        assert_eq!(
            code(ptr::null_mut()),
            Some(CL_INVALID_CONTEXT),
            "{properties:x?}"
        );
    }
}
