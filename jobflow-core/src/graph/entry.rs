//! One entry of a flow as the graph takes it: what it does, what it waits for, how its end is judged.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::condition::{Rule, Rules};
use crate::expression::Formula;
use crate::key::NodeId;
use crate::retry::Retry;
use crate::time::Span;

/// An entry whose targets are of type `T`: names as written, or [`NodeId`]s.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<T = NodeId> {
    /// The name, unique in the flow.
    pub name: Arc<str>,
    /// What it does.
    pub work: Work<T>,
    /// Whether it is one of those that run after all others have ended.
    pub finally: bool,
    /// What it waits for.
    pub targets: Vec<Target<T>>,
    /// How the targets are combined.
    pub strategy: Strategy,
    /// What a benignly skipped target means; none: `Propagate`, or `Satisfy` when the targets are in different
    /// branches of one switch.
    pub on_skipped: Option<OnSkipped>,
    /// False: the entry is skipped.
    pub when: Option<Formula>,
    /// How often and when an attempt that ended badly is made again.
    pub retry: Retry,
    /// The longest it may take.
    pub timeout: Option<Timeout>,
    /// Whether its own failure is excused.
    pub allow_failure: bool,
    /// A digest of what the author wrote, to notice an edit.
    pub hash: u64,
}

/// What an entry does when it is released.
#[derive(Clone, Debug, PartialEq)]
pub enum Work<T = NodeId> {
    /// It makes a job.
    Job,
    /// It decides which other entries run, without a job.
    Switch(Box<Switch<T>>),
}

/// A choice between branches.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch<T = NodeId> {
    /// Chooses the case.
    pub on: Formula,
    /// The entries of each case.
    pub cases: Vec<Vec<T>>,
    /// The entries of the case that is taken when no other is.
    pub default: Vec<T>,
}

impl<T> Switch<T> {
    /// Which entries belong to the case; the default's for none.
    #[must_use]
    pub fn branch(&self, case: Option<u32>) -> &[T] {
        case.and_then(|case| self.cases.get(case as usize))
            .unwrap_or(&self.default)
    }
}

/// One target of an entry with what it must have reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Target<T = NodeId> {
    /// The entry that is waited for.
    pub node: T,
    /// What it must have reached, joined by and.
    pub rules: Rules,
}

/// How the verdicts on the targets become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Strategy {
    /// Each must hold.
    #[default]
    All,
    /// One must hold.
    Any,
    /// So many must hold.
    AtLeast(u32),
}

/// What a target means that was skipped for a benign reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum OnSkipped {
    /// The entry is skipped too.
    #[default]
    Propagate,
    /// The target is left out.
    Satisfy,
}

/// A bound on the time of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Timeout {
    /// How long.
    pub span: Span,
    /// Of what.
    pub scope: TimeoutScope,
}

/// What a timeout is counted over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TimeoutScope {
    /// Each attempt, from the creation of its job.
    #[default]
    Attempt,
    /// All attempts together, from the first intent, waits included.
    Node,
}

impl<T> Target<T> {
    /// A target that must have completed, as when nothing is said.
    #[must_use]
    pub const fn completed(node: T) -> Self {
        Self {
            node,
            rules: Rules::One(Rule::implied()),
        }
    }

    /// A target with one rule.
    #[must_use]
    pub const fn with(node: T, rule: Rule) -> Self {
        Self {
            node,
            rules: Rules::One(rule),
        }
    }
}

impl<T> Entry<T> {
    /// An entry that makes a job, waits for nothing, and leaves everything else at its default.
    #[must_use]
    pub fn job(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            work: Work::Job,
            finally: false,
            targets: Vec::new(),
            strategy: Strategy::All,
            on_skipped: None,
            when: None,
            retry: Retry::default(),
            timeout: None,
            allow_failure: false,
            hash: 0,
        }
    }

    /// The same entry, waiting for these to have completed too.
    #[must_use]
    pub fn after(mut self, targets: impl IntoIterator<Item = T>) -> Self {
        self.targets.extend(targets.into_iter().map(Target::completed));
        self
    }
}
