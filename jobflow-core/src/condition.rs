//! What an entry may ask of a target. The table of when each holds is in [`crate::plan::judge`].

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use crate::facts::{FactCache, FactKey};
use crate::probe::Probe;
use crate::record::NodeRecord;
use crate::time::{Span, Time};
use crate::verdict::{AtLeast, Verdict};

/// What a target must have reached.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Condition {
    /// It succeeded, or its failure is excused.
    Completed,
    /// A pod of it ever ran, or it succeeded.
    Started,
    /// Its gang ran, or it succeeded.
    Running,
    /// So many pods were ready at once (default: what the job needs to run), or it succeeded.
    Ready(Option<AtLeast>),
    /// It failed, excused or not.
    Failed,
    /// It ended, in whatever way.
    Finished,
    /// So many pods of one task were in a phase at once.
    Task(TaskCondition),
    /// Its running pods answer a question; it can't hold any more once the target has ended, in whatever way.
    Probe(Arc<Probe>),
    /// A kind that the embedding program registered.
    Custom(CustomCondition),
}

/// A condition on the pods of one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskCondition {
    /// The task's name; empty for each task of the job.
    pub task: Arc<str>,
    /// What its pods must have reached.
    pub status: TaskStatus,
    /// How many of them; all, when absent.
    pub at_least: Option<AtLeast>,
}

/// What a pod of a task can have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TaskStatus {
    /// Not running yet.
    Pending,
    /// Running, or succeeded.
    Running,
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed,
    /// Ran at some time.
    Started,
    /// Ready, or succeeded.
    Ready,
    /// Succeeded or failed.
    Finished,
}

/// One condition with the time that must pass after it first held.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The condition.
    pub condition: Condition,
    /// How long after it first held the rule holds.
    pub delay: Span,
    /// Whether the author wrote the condition down, rather than leaving the default.
    pub explicit: bool,
}

impl Rule {
    /// The condition as a rule without a delay, written down by the author.
    #[must_use]
    pub const fn new(condition: Condition) -> Self {
        Self {
            condition,
            delay: Span::ZERO,
            explicit: true,
        }
    }

    /// What holds when nothing is said: the target completed.
    #[must_use]
    pub const fn implied() -> Self {
        Self {
            condition: Condition::Completed,
            delay: Span::ZERO,
            explicit: false,
        }
    }
}

/// The rules on one target, joined by and; there is at least one.
#[derive(Clone, Debug, PartialEq)]
pub enum Rules {
    /// A single rule, as nearly always.
    One(Rule),
    /// Several.
    Many(Box<[Rule]>),
}

impl Rules {
    /// The rules, in the order of the spec.
    #[must_use]
    pub const fn as_slice(&self) -> &[Rule] {
        match self {
            Self::One(rule) => core::slice::from_ref(rule),
            Self::Many(rules) => rules,
        }
    }

    /// Adds a rule on the same target.
    pub fn push(&mut self, rule: Rule) {
        let mut rules: Vec<Rule> = self.as_slice().to_vec();
        rules.push(rule);
        *self = Self::Many(rules.into_boxed_slice());
    }
}

/// What a predicate may look at.
#[derive(Clone, Copy, Debug)]
pub struct TargetView<'a> {
    /// The target's name.
    pub name: &'a str,
    /// Its record.
    pub record: &'a NodeRecord,
}

/// A condition of the embedding program's own. Pure: what it needs from outside it asks for as facts.
pub trait Predicate: fmt::Debug + Send + Sync {
    /// The kind it was registered under.
    fn kind(&self) -> &str;

    /// Its arguments in a canonical form; two predicates of one kind with equal arguments are the same.
    fn arguments(&self) -> &str;

    /// The facts it needs for a verdict on this target.
    fn wants(&self, target: TargetView<'_>) -> Vec<FactKey>;

    /// The verdict; it must not depend on anything but the arguments.
    fn evaluate(&self, target: TargetView<'_>, facts: &FactCache, now: Time) -> Verdict;
}

/// A predicate, compared by kind and arguments.
#[derive(Clone, Debug)]
pub struct CustomCondition(pub Arc<dyn Predicate>);

impl PartialEq for CustomCondition {
    fn eq(&self, other: &Self) -> bool {
        self.0.kind() == other.0.kind() && self.0.arguments() == other.0.arguments()
    }
}

/// Makes predicates of one kind from the arguments in a flow.
pub trait PredicateFactory: fmt::Debug + Send + Sync {
    /// The word in `dependsOn.custom[].kind`.
    fn kind(&self) -> &str;

    /// Builds a predicate from its arguments, a JSON object as text.
    ///
    /// # Errors
    ///
    /// What is wrong with the arguments, for the author of the flow to read.
    fn build(&self, arguments: &str) -> Result<Arc<dyn Predicate>, String>;
}
