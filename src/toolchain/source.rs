//! One OpenCL C source to one SPIR-V module and a log.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::argument_info::Wanted;
use super::cache::{DiskCache, Key, KeyBuilder};
use super::clang::{Clang, EMIT_ARGUMENTS, IR_THROUGH, NoClang, SOURCE_THROUGH, TARGET_ARGUMENTS};
use super::diagnostics::{self, SOURCE_NAME};
use super::headers::{self, HeaderDirectory};
use super::options::BuildOptions;
use super::process::{self, Finished};
use super::target::LanguageTarget;
use super::{
    argument_info, atomics, conversions, group_functions, half_vectors, internalize, local_sizes,
    mipmaps, zero_extensions,
};
use crate::compiler::{PackedModule, words};

/// The longest that one run of clang may take.
pub const TIME_LIMIT: Duration = Duration::from_secs(300);

/// The length from which on a source, with all that it includes, is searched for functions that no kernel reaches.
/// That takes 20 ms more of a kernel of a few lines.
const LONG_BYTES: usize = 32 << 10;

/// Asks for LLVM IR.
const IR: [&str; 2] = ["-S", "-emit-llvm"];

/// Asks for what is left to do as clang makes it of its input, without optimization.
const AS_IT_IS: [&str; 2] = ["-Xclang", "-disable-llvm-passes"];

/// What clang is asked for, one after the other, as long as it breaks down: less optimization often gets by.
const ATTEMPTS: [Attempt; 4] = [
    Attempt {
        level: None,
        spells_out: false,
    },
    Attempt {
        level: None,
        spells_out: true,
    },
    Attempt {
        level: Some("-O1"),
        spells_out: true,
    },
    Attempt {
        level: Some("-O0"),
        spells_out: true,
    },
];

/// One way to get a module.
#[derive(Clone, Copy)]
struct Attempt {
    /// The level of optimization, where it is not the one asked for.
    level: Option<&'static str>,
    /// Whether optimized LLVM IR is written in other words before code is made of it: [`zero_extensions`].
    spells_out: bool,
}

/// What is to be compiled, and for what.
#[derive(Clone, Copy, Debug)]
pub struct CompileRequest<'a> {
    pub source: &'a str,
    /// `clCompileProgram`'s embedded headers: include name and text.
    pub headers: &'a [(String, String)],
    pub options: &'a BuildOptions,
    pub target: &'a LanguageTarget,
    /// Nothing is linked to it: a function that it calls and does not define is an error.
    pub is_whole: bool,
    /// Without clang's optimizations, whatever the options say.
    pub is_unoptimized: bool,
}

/// The module, if there is one, and what clang had to say either way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceOutcome {
    /// OpenCL SPIR-V; `None` when the source was not compiled.
    pub spirv: Option<PackedModule>,
    pub log: String,
}

impl SourceOutcome {
    fn failed(log: String) -> Self {
        Self { spirv: None, log }
    }
}

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
    let headers = match includes(request) {
        false => None,
        true => match HeaderDirectory::new(&headers::with_own(request.headers)) {
            Ok(directory) => Some(directory),
            Err(error) => {
                return SourceOutcome::failed(format!(
                    "error: the embedded headers can't be written to a temporary directory: {error}\n"
                ));
            }
        },
    };
    let job = Job {
        clang,
        input: input(request),
        arguments: front_arguments(request, headers.as_ref().map(HeaderDirectory::path)),
        headers: headers.as_ref().map(HeaderDirectory::path),
        limit,
    };
    let text = job.text(request);
    let length = text.as_deref().map_or(request.source.len(), str::len);
    let key = text.map(|text| job.key(request, &text));
    if let Some(kept) = key.and_then(|key| cache.get(key))
        && let Ok(outcome) = postcard::from_bytes::<SourceOutcome>(&kept)
    {
        log::debug!("SPIR-V of the source taken from the cache");
        return outcome;
    }
    let only_kernels = request.is_whole && request.options.is_c() && length >= LONG_BYTES;
    let outcome = job.compile(request.options, only_kernels);
    if outcome.spirv.is_some()
        && let Some(key) = key
        && let Ok(bytes) = postcard::to_allocvec(&outcome)
    {
        cache.put(key, &bytes);
    }
    outcome
}

