//! One entry of a flow, as far as a drawing shows it.

use jobflow_k8s::fault::FieldPath;
use serde_json::Value;

/// An entry, or a task of a flow that is written as tasks.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Its name.
    pub(crate) name: String,
    /// Where it stands.
    pub(crate) path: FieldPath,
    /// What it does.
    pub(crate) work: Work,
    /// Whether it runs after all others have ended.
    pub(crate) finally: bool,
    /// Whether it makes one job an item.
    pub(crate) group: bool,
    /// What it waits for.
    pub(crate) waits: Vec<Wait>,
    /// For a switch: the entries it decides about.
    pub(super) branches: Vec<Wait>,
}

/// What an entry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// It makes a job.
    Job,
    /// It is a flow of its own.
    Flow,
    /// It decides which others run.
    Switch,
}

/// One arrow.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Wait {
    /// The entry at its other end.
    pub(crate) target: String,
    /// Where that is written.
    pub(crate) path: FieldPath,
    /// What stands at the arrow; empty for what is usual.
    pub(crate) label: String,
}

impl Entry {
    /// Reads an element of `flows`.
    pub(super) fn of_flows(value: &Value, path: FieldPath) -> Option<Self> {
        let has = |field: &str| value.get(field).is_some_and(|value| !value.is_null());
        let work = match (has("flow"), has("switch")) {
            (true, _) => Work::Flow,
            (false, true) => Work::Switch,
            (false, false) => Work::Job,
        };
        Some(Self {
            name: text(value.get("name"))?,
            work,
            finally: false,
            group: has("forEach"),
            waits: waits(value.get("dependsOn"), &path.field("dependsOn")),
            branches: branches(value.get("switch"), &path.field("switch")),
            path,
        })
    }

    /// Reads an element of `finally`.
    pub(super) fn of_finally(value: &Value, path: FieldPath) -> Option<Self> {
        Self::of_flows(value, path).map(|entry| Self {
            finally: true,
            ..entry
        })
    }

    /// Reads an element of `tasks`.
    pub(super) fn of_tasks(value: &Value, path: FieldPath) -> Option<Self> {
        let depends_on = value.get("dependsOn");
        let label = label(depends_on.and_then(|on| on.get("condition")));
        let names = path.field("dependsOn").field("name");
        Some(Self {
            name: text(value.get("name"))?,
            work: Work::Job,
            finally: false,
            group: false,
            waits: named(depends_on.and_then(|on| on.get("name")), &names, &label),
            branches: Vec::new(),
            path,
        })
    }
}

/// What `dependsOn` says: rules speak for their targets, the default for the rest.
fn waits(depends_on: Option<&Value>, path: &FieldPath) -> Vec<Wait> {
    let Some(depends_on) = depends_on else {
        return Vec::new();
    };
    let usual = match depends_on.get("condition") {
        None | Some(Value::Null) if depends_on.get("probe").is_some_and(Value::is_object) => {
            "Started, probed".to_owned()
        }
        condition => label(condition),
    };
    let mut waits = named(depends_on.get("targets"), &path.field("targets"), &usual);
    let rules = depends_on
        .get("rules")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for (at, rule) in rules.enumerate() {
        let Some(target) = text(rule.get("target")) else {
            continue;
        };
        let said = [
            label(rule.get("condition")),
            text(rule.get("task")).unwrap_or_default(),
        ];
        let said = said
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(" ");
        match waits.iter_mut().find(|wait| wait.target == target) {
            Some(wait) => wait.label = said,
            None => waits.push(Wait {
                target,
                path: path.field("rules").index(at).field("target"),
                label: said,
            }),
        }
    }
    waits
}

fn branches(switch: Option<&Value>, path: &FieldPath) -> Vec<Wait> {
    let Some(switch) = switch else { return Vec::new() };
    let cases = switch
        .get("cases")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let mut branches = Vec::new();
    for (at, case) in cases.enumerate() {
        let value = case.get("value").unwrap_or(&Value::Null);
        let label = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let path = path.field("cases").index(at).field("then");
        branches.extend(named(case.get("then"), &path, &label));
    }
    branches.extend(named(switch.get("default"), &path.field("default"), "default"));
    branches
}

fn named(list: Option<&Value>, path: &FieldPath, label: &str) -> Vec<Wait> {
    let names = list.and_then(Value::as_array).into_iter().flatten();
    let wait = |(at, name)| {
        Some(Wait {
            target: text(Some(name))?,
            path: path.index(at),
            label: label.to_owned(),
        })
    };
    names.enumerate().filter_map(wait).collect()
}

/// A condition as it stands at an arrow; the usual one is left out.
fn label(condition: Option<&Value>) -> String {
    text(condition)
        .filter(|text| text != "Completed")
        .unwrap_or_default()
}

fn text(value: Option<&Value>) -> Option<String> {
    value?.as_str().map(str::to_owned)
}
