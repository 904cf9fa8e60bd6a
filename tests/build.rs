//! Building programs through the API: options, logs, headers, objects, libraries, callbacks.

mod common;

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::mpsc;
use std::time::Duration;

use opencl3::context::Context;
use opencl3::error_codes::{
    CL_BUILD_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE, CL_COMPILER_NOT_AVAILABLE,
    CL_INVALID_BINARY, CL_INVALID_BUILD_OPTIONS, CL_INVALID_COMPILER_OPTIONS,
    CL_INVALID_KERNEL_NAME, CL_INVALID_LINKER_OPTIONS, CL_INVALID_OPERATION,
    CL_INVALID_PROGRAM_EXECUTABLE, CL_INVALID_VALUE, CL_KERNEL_ARG_INFO_NOT_AVAILABLE,
    CL_LINK_PROGRAM_FAILURE, cl_int,
};
use opencl3::kernel::{
    CL_KERNEL_ARG_ACCESS_NONE, CL_KERNEL_ARG_ADDRESS_CONSTANT, CL_KERNEL_ARG_ADDRESS_GLOBAL,
    CL_KERNEL_ARG_ADDRESS_LOCAL, CL_KERNEL_ARG_ADDRESS_PRIVATE, CL_KERNEL_ARG_TYPE_CONST,
    CL_KERNEL_ARG_TYPE_RESTRICT, CL_KERNEL_ARG_TYPE_VOLATILE, Kernel,
};
use opencl3::program::{
    CL_BUILD_ERROR, CL_BUILD_NONE, CL_BUILD_SUCCESS, CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT,
    CL_PROGRAM_BINARY_TYPE_EXECUTABLE, CL_PROGRAM_BINARY_TYPE_LIBRARY, CL_PROGRAM_BINARY_TYPE_NONE,
    Program, build_program, compile_program, link_program,
};
use opencl3::types::{cl_device_id, cl_program};

struct Setup {
    context: Context,
    device: cl_device_id,
}

fn setup() -> Option<Setup> {
    let device = common::device()?;
    Some(Setup {
        context: Context::from_device(&device).expect("context"),
        device: device.id(),
    })
}

impl Setup {
    fn program(&self, source: &str) -> Program {
        Program::create_from_source(&self.context, source).expect("program")
    }

    fn build(&self, program: &Program, options: &CStr) -> Result<(), cl_int> {
        build_program(
            program.get(),
            &[self.device],
            options,
            None,
            ptr::null_mut(),
        )
    }

    fn compile(
        &self,
        program: &Program,
        options: &CStr,
        headers: &[(&Program, &CStr)],
    ) -> Result<(), cl_int> {
        let programs: Vec<cl_program> = headers.iter().map(|(program, _)| program.get()).collect();
        let names: Vec<&CStr> = headers.iter().map(|(_, name)| *name).collect();
        compile_program(
            program.get(),
            &[self.device],
            options,
            &programs,
            &names,
            None,
            ptr::null_mut(),
        )
    }

    fn log(&self, program: &Program) -> String {
        program.get_build_log(self.device).expect("log")
    }

    fn binary_type(&self, program: &Program) -> u32 {
        program.get_build_binary_type(self.device).expect("type")
    }
}

const ADD: &str = "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n";

#[test]
fn a_source_builds_and_its_kernels_are_known() {
    let Some(setup) = setup() else { return };
    let program = setup.program(ADD);
    assert_eq!(program.get_build_status(setup.device), Ok(CL_BUILD_NONE));
    assert_eq!(setup.binary_type(&program), CL_PROGRAM_BINARY_TYPE_NONE);
    assert_eq!(program.get_source().as_deref(), Ok(ADD));
    assert_eq!(
        Kernel::create(&program, "add")
            .map(drop)
            .map_err(|error| error.0),
        Err(CL_INVALID_PROGRAM_EXECUTABLE)
    );
    let result = setup.build(&program, c"-DX=1 -cl-mad-enable");
    assert_eq!(result, Ok(()), "{}", setup.log(&program));
    assert_eq!(program.get_build_status(setup.device), Ok(CL_BUILD_SUCCESS));
    assert_eq!(
        program.get_build_options(setup.device).as_deref(),
        Ok("-DX=1 -cl-mad-enable")
    );
    assert_eq!(
        setup.binary_type(&program),
        CL_PROGRAM_BINARY_TYPE_EXECUTABLE
    );
    assert_eq!(program.get_kernel_names().as_deref(), Ok("add"));
    let kernel = Kernel::create(&program, "add").expect("kernel");
    assert_eq!(kernel.num_args(), Ok(2));
    assert_eq!(
        Kernel::create(&program, "sub")
            .map(drop)
            .map_err(|error| error.0),
        Err(CL_INVALID_KERNEL_NAME)
    );
}

