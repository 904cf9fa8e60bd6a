//! Which `clang` to use: `PUMICE_CLANG`, else the newest on the path that can make SPIR-V, and of the right meaning.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::arguments::{EMIT_ARGUMENTS, SOURCE_THROUGH, TARGET_ARGUMENTS};
use super::built_ins::BuiltIns;
use super::cache::{DiskCache, KeyBuilder, file_identity};
use super::process::{self, End};
use crate::compiler::spirv::words;

/// A compiler that was tried and makes SPIR-V.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clang {
    pub path: PathBuf,
    /// First line of `--version`, e.g. `Debian clang version 22.1.8 (1~deb12u1)`.
    pub version: String,
    /// Changes when the program is replaced; part of the cache's key.
    pub identity: String,
    /// Its headers of OpenCL C; `None` where it comes without them.
    pub built_ins: Option<BuiltIns>,
}

/// No usable clang, and what was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoClang {
    /// Each candidate with the reason it does not serve.
    pub tried: Vec<(PathBuf, String)>,
    /// Whether `PUMICE_CLANG` named the candidate.
    pub overridden: bool,
}

impl fmt::Display for NoClang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "error: OpenCL C can't be compiled: no clang that can make SPIR-V was found."
        )?;
        for (path, reason) in &self.tried {
            writeln!(f, "  {}: {reason}", path.display())?;
        }
        if self.overridden {
            writeln!(
                f,
                "  PUMICE_CLANG names that program; correct it or unset it."
            )
        } else {
            writeln!(
                f,
                "  Install clang 22 or later (on Debian and Ubuntu: apt install clang-22), or set PUMICE_CLANG \
                 to the path of one whose `clang --print-targets` lists spirv64."
            )
        }
    }
}

impl std::error::Error for NoClang {}

/// A kernel that the trial compiles.
const TRIAL: &[u8] = b"kernel void k(global int *p, char4 v) { p[get_global_id(0)] = any(v); }\n";
const TRIAL_LIMIT: Duration = Duration::from_secs(30);

impl Clang {
    /// Finds the compiler. `pumice_clang` is the value of `PUMICE_CLANG`; `search_path` that of `PATH`.
    /// What was learnt about a program is kept in `cache`, until the program changes.
    ///
    /// # Errors
    /// None serves.
    pub fn find(
        pumice_clang: Option<&OsStr>,
        search_path: Option<&OsStr>,
        cache: &DiskCache,
    ) -> Result<Self, NoClang> {
        let overridden = pumice_clang.filter(|name| !name.is_empty());
        let candidates = match overridden {
            Some(name) => vec![locate(name, search_path)],
            None => candidates(search_path),
        };
        let mut tried = Vec::new();
        let mut seen = BTreeSet::new();
        for path in candidates {
            let probed = match path.canonicalize() {
                Ok(real) if !seen.insert(real.clone()) => continue,
                Ok(real) => probe(&path, &real, cache),
                Err(error) => Err(format!("not found: {error}")),
            };
            match probed {
                Ok(clang) => return Ok(clang),
                Err(reason) => tried.push((path, reason)),
            }
        }
        Err(NoClang {
            tried,
            overridden: overridden.is_some(),
        })
    }
}

/// A name without a slash is looked up on the path, as a shell does.
fn locate(name: &OsStr, search_path: Option<&OsStr>) -> PathBuf {
    let path = Path::new(name);
    if path.components().count() > 1 {
        return path.to_owned();
    }
    std::env::split_paths(search_path.unwrap_or_default())
        .map(|directory| directory.join(path))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| path.to_owned())
}

/// `clang-NN` of every directory of the path, highest number first, then plain `clang`.
fn candidates(search_path: Option<&OsStr>) -> Vec<PathBuf> {
    let mut numbered: Vec<(u32, PathBuf)> = Vec::new();
    let mut plain = Vec::new();
    // `/bin` is `/usr/bin` on most machines, and long.
    let mut read = BTreeSet::new();
    for directory in std::env::split_paths(search_path.unwrap_or_default()) {
        let is_new = |directory| read.insert(directory);
        if !directory.canonicalize().is_ok_and(is_new) {
            continue;
        }
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        let is_one = |name: &OsString| name.as_encoded_bytes().starts_with(b"clang");
        let names = entries.flatten().map(|entry| entry.file_name());
        let names: BTreeSet<OsString> = names.filter(is_one).collect();
        for name in names {
            let Some(text) = name.to_str() else { continue };
            if text == "clang" {
                plain.push(directory.join(text));
            } else if let Some(number) = text.strip_prefix("clang-").and_then(|n| n.parse().ok()) {
                numbered.push((number, directory.join(text)));
            }
        }
    }
    // Stable: of equal numbers the one earlier on the path stays first.
    numbered.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let numbered = numbered.into_iter().map(|(_, path)| path);
    numbered.chain(plain).collect()
}

/// Tries the program, whose file is `real`, or remembers how that went.
fn probe(path: &Path, real: &Path, cache: &DiskCache) -> Result<Clang, String> {
    let identity = file_identity(real);
    let key = KeyBuilder::new("clang and its headers")
        .field(identity.as_bytes())
        .finish();
    let kept = cache.get(key);
    let kept: Option<(String, BuiltIns)> = kept.and_then(|kept| postcard::from_bytes(&kept).ok());
    let (version, built_ins) = match kept.filter(|(_, built_ins)| built_ins.are_there()) {
        Some((version, built_ins)) => (version, Some(built_ins)),
        None => {
            let version = trial(path)?;
            let built_ins = BuiltIns::of(&first_line(path, "-print-resource-dir")?);
            // Only success is kept: a failure may come from what is missing beside the program and be mended.
            if let Some(built_ins) = &built_ins
                && let Ok(bytes) = postcard::to_allocvec(&(&version, built_ins))
            {
                cache.put(key, &bytes);
            }
            (version, built_ins)
        }
    };
    Ok(Clang {
        path: path.to_owned(),
        version,
        identity,
        built_ins,
    })
}

