//! The option strings of `clBuildProgram`, `clCompileProgram` and `clLinkProgram` (OpenCL 3.0, section
//! 5.8.6 "Compiler Options" and 5.8.7 "Linker Options").

use std::fmt;

/// A language version named by `-cl-std=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LanguageVersion {
    /// OpenCL C, as major × 100 + minor × 10: 100, 110, 120, 200, 300.
    C(u32),
    /// C++ for OpenCL 1.0 (`CLC++`, `CLC++1.0`).
    Cpp1,
    /// C++ for OpenCL 2021.
    Cpp2021,
}

impl LanguageVersion {
    /// The version as clang spells it after `-cl-std=`.
    pub fn clang_name(self) -> &'static str {
        match self {
            Self::C(100) => "CL1.0",
            Self::C(110) => "CL1.1",
            Self::C(120) => "CL1.2",
            Self::C(200) => "CL2.0",
            Self::C(_) => "CL3.0",
            Self::Cpp1 => "CLC++1.0",
            Self::Cpp2021 => "CLC++2021",
        }
    }
}

/// Flags about arithmetic; they may stand in the options of a compilation and of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MathOptions {
    pub denorms_are_zero: bool,
    pub no_signed_zeros: bool,
    pub unsafe_math: bool,
    pub finite_math_only: bool,
    pub fast_relaxed: bool,
}

/// The options of one compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct BuildOptions {
    /// `-D` and `-I` with their values, in the order given: `-DN=4`, `-Iinclude`.
    pub preprocessor: Vec<String>,
    /// `-cl-std=`; `None` means the specification's default.
    pub language: Option<LanguageVersion>,
    pub math: MathOptions,
    pub single_precision_constant: bool,
    pub correctly_rounded_divide_sqrt: bool,
    pub mad_enable: bool,
    pub opt_disable: bool,
    pub uniform_work_group_size: bool,
    pub kernel_argument_info: bool,
    pub no_warnings: bool,
    pub warnings_are_errors: bool,
}

/// The options of one link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinkOptions {
    pub create_library: bool,
    pub enable_link_options: bool,
    pub math: MathOptions,
}

/// An option that can't be accepted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError {
    pub option: String,
    pub reason: &'static str,
}

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "option '{}': {}", self.option, self.reason)
    }
}

impl std::error::Error for OptionError {}

fn error(option: &str, reason: &'static str) -> OptionError {
    OptionError {
        option: option.to_owned(),
        reason,
    }
}

/// Splits as a POSIX shell splits words: spaces part them, quotes and backslashes keep things together.
/// Applications write `-DNAME=\"text\"` and `-I "dir with space"`.
///
/// # Errors
/// A quote that is never closed.
pub fn split_words(text: &str) -> Result<Vec<String>, OptionError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('"'), '\\') if matches!(characters.peek(), Some('"' | '\\' | '$' | '`')) => {
                word.get_or_insert_default().extend(characters.next());
            }
            (Some(_), other) => word.get_or_insert_default().push(other),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, space) if space.is_ascii_whitespace() => words.extend(word.take()),
            (None, other) => word.get_or_insert_default().push(other),
        }
    }
    if quote.is_some() {
        return Err(error(text, "a quotation mark is not closed"));
    }
    words.extend(word);
    Ok(words)
}

impl MathOptions {
    /// Takes the option if it is one of these.
    fn take(&mut self, option: &str) -> bool {
        match option {
            "-cl-denorms-are-zero" => self.denorms_are_zero = true,
            "-cl-no-signed-zeros" => self.no_signed_zeros = true,
            "-cl-unsafe-math-optimizations" => self.unsafe_math = true,
            "-cl-finite-math-only" => self.finite_math_only = true,
            "-cl-fast-relaxed-math" => self.fast_relaxed = true,
            _ => return false,
        }
        true
    }

    /// What either of two sets asks for.
    pub fn union(self, other: Self) -> Self {
        Self {
            denorms_are_zero: self.denorms_are_zero || other.denorms_are_zero,
            no_signed_zeros: self.no_signed_zeros || other.no_signed_zeros,
            unsafe_math: self.unsafe_math || other.unsafe_math,
            finite_math_only: self.finite_math_only || other.finite_math_only,
            fast_relaxed: self.fast_relaxed || other.fast_relaxed,
        }
    }
}

