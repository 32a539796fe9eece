//! From a task's spec to a process that runs, or to the reason why it can't.

use std::{
    env,
    fs::File,
    io::{self, PipeReader},
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
    sys::stat::{Mode, umask},
    unistd::geteuid,
};

use crate::task::{KEY_VARIABLE, TOKEN_VARIABLE, TaskKey, TaskSpec};

// Where a command is looked up when its environment has no PATH.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Why there is no process.
#[derive(Debug)]
pub(crate) enum SpawnFailure {
    /// It can never run as it is.
    Never(String),
    /// The machine has no room for it now.
    NotNow(String),
}

/// A process that runs, and the pipe with its output.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) pid: i32,
    pub(super) output: PipeReader,
}

/// Makes the process, as the leader of its own group, with exactly the environment of its spec.
pub(super) fn spawn(
    key: &TaskKey,
    spec: &TaskSpec,
    token: &str,
    null: &File,
) -> Result<Spawned, SpawnFailure> {
    let mut command = command_of(spec)?;
    let program = PathBuf::from(command.get_program());
    let (output, input) = io::pipe().map_err(not_now)?;
    fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|errno| not_now(errno.into()))?;
    command
        .env(TOKEN_VARIABLE, token)
        .env(KEY_VARIABLE, key.as_str())
        .stdin(Stdio::from(null.try_clone().map_err(not_now)?))
        .stdout(Stdio::from(input.try_clone().map_err(not_now)?))
        .stderr(Stdio::from(input));
    let child = with_umask(spec.umask, || command.spawn());
    let child = child.map_err(|error| classify(&program, spec, &error))?;
    let pid = i32::try_from(child.id()).map_err(|error| SpawnFailure::Never(error.to_string()))?;
    Ok(Spawned { pid, output })
}

/// The command of a spec, as the leader of a group of its own, with exactly the environment of its spec.
pub(crate) fn command_of(spec: &TaskSpec) -> Result<Command, SpawnFailure> {
    let mut command = Command::new(find_program(spec)?);
    command
        .arg0(spec.argv.first().map_or("", String::as_str))
        .args(spec.argv.iter().skip(1))
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .current_dir(&spec.cwd)
        .process_group(0);
    become_user(&mut command, spec)?;
    Ok(command)
}

fn not_now(error: io::Error) -> SpawnFailure {
    SpawnFailure::NotNow(error.to_string())
}

fn become_user(command: &mut Command, spec: &TaskSpec) -> Result<(), SpawnFailure> {
    let own = geteuid();
    if let Some(gid) = spec.gid.filter(|_| own.is_root()) {
        command.gid(gid);
    }
    match spec.uid {
        Some(uid) if own.is_root() => {
            command.uid(uid);
        }
        Some(uid) if uid != own.as_raw() => {
            return Err(SpawnFailure::Never(format!(
                "cannot become user {uid}: only root can"
            )));
        }
        Some(_) | None => {}
    }
    Ok(())
}

/// The mask belongs to the whole process, which has one thread.
fn with_umask<T>(mask: Option<u32>, action: impl FnOnce() -> T) -> T {
    let Some(mask) = mask else { return action() };
    let before = umask(Mode::from_bits_truncate(mask));
    let result = action();
    umask(before);
    result
}

fn classify(program: &Path, spec: &TaskSpec, error: &io::Error) -> SpawnFailure {
    let errno = error.raw_os_error().map(Errno::from_raw);
    if matches!(
        errno,
        Some(Errno::EAGAIN | Errno::ENOMEM | Errno::EMFILE | Errno::ENFILE)
    ) {
        return SpawnFailure::NotNow(format!("cannot make a process: {error}"));
    }
    if !spec.cwd.is_dir() {
        return SpawnFailure::Never(format!(
            "working folder {} cannot be entered: {error}",
            spec.cwd.display()
        ));
    }
    SpawnFailure::Never(format!(
        "command {} cannot be executed: {error}",
        program.display()
    ))
}

/// Looks the command up in the task's own PATH, as a shell would.
fn find_program(spec: &TaskSpec) -> Result<PathBuf, SpawnFailure> {
    let Some(name) = spec.argv.first().filter(|name| !name.is_empty()) else {
        return Err(SpawnFailure::Never("the command is empty".to_owned()));
    };
    if name.contains('/') {
        return Ok(absolute(&spec.cwd, Path::new(name)));
    }
    let path = spec.env.iter().rev().find(|(variable, _)| variable == "PATH");
    let path = path.map_or(DEFAULT_PATH, |(_, value)| value.as_str());
    let mut candidates = env::split_paths(path).map(|folder| absolute(&spec.cwd, &folder).join(name));
    candidates
        .find(|candidate| is_executable(candidate))
        .ok_or_else(|| SpawnFailure::Never(format!("command `{name}` was not found in PATH ({path})")))
}

fn absolute(cwd: &Path, path: &Path) -> PathBuf {
    let joined = cwd.join(path);
    std::path::absolute(&joined).unwrap_or(joined)
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
