//! The lines of a script, read one by one; every line that can't be read is told.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{Act, End, Expectation, Life, Script, ScriptFault, entry};
use crate::phase::{FlowPhase, NodePhase};
use crate::policy::FailurePolicy;
use crate::reason::Reason;
use crate::snapshot::CancelMode;
use crate::time::{Span, Time};

pub(super) fn script(text: &str) -> Result<Script, Vec<ScriptFault>> {
    let mut script = Script::default();
    let mut faults = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Err(message) = read_line(&mut script, line.trim()) {
            faults.push(ScriptFault {
                line: index + 1,
                message,
            });
        }
    }
    if let (true, Err(of_graph)) = (faults.is_empty(), script.graph()) {
        faults.extend(of_graph.iter().map(|fault| ScriptFault {
            line: 0,
            message: fault.to_string(),
        }));
    }
    if faults.is_empty() {
        Ok(script)
    } else {
        Err(faults)
    }
}

fn read_line(script: &mut Script, line: &str) -> Result<(), String> {
    if let Some(comment) = line.strip_prefix('#') {
        if script.title.is_empty() {
            script.title = comment.trim().to_string();
        }
        return Ok(());
    }
    let Some((word, rest)) = line.split_once(' ') else {
        return if line.is_empty() {
            Ok(())
        } else {
            Err(format!("{line:?} says nothing"))
        };
    };
    match word {
        "flow" => rest
            .split_whitespace()
            .try_for_each(|setting| flow(script, setting)),
        "entry" => entry::read(rest).map(|entry| script.entries.push(entry)),
        "job" => job(script, rest),
        "at" => act(script, rest),
        "expect" => expectation(rest).map(|expectation| script.expected.push(expectation)),
        "end" => FlowPhase::parse(rest.trim()).map(|phase| script.end = phase),
        _ => Err(format!("{word:?} is none of flow, entry, job, at, expect, end")),
    }
}

fn flow(script: &mut Script, setting: &str) -> Result<(), String> {
    let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
    match name {
        "parallelism" => script.policy.parallelism = Some(number(value)?),
        "failurePolicy" => script.policy.failure_policy = failure_policy(value)?,
        "deadline" => script.policy.deadline = Some(span(value)?),
        "finallyDeadline" => script.policy.finally_deadline = span(value)?,
        _ => return Err(format!("{name:?} is no setting of a flow")),
    }
    Ok(())
}

fn failure_policy(value: &str) -> Result<FailurePolicy, String> {
    match value {
        "StopNew" => Ok(FailurePolicy::StopNew),
        "CancelAll" => Ok(FailurePolicy::CancelAll),
        "Continue" => Ok(FailurePolicy::Continue),
        _ => Err(format!("{value:?} is no failure policy")),
    }
}

fn job(script: &mut Script, rest: &str) -> Result<(), String> {
    let mut words = rest.split_whitespace();
    let name = words.next().unwrap_or_default();
    let (name, attempt) = match name.split_once('#') {
        Some((name, attempt)) => (name, number(attempt)?),
        None => (name, 1),
    };
    let mut life = Life {
        queued: Span::ZERO,
        runs: Span::from_secs(1),
        end: End::Succeeds,
    };
    for word in words {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        match key {
            "queued" => life.queued = span(value)?,
            "runs" => life.runs = span(value)?,
            "succeeds" => life.end = End::Succeeds,
            "fails" => life.end = End::Fails(if value.is_empty() { 1 } else { number(value)? }),
            "neverStarts" => life.end = End::NeverStarts,
            "abortsItself" => life.end = End::AbortsItself,
            "deleted" => life.end = End::Deleted,
            "evicted" => life.end = End::Evicted,
            "never" => life.end = End::Never,
            _ => return Err(format!("{key:?} is nothing that a job does")),
        }
    }
    script.lives.insert((Arc::from(name), attempt), life);
    Ok(())
}

fn act(script: &mut Script, rest: &str) -> Result<(), String> {
    let (at, act) = rest.split_once(' ').ok_or("an act needs a time and a word")?;
    let (word, name) = act.trim().split_once(' ').unwrap_or_else(|| (act.trim(), ""));
    let act = match word {
        "cancel" => Act::Cancel(CancelMode::Graceful),
        "cancelNow" => Act::Cancel(CancelMode::Now),
        "suspend" => Act::Suspend { running: false },
        "suspendRunning" => Act::Suspend { running: true },
        "resume" => Act::Resume,
        "delete" => Act::Delete(Arc::from(name.trim())),
        "forget" => Act::Forget,
        _ => return Err(format!("{word:?} is nothing that can happen")),
    };
    script.acts.push((Time::default() + span(at)?, act));
    Ok(())
}

fn expectation(rest: &str) -> Result<Expectation, String> {
    let (name, steps) = rest.split_once(':').ok_or("an expectation is `NAME: PHASE…`")?;
    let step = |word: &str| {
        let (phase, reason) = word
            .split_once('/')
            .map_or((word, None), |(phase, reason)| (phase, Some(reason)));
        Ok((NodePhase::parse(phase)?, reason.map(Reason::parse).transpose()?))
    };
    let steps = steps
        .split_whitespace()
        .map(step)
        .collect::<Result<_, String>>()?;
    Ok(Expectation {
        name: Arc::from(name.trim()),
        steps,
    })
}

pub(super) fn number<N: core::str::FromStr>(value: &str) -> Result<N, String> {
    value
        .parse()
        .map_err(|_| format!("{value:?} is no number that fits"))
}

/// A span such as `3s` or `250ms`.
pub(super) fn span(value: &str) -> Result<Span, String> {
    match value.strip_suffix("ms") {
        Some(milliseconds) => number(milliseconds).map(Span),
        None => number(value.strip_suffix('s').unwrap_or(value)).map(Span::from_secs),
    }
}

impl NodePhase {
    fn parse(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|phase| phase.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is no phase of a node"))
    }
}

impl Reason {
    fn parse(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().copied().find(|reason| reason.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is no reason"))
    }
}

impl FlowPhase {
    fn parse(word: &str) -> Result<Self, String> {
        let all = [
            Self::Pending,
            Self::Running,
            Self::Terminating,
            Self::Succeed,
            Self::Failed,
        ];
        let found = all.into_iter().find(|phase| phase.as_str() == word);
        found.ok_or_else(|| format!("{word:?} is no phase of a flow"))
    }
}
