//! What a task's process does to itself before it becomes the command: `jobflow __enter PLAN`.
//!
//! Comes in: an [`EnterPlan`] as JSON, in the one argument. It makes the mounts appear at their paths, in a mount
//! namespace of its own (and a user namespace, unless it is root), goes to the working folder, becomes another user and
//! gives up the right to gain rights if asked to, and then is the command. Deliberately absent: any other isolation; network, processes and users are the machine's.

mod root;
mod trial;

pub use trial::{TrialError, try_isolation};

use std::{
    fs, io,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
};

use nix::{
    errno::Errno,
    sched::{CloneFlags, unshare},
    sys::prctl,
    unistd::{Gid, Uid, User, getegid, geteuid, setgid, setgroups, setuid},
};
use serde::{Deserialize, Serialize};

/// The exit code of a command that could not be started, as container runtimes have it.
pub const START_ERROR: u8 = 128;

/// What to do before the command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnterPlan {
    /// What appears where; none needs no namespace.
    pub mounts: Vec<Bind>,
    /// An empty folder that becomes the root, if there are mounts.
    pub root: PathBuf,
    /// Where the command starts.
    pub cwd: PathBuf,
    /// The user to become; only root can.
    #[serde(default)]
    pub user: Option<u32>,
    /// The group to become; without one it is the user's own.
    #[serde(default)]
    pub group: Option<u32>,
    /// Whether no program may gain rights from here on.
    pub no_new_privileges: bool,
    /// The command and its arguments; with none, all before it is only tried.
    pub argv: Vec<String>,
}

/// A file or folder that appears at another path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bind {
    /// The file or folder.
    pub source: PathBuf,
    /// Where it appears.
    pub target: PathBuf,
    /// Whether nothing may be written to it.
    pub read_only: bool,
}

/// Why the command could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnterError {
    /// The argument isn't a plan.
    #[error("this is called by jobflow itself only")]
    Plan(#[from] serde_json::Error),
    /// The kernel does not let this user have namespaces.
    #[error("this machine does not allow --isolate for this user (user namespaces are off or restricted)")]
    NotAllowed(#[source] io::Error),
    /// The kernel does not let it become another user.
    #[error("cannot become the user and group that the manifest wants")]
    NotAnother(#[source] io::Error),
    /// Something on the way failed.
    #[error("cannot {intention} {path}")]
    System {
        /// What was being done.
        intention: &'static str,
        /// To which path.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Becomes the command; returns only when that is not possible, or when the plan has none.
///
/// # Errors
///
/// When the command can't be started as the plan says.
pub fn main(plan: &str) -> Result<(), EnterError> {
    let Some(mut command) = prepare(plan)? else {
        return Ok(());
    };
    let path = PathBuf::from(command.get_program());
    Err(EnterError::System {
        intention: "execute",
        path,
        source: command.exec(),
    })
}

fn prepare(plan: &str) -> Result<Option<Command>, EnterError> {
    let EnterPlan {
        mounts,
        root,
        cwd,
        user,
        group,
        no_new_privileges,
        argv,
    } = serde_json::from_str(plan)?;
    if !mounts.is_empty() {
        leave_namespace()?;
        root::build(&root, &mounts)?;
    }
    std::env::set_current_dir(&cwd).map_err(system("enter", &cwd))?;
    become_somebody(user, group).map_err(|errno| EnterError::NotAnother(errno.into()))?;
    if no_new_privileges {
        prctl::set_no_new_privs().map_err(|errno| system("give up rights in", &cwd)(errno.into()))?;
    }
    let [program, arguments @ ..] = argv.as_slice() else {
        return Ok(None);
    };
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(Some(command))
}

/// Root needs only a mount namespace; others become the only user of a user namespace first.
fn leave_namespace() -> Result<(), EnterError> {
    let (user, group) = (geteuid(), getegid());
    if user.is_root() && unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)
        .map_err(|errno| EnterError::NotAllowed(errno.into()))?;
    let maps = [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ];
    for (path, text) in maps {
        fs::write(path, text).map_err(EnterError::NotAllowed)?;
    }
    Ok(())
}

/// The groups of this process are left, too.
fn become_somebody(user: Option<u32>, group: Option<u32>) -> Result<(), Errno> {
    let of_user = |user: u32| match User::from_uid(Uid::from_raw(user)) {
        Ok(Some(known)) => known.gid,
        Ok(None) | Err(_) => Gid::from_raw(user),
    };
    if let Some(group) = group.map(Gid::from_raw).or_else(|| user.map(of_user)) {
        setgroups(&[group])?;
        setgid(group)?;
    }
    user.map_or(Ok(()), |user| setuid(Uid::from_raw(user)))
}

fn system(intention: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EnterError {
    let path = path.to_owned();
    move |source| EnterError::System {
        intention,
        path,
        source,
    }
}
