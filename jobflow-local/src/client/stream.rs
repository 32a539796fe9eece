//! A socket on which neither side can block the other: while a request is being sent, replies are taken in.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::{
        fd::{AsFd, AsRawFd},
        unix::{fs::OpenOptionsExt, net::UnixStream},
    },
    path::Path,
    time::Instant,
};

use nix::{
    errno::Errno,
    libc,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

use super::ClientError;
use crate::executor::SOCKET;

const CHUNK: usize = 64 << 10;

#[derive(Debug)]
pub(super) struct LineStream {
    stream: UnixStream,
    incoming: Vec<u8>,
    ended: bool,
}

impl LineStream {
    /// Connects to the executor's socket in a folder, whatever the length of its path.
    pub(super) fn connect(folder: &Path) -> io::Result<Self> {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let folder = File::options().read(true).custom_flags(flags).open(folder)?;
        let stream = UnixStream::connect(format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd()))?;
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            incoming: Vec::new(),
            ended: false,
        })
    }

    /// Sends everything, taking in what the other side says meanwhile.
    pub(super) fn send(&mut self, mut bytes: &[u8]) -> Result<(), ClientError> {
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.poll(PollFlags::POLLIN | PollFlags::POLLOUT, PollTimeout::NONE)?;
                    self.receive()?;
                }
                Err(error) if is_gone(&error) => return Err(ClientError::ExecutorGone),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes the complete lines that have come.
    pub(super) fn lines(&mut self) -> Vec<Vec<u8>> {
        let Some(end) = self.incoming.iter().rposition(|byte| *byte == b'\n') else {
            return Vec::new();
        };
        let rest = self.incoming.split_off(end + 1);
        let complete = std::mem::replace(&mut self.incoming, rest);
        let lines = complete
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty());
        lines.map(<[u8]>::to_vec).collect()
    }

    /// Waits until something has come or the time is over; tells which.
    pub(super) fn wait(&mut self, deadline: Instant) -> Result<bool, ClientError> {
        if self.ended {
            return Err(ClientError::ExecutorGone);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        if !self.poll(PollFlags::POLLIN, timeout)? {
            return Ok(Instant::now() < deadline);
        }
        self.receive()?;
        Ok(true)
    }

    fn poll(&self, flags: PollFlags, timeout: PollTimeout) -> Result<bool, ClientError> {
        let mut descriptors = [PollFd::new(self.stream.as_fd(), flags)];
        match poll(&mut descriptors, timeout) {
            Ok(count) => Ok(count > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(errno) => Err(io::Error::from(errno).into()),
        }
    }

    fn receive(&mut self) -> Result<(), ClientError> {
        let mut chunk = vec![0; CHUNK];
        match self.stream.read(&mut chunk) {
            Ok(0) => self.ended = true,
            Ok(count) => self
                .incoming
                .extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) => {}
            Err(error) if is_gone(&error) => self.ended = true,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

impl AsFd for LineStream {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset | io::ErrorKind::NotConnected
    )
}
