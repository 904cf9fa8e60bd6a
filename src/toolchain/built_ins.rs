//! The headers of OpenCL C that come with clang, and the built-in functions that they declare.
//!
//! clang declares built-in functions from a table (`-fdeclare-opencl-builtins`), or from its full header, which takes
//! 0.1 s more. The table is asked for a name only where the program has declared nothing of that name; so the full
//! header is included for programs that have: see [`super::overloads`].
//!
//! Headers are named by their absolute paths: the application's own folders may hold files of the same names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::cache::file_identity;
use super::tokens::{Token, Tokens};

/// Headers of one clang.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuiltIns {
    /// Types and macros: `opencl-c-base.h`.
    base: String,
    /// All functions: `opencl-c.h`.
    full: String,
    /// Changes when the full header is replaced.
    identity: String,
    /// The functions' names.
    names: BTreeSet<String>,
}

impl BuiltIns {
    /// Those in clang's resource directory; `None` if they are not there.
    pub fn of(resources: &str) -> Option<Self> {
        let is_plain = !resources.contains(['"', '\\', '\n']);
        let path = |name: &str| format!("{resources}/include/{name}");
        let (base, full) = (path("opencl-c-base.h"), path("opencl-c.h"));
        let text = fs::read_to_string(&full).ok()?;
        let is_there = is_plain && Path::new(&base).is_absolute() && Path::new(&base).is_file();
        is_there.then(|| Self {
            base,
            identity: file_identity(Path::new(&full)),
            names: names(&text),
            full,
        })
    }

    /// Whether the headers are the ones that were read.
    pub fn are_there(&self) -> bool {
        Path::new(&self.base).is_file() && file_identity(Path::new(&self.full)) == self.identity
    }

    /// The header of types and macros.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The header of all functions.
    pub fn full(&self) -> &str {
        &self.full
    }

    /// Whether a built-in function has this name.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// The names of the functions that a header declares: each declaration says `__ovld`, overloadable.
fn names(header: &str) -> BTreeSet<String> {
    let declarations = header.split("__ovld").skip(1);
    let name = |declaration: &str| {
        let mut last = None;
        for token in Tokens::of(declaration) {
            match (token, last) {
                (Token::Word("__attribute__"), _) => last = None,
                (Token::Word(word), _) => last = Some(word),
                (Token::Punctuation(b'('), Some(word)) => return Some(word.to_owned()),
                (Token::Punctuation(b';'), _) => return None,
                _ => last = None,
            }
        }
        None
    };
    declarations.filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::super::clang::tests::machine_clang;
    use super::*;

    #[test]
    fn names_are_those_of_overloadable_declarations() {
        let header = "#define X 1\nfloat __ovld __cnfn acos(float);\nuint2 __ovld\n  __purefn read (image2d_t, int2);\n\
                      void __ovld __attribute__((always_inline)) f(int);\n\
                      int other(int);\n";
        let found = names(header);
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["acos", "f", "read"]);
    }

    #[test]
    fn clangs_headers_are_found() {
        let clang = machine_clang();
        let built_ins = clang.built_ins.expect("headers");
        for name in [
            "max",
            "length",
            "atom_add",
            "atomic_add",
            "abs_diff",
            "vload4",
            "sub_group_barrier",
        ] {
            assert!(built_ins.has(name), "{name}");
        }
        assert!(!built_ins.has("__attribute__") && !built_ins.has("always_inline"));
        assert!(!built_ins.has("main") && built_ins.are_there());
        assert_eq!(BuiltIns::of("/nonexistent"), None);
    }
}
