//! `pumice compile`: what the driver does to a program, without a device.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::prelude::*;
use pumice::compiler::spirv::words;
use pumice::compiler::{self, Capabilities, CompiledKernel, CompiledProgram};
use pumice::config::Config;
use pumice::runtime::code::front_end::FrontEnd;
use pumice::runtime::device::extensions::language_target;
use pumice::runtime::program::source::Source;
use pumice::toolchain::{BuildOptions, CompileRequest, compile_source};
use rspirv::binary::Disassemble;

use crate::Failure;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Emit {
    /// Vulkan SPIR-V.
    Spirv,
    /// Vulkan SPIR-V as text.
    Asm,
    /// Reflection.
    Ir,
    /// OpenCL SPIR-V.
    Il,
}

struct Request {
    input: PathBuf,
    output: Option<PathBuf>,
    emit: Emit,
    kernel: Option<String>,
    options: BuildOptions,
    capabilities: Capabilities,
}

pub fn command(arguments: lexopt::Parser) -> Result<ExitCode, Failure> {
    let request = parse(arguments)?;
    let config = Config::of_process();
    config.start_logging();
    let front_end = FrontEnd::new(config);
    let module = opencl_module(&request, &front_end)?;
    if request.emit == Emit::Il {
        write(request.output.as_deref(), &words::to_bytes(&module))?;
        return Ok(ExitCode::SUCCESS);
    }
    let math = request.options.math;
    let options = compiler::Options {
        denorms_are_zero: math.denorms_are_zero,
        fast_relaxed_math: math.fast_relaxed || math.unsafe_math,
        opt_disable: request.options.opt_disable,
        uniform_work_groups: request.options.uniform_work_group_size,
        ..compiler::Options::default()
    };
    let program = compiler::compile(
        &[&module],
        front_end.library().map_err(Clone::clone)?,
        &request.capabilities,
        &options,
    )?;
    let kernels: Vec<&CompiledKernel> = program
        .kernels
        .iter()
        .filter(|kernel| {
            request
                .kernel
                .as_ref()
                .is_none_or(|name| *name == kernel.name)
        })
        .collect();
    if let (Some(name), []) = (&request.kernel, kernels.as_slice()) {
        return Err(format!("{}: no kernel '{name}'", request.input.display()).into());
    }
    if let Some((kernel, excess)) = kernels
        .iter()
        .find_map(|it| Some((it, it.excess.as_ref()?)))
    {
        return Err(format!("kernel '{}': {excess}", kernel.name).into());
    }
    match request.emit {
        Emit::Asm => write(request.output.as_deref(), disassembly(&kernels)?.as_bytes())?,
        Emit::Ir => write(
            request.output.as_deref(),
            reflection(&program, &kernels).as_bytes(),
        )?,
        _ => match (kernels.as_slice(), &request.output) {
            ([kernel], output) => {
                write(output.as_deref(), &words::to_bytes(&kernel.spirv.words()?))?
            }
            (_, None) => return Err("several kernels: say -o FILE, or --kernel NAME".into()),
            (kernels, Some(output)) => {
                for kernel in kernels {
                    let path = format!("{}.{}", output.display(), kernel.name);
                    write(
                        Some(Path::new(&path)),
                        &words::to_bytes(&kernel.spirv.words()?),
                    )?;
                }
            }
        },
    }
    Ok(ExitCode::SUCCESS)
}

fn parse(mut arguments: lexopt::Parser) -> Result<Request, Failure> {
    let (mut input, mut output, mut kernel) = (None, None, None);
    let mut emit = Emit::Asm;
    let mut options = BuildOptions::default();
    let mut capabilities = Capabilities::full();
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('o') | Long("output") => output = Some(PathBuf::from(arguments.value()?)),
            Long("kernel") => kernel = Some(arguments.value()?.string()?),
            Long("options") => options = BuildOptions::parse(&arguments.value()?.string()?)?,
            Long("emit") => {
                emit = match arguments.value()?.string()?.as_str() {
                    "spirv" => Emit::Spirv,
                    "asm" => Emit::Asm,
                    "ir" => Emit::Ir,
                    "il" => Emit::Il,
                    other => return Err(format!("--emit {other}: not spirv, asm, ir or il").into()),
                }
            }
            Long("device-like") => {
                let name = arguments.value()?.string()?;
                capabilities = Capabilities::named(&name).ok_or_else(|| {
                    format!(
                        "--device-like {name}: not full, lavapipe, nvidia, radv, swiftshader or minimal"
                    )
                })?;
            }
            Value(path) if input.is_none() => input = Some(PathBuf::from(path)),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Request {
        input: input.ok_or("compile: the file is missing")?,
        output,
        emit,
        kernel,
        options,
        capabilities,
    })
}

/// The OpenCL SPIR-V of the input: the file itself, or what clang makes of it.
fn opencl_module(request: &Request, front_end: &FrontEnd) -> Result<Vec<u32>, Failure> {
    let name = request.input.display();
    let bytes = std::fs::read(&request.input).map_err(|error| format!("{name}: {error}"))?;
    if let Some(module) = words::from_bytes(&bytes) {
        return Ok(module);
    }
    let mut source = Source::default();
    source.push(&bytes)?;
    let outcome = compile_source(
        front_end.clang(),
        front_end.cache(),
        &CompileRequest {
            source: &source.for_compiler(),
            headers: &[],
            options: &request.options,
            target: &language_target(&request.capabilities),
            is_whole: true,
            is_unoptimized: false,
        },
    );
    eprint!("{}", outcome.log);
    let module = outcome
        .spirv
        .ok_or_else(|| format!("{name}: not compiled"))?;
    Ok(module.words()?)
}

fn disassembly(kernels: &[&CompiledKernel]) -> Result<String, Failure> {
    let mut text = String::new();
    for kernel in kernels {
        let module = rspirv::dr::load_words(kernel.spirv.words()?)
            .map_err(|error| format!("kernel '{}': {error}", kernel.name))?;
        writeln!(text, "; kernel {}\n{}", kernel.name, module.disassemble())?;
    }
    Ok(text)
}

fn reflection(program: &CompiledProgram, kernels: &[&CompiledKernel]) -> String {
    let mut text = String::new();
    for kernel in kernels {
        text.push_str(&format!(
            "kernel {}\n  argument block: {:?}\n  attributes: {:?}\n  local {} bytes, private {} bytes, barrier {}, \
             follows pointers {}, uniforms {} bytes\n",
            kernel.name,
            kernel.argument_block,
            kernel.attributes,
            kernel.local_memory_bytes,
            kernel.private_memory_bytes,
            kernel.uses_barrier,
            kernel.follows_pointers,
            kernel.uniform_bytes
        ));
        for (index, argument) in kernel.arguments.iter().enumerate() {
            text.push_str(&format!("  argument {index}: {argument:?}\n"));
        }
    }
    let data = &program.data;
    text.push_str(&format!(
        "data: {} bytes, {} of constants, writable {}, {} relocations
",
        data.size_bytes,
        data.constant_bytes,
        data.writable,
        data.relocations.len()
    ));
    text
}

fn write(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) => std::fs::write(path, bytes)
            .map_err(|error| format!("{}: {error}", path.display()).into()),
        None => {
            use std::io::Write;
            Ok(std::io::stdout().write_all(bytes)?)
        }
    }
}
