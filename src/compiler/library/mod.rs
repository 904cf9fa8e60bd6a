//! The OpenCL built-in library, as SPIR-V, of which a compilation takes what it needs: libclc, and before it our own
//! mathematical functions (`device/maths`) for devices that fuse multiply-adds.
//!
//! libclc holds some 2,000 functions in 2.5 MB. [`Library::embedded`] walks the modules once and notes where each
//! function and declaration stands; [`Library::modules_with`] then puts together small valid modules
//! of a few functions and everything they reach, for the parser to read like any others.

mod assemble;
mod index;

use super::CompileError;
use index::Index;
use std::collections::HashMap;

/// What the names of our own functions begin with.
const OWN: &str = "pumice_";

/// The built-in library.
pub struct Library {
    libclc: Index,
    maths: Index,
    /// Mangled names of libclc's functions, to those of ours that do the same.
    replacements: HashMap<String, String>,
}

impl Library {
    /// The library that the driver was built with.
    pub fn embedded() -> Result<Self, CompileError> {
        let libclc = include_bytes!(concat!(env!("OUT_DIR"), "/libclc.spv"));
        let maths = include_bytes!(concat!(env!("OUT_DIR"), "/maths.spv"));
        let maths = Index::of_bytes(maths)?;
        let replacements = maths
            .function_names()
            .filter_map(|own| Some((replaced(own)?, own.to_owned())))
            .collect();
        Ok(Self {
            libclc: Index::of_bytes(libclc)?,
            maths,
            replacements,
        })
    }

    /// A library without functions.
    #[cfg(test)]
    pub fn empty() -> Self {
        let module = || Index::new(vec![0x0723_0203, 0x1_0500, 0, 1, 0]).expect("a header");
        Self {
            libclc: module(),
            maths: module(),
            replacements: HashMap::new(),
        }
    }

    /// Whether there is a function of this mangled name.
    pub fn has(&self, name: &str) -> bool {
        self.libclc.function(name).is_some() || self.maths.function(name).is_some()
    }

    /// Our own function that does what the one of this mangled name does.
    pub fn replacement(&self, name: &str) -> Option<&str> {
        self.replacements.get(name).map(String::as_str)
    }

    /// The words of modules that define `wanted` functions and their callees. Functions for which
    /// `elsewhere` holds are only declared (`Import`), and nothing is included on their behalf.
    pub fn modules_with(
        &self,
        wanted: &[&str],
        elsewhere: impl Fn(&str) -> bool,
    ) -> Result<Vec<Vec<u32>>, CompileError> {
        let (own, other): (Vec<&str>, Vec<&str>) = wanted
            .iter()
            .partition(|name| self.maths.function(name).is_some());
        [(&self.maths, own), (&self.libclc, other)]
            .into_iter()
            .filter(|(_, wanted)| !wanted.is_empty())
            .map(|(index, wanted)| index.module_with(&wanted, &elsewhere))
            .collect()
    }
}

/// `_Z3sinf` of `_Z10pumice_sinf`: the name without what ours begin with, as C++ mangles it.
fn replaced(own: &str) -> Option<String> {
    let (length, rest) = own
        .strip_prefix("_Z")?
        .split_at_checked(own.find(OWN)?.checked_sub(2)?)?;
    let length = length.parse::<usize>().ok()?.checked_sub(OWN.len())?;
    Some(format!("_Z{length}{}", rest.strip_prefix(OWN)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_functions_by_mangled_name() {
        let library = Library::embedded().unwrap();
        for name in ["_Z3sinf", "_Z3sind", "_Z3powff", "_Z12__clc_remquoffPi"] {
            assert!(library.has(name), "{name}");
        }
        assert!(!library.has("_Z9no_such_f"));
    }

    #[test]
    fn own_functions_stand_for_those_of_the_same_name() {
        let library = Library::embedded().unwrap();
        for (name, own) in [
            ("_Z3sinf", "_Z10pumice_sinf"),
            ("_Z4pownfi", "_Z11pumice_pownfi"),
        ] {
            assert_eq!(library.replacement(name), Some(own));
            assert!(library.has(own));
        }
        assert_eq!(library.replacement("_Z3sind"), None);
        for name in library.replacements.keys() {
            assert!(library.libclc.function(name).is_some(), "{name}");
        }
    }
}