/// Whether more of the program may come from other files.
fn includes(request: &CompileRequest<'_>) -> bool {
    !request.headers.is_empty() || request.source.contains("include")
}

/// The source, and what macros of the options put into it.
fn with_definitions<'a>(request: &CompileRequest<'a>) -> Cow<'a, str> {
    let options = request.options.preprocessor.iter();
    let definitions: Vec<&str> = options
        .filter(|option| option.starts_with("-D"))
        .map(String::as_str)
        .collect();
    match definitions.is_empty() {
        true => Cow::Borrowed(request.source),
        false => Cow::Owned(format!("{}\n{}", request.source, definitions.join("\n"))),
    }
}

/// The text given to clang: what we add, marked as a system header, then the source under its own name.
fn input(request: &CompileRequest<'_>) -> String {
    let includes = includes(request);
    let text = with_definitions(request);
    let mut prelude = conversions::prelude(&text, includes);
    prelude.push_str(half_vectors::prelude(&text, includes));
    prelude.push_str(mipmaps::prelude(&text, includes));
    prelude.push_str(atomics::prelude(&text, includes));
    prelude.push_str(&group_functions::prelude(&text, includes, |extension| {
        request.target.has_extension(extension)
    }));
    let source = request.source;
    match prelude.is_empty() {
        true => format!("# 1 \"{SOURCE_NAME}\"\n{source}\n"),
        false => format!("# 1 \"<pumice>\" 3\n{prelude}# 1 \"{SOURCE_NAME}\"\n{source}\n"),
    }
}

/// What the language depends on: version, macros, includes, extensions.
fn front_arguments(request: &CompileRequest<'_>, headers: Option<&Path>) -> Vec<String> {
    let mut arguments: Vec<String> = TARGET_ARGUMENTS.map(String::from).to_vec();
    arguments.extend([
        // clang complains of options that don't concern the step at hand (as -cl-… of the back end).
        "-Qunused-arguments".into(),
        "-Xclang".into(),
        format!("-cl-ext={}", request.target.clang_extensions()),
        // "__OPENCL_VERSION__ substitutes an integer reflecting the version number of the OpenCL supported
        // by the OpenCL device": clang leaves that to the implementation.
        format!("-D__OPENCL_VERSION__={}", request.target.device_version),
    ]);
    if !request.target.fused_multiply_add {
        // clang makes `fma` of `a * b + c`, which must round once and is then a long way round.
        arguments.push("-ffp-contract=off".into());
    }
    arguments.extend(request.target.clang_definitions());
    if !request.target.images {
        // clang defines it for every SPIR-V target.
        arguments.push("-U__IMAGE_SUPPORT__".into());
    }
    if let Some(path) = headers {
        // Before the application's own directories.
        arguments.push(format!("-I{}", path.display()));
    }
    if !request.options.warnings_are_errors {
        // C asks for a message, and every OpenCL implementation has made it a warning; so did clang up to 15.
        arguments.push("-Wno-error=incompatible-pointer-types".into());
        arguments.push("-Wno-error=int-conversion".into());
    }
    arguments.extend(request.options.clang_arguments());
    if request.is_unoptimized {
        // The last one counts.
        arguments.push("-O0".into());
    }
    if request.is_whole && request.options.is_c() && !request.source.contains("extern inline") {
        // By the rules of C99 a function that is `inline` and nothing else is not there to be called, only to be
        // inlined; programs that declare all theirs so expect to call them where clang does not inline.
        arguments.push("-fgnu89-inline".into());
    }
    arguments
}

