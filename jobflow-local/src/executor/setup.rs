//! From a started process to an executor at work: session, subreaper, folder, lock, addresses, journal, socket, in that
//! order.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt},
        net::{UnixListener, UnixStream},
    },
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use cap_std::{ambient_authority, fs::Dir};
use nix::{
    libc,
    sys::{prctl, stat},
    unistd,
};

use super::{
    ExecutorError, claim::Claim, connections::Connections, engine::Engine, journal, limits, recovery,
    table::Table,
};

/// The socket's name in the run's folder.
pub const SOCKET: &str = "executor.sock";
/// The name of the file whose lock says that an executor lives.
pub const LOCK: &str = "executor.lock";
/// The name of the file that holds the run's token.
pub const TOKEN: &str = "token";

/// Tells whether an executor serves the run in this folder.
pub fn is_alive(folder: &Path) -> io::Result<bool> {
    match File::open(folder.join(LOCK)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
        Ok(file) => match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        },
    }
}

/// Makes this process the executor of a run, and everything an earlier one left behind known as lost.
pub(super) fn begin(folder: &Path, mut ready: impl io::Write) -> Result<Engine, ExecutorError> {
    use ExecutorError as E;
    // Fails only for a process that leads a session already, which is what is wanted.
    let _ = unistd::setsid();
    prctl::set_child_subreaper(true)
        .map_err(io::Error::from)
        .map_err(E::system("become a subreaper"))?;
    // From here on every name is relative: a socket's path may hold 108 bytes, a folder's more.
    std::env::set_current_dir(folder).map_err(E::system("enter the run's folder"))?;
    let lock = lock()?;
    let claim = Claim::take(Path::new(".")).map_err(E::system("claim loopback addresses for the run"))?;
    let most_tasks = limits::most_tasks().map_err(E::system("read the limit on open files"))?;
    stat::umask(stat::Mode::from_bits_truncate(0o022));
    let token = fs::read_to_string(TOKEN)
        .map_err(E::system("read the run's token"))?
        .trim()
        .to_owned();
    let (mut journal, lines) = journal::Journal::open(Path::new(journal::JOURNAL))
        .map_err(E::system("open the executor's journal"))?;
    let ended = recovery::recover(&mut journal, lines, &token).map_err(E::system("take over the run"))?;
    let folder =
        Dir::open_ambient_dir(".", ambient_authority()).map_err(E::system("open the run's folder"))?;
    let table = Table::new(folder, journal, token, ended, most_tasks).map_err(E::system("open /dev/null"))?;
    let (child_ended, asked_to_leave) = signals().map_err(E::system("listen for signals"))?;
    let connections = Connections::new(listen()?);
    let engine = Engine::new(lock, claim, table, connections, child_ended, asked_to_leave)
        .map_err(E::system("wait for events"))?;
    ready
        .write_all(b"ready\n")
        .and_then(|()| ready.flush())
        .map_err(E::system("report that it is ready"))?;
    drop(ready);
    detach_stdout();
    Ok(engine)
}

fn lock() -> Result<File, ExecutorError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(LOCK)
        .map_err(ExecutorError::system("open the executor's lock"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ExecutorError::Taken),
        Err(TryLockError::Error(error)) => Err(ExecutorError::system("lock the run's folder")(error)),
    }
}

fn listen() -> Result<UnixListener, ExecutorError> {
    // The lock is ours, so a socket that is there belongs to an executor that is gone.
    match fs::remove_file(SOCKET) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(ExecutorError::system("remove the old socket")(error));
        }
        Ok(()) | Err(_) => {}
    }
    let listener = UnixListener::bind(SOCKET).map_err(ExecutorError::system("open the socket"))?;
    fs::set_permissions(SOCKET, fs::Permissions::from_mode(0o600))
        .and_then(|()| listener.set_nonblocking(true))
        .map_err(ExecutorError::system("open the socket"))?;
    Ok(listener)
}

/// The pipes that get a byte when a child ended, and when somebody asks this process to leave.
fn signals() -> io::Result<(UnixStream, UnixStream)> {
    let child_ended = pipe_for(&[libc::SIGCHLD])?;
    let asked_to_leave = pipe_for(&[libc::SIGTERM])?;
    // A handler that does nothing: a limit on file sizes must be an error that can be handled, and a terminal that
    // closes must not end the run. Commands get the default back when they are executed.
    for ignored in [libc::SIGXFSZ, libc::SIGHUP, libc::SIGINT] {
        signal_hook::flag::register(ignored, Arc::new(AtomicBool::new(false)))?;
    }
    Ok((child_ended, asked_to_leave))
}

fn pipe_for(signals: &[i32]) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    for signal in signals {
        signal_hook::low_level::pipe::register(*signal, writer.try_clone()?)?;
    }
    Ok(reader)
}

/// Whoever waits for the end of our stdout has what it waited for.
fn detach_stdout() {
    if let Ok(null) = OpenOptions::new().write(true).open("/dev/null") {
        // Without it the pipe stays open until the executor leaves; nothing else depends on it.
        let _ = unistd::dup2_stdout(&null);
    }
}
