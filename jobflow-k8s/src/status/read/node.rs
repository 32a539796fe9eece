//! One node's record as it was written.

use std::sync::Arc;

use jobflow_core::facts::TemplateVersion;
use jobflow_core::key::{NodeId, Uid};
use jobflow_core::node::NodeState;
use jobflow_core::record::{AttemptRecord, Decided, Held, NodeRecord, Retries, Stop};
use jobflow_core::snapshot::{PodCounts, TaskCount};
use jobflow_core::{NodePhase, Time};

use super::{Reading, root, shown};
use crate::fault::{Code, FieldPath};
use crate::status::usual;
use crate::status::words;
use crate::types;

impl Reading<'_> {
    /// The record of `node`, which stands at `at`; without its cause.
    pub(super) fn node(&mut self, at: usize, node: NodeId, written: &types::NodeRecord) -> NodeRecord {
        let path = |field: &str| root().field("nodes").index(at).field(field);
        let phase = words::core_phase(written.phase.unwrap_or_default());
        let mut read = NodeRecord::default();
        read.state = NodeState::recorded(phase);
        read.reason = self.reason(written.reason.as_deref(), || path("reason"));
        read.attempt = self
            .count(written.attempt, || path("attempt"))
            .unwrap_or_else(|| usual::attempt(phase));
        self.attempt(&mut read, node, written, path);
        self.details(&mut read, written, path);
        if phase.is_end() {
            fill_in(&mut read, written);
        }
        read
    }

    /// What is known of the attempt and its Job.
    fn attempt(
        &mut self,
        read: &mut NodeRecord,
        node: NodeId,
        written: &types::NodeRecord,
        path: impl Fn(&str) -> FieldPath,
    ) {
        if read.attempt == 0 && (read.phase().is_live() || read.phase() == NodePhase::BackingOff) {
            self.fault(
                Code::BadValue,
                path("attempt"),
                format!("a node that is {} has an attempt", read.phase()),
            );
        }
        let hash = self.hash(written.entry_hash.as_deref(), || path("entryHash"));
        let derived = read.phase().is_end() && read.attempt > 0 && self.same_generation;
        let hash = hash.or_else(|| derived.then(|| self.parsed.graph.entry(node).hash));
        set(hash.filter(|hash| *hash != 0), |hash| read.entry_hash = hash);
        set(written.uid.as_deref().filter(|uid| !uid.is_empty()), |uid| {
            read.uid = Some(Uid::from(uid))
        });
        let template = written.template.as_ref().and_then(|template| {
            let uid = template.uid.as_deref()?;
            Some(TemplateVersion {
                uid: Arc::from(uid),
                generation: template.generation.unwrap_or(0),
            })
        });
        set(template, |template| read.template = Some(template));
        let stop = self.stop(written.stop.as_ref(), || path("stop"));
        set(stop, |stop| read.stop = Some(stop));
        let usual_minimum = if read.uid.is_some() {
            usual::MIN_AVAILABLE
        } else {
            0
        };
        let least = self
            .count(written.min_available, || path("minAvailable"))
            .unwrap_or(usual_minimum);
        set(Some(least).filter(|least| *least > 0), |least| {
            read.min_available = least
        });
        set(written.jobless.filter(|jobless| *jobless), |jobless| {
            read.jobless = jobless
        });
        let tasks = written
            .tasks
            .as_ref()
            .map(|tasks| self.tasks(tasks, || path("tasks")));
        set(tasks, |tasks| read.tasks = Some(tasks));
    }

    fn details(
        &mut self,
        read: &mut NodeRecord,
        written: &types::NodeRecord,
        path: impl Fn(&str) -> FieldPath,
    ) {
        // What a waiting node's target said last is for people alone.
        let message = written.message.as_deref();
        let message = message.filter(|_| read.phase() != NodePhase::Waiting);
        set(message, |message| read.message = Some(Arc::from(message)));
        set(written.start_time, |time| read.start_time = Some(time.into()));
        set(written.finish_time, |time| read.finish_time = Some(time.into()));
        set(written.started_since, |time| {
            read.started_since = Some(time.into())
        });
        set(written.ran_since, |time| read.ran_since = Some(time.into()));
        set(written.next_retry_time, |time| {
            read.next_retry = Some(time.into())
        });
        if let Some(code) = written.exit_code {
            match i32::try_from(code) {
                Ok(code) => read.exit_code = Some(code),
                Err(_) => self.fault(
                    Code::BadValue,
                    path("exitCode"),
                    format!("{code} is no exit code"),
                ),
            }
        }
        let held = self.held(written.held.as_deref(), || path("held"));
        set(Some(held).filter(|held| !held.is_empty()), |held| {
            read.held = held
        });
        let retries = self.retries(written.retries.as_ref(), || path("retries"));
        set(retries, |retries| read.retries = retries);
        let decided = self.decided(written.decided.as_ref(), || path("decided"));
        set(decided, |decided| read.decided = Some(decided));
        let clocks = written.clocks.as_ref();
        let clock = self.clock(clocks, "attempt", || path("clocks"));
        set(clock, |clock| read.attempt_clock = Some(clock));
        let clock = self.clock(clocks, "node", || path("clocks"));
        set(clock, |clock| read.node_clock = Some(clock));
        let attempts = self.attempts(written.attempts.as_deref(), || path("attempts"));
        set(
            Some(attempts).filter(|attempts| !attempts.is_empty()),
            |attempts| read.attempts = attempts,
        );
    }

    fn hash(&mut self, text: Option<&str>, path: impl FnOnce() -> FieldPath) -> Option<u64> {
        let text = text?;
        let hash = words::core_hash(text);
        if hash.is_none() {
            self.fault(Code::BadValue, path(), format!("`{}` is no digest", shown(text)));
        }
        hash
    }

    fn stop(&mut self, stop: Option<&types::Stop>, path: impl Fn() -> FieldPath) -> Option<Stop> {
        let stop = stop?;
        let word = stop.cause.as_deref().unwrap_or_default();
        let (cause, since) = (words::core_stop(word), stop.since);
        if cause.is_none() {
            self.fault(
                Code::BadValue,
                path().field("cause"),
                format!("`{}` stops no node", shown(word)),
            );
        }
        if since.is_none() {
            self.fault(Code::MissingField, path().field("since"), "a stop has a time");
        }
        Some(Stop {
            cause: cause?,
            since: since?.into(),
        })
    }

    fn tasks(
        &mut self,
        tasks: &std::collections::BTreeMap<String, types::TaskRecord>,
        path: impl Fn() -> FieldPath,
    ) -> Arc<[TaskCount]> {
        let mut read = Vec::with_capacity(tasks.len());
        for (name, task) in tasks {
            let mut number = |number, field: &str| {
                self.count(number, || path().field(name.as_str()).field(field))
                    .unwrap_or(0)
            };
            read.push(TaskCount {
                task: Arc::from(name.as_str()),
                replicas: number(task.replicas, "replicas"),
                counts: PodCounts {
                    pending: number(task.pending, "pending"),
                    running: number(task.running, "running"),
                    ready: number(task.ready, "ready"),
                    succeeded: number(task.succeeded, "succeeded"),
                    failed: number(task.failed, "failed"),
                },
            });
        }
        Arc::from(read)
    }

    /// Conditions that held; those on entries that are gone went with them.
    fn held(&mut self, held: Option<&[types::Held]>, path: impl Fn() -> FieldPath) -> Vec<Held> {
        let mut read = Vec::new();
        for (at, held) in held.into_iter().flatten().enumerate() {
            let Some(target) = self.names.get(held.target.as_str()).copied() else {
                continue;
            };
            let rule = self.count(held.rule, || path().index(at).field("rule"));
            let attempt = self.count(held.attempt, || path().index(at).field("attempt"));
            let Some(since) = held.since else {
                self.fault(
                    Code::MissingField,
                    path().index(at).field("since"),
                    "a condition held since some time",
                );
                continue;
            };
            read.push(Held {
                target,
                rule: rule.unwrap_or(0),
                attempt: attempt.unwrap_or(1),
                since: Time::from(since),
            });
        }
        read
    }

    fn retries(&mut self, retries: Option<&types::Retries>, path: impl Fn() -> FieldPath) -> Option<Retries> {
        let retries = retries?;
        Some(Retries {
            program: self
                .count(retries.program, || path().field("program"))
                .unwrap_or(0),
            infrastructure: self
                .count(retries.infrastructure, || path().field("infrastructure"))
                .unwrap_or(0),
        })
    }

    fn decided(&mut self, decided: Option<&types::Decided>, path: impl Fn() -> FieldPath) -> Option<Decided> {
        let types::Decided { when, case } = decided?;
        match (when, case) {
            (_, Some(-1)) => Some(Decided::Case(None)),
            (_, Some(case)) => self
                .count(Some(*case), || path().field("case"))
                .map(|case| Decided::Case(Some(case))),
            (Some(true), None) => Some(Decided::When),
            (Some(false) | None, None) => None,
        }
    }

    fn attempts(
        &mut self,
        attempts: Option<&[types::AttemptRecord]>,
        path: impl Fn() -> FieldPath,
    ) -> Vec<AttemptRecord> {
        let mut read = Vec::new();
        for (at, attempt) in attempts
            .into_iter()
            .flatten()
            .enumerate()
            .take(NodeRecord::ATTEMPTS)
        {
            let number = self.count(attempt.attempt, || path().index(at).field("attempt"));
            let reason = self.reason(attempt.reason.as_deref(), || path().index(at).field("reason"));
            let (Some(attempt_number), Some(reason), Some(finish)) = (number, reason, attempt.finish_time)
            else {
                continue;
            };
            read.push(AttemptRecord {
                attempt: attempt_number,
                reason,
                finish_time: finish.into(),
                exit_code: attempt.exit_code.and_then(|code| i32::try_from(code).ok()),
            });
        }
        read
    }
}

/// What an ended node says by leaving it out: whether it ran. Since when is the time of its end.
fn fill_in(read: &mut NodeRecord, written: &types::NodeRecord) {
    if read.phase() == NodePhase::Succeeded {
        return;
    }
    let since = read.finish_time.unwrap_or_default();
    if written.ran.unwrap_or_else(|| usual::ran(read)) && read.ran_since.is_none() {
        read.ran_since = Some(since);
    }
    if written.started.unwrap_or_else(|| usual::started(read)) && read.started_since.is_none() {
        read.started_since = Some(since);
    }
}

/// Sets what is there; what isn't costs the record nothing.
fn set<T>(value: Option<T>, put: impl FnOnce(T)) {
    if let Some(value) = value {
        put(value);
    }
}
