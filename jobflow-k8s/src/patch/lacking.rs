//! Tasks and containers that a patch names and that the template lacks: probably misspelt.

use serde_json::{Map, Value};

use crate::fault::{Code, Fault, FieldPath, closest};

const CONTAINERS: [&str; 3] = ["initContainers", "containers", "ephemeralContainers"];

/// A fault for each of them, in a patch that stands at `path`.
pub(super) fn faults(spec: &Map<String, Value>, patch: &Map<String, Value>, path: &FieldPath) -> Vec<Fault> {
    let mut faults = Vec::new();
    let known = elements(spec.get("tasks"));
    for (at, task) in elements(patch.get("tasks")).into_iter().enumerate() {
        let path = path.field("tasks").index(at);
        let Some(name) = name(task) else { continue };
        let Some(template) = known.iter().find(|task| self::name(task) == Some(name)) else {
            faults.push(lacking("task", name, &known, path.field("name")));
            continue;
        };
        let (template, task) = (pod(template), pod(task));
        let path = path.field("template").field("spec");
        for list in CONTAINERS {
            let known = elements(template.and_then(|pod| pod.get(list)));
            let written = elements(task.and_then(|pod| pod.get(list)));
            for (at, container) in written.into_iter().enumerate() {
                let Some(name) = self::name(container) else {
                    continue;
                };
                if !known.iter().any(|known| self::name(known) == Some(name)) {
                    let path = path.field(list).index(at).field("name");
                    faults.push(lacking(kind(list), name, &known, path));
                }
            }
        }
    }
    faults
}

fn kind(list: &str) -> &'static str {
    match list {
        "initContainers" => "init container",
        "ephemeralContainers" => "ephemeral container",
        _ => "container",
    }
}

fn lacking(what: &str, name: &str, known: &[&Value], path: FieldPath) -> Fault {
    let names: Vec<&str> = known.iter().filter_map(|element| self::name(element)).collect();
    let message = match names.as_slice() {
        [] => format!("the template has no {what} `{name}`, and no other"),
        names => format!("the template has no {what} `{name}`, only {}", list(names)),
    };
    let help = match closest(name, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`? `allowNew: true` in the patch adds a new one"),
        None => "`allowNew: true` in the patch adds a new one".to_owned(),
    };
    Fault::error(Code::BadPatch, path, message).with_help(help)
}

/// The first few names, as they are told.
pub(super) fn list(names: &[&str]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MOST);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn elements(list: Option<&Value>) -> Vec<&Value> {
    list.and_then(Value::as_array).into_iter().flatten().collect()
}

fn name(element: &Value) -> Option<&str> {
    element.get("name").and_then(Value::as_str)
}

fn pod(task: &Value) -> Option<&Value> {
    task.get("template")?.get("spec")
}
