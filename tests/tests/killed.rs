//! A run that is killed at any moment goes on to the same end, and does nothing twice.
//!
//! The arithmetic example is run as a process of its own, killed with SIGKILL after a seeded time, and resumed until it
//! ends: the result is 140 each time. Every job notes that it ran, in a folder of the test's, beside its real work.

#![expect(clippy::unwrap_used, reason = "a test says so when something is missing")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jobflow_core::retry::splitmix64;

/// How many moments are tried.
const MOMENTS: u64 = 50;

/// How long a run takes at most; a bound against hanging, not a measure.
const PATIENCE: Duration = Duration::from_secs(120);

/// The command line as it was built beside this test, or is built now.
fn jobflow() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let profile = program.parent().and_then(Path::parent).unwrap();
    let jobflow = profile.join("jobflow");
    let name = profile.file_name().and_then(|name| name.to_str()).unwrap();
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--package", "jobflow-cli", "--profile"])
        .arg(if name == "debug" { "dev" } else { name })
        .arg("--target-dir")
        .arg(profile.parent().unwrap())
        .status()
        .unwrap();
    assert!(built.success(), "jobflow can't be built");
    jobflow
}

/// The arithmetic example, each of whose commands also adds a line to a file of its name, and takes a moment.
fn flow(folder: &Path) -> PathBuf {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/arithmetic");
    let target = folder.join("flow");
    fs::create_dir(&target).unwrap();
    for file in ["claim.yaml", "flow.yaml", "templates.yaml"] {
        let text = fs::read_to_string(example.join(file)).unwrap();
        // The noted line comes with the work's end: what is noted has ended well, or is just about to.
        let noted = text.replace(
            "command: [sh, -c, '",
            &format!(
                "command: [sh, -c, 'sleep 0.05; echo x >> {}/$(hostname-of); ",
                folder.join("notes").display()
            ),
        );
        fs::write(target.join(file), named(&noted)).unwrap();
    }
    fs::create_dir(folder.join("notes")).unwrap();
    target
}

/// Puts the name of each template where its command notes that it ran.
fn named(text: &str) -> String {
    let mut name = String::new();
    let mut out = String::new();
    for line in text.lines() {
        if let Some(found) = line.strip_prefix("  name: ") {
            found.clone_into(&mut name);
        }
        out += &line.replace("$(hostname-of)", &name);
        out.push('\n');
    }
    out
}

/// A run's place: its state, its notes.
struct Place {
    folder: tempfile::TempDir,
    jobflow: PathBuf,
}

