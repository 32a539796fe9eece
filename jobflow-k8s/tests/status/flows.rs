//! Flows to try: the conformance scripts, and random ones of every kind of rule.

use std::path::Path;
use std::sync::Arc;

use jobflow_core::condition::{Condition, Rule, TaskCondition, TaskStatus};
use jobflow_core::graph::{Entry, FlowGraph, OnSkipped, Strategy, Target, Timeout, TimeoutScope};
use jobflow_core::key::JobKey;
use jobflow_core::policy::FailurePolicy;
use jobflow_core::retry::{Backoff, splitmix64};
use jobflow_core::testing::{End, Life, Script};
use jobflow_core::{Policy, Span};

use crate::law::Kept;

/// The conformance scripts of the project by name.
pub(crate) fn scripts() -> Vec<(String, Script)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 50);
    files
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            (
                file.file_stem().unwrap().to_string_lossy().into_owned(),
                Script::parse(&text).unwrap(),
            )
        })
        .collect()
}

/// A source of numbers that is the same for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = splitmix64(self.0);
        self.0 % sides
    }

    pub(crate) fn one_in(&mut self, sides: u64) -> bool {
        self.roll(sides) == 0
    }

    /// Somebody wants something now and then.
    pub(crate) fn wish(&mut self, kept: &mut Kept) {
        match self.roll(60) {
            0 => kept.cancel(),
            1 => {
                kept.world.wishes.suspend = true;
                kept.world.wishes.suspend_running = self.one_in(2);
            }
            2..20 => _ = kept.resumes(),
            20 => {
                if let Some(key) = kept.world.pending().first() {
                    kept.world.delete(*key);
                }
            }
            _ => {}
        }
    }
}

/// A flow of up to a dozen entries.
pub(crate) fn random(seed: u64) -> (FlowGraph, Policy) {
    let mut dice = Dice(seed ^ 0xabcd);
    let count = 2 + dice.roll(9);
    let mut entries: Vec<_> = (0..count).map(|position| entry(position, &mut dice)).collect();
    if dice.one_in(3) {
        let finally = Entry {
            finally: true,
            hash: 99,
            ..Entry::job("tidy")
        };
        entries.push(finally);
    }
    let policy = Policy {
        failure_policy: [
            FailurePolicy::StopNew,
            FailurePolicy::CancelAll,
            FailurePolicy::Continue,
        ][usize::try_from(dice.roll(3)).unwrap()],
        parallelism: dice.one_in(3).then(|| 1 + u32::try_from(dice.roll(3)).unwrap()),
        deadline: dice.one_in(3).then(|| Span::from_secs(10 + dice.roll(60))),
        commands: !dice.one_in(4),
        ..Policy::default()
    };
    (FlowGraph::from_names(entries).unwrap(), policy)
}

fn entry(position: u64, dice: &mut Dice) -> Entry<Arc<str>> {
    let mut entry = Entry::job(format!("e{position}").as_str());
    entry.hash = position + 1;
    for target in 0..position {
        if dice.one_in(3) {
            let mut rule = Rule::new(condition(dice));
            rule.delay = if dice.one_in(4) {
                Span(dice.roll(5_000))
            } else {
                Span::ZERO
            };
            entry
                .targets
                .push(Target::with(format!("e{target}").as_str().into(), rule));
        }
    }
    let targets = entry.targets.len() as u64;
    entry.strategy = match dice.roll(4) {
        0 if targets > 0 => Strategy::Any,
        1 if targets > 0 => Strategy::AtLeast(1 + u32::try_from(dice.roll(targets)).unwrap()),
        _ => Strategy::All,
    };
    entry.allow_failure = dice.one_in(4);
    entry.on_skipped = dice.one_in(3).then_some(OnSkipped::Satisfy);
    entry.retry.limit = u32::try_from(dice.roll(3)).unwrap();
    entry.retry.infrastructure_limit = u32::try_from(dice.roll(2)).unwrap();
    entry.retry.backoff = Backoff {
        initial: Span(dice.roll(4_000)),
        ..Backoff::default()
    };
    entry.timeout = dice.one_in(3).then(|| Timeout {
        span: Span::from_secs(1 + dice.roll(20)),
        scope: if dice.one_in(2) {
            TimeoutScope::Attempt
        } else {
            TimeoutScope::Node
        },
    });
    entry
}

fn condition(dice: &mut Dice) -> Condition {
    match dice.roll(9) {
        0 => Condition::Failed,
        1 => Condition::Finished,
        2 => Condition::Started,
        3 => Condition::Running,
        4 => Condition::Ready(None),
        5 => Condition::Task(TaskCondition {
            task: "main".into(),
            status: [
                TaskStatus::Running,
                TaskStatus::Failed,
                TaskStatus::Finished,
                TaskStatus::Pending,
            ][usize::try_from(dice.roll(4)).unwrap()],
            at_least: None,
        }),
        _ => Condition::Completed,
    }
}

/// What a job does.
pub(crate) fn life(seed: u64, key: JobKey) -> Life {
    let mut dice = Dice(seed ^ u64::from(key.node.0 * 64 + key.attempt));
    Life {
        queued: Span(dice.roll(2_000)),
        runs: Span(dice.roll(9_000)),
        end: match dice.roll(9) {
            0 => End::Fails(1),
            1 => End::NeverStarts,
            2 => End::Evicted,
            3 => End::AbortsItself,
            4 => End::Deleted,
            _ => End::Succeeds,
        },
    }
}
