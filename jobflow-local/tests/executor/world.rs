//! A run's folder with an executor in it, and a client that never waits longer than a minute.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use jobflow_local::{
    client::{Client, ClientError, Launch, Message},
    executor::{self, line::Line},
    process,
    task::{Outcome, TaskKey, TaskSpec, TaskState},
};

pub(super) const TOKEN: &str = "0123456789abcdef";
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct World {
    pub(super) folder: tempfile::TempDir,
    launch: Launch,
    client: Option<Client>,
    pub(super) lines: Vec<Line>,
    pub(super) states: Vec<(TaskKey, TaskState)>,
    pub(super) blocked: Vec<Option<String>>,
    offset: u64,
}

pub(super) fn key(name: &str) -> TaskKey {
    TaskKey::new(name).unwrap()
}

/// Waits until something holds.
pub(super) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub(super) fn is_alive(pid: i32) -> bool {
    process::stat(pid).is_some_and(|stat| stat.state != 'Z')
}

impl World {
    pub(super) fn new() -> Self {
        Self::with_shell("exec \"$@\"")
    }

    /// The executor is started by a shell that first does something to its limits.
    pub(super) fn with_shell(script: &str) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), script, 10_000)
    }

    pub(super) fn in_folder(folder: tempfile::TempDir, script: &str, idle: u64) -> Self {
        std::fs::write(folder.path().join(executor::TOKEN), TOKEN).unwrap();
        let program = env!("CARGO_BIN_EXE_jobflow-executor");
        // The folder comes last for a client, and first for the program.
        let swap = format!("set -- \"$1\" \"$2\" {idle}; {script}");
        let launch = Launch {
            program: PathBuf::from("/bin/sh"),
            arguments: vec!["-c".into(), swap.into(), "sh".into(), program.into()],
        };
        let (lines, states, blocked) = (Vec::new(), Vec::new(), Vec::new());
        let mut world = Self {
            folder,
            launch,
            client: None,
            lines,
            states,
            blocked,
            offset: 0,
        };
        world.connect();
        world
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn client(&mut self) -> &mut Client {
        self.client.as_mut().unwrap()
    }

    pub(super) fn connect(&mut self) {
        let mut client = Client::connect_or_launch(self.folder.path(), &self.launch).unwrap();
        client.watch(self.offset).unwrap();
        self.client = Some(client);
    }

    /// Connects for a moment, beside everybody else.
    pub(super) fn join(&self) {
        Client::connect_or_launch(self.folder.path(), &self.launch).unwrap();
    }

    pub(super) fn disconnect(&mut self) {
        self.client = None;
    }

    pub(super) fn spec(&self, name: &str, argv: &[&str]) -> TaskSpec {
        TaskSpec {
            argv: argv.iter().map(|&word| word.to_owned()).collect(),
            env: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
            cwd: self.folder.path().to_owned(),
            log: Path::new("logs").join(format!("{name}.log")),
            log_limit: 64 << 10,
            umask: None,
            uid: None,
            gid: None,
        }
    }

    pub(super) fn start(&mut self, name: &str, argv: &[&str]) {
        let spec = self.spec(name, argv);
        self.client().start(key(name), spec).unwrap();
    }

    pub(super) fn sh(&mut self, name: &str, script: &str) {
        self.start(name, &["sh", "-c", script]);
    }

    /// Listens until something holds.
    pub(super) fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(
                Instant::now() < deadline,
                "never: {what}\n{:?}\n{:?}",
                self.lines,
                self.blocked
            );
            if let Some(message) = self.client().next(Duration::from_millis(200)).unwrap() {
                self.take(message);
            }
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::State(key, state) => self.states.push((key, state)),
            Message::Line(line, next) => {
                self.lines.push(line);
                self.offset = next;
            }
            Message::Blocked(reason) => self.blocked.push(reason),
        }
    }

    /// Listens until the executor is gone.
    pub(super) fn until_gone(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < deadline, "the executor stays");
            match self.client().next(Duration::from_millis(200)) {
                Ok(message) => message.into_iter().for_each(|message| self.take(message)),
                Err(ClientError::ExecutorGone) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    pub(super) fn outcome(&self, name: &str) -> Option<Outcome> {
        self.lines.iter().find_map(|line| match line {
            Line::Ended {
                key: ended, outcome, ..
            } if *ended == key(name) => Some(outcome.clone()),
            Line::Executor { .. } | Line::Starting { .. } | Line::Started { .. } | Line::Ended { .. } => None,
        })
    }

    pub(super) fn ended(&mut self, name: &str) -> Outcome {
        self.until(&format!("the end of {name}"), |world| {
            world.outcome(name).is_some()
        });
        self.outcome(name).unwrap()
    }

    pub(super) fn group(&self, name: &str) -> Option<i32> {
        self.lines.iter().find_map(|line| match line {
            Line::Started {
                key: started,
                process,
                ..
            } if *started == key(name) => Some(process.pid),
            Line::Executor { .. } | Line::Starting { .. } | Line::Started { .. } | Line::Ended { .. } => None,
        })
    }

    pub(super) fn started(&mut self, name: &str) -> i32 {
        self.until(&format!("the start of {name}"), |world| {
            world.group(name).is_some()
        });
        self.group(name).unwrap()
    }

    pub(super) fn executor(&mut self) -> i32 {
        self.until("the executor's own line", |world| !world.lines.is_empty());
        let pid = |line: &Line| match line {
            Line::Executor { process, .. } => Some(process.pid),
            Line::Starting { .. } | Line::Started { .. } | Line::Ended { .. } => None,
        };
        self.lines.iter().rev().find_map(pid).unwrap()
    }

    pub(super) fn log(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(&format!("logs/{name}.log"))).unwrap_or_default()
    }

    /// Reads a number that a task wrote into a file of the folder.
    pub(super) fn number_in(&self, name: &str) -> i32 {
        let read = || std::fs::read_to_string(self.path(name)).ok()?.trim().parse().ok();
        eventually(name, || read().is_some());
        read().unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Ok(Some(mut client)) = Client::connect(self.folder.path()) {
            let _ = client.shut_down(Duration::ZERO);
            while client.next(Duration::from_millis(200)).is_ok() {}
        }
    }
}
