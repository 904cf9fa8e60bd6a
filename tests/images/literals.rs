//! Calls that hold commas which are none between arguments, beside the macros that mip levels take.

use crate::session::{Session, describe, over, session};
use cl3::kernel::create_kernel;
use cl3::program::{compile_program, create_program_with_source, link_program, release_program};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{
    CL_FLOAT, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_R,
    CL_RGBA, CL_SIGNED_INT32, CL_UNSIGNED_INT32, ClMem,
};
use opencl3::types::{cl_mem, cl_program};
use std::ptr;

/// Anywhere in a program, the word turns the macros on.
const INCLUDE: &str = "// include\n";

impl Session {
    /// `clCompileProgram`
    fn compile(&self, source: &str) -> cl_program {
        let devices = self.context.devices();
        let program = create_program_with_source(self.context.get(), &[source]).expect("a program");
        compile_program(
            program,
            devices,
            c"-cl-std=CL3.0",
            &[],
            &[],
            None,
            ptr::null_mut(),
        )
        .expect("it compiles");
        program
    }

    /// The kernel `test` of what `clLinkProgram` makes of the programs, which it releases.
    fn linked(&self, programs: &[cl_program]) -> Kernel {
        let (context, devices) = (self.context.get(), self.context.devices());
        // SAFETY: live handles, each released once.
        unsafe {
            let linked = link_program(context, devices, c"", programs, None, ptr::null_mut())
                .expect("they link");
            let kernel = create_kernel(linked, c"test").expect("a kernel");
            for &program in programs.iter().chain([&linked]) {
                release_program(program).expect("a live program");
            }
            Kernel::new(kernel)
        }
    }
}

#[test]
fn compound_literals_are_arguments_like_others() {
    let Some(s) = session() else { return };
    let kernel = s.kernel(&format!(
        "{INCLUDE}\
         kernel void test(write_only image3d_t volume, write_only image1d_buffer_t line,\n\
         read_only image3d_t from, read_only image1d_buffer_t numbers, global float4 *out) {{\n\
         const sampler_t s = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n\
         int x = get_global_id(0);\n\
         float r = x + 1, g = 2, b = 3, a = 4;\n\
         write_imagef(volume, (int4){{x, 1, 0, 0}}, (float4){{r, g, b, a}});\n\
         write_imagef(volume, (int4){{x, 0, 0, 0}}, (float4)(r, g, b, -a));\n\
         write_imageui(line, x, (uint4){{x, 6, 7, 8}});\n\
         out[x] = read_imagef(from, (int4){{x, 0, 0, 0}});\n\
         out[x + 2] = read_imagef(from, s, (float4){{x, 0, 0, 0}}, (float4){{0, 0, 0, 0}}, (float4){{0, 0, 0, 0}});\n\
         out[x + 4] = read_imagef(from, s, (float4){{x, 0, 0, 0}}, 0.0f);\n\
         out[x + 6] = convert_float4(read_imagei(numbers, x));\n}}"
    ));
    let texels: Vec<f32> = (0..8).map(|i| 10.0 * i as f32).collect();
    let desc = describe(CL_MEM_OBJECT_IMAGE3D, [2, 1, 1]);
    let from = s.image_of(CL_RGBA, CL_FLOAT, &desc, &texels);
    let desc = describe(CL_MEM_OBJECT_IMAGE3D, [2, 2, 1]);
    let volume = s.image_of(CL_RGBA, CL_FLOAT, &desc, &[0_f32; 16]);
    let written = s.buffer_of(&[0_u32; 8]);
    let desc = over(&written, CL_MEM_OBJECT_IMAGE1D_BUFFER, [2, 1, 1]);
    let line = s.empty_image(CL_RGBA, CL_UNSIGNED_INT32, &desc);
    let read = s.buffer_of(&[-5_i32, 6]);
    let desc = over(&read, CL_MEM_OBJECT_IMAGE1D_BUFFER, [2, 1, 1]);
    let numbers = s.empty_image(CL_R, CL_SIGNED_INT32, &desc);
    let out = s.output(32);
    let arguments: [cl_mem; 5] = [
        volume.get(),
        line.get(),
        from.get(),
        numbers.get(),
        out.get(),
    ];
    let mut launch = ExecuteKernel::new(&kernel);
    // SAFETY: the arguments are the kernel's.
    unsafe {
        for argument in &arguments {
            launch.set_arg(argument);
        }
        launch
            .set_global_work_size(2)
            .enqueue_nd_range(&s.queue)
            .expect("a launch");
    }
    let wanted = [
        [1.0, 2.0, 3.0, -4.0],
        [2.0, 2.0, 3.0, -4.0],
        [1.0, 2.0, 3.0, 4.0],
        [2.0, 2.0, 3.0, 4.0],
    ];
    assert_eq!(
        s.read::<f32>(&volume, &[0; 3], [2, 2, 1], 16),
        wanted.as_flattened()
    );
    assert_eq!(s.values(&written, 8), [0, 6, 7, 8, 1, 6, 7, 8]);
    let found = s.values(&out, 32);
    for part in 0..3 {
        assert_eq!(found[8 * part..8 * part + 8], texels, "{part}");
    }
    assert_eq!(found[24..], [-5.0, 0.0, 0.0, 1.0, 6.0, 0.0, 0.0, 1.0]);
}