#[test]
fn errors_are_told_with_the_applications_lines() {
    let Some(setup) = setup() else { return };
    let program = setup.program("kernel void k() {\n    undeclared();\n}\n");
    assert_eq!(setup.build(&program, c""), Err(CL_BUILD_PROGRAM_FAILURE));
    assert_eq!(program.get_build_status(setup.device), Ok(CL_BUILD_ERROR));
    let log = setup.log(&program);
    assert!(log.contains("<program source>:2:5: error:"), "{log}");
    assert_eq!(
        setup.compile(&program, c"", &[]),
        Err(CL_COMPILE_PROGRAM_FAILURE)
    );
}

/// clang-22 puts the vectors together in an integer of 192 bits, of which its back end makes invalid SPIR-V.
#[test]
fn what_optimization_breaks_is_built_without() {
    let Some(setup) = setup() else { return };
    let source = "kernel void k(global uint2 *out, uchar8 v, char unsigned at) {
        long3 a[16] = { (long3)1, (long3)(long)v.s0, (long3)1, (long3)1 };
        *out = (uint2)(uint)a[(uchar)(1 / (v.s6 | (uchar)1)) & 15u].s1;
        a[at & 15] = (long3)1;
    }";
    let program = Program::create_and_build_from_source(&setup.context, source, "-cl-std=CL3.0");
    assert!(program.is_ok(), "{}", program.err().unwrap_or_default());
}

#[test]
fn wrong_options_are_answered_by_their_codes() {
    let Some(setup) = setup() else { return };
    let program = setup.program(ADD);
    assert_eq!(
        setup.build(&program, c"-cl-nonsense"),
        Err(CL_INVALID_BUILD_OPTIONS)
    );
    assert_eq!(
        setup.compile(&program, c"-create-library", &[]),
        Err(CL_INVALID_COMPILER_OPTIONS)
    );
    assert_eq!(setup.compile(&program, c"", &[]), Ok(()));
    // SAFETY: valid handles.
    let linked = unsafe {
        link_program(
            setup.context.get(),
            &[setup.device],
            c"-O3",
            &[program.get()],
            None,
            ptr::null_mut(),
        )
    };
    assert_eq!(linked, Err(CL_INVALID_LINKER_OPTIONS));
}

/// "CL_COMPILER_NOT_AVAILABLE if program is created with clCreateProgramWithSource and a compiler is not available".
#[test]
fn without_a_compiler_sources_are_refused_by_their_code() {
    const CHILD: &str = "PUMICE_TEST_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let name = "without_a_compiler_sources_are_refused_by_their_code";
        let status = std::process::Command::new(std::env::current_exe().expect("a path"))
            .args(["--exact", name, "--nocapture"])
            .env(CHILD, "1")
            .env("PUMICE_CLANG", "/nonexistent")
            .status();
        assert!(status.expect("the test itself").success());
        return;
    }
    let Some(setup) = setup() else { return };
    let device = opencl3::device::Device::new(setup.device);
    assert!(!device.compiler_available().expect("a query"));
    let program = setup.program("kernel void k(global int *a) { *a = 7; }");
    assert_eq!(setup.build(&program, c""), Err(CL_COMPILER_NOT_AVAILABLE));
    assert_eq!(
        setup.compile(&program, c"", &[]),
        Err(CL_COMPILER_NOT_AVAILABLE)
    );
    assert_eq!(
        setup.build(&program, c"-no-such-option"),
        Err(CL_INVALID_BUILD_OPTIONS)
    );
}

