//! OpenCL C for reads and writes of mip levels (cl_khr_mipmap_image, cl_khr_mipmap_image_writes), put before
//! every source with such calls.
//!
//! clang-22 declares `read_imagef(image, sampler, coord, lod)` and the others, but its SPIR-V back end drops the
//! level and the gradients, and takes the level that is written to for the colour. Under another name the calls
//! stay calls, which our parser knows. A macro can't tell a call with a level from one without: a compound literal
//! among the arguments makes them look like more. So all calls get the other name, under which all overloads are
//! declared, those without a level too.

const DECLARATIONS: &str = "\
#ifdef cl_khr_mipmap_image\n\
#define __PUMICE_F __attribute__((overloadable))\n\
#define __PUMICE_P __attribute__((overloadable, pure))\n\
#define __PUMICE_N(Q, I, N, R, C) R __PUMICE_P N(Q I, C);\n\
#define __PUMICE_S(Q, I, N, R, C, F) R __PUMICE_P N(Q I, sampler_t, C); R __PUMICE_P N(Q I, sampler_t, F);\n\
#define __PUMICE_L(Q, I, N, R, F, G) R __PUMICE_P N(Q I, sampler_t, F, float); \
R __PUMICE_P N(Q I, sampler_t, F, G, G);\n\
#define __PUMICE_R(Q, I, C) __PUMICE_N(Q, I, __pumice_read_imagef, float4, C) \
__PUMICE_N(Q, I, __pumice_read_imagei, int4, C) __PUMICE_N(Q, I, __pumice_read_imageui, uint4, C)\n\
#define __PUMICE_I(Q, I, C, F) __PUMICE_S(Q, I, __pumice_read_imagef, float4, C, F) \
__PUMICE_S(Q, I, __pumice_read_imagei, int4, C, F) __PUMICE_S(Q, I, __pumice_read_imageui, uint4, C, F)\n\
#define __PUMICE_M(Q, I, F, G) __PUMICE_L(Q, I, __pumice_read_imagef, float4, F, G) \
__PUMICE_L(Q, I, __pumice_read_imagei, int4, F, G) __PUMICE_L(Q, I, __pumice_read_imageui, uint4, F, G)\n\
#define __PUMICE_A(Q) __PUMICE_R(Q, image1d_t, int) __PUMICE_R(Q, image1d_array_t, int2) \
__PUMICE_R(Q, image2d_t, int2) __PUMICE_R(Q, image2d_array_t, int4) __PUMICE_R(Q, image3d_t, int4) \
__PUMICE_R(Q, image1d_buffer_t, int) __PUMICE_N(Q, image2d_depth_t, __pumice_read_imagef, float, int2) \
__PUMICE_N(Q, image2d_array_depth_t, __pumice_read_imagef, float, int4) \
__PUMICE_M(Q, image1d_t, float, float) __PUMICE_M(Q, image1d_array_t, float2, float) \
__PUMICE_M(Q, image2d_t, float2, float2) __PUMICE_M(Q, image2d_array_t, float4, float2) \
__PUMICE_M(Q, image3d_t, float4, float4) \
__PUMICE_L(Q, image2d_depth_t, __pumice_read_imagef, float, float2, float2) \
__PUMICE_L(Q, image2d_array_depth_t, __pumice_read_imagef, float, float4, float2)\n\
#define __PUMICE_V(Q, I, N, T, C) void __PUMICE_F N(Q I, C, T); void __PUMICE_F N(Q I, C, int, T);\n\
#define __PUMICE_W(Q, I, C) __PUMICE_V(Q, I, __pumice_write_imagef, float4, C) \
__PUMICE_V(Q, I, __pumice_write_imagei, int4, C) __PUMICE_V(Q, I, __pumice_write_imageui, uint4, C)\n\
#define __PUMICE_B(Q) __PUMICE_W(Q, image1d_t, int) __PUMICE_W(Q, image1d_array_t, int2) \
__PUMICE_W(Q, image2d_t, int2) __PUMICE_W(Q, image2d_array_t, int4) __PUMICE_W(Q, image3d_t, int4) \
void __PUMICE_F __pumice_write_imagef(Q image1d_buffer_t, int, float4); \
void __PUMICE_F __pumice_write_imagei(Q image1d_buffer_t, int, int4); \
void __PUMICE_F __pumice_write_imageui(Q image1d_buffer_t, int, uint4); \
__PUMICE_V(Q, image2d_depth_t, __pumice_write_imagef, float, int2) \
__PUMICE_V(Q, image2d_array_depth_t, __pumice_write_imagef, float, int4)\n\
__PUMICE_A(read_only) __PUMICE_B(write_only)\n\
__PUMICE_I(read_only, image1d_t, int, float) __PUMICE_I(read_only, image1d_array_t, int2, float2) \
__PUMICE_I(read_only, image2d_t, int2, float2) __PUMICE_I(read_only, image2d_array_t, int4, float4) \
__PUMICE_I(read_only, image3d_t, int4, float4) \
__PUMICE_S(read_only, image2d_depth_t, __pumice_read_imagef, float, int2, float2) \
__PUMICE_S(read_only, image2d_array_depth_t, __pumice_read_imagef, float, int4, float4)\n\
#ifdef __opencl_c_read_write_images\n\
__PUMICE_A(read_write) __PUMICE_B(read_write)\n\
#endif\n\
#undef __PUMICE_F\n#undef __PUMICE_P\n#undef __PUMICE_N\n#undef __PUMICE_S\n#undef __PUMICE_L\n\
#undef __PUMICE_R\n#undef __PUMICE_I\n#undef __PUMICE_M\n#undef __PUMICE_A\n#undef __PUMICE_V\n\
#undef __PUMICE_W\n#undef __PUMICE_B\n\
#define read_imagef(...) __pumice_read_imagef(__VA_ARGS__)\n\
#define read_imagei(...) __pumice_read_imagei(__VA_ARGS__)\n\
#define read_imageui(...) __pumice_read_imageui(__VA_ARGS__)\n\
#define write_imagef(...) __pumice_write_imagef(__VA_ARGS__)\n\
#define write_imagei(...) __pumice_write_imagei(__VA_ARGS__)\n\
#define write_imageui(...) __pumice_write_imageui(__VA_ARGS__)\n\
#endif\n";

