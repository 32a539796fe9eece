//! Flows with known ends: a spec, what each job does, and the phases that must come of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jobflow_core::Span;
use jobflow_core::condition::{Condition, Rule};
use jobflow_core::expression::Formula;
use jobflow_core::graph::{Entry, OnSkipped, Strategy, Switch, Target, Work};
use jobflow_core::policy::{FailurePolicy, Policy};
use jobflow_core::retry::Backoff;
use jobflow_core::testing::{Constant, End, Life};
use jobflow_k8s::fault::{Code, Fault, Segment};
use jobflow_k8s::parse::{Flow, Known, KnownTemplate, parse};
use jobflow_k8s::types::JobFlow;
use serde_json::Value;

/// Lines of the built-in file whose ends charge an infrastructure loss to nothing once `infrastructureLimit` is spent.
/// The reference says that it is charged to `limit` then, and the reference wins: (line, entry, its end, the flow's).
const CHARGED_TO_LIMIT: [(usize, &str, &str, &str); 2] = [
    (209, "e3", "Succeeded", "Succeed"),
    (276, "e0", "Succeeded", "Failed"),
];

/// One flow with its known end.
#[derive(Clone, Debug)]
pub struct Vector {
    /// The spec of the JobFlow.
    pub spec: Value,
    /// What each job does, attempt by attempt; for a group a list an instance.
    pub outcomes: Value,
    /// The phase of the flow at the end.
    pub phase: String,
    /// The phase of each entry at the end.
    pub nodes: BTreeMap<String, String>,
}

impl Vector {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// If it is no vector.
    pub fn parse(line: &str) -> Result<Self, serde_json::Error> {
        let value: Value = serde_json::from_str(line)?;
        let expect = &value["expect"];
        Ok(Self {
            spec: value["spec"].clone(),
            outcomes: value["outcomes"].clone(),
            phase: serde_json::from_value(expect["phase"].clone())?,
            nodes: serde_json::from_value(expect["nodes"].clone())?,
        })
    }

    /// Puts the end right that a line of the built-in file has wrong, if it is one of those.
    pub fn correct(&mut self, number: usize) {
        for (_, entry, end, flow) in CHARGED_TO_LIMIT.into_iter().filter(|(line, ..)| *line == number) {
            self.nodes.insert(entry.to_owned(), end.to_owned());
            flow.clone_into(&mut self.phase);
        }
    }

    /// What the job of an instance does at an attempt, from 1; the last one told repeats.
    #[must_use]
    pub fn life(&self, name: &str, index: u32, attempt: u32) -> Life {
        let told = &self.outcomes[name];
        let attempts = if told[0].is_array() {
            &told[index as usize]
        } else {
            told
        };
        let last = attempts.as_array().map_or(0, |all| all.len().saturating_sub(1));
        let end = match attempts[last.min(attempt as usize - 1)].as_str() {
            Some("F") => End::Fails(1),
            Some("FN") => End::NeverStarts,
            Some("AB") => End::AbortsItself,
            Some("DEL") => End::Deleted,
            Some("EV") => End::Evicted,
            _ => End::Succeeds,
        };
        Life::of(end)
    }

    /// The flow as whoever writes it has it read; or the fields that this version doesn't act on yet.
    ///
    /// # Errors
    ///
    /// The names of those fields; or, if something else is wrong with it, that.
    pub fn parse_flow(&self) -> Result<Flow, BTreeSet<String>> {
        let object = serde_json::json!({
            "apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobFlow",
            "metadata": { "name": "flow" }, "spec": self.spec,
        });
        let wrong = |error: serde_json::Error| BTreeSet::from([error.to_string()]);
        let flow: JobFlow = serde_json::from_value(object).map_err(wrong)?;
        let templates = BTreeMap::from([("t".to_owned(), KnownTemplate::default())]);
        let known = Known {
            templates: Some(&templates),
            predicates: &[],
        };
        parse(&flow, known)
            .map_err(|faults| faults.iter().filter(|fault| fault.is_error()).map(what).collect())
    }

