//! How many tasks may run at once: each needs up to three files, so a quarter of what the process may open.

use std::io;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

// More than this is never needed, and programs that close "all" files up to the limit take seconds with millions.
const MOST_FILES: u64 = 65_536;

/// Raises the soft limit on open files as far as is useful, and returns how many tasks may run at once.
pub(super) fn most_tasks() -> io::Result<usize> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let wanted = hard.min(MOST_FILES).max(soft);
    let files = match setrlimit(Resource::RLIMIT_NOFILE, wanted, hard) {
        Ok(()) => wanted,
        Err(_) => soft,
    };
    Ok(usize::try_from(files / 4).unwrap_or(usize::MAX).max(1))
}
