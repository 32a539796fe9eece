//! Tells what happens to a run, in the way that fits whoever listens.
//!
//! On a terminal a table that is drawn anew, in a pipe a line a change, for programs an object a line. The result is
//! data in every way; all else is talk, but for programs.

use std::path::Path;
use std::time::Instant;

use jobflow_core::{Change, FlowPhase, NodePhase, Time};
use serde_json::{Value, json};

use super::frame::{Size, frame};
use super::screen::Screen;
use crate::arguments::Format;
use crate::console::Console;
use crate::escape;
use crate::failure::Failure;
use crate::standing::{Row, Standing};
use crate::table::span;

/// How a run came to rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The flow ended.
    Ended(FlowPhase),
    /// It was interrupted.
    Interrupted,
    /// It is suspended.
    Suspended,
}

/// Shows one run.
pub(crate) struct Progress<'a> {
    console: &'a mut Console,
    format: Format,
    screen: Screen,
    last: Option<Standing>,
}

impl<'a> Progress<'a> {
    /// Shows nothing yet.
    pub(crate) fn new(console: &'a mut Console, format: Format) -> Self {
        Self {
            console,
            format,
            screen: Screen::default(),
            last: None,
        }
    }

    /// The run begins, or goes on; as root its tasks may do anything, which is said.
    pub(crate) fn began(&mut self, run: &str, folder: &Path, resumed: bool, root: bool) {
        let folder = folder.display().to_string();
        match self.format {
            Format::Json => self.object(&json!({
                "event": "began", "run": run, "folder": folder, "resumed": resumed, "root": root,
            })),
            Format::Text => {
                let how = if resumed { "goes on" } else { "begins" };
                let as_whom = if root { ", as root" } else { "" };
                let folder = escape::terminal(&folder);
                self.console
                    .talk(&format!("run {run} {how} in {folder}{as_whom}\n"));
            }
        }
    }

    /// An entry changed; `row` is after it, so long after the flow began.
    pub(crate) fn changed(&mut self, change: &Change, row: impl FnOnce() -> Option<Row>, took: i64) {
        let wanted = match self.format {
            Format::Json => true,
            Format::Text => (is_told(change.to) || is_set_back(change)) && self.console.drawable().is_none(),
        };
        let Some(row) = wanted.then(row).flatten() else {
            return;
        };
        match self.format {
            Format::Json => self.object(&event(change, &row)),
            Format::Text => self.console.talk(&line(change, &row, took)),
        }
    }

    /// Time passed; `standing` is asked for only if it is to be drawn.
    pub(crate) fn passed(&mut self, standing: impl FnOnce() -> Standing) {
        let now = Instant::now();
        if !self.screen.is_due(now) {
            return;
        }
        let standing = standing();
        if let (Format::Text, Some(size)) = (self.format, self.console.drawable()) {
            let lines = frame(&standing, size);
            let lines: Vec<String> = lines
                .into_iter()
                .map(|line| self.console.plain_or_styled(line))
                .collect();
            let text = self.screen.draw(&lines, now);
            self.console.redraw(&text);
        }
        self.last = Some(standing);
    }

    /// Nothing new is started for a reason, or it goes on when there is none.
    pub(crate) fn blocked(&mut self, reason: Option<&str>) {
        match (self.format, reason) {
            (Format::Json, reason) => self.object(&json!({ "event": "blocked", "reason": reason })),
            (Format::Text, Some(reason)) => self.note(&format!("nothing new is started: {reason}")),
            (Format::Text, None) => self.note("new tasks are started again"),
        }
    }

    /// Says something above the table.
    pub(crate) fn note(&mut self, text: &str) {
        self.clear();
        self.console.talk(&format!("{}\n", escape::terminal(text)));
    }

    /// The last standing that was seen.
    pub(crate) fn see(&mut self, standing: Standing) {
        self.last = Some(standing);
    }

    /// Takes the table away.
    pub(crate) fn clear(&mut self) {
        let clear = self.screen.clear();
        self.console.redraw(&clear);
    }

    /// Writes the result.
    pub(crate) fn ended(mut self, outcome: Outcome) -> Result<(), Failure> {
        self.clear();
        let Some(standing) = self.last else { return Ok(()) };
        match self.format {
            Format::Json => {
                let mut object = standing.as_json();
                object["event"] = "ended".into();
                object["outcome"] = outcome.word().into();
                self.console.data(&format!("{object}\n"))
            }
            Format::Text => {
                let size = Size {
                    width: self.console.data_width(),
                    height: None,
                    charset: self.console.charset(),
                };
                self.console.data(&(frame(&standing, size).join("\n") + "\n"))
            }
        }
    }

