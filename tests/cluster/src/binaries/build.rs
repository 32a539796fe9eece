//! Builds the programs of a module, unless they are there. Two builders at once wait for each other, and a build that was
//! cut short leaves nothing that looks finished: the folder gets its name when all of it is there.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::module::Module;

/// Why there are no programs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildFault {
    /// There is no place to keep them.
    #[error("neither XDG_CACHE_HOME nor HOME says where built programs are kept; set one of them")]
    NoCache,
    /// The place to keep them can't be written.
    #[error("`{path}` can't be written")]
    Cache {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no Go.
    #[error(
        "`go` can't be run, and the tests build {module} with it; install Go 1.26 or later (https://go.dev/dl)"
    )]
    NoGo {
        /// What was to be built.
        module: String,
        /// Why it can't be run.
        source: io::Error,
    },
    /// Go doesn't build it.
    #[error("`go build` of {module} in `{folder}` failed:\n{output}")]
    Failed {
        /// What was to be built.
        module: String,
        /// Where.
        folder: PathBuf,
        /// The last lines that Go wrote.
        output: String,
    },
}

/// The folder of the module's programs; builds them first if one is missing.
pub(super) fn ready(module: &Module, cache: &Path) -> Result<PathBuf, BuildFault> {
    let folder = cache.join(module.key());
    if is_whole(module, &folder) {
        return Ok(folder);
    }
    fs::create_dir_all(cache).map_err(fault_at(cache))?;
    let _lock = lock(&cache.join(format!("{}.lock", module.key())))?;
    if !is_whole(module, &folder) {
        replace(module, &folder, &cache.join(format!("{}.building", module.key())))?;
    }
    Ok(folder)
}

fn is_whole(module: &Module, folder: &Path) -> bool {
    module
        .programs
        .iter()
        .all(|(_, name)| folder.join(name).is_file())
}

/// Waits for whoever builds the same; held until the file is closed.
fn lock(path: &Path) -> Result<File, BuildFault> {
    let file = File::create(path).map_err(fault_at(path))?;
    file.lock().map_err(fault_at(path))?;
    Ok(file)
}

fn replace(module: &Module, folder: &Path, scratch: &Path) -> Result<(), BuildFault> {
    remove(scratch)?;
    fs::create_dir_all(scratch).map_err(fault_at(scratch))?;
    announce(module, folder);
    build(module, scratch)?;
    remove(folder)?;
    fs::rename(scratch, folder).map_err(fault_at(folder))
}

fn remove(folder: &Path) -> Result<(), BuildFault> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(fault_at(folder)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[expect(clippy::print_stderr, reason = "a silence of minutes looks like a hang")]
fn announce(module: &Module, folder: &Path) {
    eprintln!(
        "building {} into {} (once a machine, minutes)",
        module.key(),
        folder.display()
    );
}

/// One `go build` for all programs of a module compiles what they share once, and side by side.
fn build(module: &Module, scratch: &Path) -> Result<(), BuildFault> {
    let output = go(module, scratch).output().map_err(|source| BuildFault::NoGo {
        module: module.key(),
        source,
    })?;
    if !output.status.success() {
        return Err(failed(module, &output));
    }
    match module.programs {
        [(package, name)] => name_alone(package, name, scratch),
        _ => Ok(()),
    }
}

/// No C compiler, no workspace or flags of the user's: the same programs on every machine.
fn go(module: &Module, scratch: &Path) -> Command {
    let mut command = Command::new("go");
    command
        .args(["build", "-ldflags", module.linker_flags, "-o"])
        .arg(scratch.join(""))
        .args(module.programs.iter().map(|(package, _)| package))
        .current_dir(module.source())
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .env("GOFLAGS", "-trimpath -mod=readonly -buildvcs=false");
    command
}

/// Go names a program after its package: `…/server/v3` becomes `server`.
fn name_alone(package: &str, name: &str, scratch: &Path) -> Result<(), BuildFault> {
    let mut parts = package.rsplit('/').skip_while(|part| is_version(part));
    let built = scratch.join(parts.next().unwrap_or(package));
    fs::rename(&built, scratch.join(name)).map_err(fault_at(&built))
}

fn is_version(part: &str) -> bool {
    part.strip_prefix('v')
        .is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn failed(module: &Module, output: &Output) -> BuildFault {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len().saturating_sub(40);
    BuildFault::Failed {
        module: module.key(),
        folder: module.source(),
        output: lines[last..].join("\n"),
    }
}

fn fault_at(path: &Path) -> impl FnOnce(io::Error) -> BuildFault {
    let path = path.to_owned();
    move |source| BuildFault::Cache { path, source }
}
