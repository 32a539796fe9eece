//! A process group that ends with whoever holds it, also when that process is killed.
//!
//! Its leader is a small shell that waits for the end of a pipe. The other end closes when the group is dropped or its
//! holder dies by whatever cause; then the shell ends the group, itself included. A program is in the group before its
//! first instruction, so there is no moment at which it could be left behind.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Programs get a moment to end by themselves, then the folder goes, then what is left.
const WATCH: &str = r#"
trap '' HUP INT QUIT TERM
cat >/dev/null
kill -TERM 0
sleep 0.3
if [ -n "$1" ]; then rm -rf -- "$1"; fi
kill -KILL 0
"#;

/// The group.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Child,
    held: Option<ChildStdin>,
}

impl Group {
    /// A group with nothing in it but its leader. `folder` is removed when the group ends.
    pub(crate) fn new(folder: Option<&Path>) -> io::Result<Self> {
        let mut leader = Command::new("/bin/sh")
            .args(["-c", WATCH, "jobflow-test-cluster"])
            .arg(folder.unwrap_or_else(|| Path::new("")))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let held = leader.stdin.take();
        Ok(Self { leader, held })
    }

    /// Starts a program in the group; all that it writes goes into the file `log`.
    pub(crate) fn spawn(&self, program: &Path, arguments: &[String], log: &Path) -> io::Result<Child> {
        let log = File::options().create(true).append(true).open(log)?;
        Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(self.id()?)
            .spawn()
    }

    fn id(&self) -> io::Result<i32> {
        i32::try_from(self.leader.id()).map_err(io::Error::other)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        drop(self.held.take());
        // It always ends: by its own hand at the latest.
        let _ended = self.leader.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader};
    use std::process::ExitStatus;
    use std::time::{Duration, Instant};

    use rustix::process::Pid;

    use super::*;

    fn sleeper(group: &Group, folder: &Path) -> Child {
        let arguments = ["-c", "trap '' TERM; sleep 600"].map(str::to_owned);
        group
            .spawn(Path::new("/bin/sh"), &arguments, &folder.join("log"))
            .unwrap()
    }

    fn wait(child: &mut Child) -> Option<ExitStatus> {
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            if let Some(status) = child.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        None
    }

    #[test]
    fn what_is_in_a_group_ends_with_it_and_so_does_its_folder() {
        let folder = tempfile::tempdir().unwrap().keep();
        let group = Group::new(Some(&folder)).unwrap();
        let mut child = sleeper(&group, &folder);
        drop(group);
        assert!(wait(&mut child).is_some_and(|status| !status.success()));
        assert!(!fs::exists(&folder).unwrap());
    }

    /// Run by the test below in a process of its own.
    #[test]
    #[ignore = "waits to be killed"]
    fn a_holder() {
        let folder = tempfile::tempdir().unwrap().keep();
        let group = Group::new(Some(&folder)).unwrap();
        let mut child = sleeper(&group, &folder);
        println!("\nholds {} {}", child.id(), folder.display());
        child.wait().unwrap();
    }

    fn said(holder: &mut Child) -> (i32, String) {
        let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines();
        let line = lines.find_map(|line| line.unwrap().strip_prefix("holds ").map(str::to_owned));
        let line = line.unwrap();
        let (id, folder) = line.split_once(' ').unwrap();
        (id.parse().unwrap(), folder.to_owned())
    }

    fn is_alive(id: i32) -> bool {
        rustix::process::test_kill_process(Pid::from_raw(id).unwrap()).is_ok()
    }

    #[test]
    fn what_is_in_a_group_ends_when_its_holder_is_killed() {
        let mut holder = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "group::tests::a_holder", "--ignored", "--nocapture"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (id, folder) = said(&mut holder);
        assert!(is_alive(id));
        holder.kill().unwrap();
        holder.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        while is_alive(id) || fs::exists(&folder).unwrap() {
            assert!(Instant::now() < deadline, "{id} or {folder} outlives its holder");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_folder_that_is_to_be_kept_stays() {
        let folder = tempfile::tempdir().unwrap();
        drop(Group::new(None).unwrap());
        assert!(fs::exists(folder.path()).unwrap());
    }
}
