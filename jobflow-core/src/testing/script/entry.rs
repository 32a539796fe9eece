//! The line of an entry: its name, what it waits for, and how its end is judged.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use super::read::{number, span};
use crate::condition::{Condition, Rule};
use crate::expression::Formula;
use crate::graph::{Entry, OnSkipped, Strategy, Switch, Target, Timeout, TimeoutScope, Work};
use crate::testing::Constant;

pub(super) fn read(rest: &str) -> Result<Entry<Arc<str>>, String> {
    let mut words = rest.split_whitespace().peekable();
    let mut entry = Entry::job(words.next().unwrap_or_default());
    entry.retry.backoff.jitter_percent = 0;
    while let Some(word) = words.next() {
        if word == "after" {
            while let Some(target) = words.next_if(|word| !is_setting(word)) {
                entry.targets.push(read_target(target)?);
            }
            continue;
        }
        setting(&mut entry, word)?;
    }
    Ok(entry)
}

fn is_setting(word: &str) -> bool {
    word.contains('=') || matches!(word, "any" | "finally" | "allowFailure")
}

fn read_target(word: &str) -> Result<Target<Arc<str>>, String> {
    let Some((name, condition)) = word.split_once(':') else {
        return Ok(Target::completed(Arc::from(word)));
    };
    let (condition, delay) = condition
        .split_once('+')
        .map_or((condition, None), |(a, b)| (a, Some(b)));
    let condition = match condition {
        "Completed" => Condition::Completed,
        "Started" => Condition::Started,
        "Running" => Condition::Running,
        "Ready" => Condition::Ready(None),
        "Failed" => Condition::Failed,
        "Finished" => Condition::Finished,
        _ => return Err(format!("{condition:?} is no condition")),
    };
    let delay = delay.map(span).transpose()?.unwrap_or_default();
    Ok(Target::with(
        Arc::from(name),
        Rule {
            delay,
            ..Rule::new(condition)
        },
    ))
}

fn setting(entry: &mut Entry<Arc<str>>, word: &str) -> Result<(), String> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    match name {
        "any" => entry.strategy = Strategy::Any,
        "atLeast" => entry.strategy = Strategy::AtLeast(number(value)?),
        "finally" => entry.finally = true,
        "allowFailure" => entry.allow_failure = true,
        "onSkipped" => entry.on_skipped = Some(on_skipped(value)?),
        "retry" => entry.retry.limit = number(value)?,
        "losses" => entry.retry.infrastructure_limit = number(value)?,
        "backoff" => entry.retry.backoff.initial = span(value)?,
        "timeout" => {
            entry.timeout = Some(Timeout {
                span: span(value)?,
                scope: TimeoutScope::Attempt,
            });
        }
        "nodeTimeout" => {
            entry.timeout = Some(Timeout {
                span: span(value)?,
                scope: TimeoutScope::Node,
            })
        }
        "when" => entry.when = Some(constant(value)),
        "switch" => switch(entry)?.on = constant(value),
        "default" => switch(entry)?.default = names(value),
        _ => return case(entry, name, value),
    }
    Ok(())
}

fn on_skipped(value: &str) -> Result<OnSkipped, String> {
    match value {
        "Propagate" => Ok(OnSkipped::Propagate),
        "Satisfy" => Ok(OnSkipped::Satisfy),
        _ => Err(format!("{value:?} is neither Propagate nor Satisfy")),
    }
}

fn case(entry: &mut Entry<Arc<str>>, name: &str, value: &str) -> Result<(), String> {
    let number: usize = match name.strip_prefix("case") {
        Some(number) => super::read::number(number)?,
        None => return Err(format!("{name:?} is no setting of an entry")),
    };
    let cases = &mut switch(entry)?.cases;
    if number > 63 {
        return Err(format!("case {number} is one too many"));
    }
    cases.resize(cases.len().max(number + 1), Vec::new());
    cases[number] = names(value);
    Ok(())
}

fn switch(entry: &mut Entry<Arc<str>>) -> Result<&mut Switch<Arc<str>>, String> {
    if matches!(entry.work, Work::Job) {
        entry.work = Work::Switch(Box::new(Switch {
            on: constant("default"),
            cases: vec![],
            default: vec![],
        }));
    }
    match &mut entry.work {
        Work::Switch(switch) => Ok(switch),
        Work::Job => Err(String::from("a job has no branches")),
    }
}

fn constant(text: &str) -> Formula {
    Formula(Arc::new(Constant(text.to_string())))
}

fn names(value: &str) -> Vec<Arc<str>> {
    value
        .split(',')
        .filter(|name| !name.is_empty())
        .map(Arc::from)
        .collect()
}