#[test]
fn objects_take_headers_and_become_libraries() {
    let Some(setup) = setup() else { return };
    let header = setup.program("#define N 7\n");
    let object = setup.program("#include \"sub/n.h\"\nint seven() { return N; }\n");
    assert_eq!(
        setup.compile(&object, c"", &[]),
        Err(CL_COMPILE_PROGRAM_FAILURE)
    );
    let compiled = setup.compile(&object, c"", &[(&header, c"sub/n.h")]);
    assert_eq!(compiled, Ok(()), "{}", setup.log(&object));
    assert_eq!(
        setup.binary_type(&object),
        CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
    );
    // SAFETY: valid handles.
    let link = |options: &CStr, inputs: &[cl_program]| unsafe {
        link_program(
            setup.context.get(),
            &[setup.device],
            options,
            inputs,
            None,
            ptr::null_mut(),
        )
    };
    let library = link(c"-create-library", &[object.get()]).expect("library");
    let user = setup.program("int seven();\nkernel void k(global int *a) { *a = seven(); }\n");
    assert_eq!(
        link(c"", &[user.get()]),
        Err(CL_INVALID_OPERATION),
        "not compiled"
    );
    assert_eq!(setup.compile(&user, c"", &[]), Ok(()));
    assert_eq!(
        link(c"", &[user.get()]),
        Err(CL_LINK_PROGRAM_FAILURE),
        "seven is missing"
    );
    let whole = link(c"", &[user.get(), library]).expect("linked");
    let names =
        opencl3::program::get_program_info(whole, opencl3::program::CL_PROGRAM_KERNEL_NAMES);
    assert_eq!(String::from(names.expect("names")), "k");
    let kind = opencl3::program::get_program_build_info(
        library,
        setup.device,
        opencl3::program::CL_PROGRAM_BINARY_TYPE,
    );
    assert_eq!(
        kind.map(opencl3::types::cl_uint::from),
        Ok(CL_PROGRAM_BINARY_TYPE_LIBRARY)
    );
    for program in [library, whole] {
        // SAFETY: linked above, released once.
        unsafe { opencl3::program::release_program(program) }.expect("release");
    }
}

#[test]
fn a_callback_comes_when_the_build_has_ended() {
    let Some(setup) = setup() else { return };
    unsafe extern "C" fn notify(program: cl_program, data: *mut c_void) {
        // SAFETY: the sender is never dropped.
        let sender = unsafe { &*data.cast::<mpsc::Sender<usize>>() };
        let _ = sender.send(program as usize);
    }
    let (sender, receiver) = mpsc::channel::<usize>();
    // The callback may still be inside `send` when its message has been heard.
    let data = Box::into_raw(Box::new(sender)).cast();
    for (source, status) in [(ADD, CL_BUILD_SUCCESS), ("kernel", CL_BUILD_ERROR)] {
        let program = setup.program(source);
        build_program(program.get(), &[setup.device], c"", Some(notify), data).expect("build");
        let heard = receiver
            .recv_timeout(Duration::from_secs(60))
            .expect("callback");
        assert_eq!(heard, program.get() as usize);
        assert_eq!(
            program.get_build_status(setup.device),
            Ok(status),
            "{}",
            setup.log(&program)
        );
    }
    let program = setup.program(ADD);
    assert_eq!(
        build_program(program.get(), &[], c"", None, data),
        Err(CL_INVALID_VALUE),
        "user_data without a function"
    );
}

#[test]
fn intermediate_language_is_taken_and_given_back() {
    let Some(setup) = setup() else { return };
    let create = |il: &[u8]| Program::create_from_il(&setup.context, il).map_err(|error| error.0);
    assert_eq!(
        create(b"not SPIR-V at all...").map(drop),
        Err(CL_INVALID_VALUE)
    );
    assert_eq!(create(&[]).map(drop), Err(CL_INVALID_VALUE));
    let object = setup.program(ADD);
    setup.compile(&object, c"", &[]).expect("compile");
    let stored = object.get_binaries().expect("binaries").remove(0);
    // SAFETY: the binary is a slice.
    let again = unsafe { Program::create_from_binary(&setup.context, &[setup.device], &[&stored]) }
        .expect("object");
    assert_eq!(
        setup.binary_type(&again),
        CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT
    );
    assert_eq!(
        setup.compile(&again, c"", &[]),
        Err(CL_INVALID_OPERATION),
        "a binary has no source"
    );
    assert_eq!(setup.build(&again, c""), Ok(()), "{}", setup.log(&again));
}

