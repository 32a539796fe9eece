//! Reads a recording: what was to be seen of pods and group after each line, which commands came, and which statuses
//! Volcano wrote.

use std::collections::BTreeMap;

use jobflow_core::gang::{Admission, Command, GangSpec, PodKey, PodPhase, PodView, Pods};
use serde_json::Value;

use crate::manifest::{self, list, number};
use crate::written::Written;

/// A recording, line by line.
pub(crate) struct Recording {
    pub(crate) spec: GangSpec,
    /// What was to be seen after each line.
    pub(crate) seen: Vec<Pods>,
    /// Commands, with the line that they came in.
    pub(crate) commands: Vec<(usize, Command)>,
    /// Whether Volcano still looked after the Job at the end of the recording.
    pub(crate) kept: bool,
    /// Version and retry count in the annotations of each pod that was made.
    pub(crate) made: BTreeMap<PodKey, (u32, u32)>,
    /// Pods that were marked out-of-sync, which Volcano does to those it stops.
    pub(crate) stopped: Vec<PodKey>,
    lines: Vec<Line>,
}

/// One status of the Job.
pub(crate) struct Line {
    /// Its place in the recording.
    pub(crate) place: usize,
    pub(crate) milliseconds: i64,
    pub(crate) status: Written,
}

impl Recording {
    pub(crate) fn read(text: &str) -> Self {
        let mut lines = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let job = lines.next().unwrap();
        let spec = manifest::spec(&job["object"]["spec"]);
        let queue_missing = job["object"]["spec"]["queue"] != "default";
        let admission = if queue_missing {
            Admission::QueueMissing
        } else {
            Admission::Waiting
        };
        let mut recording = Self {
            spec,
            seen: vec![Pods {
                admission,
                seen: BTreeMap::new(),
            }],
            commands: Vec::new(),
            kept: true,
            made: BTreeMap::new(),
            stopped: Vec::new(),
            lines: Vec::new(),
        };
        lines.for_each(|line| recording.add(&line));
        recording
    }

    /// The statuses to reproduce: none twice, and of rewrites of an end that differ in nothing but the version only
    /// the first.
    pub(crate) fn statuses(&self) -> Vec<&Line> {
        let mut distinct: Vec<&Line> = self.lines.iter().collect();
        distinct.dedup_by(|next, last| next.status == last.status);
        let is_kept = |place: usize| place < 2 || !is_repeated(&distinct[place - 2..=place]);
        (0..distinct.len())
            .filter(|place| is_kept(*place))
            .map(|place| distinct[place])
            .collect()
    }

    fn add(&mut self, line: &Value) {
        let mut seen = self.seen.last().unwrap().clone();
        let gone = line["type"] == "DELETED";
        match line["kind"].as_str() {
            Some("Pod") => self.add_pod(line, &mut seen, gone),
            Some("PodGroup") => seen.admission = admission(line, gone),
            Some("Job") => self.add_status(line, gone),
            _ => self.add_note(line),
        }
        self.seen.push(seen);
    }

    fn add_pod(&mut self, line: &Value, seen: &mut Pods, gone: bool) {
        let annotation = |key: &str| {
            line["annotations"][format!("volcano.sh/{key}")]
                .as_str()
                .unwrap_or("")
        };
        let task = self
            .spec
            .tasks
            .iter()
            .position(|task| task.name == annotation("task-spec"))
            .unwrap();
        let (task, index) = (
            u32::try_from(task).unwrap(),
            annotation("task-index").parse().unwrap(),
        );
        let before = self
            .made
            .keys()
            .filter(|key| (key.task, key.index) == (task, index))
            .count();
        let made = u32::try_from(before).unwrap() + u32::from(line["type"] == "ADDED");
        let key = PodKey {
            task,
            index,
            incarnation: made - 1,
        };
        let number = |key: &str| annotation(key).parse().unwrap();
        self.made
            .insert(key, (number("job-version"), number("job-retry-count")));
        if annotation("controller-out-of-sync") == "true" && !self.stopped.contains(&key) {
            self.stopped.push(key);
        }
        seen.seen.insert(key, view(line));
        if gone {
            seen.seen.remove(&key);
        }
    }

    fn add_status(&mut self, line: &Value, gone: bool) {
        self.kept &= !gone && line["deleting"] != true;
        let status = Written::read(&line["status"]);
        let milliseconds = line["ms"].as_i64().unwrap();
        self.lines.push(Line {
            place: self.seen.len(),
            milliseconds,
            status,
        });
    }

    fn add_note(&mut self, line: &Value) {
        let text = line["text"].as_str().unwrap();
        if let Some(command) = text.strip_prefix("command ") {
            self.commands
                .push((self.seen.len(), Command::parse(command).unwrap()));
        }
    }
}

/// Whether the last of three statuses rewrites an end that the second one has rewritten already.
fn is_repeated(lines: &[&Line]) -> bool {
    let [first, second, third] = lines else {
        return false;
    };
    let (first, second, third) = (&first.status, &second.status, &third.status);
    third.phase.is_at_rest() && first.phase == third.phase && second.is_rewritten_as(third)
}

fn admission(line: &Value, gone: bool) -> Admission {
    match line["status"]["phase"].as_str() {
        Some("Inqueue" | "Running" | "Completed") if !gone => Admission::Granted,
        Some("Unknown") if !gone => Admission::Unknown,
        _ => Admission::Waiting,
    }
}

fn view(line: &Value) -> PodView {
    let status = &line["status"];
    let containers = list(&status["containerStatuses"]);
    let exit_code = |container: &Value| container["state"]["terminated"]["exitCode"].as_i64();
    PodView {
        phase: PodPhase::parse(status["phase"].as_str().unwrap()).unwrap(),
        ready: !containers.is_empty() && containers.iter().all(|container| container["ready"] == true),
        terminating: line["deleting"] == true,
        exit_codes: containers
            .iter()
            .filter_map(exit_code)
            .map(|code| i32::try_from(code).unwrap())
            .collect(),
        restarts: containers
            .iter()
            .filter_map(|container| number(&container["restartCount"]))
            .sum(),
        reason: status["reason"].as_str().map(str::to_owned),
    }
}