    /// The settings of the flow.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let failure_policy = match self.spec["failurePolicy"].as_str() {
            Some("CancelAll") => FailurePolicy::CancelAll,
            Some("Continue") => FailurePolicy::Continue,
            _ => FailurePolicy::StopNew,
        };
        let parallelism = self.spec["parallelism"].as_u64().map(|most| most as u32);
        Policy {
            failure_policy,
            parallelism,
            ..Policy::default()
        }
    }

    /// The entries of the flow.
    #[must_use]
    pub fn entries(&self) -> Vec<Entry<Arc<str>>> {
        let list = |name: &str| self.spec[name].as_array().cloned().unwrap_or_default();
        let main = list("flows").into_iter().map(|value| (value, false));
        main.chain(list("finally").into_iter().map(|value| (value, true)))
            .map(entry)
            .collect()
    }
}

fn entry((value, finally): (Value, bool)) -> Entry<Arc<str>> {
    let mut entry = Entry::job(value["name"].as_str().unwrap_or_default());
    entry.finally = finally;
    entry.allow_failure = value["allowFailure"] == true;
    entry.on_skipped = value["onSkipped"].as_str().map(|word| match word {
        "Satisfy" => OnSkipped::Satisfy,
        _ => OnSkipped::Propagate,
    });
    entry.when = value["when"].as_str().map(constant);
    entry.retry.limit = value["retry"]["limit"].as_u64().unwrap_or(0) as u32;
    entry.retry.infrastructure_limit = value["retry"]["infrastructureLimit"].as_u64().unwrap_or(0) as u32;
    entry.retry.backoff = Backoff {
        initial: Span::ZERO,
        ..Backoff::default()
    };
    let depends = &value["dependsOn"];
    let targets = depends["targets"].as_array().into_iter().flatten();
    entry.targets = targets
        .filter_map(Value::as_str)
        .map(|name| Target::completed(Arc::from(name)))
        .collect();
    for rule in depends["rules"].as_array().into_iter().flatten() {
        entry.targets.push(target(rule));
    }
    entry.strategy = match depends["strategy"].as_str() {
        Some("Any") => Strategy::Any,
        Some("AtLeast") => Strategy::AtLeast(depends["atLeast"].as_u64().unwrap_or(1) as u32),
        _ => Strategy::All,
    };
    if value["switch"].is_object() {
        entry.work = Work::Switch(Box::new(switch(&value["switch"])));
    }
    entry
}

fn target(rule: &Value) -> Target<Arc<str>> {
    let condition = match rule["condition"].as_str() {
        Some("Started") => Condition::Started,
        Some("Running") => Condition::Running,
        Some("Failed") => Condition::Failed,
        Some("Finished") => Condition::Finished,
        _ => Condition::Completed,
    };
    Target::with(
        Arc::from(rule["target"].as_str().unwrap_or_default()),
        Rule::new(condition),
    )
}

fn switch(value: &Value) -> Switch<Arc<str>> {
    let names = |list: &Value| {
        let names = list.as_array().into_iter().flatten();
        names
            .filter_map(Value::as_str)
            .map(Arc::from)
            .collect::<Vec<Arc<str>>>()
    };
    let cases = value["cases"].as_array().cloned().unwrap_or_default();
    let on = value["on"].as_str().unwrap_or_default();
    let chosen = cases.iter().position(|case| case["value"] == value_of(on));
    let chosen = chosen.map_or_else(|| "default".to_owned(), |case| case.to_string());
    Switch {
        on: constant(&chosen),
        cases: cases.iter().map(|case| names(&case["then"])).collect(),
        default: names(&value["default"]),
    }
}

fn constant(text: &str) -> Formula {
    Formula(Arc::new(Constant(text.to_owned())))
}

/// The field that isn't available, or the whole fault.
fn what(fault: &Fault) -> String {
    match fault.path.segments().last() {
        Some(Segment::Field(name)) if fault.code == Code::NotAvailable => name.clone(),
        _ => fault.to_string(),
    }
}

/// The value that a constant expression comes to.
fn value_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or(Value::Null)
}