    /// Writes one object. Whoever read them may have gone; the run goes on.
    fn object(&mut self, object: &Value) {
        let _ = self.console.data(&format!("{object}\n"));
        let _ = self.console.flush();
    }
}

impl Outcome {
    const fn word(self) -> &'static str {
        match self {
            Self::Ended(FlowPhase::Succeed) => "succeeded",
            Self::Ended(FlowPhase::Failed) => "failed",
            Self::Ended(FlowPhase::Pending | FlowPhase::Running | FlowPhase::Terminating) => "unfinished",
            Self::Interrupted => "interrupted",
            Self::Suspended => "suspended",
        }
    }
}

/// Whether people want to hear of it.
const fn is_told(phase: NodePhase) -> bool {
    match phase {
        NodePhase::Waiting | NodePhase::Submitting | NodePhase::Queued => false,
        NodePhase::Blocked
        | NodePhase::Running
        | NodePhase::Stopping
        | NodePhase::BackingOff
        | NodePhase::Paused
        | NodePhase::Succeeded
        | NodePhase::Failed
        | NodePhase::Skipped
        | NodePhase::Cancelled => true,
    }
}

/// Whether an attempt whose tasks ran waits for them again: they were lost, and are made anew.
fn is_set_back(change: &Change) -> bool {
    change.from == NodePhase::Running && change.to == NodePhase::Queued
}

fn line(change: &Change, row: &Row, took: i64) -> String {
    let why = match row.why.is_empty() {
        true => String::new(),
        false => format!(" ({})", row.why),
    };
    let attempt = match change.key.attempt {
        0 | 1 => String::new(),
        attempt => format!(", attempt {attempt}"),
    };
    let again = match is_set_back(change) {
        true => " again, its tasks are made anew",
        false => "",
    };
    let text = format!(
        "[{}] {}: {}{attempt}{again}{why}",
        span(took),
        row.name,
        change.to
    );
    escape::terminal(&text) + "\n"
}

fn event(change: &Change, row: &Row) -> Value {
    let Change {
        key,
        from,
        to,
        event: _,
        at: Time(at),
    } = change;
    json!({
        "event": "node",
        "at": at,
        "node": row.name,
        "attempt": key.attempt,
        "from": from.as_str(),
        "to": to.as_str(),
        "why": Some(&row.why).filter(|why| !why.is_empty()),
    })
}

#[cfg(test)]
mod tests {
    use jobflow_core::node::NodeEvent;
    use jobflow_core::{JobKey, NodeId};

    use super::*;

    fn change(to: NodePhase, attempt: u32) -> Change {
        Change {
            key: JobKey {
                node: NodeId(0),
                index: 0,
                attempt,
            },
            from: NodePhase::Queued,
            to,
            event: NodeEvent::Run,
            at: Time(7),
        }
    }

    fn row(phase: NodePhase, why: &str) -> Row {
        Row {
            name: "count".to_owned(),
            phase,
            attempt: 1,
            took: Some(2000),
            tasks: Vec::new(),
            exit_code: None,
            why: why.to_owned(),
        }
    }

    /// A run of one entry, as it is told: data and talk.
    fn told(format: Format) -> (String, String) {
        let (mut console, data, talk) = Console::kept();
        let mut progress = Progress::new(&mut console, format);
        progress.began("r-1", Path::new("/runs/r-1"), false, true);
        for (phase, attempt, why) in [
            (NodePhase::Queued, 1, ""),
            (NodePhase::Running, 1, ""),
            (NodePhase::Failed, 2, "the job failed; \u{1b}[31m"),
        ] {
            progress.changed(&change(phase, attempt), || Some(row(phase, why)), 61_000);
        }
        progress.blocked(Some("the disk is full"));
        progress.see(Standing {
            flow: "nightly".to_owned(),
            run: "r-1".to_owned(),
            phase: FlowPhase::Failed,
            took: 61_000,
            rows: vec![row(NodePhase::Failed, "the job failed")],
        });
        progress.ended(Outcome::Ended(FlowPhase::Failed)).unwrap();
        (data.text(), talk.text())
    }

    #[test]
    fn people_without_a_terminal_get_lines_and_the_result_as_data() {
        let (data, talk) = told(Format::Text);
        insta::assert_snapshot!("lines", talk);
        insta::assert_snapshot!("result", data);
    }

    #[test]
    fn programs_get_an_object_a_line_and_the_result_last() {
        let (data, talk) = told(Format::Json);
        assert_eq!(talk, "");
        let events: Vec<Value> = data
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let words: Vec<&str> = events
            .iter()
            .map(|event| event["event"].as_str().unwrap())
            .collect();
        assert_eq!(words, ["began", "node", "node", "node", "blocked", "ended"]);
        assert_eq!(events[5]["outcome"], "failed");
        insta::assert_snapshot!("objects", data);
    }
}