/// A SPIR-V module of a kernel, as clang makes it.
fn module() -> Vec<u8> {
    let source = std::env::temp_dir().join(format!("pumice-il-{}.cl", std::process::id()));
    let output = source.with_extension("spv");
    std::fs::write(&source, ADD).expect("written");
    let done = std::process::Command::new("clang-22")
        .args(["-target", "spirv64", "-O1", "-c", "-o"])
        .args([&output, &source])
        .status();
    assert!(done.expect("clang-22").success());
    let bytes = std::fs::read(&output).expect("a module");
    for file in [source, output] {
        std::fs::remove_file(file).expect("removed");
    }
    bytes
}

#[test]
fn modules_that_are_cut_short_are_refused() {
    let Some(setup) = setup() else { return };
    let module = module();
    let il = |bytes: &[u8]| {
        let made = Program::create_from_il(&setup.context, bytes);
        made.map(drop).map_err(|error| error.0)
    };
    let binary = |bytes: &[u8]| {
        // SAFETY: the binary is a slice.
        let made =
            unsafe { Program::create_from_binary(&setup.context, &[setup.device], &[bytes]) };
        made.map(drop).map_err(|error| error.0)
    };
    assert_eq!((il(&module), binary(&module)), (Ok(()), Ok(())));
    // The header alone first.
    for length in (20..module.len()).step_by(4) {
        let cut = &module[..length];
        assert_eq!(il(cut), Err(CL_INVALID_VALUE), "cut to {length}");
        assert_eq!(binary(cut), Err(CL_INVALID_BINARY), "cut to {length}");
    }
}

#[test]
fn headers_have_any_name_that_an_include_has() {
    let Some(setup) = setup() else { return };
    for name in [
        c"../a.h",
        c"x/../../y/../../a.h",
        c"/nowhere/on this machine/a.h",
        c"./a.h",
        c"..a/..h",
        c"/nowhere/a\\\"b.h",
    ] {
        let text = name.to_str().expect("text");
        let header = setup.program("#define N 7\n");
        // A name with a quotation mark in it can't stand in such.
        let (open, close) = if text.contains('"') {
            ('<', '>')
        } else {
            ('"', '"')
        };
        let source = format!("#include {open}{text}{close}\nint seven() {{ return N; }}\n");
        let object = setup.program(&source);
        let compiled = setup.compile(&object, c"", &[(&header, name)]);
        assert_eq!(compiled, Ok(()), "{}", setup.log(&object));
    }
    // Nothing can include these.
    for name in [c"", c"folder/", c".."] {
        let object = setup.program("int f();\n");
        let compiled = setup.compile(&object, c"", &[(&object, name)]);
        assert_eq!(compiled, Ok(()), "{}", setup.log(&object));
    }
    // What is wrong in one is told under its name.
    let header = setup.program("int f() { return z; }\n");
    for name in [c"../a.h", c"/nowhere/a.h"] {
        let text = name.to_str().expect("text");
        let object = setup.program(&format!("#include \"{text}\"\n"));
        let compiled = setup.compile(&object, c"", &[(&header, name)]);
        assert_eq!(compiled, Err(CL_COMPILE_PROGRAM_FAILURE));
        let log = setup.log(&object);
        assert!(log.contains(&format!("{text}:1:")), "{log}");
    }
}

#[test]
fn byte_order_marks_are_no_part_of_a_program() {
    let Some(setup) = setup() else { return };
    let source = "\u{feff}#include \"a.h\"\nint f() { return N; }";
    let program = setup.program(source);
    assert_eq!(program.get_source().expect("source"), source);
    let header = setup.program("\u{feff}#define N 8\n");
    let compiled = setup.compile(&program, c"", &[(&header, c"a.h")]);
    assert_eq!(compiled, Ok(()), "{}", setup.log(&program));
}