/// One source on its way through clang.
struct Job<'a> {
    clang: &'a Clang,
    input: String,
    arguments: Vec<String>,
    headers: Option<&'a Path>,
    limit: Duration,
}

impl Job<'_> {
    fn run(&self, extra: &[&str]) -> std::io::Result<Finished> {
        self.run_on(&self.input, extra)
    }

    fn run_on(&self, input: &str, extra: &[&str]) -> std::io::Result<Finished> {
        let arguments: Vec<&OsStr> = self
            .arguments
            .iter()
            .map(String::as_str)
            .chain(extra.iter().copied())
            .map(OsStr::new)
            .collect();
        process::run(
            self.clang.path.as_os_str(),
            &arguments,
            input.as_bytes(),
            self.limit,
        )
    }

    /// The cache key of a text.
    fn key(&self, request: &CompileRequest<'_>, text: &str) -> Key {
        let builder = KeyBuilder::new("source to SPIR-V")
            .field(self.clang.identity.as_bytes())
            .field(&[u8::from(request.options.kernel_argument_info)]);
        // The header directory has another name each time; what lies in it is in the preprocessed text.
        let header_option = self.headers.map(|path| format!("-I{}", path.display()));
        let builder = self
            .arguments
            .iter()
            .filter(|argument| Some(*argument) != header_option.as_ref())
            .fold(builder, |builder, argument| {
                builder.field(argument.as_bytes())
            });
        builder.field(text.as_bytes()).finish()
    }

    /// All that is compiled, by which its result may be kept; `None` when that isn't known.
    ///
    /// A source without includes is its own description. With includes, which may come from anywhere, and
    /// with the time macros, only the preprocessed text says what is compiled: that costs a run of clang's
    /// preprocessor (30 ms) on a hit, and saves all the rest.
    fn text(&self, request: &CompileRequest<'_>) -> Option<Cow<'_, str>> {
        let outside = ["include", "embed", "__DATE__", "__TIME__", "__TIMESTAMP__"];
        let self_contained = request.headers.is_empty()
            && !outside.iter().any(|word| {
                self.input.contains(word)
                    || request
                        .options
                        .preprocessor
                        .iter()
                        .any(|o| o.contains(word))
            });
        if self_contained {
            return Some(Cow::Borrowed(&self.input));
        }
        let preprocessed = self.run(&["-x", "cl", "-E", "-", "-o", "-"]).ok()?;
        if preprocessed.end != process::End::Exit(0) {
            return None;
        }
        let text = diagnostics::readable(&preprocessed.stdout, self.headers);
        Some(Cow::Owned(text))
    }

    /// The module, by way of LLVM IR where what no kernel reaches is to be left out before clang optimizes it, or what
    /// its back end breaks down on written in other words.
    fn emit(&self, attempt: Attempt, only_kernels: bool) -> std::io::Result<Finished> {
        let with_level = |arguments: &[&'static [&'static str]]| -> Vec<&str> {
            let all = arguments.iter().copied().flatten().copied();
            all.chain(attempt.level).collect()
        };
        let mut input = Cow::Borrowed(self.input.as_str());
        let mut through = &SOURCE_THROUGH;
        let mut log = Vec::new();
        if only_kernels {
            let first = self.run_on(&input, &with_level(&[&AS_IT_IS, &IR, through]))?;
            if !has_ended_well(&first) {
                return Ok(first);
            }
            let ir = String::from_utf8_lossy(&first.stdout);
            input = Cow::Owned(internalize::functions(&ir));
            (through, log) = (&IR_THROUGH, first.stderr);
        }
        let mut rest: &'static [&'static str] = &[];
        if attempt.spells_out {
            let mut optimized = self.run_on(&input, &with_level(&[&IR, through]))?;
            if !has_ended_well(&optimized) {
                optimized.stderr.splice(..0, log);
                return Ok(optimized);
            }
            let ir = String::from_utf8_lossy(&optimized.stdout).into_owned();
            input = Cow::Owned(zero_extensions::spelled_out(&ir).unwrap_or(ir));
            log.extend(optimized.stderr);
            (through, rest) = (&IR_THROUGH, &AS_IT_IS);
        }
        let mut last = self.run_on(&input, &with_level(&[rest, &EMIT_ARGUMENTS, through]))?;
        last.stderr.splice(..0, log);
        Ok(last)
    }

    fn compile(&self, options: &BuildOptions, only_kernels: bool) -> SourceOutcome {
        let mut log = String::new();
        for attempt in ATTEMPTS {
            let finished = match self.emit(attempt, only_kernels) {
                Ok(finished) => finished,
                Err(error) => {
                    log.push_str(&format!(
                        "error: {} can't be run: {error}\n",
                        self.clang.path.display()
                    ));
                    return SourceOutcome::failed(log);
                }
            };
            // What an attempt before this had to say of the source is said again.
            log = diagnostics::readable(&finished.stderr, self.headers);
            if has_ended_well(&finished)
                && let Some(module) = words::from_bytes(&finished.stdout)
            {
                let wanted = Wanted {
                    arguments: options.kernel_argument_info,
                    vector_types: ["vec_type_hint", "kernel_exec"].iter().any(|word| {
                        self.input.contains(word)
                            || options.preprocessor.iter().any(|o| o.contains(word))
                    }),
                };
                let spirv = self.with_llvm_info(module, wanted);
                return SourceOutcome {
                    spirv: Some(PackedModule::new(&spirv)),
                    log,
                };
            }
            let is_crash = diagnostics::is_crash(finished.end, &log);
            if is_crash {
                log::debug!("clang broke down:\n{log}");
                diagnostics::leave_out_stack(&mut log);
            }
            log.extend(diagnostics::end_note(finished.end, &self.clang.path));
            if !is_crash {
                break;
            }
        }
        if log.is_empty() {
            log.push_str("error: clang wrote no module and no message\n");
        }
        SourceOutcome::failed(log)
    }

    /// Adds what clang writes to LLVM IR, but its SPIR-V back end drops.
    fn with_llvm_info(&self, module: Vec<u32>, wanted: Wanted) -> Vec<u32> {
        let variables = local_sizes::doubtful(&module);
        if variables.is_empty() && !wanted.arguments && !wanted.vector_types {
            return module;
        }
        let more = ["-cl-kernel-arg-info", "-w"];
        let arguments = [&AS_IT_IS[..], &IR, &more, &SOURCE_THROUGH].concat();
        match self.run(&arguments) {
            Ok(finished) if finished.end == process::End::Exit(0) => {
                let text = String::from_utf8_lossy(&finished.stdout);
                let module = local_sizes::add(module, &variables, &text);
                match wanted.arguments || wanted.vector_types {
                    true => argument_info::add(module, &argument_info::parse(&text), wanted),
                    false => module,
                }
            }
            other => {
                log::warn!(
                    "no kernel argument information, nor sizes of local variables: {other:?}"
                );
                module
            }
        }
    }
}

fn has_ended_well(finished: &Finished) -> bool {
    matches!(finished.end, process::End::Exit(0) | process::End::Unknown)
}

#[cfg(test)]
mod tests {
    use super::super::clang::tests::machine_clang;
    use super::super::instructions;
    use super::*;

    fn target() -> LanguageTarget {
        LanguageTarget {
            extensions: vec!["cl_khr_byte_addressable_store".into()],
            features: vec!["__opencl_c_int64".into()],
            images: false,
            fused_multiply_add: true,
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

    /// As in hashcat, whose modules hold a library of which kernels use a little: 26 s became 1 s.
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
        let outcome = compile_source(Ok(&machine_clang()), &DiskCache::disabled(), &request);
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