impl BuildOptions {
    /// Whether the language is OpenCL C, not C++ for OpenCL.
    pub fn is_c(&self) -> bool {
        matches!(self.language, None | Some(LanguageVersion::C(_)))
    }

    /// Parses the options of `clBuildProgram` or `clCompileProgram`.
    ///
    /// # Errors
    /// The first option that is unknown or lacks its value.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut options = Self::default();
        let mut words = split_words(text)?.into_iter();
        while let Some(word) = words.next() {
            if options.math.take(&word) || options.take_flag(&word) {
                continue;
            }
            if let Some(name) = word.strip_prefix("-cl-std=") {
                options.language = Some(parse_language(name).ok_or_else(|| {
                    error(&word, "the version is not one of CL1.0, CL1.1, CL1.2, CL2.0, CL3.0, CLC++, CLC++1.0, CLC++2021")
                })?);
            } else if word == "-D" || word == "-I" {
                let value = words
                    .next()
                    .ok_or_else(|| error(&word, "its value is missing"))?;
                options.preprocessor.push(word + &value);
            } else if word.starts_with("-D") || word.starts_with("-I") {
                options.preprocessor.push(word);
            } else if word == "-x" || word.starts_with("-spir-std=") {
                return Err(error(
                    &word,
                    "SPIR binaries (cl_khr_spir) are not supported",
                ));
            } else {
                return Err(error(&word, "not an option of the OpenCL specification"));
            }
        }
        Ok(options)
    }

    fn take_flag(&mut self, option: &str) -> bool {
        match option {
            "-cl-single-precision-constant" => self.single_precision_constant = true,
            "-cl-fp32-correctly-rounded-divide-sqrt" => self.correctly_rounded_divide_sqrt = true,
            "-cl-mad-enable" => self.mad_enable = true,
            "-cl-opt-disable" => self.opt_disable = true,
            "-cl-uniform-work-group-size" => self.uniform_work_group_size = true,
            "-cl-kernel-arg-info" => self.kernel_argument_info = true,
            "-w" => self.no_warnings = true,
            "-Werror" => self.warnings_are_errors = true,
            // Promises and wishes without an effect here: strict aliasing is OpenCL 1.0's name for what the
            // language demands anyway; sub-groups are never assumed to make independent progress; debug
            // information would only be dropped again by the compiler behind.
            "-cl-strict-aliasing" | "-cl-no-subgroup-ifp" | "-g" => {}
            _ => return false,
        }
        true
    }

    /// The arguments that clang gets for these options, language version included.
    pub fn clang_arguments(&self) -> Vec<String> {
        // Section 5.8.6.5: "If the -cl-std build option is not specified, the highest OpenCL C 1.x language
        // version supported by each device is used".
        let language = self.language.unwrap_or(LanguageVersion::C(120));
        let mut arguments = vec![format!("-cl-std={}", language.clang_name())];
        // clang's -O0 keeps every variable in memory, every call a call, and marks functions `optnone`, and
        // the back end then writes SPIR-V several times the size, which the driver would only optimize again.
        // -O1 keeps what `-cl-opt-disable` is used for (finding out whether an optimization is to blame).
        arguments.push(if self.opt_disable { "-O1" } else { "-O2" }.into());
        let flags = [
            (
                self.single_precision_constant,
                "-cl-single-precision-constant",
            ),
            (
                self.correctly_rounded_divide_sqrt,
                "-cl-fp32-correctly-rounded-divide-sqrt",
            ),
            (self.mad_enable, "-cl-mad-enable"),
            (self.uniform_work_group_size, "-cl-uniform-work-group-size"),
            (self.math.no_signed_zeros, "-cl-no-signed-zeros"),
            (self.math.unsafe_math, "-cl-unsafe-math-optimizations"),
            (self.math.finite_math_only, "-cl-finite-math-only"),
            (self.math.fast_relaxed, "-cl-fast-relaxed-math"),
            (self.no_warnings, "-w"),
            (self.warnings_are_errors, "-Werror"),
        ];
        for (given, flag) in flags {
            if given {
                arguments.push(flag.into());
            }
        }
        arguments.extend(self.preprocessor.iter().cloned());
        arguments
    }
}