fn trial(path: &Path) -> Result<String, String> {
    let arguments: Vec<&OsStr> = TARGET_ARGUMENTS
        .iter()
        .chain(&["-cl-std=CL1.2", "-O1", "-Xclang", "-cl-ext=-all"])
        .chain(&EMIT_ARGUMENTS)
        .chain(&SOURCE_THROUGH)
        .map(OsStr::new)
        .collect();
    let finished = process::run(path.as_os_str(), &arguments, TRIAL, TRIAL_LIMIT)
        .map_err(|error| format!("can't be run: {error}"))?;
    let Some(module) = words::from_bytes(&finished.stdout) else {
        let message = String::from_utf8_lossy(&finished.stderr);
        let first = message.lines().next().unwrap_or("no message").trim();
        return Err(match finished.end {
            End::Signal(signal) => format!("crashed with signal {signal} on a trial kernel"),
            End::TimedOut => "did not finish a trial kernel".into(),
            _ => format!("makes no SPIR-V: {first}"),
        });
    };
    if compares_with_zero(&module) {
        return Err("makes comparisons with zero of any() and all()".into());
    }
    first_line(path, "--version")
}

/// The first line of what clang says to one argument.
fn first_line(path: &Path, argument: &str) -> Result<String, String> {
    let arguments = [OsStr::new(argument)];
    let finished = process::run(path.as_os_str(), &arguments, b"", TRIAL_LIMIT)
        .map_err(|error| format!("can't be run: {error}"))?;
    let text = String::from_utf8_lossy(&finished.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

/// Whether [`TRIAL`]'s `any`, which is true where the highest bit of an element is set, became a comparison, as the back end
/// of clang 23.1 makes it: `any((char4)1)` is true then. (That of 22 hands `OpAny` the integers, as they are.)
fn compares_with_zero(module: &[u32]) -> bool {
    const HEADER_WORDS: usize = 5;
    const NOT_EQUAL: u32 = 171;
    let mut rest = module.get(HEADER_WORDS..).unwrap_or_default();
    while let Some(&first) = rest.first() {
        if first & 0xffff == NOT_EQUAL {
            return true;
        }
        let length = (first >> 16).max(1) as usize;
        rest = rest.get(length..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The compiler of the machine the tests run on.
    pub(crate) fn machine_clang() -> Clang {
        Clang::find(
            std::env::var_os("PUMICE_CLANG").as_deref(),
            std::env::var_os("PATH").as_deref(),
            &DiskCache::disabled(),
        )
        .expect("the tests need clang 22 (apt install clang-22)")
    }

    #[test]
    fn one_is_found_that_names_its_version() {
        let clang = machine_clang();
        assert!(clang.version.contains("clang version"), "{clang:?}");
    }

    #[test]
    fn a_wrong_override_is_explained() {
        let error = Clang::find(
            Some(OsStr::new("/nonexistent/clang-99")),
            None,
            &DiskCache::disabled(),
        )
        .unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("/nonexistent/clang-99") && text.contains("PUMICE_CLANG"),
            "{text}"
        );
    }

    #[test]
    fn a_program_that_makes_no_spirv_is_told() {
        let error = Clang::find(
            Some(OsStr::new("true")),
            std::env::var_os("PATH").as_deref(),
            &DiskCache::disabled(),
        )
        .unwrap_err();
        assert_eq!(error.tried.len(), 1);
        assert!(error.tried[0].1.contains("makes no SPIR-V"), "{error}");
    }

    #[test]
    fn comparisons_are_found_behind_other_instructions() {
        // OpAny and OpINotEqual, whose operands look like one of the other.
        let any = [4 << 16 | 154, 1, 171, 5 << 16 | 171];
        let not_equal = [5 << 16 | 171, 1, 2, 3, 4];
        let module = |parts: &[&[u32]]| [&[0u32; 5][..], &parts.concat()].concat();
        assert!(!compares_with_zero(&module(&[&any])));
        assert!(compares_with_zero(&module(&[&any, &not_equal])));
        assert!(!compares_with_zero(&[]));
    }

    #[test]
    fn an_empty_path_says_what_to_install() {
        let error = Clang::find(None, Some(OsStr::new("")), &DiskCache::disabled()).unwrap_err();
        assert!(error.to_string().contains("apt install clang-22"));
    }

    #[test]
    fn newer_versions_come_first() {
        let directory = std::env::temp_dir().join(format!("pumice-path-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        for name in [
            "clang",
            "clang-15",
            "clang-22",
            "clang-9",
            "clang-format-22",
        ] {
            std::fs::write(directory.join(name), name).unwrap();
        }
        let names: Vec<String> = candidates(Some(directory.as_os_str()))
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect();
        std::fs::remove_dir_all(&directory).unwrap();
        assert_eq!(names, ["clang-22", "clang-15", "clang-9", "clang"]);
    }

    /// `/bin` is often a link to `/usr/bin`, and `PATH` may name both.
    #[test]
    fn a_folder_that_the_path_names_twice_is_read_once() {
        let parent = std::env::temp_dir().join(format!("pumice-paths-{}", std::process::id()));
        let [real, link] = ["real", "link"].map(|name| parent.join(name));
        std::fs::create_dir_all(&real).unwrap();
        std::fs::write(real.join("clang-22"), "").unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let path = std::env::join_paths([&link, &real]).unwrap();
        let found = candidates(Some(&path));
        std::fs::remove_dir_all(&parent).unwrap();
        assert_eq!(found, [link.join("clang-22")]);
    }
}