#[test]
fn folders_may_hold_headers_of_clangs_names() {
    let Some(setup) = setup() else { return };
    let folder = std::env::temp_dir().join(format!("pumice-own-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("made");
    for name in ["opencl-c-base.h", "opencl-c.h"] {
        std::fs::write(folder.join(name), "#define OWN 5\n").expect("written");
    }
    let options = std::ffi::CString::new(format!("-I {}", folder.display())).expect("text");
    let plain = setup.program("kernel void k(global int *p, uint4 x) { *p = max(*p, 3); }");
    let built = setup.build(&plain, &options);
    // One with functions that need clang's full header.
    let including = setup.program(
        "#include \"opencl-c.h\"\n typedef struct { int a; } S; int max(S s) { return s.a; }
        kernel void k(global int *p) { S s = {OWN}; *p = max(max(s), 3); }",
    );
    let built_too = setup.build(&including, &options);
    std::fs::remove_dir_all(&folder).expect("removed");
    assert_eq!(built, Ok(()), "{}", setup.log(&plain));
    assert_eq!(built_too, Ok(()), "{}", setup.log(&including));
}

/// A long program whose kernel uses little of it, as it is linked to nothing or to one that calls the rest.
#[test]
fn a_long_object_has_functions_for_others() {
    let Some(setup) = setup() else { return };
    let mut source = String::from("int a_0(int x) { return x; }\n");
    for i in 1..300 {
        source.push_str(&format!(
            "/* {:99} */ int a_{i}(int x) {{ return x * {i} + 1; }}\n",
            ""
        ));
    }
    source.push_str("kernel void first(global int *p) { *p = a_7(*p); }");
    let long = setup.program(&source);
    let other = "int a_299(int x); kernel void other(global int *p) { *p = a_299(*p); }";
    let other = setup.program(other);
    for program in [&long, &other] {
        let compiled = setup.compile(program, c"", &[]);
        assert_eq!(compiled, Ok(()), "{}", setup.log(program));
    }
    // SAFETY: the programs live.
    let link = |options: &CStr, inputs: &[cl_program]| unsafe {
        link_program(
            setup.context.get(),
            &[setup.device],
            options,
            inputs,
            None,
            ptr::null_mut(),
        )
    };
    let alone = link(c"", &[long.get()]).expect("linked alone");
    let library = link(c"-create-library", &[long.get()]).expect("a library");
    let both = link(c"", &[other.get(), long.get()]).expect("linked with another");
    let with_library = link(c"", &[other.get(), library]).expect("linked with a library");
    assert_eq!(
        link(c"", &[other.get()]).map(drop),
        Err(CL_LINK_PROGRAM_FAILURE)
    );
    // What is kept of it as a binary is all of it, too.
    let binaries = long.get_binaries().expect("binaries");
    let binary = [binaries[0].as_slice()];
    // SAFETY: a binary of this device.
    let again = unsafe { Program::create_from_binary(&setup.context, &[setup.device], &binary) }
        .expect("from a binary");
    let with_binary = link(c"", &[other.get(), again.get()]).expect("linked with a binary");
    for (program, expected) in [
        (alone, "first"),
        (both, "first;other"),
        (with_library, "first;other"),
        (with_binary, "first;other"),
    ] {
        let names =
            opencl3::program::get_program_info(program, opencl3::program::CL_PROGRAM_KERNEL_NAMES);
        let names = String::from(names.expect("names"));
        let mut names: Vec<&str> = names.split(';').collect();
        names.sort_unstable();
        assert_eq!(names.join(";"), expected);
    }
    for program in [alone, library, both, with_library, with_binary] {
        // SAFETY: linked above, released once.
        unsafe { opencl3::program::release_program(program) }.expect("release");
    }
}

#[test]
fn objects_hold_variables_for_others() {
    let Some(setup) = setup() else { return };
    for definition in [
        "constant int table[3] = {5, 6, 7};",
        "constant int table[3] = {5, 6, 7}; int unused(int x) { return x; }",
        "constant int table[3] = {5, 6, 7}; kernel void other(global int *p) { *p = 1; }",
    ] {
        let object = setup.program(definition);
        let user = setup.program(
            "extern constant int table[3]; extern constant int nowhere[3];
            int unused_too(int i) { return nowhere[i]; }
            kernel void k(global int *p) { *p = table[*p]; }",
        );
        for program in [&object, &user] {
            assert_eq!(
                setup.compile(program, c"", &[]),
                Ok(()),
                "{}",
                setup.log(program)
            );
        }
        for inputs in [[object.get(), user.get()], [user.get(), object.get()]] {
            // SAFETY: valid handles.
            let linked = unsafe {
                link_program(
                    setup.context.get(),
                    &[setup.device],
                    c"",
                    &inputs,
                    None,
                    ptr::null_mut(),
                )
            };
            let linked = linked.expect("linked");
            // SAFETY: linked above, released once.
            unsafe { opencl3::program::release_program(linked) }.expect("release");
        }
    }
}

#[test]
fn a_kernel_that_the_device_cannot_run_leaves_the_others() {
    let Some(setup) = setup() else { return };
    let bad = "__attribute__((intel_reqd_sub_group_size(4096))) kernel void bad() {}\n";
    let program = setup.program(&format!("{bad}{ADD}"));
    assert_eq!(
        setup.build(&program, c""),
        Ok(()),
        "{}",
        setup.log(&program)
    );
    let log = setup.log(&program);
    assert!(
        log.contains("without kernel 'bad'") && log.contains("4096"),
        "{log}"
    );
    let names = opencl3::program::get_program_info(
        program.get(),
        opencl3::program::CL_PROGRAM_KERNEL_NAMES,
    );
    assert_eq!(String::from(names.expect("names")), "add");
    assert!(Kernel::create(&program, "add").is_ok());
    let made = Kernel::create(&program, "bad").map(drop);
    assert_eq!(made.map_err(|error| error.0), Err(CL_INVALID_KERNEL_NAME));
    let alone = setup.program(bad);
    assert_eq!(setup.build(&alone, c""), Err(CL_BUILD_PROGRAM_FAILURE));
}

#[test]
fn kernels_tell_of_their_arguments_when_built_to() {
    let Some(setup) = setup() else { return };
    let source = "typedef struct { int a; float b; } pair;\n\
        kernel __attribute__((reqd_work_group_size(8, 2, 1))) void k(\n\
            global const float4 *restrict in, local volatile int *tmp, constant uchar *table, pair p, ulong n) {\n\
            local int here[4];\n\
            here[n & 3] = tmp[0] + (int)in[n].x + table[n] + p.a;\n\
            barrier(CLK_LOCAL_MEM_FENCE);\n\
            tmp[1] = here[0];\n\
        }\n";
    let program = setup.program(source);
    assert_eq!(
        setup.build(&program, c""),
        Ok(()),
        "{}",
        setup.log(&program)
    );
    let kernel = Kernel::create(&program, "k").expect("kernel");
    assert_eq!(
        kernel.get_arg_name(0).map_err(|error| error.0),
        Err(CL_KERNEL_ARG_INFO_NOT_AVAILABLE)
    );
    drop(kernel);
    assert_eq!(setup.build(&program, c"-cl-kernel-arg-info"), Ok(()));
    let kernel = Kernel::create(&program, "k").expect("kernel");
    let (none, constant) = (0, CL_KERNEL_ARG_TYPE_CONST as u64);
    let restrict_const = constant | CL_KERNEL_ARG_TYPE_RESTRICT as u64;
    for (index, (name, kind, qualifiers, address)) in [
        (
            "in",
            "float4*",
            restrict_const,
            CL_KERNEL_ARG_ADDRESS_GLOBAL,
        ),
        (
            "tmp",
            "int*",
            CL_KERNEL_ARG_TYPE_VOLATILE as u64,
            CL_KERNEL_ARG_ADDRESS_LOCAL,
        ),
        ("table", "uchar*", constant, CL_KERNEL_ARG_ADDRESS_CONSTANT),
        ("p", "pair", none, CL_KERNEL_ARG_ADDRESS_PRIVATE),
        ("n", "ulong", none, CL_KERNEL_ARG_ADDRESS_PRIVATE),
    ]
    .into_iter()
    .enumerate()
    {
        let index = index as u32;
        assert_eq!(kernel.get_arg_name(index).as_deref(), Ok(name));
        assert_eq!(
            kernel.get_arg_type_name(index).as_deref(),
            Ok(kind),
            "{name}"
        );
        assert_eq!(
            kernel.get_arg_type_qualifier(index),
            Ok(qualifiers),
            "{name}"
        );
        assert_eq!(
            kernel.get_arg_address_qualifier(index),
            Ok(address),
            "{name}"
        );
        assert_eq!(
            kernel.get_arg_access_qualifier(index),
            Ok(CL_KERNEL_ARG_ACCESS_NONE)
        );
    }
    assert_eq!(
        kernel.attributes().as_deref(),
        Ok("reqd_work_group_size(8,2,1)")
    );
    assert_eq!(
        kernel.get_compile_work_group_size(setup.device),
        Ok(vec![8, 2, 1])
    );
    assert_eq!(kernel.get_local_mem_size(setup.device), Ok(16));
}
