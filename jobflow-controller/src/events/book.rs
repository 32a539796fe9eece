//! What is told of a flow, and when.
//!
//! Comes in: transitions and findings, and the time. Goes out: notes, each of which becomes one Event. What is alike and
//! comes before it is told becomes one note. A flow may be told about so often; what is above that waits, and folds
//! further. Namespaces take turns, then flows, so that a loud one delays only itself. Memory is bounded: a flow has as
//! many notes as there are kinds of them, and beyond so many flows the newest is dropped and counted.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::clock::Moment;

/// Notes that a flow may have at once.
pub const BURST: u32 = 40;
/// How long it takes until a flow may have one more.
pub const REFILL: Duration = Duration::from_secs(15);
/// Flows with something to tell.
pub const MOST_FLOWS: usize = 5000;
/// Names in one note.
const NAMED: usize = 8;

/// The flow that is told about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct About {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// In one word: the phase of a node, or the finding.
    pub reason: &'static str,
    /// Why, in one word.
    pub because: Option<&'static str>,
    /// Whether somebody should look.
    pub warning: bool,
    /// The node with its attempt; none for what concerns the flow.
    pub node: Option<(String, u32)>,
    /// In words.
    pub message: Option<String>,
}

/// One Event to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Of what.
    pub about: About,
    /// In one word.
    pub reason: &'static str,
    /// Whether somebody should look.
    pub warning: bool,
    /// The text.
    pub text: String,
    /// The same for the same transitions, whoever tells them.
    pub digest: u64,
}

/// What is still to be told.
#[derive(Debug, Default)]
pub struct Book {
    /// By UID.
    flows: BTreeMap<String, Flow>,
    /// The UIDs of flows with something to tell, by namespace.
    queues: BTreeMap<String, VecDeque<String>>,
    /// Namespaces with something to tell.
    turns: VecDeque<String>,
    /// By UID, of flows that were told about lately.
    allowances: BTreeMap<String, Allowance>,
    dropped: u64,
}

#[derive(Debug)]
struct Flow {
    about: About,
    folds: Vec<Fold>,
}

/// Transitions that are alike.
#[derive(Debug)]
struct Fold {
    reason: &'static str,
    because: Option<&'static str>,
    warning: bool,
    names: Vec<String>,
    count: u64,
    message: Option<String>,
    digest: u64,
}

#[derive(Clone, Copy, Debug)]
struct Allowance {
    left: u32,
    since: Moment,
}

impl Book {
    /// Takes something in.
    pub fn add(&mut self, about: &About, subject: Subject) {
        let Some(flow) = self.flow(about) else {
            self.dropped = self.dropped.saturating_add(1);
            return;
        };
        let alike = |fold: &&mut Fold| fold.reason == subject.reason && fold.because == subject.because;
        match flow.folds.iter_mut().find(alike) {
            Some(fold) => fold.take(subject),
            None => flow.folds.push(Fold::of(about, subject)),
        }
    }

    /// What is to be told now, at most so many.
    pub fn due(&mut self, most: usize, now: Moment) -> Vec<Note> {
        self.allowances
            .retain(|_, allowance| allowance.at(now).left < BURST);
        let mut notes = Vec::new();
        let mut skipped = 0;
        while notes.len() < most && skipped < self.flows.len() {
            let Some(namespace) = self.turns.pop_front() else {
                break;
            };
            match self.turn(&namespace, now) {
                Some(note) => {
                    notes.push(note);
                    skipped = 0;
                }
                None => skipped += 1,
            }
            if self.queues.contains_key(&namespace) {
                self.turns.push_back(namespace);
            }
        }
        notes
    }