fn parse_language(name: &str) -> Option<LanguageVersion> {
    Some(match name {
        "CL1.0" => LanguageVersion::C(100),
        "CL1.1" => LanguageVersion::C(110),
        "CL1.2" => LanguageVersion::C(120),
        "CL2.0" => LanguageVersion::C(200),
        "CL3.0" => LanguageVersion::C(300),
        "CLC++" | "CLC++1.0" => LanguageVersion::Cpp1,
        "CLC++2021" => LanguageVersion::Cpp2021,
        _ => return None,
    })
}

impl LinkOptions {
    /// Parses the options of `clLinkProgram`.
    ///
    /// # Errors
    /// The first option that is unknown or stands where it may not.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut options = Self::default();
        let words = split_words(text)?;
        for word in &words {
            match word.as_str() {
                "-create-library" => options.create_library = true,
                "-enable-link-options" => options.enable_link_options = true,
                "-cl-no-subgroup-ifp" => {}
                option if options.math.take(option) => {}
                option => {
                    return Err(error(
                        option,
                        "not a linker option of the OpenCL specification",
                    ));
                }
            }
        }
        // "-enable-link-options ... This option must be specified with the -create-library option".
        if options.enable_link_options && !options.create_library {
            return Err(error("-enable-link-options", "needs -create-library"));
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_does() {
        let words =
            split_words(r#" -DA=1  -D "B C" '-I/x y' -DS=\"t\" -DE="" "q\"r" a\ b "#).unwrap();
        assert_eq!(
            words,
            [
                "-DA=1",
                "-D",
                "B C",
                "-I/x y",
                "-DS=\"t\"",
                "-DE=",
                "q\"r",
                "a b"
            ]
        );
        assert!(split_words("-D 'x").is_err());
        assert_eq!(split_words("  ").unwrap(), Vec::<String>::new());
    }

    #[test]
    fn every_option_of_the_specification_is_known() {
        let text = "-D N=4 -DM -I dir -I/other -cl-single-precision-constant -cl-denorms-are-zero \
            -cl-fp32-correctly-rounded-divide-sqrt -cl-opt-disable -cl-strict-aliasing \
            -cl-uniform-work-group-size -cl-no-subgroup-ifp -cl-mad-enable -cl-no-signed-zeros \
            -cl-unsafe-math-optimizations -cl-finite-math-only -cl-fast-relaxed-math -w -Werror \
            -cl-std=CL3.0 -cl-kernel-arg-info -g";
        let options = BuildOptions::parse(text).unwrap();
        assert_eq!(options.preprocessor, ["-DN=4", "-DM", "-Idir", "-I/other"]);
        assert_eq!(options.language, Some(LanguageVersion::C(300)));
        assert!(options.kernel_argument_info && options.math.fast_relaxed && options.opt_disable);
        let arguments = options.clang_arguments();
        assert!(arguments.starts_with(&["-cl-std=CL3.0".into(), "-O1".into()]));
        assert!(arguments.ends_with(&options.preprocessor));
    }

    #[test]
    fn the_default_language_is_the_highest_1_x() {
        let arguments = BuildOptions::parse("").unwrap().clang_arguments();
        assert_eq!(arguments, ["-cl-std=CL1.2", "-O2"]);
    }

    #[test]
    fn unknown_options_are_named() {
        for text in [
            "-cl-foo",
            "-O3",
            "-x spir",
            "-D",
            "-cl-std=CL9.9",
            "-create-library",
            "file.cl",
        ] {
            let error = BuildOptions::parse(text).unwrap_err();
            assert!(text.starts_with(&error.option), "{text}: {error}");
        }
    }

    #[test]
    fn link_options() {
        let options =
            LinkOptions::parse("-create-library -enable-link-options -cl-denorms-are-zero")
                .unwrap();
        assert!(
            options.create_library && options.enable_link_options && options.math.denorms_are_zero
        );
        assert!(LinkOptions::parse("-enable-link-options").is_err());
        assert!(LinkOptions::parse("-DX").is_err());
        assert_eq!(LinkOptions::parse("").unwrap(), LinkOptions::default());
    }
}