impl Place {
    fn new(jobflow: &Path) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            jobflow: jobflow.to_owned(),
        };
        flow(place.folder.path());
        place
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.jobflow);
        command
            .args(arguments)
            .env("JOBFLOW_STATE_DIR", self.folder.path().join("state"));
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn start(&self) -> Child {
        self.command(&["run", self.folder.path().join("flow").to_str().unwrap()])
            .spawn()
            .unwrap()
    }

    /// The newest run's folder, once there is one that can be resumed.
    fn run(&self) -> Option<PathBuf> {
        let runs = fs::read_dir(self.folder.path().join("state/runs")).ok()?;
        runs.filter_map(Result::ok)
            .map(|entry| entry.path())
            .find(|path| path.join("input.json").exists())
    }

    /// Resumes the run to its end; what it said, if that is not a good one.
    fn resume(&self) -> Result<(), String> {
        let child = self
            .command(&["run", "--resume"])
            .stderr(fs::File::create(self.said()).unwrap())
            .spawn()
            .unwrap();
        self.to_the_end(child)
    }

    fn said(&self) -> PathBuf {
        self.folder.path().join("said")
    }

    /// Waits for a run's end; what it said, if that is not a good one.
    fn to_the_end(&self, mut child: Child) -> Result<(), String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = child.try_wait().unwrap() {
                return if status.success() {
                    Ok(())
                } else {
                    Err(fs::read_to_string(self.said()).unwrap_or_default())
                };
            }
            assert!(Instant::now() < deadline, "the run hangs: {}", self.left());
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// What a run that hangs has written last, to find out why.
    fn left(&self) -> String {
        let Some(run) = self.run() else {
            return "there is no run".to_owned();
        };
        let last = |name: &str| {
            let text = fs::read_to_string(run.join(name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().rev().take(12).collect();
            format!("\n{name}, the last line first:\n{}", lines.join("\n"))
        };
        ["executor.journal", "executor.stderr", "journal.jsonl"]
            .map(last)
            .concat()
    }

    fn result(&self) -> String {
        let output = self
            .command(&["logs", "--raw", "h"])
            .stdout(Stdio::piped())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// How often each job noted that it ran.
    fn notes(&self) -> BTreeMap<String, usize> {
        let files = fs::read_dir(self.folder.path().join("notes"))
            .unwrap()
            .map(Result::unwrap);
        let lines = |path: PathBuf| fs::read_to_string(path).unwrap().lines().count();
        files
            .map(|file| {
                (
                    file.file_name().to_string_lossy().into_owned(),
                    lines(file.path()),
                )
            })
            .collect()
    }

    fn executor(&self) -> Option<i32> {
        let journal = self.executor_journal();
        let line = journal.lines().rfind(|line| line.starts_with("executor "))?;
        line.split(' ').nth(2)?.parse().ok()
    }

    fn executor_journal(&self) -> String {
        let read = |run: PathBuf| fs::read_to_string(run.join("executor.journal")).ok();
        self.run().and_then(read).unwrap_or_default()
    }

    /// How many lines executors have written.
    fn lines(&self) -> usize {
        self.executor_journal().lines().count()
    }

    /// How many executors the run had.
    fn executors(&self) -> usize {
        let journal = self.executor_journal();
        let is_executor = |line: &&str| line.starts_with("executor ");
        journal.lines().filter(is_executor).count()
    }

    /// The keys of tasks that have ended by themselves.
    fn ended(&self) -> Vec<String> {
        let journal = self.executor_journal();
        let ends = journal
            .lines()
            .filter(|line| line.starts_with("ended ") && line.contains(" exit "));
        ends.filter_map(|line| line.split(' ').nth(1).map(str::to_owned))
            .collect()
    }
}

fn kill(process: i32) {
    let _ = nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(process),
        nix::sys::signal::Signal::SIGKILL,
    );
}

/// A moment of the run, the same for the same seed.
fn moment(seed: u64) -> Duration {
    Duration::from_millis(5 + splitmix64(seed) % 700)
}

/// Kills the run at a moment; `None` when it had not begun to be resumable by then.
fn kill_at(place: &Place, seed: u64, executor_too: bool) {
    let mut child = place.start();
    thread::sleep(moment(seed));
    while place.run().is_none() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    if let (true, Some(executor)) = (executor_too, place.executor()) {
        kill(executor);
    }
}

#[test]
fn a_run_that_was_killed_ends_as_one_that_was_not_and_does_nothing_twice() {
    let jobflow = jobflow();
    let mut interrupted = 0;
    for seed in 0..MOMENTS {
        let place = Place::new(&jobflow);
        kill_at(&place, seed, false);
        interrupted += usize::from(place.ended().len() < 8);
        assert_eq!(place.resume(), Ok(()), "seed {seed}");
        assert_eq!(place.result(), "140", "seed {seed}");
        let notes = place.notes();
        assert_eq!(notes.len(), 8, "seed {seed}: {notes:?}");
        assert!(notes.values().all(|count| *count == 1), "seed {seed}: {notes:?}");
    }
    println!("{MOMENTS} moments, {interrupted} of them before the last job had ended");
    assert!(interrupted > 10, "the moments come too late to show anything");
}

#[test]
fn with_the_executor_killed_too_nothing_that_had_ended_runs_again() {
    let jobflow = jobflow();
    let mut lost = 0;
    for seed in 1000..1000 + MOMENTS {
        let place = Place::new(&jobflow);
        kill_at(&place, seed, true);
        let ended = place.ended();
        let before = place.notes();
        lost += usize::from(ended.len() < 8);
        assert_eq!(place.resume(), Ok(()), "seed {seed}");
        assert_eq!(place.result(), "140", "seed {seed}");
        let after = place.ended();
        let again: Vec<&String> = ended
            .iter()
            .filter(|key| after.iter().filter(|other| other == key).count() > 1)
            .collect();
        assert!(again.is_empty(), "seed {seed}: {again:?} ran again");
        for node in ended
            .iter()
            .filter_map(|key| key.split('/').next()?.parse::<usize>().ok())
        {
            let name = ["a", "b", "c", "d", "e", "f", "g", "h"][node];
            assert_eq!(place.notes()[name], before[name], "seed {seed}: {name} had ended");
        }
    }
    println!("{MOMENTS} moments, {lost} of them before the last job had ended");
    assert!(lost > 10, "the moments come too late to show anything");
}

#[test]
fn a_run_whose_executor_is_killed_takes_another_one_and_goes_on() {
    let jobflow = jobflow();
    let mut replaced = 0;
    for seed in 2000..2000 + MOMENTS {
        let place = Place::new(&jobflow);
        let mut child = place.start();
        // Each task has three lines; the executor has written one of its own before them.
        let lines = 1 + usize::try_from(splitmix64(seed) % 24).unwrap();
        while place.lines() < lines && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(splitmix64(!seed) % 20_000));
        kill(place.executor().unwrap());
        assert_eq!(place.to_the_end(child), Ok(()), "seed {seed}");
        assert_eq!(place.result(), "140", "seed {seed}");
        let mut ended = place.ended();
        let ends = ended.len();
        ended.sort_unstable();
        ended.dedup();
        assert_eq!(ended.len(), ends, "seed {seed}: something ended twice");
        replaced += usize::from(place.executors() > 1);
    }
    println!("{MOMENTS} moments, at {replaced} of them an executor was replaced");
    assert!(replaced > 10, "the moments come too late to show anything");
}
