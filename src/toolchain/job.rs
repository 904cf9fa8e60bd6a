//! One source on its way through clang: what it is called for, one after the other.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::argument_info::Wanted;
use super::arguments::{self, Conversions, EMIT_ARGUMENTS, IR_THROUGH, SOURCE_THROUGH};
use super::built_ins::BuiltIns;
use super::cache::{Key, KeyBuilder};
use super::clang::Clang;
use super::diagnostics;
use super::headers::HeaderDirectory;
use super::input::{self, ADDED_NAME};
use super::options::BuildOptions;
use super::overloads::Question;
use super::process::{self, Finished};
use super::request::{CompileRequest, Rest, SourceOutcome};
use super::tables::{self, Tables};
use super::{argument_info, instructions, internalize, intrinsics, local_sizes, zero_extensions};
use crate::compiler::PackedModule;
use crate::compiler::spirv::words;

/// How a source becomes a module, as long as nothing breaks down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// In one go.
    Straight,
    /// By way of LLVM IR, of which large tables are taken out: [`tables`].
    ThroughIr,
    /// There, too, what no kernel reaches is left out before clang optimizes it: [`internalize`].
    OnlyKernels,
    /// What no kernel reaches is left out as well, and can be had later: [`Rest`].
    KernelsFirst,
    /// From what was kept for that; nothing is left out.
    Rest,
}

/// What the log says of a program that declares a built-in function as it is.
const IN_PLACE: &str = "warning: a function of the program has the parameters of the built-in function of its name, \
                        and stands for all built-in functions of that name\n";

/// Asks for LLVM IR.
const IR: [&str; 2] = ["-S", "-emit-llvm"];

/// Asks for the names of arguments in it.
const NAMES: [&str; 1] = ["-cl-kernel-arg-info"];

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

impl Attempt {
    /// Arguments, and the level of optimization after them.
    fn with_level(self, arguments: &[&'static [&'static str]]) -> Vec<&'static str> {
        let all = arguments.iter().copied().flatten().copied();
        all.chain(self.level).collect()
    }
}

/// One source on its way through clang.
pub(super) struct Job<'a> {
    clang: &'a Clang,
    input: String,
    arguments: Vec<String>,
    headers: Option<&'a HeaderDirectory>,
    /// Whether other modules may use its variables.
    is_linked: bool,
    limit: Duration,
}

impl<'a> Job<'a> {
    /// From what was kept of one.
    pub(super) fn again(
        clang: &'a Clang,
        ir: String,
        arguments: Vec<String>,
        limit: Duration,
    ) -> Self {
        Self {
            clang,
            input: ir,
            arguments,
            headers: None,
            // It has kernels, with which its variables stay.
            is_linked: false,
            limit,
        }
    }

    pub(super) fn new(
        clang: &'a Clang,
        request: &CompileRequest<'_>,
        headers: Option<&'a HeaderDirectory>,
        limit: Duration,
    ) -> Self {
        Self {
            clang,
            input: input::input(request, None),
            arguments: arguments::front(
                clang.built_ins.as_ref(),
                request,
                headers,
                Conversions::Warned,
            ),
            headers,
            is_linked: !request.is_whole,
            limit,
        }
    }

