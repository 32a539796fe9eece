//! Whether this machine lets a task have mounts of its own: tried, in a process that ends at once.
//!
//! Comes in: how [`super::main`] is reached, and an empty folder. Goes out: nothing, or what the kernel refused.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Bind, EnterPlan};

/// Why isolation is not to be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// The trial could not be made.
    #[error("cannot try it in {path}")]
    System {
        /// Where.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// It was made, and failed; the words of the process that tried.
    #[error("{0}")]
    Refused(String),
}

/// Tries once what `--isolate` does for every task: a mount that appears at a path of its own.
///
/// # Errors
///
/// When the kernel, or a security module, refuses it.
pub fn try_isolation(enter: &[String], scratch: &Path) -> Result<(), TrialError> {
    let (root, source) = (scratch.join("root"), scratch.join("mount"));
    for folder in [&root, &source] {
        fs::create_dir(folder).map_err(|source| TrialError::System {
            path: folder.clone(),
            source,
        })?;
    }
    let plan = EnterPlan {
        mounts: vec![Bind {
            target: scratch.join("elsewhere"),
            source,
            read_only: true,
        }],
        root,
        cwd: "/".into(),
        ..EnterPlan::default()
    };
    run(enter, &plan).map_err(|source| TrialError::System {
        path: scratch.to_owned(),
        source,
    })?
}

fn run(enter: &[String], plan: &EnterPlan) -> std::io::Result<Result<(), TrialError>> {
    let [program, arguments @ ..] = enter else {
        return Ok(Ok(()));
    };
    let output = Command::new(program)
        .args(arguments)
        .arg(serde_json::to_string(plan)?)
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(Ok(()));
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words: Vec<&str> = words
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    Ok(Err(TrialError::Refused(words.join("; "))))
}