/// What a source needs; empty for one without levels. `elsewhere` says that more of the program comes from other
/// files.
pub fn prelude(source: &str, elsewhere: bool) -> &'static str {
    let accesses = || {
        ["read_image", "write_image"]
            .iter()
            .flat_map(|name| source.match_indices(name))
    };
    let names_level = |(at, name): (usize, &str)| {
        let arguments = source
            .get(at + name.len()..)
            .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphabetic()));
        arguments.is_some_and(|rest| commas(rest.trim_start()) >= 3)
    };
    let mentions = source.contains("mipmap") && accesses().next().is_some();
    if elsewhere || mentions || accesses().any(names_level) {
        DECLARATIONS
    } else {
        ""
    }
}

/// Commas between the arguments of a call, `text` starting with its parenthesis.
fn commas(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut commas = 0;
    if !text.starts_with('(') {
        return 0;
    }
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth <= 1 => break,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 1 => commas += 1,
            _ => {}
        }
    }
    commas
}

#[cfg(test)]
mod tests {
    use super::prelude;

    #[test]
    fn only_calls_with_a_level_need_it() {
        let needs = |source: &str| !prelude(source, false).is_empty();
        assert!(!needs(
            "read_imagef(image, s, (float2)(x, y)); f(a, b, c, d)"
        ));
        assert!(!needs("read_imagei(image, s, (int2){x[f(1, 2)], y})"));
        assert!(!needs("write_imagef(image, (int2)(x, y), color)"));
        assert!(needs("read_imagef (image, s, (float2)(x, y), 1.5f)"));
        assert!(needs("read_imageui(image, s, xy, dx, dy)"));
        assert!(needs("write_imagei(image, at, 1, color)"));
        assert!(needs("#pragma cl_khr_mipmap_image\nread_imagef MACRO"));
        assert!(!prelude("", true).is_empty());
        assert!(!needs("read_imagef"));
    }
}