    /// How many were dropped since this was last asked.
    pub fn dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// One note of the next flow of a namespace; none if that one has been told about enough.
    fn turn(&mut self, namespace: &str, now: Moment) -> Option<Note> {
        let queue = self.queues.get_mut(namespace)?;
        let uid = queue.pop_front()?;
        let flow = self.flows.get_mut(&uid)?;
        let full = Allowance {
            left: BURST,
            since: now,
        };
        let allowance = self.allowances.entry(uid.clone()).or_insert(full);
        *allowance = allowance.at(now);
        let note = (allowance.left > 0).then(|| flow.folds.remove(0).note(&flow.about));
        allowance.left = allowance.left.saturating_sub(u32::from(note.is_some()));
        match flow.folds.is_empty() {
            true => drop(self.flows.remove(&uid)),
            false => queue.push_back(uid),
        }
        if queue.is_empty() {
            self.queues.remove(namespace);
        }
        note
    }

    /// The flow's place, a new one if there is room.
    fn flow(&mut self, about: &About) -> Option<&mut Flow> {
        let is_new = !self.flows.contains_key(&about.uid);
        if is_new && self.flows.len() >= MOST_FLOWS {
            return None;
        }
        if is_new {
            self.queue(about);
        }
        let empty = || Flow {
            about: about.clone(),
            folds: Vec::new(),
        };
        Some(self.flows.entry(about.uid.clone()).or_insert_with(empty))
    }

    fn queue(&mut self, about: &About) {
        if !self.queues.contains_key(&about.namespace) {
            self.turns.push_back(about.namespace.clone());
        }
        let queue = self.queues.entry(about.namespace.clone()).or_default();
        queue.push_back(about.uid.clone());
    }
}

impl Allowance {
    /// With what has been added since.
    fn at(self, now: Moment) -> Self {
        let steps = self.since.until(now).as_millis() / REFILL.as_millis();
        let steps = u32::try_from(steps).unwrap_or(u32::MAX);
        Self {
            left: self.left.saturating_add(steps).min(BURST),
            since: self.since.after(REFILL.saturating_mul(steps)),
        }
    }
}

impl Fold {
    fn of(about: &About, subject: Subject) -> Self {
        let mut fold = Self {
            reason: subject.reason,
            because: subject.because,
            warning: subject.warning,
            names: Vec::new(),
            count: 0,
            message: None,
            digest: digest(
                OFFSET,
                &[&about.uid, subject.reason, subject.because.unwrap_or_default()],
            ),
        };
        fold.take(subject);
        fold
    }

    fn take(&mut self, subject: Subject) {
        let Subject {
            reason: _,
            because: _,
            warning: _,
            node,
            message,
        } = subject;
        self.count += 1;
        let (node, attempt) = node.unwrap_or_default();
        let said = message.as_deref().unwrap_or_default();
        self.digest = digest(self.digest, &[&node, &attempt.to_string(), said]);
        let name = match attempt {
            0 | 1 => node,
            attempt => format!("{node} (attempt {attempt})"),
        };
        if self.names.len() < NAMED && !name.is_empty() {
            self.names.push(name);
        }
        self.message = message.or_else(|| self.message.take());
    }

    fn note(self, about: &About) -> Note {
        Note {
            text: self.text(),
            about: about.clone(),
            reason: self.reason,
            warning: self.warning,
            digest: self.digest,
        }
    }

    fn text(&self) -> String {
        let because = self
            .because
            .map(|because| format!(", {because}"))
            .unwrap_or_default();
        let message = self
            .message
            .as_ref()
            .map(|message| format!(": {message}"))
            .unwrap_or_default();
        let named = self.names.join(", ");
        match (self.count, self.names.len()) {
            (_, 0) => format!("{}{because}{message}", self.reason),
            (1, _) => format!("{named} is {}{because}{message}", self.reason),
            (count, shown) => {
                let more = match usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(shown) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                format!(
                    "{count} nodes are {}{because}: {named}{more}{message}",
                    self.reason
                )
            }
        }
    }
}

/// FNV-1a, whose value is the same in every version of this program.
const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;

fn digest(mut state: u64, parts: &[&str]) -> u64 {
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    state
}

#[cfg(test)]
mod tests;
