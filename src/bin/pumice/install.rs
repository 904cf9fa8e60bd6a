//! `pumice install`: the `.icd` file by which loaders find Pumice.

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::prelude::*;

use crate::{Failure, library};

const SYSTEM: &str = "/etc/OpenCL/vendors";
const FILE: &str = "pumice.icd";

pub fn command(mut arguments: lexopt::Parser) -> Result<ExitCode, Failure> {
    // SAFETY: takes nothing and can't fail.
    let mut system = unsafe { libc::geteuid() } == 0;
    let mut remove = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("user") => system = false,
            Long("system") => system = true,
            Long("uninstall") => remove = true,
            other => return Err(other.unexpected().into()),
        }
    }
    let directory = if system {
        PathBuf::from(SYSTEM)
    } else {
        user_directory()?
    };
    let file = directory.join(FILE);
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    if remove {
        std::fs::remove_file(&file).map_err(failed)?;
        crate::print(&format!("removed {}\n", file.display()));
        return Ok(ExitCode::SUCCESS);
    }
    let library = library::find()?;
    std::fs::create_dir_all(&directory).map_err(failed)?;
    // Renamed into place: a loader that looks now finds all or nothing.
    let temporary = directory.join(format!(".{FILE}.{}", std::process::id()));
    std::fs::write(&temporary, library::manifest(&library)).map_err(failed)?;
    std::fs::rename(&temporary, &file).map_err(failed)?;
    let mut text = format!("wrote {}: {}\n", file.display(), library.display());
    if !system {
        text.push_str(&format!(
            "OpenCL loaders look in {SYSTEM} only. For this one, set\n  export OCL_ICD_VENDORS={}\n\
             (it then takes the place of {SYSTEM}).\n",
            directory.display()
        ));
    }
    crate::print(&text);
    Ok(ExitCode::SUCCESS)
}

/// `$XDG_CONFIG_HOME/OpenCL/vendors`, by default under `~/.config`.
pub fn user_directory() -> Result<PathBuf, Failure> {
    let variable = |name| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let config = variable("XDG_CONFIG_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".config")))
        .ok_or("neither XDG_CONFIG_HOME nor HOME is set")?;
    Ok(config.join("OpenCL/vendors"))
}