    /// The built-in functions, if the program may declare others under their names: `text` is all of it, where that is
    /// known.
    pub(super) fn hidden_built_ins(
        &self,
        request: &CompileRequest<'_>,
        text: Option<&str>,
    ) -> Option<&'a BuiltIns> {
        let built_ins = self.clang.built_ins.as_ref()?;
        let base = built_ins.base();
        let question = Question {
            is_c: request.options.is_c(),
            is_built_in: &|name| built_ins.has(name),
            is_ours: &|file| file == ADDED_NAME || file == base,
        };
        let may_declare = match text.filter(|_| !self.is_self_contained(request)) {
            Some(preprocessed) => question.may_declare(preprocessed),
            None => question.may_declare(&input::with_definitions(request)),
        };
        may_declare.then_some(built_ins)
    }

    /// Compiles with all built-in functions declared. A program that does not build so, as it declares one of them as
    /// it is, builds without; there its own stand for all of that name, and no pointer is converted to fit them.
    pub(super) fn compile_with(
        &self,
        built_ins: &BuiltIns,
        request: &CompileRequest<'_>,
        way: Way,
    ) -> SourceOutcome {
        let declared = Job {
            input: input::input(request, Some(built_ins)),
            arguments: self.arguments.clone(),
            ..*self
        };
        let outcome = declared.compile(declared.wanted(request.options), way);
        if outcome.spirv.is_some() {
            return outcome;
        }
        let hidden = Job {
            input: self.input.clone(),
            arguments: arguments::front(
                self.clang.built_ins.as_ref(),
                request,
                self.headers,
                Conversions::Refused,
            ),
            ..*self
        };
        let mut outcome = hidden.compile(hidden.wanted(request.options), way);
        if outcome.spirv.is_some() {
            outcome.log.push_str(IN_PLACE);
        }
        outcome
    }

    /// The job's source with a function that nothing calls: clang's back end leaves out all variables of one without.
    fn with_a_function(&self) -> Self {
        let hash = crc32fast::hash(self.input.as_bytes());
        Self {
            input: format!(
                "{}\nvoid __pumice_holds_variables_{hash:08x}(void) {{}}\n",
                self.input
            ),
            arguments: self.arguments.clone(),
            is_linked: false,
            ..*self
        }
    }

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
    pub(super) fn key(&self, request: &CompileRequest<'_>, text: &str) -> Key {
        let builder = KeyBuilder::new("source to SPIR-V")
            .field(self.clang.identity.as_bytes())
            .field(&[u8::from(request.options.kernel_argument_info)]);
        // The header directory has another name each time; what lies in it is in the preprocessed text.
        let header_options = self.headers.map(HeaderDirectory::arguments);
        let header_options = header_options.unwrap_or_default();
        let builder = self
            .arguments
            .iter()
            .filter(|argument| !header_options.contains(argument))
            .fold(builder, |builder, argument| {
                builder.field(argument.as_bytes())
            });
        builder.field(text.as_bytes()).finish()
    }

    /// Whether no part of the program comes from elsewhere.
    fn is_self_contained(&self, request: &CompileRequest<'_>) -> bool {
        let outside = ["include", "embed", "__DATE__", "__TIME__", "__TIMESTAMP__"];
        let options = &request.options.preprocessor;
        request.headers.is_empty()
            && !outside.iter().any(|word| {
                self.input.contains(word) || options.iter().any(|option| option.contains(word))
            })
    }

    /// All that is compiled, by which its result may be kept; `None` when that isn't known.
    ///
    /// A source without includes is its own description. With includes, which may come from anywhere, and
    /// with the time macros, only the preprocessed text says what is compiled: that costs a run of clang's
    /// preprocessor (30 ms) on a hit, and saves all the rest.
    pub(super) fn text(&self, request: &CompileRequest<'_>) -> Option<Cow<'_, str>> {
        if self.is_self_contained(request) {
            return Some(Cow::Borrowed(&self.input));
        }
        let preprocessed = self.run(&["-x", "cl", "-E", "-", "-o", "-"]).ok()?;
        if preprocessed.end != process::End::Exit(0) {
            return None;
        }
        let text = diagnostics::readable(&preprocessed.stdout, self.header_path());
        Some(Cow::Owned(text))
    }

    fn header_path(&self) -> Option<&Path> {
        self.headers.map(HeaderDirectory::path)
    }

    /// What the front end makes of the input, changed as `way` has it before clang optimizes it.
    fn front(&self, attempt: Attempt, way: Way) -> std::io::Result<Result<Front, Finished>> {
        let (text, log) = match way {
            Way::Rest => (self.input.clone(), Vec::new()),
            _ => {
                let first = self.run_on(
                    &self.input,
                    &attempt.with_level(&[&AS_IT_IS, &IR, &NAMES, &SOURCE_THROUGH]),
                )?;
                if !has_ended_well(&first) {
                    return Ok(Err(first));
                }
                let text = String::from_utf8_lossy(&first.stdout).into_owned();
                (text, first.stderr)
            }
        };
        let (mut ir, tables) =
            tables::taken_out(&text).unwrap_or_else(|| (text.clone(), Tables::default()));
        let is_reduced = match way {
            Way::OnlyKernels => true,
            // A library is nothing but what others call.
            Way::KernelsFirst => internalize::has_kernels(&ir),
            _ => false,
        };
        let mut is_partial = false;
        if is_reduced {
            let only_kernels = internalize::functions(&ir);
            is_partial = only_kernels != ir;
            ir = only_kernels;
        }
        Ok(Ok(Front {
            text,
            ir,
            tables,
            is_partial,
            log,
        }))
    }

    /// The module, by way of LLVM IR where it is to be changed before clang optimizes it, or what its back end breaks
    /// down on written in other words.
    fn emit(&self, attempt: Attempt, way: Way) -> std::io::Result<Emitted> {
        let front = match way {
            Way::Straight => None,
            _ => match self.front(attempt, way)? {
                Ok(front) => Some(front),
                Err(finished) => return Ok(finished.into()),
            },
        };
        let is_partial = front.as_ref().is_some_and(|front| front.is_partial);
        let mut input = Cow::Borrowed(self.input.as_str());
        let mut through = &SOURCE_THROUGH;
        let mut log = Vec::new();
        let mut tables = Tables::default();
        let mut text = None;
        if let Some(front) = front {
            input = Cow::Owned(front.ir);
            through = &IR_THROUGH;
            (log, tables, text) = (front.log, front.tables, Some(front.text));
        }
        let mut rest: &'static [&'static str] = &[];
        if attempt.spells_out {
            let mut optimized = self.run_on(&input, &attempt.with_level(&[&IR, through]))?;
            if !has_ended_well(&optimized) {
                optimized.stderr.splice(..0, log);
                return Ok(optimized.into());
            }
            let ir = String::from_utf8_lossy(&optimized.stdout).into_owned();
            let mut ir = zero_extensions::spelled_out(&ir).unwrap_or(ir);
            ir = intrinsics::spelled_out(&ir).unwrap_or(ir);
            if way == Way::Straight
                && let Some(without) = tables::taken_out(&ir)
            {
                (ir, tables) = without;
            }
            input = Cow::Owned(ir);
            log.extend(optimized.stderr);
            (through, rest) = (&IR_THROUGH, &AS_IT_IS);
        }
        let arguments = attempt.with_level(&[rest, &EMIT_ARGUMENTS, through]);
        let mut finished = self.run_on(&input, &arguments)?;
        finished.stderr.splice(..0, log);
        Ok(Emitted {
            finished,
            tables,
            front: text,
            is_partial,
            input: input.into_owned(),
            to_ir: attempt.with_level(&[rest, &IR, &["-w"], through]),
        })
    }

    /// What queries of the program's kernels may ask for.
    pub(super) fn wanted(&self, options: &BuildOptions) -> Wanted {
        Wanted {
            arguments: options.kernel_argument_info,
            vector_types: ["vec_type_hint", "kernel_exec"].iter().any(|word| {
                self.input.contains(word) || options.preprocessor.iter().any(|o| o.contains(word))
            }),
        }
    }

    pub(super) fn compile(&self, wanted: Wanted, way: Way) -> SourceOutcome {
        let mut log = String::new();
        for attempt in ATTEMPTS {
            let emitted = match self.emit(attempt, way) {
                Ok(emitted) => emitted,
                Err(error) => {
                    log.push_str(&format!(
                        "error: {} can't be run: {error}\n",
                        self.clang.path.display()
                    ));
                    return SourceOutcome::failed(log);
                }
            };
            let finished = &emitted.finished;
            // What an attempt before this had to say of the source is said again.
            log = diagnostics::readable(&finished.stderr, self.header_path());
            let module = words::from_bytes(&finished.stdout).filter(|_| has_ended_well(finished));
            let is_wide = module.as_deref().is_some_and(has_wide_integers);
            if let Some(module) = module.filter(|_| !is_wide)
                && let Some(module) = emitted.tables.put_into(module)
            {
                if self.is_linked && !has_functions(&module) {
                    return self.with_a_function().compile(wanted, way);
                }
                return match self.with_llvm_info(module, wanted, &emitted) {
                    Ok(spirv) => SourceOutcome {
                        spirv: Some(PackedModule::new(&spirv)),
                        rest: emitted
                            .front
                            .filter(|_| emitted.is_partial && way == Way::KernelsFirst)
                            .map(|ir| self.rest(&ir, wanted)),
                        log,
                    },
                    Err(reason) => SourceOutcome::failed(log + &reason),
                };
            }
            let is_crash = diagnostics::is_crash(finished.end, &log);
            if is_crash {
                log::debug!("clang broke down:\n{log}");
                diagnostics::leave_out_stack(&mut log);
            }
            if is_wide {
                log.push_str(diagnostics::WIDE_INTEGER);
            }
            log.extend(diagnostics::end_note(finished.end, &self.clang.path));
            // The optimizer makes integers of 65 bits, too: less of it may get by.
            if !is_crash && !is_wide {
                break;
            }
        }
        if log.is_empty() {
            log.push_str("error: clang wrote no module and no message\n");
        }
        SourceOutcome::failed(log)
    }

    /// What it takes to make a module of the functions, too, that this one lacks.
    fn rest(&self, ir: &str, wanted: Wanted) -> Rest {
        // What is included has been, and lies elsewhere the next time.
        let header_options = self.headers.map(HeaderDirectory::arguments);
        let header_options = header_options.unwrap_or_default();
        let arguments = self.arguments.iter();
        Rest::new(
            ir,
            arguments
                .filter(|argument| !header_options.contains(argument))
                .cloned()
                .collect(),
            wanted,
        )
    }

    /// Adds what clang writes to LLVM IR, but its SPIR-V back end drops.
    ///
    /// # Errors
    /// The build log's line: the module needs a part of that.
    fn with_llvm_info(
        &self,
        module: Vec<u32>,
        wanted: Wanted,
        emitted: &Emitted,
    ) -> Result<Vec<u32>, String> {
        let variables = local_sizes::doubtful(&module);
        let wants_more = wanted.arguments || wanted.vector_types;
        if variables.is_empty() && !wants_more {
            return Ok(module);
        }
        let text = match &emitted.front {
            Some(text) => Ok(Cow::Borrowed(text.as_str())),
            None => self
                .text_of(
                    &self.input,
                    &[&AS_IT_IS[..], &IR, &NAMES, &["-w"], &SOURCE_THROUGH].concat(),
                )
                .map(Cow::Owned),
        };
        let module = if variables.is_empty() {
            module
        } else {
            self.with_local_sizes(module, &variables, text.as_deref().unwrap_or(""), emitted)?
        };
        match text {
            Ok(text) if wants_more => Ok(argument_info::add(
                module,
                &argument_info::parse(&text),
                wanted,
            )),
            Ok(_) => Ok(module),
            // The queries answer that the information is not available.
            Err(reason) => {
                log::warn!("no kernel argument information: {reason}");
                Ok(module)
            }
        }
    }

    /// Adds the sizes of variables: as the front end wrote them, or of what the optimizer has split, as that did.
    ///
    /// # Errors
    /// The build log's line: neither has one of them.
    fn with_local_sizes(
        &self,
        module: Vec<u32>,
        variables: &[String],
        front: &str,
        emitted: &Emitted,
    ) -> Result<Vec<u32>, String> {
        local_sizes::add(&module, variables, front).or_else(|_| {
            let text = self.text_of(&emitted.input, &emitted.to_ir);
            local_sizes::add(&module, variables, text.as_deref().unwrap_or(""))
                .map_err(|names| format!("error: the size of local memory is not known: {names}\n"))
        })
    }

    /// What clang makes of an input as text, or how it ended.
    fn text_of(&self, input: &str, arguments: &[&str]) -> Result<String, String> {
        match self.run_on(input, arguments) {
            Ok(finished) if has_ended_well(&finished) => {
                Ok(String::from_utf8_lossy(&finished.stdout).into_owned())
            }
            Ok(finished) => Err(format!("{finished:?}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A program in LLVM IR, not optimized yet.
struct Front {
    /// The text that the front end wrote.
    text: String,
    /// The text to compile: without tables, and where asked without what no kernel reaches.
    ir: String,
    /// What was taken out of it.
    tables: Tables,
    /// Whether it may lack functions that the program has.
    is_partial: bool,
    log: Vec<u8>,
}

/// What clang made.
struct Emitted {
    finished: Finished,
    /// What was taken out of it.
    tables: Tables,
    /// What the front end made of the source, if it was asked.
    front: Option<String>,
    /// Whether it may lack functions that the program has.
    is_partial: bool,
    /// What it was made of, and how clang is asked for the optimized LLVM IR of that.
    input: String,
    to_ir: Vec<&'static str>,
}

impl From<Finished> for Emitted {
    fn from(finished: Finished) -> Self {
        Self {
            finished,
            tables: Tables::default(),
            front: None,
            is_partial: false,
            input: String::new(),
            to_ir: Vec::new(),
        }
    }
}

/// Whether there are integers that no device has.
fn has_wide_integers(module: &[u32]) -> bool {
    instructions::all(module).any(|one| {
        one.opcode == instructions::opcode::TYPE_INT
            && one.words.get(2).is_some_and(|&bits| bits > 64)
    })
}

fn has_functions(module: &[u32]) -> bool {
    instructions::all(module).any(|one| one.opcode == instructions::opcode::FUNCTION)
}

fn has_ended_well(finished: &Finished) -> bool {
    matches!(finished.end, process::End::Exit(0) | process::End::Unknown)
}
