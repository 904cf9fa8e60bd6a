//! One OpenCL C source to one SPIR-V module and a log.

use std::time::Duration;

use super::cache::DiskCache;
use super::clang::{Clang, NoClang};
use super::headers::{self, HeaderDirectory};
use super::input::includes;
use super::job::{Job, Way};
use super::request::{CompileRequest, SourceOutcome, TIME_LIMIT};

/// The length from which on a source, with all that it includes, is searched for functions that no kernel reaches, and
/// for large tables. That takes 20 ms more of a kernel of a few lines.
const LONG_BYTES: usize = 32 << 10;

/// Compiles a source with clang, or takes the result of an earlier run from the cache.
///
/// Everything that goes wrong, a missing or crashing clang too, is told in the log.
pub fn compile_source(
    clang: Result<&Clang, &NoClang>,
    cache: &DiskCache,
    request: &CompileRequest<'_>,
) -> SourceOutcome {
    match clang {
        Ok(clang) => compile_within(clang, cache, request, TIME_LIMIT),
        Err(missing) => SourceOutcome::failed(missing.to_string()),
    }
}

fn compile_within(
    clang: &Clang,
    cache: &DiskCache,
    request: &CompileRequest<'_>,
    limit: Duration,
) -> SourceOutcome {
    let headers = if !includes(request) {
        None
    } else {
        match HeaderDirectory::new(&headers::with_own(request.headers)) {
            Ok(directory) => Some(directory),
            Err(error) => {
                return SourceOutcome::failed(format!(
                    "error: the embedded headers can't be written to a temporary directory: {error}\n"
                ));
            }
        }
    };
    let job = Job::new(clang, request, headers.as_ref(), limit);
    let text = job.text(request);
    let length = text.as_deref().map_or(request.source.len(), str::len);
    let key = text.as_deref().map(|text| job.key(request, text));
    if let Some(kept) = key.and_then(|key| cache.get(key))
        && let Ok(outcome) = postcard::from_bytes::<SourceOutcome>(&kept)
    {
        log::debug!("SPIR-V of the source taken from the cache");
        return outcome;
    }
    let way = match length >= LONG_BYTES {
        false => Way::Straight,
        true if !request.options.is_c() => Way::ThroughIr,
        true if request.is_whole => Way::OnlyKernels,
        true => Way::KernelsFirst,
    };
    let outcome = match job.hidden_built_ins(request, text.as_deref()) {
        Some(built_ins) => job.compile_with(built_ins, request, way),
        None => job.compile(job.wanted(request.options), way),
    };
    if outcome.spirv.is_some()
        && let Some(key) = key
        && let Ok(bytes) = postcard::to_allocvec(&outcome)
    {
        cache.put(key, &bytes);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::clang::tests::machine_clang;
    use super::super::instructions;
    use super::*;
    use crate::compiler::spirv::words;
    use crate::toolchain::{BuildOptions, LanguageTarget};
    use std::ffi::OsStr;

    fn target() -> LanguageTarget {
        LanguageTarget {
            extensions: vec!["cl_khr_byte_addressable_store".into()],
            features: vec!["__opencl_c_int64".into()],
            images: false,
            fused_multiply_add: true,
            embedded_profile: false,
            device_version: 300,
        }
    }

    fn compile(source: &str, options: &str, headers: &[(String, String)]) -> SourceOutcome {
        compile_cached(&DiskCache::disabled(), source, options, headers)
    }

    fn compile_cached(
        cache: &DiskCache,
        source: &str,
        options: &str,
        headers: &[(String, String)],
    ) -> SourceOutcome {
        let clang = machine_clang();
        let request = CompileRequest {
            source,
            headers,
            options: &BuildOptions::parse(options).unwrap(),
            target: &target(),
            is_whole: true,
            is_unoptimized: false,
        };
        compile_source(Ok(&clang), cache, &request)
    }

    #[track_caller]
    fn compiles(source: &str, options: &str) -> Vec<u32> {
        let outcome = compile(source, options, &[]);
        let spirv = outcome.spirv.unwrap_or_else(|| panic!("{}", outcome.log));
        spirv.words().unwrap()
    }

    #[test]
    fn a_kernel_becomes_spirv() {
        let module = compiles("kernel void k(global int *p) { *p = N; }", "-D N=3");
        assert_eq!(module[0], words::MAGIC);
    }

    #[test]
    fn messages_carry_the_applications_lines() {
        let outcome = compile("kernel void k() {\n\n  int x = y;\n}", "", &[]);
        assert_eq!(outcome.spirv, None);
        assert!(
            outcome.log.starts_with("<program source>:3:11: error:"),
            "{}",
            outcome.log
        );
        assert!(
            outcome.log.contains("1 error generated."),
            "{}",
            outcome.log
        );
    }

    #[test]
    fn warnings_come_with_a_module_unless_they_are_errors() {
        let source = "kernel void k(global int *p) { *p = 1 / 0; }";
        let outcome = compile(source, "", &[]);
        assert!(outcome.spirv.is_some() && outcome.log.contains("warning:"));
        assert!(compile(source, "-Werror", &[]).spirv.is_none());
        assert_eq!(compile(source, "-w", &[]).log, "");
    }

    #[test]
    fn pointers_of_another_type_are_a_warning() {
        let source = "kernel void k(global float *p) { global float4 *q = p; q[1] = 0; }";
        let outcome = compile(source, "", &[]);
        assert!(
            outcome.spirv.is_some() && outcome.log.contains("warning: incompatible pointer"),
            "{}",
            outcome.log
        );
        assert!(compile(source, "-Werror", &[]).spirv.is_none());
    }

    /// Modules of hashcat hold a library of which kernels use a little: 26 s became 1 s.
    #[test]
    fn what_no_kernel_reaches_is_left_out_of_long_programs() {
        let mut source = String::from("int used(int x);\n");
        for unused in 0..300 {
            source.push_str(&format!(
                "/* {:90} */ int unused{unused}(int x) {{ return x * {unused} + 1; }}\n",
                ""
            ));
        }
        source.push_str(
            "__attribute__((noinline)) int used(int x) { return x * x; }
            kernel void k(global int *p) { *p = used(*p); global float *q = p; q[1] = 0; }",
        );
        let names = |module: &[u32]| -> Vec<String> {
            instructions::all(module)
                .filter(|one| one.opcode == instructions::opcode::NAME)
                .map(|one| instructions::string(&one.words[2..]))
                .collect()
        };
        let outcome = compile(&source, "", &[]);
        assert!(
            outcome.log.contains("<program source>:303:"),
            "{}",
            outcome.log
        );
        let found = names(&outcome.spirv.unwrap().words().unwrap());
        assert!(found.iter().any(|name| name == "used") && found.iter().any(|name| name == "k"));
        assert!(
            !found.iter().any(|name| name.starts_with("unused")),
            "{found:?}"
        );

        // A library's are for whoever links it.
        let request = CompileRequest {
            source: &source,
            headers: &[],
            options: &BuildOptions::parse("").unwrap(),
            target: &target(),
            is_whole: false,
            is_unoptimized: false,
        };
        let clang = machine_clang();
        let outcome = compile_source(Ok(&clang), &DiskCache::disabled(), &request);
        let found = names(&outcome.spirv.unwrap().words().unwrap());
        assert!(found.iter().any(|name| name == "k"));
        assert!(!found.iter().any(|name| name == "unused299"));
        let whole = outcome
            .rest
            .unwrap()
            .compile(Ok(&clang), &DiskCache::disabled());
        assert_eq!(whole.rest, None);
        let found = names(&whole.spirv.unwrap().words().unwrap());
        assert!(found.iter().any(|name| name == "unused299") && found.iter().any(|n| n == "k"));

        // One without kernels is nothing but that.
        let source = source.replace("kernel void k", "void k");
        let request = CompileRequest {
            source: &source,
            ..request
        };
        let outcome = compile_source(Ok(&clang), &DiskCache::disabled(), &request);
        assert_eq!(outcome.rest, None);
        let found = names(&outcome.spirv.unwrap().words().unwrap());
        assert!(found.iter().any(|name| name == "unused299"));
    }

    #[test]
    fn macros_say_what_the_device_is() {
        compiles(
            "#if __OPENCL_VERSION__ != 300 || __OPENCL_C_VERSION__ != 120 || !defined(__ENDIAN_LITTLE__)\n\
             #error version\n#endif\n\
             #if defined(__IMAGE_SUPPORT__) || defined(cl_khr_fp64) || defined(__FAST_RELAXED_MATH__)\n\
             #error too much\n#endif\n\
             #ifndef cl_khr_byte_addressable_store\n#error extension\n#endif\n\
             kernel void k() {}",
            "",
        );
        compiles(
            "#if __OPENCL_C_VERSION__ != 300 || __FAST_RELAXED_MATH__ != 1 || !defined(__opencl_c_int64)\n\
             #error version\n#endif\n\
             #if defined(__opencl_c_generic_address_space) || defined(__opencl_c_images)\n\
             #error too much\n#endif\n\
             __kernel_exec(4, float) void k() {}",
            "-cl-std=CL3.0 -cl-fast-relaxed-math",
        );
    }

    #[test]
    fn what_the_device_lacks_is_an_error() {
        let outcome = compile("kernel void k(global double *p) { *p = 1; }", "", &[]);
        assert!(
            outcome.spirv.is_none() && outcome.log.contains("cl_khr_fp64"),
            "{}",
            outcome.log
        );
    }

    #[test]
    fn every_language_version_and_math_option_is_taken() {
        let source = "kernel void k(global float *p) { p[0] = p[1] * p[2] + 1.5; }";
        for version in [
            "CL1.0",
            "CL1.1",
            "CL1.2",
            "CL3.0",
            "CLC++",
            "CLC++1.0",
            "CLC++2021",
        ] {
            compiles(source, &format!("-cl-std={version}"));
        }
        let outcome = compile(
            source,
            "-cl-single-precision-constant -cl-denorms-are-zero -cl-fp32-correctly-rounded-divide-sqrt \
             -cl-opt-disable -cl-strict-aliasing -cl-uniform-work-group-size -cl-mad-enable \
             -cl-no-signed-zeros -cl-unsafe-math-optimizations -cl-finite-math-only -g",
            &[],
        );
        assert!(outcome.spirv.is_some(), "{}", outcome.log);
        assert_eq!(outcome.log, "");
    }

    #[test]
    fn embedded_headers_are_included_and_named() {
        let headers = [
            ("a.h".to_owned(), "#include \"sub/b.h\"\n".to_owned()),
            ("sub/b.h".to_owned(), "#define VALUE 5\n".to_owned()),
        ];
        let source = "#include \"a.h\"\nkernel void k(global int *p) { *p = VALUE; }";
        assert!(compile(source, "", &headers).spirv.is_some());
        let headers = [("a.h".to_owned(), "\nint f() { return z; }\n".to_owned())];
        let outcome = compile(source, "", &headers);
        assert!(outcome.log.contains("\na.h:2:"), "{}", outcome.log);
    }

    #[test]
    fn a_missing_clang_is_a_readable_log() {
        let missing = Clang::find(Some(OsStr::new("/no/clang")), None, &DiskCache::disabled());
        let request = CompileRequest {
            source: "",
            headers: &[],
            options: &BuildOptions::default(),
            target: &target(),
            is_whole: true,
            is_unoptimized: false,
        };
        let outcome = compile_source(missing.as_ref(), &DiskCache::disabled(), &request);
        assert!(outcome.spirv.is_none() && outcome.log.contains("PUMICE_CLANG"));
    }

    #[test]
    fn inline_functions_are_there_to_be_called() {
        let source = "inline __attribute__((noinline)) float f(float x) { return x * 2.0f; }
            kernel void k(global float *p) { *p = f(*p); }";
        let words = compiles(source, "");
        // No import is left; nobody looks for `f` elsewhere.
        let imports = |module: &[u32]| {
            let text = words::to_bytes(module);
            // OpDecorate %f LinkageAttributes "f" Import
            text.windows(8).any(|at| at == [b'f', 0, 0, 0, 1, 0, 0, 0])
        };
        assert!(!imports(&words));
    }

    #[test]
    fn what_the_back_end_breaks_down_on_is_written_in_other_words() {
        let source = "kernel void k(global ulong3 *p, uchar3 a, uchar3 b) {
            *p = __builtin_convertvector(__builtin_astype(a > b, uchar3), ulong3);
        }";
        for options in ["", "-cl-opt-disable"] {
            let outcome = compile(source, options, &[]);
            assert!(outcome.spirv.is_some(), "{}", outcome.log);
            assert_eq!(outcome.log, "");
        }
    }

    /// Without the optimizer's closed forms, which are computed in 65 bits.
    #[test]
    fn sums_of_counters_are_optimized() {
        let source = "
            kernel void wide(global ulong *out, ulong n) {
                ulong sum = 0;
                for (ulong i = 0; i < n; ++i) sum += i;
                out[0] = sum;
            }
            kernel void squares(global ulong *out, uint n) {
                ulong sum = 0;
                for (uint i = n & 3; i != ~0u; --i) sum += i * 3 + (ulong)i * i;
                out[0] = sum;
            }";
        let outcome = compile(source, "", &[]);
        let spirv = outcome.spirv.expect(&outcome.log).words().unwrap();
        // Where clang broke down at all levels but the last, the arguments are in variables.
        const VARIABLE: u32 = 59;
        let mut rest = &spirv[5..];
        while let Some(&first) = rest.first() {
            assert_ne!(first & 0xffff, VARIABLE);
            rest = &rest[(first >> 16) as usize..];
        }
    }

    #[test]
    fn a_clang_that_hangs_or_crashes_is_told() {
        let directory = std::env::temp_dir().join(format!("pumice-fake-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let fake = |name: &str, script: &str| {
            use std::os::unix::fs::PermissionsExt;
            let path = directory.join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
            Clang {
                path,
                version: String::new(),
                identity: String::new(),
                built_ins: None,
            }
        };
        let request = CompileRequest {
            source: "kernel void k() {}",
            headers: &[],
            options: &BuildOptions::default(),
            target: &target(),
            is_whole: true,
            is_unoptimized: false,
        };
        let run = |clang: &Clang| {
            compile_within(
                clang,
                &DiskCache::disabled(),
                &request,
                Duration::from_millis(300),
            )
        };
        let hanging = run(&fake("hang", "exec sleep 60"));
        let crashing = run(&fake("crash", "echo 'Stack dump:' >&2; kill -SEGV $$"));
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(
            hanging.spirv.is_none() && hanging.log.contains("took too long"),
            "{}",
            hanging.log
        );
        assert!(
            crashing.spirv.is_none()
                && crashing.log.contains("crashed (signal 11)")
                && !crashing.log.contains("Stack dump:"),
            "{}",
            crashing.log
        );
    }

    #[test]
    fn the_cache_follows_included_files() {
        let directory = std::env::temp_dir().join(format!("pumice-inc-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let cache = DiskCache::new(directory.join("cache"), 1 << 24);
        let options = format!("-I {}", directory.display());
        let source = "#include \"n.h\"\nkernel void k(global int *p) { *p = N; }";
        let mut modules = Vec::new();
        for text in ["#define N 1111", "#define N 2222", "#define N 1111"] {
            std::fs::write(directory.join("n.h"), text).unwrap();
            let module = compile_cached(&cache, source, &options, &[]).spirv.unwrap();
            modules.push(module.words().unwrap());
        }
        let entries = std::fs::read_dir(directory.join("cache")).unwrap().count();
        std::fs::remove_dir_all(&directory).unwrap();
        assert!(modules[0].contains(&1111) && modules[1].contains(&2222));
        assert_eq!(modules[0], modules[2]);
        assert_eq!(entries, 2);
    }

    #[test]
    fn argument_information_is_in_the_module_when_asked_for() {
        let source = "typedef struct { int a; } S;\n\
            kernel void k(global const int *restrict in, local volatile float4 *tmp, S s, constant uchar *c) {}\n\
            kernel void other(float x) {}";
        let module = compiles(source, "-cl-kernel-arg-info");
        let text = String::from_utf8_lossy(&words::to_bytes(&module)).into_owned();
        for string in [
            "kernel_arg_type.k.int*,float4*,S,uchar*,",
            "kernel_arg_type_qual.k.restrict const,volatile,,const,",
            "kernel_arg_type.other.float,",
            "tmp",
        ] {
            assert!(text.contains(string), "{string}");
        }
        let bare = words::to_bytes(&compiles(source, ""));
        assert!(!String::from_utf8_lossy(&bare).contains("kernel_arg_type"));
    }
}
