//! Why the entries of a run stand where they do, from each to its cause.
//!
//! Comes in: a checkpoint with the core's report, and the flow of the run. Goes out: text for people, objects for
//! programs. Deliberately absent: any decision (the core's view has them), files, streams.

mod json;
mod place;
mod release;
mod rules;

use jobflow_core::record::{FlowStop, FlowStopCause, NodeRecord, StopCause};
use jobflow_core::report::{Explanation, View};
use jobflow_core::{NodeId, NodePhase};
use jobflow_k8s::parse::Flow;
use jobflow_local::runner::{Reasons, Seen};

use crate::escape::terminal;
use crate::standing::{between, words};
pub(crate) use place::{Note, Notes, Place, of_shortages};

/// A run, and all that explains it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scene<'a> {
    /// Where it runs.
    pub(crate) place: Place,
    /// The run's name.
    pub(crate) run: &'a str,
    /// Whether somebody decides for it now.
    pub(crate) in_use: bool,
    /// Its checkpoint.
    pub(crate) seen: &'a Seen,
    /// What that says of reasons.
    pub(crate) reasons: &'a Reasons,
    /// What was seen beside that.
    pub(crate) notes: &'a Notes,
    /// The flow.
    pub(crate) flow: &'a Flow,
    /// The core's view of both.
    pub(crate) view: View<'a>,
}

/// An entry with all that lies between it and the cause.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Account {
    /// The entry first, the cause last.
    chain: Vec<Explanation>,
    /// What would let it go on.
    release: String,
}

impl Scene<'_> {
    /// Explains one entry.
    pub(crate) fn account(&self, node: NodeId) -> Account {
        let chain = self.view.chain(node);
        let release = self.release(&chain);
        Account { chain, release }
    }

    /// All accounts as text; with every rule where it is `close`.
    pub(crate) fn text(&self, accounts: &[Account], close: bool) -> String {
        let ended = self.seen.nodes.iter().filter(|line| line.phase.is_end()).count();
        let of = self.seen.nodes.len();
        let Seen { flow, phase, .. } = self.seen;
        let mut lines = vec![format!("{flow}  {phase}  {ended}/{of}  {}", self.run)];
        lines.extend(self.reasons.record.stop.map(|stop| self.stopped(stop)));
        if accounts.is_empty() {
            lines.push("every entry has succeeded".to_owned());
        }
        for account in accounts {
            lines.push(String::new());
            lines.extend(self.block(account, close));
        }
        let safe: Vec<String> = lines.iter().map(|line| terminal(line) + "\n").collect();
        safe.concat()
    }

    fn block(&self, account: &Account, close: bool) -> Vec<String> {
        let Some((first, others)) = account.chain.split_first() else {
            return Vec::new();
        };
        let mut lines = vec![self.line(first)];
        if close || rules::is_telling(first, self.view.graph) {
            lines.extend(self.rules(first).into_iter().map(|rule| format!("  {rule}")));
        }
        let because = others.iter().map(|link| format!("  because {}", self.line(link)));
        lines.extend(because);
        lines.push(format!("  goes on: {}", account.release));
        lines
    }

    /// The entry, its phase, and what is said of it.
    fn line(&self, link: &Explanation) -> String {
        let node = link.node;
        let Some(record) = self.view.record.nodes.get(node) else {
            return self.name(node);
        };
        let said = [
            words(
                node,
                record,
                link.why,
                &|node| Some(self.name(node)),
                self.view.now,
            ),
            self.beside(node, record),
        ];
        let notes = self.notes_of(node).iter().map(|note| note.text.clone());
        let said: Vec<String> = said
            .into_iter()
            .chain(notes)
            .filter(|part| !part.is_empty())
            .collect();
        let head = format!("{}: {}", self.name(node), record.phase());
        match said.is_empty() {
            true => head,
            false => format!("{head}; {}", said.join("; ")),
        }
    }

    /// What the phase has of its own: numbers and times.
    fn beside(&self, node: NodeId, record: &NodeRecord) -> String {
        let now = self.view.now;
        match record.phase() {
            NodePhase::Running => {
                let since = record.ran_since.or(record.started_since).or(record.start_time);
                since.map_or_else(String::new, |since| format!("for {}", between(since, now)))
            }
            NodePhase::Queued if self.notes_of(node).is_empty() => {
                format!("its {} have not started", self.place.pods())
            }
            NodePhase::BackingOff => {
                let ended = record.attempts.last();
                let reason = ended.map(|attempt| crate::standing::reason_words(attempt.reason));
                let code = ended.and_then(|attempt| attempt.exit_code);
                ended_attempt(record.attempt, reason, code)
            }
            NodePhase::Failed => record
                .exit_code
                .map_or_else(String::new, |code| format!("exit code {code}")),
            NodePhase::Stopping | NodePhase::Paused => record.stop.map_or_else(String::new, |stop| {
                format!("{}, {} ago", stop_words(stop.cause), between(stop.since, now))
            }),
            NodePhase::Waiting
            | NodePhase::Blocked
            | NodePhase::Submitting
            | NodePhase::Queued
            | NodePhase::Succeeded
            | NodePhase::Skipped
            | NodePhase::Cancelled => String::new(),
        }
    }

    fn stopped(&self, stop: FlowStop) -> String {
        let what = match stop.cause {
            FlowStopCause::CancelGraceful => "it was cancelled; `finally` still runs",
            FlowStopCause::CancelNow => "it was cancelled, `finally` included",
            FlowStopCause::Deadline => "its deadline passed",
            FlowStopCause::CancelAll => "an entry failed, and the failure policy is CancelAll",
        };
        format!("stopped {} ago: {what}", between(stop.since, self.view.now))
    }

    fn notes_of(&self, node: NodeId) -> &[Note] {
        self.notes.get(&node).map_or(&[], Vec::as_slice)
    }

    fn name(&self, node: NodeId) -> String {
        let entry = self.view.graph.entries().get(node.position());
        entry.map_or_else(|| "an entry".to_owned(), |entry| entry.name.to_string())
    }
}

fn ended_attempt(attempt: u32, reason: Option<&str>, code: Option<i32>) -> String {
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    let code = code.map_or_else(String::new, |code| format!(", exit code {code}"));
    format!("attempt {attempt} ended badly{reason}{code}")
}

/// Why an attempt is stopped.
fn stop_words(cause: StopCause) -> &'static str {
    match cause {
        StopCause::Cancel => "told to end because the flow was cancelled",
        StopCause::Deadline => "told to end because a deadline passed",
        StopCause::CancelAll => "told to end because another entry failed",
        StopCause::AttemptTimeout => "told to end because the attempt's time was up",
        StopCause::NodeTimeout => "told to end because the entry's time was up",
        StopCause::SkipRequest => "told to end because a request skips it",
        StopCause::SuspendRunning => "told to end because the flow is suspended",
    }
}