/// Every overload of OpenCL C 3.0 and cl_khr_depth_images, with a compound literal for each coordinate and colour.
#[test]
fn every_overload_is_there_beside_the_macros() {
    let Some(s) = session() else { return };
    let mut body = String::new();
    let mut parameters = String::new();
    let images = [
        ("image1d_t", "int", "float"),
        ("image1d_array_t", "int2", "float2"),
        ("image2d_t", "int2", "float2"),
        ("image2d_array_t", "int4", "float4"),
        ("image3d_t", "int4", "float4"),
        ("image1d_buffer_t", "int", ""),
    ];
    let literal = |ty: &str| match ty.chars().last() {
        Some('2') => format!("({ty}){{0, 0}}"),
        Some('4') => format!("({ty}){{0, 0, 0, 0}}"),
        _ => format!("({ty}){{0}}"),
    };
    for (access, letter) in [("read_only", 'r'), ("write_only", 'w'), ("read_write", 'b')] {
        for (index, (image, at, smooth)) in images.into_iter().enumerate() {
            let name = format!("{letter}{index}");
            parameters += &format!("{access} {image} {name}, ");
            let (at, smooth) = (literal(at), literal(smooth));
            for (kind, texel) in [("f", "float4"), ("i", "int4"), ("ui", "uint4")] {
                let texel = literal(texel);
                if letter != 'w' {
                    body += &format!("sum += convert_float4(read_image{kind}({name}, {at}));\n");
                }
                if letter == 'r' && index < 5 {
                    body += &format!(
                        "sum += convert_float4(read_image{kind}({name}, s, {at}));\n\
                         sum += convert_float4(read_image{kind}({name}, s, {smooth}));\n\
                         sum += convert_float4(read_image{kind}({name}, s, {smooth}, 0.5f));\n"
                    );
                }
                if letter != 'r' {
                    body += &format!("write_image{kind}({name}, {at}, {texel});\n");
                }
                if letter != 'r' && index < 5 {
                    body += &format!("write_image{kind}({name}, {at}, 1, {texel});\n");
                }
            }
        }
        for (index, (image, at, smooth)) in [
            ("image2d_depth_t", "int2", "float2"),
            ("image2d_array_depth_t", "int4", "float4"),
        ]
        .into_iter()
        .enumerate()
        {
            let name = format!("{letter}d{index}");
            parameters += &format!("{access} {image} {name}, ");
            let (at, smooth) = (literal(at), literal(smooth));
            if letter != 'w' {
                body += &format!("sum += read_imagef({name}, {at});\n");
            }
            if letter == 'r' {
                body += &format!(
                    "sum += read_imagef({name}, s, {at}); sum += read_imagef({name}, s, {smooth});\n"
                );
            } else {
                body += &format!("write_imagef({name}, {at}, 0.5f);\n");
            }
        }
    }
    // It builds: what the functions do is shown elsewhere.
    s.kernel(&format!(
        "{INCLUDE}kernel void test({parameters}global float4 *out) {{\n\
         const sampler_t s = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n\
         float4 sum = 0;\n{body}out[0] = sum;\n}}"
    ));
}

/// Functions of another program that begin as image functions do.
#[test]
fn names_that_begin_like_image_functions_are_others() {
    let Some(s) = session() else { return };
    let user = s.compile(
        "float4 __attribute__((overloadable)) read_image_smooth(read_only image2d_t image, float2 at);\n\
         int __attribute__((overloadable)) get_image_channel_order_of(read_only image2d_t image, int n);\n\
         kernel void test(read_only image2d_t image, global float4 *out) {\n\
         out[0] = read_image_smooth(image, (float2)(1, 0));\n\
         out[1] = get_image_channel_order_of(image, 7);\n}",
    );
    let library = s.compile(
        "float4 __attribute__((overloadable)) read_image_smooth(read_only image2d_t image, float2 at) {\n\
         return read_imagef(image, (int2)(at.x, at.y)) + 1.0f;\n}\n\
         int __attribute__((overloadable)) get_image_channel_order_of(read_only image2d_t image, int n) {\n\
         return get_image_width(image) + n;\n}",
    );
    let kernel = s.linked(&[user, library]);
    let desc = describe(CL_MEM_OBJECT_IMAGE2D, [2, 1, 1]);
    let image = s.image_of(CL_R, CL_FLOAT, &desc, &[3_f32, 4.0]);
    let out = s.output(8);
    // SAFETY: the arguments are the kernel's.
    unsafe {
        ExecuteKernel::new(&kernel)
            .set_arg(&image)
            .set_arg(&out)
            .set_global_work_size(1)
            .enqueue_nd_range(&s.queue)
            .expect("a launch");
    }
    assert_eq!(s.values(&out, 8), [5.0, 1.0, 1.0, 2.0, 9.0, 9.0, 9.0, 9.0]);
}
